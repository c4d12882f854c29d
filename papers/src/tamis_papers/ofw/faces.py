"""Section 5.2.1 of the OFW paper: faces, edge detectors, linear machines."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.ofw.learning import best, drawn_predictions, learn, ten_parts, thinned
from tamis_papers.result import ExperimentResult

SIDE, N_DETECTORS, N_DRAWN = 19, 1926, 100
METHODS = ("riemannian", "diffusion")
SIZES, COUNTS = (20, 30, 50, 100), (20, 50, 100, 200)
MAX_ITER, ROWS_PER_SAMPLE, N_SEEDS, N_DRAWS = 50_000, 300, 3, 20
# The published test part, of which the data have all faces and a sample of the others.
N_FACES, N_OTHERS = 472, 23_573

# Error and balanced error, one pair for each part of the test rows.
Rates = list[list[float]]


class Faces(NamedTuple):
    """Edge detectors of the training and test images."""

    train: Any
    known: Any
    test: Any
    truth: Any
    detectors: Any


def run(run: ExperimentRun) -> ExperimentResult:
    """Learn weights of detectors, and compare drawn and selected ones on the test images."""
    settings = quick_settings() if run.quick else full_settings()
    settings["n_seeds"] = run.at_most(settings["n_seeds"])
    learned = run.units(
        UnitTask(f"learn/{method}/{number}", learn_weights, (method, run.seed + number, settings))
        for method in METHODS
        for number in range(settings["n_seeds"])
    )
    others = run.units(_tasks(run.seed, learned, settings))
    from tamis_papers.ofw import faces_shown as shown

    return ExperimentResult(
        measurements=shown.measurements(others, settings),
        claims=shown.claims(others, learned, settings),
        figures={
            "drawn": lambda figure: shown.draw_drawn(figure, others, settings),
            "selected": lambda figure: shown.draw_selected(figure, others, settings),
            "places": lambda figure: shown.draw_places(figure, learned),
        },
        remarks=shown.remarks(settings),
    )


def full_settings() -> dict[str, Any]:
    """Sizes of the complete run."""
    return {
        "n_train": None, "max_iter": MAX_ITER, "n_seeds": N_SEEDS, "sizes": SIZES,
        "counts": COUNTS, "n_draws": N_DRAWS, "step": 0.1, "trees": (1, 1000), "pilot": 1000,
        "selections": ("Fisher", "RFE", "L0-SVM"), "n_selection": 3000,
    }  # fmt: skip


def quick_settings() -> dict[str, Any]:
    """Sizes of the reduced run."""
    return {
        "n_train": 1000, "max_iter": 1000, "n_seeds": 1, "sizes": (20, 100), "counts": (20, 100),
        "n_draws": 3, "step": 0.5, "trees": (1, 100), "pilot": 400,
        "selections": ("Fisher", "RFE", "L0-SVM"), "n_selection": 500,
    }  # fmt: skip


def _tasks(seed: int, learned: dict[str, Any], settings: dict[str, Any]) -> list[UnitTask]:
    tasks = [
        UnitTask(f"drawn/uniform/{n}", drawn_errors, (None, seed + n, settings))
        for n in range(settings["n_seeds"])
    ]
    for name, unit in learned.items():
        _, method, number = name.split("/")
        weights = unit["weights"]
        tasks.append(
            UnitTask(
                f"drawn/{method}/{number}", drawn_errors, (weights, seed + int(number), settings)
            )
        )
        tasks.append(UnitTask(f"top/{method}/{number}", ranked_errors, (weights, settings)))
    tasks += [
        UnitTask(f"select/{name}", selected_errors, (name, settings))
        for name in settings["selections"]
    ]
    tasks += [
        UnitTask(f"forest/{n_trees}", forest_errors, (n_trees, seed, settings))
        for n_trees in settings["trees"]
    ]
    return [*tasks, UnitTask("all", all_errors, (settings,))]


@lru_cache(maxsize=1)
def load_faces(n_train: int | None = None) -> Faces:
    """The detectors; chosen on the training images, whose labels they do not see."""
    from tamis import datasets

    from tamis_papers.ofw.edges import detect, most_even

    data: Any = datasets.load("cbcl_faces")
    y = np.asarray(data.y)
    bits, detectors = detect(np.asarray(data.X).reshape(-1, SIDE, SIDE), 255.0)
    train, test = np.flatnonzero(data.train), np.flatnonzero(data.test)
    kept = most_even(bits[train], N_DETECTORS)
    part = train if n_train is None else np.random.default_rng(0).permutation(train)[:n_train]
    table = bits[:, kept].astype(np.float32)
    return Faces(table[part], y[part], table[test], y[test], detectors.at(kept))


def learn_weights(method: str, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Weights of the detectors, and where the detectors are."""
    faces = load_faces(settings["n_train"])
    learned = learn(
        faces.train, faces.known, method=method, max_iter=settings["max_iter"], seed=seed,
        pilot=settings["pilot"], subset_size=N_DRAWN, sample_size=ROWS_PER_SAMPLE, scale=False,
    )  # fmt: skip
    detectors = faces.detectors
    return {
        "weights": np.round(learned.weights, 9).tolist(),
        "energy": [thinned(learned.evaluations), thinned(learned.energy)],
        "before": learned.before,
        "after": learned.after,
        "orientation": detectors.orientation.tolist(),
        "row": detectors.row.tolist(),
        "column": detectors.column.tolist(),
    }


def drawn_errors(weights: Any, seed: int, settings: dict[str, Any]) -> dict[str, Rates]:
    """Mean error and balanced error of machines on drawn detectors, for every number drawn."""
    faces = load_faces(settings["n_train"])
    p = None if weights is None else np.array(weights)
    data = (faces.train, faces.known, faces.test)
    found = {}
    for size in settings["sizes"]:
        predictions = drawn_predictions(machine, p, size, settings["n_draws"], seed, data)
        rates = [error_rates(one, faces.truth) for one in predictions]
        found[str(size)] = np.mean(rates, axis=0).tolist()
    return found


def ranked_errors(scores: Any, settings: dict[str, Any]) -> dict[str, Rates]:
    """Errors of one machine on the detectors of largest score, for every number of them."""
    faces = load_faces(settings["n_train"])
    found = {}
    for count in settings["counts"]:
        columns = best(scores, count)
        one = machine().fit(faces.train[:, columns], faces.known)
        found[str(count)] = error_rates(one.predict(faces.test[:, columns]), faces.truth)
    return found


def selected_errors(name: str, settings: dict[str, Any]) -> dict[str, Rates]:
    """Errors of one machine on the detectors that another method selects."""
    from tamis import L0SVM, SVMRFE, Fisher

    faces = load_faces(settings["n_train"])
    selectors = {
        "Fisher": Fisher(n_jobs=1),
        "RFE": SVMRFE(step=settings["step"], n_jobs=1),
        "L0-SVM": L0SVM(n_jobs=1),
    }
    rows: Any = slice(None)
    if name != "Fisher":
        rows = np.random.default_rng(0).permutation(len(faces.known))[: settings["n_selection"]]
    selector = selectors[name].fit(faces.train[rows], faces.known[rows])
    return ranked_errors(selector.scores_.tolist(), settings)


def forest_errors(n_trees: int, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Errors of a forest on all detectors, and the tests of a tree."""
    from sklearn.ensemble import RandomForestClassifier

    faces = load_faces(settings["n_train"])
    forest = RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
    forest.fit(faces.train, faces.known)
    nodes = np.mean([tree.tree_.node_count for tree in forest.estimators_])
    return {"rates": error_rates(forest.predict(faces.test), faces.truth), "nodes": float(nodes)}


def all_errors(settings: dict[str, Any]) -> Rates:
    """Errors of one machine on all detectors."""
    faces = load_faces(settings["n_train"])
    return error_rates(machine().fit(faces.train, faces.known).predict(faces.test), faces.truth)


def machine() -> Any:
    """A linear SVM."""
    from sklearn.svm import LinearSVC

    return LinearSVC(dual=False, C=1.0)


def error_rates(found: Any, truth: Any) -> Rates:
    """Error in the mix of the published test part, and balanced error, in ten parts of the rows."""
    truth = np.asarray(truth)
    wrong, part = np.asarray(found) != truth, ten_parts(truth)
    rates = []
    for number in range(part.max() + 1):
        here = part == number
        missed, false = (float(wrong[here & (truth == label)].mean()) for label in (1, 0))
        mixed = (N_FACES * missed + N_OTHERS * false) / (N_FACES + N_OTHERS)
        rates.append([mixed, (missed + false) / 2])
    return rates
