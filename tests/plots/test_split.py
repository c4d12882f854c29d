"""The picture of one column's losses shows the numbers of the selector."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import tamis
from tamis.exceptions import InputError
from tamis.plots import SplitDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(("selector", "load"), [(tamis.DFT, load_iris), (tamis.RFT, load_diabetes)])
def test_best_cut_is_that_of_the_selector(selector, load):
    frame = load(as_frame=True)
    fitted = selector().fit(frame.data, frame.target)
    for j, name in enumerate(frame.data.columns):
        display = SplitDisplay.from_estimator(fitted, frame.data, frame.target, feature=name)
        threshold, loss = display.best
        assert threshold == fitted.thresholds_[j]
        assert loss == pytest.approx(fitted.loss_[j])
        np.testing.assert_array_equal(display.ax_.lines[1].get_ydata(), display.losses)
        assert name in display.ax_.get_title()
        plt.close("all")


def test_given_ranges_and_weights_are_used():
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 2, 3.0, 1.0)
    fitted = tamis.DFT(ranges=(0.0, 8.0)).fit(X, y, sample_weight=weight)
    display = SplitDisplay.from_estimator(fitted, X, y, feature=1, sample_weight=weight)
    np.testing.assert_allclose(display.thresholds, np.arange(1, 16) / 2)
    assert display.best[1] == pytest.approx(fitted.loss_[1])


def test_unknown_column_suggests_the_closest():
    frame = pd.DataFrame({"petal": [1.0, 2.0, 3.0, 4.0], "sepal": [1.0, 0.0, 1.0, 0.0]})
    fitted = tamis.DFT().fit(frame, [0, 0, 1, 1])
    with pytest.raises(InputError, match="Did you mean 'petal'"):
        SplitDisplay.from_estimator(fitted, frame, [0, 0, 1, 1], feature="petl")
