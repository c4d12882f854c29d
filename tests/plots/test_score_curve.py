"""The picture of sorted scores shows the numbers of the selector."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import tamis
from tamis.plots import ScoreCurveDisplay

X, Y = load_breast_cancer(return_X_y=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_from_estimator_draws_scores_elbows_and_cut():
    selector = tamis.DFT(n_features_to_select="elbow").fit(X, Y)
    display = ScoreCurveDisplay.from_estimator(selector)
    line = display.ax_.lines[0]
    np.testing.assert_array_equal(line.get_ydata(), selector.scores_[selector.order_])
    early, late = selector.cut_details_["early"], selector.cut_details_["late"]
    assert display.elbows == (early, late)
    assert [line.get_xdata()[0] for line in display.ax_.lines[1:]] == [early + 0.5, late + 0.5]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"selected: {selector.n_selected_}" in texts


def test_draws_on_given_axes_and_returns_self():
    _, ax = plt.subplots()
    display = ScoreCurveDisplay([3.0, 2.0, 1.0])
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_legend() is None


def test_unfitted_selector_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ScoreCurveDisplay.from_estimator(tamis.DFT())


def test_missing_matplotlib_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(tamis.exceptions.MissingDependencyError, match=r"tamis\[plot\]"):
        ScoreCurveDisplay([1.0, 0.5]).plot()
