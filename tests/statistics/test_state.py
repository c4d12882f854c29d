"""State of every statistic: stored and restored it goes on to the same bits; others are refused."""

import copy

import numpy as np
import pytest
from scipy import sparse

import tamis.statistics
from tamis._runtime import checkpoint
from tamis.statistics import (
    Bins,
    Block,
    ClassHistogram,
    ClassMoments,
    CoMoments,
    CrossProducts,
    Cuts,
    FewValues,
    Moments,
    PairCounts,
    Ranges,
    Stateful,
    TargetSums,
    TokenCounts,
    ValueCounts,
    WithRanges,
)

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(40, 3)).astype(np.float64)
X[3, 1] = np.nan
CODES = np.arange(40, dtype=np.int32) % 2
BINS = Bins.between(np.zeros(3), np.full(3, 4.0), 4)
CUTS = Cuts.of([[0.5, 2.5], [1.5], [0.5, 1.5, 3.5]])
MOMENTS = ClassMoments(3, 2).update(Block.of(X, CODES)).finish()
MAKE = {
    ClassHistogram: lambda: ClassHistogram(BINS, 2, lanes=2),
    ClassMoments: lambda: ClassMoments(3, 2),
    CoMoments: lambda: CoMoments(3),
    CrossProducts: lambda: CrossProducts(np.array([1]), np.zeros(3), np.ones(3)),
    FewValues: lambda: FewValues(3, 4),
    Moments: lambda: Moments(3),
    PairCounts: lambda: PairCounts(CUTS, np.array([0, 2]), 2),
    Ranges: lambda: Ranges(3),
    TargetSums: lambda: TargetSums(BINS, centre=0.5),
    TokenCounts: lambda: TokenCounts(MOMENTS, 4),
    ValueCounts: lambda: ValueCounts(3),
    WithRanges: lambda: WithRanges(Ranges(3), ClassMoments(3, 2)),
}
every_statistic = pytest.mark.parametrize("kind", MAKE)


def test_every_statistic_is_here():
    found = [getattr(tamis.statistics, name) for name in tamis.statistics.__all__]
    with_state = {one for one in found if isinstance(one, type) and issubclass(one, Stateful)}
    assert with_state - {Stateful} == set(MAKE)
    assert not [one for one in found if hasattr(one, "update") and one not in with_state]


def updated(statistic, rows, is_sparse):
    target = CODES - 0.5 if isinstance(statistic, TargetSums | CoMoments) else CODES
    cells = sparse.csr_matrix(X[rows]) if is_sparse else X[rows]
    return statistic.update(Block.of(cells, target[rows]))


def plain(value):
    """Attributes as what numpy compares to the bit."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value.tobytes() if isinstance(value, np.ndarray) else value


@every_statistic
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_restored_statistic_goes_on_to_the_same_bits(kind, is_sparse, tmp_path):
    halves = (slice(0, 20), slice(20, 40))
    whole = MAKE[kind]()
    for rows in halves:
        updated(whole, rows, is_sparse)
    first = updated(MAKE[kind](), halves[0], is_sparse)
    checkpoint.save(tmp_path / "state", "a test", "me", first.state())
    stored = checkpoint.load(tmp_path / "state", "a test", "test").content
    second = updated(MAKE[kind]().restore(stored), halves[1], is_sparse)
    assert plain(second.state()) == plain(whole.state())
    np.testing.assert_equal(second.finish(), whole.finish())


@every_statistic
def test_an_empty_one_is_restored_too(kind):
    np.testing.assert_equal(
        MAKE[kind]().restore(MAKE[kind]().state()).finish(), MAKE[kind]().finish()
    )


@every_statistic
def test_other_states_are_refused(kind):
    state = updated(MAKE[kind](), slice(0, 40), False).state()
    for name, value in state.items():
        others = [1 if value is None else "x", [1], {}]
        if getattr(MAKE[kind](), name, 0) is not None:  # else None stands for no rows
            others.append(None if value is not None else 1)
        if isinstance(value, np.ndarray):
            others += [value[:0], value[None], value.astype(np.float32), value.tolist()]
        # A statistic inside another one speaks for itself.
        who = type(getattr(MAKE[kind](), name)) if isinstance(value, dict) else kind
        for other in others:
            with pytest.raises(ValueError, match=rf"\b{who.__name__}\b"):
                MAKE[kind]().restore({**copy.deepcopy(state), name: other})
        without = {key: one for key, one in state.items() if key != name}
        with pytest.raises(ValueError, match="other attributes"):
            MAKE[kind]().restore(without)
    for other in ({**state, "update": print}, [], None):
        with pytest.raises(ValueError, match="other attributes"):
            MAKE[kind]().restore(other)


def test_counts_that_a_kernel_would_write_beyond_are_refused():
    for count in (-1, 6, 2**62):
        state = FewValues(3, 4).state()
        state["count"][1] = count
        with pytest.raises(ValueError, match="count out of range"):
            FewValues(3, 4).restore(state)
