"""Borda, median rank and robust rank aggregation: by hand, against definitions, by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from reference import aggregation as slow
from tamis.consensus import borda, median_rank, robust_rank_aggregation
from tamis.consensus.aggregation import mean_agreement
from tamis.exceptions import InputError


def random_rankings(seed, n_lists=5, n_columns=9, ties=False):
    rng = np.random.default_rng(seed)
    if ties:
        values = rng.integers(0, 4, (n_lists, n_columns))
        return stats.rankdata(values, axis=1)
    return np.array([rng.permutation(n_columns) + 1.0 for _ in range(n_lists)])


def test_borda_by_hand():
    # Column 0 beats 2, 2 and 1 of two others; column 1 beats 1, 0 and 2; column 2 0, 1 and 0.
    rankings = [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    np.testing.assert_allclose(borda(rankings), [5 / 6, 1 / 2, 1 / 6])


def test_median_by_hand():
    rankings = [[1, 2, 3, 4], [1, 2, 3, 4], [4, 2, 3, 1]]
    np.testing.assert_allclose(median_rank(rankings), [1, 2 / 3, 1 / 3, 0])


def test_robust_aggregation_by_hand():
    # Ranks 1, 1, 4 of 4: shares 1/4, 1/4, 1. One of three below 1/4: 1 - (3/4)^3 = 37/64; two:
    # 3 (1/4)^2 (3/4) + (1/4)^3 = 10/64; three below 1: 1. The least is 10/64, times three.
    ranks = robust_rank_aggregation([[1, 2, 3, 4], [1, 3, 2, 4], [4, 2, 3, 1]])
    assert ranks.pvalues[0] == pytest.approx(30 / 64)
    assert ranks.scores[0] == pytest.approx(-math.log10(30 / 64))
    # Ranks 2, 3, 2: three below 3/4 is 27/64, which is less than two below 1/2, 1/2.
    assert ranks.pvalues[1] == 1
    assert ranks.scores[1] == pytest.approx(-math.log10(3 * 27 / 64))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_definitions_say_the_same(seed, ties):
    rankings = random_rankings(seed, ties=ties)
    np.testing.assert_allclose(borda(rankings), slow.borda(rankings), atol=1e-12)
    np.testing.assert_allclose(median_rank(rankings), slow.median_rank(rankings), atol=1e-12)
    found = robust_rank_aggregation(rankings)
    for j in range(rankings.shape[1]):
        corrected = float(slow.rho(rankings, j)) * rankings.shape[0]
        assert found.pvalues[j] == pytest.approx(min(corrected, 1), rel=1e-12)
        assert found.scores[j] == pytest.approx(-math.log10(corrected), abs=1e-12)


def test_probabilities_too_small_for_a_float_keep_their_order():
    n_lists, n_columns = 200, 1000
    rankings = np.tile(np.arange(1.0, n_columns + 1), (n_lists, 1))
    found = robust_rank_aggregation(rankings)
    # All ranks are j: rho is (j / n)^m.
    expected = -n_lists * np.log10(np.arange(1, n_columns + 1) / n_columns) - np.log10(n_lists)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-10, atol=1e-10)
    assert found.pvalues[0] == 0


def test_the_tail_formula_meets_the_ordinary_one():
    from tamis.consensus import aggregation

    share = np.array([0.001, 0.01, 0.03, 0.05])
    for k, n_lists in ((1, 3), (5, 20), (20, 20), (60, 200)):
        ordinary = stats.beta.logcdf(share, k, n_lists - k + 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aggregation, "TINY", np.inf)
            tail = aggregation._log_beta(share, k, n_lists)
        np.testing.assert_allclose(tail, ordinary, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_lists", [2, 5, 20])
def test_random_places_have_honest_p_values(n_lists):
    rng = np.random.default_rng(n_lists)
    rankings = np.argsort(np.argsort(rng.random((n_lists, 20_000)), axis=1), axis=1) + 1
    pvalues = robust_rank_aggregation(rankings).pvalues
    for level in (0.01, 0.05, 0.2):
        share = (pvalues <= level).mean()
        spread = 3 * math.sqrt(level / 20_000)
        assert share <= level + spread  # a bound
        assert share >= level / 3  # and no idle one
    # The least of dependent probabilities, times their number: near the exact law for small p.
    assert (pvalues <= 0.01).mean() == pytest.approx(0.01, rel=0.6)


def test_ties_earn_nothing():
    # Half of the columns tie for the best place in every list: the chance of that is a half.
    rng = np.random.default_rng(0)
    lists = [stats.rankdata(rng.permutation(1000) % 2) for _ in range(6)]
    pvalues = robust_rank_aggregation(lists).pvalues
    for level in (0.05, 0.1, 0.2):
        assert (pvalues <= level).mean() <= level + 3 * math.sqrt(level / 1000)


def test_a_column_far_ahead_in_some_lists_is_found():
    rankings = random_rankings(0, n_lists=10, n_columns=1000)
    rankings[:6, 17] = 0.5  # ahead of all in six lists, anywhere in four
    ranks = robust_rank_aggregation(rankings)
    assert ranks.pvalues.argmin() == 17
    assert ranks.pvalues[17] < 1e-12


def test_a_column_that_a_list_lacks_is_behind_all_that_it_has():
    nan = np.nan
    whole = [[1, 2, 3.5, 3.5], [2, 1, 3, 4]]
    part = [[1, 2, nan, nan], [2, 1, 3, nan]]
    for function in (borda, median_rank):
        np.testing.assert_array_equal(function(part), function(whole))
    left, right = robust_rank_aggregation(part), robust_rank_aggregation(whole)
    np.testing.assert_array_equal(left.pvalues, right.pvalues)


def test_one_column_and_one_list():
    assert borda([[1]]).tolist() == [0]
    assert median_rank([[3, 7]]).tolist() == [1, 0]
    np.testing.assert_allclose(
        robust_rank_aggregation([[1, 2, 3, 4]]).pvalues, [0.25, 0.5, 0.75, 1]
    )


def test_the_input_stays_as_it_is():
    rankings = np.array([[1, np.nan, 3.0]])
    before = rankings.copy()
    for function in (borda, median_rank, robust_rank_aggregation):
        function(rankings)
    np.testing.assert_array_equal(rankings, before)


@pytest.mark.parametrize("function", [borda, median_rank, robust_rank_aggregation])
@pytest.mark.parametrize("wrong", [[1, 2, 3], [], [[]], [["a", "b"]], [[1, 2], [1]]])
def test_what_is_no_table_of_ranks_is_refused(function, wrong):
    with pytest.raises(InputError, match=f"{function.__name__}: expected rankings"):
        function(wrong)


def test_agreement_is_the_mean_of_all_pairs():
    rankings = random_rankings(3, n_lists=4, ties=True)
    pairs = [slow.spearman(rankings[a], rankings[b]) for a in range(4) for b in range(a)]
    assert mean_agreement(rankings) == pytest.approx(np.mean(pairs))
    assert mean_agreement(np.array([[1.0, 2, 3], [3, 2, 1]])) == pytest.approx(-1)
    assert math.isnan(mean_agreement(rankings[:1]))
    # A list that ties everything agrees with nobody.
    assert mean_agreement(np.array([[1.0, 2, 3], [2, 2, 2]])) == 0
