"""RandomSearch: the best of some sets drawn without guidance, the yardstick of Mufasa."""

from __future__ import annotations

from typing import Any, ClassVar

from tamis._validation import Constraint, Number
from tamis.meta.search._set_search import LIMITS, SetSearch


class RandomSearch(SetSearch):
    """Draw sets of features over all values of the meta-features, and keep the best.

    Every feature of a set has meta-features of its own, drawn at random. Quality, budget and
    number of sets are those of :class:`~tamis.meta.Mufasa`, so that the difference between both
    is what the meta-features contribute.

    Parameters
    ----------
    generator, n_features_to_select, budget
        As in :class:`~tamis.meta.Mufasa`.
    n_steps : int, default=50
        Number of sets.
    estimator, cv, scoring, redraw_constant, checkpoint, random_state, n_jobs
        As in :class:`~tamis.meta.Mufasa`.

    Attributes
    ----------
    features_, n_selected_, cost_, meta_, best_score_, history_, n_measured_, support_, generator_
        As in :class:`~tamis.meta.Mufasa`.
    best_point_ : None
        The features of a set have no point in common; see `meta_`.

    Notes
    -----
    A generator may offer ``draw_any(rng, *, n_features=None, budget=None)``, which draws a set over
    all its features. Otherwise each feature comes from a point drawn uniformly from the space;
    under a budget, features that no longer fit are passed over, until twenty in a row did not fit.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376, section 6.2 ("Rand Search").

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, RandomSearch
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> source = ArraySource(rng.normal(size=(100, 40)), np.arange(40.0)[:, None])
    >>> search = RandomSearch(n_features_to_select=5, n_steps=10, random_state=0).fit(source, y)
    >>> search.transform(source).shape
    (100, 5)
    """

    _draws_anywhere: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {**LIMITS, "n_steps": Number(int, low=1)}

    def __init__(
        self,
        *,
        generator: Any = None,
        n_features_to_select: int | None = None,
        budget: float | None = None,
        n_steps: int = 50,
        estimator: Any = None,
        cv: Any = 2,
        scoring: Any = None,
        redraw_constant: bool = True,
        checkpoint: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.generator = generator
        self.n_features_to_select = n_features_to_select
        self.budget = budget
        self.n_steps = n_steps
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.redraw_constant = redraw_constant
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
