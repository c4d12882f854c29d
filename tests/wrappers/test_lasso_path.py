import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

import tamis
from tamis.exceptions import InputError


def orthogonal(n_rows=64, n_columns=6, seed=0):
    """Columns of mean 0 and length 1 that are orthogonal to each other."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([np.ones(n_rows), rng.normal(size=(n_rows, n_columns))])
    return np.linalg.qr(table)[0][:, 1:]


def fitted(X, y, **params):
    return tamis.LassoPath(n_features_to_select="all", n_jobs=1, **params).fit(X, y)


def test_orthogonal_columns_enter_at_their_correlation():
    X = orthogonal()
    y = X @ [3.0, 0.0, -4.0, 1.0, 0.5, 0.0]
    found = fitted(X, y)
    want = np.abs([3.0, 0.0, -4.0, 1.0, 0.5, 0.0]) / np.sqrt(26.25)
    np.testing.assert_allclose(found.scores_, want, atol=1e-9)
    assert found.order_[:4].tolist() == [2, 0, 3, 4]
    assert found.n_entered_ == 4


def test_order_of_the_paper():
    """Efron and others (2004), section 1: variables 3, 9, 4, 7, 2, 10, 5, 8, 6, 1."""
    from sklearn.datasets import load_diabetes

    found = fitted(*load_diabetes(return_X_y=True))
    assert (found.order_ + 1).tolist() == [3, 9, 4, 7, 2, 10, 5, 8, 6, 1]


@pytest.mark.parametrize("n_rows", [25, 200])
def test_coefficients_appear_at_the_penalty(n_rows):
    """Coordinate descent uses a feature just below its score, and not just above."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 40)) @ np.eye(40, k=1) + rng.normal(size=(n_rows, 40))
    y = X[:, 3] - X[:, 20] + rng.normal(size=n_rows)
    found = fitted(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    t = (y - y.mean()) / y.std()
    for column in found.order_[:8]:
        for factor, uses in ((0.995, True), (1.005, False)):
            lasso = Lasso(alpha=factor * found.scores_[column], tol=1e-10, max_iter=100_000)
            assert (lasso.fit(Z, t).coef_[column] != 0) == uses


def test_an_effect_behind_a_strong_one_is_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50))
    y = 10 * X[:, 7] + X[:, 30] + 0.1 * rng.normal(size=200)
    assert fitted(X, y).order_[:2].tolist() == [7, 30]


def test_of_copies_one_comes_early():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    X[:, 4] = X[:, 1]
    y = 2 * X[:, 1] + X[:, 3] + 0.1 * rng.normal(size=100)
    found = fitted(X, y)
    first, second = found.order_[:2]
    assert first in (1, 4)
    assert second == 3
    assert found.scores_[5 - first] < 0.5 * found.scores_[3]


def test_several_classes_take_the_largest_score():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 8)), np.arange(150) % 3
    X[:, 2] += 2 * (y == 0)
    X[:, 5] += y == 2
    several = fitted(X, y)
    each = [fitted(X, y == k).scores_ for k in range(3)]
    np.testing.assert_allclose(several.scores_, np.max(each, axis=0))
    assert several.order_[:2].tolist() == [2, 5]
    assert several.task_ == "classification"


def test_the_path_ends_and_the_others_follow():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 30))
    y = X[:, 0] + rng.normal(size=60)
    short, long = fitted(X, y, max_features=3), fitted(X, y)
    assert short.n_entered_ == 3
    assert short.order_[:3].tolist() == long.order_[:3].tolist()
    np.testing.assert_allclose(np.sort(short.scores_)[-3:], np.sort(long.scores_)[-3:])
    assert (np.sort(short.scores_)[:-3] > 0).all()


def test_weights_are_repetitions():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 10)), rng.normal(size=40)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, 40)
    whole = tamis.LassoPath(n_features_to_select="all").fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(40), weight)
    np.testing.assert_allclose(whole.scores_, fitted(X[rows], y[rows]).scores_, atol=1e-9)


def test_sparse_is_dense():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.3)
    y = X[:, 4] + 0.2 * rng.normal(size=50)
    np.testing.assert_allclose(
        fitted(sparse.csr_array(X), y).scores_, fitted(X, y).scores_, rtol=1e-12
    )


def test_knockoffs_take_it_as_their_statistic():
    from tamis.certainty import Knockoffs

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    y = X[:, :12].sum(axis=1) + rng.normal(size=300)
    rule = Knockoffs(0.2, statistic="selector", random_state=0)
    found = tamis.LassoPath(n_features_to_select=rule).fit(X, y)
    assert found.support_[:12].sum() >= 10
    assert found.support_[12:].sum() <= 6


def test_bad_parameters():
    with pytest.raises(InputError, match="LassoPath: max_features"):
        tamis.LassoPath(max_features=0).fit([[0.0], [1.0]], [0, 1])
