"""A selection written to a manifest, and one that a manifest names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tamis.cli._choices import known_names
from tamis.cli._errors import Misuse, remember_written
from tamis.cli._fitting import Outcome
from tamis.cli._talk import Talk
from tamis.data import check_writable, read_table, write_table
from tamis.manifest import apply, make_manifest, read_manifest
from tamis.manifest import write_manifest as write

# With a manifest these say what is in the output beside its columns; the others choose columns.
ALLOWED = ("data", "target", "keep")


def check_manifest_output(path: Path | None, out: Path, data: Path, force: bool) -> None:
    """Make sure, before the long work, that a manifest can be written, and over nothing else."""
    if path is None:
        return
    for name, other in (("the reduced table", out), ("the table itself", data)):
        if path.resolve() == other.resolve():
            raise Misuse(f"--write-manifest must not be {name}, got {str(path)!r}")
    check_writable(path, force)


def put_manifest(outcome: Outcome, path: Path, force: bool, talk: Talk) -> None:
    """Write what was selected, and say so."""
    prepared = outcome.prepared
    record = make_manifest(
        outcome.selector,
        data=prepared.X,
        names=prepared.feature_names,
        carried=outcome.carried,
        target=outcome.target,
        task=prepared.task,
    )
    write(record, path, force=force)
    remember_written(path)
    talk.say(f"wrote {path}")


def apply_manifest(
    path: Path, out: Path, force: bool, talk: Talk, options: Mapping[str, Any]
) -> None:
    """Write the columns that a manifest names, those of ``--keep``, and the target if given."""
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
