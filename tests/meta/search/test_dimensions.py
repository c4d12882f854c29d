"""Dimensions sample evenly, step with the law they promise, and stay inside."""

import math
import pickle

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chisquare

from tamis.exceptions import InputError
from tamis.meta import Categorical, Integer, Ordered, Real

N_DRAWS = 20_000
# Fixed seeds: a chance of one in a thousand per test to be wrong about a right law, once.
LEVEL = 1e-3


def _counts(values, draws):
    assert set(draws) <= set(values)
    return [draws.count(value) for value in values]


def _rounded_gaussian(start, low, high, deviation):
    """Law of a rounded and clipped Gaussian, in closed form."""
    edges = np.arange(low, high) + 0.5
    below = np.r_[0.0, ndtr((edges - start) / deviation), 1.0]
    return np.diff(below)


@pytest.mark.parametrize(
    "dimension",
    [Integer(-2, 5), Ordered(["s", "m", "l"]), Categorical(["a", None, 3, ("x", 1)])],
)
def test_samples_are_uniform(dimension):
    rng = np.random.default_rng(0)
    values = range(-2, 6) if isinstance(dimension, Integer) else dimension.values
    counts = _counts(values, [dimension.sample(rng) for _ in range(N_DRAWS)])
    assert chisquare(counts).pvalue > LEVEL


def test_real_samples_are_uniform():
    rng = np.random.default_rng(1)
    draws = np.array([Real(1, 3.5).sample(rng) for _ in range(N_DRAWS)])
    assert draws.min() >= 1
    assert draws.max() <= 3.5
    assert chisquare(np.histogram(draws, bins=20, range=(1, 3.5))[0]).pvalue > LEVEL


@pytest.mark.parametrize(("start", "step"), [(1, 0.1), (4, 0.1), (8, 0.3), (5, 2.0)])
def test_integer_steps_are_rounded_clipped_gaussians(start, step):
    rng = np.random.default_rng(2)
    draws = [Integer(1, 8).near(start, rng, step) for _ in range(N_DRAWS)]
    assert all(type(value) is int for value in draws)
    law = _rounded_gaussian(start, 1, 8, 7 * step)
    counts = np.array(_counts(range(1, 9), draws))
    often = law * N_DRAWS > 5
    assert counts[~often].sum() <= 20
    expected = law[often] / law[often].sum() * counts[often].sum()
    assert chisquare(counts[often], expected).pvalue > LEVEL


def test_ordered_steps_are_those_of_their_places():
    values = [4, 8, 12, 16, 99]
    draws = [Ordered(values).near(12, rng, 0.2) for rng in [np.random.default_rng(3)] * N_DRAWS]
    law = _rounded_gaussian(2, 0, 4, 0.8)
    assert chisquare(_counts(values, draws), law * N_DRAWS).pvalue > LEVEL


@pytest.mark.parametrize("step", [0.05, 0.5, 3.0])
def test_categorical_jumps_with_its_law(step):
    values = ["a", "b", "c", "d"]
    rng = np.random.default_rng(4)
    draws = [Categorical(values).near("c", rng, step) for _ in range(N_DRAWS)]
    jump = 1 - math.exp(-step)
    law = np.array([jump / 3, jump / 3, 1 - jump, jump / 3])
    assert chisquare(_counts(values, draws), law * N_DRAWS).pvalue > LEVEL


def test_real_steps_are_clipped_gaussians():
    rng = np.random.default_rng(5)
    draws = np.array([Real(0, 10).near(9.0, rng, 0.2) for _ in range(N_DRAWS)])
    edges = np.arange(4, 10.0)
    law = np.diff(np.r_[0, ndtr((edges - 9) / 2), ndtr(0.5), 1])
    counts = np.r_[np.histogram(draws, [0, *edges, np.nextafter(10, 0)])[0], (draws == 10).sum()]
    assert counts.sum() == N_DRAWS
    assert chisquare(counts, law * N_DRAWS).pvalue > LEVEL


@pytest.mark.parametrize(
    ("dimension", "value"),
    [
        (Integer(1, 8), 3),
        (Real(0, 1), 0.25),
        (Ordered(["s", "m", "l"]), "m"),
        (Categorical(["s", "m", "l"]), "m"),
    ],
)
def test_no_step_stays_and_a_huge_step_stays_inside(dimension, value):
    rng = np.random.default_rng(6)
    for _ in range(50):
        assert dimension.near(value, rng, 0.0) == value
        assert dimension.check(dimension.near(value, rng, 1e308)) is not None


def test_every_value_is_reached_from_every_other():
    rng = np.random.default_rng(7)
    for dimension, values in (
        (Integer(1, 4), [1, 2, 3, 4]),
        (Ordered("abcd"[i] for i in range(4)), list("abcd")),
        (Categorical(list("abcd")), list("abcd")),
    ):
        for start in values:
            reached = {dimension.near(start, rng, 0.6) for _ in range(600)}
            assert reached == set(values)


@pytest.mark.parametrize(
    "dimension", [Integer(3, 3), Real(2, 2), Ordered([3]), Categorical(["only"])]
)
def test_fixed_dimensions_never_move(dimension):
    rng = np.random.default_rng(8)
    value = dimension.sample(rng)
    assert dimension.size == 1
    assert all(dimension.near(value, rng, 5.0) == value for _ in range(20))


def test_sizes():
    assert Integer(1, 8).size == 8
    assert Integer(-(2**53), 2**53).size == 2**54 + 1
    assert Real(1, 3.5).size == math.inf
    assert Ordered([4, 8, 12, 16]).size == 4
    assert Categorical(["a", "b"]).size == 2


def test_encoding_loses_nothing():
    for dimension, values in (
        (Integer(-(2**53), 2**53), [-(2**53), 2**53 - 1, 0]),
        (Real(-1, 1), [0.1, -1.0, 1 / 3]),
        (Ordered(["s", "m", None]), ["s", "m", None]),
        (Categorical([1.5, "x", (1, 2)]), [1.5, "x", (1, 2)]),
    ):
        for value in values:
            number = dimension.encode(value)
            assert type(number) is float
            back = dimension.decode(number)
            assert back == value
            assert type(back) is type(value)


def test_values_of_numpy_become_those_of_python():
    assert type(Integer(np.int64(1), np.int32(8)).high) is int
    assert type(Integer(1, 8).check(np.int16(3))) is int
    assert type(Real(0, 1).check(np.float32(0.5))) is float
    assert type(Real(0, 1).check(1)) is float
    assert [type(value) for value in Ordered(np.arange(3)).values] == [int] * 3
    assert type(Categorical(["a", "b"]).check(np.str_("a"))) is str


def test_a_person_can_read_them():
    assert repr(Integer(1, 8)) == "Integer(1, 8)"
    assert repr(Real(1, 3.5)) == "Real(1.0, 3.5)"
    assert repr(Ordered((4, 8))) == "Ordered([4, 8])"
    assert repr(Categorical(["a", "b"])) == "Categorical(['a', 'b'])"
    assert repr(Ordered(range(100))) == "Ordered([0, 1, 2, 3, 4, 5, ..., 99])"


def test_equal_by_what_they_hold():
    assert Integer(1, 8) == Integer(1, 8) != Integer(1, 9)
    assert Real(0, 1) == Real(0.0, 1.0) != Integer(0, 1)
    assert Ordered([1, 2]) == Ordered((1, 2)) != Ordered([2, 1])
    assert Ordered([1, 2]) != Categorical([1, 2])
    assert len({Integer(1, 8), Integer(1, 8), Ordered([1]), Categorical([1])}) == 3
    for dimension in (Integer(1, 8), Real(0, 1), Ordered(["a", "b"]), Categorical([None])):
        assert pickle.loads(pickle.dumps(dimension)) == dimension
    with pytest.raises(AttributeError):
        Integer(1, 8).low = 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer(3, 2), "Integer: expected low <= high, got low=3 and high=2"),
        (lambda: Integer(1.0, 2), "Integer: low must be an int within"),
        (lambda: Integer(1, True), "Integer: high must be an int within"),
        (lambda: Integer(0, 2**60), "Integer: high must be an int within"),
        (lambda: Real(2, 1), "Real: expected low <= high"),
        (lambda: Real(0, math.inf), "Real: high must be a finite number, got inf"),
        (lambda: Real(math.nan, 1), "Real: low must be a finite number, got nan"),
        (lambda: Real(-1.7e308, 1.7e308), "Real: high - low must be finite"),
        (lambda: Ordered("abc"), "Ordered: expected a list of values, got 'abc'"),
        (lambda: Ordered(5), "Ordered: expected a list of values, got 5"),
        (lambda: Ordered([]), "Ordered: expected at least one value"),
        (lambda: Categorical([1, "a", 1.0]), "Categorical: expected different values, got 1.0"),
        (lambda: Categorical([math.nan]), "got nan: it does not equal itself"),
        (lambda: Categorical([[1], [2]]), r"Categorical: expected hashable values .* got \[1\]"),
    ],
)
def test_wrong_dimensions_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("dimension", "value", "message"),
    [
        (Integer(1, 8), 9, "Integer: must be an int from 1 to 8, got 9"),
        (Integer(1, 8), 3.0, "got 3.0"),
        (Integer(1, 8), True, "got True"),
        (Real(0, 1), 1.1, r"Real: must be a number from 0.0 to 1.0, got 1.1"),
        (Real(0, 1), math.nan, "got nan"),
        (Real(0, 1), "0.5", "got '0.5'"),
        (Ordered([4, 8]), 5, r"Ordered: must be one of \[4, 8\], got 5"),
        (Categorical(["a", "b"]), "c", r"Categorical: must be one of \['a', 'b'\], got 'c'"),
        (Categorical(["a", "b"]), ["a"], r"got \['a'\]"),
        (Categorical(["a", "b"]), np.array(["a", "b"]), "got array"),
    ],
)
def test_wrong_values_are_refused(dimension, value, message):
    with pytest.raises(InputError, match=message):
        dimension.check(value)


@pytest.mark.parametrize(
    ("dimension", "number", "message"),
    [
        (Integer(1, 8), 2.5, "Integer: must be an int from 1 to 8, got 2.5"),
        (Integer(1, 8), math.nan, "got nan"),
        (Integer(1, 8), math.inf, "got inf"),
        (Integer(1, 8), 9.0, "got 9"),
        (Real(0, 1), 2.0, "got 2.0"),
        (Ordered([4, 8]), 2.0, "Ordered: must be the place of a value, from 0 to 1, got 2.0"),
        (Categorical([4, 8]), 0.5, "Categorical: must be the place of a value"),
        (Categorical([4, 8]), -1.0, "got -1.0"),
    ],
)
def test_wrong_numbers_are_not_decoded(dimension, number, message):
    with pytest.raises(InputError, match=message):
        dimension.decode(number)
