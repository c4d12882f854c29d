"""Print the speed and memory of Tamis as ratios to its peers, each measured in one run.

    python benchmarks/ratios.py            all of them, a few minutes
    python benchmarks/ratios.py --only DFT

Every case runs in a process of its own. The two sides take turns, the best of several turns
counts, and kernels are warm unless a line says otherwise.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import best, peak_growth, run_cases

SHAPES = [(10_000, 1_000, 20), (60_000, 400, 10), (62, 2_000, 2)]
LIMIT_TO_F_CLASSIF = {10_000: 0.5, 60_000: 0.5, 62: 1.0}


def make(n_rows, n_columns, n_classes):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    return X, rng.integers(0, n_classes, n_rows), rng.standard_normal(n_rows)


def case_split(n_rows, n_columns, n_classes):
    """DFT against f_classif, and RFT against DFT."""
    from sklearn.feature_selection import f_classif

    import tamis

    X, y, target = make(n_rows, n_columns, n_classes)
    dft = lambda: tamis.DFT().fit(X, y)  # noqa: E731
    rft = lambda: tamis.RFT().fit(X, target)  # noqa: E731
    one = lambda: tamis.DFT(n_jobs=1).fit(X, y)  # noqa: E731
    repeats = 200 if n_rows < 1000 else 15
    ours, theirs = best(dft, lambda: f_classif(X, y), repeats)
    shape = f"{n_rows:,} x {n_columns:,}, {n_classes} classes"
    yield f"DFT / f_classif, {shape}", ours, theirs, LIMIT_TO_F_CLASSIF[n_rows]
    ours, theirs = best(one, lambda: f_classif(X, y), repeats)
    yield f"DFT one thread / f_classif, {shape}", ours, theirs, None
    ours, theirs = best(rft, dft, repeats)
    yield f"RFT / DFT, {shape}", ours, theirs, 1.5
    ours, theirs = best(dft, lambda: X.sum(), repeats)
    yield f"DFT / one read of X, {shape}", ours, theirs, None


def case_memory(n_rows, n_columns, n_classes):
    """Extra memory of a fit beside X, as a share of X."""
    import tamis

    X, y, target = make(n_rows, n_columns, n_classes)
    for name, fit in {
        "DFT": lambda X: tamis.DFT().fit(X, y[: len(X)]),
        "RFT": lambda X: tamis.RFT().fit(X, target[: len(X)]),
    }.items():
        fit(X[:200, :8])  # compile; too small to leave a large free heap behind
        grown = peak_growth(lambda fit=fit: fit(X))
        shape = f"{n_rows:,} x {n_columns:,}, {n_classes} classes"
        yield f"extra memory of {name} / X, {shape}", grown, X.nbytes, 0.05


def case_mutual_information():
    """DFT against mutual_info_classif: how many times faster."""
    from sklearn.feature_selection import mutual_info_classif

    import tamis

    X, y, _ = make(2_000, 649, 10)
    ours, theirs = best(
        lambda: tamis.DFT().fit(X, y), lambda: mutual_info_classif(X, y, random_state=0), repeats=2
    )
    yield "DFT / mutual_info_classif, 2,000 x 649, 10 classes", ours, theirs, 0.01


def run_code(*command):
    return lambda: subprocess.run(
        [sys.executable, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def case_start_up():
    """Import and the command line, in new processes."""
    ours, theirs = best(run_code("-c", "import tamis"), run_code("-c", "import sklearn"), 9)
    yield "import tamis / import sklearn", ours, theirs, 1.3
    ours, theirs = best(
        run_code("-c", "import tamis; tamis.DFT"), run_code("-c", "import sklearn"), 9
    )
    yield "import tamis; tamis.DFT / import sklearn", ours, theirs, None
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(Path(folder) / "iris.csv")
        rank = run_code("-m", "tamis.cli", "rank", str(path), "--target", "target")
        ours, theirs = best(rank, run_code("-c", "import sklearn, pyarrow"), 7)
    yield "tamis rank iris.csv / import sklearn, pyarrow", ours, theirs, 3.0


def write_csv(path):
    from sklearn.datasets import load_iris

    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return path


CASES = {
    **{f"DFT {shape[0]}": ("case_split", shape) for shape in SHAPES},
    **{f"memory {shape[0]}": ("case_memory", shape) for shape in SHAPES[:2]},
    "DFT mutual information": ("case_mutual_information", ()),
    "start-up": ("case_start_up", ()),
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
