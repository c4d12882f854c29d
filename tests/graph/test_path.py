"""inf_fs_path: the scores of every alpha, from one matrix of relations."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamis import InfFS, inf_fs_path
from tamis.exceptions import InputError
from tamis.statistics import correlations

ALPHAS = [0.0, 0.2, 0.5, 1.0]


def table(n_rows=40, n_columns=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([0.1, 1.0, 20.0], n_columns)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 3.0
    return X


@pytest.fixture
def blocks(monkeypatch):
    """Blocks of seven columns, and a list of those that were made."""
    monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 7)
    made = []
    plain = correlations.Factors.block

    def block(self, rows, columns):
        made.append((rows, columns))
        return plain(self, rows, columns)

    monkeypatch.setattr(correlations.Factors, "block", block)
    return made


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"memory_limit": 1, "precision": "double"},
        {"relation": "pearson", "damping": 0.5},
        {"relation": "mutual_information"},
    ],
    ids=["plain", "blocks", "pearson", "information"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_the_scores_of_single_fits(make, options, weighted):
    X = table()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    found = inf_fs_path(make(X), ALPHAS, sample_weight=weight, **options)
    assert found.shape == (4, 20)
    for alpha, row in zip(ALPHAS, found, strict=True):
        fitted = InfFS(alpha=alpha, **options).fit(X, sample_weight=weight)
        np.testing.assert_allclose(row, fitted.scores_, rtol=1e-10)


def test_alphas_may_come_in_any_order_and_number():
    X = table()
    default = inf_fs_path(X)
    assert default.shape == (11, 20)
    np.testing.assert_allclose(inf_fs_path(X, [1, 0, 0.5]), default[[10, 0, 5]], rtol=1e-10)
    np.testing.assert_allclose(inf_fs_path(X, np.array([0.5])), default[[5]], rtol=1e-10)
    np.testing.assert_allclose(inf_fs_path(X, 0.5), default[[5]], rtol=1e-10)


def test_dense_relations_are_made_once(blocks):
    X = table()
    inf_fs_path(X, ALPHAS, memory_limit=10**9)
    assert len(blocks) == 6  # 19 columns that vary: three ranges, half of nine pairs
    assert len(set(blocks)) == 6


def test_blocks_are_shared_by_all_walks(blocks):
    X = table()
    alone = []
    for alpha in ALPHAS:
        alone.append(InfFS(alpha=alpha, memory_limit=1).fit(X).n_products_)
    assert len(blocks) == 6 * sum(alone)
    blocks.clear()
    inf_fs_path(X, ALPHAS, memory_limit=1)
    assert len(blocks) == 6 * max(alone)


def test_nothing_is_learned():
    selector = InfFS(memory_limit=10**9)
    before = vars(selector).copy()
    selector.path(table(), ALPHAS)
    assert vars(selector) == before


def test_the_method_equals_the_function():
    X = table()
    found = InfFS(alpha=0.9, damping=0.3).path(X, [0.2])
    np.testing.assert_array_equal(found, inf_fs_path(X, [0.2], damping=0.3))


@pytest.mark.parametrize("alphas", [[0.5, 1.4], [-0.1], ["half"], [None], None, [True], [np.nan]])
def test_bad_alphas(alphas):
    message = r"every value of alphas must be a float in \[0, 1\], got"
    with pytest.raises(InputError, match=f"inf_fs_path: {message}"):
        inf_fs_path(table(), alphas)
    with pytest.raises(InputError, match=f"InfFS: {message}"):
        InfFS().path(table(), alphas)


def test_no_alphas():
    with pytest.raises(InputError, match="inf_fs_path: alphas must hold at least one value"):
        inf_fs_path(table(), [])


def test_bad_parameters_and_data():
    with pytest.raises(InputError, match="InfFS: damping must be"):
        inf_fs_path(table(), damping=2.0)
    with pytest.raises(TypeError, match="depth"):
        inf_fs_path(table(), depth=3)
    X = table()
    X[0, 2] = np.inf
    with pytest.raises(InputError, match="inf in column 2"):
        inf_fs_path(X)
