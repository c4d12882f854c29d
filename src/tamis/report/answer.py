"""The page of an answer, and its form in a notebook."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from tamis._runtime.atomic import atomic_path, check_writable
from tamis.auto.page import frequency, left_out, legend
from tamis.exceptions import MissingDependencyError
from tamis.report._words import full_name, short_name

__all__ = ["answer_fragment", "write_answer"]

HEADS = ("feature", "selected again", "q-value", "e-value", "effect", "or")
# Letters of a sentence on the page; names in it are short already.
LONGEST = 600


def write_answer(answer: Any, path: str | Path, force: bool = False) -> Path:
    """Write an answer as one page that opens offline, and return its path.

    Nothing is written half: the file appears when it is whole.

    Parameters
    ----------
    answer : Answer
        What :func:`tamis.answer` returns.
    path : str or Path
        Where to write.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    InputError
        If the file exists and `force` is false, or if it cannot be written.
    MissingDependencyError
        If jinja2 is not installed.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, tamis
    >>> from tamis.report import write_answer
    >>> y = np.arange(30) % 2
    >>> X = np.random.default_rng(0).normal(size=(30, 3)) + np.outer(y, [0, 4, 0])
    >>> found = tamis.answer(X, y, time_limit=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_answer(found, pathlib.Path(folder, "answer.html")).stat().st_size > 5_000
    True
    """
    path = Path(path)
    check_writable(path, force)
    try:
        from tamis.report._answer_page import make_answer_page
    except ImportError as error:
        if error.name not in ("jinja2", "markupsafe"):
            raise
        raise MissingDependencyError(
            "tamis.report: expected jinja2 to be installed, got an ImportError. Run "
            "pip install 'tamis[cli]'."
        ) from error
    text = make_answer_page(answer)
    with atomic_path(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def answer_fragment(answer: Any) -> str:
    """An answer as HTML for a notebook: text and one table, without scripts or styles.

    Parameters
    ----------
    answer : Answer
        What :func:`tamis.answer` returns.

    Returns
    -------
    str
        A ``div``; names are escaped.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from tamis.report import answer_fragment
    >>> y = np.arange(30) % 2
    >>> X = np.random.default_rng(0).normal(size=(30, 3)) + np.outer(y, [0, 4, 0])
    >>> answer_fragment(tamis.answer(X, y, time_limit=5))[:16]
    '<div><p><strong>'
    """
    parts = [f"<p><strong>{_safe(answer.verdict)}</strong></p>"]
    parts += [f"<p>Beware: {_safe(text)}</p>" for text in answer.warnings]
    if answer.features:
        heads = "".join(f"<th>{head}</th>" for head in HEADS)
        rows = "".join(f"<tr>{_cells(each)}</tr>" for each in answer.features)
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
        parts.append(f"<p>{_safe(legend(answer))}</p>")
    done = "".join(f"<li>{_safe(text)}</li>" for text in [*answer.steps, *left_out(answer)])
    parts.append(f"<details><summary>What was done</summary><ul>{done}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def _cells(each: Any) -> str:
    copies = ", ".join(f"{short_name(name)} (r = {r:.2f})" for name, r in each.replaceable_by)
    words = (
        frequency(each), f"{each.q_value:.2g}", e_value_words(each), short_name(each.effect), copies
    )  # fmt: skip
    name = f'<td title="{escape(full_name(each.feature))}">{escape(short_name(each.feature))}</td>'
    return name + "".join(f"<td>{escape(word)}</td>" for word in words)


def e_value_words(each: Any) -> str:
    """The e-value of a feature, or that there is none."""
    return "not tested" if each.e_value is None else f"{each.e_value:.3g}"


def _safe(text: str) -> str:
    return escape(short_name(text, LONGEST))
