"""leiden: communities by the algorithm of igraph."""

from __future__ import annotations

import random
import threading
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime._optional import need

_OBJECTIVES = {"modularity": "modularity", "cpm": "CPM"}
_ALONE = threading.Lock()  # igraph has one generator of random numbers


@measure(
    "vertices", weights="strengths", parts_of="communities", undirected=True,
    choices={"objective": tuple(_OBJECTIVES)},
    without={
        "functional": "igraph searches one graph after the other, on the host",
        "columns": "its numbers are no features",
        "networkx": "it would be igraph behind two conversions",
    },
)  # fmt: skip
def leiden(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    resolution: float = 1.0,
    objective: str = "modularity",
    iterations: int = 2,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Communities by the Leiden algorithm, computed by igraph.

    It looks for the partition of the largest modularity (:func:`modularity`), or of the largest

    .. math:: \sum_c \Big( L_c - \gamma \binom{n_c}{2} \Big)

    where community c has :math:`n_c` vertices and edges of the weight :math:`L_c` inside. Every
    community is connected.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library, a matrix, an array or a
            table (docs/inputs.md). Every arc needs its reverse; directed=False adds those missing.
            Parallel arcs are added up.
        edge_weight: [E], the strength of each edge, finite and >= 0; None for 1 each. A Graph has
            its own weights.
        resolution: :math:`\gamma`; larger values give more and smaller communities.
        objective: "modularity" or "cpm", the constant Potts model of the formula above.
        iterations: how often communities are refined, 1 to 1000; -1 until nothing changes, which
            takes several times as long.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Each graph is divided as if it were
            alone, and numbers go on from graph to graph.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        generator: of the order in which vertices are moved; None uses torch's global generator.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n], on the device of the graph: the community of each vertex. They are
        numbered by decreasing size, those of the same size by their lowest vertices.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ImportError: igraph is not installed: ``pip install .[igraph]``.

    About O(m log n) time, on one thread of the host.

    Example:
        >>> import torch, torchcent
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> torchcent.leiden(two_triangles, directed=False)
        tensor([0, 0, 0, 1, 1, 1])

    Source:
        Traag, Waltman and van Eck 2019.
    """
    gamma = check_values.within(resolution, "resolution", "[0, inf)")
    kind = _OBJECTIVES[check.choice(objective, "objective", tuple(_OBJECTIVES))]
    rounds = check_values.integer(iterations, "iterations")
    if rounds != -1 and not 1 <= rounds <= 1000:
        raise check_values.wrong_value("iterations", "-1, or 1 to 1000", rounds)
    igraph = need("igraph", "igraph", "leiden")
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    check.undirected(graph, "leiden")
    graph = graph._with(directed=False) if graph.directed else graph
    seed = int(torch.randint(2**62, (), generator=generator, device=_device(generator)))
    options = {"objective_function": kind, "resolution": gamma, "n_iterations": rounds}
    labels, first = [], 0
    for number in range(graph.num_graphs):
        own = _divided(igraph, _batch.part(graph, number).to("cpu"), options, seed)
        labels.append(own + first)
        first += int(own.max()) + 1 if own.numel() else 0
    return torch.cat(labels).to(graph.device) if labels else graph.rowptr[:0].clone()


def _device(generator: torch.Generator | None) -> torch.device:
    if generator is None:
        return torch.device("cpu")
    if not isinstance(generator, torch.Generator):
        raise check_values.wrong_type("generator", "a torch.Generator", generator)
    return generator.device


def _divided(igraph: Any, graph: Graph, options: dict[str, Any], seed: int) -> Tensor:
    """int64 [n], of a graph on the host."""
    network = graph.to_igraph()
    weights = None if graph.weight is None else "weight"
    with _ALONE:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            division = network.community_leiden(weights=weights, **options)
        finally:
            igraph.set_random_number_generator(random)
    label = torch.tensor(division.membership, dtype=torch.int64, device="cpu")
    return _by_size(label)


def _by_size(label: Tensor) -> Tensor:
    """The labels by decreasing size, then by the lowest vertex."""
    if not label.numel():
        return label
    label = torch.unique(label, return_inverse=True)[1]
    size = torch.bincount(label)
    order = torch.argsort(_csr.firsts(label, size.numel()))
    order = order[torch.argsort(size[order], stable=True, descending=True)]
    return _csr.inverse(order)[label]
