"""Comparison: what came out of comparing selectors, as tables, tests and a recommendation."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._fitted import make_frame
from tamis._runtime.atomic import atomic_path
from tamis._validation import Number, check_value
from tamis.evaluation.results import schema, tables
from tamis.evaluation.results.recommendation import Recommendation, recommend
from tamis.evaluation.results.record import SCORES, make_record, same_metric
from tamis.evaluation.results.tables import Results, check_known
from tamis.evaluation.run.plan import Plan
from tamis.evaluation.store import StoredUnit
from tamis.exceptions import InputError

__all__ = ["Comparison", "Recommendation"]

FREQUENCIES = ("column", "index", "share", "low", "high", "mean_rank")


class Comparison:
    """What came out of :func:`tamis.compare`.

    All tables are tidy data frames, of pandas or polars, whichever is in use.

    Parameters
    ----------
    plan : Plan
        What was compared; made by `compare`.
    rows : iterable of StoredUnit
        What the store holds of it.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = {"cancer": load_breast_cancer()}
    >>> found = tamis.evaluation.compare(["dft", "variance"], data, protocol=3, counts=[2, 5])
    >>> best = found.recommend()
    >>> best.method, best.count
    ('dft', 5)
    >>> found.rankings("cancer", "dft").shape
    (3, 30)
    """

    def __init__(self, plan: Plan, rows: Iterable[StoredUnit]):
        self._results = Results(plan, rows)

    def __repr__(self) -> str:
        return (
            f"Comparison({len(self.methods)} methods, {len(self.data)} data sets, "
            f"{len(self._results.units)} of {len(self._results.plan.jobs)} units)"
        )

    @property
    def methods(self) -> list[str]:
        """Names of the methods."""
        return list(self._results.methods)

    @property
    def data(self) -> list[str]:
        """Names of the data sets."""
        return list(self._results.names)

    def counts(self, data: str | None = None) -> tuple[int, ...]:
        """Numbers of features that were tried on a data set, ascending.

        Parameters
        ----------
        data : str, default=None
            The data set; may be left out if there is only one.
        """
        return self._results.settings[self._number(data)].counts

    def table(self) -> Any:
        """All scores: data, method, split, count, learner, metric, value.

        One row per score. A value is NaN where an estimator failed or a metric is not defined;
        a selector that failed has no rows. See :meth:`failures`.
        """
        return _as_frame(self.score_rows(), SCORES)

    def score_rows(self) -> list[dict[str, Any]]:
        """Rows of :meth:`table` as dictionaries, without a package for data frames."""
        return self._rows(tables.score_rows)

    def curve_rows(self) -> list[dict[str, Any]]:
        """Rows of :meth:`curves` as dictionaries, without a package for data frames."""
        return self._rows(tables.curve_rows)

    def baseline_rows(self) -> list[dict[str, Any]]:
        """Rows as of :meth:`curve_rows` for random features, all features and guessing."""
        return self._rows(tables.baseline_rows)

    def time_rows(self) -> list[dict[str, Any]]:
        """Rows of :meth:`times` as dictionaries, without a package for data frames."""
        return self._rows(tables.time_rows)

    def curves(self) -> Any:
        """Score against number of features: mean, standard error and 95% interval over splits.

        The columns are data, method, learner, metric, count, mean, standard_error, low, high, n.
        The interval is that of the score of a model trained on all rows. It stays inside the range
        of the metric and never has zero width (``tamis.evaluation.intervals.score_interval``).
        """
        return _as_frame(self.curve_rows(), ("data", *schema.CURVE))

    def stability(self, top: int | None = None) -> Any:
        """Agreement of the rankings of disjoint halves of the rows.

        Splits of one table share rows, so their rankings agree even on noise. Halves do not: they
        agree as two independent tables of half as many rows do.

        Parameters
        ----------
        top : int, default=None
            Only the first ranks count for the Jensen-Shannon index.

        Returns
        -------
        DataFrame
            data, method, count; `nogueira` of the best `count` features with its 95% interval
            `low` to `high`, their `jaccard`, the `jensen_shannon` index of the rankings (the same
            for every count), and `n`, the number of pairs of halves. NaN where there is nothing to
            choose, or one split only.
        """
        if top is not None:
            check_value(top, Number(int, 1), who="Comparison.stability", name="top")
        return _as_frame(self._rows(tables.stability_rows, top), ("data", *schema.STABILITY))

    def significance(
        self,
        metric: str | None = None,
        *,
        data: str | None = None,
        learner: str | None = None,
        count: int | None = None,
    ) -> Any:
        """Which methods differ from the best.

        Over several data sets the Friedman test and Nemenyi's critical difference, on mean scores;
        on one data set every method against the best by a t test paired by row, at the level of
        the largest difference among all pairs
        (``compare_rows``).

        Parameters
        ----------
        metric : str, default=None
            `None` means the first.
        data : str, default=None
            Only this data set.
        learner : str, default=None
            `None` means the first.
        count : int, default=None
            Number of columns. `None` means the mean of the scores over all of them.

        Returns
        -------
        DataFrame
            method, mean, average_rank, p_value against the best, is_best, as_good_as_best, groups
            (numbers of the groups that do not differ among each other), best first. Empty if there
            are fewer than two methods or two splits with scores.
        """
        several = data is None and len(self.data) > 1
        if several and metric is None and not same_metric(self._results):
            raise InputError(
                "Comparison.significance: expected one metric for all data sets, got different "
                "ones. Name one of the data sets."
            )
        self._check_count(count, data)
        number = None if several else self._number(data)
        found = tables.differences(self._results, number, metric, learner, count)
        return _as_frame(found["methods"], schema.METHOD)

    def rankings(self, data: str, method: str) -> NDArray[np.int32]:
        """Order of the columns (indices, best first) on every split.

        Parameters
        ----------
        data : str
            The data set.
        method : str
            The method.

        Returns
        -------
        ndarray of shape (n_splits, n_columns)
            Splits on which the method failed are left out.
        """
        number = self._number(data)
        return self._results.orders(number, check_known(method, self.methods, "method"))

    def selection_frequency(self, data: str, method: str, count: int) -> Any:
        """How often every column is among the best.

        Parameters
        ----------
        data : str
            The data set.
        method : str
            The method.
        count : int
            Number of columns that count as the best.

        Returns
        -------
        DataFrame
            column, index, share of the splits, its 95% interval `low` to `high` and mean_rank; the
            most frequent first.
        """
        orders = self.rankings(data, method)
        names = self._results.settings[self._number(data)].table.columns
        limit = Number(int, 1, len(names))
        check_value(count, limit, who="Comparison.selection_frequency", name="count")
        return _as_frame(tables.frequency_rows(orders, count, names), FREQUENCIES)

    def failures(self) -> Any:
        """What went wrong.

        The columns are data, method, split, part ("selector", or the estimator that gave no
        score), error in one line, and details, the whole traceback of selectors.
        """
        return _as_frame(tables.failure_rows(self._results), schema.FAILURE)

    def failure_counts(self) -> dict[tuple[str, str], int]:
        """On how many splits selectors failed, by data set and method; only those that failed."""
        rows = (row for row in tables.failure_rows(self._results) if row["part"] == "selector")
        return dict(Counter((row["data"], row["method"]) for row in rows))

    def times(self) -> Any:
        """How long selecting and learning took on one split.

        The columns are data, method, select_seconds, learn_seconds, peak_bytes and n. Times and
        memory (its growth while selecting; None where the system does not tell) are medians over
        the splits, on one thread.
        """
        return _as_frame(self.time_rows(), ("data", *schema.TIME))

    def probes(self) -> Any:
        """Share of columns known to mean nothing among the selected ones.

        The columns are data, method, count, mean, standard_error, low, high, n; only for data sets
        that come with a list of their relevant columns.
        """
        return _as_frame(self._rows(tables.probe_rows), ("data", *schema.PROBE))

    def recommend(self, data: str | None = None, metric: str | None = None) -> Recommendation:
        """Which method, how many features, which ones, and what to expect.

        Parameters
        ----------
        data : str, default=None
            The data set; may be left out if there is only one.
        metric : str, default=None
            The metric that decides. `None` means the first.

        Returns
        -------
        Recommendation
            Of everything within one standard error of the best mean score: the fewest features;
            among methods that need as few, not one that takes ten times as long as another; then
            the best score. Random rankings are never recommended, only compared with. If the
            choice is not significantly better than as many random features, the sentence says so
            first.

        Notes
        -----
        A score that was used to choose is too good. `score` is therefore that of choosing by rows
        and splits drawn at random and scoring on the others (bootstrap bias correction, Tsamardinos
        et al. 2018, ``tamis.evaluation.intervals.corrected_score``).
        """
        found = recommend(self._results, self._number(data), metric)
        if found is None:
            raise InputError(
                "Comparison.recommend: expected at least one method with scores, got none. "
                "Comparison.failures() says what went wrong."
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rankings, as plain values that JSON can hold.

        `tamis.evaluation.results.schema` lists its keys. Unknown numbers are None. Only features
        that occur in it are named. The report is made from this dictionary and nothing else.
        """
        return make_record(self._results)

    def to_json(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write :meth:`to_dict` to a file.

        Parameters
        ----------
        path : path-like
            Where to.
        force : bool, default=False
            Replace an existing file.
        """
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
        with atomic_path(os.fspath(path), force) as temporary:
            # A name may hold half of a surrogate pair, which no encoding can write.
            temporary.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")

    def to_html(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the report, one page that opens offline.

        Parameters
        ----------
        path : path-like
            Where to.
        force : bool, default=False
            Replace an existing file.
        """
        from tamis.report import write_report

        write_report(self, Path(path), force=force)

    def _rows(self, rows: Any, *options: Any) -> list[dict[str, Any]]:
        return [
            {"data": name, **row}
            for number, name in enumerate(self.data)
            for row in rows(self._results, number, *options)
        ]

    def _number(self, data: str | None) -> int:
        if data is not None:
            return self.data.index(check_known(data, self.data, "data"))
        if len(self.data) > 1:
            raise InputError(
                f"Comparison: expected the name of one of {len(self.data)} data sets, got none. "
                f"Choose among {', '.join(map(repr, self.data))}."
            )
        return 0

    def _check_count(self, count: int | None, data: str | None) -> None:
        for name in self.data if data is None else [data]:
            known = self.counts(name)
            if count is not None and count not in known:
                raise InputError(
                    f"Comparison: count must be one of {known} on {name!r}, got {count!r}."
                )


def _as_frame(rows: Iterable[dict[str, Any]], fields: Iterable[str]) -> Any:
    found = list(rows)
    return make_frame({field: [row[field] for row in found] for field in fields})
