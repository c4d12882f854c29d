"""A target that may be classes or numbers."""

import numpy as np
import pytest

from tamis.data.target import Target
from tamis.exceptions import InputError


def read(y, task="auto", weight=None):
    weight = None if weight is None else np.asarray(weight, float)
    return Target.of(y, task, weight, len(y), "Who")


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, 1],
        [0.0, 1.0, 2.0, 0.0, 2.0, 1.0],
        ["a", "b", "a"],
        [True, False, True],
        np.array([1, 2, 1], object),
    ],
)
def test_whole_numbers_and_words_are_classes(y):
    outcome = read(y)
    assert outcome.is_classes
    assert outcome.n_classes == len(set(y))
    np.testing.assert_array_equal(outcome.classes[outcome.codes], np.asarray(y))
    assert outcome.values is None


@pytest.mark.parametrize("y", [[0.5, 1, 2], np.array([0.5, 1, 2], object), np.float32([0.5, 1, 2])])
def test_fractions_are_numbers(y):
    outcome = read(y)
    assert not outcome.is_classes
    assert outcome.n_classes == 0
    np.testing.assert_array_equal(outcome.values, [0.5, 1, 2])


def test_the_task_overrules_the_guess():
    np.testing.assert_array_equal(read([3, 1, 2], "regression").values, [3, 1, 2])
    with pytest.raises(InputError, match="Who: expected a target of classes, got continuous"):
        read([0.5, 1, 2], "classification")
    with pytest.raises(InputError, match="Who: expected a numeric target"):
        read(["a", "b"], "regression")


def test_rows_without_weight_decide_nothing():
    assert read([7, 1, 2, 1], weight=[0, 1, 1, 1]).classes.tolist() == [1, 2]
    assert read([9, 1.5, 2, 1], weight=[0, 1, 1, 1]).values is not None
    with pytest.raises(InputError, match="at least two classes"):
        read([7, 1, 1], weight=[0, 1, 1])
    with pytest.raises(InputError, match=r"a target that varies, got 1\.5 in every row"):
        read([7.25, 1.5, 1.5], weight=[0, 1, 1])
    assert read([0.5, 1, 2], weight=[0, 1, 1]).is_classes


@pytest.mark.parametrize("task", ["auto", "classification", "regression"])
def test_a_missing_target_is_an_error(task):
    with pytest.raises(InputError, match="got NaN or None in 1 of 3 rows, the first in row 1"):
        read([1.0, np.nan, 2.0], task)
    with pytest.raises(InputError, match="requires y to be passed"):
        Target.of(None, task, None, 3, "Who")
