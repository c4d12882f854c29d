"""Section 5.1.2 of the OFW paper: iris, trees on two columns at a time."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import surely
from tamis_papers.ofw.learning import NAMES, percent
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_SPLITS, MAX_ITER = 20, 5000
QUICK = (3, 1000)
METHODS = ("euclidean", "diffusion", "riemannian")
PAPER_METHODS = METHODS[:2]
COLUMNS = ("sepal length", "sepal width", "petal length", "petal width")
PETALS = {2, 3}
# Readings: "approximately the entire weight", and "quickly" as a share of the steps of the run.
NEARLY_ALL, QUICKLY = 0.9, 0.1


def run(run: ExperimentRun) -> ExperimentResult:
    """Learn weights on 100 rows of several splits, and test trees on the 50 others."""
    n_splits, max_iter = QUICK if run.quick else (N_SPLITS, MAX_ITER)
    n_splits = run.at_most(n_splits)
    tasks = [
        UnitTask(f"split {number}", one_split, (run.seed + number, max_iter))
        for number in range(n_splits)
    ]
    found = list(run.units(tasks, parallel=False).values())
    return ExperimentResult(
        measurements=_measurements(found),
        claims=_claims(found, max_iter),
        figures={"weights": lambda figure: _draw(figure, found)},
        remarks=[
            f"{n_splits} stratified splits into 100 and 50 rows (the paper: one, or an unsaid "
            "number: 2.6 % is no multiple of one row in 50). Trees are not pruned. Bootstrap "
            f"samples of 100 rows, at most {max_iter} steps, step sizes of the library.",
            "The row of the paper, which reads alike for both methods, has the mean of the "
            "Euclidean gradient and the diffusion; each by itself is below.",
        ],
    )


def one_split(seed: int, max_iter: int) -> dict[str, Any]:
    """Weights of every method, and test errors with the chosen two columns and with all."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from tamis import OFW, Fisher

    X, y = load_iris(return_X_y=True)
    parts = train_test_split(X, y, train_size=100, stratify=y, random_state=seed)
    train, _, known, _ = parts
    weights, paths, errors = {}, {}, {}
    for method in METHODS:
        selector = OFW(
            estimator="cart", subset_size=2, method=method, max_iter=max_iter, random_state=seed,
            n_jobs=1,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the Euclidean run ends where a weight reaches zero
            selector.fit(train, known)
        weights[method] = selector.weights_.tolist()
        paths[method] = [selector.path_evaluations_, selector.weights_path_.tolist()]
        errors[method] = tree_error(parts, selector.order_[:2], seed)
    fisher = Fisher(n_features_to_select=2).fit(train, known).order_[:2]
    return {
        "weights": weights,
        "paths": paths,
        "errors": {**errors, "all": tree_error(parts, range(4), seed),
                   "fisher": tree_error(parts, fisher, seed)},
        "fisher": fisher.tolist(),
    }  # fmt: skip


def tree_error(parts: Any, columns: Any, seed: int) -> float:
    """Test error of a tree on some columns."""
    from sklearn.tree import DecisionTreeClassifier

    train, test, known, truth = parts
    columns = list(columns)
    tree = DecisionTreeClassifier(criterion="gini", random_state=seed)
    return float(np.mean(tree.fit(train[:, columns], known).predict(test[:, columns]) != truth))


def _weights(found: list[Any], method: str) -> Any:
    return np.array([one["weights"][method] for one in found])


def _measurements(found: list[Any]) -> list[Measurement]:
    both = np.mean([_weights(found, method) for method in PAPER_METHODS], axis=0)
    rows = [
        _weight_row("OFW (Euclidean; and diffusion)", COLUMNS[column], both[:, column])
        for column in sorted(PETALS)
    ]
    for method in METHODS:
        table = _weights(found, method)
        rows += [
            _weight_row(f"OFW, {NAMES[method]}", name, table[:, column])
            for column, name in enumerate(COLUMNS)
        ]
    pairs = {
        "OFW or Fisher, two features": np.mean([_errors(found, m) for m in PAPER_METHODS], axis=0),
        "none": _errors(found, "all"),
        "Fisher, two features": _errors(found, "fisher"),
    }
    return rows + [
        Measurement(
            {
                "data": "iris",
                "method": name,
                "n_features": 4 if name == "none" else 2,
                "metric": "error",
            },
            percent(values),
        )
        for name, values in pairs.items()
    ]


def _weight_row(method: str, feature: str, values: Any) -> Measurement:
    case = {"data": "iris", "method": method, "feature": feature, "metric": "final weight"}
    return Measurement(case, percent(values))


def _errors(found: list[Any], name: str) -> list[float]:
    return [one["errors"][name] for one in found]


def _claims(found: list[Any], max_iter: int) -> list[Claim]:
    petals = {m: _weights(found, m)[:, sorted(PETALS)].sum(axis=1) for m in PAPER_METHODS}
    shares = ", ".join(f"{NAMES[m]} {100 * petals[m].mean():.0f} %" for m in PAPER_METHODS)
    tops = [
        set(np.argsort(-_weights(found, m), axis=1)[i, :2].tolist()) == PETALS
        for m in PAPER_METHODS
        for i in range(len(found))
    ]
    same = sum(set(one["fisher"]) == PETALS for one in found)
    two = np.mean([_errors(found, m) for m in PAPER_METHODS], axis=0)
    gain = 100 * (np.array(_errors(found, "all")) - two)
    low, high = Measurement({}, gain.tolist()).interval()
    between = f" ({low:.1f} to {high:.1f})" if gain.size > 1 else ""
    firsts = _lead_for_good(found)
    middle, last = np.median(firsts), max(firsts)
    return [
        Claim(
            "petals-all",
            all(p.mean() > NEARLY_ALL for p in petals.values()),
            f"together: {shares}; more than {NEARLY_ALL:.0%} is taken as nearly all",
        ),
        Claim(
            "same-as-fisher",
            _all_or_most([same == len(found), *tops]),
            f"Fisher ranks petal length and width first in {same} of {len(found)} splits, the "
            f"weights do in {sum(tops)} of {len(tops)} runs",
        ),
        Claim(
            "improves",
            surely(gain),
            f"all four columns minus the chosen two, per split: {gain.mean():.1f}{between} points "
            "of error",
        ),
        Claim(
            "quick",
            bool(middle <= QUICKLY * max_iter),
            f"both petal columns lead for good after {middle:.0f} trees (median), at most "
            f"{last:.0f}, of {max_iter}; a median within {QUICKLY:.0%} is taken as quickly",
        ),
    ]


def _all_or_most(parts: list[bool]) -> bool | None:
    return True if all(parts) else None if 2 * sum(parts) > len(parts) else False


def _lead_for_good(found: list[Any]) -> list[float]:
    """After how many trees the two petal columns have more weight than the others, for good."""
    firsts = []
    for one in found:
        for method in PAPER_METHODS:
            steps, path = one["paths"][method]
            ahead = [min(p[2], p[3]) > max(p[0], p[1]) for p in path]
            lasting = [all(ahead[i:]) for i in range(len(ahead))]
            firsts.append(steps[lasting.index(True)] if True in lasting else np.inf)
    return firsts


def _draw(figure: Any, found: list[Any]) -> None:
    """Figures 10 and 11: the weights on the way, of the first split."""
    axes = figure.subplots(1, 2, sharey=True)
    for ax, method in zip(axes, PAPER_METHODS, strict=True):
        steps, path = found[0]["paths"][method]
        for column, name in enumerate(COLUMNS):
            ax.plot(steps, np.array(path)[:, column], label=name)
        ax.set(title=NAMES[method], xlabel="steps", ylim=(0, 1))
    axes[0].set_ylabel("weight")
    axes[0].legend()
