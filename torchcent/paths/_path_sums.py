"""The sums of the measures that count paths, for one graph or for each graph of a batch."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.engines.blocks import _block_paths, _blocks
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._normalize import of_request
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _on_host, _pieces, _plan
from torchcent.engines.reduce import _reduce
from torchcent.engines.search import _driver, _resolution, _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._pieces import Pieces


def scores(graph: Graph, request: Request) -> Tensor:
    """The normalised scores per vertex or slot, in float64; with cutoffs a column for each."""
    sources, by_sources = _normalize(request.sources)
    targets, by_targets = _normalize(request.targets)
    request = request._replace(sources=sources, targets=targets)
    request.begin(graph)
    total, kernel = sums(graph, request), KERNELS[request.measure]
    if kernel.normalization != "percolation" and by_sources + by_targets:
        total = torch.ldexp(total, total.new_tensor(by_sources + by_targets))
    if kernel.per_slot and not graph.directed:
        total = total + total.index_select(0, graph.reverse_slot)
    if request.cutoffs is None:
        return of_request(total, graph, request)
    return torch.stack([of_request(each, graph, request) for each in total.unbind(1)], 1)


def _normalize(ends: Tensor | None) -> tuple[Tensor | None, int]:
    """Weights whose largest is in [0.5, 1), and the power of two by which they were divided, so
    that this is exact. Engines whose path counts are float32 also hold weights in float32.
    Percolation depends on the ratios of states only. Vertices stay as they are.
    """
    if ends is None or not ends.is_floating_point() or ends.numel() == 0:
        return ends, 0
    exponent = torch.frexp(ends.max()).exponent
    return torch.ldexp(ends, -exponent), int(exponent)


def sums(graph: Graph, request: Request) -> Tensor:
    """Sums over ordered pairs per vertex or slot, float64."""
    small, large = _tiny.split(graph, request.tiny)
    if graph.ptr is None and not small.size:
        return _of_one(graph, request)
    whole, graph = graph, _pieces.put_together(graph, request)
    if graph is not whole:
        large = list(range(graph.num_graphs))
    measure, overflows = KERNELS[request.measure], list[int]()
    edges = measure.per_slot
    if small.size:
        tiny = _tiny.run(
            graph, small, [measure.tiny], measure.name, sources=request.sources,
            targets=request.targets, endpoints=request.endpoints, memory=request.memory,
            progress=request.progress, scale=request.scale,
        )  # fmt: skip
        total: Tensor = getattr(tiny, measure.tiny)
        overflows = tiny.overflowed
    else:
        size = graph.num_slots if edges else graph.num_nodes
        columns = () if request.cutoffs is None else (len(request.cutoffs),)
        total = torch.zeros((size, *columns), dtype=torch.float64, device=graph.device)
    starts, ends = (_batch.chosen(graph, x) for x in (request.sources, request.targets))
    for number in large + overflows:
        own = request._replace(sources=starts(number), targets=ends(number))
        if number in overflows:  # continue on the ladder
            own = own._replace(engine="dijkstra" if graph.is_weighted else "queue")
        if _none(own.sources) or _none(own.targets):
            continue  # no paths count in this graph
        vertices, slots = _batch.run(graph, number)
        total[slots if edges else vertices] = _of_one(_batch.part(graph, number), own)
    return total


def _none(ends: Tensor | None) -> bool:
    """Whether there are no vertices at which counted paths begin, or end."""
    if ends is None:
        return False
    return not bool(ends.any()) if ends.is_floating_point() else ends.numel() == 0


def _of_one(graph: Graph, request: Request) -> Tensor:
    blocks = _blocks.chosen(graph, request)
    parts = None if blocks is None else _block_paths.reduce(blocks, graph, request)
    if blocks is not None and parts is not None:
        left, rest = parts
        scores = sums(blocks.searched(request.engine), left)
        return blocks.add(rest, scores, KERNELS[request.measure].per_slot)
    split = _pieces.of(graph, request, request.num_sources)
    if split is not None:
        return _of_pieces(graph, split, request)
    elsewhere = _on_host.chosen(graph, request)
    return _search(*(elsewhere or (graph, request))).to(graph.device)


def _search(graph: Graph, request: Request) -> Tensor:
    plan, core = _plan.plan(graph, request)
    if graph.is_weighted:
        _resolution.check(graph)
    problem = _reduce.problem(
        graph, core, request.measure, request.sources, request.targets, request.endpoints,
        request.cutoffs,
    )  # fmt: skip
    scores = _driver.run(problem, plan, request.progress, request.scale)
    # Engines have distances in units of their own.
    return scores * graph.scale.per_one if request.measure == "distance" else scores


def _of_pieces(graph: Graph, split: Pieces, request: Request) -> Tensor:
    """The sums of a graph whose components are the graphs of a batch."""
    scores = sums(split.graph, _pieces.of_batch(graph, split, request))
    if not KERNELS[request.measure].per_slot:
        return scores.index_select(0, split.rank)
    if split.slot is None:
        return scores
    return torch.empty_like(scores).index_copy_(0, split.slot, scores)
