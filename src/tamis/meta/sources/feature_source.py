"""FeatureSource: candidates with known properties, whose columns are measured on demand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.fingerprint import fingerprint, table_fingerprint
from tamis._validation import Custom, Number, check_value
from tamis.exceptions import InputError, MeasurementError
from tamis.meta.sources import meta_table
from tamis.meta.sources._folder import Folder
from tamis.meta.sources._ledger import Ledger, Pieces
from tamis.meta.sources.meta_table import Floats

T = TypeVar("T")


class Reading(Generic[T]):
    """A computed attribute that a subclass or an object may replace; a property refuses that."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self.read = read

    def __get__(self, source: Any, owner: type | None = None) -> T:
        return self if source is None else self.read(source)  # type: ignore[return-value]


_KEY = Custom(lambda key: key is None or isinstance(key, str), "a str or None")
# Candidates named in a message before "and n more".
_SHOWN = 5
# Methods that other code calls; an attribute of a subclass may not take their place.
_METHODS = ("columns", "available", "costs", "candidate_names")
# What an object may define, and the wrapper looks up there.
_TAKEN_OVER = frozenset(
    ["meta", "measure", "cost", "feature_names", "n_samples", "retries", "batch_size"]
)


class FeatureSource:
    """Candidate features: properties known for all, columns measured when asked for.

    For features that are expensive to have: laboratory measurements, questions to a database,
    descriptors that take minutes. A subclass defines the properties (`meta`) and how to measure
    (`measure`), as attributes or properties of class or object; ``__init__`` of this class need
    not be called. In return every column is measured at most once, counted, costed, and, with
    :meth:`keep_in`, found again by a later process.

    Attributes
    ----------
    meta : array-like or DataFrame of shape (n_candidates, n_meta)
        To be defined: properties of every candidate. Text and missing values are fine.
    cost : array-like of shape (n_candidates,), float or None
        May be defined: what a measurement costs; None means 1 each.
    feature_names : list of str or None
        May be defined: names of the candidates; else those in the index of a pandas `meta`.
    retries : int
        May be defined: how often a failed measurement is tried again; 2 by default.
    batch_size : int or None
        May be defined: how many candidates `measure` is asked for at a time; None (the default)
        means all that are needed. What a killed process loses is the batch it was measuring.
    n_candidates, meta_names : int, list of str or None
        Number of rows of `meta`, and its columns if it is a DataFrame.
    n_samples : int or None
        Length of a column; None as long as it is not known. May be defined: then columns of
        another length are failures from the first one on.
    measured, n_measured, spent : ndarray of int64, int, float
        The measured candidates, in the order in which they were asked for, how many they are, and
        what they cost together.
    failures : dict of int to str
        Candidates that could not be measured, and why.

    See Also
    --------
    ArraySource, FrameSource, FunctionSource, ParquetSource : Sources ready to use.

    Notes
    -----
    A measurement fails when `measure` raises an exception, or returns something other than finite
    numbers or NaN in the right shape. It is then tried again `retries` times; if a batch still
    fails, its candidates are measured one by one, each with as many retries. What failed is not
    tried again before :meth:`retry_failed`, and does not count in `n_measured` and `spent`. A
    `KeyboardInterrupt` is no failure: it ends the work at once, and what is measured is kept.

    A copy, deep copy or pickle of a source takes along what is measured, and the folder; from then
    on the two are independent. `measure` is called by one thread at a time, so it need not be safe
    for threads; known columns are read without waiting. A source keeps 8 bytes per sample and
    measured candidate, and hands out copies. See :doc:`/families/meta` for recipes.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import FeatureSource
    >>> class Powers(FeatureSource):
    ...     meta = np.array([[1], [2], [3], [4]])  # known: the exponent
    ...     def measure(self, indices):
    ...         print("measuring", indices)
    ...         return np.arange(3.0)[:, None] ** (indices + 1)
    >>> source = Powers()
    >>> first, again = source.columns([3, 1]), source.columns([1, 3, 3])
    measuring [3 1]
    >>> source.n_measured, source.measured
    (2, array([3, 1]))
    """

    meta: Any
    cost: Any = None
    retries: int = 2
    batch_size: int | None = None

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Measure some candidates; to be written by the subclass.

        Parameters
        ----------
        indices : ndarray of int64
            Candidates that were never measured before, each once.

        Returns
        -------
        columns : array-like, DataFrame or sparse matrix of shape (n_samples, len(indices))
            NaN where a value is missing. For one candidate, ``(n_samples,)`` is fine.
        """
        raise InputError(
            f"{self._who()}: expected a method measure(indices) that returns an array of shape "
            "(n_samples, len(indices)), got none. Define it in the class."
        )

    # Computed where neither a subclass nor the object defines them.
    feature_names: Any = Reading(lambda self: meta_table.row_names(self.meta))
    meta_names: Any = Reading(lambda self: meta_table.table_names(self.meta))
    n_candidates: Reading[int] = Reading(lambda self: self._size())
    n_samples: Any = Reading(lambda self: self._known_rows())
    measured: Any = Reading(lambda self: np.array(self._record.order(), dtype=np.int64))
    n_measured: Reading[int] = Reading(lambda self: len(self._record.stored))
    spent: Reading[float] = Reading(
        lambda self: float(FeatureSource.costs(self)[self._record.order()].sum())
    )
    failures: Any = Reading(lambda self: dict(self._record.failures))

    def costs(self) -> Floats:
        """Cost of every candidate, float64 of shape (n_candidates,); 1 each without `cost`."""
        return meta_table.check_cost(self.cost, self._size(), self._who())

    def candidate_names(self) -> list[str]:
        """Name of every candidate: `feature_names`, or ``x0``, ``x1``, ... without them."""
        names = meta_table.check_names(self.feature_names, self._size(), self._who())
        return [f"x{index}" for index in range(self._size())] if names is None else names

    def columns(self, indices: Any, *, skip_failed: bool = False) -> Floats:
        """Columns of some candidates, measured now where they were not yet.

        The result is a new float64 array of shape (n_samples, n_indices), in the order of
        `indices`. A :class:`~tamis.exceptions.MeasurementError` tells which candidates could not be
        measured; the others are measured and kept.

        Parameters
        ----------
        indices : array-like of int, or mask of n_candidates bools
            The candidates, in any order; the same one may come several times.
        skip_failed : bool, default=False
            Leave out candidates that cannot be measured; ``available(indices)`` tells which ones
            are there. Otherwise they are an error.
        """
        found, error = self._obtain(indices)
        chosen = [column for _, column in found if column is not None]
        if not skip_failed and len(chosen) < len(found):
            raise self._failure(dict(found)) from error
        return np.array(chosen).T if chosen else np.empty((self._rows_of_nothing(), 0))

    def available(self, indices: Any) -> NDArray[np.int64]:
        """Those of some candidates that can be had, measured now where they were not yet.

        Parameters
        ----------
        indices : array-like of int, or mask of n_candidates bools
            The candidates; the result has those that did not fail, in the same order.
        """
        found, _ = self._obtain(indices)
        return np.array([index for index, column in found if column is not None], dtype=np.int64)

    def retry_failed(self) -> NDArray[np.int64]:
        """Forget what failed, so that it is tried again when next asked for.

        Returns the candidates: ``source.available(source.retry_failed())`` tries at once.
        """
        with self._record.lock:
            failed = np.array(list(self._record.failures), dtype=np.int64)
            self._record.failures.clear()
        return failed

    def keep_in(self, path: Any, *, key: str | None = None) -> Any:
        """Keep measured columns in a folder, too, and find there what was measured before.

        Every result is written when it arrives, whole or not at all, so a process may be killed
        at any moment. Several processes may use one folder at a time. What the folder holds counts
        as measured. Returns the source itself.

        Parameters
        ----------
        path : str or Path
            A new folder, or one made by this method for the same `meta` (values and names). One
            that belongs to another source, or cannot be written, is an error.
        key : str, default=None
            Name of the samples, such as the version of the data: columns kept under another key
            are refused. Without it, only `meta` and the number of samples tell sources apart.
        """
        check_value(key, _KEY, who=self._who(), name="key")
        names = meta_table.check_names(self.feature_names, self._size(), self._who())
        table = self.meta
        if hasattr(table, "set_axis"):  # names in pandas may come twice
            table = table.set_axis(range(table.shape[1]), axis=1)
        content = table_fingerprint(table)["content_sha256"]
        digest = fingerprint(content, meta_table.table_names(self.meta), names)
        identity = {"n_candidates": self._size(), "meta": digest, "key": key}
        folder = Folder(path, identity, self._who())
        with self._record.lock:
            self._record.keep_in(folder, self._known_rows())
        return self

    def forget(self) -> Any:
        """Forget columns, counts and failures; files in a folder stay, but are used no more."""
        self.__dict__.pop("_ledger", None)
        return self

    @property
    def _record(self) -> Ledger:
        """Made when first needed; past any __setattr__ of a subclass, a frozen one included."""
        known = self.__dict__.get("_ledger")
        return self.__dict__.setdefault("_ledger", Ledger()) if known is None else known

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        plain = state[0] if isinstance(state, tuple) else state  # a tuple where there are slots
        if not plain or "_ledger" not in plain:
            return state
        plain = {**plain, "_ledger": copy.copy(plain["_ledger"])}
        return (plain, *state[1:]) if isinstance(state, tuple) else plain

    def _who(self) -> str:
        return type(self).__name__

    def _size(self) -> int:
        try:
            meta = self.meta
        except AttributeError as error:
            raise InputError(
                f"{self._who()}: expected an attribute meta of shape (n_candidates, n_meta), got "
                "none. Set it in the class or in __init__."
            ) from error
        return meta_table.count_candidates(meta, self._who())

    def _known_rows(self) -> int | None:
        """Length of a column, if it is known without measuring."""
        return self._record.n_samples

    def _rows_of_nothing(self) -> int:
        """Length of no column at all: known, or what `measure` makes of no candidates, or 0."""
        known = self._known_rows()
        if known is not None:
            return known
        try:
            nothing = self.measure(np.empty(0, dtype=np.int64))
            return meta_table.read_columns(nothing, 0, None).shape[1]
        except Exception:  # not every measure can do that, and it need not
            return 0

    def _measurements(self, indices: NDArray[np.int64]) -> Pieces:
        """Results as they arrive: candidates with their columns, or with an exception."""
        yield indices, self.measure(indices.copy())

    def _obtain(self, indices: Any) -> tuple[list[tuple[int, Floats | None]], Exception | None]:
        """Column of every candidate asked for, None where it failed, and the last error."""
        wanted = self._check_indices(indices)
        record, error = self._record, None
        # What is known is read without waiting for what another thread measures.
        if not all(index in record.stored for index in wanted):
            who, size = self._who(), Number(int, low=1, or_none=True)
            check_value(self.retries, Number(int, low=0), who=who, name="retries")
            check_value(self.batch_size, size, who=who, name="batch_size")
            self._check_measure()
            error = record.measure_missing(self, wanted)
        stored = [(index, record.stored.get(index)) for index in wanted]
        return [(index, found and found.column) for index, found in stored], error

    def _check_indices(self, indices: Any) -> list[int]:
        """Positions of candidates; a mask is fine, too."""
        array, size = np.atleast_1d(np.asarray(indices)), self._size()
        if array.dtype == bool and array.shape == (size,):
            array = np.flatnonzero(array)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputError(
                f"{self._who()}: expected indices to be a list of ints, or a mask of {size} bools, "
                f"got dtype {array.dtype} of shape {array.shape}."
            )
        array = array.astype(np.int64)
        wrong = array[(array < 0) | (array >= size)]
        if wrong.size:
            raise InputError(
                f"{self._who()}: expected indices between 0 and {size - 1}, got {wrong[0]}."
            )
        return array.tolist()

    def _check_measure(self) -> None:
        if getattr(self.measure, "__func__", None) is FeatureSource.measure:
            FeatureSource.measure(self, np.empty(0, dtype=np.int64))

    def _failure(self, found: dict[int, Floats | None]) -> MeasurementError:
        """Which candidates failed, why, and what became of the others."""
        reasons = self._record.failures
        failed = {i: reasons.get(i, "not tried") for i, column in found.items() if column is None}
        names = meta_table.check_names(self.feature_names, self._size(), self._who())
        shown = [
            f"candidate {index}{f' ({names[index]!r})' if names else ''}: {failed[index]}"
            for index in list(failed)[:_SHOWN]
        ]
        if len(failed) > _SHOWN:
            shown.append(f"and {len(failed) - _SHOWN} more")
        return MeasurementError(
            f"{self._who()}: expected columns of {len(found)} candidates, got {len(failed)} that "
            f"could not be measured ({'; '.join(shown)}); {len(found) - len(failed)} are measured "
            "and kept. Fix the cause and call retry_failed(), or pass skip_failed=True.",
            failed,
        )


def as_source(source: Any) -> FeatureSource:
    """A feature source as it is; another object with `meta` and `measure` is wrapped.

    The wrapped object remembers its wrapper, so that asking twice measures nothing twice.

    Parameters
    ----------
    source : FeatureSource, or object with `meta` and `measure`
        `cost`, `feature_names`, `n_samples`, `retries` and `batch_size` are used if it has them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from tamis.meta import as_source
    >>> table = np.arange(6.0).reshape(2, 3)
    >>> plain = SimpleNamespace(meta=[[0], [1], [2]], measure=lambda indices: table[:, indices])
    >>> as_source(plain).columns([2, 0])
    array([[2., 0.],
           [5., 3.]])
    """
    if not isinstance(source, FeatureSource):
        return _wrap(source)
    for name in _METHODS:
        hidden = getattr(source, name)
        if not callable(hidden):
            raise InputError(
                f"{source._who()}: expected {name} to be the method of FeatureSource, got an "
                f"object of type {type(hidden).__name__}. Give this attribute another name."
            )
    source._size()
    source._check_measure()
    return source


class WrappedSource(FeatureSource):
    """An object with `meta` and `measure` as a source."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattribute__(self, name: str) -> Any:
        if name in _TAKEN_OVER:
            original = object.__getattribute__(self, "_original")
            given = getattr(original, name, None)
            if given is not None:
                return given
        return super().__getattribute__(name)

    def _who(self) -> str:
        return type(self._original).__name__


def _wrap(original: Any) -> FeatureSource:
    measures = callable(getattr(original, "measure", None)) and hasattr(original, "meta")
    is_class = isinstance(original, type)
    if is_class or not measures:
        kind = original.__name__ if is_class else type(original).__name__
        came = f"the class {kind}" if is_class else f"an object of type {kind}"
        raise InputError(
            "as_source: expected a FeatureSource, or an object with an attribute meta and a method "
            f"measure(indices), got {came}. For a table in memory use "
            "tamis.meta.ArraySource(X, meta)."
        )
    memory = getattr(original, "__dict__", None)
    known = memory.get("_tamis_source") if isinstance(memory, dict) else None
    # A copy of the object brings the wrapper of the object it was copied from.
    if isinstance(known, WrappedSource) and known._original is original:
        return known
    wrapped = WrappedSource(original)
    if isinstance(memory, dict):
        memory["_tamis_source"] = wrapped
    return wrapped
