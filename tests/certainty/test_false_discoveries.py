"""FalseDiscoveries: q-values by a known law or by permutations."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import false_discovery_control

import tamis
from passes.array_source import ArraySource
from reference.permutations import refit, sequential
from tamis._runtime.seeds import stream
from tamis.certainty import FalseDiscoveries
from tamis.certainty._sequential import SHUFFLES, batch_bounds
from tamis.certainty.permutations import Permutations, draw_states
from tamis.exceptions import InputError, SelectionWarning


def planted(seed=0, n_rows=60, n_columns=40, n_planted=4, size=1.5):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, n_columns)), rng.permutation(n_rows) % 2
    X[:, :n_planted] += size * y[:, None]
    return X, y


def fitted(selector, X, y, **options):
    return selector.set_params(n_features_to_select=FalseDiscoveries(**options)).fit(X, y)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_q_values_are_adjusted_p_values(method):
    X, y = planted()
    X[:, 9] = 1.0
    for selector in (tamis.AnovaF(), tamis.DFT()):
        fitted(selector, X, y, method=method)
        others = np.arange(40) != 9
        expected = false_discovery_control(selector.p_values_[others], method=method)
        np.testing.assert_allclose(selector.q_values_[others], expected)
        assert selector.p_values_[9] == selector.q_values_[9] == 1.0
        np.testing.assert_array_equal(selector.support_, selector.q_values_ <= 0.1)


def test_a_known_law_needs_no_permutations():
    X, y = planted(1)
    selector = fitted(tamis.AnovaF(), X, y)
    np.testing.assert_array_equal(selector.p_values_, selector.pvalues_)
    assert selector.cut_details_["source"] == "law"
    assert selector.cut_details_["n_permutations"] == 0
    assert fitted(tamis.DFT(), X, y).cut_details_["source"] == "permutations"
    # Cells with few expected rows: the chi-squared law of G would be rough.
    assert fitted(tamis.InformationGain(), X, y).cut_details_["source"] == "permutations"
    assert fitted(tamis.InformationGain(), np.sign(X), y).cut_details_["source"] == "law"
    strata = np.arange(60) % 3
    assert fitted(tamis.AnovaF(), X, y, strata=strata).cut_details_["source"] == "permutations"


@pytest.mark.parametrize(
    "selector", [tamis.DFT(), tamis.Correlation(classes="max"), tamis.ReliefF()], ids=str
)
def test_p_values_stop_at_ten_hits(selector):
    X, y = planted(2, n_columns=15)
    y = np.where(np.arange(60) < 6, 2, y)
    fitted(selector, X, y, n_permutations=400)
    states = draw_states(stream(0, SHUFFLES), 400)
    orders = Permutations.of(60, None, None, None, "").orders(states)
    permuted = refit(selector, X, y, orders)
    low = sequential(selector.scores_ - 1e-9, permuted, 10)
    high = sequential(selector.scores_ - 2e-5, permuted, 10)
    assert (selector.p_values_ >= low - 1e-12).all()
    assert (selector.p_values_ <= high + 1e-12).all()
    assert (low == high).mean() > 0.9


def test_refits_give_the_same_and_tell_what_they_resolve():
    X, y = planted(3, n_columns=8, size=3.0)
    selector = tamis.DFT(class_weight="balanced")
    with pytest.warns(SelectionWarning, match="19 refits resolve p-values down to 1 / 20, so that"):
        fitted(selector, X, y, n_permutations=19)
    states = draw_states(stream(0, SHUFFLES), 19)
    orders = Permutations.of(60, None, None, None, "").orders(states)
    permuted = refit(selector, X, y, orders)
    np.testing.assert_allclose(
        selector.p_values_, sequential(selector.scores_ - 1e-9, permuted, 10)
    )
    assert selector.cut_details_["n_permutations"] == 19


def test_enough_permutations_for_one_feature_by_default():
    X, y = planted(4, n_columns=300, n_planted=1, size=4.0)
    selector = fitted(tamis.DFT(), X, y)
    assert selector.cut_details_["n_permutations"] == 2999
    assert selector.p_values_.min() == 1 / 3000
    assert selector.support_[0]
    assert fitted(tamis.DFT(), X[:, :20], y).cut_details_["n_permutations"] == 999
    assert fitted(tamis.DFT(), X, y, level=0.2).cut_details_["n_permutations"] == 1499
    by = fitted(tamis.DFT(), X, y, method="by").cut_details_["n_permutations"]
    assert by == np.ceil(10 * 300 * (1 / np.arange(1, 301)).sum()) - 1


def test_another_level_needs_no_data():
    X, y = planted(5)
    selector = fitted(tamis.DFT(), X, y)
    q_values = selector.q_values_
    selector.recut(FalseDiscoveries(0.4))
    np.testing.assert_array_equal(selector.support_, q_values <= 0.4)
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(FalseDiscoveries(0.4, n_permutations=50))
    # A law needs no data either, whatever the cutoff was before.
    selector = tamis.AnovaF(n_features_to_select=3).fit(X, y).recut(FalseDiscoveries(0.1))
    np.testing.assert_array_equal(selector.support_, selector.q_values_ <= 0.1)


def test_tables_larger_than_memory():
    X, y = planted(6, n_rows=90, n_columns=7)
    for selector in (tamis.AnovaF(), tamis.Correlation(), tamis.Fisher()):
        expected = fitted(selector, X, y).q_values_
        found = fitted(selector, ArraySource(X, y), None).q_values_
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(InputError, match="expected a rule that needs only scores, got FalseDisco"):
        fitted(tamis.DFT(), ArraySource(X, y), None)
    with pytest.raises(InputError, match="expected a rule that needs only scores, got FalseDisco"):
        fitted(tamis.AnovaF(), ArraySource(X, y), None, strata=y)
    with pytest.raises(InputError, match="expected the training data"):
        fitted(tamis.AnovaF(), ArraySource(X, y, np.arange(1.0, 91.0)), None)
    with pytest.warns(SelectionWarning, match="InformationGain are rough"):
        fitted(tamis.InformationGain(), ArraySource(X, y), None, level=0.9)


def test_threads_change_nothing():
    X, y = planted(7, 150)
    for selector in (tamis.DFT(), tamis.Correlation(classes="max")):
        labels = np.where(np.arange(150) < 20, 2, y)
        one = fitted(selector, X, labels, n_jobs=1).p_values_
        np.testing.assert_array_equal(one, fitted(selector, X, labels, n_jobs=3).p_values_)


def test_batches_grow_and_cover_all():
    bounds = batch_bounds(1000, 300)
    assert bounds == [(0, 100), (100, 300), (300, 600), (600, 900), (900, 1000)]
    assert batch_bounds(30, 300) == [(0, 30)]


def test_bad_input():
    X, y = planted(8)
    with pytest.raises(InputError, match=r"FalseDiscoveries: level must be a float in \(0, 1\)"):
        FalseDiscoveries(1.0)
    with pytest.raises(InputError, match="method must be 'bh' or 'by', got 'storey'"):
        FalseDiscoveries(method="storey")
    with pytest.raises(InputError, match="n_permutations must be an int of at least 10 or None"):
        FalseDiscoveries(n_permutations=5)
    with pytest.raises(InputError, match="a selector that uses the target, got Variance"):
        fitted(tamis.Variance(), X, y)
    with pytest.raises(InputError, match=r"different orders of the target .* got 1:"):
        fitted(tamis.DFT(), X, y, strata=y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FalseDiscoveries. no column was selected")
@pytest.mark.parametrize(
    "selector", [tamis.Fisher(), tamis.DFT(n_bins=6), tamis.InformationGain(n_bins=6)], ids=str
)
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_false_discovery_rate_is_at_most_the_level(selector, correlation):
    level, trials, n_true = 0.2, 100, 5
    shares, found = [], []
    for seed in range(trials):
        rng = np.random.default_rng([seed, 81])
        common = rng.normal(size=(70, 1))
        X = np.sqrt(1 - correlation) * rng.normal(size=(70, 50)) + np.sqrt(correlation) * common
        y = (np.arange(70) < 20).astype(int)
        X[:, :n_true] += 1.2 * y[:, None]
        chosen = fitted(selector, X, y, level=level).get_support(indices=True)
        shares.append((chosen >= n_true).mean() if chosen.size else 0.0)
        found.append((chosen < n_true).sum())
    error = np.std(shares) / np.sqrt(trials)
    assert np.mean(shares) <= level * 45 / 50 + 3.7 * error
    assert np.mean(found) > 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FalseDiscoveries. no column was selected")
def test_sequential_p_values_are_valid():
    # Discrete features: a p-value is at most u with a chance of at most u.
    found = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 82])
        X, y = rng.integers(0, 3, size=(40, 50)).astype(float), rng.permutation(40) % 2
        found.append(fitted(tamis.DFT(), X, y, random_state=seed).p_values_)
    found = np.concatenate(found)
    for u in (0.01, 0.05, 0.2, 0.5):
        assert (found <= u).mean() <= u + 4 * np.sqrt(u * (1 - u) / found.size)


class Stopped(Exception):
    pass


REFITTED = {"class_weight": "balanced"}  # no shortcut for permutations


def test_interrupted_refits_resume(tmp_path, monkeypatch):
    X, y = planted(3, n_columns=8)
    file = tmp_path / "refits.state"
    expected = fitted(tamis.DFT(**REFITTED), X, y, level=0.4, n_permutations=30)
    options = {"level": 0.4, "n_permutations": 30, "checkpoint": file, "n_jobs": 1}
    fits = []

    def limited(self, X, y, weight, score=tamis.DFT._score):
        fits.append(1)
        if len(fits) == 12:
            raise Stopped
        return score(self, X, y, weight)

    with monkeypatch.context() as patch:
        patch.setattr(tamis.DFT, "_score", limited)
        with pytest.raises(Stopped):
            fitted(tamis.DFT(**REFITTED), X, y, **options)
        with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
            fitted(tamis.DFT(**REFITTED), X + 1.0, y, **options)
        fits[:] = [1] * 20
        found = fitted(tamis.DFT(**REFITTED), X, y, **options)
        assert len(fits) == 20 + 1 + 30 - 10
    assert not file.exists()
    np.testing.assert_array_equal(found.p_values_, expected.p_values_)


KILLED = """
import os, signal, sys
import numpy as np, tamis
from tamis.certainty import FalseDiscoveries
score, fits = tamis.DFT._score, []
def limited(self, *data):
    fits.append(1)
    if len(fits) == 12:
        os.kill(os.getpid(), signal.SIGKILL)
    return score(self, *data)
tamis.DFT._score = limited
import tamis.certainty._refits as refits
refits.EVERY = -1.0
table = np.load(sys.argv[1])
rule = FalseDiscoveries(level=0.4, n_permutations=30, checkpoint=sys.argv[2], n_jobs=1)
tamis.DFT(class_weight="balanced", n_features_to_select=rule).fit(table["X"], table["y"])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_refits_resume(tmp_path):
    X, y = planted(3, n_columns=8)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    file = tmp_path / "refits.state"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "table.npz"), str(file)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert file.exists()
    expected = fitted(tamis.DFT(**REFITTED), X, y, level=0.4, n_permutations=30)
    found = fitted(tamis.DFT(**REFITTED), X, y, level=0.4, n_permutations=30, checkpoint=file)
    assert not file.exists()
    np.testing.assert_array_equal(found.p_values_, expected.p_values_)
