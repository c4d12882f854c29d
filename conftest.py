"""Settings of the doctests in src, which draw without a screen."""

import os

os.environ.setdefault("MPLBACKEND", "agg")
