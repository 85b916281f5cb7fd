"""node_features as an operator."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check._run import DEFAULT, Run, around, of_operator
from torchcent.engines._measures import plain_features
from torchcent.functional._calls import check_call


def node_features(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    measures: str | Sequence[str] = ("betweenness", "closeness"),
    directed: bool | None = None,
    normalized: bool = True,
    run: Run = DEFAULT,
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
    flags = {"normalized": normalized}
    engine, dtype = of_operator(run, "node_features", "engine", "dtype")
    check_call(edge_index, edge_weight, batch, num_nodes, directed, flags)
    names = ",".join(check_batch.measures(measures, plain_features()))
    with around(run):
        found: Tensor = torch.ops.torchcent.node_features(
            edge_index,
            edge_weight,
            batch,
            num_nodes,
            names,
            directed,
            normalized,
            dtype,
            engine,
        )
    return found
