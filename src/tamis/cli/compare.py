"""``tamis compare``: which method, how many columns, and will the same ones come again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli import _options, console

DEFAULT_METHODS = {
    "classification": ("dft", "fisher", "mutualinformation", "relieff", "mrmr", "treeimportance"),
    "regression": ("rft", "correlation", "mutualinformation", "relieff", "mrmr", "treeimportance"),
}
# Options of the methods that are taken without being asked for: one must not take all the time.
QUICK = {"treeimportance": {"estimator": "fast"}}
EPILOG = """
\b
Examples:
  tamis compare table.csv --target species --report report.html
  tamis compare table.csv --target y --methods dft,relieff,svmrfe --counts 5,10,20
  tamis compare genes.parquet --target tumour --store runs.sqlite --n-jobs 8
  tamis compare genes.parquet --target tumour --cluster tcp://scheduler:8786

Every method ranks the columns of the training rows of every split; models are trained on the
best columns, on as many random ones, and on all, and scored on the test rows. With --store, an
interrupted run resumes, and several processes may work on the same file. The table goes to stdout.

With --cluster or --workers the splits are computed there, to the same result, instead of by
--n-jobs processes; DATA is read here and sent to each worker once.
"""


@click.command(
    cls=console.Command, epilog=EPILOG, short_help="Compare methods on held-out rows; report."
)
@_options.data
@_options.target
@click.option(
    "--methods",
    metavar="NAMES",
    help="Methods with commas between; 'tamis methods' lists them, 'all' takes all that suit. "
    "[default: six of different kinds]",
)
@click.option(
    "--protocol",
    metavar="RULE",
    help="splits (2/3 to train, 20 times), folds, loo, time, or a number of folds. "
    "[default: 5 folds, 4 times]",
)
@click.option("--splits", type=click.IntRange(2), metavar="N", help="Number of splits or folds.")
@click.option("--counts", metavar="NUMBERS", help="Numbers of columns. [default: 1,2,3,5,...,200]")
@click.option(
    "--learners",
    default="svm",
    show_default=True,
    metavar="NAMES",
    help="svm, logistic, rbf_svm, forest, knn, boosting, ridge; commas between.",
)
@click.option("--metrics", metavar="NAMES", help="Such as accuracy, auc, r2; the first decides.")
@_options.task
@_options.names("--columns", "Use only these columns.")
@_options.names("--include", "Use these too, if left out.")
@_options.names("--exclude", "Do not use these columns.")
@_options.path(
    "--store", "SQLite file that keeps finished work; an interrupted run resumes from it."
)
@_options.path("--report", "Write a web page, too.")
@_options.path("--out", "Write everything as JSON, too.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N")
@click.option("--n-jobs", type=int, metavar="N", help="Processes. [default: all cores]")
@_options.cluster
@_options.workers
@_options.json
@_options.force
@_options.quiet
@_options.debug
def compare(
    data: Path,
    report: Path | None,
    out: Path | None,
    json: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Compare methods on the held-out rows of DATA, and recommend one."""
    from tamis.cli._scanning import opened_cluster
    from tamis.data import check_writable

    talk = console.Talk(quiet)
    check_apart({"--report": report, "--out": out, "--store": request["store"], "DATA": data})
    with console.overheard(talk, debug):
        for path in (report, out):
            if path is not None:
                check_writable(path, force)
        with opened_cluster(request["cluster"], request["workers"]) as client:
            found = _run(data, request, talk, client)
        for path, write in ((report, found.to_html), (out, found.to_json)):
            if path is not None:
                write(path, force=force)
                console.remember_written(path)
                talk.say(f"wrote {path}")
    if json:
        console.print_data(console.as_json(found.to_dict()))
    elif console.is_terminal():
        show(found)
    else:
        console.print_data(console.as_csv(found.score_rows()))


def check_apart(paths: dict[str, Path | None]) -> None:
    """Refuse one file for two purposes, before the long work starts."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        if (other := seen.setdefault(Path(path).resolve(), option)) != option:
            raise console.Misuse(
                f"{other} and {option} must be different files, got {str(path)!r} for both"
            )


def _run(data: Path, request: dict[str, Any], talk: console.Talk, client: Any) -> Any:
    """Read the table and do the comparison, on the workers of a client if there is one."""
    from tamis.cli._fitting import column_names
    from tamis.data import prepare, read_table
    from tamis.evaluation import compare as compare_methods
    from tamis.selectors import make_selector

    table = read_table(data)
    target = request["target"] or table.target_name
    if target is None:
        raise console.Misuse("--target is needed: the column that is predicted on held-out rows")
    prepared = prepare(table, target, task=request["task"], **column_names(table, request))
    talk.say(prepared.task_reason)
    task = str(prepared.task)
    methods = chosen_methods(request["methods"], task)
    talk.say(f"methods: {', '.join(methods)}")
    selectors = {
        name: make_selector(name, **(QUICK.get(name, {}) if request["methods"] is None else {}))
        for name in methods
    }
    with console.misuse_if_refused():
        options = {
            "protocol": protocol_of(request["protocol"], request["splits"], request["seed"]),
            "counts": counts_of(request["counts"]),
            "learners": _words(request["learners"]),
            "metrics": _words(request["metrics"]),
        }
    return compare_methods(
        selectors,
        {data.stem: named_bunch(prepared)},
        task=task,
        store=request["store"],
        n_jobs=request["n_jobs"],
        cluster=request["cluster"] if client is None else client,
        random_state=request["seed"],
        progress=talk.shows_progress,
        **options,
    )


def named_bunch(prepared: Any) -> Any:
    """The table as the comparison takes it, with the names of its columns."""
    from sklearn.utils import Bunch

    return Bunch(X=prepared.X, y=prepared.y, feature_names=list(prepared.feature_names))


def chosen_methods(text: str | None, task: str) -> list[str]:
    """Names of the methods: those asked for, all that suit the task, or a few of each kind."""
    from tamis.selectors import list_selectors, selector_info

    if text is None:
        return list(DEFAULT_METHODS[task])
    if text == "all":
        names = [name for name in list_selectors() if name not in ("consensus", "inffscv")]
        return [name for name in names if task in selector_info(name).tasks]
    names = [
        _options.check_method(name.strip(), option="--methods") for name in text.split(",") if name
    ]
    for name in names:
        if selector_info(name).supervised and task not in selector_info(name).tasks:
            raise console.Misuse(f"--methods: {name} is not for {task}")
    return names


def protocol_of(text: str | None, n_splits: int | None, seed: int) -> Any:
    """A protocol from the words of the user."""
    from tamis.evaluation.protocols import Folds, RepeatedSplits, TimeOrder, as_protocol

    if text is None:
        return Folds(5, max(1, round((n_splits or 20) / 5)), random_state=seed)
    if text.isdigit():
        return Folds(int(text), random_state=seed)
    if text == "splits":
        return RepeatedSplits(n_splits or 20, random_state=seed)
    if text == "folds":
        return Folds(n_splits or 5, random_state=seed)
    if text == "time":
        return TimeOrder(n_splits or 5)
    return as_protocol(text)


def counts_of(text: str | None) -> Any:
    """Numbers of columns from the words of the user."""
    if text is None:
        from tamis.evaluation.run.plan import DEFAULT_COUNTS

        return DEFAULT_COUNTS
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError as error:
        raise console.Misuse(
            f"--counts must be numbers with commas between, got {text!r}"
        ) from error


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def show(found: Any) -> None:
    """Print the answer, and what every method scores with as many columns, for people."""
    choice = found.recommend()
    click.echo(console.printable(choice.sentence))
    known = [*found.curve_rows(), *found.baseline_rows()]
    rows = [
        row
        for row in known
        if (row["metric"], row["learner"]) == (choice.metric, choice.learner)
        and (row["count"] == choice.count or row["method"] in ("all features", "guessing"))
    ]
    width = max(len(row["method"]) for row in rows)
    title = f"{choice.metric} with {choice.count:,} column{'' if choice.count == 1 else 's'}"
    click.echo(f"\n{'':<{width}}  {title}, 95% interval")
    for row in sorted(rows, key=lambda row: (-row["mean"], row["method"])):
        bounds = f"{row['low']:.3f} to {row['high']:.3f}"
        mark = "  <-" if row["method"] == choice.method else ""
        click.echo(f"{row['method']:<{width}}  {row['mean']:.3f}   {bounds}{mark}")
