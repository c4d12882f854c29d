"""Linear SVMs with hinge loss and a free intercept, for several binary problems at once."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tamis._columns import turned_columns
from tamis._runtime.compilation import announce_compilation
from tamis._runtime.warning import warn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Up to this many rows a Gram matrix is kept whatever the number of columns (32 MB).
FEW_ROWS = 2000
# From this many rows per column on, train on the columns, not on a Gram matrix.
LONG = 8


class Rows(NamedTuple):
    """Rows that carry weight, sorted by class; `columns` has a row for each column of the table."""

    rows: NDArray[np.intp]
    columns: Floats
    codes: NDArray[np.int32]
    weight: Floats


def read_rows(
    X: Any, codes: NDArray[np.int32], weight: Floats | None, varies: NDArray[np.intp], scale: bool
) -> Rows:
    """Centred columns of the rows that carry weight, sorted by class; missing cells are 0."""
    from tamis.linear_svm import hinge_kernels as kernels

    kept = np.arange(codes.size) if weight is None else np.flatnonzero(weight > 0)
    rows = kept[np.argsort(codes[kept], kind="stable")]
    share = np.ones(rows.size) if weight is None else weight[rows]
    columns = turned_columns(X, varies, rows)
    with announce_compilation(kernels.centre):
        kernels.centre(columns, share, scale)
    return Rows(rows, columns, codes[rows], share)


class BinaryProblems(NamedTuple):
    """Binary problems that share a table whose rows are sorted by class.

    A problem uses two ranges of rows, ``ranges[m] = (a0, a1, b0, b1)``. Its part of the other
    arrays, which hold one problem after the other, is ``starts[m]`` to ``starts[m + 1]``.
    """

    ranges: Ints
    starts: Ints
    sign: Floats
    low: Floats
    high: Floats


def make_problems(codes: NDArray[np.int32], price: Floats, multi_class: str) -> BinaryProblems:
    """Problems for all pairs of classes ("ovo"), or every class against the rest ("ovr").

    `codes` are the sorted classes of the rows, `price` the cost of a unit of slack of each.
    """
    n_rows, n_classes = codes.size, int(codes[-1]) + 1
    ends = np.searchsorted(codes, np.arange(n_classes + 1))
    if multi_class == "ovo" or n_classes == 2:
        pairs = combinations(range(n_classes), 2)
        ranges = [(a, (ends[a], ends[a + 1], ends[b], ends[b + 1])) for a, b in pairs]
    else:
        ranges = [(a, (0, n_rows, n_rows, n_rows)) for a in range(n_classes)]
    rows = [np.r_[a0:a1, b0:b1] for _, (a0, a1, b0, b1) in ranges]
    parts = zip(ranges, rows, strict=True)
    sign = np.concatenate([np.where(codes[part] == a, 1.0, -1.0) for (a, _), part in parts])
    signed = sign * price[np.concatenate(rows)]
    return BinaryProblems(
        np.array([bounds for _, bounds in ranges], dtype=np.int64),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        sign,
        np.minimum(signed, 0.0),
        np.maximum(signed, 0.0),
    )


def is_long(n_rows: int, n_columns: int) -> bool:
    """Whether a table is so long that training on its columns is cheaper and smaller."""
    return n_rows > FEW_ROWS and n_rows > LONG * n_columns


def calm_blas(wanted: bool) -> AbstractContextManager[Any]:
    """One thread in the BLAS: its many small products would spend their time waking threads."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    return threadpool_limits(limits=1, user_api="blas") if wanted else nullcontext()


def train_problems(
    columns: Floats, problems: BinaryProblems, beta: Floats, tol: float, max_iter: int
) -> float:
    """Train every problem from the signed multipliers in `beta`, which are changed.

    `columns` is the transposed table. Returns the largest violation of the optimality conditions.
    """
    from tamis.linear_svm import hinge_kernels as kernels

    if not is_long(columns.shape[1], columns.shape[0]):
        with announce_compilation(kernels.train_problems):
            gram = columns.T @ columns
            return float(kernels.train_problems(gram, *problems, beta, tol, max_iter))
    worst = 0.0
    for (a0, a1, b0, b1), ends in zip(problems.ranges, pairwise(problems.starts), strict=True):
        here = slice(*ends)
        sign, price = problems.sign[here], (problems.high - problems.low)[here]
        whole = sign.size == columns.shape[1]
        rows = (columns if whole else columns[:, np.r_[a0:a1, b0:b1]]) * sign
        alpha, gap = interior_point(np.vstack([rows, sign]), price, tol)
        beta[here] = alpha * sign
        worst = max(worst, gap)
    return worst


def squared_weights(columns: Floats, problems: BinaryProblems, beta: Floats) -> Floats:
    """Squared weight of every column, summed over the problems."""
    from tamis.linear_svm import hinge_kernels as kernels

    out = np.empty(columns.shape[0])
    with announce_compilation(kernels.squared_weights):
        kernels.squared_weights(
            columns, np.arange(columns.shape[0]), problems.ranges, problems.starts, beta, out
        )
    return out


def warn_unless_solved(gap: float, tol: float, who: str) -> None:
    """Warn if the solver stopped before an optimum."""
    if gap > max(tol, 1e-6):
        warn(
            f"{who}: an SVM still violated its optimality conditions by {gap:.2g} when its "
            "steps were used up. Scale the columns (scale=True), raise max_iter, or lower C."
        )


class _Point(NamedTuple):
    """Multipliers, weights with the intercept, and the slopes at the two ends of the boxes."""

    alpha: Floats
    weights: Floats
    at_low: Floats
    at_high: Floats


def interior_point(rows: Floats, price: Floats, tol: float) -> tuple[Floats, float]:
    """Multipliers of one problem, by Mehrotra's predictor and corrector, and the relative gap left.

    `rows`, (n_columns + 1, n_rows), are the columns times the sign of the class, last the signs.
    """
    ridge = np.ones(rows.shape[0])
    ridge[-1] = 0.0  # the intercept is free
    scale = max(1.0, float(np.sqrt(np.einsum("ij,ij->j", rows, rows).max())))
    point = _Point(
        price / 2, np.zeros(rows.shape[0]), np.full_like(price, scale), np.full_like(price, scale)
    )
    best = point.alpha, np.inf
    in_vain = 0
    with np.errstate(all="ignore"):  # at the end of what rounding allows, steps turn NaN
        for _ in range(100):
            gap = _relative_gap(rows, price, point)
            in_vain = 0 if gap < best[1] else in_vain + 1
            if gap < best[1]:
                best = point.alpha, gap
            if gap <= 1e-3 * tol or in_vain > 4:
                break
            step = _newton(rows, price, ridge, point)
            if step is None:
                break
            point = step
    return best


def _relative_gap(rows: Floats, price: Floats, point: _Point) -> float:
    """Price of the slack plus squared weights, less the value of the dual, relative to it."""
    weights = rows @ point.alpha
    dual = point.alpha.sum() - 0.5 * float(weights[:-1] @ weights[:-1])
    slack = np.maximum(1.0 - point.weights @ rows, 0.0)
    primal = price @ slack + 0.5 * float(point.weights[:-1] @ point.weights[:-1])
    return float(primal - dual) / max(abs(float(primal)), 1e-300) + abs(weights[-1]) / price.sum()


def _newton(rows: Floats, price: Floats, ridge: Floats, point: _Point) -> _Point | None:
    """Go one step: first look how far the plain direction leads, then aim for that centre."""
    alpha, weights, at_low, at_high = point
    room = price - alpha
    if not room.min() > 0.0:
        return None
    residual = weights @ rows - 1.0 - at_low + at_high
    misfit = ridge * weights - rows @ alpha
    inverse = 1.0 / (at_low / alpha + at_high / room)
    scaled = rows * np.sqrt(inverse)
    matrix = scaled @ scaled.T
    matrix[np.diag_indices_from(matrix)] += ridge
    try:
        factor = cho_factor(matrix, check_finite=False)
    except np.linalg.LinAlgError:
        return None

    def direction(low_aim: Floats, high_aim: Floats) -> _Point:
        right = low_aim / alpha - high_aim / room - residual
        move = cho_solve(factor, rows @ (inverse * right) - misfit, check_finite=False)
        shift = inverse * (right - move @ rows)
        return _Point(
            shift, move, (low_aim - at_low * shift) / alpha, (high_aim + at_high * shift) / room
        )

    def longest(step: _Point) -> float:
        sides = (alpha, room, at_low, at_high)
        pairs = zip(sides, (step.alpha, -step.alpha, step.at_low, step.at_high), strict=True)
        return min(float((-x[d < 0] / d[d < 0]).min(initial=1e30)) for x, d in pairs)

    centre = float(at_low @ alpha + at_high @ room) / (2 * alpha.size)
    plain = direction(-at_low * alpha, -at_high * room)
    if not np.isfinite(plain.alpha).all():
        return None
    far = min(1.0, longest(plain))
    reached = (at_low + far * plain.at_low) @ (alpha + far * plain.alpha)
    reached += (at_high + far * plain.at_high) @ (room - far * plain.alpha)
    aim = centre * (float(reached) / (2 * alpha.size) / centre) ** 3
    step = direction(
        aim - at_low * alpha - plain.at_low * plain.alpha,
        aim - at_high * room + plain.at_high * plain.alpha,
    )
    far = min(1.0, 0.995 * longest(step))
    if not far > 1e-10:
        return None
    return _Point(*(x + far * d for x, d in zip(point, step, strict=True)))
