"""The graph argument of a measure."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.graph import Graph, _inputs
from torchcent.graph._arcs import Arcs
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
    ties: str = "decimal",
) -> Graph:
    """Returns the given Graph, or builds one from the first arguments of a measure.

    `memory` limits the memory for building it. With `ties` "float", decimal weights are taken for
    the float64 numbers next to them.
    """
    if check.choice(ties, "ties", ("decimal", "float")) == "float":
        return as_graph(
            edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory
        )._with_float_ties
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
        return Graph.from_edge_index(
            edge_index, num_nodes, directed is not False, edge_weight, batch, ptr, memory
        )
    size = check.num_nodes(num_nodes)
    return built(_inputs.settled(edge_index, size, directed, edge_weight, batch, ptr), memory)


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
    return _inputs.settled(edge_index, size, directed, edge_weight, batch, ptr)
