"""PermutationNull: columns that beat a shuffled target."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.base import BaseEstimator

import tamis
from tamis._ranking import Ranking
from tamis.cutoff import PermutationNull
from tamis.cutoff.fit_data import FitData
from tamis.exceptions import InputError, SelectionWarning


class Fake(BaseEstimator):
    """Scores that were written down beforehand, one list per fit, and the targets it was given."""

    script: list
    targets: list

    def __init__(self, n_features_to_select="all"):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y, sample_weight=None):
        assert self.n_features_to_select == "all"
        type(self).targets.append(y)
        self.scores_ = np.array(type(self).script.pop(0), dtype=float)
        return self

    def steps(self, name, items, total):
        assert len(items) == total
        yield from items


def null(script, scores, *, level, constant=None, y=None, weight=None, **rest):
    Fake.script, Fake.targets = [list(row) for row in script], []
    y = np.arange(6) if y is None else y
    data = FitData(Fake(n_features_to_select=1), np.zeros((6, len(scores))), y, weight)
    rule = PermutationNull(level, n_permutations=len(script), **rest)
    support, details = rule.select(Ranking.of(scores, constant=constant), data)
    assert not Fake.script
    return np.flatnonzero(support).tolist(), details


# Best scores of the four shuffles: 1, 2, 3 and 5.
SHUFFLES = [(1, 0, 0), (2, 1, 0), (0, 0, 3), (5, 4, 4)]


def test_p_values_by_hand():
    columns, details = null(SHUFFLES, [6.0, 2.5, 0.5], level=0.2)
    np.testing.assert_array_equal(details["null_best_scores"], [1, 2, 3, 5])
    # The last column competes with itself alone (0, 0, 3, 4), and a better one has 3/5.
    np.testing.assert_allclose(details["p_values"], [1 / 5, 3 / 5, 3 / 5])
    np.testing.assert_allclose(details["unadjusted_p_values"], [1 / 5, 2 / 5, 3 / 5])
    assert columns == [0]


def test_the_level_itself_is_good_enough():
    assert null(SHUFFLES, [6.0, 2.5, 0.5], level=0.6)[0] == [0, 1, 2]
    assert null(SHUFFLES, [6.0, 2.5, 0.5], level=0.59)[0] == [0]


def test_an_equal_score_counts_against_the_column():
    _, details = null(SHUFFLES, [5.0, 3.0, np.nextafter(3.0, 4.0)], level=0.5)
    np.testing.assert_allclose(details["p_values"], [2 / 5, 3 / 5, 3 / 5])


def test_an_equal_score_counts_against_the_column_below_zero_too():
    shuffles = [(-1, -9, -9), (-2, -9, -9), (-3, -9, -9), (-5, -9, -9)]
    columns, details = null(shuffles, [-1.0, -2.0, -0.5], level=0.2)
    # Below the second column there is only the worst, whose shuffles all score -9.
    np.testing.assert_allclose(details["p_values"], [2 / 5, 2 / 5, 1 / 5])
    assert columns == [2]


def test_constant_columns_are_never_kept():
    columns, _ = null(SHUFFLES, [6.0, 7.0, 0.5], level=0.2, constant=[False, True, False])
    assert columns == [0]


def test_keep_and_groups_are_added():
    assert null(SHUFFLES, [6.0, 2.5, 0.5], level=0.2, keep=[2])[0] == [0, 2]
    assert null(SHUFFLES, [6.0, 2.5, 0.5], level=0.2, groups=[[0, 1]])[0] == [0, 1]


def test_every_shuffle_is_the_same_target_in_another_order():
    y = np.array(["a", "b", "c", "d", "e", "f"])
    null(SHUFFLES * 5, [9.0, 9.0, 9.0], level=0.2, y=y)
    for shuffled in Fake.targets:
        assert sorted(shuffled) == sorted(y)
    assert len({tuple(shuffled) for shuffled in Fake.targets}) > 15
    assert y.tolist() == ["a", "b", "c", "d", "e", "f"]


def test_rows_of_weight_zero_keep_their_target_to_themselves():
    weight = np.array([0.0, 1.0, 1.0, 0.0, 2.0, 1.0])
    null(SHUFFLES * 5, [9.0, 9.0, 9.0], level=0.2, weight=weight)
    for shuffled in Fake.targets:
        assert sorted(shuffled[weight > 0]) == [1, 2, 4, 5]


def noise(seed, n_rows=60, n_columns=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)


def test_two_rows_with_weight_can_always_be_shuffled():
    # Were all rows shuffled, the two that count would often end up in one class.
    X, y = noise(0, 30, 4)
    weight = np.zeros(30)
    weight[[np.argmax(y == 0), np.argmax(y == 1)]] = 1.0
    rule = PermutationNull(0.5, n_permutations=20)
    with pytest.warns(SelectionWarning, match="PermutationNull: no column was selected"):
        tamis.DFT(n_features_to_select=rule).fit(X, y, sample_weight=weight)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PermutationNull. no column was selected")
def test_the_family_wise_error_is_at_most_the_level():
    level, trials = 0.1, 40
    rule = PermutationNull(level, n_permutations=19)
    false = sum(
        tamis.DFT(n_features_to_select=rule).fit(*noise(seed)).n_selected_ > 0
        for seed in range(trials)
    )
    # More false alarms than this have a chance of one in ten thousand at this level.
    assert false <= binom.ppf(1 - 1e-4, trials, level)


@pytest.mark.slow
def test_planted_columns_are_found_and_nothing_else():
    # By 19,999 permutations, the best of the other columns has a p-value of 0.3.
    X, y = noise(2)
    X[:, [17, 150]] += 4.0 * y[:, None]
    rule = PermutationNull(0.05, n_permutations=39)
    for table in (X, X.astype(np.float32), sparse.csr_array(X)):
        selector = tamis.DFT(n_features_to_select=rule).fit(table, y)
        assert selector.get_support(indices=True).tolist() == [17, 150]
        assert selector.cut_details_["p_values"][[17, 150]] == pytest.approx(1 / 40)


def test_planted_columns_are_found_by_regression_too():
    X, _ = noise(2)
    y = 3.0 * X[:, 8] + np.random.default_rng(0).normal(size=60)
    rule = PermutationNull(0.05, n_permutations=19)
    assert tamis.RFT(n_features_to_select=rule).fit(X, y).get_support(indices=True) == [8]


def test_the_seed_decides():
    X, y = noise(3)
    X[:, 0] += 2.0 * y

    def best_scores(seed):
        rule = PermutationNull(0.1, n_permutations=15, random_state=seed)
        selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
        return selector.cut_details_["null_best_scores"]

    np.testing.assert_array_equal(best_scores(0), best_scores(0))
    assert (best_scores(0) != best_scores(1)).any()


def test_a_column_vector_warns_once_not_once_per_shuffle():
    X, y = noise(4, 40, 5)
    X[:, 0] += 9.0 * y
    rule = PermutationNull(0.2, n_permutations=5)
    with pytest.warns(UserWarning, match="column-vector") as caught:
        tamis.DFT(n_features_to_select=rule).fit(X, y[:, None])
    assert len(caught) == 1


@pytest.mark.slow
def test_enough_shuffles_are_made_by_default():
    X, y = noise(5, 30, 3)
    X[:, 0] += 9.0 * y
    for level, expected in [(0.5, 99), (0.05, 99), (0.02, 249)]:
        selector = tamis.DFT(n_features_to_select=PermutationNull(level)).fit(X, y)
        assert selector.cut_details_["null_best_scores"].size == expected


@pytest.mark.parametrize(("level", "needed"), [(0.05, 19), (0.1, 9), (1 / 49, 48), (0.07, 14)])
def test_too_few_shuffles_for_the_level(level, needed):
    PermutationNull(level, n_permutations=needed)
    with pytest.raises(
        InputError, match=f"PermutationNull: n_permutations must be at least {needed} for"
    ):
        PermutationNull(level, n_permutations=needed - 1)


@pytest.mark.parametrize("level", [0, 0.0, 1.2, -0.1, float("nan"), None, True], ids=repr)
def test_bad_levels(level):
    with pytest.raises(InputError, match=r"PermutationNull: level must be a float in \(0, 1\]"):
        PermutationNull(level)


@pytest.mark.parametrize("count", [0, -5, 19.0, True, "99"], ids=repr)
def test_bad_counts(count):
    with pytest.raises(InputError, match="n_permutations must be an int of at least 1 or None"):
        PermutationNull(0.05, n_permutations=count)


def test_a_selector_that_ignores_the_target_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    selector = tamis.InfFS(n_features_to_select=PermutationNull())
    with pytest.raises(InputError, match="a selector that uses the target, got InfFS"):
        selector.fit(X, np.arange(20) % 2)
