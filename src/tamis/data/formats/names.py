"""Which file format a name stands for."""

from __future__ import annotations

from pathlib import Path

from tamis.exceptions import InputError

FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".txt": "tsv",
    ".txt.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".npz": "npz",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}


def table_format(path: str | Path) -> str:
    """Tell the format of a table from the extension of its file, in any case.

    Call it on an output before long work: a wrong extension is an error at once.

    Parameters
    ----------
    path : str or Path
        Name of a file; it need not exist.

    Returns
    -------
    str
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"feather"`` or ``"npz"``.

    Raises
    ------
    InputError
        When the extension is not one of those listed in the message.

    Examples
    --------
    >>> from tamis.data import table_format
    >>> table_format("flowers.CSV.gz"), table_format("flowers.pq")
    ('csv', 'parquet')
    """
    path = Path(path)
    name = path.name.lower()
    for extension, kind in FORMATS.items():
        if name.endswith(extension):
            return kind
    extra = "save the sheet as CSV" if path.suffix.lower() in {".xls", ".xlsx"} else "convert it"
    raise InputError(
        f"{path.name}: expected a file ending in {', '.join(FORMATS)}, "
        f"got {path.suffix or 'no extension'!r}; {extra} or rename it."
    )
