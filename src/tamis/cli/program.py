"""The program ``tamis``: its commands, and how it ends."""

from __future__ import annotations

import sys
from typing import Any

import click

import tamis
from tamis.cli.compare import compare
from tamis.cli.console import report
from tamis.cli.demo import demo
from tamis.cli.methods import methods
from tamis.cli.rank import rank
from tamis.cli.reproduce import reproduce
from tamis.cli.select import select

EPILOG = """
\b
Examples:
  tamis demo
  tamis rank table.csv --target species
  tamis select table.csv --target species --out reduced.parquet
  tamis compare table.csv --target species --report report.html

Tables: CSV, TSV (also .gz), Parquet, Feather, NPZ. Results go to stdout, all else to stderr.
Exit code 0: done; 1: it failed; 2: the command was not understood.
"""


class Program(click.Group):
    """A group of commands that reports every error in one form, without a traceback."""

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        *rest: Any,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command, report what went wrong, and exit."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(args, prog_name, *rest, **extra)
        try:
            code = super().main(args, prog_name, *rest, **extra)
        except (click.ClickException, click.Abort) as error:
            code = report(error)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order a newcomer meets them."""
        return list(self.commands)


@click.group(
    "tamis",
    cls=Program,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(tamis.__version__, message="tamis %(version)s")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Find the few columns of a wide table that matter, and report how certain that is."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (demo, methods, rank, select, compare, reproduce):
    program.add_command(command)
