"""The rule of the verdicts, on cases worked by hand.

Three repeats 80, 82, 84 have mean 82 and deviation 2; t(0.975, 2) = 4.303, so half of the interval
is 4.303 * 2 / sqrt(3) = 4.969, and chance allows sqrt(2) times that, 7.027.
"""

import pytest

from tamis_papers._verdict import MIN_REPEATS, judge, judge_all, margin
from tamis_papers.result import Measurement


def row(theirs, *values, method="a", unit="percent", rounding=0.05, once=False, **more):
    found = Measurement({}, values or (0.0,), at_least=more.get("at_least", False))
    low, high = found.interval()
    known = {
        "case": {"data": "d", "method": method},
        "theirs": theirs,
        "unit": unit,
        "rounding": rounding,
        "quoted": False,
        "ours": found.mean if values else None,
        "low": low,
        "high": high,
        "repeats": len(values),
        "at_least": False,
        "once": once,
    }
    return known | more


@pytest.mark.parametrize(
    ("unit", "value", "wanted"),
    [
        ("percent", 90.0, 2.5),  # a quarter of the 10 points to the nearer end
        ("percent", 10.0, 2.5),
        ("percent", 50.0, 5.0),  # at most 5 points
        ("percent", 99.5, 1.0),  # at least 1 point
        ("percent points", 98.0, 5.0),  # a difference has no upper end
        ("percent points", -8.0, 2.0),
        ("fraction", 0.9, 0.025),
        ("fraction", 0.5, 0.05),
        ("seconds", 8.0, 2.0),
        ("count", -8.0, 2.0),
    ],
)
def test_the_margin_is_a_quarter_of_the_scale(unit, value, wanted):
    assert margin(row(value, 1.0, unit=unit)) == pytest.approx(wanted)


def test_the_same_needs_enough_repeats_and_a_narrow_interval():
    # 89.9, 90.0, 90.1: half of the interval 0.248, chance 0.351, far below 2.5.
    assert judge(row(90.3, 89.9, 90.0, 90.1)).word == "same"
    assert judge(row(90.3, 89.95, 90.05)).word == "too few repeats"
    # 80, 82, 84: 7.027 by chance is more than the 4.5 that a number of 82 may have.
    assert judge(row(82.0, 80, 82, 84)) == ("too few repeats", "7 by chance, 4.5 would tell")


def test_an_interval_that_holds_everything_says_nothing():
    # Two repeats 60 and 98: 79 -+ 12.706 * 26.87 / sqrt(2), that is -162 to 320.
    found = judge(row(90.0, 60.0, 98.0))
    assert found == ("too few repeats", "2")


def test_the_limits_of_chance_and_of_the_margin():
    # Half 2.484 for 81, 82, 83; chance 3.513; a number of 85.5 has a margin of 3.625.
    assert judge(row(85.5, 81, 82, 83)).word == "same"  # 3.5 apart
    assert judge(row(85.57, 81, 82, 83)).word == "differs"  # 3.57 > 3.513 + 0.05
    assert judge(row(85.56, 81, 82, 83)).word == "same"
    # At 88 the margin is 3.0, which 3.513 exceeds: not the same though it would be within chance.
    assert judge(row(88.0, 87, 88, 89)).word == "too few repeats"


def test_more_repeats_do_not_hide_a_small_difference():
    assert judge(row(90.0, *[90.5, 90.6, 90.7] * 10)) == ("differs", "0.6 points higher")


def test_two_repeats_tell_only_large_differences():
    # Equal by accident: chance allows nothing, and 0.6 is within the margin of 2.5.
    assert judge(row(90.0, 90.6, 90.6)) == ("too few repeats", "2, 0.6 points higher")
    assert judge(row(90.0, 94.0, 94.0)) == ("differs", "4.0 points higher")


def test_a_single_number_tells_nothing_unless_the_protocol_has_no_more():
    assert judge(row(82.0, 82.0)) == ("too few repeats", "1")
    assert judge(row(82.0, 95.0)) == ("too few repeats", "1, 13.0 points higher")
    assert judge(row(82.0, 82.04, once=True)).word == "same"  # printed as 82.0
    assert judge(row(82.0, 82.06, once=True)) == ("differs", "0.1 points higher")


def test_a_single_time_tells_factors():
    assert judge(row(2.0, 9.0, unit="seconds")) == ("differs", "4.5 times the paper's time")
    assert judge(row(2.0, 0.9, unit="seconds")).word == "differs"
    assert judge(row(2.0, 3.0, unit="seconds")).word == "too few repeats"


def test_the_same_order_needs_another_clearly_on_the_right_side():
    mine = row(90.0, 69.9, 70.0, 70.1)
    lower = row(60.0, 39.9, 40.0, 40.1, method="b")
    assert judge(mine, [mine, lower]) == ("differs, same order", "20.0 points lower")
    unclear = row(60.0, 30.0, 50.0, 130.0, method="b")
    assert judge(mine, [mine, unclear]).word == "differs"
    single = row(60.0, 40.0, method="b")
    assert judge(mine, [mine, single]).word == "differs"


def test_a_reversed_pair_differs():
    mine = row(90.0, 69.9, 70.0, 70.1)
    other = row(60.0, 74.9, 75.0, 75.1, method="b")
    found = judge(mine, [mine, other])
    assert found == ("differs", "20.0 points lower; on the other side of b")
    right = row(20.0, 9.9, 10.0, 10.1, method="c")
    assert judge(mine, [mine, right, other]).word == "differs"


def test_equal_numbers_of_the_paper_have_no_order():
    mine = row(90.0, 69.9, 70.0, 70.1)
    other = row(90.0, 19.9, 20.0, 20.1, method="b")
    assert judge(mine, [mine, other]).word == "differs"


def test_many_on_the_other_side_are_counted():
    mine = row(90.0, 69.9, 70.0, 70.1)
    others = [row(60.0, 74.9, 75.0, 75.1, method=name) for name in "bcdef"]
    assert judge(mine, others).why.endswith("b, c, d and 2 more")


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("percent", "6.0 points higher"),
        ("percent points", "6.0 points higher"),
        ("seconds", "4 times the paper's time"),
        ("count", "6 higher"),
    ],
)
def test_differences_in_words(unit, words):
    assert judge(row(2.0, 8.0, unit=unit, once=True)).why == words


def test_numbers_that_are_missing_on_one_side():
    assert judge(row(1.0), quick=True).word == "not run"
    assert judge(row(1.0)).word == "quoted only"
    assert judge(row(1.0, quoted=True), quick=True).word == "quoted only"
    assert judge(row(None, 1.0)).word == "not in the paper"


def test_a_stopped_time_is_a_lower_bound():
    stopped = row(10.0, 100.0, unit="seconds", at_least=True)
    assert judge(stopped) == ("differs", "more than 10 times the paper's time")
    larger = row(200.0, 100.0, unit="seconds", at_least=True)
    assert judge(larger) == ("not told", "only known to be more than 100")
    slower = row(20.0, 20.0, unit="seconds", method="b")
    assert "other side of b" in judge(stopped, [slower]).why
    faster = row(5.0, 5.0, unit="seconds", method="b")
    assert judge(stopped, [faster]).word == "differs, same order"


def test_rows_are_judged_among_those_that_differ_in_the_method_alone():
    mine = row(90.0, 69.9, 70.0, 70.1)
    other = row(60.0, 74.9, 75.0, 75.1, method="b")
    words = [one["verdict"] for one in judge_all([mine, other])]
    assert words == ["differs", "differs"]
    apart = other | {"case": {"data": "e", "method": "b"}}
    assert "side" not in judge_all([mine, apart])[0]["why"]
    assert MIN_REPEATS == 3
