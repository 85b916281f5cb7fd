"""Approximate betweenness of a graph that changes, by samples that are kept."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.approx._progressive import FIRST_PHASE, LEAST_FIRST
from torchcent.approx._result import Approximation
from torchcent.check import _approx as check_approx
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._intervals import Schedule
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.dynamic._samples import BYTES, PATH_BYTES, Draws, Samples, random_pairs
from torchcent.runtime import _memory
from torchcent.runtime._workspace import workspace

_CPU = torch.device("cpu")


class DynamicBetweennessApprox(DynamicMeasure):
    r"""Betweenness of a :class:`DynamicGraph` to within epsilon, which follows its updates.

    .. math:: P\Big(\max_v \Big| \tilde b(v) - \frac{C_B(v)}{(n - 1)(n - 2)} \Big| \le
        \varepsilon\Big) \ge 1 - \delta

    holds after each update for the graph as it is then. Random pairs of vertices and a random
    shortest path between each are kept, and b(v) is the fraction of paths with v in their interior.
    After an update, a path is drawn anew for those pairs whose shortest paths may be others now.
    All other pairs have the same shortest paths as before, one of which is drawn already. If
    intervals become too wide, more pairs are drawn.

    Args:
        graph: the graph to follow. Measures are updated as long as they are referenced.
        epsilon: maximum absolute error, in [1e-9, 1); scores lie in [0, 1].
        delta: probability of failure, in (0, 1).
        times: None or 1 for the guarantee of each state of the graph by itself. An int T for that
            of its first T states together, each of which has the failure probability delta / T.
        generator: of the samples. The same generator and the same updates give the same bits, for
            any number of threads.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n], estimates of ``betweenness(graph)``.
        approximation: the same with their intervals and ``top(k)``, an :class:`Approximation`.
        changed: int64, the vertices whose score the last update changed.
        statistics: `sources` are the samples touched by the last update, and those that are new;
            all of them are drawn (`recomputed`).

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the samples do not fit.

    The guarantee is for updates that do not depend on the scores or the generator. The number k of
    samples is O((b / epsilon^2 + 1 / epsilon) ln(n / delta)), where b is the highest score that
    there has been. A sample takes 64 bytes, and 8 for each inner vertex. An update takes O(k + n)
    time, that of drawing paths, and searches around the ends of changed edges. These end when they
    have decided, or when it costs less to draw the rest anew. Not on CUDA.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> follows = torchcent.DynamicBetweennessApprox(
        ...     graph, 0.05, generator=torch.Generator().manual_seed(1)
        ... )
        >>> graph.update(insert=torch.tensor([[0], [3]])).inserted
        1
        >>> bool((follows.scores - 1 / 6).abs().max() < 0.05)
        True

    Source:
        Riondato and Upfal 2018 and Bergamini and Meyerhenke 2016 for samples that are kept;
        docs/notes/dynamic.md has the proofs.
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        epsilon: float = 0.01,
        delta: float = 0.1,
        *,
        times: int | None = None,
        generator: torch.Generator | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._needs_cpu("DynamicBetweennessApprox")
        self._needs_hops("DynamicBetweennessApprox")
        self._needs_kernel("DynamicBetweennessApprox", "dynamic_touched")
        self._epsilon = check_approx.epsilon(epsilon)
        self._asked = check_approx.share(delta, "delta")
        self._delta = self._asked / (check.positive(times, "times", 2**53) or 1)
        chance = check.random_generator(generator)
        where = chance.device if chance is not None else _CPU
        seed = int(torch.randint(2**62, (1,), generator=chance, device=where))
        self._draws = Draws(seed, run.progress)
        self._random = torch.Generator().manual_seed(seed)

    @property
    def approximation(self) -> Approximation:
        scores, graph = self.scores, self._graph.snapshot()
        n = graph.num_nodes
        if n < 3:
            why = "no vertex is between two others"
            return Approximation(
                scores, scores, scores, 0.0, 0.0, 0, "exact", True, why, _graph=graph
            )
        low, high = self._schedule.intervals(self._samples.counts)
        low, high = (low * n / (n - 2)).clamp(max=1), (high * n / (n - 2)).clamp(max=1)
        radius = self._radius * n / (n - 2)
        return Approximation(
            scores, low, high, min(radius, 1.0), self._delta, self._samples.size, "kadabra", True,
            "samples that are kept", _graph=graph,
        )  # fmt: skip

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        self._samples, self._epoch = Samples.empty(arcs.num_nodes), 0
        if arcs.num_nodes >= 3:
            self._begin(arcs)
            self._enlarge(arcs)
        return self._samples.size, "samples"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        arcs, old = change.after, change.before.num_nodes
        n = arcs.num_nodes
        if old < 3:
            count, _ = self._start(arcs)
            return count, count, "samples"
        samples = self._samples
        marks = torch.zeros(samples.size, dtype=torch.int8, device="cpu")
        if change.grown:
            # A random pair of n vertices is one of the old ones with this probability.
            share = (old * (old - 1)) / (n * (n - 1))
            draws = torch.empty(samples.size, dtype=torch.float64, device="cpu")
            leaves = draws.uniform_(generator=self._random) >= share
            samples.pairs[:, leaves] = random_pairs(int(leaves.sum()), n, self._random, old)
            marks[leaves] = 1
            samples.grow(n)
        self._draws.touched(change, samples, marks)
        again = marks.nonzero().flatten()
        if not again.numel() and not change.grown:
            return 0, 0, "samples"
        self._draw(arcs, again)
        count = again.numel() + self._enlarge(arcs)
        return count, count, "samples"

    def _begin(self, arcs: Arcs) -> None:
        """A schedule for the graph as it is, by samples that are not used for anything else.

        The e-th schedule has delta / (e (e + 1)), all together delta. Its samples are new, so that
        it does not matter why the last one was left.
        """
        self._epoch += 1
        n = arcs.num_nodes
        space = workspace("sample", False, 0, n, arcs.col.numel(), not arcs.directed)
        limit = _memory.budget(self._memory, _CPU) - space.fixed
        _memory.require("drawing shortest paths, one at a time,", space.each, limit, self._memory)
        self._draws.threads = limit // space.each
        first = max(math.ceil(FIRST_PHASE / self._epsilon), LEAST_FIRST)
        self._samples = Samples.empty(n)
        work = self._draw(arcs, self._samples.extend(random_pairs(first, n, self._random)))
        self._draws.arcs = 1 + work // first
        delta = self._delta / (self._epoch * (self._epoch + 1))
        self._schedule = Schedule.after(self._samples.counts, first, self._within(n), delta)
        each = BYTES + PATH_BYTES * self._samples.path.numel() // first
        self._samples = Samples.empty(n)
        what = f"keeping {self._schedule.goal:,} samples"
        _memory.require(what, self._schedule.goal * each, limit, self._memory)

    def _enlarge(self, arcs: Arcs) -> int:
        """Draws more samples until all intervals are narrow enough; their number."""
        more = 0
        while True:
            count = self._schedule.goal - self._samples.size
            if count > 0:
                pairs = random_pairs(count, arcs.num_nodes, self._random)
                self._draw(arcs, self._samples.extend(pairs))
                more += count
            self._radius = self._schedule.radius(self._samples.counts)
            if self._radius <= self._within(arcs.num_nodes):
                return more
            self._schedule.next()
            if self._schedule.is_over:
                self._begin(arcs)

    def _within(self, num_nodes: int) -> float:
        """Epsilon as a share of all pairs, those that end in a vertex included."""
        return self._epsilon * (num_nodes - 2) / num_nodes

    def _draw(self, arcs: Arcs, samples: Tensor) -> int:
        vertex, length, work = self._draws.paths(arcs, self._samples.pairs[:, samples])
        self._samples.put(samples, vertex, length)
        return work

    def _fault(self) -> str:
        if not self._is_current:
            return ""
        return "" if self._samples.suit(self._graph.num_nodes) else "samples of another graph"

    def _scores(self, arcs: Arcs) -> Tensor:
        n, samples = arcs.num_nodes, self._samples
        if n < 3:
            return torch.zeros(n, dtype=torch.float64, device="cpu")
        return (samples.counts.double() * (n / (n - 2) / samples.size)).clamp_(max=1)
