"""The picture of the topics shows the trace and the profiles of ILFS."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.plots import EMTraceDisplay

X, Y = load_breast_cancer(return_X_y=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("topics", ["anchored", "free"])
def test_from_estimator_draws_trace_and_profiles(topics):
    selector = tamis.ILFS(topics=topics).fit(X, Y)
    display = EMTraceDisplay.from_estimator(selector)
    (trace,) = display.trace_ax_.lines
    np.testing.assert_array_equal(trace.get_ydata(), selector.log_likelihood_)
    np.testing.assert_array_equal(trace.get_xdata(), np.arange(selector.n_iter_ + 1))
    assert display.trace_ax_.get_title() == f"{selector.n_iter_} steps"
    assert ("prior" in display.trace_ax_.get_ylabel()) == (topics == "anchored")
    bars = display.profile_ax_.patches
    heights = np.reshape([bar.get_height() for bar in bars], (2, -1))
    np.testing.assert_array_equal(heights, selector.token_profile_)
    assert "ILFS" in display.ax_.get_title()


def test_bars_of_a_token_stand_side_by_side():
    display = EMTraceDisplay([-2.0, -1.0], [[0.2, 0.8], [0.7, 0.3]]).plot()
    centres = [bar.get_x() + bar.get_width() / 2 for bar in display.profile_ax_.patches]
    np.testing.assert_allclose(centres, [0.8, 1.8, 1.2, 2.2])
    assert display.mean_tokens == (1.8, 1.3)
    labels = [text.get_text() for text in display.profile_ax_.get_legend().get_texts()]
    assert labels == ["relevant, mean 1.8", "irrelevant, mean 1.3"]
    assert display.trace_ax_.get_title() == "1 step"


def test_given_axes_hold_both_pictures():
    _, ax = plt.subplots()
    display = EMTraceDisplay([-1.0], [[0.5, 0.5], [0.5, 0.5]])
    assert display.plot(ax=ax) is display
    assert ax.child_axes == [display.trace_ax_, display.profile_ax_]


def test_other_selectors_and_other_profiles_are_refused():
    with pytest.raises(InputError, match="expected a fitted ILFS"):
        EMTraceDisplay.from_estimator(tamis.DFT().fit(X, Y))
    with pytest.raises(NotFittedError):
        EMTraceDisplay.from_estimator(tamis.DFT())
    with pytest.raises(InputError, match="two rows"):
        EMTraceDisplay([-1.0], [[1.0]])
