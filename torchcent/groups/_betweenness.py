"""group_betweenness: the paths through a group of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _groups as check_groups
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.engines.search import _resolution
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.graph._pieces import around
from torchcent.groups import _dependency, _shares
from torchcent.runtime._watch import progress_bar

_MOST_NUMBERS = 2**24  # numbers that are kept for runs with weights


@measure("groups", "dtype", searches=True)
def group_betweenness(
    edge_index: GraphLike,
    group: Tensor | Iterable[Any],
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Group betweenness: the share of shortest paths that pass through a group of vertices.

    .. math:: C_B(C) = \sum_{s, t \notin C} \sigma_{st}(C) / \sigma_{st}

    where :math:`\sigma_{st}(C)` is the number of shortest paths from s to t that contain at least
    one vertex of C. NetworkX's ``group_betweenness_centrality`` departs from this formula for
    groups of three or more vertices (docs/groups.md).

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged. Not a batch of graphs.
        group: the vertices of the group: a tensor [k] or another collection of distinct ids. A list
            of groups, which may differ in size and overlap, or a tensor [g, k], gives the score of
            each; the searches are shared.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting). False adds missing
            reverse arcs and halves raw scores.
        normalized: divide by the number of ordered pairs outside of the group,
            (n - c)(n - c - 1) for a group of c vertices. With endpoints, divide by that of all
            ordered pairs, n(n - 1), as NetworkX does from 3.7 on.
        endpoints: also count paths that begin or end in the group, all of them.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor without dimensions, or [g] for g groups. Without endpoints, the score is 0 if fewer
        than two vertices are outside of the group.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small; the message states both amounts.

    Only the components that hold a member are searched. Small groups take up to k + 1 times the
    time of :func:`betweenness` there, for k vertices in groups. Others take about the time of n
    searches one at a time, for all groups together. A group of c vertices takes O(n c^2) in
    addition. The searches are k + 1 times as many if the lengths of paths are rounded (with
    ties="float", or weights of many magnitudes, docs/weights.md) or with tie_tolerance.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> torchcent.group_betweenness(path, [1, 3], directed=False, normalized=False)
        tensor(3.)
        >>> torchcent.group_betweenness(path, [[1, 3], [2], [0, 1]], directed=False)
        tensor([1.0000, 0.6667, 0.0000])

    Source:
        Everett and Borgatti 1999, "The centrality of groups and classes"; the decomposition of
        paths by members: Puzis, Elovici and Dolev 2007. docs/groups.md has the formulas.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(graph, "group_betweenness", "pass its graphs one by one")
    groups, single = check_groups.groups(group, graph)
    check.flag(normalized, "normalized")
    check.flag(endpoints, "endpoints")
    budget = run.memory
    if graph.is_weighted:
        _resolution.check(graph)
    # Paths in other components do not meet the groups.
    component, members = around(graph, torch.cat(groups))
    own = list(members.split([each.numel() for each in groups]))
    if component is not graph and budget is not None:
        budget = max(budget - graph._nbytes, 0)
    sums = _by_kernels if _dependency.is_compiled(graph) else _on_tensors
    score = sums(component, own, budget, run.progress)
    if endpoints:
        score += _ends(component, own, budget)
    if normalized:
        sizes = score.new_tensor([0 if endpoints else each.numel() for each in groups])
        others = graph.num_nodes - sizes
        score = score / (others * (others - 1)).clamp(min=1)
    elif not graph.directed:
        score = score / 2
    return (score[0] if single else score).to(run.dtype)


def _by_kernels(
    graph: Graph, groups: list[Tensor], memory: int | None, progress: bool | None
) -> Tensor:
    """Sums over ordered pairs outside of each group."""
    members = torch.unique(torch.cat(groups))
    places = [torch.searchsorted(members, group) for group in groups]
    largest = max(group.numel() for group in groups)
    rows = None
    if graph.scale.exact and graph.tie_tolerance == 0:
        rows = _dependency.Rows.of(graph, members, memory)
        if (quick := _by_weights(graph, rows, places, memory, progress)) is not None:
            return quick
    total = torch.zeros(len(groups), dtype=torch.float64, device=graph.device)
    with progress_bar(graph.num_nodes, "group_betweenness", progress, quick=False) as bar:
        for part in _dependency.batches(graph, members, rows, largest, memory):
            for number, at in enumerate(places):
                outside = ~torch.isin(part.source, members[at])
                first, before = _first(part.between(at))
                through = (first * part.delta[:, at]).sum(1) - before
                total[number] += through[outside].sum()
            bar.update(part.source.numel())
    return total


def _by_weights(
    graph: Graph, rows: _dependency.Rows, places: list[Tensor], memory: int | None,
    progress: bool | None,
) -> Tensor | None:  # fmt: skip
    """The same by runs that weight their sources; None if those would take longer.

    One run has the dependencies of all sources on all members. Of these, f(y) counts: a run for
    each member takes away the rest, from the sources for which there is any.
    """
    n = graph.num_nodes
    numbers = n * sum(at.numel() for at in places)
    if numbers > _MOST_NUMBERS:
        return None
    rest, before = [], []
    for at in places:
        parts = [
            _first(rows.between(source, at))
            for source in torch.arange(n, device=graph.device).split(_dependency.fit(at.numel()))
        ]
        left = 1 - torch.cat([first for first, _ in parts]).clamp(0, 1)
        ends = torch.cat([count for _, count in parts])
        inside = rows.members[at]
        left[inside], ends[inside] = 1.0, 0.0
        rest.append(left)
        before.append(ends.sum())
    searches = n + sum(int(torch.count_nonzero(left)) for left in rest)
    if searches > n * _dependency.searches_for_one(graph, memory):
        return None
    scores = torch.stack(before).neg()
    with progress_bar(searches, "group_betweenness", progress, quick=False) as bar:
        whole = _dependency.weighted(graph, None, memory)[rows.members]
        bar.update(n)
        for number, (at, left) in enumerate(zip(places, rest, strict=True)):
            for place, weight in zip(at, left.T, strict=True):
                rest_sums = _dependency.weighted(graph, weight.contiguous(), memory)
                scores[number] += whole[place] - rest_sums[rows.members[place]]
                bar.update(int(torch.count_nonzero(weight)))
    return scores.clamp_(min=0)


def _first(p: Tensor) -> tuple[Tensor, Tensor]:
    """Of [b, k, k], the shares of paths to y that pass through x. Returns those that have no other
    member, [b, k], and what they lack to 1, summed over y.

    f(y) = 1 - sum over x of f(x) p(x, y). Sorted by the number of members before them, p is
    triangular.
    """
    order = (p > 0).sum(1).argsort(stable=True)
    rows = order[:, :, None].expand_as(p)
    p = p.gather(1, rows).gather(2, rows.mT)
    identity = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    ones = torch.ones(*order.shape, 1, dtype=p.dtype, device=p.device)
    f = torch.linalg.solve_triangular((p + identity).mT, ones, upper=False, unitriangular=True)
    before = (p.mT @ f).sum((1, 2))
    return torch.zeros_like(f[..., 0]).scatter_(1, order, f[..., 0]), before


def _on_tensors(
    graph: Graph, groups: list[Tensor], memory: int | None, progress: bool | None
) -> Tensor:
    """The same without compiled searches."""
    total = torch.zeros(len(groups), dtype=torch.float64, device=graph.device)
    inside = torch.zeros((len(groups), graph.num_nodes), dtype=torch.bool, device=graph.device)
    for number, group in enumerate(groups):
        inside[number, group] = True
    source = torch.arange(graph.num_nodes, device=graph.device)
    with progress_bar(source.numel(), "group_betweenness", progress, quick=False) as bar:
        for part in _shares.batches(graph, source, memory):
            begins = part.vertex[: part.lanes][part.lane]
            for number, member in enumerate(inside):
                counts = ~(member[part.vertex] | member[begins])
                total[number] += part.blocked(member)[counts].sum()
            bar.update(part.lanes)
    return total


def _ends(graph: Graph, groups: list[Tensor], memory: int | None) -> Tensor:
    """The ordered pairs that begin or end in each group and are connected by a path."""
    members = torch.unique(torch.cat(groups))
    out, into, within = [], [], []
    for part in members.split(_shares.lanes_that_fit(graph, memory)):
        on = _shares.reach(graph, part)
        out.append(on.sum(1) - 1)
        within.append(on[:, members])
        into.append(_shares.reach(graph, part, backward=True).sum(1) - 1)
    either, inner = torch.cat(out) + torch.cat(into), torch.cat(within)
    counts = []
    for group in groups:
        at = torch.searchsorted(members, group)
        counts.append(either[at].sum() - (inner[at][:, at].sum() - at.numel()))
    return torch.stack(counts).double()
