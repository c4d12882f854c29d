"""Data to try a selector on: 37 known sets, and generators whose truth is known.

::

    list_datasets() -> describe(name) -> load(name) -> X, y
    make_expression_like(), make_madelon_like(), make_ofw_ternary(), ... -> X, y, relevant

Nothing is bundled. :func:`load` reads ``<name>.npz`` from the folder named by the environment
variable ``TAMIS_DATA`` and falls back on OpenML for the few sets that have a twin there.
"""

from __future__ import annotations

from tamis.datasets._catalogue import DatasetInfo, describe, list_datasets
from tamis.datasets._expression import make_expression_like
from tamis.datasets._generators import make_iris_combinations, make_madelon_like, make_ofw_ternary
from tamis.datasets._load import load

__all__ = [
    "DatasetInfo",
    "describe",
    "list_datasets",
    "load",
    "make_expression_like",
    "make_iris_combinations",
    "make_madelon_like",
    "make_ofw_ternary",
]
