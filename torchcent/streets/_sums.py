"""accessibility and straightness: sums over what is within reach of each vertex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _positions as check_positions
from torchcent.check._cutoff import Cutoffs, Lengths
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import number, shortened, wrong_type
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._near import NearPairs, chosen_vertices, near_pairs

#: the name of a function and its parameter, or any function of a tensor of distances
Decay = tuple[str, float] | Callable[[Tensor], Tensor] | None
_DECAYS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "power": lambda d, b: d**-b,
    "exponential": lambda d, b: torch.exp(-b * d),
    "gaussian": lambda d, b: torch.exp(-((d / b) ** 2) / 2),
    "linear": lambda d, b: (1 - d / b).clamp_(min=0),
}


#: surfaces on which arguments are numbers of vertices alone
_ELSEWHERE = NOT_IN_NETWORKX | {
    "functional": "decays and positions are no numbers of vertices",
    "columns": "it needs a cutoff, a decay or positions",
}


@measure("vertices", "dtype", searches=True, without=_ELSEWHERE)
def accessibility(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: Lengths = None,
    decay: Decay = None,
    destinations: Tensor | None = None,
    vertices: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""What is within reach of each vertex: the sum of what is at others, less the farther it is.

    .. math:: A(v) = \sum_{u \ne v,\; d(v, u) \le c} w_u \, f(d(v, u))

    It counts places within a cutoff, or is the gravity of places with a decay f of their distance
    (Hansen 1959). Distances are those from v, along outgoing arcs.

    Args:
        cutoff: c, in hops or by weights; searches end there. None counts all that v reaches. A list
            or tensor of cutoffs gives a column for each, from one search within the largest.
        decay: f, a pair of a name and b: "power" for :math:`d^{-b}`, "exponential" for
            :math:`e^{-b d}`, "gaussian" for :math:`e^{-(d / b)^2 / 2}`, "linear" for
            :math:`\max(1 - d / b, 0)`. Or a function that takes a float64 tensor of distances > 0
            and returns as many numbers. None is 1 for all distances.
        destinations: [n], the weight w of each vertex as a destination, such as jobs or people;
            None is 1 for all. What is at v itself does not count; add ``destinations`` if it does.
        vertices: compute only the sums of these.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`. Searches are on the host.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)]; with several cutoffs a column for each.

    Raises:
        TypeError, ValueError: an argument is invalid, or `decay` does not return as many numbers;
            the message names it.

    Each vertex is searched up to the largest cutoff, twice: the first search counts the pairs,
    which are then added up in pieces that fit into memory. So the time grows with the number of
    pairs. Without a cutoff, that is the square of the number of vertices.

    Example:
        >>> import torch, torchcent
        >>> street = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> metres, jobs = torch.tensor([300.0, 400.0, 500.0]), torch.tensor([5, 0, 10, 100])
        >>> torchcent.accessibility(street, metres, directed=False, cutoff=800, destinations=jobs)
        tensor([ 10.,  15., 105.,  10.])
        >>> torchcent.accessibility(street, metres, directed=False, decay=("exponential", 0.005))
        tensor([0.2558, 0.3696, 0.2476, 0.0957])

    Source:
        Hansen 1959; Geurs and van Wee 2004; gravity of cityseer: Simons 2022.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limits = check_cutoff.cutoffs(cutoff, run.engine.name)
    function = _function(decay)
    weight = None
    if destinations is not None:
        weight = check.per_vertex(destinations, "destinations", graph).cpu()

    def value(near: NearPairs) -> Tensor:
        if weight is None:
            return function(near.distance)
        return function(near.distance) * weight[near.vertex]

    sums = _sums(graph, vertices, limits, run, "accessibility", value)[0]
    return _columns(sums, limits, graph, run)


@measure("vertices", "dtype", searches=True, without=_ELSEWHERE)
def straightness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    positions: Tensor | np.ndarray,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: Lengths = None,
    normalized: bool = True,
    vertices: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Straightness centrality: how much longer paths are than the straight lines to their ends.

    .. math:: C_S(v) = \frac{1}{r_v} \sum_{u \ne v,\; d(v, u) \le c} \frac{\|x_v - x_u\|}{d(v, u)}

    where :math:`r_v` is the number of vertices in the sum. It is 1 if all streets lead straight
    there, and 0 for a vertex that reaches no other.

    Args:
        positions: [n, 2], a tensor or an array: x and y of each vertex, in the unit of the weights,
            as metres of a projected system.
        cutoff: as in :func:`accessibility`.
        normalized: divide by r_v, as momepy does; False divides by n - 1 instead.
        Others: as in :func:`accessibility`. There must be weights.
        run: how it is computed, see :class:`Run`. Searches are on the host.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)]; with several cutoffs a column for each.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    It takes the time of :func:`accessibility`.

    Example:
        >>> import torch, torchcent
        >>> corner = torch.tensor([[0, 1], [1, 2]])
        >>> metres, places = torch.tensor([3.0, 4.0]), torch.tensor([[0.0, 3], [0, 0], [4, 0]])
        >>> torchcent.straightness(corner, metres, positions=places, directed=False)
        tensor([0.8571, 1.0000, 0.8571])

    Source:
        Porta, Crucitti and Latora 2006.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    if not graph.is_weighted:
        raise ValueError(
            "straightness compares lengths with positions: pass edge_weight (--weights)"
        )
    place = check_positions.points(positions, graph.num_nodes)
    limits = check_cutoff.cutoffs(cutoff, run.engine.name)
    check.flag(normalized, "normalized")
    chosen = chosen_vertices(graph, vertices)

    def value(near: NearPairs) -> Tensor:
        begin = place[chosen[near.first : near.first + near.sizes.numel()]][near.place]
        apart: Tensor = torch.linalg.vector_norm(begin - place[near.vertex], dim=1)
        return apart / near.distance

    sums, reach = _sums(graph, vertices, limits, run, "straightness", value)
    if not normalized:
        reach = _normalize.others(graph, vertices).cpu().double().reshape(-1, 1)
    return _columns(sums / reach.clamp(min=1), limits, graph, run)


def _sums(
    graph: Graph, vertices: Tensor | None, limits: Cutoffs | None, run: Run, title: str,
    value: Callable[[NearPairs], Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """float64 [k, cutoffs]: the sums of a function of pairs, and the number of pairs."""
    chosen = chosen_vertices(graph, vertices)
    lengths = (torch.inf,) if limits is None else limits.lengths
    sums = torch.zeros(chosen.numel(), len(lengths), dtype=torch.float64, device="cpu")
    pairs = torch.zeros_like(sums)
    for near in near_pairs(graph, chosen, lengths[-1], run, title):
        part = slice(near.first, near.first + near.sizes.numel())
        # Those of a source and itself have no part in sums, and functions of 0 may be infinite.
        apart = near.distance > 0
        sizes = _segments.of_segments(_csr.pointers(near.sizes), apart.double()).long()
        ends = _csr.pointers(sizes)
        others = near._replace(
            sizes=sizes, vertex=near.vertex[apart], distance=near.distance[apart]
        )
        values = value(others)
        for column, length in enumerate(lengths):
            counts = others.distance <= length
            within = values.masked_fill(~counts, 0)
            sums[part, column] = _segments.of_segments(ends, within)
            pairs[part, column] = _segments.of_segments(ends, counts.double())
    return sums, pairs


def _columns(sums: Tensor, limits: Cutoffs | None, graph: Graph, run: Run) -> Tensor:
    scores = sums[:, 0] if limits is None else limits.of(sums)
    return scores.to(device=graph.device, dtype=run.dtype)


def _function(decay: Any) -> Callable[[Tensor], Tensor]:
    """A decay as a function that returns as many float64 numbers as there are distances."""
    if decay is None:
        return torch.ones_like
    if isinstance(decay, tuple | list) and len(decay) == 2 and isinstance(decay[0], str):
        name, parameter = decay
        if name not in _DECAYS:
            known = ", ".join(map(repr, _DECAYS))
            raise ValueError(f"decay={shortened(decay)}; its name must be one of {known}")
        rate = number(parameter, "the parameter of decay")
        if not 0 < rate < torch.inf:
            raise ValueError(f"the parameter of decay must be finite and > 0, got {rate:g}")
        return lambda distance: _DECAYS[name](distance, rate)
    if not callable(decay):
        raise wrong_type("decay", "a pair of a name and a number, a function or None", decay)

    def call(distance: Tensor) -> Tensor:
        values: Any = decay(distance)
        if not isinstance(values, Tensor) or values.shape != distance.shape:
            what = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise ValueError(
                f"decay must return a number for each of {distance.numel()} distances, got {what}"
            )
        return values.to(device=distance.device, dtype=torch.float64)

    return call
