import numpy as np
import pyarrow as pa
import pytest

from tamis.data import RawTable
from tamis.exceptions import InputError


def test_frozen_and_short_to_print():
    table = RawTable.from_matrix(np.zeros((100, 3)))
    assert len(repr(table)) < 200
    with pytest.raises(AttributeError):
        table.names = ()


@pytest.mark.parametrize(
    ("arrow", "words"),
    [
        (pa.table({}), "table: expected at least one column"),
        (pa.table({"a": pa.array([], pa.int8())}), "1 column name and no rows"),
        (pa.table([[1], [2], [3]], names=["a", "b", "a"]), "got 'a' more than once"),
    ],
)
def test_unusable_arrow(arrow, words):
    with pytest.raises(InputError, match=words):
        RawTable.from_arrow(arrow)


def test_feature_named_like_the_target():
    with pytest.raises(InputError, match="'y' more than once"):
        RawTable.from_matrix(np.eye(2), y=np.arange(2), names=["a", "y"])
