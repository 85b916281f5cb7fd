"""Hierarchies of graphs on CUDA: distances there, and path counts on the host."""

from typing import Any

import pytest
import torch
from internals import CANCEL, COMPILED_FOR_CUDA, DONE, Hierarchy, core_of, levels_of
from surface import call
from test_hierarchy_distances import LENGTHS, SHAPES, network
from tuning import Tuning

import torchcent
from torchcent import Graph, generate

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

F64 = torch.float64


def road(side: int) -> Graph:
    edges = generate.road(side, side)
    edges = edges[:, edges[0] < edges[1]]
    chance = torch.Generator().manual_seed(7)
    weight = torch.randint(10, 1001, (edges.shape[1],), generator=chance)
    return Graph.from_edge_index(edges, directed=False, edge_weight=weight)


def same(measure: str, graph: Graph, rtol: float = 1e-12, **options: Any) -> None:
    """Of the graph on CUDA and on the host, both by the hierarchy."""
    compute = getattr(torchcent, measure)
    expected = call(compute, graph.to("cpu"), engine="hierarchy", **options)
    options |= {name: x.cuda() for name, x in options.items() if isinstance(x, torch.Tensor)}
    found = call(compute, graph.to("cuda"), engine="hierarchy", **options)
    assert found.is_cuda
    torch.testing.assert_close(found.cpu(), expected, rtol=rtol, atol=0, equal_nan=True)


@pytest.mark.parametrize("lengths", ["hops", *LENGTHS])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums(shape: str, lengths: str) -> None:
    graph = network(shape, lengths)
    some = torch.randperm(graph.num_nodes)[: max(1, graph.num_nodes // 3)]
    for measure in ("closeness", "harmonic", "eccentricity"):
        same(measure, graph, dtype=F64)
        same(measure, graph, dtype=F64, vertices=some)
    same("closeness", graph, dtype=F64, sources=some)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_rows(shape: str, lengths: str) -> None:
    graph = network(shape, lengths)
    some = torch.randperm(graph.num_nodes)[: max(1, graph.num_nodes // 2)]
    same("shortest_path_lengths", graph, 0)
    same("shortest_path_lengths", graph, 0, sources=some, dtype=F64)


def test_more_sources_than_fit_at_a_time() -> None:
    graph = road(60).to("cuda")
    whole = torchcent.harmonic(
        graph,
        run=torchcent.Run(engine="hierarchy", dtype=F64),
    )
    hierarchy = Hierarchy.of(core_of(graph, "degree", "no"))
    assert hierarchy is not None
    plan = torchcent.explain(graph, measure="harmonic", run=torchcent.Run(engine="hierarchy"))
    memory = plan.memory - (plan.flight - 2) * hierarchy.bytes_of_group
    few = torchcent.explain(
        graph, measure="harmonic", run=torchcent.Run(engine="hierarchy", memory=memory)
    )
    assert few.flight == 2 < plan.flight
    found = torchcent.harmonic(
        graph,
        run=torchcent.Run(engine="hierarchy", memory=memory, dtype=F64),
    )
    assert torch.equal(found, whole)


def test_a_cancelled_run_stops() -> None:
    graph = road(30).to("cuda")
    n, made = graph.num_nodes, Hierarchy.of(core_of(graph, "degree", "no"))
    assert made is not None
    control, sources = torch.zeros(4, dtype=torch.int64), torch.arange(n, device="cuda")
    control[CANCEL], control[2] = 1, 2**30
    sums, farthest = torch.zeros(n, 3, dtype=F64).cuda(), torch.zeros(n, dtype=F64).cuda()
    target = torch.ones(n, dtype=F64).cuda()
    given = levels_of(made, graph.device)
    torch.ops.torchcent.hierarchy_level_sums(*given, sources, target, sums, farthest, control, True)
    assert control[DONE] == 0 and not sums.any()


def test_where_auto_takes_it(tuning: Tuning) -> None:
    tuning(tiny_nodes=0)
    graph = road(70).to("cuda")
    assert torchcent.explain(graph, measure="closeness", sources=100).engine == "dijkstra"
    assert torchcent.explain(graph, measure="closeness").engine == "hierarchy"
    assert torchcent.explain(graph.unweighted(), measure="closeness").engine == "queue"
    found, expected = (
        torchcent.closeness(graph),
        torchcent.closeness(graph, run=torchcent.Run(engine="dijkstra")),
    )
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "percolation", "stress"])
def test_paths_are_counted_on_the_host(measure: str, tuning: Tuning) -> None:
    graph = road(40)
    options = {"states": torch.rand(graph.num_nodes)} if measure == "percolation" else {}
    same(measure, graph, dtype=F64, **options)
    there = graph.to("cuda")
    tuning(is_faster_on_host=lambda *_: True)
    plan = torchcent.explain(there, measure=measure)
    assert plan.engine == "hierarchy" and "on the host" in plan.reason
    assert plan.device.type == "cpu"
    options |= {name: x.cuda() for name, x in options.items()}
    found = call(getattr(torchcent, measure), there, **options)
    expected = call(getattr(torchcent, measure), there, engine="dijkstra", **options)
    assert found.is_cuda
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)
    sources = torch.arange(0, graph.num_nodes, 3)
    if measure != "percolation":
        same(measure, graph, dtype=F64, sources=sources)
