"""Tamis: find the few columns of a wide table that matter, and say how sure you are."""

from tamis import cutoff, datasets, exceptions, plots, selectors
from tamis.selectors import list_selectors, make_selector
from tamis.split import DFT, RFT

__version__ = "0.1.0.dev0"

__all__ = [
    "DFT",
    "RFT",
    "cutoff",
    "datasets",
    "exceptions",
    "list_selectors",
    "make_selector",
    "plots",
    "selectors",
]
