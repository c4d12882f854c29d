"""What in a table makes scores too good, as plain facts: `leak` turns them into sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from tamis.data import checks
from tamis.data.frames import is_frame
from tamis.evaluation.protocols import Split
from tamis.evaluation.protocols.base import Rows

# With fewer rows, columns are in order, or follow the classes, by chance.
MIN_ROWS = 10
_COLUMNS_AT_ONCE = 256
# What differs by less than this share of its deviation is a copy with noise.
NOISE = 1e-3
# Up to so many rows, and from so many columns on, all pairs of rows are compared: in fewer columns
# rows are close by chance.
MOST_ROWS, FEWEST_COLUMNS = 5000, 4


class Suspect(NamedTuple):
    """A table as the checks read it: numbers, names, and columns of text by name."""

    X: Any
    names: list[str]
    texts: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, X: Any) -> Suspect:
        """Read what a user passed; text is set apart, for selectors take numbers only."""
        texts: dict[str, NDArray[Any]] = {}
        if is_frame(X):
            frame = nw.from_native(X, eager_only=True)
            for name, dtype in frame.collect_schema().items():
                if not dtype.is_numeric() and dtype != nw.Boolean:
                    texts[str(name)] = np.asarray(frame[name].to_numpy()).astype(str)
            X = frame.drop(list(texts)).to_native() if texts else X
        reader = type("leak_check", (BaseEstimator,), {})()
        table = checks.check_table(reader, X)
        known = getattr(reader, "feature_names_in_", range(table.shape[1]))
        return cls(table, [str(name) for name in known], texts)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """First column and values of every block of columns; missing values are infinite."""
        X = self.X.tocsc() if sparse.issparse(self.X) else self.X
        for start in range(0, X.shape[1], _COLUMNS_AT_ONCE):
            block = X[:, start : start + _COLUMNS_AT_ONCE]
            block = block.toarray() if sparse.issparse(block) else block
            block = np.array(block, dtype=np.float64, order="F")
            block[np.isnan(block)] = np.inf
            yield start, block


class ColumnFacts(NamedTuple):
    """Numbers of the columns with each property."""

    like_target: list[str]
    near_target: list[str]
    identifiers: list[str]
    constant: list[str]
    repeated: list[str]


def look_at_columns(table: Suspect, y: NDArray[Any], is_classes: bool) -> ColumnFacts:
    """Columns that equal the target or number the rows, that never vary or repeat another."""
    facts = ColumnFacts([], [], [], [], [])
    seen: set[bytes] = set()
    for start, block in table.blocks():
        same, near = _follow(block, y, is_classes), _nearly_follow(block, y, is_classes)
        for j in range(block.shape[1]):
            name, column = table.names[start + j], block[:, j]
            digest = hashlib.blake2b((column + 0.0).tobytes(), digest_size=16).digest()
            if column.min() == column.max():
                facts.constant.append(name)
                continue
            if digest in seen:
                facts.repeated.append(name)
            seen.add(digest)
            if same[j]:
                facts.like_target.append(name)
            elif near[j]:
                facts.near_target.append(name)
            elif _numbers_rows(column):
                facts.identifiers.append(name)
    for name, text in table.texts.items():
        values, codes = np.unique(text, return_inverse=True)
        if values.size < 2:
            facts.constant.append(name)
        elif values.size == text.size >= MIN_ROWS:
            facts.identifiers.append(name)
        elif is_classes and _follow(codes.reshape(-1, 1).astype(float), y, True)[0]:
            facts.like_target.append(name)
    return facts


def _follow(block: NDArray[np.float64], y: NDArray[Any], is_classes: bool) -> NDArray[np.bool_]:
    """Columns from which the target can be read off, and the other way round."""
    if y.size < MIN_ROWS:
        return np.zeros(block.shape[1], dtype=bool)
    if not is_classes:  # equal values where the targets are equal, and else rising or falling
        order = np.argsort(y, kind="stable")
        wanted = np.sign(np.diff(y[order].astype(np.float64)))[:, None]
        with np.errstate(invalid="ignore"):
            # Missing values are infinite here, and the difference of two is nothing.
            moves = np.sign(np.nan_to_num(np.diff(block[order], axis=0)))
        return (moves == wanted).all(axis=0) | (moves == -wanted).all(axis=0)
    members = [np.flatnonzero(y == label) for label in np.unique(y)]
    values = block[[rows[0] for rows in members]]
    same = np.ones(block.shape[1], dtype=bool)
    for rows, value in zip(members, values, strict=True):
        same &= (block[rows] == value).all(axis=0)
    ordered = np.sort(values, axis=0)
    return same & (ordered[1:] != ordered[:-1]).all(axis=0)


def _nearly_follow(
    block: NDArray[np.float64], y: NDArray[Any], is_classes: bool
) -> NDArray[np.bool_]:
    """Columns that are the target with a little noise: one value per class, or a line."""
    n, near = y.size, np.isfinite(block).all(axis=0)
    if n < MIN_ROWS:
        return np.zeros(block.shape[1], dtype=bool)
    block = np.where(near, block, 0.0)
    if not is_classes:
        z = y.astype(np.float64) - y.mean()
        centred = block - block.mean(axis=0)
        total = (centred**2).sum(axis=0)
        left = total - (z @ centred) ** 2 / max(float(z @ z), 1e-300)
        return np.asarray(near & (total > 0) & (left < NOISE**2 * total))
    members = [block[y == label] for label in np.unique(y)]
    widest = np.max([np.ptp(part, axis=0) for part in members], axis=0)
    centres = np.sort([part.mean(axis=0) for part in members], axis=0)
    return np.asarray(near & (widest < NOISE * np.diff(centres, axis=0).min(axis=0)))


def _numbers_rows(column: NDArray[np.float64]) -> bool:
    """Whether these are all-different whole numbers, in row order or without a gap."""
    if column.size < MIN_ROWS or not np.isfinite(column).all() or (column % 1 != 0).any():
        return False
    steps = np.diff(column)
    in_order = (steps > 0).all() or (steps < 0).all()
    return bool(in_order or (np.diff(np.sort(column)) == 1).all())


def row_codes(table: Suspect) -> Rows:
    """A number for every row, the same for rows that are the same value for value."""
    X = table.X
    texts = list(table.texts.values())
    known: dict[bytes, int] = {}
    codes = np.empty(X.shape[0], dtype=np.intp)
    for i in range(X.shape[0]):
        digest = hashlib.blake2b(_row_bytes(X, i), digest_size=16)
        for text in texts:
            digest.update(f"\0{text[i]}".encode())
        codes[i] = known.setdefault(digest.digest(), len(known))
    return codes


def near_codes(table: Suspect) -> Rows | None:
    """The same number for rows that differ by a little noise; None where that is not looked for."""
    X = table.X
    n, n_columns = X.shape
    if sparse.issparse(X) or n > MOST_ROWS or n_columns < FEWEST_COLUMNS or table.texts:
        return None
    X = np.asarray(X, dtype=np.float64)
    known = np.isfinite(X)
    X = X - np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    X = np.where(np.isfinite(X), X, 0.0)
    spread = X.std(axis=0)
    X = X[:, spread > 0] / spread[spread > 0]
    if X.shape[1] < FEWEST_COLUMNS:
        return None
    codes, squares = np.arange(n), (X**2).sum(axis=1)
    for i in range(n - 1):
        apart = squares[i + 1 :] + squares[i] - 2.0 * (X[i + 1 :] @ X[i])
        close = np.flatnonzero(apart < NOISE**2 * X.shape[1]) + i + 1
        codes[close] = np.minimum(codes[close], codes[i])
    return codes


def _row_bytes(X: Any, i: int) -> bytes:
    if not sparse.issparse(X):
        row = X[i].astype(np.float64) + 0.0  # no negative zero
        row[np.isnan(row)] = np.nan  # one of the many
        return row.tobytes()
    columns, values = X[[i]].indices, X[[i]].data.astype(np.float64)
    order = np.argsort(columns, kind="stable")
    order = order[values[order] != 0]
    return columns[order].astype(np.int64).tobytes() + values[order].tobytes()


def shared_rows(codes: Rows, splits: list[Split]) -> int:
    """How many rows are scored in a split that learns from the same row or group."""
    met = np.zeros(codes.size, dtype=bool)
    for split in splits:
        met[split.test[np.isin(codes[split.test], codes[split.train])]] = True
    return int(met.sum())
