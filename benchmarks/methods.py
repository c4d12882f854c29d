"""Print how long every selector takes on three shapes of table, as a table.

    python benchmarks/methods.py            all of them, some minutes
    python benchmarks/methods.py --only svm

Normal columns, the first ten of which carry two classes; default parameters, seed 0, the best of
three fits with warm kernels (of one, if it takes more than 20 seconds), each method in a process of
its own. Iterative methods go on until they have settled, so their times depend on the data.
"""

import argparse
import json
import time

import numpy as np
from measuring import measure

import tamis

SHAPES = [(62, 2_000), (200, 2_000), (2_000, 500)]


def table(n_rows, n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), rng.integers(0, 2, n_rows)
    X[:, :10] += 0.5 * y[:, None]
    return X, y


def seconds(name, shape):
    X, y = table(*shape)
    selector = tamis.make_selector(name, n_features_to_select=50)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    times = []
    for _ in range(4):  # the first compiles
        start = time.perf_counter()
        selector.fit(X, y)
        times.append(time.perf_counter() - start)
        if times[-1] > 20:
            break
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="methods whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps([seconds(arguments.case, shape) for shape in SHAPES]))
        return
    print("| method | " + " | ".join(f"{T:,} x {n:,}" for T, n in SHAPES) + " |")
    print("|---|" + "---|" * len(SHAPES))
    for name in tamis.list_selectors():
        if arguments.only in name:
            times = measure(__file__, name)[0]
            cells = " | ".join(f"{1e3 * t:,.3g} ms" if t < 1 else f"{t:.3g} s" for t in times)
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
