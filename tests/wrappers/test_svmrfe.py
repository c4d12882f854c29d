import os

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import tamis
from reference import svm as plain
from tamis import SVMRFE
from tamis.linear_svm import hinge
from tamis.wrappers import svmrfe


def table(seed=0, n_rows=40, n_columns=8, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :3] += rng.normal(size=(n_classes, 3))[y]
    return X, y


def by_scikit_learn(X, y, **options):
    return np.argsort(
        RFE(SVC(kernel="linear", tol=1e-8, **options), n_features_to_select=1).fit(X, y).ranking_
    )


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_order_of_scikit_learn_on_real_data(load, C):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = by_scikit_learn(X, y, C=C)
    np.testing.assert_array_equal(SVMRFE(C=C).fit(X, y).order_, order)
    # Already scaled columns are not changed by scaling; nor is the order by moving them.
    np.testing.assert_array_equal(SVMRFE(C=C, scale=True).fit(X + 1e6, y).order_, order)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_order_of_scikit_learn_on_wide_data(n_classes):
    X, y = table(1, 30, 120, n_classes)
    np.testing.assert_array_equal(SVMRFE().fit(X, y).order_, by_scikit_learn(X, y))


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_order_of_scikit_learn_on_colon():
    data = tamis.datasets.load("colon")
    # Some columns of this table are copies; which one goes first is a matter of convention.
    _, first = np.unique(np.asarray(data.X), axis=1, return_index=True)
    X = StandardScaler().fit_transform(np.asarray(data.X)[:, np.sort(first)][:, ::2])
    np.testing.assert_array_equal(SVMRFE().fit(X, data.y).order_, by_scikit_learn(X, data.y))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("step", [1, 3, 100, 0.3, 0.7])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_order_and_weights_of_the_twin(step, multi_class):
    X, y = table(2, 24, 6, 3)
    order, criterion = plain.eliminate(X, y, np.full(24, 0.5), step, multi_class)
    fitted = SVMRFE(C=0.5, step=step, multi_class=multi_class).fit(X, y)
    assert fitted.order_.tolist() == order
    np.testing.assert_allclose(fitted.criterion_, criterion, rtol=1e-4)
    np.testing.assert_array_equal(np.sort(fitted.scores_), np.arange(1, 7))


def test_two_columns_by_hand():
    # Both columns tell the classes apart; the wider needs the smaller weight: w = (0.8, 1.6) / 2.
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    fitted = SVMRFE(C=10).fit(X, [0, 1])
    assert fitted.order_.tolist() == [1, 0]
    np.testing.assert_allclose(fitted.criterion_, [0.4**2, 1.0], rtol=1e-12)


def test_of_copies_the_higher_index_goes_first():
    X, y = table(3, 30, 6)
    X = np.column_stack([X, X[:, 0], -X[:, 0]])
    ranking = SVMRFE().fit(X, y).ranking_
    assert ranking[0] < ranking[6] < ranking[7]


def test_weights_of_rows_are_prices():
    X, y = table(4, 40, 10)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    repeated = np.repeat(np.arange(40), weight)
    left = SVMRFE().fit(X, y, sample_weight=weight)
    right = SVMRFE().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(left.criterion_, right.criterion_, rtol=1e-8)
    half = SVMRFE().fit(X, y, sample_weight=np.full(40, 0.5))
    np.testing.assert_allclose(half.criterion_, SVMRFE(C=0.5).fit(X, y).criterion_, rtol=1e-9)


def test_missing_cells_are_at_the_mean():
    X, y = table(5)
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    X[holes] = np.nan
    filled = np.where(holes, np.nanmean(X, axis=0), X)
    left, right = SVMRFE().fit(X, y), SVMRFE().fit(filled, y)
    np.testing.assert_allclose(left.criterion_, right.criterion_, rtol=1e-9)


def test_the_gram_matrix_made_anew_or_not_gives_the_same(monkeypatch):
    X, y = table(6, 30, 60)
    X *= 10.0 ** np.random.default_rng(0).integers(-3, 4, 60)
    kept = SVMRFE().fit(X, y)
    monkeypatch.setattr(svmrfe, "FEW_COLUMNS", 60)
    fresh = SVMRFE().fit(X, y)
    np.testing.assert_array_equal(kept.order_, fresh.order_)
    np.testing.assert_allclose(kept.criterion_, fresh.criterion_, rtol=1e-6)


def test_long_tables_switch_without_a_change_of_order(monkeypatch):
    X, y = table(7, 200, 40, 3)
    whole = SVMRFE().fit(X, y)
    monkeypatch.setattr(hinge, "FEW_ROWS", 100)  # with 25 columns or fewer, by interior points
    switched = SVMRFE().fit(X, y)
    np.testing.assert_array_equal(whole.order_, switched.order_)
    np.testing.assert_allclose(whole.criterion_, switched.criterion_, rtol=1e-4)


def test_bootstraps_average_positions():
    X, y = table(8, 40, 10)
    options = {"n_bootstraps": 7, "random_state": 3}
    one, two = (SVMRFE(n_jobs=n, **options).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.criterion_, two.criterion_)
    assert one.scores_.sum() == pytest.approx(55)
    assert (one.scores_ != np.round(one.scores_)).any()
    other = SVMRFE(n_bootstraps=7, random_state=4).fit(X, y)
    assert (other.scores_ != one.scores_).any()


def test_one_bootstrap_is_an_elimination_on_its_rows():
    from tamis.wrappers.svmrfe import draw_counts

    X, y = table(9, 40, 10, 3)
    by_class = np.argsort(y, kind="stable")
    counts = draw_counts(y[by_class].astype(np.int32), 1, np.random.RandomState(5))[0]
    np.testing.assert_array_equal(np.bincount(y[by_class], counts), np.bincount(y))
    fitted = SVMRFE(n_bootstraps=1, random_state=5).fit(X, y)
    drawn = np.repeat(by_class, counts.astype(int))
    np.testing.assert_array_equal(fitted.order_, SVMRFE().fit(X[drawn], y[drawn]).order_)


def test_sample_weighting_is_a_price_per_row():
    X, y = table(10, 40, 10)
    fitted = SVMRFE(sample_weighting=True).fit(X, y)
    assert fitted.row_weights_.sum() == pytest.approx(40)
    assert fitted.row_weights_.std() > 0
    by_hand = SVMRFE().fit(X, y, sample_weight=fitted.row_weights_)
    np.testing.assert_allclose(fitted.criterion_, by_hand.criterion_, rtol=1e-9)
    weight = np.r_[0.0, 0.0, np.ones(38)]
    fitted = SVMRFE(sample_weighting=True).fit(X, y, sample_weight=weight)
    fewer = SVMRFE(sample_weighting=True).fit(X[2:], y[2:])
    expected = np.r_[0.0, 0.0, fewer.row_weights_]
    np.testing.assert_allclose(fitted.row_weights_, expected, rtol=1e-12)
    np.testing.assert_allclose(fitted.criterion_, fewer.criterion_, rtol=1e-9)


def test_a_callback_may_end_the_search():
    X, y = table(11, 30, 300)
    selector = SVMRFE()
    whole = SVMRFE().fit(X, y)

    def steps(name, items, total):
        for count, item in enumerate(items):
            yield item
            if count == 20:
                return

    selector.steps = steps
    selector.fit(X, y)
    assert sorted(selector.order_) == list(range(300))
    tail = 300 - 21 * 3
    np.testing.assert_array_equal(selector.order_[tail:], whole.order_[tail:])


def test_default_keeps_half():
    X, y = table()
    assert SVMRFE().fit(X, y).n_selected_ == 4


@pytest.mark.parametrize(
    "options",
    [{"C": 0}, {"C": np.inf}, {"step": 0}, {"step": 1.0}, {"step": 1.5}, {"multi_class": "all"},
     {"n_bootstraps": -1}, {"scale": 1}, {"tol": 0.0}, {"sample_weighting": None}],
)  # fmt: skip
def test_parameters_out_of_range(options):
    X, y = table()
    with pytest.raises(ValueError, match=f"SVMRFE: {next(iter(options))} must be"):
        SVMRFE(**options).fit(X, y)


def test_steps_used_up_are_told():
    X, y = table(12, 60, 3)
    with pytest.warns(UserWarning, match="SVMRFE: an SVM still violated"):
        SVMRFE(max_iter=1).fit(X, y)
