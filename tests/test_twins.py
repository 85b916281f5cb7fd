"""Twins: what makes them, and scores from searches of one vertex per class."""

from __future__ import annotations

import random
from typing import Any

import oracles
import path_oracles
import pytest
import torch
from engines import assert_scores
from graphs import DEVICE, Arcs, edge_index, random_graph, some_or_all
from hypothesis import given
from hypothesis import strategies as st
from internals import Fold, Twins, has_kernel
from pieces import pieces
from surface import call
from tuning import Tuning

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.skipif(
    not has_kernel("path_dependency", DEVICE), reason="needs the compiled kernels"
)
F64 = torch.float64
TWINNED = ("first", "first", "second", "second", "leaf", "cycle", "clique", "edge")
REDUCE = (["twins"], ["fold", "twins"], ["blocks", "twins"], ["fold", "blocks", "twins"])


def twins_grown(chance: random.Random, n: int, edges: set[tuple[int, int]], more: int) -> tuple:
    """Copies of vertices with their neighbours, adjacent or not; leaves; numbered at random."""
    near: list[set[int]] = [set() for _ in range(n)]
    for u, v in edges:
        near[u].add(v)
        near[v].add(u)
    for _ in range(more):
        old, new = chance.randrange(len(near)), len(near)
        kind = chance.choice(["first", "second", "first", "second", "leaf"])
        around = {old} if kind == "leaf" else near[old] | ({old} if kind == "second" else set())
        near.append(set(around))
        for u in around:
            near[u].add(new)
    label = list(range(len(near)))
    chance.shuffle(label)
    return len(near), [
        (label[u], label[v]) for u, around in enumerate(near) for v in around if u < v
    ]


@st.composite
def families(draw: st.DrawFn, most: int = 6) -> tuple[int, Arcs]:
    chance = random.Random(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, most))
    edges = {(u, v) for u in range(n) for v in range(u) if chance.random() < 0.5}
    return twins_grown(chance, n, edges, draw(st.integers(0, most)))


def undirected(n: int, arcs: Arcs) -> Graph:
    return graph_of(n, arcs, None, False)


def graph_of(n: int, arcs: Arcs, weights: list[int] | None, directed: bool) -> Graph:
    weight = None if weights is None else torch.tensor(weights, dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs).to(DEVICE), n, directed, weight)


@given(family=families(), labelled=st.booleans(), folded=st.booleans())
def test_classes(family: tuple[int, Arcs], labelled: bool, folded: bool) -> None:
    n, arcs = family
    graph = undirected(n, arcs)
    fold = Fold.of(graph, "all" if folded else "no")
    label = torch.arange(n, device=DEVICE) % 2 if labelled else None
    found = Twins.of(graph, fold, label)
    gone = {v for v, parent in enumerate(fold.parent.tolist()) if parent >= 0}
    near = [{u for arc in arcs for u in arc if v in arc} - {v} - gone for v in range(n)]

    def alike(u: int, v: int) -> bool:
        if u in gone or v in gone or not near[u] or not near[v] or (labelled and (u - v) % 2):
            return u == v
        return near[u] - {v} == near[v] - {u}

    assert found.twin.tolist() == [min(u for u in range(n) if alike(u, v)) for v in range(n)]
    assert found.size.tolist() == [sum(alike(u, v) for u in range(n)) for v in range(n)]
    stands = {v for v in range(n) if v not in gone and int(found.twin[v]) == v}
    assert found.left.tolist() == [len(near[v] & stands) if v in stands else 0 for v in range(n)]
    assert torch.equal(found.copies, found.size * (found.copies > 0))
    assert {v for v, copies in enumerate(found.copies.tolist()) if copies} == stands


@given(seed=st.integers(0, 2**32), directed=st.booleans(), weighted=st.booleans())
def test_classes_by_arcs(seed: int, directed: bool, weighted: bool) -> None:
    """Equal arcs in both directions; twins that are adjacent are nearest to each other."""
    n, arcs, weights = pieces(random.Random(seed), directed, kinds=TWINNED)
    graph = graph_of(n, arcs, weights if weighted else None, directed)
    found = Twins.of(graph, Fold.of(graph, "no"))
    length = dict(zip(arcs, weights if weighted else [1] * len(arcs), strict=True))
    if not directed:
        length |= {(v, u): x for (u, v), x in length.items()}

    def around(v: int, besides: int) -> set:
        out = {(u, True, x) for (w, u), x in length.items() if w == v and u != besides}
        return out | {(u, False, x) for (u, w), x in length.items() if w == v and u != besides}

    def alike(u: int, v: int) -> bool:
        if u == v or around(u, v) != around(v, u) or length.get((u, v)) != length.get((v, u)):
            return u == v
        if (u, v) not in length:
            return bool(around(u, v))
        nearest = min((x for *_, x in around(u, v)), default=length[u, v])
        return not weighted or length[u, v] < 2 * nearest

    assert found.twin.tolist() == [min(u for u in range(n) if alike(u, v)) for v in range(n)]
    # Every member is counted once, by the first of its class or, on closed walks, the second.
    assert found.copies.sum() == n
    classes = [sorted(v for v in range(n) if alike(u, v)) for u in found.twin.unique().tolist()]
    for members in classes:
        copies = [found.copies[v].item() for v in members]
        passed = graph.degree[members[0]] > 0 and graph.transpose[0].diff()[members[0]] > 0
        apart = len(members) > 1 and (members[0], members[1]) not in length
        several = apart and passed and not graph.is_symmetric
        assert (
            copies[:2] == ([1, len(members) - 1] if several else [len(members), 0])[: len(copies)]
        )


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", ["lanes", "queue", "relax", "dijkstra"])
@given(seed=st.integers(0, 2**32))
def test_definition(engine: str, directed: bool, seed: int) -> None:
    chance, weighted = random.Random(seed), engine in ("relax", "dijkstra")
    n, arcs, weights = pieces(chance, directed, kinds=TWINNED)
    graph = graph_of(n, arcs, weights if weighted else None, directed)
    ends = {"sources": some_or_all(n, chance), "targets": some_or_all(n, chance)}
    given_ends = {k: None if x is None else torch.tensor(x) for k, x in ends.items()}
    for name in ("betweenness", "edge_betweenness", "stress"):
        options: dict[str, Any] = {"normalized": chance.random() < 0.5}
        if name == "betweenness":
            options["endpoints"] = chance.random() < 0.5
        if weighted:
            expected = path_oracles.scores(
                name, n, arcs, weights, directed=directed, **options, **ends
            )
        else:
            expected = call(
                getattr(oracles, name), n, arcs, directed=directed, **{**options, **ends}
            )
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
@pytest.mark.parametrize("engine", ["lanes", "queue"])
@given(family=families(), seed=st.integers(0, 2**32))
def test_percolation(engine: str, family: tuple[int, Arcs], seed: int) -> None:
    """Weights of sources that differ among twins."""
    (n, arcs), chance = family, random.Random(seed)
    states = torch.tensor([chance.choice([0.0, 0.25, 1.0, 3.5]) for _ in range(n)], device=DEVICE)
    graph, known = undirected(n, arcs), None
    for reduce in ("none", *REDUCE):
        found = torchcent.percolation(
            graph,
            states=states,
            run=torchcent.Run(engine=engine, reduce=reduce, dtype=F64),
        )
        known = found if known is None else known
        near = {"rtol": 1e-5 if engine == "lanes" else 1e-9, "atol": 1e-12}
        torch.testing.assert_close(found, known, **near)


@given(family=families())
def test_a_copy_of_a_vertex_has_its_score(family: tuple[int, Arcs]) -> None:
    """Also without the merging of twins, where nothing makes the two equal."""
    n, arcs = family
    old = n // 2
    around = [u for arc in arcs for u in arc if old in arc and u != old]
    graph = undirected(n + 1, [*arcs, *((u, n) for u in around)])
    known = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
    )
    torch.testing.assert_close(known[old], known[n])
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="queue", reduce="twins", dtype=F64),
    )
    torch.testing.assert_close(found, known, rtol=1e-9, atol=1e-12)


def large(seed: int = 1) -> Graph:
    """Hubs with hundreds of twins of either kind, in chunks and several batches, and leaves."""
    chance = random.Random(seed)
    edges = {(max(a), min(a)) for a in random_graph(150, 600, seed) if a[0] != a[1]}
    n, arcs = twins_grown(chance, 150, edges, 250)
    hub = [(u, n) for u in range(n)] + [(u, n + 1) for u in range(n) if u % 3]
    return undirected(n + 402, [*hub, *arcs, *((n + 2 + i, n + i % 2) for i in range(400))])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lanes", "queue"])
@pytest.mark.parametrize("name", ["betweenness", "edge_betweenness"])
def test_large(name: str, engine: str) -> None:
    graph, measure = large(), getattr(torchcent, name)
    known = measure(
        graph,
        run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
    )
    for reduce in REDUCE:
        found = measure(
            graph,
            run=torchcent.Run(engine=engine, reduce=reduce, dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-9 * float(known.max()))
        assert torch.equal(
            found,
            measure(
                graph,
                run=torchcent.Run(engine=engine, reduce=reduce, dtype=F64),
            ),
        )
    pivots = torch.arange(0, graph.num_nodes, 7)
    known = measure(
        graph,
        sources=pivots,
        run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
    )
    found = measure(
        graph,
        sources=pivots,
        run=torchcent.Run(engine=engine, reduce="twins", dtype=F64),
    )
    torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-9 * float(known.max()))


@pytest.mark.parametrize("engine", ["lanes", "queue"])
@pytest.mark.parametrize("layers", [30, 120, 700])  # float32, float64, pairs
def test_counts_grow_by_twins_alone(layers: int, engine: str) -> None:
    """Of layers of three twins, a path remains; its path counts are 3^layers."""
    arcs = [
        (3 * k + i, 3 * k + 3 + j) for k in range(layers - 1) for i in range(3) for j in range(3)
    ]
    graph = undirected(3 * layers, arcs)
    assert (
        torchcent.explain(graph, run=torchcent.Run(engine=engine, reduce="twins")).core_nodes
        == layers
    )
    for measure in (torchcent.betweenness, torchcent.edge_betweenness):
        known = measure(
            graph,
            run=torchcent.Run(engine="queue", reduce="none", dtype=F64),
        )
        found = measure(
            graph,
            run=torchcent.Run(engine=engine, reduce="twins", dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-9)


def test_auto_takes_twins_that_pay(tuning: Tuning) -> None:
    graph = large()
    assert (
        torchcent.explain(graph, run=torchcent.Run(engine="lanes")).merged == 0
    )  # too few sources
    tuning(twins_sources=0, twins_sources_on_cuda=0)
    plan = torchcent.explain(large())
    assert plan.engine == "lanes" and plan.merged > 50 and "merging" in str(plan)
    assert plan.core_nodes < graph.num_nodes - plan.merged and plan.num_nodes == graph.num_nodes
    assert torchcent.explain(large(), run=torchcent.Run(reduce="fold")).merged == 0
    known = torchcent.betweenness(
        graph,
        run=torchcent.Run(reduce="none", dtype=F64),
    )
    torch.testing.assert_close(
        torchcent.betweenness(large(), run=torchcent.Run(dtype=F64)), known, rtol=1e-5, atol=0
    )
    without = Graph.from_edge_index(generate.ba(3000, 4, seed=1).to(DEVICE), directed=False)
    assert torchcent.explain(without).merged == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_bits_do_not_depend_on_threads(threads: int) -> None:
    known, before = (
        torchcent.betweenness(
            large(),
            run=torchcent.Run(reduce="twins", dtype=F64),
        ),
        (torch.get_num_threads()),
    )
    try:
        torch.set_num_threads(threads)
        assert torch.equal(
            torchcent.betweenness(
                large(),
                run=torchcent.Run(reduce="twins", dtype=F64),
            ),
            known,
        )
    finally:
        torch.set_num_threads(before)


def test_where_they_are_not_defined_they_are_left_out() -> None:
    """Sums that are rounded, and ties within a tolerance."""
    graph = large()
    arcs, some = graph.to_edge_index(), torch.arange(0, graph.num_nodes, 9)
    third = torch.full((arcs.shape[1],), 1 / 3, dtype=F64, device=DEVICE)
    third[::7] = 0.7
    for weight, tolerance in ((third, 0.0), (torch.ones_like(third), 1e-9)):
        weighted = Graph.from_edge_index(arcs, graph.num_nodes, edge_weight=weight)
        options: dict[str, Any] = {"tie_tolerance": tolerance, "ties": "float"}
        assert call(torchcent.explain, weighted, reduce="twins", **options).merged == 0
        options["sources"] = some
        found = call(torchcent.betweenness, weighted, reduce="twins", **options)
        assert torch.equal(found, call(torchcent.betweenness, weighted, reduce="none", **options))


def test_memory_is_that_of_the_plan() -> None:
    graph = large()
    needed = torchcent.explain(graph, run=torchcent.Run(engine="lanes", reduce="twins")).memory
    torchcent.betweenness(graph, run=torchcent.Run(engine="lanes", reduce="twins", memory=needed))
    with pytest.raises(MemoryError, match="memory="):
        torchcent.betweenness(
            graph, run=torchcent.Run(engine="lanes", reduce="twins", memory=graph.nbytes)
        )


@pytest.mark.skipif(DEVICE.type != "cpu", reason="the operator is for the host")
def test_labels_keep_twins_apart() -> None:
    """Two hubs with 2,000 common neighbours: all are twins, of equal labels only."""
    n = 2002
    graph = undirected(n, [(hub, v) for hub in (0, 1) for v in range(2, n)])
    parent, label = torch.full((n,), -1), torch.arange(n)
    arrays = (graph.rowptr, graph.col, None, None, None, None)
    twin, _, left, *_ = torch.ops.torchcent.twins(*arrays, parent, None, 2)
    assert twin.tolist() == [0, 0, *[2] * 2000] and left.tolist() == [1, 0, 1, *[0] * 1999]
    twin, _, left, *_ = torch.ops.torchcent.twins(*arrays, parent, label, 2)
    assert twin.tolist() == label.tolist() and left.tolist() == graph.degree.tolist()
