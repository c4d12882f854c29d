"""Products with relations, whole or block by block, and the product of larger deviations."""

import numpy as np
import pytest

from reference import graph as reference
from tamis._runtime.memory import free_memory
from tamis.graph import relation_matrix
from tamis.graph.feature_graph import GraphSettings, larger_deviation_product, memory_graph
from tamis.graph.relation_matrix import RelationPlan, block_pairs, make_relations


def no_progress(name, items, total):
    return items


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).random((n, n))
    return (A + A.T) / 2


@pytest.mark.parametrize("n", [1, 6, 7, 8, 20, 21])
@pytest.mark.parametrize("block", [1, 7, 100])
def test_pairs_cover_the_lower_triangle_once(n, block, monkeypatch):
    monkeypatch.setattr(relation_matrix, "BLOCK", block)
    cover = np.zeros((n, n), dtype=int)
    for rows, columns in block_pairs(n):
        assert rows[1] - rows[0] <= block
        assert columns[1] - columns[0] <= block
        cover[slice(*rows), slice(*columns)] += 1
        if rows != columns:
            cover[slice(*columns), slice(*rows)] += 1
    np.testing.assert_array_equal(cover, np.ones((n, n)))


@pytest.mark.parametrize("kind", ["dense", "blocks"])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-13), ("float32", 1e-6)])
@pytest.mark.parametrize("n", [1, 7, 20])
def test_products(kind, dtype, rtol, n, monkeypatch):
    monkeypatch.setattr(relation_matrix, "BLOCK", 7)
    A = symmetric(n)
    vectors = np.random.default_rng(1).random((n, 3))
    made = []

    def block_of(rows, columns):
        made.append((rows, columns))
        return A[slice(*rows), slice(*columns)].astype(dtype)

    relations = make_relations(block_of, RelationPlan(kind, dtype, 0, n), no_progress)
    for k in (1, 2, 3):
        found = relations.product(vectors[:, :k])
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, A @ vectors[:, :k], rtol=rtol)
    assert made == block_pairs(n) * (1 if kind == "dense" else 3)


def test_larger_deviation_product():
    rng = np.random.default_rng(2)
    s = rng.integers(0, 5, 40) / 4  # with ties
    vectors = rng.normal(size=(40, 3))
    out = larger_deviation_product(s, np.argsort(s), vectors)
    expected = np.maximum(s[:, None], s[None, :]) @ vectors
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_free_memory_is_a_number_of_bytes():
    assert 2**20 < free_memory() < 2**50


def test_free_memory_where_the_system_does_not_say(monkeypatch):
    def missing(*args, **options):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", missing)
    assert free_memory() == 4 * 2**30


@pytest.mark.parametrize("memory_limit", [10**6, 1])
def test_edges_are_those_of_the_matrix(memory_limit):
    X = np.random.default_rng(3).normal(size=(30, 8)) * np.arange(1, 9)
    X[:, 2] = 1.0
    varies = np.arange(8) != 2
    settings = GraphSettings("spearman", "double", memory_limit, 1, "test")
    graph = memory_graph(X, varies, None, settings, no_progress)
    found = graph.edges(0.3, [7, 0, 3])
    inside = [6, 0, 2]
    expected = reference.graph_matrix(X[:, varies], 0.3)[np.ix_(inside, inside)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
