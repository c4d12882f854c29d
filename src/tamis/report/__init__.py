"""Reports: what an answer or a comparison found, as one self-contained page and as plain JSON.

::

    Comparison -> to_dict, to_json -> render -> page
    Answer -> write_answer -> page; answer_fragment for notebooks

A page opens offline, asks no network for anything and stays below 3 MB. It needs jinja2
(``pip install 'tamis[cli]'``); the record needs nothing beyond Tamis.
"""

from tamis.evaluation.results.schema import check_summary
from tamis.report.answer import answer_fragment, write_answer
from tamis.report.html import render, summarize, write_report

__all__ = [
    "answer_fragment",
    "check_summary",
    "render",
    "summarize",
    "write_answer",
    "write_report",
]
