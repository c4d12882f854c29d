"""Print the speed of the information filters as ratios to scikit-learn's.

    python benchmarks/peers/information.py            all of them, some minutes
    python benchmarks/peers/information.py --only knn

Every case runs in a process of its own. The two sides take turns, the best of several turns
counts, and kernels are warm. scikit-learn works with one job and one thread.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import best, run_cases

# At least 30 times faster where that is promised.
LIMITS = {(200, 2_000, "classes"): 1 / 30}


def make(n_rows, n_columns, target):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    signal = X[:, :5].sum(axis=1) + rng.standard_normal(n_rows)
    return X, (signal > 0).astype(int) if target == "classes" else signal


def case_knn(n_rows, n_columns, target):
    """Neighbour estimates against scikit-learn's, all threads and one."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
    from threadpoolctl import threadpool_limits

    import tamis

    X, y = make(n_rows, n_columns, target)
    peer = mutual_info_classif if target == "classes" else mutual_info_regression

    def theirs():
        with threadpool_limits(1):
            peer(X, y, random_state=0, n_jobs=1)

    for n_jobs, threads in ((None, "all threads"), (1, "one thread")):
        selector = tamis.MutualInformation(estimator="knn", random_state=0, n_jobs=n_jobs)
        name = f"MutualInformation knn / {peer.__name__}, {n_rows:,} x {n_columns:,}, {threads}"
        limit = LIMITS.get((n_rows, n_columns, target)) if n_jobs is None else None
        yield name, *best(lambda selector=selector: selector.fit(X, y), theirs, 3), limit


def case_bins(n_rows, n_columns):
    """Estimates from bins against f_classif, the cheapest score of scikit-learn."""
    from sklearn.feature_selection import f_classif

    import tamis

    X, y = make(n_rows, n_columns, "classes")
    fits = {
        f"MutualInformation {name}": tamis.MutualInformation(estimator=name)
        for name in ("binned", "posterior_mean", "lower_credible")
    }
    fits["InformationGain"] = tamis.InformationGain()
    for name, selector in fits.items():
        ours = lambda selector=selector: selector.fit(X, y)  # noqa: E731
        line = f"{name} / f_classif, {n_rows:,} x {n_columns:,}"
        yield line, *best(ours, lambda: f_classif(X, y)), None


CASES = {
    "knn 200 classes": ("case_knn", (200, 2_000, "classes")),
    "knn 200 numbers": ("case_knn", (200, 2_000, "numbers")),
    "knn 2000 classes": ("case_knn", (2_000, 500, "classes")),
    "knn 2000 numbers": ("case_knn", (2_000, 500, "numbers")),
    "bins 10000": ("case_bins", (10_000, 1_000)),
    "bins 62": ("case_bins", (62, 2_000)),
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
