"""Operators for use inside models: torch.compile captures them without a graph break.

Each function is the one of the same name in torchcent, for an edge_index, as a single operator. It
takes num_nodes, which determines the shape of the result before anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch._subclasses import FakeTensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _weights as check_weights
from torchcent.check._values import choice, dense
from torchcent.distances._profile import DistanceProfile
from torchcent.engines._measures import plain_features
from torchcent.gnn import _operators  # noqa: F401  (registers what torch.ops has)

__all__ = [
    "betweenness",
    "closeness",
    "distance_profile",
    "eccentricity",
    "edge_betweenness",
    "harmonic",
    "node_features",
    "percolation",
    "stress",
]


def node_features(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    measures: str | Sequence[str] = ("betweenness", "closeness"),
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
    flags = {"normalized": normalized}
    _check_call(edge_index, edge_weight, batch, num_nodes, directed, engine, flags)
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
    flags = {"normalized": normalized}
    _check_call(edge_index, edge_weight, batch, num_nodes, directed, engine, flags)
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


def betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: float | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.betweenness` inside a model, like :func:`node_features`.

    `sources` and `targets` are tensors of vertices; there is one cutoff at most.

    Returns:
        Tensor [n].

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
        >>> F.betweenness(star, num_nodes=4)  # within torch.compile(..., fullgraph=True), too
        tensor([1., 0., 0., 0.])
    """
    return _vertex_scores(
        "betweenness", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        normalized=normalized, endpoints=endpoints, sources=sources, targets=targets,
        cutoff=cutoff,
    )  # fmt: skip


def stress(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: float | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.stress` inside a model, like :func:`betweenness`."""
    return _vertex_scores(
        "stress", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        normalized=normalized, sources=sources, targets=targets, cutoff=cutoff,
    )  # fmt: skip


def percolation(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    states: Tensor,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.percolation` inside a model, like :func:`betweenness`."""
    return _vertex_scores(
        "percolation", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        states=states,
    )  # fmt: skip


def closeness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    sources: Tensor | None = None,
    cutoff: float | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.closeness` inside a model, like :func:`betweenness`."""
    return _vertex_scores(
        "closeness", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        wf_improved=wf_improved, sources=sources, cutoff=cutoff,
    )  # fmt: skip


def harmonic(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: Tensor | None = None,
    cutoff: float | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.harmonic` inside a model, like :func:`betweenness`."""
    return _vertex_scores(
        "harmonic", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        normalized=normalized, sources=sources, cutoff=cutoff,
    )  # fmt: skip


def eccentricity(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> Tensor:
    """:func:`torchcent.eccentricity` inside a model, like :func:`betweenness`."""
    return _vertex_scores(
        "eccentricity", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        disconnected=disconnected,
    )  # fmt: skip


def distance_profile(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    normalized: bool = False,
    sources: Tensor | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
) -> DistanceProfile:
    """:func:`torchcent.distance_profile` inside a model: five measures in one traversal.

    Returns:
        DistanceProfile: closeness, harmonic, eccentricity, reach and farness, each a Tensor [n].
    """
    found = _vertex_scores(
        "distance_profile", edge_index, edge_weight, num_nodes, batch, directed, dtype, engine,
        wf_improved=wf_improved, normalized=normalized, sources=sources,
    )  # fmt: skip
    return DistanceProfile(*found.unbind(1))


def _vertex_scores(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int,
    batch: Tensor | None, directed: bool | None, dtype: torch.dtype | None, engine: str, *,
    states: Tensor | None = None, sources: Tensor | None = None, targets: Tensor | None = None,
    normalized: bool | None = None, endpoints: bool | None = None,
    wf_improved: bool | None = None, cutoff: float | None = None, disconnected: str | None = None,
) -> Tensor:  # fmt: skip
    if not torch.compiler.is_compiling():
        cutoff = check_cutoff.single(cutoff)
        if disconnected is not None:
            choice(disconnected, "disconnected", check.DISCONNECTED)
    flags = {"normalized": normalized, "endpoints": endpoints, "wf_improved": wf_improved}
    vertices = {"states": states, "sources": sources, "targets": targets}
    if measure == "percolation" and states is None:
        raise TypeError("states must be a number for every vertex, got None")
    _check_call(edge_index, edge_weight, batch, num_nodes, directed, engine, flags, vertices)
    found: Tensor = torch.ops.torchcent.vertex_scores(
        measure, edge_index, edge_weight, batch, num_nodes, states, sources, targets, directed,
        normalized, endpoints, wf_improved, cutoff, disconnected, check.float_dtype(dtype), engine,
    )  # fmt: skip
    return found


def _check_call(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    directed: bool | None, engine: str, flags: Mapping[str, bool | None],
    vertices: Mapping[str, Tensor | None] | None = None,
) -> None:  # fmt: skip
    """Checks what the operators' schemas would report in PyTorch's words.

    Tensors without data are accepted if all tensors are such, as when a model is traced.
    """
    if not torch.compiler.is_compiling():
        given = {"edge_index": edge_index, "edge_weight": edge_weight, "batch": batch}
        given.update(vertices or {})
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
        for name, flag in flags.items():
            if flag is not None:
                check.flag(flag, name)
        known = check.ENGINES + check.DISTANCE_ENGINES + check_weights.ENGINES
        choice(engine, "engine", tuple(dict.fromkeys(known)))
    check_weights.no_gradient(edge_weight)
