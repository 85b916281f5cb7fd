"""Pivots with linear scaling: every engine, against shortest paths that are listed one by one."""

import os

import networkx as nx
import pytest
import torch
from engines import PAIRS
from graphs import (
    DEVICE,
    arc_lists,
    diamonds,
    edge_index,
    grid,
    path,
    random_graph,
    star,
    tower,
    union,
)
from hypothesis import given
from hypothesis import strategies as st
from internals import Pivots, Request, dependency_sums, plan_of, problem_of, run_search
from surface import call

from torchcent import Graph, Run, betweenness_approx

pytestmark = pytest.mark.sweep

F64 = torch.float64
COMPILED = not os.environ.get("TORCHCENT_NO_EXTENSION")
ENGINES = {
    False: ("tensor", "lanes", "queue") if COMPILED else ("tensor",),
    True: ("tensor", "dijkstra") if COMPILED else ("tensor",),
}
GRAPHS = {
    "random": (30, random_graph(30, 60, seed=1)),
    "dense": (12, random_graph(12, 50, seed=2)),
    "grid": (20, grid(4, 5)),
    "leaves": (14, [*star(9), (1, 10), (10, 11), (11, 12)]),
    "tower": (11, tower(3, 3)),
    "parts": union((9, random_graph(9, 14, seed=3)), (4, path(4)), (2, [])),
}


def made(name: str, directed: bool, weighted: bool) -> Graph:
    n, arcs = GRAPHS[name]
    length = None
    if weighted:
        length = torch.tensor([1 + i % 3 for i in range(len(arcs))], dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs), n, directed, length)


def listed(graph: Graph, pivots: list[int], weights: list[float] | None = None) -> torch.Tensor:
    """float64 [n]: d(s, v) / d(s, t) over the number of paths from s to t, added up over all paths
    that begin at a pivot."""
    by = nx.DiGraph()
    by.add_nodes_from(range(graph.num_nodes))
    row, col = graph.to_edge_index().tolist()
    length = graph.weight.tolist() if graph.weight is not None else [1] * len(row)
    by.add_weighted_edges_from(zip(row, col, length, strict=True))
    found = torch.zeros(graph.num_nodes, dtype=F64)
    for number, s in enumerate(pivots):
        distance = nx.single_source_dijkstra_path_length(by, s)
        for t in distance:
            paths = list(nx.all_shortest_paths(by, s, t, weight="weight")) if t != s else []
            for v in (v for way in paths for v in way[1:-1]):
                part = distance[v] / distance[t] / len(paths)
                found[v] += part if weights is None else weights[number] * part
    return found


def by_engine(graph: Graph, pivots: torch.Tensor, engine: str) -> torch.Tensor:
    plan, core = plan_of(graph, Request("linear", engine), pivots.numel())
    assert plan.engine == engine
    return run_search(problem_of(graph, core, "linear", pivots, None, False), plan, False)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_engine(name, directed, weighted):
    graph = made(name, directed, weighted)
    pivots = list(range(0, graph.num_nodes, 2))
    expected = listed(graph, pivots)
    assert expected.max() > 0
    for engine in ENGINES[weighted]:
        found = by_engine(graph, torch.tensor(pivots, device=DEVICE), engine)
        torch.testing.assert_close(found.cpu(), expected, rtol=1e-5, atol=1e-9)


@given(arc_lists(), st.booleans(), st.booleans())
def test_random_graphs(case, directed, weighted):
    n, arcs = case
    length = torch.tensor([1 + i % 4 for i in range(len(arcs))], dtype=F64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(arcs), n, directed, length if weighted else None)
    expected = listed(graph, list(range(n)))
    for engine in ENGINES[weighted]:
        found = by_engine(graph, torch.arange(n, device=DEVICE), engine)
        torch.testing.assert_close(found.cpu(), expected, rtol=1e-5, atol=1e-9)


def test_path_counts_beyond_float64():
    """Along a chain of diamonds, which has 2^1200 shortest paths."""
    count = 1200
    graph = Graph.from_edge_index(edge_index(diamonds(count)), directed=False)
    n = graph.num_nodes
    found = dependency_sums(graph, torch.tensor([0], device=DEVICE), None, False, "linear").cpu()
    behind = 2.0 * torch.arange(1, count, dtype=F64)  # distances of the joints
    for k in (1, 2, 700, count - 1):
        joint, d = 3 * k, 2.0 * k
        ends = (1 / behind[behind > d]).sum() + 1 / (2.0 * count)
        sides = 2 * (1 / (behind[behind >= d] + 1)).sum()
        torch.testing.assert_close(found[joint], d * (ends + sides), rtol=PAIRS, atol=0)
    assert n == 3 * count + 1


def test_a_path_from_its_end():
    """With the pivot 0 of a path, v gets 2 v (1 / (v + 1) + ... + 1 / (n - 1)) / (n - 2)."""
    n = 7
    graph = Graph.from_edge_index(edge_index(path(n)), directed=False)
    seed = next(s for s in range(50) if int(torch.randperm(n, generator=chance(s))[0]) == 0)
    found = betweenness_approx(
        graph,
        method="pivots",
        max_samples=1,
        pivots="uniform+linear",
        run=Run(dtype=F64),
        generator=chance(seed),
    )
    expected = [2 * v * sum(1 / t for t in range(v + 1, n)) / (n - 2) for v in range(1, n)]
    torch.testing.assert_close(found.scores[1:].cpu(), torch.tensor(expected, dtype=F64))
    assert found.scores[0].isnan() and found.reason.endswith("uniform+linear")


def chance(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["random", "parts"])
def test_all_pivots_are_exact(name, directed, weighted):
    graph = made(name, directed, weighted)
    exact = nx.betweenness_centrality(
        graph.to_networkx(), weight="weight" if weighted else None, normalized=True
    )
    found = betweenness_approx(
        graph, method="pivots", max_samples=10**6, pivots="uniform+linear", run=Run(dtype=F64)
    )
    assert found.samples == graph.num_nodes and found.epsilon == 0
    expected = torch.tensor([exact[v] for v in range(graph.num_nodes)], dtype=F64)
    torch.testing.assert_close(found.scores.cpu(), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("pivots", ["uniform", "degree"])
@pytest.mark.parametrize("directed", [False, True])
def test_no_bias_and_within_the_bounds(directed, pivots):
    graph = made("random", directed, False)
    exact = betweenness_approx(graph, method="exact", run=Run(dtype=F64)).scores.cpu()
    runs = []
    for seed in range(300):
        found = betweenness_approx(
            graph, 0.1, 0.2, method="pivots", max_samples=6, pivots=f"{pivots}+linear",
            run=Run(dtype=F64), generator=chance(seed),
        )  # fmt: skip
        runs.append(found.scores.cpu())
        if pivots == "uniform" and seed < 20:
            assert ((found.lower.cpu() <= exact) & (exact <= found.upper.cpu())).all()
    mean, error = torch.stack(runs).mean(0), torch.stack(runs).std(0) / len(runs) ** 0.5
    assert ((mean - exact).abs() <= 4.5 * error + 1e-9).all()


def test_twice_as_much_to_tell_asks_for_four_times_as_many():
    graph = Graph.from_edge_index(edge_index(random_graph(400, 900, seed=5)), 400, False)
    plain = betweenness_approx(graph, 0.35, 0.5, method="pivots")
    linear = betweenness_approx(graph, 0.35, 0.5, method="pivots", pivots="uniform+linear")
    # One more each, for what a pivot cannot tell of itself; without replacement from the 399
    # others, the square of epsilon is in proportion to (1 + 1 / 399) / k - 1 / 399.
    square = [400 / (found.samples - 1) - 1 for found in (plain, linear)]
    assert 3.75 < square[0] / square[1] < 4.25
    assert linear.reached and linear.epsilon <= 0.35


def test_both_ways_of_a_directed_graph():
    graph = made("random", True, False)
    pivots = torch.tensor([0, 3, 4], device=DEVICE)
    expected = listed(graph, [0, 3, 4]) + listed(graph.reversed(), [0, 3, 4])
    found = Pivots(graph, "uniform", "linear", None, False).sums(pivots)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-5, atol=1e-9)
    arcs = graph.degree + graph.transpose[0].diff()
    weights = [2 * graph.num_slots / int(arcs[v]) for v in (3, 4)]
    expected = listed(graph, [3, 4], weights) + listed(graph.reversed(), [3, 4], weights)
    found = Pivots(graph, "degree", "linear", None, False).sums(pivots[1:])
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.each
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pivots", "pivots": "uniform+square"}, "pivots must be one of uniform, degree"),
        ({"pivots": "max_min+linear"}, "pivots=.* is for method='pivots', not 'auto'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        call(betweenness_approx, edge_index(path(4)), **options)
