"""Stability measures against hand-worked values, closed forms, literal twins and simulation."""

from itertools import combinations, product
from math import comb, log, sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.stats import binomtest, gamma, kendalltau, spearmanr

import tamis
from reference import stability as literal
from tamis.evaluation import stability
from tamis.exceptions import InputError


def random_rankings(n_lists, n_features, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n_features) + 1 for _ in range(n_lists)])


def random_sets(sizes, n_features, seed):
    rng = np.random.default_rng(seed)
    return [rng.choice(n_features, size, replace=False) for size in sizes]


def random_similarity(n_features, seed, n_rows=30):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_rows, 1))
    return np.abs(np.corrcoef(table, rowvar=False))


RANKINGS = {
    "jensen_shannon": stability.jensen_shannon,
    "jensen_shannon_top": lambda rankings: stability.jensen_shannon(rankings, top=3),
    "spearman": stability.spearman,
    "kendall": stability.kendall,
}
SETS = {
    "kuncheva": stability.kuncheva,
    "nogueira": lambda sets, n: stability.nogueira(sets, n).value,
    "jaccard": lambda sets, n: stability.jaccard(sets),
    "jensen_shannon_sets": stability.jensen_shannon_sets,
    "similarity_adjusted": lambda sets, n: stability.similarity_adjusted(sets, np.eye(n)),
}


class TestJensenShannon:
    def test_by_hand_two_opposite_rankings_of_two(self):
        # p = (5/8, 3/8) and (3/8, 5/8): the mean is uniform, as for completely random lists.
        assert stability.jensen_shannon([[1, 2], [2, 1]]) == pytest.approx(0.0, abs=1e-15)

    def test_by_hand_three_rankings_of_two(self):
        p, mean = [5 / 8, 3 / 8], [(2 * 5 + 3) / 24, (2 * 3 + 5) / 24]
        divergence = (
            2 * (p[0] * log(p[0] / mean[0]) + p[1] * log(p[1] / mean[1]))
            + (p[1] * log(p[1] / mean[0]) + p[0] * log(p[0] / mean[1]))
        ) / 3
        expected = 1 - divergence / (p[0] * log(2 * p[0]) + p[1] * log(2 * p[1]))
        assert stability.jensen_shannon([[1, 2], [1, 2], [2, 1]]) == pytest.approx(expected)

    def test_by_hand_top_of_one(self):
        # Two lists with different best features of four: D = log 2, D* = log 4.
        assert stability.jensen_shannon([[1, 2, 3, 4], [2, 1, 3, 4]], top=1) == pytest.approx(0.5)

    @pytest.mark.parametrize("top", [1, 2, 5, 11, 12, None])
    def test_literal(self, top):
        for seed in range(3):
            rankings = random_rankings(2 + 3 * seed, 12, seed)
            expected = literal.jensen_shannon(rankings, top)
            assert stability.jensen_shannon(rankings, top) == pytest.approx(expected, abs=1e-12)

    def test_top_of_all_is_the_full_ranking(self):
        rankings = random_rankings(4, 9, 0)
        assert stability.jensen_shannon(rankings, top=9) == stability.jensen_shannon(rankings)

    def test_order_after_the_top_does_not_matter(self):
        rankings = [[1, 2, 3, 4, 5], [1, 2, 5, 4, 3], [1, 2, 4, 3, 5]]
        assert stability.jensen_shannon(rankings, top=2) == 1.0
        assert stability.jensen_shannon(rankings) < 1.0

    @pytest.mark.parametrize("n_lists", [2, 5, 20])
    def test_random_full_rankings_give_one_over_their_number(self, n_lists):
        # For many features l p is (1 + E) / 2 with E exponential, and the mean of E over the lists
        # has a gamma distribution: both divergences are integrals.
        def divergence(n):
            return gamma(n, scale=1 / n).expect(lambda e: (1 + e) / 2 * np.log((1 + e) / 2))

        expected = divergence(n_lists) / divergence(1)
        value = stability.jensen_shannon(random_rankings(n_lists, 20_000, n_lists))
        assert value == pytest.approx(expected, rel=0.03)
        assert 1 <= value * n_lists <= 1.2

    def test_disjoint_tops_follow_the_note(self):
        rankings = [np.roll(np.arange(1, 20_001), 10 * i) for i in range(5)]
        assert stability.jensen_shannon(rankings, top=10) == pytest.approx(0.79, abs=0.001)

    def test_agreement_at_the_top_counts_most(self):
        best_differ = stability.jensen_shannon([[1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6]])
        last_differ = stability.jensen_shannon([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5]])
        assert best_differ < last_differ < 1

    def test_sets_by_hand(self):
        # Disjoint pairs out of 16: D = log 2, D* = log 8.
        assert stability.jensen_shannon_sets([[0, 1], [2, 3]], 16) == pytest.approx(2 / 3)

    def test_sets_literal(self):
        sets = random_sets([4] * 6, 15, 3)
        expected = literal.jensen_shannon_sets(sets, 15)
        assert stability.jensen_shannon_sets(sets, 15) == pytest.approx(expected, abs=1e-12)


class TestCorrelations:
    def test_by_hand(self):
        # Spearman of the pairs: 1, 1/2, 1/2. Kendall: 1, 1/3, 1/3.
        rankings = [[1, 2, 3], [1, 2, 3], [2, 1, 3]]
        assert stability.spearman(rankings) == pytest.approx(2 / 3)
        assert stability.kendall(rankings) == pytest.approx(5 / 9)

    @pytest.mark.parametrize("measure", [stability.spearman, stability.kendall])
    def test_opposite_rankings(self, measure):
        assert measure([[1, 2, 3, 4], [4, 3, 2, 1]]) == pytest.approx(-1.0)
        assert measure([[1, 2, 3, 4], [4, 3, 2, 1]]) >= -1.0

    @pytest.mark.parametrize("n_features", [2, 3, 8, 33, 64, 65])
    def test_against_scipy(self, n_features):
        rankings = random_rankings(6, n_features, n_features)
        pairs = list(combinations(rankings, 2))
        rho = np.mean([spearmanr(a, b).statistic for a, b in pairs])
        tau = np.mean([kendalltau(a, b).statistic for a, b in pairs])
        assert stability.spearman(rankings) == pytest.approx(rho, abs=1e-12)
        assert stability.kendall(rankings) == pytest.approx(tau, abs=1e-12)

    @pytest.mark.parametrize("n_values", [2, 3, 10])
    def test_ties_against_scipy(self, n_values):
        rng = np.random.default_rng(n_values)
        rankings = rng.integers(1, n_values + 1, size=(7, 40)).astype(float)
        rankings[0] = rng.permutation(40) + 1  # one list without ties among the others
        rankings[5] = rng.permutation(40) + 1
        pairs = list(combinations(rankings, 2))
        rho = np.mean([spearmanr(a, b).statistic for a, b in pairs])
        tau = np.mean([kendalltau(a, b).statistic for a, b in pairs])
        assert stability.spearman(rankings) == pytest.approx(rho, abs=1e-12)
        assert stability.kendall(rankings) == pytest.approx(tau, abs=1e-12)
        assert literal.mean_over_pairs(literal.tau_b, rankings) == pytest.approx(tau, abs=1e-12)

    def test_kendall_of_many_columns_against_scipy(self):
        rankings = random_rankings(3, 70_000, 0)
        rankings[1] = rankings[0]
        rankings[1, :2] = rankings[1, 1::-1]
        tau = np.mean([kendalltau(a, b).statistic for a, b in combinations(rankings, 2)])
        assert stability.kendall(rankings) == pytest.approx(tau, abs=1e-12)

    def test_threads_change_nothing(self):
        rankings = random_rankings(9, 200, 1)
        assert stability.kendall(rankings, n_jobs=1) == stability.kendall(rankings, n_jobs=2)

    @pytest.mark.parametrize("measure", [stability.spearman, stability.kendall])
    def test_random_rankings_give_zero(self, measure):
        assert measure(random_rankings(20, 2000, 4)) == pytest.approx(0.0, abs=0.01)

    @pytest.mark.parametrize("measure", [stability.spearman, stability.kendall])
    def test_list_without_order(self, measure):
        with pytest.raises(InputError, match="list 1 gives the same rank to all"):
            measure([[1, 2, 3], [2, 2, 2]])


class TestKuncheva:
    def test_by_hand(self):
        # r = 2, k = 3, n = 10: (2 * 10 - 9) / (3 * 7).
        assert stability.kuncheva([[0, 1, 2], [1, 2, 9]], 10) == pytest.approx(11 / 21)

    def test_by_hand_disjoint_halves_are_opposite(self):
        assert stability.kuncheva([[0, 1], [2, 3]], 4) == -1.0

    def test_literal(self):
        sets = random_sets([5] * 8, 17, 0)
        assert stability.kuncheva(sets, 17) == pytest.approx(literal.kuncheva(sets, 17))

    def test_sizes_must_be_equal(self):
        with pytest.raises(InputError, match=r"sizes from 1 to 2\. Use nogueira"):
            stability.kuncheva([[0], [0, 1]], 5)


class TestNogueira:
    def test_by_hand(self):
        # Selected 3, 2, 1 and 1 times: mean s² = 3 (1/3) / 10 = 1/10; k/d = 7/30.
        found = stability.nogueira([[0, 1], [0, 1, 2], [0, 3]], 10)
        assert found.value == pytest.approx(1 - 0.1 / (7 / 30 * 23 / 30))
        assert found.level == 0.95

    def test_interval_by_hand(self):
        # Without one of {0}, {0}, {1} of two features: -1, -1 and 1. Mean -1/3, squared deviations
        # 4/9 + 4/9 + 16/9 = 8/3, times 2/3 is the variance; t of 2 degrees of freedom is 4.302653.
        found = stability.nogueira([[0], [0], [1]], 2)
        assert found.value == pytest.approx(-1 / 3)
        half = 4.302653 * sqrt(2 / 3 * 8 / 3)
        assert (found.low, found.high) == pytest.approx((-1 / 3 - half, -1 / 3 + half))

    def test_the_value_is_that_of_the_paper_and_the_interval_the_jackknife(self):
        for seed in range(4):
            sizes = np.random.default_rng(seed).integers(1, 12, size=4 + seed)
            sets = random_sets(sizes, 13, seed)
            found = stability.nogueira(sets, 13)
            assert found.value == pytest.approx(literal.nogueira(sets, 13)[0])
            n = len(sets)
            without = [literal.nogueira([*sets[:i], *sets[i + 1 :]], 13)[0] for i in range(n)]
            half = stats.t(n - 1).ppf(0.975) * sqrt((n - 1) * np.var(without))
            assert found.high - found.value == pytest.approx(half)

    def test_sets_of_one_size_give_kuncheva(self):
        sets = random_sets([6] * 9, 30, 5)
        assert stability.nogueira(sets, 30).value == pytest.approx(stability.kuncheva(sets, 30))

    def test_deviation_of_many_lists_is_that_of_the_paper(self):
        mask = np.random.default_rng(0).random((400, 20)) < np.linspace(0.05, 0.95, 20)
        found = stability.nogueira(mask, 20)
        paper = sqrt(literal.nogueira([np.flatnonzero(row) for row in mask], 20)[1])
        assert (found.high - found.low) / (2 * 1.966) == pytest.approx(paper, rel=0.02)

    def test_lowest_value(self):
        # The paper bounds the estimate by -1 / (M - 1) from below; disjoint halves reach it.
        assert stability.nogueira([[0, 1], [2, 3]], 4).value == pytest.approx(-1.0)
        found = stability.nogueira([[0], [1], [2], [3]], 4)
        assert found.value == pytest.approx(-1 / 3)

    @pytest.mark.parametrize("p", [[0.5] * 10, [0.9] * 4 + [0.1] * 16])
    def test_coverage_of_the_interval(self, p):
        p = np.array(p)
        truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
        rng = np.random.default_rng(7)
        inside = 0
        for _ in range(400):
            found = stability.nogueira(rng.random((60, p.size)) < p, p.size)
            inside += found.low <= truth <= found.high
        assert binomtest(inside, 400, 0.95).pvalue > 0.001

    @pytest.mark.parametrize("n_lists", [5, 10])
    def test_the_interval_holds_with_few_lists(self, n_lists):
        """At least 95%, to the accuracy of 400 draws; the normal interval holds in 70 to 85%."""
        p = np.r_[np.full(8, 0.8), np.full(32, 0.06)]
        truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
        rng = np.random.default_rng(3)
        found = [stability.nogueira(rng.random((n_lists, 40)) < p, 40) for _ in range(400)]
        inside = sum(one.low <= truth <= one.high for one in found)
        assert binomtest(inside, 400, 0.95, alternative="less").pvalue > 0.001


class TestChance:
    """Corrected measures are 0 on average for random sets, whatever the sizes."""

    def estimate(self, measure, n_draws=600):
        rng = np.random.default_rng(11)
        values = [measure(rng) for _ in range(n_draws)]
        return np.mean(values), np.std(values) / sqrt(n_draws)

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("size", [1, 5, 15, 19])
    @pytest.mark.parametrize("name", ["kuncheva", "nogueira", "similarity_adjusted"])
    def test_one_size(self, name, size):
        similarity = random_similarity(20, 0)

        def measure(rng):
            sets = [rng.choice(20, size, replace=False) for _ in range(5)]
            if name == "similarity_adjusted":
                return stability.similarity_adjusted(sets, similarity)
            return SETS[name](sets, 20)

        mean, error = self.estimate(measure)
        assert abs(mean) < 4 * error

    def test_nogueira_of_many_sizes(self):
        def measure(rng):
            sizes = rng.integers(1, 20, size=60)
            sets = [rng.choice(20, size, replace=False) for size in sizes]
            return stability.nogueira(sets, 20).value

        assert abs(self.estimate(measure, 100)[0]) < 0.01

    def test_jaccard_grows_with_size(self):
        few, many = random_sets([2] * 20, 20, 0), random_sets([18] * 20, 20, 0)
        assert stability.jaccard(few) < 0.2 < 0.7 < stability.jaccard(many)


class TestJaccard:
    def test_by_hand(self):
        # 2/4, 3/3 and 2/4.
        assert stability.jaccard([[0, 1, 2], [1, 2, 3], {2, 1, 0}]) == pytest.approx(2 / 3)

    def test_sizes_may_differ_and_sets_be_empty(self):
        # {} with {} is 1, with {5} is 0, twice.
        assert stability.jaccard([[], [], [5]]) == pytest.approx(1 / 3)

    def test_literal(self):
        sets = random_sets([0, 1, 4, 9, 9, 12], 12, 2)
        assert stability.jaccard(sets) == pytest.approx(literal.jaccard(sets))

    def test_more_columns_than_one_tile(self):
        mask = np.random.default_rng(0).random((3, 150_000)) < 0.5
        sets = [set(np.flatnonzero(row).tolist()) for row in mask]
        assert stability.jaccard(mask) == pytest.approx(literal.jaccard(sets))


class TestSimilarityAdjusted:
    def test_by_hand(self):
        # 2 of 4 features: 1/4 on the diagonal, -1/12 beside it; tr(C S0) = 1 - 1.8 / 12 = 0.85.
        # Features 0 and 1 have variance 1/3 and covariance -1/3: tr(C S) = (2 - 1.8) / 3.
        similarity = np.eye(4)
        similarity[0, 1] = similarity[1, 0] = 0.9
        value = stability.similarity_adjusted([[0, 2], [1, 2], [0, 2]], similarity)
        assert value == pytest.approx(1 - (0.2 / 3) / 0.85)

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(("d", "k", "n_lists"), [(5, 1, 2), (6, 2, 2), (6, 3, 2), (5, 4, 3)])
    @pytest.mark.parametrize("kind", ["correlations", "squares", "blocks", "none"])
    def test_every_choice_of_sets_counted_out(self, d, k, n_lists, kind):
        similarity = {
            "correlations": random_similarity(d, 5),
            "squares": random_similarity(d, 5) ** 2,
            "blocks": np.kron(np.eye(3), np.ones((2, 2)))[:d, :d],
            "none": np.eye(d),
        }[kind]
        subsets = [np.isin(np.arange(d), chosen) for chosen in combinations(range(d), k)]
        values, spreads = [], []
        for sets in product(subsets, repeat=n_lists):
            mask = np.array(sets)
            values.append(stability.similarity_adjusted(mask, similarity))
            spreads.append((similarity * np.cov(mask.T.astype(float))).sum())
        # What is subtracted is the mean spread over all choices, so the mean value is 0.
        assert np.mean(values) == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(values, 1 - np.array(spreads) / np.mean(spreads), atol=1e-12)
        alike = np.tile(subsets[0], (n_lists, 1))
        assert stability.similarity_adjusted(alike, similarity) == 1.0

    def test_every_choice_of_sets_of_several_sizes_counted_out(self):
        # Sizes drawn, too: a list has 1 or 4 of 5 features with probability 1/2. The mean spread
        # then is that of S0 with the sizes at their probabilities.
        d, similarity = 5, random_similarity(5, 5)
        lists = [
            (np.isin(np.arange(d), chosen).astype(float), 0.5 / comb(d, k))
            for k in (1, 4)
            for chosen in combinations(range(d), k)
        ]
        spread = sum(
            p * q * ((a - b) @ similarity @ (a - b)) / 2 for (a, p), (b, q) in product(lists, lists)
        )
        # Half the lists of every size; all single features once and all but one once.
        mask = np.array([a for a, _ in lists]) > 0
        found = (similarity * np.cov(mask.T.astype(float))).sum()
        assert stability.similarity_adjusted(mask, similarity) == pytest.approx(1 - found / spread)

    def test_perfect_substitutes_are_stable(self):
        similarity = np.kron(np.eye(5), np.ones((2, 2)))
        sets = [[0, 2, 4], [1, 3, 4], [0, 3, 5], [1, 2, 5]]
        assert stability.similarity_adjusted(sets, similarity) == pytest.approx(1.0)
        assert stability.nogueira(sets, 10).value < 0.5

    def test_without_similarities_it_is_nogueira(self):
        sets = random_sets([1, 4, 7, 3, 0, 9], 12, 1)
        value = stability.similarity_adjusted(sets, np.eye(12))
        assert value == pytest.approx(stability.nogueira(sets, 12).value)

    @pytest.mark.parametrize("sizes", [[4] * 5, [1, 4, 7, 3, 0, 12], [2, 9]])
    def test_literal_dense_and_sparse(self, sizes):
        sets, similarity = random_sets(sizes, 12, 1), random_similarity(12, 3)
        similarity[similarity < 0.2] = 0.0
        expected = literal.similarity_adjusted(sets, similarity)
        assert stability.similarity_adjusted(sets, similarity) == pytest.approx(expected)
        sparse = csr_matrix(similarity)
        assert stability.similarity_adjusted(sets, sparse) == pytest.approx(expected)

    def test_more_moving_features_than_one_tile(self):
        mask = np.random.default_rng(0).random((4, 1100)) < 0.5
        similarity = random_similarity(1100, 0)
        covariance = np.cov(mask.T.astype(float))
        sizes = mask.sum(axis=1)
        share = sizes.mean() / 1100
        beside = ((sizes**2).mean() - sizes.mean()) / (1100**2 - 1100) - share**2
        null = np.full((1100, 1100), beside)
        np.fill_diagonal(null, share * (1 - share))
        expected = 1 - (similarity * covariance).sum() / (similarity * null).sum()
        assert stability.similarity_adjusted(mask, similarity) == pytest.approx(expected)

    def test_all_features_alike(self):
        assert stability.similarity_adjusted([[0, 1], [2, 3]], np.ones((7, 7))) == 1.0

    def test_squared_correlations_never_exceed_one(self):
        for seed in range(20):
            sets = random_sets([3, 5, 2, 6], 12, seed)
            similarity = random_similarity(12, seed, n_rows=4) ** 2
            assert stability.similarity_adjusted(sets, similarity) <= 1 + 1e-12

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ((0, 1, np.nan), "NaN or infinite"),
            ((0, 1, -0.5), "Take absolute values"),
            ((0, 1, 0.5), "not symmetric"),
            ((2, 2, 0.5), "diagonal that is not 1"),
            ((1, 0, 1.5), "values from 0 to 1.5"),
        ],
    )
    def test_bad_similarity(self, change, message):
        similarity = np.eye(4)
        similarity[change[:2]] = change[2]
        with pytest.raises(InputError, match=message):
            stability.similarity_adjusted([[0], [1]], similarity)
        with pytest.raises(InputError, match=message):
            stability.similarity_adjusted([[0], [1]], csr_matrix(similarity))

    @pytest.mark.parametrize("similarity", [np.ones((2, 3)), np.ones(3), [["a"]], np.ones((0, 0))])
    def test_not_a_similarity(self, similarity):
        with pytest.raises(InputError, match="must be a symmetric matrix"):
            stability.similarity_adjusted([[0], [1]], similarity)


class TestFrequency:
    def test_by_hand(self):
        # Wilson for 4 of 4: low = 4 / (4 + z²); for 0 of 4: high = z² / (4 + z²).
        found = stability.selection_frequency([[0, 1], [0], [0, 1], [0, 2]], 4)
        squared = 1.959963984540054**2
        assert found.share.tolist() == [1.0, 0.5, 0.25, 0.0]
        assert found.low[0] == pytest.approx(4 / (4 + squared))
        assert found.high[3] == pytest.approx(squared / (4 + squared))
        assert (found.low[3], found.high[0], found.level) == (0.0, 1.0, 0.95)
        half = sqrt(squared) * sqrt(1 + squared / 4) / (4 + squared)
        assert (found.low[1], found.high[1]) == pytest.approx((0.5 - half, 0.5 + half))

    @pytest.mark.parametrize("level", [0.8, 0.99])
    def test_against_scipy(self, level):
        mask = np.arange(13)[None, :] > np.arange(12)[:, None]
        found = stability.selection_frequency(mask, 13, level=level)
        for count in range(13):
            interval = binomtest(count, 12).proportion_ci(level, method="wilson")
            expected = (interval.low, interval.high)
            assert (found.low[count], found.high[count]) == pytest.approx(expected, abs=1e-12)
        assert np.all((found.low <= found.share) & (found.share <= found.high))

    def test_stable_set(self):
        # Of 20 lists: 20, 10, 19, 16 and 20 times. Lower ends 0.84, 0.30, 0.76, 0.58, 0.84.
        times = np.array([20, 10, 19, 16, 20])
        mask = np.arange(20)[:, None] < times
        assert stability.stable_set(mask, 5).tolist() == [0, 4, 2, 3]
        assert stability.stable_set(mask, 5, share=0.6).tolist() == [0, 4, 2]
        assert stability.stable_set(mask, 5, share=0.8).tolist() == [0, 4]
        assert stability.stable_set(mask, 5, share=0.8, level=0.99).tolist() == []
        assert stability.stable_set(mask, 5, share=0.9).tolist() == []
        assert stability.stable_set(mask, 5, share=0.0).tolist() == [0, 4, 2, 3, 1]

    @pytest.mark.parametrize(("share", "needed"), [(0.5, 4), (0.8, 16), (0.9, 35)])
    def test_lists_needed_as_noted(self, share, needed):
        assert stability.stable_set([[0]] * needed, 1, share=share).size == 1
        assert stability.stable_set([[0]] * (needed - 1), 1, share=share).size == 0

    @pytest.mark.parametrize("share", [-0.1, 1.0, "half", None])
    def test_bad_share(self, share):
        with pytest.raises(InputError, match="stable_set: share must be"):
            stability.stable_set([[0], [0]], 2, share=share)


class TestOrders:
    def test_orders_and_ranks_are_inverse(self):
        orders = random_rankings(3, 8, 0) - 1
        rankings = stability.rankings_from_orders(orders)
        for order, ranks in zip(orders, rankings, strict=True):
            assert ranks[order].tolist() == list(range(1, 9))

    def test_agrees_with_selectors(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(30, 6)), np.arange(30) % 2
        fitted = [tamis.Fisher().fit(X[i : i + 20], y[i : i + 20]) for i in (0, 10)]
        rankings = stability.rankings_from_orders([s.order_ for s in fitted])
        assert np.array_equal(rankings, [s.ranking_ for s in fitted])
        sets = stability.from_orders([s.order_ for s in fitted], 2)
        masks = [s.recut(2).support_ for s in fitted]
        assert stability.nogueira(sets, 6) == stability.nogueira(masks, 6)

    def test_from_orders(self):
        assert stability.from_orders([[2, 0, 1], [1, 0, 2]], 2).tolist() == [[2, 0], [1, 0]]

    @pytest.mark.parametrize("k", [0, 4, 1.5, True, None])
    def test_bad_k(self, k):
        with pytest.raises(InputError, match=r"from_orders: k must be an int in \[1, 3\]"):
            stability.from_orders([[2, 0, 1], [1, 0, 2]], k)

    def test_not_an_order(self):
        with pytest.raises(InputError, match="each index from 0 to 2 once"):
            stability.from_orders([[1, 2, 3], [3, 2, 1]], 1)


@pytest.mark.parametrize("name", RANKINGS)
class TestAllOfRankings:
    @pytest.mark.parametrize("n_lists", [2, 3, 7, 50])
    def test_identical_lists_give_exactly_one(self, name, n_lists):
        for seed in range(5):
            rankings = np.tile(random_rankings(1, 37, seed), (n_lists, 1))
            assert RANKINGS[name](rankings) == 1.0

    def test_renaming_features_and_lists_changes_nothing(self, name):
        rankings = random_rankings(6, 25, 0)
        rng = np.random.default_rng(1)
        changed = rankings[rng.permutation(6)][:, rng.permutation(25)]
        assert RANKINGS[name](changed) == pytest.approx(RANKINGS[name](rankings), abs=1e-12)

    def test_types_of_input(self, name):
        rankings = random_rankings(3, 10, 0)
        expected = RANKINGS[name](rankings)
        assert type(expected) is float
        for same in (rankings.tolist(), rankings.astype(float), rankings.astype(np.uint16)):
            assert RANKINGS[name](same) == expected
        assert RANKINGS[name](np.asfortranarray(rankings)) == pytest.approx(expected, abs=1e-15)

    def test_input_is_not_changed(self, name):
        rankings = random_rankings(3, 10, 0)
        rankings.flags.writeable = False
        RANKINGS[name](rankings)

    @pytest.mark.parametrize(
        ("rankings", "message"),
        [
            ([[1, 2, 3]], "at least two lists"),
            (np.ones((2, 0)), "at least two lists"),
            ([1, 2, 3], r"of shape \(n_lists, n_features\)"),
            ([[1, 2, 3], [1, 2]], "ragged lists"),
            ([["a", "b", "c"], ["a", "b", "c"]], "must be numbers"),
            ([[0, 1, 2, 3], [3, 2, 1, 0]], "with rankings_from_orders"),
            ([[1, 2, 3, 4], [1, 2, 3, 5]], "list 1"),
            ([[1, 2, 3, 4], [1, 2, 3, np.nan]], "list 1"),
        ],
    )
    def test_bad_rankings(self, name, rankings, message):
        with pytest.raises(InputError, match=message):
            RANKINGS[name](rankings)


class TestRankingEdges:
    @pytest.mark.parametrize("measure", [v for k, v in RANKINGS.items() if "top" not in k])
    def test_one_feature(self, measure):
        assert measure([[1], [1], [1]]) == 1.0

    @pytest.mark.parametrize("ranks", [[1, 1, 2], [1.5, 1.5, 3]])
    def test_ties_are_no_permutation(self, ranks):
        with pytest.raises(InputError, match="each rank from 1 \\(best\\) to 3 once, and list 1"):
            stability.jensen_shannon([[1, 2, 3], ranks])

    @pytest.mark.parametrize("top", [0, 4, 2.0, True, "all"])
    def test_bad_top(self, top):
        with pytest.raises(InputError, match="jensen_shannon: top must be"):
            stability.jensen_shannon([[1, 2, 3], [1, 2, 3]], top=top)

    def test_bad_n_jobs(self):
        with pytest.raises(InputError, match="kendall: n_jobs must be"):
            stability.kendall([[1, 2], [1, 2]], n_jobs=0)


@pytest.mark.parametrize("name", SETS)
class TestAllOfSets:
    @pytest.mark.parametrize("size", [0, 1, 3, 9, 10])
    @pytest.mark.parametrize("n_lists", [2, 3, 7, 49])
    def test_identical_sets_give_exactly_one(self, name, size, n_lists):
        sets = random_sets([size], 10, size) * n_lists
        assert SETS[name](sets, 10) == 1.0

    def test_one_feature(self, name):
        assert SETS[name]([[0], [0]], 1) == 1.0
        assert SETS[name]([[], []], 1) == 1.0

    def test_renaming_features_and_lists_changes_nothing(self, name):
        sets = random_sets([4] * 5, 12, 0)
        rng = np.random.default_rng(1)
        names = rng.permutation(12)
        changed = [rng.permutation(names[s]) for s in sets][::-1]
        assert SETS[name](changed, 12) == pytest.approx(SETS[name](sets, 12), abs=1e-12)

    def test_forms_of_input(self, name):
        sets = random_sets([4] * 5, 12, 0)
        expected = SETS[name](sets, 12)
        assert type(expected) is float
        mask = np.zeros((5, 12), dtype=bool)
        for row, chosen in zip(mask, sets, strict=True):
            row[chosen] = True
        lists = [s.tolist() for s in sets]
        forms = [np.array(sets), lists, [set(s) for s in lists], tuple(map(tuple, lists))]
        for form in [*forms, (s for s in sets), mask, list(mask), mask.tolist()]:
            assert SETS[name](form, 12) == pytest.approx(expected, abs=1e-15)

    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            ([[0, 1]], "at least two sets"),
            ([], "at least two sets"),
            (3, "got int"),
            ("abc", "got str"),
            ([[0, 1], [0, 0]], "0 twice in set 1"),
            ([[0, 1], [0, -1]], "-1 in set 1"),
            ([[0, 1], [0.0, 1.0]], "set 1 must be a list of feature indices"),
            ([["a"], ["b"]], "names into column numbers"),
            ([[0, 1], [0, [1]]], "plain list"),
            (np.eye(4, dtype=int), "boolean matrix"),
            ([[True, False], [True]], "boolean matrix"),
        ],
    )
    def test_bad_sets(self, name, sets, message):
        with pytest.raises(InputError, match=message):
            SETS[name](sets, 4)


@pytest.mark.parametrize(
    "measure", [v for k, v in SETS.items() if k in ("kuncheva", "nogueira", "jensen_shannon_sets")]
)
class TestNumberOfFeatures:
    def test_index_too_large(self, measure):
        with pytest.raises(InputError, match=r"from 0 to 3 \(n_features=4\), got 4 in set 1"):
            measure([[0, 1], [2, 4]], 4)

    def test_mask_of_another_width(self, measure):
        with pytest.raises(InputError, match="each of the 4 features"):
            measure(np.ones((3, 5), dtype=bool), 4)

    @pytest.mark.parametrize("n_features", [0, 2.5, None, True])
    def test_bad_number(self, measure, n_features):
        with pytest.raises(InputError, match="n_features must be an int of at least 1"):
            measure([[0], [1]], n_features)


def test_identical_sets_have_an_interval_without_width():
    found = stability.nogueira([[1, 2, 5]] * 7, 11)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("level", [0, 1, 1.2, "high"])
@pytest.mark.parametrize("name", ["nogueira", "selection_frequency", "stable_set"])
def test_bad_level(name, level):
    with pytest.raises(InputError, match=f"{name}: level must be"):
        getattr(stability, name)([[0], [1]], 3, level=level)
