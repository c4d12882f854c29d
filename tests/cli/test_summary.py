import numpy as np
import pytest

from tamis.cli._summary import plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (float("inf"), None),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ({1: (np.float64(2), None)}, {"1": [2.0, None]}),
        (np.array(["a"]), ["a"]),
        (range, "<class 'range'>"),
    ],
)
def test_plain(value, expected):
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)
