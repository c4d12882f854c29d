import copy
import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from dask_workers import wait_until_complete
from tamis import OFW
from tamis.exceptions import InputError, WorkerError
from tamis.weighting import _distribution

# Worker processes that start and end: long, and in need of both cores.
pytestmark = pytest.mark.slow

pytest.importorskip("distributed")

SAME = ("weights_", "weights_spread_", "energy_", "energy_error_", "weights_path_")
SETTINGS = {
    "draws of a step": {"draws_per_step": 6, "max_iter": 12},
    "draws of many steps": {"draws_per_step": 40, "max_iter": 30},
    "uneven shares": {"draws_per_step": 3, "max_iter": 5, "estimator": "nn"},
    "runs": {"n_restarts": 3, "max_iter": 700},
    "runs with draws": {
        "n_restarts": 2,
        "draws_per_step": 4,
        "max_iter": 70,
        "method": "diffusion",
    },
    "one run, one draw": {"max_iter": 300},
    "a classifier": {"draws_per_step": 2, "max_iter": 5, "estimator": DecisionTreeClassifier()},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 15))
    return X, np.where(X[:, 3] + X[:, 5] > 0, "b", "a")


def agree(found, expected):
    for name in SAME:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("n_iter_", "n_evaluations_", "status_"):
        assert getattr(found, name) == getattr(expected, name)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_same_to_the_bit(settings, table, dask_client):
    expected = OFW(random_state=0, **settings).fit(*table)
    agree(OFW(random_state=0, cluster=dask_client, **settings).fit(*table), expected)


def test_address_and_threads(table, dask_client):
    expected = OFW(random_state=0, max_iter=250).fit(*table)
    for cluster in (dask_client.scheduler.address, "threads"):
        agree(OFW(random_state=0, max_iter=250, cluster=cluster).fit(*table), expected)


def test_weights_of_rows(table, dask_client):
    weight = np.random.default_rng(1).integers(0, 3, 120)
    settings = {"random_state": 0, "n_restarts": 2, "max_iter": 210}
    expected = OFW(**settings).fit(*table, sample_weight=weight)
    agree(OFW(cluster=dask_client, **settings).fit(*table, sample_weight=weight), expected)


def test_nothing_stays_on_the_workers(table, dask_client):
    OFW(max_iter=1, n_features_to_select=2, cluster=dask_client).fit(*table)

    def held():
        from tamis.passes.dask import shared

        return len(shared._held)

    assert set(dask_client.run(held).values()) == {0}


def test_the_table_is_sent_once(table, dask_client, monkeypatch):
    """Calls carry draws and errors, not the table."""
    import pickle

    sizes, submit_all = [], _distribution.submit_all

    def watched(client, function, calls):
        sizes.extend(len(pickle.dumps(args)) for args in calls)
        return submit_all(client, function, calls)

    monkeypatch.setattr(_distribution, "submit_all", watched)
    X = np.random.default_rng(0).normal(size=(2000, 50))
    settings = {"draws_per_step": 4, "sample_size": 50, "max_iter": 3, "random_state": 0}
    OFW(cluster=dask_client, **settings).fit(X, X[:, 0] > 0)
    assert len(sizes) == 6
    assert max(sizes) < X.nbytes / 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"n_restarts": 2, "max_iter": 6000}, SETTINGS["draws of a step"]]
)
def test_a_worker_that_is_killed(settings, table, dask_client):
    expected = OFW(random_state=0, **settings).fit(*table)
    wait_until_complete(dask_client)
    pids = list(dask_client.run(os.getpid).values())
    killer = threading.Timer(0.2, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    agree(OFW(random_state=0, cluster=dask_client, **settings).fit(*table), expected)
    killer.join()
    wait_until_complete(dask_client)


def test_goes_on_after_the_cluster_was_lost(table, dask_client, tmp_path, monkeypatch):
    settings = {"n_restarts": 2, "max_iter": 1000, "random_state": 0}
    expected = OFW(**settings).fit(*table)
    n_sent, submit = [], _distribution.submit

    def lost(client, *args):
        n_sent.append(1)
        if len(n_sent) > 4:
            raise WorkerError("the cluster is gone")
        return submit(client, *args)

    selector = OFW(checkpoint=tmp_path / "state", cluster=dask_client, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(_distribution, "submit", lost)
        with pytest.raises(WorkerError, match="gone"):
            selector.fit(*table)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    agree(OFW(checkpoint=tmp_path / "state", **settings).fit(*table), expected)


def test_draws_are_shared_as_long_as_that_pays(table, dask_client, monkeypatch):
    """Quick steps: after the first chunk, whole chunks go to a worker."""
    n_calls, submit = [], _distribution.submit
    monkeypatch.setattr(
        _distribution, "submit", lambda *args: n_calls.append(args[1]) or submit(*args)
    )
    nothing = property(lambda self: 0.0, lambda self, seconds: None)
    monkeypatch.setattr(_distribution.Workers, "worked", nothing, raising=False)
    settings = {"draws_per_step": 40, "max_iter": 30, "random_state": 0}
    expected = OFW(**settings).fit(*table)
    agree(OFW(cluster=dask_client, **settings).fit(*table), expected)
    assert n_calls == [_distribution.advance] * 5  # of 6 chunks


@pytest.fixture(params=["client", "cluster", "address", "number"])
def given(request, dask_client):
    """Every kind of thing that `cluster` takes."""
    return {
        "client": dask_client,
        "cluster": dask_client.cluster,
        "address": dask_client.scheduler.address,
        "number": 2,
    }[request.param]


class TestCopies:
    def test_a_clone_shares_the_client(self, given):
        inner = DecisionTreeClassifier(max_depth=2)
        first = OFW(cluster=given, estimator=inner, estimator_params=None, max_iter=7)
        with config_context(enable_metadata_routing=True):
            first.set_output(transform="pandas").set_fit_request(sample_weight=True)
            second = clone(first)
        assert second.get_params()["cluster"] is given
        assert first.cluster is given
        assert second.estimator is not inner
        assert second.get_params(deep=True).keys() == first.get_params(deep=True).keys()
        assert second.get_params()["estimator__max_depth"] == 2
        assert second.max_iter == 7
        assert second._sklearn_output_config == {"transform": "pandas"}
        assert second.get_metadata_routing().fit.requests == {"sample_weight": True}

    def test_nothing_learned_is_cloned(self, table, dask_client):
        fitted = OFW(cluster=dask_client, max_iter=1, n_features_to_select=2).fit(*table)
        assert not hasattr(clone(fitted), "weights_")
        assert hasattr(fitted, "weights_")

    def test_parameters_can_be_set(self, given):
        selector = clone(OFW().set_params(cluster=given))
        assert selector.cluster is given
        assert selector.set_params(cluster=None).cluster is None

    def test_a_random_state_is_copied(self, dask_client):
        state = np.random.RandomState(0)
        assert clone(OFW(cluster=dask_client, random_state=state)).random_state is not state

    def test_inside_of_others(self, table, dask_client):
        X, y = table
        selector = OFW(
            cluster=dask_client, draws_per_step=2, max_iter=3, random_state=0,
            n_features_to_select=3,
        )  # fmt: skip
        pipe = Pipeline([("select", selector), ("tree", DecisionTreeClassifier(random_state=0))])
        assert clone(pipe).get_params()["select__cluster"] is dask_client
        assert clone([selector])[0].cluster is dask_client
        found = GridSearchCV(pipe, {"select__max_iter": [2, 3]}, cv=2).fit(X, y)
        alone = clone(pipe).set_params(select__cluster=None)
        expected = GridSearchCV(alone, {"select__max_iter": [2, 3]}, cv=2).fit(X, y)
        np.testing.assert_array_equal(
            found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
        )
        assert found.best_estimator_["select"].cluster is dask_client

    def test_a_pickle_keeps_the_address(self, given, dask_client):
        selector = OFW(cluster=given, max_iter=7)
        for other in (pickle.loads(pickle.dumps(selector)), copy.deepcopy(selector)):
            assert other.cluster == (given if given == 2 else dask_client.scheduler.address)
            assert other.max_iter == 7
        assert selector.cluster is given

    def test_a_pickle_keeps_what_was_learned(self, table, dask_client):
        fitted = OFW(cluster=dask_client, max_iter=1, n_features_to_select=2).fit(*table)
        other = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(other.weights_, fitted.weights_)


def test_what_is_no_cluster(table):
    with pytest.raises(InputError, match="OFW: cluster must be the address"):
        OFW(cluster=0).fit(*table)


def test_what_workers_cannot_load(table, dask_client):
    class Unloadable(DecisionTreeClassifier):
        def __reduce__(self):
            return (_raise, ())

    with pytest.raises(InputError, match="estimators that workers can load"):
        OFW(estimator=Unloadable(), cluster=dask_client, max_iter=1).fit(*table)


def _raise():
    raise RuntimeError("not here")
