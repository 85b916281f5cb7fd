"""The cores of a graph for one measure, and whether there is memory to make them."""

from __future__ import annotations

import torch

from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.plan import _room
from torchcent.engines.reduce import _chains, _hierarchy, _reduce
from torchcent.engines.reduce._chains import Chains
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._twins import Twins
from torchcent.graph import Graph
from torchcent.runtime import _memory
from torchcent.runtime._codes import BATCH


class Preparation:
    """Builds the cores of a graph.

    On CUDA, sorting a graph may need more memory than a run on it and is checked against the limit.
    `peak` is the memory of building cores that are not yet cached. On the CPU it stays 0. A single
    batch of sources need not be in order (_reduce.problem).
    """

    def __init__(
        self, graph: Graph, measure: Kernel, memory: int | None, num_sources: int | None
    ) -> None:
        self.graph, self.peak = graph, 0
        self.is_short = False  # whether more memory might change the choice of the engine
        self.twins: Twins | None = None  # see `merging`
        self._measure, self._memory = measure.name, memory
        self._paths = measure.family == "paths"
        self._limit: int | None = None
        several = num_sources is None or num_sources > BATCH["lanes"]
        self._in_order = several or measure.family == "distances"

    def core(self, order: str, fold: str, ball: int = 0, *, searched: bool = True) -> Core:
        """See _reduce.core; sources of one that is not searched need no order."""
        if self.graph.device.type == "cuda":
            self._take(_reduce.bytes_to_transpose(self.graph))
            cache = _reduce.cores(self.twins or self.graph)
            in_order = self._in_order and searched
            self._take(_reduce.bytes_to_reduce(self.graph, cache, order, fold, in_order))
        return _reduce.core(self.graph, order, fold, ball, self.twins)

    def chains(self, core: Core) -> Chains:
        """See Chains.of."""
        if core.rowptr.is_cuda and Chains.of not in core.cache:
            self._take(_room.held_bytes(self.graph) + _chains.bytes_to_contract(core))
        return Chains.of(core)

    def hierarchy(self, core: Core, progress: bool | None = False) -> Core:
        """Contracts the core to a hierarchy, if there is room for it."""
        fill = _hierarchy.most_fill_within(core, self.room(core))
        if _hierarchy.Hierarchy.of(core, fill, progress) is None:
            what = f"the contraction of the graph for {self._measure}"
            if core.rowptr.is_cuda:
                nbytes = _hierarchy.bytes_to_contract(core, max(2 * fill, 1))
                raise _memory.refuse(f"{what} on the host", nbytes, self.room(core), None)
            nbytes = _hierarchy.bytes_of_one(core, self._paths, fill)
            what += ", with searches and by an estimate,"
            raise self.refuse(what, self.limit() - self.room(core) + nbytes)
        return core

    def room(self, core: Core) -> int:
        """Bytes for a contraction, besides the graph and its core; graphs on CUDA are contracted on
        the host."""
        if core.rowptr.is_cuda:
            return _memory.budget(None, torch.device("cpu"))
        return self.limit() - self.graph._nbytes - _room.core_bytes(core)

    def refuse(self, what: str, needed: int) -> MemoryError:
        return _memory.refuse(what, needed, self.limit(), self._memory)

    def limit(self, held: int | None = None) -> int:
        """Bytes that may be used; `held` are those of the graph, if they are known."""
        if self._limit is None:
            self._limit = _room.limit(self.graph, self._memory, held)
        return self._limit

    def _take(self, nbytes: int) -> None:
        if nbytes and nbytes > self.limit():
            raise self.refuse(f"the preparation of the graph for {self._measure}", nbytes)
        self.peak = max(self.peak, nbytes)
