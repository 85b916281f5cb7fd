"""Changes of edges as lines of text, and batches of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

import torch
from torch import Tensor

from torchcent import DynamicGraph
from torchcent.cli._names import plain
from torchcent.io._budget import Budget
from torchcent.io._files import DAMAGED, chunks, split_suffix

_SIGNS = {"+": True, "-": False}


class Change(NamedTuple):
    """A line: where it is, whether an edge comes or goes, the names of its ends, its length in a
    graph with weights, the time."""

    where: str
    inserts: bool
    ends: tuple[str, str]
    length: float | None
    time: str | None


class Reader:
    """The changes in a file, one after the other.

    Attributes:
        lines: how many have been read.
        checksum: of these.
    """

    def __init__(self, name: str, file: IO[bytes], is_weighted: bool) -> None:
        """`is_weighted`: whether edges that come have a length."""
        self.name, self.lines, self.checksum = name, 0, 0
        self._is_weighted = is_weighted
        self._file = _lines(name, file)
        self.is_timed: bool | None = None  # by the first change

    def skip(self, lines: int, checksum: int, is_timed: bool | None) -> None:
        """Leaves out lines that another run has read.

        Raises:
            ValueError: they are others.
        """
        for _ in zip(range(lines), self._raw(), strict=False):
            pass
        if (self.lines, self.checksum) != (lines, checksum):
            raise ValueError(
                f"{self.name}: its first {lines} lines are not those that the checkpoint is of"
            )
        self.is_timed = is_timed

    def __iter__(self) -> Iterator[Change]:
        for raw in self._raw():
            where = f"{self.name}:{self.lines}"
            try:
                line = raw.decode("utf-8-sig" if self.lines == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                byte = raw[error.start]
                raise ValueError(f"{where}: byte 0x{byte:02x} is not UTF-8 text") from None
            if line and not line.startswith("#"):
                yield self._change(where, line)

    def _raw(self) -> Iterator[bytes]:
        for raw in self._file:
            self.lines += 1
            line = raw.rstrip(b"\r\n")
            self.checksum = zlib.crc32(line + b"\n", self.checksum)
            yield line

    def _change(self, where: str, line: str) -> Change:
        fields = [x.strip() for x in line.split("\t")] if "\t" in line else line.split()
        if fields[0] not in _SIGNS:
            raise ValueError(f"{where}: {fields[0]!r:.40} is no change; accepted: + and -")
        has_length = self._is_weighted and _SIGNS[fields[0]]
        least = 4 if has_length else 3
        if not least <= len(fields) <= least + 1 or not all(fields):
            count = len(fields) if all(fields) else "empty"
            ends = "two vertices, the length" if has_length else "two vertices"
            raise ValueError(
                f"{where}: {count} columns; accepted: {fields[0]}, {ends} and, if there is one, a "
                "time"
            )
        time = fields[least] if len(fields) > least else None
        if self.is_timed is None:
            self.is_timed = time is not None
        if self.is_timed != (time is not None):
            has = "no time, but the first change has one" if self.is_timed else "a time, which is "
            has += "" if self.is_timed else "a column more than the first change has"
            raise ValueError(f"{where}: {has}")
        length = _length(where, fields[3]) if has_length else None
        return Change(where, _SIGNS[fields[0]], (fields[1], fields[2]), length, time)


def _length(where: str, text: str) -> float:
    try:
        length = float(text)
    except ValueError:
        length = math.nan
    if not 0 < length < math.inf:
        raise ValueError(f"{where}: {text!r:.40} is no length; accepted: finite numbers above 0")
    return length


def _lines(name: str, file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file, as soon as they are there, or of one that is compressed."""
    compression = split_suffix(name)[1]
    if not compression:
        yield from file
        return
    rest = b""
    try:
        for chunk in chunks(file, compression, Budget.of(name)):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
    except DAMAGED as error:
        if getattr(error, "errno", None) is not None:  # from the system
            raise
        raise ValueError(f"{name}: truncated or damaged {compression} file ({error})") from None
    if rest:
        yield rest


class Batch:
    """Changes, each of which counts after those before it.

    Attributes:
        size: how many there are.
        ignored: how many of them have no effect.
    """

    def __init__(
        self, graph: DynamicGraph, names: list[str], what: str, grow: bool, strict: bool
    ) -> None:
        """`names` are those of the vertices, to which new ones are added; `what` is the graph."""
        self.size = self.ignored = 0
        self._graph, self._names, self._what = graph, names, what
        self._grow, self._strict = grow, strict
        self._number = {name: vertex for vertex, name in enumerate(names)}
        # Was it there, is it now, and with which length if it has come.
        self._edges: dict[tuple[int, int], tuple[bool, bool, float | None]] = {}

    def add(self, change: Change) -> None:
        """Adds a change.

        Raises:
            ValueError: it has no effect, or names no vertex; the message has the line.
        """
        self.size += 1
        fault = self._fault(change)
        if fault and self._strict:
            raise ValueError(f"{change.where}: {fault}; --no-strict skips such lines")
        self.ignored += bool(fault)

    def _fault(self, change: Change) -> str:
        """Why a change has no effect; "" if it has one, which is noted."""
        u, v = (self._vertex(change, name) for name in change.ends)
        shown = " ".join(change.ends)
        if u is None or v is None:
            return f"{shown} is no edge"
        if u == v:
            return f"{shown} is a loop"
        edge = (u, v) if self._graph.directed or u < v else (v, u)
        was, now, _ = self._edges.get(edge) or (*(2 * (self._graph._has(*edge),)), None)
        if now == change.inserts:
            return f"{shown} is an edge already" if now else f"{shown} is no edge"
        self._edges[edge] = was, change.inserts, change.length
        return ""

    def _vertex(self, change: Change, name: str) -> int | None:
        """The vertex of a name; None if there is none and none is made, because an edge goes."""
        name = plain(name, self._number)
        if name not in self._number:
            if not self._grow:
                raise ValueError(
                    f"{change.where}: {name!r} is no vertex of {self._what}; --grow makes new ones"
                )
            if not change.inserts:
                return None
            self._number[name] = len(self._names)
            self._names.append(name)
        return self._number[name]

    def apply(self) -> None:
        """Brings the graph and its measures up to date, and begins a new batch."""
        # What was deleted and has come again has another length, or is as it was.
        moves = self._edges.items()
        come = {
            edge: length for edge, (was, now, length) in moves
            if now and (not was or length is not None)
        }  # fmt: skip
        delete = [edge for edge, (was, now, _) in moves if was and (not now or edge in come)]
        if len(self._names) > self._graph.num_nodes:  # also where their edges are gone again:
            come[(len(self._names) - 1,) * 2] = 1.0  # a loop, which is ignored
        lengths = None
        if self._graph.is_weighted:
            lengths = torch.tensor([*come.values()], dtype=torch.float64, device="cpu")
        self._graph.update(
            _columns([*come]), _columns(delete), insert_weight=lengths, grow=self._grow,
            strict=False,
        )  # fmt: skip
        self.size, self.ignored, self._edges = 0, 0, {}


def _columns(edges: list[tuple[int, int]]) -> Tensor:
    return torch.tensor(edges, dtype=torch.int64, device="cpu").reshape(-1, 2).T
