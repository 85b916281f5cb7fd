"""edge_betweenness_approx: against exact fractions, and how often its intervals hold."""

import networkx as nx
import oracles
import pytest
import scipy.stats
import torch
from graphs import DEVICE, cycle, edge_index, grid, random_graph, star, union
from internals import Sampler
from surface import call

import torchcent
from torchcent import edge_betweenness_approx

F64 = torch.float64
ENGINE = 1e-5  # error of exact scores, if all vertices are pivots
GRAPHS = {
    "random": (12, random_graph(12, 30, seed=5)),
    "grid": (16, grid(4, 4)),
    "star": (8, star(7)),
    "parts and a loop": union((6, [*cycle(6), (2, 2)]), (4, [(0, 1), (1, 2), (2, 3)]), (1, [])),
}


def chance(seed=0):
    return torch.Generator().manual_seed(seed)


def exact(n, arcs, directed, weights=None):
    """The definition, as fractions, by hops; by weights NetworkX."""
    if weights is None:
        found = oracles.edge_betweenness(n, arcs, directed=directed, normalized=True)
        return torch.tensor([float(x) for x in found], dtype=F64)
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((u, v, {"w": w}) for (u, v), w in zip(arcs, weights, strict=True))
    score = nx.edge_betweenness_centrality(graph, weight="w")
    of = [score[u, v] if (u, v) in score else score.get((v, u), 0) for u, v in arcs]
    return torch.tensor([0 if u == v else x for x, (u, v) in zip(of, arcs, strict=True)], dtype=F64)


def simple(arcs):
    """Without parallel arcs in either direction, so that every edge has one weight."""
    return sorted({(min(arc), max(arc)) for arc in arcs})


@pytest.mark.sweep(by="name method directed weighted")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", ["kadabra", "rk", "pivots"])
@pytest.mark.parametrize("name", GRAPHS)
def test_intervals_hold(name, method, directed, weighted):
    """All at once, with probability 0.8 at least: seeds are fixed, ten runs."""
    n, arcs = GRAPHS[name]
    arcs = simple(arcs)
    weights = [1 + (u * v) % 3 for u, v in arcs] if weighted else None
    true, failed, far = exact(n, arcs, directed, weights), 0, 0
    length = None if weights is None else torch.tensor(weights, dtype=F64, device=DEVICE)
    for seed in range(10):
        found = edge_betweenness_approx(
            edge_index(arcs), 0.1, 0.2, method=method, num_nodes=n, directed=directed,
            edge_weight=length, run=torchcent.Run(dtype=F64), generator=chance(seed),
        )  # fmt: skip
        assert found.reached and found.epsilon <= 0.1 and found.method == method
        low, high = found.lower.cpu() - ENGINE, found.upper.cpu() + ENGINE
        failed += bool(((true < low) | (true > high)).any())
        far += float((found.scores.cpu() - true).abs().max()) > 0.1
    for count in (failed, far):
        assert scipy.stats.binomtest(count, 10, 0.2, "greater").pvalue > 1e-4


@pytest.mark.parametrize("tie_tolerance", [0.0, 1e-9])
def test_samples_have_the_right_mean(tie_tolerance):
    """Also those drawn on tensors alone."""
    n, arcs = GRAPHS["parts and a loop"]
    found = call(
        edge_betweenness_approx,
        edge_index(arcs),
        0.01,
        method="kadabra",
        num_nodes=n,
        directed=False,
        dtype=F64,
        max_samples=3000,
        generator=chance(),
        tie_tolerance=tie_tolerance,
        edge_weight=torch.ones(len(arcs), dtype=F64, device=DEVICE),
    )
    true = exact(n, arcs, False)
    z = (found.scores.cpu() - true) / (true * (1 - true) / found.samples).clamp(min=1e-12).sqrt()
    assert found.samples <= 3000 and z.abs().max() < 4.5


@pytest.mark.parametrize("pivots", ["uniform", "degree", "max_min"])
def test_pivots(pivots):
    n, arcs = GRAPHS["random"]
    true = exact(n, arcs, True)
    if pivots == "degree":  # with repetitions: free of bias
        arcs = oracles.both_ways(simple(arcs))
        true, mean = exact(n, arcs, True), torch.zeros(len(arcs), dtype=F64)
        for seed in range(400):
            mean += edge_betweenness_approx(
                edge_index(arcs), method="pivots", pivots=pivots, max_samples=6, num_nodes=n,
                run=torchcent.Run(dtype=F64), generator=chance(seed),
            ).scores.cpu()  # fmt: skip
        assert (mean / 400 - true).abs().max() < 0.015
        return
    found = edge_betweenness_approx(
        edge_index(arcs),
        method="pivots",
        pivots=pivots,
        max_samples=n,
        num_nodes=n,
        run=torchcent.Run(dtype=F64),
    )
    torch.testing.assert_close(found.scores.cpu(), true)
    assert (found.epsilon == 0) == (pivots == "uniform")


def test_auto_is_exact_on_small_graphs_and_samples_large_ones(tuning):
    n, arcs = GRAPHS["grid"]
    found = edge_betweenness_approx(edge_index(arcs), directed=False, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(found.scores.cpu(), exact(n, arcs, False))
    assert found.method == "exact" and found.delta == 0 and "columns=24" in repr(found)
    tuning(exact_seconds=lambda *_: 1e9, is_worth_timing=lambda *_: False)
    assert edge_betweenness_approx(edge_index(arcs), 0.1, directed=False).method == "kadabra"


def test_both_columns_of_an_edge_and_loops():
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2), (0, 1)]
    found = edge_betweenness_approx(
        edge_index(arcs), 0.2, method="kadabra", directed=False, generator=chance()
    ).scores
    assert found[0] == found[1] == found[5] and found[2] == found[3] and found[4] == 0
    directed = edge_betweenness_approx(edge_index(arcs), 0.2, method="kadabra", generator=chance(1))
    assert directed.scores[0] != directed.scores[1]


@pytest.mark.parametrize("directed", [False, True])
def test_numbers_of_edges(directed):
    n, arcs = GRAPHS["random"]
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, directed)
    numbers, ends = Sampler(graph, None, edges=True).edges, graph.to_edge_index().T.tolist()
    counts = torch.zeros(numbers.size, dtype=torch.int64, device=DEVICE)
    length = torch.full((len(ends),), 2, device=DEVICE)
    length = torch.stack([length, torch.zeros_like(length)], 1).flatten()  # no path in between
    numbers.add(counts, torch.tensor(ends, device=DEVICE).flatten(), length)
    assert counts.tolist() == [1 if directed else 2] * numbers.size  # each slot once


@pytest.mark.parametrize("method", ["kadabra", "pivots", "exact"])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_no_arcs(n, method):
    found = edge_betweenness_approx(
        torch.empty(2, 0, dtype=torch.int64), num_nodes=n, method=method, max_samples=20
    )
    assert found.scores.shape == found.lower.shape == (0,)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_generator_decides(threads, tmp_path):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = [
            edge_betweenness_approx(
                edge_index(grid(6, 6)), 0.05, method="kadabra", directed=False,
                generator=chance(3), run=torchcent.Run(checkpoint=folder)).scores
            for folder in (None, tmp_path / "run", tmp_path / "run")
        ]  # fmt: skip
    finally:
        torch.set_num_threads(before)
    assert found[0].equal(found[1]) and found[0].equal(found[2])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"epsilon": 0}, ValueError, "epsilon"),
        ({"delta": 1}, ValueError, "delta"),
        ({"method": "fast"}, ValueError, "method must be one of"),
        ({"method": "rk", "pivots": "degree"}, ValueError, "is for method='pivots'"),
        ({"max_samples": 0}, ValueError, "max_samples"),
        ({"time_limit": -1}, ValueError, "time_limit"),
        ({"generator": 1}, TypeError, "generator"),
        ({"top": 3}, TypeError, "top"),
        ({"memory": 100, "method": "rk"}, MemoryError, "memory=100"),
    ],
)
def test_errors(options, error, words):
    with pytest.raises(error, match=words):
        call(edge_betweenness_approx, edge_index(grid(3, 3)), **options)


def test_what_is_for_vertices():
    found = edge_betweenness_approx(edge_index(grid(3, 3)))
    with pytest.raises(TypeError, match="scores of edges"):
        found.top(1)
    with pytest.raises(TypeError, match="scores of edges"):
        found.plot("scores.png")
    square = edge_index(grid(2, 2))
    batch = torchcent.Graph.from_edge_index(square, ptr=torch.tensor([0, 4]).to(square.device))
    with pytest.raises(ValueError, match="edge_betweenness has exact scores of each"):
        edge_betweenness_approx(batch)
