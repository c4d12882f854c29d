"""The command line; ``console`` has the program, each command is a module of its name."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    args : sequence of str or None, default=None
        The words after ``tamis``; None means those that the process was started with.

    Returns
    -------
    int
        0: done; 1: it failed; 2: the command was not understood.

    Examples
    --------
    >>> from tamis.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    tamis ...
    0
    """
    try:
        import click  # noqa: F401
    except ImportError:
        print(
            "tamis: the command line needs the package click, which is not installed; "
            "run: pip install 'tamis[cli]'",
            file=sys.stderr,
        )
        return 1
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from tamis.cli._streams import mend_streams

        if not mend_streams():
            return 1
    from tamis.cli.console import program

    try:
        program.main(args, prog_name="tamis")
    except SystemExit as end:
        return int(end.code or 0)
    return 0
