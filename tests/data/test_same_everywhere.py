"""A target and a column mean the same in Python, in scans, with Dask and on the command line."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_diabetes

import tamis
from tamis.cli.console import program
from tamis.cutoff.fit_data import FitData
from tamis.data.task import infer_task
from tamis.exceptions import SelectionWarning

N = 120
RNG = np.random.default_rng(0)
COLUMNS = ["a", "b", "c", "d"]
X = RNG.normal(size=(N, 4))
SIGNAL = X @ [1.0, 0.5, 0.0, -0.2] + RNG.normal(size=N)
CLASS = np.digitize(SIGNAL, [-0.7, 0.7])
RANK = SIGNAL.argsort().argsort()
EPOCH = datetime.datetime(2020, 1, 1)
C, R = "classification", "regression"


def words(codes):
    return [["low", "mid", "high"][code] for code in codes]


def moments(**unit):
    return [
        EPOCH + datetime.timedelta(**{name: int(r) * k for name, k in unit.items()}) for r in RANK
    ]


# Name -> values, task, and the number of classes.
TARGETS = {
    "text": (pa.array(words(CLASS)), C, 3),
    "category": (pa.array(words(CLASS)).dictionary_encode(), C, 3),
    "boolean": (pa.array(SIGNAL > 0), C, 2),
    "two numbers": (pa.array(np.where(SIGNAL > 0, 1, -1)), C, 2),
    "few integers": (pa.array(CLASS), C, 3),
    "bytes": (pa.array(CLASS, pa.int8()), C, 3),
    "unsigned": (pa.array(CLASS, pa.uint64()), C, 3),
    "whole floats": (pa.array(CLASS * 1.0), C, 3),
    "float32 labels": (pa.array((CLASS + 1).astype(np.float32)), C, 3),
    "whole decimals": (pa.array([decimal.Decimal(int(c)) for c in CLASS]), C, 3),
    "numbered classes": (pa.array(RANK // 4), C, 30),
    "floats": (pa.array(SIGNAL), R, 0),
    "float32": (pa.array(SIGNAL.astype(np.float32)), R, 0),
    "all different": (pa.array(RANK * 3 + 7), R, 0),
    "counts": (pa.array(RANK // 2 * 5), R, 0),
    "decimals": (pa.array([decimal.Decimal(int(r)) / 8 for r in RANK]), R, 0),
    "dates": (pa.array([moment.date() for moment in moments(days=3)]), R, 0),
    "timestamps": (pa.array(moments(hours=5), pa.timestamp("us")), R, 0),
    "missing text": (
        pa.array([None if i % 9 == 0 else w for i, w in enumerate(words(CLASS))]),
        C,
        3,
    ),
    "missing integers": (
        pa.array([None if i % 9 == 0 else int(c) for i, c in enumerate(CLASS)]),
        C,
        3,
    ),
    "missing floats": (pa.array([None if i % 9 == 0 else s for i, s in enumerate(SIGNAL)]), R, 0),
}


# Not obvious, so that Python warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*inferred regression from 60 different whole")


@pytest.fixture(params=TARGETS)
def case(request, tmp_path):
    """A table in all formats, and what is expected of its target."""
    values, task, n_classes = TARGETS[request.param]
    table = pa.table([*X.T, values], names=[*COLUMNS, "t"])
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.csv.write_csv(table, tmp_path / "t.csv")
    (tmp_path / "parts").mkdir()
    in_order = table.sort_by("a")  # parts that look different
    for i, (start, size) in enumerate([(0, 7), (7, 50), (57, N)]):
        pa.parquet.write_table(in_order.slice(start, size), tmp_path / f"parts/{i}.parquet")
    return tmp_path, table, task, n_classes


def in_memory(table):
    """The reference: rows with a target, as arrays."""
    table = table.filter(table["t"].is_valid())
    cells = np.column_stack([table[name] for name in COLUMNS])
    return tamis.Correlation().fit(cells, table["t"]), table


def tolerance(name, table):
    """Text holds as many digits of a float32 as tell it from others, and is read as float64."""
    return 1e-6 if name == "t.csv" and pa.types.is_float32(table["t"].type) else 1e-10


def check(selector, expected, task, n_classes, rtol=1e-10):
    assert selector.task_ == task
    np.testing.assert_allclose(selector.scores_, expected.scores_, rtol=rtol, atol=1e-12)
    assert hasattr(selector, "classes_") == (task == C)
    if task == C:
        assert len(selector.classes_) == n_classes
        assert list(selector.classes_) == list(expected.classes_)


@pytest.mark.sampled(5)
def test_python(case):
    _, table, task, n_classes = case
    expected, present = in_memory(table)
    assert infer_task(present["t"]) == task
    frames = [present.to_pandas(), pl.from_arrow(present), present]
    frames.append(present.to_pandas(types_mapper=pd.ArrowDtype))
    for frame in frames:
        cells = frame.select(COLUMNS) if hasattr(frame, "select") else frame[COLUMNS]
        check(tamis.Correlation().fit(cells, frame["t"]), expected, task, n_classes)
    objects = np.array(present["t"].to_pylist(), dtype=object)
    check(tamis.Correlation().fit(cells, objects), expected, task, n_classes)
    if len(present) < len(table):
        with pytest.raises(tamis.exceptions.InputError, match="without missing values, got NaN"):
            tamis.Correlation().fit(X, table["t"])


@pytest.mark.sampled(19)
@pytest.mark.filterwarnings("ignore:.*rows with no target left out")
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "parts", "parts/*.parquet"])
def test_scan(case, name):
    folder, table, task, n_classes = case
    expected, present = in_memory(table)
    selector = tamis.Correlation()
    n_missing = len(table) - len(present)
    if n_missing:
        with pytest.warns(SelectionWarning, match=f"{n_missing} rows with no target left out"):
            selector.fit(tamis.scan(folder / name, target="t"))
    else:
        selector.fit(tamis.scan(folder / name, target="t"))
    check(selector, expected, task, n_classes, tolerance(name, table))


@pytest.mark.sampled(5)
def test_dask(case):
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    _, table, task, n_classes = case
    expected, present = in_memory(table)
    frame = dd.from_pandas(present.to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)
    with dask.config.set(scheduler="sync"):
        selector = tamis.Correlation().fit(frame[COLUMNS], frame["t"])
    check(selector, expected, task, n_classes)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "parts"])
def test_command_line(case, name):
    folder, table, task, _ = case
    expected, present = in_memory(table)
    arguments = ["rank", str(folder / name), "--target", "t", "--method", "correlation", "--json"]
    result = CliRunner().invoke(program, arguments)
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["task"] == task
    assert f"so {task} (set --task to change)" in result.stderr
    found = {row["feature"]: row["score"] for row in summary["features"]}
    scores = [found[name] for name in COLUMNS]
    rtol = tolerance(name, table)
    np.testing.assert_allclose(scores, expected.scores_, rtol=rtol, atol=1e-12)
    n_missing = len(table) - len(present)
    assert (f"{n_missing} rows with no target left out" in result.stderr) == (n_missing > 0)


# All that take both tasks, and some of the others; many classes take linear SVMs minutes.
QUICK = [
    name
    for name in tamis.list_selectors()
    if name in ("dft", "fisher", "rft", "variance")
    or "task" in tamis.make_selector(name).get_params()
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
def test_diabetes_is_regression_unless_a_method_only_classifies(name):
    info = tamis.selectors.selector_info(name)
    cells, y = load_diabetes(return_X_y=True)  # 214 different whole numbers in 442 rows
    selector = tamis.make_selector(name, n_features_to_select=3).fit(cells, y)
    if info.supervised:
        assert selector.task_ == ("regression" if "regression" in info.tasks else "classification")
        assert hasattr(selector, "classes_") == (selector.task_ == "classification")
    else:
        assert not hasattr(selector, "task_")


def test_a_decision_that_is_not_obvious_is_a_warning(tmp_path):
    y = np.arange(60) % 15 * 2
    cells = np.random.default_rng(0).normal(size=(60, 2))
    message = "inferred classification from 15 different whole numbers in 60 rows"
    with pytest.warns(SelectionWarning, match=rf"Correlation: {message}.*task='regression'"):
        tamis.Correlation().fit(cells, y)
    np.savez(tmp_path / "t.npz", X=cells, y=y)
    with pytest.warns(SelectionWarning, match=message):
        tamis.Correlation().fit(tamis.scan(tmp_path / "t.npz"))
    tamis.Correlation(task="classification").fit(cells, y)
    tamis.Fisher().fit(cells, y)  # which has no other task


@pytest.mark.filterwarnings("ignore:Correlation. inferred regression from 30")
def test_copies_fitted_on_some_rows_keep_the_task():
    # All 90 rows hold 30 different values: a regression. Any five rows look like classes.
    y = np.arange(90) // 3 * 2
    data = FitData(tamis.Correlation().fit(y[:, None] * 1.0, y), None, None)
    assert data.fresh().fit(np.eye(4), [0, 0, 2, 2]).task_ == "regression"
