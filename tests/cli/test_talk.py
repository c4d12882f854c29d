import logging
import warnings

import pytest

from tamis.cli._talk import Talk, overheard
from tamis.exceptions import SelectionWarning


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
