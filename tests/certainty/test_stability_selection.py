"""StabilitySelection: frequencies against a plain twin, halves, recut, levels, bad input."""

import dataclasses
import itertools
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import tamis
from reference import stability_selection as plain
from tamis._runtime.seeds import stream
from tamis.certainty import StabilitySelection, stability_selection
from tamis.certainty._half_samples import HalfSamples
from tamis.certainty.stability_selection import places_of
from tamis.exceptions import InputError, SelectionWarning


def make(n_rows=80, n_columns=15, seed=0, effect=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :3] += effect * y[:, None]
    return X, y


def fit(X, y, rule, cls=tamis.AnovaF, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return cls(n_features_to_select=rule).fit(X, y, **options)


def test_frequencies_are_those_of_the_plain_twin():
    X, y = make()
    rule = StabilitySelection(n_per_half=4, n_pairs=12, random_state=3)
    details = fit(X, y, rule).cut_details_
    halves = HalfSamples.of(np.arange(80), y, None, None, "test")
    pairs = [halves.draw(stream(3, number)) for number in range(12)]
    scores = lambda X, y: tamis.AnovaF(n_features_to_select="all").fit(X, y).scores_  # noqa: E731
    once, twice = plain.frequencies(scores, X, y, pairs, 4)
    np.testing.assert_array_equal(details["frequencies"], once)
    np.testing.assert_array_equal(details["pair_frequencies"], twice)


def test_halves_are_disjoint_and_split_every_class_evenly():
    y = np.array([0] * 11 + [1] * 6 + [2] * 5)
    halves = HalfSamples.of(np.arange(22), y, None, None, "test")
    left_out = set()
    for number in range(40):
        first, second = halves.draw(stream(0, number))
        assert not set(first) & set(second)
        assert np.bincount(y[first]).tolist() == np.bincount(y[second]).tolist() == [5, 3, 2]
        left_out |= set(range(22)) - set(first) - set(second)
    assert left_out == set(range(11)) | set(range(17, 22))  # each row of an odd class, some time


def test_halves_by_strata_and_groups():
    strata = np.repeat([0, 1], 12)
    groups = np.repeat(np.arange(8), 3)
    halves = HalfSamples.of(np.arange(24), None, strata, groups, "test")
    for number in range(20):
        for half in halves.draw(stream(1, number)):
            assert np.bincount(groups[half], minlength=8).tolist().count(3) == 4
            assert np.bincount(strata[half]).tolist() == [6, 6]


def test_rows_without_weight_are_in_no_half():
    X, y = make()
    weight = np.ones(80)
    weight[::4] = 0
    rule = StabilitySelection(n_per_half=3, n_pairs=5)
    whole = fit(X, y, rule, sample_weight=weight).cut_details_
    part = fit(X[weight > 0], y[weight > 0], rule).cut_details_
    np.testing.assert_array_equal(whole["frequencies"], part["frequencies"])


def test_weights_go_with_the_rows():
    X, y = make()
    heavy = np.where(X[:, 9] * (2 * y - 1) > 0, 50.0, 0.5)  # makes a noise column look useful
    rule = StabilitySelection(n_per_half=1, n_pairs=5, level=5)
    assert fit(X, y, rule, sample_weight=heavy).cut_details_["frequencies"][9] == 1


def test_ties_are_never_broken_by_position():
    every = np.ones(5, dtype=bool)
    tied = np.array([3.0, 2.0, 2.0, 2.0, 1.0])
    assert places_of(tied, every, 5).tolist() == [1, 4, 4, 4, 5]
    assert (places_of(tied, every, 1) <= 1).tolist() == [True] + [False] * 4
    assert (places_of(tied, every, 2) <= 2).tolist() == [True] + [False] * 4
    assert (places_of(tied, every, 4) <= 4).sum() == 4
    assert not (places_of(np.zeros(5), every, 2) <= 2).any()
    few = np.array([True, False, True, False, False])
    assert (places_of(np.zeros(5), few, 2) <= 2).tolist() == few.tolist()


def test_recut_needs_no_data():
    X, y = make()
    selector = fit(X, y, StabilitySelection(n_per_half=4))
    frequencies = selector.cut_details_["frequencies"]
    selector.recut(StabilitySelection(threshold=0.8, level=9))
    np.testing.assert_array_equal(selector.support_, frequencies >= 0.8)
    for bound in ("unimodal", "r-concave", "meinshausen-buhlmann"):
        details = selector.recut(StabilitySelection(level=2.5, bound=bound)).cut_details_
        assert details["expected_false"] == details["bounds"][bound] <= 2.5
        np.testing.assert_array_equal(selector.support_, frequencies >= details["threshold"])
        assert details["assumption"] == details["assumptions"][bound]
    for other in (StabilitySelection(n_per_half=5), StabilitySelection(random_state=1)):
        with pytest.raises(InputError, match="expected the training data"):
            selector.recut(other)


def test_a_smaller_level_selects_a_subset():
    X, y = make(effect=0.5)
    selector = fit(X, y, StabilitySelection(n_per_half=3))
    supports = []
    for level in (0.45, 0.7, 1.0, 3.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SelectionWarning)
            supports.append(selector.recut(StabilitySelection(level)).support_)
    assert all((small <= large).all() for small, large in itertools.pairwise(supports))


def test_the_number_per_half_follows_from_the_level():
    X, y = make(n_columns=100)
    # Unimodal at 0.75 with 50 pairs: q^2 / 100 / 0.98 <= 1.
    assert fit(X, y, StabilitySelection()).cut_details_["n_per_half"] == 9
    # Meinshausen and Bühlmann at 0.9: q^2 / 100 / 0.8 <= 2.
    rule = StabilitySelection(2.0, threshold=0.9, bound="meinshausen-buhlmann")
    assert fit(X, y, rule).cut_details_["n_per_half"] == 12


def test_a_bound_above_the_level_is_said():
    X, y = make()
    with pytest.warns(SelectionWarning, match=r"bound of at most level=1\.0, got 2\.69"):
        tamis.AnovaF(n_features_to_select=StabilitySelection(n_per_half=7, threshold=0.8)).fit(X, y)
    rule = StabilitySelection(1e-6)
    with (
        pytest.warns(SelectionWarning, match="expected a threshold"),
        pytest.warns(SelectionWarning, match="no column was selected"),
    ):
        selector = tamis.AnovaF(n_features_to_select=rule).fit(X, y)
    assert selector.n_selected_ == 0
    assert selector.cut_details_["threshold"] is None


def test_constant_features_are_never_chosen():
    X, y = make()
    X[:, 4] = 2.0
    X[:, 5] = np.nan
    X[:, 6] = 0.0
    X[0, 6] = 1.0  # constant in one half of every pair
    details = fit(X, y, StabilitySelection(n_per_half=13, level=20)).cut_details_
    assert details["n_candidates"] == 13
    assert details["frequencies"][[4, 5]].tolist() == [0, 0]
    assert details["frequencies"][6] <= 0.5


@pytest.mark.parametrize("selector", [tamis.TreeImportance, tamis.MRMR, tamis.DFT])
def test_the_number_of_threads_does_not_matter(selector):
    X, y = make()
    extra = {"n_estimators": 5} if selector is tamis.TreeImportance else {}
    found = []
    for n_jobs in (1, 2, 3):
        rule = StabilitySelection(n_per_half=4, n_pairs=6, n_jobs=n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SelectionWarning)
            found.append(selector(n_features_to_select=rule, **extra).fit(X, y).cut_details_)
    for other in found[1:]:
        np.testing.assert_array_equal(other["frequencies"], found[0]["frequencies"])


def test_sparse_and_missing():
    X, y = make()
    X[X < 0.3] = 0
    rule = StabilitySelection(n_per_half=4, n_pairs=5)
    dense = fit(X, y, rule).cut_details_["frequencies"]
    np.testing.assert_array_equal(
        fit(sparse.csr_matrix(X), y, rule).cut_details_["frequencies"], dense
    )
    X[3, 3] = np.nan
    assert fit(X, y, rule).cut_details_["frequencies"].max() == 1


def test_unsupervised_selectors_are_welcome():
    X, _ = make()
    X[:, 2] *= 5
    selector = fit(X, None, StabilitySelection(n_per_half=2), cls=tamis.Variance)
    assert selector.cut_details_["frequencies"][2] == 1
    assert "(stability)" in selector.cut_details_["question"]


def test_numeric_target():
    X, _ = make()
    target = X[:, 0] * 3 + np.random.default_rng(1).normal(size=80)
    selector = fit(X, target, StabilitySelection(), cls=tamis.Correlation)
    assert selector.get_support(indices=True).tolist() == [0]


class Stops:
    """AnovaF that is interrupted in its so-many-th fit."""

    left = 0

    def __enter__(self):
        self.score = tamis.AnovaF._score

        def stopping(selector, *args):
            Stops.left -= 1
            if Stops.left == 0:
                raise KeyboardInterrupt
            return self.score(selector, *args)

        tamis.AnovaF._score = stopping

    def __exit__(self, *_):
        tamis.AnovaF._score = self.score


class OwnScore(tamis.AnovaF):
    """A selector of a user, which is fitted on every half sample."""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("random_state", [0, None])
def test_an_interrupted_fit_resumes(tmp_path, n_jobs, random_state):
    X, y = make()
    path = tmp_path / "pairs"
    rule = StabilitySelection(
        n_per_half=4, n_pairs=8, checkpoint=path, n_jobs=n_jobs, random_state=random_state
    )
    Stops.left = 8
    selector = OwnScore(n_features_to_select=rule)
    with Stops(), pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert selector.n_selected_ == 15  # the ranking is there, nothing is cut off
    assert path.exists()
    with pytest.raises(InputError, match="belongs to a fit with other data"):
        fit(X + 1, y, rule, OwnScore)
    Stops.left = -1
    with Stops():
        found = fit(X, y, rule, OwnScore).cut_details_
    assert Stops.left > -17  # not all 16 halves were fitted again, beside all rows
    assert not path.exists()
    if random_state == 0:
        whole = fit(X, y, dataclasses.replace(rule, checkpoint=None)).cut_details_
        np.testing.assert_array_equal(found["frequencies"], whole["frequencies"])
    assert found["n_pairs"] == 8


def test_filters_of_warnings_are_left_alone():
    class Quiet(tamis.AnovaF):
        def _score(self, X, y, weight):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                time.sleep(0.001 * np.random.default_rng().random())
                return super()._score(X, y, weight)

    X, y = make()
    before = list(warnings.filters)
    for seed in range(5):
        rule = StabilitySelection(20, n_per_half=4, n_pairs=20, n_jobs=4, random_state=seed)
        Quiet(n_features_to_select=rule).fit(X, y)
    assert warnings.filters == before


def test_callbacks_may_end_it_early():
    class Impatient(tamis.AnovaF):
        def steps(self, name, items, total):
            stage = super().steps(name, items, total)
            return itertools.islice(stage, 3) if name == "pairs" else stage

    X, y = make()
    rule = StabilitySelection(n_per_half=4, n_pairs=20)
    details = fit(X, y, rule, cls=Impatient).cut_details_
    assert details["n_pairs"] == 3
    first = fit(X, y, StabilitySelection(n_per_half=4, n_pairs=3)).cut_details_
    np.testing.assert_array_equal(details["frequencies"], first["frequencies"])


def test_a_file_that_is_no_checkpoint(tmp_path):
    X, y = make()
    path = tmp_path / "pairs"
    path.write_text("something else")
    with pytest.raises(InputError, match="expected a checkpoint of pairs"):
        fit(X, y, StabilitySelection(checkpoint=path))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"level": 0}, "level must be a float above 0"),
        ({"level": -1.0}, "level must be a float above 0"),
        ({"threshold": 0.5}, r"threshold must be a float in \(0.5, 1\] or None"),
        ({"threshold": 1.1}, r"threshold must be a float in \(0.5, 1\] or None"),
        ({"n_per_half": 0}, "n_per_half must be an int of at least 1 or None"),
        ({"n_pairs": 0}, "n_pairs must be an int of at least 1"),
        ({"bound": "best"}, "bound must be 'unimodal' or 'r-concave'"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero int"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(InputError, match=f"StabilitySelection: {message}"):
        StabilitySelection(**params)


def test_bad_data():
    X, y = make()
    few = tamis.AnovaF(n_features_to_select=StabilitySelection(n_pairs=2))
    with pytest.raises(InputError, match="at least 4 rows for two half samples, got 3"):
        few.fit(X[:3], [0, 1, 1])
    rare = np.where(np.arange(80) == 5, "rare", "common")
    with pytest.raises(InputError, match="one of class 'rare'"):
        few.fit(X, rare)

    def with_labels(**labels):
        return tamis.AnovaF(n_features_to_select=StabilitySelection(n_pairs=30, **labels))

    with pytest.raises(InputError, match="strata must hold one label per row"):
        with_labels(strata=[1, 2]).fit(X, y)
    with pytest.raises(InputError, match="one of stratum True"):
        with_labels(strata=np.arange(80) == 3).fit(X, y)
    with pytest.raises(InputError, match="at least 4 groups of rows"):
        with_labels(groups=np.arange(80) // 40).fit(X, y)
    with pytest.raises(InputError, match="every group of rows within one stratum"):
        with_labels(strata=np.arange(80) % 2, groups=np.arange(80) // 8).fit(X, y)
    # The second class is in one group only, together with the first.
    with pytest.raises(InputError, match="two classes in every half sample"):
        with_labels(groups=np.arange(80) // 8).fit(X, np.arange(80) < 4)
    with pytest.raises(InputError, match="expected the training data"):
        tamis.AnovaF().fit(X, y).recut(StabilitySelection())


@pytest.mark.parametrize("bound", ["unimodal", "r-concave", "meinshausen-buhlmann"])
def test_mean_number_of_false_features_is_below_the_bound(bound):
    """Noise, independent features: every one is chosen with probability q / p exactly."""
    n_tables, found = 40, []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 50)), np.arange(40) % 2
        rule = StabilitySelection(
            2.0, bound=bound, n_pairs=10, threshold=0.6, random_state=seed, n_jobs=1
        )
        found.append(fit(X, y, rule).n_selected_)
    error = np.std(found, ddof=1) / np.sqrt(n_tables)
    assert np.mean(found) <= 2.0 + 2 * error
    assert np.mean(found) > 0  # else the threshold is never reached, and nothing is tested


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["unimodal", "r-concave"])
@pytest.mark.parametrize("kind", ["independent", "correlated", "signals"])
def test_bounds_hold_on_more_tables(bound, kind):
    n_tables, found = 150, []
    for seed in range(n_tables):
        rng = np.random.default_rng(10_000 + seed)
        X, y = rng.normal(size=(60, 60)), np.arange(60) % 2
        if kind == "correlated":
            X = 0.6 * X + 0.8 * rng.normal(size=(60, 1))
        if kind == "signals":
            X[:, :3] += 2 * y[:, None]
        rule = StabilitySelection(
            1.0, bound=bound, n_pairs=25, threshold=0.7, random_state=seed, n_jobs=1
        )
        support = fit(X, y, rule).support_
        found.append(support[3:].sum() if kind == "signals" else support.sum())
    error = np.std(found, ddof=1) / np.sqrt(n_tables)
    assert np.mean(found) <= 1.0 + 2 * error


HALF_MOMENTS = {
    "fisher": tamis.Fisher(),
    "fisher weighted": tamis.Fisher(form="weighted"),
    "anova": tamis.AnovaF(),
    "correlation": tamis.Correlation(),
    "correlation mean": tamis.Correlation(classes="mean"),
    "variance": tamis.Variance(),
}


@pytest.mark.parametrize("name", HALF_MOMENTS)
@pytest.mark.parametrize("target", ["two", "three", "number"])
def test_moments_of_all_halves_at_once(name, target, monkeypatch):
    """Scores from products of matrices are those of fits, for columns of all kinds."""
    selector = HALF_MOMENTS[name]
    if target == "number" and name.startswith("fisher"):
        pytest.skip("needs classes")
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3 if target == "three" else 2, 41)
    X = rng.normal(size=(41, 14))
    X[:, 1] += 1e4  # an offset
    X[:, 2] = y  # all between classes
    X[:, 3] = rng.random(41) < 0.04  # may be constant on a half
    X[:, 4] = np.where(rng.random(41) < 0.1, 1 - y, y)  # may be constant within classes of a half
    X[:, 5] = X[:, 6]  # tied
    X[:, 7] = 3.0
    if target == "number":
        y = X[:, 0] + rng.normal(size=41)
    seen = {}
    record = stability_selection.places_of

    def recorded(scores, varies, most):
        kept.append((np.where(varies, scores, 0.0), varies))
        return record(scores, varies, most)

    monkeypatch.setattr(stability_selection, "places_of", recorded)
    for way in ("at once", "fits"):
        seen[way] = kept = []
        with monkeypatch.context() as patch:
            if way == "fits":
                patch.setattr(stability_selection.HalfMoments, "serves", lambda data: False)
            rule = StabilitySelection(n_per_half=3, n_pairs=10, n_jobs=1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SelectionWarning)
                clone(selector).set_params(n_features_to_select=rule).fit(X, y)
    for (a, varies), (b, expected) in zip(*seen.values(), strict=True):
        np.testing.assert_array_equal(varies, expected)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
