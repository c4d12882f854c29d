"""Tables larger than memory: files that are read block by block."""

from tamis.scanning.scan import Scan, scan

__all__ = ["Scan", "scan"]
