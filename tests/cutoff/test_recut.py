"""recut: another cut of the fitted scores, without fitting again."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

import tamis
from tamis.cutoff import Budget, CrossValidated, Elbow, Fraction, Mass, PermutationNull, TopK
from tamis.exceptions import InputError, SelectionWarning


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 10)), np.arange(60) % 2
    X[:, 4] += 3.0 * y
    X[:, 7] += 2.0 * y
    return X, y


@pytest.fixture
def fitted(data):
    return tamis.DFT(n_features_to_select=3).fit(*data)


@pytest.fixture
def _no_scoring(fitted, monkeypatch):
    """From here on, any look at the data is an error."""

    def refuse(*_):
        raise AssertionError("recut fitted again")

    monkeypatch.setattr(tamis.DFT, "_score", refuse)
    with pytest.raises(AssertionError, match="recut fitted again"):
        tamis.DFT().fit([[0.0], [1.0]], [0, 1])


RULES = [5, 0.4, "all", TopK(1), Fraction(0.5), Mass(0.5), Budget([1] * 10, 2), Elbow("late")]


@pytest.mark.usefixtures("_no_scoring")
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_nothing_is_fitted_and_transform_follows(rule, fitted, data):
    X, _ = data
    scores, order = fitted.scores_.copy(), fitted.order_.copy()
    assert fitted.recut(rule) is fitted
    np.testing.assert_array_equal(fitted.scores_, scores)
    np.testing.assert_array_equal(fitted.order_, order)
    best = np.sort(order[: fitted.n_selected_])
    np.testing.assert_array_equal(fitted.get_support(indices=True), best)
    np.testing.assert_array_equal(fitted.transform(X), X[:, best])
    assert fitted.to_frame()["selected"].sum() == fitted.n_selected_


@pytest.mark.usefixtures("_no_scoring")
def test_counts_by_hand(fitted):
    assert fitted.recut(5).n_selected_ == 5
    assert fitted.recut(0.4).n_selected_ == 4
    assert fitted.recut("all").n_selected_ == 10
    assert fitted.recut(2).get_support(indices=True).tolist() == [4, 7]


@pytest.mark.usefixtures("_no_scoring")
def test_the_parameter_is_left_alone(fitted):
    assert fitted.recut(7).n_features_to_select == 3


@pytest.mark.usefixtures("_no_scoring")
def test_a_cut_equals_a_fit_with_that_cut(fitted, data, monkeypatch):
    recut = fitted.recut(Mass(0.7)).support_.copy()
    monkeypatch.undo()
    np.testing.assert_array_equal(
        recut, tamis.DFT(n_features_to_select=Mass(0.7)).fit(*data).support_
    )


def test_details_are_those_of_the_last_cut(fitted):
    assert set(fitted.recut("elbow").cut_details_) == {
        "early", "late", "early_range", "late_range",
    }  # fmt: skip
    assert fitted.recut(2).cut_details_ == {}


@pytest.mark.parametrize("rule", [PermutationNull(), CrossValidated(GaussianNB())])
def test_rules_that_look_at_the_data_need_it(rule, fitted, data):
    X, y = data
    for arguments in [(), (X,), (None, y)]:
        with pytest.raises(InputError, match=f"{rule.who}: expected the training data"):
            fitted.recut(rule, *arguments)
    assert fitted.n_selected_ == 3


def test_rules_that_look_at_the_data_equal_a_fit(fitted, data):
    X, y = data
    for rule in (
        PermutationNull(0.05, n_permutations=19),
        CrossValidated(GaussianNB(), grid=[1, 2, 9]),
    ):
        expected = tamis.DFT(n_features_to_select=rule).fit(X, y).support_
        np.testing.assert_array_equal(fitted.recut(rule, X, y).support_, expected)


def test_the_data_must_fit_the_selector(fitted, data):
    X, y = data
    with pytest.raises(ValueError, match="10 features"):
        fitted.recut(PermutationNull(), X[:, :3], y)


def test_a_selector_that_is_not_fitted_has_nothing_to_cut():
    with pytest.raises(NotFittedError):
        tamis.DFT().recut(3)


def test_more_than_there_are_warns(fitted):
    with pytest.warns(SelectionWarning, match="asked for 99 columns, but there are 10"):
        assert fitted.recut(99).n_selected_ == 10
