import json
import os
import pickle

import numpy as np
import pyarrow as pa
import pytest

from tamis.data import Scan, scan
from tamis.data.partitioned import PartitionedTable
from tamis.exceptions import ColumnTypeError, InputError

X = np.random.default_rng(0).normal(size=(11, 3))
y = np.arange(11) % 3
# Formats whose columns have no names here, and so no target of their own.
BARE = {"c.npy", "f.npy", "bare.zarr"}
UNNAMED = BARE | {"t.zarr"}


def gathered(table, columns=None):
    """Put the blocks of all parts together."""
    blocks = [block for part in range(table.n_parts) for block in table.blocks(part, columns)]
    cells = [block.X for block in blocks]
    targets = [block.target for block in blocks]
    return (
        np.concatenate(cells) if cells and cells[0] is not None else None,
        np.concatenate(targets) if targets and targets[0] is not None else None,
        [block.n_rows for block in blocks],
    )


def opened(folder, name, write, **options):
    write(folder / name, X, y)
    options.setdefault("target", y if name in BARE else "y")
    return scan(folder / name, **options)


class TestEveryFormat:
    @pytest.mark.parametrize("limit", [1, 16 * 8 * 3 * 2, None], ids=["1 row", "2 rows", "all"])
    def test_blocks_are_the_table(self, tmp_path, write, file_name, limit):
        table = opened(tmp_path, file_name, write, memory_limit=limit)
        cells, target, rows = gathered(table)
        assert np.array_equal(cells, X)
        assert np.array_equal(target, y)
        if limit is not None:
            # A row group of Parquet (three rows here) is read whole if it takes 2/5 of the limit.
            few = 3 if file_name.endswith(".parquet") else 2
            assert max(rows) == (1 if limit == 1 else few)
        assert table.dtype == cells.dtype == np.float64
        assert table.has_target
        assert not table.has_weight
        assert isinstance(table, PartitionedTable)

    def test_blocks_lie_in_one_piece(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        for columns in (None, np.array([2, 0])):
            for block in table.blocks(0, columns):
                flags = block.X.flags
                assert flags.c_contiguous or flags.f_contiguous

    def test_shape_and_names(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        rows = None if ".csv" in file_name or ".tsv" in file_name else 11
        assert table.shape == (rows, 3)
        assert table.names == (None if file_name in UNNAMED else ("a", "b", "c"))

    @pytest.mark.parametrize("limit", [1, None])
    def test_columns_in_the_order_given(self, tmp_path, write, file_name, limit):
        asked = [2, 0] if file_name in UNNAMED else ["c", "a"]
        table = opened(tmp_path, file_name, write, columns=asked, memory_limit=limit)
        assert table.n_columns == 2
        assert np.array_equal(gathered(table)[0], X[:, [2, 0]])
        assert np.array_equal(gathered(table, np.array([1]))[0], X[:, [0]])

    def test_one_column(self, tmp_path, write, file_name):
        asked = [1] if file_name in UNNAMED else ["b"]
        table = opened(tmp_path, file_name, write, columns=asked)
        assert np.array_equal(gathered(table)[0], X[:, [1]])

    def test_no_columns_leave_the_target(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        cells, target, rows = gathered(table, np.array([], dtype=np.intp))
        assert cells is None
        assert np.array_equal(target, y)
        assert sum(rows) == 11

    def test_no_target(self, tmp_path, write, file_name):
        write(tmp_path / file_name, X)
        table = scan(tmp_path / file_name)
        cells, target, _ = gathered(table)
        assert np.array_equal(cells, X)
        assert target is None
        assert not table.has_target
        assert gathered(table, np.array([], dtype=np.intp))[2]

    @pytest.mark.parametrize("limit", [1, None])
    def test_columns_block(self, tmp_path, write, file_name, limit):
        table = opened(tmp_path, file_name, write, memory_limit=limit)
        found = table.columns_block(1, 3)
        assert np.array_equal(found, X[:, 1:3])
        assert found.flags.f_contiguous

    def test_to_numpy(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write, weight=np.arange(11.0))
        cells, target, weight = table.to_numpy()
        assert np.array_equal(cells, X)
        assert np.array_equal(target, y)
        assert np.array_equal(weight, np.arange(11.0))

    def test_pickle(self, tmp_path, write, file_name):
        table = pickle.loads(pickle.dumps(opened(tmp_path, file_name, write)))
        assert np.array_equal(gathered(table)[0], X)
        assert np.array_equal(gathered(table)[1], y)

    def test_select(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        for asked in ([2, 1], np.array([2, 1])):
            assert np.array_equal(gathered(table.select(asked))[0], X[:, [2, 1]])
        chosen = table.select([True, False, True])
        assert np.array_equal(chosen.select([1]).to_numpy()[0], X[:, [2]])
        assert table.n_columns == 3

    @pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_])
    def test_types_of_cells(self, tmp_path, write, file_name, dtype):
        if file_name.endswith("h5ad") and dtype == np.bool_:
            pytest.skip("AnnData stores no flags in X")
        cells = (np.arange(6).reshape(3, 2) * 5 % 3).astype(dtype)
        write(tmp_path / file_name, cells)
        table = scan(tmp_path / file_name)
        text = ".csv" in file_name or ".tsv" in file_name
        wanted = np.float32 if dtype == np.float32 and not text else np.float64
        found = gathered(table)[0]
        assert table.dtype == found.dtype == wanted
        assert np.array_equal(found, cells.astype(float))

    def test_text_target(self, tmp_path, write, file_name):
        if file_name in BARE:
            pytest.skip("no names")
        labels = np.array(["no", "yes", "maybe"] * 2)
        write(tmp_path / file_name, X[:6], labels)
        target = gathered(scan(tmp_path / file_name, target="y"))[1]
        assert target.dtype == object
        assert target.tolist() == ["no", "yes", "maybe"] * 2

    @pytest.mark.parametrize("kind", [np.int8, np.float32, np.bool_])
    def test_types_of_targets(self, tmp_path, write, file_name, kind):
        if file_name in BARE:
            pytest.skip("no names")
        labels = np.array([0, 1, 1, 0], dtype=kind)
        write(tmp_path / file_name, X[:4], labels)
        target = gathered(scan(tmp_path / file_name, target="y", memory_limit=1))[1]
        if ".csv" in file_name or ".tsv" in file_name:
            kind = kind if kind is np.bool_ else np.int64
        assert target.dtype == kind
        assert target.tolist() == labels.tolist()

    def test_changed_file(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        table.check_unchanged(0)
        path = tmp_path / file_name
        if path.is_dir():
            (path / "more").write_text("")
        else:
            os.utime(path, ns=(0, 12345))
        with pytest.raises(InputError, match=rf"{file_name}: .*has changed.*make the scan again"):
            table.check_unchanged(0)
        with pytest.raises(InputError, match=r"has changed"):
            next(table.blocks(0))

    def test_changed_while_it_is_read(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        blocks = table.blocks(table.n_parts - 1)
        next(blocks)
        path = tmp_path / file_name
        if path.is_dir():
            (path / "more").write_text("")
        else:
            os.utime(path, ns=(0, 12345))
        with pytest.raises(InputError, match=r"has changed"):
            list(blocks)

    def test_vanished_file(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        (tmp_path / file_name).rename(tmp_path / "elsewhere")
        with pytest.raises(InputError, match=rf"{file_name}.*No such file.*restore it"):
            next(table.blocks(0))

    def test_no_rows(self, tmp_path, write, file_name):
        if file_name.endswith(("h5ad", "zarr")):
            pytest.skip("written differently by each version of the package")
        write(tmp_path / file_name, X[:0])
        table = scan(tmp_path / file_name)
        assert table.to_numpy()[0].shape == (0, 3)
        assert table.columns_block(0, 2).shape == (0, 2)

    def test_cut_short(self, tmp_path, write, file_name):
        if file_name.endswith((".zarr", "t.csv", "t.tsv")):
            pytest.skip("what is left is a table")
        values = np.random.default_rng(1).normal(size=(3000, 3))
        path = tmp_path / file_name
        write(path, values)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(InputError, match=f"{file_name}.*damaged or other file"):
            scan(path).to_numpy()

    def test_repr_names_the_target(self, tmp_path, write, file_name):
        table = opened(tmp_path, file_name, write)
        rows = "?" if table.n_rows is None else "11"
        target = "with a target" if file_name in BARE else "target='y'"
        assert repr(table) == f"Scan(1 file, {rows} rows x 3 columns, {target})"

    def test_where_names_the_file(self, tmp_path, write, file_name):
        assert file_name in opened(tmp_path, file_name, write).where(0)


class TestSeveralFiles:
    @pytest.fixture(params=["parquet", "feather", "csv"])
    def suffix(self, request):
        return request.param

    def test_columns_in_another_order(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0, 2.0], "y": ["u", "v"], "b": [3, 4]})
        write_columns(tmp_path / f"2.{suffix}", {"y": ["w"], "b": [6.0], "a": [5]})
        table = scan(tmp_path, target="y")
        assert len(table.paths) == 2
        cells, target, _ = gathered(table)
        assert cells.tolist() == [[1, 3], [2, 4], [5, 6]]
        assert target.tolist() == ["u", "v", "w"]
        assert table.select(["b"]).columns_block(0, 1).ravel().tolist() == [3, 4, 6]

    def test_missing_column(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0], "b": [2.0]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [1.0]})
        with pytest.raises(InputError, match=rf"2.{suffix}: expected a column 'b', as in 1"):
            scan(tmp_path)
        assert scan(tmp_path, columns=["a"]).to_numpy()[0].tolist() == [[1], [1]]

    def test_missing_target(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0], "y": [2.0]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [1.0]})
        with pytest.raises(InputError, match=rf"2.{suffix}: expected a column 'y'"):
            scan(tmp_path, target="y")

    def test_extra_column(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0]})
        write_columns(tmp_path / f"2.{suffix}", {"b": [2.0], "a": [1.0]})
        with pytest.raises(InputError, match=rf"2.{suffix}.*'b' as well; .*columns="):
            scan(tmp_path)
        assert scan(tmp_path, columns=["a"]).shape[1] == 1

    def test_text_in_a_feature(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0], "b": [2.0]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [1.0], "b": ["x"]})
        with pytest.raises(ColumnTypeError, match=rf"2.{suffix}.*got text in 'b'.*columns="):
            scan(tmp_path)

    def test_text_and_numbers_in_the_target(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0], "y": [2]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [1.0], "y": ["x"]})
        if suffix == "csv":
            assert gathered(scan(tmp_path, target="y"))[1].tolist() == ["2", "x"]
            return
        with pytest.raises(ColumnTypeError, match=f"1.{suffix}: expected text in 'y'"):
            scan(tmp_path, target="y")

    def test_numbers_of_two_types_in_the_target(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0], "y": [2]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [1.0], "y": [2.5]})
        table = scan(tmp_path, target="y")
        types = {block.target.dtype for part in range(2) for block in table.blocks(part)}
        assert types == {np.dtype(np.float64)}
        assert gathered(table)[1].tolist() == [2, 2.5]

    def test_given_target_runs_through_all_files(self, tmp_path, write_columns, suffix):
        write_columns(tmp_path / f"1.{suffix}", {"a": [1.0, 2.0, 3.0, 4.0]})
        write_columns(tmp_path / f"2.{suffix}", {"a": [5.0, 6.0]})
        if suffix == "csv":
            with pytest.raises(InputError, match=r"only reading all of 1.csv would tell"):
                scan(tmp_path, target=[1, 2, 3, 4, 5, 6])
            return
        table = scan(tmp_path, target=[1, 2, 3, 4, 5, 6], memory_limit=1)
        assert gathered(table)[1].tolist() == [1, 2, 3, 4, 5, 6]

    def test_float32_in_one_file_only(self, tmp_path, write_columns):
        write_columns(tmp_path / "1.parquet", {"a": np.float32([1]), "b": np.float32([1])})
        write_columns(tmp_path / "2.parquet", {"a": np.float32([1]), "b": [0.1]})
        table = scan(tmp_path)
        assert {block.X.dtype for i in (0, 1) for block in table.blocks(i)} == {table.dtype}
        assert table.dtype == np.float64
        assert table.select(["a"]).dtype == np.float32

    @pytest.mark.parametrize("suffix", ["npy", "npz"])
    def test_arrays(self, tmp_path, write, suffix):
        write(tmp_path / f"1.{suffix}", X[:4], y[:4])
        write(tmp_path / f"2.{suffix}", X[4:], y[4:])
        table = scan(tmp_path, target=y if suffix == "npy" else None)
        assert np.array_equal(gathered(table)[0], X)
        assert np.array_equal(gathered(table)[1], y)

    def test_arrays_of_other_widths(self, tmp_path):
        np.save(tmp_path / "1.npy", X)
        np.save(tmp_path / "2.npy", X[:, :2])
        with pytest.raises(InputError, match=r"2.npy: expected 3 columns, as in 1.npy, got 2"):
            scan(tmp_path)

    def test_some_files_without_names(self, tmp_path):
        np.savez(tmp_path / "1.npz", X=X, feature_names=["a", "b", "c"])
        np.savez(tmp_path / "2.npz", X=X)
        with pytest.raises(InputError, match=r"2.npz: expected names of the columns, as in 1.npz"):
            scan(tmp_path)


class TestTarget:
    def test_dictionaries_that_differ(self, tmp_path, write_columns):
        for i, words in enumerate((["cat", "dog", "cat"], ["eel", "dog", None])):
            column = pa.array(words).dictionary_encode()
            write_columns(tmp_path / f"{i}.parquet", {"a": [1.0, 2.0, 3.0], "y": column})
        target = gathered(scan(tmp_path, target="y"))[1]
        assert target.dtype == object
        assert target.tolist() == ["cat", "dog", "cat", "eel", "dog", None]

    def test_dictionary_of_numbers(self, tmp_path, write_columns):
        column = pa.array([30, 10, 30]).dictionary_encode()
        write_columns(tmp_path / "t.feather", {"a": [1.0, 2.0, 3.0], "y": column})
        target = gathered(scan(tmp_path, target="y"))[1]
        assert target.dtype == np.int64
        assert target.tolist() == [30, 10, 30]

    @pytest.mark.parametrize("suffix", ["parquet", "feather"])
    def test_nulls(self, tmp_path, write_columns, suffix):
        columns = {
            "a": [1.0, 2.0],
            "text": ["x", None],
            "flag": [True, None],
            "number": [5, None],
            "none": pa.nulls(2),
        }
        write_columns(tmp_path / f"t.{suffix}", columns)

        def target(name):
            return gathered(scan(tmp_path, target=name, columns=["a"]))[1]

        assert target("text").tolist() == ["x", None]
        assert target("flag").tolist() == [True, None]
        assert np.array_equal(target("number"), [5, np.nan], equal_nan=True)
        assert target("none").tolist() == [None, None]

    def test_null_type_in_one_file(self, tmp_path, write_columns):
        write_columns(tmp_path / "1.parquet", {"a": [1.0], "y": pa.nulls(1)})
        write_columns(tmp_path / "2.parquet", {"a": [1.0], "y": [3]})
        assert np.array_equal(gathered(scan(tmp_path, target="y"))[1], [np.nan, 3], equal_nan=True)

    def test_decimals(self, tmp_path, write_columns):
        numbers = pa.array([1.5, 2.5]).cast(pa.decimal128(4, 2))
        write_columns(tmp_path / "t.parquet", {"a": numbers, "y": numbers})
        cells, target, _ = gathered(scan(tmp_path, target="y"))
        assert cells.tolist() == [[1.5], [2.5]]
        assert target.tolist() == [1.5, 2.5]

    def test_dates_and_times_keep_their_type(self, tmp_path, write_columns):
        days = pa.array([1, None], pa.int32())
        for kind, expected in [
            (pa.date32(), "1970-01-02"),
            (pa.time32("s"), np.timedelta64(1, "s")),
        ]:
            write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0], "y": days.cast(kind)})
            target = gathered(scan(tmp_path, target="y"))[1]
            assert target.dtype.kind in "mM"
            assert target[0] == np.array(expected, target.dtype)
            assert np.isnat(target[1])
        lists = pa.array([[1], [2]])
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0], "y": lists})
        with pytest.raises(ColumnTypeError, match=r"numbers or text in 'y', got list"):
            scan(tmp_path, target="y")

    def test_string_views(self, tmp_path, write_columns):
        column = pa.array(["u", None, "v"]).cast(pa.string_view())
        write_columns(tmp_path / "t.feather", {"a": [1.0, 2.0, 3.0], "y": column})
        assert gathered(scan(tmp_path, target="y"))[1].tolist() == ["u", None, "v"]

    def test_path_of_npy(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        for labels in (y, y.reshape(-1, 1), np.array(["no", "yes"])[y % 2]):
            np.save(tmp_path / "y.npy", labels)
            for given in (tmp_path / "y.npy", str(tmp_path / "y.npy")):
                table = scan(tmp_path / "x.npy", target=given, memory_limit=1)
                assert gathered(pickle.loads(pickle.dumps(table)))[1].tolist() == list(
                    labels.ravel()
                )
        np.save(tmp_path / "y.npy", labels[:5])
        with pytest.raises(InputError, match=r"y.npy: .*has changed"):
            next(table.blocks(0))

    def test_path_of_something_else(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        np.save(tmp_path / "y.npy", X)
        with pytest.raises(InputError, match=r"y.npy: expected target .* got: shape \(11, 3\)"):
            scan(tmp_path / "x.npy", target=tmp_path / "y.npy")
        with pytest.raises(InputError, match=r"z.npy: expected target"):
            scan(tmp_path / "x.npy", target=tmp_path / "z.npy")

    def test_given_array_for_a_file_of_columns(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0, 3.0, 4.0]})
        table = scan(tmp_path, target=np.array(["u", "v", "w", "x"]))
        assert gathered(table)[1].tolist() == ["u", "v", "w", "x"]
        assert table.target is None

    def test_wrong_length(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0]})
        with pytest.raises(InputError, match=r"one target for each of 2 rows, got 3 values"):
            scan(tmp_path / "t.parquet", target=[1, 2, 3])
        write_columns(tmp_path / "t.csv", {"a": [1.0, 2.0]})
        assert scan(tmp_path / "t.csv", target=[1, 2]).to_numpy()[1].tolist() == [1, 2]
        for labels in ([1], [1, 2, 3]):
            with pytest.raises(InputError, match=f"each of 2 rows, got {len(labels)} value"):
                scan(tmp_path / "t.csv", target=labels).to_numpy()

    def test_shape_of_a_given_target(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        with pytest.raises(InputError, match=r"one value per row, got an array of shape \(11, 3\)"):
            scan(tmp_path, target=X)

    def test_unknown_name(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"label": [1.0], "a": [1.0]})
        with pytest.raises(InputError, match=r"did you mean 'label'"):
            scan(tmp_path, target="lable")
        np.save(tmp_path / "x.npy", X)
        with pytest.raises(InputError, match=r"columns of x.npy have no names, got 'y'"):
            scan(tmp_path / "x.npy", target="y")

    def test_column_of_a_matrix(self, tmp_path, write):
        for name in ("t.npz", "packed.npz", "t.h5", "sparse.h5ad"):
            write(tmp_path / name, X)
            table = scan(tmp_path / name, target="b", memory_limit=1)
            assert table.names == ("a", "c")
            assert np.array_equal(gathered(table)[0], X[:, [0, 2]])
            assert np.array_equal(gathered(table)[1], X[:, 1])
            assert np.array_equal(gathered(table, np.array([], np.intp))[1], X[:, 1])


class TestWeight:
    def test_column(self, tmp_path, write_columns):
        for name in ("t.parquet", "t.feather", "t.csv"):
            write_columns(tmp_path / name, {"a": [1.0, 2.0], "w": [1, 2], "y": ["u", "v"]})
            table = scan(tmp_path / name, target="y", weight="w")
            cells, _, weight = table.to_numpy()
            assert cells.tolist() == [[1], [2]]
            assert weight.dtype == np.float64
            assert weight.tolist() == [1, 2]
            assert repr(table).endswith("target='y', weight='w')")

    def test_array_beside_the_matrix(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=X, y=y, w=y + 1)
        table = scan(tmp_path, weight="w")
        assert np.array_equal(table.to_numpy()[2], y + 1.0)
        assert np.array_equal(table.to_numpy()[1], y)

    def test_text_is_refused(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0], "w": ["x"]})
        with pytest.raises(ColumnTypeError, match=r"in 'w'"):
            scan(tmp_path / "t.parquet", weight="w")
        write_columns(tmp_path / "t.csv", {"a": [1.0], "w": ["x"]})
        with pytest.raises(ColumnTypeError, match=r"column 'w', got 'x'"):
            scan(tmp_path / "t.csv", weight="w").to_numpy()

    def test_null_becomes_nan(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0], "w": [1, None]})
        assert np.isnan(scan(tmp_path, weight="w").to_numpy()[2][1])


class TestColumns:
    @pytest.fixture
    def path(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"width": [1.0], "height": [2.0], "kind": ["x"]})
        return tmp_path / "t.parquet"

    def test_unknown_name(self, path):
        with pytest.raises(InputError, match=r"did you mean 'height'"):
            scan(path, columns=["hieght"])
        with pytest.raises(InputError, match=r"did you mean 'height'"):
            scan(path, target="kind").select(["hieght"])

    def test_one_name(self, path):
        assert scan(path, columns="height").names == ("height",)

    def test_twice(self, path):
        with pytest.raises(InputError, match=r"every column once, got 'width' twice"):
            scan(path, columns=["width", "height", "width"])

    def test_target_among_them(self, path):
        with pytest.raises(InputError, match=r"got 'kind' among them"):
            scan(path, columns=["width", "kind"], target="kind")

    def test_text_is_encoded(self, path):
        role = next(role for role in scan(path).roles if role.name == "kind")
        assert (role.kind, role.used) == ("category", True)

    @pytest.mark.parametrize("values", [["b", "a"], [2, 1]])
    def test_categories_are_encoded(self, tmp_path, write_columns, values):
        write_columns(tmp_path / "t.feather", {"a": pa.array(values).dictionary_encode()})
        assert gathered(scan(tmp_path))[0].tolist() == [[1], [0]]

    def test_dates_are_encoded(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": pa.array([86400]).cast(pa.timestamp("s"))})
        assert gathered(scan(tmp_path))[0].tolist() == [[1]]

    def test_none_left(self, path):
        with pytest.raises(InputError, match=r"at least one column"):
            scan(path, columns=[])
        with pytest.raises(InputError, match=r"at least one column"):
            scan(path, target="kind").select([])
        with pytest.raises(InputError, match=r"at least one column"):
            scan(path, target="kind").select([False, False])

    def test_numbers_for_names(self, path, tmp_path):
        with pytest.raises(InputError, match=r"expected columns as names, got 0"):
            scan(path, columns=[0])
        np.save(tmp_path / "x.npy", X)
        with pytest.raises(InputError, match=r"as numbers from 0 to 2"):
            scan(tmp_path / "x.npy", columns=["a"])
        with pytest.raises(InputError, match=r"from 0 to 2, got 3"):
            scan(tmp_path / "x.npy", columns=[0, 3])
        with pytest.raises(InputError, match=r"one flag for each of 3 columns"):
            scan(tmp_path / "x.npy").select([True, False])

    def test_two_of_one_name(self, tmp_path, write_columns):
        table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
        for name in ("t.feather", "t.parquet"):
            write_columns(tmp_path / name, table)
            with pytest.raises(InputError, match=f"{name}: expected every column name once"):
                scan(tmp_path / name)


class TestFingerprint:
    def test_is_json_and_tells_tables_apart(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0], "b": [2.0], "c": [3.0]})
        path = tmp_path / "t.parquet"
        tables = [
            scan(path),
            scan(path, target="c"),
            scan(path, weight="c"),
            scan(path, columns=["b", "a"]),
            scan(path, columns=["a", "b"]),
            scan(path, target=[1]),
            scan(path, target=[2]),
            scan(path, target=["2"]),
        ]
        prints = {json.dumps(table.fingerprint()) for table in tables}
        assert len(prints) == len(tables)
        again = json.dumps(scan(path, target=[2]).fingerprint())
        assert again in prints
        stamps = scan(path).stamps(1)
        os.utime(path, ns=(0, 12345))
        assert scan(path).stamps(1) != stamps
        assert scan(path).stamps(0) == []

    def test_does_not_depend_on_the_limit(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        small, large = (scan(tmp_path, memory_limit=limit) for limit in (1, "1 GiB"))
        assert small.fingerprint() == large.fingerprint()
        assert small.n_parts == large.n_parts


def test_stored_options(tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = scan(tmp_path / "x.npy", memory_limit="2 MiB", checkpoint=str(tmp_path / "c"))
    assert table.memory_limit == 2 * 2**20
    assert table.checkpoint == tmp_path / "c"
    assert table.paths == (tmp_path / "x.npy",)
    assert isinstance(table, Scan)


def test_no_such_part(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(IndexError):
        next(scan(tmp_path).blocks(1))
