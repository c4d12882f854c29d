"""Bins of equal shares of the rows: DFT, RFT, MutualInformation and InformationGain."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tamis
from reference.codes import quantile
from reference.information import information_of
from reference.split import entropy, mean_squared_error, split_test
from tamis.exceptions import InputError, SelectionWarning
from tamis.statistics import Block, ClassHistogram
from tamis.statistics.quantile_bins import QuantileBins

SELECTORS = [tamis.DFT, tamis.RFT, tamis.MutualInformation, tamis.InformationGain]
N_ROWS = 90


def table(seed=0, missing=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 9)) ** 3
    X[:, 1] = rng.integers(0, 3, N_ROWS)  # fewer values than bins
    X[:, 2] = rng.integers(-20, 20, N_ROWS) * (rng.random(N_ROWS) < 0.3)  # mostly zero
    X[:, 3] = 4.0
    X[7, 4] = 99999.0
    X[:, 5] = np.round(X[:, 5], 1)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 6] = np.nan
    X[:, 7] = np.abs(X[:, 7]) + 2  # never zero
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (rng.random(N_ROWS) < 0.2)
    return X, y, rng.choice([0.0, 0.25, 1.0, 2.5], N_ROWS)


def fitted(selector, X, y, weight=None, **options):
    options = {"bins": "quantile", "n_features_to_select": "all", **options}
    return selector(**options).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_bins", [2, 5, 16])
@pytest.mark.parametrize(
    ("selector", "impurity"), [(tamis.DFT, entropy), (tamis.RFT, mean_squared_error)]
)
def test_cuts_equal_the_plain_algorithm(selector, impurity, n_bins, weighted):
    X, y, weight = table()
    weight = weight if weighted else None
    found = fitted(selector, X, y, weight, n_bins=n_bins)
    options = {"n_bins": n_bins, "bins": "quantile", "weight": weight}
    loss, thresholds, scores = split_test(X, y, impurity, **options)
    np.testing.assert_allclose(found.loss_, loss, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.scores_, scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.thresholds_, thresholds)  # values of the column


@pytest.mark.parametrize("weighted", [False, True])
def test_information_equals_the_plain_counts(weighted):
    X, y, weight = table(1)
    weight = weight if weighted else np.ones(N_ROWS)
    expected = np.zeros(X.shape[1])
    for j, x in enumerate(X.T):
        seen = ~np.isnan(x) & (weight > 0)
        if seen.any():
            counts = np.zeros((6, 3))
            np.add.at(counts, (quantile(x[seen], 6, weight[seen]), y[seen]), weight[seen])
            expected[j] = information_of(counts)
    found = fitted(tamis.MutualInformation, X, y, weight, n_bins=6)
    np.testing.assert_allclose(found.scores_, expected, atol=1e-12)
    found = fitted(tamis.InformationGain, X, y, weight, n_bins=6)
    np.testing.assert_allclose(found.gain_, expected / np.log(2), atol=1e-12)


def test_bins_of_ten_values_by_hand():
    X = np.arange(10.0)[:, None] ** 2
    np.testing.assert_array_equal(QuantileBins.of(X, n_bins=5).cuts(), [[4, 16, 36, 64]])
    # Seven of ten rows are equal: the quantiles at 1/5 to 3/5 are one value, and their bins merge.
    X[:7] = 0.0
    assert QuantileBins.of(X, n_bins=2).cuts().tolist() == [[49.0]]
    X = np.array([[1.0], [1.0], [2.0], [np.nan]])
    assert QuantileBins.of(X, n_bins=4).cuts().tolist() == [[2.0, 2.0, 2.0]]


@pytest.mark.parametrize("selector", SELECTORS)
def test_one_outlier_does_not_hide_the_only_informative_column(selector):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 23))
    y = (X[:, 7] > 0).astype(int)
    X[5, 7] = 99999.0
    with pytest.warns(SelectionWarning):
        assert fitted(selector, X, y, bins="uniform").ranking_[7] > 1
    assert fitted(selector, X, y).ranking_[7] == 1


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("selector", SELECTORS)
def test_monotone_transformations_change_nothing(selector, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(-30, 30, rng.integers(12, 80)).astype(float)  # some repeat, some do not
    y = rng.integers(0, 2, x.size)
    y[:2] = 0, 1
    X = np.column_stack([x, x**3, np.exp(x), 1e6 * x - 1e12, np.arctan(x / 10)])
    scores = fitted(selector, X, y, n_bins=2 + seed).scores_
    np.testing.assert_array_equal(scores, scores[0])


@pytest.mark.parametrize("selector", SELECTORS)
def test_layouts_weights_and_threads(selector):
    X, y, _ = table(4, missing=0.1)
    expected = fitted(selector, X, y)
    weight = np.random.default_rng(5).integers(0, 4, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), weight)
    repeated = fitted(selector, X[rows], y[rows]).scores_
    with_nan = sparse.csr_matrix(np.nan_to_num(X, nan=77.0))
    with_nan.data[with_nan.data == 77.0] = np.nan
    for form in (np.asfortranarray(X), with_nan, with_nan.tocsc(), X[::-1][::-1]):
        np.testing.assert_allclose(fitted(selector, form, y).scores_, expected.scores_, atol=1e-12)
        found = fitted(selector, form, y, weight).scores_
        np.testing.assert_allclose(found, repeated, atol=1e-12)
        if hasattr(expected, "thresholds_"):
            found = fitted(selector, form, y).thresholds_
            np.testing.assert_array_equal(found, expected.thresholds_)
    wide = np.random.default_rng(6).normal(size=(1000, 700))
    y = np.arange(1000) % 2
    one, three = (fitted(selector, wide, y, n_jobs=n).scores_ for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_blocks_of_numbers_of_bins_count_as_the_whole():
    X, y, _ = table(7)
    bins = QuantileBins.of(X, n_bins=6)
    whole = ClassHistogram(bins, 3).update(Block.of(X, y.astype(np.int32)))
    parts = [ClassHistogram(bins, 3) for _ in range(2)]
    for part, rows in zip(parts, (slice(0, 40), slice(40, None)), strict=True):
        part.update(Block.of(sparse.csr_array(np.nan_to_num(X))[rows], y[rows].astype(np.int32)))
    dense = ClassHistogram(bins, 3).update(Block.of(np.nan_to_num(X), y.astype(np.int32)))
    np.testing.assert_array_equal(parts[0].merge(parts[1]).finish().table, dense.finish().table)
    np.testing.assert_array_equal(
        whole.finish().table[:, :, -1].sum(axis=0), np.isnan(X).sum(axis=0)
    )


def test_loss_curve_has_the_cuts_of_the_fit():
    X, y, weight = table(8)
    selector = fitted(tamis.DFT, X, y, weight)
    for feature in (0, 1, 4):
        curve = selector.loss_curve(X, y, feature=feature, sample_weight=weight)
        assert np.isfinite(curve.thresholds).all()
        best = np.argmin(curve.losses)
        np.testing.assert_allclose(curve.losses[best], selector.loss_[feature], atol=1e-12)
        assert curve.thresholds[best] == selector.thresholds_[feature]


def test_what_needs_all_rows_says_so(tmp_path):
    X, y, _ = table(9)
    path = tmp_path / "table.csv"
    pd.DataFrame(X).add_prefix("c").assign(y=y).to_csv(path, index=False)
    for selector in (tamis.DFT, tamis.MutualInformation, tamis.InformationGain):
        with pytest.raises(InputError, match=r"bins='quantile'.*in memory.*bins='uniform'"):
            selector(bins="quantile").fit(tamis.scan(path, target="y"))
    for selector in (tamis.DFT, tamis.RFT):
        for name in ("partial_fit", "learn_ranges"):
            with pytest.raises(AttributeError, match=name) as caught:
                getattr(selector(bins="quantile"), name)
            assert "bins='quantile' expected all rows at once" in str(caught.value.__cause__)
            assert hasattr(selector(), name)
        with pytest.raises(InputError, match=r"bins='quantile' expected no ranges"):
            selector(bins="quantile", ranges=(0, 1)).fit(X, y)


@pytest.mark.slow
def test_p_values_of_noise_are_uniform_or_larger():
    # The chi-squared law with quantile bins: of 4,000 columns of noise few are below 0.05.
    rng = np.random.default_rng(10)
    X = rng.standard_cauchy(size=(400, 4000))
    y = rng.integers(0, 2, 400)
    rule = tamis.certainty.FalseDiscoveries(0.1)
    with pytest.warns(SelectionWarning):
        selector = fitted(tamis.InformationGain, X, y, n_bins=5, n_features_to_select=rule)
    share = (selector.p_values_ < 0.05).mean()
    # Four standard errors of a share of 0.05 among 4,000.
    assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 4000)


# The note on columns that one value stretches.


def stretch(x, value, times=1):
    x = x.copy()
    x[:times] = value
    return x


def columns():
    rng = np.random.default_rng(11)
    x = rng.normal(size=400)
    return {
        "outlier": (stretch(x, 99999.0), True),
        "below": (stretch(x, -99999.0), True),
        "both sides": (stretch(stretch(x[::-1], -1e5)[::-1], 1e5), True),
        "repeated code": (stretch(x, 999.0, 30), True),
        "just above 20": (stretch(x, 20.5 * 1.4 + x.min()), True),
        "just below": (stretch(x, 18.0 * 1.2 + x.min()), False),
        "normal": (x, False),
        "rare events": (stretch(np.zeros(400), 1.0), False),
        "rare counts": (stretch(np.zeros(400), 99999.0), False),
        "mostly zero": (np.where(rng.random(400) < 0.2, rng.exponential(size=400), 0.0), False),
        "exponential": (rng.exponential(size=400), False),
        "missing": (stretch(np.where(rng.random(400) < 0.3, np.nan, x), 99999.0), True),
        "two groups": (np.where(np.arange(400) < 200, x, x + 1e5), False),
    }


@pytest.mark.parametrize("n_bins", [2, 7, 16, 50])
@pytest.mark.parametrize("kind", list(columns()))
def test_stretched_columns_are_noted(kind, n_bins):
    x, stretched = columns()[kind]
    y = np.arange(400) % 2
    for selector in SELECTORS:
        made = selector(n_features_to_select="all", n_bins=n_bins)
        for table in (pd.DataFrame({"c": x}), pd.DataFrame({"c": x.astype(np.float32)})):
            if stretched:
                with pytest.warns(SelectionWarning, match=r"'c', in which .*bins='quantile'"):
                    made.fit(table, y)
            else:
                made.fit(table, y)


def test_the_note_names_five_columns_once():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(200, 9)), np.arange(200) % 2
    X[0, 1:8] = 1e5
    selector = tamis.DFT(n_features_to_select="all")
    with pytest.warns(SelectionWarning, match=r"'x1', 'x2', 'x3', 'x4', 'x5' and 2 more") as notes:
        selector.fit(X, y)
    assert len(notes) == 1
    with pytest.warns(SelectionWarning, match="stretches"):
        selector.fit(sparse.csr_array(X), y)
    weight = np.ones(200)
    weight[0] = 0.0
    selector.fit(X, y, sample_weight=weight)  # the row is not there
    tamis.DFT(bins="quantile", n_features_to_select="all").fit(X, y)
