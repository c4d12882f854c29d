import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score
from threadpoolctl import threadpool_limits

import tamis
from reference.information import (
    information_of,
    kraskov,
    ross,
    sampled_information,
    table_of,
)
from tamis import MutualInformation
from tamis.exceptions import InputError
from tamis.filters.information import lower_credible, posterior, with_prior
from tamis.filters.mutual_information import noise_of

# scikit-learn counts values with a fraction as categories, but wonders about them.
pytestmark = pytest.mark.filterwarnings("ignore:Clustering metrics expects discrete")


@pytest.fixture(autouse=True)
def _one_thread_for_scikit_learn():
    """Its searches among a handful of rows are slower with threads."""
    with threadpool_limits(1):
        yield


def fitted(X, y, sample_weight=None, **options):
    return MutualInformation(n_features_to_select="all", **options).fit(X, y, sample_weight)


def scores(X, y, sample_weight=None, **options):
    return fitted(X, y, sample_weight, **options).scores_


def knn(X, y, seed=0, **options):
    return scores(X, y, estimator="knn", random_state=seed, **options)


class SameNoise(np.random.RandomState):
    """Hands scikit-learn the noise that breaks ties here."""

    def __init__(self, columns, target, seed):
        super().__init__(0)
        self.columns, self.target, self.seed = columns, target, seed

    def standard_normal(self, size):
        if np.ndim(size) == 0:
            return noise_of(self.target, self.seed)
        return np.column_stack([noise_of(column, self.seed) for column in self.columns])


def peer(function, X, y, seed=0, *, discrete_features="auto", **options):
    """What scikit-learn says of centred columns, so that its noise is as small as ours."""
    X = np.asarray(X, dtype=np.float64)
    mask = np.zeros(X.shape[1], dtype=bool)
    if not isinstance(discrete_features, str):
        mask[... if discrete_features is True else discrete_features] = True
    noise = SameNoise(X.T[~mask], np.asarray(y, dtype=object), seed)
    if function is mutual_info_regression:
        noise.target = np.asarray(y, dtype=np.float64)
        y = noise.target - noise.target.mean()
    X = np.where(mask, X, X - np.nanmean(np.asfortranarray(X), axis=0))
    return function(X, y, random_state=noise, discrete_features=mask, **options)


def equals(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# Bins.


def test_a_two_by_two_table_by_hand():
    # Counts 3, 1 | 1, 3: I = 6/8 log(3/8 / 1/4) + 2/8 log(1/8 / 1/4).
    X, y = np.array([[0, 0, 0, 1, 0, 1, 1, 1]]).T, [0, 0, 0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(scores(X, y), 0.75 * np.log(1.5) + 0.25 * np.log(0.5), rtol=1e-12)


def test_independent_is_zero_and_identical_is_the_entropy():
    y = np.repeat([0, 1, 2], 12)
    X = np.column_stack([y, np.tile(np.arange(12), 3), np.ones(36)])
    selector = fitted(X, y)
    np.testing.assert_allclose(selector.scores_, [np.log(3), 0, 0], atol=1e-12)
    assert selector.scores_[1] == 0
    assert selector.constant_.tolist() == [False, False, True]


def test_integers_in_bins_of_their_own_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 16, size=(200, 5)), rng.integers(0, 4, 200)
    X[:2] = [[0] * 5, [15] * 5]
    equals(scores(X, y), [mutual_info_score(x, y) for x in X.T])


@pytest.mark.parametrize("layout", ["C", "F", "csr"])
def test_bins_against_the_twin(layout):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.6)
    if layout != "csr":
        X[rng.random(X.shape) < 0.2] = np.nan
    y, weight = rng.integers(0, 3, 60), rng.choice([0.0, 0.3, 1.0, 2.7], 60)
    make = {"C": np.array, "F": np.asfortranarray, "csr": sparse.csr_matrix}[layout]
    twin = [information_of(table_of(x, y, weight, 7, 3)) for x in X.T]
    equals(scores(make(X), y, weight, n_bins=7), twin)
    equals(scores(make(X), y, 1e-3 * weight, n_bins=7), twin)


def test_a_numeric_target_is_cut_into_equal_shares():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(64, 3)), rng.permutation(64) + 0.5
    y[y > 60] *= 1e6  # outliers move nothing
    codes = np.argsort(np.argsort(y)) // 16
    twin = [information_of(table_of(x, codes, np.ones(64), 4, 4)) for x in X.T]
    selector = fitted(X, y, n_bins=4)
    equals(selector.scores_, twin)
    assert not hasattr(selector, "classes_")
    # A target that is nearly always the same keeps its two values apart.
    rare = np.r_[0.5, np.full(63, 1.5)]
    equals(scores(X, rare, n_bins=4), scores(X, rare > 1, n_bins=4))


def test_numeric_target_with_weights_as_with_repeated_rows():
    rng = np.random.default_rng(3)
    X, y, weight = rng.normal(size=(50, 4)), rng.normal(size=50).round(1), rng.integers(0, 4, 50)
    rows = np.repeat(np.arange(50), weight)
    for estimator in ("binned", "posterior_mean", "lower_credible"):
        options = {"estimator": estimator, "n_bins": 5, "task": "regression"}
        equals(scores(X, y, weight, **options), scores(X[rows], y[rows], **options))


# Neighbours: the same numbers as scikit-learn.


def tables(rng, n_rows):
    noise = rng.normal(size=(n_rows, 6))
    mixed = noise.copy()
    mixed[:, ::2] = rng.integers(0, 3, size=mixed[:, ::2].shape)
    return {
        "continuous": noise,
        "ties": noise.round(1),
        "integers": rng.integers(0, 5, size=(n_rows, 6)),
        "mixed": np.asfortranarray(mixed),
        "offsets": noise * [1e-6, 1, 1e5, 1, 1, 1] + [1, 1e8, 0, 1e3, -5, 1e-3],
        "float32": noise.astype(np.float32),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(tables(np.random.default_rng(0), 30)))
@pytest.mark.parametrize(("n_rows", "n_neighbors"), [(30, 1), (41, 3), (120, 3), (120, 10)])
def test_equal_to_scikit_learn(kind, n_rows, n_neighbors):
    rng = np.random.default_rng(n_rows + n_neighbors)
    X = tables(rng, n_rows)[kind]
    y = rng.integers(0, 3, n_rows)
    y[0], y[1:6] = 7, 8  # a class of one row and one of few
    number = np.asarray(X[:, 1] + rng.normal(size=n_rows).round(1) + 0.01, dtype=np.float64)
    for discrete in ("auto", True, [0, 3], np.arange(6) % 2 == 0):
        options = {"n_neighbors": n_neighbors, "discrete_features": discrete}
        equals(knn(X, y, 5, **options), peer(mutual_info_classif, X, y, 5, **options))
        # scikit-learn has no answer if all values differ and count as categories.
        if kind in ("ties", "integers") or isinstance(discrete, str):
            expected = peer(mutual_info_regression, X, number, 5, **options)
            equals(knn(X, number, 5, task="regression", **options), expected)


@pytest.mark.slow
def test_categories_that_never_repeat_tell_nothing():
    X, number = np.arange(20.0)[:, None], np.random.default_rng(0).normal(size=20)
    assert knn(X, number, discrete_features=True)[0] == 0


def test_equal_to_scikit_learn_on_known_data():
    X, y = load_iris(return_X_y=True)
    equals(knn(X, y, 3), peer(mutual_info_classif, X, y, 3))
    same = [knn(X, y, np.random.RandomState(3)) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    X, y = load_diabetes(return_X_y=True)
    options = {"discrete_features": [1], "n_neighbors": 4}
    expected = peer(mutual_info_regression, X, y, 8, **options)
    equals(knn(X, y, 8, task="regression", **options), expected)


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_equal_to_scikit_learn_on_colon():
    data = tamis.datasets.load("colon")
    X, y = np.asarray(data.X, dtype=np.float64)[:, ::8], np.asarray(data.y)
    expected = peer(mutual_info_classif, X, y)
    varies = np.ptp(X, axis=0) > 0
    equals(knn(X, y)[varies], expected[varies])


def test_sparse_columns_are_discrete_unless_told_otherwise():
    rng = np.random.default_rng(4)
    X = rng.integers(1, 4, size=(60, 5)) * (rng.random((60, 5)) < 0.4)
    y, number = rng.integers(0, 3, 60), rng.normal(size=60)
    table = sparse.csr_matrix(X.astype(float))
    equals(knn(table, y), mutual_info_classif(table, y, random_state=0))
    equals(knn(table, number), peer(mutual_info_regression, X, number, discrete_features=True))
    dense = knn(X.astype(float), y, discrete_features=False)
    equals(knn(table, y, discrete_features=False), dense)


def test_constant_columns_score_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 3, size=(50, 4)).astype(float), rng.integers(0, 2, 50)
    X[:, 1] = 4
    expected = peer(mutual_info_classif, X, y)
    expected[1] = 0
    equals(knn(X, y), expected)


# Neighbours: what scikit-learn does not offer.


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_columns_know_nothing_of_each_other(task):
    rng = np.random.default_rng(11)
    X, y = rng.integers(0, 5, size=(60, 4)).astype(float), rng.integers(0, 2, 60)  # many ties
    y = y + 0.5 * X[:, 1] if task == "regression" else y
    alone = knn(X, y, task=task)
    with_more = knn(np.column_stack([rng.normal(size=60), X]), y, task=task)
    np.testing.assert_array_equal(with_more[1:], alone)
    np.testing.assert_array_equal(knn(X[:, ::-1], y, task=task), alone[::-1])
    shifted = X.copy()
    shifted[:, 2] += 1e12
    np.testing.assert_array_equal(knn(shifted, y, task=task)[[0, 1, 3]], alone[[0, 1, 3]])
    assert not np.array_equal(knn(X, y, 1, task=task), alone)  # the seed decides between ties


def test_an_offset_costs_a_column_no_more_than_its_digits():
    # Multiples of 1/64 are exact at 1e12, so neighbours stay neighbours.
    rng = np.random.default_rng(12)
    X = np.round(1e6 * rng.normal(size=(200, 1))) / 64
    y = (X[:, 0] > 1e4).astype(int)
    equals(knn(X + 1e12, y), knn(X, y))
    number = X[:, 0] + 1e4 * rng.normal(size=200)
    equals(knn(X + 1e12, number), knn(X, number))


def test_missing_cells_leave_the_observed_rows():
    rng = np.random.default_rng(6)
    X, y, number = rng.normal(size=(80, 5)), rng.integers(0, 3, 80), rng.normal(size=80)
    number += 2 * X[:, 0]
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 4] = np.nan
    seen = ~np.isnan(X)
    # Values without ties, so the noise decides nothing.
    twin = [ross(x[s], y[s], 3) for x, s in zip(X.T[:4], seen.T, strict=False)]
    equals(knn(X, y), [*twin, 0])
    scaled = [(x[s] / x[s].std(), number[s] / number[s].std()) for x, s in zip(X.T[:4], seen.T)]  # noqa: B905
    equals(knn(X, number), [*(kraskov(*pair, 3) for pair in scaled), 0])
    codes = np.where(seen, np.floor(X), np.nan)
    twin = [ross(number[s], x[s], 3) for x, s in zip(codes.T[:4], seen.T, strict=False)]
    np.testing.assert_allclose(knn(codes, number, discrete_features=True)[:4], twin, atol=0.02)
    twin = [mutual_info_score(x[s], y[s]) for x, s in zip(codes.T[:4], seen.T, strict=False)]
    equals(knn(codes, y, discrete_features=True)[:4], twin)


def test_columns_with_next_to_nothing_observed():
    X = np.full((12, 4), np.nan)
    X[:2, 0] = [1, 2]
    X[:3, 1] = [1, 2, 5]
    X[:, 2] = np.arange(12)
    X[:6, 3] = np.arange(6)
    number = np.r_[np.full(6, 0.5), np.arange(6)]  # constant where the last column is observed
    for y in (np.arange(12) % 3, number, np.arange(12) + 0.5):
        for discrete in (False, True):
            found = knn(X, y, discrete_features=discrete)
            assert np.isfinite(found).all()
            assert (found >= 0).all()
    assert knn(X, number)[3] == 0


def test_tiny_and_huge_scales_change_nothing():
    rng = np.random.default_rng(7)
    X, number = rng.normal(size=(60, 3)), rng.normal(size=60)
    number += X[:, 0]
    for y in (number > 0, number):
        np.testing.assert_array_equal(knn(X * 2.0**-700, y), knn(X, y))
        np.testing.assert_array_equal(knn(X * 2.0**400, y), knn(X, y))


def test_searching_along_either_axis_gives_the_same():
    rng = np.random.default_rng(8)
    two_values = rng.integers(0, 2, 300).astype(float)
    number = rng.normal(size=300) + two_values
    X = np.column_stack([two_values, number, rng.normal(size=300)])
    equals(knn(X, number), peer(mutual_info_regression, X, number))
    X[:, 1] = rng.normal(size=300)
    counts = rng.integers(0, 4, 300).astype(float)
    expected = peer(mutual_info_regression, X, counts)
    equals(knn(X, counts, task="regression"), expected)


def test_neighbours_do_not_depend_on_threads():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(100, 700)), rng.normal(size=100)
    for target in (y, y > 0):
        one, three = (knn(X, target, n_jobs=n) for n in (1, 3))
        np.testing.assert_array_equal(one, three)


def test_neighbours_and_weights():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    equals(knn(X, y, sample_weight=np.full(40, 0.3)), knn(X, y))
    weight = np.arange(40) % 4 > 0
    equals(knn(X, y, sample_weight=2 * weight), knn(X[weight], y[weight]))
    with pytest.raises(InputError, match=r"MutualInformation: .*equal weight.*estimator='binned'"):
        knn(X, y, sample_weight=1 + weight)


# The posterior.


def test_posterior_mean_of_one_row_by_hand():
    # A 1 x 2 table of occupied bins tells nothing; 2 x 2 with one row each and Perks' 1/4:
    # cells 5/4 and 1/4, margins 3/2, total 3.
    from scipy.special import psi

    X, y = [[0.0], [1.0]], [0, 1]
    expected = (
        2 * 1.25 * (psi(2.25) - 2 * psi(2.5) + psi(4)) + 0.5 * (psi(1.25) - 2 * psi(2.5) + psi(4))
    ) / 3
    found = scores(X, y, estimator="posterior_mean", prior="perks")
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(scores(X, y, estimator="posterior_mean", prior=0.25), expected)


# Counts of bins and classes, from none to much to tell.
TABLES = [
    np.array([[8, 1], [2, 9]]),
    np.array([[20, 22], [19, 18], [11, 10]]),
    np.array([[30, 2, 0], [4, 25, 3], [0, 1, 40], [5, 5, 5]]),
    np.random.default_rng(0).poisson(4, size=(16, 2)),
    np.random.default_rng(1).poisson(12, size=(16, 3)) * np.tri(16, 3, 0).astype(int) + 1,
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: "x".join(map(str, table.shape)))
@pytest.mark.parametrize("prior", ["jeffreys", "uniform"])
def test_posterior_against_samples(table, prior):
    counts = with_prior(table.T[:, None].astype(float), prior)
    sample = sampled_information(counts[:, 0].T, 40_000, seed=0)
    moments = posterior(counts)
    error = sample.std() / np.sqrt(sample.size)
    assert abs(moments.mean[0] - sample.mean()) < 5 * error  # exact
    np.testing.assert_allclose(np.sqrt(moments.variance[0]), sample.std(), rtol=0.08)
    for level in (0.8, 0.95):
        # The share of the posterior below the value is what was asked for.
        below = (sample < lower_credible(moments, level)[0]).mean()
        assert abs(below - (1 - level)) < 0.025


def test_a_tiny_prior_still_has_a_variance():
    table = np.random.default_rng(2).poisson(2, size=(16, 2)).astype(float)
    table = table[table.sum(axis=1) > 0]
    for prior in ("perks", 1e-6):
        counts = with_prior(table.T[:, None], prior)
        sample = sampled_information(counts[:, 0].T, 20_000, seed=0)
        deviation = np.sqrt(posterior(counts).variance[0])
        np.testing.assert_allclose(deviation, sample.std(), rtol=0.25)


def test_empty_bins_are_no_outcomes():
    rng = np.random.default_rng(11)
    x, y = rng.integers(0, 2, 60).astype(float), rng.integers(0, 2, 60)
    for estimator in ("posterior_mean", "lower_credible"):
        for prior in ("jeffreys", "perks"):
            options = {"estimator": estimator, "prior": prior}
            two, many = (scores(x[:, None], y, n_bins=n, **options) for n in (2, 64))
            equals(many, two)


def test_few_observed_rows_have_a_low_credible_value():
    rng = np.random.default_rng(12)
    y = np.repeat([0, 1], 100)
    good = np.where(rng.random(200) < 0.9, y, 1 - y).astype(float)
    rare = np.full(200, np.nan)
    rare[[0, 1, 100, 101]] = [0, 0, 1, 1]  # perfect, but in four rows only
    X = np.column_stack([good, rare, rng.normal(size=200)])
    assert scores(X, y).argmax() == 1
    selector = fitted(X, y, estimator="lower_credible", n_bins=4)
    assert selector.order_[0] == 0
    assert selector.scores_[1] < 0.5 * selector.scores_[0]
    assert selector.standard_error_[1] > 3 * selector.standard_error_[0]
    mean = fitted(X, y, estimator="posterior_mean", n_bins=4)
    assert (selector.scores_ < mean.scores_).all()
    np.testing.assert_array_equal(mean.standard_error_, selector.standard_error_)


def test_more_rows_narrow_the_posterior():
    rng = np.random.default_rng(13)
    y = rng.integers(0, 2, 50)
    X = (y + rng.normal(size=50))[:, None]
    options = {"estimator": "lower_credible", "n_bins": 4}
    one, many = fitted(X, y, **options), fitted(X, y, np.full(50, 1000), **options)
    assert many.standard_error_[0] < one.standard_error_[0] / 25
    np.testing.assert_allclose(many.scores_, scores(X, y, n_bins=4), rtol=0.03)
    assert one.scores_[0] < many.scores_[0]


# Parameters.


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "kde"},
        {"n_bins": 1},
        {"n_neighbors": 0},
        {"level": 1.0},
        {"prior": 0.0},
        {"prior": "haldane"},
        {"task": "ranking"},
        {"discrete_features": "some"},
        {"discrete_features": 3},
    ],
)
def test_parameters_out_of_range(options):
    with pytest.raises(InputError, match=f"MutualInformation: {next(iter(options))} must be"):
        fitted(np.eye(4), [0, 1, 0, 1], **options)


@pytest.mark.parametrize("discrete", [[True, False], [4], [-5], [0.5], [[0], [1]]])
def test_discrete_features_that_do_not_fit(discrete):
    with pytest.raises(InputError, match=r"discrete_features must be .* a mask of 4 values"):
        knn(np.eye(4), [0, 1, 0, 1], discrete_features=discrete)


def test_bad_tables():
    X = np.eye(4)
    for estimator in ("binned", "knn", "lower_credible"):
        with pytest.raises(InputError, match=r"MutualInformation: .*inf in column 2"):
            fitted(X + np.diag([0, 0, np.inf, 0]), [0, 1, 0, 1], estimator=estimator)
        with pytest.raises(InputError, match=r"MutualInformation: .*two classes"):
            fitted(X[:1], [0], estimator=estimator)
        found = scores(X[:2], ["a", "b"], estimator=estimator)
        assert found.shape == (4,)


def test_labels_may_be_words():
    X, y = load_iris(return_X_y=True)
    words = np.array(["virginica", "a", "m"])[y]
    for estimator in ("binned", "knn", "lower_credible"):
        options = {"estimator": estimator, "random_state": 0}
        np.testing.assert_allclose(scores(X, words, **options), scores(X, y, **options))
    assert fitted(X, words).classes_.tolist() == ["a", "m", "virginica"]
