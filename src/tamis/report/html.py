"""The page: one self-contained HTML file made from the record of a comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tamis._runtime.atomic import atomic_path, check_writable
from tamis.evaluation.results.schema import check_summary
from tamis.exceptions import MissingDependencyError
from tamis.report._limits import LARGEST, shrink

__all__ = ["render", "summarize", "write_report"]


def summarize(comparison: Any) -> dict[str, Any]:
    """Everything the report shows, as plain values: ``comparison.to_dict()``.

    Parameters
    ----------
    comparison : Comparison or dict
        What :func:`tamis.compare` returns, or its ``to_dict()``, perhaps read back from JSON.

    Returns
    -------
    dict
        The checked record; `tamis.evaluation.results.schema` lists its keys. It is JSON as it is.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis.report import summarize
    >>> data = {"cancer": load_breast_cancer()}
    >>> found = tamis.evaluation.compare(["dft", "variance"], data, protocol=3, counts=[2, 5])
    >>> summary = summarize(found)
    >>> summary["data"][0]["answer"]["method"], summary["data"][0]["answer"]["count"]
    ('dft', 5)
    """
    return check_summary(comparison if isinstance(comparison, dict) else comparison.to_dict())


def render(summary: dict[str, Any], name: str = "tamis-report") -> str:
    """Make the page from the record of a comparison.

    The same record always gives the same page. It stays below 3 MB: details are left out, the
    least important first, and the page says which.

    Parameters
    ----------
    summary : dict
        From :meth:`tamis.evaluation.Comparison.to_dict`, or read back from its JSON file.
    name : str, default="tamis-report"
        What the downloads of the page are called, without extension.

    Raises
    ------
    InputError
        If the record does not have the shape it should have.
    MissingDependencyError
        If jinja2 is not installed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.evaluation import compare
    >>> from tamis.report import render, summarize
    >>> found = compare(["dft", "variance"], {"iris": load_iris()}, protocol=3, counts=[1, 2])
    >>> page = render(summarize(found))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 3_000_000
    (True, True)
    """
    check_summary(summary)
    try:
        from tamis.report._page import make_page
    except ImportError as error:
        if error.name not in ("jinja2", "markupsafe"):
            raise
        raise MissingDependencyError(
            "tamis.report: expected jinja2 to be installed, got an ImportError. Run "
            "pip install 'tamis[cli]'."
        ) from error
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80] or "tamis-report"
    page = ""
    for smaller in shrink(summary):
        page = make_page(smaller, safe)
        if len(page.encode()) < LARGEST:
            break
    return page


def write_report(comparison: Any, path: str | Path, force: bool = False) -> Path:
    """Write the page of a comparison, or its record for a name in ``.json``, and return its path.

    Nothing is written half: the file appears when it is whole.

    Parameters
    ----------
    comparison : Comparison or dict
        What :func:`tamis.compare` returns, or its ``to_dict()``, perhaps read back from JSON.
    path : str or Path
        Where to write; ``.json`` gives the record itself, anything else the page.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    InputError
        If the file exists and `force` is false, or if it cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.report import write_report
    >>> from sklearn.datasets import load_iris
    >>> from tamis.evaluation import compare
    >>> found = compare(["dft", "variance"], {"iris": load_iris()}, protocol=3, counts=[1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(found, pathlib.Path(folder, "report.html")).stat().st_size < 3_000_000
    True
    """
    path = Path(path)
    check_writable(path, force)
    summary = summarize(comparison)
    if path.suffix.lower() == ".json":
        text = json.dumps(summary, indent=1, allow_nan=False) + "\n"
    else:
        text = render(summary, path.stem)
    with atomic_path(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
