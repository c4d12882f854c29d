"""Answer: which features, how many, and how sure, as one frozen record."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tamis._fitted import make_frame
from tamis._runtime.plain import plain

__all__ = ["Answer", "Baseline", "FeatureEvidence"]

# Of the record as JSON; a change that breaks readers gets another version.
SCHEMA, VERSION = "tamis-answer", 1


@dataclass(frozen=True)
class FeatureEvidence:
    """What is known of one selected feature.

    Parameters
    ----------
    feature : str
        Its name.
    index : int
        Its position in the table.
    frequency, frequency_low, frequency_high : float
        Share of half samples of the rows on which the method selects it again, and the 95%
        interval of that share.
    q_value : float
        Smallest false discovery rate at which it is found to be related to the target (marginal).
    e_value : float or None
        Evidence that it adds something beyond all other features (conditional); None if that was
        not tested.
    effect : str
        Direction or shape of its relation to the target.
    replaceable_by : list of (str, float)
        Features that could take its place, with their rank correlation.

    Examples
    --------
    >>> from tamis.auto import FeatureEvidence
    >>> list(FeatureEvidence.__dataclass_fields__)[:3]
    ['feature', 'index', 'frequency']
    """

    feature: str
    index: int
    frequency: float
    frequency_low: float
    frequency_high: float
    q_value: float
    e_value: float | None
    effect: str
    replaceable_by: list[tuple[str, float]]


@dataclass(frozen=True)
class Baseline:
    """A simple procedure on the same folds, and how much the answer is ahead of it.

    Parameters
    ----------
    name : str
        "all features", "random features" or "guessing".
    score : float
        Its mean score.
    gain, gain_low, gain_high : float
        Score of the answer minus its score, and the 95% interval.
    p_value : float
        Of the paired test that both are equally good; two-sided.

    Examples
    --------
    >>> from tamis.auto import Baseline
    >>> Baseline("guessing", 0.5, 0.3, 0.2, 0.4, 0.001).score
    0.5
    """

    name: str
    score: float
    gain: float
    gain_low: float
    gain_high: float
    p_value: float


@dataclass(frozen=True)
class Answer:
    """Which features, how many, and how sure.

    `print(answer)` shows it as a page of text, a notebook as HTML.

    Parameters
    ----------
    verdict : str
        The answer in one or two sentences.
    found : bool
        Whether anything beats chance at the stated level.
    p_value : float
        Of the hypothesis that the features tell nothing about the target.
    features : tuple of FeatureEvidence
        The selected features, best first; empty if nothing was found.
    metric : str
        What scores are.
    expected_score, low, high : float
        Score of the whole procedure on new rows, its choices included, and the 95% interval. NaN
        if it was not measured.
    baselines : tuple of Baseline
        All features, as many random ones, and guessing, on the same folds.
    method, model : str
        What was chosen to rank the features, and to judge sets of them.
    n_best : int
        Number of features that were chosen, whether or not they beat chance; `expected_score` is
        about them.
    task : str
        "classification" or "regression".
    n_rows, n_features : int
        Size of the table.
    level : float
        False discovery rate, and level of the test against chance.
    n_related : int
        Number of features with a q-value of at most the level.
    warnings : tuple of str
        What casts doubt on the answer, such as a feature that is the target in disguise.
    left_out : tuple of (str, str)
        Features that were not considered, and why.
    steps : tuple of str
        What was done.
    seconds : float
        How long it took.
    selector : AutoSelector or None
        The fitted selector, ready for a pipeline.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> found = tamis.answer(*load_iris(return_X_y=True, as_frame=True), time_limit=2)
    >>> found.found, sorted(found.columns)[0]
    (True, 'petal length (cm)')
    """

    verdict: str
    found: bool
    p_value: float
    features: tuple[FeatureEvidence, ...]
    metric: str
    expected_score: float
    low: float
    high: float
    baselines: tuple[Baseline, ...]
    method: str
    model: str
    n_best: int
    task: str
    n_rows: int
    n_features: int
    level: float
    n_related: int
    warnings: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]
    seconds: float
    selector: Any = field(default=None, repr=False, compare=False)

    @property
    def columns(self) -> list[str]:
        """Names of the selected features, best first."""
        return [each.feature for each in self.features]

    def baseline(self, name: str) -> Baseline | None:
        """One of the baselines, or None if it was not measured."""
        return next((each for each in self.baselines if each.name == name), None)

    def to_frame(self) -> Any:
        """One row for every selected feature, with its evidence.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Whichever package is in use, pandas if both are.
        """
        names = [each.name for each in fields(FeatureEvidence)]
        return make_frame({name: [getattr(one, name) for one in self.features] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values that JSON can hold.

        Returns
        -------
        record : dict
            `schema` is "tamis-answer" and `version` 1; `columns` has the names of the selected
            features. The other keys are the parameters of this class, without `selector`;
            unknown numbers are None.
        """
        shown = {each.name: getattr(self, each.name) for each in fields(self)}
        shown.pop("selector")
        shown["features"] = [asdict(each) for each in self.features]
        shown["baselines"] = [asdict(each) for each in self.baselines]
        return {"schema": SCHEMA, "version": VERSION, "columns": self.columns, **plain(shown)}

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the answer as a page that opens in any browser, without a network.

        Parameters
        ----------
        path : path-like
            Where to.
        force : bool, default=False
            Replace an existing file.
        """
        from tamis.report import write_answer

        write_answer(self, Path(path), force=force)

    def __str__(self) -> str:
        from tamis.auto.page import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from tamis.report import answer_fragment

        return answer_fragment(self)
