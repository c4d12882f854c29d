"""Which data sets there are, and what is known of each."""

from __future__ import annotations

import difflib
from dataclasses import replace

from tamis.datasets._catalogue import CATALOGUE
from tamis.datasets._info import DatasetInfo
from tamis.exceptions import InputError

__all__ = ["describe", "list_datasets"]


def list_datasets() -> list[str]:
    """Name every data set of the catalogue.

    Returns
    -------
    list of str
        The names :func:`describe` and :func:`load` take, sorted.

    Examples
    --------
    >>> from tamis.datasets import describe, list_datasets
    >>> len(list_datasets())
    37
    >>> [name for name in list_datasets() if describe(name).domain == "regression"]
    ['communities_crime', 'gasoline', 'pumadyn32nm', 'riboflavin']
    """
    return sorted(CATALOGUE)


def describe(name: str) -> DatasetInfo:
    """Tell what is known of a data set, without opening a file.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Returns
    -------
    DatasetInfo
        A frozen record: shape, classes, split, OpenML twin, overlap with other sets, a note.

    Examples
    --------
    >>> from tamis.datasets import describe
    >>> describe("allaml").overlap
    ('leukemia', 'leukemia_3571', 'leukemia_disc')
    >>> describe("allaml").note
    'Same measurements as leukemia, each gene standardised over all 72 rows: leaks across folds.'
    """
    info = CATALOGUE.get(name) if isinstance(name, str) else None
    if info is None:
        raise InputError(_unknown(name))
    # The record is frozen but its dict is not: a copy keeps the catalogue out of reach.
    return replace(info, classes=None if info.classes is None else dict(info.classes))


def _unknown(name: object) -> str:
    close = difflib.get_close_matches(str(name).lower(), CATALOGUE, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "none is close;"
    return (
        f"tamis.datasets: name must be one of the {len(CATALOGUE)} known data sets, "
        f"got {name!r}: {hint} tamis.datasets.list_datasets() names them all."
    )
