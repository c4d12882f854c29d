"""Read a table file of any supported format."""

from __future__ import annotations

from pathlib import Path

from tamis.data.formats.dialect import read_text
from tamis.data.formats.npz import read_npz
from tamis.data.formats.paths import FORMATS, check_file, format_among
from tamis.data.formats.whole_arrow import read_arrow
from tamis.data.table import RawTable


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

    Examples
    --------
    >>> from tamis.data import table_format
    >>> table_format("flowers.CSV.gz"), table_format("flowers.pq")
    ('csv', 'parquet')
    """
    return format_among(FORMATS, Path(path))


def read_table(path: str | Path) -> RawTable:
    r"""Read a table; the extension tells the format.

    Parameters
    ----------
    path : str or Path
        ``.csv``; ``.tsv`` or ``.txt`` (tab-separated); these three with ``.gz``; ``.parquet`` or
        ``.pq``; ``.feather``, ``.arrow`` or ``.ipc``; ``.npz``.

    Returns
    -------
    RawTable
        The table with its types, untouched.

    Notes
    -----
    Text: UTF-8 with or without a byte order mark, any line ends, cells in double quotes may hold
    separators and line breaks. Empty cells and ``NA N/A NaN nan null None ?`` are missing. When
    the header has no separator of the expected kind but has semicolons, commas, tabs or bars,
    those are used and a note says so; decimal commas likewise. Blank lines are not rows.

    NPZ: ``X`` (dense) or ``data, indices, indptr, shape`` (CSR, or CSC with ``format``), with
    ``y`` and ``feature_names`` where there are any. Pickled objects are never loaded; a sparse
    matrix stays sparse. Repeated feature names get a number and a note.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("petal,species\n1.4,setosa\n4.7,virginica\n")
    ...     table = read_table(path)
    >>> table.names, table.n_rows
    (('petal', 'species'), 2)
    """
    path = Path(path)
    check_file(path)
    kind = table_format(path)
    if kind in ("parquet", "feather"):
        return read_arrow(path, kind)
    return read_npz(path) if kind == "npz" else read_text(path)
