import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from tamis import DFT, OFW
from tamis._runtime.progress import StderrProgress
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
    DFT().set_callbacks(progress).fit(X, Y)
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


def test_a_learner_says_how_it_is_doing(monkeypatch):
    progress = StderrProgress(delay=100)
    said = []
    make_bar = StderrProgress._make_bar

    def spied(self):
        bar = make_bar(self)
        update = bar.update
        bar.update = lambda *args, **options: (said.append(options), update(*args, **options))
        return bar

    monkeypatch.setattr(StderrProgress, "_make_bar", spied)
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
