"""What DFT and RFT share: exact cuts, missing values, weights, layouts, blocks."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import tamis
from reference.split import balanced, entropy, mean_squared_error, split_test
from tamis.exceptions import InputError, SelectionWarning

CASES = [
    pytest.param(tamis.DFT, entropy, id="DFT"),
    pytest.param(tamis.RFT, mean_squared_error, id="RFT"),
]


def table(seed=0, n_rows=120, n_columns=25, *, missing=0.0, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([1e-3, 1.0, 1e4], n_columns)
    if whole:
        X = rng.integers(0, 99, size=(n_rows, n_columns)).astype(float)
    X[:, 3] = 7.0
    X[:, 5] = X[:, 4]
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
        X[:, 9] = np.nan
    y = (X[:, 0] > np.nanmedian(X[:, 0])).astype(int) + (rng.random(n_rows) < 0.3)
    return X, y


def check_against_twin(selector, X, y, impurity, **options):
    loss, thresholds, scores = split_test(X, y, impurity, **options)
    np.testing.assert_allclose(selector.loss_, loss, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(selector.scores_, scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(selector.thresholds_, thresholds, rtol=1e-15)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("n_bins", [2, 3, 10, 16, 64])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("whole", [False, True])
def test_equals_the_plain_algorithm(selector, impurity, n_bins, missing, whole):
    X, y = table(missing=missing, whole=whole)
    check_against_twin(selector(n_bins=n_bins).fit(X, y), X, y, impurity, n_bins=n_bins)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_weights_equal_the_plain_algorithm(selector, impurity, missing):
    X, y = table(seed=1, missing=missing)
    weight = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 2.5], len(y))
    check_against_twin(selector().fit(X, y, sample_weight=weight), X, y, impurity, weight=weight)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_values_on_a_cut_go_right(selector, impurity):
    # 49 * (16 / 98) is 7.999999999999999 in floats, so a bin found by multiplying would be wrong.
    X = np.arange(99.0)[:, None]
    y = (X[:, 0] >= 49).astype(int)
    fitted = selector().fit(X, y)
    assert fitted.thresholds_[0] == 49.0
    assert fitted.loss_[0] == pytest.approx(0.0, abs=1e-15)
    assert fitted.scores_[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize(
    ("low", "spacing"),
    [(1e8, np.spacing(1e8)), (-1e16, 2.0), (1.0, np.spacing(1.0)), (0.0, 1e-300)],
)
def test_ranges_of_a_few_floats(selector, impurity, low, spacing):
    X = (low + spacing * np.arange(6.0))[:, None].repeat(2, axis=1)
    y = np.array([0, 0, 0, 1, 1, 1])
    check_against_twin(selector(n_features_to_select="all").fit(X, y), X, y, impurity)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        sparse.csr_matrix,
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
    ],
    ids=["fortran", "strided", "csr_matrix", "csr", "csc", "coo"],
)
def test_layout_does_not_matter(selector, impurity, layout, missing, weighted):
    X, y = table(seed=3, missing=missing)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0.0
    X[:, 7] = np.abs(X[:, 7])
    weight = np.random.default_rng(5).random(len(y)) if weighted else None
    whole = selector().fit(X, y, sample_weight=weight)
    other = selector().fit(layout(X), y, sample_weight=weight)
    for name in ("scores_", "loss_", "thresholds_"):
        np.testing.assert_allclose(
            getattr(other, name), getattr(whole, name), rtol=1e-12, atol=1e-13
        )
    np.testing.assert_array_equal(other.constant_, whole.constant_)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_types_of_numbers(selector, impurity, dtype):
    rng = np.random.default_rng(6)
    X = rng.integers(0, 100, size=(80, 6)).astype(dtype)
    y = rng.integers(0, 3, 80)
    check_against_twin(selector().fit(X, y), X.astype(np.float64), y, impurity)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("size", [1, 7, 60, 1000])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_blocks_equal_the_whole(selector, impurity, size, make):
    X, y = table(seed=7, missing=0.1)
    weight = np.random.default_rng(8).choice([0.0, 0.5, 2.0], len(y))
    whole = selector().fit(X, y, sample_weight=weight)
    seen = X[weight > 0]
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning, match="All-NaN"):
        known = (np.nanmin(seen, axis=0), np.nanmax(seen, axis=0))
    known = tuple(np.nan_to_num(end) for end in known)
    given = selector(ranges=known, n_features_to_select="all")
    blocks = [slice(start, start + size) for start in range(0, len(y), size)]
    for rows in blocks:
        if weight[rows].any():
            given.partial_fit(make(X[rows]), y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(given.scores_, whole.scores_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(given.loss_, whole.loss_, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_without_ranges_the_first_block_places_the_cuts(selector, impurity):
    X, y = table(seed=9)
    blocks = selector(n_features_to_select="all").partial_fit(X[:40], y[:40])
    blocks.partial_fit(X[40:], y[40:])
    ends = X[:40].min(axis=0), X[:40].max(axis=0)
    known = selector(n_features_to_select="all", ranges=ends).fit(X, y)
    np.testing.assert_allclose(blocks.scores_, known.scores_, rtol=1e-12, atol=1e-13)
    # Which is another result than that of the whole table.
    assert not np.allclose(blocks.scores_, selector().fit(X, y).scores_)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("size", [1, 13, 500])
def test_ranges_learned_in_a_first_pass(selector, impurity, size):
    X, y = table(seed=9, missing=0.1)
    whole = selector(n_features_to_select=3).fit(X, y)
    stream = selector(n_features_to_select=3)
    blocks = [slice(start, start + size) for start in range(0, len(y), size)]
    for rows in blocks:
        stream.learn_ranges(X[rows])
    for rows in blocks:
        stream.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(stream.thresholds_, whole.thresholds_)
    np.testing.assert_array_equal(stream.support_, whole.support_)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_first_block_places_the_cuts_where_nothing_else_does(selector, impurity):
    X, y = table(seed=10)
    stream = selector(n_features_to_select="all").partial_fit(X[:50], y[:50])
    stream.partial_fit(X[50:], y[50:])
    known = (X[:50].min(axis=0), X[:50].max(axis=0))
    whole = selector(ranges=known, n_features_to_select="all").fit(X, y)
    np.testing.assert_allclose(stream.loss_, whole.loss_, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_a_stream_survives_pickling(selector, impurity):
    X, y = table(seed=11)
    first = selector(n_features_to_select=4).learn_ranges(X).partial_fit(X[:40], y[:40])
    resumed = pickle.loads(pickle.dumps(first)).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(resumed.scores_, first.partial_fit(X[40:], y[40:]).scores_)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_order_of_calls_is_checked(selector, impurity):
    X, y = table()
    with pytest.raises(InputError, match="learn_ranges before partial_fit"):
        selector(n_features_to_select="all").partial_fit(X, y).learn_ranges(X)
    with pytest.warns(SelectionWarning, match="starts again"):
        again = selector(n_features_to_select="all").fit(X, y).partial_fit(X[:60], y[:60])
    fresh = selector(n_features_to_select="all").partial_fit(X[:60], y[:60])
    np.testing.assert_array_equal(again.scores_, fresh.scores_)
    rule = tamis.cutoff.PermutationNull()
    with pytest.raises(InputError, match="PermutationNull"):
        selector(n_features_to_select=rule).partial_fit(X, y)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ((1.0, 0.0), "low <= high"),
        ((0.0, np.inf), "finite"),
        ((np.zeros(3), 1.0), "one value per column"),
        ("ab", "pair"),
        (5, "pair"),
    ],
)
def test_bad_ranges(selector, impurity, ranges, message):
    X, y = table()
    with pytest.raises(InputError, match=message):
        selector(ranges=ranges).fit(X, y)


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_missing_cells_equal_missing_rows(selector, impurity):
    X, y = table(seed=12, missing=0.3)
    fitted = selector().fit(X, y)
    seen = ~np.isnan(X[:, 0])
    alone = selector(n_features_to_select="all").fit(X[seen][:, [0]], y[seen])
    assert fitted.loss_[0] == pytest.approx(alone.loss_[0], rel=1e-12)
    assert fitted.scores_[0] == pytest.approx(alone.scores_[0], rel=1e-12)
    assert fitted.constant_[9]
    assert fitted.scores_[9] == 0
    assert fitted.loss_[9] == pytest.approx(impurity(y, np.ones(len(y))))
    assert np.isnan(fitted.thresholds_[9])


@pytest.mark.parametrize(("selector", "impurity"), CASES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_bit(selector, impurity, order, weighted, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X, y = table(seed=13, n_rows=3000, n_columns=90, missing=0.05)
    X = np.asarray(X, order=order)
    weight = np.random.default_rng(14).random(len(y)) if weighted else None
    one, many = (selector(n_jobs=n).fit(X, y, sample_weight=weight) for n in (1, 5))
    for name in ("scores_", "loss_", "thresholds_", "order_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize(("selector", "impurity"), CASES)
def test_loss_curve_agrees_with_fit(selector, impurity):
    X, y = table(seed=15, missing=0.1)
    fitted = selector().fit(X, y)
    for column in (0, 1, 24):
        curve = fitted.loss_curve(X, y, feature=column)
        assert curve.losses.min() == pytest.approx(fitted.loss_[column], rel=1e-12)
        assert curve.thresholds[curve.losses.argmin()] == fitted.thresholds_[column]
    assert fitted.loss_curve(X, y, feature="x1").feature == "x1"


def test_balanced_classes():
    X, y = table(seed=16, missing=0.1)
    y = np.where(np.arange(len(y)) < 100, np.minimum(y, 1), 2)
    check_against_twin(
        tamis.DFT(class_weight="balanced").fit(X, y),
        X,
        y,
        entropy,
        weight=balanced(y, np.ones(len(y))),
    )
    factors = {0: 1.0, 1: 3.0, 2: 0.5}
    weight = np.array([factors[label] for label in y])
    check_against_twin(tamis.DFT(class_weight=factors).fit(X, y), X, y, entropy, weight=weight)


@pytest.mark.parametrize("class_weight", [{"no": 1.0}, {0: -1.0}, {0: 0, 1: 0, 2: 0}, "even", 3])
def test_bad_class_weight(class_weight):
    X, y = table()
    with pytest.raises(InputError, match="class_weight must"):
        tamis.DFT(class_weight=class_weight).fit(X, y)


def test_classes_may_come_late():
    X, y = table(seed=17)
    y = np.array(["m", "a", "z"])[y]
    order = np.argsort(y, kind="stable")[::-1]
    X, y = X[order], y[order]
    known = (X.min(axis=0), X.max(axis=0))
    stream = tamis.DFT(ranges=known, n_features_to_select="all").partial_fit(X[:5], y[:5])
    for start in range(5, len(y), 5):
        stream.partial_fit(X[start : start + 5], y[start : start + 5])
    whole = tamis.DFT().fit(X, y)
    np.testing.assert_array_equal(stream.classes_, whole.classes_)
    np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-12, atol=1e-14)
    early = tamis.DFT(ranges=known, n_features_to_select="all").partial_fit(
        X[:5], y[:5], classes=["a", "m", "z"]
    )
    assert early.classes_.tolist() == ["a", "m", "z"]


def test_large_offset_of_the_target_costs_no_digits():
    X, y = table(seed=18)
    y = y + np.random.default_rng(19).normal(size=len(y))
    plain, shifted = tamis.RFT().fit(X, y), tamis.RFT().fit(X, y + 1e9)
    np.testing.assert_allclose(shifted.loss_, plain.loss_, rtol=1e-6)
    np.testing.assert_array_equal(shifted.order_, plain.order_)
    stream = clone(plain).set_params(n_features_to_select="all").learn_ranges(X)
    for start in range(0, len(y), 30):
        stream.partial_fit(X[start : start + 30], y[start : start + 30] + 1e9)
    np.testing.assert_allclose(stream.loss_, plain.loss_, rtol=1e-6)


def test_hand_worked_entropy():
    # Four rows, classes a a b b. Column 0 separates them; column 1 leaves one wrong on the right:
    # left {a}, right {a, b, b}: 3/4 * (1/3 log2 3 + 2/3 log2 3/2) = 0.6887 bits.
    X = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 3.0], [3.0, 4.0]])
    fitted = tamis.DFT(n_features_to_select=1).fit(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(fitted.loss_, [0.0, 0.6887218755408672], atol=1e-15)
    np.testing.assert_allclose(fitted.scores_, [1.0, 1 - 0.6887218755408672])
    np.testing.assert_allclose(fitted.thresholds_, [1.125, 0.25])
    np.testing.assert_array_equal(fitted.support_, [True, False])


def test_hand_worked_squared_error():
    # y = 0 0 6 6. Column 0 explains it; column 1 splits {0} from {0, 6, 6}: mean 4, error 24 / 4.
    X = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 3.0], [3.0, 4.0]])
    fitted = tamis.RFT(n_features_to_select=1).fit(X, [0.0, 0.0, 6.0, 6.0])
    np.testing.assert_allclose(fitted.loss_, [0.0, 6.0], atol=1e-14)
    np.testing.assert_allclose(fitted.scores_, [1.0, 1 - 6.0 / 9.0])
    np.testing.assert_allclose(fitted.thresholds_, [1.125, 0.25])
