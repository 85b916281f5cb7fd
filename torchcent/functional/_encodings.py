"""The distances of all pairs as an operator, of a shape that its arguments determine."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, around, of_operator, quiet
from torchcent.check._values import dense, integer, wrong_type, wrong_value
from torchcent.graph import Graph
from torchcent.pairs._encoding import shortest_path_encoding as encoding
from torchcent.runtime import _memory

_SCHEMA = """(
    Tensor edge_index, Tensor? batch, SymInt num_nodes, SymInt num_graphs, SymInt max_nodes,
    bool? directed, float cutoff
) -> Tensor"""
_ABSENT = -1  # of pairs without a path within the cutoff, and of rows beyond a graph


def shortest_path_encoding(
    edge_index: Tensor,
    *,
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: float | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """The matrices of :func:`torchcent.shortest_path_encoding` inside a model, as one operator.

    They hold hops. Pairs without a path within the cutoff, rows beyond a graph, and graphs beyond
    those of the batch have the value -1.

    Args:
        shape: (num_graphs, max_nodes), at least the number of graphs of `batch` and the number of
            vertices of each. Beside `num_nodes` it determines the shape of the result.
        Others: as in :func:`torchcent.shortest_path_encoding`.

    Returns:
        int64 Tensor [num_graphs, max_nodes, max_nodes].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the result needs more than half of the free memory.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> F.shortest_path_encoding(path, num_nodes=3, shape=(1, 4))
        tensor([[[ 0,  1,  2, -1],
                 [ 1,  0,  1, -1],
                 [ 2,  1,  0, -1],
                 [-1, -1, -1, -1]]])

    Source:
        Ying et al. 2021, "Do transformers really perform badly for graph representation?"
    """
    of_operator(run, "shortest_path_encoding")
    if not torch.compiler.is_compiling():
        tensors = {"edge_index": edge_index, "batch": batch}
        check_graphs(tensors, num_nodes, shape, directed)
    num_graphs, max_nodes = shape
    limit = check_encodings.cutoff(cutoff)
    with around(run):
        matrices: Tensor = torch.ops.torchcent.shortest_path_matrices(
            edge_index, batch, num_nodes, num_graphs, max_nodes, directed, limit
        )
    return matrices


def check_graphs(
    tensors: Mapping[str, object], num_nodes: object, shape: object, directed: object
) -> None:
    """Checks what the operator's schema would report in PyTorch's words."""
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor):
            dense(tensor, name)
        elif tensor is not None or name == "edge_index":
            raise wrong_type(name, "a torch.Tensor", tensor)
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise wrong_type("shape", "(num_graphs, max_nodes)", shape)
    for size, name in ((num_nodes, "num_nodes"), (shape[0], "shape"), (shape[1], "shape")):
        if not isinstance(size, torch.SymInt) and not 0 <= integer(size, name) < 2**31:
            raise wrong_value(name, "from 0 to 2^31 - 1", size)
    if directed is not None:
        check.flag(directed, "directed")


@torch.library.custom_op(
    "torchcent::shortest_path_matrices", mutates_args=(), schema=_SCHEMA,
    tags=(torch.Tag.cudagraph_unsafe,),
)  # fmt: skip
def _matrices(
    edge_index: Tensor, batch: Tensor | None, num_nodes: int, num_graphs: int, max_nodes: int,
    directed: bool | None, cutoff: float,
) -> Tensor:  # fmt: skip
    need = 8 * num_graphs * max_nodes**2
    _memory.allow(f"shape={(num_graphs, max_nodes)}", need, None, edge_index.device)
    ptr = None
    if batch is None:
        ptr = edge_index.new_tensor([0, num_nodes], dtype=torch.int64)
    graph = Graph.from_edge_index(
        edge_index, num_nodes, directed is not False, batch=batch, ptr=ptr
    )
    if graph.num_graphs > num_graphs:
        raise ValueError(f"shape has {num_graphs} graphs, but batch has {graph.num_graphs}")
    matrices = encoding(
        graph, cutoff=cutoff, max_nodes=max_nodes, dtype=torch.int64, run=quiet()
    ).distance
    more = num_graphs - len(matrices)
    if more:
        matrices = torch.cat([matrices, matrices.new_full((more, *matrices.shape[1:]), _ABSENT)])
    return matrices


@_matrices.register_fake
def _(
    edge_index: Tensor, batch: Tensor | None, num_nodes: int, num_graphs: int, max_nodes: int,
    directed: bool | None, cutoff: float,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty((num_graphs, max_nodes, max_nodes), dtype=torch.int64)
