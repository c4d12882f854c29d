"""Learners: tuned inside fit, and no other than scikit-learn's models."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tamis.evaluation._tuning import Prepared, Tuned, inner_folds
from tamis.evaluation.learners import LEARNERS, STRENGTHS, Learner, make_learner
from tamis.evaluation.run.units import one_thread
from tamis.exceptions import InputError

CASES = [(word, task) for word, (_, tasks) in LEARNERS.items() for task in tasks]


@pytest.fixture(autouse=True)
def _one_thread():
    """As in the unit of work: tables are small here."""
    with one_thread(tuple(LEARNERS)):
        yield


def table(task, n_rows=60, n_columns=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    clear = X[:, 0] + 0.1 * rng.normal(size=n_rows)
    if task == "regression":
        return X, 50 + 3 * clear
    cuts = np.quantile(clear, np.arange(1, n_classes) / n_classes)
    return X, np.array(list("abcdef"))[np.searchsorted(cuts, clear)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("word", "task"), CASES)
def test_every_word_learns_with_missing_values_and_an_empty_column(word, task):
    X, y = table(task)
    X[::7, 3] = np.nan
    X = np.column_stack([X, np.full(60, np.nan)])
    learner = make_learner(word, task)
    assert (learner.name, learner.task) == (word, task)
    assert (
        is_classifier(learner.estimator)
        if task == "classification"
        else is_regressor(learner.estimator)
    )
    model = clone(learner.estimator).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.6
    again = clone(model).fit(X[:40], y[:40])
    if word != "forest":  # seeded by the unit of work
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("word", [w for w, t in CASES if t == "classification"])
def test_three_classes(word):
    X, y = table("classification", n_rows=90, n_classes=3)
    model = make_learner(word, "classification").estimator.fit(X[:60], y[:60])
    assert model.score(X[60:], y[60:]) > 0.6
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("n_classes", "n_columns"), [(2, 6), (2, 60), (4, 6), (3, 50)])
def test_the_chosen_strength_is_that_of_a_grid_search(n_classes, n_columns):
    X, y = table("classification", 40, n_columns, n_classes, seed=3)
    X = StandardScaler().fit_transform(X)
    tuned = make_learner("svm", "classification").estimator.estimator.fit(X, y)
    fold = np.empty(40, dtype=int)
    for k, (_, test) in enumerate(inner_folds(y, True)):
        fold[test] = k
    search = GridSearchCV(
        LinearSVC(dual=False, tol=1e-9, max_iter=1_000_000),
        {"C": STRENGTHS},
        cv=PredefinedSplit(fold),
        scoring=lambda model, X, y: float(np.sum(model.predict(X) == y)),
    ).fit(X, y)
    errors = 40 - search.cv_results_["mean_test_score"] * 5
    np.testing.assert_allclose(tuned.losses_, errors)
    assert tuned.value_ in np.array(STRENGTHS)[errors == errors.min()]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("word", ["svm", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_turning_a_wide_table_changes_nothing(word, n_classes):
    X, y = table("classification", 30, 50, n_classes)
    tuned = make_learner(word, "classification").estimator.estimator
    turned = clone(tuned).fit(X, y)
    plain = clone(tuned).set_params(rotate=False).fit(X, y)
    assert turned.value_ == plain.value_
    assert turned.estimator_.coef_.shape == plain.estimator_.coef_.shape
    new = np.random.default_rng(1).normal(size=(50, 50))
    found, expected = turned.decision_function(new), plain.decision_function(new)
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())


def test_regression_does_not_depend_on_the_scale_of_the_target():
    X, y = table("regression")
    for word in ("svm", "rbf_svm"):
        small = make_learner(word, "regression").estimator.fit(X, y).predict(X)
        large = make_learner(word, "regression").estimator.fit(X, 1e6 * y + 1e8).predict(X)
        np.testing.assert_allclose((large - 1e8) / 1e6, small, rtol=1e-3)


@pytest.mark.parametrize("scaled", [True, False])
def test_preparing_is_that_of_scikit_learn(scaled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [1, 1e-3, 1e4, 1, 1] + [0, 5, -7, 0, 0]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3], X[:, 4] = 0.1, np.nan
    steps = [SimpleImputer(keep_empty_features=True)] + [StandardScaler()] * scaled
    expected = make_pipeline(*steps).fit(X[:30])
    ours = Prepared(LogisticRegression(), scaled=scaled).fit(X[:30], np.arange(30) % 2)
    np.testing.assert_allclose(ours._seen(X), expected.transform(X), atol=1e-12)


def test_inner_folds_shrink_with_the_smallest_class():
    y = np.array([0] * 20 + [1] * 3)
    folds = inner_folds(y, True)
    assert len(folds) == 3
    assert all((y[test] == 1).sum() == 1 for _, test in folds)
    assert len(inner_folds(np.array([0] * 9 + [1]), True)) == 2
    assert len(inner_folds(np.arange(10.0), False)) == 5
    assert inner_folds(np.array([0, 1]), True) == []


@pytest.mark.sampled(8)
@pytest.mark.parametrize("word", [w for w, t in CASES if t == "classification"])
@pytest.mark.parametrize("y", [[0] * 9 + [1], [0, 1], [0, 1, 0, 1], [0, 1, 2, 2, 2]])
def test_tiny_classes_do_not_stop_the_search(word, y):
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    model = make_learner(word, "classification").estimator.fit(X, y)
    assert model.predict(X).shape == (len(y),)


def test_of_equally_good_values_the_middle_one_is_taken():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    tuned = Tuned(LogisticRegression(), parameter="C", values=(0.1, 1.0, 10.0)).fit(X, y)
    assert tuned.losses_.tolist() == [0, 0, 0]
    assert tuned.value_ == 1.0


def test_a_fit_that_does_not_converge_is_recorded_and_says_nothing():
    X, y = table("classification", 40, 30)
    tuned = Tuned(LogisticRegression(max_iter=1), parameter="C", values=(1.0, 1e6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not tuned.fit(X, y).converged_
        assert make_learner("svm", "classification").estimator.fit(X, y).converged_


def test_any_estimator_and_wrong_words():
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    learner = make_learner(estimator, "classification")
    assert learner == Learner("LogisticRegression", estimator, "classification")
    assert make_learner(learner, "classification") is learner
    with pytest.raises(InputError, match="Did you mean 'forest'"):
        make_learner("forrest", "regression")
    with pytest.raises(InputError, match="an estimator for classification, got 'ridge'"):
        make_learner("ridge", "classification")
    with pytest.raises(InputError, match="a scikit-learn estimator"):
        make_learner(LogisticRegression, "classification")
