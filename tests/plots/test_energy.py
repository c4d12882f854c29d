"""The picture of the energy shows the errors of OFW and how sure they are."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.plots import EnergyDisplay

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.slow
def test_from_estimator_draws_energy_and_band():
    selector = tamis.OFW(subset_size=2, max_iter=1000, random_state=0).fit(X, Y)
    display = EnergyDisplay.from_estimator(selector)
    (line,) = display.ax_.lines
    np.testing.assert_array_equal(line.get_xdata(), selector.energy_evaluations_)
    np.testing.assert_array_equal(line.get_ydata(), selector.energy_)
    corners = display.ax_.collections[0].get_paths()[0].vertices
    middle = len(corners) // 2
    n = selector.energy_.size
    # The band is a polygon: along the lower side, and back along the upper one.
    np.testing.assert_allclose(corners[1 : n + 1, 1], selector.energy_ - selector.energy_error_)
    upper = corners[middle + 1 : middle + 1 + n, 1][::-1]
    np.testing.assert_allclose(upper, selector.energy_ + selector.energy_error_)
    assert "OFW" in display.ax_.get_title()
    assert display.ax_.get_xscale() == "linear"


def test_many_points_are_smoothed_and_title_tells_both_ends():
    energy = np.linspace(0.5, 0.1, 101)
    display = EnergyDisplay(np.arange(1, 102) * 200, energy, log_x=True, name="OFW").plot()
    _, smooth = display.ax_.lines
    np.testing.assert_allclose(smooth.get_ydata(), energy)  # means of a line lie on it
    assert display.ax_.get_xscale() == "log"
    assert not display.ax_.collections  # no errors given, no band
    # The last twentieth is five points: 0.1 and 0.1 + 0.004 k.
    np.testing.assert_allclose(display.ends, (0.5, 0.108))
    assert display.ax_.get_title() == "OFW: mean error from 50.0% to 10.8%"


def test_smoothing_averages_a_twentieth():
    energy = np.zeros(100)
    energy[50] = 1.0
    smooth = EnergyDisplay(np.arange(100), energy).smooth
    np.testing.assert_allclose(smooth[47:54], [0, 0.2, 0.2, 0.2, 0.2, 0.2, 0], atol=1e-15)
    np.testing.assert_array_equal(EnergyDisplay([1], [0.3]).smooth, [0.3])


def test_given_axes_are_used_and_errors_stay_positive():
    _, ax = plt.subplots()
    display = EnergyDisplay([200, 400], [0.01, 0.02], [0.05, 0.05])
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert ax.get_ylim()[0] == 0.0


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="expected a fitted OFW, got DFT"):
        EnergyDisplay.from_estimator(tamis.DFT().fit(X, Y))
    with pytest.raises(NotFittedError):
        EnergyDisplay.from_estimator(tamis.OFW())
    for numbers in (([1, 2], [0.1]), ([1], [0.1], [0.1, 0.2]), ([], []), ([[1]], [[0.1]])):
        with pytest.raises(InputError, match="of one length"):
            EnergyDisplay(*numbers)
