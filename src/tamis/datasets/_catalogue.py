"""The known data sets, one entry each, with which every file and every download is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tamis._runtime.wording import closest
from tamis.exceptions import InputError

Domain = Literal["microarray", "challenge", "images", "tables", "text", "regression"]


@dataclass(frozen=True)
class OpenMLTwin:
    """The same table on OpenML; without `labels`, a class is known by its number of rows."""

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


ZIP_CODES = (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)
DIGITS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
ARRHYTHMIA = dict(
    zip((*range(1, 11), 14, 15, 16), (245, 44, 15, 15, 13, 25, 3, 2, 9, 50, 4, 5, 22), strict=True)
)
DISCRETE = "Discretised to -2, 0, 2."
ALL_ROWS = "leaks across folds."
VALIDATION = "The test part is the validation part of the challenge; its test labels are secret."
# Sets that hold, at least in part, the same patients.
SAME_PATIENTS = (
    ("colon", "colon_disc"),
    ("allaml", "leukemia", "leukemia_3571", "leukemia_disc"),
    ("prostate", "prostate_ge"),
    ("lymphoma_45", "lymphoma_62", "lymphoma_96_disc"),
)


def _counts(*counts: int) -> dict[int, int]:
    return dict(enumerate(counts))


def _same(labels: Iterable[int]) -> dict[str, int]:
    return {str(label): label for label in labels}


# fmt: off
ENTRIES = [
    DatasetInfo("colon", 62, 2000, "microarray", "float32", 50069500.298187256, _counts(22, 40),
        note="Alon 1999, raw intensities; 0 normal, 1 tumour. 89 gene names repeat another."),
    DatasetInfo("colon_disc", 62, 2000, "microarray", "int8", 144892.0, _counts(22, 40),
        note=DISCRETE),
    DatasetInfo("leukemia", 72, 7129, "microarray", "int32", 386701079.0, _counts(47, 25),
        split_sizes=(38, 34), openml=OpenMLTwin(1104, "leukemia", labels={"ALL": 0, "AML": 1}),
        note="Golub 1999, raw intensities; 0 ALL, 1 AML."),
    DatasetInfo("allaml", 72, 7129, "microarray", "float32", 379679.99195041246, _counts(47, 25),
        note=f"Same measurements as leukemia, each gene standardised over all 72 rows: {ALL_ROWS}"),
    DatasetInfo("leukemia_3571", 72, 3571, "microarray", "float32", 207338.8987152822,
        _counts(47, 25), note="3571 genes kept, each sample standardised."),
    DatasetInfo("leukemia_disc", 72, 7070, "microarray", "int8", 573430.0, _counts(47, 25),
        note=DISCRETE),
    DatasetInfo("prostate", 102, 6033, "microarray", "float32", 501166.34662469174, _counts(50, 52),
        note="Singh 2002, 6033 genes kept, logarithm, each sample standardised; 1 tumour."),
    DatasetInfo("prostate_ge", 102, 5966, "microarray", "float32", 882762.0570123196,
        _counts(50, 52), note="Singh 2002, 5966 genes kept, thresholded, decimal logarithm."),
    DatasetInfo("lymphoma_45", 45, 4026, "microarray", "float32", 89807.42385232891,
        _counts(23, 22),
        note=f"Alizadeh 2000, imputed, each gene scaled to 0..1 over all 45 rows: {ALL_ROWS}"),
    DatasetInfo("lymphoma_62", 62, 4026, "microarray", "float32", 180711.6307186131,
        _counts(42, 9, 11),
        note="Alizadeh 2000, imputed, each sample standardised; 0 DLBCL, 1 FL, 2 CLL."),
    DatasetInfo("lymphoma_96_disc", 96, 4026, "microarray", "int8", 464480.0,
        _counts(46, 10, 9, 11, 6, 6, 4, 2, 2), note=DISCRETE),
    DatasetInfo("nci9_disc", 60, 9712, "microarray", "int8", 586094.0,
        _counts(9, 9, 8, 5, 7, 6, 8, 6, 2), note=DISCRETE),
    DatasetInfo("lung_small_disc", 73, 325, "microarray", "int8", 29626.0,
        _counts(6, 5, 5, 16, 7, 13, 21), note=DISCRETE),
    DatasetInfo("lung181", 181, 12533, "microarray", "float32", 387788170.5923424, _counts(150, 31),
        note="Gordon 2002; 0 adenocarcinoma, 1 mesothelioma. Its published split is not included."),
    DatasetInfo("dlbcl", 77, 7129, "microarray", "int32", 505991904.0, _counts(58, 19),
        note="Shipp 2002, raw; 0 DLBCL, 1 FL. `X[:, gems5469]` is the version with 5469 genes."),
    # Not the sorted order: rows printed from OpenML, compared with the challenge files, show that
    # its "1" is +1 and its "2" is -1. The counts could not have told.
    DatasetInfo("madelon", 2600, 500, "challenge", "uint16", 634479344.0, {-1: 1300, 1: 1300},
        split_sizes=(2000, 600), openml=OpenMLTwin(1485, "madelon", labels={"1": 1, "2": -1}),
        note=f"Artificial. `relevant` was found from the data, not published. {VALIDATION}"),
    DatasetInfo("arcene", 200, 10000, "challenge", "uint16", 142136852.0, {-1: 112, 1: 88},
        split_sizes=(100, 100), openml=OpenMLTwin(1458, "arcene"), note=VALIDATION),
    DatasetInfo("dexter", 600, 20000, "challenge", "uint16", 5637480.0, {-1: 300, 1: 300},
        sparse=True, split_sizes=(300, 300), note=VALIDATION),
    DatasetInfo("dorothea", 1150, 100000, "challenge", "uint8", 1045512.0, {-1: 1038, 1: 112},
        sparse=True, split_sizes=(800, 350), note=f"Binary. {VALIDATION}"),
    DatasetInfo("usps", 9298, 256, "images", "float32", 2089255.1410733503, _counts(*ZIP_CODES),
        split_sizes=(7291, 2007),
        openml=OpenMLTwin(41082, "USPS", 2, {str(digit + 1): digit for digit in range(10)}),
        note="16 x 16, values in -1..1."),
    DatasetInfo("mnist", 70000, 784, "images", "uint8", 1832221745.0, _counts(*DIGITS),
        split_sizes=(60000, 10000), openml=OpenMLTwin(554, "mnist_784", labels=_same(range(10))),
        note="28 x 28 bytes."),
    DatasetInfo("fashion_mnist", 20000, 784, "images", "uint8", 1144174930.0, _counts(*[2000] * 10),
        split_sizes=(10000, 10000),
        note="28 x 28 bytes. A subset: the 10000 test images and 1000 training images per class."),
    DatasetInfo("cbcl_faces", 11449, 361, "images", "uint8", 453177731.0, _counts(8548, 2901),
        split_sizes=(6977, 4472),
        note="19 x 19 bytes; 1 face. The test part holds 4000 of some 23570 non-faces."),
    DatasetInfo("coil20", 1440, 1024, "images", "float32", 444661.99298972834, _counts(*[72] * 20),
        note="32 x 32, values in 0..1."),
    DatasetInfo("orl", 400, 1024, "images", "uint8", 54429100.0, _counts(*[10] * 40),
        note="32 x 32 bytes."),
    DatasetInfo("yale", 165, 1024, "images", "uint8", 16640447.0, _counts(*[11] * 15),
        note="32 x 32 bytes."),
    DatasetInfo("warpar10p", 130, 2400, "images", "uint8", 48805183.0, _counts(*[13] * 10),
        note="60 x 40 bytes, ten people of the AR data base."),
    DatasetInfo("mfeat", 2000, 649, "tables", "float32", 160159328.03509265, _counts(*[200] * 10),
        note="Six descriptions of the same digits side by side; `view` tells which."),
    DatasetInfo("arrhythmia", 452, 279, "tables", "float32", 1563696.0000500828, ARRHYTHMIA,
        n_missing=408, openml=OpenMLTwin(5, "arrhythmia", labels=_same(ARRHYTHMIA)),
        note="Labels 1 to 16 without 11, 12, 13. 17 columns are constant, 5 have missing cells."),
    DatasetInfo("spambase", 4601, 57, "tables", "float32", 1613082.5379928122, _counts(2788, 1813),
        openml=OpenMLTwin(44, "spambase", labels=_same(range(2))), note="0 ham, 1 spam."),
    DatasetInfo("movie_reviews", 2000, 19478, "text", "uint8", 1244711.0, _counts(1000, 1000),
        sparse=True,
        note="Pang and Lee 2004, word counts made for this copy; `fold` is the authors'."),
    DatasetInfo("basehock", 1993, 4862, "text", "uint8", 204566.0, _counts(994, 999), sparse=True,
        note="Two of the 20 newsgroups, word counts."),
    DatasetInfo("relathe", 1427, 4322, "text", "uint8", 190146.0, _counts(779, 648), sparse=True,
        note="Two of the 20 newsgroups, word counts. Exactly 120000 non-zeros: perhaps truncated."),
    DatasetInfo("communities_crime", 1994, 122, "regression", "float32", 74805.89991620928,
        n_missing=36851,
        note="Scaled to 0..1 over all rows. `complete` marks the 99 columns without missing cells."
    ),
    DatasetInfo("riboflavin", 71, 4088, "regression", "float32", 2225933.838899374,
        note="Logarithms of gene expression; y is the logarithm of the production rate."),
    DatasetInfo("gasoline", 60, 401, "regression", "float32", 3766.3636696254407,
        note="Near infrared spectra, 900 to 1700 nm; y is the octane number."),
    DatasetInfo("pumadyn32nm", 8192, 32, "regression", "float32", 226892.27928449283,
        note="A simulated robot arm, standardised over all rows. No linear model finds the signal."
    ),
]
# fmt: on

CATALOGUE = {
    info.name: replace(
        info,
        overlap=tuple(
            other
            for family in SAME_PATIENTS
            if info.name in family
            for other in family
            if other != info.name
        ),
    )
    for info in ENTRIES
}


def list_datasets() -> list[str]:
    """Names of all data sets, sorted, as :func:`describe` and :func:`load` take them.

    Examples
    --------
    >>> from tamis.datasets import describe, list_datasets
    >>> len(list_datasets())
    37
    >>> [name for name in list_datasets() if describe(name).domain == "regression"]
    ['communities_crime', 'gasoline', 'pumadyn32nm', 'riboflavin']
    """
    return sorted(CATALOGUE)


def describe(name: str) -> DatasetInfo:
    """Tell what is known of a data set, without opening a file, as a :class:`DatasetInfo`.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Examples
    --------
    >>> from tamis.datasets import describe
    >>> describe("allaml").overlap
    ('leukemia', 'leukemia_3571', 'leukemia_disc')
    >>> describe("allaml").note
    'Same measurements as leukemia, each gene standardised over all 72 rows: leaks across folds.'
    """
    info = CATALOGUE.get(name) if isinstance(name, str) else None
    if info is None:
        close = closest(str(name), CATALOGUE)
        hint = f"did you mean {close!r}?" if close else "none is close;"
        raise InputError(
            f"tamis.datasets: name must be one of the {len(CATALOGUE)} known data sets, "
            f"got {name!r}: {hint} tamis.datasets.list_datasets() names them all."
        )
    # The record is frozen but its dict is not: a copy keeps the catalogue out of reach.
    return replace(info, classes=None if info.classes is None else dict(info.classes))
