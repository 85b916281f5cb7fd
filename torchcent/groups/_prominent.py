"""prominent_group: k vertices that most shortest paths pass through."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.approx._sampler import Sampler
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _groups as check_groups
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.groups import _cover, _shares
from torchcent.runtime import _memory
from torchcent.runtime._watch import progress_bar

METHODS = ("auto", "exact", "samples")
# k x n x (n + slots) up to which gains are computed exactly: about two seconds.
_EXACT_WORK = 1e7
# Samples of either half in the first round; the numbers double. The most samples by default, and
# those of a call.
_FIRST, _MOST, _CALL = 2**10, 10_000_000, 2**14
_COPIES = 4  # of the paths, while a group is chosen
_EQUAL = 1e-9  # relative difference of gains that rounding may cause


@dataclass(frozen=True, eq=False)
class ProminentGroup:
    """A group of k vertices and the share of shortest paths that it covers.

    Attributes:
        vertices: int64 [k], in the order in which they were chosen.
        scores: [k], the share of paths, of all ordered pairs, that the first i + 1 of them cover.
        lower: a lower bound on the score of the group.
        optimum: an upper bound on the score of any k vertices. Both hold with probability
            1 - delta.
        samples: the number of sampled paths; 0 for an exact choice.
        method: "exact" or "samples".
        reached: whether lower >= (1 - 1/e - epsilon) optimum, the guarantee.
    """

    vertices: Tensor
    scores: Tensor
    lower: float
    optimum: float
    samples: int
    method: str
    reached: bool

    def __repr__(self) -> str:
        return (
            f"ProminentGroup(k={self.vertices.numel()}, score={float(self.scores[-1]):.4g}, "
            f"lower={self.lower:.4g}, optimum<={self.optimum:.4g}, method={self.method!r}, "
            f"samples={self.samples}, reached={self.reached})"
        )


@computes("dtype", searches=True)
def prominent_group(
    edge_index: GraphLike,
    k: int,
    epsilon: float = 0.1,
    delta: float = 0.1,
    *,
    method: str = "auto",
    endpoints: bool = False,
    max_samples: int | None = None,
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> ProminentGroup:
    r"""Finds k vertices that many shortest paths pass through, close to the best k.

    .. math:: B(C) = \frac{1}{n (n - 1)} \sum_{s \ne t} \frac{\sigma_{st}(C)}{\sigma_{st}}

    where :math:`\sigma_{st}(C)` is the number of shortest paths from s to t that have an inner
    vertex in C, with `endpoints` any vertex. Unlike :func:`group_betweenness`, pairs that begin or
    end in C count: B is then monotone and submodular. Choosing the vertex with the largest gain k
    times reaches at least 1 - 1/e (63 %) of the best score. To do better is hard in general.

    Args:
        edge_index: int64 [2, E], or a Graph; it may be directed, weighted and disconnected. Not a
            batch of graphs.
        k: the size of the group, from 1 to n.
        epsilon: with probability 1 - delta, the score is at least 1 - 1/e - epsilon of the best;
            in (0, 1 - 1/e).
        delta: probability of failure, in (0, 1).
        method: "exact" computes all gains exactly, in k times the time of betweenness with tensor
            operators. "samples" draws random shortest paths and chooses the vertices that cover
            most of them. "auto" selects "exact" for small graphs.
        endpoints: whether a path is also covered by its ends.
        max_samples: maximum number of paths; None for ten million. `reached` is False if it was not
            enough, such as for a graph in which almost no path has an inner vertex.
        edge_weight, num_nodes, directed: as for
            :func:`betweenness_approx`.
        generator: source of all random choices; None uses torch's global generator.
        run: how it is computed, see :class:`Run`.

    Returns:
        :class:`ProminentGroup`: the vertices, scores, and bounds. If fewer than k vertices cover
        any path, the lowest other ids follow.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small; the message states both amounts.

    Half of the paths determine the group, the other half measure it; both double until the measured
    lower bound is close enough to an upper bound on the best score. The number of paths is about
    (k ln n + ln(1 / delta)) / (epsilon^2 B) at most, usually far less. They are kept, in up to 64
    bytes per vertex of each path.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> best = torchcent.prominent_group(path, 2, directed=False)
        >>> best.vertices.tolist(), best.scores.tolist()
        ([2, 1], [0.4000000059604645, 0.5])

    Source:
        Mahmoody, Tsourakakis and Upfal 2016, "Scalable betweenness centrality maximization via
        sampling"; the stopping rule: Tang, Tang, Xiao and Yuan 2018, "Online processing algorithms
        for influence maximization". docs/groups.md has the proof.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(graph, "prominent_group", "pass its graphs one by one")
    k = check_groups.size(k, graph)
    epsilon = check_approx.share(epsilon, "epsilon", _cover.GREEDY)
    delta = check_approx.share(delta, "delta")
    check.choice(method, "method", METHODS)
    check.flag(endpoints, "endpoints")
    most = check.positive(max_samples, "max_samples") or _MOST
    chance = check.random_generator(generator)
    n, m = graph.num_nodes, graph.num_slots
    if method == "auto":
        method = "exact" if k * n * (n + m) <= _EXACT_WORK or n < 3 else "samples"
    if method == "exact":
        return _exactly(graph, k, endpoints, run)
    sampler = Sampler(graph, chance, run.memory)
    return _by_samples(
        sampler, k, epsilon=epsilon, delta=delta, endpoints=endpoints, most=most, run=run
    )


def _exactly(graph: Graph, k: int, endpoints: bool, run: Run) -> ProminentGroup:
    n = graph.num_nodes
    source = torch.arange(n, device=graph.device)
    inside = torch.zeros(n, dtype=torch.bool, device=graph.device)
    group, gains, bound, total = [], [], math.inf, 0.0
    parts: list[_shares.Shares] = []  # if all vertices fit in one batch
    with progress_bar(k * n, "prominent_group", run.progress, quick=False) as bar:
        for _ in range(k):
            gain = torch.zeros(n, dtype=torch.float64, device=graph.device)
            for part in parts or _shares.batches(graph, source, run.memory):
                gain += part.gains(inside, endpoints)
                bar.update(part.lanes)
                parts = [part] if part.lanes == n else []
            bound = min(bound, total + float(torch.topk(gain, k).values.sum()))
            gain = gain.masked_fill(inside, -1)
            vertex = int((gain >= gain.max() * (1 - _EQUAL)).long().argmax())
            inside[vertex] = True
            group.append(vertex)
            gains.append(max(float(gain[vertex]), 0.0))
            total += gains[-1]
    pairs = max(n * (n - 1), 1)
    scores = torch.tensor(gains, dtype=torch.float64, device=graph.device).cumsum(0) / pairs
    best = min(bound, total / _cover.GREEDY, pairs) / pairs
    return ProminentGroup(
        torch.tensor(group, device=graph.device), scores.to(run.dtype), float(scores[-1]),
        max(best, float(scores[-1])), 0, "exact", True,
    )  # fmt: skip


def _by_samples(
    sampler: Sampler, k: int, epsilon: float, delta: float, endpoints: bool, most: int, run: Run
) -> ProminentGroup:
    """Rounds of twice as many paths. Round i has delta / (i (i + 1)), for both of its bounds."""
    graph = sampler.graph
    n, half, turn = graph.num_nodes, max(min(_FIRST, most // 2), 1), 1
    limit = _memory.budget(run.memory, torch.device("cpu")) // 2
    choose, measure = _cover.Paths(n, endpoints), _cover.Paths(n, endpoints)
    with progress_bar(2 * half, "prominent_group", run.progress, quick=False, unit="paths") as bar:
        while True:
            bar.total = 2 * half
            for paths in (choose, measure):
                _draw(sampler, paths, half, limit, run.memory, bar)
            choice = _cover.greedy(choose, k, n)
            hits = measure.covered(choice.group)
            last = 4 * half > most
            failure = delta / (turn if last else turn * (turn + 1))  # the last has what is left
            lower, optimum = _cover.bounds(int(hits[-1]), choice.best, half, failure / 2)
            is_enough = lower > 0 and lower >= (_cover.GREEDY - epsilon) * optimum
            if is_enough or last:
                break
            half, turn = 2 * half, turn + 1
    scores = (hits.double() / half).to(graph.device, run.dtype)
    return ProminentGroup(
        choice.group.to(graph.device), scores, lower, optimum, 2 * half, "samples", is_enough
    )


def _draw(
    sampler: Sampler, paths: _cover.Paths, goal: int, limit: int, memory: int | None, bar: tqdm
) -> None:
    while paths.count < goal:
        drawn_paths = sampler.paths(min(_CALL, goal - paths.count), bar)
        if drawn_paths is None:
            raise KeyboardInterrupt
        paths.add(*drawn_paths)
        need = 2 * _COPIES * paths.nbytes
        _memory.require(f"keeping {paths.count} paths", need, 2 * limit, memory)
