"""The picture along alpha shows the numbers of inf_fs_path."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import tamis
from tamis.exceptions import InputError
from tamis.plots import AlphaPathDisplay
from tamis.plots._display import places_of

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_ranks_of_every_alpha_are_drawn():
    alphas = [0.0, 0.3, 1.0]
    display = AlphaPathDisplay.from_data(IRIS, alphas=alphas)
    np.testing.assert_array_equal(display.scores, tamis.inf_fs_path(IRIS, alphas))
    for row, alpha in enumerate(alphas):
        expected = tamis.InfFS(alpha=alpha).fit(IRIS).ranking_
        np.testing.assert_array_equal(display.ranks[row], expected)
    for line, column in zip(display.ax_.lines, display.shown, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), alphas)
        np.testing.assert_array_equal(line.get_ydata(), display.ranks[:, column])
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # rank 1 is on top
    assert [text.get_text() for text in display.ax_.texts] == list(IRIS.columns[display.shown])


def test_scores_are_shares_of_the_best_at_each_alpha():
    display = AlphaPathDisplay([0, 1], [[4.0, 2.0, 1.0], [1.0, 3.0, 0.0]], kind="score").plot()
    lines = {k: line.get_ydata() for k, line in zip(display.shown, display.ax_.lines, strict=True)}
    np.testing.assert_allclose(lines[0], [1.0, 1 / 3])
    np.testing.assert_allclose(lines[1], [0.5, 1.0])
    np.testing.assert_allclose(lines[2], [0.25, 0.0])
    assert display.names == ["x0", "x1", "x2"]


def test_columns_that_lead_at_any_alpha_are_shown():
    scores = [[9.0, 8.0, 7.0, 1.0, 0.0], [1.0, 8.0, 7.0, 9.0, 0.0]]
    display = AlphaPathDisplay([0, 1], scores, n_features=3)
    # Best ranks are 1, 2, 3, 1, 5; columns 0 and 3 share one, with the same mean rank.
    np.testing.assert_array_equal(display.shown, [0, 3, 1])
    assert len(display.plot().ax_.lines) == 3


def test_fitted_cross_validation_marks_its_alpha():
    selector = tamis.InfFSCV(alphas=[0.15, 0.65], grid=[1, 2], cv=3).fit(IRIS, SPECIES)
    display = AlphaPathDisplay.from_estimator(selector, IRIS)
    assert display.chosen == selector.alpha_
    assert display.alphas.size == 12
    row = list(display.alphas).index(selector.alpha_)
    np.testing.assert_allclose(display.scores[row], selector.scores_)
    np.testing.assert_array_equal(display.ranks[row], selector.ranking_)
    mark = display.ax_.lines[-1]
    assert list(mark.get_xdata()) == [selector.alpha_] * 2
    assert f"{selector.alpha_:g}" in display.ax_.get_title()


def test_settings_and_weights_of_the_selector_are_used():
    weight = np.where(SPECIES == 0, 3.0, 1.0)
    selector = tamis.InfFS(alpha=0.2, damping=0.5, relation="pearson")
    selector.fit(IRIS, sample_weight=weight)
    display = AlphaPathDisplay.from_estimator(selector, IRIS, sample_weight=weight, kind="score")
    row = list(display.alphas).index(0.2)
    np.testing.assert_allclose(display.scores[row], selector.scores_)


def test_wide_ranks_use_a_logarithmic_axis():
    scores = np.random.default_rng(0).random((3, 200))
    display = AlphaPathDisplay([0, 0.5, 1], scores).plot()
    assert display.ax_.get_yscale() == "log"
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert labels[:4] == ["1", "2", "5", "10"]


def test_names_keep_their_distance_and_their_order():
    X, _ = load_breast_cancer(return_X_y=True)
    display = AlphaPathDisplay.from_data(X, alphas=[0.0, 1.0], kind="score")
    places = np.sort([text.xyann[1] for text in display.ax_.texts])
    assert np.diff(places).min() > 0.05
    np.testing.assert_allclose(places_of(np.array([0.1, 0.5, 0.9]), gap=0.1), [0.1, 0.5, 0.9])
    np.testing.assert_allclose(places_of(np.array([0.5, 0.2, 0.5]), gap=0.1), [0.45, 0.2, 0.55])
    assert places_of(np.empty(0), gap=0.1).size == 0


def test_polars_names_and_unsorted_alphas():
    display = AlphaPathDisplay.from_data(pl.from_pandas(IRIS), alphas=[1.0, 0.0])
    assert display.names == list(IRIS.columns)
    np.testing.assert_array_equal(display.alphas, [0.0, 1.0])


def test_given_axes_are_used():
    _, ax = plt.subplots()
    display = AlphaPathDisplay([0, 1], [[1.0, 2.0], [2.0, 1.0]])
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="one row for each of 3 alphas"):
        AlphaPathDisplay([0, 0.5, 1], [[1.0, 2.0]])
    with pytest.raises(InputError, match="kind must be"):
        AlphaPathDisplay([0], [[1.0]], kind="energy")
    with pytest.raises(InputError, match="which has no alpha"):
        AlphaPathDisplay.from_estimator(tamis.DFT().fit(IRIS, SPECIES), IRIS)
