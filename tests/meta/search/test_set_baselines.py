"""RandomSearch and NormalizedInformationGain: the same limits and quality without guidance."""

import numpy as np
import pytest

from reference import mufasa as plain
from tamis.exceptions import InputError, SelectionWarning
from tamis.meta import (
    ArraySource,
    ClusterGenerator,
    Integer,
    MetaSpace,
    NormalizedInformationGain,
    RandomSearch,
)

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(60) % 3)
X = RNG.integers(0, 2, size=(60, 50)).astype(float)
X[:, 4] = Y == 1
X[:, 9] = Y > 0
COST = RNG.uniform(0.5, 4, 50)
SOURCE = ArraySource(X, np.arange(50.0)[:, None], cost=COST)


class Columns:
    """A generator of the plainest kind: a point names a column, nothing else is offered."""

    space = MetaSpace({"column": Integer(0, 49)})

    def draw(self, point, rng, *, n_features=None, budget=None):
        assert budget is None
        return np.full(n_features, point["column"])

    def cost(self, features):
        return COST[features]

    def meta(self, features):
        return np.asarray(features, dtype=float)[:, None]

    def measure(self, X, features):
        return X[:, features]

    def join(self, features, chosen):
        return features[np.asarray(chosen)]


def without_time(history):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in history]


class TestRandomSearch:
    @pytest.mark.parametrize("limit", [{"n_features_to_select": 6}, {"budget": 11.0}])
    def test_the_best_of_sets_within_the_limit(self, limit):
        fitted = RandomSearch(n_steps=20, random_state=0, **limit).fit(SOURCE, Y)
        assert [record["step"] for record in fitted.history_] == list(range(1, 21))
        qualities = [record["quality"] for record in fitted.history_]
        assert fitted.best_score_ == max(qualities)
        assert fitted.best_point_ is None
        for record in fitted.history_:
            assert record["n_features"] == 6 if "budget" not in limit else record["cost"] <= 11.0
        assert fitted.cost_ == pytest.approx(COST[fitted.features_].sum())
        assert fitted.support_.sum() == fitted.n_selected_

    def test_each_feature_has_a_point_of_its_own(self):
        fitted = RandomSearch(
            generator=Columns(), n_features_to_select=12, n_steps=4, random_state=0
        ).fit(X, Y)
        assert np.unique(fitted.meta_).size > 6
        np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.meta_[:, 0].astype(int)])

    def test_budget_of_a_plain_generator_is_kept_and_used(self):
        fitted = RandomSearch(generator=Columns(), budget=20.0, n_steps=15, random_state=0).fit(
            X, Y
        )
        costs = [record["cost"] for record in fitted.history_]
        assert max(costs) <= 20.0
        assert min(costs) > 20.0 - 2.0  # twenty features in a row did not fit what is left

    def test_threads_and_seeds(self):
        options = {"n_features_to_select": 6, "n_steps": 7, "random_state": 3}
        one, two, five = (RandomSearch(n_jobs=n, **options).fit(SOURCE, Y) for n in (1, 2, 5))
        assert without_time(one.history_) == without_time(two.history_)
        assert without_time(one.history_) == without_time(five.history_)
        other = RandomSearch(**{**options, "random_state": 4}).fit(SOURCE, Y)
        assert without_time(one.history_) != without_time(other.history_)

    def test_checkpoint(self, tmp_path):
        options = {"n_features_to_select": 6, "random_state": 3, "checkpoint": tmp_path / "a.json"}
        RandomSearch(n_steps=4, **options).fit(SOURCE, Y)
        resumed = RandomSearch(n_steps=9, **options).fit(SOURCE, Y)
        whole = RandomSearch(n_features_to_select=6, random_state=3, n_steps=9).fit(SOURCE, Y)
        assert without_time(resumed.history_) == without_time(whole.history_)
        np.testing.assert_array_equal(resumed.features_, whole.features_)


class TestNormalizedInformationGain:
    def test_is_the_prefix_by_gain_per_cost(self):
        fitted = NormalizedInformationGain(budget=9.0, random_state=0).fit(SOURCE, Y)
        # A budget 50 times larger pays for all candidates.
        assert fitted.n_drawn_ == 50
        gains = [plain.information_gain(column, Y) for column in X.T]
        assert fitted.features_.tolist() == plain.prefix_by_gain_per_cost(gains, COST, 9.0)
        np.testing.assert_allclose(fitted.gain_, np.array(gains)[fitted.features_], atol=1e-12)
        assert fitted.cost_ <= 9.0
        assert fitted.history_[0]["quality"] == fitted.best_score_

    def test_a_number_of_features(self):
        free = ArraySource(X, np.arange(50.0)[:, None])
        fitted = NormalizedInformationGain(n_features_to_select=2, random_state=0).fit(free, Y)
        assert sorted(fitted.features_) == [4, 9]
        # Both columns tell a third of the rows from two thirds.
        entropy = -(1 / 3) * np.log2(1 / 3) - (2 / 3) * np.log2(2 / 3)
        np.testing.assert_allclose(fitted.gain_, entropy)

    def test_factor_says_how_many_are_drawn(self):
        fitted = NormalizedInformationGain(n_features_to_select=4, factor=2.5, random_state=0)
        assert fitted.fit(SOURCE, Y).n_drawn_ == 10
        plain_draw = NormalizedInformationGain(generator=Columns(), budget=8.0, factor=10)
        plain_draw.set_params(random_state=0).fit(X, Y)
        assert plain_draw.n_drawn_ > 10
        assert plain_draw.cost_ <= 8.0

    def test_a_generator_may_have_its_own_gain(self):
        class Own(ClusterGenerator):
            def information_gain(self, X, y, features):
                return np.where(features == 17, 5.0, 0.1)

        fitted = NormalizedInformationGain(
            generator=Own(SOURCE, random_state=0), n_features_to_select=1, random_state=0
        ).fit(SOURCE, Y)
        assert fitted.features_.tolist() == [17]

        class Wrong(ClusterGenerator):
            def information_gain(self, X, y, features):
                return np.ones(3)

        wrong = NormalizedInformationGain(generator=Wrong(SOURCE), n_features_to_select=1)
        with pytest.raises(InputError, match="one gain for each of 50 features"):
            wrong.fit(SOURCE, Y)

    def test_measuring_in_parts_changes_nothing(self, monkeypatch):
        options = {"n_features_to_select": 9, "random_state": 0}
        whole = NormalizedInformationGain(**options).fit(SOURCE, Y)
        monkeypatch.setattr("tamis.meta.search.set_baselines.CELLS", 200)
        parts = NormalizedInformationGain(**options).fit(SOURCE, Y)
        np.testing.assert_array_equal(parts.features_, whole.features_)

    def test_constant_features_and_features_for_free(self):
        values = np.column_stack([np.ones(60), X[:, 4], X[:, 0], np.zeros(60)])
        cost = np.array([1.0, 5.0, 0.0, 0.0])
        source = ArraySource(values, np.arange(4.0)[:, None], cost=cost)
        fitted = NormalizedInformationGain(budget=5.5, random_state=0).fit(source, Y)
        assert fitted.features_[:2].tolist() == [2, 1]
        assert fitted.cost_ <= 5.5

    def test_too_dear_features_are_left_out_first(self):
        cost = np.where(np.arange(50) == 4, 100.0, 1.0)
        source = ArraySource(X, np.arange(50.0)[:, None], cost=cost)
        fitted = NormalizedInformationGain(budget=2.0, random_state=0).fit(source, Y)
        assert 4 not in fitted.features_
        assert fitted.n_selected_ == 2

    def test_wrong_arguments(self):
        with pytest.raises(InputError, match=r"factor must be a float of at least 1, got 0\.5"):
            NormalizedInformationGain(budget=5, factor=0.5).fit(SOURCE, Y)
        with pytest.raises(InputError, match="exactly one"):
            NormalizedInformationGain().fit(SOURCE, Y)
        with pytest.warns(SelectionWarning, match="expected 60 features, got 50"):
            NormalizedInformationGain(n_features_to_select=60, random_state=0).fit(SOURCE, Y)
