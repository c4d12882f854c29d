"""The picture of the weights shows the largest ones, their spread and their mass."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.plots import TopWeightsDisplay

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.slow
def test_from_estimator_draws_weights_and_spread():
    selector = tamis.OFW(subset_size=2, max_iter=600, n_restarts=3, random_state=0)
    selector.fit(IRIS, SPECIES)
    display = TopWeightsDisplay.from_estimator(selector, n_features=3)
    shown = np.argsort(-selector.weights_)[:3]
    np.testing.assert_array_equal(display.shown, shown)
    bars = display.ax_.patches[:3]
    np.testing.assert_allclose([bar.get_width() for bar in bars], selector.weights_[shown])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == list(IRIS.columns[shown])
    (errors,) = display.ax_.collections
    ends = np.array([segment[:, 0] for segment in errors.get_segments()])
    weights, spread = selector.weights_[shown], selector.weights_spread_[shown]
    np.testing.assert_allclose(ends[:, 1], weights + spread)
    np.testing.assert_allclose(ends[:, 0], np.maximum(weights - spread, 0.0), atol=1e-12)
    assert "restarts" in display.ax_.get_xlabel()
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the largest is on top


def test_mass_is_written_behind_the_bars():
    display = TopWeightsDisplay([0.1, 0.6, 0.3, 0.0], n_features=3).plot()
    np.testing.assert_allclose(display.mass, [0.6, 0.9, 1.0])
    assert [text.get_text() for text in display.ax_.texts] == ["60%", "90%", "100%"]
    assert [text.xy[0] for text in display.ax_.texts] == [0.6, 0.3, 0.1]
    (dotted,) = display.ax_.lines
    np.testing.assert_allclose(dotted.get_xdata(), [1 / 3, 1 / 3])  # of those with any weight
    assert not display.ax_.collections  # one run has no spread
    assert "restarts" not in display.ax_.get_xlabel()


def test_texts_of_forty_bars_do_not_overlap():
    names = [f"a name that is much too long for a picture, number {j}" for j in range(200)]
    display = TopWeightsDisplay(np.arange(200.0), names=names, n_features=40).plot()
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(below.y1 <= above.y0 + 1 for above, below in pairwise(boxes))
    inside = display.ax_.get_window_extent()
    assert all(text.get_window_extent().x1 <= inside.x1 for text in display.ax_.texts)


def test_given_axes_are_used_and_keep_their_size():
    figure, ax = plt.subplots(figsize=(5, 3))
    display = TopWeightsDisplay(np.ones(40), n_features=40)
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert figure.get_figheight() == 3


def test_classifier_that_votes_has_weights_too():
    model = tamis.VotingSubsetClassifier(weights=[1, 0, 2, 1], n_subsets=3, random_state=0)
    display = TopWeightsDisplay.from_estimator(model.fit(IRIS, SPECIES))
    np.testing.assert_allclose(display.mass, [0.5, 0.75, 1.0, 1.0])
    assert "VotingSubsetClassifier" in display.ax_.get_title()


def test_wrong_arguments_are_refused():
    for weights in ([[1.0]], [0.0, 0.0], [1.0, -1.0], [np.nan, 1.0]):
        with pytest.raises(InputError, match="one weight per column"):
            TopWeightsDisplay(weights)
    with pytest.raises(InputError, match="a spread for each of 2 weights"):
        TopWeightsDisplay([0.5, 0.5], [0.1])
    with pytest.raises(InputError, match="n_features must be"):
        TopWeightsDisplay([1.0], n_features=0)
    with pytest.raises(InputError, match="expected a fitted OFW, got DFT"):
        TopWeightsDisplay.from_estimator(tamis.DFT().fit(IRIS, SPECIES))
    with pytest.raises(NotFittedError):
        TopWeightsDisplay.from_estimator(tamis.OFW())
