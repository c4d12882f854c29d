"""Shadows: hits against a plain twin, p-values by hand, levels on noise, recut, bad input."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

import tamis
from reference import shadows as plain
from tamis._runtime.seeds import stream
from tamis.base import BaseSelector
from tamis.certainty import Shadows
from tamis.certainty.shadows import p_values_of
from tamis.exceptions import InputError, SelectionWarning


def make(n_rows=80, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] += 2 * y
    X[:, 1] += 0.6 * y
    return X, y


def fit(X, y, rule, cls=tamis.AnovaF, params=(), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return cls(n_features_to_select=rule, **dict(params)).fit(X, y, **options)


def test_hits_are_those_of_the_plain_twin():
    X, y = make()
    details = fit(X, y, Shadows(n_rounds=20, random_state=4)).cut_details_
    draws = []
    for number in range(20):
        random = stream(4, number)
        order = random.permutation(24)
        draws.append((random.permutation(np.arange(80)[:, None])[:, 0], order))
    scores = lambda X, y: tamis.AnovaF(n_features_to_select="all").fit(X, y).scores_  # noqa: E731
    assert details["hits"].tolist() == plain.hits(scores, X, y, draws)
    assert details["hits"][0] == 20


def test_p_values_by_hand():
    hits = np.array([100, 98, 97, 30, 0])
    varies = np.array([True, True, True, True, False])
    confirm, reject = p_values_of(hits, 100, varies)
    np.testing.assert_allclose(confirm, [1 / 101, 5 / 101, 7 / 101, 1, 1])
    np.testing.assert_allclose(reject[3], 4 * sum(binom.pmf(range(31), 100, 0.5)))
    assert reject[[0, 4]].tolist() == [1, 1]


def test_few_players_of_a_tournament_lose_few_games():
    """At most 2 m + 1 players lose at most m games, on which the p-values rest."""
    games = list(itertools.combinations(range(4), 2))
    for outcome in itertools.product([(0, 1), (1, 0), (1, 1)], repeat=len(games)):
        losses = np.zeros(4, dtype=int)
        for (one, other), (first, second) in zip(games, outcome, strict=True):
            losses[one] += first
            losses[other] += second
        for m in range(2):
            assert (losses <= m).sum() <= 2 * m + 1


def test_status_and_evidence():
    X, y = make()
    X[:, 5] = 1.0
    selector = fit(X, y, Shadows())
    details = selector.cut_details_
    assert details["status"][0] == "confirmed"
    assert details["status"][5] == "rejected"
    assert details["p_values"][5] == 1
    assert details["hits"][5] == 0
    assert set(details["status"]) <= {"confirmed", "tentative", "rejected"}
    np.testing.assert_array_equal(selector.support_, details["status"] == "confirmed")
    np.testing.assert_array_equal(selector.p_values_, details["p_values"])
    assert details["p_values"].min() == pytest.approx(1 / 101)
    low, mean, high = details["shadow_scores"].T
    assert ((low <= mean) & (mean <= high)).all()
    features = details["history_features"]
    assert features.tolist() == [j for j in range(12) if j != 5]
    beats = details["score_history"] > high[:, None].astype(np.float32)
    np.testing.assert_array_equal(beats.sum(axis=0), details["hits"][features])
    assert "false discovery" not in " ".join(map(str, details.values()))


def test_history_is_bounded(monkeypatch):
    from tamis.certainty import shadows

    monkeypatch.setattr(shadows, "HISTORY_CELLS", 100)
    X, y = make()
    selector = fit(X, y, Shadows(n_rounds=40))
    assert selector.cut_details_["score_history"].shape == (40, 2)
    assert selector.cut_details_["history_features"].tolist() == sorted(selector.order_[:2])


def test_recut_needs_no_data():
    X, y = make()
    selector = fit(X, y, Shadows(0.05))
    p_values = selector.p_values_
    for level in (0.01, 0.02, 0.2, 0.9):
        selector.recut(Shadows(level))
        np.testing.assert_array_equal(selector.support_, p_values <= level)
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(Shadows(n_rounds=50))


def test_recut_of_another_selector_with_data():
    X, y = make()
    by_fit = fit(X, y, Shadows())
    by_recut = tamis.AnovaF().fit(X, y).recut(Shadows(), X, y)
    np.testing.assert_array_equal(by_fit.p_values_, by_recut.p_values_)


@pytest.mark.parametrize("selector", [tamis.TreeImportance, tamis.MRMR, tamis.DFT])
def test_the_number_of_threads_does_not_matter(selector):
    X, y = make()
    params = {"n_estimators": 5} if selector is tamis.TreeImportance else {}
    found = [
        fit(X, y, Shadows(n_rounds=20, n_jobs=n_jobs), selector, params).cut_details_
        for n_jobs in (1, 2, 3)
    ]
    for other in found[1:]:
        for name in ("hits", "shadow_scores", "score_history"):
            np.testing.assert_array_equal(other[name], found[0][name])


class ByPosition(BaseSelector):
    """Favours whatever comes first, the target be what it may."""

    def __init__(self, *, n_features_to_select=1):
        self.n_features_to_select = n_features_to_select

    def _score(self, X, y, weight):
        return np.arange(X.shape[1], 0, -1.0), np.zeros(X.shape[1], dtype=bool)


class AllEqual(ByPosition):
    """Gives the same score to all."""

    def _score(self, X, y, weight):
        return np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=bool)


def test_position_does_not_help():
    X, y = make()
    hits = fit(X, y, Shadows(), cls=ByPosition).cut_details_["hits"]
    assert hits.max() < 80  # the first of 24 columns is a feature every other time
    assert fit(X, y, Shadows(), cls=AllEqual).cut_details_["hits"].max() == 0


def test_few_features_get_several_shadows():
    X, y = make()
    names = []

    class Telling(ByPosition):
        def _score(self, X, y, weight):
            names.append(getattr(self, "_names_told", None))
            return super()._score(X, y, weight)

    fit(X[:, :2], y, Shadows(n_rounds=20, n_jobs=1), cls=Telling)
    assert sorted(names[-1]) == sorted(["x0", "x1", *3 * ["shadow of x0", "shadow of x1"]])


def test_rows_are_permuted_as_strata_and_groups_allow():
    X, y = make()
    X[:, 3] = np.arange(80)
    seen = []

    class Seeing(ByPosition):
        def _score(self, X, y, weight):
            seen.append(X)
            return super()._score(X, y, weight)

    strata = np.arange(80) // 40
    fit(X, y, Shadows(n_rounds=20, n_jobs=1, strata=strata), cls=Seeing)
    assert all(_shadow(table, strata) for table in seen[1:])
    groups = np.repeat(np.arange(21), [2] + [4] * 18 + [3] * 2)
    del seen[:]
    fit(X, y, Shadows(n_rounds=20, n_jobs=1, groups=groups), cls=Seeing)
    for table in seen[1:]:
        (rows,) = (column for column in table.T if sorted(column) == list(range(80))
                   and not (np.diff(column) == 1).all())  # fmt: skip
        moved = groups[rows.astype(int)]
        assert (rows[:2] == [0, 1]).all()  # the only group of its size
        for group in np.unique(groups):
            members = np.flatnonzero(moved == group)
            assert (np.diff(members) == 1).all()


def _shadow(table, strata):
    """Whether every copy of 0, 1, ... stays within its strata."""
    copies = [column for column in table.T if sorted(column) == list(range(80))]
    return len(copies) == 2 and all(
        (strata[column.astype(int)] == strata).all() for column in copies
    )


def test_sparse_and_missing_values():
    X, y = make()
    X[X < 0.2] = 0
    dense = fit(X, y, Shadows(n_rounds=20)).cut_details_
    other = fit(sparse.csr_array(X), y, Shadows(n_rounds=20)).cut_details_
    np.testing.assert_array_equal(dense["hits"], other["hits"])
    X[::7, 0] = np.nan
    assert fit(X, y, Shadows()).cut_details_["status"][0] == "confirmed"


def test_rows_without_weight_are_not_there():
    X, y = make()
    weight = np.ones(80)
    weight[60:] = 0
    X[60:, 4] = 1000 * y[60:]
    found = fit(X, y, Shadows(n_rounds=40), sample_weight=weight).cut_details_
    assert found["status"][4] != "confirmed"
    assert found["status"][0] == "confirmed"


def test_an_interrupted_fit_resumes(tmp_path, monkeypatch):
    X, y = make()
    path = tmp_path / "rounds"
    rule = Shadows(n_rounds=20, checkpoint=path, n_jobs=1)
    score, left = tamis.AnovaF._score, [9]

    def stopping(self, *args):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return score(self, *args)

    monkeypatch.setattr(tamis.AnovaF, "_score", stopping)
    with pytest.raises(KeyboardInterrupt):
        fit(X, y, rule)
    assert path.exists()
    left[0] = -1
    found = fit(X, y, rule).cut_details_
    assert left[0] == -1 - 1 - (20 - 7)  # all rows, then the rounds that were not done
    assert not path.exists()
    whole = fit(X, y, Shadows(n_rounds=20)).cut_details_
    for name in ("hits", "shadow_scores", "score_history"):
        np.testing.assert_array_equal(found[name], whole[name])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"level": 0}, r"level must be a float in \(0, 1\)"),
        ({"level": 1.0}, r"level must be a float in \(0, 1\)"),
        ({"n_rounds": 0}, "n_rounds must be an int of at least 1"),
        ({"n_rounds": 18}, r"n_rounds must be at least 19 for level=0\.05"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero int"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(InputError, match=f"Shadows: {message}"):
        Shadows(**params)


def test_bad_data():
    X, y = make()
    with pytest.raises(InputError, match="expected a selector that uses the target, got Variance"):
        tamis.Variance(n_features_to_select=Shadows()).fit(X, y)
    with pytest.raises(InputError, match="can change places within their stratum, got 80"):
        tamis.AnovaF(n_features_to_select=Shadows(strata=np.arange(80))).fit(X, y)
    with pytest.raises(InputError, match="strata must hold one label per row"):
        tamis.AnovaF(n_features_to_select=Shadows(strata=[0, 1])).fit(X, y)


def noise(kind, seed, n_rows=50, n_columns=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    if kind == "correlated":
        X = np.sqrt(0.1) * X + np.sqrt(0.9) * rng.normal(size=(n_rows, 1))
    if kind == "discrete":
        X = (X > 1).astype(float)
    if kind == "heavy-tailed":
        X = rng.standard_cauchy(size=X.shape)
    rare = 1 / 21 if kind == "1:20" else 0.5
    return X, (np.arange(n_rows) < max(3, rare * n_rows)).astype(int)


def confirmed_share(kind, n_tables, level, cls, params=(), **sizes):
    """Share of noise tables on which anything is confirmed, and on which Boruta's test would."""
    ours = binomial = 0
    for seed in range(n_tables):
        X, y = noise(kind, 7000 + seed, **sizes)
        rule = Shadows(level, n_rounds=39, random_state=seed, n_jobs=1)
        selector = fit(X, y, rule, cls, params)
        ours += selector.support_.any()
        tail = binom.sf(selector.cut_details_["hits"] - 1, 39, 0.5)
        binomial += (tail * X.shape[1] <= level).any()
    return ours / n_tables, binomial / n_tables


@pytest.mark.slow
def test_noise_is_seldom_confirmed():
    n_tables, level = 60, 0.2
    ours, binomial = confirmed_share("independent", n_tables, level, tamis.AnovaF)
    error = np.sqrt(level * (1 - level) / n_tables)
    assert ours <= level + 2 * error
    # Why Boruta's own test is not used: it takes rounds for new rows.
    assert binomial > level + error


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent", "correlated", "discrete", "heavy-tailed", "1:20"])
def test_noise_is_seldom_confirmed_on_more_tables(kind):
    n_tables, level = 300, 0.1
    ours, _ = confirmed_share(kind, n_tables, level, tamis.AnovaF)
    assert ours <= level + 2 * np.sqrt(level * (1 - level) / n_tables)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "params"),
    [(tamis.TreeImportance, {"n_estimators": 5}), (tamis.MRMR, {}), (tamis.ReliefF, {})],
)
def test_the_level_holds_for_selectors_of_many_features(cls, params):
    n_tables, level = 60, 0.1
    ours, _ = confirmed_share("correlated", n_tables, level, cls, params, n_columns=6)
    assert ours <= level + 2 * np.sqrt(level * (1 - level) / n_tables)
