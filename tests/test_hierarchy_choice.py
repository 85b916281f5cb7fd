"""Where `auto` takes a contraction hierarchy, and where another engine is as fast or fits."""

from __future__ import annotations

import math
import re
from functools import partial
from itertools import combinations

import pytest
import torch
from graphs import DEVICE
from internals import Hierarchy, core_of, has_kernel
from surface import call

import torchcent
from torchcent import Graph, generate
from torchcent.engines.reduce import _hierarchy, _hierarchy_costs

pytestmark = pytest.mark.skipif(
    not has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
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


@pytest.mark.skipif(DEVICE.type != "cpu", reason="the limit is that of the host")
@pytest.mark.parametrize("measure", ["betweenness", "closeness"])
def test_memory_is_asked_for_once(measure: str) -> None:
    """For the contraction and the search together, of a graph with small separators."""
    compute, graph = getattr(torchcent, measure), by_lengths(generate.road(50, 50))
    with pytest.raises(MemoryError, match="by an estimate") as error:
        call(compute, graph, engine="hierarchy", memory=1_000_000)
    needed = re.search(r"\((\d+) bytes\)", str(error.value))
    assert needed is not None
    call(compute, graph, engine="hierarchy", memory=int(needed[1]))


def test_no_contraction_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = by_lengths(generate.road(50, 50)).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    plan = torchcent.explain(graph, measure="closeness", run=torchcent.Run(memory=1_050_000))
    assert plan.engine == "dijkstra"


@pytest.mark.slow
def test_no_contraction_for_paths_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, sources = by_lengths(generate.road(50, 50)).to(DEVICE), torch.arange(300)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    found = torchcent.shortest_path(graph, sources, 0, run=torchcent.Run(memory=2_000_000))
    monkeypatch.undo()
    expected = torchcent.shortest_path(graph, sources, 0)
    assert Hierarchy.kept(core_of(graph, "degree", "all")) is not None
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


def by_hops(arcs: torch.Tensor) -> Graph:
    return Graph.from_edge_index(arcs, directed=False)


def one_way(arcs: torch.Tensor, share: float) -> Graph:
    """A share of the edges has one direction."""
    ahead = torch.stack([arcs.amin(0), arcs.amax(0)]).unique(dim=1)
    single = torch.rand(ahead.shape[1], generator=torch.Generator().manual_seed(1)) < share
    turned = torch.arange(ahead.shape[1]) % 2 == 0
    ahead = torch.where(turned, ahead, ahead.flip(0))
    return Graph.from_edge_index(torch.cat([ahead, ahead.flip(0)[:, ~single]], 1))


def crossed(rows: int, cols: int) -> torch.Tensor:
    """A grid with both diagonals, along which counts grow by a factor in every column."""
    place = torch.arange(rows * cols).view(rows, cols)
    falling = torch.stack([place[:-1, :-1].flatten(), place[1:, 1:].flatten()])
    rising = torch.stack([place[1:, :-1].flatten(), place[:-1, 1:].flatten()])
    return torch.cat([generate.grid(rows, cols), falling, rising], 1)


on_cpu = pytest.mark.skipif(DEVICE.type != "cpu", reason="counts by hops on the CPU")


@on_cpu
@pytest.mark.parametrize(
    "make, others",
    [
        (lambda: by_hops(generate.grid(8, 1600)), "queue"),
        (lambda: by_hops(generate.road(130, 130, 0.15, seed=1)), "queue"),
        (lambda: by_hops(generate.delaunay(2**14, seed=1)), "lanes"),
        (lambda: one_way(generate.grid(125, 125), 0.3), "queue"),
    ],
    ids=["strip", "road", "triangulation", "directed"],
)
def test_more_arcs_by_hops_if_sweeps_are_predicted_to_be_faster(make, others: str) -> None:
    """Narrow, with one-way streets, or with few ties: sweeps take less time per arc."""
    graph = make()
    assert torchcent.explain(graph).engine == "hierarchy"
    core = core_of(graph, "degree", "all")
    hierarchy = Hierarchy.kept(core)
    assert hierarchy is not None
    assert hierarchy.possible > _hierarchy.most_arcs(core, 4) / (1 + hierarchy.is_directed)
    # Few searches do not repay a contraction to find out.
    few = make()
    assert torchcent.explain(few, sources=2500).engine in ("queue", others)


@pytest.mark.sweep
@on_cpu
@pytest.mark.parametrize(
    "make, engine",
    [
        (lambda: by_hops(generate.grid(125, 125)), "queue"),
        (lambda: by_hops(generate.grid(64, 250)), "queue"),
        (lambda: by_hops(generate.grid(60, 60)), "queue"),
        (lambda: one_way(generate.grid(125, 125), 0.05), "queue"),
        (lambda: by_hops(crossed(5, 3000)), "lanes"),
        (lambda: by_hops(generate.ws(15_000, 4, 0.1, seed=1)), "lanes"),
        (lambda: by_hops(generate.rmat(13, 8, seed=1)), "lanes"),
        (lambda: by_hops(generate.ba(8000, 4)), "lanes"),
    ],
    ids=["grid", "oblong", "small", "directed", "counts", "small world", "R-MAT", "social"],
)
def test_no_hierarchy_by_hops_if_searches_are_predicted_to_be_faster(make, engine: str) -> None:
    """Ties abound on grids, and in one of them counts exceed float64; others have no cuts."""
    assert torchcent.explain(make()).engine == engine


@on_cpu
def test_chains_instead_of_many_arcs_by_hops() -> None:
    """Of a few vertices, all of which are far from each other: searches of them are faster."""
    ring = generate.ws(900, 4, 1.0, seed=1)
    ring = torch.stack([ring.amin(0), ring.amax(0)]).unique(dim=1)
    steps, before = ring.shape[1], ring[0]
    arcs = []
    for inner in range(9):
        after = 900 + 9 * torch.arange(steps) + inner
        arcs.append(torch.stack([before, after]))
        before = after
    arcs.append(torch.stack([before, ring[1]]))
    assert torchcent.explain(by_hops(torch.cat(arcs, 1))).engine == "chains"


def test_plans_predict_seconds_of_sweeps() -> None:
    """What is compared with searches, in proportion to sources; single searches say nothing."""
    edges = generate.road(60, 60)
    weight = torch.randint(1, 99, edges.shape[1:], generator=torch.Generator().manual_seed(1))
    graph = Graph.from_edge_index(edges, directed=True, edge_weight=weight)
    run = torchcent.Run(engine="hierarchy", reduce="none", threads=1)
    few, many = (torchcent.explain(graph, sources=count, run=run) for count in (100, 1000))
    assert many.seconds == pytest.approx(10 * few.seconds) and few.seconds > 0
    assert many.seconds == _hierarchy_costs.seconds(graph.num_nodes, 1000, 1)
    assert f"about {many.seconds:.2g} s (predicted)" in str(many)
    assert "at most about" in str(torchcent.explain(graph, measure="closeness", run=run))
    hops = torchcent.explain(graph.unweighted(), sources=1000, run=run)
    assert hops.seconds > many.seconds
    single = torchcent.explain(graph, run=torchcent.Run(engine="dijkstra"))
    assert not single.seconds and "predicted" not in str(single)


def test_predicted_seconds_of_sweeps_by_hops() -> None:
    each = partial(_hierarchy_costs.seconds_by_hops, 1e6, sources=1)
    assert each(removed=0.0, paths=20) < each(removed=0.2, paths=200)
    assert each(removed=0.2, paths=200) < each(removed=0.1, paths=200) < each(0.0, paths=200)
    assert each(removed=0.2, paths=20) < each(removed=0.2, paths=20, in_float64=True)
    assert each(removed=0.2, paths=1000) == math.inf
    assert _hierarchy_costs.fill_by_hops(10_000, 2.0) > _hierarchy_costs.fill_by_hops(10_000, 1.0)
