"""What a try may end in: a result that keeps the promises, or an error with the template."""

import contextlib
import signal
import warnings
from collections import Counter

import numpy as np

from tamis.exceptions import TamisError

# Of computing; compiling for the first time takes a while. Waiting for something that never comes
# takes no computing, so that the clock on the wall counts in the end.
SECONDS, SECONDS_ON_THE_WALL = 60, 1800
COUNTS = Counter()


class Hang(BaseException):
    """Not an Exception, so that nobody catches it on the way."""


@contextlib.contextmanager
def limited():
    """End what takes too long, however busy the machine is."""

    def end(*_):
        raise Hang(f"no end after {SECONDS} s of computing, or {SECONDS_ON_THE_WALL} s")

    before = [signal.signal(number, end) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(SECONDS_ON_THE_WALL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def attempt(work, check=None, allowed=(TamisError,)):
    """Count how it ended; anything but a good result or an allowed error is raised."""
    try:
        COUNTS[_end_of(work, check, allowed)] += 1
    except BaseException as error:
        COUNTS[f"{type(error).__name__}, which is not allowed"] += 1
        raise


def _end_of(work, check, allowed):
    try:
        with warnings.catch_warnings(), limited():
            warnings.simplefilter("ignore")
            result = work()
    except allowed as error:
        if not str(error):
            raise
        return type(error).__name__
    except (ValueError, TypeError) as error:  # of scikit-learn's own checks of tables
        if not _is_said_by_sklearn(error):
            raise
        return f"{type(error).__name__} of scikit-learn"
    if check is not None:
        check(result)
    return "result"


def _is_said_by_sklearn(error):
    """Whether the checks of a table raised it, before anything was computed."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return "sklearn/utils/validation" in trace.tb_frame.f_code.co_filename


def check_fitted(selector):
    """The promises of every fitted selector."""
    n = selector.n_features_in_
    assert selector.scores_.shape == (n,)
    assert np.isfinite(selector.scores_).all()
    assert sorted(selector.order_.tolist()) == list(range(n))
    assert (selector.ranking_[selector.order_] == np.arange(1, n + 1)).all()
    assert selector.support_.dtype == bool
    assert selector.n_selected_ == selector.support_.sum()
    falling = selector.scores_[selector.order_]
    assert (np.diff(falling[~selector.constant_[selector.order_]]) <= 0).all()
