"""DynamicGraph: a set of edges that changes in batches."""

from __future__ import annotations

import os
import time
import weakref
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _files as check_files
from torchcent.check import _values as values
from torchcent.check import _weights as check_weights
from torchcent.dynamic import _saved
from torchcent.dynamic._arcs import (
    BITS,
    MASK,
    Arcs,
    Change,
    both_ways,
    ends_of,
    holds,
    numbered,
)
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory


@dataclass(frozen=True)
class Update:
    """What a batch of changes did to a :class:`DynamicGraph`.

    Attributes:
        inserted, deleted: the numbers of edges that came and went.
        ignored: changes without effect: loops, edges that were there, or not there.
        vertices: the number of new vertices.
        seconds: of the update, with the measures that follow.
    """

    inserted: int
    deleted: int
    ignored: int
    vertices: int
    seconds: float


class Follower(Protocol):
    """A measure of a graph that changes (_measure.py)."""

    def _follow(self, change: Change) -> None: ...

    def _skip(self) -> None: ...

    def _forget(self) -> None: ...

    def _stored(self) -> dict[str, Any]: ...

    def _fault(self) -> str: ...

    @classmethod
    def _restored(cls, graph: DynamicGraph, state: dict[str, Any]) -> Follower: ...


#: the classes of measures, by the names that files have for them
KINDS: dict[str, type[Follower]] = {}


class DynamicGraph:
    """A graph whose edges come and go in batches, with measures that follow.

    Args:
        edge_index: the graph to begin with, or whatever :meth:`Graph.from_edge_index` and its
            siblings take: an edge_index, a Graph or a graph of another library. It must be a single
            graph. Loops are left out, and of parallel edges one stays, the shortest.
        num_nodes, directed: as in :func:`betweenness`.
        edge_weight: as in :func:`betweenness`; float64 lengths, with which updates have
            ``insert_weight``. Measures of such graphs are computed anew at each update.

    The arcs take 12 bytes each, 20 if directed, and 8 more with weights. An update takes O(m) time
    for the arcs themselves, 2 ms per million for some edges, and 20 to 40 ms for many; with weights
    O(m log m). They stay on the device of the graph; updates may be on any.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is a batch.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> graph = torchcent.DynamicGraph(path, directed=False)
        >>> scores = torchcent.DynamicBetweenness(graph, normalized=False)
        >>> scores.scores
        tensor([0., 2., 2., 0.], dtype=torch.float64)
        >>> graph.update(insert=torch.tensor([[0], [3]])).inserted
        1
        >>> scores.scores
        tensor([0.5000, 0.5000, 0.5000, 0.5000], dtype=torch.float64)
        >>> scores.changed
        tensor([0, 1, 2, 3])
    """

    def __init__(
        self,
        edge_index: GraphLike,
        num_nodes: int | None = None,
        directed: bool | None = None,
        *,
        edge_weight: WeightLike = None,
    ) -> None:
        frozen = as_graph(edge_index, edge_weight, num_nodes, None, directed)
        if frozen.ptr is not None:
            raise ValueError("edge_index: got a batch of graphs; accepted are single graphs")
        rows = torch.arange(frozen.num_nodes, device=frozen.device)
        rows = rows.repeat_interleave(frozen.rowptr.diff(), output_size=frozen.col.numel())
        col = frozen.col.long()
        keys = numbered(rows, col)[rows != col]
        weight = None
        if frozen.weight is None:
            keys = keys.unique()
        else:
            keys, order = keys.sort()
            weight = frozen.weight.double()[rows != col][order]
        ties = frozen.ties, frozen.tie_tolerance
        self._arcs = Arcs(keys, frozen.num_nodes, frozen.directed, weight, ties)
        self._labels = frozen.labels
        self._measures: weakref.WeakSet[Follower] = weakref.WeakSet()

    @property
    def num_nodes(self) -> int:
        return self._arcs.num_nodes

    @property
    def directed(self) -> bool:
        return self._arcs.directed

    @property
    def device(self) -> torch.device:
        """Where the arcs are, and measures compute: that of the graph to begin with."""
        return self._arcs.device

    @property
    def is_weighted(self) -> bool:
        return self._arcs.weight is not None

    @property
    def num_edges(self) -> int:
        """The number of edges, or of arcs if directed."""
        return self._arcs.keys.numel() // (1 if self.directed else 2)

    @property
    def nbytes(self) -> int:
        """Bytes of the arcs, without the measures that follow."""
        arcs = self._arcs
        parts = [arcs.keys, *arcs.forward, *([] if arcs.weight is None else [arcs.weight])]
        return sum({part.data_ptr(): part.nbytes for part in parts}.values())

    def __repr__(self) -> str:
        return (
            f"DynamicGraph(num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"directed={self.directed})"
        )

    def snapshot(self) -> Graph:
        """The graph as it is now, which later updates do not change.

        Returns:
            The same :class:`Graph`, to the bit, as one built from these edges in ascending order.
        """
        graph = self._arcs.frozen
        if self._labels is not None and len(self._labels) == self.num_nodes:
            return graph.with_labels(self._labels)
        return graph

    def update(
        self,
        insert: Tensor | None = None,
        delete: Tensor | None = None,
        *,
        insert_weight: Tensor | None = None,
        grow: bool = False,
        strict: bool = True,
    ) -> Update:
        """Deletes and inserts a batch of edges, and brings all measures of this graph up to date.

        Args:
            insert, delete: int64 (or int32) [2, count], the ends of edges; in undirected graphs in
                either order. What is deleted and inserted in the same batch stays, with another
                weight if there are weights.
            insert_weight: [count], the length of each edge of `insert`, in a graph with weights.
                Of an edge that is inserted twice, the first one counts.
            grow: whether ids of `insert` beyond the last vertex make new vertices.
            strict: False ignores loops, edges that are inserted twice or where there is one, and
                deletions of edges that are not there. They are errors otherwise.

        Returns:
            The numbers of changes, see :class:`Update`.

        Raises:
            TypeError, ValueError: an argument is invalid; the message names it. Nothing has
                changed then.

        Ctrl-C and errors in a measure leave the graph as it was. Its measures are computed anew
        when they are next read.
        """
        begin = time.perf_counter()
        values.flag(grow, "grow")
        values.flag(strict, "strict")
        new_ends, old_ends = self._columns(insert, "insert"), self._columns(delete, "delete")
        _needed(old_ends, "delete", self.num_nodes)
        size = self.num_nodes
        if grow:
            size = max(size, _needed(new_ends, "insert", 2**31 - 1))
        else:
            _needed(new_ends, "insert", size, "; grow=True makes new vertices")
        edges = self._arcs.keys
        weight = self._lengths(insert_weight, new_ends, size)
        new, old = self._named(new_ends), self._named(old_ends)
        if strict:
            _check_loops(new_ends, "insert")
            _check_once(new, "insert")
            _check_once(old, "delete")
            _check_all(old, holds(edges, old), "delete", "is no edge")
            there = holds(edges, new) & ~torch.isin(new, old)
            _check_all(new, ~there, "insert", "is an edge already")
        old = old.unique()
        if weight is None:
            new = new[new >> BITS != new & MASK].unique()
            removed = old[holds(edges, old) & ~torch.isin(old, new)]
            inserted = new[~holds(edges, new)]
        else:
            new, weight = _first_of_each(new, weight)
            removed = old[holds(edges, old)]
            comes = ~holds(edges, new) | torch.isin(new, removed)
            inserted, weight = new[comes], weight[comes]
        vertices = size - self.num_nodes
        if removed.numel() or inserted.numel() or vertices:
            self._follow(removed, inserted, size, weight)
        else:
            for measure in list(self._measures):
                measure._skip()
        ignored = new_ends.shape[1] + old_ends.shape[1] - inserted.numel() - removed.numel()
        seconds = time.perf_counter() - begin
        return Update(inserted.numel(), removed.numel(), ignored, vertices, seconds)

    def save(self, path: str | os.PathLike[str], *measures: Any) -> None:
        """Writes the graph and measures that follow it to a file, with all that these keep.

        The file is one of ``torch.save``. It replaces an older file at once, when it is whole and
        on the disk: a killed process leaves the older one.

        Args:
            path: the file. With ``state="rows"`` it is as large as the rows.
            measures: of this graph, such as :class:`DynamicBetweenness`.

        Raises:
            TypeError, ValueError: an argument is invalid, or a measure follows another graph.
            OSError: the file cannot be written.

        Example:
            >>> import os, tempfile, torch, torchcent
            >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1], [1, 2]]), directed=False)
            >>> between = torchcent.DynamicBetweenness(graph, normalized=False)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     graph.save(os.path.join(folder, "path.pt"), between)
            ...     graph, [between] = torchcent.DynamicGraph.load(os.path.join(folder, "path.pt"))
            >>> graph.update(insert=torch.tensor([[2], [3]]), grow=True).vertices
            1
            >>> between.scores
            tensor([0., 2., 2., 0.], dtype=torch.float64)
        """
        for at, measure in enumerate(measures):
            if type(measure) not in KINDS.values():
                raise values.wrong_type(f"measures[{at}]", "a measure of this graph", measure)
            if measure not in self._measures:
                raise ValueError(f"measures[{at}] follows another graph")
        self._save(check_files.path(path), measures, {})

    @staticmethod
    @_memory.reported
    def load(path: str | os.PathLike[str]) -> tuple[DynamicGraph, list[Any]]:
        """Reads what :meth:`save` wrote; nothing is computed again.

        Returns:
            The graph, and its measures in the order in which they were saved. They have the scores
            that they had, to the bit, with options and statistics, and follow this graph.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is damaged, of a newer torchcent, or was not written by
                :meth:`save`.

        No code in a file is executed. What measures keep is checked for shapes alone: of a file
        that others have changed, scores may be wrong.
        """
        graph, measures, _ = DynamicGraph._load(check_files.path(path))
        return graph, measures

    def _save(self, path: str, measures: tuple[Any, ...], more: dict[str, Any]) -> None:
        states = [(type(measure).__name__, measure._stored()) for measure in measures]
        _saved.save(path, self.snapshot(), states, more)

    @staticmethod
    def _load(path: str) -> tuple[DynamicGraph, list[Any], dict[str, Any]]:
        content = _saved.load(path)
        graph, measures = DynamicGraph(content.graph), []
        for name, state in content.measures:
            if name not in KINDS:
                raise _saved.refused(path, f"no measure is called {name:.40}")
            try:
                known = _saved.records(KINDS[name])
                measure = KINDS[name]._restored(graph, _saved.unpacked(state, known))
                fault = measure._fault()
            except (TypeError, KeyError, AttributeError, RuntimeError) as error:
                fault = f"{type(error).__name__} {error}"
            if fault:
                raise _saved.refused(path, f"{name}: {fault:.80}")
            measures.append(measure)
        return graph, measures, content.more

    def _follow(
        self, removed: Tensor, inserted: Tensor, num_nodes: int, weight: Tensor | None
    ) -> None:
        """Changes the arcs by edges that are there and are not, and tells the measures."""
        before = self._arcs
        if not self.directed:
            removed, inserted = both_ways(removed), both_ways(inserted)
            weight = None if weight is None else weight.repeat(2)
        after = before.changed(removed, inserted, num_nodes, weight)
        change = Change(before, after, ends_of(removed), ends_of(inserted))
        measures = list(self._measures)
        try:
            for measure in measures:
                measure._follow(change)
        except BaseException:
            for measure in measures:  # those before the one that failed have followed already
                measure._forget()
            raise
        self._arcs = after

    def _has(self, tail: int, head: int) -> bool:
        keys, key = self._arcs.keys.cpu().numpy(), (tail << BITS) | head
        at = int(keys.searchsorted(key))
        return at < keys.size and int(keys[at]) == key

    def _columns(self, value: Tensor | None, name: str) -> Tensor:
        if value is None:
            return torch.empty(2, 0, dtype=torch.int64, device=self.device)
        if not isinstance(value, Tensor):
            raise values.wrong_type(name, "a torch.Tensor [2, count] or None", value)
        return check.edge_index(value, name).to(self.device, torch.int64)

    def _lengths(self, value: Tensor | None, ends: Tensor, num_nodes: int) -> Tensor | None:
        present = self._arcs.weight
        if present is None:
            if value is None:
                return None
            raise ValueError(
                "insert_weight: the graph has no weights; DynamicGraph(edge_index, edge_weight=...)"
                " makes one that has"
            )
        if num_nodes > self.num_nodes and present.numel():
            check_weights.summable(float(present.max()), num_nodes)
        if value is None and ends.shape[1]:
            raise ValueError(
                "insert_weight is None, and the graph has weights; accepted is a tensor with one "
                "for each column of insert"
            )
        if value is None:
            return torch.empty(0, dtype=torch.float64, device=self.device)
        if isinstance(value, Tensor) and not value.is_meta:
            value = value.to(self.device)
        try:
            return check_weights.edge_weight(value, ends, num_nodes)
        except (TypeError, ValueError) as error:
            text = str(error).replace("edge_weight", "insert_weight")
            raise type(error)(text.replace("edge_index", "insert")) from None

    def _named(self, ends: Tensor) -> Tensor:
        """The number of the edge of each column."""
        return numbered(*ends) if self.directed else numbered(ends.amin(0), ends.amax(0))


def _needed(ends: Tensor, name: str, limit: int, hint: str = "") -> int:
    """The number of vertices that ids need, which must be below the limit."""
    if not ends.numel():
        return 0
    low, high = int(ends.min()), int(ends.max())
    check.ids_within(low, high, limit, name, hint)
    return high + 1


def _first_of_each(keys: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The edges in ascending order, without loops, with the first weight of each."""
    keys, order = keys.sort(stable=True)
    stays = keys >> BITS != keys & MASK
    stays[1:] &= keys[1:] != keys[:-1]
    return keys[stays], weight[order[stays]]


def _check_loops(ends: Tensor, name: str) -> None:
    is_loop = ends[0] == ends[1]
    _check_all(numbered(*ends), ~is_loop, name, "is a loop")


def _check_once(keys: Tensor, name: str) -> None:
    ascending, order = keys.sort()
    again = torch.zeros_like(keys, dtype=torch.bool)
    again[order[1:]] = ascending[1:] == ascending[:-1]
    _check_all(keys, ~again, name, "is there twice")


def _check_all(keys: Tensor, is_right: Tensor, name: str, fault: str) -> None:
    if bool(is_right.all()):
        return
    column = int((~is_right).long().argmax())
    u, v = ends_of(keys[column : column + 1])[:, 0].tolist()
    raise ValueError(f"{name}: column {column}, ({u}, {v}), {fault}; strict=False ignores such")
