"""The report: what a comparison found, as one self-contained page and as plain JSON.

::

    Comparison -> summarize -> dict (the JSON twin) -> render -> page

The page opens offline, asks no network for anything and stays below 3 MB. It needs jinja2
(``pip install 'tamis[cli]'``); the summary needs nothing beyond Tamis.
"""

from tamis.report.html import render, write_report
from tamis.report.schema import check_summary
from tamis.report.summary import summarize

__all__ = ["check_summary", "render", "summarize", "write_report"]
