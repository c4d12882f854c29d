"""What ties the package to tamis: its entry point, its version, and public names only."""

import ast
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest

import tamis_papers

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FILES = sorted((ROOT / "src").rglob("*.py"))


def test_every_entry_point_is_a_command_of_that_name():
    commands = PROJECT["entry-points"]["tamis.papers"]
    assert "reproduce" in commands
    for name, place in commands.items():
        command = EntryPoint(name, place, "tamis.papers").load()
        assert isinstance(command, click.Command)
        assert command.name == name


def test_the_version_is_written_once():
    assert "version" in PROJECT["dynamic"]
    assert tamis_papers.__version__


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_public_names_of_tamis_are_imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tamis":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.split(".")[0] == "tamis"]
        else:
            continue
        assert not [name for name in names if "._" in name]
