import platform

import numpy as np
import pytest

from tamis._runtime.plain import plain, versions


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.inf, None),
        (np.array([[1, 2]], dtype=np.int8), [[1, 2]]),
        (np.array([1.0, np.nan]), [1.0, None]),
        ({1: (None, True)}, {"1": [None, True]}),
        (frozenset({3}), [3]),
        (1 + 2j, "(1+2j)"),
        (np.bool_(True), True),
    ],
)
def test_values(value, expected):
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


def test_versions():
    found = versions(["numpy", "no-such-package"])
    assert found == {
        "python": platform.python_version(), "numpy": np.__version__, "no-such-package": "unknown",
    }  # fmt: skip
