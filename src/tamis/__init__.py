"""Tamis: find the few columns of a wide table that matter."""

__version__ = "0.1.0.dev0"
