"""Memory and parallelism of a run: one cost object per engine, used by the planner only."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch

from torchcent.engines import _tensor
from torchcent.engines.plan import _flight
from torchcent.engines.plan._job import Job
from torchcent.engines.reduce import _hierarchy, _hierarchy_costs, _reduce
from torchcent.engines.reduce._chains import Chains
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.runtime._codes import BATCH, BUSY_ROWS, FEW_SEARCHES, MOST_BITS_IN_FLIGHT
from torchcent.runtime._codes import NARROW_BITS as NARROW
from torchcent.runtime._codes import RELAX_LANES_ON_CUDA as RELAX_LANES
from torchcent.runtime._codes import WIDE_BITS as WIDE
from torchcent.runtime._codes import WIDE_BITS_FROM as WIDE_FROM
from torchcent.runtime._workspace import workspace

# Slots of a graph from which several threads on one search are faster than one.
SHARED_SLOTS = 2**22


class Cost(NamedTuple):
    """The needs of one engine for a job, as far as the limit allows.

    Attributes:
        memory: total bytes.
        workspace: bytes that kernels on CUDA may use, out of those that are allowed.
        lanes: sources searched simultaneously; 0 if not even one fits.
        batch: sources per batch.
        threads: of the CPU.
        flight: batches in flight on CUDA; 0 leaves the choice to the kernels.
    """

    memory: int
    workspace: int
    lanes: int
    batch: int
    threads: int = 0
    flight: int = 0


class Engine:
    """An engine with compiled kernels.

    Attributes:
        order: the order of the core that suits it (_reduce.core).
        single: whether it runs one search at a time; `BATCH` is then the number of sources per sum.
        shares: whether threads that outnumber the sources share searches of large graphs.
    """

    order: ClassVar[str] = "degree"
    single: ClassVar[bool] = False
    shares: ClassVar[bool] = False

    def __init__(self, name: str) -> None:
        self.name = name

    def lanes(self, job: Job) -> int:
        """Sources searched simultaneously on the CPU."""
        return 1 if self.single else BATCH[self.name]

    def per_thread(self, job: Job) -> int:
        """Bytes of a thread's workspace on the CPU."""
        return job.workspace(self.name).each

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        """Bytes that the kernels need, batches in flight, lanes per batch."""
        raise NotImplementedError

    def cost(self, job: Job, limit: int) -> Cost:
        fixed = job.fixed(self.name)
        if job.on_cuda:
            room, flight, lanes = self.on_cuda(job, limit - fixed)
            if job.counts_paths:
                room = max(room, _reduce.bytes_for_components(job.graph, job.core))
            return Cost(fixed + room, limit - fixed, lanes, self._batch(job, lanes), flight=flight)
        lanes = self.lanes(job)
        batches = -(-job.sources // self._batch(job, lanes))
        each = self.per_thread(job) + 2 * 8 * job.own
        each += 8 * job.of_cutoff if job.cutoffs > 1 else 0  # shared by cutoffs (queue)
        workers = max(1, min(torch.get_num_threads(), batches))
        workers = max(1, min(workers, (limit - fixed) // max(each, 1)))
        shared = self.shares and job.core.num_slots >= SHARED_SLOTS
        threads = torch.get_num_threads() if shared and workers == batches else workers
        return Cost(fixed + workers * each, limit - fixed, lanes, self._batch(job, lanes), threads)

    def _batch(self, job: Job, lanes: int) -> int:
        if not self.single:
            return lanes
        alone = job.counts_paths and not job.on_cuda and job.sources <= FEW_SEARCHES
        return 1 if alone else BATCH[self.name]


class Lanes(Engine):
    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        return _flight.lanes_on_cuda(job, limit)


class Queue(Engine):
    order, single, shares = "bandwidth", True, True

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        if not job.counts_paths:
            return _flight.searches_on_cuda(job.core, job.sources, limit), 0, 1
        return _flight.queue_on_cuda(job, limit), 0, 1


class Relax(Engine):
    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        return *_flight.relax_on_cuda(job, limit), RELAX_LANES


class Dijkstra(Engine):
    order, single = "bandwidth", True

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        return _flight.dijkstra_on_cuda(job, limit), 0, 1


class Contracted(Engine):
    """Searches of a core with contracted chains."""

    single = True

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        weights = 8 * job.core.num_nodes  # of the sources
        return weights + _flight.chains_on_cuda(job, limit - weights), 0, 1

    def _batch(self, job: Job, lanes: int) -> int:
        return BATCH["dijkstra"]  # on CUDA

    def cost(self, job: Job, limit: int) -> Cost:
        if job.on_cuda:
            return super().cost(job, limit)
        chains = Chains.of(job.core)
        size = chains.ball if job.together else min(max(job.sources // 64, 1), 256)
        batches = -(-job.sources // size)
        fixed = job.fixed(self.name) + 2 * chains.nbytes + 8 * chains.sums
        each = chains.workspace(job.together).each + 2 * 8 * chains.sums
        workers = max(1, min(torch.get_num_threads(), batches, (limit - fixed) // each))
        return Cost(fixed + workers * each, limit - fixed, 1, size, workers)


class Swept(Engine):
    """Sweeps over a contraction hierarchy of the core."""

    def per_thread(self, job: Job) -> int:
        hierarchy = Hierarchy.of(job.core)
        assert hierarchy is not None
        if job.counts_paths:
            return hierarchy.bytes_per_thread(self.lanes(job), job.measure.per_slot)
        return hierarchy.bytes_of_distances(self.lanes(job))

    def lanes(self, job: Job) -> int:
        return _hierarchy_costs.lanes(job.sources, job.counts_paths, not job.graph.is_weighted)

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        hierarchy = Hierarchy.of(job.core)
        assert hierarchy is not None
        fixed, each = 4 * job.graph.num_nodes + 4096, hierarchy.bytes_of_group
        groups = -(-job.sources // hierarchy.lanes_on_cuda)
        fit = (limit - fixed) // each
        flight = max(1, min(groups, _hierarchy.GROUPS_ON_CUDA, fit))
        return fixed + each * flight, flight, hierarchy.lanes_on_cuda

    def cost(self, job: Job, limit: int) -> Cost:
        if job.on_cuda:
            return super().cost(job, limit)
        hierarchy = Hierarchy.of(job.core)
        assert hierarchy is not None
        copies = 3 if hierarchy.is_directed else 2  # there may be that of the reversed graph
        fixed, each = job.fixed(self.name) + copies * hierarchy.nbytes, self.per_thread(job)
        if job.counts_paths:
            fixed += 3 * 8 * hierarchy.entries(job.measure.per_slot)
        lanes = self.lanes(job)
        batches = -(-job.sources // lanes)
        workers = max(1, min(torch.get_num_threads(), batches, (limit - fixed) // each))
        return Cost(fixed + workers * each, limit - fixed, lanes, lanes, workers)


class Bits(Engine):
    def lanes(self, job: Job) -> int:
        return WIDE if job.sources >= WIDE_FROM else NARROW

    def per_thread(self, job: Job) -> int:
        return self.row_bytes(job.core.num_nodes, self.lanes(job), job.cutoffs)

    @staticmethod
    def row_bytes(num_nodes: int, lanes: int, cutoffs: int = 1) -> int:
        """Bytes of a thread."""
        return workspace("distance", False, num_nodes, 0, lanes, cutoffs).each

    def on_cuda(self, job: Job, limit: int) -> tuple[int, int, int]:
        n, m = job.core.num_nodes, job.core.num_slots
        return *self.flight(n, m, -(-job.sources // WIDE), limit), WIDE

    @staticmethod
    def flight(n: int, m: int, batches: int, limit: int) -> tuple[int, int]:
        """Memory on CUDA, and batches in flight."""
        space = workspace("distance", True, n, m, WIDE)
        fit = (limit - space.fixed) // max(space.each, 1)
        flight = max(1, min(-(-BUSY_ROWS // max(n, 1)), batches, MOST_BITS_IN_FLIGHT, fit))
        return space.fixed + space.each * flight, flight


class OnTensors(Engine):
    order = "given"

    def cost(self, job: Job, limit: int) -> Cost:
        graph, n, m = job.graph, job.core.num_nodes, job.core.num_slots
        fixed = graph._nbytes + job.scores if job.counts_paths else job.fixed(self.name)
        own = _tensor.weighted_extra(n, m) if graph.is_weighted else 0
        fit = _tensor.lanes_that_fit(n, m, limit - fixed, own)
        lanes = min(max(job.sources, 1), fit)
        memory = fixed + _tensor.memory_needed(n, m, max(lanes, 1), own)
        return Cost(memory, limit - fixed, lanes, max(lanes, 1))


class Reference(Engine):
    """Searches one by one on one thread."""

    def cost(self, job: Job, limit: int) -> Cost:
        core, fixed = job.core, job.fixed(self.name)
        space = workspace("reference", core.num_nodes, core.num_slots, core.weight is not None)
        return Cost(fixed + space.each, limit - fixed, 1, 1, threads=1)


ENGINES: dict[str, Engine] = {
    "lanes": Lanes("lanes"),
    "queue": Queue("queue"),
    "relax": Relax("relax"),
    "dijkstra": Dijkstra("dijkstra"),
    "chains": Contracted("chains"),
    "hierarchy": Swept("hierarchy"),
    "bits": Bits("bits"),
    "tensor": OnTensors("tensor"),
    "reference": Reference("reference"),
}
