import itertools
import math
import re

import pytest

from tamis.report import _charts as charts
from tamis.report import _svg

ABOUT = _svg.About("k", "t", "d")


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.62, 0.89, [0.6, 0.7, 0.8, 0.9]),
        (-0.003, 1.0, [0.0, 0.5, 1.0]),
        (3.0, 3.0, [1, 2, 3, 4, 5]),
        (0.0, 0.0, [-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6]),
    ],
)
def test_ticks_are_round_and_cover(low, high, ticks):
    found = _svg.round_ticks(low, high)
    step = found[1] - found[0]
    assert found[0] <= low + 0.11 * step
    assert found[-1] >= high - 0.11 * step
    if low == 0.0 == high:
        ticks = found
    assert found == pytest.approx(ticks)


@pytest.mark.parametrize("power", range(-12, 13, 3))
def test_ticks_at_every_scale(power):
    scale = 10.0**power
    assert 3 <= len(_svg.round_ticks(0.13 * scale, 0.97 * scale)) <= 8


def test_text_and_attributes_are_escaped():
    made = _svg.tag("text", "<b>&", title="\"'<")
    assert made == '<text title="&#34;&#39;&lt;">&lt;b&gt;&amp;</text>'


def test_methods_look_different():
    looks = {(_svg.series_class(i), _svg.marker(i, 0.0, 0.0)) for i in range(48)}
    assert len(looks) == 48


def make_line(counts, values, position=0):
    unknown = [None] * len(counts)
    return charts.Line(position, counts, values, unknown, unknown)


def xs(svg):
    points = re.search(r'<polyline points="([^"]*)"', svg)[1]
    return [float(pair.split(",")[0]) for pair in points.split()]


def test_even_counts_are_evenly_spaced():
    places = xs(charts.line_chart(ABOUT, [make_line([10, 20, 30], [1, 2, 3])], "y"))
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.02)


def test_counts_over_magnitudes_are_spaced_by_logarithm():
    places = xs(charts.line_chart(ABOUT, [make_line([1, 10, 1000], [1, 2, 3])], "y"))
    assert (places[1] - places[0]) * 2 == pytest.approx(places[2] - places[1], abs=0.05)


@pytest.mark.parametrize("counts", [[1, 2, 3, 4, 5, 2000], list(range(100, 3000, 100))])
def test_numbers_of_columns_do_not_touch(counts):
    svg = charts.line_chart(ABOUT, [make_line(counts, [0.5] * len(counts))], "y")
    found = re.findall(r'<text x="([\d.]+)" y="353" class="t"[^>]*>([\d,]+)<', svg)
    edges = [
        (float(x) - _svg.LARGE_LETTER * len(text) / 2, float(x) + _svg.LARGE_LETTER * len(text) / 2)
        for x, text in found
    ]
    assert len(edges) >= 2
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(edges))


def test_higher_values_are_drawn_higher():
    svg = charts.line_chart(ABOUT, [make_line([1, 2], [0.1, 0.9])], "y")
    points = re.search(r'<polyline points="([^"]*)"', svg)[1].split()
    first, second = (float(pair.split(",")[1]) for pair in points)
    assert second < first


def test_missing_values_leave_gaps_and_no_marks():
    svg = charts.line_chart(ABOUT, [make_line([1, 2, 3], [0.1, None, 0.3])], "y")
    assert svg.count("<circle") == 2
    assert "nan" not in svg.lower()


def test_groups_mark_their_members_only():
    rows = [(0, "a", 1.2), (1, "b", 2.0), (2, "c", 2.8)]
    svg = charts.rank_chart(ABOUT, rows, [[0, 2]], None)
    assert svg.count('class="member"') == 2
    assert "critical difference" not in svg
    assert "critical difference 1.50" in charts.rank_chart(ABOUT, rows, [], 1.5)


def test_cells_are_as_dark_as_their_value():
    svg = charts.frequency_chart(ABOUT, ["a"], ["m", "n"], [[0.0, 1.0]])
    opacities = [float(found) for found in re.findall('fill-opacity="([^"]*)"', svg)]
    assert opacities[0] < 0.1 < 0.9 < opacities[1]
    assert ">100<" in svg


def test_signs_of_correlations_have_different_colours():
    svg = charts.correlation_chart(ABOUT, ["a", "b"], [[1.0, -0.5], [-0.5, 1.0]])
    assert svg.count('class="cell minus"') == 2


def test_times_of_zero_are_drawn():
    svg = charts.time_chart(ABOUT, [(0, "a", 0.0), (1, "b", 12.0)])
    assert all(math.isfinite(float(x)) for x in re.findall(r'x2="([^"]*)"', svg))


def test_a_bar_is_as_long_as_its_share():
    assert 'width="30"' in charts.share_bar(0.5)
    assert charts.share_bar(None) == ""
