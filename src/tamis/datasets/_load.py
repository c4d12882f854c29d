"""Load a data set by name: file, else OpenML; checked; as arrays or as a frame."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from tamis.datasets._catalogue import DatasetInfo, describe
from tamis.datasets._files import check_arrays, computing_type, fetch_arrays, file_path, read_arrays
from tamis.exceptions import InputError, MissingDependencyError

ROW_ARRAYS = ("X", "y", "split", "fold", "train", "test")
SPLITS = {"train": 0, "test": 1}


def load(
    name: str,
    *,
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Load one of the known data sets.

    It reads ``<name>.npz`` or, without such a file, downloads the OpenML twin where there is one,
    and compares the table with :func:`describe`: shape, class counts, missing cells and magnitude.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    split : {"train", "test"} or None, default=None
        Keep only the rows of that published part; `None` keeps all rows.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of a Bunch.
    as_frame : bool, default=False
        Make `X` a pandas DataFrame (with sparse columns if `X` is sparse) and `y` a Series. A
        feature name that repeats gets ``.1``, ``.2`` and so on, since columns must be unique.
    data_home : path-like or None, default=None
        Folder with the files; `None` takes the environment variable ``TAMIS_DATA``.
    download : bool, default=True
        Whether OpenML may be asked when the file is missing. Downloads are kept in the folder
        ``TAMIS_CACHE``, by default ``tamis`` in the user's cache folder.

    Returns
    -------
    Bunch or tuple
        ``(X, y)``, or a Bunch with `X`, `y`, `name`, and

        - `feature_names`, list of str: as in the file (not always unique), else ``x0``, ``x1``...
        - `class_names`, list of str: position is the label
        - `split`, 0 train and 1 test; `train` and `test`, the same as masks
        - `fold`, a published fold number per row
        - `relevant`, the indices of the columns known to matter
        - what else the file holds (`view`, `view_names`, `complete`, `gems5469`)

        Those not known are `None`.

    Raises
    ------
    InputError
        If the name is unknown, the file or OpenML is out of reach, damaged or not the expected
        table, or `split` is asked of a set that has none. It is a :class:`ValueError`.
    MissingDependencyError
        If `as_frame` is asked without pandas.

    Notes
    -----
    `X` is made of floats that hold the stored values exactly: integers of at most 16 bits become
    float32, wider integers float64, floats stay as they are. Sparse sets are CSR arrays. `y` is as
    stored, int8 for classes.

    An OpenML copy has the same table, types and labels. Its rows may be in another order, its
    feature names are OpenML's, and it has no split, fold, class names or relevant columns. It is
    parsed again on each call, which takes a minute or more for mnist.

    Examples
    --------
    >>> from tamis.datasets import load
    >>> try:
    ...     X, y = load("madelom", return_X_y=True)
    ... except ValueError as error:
    ...     print(str(error).split(": ")[2])
    did you mean 'madelon'? tamis.datasets.list_datasets() names them all.
    """
    info = describe(name)
    if split is not None and (not isinstance(split, str) or split not in SPLITS):
        raise InputError(
            f'tamis.datasets.load: split must be "train", "test" or None, got {split!r}. '
            "Leave it out for all rows."
        )
    bunch = _to_bunch(_find(info, data_home, download), info)
    if split is not None:
        bunch = _keep_part(bunch, split)
    if as_frame:
        bunch = _framed(bunch)
    return (bunch.X, bunch.y) if return_X_y else bunch


def _find(info: DatasetInfo, data_home: Any, download: bool) -> dict[str, Any]:
    path = file_path(info.name, data_home)
    if path is not None and path.is_file():
        arrays = read_arrays(path)
        check_arrays(arrays, info, str(path), "Copy the file again, or remove it.")
        return arrays
    if download and info.openml is not None:
        return fetch_arrays(info)
    looked = "TAMIS_DATA is not set" if path is None else f"there is no file {path}"
    twin = "it has no OpenML twin" if info.openml is None else "download=False forbids OpenML"
    raise InputError(
        f"tamis.datasets.load: {info.name!r} needs the file {info.name}.npz, but {looked} and "
        f"{twin}. Set TAMIS_DATA, or data_home, to the folder that holds the data files."
    )


def _to_bunch(arrays: dict[str, Any], info: DatasetInfo) -> Bunch:
    known = dict.fromkeys(("class_names", "split", "train", "test", "fold", "relevant"))
    bunch = Bunch(**{**known, **arrays, "name": info.name})
    bunch.X = bunch.X.astype(computing_type(bunch.X.dtype), copy=False)
    names = arrays.get("feature_names")
    bunch.feature_names = (
        [f"x{column}" for column in range(info.n_features)] if names is None else names.tolist()
    )
    if bunch.class_names is not None:
        bunch.class_names = bunch.class_names.tolist()
    if bunch.relevant is not None:
        bunch.relevant = np.flatnonzero(bunch.relevant)
    if bunch.split is not None:
        bunch.train, bunch.test = bunch.split == SPLITS["train"], bunch.split == SPLITS["test"]
    return bunch


def _keep_part(bunch: Bunch, split: str) -> Bunch:
    if bunch.split is None:
        published = describe(bunch.name).has_split
        reason = (
            "OpenML's copy does not have it: set TAMIS_DATA to a folder that holds the file"
            if published
            else "none was published: leave split out and cross-validate"
        )
        raise InputError(
            f"tamis.datasets.load: split={split!r} needs a train and test part, but for "
            f"{bunch.name!r} {reason}."
        )
    rows = bunch.split == SPLITS[split]
    return Bunch(
        **{
            key: value[rows] if key in ROW_ARRAYS and value is not None else value
            for key, value in bunch.items()
        }
    )


def _framed(bunch: Bunch) -> Bunch:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(
            "tamis.datasets.load: as_frame=True needs pandas, which is not installed. "
            "Install it with `pip install pandas`, or leave as_frame out."
        ) from error
    names = _unique(bunch.feature_names)
    make = pd.DataFrame.sparse.from_spmatrix if sparse.issparse(bunch.X) else pd.DataFrame
    X = make(bunch.X, columns=names)
    return Bunch(**{**bunch, "X": X, "y": pd.Series(bunch.y, name="y"), "feature_names": names})


def _unique(names: Iterable[str]) -> list[str]:
    names = list(names)
    taken, result = set(names), []
    copies: Counter[str] = Counter()
    for name in names:
        candidate, number = name, copies[name]
        # A suffixed name may itself be in the file, hence the search.
        while number and (candidate := f"{name}.{number}") in taken:
            number += 1
        copies[name] = number + 1
        taken.add(candidate)
        result.append(candidate)
    return result
