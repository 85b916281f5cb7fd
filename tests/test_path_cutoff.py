"""cutoff of betweenness, edge betweenness and stress: only pairs at most so far apart count."""

import math
from fractions import Fraction
from itertools import product

import pytest
import torch
from graphs import (
    DEVICE,
    arc_lists,
    cycle,
    diamonds,
    edge_index,
    grid,
    path,
    random_graph,
    star,
    subsets,
    tower,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import counts_in_float64, has_kernel
from oracles import Arcs
from runs import SMALL
from surface import call
from test_batch import together

import torchcent
from torchcent import Graph, cli

F64 = torch.float64
SHAPES: dict[str, tuple[int, Arcs]] = {
    "path": (12, path(12)),
    "leaves": (9, [*path(6), (2, 6), (2, 7), (6, 8)]),
    "grid": (30, grid(5, 6)),
    "star": (7, star(6)),
    "cycle": (14, cycle(14)),
    "twins": (8, [(u, v) for u in (0, 1, 2) for v in (3, 4, 5)] + [(3, 6), (6, 7)]),
    "parts": (40, random_graph(40, 44, seed=2)),
    "dense": (70, random_graph(70, 180, seed=3)),
    "nothing": (3, []),
}
MEASURES = ("betweenness", "edge_betweenness", "stress")
HOPS, LENGTHS = ("auto", "lanes", "queue", "tensor"), ("auto", "relax", "dijkstra", "tensor")


def truth(
    n: int, arcs: Arcs, lengths: list[int], directed: bool, cutoffs: list[float],
    starts: list[int] | None = None, ends: list[int] | None = None, endpoints: bool = False,
) -> list[dict[str, list[Fraction]]]:  # fmt: skip
    """Sums over ordered pairs within each cutoff, from all distances and path counts."""
    weight: dict[tuple[int, int], int] = {}
    for (u, v), length in zip(arcs, lengths, strict=True):
        for arc in [(u, v)] if directed else [(u, v), (v, u)]:
            if u != v:
                weight[arc] = min(length, weight.get(arc, length))
    far = [{v: 0 if u == v else weight.get((u, v)) for v in range(n)} for u in range(n)]
    for k, u in product(range(n), range(n)):  # Floyd and Warshall
        if far[u][k] is not None:
            for v, more in far[k].items():
                if more is not None and (far[u][v] is None or far[u][k] + more < far[u][v]):
                    far[u][v] = far[u][k] + more
    far = [{v: d for v, d in row.items() if d is not None} for row in far]
    count = []
    for s, row in enumerate(far):
        paths = {s: 1}
        for v in sorted(row, key=row.get)[1:]:
            tails = [u for u in paths if (u, v) in weight and row[u] + weight[u, v] == row[v]]
            paths[v] = sum(paths[u] for u in tails)
        count.append(paths)
    found = []
    for _ in cutoffs:
        zeros = [[Fraction(0)] * n for _ in range(2)]
        found.append((*zeros, dict.fromkeys(weight, Fraction(0))))
    for s, t in product(range(n) if starts is None else starts, range(n) if ends is None else ends):
        if s == t or t not in far[s]:
            continue
        within = [sums for sums, cutoff in zip(found, cutoffs, strict=True) if far[s][t] <= cutoff]
        if not within:
            continue
        on_path = [v for v in far[s] if far[s][v] + far[v].get(t, math.inf) == far[s][t]]
        for v in on_path:
            through = count[s][v] * count[v][t]
            for scores, stress, _ in within:
                stress[v] += through * (v not in (s, t))
                scores[v] += Fraction(through, count[s][t]) * (endpoints or v not in (s, t))
        for u, v in product(on_path, on_path):
            if (u, v) in weight and far[s][u] + weight[u, v] == far[s][v]:
                for _, _, edges in within:
                    edges[u, v] += Fraction(count[s][u] * count[v][t], count[s][t])
    return [
        {
            "betweenness": scores,
            "stress": stress,
            "edge_betweenness": [
                edges.get((u, v), 0) + (0 if directed else edges.get((v, u), 0)) for u, v in arcs
            ],
        }
        for scores, stress, edges in found
    ]


def expected(sums: list[Fraction], directed: bool) -> torch.Tensor:
    return torch.tensor([float(x) for x in sums], dtype=F64) / (1 if directed else 2)


def skip_without(engine: str, weighted: bool) -> None:
    operator = "weighted_dependency" if weighted else "path_dependency"
    if engine not in ("auto", "tensor") and not has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")


def check(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found.cpu(), wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.sweep(by="shape weighted directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_all_pairs(shape, weighted, directed):
    n, arcs = SHAPES[shape]
    halves = [1 + 7 * i % 4 if weighted else 2 for i in range(len(arcs))]
    weight = torch.tensor(halves, dtype=F64, device=DEVICE) / 2 if weighted else None
    cutoffs = [3, 1, 2.5, 0, 3, 1000, math.inf]
    wanted = truth(n, arcs, halves, directed, [2 * c for c in cutoffs])
    for engine, name in product(LENGTHS if weighted else HOPS, MEASURES):
        skip_without(engine, weighted)
        measure = getattr(torchcent, name)
        options = {"num_nodes": n, "directed": directed, "dtype": F64, "engine": engine}
        options["normalized"] = False
        found = call(measure, edge_index(arcs), weight, cutoff=cutoffs, **options)
        assert found.shape[1] == len(cutoffs)
        for column, sums in zip(found.unbind(1), wanted, strict=True):
            check(column, expected(sums[name], directed))
        check(call(measure, edge_index(arcs), weight, cutoff=2.5, **options), found[:, 2].cpu())


def hub_and_rim(spokes: int) -> Arcs:
    """A hub of many neighbours, which are a ring, with a tail of three."""
    rim = range(1, spokes + 1)
    ring = [(v, v % spokes + 1) for v in rim]
    tail = [(spokes + v, spokes + v + 1) for v in range(3)]
    return [*((0, v) for v in rim), *ring, *tail]


SIDES = SHAPES | {
    "hub": (74, hub_and_rim(70)),
    "tower": (24, tower(6, 4)),
    "long": (56, [*path(50), (3, 50), (50, 51), (9, 52), (52, 53), (53, 54), (54, 20), (20, 55)]),
}
UP_TO_SEVEN = ([1, 2], [2, 3], [3, 3, 4], [1, 2, 3, 4, 5], [0, 6], [7, 1, 4], [5, 8])


@pytest.mark.slow
@pytest.mark.parametrize("shape", SIDES)
def test_both_directions_of_a_pair(shape, tuning):
    """Up to 7 levels, all pairs of an undirected graph are searched from the nearer end."""
    n, arcs = SIDES[shape]
    skip_without("lanes", False)
    within = truth(n, arcs, [1] * len(arcs), False, list(range(9)))
    for cutoffs, name in product(UP_TO_SEVEN, ("betweenness", "stress")):
        wanted = [within[cutoff] for cutoff in cutoffs]
        options = {"cutoff": cutoffs, "normalized": False, "dtype": F64, "engine": "lanes"}
        graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
        found = call(getattr(torchcent, name), graph, **options)
        for column, sums in zip(found.unbind(1), wanted, strict=True):
            check(column, expected(sums[name], False))
        with counts_in_float64():
            exact = call(getattr(torchcent, name), graph, **options)
        for column, sums in zip(exact.unbind(1), wanted, strict=True):
            torch.testing.assert_close(
                column.cpu(), expected(sums[name], False), rtol=1e-12, atol=1e-9
            )
        tuning(**SMALL)
        check(call(getattr(torchcent, name), graph, **options), found.cpu())
        every = torch.arange(n, device=DEVICE)  # is searched from both ends
        check(call(getattr(torchcent, name), graph, sources=every, **options), found.cpu())


@st.composite
def cases(draw):
    n, arcs = draw(arc_lists().filter(lambda graph: graph[0] > 0))
    return {
        "n": n, "arcs": arcs,
        "lengths": draw(st.lists(st.integers(1, 5), min_size=len(arcs), max_size=len(arcs))),
        "weighted": draw(st.booleans()), "directed": draw(st.booleans()),
        "endpoints": draw(st.booleans()),
        "starts": draw(st.none() | subsets(n)), "ends": draw(st.none() | subsets(n)),
        "cutoffs": draw(st.lists(st.integers(0, 12), min_size=1, max_size=4)),
    }  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(cases())
def test_any_graph(case):
    """Lengths are decimals, so that a cutoff of 0.3 includes 0.1 + 0.2."""
    weighted, directed, arcs = case["weighted"], case["directed"], case["arcs"]
    tenths = case["lengths"] if weighted else [1] * len(arcs)
    weight = (torch.tensor(tenths, dtype=F64) / 10).to(DEVICE) if weighted else None
    cutoffs = [c / 10 if weighted else c for c in case["cutoffs"]]
    ends = case["ends"] or list(range(case["n"]))
    starts = case["starts"] or list(range(case["n"]))
    wanted = truth(
        case["n"], arcs, tenths, directed, case["cutoffs"], starts, ends, case["endpoints"]
    )
    for engine in LENGTHS if weighted else HOPS:
        skip_without(engine, weighted)
        found = torchcent.betweenness(
            edge_index(arcs), weight, num_nodes=case["n"], directed=directed, normalized=False,
            endpoints=case["endpoints"], sources=torch.tensor(starts), targets=torch.tensor(ends),
            cutoff=cutoffs, run=torchcent.Run(engine=engine, dtype=F64), )  # fmt: skip
        for column, sums in zip(found.unbind(1), wanted, strict=True):
            check(column, expected(sums["betweenness"], directed))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_igraph(weighted, directed):
    igraph = pytest.importorskip("igraph")
    n, arcs = 120, random_graph(120, 300, seed=5)
    arcs = sorted({arc for arc in arcs if arc[0] != arc[1] and (arc[::-1] not in arcs)})
    theirs = igraph.Graph(n, arcs, directed=directed)
    lengths = [1 + i % 5 for i in range(len(arcs))] if weighted else None
    weight = torch.tensor(lengths, device=DEVICE) if weighted else None
    options = {"num_nodes": n, "directed": directed, "normalized": False, "dtype": F64}
    cutoffs = [1, 2, 3, 4, 6, 8]
    found = call(torchcent.betweenness, edge_index(arcs), weight, cutoff=cutoffs, **options)
    edges = call(torchcent.edge_betweenness, edge_index(arcs), weight, cutoff=cutoffs, **options)
    for place, cutoff in enumerate(cutoffs):
        of_vertices = theirs.betweenness(directed=directed, cutoff=cutoff, weights=lengths)
        check(found[:, place], torch.tensor(of_vertices, dtype=F64))
        of_edges = theirs.edge_betweenness(directed=directed, cutoff=cutoff, weights=lengths)
        check(edges[:, place], torch.tensor(of_edges, dtype=F64))


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_far_cutoffs_change_nothing(name, weighted):
    arcs = torchcent.generate.ba(400, 2).to(DEVICE)
    weight = torch.arange(arcs.shape[1], device=DEVICE) % 7 + 1.0 if weighted else None
    graph = Graph.from_edge_index(arcs, directed=True, edge_weight=weight)
    measure = getattr(torchcent, name)
    plain = measure(graph, run=torchcent.Run(dtype=F64))
    check(measure(graph, run=torchcent.Run(dtype=F64), cutoff=10**6), plain.cpu())
    assert torch.equal(measure(graph, run=torchcent.Run(dtype=F64), cutoff=math.inf), plain)
    pivots = torch.tensor([1, 7, 200])
    wanted = measure(graph, run=torchcent.Run(dtype=F64), sources=pivots)
    check(
        measure(graph, run=torchcent.Run(dtype=F64), sources=pivots, cutoff=[500.0])[:, 0],
        wanted.cpu(),
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
@pytest.mark.parametrize("name", MEASURES)
def test_batch(name, weighted):
    parts = [SHAPES[part] for part in ("path", "nothing", "grid", "star", "parts")]
    index, ptr = together(parts)
    measure = getattr(torchcent, name)
    options = {"directed": False, "cutoff": [1, 3], "dtype": F64}
    weights = [
        torch.arange(len(arcs), device=DEVICE) % 3 + 1.0 if weighted else None for _, arcs in parts
    ]
    joined = torch.cat(weights) if weighted else None
    for engine in ("auto", "dijkstra" if weighted else "queue"):
        skip_without(engine, weighted)
        scores = call(measure, index, joined, ptr=ptr, engine=engine, **options)
        alone = torch.cat(
            [
                call(measure, edge_index(arcs), weight, num_nodes=n, engine=engine, **options)
                for (n, arcs), weight in zip(parts, weights, strict=True)
            ]
        )
        if engine == "auto":  # takes small graphs together; path counts are float32 at first
            torch.testing.assert_close(scores, alone, rtol=1e-6, atol=1e-12)
        else:
            assert torch.equal(scores, alone)


@pytest.mark.parametrize("count", [200, 1100])
@pytest.mark.parametrize("engine", ["lanes", "queue", "relax", "dijkstra"])
def test_many_paths(engine, count):
    """More than float32 and float64 hold: cutoffs count as on the first rung of the ladder."""
    weighted = engine in ("relax", "dijkstra")
    skip_without(engine, weighted)
    arcs = diamonds(count)
    n = max(map(max, arcs)) + 1
    some = torch.tensor([0])
    lengths = torch.ones(len(arcs), device=DEVICE) if weighted else None
    found = torchcent.betweenness(
        edge_index(arcs),
        lengths,
        num_nodes=n,
        directed=True,
        normalized=False,
        sources=some,
        targets=torch.arange(n),
        cutoff=[2, 4, 2 * count],
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    whole = torchcent.betweenness(
        edge_index(arcs), num_nodes=n, directed=True, normalized=False, sources=some,
        targets=torch.arange(n), run=torchcent.Run(dtype=F64),
    )  # fmt: skip
    check(found[:, 2], whole.cpu())
    first = [arc for arc in arcs if max(arc) < 10]
    near = truth(10, first, [1] * len(first), True, [2, 4], [0])
    for column, sums in zip(found.unbind(1), near, strict=False):
        check(column[:10], expected(sums["betweenness"], True))
        assert not column[10:].any()


def test_ledger(tmp_path):
    graph = torchcent.generate.ba(300, 3)
    options = {"cutoff": [2, 3], "dtype": F64, "checkpoint": tmp_path}
    first = call(torchcent.betweenness, graph, **options)
    assert torch.equal(call(torchcent.betweenness, graph, **options), first)
    with pytest.raises(ValueError, match="cutoff"):
        call(torchcent.betweenness, graph, **options | {"cutoff": [2, 4]})


def test_float32_cutoffs_are_decimals():
    arcs, tenths = edge_index(path(3)), torch.tensor([0.4, 0.3], device=DEVICE)
    for cutoff in (0.7, torch.tensor(0.7), torch.tensor([0.7])):
        found = torchcent.betweenness(
            arcs, tenths, directed=False, normalized=False, cutoff=cutoff
        ).flatten()
        assert found.tolist() == [0, 1, 0]


def test_plan():
    graph = torchcent.generate.ba(3000, 3)
    plan = torchcent.explain(graph, cutoff=[1, 2], run=torchcent.Run(reduce="fold"))
    assert plan.cutoffs == (1, 2) and "1, 2 from one search per source" in str(plan)
    assert plan.core_nodes == 3000 and plan.engine in ("queue", "tensor")
    for cutoffs in (9, [2, 3]):
        assert torchcent.explain(graph, cutoff=cutoffs).engine in ("lanes", "tensor")
    deep = torchcent.explain(torchcent.generate.grid(40, 40), cutoff=5)
    assert deep.engine in ("queue", "tensor")
    lengths = torch.full(graph.shape[1:], 1.5)
    assert torchcent.explain(graph, lengths, cutoff=5).engine in ("relax", "tensor")
    assert torchcent.explain(graph, lengths, cutoff=3).engine in ("dijkstra", "tensor")
    assert torchcent.explain(graph, measure="closeness", cutoff=[5, 2]).cutoffs == (2, 5)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"cutoff": -1}, ValueError, "cutoff must be >= 0, got -1"),
        ({"cutoff": math.nan}, ValueError, "cutoff must be >= 0, got nan"),
        ({"cutoff": "2"}, TypeError, "cutoff must be a number or a list of numbers"),
        ({"cutoff": True}, TypeError, "cutoff must be a number"),
        ({"cutoff": []}, ValueError, "cutoff must not be empty"),
        ({"cutoff": [1, -2]}, ValueError, r"cutoff\[1\] must be >= 0, got -2"),
        ({"cutoff": [1, None]}, TypeError, r"cutoff\[1\] must be a number"),
        ({"cutoff": torch.ones(2, 2)}, ValueError, "in one dimension"),
        ({"cutoff": torch.ones(2) > 0}, TypeError, r"cutoff\[0\] must be a number"),
        ({"cutoff": 2, "engine": "tiny"}, ValueError, "cutoff is not for engine='tiny'"),
    ],
)
def test_malformed(options, kind, said):
    for name in MEASURES:
        with pytest.raises(kind, match=said):
            call(getattr(torchcent, name), edge_index(path(4)), **options)


def test_command_line(tmp_path, capsys):
    (tmp_path / "net.txt").write_text("0 1\n1 2\n2 3\n")
    out = tmp_path / "out.csv"
    line = ["betweenness", str(tmp_path / "net.txt"), "--no-normalized", "-o", str(out)]
    assert cli.main([*line, "--cutoff", "2"]) == 0
    assert [row.split(",")[2] for row in out.read_text().splitlines()[1:]] == [
        "0.0",
        "1.0",
        "1.0",
        "0.0",
    ]
    assert cli.main([*line, "--cutoff", "3,2"]) == 0
    head, *rows = out.read_text().splitlines()
    assert head == "label,degree,betweenness_within_3,betweenness_within_2"
    assert [row.split(",")[2:] for row in rows] == [
        ["0.0", "0.0"],
        ["2.0", "1.0"],
        ["2.0", "1.0"],
        ["0.0", "0.0"],
    ]
    capsys.readouterr()
