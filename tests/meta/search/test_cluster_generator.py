"""ClusterGenerator: clusters, neighbours, draws within limits, and what it says when short."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from tamis.exceptions import InputError, SelectionWarning
from tamis.meta import ArraySource, ClusterGenerator, FeatureSource, Generator, Mufasa

# Five groups of eight candidates on a line, at 0, 10, 20, 30 and 40.
META = (10.0 * np.repeat(np.arange(5), 8) + np.tile(np.linspace(0, 1, 8), 5))[:, None]
X = np.random.default_rng(0).normal(size=(30, 40))
Y = np.arange(30) % 2


def generator(cost=None, **options):
    options = {"n_clusters": 5, "random_state": 0, **options}
    return ClusterGenerator(ArraySource(X, META, cost=cost), **options)


class TestClusters:
    def test_groups_are_found_and_numbered_as_they_appear(self):
        found = generator()
        np.testing.assert_array_equal(found.labels, np.repeat(np.arange(5), 8))
        np.testing.assert_array_equal(found.sizes, [8] * 5)
        assert found.space.names == ("cluster",)
        assert found.space.size == 5
        assert isinstance(found, Generator)

    def test_scale_of_a_meta_feature_does_not_matter(self):
        rng = np.random.default_rng(1)
        meta = np.column_stack([META[:, 0], rng.normal(size=40)])
        one = ClusterGenerator(ArraySource(X, meta), n_clusters=4, random_state=0)
        two = ClusterGenerator(ArraySource(X, meta * [1e-6, 1e6]), n_clusters=4, random_state=0)
        np.testing.assert_array_equal(one.labels, two.labels)

    def test_labels_and_gaps_among_the_meta_features(self):
        meta = pd.DataFrame({"kind": list("abab") * 10, "size": [1.0, 2.0, np.nan, 4.0] * 10})
        found = ClusterGenerator(ArraySource(X, meta), n_clusters=20, random_state=0)
        np.testing.assert_array_equal(found.labels, np.arange(40) % 4)  # as many as different rows
        assert found.space.size == 4
        np.testing.assert_array_equal(found.meta(np.arange(4))[:, 0], [0, 1, 0, 1])
        np.testing.assert_array_equal(found.meta(np.arange(4))[:, 1], [1, 2, np.nan, 4])

    def test_one_cluster(self):
        found = generator(n_clusters=1)
        assert found.space.near({"cluster": 0}, 0, 5.0) == {"cluster": 0}
        assert len(found.draw({"cluster": 0}, np.random.default_rng(0), n_features=40)) == 40


class TestSteps:
    def test_a_small_step_leads_to_the_nearest_clusters(self):
        space = generator().space
        rng = np.random.default_rng(0)
        ends = [space.near({"cluster": 0}, rng, 0.05)["cluster"] for _ in range(2000)]
        counts = np.bincount(ends, minlength=5)
        assert (np.diff(counts) <= 0).all()  # on a line, nearer is more likely
        # Rank r has the probability that |N(0, 0.5)| rounds to r: 0.68, 0.31, 0.003.
        np.testing.assert_allclose(counts[:2] / 2000, [0.683, 0.315], atol=0.04)

    def test_a_large_step_reaches_all_and_none_stays(self):
        space = generator().space
        rng = np.random.default_rng(0)
        ends = {space.near({"cluster": 2}, rng, 0.3)["cluster"] for _ in range(300)}
        assert ends == set(range(5))
        assert space.near({"cluster": 2}, rng, 0) == {"cluster": 2}
        assert space.valid({"cluster": 4})
        assert not space.valid({"cluster": 5})
        with pytest.raises(InputError, match="step must be"):
            space.near({"cluster": 2}, rng, -1)


class TestDraw:
    def test_of_the_cluster_without_repeats_every_one_as_likely(self):
        found = generator()
        rng = np.random.default_rng(0)
        draws = [found.draw({"cluster": 3}, rng, n_features=4) for _ in range(600)]
        assert all(np.unique(draw).size == 4 for draw in draws)
        counts = np.bincount(np.concatenate(draws), minlength=40)
        assert counts[found.labels != 3].sum() == 0
        np.testing.assert_allclose(counts[24:32] / 600, 0.5, atol=0.08)

    def test_goes_on_with_the_nearest_cluster_when_used_up(self):
        found = generator()
        drawn = found.draw({"cluster": 4}, np.random.default_rng(0), n_features=13)
        assert sorted(drawn[:8]) == list(range(32, 40))
        assert set(found.labels[drawn[8:]]) == {3}
        assert found.borrowed({"cluster": 4}, drawn) == 5
        assert found.borrowed({"cluster": 4}, drawn[:8]) == 0
        everything = found.draw({"cluster": 1}, np.random.default_rng(0), n_features=100)
        assert sorted(everything) == list(range(40))

    def test_budget_is_kept_and_used(self):
        cost = np.random.default_rng(2).uniform(0.5, 3, 40)
        found = generator(cost)
        for seed in range(30):
            drawn = found.draw({"cluster": 2}, np.random.default_rng(seed), budget=6.0)
            total = cost[drawn].sum()
            assert total <= 6.0
            assert (found.labels[drawn] == 2).all()
            left = np.setdiff1d(np.flatnonzero(found.labels == 2), drawn)
            assert (cost[left] > 6.0 - total).all()  # nothing else of the cluster would fit
            np.testing.assert_allclose(found.cost(drawn), cost[drawn])
        # The whole cluster is cheap: what is left is spent on the nearest one.
        drawn = found.draw({"cluster": 0}, np.random.default_rng(0), budget=cost[:8].sum() + 5)
        assert set(found.labels[drawn]) == {0, 1}
        assert found.draw({"cluster": 0}, np.random.default_rng(0), budget=0.1).size == 0

    def test_any_draws_from_all(self):
        drawn = generator().draw_any(np.random.default_rng(0), n_features=30)
        assert np.unique(drawn).size == 30
        assert generator().draw_any(np.random.default_rng(0), budget=7.5).size == 7

    def test_wrong_limits_and_points(self):
        with pytest.raises(InputError, match="exactly one of n_features and budget"):
            generator().draw({"cluster": 0}, np.random.default_rng(0))
        with pytest.raises(InputError, match="cluster"):
            generator().draw({"cluster": 9}, np.random.default_rng(0), n_features=1)
        with pytest.raises(InputError, match="n_clusters must be an int of at least 1, got 0"):
            generator(n_clusters=0)
        with pytest.raises(InputError, match="expected a FeatureSource"):
            ClusterGenerator(X)


class TestMeasure:
    def test_source_other_source_tables(self):
        found = generator()
        chosen = np.array([5, 2, 39])
        np.testing.assert_array_equal(found.measure(None, chosen), X[:, chosen])
        other = ArraySource(-X[:7], META)
        np.testing.assert_array_equal(found.measure(other, chosen), -X[:7, chosen])
        for table in (X, pd.DataFrame(X), sparse.csr_array(X)):
            np.testing.assert_array_equal(found.measure(table, chosen), X[:, chosen])
        np.testing.assert_array_equal(found.join(chosen, [True, False, True]), [5, 39])
        np.testing.assert_array_equal(found.join(chosen, [2, 0]), [39, 5])
        with pytest.raises(InputError, match="40 columns"):
            found.measure(X[:, :9], chosen)
        with pytest.raises(InputError, match="a source with 40 candidates, got 9"):
            found.measure(ArraySource(X[:, :9], META[:9]), chosen)

    def test_a_copy_shares_the_source(self):
        found = generator()
        assert copy.deepcopy(found).source is found.source
        search = Mufasa(generator=found, n_features_to_select=3)
        assert clone(search).generator.source is found.source


class Counting(FeatureSource):
    def __init__(self, broken=()):
        self.meta, self.calls, self.broken = META, np.zeros(40, int), broken
        self.retries = 0

    def measure(self, indices):
        self.calls[indices] += 1
        if any(index in self.broken for index in indices):
            raise OSError("no reading")
        return X[:, indices]


class TestWithMufasa:
    def test_nothing_is_measured_twice(self):
        source = Counting()
        options = {"n_features_to_select": 5, "n_steps": 20, "random_state": 0}
        options["generator"] = ClusterGenerator(source, n_clusters=5, random_state=0)
        fitted = Mufasa(**options).fit(source, Y)
        assert source.calls.max() == 1
        assert fitted.n_measured_ == source.calls.sum()
        again = Mufasa(**options).fit(source, Y)
        assert source.calls.max() == 1
        assert again.n_measured_ == 0

    def test_too_small_clusters_are_said(self):
        with pytest.warns(SelectionWarning, match="too few candidates, so 4 of the 12 features"):
            Mufasa(generator=generator(), n_features_to_select=12, n_steps=3, random_state=0).fit(
                None, Y
            )
        with pytest.warns(SelectionWarning) as caught:
            Mufasa(n_features_to_select=50, n_steps=3, random_state=0).fit(ArraySource(X, META), Y)
        assert any("expected 50 features, got 40" in str(one.message) for one in caught)

    def test_candidates_that_cannot_be_measured_are_left_out(self):
        source = Counting(broken=range(0, 40, 2))
        with pytest.warns(SelectionWarning) as caught:
            fitted = Mufasa(n_features_to_select=6, n_steps=15, random_state=0).fit(source, Y)
        assert any("expected 6 features" in str(one.message) for one in caught)
        assert (fitted.features_ % 2 == 1).all()
        assert fitted.n_selected_ == len(fitted.features_) <= 6

    def test_a_checkpoint_with_clusters_of_a_random_seed(self, tmp_path):
        path = tmp_path / "search.json"
        options = {"n_features_to_select": 1, "n_steps": 5, "checkpoint": path}
        one = Mufasa(**options).fit(ArraySource(X, META), Y)
        two = Mufasa(**options).fit(ArraySource(X, META), Y)
        assert one.history_ == two.history_
        np.testing.assert_array_equal(one.features_, two.features_)
        moved = META.copy()
        moved[3] += 0.5
        with pytest.raises(InputError, match="other data or parameters"):
            Mufasa(**options).fit(ArraySource(X, moved), Y)
