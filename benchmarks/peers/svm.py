"""Print the speed of SVMRFE as a ratio to scikit-learn's RFE, and that of L0SVM.

    python benchmarks/peers/svm.py            all of them, some minutes
    python benchmarks/peers/svm.py --only random

Set TAMIS_DATA to a folder with the colon data for that case. Every case runs in a process of its
own, with warm kernels; the best of two turns of each side. LinearSVC has a squared
loss and a penalty on the intercept, so its order is another one.
How far the orders agree is part of the line.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measuring import run_cases

AT_MOST = 1 / 5
TURNS = 2


def random_table(n_rows=62, n_columns=2_000):
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.standard_normal((n_rows, n_columns)), rng.integers(0, 2, n_rows)


def colon_table():
    import numpy as np

    import tamis

    data = tamis.datasets.load("colon")
    X = np.asarray(data.X, dtype=np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.asarray(data.y)


def seconds(function, repeats=1):
    """Best time of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def case_elimination(table):
    """SVMRFE, step 1, against RFE around both linear SVMs of scikit-learn."""
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC, LinearSVC

    import tamis

    X, y = globals()[table]()
    ours = tamis.SVMRFE()
    ours.fit(X, y)
    spent = seconds(lambda: ours.fit(X, y), TURNS)
    shape = f"{X.shape[0]} x {X.shape[1]:,}"
    peers = {
        "SVC": (SVC(kernel="linear"), AT_MOST),
        "SVC, tol=1e-8": (SVC(kernel="linear", tol=1e-8), None),
        "LinearSVC, another model": (LinearSVC(), AT_MOST),
    }
    for name, (model, limit) in peers.items():
        peer = RFE(model, n_features_to_select=1)
        theirs = seconds(lambda peer=peer: peer.fit(X, y), TURNS)
        yield (
            f"SVMRFE / RFE({name}), {table} {shape}, {agreement(ours, peer, X)}",
            spent,
            theirs,
            limit,
        )


def agreement(ours, peer, X):
    """Share of equal places, copies of a column counting as that column."""
    import numpy as np

    _, copy = np.unique(X, axis=1, return_inverse=True)
    same = copy[ours.order_] == copy[np.argsort(peer.ranking_)]
    return f"{same.mean():.1%} of the order equal"


def case_alone(table):
    """Time of the other uses, without a peer."""
    import tamis

    X, y = globals()[table]()
    for name, selector in {
        "SVMRFE(step=0.2)": tamis.SVMRFE(step=0.2),
        "SVMRFE(step=0.2, n_bootstraps=40)": tamis.SVMRFE(
            step=0.2, n_bootstraps=40, random_state=0
        ),
        "SVMRFE(step=0.2, sample_weighting=True)": tamis.SVMRFE(step=0.2, sample_weighting=True),
        "L0SVM()": tamis.L0SVM(),
    }.items():
        selector.fit(X, y)
        spent = seconds(lambda selector=selector: selector.fit(X, y), 3)
        yield f"{name}, {table} {X.shape[0]} x {X.shape[1]:,}", spent, None, None


def case_long():
    """Many rows and few columns, by interior points."""
    import tamis

    X, y = random_table(20_000, 50)
    y = (X[:, :5].sum(axis=1) + y > 0).astype(int)
    yield "SVMRFE(), 20,000 x 50", seconds(lambda: tamis.SVMRFE().fit(X, y)), None, None


CASES = {
    "random": ("case_elimination", ("random_table",)),
    "alone": ("case_alone", ("random_table",)),
    "long": ("case_long", ()),
}
if os.environ.get("TAMIS_DATA"):
    CASES["colon"] = ("case_elimination", ("colon_table",))


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
