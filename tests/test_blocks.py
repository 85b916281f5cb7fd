"""Blocks: the decomposition, and scores from blocks that are searched one by one."""

import math
import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from commands import refused, run
from graphs import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from internals import COMPILED, Request
from surface import call
from tuning import Tuning

import torchcent
from torchcent import Graph, generate
from torchcent.engines.blocks import _block_paths, _blocks
from torchcent.engines.reduce import _reach

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled kernels")
F64 = torch.float64


@st.composite
def networks(draw: st.DrawFn) -> nx.Graph:
    """Cliques, cycles, paths and random graphs that share vertices, and some that do not."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    made = nx.Graph()
    for _ in range(draw(st.integers(0, 8))):
        size = chance.randint(1, 9)
        kind = chance.choice([nx.complete_graph, nx.path_graph, nx.star_graph, "cycle", "random"])
        if kind == "cycle":
            part = nx.cycle_graph(max(size, 3))
        elif kind == "random":
            part = nx.gnp_random_graph(size, 0.5, seed=chance.randrange(2**32))
        else:
            part = kind(size)
        begin = made.number_of_nodes()
        made.add_edges_from((u + begin, v + begin) for u, v in part.edges)
        made.add_nodes_from(v + begin for v in part)
        if begin and chance.random() < 0.8:
            old, new = chance.randrange(begin), begin + chance.randrange(len(part))
            if chance.random() < 0.5:
                made.add_edge(old, new)
            else:
                made = nx.contracted_nodes(made, old, new, self_loops=False, copy=False)
                made = nx.convert_node_labels_to_integers(made)
    shuffled = list(made)
    chance.shuffle(shuffled)
    found = nx.Graph()
    found.add_nodes_from(range(len(shuffled)))
    found.add_edges_from((shuffled[u], shuffled[v]) for u, v in made.edges)
    return found


def graph_of(network: nx.Graph, weighted: bool = False) -> Graph:
    edges = torch.tensor(list(network.edges), dtype=torch.int64).reshape(-1, 2).T
    weight = None
    if weighted:
        for u, v in network.edges:
            network[u][v]["weight"] = (u * 7 + v * 7 + u * v) % 4 + 1
        weight = torch.tensor([float(w) for *_, w in network.edges(data="weight")])
    return Graph.from_edge_index(
        edges, num_nodes=network.number_of_nodes(), directed=network.is_directed(),
        edge_weight=weight,
    ).to(DEVICE)  # fmt: skip


def some_ways(network: nx.Graph, chance: random.Random) -> nx.DiGraph:
    """The edges in one direction, the other or both."""
    made = nx.DiGraph()
    made.add_nodes_from(network)
    for u, v in network.edges:
        way = chance.randrange(3)
        made.add_edges_from([(u, v)] * (way != 1) + [(v, u)] * (way != 0))
    return made


@given(networks())
def test_decomposition(network: nx.Graph) -> None:
    graph = graph_of(network)
    blocks = _blocks.of(graph)
    members: list[set[int]] = [{top} for top in blocks.top.tolist()]
    for vertex, number in enumerate(blocks.block.tolist()):
        if number >= 0:
            members[number].add(vertex)
    known = sorted(map(sorted, nx.biconnected_components(network)))
    assert sorted(map(sorted, members)) == known
    assert blocks.size.tolist() == [len(x) for x in members]
    roots = [v for v, number in enumerate(blocks.block.tolist()) if number < 0]
    assert len(roots) == nx.number_connected_components(network)
    # The union: each block of three and more vertices is the subgraph that they induce.
    large = [x for x in members if len(x) > 2]
    assert blocks.union.num_graphs == len(large)
    row = torch.repeat_interleave(
        torch.arange(blocks.union.num_nodes, device=DEVICE), blocks.union.degree
    )
    ends = torch.stack([blocks.vertex[row], blocks.vertex[blocks.union.col.long()]])
    assert torch.equal(graph.to_edge_index()[:, blocks.slot], ends)
    bounds = blocks.union.ptr.tolist()
    for number, (begin, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
        inside = blocks.vertex[begin:end].tolist()
        assert inside == sorted(large[number])
        found = {(u, v) for (u, v), r in zip(ends.T.tolist(), row.tolist(), strict=True)
                 if begin <= r < end}  # fmt: skip
        assert found == set(network.subgraph(inside).to_directed().edges)


def some(n: int, chance: random.Random) -> torch.Tensor | None:
    if n == 0 or chance.random() < 0.4:
        return None
    return torch.tensor(chance.sample(range(n), chance.randint(1, n)))


@given(networks(), st.integers(0, 2**32))
def test_decomposition_of_directed_graphs(network: nx.Graph, seed: int) -> None:
    """Blocks are those of the undirected graph, and each arc lies in one of them."""
    directed = some_ways(network, random.Random(seed))
    graph = graph_of(directed)
    blocks = _blocks.of(graph)
    if graph.is_symmetric:
        return
    assert blocks.reach is not None and blocks.union.directed
    bounds = blocks.union.ptr.tolist()
    found = sorted(blocks.vertex[u:v].tolist() for u, v in zip(bounds, bounds[1:], strict=False))
    large = [sorted(x) for x in nx.biconnected_components(network) if len(x) > 2]
    assert found == sorted(large)
    row = torch.repeat_interleave(
        torch.arange(blocks.union.num_nodes, device=DEVICE), blocks.union.degree
    )
    ends = torch.stack([blocks.vertex[row], blocks.vertex[blocks.union.col.long()]])
    assert torch.equal(graph.to_edge_index()[:, blocks.slot], ends)
    slots = torch.cat([blocks.slot.cpu(), blocks.reach.slot]).sort().values
    assert torch.equal(slots, torch.arange(graph.num_slots))


@given(networks(), st.integers(0, 2**32))
def test_what_hangs_on_a_vertex(network: nx.Graph, seed: int) -> None:
    """Weights that reach a vertex, or are reached, outside of a block and inside of it."""
    chance = random.Random(seed)
    directed = some_ways(network, chance)
    graph = graph_of(directed)
    if graph.is_symmetric:
        return
    reach = _blocks.of(graph).reach
    assert reach is not None
    a, b = (torch.tensor([chance.choice([0.0, 1.0, 2.5]) for _ in network]) for _ in "ab")
    sums = [x.tolist() for x in _reach.sums.compute(reach, a.double(), b.double())]
    bounds = reach.union.ptr.tolist()
    both = (nx.ancestors, a), (nx.descendants, b)
    for begin, end in zip(bounds, bounds[1:], strict=False):
        members = reach.vertex[begin:end].tolist()
        outside = directed.copy()
        outside.remove_edges_from(directed.subgraph(members).edges)
        for copy, v in enumerate(members, begin):
            known = [sum(weight[list(of(outside, v))].tolist()) for of, weight in both]
            assert [x[copy] for x in sums[:2]] == known
            if any(known):  # another block is there
                whole = [sum(weight[list(of(directed, v))].tolist()) for of, weight in both]
                assert [x[copy] + y for x, y in zip(sums[2:], known, strict=True)] == whole


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
@pytest.mark.parametrize("engine", ["auto", "lanes", "queue", "tensor"])
@given(network=networks(), seed=st.integers(0, 2**32))
def test_same_as_without(
    engine: str, weighted: bool, directed: bool, network: nx.Graph, seed: int
) -> None:
    chance = random.Random(seed)
    graph = graph_of(some_ways(network, chance) if directed else network, weighted)
    n = graph.num_nodes
    engine = {"lanes": "relax", "queue": "dijkstra"}.get(engine, engine) if weighted else engine
    options: dict[str, Any] = {"sources": some(n, chance), "targets": some(n, chance)}
    near = {"rtol": 1e-4 if engine in ("lanes", "relax", "auto") else 1e-9, "atol": 1e-7}
    for measure in (torchcent.betweenness, torchcent.edge_betweenness, torchcent.stress):
        if measure is torchcent.betweenness:
            options["endpoints"] = chance.random() < 0.5
        else:
            options.pop("endpoints", None)
        plain = call(measure, graph, dtype=F64, engine="tensor", reduce="none", **options)
        for reduce in ("blocks", ["fold", "blocks"]):
            found = call(measure, graph, dtype=F64, engine=engine, reduce=reduce, **options)
            torch.testing.assert_close(found, plain, **near, equal_nan=True)
    states = torch.tensor([chance.choice([0.0, 0.25, 1.0, 3.5]) for _ in range(n)], device=DEVICE)
    plain = torchcent.percolation(
        graph,
        states=states,
        run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
    )
    found = torchcent.percolation(
        graph,
        states=states,
        run=torchcent.Run(engine=engine, reduce="blocks", dtype=F64),
    )
    torch.testing.assert_close(found, plain, **near)


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["queue", "tensor"])
@given(network=networks(), seed=st.integers(0, 2**32))
def test_zeros_of_fractions(engine: str, network: nx.Graph, seed: int) -> None:
    """Sums of fractional states are rounded: no score is negative by that, and none is not 0."""
    chance = random.Random(seed)
    n = len(network)
    network.add_edges_from((n, v) for v in chance.sample(range(n), min(n, 2)))
    graph = graph_of(network, False)
    states = [chance.choice([0.0, 0.0, chance.random()]) for _ in range(graph.num_nodes)]
    options = {"states": torch.tensor(states, dtype=F64, device=DEVICE), "engine": engine}
    plain = call(torchcent.percolation, graph, dtype=F64, reduce="none", **options)
    found = call(torchcent.percolation, graph, dtype=F64, reduce="blocks", **options)
    assert torch.equal(found == 0, plain == 0)
    assert bool((found >= 0).all())


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
@given(network=networks(), seed=st.integers(0, 2**32))
def test_networkx(weighted: bool, directed: bool, network: nx.Graph, seed: int) -> None:
    network = some_ways(network, random.Random(seed)) if directed else network
    graph, key = graph_of(network, weighted), "weight" if weighted else None
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(reduce="blocks", dtype=F64),
    )
    known = nx.betweenness_centrality(network, weight=key)
    assert found.tolist() == pytest.approx([known[v] for v in range(len(network))], abs=1e-6)
    scores = torchcent.edge_betweenness(
        graph,
        run=torchcent.Run(reduce="blocks", dtype=F64),
    )
    of_edges = nx.edge_betweenness_centrality(network, weight=key)
    assert scores.tolist() == pytest.approx([of_edges[e] for e in network.edges], abs=1e-6)


def hairy() -> torch.Tensor:
    """A core with blocks of several sizes at its vertices, and trees."""
    parts, begin = [generate.ba(700, 4, seed=1)], 700
    for size in [3, 4, 30, 600, *range(5, 60)]:
        part = generate.ba(size, 2, seed=size) if size > 4 else clique(size)
        parts.append(torch.where(part == 0, size % 700, part + begin - 1))
        begin += size - 1
    leaves = torch.arange(begin, begin + 3000)
    return torch.cat([*parts, torch.stack([leaves % begin, leaves])], dim=1)


def clique(size: int) -> torch.Tensor:
    return torch.combinations(torch.arange(size)).T


def test_auto_takes_blocks_that_pay(tuning: Tuning) -> None:
    graph = Graph.from_edge_index(hairy().to(DEVICE), directed=False)
    request = Request("betweenness")
    assert _blocks.chosen(graph, request) is None  # too little work
    tuning(blocks_work=0, blocks_sources=0, blocks_sources_on_cuda=0)
    assert _blocks.chosen(graph, request) is not None
    plan = torchcent.explain(graph)
    assert "blocks of up to 700 vertices" in str(plan) and "bridges" in str(plan)
    assert plan.core_nodes < graph.num_nodes and plan.num_nodes == graph.num_nodes
    tuning(twins_sources=0, twins_sources_on_cuda=0)
    for measure in ("edge_betweenness", "stress", "percolation"):
        assert "blocks of up to 700 vertices" in str(torchcent.explain(graph, measure=measure))
    known = torchcent.betweenness(
        graph,
        run=torchcent.Run(reduce="fold", dtype=F64),
    )
    torch.testing.assert_close(
        torchcent.betweenness(graph, run=torchcent.Run(dtype=F64)), known, rtol=1e-5, atol=1e-9
    )
    assert "blocks" not in str(torchcent.explain(graph, run=torchcent.Run(reduce="fold")))
    one = Graph.from_edge_index(generate.ba(3000, 4, seed=1).to(DEVICE), directed=False)
    assert _blocks.chosen(one, request) is None  # one block: nothing is saved


def test_blocks_of_small_deep_graphs() -> None:
    """Searches of a deep graph take as long as ten decompositions, with few vertices already."""
    n = 4000
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    graph = Graph.from_edge_index(path, n, False)  # on the host: CUDA asks for more sources
    assert _blocks.chosen(graph, Request("stress")) is not None
    v = torch.arange(n, dtype=F64)
    assert torch.equal(torchcent.stress(graph, run=torchcent.Run(dtype=F64)), v * (n - 1 - v))


@pytest.mark.parametrize("threads", [1, 3])
def test_bits_do_not_depend_on_threads(threads: int) -> None:
    graph, before = (
        Graph.from_edge_index(hairy().to(DEVICE), directed=False),
        torch.get_num_threads(),
    )
    known = torchcent.betweenness(
        graph,
        run=torchcent.Run(reduce="blocks", dtype=F64),
    )
    try:
        torch.set_num_threads(threads)
        again = Graph.from_edge_index(hairy().to(DEVICE), directed=False)
        assert torch.equal(
            torchcent.betweenness(
                again,
                run=torchcent.Run(reduce="blocks", dtype=F64),
            ),
            known,
        )
    finally:
        torch.set_num_threads(before)


def test_where_they_are_not_defined_they_are_left_out() -> None:
    edges = hairy().to(DEVICE)
    rounded = Graph.from_edge_index(
        edges, directed=False, edge_weight=torch.rand(edges.shape[1], device=DEVICE)
    )
    tolerant = {"tie_tolerance": 1e-9}
    for graph, options in ((rounded, {}), (rounded, tolerant)):
        some = torch.arange(0, graph.num_nodes, 50)
        found = call(torchcent.betweenness, graph, sources=some, reduce="blocks", **options)
        assert torch.equal(
            found, call(torchcent.betweenness, graph, sources=some, reduce="none", **options)
        )


def stress_of_diamonds(diamonds: int) -> list[float]:
    """By a recurrence in whole numbers; inf beyond float64.

    `paths[k]` is the number of paths to link k from all vertices on one side of it: from the k - 1
    links and their sides there are twice as many as to the link before, with that itself.
    """
    paths = [0]
    for _ in range(diamonds):
        paths.append(2 * (paths[-1] + 1) + 2)
    scores: list[int] = []
    for k in range(diamonds + 1):
        left, right = paths[k], paths[diamonds - k]
        # The two sides of a diamond have a path through each of its links.
        scores.append(left * right + (k > 0) + (k < diamonds))
        if k < diamonds:
            scores += 2 * [(left + 1) * (paths[diamonds - k - 1] + 1)]
    return [float(x) if x < 2**1024 - 2**970 else math.inf for x in scores]


@pytest.mark.parametrize("diamonds", [50, 60, 1200])
def test_numbers_of_paths_to_blocks(diamonds: int) -> None:
    """A chain of diamonds, with 2^k paths to its k-th link: up to 2^53 blocks are searched."""
    arcs = [
        (3 * k + a, 3 * k + b) for k in range(diamonds) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))
    ]
    graph = Graph.from_edge_index(torch.tensor(arcs).T.to(DEVICE), directed=False)
    known = torch.tensor(stress_of_diamonds(diamonds), dtype=F64, device=DEVICE)
    assert bool(known.isinf().any()) == (diamonds > 1024)
    request = Request("stress", reduce=frozenset(["blocks"]))
    reduced = _block_paths.reduce(_blocks.of(graph), graph, request)
    assert (reduced is None) == (diamonds > 53)
    for engine in ("auto", "lanes", "queue"):
        found = torchcent.stress(
            graph,
            run=torchcent.Run(engine=engine, reduce="blocks", dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-5, atol=0)
    if diamonds < 1000:  # the tensor engine takes most of a minute for more
        found = torchcent.stress(
            graph,
            run=torchcent.Run(engine="tensor", reduce="none", dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-9, atol=0)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_stress_of_large_blocks(directed: bool) -> None:
    """Blocks that several engines search, with many cut vertices."""
    graph = Graph.from_edge_index(hairy().to(DEVICE), directed=directed)
    known = torchcent.stress(
        graph,
        run=torchcent.Run(reduce="none", dtype=F64),
    )
    for reduce in ("blocks", ["blocks", "twins"]):
        found = torchcent.stress(
            graph,
            run=torchcent.Run(reduce=reduce, dtype=F64),
        )
        torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("engine", ["auto", "hierarchy"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_stress_by_a_hierarchy(weighted: bool, engine: str, tuning: Tuning) -> None:
    """Paths to the blocks are counted by other searches, which know weights in between."""
    tuning(hierarchy_least={True: 1, False: 1})
    edges = generate.road(30, 30, seed=2)
    chance = torch.Generator().manual_seed(3)
    weight = torch.randint(1, 50, edges.shape[1:], generator=chance) if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    for targets in (None, torch.arange(0, 100, 3), torch.rand(graph.num_nodes, generator=chance)):
        known = torchcent.stress(graph, targets=targets, run=torchcent.Run(engine="reference"))
        for reduce in ("blocks", ["blocks", "fold"]):
            run = torchcent.Run(engine=engine, reduce=reduce, dtype=F64)
            found = torchcent.stress(graph, targets=targets, run=run)
            torch.testing.assert_close(found, known.double(), rtol=1e-6, atol=0)


def test_stress_of_fractions_is_searched_without_blocks() -> None:
    """What hangs on a vertex is a difference of sums, of which nothing may be left by rounding."""
    graph = Graph.from_edge_index(generate.road(40, 40), directed=False)
    targets = torch.rand(graph.num_nodes, dtype=F64, generator=torch.Generator().manual_seed(2))
    request = Request("stress", reduce=frozenset(["blocks"]), targets=targets)
    assert _block_paths.reduce(_blocks.of(graph), graph, request) is None
    assert _block_paths.reduce(_blocks.of(graph), graph, request._replace(targets=None)) is not None


def test_counts_beyond_float64_inside_a_block() -> None:
    width, count = 4, 530  # 4^528 = 2^1056 shortest paths from end to end
    pairs = torch.cartesian_prod(torch.arange(width), torch.arange(width)).T
    layers = [pairs + k * width + torch.tensor([[0], [width]]) for k in range(count - 1)]
    tail = torch.tensor([[0, width * count], [width * count, width * count + 1]])
    graph = Graph.from_edge_index(torch.cat([*layers, tail], dim=1).to(DEVICE), directed=False)
    sources = torch.tensor([1, width * count + 1, width * count - 1])
    options: dict[str, Any] = {"sources": sources, "dtype": F64, "normalized": False}
    known = call(torchcent.betweenness, graph, reduce="none", **options)
    for engine in ("auto", "queue"):
        found = call(torchcent.betweenness, graph, engine=engine, reduce="blocks", **options)
        torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-6)


def test_memory_is_that_of_the_plan() -> None:
    graph = Graph.from_edge_index(hairy().to(DEVICE), directed=False)
    needed = torchcent.explain(graph, run=torchcent.Run(reduce="blocks")).memory
    torchcent.betweenness(graph, run=torchcent.Run(reduce="blocks", memory=needed))
    with pytest.raises(MemoryError, match="memory="):
        torchcent.betweenness(graph, run=torchcent.Run(reduce="blocks", memory=graph.nbytes + 1000))


@pytest.mark.parametrize("value", ["twin", 3, None, ["fold", "leaves"], [1]])
def test_bad_names(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"reduce must be .*fold, blocks"):
        torchcent.betweenness(torch.tensor([[0], [1]]), run=torchcent.Run(reduce=value))


@pytest.mark.slow
def test_command(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("".join(f"{u},{v}\n" for u, v in hairy().T.tolist()))
    scores = []
    for how in ("auto", "none", "blocks", "fold,blocks"):
        out = tmp_path / f"{how}.npy"
        code, *_ = run(
            capsys, "betweenness", path, "--reduce", how, "-o", out, "--quiet", "--undirected"
        )
        assert code == 0
        scores.append(torch.from_numpy(np.load(out)))
    for other in scores[1:]:
        torch.testing.assert_close(other, scores[0], rtol=1e-5, atol=1e-9)
    assert "reduce must be" in refused(capsys, "betweenness", path, "--reduce", "twin")
