"""The stochastic gradient loop of OFW, in chunks after which a run can be stored and resumed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime import checkpoint
from tamis._runtime.compilation import announce_compilation
from tamis.weighting._estimators import Errors

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Evaluations between two moments at which a run can be stored, stopped or looked at.
CHUNK = 200
# Normal numbers that are drawn at a time for the diffusion.
MOST_NOISE = 1_000_000
# The baseline is the mean of about so many errors before the step, or of all while there are
# fewer. Beginning at the error of chance would, where errors are small, reward every column that
# was drawn for as many steps, and some would be far ahead by chance before anything is known.
BASELINE_MEMORY = 400
# The weights are compared with those of a share 1 / LAG of the steps before, and have settled when
# none has moved by more than this share of the largest.
LAG, SETTLED = 10, 0.02
# Most points that are kept of the path of the weights, in single precision.
PATH_POINTS = 24
# Steps begin to shrink after so many times n / sqrt(k) of them, and at least so many.
OFFSET, LEAST_OFFSET = 120, 1000


class Riemannian:
    """Exponential steps along the gradient in log P; O(n) per step, for every weight moves."""

    # The default first step is `first_step` times n to the power `scaling`.
    first_step: ClassVar[float] = 0.5
    scaling: ClassVar[int] = 0
    # Whether a step needs one normal number per column.
    is_noisy: ClassVar[bool] = False
    kernel: ClassVar[str] = "riemannian_step"

    def __init__(self, weights: Floats):
        from tamis.weighting import _update_kernels

        self.kernels, self.P = _update_kernels, weights.copy()
        self.cumulative = np.empty(weights.size)

    def draw(self, uniforms: Floats) -> Indices:
        """Columns drawn from the probability, one per uniform number in [0, 1)."""
        out = np.empty(uniforms.shape, dtype=np.int64)
        self.kernels.draw_columns(self.P, uniforms, self.cumulative, out)
        return out

    def step(self, draws: Indices, excess: Floats, step: float, noise: Floats | None) -> bool:
        """Move; returns whether the probability is on the simplex, as it always is here."""
        kernel = getattr(self.kernels, self.kernel)
        with announce_compilation(kernel):
            kernel(self.P, draws, excess, step, *((noise,) if self.is_noisy else ()))
        return True

    def weights(self) -> Floats:
        """The probability, as a new array."""
        return self.P.copy()


class Diffusion(Riemannian):
    """Euclidean steps with noise, projected on the simplex; O(n) per step, for the noise."""

    first_step: ClassVar[float] = 0.125
    scaling: ClassVar[int] = -2
    is_noisy: ClassVar[bool] = True
    kernel: ClassVar[str] = "diffusion_step"


class Euclidean:
    """Plain steps in the plane of sum 1; O(k log n) per step."""

    first_step: ClassVar[float] = 0.125
    scaling: ClassVar[int] = -2
    is_noisy: ClassVar[bool] = False

    def __init__(self, weights: Floats):
        from tamis.weighting import _update_kernels

        self.kernels, self.n = _update_kernels, weights.size
        self.n_leaves = 1 << max(self.n - 1, 1).bit_length()
        self.sums, self.smallest = np.empty((2, 2 * self.n_leaves))
        self.shift = 0.0
        with announce_compilation(self.kernels.build_trees):
            self.kernels.build_trees(weights, self.sums, self.smallest)

    def draw(self, uniforms: Floats) -> Indices:
        """Columns drawn from the probability."""
        out = np.empty(uniforms.shape, dtype=np.int64)
        self.kernels.draw_from_tree(self.sums, self.shift, self.n, uniforms, out)
        return out

    def step(self, draws: Indices, excess: Floats, step: float, noise: Floats | None) -> bool:
        """Move, unless that would make a weight negative."""
        columns = np.unique(draws)
        before = self.sums[self.n_leaves + columns]
        with announce_compilation(self.kernels.euclidean_step):
            shift = self.kernels.euclidean_step(
                self.sums, self.smallest, self.shift, self.n, draws, excess, step
            )
        if self.smallest[1] + shift > 0.0:
            self.shift = shift
            return True
        self.kernels.set_leaves(self.sums, self.smallest, columns, before)
        return False

    def weights(self) -> Floats:
        """The probability, as a new array."""
        return self.sums[self.n_leaves : self.n_leaves + self.n] + self.shift


PROCESSES: dict[str, type[Riemannian | Euclidean]] = {
    "riemannian": Riemannian,
    "euclidean": Euclidean,
    "diffusion": Diffusion,
}


class Settings(NamedTuple):
    """Everything about a run but the data and the estimator."""

    method: str
    subset_size: int
    sample_size: int
    draws_per_step: int
    step: float
    step_offset: float
    noise: float
    baseline: bool
    max_iter: int
    tol: float | None


def default_schedule(method: str, n_columns: int, subset_size: int) -> tuple[float, float]:
    """Step and offset of ``step / (i + offset)`` from the number of columns and those drawn.

    A column is drawn in k / n of the steps, and moves the error of a draw less the more others are
    in it, so the offset, after which the steps begin to shrink, is 120 n / sqrt(k), and at least
    1,000. The first step moves a drawn column's log probability by 0.5 times its excess error
    (Riemannian), or its probability by 0.125 times that, relative to the uniform one (Euclidean,
    diffusion).

    Examples
    --------
    >>> from tamis.weighting import default_schedule
    >>> default_schedule("riemannian", 100, 25)
    (1200.0, 2400.0)
    """
    process = PROCESSES[method]
    offset = max(OFFSET * n_columns / math.sqrt(subset_size), LEAST_OFFSET)
    return process.first_step * float(n_columns) ** process.scaling * offset, offset


@dataclass
class Run:
    """State of a run: all that is needed to resume it, and what it has seen."""

    weights: Floats
    seed: int
    baseline: float = 0.0
    n_iter: int = 0
    n_evaluations: int = 0
    n_errors: int = 0
    status: str = "running"
    snapshot: Floats = field(default_factory=lambda: np.empty(0))
    snapshot_iter: int = 0
    last_change: float = math.inf
    evaluations: list[int] = field(default_factory=list)
    energy: list[float] = field(default_factory=list)
    energy_error: list[float] = field(default_factory=list)
    path: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    path_evaluations: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, n_columns: int, seed: int) -> Run:
        """A run at the uniform probability."""
        run = cls(np.full(n_columns, 1.0 / n_columns), seed)
        run.path = np.empty((0, n_columns), np.float32)
        run.keep_weights()
        return run

    def expected(self, errors: Floats) -> float:
        """The baseline of the next step; the first has its own errors only."""
        return self.baseline if self.n_errors else float(errors.mean())

    def move_baseline(self, errors: Floats) -> None:
        """Take the errors of a step into the baseline."""
        self.n_errors += errors.size
        share = errors.size / min(self.n_errors, BASELINE_MEMORY)
        self.baseline += min(share, 1.0) * (float(errors.mean()) - self.baseline)

    def keep_weights(self) -> None:
        """One point more of the path of the weights; every other one goes when it is full."""
        if self.path_evaluations and self.path_evaluations[-1] == self.n_evaluations:
            return
        if len(self.path_evaluations) >= PATH_POINTS:
            self.path, self.path_evaluations = self.path[::2], self.path_evaluations[::2]
        self.path = np.vstack([self.path, self.weights.astype(np.float32)])
        self.path_evaluations.append(self.n_evaluations)

    def remember(self, errors: Floats) -> None:
        """Mean and standard error of the errors of a chunk."""
        self.n_evaluations += errors.size
        self.evaluations.append(self.n_evaluations)
        self.energy.append(float(errors.mean()))
        spread = float(errors.std(ddof=1)) if errors.size > 1 else 0.0
        self.energy_error.append(spread / math.sqrt(errors.size))


class Learning:
    """Moves a run on, chunk by chunk; rows are drawn in proportion to `row_weight`, if given."""

    def __init__(self, settings: Settings, errors: Errors, n_rows: int, row_weight: Any):
        self.settings, self.errors, self.n_rows = settings, errors, n_rows
        self.cumulative = None if row_weight is None else np.cumsum(row_weight)

    def n_chunks(self, run: Run) -> int:
        """Chunks that are still to come; a run that settled within one ends that one first."""
        steps = self._steps_per_chunk(run.weights.size)
        return max(0, -(-self.settings.max_iter // steps) - run.n_iter // steps)

    def _steps_per_chunk(self, n_columns: int) -> int:
        steps = max(1, CHUNK // self.settings.draws_per_step)
        if PROCESSES[self.settings.method].is_noisy:
            steps = min(steps, max(1, MOST_NOISE // n_columns))
        return steps

    def chunks(self, run: Run) -> Iterator[Run]:
        """Continue until a rule ends the run; after every chunk it may be stored as it is."""
        while self.goes_on(run):
            self.advance(run)
            yield run

    def goes_on(self, run: Run) -> bool:
        """Whether there is another chunk to come; sets the status of a run at its last step."""
        if run.status == "running" and run.n_iter >= self.settings.max_iter:
            run.status = "max_iter"
        return run.status == "running"

    def advance(self, run: Run) -> None:
        """Steps up to the next multiple of the chunk's length, or the last one."""
        settings = self.settings
        process = PROCESSES[settings.method](run.weights)
        seen: list[Floats] = []
        for uniforms, train, test, normal in self._numbers(run):
            draws = process.draw(uniforms)
            found = self.errors(draws, train, test)
            seen.append(found)
            step = settings.step / (run.n_iter + 1 + settings.step_offset)
            excess = found - run.expected(found) if settings.baseline else found
            noise = None if normal is None else normal * math.sqrt(step * settings.noise)
            if not process.step(draws, excess, step, noise):
                run.status = "left the simplex"
                break
            run.n_iter += 1
            run.move_baseline(found)
            if self._has_settled(run, process):
                run.status = "settled"
                break
        run.weights = process.weights()
        run.remember(np.concatenate(seen))
        # Points of the path are evenly spread over all chunks.
        n_chunks = -(-settings.max_iter // self._steps_per_chunk(run.weights.size))
        spacing = max(1, n_chunks // (PATH_POINTS - 2))
        if len(run.energy) % spacing == 0 or run.status != "running":
            run.keep_weights()

    def _numbers(self, run: Run) -> Iterator[tuple[Any, ...]]:
        """Uniform numbers, training rows, test rows and the diffusion's noise of the steps to come.

        Every chunk has its own generator: a run that is resumed needs only the number of its steps.
        """
        settings = self.settings
        length = self._steps_per_chunk(run.weights.size)
        number, first = divmod(run.n_iter, length)
        last = min(length, first + settings.max_iter - run.n_iter)
        generator = np.random.default_rng([run.seed, number])
        shape = (length, settings.draws_per_step)
        uniforms = generator.random((*shape, settings.subset_size))
        train, test = (self._rows(generator, (*shape, settings.sample_size)) for _ in range(2))
        noise: Any = [None] * length
        if PROCESSES[settings.method].is_noisy:
            noise = generator.standard_normal((length, run.weights.size))
        return islice(zip(uniforms, train, test, noise, strict=True), first, last)

    def _rows(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Indices:
        """Bootstrap samples of the rows, by their weights."""
        if self.cumulative is None:
            return generator.integers(0, self.n_rows, shape)
        wanted = generator.random(shape) * self.cumulative[-1]
        return np.searchsorted(self.cumulative, wanted, side="right")

    def _has_settled(self, run: Run, process: Any) -> bool:
        """The paper's rule: the weights are near those of a share 1/LAG of the steps before.

        It is asked at steps whose distance is just that share, so one snapshot is enough; the
        first is taken when the steps begin to shrink, for the printed rule would end at once.
        """
        due = math.ceil(run.snapshot_iter * LAG / (LAG - 1))
        if run.snapshot.size == 0:
            due = math.ceil(self.settings.step_offset)
        if run.n_iter < max(due, 1):
            return False
        weights = process.weights()
        if run.snapshot.size > 0:
            run.last_change = float(np.abs(weights - run.snapshot).max())
        run.snapshot, run.snapshot_iter = weights, run.n_iter
        tol = self.settings.tol
        return run.last_change <= (SETTLED * weights.max() if tol is None else tol)


KIND = "OFW"
STATUS = ("running", "settled", "max_iter", "stopped", "left the simplex")
# Lists of a run, and the type of their items.
LISTS = {"evaluations": int, "energy": float, "energy_error": float, "path_evaluations": int}
COUNTS = ("seed", "n_iter", "n_evaluations", "n_errors", "snapshot_iter")


def save_runs(path: Path, fingerprint: str, runs: list[Run]) -> None:
    """Write the runs of a fit."""
    checkpoint.save(path, KIND, fingerprint, [vars(run) for run in runs])


def load_runs(path: Path, fingerprint: str, who: str, n_runs: int, n_columns: int) -> list[Run]:
    """Read the runs of the same fit, as many as it has, for so many columns."""
    content = checkpoint.load(path, KIND, who, fingerprint).content
    if not isinstance(content, list) or len(content) != n_runs:
        raise checkpoint.not_a_checkpoint(who, KIND, path, f"no list of {n_runs} runs")
    if not all(_is_run(run, n_columns) for run in content):
        raise checkpoint.not_a_checkpoint(who, KIND, path, "values that no run has")
    return [Run(**run) for run in content]


def _is_run(found: Any, n_columns: int) -> bool:
    """Whether names, types, shapes and numbers are those of a run over so many columns."""
    like = vars(Run.begin(n_columns, 0))
    if not isinstance(found, dict) or found.keys() != like.keys():
        return False
    if any(type(found[name]) is not type(value) for name, value in like.items()):
        return False
    if any(type(item) is not kind for name, kind in LISTS.items() for item in found[name]):
        return False
    run = Run(**found)
    arrays: dict[str, Any] = {"weights": run.weights, "snapshot": run.snapshot, "path": run.path}
    return bool(
        all(array.dtype == like[name].dtype for name, array in arrays.items())
        and run.weights.shape == (n_columns,)
        and run.snapshot.shape in ((0,), (n_columns,))
        and run.path.shape == (len(run.path_evaluations), n_columns)
        and len(run.evaluations) == len(run.energy) == len(run.energy_error)
        and run.status in STATUS
        and all(0 <= found[name] < 2**62 for name in COUNTS)
        and math.isfinite(run.baseline)
        and all(np.isfinite(array).all() for array in arrays.values())
        and (run.weights >= 0).all()
        and run.weights.sum() > 0
    )
