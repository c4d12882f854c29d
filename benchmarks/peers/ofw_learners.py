"""Print the speed of the built-in models of OFW as ratios to scikit-learn in the same loop.

    python benchmarks/peers/ofw_learners.py            all of them, about a minute
    python benchmarks/peers/ofw_learners.py --only svm

An evaluation is: train on a bootstrap sample of some columns, test on another. Both sides get the
same draws and one thread, BLAS included; times are those of all the draws. The two sides take
turns, the best turn counts, and kernels are warm.
"""

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))

from measuring import best, run_cases  # noqa: E402

N_DRAWS = 64
PEERS = {
    "svm": ("svm", {}, "svm.LinearSVC", {"loss": "hinge"}),
    "svm loose": ("svm", {}, "svm.LinearSVC", {"loss": "hinge", "tol": 0.01, "max_iter": 200}),
    "svm squared": ("svm", {"loss": "squared_hinge"}, "svm.LinearSVC", {}),
    "nn": ("nn", {"n_neighbors": 4}, "neighbors.KNeighborsClassifier", {"n_neighbors": 4}),
    "lda": (
        "lda", {"shrinkage": 0.1}, "discriminant_analysis.LinearDiscriminantAnalysis",
        {"solver": "lsqr", "shrinkage": 0.1},
    ),
    "cart": ("cart", {}, "tree.DecisionTreeClassifier", {"max_depth": 5}),
}  # fmt: skip
# At most this share of scikit-learn's time is promised.
LIMITS = {("svm", 60): 0.1, ("svm loose", 60): 0.1, ("svm squared", 60): 0.1, ("nn", 200): 0.2}


def make_task(n_rows, n_columns):
    """Two classes told apart by a tenth of the columns, as OFW hands them to its models."""
    import numpy as np

    from tamis.weighting import _estimators

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    X = rng.standard_normal((n_rows, n_columns))
    signal = n_columns // 10
    X[:, :signal] += rng.standard_normal((2, signal))[y]
    values = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T)
    return _estimators.Task(values, y, 2, False, True)


def leukemia_task():
    """The leukemia table, standardised."""
    import numpy as np

    from tamis import datasets
    from tamis.weighting import _estimators

    X, y = datasets.load("leukemia", return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    _, codes = np.unique(y, return_inverse=True)
    X = X[:, X.std(axis=0) > 0]
    values = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T)
    return _estimators.Task(values, codes.astype(np.int32), int(codes.max()) + 1, False, True)


def make_draws(task, n_drawn, n_sample, n_draws):
    """Columns, training rows and test rows."""
    import numpy as np

    rng = np.random.default_rng(1)
    n_columns, n_rows = task.values.shape
    rows = [rng.integers(0, n_rows, (n_draws, n_sample)) for _ in range(2)]
    return rng.integers(0, n_columns, (n_draws, n_drawn)), *rows


def peer_of(path, params):
    """A scikit-learn classifier by its name."""
    import importlib

    module, name = path.split(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), name)(**params)


def case_learner(name, n_rows, n_columns, n_drawn, n_sample):
    """A built-in model against its scikit-learn twin on the general path."""
    from threadpoolctl import threadpool_limits

    from tamis.weighting import _estimators

    warnings.simplefilter("ignore")  # liblinear stops at its most rounds
    is_leukemia = n_rows is None
    task = leukemia_task() if is_leukemia else make_task(n_rows, n_columns)
    word, params, path, peer_params = PEERS[name]
    draws = make_draws(task, n_drawn, n_sample, N_DRAWS)
    built_in = _estimators.make_errors(word, params, task, 1, "OFW")
    general = _estimators.make_errors(peer_of(path, peer_params), None, task, 1, "OFW")
    with threadpool_limits(1):
        ours, theirs = best(lambda: built_in(*draws), lambda: general(*draws), repeats=5)
    where = "leukemia" if is_leukemia else "random"
    peer = f"{path.split('.')[1]}, {where}, T = {n_sample}, {n_drawn} columns"
    yield f"{N_DRAWS} x {name} / {peer}", ours, theirs, LIMITS.get((name, n_sample))


def case_jobs(name, n_rows, n_columns, n_drawn, n_sample, n_draws):
    """Two threads against one."""
    from tamis.weighting import _estimators

    task = make_task(n_rows, n_columns)
    word, params, _, _ = PEERS[name]
    draws = make_draws(task, n_drawn, n_sample, n_draws)
    two, one = (_estimators.make_errors(word, params, task, jobs, "OFW") for jobs in (2, 1))
    ours, theirs = best(lambda: two(*draws), lambda: one(*draws), repeats=300)
    yield f"{name}, 2 jobs / 1, {n_draws} draws per step", ours, theirs, 1 / 1.7


WIDE, LONG = (72, 2_000, 100, 60), (4_601, 57, 15, 200)
CASES = {
    **{f"{name} wide": ("case_learner", (name, *WIDE)) for name in PEERS if name != "nn"},
    **{f"{name} long": ("case_learner", (name, *LONG)) for name in PEERS},
    "jobs svm": ("case_jobs", ("svm", *WIDE, 16)),
    "jobs svm 64": ("case_jobs", ("svm", *WIDE, 64)),
    "jobs nn": ("case_jobs", ("nn", *LONG, 16)),
    "jobs lda": ("case_jobs", ("lda", *WIDE, 16)),
    "jobs cart": ("case_jobs", ("cart", *WIDE, 16)),
}
if os.environ.get("TAMIS_DATA"):
    CASES["svm leukemia"] = ("case_learner", ("svm", None, None, 100, 60))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, settings = CASES[arguments.case]
        for line in globals()[function](*settings):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
