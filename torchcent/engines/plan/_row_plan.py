"""The plan of rows of distances: engine, how many are computed at a time, memory."""

from __future__ import annotations

from typing import NamedTuple

import torch

from torchcent.check import _common as check
from torchcent.engines._tensor import _rows
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _choice, _flight, _room
from torchcent.engines.plan._costs import ENGINES
from torchcent.engines.plan._job import Job
from torchcent.engines.plan._preparation import Preparation
from torchcent.engines.reduce import _hierarchy, _hierarchy_costs, _reduce
from torchcent.graph import Graph
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import NARROW_BITS as FEW_LANES
from torchcent.runtime._codes import WIDE_BITS as LANES
from torchcent.runtime._codes import WIDE_BITS_FROM as LANES_FROM

# Lanes of the bits engine: on the CPU many only if there are enough sources and the distances of a
# batch fit in the cache (fixed in csrc/distances/cpu/distances.cpp).
LANES_WITHIN = 2**28
# Largest block in bytes; longer ones gain nothing. An accelerator needs this much to stay busy, but
# host memory is slow to pin.
LARGEST_BLOCK, LARGEST_BLOCK_ON_ACCELERATOR = 2**28, 2**31
# Workspace of the tensor engine; in larger blocks Ctrl-C waits long between two operators.
LARGEST_BATCH, LARGEST_BATCH_ON_ACCELERATOR = 2**29, 2**34
KERNEL = Kernel("distances", rows=True, public=False, name="shortest_path_lengths")


def engine_for(asked: str, graph: Graph, sources: int, memory: int | None) -> str:
    """The one that is asked for, or suits the graph and the device."""
    cores = Preparation(graph, KERNEL, memory, sources)
    request = Request(KERNEL.name, asked, progress=False)
    if graph.is_weighted or asked == "hierarchy":
        return _choice.choose(cores, KERNEL, "no", request, sources)[0]
    if asked not in ("auto", "tensor"):
        check.distance_kernel(asked, "distances", graph.device)
    if asked != "auto":
        return asked
    if not _ops.has_kernel("distances", graph.device):
        return "tensor"
    on_cuda = graph.device.type == "cuda"
    many = on_cuda or sources >= _hierarchy_costs.LEAST_OF_ROWS
    if not many or not _choice.too_deep_for_bits(_reduce.core(graph, "given", "no")):
        return "bits"
    if on_cuda:
        return "queue"
    by_hierarchy = _choice.rows_by_hierarchy(cores, KERNEL, request, sources)
    return "hierarchy" if by_hierarchy else "bits"


class RowPlan(NamedTuple):
    """How many rows are computed at a time.

    Attributes:
        block: that number.
        workspace: bytes that kernels on CUDA may use.
    """

    block: int
    workspace: int


class Rows(NamedTuple):
    """Rows of distances from some sources, to be computed by one engine.

    Attributes:
        itemsize: bytes of a distance.
        kept: bytes for every distance that the run keeps, 0 if it keeps none.
        copies: number of blocks that it holds at a time besides.
        aside: number of further rows that it holds.
    """

    graph: Graph
    engine: str
    sources: int
    itemsize: int
    kept: int = 0
    copies: int = 0
    aside: int = 0

    def plan(self, block_size: int | None, memory: int | None, limit: int) -> RowPlan:
        """The largest block that is useful and fits, or the one that is asked for.

        Raises:
            MemoryError: a single source, or a block of the requested size, needs too much.
        """
        total = max(1, self.sources)
        least = most = min(block_size or 1, total)
        if block_size is None:
            most = self._most(total)
        what = f"shortest_path_lengths with engine={self.engine!r}, {least} at a time"
        if self.kept:
            size = _memory.readable(self._result)
            what += f" with a result of {size} (out='dist.npy' or blocks=True hold none of it),"
        block = _memory.most_that_fit(what, self.needed, most, limit, memory, least)
        if self.engine == "bits" and block_size is None and block < total:
            lanes = self.lanes(block)
            block -= block % lanes if block > lanes else 0
        return RowPlan(block, limit - self._besides(block) - block * self._own)

    def needed(self, rows: int) -> int:
        """Bytes of the run with so many rows at a time."""
        return self._besides(rows) + self._work(rows)

    def lanes(self, rows: int) -> int:
        """Sources that the bits engine searches from at a time."""
        if self.graph.device.type != "cpu":
            return LANES
        table = self.graph.num_nodes * LANES * self.itemsize
        return LANES if rows >= LANES_FROM and table <= LANES_WITHIN else FEW_LANES

    def threads(self, rows: int) -> int:
        """Threads that compute so many rows."""
        if self.engine == "tensor" or self.graph.device.type != "cpu":
            return 1
        batch = _hierarchy.ROWS[self.engine] if self._apart else self.lanes(rows)
        return max(1, min(torch.get_num_threads(), -(-rows // batch)))

    @property
    def _result(self) -> int:
        return self.sources * self.graph.num_nodes * self.kept

    @property
    def _apart(self) -> bool:
        """Whether rows are in the format of the engine first."""
        return self.graph.is_weighted or self.engine == "hierarchy"

    @property
    def _own(self) -> int:
        """Bytes of a row in the format of the engine, and as float64."""
        width = 2 * 8 if self.graph.is_weighted else 4 if self._apart else 0
        return self.graph.num_nodes * width

    def _besides(self, rows: int) -> int:
        """Bytes of the graph, the result and the blocks."""
        row = max(1, self.graph.num_nodes * self.itemsize)
        return self.graph._nbytes + self._result + (self.copies * rows + self.aside) * row

    def _work(self, rows: int) -> int:
        """Bytes that the kernels need."""
        graph, n, m = self.graph, self.graph.num_nodes, self.graph.num_slots
        host = graph.device.type == "cpu"
        if self.engine == "tensor":
            return _rows.memory_needed(n, m, rows, graph.device) + rows * self._own
        if self.engine == "queue" and not graph.is_weighted:
            core = _reduce.core(graph, "given", "no")
            return _flight.searches_on_cuda(core, rows, 0, sums=False)
        if not self._apart:  # three rows of bits, lists, and on the CPU the distances
            lanes = self.lanes(rows)
            bits = n * 3 * lanes // 8
            lists = n * (12 + lanes * self.itemsize) if host else 32 * n + m
            return self.threads(rows) * (bits + lists)
        order = "degree" if self.engine == "hierarchy" else "given"
        job = Job(graph, _reduce.core(graph, order, "no"), KERNEL, rows, graph._nbytes)
        cost = ENGINES[self.engine]
        if not host:
            return cost.on_cuda(job, 0)[0] + rows * self._own
        besides = _room.weighted_bytes(m, job.width) if graph.is_weighted else rows * self._own
        return besides + self.threads(rows) * cost.per_thread(job)

    def _most(self, total: int) -> int:
        """Rows beyond which a block gains nothing."""
        n, device = self.graph.num_nodes, self.graph.device
        host = device.type == "cpu"
        if self.engine == "tensor":
            batch = LARGEST_BATCH if host else LARGEST_BATCH_ON_ACCELERATOR
            return min(total, max(1, batch // max(1, _rows.memory_needed(n, 0, 1, device))))
        itemsize, full = self.itemsize, self.lanes(total) * self.threads(total)
        if self._apart:
            itemsize = 8
            full = _hierarchy.ROWS[self.engine] * self.threads(total) if host else LANES
        large = LARGEST_BLOCK if host or self.copies else LARGEST_BLOCK_ON_ACCELERATOR
        return min(total, max(1, large // max(1, n * itemsize) // full) * full)
