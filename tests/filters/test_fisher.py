"""Fisher: both forms, perfect columns, small classes, streams."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import f_classif

import tamis
from reference import moments as plain
from reference.moments import table
from tamis import Fisher
from tamis.exceptions import InputError, SelectionWarning

PERFECT = 1e30


def everything(**options):
    return Fisher(n_features_to_select="all", **options)


def test_hand_worked():
    # Classes 0 2 and 4 8: means 1, 6 and 3.5 overall, sample variances 2 and 8:
    # (2.5^2 + 2.5^2) / 10 = 1.25. Weighted: 2 * 12.5 / (2 * 1 + 2 * 4) = 2.5.
    X, y = np.array([[0.0, 1], [2, 5], [4, 5], [8, 1]]), ["a", "a", "b", "b"]
    np.testing.assert_allclose(everything().fit(X, y).scores_, [1.25, 0.0], rtol=1e-15)
    np.testing.assert_allclose(everything(form="weighted").fit(X, y).scores_, [2.5, 0.0])


def test_hand_worked_three_classes_of_different_size():
    # 0 2 | 3 | 7: means 1 3 7, overall 12 / 4 = 3; variances 2 and none.
    X, y = np.array([[0.0], [2], [3], [7]]), [0, 0, 1, 2]
    assert everything().fit(X, y).scores_[0] == pytest.approx((4 + 0 + 16) / 2)
    assert everything(form="weighted").fit(X, y).scores_[0] == pytest.approx((8 + 0 + 16) / 2)


@pytest.mark.parametrize("form", ["plain", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_plain_formula(form, n_classes, missing, weighted):
    X, y = table(n_classes=n_classes, missing=missing)
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], len(y)) if weighted else None
    fitted = everything(form=form).fit(X, y, sample_weight=weight)
    expected = plain.per_column(plain.fisher, X, y, weight, form=form)
    expected[~np.isfinite(expected) | (expected > 1e25)] = PERFECT  # few rows, none vary
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-10, atol=1e-13)
    assert fitted.constant_[3]
    assert fitted.scores_[4] == fitted.scores_[5]


def test_weighted_form_orders_as_the_f_statistic():
    X, y = table(seed=3)
    F = f_classif(np.delete(X, 3, axis=1), y)[0]
    score = np.delete(everything(form="weighted").fit(X, y).scores_, 3)
    np.testing.assert_allclose(score, F * 2 / (len(y) - 3), rtol=1e-10)


@pytest.mark.parametrize("form", ["plain", "weighted"])
def test_perfect_columns_come_first_and_are_finite(form):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    nearly = y + 1e-9 * rng.normal(size=300)
    pairs = [(0, 1), (0.1, 0.3), (1e8 + 0.1, 1e8 + 0.3), (-1e-40, 1e-40), (1e9, -1e9), (1e-9, 5.0)]
    perfect = [np.where(y == 0, *pair) for pair in pairs]
    X = np.column_stack([rng.normal(size=300), nearly, *perfect])
    scores = everything(form=form).fit(X, y).scores_
    np.testing.assert_array_equal(scores[2:], PERFECT)
    assert 1e15 < scores[1] < PERFECT / 1e6


def test_noise_at_the_resolution_of_floats_is_not_perfect():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 200)
    noise = rng.normal(size=(200, 40))
    X = 1e8 + 5e-8 * noise  # a few steps of floats
    assert everything().fit(X, y).scores_.max() < 1.0


def test_a_column_seen_once_per_class_shows_nothing():
    X, y = table(seed=6)
    X[2:, 7], X[:2, 7] = np.nan, [0.0, 1.0]
    y[:2] = [0, 1]
    assert everything().fit(X, y).scores_[7] == 0
    assert not everything().fit(X, y).constant_[7]


@pytest.mark.parametrize("offset", [1e8, -1e6])
def test_large_offsets_do_not_cancel(offset):
    rng = np.random.default_rng(7)
    X, y = np.round(rng.normal(size=(500, 10)), 3) * 1024, rng.integers(0, 4, 500)
    plainly, shifted = (everything().fit(table, y).scores_ for table in (X, X + offset))
    np.testing.assert_allclose(shifted, plainly, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e20, 1e140])
def test_units_do_not_matter(scale):
    X, y = table(seed=8)
    np.testing.assert_allclose(
        everything().fit(X * scale, y).scores_, everything().fit(X, y).scores_, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("form", ["plain", "weighted"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], sparse.csr_array],
    ids=["fortran", "strided", "csr"],
)
def test_layout_does_not_matter(layout, missing, form):
    X, y = table(seed=9, missing=missing)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0.0
    weight = np.random.default_rng(5).random(len(y)) + 0.5
    whole = everything(form=form).fit(X, y, sample_weight=weight)
    other = everything(form=form).fit(layout(X), y, sample_weight=weight)
    np.testing.assert_allclose(other.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(other.constant_, whole.constant_)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_types_of_numbers(dtype):
    rng = np.random.default_rng(10)
    X, y = rng.integers(0, 100, size=(80, 6)).astype(dtype), rng.integers(0, 3, 80)
    expected = plain.per_column(plain.fisher, X, y)
    np.testing.assert_allclose(everything().fit(X, y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_blocks_equal_the_whole_and_classes_may_come_late(size, make, missing):
    X, y = table(seed=11, n_classes=4, missing=missing)
    order = np.argsort(y, kind="stable")[::-1]
    X, y = X[order], np.array(["m", "a", "z", "k"])[y[order]]
    weight = np.random.default_rng(8).choice([0.0, 0.5, 2.0], len(y))
    whole = everything().fit(X, y, sample_weight=weight)
    stream = everything()
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        if weight[rows].any():
            stream.partial_fit(make(X[rows]), y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(stream.classes_, whole.classes_)
    np.testing.assert_array_equal(stream.constant_, whole.constant_)


def test_a_stream_survives_pickling():
    X, y = table(seed=12)
    first = everything().partial_fit(X[:40], y[:40])
    resumed = pickle.loads(pickle.dumps(first)).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(resumed.scores_, first.partial_fit(X[40:], y[40:]).scores_)


def test_order_of_calls_is_checked():
    X, y = table()
    with pytest.warns(SelectionWarning, match="starts again"):
        again = everything().fit(X, y).partial_fit(X[:60], y[:60])
    fresh = everything().partial_fit(X[:60], y[:60])
    np.testing.assert_array_equal(again.scores_, fresh.scores_)
    with pytest.raises(InputError, match="PermutationNull"):
        Fisher(n_features_to_select=tamis.cutoff.PermutationNull()).partial_fit(X, y)


def test_a_refused_block_leaves_the_stream_as_it_was():
    X, y = table(seed=13)
    stream = everything().partial_fit(X[:40], y[:40])
    bad = X[40:].copy()
    bad[0, 2] = np.inf
    for block, target, message in [(bad, y[40:], "inf"), (X[40:], y[40:] + 0.5, "continuous")]:
        with pytest.raises(InputError, match=message):
            stream.partial_fit(block, target)
    stream.partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(stream.scores_, everything().fit(X, y).scores_, rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_a_bit(order, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X, y = table(seed=14, n_rows=3000, n_columns=90, missing=0.05)
    X = np.asarray(X, order=order)
    one, many = (everything(n_jobs=n).fit(X, y) for n in (1, 5))
    np.testing.assert_array_equal(one.scores_, many.scores_)


def test_ctrl_c_keeps_what_was_seen(monkeypatch):
    from tamis.statistics import ClassMoments

    X, y = table(seed=15)
    monkeypatch.setattr("tamis.passes.memory.BLOCK_BYTES", X[:40].nbytes)
    inner, calls = ClassMoments.update, []

    def update(self, block, n_jobs=1):
        calls.append(block)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return inner(self, block, n_jobs)

    monkeypatch.setattr(ClassMoments, "update", update)
    stopped = everything()
    with pytest.raises(KeyboardInterrupt), pytest.warns(SelectionWarning, match="stopped before"):
        stopped.fit(X, y)
    monkeypatch.undo()
    np.testing.assert_allclose(stopped.scores_, everything().fit(X[:40], y[:40]).scores_)


def test_messages():
    X, y = table()
    with pytest.raises(InputError, match=r"Fisher: form must be 'plain' or 'weighted', got 'odd'"):
        Fisher(form="odd").fit(X, y)
    with pytest.raises(InputError, match="class with at least two rows"):
        everything().fit(X[:2], [0, 1])
    with pytest.raises(InputError, match="mean is 1"):
        everything().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert everything(form="weighted").fit(X, y, sample_weight=np.full(len(y), 0.01)).scores_.any()
    with pytest.raises(InputError, match="at least two classes"):
        everything().fit(X, np.zeros(len(y), int))
    with pytest.raises(InputError, match="continuous"):
        everything().fit(X, y + 0.5)
    with pytest.raises(InputError, match="below 1e150, got 1e\\+200 in column 2"):
        everything().fit(np.where(np.arange(14) == 2, X * 0 + 1e200 * (X > 0), X), y)


@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
@pytest.mark.parametrize("name", ["colon", "mfeat"])
def test_real_data(name):
    X, y = tamis.datasets.load(name, return_X_y=True)
    fitted = everything().fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    some = np.random.default_rng(0).choice(X.shape[1], 60, replace=False)
    expected = plain.per_column(plain.fisher, np.asarray(X)[:, some], codes)
    np.testing.assert_allclose(fitted.scores_[some], expected, rtol=1e-10)
    varies = ~fitted.constant_
    F = f_classif(np.asarray(X, dtype=float)[:, varies], y)[0]
    n_classes = codes.max() + 1
    weighted = everything(form="weighted").fit(X, y).scores_[varies]
    ours = weighted * (len(y) - n_classes) / (n_classes - 1)
    np.testing.assert_allclose(ours, F, rtol=1e-10, atol=1e-10)  # theirs cancels near 0
