"""The picture of a quality map shows prediction against measurement."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.meta import MFPFS, ArraySource, QualityMap
from tamis.plots.quality_map import QualityMapDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def make_map():
    random = np.random.default_rng(0)
    meta = random.normal(size=(80, 2))
    return QualityMap(random_state=0).fit(meta, meta[:, 0] + 0.1 * random.normal(size=80))


def test_scatter_shows_both_qualities_and_the_correlation():
    quality_map = make_map()
    display = QualityMapDisplay.from_estimator(quality_map)
    points = display.ax_.collections[0].get_offsets()
    np.testing.assert_array_equal(points[:, 0], quality_map.quality_)
    np.testing.assert_array_equal(points[:, 1], quality_map.predicted_)
    np.testing.assert_allclose(display.correlation, quality_map.correlation_)
    assert f"correlation {quality_map.correlation_:.2f}" in display.ax_.get_title()
    assert display.ax_.get_xlabel() == "measured quality"


def test_top_lines_by_hand():
    display = QualityMapDisplay([1.0, 4.0, 3.0], [2.0, 1.0, 3.0], kind="top")
    _, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    best, predicted, mean = ax.lines
    np.testing.assert_allclose(best.get_ydata(), [4.0, 3.5, 8 / 3])
    np.testing.assert_allclose(predicted.get_ydata(), [3.0, 2.0, 8 / 3])
    np.testing.assert_allclose(mean.get_ydata(), 8 / 3)
    assert display.ax_ is ax
    assert (display.top_by_measurement >= display.top_by_prediction - 1e-12).all()


def test_map_of_a_selector_is_drawn():
    random = np.random.default_rng(0)
    source = ArraySource(random.normal(size=(30, 50)), random.normal(size=(50, 2)))
    y = [0, 1] * 15
    selector = MFPFS(n_features_to_select=5, random_state=0).fit(source, y)
    display = QualityMapDisplay.from_estimator(selector, kind="top")
    np.testing.assert_array_equal(display.measured, selector.quality_map_.quality_)
    with pytest.raises(InputError, match="had something to choose, got MFPFS"):
        QualityMapDisplay.from_estimator(MFPFS(n_features_to_select=50).fit(source, y))


def test_constant_quality_has_no_correlation():
    assert QualityMapDisplay([1.0, 1.0], [1.0, 2.0]).plot().correlation == 0.0


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="of one length"):
        QualityMapDisplay([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="at least one feature"):
        QualityMapDisplay([], [])
    with pytest.raises(InputError, match="finite qualities"):
        QualityMapDisplay([np.nan], [1.0])
    with pytest.raises(InputError, match="kind must be"):
        QualityMapDisplay([1.0], [1.0], kind="bars")
    with pytest.raises(NotFittedError):
        QualityMapDisplay.from_estimator(QualityMap())
    fitted = tamis.DFT().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match=r"expected a fitted QualityMap.*got DFT"):
        QualityMapDisplay.from_estimator(fitted)
