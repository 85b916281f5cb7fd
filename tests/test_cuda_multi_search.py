"""multi_search.cuh on CUDA: the visitors of benchmarks/multi_search.cu beside oracles."""

import shutil
import sys
from pathlib import Path

import oracles
import pytest
import torch
from graphs import ASSORTED, LEAFY, diamonds, edge_index, random_graph, star

from torchcent import Graph

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)
if shutil.which("nvcc") is None:
    pytest.skip("nvcc is not here", allow_module_level=True)
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("needs a checkout", allow_module_level=True)

GRAPHS = {
    **ASSORTED, **LEAFY, "diamonds": (31, diamonds(10)), "alone": (1, []), "star": (300, star(299)),
    "random": (90, random_graph(90, 400, seed=3)),
}  # fmt: skip


@pytest.fixture(scope="module")
def searches(tmp_path_factory):
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from gpu_multi_search import Searches
    finally:
        sys.path.remove(str(BENCHMARKS))
    return Searches(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_visitors(searches, name, directed):
    n, arcs = GRAPHS[name]
    graph = Graph.from_edge_index(edge_index(arcs).cuda(), n, directed)
    arcs = arcs if directed else oracles.both_ways(arcs)
    expected, _ = oracles.shortest_paths(n, arcs)
    expected = [[-1 if d is None else d for d in row] for row in expected]
    exact = oracles.betweenness(n, arcs, directed=True, normalized=False)
    scores = torch.tensor([float(x) for x in exact], dtype=torch.float64, device="cuda")
    every = torch.arange(n, device="cuda")
    for searches.blocks in (1, 7, 1000):
        assert searches.distances(graph, every).tolist() == expected
        for k in (0, 1, 3):
            within = [sum(0 <= d <= k for d in row) for row in expected]
            assert searches.hop_count(graph, every, k).tolist() == within
        torch.testing.assert_close(searches.betweenness(graph, every), scores)


def test_some_sources(searches):
    """In any order, one of them twice."""
    n, arcs = GRAPHS["random"]
    searches.blocks = 2
    graph = Graph.from_edge_index(edge_index(arcs).cuda(), n)
    expected, _ = oracles.shortest_paths(n, arcs)
    some = [5, 80, 5, 0]
    rows = searches.distances(graph, torch.tensor(some, device="cuda"))
    assert rows.tolist() == [[-1 if d is None else d for d in expected[v]] for v in some]
