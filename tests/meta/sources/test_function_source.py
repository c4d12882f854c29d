"""FunctionSource: calls in parallel, none of them repeated that succeeded."""

import os
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest

from tamis.exceptions import InputError, MeasurementError
from tamis.meta import FunctionSource
from tamis.meta.sources._ledger import Ledger

N = 30
META = np.arange(N)[:, None]
TABLE = np.random.default_rng(0).normal(size=(6, N))


class Counted:
    """Counts the calls per candidate; some fail a few times, or always."""

    def __init__(self, failing=None):
        self.calls, self.failing, self.lock = Counter(), failing or {}, threading.Lock()

    def __call__(self, index):
        with self.lock:
            self.calls[index] += 1
            count = self.calls[index]
        if count <= self.failing.get(index, 0):
            raise ConnectionError(f"no answer for {index}")
        return TABLE[:, index]


@pytest.mark.parametrize("n_jobs", [1, 2, 5, None, -1])
def test_same_result_for_every_number_of_jobs(n_jobs):
    function = Counted()
    source = FunctionSource(function, META, n_jobs=n_jobs)
    wanted = np.random.default_rng(1).permutation(N)
    np.testing.assert_array_equal(source.columns(wanted), TABLE[:, wanted])
    source.columns(range(N))
    assert set(function.calls.values()) == {1}
    np.testing.assert_array_equal(source.measured, wanted)  # and not as they happened to arrive
    assert all(type(index) is int for index in function.calls)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_only_what_failed_is_called_again(n_jobs):
    function = Counted({3: 1, 7: 2, 9: 99, 11: 99})
    source = FunctionSource(function, META, n_jobs=n_jobs)
    assert source.available(range(12)).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert source.failures == {
        9: "ConnectionError: no answer for 9",
        11: "ConnectionError: no answer for 11",
    }
    calls = function.calls
    assert (calls[3], calls[7], calls[9], calls[11]) == (2, 3, 3, 3)
    assert all(calls[index] == 1 for index in (0, 1, 2, 4, 5, 6, 8, 10))
    with pytest.raises(MeasurementError, match="no answer for 9"):
        source.columns([9])
    assert calls[9] == 3


def test_no_retries():
    function = Counted({3: 1})
    source = FunctionSource(function, META, retries=0)
    assert source.available([3]).size == 0
    assert source.available(source.retry_failed()).tolist() == [3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bad_results_fail_alone(n_jobs):
    answers = {1: np.full(6, np.inf), 2: "text", 3: np.zeros(5), 4: None}
    source = FunctionSource(
        lambda index: answers.get(index, TABLE[:, index]), META, n_jobs=n_jobs, retries=1
    )
    source.columns([0])
    assert source.available(range(8)).tolist() == [0, 5, 6, 7]
    assert sorted(source.failures) == [1, 2, 3, 4]
    assert "expected 6 rows, one per sample, got 5" in source.failures[3]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_interrupt_keeps_what_has_arrived(n_jobs):
    function = Counted()

    def interrupted(index):
        if index == 12:
            raise KeyboardInterrupt
        return function(index)

    source = FunctionSource(interrupted, META, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        source.columns(range(N))
    kept = set(source.measured.tolist())
    assert kept >= set(range(12 - 2 * n_jobs))
    assert sum(function.calls.values()) < N
    assert source.failures == {}
    before = function.calls.copy()
    source.function = function
    np.testing.assert_array_equal(source.columns(range(N)), TABLE)
    assert all(function.calls[index] == before[index] for index in kept)


def test_a_signal_of_the_keyboard_stops_and_keeps():
    begun = threading.Semaphore(0)

    def function(index):
        if index < 3:
            begun.release()
            return TABLE[:, index]
        if index == 3:
            for _ in range(3):
                assert begun.acquire(timeout=120)
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.5)
        return TABLE[:, index]

    source = FunctionSource(function, META, n_jobs=2)
    with pytest.raises(KeyboardInterrupt):
        source.columns(range(N))
    assert source.measured.tolist()[:3] == [0, 1, 2]
    assert source.n_measured <= 5  # and nothing was begun afterwards


def test_interrupt_while_a_result_is_kept_does_not_lose_the_others(monkeypatch):
    function = Counted()
    source = FunctionSource(function, META, n_jobs=2)
    save, stopped = Ledger.save, []

    def interrupted(self):
        if not stopped:
            stopped.append(True)
            while sum(function.calls.values()) < 5:  # two per thread, and one instead of this one
                time.sleep(0.001)
            time.sleep(0.05)
            raise KeyboardInterrupt
        save(self)

    monkeypatch.setattr(Ledger, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.columns(range(N))
    assert source.n_measured == sum(function.calls.values()) == 5


@pytest.mark.slow
def test_processes():
    table = TABLE  # inside, so that the function travels with all it needs

    class Unpicklable(Exception):
        def __init__(self, index, text):
            super().__init__(f"{text} {index}")

    def function(index):
        if index == 1:
            raise Unpicklable(index, "lost")
        if index == 3:
            os._exit(1)  # as a crash would
        return np.append(table[:, index], os.getpid())

    source = FunctionSource(function, META, n_jobs=2, prefer="processes", retries=0)
    assert source.available(range(4)).tolist() == [0, 2]
    assert source.failures[1] == "Unpicklable: lost 1"
    assert "TerminatedWorkerError" in source.failures[3]
    columns = source.columns([2, 0])
    np.testing.assert_array_equal(columns[:-1], TABLE[:, [2, 0]])
    assert os.getpid() not in columns[-1]


def test_measure_itself():
    source = FunctionSource(Counted({2: 1}), META)
    np.testing.assert_array_equal(source.measure(np.array([1, 0])), TABLE[:, [1, 0]])
    with pytest.raises(ConnectionError):
        source.measure(np.array([1, 2]))
    assert source.n_measured == 0
    assert source.columns([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (3, {}, "expected a function of one int, got 3"),
        (abs, {"n_jobs": 0}, "n_jobs must be a non-zero int"),
        (abs, {"prefer": "magic"}, "prefer must be 'threads' or 'processes', got 'magic'"),
        (abs, {"retries": -1}, "retries must be an int of at least 0"),
        (abs, {"cost": [1]}, "one cost per candidate"),
        (abs, {"feature_names": ["a"]}, "one name per candidate"),
    ],
)
def test_bad_input(function, options, message):
    with pytest.raises(InputError, match=message):
        FunctionSource(function, META, **options).columns([0])
