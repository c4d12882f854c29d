"""What a command says when it does not end well."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from tamis.cli.console import WRITTEN, Misuse, printable
from tamis.exceptions import TamisError

INTERRUPTED = "interrupted; nothing was written"


def describe(error: BaseException, ctx: click.Context) -> str:
    """Say what stopped a command."""
    if isinstance(error, KeyboardInterrupt):
        written = ctx.meta.get(WRITTEN, [])  # files are written whole, so it is those or none
        if (store := ctx.params.get("store")) is not None and Path(store).exists():
            written = [f"{store} (finished units; run again to resume)", *written]
        already = f"interrupted; already written: {', '.join(written)}"
        return already if written else INTERRUPTED
    if isinstance(error, TamisError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        _discard_output()
        return (
            f"expected to write all results, got: {error.strerror}; they are not complete. Free "
            "some space, or choose another place."
        )
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{what}; run again with --debug to see where"


def report(error: click.ClickException | click.Abort) -> int:
    """Print what went wrong on stderr, and return the exit code: 2 for usage, 1 for failure."""
    if isinstance(error, click.Abort):
        click.echo(f"tamis: {INTERRUPTED}", err=True)
        return 1
    ctx = getattr(error, "ctx", None)
    who = ctx.command_path if ctx is not None else "tamis"
    if ctx is not None and ctx.params.get("debug"):
        traceback.print_exception(error.__cause__ or error)
    lines = f"{who}: {error.format_message()}".split("\n")
    click.echo("\n".join(map(printable, lines)), err=True)
    if isinstance(error, click.UsageError) and not isinstance(error, Misuse):
        click.echo(f"See '{who} --help'.", err=True)
    return error.exit_code


def _discard_output() -> None:
    """Drop what stdout could not take, or Python would try again at the end and complain."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
