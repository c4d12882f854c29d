"""Measuring what is missing: retries, then one by one, and everything good is kept at once."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError
from tamis.meta._calls import BadResult, describe
from tamis.meta._ledger import Floats, Ledger
from tamis.meta._results import read_columns

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
    """Some tries together; if nobody knows who is guilty then, some tries one by one."""
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
    """Length of the columns so far, or what the source says of itself."""
    told = source.n_samples if ledger.n_samples is None else ledger.n_samples
    return int(told) if isinstance(told, Integral) and int(told) > 0 else None


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
