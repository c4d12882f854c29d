"""The selectors whose lists are made into one: by name or as they are, with seeds and threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamis._base import BaseSelector
from tamis._runtime.callbacks import without_callbacks
from tamis._runtime.seeds import draw_seed
from tamis.exceptions import InputError
from tamis.selectors import make_selector, selector_info


def listed_selectors(selectors: Any) -> list[tuple[str | None, Any]]:
    """Names, where the user gave them, and selectors."""
    if isinstance(selectors, str):
        selectors = [word.strip() for word in selectors.split(",")]
    if isinstance(selectors, BaseSelector):
        selectors = [selectors]
    if isinstance(selectors, Mapping):
        return [(str(name), item) for name, item in selectors.items()]
    return [(None, item) for item in selectors] if isinstance(selectors, list | tuple) else []


def make_members(selectors: Any, n_jobs: int | None, column_names: Any) -> dict[str, Any]:
    """Unfitted copies of the selectors by name; a name that comes twice gets a number."""
    members: dict[str, Any] = {}
    for given, item in listed_selectors(selectors):
        copy = _named(item) if isinstance(item, str) else without_callbacks(clone(item))
        name = unique = given or _short_name(copy)
        number = 1
        while unique in members:
            number += 1
            unique = f"{name} {number}"
        if copy.get_params(deep=False).get("n_jobs", 0) is None:
            copy.set_params(n_jobs=n_jobs)
        copy._names_told = column_names
        members[unique] = copy
    return members


def _named(name: str) -> Any:
    try:
        return make_selector(name)
    except InputError as error:
        raise InputError(str(error).replace("make_selector", "Consensus: selectors", 1)) from error


def _short_name(selector: Any) -> str:
    return type(selector).__name__.lower()


def is_supervised(selector: Any) -> bool:
    return bool(selector.__sklearn_tags__().target_tags.required)


def check_task(name: str, member: Any, task: str) -> None:
    """Raise for a method that cannot use such a target."""
    try:
        tasks = selector_info(_short_name(member)).tasks
    except InputError:  # a class of the user's own, which speaks for itself
        return
    if task in tasks or not is_supervised(member):
        return
    kind = "classes" if task == "classification" else "numbers"
    raise InputError(
        f"Consensus: expected selectors for a target of {kind}, got {name!r}, which is for "
        f"{' and '.join(tasks)}. Leave it out, or set task={tasks[0]!r} if that is what the target "
        "is."
    )


def check_weights(members: dict[str, Any], weight: NDArray[np.float64] | None) -> None:
    for name, member in members.items():
        if weight is not None and not has_fit_parameter(member, "sample_weight"):
            raise InputError(
                f"Consensus: expected selectors that take sample_weight, got {name!r}, which does "
                "not. Leave it out, or fit without weights."
            )


def seeded(member: Any, random: Any) -> Any:
    """A copy with a seed, if it wants one and has none."""
    copy = clone(member)
    copy._names_told = member._names_told
    if copy.get_params(deep=False).get("random_state", 0) is None:
        copy.set_params(random_state=draw_seed(random))
    return copy
