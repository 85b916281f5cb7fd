"""What reading a file may take: sizes that a file claims are compared before they are believed."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from torchcent.runtime._memory import budget, readable

#: Bytes that reading takes at most for each byte of a file (decompressed), and for each line of
#: a text (held by tests/test_io_memory.py).
_COST = {
    "edges": (4, 80),
    "names": (6, 320),
    "abc": (6, 320),
    "mci": (60, 0),
    "mtx": (6, 150),
    "metis": (40, 16),
    "gr": (6, 150),
    "graphml": (100, 0),
    "gml": (100, 0),
}
#: What a line takes in addition, of those that the readers of numbers cut at a time.
_CHUNK_LINE, _CHUNK_LINES = 160, 1 << 22
#: A line whose fields are Python objects.
_LINE = 500


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
        self.allow(_LINE * fields + 8 * len(data), f"reading {fields} irregular lines")

    def text(self, kind: str, data: bytes) -> None:
        """What the reader of a format takes for these data, whatever they say."""
        byte, line = _COST[kind]
        lines = data.count(b"\n") + 1 if line else 0
        needed = byte * len(data) + line * lines + _CHUNK_LINE * min(lines, _CHUNK_LINES)
        self.allow(needed, f"reading {len(data)} bytes of {kind}")
