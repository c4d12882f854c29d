"""What is left out, in which order, when a page would become too large."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

LARGEST = 3_000_000  # bytes of a page
MOST_ROWS = 10_000  # of the table of all scores
MOST_FAILURES = 50
LONGEST = 300  # letters of a text
_SAY_TABLE = "The table of all scores holds the first {shown:,} of {n:,} rows."


def shrink(summary: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the summary, then smaller and smaller ones; each says what it left out.

    Summaries whose page would surely be too large are passed over.
    """
    smaller = summary = shorten(summary)
    for smaller in _ladder(summary):
        if _least_size(smaller) < LARGEST:
            yield smaller
    yield smaller  # nothing is left to leave out


def _ladder(summary: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _cut_table(summary, MOST_ROWS)
    small = _cut_table(summary, 2000)
    yield small
    small = _cut_columns(small, 60)
    yield small
    small = _only_first_scores(_cut_table(small, 0))
    yield small
    for n_counts, n_columns in ((50, 30), (12, 12)):
        small = _thin_counts(_cut_columns(small, n_columns), n_counts)
        yield small
    for n_methods, n_data in ((24, 12), (16, 4), (8, 1)):
        small = _first_methods(_first_data(small, n_data), n_methods)
        yield small


def _least_size(summary: dict[str, Any]) -> float:
    """Bytes that the page has at least: numbers take four times as much on it as in JSON."""
    table = len(json.dumps(summary["table"]))
    return table + 3.5 * (len(json.dumps(summary)) - table)


def shorten(value: Any) -> Any:
    """Cut long texts, wherever they are; a mark of the whole text keeps them different."""
    if isinstance(value, str) and len(value) > LONGEST:
        mark = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{value[: LONGEST - 40]}… ({len(value):,} letters, {mark})"
    if isinstance(value, dict):
        return {shorten(key): shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    return value


def _with_note(summary: dict[str, Any], note: str, **changes: Any) -> dict[str, Any]:
    notes = [old for old in summary["notes"] if old.split(" holds ")[0] != note.split(" holds ")[0]]
    return {**summary, **changes, "notes": [*notes, note]}


def _cut_table(summary: dict[str, Any], most: int) -> dict[str, Any]:
    summary = _cut_list(_cut_list(summary, "failures"), "warnings")
    table = summary["table"]
    rows = table["rows"][:most]
    if len(rows) == len(table["rows"]):
        return summary
    note = _SAY_TABLE.format(shown=len(rows), n=table["n_rows"])
    return _with_note(summary, note, table={**table, "rows": rows})


def _cut_list(summary: dict[str, Any], name: str) -> dict[str, Any]:
    rows = summary[name]
    if len(rows) <= MOST_FAILURES:
        return summary
    note = f"The list of {name} holds the first {MOST_FAILURES} of {len(rows):,}."
    return _with_note(summary, note, **{name: rows[:MOST_FAILURES]})


def _cut_columns(summary: dict[str, Any], most: int) -> dict[str, Any]:
    data = []
    for part in summary["data"]:
        part = dict(part)
        if part["answer"] is not None:
            part["answer"] = {**part["answer"], "columns": part["answer"]["columns"][:most]}
        for block, values in (("frequencies", "shares"), ("correlation", "values")):
            if part[block] is not None:
                part[block] = _cut_block(part[block], values, most)
        data.append(part)
    return _with_note(summary, f"Every list of columns holds the first {most}.", data=data)


def _cut_block(block: dict[str, Any], values: str, most: int) -> dict[str, Any]:
    rows = block[values][:most]
    if values == "values":
        rows = [row[:most] for row in rows]
    return {**block, "columns": block["columns"][:most], values: rows}


def _only_first_scores(summary: dict[str, Any]) -> dict[str, Any]:
    data = [
        {
            **part,
            "scores": [
                row
                for row in part["scores"]
                if row["learner"] == (part["answer"] or summary)["learner"]
                and row["metric"] == (part["answer"] or summary)["metric"]
            ],
        }
        for part in summary["data"]
    ]
    note = "Scores are those of the recommended learner and the first metric only."
    return _with_note(summary, note, data=data)


def _thin_counts(summary: dict[str, Any], most: int) -> dict[str, Any]:
    counts = summary["counts"]
    step = -(-len(counts) // most) if counts else 1
    kept = set(counts[::step]) | set(counts[-1:])
    kept |= {part["answer"]["count"] for part in summary["data"] if part["answer"] is not None}
    data = [
        {
            **part,
            "scores": [row for row in part["scores"] if row["count"] in kept],
            "probes": [row for row in part["probes"] if row["count"] in kept],
            "stability": {
                **part["stability"],
                "rows": [row for row in part["stability"]["rows"] if row["count"] in kept],
            },
        }
        for part in summary["data"]
    ]
    return _with_note(summary, "Some numbers of columns are left out of the charts.", data=data)


def _first_data(summary: dict[str, Any], most: int) -> dict[str, Any]:
    n_data = len(summary["data"])
    if n_data <= most:
        return summary
    note = f"The list of charts holds those of the first {most} of {n_data} data sets."
    data = [*summary["data"][:most], *map(_only_answer, summary["data"][most:])]
    return _with_note(summary, note, data=data)


def _only_answer(part: dict[str, Any]) -> dict[str, Any]:
    answer = None if part["answer"] is None else {**part["answer"], "columns": []}
    lists: dict[str, Any] = {"scores": [], "times": [], "probes": []}
    blocks = dict.fromkeys(("frequencies", "correlation", "ranks"))
    nothing = {**lists, **blocks, "stability": {"index": "", "rows": []}}
    return {**part, **nothing, "answer": answer}


def _first_methods(summary: dict[str, Any], most: int) -> dict[str, Any]:
    methods = _best_methods(summary, most)
    if len(methods) == len(summary["methods"]):
        return summary
    known = set(methods)
    note = f"The list of methods holds {len(methods)} of {len(summary['methods'])}."
    data = [_keep_methods(part, known) for part in summary["data"]]
    ranks = _keep_ranks(summary["ranks"], known)
    return _with_note(summary, note, methods=methods, data=data, ranks=ranks)


def _keep_ranks(ranks: dict[str, Any] | None, known: set[str]) -> dict[str, Any] | None:
    if ranks is None:
        return None
    places = [i for i, name in enumerate(ranks["methods"]) if name in known]
    shown = {
        field: [ranks[field][i] for i in places] for field in ("methods", "mean_ranks", "p_values")
    }
    return {**ranks, **shown}


def _best_methods(summary: dict[str, Any], most: int) -> list[str]:
    """The recommended methods, then by mean rank, then as given; in the order given."""
    first = [part["answer"]["method"] for part in summary["data"] if part["answer"] is not None]
    ranks = summary["ranks"] or summary["data"][0]["ranks"]
    if ranks is not None:
        pairs = sorted(zip(ranks["mean_ranks"], ranks["methods"], strict=True))
        first += [name for _, name in pairs]
    kept = set(list(dict.fromkeys([*first, *summary["methods"]]))[:most])
    return [name for name in summary["methods"] if name in kept]


def _keep_methods(part: dict[str, Any], known: set[str]) -> dict[str, Any]:
    part = dict(part)
    part["scores"] = [row for row in part["scores"] if row["method"] in known]
    part["times"] = [row for row in part["times"] if row["method"] in known]
    part["probes"] = [row for row in part["probes"] if row["method"] in known]
    part["ranks"] = _keep_ranks(part["ranks"], known)
    rows = [row for row in part["stability"]["rows"] if row["method"] in known]
    part["stability"] = {**part["stability"], "rows": rows}
    block = part["frequencies"]
    if block is not None:
        places = [i for i, name in enumerate(block["methods"]) if name in known]
        part["frequencies"] = {
            **block,
            "methods": [block["methods"][i] for i in places],
            "shares": [[row[i] for i in places] for row in block["shares"]],
        }
    return part
