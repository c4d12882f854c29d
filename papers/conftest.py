"""Settings of tests and doctests: no screen, and child processes find an uninstalled package."""

import os
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")
_SOURCE = str(Path(__file__).parent / "src")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_SOURCE, os.environ.get("PYTHONPATH")]))
