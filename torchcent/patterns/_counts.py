"""Cycles, cliques, paths and stars of vertices and edges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _patterns as check_patterns
from torchcent.check._patterns import SMALLEST, Pattern
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.patterns import _tables
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import control
from torchcent.runtime._watch import at_work, progress_bar

CYCLES = ("cycle3", "cycle4", "cycle5", "cycle6", "cycle7", "cycle8")
_LARGEST = 2**63 - 1
_INLINE = 1e8  # steps, by a bound on them, below which a thread and a bar do not pay off
# Bytes per vertex of the largest graph and thread (csrc/patterns/cpu), of a slot and of a vertex.
_OF_THREAD, _OF_SLOT, _OF_VERTEX = 80, 12, 16
_WITHOUT = NOT_IN_NETWORKX | {
    "functional": "they are computed once, before a model is trained",
    "command": "a command has no list of patterns",
}


def _width(options: Mapping[str, Any]) -> int:
    return sum(_columns(each, False) for each in check_patterns.patterns(options["patterns"]))


@measure(
    "vertices", weights="", undirected=True, width=_width,
    without=_WITHOUT | {"columns": "it is many columns, as many as patterns say"},
)  # fmt: skip
def substructure_counts(
    edge_index: GraphLike,
    *,
    patterns: str | Sequence[str] = CYCLES,
    induced: bool = False,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The numbers of cycles, cliques, paths and stars that contain each vertex.

    .. math:: x_{H,i}(v) = |\{S \subseteq G : S \cong H,\; v \text{ is in orbit } i \text{ of } S\}|

    where S runs over the subgraphs of the graph G: the structural features of GSN. Each subgraph
    counts once. Vertices that a symmetry of H maps to each other are one orbit. Cycles of 3 to 8
    vertices, which are the default, count the rings of molecules.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Every arc
            needs its reverse; directed=False adds those missing. Loops and parallel arcs do not
            count, nor do weights.
        patterns: a name, or several: "cycle3" to "cycle8", "clique3" to "clique8", "path3" to
            "path8", and "star3" to "star8". Cycles, cliques and paths have so many vertices, stars
            so many leaves, as NetworkX's ``cycle_graph``, ``complete_graph``, ``path_graph`` and
            ``star_graph``.
        induced: True counts only subgraphs of which the graph has no further edge: cycles without
            chords, stars whose leaves are not adjacent. For cliques both are the same.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n, columns], in the order of `patterns`. A cycle and a clique have one column
        each. A path of k vertices has ceil(k / 2), for the distances 0, 1, ... from its nearer end.
        A star has two, the first one for its center and the second one for leaves.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.
        OverflowError: a count does not fit int64.

    Patterns are enumerated, except for stars with induced=False, which follow from degrees. Time is
    proportional to the number of paths that may become one. Those of cycles begin at the vertex of
    the highest degree, and are within reach of it. Triangles and cycles of four vertices alone take
    O(m d) time, for m edges and the degeneracy d. On the CPU compiled threads share the graphs, and
    the vertices of large ones. Elsewhere tensors hold up to 2^18 partial subgraphs at a time.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.substructure_counts(
        ...     triangle_with_tail, patterns=["cycle3", "path3", "star3"], directed=False
        ... )
        tensor([[1, 3, 1, 0, 1],
                [1, 3, 1, 0, 1],
                [1, 2, 3, 1, 0],
                [0, 2, 0, 0, 1]])

    Source:
        Bouritsas et al. 2022, "Improving graph neural network expressivity via subgraph isomorphism
        counting"; Chiba and Nishizeki 1985.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    check.undirected(graph, "substructure_counts")
    chosen = check_patterns.patterns(patterns)
    return counts(graph, chosen, check.flag(induced, "induced"), False, run)


@measure("edges", weights="", undirected=True, without=_WITHOUT)
def edge_substructure_counts(
    edge_index: GraphLike,
    *,
    patterns: str | Sequence[str] = CYCLES,
    induced: bool = False,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The numbers of cycles, cliques, paths and stars that contain each edge.

    .. math:: x_{H,i}(e) = |\{S \subseteq G : S \cong H,\; e \text{ is in orbit } i \text{ of } S\}|

    Arguments, errors and time are those of :func:`substructure_counts`.

    Returns:
        int64 Tensor [E, columns], a row per column of edge_index (per input column of a Graph).
        Both columns of an undirected edge, and parallel ones, have the numbers of the edge; loops
        have 0. A path of k vertices has floor(k / 2) columns, for the distances 0, 1, ... of an
        edge from its nearer end. All other patterns have one column.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.edge_substructure_counts(
        ...     triangle_with_tail, patterns=["cycle3", "path3", "star3"], directed=False
        ... )
        tensor([[1, 2, 0],
                [1, 3, 1],
                [1, 3, 1],
                [0, 2, 1]])

    Source:
        Bouritsas et al. 2022, "Improving graph neural network expressivity via subgraph isomorphism
        counting".
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    check.undirected(graph, "edge_substructure_counts")
    chosen = check_patterns.patterns(patterns)
    number = counts(graph, chosen, check.flag(induced, "induced"), True, run)
    return _csr.of_columns(number, graph.slot)


def counts(
    graph: Graph, patterns: list[Pattern], induced: bool, of_slots: bool, run: Run
) -> Tensor:
    """int64 [n, columns] or [num_slots, columns]."""
    largest: dict[str, int] = {}
    for kind, size in patterns:
        largest[kind] = max(size, largest.get(kind, 0))
    _check_memory(graph, largest, of_slots, run.memory)
    of_kind = {
        kind: _stars(graph, size, of_slots)
        if kind == "star" and not induced
        else _enumerated(graph, Pattern(kind, size), induced, of_slots, run.progress)
        for kind, size in largest.items()
    }
    parts = []
    for pattern in patterns:
        before = (Pattern(pattern.kind, size) for size in range(SMALLEST, pattern.size))
        begin = sum(_columns(each, of_slots) for each in before)
        parts.append(of_kind[pattern.kind][:, begin : begin + _columns(pattern, of_slots)])
    return torch.cat(parts, 1)


def _columns(pattern: Pattern, of_slots: bool) -> int:
    """The orbits of its vertices or edges."""
    if pattern.kind == "path":
        return _tables.places(pattern.size, of_slots)
    return 2 if pattern.kind == "star" and not of_slots else 1


def _all_columns(pattern: Pattern, of_slots: bool) -> int:
    """Those of all sizes up to that of a pattern."""
    sizes = range(SMALLEST, pattern.size + 1)
    return sum(_columns(Pattern(pattern.kind, size), of_slots) for size in sizes)


def _has_kernel(graph: Graph) -> bool:
    return _ops.has_kernel("count_cycles", graph.device)


def _check_memory(
    graph: Graph, largest: dict[str, int], of_slots: bool, memory: int | None
) -> None:
    rows = graph.num_slots if of_slots else graph.num_nodes
    columns = sum(_all_columns(Pattern(*item), of_slots) for item in largest.items())
    need = graph._nbytes + 8 * rows * (3 * columns + of_slots)
    if _has_kernel(graph):
        size = int(_batch.counts(graph)[0].max(initial=0))
        need += _OF_THREAD * size * torch.get_num_threads()
        need += _OF_SLOT * graph.num_slots + _OF_VERTEX * graph.num_nodes
    else:
        need += _tables.nbytes(graph, max(largest.values()))
    if memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        what = f"counts of {columns} kinds of substructures for {rows} rows"
        _memory.require(what, need, _room.limit(graph, memory), memory)


def _enumerated(
    graph: Graph, pattern: Pattern, induced: bool, of_slots: bool, progress: bool | None
) -> Tensor:
    """The counts of one kind, for each size up to that of the pattern."""
    kind, size = pattern
    rows = graph.num_slots if of_slots else graph.num_nodes
    columns = _all_columns(pattern, of_slots)
    count = torch.zeros(rows, columns, dtype=torch.int64, device=graph.device)
    if not graph.num_slots:
        return count
    # There are no more walks than if the neighbours of each vertex had its degree.
    quick = float(graph.degree.double().pow(size - 1).sum()) < _INLINE
    title = f"substructure_counts of {kind}s"
    with progress_bar(graph.num_nodes, title, progress, quick, "vertices") as bar:
        if _has_kernel(graph):
            record, options = control(), (induced,) if kind in ("cycle", "path") else ()
            results = list[Tensor]()

            def work() -> None:
                operator = getattr(_ops.ops, f"count_{kind}s")
                arcs = graph.rowptr, graph.col, _batch.ends(graph)
                threads = torch.get_num_threads()
                flag = operator(*arcs, size, *options, of_slots, count, record, threads)
                results.append(flag)

            at_work(work, record, bar, graph.device, quick)
            if int(results[0]):
                raise _too_large(f"{kind}s")
            if kind == "path" and not of_slots:
                count[:, _middles(size)] //= 2
        else:
            _tables.KINDS[kind](graph, size, induced, of_slots, count).search(bar)
        bar.update(graph.num_nodes - bar.n)
    return _both(graph, count, f"{kind}s") if of_slots else count


def _middles(size: int) -> list[int]:
    """The columns of vertices in the middle of paths, which the kernel counts from both ends."""
    odd = range(SMALLEST, size + 1, 2)
    return [_all_columns(Pattern("path", each), False) - 1 for each in odd]


def _both(graph: Graph, count: Tensor, what: str) -> Tensor:
    """The sum of both slots of each edge; each number is >= 0."""
    both = count + count[graph.reverse_slot]
    if bool((both < 0).any()):
        raise _too_large(what)
    return both


def _too_large(what: str) -> OverflowError:
    return OverflowError(
        f"a number of {what} does not fit int64; leave out the largest of patterns"
    )


def _stars(graph: Graph, size: int, of_slots: bool) -> Tensor:
    """The counts of stars that need not be induced, by binomials of degrees."""
    degree, known = torch.unique(graph.degree, return_inverse=True)
    tail, columns = _csr.rows(graph.rowptr), []
    for leaves in range(SMALLEST, size + 1):
        # of which a vertex is the center, and those that have one of its edges
        centers, of_edge = (
            [math.comb(d - less, leaves - less) if d >= less else 0 for d in degree.tolist()]
            for less in (0, 1)
        )
        of_center = _numbers(of_edge, graph)[known]
        if of_slots:
            columns.append(_both(graph, of_center[tail][:, None], "stars")[:, 0])
            continue
        columns.append(_numbers(centers, graph)[known])
        columns.append(_sums(of_center[graph.col], tail, graph.num_nodes))
    return torch.stack(columns, 1)


def _numbers(values: list[int], graph: Graph) -> Tensor:
    if max(values, default=0) > _LARGEST:
        raise _too_large("stars")
    return torch.tensor(values, dtype=torch.int64, device=graph.device)


def _sums(values: Tensor, row: Tensor, n: int) -> Tensor:
    """The sums of the values >= 0 of each row, in halves of which those of 2^31 fit int64."""
    low, high = (
        values.new_zeros(n).index_add_(0, row, half) for half in (values & 0xFFFFFFFF, values >> 32)
    )
    high = high + (low >> 32)
    if bool((high >= 2**31).any()):
        raise _too_large("stars")
    return (high << 32) | (low & 0xFFFFFFFF)
