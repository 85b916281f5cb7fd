"""The graph argument of a measure."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.graph import Graph, _fixed_point, _inputs, _strengths
from torchcent.graph._arcs import Arcs
from torchcent.graph._building import build
from torchcent.graph._graph import built
from torchcent.graph._inputs import GraphLike as GraphLike
from torchcent.graph._inputs import WeightLike as WeightLike


def as_graph(
    edge_index: GraphLike,
    num_nodes: int | None,
    directed: bool | None,
    edge_weight: WeightLike = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    *,
    memory: int | None = None,
    ties: str | None = None,
    tie_tolerance: float = 0.0,
    weights: str = "distances",
) -> Graph:
    """Returns the given Graph, or builds one from the first arguments of a measure.

    Args:
        memory: limits the memory for building it.
        ties: of measures that count paths. With "float", sums are those of the float64 weights,
            with "decimal" they are exact: of decimals as written, of others in fixed point. None
            for measures of distances, whose results are sums of the weights as they are.
        tie_tolerance: a positive one compares float64 sums where they are not exact by themselves.
        weights: what they are to the measure. With "strengths" the result is the adjacency matrix:
            parallel arcs are added up, loops are slots, and weights of 0 are no arcs. With
            "conductances" it is the same without loops.
    """
    if weights != "distances":
        graph = graph_of(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory, weights)
        check_weights.normal(graph._least_weight, weights)
        return graph._adjacency if weights == "strengths" else graph._conductances
    if ties is not None:
        check.choice(ties, "ties", ("decimal", "float"))
    rounded = check_weights.tie_tolerance(tie_tolerance) > 0
    graph = graph_of(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory, weights)
    if ties == "float":
        return graph._with_float_ties
    return graph if ties is None or rounded else _fixed_point.of(graph)


def graph_of(
    edge_index: GraphLike, num_nodes: int | None, directed: bool | None, edge_weight: WeightLike,
    batch: Tensor | None = None, ptr: Tensor | None = None, memory: int | None = None,
    weights: str = "distances",
) -> Graph:  # fmt: skip
    """The graph of these arguments, its arcs merged and without loops, whatever weights are."""
    if directed is not None:
        check.flag(directed, "directed")
    if isinstance(edge_index, Graph):
        check.directed_for_graph(directed, edge_index)
        check_weights.no_weight_for_graph(edge_weight)
        check_batch.no_batch_for_graph(batch, ptr)
        num_nodes = check.num_nodes(num_nodes)
        if num_nodes is not None and num_nodes != edge_index.num_nodes:
            raise ValueError(
                f"num_nodes={num_nodes} contradicts the Graph given, which has "
                f"{edge_index.num_nodes} vertices"
            )
        return edge_index
    if _inputs.is_plain(edge_index):
        return build(
            Graph, edge_index, num_nodes, directed is not False, edge_weight, batch, ptr, memory,
            weights=weights,
        )  # fmt: skip
    size = check.num_nodes(num_nodes)
    arcs = _inputs.settled(edge_index, size, directed, edge_weight, batch, ptr)
    return built(arcs, memory, weights)


def as_arcs(
    edge_index: GraphLike,
    num_nodes: int | None,
    directed: bool | None,
    edge_weight: WeightLike = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
) -> Arcs:
    """The same for functions that need the columns: tensors, not yet checked. Not for a Graph."""
    if directed is not None:
        check.flag(directed, "directed")
    if _inputs.is_plain(edge_index):
        return Arcs(check.edge_index(edge_index), num_nodes, directed, edge_weight, batch, ptr)
    size = check.num_nodes(num_nodes)
    made = _inputs.settled(edge_index, size, directed, edge_weight, batch, ptr)
    return _merged(made) if made.matrix else made


def _merged(made: Arcs) -> Arcs:
    """The entries of a matrix, with those of one place added up."""
    index, n, weight = made.edge_index, made.num_nodes, made.edge_weight
    if n is None or not index.numel() or int(index.min()) < 0 or int(index.max()) >= n:
        return made  # refused later
    if weight is not None and weight.shape != index.shape[1:]:
        return made
    found = _strengths.coalesced(index, weight, n)
    if found is None:
        return made
    return made._replace(edge_index=found[0], edge_weight=None if weight is None else found[1])
