"""Ranking: the only place that knows ties."""

import dataclasses

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.exceptions import InputError


def test_order_and_positions_by_hand():
    ranking = Ranking.of([0.2, 0.9, 0.5])
    assert ranking.order.tolist() == [1, 2, 0]
    assert ranking.positions.tolist() == [3, 1, 2]
    assert ranking.n_columns == 3


def test_equal_scores_go_to_the_lower_index():
    assert Ranking.of([1.0, 2.0, 1.0, 2.0, 0.0, -0.0]).order.tolist() == [1, 3, 0, 2, 4, 5]


def test_many_ties_keep_their_order():
    scores = np.random.default_rng(0).integers(0, 3, 5000)
    order = Ranking.of(scores).order
    for level in range(3):
        assert (np.diff(order[scores[order] == level]) > 0).all()
    assert (np.diff(scores[order]) <= 0).all()


def test_scores_become_float64_and_are_not_changed():
    scores = np.array([1, 3, 2], dtype=np.float32)
    ranking = Ranking.of(scores)
    assert ranking.scores.dtype == np.float64
    assert scores.tolist() == [1, 3, 2]


def test_constant_columns_are_in_the_order_but_not_useful():
    ranking = Ranking.of([5.0, 9.0, 7.0], constant=[False, True, False])
    assert ranking.order.tolist() == [1, 2, 0]
    assert ranking.useful.tolist() == [2, 0]
    assert ranking.curve.tolist() == [7.0, 5.0]


def test_nothing_is_constant_unless_said():
    assert Ranking.of([1.0, 2.0]).useful.tolist() == [1, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_names_the_column(bad):
    with pytest.raises(InputError) as caught:
        Ranking.of([1.0, bad, bad], names=["age", "blood", "scan"], who="MySelector")
    message = str(caught.value)
    assert message.startswith("MySelector: expected a finite score for every column, got")
    assert f"{bad}" in message
    assert "column 'blood'" in message
    assert message.endswith("Rescale the column, or leave it out.")


def test_without_names_the_index_is_said():
    with pytest.raises(InputError, match="for column 2"):
        Ranking.of([1.0, 2.0, np.nan])


def test_names():
    assert Ranking.of([1.0, 2.0]).name(1) == "x1"
    assert Ranking.of([1.0, 2.0], names=["age", "blood"]).name(1) == "blood"


def test_no_columns_no_order():
    ranking = Ranking.of([])
    assert ranking.order.size == ranking.curve.size == ranking.positions.size == 0


def test_a_ranking_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ranking.of([1.0]).scores = np.zeros(1)
