"""Print the speed and memory of the filters by moments as ratios to scikit-learn's.

    python benchmarks/peers/moments.py            all of them, about a minute
    python benchmarks/peers/moments.py --only memory

Every case runs in a process of its own. The two sides take turns, the best of several turns
counts, and kernels are warm.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import best, peak_growth, run_cases

SHAPE = (10_000, 1_000)
LIMIT = 0.5


def make(n_classes, dtype="float64"):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal(SHAPE).astype(dtype)
    return X, rng.integers(0, n_classes, SHAPE[0]), rng.standard_normal(SHAPE[0])


def fits():
    """Name and fit of every filter that f_classif is measured against."""
    import tamis

    yield "Fisher", lambda X, y, t: tamis.Fisher().fit(X, y), LIMIT
    yield "AnovaF", lambda X, y, t: tamis.AnovaF().fit(X, y), None
    yield "Correlation", lambda X, y, t: tamis.Correlation().fit(X, y), LIMIT
    yield "Correlation, numeric target", lambda X, y, t: tamis.Correlation().fit(X, t), LIMIT
    yield "Variance", lambda X, y, t: tamis.Variance().fit(X), None


def case_speed(n_classes):
    """Every filter against f_classif, and against one read of the data."""
    from sklearn.feature_selection import f_classif

    X, y, target = make(n_classes)
    shape = f"{SHAPE[0]:,} x {SHAPE[1]:,}, {n_classes} classes"
    for name, fit, limit in fits():
        ours, theirs = best(lambda fit=fit: fit(X, y, target), lambda: f_classif(X, y))
        yield f"{name} / f_classif, {shape}", ours, theirs, limit
        ours, theirs = best(lambda fit=fit: fit(X, y, target), lambda: X.sum())
        yield f"{name} / one read of X, {shape}", ours, theirs, None


def case_one_thread(n_classes):
    """The two filters with a promise, on one thread."""
    from sklearn.feature_selection import f_classif

    import tamis

    X, y, _ = make(n_classes)
    shape = f"{SHAPE[0]:,} x {SHAPE[1]:,}, {n_classes} classes"
    for selector in (tamis.Fisher(n_jobs=1), tamis.Correlation(n_jobs=1)):
        name = type(selector).__name__
        ours, theirs = best(lambda s=selector: s.fit(X, y), lambda: f_classif(X, y))
        yield f"{name} one thread / f_classif, {shape}", ours, theirs, LIMIT


def case_other_peers():
    """A numeric target against f_regression, ranks against a loop of scipy's."""
    from scipy.stats import spearmanr
    from sklearn.feature_selection import f_regression

    import tamis

    X, _, target = make(2)
    shape = f"{SHAPE[0]:,} x {SHAPE[1]:,}"
    ours, theirs = best(
        lambda: tamis.AnovaF().fit(X, target), lambda: f_regression(X, target), repeats=15
    )
    yield f"AnovaF / f_regression, {shape}, numeric target", ours, theirs, None
    ours, theirs = best(
        lambda: tamis.Correlation(kind="spearman").fit(X, target),
        lambda: [spearmanr(X[:, j], target).statistic for j in range(X.shape[1])],
        repeats=2,
    )
    yield f"Correlation, ranks / loop of spearmanr, {shape}", ours, theirs, None


def case_memory(n_classes):
    """Extra memory of a fit beside X, as a share of X, ours and that of f_classif."""
    import tamis

    X, y, target = make(n_classes)
    shape = f"{SHAPE[0]:,} x {SHAPE[1]:,}, {n_classes} classes"
    ranks = lambda X, y, t: tamis.Correlation(kind="spearman").fit(X, t)  # noqa: E731
    for name, fit, _ in [*fits(), ("Correlation, ranks", ranks, None)]:
        fit(X[:200, :8], y[:200], target[:200])  # compile; leaves no large free heap behind
        grown = peak_growth(lambda fit=fit: fit(X, y, target))
        yield f"extra memory of {name} / X, {shape}", grown, X.nbytes, None


def case_memory_f_classif(n_classes):
    """Extra memory of f_classif beside X, as a share of X."""
    from sklearn.feature_selection import f_classif

    X, y, _ = make(n_classes)
    f_classif(X[:200, :8], y[:200])
    grown = peak_growth(lambda: f_classif(X, y))
    yield f"extra memory of f_classif / X, {SHAPE[0]:,} x {SHAPE[1]:,}", grown, X.nbytes, None


CASES = {
    "speed 20": ("case_speed", (20,)),
    "speed 2": ("case_speed", (2,)),
    "one thread 20": ("case_one_thread", (20,)),
    "other peers": ("case_other_peers", ()),
    "memory 20": ("case_memory", (20,)),
    "memory f_classif": ("case_memory_f_classif", (20,)),
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
