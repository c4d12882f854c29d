"""Tables on disk: read one, turn it into numbers, keep some columns, write it back.

::

    read_table(path) -> RawTable -> prepare(...) -> PreparedTable (X, y, names, roles, notes)
                            |
                            +-> reduce_table(names) -> write_table(path)

CSV, TSV, Parquet and Feather need pyarrow (``pip install 'tamis[cli]'``); NPZ needs numpy only.
Nothing is dropped in silence: every column has a role and every decision has a sentence in
``notes``.
"""

from tamis.tables.atomic import atomic_path, check_writable
from tamis.tables.formats import table_format
from tamis.tables.preparation import prepare
from tamis.tables.prepared_table import ColumnRole, PreparedTable
from tamis.tables.raw_table import RawTable
from tamis.tables.reader import read_table
from tamis.tables.reduction import reduce_table
from tamis.tables.writer import write_table

__all__ = [
    "ColumnRole",
    "PreparedTable",
    "RawTable",
    "atomic_path",
    "check_writable",
    "prepare",
    "read_table",
    "reduce_table",
    "table_format",
    "write_table",
]
