"""``tamis rank``: score the columns of a table and show them, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli import _options
from tamis.cli.console import Command, Talk, overheard

EPILOG = """
\b
Examples:
  tamis rank table.csv --target species
  tamis rank table.parquet --target price --select 20 --out ranking.csv
  tamis rank table.csv --target y --exclude id,date --param n_bins=32 --json
  tamis rank 'parts/*.parquet' --target price --workers 4
  tamis rank parts --target price --cluster tcp://scheduler:8786

Names are separated by commas, and options with names may be repeated; a name that holds a comma
is given alone. On a terminal the best columns are shown as a table; in a pipe all of them come as
CSV (rank, feature, score, selected).

A folder, a pattern (in quotes) and, with --cluster or --workers, any table is read block by block
and never as a whole; columns that hold text or dates are left out then. The workers read DATA
themselves, so they must see it under the same path.
"""


@click.command(cls=Command, epilog=EPILOG, short_help="Score the columns of a table, best first.")
@_options.table_options
@_options.worker_options
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Rows to show. [default: 20 on a terminal, all in a pipe]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the whole ranking to .csv, .tsv, .json, .parquet or .feather, too.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object instead.")
@_options.force
@_options.quiet
@_options.debug
def rank(
    top: int | None,
    out: Path | None,
    as_json_: bool,
    force: bool,
    quiet: bool,
    debug: bool,
    **request: Any,
) -> None:
    """Score the columns of DATA and show them, best first."""
    from tamis.cli._fitting import Request, rank_table
    from tamis.cli._output import check_ranking_output, summarize, write_ranking

    talk = Talk(quiet)
    with overheard(talk, debug):
        if out is not None:
            check_ranking_output(out, request["data"], force)
        summary = summarize(rank_table(Request(**request, may_scan=True), talk))
    if out is not None:
        write_ranking(summary, out, force)
        talk.say(f"wrote {out}")
    _print(summary, top, as_json_)


def _print(summary: dict[str, Any], top: int | None, as_json_: bool) -> None:
    from tamis.cli._output import as_csv, as_json, is_terminal, print_data, show_ranking

    if as_json_:
        print_data(as_json(summary))
    elif is_terminal():
        show_ranking(summary, top)
    else:
        print_data(as_csv(summary, top))
