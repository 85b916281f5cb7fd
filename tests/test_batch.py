"""Many graphs at once: every measure of a batch is that of each graph alone, to the bit."""

import math

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, arc_lists, cycle, edge_index, grid, networkx_graph, path, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Arcs
from surface import call, seeded, spread

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

Part = tuple[int, Arcs]
NODES = {
    "betweenness": torchcent.betweenness,
    "stress": torchcent.stress,
    "closeness": torchcent.closeness,
    "harmonic": torchcent.harmonic,
    "eccentricity": torchcent.eccentricity,
    "features": torchcent.node_features,
}
GRAPHS = {
    "diameter": torchcent.diameter,
    "radius": torchcent.radius,
    "average_shortest_path_length": torchcent.average_shortest_path_length,
    "effective_diameter": torchcent.effective_diameter,
}
VERTICES = {"center": torchcent.center, "periphery": torchcent.periphery}
PARTS: list[Part] = [
    (5, path(5)), (0, []), (1, []), (6, cycle(6)), (9, grid(3, 3)), (4, []),
    (40, random_graph(40, 120, seed=7)), (2, [(0, 1), (1, 1), (0, 1)]), (0, []),
]  # fmt: skip


def together(parts: list[Part]) -> tuple[torch.Tensor, torch.Tensor]:
    """edge_index and ptr of the disjoint union."""
    first, arcs = [0], []
    for n, own in parts:
        arcs += [(first[-1] + u, first[-1] + v) for u, v in own]
        first.append(first[-1] + n)
    return edge_index(arcs), torch.tensor(first, device=DEVICE)


def weights(parts: list[Part]) -> list[torch.Tensor]:
    """Some weights for each graph: whole numbers, halves, and numbers that round."""
    unit = [1.0, 0.5, 0.1]
    return [
        torch.arange(1, len(arcs) + 1, dtype=torch.float64, device=DEVICE) * unit[i % 3]
        for i, (_, arcs) in enumerate(parts)
    ]


def assert_as_alone(measure, parts: list[Part], weighted: bool, **options) -> None:  # type: ignore[no-untyped-def]
    arcs, ptr = together(parts)
    length = weights(parts) if weighted else [None] * len(parts)
    joined = torch.cat([arcs[0].new_zeros(0).double(), *length]) if weighted else None
    found = call(measure, arcs, joined, ptr=ptr, **options)
    alone = [
        call(measure, edge_index(own), weight, num_nodes=n, **options)
        for (n, own), weight in zip(parts, length, strict=True)
    ]
    if measure in VERTICES.values():
        alone = [ids + begin for ids, begin in zip(alone, ptr[:-1], strict=True)]
    expected = torch.cat([one.reshape(-1, *found.shape[1:]) for one in alone])
    assert found.dtype == expected.dtype
    assert torch.equal(found.nan_to_num(-1), expected.nan_to_num(-1))


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", [*NODES, *GRAPHS, *VERTICES, "edge_betweenness"])
def test_every_measure(name, directed, weighted):
    measure = getattr(torchcent, "node_features" if name == "features" else name)
    if name == "effective_diameter" and weighted:
        pytest.skip("of whole weights only")
    assert_as_alone(measure, PARTS, weighted, directed=directed)


@pytest.mark.parametrize("engine", ["lanes", "queue", "bits", "tensor", "relax", "dijkstra"])
def test_every_engine(engine):
    weighted = engine in ("relax", "dijkstra")
    measures = [torchcent.closeness, torchcent.diameter]
    if engine != "bits":
        paths = [torchcent.betweenness, torchcent.edge_betweenness]
        measures = paths if engine in ("lanes", "queue") else measures + paths
    for measure in measures:
        assert_as_alone(measure, PARTS, weighted, engine=engine, dtype=torch.float64)


@settings(max_examples=15, deadline=None)
@given(st.lists(arc_lists(6), min_size=1, max_size=5), st.booleans())
def test_random_batches(parts, directed):
    for measure in (torchcent.betweenness, torchcent.closeness, torchcent.eccentricity):
        assert_as_alone(measure, parts, False, directed=directed)
        assert_as_alone(measure, parts, True, directed=directed)


def test_networkx_one_by_one():
    arcs, ptr = together(PARTS)
    scores = call(torchcent.betweenness, arcs, ptr=ptr, directed=False, dtype=torch.float64)
    expected = [
        score
        for n, own in PARTS
        for score in nx.betweenness_centrality(networkx_graph(n, own, directed=False)).values()
    ]
    torch.testing.assert_close(scores.tolist(), expected, rtol=1e-5, atol=1e-12)


def test_a_graph_has_a_ptr_of_its_own():
    arcs, ptr = together(PARTS)
    batch = torch.repeat_interleave(ptr.diff())
    for one, options in ((ptr, {"ptr": ptr}), (batch, {"batch": batch})):
        graph = Graph.from_edge_index(arcs, **spread(options))
        expected = torchcent.closeness(graph)
        one.zero_()
        assert torch.equal(torchcent.closeness(graph), expected)


def test_batch_and_ptr_say_the_same():
    arcs, ptr = together(PARTS)
    batch = torch.repeat_interleave(ptr.diff())
    by_ptr = call(torchcent.closeness, arcs, ptr=ptr)
    assert torch.equal(by_ptr, torchcent.closeness(arcs, batch=batch))
    assert torch.equal(by_ptr, call(torchcent.closeness, arcs, batch=batch, ptr=ptr))
    graph = Graph.from_edge_index(arcs, batch=batch, ptr=ptr)
    assert torch.equal(by_ptr, torchcent.closeness(graph))
    assert (graph.num_graphs, graph.num_nodes) == (9, 67)
    assert torch.equal(graph.batch, batch) and torch.equal(graph.ptr, ptr)


def test_no_graphs():
    nothing, ptr = edge_index([]), torch.zeros(1, dtype=torch.int64, device=DEVICE)
    for measure in [*NODES.values(), *GRAPHS.values(), *VERTICES.values()]:
        assert call(measure, nothing, ptr=ptr).shape[0] == 0
        assert measure(nothing, batch=ptr[:0]).shape[0] == 0
    assert call(torchcent.edge_betweenness, nothing, ptr=ptr).shape == (0,)


def test_graphs_stay_a_batch():
    arcs, ptr = together(PARTS)
    length = torch.cat(weights(PARTS))
    graph = Graph.from_edge_index(arcs, edge_weight=length, ptr=ptr)
    for made in (graph.unweighted(), graph.reversed(), graph.to("cpu")):
        assert made.num_graphs == 9 and torch.equal(made.ptr.cpu(), ptr.cpu())
    assert "num_graphs=9" in repr(graph)


def test_pivots_named():
    """Those of each graph count in it, by its own size; a graph without pivots scores 0."""
    arcs, ptr = together([(5, path(5)), (4, path(4)), (6, cycle(6))])
    pivots = torch.tensor([10, 3, 0, 14])
    for measure in (torchcent.betweenness, torchcent.closeness, torchcent.stress):
        found = call(measure, arcs, ptr=ptr, sources=pivots, directed=False)
        first = measure(edge_index(path(5)), sources=torch.tensor([3, 0]), directed=False)
        last = measure(edge_index(cycle(6)), sources=torch.tensor([1, 5]), directed=False)
        assert torch.equal(found[:5], first) and torch.equal(found[9:], last)
        assert found[5:9].tolist() == [0] * 4


def test_targets_named():
    arcs, ptr = together([(5, path(5)), (4, path(4))])
    found = call(torchcent.betweenness, arcs, ptr=ptr, targets=torch.tensor([4]), directed=False)
    alone = torchcent.betweenness(edge_index(path(5)), targets=torch.tensor([4]), directed=False)
    assert torch.equal(found[:5], alone) and not found[5:].any()


def test_pivots_drawn():
    """k of each graph; all, where there are fewer."""
    arcs, ptr = together([(30, cycle(30)), (3, path(3)), (20, cycle(20))])
    exact = call(torchcent.closeness, arcs, ptr=ptr, directed=False)
    with seeded(3):
        found = call(torchcent.closeness, arcs, ptr=ptr, directed=False, sources=5)
    assert torch.equal(found[30:33], exact[30:33])
    assert not torch.equal(found[:30], exact[:30])
    assert torch.equal(call(torchcent.closeness, arcs, ptr=ptr, directed=False, sources=30), exact)
    pairs = call(torchcent.distance_distribution, arcs, ptr=ptr, directed=False, sources=5)
    assert pairs[:, 0].tolist() == [30, 3, 20]


def test_vertices_named():
    arcs, ptr = together(PARTS)
    chosen = torch.tensor([13, 2, 60, 0])
    for measure in (torchcent.closeness, torchcent.harmonic, torchcent.eccentricity):
        every = call(measure, arcs, ptr=ptr, directed=False)
        assert torch.equal(
            call(measure, arcs, ptr=ptr, directed=False, vertices=chosen), every[chosen]
        )


def test_distribution():
    arcs, ptr = together([(4, path(4)), (0, []), (3, path(3))])
    found = call(torchcent.distance_distribution, arcs, ptr=ptr, directed=False)
    assert found.tolist() == [[4, 6, 4, 2], [0, 0, 0, 0], [3, 4, 2, 0]]


def test_unconnected_graphs():
    arcs, ptr = together([(4, path(3)), (3, path(3))])
    assert call(torchcent.diameter, arcs, ptr=ptr, directed=False).tolist() == [math.inf, 2]
    found = call(torchcent.diameter, arcs, ptr=ptr, directed=False, disconnected="component")
    assert found.tolist() == [2, 2]
    mean = call(torchcent.average_shortest_path_length, arcs, ptr=ptr, directed=False)
    assert mean.tolist() == pytest.approx([math.inf, 4 / 3])


def test_unions_where_parts_do_not_matter():
    """Distances and reachability in a disjoint union are those of one graph."""
    arcs, ptr = together([(4, path(4)), (3, path(3))])
    batch = Graph.from_edge_index(arcs, ptr=ptr)
    union = Graph.from_edge_index(arcs, num_nodes=7)
    rows = torchcent.shortest_path_lengths
    assert torch.equal(rows(batch), rows(union))
    closure = torchcent.transitive_closure
    assert torch.equal(closure(batch).to_dense(), closure(union).to_dense())


BAD = [
    (dict(batch=torch.tensor([0, 0, 0, 0.0])), TypeError, "batch must be int64 .*torch.float32"),
    (dict(batch=torch.zeros(2, 2, dtype=torch.int64)), ValueError, "batch must be one-dimensional"),
    (dict(batch=torch.tensor([0, 1, 0, 1])), ValueError, r"sorted, but batch\[2\] is 0 after 1"),
    (dict(batch=torch.tensor([-1, 0, 0, 0])), ValueError, "batch must not be negative, got -1"),
    (dict(batch=torch.tensor([0, 0, 0])), ValueError, "batch, of 3 vertices, is .*vertex id 3"),
    (dict(ptr=torch.tensor([0, 1, 3])), ValueError, "ptr, of 3 vertices, is too small.*id 3"),
    (dict(batch=torch.tensor([0] * 4), num_nodes=5), ValueError, "each of num_nodes=5.*got 4"),
    (dict(ptr=[0, 4]), TypeError, "ptr must be a torch.Tensor or None, got list"),
    (dict(ptr=torch.tensor([], dtype=torch.int64)), ValueError, "at least"),
    (dict(ptr=torch.tensor([1, 4])), ValueError, "ptr must begin with 0, got 1"),
    (dict(ptr=torch.tensor([0, 3, 2, 4])), ValueError, r"ascend, but ptr\[2\] is 2 after 3"),
    (dict(ptr=torch.tensor([0, 4]), num_nodes=5), ValueError, "ptr ends with 4, but num_nodes=5"),
    (dict(ptr=torch.tensor([0, 2, 4])), ValueError, r"edge_index\[:, 1\] is the arc \(1, 2\)"),
    (
        dict(ptr=torch.tensor([0, 4]), batch=torch.tensor([0, 0, 0, 1])),
        ValueError, r"batch\[3\] is 1, but by ptr vertex 3 belongs to graph 0",
    ),
    (
        dict(ptr=torch.tensor([0, 4]), batch=torch.tensor([0, 0, 0])),
        ValueError, "batch has 3 entries, but ptr ends with 4",
    ),
]  # fmt: skip


@pytest.mark.each
@pytest.mark.parametrize("arguments, error, said", BAD, ids=[said[:30] for *_, said in BAD])
def test_bad_batches(arguments, error, said):
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(error, match=f"(?s){said}"):
        call(torchcent.betweenness, arcs, **arguments)


def test_a_graph_has_its_own_batch():
    graph = Graph.from_edge_index(torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="batch is for an edge_index"):
        torchcent.betweenness(graph, batch=torch.tensor([0, 0]))
    with pytest.raises(ValueError, match="top is for one graph"):
        call(torchcent.closeness, torch.tensor([[0], [1]]), ptr=torch.tensor([0, 2]), top=1)


def test_features():
    arcs, ptr = together(PARTS)
    names = ["degree", "betweenness", "closeness", "harmonic", "eccentricity", "stress", "reach"]
    found = call(torchcent.node_features, arcs, measures=names, ptr=ptr, directed=False)
    assert found.shape == (67, 7) and found.dtype == torch.float32
    options = {"ptr": ptr, "directed": False}
    columns = dict(zip(names, found.T, strict=True))
    assert torch.equal(columns["closeness"], call(torchcent.closeness, arcs, **options))
    assert torch.equal(columns["betweenness"], call(torchcent.betweenness, arcs, **options))
    harmonic = call(torchcent.harmonic, arcs, normalized=True, **options)
    assert torch.equal(columns["harmonic"], harmonic)
    far = call(torchcent.eccentricity, arcs, disconnected="component", **options)
    assert torch.equal(columns["eccentricity"], far)
    assert torch.equal(columns["stress"], call(torchcent.stress, arcs, normalized=True, **options))
    for i, (n, own) in enumerate(PARTS):
        count = np.zeros((n, n))
        np.add.at(count, tuple(np.array(own, np.int64).reshape(-1, 2).T), 1)
        count = np.maximum(count, count.T) + np.diag(count.diagonal())  # a loop has two ends
        expected = (count.sum(1) / max(n - 1, 1)).tolist()
        actual = columns["degree"][ptr[i] : ptr[i + 1]].tolist()
        assert actual == pytest.approx(expected)
    with pytest.raises(ValueError, match="got 'betweeness'; did you mean betweenness"):
        torchcent.node_features(arcs, measures=["closeness", "betweeness"])
    with pytest.raises(ValueError, match="measures must be one of .*'page rank'"):
        torchcent.node_features(arcs, measures=["page rank"])
    with pytest.raises(TypeError, match="measures must be a name or a list of names"):
        torchcent.node_features(arcs, measures={"closeness"})


def test_torch_geometric():
    data = pytest.importorskip("torch_geometric.data")
    graphs = [data.Data(edge_index=edge_index(own), num_nodes=n) for n, own in PARTS]
    batch = data.Batch.from_data_list(graphs)
    arcs, ptr = together(PARTS)
    graph = Graph.from_data(batch, directed=False)
    assert torch.equal(graph.ptr, ptr)
    expected = call(torchcent.betweenness, arcs, ptr=ptr, directed=False)
    assert torch.equal(torchcent.betweenness(graph), expected)
    del batch.ptr
    assert Graph.from_data(batch).num_graphs == 8  # empty graphs at the end are not in `batch`
