import numpy as np
import pytest

from tamis.datasets import make_expression_like
from tamis.exceptions import InputError


def test_what_is_known_is_there():
    data = make_expression_like(n_samples=40, n_features=103, n_relevant=4, random_state=0)
    assert data.X.shape == (40, 103)
    assert np.bincount(data.y).tolist() == [20, 20]
    assert len(set(data.block[data.relevant])) == 4
    assert np.bincount(data.block).tolist() == [5] * 20 + [3]
    np.testing.assert_allclose(data.effects, [1.4, 1.4 * 7 / 9, 1.4 * 5 / 9, 1.4 / 3])


def test_the_same_seed_gives_the_same_table():
    first, second = (make_expression_like(n_features=60, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.relevant, second.relevant)


def test_shifts_and_correlations_are_those_of_the_law():
    n = 20_000
    data = make_expression_like(n_samples=n, n_features=50, n_relevant=2, random_state=0)
    shift = data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)
    tolerance = 5 * 2 / np.sqrt(n)
    np.testing.assert_allclose(shift[data.relevant], data.effects, atol=tolerance)
    useless = ~np.isin(data.block, data.block[data.relevant])
    np.testing.assert_allclose(shift[useless], 0.0, atol=tolerance)
    within = data.X - shift * data.y[:, None]
    np.testing.assert_allclose(within.var(axis=0), 1.0, atol=0.06)
    related = np.corrcoef(within, rowvar=False)
    first = data.relevant[0]
    mates = np.flatnonzero(data.block == data.block[first])
    expected = np.where(mates == first, 1.0, 0.95)
    np.testing.assert_allclose(related[first, mates], expected, atol=0.01)
    others = data.block != data.block[first]
    np.testing.assert_allclose(related[first, others], 0.0, atol=5 / np.sqrt(n))


@pytest.mark.parametrize(
    "wrong", [{"n_features": 49}, {"n_samples": 3}, {"block_size": 0}, {"n_relevant": "ten"}]
)
def test_wrong_sizes_are_refused(wrong):
    with pytest.raises(InputError, match=f"make_expression_like: {next(iter(wrong))} must be"):
        make_expression_like(**wrong)
