"""Learning the weights, and the error of classifiers on drawn columns, for all OFW experiments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Evaluations at the uniform weights, before learning: they tell how much errors differ.
PILOT = 1000
# The paper gives no step size. Here one standard deviation of the error of uniform draws moves the
# logarithm of a drawn column's weight by so much at first, or the weight itself in units of the
# uniform one. For errors that deviate by 6 % this is the default of the library's Riemannian
# process; small errors, which deviate less, need larger steps.
FIRST_MOVE = 0.03
# Parts of a fixed set of test rows.
N_PARTS = 10
NAMES = {
    "riemannian": "stochastic exponential gradient",
    "euclidean": "stochastic Euclidean gradient",
    "diffusion": "reflected diffusion",
}
STEP_REMARK = (
    "The paper gives neither step size nor number of steps. When the error is one deviation, among "
    "uniform draws, off its mean, the first step moves the logarithm of a drawn weight by "
    f"{FIRST_MOVE} (exponential), or the weight by {FIRST_MOVE} of the uniform one (diffusion); "
    "some evaluations at uniform weights come first, to measure that. After first results had been "
    "seen, the step of the diffusion was brought to the same relative size as the other, and the "
    "start of the library's baseline was changed."
)


class Learned(NamedTuple):
    """Weights, and the mean error of drawn classifiers on bootstrap samples of the training rows.

    The pilot is the first point: the energy of the uniform weights.
    """

    weights: Floats
    evaluations: list[int]
    energy: list[float]
    path: Floats
    path_evaluations: list[int]
    status: str

    @property
    def before(self) -> float:
        """Mean error of uniform draws."""
        return self.energy[0]

    @property
    def after(self) -> float:
        """Mean error of draws at the end: the last tenth of the evaluations."""
        return float(np.mean(self.energy[-max(1, len(self.energy) // 10) :]))


def learn(
    X: Any, y: Any, *, method: str, max_iter: int, seed: int, pilot: int = PILOT, **options: Any
) -> Learned:
    """Learn weights with steps made to the measure of the errors."""
    from tamis import OFW
    from tamis.weighting import default_schedule

    # With an offset that large no step is taken for the last one.
    selector = OFW(
        method=method, max_iter=pilot, step=1e-12, random_state=seed, warm_start=True, n_jobs=1,
        noise=0.0, n_features_to_select=1, step_offset=1e12, **options,
    )  # fmt: skip
    selector.fit(X, y)
    n_pilot = len(selector.energy_)
    chunk = pilot / n_pilot
    before = float(np.mean(selector.energy_))
    deviation = math.sqrt(float(np.mean(selector.energy_error_**2)) * chunk)
    n_columns = int((selector.weights_ > 0).sum())
    first = FIRST_MOVE / max(deviation, 1e-3)
    scale = 1.0 if method == "riemannian" else float(n_columns) ** -2
    _, offset = default_schedule(method, n_columns, selector.subset_size_)
    selector.set_params(
        step=first * scale * offset, step_offset=offset, max_iter=max_iter, noise=OFW().noise
    )
    selector.fit(X, y)
    here = selector.energy_evaluations_ > pilot
    on_path = [i for i, n in enumerate(selector.path_evaluations_) if n >= pilot]
    return Learned(
        np.asarray(selector.weights_),
        [0, *(selector.energy_evaluations_[here] - pilot).tolist()],
        [before, *selector.energy_[here].tolist()],
        np.asarray(selector.weights_path_, dtype=np.float64)[on_path],
        [selector.path_evaluations_[i] - pilot for i in on_path],
        selector.status_,
    )


def draw_columns(weights: Floats | None, n_columns: int, size: int, seed: Any) -> NDArray[np.intp]:
    """Columns drawn with replacement, each once; None is uniform."""
    random = np.random.default_rng(seed)
    p = None if weights is None else weights / weights.sum()
    return np.unique(random.choice(n_columns, size=size, p=p))


def drawn_predictions(
    machine: Callable[[], Any],
    weights: Floats | None,
    size: int,
    n_draws: int,
    seed: int,
    data: Any,
) -> list[NDArray[Any]]:
    """Predictions for the test rows by classifiers on drawn columns, one array per draw.

    `data` is training table, its classes, and test table.
    """
    train, classes, test = data
    found = []
    for draw in range(n_draws):
        columns = draw_columns(weights, train.shape[1], size, [seed, draw])
        found.append(machine().fit(train[:, columns], classes).predict(test[:, columns]))
    return found


def best(scores: Any, n_columns: int) -> NDArray[np.intp]:
    """Columns of the largest scores; of equal ones the first."""
    return np.argsort(-np.asarray(scores), kind="stable")[:n_columns]


def ten_parts(truth: Any) -> NDArray[np.intp]:
    """Part, 0 to 9, of every test row; all parts have the same shares of the classes.

    A test part is one and fixed; how much an error differs between its parts tells how sure it is.
    """
    truth = np.asarray(truth)
    part = np.empty(truth.size, dtype=np.intp)
    for label in np.unique(truth):
        rows = np.flatnonzero(truth == label)
        part[rows] = np.arange(rows.size) % N_PARTS
    return part


def thinned(values: Any, most: int = 200) -> list[Any]:
    """At most so many points of a curve, first and last among them."""
    values = list(values)
    where = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
    return [values[i] for i in where]


def percent(values: Any) -> list[float]:
    """Shares in percent."""
    return [100.0 * float(value) for value in values]


def listed(values: Any, digits: int = 1) -> str:
    """Numbers for a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)
