"""The plan: engine, threads, lanes and memory of a run, determined before any search.

`explain` shows it and the run follows it; both call :func:`plan`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import torch

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _choice, _hierarchy_choice, _room
from torchcent.engines.plan._costs import ENGINES
from torchcent.engines.plan._job import Job
from torchcent.engines.plan._preparation import Preparation
from torchcent.engines.reduce import _hierarchy, _reduce
from torchcent.engines.reduce._chains import Chains
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.graph import Graph, _fixed_point
from torchcent.graph._cache import Slot
from torchcent.runtime import _codes, _html
from torchcent.runtime._memory import readable

#: plans that are kept with a graph
MOST_KEPT = 16
_UNLIMITED = 2**62


@dataclass(frozen=True)
class Plan:
    """The plan of a run; print it to read it."""

    measure: str
    engine: str
    reason: str
    device: torch.device
    num_nodes: int
    num_slots: int
    core_nodes: int
    core_slots: int
    sources: int
    lanes: int
    batches: int
    threads: int  # on the CPU
    flight: int  # batches in flight, on CUDA; 0 leaves the choice to the kernels
    strategy: int  # of the queue and dijkstra engines on CUDA (_codes.Strategy)
    workspace: int  # bytes that CUDA kernels may use
    memory: int  # bytes of the run, or of its preparation if that is more
    memory_limit: int
    weights: str = ""  # arithmetic of weighted distances
    graphs: str = ""  # of a batch: number of graphs per engine
    blocks: str = ""  # the blocks that are searched one by one
    merged: int = 0  # twins that others stand for
    contracted: int = 0  # vertices inside chains
    together: bool = False  # one sweep for all sources inside the chains at a vertex
    cutoffs: tuple[float, ...] | None = None
    seconds: float = 0.0  # predicted for sweeps of a hierarchy on the CPU; 0: no prediction

    @property
    def launch(self) -> _codes.Launch:
        """The launch parameters of the operators."""
        lanes = self.lanes if self.engine == "lanes" else 0
        return _codes.Launch(self.threads, self.flight, lanes, self.strategy)

    @property
    def _rows(self) -> dict[str, str]:
        rows = {
            "measure": self.measure,
            "engine": f"{self.engine}: {self.reason}",
            "device": f"{self.device}"
            + (f", {self.threads} threads" if self.threads else "")
            + (f", {self.flight} batches at a time" if self.flight else ""),
            "graph": f"{self.num_nodes:,} vertices, {self.num_slots:,} slots",
            "graphs": self.graphs,
            "cutoff": ", ".join(f"{length:g}" for length in self.cutoffs or ())
            + (" from one search per source; no reductions" if self.cutoffs else ""),
            "weights": self.weights,
            "searched": f"{self.core_nodes:,} vertices, {self.core_slots:,} slots "
            + (f"in {self.blocks}" if self.blocks else "after folding")
            + (f" and merging {self.merged:,} twins" if self.merged else "")
            + (f"; {self.contracted:,} others are inside chains" if self.contracted else ""),
            "sources": f"{self.sources:,} in {self.batches:,} batches, {self.lanes} lanes each",
            "memory": f"{readable(self.memory)} of {readable(self.memory_limit)} allowed",
            "time": self._time,
        }
        return {name: text for name, text in rows.items() if text}

    @property
    def _time(self) -> str:
        if not self.seconds:
            return ""
        figure = f"{self.seconds:.2g}" if self.seconds < 100 else f"{self.seconds:,.0f}"
        paths = KERNELS[self.measure].family == "paths"
        return f"{'about' if paths else 'at most about'} {figure} s (predicted)"

    def __str__(self) -> str:
        return "\n".join(f"{name:<9} {text}" for name, text in self._rows.items())

    def _repr_html_(self) -> str:
        """A table, in notebooks."""
        return _html.rows("Plan", self._rows)


class _Kept(NamedTuple):
    """A plan that is kept with its graph, after all that it needs has been prepared.

    It holds for limits of memory between what it needs and `most`: below, fewer batches fit, and
    beyond, more may.
    """

    plan: Plan
    core: Core
    held: int  # bytes of the graph and everything cached with it, at that time
    most: int

    def under(self, limit: int) -> Plan | None:
        """The same for another limit, if it holds there."""
        plan = self.plan
        if not plan.memory <= limit <= self.most:
            return None
        if limit == plan.memory_limit:
            return plan
        more = limit - plan.memory_limit
        return dataclasses.replace(plan, memory_limit=limit, workspace=plan.workspace + more)


def plan(graph: Graph, request: Request, num_sources: int | None = None) -> tuple[Plan, Core]:
    """The plan, and the reduced graph that it will search.

    `num_sources` is the number of sources; by default that of the request.

    Raises:
        MemoryError: not even one batch at a time fits; the message states the need and the limit.
        ValueError: the engine cannot run on this device.
    """
    count = request.num_sources if num_sources is None else num_sources
    if request.engine == "hierarchy":
        graph = of_many_distances(graph, request)
    choice = _plan(graph, request, count)
    many = count is None or count >= _hierarchy.LEAST[True]
    if many and choice[0].engine == "dijkstra" and request.engine == "auto":
        in_units = of_many_distances(graph, request)
        if in_units is not graph:
            by_hierarchy = _plan(in_units, request, count)
            return by_hierarchy if by_hierarchy[0].engine == "hierarchy" else choice
    return choice


def of_many_distances(graph: Graph, request: Request) -> Graph:
    """The graph that a hierarchy is made of: in fixed point for sums over float distances."""
    measure = KERNELS[request.measure]
    rounds = measure.rounds or (request.engine == "hierarchy" and measure.collapses)
    return _fixed_point.of(graph) if rounds and graph.is_weighted and not request.cutoffs else graph


def _plan(graph: Graph, request: Request, num_sources: int | None) -> tuple[Plan, Core]:
    """The plan for this graph; kept with it."""
    # All that a plan depends on, but for the free memory and the vertices that may be twins, if
    # these are to have the same weights.
    of_all = request.sources is None and request.targets is None
    by_weights = _choice.by_weights(graph, KERNELS[request.measure], request)
    keeps = MOST_KEPT > 0 and (of_all or not by_weights)
    key = (
        request.measure, request.engine, request.strategy, request.memory,
        request.cutoffs, request.reduce, request.blocked, request.through, num_sources,
        torch.get_num_threads(),
    )  # fmt: skip
    plans = _plans(graph)
    earlier = plans.get(key) if keeps else None
    if earlier is not None:
        plan_under_limit = earlier.under(_room.limit(graph, request.memory, earlier.held))
        if plan_under_limit is not None:
            return plan_under_limit, earlier.core
    entry, at_hand = _made(graph, request, num_sources)
    if at_hand and keeps:
        if len(plans) >= MOST_KEPT:
            plans.clear()
        plans[key] = entry
    return entry.plan, entry.core


@Slot
def _plans(graph: Graph) -> dict[object, _Kept]:
    return {}


def _made(graph: Graph, request: Request, num_sources: int | None) -> tuple[_Kept, bool]:
    """A new plan, and whether all that it needs had been prepared before."""
    measure = KERNELS[request.measure]
    cores = Preparation(graph, measure, request.memory, num_sources)
    fold = _choice.folding(graph, measure, request, num_sources)
    cores.twins = _choice.merging(graph, measure, request, fold, num_sources)
    engine, reason, core = _choice.choose(cores, measure, fold, request, num_sources)
    if measure.per_slot:
        core = _reduce.with_slots(graph, core)
    sources = core.searched if num_sources is None else min(num_sources, core.searched)
    own_bytes = _room.held_bytes(graph)
    limit = cores.limit(own_bytes)
    chains, together = None, False
    size = core.num_nodes, core.num_slots
    if engine == "chains":
        chains = Chains.of(core)
        size = chains.kept.numel(), chains.head.numel()
        together = chains.together(sources, limit)
        sources = chains.kept.numel() if together else sources
        reason = chains.in_words(together)
    if engine == "hierarchy":
        hierarchy = Hierarchy.of(core)
        assert hierarchy is not None
        reason = hierarchy.in_words()
    cutoffs = len(request.cutoffs or [None])
    job = Job(graph, core, measure, sources, own_bytes, together, cutoffs, request.strategy)
    cost = ENGINES[engine].cost(job, limit)
    memory = max(cost.memory, cores.peak)
    if memory > limit or cost.lanes < 1:
        raise cores.refuse(f"{measure.name} with engine={engine!r}, one batch at a time,", memory)
    plan = Plan(
        measure.name, engine, reason, graph.device, graph.num_nodes, graph.num_slots, *size,
        sources=sources, lanes=cost.lanes, batches=-(-sources // cost.batch),
        threads=cost.threads, flight=cost.flight, strategy=request.strategy,
        workspace=cost.workspace, memory=memory, memory_limit=limit,
        weights=weights_in_words(graph),
        merged=0 if core.twins is None else core.twins.merged,
        contracted=0 if chains is None else chains.inner.numel(), together=together,
        cutoffs=request.cutoffs,
        seconds=_seconds(core, sources, cost.threads) if engine == "hierarchy" else 0.0,
    )  # fmt: skip
    at_most = ENGINES[engine].cost(job, _UNLIMITED)
    unlimited = at_most._replace(workspace=cost.workspace) == cost and not cores.is_short
    return _Kept(plan, core, own_bytes, _UNLIMITED if unlimited else limit), cores.peak == 0


def _seconds(core: Core, sources: int, threads: int) -> float:
    """Predicted for sweeps that count paths, on the CPU; those of distances take less."""
    return 0.0 if core.rowptr.is_cuda else _hierarchy_choice.seconds(core, sources, threads)


def weights_in_words(graph: Graph) -> str:
    """What a plan reports about weights; "" without weights."""
    if not graph.is_weighted:
        return ""
    own = "float64, fixed point in units of each graph"
    scale = own if graph._ties.sums == "fixed point" else f"{graph.scale}"
    tolerance = graph.tie_tolerance
    return scale + (f"; tie tolerance {tolerance:g}" if tolerance else "")
