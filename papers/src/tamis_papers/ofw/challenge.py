"""Tables 2 to 4 of the OFW paper: balanced errors, shares of features and of probes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.ofw.challenge_data import (
    COUNTS,
    ESTIMATOR,
    PRESELECT,
    SETS,
    TEST_COUNTS,
    Challenge,
    fisher_scores,
    load_set,
    with_probes,
)  # fmt: skip
from tamis_papers.ofw.learning import best, learn, ten_parts, thinned
from tamis_papers.result import ExperimentResult

# Of the order of the columns so many are kept; no final classifier has more.
MOST_KEPT = 2000
# Rows that the search for the number of columns and the kernel sees at most.
MOST_SEARCHED = 1500
C_GRID, GAMMA_GRID = (1.0, 10.0, 100.0), (0.1, 1.0, 10.0)


def run(run: ExperimentRun) -> ExperimentResult:
    """Learn the weights of every set, choose a number of columns, and validate."""
    settings = quick_settings() if run.quick else full_settings()
    # Of the folds only some may be run; how many there are must not change.
    settings["n_outer_run"] = run.at_most(settings["n_outer"])
    names = settings["sets"]
    learned = run.units(_learning_tasks(run.seed, settings))
    finals = run.units(
        UnitTask(f"final/{key}", final_errors, (key.split("/")[0], unit["order"], settings))
        for key, unit in learned.items()
    )
    counts = {name: finals[f"final/{name}/preselected"]["count"] for name in names}
    others = run.units(_other_tasks(run.seed, counts, settings))
    from tamis_papers.ofw import challenge_shown as shown

    found = {**finals, **others}
    return ExperimentResult(
        measurements=shown.measurements(found, counts, settings),
        claims=shown.claims(found, learned, settings),
        figures={
            "energy": lambda figure: shown.draw_energy(figure, learned, names),
            "errors": lambda figure: shown.draw_errors(figure, found, names),
        },
        remarks=shown.remarks(settings),
    )


def full_settings() -> dict[str, Any]:
    """Sizes of the complete run."""
    return {
        "sets": SETS, "n_train": None, "max_iter": 30_000, "pilot": 1000, "n_folds": 10,
        "counts": COUNTS, "kinds": ("preselected", "all columns"), "search": True, "n_outer": 5,
        "flip": ("arcene", "madelon"), "fcbf": ("arcene", "dexter", "dorothea"), "probes": True,
    }  # fmt: skip


def quick_settings() -> dict[str, Any]:
    """Sizes of the reduced run: two sets, a fixed kernel, no folds, no probes but known ones."""
    return {
        "sets": ("arcene", "madelon"), "n_train": 600, "max_iter": 2000, "pilot": 400,
        "n_folds": 3, "counts": {"arcene": (50, 380), "madelon": (5, 11)},
        "kinds": ("preselected", "all columns"), "search": False, "n_outer": 0, "flip": (),
        "fcbf": ("arcene",), "probes": False,
    }  # fmt: skip


def _learning_tasks(seed: int, settings: dict[str, Any]) -> list[UnitTask]:
    return [
        UnitTask(f"{name}/{kind}", learn_order, (name, kind, seed, settings))
        for name in settings["sets"]
        for kind in settings["kinds"]
        if kind == "preselected" or PRESELECT[name] is not None
    ]


def _other_tasks(seed: int, counts: dict[str, int], settings: dict[str, Any]) -> list[UnitTask]:
    tasks = []
    for name in settings["sets"]:
        tasks.append(UnitTask(f"linear/{name}", linear_errors, (name, settings)))
        tasks.append(UnitTask(f"fisher/{name}", fisher_errors, (name, counts[name], settings)))
        if settings["probes"] or name == "madelon":
            tasks.append(UnitTask(f"probes/{name}", probe_shares, (name, seed, settings)))
        tasks += [
            UnitTask(f"outer/{name}/{fold}", outer_errors, (name, fold, seed, settings))
            for fold in range(settings["n_outer_run"])
        ]
    tasks += [
        UnitTask(f"flip/{name}", flip_errors, (name, seed, settings)) for name in settings["flip"]
    ]
    return tasks + [
        UnitTask(f"fcbf/{name}", fcbf_errors, (name, settings)) for name in settings["fcbf"]
    ]


def learn_order(name: str, kind: str, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """The columns of largest weight, and the balanced error during learning."""
    data = load_set(name, settings["n_train"])
    preselect = PRESELECT[name] if kind == "preselected" else None
    return order_of(name, data.X[data.train], data.y[data.train], preselect, seed, settings)


def order_of(
    name: str, X: Any, y: Any, preselect: float | None, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """Learn weights; columns without weight are not in the order."""
    learned = learn(
        X, y, method="riemannian", max_iter=settings["max_iter"], pilot=settings["pilot"],
        seed=seed, preselect=preselect, estimator=ESTIMATOR.get(name, "svm"),
        metric="balanced_error",
    )  # fmt: skip
    order = best(learned.weights, int((learned.weights > 0).sum()))
    return {
        "order": order[:MOST_KEPT].tolist(),
        "n_kept": len(order),
        "energy": [thinned(learned.evaluations, 100), thinned(learned.energy, 100)],
        "before": learned.before,
        "after": learned.after,
    }


def final_errors(name: str, order: list[int], settings: dict[str, Any]) -> dict[str, Any]:
    """Choose number of columns and kernel on the training rows, and validate."""
    data = load_set(name, settings["n_train"])
    counts = sorted({min(count, len(order)) for count in settings["counts"][name]})
    found = {count: search(data, data.train, order[:count], settings) for count in counts}
    count = min(counts, key=lambda number: (found[number][0], number))
    return {
        "count": count,
        "n_columns": data.X.shape[1],
        "searched": {str(number): found[number][0] for number in counts},
        **validated(data, order[:count], found[count][1]),
    }


def dense_part(X: Any, rows: Any, columns: Any) -> NDArray[np.float64]:
    """Some rows and columns as a dense table."""
    part = X[rows][:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def kernel_machine(n_columns: int, C: float = 10.0, gamma: float = 1.0) -> Any:
    """Standardised columns, then an SVM with a Gaussian kernel; classes weigh the same."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machine = SVC(C=C, gamma=gamma / n_columns, class_weight="balanced")
    return make_pipeline(StandardScaler(), machine)


def search(
    data: Challenge, rows: Any, columns: Any, settings: dict[str, Any]
) -> tuple[float, tuple[float, float]]:
    """Least balanced error over the kernels in a cross-validation of the rows, and the kernel."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    random = np.random.default_rng(0)
    rows = random.permutation(rows)[:MOST_SEARCHED]
    table, y = dense_part(data.X, rows, columns), data.y[rows]
    folds = StratifiedKFold(settings["n_folds"], shuffle=True, random_state=0)
    grid = (
        [(C, gamma) for C in C_GRID for gamma in GAMMA_GRID]
        if settings["search"]
        else [(10.0, 1.0)]
    )
    errors = {}
    for kernel in grid:
        machine = kernel_machine(len(columns), *kernel)
        scores = cross_val_score(machine, table, y, cv=folds, scoring="balanced_accuracy")
        errors[kernel] = 1.0 - float(np.mean(scores))
    chosen = min(errors, key=lambda kernel: errors[kernel])
    return errors[chosen], chosen


def validated(data: Challenge, columns: Any, kernel: tuple[float, float]) -> dict[str, Any]:
    """Balanced errors of the kernel machine on the validation rows."""
    train, valid = (dense_part(data.X, rows, columns) for rows in (data.train, data.valid))
    machine = kernel_machine(len(columns), *kernel).fit(train, data.y[data.train])
    return {"errors": part_errors(machine.predict(valid), data.y[data.valid])}


def part_errors(found: Any, truth: Any) -> list[float]:
    """Balanced error in ten parts of the rows with equal shares of the classes.

    Their mean is the balanced error; how much they differ tells how sure it is.
    """
    found, truth, part = np.asarray(found), np.asarray(truth), ten_parts(truth)
    return [balanced_error(found[part == i], truth[part == i]) for i in range(part.max() + 1)]


def balanced_error(found: Any, truth: Any) -> float:
    """Mean over the classes of the share of wrong rows."""
    wrong = found != truth
    return float(np.mean([wrong[truth == label].mean() for label in np.unique(truth)]))


def linear_errors(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """A linear SVM on all columns, its C chosen on the training rows."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    data = load_set(name, settings["n_train"])
    machine = make_pipeline(
        StandardScaler(with_mean=not sparse.issparse(data.X)), LinearSVC(random_state=0)
    )
    grid = {"linearsvc__C": [1e-4, 1e-2, 1.0] if settings["search"] else [1e-2]}
    tried = GridSearchCV(machine, grid, cv=5, scoring="balanced_accuracy")
    X = data.X.astype(np.float64)
    rows = np.random.default_rng(0).permutation(data.train)[:MOST_SEARCHED]
    tried.fit(X[rows], data.y[rows])
    best_one = tried.best_estimator_.fit(X[data.train], data.y[data.train])
    return {"errors": part_errors(best_one.predict(X[data.valid]), data.y[data.valid])}


def fisher_errors(name: str, count: int, settings: dict[str, Any]) -> dict[str, Any]:
    """The kernel machine on as many columns as OFW has, by their Fisher score."""
    data = load_set(name, settings["n_train"])
    columns = best(fisher_scores(data.X[data.train], data.y[data.train]), count)
    return validated(data, columns, search(data, data.train, columns, settings)[1])


def flip_errors(name: str, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """G-flip, then the kernel machine."""
    from tamis import GFlip

    data = load_set(name, settings["n_train"])
    rows = np.random.default_rng(0).permutation(data.train)[:600]
    X = np.asarray(data.X[rows], dtype=float)
    deviation = np.maximum(X.std(axis=0), 1e-12)
    selector = GFlip(random_state=seed, n_jobs=1).fit(
        (X - X.mean(axis=0)) / deviation, data.y[rows]
    )
    columns = np.flatnonzero(selector.support_)
    kernel = search(data, data.train, columns, settings)[1]
    return {"count": columns.size, **validated(data, columns, kernel)}


def fcbf_errors(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """FCBF, then naive Bayes and a tree."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier
    from tamis import FCBF

    data = load_set(name, settings["n_train"])
    selector = FCBF(n_jobs=1).fit(data.X[data.train], data.y[data.train])
    columns = np.flatnonzero(selector.support_)
    train, valid = (dense_part(data.X, rows, columns) for rows in (data.train, data.valid))
    found: dict[str, Any] = {"count": columns.size}
    for key, machine in (("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))):
        machine.fit(train, data.y[data.train])
        found[key] = part_errors(machine.predict(valid), data.y[data.valid])
    return found


def outer_errors(name: str, fold: int, seed: int, settings: dict[str, Any]) -> dict[str, float]:
    """Table 3: one of five folds of all labelled rows, with the paper's number of columns."""
    from sklearn.model_selection import StratifiedKFold

    data = load_set(name, settings["n_train"])
    rows = np.concatenate([data.train, data.valid])
    folds = StratifiedKFold(settings["n_outer"], shuffle=True, random_state=seed)
    inside, outside = list(folds.split(rows, data.y[rows]))[fold]
    part = data._replace(train=rows[inside], valid=rows[outside])
    X, y = part.X[part.train], part.y[part.train]
    orders = {
        "OFW": order_of(name, X, y, PRESELECT[name], seed, settings)["order"],
        "Fisher": best(fisher_scores(X, y), MOST_KEPT).tolist(),
    }
    found = {}
    for method, order in orders.items():
        columns = order[: TEST_COUNTS[name]]
        kernel = search(part, part.train, columns, settings)[1]
        found[method] = float(np.mean(validated(part, columns, kernel)["errors"]))
    return found


def probe_shares(name: str, seed: int, settings: dict[str, Any]) -> dict[str, float]:
    """Table 4: share of probes among the paper's number of columns."""
    data = with_probes(name, load_set(name, settings["n_train"]))
    assert data.probes is not None
    X, y = data.X[data.train], data.y[data.train]
    orders = {
        "OFW": order_of(name, X, y, PRESELECT[name], seed, settings)["order"],
        "Fisher": best(fisher_scores(X, y), MOST_KEPT).tolist(),
    }
    count = TEST_COUNTS[name]
    return {method: float(data.probes[order[:count]].mean()) for method, order in orders.items()}
