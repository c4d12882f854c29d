"""SelectorFacts: what tables of methods say about a selector; SelectorInfo: all that is known."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

BOTH_TASKS = ("classification", "regression")


@dataclass(frozen=True)
class SelectorFacts:
    """Facts about a method that cannot be read off its code.

    `tamis methods`, the README and the table in docs/choosing.md are generated from them.

    Parameters
    ----------
    summary : str
        What the score of a feature is, in one sentence.
    tasks : tuple of str
        The tasks it supports: "classification", "regression" or both.
    cost : str
        Time in samples T, features n, classes K, bins B and selected features m.
    reference : str
        Authors and year of the paper.
    scope : str
        Which features are considered together.
    redundancy : str
        Whether a feature loses by repeating others.
    nonlinear : str
        Whether relations that are not linear are detected.
    scaling : str
        Whether the units of the features matter.

    Examples
    --------
    >>> import tamis
    >>> tamis.DFT.facts.cost
    'T n + n B K'
    """

    summary: str
    tasks: tuple[str, ...]
    cost: str
    reference: str
    scope: str = "one at a time"
    redundancy: str = "no"
    nonlinear: str = "no"
    scaling: str = "no"


@dataclass(frozen=True)
class SelectorInfo:
    """What is known about one selector: its ``facts``, and what its class tells.

    Parameters
    ----------
    name : str
        Short name for `make_selector` and the command line.
    module, class_name : str
        Where the class is.
    supervised : bool
        Whether it needs a target.
    summary, tasks, cost, reference
        As in ``SelectorFacts``.
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
