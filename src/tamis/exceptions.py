"""Errors and warnings of Tamis.

::

    Exception
    ├── TamisError                   anything Tamis raises on purpose
    │   ├── InputError               also a ValueError: the data or a parameter is not usable
    │   │   └── ColumnTypeError      a column holds something that is not a number
    │   ├── MeasurementError         also a RuntimeError: candidates that could not be measured
    │   ├── WorkerError              also a RuntimeError: the workers of a cluster were lost
    │   └── MissingDependencyError   also an ImportError: an optional package is not installed
    Warning
    └── SelectionWarning             also a UserWarning: the result is usable, but read this

Every message says who speaks, what was expected, what came and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "ColumnTypeError",
    "InputError",
    "MeasurementError",
    "MissingDependencyError",
    "SelectionWarning",
    "TamisError",
    "WorkerError",
]


class TamisError(Exception):
    """Base of every error that Tamis raises on purpose.

    Examples
    --------
    >>> import tamis
    >>> try:
    ...     tamis.DFT(n_bins=1).fit([[0.0], [1.0]], [0, 1])
    ... except tamis.exceptions.TamisError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(TamisError, ValueError):
    """The data, the target or a parameter cannot be used as given.

    It is a :class:`ValueError`, so code written for scikit-learn catches it.

    Examples
    --------
    >>> from tamis.exceptions import InputError
    >>> issubclass(InputError, ValueError)
    True
    """


class ColumnTypeError(InputError):
    """A column of the table holds something that is not a number.

    Examples
    --------
    >>> from tamis.exceptions import ColumnTypeError, InputError
    >>> issubclass(ColumnTypeError, InputError)
    True
    """


class MeasurementError(TamisError, RuntimeError):
    """Candidates of a feature source could not be measured; the others are kept.

    Parameters
    ----------
    message : str
        What is told.
    failures : mapping of int to str, default=None
        Why, for every candidate that failed.

    Attributes
    ----------
    failures : dict of int to str
        As given.

    Examples
    --------
    >>> from tamis.exceptions import MeasurementError
    >>> error = MeasurementError("one candidate failed", {7: "OSError: the lamp is off"})
    >>> error.failures
    {7: 'OSError: the lamp is off'}
    """

    def __init__(self, message: str, failures: Mapping[int, str] | None = None) -> None:
        super().__init__(message)
        self.failures = dict(failures or {})


class WorkerError(TamisError, RuntimeError):
    """The workers of a cluster were lost before the work was done.

    Examples
    --------
    >>> from tamis.exceptions import WorkerError
    >>> issubclass(WorkerError, RuntimeError)
    True
    """


class MissingDependencyError(TamisError, ImportError):
    """An optional package is needed for this call and is not installed.

    Examples
    --------
    >>> from tamis.exceptions import MissingDependencyError
    >>> issubclass(MissingDependencyError, ImportError)
    True
    """


class SelectionWarning(UserWarning):
    """The selection was made, but not quite as asked; the message says how.

    Examples
    --------
    >>> from tamis.exceptions import SelectionWarning
    >>> issubclass(SelectionWarning, UserWarning)
    True
    """
