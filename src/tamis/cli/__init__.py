"""The command line: ``tamis methods``, ``rank``, ``select``, ``compare``, ``demo``.

::

    program -> command (rank, select, ...) -> fitting -> summary -> terminal view, CSV or JSON

Commands are thin: they parse, call, print and set the exit code (2 for usage, 1 for failure).
stdout is data, stderr is talk. Needs ``pip install 'tamis[cli]'``. Other distributions add commands
(``tamis reproduce`` is one of ``tamis-papers``), and build them from the names of `_SHARED`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

# What commands of other distributions need, by file; loaded when first used, for it needs click.
_SHARED = {
    "Command": "_errors",
    "Failure": "_errors",
    "Misuse": "_errors",
    "Talk": "_talk",
    "misuse_if_refused": "_errors",
    "overheard": "_talk",
    "printable": "_text",
    "remember_written": "_errors",
}
__all__ = ["main"]

if TYPE_CHECKING:
    from tamis.cli._errors import Command as Command
    from tamis.cli._errors import Failure as Failure
    from tamis.cli._errors import Misuse as Misuse
    from tamis.cli._errors import misuse_if_refused as misuse_if_refused
    from tamis.cli._errors import remember_written as remember_written
    from tamis.cli._talk import Talk as Talk
    from tamis.cli._talk import overheard as overheard
    from tamis.cli._text import printable as printable


def __getattr__(name: str) -> Any:
    if name not in _SHARED:
        raise AttributeError(f"module 'tamis.cli' has no attribute {name!r}")
    return getattr(import_module(f"tamis.cli.{_SHARED[name]}"), name)


def main(args: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    args : sequence of str or None, default=None
        The words after ``tamis``; None means those that the process was started with.

    Returns
    -------
    int
        0 if all went well, 1 for failure, 2 for usage.

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
    from tamis.cli.program import program

    try:
        program.main(args, prog_name="tamis")
    except SystemExit as end:
        return int(end.code or 0)
    return 0
