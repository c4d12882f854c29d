"""One thread for the learners: on small parts, waking others takes longer than the work."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread(learners: tuple[str, ...]) -> Any:
    """Context in which BLAS and OpenMP have one thread, so that numbers depend on no environment.

    The names of the learners matter only because others bring other libraries with them, and
    libraries are looked for once.
    """
    return _controller(learners).limit(limits=1)


@lru_cache(maxsize=8)
def _controller(learners: tuple[str, ...]) -> ThreadpoolController:
    return ThreadpoolController()
