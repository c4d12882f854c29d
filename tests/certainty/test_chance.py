"""chance_of_best: a quick look at whether there is anything."""

import numpy as np
import pytest

import tamis
from tamis.certainty import chance_of_best


def data(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(50, 30)), rng.integers(0, 2, 50)


@pytest.mark.parametrize("selector", [tamis.Fisher(), tamis.DFT(), tamis.ReliefF()], ids=str)
def test_signal_and_noise(selector):
    X, y = data()
    selector.set_params(n_features_to_select=3).fit(X, y)
    assert chance_of_best(selector, X, y) > 0.05
    X[:, 4] += 4 * y
    selector.fit(X, y)
    assert chance_of_best(selector, X, y) == 1 / 20
    assert chance_of_best(selector, X, y, n_permutations=99) == 1 / 100


def test_p_values_are_about_uniform():
    found = []
    for seed in range(60):
        X, y = data(seed)
        found.append(chance_of_best(tamis.AnovaF(n_features_to_select=3).fit(X, y), X, y))
    assert 0.35 < np.mean(found) < 0.7


def test_none_where_it_would_take_refits_or_makes_no_sense():
    X, y = data()
    assert chance_of_best(tamis.MRMR(n_features_to_select=3).fit(X, y), X, y) is None
    assert chance_of_best(tamis.Variance(n_features_to_select=3).fit(X), X, y) is None
    X[3, 4] = np.nan
    assert chance_of_best(tamis.Fisher(n_features_to_select=3).fit(X, y), X, y) is None
