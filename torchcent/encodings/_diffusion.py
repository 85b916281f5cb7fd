"""Encodings by functions of the whole spectrum: heat kernels, densities, potentials, walks."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import choice
from torchcent.encodings._arguments import network
from torchcent.encodings._laplacian import padded
from torchcent.encodings._spectra import ELECTROSTATIC, Spectra
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike
from torchcent.walks import _matrix

_MANY = {"columns": "it is many columns"}
#: what computes a function of vertices, for errors and progress bars
_TITLES = {
    "heat": "heat_kernel_encoding", "density": "spectral_density",
    "electrostatic": "electrostatic_encoding",
}  # fmt: skip
KINDS = ("resistance", "commute", "hitting", "inverse")


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    without=NOT_IN_NETWORKX | _MANY | {"command": "it is for models"},
    width=lambda options: len(check_encodings.times(options["times"])),
)  # fmt: skip
def heat_kernel_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    times: float | list[float],
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    trivial: bool = True,
    run: Run = DEFAULT,
) -> Tensor:
    r"""How much of a unit of heat is still at each vertex after some times.

    .. math:: E_{vt} = (e^{-t L})_{vv} = \sum_j e^{-t \lambda_j} u_j(v)^2

    where :math:`\lambda_j` and :math:`u_j` are the eigenvalues and eigenvectors of L.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        times: t, a number >= 0 or several, a column each.
        normalization: of L, as in :func:`laplacian_encoding`; "rw" has the values of "sym".
        trivial: count the eigenvalue 0, too, to which the values tend otherwise. Without, they tend
            to 0, as in GraphGPS and GPSE.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, times].

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the dense matrix of the largest graph does not fit.

    :math:`O(n^3)` time per graph.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.heat_kernel_encoding(path, times=[1, 4], directed=False)
        tensor([[0.4678, 0.2592],
                [0.5677, 0.5002],
                [0.4678, 0.2592]])

    Source:
        Kreuzer et al. 2021, "Rethinking graph transformers with spectral attention"; Rampasek et
        al. 2022, "Recipe for a general, powerful, scalable graph transformer".
    """
    moments = check_encodings.times(times)
    form = check_encodings.normalization(normalization)
    nontrivial = not check.flag(trivial, "trivial")
    graph = network(
        edge_index, edge_weight, num_nodes, batch, directed, run, "heat_kernel_encoding"
    )
    form = "sym" if form == "rw" else form
    out = of_vertices(graph, form, "heat", moments, nontrivial, len(moments), run)
    return out.to(run.dtype)


@measure(
    "vertices", "dtype", weights="conductances", undirected=True, without=NOT_IN_NETWORKX | _MANY,
    width=lambda options: options["bins"],
)  # fmt: skip
def spectral_density(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    bins: int = 16,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The local density of states: how much of each vertex is in each part of the spectrum.

    .. math:: E_{vb} = \sum_{\lambda_j \in (2 b / B,\; 2 (b + 1) / B]} u_j(v)^2

    for the eigenvectors :math:`u_j` of the symmetric Laplacian, whose spectrum lies between 0
    and 2. The eigenvalue 0 counts in the first part. Rows sum to 1.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        bins: B, the number of parts.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, bins].

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the dense matrix of the largest graph does not fit.

    :math:`O(n^3)` time per graph. An eigenvalue at the bound of two parts is counted in the lower
    one if it is within 1e-9.

    Example:
        >>> import torch, torchcent
        >>> edge = torch.tensor([[0], [1]])
        >>> torchcent.spectral_density(edge, bins=4, directed=False)
        tensor([[0.5000, 0.0000, 0.0000, 0.5000],
                [0.5000, 0.0000, 0.0000, 0.5000]])

    Source:
        Dong, Benson and Bindel 2019, "Network density of states".
    """
    parts = check_encodings.columns(bins, "bins")
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run, "spectral_density")
    upper = [2 * (b + 1) / parts + 1e-9 for b in range(parts)]
    return of_vertices(graph, "sym", "density", upper, False, parts, run).to(run.dtype)


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    without=NOT_IN_NETWORKX | _MANY | {"command": "it is for models"},
    width=lambda options: ELECTROSTATIC,
)  # fmt: skip
def electrostatic_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Statistics of the potentials between vertices, as in GPSE.

    .. math:: E_{uv} = L^+_{uv} - L^+_{vv}

    where :math:`L^+` is the pseudo-inverse of the plain Laplacian D - A. Of each vertex v the first
    three columns are the minimum, mean and standard deviation of :math:`E_{uv}` over u. Then come
    the minimum and standard deviation of :math:`E_{vu}`. The last two are the sums over u of
    :math:`P_{uv} E_{uv}` and of :math:`P_{vu} E_{vu}`, with :math:`P = D^{-1} A`.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, 7]; 0 in graphs without edges. Standard deviations are divided by n - 1.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the dense matrix of the largest graph does not fit.

    :math:`O(n^3)` time per graph.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.electrostatic_encoding(path, directed=False)[1]
        tensor([-0.3333, -0.2222,  0.1925, -0.6667,  0.3849, -0.6667, -0.6667])

    Source:
        Canturk et al. 2024, "Graph positional and structural encoder".
    """
    graph = network(
        edge_index, edge_weight, num_nodes, batch, directed, run, "electrostatic_encoding"
    )
    out = of_vertices(graph, None, "electrostatic", [0.0], False, ELECTROSTATIC, run)
    return out.to(run.dtype)


@computes("dtype")
def heat_kernel_pairs(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    times: float | list[float],
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalization: str | None = "sym",
    max_nodes: int | None = None,
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The heat kernels of the pairs of each graph of a batch, as padded matrices.

    .. math:: E_{guvt} = (e^{-t L})_{uv}

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        times: t, a number >= 0 or several, the last dimension of the result.
        normalization: of L: "sym" or None, as in :func:`laplacian_encoding`. With "rw" it is that
            of a walk in continuous time, from u to v.
        max_nodes, padding: as in :func:`shortest_path_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [G, N, N, times]; 0 for pairs that no path joins.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the result does not fit; raised before.

    Example:
        >>> import torch, torchcent
        >>> edge = torch.tensor([[0], [1]])
        >>> torchcent.heat_kernel_pairs(edge, times=1, directed=False)[0, :, :, 0]
        tensor([[0.5677, 0.4323],
                [0.4323, 0.5677]])

    Source:
        Kondor and Lafferty 2002, "Diffusion kernels on graphs".
    """
    moments = check_encodings.times(times)
    form = check_encodings.normalization(normalization)
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run, "heat_kernel_pairs")
    own = "sym" if form == "rw" else form
    out = _of_pairs(graph, own, "heat", moments, max_nodes, padding, run)
    if form == "rw":  # D^(-1/2) exp(-t L) D^(1/2)
        strength = _matrix.strength(graph.weight, graph.rowptr)
        root = padded(graph, torch.where(strength > 0, strength, 1).sqrt(), out.shape[1])
        is_pair = (root[:, :, None] > 0) & (root[:, None, :] > 0)
        out *= torch.where(is_pair, root[:, None, :] / root[:, :, None], 1)[..., None]
    return out.to(run.dtype)


@computes("dtype")
def resistance_pairs(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    kind: str = "resistance",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    max_nodes: int | None = None,
    padding: float = 0.0,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Effective resistances, or times of random walks, of the pairs of each graph of a batch.

    .. math:: R_{uv} &= L^+_{uu} + L^+_{vv} - 2 L^+_{uv}, \\
              C_{uv} &= R_{uv} \textstyle\sum_w d_w, \\
              H_{uv} &= \textstyle\sum_w d_w (L^+_{uw} - L^+_{uv} - L^+_{vw} + L^+_{vv})

    with the pseudo-inverse :math:`L^+` of the plain Laplacian D - A and the strengths d; sums are
    over the vertices of their component.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`laplacian_encoding`.
        kind: "resistance" R; "commute", the expected steps C of a random walk from u to v and back;
            "hitting", those H from u to v; "inverse", :math:`L^+` itself.
        max_nodes, padding: as in :func:`shortest_path_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [G, N, N]; inf for pairs that no path joins (0 with "inverse").

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: the result does not fit; raised before.

    :math:`O(n^3)` time per graph, for all eigenvectors. Where weights differ by factors of more
    than 1e6, small resistances and times lose digits, down to none; :func:`effective_resistance`
    keeps them. It is also for chosen pairs of large graphs.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.resistance_pairs(path, kind="hitting", directed=False)[0]
        tensor([[0., 1., 4.],
                [3., 0., 3.],
                [4., 1., 0.]])

    Source:
        Klein and Randic 1993; Chandra et al. 1996; Lovasz 1993, "Random walks on graphs".
    """
    function = choice(kind, "kind", KINDS)
    graph = network(edge_index, edge_weight, num_nodes, batch, directed, run, "resistance_pairs")
    return _of_pairs(graph, None, function, [0.0], max_nodes, padding, run)[..., 0].to(run.dtype)


def of_vertices(
    graph: Graph, form: str | None, function: str, times: list[float], nontrivial: bool,
    columns: int, run: Run,
) -> Tensor:  # fmt: skip
    spectra = Spectra(graph, form, _TITLES[function], run.memory, run.progress)
    spectra.allow(8 * columns * graph.num_nodes, True)
    out = torch.zeros(graph.num_nodes, columns, dtype=torch.float64, device=graph.device)
    spectra.sums(function, _numbers(graph, times), nontrivial, out)
    return out


def _of_pairs(
    graph: Graph, form: str | None, function: str, times: list[float], max_nodes: int | None,
    padding: float, run: Run,
) -> Tensor:  # fmt: skip
    sizes = _batch.counts(graph)[0]
    width = check_encodings.width(max_nodes, int(sizes.max(initial=0)))
    fill = check_encodings.fill(padding, "padding", torch.float64)
    shape = graph.num_graphs, width, width, len(times)
    title = "heat_kernel_pairs" if function == "heat" else "resistance_pairs"
    spectra = Spectra(graph, form, title, run.memory, run.progress)
    spectra.allow(
        8 * graph.num_graphs * width**2 * len(times), True,
        f", [{graph.num_graphs}, max_nodes={width}, {width}, {len(times)}],",
    )  # fmt: skip
    out = torch.full(shape, fill, dtype=torch.float64, device=graph.device)
    spectra.sums(function, _numbers(graph, times), False, out)
    return out


def _numbers(graph: Graph, times: list[float]) -> Tensor:
    return torch.tensor(times, dtype=torch.float64, device=graph.device)
