"""A fit says if its selection is not distinguishable from noise, where a look costs little."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import tamis
from passes.array_source import ArraySource
from tamis._chance import is_clear
from tamis.certainty import FalseDiscoveries
from tamis.certainty.chance import warn_by_law
from tamis.cutoff.fit_data import FitData
from tamis.exceptions import SelectionWarning

RNG = np.random.default_rng(0)
NOISE, Y = RNG.standard_normal((60, 200)), np.arange(60) % 2
WORDS = "the selection is not distinguishable from noise"


def messages(selector, X, y, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y, **options)
    return [str(one.message) for one in caught if one.category is SelectionWarning]


@pytest.mark.parametrize("selector", [tamis.DFT(), tamis.Fisher(), tamis.ReliefF()], ids=repr)
def test_noise_warns_and_names_the_best_feature(selector):
    selector = clone(selector).set_params(n_features_to_select=5)
    (message,) = messages(selector, NOISE, Y)
    assert WORDS in message
    assert f"'x{selector.order_[0]}'" in message
    assert "FalseDiscoveries(0.1)" in message


def test_noise_of_a_regression_target_warns():
    y = RNG.standard_normal(60)
    assert WORDS in messages(tamis.RFT(n_features_to_select=5), NOISE, y)[0]


@pytest.mark.parametrize("selector", [tamis.DFT(), tamis.Correlation()], ids=repr)
def test_a_clear_feature_does_not_warn(selector):
    X = NOISE.copy()
    X[:, 7] += 2 * Y
    assert messages(selector, X, Y) == []
    assert is_clear(FitData(selector, X, Y))


def test_a_relation_that_means_do_not_show_is_found_by_permutations():
    X = NOISE.copy()
    X[:, 7] = np.where(Y == 1, RNG.choice([-3.0, 3.0], 60), 0.0)
    selector = tamis.InformationGain(n_features_to_select=3)
    assert messages(selector, X, Y) == []
    assert not is_clear(FitData(selector, X, Y))


def test_nothing_is_said_where_nothing_is_selected_or_the_rule_states_a_level():
    assert messages(tamis.DFT(n_features_to_select="all"), NOISE, Y) == []
    (message,) = messages(tamis.Fisher(n_features_to_select=FalseDiscoveries(0.1)), NOISE, Y)
    assert "no column was selected" in message


def test_weights_missing_values_and_dates_are_not_looked_at():
    assert messages(tamis.DFT(n_features_to_select=3), NOISE, Y, sample_weight=np.ones(60)) == []
    holes = NOISE.copy()
    holes[0] = np.nan
    assert messages(tamis.DFT(n_features_to_select=3), holes, Y) == []
    days = np.array([f"2024-01-{1 + j % 28:02d}" for j in range(60)], dtype="M8[D]").astype(object)
    assert messages(tamis.Variance(n_features_to_select=3), NOISE, days) == []


def test_the_share_of_warnings_on_noise():
    n_warned = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 30))
        n_warned += bool(messages(tamis.Fisher(n_features_to_select=3), X, np.arange(40) % 2))
    # At chance if 2 of 19 permutations reach the score: 90% of tables of noise, se 3%.
    assert 81 <= n_warned <= 99


LAWS = [tamis.AnovaF(), tamis.Correlation(), tamis.Fisher(), tamis.InformationGain(n_bins=2)]


def messages_by_law(selector, X, y):
    """What the command line warns of after rows were read block by block, and whether it can."""
    selector = clone(selector).set_params(n_features_to_select=5)
    assert messages(selector, ArraySource(X, y), None) == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        known = warn_by_law(selector, 0.1)
    return [str(one.message) for one in caught], known, selector


@pytest.mark.parametrize("selector", LAWS, ids=repr)
def test_rows_read_block_by_block_are_compared_by_the_law(selector):
    rng = np.random.default_rng(3)
    y = np.arange(300) % 2
    X = rng.standard_normal((300, 40))
    (message,), known, fitted = messages_by_law(selector, X, y)
    assert WORDS in message
    assert f"'x{fitted._law_p_values().argmin()}'" in message
    assert "the best of 40 features" in message
    assert known
    X[:, 7] += y
    assert messages_by_law(selector, X, y)[:2] == ([], True)


def test_blocks_without_a_law_are_not_compared():
    X = np.random.default_rng(3).standard_normal((300, 40))
    found = messages_by_law(tamis.Correlation(classes="max"), X, np.arange(300) % 3)
    assert found[:2] == ([], False)


def test_the_law_is_at_chance_as_often_as_it_says():
    """At most a tenth of tables of noise pass for signal."""
    clear = 0
    for seed in range(200):
        X = np.random.default_rng(seed).standard_normal((50, 20))
        clear += not messages_by_law(tamis.AnovaF(), X, np.arange(50) % 2)[0]
    assert clear <= 20 + 2 * np.sqrt(200 * 0.1 * 0.9)
