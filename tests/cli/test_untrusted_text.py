"""Names from a file that is not ours, on a terminal and in exports."""

import csv
import os
import re
import subprocess
import sys

import numpy as np
import pytest

NAMES = [
    "</script>", "{{ 7*7 }}", "two\u2028lines", "right\u202eleft", "nul\x00x", "\x1b[2Jcleared",
    "\x9b31mred", "=cmd()", "x" * 10_000,
]  # fmt: skip
# Colours of our own are fine; anything else that moves a cursor or turns text around is not.
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\x1b\[[12]?[AKGJ]")
STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    best = rng.normal(size=60) + 2.5 * y
    # All others are near-copies of the best one, so that an answer names them beside it.
    X = best[:, None] + 0.4 * rng.normal(size=(60, len(NAMES)))
    X[:, NAMES.index("=cmd()")] = best
    np.savez(tmp_path / "t.npz", X=X, y=y, feature_names=np.array(NAMES))
    return tmp_path / "t.npz"


def on_terminal(*args):
    """What a program writes when all of its streams are a terminal."""
    main, side = os.openpty()
    command = [sys.executable, "-m", "tamis.cli", *map(str, args)]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side)
    os.close(side)
    parts = []
    try:
        while part := os.read(main, 2**16):
            parts.append(part)
    except OSError:  # Linux says so when the other side is closed
        pass
    finally:
        os.close(main)
    assert process.wait() == 0
    return b"".join(parts).decode()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
@pytest.mark.parametrize("command", ["rank", "answer"])
def test_terminals_get_no_escapes_from_names(path, command):
    shown = on_terminal(command, path, "--target", "y")
    assert "=cmd()" in shown
    if command == "answer":
        assert shown.count("(r = 0.9") >= 3
    assert "x" * 1000 not in shown
    found = STRANGE.search(OURS.sub("", shown))
    assert found is None, repr(found)


def test_exports_keep_names_but_for_formulas(path, run, tmp_path):
    result = run("rank", path, "--target", "y", "--out", tmp_path / "o.csv")
    assert result.exit_code == 0, result.stderr
    with open(tmp_path / "o.csv", newline="") as file:
        found = {row["feature"] for row in csv.DictReader(file)}
    assert found == {f"'{name}" if name.startswith("=") else name for name in NAMES}
