"""Distances by the engine hierarchy, against SciPy and the other engines."""

import random
import re

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import cycle, edge_index, grid, path, random_graph, random_tree, union
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import CANCEL, DONE, Hierarchy, core_of, has_kernel
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from surface import call
from test_hierarchy import networks
from tuning import tuned

import torchcent
from torchcent import Graph, generate

needs_kernels = pytest.mark.skipif(
    not has_kernel("hierarchy_sums", torch.device("cpu")), reason="no compiled kernels"
)
pytestmark = [pytest.mark.sweep, needs_kernels]

F64 = torch.float64
SHAPES = {
    "grid": (144, grid(12, 12)),
    "path": (90, path(90)),
    "cycle": (91, cycle(91)),
    "star": (70, [(0, leaf) for leaf in range(1, 70)]),
    "tree": (200, random_tree(200, seed=3)),
    "sparse": (150, random_graph(150, 170, seed=4)),
    "dense": (60, random_graph(60, 400, seed=5)),
    "pair": (2, [(0, 1)]),
    "components": union((80, random_graph(80, 100, seed=6)), (9, cycle(9)), (5, []), (3, path(3))),
    "columns": (120, [arc for arc in random_tree(120, seed=7) for _ in range(2)]),
}
LENGTHS = {
    "one": lambda chance, size: np.ones(size),
    "ties": lambda chance, size: chance.integers(1, 4, size).astype(float),
    "whole": lambda chance, size: chance.integers(10, 1001, size).astype(float),
    "decimal": lambda chance, size: chance.integers(1, 500, size) / 100,
    "quarters": lambda chance, size: chance.integers(1, 500, size) / 4,
    "long": lambda chance, size: chance.integers(1, 10**12, size).astype(float),
}


WAYS = pytest.mark.parametrize("ways", ["edges", "one-way", "streets"])


def network(shape, lengths, seed=0, ways="edges"):
    """Of streets, two of three lead back as well, and are of other lengths then."""
    n, arcs = SHAPES[shape] if isinstance(shape, str) else shape
    if ways == "streets":
        arcs = [*arcs, *((v, u) for i, (u, v) in enumerate(arcs) if i % 3)]
    directed = ways != "edges"
    if lengths == "hops":
        return Graph.from_edge_index(edge_index(arcs), n, directed)
    weight = LENGTHS[lengths](np.random.default_rng(seed), len(arcs))
    return Graph.from_edge_index(edge_index(arcs), n, directed, torch.from_numpy(weight))


def rows(graph):
    """float64 [n, n], each distance rounded once."""
    per_one = graph.scale.per_one
    units = np.ones(graph.num_slots)
    if graph.is_weighted:
        units = graph.scale.apply(graph.weight).double().numpy()
    shape = graph.num_nodes, graph.num_nodes
    matrix = csr_matrix((units, graph.col.numpy(), graph.rowptr.numpy()), shape)
    return dijkstra(matrix) / per_one


def by_hierarchy(graph, measure, **arguments):
    compute = getattr(torchcent, measure)
    return call(compute, graph, dtype=F64, engine="hierarchy", progress=False, **arguments)


def assert_close(actual, expected):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-13, atol=0)


def expected_sums(distance, others):
    """Farness, sum of reciprocals, reach and eccentricity of each row over these columns."""
    distance = distance[:, others]
    counts = np.isfinite(distance) & (distance > 0)
    near = np.where(counts, distance, 0)
    inverse = np.divide(1, near, out=np.zeros_like(near), where=counts)
    return near.sum(1), inverse.sum(1), counts.sum(1), near.max(1, initial=0)


@pytest.mark.parametrize("lengths", ["hops", *LENGTHS])
@pytest.mark.parametrize("shape", SHAPES)
@WAYS
def test_measures(ways, shape, lengths, tuning):
    graph = network(shape, lengths, ways=ways)
    n, distance = graph.num_nodes, rows(graph)
    far, inverse, reach, farthest = expected_sums(distance.T, slice(None))
    *_, outgoing, eccentricity = expected_sums(distance, slice(None))
    closeness = np.divide(reach, far, out=np.zeros(n), where=reach > 0)
    chosen = torch.randperm(n)[: max(1, n // 3)]
    profile = by_hierarchy(graph, "distance_profile")
    tuning(hierarchy_collapsed=0)
    for vertices in (None, chosen):
        part = slice(None) if vertices is None else vertices.numpy()
        assert_close(
            by_hierarchy(graph, "closeness", vertices=vertices),
            (closeness * reach / max(n - 1, 1))[part],
        )
        assert_close(by_hierarchy(graph, "harmonic", vertices=vertices), inverse[part])
        found = by_hierarchy(graph, "eccentricity", vertices=vertices)
        assert_close(found, np.where(outgoing == n - 1, eccentricity, np.inf)[part])
    assert_close(profile.farness, far)
    assert_close(profile.harmonic, inverse)
    assert_close(profile.eccentricity, farthest)
    assert_close(profile.reach, reach)
    if reach.min() == n - 1:
        mean = by_hierarchy(graph, "average_shortest_path_length")
        assert float(mean) == pytest.approx(far.sum() / (n * (n - 1)), rel=1e-13)
        assert float(by_hierarchy(graph, "diameter")) == pytest.approx(farthest.max(), rel=1e-13)
        radius = by_hierarchy(graph, "radius")
        assert float(radius) == pytest.approx(eccentricity.min(), rel=1e-13)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("shape", SHAPES)
@WAYS
def test_rows(ways, shape, lengths):
    graph = network(shape, lengths, ways=ways)
    distance = rows(graph)
    chosen = torch.randperm(graph.num_nodes)[: max(1, graph.num_nodes // 2)]
    for sources in (None, chosen):
        part = slice(None) if sources is None else sources.numpy()
        found = torchcent.shortest_path_lengths(
            graph, sources=sources, run=torchcent.Run(engine="hierarchy")
        )
        expected = distance[part]
        if not found.is_floating_point():
            expected = np.where(np.isfinite(expected), expected, -1)
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("shape", ["grid", "sparse", "components"])
@WAYS
def test_pivots_and_cutoffs(ways, shape):
    graph = network(shape, "ties", ways=ways)
    n, distance = graph.num_nodes, rows(graph)
    pivots = torch.randperm(n)[:20]
    profile = by_hierarchy(graph, "distance_profile", sources=pivots)
    assert_close(profile.eccentricity, expected_sums(distance.T, pivots.numpy())[3])
    for arguments in ({"sources": pivots}, {"cutoff": [2.0, 5.0]}):
        for measure in ("closeness", "harmonic"):
            other = call(
                getattr(torchcent, measure), graph, dtype=F64, engine="dijkstra", **arguments
            )
            torch.testing.assert_close(
                by_hierarchy(graph, measure, **arguments), other, rtol=1e-13, atol=0
            )
    for measure in ("distance_distribution", "effective_diameter"):
        compute = getattr(torchcent, measure)
        found, other = (
            compute(graph, run=torchcent.Run(engine=each)) for each in ("hierarchy", "dijkstra")
        )
        torch.testing.assert_close(found, other, rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("lengths", ["hops", "whole", "decimal"])
@WAYS
def test_sums_over_pivots(ways, lengths, threads):
    """From sweeps from the pivots; for closeness of many of them, from all vertices."""
    graph = network((6400, grid(80, 80)), lengths, ways=ways)
    single = "dijkstra" if graph.is_weighted else "bits"
    for pivots in torch.randperm(6400)[:2500].split([1100, 1400]):
        for measure in ("closeness", "harmonic", "distance_profile"):
            compute = getattr(torchcent, measure)
            torch.set_num_threads(1)
            found = by_hierarchy(graph, measure, sources=pivots)
            torch.set_num_threads(3)
            again = by_hierarchy(graph, measure, sources=pivots)
            other = compute(graph, run=torchcent.Run(engine=single, dtype=F64), sources=pivots)
            torch.testing.assert_close(found, other, rtol=1e-13, atol=0)
            torch.testing.assert_close(found, again, rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("lengths", ["whole", "decimal"])
def test_sums_over_pivots_within_cutoffs(lengths):
    graph = network((6400, grid(80, 80)), lengths, ways="streets")
    pivots = torch.randperm(6400)[:1100]
    cutoffs = [graph.weight.mean().item() * factor for factor in (20, 0.1, 5, 1000)]
    for measure in ("closeness", "harmonic"):
        compute = getattr(torchcent, measure)
        found = by_hierarchy(graph, measure, sources=pivots, cutoff=cutoffs)
        run = torchcent.Run(engine="dijkstra", dtype=F64)
        other = compute(graph, run=run, sources=pivots, cutoff=cutoffs)
        torch.testing.assert_close(found, other, rtol=1e-13, atol=0)
        for column, cutoff in zip(found.unbind(1), cutoffs, strict=True):
            alone = by_hierarchy(graph, measure, sources=pivots, cutoff=cutoff)
            assert torch.equal(column, alone)


@pytest.mark.parametrize("directed", [False, True])
def test_networkx(directed):
    edges = nx.random_geometric_graph(120, 0.15, seed=2)
    if directed:
        edges = edges.to_directed()
        edges.remove_edges_from([*edges.edges][::4])
    for number, (u, v) in enumerate(edges.edges):
        edges[u][v]["weight"] = 1 + number % 7
    graph = Graph.from_networkx(edges, edge_weight="weight")
    expected = nx.closeness_centrality(edges, distance="weight")
    assert_close(by_hierarchy(graph, "closeness"), list(expected.values()))
    expected = nx.harmonic_centrality(edges, distance="weight")
    assert_close(by_hierarchy(graph, "harmonic"), list(expected.values()))


@pytest.mark.slow
@WAYS
def test_nested_cells_and_several_batches(ways):
    """The batches of 1,024 sources are cut, and their lanes merge at the doors of cells."""
    ends = generate.road(60, 60, seed=1)
    edges = [(u, v) for u, v in ends.T.tolist() if u < v]
    n = int(ends.max()) + 1
    for lengths in ("ties", "whole"):
        graph = network((n, edges), lengths, ways=ways)
        distance = rows(graph)
        far, inverse, reach, _ = expected_sums(distance.T, slice(None))
        *_, outgoing, farthest = expected_sums(distance, slice(None))
        profile = by_hierarchy(graph, "distance_profile")
        closeness = by_hierarchy(graph, "closeness")
        near = np.divide(reach, far, out=np.zeros(n), where=reach > 0)
        assert_close(closeness, near * reach / (n - 1))
        expected = np.where(outgoing == n - 1, farthest, np.inf)
        assert_close(by_hierarchy(graph, "eccentricity"), expected)
        assert_close(profile.harmonic, inverse)
        assert torch.equal(profile.closeness, closeness)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [64, 1024, 4096])
@pytest.mark.parametrize("lengths", ["hops", "ties", "whole", "long"])
@WAYS
def test_reciprocals_that_collapse(ways, lengths, lanes, tuning):
    """Of lanes that merge, sums are interpolated: near cells, and from an island far away."""
    tuning(hierarchy_collapsed=0, hierarchy_lanes=lanes)
    ends = generate.road(36, 36, seed=2)
    edges = [(u, v) for u, v in ends.T.tolist() if u < v]
    half = int(ends.max()) + 1
    n, arcs = union((half, edges), (half, edges))
    if ways == "streets":
        arcs = [*arcs, *((v, u) for i, (u, v) in enumerate(arcs) if i % 3)]
    bridge = [(3, half + 5), (half + 5, 3)][: 1 if ways == "edges" else 2]
    both = edge_index([*arcs, *bridge])
    for far in (1, 10**6):
        weight = None
        if lengths != "hops":
            each = LENGTHS[lengths](np.random.default_rng(5), len(arcs))
            weight = torch.from_numpy(np.append(each, [float(far)] * len(bridge)))
        graph = Graph.from_edge_index(both, n, ways != "edges", weight)
        distance = rows(graph)
        _, inverse, reach, _ = expected_sums(distance.T, slice(None))
        profile = by_hierarchy(graph, "distance_profile")
        assert_close(profile.harmonic, inverse)
        assert_close(profile.reach, reach)
        chosen = torch.randperm(n)
        assert_close(
            by_hierarchy(graph, "harmonic", vertices=chosen[:700]), inverse[chosen[:700].numpy()]
        )
        pivots = chosen[: 2 * n // 3].sort().values
        found = by_hierarchy(graph, "harmonic", sources=pivots)
        _, some, _, _ = expected_sums(distance.T, pivots.numpy())
        others = np.full(n, pivots.numel(), float)
        others[pivots.numpy()] -= 1
        assert_close(found, some / others * (n - 1))


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["closeness", "harmonic", "eccentricity"])
@WAYS
def test_same_bits_for_any_number_of_threads(ways, measure, tuning):
    tuning(hierarchy_collapsed=0)
    threads = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            graph = network((2500, grid(50, 50)), "decimal", ways=ways)
            found.append(by_hierarchy(graph, measure))
            found.append(by_hierarchy(graph, measure, vertices=torch.arange(2500)))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(found[0], each) for each in found[1:])


@pytest.mark.slow
@pytest.mark.parametrize("ways", ["edges", "streets"])
def test_auto(ways):
    """All vertices repay a contraction; a few sources do so once it has been made."""
    graph = network((2500, grid(50, 50)), "whole", ways=ways)
    few = torch.arange(50)

    def engine(**arguments):
        return call(torchcent.explain, graph, **arguments).engine

    assert engine(measure="closeness", sources=few) == "dijkstra"
    for measure in ("closeness", "harmonic", "eccentricity", "distance_profile"):
        assert engine(measure=measure) == "hierarchy"
        other = getattr(torchcent, measure)(
            graph,
            run=torchcent.Run(engine="dijkstra", dtype=F64),
        )
        torch.testing.assert_close(
            getattr(torchcent, measure)(graph, run=torchcent.Run(dtype=F64)),
            other,
            rtol=1e-13,
            atol=0,
        )
    assert engine(measure="closeness", sources=few[1:]) == "hierarchy"
    found = torchcent.shortest_path_lengths(graph)
    assert torch.equal(
        found, torchcent.shortest_path_lengths(graph, run=torchcent.Run(engine="dijkstra"))
    )


@pytest.mark.slow
def test_auto_by_hops():
    """Deep graphs whose hierarchy stays thin; few sources and cutoffs are left to bits."""
    road = Graph.from_edge_index(generate.road(60, 60), None, False)
    shallow = Graph.from_edge_index(generate.ba(3000, 3), None, False)
    for measure in ("closeness", "harmonic", "eccentricity", "average_shortest_path_length"):
        compute = getattr(torchcent, measure)
        assert torchcent.explain(road, measure=measure).engine == "hierarchy"
        assert torchcent.explain(shallow, measure=measure).engine == "bits"
        assert torchcent.explain(road, measure=measure, sources=100).engine == "bits"
        other = compute(
            road,
            run=torchcent.Run(engine="bits", dtype=F64),
        )
        torch.testing.assert_close(
            compute(road, run=torchcent.Run(dtype=F64)), other, rtol=1e-13, atol=0
        )
        some = torch.randperm(road.num_nodes)[:2100]
        if measure != "average_shortest_path_length":
            found = compute(road, run=torchcent.Run(dtype=F64), vertices=some)
            assert torch.equal(found, by_hierarchy(road, measure, vertices=some))
            torch.testing.assert_close(found, other[some], rtol=1e-13, atol=0)
    assert torchcent.explain(road, measure="closeness", cutoff=5).engine == "bits"
    assert torchcent.explain(road, measure="distance_distribution").engine == "bits"
    values, vertices = torchcent.closeness(road, top=5, run=torchcent.Run(dtype=F64))
    every = torchcent.closeness(
        road,
        run=torchcent.Run(engine="bits", dtype=F64),
    )
    torch.testing.assert_close(values, every.sort(descending=True).values[:5], rtol=1e-13, atol=0)
    torch.testing.assert_close(every[vertices], values, rtol=1e-13, atol=0)


def test_what_it_does_not_take():
    weight = torch.rand(40, dtype=F64) / 3
    near = Graph.from_edge_index(edge_index(grid(5, 5)), 25, False, weight, tie_tolerance=1e-9)
    with pytest.raises(ValueError, match="tie_tolerance"):
        torchcent.shortest_path_lengths(near, run=torchcent.Run(engine="hierarchy"))


@given(networks(), st.integers(0, 2**32))
@settings(max_examples=50)
def test_rows_of_floats(net, seed):
    """Whole numbers of the unit that explain states, as NetworkX adds them up."""
    chance = random.Random(seed)
    net = net._replace(edges=[(u, v, w * chance.uniform(0.5, 2)) for u, v, w in net.edges])
    graph = net.graph()
    run = torchcent.Run(engine="hierarchy")
    found = torchcent.shortest_path_lengths(graph, run=run)
    if graph.scale.exact:
        return
    plan = torchcent.explain(graph, measure="closeness", run=run)
    unit = re.search(r"units of 2\^-(\d+)", plan.weights)
    if unit is None:  # multiples of a number, such as a third
        return
    per_one = 2 ** int(unit[1])
    other = nx.DiGraph() if net.directed else nx.Graph()
    other.add_nodes_from(range(net.n))
    other.add_weighted_edges_from((u, v, round(w * per_one)) for u, v, w in net.edges)
    expected = torch.full((net.n, net.n), torch.inf, dtype=F64)
    for s, row in nx.all_pairs_dijkstra_path_length(other):
        for t, length in row.items():
            expected[s, t] = length / per_one
    assert torch.equal(found, expected)


@given(networks(), st.booleans(), st.data())
@settings(max_examples=50)
def test_rows_by_hops(net, some, data):
    """Of `auto`, too, which takes them from a hierarchy of a deep graph."""
    graph = net.graph(None)
    sources = None
    if some and net.n:
        vertices = st.lists(st.integers(0, net.n - 1), min_size=1, unique=True)
        sources = torch.tensor(data.draw(vertices))
    expected = torchcent.shortest_path_lengths(graph, sources=sources)
    run = torchcent.Run(engine="hierarchy")
    assert torch.equal(torchcent.shortest_path_lengths(graph, sources=sources, run=run), expected)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(rows_least=1, deep_per_log=0, hierarchy_least={False: 1, True: 1})
        found = torchcent.shortest_path_lengths(graph, sources=sources)
    assert torch.equal(found, expected)


def test_auto_takes_rows_of_roads_from_a_hierarchy():
    run, sources = torchcent.Run(progress=False), torch.arange(4096)
    meshes = generate.road(70, 70), generate.grid(65, 65)
    for edges, is_deep in ((meshes[0], True), (meshes[1], False), (generate.ba(5000, 3), False)):
        graph = Graph.from_edge_index(edges, directed=False)
        kept = torchcent.shortest_path_lengths(graph, sources=sources, run=run)
        assert (Hierarchy.kept(core_of(graph, "degree", "no")) is not None) == is_deep
        other = torchcent.shortest_path_lengths(
            Graph.from_edge_index(edges, directed=False), sources=sources,
            run=run | torchcent.Run(engine="bits"),
        )  # fmt: skip
        assert torch.equal(kept, other)


def test_what_it_does_not_take_by_hops():
    graph = network("grid", "hops")
    with pytest.raises(ValueError, match="no cutoff by hops"):
        by_hierarchy(graph, "closeness", cutoff=3)
    with pytest.raises(ValueError, match="distance_distribution by hops"):
        torchcent.distance_distribution(graph, run=torchcent.Run(engine="hierarchy"))


@pytest.mark.parametrize("least", [0.5, 2.0**-20])
def test_fractions_that_int32_has_no_units_for(least):
    """Sums of these are exact in float64, and lengths in a hierarchy are whole numbers."""
    chance = np.random.default_rng(0)
    weight = torch.from_numpy(least * chance.integers(1, 2**31, 264)).double()
    graph = Graph.from_edge_index(edge_index(grid(12, 12)), 144, False, weight)
    assert graph.scale.exact and graph.scale.dtype == F64 and not graph.scale.whole
    for measure in ("betweenness", "closeness", "harmonic", "eccentricity"):
        other = getattr(torchcent, measure)(
            graph,
            run=torchcent.Run(engine="dijkstra", dtype=F64),
        )
        found = by_hierarchy(graph, measure)
        torch.testing.assert_close(found, other, rtol=1e-12, atol=0)
    found = torchcent.shortest_path_lengths(graph, run=torchcent.Run(engine="hierarchy"))
    np.testing.assert_array_equal(found.numpy(), rows(graph))


@pytest.mark.parametrize("reciprocals", [False, True])
@WAYS
def test_operator(ways, reciprocals):
    """Targets have weights, sources may come twice, and a cancelled run stops."""
    graph = network("components", "ties", ways=ways)
    searched = core_of(graph, "degree", "no")
    hierarchy = Hierarchy.of(searched)
    n = searched.num_nodes
    distance = rows(graph)[np.ix_(searched.vertex, searched.vertex)]
    target = torch.arange(n, dtype=F64) % 3
    sources = torch.arange(n + 40) % n
    reached = np.where(np.isfinite(distance), distance, 0)
    counts = np.where(np.isfinite(distance) & (distance > 0), target.numpy(), 0)
    inverse = np.divide(1, reached, out=np.zeros_like(reached), where=reached > 0)
    expected = [(reached * counts).sum(1), (inverse * counts).sum(1), counts.sum(1)]
    farthest = np.where(counts > 0, reached, 0).max(1)
    for lanes in (16, 1024, 0) if reciprocals else (16, 1024):
        sums, far = torch.zeros(n + 40, 3, dtype=F64), torch.zeros(n + 40, dtype=F64)
        control = torch.zeros(4, dtype=torch.int64)
        plan = sums, far, control, reciprocals, lanes, 2
        torch.ops.torchcent.hierarchy_sums(hierarchy.swept, sources, target, *plan)
        assert int(control[DONE]) == n + 40
        for column, values in enumerate(expected):
            if column != 1 or reciprocals:
                assert_close(sums[:n, column], values)
        assert_close(far[:n], farthest)
        assert torch.equal(sums[n:, ::2], sums[:40, ::2]) and torch.equal(far[n:], far[:40])
        assert_close(sums[n:, 1], sums[:40, 1])  # the last digits depend on the batch
        control[DONE], control[CANCEL] = 0, 1
        torch.ops.torchcent.hierarchy_sums(hierarchy.swept, sources, target, *plan)
        assert int(control[DONE]) == 0
        if lanes == 0:
            continue
        control[CANCEL], others, largest = 0, torch.zeros_like(sums), torch.ones_like(far)
        plan = others, largest, control, reciprocals, lanes, 2
        torch.ops.torchcent.hierarchy_sums(hierarchy.swept, sources, target, *plan, distances=False)
        assert torch.equal(others[:, 1:], sums[:, 1:])  # without sums of distances
        assert not others[:, 0].any() and not largest.any()


@WAYS
def test_checkpoint(ways, tmp_path):
    graph = network((2500, grid(50, 50)), "whole", ways=ways)
    for measure in ("closeness", "harmonic"):
        first, again = (
            by_hierarchy(graph, measure, checkpoint=tmp_path / measure) for _ in range(2)
        )
        assert torch.equal(first, again)
        assert torch.equal(first, by_hierarchy(graph, measure))


@WAYS
def test_batch(ways):
    parts = [network(shape, "whole", ways=ways) for shape in ("grid", "sparse")]
    arcs = torch.cat([parts[0].to_edge_index(), parts[1].to_edge_index() + 144], 1)
    weight = torch.cat([part.weight for part in parts])
    batch = torch.arange(294) // 144 > 0
    joined = Graph.from_edge_index(arcs, 294, ways != "edges", weight, batch=batch.long())
    for measure in ("closeness", "harmonic", "eccentricity"):
        alone = torch.cat([by_hierarchy(part, measure) for part in parts])
        assert torch.equal(by_hierarchy(joined, measure), alone)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_arcs(n):
    for weight in (None, torch.zeros(0)):
        graph = Graph.from_edge_index(torch.zeros(2, 0, dtype=torch.int64), n, False, weight)
        for measure in ("closeness", "harmonic"):
            assert torch.equal(by_hierarchy(graph, measure), torch.zeros(n, dtype=F64))
    found = torchcent.shortest_path_lengths(graph, run=torchcent.Run(engine="hierarchy"))
    assert torch.equal(found, torch.eye(n, dtype=torch.int32) - 1)
