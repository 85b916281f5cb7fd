"""Graphs of many components: right values, and work in proportion to what searches reach."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import COMPILED
from surface import call
from torch import Tensor
from tuning import Tuning, original, tuned

import torchcent

WEIGHTS = ("hops", "whole", "floats")
component = {"disconnected": "component"}
compiled = pytest.mark.skipif(not COMPILED, reason="there are no compiled kernels")


def triples(count: int, weights: str = "floats", batch: bool = False) -> torchcent.Graph:
    """So many paths of three vertices, or a batch of them."""
    first = torch.arange(count) * 3
    edges = torch.cat([torch.stack([first, first + 1]), torch.stack([first + 1, first + 2])], 1)
    ptr = torch.arange(0, 3 * count + 1, 3) if batch else None
    return torchcent.Graph.from_edge_index(
        edges, directed=False, edge_weight=lengths(edges.shape[1], weights), ptr=ptr
    )


def lengths(count: int, weights: str, seed: int = 0) -> Tensor | None:
    chance = torch.Generator().manual_seed(seed)
    if weights == "hops":
        return None
    if weights == "whole":
        return torch.randint(1, 9, (count,), generator=chance).double()
    return torch.rand(count, generator=chance, dtype=torch.float64) + 0.1


def arcs_of(seed: int, sizes: list[int]) -> Tensor:
    """Random components of these sizes, whose vertices are numbered at random."""
    chance = np.random.default_rng(seed)
    n, arcs, first = sum(sizes), [], 0
    for size in sizes:
        arcs.append(first + chance.integers(0, size, (2, 2 * size)))
        first += size
    given = torch.from_numpy(chance.permutation(n)[np.concatenate(arcs, 1)])
    return torch.unique(given[:, given[0] != given[1]], dim=1)


def scattered(seed: int, directed: bool, weights: str, sizes: list[int]) -> torchcent.Graph:
    arcs = arcs_of(seed, sizes)
    weight = lengths(arcs.shape[1], weights, seed)
    return torchcent.Graph.from_edge_index(arcs, sum(sizes), directed, weight)


SIZES = [1, 2, 3, 5, 8] * 60 + [530, 40]  # of which none has most pairs of vertices


def distances(graph: torchcent.Graph) -> np.ndarray:
    weight = torch.ones(graph.num_slots) if graph.weight is None else graph.weight
    parts = weight.numpy(), graph.col.numpy(), graph.rowptr.numpy()
    matrix = scipy.sparse.csr_array(parts, (graph.num_nodes, graph.num_nodes))
    found: np.ndarray = scipy.sparse.csgraph.dijkstra(matrix)
    return found


EACH = [(directed, weights) for directed in (False, True) for weights in WEIGHTS]


def close(found: Tensor, wanted: Any, rtol: float = 1e-9) -> None:
    torch.testing.assert_close(
        found.double(), torch.as_tensor(wanted).double(), rtol=rtol, atol=1e-12, equal_nan=True
    )


@pytest.mark.parametrize(("directed", "weights"), EACH)
def test_sums_of_distances(directed: bool, weights: str) -> None:
    graph = scattered(1, directed, weights, SIZES)
    assert "components" in torchcent.explain(graph, measure="closeness").reason or not COMPILED
    d = distances(graph)
    n, finite = graph.num_nodes, np.isfinite(d)
    far = np.where(finite, d, 0)
    reach = finite.sum(0) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        closeness = np.where(reach > 0, reach / far.sum(0) * reach / (n - 1), 0)
        harmonic = np.where(d > 0, 1 / d, 0).sum(0)
    f64 = {"dtype": torch.float64}
    close(call(torchcent.closeness, graph, **f64), closeness)
    close(call(torchcent.harmonic, graph, **f64), harmonic)
    some = torch.arange(n - 1, -1, -2)
    close(call(torchcent.closeness, graph, vertices=some, **f64), closeness[some.numpy()])
    profile = call(torchcent.distance_profile, graph, **f64)
    close(profile.reach, reach)
    close(profile.farness, far.sum(0))
    close(profile.eccentricity, far.max(0))
    close(call(torchcent.eccentricity, graph, **{**component, **f64}), far.max(1))
    assert torchcent.eccentricity(graph).isinf().all()
    mean = far.sum() / (finite.sum() - n)
    close(call(torchcent.average_shortest_path_length, graph, **{**component, **f64}), mean)


@pytest.mark.parametrize(("directed", "weights"), EACH)
def test_extremes(directed: bool, weights: str) -> None:
    graph = scattered(2, directed, weights, SIZES)
    d = distances(graph)
    farthest = np.where(np.isfinite(d), d, 0).max(1)
    f64 = {"dtype": torch.float64, **component}
    close(call(torchcent.diameter, graph, **f64), farthest.max())
    close(call(torchcent.radius, graph, **f64), farthest.min())
    assert call(torchcent.periphery, graph, **component).tolist() == _where(
        farthest, farthest.max()
    )
    assert call(torchcent.center, graph, **component).tolist() == _where(farthest, farthest.min())


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("engine", ["bits", "tensor", "relax", "dijkstra"])
def test_diameter_of_a_graph_searched_as_a_whole(weights: str, engine: str) -> None:
    if (weights == "hops") != (engine == "bits") and engine != "tensor":
        pytest.skip("the engine is for graphs of the other kind")
    if engine != "tensor" and not COMPILED:
        pytest.skip("there are no compiled kernels")
    graph = scattered(3, False, weights, SIZES)
    d = distances(graph)
    found = call(torchcent.diameter, graph, dtype=torch.float64, engine=engine, **component)
    close(found, d[np.isfinite(d)].max())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", ["hops", "whole"])
@pytest.mark.parametrize("some", [False, True])
def test_distribution(directed: bool, weights: str, some: bool) -> None:
    graph = scattered(4, directed, weights, SIZES)
    d = distances(graph)
    sources = torch.arange(0, graph.num_nodes, 2) if some else None
    rows = d if sources is None else d[sources.numpy()]
    wanted = np.bincount(rows[np.isfinite(rows)].astype(int)) * (len(d) / len(rows))
    close(torchcent.distance_distribution(graph, sources=sources), wanted)


@pytest.mark.parametrize("weights", ["hops", "whole"])
def test_distribution_of_a_batch(weights: str) -> None:
    graph = triples(50, weights, batch=True)
    d = distances(graph)
    found = torchcent.distance_distribution(graph)
    for number in range(50):
        own = d[3 * number : 3 * number + 3, 3 * number : 3 * number + 3]
        wanted = np.bincount(own.astype(int).flatten(), minlength=found.shape[1])
        assert found[number].tolist() == wanted.tolist()


def test_distribution_of_a_batch_says_what_it_needs() -> None:
    edges = torch.tensor([[0, 2], [1, 3]])
    weight = torch.tensor([1.0, 1e8])
    graph = torchcent.Graph.from_edge_index(
        edges, directed=False, edge_weight=weight, ptr=torch.tensor([0, 2, 4])
    )
    with pytest.raises(MemoryError, match="distance_distribution"):
        torchcent.distance_distribution(graph, run=torchcent.Run(memory=10**8))


@pytest.mark.slow
@pytest.mark.sweep(cases=2)
@pytest.mark.parametrize(("directed", "weights"), EACH)
def test_paths(directed: bool, weights: str) -> None:
    sizes = [1, 2, 3, 5, 8] * 40 + [40]
    graph = scattered(5, directed, weights, sizes)
    other = graph.to_networkx()
    weight = None if weights == "hops" else "weight"
    f64 = {"dtype": torch.float64, "normalized": False}
    wanted = networkx.betweenness_centrality(other, weight=weight, normalized=False)
    close(
        call(torchcent.betweenness, graph, **f64),
        [wanted[v] for v in range(graph.num_nodes)],
        1e-6,
    )
    of_edges = networkx.edge_betweenness_centrality(other, weight=weight, normalized=False)
    found = call(torchcent.edge_betweenness, graph, **f64)
    for column, (u, v) in enumerate(arcs_of(5, sizes).T.tolist()):
        pair = (u, v) if (u, v) in of_edges else (v, u)
        assert found[column].item() == pytest.approx(of_edges[pair], rel=1e-6, abs=1e-12)
    sources, targets = range(0, graph.num_nodes, 2), range(0, graph.num_nodes, 3)
    some = networkx.betweenness_centrality_subset(
        other, list(sources), list(targets), False, weight
    )
    given = {"sources": torch.tensor(sources), "targets": torch.tensor(targets)}
    close(
        call(torchcent.betweenness, graph, **{**given, **f64}),
        [some[v] for v in range(graph.num_nodes)],
        1e-6,
    )


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(WEIGHTS))
@settings(deadline=None, max_examples=10)
def test_cutoffs(seed: int, directed: bool, weights: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(pieces_least=16)
        graph = scattered(seed, directed, weights, [1, 2, 3, 5, 8] * 10 + [20])
        d = distances(graph)
        d[d > 2] = np.inf
        reach = np.isfinite(d).sum(0) - 1
        far = np.where(np.isfinite(d), d, 0).sum(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = np.where(reach > 0, reach / far * reach / (graph.num_nodes - 1), 0)
        close(torchcent.closeness(graph, cutoff=2, run=torchcent.Run(dtype=torch.float64)), wanted)


# --- What is searched


def _where(values: np.ndarray, value: float) -> list[int]:
    found: list[int] = np.flatnonzero(np.isclose(values, value, rtol=1e-13)).tolist()
    return found


@pytest.fixture
def searched(tuning: Tuning) -> list[int]:
    """Sources x vertices of each search by an engine that has rows of all vertices."""
    cells: list[int] = []
    bounds, driver, sums = map(original, ("distances_from", "run_search", "sums_from"))

    def single(graph: Any, *rest: Any, **options: Any) -> Any:
        cells.append(graph.num_nodes)
        return bounds(graph, *rest, **options)

    def paths(problem: Any, *rest: Any) -> Any:
        cells.append(problem.core.num_nodes**2)
        return driver(problem, *rest)

    def of_sources(graph: Any, request: Any, sources: Any, *rest: Any) -> Any:
        cells.append(graph.num_nodes * sources.numel())
        return sums(graph, request, sources, *rest)

    tuning(distances_from=single, run_search=paths, sums_from=of_sources)
    return cells


CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "closeness": (torchcent.closeness, {}),
    "closeness(cutoff)": (torchcent.closeness, {"cutoff": 0.5}),
    "harmonic(vertices)": (torchcent.harmonic, {"vertices": torch.arange(6000)}),
    "eccentricity": (torchcent.eccentricity, component),
    "diameter": (torchcent.diameter, component),
    "radius": (torchcent.radius, component),
    "center": (torchcent.center, component),
    "periphery": (torchcent.periphery, component),
    "average": (torchcent.average_shortest_path_length, component),
    "betweenness": (torchcent.betweenness, {}),
    "betweenness(cutoff)": (torchcent.betweenness, {"cutoff": 0.5}),
    "edge_betweenness": (torchcent.edge_betweenness, {}),
    "stress": (torchcent.stress, {}),
    "variant": (torchcent.betweenness_variant, {"variant": "linear"}),
}


@compiled
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("batch", [False, True])
def test_searches_cost_what_they_reach(name: str, batch: bool, searched: list[int]) -> None:
    """Rows of all 6,000 vertices for each of them would be 36 million entries."""
    function, options = CALLS[name]
    graph = triples(2000, batch=batch)
    call(function, graph, **options)
    least = original("pieces_least")
    assert sum(searched) <= 2 * graph.num_nodes * least
    assert len(searched) <= 2 + graph.num_nodes // least


@compiled
@pytest.mark.parametrize("weights", ["hops", "whole"])
def test_distribution_has_no_row_per_vertex(weights: str, tuning: Tuning) -> None:
    calls = []
    run = original("run_tiny")
    tuning(rows_of_distances=None, run_tiny=lambda *a, **k: calls.append(1) or run(*a, **k))
    found = torchcent.distance_distribution(triples(2000, weights))
    assert found[0] == 6000 and found.sum() == 18000
    assert len(calls) <= 1


@pytest.mark.slow
@compiled
def test_diameter_searches_each_component_in_its_own_graph(tuning: Tuning) -> None:
    """Components too large for the tiny engine, of growing diameter, so that none is left out."""
    sizes = []
    bounds = original("bounds")

    class Counted(bounds):  # type: ignore[misc, valid-type]
        def __init__(self, graph: Any, *rest: Any) -> None:
            sizes.append(graph.num_nodes)
            super().__init__(graph, *rest)

    tuning(bounds=Counted)
    rings, first = [], 0
    for size in range(600, 620):
        at = torch.arange(size)
        rings.append(torch.stack([at, (at + 1) % size]) + first)
        first += size
    edges = torch.cat(rings, 1)
    weight = torch.rand(edges.shape[1], generator=torch.Generator().manual_seed(1)) + 5
    graph = torchcent.Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    d = distances(graph)
    found = call(torchcent.diameter, graph, dtype=torch.float64, **component)
    close(found, d[np.isfinite(d)].max())
    assert sum(sizes) <= 2 * graph.num_nodes


@compiled
def test_groups_are_searched_in_their_components(tuning: Tuning) -> None:
    sizes = []
    run = original("groups_by_kernels")

    def counted(graph: Any, *rest: Any) -> Any:
        sizes.append(graph.num_nodes)
        return run(graph, *rest)

    tuning(groups_by_kernels=counted)
    graph = triples(200)
    options = {"normalized": False, "dtype": torch.float64}
    assert call(torchcent.group_betweenness, graph, [1, 4, 599], **options) == 2
    assert call(torchcent.group_betweenness, graph, [[0], [1]], **options).tolist() == [0, 1]
    assert call(torchcent.group_betweenness, graph, [1], endpoints=True, **options) == 3
    assert max(sizes) == 9


@compiled
def test_explain_counts_the_components() -> None:
    plan = torchcent.explain(triples(2000), measure="closeness")
    assert plan.engine == "tiny"
    assert "2,000 components" in plan.reason
    assert (
        torchcent.explain(
            triples(2000), measure="closeness", run=torchcent.Run(engine="relax")
        ).engine
        == "relax"
    )


# --- Current flow


@compiled
def test_flow_in_what_is_nearly_a_tree_needs_no_matrix(
    monkeypatch: pytest.MonkeyPatch, tuning: Tuning
) -> None:
    """A path of 60,000 vertices, whose inverse would have 3.6e9 numbers."""
    n = 60_000
    at = torch.arange(n - 1)
    path = torch.stack([at, at + 1])
    tuning(inverse=_small(original("inverse")))
    monkeypatch.setattr(torch.ops.torchcent, "expanded", None, raising=False)
    given = {"directed": False, "dtype": torch.float64}
    far = torch.arange(n, dtype=torch.float64)
    wanted = 1 / (far * (far + 1) / 2 + (n - 1 - far) * (n - far) / 2)
    close(call(torchcent.current_flow_closeness, path, **given), wanted, 1e-7)
    pairs = torch.tensor([[0, 5, n - 1], [n - 1, 5, 7]])
    close(call(torchcent.effective_resistance, path, pairs=pairs, **given), [n - 1, 0, n - 8], 1e-7)


def _small(function: Any) -> Any:
    def checked(matrix: Tensor, *rest: Any) -> Any:
        assert matrix.numel() < 10_000
        return function(matrix, *rest)

    return checked


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_resistances_of_pairs_in_many_components(seed: int) -> None:
    several = scattered(seed, False, "floats", [1, 2, 3, 5, 8, 30])
    n, weight = several.num_nodes, several.weight
    tail = torch.repeat_interleave(torch.arange(n), several.degree)
    graph = torchcent.Graph.from_edge_index(  # without parallel edges, whose conductances add up
        torch.stack([tail, several.col.long()]), n, False, weight
    )
    assert graph.weight is not None
    dense = torch.zeros(n, n, dtype=torch.float64)
    dense[torch.repeat_interleave(torch.arange(n), graph.degree), graph.col.long()] = graph.weight
    inverse = torch.linalg.pinv(torch.diag(dense.sum(1)) - dense)
    chance = torch.Generator().manual_seed(seed)
    u, v = torch.randint(n, (2, 60), generator=chance)
    wanted = inverse[u, u] + inverse[v, v] - inverse[u, v] - inverse[v, u]
    wanted = torch.where(graph.components[u] == graph.components[v], wanted, torch.inf)
    found = torchcent.effective_resistance(
        graph, pairs=torch.stack([u, v]), run=torchcent.Run(dtype=torch.float64)
    )
    close(found, torch.where(u == v, 0, wanted), 1e-7)
