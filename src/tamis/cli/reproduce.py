"""Commands of the distribution ``tamis-papers``, such as ``tamis reproduce``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import click

from tamis.cli.console import Misuse

# Entry point group in which tamis-papers registers its commands, by name.
GROUP = "tamis.papers"


class PapersCommand(click.Command):
    """A command that lives in tamis-papers; imported when it is called."""

    def make_context(self, info_name: str | None, *args: Any, **extra: Any) -> click.Context:
        """Hand over to the installed command, or say how to install it."""
        for entry in entry_points(group=GROUP, name=self.name or ""):
            command: click.Command = entry.load()
            return command.make_context(info_name, *args, **extra)
        raise Misuse(
            f"expected the package tamis-papers, which has the command {self.name!r}, got none. "
            "Run: pip install tamis-papers, or pip install ./papers in a checkout of tamis.",
            click.Context(self, info_name=info_name, parent=extra.get("parent")),
        )


reproduce = PapersCommand("reproduce", short_help="Run an experiment of a paper; the verdict.")
