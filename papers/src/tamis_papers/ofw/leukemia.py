"""Section 5.2.4 of the OFW paper: leukemia, 3,859 genes, linear machines, ten folds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.ofw.learning import STEP_REMARK, best, learn, thinned
from tamis_papers.result import ExperimentResult

N_DRAWN, MAX_ITER, N_REPEATS, N_FOLDS = 100, 50_000, 5, 10
METHODS = ("riemannian", "diffusion")
COUNTS = (1, 2, 5, 10, 20, 25, 50, 100)
TREES = (1, 3, 10, 30, 100, 300, 1000)
TABLES = ("intensities", "logarithms")
PAPER_TABLE = "intensities"
# Intensities are clipped to this range; a gene stays if its values differ by both of these.
LOW, HIGH, LEAST_RATIO, LEAST_RANGE = 20, 16_000, 5, 500


def run(run: ExperimentRun) -> ExperimentResult:
    """Learn the weights within every fold, and compare the genes of largest weight."""
    settings = quick_settings() if run.quick else full_settings()
    settings["n_repeats"] = run.at_most(settings["n_repeats"])
    units = run.units(_tasks(run.seed, settings))
    whole = run.units([UnitTask("whole", whole_table, (run.seed, settings))], parallel=False)[
        "whole"
    ]
    from tamis_papers.ofw import leukemia_shown as shown

    return ExperimentResult(
        measurements=shown.measurements(units, whole, settings),
        claims=shown.claims(units, settings),
        figures={
            "energy": lambda figure: shown.draw_energy(figure, whole),
            "genes": lambda figure: shown.draw_genes(figure, units, settings),
            "trees": lambda figure: shown.draw_trees(figure, units, settings),
        },
        remarks=[
            "The 3,859 genes: intensities clipped to 20 to 16,000, genes with max / min above 5 "
            "and max - min above 500 over all 72 samples, which gives the paper's number. This "
            "filter sees the test samples, but no labels; all else is learned within the folds.",
            f"{_folds_in_words(settings)} (the paper: ten folds once). Columns are standardised by "
            "the training rows; intensities as they are, and logarithms as a second row. C = 1. "
            "RFE drops a share of the genes a round. Claims are decided by the repeats, which "
            "share their samples: other patients would change more.",
            STEP_REMARK + f" {settings['max_iter']} steps at most, bootstrap samples of as many "
            "rows as there are.",
        ],
    )


def _folds_in_words(settings: dict[str, Any]) -> str:
    folds, repeats = settings["n_folds"], settings["n_repeats"]
    some = "Ten folds" if folds == N_FOLDS else f"{folds} of ten folds"
    return f"{some} {'once' if repeats == 1 else f'{repeats} times'}"


def full_settings() -> dict[str, Any]:
    """Sizes of the complete run."""
    return {
        "n_repeats": N_REPEATS, "n_folds": N_FOLDS, "max_iter": MAX_ITER, "counts": COUNTS,
        "trees": TREES, "tables": TABLES, "pilot": 1000, "step": 0.1,
    }  # fmt: skip


def quick_settings() -> dict[str, Any]:
    """Sizes of the reduced run."""
    return {
        "n_repeats": 1, "n_folds": 3, "max_iter": 4000, "counts": (5, 25, 100),
        "trees": (1, 10, 100), "tables": TABLES[:1], "pilot": 400, "step": 0.5,
    }  # fmt: skip


def _tasks(seed: int, settings: dict[str, Any]) -> list[UnitTask]:
    return [
        UnitTask(f"{table}/{repeat}/{fold}", one_fold, (table, seed + repeat, fold, settings))
        for table in settings["tables"]
        for repeat in range(settings["n_repeats"])
        for fold in range(settings["n_folds"])
    ]


def preselect(X: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Clipped intensities of the genes that vary enough, and which genes these are."""
    clipped = np.clip(np.asarray(X, dtype=float), LOW, HIGH)
    low, high = clipped.min(axis=0), clipped.max(axis=0)
    kept = np.flatnonzero((high / low > LEAST_RATIO) & (high - low > LEAST_RANGE))
    return clipped[:, kept], kept


def load_genes(table: str) -> tuple[Any, Any]:
    """Genes and classes."""
    from tamis import datasets

    data: Any = datasets.load("leukemia")
    X, _ = preselect(data.X)
    return (np.log10(X) if table == "logarithms" else X), np.asarray(data.y)


def one_fold(table: str, seed: int, fold: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Numbers of wrong test rows of every method, for every number of genes."""
    from sklearn.model_selection import StratifiedKFold

    X, y = load_genes(table)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))
    inside, outside = folds[fold]
    mean, deviation = X[inside].mean(axis=0), np.maximum(X[inside].std(axis=0), 1e-12)
    Z = (X - mean) / deviation
    parts = (Z[inside], y[inside], Z[outside], y[outside])
    scores, energies = fold_scores(parts, [seed, fold], settings)
    counts = settings["counts"]
    return {
        "n_test": len(outside),
        "wrong": {
            name: {str(count): n_wrong(parts, best(score, count)) for count in counts}
            for name, score in scores.items()
        },
        "all": n_wrong(parts, np.arange(X.shape[1])),
        "forests": {
            str(n_trees): forest_wrong(parts, n_trees, seed * N_FOLDS + fold)
            for n_trees in settings["trees"]
        },
        "energies": energies,
    }


def fold_scores(
    parts: Any, where: list[int], settings: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Scores of the genes by every method, and the energies of OFW before and after."""
    from tamis import L0SVM, SVMRFE, Fisher

    train, known = parts[:2]
    selectors = {
        "Fisher": Fisher(n_jobs=1),
        "RFE": SVMRFE(step=settings["step"], n_jobs=1),
        "L0-SVM": L0SVM(n_jobs=1),
    }
    scores = {name: one.fit(train, known).scores_ for name, one in selectors.items()}
    energies = {}
    for method in METHODS:
        learned = learn(
            train, known, method=method, max_iter=settings["max_iter"], pilot=settings["pilot"],
            seed=where[0] * N_FOLDS + where[1], subset_size=N_DRAWN, scale=False,
        )  # fmt: skip
        scores[f"OFW {method}"] = learned.weights
        energies[method] = [learned.before, learned.after]
    return scores, energies


def n_wrong(parts: Any, columns: Any) -> int:
    """Test rows that a linear machine on some genes gets wrong."""
    from sklearn.svm import LinearSVC

    train, known, test, truth = parts
    machine = LinearSVC(C=1.0, loss="hinge", random_state=0, max_iter=20_000)
    found = machine.fit(train[:, columns], known).predict(test[:, columns])
    return int(np.sum(found != truth))


def forest_wrong(parts: Any, n_trees: int, seed: int) -> int:
    """Test rows that a forest gets wrong."""
    from sklearn.ensemble import RandomForestClassifier

    train, known, test, truth = parts
    forest = RandomForestClassifier(n_trees, random_state=seed, n_jobs=1).fit(train, known)
    return int(np.sum(forest.predict(test) != truth))


def whole_table(seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Figure 24: the energy during learning on all 72 samples, and the seconds it took."""
    X, y = load_genes(PAPER_TABLE)
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    curves = {}
    for method in METHODS:
        start = time.perf_counter()
        learned = learn(
            Z, y, method=method, max_iter=settings["max_iter"], pilot=settings["pilot"], seed=seed,
            subset_size=N_DRAWN, scale=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        curves[method] = [thinned(learned.evaluations), thinned(learned.energy), seconds]
    return curves
