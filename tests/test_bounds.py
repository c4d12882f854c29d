"""The bounds of section 7: worked by hand, by brute force, monotone, and strict about input."""

import itertools
import math

import numpy as np
import pytest

from tamis import bounds
from tamis.bounds import (
    bartlett_bound,
    direct_bound,
    direct_selection_term,
    direct_vc_dimension,
    induced_selections,
    joint_vc_dimension,
    mufasa_bound,
    selection_count_any,
    selection_count_finite,
    selection_term,
    union_bound,
    vc_of_selections,
)
from tamis.exceptions import InputError

LN2 = math.log(2)

# 578 m = 1024, so that log2 is 10; d = 34 m, so that ln(34 e m / d) is 1; 8 / (margin delta) = e^3.
M = 1024 / 578
HAND = {
    "train_error": 0.1,
    "n_samples": M,
    "fat_dimension": 34 * M,
    "margin": 1.0,
    "confidence": 1 - 8 / math.e**3,
}


def test_theorems_4_and_5_by_hand():
    # 2/m (34 m * 10 + 3 + g) = 680 + 2 (3 + g) / m
    assert bartlett_bound(**HAND) == pytest.approx(0.1 + math.sqrt(680 + 6 / M), rel=1e-14)
    # J = 8 and |MF| = 1: the smaller of 8 ln 2 and ln 8 = 3 ln 2.
    small = mufasa_bound(**HAND, n_steps=8, n_meta_values=1)
    assert small == pytest.approx(0.1 + math.sqrt(680 + (6 + 6 * LN2) / M), rel=1e-14)
    endless = mufasa_bound(**HAND, n_steps=8)
    assert endless == pytest.approx(0.1 + math.sqrt(680 + (6 + 16 * LN2) / M), rel=1e-14)
    assert mufasa_bound(**HAND, n_steps=8, n_meta_values=math.inf) == endless
    assert mufasa_bound(**HAND, n_steps=8, n_meta_values=10**400) == endless
    # n ln N with n = 3, N = e^2.
    direct = direct_bound(**HAND, n_candidates=math.e**2, n_selected=3)
    assert direct == pytest.approx(0.1 + math.sqrt(680 + 18 / M), rel=1e-14)


def test_bound_at_ordinary_numbers():
    m, d, margin, delta, steps, values = 60_000, 25.0, 0.3, 0.05, 50, 1408
    inside = d * math.log(34 * math.e * m / d) * math.log(578 * m, 2)
    inside += math.log(8 / (margin * delta)) + math.log(steps * values)
    expected = 0.07 + math.sqrt(2 / m * inside)
    assert mufasa_bound(0.07, m, d, margin, 0.95, steps, values) == pytest.approx(expected)


def test_confidence_is_the_probability_that_the_bound_holds():
    sure = mufasa_bound(0.1, 1e6, 10, 0.5, confidence=[0.5, 0.95, 0.999], n_steps=5)
    assert (np.diff(sure) > 0).all()


def test_selection_terms():
    assert selection_term(2, 4) == pytest.approx(2 * LN2)  # against ln 8 = 3 ln 2
    assert selection_term(8, 4) == pytest.approx(5 * LN2)  # against 8 ln 2
    assert selection_term(5) == pytest.approx(5 * LN2)
    assert selection_term(100_000) == pytest.approx(100_000 * LN2)  # 2^J does not fit in a float
    assert direct_selection_term(math.e**4, 5) == pytest.approx(20)


def test_worked_example_of_the_paper():
    """Section 7.1: the printed J n ln(2n) is 375,000 at n = 988; n ln N is a ninth of it."""
    steps = 50
    printed = steps * 988 * math.log(2 * 988)
    assert printed == pytest.approx(375_000, rel=1e-3)
    meant = direct_selection_term(988 * 2**steps, 988)
    assert meant == pytest.approx(988 * (math.log(988) + steps * LN2))
    assert 8 < printed / meant < 10
    assert round(selection_term(steps, 1197), 2) == 11.0


def test_counts_of_lemmas_1_and_2():
    assert selection_count_finite(50, 1408) == 70_400
    assert selection_count_finite(8, 4, unit="bits") == pytest.approx(5)
    assert selection_count_finite(8, 4, unit="nats") == pytest.approx(5 * LN2)
    assert selection_count_finite(1000, math.inf) == math.inf
    np.testing.assert_array_equal(selection_count_any([1, 2, 3, 11]), [1, 2, 4, 1024])
    assert selection_count_any(5000, unit="bits") == 4999
    assert selection_count_any(11, unit="nats") == pytest.approx(10 * LN2)
    assert selection_count_any(5000) == math.inf


def test_lemma_2_by_playing_all_runs():
    """With fixed random numbers, the answers of step 2(c) decide which of 2^(J-1) sets it is."""
    n_steps = 5
    outcomes = set()
    for answers in itertools.product([False, True], repeat=n_steps - 1):
        best = path = ()
        for answer in (True, *answers):  # the first set is always accepted
            # A set depends on the random numbers and on the best point, thus on the answers so far.
            candidate = (len(path), best)
            path = (*path, answer)
            best = candidate if answer else best
        outcomes.add(best)
    assert len(outcomes) == selection_count_any(n_steps)


def _half_lines(n):
    return {tuple(place >= cut for place in range(n)) for cut in range(n + 1)}


def _intervals(n):
    ends = itertools.combinations_with_replacement(range(n + 1), 2)
    return {tuple(low <= place < high for place in range(n)) for low, high in ends}


@pytest.mark.parametrize(("make", "dimension"), [(_half_lines, 1), (_intervals, 2)])
def test_lemma_6_covers_real_classes(make, dimension):
    for n in range(1, 16):
        counted = len(make(n))
        bound = induced_selections(dimension, n)
        assert counted <= bound * (1 + 1e-12)
        if n >= dimension:
            assert bound == pytest.approx((math.e * n / dimension) ** dimension)


def test_lemma_6_covers_every_class_by_sauer():
    """No class of dimension d selects more than sum_{i<=d} C(N, i) sets; some select as many."""
    for n in range(1, 30):
        for dimension in range(40):
            most = sum(math.comb(n, size) for size in range(min(dimension, n) + 1))
            assert most <= induced_selections(dimension, n) * (1 + 1e-12)


def test_lemma_6_edges():
    assert induced_selections(5, 4) == 16  # fewer features than the dimension: all sets
    assert induced_selections(4, 4) == pytest.approx(math.e**4)
    assert induced_selections(0, 100) == 1
    assert induced_selections(100, 1e6) == math.inf
    bits = induced_selections(100, 1e6, unit="bits")
    assert bits == pytest.approx(100 * math.log2(math.e * 1e4))


def test_lemma_7_chain_of_inequalities():
    """At m = bound, the number of classifications stays below 2^m."""
    dimension = np.unique(np.r_[11:60, np.geomspace(60, 1e7, 60).round()])[:, None]
    bits = np.r_[0, 1, 1.4427, 2:20, np.geomspace(20, 1e9, 60)][None, :]
    m = vc_of_selections(dimension, bits)
    assert (bits + dimension * np.log2(math.e * m / dimension) < m).all()
    # Step (5) of the proof asks for more than the "log d > 2" it prints; from 11 on it holds.
    assert math.log2(11) >= 2 + math.log2(math.e) > math.log2(10)


def test_theorem_8_and_equation_1_by_hand():
    assert vc_of_selections(16, 10) == 108  # (16 + 10 + 1) * 4
    # d_s = 2, N = 8: 2 log2(4 e) = 4 + 2 log2 e
    assert joint_vc_dimension(16, 2, 8) == pytest.approx((21 + 2 * math.log2(math.e)) * 4)
    assert joint_vc_dimension(16, 10, 5) == 4 * 22  # all 2^5 sets
    assert direct_vc_dimension(16, 4, 2) == pytest.approx((17 + math.log2(6)) * 4)
    assert direct_vc_dimension(16, 1000, 1000) == pytest.approx(68, rel=1e-12)


@pytest.mark.parametrize(
    ("total", "chosen"), [(50, 25), (10**6, 3), (10**6, 500_000), (10**6, 999_999), (10**12, 10)]
)
def test_equation_1_keeps_its_digits(total, chosen):
    if chosen <= 25:
        exact = math.log2(math.comb(total, chosen))
    else:  # C(N, n) has too many digits: add logarithms
        few = min(chosen, total - chosen)
        exact = math.fsum(math.log2(total - i) - math.log2(i + 1) for i in range(few))
    assert direct_vc_dimension(16, total, chosen) == pytest.approx(4 * (17 + exact), rel=1e-11)


def test_examples_of_section_7_2():
    """Linear rules on k meta-features, and all rules on k binary ones, beat a free choice."""
    n, k, total = 1000, 4, 100_000
    free = direct_vc_dimension(n + 1, total, n)
    linear = joint_vc_dimension(n + 1, k + 1, total)
    every = joint_vc_dimension(n + 1, 2**k, total)
    log = math.log2
    assert linear == pytest.approx((n + 2 + 5 * log(math.e * total / 5)) * log(n + 1))
    assert every == pytest.approx((n + 2 + 16 * log(math.e * total / 16)) * log(n + 1))
    assert free == pytest.approx((n + 2 + log(math.comb(total, n))) * log(n + 1), rel=1e-10)
    assert linear < every < free


GRID = {
    "train_error": [0.0, 0.2, 1.0],
    "n_samples": [1.0, 10.0, 1e3, 1e6, 1e12],
    "fat_dimension": [0.5, 1.0, 10.0, 340.0, 1e4],
    "margin": [1e-6, 0.3, 1.0],
    "confidence": [1e-9, 0.5, 0.95, 1 - 1e-9],
    "n_steps": [1, 2, 50, 5000],
    "n_meta_values": [1, 20, 1e9, math.inf],
}
FALLING = {"n_samples", "margin"}


@pytest.mark.parametrize("name", GRID)
def test_mufasa_bound_is_monotone_in_every_argument(name):
    axes = np.meshgrid(*GRID.values(), indexing="ij", sparse=True)
    values = mufasa_bound(**dict(zip(GRID, axes, strict=True)))
    assert values.shape == tuple(len(grid) for grid in GRID.values())
    assert np.isfinite(values).all()
    if name == "n_samples":  # below m = d, where the bound is vacuous, it may grow with m
        values = values[:, 3:]
        assert GRID["n_samples"][3] >= max(GRID["fat_dimension"])
    moves = np.diff(values, axis=list(GRID).index(name))
    assert (moves <= 1e-12 if name in FALLING else moves >= -1e-12).all()
    assert (np.abs(moves) > 0).any()


def test_fat_dimension_beyond_the_top_of_the_formula_stays_there():
    top = bartlett_bound(0, 10, 340, 1, 0.5)
    assert bartlett_bound(0, 10, [341, 1e9], 1, 0.5) == pytest.approx([top, top])


def test_vc_dimensions_are_monotone():
    classifier, total = np.r_[11, 50, 1e4][:, None], np.r_[100, 1e4, 1e9]
    for values in (
        joint_vc_dimension(classifier, 5, total),
        direct_vc_dimension(classifier, total, 20),
    ):
        assert (np.diff(values, axis=0) > 0).all()
        assert (np.diff(values, axis=1) > 0).all()
    assert (np.diff(joint_vc_dimension(20, np.arange(101), 100)) > 0).all()
    assert (np.diff(direct_vc_dimension(20, 100, np.arange(1, 51))) > 0).all()


def test_limits():
    # With endless data only the training error is left; one step over one value costs nothing.
    assert mufasa_bound(0.1, 1e300, 10, 0.5, 0.95, 50) == pytest.approx(0.1)
    assert mufasa_bound(**HAND, n_steps=1, n_meta_values=1) == bartlett_bound(**HAND)
    assert union_bound(**HAND, selection_nats=0) == bartlett_bound(**HAND)
    assert selection_term(50, 1e300) == selection_term(50)
    assert math.isfinite(bartlett_bound(0, 1e3, 1, margin=1e-308, confidence=1 - 1e-16))


def test_arrays_broadcast_and_scalars_give_floats():
    table = mufasa_bound(
        0.1, np.array([[100], [1000]]), [1, 2, 3], 0.5, 0.95, n_steps=50, n_meta_values=(7, 8, 9)
    )
    assert table.shape == (2, 3)
    assert table[1, 2] == mufasa_bound(0.1, 1000, 3, 0.5, 0.95, 50, 9)
    for value in (
        mufasa_bound(**HAND, n_steps=8),
        bartlett_bound(**HAND),
        direct_bound(**HAND, n_candidates=9, n_selected=2),
        selection_term(5, 3),
        direct_selection_term(9, 2),
        selection_count_finite(5, 3),
        selection_count_any(5),
        induced_selections(2, 10),
        vc_of_selections(16, 10),
        joint_vc_dimension(np.int64(16), np.float32(2), np.array(8)),
        direct_vc_dimension(16, 10, 3),
    ):
        assert type(value) is float
    assert joint_vc_dimension([16, 32], 5, [[10], [20], [30]]).shape == (3, 2)
    assert selection_term([], 3).shape == (0,)


def test_arguments_are_not_changed():
    steps = np.array([1.0, 5.0])
    values = np.array([1.0, np.inf])
    fat = np.array([5.0, 1e9])
    mufasa_bound(0.1, 10, fat, 0.5, 0.95, steps, values)
    assert steps.tolist() == [1, 5]
    assert values.tolist() == [1, math.inf]
    assert fat.tolist() == [5, 1e9]


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("train_error", 1.2, "train_error must be finite and at least 0 and at most 1, got 1.2"),
        ("train_error", -0.1, "got -0.1"),
        ("n_samples", 0, "n_samples must be finite and at least 1, got 0.0"),
        ("n_samples", math.inf, "got inf"),
        ("n_samples", math.nan, "got nan"),
        ("fat_dimension", 0, "fat_dimension must be finite and above 0, got 0.0"),
        ("margin", 0, "margin must be finite and above 0 and at most 1, got 0.0"),
        ("margin", [0.5, 2], "got 2.0"),
        ("confidence", 1.0, "confidence must be finite and above 0 and below 1, got 1.0"),
        ("confidence", 95, "got 95.0"),
        ("n_steps", 0, "n_steps must be finite and at least 1, got 0.0"),
        ("n_meta_values", 0, "n_meta_values must be at least 1, got 0.0"),
        ("n_meta_values", [5, None], "n_meta_values must be"),
        ("n_meta_values", -math.inf, "got -inf"),
        ("n_steps", "many", "n_steps must be a number or an array of numbers, got 'many'"),
        ("n_steps", True, "n_steps must be a number"),
        ("n_steps", None, "n_steps must be"),
        ("n_steps", 1 + 2j, "n_steps must be a number"),
        ("n_samples", 10**400, "n_samples must be a number"),
        ("n_samples", [[1], [1, 2]], "n_samples must be a number"),
        ("n_meta_values", [[1], [1, 2]], "n_meta_values must be a number"),
        ("n_meta_values", True, "n_meta_values must be a number"),
    ],
)
def test_wrong_arguments_of_the_error_bounds(name, wrong, message):
    right = {**HAND, "n_steps": 8, "n_meta_values": 4}
    with pytest.raises(InputError, match=message):
        mufasa_bound(**{**right, name: wrong})


def test_other_wrong_arguments():
    with pytest.raises(InputError, match=r"at least 11, got 10.0. The proof needs"):
        joint_vc_dimension([11, 10], 5, 100)
    with pytest.raises(InputError, match="use 11 for a smaller class"):
        direct_vc_dimension(3, 100, 5)
    with pytest.raises(InputError, match=r"selector_vc must be finite and at least 0, got -1\.0"):
        joint_vc_dimension(11, -1, 100)
    with pytest.raises(InputError, match="n_selected must be at most n_candidates, got 6 of 5"):
        direct_vc_dimension(11, [10, 5], 6)
    with pytest.raises(InputError, match="n_selected must be at most n_candidates"):
        direct_bound(**HAND, n_candidates=5, n_selected=6)
    with pytest.raises(InputError, match=r"broadcast together, got the shapes \(2,\), \(3,\)"):
        selection_term([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="shapes"):
        bartlett_bound(0.1, [10, 20], [1, 2, 3], 0.5, 0.9)
    for function, arguments in (
        (selection_count_any, (5,)),
        (selection_count_finite, (5, 3)),
        (induced_selections, (2, 10)),
    ):
        with pytest.raises(InputError, match="unit must be 'count' or 'nats' or 'bits', got 'log'"):
            function(*arguments, unit="log")


def test_every_name_is_listed():
    public = {
        name
        for name, thing in vars(bounds).items()
        if str(getattr(thing, "__module__", "")).startswith("tamis.bounds")
        and not name.startswith("_")
    }
    assert public == set(bounds.__all__)
