"""Print the speed of UDFS and LLCFS as ratios to the formulas as printed, dense and in loops.

    python benchmarks/peers/local.py            all of them, a few minutes
    python benchmarks/peers/local.py --only UDFS

No maintained program on PyPI follows these two papers, so the peer is the plain twin of the tests:
dense matrices, one eigenproblem over all columns (UDFS), normal equations over all columns for
every row (LLCFS). Both sides do the same number of rounds. The two sides take turns, the best turn
counts, and kernels are warm.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from measuring import best, run_cases


def make(n_rows, n_columns):
    """Three clusters in a tenth of the columns."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    X[:, : n_columns // 10] += 2 * rng.standard_normal((3, n_columns // 10))[np.arange(n_rows) % 3]
    return X


def case_udfs(n_rows, n_columns, n_rounds):
    """A few eigenproblems of UDFS, matrix M included."""
    import tamis
    from reference import local as plain

    warnings.simplefilter("ignore", tamis.exceptions.SelectionWarning)  # stopped on purpose
    X = make(n_rows, n_columns)

    def twin():
        M = plain.udfs_matrix(plain.standardised(X), 5, 1.0)
        plain.udfs(M, 5, 0.001, n_steps=n_rounds, floor=1e-10)

    selector = tamis.UDFS(max_iter=n_rounds, tol=0.0)
    ours, theirs = best(lambda: selector.fit(X), twin, repeats=1)
    yield f"UDFS / twin, {n_rows:,} x {n_columns:,}, {n_rounds} rounds", ours, theirs, None
    full = tamis.UDFS()
    ours, _ = best(lambda: full.fit(X), lambda: None, repeats=3)
    yield f"UDFS, {n_rows:,} x {n_columns:,}, {full.n_iter_} rounds", ours, None, None


def case_llcfs(n_rows, n_columns, n_rounds):
    """A few rounds of LLCFS."""
    import tamis
    from reference import local as plain

    X = make(n_rows, n_columns)
    selector = tamis.LLCFS(max_iter=n_rounds, tol=0.0)
    ours, theirs = best(
        lambda: selector.fit(X),
        lambda: plain.llcfs(plain.standardised(X), 5, 15, 1.0, n_steps=n_rounds),
        repeats=1,
    )
    yield f"LLCFS / twin, {n_rows:,} x {n_columns:,}, {n_rounds} rounds", ours, theirs, None
    full = tamis.LLCFS()
    ours, _ = best(lambda: full.fit(X), lambda: None, repeats=3)
    yield f"LLCFS, {n_rows:,} x {n_columns:,}, {full.n_iter_} rounds", ours, None, None


CASES = {
    "UDFS wide": ("case_udfs", (62, 2_000, 5)),
    "UDFS long": ("case_udfs", (1_000, 200, 5)),
    "LLCFS wide": ("case_llcfs", (62, 2_000, 1)),
    "LLCFS long": ("case_llcfs", (1_000, 200, 2)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, shape = CASES[arguments.case]
        for line in globals()[function](*shape):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
