"""The report: what a comparison found, as one self-contained page and as plain JSON.

::

    Comparison -> to_dict, to_json -> render -> page

The page opens offline, asks no network for anything and stays below 3 MB. It needs jinja2
(``pip install 'tamis[cli]'``); the record needs nothing beyond Tamis.
"""

from tamis.evaluation.results.schema import check_summary
from tamis.report.html import render, summarize, write_report

__all__ = ["check_summary", "render", "summarize", "write_report"]
