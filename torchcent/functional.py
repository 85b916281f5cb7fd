"""Operators for use inside models: torch.compile captures them without a graph break."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._values import choice, dense
from torchcent.engines._measures import plain_features
from torchcent.gnn._features import node_features as _node_features
from torchcent.paths._betweenness import edge_betweenness as _edge_betweenness

__all__ = ["edge_betweenness", "node_features"]

# Kernels read sizes back from the device, which a CUDA graph cannot record: torch.compile splits
# its CUDA graphs there.
_TAGS = (torch.Tag.cudagraph_unsafe,)


def node_features(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    measures: Sequence[str] = ("betweenness", "closeness"),
    directed: bool | None = None,
    normalized: bool = True,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.node_features` inside a model, as a single operator for ``torch.compile``.

    The values are the same, also with ``fullgraph=True`` and dynamic shapes. On CUDA the operator
    runs on the current stream. **No gradient flows**: scores are not a differentiable function of
    the weights (they jump where two paths become equally short), nor of edge_index. They enter a
    model as constants; everything computed from them is differentiated as usual.

    Args:
        edge_index: int64 [2, E].
        edge_weight: [E], lengths; must not require grad (pass ``edge_weight.detach()``).
        num_nodes: n, which determines the shape of the result before anything is computed; usually
            ``x.shape[0]``.
        batch: int64 [n], the graph of each vertex, ascending.
        Others: as in :func:`torchcent.node_features`.

    Returns:
        Tensor [n, len(measures)].

    Raises:
        ValueError: if edge_weight requires grad while gradients are enabled.
        Others: as in :func:`torchcent.node_features`.

    Example:
        >>> import torch
        >>> from torchcent.functional import node_features
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> def with_scores(x, edge_index):  # torch.compile(with_scores, fullgraph=True) does too
        ...     scores = node_features(edge_index, num_nodes=x.shape[0], measures=["betweenness"])
        ...     return torch.cat([x, scores], dim=1)
        >>> with_scores(torch.ones(3, 1), path)
        tensor([[1., 0.],
                [1., 1.],
                [1., 0.]])
    """
    _check_call(edge_index, edge_weight, batch, num_nodes, directed, normalized, engine)
    names = ",".join(check_batch.measures(measures, plain_features()))
    found: Tensor = torch.ops.torchcent.node_features(
        edge_index,
        edge_weight,
        batch,
        num_nodes,
        names,
        directed,
        normalized,
        check.float_dtype(dtype),
        engine,
    )
    return found


def edge_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.edge_betweenness` inside a model, like :func:`node_features`.

    Returns:
        Tensor [E], one score per column of edge_index.

    Example:
        >>> import torch
        >>> from torchcent.functional import edge_betweenness
        >>> edge_betweenness(torch.tensor([[0, 1], [1, 2]]), num_nodes=3, normalized=False)
        tensor([2., 2.])
    """
    _check_call(edge_index, edge_weight, batch, num_nodes, directed, normalized, engine)
    found: Tensor = torch.ops.torchcent.edge_scores(
        edge_index,
        edge_weight,
        batch,
        num_nodes,
        directed,
        normalized,
        check.float_dtype(dtype),
        engine,
    )
    return found


def _check_call(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    directed: bool | None, normalized: bool, engine: str,
) -> None:  # fmt: skip
    """Checks what the operators' schemas would report in PyTorch's words.

    Tensors without data are accepted if all tensors are such, as when a model is traced.
    """
    if not torch.compiler.is_compiling():
        given = {"edge_index": edge_index, "edge_weight": edge_weight, "batch": batch}
        tensors: dict[str, Tensor] = {}
        for name, value in given.items():
            if isinstance(value, Tensor):
                tensors[name] = value
            elif value is not None or name == "edge_index":
                raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
        traced = all(isinstance(value, FakeTensor) or value.is_meta for value in tensors.values())
        for name, tensor in tensors.items():
            if not traced:
                dense(tensor, name)
        if edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must have shape [2, E], got {list(edge_index.shape)}")
        if not isinstance(num_nodes, torch.SymInt) and check.num_nodes(num_nodes) is None:
            raise TypeError("num_nodes must be an int, got None")
        if directed is not None:
            check.flag(directed, "directed")
        check.flag(normalized, "normalized")
        choice(engine, "engine", tuple(dict.fromkeys(check.ENGINES + check_weights.ENGINES)))
    check_weights.no_gradient(edge_weight)


@torch.library.custom_op("torchcent::node_features", mutates_args=(), tags=_TAGS)
def _node_scores(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    measures: str,
    directed: bool | None,
    normalized: bool,
    dtype: torch.dtype,
    engine: str,
) -> Tensor:
    return _node_features(
        edge_index, edge_weight, num_nodes=num_nodes, batch=batch, measures=measures.split(","),
        directed=directed, normalized=normalized, dtype=dtype, engine=engine, progress=False,
    )  # fmt: skip


@torch.library.custom_op("torchcent::edge_scores", mutates_args=(), tags=_TAGS)
def _edge_scores(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    directed: bool | None,
    normalized: bool,
    dtype: torch.dtype,
    engine: str,
) -> Tensor:
    return _edge_betweenness(
        edge_index, edge_weight, num_nodes=num_nodes, batch=batch, directed=directed,
        normalized=normalized, dtype=dtype, engine=engine, progress=False,
    )  # fmt: skip


@_node_scores.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    measures: str, directed: bool | None, normalized: bool, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty((num_nodes, measures.count(",") + 1), dtype=dtype)


@_edge_scores.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    directed: bool | None, normalized: bool, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty(edge_index.shape[1], dtype=dtype)


def _no_backward(*_: Any) -> None:
    """Reports weights that require grad when the operators are called directly."""
    raise NotImplementedError(check_weights.NO_GRADIENT)


_node_scores.register_autograd(_no_backward)
_edge_scores.register_autograd(_no_backward)
