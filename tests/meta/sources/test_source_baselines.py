"""The baselines of MFPFS: elimination among measured candidates, and chance."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif

import tamis
from tamis.exceptions import InputError, SelectionWarning
from tamis.meta import ArraySource, FeatureSource, SourceRandom, SourceRFE, measure_quality


def problem(seed=0, n_candidates=60):
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1], 25)
    columns = random.normal(size=(50, n_candidates))
    columns[:, :10] += 1.5 * y[:, None]
    return columns, np.arange(float(n_candidates)).reshape(-1, 1), y


def rfe_by_hand(columns, y, n, steps):
    """Keep m (n / m)^(i / steps) columns after step i."""
    alive, fallen = list(range(columns.shape[1])), []
    for step in range(1, steps + 1):
        size = round(columns.shape[1] * (n / columns.shape[1]) ** (step / steps))
        quality = measure_quality("svm_weights", columns[:, alive], y)
        best = [alive[i] for i in np.argsort(-quality, kind="stable")]
        fallen = best[size:] + fallen
        alive = sorted(best[:size])
    return best[:n] + fallen


def test_all_measured_is_recursive_elimination():
    columns, meta, y = problem()
    source = ArraySource(columns, meta)
    selector = SourceRFE(n_features_to_select=5).fit(source, y)
    assert selector.order_.tolist() == rfe_by_hand(columns, y, 5, 6)
    assert selector.n_measured_ == selector.cost_ == 60
    assert selector.n_selected_ == 5
    assert [entry["n_left"] for entry in selector.history_] == [40, 26, 17, 11, 8, 5]
    assert np.flatnonzero(selector.support_).max() < 10
    np.testing.assert_array_equal(selector.transform(source), columns[:, selector.support_])


@pytest.mark.slow
def test_one_by_one_it_is_svm_rfe():
    table, y = load_wine(return_X_y=True)
    two = y < 2
    source = ArraySource(table[two], np.arange(13.0).reshape(-1, 1))
    order = tamis.SVMRFE(scale=True).fit(table[two], y[two]).order_
    for n in (1, 4, 9):
        # With many steps a step drops one column or none.
        selector = SourceRFE(n_features_to_select=n, n_eliminations=200).fit(source, y[two])
        assert set(np.flatnonzero(selector.support_)) == set(order[:n])


def test_some_measured_are_a_random_part():
    columns, meta, y = problem(1)
    source = ArraySource(columns, meta)
    options = {"n_features_to_select": 5, "random_state": 0}
    selector = SourceRFE(n_measured=20, **options).fit(source, y)
    assert selector.n_measured_ == source.n_measured == 20
    part = np.sort(selector.measured_)
    assert selector.order_.tolist()[:20] == part[rfe_by_hand(columns[:, part], y, 5, 6)].tolist()
    out = np.setdiff1d(np.arange(60), part)
    np.testing.assert_array_equal(selector.order_[20:], out)
    np.testing.assert_array_equal(selector.scores_[out], 0.0)
    assert np.isnan(selector.criterion_[out]).all()
    share = SourceRFE(n_measured=1 / 3, **options).fit(source, y)
    np.testing.assert_array_equal(share.order_, selector.order_)
    other = SourceRFE(n_measured=20, n_features_to_select=5, random_state=1).fit(source, y)
    assert set(other.measured_) != set(selector.measured_)
    exact = SourceRFE(n_measured=5, **options).fit(source, y)
    assert set(exact.measured_) == set(np.flatnonzero(exact.support_))


def test_other_qualities_and_jobs():
    columns, meta, y = problem(2)
    source = ArraySource(columns, meta)
    selector = SourceRFE(n_features_to_select=5, quality=lambda X, y: f_classif(X, y)[0], n_jobs=2)
    best = np.argsort(-f_classif(columns, y)[0], kind="stable")
    np.testing.assert_array_equal(selector.fit(source, y).order_, best)
    assert clone(selector).get_params() == selector.get_params()


def test_failures_are_replaced():
    columns, meta, y = problem(3)

    class Failing(FeatureSource):
        retries = 0

        def __init__(self):
            self.meta = meta

        def measure(self, indices):
            if (indices % 4 == 0).any():
                raise OSError("no film")
            return columns[:, indices]

    selector = SourceRFE(n_features_to_select=5, n_measured=30, random_state=0)
    with pytest.warns(SelectionWarning, match="no film"):
        selector.fit(Failing(), y)
    assert selector.n_measured_ == 30
    assert (selector.measured_ % 4 > 0).all()


def test_wrong_numbers_are_refused():
    columns, meta, y = problem()
    source = ArraySource(columns, meta)
    with pytest.raises(InputError, match="at least the 5 features to select, got 3"):
        SourceRFE(n_features_to_select=5, n_measured=3).fit(source, y)
    with pytest.warns(SelectionWarning, match="asked to measure 100 candidates"):
        assert SourceRFE(n_features_to_select=5, n_measured=100).fit(source, y).n_measured_ == 60
    for options in ({"n_measured": 0}, {"n_measured": 2.5}, {"n_eliminations": 0}):
        with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
            SourceRFE(**options).fit(source, y)
    with pytest.warns(SelectionWarning, match="all are kept"):
        assert SourceRFE(n_features_to_select=99).fit(source, y).n_selected_ == 60


def test_random_measures_nothing_and_nests():
    columns, meta, _ = problem()
    source = ArraySource(columns, meta)
    few = SourceRandom(n_features_to_select=5, random_state=0).fit(source)
    many = SourceRandom(n_features_to_select=0.5, random_state=0).fit(source)
    assert few.n_selected_ == 5
    assert many.n_selected_ == 30
    assert few.n_measured_ == few.cost_ == source.n_measured == 0
    assert (many.support_ >= few.support_).all()
    assert sorted(few.scores_) == list(range(1, 61))
    np.testing.assert_array_equal(few.transform(source), columns[:, few.support_])
    assert source.n_measured == 5
    picks = np.mean(
        [
            SourceRandom(n_features_to_select=20, random_state=s).fit(source).support_
            for s in range(300)
        ],
        axis=0,
    )
    np.testing.assert_allclose(picks, 1 / 3, atol=0.12)  # each candidate alike
