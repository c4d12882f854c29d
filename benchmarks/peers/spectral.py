"""LaplacianScore against plain dense numpy, and the time and memory of LaplacianScore and MCFS.

    python benchmarks/peers/spectral.py

Every case runs in a process of its own; the two sides take turns and the best of them counts.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measuring import best, peak_growth, run_cases

SHAPE = (5_000, 1_000)
N_NEIGHBORS = 5


def make(n_rows, n_columns):
    import numpy as np

    return np.random.default_rng(0).standard_normal((n_rows, n_columns))


def dense_laplacian(X):
    """The score as one would write it with dense matrices."""
    import numpy as np

    squares = np.einsum("ij,ij->i", X, X)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * X @ X.T, 0.0)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :N_NEIGHBORS]
    near = np.take_along_axis(distances, nearest, axis=1)
    S = np.zeros_like(distances)
    np.put_along_axis(S, nearest, np.exp(-near / near.mean()), axis=1)
    S = np.maximum(S, S.T)
    degree = S.sum(axis=1)
    centred = X - degree @ X / degree.sum()
    spread = np.einsum("ij,i,ij->j", centred, degree, centred)
    return 1.0 - np.einsum("ij,ij->j", centred, S @ centred) / spread


def case_time():
    """Time of both, after a look that they agree."""
    import numpy as np

    import tamis

    X = make(*SHAPE)
    fit = lambda: tamis.LaplacianScore(n_neighbors=N_NEIGHBORS).fit(X)  # noqa: E731
    np.testing.assert_allclose(fit().laplacian_scores_, dense_laplacian(X), rtol=1e-9)
    ours, theirs = best(fit, lambda: dense_laplacian(X), repeats=5)
    yield "LaplacianScore / plain dense numpy, 5,000 x 1,000", ours, theirs, 0.2


def case_memory(n_rows):
    """Extra memory beside X."""
    import tamis

    tamis.LaplacianScore().fit(make(100, 8))  # compile
    X = make(n_rows, 200)
    grown = peak_growth(lambda: tamis.LaplacianScore().fit(X))
    dense = 8 * n_rows**2
    yield f"extra memory of LaplacianScore / T x T floats, {n_rows:,} x 200", grown, dense, None


def case_mcfs():
    """Time of MCFS on a long and on a wide table."""
    import tamis

    for shape in (SHAPE, (200, 10_000)):
        X = make(*shape)
        seconds, _ = best(lambda X=X: tamis.MCFS().fit(X), lambda: None, repeats=3)
        yield f"MCFS, {shape[0]:,} x {shape[1]:,}", seconds, None, None


CASES = {
    "LaplacianScore": (case_time, ()),
    **{f"memory {n_rows}": (case_memory, (n_rows,)) for n_rows in (5_000, 10_000, 20_000)},
    "MCFS": (case_mcfs, ()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, options = CASES[arguments.case]
        for line in function(*options):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
