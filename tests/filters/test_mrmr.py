"""MRMR: all four forms against a literal greedy, and what users pass."""

import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression

import tamis
from reference import codes as plain_codes
from reference import greedy as plain
from tamis import MRMR
from tamis.exceptions import InputError, SelectionWarning

FORMS = [
    (measure, combine)
    for measure in ("f", "mutual_information")
    for combine in ("quotient", "difference")
]


def table(seed=0, n_rows=60, *, missing=0.0, task="classification"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, 14)) * rng.choice([1e-30, 1.0, 1e6], 14)
    X[:, 2] += y * np.abs(X[:, 2]).mean()
    X[:, 3] = X[:, 2] + 0.1 * np.abs(X[:, 2]).mean() * rng.normal(size=n_rows)
    X[:, 5] = 1e8 + rng.normal(size=n_rows) + 0.5 * y
    X[:, 6] = rng.integers(0, 3, n_rows)
    X[:, 7] = -2 * X[:, 2] + 5  # says the same as column 2
    X[:, 8] = rng.normal(size=n_rows) + (y == 1)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, (y if task == "classification" else y + rng.normal(size=n_rows))


def relations(X, y, weight, measure, strategy, n_bins):
    """Relevance and redundancy of all columns, one pair at a time."""
    if measure == "f":
        f = plain.f_of_line if y.dtype.kind == "f" else plain.f_of_classes
        relevance = np.array([f(x, y, weight) for x in X.T])
        return relevance, plain.pairwise(X.T, plain.correlation, weight)
    columns = plain_codes.code_table(X, strategy, n_bins, classes=y, weight=weight)
    if y.dtype.kind == "f":
        y = plain_codes.code_table(y[:, None], strategy, n_bins, weight=weight)[0]
    relevance = np.array([plain.shared_bits(x, y, weight) for x in columns])
    return relevance, plain.pairwise(columns, plain.shared_bits, weight)


def check(X, y, measure, combine, *, weight=None, strategy="quantile", n_bins=5, count=None):
    """Fit, and compare order, criterion and relevance with the literal greedy."""
    selector = MRMR(
        measure=measure, combine=combine, strategy=strategy, n_bins=n_bins,
        n_features_to_select="all" if count is None else count,
        task="regression" if y.dtype.kind == "f" else "classification",
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    weight = np.ones(len(y)) if weight is None else weight
    there = weight > 0
    relevance, redundancy = relations(X[there], y[there], weight[there], measure, strategy, n_bins)
    order, criterion = plain.mrmr(relevance, redundancy, combine, selector.n_ordered_)
    assert selector.order_[: len(order)].tolist() == order
    np.testing.assert_allclose(selector.relevance_, relevance, rtol=1e-6, atol=1e-11)
    np.testing.assert_allclose(selector.criterion_, criterion, rtol=1e-6, atol=1e-11)
    return selector


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("measure", "combine"), FORMS)
def test_equals_a_literal_greedy(measure, combine, task, missing, seed):
    check(*table(seed, missing=missing, task=task), measure, combine)


@pytest.mark.parametrize(("measure", "combine"), FORMS)
def test_equals_a_literal_greedy_with_weights(measure, combine):
    X, y = table(7, missing=0.1)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.25], len(y))
    check(X, y, measure, combine, weight=weight)


@pytest.mark.parametrize("strategy", ["uniform", "mdl"])
@pytest.mark.parametrize("combine", ["quotient", "difference"])
def test_other_bins_equal_a_literal_greedy(combine, strategy):
    X, y = table(8, n_rows=90)
    check(X, y, "mutual_information", combine, strategy=strategy, n_bins=4)


@pytest.mark.parametrize(("measure", "combine"), FORMS)
def test_columns_behind_the_search_follow_by_criterion(measure, combine, monkeypatch):
    monkeypatch.setattr("tamis.filters.mrmr.QUICK_ORDER", 0)
    X, y = table(9)
    selector = check(X, y, measure, combine, count=4)
    assert selector.n_ordered_ == 4
    rest = selector.order_[4:]
    assert (np.diff(selector.criterion_[rest]) <= 1e-12).all()
    whole = MRMR(measure=measure, combine=combine, n_features_to_select=4, full_order=True)
    whole.fit(X, y)
    assert whole.n_ordered_ == 14
    np.testing.assert_array_equal(whole.order_[:4], selector.order_[:4])
    np.testing.assert_array_equal(whole.support_, selector.support_)


def test_information_by_hand():
    """Four classes are two bits; columns: first bit, its copy, second bit, a quarter of a class.

    Relevances 1, 1, 1, h(1/4) = 0.811278. After the first bit, its copy has 1 - 1, the second bit
    1 - 0, and the last h(1/4) - I = 0.5, with I = h(1/4) - 1/2 h(1/2). After the second bit the
    copy has 1 - 1/2 and ties with the last column.
    """
    y = np.tile([0, 1, 2, 3], 4)
    X = np.column_stack([y // 2, y // 2, y % 2, y == 3])
    selector = MRMR(
        measure="mutual_information", combine="difference", n_features_to_select="all"
    ).fit(X, y)
    assert selector.order_.tolist() == [0, 2, 1, 3]
    np.testing.assert_allclose(selector.relevance_, [1, 1, 1, 0.811278124459133])
    np.testing.assert_allclose(selector.criterion_, [1.0, 0.5, 1.0, 0.5])


def test_quotient_by_hand():
    """No redundancy at all counts as 0.001."""
    y = np.tile([0, 1, 2, 3], 4)
    X = np.column_stack([y // 2, y % 2, np.tile([0, 0, 0, 0, 1, 1, 1, 1], 2)])
    selector = MRMR(measure="mutual_information", n_features_to_select="all").fit(X, y)
    np.testing.assert_allclose(selector.criterion_, [1.0, 1000.0, 0.0], atol=1e-12)


def test_f_is_that_of_scikit_learn():
    X, y = table(3)
    X[:, 5] -= 1e8  # scikit-learn does not centre the columns
    found = MRMR(n_features_to_select="all").fit(X, y).relevance_
    np.testing.assert_allclose(found, f_classif(X, y)[0], rtol=1e-6)
    X, y = table(3, task="regression")
    X[:, 5] -= 1e8
    found = MRMR(n_features_to_select="all").fit(X, y).relevance_
    np.testing.assert_allclose(found, f_regression(X, y)[0], rtol=1e-6)


@pytest.mark.parametrize(("measure", "combine"), FORMS)
def test_ties_go_to_the_lower_column(measure, combine):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    x = rng.normal(size=40) + y
    X = np.column_stack([x] * 7)
    fitted = MRMR(measure=measure, combine=combine, n_features_to_select="all").fit(X, y)
    assert fitted.order_.tolist() == list(range(7))


def test_a_column_without_error_is_first_and_finite():
    X, y = table(4)
    X[:, 11], X[:, 12] = y, 3 * y - 1
    selector = MRMR(n_features_to_select="all").fit(X, y)
    assert selector.order_[0] == 11
    assert np.isfinite(selector.criterion_).all()
    assert np.unique(selector.scores_).size == 14


@pytest.mark.parametrize(("measure", "combine"), FORMS)
def test_sparse_equals_dense(measure, combine):
    X, y = table(5)
    rng = np.random.default_rng(2)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    options = {"measure": measure, "combine": combine, "n_features_to_select": "all"}
    dense = MRMR(**options).fit(X, y)
    stored = MRMR(**options).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(stored.order_, dense.order_)
    np.testing.assert_allclose(stored.criterion_, dense.criterion_, rtol=1e-7, atol=1e-12)


def test_a_class_without_a_value_in_a_sparse_column():
    X, y = table(6)
    X[y == 1, 4] = np.nan
    weight = np.random.default_rng(3).choice([0.1, 0.3, 0.7], len(y))
    dense = check(X, y, "f", "quotient", weight=weight)
    stored = MRMR(n_features_to_select="all").fit(sparse.csr_array(X), y, sample_weight=weight)
    np.testing.assert_allclose(stored.relevance_, dense.relevance_, rtol=1e-7)


@pytest.mark.parametrize("size", [1e-320, 1e-250, 1e-160, 1e140])
def test_size_of_the_numbers_does_not_matter(size):
    rng = np.random.default_rng(6)
    X = rng.integers(-50, 50, (60, 8)).astype(float)
    y = rng.integers(0, 2, 60)
    X[:, 3] += 40 * y
    expected = MRMR(n_features_to_select="all").fit(X, y)
    for make in (np.asarray, sparse.csr_array):
        found = MRMR(n_features_to_select="all").fit(make(X * size), y)
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.criterion_, expected.criterion_, rtol=1e-6)


def test_best_number_is_the_elbow_of_the_relevances():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 400))
    X[:, :6] += 2 * y[:, None]
    selector = MRMR().fit(X, y)
    assert selector.best_n_features_ == selector.n_selected_ == selector.n_ordered_ == 6
    assert selector.support_[:6].sum() > 3
    early = tamis.cutoff.find_elbows(np.sort(selector.relevance_)[::-1])[0]
    assert selector.best_n_features_ == early
    assert selector.recut(9).n_selected_ == 9
    assert selector.recut("best").n_selected_ == 6


def test_two_rows_one_column_and_constant_ones():
    one = MRMR().fit([[0.0], [1.0]], [0, 1])
    assert one.support_.tolist() == [True]
    X = np.array([[0.0, 3, np.nan, 1], [1, 3, np.nan, 0], [2, 3, np.nan, 1]])
    for measure in ("f", "mutual_information"):
        selector = MRMR(measure=measure, n_features_to_select="all").fit(X, ["a", "b", "b"])
        assert selector.constant_.tolist() == [False, True, True, False]
        assert set(selector.order_[:2]) == {0, 3}
        assert selector.scores_[1] == selector.scores_[2] == 0
        assert selector.classes_.tolist() == ["a", "b"]


def test_more_classes_than_a_byte_holds():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 2)
    X = np.column_stack([rng.normal(size=600), y % 7, y + 0.1 * rng.normal(size=600)])
    check(X, y, "mutual_information", "quotient", n_bins=9)


def test_integers_and_float32():
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 100, (80, 9))
    y = (X[:, 4] + rng.integers(-50, 50, 80) > 0).astype(int)
    for measure in ("f", "mutual_information"):
        fits = [
            MRMR(measure=measure, n_features_to_select="all").fit(X.astype(kind), y)
            for kind in (np.int16, np.float32, np.float64)
        ]
        for other in fits[1:]:
            np.testing.assert_array_equal(other.order_, fits[0].order_)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"measure": "mi"}, "measure must be 'f' or 'mutual_information'"),
        ({"combine": "ratio"}, "combine must be"),
        ({"n_bins": 1}, "n_bins must be an int in"),
        ({"n_bins": 255}, "n_bins must be an int in"),
        ({"strategy": "kmeans"}, "strategy must be"),
        ({"full_order": 1}, "full_order must be True or False"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters(options, word):
    X, y = table()
    with pytest.raises(InputError, match=f"MRMR: {word}"):
        MRMR(**options).fit(X, y)


def test_bad_input():
    X, y = table(task="regression")
    with pytest.raises(InputError, match="MRMR: expected class labels for strategy='mdl'"):
        MRMR(measure="mutual_information", strategy="mdl").fit(X, y)
    X[3, 4] = np.inf
    with pytest.raises(
        InputError, match="MRMR: expected finite values or NaN, got inf in column 4"
    ):
        MRMR().fit(X, y)


def test_asking_for_more_than_there_are_warns():
    X, y = table()
    with pytest.warns(SelectionWarning, match="asked for 50"):
        assert MRMR(n_features_to_select=50).fit(X, y).n_selected_ == 14


def test_real_data_equals_a_literal_greedy():
    if "TAMIS_DATA" not in os.environ:
        pytest.skip("TAMIS_DATA is not set: the colon data are needed")
    data = tamis.datasets.load("colon")
    X, y = data.X[:, ::80], data.y
    y = np.unique(y, return_inverse=True)[1]
    for measure, combine in FORMS:
        check(X.astype(np.float64), y, measure, combine, count=8)
