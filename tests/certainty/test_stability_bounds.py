"""The three bounds: closed forms, linear programs and a general search; how they are ordered."""

import numpy as np
import pytest

from reference import stability_selection as plain
from tamis.certainty._stability_bounds import (
    expected_false,
    least_threshold,
    most_per_half,
    on_grid,
    r_concave_tail,
)

NAMES = ["r-concave", "unimodal", "meinshausen-buhlmann"]


def test_worked_by_hand():
    # p = 1000, q = 50, B = 50: q^2 / p = 2.5, and 2 * 0.9 - 1 = 0.8.
    assert expected_false("meinshausen-buhlmann", 0.9, 50, 1000, 50) == pytest.approx(2.5 / 0.8)
    # Above 3/4: 4 (1 - 0.9 + 0.01) / 1.02. Up to 3/4: 1 / (2 (0.2 - 0.01)).
    assert expected_false("unimodal", 0.9, 50, 1000, 50) == pytest.approx(2.5 * 0.44 / 1.02)
    assert expected_false("unimodal", 0.6, 50, 1000, 50) == pytest.approx(2.5 / 0.38)
    # One pair: a pair chooses twice or not, so all bounds are the chance of it, (q / p)^2.
    for name in ("meinshausen-buhlmann", "r-concave"):
        assert expected_false(name, 1.0, 2, 10, 1) == pytest.approx(0.4)


def test_a_tail_of_two_values_in_closed_form():
    # On 0 and 1 nothing but the mean matters.
    assert r_concave_tail(0.1, 1, 1, -0.5) == pytest.approx(0.1)
    # On 0, 1/2, 1 with r = -1/2: probabilities 1, (1+s)^-2, (1+2s)^-2 over their sum; s = 1 gives
    # 1, 1/4, 1/9, the mean (1/8 + 1/9) / (49/36) and the tail (1/9) / (49/36).
    total = 49 / 36
    assert r_concave_tail((1 / 8 + 1 / 9) / total, 2, 2, -0.5) == pytest.approx((1 / 9) / total)


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_against_linear_programs(threshold, share):
    n_pairs, p = 10, 100
    q = round(share * p)
    start = round((2 * threshold - 1) * n_pairs)
    markov = p * plain.markov_tail(share**2, start, n_pairs)
    assert expected_false("meinshausen-buhlmann", threshold, q, p, n_pairs) == pytest.approx(markov)
    exact = p * plain.unimodal_tail(share**2, start, n_pairs)
    bound = expected_false("unimodal", threshold, q, p, n_pairs)
    if threshold > 0.5 + share**2:
        assert bound == pytest.approx(exact)
    else:  # beyond the theorem, where Markov's is used
        assert exact < bound == pytest.approx(markov)


@pytest.mark.parametrize(("n", "r"), [(5, -0.5), (6, -0.25)])
@pytest.mark.parametrize("mean", [0.01, 0.05])
def test_no_r_concave_distribution_has_a_heavier_tail(n, r, mean):
    for start in (2, 4):
        found = plain.r_concave_tail(mean, start, n, r, n_starts=2)
        assert r_concave_tail(mean, start, n, r) == pytest.approx(found, rel=2e-3)
        assert r_concave_tail(mean, start, n, r) >= found * (1 - 1e-5)


@pytest.mark.slow
def test_r_concave_tail_against_a_longer_search():
    for n, r, mean, start in [(8, -0.5, 0.01, 2), (8, -0.25, 0.03, 5), (9, -0.5, 0.1, 4)]:
        found = plain.r_concave_tail(mean, start, n, r, n_starts=8)
        assert r_concave_tail(mean, start, n, r) == pytest.approx(found, rel=1e-4)


@pytest.mark.slow
def test_stronger_assumptions_give_smaller_bounds():
    for p, q, n_pairs in [(1000, 50, 50), (100, 10, 50), (100, 30, 20), (20, 4, 10), (5, 3, 7)]:
        for k in range(n_pairs + 1, 2 * n_pairs + 1):
            bounds = [expected_false(name, k / (2 * n_pairs), q, p, n_pairs) for name in NAMES]
            assert np.all(np.diff(bounds) >= -1e-9), (p, q, n_pairs, k)


@pytest.mark.parametrize("name", NAMES)
def test_bounds_fall_with_the_threshold_and_rise_with_the_number(name):
    by_threshold = [expected_false(name, k / 100, 30, 500, 50) for k in range(51, 101)]
    assert np.all(np.diff(by_threshold) <= 1e-9)
    by_number = [expected_false(name, 0.8, q, 500, 50) for q in range(1, 80)]
    assert np.all(np.diff(by_number) > 0)


def test_thresholds_between_two_frequencies_count_as_the_next():
    assert on_grid(0.751, 50) == 0.76
    assert on_grid(0.76, 50) == 0.76
    assert expected_false("unimodal", 0.751, 9, 99, 50) == expected_false(
        "unimodal", 0.76, 9, 99, 50
    )


@pytest.mark.parametrize("name", NAMES)
def test_least_threshold_and_most_per_half_are_the_ends(name):
    for level in (0.8, 1.0, 4.0):
        threshold = least_threshold(name, level, 12, 200, 50)
        assert expected_false(name, threshold, 12, 200, 50) <= level
        if threshold > 0.51:
            assert expected_false(name, threshold - 0.01, 12, 200, 50) > level
        q = most_per_half(name, level, 0.75, 200, 50)
        assert expected_false(name, 0.75, q, 200, 50) <= level
        assert expected_false(name, 0.75, q + 1, 200, 50) > level
    assert least_threshold(name, 1e-9, 12, 200, 50) is None
    assert most_per_half(name, 1e-9, 0.75, 200, 50) == 1
