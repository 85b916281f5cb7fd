"""The tiny engine: against the definitions, where its kernels change, alone and in a batch;
the ladder, limits, threads, Ctrl-C. (The suites of the measures have it among their engines.)"""

import os
from fractions import Fraction

import networkx as nx
import numpy as np
import oracles
import pytest
import torch
import weighted_oracles
from engines import TINY_NODES, assert_scores
from graphs import (
    DEVICE,
    arc_lists,
    complete,
    cycle,
    diamonds,
    edge_index,
    grid,
    networkx_graph,
    path,
    random_graph,
    star,
    tower,
)  # fmt: skip
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel, run_tiny
from interrupt import assert_stops
from surface import call
from test_batch import together

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.sweep

if not has_kernel("tiny", DEVICE):
    pytest.skip(f"the tiny engine has no kernels for {DEVICE}", allow_module_level=True)

F64 = torch.float64
# Around 32, 64 and 128 vertices, dense and deep; among them some that are not connected.
SIZES: dict[str, tuple[int, oracles.Arcs]] = {
    "31": (31, random_graph(31, 60, seed=1)),
    "32": (32, random_graph(32, 300, seed=2)),
    "32 complete": (32, complete(32)),
    "33": (33, random_graph(33, 50, seed=3)),
    "64": (64, random_graph(64, 900, seed=4)),
    "65": (65, random_graph(65, 130, seed=5)),
    "path of 66": (66, path(66)),
    "130 dense": (130, random_graph(130, 3000, seed=6)),
    "grid of 144": (144, grid(12, 12)),
    "star of 200": (200, star(199)),
}


def ask(measure: str, n: int, arcs: oracles.Arcs, **options) -> torch.Tensor:
    function = getattr(torchcent, measure)
    return call(function, edge_index(arcs), num_nodes=n, dtype=F64, engine="tiny", **options).cpu()


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", SIZES)
def test_networkx(name, directed):
    n, arcs = SIZES[name]
    graph = networkx_graph(n, arcs, directed)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    for measure, reference in {
        "betweenness": nx.betweenness_centrality,
        "closeness": nx.closeness_centrality,
        "harmonic": nx.harmonic_centrality,
    }.items():
        expected = [score for _, score in sorted(reference(graph).items())]
        assert_scores(ask(measure, n, arcs, directed=directed), expected, "tiny")
    edges = nx.edge_betweenness_centrality(graph)
    expected = [edges.get((u, v), edges.get((v, u), 0)) if u != v else 0 for u, v in arcs]
    if directed:
        expected = [edges.get((u, v), 0) for u, v in arcs]
    assert_scores(ask("edge_betweenness", n, arcs, directed=directed), expected, "tiny")


@pytest.mark.parametrize("name", SIZES)
def test_against_other_engines(name):
    """Stress, eccentricity and distances by number, which NetworkX has not."""
    n, arcs = SIZES[name]
    graph = Graph.from_edge_index(edge_index(arcs), n)
    for measure in ("stress", "eccentricity", "distance_distribution", "effective_diameter"):
        function = getattr(torchcent, measure)
        expected, actual = (
            function(graph, run=torchcent.Run(engine=engine)) for engine in ("tensor", "tiny")
        )
        torch.testing.assert_close(actual, expected)


@given(data=st.data())
@settings(max_examples=60)
def test_leaves(data):
    """Trees, forests and rings with leaves, in any numbering; some arcs one way only. Up to 32
    vertices leaves are left out, and the sweeps depend on the numbers."""
    n = data.draw(st.integers(1, 32))
    parents = [data.draw(st.integers(max(0, v - 4), v)) for v in range(1, n)]  # v: a new tree
    more = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3))
    place = data.draw(st.permutations(range(n)))
    arcs = [(place[u], place[v]) for v, u in enumerate(parents, 1)]
    arcs = [(u, v) for u, v in arcs + more if u != v]
    ways = data.draw(st.lists(st.integers(0, 4), min_size=len(arcs), max_size=len(arcs)))
    for directed in (False, True):
        if directed:
            arcs = arcs + [(v, u) for (u, v), way in zip(arcs, ways, strict=True) if way]
        graph = networkx_graph(n, arcs, directed)
        for endpoints in (False, True):
            expected = nx.betweenness_centrality(graph, endpoints=endpoints)
            scores = ask("betweenness", n, arcs, directed=directed, endpoints=endpoints)
            assert_scores(scores, [expected[v] for v in range(n)], "tiny")
        closeness = nx.closeness_centrality(graph)
        scores = ask("closeness", n, arcs, directed=directed)
        assert_scores(scores, [closeness[v] for v in range(n)], "tiny")


@given(data=st.data())
@settings(max_examples=60)
def test_definition(data):
    """Sources, targets, endpoints and weights with ties, in exact fractions."""
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    graph = Graph.from_edge_index(edge_index(arcs), n)
    slots = list(zip(*graph.to_edge_index().tolist(), strict=True))
    vertices = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    sources, targets = data.draw(vertices), data.draw(vertices)
    a, b = ([int(v in chosen) for v in range(n)] for chosen in (sources, targets))
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=len(slots), max_size=len(slots)))
    endpoints, none = data.draw(st.booleans()), [0] * n
    weighted = Graph.from_edge_index(
        torch.tensor(slots, dtype=torch.int64).reshape(-1, 2).T.to(DEVICE), n,
        edge_weight=torch.tensor(lengths, dtype=torch.int64, device=DEVICE),
    )  # fmt: skip
    known = dict(zip(slots, map(Fraction, lengths), strict=True))
    options = {
        "sources": torch.tensor(sources, device=DEVICE),
        "targets": torch.tensor(targets, device=DEVICE),
    }
    for measure in ("betweenness", "stress", "edge_betweenness"):
        ends = endpoints and measure == "betweenness"
        c, h = (a, b) if ends else (none, none)
        for given_graph in (graph, weighted):
            every = range(n)
            if given_graph.is_weighted:
                expected = weighted_oracles.sums(
                    measure,
                    n,
                    known,
                    slots,
                    every,
                    a,
                    c,
                    b,
                    h,  # fmt: skip
                )
            else:
                expected = oracles.weighted_sums(measure, n, arcs, slots, every, a, c, b, h)
            numbers = np.arange(given_graph.num_graphs)
            found = run_tiny(given_graph, numbers, [measure], "", endpoints=ends, **options)
            assert_scores(getattr(found, measure).cpu(), expected, "tiny")


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weighted"])
def test_alone_and_in_a_batch(weighted):
    """The same bits, whatever else is in the batch, in whatever order."""
    parts = [*SIZES.values(), (0, []), (1, []), (20, cycle(20))]
    arcs, ptr = together(parts)
    draw = torch.Generator().manual_seed(1)
    weight = (torch.rand(arcs.shape[1], generator=draw, dtype=F64) + 0.5).to(DEVICE)
    joined = weight if weighted else None
    measures = ["betweenness", "stress", "closeness", "harmonic", "eccentricity", "diameter"]
    for measure in [*measures, "average_shortest_path_length", "edge_betweenness"]:
        function = getattr(torchcent, measure)
        found = call(function, arcs, joined, ptr=ptr, run=torchcent.Run(engine="tiny"), dtype=F64)
        pieces, begin = [], 0
        for n, own in parts:
            length = weight[begin : begin + len(own)] if weighted else None
            begin += len(own)
            one = function(
                edge_index(own),
                length,
                num_nodes=n,
                run=torchcent.Run(engine="tiny", dtype=F64),
            )
            pieces.append(one.reshape(-1))
        assert torch.equal(found, torch.cat(pieces))


def test_threads_do_not_matter(threads):
    arcs, ptr = together(list(SIZES.values()) * 3)
    graph = Graph.from_edge_index(arcs, ptr=ptr)
    found = []
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        found.append(torchcent.node_features(graph, measures=["betweenness", "harmonic"]))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


@pytest.mark.parametrize("parts", [1, 2], ids=["alone", "beside another"])
def test_counts_beyond_float64(parts):
    """A graph whose counts overflow is done again with pairs; those beside it are not."""
    deep = (2000, tower(500, 4))  # 4^498 paths
    arcs, ptr = together([deep, (9, grid(3, 3))][:parts])
    graph = Graph.from_edge_index(arcs, ptr=ptr, directed=False)
    numbers = np.arange(graph.num_graphs)
    assert run_tiny(graph, numbers, ["betweenness"], "").overflowed == [0]
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="tiny", dtype=F64),
    )
    alone = torchcent.betweenness(
        edge_index(deep[1]),
        run=torchcent.Run(engine="queue", dtype=F64),
        directed=False,
    )
    assert torch.equal(found[:2000], alone) and torch.isfinite(found).all()
    if parts == 2:
        last = torchcent.betweenness(
            edge_index(grid(3, 3)), run=torchcent.Run(engine="tiny"), directed=False
        )
        assert torch.equal(found[2000:].float(), last)
    far = torchcent.closeness(
        graph,
        run=torchcent.Run(engine="tiny", dtype=F64),
    )
    expected = torchcent.closeness(
        edge_index(deep[1]),
        directed=False,
        run=torchcent.Run(engine="bits", dtype=F64),
    )
    torch.testing.assert_close(far[:2000], expected)
    features = torchcent.node_features(graph, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(features[:, 0], found)


def test_long_chains():
    """Counts of 2^300, still exact in float64, and 600 levels."""
    chain = diamonds(300)
    n = 3 * 300 + 1
    found = ask("betweenness", n, chain, directed=False)
    expected = torchcent.betweenness(
        edge_index(chain),
        directed=False,
        run=torchcent.Run(engine="queue", dtype=F64),
    )
    assert_scores(found, expected.cpu(), "tiny")


def test_too_large():
    large = edge_index(path(TINY_NODES + 1))
    with pytest.raises(ValueError, match="up to 2048 vertices, but this has 2049"):
        torchcent.betweenness(large, run=torchcent.Run(engine="tiny"))
    arcs, ptr = together([(3, path(3)), (TINY_NODES + 1, path(TINY_NODES + 1))])
    with pytest.raises(ValueError, match="graph 1 of the batch has 2049; take Run.engine='auto'"):
        call(torchcent.closeness, arcs, ptr=ptr, run=torchcent.Run(engine="tiny"))
    assert torchcent.diameter(
        edge_index(path(TINY_NODES)), run=torchcent.Run(engine="tiny")
    ) == float("inf")
    with pytest.raises(ValueError, match="auto, bits, queue, hierarchy, tensor; got 'tiny'"):
        torchcent.shortest_path_lengths(edge_index(path(3)), run=torchcent.Run(engine="tiny"))
    graph = Graph.from_edge_index(edge_index(path(300)))
    with pytest.raises(MemoryError, match="engine='tiny' needs .* but memory=1000"):
        torchcent.betweenness(graph, run=torchcent.Run(engine="tiny", memory=1000))


def mixed() -> tuple[Graph, torch.Tensor, torch.Tensor]:
    """Two small graphs with a large one between them, and what is known of the latter."""
    middle = generate.ba(3000, 3, seed=1).to(DEVICE)
    first, last = edge_index(grid(4, 4)), edge_index(cycle(30))
    index = torch.cat([first, middle + 16, last + 3016], dim=1)
    ptr = torch.tensor([0, 16, 3016, 3046], device=DEVICE)
    return Graph.from_edge_index(index, ptr=ptr, directed=False), ptr, middle


@pytest.mark.slow
def test_sizes_mixed():
    graph, ptr, middle = mixed()
    for measure in ("betweenness", "closeness", "eccentricity"):
        function = getattr(torchcent, measure)
        found = function(graph, run=torchcent.Run(dtype=F64))
        alone = function(middle, num_nodes=3000, directed=False, run=torchcent.Run(dtype=F64))
        assert torch.equal(found[16:3016], alone)
        last = function(edge_index(cycle(30)), directed=False, run=torchcent.Run(dtype=F64))
        assert torch.equal(found[3016:], last)
    found = torchcent.diameter(graph)
    assert found[[0, 2]].tolist() == [6, 15]
    assert found[1] == torchcent.diameter(middle, directed=False)
    center = torchcent.center(graph)
    expected = [5, 6, 9, 10, *(16 + torchcent.center(middle, directed=False)).tolist()]
    assert center.tolist() == [*expected, *range(3016, 3046)]
    pairs = torchcent.distance_distribution(graph)
    assert pairs.sum(1).tolist() == [16**2, 3000**2, 30**2]
    within = torchcent.effective_diameter(graph, run=torchcent.Run(dtype=F64))
    assert within[1] == torchcent.effective_diameter(
        middle, directed=False, run=torchcent.Run(dtype=F64)
    )
    features = torchcent.node_features(graph, run=torchcent.Run(dtype=F64))
    assert torch.equal(features[:, 0], torchcent.betweenness(graph, run=torchcent.Run(dtype=F64)))


def test_explain():
    graph, _, _ = mixed()
    plan = torchcent.explain(graph)
    large = torchcent.explain(generate.ba(3000, 3, seed=1).to(DEVICE), directed=False).engine
    assert plan.engine == "mixed" and plan.graphs == f"2 by tiny, 1 by {large}"
    assert "3 graphs of 16 to 3,000 vertices" in str(plan) and "one of 3,000" in plan.reason
    plan = call(
        torchcent.explain,
        edge_index(path(20)),
        measure="closeness",
        ptr=torch.tensor([0, 20]).to(DEVICE),
    )
    assert (plan.engine, plan.graphs, plan.batches) == ("tiny", "1 by tiny", 1)
    plan = torchcent.explain(edge_index(path(20)))
    assert plan.engine == "tiny" and plan.graphs == "" and "20 vertices" in plan.reason
    nothing = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    assert call(torchcent.explain, edge_index([]), ptr=nothing).engine == "none"


def test_lost_in_rounding():
    """Weights that vanish beside others are refused graph by graph."""
    arcs, ptr = together([(3, path(3)), (3, path(3))])
    small = torch.tensor([1e-20, 2e-20, 1.0, 2.0], dtype=F64, device=DEVICE)
    found = call(torchcent.betweenness, arcs, small, ptr=ptr, directed=False, normalized=False)
    assert found.tolist() == [0, 1, 0, 0, 1, 0]
    beside = torch.tensor([1e-20, 1.0, 1.0, 2.0], dtype=F64, device=DEVICE)
    with pytest.raises(ValueError, match="1e-20, which vanishes"):
        call(torchcent.betweenness, arcs, beside, ptr=ptr)


def test_progress(capsys):
    arcs, ptr = together([(9, grid(3, 3))] * 4)
    call(torchcent.betweenness, arcs, ptr=ptr, run=torchcent.Run(engine="tiny", progress=True))
    said = capsys.readouterr().err
    assert "betweenness" in said and "100%" in said


MANY = """
arcs = torch.randint(0, 2000, (2, 20_000), generator=torch.Generator().manual_seed(0))
many = torch.cat([arcs + 2000 * i for i in range(2000)], dim=1)
graph = torchcent.Graph.from_edge_index(many, ptr=torch.arange(2001) * 2000)
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("TORCHCENT_TEST_DEVICE")), reason="of the CPU's threads")
def test_interrupt():
    assert_stops(MANY, 'torchcent.stress(graph, run=torchcent.Run(engine="tiny", progress=False))')
