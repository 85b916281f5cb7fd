"""Random shortest paths in plain PyTorch: full searches from the sources, and backtracking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from torchcent.engines import _tensor
from torchcent.engines._tensor import _weighted
from torchcent.engines._tensor._scaled import ZERO, Number, Scaled
from torchcent.engines._tensor._search import out_arcs
from torchcent.engines.search import _levels
from torchcent.graph import Graph, _csr
from torchcent.runtime._codes import CANCEL, DONE

_MOST_LANES = 64  # samples that are drawn together
_ANY_MEMORY = 2**62  # lanes depend on the graph only, so that samples are reproducible


def sample_paths(
    graph: Graph, seed: int, first: int, count: int, counts: Tensor, control: Tensor,
) -> None:  # fmt: skip
    """Adds samples number first, ..., first + count - 1 to counts, int64 [n]."""
    n = graph.num_nodes
    for source, _, steps in _batches(graph, seed, first, count, control):
        for lane, vertex in steps:
            counts += torch.bincount(vertex[vertex != source[lane]], minlength=n)


def draw_paths(
    graph: Graph, seed: int, first: int, count: int, length: Tensor, control: Tensor,
) -> Tensor:  # fmt: skip
    """The vertices of the same samples from source to target, sample after sample, int64. `length`,
    int64 [count], is set to the number of each, 0 where there is no path."""
    lanes, vertices, begin = [length[:0]], [length[:0]], 0
    for source, target, steps in _batches(graph, seed, first, count, control):
        steps = list(steps)
        steps = [(steps[0][0], target[steps[0][0]]), *steps] if steps else []
        lanes += [lane + begin for lane, _ in reversed(steps)]
        vertices += [vertex for _, vertex in reversed(steps)]
        begin += source.numel()
    lane, order = torch.cat(lanes).sort(stable=True)
    length.copy_(torch.bincount(lane, minlength=count))
    return torch.cat(vertices)[order]


# The steps of a batch of paths, from their targets back: paths that go on, and where they are.
_Steps = Iterable[tuple[Tensor, Tensor]]


def _batches(
    graph: Graph, seed: int, first: int, count: int, control: Tensor
) -> Iterator[tuple[Tensor, Tensor, _Steps]]:
    """Their sources, targets and steps."""
    n = graph.num_nodes
    if n < 2:
        return
    lanes = _lanes(graph)
    for begin in range(first - first % lanes, first + count, lanes):
        if control[CANCEL]:
            return
        chance = torch.Generator("cpu").manual_seed((seed + begin) % 2**63)
        source = torch.randint(n, (lanes,), generator=chance, device="cpu")
        target = torch.randint(n - 1, (lanes,), generator=chance, device="cpu")
        target += target >= source
        # The requested samples of this batch.
        part = slice(max(first - begin, 0), min(first + count - begin, lanes))
        source, target = source[part].to(graph.device), target[part].to(graph.device)
        chance.manual_seed(hash((seed, begin, part.start)) % 2**63)
        yield source, target, _walk_back(graph, source, target, chance)
        control[DONE] += source.numel()


def _lanes(graph: Graph) -> int:
    n, m = graph.num_nodes, graph.num_slots
    extra = _tensor.weighted_extra(n, m) if graph.is_weighted else 0
    return min(_MOST_LANES, _tensor.lanes_that_fit(n, m, _ANY_MEMORY, extra))


def memory_needed(graph: Graph) -> int:
    """Maximum bytes, besides the graph and the counts."""
    n, m = graph.num_nodes, graph.num_slots
    extra = _tensor.weighted_extra(n, m) if graph.is_weighted else 0
    return _tensor.memory_needed(n, m, _lanes(graph), extra)


def _walk_back(graph: Graph, source: Tensor, target: Tensor, chance: torch.Generator) -> _Steps:
    n = graph.num_nodes
    levels = _levels.levels(graph, source)
    # For each pair (lane, vertex), the arcs of shortest paths that lead to it, with their path
    # counts.
    tail, head, log_count = [], [], []
    begin = 0
    place = torch.cat([level.lane * n + level.vertex for level in levels])
    for level in levels:
        end = begin + level.vertex.numel()
        first = 0 if isinstance(levels, _weighted.WeightedLevels) else end
        tail.append(place[begin:end][level.tail])
        head.append(place[first + level.head])
        log_count.append(_logarithm(level.sigma[level.tail]))
        begin = end
    tails, order = torch.cat(tail), torch.argsort(torch.cat(head), stable=True)
    tails, weight = tails[order], torch.cat(log_count)[order]
    arcs_to = torch.bincount(torch.cat(head), minlength=source.numel() * n)
    pointers = _csr.pointers(arcs_to)
    lane = torch.arange(source.numel(), device=source.device)
    here, root = lane * n + target, lane * n + source
    here, root = here[arcs_to[here] > 0], root[arcs_to[here] > 0]  # where a path exists
    while here.numel():
        which, arc = out_arcs(pointers, here)
        # Exponential race: the minimum is drawn with probability proportional to its count.
        random = torch.rand(arc.numel(), generator=chance, dtype=torch.float64, device="cpu")
        time = (-random.to(arc.device).log()).log() - weight[arc]
        best = time.new_full((here.numel(),), torch.inf).scatter_reduce_(0, which, time, "amin")
        won = time == best[which]
        step = torch.empty_like(here)
        step[which[won]] = tails[arc[won]]
        yield step // n, step % n
        onward = step != root
        here, root = step[onward], root[onward]


def _logarithm(count: Number) -> Tensor:
    if isinstance(count, Scaled):
        return count.mantissa.log() + count.exponent.clamp(min=ZERO) * 0.6931471805599453
    logarithm: Tensor = count.log()
    return logarithm
