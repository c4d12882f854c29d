"""On pure noise every protocol scores at chance, with every selector.

Choosing columns with the rows that are scored later finds columns that fit them by luck. Here there
is nothing but luck, so any score above chance is such a leak. The last tests move the selection
outside the splits on purpose: the same check must then fail, or it would prove nothing.

**What is exact.** Targets are drawn independently of the table: classes by a fair coin, numbers
from a normal law around 0. Whatever was learned elsewhere, every order of the targets of the rows
tested is equally likely. Pair off rows of one class with rows of the other (numbers: any two rows):
the learner puts each pair in the right order with probability 1/2, independently of the other
pairs. The score is the share of pairs in the right order, which is the AUC; a row that is tested
alone is compared with the middle. So the score of a split is the mean of k fair coins, averaged
over all ways to pair off, and every split gets a table of its own, so that splits are independent.
By Hoeffding's inequality the mean of K coins exceeds 1/2 by sqrt(log(1 / FALSE_ALARM) / (2 K)) with
probability FALSE_ALARM at the most, for any selector and learner. The seeds are fixed.

**Why not accuracy over one table.** With as many rows of either class, the rows that are left once
some are taken out have more of the other class, and learners that lean to the majority score below
chance, leave-one-out most of all. Shares of pairs and coins do not have that bias.
"""

import functools
import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import ShuffleSplit

import tamis
from tamis.evaluation.learners import Learner, make_learner
from tamis.evaluation.metrics import Metric
from tamis.evaluation.protocols import (
    Folds,
    GroupFolds,
    LeaveOneOut,
    PublishedSplit,
    RepeatedSplits,
    Splitter,
    TimeOrder,
)
from tamis.evaluation.run import units

FALSE_ALARM = 1e-4
N_COINS = {"classification": 80, "regression": 120}
N_ROWS, N_COLUMNS, COUNT = 24, 150, 5
PROTOCOLS = {
    "splits": RepeatedSplits(6),
    "folds": Folds(3),
    "loo": LeaveOneOut(),
    "published": PublishedSplit(np.arange(0, 16), np.arange(16, N_ROWS)),
    "groups": GroupFolds(np.arange(N_ROWS) // 2, n_folds=3),
    "time": TimeOrder(2),
    "scikit-learn": Splitter(ShuffleSplit(6, test_size=1 / 3)),
}
# Those that take long as they come, in settings for a few hundred fits.
QUICK = {
    "consensus": tamis.Consensus(selectors=("anovaf", "dft")),
    "fsv": tamis.FSV(max_iter=2),
    "gflip": tamis.GFlip(max_iter=1),
    "inffscv": tamis.InfFSCV(alphas=(0.0, 1.0), grid=(5,), cv=2),
    "llcfs": tamis.LLCFS(max_iter=2),
    "mcfs": tamis.MCFS(n_clusters=2, n_nonzero=5),
    "ofw": tamis.OFW(max_iter=100),
    "treeimportance": tamis.TreeImportance(n_estimators=5, n_jobs=1),
    "udfs": tamis.UDFS(max_iter=5),
}
SLOW = ("fsv", "gflip", "inffscv", "mcfs", "ofw", "treeimportance", "udfs")
SELECTORS = {name: QUICK.get(name) or tamis.make_selector(name) for name in tamis.list_selectors()}
NUMERIC = {
    "anovaf": tamis.AnovaF(task="regression"),
    "correlation": tamis.Correlation(),
    "relieff": tamis.ReliefF(task="regression"),
    "rft": tamis.RFT(),
}
# Those that find the columns with the best luck among so few rows.
EAGER = ("dft", "fisher", "mrmr", "relieff", "svmrfe")


class Slopes(BaseEstimator):
    """Every column by its covariance with the target: for classes -1 and 1 and for numbers."""

    def fit(self, X, y):
        self.middle_ = X.mean(axis=0)
        self.slopes_ = (X - self.middle_).T @ (y - y.mean())
        return self

    def predict(self, X):
        return (X - self.middle_) @ self.slopes_


def in_order(model, X, y):
    """Share of the pairs with different targets that the model puts in order; half for ties."""
    votes = getattr(model, "decision_function", model.predict)(X)
    if y.size == 1:
        votes, y = np.append(votes, 0.0), np.append(y, 0.0)
    i, j = np.nonzero(y[:, None] > y)
    return float(np.mean((1 + np.sign(votes[i] - votes[j])) / 2))


METRICS = (Metric("in order", in_order, True),)


def n_pairs(y, task):
    """Rows that can be paired off, each used once."""
    if y.size == 1:
        return 1
    return y.size // 2 if task == "regression" else min(np.sum(y > 0), np.sum(y < 0))


@functools.cache
def tables_of_noise(protocol, task):
    """Tables, each with one split, of which the rows tested make up enough pairs."""
    rng = np.random.default_rng(0)
    tables, n_coins, is_classes = [], 0, task == "classification"
    for number in itertools.count():
        X = rng.normal(size=(N_ROWS, N_COLUMNS))
        y = rng.choice([-1, 1], N_ROWS) if is_classes else rng.normal(size=N_ROWS)
        splits = PROTOCOLS[protocol].splits(X, y, is_classes)
        split = splits[number % len(splits)]
        k = n_pairs(y[split.test], task)
        # Too few of a class to learn from or to compare; that says nothing of the order.
        if k == 0 or n_pairs(y[split.train], task) < 3:
            continue
        tables.append((X, y, split, k))
        n_coins += k
        if n_coins >= N_COINS[task]:
            return tables


def flip_coins(selector, protocol, task="classification", *, learner=None, share=1):
    """Mean score and number of coins, over a share of the tables."""
    learner = learner or Learner("slopes", Slopes(), task)
    tables = tables_of_noise(protocol, task)
    scores, coins = [], []
    for seed, (X, y, split, k) in enumerate(tables[: round(share * len(tables))]):
        unit = units.Unit(
            "any", selector, "noise", X, y, task, split, (COUNT,), (learner,), METRICS, seed
        )
        result = units.run_unit(unit)
        assert result.error is None, result.error
        scores.append(result.scores[0]["value"])
        coins.append(k)
    return np.average(scores, weights=coins), sum(coins)


def assert_at_chance(score, n_coins):
    assert score <= 0.5 + np.sqrt(np.log(1 / FALSE_ALARM) / (2 * n_coins))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_is_at_chance_on_noise_in_every_protocol(name, protocol):
    share = 0.5 if name in SLOW else 1
    assert_at_chance(*flip_coins(SELECTORS[name], protocol, share=share))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_learner_that_is_tuned_is_at_chance_on_noise(protocol):
    svm = make_learner("svm", "classification")
    assert_at_chance(*flip_coins(tamis.DFT(), protocol, learner=svm))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", NUMERIC)
def test_numbers_are_not_predicted_from_noise(name, protocol):
    assert_at_chance(*flip_coins(NUMERIC[name], protocol, "regression"))


@pytest.fixture
def leaky(monkeypatch):
    """A harness that selects on all rows before it splits them, as many papers did."""

    def fitted_on_all_rows(unit):
        return units.seeded(unit.selector, unit.seed).fit(unit.X, unit.y)

    monkeypatch.setattr(units, "_fitted", fitted_on_all_rows)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", EAGER)
@pytest.mark.usefixtures("leaky")
def test_selecting_before_splitting_looks_like_a_discovery(name, protocol):
    score, n_coins = flip_coins(SELECTORS[name], protocol)
    assert score > 0.75
    with pytest.raises(AssertionError):
        assert_at_chance(score, n_coins)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["anovaf", "correlation"])
@pytest.mark.usefixtures("leaky")
def test_selecting_before_splitting_predicts_numbers_that_mean_nothing(name, protocol):
    score, n_coins = flip_coins(NUMERIC[name], protocol, "regression")
    assert score > 0.74
    with pytest.raises(AssertionError):
        assert_at_chance(score, n_coins)


def test_the_bound_holds_for_coins():
    rng = np.random.default_rng(0)
    for n_coins in (40, 80):
        limit = 0.5 + np.sqrt(np.log(1 / FALSE_ALARM) / (2 * n_coins))
        assert np.mean(rng.binomial(n_coins, 0.5, 200_000) > limit * n_coins) <= FALSE_ALARM
