"""A file that is damaged, or not the one catalogued, is named in the error."""

import numpy as np
import pytest

from tamis.datasets import load
from tamis.exceptions import InputError


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_truncated(tiny_file, share):
    content = tiny_file.read_bytes()
    tiny_file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError) as caught:
        load("tiny")
    assert str(tiny_file) in str(caught.value)
    assert "copy it again" in str(caught.value)


@pytest.mark.slow
def test_any_flipped_byte_is_harmless_or_reported(tiny_file):
    content = tiny_file.read_bytes()
    expected = load("tiny")
    reported = 0
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        tiny_file.write_bytes(damaged)
        try:
            data = load("tiny")
        except InputError as error:
            reported += str(tiny_file) in str(error)
        else:
            assert np.array_equal(data.X, expected.X)
            assert np.array_equal(data.y, expected.y)
    assert reported > len(content) // 7 // 3


@pytest.mark.parametrize("content", [b"", b"not an archive", b"\x93NUMPY"])
def test_something_else(tiny_file, content):
    tiny_file.write_bytes(content)
    with pytest.raises(InputError, match="truncated or damaged"):
        load("tiny")


def test_a_pickle_is_never_opened(tiny_file, tiny_arrays):
    np.savez(tiny_file, **{**tiny_arrays, "X": tiny_arrays["X"].astype(object)})
    with pytest.raises(InputError, match="allow_pickle=False"):
        load("tiny")


@pytest.mark.parametrize("missing", ["X", "y"])
def test_missing_array(tiny_file, tiny_arrays, missing):
    del tiny_arrays[missing]
    np.savez(tiny_file, **tiny_arrays)
    with pytest.raises(InputError, match="KeyError"):
        load("tiny")


def test_text_where_numbers_belong(tiny_file, tiny_arrays):
    np.savez(tiny_file, **{**tiny_arrays, "X": tiny_arrays["X"].astype(str)})
    with pytest.raises(InputError, match=r"X holds .*, not numbers"):
        load("tiny")


def swap_a_label(arrays):
    arrays["y"][0] = 1


def drop_a_row(arrays):
    arrays["X"] = arrays["X"][1:]


def shorten_y(arrays):
    arrays["y"] = arrays["y"][1:]


def shorten_the_split(arrays):
    arrays["split"] = arrays["split"][1:]


def move_a_row_to_test(arrays):
    arrays["split"][0] = 1


def drop_a_name(arrays):
    arrays["feature_names"] = arrays["feature_names"][1:]


def rescale(arrays):
    arrays["X"] = arrays["X"] * 1.01


def lose_a_cell(arrays):
    arrays["X"] = arrays["X"].astype(float)
    arrays["X"][1, 0] = np.nan


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (swap_a_label, "the rows per class must be {-1: 2, 1: 4}, got {-1: 1, 1: 5}"),
        (drop_a_row, "the shape of X must be (6, 3), got (5, 3)"),
        (shorten_y, "the shape of y must be (6,), got (5,)"),
        (shorten_the_split, "the shape of split must be (6,), got (5,)"),
        (move_a_row_to_test, "the rows per part of the split must be {0: 4, 1: 2}"),
        (drop_a_name, "the shape of feature_names must be (3,), got (2,)"),
        (rescale, "the sum of the absolute values of X must be"),
        (lose_a_cell, "the number of missing cells must be 0, got 1"),
    ],
)
def test_another_table_is_refused(tiny_file, tiny_arrays, change, complaint):
    change(tiny_arrays)
    np.savez(tiny_file, **tiny_arrays)
    with pytest.raises(InputError) as caught:
        load("tiny")
    assert complaint in str(caught.value)
    assert str(tiny_file) in str(caught.value)


def test_rows_in_another_order_are_the_same_table(tiny_file, tiny_arrays):
    np.savez(tiny_file, X=tiny_arrays["X"][::-1], y=tiny_arrays["y"][::-1])
    assert load("tiny").y.tolist() == [1, 1, -1, 1, 1, -1]
