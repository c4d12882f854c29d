import pytest

from tamis._runtime import limits as _limits
from tamis._runtime.limits import as_bytes, block_rows
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
    ],
)
def test_as_bytes(given, expected):
    assert as_bytes(given) == expected


@pytest.mark.parametrize("given", [0, -1, "much", "1 GX", "", True, [1]])
def test_not_a_limit(given):
    with pytest.raises(InputError, match=r"memory_limit must be a positive number of bytes"):
        as_bytes(given)


def test_default_is_a_quarter_of_what_is_free(monkeypatch):
    monkeypatch.setattr(_limits, "free_memory", lambda: 2**32)
    assert as_bytes(None) == 2**30
    monkeypatch.setattr(_limits, "free_memory", lambda: 2**20)
    assert as_bytes(None) == 2**26


def test_block_rows():
    assert block_rows(16 * 8 * 10 * 7, 10) == 7
    assert block_rows(1, 10**6) == 1
    assert block_rows(2**26, 0) == 2**22 // 8
    assert block_rows(2**40, 200) * 200 * 8 <= 2**25
