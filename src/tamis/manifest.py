"""Selection manifests: what was selected and how, as a JSON file that other programs can apply.

::

    fitted selector -> make_manifest -> write_manifest(path)
                                             |
    apply(read_manifest(path), table) -> the selected columns of another table

A manifest holds names, numbers and words, and no code: reading one runs nothing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tamis._runtime.fingerprint import is_frame
from tamis._runtime.fingerprint import table_fingerprint as fingerprint
from tamis._runtime.plain import plain, versions
from tamis._runtime.wording import counted, listed
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import CutRule
from tamis.data import RawTable, atomic_path, reduce_table
from tamis.exceptions import InputError

__all__ = ["Manifest", "apply", "fingerprint", "make_manifest", "read_manifest", "write_manifest"]

FORMAT = "tamis selection manifest"
FORMAT_VERSION = 1
LARGEST = sys.float_info.max
# Room for a million columns with long names; a larger file is something else.
MAX_BYTES = 200_000_000
# A message that names more than so many columns helps nobody.
MAX_MISSING = 50


@dataclass(frozen=True, eq=False)
class Manifest:
    """A selection: which columns, in which order, by which method, on which data.

    Parameters
    ----------
    names, scores : sequence of str, sequence of float
        The ranked columns, best first, and their scores.
    selected : sequence of str
        The selected columns in the order of the table; also such as were kept without a score.
    method : str
        Short name of the selector, or what else chose the columns.
    params : dict
        Its parameters, as plain data.
    cut : dict
        The rule that decided how many, as plain data.
    target, task : str or None
        What was predicted, where that is known.
    data : dict
        Which table: see :func:`fingerprint`.
    versions : dict
        Versions of the programs that took part.

    Examples
    --------
    >>> from tamis.manifest import Manifest
    >>> choice = Manifest(["b", "a"], [2.0, 1.0], selected=["b"], method="by hand")
    >>> choice.selected
    ('b',)
    """

    names: Sequence[str]
    scores: Sequence[float]
    selected: Sequence[str]
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    task: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_parts(self.__dict__, "Manifest")
        for name in ("names", "scores", "selected"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers, lists and dictionaries, as they are in the file."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return head | {f.name: plain(getattr(self, f.name)) for f in fields(self)}


def make_manifest(
    selector: Any,
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    carried: Iterable[str] = (),
    target: str | None = None,
    task: str | None = None,
) -> Manifest:
    """Collect what a fitted selector selected, or what a comparison recommends, in a manifest.

    Parameters
    ----------
    selector : BaseSelector or Recommendation
        A fitted selector, or ``comparison.recommend()``: its scores are shares of the splits.
    data : DataFrame, Arrow table, array or sparse matrix, default=None
        The table that it was fitted on, for the fingerprint; ``None`` leaves out its content.
    names : sequence of str or None, default=None
        Names of the columns; ``None`` takes those seen in fit, else ``x0``, ``x1``, ...
    carried : iterable of str, default=()
        Columns that are selected too, though they have no score; they come last.
    target, task : str or None, default=None
        What was predicted, for the record.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> manifest = tamis.manifest.make_manifest(tamis.DFT(n_features_to_select=2).fit(X, y))
    >>> manifest.selected, manifest.cut["rule"]
    (('petal length (cm)', 'petal width (cm)'), 'TopK')
    """
    more: dict[str, Any] = {"target": target, "task": task, "versions": versions()}
    if hasattr(selector, "shares"):  # a recommendation
        return Manifest(
            names=list(selector.columns),
            scores=[float(share) for share in selector.shares],
            selected=[*(selector.columns[j] for j in np.argsort(selector.indices)), *carried],
            method=selector.method,
            params={"learner": selector.learner, "metric": selector.metric},
            cut={"rule": "recommendation", "k": selector.count, "reasons": list(selector.reasons)},
            data={"name": selector.data} | ({} if data is None else fingerprint(data)),
            **more,
        )
    ranking = selector.ranking_record(names)
    known = [ranking.name(j) for j in range(ranking.n_columns)]
    params = selector.get_params(deep=False)
    params.pop("n_features_to_select", None)
    return Manifest(
        names=[known[j] for j in ranking.order],
        scores=ranking.scores[ranking.order].tolist(),
        selected=[*(known[j] for j in np.flatnonzero(selector.support_)), *carried],
        method=type(selector).__name__.lower(),
        params=plain(params),
        cut=_cut(selector, ranking),
        data={"n_columns": len(known)} if data is None else fingerprint(data, names=known),
        **more,
    )


def _cut(selector: Any, ranking: Any) -> dict[str, Any]:
    """The rule as plain data; after a `recut`, which keeps no rule, only that there was one."""
    rule: CutRule = selector._rule()
    if not rule.needs_data:
        support, _ = rule.select(ranking, FitData(selector, None, None))
        if (support != selector.support_).any():
            return {"rule": "recut", "n_selected": selector.n_selected_}
    settings = {f.name: getattr(rule, f.name) for f in fields(rule)}
    settings.pop("keep")
    keep = [ranking.name(j) for j in rule.teams(ranking).kept]
    known = {name: plain(value) for name, value in settings.items() if value is not None}
    return {"rule": type(rule).__name__, **known, "keep": keep}


def _check_parts(parts: Mapping[str, Any], who: str) -> None:
    for name in ("names", "selected"):
        _check_names(parts[name], name, who)
    scores, n_names = parts["scores"], len(parts["names"])
    if not isinstance(scores, list | tuple):
        raise _wrong(who, "scores", "a list of numbers", scores)
    if len(scores) != n_names:
        raise InputError(
            f"{who}: expected as many scores as names ({n_names:,}), got {len(scores):,}."
        )
    for item in scores:
        number = isinstance(item, int | float) and not isinstance(item, bool)
        if not number or not -LARGEST <= item <= LARGEST:
            raise _wrong(who, "scores", "finite numbers", item)
    kinds = {
        "a string": (str, ("method",)),
        "a string or null": (str | None, ("target", "task")),
        "an object": (Mapping, ("params", "cut", "data", "versions")),
    }
    for expected, (kind, names) in kinds.items():
        for name in names:
            if not isinstance(parts[name], kind):
                raise _wrong(who, name, expected, parts[name])


def _check_names(value: Any, name: str, who: str) -> None:
    if not isinstance(value, list | tuple):
        raise _wrong(who, name, "a list of column names", value)
    if not value:
        raise InputError(f"{who}: expected at least one column in {name!r}, got none.")
    for item in value:
        if not isinstance(item, str):
            raise _wrong(who, name, "column names, which are strings,", item)
    if len(set(value)) < len(value):
        twice = Counter(value).most_common(1)[0][0]
        raise InputError(
            f"{who}: expected every column once in {name!r}, got {listed([twice])} twice."
        )


def _wrong(who: str, name: str, expected: str, value: Any) -> InputError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return InputError(
        f"{who}: expected {expected} in {name!r}, got {shown}. Write the manifest again with Tamis."
    )


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
        As for :func:`make_manifest`; a record has its own.

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
    write = partial(json.dumps, record.to_dict(), allow_nan=False, indent=1)
    try:
        content = f"{write(ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:  # half a character in a name, which only an escape can write
        content = f"{write()}\n".encode()
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{Path(path).name}: expected a manifest of at most {MAX_BYTES:,} bytes, got "
            f"{len(content):,}. Shorten the names of the columns."
        )
    with atomic_path(path, force) as temporary:
        temporary.write_bytes(content)


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest, every part of which is checked.

    An :class:`~tamis.exceptions.InputError` says why a file is refused: it is missing, too large,
    not JSON, or not a manifest that this version knows.

    Parameters
    ----------
    path : str or Path
        A file of :func:`write_manifest`.

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
    names = [f.name for f in fields(Manifest)]
    for name in names:
        if name not in value:
            raise InputError(f"{path.name}: expected {name!r} in a selection manifest, got none.")
    parts = {name: value[name] for name in names}
    _check_parts(parts, path.name)
    return Manifest(**parts)


def _load(path: Path) -> Any:
    """Parse strict JSON of a bounded size; nothing in it is run."""
    try:
        if path.exists() and not path.is_file():
            raise OSError("no regular file")  # a pipe might never end
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

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no number in JSON")

    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:  # also bytes that are no text
        reason = "lists in lists too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"{path.name}: expected a selection manifest, which is JSON, got something else "
            f"({reason[:80]}). Choose another file."
        ) from error


def apply(manifest: Manifest, table: Any, *, also: Iterable[str] = ()) -> Any:
    """Take the selected columns of a table, by name.

    They come in the order of the table they were selected on, so that a model that learned from
    those finds every column in its place. Rows, types and the type of the table are kept. An
    :class:`~tamis.exceptions.InputError` lists columns that are missing.

    Parameters
    ----------
    manifest : Manifest
        From :func:`read_manifest` or :func:`make_manifest`.
    table : DataFrame, Arrow table, RawTable, array or sparse matrix
        Any table that has the columns. Those of an array are called ``x0``, ``x1``, ...
    also : iterable of str, default=()
        Columns to take as well, such as the target; they come last.

    Examples
    --------
    >>> import pandas as pd
    >>> from tamis.manifest import Manifest, apply
    >>> choice = Manifest(["b", "a"], [2.0, 1.0], selected=["b"], method="by hand")
    >>> apply(choice, pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]}))
       b
    0  3
    1  4
    """
    wanted = list(dict.fromkeys([*manifest.selected, *also]))
    if isinstance(table, RawTable):
        return _from_file(wanted, table)
    if is_frame(table) and not hasattr(table, "loc"):
        names = table.column_names if hasattr(table, "column_names") else table.columns
        _check_present(wanted, names, "apply")
        return table.select(wanted)
    if getattr(table, "ndim", None) != 2:
        raise InputError(
            "apply: expected a DataFrame, an array or a sparse matrix of two dimensions, got "
            f"{type(table).__name__}. Pass a table."
        )
    # Names of the columns of pandas need not be strings.
    names = getattr(table, "columns", [f"x{j}" for j in range(table.shape[1])])
    position = {str(name): j for j, name in enumerate(names)}
    _check_present(wanted, position, "apply")
    columns = [position[name] for name in wanted]
    if hasattr(table, "iloc"):
        return table.iloc[:, columns]
    table = table.tocsr() if hasattr(table, "tocsr") and table.format == "coo" else table
    return table[:, columns]


def _from_file(wanted: list[str], table: RawTable) -> RawTable:
    _check_present(wanted, table.column_names, table.who)
    reduced = reduce_table(table, wanted)
    if reduced.arrow is not None:
        return replace(reduced, names=tuple(wanted), arrow=reduced.arrow.select(wanted))
    position = {name: j for j, name in enumerate(reduced.names)}
    names = [name for name in wanted if name in position]  # y of an NPZ file is no column
    matrix = reduced.matrix[:, [position[name] for name in names]]
    return replace(reduced, names=tuple(names), matrix=matrix)


def _check_present(wanted: list[str], names: Iterable[str], who: str) -> None:
    known = set(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InputError(
            f"{who}: expected all {counted(len(wanted), 'selected column')}, got a table without "
            f"{listed(missing, MAX_MISSING)}. Add them, or select again on this table."
        )
