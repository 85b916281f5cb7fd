"""Ollivier-Ricci curvature of edges."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run
from torchcent.curvature import _problems, _transport
from torchcent.curvature._cycles import mirrored
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _ops, _small
from torchcent.runtime._codes import CANCEL, DONE, control
from torchcent.runtime._watch import at_work, progress_bar

METHODS = ("exact", "sinkhorn")
_QUICK = 2**22  # pairs of neighbours of both ends up to which there is no bar
_FEW = 2**14  # the same on tensors
_PER_PAIR = 160  # bytes for each pair of a row and a column on tensors, at most


@measure("edges", "dtype", undirected=True, choices={"method": METHODS}, without=NOT_IN_NETWORKX)
def ollivier_ricci_curvature(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    alpha: float = 0.5,
    method: str = "exact",
    regularization: float = 0.1,
    tol: float = 1e-3,
    max_iter: int = 10000,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Ollivier-Ricci curvature of edges: how much closer the neighbours of both ends are.

    .. math:: \kappa(u, v) = 1 - \frac{W_1(m_u, m_v)}{d(u, v)}

    where :math:`W_1` is the least cost of moving the mass :math:`m_u` to :math:`m_v`. A vertex has
    the mass `alpha` at itself, and its neighbours have equal shares of 1 - `alpha`. Without
    weights values equal those of GraphRicciCurvature's ``OllivierRicci``.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library (docs/inputs.md). Every arc
            needs its reverse; directed=False adds those missing. Loops are dropped, parallel arcs
            are one edge.
        edge_weight: [E], the **length** of each edge, finite and > 0; None counts hops. Distances
            are lengths of shortest paths, also d(u, v). Shares do not depend on lengths, as with
            ``exp_power=0`` of GraphRicciCurvature, whose default prefers close neighbours.
        alpha: the mass that stays at a vertex, in [0, 1].
        method: "exact", or "sinkhorn" for approximate values by Sinkhorn's iterations, which are
            matrix operations and run on CUDA.
        regularization: of "sinkhorn", the weight of the entropy as a share of the largest distance;
            smaller values are more accurate and take more iterations.
        tol: of "sinkhorn", the share of the mass up to which a plan is right, at most.
        max_iter: of "sinkhorn", the most iterations, up to 1,000,000.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Values are those of each graph alone.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [E], one value per column of edge_index (per input column of a Graph). Both columns
        of an edge have its value, and loops 0.

    Raises:
        TypeError, ValueError: an argument is invalid, the graph is directed, or Sinkhorn's
            iterations do not converge.
        MemoryError: ``Run(memory=)`` is too small, as it may be for two hubs that are adjacent;
            raised before any computation.

    Exact values are from compiled code on the CPU, an edge per task, also for graphs on CUDA.
    Masses are whole numbers. By hops the cost is then exact if alpha is 0 or at least 1 / (d + 1),
    where d is the larger degree. Otherwise alpha is rounded at the 50th binary digit or later. A
    pair of neighbours of both ends takes a quarter of a byte, with weights 8 bytes. Without the
    compiled extension each edge is a linear programme of SciPy, right up to 1e-7. With weights the
    neighbours of one end are searched from, which takes minutes around hubs of 1,000. Values of
    "sinkhorn" may differ in the last digits with the number of threads and the other graphs of a
    batch.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.ollivier_ricci_curvature(path, directed=False)
        tensor([0.5000, 0.0000, 0.5000])

    Source:
        Ollivier 2009, "Ricci curvature of Markov chains on metric spaces"; Lin, Lu and Yau 2011.
        The dependence on alpha: Bourne et al. 2018, "Ollivier-Ricci idleness functions of graphs".
        Sinkhorn's iterations: Cuturi 2013.
    """
    idle = check_values.within(alpha, "alpha", "[0, 1]")
    check.choice(method, "method", METHODS)
    entropy = check_values.within(regularization, "regularization", "(0, inf)", "finite and > 0")
    bound, most = check.tolerance(tol), check.iterations(max_iter)
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    check.undirected(graph, "ollivier_ricci_curvature")
    if method == "sinkhorn":
        curvature = _on_tensors(graph, idle, run, entropy, bound, most)
    elif not _ops.has_kernel("ollivier", torch.device("cpu")):
        curvature = _on_tensors(graph, idle, run)
    else:
        curvature = _compiled(graph.to("cpu"), idle, run).to(graph.device)
    return _csr.of_columns(curvature, graph.slot).to(run.dtype)


def _compiled(graph: Graph, alpha: float, run: Run) -> Tensor:
    """float64 [num_slots]."""
    curvature = torch.zeros(graph.num_slots, dtype=torch.float64, device="cpu")
    if not graph.num_slots:
        return curvature
    u, v = graph.degree[_small.repeat_interleave(graph.degree)], graph.degree[graph.col.long()]
    least, largest = torch.minimum(u, v), torch.maximum(u, v)
    # For each pair two bits or a length, and lists of rows and columns.
    pairs = 8 * (least + 2) if graph.is_weighted else (least + 2 + 63) // 64 * 16
    own = 48 * graph.num_nodes + int(((largest + 2) * (pairs + 192)).max())
    threads = _threads(graph, 32 * graph.num_slots, own, run)
    record, quick = control(), float((u * v).sum()) < _QUICK

    def work() -> None:
        _ops.ops.ollivier(graph.rowptr, graph.col, graph.weight, alpha, curvature, record, threads)

    title = "ollivier_ricci_curvature"
    with progress_bar(graph.num_slots, title, run.progress, quick, "arcs") as bar:
        at_work(work, record, bar, graph.device, quick)
    return mirrored(graph, curvature)


def _threads(graph: Graph, shared: int, own: int, run: Run) -> int:
    """As many as there is memory for: `shared` bytes, and `own` for each."""
    threads = torch.get_num_threads()
    need = graph._nbytes + shared + threads * own
    if run.memory is None and need < _memory.SMALL_RUN["cpu"]:
        return threads
    what = f"ollivier_ricci_curvature of {graph.num_slots} arcs"
    limit = _memory.budget(run.memory, graph.device)
    fixed = graph._nbytes + shared
    return _memory.most_that_fit(what, lambda k: fixed + k * own, threads, limit, run.memory)


def _on_tensors(
    graph: Graph, alpha: float, run: Run, entropy: float = 0.0, tol: float = 0.0, max_iter: int = 0
) -> Tensor:
    """float64 [num_slots], by linear programmes or, with an entropy, by Sinkhorn's iterations."""
    curvature = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
    row = _small.repeat_interleave(graph.degree)
    slots = torch.nonzero(row < graph.col).flatten()
    if not slots.numel():
        return curvature
    pairs = _problems.sizes(graph, slots)
    together = max(int(pairs.max()), min(int(pairs.sum()), _problems.TOGETHER))
    _memory.allow(
        f"ollivier_ricci_curvature of {graph.num_slots} arcs",
        graph._nbytes + 96 * graph.num_slots + _PER_PAIR * together, run.memory, graph.device,
    )  # fmt: skip
    record, quick = control(), int(pairs.sum()) < _FEW

    def work() -> None:
        for part in _problems.problems(graph, slots, alpha):
            if record[CANCEL]:
                break
            if entropy:
                cost = _transport.by_sinkhorn(part, entropy, tol, max_iter)
            else:
                cost = _transport.by_programmes(part)
            curvature[part.slots] = part.curvature(cost)
            record[DONE] += part.slots.numel()

    title = "ollivier_ricci_curvature"
    with progress_bar(slots.numel(), title, run.progress, quick, "edges") as bar:
        at_work(work, record, bar, graph.device, quick)
    return mirrored(graph, curvature)
