"""Rewiring by curvature."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from itertools import pairwise

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _curvature as check_curvature
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import CANCEL, DONE, control
from torchcent.runtime._watch import at_work, progress_bar

_QUICK = 2**20  # slots times steps up to which there is no bar
_PER_SLOT, _PER_VERTEX = 40, 80  # bytes of lists that change, of what they grow by, and of marks


@computes()
def sdrf(
    edge_index: GraphLike,
    *,
    iterations: int = 10,
    tau: float = 1.0,
    removal_bound: float | None = None,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""A graph rewired by stochastic discrete Ricci flow: edges are added around bottlenecks.

    Each iteration takes the edge uv of least balanced curvature (:func:`forman_curvature`). It adds
    one of the edges that are missing between a vertex at most one hop from u and one at most one
    hop from v. An edge is drawn with a probability proportional to

    .. math:: \exp(\tau\, (B'(u, v) - B(u, v)))

    where B' is the curvature of uv with the new edge. With `removal_bound`, the edge of largest
    curvature is then removed if its curvature is above the bound.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library (docs/inputs.md). Every arc
            needs its reverse; directed=False adds those missing. Loops and repeated arcs are
            dropped, and weights do not matter.
        iterations: the most steps, 1 to 10,000,000. Fewer are made if a step changes nothing.
        tau: :math:`\tau`, finite and >= 0; larger values prefer the largest improvement, and 0
            draws among all.
        removal_bound: the curvature above which an edge is removed; None removes none.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Each graph is rewired alone.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        generator: of the draws; None uses torch's global generator.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 [2, E'], both arcs of each edge, sorted by the first vertex and then the second. Of
        several edges of the same curvature the first one is taken.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    An iteration looks at all edges for the least curvature, and computes it again for those near
    the change. These are the edges at the ends of the new edge, and between neighbours of both. It
    runs on the host, with a thread for each graph of a batch. The graphs of a batch draw as they
    would one after the other.

    Example:
        >>> import torch, torchcent
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> drawn = torch.Generator().manual_seed(0)
        >>> rewired = torchcent.sdrf(two_triangles, iterations=1, directed=False, generator=drawn)
        >>> rewired.shape
        torch.Size([2, 16])

    Source:
        Topping et al. 2022, "Understanding over-squashing and bottlenecks on graphs via curvature".
    """
    steps, temperature, bound = check_curvature.rewiring(iterations, tau, removal_bound)
    if generator is not None and not isinstance(generator, torch.Generator):
        raise check_values.wrong_type("generator", "a torch.Generator or None", generator)
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    check.undirected(graph, "sdrf")
    need = graph._nbytes + _PER_SLOT * (graph.num_slots + 2 * steps * graph.num_graphs)
    need += _PER_VERTEX * graph.num_nodes
    if run.memory is not None or need >= _memory.SMALL_RUN["cpu"]:
        _memory.allow(f"sdrf of {graph.num_slots} arcs", need, run.memory, torch.device("cpu"))
    where = torch.device("cpu") if generator is None else generator.device
    shape = graph.num_graphs, steps
    draws = torch.rand(shape, dtype=torch.float64, generator=generator, device=where)
    return _rewired(graph.to("cpu"), draws.cpu(), temperature, bound, run).to(graph.device)


def _rewired(graph: Graph, draws: Tensor, tau: float, bound: float | None, run: Run) -> Tensor:
    """int64 [2, arcs]: the graph, on the host, after a step for each of the draws."""
    record, results = control(), list[Tensor]()
    limits = tau, bound is not None, bound or 0.0

    def work() -> None:
        if _ops.has_kernel("rewired", graph.device):
            arcs = graph.rowptr, graph.col, _batch.ends(graph)
            threads = torch.get_num_threads()
            results.append(_ops.ops.rewired(*arcs, draws, *limits, record, threads))
        else:
            results.append(_in_python(graph, draws, tau, bound, record))

    quick = graph.num_slots * draws.shape[1] < _QUICK
    with progress_bar(graph.num_graphs, "sdrf", run.progress, quick, "graphs") as bar:
        at_work(work, record, bar, graph.device, quick)
    return results[0]


def _in_python(
    graph: Graph, draws: Tensor, tau: float, bound: float | None, record: Tensor
) -> Tensor:
    edges = []
    ends = _batch.ends(graph).tolist()
    for (first, last), own in zip(pairwise(ends), draws.tolist(), strict=True):
        pointer = graph.rowptr[first : last + 1].tolist()
        rows = [(graph.col[begin:end].long() - first).tolist() for begin, end in pairwise(pointer)]
        rewired = Rewired(rows)
        for draw in own:
            if record[CANCEL] or not rewired.step(draw, tau, bound):
                break
        edges += [(first + u, first + v) for u, row in enumerate(rewired.rows) for v in row]
        record[DONE] += 1
    return torch.tensor(edges, dtype=torch.int64, device="cpu").reshape(-1, 2).T.contiguous()


class Rewired:
    """csrc/curvature/cpu/rewire.cpp in Python: a graph that changes, and curvature by edges u < v.

    Improvements are the difference of two curvatures, each computed from the whole neighbourhood.
    """

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows = rows
        self.curvature = {
            (u, v): self._of(u, v) for u, row in enumerate(rows) for v in row if u < v
        }

    def step(self, draw: float, tau: float, bound: float | None) -> bool:
        """Changes the graph; False if nothing has changed."""
        changed = bool(self.curvature) and self._add(draw, tau)
        if bound is not None and self.curvature:
            edge = min(self.curvature, key=lambda e: (-self.curvature[e], e))
            if self.curvature[edge] > bound:
                self._erase(*edge)
                del self.curvature[edge]
                self._renew(*edge)
                return True
        return changed

    def _add(self, draw: float, tau: float) -> bool:
        i, j = min(self.curvature, key=lambda e: (self.curvature[e], e))
        candidates = [
            (k, m)
            for k in sorted([i, *self.rows[i]])
            for m in sorted([j, *self.rows[j]])
            if k != m and not self._adjacent(k, m)
        ]
        if not candidates:
            return False
        before = self.curvature[i, j]
        improvement = []
        for edge in candidates:
            self._insert(*edge)
            improvement.append(self._of(i, j) - before)
            self._erase(*edge)
        largest = max(improvement)
        weights = [math.exp(tau * (x - largest)) for x in improvement]
        total, upto, chosen = 0.0, 0.0, candidates[-1]
        for weight in weights:
            total += weight
        for edge, weight in zip(candidates, weights, strict=True):
            upto += weight
            if upto > draw * total:
                chosen = edge
                break
        self._insert(*chosen)
        self._renew(*chosen)
        return True

    def _adjacent(self, u: int, v: int) -> bool:
        at = bisect_left(self.rows[u], v)
        return at < len(self.rows[u]) and self.rows[u][at] == v

    def _insert(self, u: int, v: int) -> None:
        insort(self.rows[u], v)
        insort(self.rows[v], u)

    def _erase(self, u: int, v: int) -> None:
        self.rows[u].remove(v)
        self.rows[v].remove(u)

    def _renew(self, k: int, m: int) -> None:
        """The curvature of the edges that a change between k and m may concern."""
        near = {(k, v) for v in self.rows[k]} | {(m, v) for v in self.rows[m]}
        near |= {(a, b) for a in self.rows[k] for b in self.rows[m] if self._adjacent(a, b)}
        for u, v in near:
            self.curvature[min(u, v), max(u, v)] = self._of(u, v)

    def _of(self, i: int, j: int) -> float:
        least, largest = sorted((len(self.rows[i]), len(self.rows[j])))
        if least <= 1:
            return 0.0
        of_i, of_j = set(self.rows[i]), set(self.rows[j])
        triangles = len(of_i & of_j)
        alone_i, alone_j = of_i - of_j - {j}, of_j - of_i - {i}
        cycles = [
            len(others.intersection(self.rows[k]))
            for own, others in ((alone_i, alone_j), (alone_j, alone_i))
            for k in own
        ]
        value = 2 / least + 2 / largest - 2 + 2 * triangles / largest + triangles / least
        most = max(cycles, default=0)
        return value + sum(x > 0 for x in cycles) / (most * largest) if most else value
