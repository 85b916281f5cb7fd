"""Closeness, harmonic centrality and eccentricity of a graph that changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import torch
from torch import Tensor

from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.distances._closeness import closeness, eccentricity, harmonic
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._choice import Choice
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._lengths import LengthRows
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.engines.measures import _normalize
from torchcent.graph import Graph
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.runtime import _ops

_MEASURES = ("closeness", "harmonic", "eccentricity")
_STATES = ("auto", "rows", "none")
TurnableT = TypeVar("TurnableT", Arcs, Change)
_MOST = 512  # predecessors that are looked at
_CELLS = 2**28  # of distances that are looked at


class DynamicCloseness(DynamicMeasure):
    r"""Exact closeness of a :class:`DynamicGraph`, which follows its updates.

    .. math:: C(v) = \frac{r_v}{n - 1} \frac{r_v}{\sum_u d(u, v)}, \qquad
              H(v) = \sum_{u \ne v} \frac{1}{d(u, v)}, \qquad E(v) = \max_u d(v, u)

    where :math:`r_v` is the number of other vertices that reach v.

    With ``state="none"``, nothing is kept but the scores. Searches from the ends of changed edges
    tell which vertices may have other distances now. These are those that an inserted edge brings
    nearer to one of its ends, and those for which the farther end of a deleted edge has no other
    predecessor. They are searched again; with weights, all are. With ``state="rows"``, all
    distances are kept, and those that change are repaired.

    Args:
        graph: the graph to follow.
        measure: "closeness", "harmonic" or "eccentricity". The latter is the largest distance to a
            vertex that v reaches, as by ``eccentricity(disconnected="component")``.
        normalized: "harmonic" divided by n - 1, as in :func:`harmonic`.
        wf_improved: as in :func:`closeness`.
        state: "rows" keeps a byte for each pair of vertices, four where distances are more than
            253; "none" keeps none. "auto" takes rows, if they fit, after 40 updates of at most 8
            edges each, and leaves them at a larger one.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n], those of :func:`closeness` and its siblings for the snapshot.
        changed, statistics: as of :class:`DynamicBetweenness`.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``state="rows"`` does not fit.

    An update takes O(b (n + m)) time for b changed edges and their neighbours, and as much for each
    vertex that is searched again; with rows, by what changed. Rows are kept on the CPU alone.

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
        state: str = "auto",
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._measure = values.choice(measure, "measure", _MEASURES)
        self._normalized = values.flag(normalized, "normalized")
        self._wf_improved = values.flag(wf_improved, "wf_improved")
        values.choice(state, "state", _STATES)
        if state == "rows":
            self._needs_cpu("state='rows'")
            self._needs_hops("state='rows'")
            self._needs_kernel("state='rows'", "dynamic_lengths")
            self._require(graph.num_nodes)
        is_open = state == "auto" and not graph.is_weighted
        is_open = is_open and _ops.has_kernel("dynamic_lengths", graph.device)
        self._choice = Choice(is_open and self._fits(graph.num_nodes))
        self._state = "none" if state == "auto" else state
        self._rows: LengthRows | None = None

    def _bytes(self, num_nodes: int) -> int:
        return LengthRows.bytes_for(num_nodes)

    def _fault(self) -> str:
        if not self._is_current:
            return ""
        scores = self._values
        suits = scores.dtype == torch.float64 and scores.shape == (self._graph.num_nodes,)
        if not suits:
            return "scores of another graph"
        return "" if self._rows is None else self._rows.fault(self._graph.num_nodes)

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        if self._state == "rows":
            self._take(LengthRows.of(self._seen_from(arcs), self._progress), arcs)
        else:
            self._rows, self._values = None, self._of(arcs.frozen, None)
        return arcs.num_nodes, self._state

    def _seen_from(self, graph: TurnableT) -> TurnableT:
        """Distances to a vertex are those from it in the graph turned around."""
        return graph if self._measure == "eccentricity" else graph.turned()

    def _take(self, rows: LengthRows, arcs: Arcs) -> None:
        count = max(arcs.num_nodes - 1, 1)
        others = torch.full((), count, dtype=torch.float64, device=arcs.device)
        self._rows = rows
        if self._measure == "closeness":
            self._values = _normalize.closeness(rows.farness, rows.reach, others, self._wf_improved)
        elif self._measure == "harmonic":
            self._values = _normalize.harmonic(rows.harmonic, others, self._normalized)
        else:
            self._values = rows.longest

    def _repair(self, change: Change) -> tuple[int, int, str]:
        if self._choice.is_open:
            takes_rows = self._choice.takes_rows(change) and self._fits(change.after.num_nodes)
            self._state = "rows" if takes_rows else "none"
        elif self._state == "rows" and change.grown:
            self._require(change.after.num_nodes)
        if self._state == "none":
            self._rows = None
            return self._search_again(change)
        if self._rows is None:
            count, state = self._start(change.after)
            return count, count, state
        seen = self._seen_from(change)
        rows, touched, anew = self._rows.repaired(seen, self._progress)
        self._take(rows, change.after)
        return touched, anew, self._state

    def _search_again(self, change: Change) -> tuple[int, int, str]:
        before, after = change.before.frozen, change.after.frozen
        if after.is_weighted or change.grown and (self._measure == "closeness" or self._normalized):
            # lengths are not looked at here, and n is part of each score
            self._values = self._of(after, None)
            return after.num_nodes, after.num_nodes, "none"
        old = torch.arange(before.num_nodes, device=before.device)
        again = old[_moved(change, self._measure != "eccentricity")]
        new = torch.arange(before.num_nodes, after.num_nodes, device=after.device)
        again = torch.cat([again, new])
        scores = torch.nn.functional.pad(self._values, (0, new.numel()))
        if again.numel():
            scores = scores.clone()
            scores[again] = self._of(after, again)
        self._values = scores
        return again.numel(), again.numel(), "none"

    def _of(self, graph: Graph, vertices: Tensor | None) -> Tensor:
        run = Run(progress=self._progress, memory=self._memory, dtype=torch.float64)
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
    result = torch.zeros(n, dtype=torch.bool, device=change.before.device)
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
    return tails[~torch.isin(tails, torch.tensor(gone, device=tails.device))]
