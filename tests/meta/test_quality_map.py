"""The map predicts quality from properties, judges itself, and improves noisy measurements."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import tamis
from reference.quality_map import nearest_mean, scale
from tamis.exceptions import InputError
from tamis.meta import QualityMap


def draw(seed, n=120, n_meta=3, noise=0.3):
    random = np.random.default_rng(seed)
    meta = random.normal(size=(n, n_meta))
    true = np.sin(2 * meta[:, 0]) + (meta[:, 1] > 0)
    return meta, true, true + noise * random.normal(size=n)


@pytest.mark.parametrize("n_neighbors", [1, 3, 10, 500])
@pytest.mark.parametrize("seed", [0, 1])
def test_default_map_is_the_literal_weighted_mean(seed, n_neighbors):
    meta, _, quality = draw(seed, n=40)
    meta[:, 2] = np.round(meta[:, 2])  # ties
    meta[5] = meta[6]
    quality_map = QualityMap(n_neighbors=n_neighbors).fit(meta, quality)
    queries = np.vstack([meta[:10], draw(seed + 9, n=10)[0]])
    scaled = scale(np.vstack([meta]))
    factor = meta.std(axis=0)
    np.testing.assert_allclose(scaled, meta / factor)
    expected = [nearest_mean(scaled, quality, query / factor, n_neighbors) for query in queries]
    np.testing.assert_allclose(quality_map.predict(queries), expected, rtol=1e-10)


def test_weights_by_hand():
    # Neighbours at squared distances 0 and 4 of deviation 1: mean 2, weights 1 and exp(-2).
    quality_map = QualityMap(n_neighbors=2).fit([[0.0], [2.0]], [3.0, 7.0])
    weight = np.exp(-2)
    np.testing.assert_allclose(
        quality_map.predict([[0.0], [1.0]]), [(3 + 7 * weight) / (1 + weight), 5.0]
    )


def test_equal_features_take_their_mean():
    meta = np.array([[0.0, 5.0]] * 4 + [[1.0, 5.0]] * 3)
    quality = np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0])
    # More equal features than neighbours: all of them count, whatever their order.
    for order in (np.arange(7), np.arange(7)[::-1]):
        quality_map = QualityMap(n_neighbors=2).fit(meta[order], quality[order])
        np.testing.assert_allclose(quality_map.predict([[0.0, 5.0], [1.0, 5.0]]), [2.5, 20.0])


def test_order_of_features_and_units_of_properties_do_not_matter():
    meta, _, quality = draw(3)
    queries = draw(4)[0]
    expected = QualityMap().fit(meta, quality).predict(queries)
    order = np.random.default_rng(0).permutation(len(meta))
    found = QualityMap().fit(meta[order], quality[order]).predict(queries)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    units = np.array([1000.0, 0.01, 3.0])
    found = QualityMap().fit(meta * units + 7, quality).predict(queries * units + 7)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_properties_that_do_not_vary_are_ignored():
    meta, _, quality = draw(5)
    wider = np.column_stack([np.full(len(meta), 0.1), meta])
    plain, wide = QualityMap().fit(meta, quality), QualityMap().fit(wider, quality)
    queries = np.column_stack([np.full(5, 99.0), meta[:5]])
    np.testing.assert_allclose(wide.predict(queries), plain.predict(meta[:5]))
    only = QualityMap(random_state=0).fit(np.ones((6, 2)), np.arange(6.0))
    np.testing.assert_allclose(only.predict([[1.0, 1.0], [5.0, 2.0]]), 2.5)
    np.testing.assert_array_equal(only.contribution_.shape, (2,))


def test_correlation_is_out_of_fold():
    meta, _, quality = draw(6)
    quality_map = QualityMap(cv=4, random_state=0).fit(meta, quality)
    assert quality_map.correlation_ > 0.7
    np.testing.assert_allclose(
        quality_map.correlation_, np.corrcoef(quality, quality_map.predicted_)[0, 1]
    )
    np.testing.assert_allclose(
        quality_map.spearman_, spearmanr(quality, quality_map.predicted_).statistic
    )
    # On noise a map that had seen the features would correlate.
    found = [
        QualityMap(n_neighbors=1, random_state=s).fit(draw(s)[0], draw(s + 50)[2]).correlation_
        for s in range(30)
    ]
    assert abs(np.mean(found)) < 0.06
    # Leaving one out by hand.
    leave = QualityMap(cv=1000, n_neighbors=5).fit(meta[:20], quality[:20])
    rest = np.arange(1, 20)
    scaled = meta[:20] / meta[:20].std(axis=0)
    np.testing.assert_allclose(
        leave.predicted_[0], nearest_mean(scaled[rest], quality[rest], scaled[0], 5)
    )


def test_contribution_tells_which_properties_matter():
    meta, _, quality = draw(7, n=300)
    quality_map = QualityMap(random_state=0).fit(meta, quality)
    assert quality_map.contribution_[0] > 0.3
    assert quality_map.contribution_[1] > 0.03
    assert quality_map.contribution_[2] < 0  # noise among the distances only harms
    left = QualityMap(random_state=0).fit(meta[:, [0, 2]], quality)
    np.testing.assert_allclose(
        quality_map.contribution_[1], quality_map.correlation_ - left.correlation_
    )
    single = QualityMap(random_state=0).fit(meta[:, :1], quality)
    assert single.contribution_.shape == (1,)
    assert single.contribution_[0] > 0.3


def test_contribution_is_per_property_not_per_encoded_column():
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c"], size=200)
    other = random.normal(size=200)
    other[::9] = np.nan
    frame = pd.DataFrame({"kind": kind, "other": other})
    quality = (kind == "b") + 0.1 * random.normal(size=200)
    quality_map = QualityMap(random_state=0).fit(frame, quality)
    assert quality_map.contribution_.shape == (2,)
    assert quality_map.contribution_[0] > 0.5 > abs(quality_map.contribution_[1])
    assert quality_map.feature_names_in_.tolist() == ["kind", "other"]
    assert quality_map.n_features_in_ == 2


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_of_numbers_and_labels(make):
    frame = make({"size": [4, 8, 4, 8], "kind": ["x", "y", "y", "x"], "flag": [True, False] * 2})
    quality_map = QualityMap(n_neighbors=1).fit(frame, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(quality_map.predict(frame), [1.0, 2.0, 3.0, 4.0])
    unknown = make({"size": [4], "kind": ["new"], "flag": [True]})
    assert np.isfinite(quality_map.predict(unknown)).all()
    # A property that is a label counts like a number: both squared distances are 4 and 1/0.5.
    points = quality_map._points
    owners = quality_map._owners
    for j in range(3):
        total = points[:, owners == j].var(axis=0).sum()
        np.testing.assert_allclose(total, 1.0)


def test_object_arrays_categories_and_gaps():
    table = np.array([["x", 1], ["y", 2.5], [None, 3], ["x", None]], dtype=object)
    quality_map = QualityMap(n_neighbors=1).fit(table, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(quality_map.predict(table), [1.0, 2.0, 3.0, 4.0])
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["u", "v", None, "u"]),
            "b": pd.array([1, None, 3, 4], dtype="Int64"),
            "c": [np.nan] * 4,
        }
    )
    quality_map = QualityMap(n_neighbors=1).fit(frame, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(quality_map.predict(frame), [1.0, 2.0, 3.0, 4.0])


def test_missing_numbers_are_at_the_median_and_marked():
    meta = np.array([[1.0], [2.0], [9.0], [np.nan]])
    quality_map = QualityMap(n_neighbors=4).fit(meta, np.arange(4.0))
    spread = np.array([1.0, 2.0, 9.0, 2.0]).std()
    np.testing.assert_allclose(
        quality_map._points,
        np.column_stack([(np.array([1.0, 2.0, 9.0, 2.0]) - 2.0) / spread, [0, 0, 0, 1]]),
    )
    # Missing only later: at the median.
    whole = QualityMap().fit(meta[:3], np.arange(3.0))
    np.testing.assert_allclose(whole.predict([[np.nan]]), whole.predict([[2.0]]))


def test_any_regressor_is_cloned_and_gets_the_encoded_properties():
    meta, _, _ = draw(8)
    quality = meta @ [1.0, -2.0, 0.5]
    regressor = LinearRegression()
    quality_map = QualityMap(regressor=regressor, random_state=0).fit(meta, quality)
    np.testing.assert_allclose(quality_map.predict(meta), quality)
    assert quality_map.correlation_ > 0.999999
    assert not hasattr(regressor, "coef_")
    forest = QualityMap(regressor=RandomForestRegressor(n_estimators=10, random_state=0))
    assert forest.set_params(random_state=0).fit(meta, quality).correlation_ > 0.8
    assert clone(forest).get_params()["regressor__n_estimators"] == 10


def test_quality_of_a_fitted_selector():
    table, y = _table()
    selector = tamis.DFT().fit(table, y)
    meta = np.arange(table.shape[1], dtype=float).reshape(-1, 1)
    found = QualityMap(random_state=0).fit(meta, selector)
    np.testing.assert_array_equal(found.quality_, selector.scores_)
    with pytest.raises(InputError, match="got an unfitted DFT"):
        QualityMap().fit(meta, tamis.DFT())


def _table():
    random = np.random.default_rng(0)
    return random.normal(size=(60, 20)), np.repeat([0, 1], 30)


def test_constant_quality_has_no_correlation():
    meta, _, _ = draw(9)
    quality_map = QualityMap().fit(meta, np.full(len(meta), 0.1))
    assert quality_map.correlation_ == quality_map.spearman_ == 0.0
    np.testing.assert_array_equal(quality_map.predict(meta), 0.1)
    np.testing.assert_array_equal(quality_map.contribution_, 0.0)
    np.testing.assert_array_equal(quality_map.smooth(meta, np.full(len(meta), 0.1)), 0.1)


def test_same_seed_same_folds_and_input_untouched():
    meta, _, quality = draw(10)
    before = meta.copy(), quality.copy()
    first = QualityMap(random_state=1).fit(meta, quality)
    again = QualityMap(random_state=1).fit(meta, quality)
    np.testing.assert_array_equal(first.predicted_, again.predicted_)
    np.testing.assert_array_equal(first.contribution_, again.contribution_)
    np.testing.assert_array_equal(meta, before[0])
    np.testing.assert_array_equal(quality, before[1])


def errors(noise, seeds, useful=True, told=None):
    """Mean squared errors of raw and smoothed quality."""
    raw, smooth = [], []
    for seed in seeds:
        meta, true, quality = draw(seed, n=200, noise=noise)
        if not useful:
            meta = np.random.default_rng(seed + 1000).normal(size=meta.shape)
        raw.append(np.mean((quality - true) ** 2))
        found = QualityMap(random_state=0).smooth(meta, quality, noise=told)
        smooth.append(np.mean((found - true) ** 2))
    return np.mean(raw), np.mean(smooth)


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_smoothing_lowers_the_error(noise):
    raw, blind = errors(noise, range(20))
    _, told = errors(noise, range(20), told=noise)
    assert blind < 0.8 * raw
    assert told < 0.6 * raw


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.5])
def test_smoothing_with_useless_properties_does_no_harm(noise):
    raw, blind = errors(noise, range(20), useful=False)
    assert blind < 1.02 * raw
    _, told = errors(noise, range(20), useful=False, told=noise)
    assert told < 1.02 * raw
    _, exact = errors(0.0, range(5), useful=False, told=0.0)
    assert exact == 0.0  # without noise nothing is to be gained


def test_smoothing_spares_measurements_with_little_noise():
    raw, blind = errors(0.1, range(20))
    # The map itself is far less exact than the measurements.
    meta, true, quality = draw(0, n=200, noise=0.1)
    map_error = np.mean((QualityMap(random_state=0).fit(meta, quality).predicted_ - true) ** 2)
    assert map_error > 5 * raw
    assert blind < 1.6 * raw


def test_weight_without_known_noise_by_hand():
    # Neighbours on a line 0, 1, 3, 7 (deviation s): half squared differences against distances.
    meta = np.array([[0.0], [1.0], [3.0], [7.0], [20.0]])
    quality = np.array([1.0, 2.0, 2.5, 4.0, 7.0])
    quality_map = QualityMap(random_state=0, n_neighbors=1, cv=5)
    quality_map.smooth(meta, quality)
    halves, distances = np.zeros(4), np.zeros(4)
    for i in range(5):
        others = sorted(
            (j for j in range(5) if j != i), key=lambda j: (abs(meta[i, 0] - meta[j, 0]), j)
        )
        for place, j in enumerate(others):
            halves[place] += 0.5 * (quality[i] - quality[j]) ** 2 / 5
            distances[place] += (meta[i, 0] - meta[j, 0]) ** 2 / 5
    start = np.clip(np.polyfit(distances, halves, 1)[1], 0, halves[0])
    assert start > 0
    error = np.mean((quality - quality_map.predicted_) ** 2)
    weight = quality_map.correlation_**2 * min(1, start / error)
    np.testing.assert_allclose(quality_map.map_weight_, weight)
    assert 0 < weight < 1


def test_smoothing_is_the_best_mean_of_two_estimates():
    meta, _, quality = draw(11)
    quality_map = QualityMap(random_state=0)
    spread = np.linspace(0.1, 0.6, len(quality))
    found = quality_map.smooth(meta, quality, noise=spread)
    left = np.mean((quality - quality_map.predicted_) ** 2) - np.mean(spread**2)
    weight = spread**2 / (spread**2 + left)
    np.testing.assert_allclose(quality_map.map_weight_, weight)
    np.testing.assert_allclose(found, weight * quality_map.predicted_ + (1 - weight) * quality)
    found = quality_map.smooth(meta, quality, noise=100.0)  # more noise than there is spread
    np.testing.assert_allclose(found, quality_map.predicted_)


def test_repeats_tell_the_noise():
    random = np.random.default_rng(0)
    meta, true, _ = draw(12, n=400)
    repeats = true[:, None] + random.normal(size=(400, 3))
    quality_map = QualityMap(random_state=0)
    found = quality_map.smooth(meta, repeats)
    mean = repeats.mean(axis=1)
    noise = np.sqrt(repeats.var(axis=1, ddof=1).mean() / 3)
    np.testing.assert_allclose(noise, 1 / np.sqrt(3), rtol=0.05)
    np.testing.assert_allclose(found, quality_map.smooth(meta, mean, noise=noise))
    assert np.mean((found - true) ** 2) < 0.6 * np.mean((mean - true) ** 2)


def test_wrong_input_is_refused():
    meta, _, quality = draw(13, n=12)
    names = pd.DataFrame(meta, columns=["a", "b", "c"])
    quality_map = QualityMap().fit(names, quality)
    with pytest.raises(InputError, match="expected 3 meta-features, as in fit, got 2"):
        quality_map.predict(meta[:, :2])
    with pytest.raises(InputError, match="got 'b' in place of 'a'"):
        quality_map.predict(names[["b", "a", "c"]])
    with pytest.raises(InputError, match=r"expected numbers in meta-feature 'a'.*got 'big'"):
        quality_map.predict(names.assign(a="big"))
    np.testing.assert_array_equal(quality_map.predict(meta), quality_map.predict(names))
    for bad, match in (
        (quality[:-1], r"12, one per row of meta.*shape \(11,\)"),
        (quality[:, None], "1d quality"),
        (np.where(np.arange(12) == 3, np.nan, quality), "got nan in row 3"),
        (["high"] * 12, "expected numbers as quality"),
    ):
        with pytest.raises(InputError, match=match):
            QualityMap().fit(meta, bad)
    with pytest.raises(InputError, match="at least 2"):
        QualityMap().fit(meta[:1], quality[:1])
    with pytest.raises(InputError, match=r"got shape \(12,\). Use meta.reshape"):
        QualityMap().fit(meta[:, 0], quality)
    with pytest.raises(InputError, match="inf or more than that in meta-feature 1"):
        QualityMap().fit(np.where(meta == meta[3, 1], np.inf, meta), quality)
    with pytest.raises(InputError, match="without columns"):
        QualityMap().fit(meta[:, :0], quality)
    dates = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=12)})
    with pytest.raises(InputError, match=r"in meta-feature 'when'. Turn it into a number"):
        QualityMap().fit(dates, quality)
    with pytest.raises(InputError, match="expected numbers or labels, got dtype complex"):
        QualityMap().fit(meta * 1j, quality)
    for options in ({"n_neighbors": 0}, {"cv": 1}, {"regressor": "forest"}):
        with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
            QualityMap(**options).fit(meta, quality)
    for noise in (-1.0, np.ones(3), np.nan):
        with pytest.raises(InputError, match="expected noise"):
            QualityMap().smooth(meta, quality, noise=noise)
    with pytest.raises(NotFittedError):
        QualityMap().predict(meta)
    assert not hasattr(QualityMap(), "contribution_")
