"""Random graphs of given degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.check._values import number as number_of
from torchcent.check._values import shortened
from torchcent.generate._edges import check_room, generator, pairs, symmetric, whole
from torchcent.graph import Graph, _rewiring
from torchcent.graph._arguments import GraphLike, as_graph


def configuration_model(degrees: Any, *, seed: int = 0) -> Tensor:
    """A random simple graph in which vertex v has degrees[v] neighbours.

    The ends of edges are joined at random. Loops and repeated edges exchange ends with others until
    there are none, and then all edges do so ten times, as in :func:`rewired`. num_nodes: that of
    degrees.

    Args:
        degrees: integers [n], such as ``torchcent.degree(graph)``, which a simple graph can have.
        seed: of the draws.

    Raises:
        ValueError: their sum is odd, or no simple graph has these degrees.

    Reference: Molloy, Reed: A critical point for random graphs with a given degree sequence, 1995.

    Example:
        >>> arcs = configuration_model([3, 2, 2, 2, 1])
        >>> arcs[0].bincount().tolist()
        [3, 2, 2, 2, 1]
    """
    degree = check_labels.whole_numbers(degrees, "degrees")
    n = degree.size
    if n and (degree.min() < 0 or not _rewiring.is_graphical(degree)):
        what = "their sum is odd" if degree.sum() % 2 else "no simple graph has them"
        raise ValueError(f"degrees={shortened(degree.tolist())}: {what}")
    check_room(n, float(degree.sum()) / 2, f"{n} degrees")
    rng = generator(seed)
    keys = _rewiring.of_degrees(degree, rng)
    return symmetric(np.sort(_rewiring.rewired(keys, n, 1, 10, rng)[0]), n)


def _positive(name: str, value: object) -> float:
    size = number_of(value, name)
    if not 0 <= size <= 10**6:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 to 10^6")
    return size


def rewired(
    edge_index: GraphLike,
    *,
    number: int | None = None,
    swaps: float = 10,
    num_nodes: int | None = None,
    directed: bool | None = None,
    seed: int = 0,
) -> Graph:
    """Random graphs with the degrees of a graph: what is due to degrees alone.

    Pairs of edges exchange ends, (a, b) and (c, d) become (a, d) and (c, b), wherever that gives
    neither a loop nor an edge that is there. All simple graphs of these degrees are equally likely
    in the long run. Without edges to exchange, as in a star, the graph stays as it is.

    In directed graphs, arcs exchange heads, in pairs and in threes. Every vertex keeps its
    out-degree and its in-degree. A graph whose arcs all have their reverse is undirected.

    Args:
        edge_index: the graph: int64 [2, E], a Graph, or a graph of another library. Loops and
            parallel edges are dropped; it has no weights and is no batch.
        number: how many graphs; they are one batch, so that a measure of all of them is one call.
            None: a single graph, with the names of the vertices.
        swaps: exchanges that are tried, per edge.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        seed: of the draws.

    Returns:
        A Graph; with `number` a batch of number * n vertices (docs/batches.md).

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(swaps * number * m log m) time, vectorised.

    References: Allendorf et al.: Parallel global edge switching for the uniform sampling of simple
    graphs with prescribed degrees, 2022. Directed: Rao, Jana, Bandyopadhyay: A Markov chain Monte
    Carlo method for generating random (0, 1)-matrices with given marginals, 1996.

    Example:
        >>> import torchcent
        >>> ring = grid(3, 3)
        >>> nulls = rewired(ring, number=100)
        >>> nulls.num_graphs, torchcent.transitivity(nulls).shape
        (100, torch.Size([100]))
    """
    graph = as_graph(edge_index, None, num_nodes, None, directed)
    copies = 1 if number is None else whole("number", number, 0)
    if graph.is_weighted or graph.ptr is not None:
        what = "weights: pass graph.unweighted()" if graph.is_weighted else "several graphs"
        raise ValueError(f"rewired is for one graph of edges without weights, and this has {what}")
    tries, n = _positive("swaps", swaps), graph.num_nodes
    row, col = graph.to_edge_index().cpu().numpy()
    one_way = not graph._mutual
    keys = row * n + col if one_way else pairs(row, col, max(n, 1))
    check_room(copies * n, copies * keys.size, f"number={copies}")
    every = _rewiring.rewired(keys, max(n, 1), copies, tries, generator(seed), one_way)
    u, v = np.divmod(every, max(n, 1))
    first = np.arange(copies)[:, None] * n
    ends = torch.from_numpy(np.stack([(u + first).ravel(), (v + first).ravel()]))
    ptr = None if number is None else torch.arange(copies + 1, device="cpu") * n
    new = Graph.from_edge_index(ends, copies * n, directed=one_way, ptr=ptr).to(graph.device)
    return new if number is not None or graph.labels is None else new.with_labels(graph.labels)
