"""Experiments of the paper on ILFS."""
