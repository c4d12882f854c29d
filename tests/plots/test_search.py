"""The picture of a search shows every set, the best so far, and its meta-features."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.meta import ArraySource, Categorical, Integer, MetaSpace, Mufasa, RandomSearch, Real
from tamis.plots.search import SearchDisplay

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
SOURCE = ArraySource(RNG.normal(size=(40, 60)), np.arange(60.0)[:, None])

HISTORY = [
    {"step": 1, "quality": 0.5, "accepted": True, "point": {"a": 2, "b": 0.5, "c": "x"}},
    {"step": 1, "quality": 0.4, "accepted": False, "point": {"a": 3, "b": 0.7, "c": "y"}},
    {"step": 2, "quality": -np.inf, "accepted": False, "point": {"a": 9, "b": 0.7, "c": "y"}},
    {"step": 3, "quality": 0.5, "accepted": True, "point": {"a": 4, "b": 0.75, "c": "y"}},
    {"step": 4, "quality": 0.3, "accepted": False, "point": {"a": 5, "b": 0.1, "c": "x"}},
]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_from_estimator_draws_all_sets_and_the_best():
    search = Mufasa(n_features_to_select=3, n_steps=8, random_state=0).fit(SOURCE, Y)
    display = SearchDisplay.from_estimator(search)
    others, accepted, best = display.ax_.lines
    assert others.get_xdata().size + accepted.get_xdata().size == 8
    np.testing.assert_array_equal(
        best.get_ydata(), np.maximum.accumulate([r["quality"] for r in search.history_])
    )
    assert display.ax_.get_title().startswith(f"Mufasa: best {search.best_score_:.3f} at cluster")


def test_best_so_far_over_records_of_a_step_without_failures():
    display = SearchDisplay(HISTORY)
    np.testing.assert_array_equal(display.steps, [1, 1, 3, 4])
    np.testing.assert_array_equal(display.best_so_far, [0.5, 0.5, 0.5])
    # A set that equals the best takes its place.
    assert display.best_points == {"a": [2, 4, 4], "b": [0.5, 0.75, 0.75], "c": ["x", "y", "y"]}


def test_points_are_drawn_as_shares_of_their_ranges():
    space = MetaSpace({"a": Integer(0, 8), "b": Real(0, 1), "c": Categorical(["x", "y", "z"])})
    display = SearchDisplay(HISTORY, name="Mufasa", space=space).plot_points()
    heights = [line.get_ydata().tolist() for line in display.ax_.lines]
    assert heights == [[0.25, 0.5, 0.5], [0.5, 0.75, 0.75], [0.0, 0.5, 0.5]]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["a: 4", "b: 0.75", "c: y"]
    without = SearchDisplay(HISTORY).plot_points()
    assert [line.get_ydata()[0] for line in without.ax_.lines] == [0.0, 0.0, 0.0]


def test_a_meta_feature_that_never_changes_is_in_the_middle():
    history = [{"step": s, "quality": 0.1 * s, "point": {"a": 1}} for s in (1, 2)]
    (line,) = SearchDisplay(history).plot_points().ax_.lines
    assert line.get_ydata().tolist() == [0.5, 0.5]


def test_given_axes_are_used():
    _, ax = plt.subplots()
    display = SearchDisplay(HISTORY)
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax


def test_random_search_has_no_points():
    search = RandomSearch(n_features_to_select=3, n_steps=4, random_state=0).fit(SOURCE, Y)
    display = SearchDisplay.from_estimator(search)
    assert display.ax_.get_title() == f"RandomSearch: best {search.best_score_:.3f}"
    with pytest.raises(InputError, match="points of meta-features"):
        display.plot_points()


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="expected a fitted Mufasa or RandomSearch, got DFT"):
        SearchDisplay.from_estimator(tamis.DFT().fit(*load_iris(return_X_y=True)))
    with pytest.raises(NotFittedError):
        SearchDisplay.from_estimator(Mufasa(n_features_to_select=3))
    with pytest.raises(InputError, match="'step' and 'quality'"):
        SearchDisplay([{"step": 1}])
    with pytest.raises(InputError, match="finite quality"):
        SearchDisplay([{"step": 1, "quality": -np.inf}])
