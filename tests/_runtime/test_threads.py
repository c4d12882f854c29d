"""Threads over parts of a table."""

import threading

import pytest

from tamis._runtime import threads as _threads
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly, threads_for


@pytest.mark.parametrize(
    ("start", "stop", "n_parts", "expected"),
    [
        (0, 10, 3, [(0, 3), (3, 6), (6, 10)]),
        (5, 7, 2, [(5, 6), (6, 7)]),
        (0, 2, 8, [(0, 1), (1, 2)]),
        (4, 4, 3, [(4, 4)]),
        (0, 5, 0, [(0, 5)]),
    ],
)
def test_split_by_hand(start, stop, n_parts, expected):
    assert split_evenly(start, stop, n_parts) == expected


def test_pieces_cover_everything_once_and_are_of_nearly_equal_length():
    for stop in range(1, 60):
        for n_parts in range(1, 12):
            pieces = split_evenly(0, stop, n_parts)
            assert [i for a, b in pieces for i in range(a, b)] == list(range(stop))
            lengths = {b - a for a, b in pieces}
            assert max(lengths) - min(lengths) <= 1
            assert min(lengths) >= 1


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)


@pytest.mark.usefixtures("four_cores")
@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 4), (1, 1), (9, 9), (-1, 4), (-2, 3)])
def test_jobs(n_jobs, expected):
    assert effective_jobs(n_jobs) == expected


@pytest.mark.usefixtures("four_cores")
def test_counting_back_ends_at_one():
    assert effective_jobs(-4) == effective_jobs(-99) == 1


@pytest.mark.usefixtures("four_cores")
def test_a_joblib_worker_gets_its_share(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert effective_jobs(None) == 2
    assert effective_jobs(3) == 3


@pytest.mark.usefixtures("four_cores")
def test_small_work_is_not_worth_a_thread(monkeypatch):
    monkeypatch.setattr(_threads, "CELLS_WORTH_A_THREAD", 100)
    assert [threads_for(n, None) for n in (0, 99, 199, 200, 399, 10**9)] == [1, 1, 1, 2, 3, 4]
    assert threads_for(10**9, 2) == 2


def test_parts_run_in_order_on_the_calling_thread_when_there_is_only_one():
    calls = []
    run_parts(lambda *part: calls.append((part, threading.current_thread())), [(1, 2), (3, 4)], 1)
    assert calls == [((1, 2), threading.main_thread()), ((3, 4), threading.main_thread())]


def test_parts_run_side_by_side():
    meeting = threading.Barrier(2, timeout=120)  # broken unless both parts are at work at once
    run_parts(lambda _: meeting.wait(), [(0,), (1,)], 2)


def test_no_more_threads_than_asked_for():
    seen, lock = set(), threading.Lock()

    def note(_):
        with lock:
            seen.add(threading.get_ident())

    run_parts(note, [(i,) for i in range(50)], 2)
    assert 1 <= len(seen) <= 2


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_part_is_the_callers(n_threads):
    def divide(x):
        1 / x

    with pytest.raises(ZeroDivisionError):
        run_parts(divide, [(1,), (0,), (2,)], n_threads)
