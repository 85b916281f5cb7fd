"""Closeness, harmonic centrality and eccentricity of a graph that changes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.distances._closeness import closeness, eccentricity, harmonic
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.graph import Graph
from torchcent.pairs._lengths import shortest_path_lengths

_MEASURES = ("closeness", "harmonic", "eccentricity")
_MOST = 512  # predecessors that are looked at
_CELLS = 2**28  # of distances that are looked at


class DynamicCloseness(DynamicMeasure):
    r"""Exact closeness of a :class:`DynamicGraph`, which follows its updates.

    .. math:: C(v) = \frac{r_v}{n - 1} \frac{r_v}{\sum_u d(u, v)}, \qquad
              H(v) = \sum_{u \ne v} \frac{1}{d(u, v)}, \qquad E(v) = \max_u d(v, u)

    where :math:`r_v` is the number of other vertices that reach v.

    Nothing is kept but the scores. Searches from the ends of changed edges tell which vertices may
    have other distances now. These are those that an inserted edge brings nearer to one of its
    ends, and those for which the farther end of a deleted edge has no other predecessor. They are
    searched again.

    Args:
        graph: the graph to follow.
        measure: "closeness", "harmonic" or "eccentricity". The latter is the largest distance to a
            vertex that v reaches, as by ``eccentricity(disconnected="component")``.
        normalized: "harmonic" divided by n - 1, as in :func:`harmonic`.
        wf_improved: as in :func:`closeness`.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n], those of :func:`closeness` and its siblings for the snapshot.
        changed, statistics: as of :class:`DynamicBetweenness`.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    An update takes O(b (n + m)) time for b changed edges and their neighbours, and as much for each
    vertex that is searched again.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> follows = torchcent.DynamicCloseness(graph, measure="eccentricity")
        >>> graph.update(insert=torch.tensor([[0], [3]])).inserted
        1
        >>> follows.scores
        tensor([2., 2., 2., 2.], dtype=torch.float64)

    Source:
        Single edges by levels: Sariyuce et al. 2013.
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        measure: str = "closeness",
        normalized: bool = False,
        wf_improved: bool = True,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run.progress)
        self._measure = values.choice(measure, "measure", _MEASURES)
        self._normalized = values.flag(normalized, "normalized")
        self._wf_improved = values.flag(wf_improved, "wf_improved")

    def _fault(self) -> str:
        if not self._is_current:
            return ""
        scores = self._values
        suits = scores.dtype == torch.float64 and scores.shape == (self._graph.num_nodes,)
        return "" if suits else "scores of another graph"

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        self._values = self._of(self._graph.snapshot(), None)
        return arcs.num_nodes, "none"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        before, after = change.before.frozen, change.after.frozen
        if change.grown and (self._measure == "closeness" or self._normalized):
            # n is part of each score
            self._values = self._of(after, None)
            return after.num_nodes, after.num_nodes, "none"
        old = torch.arange(before.num_nodes, device="cpu")
        again = old[_moved(change, self._measure != "eccentricity")]
        new = torch.arange(before.num_nodes, after.num_nodes, device="cpu")
        again = torch.cat([again, new])
        scores = torch.nn.functional.pad(self._values, (0, new.numel()))
        if again.numel():
            scores = scores.clone()
            scores[again] = self._of(after, again)
        self._values = scores
        return again.numel(), again.numel(), "none"

    def _of(self, graph: Graph, vertices: Tensor | None) -> Tensor:
        run = Run(progress=self._progress, dtype=torch.float64)
        if self._measure == "closeness":
            return closeness(graph, wf_improved=self._wf_improved, vertices=vertices, run=run)
        if self._measure == "harmonic":
            return harmonic(graph, normalized=self._normalized, vertices=vertices, run=run)
        return eccentricity(graph, disconnected="component", vertices=vertices, run=run)

    def _scores(self, arcs: Arcs) -> Tensor:
        return self._values


def _moved(change: Change, to: bool) -> Tensor:
    """bool [n]: vertices to which (from which) distances may have changed, of those before.

    No distance from v grows if every deleted arc on shortest paths from v has a head with another
    predecessor that stays. None shrinks if no inserted arc makes a shorter way.
    """
    if to:
        change = change.turned()  # paths to v are paths from v in the graph turned around
    n = change.before.num_nodes
    result = torch.zeros(n, dtype=torch.bool, device="cpu")
    tails = {head: [*of.tolist()] for head, of in _by_head(change.removed)}
    staying = {head: _staying(change.before, head, tails[head]) for head in tails}
    ends = [change.removed.flatten(), change.inserted.flatten(), *staying.values()]
    ids = torch.cat(ends).unique()
    ids = ids[ids < n]
    if 2 * ids.numel() >= n or ids.numel() * n > _CELLS:
        return ~result  # to find out would take as long as to search again
    # Distances to each of these ends, from all vertices.
    row = dict[int, Tensor]()
    if ids.numel():
        lengths = shortest_path_lengths(change.before.turned().frozen, sources=ids)
        row = dict(zip(ids.tolist(), torch.as_tensor(lengths).int(), strict=True))
    for head, before_it in tails.items():
        at_head = row[head]
        is_longer = _precede([row[tail] for tail in before_it], at_head)
        result |= is_longer & ~_precede([row[v] for v in staying[head].tolist()], at_head)
    for tail, head in change.inserted.T.tolist():
        if tail >= n:
            continue  # reached by another of these arcs
        reached = row[tail] >= 0
        result |= reached if head >= n else reached & _is_nearer(row[tail] + 1, row[head])
    return result


def _precede(rows: list[Tensor], at_head: Tensor) -> Tensor:
    """From where a head is one step farther than one of these vertices."""
    result = torch.zeros_like(at_head, dtype=torch.bool)
    for distance in rows:
        result |= (distance >= 0) & (distance + 1 == at_head)
    return result


def _is_nearer(distance: Tensor, other: Tensor) -> Tensor:
    return (other < 0) | (distance < other)


def _by_head(arcs: Tensor) -> Iterator[tuple[int, Tensor]]:
    """The heads of arcs, and the tails of each."""
    for head in arcs[1].unique().tolist():
        yield head, arcs[0][arcs[1] == head]


def _staying(arcs: Arcs, head: int, gone: list[int]) -> Tensor:
    """Tails of the arcs to a vertex besides these, or none if they are too many to look at."""
    tails = arcs.row[int(arcs.colptr[head]) : int(arcs.colptr[head + 1])].long()
    if tails.numel() > _MOST:
        return tails[:0]
    return tails[~torch.isin(tails, torch.tensor(gone, device="cpu"))]
