"""SelectorFacts: what tables of methods say about a selector, kept beside its class."""

from __future__ import annotations

from dataclasses import dataclass

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
    page : str
        The page of docs/families that describes it.
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
    page: str
    scope: str = "one at a time"
    redundancy: str = "no"
    nonlinear: str = "no"
    scaling: str = "no"
