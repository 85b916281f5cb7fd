"""Random shortest paths: what is drawn, how often, and that it does not depend on threads."""

import collections
import itertools
import os

import networkx as nx
import numpy as np
import pytest
import scipy.stats
import torch
from graphs import DEVICE, diamonds, edge_index, grid, random_graph, tower, union
from internals import Sampler, has_kernel
from tuning import Tuning

import torchcent

pytestmark = pytest.mark.sweep

LEAST_P = 1e-4  # seeds are fixed: a test either fails always or never

GRAPHS = {
    "random": (9, random_graph(9, 22, seed=5)),
    "sparse": (10, random_graph(10, 14, seed=8)),
    "grid": (12, grid(3, 4)),
    "diamonds": (10, diamonds(3)),
    "tower": (9, tower(3, 3)),
    "parts": union((5, random_graph(5, 9, seed=3)), (4, [(0, 1), (1, 2), (2, 3)]), (2, [])),
    "edgeless": (4, []),
}
WEIGHTS = {
    "hops": None,
    "whole": (1, 2, 3),
    "halves": (0.5, 1.0, 1.5),
    "decimals": (0.1, 0.2, 0.3),
    "rounded": (0.1, 0.2, 0.3),  # sums are not exact: 0.1 + 0.2 is longer than 0.3
}


def made(name: str, weights: str, directed: bool) -> torchcent.Graph:
    n, arcs = GRAPHS[name]
    length = None
    if WEIGHTS[weights] is not None:
        turn = itertools.cycle(WEIGHTS[weights])
        length = torch.tensor([next(turn) for _ in arcs], dtype=torch.float64, device=DEVICE)
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, directed, length)
    return graph.with_ties("float") if weights == "rounded" else graph


def networkx_of(graph: torchcent.Graph) -> nx.DiGraph:
    """With decimals as whole tenths."""
    by = graph.to_networkx().to_directed()
    if graph.scale.digits:
        for *_, edge in by.edges(data=True):
            edge["weight"] = round(10 * edge["weight"])
    return by


def sampler(graph: torchcent.Graph, seed: int = 0) -> Sampler:
    return Sampler(graph, torch.Generator().manual_seed(seed))


@pytest.fixture(params=["compiled", "tensor"])
def way(request: pytest.FixtureRequest, tuning: Tuning) -> str:
    """With the operators, and as where there are none."""
    if request.param == "tensor":
        tuning(has_kernel=lambda *_: False)
    elif os.environ.get("TORCHCENT_NO_EXTENSION"):
        pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators")
    return request.param


def chances(graph: torchcent.Graph) -> dict[frozenset[int], float]:
    """The probability of each set of inner vertices, by listing all shortest paths."""
    by = networkx_of(graph)
    weight = "weight" if graph.is_weighted else None
    found: dict[frozenset[int], float] = collections.defaultdict(float)
    pairs = list(itertools.permutations(range(graph.num_nodes), 2))
    for s, t in pairs:
        paths = [()]
        if nx.has_path(by, s, t):
            paths = [p[1:-1] for p in nx.all_shortest_paths(by, s, t, weight=weight)]
        for path in paths:
            found[frozenset(path)] += 1 / len(paths) / len(pairs)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", list(GRAPHS))
def test_every_path_has_its_share(name, weights, directed):
    if not has_kernel("sample_paths", DEVICE):
        pytest.skip(f"no kernels for {DEVICE}")
    check_paths(made(name, weights, directed), 1500)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", ["hops", "rounded"])
@pytest.mark.parametrize("name", ["random", "parts"])
def test_every_path_has_its_share_on_tensors(name, weights, directed, tuning):
    tuning(has_kernel=lambda *_: False)
    check_paths(made(name, weights, directed), 250)


def check_paths(graph, samples):
    """Samples one by one, each with the vertices of its path, against all paths listed."""
    expected = chances(graph)
    one_by_one = sampler(graph)
    seen = collections.Counter(
        frozenset(one_by_one.draw(1).nonzero().flatten().tolist()) for _ in range(samples)
    )
    assert seen.keys() <= expected.keys()
    rare = [key for key in expected if expected[key] * samples < 5]
    cells = [[seen[key], expected[key] * samples] for key in expected if key not in rare]
    if rare:
        cells.append([sum(seen[k] for k in rare), sum(expected[k] for k in rare) * samples])
    counts, means = np.array(cells).T
    if len(cells) > 1:
        assert scipy.stats.chisquare(counts, means).pvalue > LEAST_P
    else:
        assert counts[0] == samples


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_counts_follow_exact_scores(weights, directed):
    """A larger graph, many samples: the counts are binomial with the scores of NetworkX."""
    if not has_kernel("sample_paths", DEVICE):
        pytest.skip(f"no kernels for {DEVICE}")
    arcs, samples = random_graph(150, 420, seed=2), 60_000
    GRAPHS["larger"] = (150, arcs)
    graph = made("larger", weights, directed)
    by = networkx_of(graph)
    weight = "weight" if graph.is_weighted else None
    raw = nx.betweenness_centrality(by, normalized=False, weight=weight)
    chance = np.array([raw[v] for v in range(150)]) / (150 * 149)
    counts = sampler(graph).draw(samples).cpu().numpy()
    assert (counts[chance < 1e-12] == 0).all()
    often = chance * samples > 25
    z = (counts - chance * samples)[often] / np.sqrt(samples * chance * (1 - chance))[often]
    assert np.abs(z).max() < scipy.stats.norm.isf(LEAST_P / often.sum())
    assert scipy.stats.kstest(z, "norm").pvalue > LEAST_P


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_number_of_threads_changes_nothing(weights, threads, way):
    graph = made("random", weights, True)
    found = []
    for number in (1, 2, 5):
        torch.set_num_threads(number)
        found.append(sampler(graph).draw(500).tolist())
    assert found[0] == found[1] == found[2]
    in_parts = sampler(graph)
    parts = [in_parts.draw(count) for count in (1, 99, 130, 270)]
    assert sum(parts).tolist() == found[0] if way == "compiled" else True
    assert sampler(graph, seed=1).draw(500).tolist() != found[0]


@pytest.mark.slow
def test_path_counts_do_not_overflow(way):
    """A chain of 1100 diamonds has 2^1100 paths from end to end; at each the ways are equal."""
    count, samples = 1100 if way == "compiled" else 1030, 400 if way == "compiled" else 8
    graph = torchcent.Graph.from_edge_index(edge_index(diamonds(count)), directed=False)
    counts = sampler(graph).draw(samples)
    ways = torch.stack([counts[1 : 3 * count : 3], counts[2 : 3 * count : 3]])
    total = int(ways.sum())
    # By hand: a pair has one of the two ways of each diamond in between, about a third of them.
    assert 0.2 * samples * count < total < 0.5 * samples * count
    assert scipy.stats.binomtest(int(ways[0].sum()), total).pvalue > LEAST_P
    for weight in (1, 0.1):
        length = torch.full((4 * count,), weight, dtype=torch.float64, device=DEVICE)
        weighted = torchcent.Graph.from_edge_index(
            edge_index(diamonds(count)), directed=False, edge_weight=length
        )
        if way == "compiled":
            counts = sampler(weighted).draw(50)
            both = torch.stack([counts[1 : 3 * count : 3], counts[2 : 3 * count : 3]]).sum(1)
            assert scipy.stats.binomtest(int(both[0]), int(both.sum())).pvalue > LEAST_P


def test_a_cancelled_run_stops(way):
    cancelled = sampler(made("grid", "hops", False))
    cancelled.control[0] = 1
    assert cancelled.draw(1000) is None
    assert cancelled.control.tolist() == [1, 0, 0, 0]


def test_graphs_without_pairs(way):
    none = torch.zeros(0, dtype=torch.int64, device=DEVICE)
    for n in (0, 1):
        graph = torchcent.Graph.from_edge_index(torch.stack([none, none]), n)
        assert sampler(graph).draw(10).tolist() == [0] * n
