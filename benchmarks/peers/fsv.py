"""Print the time of FSV as a ratio to the paper's programs, solved dense by scipy's linprog.

    python benchmarks/peers/fsv.py

Both sides start alike and use the same prices. The colon data is used if TAMIS_DATA is set.
"""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests")]

from measuring import best, run_cases  # noqa: E402


def random_table():
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 62)
    X = rng.standard_normal((62, 2_000))
    X[:, :5] += y[:, None]
    return X, y


def colon_table():
    import numpy as np

    import tamis

    data = tamis.datasets.load("colon")
    return np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]


def case_successive(name, make):
    """The whole sequence of programs, and whether both sides end at the same objective."""
    import tamis
    from reference.fsv import objective, successive
    from tamis.wrappers.fsv import LEAST_SHARE

    X, y = globals()[make]()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    A, B = Z[y == 1], Z[y == 0]
    peer = []
    ours, theirs = best(
        lambda: tamis.FSV().fit(X, y),
        lambda: peer.append(successive(A, B, least=LEAST_SHARE)),
        repeats=2,
    )
    fitted = tamis.FSV().fit(X, y)
    w, gamma, path = peer[-1]
    end = objective(A, B, fitted.coef_[0], -fitted.intercept_[0], 0.05, 5.0)
    same = "the same" if abs(end - objective(A, B, w, gamma, 0.05, 5.0)) < 1e-6 else "ANOTHER"
    label = f"FSV / dense linprog, {name} 62 x 2,000, {path.size} programs, {same} objective"
    yield label, ours, theirs, 0.2


CASES = {"random": ("case_successive", ("random", "random_table"))}
if os.environ.get("TAMIS_DATA"):
    CASES["colon"] = ("case_successive", ("colon", "colon_table"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, options = CASES[arguments.case]
        for line in globals()[function](*options):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
