"""Experiments of the OFW paper: parts with mathematics, every reduced path on small data."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch
from tamis.datasets import make_ofw_ternary

from tamis_papers import reproduce
from tamis_papers._published import published
from tamis_papers.ofw import (
    challenge,
    challenge_data,
    edges,
    enumeration,
    faces,
    iris,
    learning,
    leukemia,
    leukemia_shown,
    spam,
    synthetic,
    synthetic_shown,
    usps,
)  # fmt: skip
from tamis_papers.result import Claim


def finish(name, folder):
    """Run the reduced version; every claim of the paper must be answered."""
    found = reproduce(name, quick=True, folder=folder, n_jobs=1, progress=False)
    assert {claim["name"] for claim in found.claims if claim["evidence"] != "not checked"} == {
        statement.name for statement in published(name).statements
    }
    assert any(row["verdict"] not in ("not run", "not in the paper") for row in found.rows)
    assert len(found.figures) > 0
    return found


# Enumeration and exact gradients


def small_ternary(n_columns=9):
    data = make_ofw_ternary(n_samples=40, n_features=n_columns, random_state=0)
    new = make_ofw_ternary(n_samples=30, n_features=n_columns, random_state=1)
    return data, new


def test_energy_table_is_the_error_of_nearest_neighbours():
    data, new = small_ternary()
    left_out, on_test = enumeration.energy_tables(data.X, data.y, new.X, new.y, 2)
    for columns in ((0, 3), (4, 4), (7, 1)):
        used = sorted(set(columns))
        assert left_out[columns] == pytest.approx(_left_out_error(data.X[:, used], data.y))
        wrong = [
            _nearest(data.X[:, used], data.y, row) != label
            for row, label in zip(new.X[:, used], new.y, strict=True)
        ]
        assert on_test[columns] == pytest.approx(np.mean(wrong))


def _left_out_error(X, y):
    rows = np.arange(len(y))
    return np.mean([_nearest(X[rows != i], y[rows != i], X[i]) != y[i] for i in rows])


def _nearest(X, y, row):
    distance = (row != X).sum(axis=1)
    return np.bincount(y[distance == distance.min()], minlength=3).argmax()


def test_energy_table_of_three_is_symmetric_and_forgets_repeats():
    data, new = small_ternary(9)
    pairs = enumeration.energy_tables(data.X, data.y, new.X, new.y, 2)[0]
    triples = enumeration.energy_tables(data.X, data.y, new.X, new.y, 3)[0]
    assert triples[1, 4, 6] == triples[6, 1, 4] == triples[4, 6, 1]
    assert triples[1, 1, 4] == triples[4, 1, 4] == pairs[1, 4]
    assert triples[2, 2, 2] == pairs[2, 2]


def test_gradient_is_that_of_the_energy():
    random = np.random.default_rng(0)
    table = random.random((5, 5, 5))
    table = sum(table.transpose(order) for order in permutations(range(3)))
    weights = random.dirichlet(np.ones(5))
    slope = enumeration.gradient(table, weights)
    for column in range(5):
        moved = weights.copy()
        moved[column] += 1e-6
        difference = enumeration.energy(table, moved) - enumeration.energy(table, weights)
        assert difference / 1e-6 == pytest.approx(slope[column], rel=1e-4)


@pytest.mark.parametrize("method", ["exponential", "euclidean"])
def test_descent_falls_to_the_minimum_on_the_simplex(method):
    # P' G P with G = diag(1, 2) and 0 elsewhere has its minimum where P is as 2 to 1.
    path = enumeration.descend(np.diag([1.0, 2.0]), method)
    values = [enumeration.energy(np.diag([1.0, 2.0]), weights) for _, weights in path]
    assert np.all(np.diff(values) <= 0)
    assert path[-1][1] == pytest.approx([2 / 3, 1 / 3], abs=1e-3)


def test_projection_by_hand():
    assert enumeration.project(np.array([0.7, 0.7, -0.4])) == pytest.approx([0.5, 0.5, 0.0])
    assert enumeration.project(np.array([0.2, 0.3, 0.5])) == pytest.approx([0.2, 0.3, 0.5])


def test_conditional_entropies():
    values = list(synthetic.conditional_entropies().values())
    assert values == pytest.approx([math.log(3), 1.0253, 1.0244], abs=1e-4)
    assert synthetic.conditional_entropy([0.5, 0.5, 0.5]) == pytest.approx(math.log(3))


# Edges


def test_edge_of_a_step_is_found_once_and_in_its_direction():
    image = np.zeros((1, 6, 6))
    image[:, :, 3:] = 1.0
    for orientation, across in edges.ACROSS.items():
        found = edges.find_edges(image.astype(np.float32), across, 0.1)
        expected = np.zeros((6, 6), dtype=bool)
        if orientation == "vertical":
            expected[:, 2] = True
        assert (found[0] == expected).all() or orientation in ("falling", "rising")


def test_blurring_moves_edges_across():
    bits = np.zeros((1, 5, 5), dtype=bool)
    bits[0, 2, 2] = True
    wide = edges.blur(bits, edges.ACROSS["vertical"], 1)
    assert np.flatnonzero(wide[0, 2]).tolist() == [1, 2, 3]
    assert wide.sum() == 3


def test_shift_by_hand():
    table = np.arange(9).reshape(1, 3, 3)
    assert edges.shift(table, (0, 1))[0].tolist() == [[1, 2, 0], [4, 5, 0], [7, 8, 0]]
    assert edges.shift(table, (-1, 0))[0].tolist() == [[0, 0, 0], [0, 1, 2], [3, 4, 5]]


def test_most_even_detectors():
    bits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    assert edges.most_even(bits, 1).tolist() == [1]
    assert edges.most_even(bits, 4).tolist() == [1, 2]


# Learning and errors


@pytest.mark.slow
def test_learning_finds_the_column_that_matters_where_errors_are_small():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 30))
    y = np.where(X[:, 3] + 0.2 * random.normal(size=300) > 0, "a", "b")
    learned = learning.learn(
        X, y, method="riemannian", max_iter=2000, pilot=200, seed=0, subset_size=4, estimator="lda"
    )
    assert learned.weights.argmax() == 3
    assert learned.after < learned.before
    assert learned.evaluations[0] == learned.path_evaluations[0] == 0
    assert learned.path[0] == pytest.approx(1 / 30, rel=1e-3)


def test_ten_parts_have_equal_shares():
    truth = np.repeat([0, 1], [60, 40])
    part = learning.ten_parts(truth)
    assert [np.bincount(truth[part == i]).tolist() for i in range(10)] == [[6, 4]] * 10


@pytest.mark.slow
def test_folds_stay_the_same_when_fewer_are_run(small_data, monkeypatch, tmp_path):
    asked = []

    def outer(name, fold, seed, settings):
        asked.append((fold, settings["n_outer"]))
        return {"OFW": 0.1, "Fisher": 0.2}

    small = challenge.quick_settings() | {
        "max_iter": 200, "pilot": 200, "n_outer": 5, "fcbf": (), "sets": ("madelon",),
        "kinds": ("preselected",),
    }  # fmt: skip
    monkeypatch.setattr(challenge, "quick_settings", lambda: small)
    monkeypatch.setattr(challenge, "outer_errors", outer)
    monkeypatch.setattr("tamis_papers.ofw.challenge_shown._falls", lambda *_: _any_claim())
    found = reproduce(
        "ofw-table2-4", quick=True, folder=tmp_path, n_jobs=1, progress=False, repeats=1
    )
    assert asked == [(0, 5)]
    assert any("1 of 5 folds" in row["note"] for row in found.rows)


def _any_claim():
    return Claim("fast-arcene-gisette", None, "")


def test_thinned_keeps_the_ends():
    assert learning.thinned(range(1000), 3) == [0, 500, 999]
    assert learning.thinned([5], 3) == [5]


def test_face_errors_are_weighted_to_the_full_mix():
    truth = np.repeat([1, 0], [20, 20])
    always_no = faces.error_rates(np.zeros(40, dtype=int), truth)
    assert np.mean(always_no, axis=0) == pytest.approx([472 / 24045, 0.5])


def test_balanced_errors_of_parts():
    truth = np.repeat([-1, 1], [90, 10])
    assert challenge.part_errors(np.full(100, -1), truth) == [0.5] * 10


def test_genes_that_vary_enough():
    X = np.array([[0, 10_000, 100, 1], [200, 20_000, 650, 2]])
    clipped, kept = leukemia.preselect(X)
    assert kept.tolist() == [2]  # 20 to 200 is too narrow, 10,000 to 16,000 a ratio below 5
    assert clipped[:, 0].tolist() == [100, 650]


def test_permuted_columns_keep_their_values():
    random = np.random.default_rng(0)
    dense = (random.random((50, 6)) < 0.3) * random.integers(1, 9, (50, 6))
    columns = np.array([4, 1])
    for table in (dense, sparse.csr_matrix(dense)):
        moved = challenge_data.permuted_columns(table, columns, np.random.default_rng(1))
        moved = moved.toarray() if sparse.issparse(moved) else moved
        assert (np.sort(moved, axis=0) == np.sort(dense[:, columns], axis=0)).all()
        assert (moved != dense[:, columns]).any()


def test_fisher_scores_by_hand():
    X = np.array([[0.0, 1], [2, 1], [4, 1], [6, 1]])
    y = np.array([0, 0, 1, 1])
    # means 1 and 5 about 3, variances 2 and 2
    assert challenge_data.fisher_scores(X, y).tolist() == [2.0, 0.0]
    assert challenge_data.fisher_scores(sparse.csr_matrix(X), y).tolist() == [2.0, 0.0]


def test_names_of_words():
    assert [spam.plain_name(name) for name in ("word_freq_all", "char_freq_%21")] == ["all", "!"]


# Every reduced path on small data


@pytest.fixture
def small_data(monkeypatch):
    """Replace the real sets by small tables of the same form."""
    tables = {
        "spambase": _spam, "usps": _usps, "cbcl_faces": _faces, "leukemia": _leukemia,
        "arcene": lambda: _challenge(300), "madelon": lambda: _challenge(30),
    }  # fmt: skip
    monkeypatch.setattr("tamis.datasets.load", lambda name: tables[name]())
    for cached in (faces.load_faces, usps.load_digits, challenge_data.load_set):
        cached.cache_clear()
    yield
    for cached in (faces.load_faces, usps.load_digits, challenge_data.load_set):
        cached.cache_clear()


def _spam():
    random = np.random.default_rng(0)
    words = [one.case["feature"] for one in published("ofw-spam").values if "feature" in one.case]
    names = [f"word_freq_{name}" for name in words]
    names += [f"word_freq_other{i}" for i in range(57 - len(names))]
    X = random.exponential(size=(400, 57)) * (random.random((400, 57)) < 0.3)
    return Bunch(X=X, y=(X[:, :3].sum(axis=1) > 0.8).astype(int), feature_names=names)


def _images(side, n_classes, low, high):
    random = np.random.default_rng(0)
    y = np.arange(240) % n_classes
    X = random.uniform(0, 0.3, size=(240, side, side))
    for row, label in enumerate(y):
        X[row, 2 + label :, :] += 0.5
        X[row, :, side - 3 - label :] += 0.3
    X = low + (high - low) * X / X.max()
    train = np.arange(240) < 160
    return Bunch(X=X.reshape(240, -1), y=y, train=train, test=~train)


def _usps():
    return _images(16, 10, -1.0, 1.0)


def _faces():
    return _images(19, 2, 0, 255)


def _leukemia():
    random = np.random.default_rng(0)
    X = random.lognormal(6, 1, size=(72, 150)).astype(int)
    y = np.repeat([0, 1], [47, 25])
    X[y == 1, :10] *= 4
    return Bunch(X=X, y=y)


def _challenge(n_columns):
    random = np.random.default_rng(0)
    y = np.where(np.arange(200) % 2 == 0, -1, 1)
    X = random.integers(0, 1000, size=(200, n_columns))
    X[:, :5] += 300 * (y[:, None] == 1)
    train = np.arange(200) < 100
    return Bunch(X=X, y=y, train=train, test=~train, relevant=np.arange(5))


@pytest.mark.slow
def test_synthetic(monkeypatch, tmp_path):
    monkeypatch.setattr(synthetic, "STEPS", (4,))
    monkeypatch.setattr("tamis_papers.ofw.synthetic_shown.STEPS", (4,))
    monkeypatch.setattr(synthetic, "quick_settings", lambda: ((2, 4), 1, 400, 50))
    found = finish("ofw-fig6-9", tmp_path)
    row = next(row for row in found.rows if row["theirs"] == 1.009)
    assert row["ours"] == pytest.approx(math.log(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ofw-fig6-9", "ofw-iris"])
def test_a_single_repeat_decides_no_difference(name, tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic, "STEPS", (4,))
    monkeypatch.setattr("tamis_papers.ofw.synthetic_shown.STEPS", (4,))
    monkeypatch.setattr(synthetic, "quick_settings", lambda: ((2, 4), 3, 400, 50))
    monkeypatch.setattr(iris, "QUICK", (3, 300))
    found = reproduce(name, quick=True, folder=tmp_path, n_jobs=1, progress=False, repeats=1)
    held = {claim["name"]: claim["holds"] for claim in found.claims}
    differences = {"fig6-left", "fig6-right", "fig7", "fig8", "fig9-reusable", "improves"}
    assert {held[one] for one in differences & set(held)} == {None}
    assert not any("nan" in claim["evidence"] for claim in found.claims)


def test_mean_error_of_a_run():
    one = {"steps": [0, 10], "train": [0.4, 0.2]}
    short = {"steps": [0, 5], "train": [0.4, 0.2]}  # it left the simplex, and stays where it was
    draws = [{"runs": {"a": one, "b": short}}]
    assert synthetic_shown.mean_of_run(draws, "a") == pytest.approx(0.3)
    assert synthetic_shown.mean_of_run(draws, "b") == pytest.approx(0.25, abs=1e-3)


def leukemia_units(ofw, others, n_repeats):
    names = ("OFW diffusion", "OFW riemannian", "RFE", "L0-SVM", "Fisher")
    fold = {
        "n_test": 72, "all": 1, "forests": {"1": 9, "5": 3},
        "wrong": {n: {"5": ofw if "OFW" in n else others, "25": 2} for n in names},
    }  # fmt: skip
    return {f"intensities/{repeat}/0": fold for repeat in range(n_repeats)}


def test_claims_on_leukemia():
    settings = {"counts": (5, 25), "trees": (1, 5), "n_repeats": 3}
    units = leukemia_units(9, 4, 3)
    held = {one.name: one.holds for one in leukemia_shown.claims(units, settings)}
    assert held == {
        "no-selection-better": True, "small-worse": True, "competitive-20-25": True,
        "l0-beats-rfe": None, "rf-irregular": False,
    }  # fmt: skip
    alone = leukemia_shown.claims(leukemia_units(9, 4, 1), settings | {"n_repeats": 1})
    assert {one.holds for one in alone} == {None}
    words = [leukemia._folds_in_words({"n_folds": n, "n_repeats": r}) for n, r in ((10, 1), (3, 2))]
    assert words == ["Ten folds once", "3 of ten folds 2 times"]


@pytest.mark.slow
def test_iris(tmp_path, monkeypatch):
    monkeypatch.setattr(iris, "QUICK", (2, 300))
    found = finish("ofw-iris", tmp_path)
    words = {row["verdict"] for row in found.rows if row["theirs"]}
    assert words <= {"differs, same order", "differs", "too few repeats"}  # two repeats: never same


@pytest.mark.slow
def test_spam(small_data, tmp_path, monkeypatch):
    small = spam.quick_settings() | {"max_iter": 400, "pilot": 200, "n_rows": 200, "n_draws": 2}
    monkeypatch.setattr(spam, "quick_settings", lambda: small)
    finish("ofw-spam", tmp_path)


@pytest.mark.slow
def test_usps(small_data, tmp_path, monkeypatch):
    small = usps.quick_settings() | {"max_iter": 200, "pilot": 200, "n_voters": 1}
    monkeypatch.setattr(usps, "quick_settings", lambda: small)
    finish("ofw-usps", tmp_path)


@pytest.mark.slow
def test_faces(small_data, tmp_path, monkeypatch):
    small = faces.quick_settings() | {"max_iter": 200, "pilot": 200, "trees": (1, 10)}
    monkeypatch.setattr(faces, "quick_settings", lambda: small)
    finish("ofw-faces", tmp_path)


@pytest.mark.slow
def test_leukemia(small_data, tmp_path, monkeypatch):
    small = leukemia.quick_settings() | {"max_iter": 200, "pilot": 200, "trees": (1, 5)}
    monkeypatch.setattr(leukemia, "quick_settings", lambda: small)
    found = finish("ofw-leukemia", tmp_path)
    assert found.seconds > 0


@pytest.mark.slow
def test_challenge_with_everything_that_needs_no_large_set(small_data, tmp_path, monkeypatch):
    small = challenge.quick_settings() | {
        "max_iter": 400, "pilot": 200, "n_outer": 2, "flip": ("madelon",), "probes": True,
    }  # fmt: skip
    monkeypatch.setattr(challenge, "quick_settings", lambda: small)
    found = finish("ofw-table2-4", tmp_path)
    assert any(row["case"]["part"].startswith("test set") and row["ours"] for row in found.rows)
    assert any(
        row["case"]["metric"] == "probes among selected" and row["ours"] for row in found.rows
    )
