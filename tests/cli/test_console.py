import logging
import warnings

import pytest

from tamis.cli._failures import report
from tamis.cli.console import Misuse, Talk, overheard, printable
from tamis.exceptions import SelectionWarning


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("[red]日本[/red]", "[red]日本[/red]"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\u202eabc", "\\u202eabc"),
        ("\udc80", "\\udc80"),
        ("", ""),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown


def test_an_error_keeps_our_line_breaks(capsys):
    report(Misuse("one\ntwo\x1b"))
    assert capsys.readouterr().err == "tamis: one\ntwo\\x1b\n"


def test_our_warnings_become_notes_and_others_are_silent(capsys):
    with overheard(Talk(), debug=False):
        warnings.warn("all are kept", SelectionWarning, stacklevel=1)
        warnings.warn("something old", DeprecationWarning, stacklevel=1)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "note: all are kept\n")


def test_debug_leaves_other_warnings_alone():
    with overheard(Talk(), debug=True), pytest.raises(DeprecationWarning):
        warnings.warn("something old", DeprecationWarning, stacklevel=1)


def test_the_log_is_said_as_plain_lines(capsys):
    with overheard(Talk(), debug=False):
        logging.getLogger("tamis").warning("tamis: compiling kernels")
    assert capsys.readouterr().err == "tamis: compiling kernels\n"
    assert logging.getLogger("tamis").handlers == []


def test_quiet(capsys):
    with overheard(Talk(quiet=True), debug=False):
        logging.getLogger("tamis").warning("tamis: compiling kernels")
        warnings.warn("all are kept", SelectionWarning, stacklevel=1)
        Talk(quiet=True).say("hello")
    assert capsys.readouterr().err == ""


def test_notes_are_one_line_each(capsys):
    Talk().note("column 'a\nb\x1b'")
    assert capsys.readouterr().err == "note: column 'a\\nb\\x1b'\n"


def test_no_progress_without_a_terminal():
    assert not Talk().shows_progress


def explode(*args, **kwargs):
    raise ZeroDivisionError("by zero")


def test_an_unexpected_error_is_one_line(refuse, table, monkeypatch):
    monkeypatch.setattr("tamis.cli._fitting.read_table", explode)
    code, message = refuse("rank", table, "--target", "kind")
    expected = "tamis rank: ZeroDivisionError: by zero; run again with --debug to see where\n"
    assert (code, message) == (1, expected)


def test_debug_shows_where(run, table, monkeypatch):
    monkeypatch.setattr("tamis.cli._fitting.read_table", explode)
    result = run("rank", table, "--target", "kind", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "in explode" in result.stderr
    assert "tamis rank: ZeroDivisionError: by zero" in result.stderr


def test_debug_shows_where_input_was_refused(run, write):
    result = run("rank", write(""), "--target", "y", "--debug")
    assert result.exit_code == 1
    assert "InputError" in result.stderr
    assert result.stderr.endswith("got an empty file (0 bytes).\n")


def test_ctrl_c_is_one_line(refuse, table, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.AnovaF._score", stop)
    code, message = refuse("rank", table, "--target", "kind", "--quiet")
    assert (code, message) == (1, "tamis rank: interrupted; nothing was written\n")


def test_ctrl_c_outside_a_command(run, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("click.Group.invoke", stop)
    result = run("rank")
    assert result.exit_code == 1
    assert "tamis: interrupted; nothing was written\n" in result.stderr


def test_messages_cannot_move_the_cursor(refuse, tmp_path):
    code, message = refuse("rank", tmp_path / "\x1b[2Jgone.csv", "--target", "y")
    assert code == 1
    assert "\x1b" not in message
    assert "\\x1b[2Jgone.csv" in message


@pytest.mark.parametrize("args", [("--nonsense",), ("rank",), ("rank", "x.csv", "--top", "0")])
def test_click_errors_look_like_ours(refuse, args):
    code, message = refuse(*args)
    assert code == 2
    assert message.startswith("tamis")
    assert "--help'." in message.splitlines()[-1]
    assert "Usage:" not in message
