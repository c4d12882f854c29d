import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

from reference import significance as twin
from tamis.evaluation import significance as sig
from tamis.evaluation.intervals import gather
from tamis.exceptions import InputError

# Table 6 of Demsar (2006): AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. The row
# of "voting" prints 0.975 twice, but ranks 2 and 3: the scores differ in a digit not printed.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

PAIR_TESTS = [sig.paired_t, sig.wilcoxon, sig.binomial_wins, sig.bayesian_signed_rank]
TABLE_TESTS = [sig.friedman, sig.nemenyi, sig.compare_many]


def named(functions):
    return pytest.mark.parametrize("test", functions, ids=lambda function: function.__name__)


def random_pair(seed, n=12, digits=None):
    random = np.random.default_rng(seed)
    a, b = random.normal(0.8, 0.05, n), random.normal(0.78, 0.05, n)
    return (a, b) if digits is None else (a.round(digits), b.round(digits))


# Paired t


def test_paired_t_by_hand():
    result = sig.paired_t([5, 4, 6, 7], [4, 2, 3, 3])  # differences 1, 2, 3, 4
    assert result.mean == 2.5
    assert result.degrees == 3
    assert result.standard_error == pytest.approx(np.sqrt(5 / 3 / 4))
    assert result.statistic == pytest.approx(2.5 / np.sqrt(5 / 12))


def test_correction_by_hand():
    # Variance 5/3, 4 splits, a third tested: factor 1/4 + (1/3) / (2/3) = 3/4.
    result = sig.paired_t([5, 4, 6, 7], [4, 2, 3, 3], test_share=1 / 3)
    assert result.standard_error == pytest.approx(np.sqrt(5 / 3 * 3 / 4))
    assert result.p_value == pytest.approx(2 * stats.t.sf(2.5 / np.sqrt(5 / 4), 3))


@pytest.mark.parametrize("seed", range(5))
def test_paired_t_agrees_with_scipy(seed):
    a, b = random_pair(seed)
    ours, theirs = sig.paired_t(a, b, confidence=0.9), stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(0.9)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("share", [None, 0.1])
def test_equal_differences_other_than_zero_are_certain(share):
    result = sig.paired_t([0.8, 0.9, 0.3], [0.7, 0.8, 0.2], share)  # equal but for rounding
    assert result.statistic == np.inf
    assert result.p_value == 0
    assert result.low == result.high == pytest.approx(0.1)
    assert sig.paired_t([1, 2], [2, 3]).statistic == -np.inf


def accuracies_of_two_like_methods(random, n_rows, n_test, n_splits):
    """Nearest class mean on one column or on another that is drawn alike, on random splits."""
    y = random.integers(0, 2, n_rows) == 1
    columns = random.normal(size=(2, n_rows)) + y
    scores = np.empty((2, n_splits))
    for split in range(n_splits):
        order = random.permutation(n_rows)
        test, train = order[:n_test], order[n_test:]
        ones = columns[:, train[y[train]]].mean(axis=1, keepdims=True)
        zeros = columns[:, train[~y[train]]].mean(axis=1, keepdims=True)
        guess = (columns[:, test] > (ones + zeros) / 2) == (ones > zeros)
        scores[:, split] = (guess == y[test]).mean(axis=1)
    return scores


@pytest.mark.slow
def test_false_alarms_on_overlapping_splits():
    """Two methods that are alike: the plain test cries wolf, the corrected one keeps its level."""
    random = np.random.default_rng(0)
    alarms = np.zeros(2)
    for _ in range(500):
        scores = accuracies_of_two_like_methods(random, n_rows=90, n_test=30, n_splits=20)
        plain, corrected = sig.paired_t(*scores), sig.paired_t(*scores, test_share=1 / 3)
        alarms += [plain.p_value < 0.05, corrected.p_value < 0.05]
    assert alarms[0] / 500 > 0.4
    assert 0.02 < alarms[1] / 500 < 0.08


# Wilcoxon


def test_wilcoxon_by_hand():
    # |differences| 1, 2, 3, 4, 5 with one negative, of rank 2: sums 13 and 2; patterns with a sum
    # of at most 2: none, {1}, {2}; so p = 2 * 3 / 32.
    result = sig.wilcoxon([1, 0, 3, 4, 5], [0, 2, 0, 0, 0])
    assert result == (2.0, 6 / 32, 13.0, 2.0, 5)


def test_wilcoxon_of_demsar():
    # Section 3.1.3: C4.5 against C4.5+m, ranks of zeros divided: R+ = 93, R- = 12.
    result = sig.wilcoxon(DEMSAR[:, 1], DEMSAR[:, 0], zeros="split")
    assert (result.positive, result.negative, result.statistic) == (93, 12, 12)
    assert result.n_used == 14
    assert result.p_value < 0.05


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [3, 11, 50, 80])
def test_wilcoxon_agrees_with_scipy(n, seed):
    a, b = random_pair(seed, n)
    ours, theirs = sig.wilcoxon(a, b), stats.wilcoxon(a, b)
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(("zeros", "name"), [("drop", "wilcox"), ("pratt", "pratt")])
def test_wilcoxon_with_zeros_agrees_with_scipy(zeros, name):
    random = np.random.default_rng(3)
    a, b = random.integers(0, 9, 120).astype(float), random.integers(0, 8, 120).astype(float)
    assert (a == b).any()
    ours, theirs = sig.wilcoxon(a, b, zeros), stats.wilcoxon(a, b, zero_method=name)
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_wilcoxon_split_agrees_with_scipy():
    random = np.random.default_rng(3)
    a, b = random.integers(0, 9, 120).astype(float), random.integers(0, 8, 120).astype(float)
    ours, theirs = sig.wilcoxon(a, b, "split"), stats.wilcoxon(a, b, zero_method="zsplit")
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_is_exact_with_ties(seed):
    a, b = np.random.default_rng(seed).integers(0, 5, (2, 11))
    assert sig.wilcoxon(a, b).p_value == pytest.approx(twin.signed_rank_p_value(a - b))


@named([sig.wilcoxon, sig.binomial_wins])
def test_rounding_makes_no_difference(test):
    a, b = np.random.default_rng(1).integers(0, 10, (2, 12))
    assert test(a / 10, b / 10) == test(a, b)
    assert test(a / 10 + 1e-16, b / 10 + 0.1 + 0.2 - 0.3) == test(a, b)


# Lilliefors


def test_lilliefors_by_hand():
    # 1 2 3 4 10: mean 4, variance 50/4; the largest gap is after the fourth number, 0.8 - 0.5.
    assert sig.lilliefors([1, 2, 3, 4, 10]).statistic == pytest.approx(0.8 - 0.5)


def test_lilliefors_at_its_published_critical_values():
    # The 5% points of Lilliefors (1967), as recomputed by Dallal and Wilkinson (1986) and others.
    from tamis.evaluation.significance import simulated

    for n, critical in [(5, 0.343), (10, 0.262), (20, 0.192), (30, 0.159)]:
        drawn = simulated._null_distances(n, 10_000, 0)
        assert (drawn >= critical).mean() == pytest.approx(0.05, abs=0.008)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [8, 25, 100])
def test_lilliefors_agrees_with_statsmodels(n, seed):
    diagnostic = pytest.importorskip("statsmodels.stats.diagnostic")
    random = np.random.default_rng([n, seed])
    x = random.normal(size=n) if seed % 2 else random.gamma(6, size=n)
    statistic, p_value = diagnostic.lilliefors(x)
    ours = sig.lilliefors(x)
    assert ours.statistic == pytest.approx(statistic)
    # Their table is interpolated and ends at 0.001 and 0.99.
    assert np.clip(ours.p_value, 0.001, 0.99) == pytest.approx(p_value, abs=0.035)


@pytest.mark.parametrize("n", [6, 40])
def test_lilliefors_agrees_with_scipy(n):
    x = np.random.default_rng(n).gamma(3, size=n)
    theirs = stats.goodness_of_fit(stats.norm, x, statistic="ks", n_mc_samples=9999)
    ours = sig.lilliefors(x)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.025)  # both are simulated


def test_lilliefors_of_many_numbers_agrees_with_direct_draws():
    from tamis.evaluation.significance import simulated

    drawn = simulated._null_distances(1500, 3000, 9)
    random = np.random.default_rng(1)
    for x in (random.normal(size=1500), random.gamma(150, size=1500), random.gamma(60, size=1500)):
        result = sig.lilliefors(x)
        direct = (drawn >= result.statistic).mean()
        assert result.p_value == pytest.approx(direct, abs=0.02 + 2 * np.sqrt(0.25 / 3000))


def test_lilliefors_p_values_of_normal_data_are_uniform():
    random = np.random.default_rng(5)
    p = np.array([sig.lilliefors(random.normal(3, 2, 15)).p_value for _ in range(500)])
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_lilliefors_forgets_place_and_scale():
    x = np.random.default_rng(0).gamma(2, size=20)
    assert sig.lilliefors(1e-6 * x + 7).p_value == sig.lilliefors(x).p_value
    assert sig.lilliefors(-x).statistic == pytest.approx(sig.lilliefors(x).statistic)


def test_lilliefors_is_repeatable_and_seeded():
    x = np.random.default_rng(0).normal(size=20)
    assert sig.lilliefors(x) == sig.lilliefors(x)
    assert sig.lilliefors(x) != sig.lilliefors(x, random_state=1)
    assert sig.lilliefors([0.1, 0.3 - 0.2, 0.1, 0.1]) == (0.0, 1.0)


# Binomial count of wins


def test_binomial_count_of_the_ilfs_paper():
    # Tables 3 and 4: ILFS and the best of its eleven rivals on ten data sets.
    ours = [96.35, 99.60, 97.35, 99.00, 98.98, 89.03, 97.81, 97.76, 81.21, 82.85]
    best = [96.10, 99.44, 93.55, 96.50, 98.83, 89.34, 96.39, 97.77, 81.07, 82.98]
    result = sig.binomial_wins(ours, best, chance=0.35)
    assert (result.wins, result.losses, result.ties) == (7, 3, 0)
    assert result.p_more_than == pytest.approx(4.82e-3, abs=5e-6)
    assert result.p_at_least == pytest.approx(twin.binomial_tail(7, 10, 0.35))


@pytest.mark.parametrize("wins", range(9))
@pytest.mark.parametrize("chance", [0.5, 0.35, 1 / 12])
def test_binomial_agrees_with_scipy(wins, chance):
    a, b = [1] * wins + [0] * (8 - wins), [0] * wins + [1] * (8 - wins)
    result = sig.binomial_wins(a, b, chance)
    assert result.p_value == pytest.approx(stats.binomtest(wins, 8, chance).pvalue)
    assert result.p_at_least == pytest.approx(stats.binom.sf(wins - 1, 8, chance))
    assert result.p_more_than == pytest.approx(stats.binom.sf(wins, 8, chance))


def test_binomial_ties_and_direction():
    a, b = [2, 2, 2, 1, 3], [1, 1, 2, 2, 3]
    assert sig.binomial_wins(a, b)[:3] == (2, 1, 2)
    assert sig.binomial_wins(a, b).p_at_least == pytest.approx(4 / 8)
    assert sig.binomial_wins(a, b, ties="loss").p_at_least == pytest.approx(26 / 32)
    assert sig.binomial_wins(a, b, greater_is_better=False)[:3] == (1, 2, 2)


def test_binomial_against_many_rivals():
    rivals = [[1, 5], [2, 2], [0, 3], [1, 1]]
    result = sig.binomial_wins([3, 3, 3, 3], rivals)
    assert result[:3] == (2, 1, 1)  # better than both; worse than one; equal to the better one
    assert result.chance == pytest.approx(1 / 3)
    assert result.p_at_least == pytest.approx(3 * (1 / 9) * (2 / 3) + 1 / 27)
    assert sig.binomial_wins([3, 3], [[1], [2]]) == sig.binomial_wins([3, 3], [1, 2])


# Friedman, Nemenyi, groups, Holm


def test_friedman_of_demsar():
    result = sig.friedman(DEMSAR, correct_ties=False)
    assert result.average_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert result.chi_square == pytest.approx(9.28, abs=0.005)
    assert result.f_statistic == pytest.approx(3.69, abs=0.005)
    assert result.p_value < 0.05
    assert result.n_data == 14


def test_nemenyi_of_demsar():
    assert sig.nemenyi(DEMSAR).critical_difference == pytest.approx(1.25, abs=0.005)
    assert sig.nemenyi(DEMSAR).groups == ((3, 1, 2, 0),)
    # At 10%, plain C4.5 is worse than C4.5+m and C4.5+m+cf, and C4.5+cf belongs to both groups.
    result = sig.nemenyi(DEMSAR, 0.1)
    assert result.critical_difference == pytest.approx(1.12, abs=0.005)
    assert result.groups == ((3, 1, 2), (2, 0))


@pytest.mark.parametrize(
    ("n_methods", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_nemenyi_quantiles_of_demsar(n_methods, quantile):
    table = np.random.default_rng(0).random((6, n_methods))
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / 36)
    assert sig.nemenyi(table).critical_difference == pytest.approx(expected, rel=3e-4)


@pytest.mark.parametrize("digits", [1, 8])
@pytest.mark.parametrize("shape", [(6, 3), (15, 7)])
def test_friedman_agrees_with_scipy(shape, digits):
    table = np.random.default_rng(4).random(shape).round(digits)
    ours, theirs = sig.friedman(table), stats.friedmanchisquare(*table.T)
    assert ours.chi_square == pytest.approx(theirs.statistic)
    assert ours.p_chi_square == pytest.approx(theirs.pvalue)
    ranks = [twin.average_ranks_of((-row).tolist()) for row in table]
    assert ours.average_ranks == pytest.approx(np.mean(ranks, axis=0))


def test_friedman_f_by_hand():
    # Two data sets, ranks 1 2 3 and 1 3 2: X = 3, F = 1 * 3 / (4 - 3) with 2 and 2 degrees, and
    # the tail of that law at F is 1 / (1 + F).
    result = sig.friedman([[9, 5, 1], [7, 3, 4]])
    assert result.chi_square == pytest.approx(3)
    assert result.f_statistic == pytest.approx(3)
    assert result.p_value == pytest.approx(1 / 4)


def test_friedman_at_its_ends():
    agreed = sig.friedman([[3, 2, 1]] * 4)
    assert agreed.f_statistic == np.inf
    assert agreed.p_value == 0
    assert agreed.chi_square == pytest.approx(8)
    assert sig.friedman([[1, 1, 1]] * 4)[:4] == (0, 1, 0, 1)
    assert sig.friedman([[1, 1, 1]] * 4, correct_ties=False)[:4] == (0, 1, 0, 1)


@named([sig.friedman, sig.nemenyi])
def test_ranks_turn_with_the_sense_of_the_score(test):
    table = np.random.default_rng(2).random((5, 4))
    assert test(-table, greater_is_better=False) == test(table)


def test_friedman_forgets_rounding():
    integers = np.random.default_rng(2).integers(0, 4, (8, 5))
    noisy = integers / 10 + 0.3 + np.random.default_rng(3).choice([0, 1e-16], integers.shape)
    assert sig.friedman(noisy) == sig.friedman(integers)


@pytest.mark.parametrize("shape", [(5, 3), (12, 6)])
def test_nemenyi_agrees_with_posthocs(shape):
    posthocs = pytest.importorskip("scikit_posthocs")
    table = np.random.default_rng(7).random(shape) + np.arange(shape[1]) / 4
    theirs = np.asarray(posthocs.posthoc_nemenyi_friedman(table))
    assert np.allclose(sig.nemenyi(table).p_values, theirs, atol=1e-3)


def test_nemenyi_p_values_and_difference_agree():
    table = np.random.default_rng(8).random((10, 6)) + np.arange(6) / 5
    result = sig.nemenyi(table)
    ranks, p = np.array(result.average_ranks), np.array(result.p_values)
    far = np.abs(ranks[:, None] - ranks) >= result.critical_difference
    assert far.any()
    assert np.array_equal(p <= 0.05, far)
    assert np.array_equal(p, p.T)
    assert (np.diag(p) == 1).all()


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_all_maximal_ones(seed):
    random = np.random.default_rng(seed)
    ranks, difference = random.uniform(1, 7, 7).round(1), random.uniform(0.2, 3)
    groups = sig.critical_difference_groups(ranks, difference)
    expected = twin.maximal_groups(ranks.tolist(), difference)
    assert len(groups) == len(expected)
    assert all(set(group) in expected for group in groups)
    assert all(ranks[i] <= ranks[j] for group in groups for i, j in itertools.pairwise(group))


def test_groups_at_their_ends():
    assert sig.critical_difference_groups([1, 2, 3], 0.5) == ()
    assert sig.critical_difference_groups([1, 2, 3], 1) == ()
    assert sig.critical_difference_groups([2, 2, 2], 0.1) == ((0, 1, 2),)
    assert sig.critical_difference_groups([1], 1) == ()


def test_holm_by_hand():
    assert sig.holm([0.04, 0.01, 0.03, 0.5]) == pytest.approx((0.09, 0.04, 0.09, 0.5))
    assert sig.holm([0.6, 0.7]) == (1.0, 1.0)
    assert sig.holm([0.2]) == (0.2,)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(5))
def test_holm_agrees_with_statsmodels(seed):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(seed).random(9).round(1 + seed) ** 3
    assert sig.holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


# Bayesian signed rank


@pytest.mark.parametrize("seed", range(4))
def test_bayesian_agrees_with_its_definition(seed):
    a, b = random_pair(seed, n=7)
    ours = sig.bayesian_signed_rank(a, b, 0.02, prior_strength=0.8)
    slow = twin.bayesian_signed_rank((a - b).tolist(), 0.02, 0.8, 3000, seed)
    assert np.allclose(ours, slow, atol=4 * np.sqrt(0.25 / 3000))


def test_bayesian_in_closed_form():
    # One pseudo-observation of weight s and two differences of 1: right is the share of pairs that
    # are not both the zero, 1 - w², and wins if w² < 1/2; w follows Beta(s, 2).
    expected = stats.beta.cdf(np.sqrt(0.5), 3, 2)
    found = sig.bayesian_signed_rank([1, 1], [0, 0], 0.1, prior_strength=3.0)
    assert found.right == pytest.approx(expected, abs=0.01)
    assert found.left == 0


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
def test_bayesian_probabilities_are_symmetric_and_sum_to_one(rope):
    a, b = random_pair(3, digits=2)
    one, other = sig.bayesian_signed_rank(a, b, rope), sig.bayesian_signed_rank(b, a, rope)
    assert sum(one) == pytest.approx(1)
    assert one == pytest.approx(tuple(reversed(other)), abs=1e-3)
    assert one != sig.bayesian_signed_rank(a, b, rope, random_state=1)


def test_bayesian_limits():
    a, b = random_pair(1, n=10)
    assert sig.bayesian_signed_rank(a, b, rope=1.0) == (0, 1, 0)
    assert sig.bayesian_signed_rank(a + 1, b, rope=0.0).right > 0.999
    assert sig.bayesian_signed_rank(a, a, rope=0.0) == (0, 1, 0)
    strong = sig.bayesian_signed_rank(a + 1, b, prior_strength=1e4)
    assert strong.rope > 0.999  # a prior of no difference that no ten data sets overcome


def test_bayesian_forgets_rounding_at_the_edges():
    a, b = np.random.default_rng(1).integers(80, 84, (2, 8))
    assert sig.bayesian_signed_rank(a / 100, b / 100, 0.01) == pytest.approx(
        sig.bayesian_signed_rank(a, b, 1), abs=1e-4
    )


def test_bayesian_draws_in_blocks(monkeypatch):
    from tamis.evaluation.significance import simulated

    a, b = random_pair(1, n=10)
    whole = sig.bayesian_signed_rank(a, b)
    monkeypatch.setattr(simulated, "_BLOCK", 1000)
    assert sig.bayesian_signed_rank(a, b) == pytest.approx(whole, abs=0.015)


@pytest.mark.parametrize(
    ("seed", "n", "shift", "rope", "strength"),
    [
        (0, 9, 0.0, 0.02, 0.5),
        (1, 5, 0.03, 0.02, 0.5),
        (2, 14, -0.02, 0.01, 0.5),
        (3, 30, 0.01, 0.01, 0.5),
        (4, 6, 0.04, 0.01, 2.0),
        (5, 8, 0.03, 0.03, 0.1),
    ],
)
def test_bayesian_agrees_with_baycomp(seed, n, shift, rope, strength):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        baycomp = pytest.importorskip("baycomp")
    a, b = random_pair(seed, n=n)
    a, n_draws = a + shift, 20_000
    # Their left is the first argument's advantage.
    theirs = baycomp.SignedRankTest.probs(
        a, b, rope=rope, prior=strength, nsamples=n_draws, random_state=0
    )[::-1]
    ours = sig.bayesian_signed_rank(a, b, rope, prior_strength=strength, n_draws=n_draws)
    mean = (np.array(ours) + theirs) / 2
    error = np.sqrt(mean * (1 - mean) * 2 / n_draws)
    # Four standard errors; a probability near 0 still has a draw or two more or less.
    assert np.all(np.abs(np.array(ours) - theirs) <= 4 * error + 4 / n_draws)


# Many methods at once


def test_compare_many_of_demsar():
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    result = sig.compare_many(DEMSAR, names, level=0.1)
    assert result.best == "C4.5+m+cf"
    assert result.as_good == ("C4.5+m+cf", "C4.5+m", "C4.5+cf")
    assert result.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert result.critical_difference == pytest.approx(1.12, abs=0.005)
    assert result.friedman == sig.friedman(DEMSAR)
    assert result.p_values == sig.nemenyi(DEMSAR).p_values[3]
    assert result.n_rows == 14


def test_compare_many_by_wilcoxon():
    result = sig.compare_many(DEMSAR, post_hoc="wilcoxon")
    raw = [sig.wilcoxon(DEMSAR[:, 3], DEMSAR[:, i]).p_value for i in range(3)]
    assert result.p_values == (*sig.holm(raw), 1.0)
    worse = {f"method {i}" for i, p in enumerate(sig.holm(raw)) if p <= 0.05}
    assert worse
    assert set(result.as_good) == {f"method {i}" for i in range(4)} - worse
    assert result.critical_difference is None


@pytest.mark.parametrize("post_hoc", ["nemenyi", "wilcoxon"])
def test_nothing_is_worse_without_a_difference_among_all(post_hoc):
    table = np.random.default_rng(0).random((8, 5))
    result = sig.compare_many(table, post_hoc=post_hoc)
    assert result.friedman.p_value > 0.05
    assert len(result.as_good) == 5
    assert result.groups == (result.as_good,)


def test_friedman_opens_the_way_for_wilcoxon():
    # Six clear wins and two tiny losses: enough for the signed ranks, not for the ranks.
    table = np.array([[5, 0], [6, 0], [7, 0], [8, 0], [9, 0], [4, 0], [0, 1], [0, 2]])
    result = sig.compare_many(table, post_hoc="wilcoxon")
    assert result.p_values[1] == pytest.approx(10 / 256)  # sums up to 3: none, 1, 2, 3, 1 + 2
    assert result.friedman.p_value > 0.05
    assert result.as_good == ("method 0", "method 1")


def test_compare_many_over_splits():
    random = np.random.default_rng(0)
    table = random.normal(0, 0.02, (20, 3)) + np.array(
        [0.1, 0.11, 0.3]
    )  # errors, so the last is worst
    result = sig.compare_many(table, test_share=1 / 3, greater_is_better=False)
    assert result.friedman is None
    assert result.post_hoc == "corrected t"
    assert result.best == f"method {table.mean(axis=0).argmin()}"
    assert set(result.as_good) == {"method 0", "method 1"}
    best = int(table.mean(axis=0).argmin())
    worst = sig.paired_t(table[:, best], table[:, 2], 1 / 3)
    of_three = stats.studentized_range.sf(abs(worst.statistic) * np.sqrt(2), 3, 19)
    assert result.p_values[2] == pytest.approx(of_three)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_twenty_equal_methods_are_told_apart_in_at_most_5_percent(correlation):
    """With the best picked by the same rows; the bound is that of 100 fair draws at 5%."""
    n, k, told = 80, 20, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, k))
        values = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        folds = np.arange(n).reshape(5, -1)
        parts = [(fold, values[fold]) for fold in folds]
        means = [values[fold].mean(axis=0) for fold in folds]
        told += (
            len(sig.compare_rows(gather(parts, n), means, [f"m{i}" for i in range(k)]).as_good) < k
        )
    assert told <= stats.binom.ppf(0.999, 100, 0.05)


def test_methods_that_differ_are_told_apart_by_rows():
    values = np.random.default_rng(0).normal([0, 0, 0, 0, 2], size=(100, 5))
    folds = np.arange(100).reshape(5, -1)
    parts = [(fold, values[fold]) for fold in folds]
    means = [values[fold].mean(axis=0) for fold in folds]
    result = sig.compare_rows(gather(parts, 100), means, list("abcde"))
    assert result.as_good == ("e",)
    less = sig.compare_rows(gather(parts, 100), means, list("abcde"), greater_is_better=False)
    assert set(less.as_good) == set("abcd")


def test_compare_many_takes_names_from_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DEMSAR, columns=list("abcd"))
    assert sig.compare_many(frame).names == ("a", "b", "c", "d")
    polars = pytest.importorskip("polars")
    assert sig.compare_many(polars.from_numpy(DEMSAR, schema=list("abcd"))) == sig.compare_many(
        frame
    )


# What all of them promise


@named(PAIR_TESTS)
def test_no_difference_at_all(test):
    result = test([0.3, 0.5, 0.1 + 0.2], [0.3, 0.5, 0.3])
    assert getattr(result, "p_value", 1) == 1
    assert getattr(result, "rope", 1) == 1


@named(PAIR_TESTS)
def test_pairs_are_checked(test):
    who = test.__name__
    with pytest.raises(
        InputError, match=rf"{who}: expected a and b of the same length, got 2 and 3"
    ):
        test([1, 2], [1, 2, 3])
    with pytest.raises(
        InputError, match=rf"{who}: expected finite numbers in b, got nan at pos.* 1"
    ):
        test([1, 2], [1, np.nan])
    with pytest.raises(InputError, match=rf"{who}: expected at least 2 numbers in a, got 1"):
        test([1], [1])
    with pytest.raises(InputError, match=rf"{who}: expected a with one number per split"):
        test([[1, 2]], [1, 2])
    with pytest.raises(InputError, match=rf"{who}: expected numbers in a"):
        test(["x", "y"], [1, 2])


@named(TABLE_TESTS)
def test_tables_are_checked(test):
    who = test.__name__
    for table in ([[1, 2, 3]], [[1], [2]], [1, 2], np.empty((0, 3))):
        with pytest.raises(InputError, match=rf"{who}: expected table with at least 2 rows"):
            test(table)
    with pytest.raises(InputError, match=rf"{who}: expected finite.* got inf in row 1, column 0"):
        test([[1, 2], [np.inf, 3]])
    with pytest.raises(InputError, match=rf"{who}: expected numbers in table"):
        test([[1, 2], [1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sig.paired_t([1, 2], [1, 3], 1.0),
            r"paired_t: test_share must be a float in \(0, 1",
        ),
        (lambda: sig.paired_t([1, 2], [1, 3], confidence=95), "paired_t: confidence must be"),
        (lambda: sig.wilcoxon([1, 2], [1, 3], "zsplit"), "wilcoxon: zeros must be 'drop' or"),
        (lambda: sig.lilliefors([1, 2, 3]), "lilliefors: expected at least 4 numbers in x, got 3"),
        (lambda: sig.lilliefors([1, 2, 3, 4], n_draws=1), "lilliefors: n_draws must be"),
        (lambda: sig.binomial_wins([1, 2], [1, 3], 0), "binomial_wins: chance must be"),
        (lambda: sig.binomial_wins([1, 2], [1, 3], ties="half"), "binomial_wins: ties must be"),
        (lambda: sig.nemenyi(DEMSAR, 5), "nemenyi: level must be"),
        (lambda: sig.friedman(DEMSAR, greater_is_better="no"), "friedman: greater_is_better must"),
        (lambda: sig.holm([0.1, 1.2]), "holm: expected p-values between 0 and 1, got 1.2"),
        (lambda: sig.holm([]), "holm: expected at least 1 numbers"),
        (lambda: sig.critical_difference_groups([1, 2], -1), "critical_difference_groups: diff"),
        (lambda: sig.bayesian_signed_rank([1, 2], [1, 3], -0.1), "bayesian_signed_rank: rope must"),
        (lambda: sig.compare_many(DEMSAR, ["a"]), "compare_many: expected one name for each of 4"),
        (
            lambda: sig.compare_many(DEMSAR, list("abca")),
            "compare_many: expected names that differ",
        ),
        (lambda: sig.compare_many(DEMSAR, post_hoc="t"), "compare_many: post_hoc must be"),
        (lambda: sig.compare_many(DEMSAR, test_share=2), "compare_many: test_share must be"),
    ],
)
def test_parameters_are_checked(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_results_are_plain_numbers():
    a, b = random_pair(0)
    results = [test(a, b) for test in PAIR_TESTS]
    results += [test(DEMSAR) for test in TABLE_TESTS] + [sig.lilliefors(a), (sig.holm([0.1]),)]
    kinds = {type(value) for result in results for value in result}
    assert kinds <= {float, int, str, tuple, type(None), sig.Friedman}


def test_data_of_the_caller_stays():
    a, b = random_pair(0)
    table = DEMSAR.copy()
    before = a.copy(), b.copy()
    for test in PAIR_TESTS:
        test(a, b)
    for test in TABLE_TESTS:
        test(table)
    sig.lilliefors(a)
    assert np.array_equal(before, (a, b))
    assert np.array_equal(table, DEMSAR)
