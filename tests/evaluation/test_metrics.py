"""Metrics against hand-worked values and scikit-learn."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    make_scorer,
    roc_auc_score,
)

from tamis.evaluation.metrics import METRICS, Metric, default_metrics, make_metric
from tamis.exceptions import InputError


class Says:
    """A model with fixed answers."""

    def __init__(self, votes, classes=(0, 1)):
        self.votes, self.classes_ = np.asarray(votes, dtype=float), np.asarray(classes)

    def decision_function(self, X):
        return self.votes

    def predict(self, X):
        if self.votes.ndim == 1:
            return self.classes_[(self.votes > 0).astype(int)]
        return self.classes_[self.votes.argmax(axis=1)]


def value(name, model, y, task="classification"):
    return make_metric(name, task).scorer(model, np.zeros((len(y), 1)), y)


def test_by_hand():
    model = Says([-2, -1, 1, 3, 2, -3])
    y = [0, 0, 0, 1, 1, 1]
    assert value("accuracy", model, y) == pytest.approx(4 / 6)
    assert value("balanced_error", model, y) == pytest.approx(1 / 3)
    # Pairs in order: 3 beats all three zeros, 2 beats all three, -3 beats none: 6 of 9.
    assert value("auc", model, y) == pytest.approx(6 / 9)
    # Positives come at places 1, 2 and 6: (1/1 + 2/2 + 3/6) / 3.
    assert value("average_precision", model, y) == pytest.approx(2.5 / 3)


def test_regression_by_hand():
    class Line:
        def predict(self, X):
            return np.array([1.0, 2.0, 5.0])

    y = [1.0, 2.0, 3.0]
    assert value("mse", Line(), y, "regression") == pytest.approx(4 / 3)
    assert value("r2", Line(), y, "regression") == pytest.approx(1 - 4 / 2)
    assert np.isnan(value("r2", Line(), [2.0, 2.0, 2.0], "regression"))


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_as_scikit_learn_with_ties(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 40)
    y[:2] = 0, 1
    votes = rng.integers(-3, 4, 40) + 0.5
    model = Says(votes)
    assert value("auc", model, y) == pytest.approx(roc_auc_score(y, votes))
    assert value("average_precision", model, y) == pytest.approx(average_precision_score(y, votes))
    expected = 1 - balanced_accuracy_score(y, model.predict(y))
    assert value("balanced_error", model, y) == pytest.approx(expected)


def test_three_classes_as_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.array(["x", "y", "z"])[rng.integers(0, 3, 60)]
    model = LogisticRegression().fit(X, y)
    chances = model.predict_proba(X)
    metric = make_metric("auc", "classification")
    by_class = [
        roc_auc_score(y == c, model.decision_function(X)[:, j]) for j, c in enumerate("xyz")
    ]
    assert metric.scorer(model, X, y) == pytest.approx(np.mean(by_class))
    assert roc_auc_score(y, chances, multi_class="ovr") == pytest.approx(
        metric.scorer(_Chances(model), X, y)
    )


class _Chances:
    """A model without votes."""

    def __init__(self, model):
        self.model, self.classes_ = model, model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def test_one_class_among_the_rows_gives_no_auc():
    model = Says([1.0, -1.0])
    assert np.isnan(value("auc", model, [1, 1]))
    assert np.isnan(value("average_precision", model, [0, 0]))
    assert value("accuracy", model, [1, 1]) == 0.5
    assert value("balanced_error", model, [1, 1]) == 0.5


def test_a_class_the_model_has_not_seen_counts_as_chance():
    votes = np.eye(2)[[0, 0, 1, 1, 0, 1]]
    model = Says(votes, classes=(0, 1))
    y = [0, 0, 1, 1, 2, 2]
    # Classes 0 and 1: both own rows before all but the one that shares their vote; class 2: 1/2.
    own = roc_auc_score(np.equal(y, 0), votes[:, 0])
    assert value("auc", model, y) == pytest.approx((own + own + 0.5) / 3)


def test_a_class_not_among_the_rows_is_left_out():
    votes = np.array([[3, 1, 9], [1, 2, 9], [2, 1, 9], [2, 3, 9.0]])
    y = [0, 1, 0, 1]
    model = Says(votes, classes=(0, 1, 2))
    expected = np.mean([roc_auc_score(np.equal(y, c), votes[:, c]) for c in (0, 1)])
    assert value("auc", model, y) == pytest.approx(expected)


def test_a_model_without_votes_is_asked_for_its_classes():
    class Plain:
        classes_ = np.array(["n", "p"])

        def predict(self, X):
            return np.array(["p", "n", "p", "n"])

    assert value("auc", Plain(), np.array(["p", "p", "n", "n"])) == 0.5


def test_scorers_from_elsewhere():
    model = DummyClassifier(strategy="constant", constant=1).fit([[0], [1]], [0, 1])
    by_name = make_metric("f1", "classification")
    assert by_name.scorer(model, [[0], [1]], [0, 1]) == pytest.approx(2 / 3)
    assert by_name.greater_is_better
    own = make_metric(make_scorer(f1_score), "classification")
    assert own.name == "f1_score"
    assert own.scorer(model, [[0], [1]], [0, 1]) == pytest.approx(2 / 3)

    def half(model, X, y):
        return 0.5

    assert make_metric(half, "classification") == Metric("half", half, True)
    assert make_metric(own, "classification") is own


def test_errors_are_less_when_better():
    for name, (metric, task) in METRICS.items():
        assert make_metric(name, task) is metric
        assert metric.greater_is_better == (name[-2:] not in ("se", "or"))


@pytest.mark.parametrize("name", [name for name, (metric, _) in METRICS.items() if metric.by_row])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_numbers_by_row_have_the_score_as_mean_and_give_what_a_row_changes(name, n_classes):
    """Repeating a row a little moves the score by its influence, the number minus the mean."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    metric, task = METRICS[name]
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=300)
    if task == "classification":
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        model = LogisticRegression().fit(X[:60], y[:60])
    else:
        model = LinearRegression().fit(X[:60], y[:60])
    score = metric.scorer(model, X, y)
    by_row = metric.by_row(model, X, y)
    assert by_row.mean() == pytest.approx(score, abs=1e-12)
    for i in (3, 77, 150):
        without = np.delete(np.arange(300), i)
        moved = 299 * (score - metric.scorer(model, X[without], y[without]))
        assert by_row[i] - score == pytest.approx(moved, abs=0.05)


def test_ranges_of_metrics():
    assert make_metric("accuracy", "classification")[3:5] == (0.0, 1.0)
    assert make_metric("r2", "regression")[3:5] == (-np.inf, 1.0)
    assert make_metric("neg_mean_squared_error", "regression")[3:5] == (-np.inf, 0.0)
    assert make_metric("roc_auc", "classification")[3:5] == (0.0, 1.0)
    assert make_metric("matthews_corrcoef", "classification")[3:5] == (-np.inf, np.inf)


def test_default_metrics_and_wrong_words():
    assert [metric.name for metric in default_metrics("regression")] == ["r2", "mse"]
    with pytest.raises(InputError, match="Did you mean 'accuracy'"):
        make_metric("acuracy", "classification")
    with pytest.raises(InputError, match="which is for regression"):
        make_metric("mse", "classification")
    with pytest.raises(InputError, match="expected one of"):
        make_metric(3, "classification")
