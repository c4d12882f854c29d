"""Kernels say what they do when their first use takes long."""

from types import SimpleNamespace

import pytest

from tamis._runtime import compilation as _jit
from tamis._runtime.compilation import ANNOUNCE_AFTER_SECONDS, announce_compilation


class Stage:
    """A clock and timers that go only when told to, in a process that has compiled nothing."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.timers = []
        monkeypatch.setattr(_jit, "ready", set())
        monkeypatch.setattr(_jit, "_spent", 0.0)
        monkeypatch.setattr(_jit, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(_jit.threading, "Timer", self.timer)

    def timer(self, interval, function, args=(), kwargs=None):
        timer = SimpleNamespace(due=None)
        timer.start = lambda: setattr(timer, "due", self.now + interval)
        timer.cancel = lambda: setattr(timer, "due", None)
        timer.call = lambda: function(*args)
        self.timers.append(timer)
        return timer

    def work(self, seconds):
        self.now += seconds
        for timer in self.timers:
            if timer.due is not None and timer.due <= self.now:
                timer.due = None
                timer.call()


@pytest.fixture
def stage(monkeypatch):
    return Stage(monkeypatch)


def test_it_is_two_seconds():
    assert ANNOUNCE_AFTER_SECONDS == 2.0


def test_slow_work_is_announced_while_it_is_at_work(stage, caplog):
    with announce_compilation("kernel", "float64"):
        stage.work(1.9)
        assert caplog.messages == []
        stage.work(0.2)
        assert len(caplog.messages) == 1
    assert "compiling kernels for their first use" in caplog.messages[0]


def test_fast_work_is_silent_for_good(stage, caplog):
    with announce_compilation("kernel"):
        stage.work(0.1)
    stage.work(3600.0)
    assert caplog.messages == []


def test_a_kernel_that_was_used_before_may_take_its_time(stage, caplog):
    for _ in range(2):
        with announce_compilation("kernel", "float64"):
            stage.work(1.5)
    assert caplog.messages == []


def test_many_kernels_that_are_slow_together_are_announced_once(stage, caplog):
    for kernel in range(3):
        for dtype in ("float32", "float64"):
            with announce_compilation(kernel, dtype):
                stage.work(1.5)
    assert len(caplog.messages) == 1


def test_work_that_failed_stays_silent_and_is_not_known_as_compiled(stage, caplog):
    with pytest.raises(ZeroDivisionError), announce_compilation("kernel"):
        raise ZeroDivisionError
    stage.work(3600.0)
    assert caplog.messages == []
    with announce_compilation("kernel"):
        stage.work(2.1)
    assert len(caplog.messages) == 1


def test_a_kernel_that_cannot_be_cached_is_compiled_all_the_same(monkeypatch):
    import numba

    compile_ = numba.njit

    def refuse(function, *, cache=False, **rest):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_(function, **rest)

    monkeypatch.setattr(numba, "njit", refuse)
    assert _jit.kernel(lambda x: x + 1)(2) == 3
