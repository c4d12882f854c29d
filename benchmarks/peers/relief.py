"""Print the speed of ReliefF as a ratio to skrebate's, and that of GFlip.

    python benchmarks/peers/relief.py            all of them; the peer takes some minutes
    python benchmarks/peers/relief.py --only 200

Every case runs in a process of its own, with warm kernels; the best of three turns of each side.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import run_cases

SHAPES = [(200, 2_000), (2_000, 500)]
AT_MOST = 1 / 200


def make(n_rows, n_columns):
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.standard_normal((n_rows, n_columns)), rng.integers(0, 2, n_rows)


def best_of(function, repeats=3):
    """Best time of a few runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def case_relieff(n_rows, n_columns):
    """ReliefF with ten neighbours against skrebate with one job, its fastest setting here."""
    import numpy as np

    import tamis

    X, y = make(n_rows, n_columns)
    name = f"ReliefF / skrebate, k = 10, {n_rows:,} x {n_columns:,}"
    tamis.ReliefF(n_neighbors=10).fit(X, y)  # compile
    ours = best_of(lambda: tamis.ReliefF(n_neighbors=10).fit(X, y))
    try:
        from skrebate import ReliefF
    except ImportError:
        yield f"{name}: skrebate cannot be imported; ours alone", ours, None, None
        return
    peer = ReliefF(n_neighbors=10)
    theirs = best_of(lambda: peer.fit(X, y))
    scores = tamis.ReliefF(n_neighbors=10).fit(X, y).scores_
    same = np.corrcoef(scores, peer.feature_importances_)[0, 1]
    yield f"{name} (r = {same:.6f})", ours, theirs, AT_MOST


def case_sample_weighting(n_rows, n_columns):
    """What the weights of the rows cost."""
    import tamis

    X, y = make(n_rows, n_columns)
    tamis.ReliefF(sample_weighting=True).fit(X, y)  # compile
    ours = best_of(lambda: tamis.ReliefF(sample_weighting=True).fit(X, y))
    plain = best_of(lambda: tamis.ReliefF().fit(X, y))
    yield f"ReliefF with / without sample_weighting, {n_rows:,} x {n_columns:,}", ours, plain, None


def case_gflip(n_rows, n_columns):
    """GFlip alone: there is no peer on PyPI."""
    import tamis

    X, y = make(n_rows, n_columns)
    X[:, :20] += y[:, None]
    tamis.GFlip(random_state=0).fit(X, y)  # compile
    ours = best_of(lambda: tamis.GFlip(random_state=0).fit(X, y))
    yield f"GFlip, {n_rows:,} x {n_columns:,}", ours, None, None


CASES = {
    **{f"ReliefF {shape[0]}": ("case_relieff", shape) for shape in SHAPES},
    "weighting 200": ("case_sample_weighting", (200, 2_000)),
    "GFlip 62": ("case_gflip", (62, 2_000)),
    "GFlip 1000": ("case_gflip", (1_000, 100)),
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
