"""CFS: the merit, the best-first search, the order, and what users pass."""

import os

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import codes as plain_codes
from reference import greedy as plain
from tamis import CFS
from tamis.exceptions import InputError, SelectionWarning
from tamis.filters.cfs import MeritSearch
from tamis.filters.pairs import order_as_scores


def table(seed=0, n_rows=150, *, missing=0.0, task="classification"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, 10))
    X[:, 1] += 1.2 * y
    X[:, 2] = X[:, 1] + 0.2 * rng.normal(size=n_rows)
    X[:, 4] += 1.5 * (y == 2)
    X[:, 5] = rng.integers(0, 4, n_rows) + 2 * (y == 0)
    X[:, 6] = 1e8 + rng.normal(size=n_rows) + (y == 1)
    X[:, 8] = 0.7 * y + 0.5 * X[:, 4] + rng.normal(size=n_rows)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, (y if task == "classification" else y + 0.5 * rng.normal(size=n_rows))


def agreements(X, y, weight, strategy="mdl"):
    """Agreement of every column with the target, and of all pairs, literally."""
    if y.dtype.kind == "f":
        seen = [~np.isnan(x) for x in X.T]
        relevance = [
            plain.correlation(x[s], y[s], weight[s]) for x, s in zip(X.T, seen, strict=True)
        ]
        return np.array(relevance), plain.pairwise(X.T, plain.correlation, weight)
    columns = plain_codes.code_table(X, strategy, 4, classes=y, weight=weight)
    relevance = [plain_codes.uncertainty(x, y, weight) for x in columns]
    return np.array(relevance), plain.pairwise(columns, plain_codes.uncertainty, weight)


def check(X, y, *, weight=None, **options):
    selector = CFS(n_bins=4, **options).fit(X, y, sample_weight=weight)
    weight = np.ones(len(y)) if weight is None else weight
    there = weight > 0
    relevance, agreement = agreements(X[there], y[there], weight[there], selector.strategy)
    best, merit = plain.best_first(relevance, agreement, selector.max_stale)
    assert selector.order_[: len(best)].tolist() == list(best)
    assert selector.best_n_features_ == selector.n_selected_ == len(best)
    assert selector.merit_ == pytest.approx(merit, rel=1e-9)
    np.testing.assert_allclose(selector.relevance_, relevance, rtol=1e-6, atol=1e-11)
    for k in range(1, len(best) + 1):
        expected = plain.merit(best[:k], relevance, agreement)
        assert selector.criterion_[best[k - 1]] == pytest.approx(expected, rel=1e-7)
    for j in set(range(X.shape[1])) - set(best):
        expected = plain.merit((*best, j), relevance, agreement) if relevance[j] > 1e-12 else 0.0
        assert selector.criterion_[j] == pytest.approx(expected, rel=1e-7)
    return selector, relevance, agreement


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_equals_a_literal_search(task, missing, seed):
    check(*table(seed, missing=missing, task=task))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("max_stale", [1, 3])
def test_other_settings_equal_a_literal_search(strategy, max_stale):
    check(*table(4), strategy=strategy, max_stale=max_stale)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_equals_a_literal_search_with_weights(task):
    X, y = table(5, missing=0.1, task=task)
    check(X, y, weight=np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("task", "max_stale"), [("classification", 5), ("classification", 1024), ("regression", 1024)]
)
@pytest.mark.parametrize("seed", range(4))
def test_finds_the_best_of_all_sets(seed, task, max_stale):
    """With correlations the search must be allowed to see all 1,024 sets to be certain."""
    X, y = table(seed, task=task)
    selector = CFS(max_stale=max_stale).fit(X, y)
    relevance, agreement = agreements(X, y, np.ones(len(y)))
    best = plain.best_set(relevance, agreement)
    assert selector.merit_ == pytest.approx(plain.merit(best, relevance, agreement), rel=1e-9)
    assert set(selector.get_support(indices=True)) == set(best)


def search(relevance, agreement, max_stale=5):
    agreement = np.array(agreement)
    found = MeritSearch(np.array(relevance), lambda j: agreement[j], max_stale)
    return found, list(found.expansions())


def random_agreements(rng, n):
    agreement = rng.random((n, n)) ** 2
    agreement = (agreement + agreement.T) / 2
    np.fill_diagonal(agreement, 1.0)
    return rng.random(n), agreement


class TestSearch:
    @pytest.mark.parametrize("max_stale", [1, 2, 5, 50])
    def test_equals_a_literal_search_on_any_agreements(self, max_stale):
        rng = np.random.default_rng(max_stale)
        for _ in range(15):
            relevance, agreement = random_agreements(rng, 6)
            found, _ = search(relevance, agreement, max_stale)
            best, merit = plain.best_first(relevance, agreement, max_stale)
            assert found.best.columns == best
            assert found.best_merit == pytest.approx(merit)

    def test_finds_the_optimum_if_it_never_tires(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            relevance, agreement = random_agreements(rng, 6)
            found, _ = search(relevance, agreement, 10_000)
            assert set(found.best.columns) == set(plain.best_set(relevance, agreement))

    def test_backs_out_of_a_dead_end(self):
        """Column 0 is best alone, but no set with it beats the pair of 1 and 2.

        Sets are expanded in the order {}, 0, 01, 012, 02, 1, 12, 2, with merits of 0, 0.6, 0.525,
        0.567, 0.525, 0.45, 0.636, 0.45.
        """
        relevance = [0.6, 0.45, 0.45]
        agreement = np.array([[1, 1, 1], [1, 1, 0.0], [1, 0.0, 1]])
        greedy, _ = search(relevance, agreement, 4)
        patient, stale = search(relevance, agreement, 5)
        assert greedy.best.columns == (0,)
        assert patient.best.columns == (1, 2)
        assert patient.best_merit == pytest.approx(0.9 / np.sqrt(2))
        assert stale == [0, 1, 2, 3, 4, 0, 1, 2]

    def test_merit_by_hand(self):
        """k a / sqrt(k + k (k - 1) b): alone 0.8; with the second 1.2 / sqrt(2 + 2 * 0.5)."""
        found, _ = search([0.8, 0.4], [[1, 0.5], [0.5, 1]])
        np.testing.assert_allclose(found.path((0, 1)), [0.8, 1.2 / np.sqrt(3)])
        assert found.best.columns == (0,)

    def test_an_empty_problem_ends(self):
        found, stale = search([], np.empty((0, 0)))
        assert found.best.columns == ()
        assert stale == [1]


def test_by_hand():
    """Classes of two bits, both bits and their copies: SU 2/3 each, merit 4/3 / sqrt(2)."""
    y = np.tile([0, 1, 2, 3], 5)
    X = np.column_stack([y // 2, y // 2, y % 2, y % 2, np.zeros(20), np.repeat([0, 1], [8, 12])])
    selector = CFS(strategy="uniform").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 2]
    assert selector.merit_ == pytest.approx(4 / 3 / np.sqrt(2))
    three = 2 / np.sqrt(3 + 2 * (0 + 1))
    np.testing.assert_allclose(
        selector.criterion_, [2 / 3, three, 4 / 3 / np.sqrt(2), three, 0, 0], atol=1e-12
    )
    assert selector.order_.tolist() == [0, 2, 1, 3, 5, 4]
    assert selector.scores_.tolist() == [5, 2, 4, 2, 0, 1]


def test_full_order_goes_on_greedily():
    X, y = table(2, task="regression")
    short, relevance, agreement = check(X, y)
    order = list(short.order_[: short.n_selected_])
    while len(order) < X.shape[1]:
        left = [j for j in range(X.shape[1]) if j not in order]
        order.append(max(left, key=lambda j: plain.merit((*order, j), relevance, agreement)))
    whole = CFS(full_order=True).fit(X, y)
    assert whole.order_.tolist() == order
    np.testing.assert_array_equal(whole.support_, short.support_)
    expected = [plain.merit(order[: k + 1], relevance, agreement) for k in range(len(order))]
    np.testing.assert_allclose(whole.criterion_[order], expected, rtol=1e-9)


def test_columns_may_come_in_any_order():
    X, y = table(3)
    order = np.random.default_rng(1).permutation(X.shape[1])
    first, second = CFS().fit(X, y), CFS().fit(X[:, order], y)
    np.testing.assert_array_equal(second.support_, first.support_[order])
    np.testing.assert_allclose(second.criterion_, first.criterion_[order], rtol=1e-12)


def test_nothing_to_find_warns_and_keeps_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.tile([0, 1], 20)
    with pytest.warns(SelectionWarning, match="CFS: expected a column that agrees"):
        selector = CFS().fit(X, y)
    assert selector.n_selected_ == 1
    assert selector.merit_ == 0
    assert CFS(n_features_to_select=2).fit(X, y).n_selected_ == 2  # no warning: a number is given


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_sparse_equals_dense(task):
    X, y = table(6, task=task)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    X[3, 4] = np.nan
    dense, stored = CFS().fit(X, y), CFS().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(stored.order_, dense.order_)
    np.testing.assert_allclose(stored.criterion_, dense.criterion_, rtol=1e-7)


def test_two_rows_strings_and_integers():
    selector = CFS().fit(np.array([[0, 1, 5], [1, 1, 4]]), ["b", "a"])
    assert selector.order_.tolist()[0] == 0
    assert selector.classes_.tolist() == ["a", "b"]
    assert CFS(task="regression").fit([[0.0], [1.0], [1.0]], [1, 2, 3]).n_selected_ == 1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"max_stale": 0}, "max_stale must be an int of at least 1"),
        ({"strategy": "kmeans"}, "strategy must be"),
        ({"task": "ranking"}, "task must be"),
        ({"full_order": None}, "full_order must be True or False"),
    ],
)
def test_bad_parameters(options, word):
    with pytest.raises(InputError, match=f"CFS: {word}"):
        CFS(**options).fit(*table())


def test_scores_of_an_order():
    """Entered columns count down; the rest follow by criterion, equal ones share a place."""
    criterion = np.array([0.1, 5.0, 0.3, 0.3 + 1e-16, 0.0, 0.2])
    constant = np.array([False, False, False, False, True, False])
    scores, _ = order_as_scores(np.array([5, 1]), criterion, constant)
    assert scores.tolist() == [1, 4, 2, 2, 0, 5]


def test_real_data_equals_a_literal_search():
    if "TAMIS_DATA" not in os.environ:
        pytest.skip("TAMIS_DATA is not set: the colon data are needed")
    data = tamis.datasets.load("colon")
    y = np.unique(data.y, return_inverse=True)[1]
    assert check(data.X[:, :60].astype(np.float64), y)[0].n_selected_ > 1
