"""Which graphs on CUDA are left to the host for their paths. Here the CPU stands for the GPU."""

from __future__ import annotations

import pytest
import torch
from graphs import DEVICE
from internals import COMPILED, Request
from test_hierarchy import road

import torchcent
from torchcent import Graph, generate
from torchcent.distribute._arguments import Scale
from torchcent.engines.plan import _on_host
from torchcent.engines.reduce import _hierarchy_costs

pytestmark = pytest.mark.skipif(
    DEVICE.type != "cpu" or not COMPILED, reason="the CPU stands for the GPU"
)


@pytest.fixture
def on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_on_host, "is_on_cuda", lambda _: True)


def test_seconds() -> None:
    """A few threads overtake the device on roads; by hops it takes more of them."""
    n, slots = 1_940_000, 5_100_000
    of_device = _hierarchy_costs.seconds_of_searches_on_cuda(slots, n, by_hops=False)
    assert of_device == pytest.approx(3.0e-3 * n, rel=0.05)
    assert _hierarchy_costs.seconds(n, n, 2) < 0.1 * of_device
    by_hops = _hierarchy_costs.seconds_of_searches_on_cuda(slots, n, by_hops=True)
    assert by_hops == pytest.approx(0.22e-3 * n, rel=0.05)
    assert _hierarchy_costs.seconds(n, n, 2, by_hops=True) > by_hops
    assert _hierarchy_costs.seconds(n, n, 16, by_hops=True) < 0.5 * by_hops


@pytest.mark.usefixtures("on_cuda")
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "percolation", "stress"])
def test_roads(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, request = road(100), Request(measure)
    devices = Scale(devices=(torch.device("cuda:0"), torch.device("cuda:1")))
    for threads in (1, 2, 16):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        for scale in (None, devices):
            found = _on_host.chosen(graph, request._replace(scale=scale))
            assert found is not None and found[0] is graph._on_host
            assert found[1].scale is None
    plan = torchcent.explain(graph, measure=measure)
    assert plan.engine == "hierarchy" and "on the host" in plan.reason
    assert _on_host.chosen(graph, request._replace(engine="dijkstra")) is None
    assert _on_host.chosen(graph, request._replace(scale=Scale("folder"))) is None
    assert _on_host.chosen(graph, request._replace(cutoffs=(3.0,))) is None
    assert _on_host.chosen(graph.with_ties(tie_tolerance=1e-6), request) is None
    assert _on_host.chosen(graph, Request("linear")) is None
    assert _on_host.chosen(graph, Request("closeness")) is None


@pytest.mark.usefixtures("on_cuda")
def test_an_engine_that_is_asked_for() -> None:
    graph, asked = road(12), Request("betweenness", engine="hierarchy")
    assert _on_host.chosen(graph, Request("betweenness")) is None
    assert _on_host.chosen(graph, asked) is not None
    assert _on_host.chosen(graph, asked._replace(scale=Scale("folder"))) is not None
    devices = torch.device("cuda:0"), torch.device("cuda:1")
    assert _on_host.chosen(graph, asked._replace(scale=Scale(devices=devices))) is None


@pytest.mark.slow
@pytest.mark.usefixtures("on_cuda")
def test_other_graphs_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Graph, "to", lambda *_: pytest.fail("copied"))
    shallow = Graph.from_edge_index(generate.ba(20_000, 3, seed=1), directed=False)
    torchcent.explain(shallow)
    torchcent.explain(road(100), sources=5)
    columns = [generate.ws(20_000, 12, 0.001), generate.grid(2, 10_000)]
    torchcent.explain(Graph.from_edge_index(torch.cat(columns, 1), directed=False))  # deep, dense
    directed = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), directed=True)
    torchcent.explain(directed)


@pytest.mark.usefixtures("on_cuda")
def test_sources_and_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = road(40)
    expected = torchcent.betweenness(
        graph, run=torchcent.Run(engine="dijkstra"), sources=torch.arange(900)
    )
    monkeypatch.setattr(_on_host, "_is_faster", lambda *_: True)
    found = torchcent.betweenness(graph, sources=torch.arange(900))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)
