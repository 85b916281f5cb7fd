"""Counts of substructures and colours: against enumerated subgraphs, NetworkX and formulas."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict

import networkx as nx
import pytest
import torch
from graphs import DEVICE
from networkx.algorithms.isomorphism import GraphMatcher

import torchcent
from torchcent import Run

KINDS = ("cycle", "clique", "path", "star")
MAKE = {
    "cycle": nx.cycle_graph, "clique": nx.complete_graph, "path": nx.path_graph,
    "star": nx.star_graph,
}  # fmt: skip
ALL = [f"{kind}{size}" for kind in KINDS for size in range(3, 9)]


@pytest.fixture(params=["kernel", "tables", "small tables"])
def way(request, tuning):
    """Both ways of counting, the second one also with tables of few rows."""
    if request.param != "kernel":
        tuning(patterns_in_kernel=lambda graph: False)
    if request.param == "small tables":
        tuning(patterns_rows=100)
    return request.param


def orbits(kind: str, size: int) -> tuple[dict[int, int], dict[frozenset[int], int]]:
    """The column of each vertex and of each edge of a pattern, from its definition."""
    graph = MAKE[kind](size)
    if kind == "path":
        vertex = {v: min(v, size - 1 - v) for v in graph}
        edge = {frozenset(e): min(min(e), size - 1 - max(e)) for e in graph.edges}
    elif kind == "star":
        vertex, edge = {v: int(v > 0) for v in graph}, {frozenset(e): 0 for e in graph.edges}
    else:
        vertex, edge = dict.fromkeys(graph, 0), {frozenset(e): 0 for e in graph.edges}
    return vertex, edge


def enumerated(graph: nx.Graph, name: str, induced: bool) -> tuple[torch.Tensor, dict]:
    """The counts of vertices and of edges, by all subgraphs that NetworkX's matcher reports."""
    kind, size = name[:-1], int(name[-1])
    pattern = MAKE[kind](size)
    of_vertex, of_edge = orbits(kind, size)
    matcher = GraphMatcher(graph, pattern)
    matches = (
        matcher.subgraph_isomorphisms_iter() if induced else matcher.subgraph_monomorphisms_iter()
    )
    vertices = torch.zeros(len(graph), 1 + max(of_vertex.values()), dtype=torch.int64)
    edges = defaultdict(lambda: torch.zeros(1 + max(of_edge.values()), dtype=torch.int64))
    whole = set()
    for match in matches:
        place = {own: theirs for theirs, own in match.items()}
        ends = frozenset(frozenset((place[u], place[v])) for u, v in pattern.edges)
        if ends in whole:
            continue  # another automorphism
        whole.add(ends)
        for own, theirs in place.items():
            vertices[theirs, of_vertex[own]] += 1
        for u, v in pattern.edges:
            edges[frozenset((place[u], place[v]))][of_edge[frozenset((u, v))]] += 1
    return vertices, edges


def arcs_of(graph: nx.Graph, chance: random.Random | None = None) -> torch.Tensor:
    """Each edge once, with loops and repeated ones among them if there is chance."""
    pairs = [list(e) for e in graph.edges]
    if chance is not None and len(graph):
        pairs += [[v, v] for v in chance.sample(sorted(graph), min(2, len(graph)))]
        pairs += [pair[::-1] for pair in pairs[:3]]
        chance.shuffle(pairs)
    return torch.tensor(pairs, dtype=torch.int64, device=DEVICE).reshape(-1, 2).T.contiguous()


def both(graph: nx.Graph, **options):
    arcs = arcs_of(graph)
    options = {"num_nodes": len(graph), "directed": False} | options
    return (
        torchcent.substructure_counts(arcs, **options),
        torchcent.edge_substructure_counts(arcs, **options),
    )


def test_orbits_are_those_of_the_automorphisms() -> None:
    """That the columns are orbits."""
    for kind, size in itertools.product(KINDS, (3, 4, 5, 6)):
        graph = MAKE[kind](size)
        of_vertex, of_edge = orbits(kind, size)
        automorphisms = list(GraphMatcher(graph, graph).isomorphisms_iter())
        for v, column in of_vertex.items():
            assert {u for u in graph if of_vertex[u] == column} == {f[v] for f in automorphisms}
        for e, column in of_edge.items():
            images = {frozenset(f[v] for v in e) for f in automorphisms}
            assert {x for x, other in of_edge.items() if other == column} == images


@pytest.mark.parametrize("induced", [False, True])
def test_counts_are_those_of_enumerated_subgraphs(way: str, induced: bool) -> None:
    chance = random.Random(3 + induced)
    for _ in range(14 if way == "kernel" else 5):
        n = chance.randint(1, 8)
        graph = nx.gnp_random_graph(n, chance.choice([0.3, 0.5, 0.6]), seed=chance.randint(0, 999))
        names = chance.sample(ALL, 7)
        arcs = arcs_of(graph, chance)
        options = {
            "patterns": names, "induced": induced, "num_nodes": n, "directed": False,
        }  # fmt: skip
        vertices = torchcent.substructure_counts(arcs, **options)
        edges = torchcent.edge_substructure_counts(arcs, **options)
        expected = [enumerated(graph, name, induced) for name in names]
        assert vertices.dtype == edges.dtype == torch.int64
        assert torch.equal(vertices.cpu(), torch.cat([x for x, _ in expected], 1))
        for (u, v), row in zip(arcs.T.tolist(), edges.cpu(), strict=True):
            ends = frozenset((u, v))
            of_edge = [
                of[ends] if u != v else torch.zeros(1 + max(orbits(x[:-1], int(x[-1]))[1].values()))
                for x, (_, of) in zip(names, expected, strict=True)
            ]
            assert row.tolist() == torch.cat(of_edge).tolist()


@pytest.mark.slow
def test_cycles_and_cliques_are_those_of_networkx(way: str) -> None:
    chance = random.Random(8)
    for _ in range(6):
        n = chance.randint(8, 16)
        graph = nx.gnm_random_graph(n, 2 * n, seed=chance.randint(0, 999))
        names = [f"cycle{k}" for k in range(3, 9)] + [f"clique{k}" for k in range(3, 9)]
        vertices, edges = both(graph, patterns=names)
        expected = torch.zeros(n, 12, dtype=torch.int64)
        of_edges: Counter = Counter()
        for cycle in nx.simple_cycles(graph, length_bound=8):
            expected[cycle, len(cycle) - 3] += 1
            for u, v in itertools.pairwise([*cycle, cycle[0]]):
                of_edges[frozenset((u, v)), len(cycle) - 3] += 1
        for clique in nx.enumerate_all_cliques(graph):
            if 3 <= len(clique) <= 8:
                expected[clique, 6 + len(clique) - 3] += 1
                for ends in itertools.combinations(clique, 2):
                    of_edges[frozenset(ends), 6 + len(clique) - 3] += 1
        assert torch.equal(vertices.cpu(), expected)
        rows = [[of_edges[frozenset(e), k] for k in range(12)] for e in graph.edges]
        assert edges.tolist() == rows


@pytest.mark.sweep
@pytest.mark.parametrize("longest", [3, 4])
def test_short_cycles_alone(way: str, longest: int) -> None:
    """Of up to four vertices they are counted by paths of two edges, not enumerated."""
    chance = random.Random(longest)
    for _ in range(4):
        graph = nx.gnm_random_graph(20, 50, seed=chance.randint(0, 999))
        names = [f"cycle{k}" for k in range(3, longest + 1)]
        some = both(graph, patterns=names)
        more = both(graph, patterns=[f"cycle{k}" for k in range(3, 6)])
        for short, long in zip(some, more, strict=True):
            assert torch.equal(short, long[:, : len(names)]) and int(short.sum()) > 0


def test_complete_graphs_by_formulas(way: str) -> None:
    n = 7
    vertices, edges = both(nx.complete_graph(n), patterns=["cycle6", "clique5", "path4", "star4"])
    falling = math.perm
    cycles = falling(n, 6) // 12
    row = [
        cycles * 6 // n, math.comb(n - 1, 4), falling(n, 4) // n, falling(n, 4) // n,
        math.comb(n - 1, 4), (n - 1) * math.comb(n - 2, 3),
    ]  # fmt: skip
    assert vertices.tolist() == [row] * n
    pairs = n * (n - 1) // 2
    paths = falling(n, 4) // 2
    of_edge = [
        cycles * 6 // pairs, math.comb(n - 2, 3), 2 * paths // pairs, paths // pairs,
        n * math.comb(n - 1, 4) * 4 // pairs,
    ]  # fmt: skip
    assert edges.tolist() == [of_edge] * pairs


@pytest.mark.slow
def test_a_batch_equals_its_graphs(way: str) -> None:
    chance = random.Random(5)
    graphs = [nx.gnp_random_graph(chance.randint(1, 9), 0.45, seed=k) for k in range(25)]
    graphs.insert(7, nx.empty_graph(3))
    union = nx.disjoint_union_all(graphs)
    batch = torch.cat([torch.full((len(g),), k) for k, g in enumerate(graphs)]).to(DEVICE)
    names = ["cycle3", "cycle8", "clique4", "path5", "star3"]
    for induced in (False, True):
        together = both(union, patterns=names, induced=induced, batch=batch)
        alone = [both(g, patterns=names, induced=induced) for g in graphs]
        for found, parts in zip(together, zip(*alone, strict=True), strict=True):
            assert torch.equal(found, torch.cat(parts))


@pytest.mark.slow
def test_threads_share_a_large_graph() -> None:
    """Each count is the same with one thread, and by its slots, which both have different rows."""
    arcs = torchcent.generate.er(3000, m=12000, seed=1).to(DEVICE)
    names = ["cycle4", "cycle5", "clique4", "path5", "star3"]
    for function in (torchcent.substructure_counts, torchcent.edge_substructure_counts):
        for induced in (False, True):
            found = [
                function(arcs, patterns=names, induced=induced, run=Run(threads=threads))
                for threads in (1, 4)
            ]
            assert torch.equal(*found)
    vertices = torchcent.substructure_counts(arcs, patterns="cycle5")
    edges = torchcent.edge_substructure_counts(arcs, patterns="cycle5")
    # Each cycle has two edges at each of its vertices.
    assert torch.equal(2 * vertices, torch.zeros_like(vertices).index_add_(0, arcs[0], edges))


def test_the_order_of_vertices_does_not_matter(way: str) -> None:
    graph = nx.gnm_random_graph(14, 30, seed=4)
    names = ["cycle3", "cycle7", "clique3", "path4", "star3"]
    order = random.Random(1).sample(range(14), 14)
    other = nx.relabel_nodes(graph, dict(enumerate(order)))
    for induced in (False, True):
        first, _ = both(graph, patterns=names, induced=induced)
        second = torchcent.substructure_counts(
            arcs_of(other), patterns=names, induced=induced, num_nodes=14, directed=False
        )
        assert torch.equal(first, second[order])


def test_graphs_without_edges(way: str) -> None:
    none = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    for n in (0, 1, 4):
        vertices = torchcent.substructure_counts(none, num_nodes=n, patterns=ALL)
        width = 6 + 6 + (2 + 2 + 3 + 3 + 4 + 4) + 12
        assert vertices.shape == (n, width) and not vertices.any()
        edges = torchcent.edge_substructure_counts(none, num_nodes=n, patterns=ALL)
        assert edges.shape == (0, 6 + 6 + (1 + 2 + 2 + 3 + 3 + 4) + 6)
    loop = torch.zeros(2, 2, dtype=torch.int64, device=DEVICE)
    assert torchcent.edge_substructure_counts(loop).tolist() == [[0] * 6] * 2


def test_counts_beyond_int64_are_refused() -> None:
    star = torch.stack([torch.zeros(5000, dtype=torch.int64), torch.arange(1, 5001)]).to(DEVICE)
    count = torchcent.substructure_counts(star, patterns=["star3", "star5"], directed=False)
    assert count[0].tolist() == [math.comb(5000, 3), 0, math.comb(5000, 5), 0]
    assert count[1].tolist() == [0, math.comb(4999, 2), 0, math.comb(4999, 4)]
    for function in (torchcent.substructure_counts, torchcent.edge_substructure_counts):
        with pytest.raises(OverflowError, match="stars does not fit int64"):
            function(star, patterns="star8", directed=False)
    # The stars of each hub fit, the sum at their common leaves does not.
    hubs, leaves = 130, 880
    assert math.comb(leaves, 8) < 2**63 < hubs * math.comb(leaves - 1, 7)
    ends = torch.cartesian_prod(torch.arange(hubs), hubs + torch.arange(leaves)).T.to(DEVICE)
    with pytest.raises(OverflowError, match="stars does not fit int64"):
        torchcent.substructure_counts(ends, patterns="star8", directed=False)
    few = torchcent.substructure_counts(ends[:, : 100 * leaves], patterns="star8", directed=False)
    assert few[0].tolist() == [math.comb(leaves, 8), leaves * math.comb(99, 7)]
    assert few[-1].tolist() == [math.comb(100, 8), 100 * math.comb(leaves - 1, 7)]


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({"patterns": "cycle9"}, ValueError, "patterns must be one of cycle3"),
        ({"patterns": []}, TypeError, "patterns must be a name or a list of names"),
        ({"patterns": 3}, TypeError, "patterns must be a name or a list of names"),
        ({"patterns": ["cycle3", 4]}, ValueError, "got 4"),
        ({"patterns": ["cycle3", "cycle3"]}, ValueError, "patterns has 'cycle3' twice"),
        ({"induced": 1}, TypeError, "induced must be True or False"),
        ({"directed": None}, ValueError, "is for undirected graphs"),
        ({"run": Run(memory=1000), "num_nodes": 10**6}, MemoryError, "memory=1000"),
        ({"num_nodes": 10**6, "run": Run(memory=3 * 10**7)}, MemoryError, "kinds of substructures"),
    ],
)
def test_bad_arguments(options, kind, message) -> None:
    path = torch.tensor([[0, 1], [1, 2]], device=DEVICE)
    for function in (torchcent.substructure_counts, torchcent.edge_substructure_counts):
        with pytest.raises(kind, match=message):
            function(path, **{"directed": False} | options)


def refined(graph: nx.Graph, labels: list[int], rounds: int, of_edge: str = "") -> list:
    """Colours as nested tuples, which say all that they stand for."""
    color: list = list(labels)

    def around(v, neighbours, ends):
        return tuple(
            sorted(((color[u], graph.edges[ends(u, v)].get(of_edge)) for u in neighbours), key=repr)
        )

    for _ in range(rounds):
        if graph.is_directed():
            color = [
                (
                    color[v],
                    around(v, graph.successors(v), lambda u, v: (v, u)),
                    around(v, graph.predecessors(v), lambda u, v: (u, v)),
                )
                for v in graph
            ]
        else:
            color = [(color[v], around(v, graph.neighbors(v), lambda u, v: (u, v))) for v in graph]
    return color


def same_classes(found: list, expected: list) -> bool:
    return len(set(found)) == len(set(expected)) == len(set(zip(found, expected, strict=True)))


@pytest.mark.parametrize("directed", [False, True])
def test_colors_are_those_of_nested_lists(directed: bool, tuning) -> None:
    chance = random.Random(directed)
    for turn in range(40):
        if turn == 30:
            tuning(colors_largest=3)  # pairs are then sorted as such
        n = chance.randint(1, 9)
        graph = nx.gnp_random_graph(n, 0.35, seed=turn, directed=directed)
        for ends in graph.edges:
            graph.edges[ends]["kind"] = chance.choice([7, -1])
        of_edge = "kind" if turn % 3 == 0 else ""
        labels = [chance.randint(-2, 0) for _ in range(n)] if turn % 2 else [0] * n
        rounds = chance.randint(0, 3)
        options = {"num_nodes": n, "directed": None if directed else False}
        if turn % 2:
            options["node_labels"] = torch.tensor(labels, device=DEVICE)
        if of_edge:
            kinds = [kind for *_, kind in graph.edges(data="kind")]
            options["edge_labels"] = torch.tensor(kinds, dtype=torch.int64, device=DEVICE)
        found = torchcent.wl_colors(arcs_of(graph), iterations=rounds, **options)
        assert found.dtype == torch.int64
        assert same_classes(found.tolist(), refined(graph, labels, rounds, of_edge))
        assert sorted(set(found.tolist())) == list(range(int(found.max()) + 1))
        stable = torchcent.wl_colors(arcs_of(graph), **options)
        more = torchcent.wl_colors(arcs_of(graph), iterations=n + 3, **options)
        assert torch.equal(stable, more)
        if n < 7:  # nested lists grow fast
            assert same_classes(stable.tolist(), refined(graph, labels, n, of_edge))


def test_labels_of_one_edge_must_agree() -> None:
    arcs = torch.tensor([[0, 1, 1, 2, 0, 2], [1, 0, 2, 2, 1, 1]], device=DEVICE)
    labels = torch.tensor([4, 4, 5, 0, 4, 5], device=DEVICE)
    for directed in (None, False):
        found = torchcent.wl_colors(arcs, edge_labels=labels, directed=directed)
        assert found.tolist() == [0, 1, 2]
    for place in (4, 1):
        wrong = labels.clone()
        wrong[place] = 9
        with pytest.raises(ValueError, match=r"edge_labels\[[0134]\] differs"):
            torchcent.wl_colors(arcs, edge_labels=wrong, directed=False)
    with pytest.raises(ValueError, match=r"edge_labels must have shape \[6\]"):
        torchcent.wl_colors(arcs, edge_labels=labels[:5])
    wrong = labels.clone()
    wrong[1] = 9  # the other direction is another arc
    assert torchcent.wl_colors(arcs, edge_labels=wrong).tolist() == [0, 2, 1]


@pytest.mark.filterwarnings("ignore:The hashes produced")
def test_colors_are_those_of_networkx() -> None:
    """Of several graphs in one batch, whose hashes NetworkX compares."""
    graphs = [nx.gnp_random_graph(10, 0.3, seed=k) for k in range(12)]
    union = nx.disjoint_union_all(graphs)
    batch = torch.arange(12, device=DEVICE).repeat_interleave(10)
    for rounds in (1, 2, 4):
        found = torchcent.wl_colors(
            arcs_of(union), num_nodes=120, batch=batch, iterations=rounds, directed=False
        ).tolist()
        hashes = nx.weisfeiler_lehman_subgraph_hashes(union, iterations=rounds)
        assert same_classes(found, [hashes[v][-1] for v in range(120)])


def test_colors_do_not_depend_on_the_numbers_of_vertices() -> None:
    chance = random.Random(2)
    for turn in range(30):
        n = chance.randint(2, 12)
        graph = nx.gnp_random_graph(n, 0.3, seed=turn)
        order = chance.sample(range(n), n)
        other = nx.relabel_nodes(graph, dict(enumerate(order)))
        options = {"num_nodes": n, "directed": False, "iterations": chance.choice([-1, 1, 2])}
        first = torchcent.wl_colors(arcs_of(graph), **options)
        assert torch.equal(first, torchcent.wl_colors(arcs_of(other), **options)[order])
        # In a batch isomorphic graphs have the same counts of colours.
        ordered = nx.convert_node_labels_to_integers(other, ordering="sorted")
        pair = nx.disjoint_union(graph, ordered)
        batch = torch.arange(2, device=DEVICE).repeat_interleave(n)
        color = torchcent.wl_colors(arcs_of(pair), **options | {"num_nodes": 2 * n}, batch=batch)
        assert sorted(color[:n].tolist()) == sorted(color[n:].tolist())
        assert same_classes(first.tolist(), color[:n].tolist())


def test_colors_do_not_tell_regular_graphs_apart() -> None:
    """Two triangles and a hexagon, which the counts of cycles do."""
    triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    union = nx.disjoint_union(triangles, nx.cycle_graph(6))
    assert torchcent.wl_colors(arcs_of(union), directed=False).tolist() == [0] * 12
    cycles = torchcent.substructure_counts(arcs_of(union), patterns="cycle3", directed=False)
    assert cycles.flatten().tolist() == [1] * 6 + [0] * 6


def test_colors_of_hubs_and_of_paths() -> None:
    star = torch.stack([torch.zeros(999, dtype=torch.int64), torch.arange(1, 1000)]).to(DEVICE)
    assert torchcent.wl_colors(star, directed=False).tolist() == [1] + [0] * 999
    path = torch.stack([torch.arange(99), torch.arange(1, 100)]).to(DEVICE)
    color = torchcent.wl_colors(path, directed=False)
    assert torch.equal(color, color.flip(0)) and int(color.max()) == 49
    assert torchcent.wl_colors(path[:, :0], num_nodes=0).tolist() == []
    loops = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 0]], device=DEVICE)
    assert torchcent.wl_colors(loops).tolist() == [0, 0]


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({"iterations": -2}, ValueError, "iterations must be >= 0, or -1"),
        ({"iterations": 1.5}, TypeError, "iterations must be an int"),
        ({"node_labels": [1, 2, 3]}, TypeError, "node_labels must be a torch.Tensor"),
        ({"node_labels": torch.ones(3)}, TypeError, "node_labels must hold integers"),
        ({"node_labels": torch.ones(2).long()}, ValueError, r"node_labels must have shape \[3\]"),
        ({"run": Run(memory=1000), "num_nodes": 3000}, MemoryError, "memory=1000"),
    ],
)
def test_bad_arguments_of_colors(options, kind, message) -> None:
    with pytest.raises(kind, match=message):
        torchcent.wl_colors(torch.tensor([[0, 1], [1, 2]], device=DEVICE), **options)
