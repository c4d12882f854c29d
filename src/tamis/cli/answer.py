"""``tamis answer``: which columns matter, how many, and how sure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from tamis._runtime.memory import as_bytes
from tamis._runtime.wording import listed
from tamis.cli import _options, console
from tamis.data.roles import EXCLUDED, NOT_NAMED

METRICS = ("auc", "accuracy", "balanced_error", "r2", "mse")
# Exit code of a program that was stopped by Ctrl-C.
STOPPED = 130
# Why a column of the file is no feature, by its kind, for the page.
REASONS = {
    "identifier": "they look like identifiers (--include uses them)",
    "text": "they hold free text (--include encodes them as categories)",
    "nested": "they hold lists or other nested values",
}
GROUPED = "it holds the groups"
EPILOG = """
\b
Examples:
  tamis answer table.csv --target species
  tamis answer genes.parquet --target tumour --report report.html
  tamis answer visits.csv --target relapse --groups patient --out features.csv
  tamis answer table.csv --target price --time-limit 60 --json > answer.json

The page says how many columns carry the signal and what they predict on new rows, beside all
columns, as many random ones and guessing; then, for each of them, how often it is selected again,
a q-value, an e-value and the near-copies that could replace it. If nothing beats chance, it says
so. Ctrl-C prints what is known by then (exit code 130).
"""


@click.command(
    cls=console.Command, epilog=EPILOG, short_help="Which columns matter, how many, how sure."
)
@_options.data
@_options.target
@_options.path("--report", "Write a web page, too.")
@_options.path("--out", "Write the answer to .json, or its columns to .csv or .tsv, too.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Try less, so that it ends in time. [default: some minutes]",
)
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Memory beyond the table, such as 2GiB. [default: two copies of it, at least 1GiB]",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="False discovery rate, and level of the test that anything beats chance.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="What scores are. [default: auc for classification, r2 for regression]",
)
@click.option(
    "--groups",
    metavar="NAME",
    help="Column that groups the rows, such as the patient; rows of a group stay together.",
)
@_options.task
@_options.names("--columns", "Use only these columns.")
@_options.names("--include", "Use these too, though they look like text or ids.")
@_options.names("--exclude", "Do not use these columns.")
@click.option("--n-jobs", type=int, metavar="N", help="Processes. [default: all cores]")
@_options.json
@_options.force
@_options.quiet
@_options.debug
def answer(
    report: Path | None,
    out: Path | None,
    json: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Find the columns of DATA that matter for a target, and say how sure."""
    talk = console.Talk(quiet)
    with console.overheard(talk, debug):
        _check_outputs(report, out, request["data"], force)
        found, is_whole = _run(request, talk)
        for path, write in ((report, found.report), (out, write_answer(found))):
            if path is not None:
                write(path, force=force)
                console.remember_written(path)
                talk.say(f"wrote {path}")
    console.print_data(console.as_json(found.to_dict()) if json else page_of(found))
    if not is_whole:
        click.get_current_context().exit(STOPPED)


def page_of(found: Any) -> str:
    """The page as text without anything that would move the cursor."""
    return "".join(console.printable(line) + "\n" for line in str(found).split("\n"))


def _check_outputs(report: Path | None, out: Path | None, data: Path, force: bool) -> None:
    from tamis.cli.compare import check_apart
    from tamis.data import check_writable

    check_apart({"--report": report, "--out": out, "DATA": data})
    if out is not None and out.suffix.lower() not in (".json", ".csv", ".tsv"):
        raise console.Misuse(f"--out must end in .json, .csv or .tsv, got {str(out)!r}")
    for path in (report, out):
        if path is not None:
            check_writable(path, force)


def _run(request: dict[str, Any], talk: console.Talk) -> tuple[Any, bool]:
    """Read the table and find the answer; false beside it if it was stopped by hand."""
    from tamis.auto import AutoSelector
    from tamis.cli._fitting import fit_named
    from tamis.evaluation.metrics import make_metric

    prepared, groups, left_out = _prepare(request)
    _give_back_memory()
    talk.say(prepared.task_reason)
    # The column of the groups is left out for a reason of its own.
    is_own = groups is not None and not request["exclude"]
    for note in prepared.notes:
        if note != prepared.task_reason and not (is_own and EXCLUDED in note):
            talk.note(note)
    if request["metric"] is not None:
        with console.misuse_if_refused("--metric: "):
            make_metric(request["metric"], str(prepared.task))
    if request["memory_limit"] is not None:
        with console.misuse_if_refused("--memory-limit: "):
            as_bytes(request["memory_limit"], "answer")
    selector = AutoSelector(
        level=request["level"],
        metric=request["metric"],
        time_limit=request["time_limit"],
        memory_limit=request["memory_limit"],
        task=str(prepared.task),
        n_jobs=-1 if request["n_jobs"] is None else request["n_jobs"],
    )
    is_whole = True
    try:
        fit_named(selector, prepared, talk, **({} if groups is None else {"groups": groups}))
    except KeyboardInterrupt:
        if not hasattr(selector, "answer_"):
            raise
        is_whole = False
    found = selector.answer_
    return replace(found, left_out=(*left_out, *found.left_out)), is_whole


def _give_back_memory() -> None:
    """Let go of what Arrow keeps of the file, whose columns are numbers now."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _prepare(request: dict[str, Any]) -> tuple[Any, Any, list[tuple[str, str]]]:
    """The table as numbers, the group of every row, and the columns that are no features."""
    from tamis.cli._fitting import column_names
    from tamis.data import prepare, read_table
    from tamis.data.preparation import make_choice

    table = read_table(request["data"])
    target, grouped = request["target"] or table.target_name, request["groups"]
    if target is None:
        raise console.Misuse(
            "--target is needed: the column to predict; the columns are "
            f"{listed(table.column_names)}"
        )
    names = column_names(table, request)
    if grouped is not None:
        names["exclude"] = [*(names["exclude"] or ()), grouped]
    with console.misuse_if_refused():  # wrong names are the user's mistakes, the rest is the data's
        make_choice(table, target, **names)
    prepared = prepare(table, target, task=request["task"], **names)
    groups = None if grouped is None else _groups(table, grouped, target, request["task"])
    return prepared, groups, list(_left_out(prepared.roles, grouped))


def _groups(table: Any, name: str, target: str, task: str | None) -> Any:
    """Group of every row that has a target."""
    from tamis.data.table_target import find_target
    from tamis.exceptions import InputError

    if table.arrow is None:
        column = table.matrix[:, [table.names.index(name)]]
        values = np.asarray(column.todense() if hasattr(column, "todense") else column).ravel()
        missing = np.isnan(values)
    else:
        values = np.array([str(value) for value in table.arrow[name].to_pylist()])
        missing = np.asarray(table.arrow[name].is_null())
    kept = find_target(table, target, task).kept
    if kept is not None:
        values, missing = values[kept], missing[kept]
    if missing.any():
        raise InputError(
            f"{table.who}: expected a group for every row in column {name!r}, got "
            f"{int(missing.sum()):,} missing ones; give those rows a group or leave them out."
        )
    return values


def _left_out(roles: Any, grouped: str | None) -> Iterator[tuple[str, str]]:
    for role in roles:
        if role.name == grouped:
            yield role.name, GROUPED
        elif not role.used and role.kind != "target":
            is_asked = role.reason in (EXCLUDED, NOT_NAMED)
            yield role.name, f"they are {role.reason}" if is_asked else REASONS[role.kind]


def write_answer(found: Any) -> Any:
    """What writes the answer as JSON, or its columns as CSV or TSV."""

    def write(path: Path, force: bool = False) -> None:
        from tamis.auto import FeatureEvidence
        from tamis.data import atomic_path
        from tamis.data.writing import open_text_output

        kind = path.suffix.lower()
        if kind == ".json":
            text = console.as_json(found.to_dict())
        else:
            rows = [{**vars(each), "replaceable_by": _copies(each)} for each in found.features]
            columns = [each.name for each in fields(FeatureEvidence)]
            text = console.as_csv(rows, columns, "," if kind == ".csv" else "\t")
        with atomic_path(path, force) as temporary, open_text_output(temporary) as stream:
            stream.write(text)

    return write


def _copies(feature: Any) -> str:
    return "; ".join(f"{name} (r = {r:.2f})" for name, r in feature.replaceable_by)
