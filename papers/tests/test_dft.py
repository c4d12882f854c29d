"""Experiments of the DFT paper: every quick path on small data, and their mathematics by hand."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch
from tamis.exceptions import MissingDependencyError

from tamis_papers import list_experiments, reproduce
from tamis_papers._published import published
from tamis_papers._sure import all_sure, in_part, surely, within
from tamis_papers.dft import (
    _features,
    _methods,
    _network,
    _tables,
    elbows,
    multifeat,
    redundancy,
)
from tamis_papers.dft._claims import is_near_share
from tamis_papers.dft.bins import largest_step, losses_without_cut
from tamis_papers.dft.components import needed_for, saturates_at
from tamis_papers.dft.curves import BEND, SPREAD, bend, more_obvious
from tamis_papers.dft.elbows import dft_margins
from tamis_papers.dft.redundancy import converged_at
from tamis_papers.dft.regression import rft_excess
from tamis_papers.dft.times import is_faster

NAMES = [one.name for one in list_experiments() if one.name.startswith("dft-")]
DEEP = {"dft-fig2", "dft-fig3", "dft-fig4", "dft-table2-5", "dft-fig8", "dft-table9-10"}


def classes_in_rows(n_rows, n_columns, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_columns))
    X[:, : n_columns // 4] += y[:, None]
    return X, y


def images(seed):
    X, y = classes_in_rows(240, 784, 10, seed)
    X = np.clip(30 * X, 0, 255).astype(np.float32)
    return Bunch(X=X, y=y, split=(np.arange(240) >= 160).astype(int))


def small_table(name):
    if name in ("mnist", "fashion_mnist"):
        return images(0)
    if name == "arrhythmia":
        X, y = classes_in_rows(66, 25, 3, 1)
        X[:, _tables.J_POINT] = np.nan
        X[:6, 3] = np.nan
        return Bunch(X=X, y=y + 1)
    shape = {"mfeat": (60, 120, 3), "colon": (18, 110, 2)}[name]
    X, y = classes_in_rows(*shape, 2)
    return Bunch(X=X, y=y)


class FakeNetwork:
    """400 rectified random projections, of which 40 ever fire."""

    def describe(self, images):
        projection = np.random.default_rng(0).normal(size=(784, 400)).astype(np.float32)
        features = np.maximum(images @ projection, 0)
        features[:, 40:] = 0
        return _network.Described(features, np.zeros(images.shape[0], dtype=np.int64))


@pytest.fixture
def small_data(monkeypatch):
    monkeypatch.setattr("tamis.datasets.load", small_table)
    trained = []

    def train(images, labels, *, epochs, seed):
        trained.append((images.shape[0], epochs))
        return FakeNetwork()

    def few_trees(name, seed):
        learner = make_learner(name, seed)
        return learner.set_params(n_estimators=5) if name[:2] in ("RF", "XG") else learner

    make_learner = _methods.make_learner
    monkeypatch.setattr(_methods, "make_learner", few_trees)
    monkeypatch.setattr(_network, "train", train)
    monkeypatch.setattr(_network, "need_torch", lambda: None)
    return trained


@pytest.fixture
def no_xgboost(monkeypatch):
    monkeypatch.setattr(_methods, "find_spec", lambda name: None)


def quick(name, folder):
    return reproduce(name, quick=True, folder=folder, n_jobs=1, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quick_path(name, tmp_path, small_data, no_xgboost):
    found = quick(name, tmp_path)
    assert {claim["name"] for claim in found.claims} == {
        statement.name for statement in published(name).statements
    }
    assert all(claim["evidence"] != "not checked" for claim in found.claims)
    ours = [row["ours"] for row in found.rows if row["ours"] is not None]
    assert ours
    assert np.isfinite(ours).all()
    assert any("xgboost" in remark for remark in found.remarks) or name == "dft-fig2"
    pytest.importorskip("matplotlib")
    assert found.figures
    assert all((tmp_path / figure).is_file() for figure in found.figures)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dft-fig3", "dft-table2-5"])
def test_a_single_repeat_is_enough_to_run(name, tmp_path, small_data, no_xgboost):
    found = reproduce(name, quick=True, folder=tmp_path, n_jobs=1, progress=False, repeats=1)
    ours = [row["ours"] for row in found.rows if row["ours"] is not None]
    assert np.isfinite(ours).all()
    assert not any("nan" in claim["evidence"] for claim in found.claims)
    if name == "dft-fig3":
        assert all(claim["holds"] is None for claim in found.claims)
        assert any("1 bootstrap draw" in remark for remark in found.remarks)
    else:
        assert any(remark.startswith("One network") for remark in found.remarks)


@pytest.mark.parametrize("name", ["dft-fig4", "dft-table9-10"])
def test_quick_path_with_xgboost(name, tmp_path, small_data):
    pytest.importorskip("xgboost")
    found = quick(name, tmp_path)
    methods = {row["case"]["method"] for row in found.rows if row["ours"] is not None}
    assert any("XGBoost" in method for method in methods)


@pytest.mark.parametrize("name", sorted(DEEP))
def test_missing_torch_is_told(name, tmp_path, monkeypatch):
    def import_nothing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(_network, "import_module", import_nothing)
    with pytest.raises(MissingDependencyError, match=r"tamis-papers\[repro\]"):
        quick(name, tmp_path)


def test_features_are_made_once_and_again_if_lost(tmp_path, small_data):
    deep = _features.Deep(str(tmp_path), "mnist", True, 0, 0, _features.QUICK)
    first, second = _features.load_features(deep), _features.load_features(deep)
    np.testing.assert_array_equal(first.X, second.X)
    assert small_data == [(160, _features.QUICK.epochs)]
    deep.path.unlink()
    again = _features.load_features(deep)
    np.testing.assert_array_equal(first.X, again.X)
    assert len(small_data) == 2


def test_network_has_400_features_and_a_seed():
    pytest.importorskip("torch")
    data = images(3)
    pixels = data.X / np.float32(255)
    one, again, other = (
        _network.train(pixels, data.y.astype(np.int64), epochs=1, seed=seed).describe(pixels)
        for seed in (1, 1, 2)
    )
    assert one.features.shape == (240, 400)
    assert one.features.min() >= 0
    np.testing.assert_array_equal(one.features, again.features)
    assert not np.array_equal(one.features, other.features)
    assert set(one.predicted) <= set(range(10))


def test_balanced_rows():
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    rows = _features.balanced_rows(labels, np.arange(60), 15, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(labels[rows]), [5, 5, 5])
    assert _features.balanced_rows(labels, np.arange(60), 60, None).size == 60


def test_noise_has_one_strength_per_image():
    middle = np.full((3000, 784), 0.5, dtype=np.float32)
    noisy = _features.with_noise(middle, np.random.default_rng(0))
    assert noisy.min() >= 0
    assert noisy.max() <= 1
    strengths = np.sort(noisy.std(axis=1))
    assert strengths[:800].mean() == pytest.approx(0.1, rel=0.02)
    # 0.3 is cut at 0 and 1, which are 1.67 deviations away
    assert 0.24 < strengths[-800:].mean() < 0.3


def test_arrhythmia_is_the_table_of_the_paper(small_data):
    X, y = _tables.load_table("arr")
    assert X.shape == (60, 24)
    assert not np.isnan(X).any()
    np.testing.assert_array_equal(np.bincount(y), [20, 40])


def test_ranking_inside_the_folds_does_not_leak(monkeypatch):
    rng = np.random.default_rng(0)
    noise = Bunch(X=rng.normal(size=(60, 2000)), y=np.arange(60) % 2)
    monkeypatch.setattr("tamis.datasets.load", lambda name: noise)
    scores = {"inside": [], "outside": []}
    order = _tables.order_on_all_rows("colon", "dft", 0)
    for test in _tables.folds_of(noise.y, 5, 1, 0):
        call = ("colon", test, "dft", (10,), ("LR",), 0)
        scores["inside"] += _tables.held_out_scores(*call)["LR"]
        scores["outside"] += _tables.held_out_scores(*call, order)["LR"]
    assert np.mean(scores["inside"]) < 65
    assert np.mean(scores["outside"]) > 75


def test_correlation_is_with_the_number_of_the_class():
    X = np.array([[0, 0], [0, 0], [1, 9], [1, 9], [2, 0], [2, 0.0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    scores = _methods.fitted("correlation", X, y, 0).scores_
    np.testing.assert_allclose(scores, [1, 0], atol=1e-12)


def test_bend():
    assert bend([3.0, 2.0, 1.0, 0.0]) == pytest.approx(0)
    assert bend([1.0, 0.0, 0.0, 0.0, 0.0]) == pytest.approx(0.75)
    assert bend([2.0, 2.0]) == pytest.approx(0)


def test_largest_step():
    column, y = np.repeat([0.0, 1.0], 8), np.repeat([0, 1], 8)
    # Every cut is as good as any other.
    assert largest_step(column, y, "dft") == 0
    # From 0 to 64 only the first cut tells a class from the other.
    column = np.concatenate([np.zeros(8), np.arange(1, 9) * 8.0])
    assert largest_step(column, y, "dft") == pytest.approx(_share_of_largest_step())


def _share_of_largest_step():
    """Losses after 8 rows on the left, then one more row of the other class every 8 units."""

    def entropy(a, b):
        p = np.array([a, b]) / (a + b)
        p = p[p > 0]
        return -(p * np.log2(p)).sum()

    losses = [(8 + k) / 16 * entropy(8, k) for k in range(8)]  # the right side is pure
    return np.diff(losses).max() / (losses[-1] - losses[0])


def test_saturates_and_converges():
    counts = (5, 10, 20, 40)
    assert saturates_at([80, 90, 91.8, 92], counts) == 20
    assert saturates_at([92, 91, 92.2, 92], counts) == 20
    assert saturates_at([92, 92, 92, 92], counts) == 5
    assert needed_for(90, [80, 89, 91, 90.5], counts) == 20
    assert needed_for(99, [80, 89, 91, 90.5], counts) is None
    assert converged_at([9.0, 4.5, 3.0, 3.9], counts) == 10
    assert converged_at([9.0, 2.5, 5.0, 3.9], counts) == 40


def test_margin_of_dft():
    cells = {
        ("mnist clean", "DFT", "LR", "early"): [94.0, 96.0],
        ("mnist clean", "ANOVA", "LR", "early"): [94.0],
        ("mnist clean", "Corr.", "LR", "early"): [97.0],
        ("mnist clean", "Corr.", "LR", "late"): [99.0],
    }
    assert dft_margins(cells, "early") == [-2.0]


def test_excess_of_rft():
    deep = "Feat. Imp. (XGBoost regressor, 50 trees of depth 6)"
    cells = {
        ("mnist clean", "RFT", "ridge", "late"): [1.1],
        ("mnist clean", "Var.", "ridge", "late"): [1.0],
        ("mnist clean", "Abs. Corr. Coeff.", "ridge", "late"): [2.0],
        ("mnist clean", deep, "ridge", "late"): [0.1],  # not one of the paper's
    }
    assert rft_excess(cells, "ridge") == {("mnist clean", "late"): pytest.approx(0.1)}


def test_what_is_sure():
    assert surely([1.0, 1.1, 0.9]) is True
    assert surely([-1.0, -1.1]) is False
    assert surely([1.0, 0.1]) is None
    assert surely([5.0]) is None
    assert [surely([5.0], error) for error in (2.0, 3.0)] == [True, None]
    answers = ([True, True], [True, None], [True, False], [False, None], [None, None], [])
    assert [all_sure(one) for one in answers] == [True, None, None, False, None, None]
    assert within([0.1, 0.2, 0.15], 0.5) is True
    assert within([0.8, 0.9, 0.85], 0.5) is False
    assert within([0.1, 0.9], 0.5) is None


def test_late_elbows_are_read_to_fifty():
    shares = (0.18, 0.19, 0.3, 0.43, 0.44)
    assert [is_near_share(one) for one in shares] == [False, True, True, True, False]


def test_which_elbow_is_more_obvious():
    def numbers(bends, places):
        return {BEND: bends, SPREAD: [float(np.std(places[1:], ddof=1))], "late elbow": places}

    steady = numbers([0.9] * 6, [50, 50, 51, 50, 49, 50])
    loose = numbers([0.5] * 6, [50, 20, 90, 60, 40, 10])
    assert more_obvious(steady, loose) == (True, True)
    assert more_obvious(loose, steady) == (False, False)
    assert more_obvious(steady, steady)[1] is None
    alone = {BEND: [0.9, 0.9], SPREAD: [], "late elbow": [50, 50]}
    assert more_obvious(alone, alone) == (None, None)


def test_losses_without_cut():
    found = losses_without_cut(np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    assert found == {"dft": 2.0, "rft": 1.25}


def test_which_is_faster():
    assert is_faster([1.0, 1.1, 1.2, 1.1, 1.0], [2.0, 2.1, 2.2, 2.3, 2.1]) is True
    assert is_faster([2.0, 2.1, 2.2, 2.3, 2.1], [1.0, 1.1, 1.2, 1.1, 1.0]) is False
    assert is_faster([0.98, 5.0, 0.97, 1.0, 0.99], [0.975, 1.01, 4.0, 1.0, 0.98]) is None


def test_gaps_of_one_network_are_judged_by_the_test_rows():
    def cells(*late):
        names = ("mnist clean", "mnist noisy")
        found = {(name, elbows.FULL, "XGBoost", "full"): [99.0] for name in names}
        return found | {
            (name, "DFT", "XGBoost", "late"): [value]
            for name, value in zip(names, late, strict=True)
        }

    def robust(*late):
        table = cells(*late)
        errors = {name: elbows._error_of_gap(table, name, 10_000) for name, *_ in table}
        return elbows._robust(elbows._gaps(table), errors).holds

    assert elbows._error_of_gap(cells(98.0, 98.0), "mnist clean", 10_000) == pytest.approx(
        0.172, abs=1e-3
    )
    assert robust(98.0, 98.0) is True
    assert robust(98.0, 97.4) is None  # 0.6 more, on either side of 0.66
    assert robust(98.0, 95.0) is False


def test_a_gain_of_a_few_rows_is_not_sure():
    cells = {
        ("inside", "all", "RF", 649): [98.0, 99.0, 98.5],
        ("inside", "dft", "RF", 100): [98.5, 98.5, 98.8],
        ("inside", "anova", "RF", 100): [99.0, 99.0, 99.0],
    }
    held = {claim.name: claim.holds for claim in multifeat._claims(cells, 649)}
    assert held == {"comparable": True, "gap": None, "improves": None}


def test_a_gap_that_is_there_may_not_be_much():
    assert redundancy._is_much(np.array([1.0, 1.1, 0.9, 1.0]), 2.5) is False
    assert redundancy._is_much(np.array([3.0, 3.1, 2.9, 3.0]), 2.5) is True
    assert redundancy._is_much(np.array([3.0, -3.1, 2.9, 0.0]), 2.5) is None
    settings = {
        "a": redundancy.RedundancySetting(10, 3, ""),
        "b": redundancy.RedundancySetting(0, 1, ""),
    }
    words = "a: 10 folds 3 times; b: every row is held out once"
    assert redundancy._folds_in_words(settings) == words


def test_in_part():
    assert [in_part(share, 0.75) for share in (0.8, 0.75, 0.6, 0.5, 0.4)] == [
        *(True, True, None, None, False)
    ]


def test_features_have_a_file_of_their_own():
    one = _features.Deep("here", "mnist", False, 0, 0, _features.FULL)
    others = [one._replace(noisy=True), one._replace(repeat=1), one._replace(size=_features.QUICK)]
    assert one.path.parent == Path("here")
    assert len({deep.path for deep in (one, *others)}) == 4
