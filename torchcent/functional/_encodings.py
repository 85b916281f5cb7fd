"""The distances of all pairs as an operator, of a shape that its arguments determine."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, Run, around, of_operator, quiet
from torchcent.check._values import dense, integer, number, wrong_type, wrong_value
from torchcent.graph import Graph
from torchcent.pairs._encoding import shortest_path_encoding as encoding
from torchcent.runtime import _memory

_SCHEMA = """(
    Tensor edge_index, Tensor? edge_weight, Tensor? batch, SymInt num_nodes, SymInt num_graphs,
    SymInt max_nodes, bool? directed, float cutoff, float[] fills, ScalarType dtype
) -> Tensor"""


def shortest_path_encoding(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    max_nodes: int,
    num_graphs: int = 1,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: float | None = None,
    unreachable: float = -1,
    padding: float = -1,
    dtype: torch.dtype | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """The matrices of :func:`torchcent.shortest_path_encoding` inside a model, as one operator.

    The arguments determine the shape [num_graphs, max_nodes, max_nodes]. Rows beyond a graph, and
    graphs beyond those of the batch, have the value `padding`.

    Args:
        num_graphs: at least the number of graphs of `batch`.
        max_nodes: at least the number of vertices of each graph.
        dtype: None uses int64, an index of ``torch.nn.Embedding``; with weights
            ``torch.get_default_dtype()``.
        Others: as in :func:`torchcent.shortest_path_encoding`.

    Returns:
        Tensor [num_graphs, max_nodes, max_nodes].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> F.shortest_path_encoding(path, num_nodes=3, max_nodes=4)
        tensor([[[ 0,  1,  2, -1],
                 [ 1,  0,  1, -1],
                 [ 2,  1,  0, -1],
                 [-1, -1, -1, -1]]])
    """
    of_operator(run, "shortest_path_encoding")
    if not torch.compiler.is_compiling():
        for tensor, name in (
            (edge_index, "edge_index"),
            (edge_weight, "edge_weight"),
            (batch, "batch"),
        ):
            if not isinstance(tensor, Tensor) and (tensor is not None or name == "edge_index"):
                raise wrong_type(name, "a torch.Tensor", tensor)
            if isinstance(tensor, Tensor):
                dense(tensor, name)
        sizes = ((num_nodes, "num_nodes"), (max_nodes, "max_nodes"), (num_graphs, "num_graphs"))
        for value, name in sizes:
            if isinstance(value, torch.SymInt):
                continue
            if not (name == "num_graphs") <= integer(value, name) < 2**31:
                raise wrong_value(name, "from 0, of num_graphs 1, to 2^31 - 1", value)
        check_encodings.cutoff(cutoff)
        if directed is not None:
            check.flag(directed, "directed")
        unreachable, padding = number(unreachable, "unreachable"), number(padding, "padding")
        if cutoff is not None:
            cutoff = number(cutoff, "cutoff")
        if dtype is not None and not isinstance(dtype, torch.dtype):
            raise wrong_type("dtype", "a torch.dtype", dtype)
    check_weights.no_gradient(edge_weight)
    if dtype is None:
        dtype = torch.int64 if edge_weight is None else torch.get_default_dtype()
    with around(run):
        matrices: Tensor = torch.ops.torchcent.shortest_path_matrices(
            edge_index, edge_weight, batch, num_nodes, num_graphs, max_nodes, directed,
            math.inf if cutoff is None else cutoff, [unreachable, padding], dtype,
        )  # fmt: skip
    return matrices


@torch.library.custom_op(
    "torchcent::shortest_path_matrices", mutates_args=(), schema=_SCHEMA,
    tags=(torch.Tag.cudagraph_unsafe,),
)  # fmt: skip
def _matrices(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    num_graphs: int, max_nodes: int, directed: bool | None, cutoff: float, fills: list[float],
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    ptr = None
    if batch is None:
        ptr = edge_index.new_tensor([0, num_nodes], dtype=torch.int64)
    graph = Graph.from_edge_index(
        edge_index, num_nodes, directed is not False, edge_weight=edge_weight, batch=batch, ptr=ptr
    )
    if graph.num_graphs > num_graphs:
        raise ValueError(f"num_graphs={num_graphs}, but batch has {graph.num_graphs} graphs")
    need = num_graphs * max_nodes**2 * dtype.itemsize
    limit = _memory.budget(None, graph.device)
    _memory.require(f"num_graphs={num_graphs}, max_nodes={max_nodes}", need, limit, None)
    matrices = encoding(
        graph, cutoff=cutoff, max_nodes=max_nodes, unreachable=fills[0], padding=fills[1],
        dtype=dtype, run=quiet(),
    ).distance  # fmt: skip
    more = num_graphs - len(matrices)
    if more:
        matrices = torch.cat([matrices, matrices.new_full((more, *matrices.shape[1:]), fills[1])])
    return matrices


@_matrices.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    num_graphs: int, max_nodes: int, directed: bool | None, cutoff: float, fills: list[float],
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty((num_graphs, max_nodes, max_nodes), dtype=dtype)


def _no_backward(*_: object) -> None:
    raise NotImplementedError(check_weights.NO_GRADIENT)


_matrices.register_autograd(_no_backward)
