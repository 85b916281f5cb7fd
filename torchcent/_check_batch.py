"""Errors about batches of graphs and features, as _check.py has those about all other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchcent._check import MAX_NODES, choice, integer

if TYPE_CHECKING:
    from torchcent.graph import Graph

FEATURES = (
    "betweenness", "stress", "closeness", "harmonic", "eccentricity", "degree", "reach", "farness",
)  # fmt: skip


def pointers(
    batch: object, ptr: object, num_nodes: int | None, index: Tensor
) -> tuple[Tensor, Tensor] | None:
    """(ptr int64 [G + 1], batch int64 [n]) of a disjoint union, or None if it is one graph.

    The two say the same: batch has the graph of every vertex, ptr the first vertex of every graph.
    """
    if batch is None and ptr is None:
        return None
    graph_of = None if batch is None else _vector(batch, "batch", index)
    first = None if ptr is None else _vector(ptr, "ptr", index)
    num_nodes = None if num_nodes is None else integer(num_nodes, "num_nodes")
    if first is not None:
        size = _ascending_pointers(first)
        if num_nodes is not None and num_nodes != size:
            raise ValueError(f"ptr ends with {size}, but num_nodes={num_nodes}; they must be equal")
        counted = torch.repeat_interleave(first.diff(), output_size=size)
        if graph_of is not None:
            if graph_of.numel() != size:
                raise ValueError(
                    f"batch has {graph_of.numel()} entries, but ptr ends with {size}; they are the "
                    "same number of vertices"
                )
            wrong = torch.nonzero(graph_of != counted)[:1].flatten().tolist()
            if wrong:
                raise ValueError(
                    f"batch[{wrong[0]}] is {int(graph_of[wrong[0]])}, but by ptr vertex {wrong[0]} "
                    f"belongs to graph {int(counted[wrong[0]])}; pass one of them"
                )
        return first, counted
    assert graph_of is not None
    if num_nodes is not None and num_nodes != graph_of.numel():
        raise ValueError(
            f"batch must have an entry for each of num_nodes={num_nodes} vertices, got "
            f"{graph_of.numel()}"
        )
    if graph_of.numel() > MAX_NODES:
        raise ValueError(f"batch has {graph_of.numel()} vertices; at most 2^31 - 1 are possible")
    return _ascending_batch(graph_of), graph_of


def arcs_within(index: Tensor, batch: Tensor) -> None:
    """Every arc stays in its graph."""
    leaving = batch.gather(0, index[0]) != batch.gather(0, index[1])
    if leaving.any():
        column = int(leaving.int().argmax())
        tail, head = index[:, column].tolist()
        raise ValueError(
            f"edge_index[:, {column}] is the arc ({tail}, {head}), from graph {int(batch[tail])} "
            f"to graph {int(batch[head])}; the graphs of a batch have no arcs between them"
        )


def no_batch_for_graph(batch: object, ptr: object) -> None:
    if batch is not None or ptr is not None:
        raise ValueError(
            f"{'batch' if ptr is None else 'ptr'} is for an edge_index; a Graph has its own: "
            "Graph.from_edge_index(edge_index, ptr=...)"
        )


def one_graph(graph: Graph, name: str, instead: str) -> None:
    if graph.ptr is not None:
        raise ValueError(f"{name} is for one graph, and there is a batch of them; {instead}")


def measures(value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)) or not value:
        raise TypeError(f"measures must be a list of names, got {value!r}")
    return [choice(name, "measures", FEATURES) for name in value]


def _vector(value: object, name: str, index: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor or None, got {type(value).__name__}")
    if value.dtype != torch.int64:
        raise TypeError(f"{name} must be int64, got {value.dtype}")
    if value.dim() != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {list(value.shape)}")
    if value.device != index.device:
        raise ValueError(f"{name} is on {value.device}, but edge_index is on {index.device}")
    if value.layout != torch.strided or value.device.type == "meta":
        raise ValueError(f"{name} must be a dense tensor with data")
    return value.clone(memory_format=torch.contiguous_format)  # a Graph never changes


def _ascending_pointers(ptr: Tensor) -> int:
    """The number of vertices."""
    if ptr.numel() == 0:
        raise ValueError("ptr must have an entry more than there are graphs, at least [0]")
    step = ptr.diff()
    smallest = step.min() if step.numel() else ptr[0]
    first, last, least = torch.stack([ptr[0], ptr[-1], smallest]).tolist()
    if first != 0:
        raise ValueError(f"ptr must begin with 0, got {first}")
    if least < 0:
        at = int((step < 0).int().argmax())
        raise ValueError(
            f"ptr must ascend, but ptr[{at + 1}] is {int(ptr[at + 1])} after {int(ptr[at])}"
        )
    if last > MAX_NODES:
        raise ValueError(f"ptr ends with {last}; at most 2^31 - 1 vertices are possible")
    return int(last)


def _ascending_batch(batch: Tensor) -> Tensor:
    """ptr, of batch.max() + 1 graphs."""
    if batch.numel() == 0:
        return batch.new_zeros(1)
    step = batch.diff()
    smallest = step.min() if step.numel() else batch[0].clamp(min=0)
    first, last, least = torch.stack([batch[0], batch[-1], smallest]).tolist()
    if least < 0:
        at = int((step < 0).int().argmax())
        raise ValueError(
            f"batch must be sorted, but batch[{at + 1}] is {int(batch[at + 1])} after "
            f"{int(batch[at])}; renumber the vertices graph by graph"
        )
    if first < 0:
        raise ValueError(f"batch must not be negative, got {first}")
    if last >= MAX_NODES:
        raise ValueError(f"batch goes up to {last}; at most 2^31 - 1 graphs are possible")
    return torch.searchsorted(batch, torch.arange(last + 2, device=batch.device))
