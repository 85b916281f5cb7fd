"""PageRank, for one distribution of restarts or several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _ops
from torchcent.walks import _direct, _matrix

_TOGETHER = 16  # distributions that are computed together
_STRIDE = 4  # steps between two looks at what a GPU has computed


def _width(options: Mapping[str, Any]) -> int | None:
    """The number of columns: that of a matrix of teleportation or of dangling vertices."""
    of = (options["personalization"], options["dangling"])
    return next((each.shape[1] for each in of if each is not None and each.dim() == 2), None)


@measure("vertices", "dtype", weights="strengths", columns=("pagerank",), share=True, width=_width)
def pagerank(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    alpha: float = 0.85,
    personalization: Tensor | None = None,
    dangling: Tensor | None = None,
    tol: float = 1e-10,
    run: Run = DEFAULT,
) -> Tensor:
    r"""PageRank: the stationary distribution of a walk that restarts.

    .. math:: x(v) = \alpha \Big( \sum_{u \to v} \frac{w_{uv}}{s_u} x(u)
              + d(v) \sum_{s_u = 0} x(u) \Big) + (1 - \alpha)\, p(v)

    where :math:`s_u` is the sum of the weights of the arcs out of u, p the distribution of restarts
    and d that of steps from vertices without outgoing arcs. Values equal those of NetworkX's
    ``pagerank`` within its tolerance.

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`. For a batch the
            scores of each graph sum to 1.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        alpha: the probability of following an arc, in [0, 1).
        personalization: p, finite and >= 0, divided by its sum (of each graph of a batch, which
            must not be 0): [n], or [n, k] for k distributions at once. None is uniform.
        dangling: d, likewise [n], or [n, k] with k distributions; None uses p, as in NetworkX.
        tol: bound on the error: the absolute differences from the exact scores sum to at most tol,
            for each graph and distribution, apart from rounding. (NetworkX stops at a change of n
            times its `tol`.)
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; [n, k] if `personalization` or `dangling` is a matrix.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(m) time per iteration and distribution; at most :math:`\log(tol / 2) / \log \alpha`
    iterations. Graphs of up to 64 vertices on the CPU are solved directly.

    Example:
        >>> import torch, torchcent
        >>> links = torch.tensor([[0, 1, 2], [2, 2, 0]])
        >>> torchcent.pagerank(links)
        tensor([0.4635, 0.0500, 0.4865])
        >>> torchcent.pagerank(links, personalization=torch.eye(3))[:, 1]
        tensor([0.3905, 0.1500, 0.4595])

    Source:
        Page, Brin, Motwani and Winograd 1999; dangling vertices: Langville and Meyer 2006.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    follow = check.within(alpha, "alpha", "[0, 1)")
    bound = check.tolerance(tol)
    restart = distribution(personalization, "personalization", graph)
    jump = restart if dangling is None else distribution(dangling, "dangling", graph)
    single = restart.dim() == 1 and jump.dim() == 1
    restart, jump = _matched(restart, jump)
    parts = zip(restart.split(_TOGETHER, 1), jump.split(_TOGETHER, 1), strict=True)
    walk = Walk(graph, follow, bound)
    columns = [walk.stationary(p.contiguous(), d.contiguous()).to(run.dtype) for p, d in parts]
    scores = torch.cat(columns, 1) if columns else restart.to(run.dtype)
    return scores[:, 0] if single else scores


def distribution(value: object, name: str, graph: Graph) -> Tensor:
    if value is None:
        numbers = torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)
    else:
        numbers = check.per_vertex(value, name, graph, columns=True)
    sums = _batch.per_vertex(graph, _batch.total(graph, numbers))
    if value is not None and not bool((sums > 0).all()):
        raise ValueError(f"{name} sums to 0, for a graph or a column; accepted: a sum > 0")
    return numbers / sums


def _matched(restart: Tensor, jump: Tensor) -> tuple[Tensor, Tensor]:
    """Both as [n, k]."""
    one, other = (x if x.dim() == 2 else x[:, None] for x in (restart, jump))
    if one.shape[1] != other.shape[1] and restart.dim() == 2 and jump.dim() == 2:
        raise ValueError(
            f"dangling has {other.shape[1]} columns and personalization {one.shape[1]}; accepted: "
            "as many, or [n]"
        )
    width = one.shape[1] if restart.dim() == 2 else other.shape[1]
    return one.expand(-1, width), other.expand(-1, width)


class Walk:
    """Attributes: iterations: those of the last call of :meth:`stationary`."""

    iterations = 0

    def __init__(self, graph: Graph, alpha: float, tol: float) -> None:
        self.graph, self.alpha = graph, alpha
        out = _matrix.strength(graph.weight, graph.rowptr)
        self.share = torch.where(out > 0, 1 / out, 0)[:, None]
        self.dangling = None if bool((out > 0).all()) else (out == 0).double()[:, None]
        self.pull = _matrix.pull(graph)
        # x changes by c in a step; the exact scores are within c alpha / (1 - alpha) of the new x.
        self.enough = tol * (1 - alpha) / alpha if alpha > 0 else math.inf
        self.steps = 1 if alpha == 0 else 2 + math.ceil(math.log(tol / 2) / math.log(alpha))

    def stationary(self, restart: Tensor, jump: Tensor, near: Tensor | None = None) -> Tensor:
        """The scores [n, k]. Each graph and column stops by itself, as if it were alone.

        Iterations begin at the restarts, or at other distributions that may be near the scores.
        """
        graph, self.iterations = self.graph, 0
        start = restart if near is None else near
        x, solved = self._solved(restart, jump)
        if bool(solved.all()):
            return self._normalized(x)
        moving: Tensor | None = None
        if bool(solved.any()):
            moving = (~solved)[:, None].expand(-1, restart.shape[1])
            x = torch.where(_batch.per_vertex(graph, moving), start, x)
        else:
            x = start
        if moving is None and (last := self._compiled(x, restart, jump)) is not None:
            return self._normalized(last)
        every = _STRIDE if graph.device.type == "cuda" else 1
        for step in range(1, self.steps + 1):
            self.iterations = step
            new = self._step(x, restart, jump)
            change = _batch.total(graph, (new - x).abs_())
            x = new if moving is None else torch.where(_batch.per_vertex(graph, moving), new, x)
            still = change > self.enough
            moving = still if moving is None else moving & still
            if step % every == 0:
                if not bool(moving.any()):
                    break
                if bool(moving.all()):
                    moving = None
        return self._normalized(x)

    def _compiled(self, start: Tensor, restart: Tensor, jump: Tensor) -> Tensor | None:
        """The last vector of a small graph by itself, whose steps are shorter than calls."""
        pull = self.pull
        if restart.shape[1] > 1 or not pull.is_small(self.graph) or self.steps > _matrix.MOST_STEPS:
            return None
        x, steps = _ops.ops.restarting_walk(
            pull.rowptr, pull.col, pull.weight, self.share, self.dangling, restart, jump,
            start.contiguous(), self.alpha, self.enough, self.steps,
        )  # fmt: skip
        self.iterations = int(steps)
        scores: Tensor = x[:, None]
        return scores

    def _solved(self, restart: Tensor, jump: Tensor) -> tuple[Tensor, Tensor]:
        """The scores of small graphs, and which these are.

        They solve x = M x + alpha (d'x) jump + (1 - alpha) restart. M are the steps over arcs, and
        d'x is the share of vertices without any."""
        graph, pull, width = self.graph, self.pull, restart.shape[1]
        value = self.alpha * self.share[:, 0].index_select(0, pull.col)
        value = value if pull.weight is None else value * pull.weight
        right = (1 - self.alpha) * restart
        if self.dangling is None:
            return _direct.solutions(graph, pull, value, right)
        both, solved = _direct.solutions(
            graph, pull, value, torch.cat([right, self.alpha * jump], 1)
        )
        once, again = (each.contiguous() for each in both.split(width, 1))
        mass, back = (_batch.total(graph, each * self.dangling) for each in (once, again))
        return once + again * _batch.per_vertex(graph, mass / (1 - back)), solved

    def _normalized(self, x: Tensor) -> Tensor:
        sums = _batch.total(self.graph, x)
        return x / _batch.per_vertex(self.graph, torch.where(sums > 0, sums, 1))

    def _step(self, x: Tensor, restart: Tensor, jump: Tensor) -> Tensor:
        flow = x * self.share
        new = self.pull(flow[:, 0])[:, None] if flow.shape[1] == 1 else self.pull(flow)
        if self.dangling is not None:
            mass = _batch.total(self.graph, x * self.dangling)
            new = new + _batch.per_vertex(self.graph, mass) * jump
        # Without a fused multiplication, which the loop of a small graph has not.
        return new.mul_(self.alpha).add_((1 - self.alpha) * restart)
