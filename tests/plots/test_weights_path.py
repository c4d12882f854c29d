"""The picture of the path shows how the largest weights of OFW grew."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.plots import WeightsPathDisplay

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def names_in(display):
    return [text.get_text() for text in display.ax_.texts]


def test_from_estimator_draws_the_path_of_the_largest_weights():
    selector = tamis.OFW(subset_size=2, max_iter=1000, random_state=0).fit(IRIS, SPECIES)
    display = WeightsPathDisplay.from_estimator(selector, n_features=3)
    np.testing.assert_array_equal(display.shown, np.argsort(-selector.weights_path_[-1])[:3])
    *lines, dotted = display.ax_.lines
    for line, column in zip(lines, display.shown, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), selector.path_evaluations_)
        np.testing.assert_array_equal(line.get_ydata(), selector.weights_path_[:, column])
    assert list(dotted.get_ydata()) == [0.25, 0.25]
    assert dotted.get_linestyle() == ":"
    assert names_in(display) == list(IRIS.columns[display.shown])


def test_title_tells_what_the_shown_hold_and_uniform_counts_those_that_take_part():
    path = [[0.0, 0.5, 0.5, 0.0], [0.0, 0.9, 0.1, 0.0]]
    display = WeightsPathDisplay([0, 200], path, n_features=1).plot()
    assert display.uniform == 0.5
    assert display.ax_.get_title() == "Weights of OFW: 1 of 4 columns hold 90% at the end"
    assert names_in(display) == ["x1"]


@pytest.mark.parametrize("n_features", [5, 10, 30])
def test_names_keep_apart_inside_the_axes_in_the_order_of_the_lines(n_features):
    X, y = load_breast_cancer(return_X_y=True)
    selector = tamis.OFW(max_iter=1000, random_state=0).fit(X, y)
    display = WeightsPathDisplay.from_estimator(selector, n_features=n_features)
    places = np.array([text.xyann[1] for text in display.ax_.texts])
    assert (np.diff(places) < -0.03).all()
    assert places.min() >= 0.0
    assert places.max() <= 1.0


def test_long_names_are_cut_and_signs_of_mathematics_are_not_read():
    names = ["$" + 60 * "a", "b"]
    display = WeightsPathDisplay([0, 1], [[0.5, 0.5], [0.6, 0.4]], names).plot()
    assert names_in(display)[0].startswith(r"\$aaa")
    assert names_in(display)[0].endswith("…")
    assert len(names_in(display)[0]) < 30
    display.figure_.canvas.draw()


def test_lines_beyond_the_tenth_look_different():
    display = WeightsPathDisplay([0, 1], np.full((2, 12), 1 / 12), n_features=12).plot()
    styles = [line.get_linestyle() for line in display.ax_.lines]
    assert styles == ["-"] * 10 + ["--"] * 2 + [":"]


def test_given_axes_are_used_and_one_point_is_enough():
    _, ax = plt.subplots()
    display = WeightsPathDisplay([0], [[0.5, 0.5]])
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="one row for each of 3 points"):
        WeightsPathDisplay([0, 1, 2], [[0.5, 0.5]])
    with pytest.raises(InputError, match="at least one point"):
        WeightsPathDisplay([], np.empty((0, 3)))
    with pytest.raises(InputError, match="n_features must be"):
        WeightsPathDisplay([0], [[1.0]], n_features=0)
    with pytest.raises(InputError, match="expected a fitted OFW, got DFT"):
        WeightsPathDisplay.from_estimator(tamis.DFT().fit(IRIS, SPECIES))
    with pytest.raises(NotFittedError):
        WeightsPathDisplay.from_estimator(tamis.OFW())
