"""What a fitted selector shows in a notebook."""

import numpy as np
import pandas as pd
import pytest

import tamis
from tamis._fitted import top_features


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 12))
    X[:, 3] += 9.0 * y
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(12)]), y


def fitted(frame, names=None, k=2):
    X, y = frame
    X = X if names is None else X.set_axis(names, axis=1)
    return tamis.DFT(n_features_to_select=k).fit(X, y)


def test_the_best_columns_are_shown_in_order_and_only_ten(frame):
    selector = fitted(frame)
    html = top_features(selector)
    names = [f"column {j}" for j in selector.order_]
    positions = [html.index(f">{name}<") for name in names[:10]]
    assert positions == sorted(positions)
    assert f">{names[10]}<" not in html
    assert "2 of 12 columns selected" in html
    assert html.count("✓") == 2
    assert "width:100.0%" in html


def test_names_cannot_bring_their_own_html(frame):
    names = ["<script>alert(1)</script>", "a\"b'c&d", *"cdefghijkl"]
    html = top_features(fitted(frame, names, k=12))
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "a&quot;b&#x27;c&amp;d" in html


def test_long_names_are_cut(frame):
    long, just_right = "n" * 500, "m" * 60
    html = top_features(fitted(frame, [long, just_right, *"cdefghijkl"], k=12))
    assert "n" * 59 + "…" in html
    assert "n" * 60 not in html
    assert just_right in html


def test_scores_below_zero_have_empty_bars(frame):
    selector = fitted(frame)
    selector.scores_ = -1.0 - np.arange(12.0)
    assert top_features(selector).count("width:0.0%") == 10


def test_without_names_columns_are_called_as_in_scikit_learn(frame):
    X, y = frame
    html = top_features(tamis.DFT(n_features_to_select=1).fit(X.to_numpy(), y))
    assert ">x3<" in html


def test_a_fitted_selector_shows_its_columns(frame):
    html = fitted(frame)._repr_html_()
    assert "column 3" in html
    assert "2 of 12 columns selected" in html


def test_a_selector_that_is_not_fitted_shows_itself():
    selector = tamis.DFT(n_bins=8)
    html = selector._repr_html_()
    assert "DFT" in html
    assert "columns selected" not in html
    assert repr(selector) == "DFT(n_bins=8)"


def test_the_plain_repr_shows_the_rule(frame):
    selector = fitted(frame, k=tamis.cutoff.TopK(2))
    assert "TopK(" in repr(selector)
    assert "k=2" in repr(selector)
