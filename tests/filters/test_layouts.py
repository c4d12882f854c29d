"""The same numbers give the same scores, however they are stored."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from tamis import make_selector

FORMS = {
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "float32": lambda X: X.astype(np.float32),
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "CSR float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "int": lambda X: X.astype(np.int64),
}
SELECTORS = {
    "laplacianscore": {},
    "laplacianscore, binary": {"affinity": "binary"},
    "laplacianscore, scaled": {"scale": True},
    "mcfs": {},
    "mcfs, scaled": {"scale": True},
    "udfs": {},
    "llcfs": {"max_iter": 3},
    "relieff": {},
    "gflip": {"random_state": 0},
    "mrmr": {},
    "mrmr, information": {"measure": "mutual_information"},
    "fcbf": {},
    "cfs": {},
    "inffs": {},
    "inffs, pearson": {"relation": "pearson"},
    "inffs, information": {"relation": "mutual_information"},
    "ilfs": {},
}


def tables():
    """Whole numbers with many rows at equal distances, a constant column, missing cells."""
    rng = np.random.default_rng(3)
    data = load_iris()
    tied = np.round(10 * data.data)  # millimetres
    constant = np.column_stack([tied, np.full(150, 3.0), rng.poisson(0.5, (150, 8))])
    missing = np.where(rng.random(constant.shape) < 0.05, np.nan, constant)
    return data.target, {"tied": tied, "constant": constant, "missing": missing}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("table", ["tied", "constant", "missing"])
@pytest.mark.parametrize("name", list(SELECTORS))
def test_storage_does_not_decide(name, table):
    y, X = tables()
    X = X[table]
    selector = make_selector(name.split(",")[0], **SELECTORS[name])
    selector.fit(X, y)
    scores, order = selector.scores_.copy(), selector.order_.copy()
    for form, stored in FORMS.items():
        if form == "int" and table == "missing":
            continue
        found = selector.fit(stored(X), y)
        np.testing.assert_allclose(found.scores_, scores, rtol=1e-10, atol=1e-12, err_msg=form)
        np.testing.assert_array_equal(found.order_, order, err_msg=form)
