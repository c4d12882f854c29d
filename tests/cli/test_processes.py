"""Real processes: pipes, a terminal, signals and what gets imported."""

import csv
import os
import pty
import signal
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "tamis.cli"]

SLOW = """
import sys, time
import tamis
from tamis.cli import main

def wait(*args):
    print("fitting", file=sys.stderr, flush=True)
    time.sleep(600)

tamis.AnovaF._score = wait
sys.exit(main(sys.argv[1:]))
"""


def start(*words, **options):
    return subprocess.Popen(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.slow
def test_stdout_is_data_and_stderr_is_talk(table):
    process = start(*COMMAND, "rank", table, "--target", "kind")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    rows = list(csv.DictReader(out.splitlines()))
    assert rows[0]["feature"] == "price"
    assert "so classification" in err
    assert "\x1b" not in out + err


def test_ctrl_c_during_a_fit(table, tmp_path, folder_is_clean):
    words = ["select", table, "--target", "kind", "--out", tmp_path / "reduced.parquet"]
    process = start(sys.executable, "-c", SLOW, *words, "--quiet")
    assert process.stderr.readline() == "fitting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert (out, err) == ("", "tamis select: interrupted; nothing was written\n")
    folder_is_clean("patients.csv")


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(table):
    process = start(*COMMAND, "rank", table, "--target", "kind", "--quiet")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=120) in (0, 1)


@pytest.mark.slow
def test_on_a_terminal_there_is_a_table(table):
    master, slave = pty.openpty()
    words = [*COMMAND, "rank", str(table), "--target", "kind", "--exclude", "price"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONUTF8": "1"}
    process = subprocess.Popen(words, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    text = read_all(master)
    assert process.wait(timeout=120) == 0
    assert "rank   feature" in text
    assert "1 ✓ strong" in text
    assert "of 6 selected: " in text
    assert "█" in text
    assert "rank,feature,score,selected" not in text


def read_all(descriptor):
    pieces = []
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # what Linux says when the other side is closed
            piece = b""
        if not piece:
            os.close(descriptor)
            return b"".join(pieces).decode()
        pieces.append(piece)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_little(option):
    code = (
        "import sys\n"
        "from tamis.cli import main\n"
        f"assert main([{option!r}]) == 0\n"
        "heavy = ['numba', 'llvmlite', 'matplotlib', 'pyarrow.csv', 'tamis.cli._fitting']\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)\n"
    )
    out, err = start(sys.executable, "-c", code).communicate(timeout=120)
    assert "tamis" in out
    assert err == "[]\n"
