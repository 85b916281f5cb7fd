"""Random graphs with given degrees, and roads with lengths."""

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import scipy.stats
import torch
from graphs import DEVICE
from hypothesis import example, given
from hypothesis import strategies as st

import torchcent
from torchcent import Graph, generate


def degrees_of(edge_index: torch.Tensor, n: int) -> list[int]:
    return torch.bincount(edge_index[0], minlength=n).tolist()


def is_simple(edge_index: torch.Tensor) -> bool:
    pairs = list(map(tuple, edge_index.T.tolist()))
    reverse = {(v, u) for u, v in pairs}
    return len(set(pairs)) == len(pairs) and reverse == set(pairs) and all(u != v for u, v in pairs)


@example(degrees=[4, 1, 1, 1, 1])
@example(degrees=[5] * 6)
@example(degrees=[])
@example(degrees=[0, 0])
@example(degrees=[6, 6, 5, 4, 4, 2, 2, 1])
@given(st.lists(st.integers(0, 7), max_size=9))
def test_graphs_of_given_degrees(degrees: list[int]) -> None:
    if nx.is_graphical(degrees):
        index = generate.configuration_model(degrees, seed=3)
        assert degrees_of(index, len(degrees)) == degrees and is_simple(index)
    else:
        with pytest.raises(ValueError, match="their sum is odd|no simple graph has them"):
            generate.configuration_model(degrees)


def all_graphs(degrees: list[int]) -> set[tuple[tuple[int, int], ...]]:
    """Every simple graph of these degrees."""
    pairs = list(itertools.combinations(range(len(degrees)), 2))
    return {
        edges
        for edges in itertools.combinations(pairs, sum(degrees) // 2)
        if list(np.bincount(np.array(edges).ravel(), minlength=len(degrees))) == degrees
    }


def edges_of(edge_index: torch.Tensor) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((u, v) for u, v in edge_index.T.tolist() if u < v))


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("degrees", [[2, 2, 2, 1, 1], [3, 2, 2, 2, 1], [2, 2, 2, 2, 2, 2]])
def test_all_graphs_are_equally_likely(degrees: list[int]) -> None:
    """Of all of them, by the chi-squared test with a fixed seed."""
    every = all_graphs(degrees)
    n, copies = len(degrees), 200 * len(every)
    start = Graph.from_edge_index(torch.tensor(min(every)).T.to(DEVICE), n, directed=False)
    batch = generate.rewired(start, number=copies, seed=11)
    index = batch.to_edge_index().cpu()
    graph = (index[0] // n).tolist()
    found: Counter[object] = Counter()
    begins = np.searchsorted(graph, np.arange(copies + 1))
    for number, (begin, end) in enumerate(itertools.pairwise(begins)):
        found[edges_of(index[:, begin:end] - number * n)] += 1
    assert set(found) == every
    assert scipy.stats.chisquare(list(found.values())).pvalue > 1e-3
    drawn = Counter(edges_of(generate.configuration_model(degrees, seed=s)) for s in range(1000))
    assert set(drawn) <= every and len(drawn) > 0.9 * len(every)


def all_digraphs(out: list[int], back: list[int]) -> set[tuple[tuple[int, int], ...]]:
    """Every simple directed graph of these out- and in-degrees."""
    n = len(out)
    pairs = list(itertools.permutations(range(n), 2))
    found = set()
    for arcs in itertools.combinations(pairs, sum(out)):
        tails, heads = np.array(arcs).T
        degrees = [*np.bincount(tails, minlength=n), *np.bincount(heads, minlength=n)]
        if degrees == [*out, *back]:
            found.add(arcs)
    return found


@pytest.mark.parametrize(
    ("out", "back"),
    [
        ([1, 1, 1], [1, 1, 1]),  # a cycle and its reverse, between which no two arcs lead
        ([2, 1, 1, 1], [1, 2, 1, 1]),
        ([2, 2, 1, 1], [1, 1, 2, 2]),
        ([1, 1, 1, 1], [1, 1, 1, 1]),
        ([3, 1, 1, 0, 1], [0, 1, 2, 2, 1]),
    ],
)
def test_all_directed_graphs_are_equally_likely(out: list[int], back: list[int]) -> None:
    every = all_digraphs(out, back)
    n, copies = len(out), 200 * len(every)
    # One with an arc that has no reverse; graphs of pairs of arcs alone are undirected.
    first = next(arcs for arcs in sorted(every) if {(v, u) for u, v in arcs} != set(arcs))
    start = Graph.from_edge_index(torch.tensor(first).T.to(DEVICE), n, directed=True)
    batch = generate.rewired(start, number=copies, seed=13, swaps=20)
    assert batch.directed and batch.num_graphs == copies
    found: Counter[object] = Counter()
    arcs = batch.to_edge_index().cpu()
    begins = torch.searchsorted(arcs[0].contiguous(), torch.arange(copies + 1) * n).tolist()
    for number, (begin, end) in enumerate(itertools.pairwise(begins)):
        found[tuple(map(tuple, (arcs[:, begin:end] - number * n).T.tolist()))] += 1
    assert set(found) == every
    assert scipy.stats.chisquare(list(found.values())).pvalue > 1e-3


@given(data=st.data())
def test_directed_graphs_keep_both_degrees(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 9), "n")
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    arcs = data.draw(st.lists(pairs, max_size=30), "arcs")
    index = torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T
    graph = Graph.from_edge_index(index.to(DEVICE), n, directed=True)
    batch = generate.rewired(graph, number=5, seed=data.draw(st.integers(0, 9), "seed"))
    simple = {(u, v) for u, v in arcs if u != v}
    every = [tuple(arc) for arc in batch.to_edge_index().T.tolist()]
    assert len(set(every)) == len(every) == 5 * len(simple)
    for number in range(5):
        part = [(u - number * n, v - number * n) for u, v in every if u // n == number]
        assert all(u != v and 0 <= v < n for u, v in part)
        for end in (0, 1):
            assert Counter(arc[end] for arc in part) == Counter(arc[end] for arc in simple)


def test_a_directed_graph_keeps_its_names() -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], directed=True)
    one = generate.rewired(graph, seed=2)
    assert one.directed and one.labels.tolist() == list("abcd") and one != graph
    assert one.degree.tolist() == [1] * 4 and one.transpose[0].diff().tolist() == [1] * 4
    mutual = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert not generate.rewired(mutual).directed


@pytest.mark.slow
def test_batches_of_a_thousand() -> None:
    graph = nx.karate_club_graph()
    here = Graph.from_networkx(graph).to(DEVICE)
    batch = generate.rewired(here, number=1000, seed=5)
    n = len(graph)
    assert batch.num_graphs == 1000 and batch.num_nodes == 1000 * n and not batch.directed
    assert batch.degree.view(1000, n).eq(here.degree).all() and batch.device == here.device
    assert is_simple(batch.to_edge_index().cpu()[:, : 3 * here.num_slots])
    values = torchcent.transitivity(batch)
    assert values.shape == (1000,) and values.std() > 0
    assert values.mean() < torchcent.transitivity(here)
    assert generate.rewired(here, number=1000, seed=5) == batch
    assert generate.rewired(here, number=1000, seed=6) != batch
    assert generate.rewired(here, number=0).num_nodes == 0


def test_one_graph_keeps_its_names() -> None:
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")], directed=False
    )
    one = generate.rewired(graph, seed=1)
    assert one.labels.tolist() == list("abcde") and one.ptr is None
    assert one.degree.tolist() == [2] * 5
    assert generate.rewired(graph, swaps=0) == graph
    star = generate.rewired(torch.tensor([[0, 0, 0], [1, 2, 3]]), directed=False, num_nodes=6)
    assert star.num_nodes == 6 and star.degree.tolist() == [3, 1, 1, 1, 0, 0]
    assert generate.rewired(torch.empty(2, 0).long()).num_nodes == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"number": -1}, "number=-1; accepted: 0 or more"),
        ({"number": 1.5}, "number must be an int"),
        ({"swaps": -1}, "swaps=-1; accepted: 0 to"),
        ({"swaps": math.nan}, "swaps=nan"),
        ({"swaps": "x"}, "swaps must be"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_rewiring_refuses(options: dict[str, object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        generate.rewired(torch.tensor([[0, 1], [1, 2]]), **({"directed": False} | options))


def test_rewiring_refuses_weights_and_batches() -> None:
    weighted = Graph.from_edges([(0, 1)], directed=False, edge_weight=[2.0])
    with pytest.raises(ValueError, match="weights: pass graph.unweighted"):
        generate.rewired(weighted)
    batch = Graph.from_edge_index(
        torch.tensor([[0], [1]]), directed=False, ptr=torch.tensor([0, 2, 3])
    )
    with pytest.raises(ValueError, match="several graphs"):
        generate.rewired(batch)


@pytest.mark.parametrize(
    ("degrees", "said"),
    [([1, 1.5], "whole numbers"), ([-1, 1], "no simple"), ([[1, 1]], "whole"), ("ab", "whole")],
)
def test_degrees_that_are_refused(degrees: object, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        generate.configuration_model(degrees)
    with pytest.raises(TypeError, match="degrees must be a sequence"):
        generate.configuration_model(5)


def test_degrees_of_a_tensor() -> None:
    graph = nx.karate_club_graph()
    degree = torchcent.degree(Graph.from_networkx(graph))
    index = generate.configuration_model(degree)
    assert degrees_of(index, 34) == [d for _, d in graph.degree]


def test_roads_with_lengths() -> None:
    plain = generate.road(20, 30, seed=7)
    streets = generate.road(20, 30, lengths=True, seed=7)
    assert streets.graph() == Graph.from_edge_index(plain, directed=False)
    assert streets.num_nodes == int(plain.max()) + 1 and not streets.directed
    place = streets.positions
    assert place.shape == (streets.num_nodes, 2)
    ends = place[streets.edge_index[0]] - place[streets.edge_index[1]]
    longer = streets.edge_weight / ends.norm(dim=1)
    assert (longer >= 1).all() and (longer <= 1.2 + 1e-9).all() and longer.std() > 0.01
    off = place - (place / 100).round() * 100
    assert off.abs().max() <= 30 and off.std() > 5
    assert streets.graph(edge_weight=True).is_weighted
    assert place[:, 0].max() < 2950 and place[:, 1].max() < 1950  # 30 columns, 20 rows
    again = generate.road(20, 30, lengths=True, seed=7)
    assert again.edge_weight.equal(streets.edge_weight)
    with pytest.raises(TypeError, match="lengths must be True or False"):
        generate.road(3, 3, lengths=1)
