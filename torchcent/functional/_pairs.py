"""Encodings of all pairs as an operator, of a shape that its arguments determine."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchcent.check import _encodings as check_encodings
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, Run, around, of_operator, quiet
from torchcent.check._values import choice
from torchcent.encodings import _diffusion
from torchcent.encodings import _walks as walks
from torchcent.functional._encodings import check_graphs
from torchcent.runtime import _memory

_SCHEMA = """(
    str function, Tensor edge_index, Tensor? edge_weight, Tensor? batch, SymInt num_nodes,
    SymInt num_graphs, SymInt max_nodes, bool? directed, SymInt powers, float[] times, str? form,
    float padding, ScalarType dtype
) -> Tensor"""


def random_walk_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    powers: int,
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = None,
    directed: bool | None = None,
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    """The matrices of :func:`torchcent.random_walk_pairs` inside a model, as one operator.

    Args:
        shape: (num_graphs, max_nodes), at least the number of graphs of `batch` and the number of
            vertices of each. Beside `num_nodes` it determines the shape of the result.
        padding: the value in rows and columns beyond a graph, and of graphs beyond those of the
            batch.
        Others: as in :func:`torchcent.random_walk_pairs`.

    Returns:
        Tensor [num_graphs, max_nodes, max_nodes, powers].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the result needs more than half of the free memory.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> F.random_walk_pairs(path, powers=2, num_nodes=3, shape=(1, 4))[0, :, :, 1]
        tensor([[0.0000, 1.0000, 0.0000, 0.0000],
                [0.5000, 0.0000, 0.5000, 0.0000],
                [0.0000, 1.0000, 0.0000, 0.0000],
                [0.0000, 0.0000, 0.0000, 0.0000]])

    Source:
        Ma et al. 2023, "Graph inductive biases in transformers without message passing".
    """
    if not torch.compiler.is_compiling():
        powers = check_encodings.columns(powers, "powers")
    graphs = edge_index, edge_weight, batch, num_nodes, shape, directed
    return _call("random_walk_pairs", *graphs, powers, [], None, padding, run)


def heat_kernel_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    times: float | list[float],
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    """The matrices of :func:`torchcent.heat_kernel_pairs` inside a model, as one operator.

    Args:
        shape, padding: as in :func:`random_walk_pairs`.
        Others: as in :func:`torchcent.heat_kernel_pairs`.

    Returns:
        Tensor [num_graphs, max_nodes, max_nodes, times].

    Raises:
        TypeError, ValueError, MemoryError: as in :func:`random_walk_pairs`.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> pair = torch.tensor([[0, 1], [1, 0]])
        >>> F.heat_kernel_pairs(pair, times=1.0, num_nodes=2, shape=(1, 2))[0, :, :, 0]
        tensor([[0.5677, 0.4323],
                [0.4323, 0.5677]])

    Source:
        Kondor and Lafferty 2002, "Diffusion kernels on graphs".
    """
    if torch.compiler.is_compiling():
        several = [float(times)] if isinstance(times, (int, float)) else times
    else:
        several = check_encodings.times(times)
        check_encodings.normalization(normalization)
    graphs = edge_index, edge_weight, batch, num_nodes, shape, directed
    return _call("heat_kernel_pairs", *graphs, 0, several, normalization, padding, run)


def resistance_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    shape: tuple[int, int],
    kind: str = "resistance",
    batch: Tensor | None = None,
    directed: bool | None = None,
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    """The matrices of :func:`torchcent.resistance_pairs` inside a model, as one operator.

    Args:
        shape, padding: as in :func:`random_walk_pairs`.
        Others: as in :func:`torchcent.resistance_pairs`.

    Returns:
        Tensor [num_graphs, max_nodes, max_nodes].

    Raises:
        TypeError, ValueError, MemoryError: as in :func:`random_walk_pairs`.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> F.resistance_pairs(path, num_nodes=3, shape=(1, 3), kind="hitting")
        tensor([[[0., 1., 4.],
                 [3., 0., 3.],
                 [4., 1., 0.]]])

    Source:
        Klein and Randic 1993; Chandra et al. 1996; Lovasz 1993, "Random walks on graphs".
    """
    if not torch.compiler.is_compiling():
        choice(kind, "kind", _diffusion.KINDS)
    graphs = edge_index, edge_weight, batch, num_nodes, shape, directed
    return _call("resistance_pairs", *graphs, 0, [], kind, padding, run)


def _call(
    name: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, shape: tuple[int, int], directed: bool | None, powers: int, times: list[float],
    form: str | None, padding: float, run: Run,
) -> Tensor:  # fmt: skip
    _, dtype = of_operator(run, name, "dtype")
    if not torch.compiler.is_compiling():
        tensors = {"edge_index": edge_index, "edge_weight": edge_weight, "batch": batch}
        check_graphs(tensors, num_nodes, shape, directed)
        padding = check_encodings.fill(padding, "padding", torch.float64)
    check_weights.no_gradient(edge_weight)
    num_graphs, max_nodes = shape
    with around(run):
        matrices: Tensor = torch.ops.torchcent.pairs(
            name, edge_index, edge_weight, batch, num_nodes, num_graphs, max_nodes, directed,
            powers, times, form, padding, dtype,
        )  # fmt: skip
    return matrices


def _columns(function: str, powers: int, times: list[float]) -> tuple[int, ...]:
    return {"random_walk_pairs": (powers,), "heat_kernel_pairs": (len(times),)}.get(function, ())


@torch.library.custom_op(
    "torchcent::pairs", mutates_args=(), schema=_SCHEMA, tags=(torch.Tag.cudagraph_unsafe,)
)
def _pairs(
    function: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, num_graphs: int, max_nodes: int, directed: bool | None, powers: int,
    times: list[float], form: str | None, padding: float, dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    shape = num_graphs, max_nodes, max_nodes, *_columns(function, powers, times)
    need = 8 * torch.Size(shape).numel()
    _memory.allow(f"shape={(num_graphs, max_nodes)}", need, None, edge_index.device)
    options: dict[str, Any] = {
        "edge_index": edge_index, "edge_weight": edge_weight, "batch": batch,
        "num_nodes": num_nodes, "directed": directed, "max_nodes": max_nodes, "padding": padding,
        "run": quiet() | Run(dtype=dtype),
    }  # fmt: skip
    if function == "random_walk_pairs":
        matrices = walks.random_walk_pairs(**options, powers=powers)
    elif function == "heat_kernel_pairs":
        matrices = _diffusion.heat_kernel_pairs(**options, times=times, normalization=form)
    else:
        matrices = _diffusion.resistance_pairs(**options, kind=form or "resistance")
    more = num_graphs - len(matrices)
    if more < 0:
        raise ValueError(f"shape has {num_graphs} graphs, but batch has {len(matrices)}")
    if more:
        matrices = torch.cat([matrices, matrices.new_full((more, *shape[1:]), padding)])
    return matrices


@_pairs.register_fake
def _(
    function: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, num_graphs: int, max_nodes: int, directed: bool | None, powers: int,
    times: list[float], form: str | None, padding: float, dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    shape = num_graphs, max_nodes, max_nodes, *_columns(function, powers, times)
    return edge_index.new_empty(shape, dtype=dtype)


def _no_backward(*_: Any) -> None:
    """Reports weights that require grad when the operator is called directly."""
    raise NotImplementedError(check_weights.NO_GRADIENT)


_pairs.register_autograd(_no_backward)
