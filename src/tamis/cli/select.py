"""``tamis select``: write the table again with the selected columns only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli import _options
from tamis.cli._errors import Command, misuse_if_refused, remember_written
from tamis.cli._talk import Talk, overheard

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
    from tamis.cli._manifest import apply_manifest, check_manifest_output, put_manifest
    from tamis.cli._ranking_file import as_json, print_data
    from tamis.cli._summary import summarize

    talk = Talk(quiet)
    with overheard(talk, debug):
        _check_output(out, force)
        if manifest is not None:
            others = {"json": as_json_, "write_manifest": write_manifest}
            apply_manifest(manifest, out, force, talk, {**request, **others})
            return
        check_manifest_output(write_manifest, out, request["data"], force)
        outcome = rank_table(Request(**request), talk)
        _write(outcome, out, force, talk)
        if write_manifest is not None:
            put_manifest(outcome, write_manifest, force, talk)
    if as_json_:
        print_data(as_json(summarize(outcome)))


def _check_output(out: Path, force: bool) -> None:
    from tamis.data import check_writable, table_format

    with misuse_if_refused("--out: "):
        table_format(out)
    check_writable(out, force)


def _write(outcome: Any, out: Path, force: bool, talk: Talk) -> None:
    from tamis.data import reduce_table, write_table

    reduced = reduce_table(outcome.table, outcome.selected, target=outcome.target)
    for note in reduced.notes[len(outcome.table.notes) :]:
        talk.note(note)
    write_table(reduced, out, force=force)
    remember_written(out)
    known = outcome.target is not None
    n_columns = len(outcome.table.column_names) - known
    target = f" and the target {outcome.target!r}" if known else ""
    talk.say(
        f"kept {len(outcome.selected):,} of {n_columns:,} columns{target}, "
        f"all {outcome.table.n_rows:,} rows: {out}"
    )
