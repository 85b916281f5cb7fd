"""The plan of a batch of graphs, or of one small graph, as explain() reports it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import torch
from torch import Tensor

from torchcent.engines.blocks import _blocks
from torchcent.engines.blocks._blocks import Blocks
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _on_host, _pieces, _plan, _room
from torchcent.engines.plan._plan import Plan, weights_in_words
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._pieces import Pieces

_SOME = 3  # graphs that the reason lists individually


def explained(graph: Graph, request: Request) -> Plan:
    """The plan of one graph, or the combined plan of all graphs of a batch."""

    def of_one(one: Graph, starts: Tensor | None, ends: Tensor | None) -> Plan:
        for_one = request._replace(sources=starts, targets=ends)
        if KERNELS[for_one.measure].family == "paths":
            blocks = _blocks.chosen(one, for_one)
            if blocks is not None:
                return _of_blocks(one, blocks, for_one)
        pieces = _pieces.of(one, for_one, for_one.num_sources)
        if pieces is not None:
            return _of_pieces(one, pieces, for_one)
        elsewhere = _on_host.chosen(one, for_one)
        if elsewhere is None:
            return _plan.plan(one, for_one)[0]
        plan = _plan.plan(*elsewhere)[0]
        return replace(plan, reason=_on_host.in_words(plan))

    measure, pivots, memory = request.measure, request.sources, request.memory
    small, large = _tiny.split(graph, request.tiny)
    own, ends = (_batch.chosen(graph, x) for x in (pivots, request.targets))
    if graph.ptr is None and large:
        return of_one(graph, pivots, request.targets)
    plans = []
    for number in large:
        start = own(number)
        if start is None or start.numel():
            plans.append(of_one(_batch.part(graph, number), start, ends(number)))
    size = _batch.counts(graph)[0]
    engines = Counter({"tiny": int(small.size)}) if small.size else Counter()
    engines.update(each.engine for each in plans)
    outputs = [KERNELS[measure].tiny]
    nbytes = _tiny.room_for(graph, small, outputs, measure, memory) if small.size else graph._nbytes
    lanes = _tiny.lanes(graph.device)
    if pivots is None:
        sources, batches = graph.num_nodes, int((-(-size[small] // lanes)).sum())
    else:
        sources = pivots.numel()
        counts = torch.bincount(_batch.of_graph(graph, pivots), minlength=graph.num_graphs)
        batches = int((-(-counts.cpu().numpy()[small] // lanes)).sum())
    threads = max([each.threads for each in plans], default=0)
    if small.size and graph.device.type == "cpu":
        slots = _batch.counts(graph)[1][small]
        threads = max(threads, _tiny.threads_for(size[small], slots, graph.is_weighted))
    return Plan(
        measure,
        next(iter(engines)) if len(engines) == 1 else "mixed" if engines else "none",
        reason=_reason(graph, size, small, plans),
        device=graph.device,
        num_nodes=graph.num_nodes,
        num_slots=graph.num_slots,
        core_nodes=graph.num_nodes,
        core_slots=graph.num_slots,
        sources=sources,
        lanes=lanes if small.size else max([each.lanes for each in plans], default=1),
        batches=batches + sum(each.batches for each in plans),
        threads=threads,
        flight=max([each.flight for each in plans], default=0),
        strategy=0,
        workspace=max([each.workspace for each in plans], default=0),
        memory=max([nbytes, *(each.memory for each in plans)]),
        memory_limit=_room.limit(graph, memory),
        weights=weights_in_words(graph),
        graphs=", ".join(f"{count:,} by {name}" for name, count in engines.items())
        if graph.ptr is not None
        else "",
        merged=sum(each.merged for each in plans),
        contracted=sum(each.contracted for each in plans),
        together=any(each.together for each in plans),
        cutoffs=request.cutoffs,
    )


def _of_blocks(graph: Graph, blocks: Blocks, request: Request) -> Plan:
    """The plan of a graph that is searched by blocks."""
    # For betweenness, the weights of stress need no search, and are zero for the same vertices.
    reduced = blocks.reduce(graph, request._replace(measure="betweenness"))
    rest = reduced[0]._replace(measure=request.measure)
    assert rest.sources is not None
    sources = torch.nonzero(rest.sources).flatten()
    union = blocks.searched(request.engine)
    plan = explained(union, rest._replace(sources=sources))
    extra = graph._nbytes + blocks.nbytes
    return replace(
        plan, num_nodes=graph.num_nodes, num_slots=graph.num_slots, sources=sources.numel(),
        core_nodes=union.num_nodes, core_slots=union.num_slots, graphs="",
        memory=plan.memory + extra, memory_limit=plan.memory_limit + extra, blocks=blocks.in_words,
        weights=weights_in_words(graph),
    )  # fmt: skip


def _of_pieces(graph: Graph, pieces: Pieces, request: Request) -> Plan:
    """The plan of a graph whose components are searched as graphs of their own."""
    plan = explained(pieces.graph, _pieces.of_batch(graph, pieces, request))
    return replace(
        plan, reason=plan.reason.replace(" graphs of ", " components of ", 1),
        memory=plan.memory + graph._nbytes, memory_limit=plan.memory_limit + graph._nbytes,
    )  # fmt: skip


def _reason(graph: Graph, size: _tiny.Numbers, small: _tiny.Numbers, plans: list[Plan]) -> str:
    if graph.ptr is None:
        return f"a small graph of {graph.num_nodes:,} vertices"
    if not size.size:
        return "there are no graphs"
    text = f"{graph.num_graphs:,} graphs of {size.min():,} to {size.max():,} vertices"
    if not plans:
        return text + ", all in one call"
    examples = "; ".join(
        f"one of {plan.num_nodes:,} by {plan.engine}, {plan.reason}" for plan in plans[:_SOME]
    )
    together = f"{small.size:,} small ones in one call, " if small.size else ""
    return f"{text}: {together}{examples}" + ("; ..." if len(plans) > _SOME else "")
