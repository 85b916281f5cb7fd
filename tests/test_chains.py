"""Chains: their contraction, and scores from searches of the contracted graph."""

from __future__ import annotations

import random
from typing import Any

import oracles
import path_oracles
import pytest
import torch
from engines import PAIRS, assert_scores
from graphs import DEVICE, edge_index, some_or_all
from hypothesis import given
from hypothesis import strategies as st
from internals import Chains, core_of, has_kernel
from surface import call
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.skipif(
    not has_kernel("chain_dependency", DEVICE), reason="needs the compiled kernels"
)
F64 = torch.float64
REDUCE = (["chains"], ["fold", "chains"], ["fold", "blocks", "chains"])
Edges = list[tuple[int, int, int]]
# Sweeps for all sources at a vertex, or searches from one at a time, whatever costs less.
WAYS: dict[str, dict[str, Any]] = {
    "alone": {"chains_at": -1},
    "together": {"chains_together": 0.0, "chains_together_on_cuda": 0.0},
}
# On small graphs, the tiny engine and few sources on CUDA would come first.
CHEAP: dict[str, Any] = {
    "tiny_nodes": 0, "hierarchy_least": {False: 2**60, True: 2**60},
    "chains_least_on_cuda": {False: 0, True: 0},
    "chains_alone_on_cuda": 1.0, "chains_together_on_cuda": 2.0,
}  # fmt: skip


def chained(chance: random.Random) -> tuple[int, Edges]:
    """Chains between a few vertices, parallel and back to where they began; cycles; trees. The
    lengths are small, so that ties are frequent."""
    lengths = range(1, chance.choice([1, 2, 3, 5]) + 1)
    longest, n = chance.choice([1, 2, 3, 5, 7]), 0
    known: dict[tuple[int, int], int] = {}
    for _ in range(chance.choice([1, 1, 1, 2])):
        kind, base = chance.choice(["any"] * 7 + ["cycle", "path", "parallel"]), n
        if kind == "cycle":
            n, pairs = n + 1, [(0, 0)]
        elif kind in ("path", "parallel"):
            n, pairs = n + 2, [(0, 1)] * (1 if kind == "path" else chance.randint(2, 4))
        else:
            some = chance.randint(1, 5)
            n, pairs = n + some, [(i, chance.randrange(i)) for i in range(1, some)]
            pairs += [
                (chance.randrange(some), chance.randrange(some))
                for _ in range(chance.randint(0, 5))
            ]
        alike = chance.randint(0, longest) if chance.random() < 0.35 else None
        for u, v in pairs:
            inner = chance.randint(0, longest) if alike is None else alike
            if u == v:
                inner = chance.randint(2, 12) if kind == "cycle" else max(inner, 2)
            way = [base + u, *range(n, n + inner), base + v]
            n += inner
            for x, y in zip(way, way[1:], strict=False):
                known.setdefault((min(x, y), max(x, y)), chance.choice(lengths))
        for _ in range(chance.randint(0, 5) if chance.random() < 0.4 else 0):
            known[chance.randrange(base, n), n] = chance.choice(lengths)
            n += 1
    label = [*range(n)]
    chance.shuffle(label)
    return n, [(label[u], label[v], w) for (u, v), w in known.items()]


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, Edges]:
    return chained(random.Random(draw(st.integers(0, 2**32))))


def undirected(n: int, edges: Edges, unit: float | None = None) -> Graph:
    """By hops, or with weights that are multiples of a unit."""
    lengths = None if unit is None else [w * unit for *_, w in edges]
    weight = None if lengths is None else torch.tensor(lengths, dtype=F64, device=DEVICE)
    index = edge_index([(u, v) for u, v, _ in edges])
    return Graph.from_edge_index(index, n, directed=False, edge_weight=weight)


@pytest.mark.skipif(DEVICE.type != "cpu", reason="the host contracts chains")
@given(networks(), st.booleans(), st.integers(1, 5), st.booleans())
def test_contraction(network: tuple[int, Edges], weighted: bool, ball: int, loops: bool) -> None:
    n, edges = network
    core = core_of(undirected(n, edges, 1.0 if weighted else None), "degree", "no")
    found = torch.ops.torchcent.chains(core.rowptr, core.col, core.weight, ball, loops)
    kept, first, inner, ends, along, rowptr, head, arc, slots = (x.tolist() for x in found)
    degree = core.rowptr.diff().tolist()
    assert sorted(kept + inner) == [*range(core.num_nodes)]
    assert all(degree[v] == 2 for v in inner)
    row = torch.repeat_interleave(torch.arange(core.num_nodes), core.rowptr.diff()).tolist()
    col, weight = core.col.tolist(), None if core.weight is None else core.weight.tolist()
    seen, back = [], slots[len(slots) // 2 :]
    bare = [first[c] == first[c + 1] for c in range(len(first) - 1)]
    assert bare == sorted(bare)  # chains with inner vertices come first
    for c in range(len(bare)):
        way = [kept[ends[2 * c]], *inner[first[c] : first[c + 1]], kept[ends[2 * c + 1]]]
        length = 0
        for i, (u, v) in enumerate(zip(way, way[1:], strict=False)):
            step = first[c] + c + i
            assert (row[slots[step]], col[slots[step]]) == (u, v)
            assert (row[back[step]], col[back[step]]) == (v, u)
            seen += [slots[step], back[step]]
            length += 1 if weight is None else weight[slots[step]]
            assert along[step] == length
    assert sorted(seen) == [*range(core.num_slots)]
    arcs = {(v, head[i], arc[i]) for v in range(len(kept)) for i in range(rowptr[v], rowptr[v + 1])}
    shown = [e for e in range(len(ends)) if loops or ends[e] != ends[e ^ 1]]
    assert arcs == {(ends[e], ends[e ^ 1], e) for e in shown} and len(arc) == len(shown)
    others = [v for v in range(len(kept)) if degree[kept[v]] == 2]
    assert all(v == u for v, u, _ in arcs if v in others)  # only bare cycles keep such a vertex


@pytest.mark.sweep
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", WAYS)
@given(network=networks(), seed=st.integers(0, 2**32))
def test_definition(way: str, weighted: bool, network: tuple[int, Edges], seed: int) -> None:
    (n, edges), chance = network, random.Random(seed)
    unit = chance.choice([1.0, 0.25, 1e6 + 1]) if weighted else None
    graph, arcs = undirected(n, edges, unit), [(u, v) for u, v, _ in edges]
    ends = {"sources": some_or_all(n, chance), "targets": some_or_all(n, chance)}
    given_ends = {k: None if x is None else torch.tensor(x) for k, x in ends.items()}
    for name in ("betweenness", "edge_betweenness"):
        options: dict[str, Any] = {"normalized": chance.random() < 0.5}
        if name == "betweenness":
            options["endpoints"] = chance.random() < 0.5
        if weighted:
            expected = path_oracles.scores(
                name, n, arcs, [w for *_, w in edges], directed=False, **options, **ends
            )
        else:
            expected = call(getattr(oracles, name), n, arcs, directed=False, **{**options, **ends})
        engine = "dijkstra" if weighted else "queue"
        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(**WAYS[way])
            for reduce in REDUCE:
                found = call(
                    getattr(torchcent, name),
                    graph,
                    dtype=F64,
                    engine=engine,
                    reduce=reduce,
                    **{**options, **given_ends},
                )
                assert_scores(found.cpu(), expected, engine)


@pytest.mark.sweep
@pytest.mark.parametrize("way", WAYS)
@given(network=networks(), seed=st.integers(0, 2**32))
def test_percolation(way: str, network: tuple[int, Edges], seed: int) -> None:
    """Weights of sources that are not whole numbers, and differ along a chain."""
    (n, edges), chance = network, random.Random(seed)
    states = torch.tensor([chance.choice([0.0, 0.3, 1.0, 3.5]) for _ in range(n)], device=DEVICE)
    graph = undirected(n, edges)
    known = torchcent.percolation(
        graph,
        states=states,
        run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
    )
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(**WAYS[way])
        for reduce in REDUCE:
            found = torchcent.percolation(
                graph,
                states=states,
                run=torchcent.Run(engine="queue", reduce=reduce, dtype=F64),
            )
            torch.testing.assert_close(found, known, rtol=1e-9, atol=1e-12)
            assert torch.equal(found == 0, known == 0)
            assert bool((found >= 0).all())


def test_zeros_of_fractions() -> None:
    """Two triangles at a vertex: sums of fractions cancel where no path passes."""
    edges = torch.tensor([[0, 0, 1, 1, 2, 3], [4, 3, 4, 2, 4, 4]], device=DEVICE)
    states = torch.tensor([0.8, 0.6, 0.4, 0.6, 0.2], dtype=F64, device=DEVICE)
    found = torchcent.percolation(
        edges,
        states=states,
        directed=False,
        run=torchcent.Run(engine="queue", reduce="chains", dtype=F64),
    )
    assert found[:4].tolist() == [0, 0, 0, 0]
    assert found[4].item() == pytest.approx(2 / 3)  # each state counts for two targets of n - 2


@given(network=networks(), seed=st.integers(0, 2**32))
def test_an_edge_and_its_pieces(network: tuple[int, Edges], seed: int) -> None:
    """Old vertices keep their scores if edges are divided into pieces of the same length in all,
    and so do old edges, each in all of its pieces."""
    (n, edges), chance = network, random.Random(seed)
    pieces, place, new = [], [], n
    for u, v, w in edges:
        cuts = sorted({0, w, *(chance.randrange(w + 1) for _ in range(3))})
        way = [u, *range(new, new + len(cuts) - 2), v]
        new += len(cuts) - 2
        place.append(range(len(pieces), len(pieces) + len(way) - 1))
        pieces += [(x, y, b - a) for x, y, a, b in zip(way, way[1:], cuts, cuts[1:], strict=False)]
    if not edges:
        return
    old = torch.arange(n, device=DEVICE)
    one, other = undirected(n, edges, 1.0), undirected(new, pieces, 1.0)
    for name in ("betweenness", "edge_betweenness"):
        options: dict[str, Any] = {"sources": old, "targets": old, "normalized": False}
        measure = getattr(torchcent, name)
        known = call(measure, one, dtype=F64, engine="dijkstra", reduce="none", **options)
        found = call(measure, other, dtype=F64, engine="dijkstra", reduce="chains", **options)
        if name == "betweenness":
            torch.testing.assert_close(found[:n], known, rtol=1e-9, atol=1e-12)
            continue
        for i, parts in enumerate(place):
            for part in parts:
                torch.testing.assert_close(found[part], known[i], rtol=1e-9, atol=1e-12)


def road(side: int = 12, longest: int = 9, seed: int = 1) -> tuple[int, Edges]:
    """A grid of streets with many bends, whose vertices are numbered at random."""
    chance, n = random.Random(seed), side * side
    edges: Edges = []
    for u in range(side * side):
        for v in (u + 1, u + side):
            if v >= side * side or (v == u + 1 and v % side == 0):
                continue
            inner = chance.randint(0, longest)
            way = [u, *range(n, n + inner), v]
            n += inner
            edges += [(x, y, chance.randint(1, 9)) for x, y in zip(way, way[1:], strict=False)]
    label = [*range(n)]
    chance.shuffle(label)
    return n, [(label[u], label[v], w) for u, v, w in edges]


@pytest.mark.parametrize("unit", [None, 1.0, 2.0**20 + 1])  # the last one in float64
@pytest.mark.parametrize("name", ["betweenness", "edge_betweenness"])
def test_road(name: str, unit: float | None, tuning: Tuning) -> None:
    """As auto decides, in many batches, on one thread and on three."""
    tuning(chains_ball=8, **CHEAP)
    n, edges = road()
    measure = getattr(torchcent, name)
    graph = undirected(n, edges, unit)
    known = measure(
        graph,
        run=torchcent.Run(reduce="fold", dtype=F64),
    )
    plan = torchcent.explain(graph, measure=name)
    assert plan.engine == "chains" and plan.together and plan.sources == plan.core_nodes
    assert plan.core_nodes + plan.contracted == n and "inside" in str(plan)
    found = measure(graph, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(found, known, rtol=1e-9, atol=1e-9 * float(known.max()))
    pivots = torch.arange(0, n, 20, device=DEVICE)
    alone = torchcent.explain(graph, measure=name, sources=pivots)
    assert alone.engine == "chains" and not alone.together and alone.sources == pivots.numel()
    torch.testing.assert_close(
        measure(graph, sources=pivots, run=torchcent.Run(dtype=F64)),
        measure(graph, sources=pivots, run=torchcent.Run(reduce="fold", dtype=F64), ),
        rtol=1e-9, atol=1e-9 * float(known.max()),
    )  # fmt: skip
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert torch.equal(measure(graph, run=torchcent.Run(dtype=F64)), found)
    finally:
        torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.sweep(by="way length")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [40, 1100])  # float64, pairs
def test_counts_grow_by_chains_alone(length: int, way: str, weighted: bool, tuning: Tuning) -> None:
    """Of a chain of diamonds, the ends of the diamonds remain; path counts are 2^length."""
    tuning(**WAYS[way])
    edges: Edges = []
    for i in range(length):
        u, v = 3 * i, 3 * i + 3
        edges += [(u, u + 1, 1), (u + 1, v, 2), (u, u + 2, 2), (u + 2, v, 1)]
    graph = undirected(3 * length + 1, edges, 1.0 if weighted else None)
    engine = "dijkstra" if weighted else "queue"
    for measure in (torchcent.betweenness, torchcent.edge_betweenness):
        known = measure(
            graph,
            run=torchcent.Run(engine=engine, reduce="none", dtype=F64),
        )
        found = measure(
            graph,
            run=torchcent.Run(engine=engine, reduce="chains", dtype=F64),
        )
        rtol = 1e-9 if length < 1000 else PAIRS
        torch.testing.assert_close(found, known, rtol=rtol, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_counts_that_grow_in_another_component(way: str, tuning: Tuning) -> None:
    """A road is counted once, although searches elsewhere need a wider type: from diamonds, none of
    whose chains has a source inside."""
    tuning(**WAYS[way])
    n, edges = road(4, 5)
    ends = [n + 3 * i for i in range(1101)]
    for u in ends[:-1]:  # diamonds
        edges += [(u, u + 1, 1), (u + 1, u + 3, 1), (u, u + 2, 1), (u + 2, u + 3, 1)]
    graph = undirected(ends[-1] + 1, edges)
    sources = torch.tensor([*range(n), *ends[1:-1]], device=DEVICE)
    options: dict[str, Any] = {"engine": "queue", "sources": sources, "dtype": F64}
    for measure in (torchcent.betweenness, torchcent.edge_betweenness):
        known = call(measure, graph, reduce="none", **options)
        found = call(measure, graph, reduce="chains", **options)
        torch.testing.assert_close(found, known, rtol=PAIRS, atol=1e-9)


def test_a_vertex_with_many_chains(tuning: Tuning) -> None:
    """Sources inside chains share sweeps only where few chains end at a vertex."""
    edges = [(0, 2 + i, 1) for i in range(70)] + [(2 + i, 1, 1) for i in range(70)]
    graph = undirected(72, edges)
    core = core_of(graph, "degree", "no")
    assert Chains.of(core).most_at == 70 and not Chains.of(core).together(72, 2**40)
    known = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="tensor", dtype=F64),
    )
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="queue", reduce="chains", dtype=F64),
    )
    torch.testing.assert_close(found, known, rtol=1e-9, atol=1e-12)
    if DEVICE.type == "cpu":
        tuning(chains_at=100, **WAYS["together"])
        found = torchcent.betweenness(
            graph,
            run=torchcent.Run(engine="queue", reduce="chains", dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-9, atol=1e-12)


def test_where_they_do_not_pay_they_are_left_out(tuning: Tuning) -> None:
    tuning(**CHEAP)
    mesh = Graph.from_edge_index(generate.grid(40, 40).to(DEVICE), directed=False)
    assert torchcent.explain(mesh).engine == "queue"
    n, edges = road()
    graph = undirected(n, edges, 1.0)
    assert torchcent.explain(graph).engine == "chains"
    assert torchcent.explain(graph, run=torchcent.Run(reduce="fold")).engine == "dijkstra"
    assert torchcent.explain(graph, run=torchcent.Run(engine="dijkstra")).engine == "dijkstra"
    assert (
        torchcent.explain(
            graph.with_ties(tie_tolerance=1e-6),
        ).engine
        == "dijkstra"
    )
    assert torchcent.explain(graph, measure="stress").engine == "dijkstra"
    assert torchcent.explain(graph, sources=3).engine == "dijkstra"
    inexact = undirected(n, edges, 0.1)
    assert not inexact.scale.exact
    assert (
        torchcent.explain(
            inexact.with_ties("float"),
        ).engine
        == "dijkstra"
    )
    directed = Graph.from_edge_index(edge_index([(u, v) for u, v, _ in edges]), n, directed=True)
    assert torchcent.explain(directed.to(DEVICE)).engine != "chains"


def test_a_chain_as_long_as_float64_holds() -> None:
    """x_4 and x_11 are nearer to each other around than along the chain, by one unit. Twice their
    distances need 54 bits."""
    unit = 2**53 // 15 // 2 * 2
    way = [0, *range(4, 16), 1]
    edges = [(u, v, unit) for u, v in zip(way, way[1:], strict=False)]
    edges += [(0, 1, unit - 1), (0, 2, 1), (1, 3, 1)]
    graph = undirected(16, edges, 1.0)
    assert graph.scale.exact and graph.scale.dtype == F64
    arcs, weights = [(u, v) for u, v, _ in edges], [w for *_, w in edges]
    expected = path_oracles.scores(
        "betweenness", 16, arcs, weights, directed=False, normalized=False
    )
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="dijkstra", reduce="chains", dtype=F64),
        normalized=False,
    )
    assert_scores(found.cpu(), expected, "dijkstra")


def test_memory(tuning: Tuning) -> None:
    tuning(**CHEAP)
    n, edges = road()
    graph = undirected(n, edges)
    plan = torchcent.explain(graph)
    with pytest.raises(MemoryError, match="betweenness with engine='chains'"):
        torchcent.betweenness(graph, run=torchcent.Run(memory=plan.memory // 3))


@pytest.mark.skipif(DEVICE.type != "cuda", reason="rows of all ends are kept on CUDA only")
def test_sweeps_for_several_sources_need_memory(tuning: Tuning) -> None:
    """Distances from all kept vertices: one source at a time where they do not fit."""
    tuning(**CHEAP)
    n, edges = road()
    graph = undirected(n, edges, 1.0)
    chains = Chains.of(core_of(graph, "degree", "no"))
    assert chains.rows_on_cuda == chains.kept.numel() ** 2 * 12
    assert chains.together(n, 2 * chains.rows_on_cuda)
    assert not chains.together(n, 2 * chains.rows_on_cuda - 1)
