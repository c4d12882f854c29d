"""Candidate features measured on demand, and selectors that measure few of them."""
