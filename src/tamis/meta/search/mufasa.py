"""Mufasa: a stochastic local search of the meta-features for the properties of good features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tamis._runtime.seeds import stream
from tamis._validation import Constraint, Number
from tamis.meta.search._set_search import LIMITS, SetSearch
from tamis.meta.search._set_task import SearchRun, SetTask


@dataclass(kw_only=True, eq=False, repr=False)
class Mufasa(SetSearch):
    """Search the space of meta-features for a point where good sets of features are drawn.

    At every step a set of random features with the properties of a point is drawn, measured and
    scored by cross-validation; the next point lies near the best one so far. No single feature
    is ever judged, so it suits spaces with more features than anyone could measure.

    Parameters
    ----------
    generator : Generator or None, default=None
        Draws and measures features, see :class:`~tamis.meta.Generator`. ``None`` is a
        :class:`~tamis.meta.ClusterGenerator` of the candidates, if `X` is a
        :class:`~tamis.meta.FeatureSource`.
    n_features_to_select, budget : int or None, float or None, default=None
        Features in a set, or the largest total cost of a set; exactly one of both is given.
    n_steps : int, default=50
        Steps of every restart.
    step : float, default=0.2
        Size of a move: deviation of the Gaussian noise, as a share of the width of a dimension.
    decay : float, default=1.0
        The move after step j has the size ``step * decay ** j``.
    patience, tol : int or None, default=None; float, default=0.0
        End after `patience` steps in a row without an improvement of the quality by more than
        `tol`; ``None`` never ends early.
    start : dict or None, default=None
        First point; ``None`` draws one at random for every restart.
    n_restarts : int, default=1
        Independent searches; the best set of all is kept.
    proposals_per_step : int, default=1
        Sets tried at a step, each at a point of its own near the best; threads share them.
    estimator : estimator or None, default=None
        What is trained to score a set. ``None`` is a fast linear SVM (squared hinge, each class
        against the rest, the problem of ``LinearSVC``) on centred columns, missing cells at the
        mean; columns of floats are also divided by their deviation, integers and bools are not.
    cv : int, splitter or iterable, default=2
        Folds; an int means shuffled ones, stratified for classifiers. All sets see the same.
    scoring : str, callable or None, default=None
        As in scikit-learn; ``None`` is the estimator's own: accuracy, or R^2.
    redraw_constant : bool, default=True
        Whether features that never vary on `X` are left out and others drawn in their place, as
        long as the limit allows; ``False`` keeps them, as the paper seems to do. A generator with
        a method ``telling(columns)`` decides itself which features vary enough.
    checkpoint : str, path or None, default=None
        File that keeps the history; an interrupted fit resumes from it, to the same result.
    random_state : int, RandomState or None, default=None
        Seed of all draws and of the folds.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    best_point_, best_score_ : dict, float
        Meta-features of the best set, and its quality, which is too good to be true: see Notes.
    features_, n_selected_, cost_ : object, int, float
        The best set, as the generator drew it, its size and total cost.
    meta_ : ndarray of shape (n_selected, n_meta)
        Meta-features of every feature in it.
    history_ : list of dict
        For every set: restart, step, proposal, point, quality, accepted, n_features, cost, seconds,
        failure (None, or why it could not be scored).
    n_steps_, status_ : int, {"n_steps", "patience", "stopped"}
        Steps taken, all restarts together, and why it ended.
    n_measured_ : int
        Features measured; of a source, the candidates measured in this fit.
    support_ : ndarray of bool of shape (n_candidates,)
        The chosen candidates, if features are chosen from a source.
    generator_ : Generator
        The generator used.

    Notes
    -----
    A step costs one draw, one measurement and `cv` trainings. With n rows in a fold and d
    features, a training of the default SVM takes O(n^2 d) for the inner products and about ten
    Cholesky factors of the rows inside the margin for each class.

    `best_score_` was chosen for being large. To learn how good the features are, `transform` rows
    that the search has not seen, and test on those. Its excess grows with the logarithm of the
    number of steps only, see :mod:`tamis.bounds`.

    This is Algorithm 3 of the paper; see :doc:`/families/mufasa` for departures from it. A set
    that equals the best is accepted, as printed. A set that cannot be drawn or measured is passed
    over, with a warning at the end.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, ClusterGenerator, Mufasa
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> depth = np.repeat([1.0, 2.0, 3.0, 4.0], 25)  # candidates of depth 3 tell the classes
    >>> X = rng.normal(size=(100, 100)) + np.outer(y, depth == 3)
    >>> source = ArraySource(X, depth[:, None])
    >>> search = Mufasa(generator=ClusterGenerator(source, n_clusters=4, random_state=0),
    ...                 n_features_to_select=10, n_steps=20, random_state=0)
    >>> float(search.fit(source, y).meta_.mean())
    3.0
    """

    n_steps: int = 50
    step: float = 0.2
    decay: float = 1.0
    patience: int | None = None  # type: ignore[assignment]
    tol: float = 0.0
    start: dict[str, Any] | None = None
    n_restarts: int = 1
    proposals_per_step: int = 1
    redraw_constant: bool = True
    checkpoint: Any = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        **LIMITS,
        "n_steps": Number(int, low=1),
        "step": Number(float, low=0, open_high=True),
        "decay": Number(float, low=0, high=1, open_low=True),
        "patience": Number(int, low=1, or_none=True),
        "tol": Number(float, low=0),
        "n_restarts": Number(int, low=1),
        "proposals_per_step": Number(int, low=1),
    }

    def _point(self, task: SetTask, restart: int, run: SearchRun, proposal: int) -> dict[str, Any]:
        """Where a set is drawn: u_0 at first, then near u_best (Algorithm 3, steps 1 and 2d)."""
        space = task.generator.space
        base = run.best.point if run.best else self.start
        if base is None:
            base = space.sample(stream(task.seed, restart, 0, 0, 0))
        if run.n_steps == 0 and proposal == 0:
            return space.check(base)
        rng = stream(task.seed, restart, run.n_steps + 1, proposal, 0)
        return space.near(base, rng, self.step * self.decay**run.n_steps)
