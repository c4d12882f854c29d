"""CoMoments: moments of every column, of a regression target, and of both together."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.statistics.block import Block, Floats
from tamis.statistics.moments import Moments
from tamis.statistics.state import Stateful

# A mean is known to this share of itself, so smaller deviations from it are rounding.
ROUNDING = 64 * 2.0**-52
# Rows that are summed in one go, and columns that a thread takes.
TILE_ROWS, TILE_COLUMNS = 512, 1024
# Sums of columns with a mean of so many deviations are centred; others lose no more digits.
LARGEST_OFFSET = 1e3
# Cells that are centred in one go.
TILE_CELLS = 2**19


class CoMomentsResult(NamedTuple):
    """Weight, variances and covariance over the rows in which a column is observed."""

    weight: Floats
    variance: Floats
    target_variance: Floats
    covariance: Floats

    @property
    def correlation(self) -> Floats:
        """Pearson's correlation; 0 where column or target never vary."""
        # Roots first: the product of two tiny variances may be 0.
        scale = np.sqrt(self.variance) * np.sqrt(self.target_variance)
        r = np.divide(self.covariance, scale, out=np.zeros_like(scale), where=scale > 0)
        return np.clip(r, -1.0, 1.0, out=r)


class CoMoments(Stateful):
    """Moments of every column, of the target in its observed rows, and of both together.

    Blocks are merged by the formula of Chan, Golub and LeVeque, from deviations from the means of
    the block, so nothing cancels.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, CoMoments
    >>> block = Block.of(np.array([[1.0], [2.0], [4.0]]), target=np.array([-1.0, 0.0, 1.0]))
    >>> CoMoments(1).update(block).finish().correlation
    array([0.98198051])
    """

    state_names: ClassVar[tuple[str, ...]] = ("columns", "target_mean", "target_spread", "product")

    def __init__(self, n_columns: int):
        self.columns = Moments(n_columns)
        self.target_mean = np.zeros(n_columns)
        self.target_spread = np.zeros(n_columns)
        self.product = np.zeros(n_columns)

    def update(self, block: Block, n_jobs: int | None = 1) -> CoMoments:
        """Take in the rows of a block."""
        if block.n_rows == 0:
            return self
        part = CoMoments(block.n_columns)
        part.columns.update(block, n_jobs)
        weight = block.weight_slice
        mean = float(np.average(block.target_slice, weights=weight))
        target = block.target_slice - mean  # sums to 0, so the means of the columns do not matter
        part.target_mean[:] = mean
        part.target_spread[:] = (weight * target) @ target
        part._multiply(block, weight * target, n_jobs)
        part._multiply_again(block, target, n_jobs)
        return self.merge(part)

    def _multiply(self, block: Block, weighted: Floats, n_jobs: int | None) -> None:
        """Sums of target times column; NaN for columns with holes."""
        n_columns = block.n_columns
        if block.layout == "sparse":
            data, indices, indptr = block.stored
            inside = slice(indptr[block.start], indptr[block.stop])
            row = np.repeat(weighted, np.diff(indptr[block.start : block.stop + 1]))
            self.product += np.bincount(indices[inside], row * data[inside], minlength=n_columns)
            return

        def tile(first: int, last: int) -> None:
            product = self.product[first:last]
            for a in range(block.start, block.stop, TILE_ROWS):
                b = min(a + TILE_ROWS, block.stop)
                part = weighted[a - block.start : b - block.start]
                # Not a product of the BLAS, which need not sum all columns in the same order.
                with np.errstate(over="ignore", invalid="ignore"):
                    product += np.einsum("i,ij->j", part, block.X[a:b, first:last])

        # As wide for any number of threads, and never a single column, which sums otherwise.
        tiles = split_evenly(0, n_columns, -(-n_columns // TILE_COLUMNS))
        run_parts(tile, tiles, threads_for(block.n_rows * n_columns, n_jobs))

    def _multiply_again(self, block: Block, target: Floats, n_jobs: int | None) -> None:
        """Centre columns with holes or a large mean, and the target in their observed rows."""
        known, mean, variance = self.columns.finish()
        far = (known > 0) & (np.abs(mean) > LARGEST_OFFSET * np.sqrt(variance))
        columns = np.flatnonzero(np.isnan(self.product) | far)
        rows, weight = slice(block.start, block.stop), block.weight_slice[:, None]

        def part(a: int, b: int) -> None:
            chosen = columns[a:b]
            values = block.X[rows][:, chosen]
            values = values.toarray() if block.layout == "sparse" else values
            seen = ~np.isnan(values)
            share = np.where(seen, weight, 0.0)
            total = share.sum(axis=0)
            total[total == 0.0] = 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                shift = (share * target[:, None]).sum(axis=0) / total
                gap = target[:, None] - shift
                deviation = np.where(seen, values - self.columns.mean[chosen], 0.0)
                self.target_mean[chosen] += shift
                self.target_spread[chosen] = (share * gap * gap).sum(axis=0)
                self.product[chosen] = (share * gap * deviation).sum(axis=0)

        width = max(2, TILE_CELLS // block.n_rows)
        threads = threads_for(4 * block.n_rows * columns.size, n_jobs)
        if columns.size:
            run_parts(part, split_evenly(0, columns.size, -(-columns.size // width)), threads)

    def merge(self, other: CoMoments) -> CoMoments:
        """Take in what another object has seen."""
        total = self.columns.weight + other.columns.weight
        share = np.divide(other.columns.weight, total, out=np.zeros_like(total), where=total > 0)
        both = self.columns.weight * share
        gap = other.target_mean - self.target_mean
        self.product += other.product + gap * (other.columns.mean - self.columns.mean) * both
        self.target_spread += other.target_spread + gap * gap * both
        self.target_mean += gap * share
        self.columns.merge(other.columns)
        return self

    def finish(self) -> CoMomentsResult:
        """Moments of all rows seen; a target that is constant but for rounding has variance 0."""
        weight, _, variance = self.columns.finish()
        total = np.where(weight > 0, weight, 1.0)
        target_variance = self.target_spread / total
        target_variance[target_variance <= (ROUNDING * self.target_mean) ** 2] = 0.0
        return CoMomentsResult(
            weight, np.nan_to_num(variance), target_variance, self.product / total
        )
