"""DFT and RFT on real tables, column by column against the plain algorithm."""

import os

import numpy as np
import pytest

import tamis
from reference.split import entropy, mean_squared_error, split_test

pytestmark = pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)

# Columns of arrhythmia have outliers.
STRETCHED = pytest.mark.filterwarnings("ignore:.*one value stretches")


def some_columns(X, n=25):
    return np.random.default_rng(0).choice(X.shape[1], size=min(n, X.shape[1]), replace=False)


@STRETCHED
@pytest.mark.parametrize("name", ["colon", "arrhythmia", "mfeat", "madelon", "lung_small_disc"])
def test_dft(name):
    data = tamis.datasets.load(name)
    fitted = tamis.DFT().fit(data.X, data.y)
    columns = some_columns(data.X)
    loss, thresholds, scores = split_test(data.X[:, columns], data.y, entropy)
    np.testing.assert_allclose(fitted.loss_[columns], loss, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fitted.scores_[columns], scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.thresholds_[columns], thresholds, rtol=1e-14)


@STRETCHED
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["riboflavin", "gasoline", "communities_crime", "pumadyn32nm"])
def test_rft(name):
    data = tamis.datasets.load(name)
    fitted = tamis.RFT().fit(data.X, data.y)
    columns = some_columns(data.X)
    loss, _, scores = split_test(data.X[:, columns], data.y.astype(float), mean_squared_error)
    np.testing.assert_allclose(fitted.loss_[columns], loss, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.scores_[columns], scores, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ["dexter", "movie_reviews"])
def test_sparse_equals_dense(name):
    data = tamis.datasets.load(name)
    fitted = tamis.DFT().fit(data.X, data.y)
    columns = np.concatenate([fitted.order_[:20], some_columns(data.X)])
    dense = tamis.DFT(n_features_to_select="all").fit(data.X[:, columns].toarray(), data.y)
    np.testing.assert_allclose(fitted.scores_[columns], dense.scores_, rtol=1e-12, atol=1e-14)


def test_elbows_where_the_paper_reads_them_off():
    # Ten to twenty columns early and a hundred late, of 649.
    early, late = tamis.cutoff.find_elbows(
        tamis.DFT().fit(*load_both("mfeat")).ranking_record().curve
    )
    assert 10 <= early <= 20
    assert 75 <= late <= 125


def test_unused_probes_of_madelon_come_last():
    data = tamis.datasets.load("madelon")
    selector = tamis.DFT(n_features_to_select=9).fit(data.X, data.y)
    assert set(selector.order_[:9]) <= set(np.asarray(data.relevant).tolist())


def load_both(name):
    data = tamis.datasets.load(name)
    return data.X, data.y
