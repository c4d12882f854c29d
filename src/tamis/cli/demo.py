"""``tamis demo``: the answer on a wide table whose truth is known, and on the same one shuffled."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from tamis.cli import _options
from tamis.cli.answer import page_of, write_answer
from tamis.cli.console import Command, Talk, overheard, remember_written
from tamis.data import RawTable, check_writable, prepare, write_table
from tamis.exceptions import InputError

EPILOG = """
\b
Examples:
  tamis demo
  tamis demo --out /tmp/tamis-demo --force

The table is drawn at random, always the same one: 90 samples, 1,000 genes in blocks of three
near-copies, ten of which differ between tumour and healthy samples, some clearly and some hardly.
So what the answer found and missed can be told. With the labels shuffled, nothing is to be found.
"""
DATA, ANSWER, REPORT = "genes.csv", "answer.json", "report.html"
FILES = (DATA, ANSWER, REPORT)
SIZE = {"n_samples": 90, "n_features": 1000, "block_size": 3, "random_state": 0}
TARGET, LABELS = "sample", ("healthy", "tumour")
# Only a slow machine needs it.
TIME_LIMIT = 600.0


@click.command(
    cls=Command, epilog=EPILOG, short_help="Answer for a table whose truth is known; report."
)
@_options.path(
    "--out",
    "Where the table, the answer and the report go.",
    metavar="FOLDER",
    default="tamis-demo",
    show_default=True,
)
@_options.force
@_options.debug
def demo(out: Path, force: bool, debug: bool) -> None:
    """Find the genes that matter in a table whose truth is known, and nothing in a shuffled one."""
    talk = Talk()
    with overheard(talk, debug), _folder(out, force):
        table, truth = demo_table()
        click.echo(
            f"{table.n_rows} samples x {len(table.names):,} genes, {truth.relevant.size} of which "
            "differ between tumour and healthy samples.\n"
        )
        found = _answer(table, talk)
        click.echo(page_of(found))
        click.echo(compare_with_truth(found.columns, truth))
        click.echo("\nThe same table with the labels shuffled, so that nothing is to be found:\n")
        shuffled = np.random.default_rng(0).permutation(np.asarray(table.target))
        click.echo(page_of(_answer(replace(table, target=shuffled), talk)), nl=False)
        write_table(table, out / DATA, force=force)
        for name, write in ((ANSWER, write_answer(found)), (REPORT, found.report)):
            write(out / name, force=force)
        for name in FILES:
            remember_written(out / name)
        click.echo(f"\nSaved in {out}: {', '.join(FILES)}")
    _print_next_steps(out)


@contextmanager
def _folder(out: Path, force: bool) -> Iterator[None]:
    """Make the folder, check that the files can go there, and leave no empty one behind."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if out.is_file() else error.strerror
        raise InputError(
            f"{out}: expected a folder to write to, got: {reason}; choose another with --out."
        ) from error
    try:
        for name in FILES:
            check_writable(out / name, force)
        yield
    except BaseException:
        with suppress(OSError):  # not empty, and so not ours to remove
            out.rmdir()
        raise


def _answer(table: RawTable, talk: Talk) -> Any:
    """The answer for a table; that nothing was selected is on the page, not in a warning."""
    import warnings

    from tamis.auto import AutoSelector
    from tamis.cli._fitting import fit_named

    prepared = prepare(table)
    selector = AutoSelector(task=str(prepared.task), time_limit=TIME_LIMIT, n_jobs=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_named(selector, prepared, talk)
    return selector.answer_


def demo_table() -> tuple[RawTable, Any]:
    """The table of the demo, and what is known of it."""
    from tamis.datasets import make_expression_like

    truth = make_expression_like(**SIZE)
    labels = np.array(LABELS)[truth.y]
    # Four decimals, so that the file holds exactly what was answered for.
    table = RawTable.from_matrix(truth.X.round(4), labels, truth.feature_names, "genes")
    return replace(table, target_name=TARGET), truth


def compare_with_truth(columns: list[str], truth: Any) -> str:
    """Which of the genes that matter were found, themselves or by a near-copy, and which not."""
    position = {name: j for j, name in enumerate(truth.feature_names)}
    chosen = [position[name] for name in columns]
    blocks = set(truth.block[chosen].tolist())
    lines = []
    for j, effect in zip(truth.relevant.tolist(), truth.effects, strict=True):
        name = truth.feature_names[j]
        if j in chosen:
            fate = "found"
        elif truth.block[j] in blocks:
            copies = [truth.feature_names[i] for i in chosen if truth.block[i] == truth.block[j]]
            fate = f"found by its near-copy {copies[0]}"
        else:
            fate = "missed"
        lines.append(f"  {name}  differs by {effect:.2f} standard deviations: {fate}")
    n_found = sum(truth.block[j] in blocks for j in truth.relevant)
    n_false = sum(truth.block[i] not in truth.block[truth.relevant] for i in chosen)
    return (
        f"The truth: {n_found} of {truth.relevant.size} genes that matter were found (a near-copy "
        f"counts), {n_false} of {len(chosen)} genes selected do not matter.\n" + "\n".join(lines)
    )


def _print_next_steps(out: Path) -> None:
    data, reduced = shlex.quote(str(out / DATA)), shlex.quote(str(out / "reduced.parquet"))
    click.echo(
        "\nNext, try:\n"
        f"  tamis answer {data} --target {TARGET} --time-limit 30\n"
        f"  tamis rank {data} --target {TARGET} --method relieff --select 10\n"
        f"  tamis select {data} --target {TARGET} --select fdr:0.1 --out {reduced}\n"
        f"  tamis compare {data} --target {TARGET} --methods dft,svmrfe --splits 5\n"
        "  tamis methods"
    )
