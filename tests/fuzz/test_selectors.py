"""Random tables, targets, weights and parameters for every selector."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import tamis
from fuzz.outcomes import attempt, check_fitted

pytestmark = pytest.mark.slow

# What keeps one try short.
SHORT = {"ofw": {"max_iter": 20}, "treeimportance": {"n_estimators": 5}, "gflip": {"n_restarts": 1}}
NUMBERS = [
    0.0,
    1.0,
    -1.0,
    0.1,
    0.2,
    1e-310,
    1e-300,
    1e-160,
    1e9,
    1e16,
    1e149,
    1e200,
    np.nan,
    np.inf,
]
CELLS = [*NUMBERS, True, 7, 10**400, None, "a", "1.5", b"x", 1j, Fraction(1, 3), pd.NaT]
VALUES = [0, 1, -1, 2, 3, 10**6, 2**63, 10**30, 0.0, 0.5, 1e-308, 1e308, -0.1, np.inf, np.nan]
ODD = [
    None,
    True,
    "x",
    "auto",
    "all",
    (),
    [],
    {},
    Fraction(1, 2),
    np.float16(0.5),
    np.int8(3),
    object(),
]
DTYPES = ["f8", "f4", "f2", "i8", "u8", "i1", "?", ">f8", "O", "U3", "c16", "m8[s]", "M8[D]"]


@st.composite
def arrays(draw, n_rows, n_columns):
    """Plain numbers half of the time; else few different values, odd types or cells."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    kind = draw(st.sampled_from(["normal", "normal", "ties", "limits", "cells"]))
    kind = kind if n_rows and n_columns else "normal"
    X = rng.normal(size=(n_rows, n_columns))
    if kind == "ties":
        X = rng.integers(0, 3, size=X.shape).astype(float)
    elif kind == "limits":
        X = rng.choice(draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3)), X.shape)
    elif kind == "cells":
        X = X.astype(object)
        for _ in range(draw(st.integers(1, 3))):
            X[rng.integers(n_rows), rng.integers(n_columns)] = draw(st.sampled_from(CELLS))
    if kind != "cells" and draw(st.integers(0, 3)) == 0:
        with np.errstate(all="ignore"):
            X = np.nan_to_num(X, posinf=1, neginf=-1).astype(draw(st.sampled_from(DTYPES)))
    return X


def _frame(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


KINDS = {
    "array": lambda X: X,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": lambda X: X.tolist(),
    "masked": lambda X: np.ma.array(X, mask=np.zeros(X.shape, dtype=bool)),
    "pandas": _frame,
    "polars": lambda X: pl.from_pandas(_frame(X)),
    "csr": lambda X: sparse.csr_array(X.astype(float)),
    "csc": lambda X: sparse.csc_matrix(X.astype(float)),
    "one_dimensional": lambda X: X.ravel(),
}


def made(kind, X):
    """The table as another kind, or as it is if that cannot be."""
    try:
        return KINDS[kind](X)
    except Exception:  # of numpy, pandas, polars or scipy: not ours
        return X


@st.composite
def targets(draw, n_rows):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["classes", "classes", "words", "numbers", "odd", "none", "cells"]))
    if kind == "classes":
        return np.arange(n_rows) % draw(st.integers(1, 4))
    if kind == "words":
        return np.array(["no", "yes", "maybe"])[rng.integers(0, 3, n_rows)]
    if kind == "numbers":
        return rng.normal(size=n_rows) * draw(st.sampled_from([1, 1e-300, 1e140, 1e200]))
    if kind == "odd":
        return np.arange(max(0, n_rows - 1))
    if kind == "cells":
        return [draw(st.sampled_from(CELLS)) for _ in range(n_rows)]
    return None


@st.composite
def parameters(draw, selector):
    """One or two parameters, in range or far out of it."""
    names = sorted(selector.get_params(deep=False))
    most = draw(st.sampled_from([0, 0, 1, 2]))
    chosen = draw(st.lists(st.sampled_from(names), max_size=most, unique=True))
    values = {name: draw(st.sampled_from([*VALUES, *ODD])) for name in chosen}
    if values.get("n_estimators") == 10**6:  # a forest of so many trees takes its time
        del values["n_estimators"]
    return values


@pytest.mark.parametrize("name", tamis.list_selectors())
@given(data=st.data())
def test_a_result_or_an_error_with_a_name(name, data):
    n_rows = data.draw(st.sampled_from([0, 1, 2, 5, *range(10, 25)]))
    n_columns = data.draw(st.sampled_from([0, 1, *range(2, 7)]))
    X = made(data.draw(st.sampled_from(sorted(KINDS))), data.draw(arrays(n_rows, n_columns)))
    y = data.draw(targets(n_rows))
    base = tamis.make_selector(name, **SHORT.get(name, {}))
    options = data.draw(parameters(base))
    weight = data.draw(st.sampled_from([None, None, None, 1.0, 5e-324, 1e308, -1.0, "x"]))
    weights = {} if weight is None else {"sample_weight": np.full(n_rows, weight)}
    if weights and not isinstance(base, tamis.base.WeightedSelector):
        weights = {}

    def work():
        return tamis.make_selector(name, **{**SHORT.get(name, {}), **options}).fit(X, y, **weights)

    attempt(work, check_fitted)
