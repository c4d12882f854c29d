"""SourceRandom: candidates drawn at random, without measuring any."""

from __future__ import annotations

from typing import Any, ClassVar

from tamis._validation import Constraint
from tamis.meta.sources._selector import COUNT_OR_SHARE, Measuring, SourceSelector


class SourceRandom(SourceSelector):
    """Random selection among the candidates of a source: the baseline of :class:`MFPFS`.

    Nothing is measured in `fit`. What a method that measures gains has to be gained over this.

    Parameters
    ----------
    n_features_to_select, random_state
        As in :class:`MFPFS`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_candidates,)
        Number of candidates for the first one drawn, 1 for the last.
    n_measured_, cost_, measured_, failed_, history_
        As of :class:`MFPFS`; nothing is measured.
    order_, ranking_, support_, n_selected_, n_features_in_, feature_names_in_
        As for every selector.

    Notes
    -----
    Smaller selections with the same seed are part of larger ones. `transform` measures the
    selected candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, SourceRandom
    >>> source = ArraySource(np.zeros((5, 100)), np.arange(100.0).reshape(-1, 1))
    >>> selector = SourceRandom(n_features_to_select=3, random_state=0).fit(source)
    >>> selector.n_selected_, selector.n_measured_
    (3, 0)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"n_features_to_select": COUNT_OR_SHARE}
    _needs_target: ClassVar[bool] = False

    def __init__(self, *, n_features_to_select: float = 0.1, random_state: Any = None):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        self._rank(random.permutation(self.n_features_in_), count)
