"""OFW: what it learns, that it goes on where it stopped, and what it says when it cannot."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import tamis
from tamis import OFW
from tamis.cutoff import Mass
from tamis.datasets import make_ofw_ternary
from tamis.exceptions import InputError, SelectionWarning

TERNARY = {"estimator": "nn", "estimator_params": {"metric": "mismatch"}}


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        120, 30, n_informative=4, n_redundant=0, shuffle=False, class_sep=2, random_state=0
    )
    return X, y


def learn(table, **options):
    return OFW(**{"max_iter": 600, "random_state": 0, **options}).fit(*table)


class TestPaperData:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("seed", range(10))
    @pytest.mark.parametrize("method", ["riemannian", "euclidean", "diffusion"])
    @pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")  # left the simplex
    def test_nine_relevant_columns_fill_the_top_nine(self, method, seed):
        data = make_ofw_ternary(n_samples=500, random_state=seed)
        selector = OFW(method=method, random_state=seed, **TERNARY).fit(data.X, data.y)
        assert selector.n_evaluations_ <= 20_000
        assert set(selector.order_[:9]) == set(range(9))

    @pytest.mark.slow
    def test_reusable_columns_get_most_and_noise_almost_nothing(self):
        """Columns 1, 4 and 8 of the paper tell classes apart in two of the three."""
        weights = np.zeros(100)
        for seed in range(3):
            data = make_ofw_ternary(n_samples=500, random_state=seed)
            weights += (
                OFW(subset_size=3, random_state=seed, **TERNARY).fit(data.X, data.y).weights_ / 3
            )
        assert weights[:9].sum() > 0.9
        assert weights[9:].max() < 0.01
        reusable = weights[[0, 3, 7]].mean()
        assert reusable > 1.5 * weights[[1, 2, 4, 5, 6, 8]].mean()

    @pytest.mark.parametrize("draws_per_step", [1, 4])
    def test_columns_that_are_equally_good_stay_equal(self, draws_per_step):
        # Errors far below that of guessing are no reason to prefer what happened to be drawn.
        y = np.arange(60) % 2
        X = np.tile((10.0 * y + np.linspace(0, 1, 60))[:, None], 12)
        selector = OFW(
            estimator="nn", max_iter=300, draws_per_step=draws_per_step, random_state=0,
            n_features_to_select=3,
        ).fit(X, y)  # fmt: skip
        assert selector.energy_.max() == 0.0
        np.testing.assert_allclose(selector.weights_, 1 / 12, rtol=1e-12)

    @pytest.mark.slow
    def test_the_baseline_is_what_makes_it_learn(self):
        """Without it, as printed, every drawn column is pushed down by its error, good or bad."""
        data = make_ofw_ternary(n_samples=500, random_state=0)
        options = {"subset_size": 4, "sample_size": 50, "max_iter": 8000, "random_state": 0}
        ours = OFW(**options, **TERNARY).fit(data.X, data.y)
        printed = OFW(baseline=None, **options, **TERNARY).fit(data.X, data.y)
        assert ours.weights_[:9].sum() > printed.weights_[:9].sum() + 0.2
        assert ours.energy_[-5:].mean() < printed.energy_[-5:].mean()


class TestRealData:
    @pytest.mark.parametrize("method", ["riemannian", "diffusion"])
    def test_petals_carry_the_iris_data(self, method):
        """The paper draws two of the four columns for a CART tree, and reports 70% and 30%."""
        X, y = load_iris(return_X_y=True)
        selector = OFW(estimator="cart", subset_size=2, method=method, random_state=0).fit(X, y)
        assert selector.weights_[2:].sum() > 0.9
        assert set(selector.order_[:2]) == {2, 3}


class TestAttributes:
    def test_weights_energy_entropy(self, table):
        selector = learn(table, draws_per_step=2)
        assert selector.weights_.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_array_equal(selector.scores_, selector.weights_)
        assert selector.n_iter_ == 600
        assert selector.n_evaluations_ == 1200
        assert selector.status_ == "max_iter"
        np.testing.assert_array_equal(selector.energy_evaluations_, 200 * np.arange(1, 7))
        assert ((selector.energy_ > 0) & (selector.energy_ < 0.5)).all()
        assert (selector.energy_error_ > 0).all()
        p = selector.weights_[selector.weights_ > 0]
        assert selector.entropy_ == pytest.approx(-(p * np.log2(p)).sum())
        assert selector.weights_path_.shape == (len(selector.path_evaluations_), 30)
        np.testing.assert_allclose(selector.weights_path_[0], 1 / 30, rtol=1e-6)
        np.testing.assert_allclose(selector.weights_path_[-1], selector.weights_, rtol=1e-6)
        assert selector.path_evaluations_[-1] == 1200

    def test_defaults_are_derived_from_columns_and_subset_size(self, table):
        selector = learn(table, max_iter=2)
        assert selector.subset_size_ == 5  # the root of 30
        assert selector.sample_size_ == 100
        assert selector.step_offset_ == pytest.approx(120 * 30 / 5**0.5)
        assert selector.step_ == pytest.approx(0.5 * selector.step_offset_)
        for method in ("euclidean", "diffusion"):
            other = learn(table, max_iter=2, method=method)
            assert other.step_ == pytest.approx(0.125 / 30**2 * other.step_offset_)
        given = learn(table, max_iter=2, step_offset=100.0)
        assert given.step_ / given.step_offset_ == pytest.approx(0.5)
        assert learn((table[0][:40], table[1][:40]), max_iter=2).sample_size_ == 40

    def test_mass_cuts_the_weights(self, table):
        selector = learn(table, n_features_to_select=Mass(0.5), max_iter=3000)
        kept = selector.weights_[selector.support_]
        assert kept.sum() >= 0.5
        assert kept.sum() - kept.min() < 0.5

    @pytest.mark.slow
    def test_restarts_are_averaged_and_spread_reported(self, table):
        together = learn(table, n_restarts=3)
        assert together.n_evaluations_ == 1800
        assert together.weights_spread_.shape == (30,)
        assert together.weights_spread_[:4].max() > 0
        assert learn(table).weights_spread_.max() == 0
        assert together.weights_.sum() == pytest.approx(1, abs=1e-12)
        # The first of three runs has the seed of a single one: their mean holds it.
        alone = learn(table).weights_
        low = together.weights_ - 2 * together.weights_spread_
        high = together.weights_ + 2 * together.weights_spread_
        assert ((alone >= low - 1e-12) & (alone <= high + 1e-12)).all()

    def test_pickle_is_small_and_keeps_no_data(self, table):
        assert len(pickle.dumps(learn(table))) < table[0].nbytes / 2


class TestSameAnswer:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("method", ["riemannian", "euclidean", "diffusion"])
    def test_threads_do_not_change_it(self, table, method):
        one, two = (
            learn(table, method=method, draws_per_step=6, max_iter=150, n_jobs=n) for n in (1, 2)
        )
        np.testing.assert_array_equal(one.weights_, two.weights_)
        np.testing.assert_array_equal(one.energy_, two.energy_)

    def test_errors_of_given_draws_do_not_depend_on_how_they_are_grouped(self, table):
        from tamis.weighting._estimators import Task, make_errors

        X, y = table
        task = Task(np.ascontiguousarray(X.T), y.astype(np.int32), 2, False, False)
        rng = np.random.default_rng(0)
        draws, train, test = (
            rng.integers(0, high, (12, size)) for high, size in ((30, 5), (120, 60), (120, 60))
        )
        errors = make_errors("svm", None, task, 2, "test")
        together = errors(draws, train, test)
        single = [errors(draws[d : d + 1], train[d : d + 1], test[d : d + 1])[0] for d in range(12)]
        np.testing.assert_array_equal(together, single)

    def test_equal_weights_are_no_weights(self, table):
        weighted = OFW(max_iter=300, random_state=0).fit(*table, sample_weight=np.full(120, 3.0))
        np.testing.assert_array_equal(weighted.weights_, learn(table, max_iter=300).weights_)

    def test_rows_without_weight_are_never_drawn(self, table):
        X, y = table[0].copy(), table[1]
        weight = np.ones(120)
        weight[::3] = 0
        X[::3] = 1e6 * np.random.default_rng(0).normal(size=X[::3].shape)
        options = {"max_iter": 300, "random_state": 0, "scale": False}
        spoiled = OFW(**options).fit(X, y, sample_weight=weight)
        clean = OFW(**options).fit(table[0], y, sample_weight=weight)
        np.testing.assert_array_equal(spoiled.weights_, clean.weights_)


class TestGeneralPath:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("word", "params", "estimator"),
        [
            ("svm", {"tol": 1e-6, "max_iter": 5000},
             LinearSVC(loss="hinge", tol=1e-6, max_iter=50_000, random_state=0)),
            ("nn", {"n_neighbors": 3}, KNeighborsClassifier(3)),
        ],
    )  # fmt: skip
    def test_any_classifier_agrees_with_the_built_in_one(self, table, word, params, estimator):
        options = {"max_iter": 200, "subset_size": 4, "random_state": 0}
        built_in = OFW(estimator=word, estimator_params=params, **options).fit(*table)
        general = OFW(estimator=estimator, **options).fit(*table)
        noise = np.hypot(built_in.energy_error_[0], general.energy_error_[0])
        assert abs(built_in.energy_[0] - general.energy_[0]) < 3 * noise

    @pytest.mark.slow
    def test_a_classifier_with_random_numbers_is_seeded_and_does_not_race(self, table):
        """LinearSVC draws from a generator that all threads of the process share."""
        options = {"estimator": LinearSVC(loss="hinge", max_iter=50), "draws_per_step": 8}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it does not converge, so the draws matter
            one, two = (learn(table, max_iter=40, n_jobs=n, **options).weights_ for n in (1, 2))
        np.testing.assert_array_equal(one, two)

    def test_one_vs_all_and_direct(self):
        X, y = load_iris(return_X_y=True)
        options = {"max_iter": 200, "subset_size": 2, "random_state": 0}
        direct = OFW(multi_class="direct", **options).fit(X, y)
        averaged = OFW(multi_class="one_vs_all", **options).fit(X, y)
        auto = OFW(**options).fit(X, y)
        np.testing.assert_array_equal(auto.weights_, averaged.weights_)
        assert direct.energy_[0] != averaged.energy_[0]

    def test_balanced_error_counts_classes_alike(self, table):
        """Nine rows in ten of one class, noise: 18% of the rows are wrong, or half of each class.

        About 40% of the test rows are also in the training sample, and right.
        """
        X = np.random.default_rng(0).normal(size=(200, 10))
        y = np.r_[np.zeros(180, int), np.ones(20, int)]
        plain = learn((X, y), max_iter=200, estimator="nn")
        balanced = learn((X, y), max_iter=200, estimator="nn", metric="balanced_error")
        assert 0.08 < plain.energy_[0] < 0.15
        assert 0.25 < balanced.energy_[0] < 0.35


class TestPreselection:
    def test_numbers_and_selectors(self, table):
        X, y = table
        scores = tamis.Fisher(n_features_to_select="all").fit(X, y).scores_
        by_score = learn(table, preselect=0.01, max_iter=50)
        np.testing.assert_array_equal(by_score.weights_ > 0, scores > 0.01)
        by_count = learn(table, preselect=7, max_iter=50)
        assert set(np.flatnonzero(by_count.weights_)) == set(np.argsort(-scores)[:7])
        by_selector = learn(table, preselect=tamis.DFT(n_features_to_select=5), max_iter=50)
        chosen = tamis.DFT(n_features_to_select=5).fit(X, y).support_
        np.testing.assert_array_equal(by_selector.weights_ > 0, chosen)
        assert by_selector.subset_size_ == 2

    def test_nothing_left(self, table):
        with pytest.raises(InputError, match="preselect to keep a column, got none of 30"):
            learn(table, preselect=1e6)


class TestGoingOn:
    def test_warm_start_goes_on_from_the_weights(self, table):
        selector = OFW(max_iter=300, random_state=0, warm_start=True)
        first = selector.fit(*table).weights_
        second = selector.fit(*table)
        assert second.n_iter_ == 600
        assert not np.array_equal(first, second.weights_)
        # All random numbers come from one stream, so two halves are the whole.
        np.testing.assert_array_equal(second.weights_, learn(table).weights_)
        with pytest.raises(InputError, match="warm_start=False"):
            selector.fit(table[0][:, :10], table[1])

    def test_warm_start_after_a_run_that_settled_within_a_chunk(self, table):
        selector = OFW(max_iter=2000, tol=1.0, random_state=0, warm_start=True).fit(*table)
        settled = selector.n_iter_
        assert selector.status_ == "settled"
        assert settled % 200 != 0
        selector.set_params(tol=0.0, max_iter=500)
        assert selector.fit(*table).n_iter_ == settled + 500

    def test_a_finished_checkpoint_is_the_answer(self, table, tmp_path):
        path = tmp_path / "run.npz"
        first = learn(table, checkpoint=path)
        again = learn(table, checkpoint=path)
        np.testing.assert_array_equal(first.weights_, again.weights_)
        assert again.n_evaluations_ == 600
        longer = learn(table, checkpoint=path, max_iter=1000)
        np.testing.assert_array_equal(longer.weights_, learn(table, max_iter=1000).weights_)

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("method", ["riemannian", "euclidean", "diffusion"])
    def test_a_stop_and_a_resume_give_the_same_bits(self, table, tmp_path, method):
        class StopAfter:
            """A callback that presses Ctrl-C after some chunks."""

            def __init__(self, chunks):
                self.left = chunks

            def setup(self, estimator, context): ...
            def teardown(self, estimator, context): ...
            def on_fit_task_begin(self, estimator, context): ...

            def on_fit_task_end(self, estimator, context):
                self.left -= context.parent is not None and context.parent.parent is not None
                if self.left == 0:
                    raise KeyboardInterrupt

        options = {"method": method, "max_iter": 1500, "n_restarts": 2}
        whole = learn(table, **options)
        path = tmp_path / "run.npz"
        selector = OFW(checkpoint=path, random_state=0, **options)
        with pytest.raises(KeyboardInterrupt), pytest.warns(SelectionWarning, match="stopped"):
            selector.set_callbacks(StopAfter(3)).fit(*table)
        assert selector.n_evaluations_ == 600
        assert selector.weights_.sum() == pytest.approx(1)
        assert selector.support_.all()
        resumed = OFW(checkpoint=path, random_state=0, **options).fit(*table)
        np.testing.assert_array_equal(resumed.weights_, whole.weights_)
        np.testing.assert_array_equal(resumed.energy_, whole.energy_)
        np.testing.assert_array_equal(resumed.weights_path_, whole.weights_path_)

    @pytest.mark.slow
    def test_killed_at_any_moment(self, tmp_path):
        script = textwrap.dedent("""
            import sys
            from sklearn.datasets import make_classification
            import tamis.weighting.ofw as ofw
            ofw.CHECKPOINT_SECONDS = 0.0
            X, y = make_classification(150, 40, random_state=0)
            selector = ofw.OFW(max_iter=6000, random_state=3, checkpoint=sys.argv[1]).fit(X, y)
            print(selector.n_evaluations_, selector.weights_.tobytes().hex())
        """)
        command = [sys.executable, "-c", script]
        whole = subprocess.run(
            [*command, str(tmp_path / "whole.npz")], capture_output=True, text=True, check=True
        )
        path = tmp_path / "killed.npz"
        rng = np.random.default_rng(0)
        for _ in range(4):
            process = subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE)
            deadline = time.monotonic() + 300
            while not path.exists() and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.01)
            time.sleep(float(rng.uniform(0.0, 0.3)))
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        resumed = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True)
        assert resumed.stdout == whole.stdout

    def test_a_checkpoint_of_another_fit_is_refused(self, table, tmp_path):
        path = tmp_path / "run.npz"
        learn(table, checkpoint=path)
        before = path.read_bytes()
        with pytest.raises(InputError, match="other data or parameters"):
            learn((table[0] + 1, table[1][::-1]), checkpoint=path)
        with pytest.raises(InputError, match="other data or parameters"):
            learn(table, checkpoint=path, subset_size=3)
        assert path.read_bytes() == before
        path.write_text("no checkpoint")
        with pytest.raises(InputError, match="got something else"):
            learn(table, checkpoint=path)


class TestRefusals:
    def test_leaving_the_simplex_says_so_and_keeps_the_last_weights(self, table):
        with pytest.warns(SelectionWarning, match="left the simplex at step"):
            selector = learn(table, method="euclidean", step=10.0, n_features_to_select=5)
        assert selector.status_ == "left the simplex"
        assert selector.n_iter_ < 600
        assert (selector.weights_ > 0).all()
        assert selector.weights_.sum() == pytest.approx(1)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"estimator": "tree"}, "OFW: estimator must be 'svm' or 'nn' or 'lda' or 'cart'"),
            ({"estimator": tamis.DFT()}, "OFW: estimator must be"),
            ({"estimator_params": {"gamma": 1}}, "may hold C, loss, tol, max_iter, got 'gamma'"),
            ({"estimator_params": {"C": -1}}, r"estimator_params\['C'\] must be a float above 0"),
            ({"estimator": LinearSVC(), "estimator_params": {"C": 1}}, "built-in estimators"),
            ({"method": "newton"}, "method must be 'riemannian' or 'euclidean' or 'diffusion'"),
            ({"subset_size": 0}, "subset_size must be an int of at least 1"),
            ({"draws_per_step": 1.5}, "draws_per_step must be an int"),
            ({"preselect": "fisher"}, "preselect must be a number, a selector or None"),
            ({"estimator": "nn", "multi_class": "one_vs_all"}, "multi_class must be 'auto'"),
            ({"baseline": "zero"}, "baseline must be 'mean' or None"),
        ],
    )
    def test_parameters(self, table, params, message):
        with pytest.raises(InputError, match=message):
            learn(table, **params)

    def test_more_columns_drawn_than_there_are(self, table):
        selector = learn((table[0][:, :3], table[1]), subset_size=50, max_iter=20)
        assert selector.subset_size_ == 3

    def test_a_fit_that_fails_leaves_nothing_of_the_last_one(self, table):
        selector = clone(learn(table, max_iter=20)).fit(*table)
        with pytest.raises(InputError):
            selector.set_params(estimator="tree").fit(*table)
        assert not hasattr(selector, "weights_")


@pytest.mark.parametrize(
    "estimator", ["svm", "nn", "lda", pytest.param("cart", marks=pytest.mark.slow)]
)
def test_a_weight_is_a_repetition_on_tied_rows(estimator):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 6)).astype(float)
    y, times = (X[:, 0] + rng.integers(0, 2, 40) > 0).astype(int), rng.integers(1, 4, 40)
    options = {"estimator": estimator, "random_state": 0, "max_iter": 200}
    weighted = OFW(**options).fit(X, y, sample_weight=times).weights_
    repeated = OFW(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).weights_
    np.testing.assert_array_equal(weighted, repeated)
