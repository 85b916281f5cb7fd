"""Where `auto` takes a contraction hierarchy, and where another engine is as fast or fits."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from graphs import DEVICE
from surface import call

import torchcent
from torchcent import Graph, generate
from torchcent.engines import _reduce
from torchcent.engines._hierarchy import Hierarchy
from torchcent.runtime import _ops

pytestmark = pytest.mark.skipif(
    not _ops.has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
)


def by_lengths(arcs: torch.Tensor, largest: int = 30) -> Graph:
    chance = torch.Generator().manual_seed(1)
    length = torch.randint(1, largest, (arcs.shape[1],), generator=chance)
    return Graph.from_edge_index(arcs, edge_weight=length.double(), directed=False)


def subdivided(inner: int) -> torch.Tensor:
    """The complete graph of four vertices, with so many vertices inside of each edge."""
    paths, n = [], 4
    for u, v in combinations(range(4), 2):
        paths.append(torch.tensor([u, *range(n, n + inner), v]))
        n += inner
    return torch.cat([torch.stack([path[:-1], path[1:]]) for path in paths], 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_few_long_chains_take_a_sweep_for_each_end(weighted: bool) -> None:
    arcs = subdivided(800)
    graph = by_lengths(arcs) if weighted else Graph.from_edge_index(arcs, directed=False)
    assert torchcent.explain(graph.to(DEVICE)).engine == "chains"


def test_chains_that_are_asked_for() -> None:
    graph = by_lengths(generate.road(50, 50)).to(DEVICE)
    assert torchcent.explain(graph).engine == "hierarchy"
    assert torchcent.explain(graph, run=torchcent.Run(reduce="chains")).engine == "chains"
    assert torchcent.explain(graph, run=torchcent.Run(reduce="fold")).engine == "hierarchy"


@pytest.mark.parametrize("measure", ["betweenness", "closeness", "percolation"])
def test_another_engine_if_rows_do_not_fit(measure: str) -> None:
    graph, memory = by_lengths(generate.road(50, 50)).to(DEVICE), 12_000_000
    options = {"states": torch.rand(graph.num_nodes)} if measure == "percolation" else {}
    assert torchcent.explain(graph, measure=measure).engine == "hierarchy"
    assert (
        torchcent.explain(graph, measure=measure, run=torchcent.Run(memory=memory)).engine
        != "hierarchy"
    )
    compute = getattr(torchcent, measure)
    found = call(compute, graph, memory=memory, **options)
    torch.testing.assert_close(found, call(compute, graph, **options), rtol=1e-5, atol=1e-12)
    with pytest.raises(MemoryError, match="engine='hierarchy'"):
        call(compute, graph, engine="hierarchy", memory=memory, **options)


def test_no_contraction_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = by_lengths(generate.road(50, 50)).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    plan = torchcent.explain(graph, measure="closeness", run=torchcent.Run(memory=1_050_000))
    assert plan.engine == "dijkstra"


def test_no_contraction_for_paths_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, sources = by_lengths(generate.road(50, 50)).to(DEVICE), torch.arange(300)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    found = torchcent.shortest_path(graph, sources, 0, run=torchcent.Run(memory=2_000_000))
    monkeypatch.undo()
    expected = torchcent.shortest_path(graph, sources, 0)
    assert Hierarchy.kept(_reduce.core(graph, "degree", "all")) is not None
    assert [each.length for each in found] == [each.length for each in expected]


def test_grids_are_not_contracted_for_distances_by_hops(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.from_edge_index(generate.grid(60, 60), directed=False).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    assert torchcent.explain(graph, measure="closeness").engine == "bits"
    torchcent.harmonic(graph)


def test_bounds_settle_eccentricities_before_any_contraction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = Graph.from_edge_index(generate.grid(1200, 2), directed=False).to(DEVICE)
    assert torchcent.explain(graph, measure="eccentricity").engine == "hierarchy"
    graph = Graph.from_edge_index(generate.grid(1200, 2), directed=False).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    farthest = torch.maximum(torch.arange(1200), torch.arange(1200).flip(0)) + 1
    assert torch.equal(torchcent.eccentricity(graph).cpu().view(1200, 2)[:, 0], farthest.float())


def test_no_contraction_that_takes_longer_than_the_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = by_lengths(generate.grid(150, 150)).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    found = torchcent.betweenness_approx(graph, 1e-4, time_limit=0.1)
    assert found.method == "kadabra" and "exact scores would take" in found.reason


@pytest.mark.parametrize("measure", ["betweenness", "closeness"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_strong_components_are_searched_one_by_one(
    weighted: bool, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch has sources of one: without cycles, there is nothing to share."""
    both = generate.road(60, 60)

    def engine(kept: torch.Tensor) -> str:
        length = 1 + torch.arange(both.shape[1])[kept] % 7 if weighted else None
        graph = Graph.from_edge_index(both[:, kept], edge_weight=length).to(DEVICE)
        return torchcent.explain(graph, measure=measure, run=torchcent.Run(reduce="none")).engine

    ahead = both[0] < both[1]
    assert engine(ahead | (torch.arange(both.shape[1]) % 9 > 0)) == "hierarchy"
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    assert engine(ahead) != "hierarchy"
