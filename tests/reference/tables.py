"""Small tables with everything in them, and the forms in which a user may pass one."""

import numpy as np
from scipy import sparse


def mixed_table(n_rows=90, n_columns=7, seed=0, *, missing=True):
    """Columns of one sign each, with zeros, ties and NaN, so that no sum of them cancels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 10.0, size=(n_rows, n_columns))
    X[:, 0] = rng.integers(0, 5, n_rows)
    X[:, 1] *= -1.0
    X[rng.random(X.shape) < 0.4] = 0.0
    X[n_rows // 3] = 0.0  # an empty row of a sparse matrix
    X[:, 2] = 0.0  # and an empty column
    X[:, 3] = rng.uniform(2.0, 3.0, n_rows)  # a column without a zero
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 4] = np.nan
    return X.astype(np.float32).astype(np.float64)  # the same numbers in both precisions


def with_explicit_zeros(X, form=sparse.csr_array):
    """CSR of `X` that stores some of its zeros too, as files and slices often do."""
    stored = X != 0
    stored[::3] = True
    rows, columns = np.nonzero(stored)
    matrix = form(sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape))
    assert matrix.nnz == stored.sum() > np.count_nonzero(X)
    return matrix


def not_contiguous(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), 77.0, dtype=X.dtype)
    view = wide[::2, 1::3]
    view[:] = X
    assert not view.flags.contiguous
    assert not view.flags.f_contiguous
    return view


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": not_contiguous,
    "csr": sparse.csr_array,
    "csr explicit zeros": with_explicit_zeros,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "float32 rows": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "float32 columns": lambda X: np.asfortranarray(X, dtype=np.float32),
    "float32 strided": lambda X: not_contiguous(X.astype(np.float32)),
    "float32 csr": lambda X: with_explicit_zeros(X.astype(np.float32)),
}
