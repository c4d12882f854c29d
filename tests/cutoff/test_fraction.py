"""Fraction: a share of all columns."""

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import Fraction
from tamis.exceptions import InputError


def count(f, n_columns):
    return int(Fraction(f).select(Ranking.of(np.arange(float(n_columns))))[0].sum())


@pytest.mark.parametrize(
    ("f", "n_columns", "expected"),
    [
        (0.5, 4, 2),
        (0.5, 5, 2),
        (0.3, 10, 3),
        (0.29, 100, 29),  # 0.29 * 100 is 28.999999999999996
        (0.57, 100, 57),  # and 0.57 * 100 is 56.99999999999999
        (0.999, 10, 9),
        (1e-9, 10, 1),
        (0.1, 3, 1),
        (1.0, 7, 7),
        (1, 7, 7),
    ],
)
def test_the_share_is_rounded_down_but_never_to_nothing(f, n_columns, expected):
    assert count(f, n_columns) == expected


def test_hundredths_of_any_table_are_exact():
    for n_columns in (100, 200, 1000, 5000):
        for percent in range(1, 101):
            assert count(percent / 100, n_columns) == percent * n_columns // 100


def test_the_best_are_taken_and_constant_columns_last():
    ranking = Ranking.of([9.0, 1.0, 2.0, 3.0], constant=[True, False, False, False])
    np.testing.assert_array_equal(Fraction(0.5).select(ranking)[0], [False, False, True, True])


@pytest.mark.parametrize("f", [0, 0.0, -0.1, 1.5, 2, float("nan"), True, None, "0.5"], ids=repr)
def test_bad_shares(f):
    with pytest.raises(InputError, match=r"Fraction: f must be a float in \(0, 1\], got"):
        Fraction(f)
