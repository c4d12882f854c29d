"""What a walk costs: cells a second, bytes of a summary, seconds of a merge; and what follows.

    python benchmarks/scale/capacity.py [--columns 2000] [--rows 50000]

Everything is measured here on one thread. The model is

    seconds = rows x columns x walks / (rate x cores)
              + depth x fan-in x (merge + bytes of a summary / network)
    memory of a worker = block + (1 + fan-in) x summary
    bytes that travel = parts x summary, of which one summary reaches the client

with parts = rows x columns x 8 / block, and depth = log of the parts to the base of the fan-in.
Reading is not in it: it is bound by the disks and runs beside the work.
"""

import argparse
import math
import pickle
import time

import numpy as np

from tamis.passes.dask.cluster import FAN_IN
from tamis.statistics import (
    Bins,
    Block,
    ClassHistogram,
    ClassMoments,
    Moments,
    Ranges,
    TargetSums,
    TokenCounts,
)

N_CLASSES, N_BINS = 2, 16
BLOCK = 256 * 2**20
NETWORK = 1.25e9  # bytes a second: ten gigabits
SIZES = [(10**7, 1000), (10**9, 10**5), (10**6, 10**6)]
CORES = (2, 64, 1024)


def bins(n):
    return Bins.between(np.full(n, -5.0), np.full(n, 5.0), N_BINS)


def moments(n):
    X = np.random.default_rng(0).normal(size=(8, n))
    target = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    return ClassMoments(n, N_CLASSES).update(Block.of(X, target)).finish()


# Statistics of every walk of a method, and the bytes per column that they should have.
WALKS = {
    "Variance": [(Moments, 24), (Ranges, 24)],
    "Fisher": [(lambda n: ClassMoments(n, N_CLASSES), 24 * N_CLASSES), (Ranges, 24)],
    "DFT": [
        (Ranges, 24),
        (lambda n: ClassHistogram(bins(n), N_CLASSES), 8 * N_CLASSES * (N_BINS + 1)),
    ],
    "RFT": [(Ranges, 24), (lambda n: TargetSums(bins(n), 0.0), 16 * (N_BINS + 2))],
    "ILFS": [
        (lambda n: ClassMoments(n, N_CLASSES), 24 * N_CLASSES),
        (lambda n: TokenCounts(moments(n), 6, "inverse"), 8 * 6),
    ],
}


def cost_of(make, block, n):
    """Seconds of an update, seconds of a merge, bytes of a summary."""
    statistic = make(n).update(block, 1)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        statistic.update(block, 1)
        times.append(time.perf_counter() - start)
    other = pickle.loads(pickle.dumps(statistic))
    start = time.perf_counter()
    other.merge(statistic)
    return min(times), time.perf_counter() - start, len(pickle.dumps(statistic))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=50_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(options.rows, options.columns)))
    codes = rng.integers(2, size=options.rows).astype(np.int32)
    rates = {}
    print("method     Mcells/s   bytes/column (model)  merge ns/column")
    for name, walks in WALKS.items():
        target = codes.astype(float) - 0.5 if name == "RFT" else codes
        block = Block.of(X, target)
        costs = [cost_of(make, block, options.columns) for make, _ in walks]
        seconds = sum(cost[0] for cost in costs)
        rate = X.size / seconds
        size = max(cost[2] for cost in costs) / options.columns
        merge = max(cost[1] for cost in costs) / options.columns
        rates[name] = rate, size, merge
        model = max(expected for _, expected in walks)
        print(f"{name:10} {rate / 1e6:8.0f}   {size:12.0f} ({model})  {merge * 1e9:12.0f}")
    print()
    print("rows x columns  method   parts  depth  summary MiB  worker MiB  to client MiB  seconds")
    for n_rows, n_columns in SIZES:
        for name, (rate, size, merge) in rates.items():
            parts = math.ceil(n_rows * n_columns * 8 / BLOCK)
            depth = math.ceil(math.log(max(parts, 2), FAN_IN))
            summary = size * n_columns
            worker = BLOCK + (1 + FAN_IN) * summary
            seconds = [
                n_rows * n_columns / (rate * cores)
                + depth * FAN_IN * (merge * n_columns + summary / NETWORK)
                for cores in CORES
            ]
            shown = ", ".join(
                f"{value:.3g} ({cores} cores)" for value, cores in zip(seconds, CORES, strict=True)
            )
            print(
                f"{n_rows:.0e} x {n_columns:.0e}  {name:8} {parts:8} {depth:5} "
                f"{summary / 2**20:9.1f} {worker / 2**20:9.0f} {summary / 2**20:9.1f}    {shown}"
            )


if __name__ == "__main__":
    main()
