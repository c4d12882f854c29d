"""StabilitySelection: features that a selector chooses again and again on half samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Number, check_value
from tamis.certainty._half_moments import HalfMoments
from tamis.certainty._half_samples import HalfSamples
from tamis.certainty._rounds import Rounds
from tamis.certainty._stability_bounds import (
    ASSUMPTIONS,
    expected_false,
    least_threshold,
    most_per_half,
    on_grid,
)
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut

# The threshold for which the number per half sample is chosen if none is given.
USUAL_THRESHOLD = 0.75
# Points of the stability path.
N_POINTS = 12
# Scores nearer than this, relative to themselves, are tied.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class StabilitySelection(CertaintyRule):
    """Keep the features that the selector chooses on most half samples, with a bound on mistakes.

    The rows are split at random into two disjoint halves, again and again (complementary pairs).
    On each half the selector ranks all features, and its `n_per_half` best are chosen. A feature
    is selected if the share of half samples that choose it, its selection frequency, reaches
    `threshold`. The expected number of selected features that half samples choose rarely, that is,
    no more often than an average feature, is bounded whatever the selector and the data are.

    It is about the selector: whether it chooses the feature again on other rows. A feature that is
    chosen more often than the average need not be related to the target, and for unsupervised
    selectors, which are welcome, the target plays no part at all.

    Parameters
    ----------
    level : float, default=1.0
        Largest expected number of rarely chosen features among those selected, above 0. A level
        below 1 bounds the chance of selecting any of them, too.
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row; every stratum is split evenly. Classes always are.
    threshold : float or None, default=None
        Least selection frequency of a selected feature, in (0.5, 1]. ``None`` takes the least one
        at which the bound is at most `level`.
    n_per_half : int or None, default=None
        How many features are chosen on a half sample. ``None`` takes as many as `level` allows at
        `threshold`, or at a threshold of 0.75 if there is none, at least one.
    n_pairs : int, default=50
        Number of pairs of half samples; the selector is fitted twice as often.
    bound : {"unimodal", "r-concave", "meinshausen-buhlmann"}, default="unimodal"
        Which bound counts. All three are reported, from strong to weak assumptions: r-concave,
        unimodal, Meinshausen and Bühlmann's, which assumes nothing but independent rows.
    random_state : int, RandomState instance or None, default=0
        Seed of the halves, and of selectors that have none of their own.
    n_jobs : int or None, default=None
        Half samples that are worked on at a time, in threads; ``None`` uses all cores. The result
        does not depend on it.
    checkpoint : path-like or None, default=None
        File that keeps the frequencies so far. An interrupted fit resumes from it; it is removed
        when all pairs are done.
    keep : optional
        As in :class:`~tamis.cutoff.CutRule`.
    groups : optional
        One label per row: all rows of a group are in the same half. Or features that are selected
        together, as in :class:`~tamis.certainty.CertaintyRule`.

    Notes
    -----
    ``cut_details_`` has ``frequencies`` and ``pair_frequencies`` (share of pairs of which both
    halves choose the feature), one number per feature; ``n_pairs``, ``n_per_half`` and
    ``n_candidates`` (features that vary); ``path_frequencies`` for other numbers per half sample,
    ``path_numbers``; the ``threshold`` in force, ``expected_false`` (the
    bound at that threshold) and all three ``bounds`` with their ``assumptions``.

    Another `level`, `threshold` or `bound` needs neither data nor a refit:
    ``selector.recut(StabilitySelection(threshold=0.8))``. Another `n_per_half` or `n_pairs` does.

    At most `n_per_half` / `threshold` features can be selected, so a small `level` is for few
    strong features.

    Features tied with the first one left out are not chosen, so that no feature is chosen for its
    position; fewer than `n_per_half` may then be. Constant features are never chosen. If the
    number of rows of a class or stratum is odd, one of them, another one each time, is left out.
    Rows of weight 0 are not there; other weights go with their rows. With groups of rows, classes
    are split evenly only if every group belongs to one class.

    Costs ``2 n_pairs`` fits on half of the rows; memory for one half of the table per thread, and
    some 100 bytes per feature. AnovaF, Fisher, Pearson's correlation and Variance find the moments
    of all half samples of a dense table by products of matrices, in a fraction of that time.

    References
    ----------
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. Journal of the Royal Statistical Society B 75, 55-80.
    https://doi.org/10.1111/j.1467-9868.2011.01034.x

    Meinshausen, N. and Bühlmann, P. (2010). Stability selection. Journal of the Royal Statistical
    Society B 72, 417-473. https://doi.org/10.1111/j.1467-9868.2010.00740.x

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from tamis.certainty import StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = rng.normal(size=(200, 100))
    >>> X[:, [3, 7]] += 1.2 * y[:, None]
    >>> selector = tamis.AnovaF(n_features_to_select=StabilitySelection()).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 7])
    >>> selector.cut_details_["frequencies"][[3, 7]]
    array([1., 1.])
    >>> selector.recut(StabilitySelection(threshold=0.9)).cut_details_["expected_false"]
    0.349
    """

    level: float = 1.0
    threshold: float | None = None
    n_per_half: int | None = None
    n_pairs: int = 50
    bound: str = "unimodal"
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    checkpoint: Any = None

    question: ClassVar[str] = (
        "Does the selector choose the feature again on other rows? (stability)"
    )
    null_hypothesis: ClassVar[str] = (
        "half samples choose the feature no more often than an average one"
    )
    guarantee: ClassVar[str] = (
        "the expected number of selected features for which the null hypothesis holds is at most "
        "expected_false"
    )

    def __post_init__(self) -> None:
        for name, constraint in (
            ("level", Number(float, low=0, open_low=True)),
            ("threshold", Number(float, low=0.5, high=1, open_low=True, or_none=True)),
            ("n_per_half", Number(int, low=1, or_none=True)),
            ("n_pairs", Number(int, low=1)),
            ("bound", Choice(("unimodal", "r-concave", "meinshausen-buhlmann"))),
            ("n_jobs", N_JOBS),
        ):
            check_value(getattr(self, name), constraint, who=self.who, name=name)

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What the bound takes for granted."""
        return ASSUMPTIONS[self.bound]

    def settings(self) -> dict[str, Any]:
        """Parameters on which the frequencies depend; `n_per_half` is looked at on its own."""
        free = ("threshold", "n_per_half", "bound", "n_jobs", "checkpoint")
        return {name: value for name, value in super().settings().items() if name not in free}

    def stored(self, data: FitData) -> dict[str, Any] | None:
        """Frequencies that the selector has already, if they are for the same number per half."""
        evidence = super().stored(data)
        if evidence is None or self.n_per_half in (None, evidence["n_per_half"]):
            return evidence
        return None

    def is_answered(self, data: FitData | None) -> bool:
        """Whether there are rows to halve, with a target if the selector uses one."""
        if data is not None and data.X is not None and not is_supervised(data.selector):
            return True
        return super().is_answered(data)

    def check_selector(self, data: FitData) -> None:
        """Any selector will do."""

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """Choose features on both halves of every pair, and count."""
        return self.count(data, ~ranking.constant)

    def count(self, data: FitData, varies: NDArray[np.bool_], steps: Any = None) -> dict[str, Any]:
        """Selection frequencies of the features that vary, by `data.selector` on half samples.

        `steps` reports the progress; None lets the selector do it.
        """
        halves = self._halves(data)
        n_candidates = int(varies.sum())
        n_per_half = min(self.n_per_half or self._usual_number(n_candidates), n_candidates)
        numbers = path_numbers(n_per_half, n_candidates)
        in_force = int(np.flatnonzero(numbers == n_per_half)[0])
        shapes = {"chosen": (numbers.size, varies.size), "twice": (varies.size,)}
        counts = {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()}
        rounds = Rounds.of(self, data, "pairs", self.n_pairs, counts)
        rounds.steps = steps or rounds.steps
        y = data.target if is_supervised(data.selector) else None
        at_once = None
        if halves.classes is None and HalfMoments.serves(data):
            draw = lambda number: halves.draw(rounds.random(number))  # noqa: E731
            at_once = HalfMoments(data, draw, self.n_pairs, self.n_jobs)

        def scores_of(number: int) -> Iterator[Scores]:
            random = rounds.random(number)
            # The first pair is fitted, so that rows that do not suffice are an error.
            if at_once is not None and number > 0:
                yield from at_once.scores(number, rounds.selector)
                return
            for rows in halves.draw(random):
                target = None if y is None else y[rows]
                yield rounds.scores(rounds.rows_of(rows), target, rows, random)

        def chosen_twice(number: int) -> list[NDArray[np.bool_]]:
            return [
                places_of(scores, varies & ~constant, int(numbers[-1])) <= numbers[:, None]
                for scores, constant in scores_of(number)
            ]

        def absorb(number: int, found: list[NDArray[np.bool_]]) -> None:
            first, second = found
            rounds.arrays["chosen"] += first.astype(np.int64) + second
            rounds.arrays["twice"] += first[in_force] & second[in_force]

        rounds.run(chosen_twice, absorb)
        path = rounds.arrays["chosen"] / (2 * rounds.done)
        return {
            "frequencies": path[in_force],
            "pair_frequencies": rounds.arrays["twice"] / rounds.done,
            "n_pairs": rounds.done,
            "n_per_half": n_per_half,
            "n_candidates": n_candidates,
            "path_numbers": numbers,
            "path_frequencies": path,
        }

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features whose frequency reaches the threshold."""
        threshold = self.threshold_of(evidence)
        if threshold is None:
            return np.zeros(ranking.n_columns, dtype=bool)
        return evidence["frequencies"] >= on_grid(threshold, evidence["n_pairs"]) - 1e-9

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Features that pass, with the frequencies, the threshold and the bounds."""
        cut = super().find(ranking, data)
        threshold = self.threshold_of(cut.details)
        cut.details["threshold"] = threshold
        cut.details["bounds"] = bounds = self._bounds(cut.details, threshold)
        cut.details["assumptions"] = dict(ASSUMPTIONS)
        cut.details["expected_false"] = bounds[self.bound]
        self._warn(cut.details)
        return cut

    def threshold_of(self, evidence: dict[str, Any]) -> float | None:
        """The threshold in force; None if no threshold keeps the bound below `level`."""
        if self.threshold is not None:
            return self.threshold
        sizes = evidence["n_per_half"], evidence["n_candidates"], evidence["n_pairs"]
        return least_threshold(self.bound, self.level, *sizes)

    def _bounds(self, evidence: dict[str, Any], threshold: float | None) -> dict[str, float]:
        if threshold is None:  # nothing is selected
            return dict.fromkeys(ASSUMPTIONS, 0.0)
        sizes = evidence["n_per_half"], evidence["n_candidates"], evidence["n_pairs"]
        return {name: expected_false(name, threshold, *sizes) for name in ASSUMPTIONS}

    def _warn(self, details: dict[str, Any]) -> None:
        number = details["n_per_half"]
        if details["threshold"] is None:
            warn(
                f"{self.who}: expected a threshold at which the bound is at most level="
                f"{self.level!r}, got none for {number} features per half sample. Raise level, or "
                "fit with a smaller n_per_half."
            )
        elif details["expected_false"] > self.level * (1 + 1e-9):
            warn(
                f"{self.who}: expected a bound of at most level={self.level!r}, got "
                f"{details['expected_false']:.3g} at threshold={self.threshold!r} with {number} "
                "features per half sample. Raise threshold or level, or fit with a smaller "
                "n_per_half."
            )

    def _usual_number(self, n_candidates: int) -> int:
        threshold = self.threshold or USUAL_THRESHOLD
        return most_per_half(self.bound, self.level, threshold, n_candidates, self.n_pairs)

    def _halves(self, data: FitData) -> HalfSamples:
        codes, groups = self.row_labels(data)
        strata = None if codes is None else np.asarray(self.strata)  # as messages name them
        weight = data.sample_weight
        rows = np.arange(data.X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
        is_classes = getattr(data.selector, "task_", None) == "classification"
        return HalfSamples.of(rows, data.target if is_classes else None, strata, groups, self.who)


def path_numbers(n_per_half: int, n_candidates: int) -> NDArray[np.int64]:
    """Numbers of features per half sample for which frequencies are kept, for a plot."""
    most = min(2 * n_per_half, n_candidates)
    spread = np.geomspace(1, most, N_POINTS).round().astype(np.int64)
    return np.union1d(spread, [n_per_half])


def places_of(
    scores: NDArray[np.float64], varies: NDArray[np.bool_], most: int
) -> NDArray[np.int64]:
    """Place of every feature up to `most`, 1 for the best; of tied features, the last of them.

    So the features up to a place never leave out one that is tied with them.
    """
    places = np.full(scores.size, scores.size + 1)
    candidates = np.flatnonzero(varies)
    own = scores[candidates]
    if own.size > most + 1:
        best = np.argpartition(-own, most)[: most + 1]
        candidates, own = candidates[best], own[best]
    descending = np.sort(-own)
    places[candidates] = np.searchsorted(descending, ROUNDING * np.abs(own) - own, side="right")
    return places


def is_supervised(selector: Any) -> bool:
    """Whether the selector needs a target."""
    return bool(selector.__sklearn_tags__().target_tags.required)
