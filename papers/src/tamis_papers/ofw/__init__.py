"""Experiments of the paper on OFW."""
