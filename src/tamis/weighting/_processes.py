"""The three ways to move a probability over columns along an estimated gradient."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Riemannian:
    """Exponential steps along the gradient in log P; O(n) per step, for every weight moves."""

    # The default first step is `first_step` times n to the power `scaling`.
    first_step: ClassVar[float] = 0.5
    scaling: ClassVar[int] = 0
    # Whether a step needs one normal number per column.
    is_noisy: ClassVar[bool] = False

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
        with announce_compilation(self.kernels.riemannian_step):
            self.kernels.riemannian_step(self.P, draws, excess, step)
        return True

    def weights(self) -> Floats:
        """The probability, as a new array."""
        return self.P.copy()


class Diffusion(Riemannian):
    """Euclidean steps with noise, projected on the simplex; O(n) per step, for the noise."""

    first_step: ClassVar[float] = 0.125
    scaling: ClassVar[int] = -2
    is_noisy: ClassVar[bool] = True

    def step(self, draws: Indices, excess: Floats, step: float, noise: Floats | None) -> bool:
        """Move, and back to the simplex."""
        with announce_compilation(self.kernels.diffusion_step):
            self.kernels.diffusion_step(self.P, draws, excess, step, noise)
        return True


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
