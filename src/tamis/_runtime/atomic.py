"""Outputs appear whole or not at all: write beside the target, then rename."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from tamis.exceptions import InputError

STALE_SECONDS = 24 * 3600
_NAME = re.compile(r"\.tamis-[0-9a-f]{12}(\.\w+)*$")


def check_writable(path: str | Path, force: bool = False) -> None:
    """Make sure that a file can be written there, before the long work starts.

    The folder is tried by creating a temporary file in it, since permission bits say nothing to
    an administrator, on a network disk or on a full one. Nothing is left behind.

    Parameters
    ----------
    path : str or Path
        The output.
    force : bool, default=False
        Allow an existing regular file to be replaced.

    Raises
    ------
    InputError
        When the folder is missing or not writable, or the output exists and `force` is false, or
        it is a folder or a device.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import check_writable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_writable(pathlib.Path(folder, "ranking.json"))
    ...     list(pathlib.Path(folder).iterdir())
    []
    """
    _begin(Path(path), force)[1].unlink()


@contextlib.contextmanager
def atomic_path(path: str | Path, force: bool = False) -> Iterator[Path]:
    """Give a temporary file to write to, and rename it to `path` when the block ends well.

    On any failure, an interrupt from the keyboard included, the temporary file is removed and
    whatever was at `path` stays as it was. An :class:`OSError` of the block (disk full, say)
    becomes an :class:`~tamis.exceptions.InputError`, so do nothing but writing inside.

    Parameters
    ----------
    path : str or Path
        Where the file goes. A symbolic link is followed, so that the link stays.
    force : bool, default=False
        Replace an existing file.

    Yields
    ------
    Path
        An empty file in the same folder with the same extension.

    Raises
    ------
    InputError
        As :func:`check_writable`, and when writing fails.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import atomic_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(pathlib.Path(folder, "ranking.json")) as temporary:
    ...         _ = temporary.write_text("[3, 1, 2]")
    ...     [item.name for item in pathlib.Path(folder).iterdir()]
    ['ranking.json']
    """
    path = Path(path)
    final, temporary = _begin(path, force)
    try:
        yield temporary
        # The bytes reach the disk before the name, so a power cut cannot leave an empty file.
        with open(temporary, "rb+") as stream:
            os.fsync(stream.fileno())
        # Somebody may have created the output while we were busy.
        _check_target(path, final, force)
        os.replace(temporary, final)
    except OSError as error:
        raise _failure(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _begin(path: Path, force: bool) -> tuple[Path, Path]:
    """Where the file goes, links followed, and an empty file beside it."""
    final = Path(os.path.realpath(path))
    _check_target(path, final, force)
    suffix = "".join(final.suffixes[-2:]) if final.suffix.lower() == ".gz" else final.suffix
    _sweep(final.parent)
    temporary = final.with_name(f".tamis-{secrets.token_hex(6)}{suffix}")
    try:
        # Not by mkstemp, which would make it private (mode 600).
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise _failure(path, error) from error
    return final, temporary


def _sweep(folder: Path) -> None:
    """Remove temporary files of our user that a killed run left there, a day after."""
    with contextlib.suppress(OSError):
        us = os.getuid() if hasattr(os, "getuid") else None
        for left in folder.glob(".tamis-*"):
            info = left.lstat()
            mine = us is None or info.st_uid == us
            stale = time.time() - info.st_mtime > STALE_SECONDS
            if mine and stale and stat.S_ISREG(info.st_mode) and _NAME.match(left.name):
                left.unlink()


def _check_target(path: Path, final: Path, force: bool) -> None:
    """Refuse a missing folder, an existing file without `force`, and anything not a file."""
    try:
        mode = final.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if final.parent.is_dir():
            return
        folder = str(path.parent)
        expected = f"an existing folder, got {folder!r}, which is missing; create it first."
        if final.parent.exists():
            expected = f"{folder!r} to be a folder, got a file."
        raise InputError(f"{path}: expected {expected}") from None
    except OSError as error:
        raise _failure(path, error) from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: expected a file to write, got a folder; add a file name.")
    if not stat.S_ISREG(mode):
        # Renaming over /dev/null would replace the device itself.
        raise InputError(f"{path}: expected a regular file, got a device or pipe; name a file.")
    if not force:
        raise InputError(
            f"{path}: expected a new file, got one that exists; "
            "choose another name or use --force (in Python, force=True) to replace it."
        )


def _failure(path: Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: expected to write this file, got: {error.strerror or error}; nothing was "
        "changed. Free some space or choose a folder that you may write to."
    )
