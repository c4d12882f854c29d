"""InfFS against the printed algorithm, on every kind of table and every way to keep relations."""

import logging
import os
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import tamis
from reference import graph as reference
from tamis import InfFS
from tamis.datasets import make_iris_combinations
from tamis.exceptions import InputError, SelectionWarning, TamisError

ALPHAS = [0.0, 0.3, 0.5, 1.0]


def normal(n_rows=40, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)) * rng.choice([0.1, 1.0, 20.0], n_columns)


def whole_numbers():
    return np.random.default_rng(1).integers(0, 4, (40, 10)).astype(float)


def with_duplicates():
    X = normal(seed=2)
    return np.hstack([X, X[:, :4], -X[:, 4:6], np.exp(X[:, 7:8] / 50)])


def with_constants():
    X = normal(seed=3)
    X[:, 0], X[:, 5], X[:, 11] = 0.0, 7.0, np.nan
    return X


def collinear():
    rng = np.random.default_rng(4)
    return rng.normal(size=(30, 2)) @ rng.normal(size=(2, 9))


TABLES = {
    "random": normal(),
    "ties": whole_numbers(),
    "duplicates": with_duplicates(),
    "constants": with_constants(),
    "collinear": collinear(),
    "two columns": normal(25, 2),
    "few rows": normal(5, 30),
    "offset": normal(seed=5) + 1e6,
}


def scores(X, alpha=0.5, *, sample_weight=None, **options):
    selector = InfFS(alpha=alpha, n_features_to_select="all", **options)
    return selector.fit(X, sample_weight=sample_weight).scores_


def assert_close(found, expected, rtol=1e-9):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def holes(X, share=0.15, seed=6):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def thin(seed=7, n_rows=50, n_columns=14, *, missing=False):
    """Mostly zeros; some columns without a zero, some of one sign, and one of zeros and missing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.3) * 1.0
    X[:, 2] = rng.normal(size=n_rows)
    X[:, 3] = np.abs(X[:, 3])
    X[0, 3] = 2.0
    X[:, 9] = 0.0
    if missing:
        X = holes(X, 0.1)
    return X


class TestAgainstThePrintedAlgorithm:
    @pytest.mark.sampled(12)
    @pytest.mark.parametrize("name", TABLES)
    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_tables(self, name, alpha):
        assert_close(scores(TABLES[name], alpha), reference.inf_fs(TABLES[name], alpha))

    @pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0])  # at 0, no edge is left
    def test_columns_of_which_any_two_are_alike(self, alpha):
        for X in (
            np.column_stack([np.ones(9), np.arange(9.0), np.zeros(9)]),
            np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 9.0]]),
        ):
            assert_close(scores(X, alpha), reference.inf_fs(X, alpha))

    @pytest.mark.parametrize("damping", [0.05, 0.5, 0.99])
    def test_damping(self, damping):
        X = normal()
        assert_close(scores(X, 0.4, damping=damping), reference.inf_fs(X, 0.4, damping=damping))

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("alpha", ALPHAS)
    @pytest.mark.parametrize("missing", [False, True])
    def test_weights(self, alpha, missing):
        X = np.hstack([normal(seed=8), np.random.default_rng(9).integers(0, 3, (40, 3))])
        X = holes(X) if missing else X
        weight = np.random.default_rng(10).choice([0.0, 0.25, 1.0, 3.5], 40)
        found = scores(X, alpha, sample_weight=weight)
        assert_close(found, reference.inf_fs(X, alpha, weight=weight))

    def test_weights_that_are_shares(self):
        X = normal(seed=8)
        weight = np.random.default_rng(11).dirichlet(np.ones(40))
        assert_close(scores(X, sample_weight=weight), reference.inf_fs(X, weight=weight))

    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_missing(self, alpha):
        X = holes(np.hstack([normal(), whole_numbers()]))
        assert_close(scores(X, alpha), reference.inf_fs(X, alpha))

    @pytest.mark.parametrize("alpha", [0.0, 0.5])
    @pytest.mark.parametrize("relation", ["pearson", "mutual_information"])
    @pytest.mark.parametrize("missing", [False, True])
    def test_other_relations(self, alpha, relation, missing):
        X = np.hstack([normal(45, 6), np.random.default_rng(12).integers(0, 6, (45, 5))])
        X = holes(X) if missing else X
        expected = reference.inf_fs(X, alpha, relation=getattr(reference, relation))
        assert_close(scores(X, alpha, relation=relation), expected)

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
    def test_types_of_numbers(self, dtype):
        X = np.random.default_rng(13).integers(0, 2 if dtype is bool else 100, (40, 8))
        X = X.astype(dtype)
        assert_close(scores(X), reference.inf_fs(X.astype(float)))


class TestByHand:
    def test_two_columns(self):
        # Ranks 1 2 3 and 1 3 2: rho = 1/2. Deviations 1 and 2, shares 1/2 and 1. At alpha = 1/2,
        # A = [[1/4, 3/4], [3/4, 1/2]].
        X = np.array([[0.0, 0.0], [1.0, 4.0], [2.0, 2.0]])
        A = np.array([[0.25, 0.75], [0.75, 0.5]])
        radius = (0.75 + np.sqrt(0.75**2 + 4 * (0.75**2 - 0.125))) / 2
        step = 0.9 / radius
        M = np.eye(2) - step * A
        # Cramer's rule.
        determinant = M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]
        x = np.array([M[1, 1] - M[0, 1], M[0, 0] - M[1, 0]]) / determinant
        fitted = InfFS(n_features_to_select="all").fit(X)
        np.testing.assert_allclose(fitted.scores_, x - 1, rtol=1e-12)
        assert fitted.radius_ == pytest.approx(radius, rel=1e-12)

    def test_one_column(self):
        # One node whose only edge is to itself: 0.9 + 0.81 + ... = 9, however strong it is.
        assert scores(np.arange(5.0)[:, None], 0.5)[0] == pytest.approx(9.0)

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("precision", ["double", "single"])
    @pytest.mark.parametrize("memory_limit", [None, 1])
    @pytest.mark.parametrize("n_columns", [1, 2, 30])
    def test_columns_all_alike(self, precision, memory_limit, n_columns):
        # Without dispersion nothing is left of the edges: radius 0, scores 0, not rounding.
        x = np.random.default_rng(14).normal(size=60)
        X = np.column_stack([(-1) ** k * (k + 1) * x**3 for k in range(n_columns)])
        options = {"precision": precision, "memory_limit": memory_limit}
        fitted = InfFS(alpha=0.0, n_features_to_select="all", **options).fit(X)
        np.testing.assert_array_equal(fitted.scores_, np.zeros(n_columns))
        assert fitted.radius_ == 0.0
        np.testing.assert_array_equal(fitted.order_, np.arange(n_columns))

    def test_only_dispersion(self):
        # At alpha = 1 the edge is the larger share; a column of larger deviation beats the others.
        X = normal(60, 10, seed=15)
        order = np.argsort(-X.std(axis=0), kind="stable")
        fitted = InfFS(alpha=1.0, n_features_to_select="all").fit(X)
        np.testing.assert_array_equal(fitted.order_, order)

    def test_a_copied_column_loses_to_one_of_its_own(self):
        X = np.random.default_rng(16).normal(size=(500, 6))
        X[:, 1:5] = X[:, [0]] + 0.1 * X[:, 1:5]
        assert InfFS(alpha=0.0, n_features_to_select=1).fit(X).order_[0] == 5


class TestInvariants:
    @pytest.mark.parametrize("relation", ["spearman", "pearson", "mutual_information"])
    def test_order_of_rows_and_columns(self, relation):
        rng = np.random.default_rng(17)
        X = holes(np.hstack([normal(), whole_numbers()]))
        rows, columns = rng.permutation(40), rng.permutation(X.shape[1])
        plain = scores(X, 0.4, relation=relation)
        assert_close(scores(X[rows], 0.4, relation=relation), plain, rtol=1e-11)
        assert_close(scores(X[:, columns], 0.4, relation=relation), plain[columns], rtol=1e-11)

    def test_monotone_transforms_change_no_ranks(self):
        X = holes(normal(seed=18) / 10)
        Y = np.column_stack(
            [np.exp(X[:, 0]), -(X[:, 1] ** 3), np.arctan(X[:, 2]), 5 * X[:, 3:] + 3]
        )
        np.testing.assert_allclose(scores(Y, 0.0), scores(X, 0.0), rtol=1e-11)
        assert not np.allclose(scores(Y, 0.5), scores(X, 0.5), rtol=1e-3)
        assert not np.allclose(
            scores(Y, 0.0, relation="pearson"), scores(X, 0.0, relation="pearson"), rtol=1e-3
        )

    @pytest.mark.parametrize("relation", ["spearman", "pearson", "mutual_information"])
    def test_weights_count_rows(self, relation):
        X = holes(np.hstack([normal(), whole_numbers()]), 0.1)
        weight = np.random.default_rng(19).integers(0, 4, 40)
        repeated = scores(np.repeat(X, weight, axis=0), relation=relation)
        assert_close(scores(X, sample_weight=weight, relation=relation), repeated, rtol=1e-11)

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
    def test_rows_without_weight_are_not_there(self, make):
        X = thin(missing=True)
        weight = np.random.default_rng(20).choice([0.0, 0.7, 2.0], len(X))
        X[weight == 0] *= 100
        X[weight > 0, 4] = 3.0
        fitted = InfFS().fit(make(X), sample_weight=weight)
        seen = weight > 0
        assert_close(fitted.scores_, scores(X[seen], sample_weight=weight[seen]))
        assert fitted.constant_[4]
        assert fitted.scores_[4] == 0

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("relation", ["spearman", "pearson"])
    def test_threads_do_not_change_a_bit(self, order, relation, monkeypatch):
        monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
        monkeypatch.setattr("tamis.statistics.correlations.TILE", 7)
        X = np.asarray(holes(normal(300, 90)), order=order)
        one, many = (scores(X, n_jobs=n, relation=relation) for n in (1, 5))
        np.testing.assert_array_equal(one, many)

    def test_tiles_do_not_matter(self, monkeypatch):
        X = np.hstack([thin(missing=True), normal(50, 30)])
        whole = [scores(make(X)) for make in (np.asarray, sparse.csr_array)]
        monkeypatch.setattr("tamis.statistics.correlations.TILE", 5)
        tiles = [scores(make(X)) for make in (np.asarray, sparse.csr_array)]
        np.testing.assert_allclose(tiles, whole, rtol=1e-12)


class TestSparse:
    @pytest.mark.parametrize("relation", ["spearman", "pearson", "mutual_information"])
    @pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
    @pytest.mark.parametrize("missing", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_equals_dense(self, relation, make, missing, weighted):
        X = thin(missing=missing)
        weight = np.random.default_rng(21).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
        options = {"relation": relation, "sample_weight": weight}
        assert_close(scores(make(X), **options), scores(X, **options), rtol=1e-11)

    def test_equals_the_printed_algorithm(self):
        X = thin(missing=True)
        assert reference.inf_fs(X)[9] == 0
        assert_close(scores(sparse.csr_array(X)), reference.inf_fs(X))

    def test_stored_zeros_are_zeros(self):
        X = sparse.csr_array(thin())
        before = scores(X)
        stored = X.copy()
        stored.data[::3] = 0.0
        clean = stored.copy()
        clean.eliminate_zeros()
        assert stored.nnz > clean.nnz
        assert_close(scores(stored), scores(clean.toarray()), rtol=1e-11)
        assert not np.allclose(scores(stored), before)

    @pytest.mark.parametrize("memory_limit", [None, 1])
    def test_blocks(self, memory_limit, monkeypatch):
        monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 4)
        X = thin(missing=True)
        options = {"memory_limit": memory_limit, "precision": "double"}
        assert_close(scores(sparse.csr_array(X), **options), reference.inf_fs(X))

    def test_whole_is_not_made_dense(self, monkeypatch):
        # No part handed out is wider than a tile or a block.
        monkeypatch.setattr("tamis.statistics.correlations.TILE", 5)
        monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 6)
        widths = []
        plain = sparse.csr_array.toarray, sparse.csc_array.toarray

        def spy(function):
            return lambda self, *args, **options: (
                widths.append(self.shape) or function(self, *args, **options)
            )

        monkeypatch.setattr(sparse.csr_array, "toarray", spy(plain[0]))
        monkeypatch.setattr(sparse.csc_array, "toarray", spy(plain[1]))
        scores(sparse.csr_array(thin(n_columns=40)), memory_limit=1)
        assert widths
        assert max(min(shape) for shape in widths) <= 6


class TestPlan:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_blocks_equal_dense(self, alpha, monkeypatch):
        X = holes(np.hstack([normal(60, 12), normal(60, 11, seed=22)]), 0.05)
        expected = reference.inf_fs(X, alpha)
        for block, memory_limit in product((1, 7, 11, 1000), (None, 1)):
            monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", block)
            options = {"memory_limit": memory_limit}
            assert_close(scores(X, alpha, precision="double", **options), expected)
            assert_close(scores(X, alpha, precision="single", **options), expected, rtol=1e-6)

    @pytest.mark.parametrize("relation", ["pearson", "mutual_information"])
    def test_blocks_of_other_relations(self, relation, monkeypatch):
        X = holes(normal(60, 17))
        whole = scores(X, relation=relation)
        monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 5)
        for memory_limit in (None, 1):
            options = {"relation": relation, "memory_limit": memory_limit}
            assert_close(scores(X, precision="double", **options), whole, rtol=1e-11)
            assert_close(scores(X, precision="single", **options), whole, rtol=1e-6)

    @pytest.mark.parametrize(
        ("precision", "memory_limit", "kind", "dtype"),
        [
            ("auto", 8 * 20 * 20, "dense", "float64"),
            ("auto", 8 * 20 * 20 - 1, "blocks", "float64"),
            ("auto", 4 * 20 * 20 - 1, "blocks", "float64"),
            ("double", 8 * 20 * 20, "dense", "float64"),
            ("double", 8 * 20 * 20 - 1, "blocks", "float64"),
            ("single", 10**9, "dense", "float32"),
            ("single", 1, "blocks", "float32"),
        ],
    )
    def test_plan_is_what_was_asked(self, precision, memory_limit, kind, dtype):
        X = np.hstack([normal(30, 20), np.ones((30, 3))])  # constants need no memory
        fitted = InfFS(precision=precision, memory_limit=memory_limit).fit(X)
        assert (fitted.plan_.kind, fitted.plan_.dtype) == (kind, dtype)
        assert fitted.plan_.n_columns == 20
        if kind == "dense":
            assert fitted.plan_.n_bytes == 20 * 20 * np.dtype(dtype).itemsize <= memory_limit

    def test_default_limit_is_a_quarter_of_free_memory(self, monkeypatch):
        for free, kind in ((4 * 8 * 144, "dense"), (4 * 4 * 144 - 4, "blocks")):
            monkeypatch.setattr("tamis._runtime.memory.free_memory", lambda free=free: free)
            monkeypatch.setattr("tamis._runtime.memory.LEAST_BY_DEFAULT", 1)
            assert InfFS().fit(normal()).plan_.kind == kind

    def test_plan_is_logged(self, caplog):
        with caplog.at_level(logging.INFO, logger="tamis"):
            fitted = InfFS(memory_limit=1).fit(normal())
        assert str(fitted.plan_) in caplog.text

    @pytest.mark.slow
    def test_single_precision_ranks_colon_alike(self):
        if not os.environ.get("TAMIS_DATA"):
            pytest.skip("TAMIS_DATA is not set: the colon data are needed")
        X = tamis.datasets.load("colon").X
        double = InfFS(precision="double", n_features_to_select=100).fit(X)
        for memory_limit in (None, 1):
            options = {"precision": "single", "memory_limit": memory_limit}
            single = InfFS(n_features_to_select=100, **options).fit(X)
            top = X.shape[1] // 20
            np.testing.assert_array_equal(single.order_[:top], double.order_[:top])


class Recorder:
    """A callback that counts the steps, and may interrupt or end the fit."""

    def __init__(self, interrupt_at=None, stop_at=None):
        self.ended = []
        self.interrupt_at, self.stop_at = interrupt_at, stop_at

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        now = context.task_name, self.ended.count(context.task_name)
        if now == self.interrupt_at:
            raise KeyboardInterrupt
        return now == self.stop_at


class TestProgress:
    @pytest.fixture(autouse=True)
    def _small_blocks(self, monkeypatch):
        monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 7)

    def test_dense(self):
        recorder = Recorder()
        InfFS(memory_limit=10**9).set_callbacks(recorder).fit(normal(40, 20))
        assert recorder.ended.count("relations step") == 6  # three ranges, half of nine pairs
        assert "product step" not in recorder.ended
        assert recorder.ended[-1] == "fit"

    def test_blocks(self):
        recorder = Recorder()
        fitted = InfFS(memory_limit=1).set_callbacks(recorder).fit(normal(40, 20))
        assert recorder.ended.count("product step") == 6 * fitted.n_products_
        assert recorder.ended.count("product") == fitted.n_products_ > 1
        assert "relations step" not in recorder.ended

    @pytest.mark.parametrize(
        ("memory_limit", "when"),
        [(10**9, ("relations step", 4)), (1, ("product step", 8))],
    )
    def test_interrupted(self, memory_limit, when):
        X = normal(40, 20)
        selector = InfFS(memory_limit=memory_limit).fit(X[:, :9])
        selector.set_callbacks(Recorder(interrupt_at=when))
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X)
        assert not hasattr(selector, "scores_")
        with pytest.raises(NotFittedError):
            selector.transform(X)
        assert_close(selector.set_callbacks().fit(X).scores_, reference.inf_fs(X), rtol=1e-6)

    @pytest.mark.parametrize(
        ("memory_limit", "when", "done"),
        [(10**9, ("relations step", 4), 4), (1, ("product step", 8), 2)],
    )
    def test_ended_by_a_callback(self, memory_limit, when, done):
        selector = InfFS(memory_limit=memory_limit).set_callbacks(Recorder(stop_at=when))
        with pytest.raises(TamisError, match=f"got {done} of 6 blocks"):
            selector.fit(normal(40, 20))
        assert not hasattr(selector, "scores_")

    def test_ended_by_a_callback_after_the_last_block(self):
        X = normal(40, 20)
        recorder = Recorder(stop_at=("relations step", 6))
        fitted = InfFS(memory_limit=10**9).set_callbacks(recorder).fit(X)
        assert_close(fitted.scores_, reference.inf_fs(X))


class TestConstants:
    @pytest.mark.parametrize("alpha", [0.0, 0.05, 0.5])
    def test_are_never_first(self, alpha):
        # Published code takes their undefined correlation for 0: "repeats nothing", and so best.
        rng = np.random.default_rng(23)
        X = rng.normal(size=(50, 1)) + 0.3 * rng.normal(size=(50, 8))
        X[:, 3] = 4.0
        published = reference.graph_matrix(X[:, [0, 1, 2, 4, 5, 6, 7]], alpha)
        with_constant = np.zeros((8, 8))
        others = [0, 1, 2, 4, 5, 6, 7]
        with_constant[np.ix_(others, others)] = published
        share = X.std(axis=0, ddof=1) / X.std(axis=0, ddof=1).max()
        with_constant[3] = with_constant[:, 3] = alpha * share + (1 - alpha)
        if alpha < 0.1:
            assert reference.walk_scores(with_constant).argmax() == 3
        fitted = InfFS(alpha=alpha, n_features_to_select=7).fit(X)
        assert fitted.order_[-1] == 3
        assert fitted.scores_[3] == 0
        assert not fitted.support_[3]

    def test_nothing_varies(self):
        with pytest.raises(InputError, match=r"InfFS: expected at least one column with two diff"):
            InfFS().fit(np.full((5, 3), [1.0, 2.0, np.nan]))

    def test_leave_the_others_alone(self):
        X = with_constants()
        fitted = InfFS().fit(X)
        np.testing.assert_array_equal(np.flatnonzero(fitted.constant_), [0, 5, 11])
        varying = ~fitted.constant_
        assert_close(fitted.scores_[varying], scores(X[:, varying]), rtol=1e-12)


class TestBadInput:
    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
    def test_infinite(self, make):
        X = normal()
        X[4, 7] = -np.inf
        with pytest.raises(InputError, match=r"InfFS: .*inf in column 7\."):
            InfFS().fit(make(X))

    def test_infinite_in_a_named_column(self):
        frame = pd.DataFrame(normal(n_columns=3), columns=["a", "b", "the third"])
        frame.iloc[2, 2] = np.inf
        with pytest.raises(InputError, match="'the third'"):
            InfFS().fit(frame)

    def test_values_without_a_square(self):
        X = normal()
        X[:, 4] *= 1e200
        with pytest.raises(InputError, match=r"below 1e150, .* in column 4.*Rescale"):
            InfFS().fit(X)
        X[:, 4] = 1e200  # a constant column is not asked for its square
        assert_close(scores(X)[:4], scores(np.delete(X, 4, axis=1))[:4])

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"alpha": 1.4}, r"alpha must be a float in \[0, 1\], got 1.4\."),
            ({"alpha": -0.1}, "alpha must be"),
            ({"alpha": None}, "alpha must be"),
            ({"damping": 1.0}, r"damping must be a float in \(0, 1\), got 1.0"),
            ({"damping": 0}, "damping must be"),
            ({"relation": "kendall"}, "relation must be 'spearman', 'pearson', .*got 'kendall'"),
            ({"memory_limit": 0}, "memory_limit must be a positive number of bytes"),
            ({"memory_limit": "much"}, "memory_limit must be"),
            ({"precision": "half"}, "precision must be 'auto' or 'double' or 'single'"),
            ({"n_jobs": 0}, "n_jobs must be"),
            ({"n_features_to_select": "best"}, "n_features_to_select must be"),
        ],
    )
    def test_parameters(self, wrong, message):
        with pytest.raises(InputError, match=f"InfFS: {message}"):
            InfFS(**wrong).fit(normal())


def iris_ranks(kind, **options):
    """Ranks of the four originals among 20 columns, in the paper's 20 draws."""
    draws = [make_iris_combinations(kind=kind, random_state=seed) for seed in range(20)]
    return np.array([InfFS(**options).fit(draw.X).ranking_[draw.relevant] for draw in draws])


def test_iris_mixtures():
    """Originals rise over mixtures in the linear case, and not when sines are mixed.

    The paper's section 4.1, seen without dispersion (alpha = 0), since the mixtures' deviations
    say nothing about relations. By chance, the mean rank would be 10.5; perfect is 2.5.
    """
    linear, sine = (
        iris_ranks(kind, alpha=0.0, n_features_to_select=4) for kind in ("linear", "sine")
    )
    assert linear.mean() < 6.0
    assert 8.5 < sine.mean() < 12.5
    assert (linear.mean(axis=1) < sine.mean(axis=1)).sum() >= 18
    # Sepal width, which the other three do not follow, is first nearly always.
    assert (linear[:, 1] == 1).sum() >= 15
    assert (sine[:, 1] == 1).sum() <= 10


@pytest.mark.slow
def test_iris_mixtures_do_not_all_fall_below_the_originals():
    """The paper's stronger claim does not hold: petal length and width repeat each other."""
    for alpha in (0.0, 0.1, 0.5):
        ranks = iris_ranks("linear", alpha=alpha, n_features_to_select=4)
        assert (ranks.max(axis=1) == 4).sum() < 10
    petals = reference.spearman(*load_iris().data[:, 2:].T, np.ones(150))
    assert petals > 0.9


def test_scores_grow_with_damping():
    X = normal()
    for small, large in pairwise(scores(X, damping=d) for d in (0.1, 0.5, 0.9, 0.99)):
        assert (large > small).all()


class TestPrecision:
    """Single precision is used for large tables only, and not where it would lose digits."""

    @pytest.fixture(autouse=True)
    def every_table_is_large(self, monkeypatch):
        monkeypatch.setattr("tamis.graph.relation_matrix.QUICK_PRODUCT", 0.0)

    @pytest.mark.parametrize("alpha", [0.0, 0.5])
    @pytest.mark.parametrize("noise", [1.0, 0.3, 0.1, 1e-2, 1e-4])
    def test_scores_have_five_digits(self, noise, alpha):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 1)) + noise * rng.normal(size=(100, 40))
        found = InfFS(alpha=alpha).fit(X)
        exact = InfFS(alpha=alpha, precision="double").fit(X)
        np.testing.assert_allclose(found.scores_, exact.scores_, rtol=1e-5)
        assert found.precision_ == ("double" if alpha == 0 and noise < 1 else "single")
        assert exact.precision_ == "double"
        path = InfFS().path(X, [alpha])[0]
        np.testing.assert_allclose(path, exact.scores_, rtol=1e-5)

    def test_single_precision_can_be_had(self):
        X = np.random.default_rng(0).normal(size=(50, 1)) + 1e-3 * np.eye(50)
        fitted = InfFS(alpha=0, precision="single", n_features_to_select=2).fit(X)
        assert fitted.precision_ == "single"

    def test_files_warn(self, tmp_path):
        rng = np.random.default_rng(0)
        np.save(tmp_path / "x.npy", rng.normal(size=(60, 1)) + 1e-3 * rng.normal(size=(60, 9)))
        with pytest.warns(SelectionWarning, match=r"InfFS: .* nearly collinear"):
            InfFS(alpha=0, n_features_to_select=2).fit(tamis.scan(tmp_path / "x.npy"))


@pytest.mark.parametrize("memory_limit", [None, 1000])
def test_little_memory_keeps_the_precision(memory_limit):
    X = np.random.default_rng(0).normal(size=(50, 30))
    assert InfFS(memory_limit=memory_limit).fit(X).precision_ == "double"
