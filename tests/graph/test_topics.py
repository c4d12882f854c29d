"""The two topics behind token counts: expectation maximisation, free and anchored."""

import numpy as np
import pytest

from reference import ilfs as plain
from tamis.graph.ilfs import COLUMN_PRIOR, TwoTopics, topics_at_start

ANCHORS = [0.0, 0.1, 1.0, 10.0, np.inf]


def random_counts(seed=0, n_columns=30, n_tokens=6):
    rng = np.random.default_rng(seed)
    shape = rng.dirichlet(np.ones(n_tokens), n_columns)
    counts = np.array([rng.multinomial(50, row) for row in shape]).astype(float)
    counts[3, :] = 0.0
    counts[3, -1] = 50.0  # a column of one token
    return counts


def run(counts, anchor, max_iter=300, tol=1e-10):
    model = TwoTopics(np.asarray(counts, dtype=np.float64), anchor)
    for _ in model.iterate(max_iter, tol):
        pass
    return model


def test_start_by_hand():
    np.testing.assert_allclose(topics_at_start(3), [[1 / 6, 2 / 6, 3 / 6], [3 / 6, 2 / 6, 1 / 6]])


def test_one_step_by_hand():
    # Two tokens: P(t|z) starts as 1/3, 2/3 and 2/3, 1/3. A column of three upper tokens expects
    # 3 * 2/3 = 2 of them from the relevant topic; its mirror image expects 1.
    counts = [[0.0, 3.0], [3.0, 0.0]]
    free = run(counts, 0.0, max_iter=1)
    np.testing.assert_allclose(free.p, [2 / 3, 1 / 3])
    np.testing.assert_allclose(free.profile, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])
    assert free.path[0] == pytest.approx(6 * np.log(0.5))
    # Anchored: the prior on p weighs COLUMN_PRIOR * 6 / 2, half for each topic; that on a topic
    # weighs 1 * 6 / 2 and has the shape of the start, which is that of the expected counts here.
    anchored = run(counts, 1.0, max_iter=1)
    half = COLUMN_PRIOR * 3 / 2
    np.testing.assert_allclose(
        anchored.p, [(2 + half) / (3 + 2 * half), (1 + half) / (3 + 2 * half)]
    )
    np.testing.assert_allclose(anchored.profile, free.profile)


@pytest.mark.parametrize("n_iter", [1, 2, 25])
def test_free_topics_are_the_algorithm_as_printed(n_iter):
    counts = random_counts(n_columns=12)
    model = run(counts, 0.0, max_iter=n_iter, tol=0.0)
    p, profile, path = plain.free_topics(counts, n_iter)
    np.testing.assert_allclose(model.p, p, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(model.profile, profile, rtol=1e-10)
    np.testing.assert_allclose(model.path, path, rtol=1e-12)


@pytest.mark.parametrize("anchor", [0.1, 1.0, 10.0])
def test_anchored_topics_equal_the_plain_algorithm(anchor):
    counts = random_counts(1, n_columns=12)
    model = run(counts, anchor, max_iter=20, tol=0.0)
    p, profile, path = plain.anchored_topics(counts, len(model.path) - 1, anchor, COLUMN_PRIOR)
    np.testing.assert_allclose(model.p, p, rtol=1e-11)
    np.testing.assert_allclose(model.profile, profile, rtol=1e-11)
    np.testing.assert_allclose(model.path, path, rtol=1e-12)


@pytest.mark.parametrize("anchor", ANCHORS)
@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_never_falls(anchor, seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(seed, n_columns=40, n_tokens=int(rng.integers(2, 9)))
    counts *= rng.uniform(0.1, 3.0, size=(40, 1))
    path = np.array(run(counts, anchor, max_iter=400, tol=0.0).path)
    assert (np.diff(path) >= -1e-12 * np.abs(path[1:])).all()
    assert path[-1] > path[0]


@pytest.mark.parametrize("anchor", [0.1, 1.0, 10.0])
def test_converged_parameters_are_a_maximum(anchor):
    model = run(random_counts(2), anchor, max_iter=5000, tol=1e-14)
    best = model._objective()
    p, profile = model.p, model.profile
    rng = np.random.default_rng(0)
    for _ in range(50):
        model.p = np.clip(p + 1e-3 * rng.normal(size=p.size), 1e-6, 1 - 1e-6)
        model.q = 1.0 - model.p
        model.profile = profile * np.exp(1e-3 * rng.normal(size=profile.shape))
        model.profile /= model.profile.sum(axis=1, keepdims=True)
        assert model._objective() < best


def test_an_infinite_anchor_keeps_the_topics():
    model = run(random_counts(), np.inf)
    np.testing.assert_array_equal(model.profile, topics_at_start(6))
    strong = run(random_counts(), 1e9)
    np.testing.assert_allclose(strong.profile, model.profile, rtol=1e-6)
    np.testing.assert_allclose(strong.p, model.p, rtol=1e-3)


@pytest.mark.parametrize("anchor", ANCHORS)
def test_the_unit_of_the_weights_does_not_matter(anchor):
    counts = random_counts(3)
    one, other = run(counts, anchor), run(counts * 0.37, anchor)
    np.testing.assert_allclose(other.p, one.p, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(other.profile, one.profile, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("anchor", ANCHORS)
def test_equal_columns_are_equal_to_the_last_bit(anchor):
    counts = random_counts(4, n_columns=37)
    p = run(np.vstack([counts, counts[:5]]), anchor).p
    np.testing.assert_array_equal(p[:5], p[-5:])


def test_the_relevant_topic_is_the_one_with_the_higher_tokens():
    counts = random_counts(5)
    straight, turned = TwoTopics(counts, 0.0), TwoTopics(counts, 0.0)
    turned.profile = turned.profile[::-1].copy()
    for model in (straight, turned):
        list(model.iterate(30, 0.0))
    assert straight.profile[0] @ np.arange(6) > straight.profile[1] @ np.arange(6)
    assert turned.profile[0] @ np.arange(6) < turned.profile[1] @ np.arange(6)
    for one, other in zip(straight.result(), turned.result(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_stops_when_nothing_is_gained():
    model = run(random_counts(), 10.0, max_iter=500, tol=1e-7)
    assert model.converged
    gains = np.diff(model.path) / np.abs(model.path[1:])
    assert gains[-1] <= 1e-7
    assert (gains[:-1] > 1e-7).all()
    assert not run(random_counts(), 0.0, max_iter=2, tol=0.0).converged


def test_no_columns_and_one_column():
    assert run(np.empty((0, 6)), 1.0).converged
    one = run([[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]], 10.0)
    assert one.p[0] > 0.5
    assert one.result()[0].shape == (1,)
