"""Errors about landmarks and anchor sets."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._graph import Checked
from torchcent.check._values import beside, dense, wrong_type

DIRECTIONS = ("from", "to")
SELECTIONS = ("degree", "random", "farthest")
_MOST = 2**31 - 1
_ACCEPTED = "a number, or a tensor of vertices"


def landmarks(value: object, graph: Checked) -> int | Tensor:
    """How many of each graph, or int64 [num_graphs, k] with -1 for none."""
    if not isinstance(value, Tensor):
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type("landmarks", _ACCEPTED, value)
        return check.positive(value, "landmarks", _MOST) or 0
    ids = check.vertex_ids(value, "landmarks", graph.device)
    rows = ids[None] if ids.dim() == 1 and graph.ptr is None else ids
    if rows.dim() != 2 or rows.shape[0] != graph.num_graphs:
        shape = "[k]," if graph.ptr is None else f"[{graph.num_graphs}, k], a row per graph,"
        raise ValueError(f"landmarks must be {shape} got shape {list(ids.shape)}")
    chosen = rows[rows != -1]
    if chosen.numel():
        check.vertices(chosen, "landmarks", graph, "; -1 stands for none", optional=False)
    if graph.ptr is not None:
        first, end = graph.ptr[:-1, None], graph.ptr[1:, None]
        wrong = ((rows < first) | (rows >= end)) & (rows != -1)
        if bool(wrong.any()):
            number, place = (int(x) for x in wrong.nonzero()[0])
            raise ValueError(
                f"landmarks[{number}, {place}] is vertex {int(rows[number, place])}, which is not "
                f"one of graph {number}"
            )
    return rows


def sets(value: object, graph: Checked) -> Tensor:
    """bool [n, k]: the members of each set."""
    if not isinstance(value, Tensor):
        raise wrong_type("sets", "a tensor of bool [n, k], or None", value)
    dense(value, "sets")
    beside(value, "sets", graph.device)
    if value.dtype != torch.bool or value.dim() != 2 or value.shape[0] != graph.num_nodes:
        raise ValueError(
            f"sets must be torch.bool [{graph.num_nodes}, k], got {value.dtype} {list(value.shape)}"
        )
    return value


def no_generator(generator: object, instead: str) -> None:
    """Refuses one where nothing is drawn."""
    if generator is not None:
        raise ValueError(f"generator is for random choices, but {instead}; leave it out")


def pairs(value: object, graph: Checked) -> Tensor:
    """int64 [2, P], vertices of the graph; repetitions are allowed."""
    if not isinstance(value, Tensor):
        raise wrong_type("pairs", "a tensor [2, P] of vertices", value)
    ids = check.vertex_ids(value, "pairs", graph.device)
    if ids.dim() != 2 or ids.shape[0] != 2:
        raise ValueError(f"pairs must be [2, P], a column per pair, got shape {list(ids.shape)}")
    if ids.numel():
        low, high = (int(x) for x in torch.aminmax(ids))
        check.ids_within(low, high, graph.num_nodes, "pairs")
    return ids
