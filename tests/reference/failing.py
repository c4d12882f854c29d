"""Selectors that fail in every way; in a module that worker processes can import."""

import os
import signal

import tamis


class Broken(tamis.Fisher):
    """Fails as it is told."""

    def __init__(self, *, how="raise", n_features_to_select="all"):
        super().__init__(n_features_to_select=n_features_to_select)
        self.how = how

    def _score(self, X, y, weight):
        if self.how == "die":
            os._exit(9)
        if self.how == "exit":
            raise SystemExit(3)
        raise RuntimeError("broken on purpose")


class Stopped(tamis.Fisher):
    """Makes nothing of a Ctrl-C, as selectors that keep what they have."""

    def _score(self, X, y, weight):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return super()._score(X, y, weight)
        raise AssertionError("no interrupt came")
