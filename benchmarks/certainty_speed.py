"""How long permutation tests take, in units of one fit; and how much memory.

    python benchmarks/certainty_speed.py [--repeat 15]

Wall-clock and CPU time are the best of several repetitions in this process: on a machine with other
work the CPU time is the steadier of the two.
"""

import argparse
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import tamis
from tamis.certainty import FalseDiscoveries, FamilyWise

warnings.simplefilter("ignore")


def best(function, repeat):
    """Smallest wall-clock and CPU time, in milliseconds."""
    function()
    times = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return np.min(times, axis=0) * 1e3


def peak(function):
    """Largest memory that Python and numpy had at a time, in bytes."""
    tracemalloc.start()
    function()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def noise(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)


def refits(selector, X, y, count):
    """What a permutation test takes without shortcuts: one fit per permutation."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        selector.fit(X, rng.permutation(y))


def product(n_rows, n_columns, n_orders, repeat):
    """CPU time of the products behind a test of one vector, and their rate: the limit."""
    columns = np.ones((n_columns, n_rows), np.float32)
    orders = np.ones((n_rows, n_orders), np.float32)
    out = np.empty((n_columns, n_orders), np.float32)
    with threadpool_limits(1, user_api="blas"):
        cpu = best(partial(np.matmul, columns, orders, out=out), repeat)[1]
    return cpu, 2e-6 * n_rows * n_columns * n_orders / cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    for n_rows, n_columns in ((62, 2000), (1000, 1000)):
        wall, rate = product(n_rows, n_columns, 999, repeat)
        print(
            f"{n_rows:6,} x {n_columns:5,} one product with 999 orders, float32, one thread: "
            f"{wall:.2f} ms, {rate:.0f} GFlop/s"
        )
    for n_rows, n_columns in ((62, 2000), (10_000, 1000)):
        X, y = noise(n_rows, n_columns)
        for kind in (tamis.Fisher, tamis.Correlation, tamis.DFT):
            plain = kind(n_features_to_select="all")
            tested = kind(n_features_to_select=FamilyWise(n_permutations=999))
            quick = kind(n_features_to_select=FamilyWise(n_permutations=99))
            # Alternating, so that all have the same share of a busy machine.
            runs = [partial(selector.fit, X, y) for selector in (plain, tested, quick)]
            rounds = [[best(run, max(1, repeat // 5)) for run in runs] for _ in range(5)]
            one, many, few = np.min(rounds, axis=0)
            old = best(partial(refits, plain, X, y, 99), 1)
            memory = peak(runs[1]) / X.nbytes
            print(
                f"{n_rows:6,} x {n_columns:5,} {kind.__name__:12} fit {one[0]:6.2f} ms, "
                f"999 permutations {many[0]:7.1f} ms: {many[0] / one[0]:5.1f} fits "
                f"(CPU {many[1] / one[1]:5.1f}); 99 refits {old[0]:7.1f} ms: "
                f"{old[0] / few[0]:5.1f} times 99 permutations (CPU {old[1] / few[1]:5.1f}); "
                f"memory {memory:.2f} of X",
                flush=True,
            )
    X, y = noise(200, 20_000)
    X[:, :50] += 1.5 * y[:, None]
    # DFT has no law: all of it are permutations.
    for kind in (tamis.DFT, tamis.Fisher):
        selector = kind(n_features_to_select=FalseDiscoveries())
        run = partial(selector.fit, X, y)
        wall, cpu = best(run, 2)
        details = selector.cut_details_
        memory = peak(run) / X.nbytes
        print(
            f"   200 x 20,000 {kind.__name__:12} false discoveries by {details['source']}, "
            f"smallest p-value {details['p_values'].min():.1e}: {wall / 1e3:.2f} s "
            f"(CPU {cpu / 1e3:.2f} s), "
            f"memory {memory:.2f} of X"
        )


if __name__ == "__main__":
    main()
