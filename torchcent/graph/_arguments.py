"""The graph argument of a measure."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, Run
from torchcent.graph import Graph, _fixed_point, _inputs, _strengths
from torchcent.graph._arcs import Arcs
from torchcent.graph._building import build
from torchcent.graph._graph import built
from torchcent.graph._inputs import GraphLike as GraphLike
from torchcent.graph._inputs import WeightLike as WeightLike


def as_graph(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
    *,
    paths: bool = False,
    weights: str = "distances",
) -> Graph:
    """Returns the given Graph, or builds one from the first arguments of a measure.

    Args:
        run: limits the memory for building it.
        paths: whether shortest paths are counted. By the ties of the graph, sums of weights are
            then exact: of decimals as written, of others in fixed point. Distances are sums of the
            weights as they are.
        weights: what they are to the measure. With "strengths" the result is the adjacency matrix:
            parallel arcs are added up, loops are slots, and weights of 0 are no arcs. With
            "conductances" it is the same without loops.
    """
    if weights != "distances":
        graph = graph_of(edge_index, edge_weight, num_nodes, batch, directed, run, weights)
        of_sums: Graph = graph._adjacency if weights == "strengths" else graph._conductances
        check_weights.normal(of_sums._least_weight, weights)  # with loops, if there are any
        return of_sums
    graph = graph_of(edge_index, edge_weight, num_nodes, batch, directed, run)
    return _fixed_point.of(graph) if paths else graph


def graph_of(
    edge_index: GraphLike, edge_weight: WeightLike = None, num_nodes: int | None = None,
    batch: Tensor | None = None, directed: bool | None = None, run: Run = DEFAULT,
    weights: str = "distances", ptr: Tensor | None = None,
) -> Graph:  # fmt: skip
    """The graph of these arguments, its arcs merged and without loops, whatever weights are."""
    if directed is not None:
        check.flag(directed, "directed")
    if isinstance(edge_index, Graph):
        size = check.num_nodes(num_nodes)
        check.beside_graph(edge_index, size, directed, edge_weight=edge_weight, batch=batch)
        return edge_index
    if _inputs.is_plain(edge_index):
        return build(
            Graph, edge_index, num_nodes=num_nodes, directed=directed is not False,
            edge_weight=edge_weight, batch=batch, ptr=ptr, memory=run.memory, weights=weights,
        )  # fmt: skip
    size = check.num_nodes(num_nodes)
    arcs = _inputs.settled(edge_index, size, directed, edge_weight, batch)
    return built(arcs, run.memory, weights)


def as_arcs(
    edge_index: GraphLike,
    num_nodes: int | None,
    directed: bool | None,
    edge_weight: WeightLike = None,
    batch: Tensor | None = None,
) -> Arcs:
    """The same for functions that need the columns: tensors, not yet checked. Not for a Graph."""
    if directed is not None:
        check.flag(directed, "directed")
    if _inputs.is_plain(edge_index):
        return Arcs(check.edge_index(edge_index), num_nodes, directed, edge_weight, batch)
    size = check.num_nodes(num_nodes)
    arcs = _inputs.settled(edge_index, size, directed, edge_weight, batch)
    return _merged(arcs) if arcs.matrix else arcs


def _merged(arcs: Arcs) -> Arcs:
    """The entries of a matrix, with those of one place added up."""
    index, n, weight = arcs.edge_index, arcs.num_nodes, arcs.edge_weight
    if n is None or not index.numel() or int(index.min()) < 0 or int(index.max()) >= n:
        return arcs  # refused later
    if weight is not None and weight.shape != index.shape[1:]:
        return arcs
    sums = _strengths.coalesced(index, weight, n)
    if sums is None:
        return arcs
    return arcs._replace(edge_index=sums[0], edge_weight=None if weight is None else sums[1])
