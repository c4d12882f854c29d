"""Seeds: how one seed gives others, so that results do not depend on the order of work."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.fingerprint import canonical
from tamis.exceptions import InputError

# Seeds that scikit-learn takes are below this.
MOST = int(np.iinfo(np.int32).max)


def draw_seed(random: np.random.RandomState) -> int:
    """A seed for one of several things that are drawn from the same state."""
    return int(random.randint(MOST))


def draw_seeds(random: np.random.RandomState, n: int) -> NDArray[np.int64]:
    """Seeds for so many things."""
    return random.randint(MOST, size=n)


def as_seed(random_state: Any, who: str) -> int:
    """Whole number that seeds everything; an int is itself."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(
                f"{who}: random_state must be an int of at least 0, a RandomState or None, got "
                f"{random_state!r}."
            )
        return int(random_state)
    return draw_seed(check_random_state(random_state))


def stream(seed: int, *place: int) -> np.random.Generator:
    """Random numbers of one place of a search, independent of those of all others."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


def first_child(seed: int) -> int:
    """The first number that a seed gives."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def seed_of(*parts: Any) -> int:
    """A seed that scikit-learn takes, derived from whatever a unit of work is called."""
    digest = hashlib.sha256(canonical(parts).encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1
