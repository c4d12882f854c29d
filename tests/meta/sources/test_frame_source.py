"""FrameSource: two tables matched by name."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tamis.exceptions import InputError, MeasurementError
from tamis.meta import FrameSource

COLUMNS = {"a": [1.0, 2.0, 3.0], "b": [True, False, True], "c": [7, None, 9]}
META = {"feature": ["c", "a", "b"], "size": [3.0, 1.0, 2.0], "kind": ["x", "y", None]}
# In the order of meta: c, a, b.
EXPECTED = np.array([[7, 1, 1], [np.nan, 2, 0], [9, 3, 1]])

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, lambda d: pd.DataFrame(d).convert_dtypes()]


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("make_meta", [pd.DataFrame, pl.DataFrame, pa.table])
def test_matched_by_the_column_of_names(make, make_meta):
    source = FrameSource(make(COLUMNS), make_meta(META))
    assert source.candidate_names() == ["c", "a", "b"]
    assert source.meta_names == ["size", "kind"]
    assert (source.n_candidates, source.n_samples) == (3, 3)
    assert source.columns([]).shape == (3, 0)
    np.testing.assert_array_equal(source.columns([0, 1, 2]), EXPECTED)
    np.testing.assert_array_equal(source.columns([2, 0]), EXPECTED[:, [2, 0]])


def test_matched_by_index_and_by_another_column():
    meta = pd.DataFrame(META).set_index("feature")
    np.testing.assert_array_equal(
        FrameSource(pd.DataFrame(COLUMNS), meta).columns([0, 2])[:, 1], EXPECTED[:, 2]
    )
    other = pl.DataFrame(META).rename({"feature": "gene"})
    source = FrameSource(pl.DataFrame(COLUMNS), other, name="gene", cost=[1, 2, 4])
    np.testing.assert_array_equal(source.columns([1]), EXPECTED[:, [1]])
    assert source.spent == 2.0


def test_names_that_are_numbers():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=[10, 20, 30])
    source = FrameSource(frame, pd.DataFrame({"size": [1, 2, 3]}, index=[30, 10, 20]))
    assert source.candidate_names() == ["30", "10", "20"]
    np.testing.assert_array_equal(source.columns([0, 1]), [[2, 0], [5, 3]])


def test_a_column_of_text_is_a_failure():
    source = FrameSource(pd.DataFrame({**COLUMNS, "a": ["x", "y", "z"]}), pd.DataFrame(META))
    with pytest.raises(MeasurementError, match=r"candidate 1 \('a'\): expected numbers"):
        source.columns([0, 1, 2])
    assert source.available([0, 1, 2]).tolist() == [0, 2]


def test_data_are_not_changed():
    frame, meta = pd.DataFrame(COLUMNS), pd.DataFrame(META)
    FrameSource(frame, meta).columns([0, 1])[:] = 0
    pd.testing.assert_frame_equal(frame, pd.DataFrame(COLUMNS))
    pd.testing.assert_frame_equal(meta, pd.DataFrame(META))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_that_do_not_match(make):
    with pytest.raises(InputError, match="a column for every row of meta, got none for 'b'"):
        FrameSource(make({name: COLUMNS[name] for name in "ac"}), make(META))
    with pytest.raises(InputError, match="a row of meta for every column, got none for 'y'"):
        FrameSource(make({**COLUMNS, "y": [0, 1, 0]}), make(META))
    with pytest.raises(InputError, match="every name once in meta, got 'a' 2 times"):
        FrameSource(make(COLUMNS), make({**META, "feature": ["a", "a", "b"]}))
    with pytest.raises(InputError, match="a name in every row of meta"):
        FrameSource(make(COLUMNS), make({**META, "feature": ["a", None, "b"]}))


def test_bad_tables():
    twice = pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "c", "a"])
    with pytest.raises(InputError, match="every column name once, got 'a' 2 times"):
        FrameSource(twice, pd.DataFrame(META))
    for frame in (np.eye(3), pl.LazyFrame(COLUMNS), None):
        with pytest.raises(InputError, match="expected a pandas or polars DataFrame"):
            FrameSource(frame, pd.DataFrame(META))
    with pytest.raises(InputError, match="in a column 'feature', got an object of type ndarray"):
        FrameSource(pd.DataFrame(COLUMNS), np.eye(3))
    with pytest.raises(InputError, match="got a table with the columns 'size'"):
        FrameSource(pl.DataFrame(COLUMNS), pl.DataFrame({"size": [1, 2, 3]}))
    with pytest.raises(InputError, match="one cost per candidate"):
        FrameSource(pd.DataFrame(COLUMNS), pd.DataFrame(META), cost=[1])
