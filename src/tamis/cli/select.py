"""``tamis select``: write the table again with the selected columns only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tamis.cli import _help, _options, console
from tamis.cli.rank import summarize
from tamis.data import RawTable, check_writable, read_table, reduce_table, table_format, write_table

# With --manifest these say what else to write; all others choose columns.
ALLOWED = ("data", "target", "keep")


@click.command(
    cls=console.Command, epilog=_help.SELECT, short_help="Write the selected columns of a table."
)
@_options.table_options
@_options.path("--out", "The reduced table: .csv, .tsv, .parquet, .feather or .npz.", required=True)
@_options.path(
    "--write-manifest", "Write what was selected and how to a JSON file, for --manifest."
)
@_options.path(
    "--manifest", "Write the columns that this file names, without a target and without ranking."
)
@click.option("--json", is_flag=True, help="Print the ranking as one JSON object.")
@_options.force
@_options.quiet
@_options.debug
def select(
    out: Path,
    write_manifest: Path | None,
    manifest: Path | None,
    json: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Write the selected columns of DATA, and the target, to a new table."""
    from tamis.cli._fitting import Request, rank_table

    talk = console.Talk(quiet)
    with console.overheard(talk, debug):
        with console.misuse_if_refused("--out: "):
            table_format(out)
        check_writable(out, force)
        if manifest is not None:
            _check_alone({**request, "json": json, "write_manifest": write_manifest})
            _apply_manifest(manifest, out, force, talk, request)
            return
        if write_manifest is not None:
            _check_manifest_output(write_manifest, out, request["data"], force)
        ranked = rank_table(Request(**request), talk)
        _write_selected(ranked, out, force, talk)
        if write_manifest is not None:
            _write_manifest(ranked, write_manifest, force, talk)
    if json:
        console.print_data(console.as_json(summarize(ranked)))


def _write_selected(ranked: Any, out: Path, force: bool, talk: console.Talk) -> None:
    table, target = ranked.table, ranked.target
    support = zip(ranked.prepared.feature_names, ranked.selector.support_, strict=True)
    wanted = {name for name, chosen in support if chosen} | set(ranked.carried)
    if not wanted:
        raise console.Failure(
            "no column was selected, so nothing was written; to write some all the same, set "
            "--select to a number or elbow, or choose another --method"
        )
    selected = [name for name in table.names if name in wanted]
    _write(reduce_table(table, selected, target=target), table, out, force, talk)
    known = target is not None
    talk.say(
        f"kept {len(selected):,} of {len(table.column_names) - known:,} columns"
        f"{f' and the target {target!r}' if known else ''}, all {table.n_rows:,} rows: {out}"
    )


def _write(reduced: RawTable, table: RawTable, out: Path, force: bool, talk: console.Talk) -> None:
    for note in reduced.notes[len(table.notes) :]:
        talk.note(note)
    write_table(reduced, out, force=force)
    console.remember_written(out)


def _check_manifest_output(path: Path, out: Path, data: Path, force: bool) -> None:
    """Make sure, before the long work, that a manifest can be written, and over nothing else."""
    for name, other in (("the reduced table", out), ("the table itself", data)):
        if path.resolve() == other.resolve():
            raise console.Misuse(f"--write-manifest must not be {name}, got {str(path)!r}")
    check_writable(path, force)


def _write_manifest(ranked: Any, path: Path, force: bool, talk: console.Talk) -> None:
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
    console.remember_written(path)
    talk.say(f"wrote {path}")


def _apply_manifest(
    path: Path, out: Path, force: bool, talk: console.Talk, options: Mapping[str, Any]
) -> None:
    """Write the columns that a manifest names, those of ``--keep``, and the target if given."""
    from tamis.manifest import apply, read_manifest

    record = read_manifest(path)
    table = read_table(options["data"])
    target = options["target"]
    also = _options.known_names((*options["keep"], *([] if target is None else [target])), table)
    reduced = apply(record, table, also=also)
    if target is not None and reduced.arrow is not None:
        reduced = replace(reduced, target_name=target)
    _write(reduced, table, out, force, talk)
    n_kept, n_columns = len(reduced.column_names), len(table.column_names)
    talk.say(
        f"kept {n_kept:,} of {n_columns:,} columns as {path.name} says ({record.method}), "
        f"all {table.n_rows:,} rows: {out}"
    )


def _check_alone(options: Mapping[str, Any]) -> None:
    """Refuse options that would choose columns in another way."""
    for name, value in options.items():
        if name not in ALLOWED and value not in (None, (), False):
            raise console.Misuse(
                f"--manifest says which columns to write, so --{name.replace('_', '-')} has "
                "nothing to decide; leave one of the two out"
            )
