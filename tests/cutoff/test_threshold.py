"""Threshold: all columns that score at least so much."""

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import Threshold
from tamis.exceptions import InputError, SelectionWarning

RANKING = Ranking.of([0.5, 0.2, 0.7, 0.5, 0.9], constant=[False] * 4 + [True])


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (0.5, [0, 2, 3]),
        (np.nextafter(0.5, 1), [2]),
        (0.2, [0, 1, 2, 3]),
        (-7, [0, 1, 2, 3]),
        (-np.inf, [0, 1, 2, 3]),
    ],
)
def test_by_hand(t, expected):
    support, details = Threshold(t).select(RANKING)
    assert np.flatnonzero(support).tolist() == expected
    assert details == {"threshold": t}


def test_nothing_reached_warns():
    with pytest.warns(SelectionWarning, match="Threshold: no column was selected"):
        support, _ = Threshold(0.71).select(RANKING)
    assert not support.any()


@pytest.mark.parametrize("t", [float("nan"), None, "0.5", True], ids=repr)
def test_bad_thresholds(t):
    with pytest.raises(InputError, match="Threshold: t must be a float, got"):
        Threshold(t)
