"""Checkpoints: what an interrupted fit needs to resume, as arrays and JSON in one file.

A file has four parts: a line with the format and its version, a line with the length and the
SHA-256 of the header, the header as JSON, and the bytes of the arrays. The header holds the kind of
the checkpoint, the fingerprint of what it belongs to, the content with gaps where arrays belong,
place, type and shape of every array, and the SHA-256 of their bytes. So every byte is covered by a
checksum that is verified before it is used. Nothing in a file is ever executed: there are no
pickles, and no names of classes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.atomic import atomic_path
from tamis._runtime.memory import free_memory
from tamis.exceptions import InputError

MAGIC = b"tamis checkpoint 2\n"
# Length of the header in decimal digits, and its SHA-256 in hexadecimal ones.
LINE = re.compile(rb"(\d{1,10}) ([0-9a-f]{64})\n")
LONGEST_LINE = 76
# Bytes that JSON takes at most in memory, for every byte of its text and for every list or dict.
PER_BYTE, PER_LIST = 10, 200
# Types that an array may have: bool, integers, floating point and complex numbers.
DTYPE = re.compile(r"[<>|][biufc](1|2|4|8|16)")
MOST_DIMENSIONS = 32
# Seconds between two times that an unfinished pass is stored.
EVERY = 5.0

Place = list[str | int]


class Saved(NamedTuple):
    """A checkpoint that was read: what it belongs to, and what it holds."""

    path: Path
    who: str
    fingerprint: str
    content: Any

    def check(self, fingerprint: str) -> None:
        """Raise if the checkpoint belongs to something else."""
        if self.fingerprint != fingerprint:
            raise another_fit(self.who, self.path)


def save(path: str | Path, kind: str, fingerprint: str, content: Any) -> None:
    """Write plain JSON with arrays of numbers in it; an older file is replaced in one step."""
    arrays: list[tuple[Place, NDArray[Any]]] = []
    plain = _split(content, [], arrays)
    digest = hashlib.sha256()
    for _, array in arrays:
        digest.update(array.data)
    listed = [{"at": at, "dtype": array.dtype.str, "shape": array.shape} for at, array in arrays]
    facts = {"kind": kind, "fingerprint": fingerprint, "content": plain, "arrays": listed}
    header = json.dumps({**facts, "sha256": digest.hexdigest()}).encode()
    with atomic_path(path, force=True) as temporary, temporary.open("wb") as file:
        file.write(MAGIC)
        file.write(b"%d %s\n" % (len(header), hashlib.sha256(header).hexdigest().encode()))
        file.write(header)
        for _, array in arrays:
            file.write(array.data)


def load(path: str | Path, kind: str, who: str, fingerprint: str | None = None) -> Saved:
    """Read a checkpoint of a kind, and of a fingerprint if that is known already."""
    path = Path(path)
    try:
        saved = Saved(path, who, *read(path, kind))
    except (OSError, ValueError) as error:
        raise not_a_checkpoint(who, kind, path, error) from error
    if fingerprint is not None:
        saved.check(fingerprint)
    return saved


def read(path: Path, kind: str) -> tuple[str, Any]:
    """Fingerprint and content of a file; an OSError or ValueError says why there are none."""
    # A pipe or a device might never end.
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("not a regular file")
    with path.open("rb") as file:
        try:
            return _read(file, kind)
        except (TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError("a header of another form") from error
        except MemoryError as error:
            raise ValueError("larger than the free memory") from error


def not_a_checkpoint(who: str, kind: str, path: Path, reason: object) -> InputError:
    """Error for a file that is something else, damaged, or of another version."""
    return InputError(
        f"{who}: expected a checkpoint of {kind} in {str(path)!r}, got something else ({reason}). "
        "Give another path, or remove the file to start again."
    )


def another_fit(who: str, path: Path) -> InputError:
    """Error for a checkpoint of another fit."""
    return InputError(
        f"{who}: expected a checkpoint of this fit, got {str(path)!r}, which belongs to a fit with "
        "other data or parameters. Give another path, or remove the file to start again."
    )


def _split(value: Any, at: Place, arrays: list[tuple[Place, NDArray[Any]]]) -> Any:
    """The value with None in the place of every array; the arrays are appended to the list."""
    if isinstance(value, np.ndarray):
        if not DTYPE.fullmatch(value.dtype.str):
            raise TypeError(f"an array of {value.dtype} cannot be stored in a checkpoint")
        arrays.append((at, np.asarray(value, order="C")))
        return None
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys in a checkpoint must be text")
        return {key: _split(part, [*at, key], arrays) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_split(part, [*at, i], arrays) for i, part in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


def _read(file: BinaryIO, kind: str) -> tuple[str, Any]:
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        is_older = magic.startswith(b"tamis statistics")
        raise ValueError("written by another version of tamis" if is_older else "another format")
    line = LINE.fullmatch(file.readline(LONGEST_LINE))
    if line is None:
        raise ValueError("damaged")
    left = os.fstat(file.fileno()).st_size - file.tell()
    n_bytes = int(line[1])
    if n_bytes > left:
        raise ValueError("truncated")
    # A small file may claim a lot: what is read may be holes of the file, and lists outgrow their
    # text.
    free = free_memory()
    if left > free:
        raise ValueError("larger than the free memory")
    text = file.read(n_bytes)
    if hashlib.sha256(text).hexdigest().encode() != line[2]:
        raise ValueError("damaged: the checksum differs")
    if PER_BYTE * n_bytes + PER_LIST * (text.count(b"[") + text.count(b"{")) > free:
        raise ValueError("larger than the free memory")
    header = json.loads(text)
    if header["kind"] != kind:
        raise ValueError(f"a checkpoint of {header['kind']!s:.80}")
    root = [header["content"]]
    for at, array in _read_arrays(file, header, left - n_bytes):
        _put(root, at, array)
    return str(header["fingerprint"]), root[0]


def _read_arrays(
    file: BinaryIO, header: dict[str, Any], left: int
) -> list[tuple[Place, NDArray[Any]]]:
    """Arrays with their places; what they claim is compared with the file before it is believed."""
    claims = [(one["at"], *_dtype_and_shape(**one)) for one in header["arrays"]]
    if sum(dtype.itemsize * math.prod(shape) for _, dtype, shape in claims) != left:
        raise ValueError("truncated, or arrays of other sizes than stated")
    digest = hashlib.sha256()
    found = []
    for at, dtype, shape in claims:
        array = np.fromfile(file, dtype, math.prod(shape)).reshape(shape)
        digest.update(array.data)
        found.append((at, array))
    if digest.hexdigest() != header["sha256"]:
        raise ValueError("damaged: the checksum differs")
    if any(array.view(np.uint8).max(initial=0) > 1 for _, array in found if array.dtype == bool):
        raise ValueError("a bool that is neither true nor false")
    return found


def _dtype_and_shape(dtype: Any, shape: Any, at: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if not isinstance(dtype, str) or not DTYPE.fullmatch(dtype):
        raise ValueError(f"an array of the type {dtype!r:.80}")
    is_shape = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS
    if not is_shape or any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise ValueError("an array without a shape")
    return np.dtype(dtype), tuple(shape)


def _put(root: list[Any], at: Place, array: NDArray[Any]) -> None:
    """Put an array in its place, where there must be a gap."""
    *before, last = 0, *at
    parent: Any = root
    for key in before:
        parent = parent[key]
    if parent[last] is not None:
        raise ValueError("an array in the place of something else")
    parent[last] = array


# How many parts a pass has seen, the stamp of their files, and the state of its statistic; or all
# parts, and results of several passes.
Entry = tuple[int, str, dict[str, Any]]


class Checkpoint:
    """Where a fit on parts of a table keeps the statistics of its passes, and their results.

    Of every pass two states are kept: the last one, and the one when its last file began. What was
    counted of a file that is replaced later is worth nothing; what came before it is. The
    statistics are those of `tamis.statistics.Stateful`. `stamps` tells the first so many parts from
    other data, as plain JSON. Parts that were not counted may change: a damaged file that ended a
    pass can be replaced.
    """

    kind = "a scan"

    def __init__(self, path: Any, fingerprint: str, who: str, stamps: Callable[[int], Any]):
        self.path, self.fingerprint = Path(path), fingerprint
        self.who, self.stamps = who, stamps
        self.passes: dict[str, list[Entry]] = {}
        self.saved = time.monotonic()
        if self.path.exists():
            self.passes = self._read()

    def resume(self, name: str, statistic: Any, of: int) -> int:
        """Restore an empty statistic; the number of the `of` parts that it has seen."""
        if name not in self.passes:
            return 0
        n_parts, _, state = self.passes[name][0]
        try:
            if n_parts > of:
                raise ValueError(f"{n_parts} parts of {of}")
            statistic.restore(state)
        except ValueError as error:
            raise self.refused(error) from error
        return n_parts

    def keep(self, name: str, n_parts: int, of: int, statistic: Any) -> None:
        """Store the statistic if some seconds have passed, or if the pass has come to its end."""
        latest = (n_parts, self._stamp(n_parts), statistic.state())
        before = self.passes.get(name, [])[1:]
        # After a pass over all parts, no part can change that would leave this one of any use.
        is_first = all(stored[0][0] < of for other, stored in self.passes.items() if other != name)
        if is_first and self._stamp(n_parts + 1) != latest[1]:  # the next part begins another file
            before = [(*latest[:2], copy.deepcopy(latest[2]))]
        self.passes[name] = [latest, *before]
        self._store(n_parts == of)

    def recall(self, name: str) -> dict[str, Any]:
        """Results that were remembered under a name; nothing if there are none."""
        return self.passes[name][0][2] if name in self.passes else {}

    def remember(
        self, name: str, of: int, results: dict[str, Any], *, instead_of: str = ""
    ) -> None:
        """Store results of passes over all `of` parts; they make the pass `instead_of` needless.

        If no seconds have passed, they are stored with what comes next; until then the file has
        that pass.
        """
        self.passes.pop(instead_of, None)
        self.passes[name] = [(of, self._stamp(of), results)]
        self._store(False)

    @property
    def is_due(self) -> bool:
        """Whether some seconds have passed since something was stored."""
        return time.monotonic() - self.saved > EVERY

    def refused(self, reason: object) -> InputError:
        """Error for content that does not belong to this fit."""
        return not_a_checkpoint(self.who, self.kind, self.path, reason)

    def _store(self, now: bool) -> None:
        if now or self.is_due:
            save(self.path, self.kind, self.fingerprint, {"passes": list(self.passes.items())})
            self.saved = time.monotonic()

    def _stamp(self, n_parts: int) -> str:
        return json.dumps(self.stamps(n_parts))

    def _read(self) -> dict[str, list[Entry]]:
        content = load(self.path, self.kind, self.who, self.fingerprint).content
        try:
            passes = {name: [_entry(*one) for one in stored] for name, stored in content["passes"]}
        except (ValueError, TypeError, LookupError) as error:
            raise self.refused(error) from error
        usable = self._usable(passes)
        if not usable:
            raise another_fit(self.who, self.path)
        return usable

    def _usable(self, passes: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
        """Passes whose files are as they were; none after one that must be made again."""
        usable: dict[str, list[Entry]] = {}
        for name, stored in passes.items():
            same = [one for one in stored if one[1] == self._stamp(one[0])]
            if same:
                usable[name] = same
            if not same or same[0] is not stored[0]:
                break
        return usable


def _entry(n_parts: Any, stamp: Any, state: Any) -> Entry:
    if type(n_parts) is not int or n_parts < 0 or not isinstance(state, dict):
        raise ValueError("no state of a pass")
    return n_parts, str(stamp), state
