"""A ranking as CSV or JSON text, or as a file of any format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import click

from tamis.cli._errors import Misuse, remember_written
from tamis.data import RawTable, atomic_path, check_writable, table_format, write_table
from tamis.data.formats._streams import open_text_output
from tamis.exceptions import InputError

COLUMNS = ("rank", "feature", "score", "selected")
FORMATS = ".csv, .tsv, .json, .parquet or .feather"


def ranking_format(path: Path) -> str:
    """Tell the format of a ranking from its name; an unknown one is a usage error."""
    if path.suffix.lower() == ".json":
        return "json"
    try:
        kind = table_format(path)
    except InputError:
        kind = None
    if kind in (None, "npz"):
        raise Misuse(f"--out must end in {FORMATS}, got {str(path)!r}")
    return kind


def check_ranking_output(path: Path, data: Path, force: bool) -> None:
    """Make sure, before the long work, that the ranking can be written, and not over the data."""
    ranking_format(path)
    if path.exists() and data.exists() and path.samefile(data):
        raise Misuse(f"--out must not be the table itself, got {str(path)!r}")
    check_writable(path, force)


def as_csv(summary: dict[str, Any], top: int | None = None, delimiter: str = ",") -> str:
    """Write the ranking as CSV: rank, feature, score, selected.

    Parameters
    ----------
    summary : dict
        From :func:`tamis.cli._summary.summarize`.
    top : int or None, default=None
        Rows to write; None means all.
    delimiter : str, default=","
        Between cells.

    Returns
    -------
    str
        Header and rows; numbers in full precision.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in summary["features"][:top]:
        writer.writerow([row["rank"], row["feature"], row["score"], str(row["selected"]).lower()])
    return text.getvalue()


def as_json(summary: Any) -> str:
    """Write strict JSON, readable by people too."""
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def print_data(text: str) -> None:
    """Write to stdout as UTF-8 whatever the locale says, at once."""
    click.echo(text.encode("utf-8", errors="backslashreplace"), nl=False)


def write_ranking(summary: dict[str, Any], path: Path, force: bool = False) -> None:
    """Write the ranking to a file, whole or not at all."""
    kind = ranking_format(path)
    if kind in ("parquet", "feather"):
        write_table(_as_table(summary), path, force=force)
    else:
        text = as_json(summary) if kind == "json" else _as_text(summary, kind)
        with atomic_path(path, force) as temporary, open_text_output(temporary) as stream:
            stream.write(text)
    remember_written(path)


def _as_text(summary: dict[str, Any], kind: str) -> str:
    return as_csv(summary, delimiter="," if kind == "csv" else "\t")


def _as_table(summary: dict[str, Any]) -> RawTable:
    import pyarrow as pa

    rows = summary["features"]
    return RawTable.from_arrow(pa.table({name: [row[name] for row in rows] for name in COLUMNS}))
