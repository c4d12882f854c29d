"""What every selector promises, as functions that take an unfitted selector and a task.

A selector that cannot keep a promise says so in EXEMPTIONS, with the reason.
"""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

# Selector, check, and why it cannot be kept; `check[task]` if in one of two tasks only.
EXEMPTIONS: dict[str, dict[str, str]] = {
    "AnovaF": {
        "check_weight_scale": "weights count rows: degrees of freedom come from the total weight",
    },
    "CFS": {
        "check_duplicate_columns": "a copy is redundant by design, so it comes later in the order",
        "check_weight_scale": "the MDL cost takes the total weight as the number of rows",
    },
    "Consensus": {
        "check_duplicate_columns": "MRMR, one of its methods, puts a copy later in the order",
    },
    "FCBF": {
        "check_duplicate_columns": "a copy is redundant by design, so it comes later in the order",
        "check_weight_scale": "the MDL cost takes the total weight as the number of rows",
    },
    "Fisher": {
        "check_weight_scale": "weights count rows: a sample variance divides by the weight less 1",
    },
    "FSV": {
        "check_duplicate_columns": "a plane needs one of two equal columns, either will do",
    },
    "GFlip": {
        "check_column_permutation": "columns are visited in an order drawn for positions",
        "check_duplicate_columns": "of two equal columns, the one visited first may be enough",
    },
    "InfFS": {
        "check_duplicate_columns": "equal to rounding only: sums over blocks; tests/graph has 1e-9",
    },
    "InfFSCV": {
        "check_duplicate_columns": "equal to rounding only: sums over blocks; tests/graph has 1e-9",
        "check_row_permutation": "other rows in the folds may choose another alpha",
        "check_sample_weight": "a repeated row may be in two folds, a weighted one in one",
    },
    "L0SVM": {
        "check_weight_scale": "C is an absolute price: weights of 1/2 mean half the C",
    },
    "LassoPath": {
        "check_duplicate_columns": "of two equal columns one enters the path, the other is left",
    },
    "MCFS": {
        "check_duplicate_columns": "a sparse regression uses one of two equal columns",
    },
    "MRMR": {
        "check_duplicate_columns": "a copy is redundant by design, so it comes later in the order",
    },
    "OFW": {
        "check_column_permutation": "draws belong to positions: a run like it, not the same one",
        "check_duplicate_columns": "two equal columns are drawn apart, and share weight by chance",
    },
    "RandomRanking": {
        "check_column_permutation": "random numbers belong to positions, not to columns",
        "check_duplicate_columns": "every column draws a random number of its own",
    },
    "SVMRFE": {
        "check_duplicate_columns": "an order has no ties: of two copies one is dropped first",
        "check_weight_scale": "C is an absolute price: weights of 1/2 mean half the C",
    },
    "TreeImportance": {
        "check_column_permutation": "columns are drawn by position: another order, other draws",
        "check_duplicate_columns": "copies share the importance as the draws have it",
        "check_layouts[regression]": "squares are added up in another order: rounding decides ties",
        "check_sparse[regression]": "squares are added up in another order: rounding decides ties",
    },
    "UDFS": {
        "check_duplicate_columns": "equal to rounding only: eigenvectors; tests/filters has 1e-9",
    },
}

N_ROWS, N_COLUMNS = 90, 12


def data(task, seed=0, n_rows=N_ROWS, n_columns=N_COLUMNS):
    """A table whose first three columns carry the target, and the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = 1.5 * X[:, 0] - X[:, 1] + 0.7 * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    y = np.digitize(signal, [-0.8, 0.8]) if task == "classification" else signal
    return X, y


def scores(selector, X, y, **options):
    return clone(selector).set_params(n_features_to_select="all").fit(X, y, **options).scores_


def same(left, right, rtol=1e-9):
    np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12)


def takes(selector, word):
    return word in clone(selector).get_params()


def weighted(selector):
    return has_fit_parameter(selector, "sample_weight")


# The nine-way probe: numpy, DataFrame, set_output, Pipeline, NaN, CSR, polars, string labels,
# sample_weight.


def check_numpy(selector, task):
    X, y = data(task)
    fitted = clone(selector).set_params(n_features_to_select=4).fit(X, y)
    assert fitted.scores_.dtype == np.float64
    assert fitted.scores_.shape == (N_COLUMNS,)
    assert np.isfinite(fitted.scores_).all()
    np.testing.assert_array_equal(
        fitted.order_, np.lexsort((np.arange(N_COLUMNS), -fitted.scores_))
    )
    np.testing.assert_array_equal(fitted.ranking_[fitted.order_], np.arange(1, N_COLUMNS + 1))
    np.testing.assert_array_equal(np.flatnonzero(fitted.support_), np.sort(fitted.order_[:4]))
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.support_])
    assert fitted.n_selected_ == 4


def check_pandas(selector, task):
    X, y = data(task)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(N_COLUMNS)], index=range(7, 97))
    fitted = clone(selector).set_params(n_features_to_select=3).fit(frame, pd.Series(y))
    same(fitted.scores_, scores(selector, X, y))
    expected = [f"gene {j}" for j in np.sort(fitted.order_[:3])]
    assert fitted.get_feature_names_out().tolist() == expected
    table = fitted.to_frame()
    assert table["feature"].iloc[0] == f"gene {fitted.order_[0]}"
    assert table["selected"].sum() == 3


def check_set_output(selector, task):
    X, y = data(task)
    frame = pd.DataFrame(X).add_prefix("c")
    fitted = clone(selector).set_params(n_features_to_select=3).set_output(transform="pandas")
    out = fitted.fit(frame, y).transform(frame)
    assert isinstance(out, pd.DataFrame)
    pd.testing.assert_frame_equal(out, frame.loc[:, fitted.support_])


def check_pipeline(selector, task):
    X, y = data(task)
    learner = DummyClassifier() if task == "classification" else DummyRegressor()
    pipeline = make_pipeline(clone(selector).set_params(n_features_to_select=2), learner)
    assert pipeline.fit(X, y).predict(X).shape == (N_ROWS,)
    assert pipeline[-1].n_features_in_ == 2


def check_missing(selector, task):
    X, y = data(task)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    X[:, 5] = np.nan
    fitted = clone(selector).set_params(n_features_to_select=3).fit(X, y)
    assert np.isfinite(fitted.scores_).all()
    assert fitted.order_[-1] == 5 or fitted.scores_[5] == fitted.scores_.min()
    assert not fitted.support_[5]
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.support_])


def check_sparse(selector, task):
    X, y = data(task)
    X[np.random.default_rng(2).random(X.shape) < 0.7] = 0.0
    dense = scores(selector, X, y)
    for make in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        same(scores(selector, make(X), y), dense)


def check_polars(selector, task):
    X, y = data(task)
    names = [f"c{j}" for j in range(N_COLUMNS)]
    frame = pl.DataFrame(X, schema=names)
    fitted = clone(selector).set_params(n_features_to_select=3).fit(frame, pl.Series("y", y))
    same(fitted.scores_, scores(selector, X, y))
    assert fitted.feature_names_in_.tolist() == names
    fitted.set_output(transform="polars")
    assert fitted.transform(frame).columns == fitted.get_feature_names_out().tolist()


def check_arrow(selector, task):
    X, y = data(task)
    X[3, 2] = np.nan
    names = [f"c{j}" for j in range(N_COLUMNS)]
    columns = [pa.array(column, from_pandas=True) for column in X.T]
    fitted = clone(selector).set_params(n_features_to_select=3)
    fitted.fit(pa.table(dict(zip(names, columns, strict=True))), y)
    same(fitted.scores_, scores(selector, X, y))
    assert fitted.feature_names_in_.tolist() == names


def check_string_labels(selector, task):
    if task != "classification":
        return
    X, y = data(task)
    labels = np.array(["low", "mid", "a high one"])
    same(scores(selector, X, labels[y]), scores(selector, X, y))
    same(scores(selector, X, labels[y].astype(object)), scores(selector, X, y))
    same(scores(selector, X, y * 100 - 7), scores(selector, X, y))


def check_sample_weight(selector, task):
    if not weighted(selector):
        return
    X, y = data(task)
    weight = np.random.default_rng(3).integers(0, 4, N_ROWS)
    repeated = np.repeat(np.arange(N_ROWS), weight)
    same(scores(selector, X, y, sample_weight=weight), scores(selector, X[repeated], y[repeated]))
    with config_context(enable_metadata_routing=True):
        step = clone(selector).set_params(n_features_to_select=2)
        routed = make_pipeline(step.set_fit_request(sample_weight=True), FunctionTransformer())
        routed.fit(X, y, sample_weight=weight)
    same(routed[0].scores_, scores(selector, X, y, sample_weight=weight))


def check_weight_scale(selector, task):
    if weighted(selector):
        X, y = data(task)
        half = np.full(N_ROWS, 0.5)
        same(scores(selector, X, y, sample_weight=half), scores(selector, X, y))


# Invariants.


def check_column_permutation(selector, task):
    X, y = data(task)
    order = np.random.default_rng(4).permutation(N_COLUMNS)
    same(scores(selector, X[:, order], y), scores(selector, X, y)[order])


def check_row_permutation(selector, task):
    X, y = data(task)
    order = np.random.default_rng(5).permutation(N_ROWS)
    same(scores(selector, X[order], y[order]), scores(selector, X, y))


def check_duplicate_columns(selector, task):
    X, y = data(task)
    X = np.column_stack([X, X[:, 0]])
    result = scores(selector, X, y)
    assert result[0] == result[-1]


def check_constant_column(selector, task):
    X, y = data(task)
    for value in (0.0, 1e6, np.nan):
        X[:, 0] = value
        for rule in (N_COLUMNS - 1, 3, 0.5, "elbow"):
            fitted = clone(selector).set_params(n_features_to_select=rule).fit(X, y)
            assert not fitted.support_[0]
            assert fitted.constant_[0]
            assert fitted.scores_[0] == fitted.scores_.min()


def check_same_seed(selector, task):
    X, y = data(task)
    first, second = (scores(selector, X, y) for _ in range(2))
    np.testing.assert_array_equal(first, second)


# Tables that are large enough for two threads, for those that take long: the first shares no work
# by rows, the second shares pairs of rows, the third bootstrap samples.
SMALLER_TO_SHARE = {"FSV": (300, 40), "LLCFS": (800, 60), "SVMRFE": (500, 100)}


def check_n_jobs(selector, task):
    if not takes(selector, "n_jobs"):
        return
    n_rows, n_columns = SMALLER_TO_SHARE.get(type(selector).__name__, (2000, 300))
    X, y = data(task, n_rows=n_rows, n_columns=n_columns)
    one, two = (scores(clone(selector).set_params(n_jobs=n), X, y) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def check_nested(selector, task):
    X, y = data(task)
    fitted = clone(selector).set_params(n_features_to_select=1).fit(X, y)
    before = fitted.support_
    for k in range(2, N_COLUMNS + 1):
        after = fitted.recut(k).support_
        assert after.sum() == k
        assert not (before & ~after).any()
        before = after


def check_float32(selector, task):
    X, y = data(task)
    X = X.astype(np.float32)
    same(scores(selector, X, y), scores(selector, X.astype(np.float64), y), rtol=1e-5)
    fitted = clone(selector).set_params(n_features_to_select=2).fit(X, y)
    assert fitted.transform(X).dtype == np.float32


def check_layouts(selector, task):
    X, y = data(task)
    X = np.round(4 * X)  # ties, zeros, and the same numbers in every type
    wide = np.full((2 * N_ROWS, 2 * N_COLUMNS), 0.5)
    wide[::2, 1::2] = X
    layouts = {
        "Fortran": np.asfortranarray(X),
        "strided": wide[::2, 1::2],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "float32": X.astype(np.float32),
        "int64": X.astype(np.int64),
        "int8": np.asfortranarray(X, dtype=np.int8),
        "CSR": sparse.csr_array(X),
        "CSC": sparse.csc_matrix(X),
        "CSR of float32": sparse.csr_matrix(X.astype(np.float32)),
        "CSC of int": sparse.csc_array(X.astype(np.int32)),
    }
    expected = scores(selector, X, y)
    for name, table in layouts.items():
        found = scores(selector, table, y)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def check_input_untouched(selector, task):
    X, y = data(task)
    X[2, 2] = np.nan
    before, target = X.copy(), y.copy()
    options = {"sample_weight": np.ones(N_ROWS)} if weighted(selector) else {}
    for array in (X, y, *options.values()):
        array.setflags(write=False)
    scores(selector, X, y, **options)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, target)


def check_clone_and_pickle(selector, task):
    X, y = data(task, n_rows=400, n_columns=60)
    fitted = clone(selector).set_params(n_features_to_select=3).fit(X, y)
    packed = pickle.dumps(fitted)
    assert len(packed) < X.nbytes / 8  # nothing of the data is kept
    np.testing.assert_array_equal(pickle.loads(packed).transform(X), fitted.transform(X))
    assert not hasattr(clone(fitted), "scores_")


def check_one_column(selector, task):
    X, y = data(task)
    fitted = clone(selector).set_params(n_features_to_select=1).fit(X[:, :1], y)
    assert fitted.support_.tolist() == [True]
    assert fitted.transform(X[:, :1]).shape == (N_ROWS, 1)


def check_one_row(selector, task):
    X, y = data(task)
    with pytest.raises(ValueError, match=type(selector).__name__):
        clone(selector).fit(X[:1], y[:1])


CHECKS = [function for name, function in list(globals().items()) if name.startswith("check_")]
