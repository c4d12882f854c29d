import threading
import time

import numpy as np
import pytest

import tamis
from tamis.evaluation import compare
from tamis.evaluation.store import Store
from tamis.exceptions import InputError, SelectionWarning, WorkerError

pytest.importorskip("distributed")

from dask_workers import Fatal, Pausing, two_workers, wait_until_complete

METHODS = ["dft", "fisher", tamis.OFW(max_iter=50)]
OPTIONS = {"protocol": 3, "counts": [2, 4], "progress": False}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, (X[:, 3] + rng.normal(size=90) > 0).astype(int)


@pytest.fixture(scope="module")
def expected(table):
    return compare(METHODS, table, n_jobs=1, **OPTIONS).table()


@pytest.mark.slow
def test_same_results(table, expected, dask_client):
    for cluster in (dask_client, dask_client.scheduler.address, "threads"):
        found = compare(METHODS, table, cluster=cluster, **OPTIONS)
        assert found.table().equals(expected)


@pytest.mark.slow
def test_results_are_stored_and_not_computed_again(table, expected, dask_client, tmp_path):
    path = tmp_path / "units.sqlite"
    compare(METHODS[:2], table, cluster=dask_client, store=path, **OPTIONS)
    with Store(path) as store:
        before = {unit.key: unit.finished for unit in store.rows()}
    found = compare(METHODS, table, cluster=dask_client, store=path, **OPTIONS)
    assert found.table().equals(expected)
    with Store(path) as store:
        after = {unit.key: unit.finished for unit in store.rows()}
    # Three folds of every method and of the baseline, and two halves of every method.
    assert len(before) == 2 * 3 + 3 + 2 * 2
    assert len(after) == 3 * 3 + 3 + 3 * 2
    assert before.items() <= after.items()


@pytest.mark.slow
def test_a_killed_worker_costs_its_units(table, dask_client, tmp_path):
    (tmp_path / "once").touch()
    wait_until_complete(dask_client)
    found = compare(["dft", Fatal(tmp_path)], table, cluster=dask_client, **OPTIONS)
    assert not list(tmp_path.iterdir())
    assert not found.failure_counts()
    wait_until_complete(dask_client)
    whole = compare(["dft", Fatal(tmp_path)], table, n_jobs=1, **OPTIONS)
    assert found.table().equals(whole.table())


@pytest.mark.slow
def test_a_unit_at_which_every_worker_dies(table, tmp_path):
    for number in range(40):
        (tmp_path / str(number)).touch()
    with (
        two_workers(settings={"distributed.scheduler.allowed-failures": 0}) as client,
        pytest.warns(SelectionWarning, match=r"Fatal.* \(3x\)"),
    ):
        found = compare({"dft": "dft", "Fatal": Fatal(tmp_path)}, table, cluster=client, **OPTIONS)
    assert dict(found.failure_counts()) == {("data", "Fatal"): 3}
    assert "died" in found.failures()["error"].iloc[0]
    assert len(found.table()["split"].unique()) == 3


@pytest.mark.slow
def test_the_cluster_is_lost(table, dask_client, tmp_path):
    path, sign = tmp_path / "units.sqlite", tmp_path / "begun"
    methods = {"dft": "dft", "slow": Pausing(sign, 0.3)}
    with two_workers(1) as client:

        def close():
            while not sign.exists():
                time.sleep(0.02)
            client.cluster.close()

        closer = threading.Thread(target=close)
        closer.start()
        with pytest.raises(WorkerError, match="a scheduler that"):
            compare(methods, table, cluster=client, store=path, **OPTIONS)
        closer.join()
        with pytest.raises(WorkerError, match="the client of Dask is"):
            compare(methods, table, cluster=client, store=path, **OPTIONS)
    found = compare(methods, table, cluster=dask_client, store=path, **OPTIONS)
    assert found.table().equals(compare(methods, table, n_jobs=1, **OPTIONS).table())


def test_what_is_no_cluster(table):
    with pytest.raises(InputError, match="compare: cluster must be the address"):
        compare("dft", table, cluster=0.5, **OPTIONS)
