"""The unit of work: one ranking from the training rows, scores on the test rows."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression

import tamis
from tamis.evaluation.learners import make_learner
from tamis.evaluation.metrics import default_metrics, make_metric
from tamis.evaluation.protocols import Folds, LeaveOneOut, PublishedSplit, RepeatedSplits
from tamis.evaluation.run.units import PeakMemory, Unit, clip_counts, run_unit, seeded


def make_unit(selector=None, X=None, y=None, *, counts=(2, 5), words=("svm",), split=None, **other):
    rng = np.random.default_rng(0)
    if X is None:
        X = rng.normal(size=(60, 12))
        y = np.where(X[:, 3] + X[:, 7] + 0.3 * rng.normal(size=60) > 0, "up", "down")
    task = other.pop("task", "classification")
    metrics = other.pop("metrics", default_metrics(task))
    return Unit(
        method="m",
        selector=tamis.DFT() if selector is None else selector,
        data="d",
        X=X,
        y=y,
        task=task,
        split=Folds(3).splits(X, y, task == "classification")[0] if split is None else split,
        counts=counts,
        learners=tuple(make_learner(word, task) for word in words),
        metrics=metrics,
        **other,
    )


class Spy(BaseEstimator):
    """Selector that remembers what it was shown, and ranks columns from the last to the first."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Spy.seen.append((X.copy(), y.copy()))
        self.order_ = np.arange(X.shape[1])[::-1]
        return self


def test_the_selector_is_shown_the_training_rows_once_and_nothing_else():
    Spy.seen.clear()
    unit = make_unit(Spy(), words=("svm", "knn"))
    result = run_unit(unit)
    ((X, y),) = Spy.seen
    np.testing.assert_array_equal(X, unit.X[unit.split.train])
    np.testing.assert_array_equal(y, unit.y[unit.split.train])
    assert result.order.tolist() == list(range(11, -1, -1))
    assert result.order.dtype == np.int32
    assert len(result.scores) == 2 * 2 * 3


def test_test_rows_change_neither_the_ranking_nor_the_models():
    unit = make_unit(tamis.ReliefF())
    changed = unit.X.copy()
    changed[unit.split.test] = 1e3
    first, second = run_unit(unit), run_unit(unit._replace(X=changed))
    np.testing.assert_array_equal(first.order, second.order)


def test_scores_are_those_of_the_best_columns_by_hand():
    unit = make_unit(words=("logistic",), counts=(3,))
    result = run_unit(unit)
    train, test = unit.split.train, unit.split.test
    order = tamis.DFT(n_features_to_select="all").fit(unit.X[train], unit.y[train]).order_
    np.testing.assert_array_equal(result.order, order)
    model = make_learner("logistic", "classification").estimator
    model.fit(unit.X[train][:, order[:3]], unit.y[train])
    expected = model.score(unit.X[test][:, order[:3]], unit.y[test])
    (found,) = [row for row in result.scores if row["metric"] == "accuracy"]
    assert found["value"] == expected
    assert found["count"] == 3
    assert found["fit_seconds"] > 0
    assert found["note"] is None
    assert result.select_seconds > 0
    assert result.error is None
    assert set(result.order[:2]) == {3, 7}


def test_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    unit = make_unit(tamis.RFT(), X, 5 * X[:, 4] + rng.normal(size=60), task="regression")
    result = run_unit(unit)
    assert result.order[0] == 4
    assert {row["metric"] for row in result.scores} == {"r2", "mse"}
    assert all(row["value"] > 0.8 for row in result.scores if row["metric"] == "r2")


def test_counts_beyond_the_columns_are_clipped_and_each_is_done_once():
    assert clip_counts((200, 10, 50, 10, 0, -1), 30) == (0, 10, 30)  # 0 is guessing
    result = run_unit(make_unit(counts=(5, 50, 200, 12)))
    assert sorted({row["count"] for row in result.scores}) == [5, 12]
    assert len(result.scores) == 2 * 3


def test_a_failing_selector_is_recorded():
    result = run_unit(make_unit(tamis.DFT(n_bins=1)))
    assert "InputError: DFT: n_bins" in result.error
    assert result.scores == []
    assert result.order.size == 0
    result = run_unit(make_unit(LogisticRegression()))
    assert "ranks columns" in result.error


def test_an_interrupt_is_not_swallowed():
    class Stopped(Spy):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_unit(make_unit(Stopped()))


def test_a_failing_learner_leaves_the_others_alone():
    class Broken(LogisticRegression):
        def fit(self, X, y):
            raise RuntimeError("out of order")

    result = run_unit(make_unit(words=(Broken(), "svm"), counts=(2,)))
    broken = [row for row in result.scores if row["learner"] == "Broken"]
    assert len(broken) == 3
    assert all(np.isnan(row["value"]) for row in broken)
    assert all(row["note"] == "RuntimeError: out of order" for row in broken)
    assert all(np.isfinite(row["value"]) for row in result.scores if row["learner"] == "svm")


def test_a_metric_that_the_rows_do_not_allow_is_nan_with_a_note():
    unit = make_unit()
    one = LeaveOneOut().splits(unit.X, unit.y, True)[0]
    result = run_unit(unit._replace(split=one))
    for row in result.scores:
        assert np.isnan(row["value"]) == (row["metric"] == "auc") == (row["note"] is not None)


def test_one_class_in_the_training_rows():
    unit = make_unit()
    down = np.flatnonzero(unit.y == "down")
    (split,) = PublishedSplit(down, np.flatnonzero(unit.y == "up")).splits(None, unit.y, True)
    supervised, unsupervised = (
        run_unit(unit._replace(split=split, selector=s)) for s in (tamis.DFT(), tamis.Variance())
    )
    assert "InputError" in supervised.error
    assert all(np.isnan(row["value"]) and "class" in row["note"] for row in unsupervised.scores)


def test_warnings_are_recorded_each_once_and_not_shown():
    result = run_unit(make_unit(tamis.UDFS(max_iter=1), words=("svm",)))
    assert len(result.warnings) == len(set(result.warnings)) >= 1
    assert result.warnings[0].startswith("SelectionWarning: UDFS")


def test_share_of_known_probes():
    probes = np.ones(12, dtype=bool)
    probes[[3, 7]] = False
    result = run_unit(make_unit(probes=probes, counts=(2, 4, 12)))
    assert result.probe_share == {2: 0.0, 4: 0.5, 12: pytest.approx(10 / 12)}
    assert run_unit(make_unit()).probe_share is None


@pytest.mark.slow
def test_the_number_that_a_selector_finds_is_kept():
    result = run_unit(make_unit(tamis.FCBF()))
    assert 1 <= result.best_n_features <= 12
    assert sorted(result.order) == list(range(12))
    assert run_unit(make_unit()).best_n_features is None


def test_sparse_tables_score_as_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(60, 12)).astype(float)
    y = (X[:, 2] + X[:, 5] > 1).astype(int)
    dense, thin = run_unit(make_unit(X=X, y=y)), run_unit(make_unit(X=sparse.csr_matrix(X), y=y))
    np.testing.assert_array_equal(dense.order, thin.order)
    assert [row["value"] for row in dense.scores] == [row["value"] for row in thin.scores]


def test_the_seed_reaches_what_has_none():
    learner = make_learner("forest", "classification").estimator
    assert seeded(learner, 7).get_params()["estimator__random_state"] == 7
    assert seeded(tamis.RandomRanking(random_state=3), 7).random_state == 3
    unit = make_unit(tamis.RandomRanking(), words=("forest",))
    first, again, other = (run_unit(unit._replace(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.order, again.order)
    assert [row["value"] for row in first.scores] == [row["value"] for row in again.scores]
    assert first.order.tolist() != other.order.tolist()


def test_the_selector_and_the_data_of_the_caller_stay_as_they_were():
    selector = tamis.DFT(n_features_to_select=3)
    unit = make_unit(selector)
    before = unit.X.copy()
    run_unit(unit)
    np.testing.assert_array_equal(unit.X, before)
    assert selector.n_features_to_select == 3
    assert not hasattr(selector, "order_")


def test_greedy_searches_go_no_further_than_needed_and_agree_where_they_go():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 700)), np.arange(60) % 2
    unit = make_unit(tamis.MRMR(), X, y, counts=(20,))
    full = run_unit(unit._replace(selector=tamis.MRMR(full_order=True)))
    assert sorted(run_unit(unit).order) == list(range(700))
    np.testing.assert_array_equal(run_unit(unit).order[:20], full.order[:20])


def test_selectors_of_scikit_learn():
    result = run_unit(make_unit(SelectKBest(k=2)))
    assert set(result.order[:2]) == {3, 7}


def test_a_scorer_gets_the_model_itself():
    metric = make_metric("balanced_accuracy", "classification")
    own = make_metric("balanced_error", "classification")
    rows = run_unit(make_unit(metrics=(metric, own), counts=(3,))).scores
    assert rows[0]["value"] == pytest.approx(1 - rows[1]["value"])


def test_units_and_results_can_be_sent_to_other_processes():
    unit = pickle.loads(pickle.dumps(make_unit(words=("svm", "boosting"))))
    result = pickle.loads(pickle.dumps(run_unit(unit)))
    assert len(result.scores) == 12


def test_peak_memory_sees_what_was_there_for_a_moment():
    memory = PeakMemory()
    block = np.ones(8_000_000)
    del block
    growth = memory.growth()
    if growth is None:
        pytest.skip("this system does not tell the peak memory of a process")
    assert 50_000_000 < growth < 500_000_000


@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_colon_is_predicted_as_in_the_literature():
    data = tamis.datasets.load("colon")
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    metrics = (make_metric("accuracy", "classification"),)
    values = [
        run_unit(make_unit(tamis.Fisher(), X, y, counts=(50,), split=split, metrics=metrics))
        for split in RepeatedSplits(10).splits(X, y, True)
    ]
    accuracy = np.mean([result.scores[0]["value"] for result in values])
    assert 0.75 < accuracy < 0.92
