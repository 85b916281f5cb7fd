"""The chain of reductions: every link leaves a problem whose scores, with what it counted itself,
are those of the problem it was given."""

import pytest
import torch
from engines import assert_scores
from graphs import DEVICE, edge_index, path, random_graph, star
from internals import Fold, Request, core_of, plan_of, problem_of, run_search

from torchcent import Graph
from torchcent.graph import _cache

F64 = torch.float64
GRAPHS = {
    "tree": (15, [*path(9), (3, 9), (9, 10), (3, 11), (11, 12), (12, 13), (5, 14)]),
    "trees on rings": (40, random_graph(40, 44, seed=4)),
    "stars": (12, [*star(5), (6, 7), (6, 8), (6, 9), (10, 11)]),
}


@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("rounds", ["no", "one", "all"])
@pytest.mark.parametrize("name", GRAPHS)
def test_any_folding_gives_the_same(name, rounds, endpoints, measure):
    if endpoints and measure != "betweenness" or (measure, rounds) == ("stress", "all"):
        pytest.skip("not an option of this measure")
    n, arcs = GRAPHS[name]
    graph = Graph.from_edge_index(edge_index(arcs), n, False)
    a, b = torch.rand(2, n, generator=torch.Generator().manual_seed(n), dtype=F64).to(DEVICE)
    a[:3] = b[-3:] = 0

    def scores(folding: str) -> torch.Tensor:
        request = Request(measure, "tensor", sources=a, targets=b, endpoints=endpoints)
        plan, _ = plan_of(graph, request)
        core = core_of(graph, "degree", folding)
        assert core.fold.order.numel() == 0 or folding != "no"
        problem = problem_of(graph, core, measure, a, b, endpoints)
        return run_search(problem, plan, False)

    assert_scores(scores(rounds).cpu(), scores("no").cpu(), "tensor")


def test_what_is_folded():
    n, arcs = GRAPHS["tree"]
    graph = Graph.from_edge_index(edge_index(arcs), n, False)
    assert Fold.of(graph, "all").order.numel() == n - 1  # a tree leaves one vertex
    assert sorted(Fold.of(graph, "one").order.tolist()) == [0, 8, 10, 13, 14]
    assert Fold.of(graph, "no").order.numel() == 0
    folded = Fold.of(graph, "one")
    left = folded.arcs_left(graph.degree)
    assert left[folded.order].sum() == 0
    assert left.sum() == graph.num_slots - 2 * 5  # every leaf takes both slots of its edge along


def test_memory_of_cores_counts_what_links_hold():
    n, arcs = GRAPHS["trees on rings"]
    graph = Graph.from_edge_index(edge_index(arcs), n, False)
    core = core_of(graph, "degree", "all")
    links = {id(core.fold.order), id(core.fold.parent), id(core.sequence)}
    assert links <= {id(part) for part in _cache.tensors(graph)}
