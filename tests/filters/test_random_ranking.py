"""RandomRanking: uniform, seeded, constant columns last."""

import numpy as np
import pytest
from scipy import sparse, stats

from tamis import RandomRanking
from tamis.exceptions import InputError


def table(n_columns=20, n_rows=6):
    return np.random.default_rng(0).normal(size=(n_rows, n_columns))


def everything(**options):
    return RandomRanking(n_features_to_select="all", **options)


def test_scores_are_uniform():
    scores = everything(random_state=0).fit(table(5000)).scores_
    assert stats.kstest(scores, "uniform").pvalue > 0.01
    assert scores.min() > 0
    assert scores.max() <= 1


def test_every_column_comes_first_equally_often():
    X = table(5)
    generator = np.random.RandomState(1)
    first = [everything(random_state=generator).fit(X).order_[0] for _ in range(500)]
    assert stats.chisquare(np.bincount(first, minlength=5)).pvalue > 0.01


def test_seeds():
    X = table()
    one, again, other = (everything(random_state=s).fit(X).scores_ for s in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert (one != other).all()
    loose, looser = (everything().fit(X).scores_ for _ in range(2))
    assert (loose != looser).all()


def test_the_values_of_table_and_target_do_not_matter():
    X = table()
    plain = everything(random_state=0).fit(X).scores_
    y = np.arange(6) % 2
    np.testing.assert_array_equal(
        everything(random_state=0).fit(sparse.csr_array(X), y).scores_, plain
    )
    np.testing.assert_array_equal(everything(random_state=0).fit(-X * 7).scores_, plain)


def test_constant_columns_come_last_and_change_no_other():
    X = table()
    plain = everything(random_state=0).fit(X).scores_
    X[:, 4], X[:, 7] = 3.0, np.nan
    fitted = RandomRanking(random_state=0, n_features_to_select=18).fit(X)
    assert fitted.scores_[[4, 7]].tolist() == [0.0, 0.0]
    assert set(fitted.order_[-2:]) == {4, 7}
    assert not fitted.support_[[4, 7]].any()
    others = ~fitted.constant_
    np.testing.assert_array_equal(fitted.scores_[others], plain[others])


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "a", True])
def test_bad_seeds(seed):
    with pytest.raises(InputError, match="RandomRanking: random_state must be None, an int in"):
        everything(random_state=seed).fit(table())


def test_infinite_values():
    X = table()
    X[0, 2] = np.inf
    with pytest.raises(InputError, match="inf in column 2"):
        everything().fit(X)
