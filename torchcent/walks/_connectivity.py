"""Connected components, bridges, cut vertices and blocks."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.graph._cache import Slot
from torchcent.runtime import _ops


@measure(
    "vertices", weights="", parts_of="components",
    without={
        "columns": "its numbers are no features",
        "networkx": "NetworkX yields sets, in less time than a conversion",
    },
)  # fmt: skip
def connected_components(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    strong: bool = False,
    run: Run = DEFAULT,
) -> Tensor:
    """The connected component of each vertex.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library, a matrix, an array or a
            table (docs/inputs.md).
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Numbers go on from graph to graph.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        strong: whether there must be paths in both directions between two vertices of a component.
            Otherwise directions do not matter.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n]: numbers from 0, in the order of the lowest vertices of the components.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m) time; strong components are found on the host. :meth:`Graph.largest_component` is the
    graph of the largest one.

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 1, 3], [1, 0, 1]])
        >>> torchcent.connected_components(arcs)
        tensor([0, 0, 1, 0])
        >>> torchcent.connected_components(arcs, strong=True)
        tensor([0, 0, 1, 2])

    Source:
        Tarjan 1972 for strong components.
    """
    is_strong = check.flag(strong, "strong")
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    return (graph.strong_components if is_strong else graph.components).clone()


#: `without` of what NetworkX finds in linear time as well
_LINEAR = {"networkx": "NetworkX finds them in linear time, too, and yields pairs or nodes"}


@measure("graph", weights="", members="edges", without=_LINEAR)
def bridges(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """The edges whose removal separates their ends.

    Directions, parallel edges and loops do not matter: of several edges between two vertices, all
    are one.

    Args:
        All: as in :func:`connected_components`.

    Returns:
        int64 Tensor [2, k]: the lower end of each bridge above the higher one, in their order.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m) time, on the host.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.bridges(triangle_with_tail)
        tensor([[2],
                [3]])

    Source:
        Hopcroft and Tarjan 1973.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    block, top = blocks_of(graph)
    member = torch.nonzero(block >= 0).flatten()
    size = torch.bincount(block[member], minlength=top.numel()) + 1
    lower = member[size[block[member]] == 2]
    ends = torch.stack([lower, top[block[lower]]]).sort(dim=0).values
    place = torch.argsort(ends[0] * max(graph.num_nodes, 1) + ends[1])
    return ends[:, place].to(graph.device)


@measure("graph", weights="", members="vertices", without=_LINEAR)
def articulation_points(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """The vertices whose removal separates others that a path joined, called cut vertices.

    Directions, parallel edges and loops do not matter.

    Args:
        All: as in :func:`connected_components`.

    Returns:
        int64 Tensor [k], ascending.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m) time, on the host.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.articulation_points(path)
        tensor([1, 2])

    Source:
        Hopcroft and Tarjan 1973.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    block, top = blocks_of(graph)
    count = (block >= 0).long() + torch.bincount(top, minlength=graph.num_nodes)
    return torch.nonzero(count > 1).flatten().to(graph.device)


class BiconnectedComponents(NamedTuple):
    """The blocks of a graph; see :func:`biconnected_components`.

    Attributes:
        vertices: int64, those of the first block, then of the second, and so on; each ascending.
        ptr: int64 [blocks + 1]: block i has vertices[ptr[i] : ptr[i + 1]].
    """

    vertices: Tensor
    ptr: Tensor

    def blocks(self) -> list[Tensor]:
        """int64: the vertices of each block."""
        return list(self.vertices.split(self.ptr.diff().tolist()))


@computes()
def biconnected_components(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> BiconnectedComponents:
    """The largest sets of vertices that no single vertex separates, called blocks.

    Two blocks share a cut vertex at most, and each edge lies in one of them. A bridge is a block of
    two vertices; a vertex without edges is in none. Directions, parallel edges and loops do not
    matter.

    Args:
        All: as in :func:`connected_components`.

    Returns:
        :class:`BiconnectedComponents`, a named tuple. The largest block comes first; of blocks of
        the same size, the order of their lists of vertices decides.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n log n + m) time, on the host.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.biconnected_components(triangle_with_tail).blocks()
        [tensor([0, 1, 2]), tensor([2, 3])]

    Source:
        Hopcroft and Tarjan 1973.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    block, top = blocks_of(graph)
    member = torch.nonzero(block >= 0).flatten()
    owner = torch.cat([block[member], torch.arange(top.numel(), device="cpu")])
    vertex = torch.cat([member, top])
    size = torch.bincount(owner, minlength=top.numel())
    place = torch.argsort(vertex, stable=True)
    place = place[torch.argsort(owner[place], stable=True)]
    first = vertex[place][size.cumsum(0) - size]
    # Two blocks share one vertex at most: the first two vertices of each tell them apart.
    second = vertex[place][size.cumsum(0) - size + 1]
    order = torch.argsort(second, stable=True)
    order = order[torch.argsort(first[order], stable=True)]
    order = order[torch.argsort(size[order], stable=True, descending=True)]
    place = place[torch.argsort(_csr.inverse(order)[owner[place]], stable=True)]
    ptr = _csr.pointers(size[order])
    return BiconnectedComponents(vertex[place].to(graph.device), ptr.to(graph.device))


@Slot
def blocks_of(graph: Graph) -> tuple[Tensor, Tensor]:
    """On the host: the block of the edges from each vertex towards the root, -1 at a root; and the
    vertex of each block that is closest to the root. int64 [n] and [blocks]."""
    arcs = graph.rowptr.cpu(), graph.col.cpu()
    if not graph._mutual:
        ends = torch.stack([_csr.rows(arcs[0]).int(), arcs[1]])
        arcs = _csr.csr(ends, graph.num_nodes, symmetric=True)[:2]
    if _ops.available:
        _, block, top = _ops.ops.blocks(*arcs)
        return block, top
    return _by_search(*(part.tolist() for part in arcs))


def _by_search(rowptr: list[int], col: list[int]) -> tuple[Tensor, Tensor]:
    """The same where there is no compiled code, by one depth-first search."""
    n = len(rowptr) - 1
    depth, low, parent, block = [-1] * n, [0] * n, [-1] * n, [-1] * n
    following, tops, waiting = rowptr[:-1], list[int](), list[int]()
    for root in range(n):
        if depth[root] >= 0:
            continue
        depth[root], stack = 0, [root]
        while stack:
            v = stack[-1]
            if following[v] < rowptr[v + 1]:
                head = col[following[v]]
                following[v] += 1
                if depth[head] < 0:
                    depth[head] = low[head] = depth[v] + 1
                    parent[head] = v
                    stack.append(head)
                    waiting.append(head)
                elif head != parent[v]:
                    low[v] = min(low[v], depth[head])
                continue
            stack.pop()
            above = parent[v]
            if above < 0:
                continue
            low[above] = min(low[above], low[v])
            if low[v] >= depth[above]:  # nothing below v leads above its parent
                while True:
                    last = waiting.pop()
                    block[last] = len(tops)
                    if last == v:
                        break
                tops.append(above)
    return torch.tensor(block, dtype=torch.int64, device="cpu"), torch.tensor(
        tops, dtype=torch.int64, device="cpu"
    )
