"""CrossValidated: the number of columns that predicts best on rows not used for selecting."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

import tamis
from tamis.cutoff import CrossValidated
from tamis.exceptions import InputError

SEEN = {"selector": [], "model": [], "scored": [], "weights": []}


class SpyDFT(tamis.DFT):
    """Writes down which rows it is fitted on: column 0 holds the number of the row."""

    def _score(self, X, y, weight):
        SEEN["selector"].append(set(X[:, 0]))
        SEEN["weights"].append(weight)
        return super()._score(X, y, weight)


class SpyModel(GaussianNB):
    """Writes down which rows it learns from, and which it is asked about."""

    def fit(self, X, y):
        SEEN["model"].append(X.copy())
        return super().fit(X, y)

    def predict(self, X):
        SEEN["scored"].append(X.copy())
        return super().predict(X)


@pytest.fixture(autouse=True)
def _nothing_seen():
    for seen in SEEN.values():
        seen.clear()


def numbered_table(n_rows=40, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] = rng.permutation(n_rows)
    X[:, 5] += 3.0 * y
    return X, y


def test_held_out_rows_are_seen_by_nobody():
    X, y = numbered_table()
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    rule = CrossValidated(SpyModel(), cv=folds, grid=[2, 5], keep=[0])
    SpyDFT(n_features_to_select=rule).fit(X, y)
    everything, *selections = SEEN["selector"]
    assert everything == set(range(40))
    assert len(selections) == 4
    assert len(SEEN["model"]) == len(SEEN["scored"]) == 8
    for i, (train, test) in enumerate(folds):
        train_rows, test_rows = set(X[train, 0]), set(X[test, 0])
        assert selections[i] == train_rows
        for j in (2 * i, 2 * i + 1):
            assert set(SEEN["model"][j][:, 0]) == train_rows
            assert set(SEEN["scored"][j][:, 0]) == test_rows


def test_weights_go_with_the_rows_of_the_fold():
    X, y = numbered_table()
    weight = np.arange(1.0, 41.0)
    folds = list(KFold(4).split(X))
    rule = CrossValidated(GaussianNB(), cv=folds, grid=[2])
    SpyDFT(n_features_to_select=rule).fit(X, y, sample_weight=weight)
    for got, (train, _) in zip(SEEN["weights"][1:], folds, strict=True):
        np.testing.assert_array_equal(got, weight[train])


def test_pure_noise_scores_at_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 1500)), np.arange(80) % 2
    rule = CrossValidated(GaussianNB(), cv=StratifiedKFold(4), grid=[5, 20, 60])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    # A share of 80 guesses has a standard deviation of 0.056.
    np.testing.assert_allclose(selector.cut_details_["mean_scores"], 0.5, atol=0.17)
    # The same columns, had they been chosen with the held-out rows in sight, would seem to work.
    chosen = tamis.DFT(n_features_to_select=20).fit_transform(X, y)
    assert cross_val_score(GaussianNB(), chosen, y, cv=StratifiedKFold(4)).mean() > 0.7


def test_a_planted_column_is_enough():
    X, y = numbered_table()
    X[:, 5] += 9.0 * y
    rule = CrossValidated(GaussianNB(), cv=4, grid=[1, 3, 12])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [5]
    np.testing.assert_array_equal(selector.cut_details_["mean_scores"][0], 1.0)


def scripted(scores):
    """Scoring that reads its answers, one list per fold with one number per k."""
    answers = iter([score for fold in scores for score in fold])
    return lambda model, X, y: next(answers)


# Two folds: 0.74 and 0.90 with one column, 0.80 and 0.90 with two, 0.50 and 0.60 with three.
SCORES = [(0.74, 0.8, 0.5), (0.9, 0.9, 0.6)]


def fit_scripted(scores, grid, **options):
    X, y = numbered_table()
    options = {"cv": KFold(2), "grid": grid, "scoring": scripted(scores), **options}
    return tamis.DFT(n_features_to_select=CrossValidated(GaussianNB(), **options)).fit(X, y)


def test_details_by_hand():
    details = fit_scripted(SCORES, [1, 2, 3]).cut_details_
    np.testing.assert_array_equal(details["grid"], [1, 2, 3])
    np.testing.assert_allclose(details["mean_scores"], [0.82, 0.85, 0.55])
    # Two numbers that differ by d have a standard error of d / 2.
    np.testing.assert_allclose(details["standard_errors"], [0.08, 0.05, 0.05])


def test_the_best_mean_wins_and_one_standard_error_forgives():
    assert fit_scripted(SCORES, [1, 2, 3]).n_selected_ == 2
    assert fit_scripted(SCORES, [1, 2, 3], one_standard_error=True).n_selected_ == 1


def test_beyond_one_standard_error_is_not_forgiven():
    scores = [(0.7, 0.8, 0.5), (0.88, 0.9, 0.6)]  # means 0.79 and 0.85, error 0.05
    assert fit_scripted(scores, [1, 2, 3], one_standard_error=True).n_selected_ == 2


def test_of_equal_means_the_smaller_number_wins():
    assert fit_scripted([(0.5, 0.8, 0.8), (0.5, 0.8, 0.8)], [1, 4, 9]).n_selected_ == 4


def test_a_single_fold_has_no_standard_error():
    fold = [(np.arange(30), np.arange(30, 40))]
    selector = fit_scripted([(0.6, 0.9)], [1, 2], cv=fold, one_standard_error=True)
    assert selector.n_selected_ == 2
    np.testing.assert_array_equal(selector.cut_details_["standard_errors"], [0, 0])


def test_a_score_that_is_not_a_number_is_not_the_best():
    with pytest.raises(InputError, match="CrossValidated: expected a score in every fold, got NaN"):
        fit_scripted([(0.9, np.nan, 0.5), (0.9, 0.9, 0.5)], [1, 2, 3])


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_scoring_that_one_row_does_not_allow():
    X, _ = numbered_table(10, 6)
    rule = CrossValidated(LinearRegression(), cv=LeaveOneOut(), grid=[1])
    with pytest.raises(InputError, match="Choose a scoring that every fold allows"):
        tamis.RFT(n_features_to_select=rule).fit(X, X[:, 1])


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "balanced_accuracy", None])
def test_scoring_by_name(scoring):
    X, y = numbered_table()
    rule = CrossValidated(GaussianNB(), cv=3, scoring=scoring, grid=[1, 6])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.n_selected_ in (1, 6)
    assert (selector.cut_details_["mean_scores"] < 0).all() == (scoring == "neg_log_loss")


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_regression(scoring):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    y = 5.0 * X[:, 3] + 5.0 * X[:, 11] + 0.1 * rng.normal(size=60)
    rule = CrossValidated(LinearRegression(), cv=4, scoring=scoring, grid=[1, 2, 30])
    selector = tamis.RFT(n_features_to_select=rule).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 11]


def test_string_labels_and_sparse_tables():
    X, y = numbered_table()
    X[:, 5] += 9.0 * y
    rule = CrossValidated(LinearRegression(), cv=4, grid=[1, 2], scoring="r2")
    selector = tamis.RFT(n_features_to_select=rule).fit(sparse.csr_array(X), y * 1.0)
    assert selector.support_[5]
    rule = CrossValidated(GaussianNB(), cv=4, grid=[1, 12])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, np.array(["no", "yes"])[y])
    assert selector.get_support(indices=True).tolist() == [5]


def test_keep_is_honoured_in_the_folds():
    X, y = numbered_table()
    rule = CrossValidated(SpyModel(), cv=3, grid=[1, 2], keep=[0])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.support_[0]
    assert [table.shape[1] for table in SEEN["model"]] == [1, 2] * 3
    for table in SEEN["model"]:
        assert set(table[:, 0]) < set(range(40))  # whole numbers: it is column 0


def test_groups_are_honoured_in_the_folds():
    X, y = numbered_table(n_columns=6)
    X[:, 0] = 0.01 * X[:, 0]
    rule = CrossValidated(SpyModel(), cv=3, grid=[2, 4], groups=[[0, 1], [2, 5], [3, 4]])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.support_[2]
    assert selector.support_[5]
    pairs = [{0, 1}, {2, 5}, {3, 4}]
    for table in SEEN["model"]:
        columns = {j for j in range(6) for t in table.T if set(t) <= set(X[:, j])}
        assert len(columns) == table.shape[1]
        assert all(pair <= columns or not pair & columns for pair in pairs)


def test_a_number_too_small_for_any_group_is_raised_to_the_smallest():
    X, y = numbered_table(n_columns=6)
    rule = CrossValidated(GaussianNB(), cv=3, groups=[[0, 1], [2, 5], [3, 4]])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.cut_details_["grid"].tolist() == [2, 3, 4, 5, 6]
    rule = CrossValidated(GaussianNB(), cv=3, groups=[[0, 1], [2, 5], [3, 4]], keep=[0], grid=[1])
    selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1]


def test_names_work_in_the_folds():
    pandas = pytest.importorskip("pandas")
    X, y = numbered_table(n_columns=6)
    frame = pandas.DataFrame(X, columns=["row", "b", "c", "d", "e", "f"])
    rule = CrossValidated(SpyModel(), cv=2, grid=[1], keep=["row"])
    selector = tamis.DFT(n_features_to_select=rule).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["row"]
    assert all(set(table[:, 0]) < set(range(40)) for table in SEEN["model"])


def test_the_default_grid_goes_from_one_to_all():
    X, y = numbered_table(n_columns=12)
    rule = CrossValidated(GaussianNB(), cv=2)
    grid = tamis.DFT(n_features_to_select=rule).fit(X, y).cut_details_["grid"]
    assert grid[0] == 1
    assert grid[-1] == 12
    assert (np.diff(grid) > 0).all()


def test_a_grid_is_sorted_and_ends_at_the_last_column():
    X, y = numbered_table(n_columns=12)
    rule = CrossValidated(GaussianNB(), cv=2, grid=[99, 3, 3, np.int64(1), 12])
    grid = tamis.DFT(n_features_to_select=rule).fit(X, y).cut_details_["grid"]
    assert grid.tolist() == [1, 3, 12]


@pytest.mark.parametrize("grid", [[], [0, 1], [-1], [1.5], 3, ["a"], [[1, 2]], [True]], ids=repr)
def test_bad_grids(grid):
    X, y = numbered_table()
    rule = CrossValidated(GaussianNB(), grid=grid)
    with pytest.raises(InputError, match="CrossValidated: grid must hold ints of at least 1, got"):
        tamis.DFT(n_features_to_select=rule).fit(X, y)


@pytest.mark.parametrize("estimator", [None, "svm", 3, object()], ids=["None", "str", "int", "obj"])
def test_bad_estimators(estimator):
    message = "CrossValidated: estimator must be an estimator with a fit method, got"
    with pytest.raises(InputError, match=message):
        CrossValidated(estimator)


def test_weights_reach_an_estimator_that_takes_them():
    class Spy(DummyClassifier):
        seen: ClassVar[list] = []

        def fit(self, X, y, sample_weight=None):
            self.seen.append(np.asarray(sample_weight).sum())
            return super().fit(X, y, sample_weight)

    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 3)), np.arange(30) % 2, rng.random(30)
    rule = CrossValidated(Spy(), cv=3, grid=[1])
    tamis.DFT(n_features_to_select=rule).fit(X, y, sample_weight=weight)
    assert np.sum(Spy.seen) == pytest.approx(2 * weight.sum())  # every row in two of three folds
