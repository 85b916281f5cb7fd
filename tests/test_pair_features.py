"""Structural features of pairs, against NetworkX's functions for link prediction."""

import math

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, edge_index, star

import torchcent
from torchcent import Graph, Run

F64 = torch.float64
EXACT = Run(dtype=F64)
NEIGHBORS = {
    "jaccard": nx.jaccard_coefficient,
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
    "preferential_attachment": nx.preferential_attachment,
}
NAMES = ["distance", "common_neighbors", *NEIGHBORS]


def expected(graph, pairs, weight=None):
    """A row per pair; the distance is -1 without a path."""
    rows = []
    known = dict(nx.all_pairs_dijkstra_path_length(graph, weight=weight))
    simple = nx.Graph(graph)
    for u, v in pairs:
        row = [known[u].get(v, -1)]
        row.append(len(set(simple[u]) & set(simple[v])))
        for measure in NEIGHBORS.values():
            row.append(next(iter(measure(simple, [(u, v)])))[2])
        rows.append([float(x) for x in row])
    return torch.tensor(rows, dtype=F64).reshape(-1, len(NAMES))


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request, tuning):
    if request.param == "in blocks":
        tuning(pair_probes=3, pairs_together=9)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_are_those_of_networkx(blocks, weight):
    for seed in range(25):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(2, 16))
        graph = nx.gnp_random_graph(n, draw.choice([0.1, 0.3, 0.8]), seed=seed)
        for u, v in graph.edges:
            graph[u][v]["weight"] = float(draw.choice([0.25, 1, 3]))
        pairs = [(u, v) for u, v in draw.integers(0, n, (40, 2)).tolist() if u != v]
        arcs = edge_index([*graph.edges, (0, 0), *graph.edges])  # a loop, and all edges twice
        length = torch.tensor([d["weight"] for _, _, d in graph.edges(data=True)], dtype=F64)
        length = torch.cat([length, torch.ones(1), length]).to(DEVICE)
        found = torchcent.pair_features(
            arcs, edge_index(pairs), None if weight is None else length, num_nodes=n,
            directed=False, run=EXACT,
        )  # fmt: skip
        torch.testing.assert_close(found.cpu(), expected(graph, pairs, weight or 1))
        swapped = torchcent.pair_features(
            arcs, edge_index(pairs).flip(0), num_nodes=n, directed=False, measures=NAMES[1:],
            run=EXACT,
        )  # fmt: skip
        assert torch.equal(swapped, found[:, 1:])


def test_a_batch_is_each_graph_alone():
    """To the bit; pairs between two graphs have no path and share nothing."""
    draw = np.random.default_rng(5)
    graphs = [nx.gnp_random_graph(n, 0.3, seed=n) for n in (12, 1, 30, 7)]
    first = np.cumsum([0, *(len(graph) for graph in graphs)])
    arcs = [(first[g] + u, first[g] + v) for g, one in enumerate(graphs) for u, v in one.edges]
    ptr = torch.from_numpy(first).to(DEVICE)
    both = Graph.from_edge_index(edge_index(arcs), directed=False, ptr=ptr)
    pairs = edge_index(draw.integers(0, first[-1], (300, 2)).tolist())
    found = torchcent.pair_features(both, pairs, measures=NAMES, run=EXACT)
    graph_of = torch.searchsorted(ptr, pairs, right=True) - 1
    across = graph_of[0] != graph_of[1]
    assert (found[across, 0] == -1).all() and (found[across, 1:-1] == 0).all()
    for g, graph in enumerate(graphs):
        own = (graph_of == g).all(0)
        alone = Graph.from_edge_index(edge_index([*graph.edges]), len(graph), False)
        one = torchcent.pair_features(alone, pairs[:, own] - ptr[g], measures=NAMES, run=EXACT)
        assert torch.equal(one, found[own])


def test_distances_of_directed_graphs():
    arcs = edge_index([(0, 1), (1, 2), (2, 3)])
    pairs = edge_index([(0, 3), (3, 0), (1, 1), (0, 2)])
    found = torchcent.pair_features(arcs, pairs, measures="distance", unreachable=-5)
    assert found.tolist() == [[3], [-5], [0], [2]]
    near = torchcent.pair_features(arcs, pairs, measures=["distance"], cutoff=2, unreachable=99)
    assert near.tolist() == [[99], [99], [0], [2]]
    with pytest.raises(ValueError, match="measures='common_neighbors' is for undirected graphs"):
        torchcent.pair_features(arcs, pairs)


def test_pairs_of_a_vertex_with_itself():
    arcs = edge_index([(0, 1), (0, 2), (1, 2), (2, 3), (4, 5)])
    pairs = edge_index([(1, 1), (3, 3), (5, 5), (6, 6)])
    found = torchcent.pair_features(arcs, pairs, directed=False, num_nodes=7, run=EXACT)
    log = math.log
    assert found.tolist() == [
        [0, 2, 1, pytest.approx(1 / log(2) + 1 / log(3)), pytest.approx(1 / 2 + 1 / 3), 4],
        [0, 1, 1, pytest.approx(1 / log(3)), pytest.approx(1 / 3), 1],
        [0, 1, 1, math.inf, 1, 1],
        [0, 0, 0, 0, 0, 0],
    ]


def test_edges_of_a_hub():
    """Of 10^5 neighbours: a pair looks up those of its other end."""
    leaves = 100_000
    arcs = edge_index([*star(leaves), *((v, v + 1) for v in range(1, leaves))])
    found = torchcent.pair_features(
        arcs, arcs, measures=["common_neighbors", "resource_allocation"], directed=False, run=EXACT
    )
    spokes, rim = found[:leaves], found[leaves:]
    assert spokes[:, 0].tolist() == [1] + [2] * (leaves - 2) + [1]
    assert (rim[1:-1, 0] == 1).all()
    torch.testing.assert_close(rim[:, 1], torch.full_like(rim[:, 1], 1 / leaves))


def test_columns_and_dtypes():
    path = edge_index([(0, 1), (1, 2)])
    found = torchcent.pair_features(path, path, measures="preferential_attachment", directed=False)
    assert found.tolist() == [[2], [2]] and found.dtype == torch.get_default_dtype()
    none = torchcent.pair_features(path, path[:, :0], directed=False)
    assert none.shape == (0, 6)
    empty = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    assert torchcent.pair_features(empty, empty, num_nodes=0).shape == (0, 6)
    one = edge_index([(0, 0)])
    assert torchcent.pair_features(empty, one, num_nodes=1).tolist() == [[0] * 6]


BAD = [
    ({"pairs": [[0], [1]]}, TypeError, r"pairs must be a tensor \[2, P\] of vertices"),
    ({"pairs": torch.tensor([0, 1])}, ValueError, r"pairs must be \[2, P\], a column per pair"),
    ({"pairs": torch.tensor([[0], [3]])}, ValueError, r"pairs.*3.*\[0, 3\)"),
    ({"pairs": torch.tensor([[0.0], [1.0]])}, TypeError, "pairs must hold integer vertex ids"),
    ({"measures": "katz"}, ValueError, "measures must be one of distance, common_neighbors"),
    ({"measures": []}, TypeError, "measures must be a name or a list of names"),
    ({"cutoff": -1}, ValueError, "cutoff must be >= 0"),
    ({"unreachable": "far"}, TypeError, "unreachable must be"),
]


def test_memory():
    graph = Graph.from_edge_index(edge_index([(0, 1), (1, 2)]), directed=False)
    with pytest.raises(MemoryError, match="pair_features of 1 pairs"):
        torchcent.pair_features(graph, edge_index([(0, 1)]), run=Run(memory=10))


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_input(options, error, text):
    good = {"pairs": torch.tensor([[0], [1]], device=DEVICE), "directed": False}
    with pytest.raises(error, match=text):
        torchcent.pair_features(edge_index([(0, 1), (1, 2)]), **good | options)
