import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.data import scan
from tamis.exceptions import InputError
from tamis.statistics import Block, Ranges


def all_cells(table):
    return np.concatenate([b.X for part in range(table.n_parts) for b in table.blocks(part)])


def test_parts_are_row_groups(tmp_path, write_columns):
    write_columns(tmp_path / "part-3.parquet", {"a": np.arange(8.0)}, group=3)
    table = scan(tmp_path)
    assert table.n_parts == 3
    assert [sum(block.n_rows for block in table.blocks(part)) for part in range(3)] == [3, 3, 2]
    assert table.where(2) == "part-3.parquet, row group 2"


def test_parts_of_several_files(tmp_path, write_columns):
    write_columns(tmp_path / "1.parquet", {"a": np.arange(4.0)}, group=3)
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "2.parquet")
    write_columns(tmp_path / "3.parquet", {"a": np.arange(4.0, 6.0)}, group=1)
    table = scan(tmp_path)
    assert table.where(1) == "1.parquet, row group 1"
    assert table.where(table.n_parts - 1) == "3.parquet, row group 1"
    assert all_cells(table).ravel().tolist() == [0, 1, 2, 3, 4, 5]


class TestWaysToRead:
    """Row groups are read whole, side by side in batches, or by way of the disk."""

    N_ROWS, LIMIT = 3000, 40_000

    @pytest.fixture
    def columns(self):
        rng = np.random.default_rng(0)
        y = pa.array(np.where(rng.random(self.N_ROWS) < 0.4, "yes", "no"))
        floats = pa.array(rng.normal(size=self.N_ROWS), mask=rng.random(self.N_ROWS) < 0.1)
        return {
            "float": floats,
            "int": pa.array(rng.integers(9, size=self.N_ROWS)),
            "y": y,
            "single": pa.array(rng.random(self.N_ROWS), pa.float32()),
            "w": pa.array(rng.random(self.N_ROWS)),
        }

    @pytest.mark.parametrize(
        ("way", "page_bytes", "limit"),
        [("_whole", 2**20, None), ("_side_by_side", 1, LIMIT), ("_spooled", 2**20, LIMIT)],
    )
    def test_the_same_comes_out(
        self, way, page_bytes, limit, columns, tmp_path, write_columns, monkeypatch
    ):
        from tamis.data.formats import large_row_groups
        from tamis.data.formats.parquet import ParquetTable

        used = []
        for name in ("_whole", "_side_by_side", "_spooled"):
            owner = ParquetTable if name == "_whole" else large_row_groups.LargeRowGroup
            method = getattr(owner, name)

            def noted(*arguments, name=name, method=method):
                used.append(name)
                return method(*arguments)

            monkeypatch.setattr(owner, name, noted)
        monkeypatch.setattr(large_row_groups, "PAGE_BYTES", page_bytes)
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table(columns), path, use_dictionary=False)
        table = scan(path, target="y", weight="w", memory_limit=limit)
        used.clear()
        blocks = list(table.blocks(0))
        assert used == [way]
        assert (len(blocks) == 1) == (way == "_whole")
        cells = [
            columns[name].to_numpy(zero_copy_only=False) for name in ("float", "int", "single")
        ]
        found = np.concatenate([block.X for block in blocks])
        np.testing.assert_array_equal(found, np.column_stack(cells))
        target = np.concatenate([block.target for block in blocks])
        assert target.tolist() == columns["y"].to_pylist()
        weight = np.concatenate([block.weight for block in blocks])
        np.testing.assert_array_equal(weight, columns["w"].to_numpy())

    def test_no_room_on_the_disk(self, columns, tmp_path, monkeypatch):
        from tamis.data.formats import large_row_groups as _spool

        class Full:
            def seek(self, place):
                pass

            def write(self, view):
                raise OSError(28, "No space left on device")

            def close(self):
                closed.append(True)

        closed = []
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        table = scan(tmp_path / "t.parquet", target="y", memory_limit=self.LIMIT)
        monkeypatch.setattr(_spool.tempfile, "TemporaryFile", lambda **_: Full())
        with pytest.raises(
            InputError,
            match=r"row group 0: expected room for 96,000 bytes in .*No space left.*TMPDIR",
        ):
            next(table.blocks(0))
        assert closed

    def test_a_block_that_is_not_wanted_leaves_nothing(self, columns, tmp_path, monkeypatch):
        files = []
        from tamis.data.formats import large_row_groups as _spool

        make = _spool.tempfile.TemporaryFile
        monkeypatch.setattr(
            _spool.tempfile, "TemporaryFile", lambda **o: files.append(make(**o)) or files[-1]
        )
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        blocks = scan(tmp_path / "t.parquet", memory_limit=self.LIMIT, columns=["float"]).blocks(0)
        next(blocks)
        blocks.close()
        assert [file.closed for file in files] == [True]


@pytest.mark.parametrize("limit", [1, 16 * 8 * 9 * 2, None])
def test_types_that_become_numbers(tmp_path, write_columns, limit):
    columns = {
        "float": pa.array([1.5, None, np.nan, np.inf]),
        "half": pa.array([0.5, None, 1, 2], pa.float16()),
        "single": pa.array([0.1, None, 1, 2], pa.float32()),
        "int": pa.array([1, None, -3, 2**53 + 1], pa.int64()),
        "small": pa.array([1, 2, 3, 255], pa.uint8()),
        "flag": pa.array([True, False, None, True]),
        "flags": pa.array([True, False, True, True]),
        "decimal": pa.array([1, None, 3, 4]).cast(pa.decimal128(20, 1)),
        "none": pa.nulls(4),
    }
    write_columns(tmp_path / "t.parquet", columns, group=4)
    table = scan(tmp_path, memory_limit=limit)
    nan, inf = np.nan, np.inf
    expected = [
        [1.5, nan, nan, inf],
        [0.5, nan, 1, 2],
        [np.float32(0.1), nan, 1, 2],
        [1, nan, -3, 2**53],
        [1, 2, 3, 255],
        [1, 0, nan, 1],
        [1, 0, 1, 1],
        [1, nan, 3, 4],
        [nan] * 4,
    ]
    assert np.array_equal(all_cells(table), np.transpose(expected), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nulls_among_floats_of_one_type(tmp_path, write_columns, dtype):
    values = np.arange(12, dtype=dtype)
    columns = {"a": pa.array(values, mask=values % 5 == 0), "b": pa.array(values)}
    write_columns(tmp_path / "t.parquet", columns, group=12)
    table = scan(tmp_path, memory_limit=16 * 8 * 2 * 5)
    expected = np.column_stack([np.where(values % 5 == 0, np.nan, values), values])
    found = all_cells(table)
    assert found.dtype == dtype
    assert np.array_equal(found, expected, equal_nan=True)


def test_names_with_dots_and_nested_neighbours(tmp_path, write_columns):
    columns = {"a.b": [1.0], "a": [2.0], "list": [[1.0, 2.0]], "c": [3.0]}
    write_columns(tmp_path / "t.parquet", columns)
    table = scan(tmp_path, columns=["c", "a", "a.b"])
    assert all_cells(table).tolist() == [[3, 2, 1]]
    assert table.known_ranges().finish().low.tolist() == [3, 2, 1]


def test_large_row_group_is_read_through_buffers(tmp_path, write_columns):
    values = np.random.default_rng(0).normal(size=(5000, 4))
    columns = {f"x{j}": values[:, j] for j in range(4)}
    write_columns(tmp_path / "t.parquet", columns, group=5000)
    table = scan(tmp_path, memory_limit=16 * 8 * 4 * 64)
    assert max(block.n_rows for block in table.blocks(0)) == 64
    assert np.array_equal(all_cells(table), values)


class TestDamage:
    def test_cut_short_among_others(self, tmp_path, write_columns):
        for i in range(3):
            write_columns(tmp_path / f"part-{i}.parquet", {"a": np.arange(1000.0)})
        raw = (tmp_path / "part-1.parquet").read_bytes()
        (tmp_path / "part-1.parquet").write_bytes(raw[: len(raw) // 2])
        with pytest.raises(InputError, match=r"part-1.parquet: expected Parquet .*damaged"):
            scan(str(tmp_path / "*.parquet"))

    def test_garbled_row_group(self, tmp_path):
        values = np.random.default_rng(0).normal(size=3000)
        path = tmp_path / "t.parquet"
        options = {"row_group_size": 1000, "write_page_checksum": True, "use_dictionary": False}
        pq.write_table(pa.table({"a": values}), path, **options)
        raw = bytearray(path.read_bytes())
        start = pq.read_metadata(path).row_group(1).column(0).data_page_offset
        raw[start + 4000] ^= 0xFF
        path.write_bytes(raw)
        table = scan(path)
        assert np.array_equal(next(table.blocks(0)).X[:, 0], values[:1000])
        with pytest.raises(InputError, match=r"t.parquet, row group 1: expected Parquet data"):
            list(table.blocks(1))
        assert np.array_equal(next(table.blocks(2)).X[:, 0], values[2000:])

    @pytest.mark.parametrize(
        ("reader", "limit"), [("read_row_group", "1 GiB"), ("iter_batches", 1)]
    )
    def test_other_errors_pass(self, tmp_path, write_columns, monkeypatch, reader, limit):
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 2.0, 3.0]})
        table = scan(tmp_path, memory_limit=limit)

        def fail(*_, **__):
            raise pa.ArrowMemoryError("no memory left")

        monkeypatch.setattr(pq.ParquetFile, reader, fail)
        with pytest.raises(MemoryError):
            next(table.blocks(0))


class TestKnownRanges:
    def compare(self, table):
        known = table.known_ranges()
        real = Ranges(table.n_columns)
        for part in range(table.n_parts):
            for block in table.blocks(part):
                real.update(Block.of(np.asfortranarray(block.X)))
        for a, b in zip(known.finish(), real.finish(), strict=True):
            assert np.array_equal(a, b, equal_nan=True)
        assert known.n_rows == real.n_rows
        assert np.array_equal(known.stored, real.stored)

    def test_equal_those_of_the_rows(self, tmp_path, write_columns):
        rng = np.random.default_rng(0)
        n = 20
        columns = {
            "normal": rng.normal(size=n),
            "nan": np.where(np.arange(n) % 3 == 0, np.nan, rng.normal(size=n)),
            "null": pa.array(rng.normal(size=n), mask=np.arange(n) % 4 == 1),
            "inf": np.where(np.arange(n) == 7, -np.inf, rng.normal(size=n)),
            "zero": np.where(np.arange(n) % 2, 0.0, -0.0),
            "int": rng.integers(-9, 9, n),
            "big": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
            "byte": pa.array(rng.integers(0, 255, n), pa.uint8()),
            "flag": rng.random(n) > 0.5,
            "single": rng.normal(size=n).astype(np.float32),
            "empty": pa.nulls(n, pa.float64()),
            "late": pa.array([None] * 12 + [2.0] * 8),
        }
        write_columns(tmp_path / "1.parquet", columns, group=6)
        reordered = dict(reversed(columns.items()))
        write_columns(tmp_path / "2.parquet", reordered, group=7)
        self.compare(scan(tmp_path))
        self.compare(scan(tmp_path, columns=["null", "big"]))
        self.compare(scan(tmp_path).select(["zero"]))

    def test_merge(self, tmp_path, write_columns):
        write_columns(tmp_path / "t.parquet", {"a": [1.0, 5.0]})
        known = scan(tmp_path).known_ranges()
        known.merge(Ranges(1).update(Block.of(np.array([[7.0]]))))
        assert known.finish().high.tolist() == [7]
        assert known.finish().low.tolist() == [1]

    def test_unknown(self, tmp_path, write_columns):
        path = tmp_path / "t.parquet"
        write_columns(path, {"a": [1.0, 2.0], "w": [1.0, 0.0]})
        assert scan(path).known_ranges() is not None
        assert scan(path, weight="w").known_ranges() is None
        write_columns(path, {"a": [np.nan, np.nan]})
        assert scan(path).known_ranges() is None
        write_columns(path, {"a": pa.array([1, 2]).cast(pa.decimal128(19, 0))})
        assert scan(path).known_ranges() is None
        write_columns(path, {"a": pa.array([1, 2], pa.float16())})
        assert scan(path).known_ranges() is None
        pq.write_table(pa.table({"a": [1.0]}), path, write_statistics=False)
        assert scan(path).known_ranges() is None

    def test_one_file_without_statistics(self, tmp_path, write_columns):
        write_columns(tmp_path / "1.parquet", {"a": [1.0, 2.0]})
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "2.parquet", write_statistics=False)
        assert scan(tmp_path).known_ranges() is None

    def test_other_formats(self, tmp_path):
        np.save(tmp_path / "x.npy", np.eye(2))
        assert scan(tmp_path).known_ranges() is None
