"""The data sets of the Inf-FS and ILFS papers by the names of their tables, or what stands in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamis_papers import _stand_ins

Labelled = tuple[Any, Any]

# What a reader must know of the numbers of a data set.
NOTES = {
    "gina": "stand-in: two digits of MNIST side by side, is the right one odd",
    "usps": "stand-in: 150 images of each digit of USPS, 2 and 5 against the rest, 241 pixels",
    "gisette": "stand-in: 4 against 9 of MNIST, products of pixels, probes; 7,000 rows",
    "polarity": "stand-in: the 3,000 words that occur in most reviews; the paper's are not known",
    "madelon": "2,600 of 4,400 rows: the labels of the others were never public",
    "dexter": "600 of 2,600 rows: the labels of the others were never public",
    "lymphoma": "genes were scaled to 0..1 over all rows by the source",
}


def load_table(name: str, seed: int = 0, n_rows: int | None = None) -> Labelled:
    """Rows and classes of a data set of the papers, dense; at most so many rows, at random."""
    X, y = _LOADERS[name](seed)
    X = X.toarray() if hasattr(X, "toarray") else X
    y = np.asarray(y)
    if n_rows is not None and n_rows < y.size:
        rows = np.random.default_rng([seed, n_rows]).permutation(y.size)[:n_rows]
        X, y = X[rows], y[rows]
    return X, y


def _file(name: str) -> Callable[[int], Labelled]:
    def load(seed: int) -> Labelled:
        from tamis import datasets

        bunch: Any = datasets.load(name)
        return bunch.X, bunch.y

    return load


def _gisette(seed: int) -> Labelled:
    return _stand_ins.gisette_like(seed)[:2]


def _polarity(seed: int) -> Labelled:
    return _stand_ins.polarity_like()


_LOADERS: dict[str, Callable[[int], Labelled]] = {
    "colon": _file("colon"),
    "leukemia": _file("leukemia"),
    "lymphoma": _file("lymphoma_45"),
    "lung": _file("lung181"),
    "lung181": _file("lung181"),
    "prostate": _file("prostate"),
    "dlbcl": _file("dlbcl"),
    "madelon": _file("madelon"),
    "dexter": _file("dexter"),
    "gina": _stand_ins.gina_like,
    "usps": _stand_ins.usps_like,
    "gisette": _gisette,
    "polarity": _polarity,
}
