"""``tamis demo``: all of it on a data set that comes with scikit-learn."""

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
from tamis.cli.console import Command, Talk, overheard, remember_written
from tamis.cli.rank import summarize
from tamis.cutoff import Elbow
from tamis.data import RawTable, atomic_path, check_writable, prepare, write_table
from tamis.exceptions import InputError
from tamis.selectors import make_selector

EPILOG = """
\b
Examples:
  tamis demo
  tamis demo --out /tmp/tamis-demo --force

The table is the breast cancer data of scikit-learn (569 tumours, 30 measurements), with a
shuffled copy of every column beside it. Shuffled columns are noise for certain, so whether they
end up below the cut shows what a ranking is worth.
"""
DATA, PICTURE, REPORT = "breast_cancer.csv", "score_curve.png", "report.html"
FILES = (DATA, "ranking.csv", "ranking.json", REPORT, PICTURE)
METHODS = ("dft", "fisher", "mutualinformation", "relieff", "mrmr", "randomranking")
N_SPLITS = 10
NOISE = "shuffled "


@click.command(
    cls=Command, epilog=EPILOG, short_help="Rank a known table, compare methods, write a report."
)
@_options.path(
    "--out",
    "Where the table, the ranking, the report and the picture go.",
    metavar="FOLDER",
    default="tamis-demo",
    show_default=True,
)
@_options.force
@_options.debug
def demo(out: Path, force: bool, debug: bool) -> None:
    """Rank a known table, check it on unseen rows, compare methods, and write a report."""
    from tamis.cli._fitting import RankedTable, fit_named
    from tamis.cli._output import show_ranking, write_ranking

    talk = Talk()
    with overheard(talk, debug), _folder(out, force):
        click.echo("Breast cancer: 569 tumours, 30 measurements and a shuffled copy of each.\n")
        table = demo_table()
        prepared = prepare(table)
        selector = make_selector("dft", n_features_to_select=Elbow())
        fit_named(selector, prepared, talk)
        summary = summarize(RankedTable(table, prepared, "dft", selector, table.target_name))
        show_ranking(summary, top=30)
        _print_evaluation(table, summary)
        comparison = _compare(prepared, talk)
        write_table(table, out / DATA, force=force)
        remember_written(out / DATA)
        for name in FILES[1:3]:
            write_ranking(summary, out / name, force)
        comparison.to_html(out / REPORT, force=force)
        remember_written(out / REPORT)
        names = FILES if _draw(selector, out / PICTURE, force, talk) else FILES[:-1]
        click.echo(f"\nSaved in {out}: {', '.join(names)}")
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


def _print_evaluation(table: Any, summary: dict[str, Any]) -> None:
    noise = [row["rank"] for row in summary["features"] if row["feature"].startswith(NOISE)]
    click.echo(
        f"\nThe best of the {len(noise)} shuffled columns has rank {noise[0]}.\n"
        "\nAccuracy of logistic regression on unseen rows (5-fold cross-validation, columns\n"
        "selected anew inside every fold), and how many shuffled columns it used:"
    )
    contests = {"all columns": "all", "early elbow": Elbow("early"), "late elbow": Elbow("late")}
    for name, rule in contests.items():
        found = evaluate(table, make_selector("dft", n_features_to_select=rule))
        low, high = found.n_columns.min(), found.n_columns.max()
        count = f"{low}" if low == high else f"{low} to {high}"
        click.echo(
            f"  {name:<12} {count:>8} columns   {found.accuracy.mean():.3f} "
            f"± {found.accuracy.std(ddof=1):.3f}   shuffled: {found.n_noise.mean():g}"
        )


def _compare(prepared: Any, talk: Talk) -> Any:
    """Set some methods against each other, one of them random."""
    from tamis.cli.compare import named_bunch, show
    from tamis.evaluation import compare
    from tamis.evaluation.protocols import RepeatedSplits

    click.echo(f"\n{len(METHODS)} methods on {N_SPLITS} splits, ranking the training rows only:\n")
    found = compare(
        list(METHODS),
        {"breast_cancer": named_bunch(prepared)},
        protocol=RepeatedSplits(N_SPLITS),
        counts=(2, 5, 10, 15, 20, 30, 60),
        progress=talk.shows_progress,
    )
    show(found)
    return found


def _draw(selector: Any, path: Path, force: bool, talk: Talk) -> bool:
    """Draw the score curve without a window; without matplotlib, say what brings it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        talk.note(f"no {path.name}: it needs matplotlib; run: pip install 'tamis[plot]'")
        return False
    from tamis.plots import ScoreCurveDisplay

    axes = Figure(figsize=(7, 4.2), layout="constrained").subplots()
    figure = ScoreCurveDisplay.from_estimator(selector, ax=axes).figure_
    with atomic_path(path, force) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
    remember_written(path)
    return True


def _print_next_steps(out: Path) -> None:
    data, reduced = shlex.quote(str(out / DATA)), shlex.quote(str(out / "reduced.parquet"))
    click.echo(
        "\nNext, try:\n"
        f"  tamis rank {data} --target diagnosis --select 10\n"
        f"  tamis select {data} --target diagnosis --select late --out {reduced}\n"
        f"  tamis compare {data} --target diagnosis --methods dft,svmrfe --splits 5\n"
        "  tamis methods"
    )


def demo_table() -> RawTable:
    """Build the breast cancer table of scikit-learn with 30 noise columns beside the 30 real ones.

    A shuffled column has the values of the real one and no relation to the diagnosis, so a good
    ranking puts every one of them below the cut.
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    noise = np.random.default_rng(0).permuted(data.data, axis=0)
    names = [str(name) for name in data.feature_names]
    labels = np.asarray(data.target_names, dtype=str)[data.target]
    names += [NOISE + name for name in names]
    table = RawTable.from_matrix(np.hstack([data.data, noise]), labels, names, "breast_cancer")
    return replace(table, target_name="diagnosis")


def evaluate(table: RawTable, selector: Any) -> Any:
    """Cross-validate logistic regression on the columns selected in each fold.

    Returns, per fold, the accuracy, the number of columns and how many of them were shuffled.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import Bunch

    result = cross_validate(
        make_pipeline(selector, StandardScaler(), LogisticRegression(max_iter=1000)),
        table.matrix,
        table.target,
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        return_estimator=True,
    )
    supports = np.array([model[0].support_ for model in result["estimator"]])
    is_noise = np.array([name.startswith(NOISE) for name in table.names])
    return Bunch(
        accuracy=result["test_score"],
        n_columns=supports.sum(axis=1),
        n_noise=supports[:, is_noise].sum(axis=1),
    )
