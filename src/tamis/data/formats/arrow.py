"""pyarrow, or what brings it; errors of files that it cannot read."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from tamis.exceptions import InputError, MissingDependencyError


def import_pyarrow(purpose: str) -> ModuleType:
    """Return pyarrow, or say what brings it.

    Parameters
    ----------
    purpose : str
        What needs it, as the subject of the sentence, e.g. ``"reading flowers.csv"``.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise missing_pyarrow(purpose) from error
    return pyarrow


def missing_pyarrow(purpose: str) -> MissingDependencyError:
    """Build the error for a purpose that needs pyarrow where it is not installed."""
    return MissingDependencyError(
        f"{purpose} needs the package pyarrow, which is not installed; "
        "run: pip install 'tamis[cli]'"
    )


def first_line(error: BaseException) -> str:
    """Shorten an error of pyarrow or numpy to something a reader can take in."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(" .") if lines else type(error).__name__


def damaged_file(path: Path, kind: str, error: Exception) -> InputError:
    """Build the error for a file that cannot be read as what its name says."""
    return InputError(
        f"{path.name}: expected a {kind} file, got a damaged or other file ({first_line(error)}); "
        "write or download it again, or correct its extension."
    )
