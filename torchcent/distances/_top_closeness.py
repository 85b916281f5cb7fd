"""The k largest closeness scores of a symmetric graph, without all scores where that is cheaper.

A lower bound of the farness of v gives an upper bound of its score. Only vertices whose bound is at
least the k-th best score found need a search. There are two bounds (Bergamini et al. 2019):

- v has a = degree(v) vertices at distance 1, at most the sum of (degree - 1) over them at distance
  2, and all others at 3 or more.
- A search from s has n_j vertices on level j. From v on level i, the vertices on level j are at
  least |i - j| away. Of those on levels i - 1, i and i + 1, only a are at distance 1, the rest at 2
  or more:

      farness(v) >= sum of n_j |i - j| over |i - j| > 1
                    + 2 (n_(i-1) + n_i + n_(i+1) - 1) - a
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check._weights import HOP_ENGINES
from torchcent.distances._bounds import as_tensor, distances_from, worth
from torchcent.distances._distance_sums import source_sums, vertex_sums
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan
from torchcent.graph import Graph

BATCH = 512
GROWTH = 8  # a batch has at least one search for so many done, so that batches are few
FEWEST = 1024
FEW = 48  # worth() up to which single searches are tried before batches
TRIAL = 32  # single searches between checks that they settle enough


def top_closeness(
    graph: Graph, request: Request, k: int, wf_improved: bool
) -> tuple[Tensor, Tensor]:
    """(scores float64 [k], vertices int64 [k]), descending, ties by ascending vertex."""
    score = None
    few = request.engine == "auto" and max(k, FEWEST) <= graph.num_nodes // 4
    if few and graph.is_symmetric and _plan.plan(graph, request)[0].engine in HOP_ENGINES:
        search = _Search(graph, request, k, wf_improved)
        score = search.exact if search.run() else None
    if score is None:
        sums = vertex_sums(graph, request)
        score = _normalize.closeness(
            sums.farness, sums.reach, _normalize.others(graph), wf_improved
        )
    best = torch.argsort(score, descending=True, stable=True)[:k]
    return score[best], best


class _Search:
    def __init__(self, graph: Graph, request: Request, k: int, wf_improved: bool) -> None:
        n = graph.num_nodes
        self.graph, self.request, self.k, self.wf_improved = graph, request, k, wf_improved
        size = torch.bincount(graph.components)
        self.reach = size[graph.components].double() - 1
        self.exact = torch.full((n,), -1.0, dtype=torch.float64, device=graph.device)
        self.farness = _two_hop_farness(graph, self.reach)  # lower bounds
        self.upper = self._score(self.farness, self.reach)

    def run(self) -> bool:
        """Returns whether the k best are among the exact scores; if not, all must be computed."""
        hub = int(self.graph.degree.argmax())
        row = distances_from(self.graph, self.request, hub)
        each = worth(row[row >= 0])
        any_search = each <= FEW
        if any_search:
            self._search_singly(each)
        done = 0
        while (ids := self._candidates()).numel():
            if any_search and ids.numel() > self.graph.num_nodes // 2:
                return False
            best = torch.argsort(self.upper[ids], descending=True, stable=True)
            batch = ids[best[: max(BATCH, done // GROWTH)]]
            sums = source_sums(self.graph, self.request, batch)
            self.exact[batch] = self._score(sums.farness, sums.reach)
            done += batch.numel()
            any_search = True
        return True

    def _search_singly(self, each: int) -> None:
        """Searches from the most promising vertex and bounds all others by its levels."""
        before, searches = self.graph.num_nodes, -self.k
        while (ids := self._candidates()).numel():
            if searches == TRIAL:
                if before - ids.numel() < TRIAL * each:
                    return
                before, searches = ids.numel(), 0
            self._search(int(ids[self.upper[ids].argmax()]))
            searches += 1

    def _search(self, vertex: int) -> None:
        row = as_tensor(distances_from(self.graph, self.request, vertex), self.graph)
        inside = row >= 0
        far = row.clamp(min=0).sum().double()
        self.exact[vertex] = self._score(far, self.reach[vertex])
        bound = _level_farness(row[inside])[row.clamp(min=0).long()] - self.graph.degree
        self.farness = torch.where(inside, torch.maximum(self.farness, bound), self.farness)
        self.upper = self._score(self.farness, self.reach)

    def _candidates(self) -> Tensor:
        """Vertices that are not yet searched and may be among the k best."""
        exact = self.exact >= 0
        if int(exact.sum()) < self.k:
            return torch.nonzero(~exact).flatten()
        least = torch.topk(self.exact, self.k).values[-1]
        # Of equal scores those of the lowest vertices count, so that a bound equal to the least
        # score does not make a later vertex a candidate. Components of the same shape have such.
        equal = torch.nonzero(self.exact == least).flatten()
        last = int(equal[self.k - 1 - int((self.exact > least).sum())])
        possible = self.upper > least
        possible[:last] |= self.upper[:last] == least
        return torch.nonzero(~exact & possible).flatten()

    def _score(self, farness: Tensor, reach: Tensor) -> Tensor:
        return _normalize.closeness(farness, reach, _normalize.others(self.graph), self.wf_improved)


def _two_hop_farness(graph: Graph, reach: Tensor) -> Tensor:
    degree = graph.degree
    running = torch.cat([degree.new_zeros(1), (degree[graph.col] - 1).cumsum(0)])
    two = running[graph.rowptr[1:]] - running[graph.rowptr[:-1]]
    two = torch.minimum(two.double(), reach - degree)
    return degree + 2 * two + 3 * (reach - degree - two)


def _level_farness(row: Tensor) -> Tensor:
    """The second bound, without - a, for each level of the search that gave these distances."""
    count = torch.bincount(row.long()).double()
    level = torch.arange(count.numel(), dtype=torch.float64, device=row.device)
    below, weight = count.cumsum(0), (count * level).cumsum(0)
    away = level * below - weight + (weight[-1] - weight) - level * (below[-1] - below)
    beside = torch.nn.functional.pad(count, (1, 1))
    beside = beside[:-2] + beside[2:]
    return away - beside + 2 * (beside + count - 1)
