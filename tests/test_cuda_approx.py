"""Random shortest paths on CUDA: the same samples as on the CPU."""

import networkx as nx
import pytest
import scipy.stats
import torch
from graphs import diamonds, edge_index, random_graph, star
from internals import (
    COMPILED_FOR_CUDA,
    Request,
    Sampler,
    dependency_sums,
    plan_of,
    problem_of,
    run_search,
)

import torchcent
from torchcent import Graph, betweenness_adaptive, betweenness_approx, generate

if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)
if not COMPILED_FOR_CUDA:
    pytest.skip("no CUDA kernels", allow_module_level=True)

GRAPHS = {
    "R-MAT": lambda: generate.rmat(13, 8, seed=1),
    "BA": lambda: generate.ba(3000, 20, seed=1),
    "road": lambda: generate.road(60, 60, seed=1),
    "random": lambda: generate.er(3000, m=8000, seed=1),  # most vertices have more than four arcs
    "star": lambda: edge_index(star(500)).cpu(),
    "parts": lambda: torch.tensor([[0, 1, 5, 6], [1, 2, 6, 7]]),
    "edgeless": lambda: torch.zeros(2, 0, dtype=torch.int64),
}


def drawn(graph: Graph, samples: int, seed: int = 0) -> torch.Tensor:
    counts = Sampler(graph, torch.Generator().manual_seed(seed)).draw(samples)
    assert counts is not None and counts.device == graph.device
    return counts.cpu()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_samples_are_those_of_the_cpu(name, directed):
    """Path by path: sums of counts below 2^53 are exact, so the same are drawn."""
    graph = Graph.from_edge_index(GRAPHS[name](), 10_000 if name == "edgeless" else None, directed)
    samples = 200_000 if name == "R-MAT" else 20_000
    expected = drawn(graph, samples)
    actual = drawn(graph.to("cuda"), samples)
    # The logarithms of a race may differ in the last bit.
    assert int((actual - expected).abs().sum()) <= 1e-4 * int(expected.sum())


# Lengths of arcs: whole numbers, exact sums of float64, and sums that round.
LENGTHS = {
    "whole": lambda count, chance: torch.randint(1, 2**17, (count,), generator=chance),
    "exact": lambda count, chance: torch.rand(count, generator=chance),
    "rounded": lambda count, chance: torch.rand(count, generator=chance, dtype=torch.float64),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", GRAPHS)
def test_weighted_samples_without_ties_are_those_of_the_cpu(name, lengths, directed):
    edges = GRAPHS[name]()
    length = LENGTHS[lengths](edges.shape[1], torch.Generator().manual_seed(1))
    graph = Graph.from_edge_index(edges, 300 if name == "edgeless" else None, directed, length)
    if name not in ("parts", "edgeless"):
        assert graph.scale.exact == (lengths != "rounded")
        assert graph.scaled_weights[0].element_size() == (4 if lengths == "whole" else 8)
    expected = drawn(graph, 5000)
    actual = drawn(graph.to("cuda"), 5000)
    assert int((actual - expected).abs().sum()) <= 1e-4 * int(expected.sum())


@pytest.mark.parametrize("lengths", ["whole", "tenths", "rounded"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("arcs", [90, 150, 600])
def test_of_several_weighted_paths_all_are_alike(arcs, directed, lengths):
    """Sums of tenths are exact as decimals; as float64 they round, and only the source searches."""
    edges = edge_index(random_graph(60, arcs, seed=arcs)).cpu()
    whole = (1 + torch.arange(edges.shape[1]) % 3).double()
    graph = Graph.from_edge_index(edges, 60, directed, whole if lengths == "whole" else whole / 10)
    if lengths == "rounded":
        graph = graph.with_ties("float")
    samples = 400_000
    counts = drawn(graph.to("cuda"), samples).double()
    written = Graph.from_edge_index(edges, 60, directed, whole) if lengths == "tenths" else graph
    by = nx.betweenness_centrality(written.to_networkx(), weight="weight")
    chance = torch.tensor([by[v] for v in range(60)], dtype=torch.float64) * 58 / 60
    off = (counts - samples * chance).abs() / (samples * chance * (1 - chance)).clamp(1e-9).sqrt()
    assert counts[chance == 0].sum() == 0 and off.max() < 5.5


def test_weighted_samples_do_not_depend_on_how_many_are_drawn_at_a_time():
    edges = generate.rmat(10, 8, seed=1)
    length = 1 + torch.arange(edges.shape[1]) % 3
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=length).to("cuda")
    many, one = Sampler(graph, None), Sampler(graph, None)
    one.seed, one._searches = many.seed, 1
    assert many._searches > 100
    assert many.draw(2000).tolist() == one.draw(2000).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_beyond_float64_are_left_to_the_cpu(weighted):
    edges = edge_index(diamonds(3000)).cpu()
    length = torch.ones(edges.shape[1]) if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=length)
    counts = drawn(graph.to("cuda"), 300)
    if not weighted:  # those that do not overflow draw others of the paths that are alike
        assert counts.tolist() == drawn(graph, 300).tolist()
    assert int(counts.sum()) == int(drawn(graph, 300).sum())
    ways = torch.stack([counts[1:9000:3].sum(), counts[2:9000:3].sum()])
    assert scipy.stats.binomtest(int(ways[0]), int(ways.sum())).pvalue > 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_scores(weighted):
    edges = generate.rmat(11, 8, seed=1)
    length = 1 + torch.arange(edges.shape[1]) % 3 if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=length)
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=torch.float64))
    for method in ("kadabra", "rk", "pivots", "exact"):
        found = betweenness_approx(
            graph.to("cuda"),
            0.03,
            0.01,
            method=method,
            run=torchcent.Run(dtype=torch.float64),
            generator=torch.Generator().manual_seed(1),
        )
        assert found.scores.is_cuda and found.method == method
        assert (found.scores.cpu() - exact).abs().max() <= max(found.epsilon, 1e-5)
        assert found.top(3).vertices.is_cuda
    hub = exact.topk(1).indices
    adaptive = betweenness_adaptive(graph.to("cuda"), hub)
    assert adaptive.scores.is_cuda and 0.1 < float(adaptive.scores) / float(exact[hub]) < 10


@pytest.mark.parametrize("weighted", [False, True])
def test_a_cancelled_run_stops(weighted):
    edges = generate.ba(100, 3).cuda()
    length = torch.ones(edges.shape[1], device="cuda") if weighted else None
    sampler = Sampler(Graph.from_edge_index(edges, edge_weight=length), None)
    sampler.control[0] = 1
    assert sampler.draw(1000) is None
    assert sampler.control.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_linear_scaling(name, directed, weighted):
    edges = GRAPHS[name]()
    length = (1 + torch.arange(edges.shape[1]) % 3).double() if weighted else None
    graph = Graph.from_edge_index(edges, 100 if name == "edgeless" else None, directed, length)
    pivots = torch.arange(0, graph.num_nodes, max(graph.num_nodes // 100, 1))
    expected = dependency_sums(graph, pivots, None, False, "linear")
    for engine in ("dijkstra", "tensor") if weighted else ("lanes", "queue"):
        there = graph.to("cuda")
        plan, core = plan_of(there, Request("linear", engine), pivots.numel())
        problem = problem_of(there, core, "linear", pivots.cuda(), None, False)
        found = run_search(problem, plan, False).cpu()
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
