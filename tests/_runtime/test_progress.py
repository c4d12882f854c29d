import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from tamis import DFT, OFW
from tamis._runtime import progress as progress_
from tamis._runtime.progress import Lent, Lines, StderrProgress, in_words, make_progress
from tamis.cli._fitting import ColumnNames
from tamis.cli.console import Talk

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


class Watched(StderrProgress):
    """Remembers how far the bar was after every event, and shows it before the first."""

    def setup(self, estimator, context):
        super().setup(estimator, context)
        self.seen = []
        if self.delay == 0:
            self._timer.join()

    def on_fit_task_end(self, estimator, context):
        super().on_fit_task_end(estimator, context)
        self.seen.append(self._bar.tasks[0].completed)


def watched_fit(delay):
    screen = io.StringIO()
    progress = Watched(delay, Console(file=screen, force_terminal=True, width=80))
    DFT(n_features_to_select="elbow").set_callbacks(progress).fit(X, Y)
    return progress, screen.getvalue()


def test_the_bar_moves_to_the_end():
    progress, screen = watched_fit(delay=0)
    assert progress.seen == sorted(progress.seen)
    assert progress.seen[-1] == progress._bar.tasks[0].total == 2
    assert "DFT: cuts" in screen


def test_a_short_fit_shows_nothing():
    progress, screen = watched_fit(delay=3600)
    assert screen == ""
    assert not progress._timer.is_alive() or progress._timer.finished.is_set()


def test_the_bar_goes_away_after_a_failure():
    screen = io.StringIO()
    progress = Watched(0, Console(file=screen, force_terminal=True, width=80))
    with pytest.raises(ValueError, match="inf"):
        DFT().set_callbacks(progress).fit(np.where(X > 1, np.inf, X), Y)
    assert not progress._bar.live.is_started


@pytest.mark.slow
def test_a_learner_says_how_it_is_doing(monkeypatch):
    progress = StderrProgress(delay=100)
    said = []
    make_bar = progress_.make_bar

    def spied(*args, **options):
        bar = make_bar(*args, **options)
        update = bar.update
        bar.update = lambda *args, **options: (said.append(options), update(*args, **options))
        return bar

    monkeypatch.setattr(progress_, "make_bar", spied)
    selector = OFW(max_iter=400, random_state=0).set_callbacks(progress).fit(X, Y)
    words = [options["description"] for options in said if "description" in options]
    assert f"OFW: learning, error {selector.energy_[-1]:.3f}" in words


def test_errors_know_the_names_of_columns():
    selector = DFT().set_callbacks(ColumnNames(["a", "b", "c"]))
    with pytest.raises(ValueError, match="inf in column 'b'"):
        selector.fit(np.where([False, True, False], np.inf, X), Y)


def test_the_fitted_selector_knows_the_names_of_columns():
    selector = DFT(n_features_to_select=3).set_callbacks(ColumnNames(["a", "b", "c"])).fit(X, Y)
    assert selector.get_feature_names_out().tolist() == ["a", "b", "c"]


def test_what_is_said_meanwhile_stands_on_its_own_line(monkeypatch):
    written = io.BytesIO()
    screen = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    monkeypatch.setattr("sys.stderr", screen)
    progress = StderrProgress(0, Console(file=screen, force_terminal=True, width=80))
    progress.setup(DFT(), SimpleNamespace(max_subtasks=2))
    progress._timer.join()
    Talk().say("compiling")
    progress.teardown(DFT(), None)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue().decode())
    assert "compiling" in text.replace("\r", "\n").split("\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "not known yet"),
        (1.4, "a second"),
        (89.4, "about 89 s"),
        (90, "about 2 min"),
        (89 * 60, "about 89 min"),
        (90 * 60, "about 1.5 h"),
    ],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_come_now_and_then(monkeypatch):
    clock = iter([0.0, 29.9, 30.0, 59.0, 60.0])
    monkeypatch.setattr("tamis._runtime.progress.time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    lines = make_progress(True, stream, command="reproduce")
    for done in range(1, 5):
        lines.update(done, 4, done // 4, None)
    lines.close()
    assert stream.getvalue().splitlines() == [
        "tamis reproduce: 2 of 4 units done; not known yet left",
        "tamis reproduce: 4 of 4 units done, 1 failed; not known yet left",
    ]


def test_lines_on_a_terminal_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    lines = make_progress(True, Terminal())
    assert isinstance(lines, Lines)
    assert lines.seconds == 5.0


def test_a_bar_on_a_terminal_goes_away():
    stream = Terminal()
    bar = make_progress(True, stream)
    bar.update(5, 10, 0, 30.0)
    bar.close()
    assert "5 of 10 units done; about 30 s left" in stream.getvalue()
    assert not bar._bar.live.is_started


def test_a_lent_bar_moves_and_stays(monkeypatch):
    stream = io.StringIO()
    lines = Lines(stream, seconds=0.0)
    monkeypatch.setattr(lines, "close", lambda: pytest.fail("taken away"))
    lent = Lent(lines)
    assert make_progress(lent) is lent
    lent.update(1, 2, 0, 1.0)
    lent.close()
    assert stream.getvalue() == "tamis compare: 1 of 2 units done; a second left\n"


def test_nothing_is_said_unless_wanted(capfd):
    silence = make_progress(False)
    silence.update(1, 2, 0, None)
    silence.close()
    assert capfd.readouterr() == ("", "")


def test_steps_of_steps_do_not_move_the_bar():
    progress = StderrProgress(delay=3600)
    fit = SimpleNamespace(parent=None, max_subtasks=2)
    stage = SimpleNamespace(parent=fit, max_subtasks=4, task_name="cuts", task_id=0)
    step = SimpleNamespace(parent=stage, max_subtasks=None)
    progress.setup(DFT(), fit)
    progress.on_fit_task_begin(DFT(), stage)
    for context, completed in [
        (SimpleNamespace(parent=step), 0),
        (step, 0.25),
        (stage, 1),
        (fit, 1),
    ]:
        progress.on_fit_task_end(DFT(), context)
        assert progress._bar.tasks[0].completed == completed
    progress.teardown(DFT(), fit)
    progress._show()  # the timer may ring when all is over
    assert not progress._bar.live.is_started
