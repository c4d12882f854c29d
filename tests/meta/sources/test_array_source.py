"""ArraySource: whatever has columns."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamis.exceptions import InputError, MeasurementError
from tamis.meta import ArraySource

TABLE = np.arange(20.0).reshape(4, 5) % 3
META = np.eye(5)


@pytest.mark.parametrize(
    "convert",
    [
        np.array,
        np.asfortranarray,
        np.ndarray.tolist,
        lambda table: table.astype(np.uint8),
        lambda table: table.astype(bool).astype(float) * table,
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.csr_array,
        sparse.coo_array,
    ],
)
def test_columns_of_many_kinds_of_tables(convert):
    source = ArraySource(convert(TABLE), META)
    assert source.n_samples == 4
    assert source.columns([]).shape == (4, 0)
    np.testing.assert_array_equal(source.columns([4, 0, 4]), TABLE[:, [4, 0, 4]])
    assert source.columns([4]).dtype == np.float64
    assert source.n_measured == 2


def test_memory_map_reads_only_what_is_asked_for(tmp_path):
    np.save(tmp_path / "table.npy", TABLE)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    source = ArraySource(mapped, META)
    np.testing.assert_array_equal(source.columns([1]), TABLE[:, [1]])
    assert source.X is mapped


def test_the_caller_s_table_is_not_touched():
    table = TABLE.copy()
    source = ArraySource(table, META)
    source.columns([0])[:] = -1
    np.testing.assert_array_equal(table, TABLE)
    table[:] = 7  # what was measured before stays
    np.testing.assert_array_equal(source.columns([0]), TABLE[:, [0]])
    matrix = sparse.csr_matrix(TABLE)
    ArraySource(matrix, META).columns([0])
    assert matrix.format == "csr"


def test_names_and_costs():
    meta = pd.DataFrame(META, index=list("abcde"))
    assert ArraySource(TABLE, meta).candidate_names() == list("abcde")
    source = ArraySource(TABLE, meta, feature_names=list("vwxyz"), cost=[1, 2, 3, 4, 5])
    assert source.candidate_names() == list("vwxyz")
    source.columns([1, 3])
    assert source.spent == 6.0


def test_infinite_columns_fail_and_the_others_do_not():
    table = TABLE.copy()
    table[0, 2], table[1, 3] = np.inf, np.nan
    source = ArraySource(table, META)
    with pytest.raises(MeasurementError, match="candidate 2: expected finite values or NaN"):
        source.columns(range(5))
    np.testing.assert_array_equal(source.columns([0, 1, 3, 4]), table[:, [0, 1, 3, 4]])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((TABLE, np.eye(4)), {}, r"a row of meta for every column of X \(5\), got 4 rows"),
        ((TABLE[0], META), {}, r"X of shape \(n_samples, n_candidates\), got shape \(5,\)"),
        ((None, META), {}, "got NoneType"),
        ((pd.DataFrame(TABLE), META), {}, "Use FrameSource"),
        ((TABLE, META), {"cost": [1]}, "one cost per candidate"),
        ((TABLE, META), {"cost": [-1] * 5}, "not negative"),
        ((TABLE, META), {"feature_names": ["a"]}, "one name per candidate"),
        ((TABLE, [1, 2, 3]), {}, "expected meta to be a table"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(InputError, match=message):
        ArraySource(*arguments, **options)


def test_folder_with_columns_of_other_length_is_refused_at_once(tmp_path):
    ArraySource(TABLE, META).keep_in(tmp_path).columns([0])
    with pytest.raises(InputError, match="columns of 4 samples instead of 3"):
        ArraySource(TABLE[:3], META).keep_in(tmp_path)
