"""Which chunks are in the memory of which worker, so that one task can take several."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

# Tasks per thread of a worker: one more than needed, so that who is early can help.
TASKS_PER_THREAD = 2


def futures_in(collection: Any) -> list[Any]:
    """Futures of Dask that a collection is made of; none unless its chunks were computed."""
    if "distributed" not in sys.modules:
        return []
    from distributed import futures_of

    return list(futures_of(collection))


def homes_of(client: Any, futures: Sequence[Any], keys: Sequence[Any]) -> list[str] | None:
    """The worker that holds each key; None unless all of them are held by some."""
    known = {future.key for future in futures}
    if client is None or not known.issuperset(keys):
        return None
    held = client.who_has(list(futures))
    found = [next(iter(held.get(key, ())), None) for key in keys]
    return None if None in found else found  # type: ignore[return-value]


def groups_at_home(client: Any, homes: Sequence[str]) -> list[list[int]]:
    """Numbers of chunks that are in one place, some groups for every thread there."""
    threads = client.nthreads()
    there: dict[str, list[int]] = defaultdict(list)
    for number, home in enumerate(homes):
        there[home].append(number)
    groups = []
    for home, numbers in there.items():
        n_groups = TASKS_PER_THREAD * threads.get(home, 1)
        length = -(-len(numbers) // n_groups)
        groups += [numbers[i : i + length] for i in range(0, len(numbers), length)]
    return groups
