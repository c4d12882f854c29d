"""A random forest of which only the gains of its splits are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.threads import effective_jobs, run_kernel

Floats = NDArray[np.float64]
# Trees whose gains are added up together, whatever the number of threads.
TREES_PER_PART = 10


def forest_gains(
    X: Any,
    target: NDArray[Any],
    weight: Floats | None,
    *,
    is_classes: bool,
    n_estimators: int,
    max_depth: int | None,
    seed: int,
    n_jobs: int | None,
) -> Floats:
    """Mean share of every column in what the splits of a tree gain.

    As in scikit-learn's forests: bootstrap samples, square root of the number of columns tried in
    every split for classes and a third of them for numbers, columns that vary among the rows of
    the node. Cuts are at quantiles of the column.
    """
    from tamis.wrappers._forest_kernels import add_gains, code_columns

    n_rows, n_columns = X.shape
    dense = X.toarray() if sparse.issparse(X) else X
    columns = np.array(dense.T, dtype=np.float64, order="C")
    codes = np.empty((n_columns, n_rows), dtype=np.uint8)
    run_kernel(code_columns, code_columns, [(columns, np.sort(columns, axis=1), codes)], 1)
    values = target.astype(np.float64)[:, np.newaxis]
    if is_classes and target.max() > 1:  # two classes are as good as the numbers 0 and 1
        values = (target[:, np.newaxis] == np.arange(target.max() + 1)).astype(np.float64)
    share = np.ones(n_rows) if weight is None else weight
    n_tried = max(1, int(np.sqrt(n_columns) if is_classes else n_columns / 3))
    seeds = np.random.SeedSequence(seed).generate_state(n_estimators, np.uint64)
    starts = range(0, n_estimators, TREES_PER_PART)
    out = np.zeros((len(starts), n_columns))
    parts = [
        (
            codes,
            values,
            share,
            n_tried,
            max_depth or -1,
            seeds[first : first + TREES_PER_PART],
            sums,
        )
        for first, sums in zip(starts, out, strict=True)
    ]
    run_kernel(add_gains, add_gains, parts, effective_jobs(n_jobs))
    return out.sum(axis=0) / n_estimators
