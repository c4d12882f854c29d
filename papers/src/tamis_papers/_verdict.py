"""Their number and ours: the same, the same ordering, or different and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tamis_papers._published import Published
from tamis_papers._shown import number
from tamis_papers.outcome import Measurement

# Of differences in these units one says "points".
PERCENTS = ("percent", "percent points")
# Both means vary with the splits they come from, and a paper rarely says how much its own does.
BOTH_SIDES = 2.0**0.5


class Pair(NamedTuple):
    """A number of the paper and ours of the same case; either may be missing."""

    theirs: Published | None
    ours: Measurement | None


class Verdict(NamedTuple):
    """What is said of a pair."""

    word: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.why}" if self.why else self.word


def judge(
    pair: Pair, group: Sequence[Pair], *, quick: bool = False, single: bool = False
) -> Verdict:
    """Say whether a pair agrees.

    "same": the difference is within what other splits would change, on both sides, and the digits
    that were printed. "same ordering": the numbers differ, but nothing in the group (the other
    methods under the same conditions) that the paper puts above or below this one is clearly on
    the other side here. Otherwise "differs", and by how much. A number that a complete run does
    not measure is "quoted only". Where only a `single` repeat was asked for, nobody knows how much
    another one would differ, so no more is said than by how much this one does; ratios of times
    are far larger than that.
    """
    theirs, ours = pair
    if theirs is None:
        return Verdict("not in the paper")
    if ours is None:
        return Verdict("not run" if quick and not theirs.quoted else "quoted only")
    if ours.at_least and ours.mean <= theirs.value + theirs.rounding:
        return Verdict("not told", f"only known to be more than {number(ours.mean)}")
    difference = ours.mean - theirs.value
    if not ours.at_least and abs(difference) <= _allowed(ours, theirs):
        return Verdict("same")
    amount = _in_words(difference, theirs, ours.at_least)
    if single and len(ours.values) == 1 and theirs.unit != "seconds":
        return Verdict("not told", f"a single repeat, {amount}")
    against = [other for other in group if other is not pair and _is_reversed(pair, other)]
    others = sum(other.theirs is not None and other.ours is not None for other in group) - 1
    if against:
        names = ", ".join(str(other.theirs.label) for other in against[:3] if other.theirs)
        more = f" and {len(against) - 3} more" if len(against) > 3 else ""
        return Verdict("differs", f"{amount}; on the other side of {names}{more}")
    return Verdict("same ordering" if others > 0 else "differs", amount)


def claim_word(holds: bool | None, tested: bool, quick: bool) -> str:
    """What is said of a sentence that was checked, or was not."""
    if not tested:
        return "not tested in the reduced version" if quick else "cannot be told"
    return {True: "holds", False: "does not hold", None: "in part or unclear"}[holds]


def _allowed(ours: Measurement, theirs: Published) -> float:
    low, high = ours.interval()
    return BOTH_SIDES * (high - low) / 2 + theirs.rounding


def _is_reversed(pair: Pair, other: Pair) -> bool:
    """Whether two are in one order in the paper and clearly in the other here."""
    if pair.theirs is None or other.theirs is None or pair.ours is None or other.ours is None:
        return False
    low, high = pair.ours.interval()
    other_low, other_high = other.ours.interval()
    if pair.theirs.value > other.theirs.value:
        return high < other_low
    if pair.theirs.value < other.theirs.value:
        return low > other_high
    return False


def _in_words(difference: float, theirs: Published, at_least: bool) -> str:
    side = "higher" if difference > 0 else "lower"
    more = "more than " if at_least else ""
    if theirs.unit == "seconds":
        ratio = 1.0 + difference / theirs.value if theirs.value else float("inf")
        return f"{more}{ratio:.2g} times the paper's time"
    if theirs.unit in PERCENTS:
        return f"{more}{abs(difference):.1f} points {side}"
    return f"{more}{number(abs(difference), 3)} {side}"
