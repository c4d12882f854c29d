"""The experiments of the ILFS paper, on small data, and the arithmetic in them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import Bunch
from tamis import ILFS, Fisher, datasets

from tamis_papers import reproduce
from tamis_papers._published import published
from tamis_papers._reproduce import _pairs
from tamis_papers.ilfs import _claims, _significance, precision, times
from tamis_papers.ilfs._methods import TWELVE, methods
from tamis_papers.ilfs._significance import METRIC, OURS
from tamis_papers.inffs import protocol
from tamis_papers.inffs.stopwatch import TableSize, time_measurements

EIGHT = (*_claims.MICROARRAY, *_claims.OTHERS)


def quick(name, folder):
    return reproduce(name, quick=True, folder=folder, n_jobs=1, progress=False)


def small_table(name):
    rng = np.random.default_rng(len(name))
    y = np.arange(36) % 2
    X = rng.normal(size=(36, 220)) + np.outer(y, np.linspace(1.5, 0, 220))
    return Bunch(X=2.0**X, y=y)


def as_printed(seed=0):
    """Scores that scatter around the paper's table: rows are splits, columns are counts."""
    rng = np.random.default_rng(seed)
    return {
        (value.case["data"], value.case["method"], METRIC): value.value
        + rng.normal(0, 0.5, (20, 5))
        for value in published("ilfs-table4").values
        if value.case["data"] in EIGHT
    }


@pytest.mark.slow
def test_table_2(tmp_path, monkeypatch):
    monkeypatch.setattr(times, "QUICK", TableSize(60, 10, 2))
    monkeypatch.setattr(times, "_selectors", lambda: {"ILFS": ILFS()})
    found = quick("ilfs-table2", tmp_path)
    assert [claim["evidence"] == "not checked" for claim in found.claims] == [False, False]
    assert sum(row["ours"] is not None for row in found.rows) == 1


def test_claims_of_table_2():
    found = {
        name: {"seconds": [seconds], "stopped": False}
        for name, seconds in (("Fisher", 0.1), ("ILFS", 0.2), ("Inf-FS", 5.0), ("CFS", 9.0))
    }
    theirs = {"Fisher": 1.0, "CFS": 2.0, "ILFS": 7.0, "Inf-FS": 12.0}
    order, faster = times._claims(found, theirs)
    assert order.holds is False
    assert "2 of 6 pairs" in order.evidence
    assert faster.holds is True


def test_table_2_has_every_method():
    found = {name: {"seconds": [1.0], "stopped": False} for name in times._selectors()}
    measured = time_measurements(found, times.DATA, times.PAPER, times.PAPER)
    pairs = _pairs(published("ilfs-table2").values, measured)
    assert all(pair.ours is not None for pair in pairs)


@pytest.mark.slow
def test_table_4(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "load", small_table)
    monkeypatch.setattr(precision, "QUICK_METHODS", ("Fisher", "Inf-FS", OURS))
    found = quick("ilfs-table4", tmp_path)
    assert len(found.claims) == 10
    assert all(claim["evidence"] != "not checked" for claim in found.claims)
    assert sum(row["verdict"] != "not run" for row in found.rows) >= 6


def test_slow_methods_get_fewer_splits(monkeypatch):
    calls = []

    def record(run, name, table, selectors, *, n_splits, metrics):
        calls.append((n_splits, sorted(selectors)))
        return {(name, method, METRIC): np.ones((n_splits, 5)) for method in selectors}

    monkeypatch.setattr(datasets, "load", small_table)
    monkeypatch.setattr(protocol, "scores_on", record)
    monkeypatch.setattr(precision, "FEWER", {"colon": {"FSV": 2, "UDFS": 0}})
    run = Bunch(quick=False, seed=0, at_most=lambda n: n)
    scores = precision._scores(run, "colon", ("FSV", "Fisher", "UDFS"))
    assert calls == [(20, ["Fisher"]), (2, ["FSV"])]
    assert [method for _, method, _ in scores] == ["FSV", "Fisher"]


def test_names_are_the_papers():
    assert list(methods()) == list(TWELVE)
    assert isinstance(methods(["Fisher"])["Fisher"], Fisher)
    printed = {value.case["method"] for value in published("ilfs-table4").values}
    assert printed == set(TWELVE)


def test_every_number_of_table_4_has_ours():
    pairs = _pairs(published("ilfs-table4").values, precision._measurements(as_printed()))
    assert [pair.theirs.case for pair in pairs if pair.theirs and pair.ours is None] == []
    for pair in pairs:
        if pair.theirs and pair.theirs.case["metric"] == "average precision":
            assert pair.ours.mean == pytest.approx(pair.theirs.value, abs=0.7)


def test_claims_on_the_papers_own_numbers():
    held = {claim.name: claim.holds for claim in _claims.claims(as_printed(), TWELVE)}
    names = ("best-overall", "seven-wins", "mi-sparse", "dexter-best", "polarity-high")
    assert all(held[name] for name in (*names, "fisher-below", "robust-min", "binomial"))
    assert held["significant"] is None  # not on GINA and POLARITY, where it is not the best


@pytest.mark.parametrize("n_splits", [1, 2])
def test_claims_with_few_splits(n_splits):
    scores = {key: values[:n_splits] for key, values in as_printed().items()}
    found = {claim.name: claim for claim in _claims.claims(scores, TWELVE)}
    names = {"best-overall", "dexter-best", "polarity-high", "robust-min", "top-min-max"}
    if n_splits == 1:
        assert {found[name].holds for name in names} == {None}
    assert not any("nan" in claim.evidence for claim in found.values())
    assert precision._measurements(scores)


def test_a_rival_that_is_clearly_above():
    scores = as_printed()
    scores["dexter", "Fisher", METRIC] = scores["dexter", OURS, METRIC] + 1
    held = {claim.name: claim.holds for claim in _claims.claims(scores, TWELVE)}
    assert held["dexter-best"] is False


def test_claims_on_data_that_were_not_run():
    scores = {key: values for key, values in as_printed().items() if key[0] == "colon"}
    scores |= {("lung", *key[1:]): values for key, values in scores.items()}
    held = {claim.name: claim.holds for claim in _claims.claims(scores, TWELVE)}
    assert {held[name] for name in ("best-overall", "dexter-best", "seven-wins")} == {None}


def test_pairs_by_hand():
    values = np.array([[90.0, 92], [91, 95], [93, 94]])
    scores = {("d", OURS, METRIC): values, ("d", "same", METRIC): values,
              ("d", "lower", METRIC): values - 40}  # fmt: skip
    same, lower = _significance.compare_pairs(scores, ("same", "lower"))
    assert (same.lead, same.two_sample, same.corrected) == (0.0, 1.0, 1.0)
    assert (lower.lead, lower.corrected) == (40.0, 0.0)
    assert lower.two_sample < 1e-6


def test_wins_by_hand():
    scores = {}
    for data, ours, other in (("a", 9, 8), ("b", 9, 8), ("c", 7, 8), ("d", 8, 8)):
        scores[data, OURS, METRIC] = np.full((2, 5), float(ours))
        scores[data, "x", METRIC] = np.full((2, 5), float(other))
    wins = _significance.count_wins(scores, (OURS, "x"))
    assert (wins.won, wins.n_data) == (("a", "b"), 4)
    assert wins.at_least == pytest.approx(11 / 16)  # at least 2 of 4 at chance 1/2
    assert wins.more_than == pytest.approx(4 * 0.35**3 * 0.65 + 0.35**4)
