"""Figures 8 and 9 of the DFT paper: DFT on principal components."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import in_part
from tamis_papers.dft._features import (
    Deep,
    accuracies,
    deep_features,
    load_features,
    number_of_networks,
    remarks_on_network,
)
from tamis_papers.dft._methods import (
    LEARNER_REMARK,
    has_xgboost,
    order_by,
    remarks_on_packages,
)
from tamis_papers.dft._tables import accuracy
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_NETWORKS = 3
DATA = ("mnist", "fashion-mnist")
COUNTS = (5, 10, 15, 20, 30, 40, 60, 100, 150)
FORMS = {"raw": "DFT", "components": "PCA + DFT"}
# Our reading of a sentence without "always": a tie or two among many points is no objection.
NEARLY_ALWAYS = 0.9
# "Saturates": within half a point of the accuracy with most features.
SATURATED = 0.5
TOP = (20, 40)
SATURATION = "number of features where accuracy saturates"

# Condition and form: a row per network, a column per count.
Values = NDArray[np.float64]
Curves = dict[tuple[str, str], Values]
Ranks = dict[tuple[str, str], list[list[int]]]


def run(run: ExperimentRun) -> ExperimentResult:
    """Accuracy over the number of features, raw and of components; ranks of what is chosen."""
    counts = (5, 15, 30, 100) if run.quick else COUNTS
    learner = "XGBoost" if has_xgboost() and not run.quick else "RF"
    n_networks = run.at_most(1 if run.quick else N_NETWORKS)
    plan = [
        deep_features(run, data, repeat=repeat)
        for data in (DATA[1:] if run.quick else DATA)
        for repeat in range(n_networks)
    ]
    accuracies(run, plan)
    curves = _curves(run, plan, counts, learner)
    ranks = _ranks(run, plan)
    instead = "" if learner == "XGBoost" else f"{learner} in place of XGBoost"
    return ExperimentResult(
        measurements=_measurements(curves, ranks, counts, learner, instead),
        claims=_claims(curves, ranks, counts),
        figures={
            "accuracy": lambda figure: _draw_curves(figure, curves, counts, learner),
            "ranks": lambda figure: _draw_ranks(figure, ranks),
        },
        remarks=[
            *remarks_on_network(run),
            "Components come from the training rows, centred and not scaled; all 400 are kept. A "
            f"curve is saturated from where it stays within {SATURATED} points of its last value; "
            "the paper does not say how it judges this.",
            number_of_networks(n_networks),
            LEARNER_REMARK,
            *([f"{instead}."] if instead else []),
            *remarks_on_packages(),
        ],
    )


def _curves(
    run: ExperimentRun, plan: Sequence[Deep], counts: Sequence[int], learner: str
) -> Curves:
    tasks = {
        (deep, form, count): UnitTask(
            f"fit/{deep.name}/{deep.repeat}/{form}/{count}/{learner}",
            accuracy_of_form, (deep, form, count, learner),
        )
        for deep in plan for form in FORMS for count in counts
    }  # fmt: skip
    found = run.units(tasks.values())
    rows: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for deep in plan:
        for form in FORMS:
            values = [found[tasks[deep, form, count].name] for count in counts]
            rows[deep.name, form].append(values)
    return {key: np.array(values) for key, values in rows.items()}


def _ranks(run: ExperimentRun, plan: Sequence[Deep]) -> Ranks:
    tasks = {
        (deep, form): UnitTask(
            f"ranks/{deep.name}/{deep.repeat}/{form}", ranks_by_variance, (deep, form)
        )
        for deep in plan
        for form in FORMS
    }
    found = run.units(tasks.values())
    ranks: Ranks = defaultdict(list)
    for (deep, form), task in tasks.items():
        ranks[deep.name, form].append(found[task.name])
    return dict(ranks)


def in_form(deep: Deep, form: str) -> tuple[Any, Any, Any, Any]:
    """Training and test rows, raw or as principal components of the training rows."""
    from sklearn.decomposition import PCA

    X, y, X_test, y_test, _ = load_features(deep)
    if form == "components":
        rotation = PCA(svd_solver="full").fit(X)
        X, X_test = rotation.transform(X), rotation.transform(X_test)
    return X, y, X_test, y_test


def accuracy_of_form(deep: Deep, form: str, count: int, learner: str) -> float:
    """Test accuracy with the first columns of DFT, in percent."""
    X, y, X_test, y_test = in_form(deep, form)
    seed = deep.seed + deep.repeat
    columns = order_by("dft", X, y, seed)[:count]
    return accuracy(learner, X, y, X_test, y_test, columns, seed)


def ranks_by_variance(deep: Deep, form: str) -> list[int]:
    """Places among all columns by variance, of the columns that DFT puts first."""
    X, y, _, _ = in_form(deep, form)
    order = order_by("dft", X, y, deep.seed)[: max(TOP)]
    places = np.empty(X.shape[1], dtype=int)
    places[np.argsort(-X.var(axis=0), kind="stable")] = np.arange(1, X.shape[1] + 1)
    return [int(place) for place in places[order]]


def saturates_at(accuracies: Sequence[float], counts: Sequence[int]) -> int:
    """Smallest number of features from which accuracy stays near its last value."""
    values = np.asarray(accuracies)
    low = np.flatnonzero(values < values[-1] - SATURATED)
    return counts[int(low[-1]) + 1] if low.size else counts[0]


def needed_for(target: float, accuracies: Sequence[float], counts: Sequence[int]) -> int | None:
    """Smallest number of features with at least the target; None where there is none."""
    enough = np.flatnonzero(np.asarray(accuracies) >= target)
    return counts[int(enough[0])] if enough.size else None


def _measurements(
    curves: Curves, ranks: Ranks, counts: Sequence[int], learner: str, note: str
) -> list[Measurement]:
    measured = []
    for (data, form), values in curves.items():
        case: dict[str, Any] = {"data": data, "method": FORMS[form]}
        saturated = [saturates_at(row, counts) for row in values]
        measured.append(
            Measurement(case | {"learner": "XGBoost", "metric": SATURATION}, saturated, note)
        )
        for column, count in enumerate(counts):
            named = case | {"learner": learner, "n_features": count, "metric": "accuracy"}
            measured.append(Measurement(named, values[:, column].tolist()))
    for (data, form), places in ranks.items():
        for top in TOP:
            for share, word in ((0.5, "median"), (0.9, "90 % quantile")):
                metric = f"{word} of the variance ranks"
                case = {"data": data, "method": FORMS[form], "n_features": top, "metric": metric}
                quantiles = [float(np.quantile(one[:top], share)) for one in places]
                measured.append(Measurement(case, quantiles))
    return measured


def _claims(curves: Curves, ranks: Ranks, counts: Sequence[int]) -> list[Claim]:
    names = list(dict.fromkeys(data for data, _ in curves))
    gains = {
        data: (curves[data, "components"] - curves[data, "raw"]).mean(axis=0) for data in names
    }
    better = np.mean([gain > 0 for gain in gains.values()])
    by_count = "; ".join(
        f"{data}: " + ", ".join(f"{g:+.1f} at {c}" for g, c in zip(gain, counts, strict=True))
        for data, gain in gains.items()
    )
    wide = {
        key: np.array([np.quantile(one[:40], 0.9) for one in places])
        for key, places in ranks.items()
    }
    narrow, spread = ([float(wide[data, form].mean()) for data in names]
                      for form in ("components", "raw"))  # fmt: skip
    words = "; ".join(
        f"{data}: with PCA {a:.0f}, without {b:.0f}"
        for data, a, b in zip(names, narrow, spread, strict=True)
    )
    evidence = f"nine in ten of the first 40 features have a variance rank up to: {words}"
    return [
        Claim("pca-better", in_part(float(better), NEARLY_ALWAYS),
              f"accuracy with PCA less that without, in points: {by_count}; above 0 at "
              f"{better:.0%} of the numbers, of which {NEARLY_ALWAYS:.0%} are taken as enough"),
        _fewer_needed(curves, counts),
        Claim("fig9-pca", all(value <= 50 for value in narrow), evidence),
        Claim("fig9-raw", all(b > a for a, b in zip(narrow, spread, strict=True)), evidence),
    ]  # fmt: skip


def _fewer_needed(curves: Curves, counts: Sequence[int]) -> Claim:
    """Whether fewer components do as well as raw features, at every number of these but the first.

    Not only where raw features saturate: that place hangs on half a point of accuracy.
    """
    shares, parts = [], []
    for data in dict.fromkeys(data for data, _ in curves):
        raw, rotated = (curves[data, form].mean(axis=0) for form in ("raw", "components"))
        needed = [needed_for(float(target), rotated, counts) for target in raw]
        fewer = [k is not None and k < n for k, n in zip(needed[1:], counts[1:], strict=True)]
        shares.append(float(np.mean(fewer)))
        words = ", ".join(
            f"{k or 'more than ' + str(counts[-1])} for {n}"
            for k, n in zip(needed, counts, strict=True)
        )
        parts.append(
            f"{data}: fewer in {sum(fewer)} of {len(fewer)} ({words}); saturation at "
            f"{saturates_at(rotated, counts)} and {saturates_at(raw, counts)}"
        )
    return Claim(
        "fewer-needed", in_part(min(shares), NEARLY_ALWAYS),
        "components that have at least the accuracy of so many raw features, on the numbers that "
        f"were tried; {NEARLY_ALWAYS:.0%} are taken as enough. " + "; ".join(parts),
    )  # fmt: skip


def _draw_curves(figure: Any, curves: Curves, counts: Sequence[int], learner: str) -> None:
    names = list(dict.fromkeys(data for data, _ in curves))
    for ax, data in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for form, label in FORMS.items():
            values = curves[data, form]
            ax.plot(counts, values.mean(axis=0), marker="o", label=label)
            if values.shape[0] > 1:
                ax.fill_between(counts, values.min(axis=0), values.max(axis=0), alpha=0.2)
        ax.set(title=data, xlabel="features", ylabel=f"test accuracy of {learner} (%)")
        ax.legend()


def _draw_ranks(figure: Any, ranks: Ranks) -> None:
    names = list(dict.fromkeys(data for data, _ in ranks))
    figure.set_size_inches(7.0, 1 + 2.6 * len(names))
    axes = figure.subplots(len(names), len(TOP), squeeze=False, sharex=True)
    edges = np.arange(0, 401, 20)
    for row, data in zip(axes, names, strict=True):
        for ax, top in zip(row, TOP, strict=True):
            chosen = [np.concatenate([one[:top] for one in ranks[data, form]]) for form in FORMS]
            weights = [np.full(c.size, 1 / len(ranks[data, "raw"])) for c in chosen]
            ax.hist(chosen, bins=edges, weights=weights, label=list(FORMS.values()))
            ax.set(title=f"{data}, first {top}", ylabel="features")
    for ax in axes[-1]:
        ax.set_xlabel("rank by variance")
    axes[0, 0].legend()
