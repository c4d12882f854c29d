import numpy as np
import pytest

import tamis
from tamis._runtime import memory
from tamis._runtime.memory import as_bytes, block_rows
from tamis.exceptions import InputError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1, 1),
        (10**12, 10**12),
        ("1 GiB", 2**30),
        ("1.5GiB", 3 * 2**29),
        ("500MB", 5 * 10**8),
        ("500 mb", 5 * 10**8),
        ("2k", 2000),
        ("7", 7),
        ("7 B", 7),
        ("1e6", 10**6),
        (" 64 MiB ", 2**26),
        (2e9, 2 * 10**9),
        (np.int32(7), 7),
    ],
)
def test_as_bytes(given, expected):
    assert as_bytes(given) == expected


@pytest.mark.parametrize(
    "given",
    [0, -1, "much", "1 GX", "", True, [1], "1e99", "9" * 5000, float("nan"), float("inf"), 10**400],
)
def test_not_a_limit(given):
    with pytest.raises(InputError, match=r"memory_limit must be a positive number of bytes"):
        as_bytes(given)


def test_default_is_a_quarter_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**32)
    assert as_bytes(None) == 2**30
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    assert as_bytes(None) == 2**26


def test_block_rows():
    assert block_rows(16 * 8 * 10 * 7, 10) == 7
    assert block_rows(1, 10**6) == 1
    assert block_rows(2**26, 0) == 2**22 // 8
    assert block_rows(2**40, 200) * 200 * 8 <= 2**25


LIMITED = [tamis.InfFS, tamis.InfFSCV, tamis.ReliefF, tamis.GFlip, tamis.LaplacianScore, tamis.MCFS]


@pytest.mark.slow
@pytest.mark.parametrize("selector", LIMITED)
def test_a_limit_means_the_same_for_every_method(selector):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 6)) + y[:, None]
    seed = {"random_state": 0} if "random_state" in selector().get_params() else {}
    expected = selector(memory_limit=2**20, **seed).fit(X, y).scores_
    for limit in ("1 MiB", float(2**20), np.int64(2**20), "1048576"):
        found = selector(memory_limit=limit, **seed).fit(X, y).scores_
        np.testing.assert_array_equal(found, expected)
    for limit in ("much", 0, -1, True, "1 GX", float("nan")):
        with pytest.raises(InputError, match=r"memory_limit must be a positive number of bytes, a"):
            selector(memory_limit=limit).fit(X, y)
