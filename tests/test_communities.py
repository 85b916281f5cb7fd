"""communities_by_betweenness: against a division in exact fractions, and NetworkX."""

from fractions import Fraction

import networkx as nx
import oracles
import pytest
import torch
from graphs import complete, cycle, edge_index, grid, path, random_graph, star, union
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

import torchcent
from torchcent import communities_by_betweenness


def simple(arcs):
    return sorted({(min(arc), max(arc)) for arc in arcs if arc[0] != arc[1]})


GRAPHS = {
    "path": (6, path(6)),
    "star": (6, star(5)),
    "cycle": (6, cycle(6)),
    "complete": (5, complete(5)),
    "grid": (9, grid(3, 3)),
    "random": (12, simple(random_graph(12, 26, seed=3))),
    "parts": union((6, simple(random_graph(6, 12, seed=1))), (4, cycle(4)), (2, [])),
    "edgeless": (3, []),
}


def parts(n, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return sorted((sorted(part) for part in nx.connected_components(graph)), key=min)


def divided(n, edges, per_round=1):
    """Levels of the division, the edges in order, and the splits, in exact arithmetic."""
    left, removed = simple(edges), []
    levels, splits = [(parts(n, left), 0)], []
    while left:
        score = oracles.edge_betweenness(n, left, directed=False, normalized=False)
        order = sorted(range(len(left)), key=lambda e: (-score[e], left[e]))[:per_round]
        removed += [left[e] for e in order]
        left = [edge for e, edge in enumerate(left) if e not in order]
        now = parts(n, left)
        if len(now) > len(levels[-1][0]):
            old = {v: min(part) for part in levels[-1][0] for v in part}
            new = [min(part) for part in now if min(part) not in old.values()]
            splits += [(old[v], v) for v in sorted(new)]
            levels.append((now, len(removed)))
    return levels, removed, splits


def grouped(labels):
    found = {}
    for vertex, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(vertex)
    assert list(found) == list(range(len(found)))  # numbered by their first vertices
    return list(found.values())


def modularity(n, edges, communities):
    m, total = len(edges), Fraction(0)
    for part in communities:
        inside = sum(u in part and v in part for u, v in edges)
        degree = sum((u in part) + (v in part) for u, v in edges)
        total += Fraction(inside, m) - Fraction(degree, 2 * m) ** 2
    return float(total)


def compare(n, edges, per_round=1):
    found = communities_by_betweenness(
        edge_index(edges), num_nodes=n, directed=False, per_round=per_round
    )
    levels, removed, splits = divided(n, edges, per_round)
    assert found.complete and found.removed.T.tolist() == [list(edge) for edge in removed]
    assert found.removals.tolist() == [count for _, count in levels]
    assert found.counts.tolist() == [len(level) for level, _ in levels]
    assert [tuple(x) for x in found.splits.tolist()] == splits
    for number, (level, _) in enumerate(levels):
        assert grouped(found.at(number)) == level
    if edges:
        quality = [modularity(n, simple(edges), level) for level, _ in levels]
        assert found.modularity.tolist() == pytest.approx(quality, abs=1e-12)
        assert quality[found.level] == pytest.approx(max(quality), abs=1e-12)
    assert found.labels.equal(found.at(found.level))


@pytest.mark.parametrize("per_round", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_division_in_exact_arithmetic(name, per_round):
    compare(*GRAPHS[name], per_round)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=14)
        )
    ),
    st.sampled_from([1, 2, 5]),
)
def test_any_graph(graph, per_round):
    n, arcs = graph
    compare(n, simple(arcs), per_round)


def test_networkx_finds_the_same_communities_of_the_karate_club():
    graph = nx.Graph(nx.karate_club_graph().edges)
    found, nodes = communities_by_betweenness(graph), list(graph)
    levels = zip(range(1, 7), nx.community.girvan_newman(graph), strict=False)
    for number, level in levels:
        ours = [sorted(nodes[i] for i in part) for part in grouped(found.at(number))]
        assert sorted(map(sorted, level)) == sorted(ours)
        quality = nx.community.modularity(graph, level)
        assert found.modularity[number].item() == pytest.approx(quality)
    assert found.counts[found.level] == 5  # Newman and Girvan 2004: 0.401


def test_weights_are_lengths():
    """A long edge is left for last: shortest paths avoid it."""
    edges, length = [(0, 1), (1, 2), (2, 3), (0, 3)], torch.tensor([1.0, 1.0, 1.0, 9.0])
    found = communities_by_betweenness(edge_index(edges), None, length, directed=False)
    assert found.removed.T.tolist()[0] == [1, 2]
    hops = communities_by_betweenness(edge_index(edges), directed=False)
    assert hops.removed.T.tolist()[0] == [0, 1]


@pytest.mark.parametrize("method", ["exact", "samples"])
@pytest.mark.parametrize("per_round", [1, 0.05])
def test_planted_communities_are_found(method, per_round):
    graph = nx.planted_partition_graph(3, 20, 0.5, 0.01, seed=2)
    found = communities_by_betweenness(
        graph, 3, method=method, epsilon=0.03, per_round=per_round,
        generator=torch.Generator().manual_seed(1),
    )  # fmt: skip
    assert grouped(found.labels) == [list(range(i, i + 20)) for i in (0, 20, 40)]
    assert found.level == len(found.counts) - 1 and not found.complete


def test_ends():
    arcs = edge_index(grid(4, 4))
    found = communities_by_betweenness(arcs, directed=False, max_rounds=3, per_round=2)
    assert found.removed.shape == (2, 6) and not found.complete
    assert communities_by_betweenness(arcs, 1, directed=False).removed.shape == (2, 0)
    assert communities_by_betweenness(arcs, 16, directed=False).complete
    share = communities_by_betweenness(arcs, directed=False, max_rounds=2, per_round=0.5)
    assert share.removed.shape[1] == 12 + 6
    empty = communities_by_betweenness(torch.empty(2, 0, dtype=torch.int64), num_nodes=0)
    assert empty.labels.shape == (0,) and empty.counts.tolist() == [0]
    assert "complete=True" in repr(empty)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_communities": 0}, ValueError, "num_communities"),
        ({"num_communities": 17}, ValueError, "num_communities must be at most 16"),
        ({"method": "fast"}, ValueError, "method must be one of exact, samples"),
        ({"epsilon": 2}, ValueError, "epsilon"),
        ({"per_round": 0}, ValueError, "per_round must be at least 1"),
        ({"per_round": 1.5}, ValueError, "per_round"),
        ({"per_round": "all"}, TypeError, "per_round"),
        ({"max_rounds": 0}, ValueError, "max_rounds"),
        ({"generator": 3}, TypeError, "generator"),
        ({"directed": None}, ValueError, "is for undirected graphs"),
        ({"memory": 10}, MemoryError, "memory=10"),
    ],
)
def test_errors(options, error, words):
    with pytest.raises(error, match=words):
        call(communities_by_betweenness, edge_index(grid(4, 4)), **{"directed": False, **options})


def test_levels_and_batches():
    found = communities_by_betweenness(edge_index(path(3)), directed=False)
    assert found.at(-1).tolist() == [0, 1, 2]
    for level, error in ((3, ValueError), (-4, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="level must be"):
            found.at(level)
    batch = torchcent.Graph.from_edge_index(
        edge_index(path(2)), directed=False, ptr=torch.tensor([0, 2])
    )
    with pytest.raises(ValueError, match="one by one"):
        communities_by_betweenness(batch)
