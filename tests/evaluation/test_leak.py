"""The leak alarm rings for leaks, and only then."""

import os

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

import tamis
from tamis.evaluation import LeakReport, leak_check
from tamis.evaluation.protocols import Folds
from tamis.exceptions import InputError


def noise(n_rows=60, n_columns=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.permutation(np.arange(n_rows) % 3 == 0)


def check(X, y, selector=None, **options):
    return leak_check(selector or tamis.Fisher(), X, y, **{"n_shuffles": 4, **options})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("protocol", ["splits", "folds", "time", 3])
def test_a_clean_table_passes(protocol):
    X, y = noise()
    report = check(X, y, protocol=protocol)
    assert isinstance(report, LeakReport)
    assert report.ok
    assert report.findings == report.notes == []
    assert report.scores.shape == (4,)
    assert report.interval[0] <= report.mean <= report.interval[1]
    assert 1 / 3 < report.chance < 2 / 3
    assert "chance" in report.verdict
    assert str(report).startswith("No leak found.\n")


@pytest.mark.slow
def test_a_strong_signal_is_no_leak():
    X, y = noise(90)
    X[:, 3] += 5 * y
    assert check(X, y).ok


@pytest.mark.parametrize("size", [1e-9, 1e-5])
def test_a_target_with_a_little_noise_is_found(size):
    X, y = noise()
    rng = np.random.default_rng(1)
    X[:, 5] = 3 * y + 1 + size * rng.normal(size=y.size)
    assert check(X, y).findings == ["Column '5' is the target with a little noise."]
    y = rng.normal(size=y.size)
    X[:, 5] = -2 * y + size * rng.normal(size=y.size)
    found = check(X, y, tamis.Correlation(), task="regression").findings
    assert found[0].startswith("Column '5' is the target")


def test_rows_with_a_little_noise_are_found():
    X, y = noise()
    X[30:33] = X[:3] + 1e-6 * np.random.default_rng(1).normal(size=(3, 40))
    (finding,) = check(X, y, protocol=Folds(30)).findings
    assert "of 60 rows are scored by models that learned from a row that differs by" in finding


@pytest.mark.slow
def test_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    report = check(X, y, tamis.Correlation())
    assert report.ok
    assert report.metric == "r2"
    assert report.chance == 0
    for column in (y, -3 * y + 5, np.exp(y)):
        X[:, 4] = column
        assert "'4' is the target" in check(X, y, tamis.Correlation()).findings[0]


class Remembers(ClassifierMixin, BaseEstimator):
    """A learner that keeps what earlier fits were shown, as a careless cache would."""

    known: dict = {}  # noqa: RUF012

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        for row, label in zip(X, y, strict=True):
            Remembers.known[round(row.sum(), 6)] = label
        return self

    def predict(self, X):
        return np.array([Remembers.known.get(round(row.sum(), 6), 0) for row in X])


def test_a_learner_that_remembers_earlier_splits_rings():
    X, y = noise()
    report = check(X, y, tamis.Variance(), learner=Remembers(), protocol="splits", n_features=40)
    assert not report.ok
    assert report.findings == [report.verdict]
    assert report.verdict.startswith("Above chance: accuracy 0.")
    assert report.mean > report.chance + 0.1
    assert str(report).startswith("Leaks: 1 found.\nAbove chance")


@pytest.mark.slow
def test_rows_met_twice():
    X, y = noise()
    X[50:] = X[:10]
    (finding,) = check(X, y).findings
    rows = int(finding.split()[0])
    assert 10 < rows <= 20
    assert "of 60 rows are scored by models that learned from an identical row" in finding
    copies = np.r_[np.arange(50), np.arange(10)]
    assert check(X, y, groups=copies).ok
    X[0, 0] = X[50, 0] = np.nan
    (again,) = check(sparse.csr_matrix(np.nan_to_num(X)), y).findings
    assert int(again.split()[0]) == rows


@pytest.mark.slow
def test_groups_on_both_sides():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(15), 4)
    X = rng.normal(size=(15, 30))[groups] + 0.1 * rng.normal(size=(60, 30))
    y = (np.arange(15) % 2)[groups]
    report = check(X, y, protocol=Folds(4), groups=groups)
    assert "learned from their group" in report.findings[1]
    # Groups exchange their targets, and are recognised by rows on the other side.
    assert report.findings[0].startswith("Above chance")
    assert report.mean > 0.8
    assert check(X, y, groups=groups).ok


@pytest.mark.slow
@pytest.mark.parametrize("recode", [lambda y: y, lambda y: 7 - 2 * y, lambda y: np.sqrt(y)])
def test_the_target_among_the_columns(recode):
    X, _ = noise()
    y = np.arange(60) % 4
    X[:, 5] = recode(y.astype(float))
    assert check(X, y.astype(str)).findings == ["Column '5' is the target, or a recoding of it."]
    X[0, 5] = 99.0
    assert check(X, y).ok


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "column",
    [np.arange(60), np.arange(60)[::-1] * 3 + 1000, np.random.default_rng(0).permutation(60)],
)
def test_numbers_of_rows(column):
    X, y = noise()
    X[:, 2] = column
    (finding,) = check(X, y).findings
    assert finding == "Column '2' numbers the rows: leave such columns out."


@pytest.mark.slow
def test_whole_numbers_that_measure_something_are_not_numbers_of_rows():
    X, y = noise()
    X[:, 2] = np.random.default_rng(0).choice(100_000, 60, replace=False)
    X[:, 3] = np.arange(60) // 2
    assert check(X, y).ok


@pytest.mark.slow
def test_columns_that_never_vary_or_repeat_are_notes():
    X, y = noise()
    X[:, 1] = 4.0
    X[:, 6] = np.nan
    X[:, 7] = X[:, 8]
    report = check(X, y)
    assert report.ok
    assert report.notes == ["Columns '1', '6' never vary.", "Column '8' repeats another."]
    assert "note: Column '8'" in str(report)


@pytest.mark.slow
def test_a_frame_with_text():
    X, y = noise()
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    frame["patient"] = [f"p{i}" for i in range(60)]
    frame["answer"] = np.where(y, "ill", "well")
    frame["colour"] = ["red", "green"] * 30
    report = check(frame, np.where(y, "yes", "no"))
    assert report.findings == [
        "Column 'answer' is the target, or a recoding of it.",
        "Column 'patient' numbers the rows: leave such columns out.",
    ]
    assert report.notes == ["Columns 'patient', 'answer', 'colour' are text and were not used."]


@pytest.mark.slow
def test_same_seed_same_report():
    X, y = noise()
    first, again = check(X, y, tamis.RandomRanking()), check(X, y, tamis.RandomRanking())
    np.testing.assert_array_equal(first.scores, again.scores)
    other = check(X, y, tamis.RandomRanking(), random_state=1)
    assert first.scores.tolist() != other.scores.tolist()


def test_what_cannot_be_checked():
    X, y = noise()
    with pytest.raises(InputError, match="n_shuffles must be an int of at least 2"):
        check(X, y, n_shuffles=1)
    with pytest.raises(InputError, match="DFT: n_bins"):
        check(X, y, tamis.DFT(n_bins=1))
    with pytest.raises(InputError, match="leak_check"):
        check(X, np.zeros(60))


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_colon_is_clean_but_repeats_columns():
    data = tamis.datasets.load("colon")
    report = check(data.X, data.y, tamis.DFT())
    assert report.ok
    assert report.notes[0].endswith("repeat others.")
