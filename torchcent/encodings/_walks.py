"""Relative random-walk probabilities: the powers of P for all pairs of each graph."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.encodings._arguments import network
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike
from torchcent.runtime import _memory, _ops, _small
from torchcent.runtime._codes import control
from torchcent.runtime._watch import at_work, progress_bar
from torchcent.walks import _matrix
from torchcent.walks._matrix import Part

_TITLE = "random_walk_pairs"
_BYTES = 2**27  # of the matrices that are multiplied together
_QUICK = 2e8  # entries of the result times slots of a vertex


@computes("dtype")
def random_walk_pairs(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    powers: int,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    max_nodes: int | None = None,
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The probabilities of random walks between the pairs of each graph of a batch (RRWP).

    .. math:: E_{guvk} = (P^k)_{uv}, \quad P_{uv} = w_{uv} \Big/ \sum_x w_{ux}

    for k = 0, ..., `powers` - 1: the relative encoding of GRIT, as padded matrices.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`random_walk_encoding`,
            whose values are on the diagonals.
        powers: the last dimension of the result; the first power is the unit matrix.
        max_nodes, padding: as in :func:`shortest_path_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [G, N, N, powers], from the vertex of the row to that of the column.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the result does not fit; raised before.

    The work of a graph is k n m.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.random_walk_pairs(path, powers=3, directed=False)[0, :, :, 2]
        tensor([[0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000],
                [0.5000, 0.0000, 0.5000]])

    Source:
        Ma et al. 2023, "Graph inductive biases in transformers without message passing".
    """
    count = check_encodings.columns(powers, "powers")
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    sizes = _batch.counts(graph)[0]
    width = check_encodings.width(max_nodes, int(sizes.max(initial=0)))
    fill = check_encodings.fill(padding, "padding", torch.float64)
    shape = graph.num_graphs, width, width, count
    need = graph._nbytes + 8 * int(np.prod(shape, dtype=object)) + 24 * graph.num_slots
    need += 8 * 16 * int(sizes.max(initial=0)) * torch.get_num_threads()
    need += 0 if _has_kernel(graph) else _BYTES
    if run.memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        what = f"{_TITLE}, [{graph.num_graphs}, max_nodes={width}, {width}, powers={count}],"
        _memory.require(what, need, _room.limit(graph, run.memory), run.memory)
    out = torch.full(shape, fill, dtype=torch.float64, device=graph.device)
    if out.numel():
        _fill(graph, out, run)
    return out.to(run.dtype)


def _fill(graph: Graph, out: Tensor, run: Run) -> None:
    strength = _matrix.strength(graph.weight, graph.rowptr)
    if not _has_kernel(graph):
        _multiply(graph, strength, out)
        return
    record, threads = control(), torch.get_num_threads()
    quick = float(out.numel()) * graph.num_slots / max(1, graph.num_nodes) < _QUICK
    arcs = (graph.rowptr, graph.col, graph.weight, strength, _batch.ends(graph))

    def work() -> None:
        _ops.ops.walk_pairs(*arcs, out, record, threads)

    with progress_bar(graph.num_nodes, _TITLE, run.progress, quick, "vertices") as bar:
        at_work(work, record, bar, graph.device, quick)
        bar.update(graph.num_nodes - bar.n)


def _multiply(graph: Graph, strength: Tensor, out: Tensor) -> None:
    """By products of dense matrices of one size."""
    sizes = _batch.counts(graph)[0]
    share = _small.repeat_interleave(torch.where(strength > 0, 1 / strength, 0), graph.degree)
    value = share if graph.weight is None else share * graph.weight
    numbers = np.flatnonzero(sizes > 0)
    for size, some in _matrix.alike(numbers, sizes[numbers], _BYTES // (4 * 8)):
        step = Part.of(graph, some).matrices(graph.rowptr, graph.col, value, size)
        place = torch.from_numpy(some).to(graph.device)
        power = torch.eye(size, dtype=torch.float64, device=graph.device).repeat(len(some), 1, 1)
        for k in range(out.shape[3]):
            out[place, :size, :size, k] = power
            power = _product(step, power)


def _product(one: Tensor, other: Tensor) -> Tensor:
    """The products of matrices, of bits that do not depend on how many there are of them."""
    total = torch.zeros_like(other)
    for k in range(one.shape[2]):
        total.addcmul_(one[:, :, k, None], other[:, k, None, :])
    return total


def _has_kernel(graph: Graph) -> bool:
    return _ops.has_kernel("walk_pairs", graph.device)
