import numpy as np
import pytest

from tamis.datasets import make_ofw_ternary
from tamis.exceptions import InputError

# Section 5.1.1 of the paper, worked by hand with q = 0.9. Every relevant feature is in two of the
# three sets of its class, so it is 1 with probability 0.9 * 2/3 + 0.4 / 3.
SERVES = {1: [0, 2, 4, 6], 2: [1, 3, 5, 7], 3: [0, 3, 7, 8]}
P_RELEVANT, P_OTHER = 0.6 + 0.4 / 3, 1 / 3


@pytest.fixture(scope="module")
def large():
    return make_ofw_ternary(n_samples=60_000, n_features=12, random_state=1)


def test_structure():
    data = make_ofw_ternary(random_state=0)
    assert data.X.shape == (500, 100)
    assert set(np.unique(data.X)) == {-1.0, 0.0, 1.0}
    assert np.bincount(data.y).tolist() == [167, 167, 166]
    assert data.relevant.tolist() == list(range(9))
    assert data.reusable.tolist() == [0, 3, 7]
    assert data.feature_names[:2] == ["delta1", "delta2"]
    assert [[group.tolist() for group in sets] for sets in data.groups] == [
        [[0, 2, 4, 6], [0, 4], [2, 6]],
        [[1, 3, 5, 7], [1, 3], [5, 7]],
        [[0, 3, 7, 8], [0, 7], [3, 8]],
    ]


def test_exact_probabilities():
    expected = np.full((3, 100), P_OTHER)
    for label, columns in SERVES.items():
        expected[label - 1, columns] = P_RELEVANT
    np.testing.assert_allclose(make_ofw_ternary(random_state=0).probability_of_one, expected)


def test_frequencies_follow_the_probabilities(large):
    for label in range(3):
        rows = large.X[large.y == label]
        # Five standard errors of a proportion over 20 000 rows, for 36 proportions.
        np.testing.assert_allclose(
            (rows == 1).mean(axis=0), large.probability_of_one[label], atol=5 * 0.5 / 20_000**0.5
        )
        np.testing.assert_allclose(
            (rows == -1).mean(axis=0), (rows == 0).mean(axis=0), atol=5 * 0.7 / 20_000**0.5
        )


def test_components_hold_their_set_at_one_and_nothing_else(large):
    shares = np.bincount(large.component) / 60_000
    np.testing.assert_allclose(shares, [0.3, 0.3, 0.3, 0.1], atol=5 * 0.5 / 60_000**0.5)
    for label, sets in enumerate(large.groups):
        for number in range(4):
            rows = large.X[(large.y == label) & (large.component == number)]
            always = np.flatnonzero((rows == 1).all(axis=0))
            assert always.tolist() == (sets[number].tolist() if number < 3 else [])


def test_features_outside_the_set_are_independent_within_a_component(large):
    rows = large.X[(large.y == 0) & (large.component == 1)]
    free = [column for column in range(12) if column not in (0, 4)]
    correlation = np.corrcoef(rows[:, free], rowvar=False) - np.eye(len(free))
    assert np.abs(correlation).max() < 5 / len(rows) ** 0.5


def test_conditional_entropies_of_the_documentation():
    probability = make_ofw_ternary(random_state=0).probability_of_one

    def entropy(column):
        one = probability[:, column]
        joint = np.stack([one, (1 - one) / 2, (1 - one) / 2]) / 3
        given = joint / joint.sum(axis=1, keepdims=True)
        return -(joint * np.log(given)).sum()

    np.testing.assert_allclose(entropy(50), np.log(3))
    np.testing.assert_allclose([entropy(2), entropy(0)], [1.025, 1.024], atol=5e-4)


def test_pure_signal_and_pure_noise():
    signal = make_ofw_ternary(n_samples=300, signal_share=1.0, random_state=0)
    assert (signal.component < 3).all()
    noise = make_ofw_ternary(n_samples=300, signal_share=0.0, random_state=0)
    assert (noise.component == 3).all()
    np.testing.assert_allclose(noise.probability_of_one, 1 / 3)


def test_same_seed_same_data():
    first, again = (make_ofw_ternary(random_state=5) for _ in range(2))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    from_generator = make_ofw_ternary(random_state=np.random.default_rng(5))
    assert np.array_equal(first.X, from_generator.X)
    assert not np.array_equal(first.X, make_ofw_ternary(random_state=6).X)
    assert not np.array_equal(make_ofw_ternary().X, make_ofw_ternary().X)


def test_a_generator_is_advanced():
    rng = np.random.default_rng(0)
    assert not np.array_equal(
        make_ofw_ternary(random_state=rng).X, make_ofw_ternary(random_state=rng).X
    )


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"n_samples": 0}, "n_samples must be an int of at least 1, got 0"),
        ({"n_samples": True}, "n_samples must be an int"),
        ({"n_features": 8}, "n_features must be an int of at least 9, got 8"),
        ({"n_features": 20.0}, "n_features must be an int"),
        ({"signal_share": 1.1}, r"signal_share must be a float in \[0, 1\], got 1.1"),
        ({"signal_share": float("nan")}, "signal_share must be a float"),
        ({"signal_share": "0.9"}, "signal_share must be a float"),
        ({"random_state": -1}, "random_state must be None, an int of at least 0"),
        ({"random_state": "seed"}, "random_state must be None"),
        ({"random_state": False}, "random_state must be None"),
    ],
)
def test_bad_parameters(wrong, complaint):
    with pytest.raises(InputError, match=f"make_ofw_ternary: {complaint}"):
        make_ofw_ternary(**wrong)
