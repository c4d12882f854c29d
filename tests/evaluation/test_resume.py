"""Killed at any moment and started again, a comparison gives the same table."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tamis.evaluation.store import Store

# Ten splits of four methods and the baseline, and five pairs of halves of the methods.
N_UNITS = 4 * 10 + 10 + 4 * 10
# When to give up on a busy machine. No test is about how fast anything is.
PATIENCE = 300

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL and fork"),
]

_SETUP = """
import json, os, random, signal, sys, time
import numpy as np
import tamis
from sklearn.linear_model import LogisticRegression
from tamis.evaluation import compare
from tamis.evaluation.protocols import RepeatedSplits
from tamis.evaluation.store import Store

rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 40)), rng.integers(0, 2, 60)
X[:, :3] += 0.8 * y[:, None]

def run(store, n_jobs=1, n_splits=10):
    found = compare(
        ["dft", "fisher", "randomranking", tamis.TreeImportance(n_estimators=10)],
        {"made": (X, y)},
        protocol=RepeatedSplits(n_splits),
        counts=[2, 5, 20],
        learners=LogisticRegression(),
        store=store,
        n_jobs=n_jobs,
        progress=False,
    )
    return found.table().to_json(orient="values", double_precision=15)
"""

# One process imports everything and forks the ones to be killed: imports take seconds, fits do not.
_KILLED = """
folder, n_kills = sys.argv[1], int(sys.argv[2])
random.seed(sys.argv[3])
whole = run(None)
start = time.monotonic()
run(None)
longest = (time.monotonic() - start) / 3 + 0.1
kills, number, stored, same = 0, 0, [], []
while True:
    path = f"{folder}/{number}.sqlite"
    child = os.fork()
    if child == 0:
        run(path)
        os._exit(0)
    if kills < n_kills:
        time.sleep(random.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        kills += 1
        if os.path.exists(path):
            with Store(path) as store:
                stored.append([number, len(store)])
                assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        continue
    same.append(run(path) == whole)  # it ended by itself: go on with another store
    if kills == n_kills:
        break
    number += 1
print(json.dumps({"kills": kills, "stored": stored, "same": same}))
"""


def python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_killed_twenty_times_the_table_is_the_same(tmp_path):
    out, err = python(_SETUP + _KILLED, tmp_path, 20, 0).communicate()
    assert out, err
    found = json.loads(out)
    assert found["kills"] == 20
    assert found["same"]
    assert all(found["same"])
    assert found["stored"] == sorted(found["stored"])  # nothing that was stored went away
    assert any(0 < n < N_UNITS for _, n in found["stored"])  # some kills came in the middle


def test_a_killed_pool_leaves_no_process_and_continues(tmp_path):
    path = tmp_path / "runs.sqlite"
    code = _SETUP + "print(run(sys.argv[1], n_jobs=2, n_splits=12))"
    first = python(code, path)
    try:
        _wait_for_rows(path, 10)
        children = _children_of(first.pid)
    finally:
        first.kill()
        first.communicate()
    assert children
    with Store(path) as store:
        n_stored = len(store)
    assert n_stored >= 10
    deadline = time.monotonic() + 40  # after 60 they would end in any case, for want of work
    while any(_is_running(child) for child in children):
        assert time.monotonic() < deadline, "workers outlive the process that started them"
        time.sleep(0.1)
    code = _SETUP + "print(run(sys.argv[1], n_splits=12) == run(None, n_splits=12))"
    out, err = python(code, path).communicate()
    assert out == "True\n", err


def test_ctrl_c_keeps_what_is_stored(tmp_path):
    path = tmp_path / "runs.sqlite"
    # What runs in the background of a shell ignores Ctrl-C, and so would its children.
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = _SETUP + heard + "print(run(sys.argv[1], n_jobs=2, n_splits=500))"
    running = python(code, path, start_new_session=True)
    try:
        _wait_for_rows(path, 5)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: parent and workers
        _, err = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
        running.wait()
    assert running.returncode != 0
    assert err.strip().endswith("KeyboardInterrupt")
    # A thread of joblib may be starting workers at that moment, and says so in its own name.
    assert err.count("Traceback") == 1 + err.count("Exception in thread ExecutorManagerThread")
    assert "stopped" not in err  # progress=False is silent
    with Store(path) as store:
        assert 5 <= len(store) < 2000
        assert not [row for row in store.rows() if row.result.error]


def test_two_processes_share_the_work(tmp_path):
    path = tmp_path / "runs.sqlite"
    code = _SETUP + "print(run(sys.argv[1]) == run(None))"
    both = [python(code, path) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["True\n"] * 2
    with Store(path) as store:
        assert len(store) == N_UNITS


def _wait_for_rows(path, n):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if path.exists():
            with Store(path) as store:
                if len(store) >= n:
                    return
        time.sleep(0.05)
    raise AssertionError("no rows were stored")


def _children_of(process):
    out = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout
    pairs = [line.split() for line in out.splitlines()]
    return [int(pid) for pid, parent in pairs if int(parent) == process]


def _is_running(process):
    out = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return bool(out.stdout.strip()) and not out.stdout.strip().startswith("Z")
