"""Random shortest paths by climbs in a hierarchy, and shortest_path."""

import collections
import math
import random

import graphs
import networkx as nx
import numpy as np
import pytest
import scipy.stats
import torch
from internals import CANCEL, Hierarchy, Sampler, core_of, has_kernel, progress_bar
from surface import call

import torchcent
from torchcent import Graph, generate
from torchcent.engines.plan import _climbs
from torchcent.engines.reduce import _hierarchy_costs

CPU = torch.device("cpu")
compiled = pytest.mark.skipif(
    not has_kernel("hierarchy_sample_paths", CPU), reason="needs the compiled kernels"
)
LEAST_P = 1e-4  # seeds are fixed: a test either fails always or never
F64 = torch.float64
DIRECTED = pytest.mark.parametrize("directed", [False, True])


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(
    n: int,
    arcs: list[tuple[int, int]],
    lengths: list[float] | None = None,
    directed: bool = False,
) -> Graph:
    weight = None if lengths is None else torch.tensor(lengths, dtype=F64, device=CPU)
    index = torch.tensor(arcs, dtype=torch.int64, device=CPU).reshape(-1, 2).T
    return Graph.from_edge_index(index, n, directed, weight)


def contracted(graph: Graph) -> Graph:
    """With a hierarchy, which is kept."""
    assert Hierarchy.of(core_of(graph, "degree", "all")) is not None
    assert _climbs.kept(graph) is not None
    return graph


def paths_of(sampler: Sampler, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    with progress_bar(0, "", False, True) as bar:
        found = sampler.paths(count, bar)
    assert found is not None
    return found


def with_ties(name: str) -> Graph:
    if name == "grid":
        return made(16, graphs.grid(4, 4), [1.0] * 24)
    if name == "lengths":
        arcs = graphs.random_graph(14, 34, seed=4)
        return made(14, arcs, [1.0 + i % 3 for i in range(len(arcs))])
    if name == "decimals":
        arcs = graphs.grid(3, 5)
        return made(15, arcs, [(0.1, 0.2, 0.3)[i % 3] for i in range(len(arcs))])
    if name == "trees":  # a cycle with trees, a tree, and a vertex alone
        arcs = [*graphs.cycle(6), (0, 6), (6, 7), (6, 8), (3, 9), (10, 11), (11, 12), (11, 13)]
        return made(15, arcs, [1.0] * len(arcs))
    if name == "one-way":
        return made(16, graphs.grid(4, 4), [1.0] * 24, True)
    if name == "streets":  # with other lengths back, dead ends, and a part that leads nowhere
        arcs = [*graphs.grid(3, 4), *((v, u) for u, v in graphs.grid(3, 4)[::2]), (4, 12), (13, 0)]
        return made(14, arcs, [1.0 + i % 3 for i in range(len(arcs))], True)
    if name == "dense":
        return made(9, graphs.complete(9)[::2], [1.0 + i % 2 for i in range(18)])
    return made(12, graphs.grid(3, 4))  # by hops


NAMES = ("grid", "lengths", "decimals", "trees", "dense", "one-way", "streets", "hops")


@compiled
@DIRECTED
def test_long_lengths_draw_the_same(directed):
    """Rows of climbs are int32 or int64, as lengths need; a common factor changes no path."""
    edges = generate.road(50, 50, seed=1)
    if directed:
        edges = torch.cat([edges, edges.flip(0)[:, ::2]], 1)
    lengths = 1.0 + torch.arange(edges.shape[1], dtype=F64) % 10
    counts = []
    for factor, dtype in ((1.0, torch.int32), (1 + 2.0**-25, torch.int64)):
        graph = contracted(Graph.from_edge_index(edges, None, directed, lengths * factor))
        climbs = _climbs.kept(graph)
        rows = climbs.of_arcs[-1]
        assert rows.dtype == dtype and rows.numel() > graph.num_nodes
        counts.append(Sampler(graph, chance(5)).draw(20_000))
    assert counts[0].sum() > 20_000
    torch.testing.assert_close(*counts, rtol=0, atol=0)


def units(graph: Graph) -> nx.Graph:
    by = graph.to_networkx()
    for *_, edge in by.edges(data=True):
        edge["weight"] = round(edge.get("weight", 1) * graph.scale.per_one)
    return by


@pytest.mark.sweep
@compiled
@pytest.mark.parametrize("name", NAMES)
def test_every_path_has_its_share(name):
    graph, samples = contracted(with_ties(name)), 60_000
    drawn = Sampler(graph, chance(3))
    assert drawn._climbs is not None
    vertices, size = paths_of(drawn, samples)
    seen = collections.Counter(
        tuple(path.tolist()) for path in vertices.split(size.tolist()) if path.numel()
    )
    by, n = units(graph), graph.num_nodes
    expected = {}
    for s in range(n):
        for t in nx.descendants(by, s):
            paths = list(nx.all_shortest_paths(by, s, t, weight="weight"))
            expected |= {tuple(path): 1 / len(paths) / (n * (n - 1)) for path in paths}
    assert seen.keys() <= expected.keys()
    means = np.array([*expected.values()]) * samples
    counts = np.array([seen[path] for path in expected])
    rest = samples - means.sum()
    if rest > 1:
        means, counts = np.append(means, rest), np.append(counts, samples - counts.sum())
    assert means.min() > 5
    assert scipy.stats.chisquare(counts, means).pvalue > LEAST_P


@compiled
@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_paths(name):
    graph = contracted(with_ties(name))
    vertices, size = paths_of(Sampler(graph, chance(5)), 500)
    expected = torch.zeros(graph.num_nodes, dtype=torch.int64, device=CPU)
    for path in vertices.split(size.tolist()):
        expected[path[1:-1]] += 1
    assert Sampler(graph, chance(5)).draw(500).equal(expected)
    sampler = Sampler(graph, chance(5), edges=True)
    expected = torch.zeros(sampler.size, dtype=torch.int64, device=CPU)
    sampler.edges.add(expected, vertices, size)
    assert sampler.draw(500).equal(expected)


@compiled
@DIRECTED
def test_path_counts_do_not_overflow(directed):
    """A chain of 1100 diamonds has 2^1100 paths from end to end; at each the ways are equal."""
    count, samples = 1100, 300
    arcs = graphs.diamonds(count)
    graph = contracted(made(3 * count + 1, arcs, [1.0] * len(arcs), directed))
    counts = Sampler(graph, chance()).draw(samples)
    ways = torch.stack([counts[1 : 3 * count : 3], counts[2 : 3 * count : 3]])
    total = int(ways.sum())
    part = samples * count / (1 + directed)  # of half of the pairs, there is none
    assert 0.2 * part < total < 0.5 * part
    assert scipy.stats.binomtest(int(ways[0].sum()), total).pvalue > LEAST_P


def road(rows: int, seed: int = 0, directed: bool = False) -> Graph:
    """Directed, every seventh street is one-way, and lengths back are others."""
    index = generate.road(rows, rows, seed=seed).cpu()
    weight = torch.randint(1, 1000, (index.shape[1],), generator=chance(seed), device=CPU)
    if directed:
        kept = torch.arange(index.shape[1], device=CPU) % 14 > 0
        index, weight = index[:, kept], weight[kept]
    return Graph.from_edge_index(index, None, directed, weight.to(F64))


@compiled
@pytest.mark.parametrize("edges", [False, True])
@DIRECTED
def test_the_number_of_threads_changes_nothing(directed, edges, threads):
    graph, found = contracted(road(20, directed=directed)), []
    for number in (1, 2, 3):
        torch.set_num_threads(number)
        found.append(Sampler(graph, chance(), edges=edges).draw(700))
    assert found[0].equal(found[1]) and found[0].equal(found[2])
    parts = Sampler(graph, chance(), edges=edges)
    assert sum(parts.draw(count) for count in (1, 99, 600)).equal(found[0])


@compiled
@DIRECTED
def test_few_samples_count_vertices_and_many_count_arcs(directed):
    graph = contracted(road(60, directed=directed))
    together = Sampler(graph, chance()).draw(120)
    few = Sampler(graph, chance())
    assert sum(few.draw(1) for _ in range(120)).equal(together)


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_the_highest_change_nothing(name, monkeypatch):
    """Without them, and with those of all vertices: every path has its share."""
    for entries in (0, 1, 10**6):
        monkeypatch.setattr(_climbs, "ENTRIES", entries)
        test_every_path_has_its_share(name)
    for directed in (False, True):
        monkeypatch.setattr(_climbs, "ENTRIES", 0)
        plain = Sampler(contracted(road(20, directed=directed)), chance()).draw(500)
        monkeypatch.undo()
        with_rows = Sampler(contracted(road(20, directed=directed)), chance())
        assert with_rows.draw(500).equal(plain)  # few paths tie


@compiled
@DIRECTED
def test_approximations_by_climbs_keep_their_promise(directed):
    graph, epsilon = road(40, directed=directed), 0.03
    drawn = torchcent.betweenness_approx(graph, epsilon, method="kadabra", generator=chance())
    assert _climbs.kept(graph) is not None  # as many samples repay it
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    assert (drawn.scores - exact).abs().max() <= epsilon
    assert ((drawn.lower <= exact) & (exact <= drawn.upper)).all()
    drawn = torchcent.edge_betweenness_approx(graph, epsilon, method="rk", generator=chance(1))
    exact = torchcent.edge_betweenness(graph, run=torchcent.Run(dtype=F64))
    assert (drawn.scores - exact).abs().max() <= epsilon


@compiled
def test_contraction_has_to_be_repaid():
    for options in ({}, {"expected": 1e6, "seconds": 1e-9}, {"expected": 1e6, "memory": 2**19}):
        graph = road(25)
        assert Sampler(graph, chance(), **options)._climbs is None
        assert _climbs.kept(graph) is None
    assert Sampler(graph, chance(), expected=1e6)._climbs is not None
    assert Sampler(graph, chance())._climbs is not None  # it is kept
    assert Sampler(graph.with_ties(tie_tolerance=1e-9), chance())._climbs is None
    social = made(300, graphs.random_graph(300, 1200, seed=1), [1.0] * 1200)
    assert Sampler(social, chance(), expected=1e6)._climbs is None


@compiled
def test_seconds_of_sweeps_are_predicted():
    assert _hierarchy_costs.seconds(247_000, 247_000, 1) == pytest.approx(8.645)
    assert _hierarchy_costs.seconds(4_000_000, 1, 1) > _hierarchy_costs.seconds(1_976_000, 1, 1)
    found = torchcent.betweenness_approx(road(60), 0.01, generator=chance())
    assert found.method == "exact"


@compiled
def test_a_cancelled_run_stops():
    sampler = Sampler(contracted(with_ties("grid")), chance())
    sampler.control[CANCEL] = 1
    assert sampler.draw(1000) is None


@compiled
@DIRECTED
def test_ledger_goes_on_by_climbs(directed, tmp_path):
    options = {"method": "kadabra", "checkpoint": tmp_path / "ledger"}
    first, again = (
        call(
            torchcent.betweenness_approx, road(40, 0, directed), 0.03, generator=chance(), **options
        )
        for _ in range(2)
    )
    assert first.scores.equal(again.scores)


KINDS = ("hops", "whole", "decimal", "float")


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@DIRECTED
def test_shortest_path_is_one(kind, directed):
    for seed in range(12):
        by, graph = network(kind, directed, seed)
        check_paths(by, graph, seed)
        if kind != "float" and has_kernel("hierarchy", CPU):
            check_paths(by, contracted(graph), seed)


def network(kind: str, directed: bool, seed: int) -> tuple[nx.Graph, Graph]:
    draw = random.Random(seed)
    n = draw.randint(2, 50)
    by = (nx.DiGraph if directed else nx.Graph)()
    by.add_nodes_from(range(n))
    for _ in range(draw.randint(0, 2 * n)):
        u, v = draw.randrange(n), draw.randrange(n)
        lengths = {"hops": 1, "whole": draw.randint(1, 5), "decimal": draw.randint(1, 9) / 10}
        if u != v:
            by.add_edge(u, v, weight=lengths.get(kind, draw.random() + 0.01))
    return by, Graph.from_networkx(by, None if kind == "hops" else "weight")


def check_paths(by: nx.Graph, graph: Graph, seed: int) -> None:
    n = graph.num_nodes
    pairs = torch.randint(n, (2, 30), generator=chance(seed), device=CPU)
    distance = dict(nx.all_pairs_dijkstra_path_length(by))
    for s, t, found in zip(*pairs.tolist(), torchcent.shortest_path(graph, *pairs), strict=True):
        if t not in distance[s]:
            assert found.path.numel() == 0 and found.length == math.inf
            continue
        path = found.path.tolist()
        assert path[0] == s and path[-1] == t and len(set(path)) == len(path)
        assert found.length == pytest.approx(distance[s][t])
        along = sum(by[u][v]["weight"] for u, v in zip(path, path[1:], strict=False))
        assert along == pytest.approx(found.length)


def test_shortest_path_of_one_and_many():
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]], device=CPU)
    one = torchcent.shortest_path(arcs, 0, 3)
    assert one.path.tolist() == [0, 1, 2, 3] and one.length == 3
    assert torchcent.shortest_path(arcs, 2, 2).path.tolist() == [2]
    many = torchcent.shortest_path(arcs, torch.tensor([0, 1]), 2)
    assert [each.path.tolist() for each in many] == [[0, 1, 2], [1, 2]]
    assert torchcent.shortest_path(arcs, torch.tensor([], dtype=torch.int64), 2) == []
    assert torchcent.shortest_path(arcs, 3, 0).length == math.inf
    assert torchcent.shortest_path(arcs, 3, 0, directed=False).length == 3


@compiled
@DIRECTED
def test_many_pairs_are_joined_by_climbs(directed):
    graph = road(30, directed=directed)
    ends = torch.arange(graph.num_nodes, device=CPU)
    found = torchcent.shortest_path(graph, ends, 0)
    assert _climbs.kept(graph) is not None
    to = graph.reversed()
    expected = torchcent.shortest_path_lengths(to, sources=torch.tensor([0]))[0].double()
    lengths = torch.tensor([each.length for each in found], dtype=F64)
    assert lengths.equal(torch.where(expected < 0, math.inf, expected))


@pytest.mark.parametrize(
    ("source", "target", "error", "message"),
    [
        (0.5, 1, TypeError, "source must be a vertex or a tensor"),
        (True, 1, TypeError, "source must be a vertex or a tensor"),
        (0, "1", TypeError, "target must be a vertex or a tensor"),
        (0, torch.tensor([0.5]), TypeError, "integer vertex ids"),
        (0, 4, ValueError, "target has vertex 4"),
        (-1, 0, ValueError, "source has vertex -1"),
        (torch.tensor([[0]]), 0, ValueError, "one-dimensional"),
        (torch.tensor([0, 1]), torch.tensor([0, 1, 2]), ValueError, "pass as many"),
    ],
)
def test_ends_are_checked(source, target, error, message):
    with pytest.raises(error, match=message):
        torchcent.shortest_path(torch.tensor([[0, 1, 2], [1, 2, 3]]), source, target)
