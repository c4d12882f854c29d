"""Mass: the smallest prefix that holds a share of the total score."""

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import Mass
from tamis.exceptions import InputError, SelectionWarning


def selected(m, scores, constant=None):
    support, details = Mass(m).select(Ranking.of(scores, constant=constant))
    return np.flatnonzero(support).tolist(), details["mass"]


@pytest.mark.parametrize(
    ("m", "expected", "mass"),
    [
        (0.01, [1], 0.5),
        (0.5, [1], 0.5),  # exactly on the boundary
        (0.51, [1, 2], 0.8),
        (0.8, [1, 2], 0.8),  # 0.5 + 0.3 is the boundary, whatever the floats say
        (0.81, [0, 1, 2], 1.0),
        (1.0, [0, 1, 2], 1.0),
        (1, [0, 1, 2], 1.0),
    ],
)
def test_by_hand(m, expected, mass):
    columns, held = selected(m, [0.2, 0.5, 0.3])
    assert columns == expected
    assert held == pytest.approx(mass, rel=1e-15)


@pytest.mark.parametrize("score", [0.1, 0.3, 0.6, 0.7])
def test_equal_scores_have_equal_shares(score):
    # One of five scores of 0.3 is 0.2 of their sum on paper, but not in floats.
    for n in (5, 10):
        for k in range(1, n + 1):
            assert len(selected(k / n, np.full(n, score))[0]) == k


def test_all_of_it_needs_no_columns_of_score_zero():
    assert selected(1.0, [0.0, 2.0, 0.0, 1.0])[0] == [1, 3]


def test_the_sum_of_many_small_scores_is_reached():
    scores = np.random.default_rng(0).random(100_000)
    assert selected(1.0, scores)[0] == list(range(100_000))


def test_constant_columns_hold_nothing():
    columns, held = selected(0.5, [9.0, 1.0, 1.0], constant=[True, False, False])
    assert columns == [1]
    assert held == 0.5


@pytest.mark.parametrize(
    ("scores", "constant"), [([0.0, 0.0], None), ([3.0, 3.0], [True, True])], ids=["zero", "const"]
)
def test_a_total_of_zero_has_no_share(scores, constant):
    with pytest.warns(SelectionWarning, match="Mass: no column was selected"):
        assert selected(0.5, scores, constant) == ([], 0.0)


def test_negative_scores_have_no_shares():
    with pytest.raises(InputError, match=r"Mass: expected scores that are not negative.*-0\.5"):
        selected(0.5, [1.0, -0.5, 2.0])


def test_a_negative_score_of_a_constant_column_does_no_harm():
    assert selected(0.5, [-1.0, 1.0], constant=[True, False])[0] == [1]


@pytest.mark.parametrize("m", [0, 0.0, 1.01, -1, float("nan"), True, None], ids=repr)
def test_bad_shares(m):
    with pytest.raises(InputError, match=r"Mass: m must be a float in \(0, 1\], got"):
        Mass(m)
