"""The three updates: unbiased by enumeration, projection against a quadratic program."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from reference import ofw as twin
from tamis.weighting import _update_kernels as kernels
from tamis.weighting._learning import Diffusion, Euclidean, Riemannian

# Worker processes that start and end: long, and in need of both cores.
pytestmark = pytest.mark.slow

N, K = 5, 3


@pytest.fixture(params=range(3))
def problem(request):
    """A probability and an error for every subset of columns."""
    rng = np.random.default_rng(request.param)
    P = (rng.dirichlet(np.ones(N)) + 1 / N) / 2  # so that no single step leaves the simplex
    table = rng.random(2**N)
    return P, lambda draw: table[sum(1 << int(j) for j in set(draw.tolist()))]


def expected_move(process, P, error, baseline, step, **options):
    """Mean over all draws of what one step of the real kernel does to log P or P."""
    total = np.zeros(N)
    for draw, p in twin.all_draws(P, K):
        moved = process(P)
        excess = np.array([error(draw) - baseline])
        assert moved.step(draw[None], excess, step, **options)
        total += p * (moved.weights() - P)
    return total / step


STEP = 1e-6  # the mean move is step times the drift, plus step^2 times what is not linear


class TestDrift:
    @pytest.mark.parametrize("baseline", [0.0, 0.37])
    def test_riemannian_expectation_is_the_projected_gradient(self, problem, baseline):
        P, error = problem
        drift = sum(
            p * twin.riemannian_drift(P, draw, error(draw) - baseline)
            for draw, p in twin.all_draws(P, K)
        )
        exact = twin.project_tangent(twin.log_gradient(P, K, error), P)
        np.testing.assert_allclose(drift, exact, atol=1e-14)
        move = expected_move(Riemannian, P, error, baseline, STEP, noise=None)
        np.testing.assert_allclose(move, -P * exact, atol=1e-5)

    @pytest.mark.parametrize("baseline", [0.0, 0.37])
    def test_euclidean_expectation_is_the_projected_gradient(self, problem, baseline):
        P, error = problem
        exact = twin.project_plane(twin.gradient(P, K, error))
        drift = sum(
            p * twin.euclidean_drift(P, draw, error(draw) - baseline)
            for draw, p in twin.all_draws(P, K)
        )
        np.testing.assert_allclose(drift, exact, atol=1e-13)
        move = expected_move(Euclidean, P, error, baseline, STEP, noise=None)
        np.testing.assert_allclose(move, -exact, atol=1e-9)

    @pytest.mark.parametrize("baseline", [0.0, 0.37])
    def test_diffusion_expectation_is_the_projected_gradient(self, problem, baseline):
        """Inside the simplex the projection is that on its plane, so noise averages out."""
        P, error = problem
        exact = twin.project_plane(twin.gradient(P, K, error))
        total = np.zeros(N)
        wobble = 1e-4 * np.random.default_rng(0).normal(size=N)
        for noise in (wobble, -wobble):
            total += expected_move(Diffusion, P, error, baseline, STEP, noise=noise)
        np.testing.assert_allclose(total / 2, -exact, atol=1e-7)

    def test_gradient_is_the_derivative_of_the_energy(self, problem):
        """The twin itself, by finite differences along the simplex."""
        P, error = problem
        direction = twin.project_plane(np.random.default_rng(1).normal(size=N))
        h = 1e-6
        slope = (
            twin.energy(P + h * direction, K, error) - twin.energy(P - h * direction, K, error)
        ) / (2 * h)
        assert slope == pytest.approx(twin.gradient(P, K, error) @ direction, rel=1e-6)

    def test_figure_4_as_printed_is_not_the_gradient(self):
        """Documentation: the sign of kappa and the missing q move P away from the gradient."""
        worse = 0
        gaps = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            P, table = rng.dirichlet(np.ones(N)), rng.random(2**N)

            def error(draw, table=table):
                return table[sum(1 << int(j) for j in set(draw.tolist()))]

            exact = twin.project_tangent(twin.log_gradient(P, K, error), P)
            printed = sum(
                p * twin.printed_riemannian_drift(P, draw, error(draw))
                for draw, p in twin.all_draws(P, K)
            )
            gaps.append(np.abs(printed - exact).max())
            moved = P * np.exp(-1e-4 * printed)
            moved /= moved.sum()
            worse += twin.energy(moved, K, error) > twin.energy(P, K, error)
        assert min(gaps) > 0.1
        assert 10 <= worse <= 30  # it raises the energy in about half of the cases

    def test_the_corrected_step_lowers_the_energy(self, problem):
        P, error = problem
        exact = twin.project_tangent(twin.log_gradient(P, K, error), P)
        moved = P * np.exp(-1e-3 * exact)
        assert twin.energy(moved / moved.sum(), K, error) < twin.energy(P, K, error)


@pytest.mark.parametrize("process", [Riemannian, Euclidean, Diffusion])
def test_several_draws_are_averaged(process):
    """One step with three draws moves, to first order, by the mean of three steps."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(8))
    draws, excess = rng.integers(0, 8, (3, 4)), rng.normal(size=3) * 0.1
    noise = np.zeros(8)
    together = process(P)
    together.step(draws, excess, 1e-5, noise)
    moves = []
    for d in range(3):
        alone = process(P)
        alone.step(draws[d : d + 1], excess[d : d + 1], 1e-5, noise)
        moves.append(alone.weights() - P)
    np.testing.assert_allclose(together.weights() - P, np.mean(moves, axis=0), atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("process", [Riemannian, Euclidean, Diffusion])
def test_draws_follow_the_probability(process, n):
    """Inverting the cumulative sum: the column is where the running sum passes the number."""
    rng = np.random.default_rng(n)
    P = rng.dirichlet(np.ones(n))
    moved = process(P)
    moved.step(rng.integers(0, n, (1, 3)), np.array([0.2]), 1e-4 / n**2, np.zeros(n))
    uniforms = rng.random((50, 20))
    expected = np.searchsorted(np.cumsum(moved.weights()), uniforms * moved.weights().sum())
    np.testing.assert_array_equal(moved.draw(uniforms), expected)
    edges = moved.draw(np.array([[0.0, np.nextafter(1.0, 0.0)]]))
    assert edges.min() == 0
    assert edges.max() == n - 1


class TestEuclidean:
    def test_equals_the_dense_formula_over_many_steps(self):
        rng = np.random.default_rng(0)
        n = 37
        P = np.full(n, 1 / n)
        tree = Euclidean(P)
        for _ in range(500):
            draw, q = rng.integers(0, n, 4), rng.normal() * 0.1
            P = P - 1e-5 * twin.euclidean_drift(P, draw, q)
            assert tree.step(draw[None], np.array([q]), 1e-5, None)
        np.testing.assert_allclose(tree.weights(), P, rtol=1e-10)
        assert tree.weights().sum() == pytest.approx(1, abs=1e-12)

    def test_a_step_out_of_the_simplex_is_refused_and_undone(self):
        P = np.array([0.01, 0.49, 0.5])
        tree = Euclidean(P)
        assert not tree.step(np.array([[0, 0, 1]]), np.array([1.0]), 1e-3, None)
        np.testing.assert_array_equal(tree.weights(), P)
        # Columns that were not drawn may leave it as well: all sink alike.
        assert not tree.step(np.array([[1, 1, 1]]), np.array([-1.0]), 0.02, None)
        np.testing.assert_array_equal(tree.weights(), P)
        assert tree.step(np.array([[1, 1, 1]]), np.array([-1.0]), 1e-4, None)


class TestProjection:
    @pytest.mark.parametrize("seed", range(20))
    def test_equals_sorting_and_the_papers_recursion(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=rng.integers(1, 30)) * rng.choice([0.01, 1, 100])
        found = x.copy()
        kernels.project_on_simplex(found)
        np.testing.assert_allclose(found, twin.project_simplex(x), atol=1e-12)
        np.testing.assert_allclose(found, twin.printed_projection(x), atol=1e-10)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1, abs=1e-12)

    @pytest.mark.parametrize("seed", range(5))
    def test_solves_the_quadratic_program(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=6)
        found = x.copy()
        kernels.project_on_simplex(found)
        program = minimize(
            lambda p: ((p - x) ** 2).sum(),
            np.full(6, 1 / 6),
            jac=lambda p: 2 * (p - x),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(6)},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(found, program.x, atol=1e-6)

    def test_a_point_of_the_simplex_stays(self):
        for corner in itertools.chain(np.eye(4), [np.full(4, 0.25)]):
            x = corner.copy()
            kernels.project_on_simplex(x)
            np.testing.assert_allclose(x, corner, atol=1e-15)

    def test_large_entries_cancel_nothing(self):
        x = np.array([1e8, 1e8 - 0.5, 0.0])
        kernels.project_on_simplex(x)
        np.testing.assert_allclose(x, [0.75, 0.25, 0.0], atol=1e-7)

    def test_ends_on_tied_entries(self):
        # 0.1 and 0.2 leave the active set, and rounding would bring 0.2 back, for ever.
        for x in ([0.1, 0.2, 1.0], [0.2, 0.1, 1.0, 0.1], [1 / 3, 1 / 3, 4 / 3]):
            found = np.array(x)
            kernels.project_on_simplex(found)
            np.testing.assert_allclose(found, twin.project_simplex(np.array(x)), atol=1e-15)

    @pytest.mark.parametrize("seed", range(20))
    def test_ends_on_any_mixture_of_ties(self, seed):
        rng = np.random.default_rng(seed)
        levels = [0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1.0, 1.1, -1, 1e-17, 1e17]
        for _ in range(1000):
            found = rng.choice(levels, rng.integers(1, 8))
            kernels.project_on_simplex(found)
            assert found.min() >= 0
            assert found.sum() == pytest.approx(1, abs=1e-12)
