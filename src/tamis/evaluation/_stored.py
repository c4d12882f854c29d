"""A finished unit of work as a row of the store, and back."""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation.run.units import UnitResult

# Columns that hold the result, in the order of `packed`.
RESULT = (
    "ranking, scores, select_seconds, peak_bytes, probe_share, best_n_features, error, warnings"
)


class StoredUnit(NamedTuple):
    """A finished unit of work as it is in the store.

    Examples
    --------
    >>> from tamis.evaluation.store import StoredUnit
    >>> StoredUnit._fields
    ('key', 'meta', 'result', 'versions', 'finished')
    """

    key: str
    meta: dict[str, Any]
    result: UnitResult
    versions: dict[str, str]
    finished: str


def packed(result: UnitResult) -> tuple[Any, ...]:
    """The result as values of SQLite, in the order of `RESULT`."""
    order = zlib.compress(np.ascontiguousarray(result.order, dtype="<i4").tobytes(), 1)
    share = result.probe_share
    return (
        order,
        json.dumps(list(result.scores)),
        float(result.select_seconds),
        None if result.peak_bytes is None else int(result.peak_bytes),
        None if share is None else json.dumps({str(k): float(v) for k, v in share.items()}),
        None if result.best_n_features is None else int(result.best_n_features),
        result.error,
        json.dumps(list(result.warnings)),
    )


def unpacked(row: tuple[Any, ...]) -> StoredUnit:
    """The unit of a row: key, what is known of it, result, versions, when."""
    key, meta, order, scores, seconds, peak, share, best, error, warned, versions_, finished = row
    result = UnitResult(
        order=_order(order),
        scores=json.loads(scores),
        select_seconds=seconds,
        peak_bytes=peak,
        probe_share=share and {int(k): v for k, v in json.loads(share).items()},
        best_n_features=best,
        error=error,
        warnings=tuple(json.loads(warned)),
    )
    return StoredUnit(key, json.loads(meta), result, json.loads(versions_), finished)


def _order(packed: bytes) -> NDArray[np.int32]:
    return np.frombuffer(zlib.decompress(packed), dtype="<i4").astype(np.int32)
