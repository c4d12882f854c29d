import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from tamis.data import PreparedTable, RawTable, prepare
from tamis.exceptions import InputError


@pytest.fixture
def flowers():
    arrow = pa.table(
        {
            "petal": [1.5, 2.5, None, 4.5],
            "colour": ["red", "blue", "red", None],
            "tags": [["a"], [], None, ["b"]],
            "species": ["x", "x", "z", "z"],
        }
    )
    return RawTable.from_arrow(arrow, "flowers.csv")


def test_everything_together(flowers):
    prepared = prepare(flowers, "species")
    assert isinstance(prepared, PreparedTable)
    assert prepared.feature_names == ["petal", "colour"]
    assert prepared.X.flags.c_contiguous
    assert prepared.X.dtype == np.float64
    np.testing.assert_array_equal(prepared.X, [[1.5, 1], [2.5, 0], [np.nan, 1], [4.5, np.nan]])
    assert prepared.discrete.tolist() == [False, True]
    assert [role.name for role in prepared.roles] == ["petal", "colour", "tags", "species"]
    assert not prepared.is_sparse


def test_no_target_is_unsupervised(flowers):
    prepared = prepare(flowers)
    assert prepared.y is None
    assert prepared.task is None
    assert prepared.task_reason == "no target, so unsupervised"
    assert prepared.feature_names == ["petal", "colour", "species"]


def test_columns_restrict(flowers):
    prepared = prepare(flowers, "species", columns=["colour"])
    assert prepared.feature_names == ["colour"]
    assert prepared.roles[0].reason == "not named in --columns"
    assert "left out 2 columns not named in --columns: 'petal', 'tags'" in prepared.notes


def test_one_name_may_be_a_string(flowers):
    assert prepare(flowers, columns="petal").feature_names == ["petal"]


def test_order_is_that_of_the_table(flowers):
    assert prepare(flowers, columns=["colour", "petal"]).feature_names == ["petal", "colour"]


def test_exclude(flowers):
    prepared = prepare(flowers, "species", exclude=["petal"])
    assert prepared.feature_names == ["colour"]
    assert "left out 1 column named in --exclude: 'petal'" in prepared.notes


@pytest.mark.parametrize("option", ["columns", "include", "exclude"])
def test_unknown_names(flowers, option):
    with pytest.raises(InputError, match=r"named 'Petals', got columns .*did you mean 'petal'"):
        prepare(flowers, **{option: ["Petals"]})


def test_unknown_name_lists_ten_names():
    arrow = pa.table({f"column {j}": [1.5] for j in range(30)})
    with pytest.raises(InputError, match="'column 9' and 20 more; use one of these"):
        prepare(RawTable.from_arrow(arrow), "zzz")


def test_long_names_are_cut_in_messages():
    arrow = pa.table({"a" + " " * 500: [1.5]})
    with pytest.raises(InputError) as caught:
        prepare(RawTable.from_arrow(arrow), "zzz")
    assert len(str(caught.value)) < 200


def test_contradictions(flowers):
    with pytest.raises(InputError, match="got 'petal' in both"):
        prepare(flowers, columns=["petal"], exclude=["petal"])
    for option in ("columns", "include", "exclude"):
        with pytest.raises(InputError, match="the target 'species' in --target only"):
            prepare(flowers, "species", **{option: ["species"]})


def test_nothing_left(flowers):
    with pytest.raises(InputError, match=r"at least one column.*'petal': named in --exclude"):
        prepare(flowers, "species", exclude=["petal", "colour"])


def test_many_left_out_columns_are_counted():
    words = [f"w {j}" for j in range(12)]
    arrow = pa.table({"x": np.zeros(12), **{f"id{j}": words for j in range(25)}})
    notes = prepare(RawTable.from_arrow(arrow)).notes
    assert len(notes) == 21
    assert notes[-1] == "left out 5 more columns of kind identifier, see roles"


def test_float32_stays():
    arrow = pa.table({"a": pa.array([1, 2], pa.float32()), "b": pa.array([3, None], pa.float32())})
    assert prepare(RawTable.from_arrow(arrow)).X.dtype == np.float32


def test_one_row():
    prepared = prepare(RawTable.from_arrow(pa.table({"a": [1], "b": ["x"], "c": [None]})))
    np.testing.assert_array_equal(prepared.X, [[1, 0, np.nan]])


@pytest.mark.slow
def test_ten_thousand_columns():
    arrow = pa.table({f"c{j}": [j * 0.5, 1.0] for j in range(10_000)})
    prepared = prepare(RawTable.from_arrow(arrow))
    assert prepared.X.shape == (2, 10_000)
    assert prepared.X[0, 9999] == 4999.5


def test_odd_names():
    arrow = pa.table({"größe": [1.5, 2.5], "a\nb": [3.5, 4.5], "花": ["x", "z"]})
    prepared = prepare(RawTable.from_arrow(arrow), "花")
    assert prepared.feature_names == ["größe", "a\nb"]


def test_table_is_not_changed(flowers):
    before = flowers.arrow.to_pydict()
    prepare(flowers, "species").X[:] = 7
    assert flowers.arrow.to_pydict() == before


def test_csv_to_numbers(csv):
    text = "id,when,size,kind\n" + "".join(
        f"{j},2020-01-{j + 1:02d},{j * j / 3},{'ab'[j % 2]}\n" for j in range(12)
    )
    prepared = prepare(csv(text), "kind")
    assert prepared.feature_names == ["when", "size"]
    assert prepared.X[:3, 0].tolist() == [18262, 18263, 18264]
    assert prepared.y.tolist()[:2] == ["a", "b"]


def test_notes_of_reading_come_first(csv):
    assert prepare(csv("a;b\n1.5;2.5\n")).notes[0] == "t.csv is separated by ';'"


def test_matrix_with_target():
    X = np.arange(12, dtype=np.uint8).reshape(4, 3)
    prepared = prepare(RawTable.from_matrix(X, y=np.array([0, 1, 0, 1]), path="t.npz"))
    assert prepared.X.dtype == np.float32
    assert prepared.X.flags.c_contiguous
    np.testing.assert_array_equal(prepared.X, X)
    assert (prepared.task, prepared.y.tolist()) == ("classification", [0, 1, 0, 1])
    assert prepared.roles[3].kind == "target"
    assert prepare(RawTable.from_matrix(X, y=np.array([0, 1, 0, 1])), "y").task == "classification"


def test_matrix_is_taken_as_it_is():
    X = np.column_stack([np.arange(20), np.zeros(20)])
    prepared = prepare(RawTable.from_matrix(X, names=["id", "b"]))
    assert prepared.feature_names == ["id", "b"]
    assert prepared.X is X


@pytest.mark.parametrize(
    ("stored", "used"),
    [("int8", "f4"), ("uint16", "f4"), ("int32", "f8"), ("float16", "f4"), ("float64", "f8")],
)
def test_matrix_precision(stored, used):
    assert prepare(RawTable.from_matrix(np.ones((2, 2), dtype=stored))).X.dtype == used


def test_matrix_columns_and_rows():
    X = np.arange(12.0).reshape(4, 3)
    X[0, 1] = np.nan
    table = RawTable.from_matrix(X, y=np.array([0.5, np.nan, 1.5, 2.5]))
    prepared = prepare(table, exclude=["x0"])
    np.testing.assert_array_equal(prepared.X, [[np.nan, 2], [7, 8], [10, 11]])
    assert prepared.y.tolist() == [0.5, 1.5, 2.5]
    assert [role.n_missing for role in prepared.roles] == [0, 1, 0, 1]


def test_matrix_without_its_target():
    table = RawTable.from_matrix(np.eye(3), y=np.array([0, 1, 0]))
    prepared = prepare(table, exclude=["y"])
    assert prepared.y is None
    assert prepared.X.shape == (3, 3)


def test_matrix_column_as_target():
    table = RawTable.from_matrix(np.eye(3) * 0.5, y=np.array([0, 1, 0]))
    prepared = prepare(table, "x1")
    assert prepared.feature_names == ["x0", "x2"]
    assert prepared.y.tolist() == [0, 0.5, 0]
    assert prepared.roles[3].reason == "not the target asked for"


def test_matrix_labels():
    table = RawTable.from_matrix(np.eye(4), y=np.array(["b", "", "a", "a"]))
    prepared = prepare(table)
    assert prepared.y.tolist() == ["b", "a", "a"]
    assert prepared.X.shape == (3, 4)


def test_sparse_columns_and_rows():
    X = sparse.csr_matrix(np.array([[0, 1, 2], [3, 0, 0], [0, 0, 5]], dtype=np.uint8))
    table = RawTable.from_matrix(X, y=np.array([0.0, np.nan, 1.0]))
    prepared = prepare(table, exclude=["x0"])
    assert prepared.X.format == "csr"
    assert prepared.X.dtype == np.float32
    assert prepared.X.toarray().tolist() == [[1, 2], [0, 5]]
    assert prepare(table, "x2").y.tolist() == [2, 0, 5]


def test_sparse_missing_entries_are_counted():
    X = sparse.csr_matrix(np.array([[0, np.nan], [1, np.nan], [0, 2]]))
    assert [r.n_missing for r in prepare(RawTable.from_matrix(X)).roles] == [0, 2]
