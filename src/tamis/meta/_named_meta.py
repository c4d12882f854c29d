"""A meta table with a name per candidate: in the index of a pandas table, or in a column."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from tamis.data.checks import is_frame
from tamis.exceptions import InputError

# Names listed in a message.
SHOWN = 5


def split_names(meta: Any, name: str, who: str) -> tuple[list[Any], Any]:
    """Names of the candidates, and the table without them."""
    if is_frame(meta):
        if name in [str(column) for column in nw.from_native(meta).columns]:
            frame = nw.from_native(meta, eager_only=True)
            names = frame[name].to_list()
            return _check_unique(names, who), frame.drop(name).to_native()
        if hasattr(meta, "set_index"):  # pandas
            return _check_unique(list(meta.index), who), meta
    raise InputError(
        f"{who}: expected meta to be a DataFrame that names the columns it speaks of, in the "
        f"index (pandas) or in a column {name!r}, got {_kind(meta)}. Pass name= for a column of "
        "another name."
    )


def has_names(meta: Any, name: str) -> bool:
    """Whether the table names its candidates."""
    if not is_frame(meta):
        return False
    if name in [str(column) for column in nw.from_native(meta).columns]:
        return True
    return hasattr(meta, "set_index") and meta.index.dtype.kind not in "iu"


def take_rows(meta: Any, positions: list[int]) -> Any:
    """Some rows of a table, in this order."""
    if not is_frame(meta):
        return np.asarray(meta)[positions]
    if hasattr(meta, "iloc"):
        return meta.iloc[positions]
    return nw.from_native(meta, eager_only=True)[positions].to_native()


def check_same(expected: list[Any], present: list[Any], who: str, *, extra: bool) -> None:
    """Raise unless every expected name is present and, unless `extra`, no other one."""
    have, wanted = set(present), set(expected)
    missing = [name for name in expected if name not in have]
    if missing:
        raise InputError(
            f"{who}: expected a column for every row of meta, got none for {_listed(missing)}. "
            "Remove these rows of meta, or correct the names."
        )
    others = [name for name in present if name not in wanted]
    if others and not extra:
        raise InputError(
            f"{who}: expected a row of meta for every column, got none for {_listed(others)}. "
            "Remove these columns (the target, say), or add the rows."
        )


def _check_unique(names: list[Any], who: str) -> list[Any]:
    seen: set[Any] = set()
    for name in names:
        if name is None or name != name:
            raise InputError(f"{who}: expected a name in every row of meta, got {name!r}.")
        if name in seen:
            raise InputError(
                f"{who}: expected every name once in meta, got {name!r} {names.count(name)} times."
            )
        seen.add(name)
    return names


def _listed(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def _kind(meta: Any) -> str:
    if is_frame(meta):
        return f"a table with the columns {_listed(nw.from_native(meta).columns)}"
    return f"an object of type {type(meta).__name__}"
