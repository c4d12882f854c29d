import sys

import pytest

import tamis
from tamis.cli import main


def test_version(run):
    assert run("--version").stdout == f"tamis {tamis.__version__}\n"


@pytest.mark.parametrize("command", [(), ("rank",), ("select",), ("demo",), ("methods",)])
def test_every_help_has_examples(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Examples:\n    tamis" in result.stdout
    assert result.stderr == ""


def test_no_command_shows_the_help(run):
    result = run()
    assert result.exit_code == 0
    assert result.stdout == run("--help").stdout


def test_an_unknown_command_is_usage(refuse):
    code, message = refuse("rnk")
    assert code == 2
    assert "rnk" in message


def test_main_returns_the_exit_code(capsys):
    assert main(["--version"]) == 0
    assert main(["rank"]) == 2
    assert "tamis rank: Missing argument 'DATA'" in capsys.readouterr().err


def test_without_click_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main([]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "pip install 'tamis[cli]'" in captured.err
