"""A source over arrays in memory, cut as a test wants it."""

import numpy as np

from tamis.passes import PartitionedTable, RawBlock


class ArraySource(PartitionedTable):
    """Parts of `part_rows` rows in blocks of `block_rows`; counts what is read."""

    def __init__(
        self, X, target=None, weight=None, *, part_rows=7, block_rows=3, names=None, fails_at=None,
        checkpoint=None,
    ):  # fmt: skip
        self.X, self.target, self.weight = np.asarray(X), target, weight
        self.names, (self.n_rows, self.n_columns) = names, self.X.shape
        self.dtype = self.X.dtype if self.X.dtype == np.float32 else np.dtype(np.float64)
        self.has_target, self.has_weight = target is not None, weight is not None
        self.part_rows, self.block_rows = part_rows, block_rows
        self.checkpoint, self.fails_at, self.reads = checkpoint, fails_at, []
        self.memory_limit = 2**26

    def __repr__(self):
        return f"ArraySource({self.n_rows} x {self.n_columns})"

    @property
    def n_parts(self):
        return -(-self.n_rows // self.part_rows)

    def blocks(self, part, columns=None):
        self.reads.append((part, columns is None))
        if part == self.fails_at and columns is None:
            raise OSError("the disk is gone")
        last = min((part + 1) * self.part_rows, self.n_rows)
        for start in range(part * self.part_rows, last, self.block_rows):
            rows = slice(start, min(start + self.block_rows, last))
            cells = self.X[rows] if columns is None else self.X[rows][:, columns]
            cells = np.asfortranarray(cells) if cells.shape[1] else None
            target = None if self.target is None else np.asarray(self.target)[rows]
            weight = None if self.weight is None else np.asarray(self.weight)[rows]
            yield RawBlock(cells, target, weight, rows.stop - rows.start)

    def columns_block(self, first, last):
        return np.asfortranarray(self.X[:, first:last])

    def select(self, columns):
        return ArraySource(self.X[:, columns], self.target, self.weight)

    def where(self, part):
        return f"array, part {part}"

    def fingerprint(self):
        return [self.n_rows, self.n_columns, float(np.nansum(self.X))]
