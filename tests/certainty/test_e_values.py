"""Thresholds, e-values and e-BH: worked by hand, against plain versions, and at the edges."""

import itertools

import numpy as np
import pytest

from reference import knockoffs as plain
from tamis.certainty import e_bh, knockoff_threshold
from tamis.certainty.e_values import knockoff_e_values
from tamis.exceptions import InputError


def test_e_bh_by_hand():
    # n / (level k) for n = 4 and level 0.1: 40, 20, 13.3, 10
    assert e_bh([40, 0, 0, 0], 0.1).tolist() == [True, False, False, False]
    assert e_bh([39, 19, 13, 9], 0.1).tolist() == [False] * 4
    assert e_bh([11, 10, 12, 10], 0.1).all()


def test_e_bh_selects_nothing_by_zeros():
    """A released package selects every feature."""
    assert not e_bh(np.zeros(50), 0.1).any()
    assert e_bh([], 0.1).size == 0


def test_threshold_by_hand():
    W = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert knockoff_threshold(W, 0.1) == 1.0  # 1 / 10
    assert knockoff_threshold(W, 0.09) == np.inf
    assert knockoff_threshold([*W, -0.5], 0.1) == 1.0
    assert knockoff_threshold([*W, -1.5], 0.2) == 1.0  # 2 / 10 at 1
    assert knockoff_threshold([*W, -1.5], 0.11) == np.inf  # 1 / 9 at 2
    assert knockoff_threshold(np.zeros(5), 0.5) == np.inf


@pytest.mark.parametrize("seed", range(20))
def test_plain_versions(seed):
    rng = np.random.default_rng(seed)
    W = np.round(rng.normal(rng.uniform(0, 1.5), 1, (3, 40)), 1)
    level = rng.uniform(0.05, 0.5)
    assert knockoff_threshold(W[0], level) == plain.threshold(W[0], level)
    found = knockoff_e_values(W, level, 37)
    np.testing.assert_allclose(found, plain.e_values(W, level, 37))
    np.testing.assert_array_equal(e_bh(found, level), plain.e_bh(found, level))


@pytest.mark.parametrize("level", [0.05, 0.07, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(10))
def test_one_copy_is_the_filter(level, seed):
    """With one copy, e-BH at the same level selects what lies beyond the threshold."""
    W = np.random.default_rng(seed).normal(1, 1, 100)
    selected = e_bh(knockoff_e_values(W[None], level, 100), level)
    np.testing.assert_array_equal(selected, knockoff_threshold(W, level) <= W)


def test_e_values_by_hand():
    # At level 0.25 the threshold is 4: (1 + 0) / 4.
    np.testing.assert_allclose(
        knockoff_e_values(np.array([[7, 6, 5, 4, -3, 1]]), 0.25, 6), [6, 6, 6, 6, 0, 0]
    )
    W = np.array([[9, 8, -7, -6, 5, -4, 3, 2]])
    # No threshold. Positive ones: 5 from 2 on, 4 from 3 on, 3 from 4 on, less than 1 / 0.25.
    np.testing.assert_allclose(knockoff_e_values(W, 0.25, 8), [2, 2, 0, 0, 2, 0, 0, 0])


@pytest.mark.parametrize("level", [0.1, 0.25, 0.34, 0.5])
@pytest.mark.parametrize("n_related", [0, 1, 4])
def test_e_values_of_nulls_by_all_signs(level, n_related):
    """The signs of nulls are fair coins: over all of them, their e-values sum to at most n."""
    rng = np.random.default_rng(n_related)
    sizes = rng.permutation(np.arange(1, 13)).astype(float)
    null = np.arange(12) >= n_related
    totals = []
    for signs in itertools.product([1, -1], repeat=int(null.sum())):
        W = sizes.copy()
        W[null] *= signs
        totals.append(knockoff_e_values(W[None], level, 12)[null].sum())
    assert np.mean(totals) <= 12 + 1e-9
    if not n_related and level < 0.5:
        assert np.mean(totals) > 9  # a copy that finds no threshold counts, too


def test_no_copies_give_zeros():
    assert not knockoff_e_values(np.zeros((0, 5)), 0.1, 5).any()


@pytest.mark.parametrize("level", [0, 1, -0.1, "0.1"])
def test_bad_level(level):
    with pytest.raises(InputError, match=r"e_bh: level must be a float in \(0, 1\)"):
        e_bh([1.0], level)
    with pytest.raises(InputError, match=r"knockoff_threshold: level must be"):
        knockoff_threshold([1.0], level)


def test_bad_values():
    with pytest.raises(InputError, match=r"at least 0 per feature, got -1\.0"):
        e_bh([1.0, -1.0], 0.1)
    with pytest.raises(InputError, match=r"got an array of shape \(1, 1\)"):
        e_bh([[1.0]], 0.1)
    with pytest.raises(InputError, match="one finite number per feature, got nan"):
        knockoff_threshold([1.0, np.nan], 0.1)
