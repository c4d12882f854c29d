"""The program ``tamis`` on a terminal: its commands, what it prints where, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

import tamis
from tamis.cli import _help
from tamis.exceptions import InputError, SelectionWarning

COMMANDS = ("answer", "demo", "methods", "rank", "select", "compare", "reproduce")
WRITTEN = "tamis.cli.written"


class Program(click.Group):
    """Commands that are imported when they are called; every error is reported in one form."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command, report what went wrong, and exit."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **extra)
        except (click.ClickException, click.Abort) as error:
            from tamis.cli._failures import report

            code = report(error)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command from the module of its name; all, to suggest one, if none has it."""
        for known in (name,) if name in COMMANDS else COMMANDS:
            self.add_command(getattr(import_module(f"tamis.cli.{known}"), known))
        return super().get_command(ctx, name)


@click.group(
    "tamis",
    cls=Program,
    invoke_without_command=True,
    epilog=_help.PROGRAM,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(tamis.__version__, message="tamis %(version)s")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Find the few columns of a wide table that matter, and report how certain that is."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class Misuse(click.UsageError):
    """The command cannot be carried out as it was typed: exit code 2."""


class Failure(click.ClickException):
    """The command was understood and failed: exit code 1."""

    def __init__(self, message: str, ctx: click.Context | None = None):
        super().__init__(message)
        self.ctx = ctx


class Command(click.Command):
    """A command that turns every exception into :class:`Misuse` or :class:`Failure`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise
        except (KeyboardInterrupt, Exception) as error:
            from tamis.cli._failures import describe

            raise Failure(describe(error, ctx), ctx) from error


@contextmanager
def misuse_if_refused(prefix: str = "") -> Iterator[None]:
    """Turn an :class:`InputError` of the block into a usage error."""
    try:
        yield
    except InputError as error:
        raise Misuse(prefix + str(error)) from error


def remember_written(path: Any) -> None:
    """Keep the name of a finished file, for the message after a Ctrl-C."""
    click.get_current_context().meta.setdefault(WRITTEN, []).append(str(path))


def printable(text: str) -> str:
    r"""Write characters that would move the cursor, or not show at all, as escapes.

    Names come from files of others; marks may even reverse the direction of writing.

    Examples
    --------
    >>> from tamis.cli.console import printable
    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Talk:
    """Messages on stderr; `quiet` suppresses all of them but errors, which `report` prints."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    def say(self, text: str) -> None:
        """Print one line."""
        if not self.quiet:
            # Not click.echo: it would write through a progress bar instead of above it.
            print(printable(text), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print one line that deserves attention."""
        self.say(f"note: {text}")

    @property
    def shows_progress(self) -> bool:
        """Whether a progress bar would be seen."""
        return not self.quiet and sys.stderr.isatty()


@contextmanager
def overheard(talk: Talk, debug: bool) -> Iterator[None]:
    """Print warnings and log messages of the library; other warnings only with ``--debug``."""

    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, SelectionWarning):
            talk.note(str(message))
        else:
            show_others(message, category, *rest, **more)

    log, handler = logging.getLogger("tamis"), logging.Handler(logging.WARNING)
    handler.emit = lambda record: talk.say(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
            warnings.simplefilter("always", SelectionWarning)
            show_others, warnings.showwarning = warnings.showwarning, show
            yield
    finally:
        log.removeHandler(handler)


def print_data(text: str) -> None:
    """Write to stdout as UTF-8 whatever the locale says, at once."""
    click.echo(text.encode("utf-8", errors="backslashreplace"), nl=False)


def as_json(record: Any) -> str:
    """Write strict JSON, readable by people too."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def as_csv(rows: Sequence[Any], columns: Sequence[str] = (), delimiter: str = ",") -> str:
    """Write rows as CSV, numbers in full precision; what is not there is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    columns = columns or list(rows[0] if rows else ())
    writer.writerow(columns)
    writer.writerows([_cell(row[name]) for name in columns] for row in rows)
    return text.getvalue()


def _cell(item: Any) -> Any:
    if isinstance(item, bool):
        return str(item).lower()
    item = " ".join(item) if isinstance(item, tuple) else item
    is_formula = isinstance(item, str) and item.startswith(tuple("=+-@\t\r"))  # for a spreadsheet
    return f"'{item}" if is_formula else "" if item != item else item


def is_terminal() -> bool:
    """Whether somebody looks at stdout, and rich is there to draw."""
    return sys.stdout.isatty() and find_spec("rich") is not None
