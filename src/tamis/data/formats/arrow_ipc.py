"""Feather version 2, which is the Arrow IPC file format, and Arrow IPC streams."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tamis.data.formats.arrow import ArrowFile
from tamis.data.formats.base import Piece, Request
from tamis.data.formats.batches import piece_of
from tamis.data.formats.paths import first_line
from tamis.exceptions import InputError

# A part is made of record batches until they have this size; Feather writes batches of 2**16 rows.
PART_BYTES = 16 * 2**20


class IpcTable(ArrowFile):
    """One Feather or Arrow IPC file; a stream is one part, since it has no index."""

    format = "Feather"

    def __init__(self, path: Path):
        super().__init__(path)
        import pyarrow as pa

        self.damage = (*self.damage, struct.error)
        self.is_stream = is_ipc_stream(path)
        try:
            with pa.OSFile(str(path)) as source, self._open(source) as reader:
                self.schema = reader.schema
                n_batches = None if self.is_stream else reader.num_record_batches
            self.stored = self._find_batches(n_batches)
            self._set_columns(self.schema)
        except self.damage as error:
            raise self.damaged(path.name, error) from error
        self.parts = [(0, len(self.stored))] if self.is_stream else self._group()
        rows = [n for n, _ in self.stored]
        self.part_rows = tuple(sum(rows[first:last]) for first, last in self.parts)

    def _find_batches(self, n_batches: int | None) -> list[tuple[int, int]]:
        """Rows and bytes of every record batch, from the headers before them."""
        import pyarrow as pa
        from pyarrow import ipc

        with pa.memory_map(str(self.path)) as source:
            if not self.is_stream:
                source.seek(8)  # past the name of the format; what follows is a stream
            found = (
                (_rows(message.metadata.to_pybytes()), message.body.size)
                for message in ipc.MessageReader.open_stream(source)
                if message.type == "record batch"
            )
            # Beyond the last one, a file may go on with its index.
            return list(islice(found, n_batches))

    def _group(self) -> list[tuple[int, int]]:
        """Join record batches into parts; how does not depend on any limit."""
        parts, first, size = [], 0, 0
        for i, (_, n_bytes) in enumerate(self.stored):
            size += n_bytes
            if size >= PART_BYTES or i == len(self.stored) - 1:
                parts.append((first, i + 1))
                first, size = i + 1, 0
        return parts

    def where(self, part: int) -> str:
        """File and record batches."""
        first, last = self.parts[part]
        if self.is_stream:
            return self.path.name
        batches = f"record batch {first}" if last == first + 1 else f"batches {first} to {last - 1}"
        return f"{self.path.name}, {batches}"

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a part; a record batch is cut where it is longer than a block."""
        import pyarrow as pa

        known = self.schema.names
        names = [known[j] for j in request.columns]
        wanted = {*names, *(name for name, _ in request.labels)}
        try:
            for batch in self.batches(part, list(wanted), request.rows):
                yield piece_of(batch, names, request)
        except pa.ArrowMemoryError as error:  # what a compressed column claims to unpack to
            raise InputError(
                f"{self.where(part)}: expected a record batch that fits in memory, got a larger "
                f"one ({first_line(error)}); write the file again with smaller record batches."
            ) from error

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns, cut where they are longer than asked for."""
        import pyarrow as pa

        wanted = set(names)
        fields = [j for j, name in enumerate(self.schema.names) if name in wanted]
        first, last = self.parts[part]
        # A record batch is read whole. One that is too large for that is mapped instead, which is
        # not the rule: a file that is cut short while it is mapped ends the process.
        budget = 8 * len(fields) * rows
        mapped = any(size > 4 * budget for _, size in self.stored[first:last])
        opener = pa.memory_map if mapped else pa.OSFile
        with opener(str(self.path)) as source, self._open(source, fields) as reader:
            for batch in reader if self.is_stream else map(reader.get_batch, range(first, last)):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)

    def _open(self, source: Any, fields: list[int] | None = None) -> Any:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        opener = ipc.open_stream if self.is_stream else ipc.open_file
        return opener(source, options=options)


def is_ipc_stream(path: Path) -> bool:
    """Whether this is a stream rather than a file, which begins with the name of the format."""
    with open(path, "rb") as stream:
        start = stream.read(6)
    if start.startswith(b"FEA1"):
        raise InputError(
            f"{path.name}: expected Feather version 2, got version 1; write it again with a "
            "recent pyarrow, or as Parquet."
        )
    return start != b"ARROW1"


def _rows(metadata: bytes) -> int:
    """Length of a record batch, from its header; pyarrow would read the batch to tell it.

    The header is a flatbuffer: a ``Message``, whose third field is a ``RecordBatch``, whose first
    field is the length. A table starts with the way back to the list of its fields.
    """
    (message,) = struct.unpack_from("<I", metadata, 0)
    header = message + _field(metadata, message, 2)
    batch = header + struct.unpack_from("<I", metadata, header)[0]
    length = _field(metadata, batch, 0)
    # A field that is not stored has its default value.
    return int(struct.unpack_from("<q", metadata, batch + length)[0]) if length else 0


def _field(metadata: bytes, table: int, index: int) -> int:
    (back,) = struct.unpack_from("<i", metadata, table)
    fields = table - back
    (size,) = struct.unpack_from("<H", metadata, fields)
    if 4 + 2 * index >= size:
        return 0
    return int(struct.unpack_from("<H", metadata, fields + 4 + 2 * index)[0])
