"""THE way of betweenness, edge_betweenness and stress to their sums: of one graph, or of each graph
of a batch."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent import _batch, _driver, _plan, _reduce, _resolution, _tiny
from torchcent.graph import Graph


class Asked(NamedTuple):
    """What was asked for; vertices are those of the graph, or of the union."""

    measure: str
    engine: str
    strategy: int
    sources: Tensor | None
    targets: Tensor | None
    endpoints: bool
    tie_tolerance: float
    memory: int | None
    progress: bool | None


def sums(graph: Graph, asked: Asked) -> Tensor:
    """Per vertex or slot, float64: sums over ordered pairs."""
    small, large = _tiny.split(graph, asked.engine)
    if graph.ptr is None and not small.size:
        return _of_one(graph, asked)
    edges = asked.measure == "edge_betweenness"
    size = graph.num_slots if edges else graph.num_nodes
    lost: list[int] = []
    if small.size:
        tiny = _tiny.run(
            graph, small, [asked.measure], asked.measure, sources=asked.sources,
            targets=asked.targets, endpoints=asked.endpoints, tie_tolerance=asked.tie_tolerance,
            memory=asked.memory, progress=asked.progress,
        )  # fmt: skip
        found, lost = getattr(tiny, asked.measure), tiny.overflowed
    else:
        found = torch.zeros(size, dtype=torch.float64, device=graph.device)
    starts = _batch.chosen(graph, asked.sources)
    ends = _batch.chosen(graph, asked.targets)
    for number in large + lost:
        own = asked._replace(sources=starts(number), targets=ends(number))
        if number in lost:  # up the ladder
            own = own._replace(engine="dijkstra" if graph.is_weighted else "queue")
        if any(ids is not None and ids.numel() == 0 for ids in (own.sources, own.targets)):
            continue  # no paths count here
        vertices, slots = _batch.run(graph, number)
        found[slots if edges else vertices] = _of_one(_batch.part(graph, number), own)
    return found


def _of_one(graph: Graph, asked: Asked) -> Tensor:
    count = None if asked.sources is None else asked.sources.numel()
    plan, core = _plan.plan(
        graph, asked.measure, asked.engine, count, asked.memory, asked.strategy, asked.tie_tolerance
    )
    if graph.is_weighted:
        _resolution.check(graph)
    problem = _reduce.problem(
        graph, core, asked.measure, asked.sources, asked.targets, asked.endpoints,
        asked.tie_tolerance,
    )  # fmt: skip
    return _driver.run(problem, plan, asked.progress)
