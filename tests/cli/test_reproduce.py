"""Commands of tamis-papers: found by entry point, or a message that says how to install them."""

import sys
import types

import click
import pytest
from click.testing import CliRunner

from tamis.cli import reproduce
from tamis.cli.console import program


def invoke(*arguments):
    return CliRunner().invoke(program, ["reproduce", *arguments])


@pytest.mark.parametrize("arguments", [(), ("--list",), ("arena", "--quick"), ("--help",)])
def test_without_the_package_the_remedy_is_shown(monkeypatch, arguments):
    monkeypatch.setattr(reproduce, "GROUP", "tamis.none")
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("tamis reproduce: expected the package tamis-papers")
    assert "pip install tamis-papers" in result.stderr
    assert "pip install ./papers" in result.stderr


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution that registers a command of its own under this name."""

    @click.command()
    @click.argument("words", nargs=-1)
    def command(words):
        """Say what was asked."""
        click.echo(f"{click.get_current_context().command_path}: {' '.join(words)}")
        if "wrong" in words:
            raise click.UsageError("no such thing")

    module = types.ModuleType("made_up_papers")
    module.command = command
    monkeypatch.setitem(sys.modules, "made_up_papers", module)
    folder = tmp_path / "made_up_papers-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-papers\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[tamis.made]\nreproduce = made_up_papers:command\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(reproduce, "GROUP", "tamis.made")


def test_an_installed_command_gets_the_arguments(installed):
    result = invoke("a", "b")
    assert (result.exit_code, result.stdout) == (0, "tamis reproduce: a b\n")


def test_an_installed_command_has_its_own_help_and_errors(installed):
    assert "Say what was asked." in invoke("--help").stdout
    result = invoke("wrong")
    assert result.exit_code == 2
    assert "no such thing" in result.stderr
