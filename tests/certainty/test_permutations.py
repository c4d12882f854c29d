"""Permutations: within strata, of whole groups, of rows with weight."""

import numpy as np
import pytest

from tamis.certainty.permutations import Permutations, draw_states
from tamis.exceptions import InputError


def orders_of(n_rows, count=200, *, weight=None, strata=None, groups=None, seed=0):
    permutations = Permutations.of(n_rows, weight, strata, groups, "Rule")
    return permutations.orders(draw_states(np.random.default_rng(seed), count))


def test_every_order_is_as_likely():
    orders = orders_of(4, 24_000)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert counts.size == 24
    # Chi-squared with 23 degrees of freedom: 60 has a chance of 4e-5.
    assert ((counts - 1000) ** 2 / 1000).sum() < 60


def test_rows_stay_in_their_stratum():
    strata = np.array([0, 1, 0, 1, 2, 0, 1, 1])
    orders = orders_of(8, strata=strata)
    assert (strata[orders] == strata).all()
    assert (np.sort(orders, axis=1) == np.arange(8)).all()
    assert (orders[:, 4] == 4).all()
    assert len({tuple(one) for one in orders}) > 60


def test_groups_move_as_a_whole():
    groups = np.array([5, 5, 2, 2, 9, 9, 9, 7, 8])
    orders = orders_of(9, groups=groups)
    assert (np.sort(orders, axis=1) == np.arange(9)).all()
    # Two pairs exchange places, two single rows do, and the three rows have no equal.
    expected = {
        (*pair, 4, 5, 6, *single)
        for pair in [(0, 1, 2, 3), (2, 3, 0, 1)]
        for single in [(7, 8), (8, 7)]
    }
    assert {tuple(one) for one in orders.tolist()} == expected


def test_groups_stay_in_their_stratum():
    groups = np.repeat([0, 1, 2, 3], 2)
    strata = np.repeat([0, 1], 4)
    orders = orders_of(8, groups=groups, strata=strata)
    assert (strata[orders] == strata).all()
    assert len({tuple(one) for one in orders}) == 4
    with pytest.raises(InputError, match="Rule: expected groups of rows that lie within one stra"):
        orders_of(8, groups=groups, strata=np.arange(8) % 2)


def test_rows_of_weight_zero_stay():
    weight = np.array([1.0, 0.0, 2.0, 0.0, 1.0])
    orders = orders_of(5, weight=weight)
    assert (orders[:, [1, 3]] == [1, 3]).all()
    assert len({tuple(one) for one in orders}) == 6


def test_the_state_decides_not_the_batch_or_threads():
    permutations = Permutations.of(3000, None, None, None, "Rule")
    states = draw_states(np.random.default_rng(1), 300)
    together = permutations.orders(states, n_jobs=3)
    np.testing.assert_array_equal(together[17], permutations.orders(states[17:18])[0])
    batches = list(permutations.batches(states, 1))
    np.testing.assert_array_equal(np.concatenate(batches), together)


@pytest.mark.parametrize(
    ("target", "options", "count"),
    [
        ([0, 0, 1, 1], {}, 6),
        ([0, 1, 2, 3], {"strata": np.array([0, 0, 1, 1])}, 4),
        ([0, 1, 0, 1], {"strata": np.array([0, 1, 0, 1])}, 1),
        ([0, 1, 0, 1], {"groups": np.array([0, 0, 1, 1])}, 1),
        ([0, 1, 1, 0, 0, 1], {"groups": np.array([0, 0, 1, 1, 2, 2])}, 3),
        ([0, 1, 0, 1], {"weight": np.array([1.0, 1.0, 0.0, 0.0])}, 2),
    ],
)
def test_different_orders_are_counted(target, options, count):
    asked = {"weight": None, "strata": None, "groups": None, **options}
    permutations = Permutations.of(len(target), *asked.values(), "Rule")
    permutations.check(np.array(target), 1 / count, "Rule")
    with pytest.raises(InputError, match=rf"different orders of the target .* got {count}:"):
        permutations.check(np.array(target), 0.99 / count, "Rule")


def test_rotations_leave_few_rows_over():
    random = np.random.default_rng(0)
    for n_rows in (2000, 2345, 5001, 10_007):
        group = Permutations.of(n_rows, None, None, None, "Rule").rotations(999, random)
        assert 1000 <= group.length <= 1500
        assert n_rows - group.n_orbits * group.length < 0.05 * n_rows
    for few in (1999, 100):
        assert Permutations.of(few, None, None, None, "Rule").rotations(999, random) is None
    strata = np.zeros(5000, int)
    assert Permutations.of(5000, None, strata, None, "Rule").rotations(999, random) is None
