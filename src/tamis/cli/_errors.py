"""From exceptions to one line on stderr and an exit code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from tamis.cli._text import printable_lines
from tamis.exceptions import InputError, TamisError

INTERRUPTED = "interrupted; nothing was written"


class Misuse(click.UsageError):
    """The command cannot mean what it says: exit code 2."""


class Failure(click.ClickException):
    """The command was understood and failed: exit code 1."""

    ctx: click.Context | None = None


class Command(click.Command):
    """A command that turns every exception into :class:`Misuse` or :class:`Failure`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as error:
            raise _failure(ctx, _interruption(ctx)) from error
        except TamisError as error:
            raise _failure(ctx, str(error)) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise _failure(ctx, f"{what}; run again with --debug to see where") from error


def _failure(ctx: click.Context, message: str) -> Failure:
    failure = Failure(message)
    failure.ctx = ctx
    return failure


def _interruption(ctx: click.Context) -> str:
    """Say what is there after Ctrl-C; files are written whole, so it is those or nothing."""
    written = ctx.meta.get(WRITTEN, [])
    return f"interrupted; already written: {', '.join(written)}" if written else INTERRUPTED


WRITTEN = "tamis.cli.written"


def remember_written(path: Any) -> None:
    """Keep the name of a finished file, for the message after a Ctrl-C."""
    click.get_current_context().meta.setdefault(WRITTEN, []).append(str(path))


@contextmanager
def misuse_if_refused(prefix: str = "") -> Iterator[None]:
    """Turn an :class:`InputError` of the block into a usage error."""
    try:
        yield
    except InputError as error:
        raise Misuse(prefix + str(error)) from error


def report(error: click.ClickException | click.Abort) -> int:
    """Say on stderr what went wrong, and return the exit code.

    Parameters
    ----------
    error : ClickException or Abort
        From :class:`Command`, or from click's own reading of the arguments.

    Returns
    -------
    int
        2 for usage, 1 for failure.
    """
    if isinstance(error, click.Abort):
        click.echo(f"tamis: {INTERRUPTED}", err=True)
        return 1
    ctx = getattr(error, "ctx", None)
    who = ctx.command_path if ctx is not None else "tamis"
    if ctx is not None and ctx.params.get("debug"):
        traceback.print_exception(error.__cause__ or error)
    click.echo(printable_lines(f"{who}: {error.format_message()}"), err=True)
    if isinstance(error, click.UsageError) and not isinstance(error, Misuse):
        click.echo(f"See '{who} --help'.", err=True)
    return error.exit_code
