"""betweenness_variant against the enumeration of all shortest paths."""

import itertools
from fractions import Fraction

import networkx as nx
import pytest
import torch
from graphs import DEVICE, arc_lists, cycle, diamonds, edge_index, grid, path, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from oracles import Arcs
from surface import call
from test_batch import together

import torchcent

F64 = torch.float64
VARIANTS = ("distance", "linear", "proximal_source", "proximal_target")
SHAPES = {
    "path": (6, path(6)), "star": (5, star(4)), "grid": (12, grid(3, 4)), "cycle": (7, cycle(7)),
    "random": (25, random_graph(25, 45, seed=4)), "nothing": (2, []),
}  # fmt: skip


def truth(
    n: int, arcs: Arcs, halves: list[int] | None, directed: bool, variant: str
) -> list[Fraction]:
    """Raw scores, by walking along every shortest path."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for (u, v), weight in zip(arcs, halves or [2] * len(arcs), strict=True):
        for a, b in [(u, v)] if directed else [(u, v), (v, u)]:
            if a != b and weight < graph.get_edge_data(a, b, {"weight": 10**9})["weight"]:
                graph.add_edge(a, b, weight=weight)
    scores = [Fraction(0)] * n
    for s, t in itertools.permutations(range(n), 2):
        if not nx.has_path(graph, s, t):
            continue
        paths = list(nx.all_shortest_paths(graph, s, t, weight="weight"))
        for way in paths:
            far = [
                0,
                *itertools.accumulate(graph[a][b]["weight"] for a, b in itertools.pairwise(way)),
            ]
            for place in range(1, len(way) - 1):
                counts = {
                    "distance": Fraction(2, far[-1]),
                    "linear": Fraction(far[place], far[-1]),
                    "proximal_source": Fraction(place == 1),
                    "proximal_target": Fraction(place == len(way) - 2),
                }[variant]
                scores[way[place]] += counts / len(paths)
    return [x / (1 if directed else 2) for x in scores]


def engines(weighted: bool) -> list[str]:
    compiled = ["dijkstra"] if weighted else ["lanes", "queue"]
    operator = "weighted_dependency" if weighted else "path_dependency"
    return ["auto", "tensor", *(compiled if has_kernel(operator, DEVICE) else [])]


@pytest.mark.sweep(by="shape variant weighted directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_every_path(shape, variant, weighted, directed):
    n, arcs = SHAPES[shape]
    halves = [1 + 5 * i % 3 for i in range(len(arcs))] if weighted else None
    weight = None if halves is None else torch.tensor(halves, dtype=F64, device=DEVICE) / 2
    wanted = torch.tensor([float(x) for x in truth(n, arcs, halves, directed, variant)]).double()
    for engine in engines(weighted):
        found = torchcent.betweenness_variant(
            edge_index(arcs), weight, variant=variant, num_nodes=n, directed=directed,
            normalized=False, run=torchcent.Run(engine=engine, dtype=F64), ).cpu()  # fmt: skip
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    arc_lists(), st.sampled_from(VARIANTS), st.booleans(), st.booleans(),
    st.sampled_from([2, 10, 3]),
)  # fmt: skip
def test_any_graph(graph, variant, weighted, directed, unit):
    """Lengths in units of a power of two, of decimals, and of none."""
    n, arcs = graph
    halves = [1 + 3 * i % 4 for i in range(len(arcs))] if weighted else None
    weight = None if halves is None else (torch.tensor(halves, dtype=F64) / unit).to(DEVICE)
    if weighted and unit == 3:
        weight *= 3  # whole numbers
    found = torchcent.betweenness_variant(
        edge_index(arcs),
        weight,
        variant=variant,
        num_nodes=n,
        directed=directed,
        run=torchcent.Run(dtype=F64),
    ).cpu()
    raw = [float(x) for x in truth(n, arcs, halves, directed, variant)]
    factor = max((n - 1) * (n - 2), 1) / (1 if directed or n < 3 else 2)
    if weighted and variant == "distance":  # the truth is in halves
        factor /= {2: 1, 10: 5, 3: 0.5}[unit]
    torch.testing.assert_close(found, torch.tensor(raw, dtype=F64) / factor, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_and_parts_of_the_pairs(variant):
    parts = [SHAPES[name] for name in ("path", "nothing", "random")]
    index, ptr = together(parts)
    given = {"variant": variant, "directed": True}
    for engine, exact in (("queue", True), ("auto", False)):  # which puts small graphs together
        run = torchcent.Run(engine=engine, dtype=F64)
        found = call(torchcent.betweenness_variant, index, ptr=ptr, run=run, **given)
        alone = [
            torchcent.betweenness_variant(edge_index(a), num_nodes=n, run=run, **given)
            for n, a in parts
        ]
        close = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-6, "atol": 0}
        torch.testing.assert_close(found, torch.cat(alone), **close)
    n, arcs = SHAPES["random"]
    options = {"variant": variant, "num_nodes": n, "directed": False, "dtype": F64}
    every = torch.arange(n)
    sums = sum(
        call(
            torchcent.betweenness_variant,
            edge_index(arcs),
            sources=every,
            targets=every[part::3],
            normalized=False,
            **options,
        )
        for part in range(3)
    )
    whole = call(torchcent.betweenness_variant, edge_index(arcs), normalized=False, **options)
    torch.testing.assert_close(sums, whole, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_more_paths_than_float64_holds(variant):
    """Of a chain of diamonds, half of the paths pass through either way of each."""
    arcs, count = diamonds(1100), 1100
    n = 3 * count + 1
    found = torchcent.betweenness_variant(
        edge_index(arcs),
        variant=variant,
        directed=True,
        normalized=False,
        num_nodes=n,
        run=torchcent.Run(dtype=F64),
        sources=torch.tensor([0]),
        targets=torch.tensor([n - 1]),
    ).cpu()
    depth = torch.tensor([2 * (v // 3) + (v % 3 > 0) for v in range(n)]).double()
    share = torch.where(torch.arange(n) % 3 == 0, 1.0, 0.5).double()
    share[[0, -1]] = 0
    wanted = {
        "distance": share / depth[-1],
        "linear": share * depth / depth[-1],
        "proximal_source": share * (depth == 1),
        "proximal_target": share * (depth == depth[-1] - 1),
    }[variant]
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"variant": "speed"}, ValueError, "variant must be one of distance, linear, proximal"),
        ({"variant": None}, ValueError, "variant must be"),
        ({"variant": "distance", "engine": "tiny"}, ValueError, "does not compute variant='dist"),
        ({"variant": "linear", "engine": "tiny"}, ValueError, "does not compute variant='linear'"),
        ({"variant": "linear", "normalized": 1}, TypeError, "normalized must be True or False"),
        ({"variant": "distance", "sources": 9}, ValueError, "sources=9"),
    ],
)
def test_malformed(options, kind, said):
    with pytest.raises(kind, match=said):
        call(torchcent.betweenness_variant, edge_index(path(4)), **options)
