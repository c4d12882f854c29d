"""A space of meta-features: points stay valid, whatever the steps and constraints are."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chisquare

from tamis.exceptions import InputError
from tamis.meta import Categorical, Integer, MetaSpace, Ordered, Real

LEVEL = 1e-3


def ascending(point):
    return point["a"] <= point["b"]


def nothing(point):
    return False


def paper_space():
    """Section 6.2 of the paper."""
    return MetaSpace(
        {
            "numInputs": Integer(1, 8),
            "percentPos": Integer(0, 100),
            "shiftInvLen": Integer(1, 8),
            "scatter": Real(1, 3.5),
        }
    )


def mixed_space():
    return MetaSpace(
        {
            "count": Integer(1, 8),
            "spread": Real(-1, 1),
            "size": Ordered([4, 8, 12, 16]),
            "kind": Categorical(["noun", "verb", None]),
        }
    )


def pair_space(high=3):
    return MetaSpace({"a": Integer(0, high), "b": Integer(0, high)}, constraints=[ascending])


def test_long_walk_stays_valid_with_python_values():
    space, rng = mixed_space(), np.random.default_rng(0)
    point = space.sample(rng)
    seen = {name: set() for name in space.names}
    for step in itertools.chain([0.02] * 500, [0.3] * 500, [5.0] * 50):
        point = space.near(point, rng, step)
        assert space.valid(point)
        assert tuple(point) == space.names
        assert type(point["count"]) is int
        assert type(point["spread"]) is float
        for name, value in point.items():
            seen[name].add(value)
    assert seen["count"] == set(range(1, 9))
    assert seen["size"] == {4, 8, 12, 16}
    assert seen["kind"] == {"noun", "verb", None}


def test_sample_covers_the_space_of_the_paper():
    space, rng = paper_space(), np.random.default_rng(1)
    points = space.to_array([space.sample(rng) for _ in range(4000)])
    for column, size in ((0, 8), (2, 8)):
        counts = np.bincount(points[:, column].astype(int))[1:]
        assert len(counts) == size
        assert chisquare(counts).pvalue > LEVEL
    assert set(points[:, 1]) == set(range(101))
    assert chisquare(np.histogram(points[:, 3], bins=10, range=(1, 3.5))[0]).pvalue > LEVEL


def test_constrained_sample_is_uniform_over_allowed_points():
    space, rng = pair_space(), np.random.default_rng(2)
    draws = [tuple(space.sample(rng).values()) for _ in range(5000)]
    allowed = [(a, b) for a in range(4) for b in range(a, 4)]
    counts = [draws.count(pair) for pair in allowed]
    assert sum(counts) == len(draws)
    assert chisquare(counts).pvalue > LEVEL


def test_constrained_step_has_the_law_given_that_it_is_allowed():
    space, rng = pair_space(), np.random.default_rng(3)
    draws = [tuple(space.near({"a": 1, "b": 2}, rng, 0.4).values()) for _ in range(5000)]
    edges = np.arange(3) + 0.5

    def law(start):
        return np.diff(np.r_[0, ndtr((edges - start) / 1.2), 1])

    joint = np.triu(np.outer(law(1), law(2)))
    allowed = [(a, b) for a in range(4) for b in range(a, 4)]
    expected = np.array([joint[pair] for pair in allowed]) / joint.sum() * len(draws)
    counts = [draws.count(pair) for pair in allowed]
    assert sum(counts) == len(draws)
    assert chisquare(counts, expected).pvalue > LEVEL


def test_dimensions_step_independently():
    space = MetaSpace({"a": Real(0, 1), "b": Real(0, 1)})
    rng = np.random.default_rng(4)
    moves = space.to_array([space.near({"a": 0.5, "b": 0.5}, rng, 0.05) for _ in range(4000)])
    assert abs(np.corrcoef(moves.T)[0, 1]) < 0.06
    np.testing.assert_allclose(moves.std(axis=0), 0.05, rtol=0.05)


def test_impossible_constraints():
    space = MetaSpace({"a": Integer(0, 5)}, constraints=[nothing])
    assert space.size == 0
    with pytest.raises(InputError, match="none of 10,000 points drawn satisfies the constraints"):
        space.sample(0)
    with pytest.raises(InputError, match="against a constraint"):
        space.near({"a": 1}, 0, 0.1)


def test_near_stays_where_no_other_point_is_allowed():
    only = MetaSpace({"a": Real(0, 1)}, constraints=[lambda point: point["a"] == 0.5])
    start = {"a": 0.5}
    stayed = only.near(start, 0, 0.1)
    assert stayed == start
    assert stayed is not start


def test_no_step_stays():
    space, rng = mixed_space(), np.random.default_rng(5)
    for _ in range(20):
        point = space.sample(rng)
        assert space.near(point, rng, 0) == point


def test_point_given_is_not_changed_nor_seen_by_constraints():
    def greedy(point):
        point.clear()
        return True

    space = MetaSpace({"a": Integer(0, 9)}, constraints=[greedy])
    point = {"a": 4}
    assert space.check(point) == {"a": 4}
    assert set(space.near(point, 0, 0.5)) == {"a"}
    assert set(space.sample(0)) == {"a"}
    assert point == {"a": 4}


def test_same_seed_same_points():
    space = mixed_space()
    for rng in (7, np.random.default_rng(7)):
        assert space.sample(rng) == space.sample(7)
    point = space.sample(1)
    assert space.near(point, 3, 0.4) == space.near(point, np.random.default_rng(3), 0.4)


def test_sizes():
    assert paper_space().size == math.inf
    kinds = {"a": Integer(1, 8), "b": Ordered([4, 8, 12]), "c": Categorical(["x", "y"])}
    assert MetaSpace(kinds).size == 48
    assert type(MetaSpace(kinds).size) is int
    assert MetaSpace({"a": Integer(1, 8), "fixed": Real(2, 2)}).size == 8
    many = {f"d{i}": Integer(1, 2**53) for i in range(30)}
    assert MetaSpace(many).size == 2 ** (53 * 30)
    assert MetaSpace({**many, "r": Real(0, 1)}).size == math.inf


def test_size_counts_the_constrained_points_if_few():
    assert pair_space(9).size == 55  # 10 * 11 / 2
    assert pair_space(315).size == 316 * 317 // 2  # 99,856 points are counted
    assert pair_space(316).size == 317**2  # 100,489 are not: an upper bound
    fixed = {"a": Real(1, 1), "b": Ordered([0, 1, 2])}
    assert MetaSpace(fixed, constraints=[ascending]).size == 2
    endless = {"a": Real(0, 1), "b": Integer(0, 1)}
    assert MetaSpace(endless, constraints=[ascending]).size == math.inf


def test_count_behind_the_worked_example_of_the_bounds():
    """i inputs have i + 1 shares of positive ones: 44 pairs, with 8 shifts 352 points."""

    def possible(point):
        shares = [round(100 * k / point["numInputs"]) for k in range(point["numInputs"] + 1)]
        return point["percentPos"] in shares

    dimensions = dict(paper_space().dimensions)
    del dimensions["scatter"]
    assert MetaSpace(dimensions, constraints=[possible]).size == 352


def test_arrays_lose_nothing():
    space, rng = mixed_space(), np.random.default_rng(8)
    points = [space.sample(rng) for _ in range(50)]
    array = space.to_array(points)
    assert array.shape == (50, 4)
    assert array.dtype == np.float64
    assert space.from_array(array) == points
    assert space.to_array(points[0]).shape == (4,)
    assert space.from_array(space.to_array(points[0])) == points[0]
    assert space.to_array([]).shape == (0, 4)
    assert space.from_array(np.empty((0, 4))) == []
    assert space.to_array(iter(points[:2])).shape == (2, 4)
    for point in space.from_array(array):
        assert type(point["count"]) is int
    first = {"count": 3, "spread": 0.5, "size": 12, "kind": None}
    np.testing.assert_array_equal(space.to_array(first), [3, 0.5, 2, 2])


def test_names_dimensions_equality_and_text():
    space = mixed_space()
    assert space.names == ("count", "spread", "size", "kind")
    assert space.dimensions["count"] == Integer(1, 8)
    with pytest.raises(TypeError):
        space.dimensions["count"] = Integer(1, 9)
    assert space == mixed_space()
    assert hash(space) == hash(mixed_space())
    assert space != paper_space()
    assert space != "space"
    turned = MetaSpace(dict(reversed(space.dimensions.items())))
    assert turned != space  # columns of arrays are in another order
    assert pair_space() == pair_space() != MetaSpace(pair_space().dimensions)
    assert repr(MetaSpace({"n": Integer(1, 8)})) == "MetaSpace({'n': Integer(1, 8)})"
    text = "MetaSpace({'a': Integer(0, 3), 'b': Integer(0, 3)}, constraints=[ascending])"
    assert repr(pair_space()) == text
    assert eval(repr(space)) == space


def test_copies_are_equal():
    space = mixed_space()
    assert pickle.loads(pickle.dumps(space)) == space
    assert copy.deepcopy(pair_space()) == pair_space()


def test_later_changes_of_the_dict_do_not_matter():
    dimensions = {"a": Integer(0, 3)}
    space = MetaSpace(dimensions)
    dimensions["b"] = Integer(0, 3)
    assert space.names == ("a",)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"a": 1}, r"expected a point with 'a', 'b', got one with 'a': missing \['b'\]"),
        ({"a": 1, "b": 2, "c": 3}, r"unknown \['c'\]"),
        ([1, 2], r"expected a dict with 'a', 'b', got \[1, 2\]"),
        ({"a": 1, "b": 4}, "'b' is wrong. Integer: must be an int from 0 to 3, got 4"),
        ({"a": 1.5, "b": 2}, "'a' is wrong. Integer: must be an int from 0 to 3, got 1.5"),
        ({"a": 2, "b": 1}, r"the point {'a': 2, 'b': 1} is against a constraint"),
    ],
)
def test_wrong_points_are_refused(point, message):
    space = pair_space()
    assert not space.valid(point)
    for call in (space.check, space.near, lambda wrong: space.to_array([wrong])):
        with pytest.raises(InputError, match=message):
            call(point)


@pytest.mark.parametrize("step", [-0.1, math.nan, math.inf, "0.1", None, True])
def test_wrong_steps_are_refused(step):
    with pytest.raises(InputError, match="step must be a finite float >= 0, got"):
        pair_space().near({"a": 1, "b": 2}, 0, step)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[1.0, 2.0, 3.0]], r"expected 2 columns, one for each of 'a', 'b', got .* \(1, 3\)"),
        ([[[1.0, 2.0]]], r"got an array of shape \(1, 1, 2\)"),
        (1.0, r"got an array of shape \(\)"),
        ([0.5, 2.0], "'a' is wrong. Integer: must be an int"),
        ([2.0, 1.0], "against a constraint"),
    ],
)
def test_wrong_arrays_are_refused(array, message):
    with pytest.raises(InputError, match=message):
        pair_space().from_array(array)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({},), "at least one meta-feature, got {}"),
        (([Integer(0, 1)],), "expected a dict"),
        (({1: Integer(0, 1)},), "expected names that are str, got 1"),
        (({"a": (0, 1)},), r"Integer, Real, Ordered or Categorical for 'a', got \(0, 1\)"),
        (({"a": Integer},), "for 'a', got <class"),
    ],
)
def test_wrong_spaces_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        MetaSpace(*arguments)


@pytest.mark.parametrize("constraints", [ascending, [1], "a < b", 5])
def test_wrong_constraints_are_refused(constraints):
    with pytest.raises(InputError, match="constraints must be a list of functions"):
        MetaSpace({"a": Integer(0, 1)}, constraints=constraints)
