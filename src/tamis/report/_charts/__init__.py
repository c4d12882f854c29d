"""Charts of the report as inline SVG: one function per chart, numbers in, markup out.

Colours come from classes of the style sheet, so that one drawing serves light, dark and paper.
"""

from tamis.report._charts._svg import swatch
from tamis.report._charts.grids import correlation_chart, frequency_chart
from tamis.report._charts.lines import Line, line_chart
from tamis.report._charts.rows import rank_chart, share_bar, time_chart

__all__ = [
    "Line",
    "correlation_chart",
    "frequency_chart",
    "line_chart",
    "rank_chart",
    "share_bar",
    "swatch",
    "time_chart",
]
