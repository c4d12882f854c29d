"""Samplers of knockoffs: covariances as promised, optimal distances, margins that are kept."""

import numpy as np
import pytest

from reference.knockoffs import reconstructability
from tamis.certainty import GaussianKnockoffs, LowRankKnockoffs
from tamis.certainty._distances import choose_distances
from tamis.certainty._latent import GaussianMargins
from tamis.certainty.low_rank_knockoffs import find_factors, low_rank_distances, prepare_low_rank
from tamis.exceptions import InputError


def chain(p, rho=0.5):
    return rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


def one_factor(p, rng):
    U = rng.uniform(-0.6, 0.6, (p, 2))
    return U, np.diag(1 - (U**2).sum(axis=1)) + U @ U.T


def joint_deviation(X, copy, S, s):
    """Largest deviation of the joint covariance from the promise, in standard errors."""
    promised = np.block([[S, S - np.diag(s)], [S - np.diag(s), S]])
    found = np.cov(np.hstack([X, copy]).T)
    sizes = np.diag(promised)
    errors = np.sqrt((np.outer(sizes, sizes) + promised**2) / len(X))
    return np.abs((found - promised) / errors).max()


@pytest.mark.parametrize("s", ["mrc", "sdp", "equicorrelated"])
def test_covariance_is_the_promised_one(s):
    """A released package forgets to transpose a Cholesky factor and is off by 1.1."""
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.5, 3, 12)
    S = chain(12) * np.outer(scale, scale)
    X = rng.multivariate_normal(np.full(12, 5.0), S, size=40_000)
    prepared = GaussianKnockoffs(covariance=S, mean=5.0, s=s).prepare(X, rng)
    copy = prepared.draw(rng)
    assert joint_deviation(X, copy, S, prepared.distances * scale**2) < 4.5
    assert abs(copy.mean() - 5) < 0.05
    found = prepared.deviation(rng)
    assert found["largest"] < 1.3 * found["expected_largest"]


def test_low_rank_covariance_is_the_promised_one():
    rng = np.random.default_rng(1)
    U, S = one_factor(15, rng)
    X = rng.multivariate_normal(np.zeros(15), S, size=40_000)
    prepared = prepare_low_rank(GaussianMargins(X, np.zeros(15), np.ones(15)), U)
    assert joint_deviation(X, prepared.draw(rng), S, prepared.distances) < 4.5
    np.testing.assert_allclose(prepared.covariance(np.arange(15)), S)


def test_low_rank_matches_the_dense_conditional_law():
    """Mean and covariance of copies given the table, against the formulas with full matrices."""
    rng = np.random.default_rng(2)
    U, S = one_factor(8, rng)
    X = rng.normal(size=(3, 8))
    prepared = prepare_low_rank(GaussianMargins(X, np.zeros(8), np.ones(8)), U)
    D = np.diag(prepared.distances)
    np.testing.assert_allclose(prepared.mean, X - X @ np.linalg.inv(S) @ D, atol=1e-12)
    V = 2 * D - D @ np.linalg.inv(S) @ D
    noise = prepared.noise(200_000, rng)
    np.testing.assert_allclose(np.cov(noise.T), V, atol=0.02)


def test_a_wrong_sampler_is_noticed():
    """The diagnosis sees an untransposed factor."""
    rng = np.random.default_rng(0)
    S = np.full((30, 30), 0.8) + 0.2 * np.eye(30)
    X = rng.multivariate_normal(np.zeros(30), S, size=2_000)
    prepared = GaussianKnockoffs(covariance=S, mean=0.0, s="equicorrelated").prepare(X, rng)
    found = prepared.deviation(rng)
    assert found["largest"] < 1.3 * found["expected_largest"]
    s = np.diag(prepared.distances)
    V = 2 * s - s @ np.linalg.inv(S) @ s
    L = np.linalg.cholesky(V + 1e-9 * np.eye(30))
    prepared.noise = lambda n_rows, rng: rng.standard_normal((n_rows, 30)) @ L
    found = prepared.deviation(rng)
    assert found["largest"] > 1.5 * found["expected_largest"]


@pytest.mark.parametrize("p", [5, 33, 70])
def test_minimum_reconstructability(p):
    """No single distance, nor all of them together, can be changed for the better."""
    S = chain(p, 0.7)
    s = choose_distances(S, "mrc")
    best = reconstructability(S, s)
    for change in (0.99, 1.01):
        assert reconstructability(S, s * change) > best
        for j in range(0, p, 4):
            other = s.copy()
            other[j] *= change
            assert reconstructability(S, other) > best - 1e-7 * best


def test_equal_correlations_have_known_optima():
    S = np.full((6, 6), 0.6) + 0.4 * np.eye(6)
    np.testing.assert_allclose(choose_distances(S, "equicorrelated"), 0.8, rtol=1e-5)
    np.testing.assert_allclose(choose_distances(S, "sdp"), 0.8, atol=0.01)
    for kind in ("mrc", "sdp", "equicorrelated"):
        np.testing.assert_allclose(choose_distances(np.eye(6), kind), 1.0, atol=0.01)


@pytest.mark.parametrize("kind", ["mrc", "sdp", "equicorrelated"])
def test_distances_are_feasible(kind):
    for S in (chain(90, 0.9), chain(40, 0.3)):
        s = choose_distances(S, kind)
        assert ((s > 0) & (s <= 1)).all()
        assert np.linalg.eigvalsh(2 * S - np.diag(s))[0] > -1e-9
    if kind == "sdp":
        assert s.mean() >= choose_distances(S, "equicorrelated").mean() - 0.01


@pytest.mark.slow
def test_many_features_lose_no_digits():
    """A chain has s of 2 / 3 inside, and more at its ends, whatever its length."""
    s = choose_distances(chain(600), "sdp")
    assert s.mean() > 2 / 3
    np.testing.assert_allclose(s[100:-100], 2 / 3, atol=1e-3)


def test_given_distances_are_shrunk_where_needed():
    np.testing.assert_allclose(choose_distances(np.eye(3), [0.5, 0.6, 0.7]), [0.5, 0.6, 0.7])
    S = np.array([[1, 0.8], [0.8, 1]])
    np.testing.assert_allclose(choose_distances(S, [1.0, 1.0]), 0.4, rtol=1e-5)


def test_low_rank_distances_are_nearly_optimal():
    U, S = one_factor(40, np.random.default_rng(3))
    s = low_rank_distances(1 - (U**2).sum(axis=1), U)
    best = reconstructability(S, choose_distances(S, "mrc"))
    assert reconstructability(S, s) < best * 1.001


def test_factors_are_found_in_noise():
    rng = np.random.default_rng(4)
    U, _ = one_factor(400, rng)
    own = np.sqrt(1 - (U**2).sum(axis=1))
    Z = rng.normal(size=(500, 2)) @ U.T + rng.normal(size=(500, 400)) * own
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    found = find_factors(Z, None, rng)
    assert found.shape == (400, 2)
    assert np.abs(found @ found.T - U @ U.T).mean() < 0.03
    assert find_factors(rng.normal(size=(100, 300)), None, rng).shape == (300, 0)
    assert find_factors(Z, 5, rng).shape == (400, 5)


@pytest.mark.parametrize("sampler", [GaussianKnockoffs(), LowRankKnockoffs()])
def test_margins_are_kept(sampler):
    """Heavy tails, few values and a constant: copies have values of the column, in its shares."""
    rng = np.random.default_rng(5)
    n = 4_000
    X = np.column_stack([rng.standard_t(2, n), rng.integers(0, 3, n), np.exp(rng.normal(size=n))])
    X = np.column_stack([X, X[:, 1] + rng.integers(0, 2, n), np.full(n, 7.0)])
    copy = sampler(X, rng)
    for j in range(5):
        assert np.isin(copy[:, j], X[:, j]).all()
        for q in (0.1, 0.5, 0.9):
            below = (copy[:, j] <= np.quantile(X[:, j], q)).mean()
            assert abs(below - (X[:, j] <= np.quantile(X[:, j], q)).mean()) < 0.04
    # Ranks of equal values are drawn at random, so that relations of few values are weakened.
    assert np.corrcoef(copy[:, 1], copy[:, 3])[0, 1] > 0.5


def test_duplicated_columns_do_not_crash():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 5))
    X = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]])
    S = np.cov(X.T)
    prepared = GaussianKnockoffs(covariance=S).prepare(X, rng)
    copy = prepared.draw(rng)
    assert np.isfinite(copy).all()
    assert prepared.distances[0] < 0.01 < prepared.distances[3]


def test_equal_settings_are_equal():
    S = np.eye(3)
    assert GaussianKnockoffs(S) == GaussianKnockoffs(S.copy())
    assert GaussianKnockoffs(S) != GaussianKnockoffs(2 * S)
    assert GaussianKnockoffs(s="sdp") != GaussianKnockoffs()
    assert GaussianKnockoffs() != LowRankKnockoffs()
    assert LowRankKnockoffs(rank=3) == LowRankKnockoffs(rank=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianKnockoffs(s="best"), "s must be 'mrc' or 'sdp' or 'equicorrelated'"),
        (lambda: GaussianKnockoffs(margins="any"), "margins must be 'auto' or"),
        (lambda: LowRankKnockoffs(rank=-1), "rank must be an int of at least 0 or None"),
        (lambda: LowRankKnockoffs(margins="auto"), "margins must be 'ranks' or 'gaussian'"),
        (lambda: GaussianKnockoffs(np.eye(3))(np.zeros((4, 2)), None), r"shape \(2, 2\)"),
        (lambda: GaussianKnockoffs(-np.eye(2))(np.zeros((4, 2)), None), "positive diagonal"),
        (lambda: GaussianKnockoffs(s=[0.5])(np.ones((4, 2)), None), r"\(2\), got shape \(1,\)"),
        (lambda: GaussianKnockoffs()(np.full((4, 2), np.nan), None), "missing or infinite values"),
        (lambda: LowRankKnockoffs()(np.zeros(4), None), r"got shape \(4,\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InputError, match=message):
        make()
