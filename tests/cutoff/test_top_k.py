"""TopK: a fixed number of columns."""

import warnings

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import TopK
from tamis.exceptions import InputError, SelectionWarning


def selected(rule, scores, constant=None):
    return np.flatnonzero(rule.select(Ranking.of(scores, constant=constant))[0]).tolist()


def test_by_hand():
    assert selected(TopK(2), [0.1, 0.9, 0.5]) == [1, 2]


def test_ties_are_broken_by_position_and_the_count_is_exact():
    assert selected(TopK(2), [1.0, 2.0, 1.0, 1.0]) == [0, 1]
    assert selected(TopK(3), np.zeros(1000)) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_one_more_column_keeps_the_others(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, 30) / 4
    constant = rng.random(30) < 0.2
    smaller = []
    for k in range(1, 31):
        larger = selected(TopK(k), scores, constant)
        assert len(larger) == k
        assert set(smaller) < set(larger)
        smaller = larger


def test_constant_columns_come_last_even_with_the_best_score():
    scores, constant = [9.0, 1.0, -5.0, 8.0], [True, False, False, True]
    assert selected(TopK(2), scores, constant) == [1, 2]
    assert selected(TopK(3), scores, constant) == [0, 1, 2]


def test_more_than_there_are_keeps_all_and_warns():
    with pytest.warns(SelectionWarning, match="TopK: asked for 5 columns, but there are 3; all"):
        assert selected(TopK(5), [1.0, 2.0, 3.0]) == [0, 1, 2]


def test_as_many_as_there_are_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selected(TopK(3), [1.0, 2.0, 3.0]) == [0, 1, 2]


@pytest.mark.parametrize("k", [0, -3, 1.0, True, None, "2"], ids=repr)
def test_bad_counts(k):
    with pytest.raises(InputError, match="TopK: k must be an int of at least 1, got"):
        TopK(k)
