"""Tables on disk: read one, turn it into numbers, keep some columns, write it back.

::

    read_table(path) -> RawTable -> prepare(...) -> PreparedTable (X, y, names, roles, notes)
                            |
                            +-> reduce_table(names) -> write_table(path)

CSV, TSV, Parquet and Feather need pyarrow (``pip install 'tamis[cli]'``); NPZ needs numpy only.
Nothing is dropped in silence: every column has a role and every decision has a sentence in
``notes``.
"""

from tamis._runtime.atomic import atomic_path, check_writable
from tamis.data.preparation import prepare
from tamis.data.prepared import PreparedTable
from tamis.data.reading import read_table, table_format
from tamis.data.roles import ColumnRole
from tamis.data.scanning import Scan, scan
from tamis.data.table import RawTable
from tamis.data.task import infer_task
from tamis.data.writing import reduce_table, write_table

__all__ = [
    "ColumnRole",
    "PreparedTable",
    "RawTable",
    "Scan",
    "atomic_path",
    "check_writable",
    "infer_task",
    "prepare",
    "read_table",
    "reduce_table",
    "scan",
    "table_format",
    "write_table",
]
