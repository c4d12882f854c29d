"""The records of the catalogue: what is known of a data set without opening it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Domain = Literal["microarray", "challenge", "images", "tables", "text", "regression"]


@dataclass(frozen=True)
class OpenMLTwin:
    """The same table on OpenML, and how its labels translate into ours.

    `data_id` fixes name and version; the name is compared with the server's answer. Without
    `labels`, a class is recognised by its number of rows, which no two classes may share.
    """

    data_id: int
    name: str
    version: int = 1
    labels: Mapping[str, int] | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    name : str
        The name :func:`tamis.datasets.load` takes.
    n_samples, n_features : int
        Shape of `X`.
    domain : {"microarray", "challenge", "images", "tables", "text", "regression"}
        Where the set comes from.
    stored : str
        Type of the values in the file, before :func:`tamis.datasets.load` makes them floats.
    magnitude : float
        Sum of the absolute values of `X`, missing cells left out. It does not depend on the order
        of the rows, so it tells a changed table from a reordered one.
    classes : dict of int to int, or None
        Label to number of rows; `None` for regression.
    n_missing : int, default=0
        Cells of `X` that are missing (NaN).
    sparse : bool, default=False
        Whether `X` is a CSR array.
    split_sizes : tuple of int, or None, default=None
        Rows of the published train and test part.
    openml : OpenMLTwin or None, default=None
        Where to download the table (``data_id``, ``name``, ``version``).
    overlap : tuple of str, default=()
        Sets that hold, at least in part, the same patients: not independent in a comparison.
    note : str, default=""
        What to know before quoting a number.

    Examples
    --------
    >>> from tamis.datasets import describe
    >>> info = describe("leukemia")
    >>> info.n_samples, info.n_features, info.classes
    (72, 7129, {0: 47, 1: 25})
    >>> info.task, info.has_split, info.openml.data_id
    ('classification', True, 1104)
    """

    name: str
    n_samples: int
    n_features: int
    domain: Domain
    stored: str
    magnitude: float
    classes: dict[int, int] | None = None
    n_missing: int = 0
    sparse: bool = False
    split_sizes: tuple[int, int] | None = None
    openml: OpenMLTwin | None = None
    overlap: tuple[str, ...] = ()
    note: str = ""

    @property
    def task(self) -> Literal["classification", "regression"]:
        """Kind of target: "classification" or "regression"."""
        return "regression" if self.classes is None else "classification"

    @property
    def has_split(self) -> bool:
        """Whether the set comes with a published train and test part."""
        return self.split_sizes is not None
