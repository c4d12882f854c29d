"""The selectors by name: `list_selectors`, `make_selector` and what is known about each."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from tamis._names import SELECTORS
from tamis._runtime.wording import did_you_mean
from tamis.exceptions import InputError

__all__ = ["SelectorInfo", "list_selectors", "make_selector", "selector_info"]


@dataclass(frozen=True)
class SelectorInfo:
    """What is known about one selector: its ``facts``, and what its class tells.

    Parameters
    ----------
    name : str
        Short name for `make_selector` and the command line.
    module, class_name : str
        Where the class is.
    summary : str
        What the score of a feature is.
    supervised : bool
        Whether it needs a target.
    tasks : tuple of str
        "classification", "regression" or both.
    cost : str
        Time in samples T, features n, classes K, bins B and selected features m.
    reference : str
        Authors and year of the paper.
    weighted : bool
        Whether `fit` takes `sample_weight`.
    out_of_core : bool
        Whether it fits tables larger than memory.
    incremental : bool
        Whether it has `partial_fit`.
    chooses_number : bool
        Whether it finds a number of features by itself.

    Examples
    --------
    >>> import tamis
    >>> tamis.selectors.selector_info("dft").cost
    'T n + n B K'
    """

    name: str
    module: str
    class_name: str
    summary: str
    supervised: bool
    tasks: tuple[str, ...]
    cost: str
    reference: str
    weighted: bool
    out_of_core: bool
    incremental: bool
    chooses_number: bool


def list_selectors() -> list[str]:
    """Names that `make_selector` accepts.

    Returns
    -------
    names : list of str
        Sorted.

    Examples
    --------
    >>> import tamis
    >>> "dft" in tamis.list_selectors()
    True
    """
    return sorted(name.lower() for name in SELECTORS)


def selector_class(name: str) -> Any:
    """The class of that name; case is ignored."""
    for class_name, module in SELECTORS.items():
        if class_name.lower() == str(name).lower():
            return getattr(importlib.import_module(module), class_name)
    raise InputError(
        f"make_selector: expected one of {', '.join(list_selectors())}, got {name!r}."
        f"{did_you_mean(str(name).lower(), list_selectors())}"
    )


def selector_info(name: str) -> SelectorInfo:
    """Look up what is known about a selector.

    Parameters
    ----------
    name : str
        One of `list_selectors()`; case is ignored.

    Returns
    -------
    info : SelectorInfo
        Class, tasks, cost, reference and capabilities.

    Examples
    --------
    >>> import tamis
    >>> tamis.selectors.selector_info("RFT").tasks
    ('regression',)
    """
    return info_of(selector_class(name))


def info_of(cls: Any) -> SelectorInfo:
    """What is known about a selector class."""
    facts = cls.facts
    return SelectorInfo(
        name=cls.__name__.lower(),
        module=".".join(cls.__module__.split(".")[:2]),
        class_name=cls.__name__,
        summary=facts.summary,
        supervised=cls._supervised,
        tasks=facts.tasks,
        cost=facts.cost,
        reference=facts.reference,
        weighted="sample_weight" in inspect.signature(cls.fit).parameters,
        out_of_core=cls._streams,
        incremental=cls._incremental,
        chooses_number=cls._chooses_count,
    )


def make_selector(name: str, **params: Any) -> Any:
    """Make a selector from its short name.

    Parameters
    ----------
    name : str
        One of `list_selectors()`.
    **params
        Parameters of the selector.

    Returns
    -------
    selector : BaseSelector
        Not yet fitted.

    Examples
    --------
    >>> import tamis
    >>> tamis.make_selector("dft", n_bins=32)
    DFT(n_bins=32)
    """
    cls = selector_class(name)
    known = cls().get_params(deep=False)
    for param in params:
        if param not in known:
            raise InputError(
                f"{cls.__name__}: expected parameters among {', '.join(sorted(known))}, got "
                f"{param!r}.{did_you_mean(param, known)}"
            )
    return cls(**params)
