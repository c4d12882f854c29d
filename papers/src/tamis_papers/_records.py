"""Results of complete runs as CSV files, from which the pages are written.

::

    <paper>.csv              a line per number: case, theirs, ours, interval, repeats, verdict
    claims.csv               a line per sentence of a paper: verdict and evidence
    runs.csv                 a line per experiment: seed, repeats, time, versions, figures
    notes.csv                findings, remarks and titles of tables, a line each
    <experiment>-table-<n>.csv    tables that an experiment makes by itself
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tamis.data import atomic_path

Record = dict[str, Any]

# Columns of a number after its experiment and its case.
NUMBER = (
    *("theirs", "unit", "rounding", "doubtful", "quoted", "ours", "low", "high", "repeats"),
    *("once", "at_least", "note", "verdict", "why"),
)
FLOATS = ("theirs", "rounding", "ours", "low", "high")
FLAGS = ("doubtful", "quoted", "once", "at_least")
CLAIM = ("experiment", "name", "text", "quote", "word", "evidence")
RUN = ("experiment", "seed", "repeats", "planned", "seconds", "versions", "figures")
NOTE = ("experiment", "kind", "text")
KINDS = {"finding": "findings", "remark": "remarks"}
CLAIMS, RUNS, NOTES = "claims.csv", "runs.csv", "notes.csv"


def paper_of(name: str) -> str:
    """Name of the page, and of the CSV file, of an experiment."""
    return name.partition("-")[0]


def write_records(folder: Path, records: Mapping[str, Record]) -> None:
    """Write all CSV files; the order of the experiments is kept."""
    for paper in dict.fromkeys(map(paper_of, records)):
        part = {name: one for name, one in records.items() if paper_of(name) == paper}
        keys = dict.fromkeys(key for one in part.values() for r in one["rows"] for key in r["case"])
        lines = [
            [name, *(_text(row["case"].get(key)) for key in keys), *(_text(row[k]) for k in NUMBER)]
            for name, one in part.items()
            for row in one["rows"]
        ]
        if lines:
            _write(folder / f"{paper}.csv", ["experiment", *keys, *NUMBER], lines)
    claims = [[name, *(c[key] for key in CLAIM[1:])] for name, c in _each(records, "claims")]
    _write(folder / CLAIMS, CLAIM, claims)
    _write(folder / RUNS, RUN, [_run_line(name, one) for name, one in records.items()])
    notes = []
    for name, one in records.items():
        notes += [[name, "table", title] for title in one["tables"]]
        notes += [[name, kind, text] for kind, many in KINDS.items() for text in one[many]]
        for n, table in enumerate(one["tables"].values(), start=1):
            _write(folder / f"{name}-table-{n}.csv", table[0], table[1:])
    _write(folder / NOTES, NOTE, notes)


def read_records(folder: Path) -> dict[str, Record]:
    """What `write_records` wrote; nothing where there are no files."""
    if not (folder / RUNS).is_file():
        return {}
    records: dict[str, Record] = {}
    for line in _read(folder / RUNS):
        records[line["experiment"]] = {
            "seed": int(line["seed"]),
            "repeats": int(line["repeats"]) if line["repeats"] else None,
            "planned": int(line["planned"]),
            "seconds": float(line["seconds"]),
            "versions": dict(part.split(" ", 1) for part in line["versions"].split(", ")),
            "figures": line["figures"].split(),
            **{"rows": [], "claims": [], "tables": {}, "findings": [], "remarks": []},
        }
    for paper in dict.fromkeys(map(paper_of, records)):
        if (folder / f"{paper}.csv").is_file():
            for line in _read(folder / f"{paper}.csv"):
                records[line["experiment"]]["rows"].append(_row(line))
    for line in _read(folder / CLAIMS):
        records[line.pop("experiment")]["claims"].append(line)
    for line in _read(folder / NOTES):
        one = records[line["experiment"]]
        if line["kind"] != "table":
            one[KINDS[line["kind"]]].append(line["text"])
            continue
        file = folder / f"{line['experiment']}-table-{len(one['tables']) + 1}.csv"
        one["tables"][line["text"]] = list(_lines(file))
    return records


def _each(records: Mapping[str, Record], what: str) -> Iterable[tuple[str, Any]]:
    return ((name, item) for name, one in records.items() for item in one[what])


def _run_line(name: str, one: Record) -> list[str]:
    versions = ", ".join(f"{package} {version}" for package, version in one["versions"].items())
    known = {**one, "versions": versions, "figures": " ".join(one["figures"])}
    return [name, *(_text(known[key]) for key in RUN[1:])]


def _row(line: Record) -> Record:
    case = {key: item for key, item in line.items() if key not in NUMBER and item}
    case.pop("experiment")
    row: Record = {"case": case, **{key: line[key] for key in NUMBER}}
    row |= {key: float(row[key]) if row[key] else None for key in FLOATS}
    row |= {key: row[key] == "yes" for key in FLAGS}
    return row | {"repeats": int(row["repeats"]), "unit": row["unit"] or None}


def _text(item: Any) -> str:
    """Numbers with all their digits, flags as yes or nothing."""
    if item is None or item is False:
        return ""
    if isinstance(item, float):
        return f"{item:.10g}"
    return "yes" if item is True else str(item)


def _write(file: Path, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *lines])
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(file, force=True) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def _lines(file: Path) -> Iterable[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        yield from csv.reader(stream)


def _read(file: Path) -> Iterable[dict[str, str]]:
    head, *lines = _lines(file)
    return [dict(zip(head, line, strict=True)) for line in lines]
