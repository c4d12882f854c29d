"""Mufasa: the printed algorithm, limits, streams, checkpoints, and what users pass."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from reference import mufasa as plain
from tamis._runtime.checkpoint import load
from tamis._runtime.seeds import stream
from tamis.exceptions import InputError, SelectionWarning
from tamis.linear_svm.squared_hinge import FastLinearSVM
from tamis.meta import ArraySource, Categorical, Integer, MetaSpace, Mufasa, RandomSearch, Real
from tamis.meta.search._set_task import find_varying

Y = np.arange(40) % 2


def stored(path):
    """Seed and history in a checkpoint."""
    return load(path, "a search of sets", "test").content


class Noise:
    """Features are seeds of noise; their meta-features say how much signal is in it."""

    def __init__(self, *, space=None):
        self.space = space or MetaSpace(
            {"size": Integer(1, 8), "spread": Real(0, 1), "kind": Categorical(["a", "b"])}
        )

    def draw(self, point, rng, *, n_features=None, budget=None):
        size = point.get("size", 1)
        count = n_features if budget is None else int(budget // size)
        return [(int(s), dict(point)) for s in rng.integers(0, 2**31, count)]

    def cost(self, features):
        return np.array([float(point.get("size", 1)) for _, point in features])

    def meta(self, features):
        return self.space.to_array([point for _, point in features])

    def strength(self, point):
        """How much of the target a feature shows: most at size 6 and spread 0.2."""
        return 0.4 * max(0.0, 1 - abs(point["size"] - 6) / 7 - abs(point["spread"] - 0.2))

    def measure(self, X, features):
        columns = [
            np.random.default_rng(s).normal(size=X.size) + self.strength(point) * X
            for s, point in features
        ]
        return np.column_stack(columns)

    def join(self, features, chosen):
        chosen = np.asarray(chosen)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return [features[int(j)] for j in chosen]


class Known(ClassifierMixin, BaseEstimator):
    """Its accuracy is a known number: the first cell of the table."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return float(X[0, 0])


class KnownQuality(Noise):
    """The quality of a set is a function of its point."""

    def __init__(self, function, *, space=None):
        super().__init__(space=space)
        self.function = function

    def measure(self, X, features):
        return np.full((X.size, len(features)), self.function(features[0][1]))


def search(generator=None, **options):
    options = {"n_features_to_select": 5, "n_steps": 12, "random_state": 0, **options}
    return Mufasa(generator=generator or Noise(), **options)


def without_time(history):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in history]


class TestAlgorithm:
    @pytest.mark.parametrize("decay", [1.0, 0.9])
    def test_is_the_printed_one_with_the_same_random_numbers(self, decay):
        generator, seed = Noise(), 7
        fitted = search(generator, random_state=seed, n_steps=25, decay=decay, step=0.2).fit(Y, Y)
        folds_seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) % 2**31
        folds = list(StratifiedKFold(2, shuffle=True, random_state=folds_seed).split(Y, Y))

        def quality(features):
            table = generator.measure(Y, features)
            return np.mean(
                [FastLinearSVM().fit(table[a], Y[a]).score(table[b], Y[b]) for a, b in folds]
            )

        best, point, score, steps = plain.mufasa(
            25,
            generator.space.sample(stream(seed, 0, 0, 0, 0)),
            lambda u, j: generator.space.near(u, stream(seed, 0, j + 1, 0, 0), 0.2 * decay**j),
            lambda u, j: generator.draw(u, stream(seed, 0, j, 0, 1), n_features=5),
            quality,
        )
        assert [(r["point"], r["quality"], r["accepted"]) for r in fitted.history_] == steps
        assert (fitted.features_, fitted.best_point_, fitted.best_score_) == (best, point, score)

    def test_accepts_ties(self):
        fitted = search(KnownQuality(lambda point: 0.5), estimator=Known()).fit(Y, Y)
        assert all(record["accepted"] for record in fitted.history_)
        assert fitted.best_point_ == fitted.history_[-1]["point"]
        assert fitted.best_score_ == 0.5

    def test_negative_qualities_are_accepted(self):
        fitted = search(KnownQuality(lambda p: -1e9 * p["size"]), estimator=Known()).fit(Y, Y)
        assert fitted.history_[0]["accepted"]
        assert fitted.best_score_ < -1e8

    def test_points_stay_valid_and_near_the_best(self):
        space = MetaSpace(
            {"size": Integer(1, 8), "spread": Real(0, 1)},
            constraints=[lambda point: point["size"] <= 6],
        )
        fitted = search(Noise(space=space), n_steps=30, step=0.5).fit(Y, Y)
        for record in fitted.history_:
            assert type(record["point"]["size"]) is int
            assert space.valid(record["point"])
        still = search(n_steps=5, step=0.0).fit(Y, Y)
        assert all(record["point"] == still.best_point_ for record in still.history_)

    def test_a_given_start_is_the_first_point(self):
        start = {"size": 3, "spread": 0.25, "kind": "b"}
        fitted = search(start=start, n_restarts=2, n_steps=2).fit(Y, Y)
        first = [record["point"] for record in fitted.history_ if record["step"] == 1]
        assert first == [start, start]
        assert fitted.history_[2]["point"] != fitted.history_[3]["point"]  # other random numbers
        with pytest.raises(InputError, match="'size' is wrong"):
            search(start={**start, "size": 9}).fit(Y, Y)

    @pytest.mark.slow
    def test_finds_the_good_region_far_more_often_than_random_points(self):
        def quality(point):
            return -abs(point["size"] - 6) / 7 - abs(point["spread"] - 0.2)

        generator = KnownQuality(quality)
        options = {"estimator": Known(), "n_steps": 50, "step": 0.1, "n_jobs": 1}
        searches = [search(generator, random_state=s, **options).fit(Y, Y) for s in range(30)]
        found = sum(fitted.best_score_ > -0.02 for fitted in searches)
        rng = np.random.default_rng(0)
        points = [[generator.space.sample(rng) for _ in range(50)] for _ in range(30)]
        by_chance = sum(max(map(quality, some)) > -0.02 for some in points)
        # The region holds an eighth of the sizes and 0.04 of the spreads, 1 point in 200: fifty
        # points hit it with the probability 0.22.
        assert by_chance <= 11
        assert found >= 22

    @pytest.mark.slow
    def test_beats_random_search_of_features(self):
        y = np.random.default_rng(1).permutation(np.arange(300) % 2)
        options = {"n_features_to_select": 20, "n_steps": 30, "random_state": 0}
        guided = search(**options, n_restarts=2).fit(y, y)
        blind = RandomSearch(generator=Noise(), **{**options, "n_steps": 60}).fit(y, y)
        assert guided.best_score_ > blind.best_score_ + 0.05
        assert Noise().strength(guided.best_point_) > 0.3


class TestLimits:
    def test_budget_is_never_exceeded_and_the_features_cost_what_they_cost(self):
        fitted = search(n_features_to_select=None, budget=30.5, n_steps=30).fit(Y, Y)
        for record in fitted.history_:
            assert record["cost"] <= 30.5
            assert record["cost"] == record["n_features"] * record["point"]["size"]
        assert fitted.cost_ == fitted.n_selected_ * fitted.best_point_["size"]
        assert len(fitted.features_) == fitted.n_selected_ == fitted.meta_.shape[0]

    def test_a_generator_that_exceeds_it_is_refused(self):
        class Greedy(Noise):
            def draw(self, point, rng, *, n_features=None, budget=None):
                return super().draw({**point, "size": 2}, rng, n_features=16)

        with pytest.raises(InputError, match="cost 32 together, above the budget of 30"):
            search(Greedy(), n_features_to_select=None, budget=30).fit(Y, Y)
        with pytest.raises(InputError, match="drew 16 features when asked for 5"):
            search(Greedy()).fit(Y, Y)

    def test_fewer_features_than_asked_for_are_said(self):
        class Few(Noise):
            def draw(self, point, rng, *, n_features=None, budget=None):
                return super().draw(point, rng, n_features=3)

        with pytest.warns(SelectionWarning, match="expected 5 features, got 3"):
            fitted = search(Few()).fit(Y, Y)
        assert fitted.n_selected_ == 3

    def test_failed_and_empty_draws_are_passed_over_and_said(self):
        class Fails(Noise):
            def draw(self, point, rng, *, n_features=None, budget=None):
                if point["size"] > 4:
                    raise ValueError("too large")
                return [] if point["size"] == 4 else super().draw(point, rng, n_features=n_features)

        with pytest.warns(
            SelectionWarning, match=r"\d+ of 30 sets could not .* (large|no feature)"
        ):
            fitted = search(Fails(), n_steps=30, step=0.4).fit(Y, Y)
        for record in fitted.history_:
            assert (record["failure"] is None) == (record["point"]["size"] < 4)
            assert np.isfinite(record["quality"]) == (record["point"]["size"] < 4)
        assert fitted.best_point_["size"] < 4

        class Never(Noise):
            def draw(self, point, rng, *, n_features=None, budget=None):
                raise InputError("nothing there")

        with pytest.raises(InputError, match=r"none of 12 sets .* nothing there"):
            search(Never()).fit(Y, Y)

    def test_a_quality_that_is_no_number_is_never_accepted(self):
        def quality(point):
            return np.nan if point["kind"] == "a" else 0.3

        fitted = search(KnownQuality(quality), estimator=Known(), n_steps=30, step=1.0).fit(Y, Y)
        kinds = {record["point"]["kind"]: record["accepted"] for record in fitted.history_}
        assert kinds == {"a": False, "b": True}


class SomeConstant(Noise):
    """Every third feature never varies."""

    def measure(self, X, features):
        table = super().measure(X, features)
        table[:, [s % 3 == 0 for s, _ in features]] = 7.0
        return table


class TestConstantFeatures:
    @pytest.mark.parametrize("limit", [{"n_features_to_select": 30}, {"budget": 60.0}])
    @pytest.mark.parametrize("kind", [Mufasa, RandomSearch])
    def test_are_drawn_again_within_the_limit(self, kind, limit):
        options = {"generator": SomeConstant(), "n_steps": 6, "random_state": 0, **limit}
        found = kind(**options).fit(Y, Y)
        assert np.ptp(found.transform(Y), axis=0).min() > 0
        kept = kind(**options, redraw_constant=False).fit(Y, Y)
        assert np.ptp(kept.transform(Y), axis=0).min() == 0
        if "budget" in limit:
            assert all(record["cost"] <= 60 for record in found.history_)
            # One more of the most expensive kind would not fit.
            assert found.cost_ > 60 - 8
        else:
            assert found.n_selected_ == 30

    def test_a_set_in_which_nothing_varies_stays(self):
        found = search(KnownQuality(lambda point: 0.5)).fit(Y, Y)
        assert found.n_selected_ == 5

    def test_missing_cells_do_not_count_as_variation(self):
        table = np.array([[1.0, np.nan, 1.0, np.nan], [1.0, 1.0, 2.0, np.nan]])
        assert find_varying(table).tolist() == [False, False, True, False]
        assert find_varying(np.array([[True, False], [True, True]])).tolist() == [False, True]

    def test_a_resumed_search_draws_the_same(self, tmp_path):
        path = tmp_path / "run.json"
        whole = search(SomeConstant(), n_steps=8).fit(Y, Y)
        search(SomeConstant(), n_steps=4, checkpoint=path).fit(Y, Y)
        found = search(SomeConstant(), n_steps=8, checkpoint=path).fit(Y, Y)
        assert found.features_ == whole.features_
        np.testing.assert_array_equal(found.transform(Y), whole.transform(Y))


class TestOptions:
    def test_patience_ends_after_so_many_steps_without_notable_improvement(self):
        fitted = search(KnownQuality(lambda p: 0.5), estimator=Known(), patience=3).fit(Y, Y)
        assert (fitted.n_steps_, fitted.status_) == (4, "patience")
        counter = iter(np.arange(1, 100) / 1000)
        rising = KnownQuality(lambda p: next(counter))
        fitted = search(rising, estimator=Known(), cv=[(Y == 0, Y == 1)], patience=3, tol=0.0025)
        fitted.fit(Y, Y)  # 1, 4, 7, 10: every third step is a notable improvement
        assert (fitted.n_steps_, fitted.status_) == (12, "n_steps")
        counter = iter(np.arange(1, 100) / 1000)
        fitted.set_params(tol=0.0035).fit(Y, Y)
        assert (fitted.n_steps_, fitted.status_) == (4, "patience")

    def test_restarts_are_independent_and_the_best_is_kept(self):
        fitted = search(n_restarts=3).fit(Y, Y)
        assert [r["restart"] for r in fitted.history_] == [0, 1, 2] * 12
        alone = search().fit(Y, Y)
        first = [record for record in fitted.history_ if record["restart"] == 0]
        assert without_time(first) == without_time(alone.history_)
        best = max(fitted.history_, key=lambda record: record["quality"])
        assert fitted.best_score_ == best["quality"]
        assert len({json.dumps(r["point"]) for r in fitted.history_[:3]}) == 3
        assert fitted.n_steps_ == 36

    def test_a_restart_that_has_ended_leaves_the_others_alone(self):
        generator = KnownQuality(lambda point: round(point["spread"], 1))
        fitted = search(
            generator, estimator=Known(), n_restarts=4, patience=4, n_steps=60, step=0.3
        ).fit(Y, Y)
        for restart in range(4):
            records = [r for r in fitted.history_ if r["restart"] == restart]
            assert [r["step"] for r in records] == list(range(1, len(records) + 1))
        assert fitted.n_steps_ == len(fitted.history_)

    def test_proposals_start_from_one_best_and_are_taken_in_order(self):
        fitted = search(proposals_per_step=3, step=0.05).fit(Y, Y)
        assert [r["proposal"] for r in fitted.history_] == [0, 1, 2] * 12
        best = -np.inf
        for record in fitted.history_:
            assert record["accepted"] == (record["quality"] >= best)
            best = max(best, record["quality"])
        still = search(KnownQuality(lambda p: 0.0), estimator=Known(), proposals_per_step=3, step=0)
        points = [record["point"] for record in still.fit(Y, Y).history_]
        assert all(point == points[0] for point in points)

    @pytest.mark.parametrize(
        "options",
        [{}, {"proposals_per_step": 3, "cv": 3}, {"n_restarts": 3}, {"estimator": LinearSVC()}],
    )
    def test_threads_do_not_change_it(self, options):
        one, two, five = (search(n_jobs=n, n_steps=5, **options).fit(Y, Y) for n in (1, 2, 5))
        assert without_time(one.history_) == without_time(two.history_)
        assert without_time(one.history_) == without_time(five.history_)
        assert one.features_ == two.features_ == five.features_

    def test_same_seed_same_result_and_others_differ(self):
        one, again = search().fit(Y, Y), search().fit(Y, Y)
        other = search(random_state=1).fit(Y, Y)
        assert without_time(one.history_) == without_time(again.history_)
        assert without_time(one.history_) != without_time(other.history_)
        by_state = [search(random_state=np.random.RandomState(3)).fit(Y, Y) for _ in range(2)]
        assert by_state[0].features_ == by_state[1].features_

    def test_an_estimator_with_random_numbers_is_seeded(self):
        forest = DecisionTreeClassifier(max_features=1)
        one, two = (search(estimator=forest).fit(Y, Y) for _ in range(2))
        assert without_time(one.history_) == without_time(two.history_)
        assert forest.random_state is None

    def test_scoring_and_splitters(self):
        fitted = search(
            estimator=LogisticRegression(), scoring="neg_log_loss", cv=KFold(4), n_steps=3
        ).fit(Y, Y)
        assert fitted.best_score_ < 0

    def test_regression(self):
        y = np.random.default_rng(0).normal(size=120)
        fitted = search(estimator=Ridge(), n_features_to_select=20, n_steps=40).fit(y, y)
        assert fitted.best_score_ > 0.2
        assert abs(fitted.best_point_["size"] - 6) <= 1

    def test_labels_of_text_give_the_same_as_numbers(self):
        words = np.array(["no", "yes"], dtype=object)[Y]
        assert without_time(search().fit(Y, words).history_) == without_time(
            search().fit(Y, Y).history_
        )

    def test_transform_measures_other_rows(self):
        fitted = search().fit(Y, Y)
        columns = fitted.transform(Y[:10])
        assert columns.shape == (10, 5)
        np.testing.assert_array_equal(columns, fitted.generator_.measure(Y[:10], fitted.features_))
        assert fitted.get_feature_names_out().tolist() == [f"mufasa{j}" for j in range(5)]
        with pytest.raises(InputError, match="no mask"):
            fitted.get_support()
        np.testing.assert_array_equal(search().fit_transform(Y, Y), fitted.transform(Y))

    def test_pickle_and_clone(self):
        fitted = search().fit(Y, Y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.transform(Y), fitted.transform(Y))
        assert not hasattr(clone(fitted), "features_")

    def test_a_source_needs_no_generator(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 60)) + np.outer(Y, np.arange(60) // 20 == 1)
        source = ArraySource(X, (np.arange(60) // 20)[:, None])
        fitted = Mufasa(n_features_to_select=8, n_steps=15, random_state=0).fit(source, Y)
        assert fitted.get_support(indices=True).tolist() == sorted(fitted.features_)
        assert set(fitted.features_ // 20) == {1}
        assert fitted.n_measured_ == source.n_measured <= 60
        assert fitted.get_feature_names_out().tolist() == [f"x{j}" for j in fitted.features_]
        np.testing.assert_array_equal(fitted.transform(source), X[:, fitted.features_])
        np.testing.assert_array_equal(fitted.transform(X[:3]), X[:3, fitted.features_])


class Stop:
    """Callback that ends, or interrupts, after so many steps."""

    def __init__(self, after, error=None):
        self.after, self.error = after, error

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if "step" not in str(context.task_name):
            return False
        self.after -= 1
        if self.after == 0 and self.error is not None:
            raise self.error
        return self.after == 0


class TestStopping:
    def test_a_callback_can_end_it(self):
        stopped = search()
        stopped.set_callbacks(Stop(4))
        stopped.fit(Y, Y)
        assert (stopped.n_steps_, stopped.status_) == (4, "stopped")
        whole = search().fit(Y, Y)
        assert without_time(stopped.history_) == without_time(whole.history_[:4])

    def test_an_interrupt_keeps_the_best_so_far(self):
        stopped = search()
        stopped.set_callbacks(Stop(4, KeyboardInterrupt()))
        with (
            pytest.warns(SelectionWarning, match="stopped after 4 sets"),
            pytest.raises(KeyboardInterrupt),
        ):
            stopped.fit(Y, Y)
        whole = search(n_steps=4).fit(Y, Y)
        assert stopped.features_ == whole.features_
        assert stopped.transform(Y).shape == (40, 5)

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("seed", [0, None])
    def test_a_stop_and_a_resume_give_the_same(self, tmp_path, seed):
        path = tmp_path / "search.json"
        options = {"checkpoint": path, "n_restarts": 2, "proposals_per_step": 2}
        stopped = search(random_state=seed, **options)
        stopped.set_callbacks(Stop(5))
        stopped.fit(Y, Y)
        used = stored(path)["seed"]
        drawn = []

        class Counted(Noise):
            def measure(self, X, features):
                drawn.append(len(features))
                return super().measure(X, features)

        Counted.__qualname__, Counted.__module__ = "Noise", Noise.__module__
        resumed = search(Counted(), random_state=seed, **options).fit(Y, Y)
        # Only what was not done, and the best of each of the five known steps, which is drawn again
        # to see which of its features vary.
        assert 4 * 7 <= len(drawn) <= 4 * 7 + 5
        whole = search(random_state=used, n_restarts=2, proposals_per_step=2).fit(Y, Y)
        assert without_time(resumed.history_) == without_time(whole.history_)
        assert resumed.features_ == whole.features_
        finished = search(random_state=seed, **options).fit(Y, Y)
        assert finished.history_ == resumed.history_
        assert finished.features_ == whole.features_
        longer = search(random_state=seed, **{**options, "n_steps": 14}).fit(Y, Y)
        assert longer.history_[:48] == resumed.history_
        assert len(longer.history_) == 56

    @pytest.mark.slow
    def test_killed_at_any_moment(self, tmp_path):
        code = textwrap.dedent("""
            import numpy as np
            from tamis.meta import ArraySource, Mufasa

            def run(path):
                rng = np.random.default_rng(0)
                y = np.arange(300) % 3
                X = rng.normal(size=(300, 400)) + np.outer(y, np.arange(400) // 40 == 4)
                source = ArraySource(X, np.arange(400.0)[:, None])
                search = Mufasa(n_features_to_select=20, n_steps=60, random_state=1,
                                checkpoint=path, n_jobs=1)
                return search.fit(source, y)
        """)
        path = tmp_path / "search.json"
        command = [sys.executable, "-c", f"{code}\nimport sys; run(sys.argv[1])", str(path)]
        process = subprocess.Popen(command)
        while not path.exists() and process.poll() is None:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert 1 <= len(stored(path)["history"]) < 60
        here = {}
        exec(code, here)
        resumed, whole = here["run"](path), here["run"](None)
        assert without_time(resumed.history_) == without_time(whole.history_)
        np.testing.assert_array_equal(resumed.features_, whole.features_)

    def test_a_checkpoint_of_another_search_is_refused(self, tmp_path):
        path = tmp_path / "search.json"
        search(checkpoint=path).fit(Y, Y)
        before = path.read_bytes()
        other = "other data or parameters"
        with pytest.raises(InputError, match=other):
            search(checkpoint=path).fit(Y, Y[::-1])
        with pytest.raises(InputError, match=other):
            search(checkpoint=path).fit(Y + 1, Y)
        with pytest.raises(InputError, match=other):
            search(checkpoint=path, step=0.3).fit(Y, Y)
        with pytest.raises(InputError, match=other):
            search(checkpoint=path, random_state=4).fit(Y, Y)
        assert path.read_bytes() == before
        path.write_text("[1, 2]")
        with pytest.raises(InputError, match="got something else"):
            search(checkpoint=path).fit(Y, Y)


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_features_to_select": None}, "exactly one of n_features_to_select and budget"),
            ({"budget": 5.0}, "exactly one of n_features_to_select and budget, got 5 and 5.0"),
            ({"n_features_to_select": 0}, "must be an int of at least 1 or None, got 0"),
            ({"n_features_to_select": None, "budget": 0}, "budget must be a float above 0"),
            ({"n_features_to_select": None, "budget": np.inf}, "budget must be"),
            ({"n_steps": 0}, "n_steps must be an int of at least 1, got 0"),
            ({"step": -0.1}, "step must be a float of at least 0, got -0.1"),
            ({"decay": 1.5}, r"decay must be a float in \(0, 1\], got 1.5"),
            ({"patience": 0}, "patience must be an int of at least 1 or None"),
            ({"tol": -1}, "tol must be"),
            ({"n_restarts": 0}, "n_restarts must be"),
            ({"proposals_per_step": 1.5}, "proposals_per_step must be an int"),
            ({"cv": 1}, "cv must be an int of at least 2"),
            ({"cv": 50}, "cv=.* cannot split 40 rows"),
            ({"cv": []}, "at least one fold"),
            ({"n_jobs": 0}, "n_jobs must be a non-zero int"),
            ({"scoring": "nonsense"}, "scoring='nonsense' cannot be used"),
            ({"estimator": 3}, "estimator must be a scikit-learn estimator or None, got 3"),
            ({"random_state": -1}, "random_state must be an int of at least 0"),
        ],
    )
    def test_parameters(self, options, message):
        with pytest.raises(InputError, match=message):
            search(**options).fit(Y, Y)

    def test_generator(self):
        with pytest.raises(InputError, match=r"expected a generator with space.*got NoneType"):
            Mufasa(n_features_to_select=3).fit(np.zeros((4, 2)), [0, 1, 0, 1])
        with pytest.raises(InputError, match="got <class"):
            search(Noise).fit(Y, Y)

    def test_targets(self):
        with pytest.raises(InputError, match="expected a target y, got None"):
            search().fit(Y)
        with pytest.raises(InputError, match="two classes"):
            search().fit(Y, np.zeros(40))
        with pytest.raises(InputError, match="Pass a regressor as estimator"):
            search().fit(Y, Y + 0.5)
        with pytest.raises(InputError, match="one row for each of the 30 entries of y"):
            search().fit(Y, Y[:30])

    def test_a_fit_that_fails_leaves_nothing_of_the_last_one(self):
        fitted = search().fit(Y, Y)
        with pytest.raises(InputError):
            fitted.fit(Y, np.zeros(40))
        assert not hasattr(fitted, "features_")

    def test_the_data_are_not_changed(self):
        y = Y.copy()
        search().fit(y, y)
        np.testing.assert_array_equal(y, Y)


class TestFastLinearSVM:
    @staticmethod
    def table(n_rows, n_columns, n_classes, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, n_classes, n_rows)
        X = rng.normal(size=(n_rows, n_columns)) * rng.choice([0.1, 1.0, 20.0], n_columns)
        X[:, 0] += y * np.abs(X[:, 0]).mean()
        return X, y

    @pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 90), (60, 20), (400, 5)])
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("C", [0.5, 100.0])
    def test_solves_the_problem_of_linear_svc(self, n_rows, n_columns, n_classes, C):
        X, y = self.table(n_rows, n_columns, n_classes)
        ours = FastLinearSVM(C=C).fit(X, y)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(n_columns)
        theirs = LinearSVC(C=C, tol=1e-10, max_iter=1_000_000, random_state=0).fit(scaled, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(scaled), atol=1e-5
        )
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(scaled))

    def test_optimality_by_its_gradient(self):
        X, y = self.table(200, 300, 4, seed=3)
        bits = (X > 0).astype(np.uint8)
        ours = FastLinearSVM(C=2.0).fit(bits, y)
        scaled = (bits - ours.mean_) / ours.scale_
        assert np.square(scaled).sum(axis=1).mean() == pytest.approx(1.0)
        for machine, label in enumerate(ours.classes_):
            sign = np.where(y == label, 1.0, -1.0)
            w = ours.coef_[machine] * ours.scale_
            b = ours.intercept_[machine] + ours.coef_[machine] @ ours.mean_
            slack = np.maximum(1 - sign * (scaled @ w + b), 0)
            gradient = np.r_[w, b] - 4.0 * np.r_[scaled.T @ (slack * sign), (slack * sign).sum()]
            assert np.abs(gradient).max() < 1e-4

    def test_both_forms_agree(self, monkeypatch):
        X, y = self.table(80, 30, 3)
        rows = FastLinearSVM().fit(X, y)
        monkeypatch.setattr("tamis.linear_svm.squared_hinge.ROWS_PER_COLUMN", 0)
        np.testing.assert_allclose(FastLinearSVM().fit(X, y).coef_, rows.coef_, atol=1e-10)

    def test_constant_missing_and_shifted_columns(self):
        X, y = self.table(80, 10, 2)
        plain_fit = FastLinearSVM().fit(X, y)
        wider = np.column_stack([X, np.full(80, 7.3), np.full(80, np.nan)])
        np.testing.assert_allclose(
            FastLinearSVM().fit(wider, y).decision_function(wider), plain_fit.decision_function(X)
        )
        moved = FastLinearSVM().fit(1e3 * X + 1e5, y)
        np.testing.assert_allclose(
            moved.decision_function(1e3 * X + 1e5), plain_fit.decision_function(X), atol=1e-7
        )
        X[3, 2] = np.nan
        holes = FastLinearSVM().fit(X, y)
        X[3, 2] = np.nanmean(X[:, 2])
        np.testing.assert_allclose(holes.decision_function(X), holes.decision_function(X))
        assert np.isfinite(holes.coef_).all()
        X[0, 0] = np.inf
        with pytest.raises(InputError, match="infinite"):
            FastLinearSVM().fit(X, y)
        with pytest.raises(InputError, match="two classes"):
            FastLinearSVM().fit(X, np.zeros(80))

    def test_nothing_varies(self):
        fitted = FastLinearSVM().fit(np.ones((10, 3)), np.arange(10) % 2)
        assert (fitted.coef_ == 0).all()
