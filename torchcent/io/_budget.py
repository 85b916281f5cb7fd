"""Memory budget of a reader: sizes that a file claims are checked before they are trusted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from torchcent.runtime._memory import budget, ran_out, readable

#: Upper bounds on the bytes that reading needs per byte of the (decompressed) file and per line of
#: text (checked by tests/test_io_memory.py).
_COST = {
    "edges": (4, 80), "names": (6, 320), "abc": (6, 320), "mci": (60, 0), "mtx": (6, 150),
    "metis": (40, 16), "gr": (6, 150), "graphml": (100, 0), "gml": (100, 0),
}  # fmt: skip
#: Additional bytes per line, and the number of lines that the numeric readers process at a time.
_CHUNK_LINE, _CHUNK_LINES = 160, 1 << 22
#: Bytes per row of numbers while the file is read (with weights), and per byte of a piece of text.
_ROW, _WEIGHTED_ROW, _PIECE = 32, 48, 12
#: Bytes per edge while vertices are numbered, and per vertex.
_EDGE, _VERTEX = 44, 16
#: Bytes of a line whose fields are Python objects.
_LINE = 500


@dataclass(frozen=True)
class Budget:
    """The number of bytes that reading one file may use."""

    path: str  # for messages
    limit: int
    memory: int | None  # what the caller passed

    @staticmethod
    def of(path: str, memory: int | None = None) -> Budget:
        return Budget(path, budget(memory, torch.device("cpu")), memory)

    def allow(self, needed: int, what: str) -> None:
        """Raises MemoryError, with both sizes, if ``what`` needs more than the budget."""
        if needed > self.limit:
            advice = "half of what is free; pass Run(memory=...), --memory, for more"
            raise MemoryError(
                f"{self.path}: {what}: {needed} bytes ({readable(needed)}), but memory="
                f"{self.limit} ({readable(self.limit)}) is allowed; "
                + ("raise it" if self.memory is not None else advice)
            )

    @contextlib.contextmanager
    def granted(self) -> Iterator[None]:
        """Names the file where the system has less memory than the budget."""
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            text = str(error)
            if self.path in text or not (isinstance(error, MemoryError) or ran_out(text)):
                raise
            raise MemoryError(
                f"{self.path}: the system did not grant the memory to read it"
            ) from None

    def vertices(self, n: int) -> int:
        """Checks a claimed number of vertices, 8 bytes each, before anything is allocated."""
        self.allow(8 * n, f"num_nodes={n} vertices take 8 bytes each")
        return n

    def rows(self, rows: int, weighted: bool, piece: int, comments: int) -> None:
        """Checks the needs of rows of numbers: those so far, their last piece and comments."""
        row = _WEIGHTED_ROW if weighted else _ROW
        nbytes = row * rows + _PIECE * piece + 4 * comments
        self.allow(nbytes, f"what the file holds, not all of it counted: {rows} rows")

    def numbering(self, edges: int, span: int) -> None:
        """Checks the needs of numbering the vertices of edges, whose ids are in a range."""
        nbytes = _EDGE * edges + _VERTEX * min(2 * edges, span)
        self.allow(nbytes, f"numbering the vertices of {edges} edges")

    def lines(self, data: bytes) -> None:
        """Checks the needs of the line-by-line readers, which hold a Python object per field."""
        fields = data.count(b"\n") + 1
        self.allow(_LINE * fields + 8 * len(data), f"reading {fields} irregular lines")

    def text(self, kind: str, data: bytes) -> None:
        """Checks the worst-case needs of the reader of a format for these data."""
        byte, line = _COST[kind]
        lines = data.count(b"\n") + 1 if line else 0
        nbytes = byte * len(data) + line * lines + _CHUNK_LINE * min(lines, _CHUNK_LINES)
        self.allow(nbytes, f"reading {len(data)} bytes of {kind}")
