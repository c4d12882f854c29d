import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from reference.information import information_of, table_of
from tamis import InformationGain
from tamis.exceptions import InputError


def fitted(X, y, sample_weight=None, **options):
    return InformationGain(n_features_to_select="all", **options).fit(X, y, sample_weight)


def test_quinlans_weather():
    # Gains as printed in Quinlan (1986), whose entropies are rounded before they are subtracted.
    outlook = [0, 0, 1, 2, 2, 2, 1, 0, 0, 2, 0, 1, 1, 2]
    temperature = [0, 0, 0, 1, 2, 2, 2, 1, 2, 1, 1, 1, 0, 1]
    humidity = [1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1]
    windy = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]
    y = list("nnyyynynyyyyyn")
    gain = fitted(np.column_stack([outlook, temperature, humidity, windy]), y).gain_
    np.testing.assert_allclose(gain, [0.246, 0.029, 0.151, 0.048], atol=1e-3)


def test_closed_forms():
    y = np.repeat([0, 1, 2, 3], 4)
    X = np.column_stack([y, y // 2, np.tile([0, 1, 2, 3], 4), np.full(16, 7)]).astype(float)
    selector = fitted(X, y)
    np.testing.assert_allclose(selector.gain_, [2, 1, 0, 0], atol=1e-12)
    assert selector.gain_[2] == 0
    assert selector.constant_.tolist() == [False, False, False, True]


@pytest.mark.parametrize("layout", ["C", "F", "csr", "float32"])
def test_against_the_twin(layout):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 7)), 1)
    X[rng.random(X.shape) < 0.4] = 0.0
    if layout != "csr":
        X[rng.random(X.shape) < 0.2] = np.nan
    X = X.astype(np.float32).astype(np.float64)
    y, weight = rng.integers(0, 3, 60), rng.choice([0.0, 0.3, 1.0, 2.7], 60)
    given = {
        "C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sparse.csr_array,
        "float32": np.float32,
    }[layout](X)  # fmt: skip
    for n_bins in (2, 5, 16):
        twin = [information_of(table_of(x, y, weight, n_bins, 3)) / np.log(2) for x in X.T]
        gain = fitted(given, y, weight, n_bins=n_bins).gain_
        np.testing.assert_allclose(gain, twin, rtol=1e-6 if layout == "float32" else 1e-10)
        np.testing.assert_allclose(fitted(given, y, 1e-3 * weight, n_bins=n_bins).gain_, gain)


def test_missing_rows_do_not_count():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=50), rng.integers(0, 2, 50)
    holes = np.r_[x, np.full(30, np.nan)][:, None]
    gain = fitted(holes, np.r_[y, np.ones(30, int)]).gain_
    np.testing.assert_allclose(gain, fitted(x[:, None], y).gain_)


def test_costs_divide_the_gain():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame(rng.normal(size=(80, 3)) + y[:, None], columns=["age", "blood", "scan"])
    plain = fitted(X, y)
    np.testing.assert_array_equal(plain.scores_, plain.gain_)
    expected = plain.gain_ / [1, 2, 50]
    for costs in ([1, 2, 50], np.array([1, 2, 50]), {"blood": 2, "scan": 50}, {1: 2.0, 2: 50.0}):
        priced = fitted(X, y, costs=costs)
        np.testing.assert_array_equal(priced.gain_, plain.gain_)
        np.testing.assert_array_equal(priced.scores_, expected)
    np.testing.assert_array_equal(fitted(X.to_numpy(), y, costs={1: 2, 2: 50}).scores_, expected)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], r"one number per column \(3\)"),
        ([[1, 2, 3]], "one number per column"),
        ([1, -2, 3], "above 0, got -2.0 for column 'blood'"),
        ([1, 0, 3], "above 0, got 0.0"),
        ([1, np.nan, 3], "finite"),
        (["a", "b", "c"], "must be numbers"),
        ({"blod": 2}, "Did you mean 'blood'"),
        ({"blood": -1}, "above 0"),
        ({7: 1}, "below 3"),
        ("cheap", "a sequence of numbers"),
        (3.0, "a sequence of numbers"),
    ],
)
def test_wrong_costs(costs, message):
    X = pd.DataFrame(np.eye(4)[:, :3], columns=["age", "blood", "scan"])
    with pytest.raises(InputError, match=f"InformationGain: .*{message}"):
        fitted(X, [0, 1, 0, 1], costs=costs)


def test_wrong_input():
    X = np.eye(4)
    with pytest.raises(InputError, match="InformationGain: n_bins must be"):
        fitted(X, [0, 1, 0, 1], n_bins=1)
    with pytest.raises(InputError, match="two classes"):
        fitted(X, [1, 1, 1, 1])
    with pytest.raises(InputError, match="classes, got continuous"):
        fitted(X, [0.5, 1.5, 2, 3])
    with pytest.raises(InputError, match="inf in column 2"):
        fitted(X + np.diag([0, 0, np.inf, 0]), [0, 1, 0, 1])


def test_huge_offsets_tiny_scales_and_two_rows():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 16, size=(90, 4)).astype(float), rng.integers(0, 3, 90)
    X[:2] = [[0] * 4, [15] * 4]
    gain = fitted(X, y).gain_
    np.testing.assert_allclose(fitted(X + 1e8, y).gain_, gain, rtol=1e-12)
    np.testing.assert_allclose(fitted(X * 2.0**-900, y).gain_, gain, rtol=1e-12)
    np.testing.assert_allclose(fitted([[0.0, 1], [1, 1]], ["b", "a"]).gain_, [1, 0])
