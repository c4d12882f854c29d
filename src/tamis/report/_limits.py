"""What is left out, in which order, when a page would become too large."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from tamis.report._words import Record

LARGEST = 3_000_000  # bytes of a page
MOST_ROWS = 10_000  # of the table of all scores
MOST_COLUMNS = 200  # of the answer, by name
MOST_FAILURES = 50
LONGEST = 600  # letters of a text


def shrink(record: Record) -> Iterator[Record]:
    """Give smaller and smaller records that note what they left out; none is surely too large."""
    smaller = record = shorten(_cut_columns(record, MOST_COLUMNS))
    for smaller in _ladder(record):
        if _least_size(smaller) < LARGEST:
            yield smaller
    yield smaller  # nothing is left to leave out


def _ladder(record: Record) -> Iterator[Record]:
    n_rows = len(record["table"]["rows"])
    for name in ("failures", "warnings"):
        record = _cut_list(record, name)
    yield _cut_table(record, MOST_ROWS, n_rows)
    small = _each_data(_cut_table(record, 2000, n_rows), lambda part: {"splits": []})
    small = _with_note(small, "Names and seeds of the splits are left out.", seeds=[])
    yield small
    small = _first_columns(small, 60)
    yield small
    small = _only_first_scores(_cut_table(small, 0, n_rows))
    yield small
    for n_counts, n_columns in ((50, 30), (12, 12)):
        small = _thin_counts(_first_columns(small, n_columns), n_counts)
        yield small
    for n_methods, n_data in ((24, 12), (16, 4), (8, 1)):
        small = _first_methods(_first_data(small, n_data), n_methods)
        yield small


def _least_size(record: Record) -> float:
    """Bytes that the page has at least: numbers take twice as much in charts as in JSON."""
    hidden = len(json.dumps([record["table"], record["seeds"]]))
    return hidden + 3.0 * (len(json.dumps(record)) - hidden)


def shorten(value: Any) -> Any:
    """Cut long texts, wherever they are; a digest of the whole text keeps them different."""
    if isinstance(value, str) and len(value) > LONGEST:
        mark = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{value[: LONGEST - 40]}… ({len(value):,} letters, {mark})"
    if isinstance(value, dict):
        return {shorten(key): shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    return value


def _with_note(record: Record, note: str, **changes: Any) -> Record:
    """The record with other parts; a note replaces an earlier one about the same list."""
    about = note.split(" holds ")[0]
    notes = [old for old in record.get("notes", []) if old.split(" holds ")[0] != about]
    return {**record, **changes, "notes": [*notes, note]}


def _each_data(record: Record, change: Callable[[Record], Record]) -> Record:
    return {**record, "data": [{**part, **change(part)} for part in record["data"]]}


def _cut_table(record: Record, most: int, n_rows: int) -> Record:
    table = record["table"]
    if len(table["rows"]) <= most:
        return record
    rows = table["rows"][:most]
    note = f"The table of all scores holds the first {len(rows):,} of {n_rows:,} rows."
    return _with_note(record, note, table={**table, "rows": rows})


def _cut_list(record: Record, name: str) -> Record:
    rows = record[name]
    if len(rows) <= MOST_FAILURES:
        return record
    note = f"The list of {name} holds the first {MOST_FAILURES} of {len(rows):,}."
    return _with_note(record, note, **{name: rows[:MOST_FAILURES]})


def _first_columns(record: Record, most: int) -> Record:
    note = f"Every list of columns holds the first {most}."
    return _with_note(_cut_columns(record, most), note)


def _cut_columns(record: Record, most: int) -> Record:
    def cut(part: Record) -> Record:
        blocks = {name: part[name] for name in ("answer", "frequencies", "correlation")}
        return {name: block and _cut_block(block, most) for name, block in blocks.items()}

    return _each_data(record, cut)


def _cut_block(block: Record, most: int) -> Record:
    """The block with the first columns; all its lists by column have the same length."""
    n = len(block["columns"])
    by_column = [key for key in block if key not in ("reasons", "rivals", "methods")]
    lists = [key for key in by_column if isinstance(block[key], list) and len(block[key]) == n]
    small = {**block, **{key: block[key][:most] for key in lists}}
    if "values" in small:
        small["values"] = [row[:most] for row in small["values"]]
    return small


def _only_first_scores(record: Record) -> Record:
    def cut(part: Record) -> Record:
        first = part["answer"] or record
        wanted = first["learner"], first["metric"]
        return {
            name: [row for row in part[name] if (row["learner"], row["metric"]) == wanted]
            for name in ("scores", "baselines")
        }

    note = "Scores are those of the recommended estimator and the first metric only."
    return _with_note(_each_data(record, cut), note)


def _thin_counts(record: Record, most: int) -> Record:
    counts = sorted({count for part in record["data"] for count in part["counts"]})
    step = -(-len(counts) // most) if counts else 1
    kept = set(counts[::step]) | set(counts[-1:])
    kept |= {part["answer"]["count"] for part in record["data"] if part["answer"] is not None}
    lists = ("scores", "probes", "stability")
    record = _each_data(record, lambda part: _keep_rows(part, lists, "count", kept))
    return _with_note(record, "Some numbers of columns are left out of the charts.")


def _keep_rows(part: Record, lists: tuple[str, ...], field: str, kept: set[Any]) -> Record:
    return {name: [row for row in part[name] if row[field] in kept] for name in lists}


def _first_data(record: Record, most: int) -> Record:
    n_data = len(record["data"])
    if n_data <= most:
        return record
    note = f"The list of charts holds those of the first {most} of {n_data} data sets."
    data = [*record["data"][:most], *map(_only_answer, record["data"][most:])]
    return _with_note(record, note, data=data)


def _only_answer(part: Record) -> Record:
    parts = ("scores", "baselines", "times", "probes", "stability")
    lists: Record = {name: [] for name in parts}
    small = {**part, **lists, "frequencies": None, "correlation": None}
    small["significance"] = {**part["significance"], "methods": []}
    small["answer"] = small["answer"] and _cut_block(small["answer"], 0)
    return small


def _first_methods(record: Record, most: int) -> Record:
    methods = _best_methods(record, most)
    if len(methods) == len(record["methods"]):
        return record
    known = set(methods)
    note = f"The list of methods holds {len(methods)} of {len(record['methods'])}."

    def cut(part: Record) -> Record:
        return {
            **_keep_rows(part, ("scores", "times", "probes", "stability"), "method", known),
            "significance": significance(part["significance"]),
            "frequencies": part["frequencies"] and _keep_frequencies(part["frequencies"], known),
        }

    def significance(found: Record) -> Record:
        return found and {**found, **_keep_rows(found, ("methods",), "method", known)}

    record = {**_each_data(record, cut), "significance": significance(record["significance"])}
    return _with_note(record, note, methods=methods)


def _best_methods(record: Record, most: int) -> list[str]:
    """The recommended methods, then by mean rank, then as given; in the order given."""
    first = [part["answer"]["method"] for part in record["data"] if part["answer"] is not None]
    found = record["significance"] or record["data"][0]["significance"]
    ranked = sorted(found["methods"], key=lambda row: (row["average_rank"], row["method"]))
    first += [row["method"] for row in ranked]
    kept = set(list(dict.fromkeys([*first, *record["methods"]]))[:most])
    return [name for name in record["methods"] if name in kept]


def _keep_frequencies(block: Record, known: set[str]) -> Record:
    places = [i for i, name in enumerate(block["methods"]) if name in known]
    lists = {
        key: [[row[i] for i in places] for row in block[key]] for key in ("shares", "mean_ranks")
    }
    return {**block, **lists, "methods": [block["methods"][i] for i in places]}
