"""current_flow_betweenness_approx: from the currents between random pairs of vertices."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.approx._result import Approximation, exact, outward
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.flow._current_flow import betweenness_of
from torchcent.flow._solver import Potentials, fits, pairs_of, total_currents
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph

_METHODS = ("auto", "pairs", "exact")


@measure(
    "vertices", "dtype", weights="conductances", undirected=True, choices={"method": _METHODS},
    without=dict.fromkeys(
        ("functional", "columns"), "its result is an Approximation: scores with intervals"
    ),
)  # fmt: skip
def current_flow_betweenness_approx(
    edge_index: GraphLike,
    epsilon: float = 0.01,
    delta: float = 0.1,
    *,
    method: str = "auto",
    max_samples: int | None = None,
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> Approximation:
    r"""Approximates the current-flow betweenness of every vertex to within epsilon.

    .. math:: P\Big(\max_v | \tilde b(v) - C_{CB}(v) | \le \varepsilon\Big) \ge 1 - \delta

    The guarantee holds for the normalised scores of :func:`current_flow_betweenness`, for all
    vertices simultaneously. Of random pairs s, t the currents through all vertices are computed:
    numbers in [0, 1], whose mean times n / (n - 2) is the score. By Hoeffding's inequality and a
    union bound over the vertices

    .. math:: k = \left\lceil \frac{1}{2} \Big(\frac{n}{(n - 2)\, \varepsilon}\Big)^2
              \ln \frac{2n}{\delta} \right\rceil

    pairs suffice.

    Args:
        epsilon: maximum absolute error, in [1e-9, 1); scores lie in [0, 1].
        delta: probability of failure, in (0, 1).
        method: "pairs", "exact", or "auto", which selects "exact" where that takes less time.
        max_samples: maximum number of pairs. The result reports the epsilon that was reached.
        generator: source of the random pairs; None uses torch's global generator.
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`current_flow_betweenness`; weights are
    **conductances**. The graph must be undirected, and no batch.

    Each pair is a solution of a linear system, O(n + m) from a dense inverse, which is found once
    (:func:`current_flow_betweenness`), otherwise by SciPy's sparse factors.

    Returns:
        :class:`Approximation`: scores, lower and upper ends of intervals, with probability
        1 - delta for all vertices simultaneously.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Example:
        >>> import torch, torchcent
        >>> square = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
        >>> drawn = torchcent.current_flow_betweenness_approx(
        ...     square, 0.1, directed=False, method="pairs",
        ...     generator=torch.Generator().manual_seed(1),
        ... )
        >>> bool((drawn.scores - torch.tensor([5, 2, 5, 2]) / 12).abs().max() < 0.1)
        True

    Source:
        Brandes and Fleischer 2005, "Centrality measures based on current flow", section 5.
    """
    graph = as_graph(
        edge_index, edge_weight, num_nodes, None, directed, run, weights="conductances"
    )
    name = "current_flow_betweenness_approx"
    check_batch.one_graph(graph, name, "current_flow_betweenness has exact scores of each")
    epsilon, delta = check_approx.epsilon(epsilon), check_approx.share(delta, "delta")
    check.choice(method, "method", _METHODS)
    most = check.positive(max_samples, "max_samples")
    chance = check.random_generator(generator)
    check.undirected(graph, name)
    n, why = graph.num_nodes, "asked for"
    if n < 3:
        method, why = "exact", "no vertex is between two others"
    if method != "exact":
        share = n / (n - 2)
        enough = math.ceil((share / epsilon) ** 2 * math.log(2 * n / delta) / 2)
        pairs = min(enough, most or enough)
        if method == "auto":
            method = "exact" if pairs >= _pairs_of_exact(graph, run.memory) else "pairs"
            why = f"{pairs:,} pairs against {n:,} vertices"
    if method == "exact":
        scores = betweenness_of(graph, True, run.memory).to(run.dtype)
        return exact(graph, scores, why)
    radius = min(share * math.sqrt(math.log(2 * n / delta) / (2 * pairs)), 1.0)
    means = of_pairs(graph, _random_pairs(graph, pairs, chance), run.memory)
    scores = (means * share).clamp_(max=1)
    ends = outward((scores - radius).clamp(min=0), (scores + radius).clamp(max=1), run.dtype)
    end = "enough samples" if pairs == enough else f"cut short at epsilon={radius:.3g}"
    return Approximation(
        scores.to(run.dtype), *ends, radius, delta, pairs, method="pairs",
        reached=pairs == enough, reason=f"{why}; {end}", _graph=graph,
    )  # fmt: skip


def _random_pairs(graph: Graph, pairs: int, generator: torch.Generator | None) -> Tensor:
    """int64 [2, pairs]: two different vertices each, uniformly at random."""
    where = torch.device("cpu") if generator is None else generator.device
    n = graph.num_nodes
    s = torch.randint(n, (pairs,), generator=generator, device=where)
    t = torch.randint(n - 1, (pairs,), generator=generator, device=where)
    return torch.stack([s, t + (t >= s)]).to(graph.device)


def _pairs_of_exact(graph: Graph, memory: int | None) -> float:
    """The number of pairs that takes about as long as exact scores. For each edge these sort a
    number per vertex, or solve a system, and a pair adds up a number."""
    largest = int(torch.bincount(graph.components).max())
    if fits(largest, memory, graph.device):
        return graph.num_nodes
    return graph.num_slots / 2


def of_pairs(graph: Graph, pairs: Tensor, memory: int | None) -> Tensor:
    """float64 [n]: the mean current through each vertex over the pairs, 0 for their ends. `pairs`
    is int64 [2, P], of two different vertices each. No current flows between components."""
    score = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    for part, _, ends in pairs_of(graph, *pairs):
        potentials = Potentials(part, memory, columns=ends.shape[1])
        # All of the current of an end leaves it, so that its edges carry 1 in sum.
        through = part.at_ends(total_currents(potentials, *ends))
        between = ((through - torch.bincount(ends.flatten(), minlength=part.size)) / 2).clamp(min=0)
        is_leaf = graph.degree[part.vertices] == 1  # nothing but rounding flows through it
        score[part.vertices] = between.masked_fill(is_leaf, 0)
    return score / max(pairs.shape[1], 1)
