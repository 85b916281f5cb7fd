"""The arrays of a graph in CSR form, and what is derived from them when it is first used."""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.graph import _cache, _components, _csr, _labels, _segments, _strengths, _weights
from torchcent.graph._cache import Keeper, Slot
from torchcent.graph._contraction import Contraction
from torchcent.graph._strengths import NONE, Strengths
from torchcent.graph._weights import DECIMAL, Ties
from torchcent.runtime import _ops, _small


class Arrays(Keeper):
    """See :class:`torchcent.Graph`, which adds how graphs are made from and turned into others."""

    num_nodes: int
    rowptr: Tensor
    col: Tensor
    directed: bool
    weight: Tensor | None
    ptr: Tensor | None
    _ties: Ties
    _repeated: bool  # whether the columns hold loops, or arcs several times
    _sums: Strengths  # of the weights; without weights there are none
    _loop_ends: Tensor | None  # of each column that is a loop, once their slots are known
    _diagonal: Tensor | None  # float64 [n], of an adjacency matrix that has loops
    _contraction: Contraction
    _labels: np.ndarray | None  # int64 or object [n], read-only

    def __new__(cls, *parts: Any, _trusted: bool = False, **others: Any) -> Self:
        if (parts or others) and not _trusted:
            raise TypeError(
                f"{cls.__name__}(...) is not how a graph is made; accepted: {cls.__name__}."
                "from_edge_index(edge_index), from_edges, from_networkx, from_scipy and the other "
                "from_ methods, or torchcent.read(path).graph()"
            )
        return super().__new__(cls)

    def __init__(
        self, rowptr: Tensor, col: Tensor, slot: Tensor | None, directed: bool,
        weight: Tensor | None = None, ptr: Tensor | None = None, *, _trusted: bool = False,
        _ids: Tensor | None = None, _ties: Ties = DECIMAL,
        _repeated: bool = False, _multiplicity: Strengths | None = None, _sums: Strengths = NONE,
        _loop_ends: Tensor | None = None, _diagonal: Tensor | None = None,
        _contraction: Contraction | None = None, _labels: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        if not _trusted:
            raise TypeError("a Graph is made by Graph.from_edge_index, or another Graph.from_...")
        self.__dict__.update(
            num_nodes=rowptr.numel() - 1, rowptr=rowptr, col=col, directed=directed, weight=weight,
            ptr=ptr, cache={}, _ties=_ties, _repeated=_repeated, _sums=_sums,
            _loop_ends=_loop_ends, _diagonal=_diagonal,
            _contraction=_contraction or Contraction(rowptr, col), _labels=_labels,
        )  # fmt: skip
        if _multiplicity is not None:
            self.__dict__["_multiplicity"] = _multiplicity
        # The slots of the input columns, or the columns, from which they are found when used; None
        # if these are the slots.
        self.__dict__.update({"_ids": _ids} if slot is None else {"slot": slot})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is frozen: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph is frozen: cannot delete {name}")

    @property
    def device(self) -> torch.device:
        return self.rowptr.device

    @property
    def num_slots(self) -> int:
        return self.col.numel()

    @property
    def num_edges(self) -> int:
        """Number of arcs, or of edges if the graph is undirected, without loops and duplicates."""
        return self.num_slots if self.directed else self.num_slots // 2

    def __len__(self) -> int:
        return self.num_nodes

    def __eq__(self, other: object) -> bool:
        """Whether both have the same arcs, weights, direction, batches and ties, on one device.

        Names of vertices and the order of columns (:attr:`slot`) do not matter, but
        loops and the sums of parallel arcs, of which measures of strengths are functions, do.
        """
        if not isinstance(other, Arrays):
            return NotImplemented
        if self is other:
            return True
        plain = self.directed == other.directed and self.device == other.device
        plain = plain and self.ties == other.ties and self.tie_tolerance == other.tie_tolerance
        return plain and all(map(same, self._compared, other._compared))

    def __hash__(self) -> int:
        return self._hash

    @property
    def _compared(self) -> tuple[Tensor | None, ...]:
        return self.rowptr, self.col, self.weight, self.ptr, *self._multiplicity, *self._sums

    @Slot
    def _hash(self) -> int:
        digest = 0
        for part in self._compared:
            if part is not None:
                digest = zlib.crc32(part.cpu().contiguous().numpy().data, digest)
        own = (self.directed, self.is_weighted, self.ties, self.tie_tolerance)
        return hash((self.num_nodes, self.num_slots, *own, digest))

    @property
    def nbytes(self) -> int:
        """Bytes of the graph and of everything that is kept with it, on all devices.

        What measures prepare is kept, so that the next one starts sooner: see :meth:`drop_caches`.

        Example:
            >>> import torch, torchcent
            >>> path = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]))
            >>> path.nbytes, path.components.numel(), path.nbytes
            (56, 3, 80)
        """
        arrays = sum(storage.nbytes() for storage in _cache.storages(self))
        return arrays + _labels.nbytes(self._labels)

    def drop_caches(self) -> None:
        """Forgets all that is kept with the graph and can be computed anew.

        The graph remains as it is, and results have the same bits; the next measure takes as long
        as the first one did. An order of contraction that was read from a file is not forgotten.

        Example:
            >>> import torch, torchcent
            >>> graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]))
            >>> own, scores = graph.nbytes, torchcent.pagerank(graph)
            >>> graph.drop_caches()
            >>> graph.nbytes == own and torchcent.pagerank(graph).equal(scores)
            True
        """
        for slot in list(self.cache):
            slot.forget(self)
        self.__dict__["_contraction"] = self._contraction.without_order()
        if vars(self).get("_ids", self) is None:  # the columns are the slots
            self.__dict__.pop("slot", None)

    @property
    def _parts(self) -> tuple[object, ...]:
        return *self._own, self._contraction, self.cache

    @property
    def _own(self) -> tuple[Tensor | None, ...]:
        """What cannot be computed anew."""
        columns = *self._columns, *vars(self).get("_multiplicity", NONE), self._loop_ends
        return self.rowptr, self.col, self.weight, self.ptr, *columns, *self._sums, self._diagonal

    @property
    def _nbytes(self) -> int:
        """Bytes as plans count the graph: its own, the transpose, an order of contraction."""
        more = Arrays.back_weight.get(self), Arrays.batch.get(self), self._order
        every = (*self._own, *(Arrays._transposed.get(self) or ()), *more)
        parts = {id(part): part for part in every if part is not None}
        return sum(part.nbytes for part in parts.values())

    @property
    def is_weighted(self) -> bool:
        return self.weight is not None

    @property
    def num_graphs(self) -> int:
        """Number of graphs of a batch; 1 for a single graph."""
        return 1 if self.ptr is None else self.ptr.numel() - 1

    @Slot
    def batch(self) -> Tensor | None:
        """int64 [n]: the graph of each vertex; None for a single graph.

        Example:
            >>> import torch, torchcent
            >>> arcs, ptr = torch.tensor([[0, 2], [1, 3]]), torch.tensor([0, 2, 5])
            >>> torchcent.Graph.from_edge_index(arcs, ptr=ptr).batch
            tensor([0, 0, 1, 1, 1])
        """
        if self.ptr is None:
            return None
        return _small.repeat_interleave(self.ptr.diff(), output_size=self.num_nodes)

    @cached_property
    def slot(self) -> Tensor:
        cache = vars(self)
        ids = cache.get("_ids", self)
        if ids is not self:  # else another thread has found the slots in the meantime
            if ids is None:
                return torch.arange(self.num_slots, device=self.device)
            slot = _csr.slots(ids, self.rowptr, self.col)
            if self._repeated:
                cache["_loop_ends"] = ids[0][ids[0] == ids[1]]
            if self._repeated and "_multiplicity" not in cache:
                arcs = self.rowptr, self.col
                cache["_multiplicity"] = _strengths.counts(ids, slot, *arcs, not self.directed)
            cache["slot"] = slot
            cache.pop("_ids", None)
        places: Tensor = cache["slot"]
        return places

    @property
    def _columns(self) -> tuple[Tensor | None, Tensor | None]:
        """The slots of the input columns, or the columns from which they are found.

        If it is neither, the slots are the columns.
        """
        ids = vars(self).get("_ids")  # first: another thread may be replacing it by the slots
        return vars(self).get("slot"), ids

    @property
    def _order(self) -> Tensor | None:
        """The order of contraction, on the host; None if it is not known."""
        return self._contraction.order if self.rowptr.device.type == "cpu" else None

    @cached_property
    def _multiplicity(self) -> Strengths:
        """The numbers of parallel arcs and of loops."""
        if not self._repeated:
            return NONE
        self.slot  # noqa: B018  (counts them)
        counts: Strengths = vars(self).get("_multiplicity", NONE)
        return counts

    @Slot
    def _conductances(self) -> Any:  # Self
        """The graph whose weights are the sums over parallel arcs, without loops."""
        sums = self._sums if self.is_weighted else self._multiplicity
        if sums.slots is None:
            return self
        plain = {"_repeated": False, "_multiplicity": None, "_sums": NONE, "_loop_ends": None}
        return self._with(weight=sums.slots, _ties=DECIMAL, **plain)

    @Slot
    def _adjacency(self) -> Any:  # Self
        """The adjacency matrix: parallel arcs are added up, and loops are slots on the diagonal."""
        loops = (self._sums if self.is_weighted else self._multiplicity).loops
        values = self._conductances.weight
        if loops is None:
            return self._conductances
        rowptr, col, values = _strengths.with_diagonal(self.rowptr, self.col, values, loops)
        parts = (rowptr, col, None, self.directed, values, self.ptr)
        return type(self)(*parts, _trusted=True, _diagonal=loops)

    @Slot
    def _least_weight(self) -> float:
        """1 without weights, or without arcs."""
        if self.weight is None or not self.num_slots:
            return 1.0
        return float(self.weight.min())

    @Slot
    def back_weight(self) -> Tensor | None:
        """float64 [num_slots]: weights in the order of :attr:`transpose`; None without weights."""
        if self.weight is None or not self.directed:
            return self.weight
        compiled = _csr.finds_symmetry(self.device)
        if compiled and self._mutual and _csr.is_symmetric(self.rowptr, self.col, self.weight):
            return self.weight
        back = self.weight[self._transposed[2]]
        return self.weight if torch.equal(back, self.weight) else back

    @Slot
    def scale(self) -> _weights.Scale:
        """The arithmetic for sums of the weights."""
        if self.weight is None:
            return _weights.HOPS
        sums = self._ties.sums
        if isinstance(sums, _weights.Scale):
            return sums
        return _weights.scale(self.weight, self.num_nodes, decimals=sums != "float")

    @property
    def _ties_are_exact(self) -> bool:
        """Whether lengths of paths are exact sums, and compared exactly."""
        return not self.is_weighted or (self.tie_tolerance == 0 and self.scale.exact)

    @Slot
    def scaled_weights(self) -> tuple[Tensor, Tensor] | tuple[None, None]:
        """Weights and back weights in the format of the engines: float64, or int32 in units."""
        if self.weight is None or self.back_weight is None:
            return None, None
        weight = self.scale.apply(self.weight)
        if self.back_weight is self.weight:
            return weight, weight
        return weight, self.scale.apply(self.back_weight)

    @Slot
    def _scaled_per_graph(self) -> tuple[Tensor, Tensor]:
        """float64 [num_slots]: weights in units of each graph; float64 [num_graphs]: units in 1."""
        assert self.weight is not None
        if self.ptr is None or self._ties.sums not in ("decimal", "fixed point"):
            per_one = self.scale.per_one if self.scale.rounds else 1.0
            weight = self.scale.apply(self.weight).double() if self.scale.rounds else self.weight
            return weight, weight.new_full((self.num_graphs,), per_one)
        slots, longest = self.rowptr[self.ptr].diff(), None
        if self._ties.sums == "fixed point":  # a path leaves each vertex once
            heaviest = _segments.largest_of_segments(self.rowptr, self.weight)
            longest = _segments.of_segments(self.ptr, heaviest)
        return _weights.decimals_of_graphs(self.weight, slots, self.ptr.diff(), longest)

    @Slot
    def _hops(self) -> Any:  # Self
        return self._with(weight=None, _sums=NONE)

    @property
    def ties(self) -> str:
        """ "decimal" or "float", see :meth:`with_ties`."""
        return "float" if self._ties.sums == "float" else "decimal"

    @property
    def tie_tolerance(self) -> float:
        """See :meth:`with_ties`."""
        return self._ties.tolerance

    def with_ties(self, ties: str | None = None, tie_tolerance: float | None = None) -> Self:
        """The same graph, with another rule for which weighted paths are equally short.

        Args:
            ties: "decimal" computes with decimal weights of up to 6 digits behind the point as they
                are written, so that 0.1 + 0.2 is as long as 0.15 + 0.15. Other weights are rounded
                to a fixed point, so that their sums are exact (docs/weights.md). "float" sums the
                float64 numbers from the source, as NetworkX does: 0.1 + 0.2 is then longer.
            tie_tolerance: with 0, paths are equally short if their lengths are equal. With t > 0,
                an arc (u, v) of length w may be on a shortest path if d(u) < d(v) and d(u) + w <=
                (1 + t) d(v), all in float64. 1e-9 compensates for rounding.

        None leaves either as it is.

        Measures that count shortest paths ask for ties. Distances are sums by the same rule: those
        of decimals, or of the float64 numbers.

        Example:
            >>> import torch, torchcent
            >>> square = torch.tensor([[0, 1, 0, 2], [1, 3, 2, 3]])
            >>> graph = torchcent.Graph.from_edge_index(
            ...     square, edge_weight=torch.tensor([0.1, 0.2, 0.15, 0.15], dtype=torch.float64)
            ... )
            >>> torchcent.betweenness(graph, normalized=False)
            tensor([0.0000, 0.5000, 0.5000, 0.0000])
            >>> torchcent.betweenness(graph.with_ties("float"), normalized=False)
            tensor([0., 0., 1., 0.])
        """
        ties = self.ties if ties is None else ties
        tie_tolerance = self.tie_tolerance if tie_tolerance is None else tie_tolerance
        rule = Ties(*check_weights.ties(ties, tie_tolerance))
        return self if rule == self._ties else self._with(_ties=rule)

    def to(self, device: torch.device | str) -> Self:
        """The same graph on another device (itself if it is already there)."""
        device = check.device(device)
        rowptr = self.rowptr.to(device)
        if rowptr is self.rowptr:
            return self
        slot, ids = self._columns
        names = ("col", "weight", "ptr", "_multiplicity", "_sums", "_loop_ends")
        parts = {"slot": slot, "_ids": ids} | {name: vars(self).get(name) for name in names}
        copies = {name: None if part is None else part.to(device) for name, part in parts.items()}
        return self._with(rowptr=rowptr, _contraction=None, **copies)

    def unweighted(self) -> Self:
        """The same graph without weights, for counting hops (itself if it has none).

        Example:
            >>> import torch, torchcent
            >>> arcs, length = torch.tensor([[0, 1, 0], [1, 2, 2]]), torch.tensor([1, 1, 5])
            >>> graph = torchcent.Graph.from_edge_index(arcs, edge_weight=length)
            >>> torchcent.shortest_path_lengths(graph)[0].tolist()
            [0, 1, 2]
            >>> torchcent.shortest_path_lengths(graph.unweighted())[0].tolist()
            [0, 1, 1]
        """
        hops: Self = self if self.weight is None else self._hops
        return hops

    def reversed(self) -> Self:
        """The graph with all arcs reversed, for the same columns; useful for outgoing closeness.

        Example:
            >>> import torch, torchcent
            >>> graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 0], [1, 2]]))
            >>> graph.reversed().to_edge_index()
            tensor([[1, 2],
                    [0, 0]])
        """
        colptr, row = self.transpose
        slot, ids = self._columns
        if slot is None and ids is None:
            slot = self.slot
        if slot is not None:
            origin, real = self._transposed[2], slot >= 0
            place = torch.empty_like(origin)
            place[origin] = torch.arange(self.num_slots, device=self.device)
            slot = slot.clone()
            slot[real] = place[slot[real]]
        elif ids is not None:
            ids = ids.flip(0)
        sums = {name: vars(self).get(name) for name in ("_multiplicity", "_sums")}
        for name, of_columns in sums.items():
            if of_columns is not None and of_columns.slots is not None:
                sums[name] = of_columns.along(self._transposed[2])
        # An order serves the arcs in either direction.
        order = self._contraction if self._contraction.is_known else None
        back = {"rowptr": colptr, "col": row, "weight": self.back_weight, "_contraction": order}
        return self._with(slot=slot, _ids=ids, **back, **sums)

    def _with(self, **changes: Any) -> Self:
        """The graph with other parts, by the names of the constructor.

        What is known and does not depend on them is handed on, and the contraction, whose order may
        be found later.
        """
        slot, ids = self._columns
        own: dict[str, Any] = {name: vars(self).get(name) for name in _HANDED_ON}
        copy = type(self)(**(own | {"slot": slot, "_ids": ids} | changes), _trusted=True)
        for known, parts in _KNOWN.items():
            if known in self.cache and not parts & changes.keys():
                known.put(copy, self.cache[known])
        return copy

    @Slot
    def degree(self) -> Tensor:
        """int64 [n]: number of outgoing arcs of each vertex, without loops and copies.

        :func:`torchcent.degree` counts those, too.
        """
        return self.rowptr.diff()

    @Slot
    def degree_order(self) -> Tensor:
        """int64 [n]: vertices by descending degree, ties by id."""
        return _csr.by_degree(self.degree)

    @Slot
    def _mutual(self) -> bool:
        """Whether every arc has its reverse, of whatever weight."""
        if not self.directed:
            return True
        if _csr.finds_symmetry(self.device):
            return _csr.is_symmetric(self.rowptr, self.col)
        return self._transposed[0] is self.rowptr

    @Slot
    def _transposed(self) -> tuple[Tensor, Tensor, Tensor]:
        if _ops.has_kernel("reverse_slots", self.device) and self._mutual:
            slot = _ops.ops.reverse_slots(self.rowptr, self.col, torch.get_num_threads())
            return self.rowptr, self.col, slot
        colptr, row, slot = _csr.transpose(self.rowptr, self.col)
        if torch.equal(colptr, self.rowptr) and torch.equal(row, self.col):
            return self.rowptr, self.col, slot  # symmetric: one copy is enough
        return colptr, row, slot

    @property
    def transpose(self) -> tuple[Tensor, Tensor]:
        """(colptr, row): CSR of the reversed arcs; the graph's own arrays if it is symmetric."""
        return (self.rowptr, self.col) if self._mutual else self._transposed[:2]

    @property
    def reverse_slot(self) -> Tensor:
        """int64 [num_slots]: the slot of each reversed arc; only for symmetric graphs."""
        if not self.is_symmetric:
            raise ValueError("reverse_slot needs a graph that has each arc's reverse")
        return self._transposed[2]

    @Slot
    def is_symmetric(self) -> bool:
        """Whether every arc has its reverse, of the same weight; True with directed=False."""
        return not self.directed or (self._mutual and self.back_weight is self.weight)

    @Slot
    def components(self) -> Tensor:
        """int64 [n]: label of the (weakly) connected component of each vertex, from 0."""
        return _components.components(self.rowptr, self.col, self._mutual)

    @Slot
    def _on_host(self) -> Any:  # Self
        """The copy on the host (runtime/_host.py), which finds the same order of contraction."""
        copy = self.to("cpu")
        return copy if copy is self else copy._with(_contraction=self._contraction)

    @Slot
    def _ones(self) -> Tensor:
        """float64 [n] of stride 0: a weight of 1 for every vertex."""
        return torch.ones((), dtype=torch.float64, device=self.device).expand(self.num_nodes)

    @Slot
    def _zeros(self) -> Tensor:
        """float64 [n] of stride 0."""
        return torch.zeros((), dtype=torch.float64, device=self.device).expand(self.num_nodes)


# Of graphs that are made of another one: their parts, and what follows from which.
_HANDED_ON = (
    "rowptr", "col", "directed", "weight", "ptr", "_ties", "_repeated", "_multiplicity", "_sums",
    "_loop_ends", "_contraction", "_labels",
)  # fmt: skip
_OF_ARCS = (
    Arrays._mutual, Arrays._transposed, Arrays.degree, Arrays.degree_order, Arrays.components,
)  # fmt: skip
_KNOWN: dict[Slot[Arrays, [], Any], set[str]] = dict.fromkeys(_OF_ARCS, {"rowptr"})
_KNOWN |= {Arrays.batch: {"rowptr", "ptr"}, Arrays.back_weight: {"rowptr", "weight"}}


def same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.equal(one, other)
