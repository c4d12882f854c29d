"""Inf-FS on 200 x 50,000 from disk with memory_limit 1 GiB: seconds and peak memory.

    python benchmarks/scale/graph.py [--columns 50000]

The table is written as .npy, ranked in a process of its own, and removed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from measuring import status

LIMIT = 2**30


def measured(file):
    import tamis

    tamis.InfFS().fit(np.random.default_rng(0).normal(size=(30, 8)))  # compile
    start = time.perf_counter()
    scan = tamis.scan(file, memory_limit=LIMIT)
    selector = tamis.InfFS(memory_limit=LIMIT).fit(scan)
    seconds = time.perf_counter() - start
    peak = status("VmHWM")
    return {"seconds": seconds, "peak": peak, "plan": str(selector.plan_)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--measure")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return
    with tempfile.TemporaryDirectory(prefix="tamis-scale-") as folder:
        file = Path(folder) / "X.npy"
        np.save(file, np.random.default_rng(0).normal(size=(options.rows, options.columns)))
        command = [sys.executable, __file__, "--measure", str(file)]
        out = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(out.stdout)
    print(
        f"{options.rows} x {options.columns:,}, memory_limit 1 GiB: {found['seconds']:.1f} s, peak "
        f"memory {found['peak'] / 2**20:.0f} MiB, below 1536: {found['peak'] < 1.5 * 2**30}; "
        f"{found['plan']}"
    )


if __name__ == "__main__":
    main()
