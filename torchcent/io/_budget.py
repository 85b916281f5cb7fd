"""What reading a file may take: sizes that a file claims are compared before they are believed."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from torchcent._memory import budget, readable

#: Bytes that reading takes at most for each byte of a file (decompressed), and for each line of
#: a text (measured: tests/test_io_memory.py).
_COST = {
    "edges": (5, 200),
    "abc": (5, 200),
    "mci": (60, 0),
    "mtx": (8, 100),
    "metis": (40, 0),
    "gr": (8, 200),
    "graphml": (100, 0),
    "gml": (200, 0),
    "npz": (12, 0),
    "npy": (8, 0),
    "pt": (40, 0),
    "parquet": (12, 0),
}
#: A line whose fields are Python objects.
_LINE = 400


@dataclass(frozen=True)
class Budget:
    """The bytes that reading one file may take.

    Attributes:
        path: the file, for messages.
        limit: bytes.
        memory: as the caller gave them, None if he did not.
    """

    path: str
    limit: int
    memory: int | None

    @staticmethod
    def of(path: str, memory: int | None = None) -> Budget:
        return Budget(path, budget(memory, torch.device("cpu")), memory)

    def allow(self, needed: int, what: str) -> None:
        """MemoryError with both figures if ``what`` needs more than is allowed."""
        if needed > self.limit:
            advice = "raise it" if self.memory is not None else "half of what is free"
            raise MemoryError(
                f"{self.path}: {what}: {needed} bytes ({readable(needed)}), but memory="
                f"{self.limit} ({readable(self.limit)}) is allowed; {advice}"
                + ("" if self.memory is not None else "; pass memory= (--memory) for more")
            )

    def vertices(self, n: int) -> int:
        """A number of vertices that a file or a caller claims: 8 bytes each, before any is made."""
        self.allow(8 * n, f"num_nodes={n} vertices take 8 bytes each")
        return n

    def lines(self, data: bytes) -> None:
        """What the readers take that go line by line and keep a Python object for each field."""
        fields = data.count(b"\n") + 1
        self.allow(_LINE * fields + 4 * len(data), f"reading {fields} irregular lines")

    def text(self, kind: str, data: bytes) -> None:
        """What the reader of a format takes for these data, whatever they say."""
        byte, line = _COST[kind]
        lines = data.count(b"\n") + 1 if line else 0
        self.allow(byte * len(data) + line * lines, f"reading {len(data)} bytes of {kind}")
