"""Thousands of fits in one process: nothing grows."""

import gc
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tamis

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc"),
]
N_FITS = 2000


def used():
    """Bytes of memory of the process that are resident, threads and open files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    gc.collect()
    return {
        "bytes": int(status["VmRSS"].split()[0]) * 1024,
        "threads": int(status["Threads"]),
        "files": len(os.listdir("/proc/self/fd")),
    }


def fit_often(n_fits, folder):
    """What is used after each tenth of the fits, in a process where nothing else is kept."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    X[:, 0] += y
    paths = [os.path.join(folder, f"t.{suffix}") for suffix in ("csv", "parquet")]
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    frame.to_csv(paths[0], index=False)
    frame.to_parquet(paths[1])
    names = [name for name in tamis.list_selectors() if name not in ("inffscv", "treeimportance")]
    short = {"ofw": {"max_iter": 10}, "gflip": {"n_restarts": 1}}

    def fit(number):
        """Every selector in turn; each tenth time from files, with a checkpoint."""
        if number % 10:
            name = names[number % len(names)]
            tamis.make_selector(name, **short.get(name, {})).fit(X, y)
        else:
            path = os.path.join(folder, "state")
            scan = tamis.scan(paths[number // 10 % 2], target="y", checkpoint=path)
            tamis.DFT(n_features_to_select=2).fit(scan)

    seen = []
    for number in range(n_fits):
        fit(number)
        if number % (n_fits // 10) == n_fits // 10 - 1:
            seen.append(used())
    return seen


def test_nothing_grows(tmp_path):
    command = [sys.executable, __file__, str(N_FITS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen) == 10
    # The first fifth compiles, loads libraries and fills pools of memory.
    settled, last = seen[1], seen[-1]
    # Arrow starts its eight threads for reading one by one; 160 scans come after.
    assert last["threads"] <= settled["threads"] + 8
    assert last["files"] <= settled["files"]
    # A leak grows with every fit; a thread that starts takes its memory once. One table of 40 x 6
    # is 1.9 kB, so that keeping it would be 384 kB in every tenth.
    growth = np.diff([one["bytes"] for one in seen[1:]])
    assert np.median(growth) < 100 * N_FITS


if __name__ == "__main__":
    print(json.dumps(fit_often(int(sys.argv[1]), sys.argv[2])))
