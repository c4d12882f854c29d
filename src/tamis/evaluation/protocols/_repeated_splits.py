"""RepeatedSplits: random splits, many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.evaluation._rows import draw_train
from tamis.evaluation.protocols._protocol import Parts, Protocol, check_count


@dataclass(frozen=True, eq=False)
class RepeatedSplits(Protocol):
    """Random splits, many times: the protocol of most papers on wide tables.

    Of classes, every split gets the same shares. A class of two or more rows has at least one
    row on either side; a class of a single row always stays among those learned from, and is
    never scored. Numbers are shuffled plainly.

    Parameters
    ----------
    n_splits : int, default=20
        How often.
    train_size : float, default=2/3
        Share of the rows to learn from.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from tamis.evaluation.protocols import RepeatedSplits
    >>> splits = RepeatedSplits().splits(None, ["a", "b"] * 15, True)
    >>> len(splits), splits[0].train.size, splits[0].test.size
    (20, 20, 10)
    """

    n_splits: int = 20
    train_size: float = 2 / 3
    random_state: int = 0

    def __post_init__(self) -> None:
        check_count(self, "n_splits", 1)
        share = Number(float, 0, 1, open_low=True, open_high=True)
        check_value(self.train_size, share, who=self.who, name="train_size")
        check_count(self, "random_state", 0)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        rng = np.random.default_rng(self.random_state)
        parts = []
        for _ in range(self.n_splits):
            train = draw_train(y, is_classes, self.train_size, rng)
            parts.append((np.flatnonzero(train), np.flatnonzero(~train)))
        return [f"split {i + 1}" for i in range(self.n_splits)], parts

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return (
            f"{self.n_splits} random splits, each with {self.train_size:.0%} of the rows to "
            "learn from and the rest to score, with equal shares of the classes if there are any "
            f"(seed {self.random_state})."
        )
