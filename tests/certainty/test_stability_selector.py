"""StabilitySelector: the contract of selectors, and agreement with the rule."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tamis
from checks import CHECKS, data
from tamis.certainty import StabilitySelection, StabilitySelector
from tamis.exceptions import InputError, SelectionWarning

FEW = StabilitySelection(n_pairs=3, n_jobs=1)
EXEMPTIONS = {
    "check_column_permutation": "rows are ordered by their cells: other columns first, other halves"
}


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([StabilitySelector(stability=FEW)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("check", [check for check in CHECKS if check.__name__ not in EXEMPTIONS])
def test_promise(check, task):
    check(StabilitySelector(stability=FEW), task)


def test_scores_are_frequencies():
    X, y = data("classification")
    fitted = StabilitySelector("anovaf", stability=StabilitySelection(n_per_half=2)).fit(X, y)
    np.testing.assert_array_equal(fitted.scores_, fitted.cut_details_["frequencies"])
    np.testing.assert_array_equal(fitted.scores_, fitted.evidence_["frequencies"])
    assert fitted.scores_.sum() == pytest.approx(2)
    selected = fitted.scores_ >= fitted.cut_details_["threshold"]
    np.testing.assert_array_equal(fitted.support_, selected)


def test_frequencies_are_close_to_those_of_the_rule():
    X, y = data("classification")
    rule = StabilitySelection(n_per_half=4, n_pairs=200)
    by_rule = tamis.AnovaF(n_features_to_select=rule).fit(X, y).cut_details_["frequencies"]
    by_selector = StabilitySelector("anovaf", stability=rule).fit(X, y).scores_
    # Other halves: two shares of 400 dependent draws each.
    np.testing.assert_allclose(by_selector, by_rule, atol=0.12)


def test_recut_needs_no_data():
    X, y = data("classification")
    rule = StabilitySelection(n_per_half=4, n_pairs=20)
    fitted = StabilitySelector("anovaf", stability=rule).fit(X, y)
    fitted.recut(2)
    assert fitted.n_selected_ == 2
    other = StabilitySelection(n_per_half=4, n_pairs=20, threshold=0.9, level=10)
    np.testing.assert_array_equal(fitted.recut(other).support_, fitted.scores_ >= 0.9)
    assert fitted.cut_details_["threshold"] == 0.9
    with pytest.raises(InputError, match="expected the training data"):
        fitted.recut(StabilitySelection(n_pairs=21))


def test_unsupervised_selectors_need_no_target():
    X, _ = data("regression")
    X[:, 3] *= 10
    selector = StabilitySelector(tamis.Variance(), stability=FEW)
    assert not selector.__sklearn_tags__().target_tags.required
    assert selector.fit(X).scores_[3] == 1


def test_wrapped_selector_is_left_alone():
    X, y = data("classification")
    inner = tamis.DFT(n_bins=8)
    fitted = StabilitySelector(inner, stability=FEW, n_features_to_select=3).fit(X, y)
    assert not hasattr(inner, "scores_")
    assert inner.n_features_to_select == "auto"
    assert clone(fitted).get_params()["selector__n_bins"] == 8
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])


def test_labels_of_rows_move_with_the_rows():
    X, y = data("regression")
    groups = np.repeat(np.arange(30), 3)
    rule = StabilitySelection(n_pairs=5, n_per_half=3, groups=groups)
    one = StabilitySelector("correlation", stability=rule).fit(X, y)
    order = np.random.default_rng(1).permutation(90)
    rule = StabilitySelection(n_pairs=5, n_per_half=3, groups=groups[order])
    other = StabilitySelector("correlation", stability=rule).fit(X[order], y[order])
    assert one.scores_.sum() == other.scores_.sum() == pytest.approx(3)


def test_sparse_and_dense_agree():
    X, y = data("classification")
    X[X < 0.5] = 0
    dense = StabilitySelector(stability=FEW, n_features_to_select=2).fit(X, y)
    other = StabilitySelector(stability=FEW, n_features_to_select=2).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.scores_, other.scores_)


def test_bad_input():
    X, y = data("classification")
    with pytest.raises(InputError, match=r"StabilitySelector: selector: expected one of"):
        StabilitySelector("nonsense").fit(X, y)
    with pytest.raises(InputError, match="selector must be the name of a selector"):
        StabilitySelector(3).fit(X, y)
    with pytest.raises(InputError, match="stability must be a StabilitySelection or None"):
        StabilitySelector(stability=0.8).fit(X, y)
    with pytest.raises(InputError, match="takes sample_weight, got ReliefF"):
        StabilitySelector("relieff").fit(X, y, sample_weight=np.arange(90))
    with pytest.raises(InputError, match=r"StabilitySelector: expected at least 4 rows"):
        StabilitySelector().fit(X[:3], y[:3])


def test_none_selected_warns():
    X = np.random.default_rng(0).normal(size=(40, 60))
    with pytest.warns(SelectionWarning, match="no column was selected"):
        StabilitySelector(stability=FEW).fit(X, np.arange(40) % 2)
