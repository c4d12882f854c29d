import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from tamis.data import RawTable, prepare
from tamis.exceptions import ColumnTypeError, InputError


def ready(values, kind=None, task=None):
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    arrow = pa.table([pa.array(np.arange(len(array)) * 1.5), array], names=["x", "t"])
    return prepare(RawTable.from_arrow(arrow, "t.csv"), "t", task=task)


def test_strings_are_classes():
    prepared = ready(["b", "a", "b", "a"])
    assert prepared.task == "classification"
    assert prepared.y.dtype.kind == "U"
    assert prepared.y.tolist() == ["b", "a", "b", "a"]
    reason = "target 't': 2 classes, so classification (set --task to change)"
    assert prepared.task_reason == reason
    assert reason in prepared.notes


def test_target_has_a_role():
    role = ready(["b", "a", "b", None]).roles[1]
    assert (role.name, role.kind, role.used) == ("t", "target", False)
    assert (role.n_missing, role.n_distinct) == (1, 2)


def test_dictionaries_and_booleans_are_classes():
    prepared = ready(pa.array(["b", "a", "b"]).dictionary_encode())
    assert (prepared.task, prepared.y.tolist()) == ("classification", ["b", "a", "b"])
    prepared = ready([True, False, True])
    assert (prepared.task, prepared.y.tolist()) == ("classification", [True, False, True])
    prepared = ready(pa.array(np.arange(50) % 25).dictionary_encode())
    assert prepared.task == "classification"
    assert prepared.y.dtype.kind == "i"


def test_missing_targets_are_left_out():
    prepared = ready([1, None, 0, 1, None, 0, 0])
    assert prepared.y.tolist() == [1, 0, 1, 0, 0]
    assert prepared.y.dtype == np.int64
    assert prepared.X[:, 0].tolist() == [0, 3, 4.5, 7.5, 9]
    assert "2 rows with no target left out" in prepared.notes
    assert "1 row with no target left out" in ready([0.5, float("nan"), 0.7]).notes


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (np.arange(40) % 20, "classification"),
        (np.arange(39) % 20, "regression"),
        (np.arange(400) % 21 + 7, "regression"),
        (np.repeat(np.arange(40), 10), "classification"),
        (np.repeat(np.arange(1, 41), 10), "classification"),
        (np.repeat(np.arange(101), 10), "regression"),
        (np.repeat(np.arange(40), [100] + [1] * 39), "regression"),
        ([0, 1, 1], "classification"),
        ([-1, 1], "classification"),
        ([1, 2, 3, 4, 5], "regression"),
        ([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], "classification"),
        ([0.0, 0.5, 0.0, 0.5], "regression"),
        ([0.0, np.inf, 0.0], "regression"),
    ],
)
def test_guess_from_numbers(values, task):
    assert ready(values).task == task


def test_whole_reals_become_integer_labels():
    prepared = ready([1.0, 2.0, None, 1.0, 2.0])
    assert prepared.y.dtype == np.int64
    assert prepared.y.tolist() == [1, 2, 1, 2]


def test_small_integers_keep_their_type():
    assert ready([0, 1, 1], pa.int8()).y.dtype == np.int8


def test_regression():
    prepared = ready([0.5, 1.5, 2.5])
    assert prepared.y.dtype == np.float64
    assert prepared.task_reason == (
        "target 't': 3 different values, so regression (set --task to change)"
    )
    prepared = ready([decimal.Decimal("0.5"), decimal.Decimal("1.5")])
    assert prepared.y.tolist() == [0.5, 1.5]


def test_dates_are_regression():
    days = [datetime.date(1970, 1, d) for d in (1, 2, 1, 2)]
    prepared = ready(days)
    assert (prepared.task, prepared.y.tolist()) == ("regression", [0, 1, 0, 1])


def test_task_overrides_the_guess():
    prepared = ready([0, 1, 2, 0, 1, 2], task="regression")
    assert prepared.y.dtype == np.float64
    assert prepared.task_reason == "target 't': 3 different values, regression as asked"
    prepared = ready([0.5, 1.5, 0.5, 1.5], task="classification")
    assert prepared.y.tolist() == ["0.5", "1.5", "0.5", "1.5"]
    assert ready([True, False], task="regression").y.tolist() == [1.0, 0.0]


def test_text_cannot_be_regressed():
    with pytest.raises(InputError, match=r"t\.csv: expected numbers in target 't'.*such as 'low'"):
        ready(["1", "low", "2"], task="regression")


def test_unknown_task():
    with pytest.raises(InputError, match=r"--task.*got 'cluster'"):
        ready([1, 2], task="cluster")


def test_task_without_target():
    with pytest.raises(InputError, match="add --target"):
        prepare(RawTable.from_arrow(pa.table({"a": [1.5]})), task="regression")


@pytest.mark.parametrize(
    ("values", "shown"),
    [(["a", "a", None], "'a'"), ([1, 1], "1"), ([True], "True"), ([2.5], "2.5")],
)
def test_single_value(values, shown):
    with pytest.raises(InputError, match=f"target 't' to have at least two .* got only {shown} in"):
        ready(values)


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.int64(), pa.null(), pa.bool_()])
def test_no_target_left(kind):
    with pytest.raises(InputError, match="in target 't', got only missing"):
        ready([None, None], kind)


def test_identifier_as_target():
    with pytest.raises(InputError, match="12 different values in 12 rows; choose another"):
        ready([f"p{j}" for j in range(12)])
    with pytest.raises(InputError, match="--task regression if"):
        ready(np.arange(12) / 7, task="classification")


def test_nested_target():
    with pytest.raises(ColumnTypeError, match=r"target 't', got list<.*choose another"):
        ready([[1], [2]])


def test_unknown_target_suggests():
    arrow = pa.table({"petal": [1.5, 2.5], "species": ["a", "b"]})
    with pytest.raises(InputError) as caught:
        prepare(RawTable.from_arrow(arrow, "flowers.csv"), "specis")
    assert str(caught.value) == (
        "flowers.csv: expected a column named 'specis', got columns 'petal', 'species'; "
        "did you mean 'species'?"
    )
