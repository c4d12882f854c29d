"""The picture of the graph shows the relations, deviations and scores of the selector."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

import tamis
from tamis.exceptions import InputError
from tamis.plots import FeatureGraphDisplay

CANCER = load_breast_cancer(as_frame=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def clusters(n_rows=60, seed=0):
    """Two groups of near copies, one column alone, one constant column."""
    rng = np.random.default_rng(seed)
    first, second, alone = rng.normal(size=(3, n_rows))
    noise = 0.05 * rng.normal(size=(5, n_rows))
    copies = [first, first + noise[0], second, second + noise[1], second + noise[2], alone]
    return np.column_stack([*copies, np.full(n_rows, 7.0)])


def names_in(display):
    return [text.get_text() for text in display.ax_.texts]


def test_from_estimator_holds_spearman_scores_and_deviations_of_the_table():
    X = CANCER.data
    selector = tamis.InfFS().fit(X)
    display = FeatureGraphDisplay.from_estimator(selector, X, n_features=12)
    top = selector.order_[:12]
    assert display.names == list(X.columns[top])
    np.testing.assert_array_equal(display.scores, selector.scores_[top])
    expected = 1 - np.abs(spearmanr(X.iloc[:, top]).statistic)
    np.testing.assert_allclose(display.non_redundancy, expected, atol=1e-12)
    deviation = X.std().to_numpy() / X.std().max()
    np.testing.assert_allclose(display.deviation, deviation[top])


def test_deviations_are_shares_of_the_largest_of_all_columns_not_of_those_shown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * [1, 1, 1, 1, 1, 4]
    X[:, 4] = X[:, 5] ** 3 / 100  # both repeat each other, so at alpha 0 they come last
    selector = tamis.InfFS(alpha=0.0).fit(X)
    display = FeatureGraphDisplay.from_estimator(selector, X, n_features=3)
    assert {4, 5}.isdisjoint(selector.order_[:3])
    deviation = X.std(axis=0, ddof=1)
    expected = deviation[selector.order_[:3]] / deviation.max()
    np.testing.assert_allclose(display.deviation, expected)


def test_lines_join_near_copies_and_nothing_else():
    X = clusters()
    display = FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), X)
    joined = {frozenset(display.names[k] for k in pair) for pair in display.edges_}
    assert joined == {
        frozenset(pair) for pair in [("x0", "x1"), ("x2", "x3"), ("x2", "x4"), ("x3", "x4")]
    }
    assert "x6" not in display.names  # constant, so not in the graph


def test_lines_end_at_nodes_and_copies_are_neighbours():
    X = clusters()
    display = FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), X)
    nodes = display.ax_.collections[0].get_offsets()
    np.testing.assert_allclose(np.linalg.norm(nodes, axis=1), 1.0)
    curves = [line for line in display.ax_.lines if len(line.get_xdata())]
    assert len(curves) == len(display.edges_)
    for line, (i, j) in zip(curves, reversed(display.edges_), strict=True):
        ends = np.column_stack([line.get_xdata(), line.get_ydata()])[[0, -1]]
        np.testing.assert_allclose(ends, nodes[[i, j]], atol=1e-12)
    widths = [line.get_linewidth() for line in curves]
    assert widths == sorted(widths)  # the most redundant pair is drawn last and thickest
    first, second = (display.names.index(name) for name in ("x0", "x1"))
    step = 2 * np.sin(np.pi / len(nodes))
    assert np.linalg.norm(nodes[first] - nodes[second]) == pytest.approx(step)


def test_nodes_grow_with_the_score_and_darken_with_the_deviation():
    X = CANCER.data
    display = FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), X)
    dots = display.ax_.collections[0]
    assert len(dots.get_offsets()) == 30
    assert (np.diff(dots.get_sizes()) <= 0).all()
    np.testing.assert_array_equal(dots.get_array(), display.deviation)
    assert dots.get_clim() == (0.0, 1.0)


def test_names_do_not_overlap_at_thirty_nodes():
    X = CANCER.data.copy()
    X.columns = [f"a measurement with a long name {j}" for j in range(30)]
    display = FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), X)
    display.figure_.draw_without_rendering()
    page = display.figure_.bbox
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    # Around a circle, labels of one line are apart if their inner ends are.
    starts = display.ax_.transData.transform([text.get_position() for text in display.ax_.texts])
    distance = np.linalg.norm(starts[:, None] - starts, axis=2) + np.diag(np.full(30, np.inf))
    assert distance.min() > 8 * display.figure_.dpi / 72


def test_long_names_are_cut_and_dollars_are_no_mathematics():
    names = ["$a_b$", "a name that is much too long for a picture"]
    display = FeatureGraphDisplay(
        names, [2.0, 1.0], [[0.0, 0.4], [0.4, 0.0]], deviation=[1.0, 0.5]
    ).plot()
    first, second = names_in(display)
    assert first == r"1  \$a_b\$"
    assert second.endswith("…")
    assert len(second) <= 27
    display.figure_.draw_without_rendering()


@pytest.mark.parametrize("relation", ["pearson", "mutual_information"])
def test_the_relation_of_the_selector_is_used(relation):
    X, _ = load_iris(return_X_y=True)
    selector = tamis.InfFS(relation=relation).fit(X)
    display = FeatureGraphDisplay.from_estimator(selector, X, min_relation=0.2)
    order = selector.order_
    if relation == "pearson":
        expected = 1 - np.abs(np.corrcoef(X[:, order].T))
        np.testing.assert_allclose(display.non_redundancy, expected, atol=1e-12)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert all(relation.replace("_", " ") in label for label in labels)


def test_a_function_as_relation():
    def same_sign(left, right):
        return np.sign(left).T @ np.sign(right) / len(left)

    X = clusters()[:, :6]
    selector = tamis.InfFS(relation=same_sign).fit(X)
    display = FeatureGraphDisplay.from_estimator(selector, X)
    expected = 1 - np.abs(same_sign(X, X))[np.ix_(selector.order_, selector.order_)]
    np.testing.assert_allclose(display.non_redundancy, expected, atol=1e-12)


def test_weights_count_as_repeated_rows_and_sparse_as_dense():
    rng = np.random.default_rng(1)
    X = rng.poisson(0.7, size=(40, 5)).astype(float)
    weight = rng.integers(0, 3, size=40)
    selector = tamis.InfFS().fit(X, sample_weight=weight)
    weighted = FeatureGraphDisplay.from_estimator(selector, X, sample_weight=weight)
    repeated = FeatureGraphDisplay.from_estimator(selector, np.repeat(X, weight, axis=0))
    stored = FeatureGraphDisplay.from_estimator(selector, sparse.csr_array(X), sample_weight=weight)
    for other in (repeated, stored):
        np.testing.assert_allclose(weighted.non_redundancy, other.non_redundancy, atol=1e-12)
        np.testing.assert_allclose(weighted.deviation, other.deviation)


def test_cross_validated_selector_shows_its_alpha():
    X, y = load_iris(return_X_y=True)
    selector = tamis.InfFSCV(alphas=[0.25, 1.0], grid=[2], cv=3).fit(X, y)
    display = FeatureGraphDisplay.from_estimator(selector, X)
    assert display.alpha == selector.alpha_
    assert f"alpha = {selector.alpha_:g}" in display.ax_.get_title()


def test_draws_on_given_axes_and_one_node():
    _, ax = plt.subplots()
    display = FeatureGraphDisplay(["only"], [1.0], [[0.0]], deviation=[1.0])
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.edges_ == []
    assert names_in(display) == ["1  only"]


def test_other_selectors_and_other_tables_are_refused():
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(InputError, match="expected a fitted InfFS"):
        FeatureGraphDisplay.from_estimator(tamis.DFT().fit(X, y), X)
    with pytest.raises(InputError, match="no column varies"):
        FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), 0 * X)
    with pytest.raises(InputError, match="n_features must be"):
        FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), X, n_features=0)
    with pytest.raises(NotFittedError):
        FeatureGraphDisplay.from_estimator(tamis.InfFS(), X)
    with pytest.raises(ValueError, match="feature"):
        FeatureGraphDisplay.from_estimator(tamis.InfFS().fit(X), pd.DataFrame({"a": [1.0, 2.0]}))
