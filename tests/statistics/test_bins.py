"""Bins: the cuts that are reported are the cuts that are counted by, to the last bit."""

import numpy as np
import pytest
from scipy import sparse

from reference.statistics import bin_of
from tamis.statistics import Bins, Block, ClassHistogram

N_BINS = [2, 3, 10, 16, 64]
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "sparse": sparse.csr_array,
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def slots(X, bins, layout):
    """Slot that the kernels give to every cell: a class per row tells the rows apart."""
    codes = np.arange(len(X), dtype=np.int32)
    block = Block.of(LAYOUTS[layout](X), codes)
    table = ClassHistogram(bins, len(X)).update(block).finish().table
    np.testing.assert_array_equal(table.sum(axis=2), np.ones(X.shape))
    return table.argmax(axis=2)


def slots_of(values, low, high, n_bins, layout="rows"):
    return slots(np.asarray(values)[:, None], Bins.between([low], [high], n_bins), layout)[:, 0]


def linspace_cuts(low, high, n_bins):
    return np.linspace(low, high, n_bins + 1)[1:-1]


def around(values):
    """Every value with its neighbours on both sides."""
    values = np.asarray(values, dtype=np.float64)
    return np.concatenate([np.nextafter(values, -np.inf), values, np.nextafter(values, np.inf)])


def assert_exact(values, low, high, n_bins, layout="rows"):
    cuts = linspace_cuts(low, high, n_bins)
    np.testing.assert_array_equal(Bins.between([low], [high], n_bins).cuts()[0], cuts)
    expected = [bin_of(x, cuts) for x in values]
    np.testing.assert_array_equal(slots_of(values, low, high, n_bins, layout), expected)


@every_layout
def test_by_hand(layout):
    values = [0.0, 1.9, 2.0, 3.9, 4.0, 5.0, 6.0, 8.0, np.nan]
    got = slots_of(values, 0.0, 8.0, 4, layout)
    np.testing.assert_array_equal(got, [0, 0, 1, 1, 2, 2, 3, 3, 4])


@pytest.mark.parametrize("n_bins", N_BINS)
def test_cuts_are_those_of_linspace(n_bins):
    rng = np.random.default_rng(n_bins)
    scale = 10.0 ** rng.uniform(-12, 12, 400)
    low = rng.normal(size=400) * scale
    high = low + rng.uniform(0.01, 2.0, 400) * scale * rng.choice([1e-6, 1.0, 1e6], 400)
    np.testing.assert_array_equal(
        Bins.between(low, high, n_bins).cuts(), linspace_cuts(low, high, n_bins).T
    )


@every_layout
@pytest.mark.parametrize("n_bins", N_BINS)
def test_random_ranges(n_bins, layout):
    rng = np.random.default_rng(100 + n_bins)
    n = 60
    scale = 10.0 ** rng.uniform(-9, 9, n)
    low = (rng.normal(size=n) + rng.choice([0.0, 1e3, -1e6, 1e9], n)) * scale
    high = low + rng.uniform(0.1, 2.0, n) * scale
    cuts = linspace_cuts(low, high, n_bins)
    within = low + rng.random((40, n)) * (high - low)
    X = np.concatenate([within, low[None], high[None], cuts, *np.split(around(cuts), 3)[::2]])
    got = slots(X, Bins.between(low, high, n_bins), layout)
    np.testing.assert_array_equal(got, (cuts[None] <= X[:, None]).sum(axis=1))


@every_layout
@pytest.mark.parametrize("n_bins", N_BINS)
def test_whole_numbers_on_cuts(n_bins, layout):
    # 0 ... 98 in 16 bins: (49 - 0) * (16 / 98) is 7.999999999999999, but 49 is the cut itself.
    assert_exact(np.arange(99.0), 0.0, 98.0, n_bins, layout)
    assert_exact(np.arange(-50.0, 49.0), -50.0, 48.0, n_bins, layout)


def test_every_small_range_of_whole_numbers():
    for high in range(1, 130):
        for n_bins in (3, 10, 16):
            assert_exact(np.arange(high + 1.0), 0.0, float(high), n_bins)


@every_layout
@pytest.mark.parametrize("n_bins", N_BINS)
def test_grids_of_tenths(n_bins, layout):
    for grid in (np.arange(101) / 10, np.arange(101) * 0.1, np.cumsum(np.full(50, 0.1))):
        assert_exact(around(grid), grid[0], grid[-1], n_bins, layout)


@every_layout
@pytest.mark.parametrize("n_bins", N_BINS)
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1e8, 1e8 + 6e-8),
        (-1e8 - 6e-8, -1e8),
        (1e16, 1e16 + 4),
        (1.0, 1.0 + 2**-52),
        (1.0, 1.0 + 9 * 2**-52),
        (1.0, 1.0 + 1000 * 2**-52),
        (1.0 - 8 * 2**-53, 1.0 + 8 * 2**-52),
        (1e300, 1e300 * (1 + 5e-15)),
    ],
)
def test_ranges_of_a_few_floats(low, high, n_bins, layout):
    values = [low]
    while values[-1] < high and len(values) < 1200:
        values.append(np.nextafter(values[-1], np.inf))
    assert values[-1] == high
    assert_exact(values, low, high, n_bins, layout)


@every_layout
@pytest.mark.parametrize("n_bins", N_BINS)
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1e300, 1e300),
        (1e300, 1.7e308),
        (-8e307, 8e307),
        (1e-300, 2e-300),
        (-1e-300, 1e-303),
        (0.0, 1e-305),
        (-7.5, -7.25),
        (-1e-3, 1e9),
    ],
)
def test_huge_tiny_and_negative_ranges(low, high, n_bins, layout):
    rng = np.random.default_rng(0)
    cuts = linspace_cuts(low, high, n_bins)
    within = low + rng.random(50) * (high - low)
    assert_exact(np.concatenate([within, [low, high], around(cuts)]), low, high, n_bins, layout)


@every_layout
def test_extents_below_the_smallest_normal_number(layout):
    # Nothing can be cut there, but every value still has the bin that the cuts say.
    tiny = np.finfo(np.float64).smallest_subnormal
    for low, high in [(0.0, 50 * tiny), (-3 * tiny, 3 * tiny), (0.0, 3e-308)]:
        bins = Bins.between([low], [high], 16)
        values = np.array([low, 0.0, tiny, high, 0.5, 1.0, 1.5])
        expected = [bin_of(x, bins.cuts()[0]) for x in values]
        np.testing.assert_array_equal(slots(values[:, None], bins, layout)[:, 0], expected)


@every_layout
@pytest.mark.parametrize("low", [-3.0, 0.0, 2.0, 1e16])
def test_values_outside_the_range_go_to_the_end_bins(low, layout):
    far = [1e-9, 1.0, 1e9, 1e300, np.finfo(np.float64).max, np.inf]
    below = [x for x in np.subtract(low, far) if x < low]
    above = [x for x in np.add(low + 8.0, far) if x > low + 8.0]
    got = slots_of([*below, low, low + 8.0, *above], low, low + 8.0, 4, layout)
    expected = [0] * (len(below) + 1) + [3] * (len(above) + 1)
    np.testing.assert_array_equal(got, expected)


@every_layout
def test_a_column_without_extent_gets_bins_of_width_one(layout):
    bins = Bins.between([5.0, np.nan], [5.0, np.nan], 3)
    np.testing.assert_array_equal(bins.cuts(), [[6, 7], [1, 2]])
    X = np.array([[4.0, -1.0], [5.0, 0.0], [6.0, 1.0], [7.5, 2.5]])
    np.testing.assert_array_equal(slots(X, bins, layout), [[0, 0], [0, 0], [1, 1], [2, 2]])


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("n_bins", N_BINS)
def test_float32_values_on_cuts(n_bins, layout):
    values = (np.arange(99) / 10).astype(np.float32)
    low, high = float(values[0]), float(values[-1])
    cuts = linspace_cuts(low, high, n_bins)
    got = slots_of(values, low, high, n_bins, layout)
    np.testing.assert_array_equal(got, [bin_of(float(x), cuts) for x in values])


def test_more_rows_than_a_tile():
    values = np.random.default_rng(0).integers(0, 33, 2500).astype(float)
    expected = [bin_of(x, linspace_cuts(0.0, 32.0, 16)) for x in values]
    for layout, form in LAYOUTS.items():
        block = Block.of(form(values[:, None]), np.zeros(2500, np.int32))
        got = ClassHistogram(Bins.between([0.0], [32.0], 16), 1).update(block).finish().counts[0, 0]
        np.testing.assert_array_equal(got, np.bincount(expected, minlength=16), err_msg=layout)


def test_zero_has_its_bin_in_every_column():
    bins = Bins.between([0.0, -1.0, -4.0, 1.0, -5.0], [4.0, 1.0, 0.0, 2.0, -4.0], 4)
    np.testing.assert_array_equal(bins.zero_slots(), [0, 2, 3, 0, 3])


def test_the_arguments_are_not_changed():
    low, high = np.array([0.0, np.nan]), np.array([1.0, np.nan])
    Bins.between(low, high, 4)
    np.testing.assert_array_equal(low, [0.0, np.nan])
    np.testing.assert_array_equal(high, [1.0, np.nan])
