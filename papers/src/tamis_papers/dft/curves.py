"""Figures 3 and 4 of the DFT paper: sorted scores and their elbows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import all_sure
from tamis_papers.dft._features import (
    Deep,
    accuracies,
    deep_features,
    load_features,
    remarks_on_network,
)
from tamis_papers.dft._methods import (
    IMPORTANCE_REMARK,
    boosted_trees,
    fitted,
    has_xgboost,
    known,
    remarks_on_packages,
)
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_DRAWS = 20
CLASSES = {
    "anova": "ANOVA F",
    "correlation": "|correlation|",
    "importance": "XGBoost importance",
    "dft": "DFT",
}
NUMBERS = {
    "variance": "variance",
    "correlation": "|correlation|",
    "importance_50": "XGBoost importance",
    "rft": "RFT",
}
TREES = (50, 100, 300)
# Trees of the paper's timing, and XGBoost's default: which one the figure has is not said.
DEPTHS = (1, 6)
# "Saturates": importance is below this share of the largest.
NEGLIGIBLE = 0.01
SATURATION = 24
LEVEL = 0.05
DATA = "fashion-mnist LeNet-5 features, 400"
BEND = "bend of the sorted scores (0 straight, 1 right angle)"
SPREAD = "standard deviation of the late elbow over draws (features)"

Curves = dict[str, list[dict[str, Any]]]
# By method and what was measured.
Numbers = dict[str, dict[str, list[float]]]
# By depth and number of trees.
Counts = Mapping[tuple[int, int], float]


def run_classes(run: ExperimentRun) -> ExperimentResult:
    """Four methods for classes."""
    curves = _curves(run, CLASSES)
    numbers = _numbers(curves)
    return ExperimentResult(
        measurements=_measurements(numbers, CLASSES),
        claims=[
            _clearer("dft-elbow", "dft", ("anova", "correlation"), numbers, CLASSES),
            _clearer("fi-knee", "importance", ("anova", "correlation"), numbers, CLASSES),
            _less_obvious(numbers),
        ],
        figures={"curves": lambda figure: _draw(figure, curves, CLASSES)},
        remarks=[
            *remarks_on_network(run),
            _measure_remark(curves),
            IMPORTANCE_REMARK,
            *remarks_on_packages(),
        ],
    )


def run_numbers(run: ExperimentRun) -> ExperimentResult:
    """Four methods for a numeric target, and the importance of more trees."""
    curves = _curves(run, NUMBERS)
    numbers = _numbers(curves)
    counts = _used_by_trees(run)
    measured = _measurements(numbers, NUMBERS)
    for (depth, trees), count in counts.items():
        deeper = "" if depth == DEPTHS[0] else f" of depth {depth}"
        name = f"feature importance (XGBoost regressor, {trees} trees{deeper})"
        metric = "number of features until saturation"
        measured.append(Measurement({"data": DATA, "method": name, "metric": metric}, [count]))
    return ExperimentResult(
        measurements=measured,
        claims=[
            _clearer("rft-elbow", "rft", ("variance", "correlation"), numbers, NUMBERS),
            *_saturation(counts),
        ],
        figures={"curves": lambda figure: _draw(figure, curves, NUMBERS)},
        remarks=[
            *remarks_on_network(run),
            _measure_remark(curves),
            "The depth of the XGBoost regressor is not given. The curve has trees of depth one, as "
            "in the paper's timing; that was chosen after seeing that 50 trees of the default "
            "depth of six use far more than 24 features, so both are counted. Features count until "
            "their importance is below 1 % of the largest, which is our reading.",
            *remarks_on_packages(),
        ],
    )


def _measure_remark(curves: Curves) -> str:
    n_draws = len(next(iter(curves.values()))) - 1
    plural = " tells" if n_draws == 1 else "s tell"
    return (
        "The paper reads elbows by eye; what is obvious is our reading. Here an elbow is more "
        "obvious than another if the curve bends more and if other draws of the rows bend at the "
        "same place more often. The bend is the largest distance of the sorted scores from the "
        "straight line between their ends, in a unit square; the place is that of the late elbow. "
        f"{n_draws} bootstrap draw{plural} what is sure: the order of the bends in 95 % of them, "
        "and an F test of the variances of the places."
    )


def _curves(run: ExperimentRun, methods: Mapping[str, str]) -> Curves:
    """Sorted scores of every method: on all rows, then on bootstrap draws."""
    deep = deep_features(run, "fashion-mnist")
    accuracies(run, [deep])
    draws = range(1 + run.at_most(4 if run.quick else N_DRAWS))
    tasks = [
        UnitTask(f"{method}/{draw}", sorted_scores, (deep, method, draw))
        for method in known(methods)
        for draw in draws
    ]
    found = run.units(tasks)
    return {method: [found[f"{method}/{draw}"] for draw in draws] for method in known(methods)}


def sorted_scores(deep: Deep, method: str, draw: int) -> dict[str, Any]:
    """Scores in descending order and the elbows; draw 0 is the table as it is."""
    from tamis.cutoff import find_elbows

    features = load_features(deep)
    rows = np.arange(features.y.size)
    if draw:
        rows = deep.draws(10 + draw).choice(rows, rows.size)
    y = features.y[rows].astype(float) if method in NUMBERS else features.y[rows]
    scores = np.sort(fitted(method, features.X[rows], y, deep.seed).scores_)[::-1]
    early, late = find_elbows(scores)
    return {"curve": scores.tolist(), "early": early, "late": late}


def bend(curve: Sequence[float]) -> float:
    """Largest distance from the chord, in a unit square, along the axis."""
    height = _unit(curve)
    return float(np.abs(1 - np.linspace(0, 1, height.size) - height).max())


def _unit(curve: Sequence[float]) -> NDArray[np.float64]:
    values = np.asarray(curve, dtype=np.float64)
    extent = values[0] - values[-1]
    return (values - values[-1]) / extent if extent > 0 else np.linspace(1, 0, values.size)


def _numbers(curves: Curves) -> Numbers:
    """Bend, curvature and elbows of every method: all rows first, then the draws."""
    return {
        method: {
            BEND: [bend(one["curve"]) for one in found],
            SPREAD: _spread([one["late"] for one in found[1:]]),
            "early elbow": [one["early"] for one in found],
            "late elbow": [one["late"] for one in found],
        }
        for method, found in curves.items()
    }


def _spread(places: Sequence[float]) -> list[float]:
    """Standard deviation of the draws; nothing of a single one."""
    return [float(np.std(places, ddof=1))] if len(places) > 1 else []


def _measurements(numbers: Numbers, names: Mapping[str, str]) -> list[Measurement]:
    return [
        Measurement({"data": DATA, "method": names[method], "metric": metric}, values)
        for method, found in numbers.items()
        for metric, values in found.items()
        if values
    ]


def _clearer(
    claim: str,
    method: str,
    others: Sequence[str],
    numbers: Numbers,
    names: Mapping[str, str],
) -> Claim:
    """Whether the elbow of a method is more obvious than that of others, by both measures."""
    if method not in numbers:
        return Claim(claim, None, "xgboost is not installed", tested=False)
    wins = [won for other in others for won in more_obvious(numbers[method], numbers[other])]
    values = "; ".join(f"{names[one]}: {_words(numbers[one])}" for one in (method, *others))
    return Claim(claim, all_sure(wins), values)


def more_obvious(
    one: dict[str, list[float]], other: dict[str, list[float]]
) -> tuple[bool | None, bool | None]:
    """Whether one bends more than the other, and at a place that varies less; None if not sure."""
    return _bends_more(one[BEND][1:], other[BEND][1:]), _is_steadier(one, other)


def _bends_more(one: Sequence[float], other: Sequence[float]) -> bool | None:
    if len(one) < 2:
        return None
    share = float(np.mean(np.greater(one, other)))
    return True if share >= 1 - LEVEL else False if share <= LEVEL else None


def _is_steadier(one: dict[str, list[float]], other: dict[str, list[float]]) -> bool | None:
    """By an F test of the variances of the late elbow over the draws."""
    from scipy.stats import f

    if not one[SPREAD]:
        return None
    mine, theirs = (found[SPREAD][0] ** 2 for found in (one, other))
    if mine == theirs:
        return None
    free = len(one["late elbow"]) - 2
    ratio = max(mine, theirs) / max(min(mine, theirs), np.finfo(float).tiny)
    return mine < theirs if 2 * f.sf(ratio, free, free) < LEVEL else None


def _words(found: dict[str, list[float]]) -> str:
    spread = f", the late one +- {found[SPREAD][0]:.0f}" if found[SPREAD] else ""
    return (
        f"bend {np.mean(found[BEND]):.2f}, elbows at {found['early elbow'][0]:.0f} and "
        f"{found['late elbow'][0]:.0f}{spread}"
    )


def _less_obvious(numbers: Numbers) -> Claim:
    """Whether DFT and importance both bend more, and more steadily, than the other two."""
    strong = [method for method in ("dft", "importance") if method in numbers]
    pairs = [(one, other) for one in strong for other in ("anova", "correlation")]
    wins = [more_obvious(numbers[one], numbers[other]) for one, other in pairs]
    bending = {True: "bends more", False: "bends less", None: "bends alike"}
    places = {True: "steadier", False: "less steady", None: "not surely steadier"}
    words = "; ".join(
        f"{CLASSES[one]} against {CLASSES[other]}: {bending[bends]}, {places[steadier]}"
        for (one, other), (bends, steadier) in zip(pairs, wins, strict=True)
    )
    return Claim("anova-corr-less", all_sure([won for pair in wins for won in pair]), words)


def _used_by_trees(run: ExperimentRun) -> dict[tuple[int, int], float]:
    if not has_xgboost():
        return {}
    deep = deep_features(run, "fashion-mnist")
    tasks = {
        (depth, trees): UnitTask(
            f"trees/{trees}" if depth == DEPTHS[0] else f"trees/{trees}/depth {depth}",
            features_in_use, (deep, trees, depth),
        )
        for depth in DEPTHS
        for trees in TREES
    }  # fmt: skip
    found = run.units(tasks.values())
    return {key: found[task.name] for key, task in tasks.items()}


def features_in_use(deep: Deep, n_trees: int, depth: int) -> int:
    """Features whose importance is more than 1 % of the largest."""
    features = load_features(deep)
    model = boosted_trees("XGBRegressor", deep.seed, n_estimators=n_trees, max_depth=depth)
    importance = model.fit(features.X, features.y.astype(float)).feature_importances_
    return int((importance > NEGLIGIBLE * importance.max()).sum())


def _saturation(counts: Counts) -> list[Claim]:
    if not counts:
        return [Claim(name, None, "xgboost is not installed", tested=False)
                for name in ("fi-saturates", "more-trees")]  # fmt: skip
    words = "; ".join(
        f"depth {depth}: "
        + ", ".join(f"{counts[depth, trees]:.0f} with {trees} trees" for trees in TREES)
        for depth in DEPTHS
    )
    words = f"features of more than 1 % of the largest importance, {words}"
    near = [SATURATION / 1.5 <= counts[depth, TREES[0]] <= SATURATION * 1.5 for depth in DEPTHS]
    grows = [
        all(counts[depth, a] < counts[depth, b] for a, b in pairwise(TREES)) for depth in DEPTHS
    ]
    return [
        Claim("fi-saturates", all_sure(near), f"{words}; about 24 is taken as 16 to 36"),
        Claim(
            "more-trees", all_sure(grows),
            f"{words}. With depth one it could hardly be otherwise: 50 trees cannot use more than "
            "50 features",
        ),
    ]  # fmt: skip


def _draw(figure: Any, curves: Curves, names: Mapping[str, str]) -> None:
    figure.set_size_inches(8.0, 6.0)
    axes = list(figure.subplots(2, 2).flat)
    for ax in axes[len(curves) :]:
        ax.set_visible(False)
    for ax, (method, found) in zip(axes, curves.items(), strict=False):
        for one in found[1:]:
            ax.plot(one["curve"], color="0.8", linewidth=0.7)
        whole = found[0]
        ax.plot(whole["curve"], color="black", label="all rows")
        for which, color in (("early", "tab:orange"), ("late", "tab:blue")):
            label = f"{which} elbow: {whole[which]}"
            ax.axvline(whole[which], color=color, linestyle="--", label=label)
        ax.set(title=names[method], xlabel="features, best first", ylabel="score")
        ax.legend()
