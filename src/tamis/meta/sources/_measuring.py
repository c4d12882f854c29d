"""Measurements: calls of the user's function, what they return, and retries."""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Callable, Generator, Sequence
from numbers import Integral
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.data.frames import is_frame
from tamis.exceptions import InputError
from tamis.meta.sources._ledger import Floats, Ledger


class BadResult(Exception):
    """A measurement that cannot be used; the message has the reason."""


def call(function: Callable[[int], Any], index: int, apart: bool) -> tuple[int, Any]:
    """Result of the function, or its exception.

    One that is raised here would take along results that have arrived and were not yet looked at;
    and not every one can travel between processes.
    """
    try:
        return index, function(index)
    except Exception as error:
        return index, BadResult(describe(error)) if apart else error
    except BaseException as stop:  # from the keyboard: raised when its turn comes
        return index, stop


def describe(error: Exception) -> str:
    """Type and first line of an error."""
    if isinstance(error, BadResult):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


Results = Generator[tuple[int, Any]]


def call_here(function: Callable[[int], Any], indices: list[int]) -> Results:
    """One after the other, in this thread."""
    for index in indices:
        yield _looked_at(*call(function, index, False))


def call_in_threads(function: Callable[[int], Any], indices: list[int], n_threads: int) -> Results:
    """On several threads; stopped from the keyboard, it still hands over what is complete."""
    tasks: SimpleQueue[int | None] = SimpleQueue()
    arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def work() -> None:
        while (index := tasks.get()) is not None:
            arrived.put(call(function, index, False))

    # Two per thread are on the way, so that none is idle while a result is written to disk.
    waiting = deque(indices)
    n_under_way = min(2 * n_threads, len(waiting))
    for _ in range(n_under_way):
        tasks.put(waiting.popleft())
    try:
        for _ in range(min(n_threads, len(indices))):
            Thread(target=work, name="tamis_measuring", daemon=True).start()
        while n_under_way:
            index, result = arrived.get()
            n_under_way -= 1
            if waiting:
                tasks.put(waiting.popleft())
                n_under_way += 1
            yield _looked_at(index, result)
    except KeyboardInterrupt:
        yield from _complete(arrived)
        raise
    finally:
        _end(tasks, n_threads)


def call_in_processes(
    function: Callable[[int], Any], indices: list[int], n_processes: int
) -> Results:
    """In several processes of joblib."""
    from joblib import Parallel, delayed

    calls = (delayed(call)(function, index, True) for index in indices)
    options = {"prefer": "processes", "return_as": "generator_unordered", "batch_size": 1}
    results = Parallel(n_jobs=n_processes, **options)(calls)
    try:
        for index, result in results:
            yield _looked_at(index, result)
    finally:
        with warnings.catch_warnings():  # that tasks were cancelled: they were meant to be
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _looked_at(index: int, result: Any) -> tuple[int, Any]:
    """Raise what is no failure of a measurement but an end of the work."""
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        raise result
    return index, result


def _complete(arrived: SimpleQueue[tuple[int, Any]]) -> Results:
    with contextlib.suppress(Empty):
        while True:
            index, result = arrived.get_nowait()
            if not isinstance(result, BaseException):
                yield index, result


def _end(tasks: SimpleQueue[int | None], n_threads: int) -> None:
    """Let the threads end after what they are at."""
    with contextlib.suppress(Empty):
        while True:
            tasks.get_nowait()
    for _ in range(n_threads):
        tasks.put(None)


def read_columns(result: Any, n_columns: int, n_samples: int | None) -> Floats:
    """Copy of the result with one row per candidate, of shape (n_columns, n_samples).

    Infinite values are left for the caller, who knows the candidates.
    """
    values = as_numbers(result)
    if values.ndim == 1 and n_columns == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] != n_columns or values.shape[0] == 0:
        rows = "n_samples" if n_samples is None else n_samples
        raise BadResult(f"expected an array of shape ({rows}, {n_columns}), got {values.shape}")
    if n_samples is not None and values.shape[0] != n_samples:
        raise BadResult(f"expected {n_samples} rows, one per sample, got {values.shape[0]}")
    with np.errstate(over="ignore"):  # what overflows is infinite, and reported as that
        return np.array(values.T, dtype=np.float64, order="C")


def as_numbers(result: Any) -> NDArray[Any]:
    """Array of numbers of whatever shape, NaN where something is missing."""
    if is_frame(result):
        columns = [as_numbers(column) for column in frame_columns(result)]
        return np.column_stack(columns) if columns else np.empty((result.shape[0], 0))
    if sparse.issparse(result):
        values = result.toarray()
    elif type(result).__module__.startswith("pyarrow"):
        values = _from_arrow(result)
    elif np.ma.isMaskedArray(result):
        values = np.ma.filled(result.astype(np.float64), np.nan)
    elif nw.dependencies.is_into_series(result):
        values = nw.from_native(result, series_only=True).to_numpy()
    else:
        values = np.asarray(result)
    if values.dtype.kind == "O":
        values = _from_objects(values)
    if values.dtype.kind not in "iufb":
        raise BadResult(f"expected numbers, got values of dtype {values.dtype}")
    return values


def frame_columns(frame: Any) -> list[Any]:
    """Columns of a DataFrame or Arrow table, by position: names may come twice."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [column.to_native() for column in nw.from_native(frame, eager_only=True).iter_columns()]


def _from_arrow(column: Any) -> NDArray[Any]:
    """Values of an Arrow column; codes of a dictionary are looked up, which to_numpy does badly."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _from_objects(values: NDArray[Any]) -> Floats:
    """Objects as float64; None and pandas.NA are missing, text is no number."""
    out = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        if is_missing(value):
            out[place] = np.nan
        elif isinstance(value, str | bytes | complex):
            raise BadResult(f"expected numbers, got {value!r}")
        else:
            try:
                out[place] = float(value)
            except (TypeError, ValueError) as error:
                raise BadResult(f"expected numbers, got {type(value).__name__}") from error
    return out


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, pandas.NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


# Candidates (an int or several) with their columns, or with an exception, as they arrive.
Pieces = Generator[tuple[Any, Any]]


def measure_missing(source: Any, ledger: Ledger, wanted: Sequence[int]) -> Exception | None:
    """Measure candidates that are neither known nor failed; returns the last error met."""
    error: Exception | None = None
    with ledger.lock:
        missing = _missing(ledger, wanted)
        if not missing:
            return None
        _check_not_busy(source, ledger, missing)
        ledger.prepare()
        size = source.batch_size or len(missing)
        for start in range(0, len(missing), size):
            batch = _missing(ledger, missing[start : start + size])
            ledger.busy.update(batch)
            ledger.start(batch)
            try:
                error = _measure_batch(source, ledger, batch) or error
            except KeyboardInterrupt:
                with contextlib.suppress(InputError):
                    ledger.save()  # in case that a write was interrupted
                raise
            finally:
                ledger.busy.difference_update(batch)
    return error


def _missing(ledger: Ledger, wanted: Sequence[int]) -> list[int]:
    """Candidates to measure, each once, in the order asked for."""
    return [i for i in dict.fromkeys(wanted) if i not in ledger.stored and i not in ledger.failures]


def _check_not_busy(source: Any, ledger: Ledger, missing: list[int]) -> None:
    circle = ledger.busy.intersection(missing)
    if circle:
        raise InputError(
            f"{source._who()}: measure asked for columns of candidate {min(circle)}, which it is "
            "measuring itself. Ask for other candidates only."
        )


def _measure_batch(source: Any, ledger: Ledger, batch: list[int]) -> Exception | None:
    """Try all together, then one by one those whose failure cannot be attributed."""
    waiting, attempt = batch, _Attempt()
    for _ in range(1 + source.retries):
        if not waiting:
            return None
        attempt = _Attempt()
        attempt.run(source, ledger, waiting)
        waiting = [index for index in waiting if index not in ledger.stored]
    suspects = [index for index in waiting if index not in attempt.messages]
    ledger.failures.update({i: attempt.messages[i] for i in waiting if i in attempt.messages})
    if len(batch) == 1 and suspects:
        ledger.failures[suspects[0]] = attempt.shared
        return attempt.error
    for index in suspects:
        attempt.error = _measure_batch(source, ledger, [index]) or attempt.error
    return attempt.error if any(index in ledger.failures for index in batch) else None


def _expected_rows(source: Any, ledger: Ledger) -> int | None:
    """Length of the columns so far, or what the source declares."""
    known = source.n_samples if ledger.n_samples is None else ledger.n_samples
    return int(known) if isinstance(known, Integral) and int(known) > 0 else None


class _Attempt:
    """One call of measure: what is good goes to the ledger, what is not stays here."""

    def __init__(self) -> None:
        self.messages: dict[int, str] = {}
        self.shared = "measure returned nothing for it"
        self.error: Exception | None = None

    def run(self, source: Any, ledger: Ledger, waiting: list[int]) -> None:
        """Take the results as they arrive; an error of the ledger (a full disk) goes through."""
        with contextlib.closing(source._measurements(np.array(waiting, dtype=np.int64))) as pieces:
            while True:
                try:
                    indices, result = next(pieces)
                except StopIteration:
                    return
                except Exception as error:  # whatever a measurement of a user raises
                    self.shared, self.error = describe(error), error
                    return
                try:
                    self._keep(source, ledger, indices, result)
                except KeyboardInterrupt as stop:
                    self._keep_complete(source, ledger, pieces, stop)
                    raise

    def _keep_complete(
        self, source: Any, ledger: Ledger, pieces: Pieces, stop: BaseException
    ) -> None:
        """What other threads have finished when the user stops the work."""
        with contextlib.suppress(StopIteration, KeyboardInterrupt):
            piece = pieces.throw(stop)
            while True:
                self._keep(source, ledger, *piece)
                piece = next(pieces)

    def _keep(self, source: Any, ledger: Ledger, indices: Any, result: Any) -> None:
        ledger.add(self._read(np.atleast_1d(indices), result, _expected_rows(source, ledger)))

    def _read(
        self, indices: NDArray[np.int64], result: Any, n_samples: int | None
    ) -> dict[int, Floats]:
        try:
            if isinstance(result, Exception):
                raise result
            rows = read_columns(result, indices.size, n_samples)
        except Exception as error:
            self.shared, self.error = describe(error), error
            if indices.size == 1:
                self.messages[int(indices[0])] = self.shared
            return {}
        infinite = np.isinf(rows).any(axis=1)
        found = dict(zip(indices.tolist(), rows, strict=True))
        for index in indices[infinite].tolist():
            column = found.pop(index)
            value = column[np.isinf(column)][0]
            self.messages[index] = f"expected finite values or NaN, got {value}"
            self.error = BadResult(self.messages[index])
        return found
