"""The one door to pyarrow, an optional package."""

from __future__ import annotations

from types import ModuleType

from tamis.exceptions import MissingDependencyError


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
        raise MissingDependencyError(
            f"{purpose} needs the package pyarrow, which is not installed; "
            "run: pip install 'tamis[cli]'"
        ) from error
    return pyarrow


def first_line(error: BaseException) -> str:
    """Shorten an error of pyarrow or numpy to something a reader can take in."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(" .") if lines else type(error).__name__
