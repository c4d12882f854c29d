"""One best cut per feature: DFT for classes, RFT for numbers."""

from tamis.split.dft import DFT
from tamis.split.rft import RFT

__all__ = ["DFT", "RFT"]
