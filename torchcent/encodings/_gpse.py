"""The encodings that GPSE learns, in one call."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check._patterns import Pattern
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.encodings._diffusion import of_vertices
from torchcent.encodings._laplacian import leading
from torchcent.encodings._spectra import ELECTROSTATIC
from torchcent.graph import _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph, graph_of
from torchcent.patterns._counts import counts
from torchcent.walks._returns import return_probabilities

_LONGEST_CYCLE = 8


class GpseEncodings(NamedTuple):
    """Result of :func:`gpse_encodings`.

    Attributes:
        vectors: [n, k], eigenvectors of the Laplacian, as :func:`laplacian_encoding`.
        values: [G, k], their eigenvalues; 0 where a graph has none.
        random_walk: [n, steps], as :func:`random_walk_encoding`.
        heat_kernel: [n, steps], as :func:`heat_kernel_encoding` at times 1, 2, ..., without the
            eigenvalue 0.
        electrostatic: [n, 7], as :func:`electrostatic_encoding`.
        cycles: int64 [G, 6], the numbers of cycles of 3 to 8 vertices of each graph.
    """

    vectors: Tensor
    values: Tensor
    random_walk: Tensor
    heat_kernel: Tensor
    electrostatic: Tensor
    cycles: Tensor


@computes("dtype")
def gpse_encodings(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    k: int = 4,
    steps: int = 20,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = None,
    run: Run = DEFAULT,
) -> GpseEncodings:
    """The encodings of vertices and graphs that GPSE learns, of all graphs of a batch.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
            Cycles do not depend on weights.
        k: eigenvectors of the Laplacian.
        steps: those of random walks, and times of heat kernels.
        normalization: of the Laplacian, as in :func:`laplacian_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        GpseEncodings, whose parts are those of the functions that it names.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the dense matrix of the largest graph does not fit.

    Example:
        >>> import torch, torchcent
        >>> hexagon = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
        >>> torchcent.gpse_encodings(hexagon, directed=False).cycles
        tensor([[0, 0, 0, 1, 0, 0]])

    Source:
        Canturk et al. 2024, "Graph positional and structural encoder".
    """
    width, count = check_encodings.columns(k, "k"), check_encodings.columns(steps, "steps")
    form = check_encodings.normalization(normalization)
    whole = graph_of(edge_index, edge_weight, num_nodes, batch, directed, run, "conductances")
    network = as_graph(whole, run=run, weights="conductances")
    check.undirected(network, "gpse_encodings")
    vectors, values, _ = leading(network, width, form, False, run)
    times = [float(t) for t in range(1, count + 1)]
    heat_form = "sym" if form == "rw" else form
    heat = of_vertices(network, heat_form, "heat", times, True, count, run)
    potentials = of_vertices(network, None, "electrostatic", [0.0], False, ELECTROSTATIC, run)
    walks = return_probabilities(as_graph(whole, run=run, weights="strengths"), count, run)
    sizes = range(3, _LONGEST_CYCLE + 1)
    cycles = [Pattern("cycle", size) for size in sizes]
    of_vertex = counts(whole.unweighted(), cycles, False, False, run)
    length = torch.tensor(list(sizes), device=of_vertex.device)
    of_graph = of_vertex.new_zeros(whole.num_graphs, len(sizes))
    number = _batch.of_graph(whole, torch.arange(whole.num_nodes, device=of_vertex.device))
    of_graph.index_add_(0, number, of_vertex)
    dtype = run.dtype
    return GpseEncodings(
        vectors.to(dtype), values.to(dtype), walks.to(dtype), heat.to(dtype), potentials.to(dtype),
        of_graph // length,
    )  # fmt: skip
