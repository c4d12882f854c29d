"""Temporary folders: private, gone after signals, and blind to what others put beside them."""

import os
import signal
import stat
import subprocess
import sys
import tempfile

import pytest

from tamis._runtime.private_folder import LOCK, private_folder

PREFIX = "tamis-compare-"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_private_and_gone(tmp_path):
    with private_folder(PREFIX) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with private_folder(PREFIX) as other:  # a second one leaves the first alone
            assert folder.exists()
            assert other != folder
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["99999999999999999999-x", "1-x", "x", ""])
def test_folders_of_others_mean_nothing(tmp_path, name):
    (tmp_path / f"{PREFIX}{name}").mkdir()
    with private_folder(PREFIX):
        pass
    assert (tmp_path / f"{PREFIX}{name}").exists()


def test_what_a_kill_left_is_removed(tmp_path):
    left = tmp_path / f"{PREFIX}abc"
    left.mkdir()
    (left / LOCK).touch()
    with private_folder(PREFIX):
        assert not left.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_removed_by_signals(tmp_path, number):
    code = (
        "import signal, time\n"
        # Under nohup the signal is ignored, and children inherit that.
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from tamis._runtime.private_folder import private_folder\n"
        "with private_folder('tamis-compare-') as folder:\n"
        "    print(folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    folder = process.stdout.readline().strip()
    assert os.path.isdir(folder)
    process.send_signal(number)
    assert process.wait(20) == -number
    assert not os.path.exists(folder)
    process.stdout.close()
