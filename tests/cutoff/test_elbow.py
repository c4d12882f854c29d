"""Elbow: where the sorted scores bend."""

import warnings

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import Elbow, find_elbows
from tamis.exceptions import InputError, SelectionWarning


def step(n_high, n_low):
    return np.array([1.0] * n_high + [0.0] * n_low)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([], (0, 0)),
        ([3.0], (1, 1)),
        ([3.0, 3.0], (2, 2)),
        ([3.0, 1.0], (1, 1)),
        ([2.0, 2.0, 2.0], (3, 3)),  # flat: no bend
        ([4.0, 3.0, 2.0, 1.0], (4, 4)),  # straight: no bend
        ([1.0, 0.1, 0.0], (1, 1)),  # under the chord
        ([1.0, 0.9, 0.0], (2, 2)),  # above it
        ([9.0, 8.5, 8.0, 1.0, 0.9, 0.8, 0.7, 0.6], (3, 3)),
        ([3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0], (3, 3)),  # straight down, then flat
        # Two drops, after two columns and after five; of a small first one there is one elbow.
        ([9.0, 9.0, 2.0, 2.0, 2.0, *[0.0] * 15], (2, 5)),
        ([9.0, 9.0, 5.0, 5.0, 5.0, *[0.0] * 15], (5, 5)),
    ],
)
def test_by_hand(curve, expected):
    assert find_elbows(curve) == expected


@pytest.mark.parametrize("n_high", [1, 2, 5, 9, 19])
@pytest.mark.parametrize("n_low", [1, 2, 5, 40])
def test_a_step_is_cut_at_the_step(n_high, n_low):
    assert find_elbows(step(n_high, n_low)) == (n_high, n_high)


@pytest.mark.parametrize("n_high", [3, 10, 30])
def test_a_noisy_step_is_cut_at_the_step(n_high):
    for seed in range(20):
        noise = 0.05 * np.random.default_rng(seed).random(60)
        curve = np.sort(step(n_high, 60 - n_high) + noise)[::-1]
        assert find_elbows(curve)[1] == n_high


def test_the_late_elbow_of_an_exponential_is_in_closed_form():
    # exp(-a x) is farthest below its chord where its slope is that of the chord.
    n, a = 1001, 8.0
    x = np.arange(n) / (n - 1)
    _, late = find_elbows(np.exp(-a * x))
    slope = 1 - np.exp(-a)
    assert late == pytest.approx(np.log(a / slope) / a * (n - 1), abs=1)


def test_the_early_elbow_is_that_of_the_part_before_the_late_one():
    n, a = 4001, 8.0
    curve = np.exp(-a * np.arange(n) / (n - 1))
    early, late = find_elbows(curve)
    b = a * late / (n - 1)  # the same exponential, on a shorter interval
    assert early == pytest.approx(np.log(b / (1 - np.exp(-b))) / b * late, abs=1)


def test_a_plateau_that_bends_down_is_kept_up_to_the_bend():
    # A quarter circle is farthest above its chord at 45 degrees.
    x = np.arange(1001) / 1000
    early, late = find_elbows(np.sqrt(1 - x**2))
    assert late == pytest.approx(1000 * np.sqrt(0.5), abs=1.5)
    assert early <= late


CURVES = {
    "exponential": np.exp(-np.arange(40) / 6),
    "power": 1 / np.arange(1.0, 80.0),
    "concave": np.sqrt(1 - np.arange(40) / 40),
    "steps": np.repeat([7.0, 4.0, 1.0, 0.0], [3, 4, 20, 13]),
    "parallel": np.linspace(1, 0, 11) - 0.2 * ((np.arange(11) > 1) & (np.arange(11) < 9)),
    "parallel above": np.linspace(1, 0, 11) + 0.1 * ((np.arange(11) > 1) & (np.arange(11) < 9)),
    "noise": np.sort(np.random.default_rng(0).normal(size=100))[::-1],
    "ties": np.sort(np.random.default_rng(1).integers(0, 6, 50) / 10)[::-1],
}


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("scale", [1e-12, 0.1, 1 / 3, 3.7, 1e9])
@pytest.mark.parametrize("shift", [0.0, -0.3, 1 / 7, 100.0])
def test_neither_scale_nor_shift_moves_the_elbows(curve, scale, shift):
    assert find_elbows(scale * (curve + shift)) == find_elbows(curve)


def test_of_points_equally_far_the_first_counts():
    # Columns 2 to 8 run parallel to the chord, at the same distance but for rounding.
    assert find_elbows(CURVES["parallel"])[1] == 2
    assert find_elbows(CURVES["parallel above"])[1] == 3


def test_early_never_comes_after_late():
    rng = np.random.default_rng(0)
    shapes = [
        rng.random,
        rng.standard_exponential,
        rng.standard_cauchy,
        lambda n: rng.random(n) ** 9,
    ]
    for trial in range(400):
        n = int(rng.integers(1, 30))
        values = shapes[trial % 4](n)
        if trial % 3 == 0:
            values = np.round(4 * values / np.abs(values).max())  # many ties, straight parts
        early, late = find_elbows(np.sort(values)[::-1])
        assert 1 <= early <= late <= n


def test_rounding_of_a_straight_line_is_no_bend():
    for n in (3, 10, 100, 997):
        assert find_elbows(np.linspace(0.3, 0.1, n)) == (n, n)
        assert find_elbows(0.1 * np.arange(n)[::-1]) == (n, n)


def selected(rule, scores, constant=None):
    support, details = rule.select(Ranking.of(scores, constant=constant))
    return np.flatnonzero(support).tolist(), details


def test_the_rule_cuts_where_asked():
    scores = [0.0] * 15 + [2.0, 2.0, 2.0, 9.0, 9.0]
    chosen, details = selected(Elbow(), scores)
    assert (chosen, details["early"], details["late"]) == ([18, 19], 2, 5)
    assert selected(Elbow("late"), scores)[0] == [15, 16, 17, 18, 19]


def test_constant_columns_are_not_on_the_curve():
    scores, constant = [9.0, 8.9, 8.8, 0.0, 0.0, 0.0], [False] * 3 + [True] * 3
    with pytest.warns(SelectionWarning, match="Elbow: the scores have no bend, so all 3 columns"):
        assert selected(Elbow(), scores, constant)[0] == [0, 1, 2]


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [3.0, 2.0, 1.0]], ids=["flat", "straight"])
def test_no_bend_keeps_all_and_warns(scores):
    with pytest.warns(SelectionWarning, match="Give a number or another rule"):
        assert selected(Elbow("late"), scores)[0] == [0, 1, 2]


def test_a_single_column_is_kept_in_silence():
    assert selected(Elbow(), [1.0])[0] == [0]


@pytest.mark.parametrize("which", ["erly", "", None, 1, True], ids=repr)
def test_bad_words(which):
    with pytest.raises(InputError, match="Elbow: which must be 'early' or 'late', got"):
        Elbow(which)


# Small changes of the scores.


def test_a_point_just_below_the_chord_does_not_override_a_plateau():
    # Eight points on the chord or above it; the second moves across the chord.
    curve = np.array([1.0, 0.875, 0.874, 0.873, 0.872, 0.871, 0.87, 0.869, 0.0])
    for second in (0.8749, 0.8751):
        curve[1] = second
        assert find_elbows(curve)[1] == 8


def test_the_farther_side_of_the_chord_decides():
    assert find_elbows([1.0, 0.4, 0.39, 0.38, 0.0])[1] == 1  # 0.35 below, 0.13 above
    assert find_elbows([1.0, 0.7, 0.69, 0.68, 0.0])[1] == 4  # 0.05 below, 0.43 above


@pytest.mark.parametrize("seed", range(200))
def test_scores_that_change_little_leave_the_late_elbow_in_its_range(seed):
    rng = np.random.default_rng(seed)
    shape = rng.choice([0.2, 0.5, 1.0, 2.0, 5.0])
    curve = np.sort(rng.gamma(shape, size=int(rng.integers(3, 80))))[::-1]
    ranking = Ranking.of(curve, constant=np.zeros(curve.size, bool), names=None, who="test")
    low, high = late_range(ranking)
    size = 0.0025 * (curve[0] - curve[-1])
    for _ in range(20):
        moved = np.sort(curve + rng.uniform(-size, size, curve.size))[::-1]
        assert low <= find_elbows(moved)[1] <= high


def late_range(ranking):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return Elbow("late").find(ranking, None).details["late_range"]


def test_no_clear_elbow_is_said():
    # After the first column the curve runs parallel to the chord, until it is 0.
    curve = np.maximum(0.8 - np.arange(11) / 10, 0.0)
    curve[0] = 1.0
    ranking = Ranking.of(curve, constant=np.zeros(curve.size, bool), names=None, who="test")
    with pytest.warns(SelectionWarning, match="from 1 to 8 columns, and 1 are kept"):
        assert Elbow("late").find(ranking, None).wanted.size == 1
