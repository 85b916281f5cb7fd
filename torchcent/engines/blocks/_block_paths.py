"""Blocks for stress: what hangs on a vertex counts once per shortest path.

Path counts multiply at cut vertices. For a vertex v of the block X let A_X(v) be the sum of the
weights of v and of all outside of X. Each counts times the number of its shortest paths to v.
R_X(v) is the same of the other vertices of X, with what hangs on them. B_X(v) and S_X(v) are
likewise of paths from v. Then, as in _reach.py,

    A_X(v) = a_v + sum over the other blocks Y of v of R_Y(v),
    C(v) = sum over the blocks X of v of C_X(v) + S_X(v) (A_X(v) - a_v).

Searches from the tops of all blocks count the paths between each vertex and the top of its block.
This gives A_X of all vertices but the tops, from the leaves of the tree of blocks to its roots.
Searches from the other cut vertices, with these as the weights of targets, give R_X of the vertices
but the top. A pass from the roots adds what the tops contribute.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.engines.blocks._blocks import Blocks
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._problem import Pairs
from torchcent.engines.measures._request import Request, weights
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.plan import _plan
from torchcent.engines.reduce import _reduce
from torchcent.engines.search import _driver
from torchcent.graph import Graph
from torchcent.runtime import _ops

#: whole numbers up to this are exact in float64
EXACT = 2.0**53


class Sums(NamedTuple):
    """Of weights, times numbers of paths, on the host."""

    below: Tensor  # [n]: A_X of a vertex, but for the top of X
    inside: Tensor  # [blocks]: R_X of the top
    above: Tensor  # [n]: R_X of a cut vertex, but for the top of X

    def of_tops(self, top: Tensor) -> Tensor:
        """[blocks]: A_X of the top."""
        return (self.above + self.below).index_select(0, top) - self.inside

    @property
    def exact(self) -> bool:
        return all(not part.numel() or float(part.max()) <= EXACT for part in self)


def reduce(blocks: Blocks, graph: Graph, request: Request) -> tuple[Request, Tensor] | None:
    """The request for `blocks.searched`, and what is counted in closed form.

    None if that takes numbers of paths beyond 2^53, or fractions of them: most of a sum may cancel.
    """
    if KERNELS[request.measure].visitor != Visitor.STRESS:
        return blocks.reduce(graph, request)
    rest = blocks.rest(graph, request)
    a, b = weights(graph, request.sources), weights(graph, request.targets)
    if not all(torch.equal(each, each.round()) for each in (a, b)):
        return None
    counted = _reduce_paths(blocks, graph, a, b, rest)
    if counted is None:
        return None
    sources, targets, scores = counted
    return rest._replace(sources=sources, targets=targets), scores


def _reduce_paths(
    blocks: Blocks, graph: Graph, a: Tensor, b: Tensor, request: Request
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Weights of the copies that are searched as sources and as targets, and what is known.

    None if path counts are not exact.
    """
    ways = [blocks.whole] if graph.is_symmetric else [blocks.whole, _reversed(blocks.whole)]
    between = [_from_tops(blocks, way, request) for way in ways]
    if blocks.reach is not None:
        for paths, lower in zip(between, blocks.reach.bridges(), strict=True):
            paths.index_fill_(0, lower, 1)
    else:
        between[0].index_fill_(0, blocks.lower.cpu(), 1)
    out, back = between[0], between[-1]
    of_b = _sums(blocks, b.cpu(), out, back, ways[0], request)
    same = a is b and graph.is_symmetric
    of_a = of_b if same else _sums(blocks, a.cpu(), back, out, ways[-1], request)
    if not (of_a.exact and of_b.exact):
        return None
    top = blocks.top.cpu()
    scores = of_b.above * (of_a.below - a.cpu())
    outside = of_a.of_tops(top) - a.cpu().index_select(0, top)
    scores.index_add_(0, top, of_b.inside * outside)
    sources, targets = (_of_copies(blocks, of).to(a.device) for of in (of_a, of_b))
    return sources, targets, scores.to(a.device)


def _reversed(graph: Graph) -> Graph:
    parts = (*graph.transpose, None, True, graph.back_weight)
    return Graph(*parts, _trusted=True, _ties=graph._ties)


def _from_tops(blocks: Blocks, way: Graph, request: Request) -> Tensor:
    """[n]: the number of shortest paths to each vertex from the top of its block; 0 in bridges."""
    zeros = torch.zeros(way.num_nodes, dtype=torch.float64, device=way.device)
    ones = torch.ones_like(zeros)
    tops = torch.nonzero(blocks.is_top).flatten()
    sums = _searched(way, Pairs(ones, zeros, zeros, ones), tops, request)
    paths = torch.zeros(blocks.block.numel(), dtype=torch.float64, device="cpu")
    lower = torch.nonzero(~blocks.is_top).flatten()
    vertex = blocks.vertex.index_select(0, lower).cpu()
    return paths.index_copy_(0, vertex, sums.index_select(0, lower).cpu())


def _sums(
    blocks: Blocks, weight: Tensor, up: Tensor, down: Tensor, way: Graph, request: Request
) -> Sums:
    """Of paths to the weights; `up` are their numbers from the tops, `down` those to the tops."""
    order, parent = blocks.tree.order, blocks.tree.parent
    block, top = blocks.block.cpu(), blocks.top.cpu()
    below = _ops.ops.tree_paths(order, parent, weight, up, True)
    member = torch.nonzero(block >= 0).flatten()
    of_member = block.index_select(0, member)
    inside = torch.zeros(top.numel(), dtype=torch.float64, device="cpu")
    inside.index_add_(0, of_member, (up * below).index_select(0, member))
    # From cut vertices to all others but the tops.
    there = below.to(way.device).index_select(0, blocks.vertex).masked_fill_(blocks.is_top, 0)
    zeros = torch.zeros_like(there)
    cut = torch.nonzero(blocks.is_cut).flatten()
    pairs = Pairs(zeros, there, torch.ones_like(there), zeros)
    searched_sums = _searched(way, pairs, cut, request).index_select(0, cut).cpu()
    above = torch.zeros_like(below)
    above.index_copy_(0, blocks.vertex.index_select(0, cut).cpu(), searched_sums)
    # And by the tops.
    rest = (below.index_select(0, top) - inside).index_select(0, of_member)
    above.index_add_(0, member, down.index_select(0, member) * rest)
    above = _ops.ops.tree_paths(order, parent, above, down, False)
    return Sums(below, inside, above)


def _searched(graph: Graph, pairs: Pairs, sources: Tensor, request: Request) -> Tensor:
    """The scores of stress for these weights, with path counts that are float64 at least."""
    if not sources.numel():
        return torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    engine = "auto" if request.engine in ("tiny", "hierarchy") else request.engine
    own = request._replace(
        engine=engine, sources=sources, targets=None, reduce=frozenset(), through=True
    )
    plan, core = _plan.plan(graph, own)
    start = torch.zeros_like(pairs.source).index_fill_(0, sources, 1)
    problem = _reduce.of_pairs(graph, core, "stress", pairs._replace(source=start), sources.numel())
    first = core.vertex.index_select(0, problem.sources)
    problem = replace(problem, source_weight=pairs.source.index_select(0, first))
    with _driver.counts_in_float64():
        return _driver.run(problem, plan, request.progress, request.scale)


def _of_copies(blocks: Blocks, of: Sums) -> Tensor:
    """A_X(v) for each vertex v of each block X of the union."""
    top = of.of_tops(blocks.top.cpu()).index_select(0, blocks.number.cpu())
    below = of.below.index_select(0, blocks.vertex.cpu())
    return torch.where(blocks.is_top.cpu(), top, below)
