"""``tamis rank``: score the columns of a table and show them, best first."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from tamis._runtime.plain import plain, versions
from tamis.cli import _help, _options
from tamis.cli.console import Command, Talk, as_csv, as_json, is_terminal, overheard, print_data

COLUMNS = ("rank", "feature", "score", "selected")
# What a test finds, where there was one.
EVIDENCE = ("p_value", "q_value", "e_value")
# Learned per column by some selectors, and worth a word in the record of a column.
PER_COLUMN = {"loss": "loss_", "threshold": "thresholds_"}


@click.command(cls=Command, epilog=_help.RANK, short_help="Score columns, best first.")
@_options.table_options
@_options.cluster
@_options.workers
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Rows to show. [default: 20 on a terminal, all in a pipe]",
)
@_options.path("--out", "Write the whole ranking to .csv, .tsv, .json, .parquet or .feather, too.")
@_options.json
@_options.force
@_options.quiet
@_options.debug
def rank(
    top: int | None,
    out: Path | None,
    json: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Score the columns of DATA and show them, best first."""
    from tamis.cli import _fitting, _output

    talk = Talk(quiet)
    with overheard(talk, debug):
        if out is not None:
            _output.check_ranking_output(out, request["data"], force)
        summary = summarize(_fitting.rank_table(_fitting.Request(**request, may_scan=True), talk))
    if out is not None:
        _output.write_ranking(summary, out, force)
        talk.say(f"wrote {out}")
    if json:
        print_data(as_json(summary))
    elif is_terminal():
        _output.show_ranking(summary, top)
    else:
        print_data(as_csv(summary["features"][:top], columns_of(summary)))


def columns_of(summary: dict[str, Any]) -> tuple[str, ...]:
    """Columns of a printed ranking, with the evidence of a test."""
    return COLUMNS + tuple(name for name in EVIDENCE if name in summary["features"][0])


def summarize(ranked: Any) -> dict[str, Any]:
    """Collect all there is to say about a ranking, as plain data; ``features`` is best first."""
    selector, prepared = ranked.selector, ranked.prepared
    n_rows, n_columns = prepared.X.shape
    params = selector.get_params(deep=False)
    rule = params.pop("n_features_to_select")
    return {
        "method": ranked.method,
        "params": plain(params),
        "data": str(ranked.table.path),
        "target": ranked.target,
        "task": prepared.task,
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_selected": selector.n_selected_,
        "cut": _cut(rule, selector.cut_details_, prepared.feature_names),
        "features": _features(selector, prepared),
        "left_out": [
            {"name": role.name, "kind": role.kind, "reason": role.reason}
            for role in prepared.roles
            if not role.used and role.kind != "target"
        ],
        "versions": versions(),
    }


def _cut(rule: Any, details: dict[str, Any], names: list[str]) -> dict[str, Any]:
    settings = {field.name: getattr(rule, field.name) for field in fields(rule)}
    keep = [names[j] for j in settings.pop("keep") or ()]
    settings = plain({name: value for name, value in settings.items() if value is not None})
    # What is known of every column stands with the column; settings stand beside the rule.
    few = {
        name: value
        for name, value in details.items()
        if name not in ("rule", "settings") and getattr(value, "shape", ())[-1:] != (len(names),)
    }
    return {"rule": type(rule).__name__, **settings, "keep": keep, "details": plain(few)}


def _features(selector: Any, prepared: Any) -> list[dict[str, Any]]:
    kinds = [role.kind for role in prepared.roles if role.used]
    more = {key: getattr(selector, name, None) for key, name in PER_COLUMN.items()}
    more |= {name: selector.cut_details_.get(f"{name}s") for name in EVIDENCE}
    return [
        {
            "rank": position,
            "feature": prepared.feature_names[j],
            "score": plain(selector.scores_[j]),
            "selected": bool(selector.support_[j]),
            "kind": kinds[j],
            **{key: plain(values[j]) for key, values in more.items() if values is not None},
        }
        for position, j in enumerate(selector.order_.tolist(), start=1)
    ]
