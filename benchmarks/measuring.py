"""Measuring two sides of a ratio in one run, and printing it."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path


def best(ours, theirs, repeats=15):
    """Best time of each, taking turns, in seconds."""
    times = {ours: [], theirs: []}
    for function in (ours, theirs):
        function()
    for _ in range(repeats):
        for function in (ours, theirs):
            start = time.perf_counter()
            function()
            times[function].append(time.perf_counter() - start)
    return min(times[ours]), min(times[theirs])


def peak_growth(function):
    """Growth of the resident memory while `function` runs, in bytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    function()
    return status("VmHWM") - before


def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def run_cases(cases, script, names):
    """Print the lines of every case, each measured in a process of its own."""
    import numba
    import numpy
    import scipy
    import sklearn

    import tamis

    versions = {m.__name__: m.__version__ for m in (tamis, sklearn, numpy, scipy, numba)}
    print(f"python {platform.python_version()}, {versions}, {os.cpu_count()} cores, seed 0")
    for name in cases:
        if names in name:
            for line in measure(script, name):
                show(line)


def measure(script, name):
    """Lines of one case."""
    command = [sys.executable, script, "--case", name]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{name} failed:\n{out.stderr}")
    return [json.loads(line) for line in out.stdout.splitlines()]


def show(line):
    """Print name, our value, the peer's, the ratio and whether it keeps the promise."""
    name, ours, theirs, limit = line
    unit = in_mebibytes if "memory" in name else in_milliseconds
    if theirs is None:
        print(f"{name:66} {unit(ours)}", flush=True)
        return
    verdict = ""
    if limit is not None:
        verdict = f"at most {limit:g}: {'yes' if ours <= limit * theirs else 'NO'}"
    print(f"{name:66} {unit(ours)} {unit(theirs)} {ours / theirs:8.4f}x  {verdict}", flush=True)


def in_mebibytes(value):
    return f"{value / 2**20:10.2f} MiB"


def in_milliseconds(value):
    return f"{value * 1e3:11.2f} ms"
