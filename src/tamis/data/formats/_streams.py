"""Open text files, through gzip where the name says so."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO


def is_gzip(path: Path) -> bool:
    """Tell whether the name says the file is gzip-compressed."""
    return path.name.lower().endswith(".gz")


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading bytes."""
    return gzip.open(path, "rb") if is_gzip(path) else open(path, "rb")


def open_text_output(path: Path) -> IO[str]:
    """Open a file for writing UTF-8 text with line feeds."""
    opener = gzip.open if is_gzip(path) else open
    return opener(path, "wt", encoding="utf-8", newline="")
