"""Experiments of the paper on Inf-FS."""
