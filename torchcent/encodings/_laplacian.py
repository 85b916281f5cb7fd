"""Eigenvectors of the Laplacian as positional encodings."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import within
from torchcent.encodings import _dense
from torchcent.encodings._arguments import network
from torchcent.encodings._spectra import Spectra, Spectrum
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph

_PER_GRAPH = {
    "functional": "the eigenvalues have a row per graph, whose number is not known when a model is "
    "compiled",
    "columns": "it is many columns, as many as k says",
    "command": "it is for models",
}


class LaplacianEncoding(NamedTuple):
    """Result of :func:`laplacian_encoding`.

    Attributes:
        vectors: [n, k], an eigenvector per column; 0 in columns that a graph does not have.
        values: [G, k], the eigenvalues of each graph, ascending; 0 where it has none.
        multiplicity: int64 [G, k], that of each eigenvalue in its graph; 0 where it has none.
    """

    vectors: Tensor
    values: Tensor
    multiplicity: Tensor


@measure(
    "vertices",
    "dtype",
    weights="conductances",
    undirected=True,
    without=NOT_IN_NETWORKX | _PER_GRAPH,
)
def laplacian_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    k: int,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    trivial: bool = False,
    flip: bool = False,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> LaplacianEncoding:
    r"""The eigenvectors of the k smallest eigenvalues of the Laplacian of each graph.

    .. math:: L = I - D^{-1/2} A D^{-1/2} \quad \text{or} \quad I - D^{-1} A
              \quad \text{or} \quad D - A

    The first eigenvalue of a graph is 0, and its eigenvector says nothing about positions: it is
    left out, as by PyTorch Geometric's ``AddLaplacianEigenvectorPE``.

    Args:
        edge_index, num_nodes, batch: as in :func:`effective_resistance`, also for a batch. Loops do
            not count.
        edge_weight: [E], the strength of each edge, finite and >= 0, where 0 is no edge; None uses
            1. Those of parallel arcs are added up.
        k: number of columns. A graph of n vertices has n - 1 of them, or n with `trivial`.
        directed: False adds missing reverse arcs. For directed graphs there is
            :func:`magnetic_encoding`.
        normalization: "sym", "rw" or None, in the order of the formula. Vertices without edges have
            a row of 0 in each.
        trivial: keep the first eigenvector.
        flip: give each column of each graph a random sign, for training.
        generator: draws the signs of `flip`; None uses PyTorch's own.
        run: how it is computed, see :class:`Run`.

    Eigenvectors are arbitrary up to their signs, and for a multiple eigenvalue up to rotations of
    its eigenspace. Here they follow a rule, which is the same on all devices. Each is the
    projection of the unit vector of a vertex onto what is left of the eigenspace, normalised. The
    eigenspace is that of L, with "rw" that of its symmetric form. The vertex is the one for which
    the projection is longest; of several the first. So the entry of largest magnitude is positive.
    Eigenvalues that differ by at most 1e-10 of the largest are one. In graphs of more than 2048
    vertices, an eigenspace that goes on for more than four vectors beyond the last column is cut.
    Then its multiplicity counts the vectors that were computed, and its basis is arbitrary; the
    eigenvalue 0 always has that of its whole eigenspace.

    Returns:
        LaplacianEncoding with `vectors` [n, k], of length 1 each, `values` [G, k] and
        `multiplicity` [G, k]. :func:`eigenspace_projections` does not depend on any basis.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    :math:`O(n^3)` time for graphs of up to 512 vertices, on CUDA 2048. Larger ones take an
    iteration of :math:`O(m)` time per step. On the CPU a sparse factor makes it short where
    separators are small, as in paths, trees, grids and roads. Up to 2048 vertices :math:`O(n^3)`
    time follows if the last column may cut an eigenspace. Up to 8192 a dense factor helps an
    iteration that is slow, if it fits into the memory. The encoding of a graph does not depend on
    the others of its batch.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> encoding = torchcent.laplacian_encoding(path, k=2, directed=False)
        >>> encoding.values
        tensor([[0.5000, 1.5000]])
        >>> encoding.vectors
        tensor([[ 0.5774,  0.5774],
                [ 0.4082, -0.4082],
                [-0.4082, -0.4082],
                [-0.5774,  0.5774]])

    Source:
        Belkin and Niyogi 2003, "Laplacian eigenmaps"; Dwivedi et al. 2023, "Benchmarking graph
        neural networks"; von Luxburg 2007 for the normalisations.
    """
    width = check_encodings.columns(k, "k")
    form = check_encodings.normalization(normalization)
    is_random, has_first = check.flag(flip, "flip"), check.flag(trivial, "trivial")
    source = check.random_generator(generator)
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run, "laplacian_encoding")
    vectors, values, multiplicity = leading(graph, width, form, has_first, run)
    if is_random:
        vectors = vectors * signs(graph, width, source)
    return LaplacianEncoding(vectors.to(run.dtype), values.to(run.dtype), multiplicity)


def as_in_pyg(
    options: dict[str, Any], k: int, form: str | None, trivial: bool, flip: bool
) -> tuple[Tensor, Tensor]:
    """Vectors and values with 1 on the diagonal of vertices without edges, if L is normalised."""
    graph = as_graph(**options, weights="conductances")
    check.undirected(graph, "laplacian_encoding")
    isolated = int(form is not None)
    vectors, values, _ = leading(graph, k, form, trivial, options["run"], isolated)
    return (vectors * signs(graph, k, None) if flip else vectors), values


def signs(graph: Graph, width: int, source: torch.Generator | None) -> Tensor:
    """Of each column, -1 or 1 for the vertices of a graph."""
    where = torch.device("cpu") if source is None else source.device
    drawn = torch.randint(2, (graph.num_graphs, width), generator=source, device=where)
    sign = (2.0 * drawn - 1).to(graph.device)
    return sign.expand(graph.num_nodes, -1) if graph.batch is None else sign[graph.batch]


def leading(
    graph: Graph, width: int, form: str | None, trivial: bool, run: Run, isolated: int = 0
) -> LaplacianEncoding:
    """The encoding with eigenvalues in float64, and 0 where there are none."""
    spectra = Spectra(graph, form, "laplacian_encoding", run.memory, run.progress, isolated)
    spectra.allow(8 * width * (graph.num_nodes + 2 * graph.num_graphs), False, width=width)
    values, multiplicity, vectors = spectra.leading(0 if trivial else 1, width, dtype=run.dtype)
    return LaplacianEncoding(vectors, values, multiplicity)


class EigenspaceProjections(NamedTuple):
    """Result of :func:`eigenspace_projections`.

    Attributes:
        projections: [G, k, N, N], symmetric matrices; 0 beyond the eigenspaces of a graph.
        values: [G, k], the eigenvalues, ascending; 0 where a graph has none.
        multiplicity: int64 [G, k], the ranks of the projections.
    """

    projections: Tensor
    values: Tensor
    multiplicity: Tensor


@computes("dtype")
def eigenspace_projections(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    k: int,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    max_nodes: int | None = None,
    run: Run = DEFAULT,
) -> EigenspaceProjections:
    r"""The projections onto the first k eigenspaces of the Laplacian of each graph.

    .. math:: P_i = \sum_{\lambda_j = \mu_i} u_j u_j^T

    for the distinct eigenvalues :math:`\mu_0 < \mu_1 < \dots`, the first of which is 0. Unlike
    eigenvectors they have no arbitrary sign or basis, as SignNet and BasisNet need.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        k: number of eigenspaces.
        normalization: "sym" or None, as in :func:`laplacian_encoding`; "rw" has those of "sym".
        max_nodes: N, at least the number of vertices of the largest graph, which is the default.
        run: how it is computed, see :class:`Run`.

    Returns:
        EigenspaceProjections with `projections` [G, k, N, N], `values` [G, k] and `multiplicity`
        [G, k]. Eigenvalues that differ by at most 1e-10 of the largest are one.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the result does not fit; raised before.

    :math:`O(n^3)` time per graph.

    Example:
        >>> import torch, torchcent
        >>> triangle = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> spaces = torchcent.eigenspace_projections(triangle, k=2, directed=False)
        >>> spaces.multiplicity
        tensor([[1, 2]])
        >>> spaces.projections[0, 1]
        tensor([[ 0.6667, -0.3333, -0.3333],
                [-0.3333,  0.6667, -0.3333],
                [-0.3333, -0.3333,  0.6667]])

    Source:
        Lim et al. 2023, "Sign and basis invariant networks for spectral graph representation
        learning".
    """
    count = check_encodings.columns(k, "k")
    form = check_encodings.normalization(normalization)
    graph = network(
        edge_index, edge_weight, num_nodes, batch, directed, run, "eigenspace_projections"
    )
    largest = int(_batch.counts(graph)[0].max(initial=0))
    width = check_encodings.width(max_nodes, largest)
    spectra = Spectra(
        graph, "sym" if form == "rw" else form, "eigenspace_projections", run.memory, run.progress
    )
    cells = graph.num_graphs * (count + 1) * width**2 + graph.num_nodes * largest  # at most
    spectra.allow(
        8 * cells, True, f", [{graph.num_graphs}, k={count}, max_nodes={width}, {width}],"
    )
    values, multiplicity, vectors = _first_spaces(spectra, count, largest)
    last = max(0, values.shape[1] - 1)
    begin = torch.zeros(graph.num_graphs, dtype=torch.int64, device=graph.device)
    shape = graph.num_graphs, count
    result = EigenspaceProjections(
        vectors.new_zeros(*shape, width, width), vectors.new_zeros(shape),
        multiplicity.new_zeros(shape),
    )  # fmt: skip
    columns = padded(graph, vectors, width)
    for place in range(count):
        has = begin < (multiplicity > 0).sum(1)
        first = begin.clamp(max=last)[:, None]
        size = torch.where(has, multiplicity.gather(1, first)[:, 0], 0) if largest else begin
        result.multiplicity[:, place] = size
        if largest:
            result.values[:, place] = torch.where(has, values.gather(1, first)[:, 0], 0)
        for j in range(int(size.max()) if size.numel() else 0):
            own = (begin + j).clamp(max=last)
            column = columns.gather(2, own[:, None, None].expand(-1, width, 1))[:, :, 0]
            column = torch.where((j < size)[:, None], column, 0)
            result.projections[:, place] += column[:, :, None] * column[:, None, :]
        begin = begin + size
    return result._replace(
        projections=result.projections.to(run.dtype), values=result.values.to(run.dtype)
    )


def _first_spaces(spectra: Spectra, count: int, largest: int) -> Spectrum:
    """Whole eigenspaces, as many as asked for; how many ranks these are turns out on the way."""
    ranks, width = _batch.sizes(spectra.graph), min(2 * count, largest)
    while True:
        spectrum = spectra.leading(0, width, canonical=False)
        size = torch.nn.functional.pad(spectrum.multiplicity, (0, 1))
        end = torch.zeros_like(ranks)
        for _ in range(count):
            following = size.gather(1, end.clamp(max=width)[:, None])[:, 0]
            end += torch.where(end < width, following, (end < ranks).long())  # at least one more
        needed = int(end.max()) if end.numel() else 0
        if needed <= width:
            return spectrum
        width = min(max(2 * width, needed), largest)


def padded(graph: Graph, values: Tensor, width: int) -> Tensor:
    """The rows of the vertices of each graph [num_graphs, width, ...], and zeros."""
    vertex = torch.arange(graph.num_nodes, device=graph.device)
    first = _batch.per_vertex(graph, _batch.ends(graph)[:-1])
    number = torch.zeros_like(vertex) if graph.batch is None else graph.batch
    rows = values.new_zeros(graph.num_graphs, width, *values.shape[1:])
    rows[number, vertex - first] = values
    return rows


class MagneticEncoding(NamedTuple):
    """Result of :func:`magnetic_encoding`.

    Attributes:
        vectors: complex [n, k], an eigenvector per column; 0 in columns that a graph does not have.
        values: [G, k], the eigenvalues of each graph, ascending; 0 where it has none.
        multiplicity: int64 [G, k], that of each eigenvalue in its graph; 0 where it has none.
    """

    vectors: Tensor
    values: Tensor
    multiplicity: Tensor


@computes("dtype")
def magnetic_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    k: int,
    q: float = 0.25,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    run: Run = DEFAULT,
) -> MagneticEncoding:
    r"""The eigenvectors of the k smallest eigenvalues of the magnetic Laplacian of each graph.

    .. math:: L = D_s - A_s \odot e^{2 \pi i q (B - B^T)}, \quad A_s = (A + A^T) / 2

    where B is 1 for each arc and :math:`D_s` has the sums of the rows of :math:`A_s`. For directed
    graphs: the phases of the complex entries say in which direction arcs lead. With "sym" it is
    :math:`D_s^{-1/2} L D_s^{-1/2}`.

    Args:
        edge_index, edge_weight, num_nodes, batch: as in :func:`laplacian_encoding`.
        k: number of columns, the first eigenvalue included.
        q: potential, from 0 (directions do not matter) to 0.25 (arcs turn the phase by 90 degrees).
        directed: None uses the arcs as given, False adds missing reverse arcs.
        normalization: "sym" or None.
        run: how it is computed, see :class:`Run`; its dtype is that of the parts of numbers.

    Bases of eigenspaces follow the rule of :func:`laplacian_encoding`: the entry of largest
    magnitude of a vector is real and positive.

    Returns:
        MagneticEncoding with `vectors` [n, k], `values` [G, k] and `multiplicity` [G, k].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the dense matrix of the largest graph does not fit.

    :math:`O(n^3)` time per graph.

    Example:
        >>> import torch, torchcent
        >>> arc = torch.tensor([[0], [1]])
        >>> torchcent.magnetic_encoding(arc, k=1).vectors.imag[:, 0]
        tensor([ 0.0000, -0.7071])

    Source:
        Furutani et al. 2019; Zhang et al. 2021, "MagNet"; Geisler et al. 2023, "Transformers meet
        directed graphs".
    """
    width = check_encodings.columns(k, "k")
    potential = within(q, "q", "[0, 0.25]")
    form = check_encodings.normalization(normalization)
    if form == "rw":
        raise ValueError('normalization="rw" has no magnetic form; pass "sym" or None')
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run)
    spectra = Spectra(graph, form, "magnetic_encoding", run.memory, run.progress)
    spectra.allow(24 * width * (graph.num_nodes + graph.num_graphs), True)
    shape = graph.num_graphs, width
    values = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    multiplicity = torch.zeros(shape, dtype=torch.int64, device=graph.device)
    vectors = values.new_zeros(graph.num_nodes, width, dtype=torch.complex128)
    _dense.magnetic(graph, potential, form == "sym", (values, multiplicity, vectors))
    kind = torch.complex64 if run.dtype == torch.float32 else torch.complex128
    return MagneticEncoding(vectors.to(kind), values.to(run.dtype), multiplicity)
