import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from tamis.data import RawTable, reduce_table
from tamis.exceptions import InputError


@pytest.fixture
def table():
    return RawTable.from_arrow(pa.table({"a": [1], "t": ["x"], "b": [2], "c": [3]}), "t.csv")


def test_original_order_and_target_place(table):
    reduced = reduce_table(table, ["c", "a"], target="t")
    assert reduced.names == ("a", "t", "c")
    assert reduced.arrow.column_names == ["a", "t", "c"]
    assert reduced.target_name == "t"
    assert table.names == ("a", "t", "b", "c")


def test_without_target(table):
    assert reduce_table(table, ["b"]).names == ("b",)
    assert reduce_table(table, "b").names == ("b",)


def test_schema_is_untouched():
    schema = pa.schema(
        [pa.field("a", pa.int8(), nullable=False, metadata={"unit": "mm"}), ("b", pa.bool_())],
        metadata={"origin": "field work"},
    )
    arrow = pa.table([[1, 2], [True, None]], schema=schema)
    reduced = reduce_table(RawTable.from_arrow(arrow), ["a"]).arrow
    assert reduced.schema.equals(schema.remove(1), check_metadata=True)


def test_unknown_name(table):
    with pytest.raises(InputError, match=r"t\.csv: expected a column named 'd'"):
        reduce_table(table, ["a", "d"])
    with pytest.raises(InputError, match="named 'tt'"):
        reduce_table(table, ["a"], target="tt")


@pytest.mark.parametrize("names", [[], ["t"]])
def test_nothing_to_keep(table, names):
    with pytest.raises(InputError, match="at least one column to keep"):
        reduce_table(table, names, target="t")


def matrix_table(X):
    extras = {
        "split": np.array([0, 1, 1]),
        "class_names": np.array(["no", "yes"]),
        "relevant": np.array([0, 3]),
    }
    table = RawTable.from_matrix(X, y=np.array([0, 1, 1]), names=["a", "b", "c", "d"])
    return RawTable(
        table.path, table.names, matrix=X, target=table.target, target_name="y", extras=extras
    )


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix])
def test_matrix(make):
    X = np.arange(12, dtype=np.uint8).reshape(3, 4)
    reduced = reduce_table(matrix_table(make(X)), ["d", "b"])
    assert reduced.names == ("b", "d")
    assert reduced.matrix.dtype == np.uint8
    kept = reduced.matrix.toarray() if sparse.issparse(reduced.matrix) else reduced.matrix
    np.testing.assert_array_equal(kept, X[:, [1, 3]])
    assert reduced.target.tolist() == [0, 1, 1]
    assert sorted(reduced.extras) == ["class_names", "split"]
    assert any("'relevant'" in note for note in reduced.notes)


def test_matrix_needs_a_feature():
    with pytest.raises(InputError, match="besides y"):
        reduce_table(matrix_table(np.zeros((3, 4))), ["y"])
