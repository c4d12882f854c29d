"""SetSearch: what the searches of sets of features share; draw, measure, score, keep the best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tamis._base import BaseSelector
from tamis._runtime.callbacks import CallbackSupportMixin, with_callbacks
from tamis._runtime.seeds import as_seed, first_child, stream
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Custom, Number, check_parameters
from tamis.exceptions import InputError
from tamis.meta.search._set_quality import SetQuality
from tamis.meta.search._set_task import SearchCheckpoint, SearchRun, SetTask, Trial
from tamis.meta.search.generators import ClusterGenerator, check_one_limit

LIMITS: dict[str, Constraint] = {
    "n_features_to_select": Number(int, low=1, or_none=True),
    "budget": Number(float, low=0, open_low=True, open_high=True, or_none=True),
    "cv": Custom(
        lambda cv: Number(int, low=2).allows(cv) or hasattr(cv, "split") or hasattr(cv, "__iter__"),
        "an int of at least 2, a splitter, or an iterable of (train, test)",
    ),
    "n_jobs": N_JOBS,
}
# Features in a row that do not fit the rest of a budget, after which the set is full.
MISSES = 20
# A budget would never be used up by features that cost nothing.
MOST = 1_000_000
# Parameters that may differ when a search is resumed.
NOT_IN_CHECKPOINT = ("checkpoint", "n_jobs", "n_steps", "patience", "random_state", "tol")


@dataclass(kw_only=True, eq=False, repr=False)
class SetSearch(TransformerMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the searches, with the parameters of all of them."""

    generator: Any = None
    n_features_to_select: int | None = None
    budget: float | None = None
    estimator: Any = None
    cv: Any = 2
    scoring: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = LIMITS
    # Whether features are drawn over all points of the space, not at one of them.
    _draws_anywhere: ClassVar[bool] = False
    # What a search without these parameters does.
    n_steps = n_restarts = proposals_per_step = 1
    patience, tol, redraw_constant, checkpoint = None, 0.0, False, None

    steps = BaseSelector.steps
    _forget = BaseSelector._forget

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Any:
        """Search, and keep the best set of features.

        Parameters
        ----------
        X : object
            What features are measured on, such as images; or a :class:`~tamis.meta.FeatureSource`.
        y : array-like of shape (n_samples,)
            The target.
        """
        check_parameters(self, self._constraints)
        self._forget()
        task = self._task(X, y)
        root = self._init_callback_context(max_subtasks=1)
        root.call_on_fit_task_begin(estimator=self, X=X, y=y)
        with task.quality:
            self._search(task)
        root.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Measure the chosen features, one column each, in the order of `features_`.

        Parameters
        ----------
        X : object
            Samples, in the form that the generator takes; after a fit on a source, that source,
            another one with the same candidates, or a table of them.
        """
        check_is_fitted(self, "features_")
        return np.asarray(self.generator_.measure(X, self.features_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the chosen candidates; else the name of the class and a number.

        Parameters
        ----------
        input_features : ignored
            For compatibility.
        """
        check_is_fitted(self, "features_")
        if hasattr(self.generator_, "names"):
            return np.asarray(self.generator_.names(self.features_), dtype=object)
        word = type(self).__name__.lower()
        return np.asarray([f"{word}{j}" for j in range(self.n_selected_)], dtype=object)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Mask or indices of the chosen candidates, after a fit on a source.

        Parameters
        ----------
        indices : bool, default=False
            Give indices, in ascending order, instead of a mask.
        """
        check_is_fitted(self, "features_")
        if not hasattr(self, "support_"):
            raise InputError(
                f"{type(self).__name__}: the features are made by the generator, not chosen among "
                "candidates, so there is no mask. See features_."
            )
        return np.flatnonzero(self.support_) if indices else self.support_

    def _steps_at_once(self, task: SetTask) -> int:
        """Where no step waits for the one before, threads take several."""
        return task.quality.tables_at_once if self._draws_anywhere else 1

    def _next_trials(self, task: SetTask, runs: list[SearchRun]) -> list[Trial]:
        """Take the next steps of every run that has not ended; all runs go in step."""
        return [
            Trial(restart, step, proposal, self._point(task, restart, run, proposal))
            for restart, run in enumerate(runs)
            if not run.ended
            for step in range(run.n_steps + 1, run.n_steps + 1 + self._steps_at_once(task))
            if step <= self.n_steps
            for proposal in range(self.proposals_per_step)
        ]

    def _point(self, task: SetTask, restart: int, run: SearchRun, proposal: int) -> Any:
        """Where a set is drawn; None where features have no point in common."""
        return None

    def _draw_set(self, task: SetTask, trial: Trial, factor: float) -> Any:
        """Set of a trial, from its own stream of random numbers."""
        rng, limit = stream(task.seed, *trial.place, 1), task.limit(factor)
        if self._draws_anywhere:
            return task.generator.draw_any(rng, **limit)
        return task.generator.draw(trial.point, rng, **limit)

    # Before the search.

    def _task(self, X: Any, y: Any) -> SetTask:
        who = type(self).__name__
        check_one_limit(self.n_features_to_select, self.budget, who, "n_features_to_select")
        checkpoint = SearchCheckpoint(self.checkpoint, who)
        seed = as_seed(self.random_state, who) if checkpoint.seed is None else checkpoint.seed
        self.generator_ = self._find_generator(X, seed)
        quality = SetQuality(
            y, self.estimator, self.cv, self.scoring, first_child(seed), self.n_jobs, who
        )
        checkpoint.begin(seed, self._settings(), X, quality.y)
        return SetTask(
            who, X, self.generator_, quality, self.n_features_to_select, self.budget, seed,
            checkpoint, bool(self.redraw_constant), self._draw_set,
        )  # fmt: skip

    def _find_generator(self, X: Any, seed: int) -> Any:
        generator = self.generator
        if generator is None and hasattr(X, "meta") and hasattr(X, "measure"):
            generator = ClusterGenerator(X, random_state=seed % 2**31)
        needed = ("space", "draw", "cost", "meta", "measure", "join")
        if isinstance(generator, type) or any(not hasattr(generator, name) for name in needed):
            what = repr(generator) if isinstance(generator, type) else type(generator).__name__
            raise InputError(
                f"{type(self).__name__}: expected a generator with space, draw, cost, meta, "
                f"measure and join (see tamis.meta.Generator), got {what}. Pass generator=..., or "
                "a FeatureSource as X."
            )
        needs_help = self._draws_anywhere and not hasattr(generator, "draw_any")
        return AnyPoint(generator) if needs_help else generator

    def _settings(self) -> dict[str, Any]:
        """What a search that resumes must have in common with the one in the checkpoint."""
        params = self.get_params(deep=False).items()
        fixed = {key: value for key, value in params if key not in NOT_IN_CHECKPOINT}
        # Without a whole number as seed, the one in the checkpoint is taken.
        given = self.random_state
        seed = int(given) if isinstance(given, int | np.integer) else None
        space = repr(self.generator_.space)
        settings = {**fixed, "who": type(self).__name__, "seed": seed, "space": space}
        if hasattr(self.generator_, "fingerprint"):
            settings["generator"] = self.generator_.fingerprint()
        return settings

    # The search.

    def _search(self, task: SetTask) -> None:
        """All rounds; the best so far is in the attributes all the time."""
        self.history_: list[dict[str, Any]] = []
        before = task.n_measured
        runs = [SearchRun() for _ in range(self.n_restarts)]
        try:
            n_rounds = -(-self.n_steps // self._steps_at_once(task))
            for _ in self.steps("search", self._rounds(task, runs), n_rounds):
                self._publish(task, runs, before)
                task.checkpoint.save(self.history_)
        except KeyboardInterrupt:
            if hasattr(self, "features_"):
                warn(
                    f"{type(self).__name__}: stopped after {len(self.history_)} sets; features_ is "
                    "the best of them."
                )
            raise
        if not hasattr(self, "features_"):
            reason = next((r["failure"] for r in self.history_ if r["failure"]), "no number scored")
            raise InputError(
                f"{type(self).__name__}: none of {len(self.history_)} sets could be drawn and "
                f"scored. The first reason: {reason}"
            )
        self._warn_of_shortfalls(task)

    def _rounds(self, task: SetTask, runs: list[SearchRun]) -> Iterator[None]:
        while trials := self._next_trials(task, runs):
            for trial, record, features in task.tried(trials):
                run = runs[trial.restart]
                record["accepted"] = run.offer(trial, record["quality"], features)
                self.history_.append(record)
            for restart, _ in dict.fromkeys((trial.restart, trial.step) for trial in trials):
                runs[restart].end_step(self.n_steps, self.patience, self.tol)
            yield

    def _publish(self, task: SetTask, runs: list[SearchRun], before: int | None) -> None:
        # Of restarts that end level the first is taken.
        run = max(runs, key=lambda run: run.quality)
        self.n_steps_ = sum(run.n_steps for run in runs)
        ends = {run.ended for run in runs}
        self.status_ = "stopped" if "" in ends else ends.pop() if len(ends) == 1 else "n_steps"
        self.n_measured_ = sum(record["n_features"] for record in self.history_)
        if before is not None:
            self.n_measured_ = (task.n_measured or 0) - before
        if run.best is None:
            return
        if run.features is None:  # known from a checkpoint, which holds no features
            run.features, _ = task.drawn(run.best)
        self.best_point_, self.best_score_ = run.best.point, run.quality
        self.features_ = run.features
        self.n_selected_ = len(run.features)
        self.cost_ = float(np.sum(task.generator.cost(run.features)))
        self.meta_ = np.asarray(task.generator.meta(run.features))
        n_candidates = getattr(task.generator, "n_candidates", None)
        if n_candidates is not None:
            self.support_ = np.zeros(n_candidates, dtype=bool)
            self.support_[np.asarray(run.features)] = True

    def _progress_note(self) -> str:
        """Shown by a progress bar: the best score so far."""
        best = getattr(self, "best_score_", None)
        return "" if best is None else f"best {best:.3f}"

    def _warn_of_shortfalls(self, task: SetTask) -> None:
        failed = [record for record in self.history_ if record["failure"]]
        who = type(self).__name__
        if failed:
            warn(
                f"{who}: {len(failed)} of {len(self.history_)} sets could not be drawn and "
                f"measured, and were passed over. The first reason: {failed[0]['failure']}"
            )
        wanted = self.n_features_to_select
        if wanted is not None and self.n_selected_ < wanted:
            warn(
                f"{who}: expected {wanted} features, got {self.n_selected_}, all that the "
                "generator could draw at the best point. Ask for fewer, or widen the generator."
            )
        borrowed = getattr(task.generator, "borrowed", None)
        if borrowed is not None and self.best_point_ is not None:
            count = borrowed(self.best_point_, self.features_)
            if count:
                warn(
                    f"{who}: the best cluster has too few candidates, so {count} of the "
                    f"{self.n_selected_} features come from the clusters nearest to it. Take fewer "
                    "clusters (n_clusters) for larger ones."
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags


class AnyPoint:
    """Generator of features that each come from a random point: a list of sets of one feature."""

    def __init__(self, generator: Any):
        self.generator, self.space = generator, generator.space

    def draw_any(
        self, rng: np.random.Generator, *, n_features: int = MOST, budget: float = math.inf
    ) -> list[Any]:
        """Draw features, each at a random point, until there are enough or the budget is used."""
        found: list[Any] = []
        misses = 0
        while len(found) < n_features and misses < MISSES and budget > 0:
            one = self.generator.draw(self.space.sample(rng), rng, n_features=1)
            cost = float(np.sum(self.generator.cost(one)))
            if len(one) == 0 or cost > budget:
                misses += 1
                continue
            found.append(one)
            budget -= cost
            misses = 0
        return found

    def cost(self, features: list[Any]) -> NDArray[np.float64]:
        return np.array([float(np.sum(self.generator.cost(one))) for one in features])

    def meta(self, features: list[Any]) -> NDArray[np.float64]:
        return np.concatenate([np.asarray(self.generator.meta(one)) for one in features])

    def measure(self, X: Any, features: list[Any]) -> NDArray[Any]:
        return np.hstack([np.asarray(self.generator.measure(X, one)) for one in features])

    def join(self, features: list[Any], chosen: ArrayLike) -> list[Any]:
        chosen = np.asarray(chosen)
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return [features[int(j)] for j in places]
