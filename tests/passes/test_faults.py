"""Workers that die, are slow or out of memory, and a scheduler that goes away."""

import os
import re
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone

import tamis
from tamis.exceptions import WorkerError
from tamis.passes.columns import room_of

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from dask_workers import (  # noqa: E402
    Deadly,
    Hungry,
    InRows,
    Noted,
    Slow,
    Spent,
    notes,
    own_processes,
    two_workers,
    wait_until_complete,
)

# Worker processes that start and end: long, and in need of both cores.
pytestmark = pytest.mark.slow

N_KILLS = 20
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    return X, np.where(X[:, 2] + rng.normal(size=400) > 0, "b", "a")


@pytest.fixture(scope="module")
def expected(table):
    return tamis.DFT().fit(*table).scores_


@pytest.fixture(scope="module")
def workers():
    with two_workers(settings=SETTINGS, memory_limit="800MB") as client:
        yield client


@pytest.fixture
def client(workers):
    wait_until_complete(workers)
    return workers


@pytest.fixture
def fresh():
    """Workers of their own, for tests that end all of them."""
    with two_workers(settings=SETTINGS, memory_limit="800MB") as client:
        yield client


def wait_for(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def meanwhile(action):
    """Something that another thread does, until it has done it."""
    thread = threading.Thread(target=action)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("repeat", range(N_KILLS))
def test_a_worker_that_is_killed(repeat, client, table, expected, tmp_path):
    (tmp_path / "once").touch()
    source = Deadly(
        *table, folder=tmp_path, part=repeat, alone=repeat % 2 == 0, rows=20, cluster=client
    )
    # DFT has no walk over the target alone.
    selector = tamis.Fisher() if source.alone else tamis.DFT()
    found = selector.fit(source).scores_
    assert not list(tmp_path.iterdir())  # it did happen
    np.testing.assert_allclose(found, clone(selector).fit(*table).scores_, rtol=1e-12)
    assert source.alone or (found == expected).all()


@pytest.mark.slow
def test_a_worker_killed_from_outside(client, table, expected, tmp_path):
    da = pytest.importorskip("dask.array")
    sign = tmp_path / "begun"

    def slowly(block):
        sign.touch()
        time.sleep(0.1)
        return block

    def kill():
        wait_for(sign.exists)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    X = da.from_array(table[0], chunks=(20, 5)).map_blocks(slowly, meta=np.empty((0, 0)))
    killer = threading.Thread(target=kill)
    killer.start()
    with client.as_current():
        found = tamis.DFT().fit(X, da.from_array(table[1], chunks=20)).scores_
    killer.join()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.03, 0.1])
def test_both_workers_killed_one_after_the_other(pause, client, table, expected, tmp_path):
    sign = tmp_path / "begun"
    pids = set(client.run(os.getpid).values())

    def kill():
        wait_for(sign.exists)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            time.sleep(pause)

    source = Slow(*table, range(5, 20), 0.1, sign, rows=20, cluster=client)
    with meanwhile(kill):
        try:
            found = tamis.DFT().fit(source).scores_
        except WorkerError as error:
            assert re.search(r"died at.* rows from \d+ on", str(error))  # noqa: PT017
        else:
            np.testing.assert_array_equal(found, expected)
    wait_until_complete(client)
    assert not pids & set(client.run(os.getpid).values())


@pytest.mark.slow
def test_a_part_at_which_every_worker_dies(fresh, table, expected, tmp_path):
    for number in range(9):
        (tmp_path / str(number)).touch()
    source = Deadly(*table, folder=tmp_path, part=7, alone=False, rows=20, cluster=fresh)
    with pytest.raises(
        WorkerError, match=r"2 died at.* rows from 140 on.* Most often they were out"
    ):
        tamis.DFT().fit(source)
    for file in tmp_path.iterdir():
        file.unlink()
    np.testing.assert_array_equal(tamis.DFT().fit(source).scores_, expected)


@pytest.mark.slow
def test_a_chunk_whose_making_ends_the_worker(fresh, table):
    da = pytest.importorskip("dask.array")

    def deadly(block, block_id):
        if block_id[0] == 5:
            os._exit(1)
        return block

    X = da.from_array(table[0], chunks=(50, 5)).map_blocks(deadly, meta=np.empty((0, 0)))
    with fresh.as_current(), pytest.raises(WorkerError, match=r"2 died at.* chunk 5"):
        tamis.DFT().fit(X, da.from_array(table[1], chunks=50))


@pytest.mark.slow
def test_a_worker_out_of_memory(fresh, table):
    source = Hungry(*table, rows=50, cluster=fresh)
    with pytest.raises(WorkerError, match=r"2 died at.* rows from 150 on"):
        tamis.Variance().fit(source)


def test_a_part_without_memory(table):
    source = Spent(*table, rows=50, cluster="threads")
    with pytest.raises(WorkerError, match="rows from 150 on: expected enough memory"):
        tamis.Variance().fit(source)


def test_a_slow_worker(client, table, expected):
    source = Slow(*table, slow=(3,), seconds=1.0, rows=20, cluster=client)
    np.testing.assert_array_equal(tamis.DFT().fit(source).scores_, expected)


@pytest.mark.slow
def test_a_scheduler_that_goes_away(client, table, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", -1.0)
    X, y = table
    sign, state = tmp_path / "begun", tmp_path / "state"
    with two_workers(1) as other:
        source = Slow(X, y, range(38, 50), 0.1, sign, rows=8, cluster=other)
        source.checkpoint = state

        def close():
            wait_for(sign.exists)
            other.cluster.close()

        closer = threading.Thread(target=close)
        closer.start()
        with pytest.raises(WorkerError, match="a scheduler that"):
            tamis.DFT().fit(source)
        closer.join()
    sign.unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    source = InRows(X, y, rows=8, cluster=client)
    source.checkpoint = state
    np.testing.assert_allclose(tamis.DFT().fit(source).scores_, expected, rtol=1e-10)
    assert not list(tmp_path.iterdir())


def connected(processes):
    client = distributed.Client(processes.address, set_as_default=False, timeout=60)
    client.wait_for_workers(len(processes.workers), timeout=60)
    return client


@pytest.mark.slow
def test_workers_with_two_threads_each(table, expected):
    da = pytest.importorskip("dask.array")
    X, y = table
    with own_processes(n_threads=2) as processes, connected(processes) as client:
        assert list(client.nthreads().values()) == [2, 2]
        found = tamis.DFT().fit(InRows(X, y, rows=20, cluster=client)).scores_
        np.testing.assert_array_equal(found, expected)
        lazy = da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50)
        for selector in (tamis.ILFS(), tamis.MRMR(), tamis.FCBF(), tamis.InfFS()):
            expected = selector.fit(X, y).scores_.copy()
            with client.as_current():
                found = selector.fit(*lazy).scores_
            np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=repr(selector))


@pytest.mark.slow
@pytest.mark.parametrize("given", ["client", "address"])
def test_a_scheduler_that_is_killed(given, client, table, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", -1.0)
    X, y = table
    sign, state, reads = tmp_path / "begun", tmp_path / "state", tmp_path / "reads"
    with own_processes(n_workers=1) as processes, connected(processes) as other:

        def kill():
            wait_for(sign.exists, 60.0)
            processes.scheduler.kill()

        cluster = other if given == "client" else processes.address
        source = Slow(X, y, range(38, 50), 0.5, sign, rows=8, cluster=cluster)
        source.checkpoint = state
        with meanwhile(kill), pytest.raises(WorkerError, match="a scheduler that"):
            tamis.DFT().fit(source)
        if given == "client":  # between two walks of a method that asks for the workers
            with pytest.raises(WorkerError, match="a scheduler that"):
                room_of(source, True, None)
    sign.unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    reads.mkdir()
    source = Noted(X, y, reads, rows=8, cluster=client)
    source.checkpoint = state
    np.testing.assert_allclose(tamis.DFT().fit(source).scores_, expected, rtol=1e-10)
    assert not state.exists()
    # Ranges were known up to part 32, whose group of parts was under way; then come histograms.
    n_reads = Counter(part for part, _, _ in notes(reads))
    assert n_reads == {part: 1 if part < 32 else 2 for part in range(50)}


def test_no_workers_for_long(table, monkeypatch):
    monkeypatch.setattr("tamis.passes.dask.client.LOOK_SECONDS", 0.1)
    monkeypatch.setattr("tamis.passes.dask.client.PATIENCE_SECONDS", 0.3)
    with (
        two_workers(0) as client,
        pytest.raises(WorkerError, match=r"expected workers at tcp.*got none for"),
    ):
        tamis.Variance().fit(InRows(*table, cluster=client))


def test_workers_without_memory(table, monkeypatch):
    """Dask pauses them and says nothing to whoever waits."""
    monkeypatch.setattr("tamis.passes.dask.client.LOOK_SECONDS", 0.1)
    monkeypatch.setattr("tamis.passes.dask.client.PAUSED_SECONDS", 0.3)
    full = {"distributed.worker.memory.pause": 1e-6, "distributed.worker.memory.terminate": False}
    with two_workers(1, settings=full, memory_limit="800MB") as client:
        wait_for(lambda: {"paused"} == {
            worker["status"] for worker in client.scheduler_info()["workers"].values()
        })  # fmt: skip
        with pytest.raises(WorkerError, match=r"Dask has paused all of them .* more memory per"):
            tamis.Variance().fit(InRows(*table, cluster=client))


def test_workers_with_another_version(table, client, monkeypatch):
    monkeypatch.setattr("tamis.__version__", "0.0.1")
    monkeypatch.setattr("tamis.passes.dask.client._checked", set())
    with pytest.raises(
        tamis.exceptions.InputError, match=r"expected tamis 0\.0\.1 on every worker"
    ):
        tamis.Variance().fit(InRows(*table, cluster=client))
