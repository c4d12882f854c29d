"""Arrays of Python objects that are all of one kind, such as booleans or dates."""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray


def unmasked(y: Any) -> NDArray[Any]:
    """An array whose masked entries are missing: NaN among numbers, None elsewhere."""
    if not isinstance(y, np.ma.MaskedArray):
        return np.asarray(y)
    if not np.ma.getmaskarray(y).any():
        return np.asarray(y.data)
    if y.dtype.kind in "biuf":
        numbers: Any = y.astype(np.result_type(y.dtype, np.float32))
        return np.asarray(numbers.filled(np.nan))
    objects: Any = y.astype(object)
    return np.asarray(objects.filled(None))


def settled(y: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all booleans, numbers or dates as an array of these."""
    if y.dtype.kind != "O" or y.ndim != 1:
        return y
    kinds = {type(value) for value in y}

    def all_are(*types: type) -> bool:
        return bool(kinds) and all(issubclass(kind, types) for kind in kinds)

    if all_are(bool, np.bool_):
        return y.astype(bool)
    if all_are(datetime.datetime):
        return np.array([_in_utc(value) for value in y], "M8[us]")
    if all_are(datetime.date):
        return y.astype("M8[D]")
    if all_are(datetime.timedelta):
        return y.astype("m8[us]")
    if all_are(np.timedelta64) or all_are(np.datetime64):
        return np.array(y.tolist())  # numpy finds a unit for all
    try:
        if all_are(numbers.Integral):
            return y.astype(np.int64)
        if all_are(numbers.Real, decimal.Decimal):
            return y.astype(np.float64)
    except OverflowError:
        pass
    return y


def _in_utc(value: datetime.datetime) -> datetime.datetime:
    """The same moment without a time zone."""
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
