"""run_pass: a statistic over the blocks of an engine."""

import signal
import threading
from itertools import islice

import numpy as np
import pytest

from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Moments


class Diary:
    """A statistic that only writes down what it is given."""

    def __init__(self):
        self.entries = []

    def update(self, block, n_jobs=1):
        self.entries.append((block.start, block.stop, n_jobs))
        return self


ENGINE = MemoryEngine(np.zeros((5, 1)), block_rows=2)


@pytest.mark.parametrize("interruptible", [False, True])
def test_blocks_come_in_order_and_the_statistic_comes_back(interruptible):
    diary = Diary()
    assert run_pass(diary, ENGINE, interruptible=interruptible) is diary
    assert diary.entries == [(0, 2, 1), (2, 4, 1), (4, 5, 1)]


def test_n_jobs_is_passed_on():
    assert run_pass(Diary(), ENGINE, n_jobs=3).entries[0] == (0, 2, 3)


def test_a_generator_of_blocks_may_end_early():
    def first_two():
        for count, block in enumerate(ENGINE):
            if count == 2:
                return
            yield block

    assert [entry[:2] for entry in run_pass(Diary(), first_two()).entries] == [(0, 2), (2, 4)]


def test_no_blocks_no_update():
    assert run_pass(Diary(), []).entries == []


def test_a_walk_that_ends_early_keeps_what_was_seen():
    engine = MemoryEngine(np.array([[1.0], [3.0], [100.0]]), block_rows=2)
    assert run_pass(Moments(1), islice(engine, 1)).finish().mean[0] == 2.0


@pytest.mark.parametrize("interruptible", [False, True])
def test_an_error_in_a_block_is_the_callers(interruptible):
    class Broken(Diary):
        def update(self, block, n_jobs=1):
            raise ZeroDivisionError("in a block")

    with pytest.raises(ZeroDivisionError, match="in a block"):
        run_pass(Broken(), ENGINE, interruptible=interruptible)


def test_ctrl_c_completes_the_block_at_hand_and_no_other():
    class Interrupted(Diary):
        def update(self, block, n_jobs=1):
            self.entries.append("begin")
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            threading.Event().wait(0.05)
            self.entries.append("end")

    diary = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run_pass(diary, ENGINE, interruptible=True)
    assert diary.entries == ["begin", "end"]
