import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.datasets import load_iris

from tamis.datasets import make_iris_combinations
from tamis.exceptions import InputError


@pytest.mark.parametrize("kind", ["linear", "sine"])
def test_iris_comes_first(kind):
    data = make_iris_combinations(kind=kind, random_state=0)
    iris = load_iris()
    assert data.X.shape == (150, 20)
    assert np.array_equal(data.X[:, :4], iris.data)
    assert np.array_equal(data.y, iris.target)
    assert data.relevant.tolist() == [0, 1, 2, 3]
    assert len(set(data.feature_names)) == 20
    assert data.feature_names[:4] == iris.feature_names


@pytest.mark.parametrize(("kind", "transform"), [("linear", np.asarray), ("sine", np.sin)])
def test_the_rest_are_convex_combinations(kind, transform):
    data = make_iris_combinations(kind=kind, random_state=0)
    basis = transform(load_iris().data)
    for column, coefficients in zip(data.X[:, 4:].T, data.coefficients, strict=True):
        # Recovered from the column alone: not negative, sum one, and those that are reported.
        found, residual = nnls(basis, column)
        assert residual < 1e-10
        assert found.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(found, coefficients, atol=1e-10)


def test_sines_are_not_linear_in_the_features():
    data = make_iris_combinations(kind="sine", random_state=0)
    _, residuals, *_ = np.linalg.lstsq(data.X[:, :4], data.X[:, 4:])
    assert residuals.min() > 0.1


def test_coefficients_are_uniform_on_the_simplex():
    weights = make_iris_combinations(n_combinations=20_000, random_state=0).coefficients
    # A coordinate of a uniform point of this simplex has mean 1/4, variance 3/80 and exceeds t
    # with probability (1 - t)**3.
    np.testing.assert_allclose(weights.mean(axis=0), 0.25, atol=5 * (3 / 80 / 20_000) ** 0.5)
    np.testing.assert_allclose((weights > 0.5).mean(axis=0), 0.125, atol=5 * 0.34 / 20_000**0.5)


def test_same_seed_same_data():
    first, again = (make_iris_combinations(random_state=3) for _ in range(2))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, make_iris_combinations(random_state=4).X)
    sine = make_iris_combinations(kind="sine", random_state=3)
    assert np.array_equal(sine.coefficients, first.coefficients)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"kind": "cosine"}, "kind must be 'linear' or 'sine', got 'cosine'"),
        ({"kind": ["sine"]}, "kind must be"),
        ({"n_combinations": 0}, "n_combinations must be an int of at least 1"),
        ({"random_state": 1.5}, "random_state must be None"),
    ],
)
def test_bad_parameters(wrong, complaint):
    with pytest.raises(InputError, match=f"make_iris_combinations: {complaint}"):
        make_iris_combinations(**wrong)
