"""FamilyWise: step-down maxT."""

import numpy as np
import pytest
from scipy.stats import binom

import tamis
from reference.permutations import refit, step_down
from tamis._ranking import Ranking
from tamis._runtime.seeds import stream
from tamis.certainty import FamilyWise
from tamis.certainty._null import StepDown
from tamis.certainty.family_wise import ROTATIONS, SHUFFLES
from tamis.certainty.permutations import Permutations, draw_states
from tamis.exceptions import InputError, SelectionWarning

# Weighted classes are not counted by bits, so that every permutation is a fit.
REFITTED = tamis.DFT(class_weight="balanced")


def noise(seed, n_rows=60, n_columns=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)


def planted(seed=0, n_rows=60, n_columns=40):
    X, y = noise(seed, n_rows, n_columns)
    X[:, 7] += 2 * y
    X[:, 3] += 1.3 * y
    return X, y


def test_counts_by_hand():
    ranking = Ranking.of([3.0, 1.0, 2.0, 9.0], constant=[False, False, False, True])
    counts = StepDown(ranking, ranking.scores)
    permuted = np.array([[3.0, 0.0, 1.0], [0.0, 2.5, 0.0], [1.0, 1.0, 2.0], [9.0, 9.0, 9.0]])
    rows = permuted[counts.columns]
    counts.add(iter([(0, rows[:2].copy()), (2, rows[2:].copy())]))
    adjusted, single = counts.p_values()
    # Best of all: 3, 2.5, 2; of the last two: 1, 2.5, 2; of the last: 0, 2.5, 0.
    np.testing.assert_allclose(adjusted, [2 / 4, 3 / 4, 3 / 4, 1.0])
    np.testing.assert_allclose(single, [2 / 4, 2 / 4, 2 / 4, 1.0])


@pytest.mark.parametrize(
    "selector",
    [
        tamis.Fisher(), tamis.Correlation(kind="spearman"), tamis.AnovaF(), tamis.DFT(),
        tamis.InformationGain(n_bins=4), tamis.ReliefF(), tamis.DFT(class_weight="balanced"),
    ],
    ids=str,
)  # fmt: skip
def test_p_values_are_those_of_refits(selector):
    X, y = planted()
    rule = FamilyWise(0.1, n_permutations=49)
    selector.set_params(n_features_to_select=rule).fit(X, y)
    states = draw_states(stream(0, SHUFFLES), 49)
    orders = Permutations.of(60, None, None, None, "").orders(states)
    permuted = refit(selector, X, y, orders)
    # A score that float32 cannot tell from a permuted one counts as reached, never the reverse.
    for own, rounded in ((selector.scores_ - 1e-9, 1), (selector.scores_ - 2e-5, -1)):
        adjusted = step_down(own, permuted) - selector.p_values_
        single = (1 + (permuted >= own[:, None]).sum(axis=1)) / 50
        single -= selector.cut_details_["unadjusted_p_values"]
        assert (rounded * adjusted <= 1e-9).all()
        assert (rounded * single <= 1e-9).all()
        assert np.abs(adjusted).max() <= 0.04
    best = np.sort(permuted.max(axis=0))
    np.testing.assert_allclose(selector.cut_details_["null_best_scores"], best, rtol=1e-5)


def test_many_rows_take_all_rotations():
    X, y = planted(1, 500)
    rule = FamilyWise(0.1, n_permutations=99)
    selector = tamis.Fisher(n_features_to_select=rule).fit(X, y)
    group = Permutations.of(500, None, None, None, "").rotations(99, stream(0, ROTATIONS))
    permuted = refit(selector, X, y, group.orders()[1:])
    np.testing.assert_allclose(selector.p_values_, step_down(selector.scores_, permuted))


def test_what_was_planted_is_found_and_nothing_else():
    X, y = planted(2)
    for selector in (tamis.Fisher(), tamis.Correlation(), tamis.DFT(), tamis.InformationGain()):
        selector.set_params(n_features_to_select=FamilyWise(0.05)).fit(X, y)
        assert set(selector.get_support(indices=True)) <= {3, 7}
        assert selector.support_[7]
        assert selector.p_values_[7] <= 0.01
        assert selector.cut_details_["null_best_scores"].size == 999


def test_constant_features_have_p_value_one():
    X, y = planted(3)
    X[:, 5] = 2.0
    selector = tamis.Fisher(n_features_to_select=FamilyWise(0.05)).fit(X, y)
    assert selector.p_values_[5] == 1.0
    assert selector.cut_details_["unadjusted_p_values"][5] == 1.0


def test_another_level_needs_no_data():
    X, y = planted(4)
    selector = tamis.Fisher(n_features_to_select=FamilyWise(0.05)).fit(X, y)
    p_values = selector.p_values_
    selector.recut(FamilyWise(0.5))
    np.testing.assert_array_equal(selector.support_, p_values <= 0.5)
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(FamilyWise(0.0005))
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(FamilyWise(0.05, random_state=1))


def test_the_result_says_what_it_means():
    X, y = planted(5)
    details = tamis.DFT(n_features_to_select=FamilyWise(0.05)).fit(X, y).cut_details_
    assert details["rule"] == "FamilyWise"
    assert "related to the target at all" in details["question"]
    assert "exchangeable" in details["assumption"]
    assert "at most the level" in details["guarantee"]


@pytest.mark.parametrize("selector", [tamis.Fisher(), tamis.DFT(), REFITTED], ids=str)
def test_threads_change_nothing(selector):
    X, y = planted(6, 200)
    found = []
    for n_jobs in (1, 3):
        rule = FamilyWise(0.1, n_permutations=19, n_jobs=n_jobs)
        found.append(selector.set_params(n_features_to_select=rule).fit(X, y).cut_details_)
    for name in ("p_values", "unadjusted_p_values", "null_best_scores"):
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_the_seed_decides():
    X, y = planted(7)
    rules = [FamilyWise(n_permutations=99, random_state=seed) for seed in (0, 0, 1)]
    a, b, c = (
        tamis.DFT(n_features_to_select=rule).fit(X, y).cut_details_["null_best_scores"]
        for rule in rules
    )
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


class Stopped(Exception):
    pass


def test_an_interrupted_run_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.certainty._refits.EVERY", 0.0)
    X, y = planted(8, n_columns=12)
    file = tmp_path / "null.state"
    rule = FamilyWise(0.1, n_permutations=19)
    expected = tamis.DFT(class_weight="balanced", n_features_to_select=rule).fit(X, y)
    rule = FamilyWise(0.1, n_permutations=19, checkpoint=file, n_jobs=1)
    fits = []

    def limited(self, X, y, weight, score=tamis.DFT._score):
        fits.append(1)
        if len(fits) == 9:
            raise Stopped
        return score(self, X, y, weight)

    with monkeypatch.context() as patch:
        patch.setattr(tamis.DFT, "_score", limited)
        with pytest.raises(Stopped):
            tamis.DFT(class_weight="balanced", n_features_to_select=rule).fit(X, y)
        assert file.exists()
        with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
            tamis.DFT(class_weight="balanced", n_features_to_select=rule).fit(X + 1.0, y)
        del fits[:]
        fits.extend([1] * 20)
        found = tamis.DFT(class_weight="balanced", n_features_to_select=rule).fit(X, y)
        assert len(fits) == 20 + 1 + 19 - 7
    assert not file.exists()
    for name in ("p_values", "null_best_scores"):
        np.testing.assert_array_equal(found.cut_details_[name], expected.cut_details_[name])


@pytest.mark.parametrize("level", [0, 1, 1.0, 1.2, -0.1, float("nan"), None, True], ids=repr)
def test_bad_levels(level):
    with pytest.raises(InputError, match=r"FamilyWise: level must be a float in \(0, 1\)"):
        FamilyWise(level)


def test_bad_input():
    X, y = noise(0, 20, 5)
    groups = np.repeat([0, 1, 2], [5, 7, 8])
    with pytest.raises(InputError, match=r"n_permutations must be at least 19 for level=0\.05"):
        FamilyWise(0.05, n_permutations=18)
    with pytest.raises(InputError, match="strata must hold one label per row"):
        tamis.Fisher(n_features_to_select=FamilyWise(strata=[1, 2])).fit(X, y)
    with pytest.raises(InputError, match=r"different orders of the target .* got 1:"):
        tamis.Fisher(n_features_to_select=FamilyWise(strata=y)).fit(X, y)
    with pytest.raises(InputError, match=r"different orders of the target .* got 1:"):
        tamis.Fisher(n_features_to_select=FamilyWise(groups=groups)).fit(X, y)
    with pytest.raises(InputError, match="a selector that uses the target, got Variance"):
        tamis.Variance(n_features_to_select=FamilyWise()).fit(X, y)


TABLES = {
    "independent": lambda rng, n, p: rng.normal(size=(n, p)),
    "correlated": lambda rng, n, p: (
        np.sqrt(0.9) * rng.normal(size=(n, 1)) + np.sqrt(0.1) * rng.normal(size=(n, p))
    ),
    "discrete": lambda rng, n, p: rng.integers(0, 2, size=(n, p)).astype(float),
    "heavy": lambda rng, n, p: rng.standard_t(1, size=(n, p)),
    "rare": lambda rng, n, p: rng.exponential(size=(n, p)),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FamilyWise. no column was selected")
@pytest.mark.filterwarnings("ignore:DFT. expected columns without extreme values")
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("selector", [tamis.Fisher(), tamis.Correlation(), tamis.DFT()], ids=str)
def test_the_family_wise_error_is_at_most_the_level(selector, name):
    level, trials, n_rows = 0.1, 200, 63
    rule = FamilyWise(level, n_permutations=99)
    selector.set_params(n_features_to_select=rule)
    false = 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 77])
        X = TABLES[name](rng, n_rows, 50)
        y = rng.permutation(n_rows) % 21 == 0 if name == "rare" else rng.permutation(n_rows) % 2
        false += selector.fit(X, y.astype(int)).n_selected_ > 0
    # More false alarms than this have a chance of one in ten thousand at this level.
    assert false <= binom.ppf(1 - 1e-4, trials, level)
    # The level is used: discrete scores lose a little to ties.
    assert false >= binom.ppf(1e-4, trials, level if name != "discrete" else level / 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FamilyWise. no column was selected")
def test_rotations_hold_the_level():
    level, trials = 0.1, 200
    selector = tamis.Correlation(n_features_to_select=FamilyWise(level, n_permutations=49))
    false = 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 78])
        X, y = rng.normal(size=(160, 20)), np.arange(160) // 80  # sorted by class
        false += selector.fit(X, y).n_selected_ > 0
    assert binom.ppf(1e-4, trials, level) <= false <= binom.ppf(1 - 1e-4, trials, level)


def confounded(seed):
    """Two sites that differ in all features and in the share of cases; nothing else differs."""
    rng = np.random.default_rng([seed, 79])
    site = np.arange(80) // 40
    y = (rng.random(80) < np.where(site == 1, 0.8, 0.2)).astype(int)
    return rng.normal(size=(80, 20)) + site[:, None], y, site


def clustered(seed):
    """Ten patients with eight rows each: rows of a patient are alike and have one target."""
    rng = np.random.default_rng([seed, 80])
    patient = np.repeat(np.arange(10), 8)
    X = rng.normal(size=(10, 20))[patient] + 0.3 * rng.normal(size=(80, 20))
    return X, rng.permutation(np.arange(10) % 2)[patient], patient


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FamilyWise. no column was selected")
@pytest.mark.parametrize(("design", "name"), [(confounded, "strata"), (clustered, "groups")])
def test_strata_and_groups_hold_the_level_where_plain_permutations_do_not(design, name):
    level, trials = 0.1, 100
    plain, aware = 0, 0
    for seed in range(trials):
        X, y, labels = design(seed)
        rule = FamilyWise(level, n_permutations=99)
        plain += tamis.Fisher(n_features_to_select=rule).fit(X, y).n_selected_ > 0
        rule = FamilyWise(level, n_permutations=99, **{name: labels})
        aware += tamis.Fisher(n_features_to_select=rule).fit(X, y).n_selected_ > 0
    assert aware <= binom.ppf(1 - 1e-4, trials, level)
    assert plain > 0.5 * trials


def test_labels_of_features_are_groups_of_features():
    X, y = planted(9, n_columns=20)
    groups = np.repeat(np.arange(10), 2)
    selector = tamis.Fisher(n_features_to_select=FamilyWise(0.05, groups=groups)).fit(X, y)
    assert selector.get_support(indices=True).tolist() in ([6, 7], [2, 3, 6, 7])


def test_none_selected_warns():
    X, y = noise(10)
    with pytest.warns(SelectionWarning, match="FamilyWise: no column was selected"):
        tamis.Fisher(n_features_to_select=FamilyWise(0.01, n_permutations=99)).fit(X, y)


def test_the_target_is_what_the_fit_took_it_for():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.integers(0, 40, 80)
    X[:, 2] += 0.2 * y
    rule = FamilyWise(0.05, n_permutations=39)
    words = pandas.Series(y).astype("category")
    for target, task in ((words, "classification"), (y / 7.0, "regression")):
        selector = tamis.AnovaF(n_features_to_select=rule).fit(X, target)
        assert selector.task_ == task
        permuted = selector._permuted(X, np.asarray(target), None)
        orders = np.arange(80, dtype=np.int32)[None]
        statistic = permuted.statistic(np.arange(10), permuted.targets(orders))
        np.testing.assert_allclose(permuted.scores(statistic)[:, 0], selector.scores_, rtol=1e-4)
