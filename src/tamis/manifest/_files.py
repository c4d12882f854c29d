"""Manifests on disk. What is read may come from anybody, so everything in it is checked."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from tamis.data import atomic_path
from tamis.exceptions import InputError
from tamis.manifest._record import FORMAT, FORMAT_VERSION, Manifest, check_parts, make_manifest

# Room for a million columns with long names; a larger file is something else.
MAX_BYTES = 200_000_000


def write_manifest(
    selector: Any, path: str | Path, *, force: bool = False, data: Any = None
) -> None:
    """Write what a selector selected to a JSON file, whole or not at all.

    Parameters
    ----------
    selector : BaseSelector, Recommendation or Manifest
        A fitted selector, ``comparison.recommend()``, or a record made before.
    path : str or Path
        The file.
    force : bool, default=False
        Replace an existing file.
    data : DataFrame, Arrow table, array or sparse matrix, default=None
        The table that the selector was fitted on, for the fingerprint; ``None`` leaves out its
        content. A record has its own.

    Examples
    --------
    >>> import pathlib, tempfile, tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> selector = tamis.DFT(n_features_to_select=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "choice.json")
    ...     tamis.manifest.write_manifest(selector, path, data=X)
    ...     tamis.manifest.read_manifest(path).selected
    ('petal length (cm)', 'petal width (cm)')
    """
    record = selector if isinstance(selector, Manifest) else make_manifest(selector, data=data)
    try:
        content = _as_json(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character in a name, which only an escape can write
        content = _as_json(record, ensure_ascii=True).encode()
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{Path(path).name}: expected a manifest of at most {MAX_BYTES:,} bytes, got "
            f"{len(content):,}. Shorten the names of the columns."
        )
    with atomic_path(path, force) as temporary:
        temporary.write_bytes(content)


def _as_json(record: Manifest, ensure_ascii: bool) -> str:
    options = {"ensure_ascii": ensure_ascii, "allow_nan": False, "indent": 1}
    return json.dumps(record.to_dict(), **options) + "\n"  # type: ignore[arg-type]


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest; whatever is not one is refused with a reason.

    Parameters
    ----------
    path : str or Path
        A file of :func:`write_manifest`.

    Returns
    -------
    manifest : Manifest
        The record, every part of which was checked.

    Raises
    ------
    InputError
        When the file is missing, too large, not JSON, or not a manifest that this version knows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.manifest import Manifest, read_manifest, write_manifest
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "choice.json")
    ...     write_manifest(Manifest(["b", "a"], [2.0, 1.0], ["b"], "by hand"), path)
    ...     read_manifest(path).names
    ('b', 'a')
    """
    path = Path(path)
    value = _load(path)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(
            f"{path.name}: expected a selection manifest, which 'tamis select --write-manifest' "
            f"(in Python, write_manifest) writes, got other JSON. Choose another file."
        )
    version = value.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise InputError(
            f"{path.name}: expected format_version {FORMAT_VERSION}, got {str(version)[:20]!r}. "
            "Write the manifest again with this version of Tamis."
        )
    parts = {f.name: value[f.name] for f in fields(Manifest) if f.name in value}
    for name in (f.name for f in fields(Manifest)):
        if name not in parts:
            raise InputError(f"{path.name}: expected {name!r} in a selection manifest, got none.")
    check_parts(parts, path.name)
    return Manifest(**parts)


def _load(path: Path) -> Any:
    """Parse strict JSON of a bounded size; nothing in it is run."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{path}: expected to read a selection manifest, got: {error.strerror or error}. Check "
            "the name of the file."
        ) from error
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{path.name}: expected a selection manifest of at most {MAX_BYTES:,} bytes, got more. "
            "Choose another file."
        )
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # also bytes that are no text
        reason = "lists in lists too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"{path.name}: expected a selection manifest, which is JSON, got something else "
            f"({reason[:80]}). Choose another file."
        ) from error


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number in JSON")
