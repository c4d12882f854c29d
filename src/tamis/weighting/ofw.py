"""OFW: optimal feature weighting, a probability over columns learned by stochastic gradient."""

from __future__ import annotations

import copy
import logging
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tamis._base import Scores, WeightedSelector
from tamis._columns import centred_columns
from tamis._facts import SelectorFacts
from tamis._rows import distinct_rows
from tamis._runtime.fingerprint import fingerprint
from tamis._runtime.seeds import draw_seeds
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.data.labels import check_two_classes, check_weighted_classes
from tamis.data.partitioned import CLUSTER
from tamis.exceptions import InputError
from tamis.passes.dask.client import as_address
from tamis.weighting._distribution import Material, Workers, on_workers
from tamis.weighting._estimators import PARAMS, PATH, Task, check_estimator_choice
from tamis.weighting._learning import (
    PROCESSES,
    Learning,
    Run,
    Settings,
    default_schedule,
    load_runs,
    save_runs,
)
from tamis.weighting._preselection import preselect

_log = logging.getLogger("tamis")

Floats = NDArray[np.float64]
# Seconds between two writes of the checkpoint, and between two lines of the log.
CHECKPOINT_SECONDS, LOG_SECONDS = 5.0, 5.0
# Parameters that may differ when a fit is resumed.
NOT_IN_CHECKPOINT = (
    "checkpoint", "cluster", "max_iter", "tol", "n_features_to_select", "n_jobs", "random_state",
    "warm_start",
)  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class OFW(WeightedSelector):
    """Optimal feature weighting: how often a column should be drawn to make few errors.

    At every step some columns are drawn from a probability over them, a classifier is trained on
    one bootstrap sample of the rows and tested on another, and the probability moves along the
    gradient that this error estimates. Columns that help in the company of others gain weight, so
    it suits problems where no column is good alone, and any classifier.

    Parameters
    ----------
    estimator : {"svm", "nn", "lda", "cart"} or classifier, default="svm"
        What is trained on the drawn columns. The words are fast built-in models: a linear SVM,
        nearest neighbours, a linear discriminant, a small tree. Any scikit-learn classifier works.
    estimator_params : dict or None, default=None
        Settings of a built-in model: ``C``, ``loss``, ``tol``, ``max_iter`` of ``"svm"``,
        ``n_neighbors`` and ``metric`` of ``"nn"``, ``shrinkage`` of ``"lda"``, ``max_depth`` and
        ``min_samples_leaf`` of ``"cart"``.
    subset_size : int or None, default=None
        Columns drawn at a time, with replacement; ``None`` is the root of their number.
    method : {"riemannian", "euclidean", "diffusion"}, default="riemannian"
        How the probability moves.
    step, step_offset : float or None, default=None
        Step i has the size ``step / (i + step_offset)``; ``None`` derives both from the number of
        columns and `subset_size`, see Notes.
    sample_size : int or None, default=None
        Rows in each bootstrap sample; ``None`` is 100, or as many as there are different ones.
    draws_per_step : int, default=1
        Draws whose gradients are averaged in a step; threads share them.
    max_iter : int, default=20000
        Most steps.
    tol : float or None, default=None
        The end: no weight moved by more in the last tenth of the steps. ``None`` is a fiftieth of
        the largest weight.
    baseline : {"mean", None}, default="mean"
        What is taken off the error: the mean of those before, which leaves the expected move and
        much less noise; ``None`` is the paper as printed.
    noise : float, default=1e-6
        Variance of the diffusion.
    preselect : float, int, selector or None, default=None
        Columns that take part at all: those with a Fisher score above a float, so many with the
        highest Fisher scores, or those that a selector keeps.
    metric : {"error", "balanced_error"}, default="error"
        Share of wrong predictions, or its mean over the classes.
    multi_class : {"auto", "direct", "one_vs_all"}, default="auto"
        With more than two classes: predict them directly, or average the errors of one class
        against the others. ``"auto"`` is ``"one_vs_all"`` for ``"svm"``, else ``"direct"``.
    scale : bool, default=True
        Centre the columns and divide by their deviation first.
    n_restarts : int, default=1
        Independent runs; weights are averaged, and `weights_spread_` is their standard deviation.
    warm_start : bool, default=False
        Resume from the weights of the last fit.
    checkpoint : str, path or None, default=None
        File that keeps the state; an interrupted fit resumes from it, to the same result.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="elbow"
        The cutoff; see :mod:`tamis.cutoff`. ``Mass(0.9)`` keeps nine tenths of the probability.
    random_state : int, RandomState or None, default=None
        Seed of all draws.
    n_jobs : int or None, default=None
        Threads over the draws of a step; ``None`` uses all cores. The result does not depend on it.
    cluster : str, int, Client or None, default=None
        Workers of Dask that train and test: the address of a scheduler, a number of processes to
        start, or a client or cluster object, which clones share and of which a pickle keeps the
        address. Each gets the table once; then restarts go side by side, or the draws of a step,
        where that saves time. ``None`` and ``"threads"`` mean `n_jobs` threads of this process. The
        result does not depend on it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        The probability; sums to 1. Also in `scores_`.
    weights_spread_ : ndarray of shape (n_features,)
        Standard deviation over the restarts; 0 with one.
    energy_, energy_error_, energy_evaluations_ : ndarray of shape (n_points,)
        Mean error of about 200 evaluations at a time, its standard error, and how many there were
        up to then; with restarts, the mean over them.
    entropy_ : float
        Of the weights, in bits; at most log2 of the number of columns.
    n_iter_, n_evaluations_ : int
        Steps and trained classifiers, all restarts together.
    status_ : str
        Why it ended: "settled", "max_iter", "left the simplex" or "stopped".
    subset_size_, sample_size_, step_, step_offset_ : int or float
        The values used.
    weights_path_, path_evaluations_ : ndarray of shape (n_points, n_features), list
        Weights on the way, in single precision, of the first restart.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    scores_, order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    With n columns and k drawn, ``step_offset = max(120 n / sqrt(k), 1000)``, and `step` is that
    times 0.5 (Riemannian) or 0.125 / n^2 (Euclidean, diffusion). A step costs `draws_per_step`
    trainings, and O(n) for the update (Riemannian, diffusion: every weight moves) or O(k log n)
    (Euclidean). Missing cells are at the mean of their column. Redundant columns share the weight
    that one of them would have.

    References
    ----------
    Gadat, S. and Younes, L. (2007). A stochastic algorithm for feature selection in pattern
    recognition. Journal of Machine Learning Research 8, 509-547.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import OFW
    >>> data = load_iris(as_frame=True)
    >>> selector = OFW(subset_size=2, max_iter=2000, n_features_to_select=2, random_state=0)
    >>> selector.fit(data.data, data.target).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    estimator: Any = "svm"
    estimator_params: dict[str, Any] | None = None
    subset_size: int | None = None
    method: str = "riemannian"
    step: float | None = None
    step_offset: float | None = None
    sample_size: int | None = None
    draws_per_step: int = 1
    max_iter: int = 20000
    tol: float | None = None
    baseline: str | None = "mean"
    noise: float = 1e-6
    preselect: Any = None
    metric: str = "error"
    multi_class: str = "auto"
    scale: bool = True
    n_restarts: int = 1
    warm_start: bool = False
    checkpoint: Any = None
    n_features_to_select: Any = "elbow"
    random_state: Any = None
    n_jobs: int | None = None
    cluster: Any = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Probability of drawing the feature so that models on the drawn subsets err least.",
        tasks=("classification",),
        cost="steps (model + n)",
        reference="Gadat and Younes 2007",
        scope="jointly",
        redundancy="shared among copies",
        nonlinear="depends on the model",
    )

    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "subset_size": Number(int, low=1, or_none=True),
        "method": Choice(tuple(PROCESSES)),
        "step": Number(float, low=0, open_low=True, or_none=True),
        "step_offset": Number(float, low=0, or_none=True),
        "sample_size": Number(int, low=2, or_none=True),
        "draws_per_step": Number(int, low=1),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0, or_none=True),
        "baseline": Choice(("mean", None)),
        "noise": Number(float, low=0),
        "preselect": Custom(
            lambda value: (
                Number(float, or_none=True).allows(value)
                or (hasattr(value, "fit") and hasattr(value, "get_support"))
            ),
            "a number, a selector or None",
        ),
        "metric": Choice(("error", "balanced_error")),
        "multi_class": Choice(("auto", "direct", "one_vs_all")),
        "scale": Choice((True, False)),
        "n_restarts": Number(int, low=1),
        "warm_start": Choice((True, False)),
        "checkpoint": PATH,
        "estimator_params": PARAMS,
        "n_jobs": N_JOBS,
        "cluster": CLUSTER,
    }

    def __sklearn_clone__(self) -> OFW:
        # A client or a cluster cannot be copied, and a second one is not wanted.
        bare = copy.copy(self)
        bare.cluster = None
        twin: OFW = super(OFW, bare).__sklearn_clone__()
        twin.cluster = self.cluster
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "cluster": as_address(self.cluster)}

    def _forget(self) -> None:
        super()._forget()
        if not self.warm_start:
            self.__dict__.pop("_runs", None)

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        who = type(self).__name__
        check_estimator_choice(self.estimator, self.estimator_params, who)
        self.classes_, codes = check_weighted_classes(y, weight, X.shape[0], who)
        check_two_classes(self.classes_, who)
        constant = self._find_constant(X, weight)
        part = preselect(self, X, y, codes, weight, ~constant)
        learning, material = self._learning(X, codes, weight, part)
        try:
            with on_workers(self.cluster, material) as workers:
                runs = self._learn(learning, part, constant.size, workers)
        except KeyboardInterrupt:
            if hasattr(self, "weights_"):
                where = f"after {self.n_evaluations_} evaluations; weights_ are those of then"
                self._keep_unfinished(self.weights_, constant, where)
            raise
        for run in runs:
            if run.status == "left the simplex":
                warn(
                    f"OFW: the Euclidean method left the simplex at step {run.n_iter + 1}, where a "
                    "weight would have become negative, and stopped. weights_ are those before "
                    "that step. Take method='riemannian', or a step below "
                    f"{self.step_:.3g} (with draws_per_step above {self.draws_per_step})."
                )
        return self.weights_, constant

    def _learning(
        self, X: Any, codes: NDArray[np.int32], weight: Floats | None, part: NDArray[np.intp]
    ) -> tuple[Learning, Material]:
        """Everything about the runs but where they are."""
        rows = distinct_rows(X, codes, weight)
        n_part = part.size
        self.subset_size_ = min(self.subset_size or max(1, round(math.sqrt(n_part))), n_part)
        self.sample_size_ = self.sample_size or max(2, min(rows.rows.size, 100))
        step, offset = default_schedule(self.method, n_part, self.subset_size_)
        if self.step_offset is not None:
            step, offset = step / offset * max(self.step_offset, 1.0), self.step_offset
        self.step_, self.step_offset_ = step if self.step is None else self.step, offset
        centred = centred_columns(X, part, weight, scale=self.scale)
        task = Task(
            np.ascontiguousarray(centred[rows.rows].T), codes[rows.rows], self.classes_.size,
            self.metric == "balanced_error", self._is_one_vs_all(),
        )  # fmt: skip
        is_seeded = isinstance(self.random_state, int | np.integer)
        seed = int(self.random_state) % 2**31 if is_seeded else 0
        material = Material(
            self.estimator, self.estimator_params, task, type(self).__name__, seed, rows.weight
        )
        settings = Settings(
            self.method, self.subset_size_, self.sample_size_, self.draws_per_step, self.step_,
            self.step_offset_, self.noise, self.baseline == "mean", self.max_iter, self.tol,
        )  # fmt: skip
        self._fit_name = ""
        if self.checkpoint is not None:
            params = self.get_params(deep=False).items()
            fixed = {key: repr(value) for key, value in params if key not in NOT_IN_CHECKPOINT}
            known = {**fixed, "seed": self.random_state if is_seeded else None}
            self._fit_name = fingerprint(known, task.values, task.codes, rows.weight)
        errors = material.errors(self.n_jobs)
        return Learning(settings, errors, rows.rows.size, rows.weight), material

    def _is_one_vs_all(self) -> bool:
        if self.multi_class == "auto":
            return self.estimator == "svm"
        wanted = self.multi_class == "one_vs_all"
        if wanted and isinstance(self.estimator, str) and self.estimator != "svm":
            raise InputError(
                f"{type(self).__name__}: multi_class must be 'auto' or 'direct' with estimator="
                f"{self.estimator!r}, which tells all classes apart by itself, got 'one_vs_all'."
            )
        return wanted

    def _learn(
        self, learning: Learning, part: NDArray[np.intp], n_columns: int, workers: Workers | None
    ) -> list[Run]:
        """All runs to their end; what is learned so far is in the attributes all the time."""
        runs = self._begin(part.size, learning)
        budget = sum(learning.n_chunks(run) for run in runs)
        alone = (run for start in runs for run in learning.chunks(start))
        chunks = alone if workers is None else workers.chunks(learning, runs)
        saved = logged = time.monotonic()
        try:
            for run in self.steps("learning", chunks, max(budget, 1)):
                self._publish(runs, part, n_columns)
                if time.monotonic() - logged > LOG_SECONDS:
                    logged = time.monotonic()
                    _log.info(
                        "OFW: seed %d, %d evaluations, error %.4f +- %.4f",
                        run.seed, run.n_evaluations, run.energy[-1], run.energy_error[-1],
                    )  # fmt: skip
                if self.checkpoint is not None and time.monotonic() - saved > CHECKPOINT_SECONDS:
                    save_runs(Path(self.checkpoint), self._fit_name, runs)
                    saved = time.monotonic()
        finally:
            if self.checkpoint is not None:
                save_runs(Path(self.checkpoint), self._fit_name, runs)
        for run in runs:
            run.status = "stopped" if run.status == "running" else run.status
        self._publish(runs, part, n_columns)
        if self.warm_start:
            self._runs = runs
        return runs

    def _progress_note(self) -> str:
        """Shown by a progress bar: the current error."""
        energy: Any = getattr(self, "energy_", [])
        return f"error {energy[-1]:.3f}" if len(energy) else ""

    def _begin(self, n_columns: int, learning: Learning) -> list[Run]:
        """Runs at their start, from the checkpoint, or from the last fit."""
        who = type(self).__name__
        path = None if self.checkpoint is None else Path(self.checkpoint)
        if path is not None and path.exists():
            runs = load_runs(path, self._fit_name, who, self.n_restarts, n_columns)
        elif getattr(self, "_runs", None):
            runs = self._runs
            if runs[0].weights.size != n_columns or len(runs) != self.n_restarts:
                raise InputError(
                    f"{who}: expected {runs[0].weights.size} columns and {len(runs)} restarts as "
                    f"in the last fit, got {n_columns} and {self.n_restarts}. Set warm_start=False."
                )
            for run in runs:
                run.status = "running"
            learning.settings = learning.settings._replace(
                max_iter=self.max_iter + max(run.n_iter for run in runs)
            )
        else:
            random = check_random_state(self.random_state)
            seeds = draw_seeds(random, self.n_restarts)
            runs = [Run.begin(n_columns, int(seed)) for seed in seeds]
        for run in runs:
            if run.status in ("max_iter", "stopped"):
                run.status = "running"
        return runs

    def _publish(self, runs: list[Run], part: NDArray[np.intp], n_columns: int) -> None:
        """Attributes from the runs, started or not."""
        weights = np.array([run.weights for run in runs])
        self.weights_, self.weights_spread_ = np.zeros(n_columns), np.zeros(n_columns)
        self.weights_[part] = weights.mean(axis=0) / weights.mean(axis=0).sum()
        self.weights_spread_[part] = weights.std(axis=0, ddof=1) if len(runs) > 1 else 0.0
        positive = self.weights_[self.weights_ > 0]
        self.entropy_ = float(-(positive * np.log2(positive)).sum())
        self.n_iter_ = sum(run.n_iter for run in runs)
        self.n_evaluations_ = sum(run.n_evaluations for run in runs)
        self.status_ = next((run.status for run in runs if run.status != "settled"), "settled")
        begun = [run for run in runs if run.energy]
        shortest = min((len(run.energy) for run in begun), default=0)
        energy = np.array([run.energy[:shortest] for run in begun])
        squares = np.array([run.energy_error[:shortest] for run in begun]) ** 2
        self.energy_ = energy.mean(axis=0)
        self.energy_error_ = np.sqrt(squares.sum(axis=0)) / len(begun)
        self.energy_evaluations_ = np.sum([run.evaluations[:shortest] for run in begun], axis=0)
        self.path_evaluations_ = list(runs[0].path_evaluations)
        self.weights_path_ = np.zeros((len(self.path_evaluations_), n_columns), np.float32)
        self.weights_path_[:, part] = runs[0].path
