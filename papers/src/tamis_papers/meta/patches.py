"""Figures 3 to 5 of the meta-features paper: patches, their predicted quality, and MF-PFS."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.result import ExperimentResult

# Images of a class to learn from and to test on.
DATA = {"coil20": (6, 30), "cbcl_faces": (300, 800)}
COUNTS = (10, 25, 50, 100, 200)
SOFT, SHARP, GAIN = "soft machine", "svm_weights", "information_gain"
METHODS = ("MF-PFS", "MF-PFS, alpha 0.6", "RFEall", "RFEsmall", "Baseline")
ALPHAS = {"MF-PFS": (0.4, 0.8, 1.0, 1.2), "MF-PFS, alpha 0.6": (0.6, 0.8, 1.0, 1.2)}
TOPS = (10, 20, 50, 100, 200, 500)


class PatchesPlan(NamedTuple):
    """Sizes of a run."""

    data: tuple[str, ...]
    counts: tuple[int, ...]
    n_repeats: int
    n_map: int


FULL = PatchesPlan(tuple(DATA), COUNTS, 20, 500)
QUICK = PatchesPlan(("coil20",), (10, 25), 2, 150)


class Measured(NamedTuple):
    """Prototypes of one repeat, measured on the training and on the test images."""

    train: NDArray[np.float64]
    y_train: NDArray[Any]
    test: NDArray[np.float64]
    y_test: NDArray[Any]
    meta: NDArray[np.float64]
    names: list[str]


def run(run: ExperimentRun) -> ExperimentResult:
    """Predict qualities and select, on every data set, in every repeat."""
    from tamis_papers.meta import patches_drawn as drawn
    from tamis_papers.meta import patches_shown as shown

    plan = QUICK if run.quick else FULL
    plan = plan._replace(n_repeats=run.at_most(plan.n_repeats))
    maps = run.units(
        UnitTask(f"map/{data}/{repeat}", predict_quality, (data, plan.n_map, run.seed + repeat))
        for data in plan.data
        for repeat in range(plan.n_repeats)
    )
    chosen = run.units(
        UnitTask(f"select/{data}/{count}/{repeat}", select, (data, count, run.seed + repeat))
        for data in plan.data
        for count in plan.counts
        for repeat in range(plan.n_repeats)
    )
    view = shown.PatchesView(plan, maps, chosen)
    return ExperimentResult(
        measurements=view.measurements(),
        claims=view.claims(),
        figures={
            "fig3": partial(drawn.draw_shape, view),
            "fig4": partial(drawn.draw_map, view),
            "fig5": partial(drawn.draw_selection, view),
        },
        remarks=[f"{plan.n_repeats} repeat{'s' if plan.n_repeats > 1 else ''}.", *shown.REMARKS],
    )


def soft_machine(X: Any, y: Any) -> NDArray[np.float64]:
    """Squared weights of a soft linear machine on centred columns of any deviation."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=0.1, tol=1e-3, max_iter=5000, random_state=0)
    machine.fit(X - X.mean(axis=0), y)
    return np.asarray((machine.coef_**2).sum(axis=0))


QUALITIES: dict[str, Any] = {SOFT: soft_machine, SHARP: SHARP, GAIN: GAIN}


@lru_cache(maxsize=2)
def _images(data: str) -> tuple[Any, NDArray[Any]]:
    from tamis import datasets

    bunch: Any = datasets.load(data)
    return np.asarray(bunch.X), np.asarray(bunch.y)


def measured(data: str, n_prototypes: int, seed: int) -> Measured:
    """Draw images and prototypes from the training images, and measure all of them."""
    from tamis.meta import PatchPrototypes

    X, y = _images(data)
    train, test = split(y, data, np.random.default_rng(seed))
    patches = PatchPrototypes(n_prototypes=n_prototypes, random_state=seed, n_jobs=1)
    patches.fit(X[train])
    return Measured(
        patches.transform(X[train]), y[train], patches.transform(X[test]), y[test],
        np.asarray(patches.meta_), list(patches.meta_names_),
    )  # fmt: skip


def split(
    y: NDArray[Any], data: str, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test images, the same number of every class."""
    n_train, n_test = DATA[data]
    train, test = [], []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        train.append(rows[:n_train])
        test.append(rows[n_train : n_train + n_test])
    return np.concatenate(train), np.concatenate(test)


def predict_quality(data: str, n_map: int, seed: int) -> dict[str, Any]:
    """Quality of some prototypes, predicted from that of others; figures 3 and 4."""
    table = measured(data, 2 * n_map, seed)
    # Halves that are alike: every second image of every class.
    order = np.argsort(np.concatenate([table.y_train, table.y_test]), kind="stable")
    values = np.vstack([table.train, table.test])[order]
    labels = np.concatenate([table.y_train, table.y_test])[order]
    found: dict[str, Any] = {
        name: _predicted(values, labels, table, quality, n_map, seed)
        for name, quality in QUALITIES.items()
    }
    for name, column in (("size", "size"), ("deviation", "deviation")):
        found[name] = table.meta[:, _place(table.names, column)].round(4).tolist()
    found["names"] = table.names
    return found


def _place(names: list[str], word: str) -> int:
    return next(k for k, name in enumerate(names) if word in name)


def _predicted(
    values: Any, y: Any, table: Measured, quality: Any, n_map: int, seed: int
) -> dict[str, Any]:
    from tamis.meta import QualityMap, measure_quality

    first, second = slice(n_map), slice(n_map, 2 * n_map)
    known = measure_quality(quality, values[:, first], y, n_jobs=1)
    hidden = measure_quality(quality, values[:, second], y, n_jobs=1)

    def told(columns: list[int]) -> NDArray[np.float64]:
        fitted = QualityMap(random_state=seed).fit(table.meta[first][:, columns], known)
        return np.asarray(fitted.predict(table.meta[second][:, columns]))

    everything = list(range(table.meta.shape[1]))
    predicted = told(everything)
    found = correlation(predicted, hidden)
    halves = [measure_quality(quality, values[i::2, second], y[i::2], n_jobs=1) for i in (0, 1)]
    return {
        "correlation": found,
        "repeatable": correlation(*halves),
        "drops": [
            found - correlation(told([j for j in everything if j != k]), hidden) for k in everything
        ],
        "known": _short(known),
        "hidden": _short(hidden),
        "predicted": _short(predicted),
    }


def correlation(a: Any, b: Any) -> float:
    """Pearson's."""
    return float(np.corrcoef(a, b)[0, 1])


def _short(values: Any) -> list[float]:
    return [float(f"{value:.5g}") for value in np.asarray(values)]


def select(data: str, count: int, seed: int) -> dict[str, dict[str, list[float]]]:
    """Accuracy on test images and number measured of every method; figure 5."""
    table = measured(data, 10 * count, seed)
    return {quality: _selected(table, quality, count, seed) for quality in (SOFT, SHARP)}


def _selected(table: Measured, quality: str, count: int, seed: int) -> dict[str, list[float]]:
    from tamis.meta import MFPFS, ArraySource, SourceRandom, SourceRFE

    options: dict[str, Any] = {"n_features_to_select": count, "random_state": seed}
    scored = {**options, "quality": QUALITIES[quality], "n_jobs": 1}
    found: dict[str, list[float]] = {}
    for name in METHODS:
        if name in ALPHAS:
            method: Any = MFPFS(alphas=ALPHAS[name], **scored)
        elif name == "Baseline":
            method = SourceRandom(**options)
        else:
            few = int(found["MF-PFS"][1]) if name == "RFEsmall" else None
            method = SourceRFE(n_measured=few, **scored)
        method.fit(ArraySource(table.train, table.meta), table.y_train)
        columns = np.flatnonzero(method.support_)
        machine = classifier(quality).fit(table.train[:, columns], table.y_train)
        accuracy = 100 * machine.score(table.test[:, columns], table.y_test)
        # Prototypes drawn at random are measured when they are used.
        found[name] = [float(accuracy), float(max(method.n_measured_, count))]
    return found


def classifier(quality: str) -> Any:
    """A linear machine on columns of the kind that the quality saw."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    sharp = quality == SHARP
    machine = LinearSVC(C=0.1 if sharp else 10.0, tol=1e-3, max_iter=5000, random_state=0)
    return make_pipeline(StandardScaler(with_std=sharp), machine)
