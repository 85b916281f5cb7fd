"""Measures of groups: against an enumeration in exact fractions, NetworkX, and all groups."""

import itertools
import math
import random
from fractions import Fraction

import networkx as nx
import pytest
import torch
from graphs import (
    DEVICE,
    complete,
    cycle,
    diamonds,
    edge_index,
    grid,
    networkx_graph,
    path,
    random_graph,
    star,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Sampler, progress_bar
from surface import call

import torchcent
from torchcent.groups import _betweenness, _cover

F64 = torch.float64
SHAPES = {
    "path": (6, path(6)),
    "cycle": (7, cycle(7)),
    "star": (6, star(5)),
    "complete": (5, complete(5)),
    "grid": (12, grid(3, 4)),
    "diamonds": (10, diamonds(3)),
    "random": (11, random_graph(11, 24, seed=4)),
    "parts": (13, [*random_graph(8, 14, seed=2), *((8 + u, 8 + v) for u, v in cycle(4))]),
    "edgeless": (4, []),
}
WEIGHTS = {"hops": None, "whole": (1, 2, 3), "decimals": (0.1, 0.2, 0.3), "thirds": (1 / 3, 2 / 3)}


def lengths(arcs, weights, directed):
    """The length of each arc as a fraction: of decimals the number that was written."""
    found = {}
    turn = itertools.cycle(weights or (1,))
    for (u, v), w in zip(arcs, turn, strict=False):
        exact = Fraction(w).limit_denominator(10) if weights else 1
        for arc in ((u, v),) if directed else ((u, v), (v, u)):
            if u != v:
                found[arc] = min(exact, found.get(arc, exact))
    return found


def blocked(n, length, group, ends=False, inner_only=False):
    """The share of paths that the group blocks, summed over ordered pairs, from the definition.

    Pairs outside of the group; with `ends` all pairs, a path is blocked by its ends as well; with
    `inner_only` all pairs, by inner vertices.
    """
    total, group = Fraction(0), set(group)
    for s in range(n):
        distance, left = {s: Fraction(0)}, {s: Fraction(0)}
        while left:
            u = min(left, key=left.get)
            distance[u] = left.pop(u)
            for (a, b), w in length.items():
                if a == u and b not in distance or (a == u and b in left):
                    left[b] = min(left.get(b, distance[u] + w), distance[u] + w)
        every, free = {s: 1}, {s: 1}
        for v in sorted(distance, key=distance.get):
            if v == s:
                continue
            before = [
                u
                for u in distance
                if (u, v) in length and distance[u] + length[u, v] == distance[v]
            ]
            every[v] = sum(every[u] for u in before)
            free[v] = sum(free[u] for u in before if u == s or u not in group)
            share = 1 - Fraction(free[v], every[v])
            if ends and (s in group or v in group):
                share = Fraction(1)
            if ends or inner_only or (s not in group and v not in group):
                total += share
    return total


def options(arcs, weights, directed, n):
    given_as = {"num_nodes": n, "directed": directed}
    if weights:
        turn = itertools.cycle(weights)
        given_as["edge_weight"] = torch.tensor([next(turn) for _ in arcs], dtype=F64, device=DEVICE)
    return given_as


def some_groups(n, seed=0):
    chance = random.Random(seed)
    return [
        sorted(chance.sample(range(n), k)) for k in (1, 2, 3, max(n // 2, 1), n - 1, n) if k <= n
    ]


@pytest.mark.sweep(by="shape weights directed")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_betweenness_is_its_definition(shape, weights, directed):
    n, arcs = SHAPES[shape]
    how = options(arcs, WEIGHTS[weights], directed, n)
    length = lengths(arcs, WEIGHTS[weights], directed)
    groups = some_groups(n)
    for ends in (False, True):
        raw = [blocked(n, length, group, ends) for group in groups]
        counted = [n if ends else n - len(group) for group in groups]
        normal = [float(x / max(c * (c - 1), 1)) for x, c in zip(raw, counted, strict=True)]
        found = call(
            torchcent.group_betweenness, edge_index(arcs), groups, endpoints=ends, dtype=F64, **how
        )
        assert found.tolist() == pytest.approx(normal, abs=1e-12)
        found = call(
            torchcent.group_betweenness,
            edge_index(arcs),
            groups,
            endpoints=ends,
            normalized=False,
            dtype=F64,
            **how,
        )
        assert found.tolist() == pytest.approx(
            [float(x / (1 if directed else 2)) for x in raw], abs=1e-12
        )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_tensors_alone_give_the_same(weights, monkeypatch):
    n, arcs = SHAPES["parts"]
    how, length = options(arcs, WEIGHTS[weights], True, n), lengths(arcs, WEIGHTS[weights], True)
    monkeypatch.setattr(_betweenness._dependency, "is_compiled", lambda graph: False)
    groups = some_groups(n, 1)
    found = call(
        torchcent.group_betweenness, edge_index(arcs), groups, normalized=False, dtype=F64, **how
    )
    assert found.tolist() == pytest.approx(
        [float(blocked(n, length, g)) for g in groups], abs=1e-12
    )


@pytest.mark.parametrize("searches", [0, math.inf])
@pytest.mark.parametrize("weights", ["hops", "decimals"])
def test_both_ways_to_add_up(weights, searches, monkeypatch):
    """Results of single sources, and runs with weights of sources."""
    n, arcs = SHAPES["random"]
    how, length = options(arcs, WEIGHTS[weights], True, n), lengths(arcs, WEIGHTS[weights], True)
    monkeypatch.setattr(_betweenness._dependency, "searches_for_one", lambda *_: searches)
    groups = some_groups(n, 2)
    how |= {"normalized": False, "dtype": F64}
    found = call(torchcent.group_betweenness, edge_index(arcs), groups, **how)
    expected = [float(blocked(n, length, g)) for g in groups]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=20),
            st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=1, max_size=3),
        )
    ),
    st.booleans(),
    st.sampled_from([None, (1, 2, 3), (0.1, 0.2, 0.3)]),
)
def test_any_groups_of_any_graph(given_graph, directed, weights):
    n, arcs, groups = given_graph
    length, how = lengths(arcs, weights, directed), options(arcs, weights, directed, n)
    found = call(
        torchcent.group_betweenness, edge_index(arcs), groups, normalized=False, dtype=F64, **how
    )
    of_pairs = 1 if directed else 2
    expected = [float(blocked(n, length, g) / of_pairs) for g in groups]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    graph = networkx_graph(n, arcs, directed)
    weight = None
    if weights:
        weight = "w"
        graph = (nx.DiGraph if directed else nx.Graph)()
        graph.add_nodes_from(range(n))
        graph.add_edges_from((u, v, {"w": w}) for (u, v), w in length.items())
    near = call(torchcent.group_closeness, edge_index(arcs), groups, dtype=F64, **how)
    assert near.tolist() == pytest.approx(
        [float(nx.group_closeness_centrality(graph, g, weight)) for g in groups], rel=1e-12
    )


def test_groups_of_two_are_networkx_ones():
    graph = nx.gnm_random_graph(30, 60, seed=5)
    groups = [[0], [3, 7], [20, 21]]
    assert torchcent.group_betweenness(
        graph, groups, run=torchcent.Run(dtype=F64)
    ).tolist() == pytest.approx(nx.group_betweenness_centrality(graph, groups), rel=1e-10)


def test_path_counts_beyond_float64():
    n, arcs = 3 * 1030 + 1, diamonds(1030)
    ends = [0, n - 1]
    middle = 3  # where the first diamond ends
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, False)
    found = torchcent.group_betweenness(
        graph, [[middle], ends], normalized=False, run=torchcent.Run(dtype=F64)
    )
    # The three vertices before it and all after it, and half of the paths across either diamond.
    assert found[0].item() == pytest.approx(3 * (n - 4) + 1, rel=1e-9)
    assert found[1].item() == pytest.approx(1.0, rel=1e-9)  # half of the paths past either end


@pytest.mark.parametrize("direction", ["out", "in"])
def test_degree(direction):
    n, arcs = SHAPES["parts"]
    graph = networkx_graph(n, arcs, True)
    of = nx.group_out_degree_centrality if direction == "out" else nx.group_in_degree_centrality
    groups = some_groups(n)[:-1]
    found = torchcent.group_degree(
        edge_index(arcs), groups, num_nodes=n, direction=direction, run=torchcent.Run(dtype=F64)
    )
    assert found.tolist() == pytest.approx([of(graph, group) for group in groups])
    count = torchcent.group_degree(
        edge_index(arcs), groups[1], num_nodes=n, direction=direction, normalized=False
    )
    assert count.item() == pytest.approx(of(graph, groups[1]) * (n - 2))
    assert torchcent.group_degree(edge_index(arcs), range(n), num_nodes=n).item() == 0


@pytest.mark.parametrize("form", [list, tuple, set, torch.tensor])
def test_forms_of_a_group(form):
    arcs = edge_index(path(5))
    one = torchcent.group_betweenness(arcs, form([1, 3]), directed=False, normalized=False)
    assert one.shape == () and one.item() == 3
    several = torchcent.group_betweenness(
        arcs, torch.tensor([[1, 3], [0, 4]]), directed=False, normalized=False
    )
    assert several.tolist() == [3, 0]


BAD = {
    "empty": ([], ValueError, "group must not be empty$"),
    "outside": ([1, 9], ValueError, r"group contains vertex 9, but ids must be in \[0, 4\)"),
    "twice": ([1, 1], ValueError, "group contains vertex 1 more than once"),
    "a number": (3, TypeError, "group must hold vertex ids, or a list of groups, got int"),
    "text": ("12", TypeError, "got str"),
    "fractions": ([0.5], TypeError, "integer vertex ids"),
    "mixed": ([[0, 1], 2], TypeError, r"group\[1\] must be a group"),
    "one of several": ([[0], [7]], ValueError, r"group\[1\] contains vertex 7"),
    "one of several is empty": ([[0], []], ValueError, r"group\[1\] must not be empty$"),
    "three dimensions": (torch.zeros(1, 1, 1, dtype=torch.int64), ValueError, "one-dimensional"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_groups(name):
    group, kind, message = BAD[name]
    for measure in (torchcent.group_betweenness, torchcent.group_closeness, torchcent.group_degree):
        with pytest.raises(kind, match=message):
            measure(edge_index(path(4)), group)


@pytest.mark.parametrize(
    ("measure", "wrong", "kind", "message"),
    [
        ("group_betweenness", {"normalized": 1}, TypeError, "normalized"),
        ("group_betweenness", {"endpoints": None}, TypeError, "endpoints"),
        ("group_betweenness", {"tie_tolerance": 2}, ValueError, "tie_tolerance"),
        ("group_betweenness", {"memory": 100}, MemoryError, "memory=100"),
        ("group_closeness", {"dtype": torch.int64}, TypeError, "dtype"),
        ("group_degree", {"direction": "both"}, ValueError, "direction must be one of out, in"),
    ],
)
def test_bad_options(measure, wrong, kind, message):
    with pytest.raises(kind, match=message):
        call(getattr(torchcent, measure), edge_index(path(4)), [1], **wrong)


def test_batches_are_refused():
    ptr = torch.tensor([0, 4]).to(DEVICE)
    batch = torchcent.Graph.from_edge_index(edge_index(path(4)), ptr=ptr)
    for measure in (torchcent.group_betweenness, torchcent.group_closeness, torchcent.group_degree):
        with pytest.raises(ValueError, match="one by one"):
            measure(batch, [1])
    with pytest.raises(ValueError, match="one by one"):
        torchcent.prominent_group(batch, 1)


def best_cover(n, length, k, endpoints):
    pairs = n * (n - 1)
    return max(
        float(blocked(n, length, group, endpoints, not endpoints)) / pairs
        for group in itertools.combinations(range(n), k)
    )


@pytest.mark.sweep
@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("weights", ["hops", "whole"])
@pytest.mark.parametrize("directed", [False, True])
def test_exact_greedy_choice(directed, weights, endpoints):
    n, arcs = SHAPES["parts"]
    length = lengths(arcs, WEIGHTS[weights], directed)
    how, pairs = options(arcs, WEIGHTS[weights], directed, n), n * (n - 1)
    found = call(
        torchcent.prominent_group,
        edge_index(arcs),
        3,
        method="exact",
        endpoints=endpoints,
        dtype=F64,
        **how,
    )
    group = found.vertices.tolist()

    def cover(group):
        return float(blocked(n, length, group, endpoints, not endpoints)) / pairs

    for i in range(3):  # every step takes a vertex of the largest gain
        assert found.scores[i].item() == pytest.approx(cover(group[: i + 1]), abs=1e-12)
        best = max(cover([*group[:i], v]) for v in range(n) if v not in group[:i])
        assert found.scores[i].item() == pytest.approx(best, abs=1e-12)
    optimum = best_cover(n, length, 3, endpoints)
    assert found.lower - 1e-12 <= optimum <= found.optimum + 1e-12
    assert found.lower >= _cover.GREEDY * optimum


@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize(("shape", "weights"), [("grid", "hops"), ("random", "whole")])
def test_samples_keep_the_guarantee(shape, weights, endpoints):
    n, arcs = SHAPES[shape]
    length, how = lengths(arcs, WEIGHTS[weights], False), options(arcs, WEIGHTS[weights], False, n)
    optimum = best_cover(n, length, 2, endpoints)
    kept = 0
    for seed in range(20):
        found = call(
            torchcent.prominent_group,
            edge_index(arcs),
            2,
            0.1,
            0.05,
            method="samples",
            endpoints=endpoints,
            generator=torch.Generator().manual_seed(seed),
            **how,
        )
        group = found.vertices.tolist()
        true = float(blocked(n, length, group, endpoints, not endpoints)) / (n * (n - 1))
        assert found.reached and len(set(group)) == 2
        kept += found.lower <= true and optimum <= found.optimum
        assert true >= (_cover.GREEDY - 0.1) * optimum or kept < seed + 1
    assert kept >= 17  # 19 expected


def test_samples_are_reproducible_and_limited():
    arcs = edge_index(grid(5, 5))
    one, two = (
        torchcent.prominent_group(
            arcs, 3, 0.01, method="samples", directed=False, max_samples=100,
            generator=torch.Generator().manual_seed(3),
        )
        for _ in "ab"
    )  # fmt: skip
    assert one.vertices.equal(two.vertices) and one.scores.equal(two.scores)
    assert one.samples == 100 and not one.reached
    found = torchcent.prominent_group(
        edge_index(complete(5)), 2, method="samples", directed=False, max_samples=100
    )
    assert found.vertices.tolist() == [0, 1] and found.scores.tolist() == [0, 0]


@pytest.mark.parametrize("method", ["exact", "samples"])
def test_memory_for_prominent_groups(method):
    with pytest.raises(MemoryError, match="memory=50000"):
        torchcent.prominent_group(
            edge_index(grid(12, 12)),
            3,
            0.001,
            method=method,
            directed=False,
            run=torchcent.Run(memory=50_000),
        )


@pytest.mark.parametrize("method", ["exact", "samples"])
def test_groups_of_graphs_without_paths(method):
    found = torchcent.prominent_group(
        torch.empty(2, 0, dtype=torch.int64), 2, num_nodes=3, method=method, max_samples=10
    )
    assert found.vertices.tolist() == [0, 1] and found.scores.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"k": 0}, ValueError, "k must be from 1 to 4"),
        ({"k": 5}, ValueError, "k must be from 1 to 4"),
        ({"k": 1.5}, TypeError, "k must be an int"),
        ({"epsilon": 0.7}, ValueError, "epsilon must be more than 0 and less than 0.632"),
        ({"delta": 1}, ValueError, "delta"),
        ({"method": "kadabra"}, ValueError, "method must be one of auto, exact, samples"),
        ({"max_samples": 0}, ValueError, "max_samples"),
        ({"generator": 5}, TypeError, "generator"),
    ],
)
def test_bad_prominent_groups(wrong, kind, message):
    with pytest.raises(kind, match=message):
        call(torchcent.prominent_group, edge_index(path(4)), **{"k": 1, **wrong})


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("weights", ["hops", "whole", "thirds"])
def test_drawn_paths(weights, compiled):
    """Paths are shortest ones between their ends, and those whose inner vertices are counted."""
    n, arcs = SHAPES["parts"]
    graph = torchcent.Graph.from_edge_index(
        edge_index(arcs), n, True, options(arcs, WEIGHTS[weights], True, n).get("edge_weight")
    )
    length = lengths(arcs, WEIGHTS[weights], True)
    generators = [torch.Generator().manual_seed(1) for _ in "ab"]
    drawing, counting = (Sampler(graph, generator) for generator in generators)
    drawing._has_operators &= compiled
    counting._has_operators &= compiled
    vertex, size = drawing.paths(300, progress_bar(300, "", False, True))
    counts = counting.draw(300)
    lengths_of = torchcent.shortest_path_lengths(graph).double().tolist()
    seen, without, begin = torch.zeros(n, dtype=torch.int64), 0, 0
    for count in size.tolist():
        route = vertex[begin : begin + count].tolist()
        begin += count
        without += count == 0
        if count:
            seen[route[1:-1]] += 1
            long = sum(float(length[arc]) for arc in itertools.pairwise(route))
            assert long == pytest.approx(lengths_of[route[0]][route[-1]])
    assert begin == vertex.numel() and 0 < without < 300
    assert seen.equal(counts.cpu())


def test_bounds_of_coverage():
    """Clopper-Pearson ends against tails of the binomial distribution."""

    def tail(p, count, samples):
        return sum(
            math.comb(samples, i) * p**i * (1 - p) ** (samples - i)
            for i in range(count, samples + 1)
        )

    low, high = _cover.bounds(7, 12, 40, 0.03)
    assert tail(low, 7, 40) == pytest.approx(0.03)
    assert 1 - tail(high, 13, 40) == pytest.approx(0.03)
