"""``tamis select``: write the table again with the selected columns only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tamis.cli import _options
from tamis.cli.console import (
    Command,
    Misuse,
    Talk,
    misuse_if_refused,
    overheard,
    remember_written,
)

EPILOG = """
\b
Examples:
  tamis select table.csv --target species --out reduced.parquet
  tamis select table.parquet --target price --select 20 --keep region --out reduced.parquet
  tamis select table.csv --target species --out reduced.csv --write-manifest choice.json
  tamis select other.csv --manifest choice.json --out other-reduced.csv

The selected columns and the target are written in their original order; rows, types and, from
text to text, every cell stay as they are. Columns named in --keep are written whatever they hold.

A manifest is a JSON file that says what was selected and how. With --manifest nothing is ranked:
the columns it names are written, in its order, and those of --keep and --target after them.
"""
# With --manifest these say what else to write; all others choose columns.
ALLOWED = ("data", "target", "keep")


@click.command(cls=Command, epilog=EPILOG, short_help="Write the selected columns of a table.")
@_options.table_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The reduced table: .csv, .tsv, .parquet, .feather or .npz.",
)
@click.option(
    "--write-manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what was selected and how to a JSON file, for --manifest.",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the columns that this file names, without a target and without ranking.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print the ranking as one JSON object.")
@_options.force
@_options.quiet
@_options.debug
def select(
    out: Path,
    write_manifest: Path | None,
    manifest: Path | None,
    as_json_: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Write the selected columns of DATA, and the target, to a new table."""
    from tamis.cli._fitting import Request, rank_table
    from tamis.cli._output import as_json, print_data, summarize

    talk = Talk(quiet)
    with overheard(talk, debug):
        _check_output(out, force)
        if manifest is not None:
            others = {"json": as_json_, "write_manifest": write_manifest}
            apply_manifest(manifest, out, force, talk, {**request, **others})
            return
        check_manifest_output(write_manifest, out, request["data"], force)
        ranked = rank_table(Request(**request), talk)
        _write(ranked, out, force, talk)
        if write_manifest is not None:
            put_manifest(ranked, write_manifest, force, talk)
    if as_json_:
        print_data(as_json(summarize(ranked)))


def _check_output(out: Path, force: bool) -> None:
    from tamis.data import check_writable, table_format

    with misuse_if_refused("--out: "):
        table_format(out)
    check_writable(out, force)


def _write(ranked: Any, out: Path, force: bool, talk: Talk) -> None:
    from tamis.data import reduce_table, write_table

    reduced = reduce_table(ranked.table, ranked.selected, target=ranked.target)
    for note in reduced.notes[len(ranked.table.notes) :]:
        talk.note(note)
    write_table(reduced, out, force=force)
    remember_written(out)
    known = ranked.target is not None
    n_columns = len(ranked.table.column_names) - known
    target = f" and the target {ranked.target!r}" if known else ""
    talk.say(
        f"kept {len(ranked.selected):,} of {n_columns:,} columns{target}, "
        f"all {ranked.table.n_rows:,} rows: {out}"
    )


def check_manifest_output(path: Path | None, out: Path, data: Path, force: bool) -> None:
    """Make sure, before the long work, that a manifest can be written, and over nothing else."""
    if path is None:
        return
    for name, other in (("the reduced table", out), ("the table itself", data)):
        if path.resolve() == other.resolve():
            raise Misuse(f"--write-manifest must not be {name}, got {str(path)!r}")
    from tamis.data import check_writable

    check_writable(path, force)


def put_manifest(ranked: Any, path: Path, force: bool, talk: Talk) -> None:
    """Write what was selected, and say so."""
    from tamis.manifest import make_manifest, write_manifest

    prepared = ranked.prepared
    record = make_manifest(
        ranked.selector,
        data=prepared.X,
        names=prepared.feature_names,
        carried=ranked.carried,
        target=ranked.target,
        task=prepared.task,
    )
    write_manifest(record, path, force=force)
    remember_written(path)
    talk.say(f"wrote {path}")


def apply_manifest(
    path: Path, out: Path, force: bool, talk: Talk, options: Mapping[str, Any]
) -> None:
    """Write the columns that a manifest names, those of ``--keep``, and the target if given."""
    from tamis.cli._options import known_names
    from tamis.data import read_table, write_table
    from tamis.manifest import apply, read_manifest

    _check_alone(options)
    record = read_manifest(path)
    table = read_table(options["data"])
    target = options["target"]
    also = known_names((*options["keep"], *([] if target is None else [target])), table)
    reduced = apply(record, table, also=also)
    if target is not None and reduced.arrow is not None:
        reduced = replace(reduced, target_name=target)
    for note in reduced.notes[len(table.notes) :]:
        talk.note(note)
    write_table(reduced, out, force=force)
    remember_written(out)
    n_kept, n_columns = len(reduced.column_names), len(table.column_names)
    talk.say(
        f"kept {n_kept:,} of {n_columns:,} columns as {path.name} says ({record.method}), "
        f"all {table.n_rows:,} rows: {out}"
    )


def _check_alone(options: Mapping[str, Any]) -> None:
    """Refuse options that would choose columns in another way."""
    for name, value in options.items():
        if name not in ALLOWED and value not in (None, (), False):
            raise Misuse(
                f"--manifest says which columns to write, so --{name.replace('_', '-')} has "
                "nothing to decide; leave one of the two out"
            )
