"""Their number and ours: the same, different, or measured too rarely to tell.

The rule, fixed before any result was judged by it:

- The difference is compared with what chance allows: the 95 % interval of our mean (Student's t
  over the repeats), widened by the square root of 2 because the paper's mean varies as well, plus
  half of the last digit that the paper prints.
- "same" claims agreement, so the measurement must be able to contradict: at least `MIN_REPEATS`
  repeats (with two, t is 12.7 and the deviation has one degree of freedom), and an allowance by
  chance of at most a `MARGIN` of the scale of the number. A true difference of twice the allowance
  would then be found with a probability of 97.5 %.
- The scale of a percentage or a fraction is its distance from the nearer end (an accuracy of 90 %
  is an error of 10 %), but at least 4 and at most 20 points: the margin is 1 to 5 points. That of
  all other numbers is their size.
- "differs": the difference is larger than chance allows. With two repeats, whose deviation may be
  0 by accident, it must also be larger than the margin; a single time must be off by a factor of
  `TIME_FACTOR`; another single number decides nothing.
- All else is "too few repeats".
- A number that the complete protocol computes once, such as leave-one-out errors or a formula, has
  no repeats to wait for: it is the same if it agrees to the printed digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tamis_papers._shown import number

Row = Mapping[str, Any]

MIN_REPEATS = 3
MARGIN = 0.25
# Least and largest scale of a percentage.
POINTS = (4.0, 20.0)
TIME_FACTOR = 2.0
# Both means vary with the splits they come from, and a paper rarely says how much its own does.
BOTH_SIDES = 2.0**0.5
PERCENTS = ("percent", "percent points")

SAME, ORDERED, DIFFERS, TOO_FEW = "same", "differs, same order", "differs", "too few repeats"


class Verdict(NamedTuple):
    """What is said of a row, and why."""

    word: str
    why: str = ""


def judge_all(rows: Sequence[Row], *, quick: bool = False) -> list[dict[str, Any]]:
    """The rows with `verdict` and `why`, each judged among those that differ in the method."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(_conditions(row), []).append(row)
    verdicts = (judge(row, groups[_conditions(row)], quick=quick) for row in rows)
    return [
        {**row, "verdict": word, "why": why}
        for row, (word, why) in zip(rows, verdicts, strict=True)
    ]


def judge(row: Row, group: Sequence[Row] = (), *, quick: bool = False) -> Verdict:
    """Judge a row by the rule of this module.

    Parameters
    ----------
    row : mapping
        `theirs`, `unit`, `rounding` and `quoted` of the paper; `ours`, `low`, `high`, `repeats`,
        `at_least` (only known to be larger) and `once` (computed once by the complete protocol).
    group : sequence of mappings
        Rows under the same conditions. A number that differs has the "same order" if at least one
        of them is clearly on the side where the paper has it, and none clearly on the other.
    quick : bool, default=False
        Whether the run was a reduced one, in which numbers may be left out.
    """
    if row["theirs"] is None:
        return Verdict("not in the paper")
    if row["ours"] is None:
        return Verdict("not run" if quick and not row["quoted"] else "quoted only")
    if row["at_least"] and row["ours"] <= row["theirs"] + row["rounding"]:
        return Verdict("not told", f"only known to be more than {number(row['ours'])}")
    difference = abs(row["ours"] - row["theirs"])
    if not row["at_least"]:
        if difference <= _chance(row) + row["rounding"]:
            return Verdict(SAME) if _is_informative(row) else Verdict(TOO_FEW, _width(row))
        if not _is_clear(row, difference):
            return Verdict(TOO_FEW, f"{row['repeats']}, {_in_words(row)}")
    return _differing(row, group)


def margin(row: Row) -> float:
    """The largest difference by chance that leaves a number informative."""
    size = abs(row["theirs"])
    if row["unit"] in (*PERCENTS, "fraction"):
        end = 1.0 if row["unit"] == "fraction" else 100.0
        if row["unit"] != "percent points":
            size = min(size, abs(end - row["theirs"]))
        size = min(max(size, POINTS[0] * end / 100), POINTS[1] * end / 100)
    return MARGIN * size


def _chance(row: Row) -> float:
    """How far apart two means may be by chance; 0 for a single one."""
    return BOTH_SIDES * (row["high"] - row["low"]) / 2


def _is_informative(row: Row) -> bool:
    if row["once"]:
        return True
    return row["repeats"] >= MIN_REPEATS and _chance(row) <= margin(row) + row["rounding"]


def _is_clear(row: Row, difference: float) -> bool:
    """Whether a difference beyond chance may be called one."""
    if row["once"] or row["repeats"] >= MIN_REPEATS:
        return True
    if row["repeats"] == 2:
        return difference > margin(row)
    return _is_time(row) and max(_ratio(row), 1 / _ratio(row)) >= TIME_FACTOR


def _width(row: Row) -> str:
    if row["repeats"] < MIN_REPEATS:
        return str(row["repeats"])
    return f"{number(_chance(row), 2)} by chance, {number(margin(row), 2)} would tell"


def _differing(row: Row, group: Sequence[Row]) -> Verdict:
    sides = [(other, _side(row, other)) for other in group if other is not row]
    against = [str(other["case"].get("method", "")) for other, side in sides if side < 0]
    if against:
        more = f" and {len(against) - 3} more" if len(against) > 3 else ""
        names = ", ".join(against[:3]) + more
        return Verdict(DIFFERS, f"{_in_words(row)}; on the other side of {names}")
    ordered = any(side > 0 for _, side in sides)
    return Verdict(ORDERED if ordered else DIFFERS, _in_words(row))


def _side(row: Row, other: Row) -> int:
    """1 if two rows are clearly in the paper's order, -1 if in the other one, else 0."""
    if other["theirs"] is None or other["ours"] is None or row["theirs"] == other["theirs"]:
        return 0
    mine, theirs = _span(row), _span(other)
    above = 1 if row["theirs"] > other["theirs"] else -1
    if mine[0] > theirs[1]:
        return above
    return -above if mine[1] < theirs[0] else 0


def _span(row: Row) -> tuple[float, float]:
    """Where the mean may be, which for a single number is anywhere unless it is a time."""
    if row["at_least"]:
        return row["ours"], float("inf")
    if row["repeats"] > 1 or row["once"]:
        return row["low"], row["high"]
    if _is_time(row):
        return row["ours"] / TIME_FACTOR, row["ours"] * TIME_FACTOR
    return float("-inf"), float("inf")


def _is_time(row: Row) -> bool:
    return row["unit"] == "seconds"


def _ratio(row: Row) -> float:
    return float(row["ours"] / row["theirs"]) if row["theirs"] else float("inf")


def _in_words(row: Row) -> str:
    difference = row["ours"] - row["theirs"]
    side = "higher" if difference > 0 else "lower"
    more = "more than " if row["at_least"] else ""
    if _is_time(row):
        return f"{more}{_ratio(row):.2g} times the paper's time"
    if row["unit"] in PERCENTS:
        return f"{more}{abs(difference):.1f} points {side}"
    return f"{more}{number(abs(difference), 3)} {side}"


def _conditions(row: Row) -> frozenset[tuple[str, str]]:
    return frozenset((key, str(item)) for key, item in row["case"].items() if key != "method")


def claim_word(holds: bool | None, tested: bool, quick: bool) -> str:
    """What is said of a sentence that was checked, or was not."""
    if not tested:
        return "not tested in the reduced version" if quick else "cannot be told"
    return {True: "holds", False: "does not hold", None: "in part or unclear"}[holds]
