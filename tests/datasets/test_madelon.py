import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from tamis.datasets import make_madelon_like
from tamis.exceptions import InputError


@pytest.fixture(scope="module")
def data():
    return make_madelon_like(n_samples=4000, n_probes=40, random_state=0)


def r2(data, columns):
    signal = data.X[:, data.informative]
    targets = data.X[:, columns]
    return [LinearRegression().fit(signal, target).score(signal, target) for target in targets.T]


def test_defaults_are_those_of_madelon():
    data = make_madelon_like(random_state=0)
    assert data.X.shape == (2000, 500)
    assert set(data.y.tolist()) == {-1, 1}
    assert [len(data[kind]) for kind in ("informative", "redundant", "probes")] == [5, 15, 480]


def test_the_kinds_of_columns_share_them_out(data):
    kinds = np.concatenate([data.informative, data.redundant, data.probes])
    assert sorted(kinds.tolist()) == list(range(60))
    assert data.relevant.tolist() == sorted([*data.informative, *data.redundant])
    assert data.informative.tolist() != list(range(5)), "columns are not shuffled"


def test_redundant_columns_are_combinations_and_probes_are_not(data):
    np.testing.assert_allclose(r2(data, data.redundant), 1.0)
    # R2 of pure noise on 5 columns is about 5 / 4000.
    assert max(r2(data, data.probes)) < 0.01
    assert np.linalg.matrix_rank(data.X[:, data.relevant]) == 5


def test_probes_tell_nothing_of_the_class(data):
    correlation = [np.corrcoef(data.X[:, column], data.y)[0, 1] for column in data.probes]
    assert np.abs(correlation).max() < 5 / 4000**0.5


def test_variance_tells_nothing(data):
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1.0)


def test_clusters_sit_on_the_corners_of_a_cube(data):
    assert np.bincount(data.corner).tolist() == [125] * 32
    centres = np.array([data.X[data.corner == c][:, data.informative].mean(0) for c in range(32)])
    # Two values per dimension, 16 corners each; all 32 sign patterns occur.
    assert len({tuple(signs) for signs in np.sign(centres)}) == 32
    assert np.abs(centres).min() > 0.4


def test_labels_belong_to_corners(data):
    assert np.bincount((data.corner_labels + 1) // 2).tolist() == [16, 16]
    wrong = data.y != data.corner_labels[data.corner]
    assert wrong.mean() == pytest.approx(0.01, abs=5 * (0.01 / 4000) ** 0.5)
    clean = make_madelon_like(n_samples=64, label_noise=0.0, random_state=0)
    assert np.array_equal(clean.y, clean.corner_labels[clean.corner])
    inverted = make_madelon_like(n_samples=64, label_noise=1.0, random_state=0)
    assert np.array_equal(inverted.y, -clean.y)


def test_parity_differs_between_neighbours():
    labels = make_madelon_like(n_samples=32, labelling="parity", random_state=0).corner_labels
    corners = np.arange(32)
    for bit in range(5):
        assert np.array_equal(labels[corners ^ (1 << bit)], -labels)


def test_parity_hides_from_single_columns_and_linear_models():
    data = make_madelon_like(
        n_samples=8000, n_informative=3, n_probes=0, labelling="parity", random_state=0
    )
    signal = data.X[:, data.informative]
    assert LinearRegression().fit(signal, data.y).score(signal, data.y) < 0.01
    train, test = slice(None, 4000), slice(4000, None)
    together = KNeighborsClassifier(15).fit(signal[train], data.y[train])
    assert together.score(signal[test], data.y[test]) > 0.85


def test_same_seed_same_data():
    first, again, other = (make_madelon_like(n_probes=5, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert np.array_equal(first.informative, again.informative)
    assert not np.array_equal(first.X, other.X)


def test_no_redundant_columns_and_no_probes():
    data = make_madelon_like(n_informative=2, n_redundant=0, n_probes=0, random_state=0)
    assert data.X.shape == (2000, 2)
    assert data.relevant.tolist() == [0, 1]
    assert data.redundant.size == data.probes.size == 0


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"n_samples": 31}, "n_samples must be an int of at least 32, got 31"),
        ({"n_informative": 0}, "n_informative must be an int in \\[1, 12\\], got 0"),
        ({"n_informative": 13}, "n_informative must be an int in \\[1, 12\\], got 13"),
        ({"n_redundant": -1}, "n_redundant must be an int of at least 0"),
        ({"n_probes": 2.5}, "n_probes must be an int"),
        ({"labelling": "xor"}, "labelling must be 'random' or 'parity', got 'xor'"),
        ({"label_noise": -0.1}, "label_noise must be a float"),
        ({"random_state": []}, "random_state must be None"),
    ],
)
def test_bad_parameters(wrong, complaint):
    with pytest.raises(InputError, match=f"make_madelon_like: {complaint}"):
        make_madelon_like(**wrong)
