"""Checks of sources and candidates, and their error messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tamis._validation import Number, check_value
from tamis.exceptions import InputError, MeasurementError

# Methods that other code calls; an attribute of a subclass may not take their place.
METHODS = ("columns", "available", "costs", "candidate_names")
# Candidates named in a message before "and n more".
SHOWN = 5


def check_methods(source: Any) -> None:
    """Raise where an attribute of the user hides a method that is needed."""
    for name in METHODS:
        if not callable(getattr(source, name)):
            raise InputError(
                f"{source._who()}: expected {name} to be the method of FeatureSource, got "
                f"{kind_of(getattr(source, name))}. Give this attribute another name."
            )


def check_settings(source: Any) -> None:
    """Check how often and how many at a time a source is asked."""
    who = source._who()
    check_value(source.retries, Number(int, low=0), who=who, name="retries")
    check_value(source.batch_size, Number(int, low=1, or_none=True), who=who, name="batch_size")


def check_indices(indices: Any, n_candidates: int, who: str) -> list[int]:
    """Positions of candidates as a list; a mask is fine, too."""
    array = np.atleast_1d(np.asarray(indices))
    if array.dtype == bool and array.shape == (n_candidates,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"{who}: expected indices to be a list of ints, or a mask of {n_candidates} bools, got "
            f"dtype {array.dtype} of shape {array.shape}."
        )
    wrong = array[(array < 0) | (array >= n_candidates)] if array.size else array
    if wrong.size:
        raise InputError(
            f"{who}: expected indices between 0 and {n_candidates - 1}, got {int(wrong[0])}."
        )
    return array.astype(np.int64).tolist()


def not_a_source(thing: Any) -> InputError:
    """Error for an object that is not a source."""
    what = f"the class {thing.__name__}" if isinstance(thing, type) else kind_of(thing)
    return InputError(
        "as_source: expected a FeatureSource, or an object with an attribute meta and a method "
        f"measure(indices), got {what}. For a table in memory use tamis.meta.ArraySource(X, meta)."
    )


def no_measure(who: str) -> InputError:
    """Error for a class without `measure`."""
    return InputError(
        f"{who}: expected a method measure(indices) that returns an array of shape (n_samples, "
        "len(indices)), got none. Define it in the class."
    )


def no_meta(who: str) -> InputError:
    """Error for a class without `meta`."""
    return InputError(
        f"{who}: expected an attribute meta of shape (n_candidates, n_meta), got none. Set it in "
        "the class or in __init__."
    )


def not_measured(
    failed: Mapping[int, str], n_asked: int, names: list[str] | None, who: str
) -> MeasurementError:
    """Which candidates failed, why, and what became of the others."""
    shown = [
        f"candidate {index}{'' if names is None else f' ({names[index]!r})'}: {failed[index]}"
        for index in list(failed)[:SHOWN]
    ]
    if len(failed) > SHOWN:
        shown.append(f"and {len(failed) - SHOWN} more")
    return MeasurementError(
        f"{who}: expected columns of {n_asked} candidates, got {len(failed)} that could not be "
        f"measured ({'; '.join(shown)}); {n_asked - len(failed)} are measured and kept. Fix the "
        "cause and call retry_failed(), or pass skip_failed=True.",
        failed,
    )


def kind_of(thing: Any) -> str:
    """Type of an object, for messages."""
    return "None" if thing is None else f"an object of type {type(thing).__name__}"
