"""Random shortest paths on CUDA: the same samples as on the CPU."""

import pytest
import scipy.stats
import torch
from graphs import diamonds, edge_index, star

import torchcent
from torchcent import (
    Graph,
    _driver,
    _plan,
    _reduce,
    betweenness_adaptive,
    betweenness_approx,
    generate,
)
from torchcent._approx._pivots import dependency_sums
from torchcent._approx._sampler import Sampler

if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)
if not torchcent._ops.cuda:
    pytest.skip("no CUDA kernels", allow_module_level=True)

GRAPHS = {
    "R-MAT": lambda: generate.rmat(13, 8, seed=1),
    "BA": lambda: generate.ba(3000, 20, seed=1),
    "road": lambda: generate.road(60, 60, seed=1),
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


def test_counts_beyond_float64_are_left_to_the_cpu():
    graph = Graph.from_edge_index(edge_index(diamonds(3000)).cpu(), directed=False)
    counts = drawn(graph.to("cuda"), 300)
    assert counts.tolist() == drawn(graph, 300).tolist()
    ways = torch.stack([counts[1:9000:3].sum(), counts[2:9000:3].sum()])
    assert scipy.stats.binomtest(int(ways[0]), int(ways.sum())).pvalue > 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_scores(weighted):
    edges = generate.rmat(11, 8, seed=1)
    length = 1 + torch.arange(edges.shape[1]) % 3 if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=length)
    exact = torchcent.betweenness(graph, dtype=torch.float64)
    for method in ("kadabra", "rk", "pivots", "exact"):
        most = 200 if weighted and method != "exact" else None
        found = betweenness_approx(
            graph.to("cuda"), 0.03, 0.01, method=method, max_samples=most, dtype=torch.float64,
            generator=torch.Generator().manual_seed(1),
        )  # fmt: skip
        assert found.scores.is_cuda and found.method == method
        assert (found.scores.cpu() - exact).abs().max() <= max(found.epsilon, 1e-5)
        assert found.top(3).vertices.is_cuda
    hub = exact.topk(1).indices
    adaptive = betweenness_adaptive(graph.to("cuda"), hub)
    assert adaptive.scores.is_cuda and 0.1 < float(adaptive.scores) / float(exact[hub]) < 10


def test_a_cancelled_run_stops():
    sampler = Sampler(Graph.from_edge_index(generate.ba(100, 3).cuda()), None)
    sampler.control[0] = 1
    assert sampler.draw(1000) is None
    assert sampler.control.tolist() == [1, 0, 0]


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
        plan, core = _plan.plan(there, "linear", engine, pivots.numel(), None)
        problem = _reduce.problem(there, core, "linear", pivots.cuda(), None, False)
        found = _driver.run(problem, plan, False).cpu()
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
