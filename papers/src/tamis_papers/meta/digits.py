"""Figures 6 to 8 of the meta-features paper: Mufasa on the digits of MNIST."""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tamis.exceptions import SelectionWarning

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.result import ExperimentResult

MUFASA, RANDOM, RATE, GAIN = "Mufasa", "Rand Search", "Norm Infogain", "Infogain"
METHODS = (MUFASA, RATE, RANDOM, GAIN)
DEGREES = tuple(range(1, 9))
KINDS = ("location", "number of inputs", "random")
# Grey values go from 0 to 255.
MIDDLE = 127.5
# Sets that Mufasa tries; information gain sees as many times the budget.
FACTOR = 50
# Of which two folds choose, for the polynomial kernel.
STRENGTHS, WIDTHS = (1.0, 10.0, 100.0), (0.01, 0.1)
# Images of 4 and 9 to learn from, and as many to test on.
N_PAIR = 200
FIXED = {"shift": 1, "scatter": 2.0}


class DigitsPlan(NamedTuple):
    """Sizes of a run."""

    budgets: tuple[int, ...]
    degrees: tuple[int, ...]
    counts: tuple[int, ...]
    n_repeats: int
    n_steps: int
    n_train: int
    n_test: int


FULL = DigitsPlan((200, 500, 1000, 2000, 3000, 5000), DEGREES, (5, 10, 20, 50, 100, 200, 400),
                  20, 50, 2000, 10_000)  # fmt: skip
QUICK = DigitsPlan((200, 1000), (1, 2, 3), (10, 100), 2, 8, 500, 2000)


class Digits(NamedTuple):
    """Images and digits to learn from and to test on."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


def run(run: ExperimentRun) -> ExperimentResult:
    """Search at every budget, train the kernel machines, and compare two meta-features."""
    from tamis_papers.meta import digits_drawn as drawn
    from tamis_papers.meta import digits_shown as shown

    plan = QUICK if run.quick else FULL
    plan = plan._replace(n_repeats=run.at_most(plan.n_repeats))
    repeats = range(run.seed, run.seed + plan.n_repeats)
    searches = run.units(
        UnitTask(f"budget/{method}/{budget}/{repeat}", by_budget, (method, budget, repeat, plan))
        for repeat in repeats
        for budget in plan.budgets
        for method in METHODS
    )
    kernels = run.units(
        UnitTask(f"kernels/{repeat}", polynomials, (repeat, plan)) for repeat in repeats
    )
    places = run.units(
        UnitTask(f"place/{count}/{repeat}", by_place, (count, repeat, plan))
        for repeat in repeats
        for count in plan.counts
    )
    view = shown.DigitsView(plan, tuple(repeats), searches, kernels, places)
    return ExperimentResult(
        measurements=view.measurements(),
        claims=view.claims(),
        figures={
            "fig6": partial(drawn.draw_errors, view),
            "fig7": partial(drawn.draw_chosen, view),
            "fig8": partial(drawn.draw_places, view),
        },
        remarks=shown.remarks(plan),
    )


@lru_cache(maxsize=1)
def _mnist() -> Any:
    from tamis import datasets

    return datasets.load("mnist")


def draw_digits(repeat: int, n_train: int, n_test: int, only: tuple[int, ...] = ()) -> Digits:
    """Random training images, and test images: all of them, or a draw if fewer are wanted."""
    data = _mnist()
    wanted = np.isin(data.y, only) if only else np.ones(len(data.y), dtype=bool)
    train, test = np.flatnonzero(data.train & wanted), np.flatnonzero(data.test & wanted)
    rng = np.random.default_rng(repeat)
    rows = rng.choice(train, n_train, replace=False)
    rows_test = test if n_test >= test.size else rng.choice(test, n_test, replace=False)
    return Digits(data.X[rows], data.y[rows], data.X[rows_test], data.y[rows_test])


def by_budget(method: str, budget: int, repeat: int, plan: DigitsPlan) -> dict[str, Any]:
    """Test error of one method at one budget, and what it chose."""
    from tamis.meta import AndOrFeatures, Mufasa, NormalizedInformationGain, RandomSearch

    generator = AndOrFeatures(threshold=MIDDLE, n_jobs=1)
    digits = draw_digits(repeat, plan.n_train, plan.n_test)
    if method == GAIN:
        return by_gain(generator, digits, budget, repeat)
    limit: dict[str, Any] = {
        "generator": generator, "budget": float(budget), "random_state": repeat, "n_jobs": 1,
    }  # fmt: skip
    search = {
        MUFASA: lambda: Mufasa(n_steps=plan.n_steps, **limit),
        RANDOM: lambda: RandomSearch(n_steps=plan.n_steps, **limit),
        RATE: lambda: NormalizedInformationGain(factor=FACTOR, **limit),
    }[method]()
    return tested(search, digits)


def by_gain(generator: Any, digits: Digits, budget: int, repeat: int) -> dict[str, Any]:
    """The features of largest information gain, whatever they cost, as many as can be paid for."""
    rng = np.random.default_rng([repeat, 6])
    images = generator.pack(digits.X)
    features = generator.draw_any(rng, budget=float(FACTOR * budget))
    gain = np.asarray(generator.information_gain(images, digits.y, features))
    cost = np.asarray(generator.cost(features))
    order = np.argsort(-gain, kind="stable")
    chosen = generator.join(features, order[prefix_within(cost[order], budget)])
    seen = generator.measure(images, chosen)
    unseen = generator.measure(generator.pack(digits.X_test), chosen)
    return {"error": _error(seen, unseen, digits), "point": None, "n_features": len(chosen)}


def prefix_within(cost: NDArray[np.float64], budget: float) -> NDArray[np.intp]:
    """The first features whose costs add up to no more than the budget."""
    return np.flatnonzero(np.cumsum(cost) <= budget)


def tested(search: Any, digits: Digits) -> dict[str, Any]:
    """Search on the training images, train on all of them, and test."""
    generator = search.generator
    images, images_test = generator.pack(digits.X), generator.pack(digits.X_test)
    with warnings.catch_warnings():  # a window may hold one feature less than was asked for
        warnings.simplefilter("ignore", SelectionWarning)
        search.fit(images, digits.y)
    columns = search.transform(images), search.transform(images_test)
    point = search.best_point_
    return {
        "error": _error(*columns, digits),
        "point": None if point is None else {name: float(value) for name, value in point.items()},
        "n_features": int(search.n_selected_),
    }


def _error(columns: Any, columns_test: Any, digits: Digits) -> float:
    """Test error of a linear machine, in percent."""
    from tamis.linear_svm import FastLinearSVM

    machine = FastLinearSVM().fit(columns, digits.y)
    return float(100 * (1 - machine.score(columns_test, digits.y_test)))


def polynomials(repeat: int, plan: DigitsPlan) -> dict[str, float]:
    """Test error of machines with the kernel (1 + gamma x x')^degree on black and white pixels."""
    digits = draw_digits(repeat, plan.n_train, plan.n_test)
    bits, bits_test = (
        np.asarray(part > MIDDLE, dtype=np.float32) for part in (digits.X, digits.X_test)
    )
    # Inner products of bits are counts: one product of matrices serves all degrees and widths.
    shared, shared_test = (
        np.asarray(part @ bits.T, dtype=np.float64) for part in (bits, bits_test)
    )
    return {
        str(degree): kernel_error(shared, shared_test, digits.y, digits.y_test, degree)
        for degree in plan.degrees
    }


def kernel_error(shared: Any, shared_test: Any, y: Any, y_test: Any, degree: int) -> float:
    """Test error in percent; strength and width are chosen by two folds of the training part."""
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    best = (-1.0, STRENGTHS[0], WIDTHS[0])
    for width in WIDTHS:
        kernel = (1 + width * shared) ** degree
        kernel /= kernel.diagonal().mean()  # or the strengths would mean nothing at high degrees
        for strength in STRENGTHS:
            machine = SVC(C=strength, kernel="precomputed")
            score = float(cross_val_score(machine, kernel, y, cv=2).mean())
            best = max(best, (score, strength, width), key=lambda found: found[0])
    _, strength, width = best
    kernel = (1 + width * shared) ** degree
    scale = kernel.diagonal().mean()
    machine = SVC(C=strength, kernel="precomputed").fit(kernel / scale, y)
    accuracy = machine.score((1 + width * shared_test) ** degree / scale, y_test)
    return float(100 * (1 - accuracy))


def by_place(count: int, repeat: int, plan: DigitsPlan) -> dict[str, float]:
    """Tell 4 from 9 by features of a place, or of a number of inputs; figure 8."""
    from tamis.meta import AndOrFeatures, Mufasa, RandomSearch

    digits = draw_digits(repeat, N_PAIR, N_PAIR, only=(4, 9))
    options: dict[str, Any] = {"threshold": MIDDLE, "fixed": FIXED, "n_jobs": 1}
    place = AndOrFeatures(meta_features=("row", "column"), **options)
    inputs = AndOrFeatures(meta_features=("num_inputs",), **options)
    limit: dict[str, Any] = {"n_features_to_select": count, "random_state": repeat, "n_jobs": 1}
    searches = (
        Mufasa(generator=place, n_steps=plan.n_steps, **limit),
        Mufasa(generator=inputs, n_steps=plan.n_steps, **limit),
        RandomSearch(generator=inputs, n_steps=1, **limit),
    )
    return {
        kind: tested(search, digits)["error"] for kind, search in zip(KINDS, searches, strict=True)
    }
