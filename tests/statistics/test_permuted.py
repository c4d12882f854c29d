"""Scores of many orders of the target at once: those of fits on permuted targets."""

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference.permutations import refit
from tamis.statistics.permuted import Rotations

N_ROWS, N_COLUMNS = 70, 14
# The table has columns of all kinds.
pytestmark = pytest.mark.filterwarnings("ignore:.*one value stretches")


def table(n_rows=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)) * 10 + 1e4
    X[:, 3] = 5.0
    X[:, 4] = rng.integers(0, 3, n_rows)
    X[:, 5] = np.exp(3 * rng.normal(size=n_rows))
    X[0, 6] = 1e9
    return X


def targets(n_rows=N_ROWS):
    rng = np.random.default_rng(1)
    return {
        "two": (rng.random(n_rows) < 0.3).astype(int),
        "rare": (np.arange(n_rows) % 20 == 3).astype(int),
        "even": np.arange(n_rows) % 2,
        "four": rng.integers(0, 4, n_rows),
        "alone": np.r_[7, rng.integers(0, 3, n_rows - 1)],
        "number": np.round(rng.normal(size=n_rows), 1),
    }


BOTH = [
    tamis.Correlation(),
    tamis.Correlation(kind="spearman"),
    tamis.Correlation(classes="max"),
    tamis.Correlation(classes="mean"),
    tamis.AnovaF(),
    tamis.MutualInformation(n_bins=5),
    tamis.MutualInformation(n_bins=5, bins="quantile"),
    tamis.ReliefF(n_neighbors=4),
]
CLASSES = [
    tamis.Fisher(),
    tamis.Fisher(form="weighted"),
    tamis.DFT(),
    tamis.DFT(n_bins=2),
    tamis.DFT(bins="quantile"),
    tamis.DFT(ranges=(0.0, 2e4)),
    tamis.InformationGain(),
    tamis.InformationGain(bins="quantile"),
    tamis.InformationGain(costs=np.arange(1.0, N_COLUMNS + 1)),
]
NUMBERS = [tamis.RFT(), tamis.RFT(n_bins=3), tamis.RFT(bins="quantile")]
CASES = [(s, t) for s in BOTH for t in targets()]
CASES += [(s, t) for s in CLASSES for t in targets() if t != "number"]
CASES += [(s, "number") for s in NUMBERS]


def permuted_scores(selector, X, y, orders):
    permuted = selector._permuted(X, y, None)
    columns = np.arange(X.shape[1])
    statistic = permuted.statistic(columns, permuted.targets(orders))
    return permuted, statistic


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("selector", "name"), CASES, ids=str)
def test_scores_are_those_of_fits(selector, name):
    # 64 rows fill a word of bits, 70 take two.
    for n_rows in (40, 64, N_ROWS):
        X, y = table(n_rows), targets(n_rows)[name]
        rng = np.random.default_rng(2)
        orders = [np.arange(n_rows), *(rng.permutation(n_rows) for _ in range(4))]
        orders = np.array(orders, np.int32)
        selector.set_params(n_features_to_select="all").fit(X, y)
        permuted, statistic = permuted_scores(selector, X, y, orders)
        varies = ~selector.constant_
        found = permuted.scores(statistic)[varies]
        expected = refit(selector, X, y, orders)[varies]
        if isinstance(selector, tamis.AnovaF | tamis.Fisher):
            # Beyond a share of 1 - 1e-7 a ratio is anything large in float32.
            found, expected = found / (1 + found), expected / (1 + expected)
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=3e-7)
        # The true order reaches its own score, whatever was rounded.
        assert (statistic[:, 0] >= permuted.least(selector.scores_))[varies].all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("selector", [*BOTH, *CLASSES], ids=str)
def test_layouts_and_types_give_the_same(selector):
    X, y = np.round(table()[:, [0, 1, 4, 5]]), targets()["two"]
    selector = tamis.make_selector(type(selector).__name__.lower())
    orders = np.array([np.arange(N_ROWS), np.arange(N_ROWS)[::-1]], np.int32)
    selector.set_params(n_features_to_select="all").fit(X, y)
    expected = permuted_scores(selector, X, y, orders)[1]
    for other in (np.asfortranarray(X), X.astype(np.int64), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(permuted_scores(selector, other, y, orders)[1], expected)


@pytest.mark.parametrize("n_rows", [60, 67])
@pytest.mark.parametrize("name", ["two", "even", "four", "number"])
def test_rotations_are_the_orders_they_stand_for(n_rows, name):
    X, y = table(n_rows), targets(n_rows)[name]
    rows = np.random.default_rng(3).permutation(n_rows).astype(np.int32)
    group = Rotations(rows, n_orbits=3, length=20)
    orders = group.orders()
    np.testing.assert_array_equal(orders[0], np.arange(n_rows))
    assert all(sorted(one) == list(range(n_rows)) for one in orders)
    assert len({tuple(one) for one in orders}) == 20
    # A group: any two after each other are one of them.
    known = {tuple(one) for one in orders}
    assert all(tuple(one[other]) in known for one in orders for other in orders)
    selectors = [tamis.Correlation(), tamis.AnovaF()]
    selectors += [tamis.Fisher()] if name != "number" else []
    for selector in selectors:
        selector.set_params(n_features_to_select="all").fit(X, y)
        _, found = permuted_scores(selector, X, y, group)
        _, expected = permuted_scores(selector, X, y, orders)
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_rounding_never_turns_a_tie_into_a_win():
    # Few different values: most permutations tie with the score or come close.
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(30, 20)).astype(float)
    y = rng.integers(0, 2, 30)
    orders = np.array([rng.permutation(30) for _ in range(200)], np.int32)
    for selector in (*BOTH, *CLASSES[:4]):
        selector.set_params(n_features_to_select="all").fit(X, y)
        permuted, statistic = permuted_scores(selector, X, y, orders)
        reached = statistic >= permuted.least(selector.scores_)[:, None]
        exact = refit(selector, X, y, orders)
        own = selector.scores_[:, None]
        assert reached[exact >= own - 1e-12 * np.abs(own)].all()
        assert not reached[exact < own - 1e-4 * (1 + np.abs(own))].any()


@pytest.mark.parametrize("selector", [*BOTH, *CLASSES], ids=str)
def test_what_is_not_exact_is_refitted(selector):
    X, y = table()[:, :3], targets()["two"]
    selector = tamis.make_selector(type(selector).__name__.lower(), n_features_to_select="all")
    holes = X.copy()
    holes[3, 1] = np.nan
    assert selector.fit(holes, y)._permuted(holes, y, None) is None
    if not isinstance(selector, tamis.ReliefF):
        weight = np.arange(1.0, N_ROWS + 1)
        assert selector.fit(X, y)._permuted(X, y, weight) is None
        rows = sparse.csr_array(X)
        assert selector.fit(rows, y)._permuted(rows, y, None) is None


@pytest.mark.slow
def test_weighted_classes_are_refitted():
    X, y = table(), targets()["two"]
    selector = tamis.DFT(class_weight="balanced", n_features_to_select="all").fit(X, y)
    assert selector._permuted(X, y, None) is None
    selector = tamis.ReliefF(n_samples=20, n_features_to_select="all").fit(X, y)
    assert selector._permuted(X, y, None) is None
    selector = tamis.MutualInformation(estimator="knn", n_features_to_select="all").fit(X, y)
    assert selector._permuted(X, y, None) is None


def test_bins_as_narrow_as_the_spacing_of_floats():
    rng = np.random.default_rng(5)
    X = np.column_stack([1.0 + 2.0**-52 * rng.integers(0, 5, 50), rng.normal(size=50)])
    y = rng.integers(0, 2, 50)
    orders = np.array([np.arange(50), rng.permutation(50)], np.int32)
    for selector in (tamis.DFT(), tamis.InformationGain()):
        selector.set_params(n_features_to_select="all").fit(X, y)
        permuted, statistic = permuted_scores(selector, X, y, orders)
        np.testing.assert_allclose(
            permuted.scores(statistic), refit(selector, X, y, orders), atol=1e-12
        )
