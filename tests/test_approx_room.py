"""Approximations: memory=, tie_tolerance=, and intervals in narrow dtypes."""

import networkx as nx
import pytest
import torch
from graphs import DEVICE, edge_index, grid, random_graph
from internals import Sampler
from surface import call

import torchcent
from torchcent import Graph, betweenness_adaptive, betweenness_approx

F64 = torch.float64


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("weighted", [False, True])
def test_memory(weighted):
    arcs = random_graph(200, 600, seed=1)
    length = torch.ones(600, dtype=F64, device=DEVICE) if weighted else None
    graph = Graph.from_edge_index(edge_index(arcs), 200, False, length)
    for method in ("kadabra", "rk"):
        with pytest.raises(MemoryError, match="one at a time, needs .* memory=1000 "):
            betweenness_approx(graph, 0.1, method=method, run=torchcent.Run(memory=1000))
    least = Sampler(graph, None)._searches_that_fit
    needed = next(size for size in range(2**10, 2**26, 2**10) if fits(least, size))
    found = betweenness_approx(
        graph, 0.1, run=torchcent.Run(memory=needed), method="kadabra", generator=chance()
    )
    plenty = betweenness_approx(graph, 0.1, method="kadabra", generator=chance())
    assert found.scores.tolist() == plenty.scores.tolist()  # fewer threads, the same samples
    assert least(needed) < least(4 * needed)


def fits(searches, size: int) -> bool:
    try:
        return searches(size) >= 1
    except MemoryError:
        return False


@pytest.mark.parametrize("method", ["kadabra", "pivots"])
def test_narrow_results_keep_their_promise(method):
    graph = Graph.from_edge_index(edge_index(grid(6, 8)), directed=False)
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    options = {"max_samples": 30} if method == "pivots" else {}
    for dtype in (torch.float16, torch.bfloat16):
        found = call(
            betweenness_approx,
            graph,
            0.05,
            method=method,
            dtype=dtype,
            generator=chance(),
            **options,
        )
        wide = call(
            betweenness_approx, graph, 0.05, method=method, dtype=F64, generator=chance(), **options
        )
        assert (found.lower.double() <= wide.lower).all()
        assert (found.upper.double() >= wide.upper).all()
        assert ((found.lower.double() <= exact) & (exact <= found.upper.double())).all()


def rounded() -> tuple[Graph, torch.Tensor, torch.Tensor]:
    """A grid whose lengths are off by rounding, so that ties need a tolerance; and its scores with
    the lengths that were meant, and as they are."""
    arcs = grid(5, 6)
    meant = torch.tensor([1 + i % 2 for i in range(len(arcs))], dtype=F64)
    noise = 1e-9 * torch.rand(len(arcs), generator=chance(1), dtype=F64)
    scores = []
    for length in (meant, meant + noise):
        graph = Graph.from_edge_index(
            edge_index(arcs), 30, directed=False, edge_weight=length.to(DEVICE)
        )
        by = nx.betweenness_centrality(graph.to_networkx(), weight="weight")
        scores.append(torch.tensor([by[v] for v in range(30)], dtype=F64))
    return graph, scores[0], scores[1]


@pytest.mark.slow
def test_tie_tolerance():
    graph, meant, plain = rounded()
    assert (meant - plain).abs().max() > 0.08
    for method in ("kadabra", "rk", "pivots", "exact"):
        options = {"max_samples": 30 if method == "pivots" else 3000}
        found = call(
            betweenness_approx,
            graph.with_ties(tie_tolerance=1e-6),
            0.05,
            0.01,
            method=method,
            dtype=F64,
            generator=chance(),
            **{} if method == "exact" else options,
        )
        scores = found.scores.cpu()
        assert (scores - meant).abs().max() <= max(found.epsilon, 1e-6) < 0.08
    found = betweenness_adaptive(
        graph.with_ties(tie_tolerance=1e-6), torch.arange(30, device=DEVICE), max_samples=30, c=1e6,
        run=torchcent.Run(dtype=F64), generator=chance(),
    )  # fmt: skip
    torch.testing.assert_close(found.scores.cpu(), meant)


def test_errors():
    arcs = edge_index(grid(2, 3))
    length = torch.ones(arcs.shape[1], device=DEVICE)
    with pytest.raises(ValueError, match="tie_tolerance"):
        call(betweenness_approx, arcs, edge_weight=length, tie_tolerance=-0.5)
    with pytest.raises(ValueError, match="tie_tolerance of the graph must be 0"):
        call(
            betweenness_approx,
            arcs,
            edge_weight=length,
            tie_tolerance=0.1,
            method="pivots",
            pivots="uniform+linear",
        )
