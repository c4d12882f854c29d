"""How long the rest of a comparison will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import fmean, median

Case = tuple[int, str]  # number of the data set, name of the method


class Timing:
    """Seconds of finished units, by data set and method.

    Methods differ by a factor of a thousand, so that a mean over all of them promises nonsense
    while only the quick ones are done. What has not been seen yet is estimated from the same method
    on other data and from other methods on the same data.
    """

    def __init__(self) -> None:
        self._seen: dict[Case, list[float]] = defaultdict(list)
        self._told: dict[Case, float] = {}

    def tell(self, case: Case, seconds: float) -> None:
        """Seconds of an earlier run, which count until there are own ones."""
        self._told[case] = seconds

    def add(self, case: Case, seconds: float) -> None:
        """A unit that was finished now."""
        self._seen[case].append(seconds)

    def expected(self, case: Case) -> float | None:
        """Seconds that a unit will take; None as long as nothing is known."""
        # The median, for the first unit of a process also loads or compiles kernels.
        known = {**self._told, **{case: median(times) for case, times in self._seen.items()}}
        if case in known or not known:
            return known.get(case)
        on_data: dict[int, list[float]] = defaultdict(list)
        for (data, _), seconds in known.items():
            on_data[data].append(seconds)
        typical = {data: fmean(times) for data, times in on_data.items()}
        ratios = [
            seconds / typical[data]
            for (data, method), seconds in known.items()
            if method == case[1] and typical[data] > 0
        ]
        usual = typical.get(case[0], fmean(typical.values()))
        return usual * (fmean(ratios) if ratios else 1.0)

    def remaining(
        self, waiting: Iterable[Case], running: Iterable[tuple[Case, float]], n_jobs: int
    ) -> float | None:
        """Seconds until all is done, or None.

        `running` holds the units at work with the seconds they have been.
        """
        numbers, begun = Counter(waiting), list(running)
        cases = {*numbers, *(case for case, _ in begun)}
        expected = {case: self.expected(case) for case in cases}
        known = {case: seconds for case, seconds in expected.items() if seconds is not None}
        if len(known) < len(cases):
            return None
        left = [max(known[case] - spent, 0.0) for case, spent in begun]
        total = sum(left) + sum(known[case] * n for case, n in numbers.items())
        longest = max([*left, *(known[case] for case in numbers)], default=0.0)
        # The work may be shared, but nothing ends before its longest piece.
        return max(total / n_jobs, longest)
