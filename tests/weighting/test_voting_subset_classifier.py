"""Votes are counted as by hand, columns are drawn as the weights say, and it is a classifier."""

import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import chi2
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import tamis
from tamis import OFW, VotingSubsetClassifier
from tamis.exceptions import InputError

IRIS, SPECIES = load_iris(return_X_y=True)
CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
QUICK = {"n_subsets": 8, "random_state": 0}


class SaysItsColumn(ClassifierMixin, BaseEstimator):
    """Predicts what is written in the first column it gets; learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


class SaysYes(ClassifierMixin, BaseEstimator):
    """Says yes where the first column lists the share of ones it was trained on."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.share_ = round(float(np.mean(y)), 2)
        return self

    def predict(self, X):
        code = {0.2: 1, 0.3: 2, 0.5: 4}[self.share_]
        return (X[:, 0].astype(int) & code) // code


def stub(estimator, subsets, X, y, **params):
    """A fitted classifier with subsets chosen here instead of drawn."""
    model = VotingSubsetClassifier(
        estimator=estimator, n_subsets=len(subsets), scale=False, random_state=0, **params
    ).fit(X, y)
    model.subsets_ = [np.array(columns) for columns in subsets]
    return model


@pytest.mark.sampled(5)
@parametrize_with_checks(
    [
        VotingSubsetClassifier(n_subsets=5, random_state=0),
        VotingSubsetClassifier(estimator="cart", voting="one_vs_all", n_subsets=3, random_state=0),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_votes_are_those_counted_by_hand():
    X = np.array([[0, 1, 1], [2, 2, 0], [0, 1, 2], [1, 0, 1]])
    y = ["low", "mid", "top", "mid"]
    model = stub(SaysItsColumn(), [[0], [1], [2], [2]], X, y)
    # Votes of row 0: 0, 1, 1, 1. Row 1: 2, 2, 0, 0, a tie. Row 2: 0, 1, 2, 2. Row 3: 1, 0, 1, 1.
    expected = np.array([[1, 3, 0], [2, 0, 2], [1, 1, 2], [1, 3, 0]]) / 4
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), ["mid", "low", "top", "mid"])


def test_every_machine_of_one_against_all_may_give_its_class_a_vote():
    # Shares of the classes are 0.2, 0.3 and 0.5, by which the stub knows which machine it is; the
    # bits of a cell say which machines answer yes: 1, 2 and 4.
    y = np.repeat(["a", "b", "c"], [2, 3, 5])
    X = np.zeros((10, 2), dtype=int)
    X[:5] = [[1, 3], [4, 6], [0, 0], [7, 0], [2, 4]]
    X[5] = 9  # both columns vary
    model = stub(SaysYes(), [[0], [1], [1]], X, y, voting="one_vs_all")
    assert [len(machines) for machines in model.estimators_] == [3, 3, 3]
    votes = np.array([[3, 2, 0], [0, 2, 3], [0, 0, 0], [1, 1, 1], [0, 1, 2]])
    expected = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    expected[2] = 1 / 3  # nobody voted
    np.testing.assert_allclose(model.predict_proba(X[:5]), expected, rtol=1e-15)
    np.testing.assert_array_equal(model.predict(X[:5]), ["a", "c", "a", "a", "c"])


def test_one_against_all_trains_what_it_says():
    model = VotingSubsetClassifier(estimator="cart", voting="one_vs_all", **QUICK)
    model.fit(IRIS, SPECIES)
    scaled = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    votes = np.zeros((150, 3))
    for columns, machines in zip(model.subsets_, model.estimators_, strict=True):
        for c, machine in enumerate(machines):
            tree = DecisionTreeClassifier(max_depth=5, random_state=machine.random_state)
            tree.fit(scaled[:, columns], c == SPECIES)
            votes[:, c] += tree.predict(scaled[:, columns])
    np.testing.assert_allclose(
        model.predict_proba(IRIS), votes / votes.sum(axis=1, keepdims=True), rtol=1e-12
    )


def test_two_classes_need_no_machine_for_each():
    one, other = (
        VotingSubsetClassifier(voting=voting, **QUICK).fit(CANCER, TUMOUR)
        for voting in ("majority", "one_vs_all")
    )
    assert not isinstance(other.estimators_[0], list)
    np.testing.assert_array_equal(one.predict_proba(CANCER), other.predict_proba(CANCER))


@pytest.mark.parametrize(
    ("word", "params", "expected"),
    [
        ("svm", None, LinearSVC(dual=False)),
        ("svm", {"C": 0.1}, LinearSVC(dual=False, C=0.1)),
        ("nn", {"n_neighbors": 4}, KNeighborsClassifier(4)),
        ("nn", {"metric": "mismatch"}, KNeighborsClassifier(1, metric="hamming")),
        ("cart", {"max_depth": 2}, DecisionTreeClassifier(max_depth=2, random_state=0)),
    ],
)
def test_all_weight_on_one_column_is_the_classifier_of_that_column(word, params, expected):
    weights = np.zeros(30)
    weights[22] = 3.0
    model = VotingSubsetClassifier(
        estimator=word, estimator_params=params, weights=weights, subset_size=5, **QUICK
    ).fit(CANCER[::2], TUMOUR[::2])
    assert all(columns.tolist() == [22] for columns in model.subsets_)
    column = StandardScaler().fit(CANCER[::2, [22]])
    expected.fit(column.transform(CANCER[::2, [22]]), TUMOUR[::2])
    other = expected.predict(column.transform(CANCER[1::2, [22]]))
    np.testing.assert_array_equal(model.predict(CANCER[1::2]), other)
    assert set(model.predict_proba(CANCER[1::2]).ravel()) == {0.0, 1.0}


def test_linear_discriminant_has_the_shrinkage_asked_for():
    for params, expected in ((None, 0.1), ({"shrinkage": 0.5}, 0.5)):
        model = VotingSubsetClassifier(estimator="lda", estimator_params=params, **QUICK)
        assert model.fit(CANCER, TUMOUR).estimators_[0].shrinkage == expected
        assert model.score(CANCER, TUMOUR) > 0.9


@pytest.mark.slow
def test_columns_are_drawn_in_proportion_to_the_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 5)), np.arange(20) % 2
    weights = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    model = VotingSubsetClassifier(
        estimator=SaysItsColumn(), weights=weights, subset_size=1, n_subsets=1000, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(model.weights_, weights / 10)
    found = np.bincount(np.concatenate(model.subsets_), minlength=5)
    assert found[0] == 0
    expected = 1000 * model.weights_[1:]
    distance = ((found[1:] - expected) ** 2 / expected).sum()
    assert distance < chi2(3).ppf(0.999)


@pytest.mark.slow
def test_subsets_are_sorted_distinct_and_as_large_as_asked():
    model = VotingSubsetClassifier(subset_size=20, n_subsets=50, random_state=0)
    model.fit(CANCER, TUMOUR)
    for columns in model.subsets_:
        assert (np.diff(columns) > 0).all()
    # Of 20 draws with replacement from 30 columns, 30 (1 - (29 / 30)^20) = 14.77 are distinct.
    assert abs(np.mean([columns.size for columns in model.subsets_]) - 14.77) < 1.0
    assert VotingSubsetClassifier(**QUICK).fit(CANCER, TUMOUR).subset_size_ == 6
    assert VotingSubsetClassifier(subset_size=99, **QUICK).fit(IRIS, SPECIES).subset_size_ == 4


@pytest.mark.slow
def test_same_seed_same_result_for_every_number_of_threads():
    for estimator in (
        "svm", "cart", LinearSVC(loss="hinge", tol=0.1),
        make_pipeline(StandardScaler(), LinearSVC(loss="hinge", tol=0.1)),
        DecisionTreeClassifier(max_features=1),
    ):  # fmt: skip
        made = [
            VotingSubsetClassifier(
                estimator=estimator, n_subsets=12, sample_size=0.7, random_state=3, n_jobs=n_jobs
            ).fit(CANCER, TUMOUR)
            for n_jobs in (1, 2, 4, None)
        ]
        for other in made[1:]:
            for one, two in zip(made[0].subsets_, other.subsets_, strict=True):
                np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(
                made[0].predict_proba(CANCER), other.predict_proba(CANCER)
            )
        if isinstance(estimator, LinearSVC):
            for one, two in zip(made[0].estimators_, made[2].estimators_, strict=True):
                np.testing.assert_array_equal(one.coef_, two.coef_)


def test_other_seeds_draw_others_and_more_subsets_begin_with_the_same():
    few, more, other = (
        VotingSubsetClassifier(n_subsets=n, random_state=seed).fit(CANCER, TUMOUR)
        for n, seed in ((5, 0), (9, 0), (5, 1))
    )
    for one, two in zip(few.subsets_, more.subsets_, strict=False):
        np.testing.assert_array_equal(one, two)
    assert any(a.tolist() != b.tolist() for a, b in zip(few.subsets_, other.subsets_, strict=True))


def test_classifiers_inside_get_seeds_but_keep_their_own():
    free = VotingSubsetClassifier(estimator=DecisionTreeClassifier(), **QUICK)
    seeds = {tree.random_state for tree in free.fit(IRIS, SPECIES).estimators_}
    assert len(seeds) == 8
    fixed = VotingSubsetClassifier(estimator=DecisionTreeClassifier(random_state=7), **QUICK)
    assert {tree.random_state for tree in fixed.fit(IRIS, SPECIES).estimators_} == {7}


@pytest.mark.slow
def test_selector_gives_weights_and_subset_size_fitted_or_not():
    selector = OFW(estimator="nn", subset_size=2, max_iter=400, random_state=0)
    inside = VotingSubsetClassifier(weights=selector, **QUICK).fit(IRIS, SPECIES)
    assert not hasattr(selector, "weights_")  # the one given is left alone
    fitted = clone(selector).fit(IRIS, SPECIES)
    outside = VotingSubsetClassifier(weights=fitted, **QUICK).fit(IRIS, SPECIES)
    assert not hasattr(outside, "selector_")
    np.testing.assert_allclose(inside.weights_, fitted.weights_, rtol=1e-12)
    np.testing.assert_array_equal(inside.selector_.weights_, fitted.weights_)
    assert inside.subset_size_ == outside.subset_size_ == 2
    np.testing.assert_array_equal(inside.predict_proba(IRIS), outside.predict_proba(IRIS))
    seedless = VotingSubsetClassifier(weights=clone(selector).set_params(random_state=None))
    one, two = (clone(seedless).set_params(**QUICK).fit(IRIS, SPECIES) for _ in range(2))
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_scores_of_other_selectors_are_weights():
    selector = tamis.Fisher().fit(CANCER, TUMOUR)
    model = VotingSubsetClassifier(weights=selector, **QUICK).fit(CANCER, TUMOUR)
    np.testing.assert_allclose(model.weights_, selector.scores_ / selector.scores_.sum())
    assert model.subset_size_ == 6
    unfitted = VotingSubsetClassifier(weights=tamis.Fisher(), **QUICK).fit(CANCER, TUMOUR)
    np.testing.assert_allclose(unfitted.weights_, model.weights_, rtol=1e-12)


@pytest.mark.slow
def test_cross_validation_learns_weights_inside_the_folds():
    # On pure noise with many columns, weights from all rows would leak; inside they cannot.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2000)), np.arange(40) % 2
    scores = tamis.Fisher().fit(X, y).scores_ ** 4
    model = VotingSubsetClassifier(weights=scores, n_subsets=21, subset_size=20, random_state=0)
    leaked = cross_val_score(model, X, y, cv=4).mean()
    honest = cross_val_score(clone(model).set_params(weights=tamis.Fisher()), X, y, cv=4).mean()
    fitted = clone(model).set_params(weights=tamis.Fisher().fit(X, y))
    assert leaked > 0.75
    assert abs(honest - 0.5) < 0.2
    assert cross_val_score(fitted, X, y, cv=4).mean() == honest  # cloning unfits
    frozen = VotingSubsetClassifier(weights=FrozenEstimator(tamis.Fisher().fit(X, y)), **QUICK)
    assert not hasattr(clone(frozen).fit(X, y), "selector_")


@pytest.mark.slow
def test_grid_search_pipeline_clone_and_pickle():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), VotingSubsetClassifier(estimator="nn", **QUICK)),
        {"votingsubsetclassifier__subset_size": [1, 3]},
        cv=3,
    ).fit(IRIS, SPECIES)
    assert search.best_score_ > 0.9
    model = search.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    scaled = StandardScaler().fit_transform(IRIS)
    np.testing.assert_array_equal(model.predict_proba(scaled), again.predict_proba(scaled))


def test_frames_and_labels_keep_their_names():
    frame = pd.DataFrame(CANCER, columns=[f"c{j}" for j in range(30)])
    labels = np.where(TUMOUR == 1, "benign", "malignant")
    plain = VotingSubsetClassifier(**QUICK).fit(CANCER, labels)
    for table in (frame, pl.from_pandas(frame)):
        model = VotingSubsetClassifier(**QUICK).fit(table, labels)
        assert list(model.feature_names_in_) == list(frame.columns)
        assert list(model.classes_) == ["benign", "malignant"]
        np.testing.assert_array_equal(model.predict(table), plain.predict(CANCER))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    selector = tamis.Fisher().fit(frame, labels)
    with pytest.raises(InputError, match="expected the columns that Fisher was fitted on"):
        VotingSubsetClassifier(weights=selector).fit(frame[frame.columns[::-1]], labels)


@pytest.mark.parametrize("scale", [True, False])
def test_missing_cells_are_at_the_mean_of_fit(scale):
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(CANCER.shape) < 0.2, np.nan, CANCER)
    train, test = holes[::2], holes[1::2]
    mean = np.nanmean(train, axis=0)
    model = VotingSubsetClassifier(estimator="nn", scale=scale, **QUICK).fit(train, TUMOUR[::2])
    filled = np.where(np.isnan(test), mean, test)
    np.testing.assert_array_equal(model.predict_proba(test), model.predict_proba(filled))
    if not scale:
        other = VotingSubsetClassifier(estimator="nn", scale=False, **QUICK)
        other.fit(np.where(np.isnan(train), mean, train), TUMOUR[::2])
        np.testing.assert_array_equal(model.predict_proba(test), other.predict_proba(filled))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_tables_give_what_dense_ones_give(form):
    X = np.where(np.quantile(CANCER, 0.6, axis=0) < CANCER, CANCER, 0.0)
    dense = VotingSubsetClassifier(estimator="nn", **QUICK).fit(X, TUMOUR)
    thin = VotingSubsetClassifier(estimator="nn", **QUICK).fit(form(X), TUMOUR)
    np.testing.assert_array_equal(dense.predict_proba(X), thin.predict_proba(form(X)))


def test_other_number_types_and_far_offsets():
    expected = VotingSubsetClassifier(estimator="cart", **QUICK).fit(IRIS, SPECIES)
    tens = np.round(10 * IRIS).astype(int)
    for table in (tens, 1e8 + 10 * IRIS, 1e-9 * IRIS, (10 * IRIS).astype(np.float32)):
        model = VotingSubsetClassifier(estimator="cart", **QUICK).fit(table, SPECIES)
        np.testing.assert_allclose(
            model.predict_proba(table), expected.predict_proba(IRIS), atol=0.13
        )
        assert model.score(table, SPECIES) > 0.95


def test_constant_columns_are_not_drawn_unless_there_is_nothing_else():
    X = np.column_stack([IRIS[:, 2], np.full(150, 7.0), np.full(150, np.nan), IRIS[:, 3]])
    model = VotingSubsetClassifier(n_subsets=30, random_state=0).fit(X, SPECIES)
    assert set(np.concatenate(model.subsets_)) == {0, 3}
    np.testing.assert_array_equal(model.weights_, [0.5, 0.0, 0.0, 0.5])
    assert model.subset_size_ == 2
    for estimator in ("svm", "nn", "lda", "cart"):
        blind = VotingSubsetClassifier(estimator=estimator, **QUICK).fit(X[:, 1:3], SPECIES)
        assert len(set(blind.predict(X[:, 1:3]))) == 1
    only = VotingSubsetClassifier(weights=[0, 1, 0, 0], **QUICK).fit(X, SPECIES)
    assert set(np.concatenate(only.subsets_)) == {1}


def test_sample_size_draws_so_many_rows_for_each_subset():
    class Counts(SaysItsColumn):
        def fit(self, X, y):
            self.shape_, self.distinct_ = X.shape, len(np.unique(X[:, 0]))
            return super().fit(X, y)

    X = np.arange(300.0)[:, None] * [1, 1]
    y = np.arange(300) % 2
    for wanted, expected in ((50, 50), (0.5, 150), (1.0, 300), (500, 500), (None, 300)):
        model = VotingSubsetClassifier(estimator=Counts(), sample_size=wanted, **QUICK).fit(X, y)
        assert {machine.shape_[0] for machine in model.estimators_} == {expected}
        if wanted == 1.0:  # a bootstrap sample holds 63% of the rows
            share = np.mean([machine.distinct_ for machine in model.estimators_]) / 300
            assert abs(share - 0.632) < 0.03


@pytest.mark.slow
def test_sample_of_one_class_answers_with_it():
    y = np.zeros(150, dtype=int)
    y[:2] = 5
    for voting, target in (("majority", y), ("one_vs_all", np.where(SPECIES == 0, y, SPECIES))):
        model = VotingSubsetClassifier(sample_size=3, voting=voting, n_subsets=30, random_state=0)
        model.fit(IRIS, target)
        assert model.score(IRIS[2:], target[2:]) > 0.6
    few = VotingSubsetClassifier(
        estimator="nn", estimator_params={"n_neighbors": 9}, sample_size=4, **QUICK
    )
    assert few.fit(IRIS, SPECIES).predict(IRIS).shape == (150,)


def test_weights_of_rows():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=CANCER.shape[0]).astype(float)
    twice = np.repeat(np.arange(weight.size), weight.astype(int))
    params = {"estimator": LogisticRegression(), **QUICK}
    one = VotingSubsetClassifier(**params).fit(CANCER, TUMOUR, sample_weight=weight)
    other = VotingSubsetClassifier(**params).fit(CANCER[twice], TUMOUR[twice])
    np.testing.assert_array_equal(one.predict_proba(CANCER), other.predict_proba(CANCER))
    neighbours = VotingSubsetClassifier(estimator="nn", **QUICK)
    with pytest.raises(
        InputError, match=r"KNeighborsClassifier, whose fit takes none\. Set sample"
    ):
        neighbours.fit(CANCER, TUMOUR, sample_weight=weight)
    half = np.where(np.arange(weight.size) % 2, 4.0, 0.0)
    kept = neighbours.fit(CANCER, TUMOUR, sample_weight=half).predict_proba(CANCER)
    expected = clone(neighbours).fit(CANCER[1::2], TUMOUR[1::2]).predict_proba(CANCER)
    np.testing.assert_array_equal(kept, expected)
    drawn = VotingSubsetClassifier(estimator="nn", sample_size=60, **QUICK)
    mostly = np.where(TUMOUR == 1, 1.0, 1e-9)
    assert drawn.fit(CANCER, TUMOUR, sample_weight=mostly).predict(CANCER).min() == 1


def test_selector_inside_sees_the_weights_of_rows():
    weight = np.where(np.arange(569) % 3, 1.0, 5.0)
    model = VotingSubsetClassifier(weights=tamis.Fisher(), **QUICK)
    model.fit(CANCER, TUMOUR, sample_weight=weight)
    expected = tamis.Fisher().fit(CANCER, TUMOUR, sample_weight=weight).scores_
    np.testing.assert_allclose(model.selector_.scores_, expected)


def test_any_classifier_works():
    model = VotingSubsetClassifier(estimator=SVC(), subset_size=8, **QUICK)
    assert cross_val_score(model, CANCER, TUMOUR, cv=3).min() > 0.9
    assert model.fit(CANCER, TUMOUR).score(CANCER, TUMOUR) > 0.95


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": [1.0, 2.0]}, r"one of the weights per column of X \(4\), got shape \(2,\)"),
        ({"weights": [1.0, 2.0, -1.0, 0.0]}, r"not negative, got -1.0 for column 2\."),
        ({"weights": [1.0, np.nan, 1.0, 0.0]}, r"not negative, got nan for column 1\."),
        ({"weights": [0.0] * 4}, "got only zeros"),
        ({"weights": "uniform"}, "must be one number per column, a selector or None"),
        ({"weights": StandardScaler()}, "StandardScaler, which has neither after fit"),
        ({"estimator": "knn"}, "estimator must be 'svm' or 'nn'"),
        (
            {"estimator": "nn", "estimator_params": {"C": 1}},
            "may hold n_neighbors, metric, got 'C'",
        ),
        ({"estimator": SVC(), "estimator_params": {"C": 1}}, "estimator_params belong to"),
        ({"n_subsets": 0}, "n_subsets must be an int of at least 1, got 0"),
        ({"subset_size": 0}, "subset_size must be an int of at least 1 or None"),
        ({"voting": "soft"}, "voting must be 'majority' or 'one_vs_all', got 'soft'"),
        ({"sample_size": 1.5}, r"a float in \(0, 1\] or None, got 1.5"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_parameters_are_explained(params, message):
    with pytest.raises(InputError, match=f"VotingSubsetClassifier: .*{message}"):
        VotingSubsetClassifier(**params).fit(IRIS, SPECIES)


def test_wrong_tables_are_explained():
    model = VotingSubsetClassifier(subset_size=4, n_subsets=20, random_state=0)
    bad = IRIS.copy()
    bad[3, 1] = np.inf
    with pytest.raises(InputError, match="got inf in column 1"):
        clone(model).fit(bad, SPECIES)
    model.fit(IRIS, SPECIES)
    with pytest.raises(InputError, match="got inf in column 1"):
        model.predict(bad)
    with pytest.raises(InputError, match="got one class"):
        clone(model).fit(IRIS, np.zeros(150))
    with pytest.raises(InputError, match="got one class"):
        clone(model).fit(IRIS, SPECIES, sample_weight=(SPECIES == 1).astype(float))
    with pytest.raises(InputError, match="columns of numbers"):
        clone(model).fit(pd.DataFrame({"a": [f"text {i}" for i in range(150)]}), SPECIES)


def test_a_fit_that_fails_leaves_nothing_behind():
    model = VotingSubsetClassifier(**QUICK).fit(IRIS, SPECIES)
    with pytest.raises(InputError):
        model.fit(IRIS, np.zeros(150))
    assert not hasattr(model, "estimators_")
    assert not hasattr(model, "subsets_")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_learned_weights_beat_uniform_ones_on_spambase():
    """As in the paper: 54 rates of words, 3,450 messages to learn from, 4-NN on 15 columns."""
    data = tamis.datasets.load("spambase")
    X, y = np.asarray(data.X)[:, :54], np.asarray(data.y)
    neighbours = {"estimator": "nn", "estimator_params": {"n_neighbors": 4}, "subset_size": 15}
    single, voted = [], []
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(y.size)
        train, test = rows[:3450], rows[3450:]
        learned = OFW(sample_size=200, max_iter=6000, random_state=seed, **neighbours)
        for weights in (None, learned):
            model = VotingSubsetClassifier(
                weights=weights, n_subsets=21, random_state=seed, **neighbours
            ).fit(X[train], y[train])
            voted.append(1 - model.score(X[test], y[test]))
            # The error of one classifier is what OFW lowers: with what chance is a vote wrong?
            wrong = (model.classes_ != y[test][:, None]) * model.predict_proba(X[test])
            single.append(wrong.sum(axis=1).mean())
    uniform, weighted = np.reshape(single, (3, 2)).T
    assert (weighted < uniform - 0.03).all()
    uniform, weighted = np.reshape(voted, (3, 2)).T
    # Many bad classifiers vote well enough to come close on one split or another.
    assert weighted.mean() < uniform.mean() - 0.005
