"""Errors about batches of graphs and features; _common.py has those of all other arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from torchcent.check._common import MAX_NODES
from torchcent.check._graph import Checked
from torchcent.check._values import beside, choice, dense, wrong_type
from torchcent.runtime import _small

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def size(batch: object, num_nodes: int | None) -> int | None:
    """The number of vertices given by `num_nodes`, or else by the shape of `batch`."""
    return batch.numel() if num_nodes is None and isinstance(batch, Tensor) else num_nodes


def pointers(
    batch: object,
    ptr: object,
    num_nodes: int | None,
    index: Tensor,
    allow: Callable[[int, int], None],
) -> tuple[Tensor, Tensor] | None:
    """(ptr int64 [G + 1], batch int64 [n]) of a disjoint union, or None for a single graph.

    Both describe the same partition: batch holds the graph of every vertex, ptr the first vertex of
    every graph. Both are copies that no one else can modify. `allow` raises if there are too many
    vertices and graphs, before memory is allocated for them.
    """
    if batch is None and ptr is None:
        return None
    graph_of = None if batch is None else _vector(batch, "batch", index)
    first = None if ptr is None else _vector(ptr, "ptr", index)
    if first is not None:
        last = _vertices_of(first)
        if num_nodes is not None and num_nodes != last:
            raise ValueError(f"ptr ends with {last}, but num_nodes={num_nodes}; they must be equal")
        allow(last, first.numel() - 1)
        counted = _small.repeat_interleave(first.diff(), output_size=last)
        if graph_of is not None:
            if graph_of.numel() != last:
                raise ValueError(
                    f"batch has {graph_of.numel()} entries, but ptr ends with {last}; they are the "
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
    graphs = _graphs_of(graph_of)
    allow(graph_of.numel(), graphs)
    count = torch.bincount(graph_of, minlength=graphs)
    return torch.nn.functional.pad(count.cumsum(0), (1, 0)), graph_of


def arcs_within(index: Tensor, batch: Tensor) -> None:
    """Checks that every arc stays within its graph."""
    leaving = batch.index_select(0, index[0]) != batch.index_select(0, index[1])
    if leaving.any():
        column = int(leaving.int().argmax())
        tail, head = index[:, column].tolist()
        raise ValueError(
            f"edge_index[:, {column}] is the arc ({tail}, {head}), from graph {int(batch[tail])} "
            f"to graph {int(batch[head])}; the graphs of a batch have no arcs between them"
        )


def one_graph(graph: Checked, name: str, instead: str) -> None:
    if graph.ptr is not None:
        raise ValueError(f"{name} is for one graph, but got a batch of graphs; {instead}")


def measures(value: object, accepted: Collection[str]) -> list[str]:
    """The names of one or more measures."""
    if isinstance(value, str):
        return [choice(value, "measures", tuple(accepted))]
    if not isinstance(value, (list, tuple)) or not value:
        raise wrong_type("measures", "a name or a list of names", value)
    return [choice(name, "measures", tuple(accepted)) for name in value]


def _vector(value: object, name: str, index: Tensor) -> Tensor:
    """A copy, because a Graph never changes; the copy is what is checked."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "a torch.Tensor or None", type(value))
    dense(value, name)
    integers(value, name)
    if value.dim() != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {list(value.shape)}")
    if value.device != index.device:
        raise ValueError(f"{name} is on {value.device}, but edge_index is on {index.device}")
    return value.to(torch.int64, copy=True, memory_format=torch.contiguous_format)


def integers(value: Tensor, name: str) -> None:
    """Checks the dtype of numbers of graphs or of vertices."""
    if value.dtype not in _INTEGERS:
        raise TypeError(f"{name} must be int64 (or int32, int16, int8, uint8), got {value.dtype}")


def _ascending(values: Tensor, name: str, must: str, advice: str = "") -> tuple[int, int]:
    """Checks that values ascend, and returns the first and the last.

    Values are compared, not subtracted: differences may exceed int64.
    """
    down = values[1:] < values[:-1]
    if down.any():
        at = int(down.int().argmax()) + 1
        raise ValueError(
            f"{name} must {must}, but {name}[{at}] is {int(values[at])} after "
            f"{int(values[at - 1])}{advice}"
        )
    first, last = torch.stack([values[0], values[-1]]).tolist()
    return first, last


def _vertices_of(ptr: Tensor) -> int:
    """Checks that ptr ascends from 0, and returns the number of vertices."""
    if ptr.numel() == 0:
        raise ValueError("ptr must have an entry more than there are graphs, at least [0]")
    first, last = _ascending(ptr, "ptr", "ascend")
    if first != 0:
        raise ValueError(f"ptr must begin with 0, got {first}")
    if last > MAX_NODES:
        raise ValueError(f"ptr ends with {last}; at most 2^31 - 1 vertices are possible")
    if ptr.numel() > MAX_NODES:
        raise ValueError(f"ptr has {ptr.numel() - 1} graphs; at most 2^31 - 2 are possible")
    return last


def _graphs_of(batch: Tensor) -> int:
    """Checks that batch is sorted, and returns the number of graphs: batch.max() + 1."""
    if batch.numel() == 0:
        return 0
    first, last = _ascending(batch, "batch", "be sorted", "; renumber the vertices graph by graph")
    if first < 0:
        raise ValueError(f"batch must not be negative, got {first}")
    if last >= MAX_NODES:
        raise ValueError(f"batch goes up to {last}; at most 2^31 - 1 graphs are possible")
    return last + 1


def per_graph(value: Tensor, name: str, graph: Checked) -> Tensor:
    """Finite numbers > 0, one per graph of a batch: float64 [num_graphs]."""
    beside(value, name, graph.device)
    dense(value, name)
    if value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
    if value.shape != (graph.num_graphs,):
        raise ValueError(
            f"{name} must be a number or have shape [{graph.num_graphs}], one for each graph, got "
            f"{list(value.shape)}"
        )
    numbers = value.detach().to(device=graph.device, dtype=torch.float64)
    wrong = torch.nonzero(~((numbers > 0) & numbers.isfinite()))
    if wrong.numel():
        at = int(wrong[0])
        raise ValueError(f"{name}[{at}] is {float(numbers[at]):g}; accepted: finite and > 0")
    return numbers
