"""What the footer of a Parquet file states of the range of its columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tamis.statistics.block import Ranges

_COMPARABLE = {"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"}


def stated_ranges(footer: Any, names: Sequence[str]) -> Ranges | None:
    """Ranges of some columns over all row groups, if all are stated; NaN is not counted."""
    leaves = {footer.schema.column(j).path: j for j in range(footer.num_columns)}
    ranges = Ranges(len(names))
    for g in range(footer.num_row_groups):
        group = footer.row_group(g)
        for i, name in enumerate(names):
            found = _chunk_range(group.column(leaves[name]))
            if found is None:
                return None
            ranges.low[i] = min(ranges.low[i], found[0])
            ranges.high[i] = max(ranges.high[i], found[1])
        ranges.n_rows += group.num_rows
    ranges.stored += ranges.n_rows
    return ranges


def may_count_up(footer: Any, column: int, name: str, most_rows: int) -> bool:
    """Whether the range in the first row group is as wide as it would have to be."""
    if not footer.num_row_groups:
        return True
    # Columns that are not nested have one leaf each, at their own place.
    chunk = footer.row_group(0).column(min(column, footer.num_columns - 1))
    if chunk.path_in_schema != name:
        return True
    found = _chunk_range(chunk)
    rows = min(footer.row_group(0).num_rows, most_rows)
    return found is None or found[1] - found[0] >= rows - 1


def _chunk_range(chunk: Any) -> tuple[float, float] | None:
    """Smallest and largest value of a column in a row group, or None where it is not stated."""
    statistics = chunk.statistics
    if statistics is None or chunk.physical_type not in _COMPARABLE:
        return None
    if statistics.logical_type.type == "DECIMAL":
        return None
    if statistics.has_null_count and statistics.null_count == chunk.num_values:
        return math.inf, -math.inf
    if not statistics.has_min_max:
        return None
    low, high = float(statistics.min), float(statistics.max)
    if math.isnan(low) or math.isnan(high):
        return None
    # Writers state -0.0 as the least of zeros whatever its sign.
    return low + 0.0, high + 0.0
