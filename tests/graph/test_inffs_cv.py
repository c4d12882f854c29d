"""InfFSCV: alpha and the number of columns, chosen on rows that nobody has learned from."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tamis import InfFS, InfFSCV
from tamis.exceptions import InputError

SEEN = {"path": [], "learned": [], "asked": [], "weights": []}


class SpyModel(GaussianNB):
    """Writes down the rows it learns from and is asked about."""

    def fit(self, X, y, sample_weight=None):
        SEEN["learned"].append(X)
        SEEN["weights"].append(sample_weight)
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        SEEN["asked"].append(X)
        return super().predict(X)


@pytest.fixture(autouse=True)
def _nothing_seen():
    for seen in SEEN.values():
        seen.clear()


def table(seed=0, n_rows=60, n_columns=10):
    """Three columns carry the classes and vary most; the first holds the number of the row."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 5:8] += 4.0 * np.eye(3)[y]
    X[:, 0] = rng.permutation(n_rows)
    return X, y


def by_hand(X, y, alphas, grid, folds, learner):
    """Scores on held-out rows, one fit at a time."""
    out = np.empty((len(alphas), len(grid), len(folds)))
    for f, (train, test) in enumerate(folds):
        for a, alpha in enumerate(alphas):
            order = InfFS(alpha=alpha, n_features_to_select="all").fit(X[train]).order_
            for k, count in enumerate(grid):
                model = clone(learner).fit(X[train][:, order[:count]], y[train])
                out[a, k, f] = model.score(X[test][:, order[:count]], y[test])
    return out


def test_scores_are_those_of_fits_by_hand():
    X, y = table()
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    alphas, grid = [0.0, 0.3, 1.0], [1, 3, 6]
    fitted = InfFSCV(alphas=alphas, grid=grid, estimator=GaussianNB(), cv=folds).fit(X, y)
    assert fitted.cv_scores_.shape == (3, 3, 4)
    expected = by_hand(X, y, alphas, grid, folds, GaussianNB())
    np.testing.assert_allclose(fitted.cv_scores_, expected)
    mean = expected.mean(axis=2)
    chosen = mean[alphas.index(fitted.alpha_), grid.index(fitted.best_n_features_)]
    assert chosen == pytest.approx(mean.max())
    whole = InfFS(alpha=fitted.alpha_).fit(X)
    np.testing.assert_allclose(fitted.scores_, whole.scores_, rtol=1e-10)
    assert fitted.n_selected_ == fitted.best_n_features_
    assert set(np.flatnonzero(fitted.support_)) == set(fitted.order_[: fitted.n_selected_])


def test_folds_are_stratified_for_classes():
    X, y = table()
    y = np.sort(y)  # plain folds would hold out whole classes
    options = {"alphas": [0.5], "grid": [9], "estimator": GaussianNB()}
    fitted = InfFSCV(cv=3, **options).fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    np.testing.assert_allclose(fitted.cv_scores_, by_hand(X, y, [0.5], [9], folds, GaussianNB()))


def choose(table_of_scores, alphas, grid):
    """Fit with a scoring that answers from a table of shape (alphas, counts, folds)."""
    answers = iter(np.moveaxis(np.asarray(table_of_scores, dtype=float), 2, 0).ravel())
    X, y = table()
    return InfFSCV(
        alphas=alphas, grid=grid, cv=np.shape(table_of_scores)[2], estimator=DummyClassifier(),
        scoring=lambda model, X, y: next(answers),
    ).fit(X, y)  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "alphas", "alpha", "count"),
    [
        ([[[0.1, 0.2], [0.3, 0.4]], [[0.9, 0.8], [0.7, 0.6]]], [0.0, 1.0], 1.0, 2),
        ([[[0.1, 0.2], [0.9, 0.9]], [[0.9, 0.8], [0.7, 0.6]]], [0.0, 1.0], 0.0, 5),
        # Equal means: the fewest columns come first, then the smallest alpha.
        ([[[0.5, 0.5], [0.9, 0.9]], [[0.9, 0.9], [0.5, 0.5]]], [0.0, 1.0], 1.0, 2),
        ([[[0.9, 0.9], [0.9, 0.9]], [[0.9, 0.9], [0.9, 0.9]]], [0.2, 0.1], 0.1, 2),
        ([[[0.9, 0.9], [0.9, 0.9]], [[0.5, 0.9], [0.9, 0.9]]], [0.2, 0.1], 0.2, 2),
        # Equal but for the rounding of 0.1 + 0.2 + 0.3 in another order.
        ([[[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]], [0.4], 0.4, 2),
        ([[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]], [0.4], 0.4, 2),
        # Scores may be losses.
        ([[[-3.0, -2.0], [-1.0, -1.0]], [[-5.0, -5.0], [-2.0, -2.0]]], [0.0, 1.0], 0.0, 5),
        ([[[-3.0, -2.0], [0.0, 0.0]], [[-5.0, -5.0], [0.0, 0.0]]], [1.0, 0.5], 0.5, 5),
    ],
)
def test_choice_of_the_best_pair(scores, alphas, alpha, count):
    fitted = choose(scores, alphas, [5, 2])
    assert (fitted.alpha_, fitted.best_n_features_) == (alpha, count)
    np.testing.assert_array_equal(fitted.grid_, [2, 5])
    np.testing.assert_array_equal(fitted.cv_scores_, scores)
    assert fitted.n_selected_ == count


def test_scores_that_are_not_numbers():
    with pytest.raises(InputError, match=r"InfFSCV: expected finite scores .* got NaN\. Choose"):
        choose([[[np.nan, 1.0], [1.0, 1.0]]], [0.5], [2, 5])


def test_held_out_rows_are_seen_by_nobody(monkeypatch):
    X, y = table()
    plain = InfFS.path

    def path(self, X, alphas, **options):
        SEEN["path"].append(X)
        return plain(self, X, alphas, **options)

    monkeypatch.setattr(InfFS, "path", path)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    # The number of the row varies most, so it is always among the selected columns.
    InfFSCV(alphas=[0.5, 1.0], grid=[1, 4], estimator=SpyModel(), cv=folds).fit(X, y)
    assert len(SEEN["path"]) == 4
    assert len(SEEN["learned"]) == len(SEEN["asked"]) == 16
    for f, (train, test) in enumerate(folds):
        np.testing.assert_array_equal(SEEN["path"][f], X[train])
        for learned, asked in zip(
            SEEN["learned"][4 * f : 4 * f + 4], SEEN["asked"][4 * f : 4 * f + 4], strict=True
        ):
            assert set(X[train, 0]) in [set(column) for column in learned.T]
            assert set(X[test, 0]) in [set(column) for column in asked.T]


def test_values_of_held_out_rows_change_no_choice():
    X, y = table()
    train, test = np.arange(40), np.arange(40, 60)
    options = {"alphas": [0.0, 1.0], "grid": [1, 2, 3], "cv": [(train, test)]}
    learned = []
    for factor in (1.0, 1000.0):
        Z = X.copy()
        Z[test] = factor * X[test]
        SEEN["learned"].clear()
        InfFSCV(estimator=SpyModel(), **options).fit(Z, y)
        learned.append(list(SEEN["learned"]))
    for left, right in zip(*learned, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.slow
def test_noise_scores_at_chance():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 150)), np.arange(80) % 2
    pipeline = make_pipeline(
        InfFSCV(alphas=[0.0, 1.0], grid=[2, 10], estimator=GaussianNB(), cv=4), GaussianNB()
    )
    outer = [cross_val_score(pipeline, X, rng.permutation(y), cv=4).mean() for _ in range(6)]
    # 480 guesses: a standard error of 0.023.
    assert abs(np.mean(outer) - 0.5) < 0.09


@pytest.mark.slow
def test_signal_is_found():
    X, y = table(n_rows=120)
    X[:, 0] = 0.01 * X[:, 0]
    fitted = InfFSCV().fit(X, y)
    assert fitted.support_[[5, 6, 7]].all()
    assert fitted.cv_scores_.mean(axis=2).max() > 0.9
    assert fitted.cv_scores_.shape == (5, fitted.grid_.size, 5)
    assert (fitted.grid_.min(), fitted.grid_.max()) == (1, 10)


def test_numeric_target(monkeypatch):
    from sklearn import svm

    made = []
    monkeypatch.setattr(
        svm, "LinearSVR", lambda **options: made.append(options) or LinearRegression()
    )
    X, _ = table()
    y = X[:, 5] - 2 * X[:, 6] + 0.1 * X[:, 7]
    folds = list(KFold(3).split(X))
    options = {"alphas": [0.2, 0.8], "grid": [2, 9]}
    fitted = InfFSCV(cv=3, **options).fit(X, y)
    assert len(made) == 1
    expected = by_hand(X, y, [0.2, 0.8], [2, 9], folds, LinearRegression())
    np.testing.assert_allclose(fitted.cv_scores_, expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numeric_target_by_default():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    X[:, 2] *= 3.0
    fitted = InfFSCV(alphas=[1.0], grid=[1, 6], cv=4).fit(X, 5 * X[:, 2] + 0.1 * X[:, 1])
    assert fitted.order_[0] == 2
    assert fitted.cv_scores_.mean(axis=2).max() > 0.9


@pytest.mark.parametrize("kind", ["U", "O"])
def test_labels_may_be_words(kind):
    X, y = table()
    words = np.array(["low", "mid", "a high one"]).astype(kind)[y]
    options = {"alphas": [0.0, 1.0], "grid": [2, 4], "cv": 3, "estimator": GaussianNB()}
    plain, named = (InfFSCV(**options).fit(X, target) for target in (y, words))
    np.testing.assert_array_equal(named.cv_scores_, plain.cv_scores_)


def test_missing_and_sparse_with_the_default_learner():
    X, y = table(n_rows=90)
    X[:, 0] = 0.0
    X[np.abs(X) < 0.6] = 0.0
    X[np.random.default_rng(4).random(X.shape) < 0.1] = np.nan
    options = {"alphas": [0.0, 1.0], "grid": [2, 5], "cv": 3}
    dense, thin = (InfFSCV(**options).fit(make(X), y) for make in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(thin.cv_scores_, dense.cv_scores_)
    np.testing.assert_allclose(thin.scores_, dense.scores_, rtol=1e-10)


def test_a_column_that_is_empty_in_a_fold():
    X, y = table()
    X[:40, 3] = np.nan
    cv = [(np.arange(40), np.arange(40, 60))]
    fitted = InfFSCV(alphas=[0.5], grid=[10], cv=cv).fit(X, y)
    assert np.isfinite(fitted.cv_scores_).all()


def test_weights_reach_the_path_and_the_learner(monkeypatch):
    X, y = table()
    weight = np.random.default_rng(5).random(60) + 0.1
    plain = InfFS.path

    def path(self, X, alphas, *, sample_weight=None):
        SEEN["path"].append(sample_weight)
        return plain(self, X, alphas, sample_weight=sample_weight)

    monkeypatch.setattr(InfFS, "path", path)
    folds = list(KFold(3).split(X))
    options = {"alphas": [0.5], "grid": [3], "cv": folds}
    fitted = InfFSCV(estimator=SpyModel(), **options).fit(X, y, sample_weight=weight)
    for f, (train, _) in enumerate(folds):
        np.testing.assert_array_equal(SEEN["path"][f], weight[train])
        np.testing.assert_array_equal(SEEN["weights"][f], weight[train])
    whole = InfFS(alpha=0.5).fit(X, sample_weight=weight)
    np.testing.assert_allclose(fitted.scores_, whole.scores_, rtol=1e-10)
    # A learner that takes no weights is fitted without them.
    InfFSCV(estimator=KNeighborsClassifier(), **options).fit(X, y, sample_weight=weight)


def test_relation_and_memory_reach_the_path():
    X, y = table()
    calls = []

    def nothing_in_common(left, right):
        calls.append(left.shape)
        return np.zeros((left.shape[1], right.shape[1]))

    options = {"alphas": [0.5], "grid": [3], "cv": 3, "estimator": GaussianNB()}
    fitted = InfFSCV(relation=nothing_in_common, damping=0.4, **options).fit(X, y)
    assert calls == [(40, 10)] * 3 + [(60, 10)]
    whole = InfFS(relation=nothing_in_common, damping=0.4).fit(X)
    np.testing.assert_allclose(fitted.scores_, whole.scores_, rtol=1e-10)


@pytest.mark.parametrize(("cut", "count"), [(4, 4), (0.2, 2), ("all", 10)])
def test_other_cuts(cut, count):
    X, y = table()
    options = {"alphas": [0.0, 1.0], "grid": [3], "cv": 3, "estimator": GaussianNB()}
    fitted = InfFSCV(n_features_to_select=cut, **options).fit(X, y)
    assert fitted.n_selected_ == count
    assert fitted.best_n_features_ == 3
    assert fitted.recut(6).n_selected_ == 6
    assert fitted.transform(X).shape == (60, 6)


def test_fit_again_forgets_the_first_choice():
    X, y = table()
    selector = InfFSCV(alphas=[1.0], grid=[5], cv=3, estimator=GaussianNB()).fit(X, y)
    assert selector.recut(2).n_selected_ == 2
    assert selector.set_params(grid=[3]).fit(X, y).n_selected_ == 3


def test_counts_stop_at_the_columns_that_vary():
    X, y = table()
    X[:, 1:4] = 2.0
    fitted = InfFSCV(alphas=[0.5], grid=[2, 8, 50], cv=3, estimator=GaussianNB()).fit(X, y)
    np.testing.assert_array_equal(fitted.grid_, [2, 7])
    assert not fitted.support_[1:4].any()
    assert (fitted.scores_[1:4] == 0).all()


def test_clone_and_grid_search():
    X, y = table()
    selector = InfFSCV(alphas=[0.0, 1.0], grid=[2], cv=2, estimator=GaussianNB())
    fitted = clone(selector).fit(X, y)
    assert not hasattr(clone(fitted), "alpha_")
    grid = {"inffscv__damping": [0.5, 0.9], "inffscv__alphas": [[0.0], [1.0]]}
    search = GridSearchCV(make_pipeline(selector, GaussianNB()), grid, cv=2).fit(X, y)
    assert search.best_estimator_[0].n_selected_ == 2


def test_callbacks_see_the_folds():
    class Recorder:
        def __init__(self, stop_at=None):
            self.ended, self.stop_at = [], stop_at

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)
            return self.ended.count("folds step") == self.stop_at

    X, y = table()
    options = {"alphas": [0.0, 1.0], "grid": [2, 5], "cv": 4, "estimator": GaussianNB()}
    recorder = Recorder()
    whole = InfFSCV(**options).set_callbacks(recorder).fit(X, y)
    assert recorder.ended.count("folds step") == 4
    assert recorder.ended.count("relations step") == 1  # paths inside the folds report to nobody
    early = InfFSCV(**options)
    early.set_callbacks(Recorder(stop_at=2))
    early.fit(X, y)
    np.testing.assert_array_equal(early.cv_scores_, whole.cv_scores_[:, :, :2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alphas": []}, "alphas must hold at least one value"),
        ({"alphas": [0.5, 2.0]}, r"every value of alphas must be a float in \[0, 1\], got 2.0"),
        ({"grid": [0, 3]}, r"grid must hold ints of at least 1, got \[0, 3\]"),
        ({"grid": []}, "grid must hold ints"),
        ({"grid": [2.5]}, "grid must hold ints"),
        ({"grid": 3}, "grid must hold ints"),
        ({"estimator": "svm"}, "estimator must be an estimator with a fit method, or None"),
        ({"damping": 1.0}, "damping must be"),
        ({"relation": "kendall"}, "relation must be"),
        ({"n_features_to_select": "most"}, "n_features_to_select must be"),
    ],
)
def test_bad_parameters(wrong, message):
    X, y = table()
    with pytest.raises(InputError, match=f"InfFSCV: {message}"):
        InfFSCV(**wrong).fit(X, y)


def test_bad_data():
    X, y = table()
    with pytest.raises(InputError, match=r"InfFSCV: .*target y is None"):
        InfFSCV().fit(X)
    with pytest.raises(InputError, match="target with 60 values"):
        InfFSCV().fit(X, y[:50])
    X[3, 4] = np.inf
    with pytest.raises(InputError, match=r"InfFSCV: .*inf in column 4"):
        InfFSCV().fit(X, y)
    with pytest.raises(InputError, match="at least one column with two different values"):
        InfFSCV().fit(np.ones((60, 3)), y)


@pytest.mark.parametrize(
    ("options", "rows", "reason"),
    [
        ({}, 3, "Cannot have number of splits"),
        ({"cv": 50}, 60, "n_splits=50"),
        ({"cv": "x"}, 60, "Expected `cv`"),
        ({"scoring": "x"}, 60, "The 'scoring' parameter"),
        ({"cv": [([0, 99], [1])]}, 60, "index 99 is out of bounds"),
    ],
)
def test_what_scikit_learn_refuses(options, rows, reason):
    X, y = table()
    with pytest.raises(InputError, match=f"InfFSCV: expected cv, .* got: {reason}"):
        InfFSCV(**options).fit(X[:rows], y[:rows])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_tiny_values_reach_the_default_model_in_range(make):
    X, y = table()
    X[:, 0] += 3 * y
    options = {"alphas": [0.5], "grid": [1, 2], "relation": "pearson"}
    wanted = InfFSCV(**options).fit(make(X), y)
    found = InfFSCV(**options).fit(make(X * 2.0**-1000), y)
    np.testing.assert_allclose(found.cv_scores_, wanted.cv_scores_)
