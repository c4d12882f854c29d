"""MFPFS against the printed algorithm, its count of measurements, and what can go wrong."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LinearRegression

import tamis
from reference.mfpfs import mf_pfs
from tamis.exceptions import InputError, MeasurementError, SelectionWarning
from tamis.meta import MFPFS, ArraySource, FeatureSource, QualityMap, SourceRandom

PAPER = (0.4, 0.8, 1.0, 1.2)


def separation(table, y):
    return f_classif(table, y)[0]


class Counting:
    """Not a FeatureSource: only `meta` and `measure`; refuses to measure a candidate twice."""

    def __init__(self, columns, meta):
        self.columns_held, self.meta, self.seen = columns, meta, set()

    def measure(self, indices):
        again = self.seen.intersection(indices.tolist())
        assert not again, f"measured twice: {again}"
        self.seen.update(indices.tolist())
        return self.columns_held[:, indices]


def problem(seed, n_candidates=200, n_rows=60, n_meta=2):
    """Candidates are good where the first property is large."""
    random = np.random.default_rng(seed)
    meta = random.uniform(size=(n_candidates, n_meta))
    y = np.repeat([0, 1], n_rows // 2)
    columns = random.normal(size=(n_rows, n_candidates)) + 1.5 * np.outer(y, meta[:, 0] > 0.8)
    return meta, columns, y


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize(
    ("n", "n_candidates", "alphas", "drop"),
    [
        (10, 100, PAPER, 0.5),
        (7, 90, (0.6,), 0.3),
        (3, 20, (0.1, 9.0), 0.9),
        (18, 20, PAPER, 0.01),
        (1, 12, PAPER, 0.5),
    ],
)
def test_same_draws_give_the_survivors_of_the_printed_algorithm(
    n, n_candidates, alphas, drop, reuse
):
    for seed in range(3):
        meta, columns, y = problem(seed, n_candidates)
        meta[:, 1] = np.round(4 * meta[:, 1])  # ties
        selector = MFPFS(
            n_features_to_select=n, alphas=alphas, drop=drop, quality=separation, reuse=reuse,
            random_state=seed,
        ).fit(ArraySource(columns, meta), y)  # fmt: skip
        survivors, dropped, measured = mf_pfs(
            meta, columns, y, n, separation, alphas=alphas, t=drop, seed=seed, reuse=reuse
        )
        order = survivors + [f for fallen in reversed(dropped) for f in fallen]
        assert selector.order_.tolist() == order
        assert np.flatnonzero(selector.support_).tolist() == sorted(survivors)
        assert set(selector.measured_.tolist()) == measured | set(survivors)
        assert [entry["n_dropped"] for entry in selector.history_] == [len(d) for d in dropped]
        np.testing.assert_array_equal(
            selector.scores_[selector.order_], np.arange(n_candidates, 0, -1)
        )


@pytest.mark.parametrize("n", [40, 80])
def test_the_schedule_of_the_paper_measures_a_quarter(n):
    counts = []
    for seed in range(12):
        meta, columns, y = problem(seed, 10 * n)
        source = Counting(columns, meta)
        selector = MFPFS(n_features_to_select=n, quality="fisher", random_state=seed)
        reduced = selector.fit(source, y).transform(source)
        assert reduced.shape == (60, n)
        assert selector.n_selected_ == selector.support_.sum() == n
        assert len(source.seen) == selector.n_measured_  # transform measured nothing
        assert [entry["n_left"] for entry in selector.history_] == [
            5 * n,
            5 * n // 2,
            5 * n // 4,
            n,
        ]
        assert [entry["alpha"] for entry in selector.history_] == list(PAPER)
        counts.append(selector.n_measured_ / n)
    assert min(counts) >= 2.1
    assert max(counts) <= 2.6
    assert 2.25 < np.mean(counts) < 2.45


def test_history_and_cost_add_up():
    meta, columns, y = problem(1)
    cost = np.random.default_rng(0).uniform(1, 5, size=200)
    selector = MFPFS(n_features_to_select=20, random_state=0).fit(
        ArraySource(columns, meta, cost=cost), y
    )
    new = sum(entry["n_new"] for entry in selector.history_)
    drawn = {f for entry in selector.history_ for f in entry["drawn"].tolist()}
    assert len(drawn) == new
    assert selector.n_measured_ == len(drawn | set(np.flatnonzero(selector.support_).tolist()))
    np.testing.assert_allclose(selector.cost_, cost[selector.measured_].sum())
    assert sum(entry["cost"] for entry in selector.history_) <= selector.cost_ + 1e-9
    assert [entry["n_drawn"] for entry in selector.history_] == [8, 16, 20, 24]
    assert all(-1 <= entry["correlation"] <= 1 for entry in selector.history_)
    np.testing.assert_allclose(
        selector.criterion_[selector.support_],
        selector.quality_map_.predict(meta[selector.support_]),
    )


def test_finds_far_more_good_candidates_than_chance():
    found, chance = [], []
    for seed in range(5):
        meta, columns, y = problem(seed, 400)
        good = meta[:, 0] > 0.8
        source = ArraySource(columns, meta)
        found.append(
            good[MFPFS(n_features_to_select=40, random_state=seed).fit(source, y).support_]
        )
        chance.append(
            good[SourceRandom(n_features_to_select=40, random_state=seed).fit(source).support_]
        )
    assert np.mean(found) > 0.75
    assert np.mean(chance) < 0.35


def test_same_seed_same_result_whatever_the_jobs_and_the_cache():
    meta, columns, y = problem(2)
    first = MFPFS(n_features_to_select=15, random_state=3, n_jobs=1).fit(
        ArraySource(columns, meta), y
    )
    source = ArraySource(columns, meta)
    source.columns(np.arange(0, 200, 3))  # known beforehand
    again = MFPFS(n_features_to_select=15, random_state=3, n_jobs=2).fit(source, y)
    np.testing.assert_array_equal(first.order_, again.order_)
    np.testing.assert_array_equal(first.measured_, again.measured_)
    assert first.n_measured_ == again.n_measured_
    other = MFPFS(n_features_to_select=15, random_state=4).fit(source, y)
    assert not np.array_equal(first.order_, other.order_)


def test_row_order_and_names_of_classes_change_nothing():
    meta, columns, y = problem(3)
    options = {"n_features_to_select": 15, "random_state": 0, "quality": "information_gain"}
    first = MFPFS(**options).fit(ArraySource(columns, meta), y)
    order = np.random.default_rng(0).permutation(len(y))
    names = np.array(["well", "ill"])[y[order]]
    again = MFPFS(**options).fit(ArraySource(columns[order], meta), names)
    np.testing.assert_array_equal(first.order_, again.order_)


@pytest.mark.parametrize(
    "quality",
    ["svm_weights", "dft", tamis.Fisher(), tamis.DFT().fit([[0.0], [1.0]], [0, 1]), separation],
)
def test_qualities(quality):
    meta, columns, y = problem(4)
    selector = MFPFS(n_features_to_select=20, quality=quality, random_state=0)
    selector.fit(ArraySource(columns, meta), y)
    assert (meta[selector.support_, 0] > 0.8).mean() > 0.5


@pytest.mark.parametrize(
    "regressor",
    [
        LinearRegression(),
        RandomForestRegressor(n_estimators=10, random_state=0),
        QualityMap(n_neighbors=3),
    ],
)
def test_regressors(regressor):
    meta, columns, y = problem(5)
    selector = MFPFS(n_features_to_select=20, regressor=regressor, random_state=0)
    selector.fit(ArraySource(columns, meta), y)
    assert (meta[selector.support_, 0] > 0.8).mean() > 0.5
    assert not hasattr(regressor, "n_features_in_")
    again = clone(selector).fit(ArraySource(columns, meta), y)
    np.testing.assert_array_equal(selector.order_, again.order_)


def test_numeric_target():
    meta, columns, _ = problem(6)
    y = columns[:, meta[:, 0] > 0.8].sum(axis=1)
    selector = MFPFS(n_features_to_select=20, random_state=0).fit(ArraySource(columns, meta), y)
    assert (meta[selector.support_, 0] > 0.8).mean() > 0.5


def test_frame_with_labels_and_gaps_as_meta():
    meta, columns, y = problem(7)
    kind = np.where(meta[:, 0] > 0.8, "good", np.where(meta[:, 1] > 0.5, "bad", "worse"))
    gaps = np.where(meta[:, 1] > 0.9, np.nan, meta[:, 1])
    frame = pd.DataFrame({"kind": kind, "place": gaps}, index=[f"gene {j}" for j in range(200)])
    selector = MFPFS(n_features_to_select=20, random_state=0).fit(ArraySource(columns, frame), y)
    assert (kind[selector.support_] == "good").mean() > 0.9
    assert selector.quality_map_.feature_names_in_.tolist() == ["kind", "place"]


def test_it_behaves_as_a_selector():
    meta, columns, y = problem(8)

    class Named(FeatureSource):
        def __init__(self):
            self.meta = meta
            self.feature_names = [f"patch {j}" for j in range(200)]

        def measure(self, indices):
            return columns[:, indices]

    selector = MFPFS(n_features_to_select=0.05, random_state=0)
    assert clone(selector).get_params() == selector.get_params()
    with pytest.raises(NotFittedError):
        selector.transform(Named())
    reduced = selector.fit_transform(Named(), y)
    np.testing.assert_array_equal(reduced, columns[:, selector.get_support()])
    assert selector.n_selected_ == 10
    chosen = selector.get_support(indices=True)
    assert selector.get_feature_names_out().tolist() == [f"patch {j}" for j in chosen]
    frame = selector.set_output(transform="pandas").transform(Named())
    assert frame.columns.tolist() == selector.get_feature_names_out().tolist()
    table = selector.to_frame()
    assert table["selected"].tolist() == [True] * 10 + [False] * 190
    np.testing.assert_array_equal(selector.ranking_[selector.order_], np.arange(1, 201))
    loaded = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(loaded.order_, selector.order_)
    plain = MFPFS(n_features_to_select=3, random_state=0).fit(ArraySource(columns, meta), y)
    assert plain.get_feature_names_out()[0] == f"x{np.flatnonzero(plain.support_)[0]}"
    fewer = ArraySource(columns[:, :50], meta[:50])
    with pytest.raises(
        InputError, match="expected a source with 200 candidates, as in fit, got 50"
    ):
        selector.transform(fewer)


def test_transform_measures_only_the_selected_on_other_rows():
    meta, columns, y = problem(9)
    selector = MFPFS(n_features_to_select=10, random_state=0).fit(ArraySource(columns, meta), y)
    later = Counting(columns[:7], meta)
    assert selector.transform(later).shape == (7, 10)
    assert later.seen == set(np.flatnonzero(selector.support_).tolist())


def test_asking_for_all_measures_nothing():
    meta, columns, y = problem(10)
    source = Counting(columns, meta)
    selector = MFPFS(n_features_to_select=200).fit(source, y)
    assert not source.seen
    assert selector.support_.all()
    assert selector.n_measured_ == selector.cost_ == 0
    assert selector.history_ == []
    assert selector.quality_map_ is None
    np.testing.assert_array_equal(selector.order_, np.arange(200))
    with pytest.warns(SelectionWarning, match="asked for 300 features, but there are 200"):
        assert MFPFS(n_features_to_select=300).fit(source, y).n_selected_ == 200
    assert MFPFS(n_features_to_select=1.0).fit(source, y).n_selected_ == 200


def test_useless_and_constant_candidates_still_end_with_n():
    meta = np.zeros((60, 1))
    selector = MFPFS(n_features_to_select=6, random_state=0)
    selector.fit(ArraySource(np.ones((10, 60)), meta), [0, 1] * 5)
    # Nothing tells the candidates apart: the lower index stays.
    assert np.flatnonzero(selector.support_).tolist() == list(range(6))


class Failing(FeatureSource):
    retries = 0

    def __init__(self, columns, meta, broken):
        self.held, self.meta, self.broken = columns, meta, set(broken)

    def measure(self, indices):
        if self.broken.intersection(indices.tolist()):
            raise OSError("the lamp is off")
        return self.held[:, indices]


def test_candidates_that_fail_are_left_out():
    meta, columns, y = problem(11)
    broken = np.flatnonzero(meta[:, 0] > 0.9)
    selector = MFPFS(n_features_to_select=20, random_state=0)
    with pytest.warns(SelectionWarning, match=r"some candidates are left out.*lamp is off"):
        selector.fit(Failing(columns, meta, broken), y)
    assert selector.n_selected_ == 20
    assert not selector.support_[broken].any()
    assert set(selector.failed_.tolist()) <= set(broken.tolist())
    assert not set(selector.measured_.tolist()) & set(broken.tolist())
    assert sum(entry["n_failed"] for entry in selector.history_) > 0
    assert [entry["n_drawn"] for entry in selector.history_] == [8, 16, 20, 24]
    np.testing.assert_array_equal(selector.scores_[selector.failed_], 0.0)
    assert (np.diff(selector.scores_[selector.order_]) <= 0).all()
    assert sorted(selector.order_.tolist()) == list(range(200))


def test_survivors_that_fail_at_the_end_are_replaced():
    meta, columns, y = problem(12)
    options = {"n_features_to_select": 20, "alphas": (0.4,), "random_state": 0}
    first = MFPFS(**options).fit(ArraySource(columns, meta), y)
    late = [j for j in first.measured_ if not any(j in h["drawn"] for h in first.history_)]
    with pytest.warns(SelectionWarning, match="left out"):
        again = MFPFS(**options).fit(Failing(columns, meta, late), y)
    # The next ones of the same order stand in.
    kept = [j for j in first.order_.tolist() if j not in late]
    assert again.order_.tolist()[: 200 - len(late)] == kept
    assert again.n_selected_ == 20
    assert late


def test_too_many_failures_are_an_error_and_nothing_is_lost():
    meta, columns, y = problem(13)
    source = Failing(columns, meta, range(5, 200))
    with pytest.raises(MeasurementError, match=r"expected 20 candidates.*lamp is off") as caught:
        MFPFS(n_features_to_select=20, random_state=0).fit(source, y)
    assert caught.value.failures
    source.broken = set()
    source.retry_failed()
    healthy = MFPFS(n_features_to_select=20, random_state=0).fit(ArraySource(columns, meta), y)
    again = MFPFS(n_features_to_select=20, random_state=0).fit(source, y)
    np.testing.assert_array_equal(again.order_, healthy.order_)


@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
def test_failures_may_leave_just_enough():
    meta, columns, y = problem(14, 30)
    selector = MFPFS(n_features_to_select=10, alphas=(3.0,), random_state=0)
    selector.fit(Failing(columns, meta, range(20)), y)
    assert np.flatnonzero(selector.support_).tolist() == list(range(20, 30))


def test_stopped_by_hand_it_keeps_what_it_has_and_goes_on():
    meta, columns, y = problem(15)

    class Stopping(Counting):
        stop_at = 30

        def measure(self, indices):
            if self.stop_at and len(self.seen) >= self.stop_at:
                self.stop_at = 0
                raise KeyboardInterrupt
            return super().measure(indices)

    source = Stopping(columns, meta)
    selector = MFPFS(n_features_to_select=20, random_state=0)
    with pytest.warns(SelectionWarning, match="stopped after"), pytest.raises(KeyboardInterrupt):
        selector.fit(source, y)
    rounds = len(selector.history_)
    assert selector.n_selected_ == selector.history_[-1]["n_left"]
    assert selector.n_measured_ == len(source.seen)
    full = MFPFS(n_features_to_select=20, random_state=0).fit(ArraySource(columns, meta), y)
    assert 0 < rounds < len(full.history_)
    selector.fit(source, y)  # would fail if anything were measured twice
    np.testing.assert_array_equal(selector.order_, full.order_)
    assert selector.n_measured_ == full.n_measured_


def test_callbacks_are_told(capsys):
    meta, columns, y = problem(16)
    selector = MFPFS(n_features_to_select=20, random_state=0).set_callbacks(ProgressBar())
    selector.fit(ArraySource(columns, meta), y)
    assert selector.n_selected_ == 20


def test_wrong_input_is_refused_before_anything_is_measured():
    meta, columns, y = problem(17)
    source = Counting(columns, meta)
    for options, match in (
        ({"n_features_to_select": 0}, "n_features_to_select must be an int of at least 1"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be"),
        ({"alphas": ()}, "alphas must be a sequence of numbers above 0"),
        ({"alphas": (0.4, 0)}, "alphas must be"),
        ({"alphas": 0.5}, "alphas must be"),
        ({"drop": 1.0}, "drop must be"),
        ({"quality": "svm"}, "MFPFS: quality must be"),
        ({"regressor": "forest"}, "regressor must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ):
        with pytest.raises(InputError, match=match):
            MFPFS(**options).fit(source, y)
    selector = MFPFS(n_features_to_select=10, random_state=0)
    with pytest.raises(InputError, match="requires y"):
        selector.fit(source)
    with pytest.raises(InputError, match="at least two classes"):
        selector.fit(source, np.zeros(60))
    with pytest.raises(InputError, match="without missing values"):
        selector.fit(source, np.where(y == 0, np.nan, 1.0))
    with pytest.raises(InputError, match="target of classes"):
        clone(selector).set_params(quality="fisher").fit(source, y + 0.5)
    with pytest.raises(InputError, match="expected a FeatureSource"):
        selector.fit(columns, y)
    for wrong, match in (
        (np.where(meta == meta[3, 1], np.inf, meta), "inf or more than that in meta-feature 1"),
        (np.empty((200, 0)), "at least one meta-feature"),
    ):
        source.meta = wrong
        with pytest.raises(InputError, match=match):
            selector.fit(source, y)
    source.meta = meta
    assert not source.seen
    with pytest.raises(InputError, match=r"MFPFS: expected a target with 60 values.*got 59"):
        selector.fit(source, y[:-1])
    assert not hasattr(selector, "support_")
