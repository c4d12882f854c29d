"""Investigation: the steps from a problem to an answer, within a time limit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.seeds import seed_of
from tamis.auto import evidence
from tamis.auto.choosing import Choice, choose
from tamis.auto.expected import (
    ALL,
    GUESS,
    RANDOM,
    SELECTED,
    Fold,
    FoldResult,
    expected_scores,
    outer_folds,
    run_fold,
)
from tamis.auto.inspection import Inspection
from tamis.auto.page import LABELS, named, shown_p, verdict
from tamis.auto.planning import Plan
from tamis.auto.problem import Floats, Problem, Rows
from tamis.auto.record import Answer, Baseline, FeatureEvidence
from tamis.evaluation.intervals import effective_rows
from tamis.evaluation.run.units import one_thread

NOT_MEASURED = (np.nan, np.nan, np.nan)
BASELINES = ((ALL, "all features"), (RANDOM, "random features"), (GUESS, "guessing"))
# Folds of the expected score end here, as shares of the time limit, then half samples.
SHARE_FOR_FOLDS, SHARE_FOR_HALVES = 0.7, 0.9


@dataclass
class Investigation:
    """What is asked, and what is known so far."""

    problem: Problem
    names: list[str]
    classes: NDArray[Any] | None
    inspection: Inspection
    plan: Plan
    level: float
    seed: int
    time_limit: float | None
    begun: float
    choice: Choice | None = None
    order: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    p_values: dict[str, float] = field(default_factory=dict)
    marginal: evidence.Marginal | None = None
    results: list[FoldResult] = field(default_factory=list)
    n_folds: int = 0
    frequencies: Any = None
    e_values: Floats | None = None
    not_tested: str = ""
    interrupted: bool = False

    def run(self, steps: Any) -> Answer:
        """All steps; stopped by hand, the answer is made of what is known by then."""
        try:
            with one_thread(()):
                for work in steps("answer", self._steps(), 5):
                    work()
        except KeyboardInterrupt:
            if self.choice is None:
                raise
            self.interrupted = True
        return self.answer()

    def _steps(self) -> Iterator[Any]:
        yield self._choose
        yield self._test_alone
        yield self._score_folds
        if self.found:
            yield self._repeat_selection
            yield self._test_beside_others

    @property
    def count(self) -> int:
        """Number of features selected."""
        return self.choice.n_features if self.choice is not None and self.found else 0

    @property
    def p_value(self) -> float:
        """Of the hypothesis that nothing is related to the target: Bonferroni over the tests."""
        found = self.p_values.values()
        return min(1.0, len(found) * min(found)) if found else 1.0

    @property
    def found(self) -> bool:
        """Whether anything beats chance."""
        return self.p_value <= self.level

    def _choose(self) -> None:
        problem, seed = self.problem, seed_of(self.seed, "whole")
        choice = choose(problem, self.plan.methods, self.plan.inner, seed)
        self.order = choice.method.rank(problem, problem.rows, problem.X.shape[1], seed)
        # Fewer may be related to the target than did best on folds.
        self.choice = choice._replace(n_features=min(choice.n_features, self.order.size))

    def _test_alone(self) -> None:
        self.marginal = evidence.marginal_test(self.problem, self.seed)
        self.p_values["single features"] = self.marginal.p_value
        tries = any(method.name == "ReliefF" for method in self.plan.methods)
        if tries and self.problem.groups is None:  # its test takes rows one by one
            self.p_values["interactions"] = evidence.interaction_test(self.problem, self.seed)

    def _score_folds(self) -> None:
        folds = outer_folds(self.problem, self.plan.n_folds, self.plan.n_repeats, self.seed)
        self.n_folds = len(folds)
        for result in self._run_folds(folds):
            self.results.append(result)
            if self._is_late(SHARE_FOR_FOLDS):
                break
        if len(self.results) * self.plan.n_repeats < self.n_folds:  # too few rows for a test
            return
        found = expected_scores(self.problem, self.results).difference(SELECTED, GUESS)
        # One-sided: worse than guessing is no signal.
        self.p_values["expected score"] = (
            found.p_value / 2 if found.mean > 0 else 1.0 - found.p_value / 2
        )

    def _run_folds(self, folds: list[Fold]) -> Iterator[FoldResult]:
        plan = self.plan
        arguments = [
            (self.problem, plan.methods, plan.inner, fold, self.seed, plan.bytes_left)
            for fold in folds
        ]
        if plan.n_workers == 1:
            yield from (run_fold(*each) for each in arguments)
            return
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=plan.n_workers, return_as="generator")
        yield from work(delayed(_run_fold)(*each) for each in arguments)

    def _repeat_selection(self) -> None:
        if self.choice is not None and not self._is_late(1.0):
            self.frequencies = evidence.frequencies(
                self.problem,
                self.choice,
                self.plan.n_pairs,
                self.seed,
                lambda: self._is_late(SHARE_FOR_HALVES),
            )

    def _test_beside_others(self) -> None:
        if self._is_late(1.0):
            self.not_tested = "the time was up"
            return
        found = evidence.conditional_test(self.problem, self.level, self.seed)
        self.e_values, self.not_tested = found

    def _is_late(self, share: float) -> bool:
        if self.time_limit is None:
            return False
        return time.monotonic() - self.begun > share * self.time_limit

    def answer(self) -> Answer:
        """The record of what is known."""
        assert self.choice is not None
        score, baselines = self._scores()
        n_rows, n_features = self.problem.X.shape
        q_values = self.marginal.q_values if self.marginal else np.ones(n_features)
        answer = Answer(
            verdict="",
            found=self.found,
            p_value=self.p_value,
            features=tuple(self._features(q_values)),
            metric=self.problem.metric.name,
            expected_score=score[0],
            low=score[1],
            high=score[2],
            baselines=baselines,
            method=self.choice.method.name,
            model=self.choice.model.name,
            n_best=self.choice.n_features,
            task=self.problem.task,
            n_rows=n_rows,
            n_features=len(self.names),
            level=self.level,
            n_related=int((q_values <= self.level).sum()),
            warnings=tuple(self._warnings()),
            left_out=tuple(self._left_out()),
            steps=tuple(self._done()),
            seconds=time.monotonic() - self.begun,
        )
        return replace(answer, verdict=verdict(answer))

    def _scores(self) -> tuple[tuple[float, float, float], tuple[Baseline, ...]]:
        if not self.results:
            return NOT_MEASURED, ()
        problem, found = self.problem, expected_scores(self.problem, self.results)
        sign = 1.0 if problem.metric.greater_is_better else -1.0
        tested = np.unique(np.concatenate([each.rows for each in self.results]))
        ahead = found._replace(scores=sign * found.scores, rows=sign * found.rows)
        here = ahead.interval(
            SELECTED, problem.metric, effective_rows(problem.metric, problem.y[tested])
        )
        baselines = []
        for position, name in BASELINES:
            if position == ALL and not self._tried_all:
                continue
            gain = found.difference(SELECTED, position)
            score = sign * float(found.scores[position])
            baselines.append(Baseline(name, score, gain.mean, gain.low, gain.high, gain.p_value))
        return (here.score, here.low, here.high), tuple(baselines)

    @property
    def _tried_all(self) -> bool:
        return all(each.tried_all for each in self.results)

    def _features(self, q_values: Floats) -> Iterator[FeatureEvidence]:
        columns = self.order[: self.count]
        if not columns.size or self.marginal is None:
            return
        effects = evidence.describe_effects(self.problem, columns, self.marginal, self.classes)
        copies = evidence.near_copies(self.problem, columns)
        often = self.frequencies
        for i, j in enumerate(columns.tolist()):
            yield FeatureEvidence(
                feature=self.names[j],
                index=j,
                frequency=np.nan if often is None else float(often.share[j]),
                frequency_low=np.nan if often is None else float(often.low[j]),
                frequency_high=np.nan if often is None else float(often.high[j]),
                q_value=float(q_values[j]),
                e_value=None if self.e_values is None else float(self.e_values[j]),
                effect=effects[i],
                replaceable_by=[(self.names[other], r) for other, r in copies[i]],
            )

    def _warnings(self) -> Iterator[str]:
        if self.interrupted:
            yield f"stopped before the end; {len(self.results)} of {self.n_folds} folds are scored."
        elif len(self.results) < self.n_folds:
            yield f"the time was up after {len(self.results)} of {self.n_folds} folds."
        if names := self.inspection.like_target:
            yield f"{named(names)} can be read off the target, and may not be known for new rows."
        selected = {self.names[j] for j in self.order[: self.count]}
        if names := [name for name in self.inspection.outlying if name in selected]:
            yield (
                f"single values stretch the range of {named(names)} to more than 20 times the "
                "interquartile range; check whether they are measurements."
            )

    def _left_out(self) -> Iterator[tuple[str, str]]:
        for name in self.inspection.identifiers:
            yield name, "they number the rows"
        for name in self.inspection.constant:
            yield name, "they never vary"

    def _done(self) -> Iterator[str]:
        problem, plan = self.problem, self.plan
        assert self.choice is not None
        n_rows, n_features = problem.X.shape
        text = f"Table: {n_rows:,} rows, {n_features:,} features, {problem.task}"
        if repeated := self.inspection.repeated:
            text += f"; equal to an earlier feature: {named(repeated)}"
        if share := self.inspection.missing_share:
            text += f"; {100 * share:.2g}% of the cells are missing"
        yield text + "."
        tests = ", ".join(f"{name} {shown_p(p)}" for name, p in self.p_values.items())
        yield f"Against chance: {tests}; together {shown_p(self.p_value)}."
        tried = ", ".join(method.name for method in plan.methods)
        models = " and ".join(model.name for model in problem.models)
        yield f"Tried: {tried}; sets of features were judged by {models}."
        yield f"Chosen on all rows: {self.choice.method.name}, {self.choice.model.name}."
        if self.results:
            counts = sorted({each.n_features for each in self.results})
            span = _plural(counts[-1], "feature")
            if len(counts) > 1:
                span = f"{counts[0]} to {span}"
            methods = Counter(each.method for each in self.results)
            most = ", ".join(f"{name} {n}" for name, n in methods.most_common())
            metric = LABELS.get(problem.metric.name, problem.metric.name)
            yield (
                f"Expected {metric}: method, model and number of features were chosen anew on the "
                f"training rows of {_plural(len(self.results), 'fold')} ({span}; {most})."
            )
        if not self._tried_all:
            yield "All features were not tried together, for the memory it would take."
        for word, left_out in (("time", plan.too_slow), ("memory", plan.too_large)):
            if left_out:
                names = ", ".join(method.name for method in left_out)
                yield f"Not tried, for the {word} it would take: {names}."
        if self.found and self.not_tested:
            yield f"E-values were not computed: {self.not_tested}."


def _plural(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _run_fold(*arguments: Any) -> FoldResult:
    """One fold in a process of its own, which may have more threads."""
    with one_thread(()):
        return run_fold(*arguments)
