"""What an experiment hands over: measurements, claims that were checked, figures, remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

__all__ = ["Claim", "ExperimentResult", "Measurement"]

LEVEL = 0.95


@dataclass(frozen=True)
class Measurement:
    """One number of ours, measured in one or more repeats.

    Parameters
    ----------
    case : mapping
        What was measured: `data`, `method`, `learner`, `n_features`, `metric` and the like. The
        number of the paper with the same case is put beside it.
    values : sequence of float
        One per repeat.
    note : str, default=""
        What a reader must know of this number, such as that the data are a stand-in.
    at_least : bool, default=False
        Whether the true number is larger, as that of a run that was stopped.

    Examples
    --------
    >>> from tamis_papers.result import Measurement
    >>> one = Measurement({"data": "colon", "method": "dft"}, [0.8, 0.9, 0.85])
    >>> one.mean
    0.85
    >>> one.interval()
    (0.726, 0.974)
    """

    case: Mapping[str, Any]
    values: Sequence[float]
    note: str = ""
    at_least: bool = False

    @property
    def mean(self) -> float:
        """Mean of the repeats."""
        return float(np.mean(self.values))

    def interval(self) -> tuple[float, float]:
        """Where the mean of other repeats on the same data would lie, 95 % (Student's t).

        Returns
        -------
        low, high : float
            Twice the mean for a single repeat, which tells nothing of its spread; no upper end
            for a number that is only known to be larger.
        """
        n = len(self.values)
        if self.at_least:
            return self.mean, float("inf")
        if n < 2:
            return self.mean, self.mean
        half = stats.t.ppf(0.5 + LEVEL / 2, n - 1) * np.std(self.values, ddof=1) / np.sqrt(n)
        return self.mean - float(half), self.mean + float(half)


class Claim(NamedTuple):
    """A sentence of a paper, checked.

    Parameters
    ----------
    name : str
        Name of the claim in the file of published values.
    holds : bool or None
        Whether it held here; None if it held in part, or if chance alone may have decided.
    evidence : str
        The numbers that say so.
    tested : bool, default=True
        False if there are no numbers to tell by; `evidence` then says why.

    Examples
    --------
    >>> from tamis_papers.result import Claim
    >>> Claim("originals first", False, "in 0 of 20 draws").holds
    False
    """

    name: str
    holds: bool | None
    evidence: str
    tested: bool = True


@dataclass
class ExperimentResult:
    """Everything that came of an experiment.

    Parameters
    ----------
    measurements : list of Measurement
        Our numbers, those the paper printed and others.
    claims : list of Claim
        The sentences that were checked.
    figures : dict
        For every file name (without ending) a function that draws on a matplotlib figure.
    remarks : list of str
        What differs from the paper's protocol, and why.
    findings : list of str
        What came out, in sentences, where no sentence of a paper is checked.
    tables : dict
        Tables to be shown as they are: a title, and rows of text of which the first is the head.

    Examples
    --------
    >>> from tamis_papers import ExperimentResult
    >>> ExperimentResult().measurements
    []
    """

    measurements: list[Measurement] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    figures: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
