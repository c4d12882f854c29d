"""The picture of the bounds draws the numbers of tamis.bounds."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tamis import bounds
from tamis.exceptions import InputError
from tamis.plots.bound import BoundDisplay

COMMON = {"train_error": 0.02, "n_samples": 1e6, "margin": 0.5, "confidence": 0.9}
POINTS = {"n_steps": [1, 50, 2000], "n_meta_values": [1, 100, 1e15], "n_selected": [10, 100, 3000]}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("against", POINTS)
def test_curves_are_the_bounds(against):
    numbers = {"n_steps": 50, "n_meta_values": 1408, "n_selected": 100, against: POINTS[against]}
    display = BoundDisplay.from_parameters(
        **COMMON, n_candidates=1e6, n_meta_values=1408, n_selected=100, against=against,
        values=POINTS[against],
    )  # fmt: skip
    fat = {"fat_dimension": np.asarray(numbers["n_selected"]) + 1}
    search = {name: numbers[name] for name in ("n_steps", "n_meta_values")}
    free = {"n_candidates": 1e6, "n_selected": numbers["n_selected"]}
    expected = {
        "Mufasa": bounds.mufasa_bound(**COMMON, **fat, **search),
        "direct selection": bounds.direct_bound(**COMMON, **fat, **free),
        "fixed features": bounds.bartlett_bound(**COMMON, **fat),
    }
    assert [line.get_label() for line in display.ax_.lines[:3]] == list(expected)
    for line, curve in zip(display.ax_.lines, expected.values(), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), POINTS[against])
        np.testing.assert_allclose(line.get_ydata(), np.broadcast_to(curve, 3), rtol=1e-13)
    assert display.ax_.get_xscale() == "log"


def test_nats_of_the_paper():
    """J = 50 steps, n = 1000 features of n 2^J: 41,565 against ln(50 * 1408) = 11.2."""
    display = BoundDisplay.from_parameters(
        n_samples=2000, n_meta_values=1408, quantity="nats", values=[50]
    )
    assert display.bounds["Mufasa"] == pytest.approx([math.log(50 * 1408)])
    assert display.bounds["direct selection"] == pytest.approx([41565.114], abs=1e-3)
    assert "fixed features" not in display.bounds
    assert display.ax_.get_yscale() == "log"
    assert "nats" in display.ax_.get_ylabel()


def test_many_steps_do_not_overflow():
    display = BoundDisplay.from_parameters(n_samples=1e9, values=[1, 5000])
    assert np.isfinite(display.bounds["direct selection"]).all()


@pytest.mark.parametrize("against", POINTS)
def test_without_values_a_wide_range_is_drawn(against):
    display = BoundDisplay.from_parameters(n_samples=1e6, against=against, n_meta_values=10)
    assert display.values[0] == 1
    assert display.values[-1] >= 1000
    assert (np.diff(display.values) > 0).all()
    for curve in display.bounds.values():
        assert (np.diff(curve) >= 0).all()


def test_line_where_bounds_become_vacuous():
    below = BoundDisplay([1, 2], {"a": [0.1, 0.2]}).plot()
    assert len(below.ax_.lines) == 1
    above = BoundDisplay([1, 2], {"a": [0.1, 1.2]}).plot()
    assert list(above.ax_.lines[1].get_ydata()) == [1.0, 1.0]
    assert above.ax_.get_ylim()[0] == 0.0


def test_given_axes_are_used():
    _, ax = plt.subplots()
    display = BoundDisplay([1, 2], {"a": [0.1, 0.2]}, against="n_selected")
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert "features selected" in ax.get_xlabel()
    assert BoundDisplay.from_parameters(n_samples=1e6, ax=ax).figure_ is ax.figure


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="against must be 'n_steps' or 'n_meta_values' or"):
        BoundDisplay([1], {"a": [1]}, against="steps")
    with pytest.raises(InputError, match="against must be"):
        BoundDisplay.from_parameters(n_samples=10, against="steps")
    with pytest.raises(InputError, match="quantity must be 'bound' or 'nats', got 'bits'"):
        BoundDisplay.from_parameters(n_samples=10, quantity="bits")
    with pytest.raises(InputError, match="at least one value and one curve"):
        BoundDisplay([], {"a": []})
    with pytest.raises(InputError, match=r"at least one value and one curve, got .* 0 curves"):
        BoundDisplay([1], {})
    with pytest.raises(InputError, match=r"expected 2 numbers in each curve.*\(3,\)"):
        BoundDisplay([1, 2], {"a": [1, 2, 3]})
    for wrong in (0.0, math.inf, math.nan):
        with pytest.raises(InputError, match=f"finite values above 0, got {wrong}"):
            BoundDisplay([1, wrong], {"a": [1, 2]})
    with pytest.raises(InputError, match="n_samples must be"):
        BoundDisplay.from_parameters(n_samples=0)
