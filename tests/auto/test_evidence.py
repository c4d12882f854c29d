"""What is stated about single features holds."""

import numpy as np
import pytest

from auto.test_choosing import problem
from tamis.auto import evidence
from tamis.auto.choosing import Choice
from tamis.auto.methods import METHODS
from tamis.auto.models import RidgeModel


def never():
    return False


@pytest.mark.slow
def test_intervals_of_frequencies_cover_those_of_many_half_samples():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    table = problem(rng.normal(size=(60, 30)) + np.linspace(0, 0.8, 30) * y[:, None], y)
    choice = Choice(METHODS[4], RidgeModel(2), 6)
    assert choice.method.name == "ReliefF"
    truth = evidence.frequencies(table, choice, 400, 999, never).share
    uncertain = (truth > 0.05) & (truth < 0.95)
    assert uncertain.sum() > 8
    found = [evidence.frequencies(table, choice, 25, seed, never) for seed in range(20)]
    covered = [(one.low <= truth) & (truth <= one.high) for one in found]
    assert np.mean(covered, axis=0)[uncertain].mean() >= 0.93


def test_frequencies_end_when_it_is_late():
    y = np.arange(40) % 2
    table = problem(np.random.default_rng(0).normal(size=(40, 8)) + y[:, None], y)
    found = evidence.frequencies(table, Choice(METHODS[0], RidgeModel(2), 2), 25, 0, lambda: True)
    assert set(found.share) <= {0.0, 0.5, 1.0}  # one pair of halves
    assert (found.high - found.low).min() > 0.4


def test_p_values_of_single_features_hold():
    # Of 40 tables of noise, at most a few may have a p-value below 0.1.
    rng = np.random.default_rng(1)
    y = np.arange(50) % 2
    p_values = [
        evidence.marginal_test(problem(rng.normal(size=(50, 20)), y), seed).p_value
        for seed in range(40)
    ]
    assert np.sum(np.array(p_values) <= 0.1) <= 9  # 0.4% of runs at exactly 0.1
    assert min(p_values) > 0
