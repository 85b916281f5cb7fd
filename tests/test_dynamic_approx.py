"""Samples of graphs that change: which a change touches, and what they are drawn from."""

import itertools
import random

import networkx
import pytest
import torch
from graphs import DEVICE, edge_index, path
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from scipy.stats import chisquare

import torchcent
from torchcent import DynamicBetweennessApprox, DynamicGraph, Run
from torchcent.dynamic import _approx
from torchcent.dynamic._arcs import Arcs, Change, both_ways, ends_of, numbered
from torchcent.dynamic._samples import Draws, Samples

pytestmark = pytest.mark.skipif(
    DEVICE.type != "cpu" or not has_kernel("dynamic_touched", DEVICE),
    reason="is on the CPU, compiled",
)

NONE = torch.empty(2, 0, dtype=torch.int64)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def columns(edges):
    return torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2).T


def following(graph, epsilon=0.05, delta=0.1, seed=1, **options):
    return DynamicBetweennessApprox(graph, epsilon, delta, generator=seeded(seed), **options)


def of_networkx(n, edges, directed):
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


def shortest(graph, s, t):
    """The set of shortest paths."""
    if not networkx.has_path(graph, s, t):
        return set()
    return set(map(tuple, networkx.all_shortest_paths(graph, s, t)))


def possible(n, directed):
    return list((itertools.permutations if directed else itertools.combinations)(range(n), 2))


def change_of(n, directed, before, after):
    arcs, differ = [], []
    for edges in (before, after, before - after, after - before):
        keys = numbered(*columns(edges))
        differ.append(keys if directed else both_ways(keys))
        arcs.append(Arcs(differ[-1].sort().values, n, directed))
    return Change(*arcs[:2], ends_of(differ[2]), ends_of(differ[3]))


def all_pairs(n, graph):
    samples = Samples.empty(n)
    samples.extend(torch.tensor(list(itertools.permutations(range(n), 2))).T.contiguous())
    for i, (s, t) in enumerate(samples.pairs.T.tolist()):
        if networkx.has_path(graph, s, t):
            samples.distance[i] = networkx.shortest_path_length(graph, s, t)
    return samples


@settings(max_examples=150)
@given(
    n=st.integers(2, 8), directed=st.booleans(), density=st.sampled_from([0.15, 0.3, 0.6]),
    changes=st.integers(1, 5), seed=st.integers(0, 2**32), cost=st.sampled_from([0, 3, 2**40]),
)  # fmt: skip
def test_untouched_pairs_have_the_same_shortest_paths(n, directed, density, changes, seed, cost):
    chance = random.Random(seed)
    before = {edge for edge in possible(n, directed) if chance.random() < density}
    flipped = set(chance.sample(possible(n, directed), min(changes, len(possible(n, directed)))))
    after = before ^ flipped
    old, new = of_networkx(n, before, directed), of_networkx(n, after, directed)
    samples = all_pairs(n, old)
    marks = torch.zeros(samples.size, dtype=torch.int8)
    draws = Draws(1, False, arcs=cost, threads=2)
    draws.touched(change_of(n, directed, before, after), samples, marks)
    for (s, t), mark in zip(samples.pairs.T.tolist(), marks.tolist(), strict=True):
        differ = shortest(old, s, t) != shortest(new, s, t)
        assert mark or not differ
        # Exact if it may take as long as it takes, but for pairs that several arcs may join.
        one_joins = len(after - before) == 1 and not before - after
        if cost > 3 and (networkx.has_path(old, s, t) or one_joins):
            assert mark == differ


class History:
    """A graph that changes at random, and its edges."""

    def __init__(self, n, directed, seed, density=0.2):
        self.chance, self.n, self.directed = random.Random(seed), n, directed
        self.edges = {edge for edge in possible(n, directed) if self.chance.random() < density}
        self.graph = DynamicGraph(columns(self.edges), n, directed)

    def step(self, most=4, grows=False):
        n = self.n + (grows and self.chance.random() < 0.3)
        flipped = set(self.chance.sample(possible(n, self.directed), self.chance.randint(1, most)))
        self.graph.update(columns(flipped - self.edges), columns(flipped & self.edges), grow=True)
        self.n, self.edges = self.graph.num_nodes, self.edges ^ flipped

    def exact(self):
        return torchcent.betweenness(
            self.graph.snapshot(), run=Run(engine="reference", dtype=torch.float64)
        )


@pytest.mark.slow
@settings(max_examples=15)
@given(n=st.integers(0, 9), directed=st.booleans(), seed=st.integers(0, 2**32))
def test_samples_are_shortest_paths_of_the_graph_as_it_is(n, directed, seed):
    history = History(n, directed, seed) if n > 1 else History(2, directed, seed, 0)
    follows = following(history.graph, 0.2, seed=seed)
    for _ in range(6):
        history.step(grows=True, most=1)
        scores = follows.scores
        samples, graph = follows._samples, of_networkx(history.n, history.edges, directed)
        assert scores.shape == (history.n,) and scores.dtype == torch.float64
        if history.n < 3:
            assert samples.size == 0 and not scores.any()
            continue
        counts = [0] * history.n
        for i, (s, t) in enumerate(samples.pairs.T.tolist()):
            inner = samples.inner(torch.tensor([i])).tolist()
            if int(samples.distance[i]) < 0:
                assert not inner and not networkx.has_path(graph, s, t)
            else:
                assert (s, *inner, t) in shortest(graph, s, t)
                assert int(samples.distance[i]) == len(inner) + 1
            for v in inner:
                counts[v] += 1
        assert samples.counts.tolist() == counts
        expected = samples.counts.double() / samples.size * history.n / (history.n - 2)
        torch.testing.assert_close(scores, expected.double().clamp(max=1))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_scores_are_within_epsilon(directed):
    failures = outside = 0
    for seed in range(30):
        history = History(12, directed, seed)
        follows = following(history.graph, 0.1, 0.2, seed)
        for _ in range(5):
            history.step(grows=True)
        exact, result = history.exact(), follows.approximation
        assert result.epsilon <= 0.1
        assert torch.equal(result.scores, follows.scores)
        failures += bool((follows.scores - exact).abs().max() > 0.1)
        outside += not bool(((result.lower <= exact) & (exact <= result.upper)).all())
    assert failures <= 6 and outside <= 6


def test_paths_are_drawn_anew_uniformly():
    """From 0 to 1 there is a path over 2, then one over each of 2, 3, 4 and 5."""
    graph = DynamicGraph(edge_index([(0, 2), (1, 2), (0, 3), (0, 4), (0, 5)]), directed=False)
    follows = following(graph, 0.02)
    before = follows._samples if follows.scores.numel() else None
    others = ((before.pairs >= 3).any(0) | (before.pairs == 2).any(0)).nonzero().flatten()
    graph.update(insert=torch.tensor([[1, 1, 1], [3, 4, 5]]))
    samples = follows._samples
    assert others.numel() and samples.size >= before.size
    between = ((samples.pairs[0] < 2) & (samples.pairs[1] < 2)).nonzero().flatten()
    over = torch.bincount(samples.inner(between), minlength=6)
    assert over.sum() == between.numel() > 200
    assert chisquare(over[2:].numpy()).pvalue > 0.001


def test_paths_in_a_grid_are_uniform():
    graph = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(4, 4))
    arcs = DynamicGraph(edge_index(list(graph.edges)), directed=False)._arcs
    pairs = torch.tensor([[0], [15]]).repeat(1, 8000)
    vertex, length, work = Draws(3, False).paths(arcs, pairs)
    assert work > 0 and length.unique().tolist() == [7]
    drawn = [tuple(row) for row in vertex.view(-1, 7).tolist()]
    paths = sorted(shortest(graph, 0, 15))
    assert set(drawn) == set(paths)
    assert chisquare([drawn.count(each) for each in paths]).pvalue > 0.001


def test_untouched_samples_stay():
    graph = DynamicGraph(edge_index([*path(6), (6, 7), (7, 8)]), 9, directed=False)
    follows = following(graph, 0.03)
    assert follows.scores[7] > 0
    pairs = follows._samples.pairs.clone()
    graph.update(delete=torch.tensor([[0], [1]]))
    expected = ((pairs == 0).sum(0) == 1) & (pairs < 6).all(0)
    assert follows.statistics.sources == int(expected.sum())
    assert follows.statistics.recomputed == int(expected.sum())
    assert torch.equal(follows._samples.pairs, pairs)
    assert follows.changed.tolist() == [1, 2, 3, 4]


def test_pairs_stay_uniform_as_the_graph_grows():
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    follows = following(graph, 0.02)
    before = follows.scores
    graph.update(insert=torch.tensor([[4, 5], [5, 6]]), grow=True)
    assert before.numel() == 5 and follows.scores.numel() == 7
    pairs = follows._samples.pairs
    assert (pairs[0] != pairs[1]).all()
    seen = torch.bincount(7 * pairs[0] + pairs[1], minlength=49).view(7, 7)
    assert seen.diagonal().sum() == 0
    assert chisquare(seen[~torch.eye(7, dtype=torch.bool)].numpy()).pvalue > 0.001
    exact = torchcent.betweenness(graph.snapshot(), run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.02
    assert {5, 6} <= set(follows.changed.tolist())


def test_from_nothing_to_a_star():
    """The samples of an empty graph are too few for what it becomes: others are drawn."""
    graph = DynamicGraph(NONE, 2, directed=False)
    follows = following(graph)
    assert follows.scores.tolist() == [0, 0]
    assert follows.approximation.epsilon == 0
    sizes = []
    for leaf in range(1, 40):
        graph.update(insert=torch.tensor([[0], [leaf]]), grow=True)
        sizes.append(follows.approximation.samples)
    exact = torchcent.betweenness(graph.snapshot(), run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.05
    graph.update(delete=torch.stack([torch.zeros(39, dtype=torch.int64), torch.arange(1, 40)]))
    assert not follows.scores.any()
    graph.update(insert=torch.stack([torch.full((39,), 39), torch.arange(39)]))
    assert follows.scores[39] > 0.95 and follows.approximation.top(1).vertices.tolist() == [39]


def test_schedules_are_left_when_they_have_too_many_checks():
    graph = DynamicGraph(NONE, 50, directed=False)
    follows = following(graph, 0.03)
    first = follows.approximation.samples
    graph.update(insert=torch.tensor([[0] * 25 + [30], [*range(1, 26), 31]]))
    assert follows._epoch > 1 and follows.approximation.samples > 2 * first
    assert follows.approximation.epsilon <= 0.03
    exact = torchcent.betweenness(graph.snapshot(), run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.03


def test_states_together():
    graph = DynamicGraph(edge_index(path(9)), directed=False)
    one, many = following(graph), following(graph, times=100)
    assert one.approximation.delta == 0.1
    assert many.approximation.delta == pytest.approx(0.001)
    assert many.approximation.samples > one.approximation.samples


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def test_generators_decide_and_threads_do_not(threads):
    edges = torchcent.generate.ba(400, 3, seed=1)
    scores = []
    for number, seed in ((1, 5), (2, 5), (5, 5), (1, 6)):
        threads(number)
        graph = DynamicGraph(edges, directed=False)
        follows = following(graph, 0.03, seed=seed)
        graph.update(insert=torch.tensor([[0, 399], [399, 17]]), strict=False)
        graph.update(edges.new_tensor([[5], [400]]), edges[:, :40], grow=True, strict=False)
        scores.append(follows.scores)
    assert torch.equal(scores[0], scores[1]) and torch.equal(scores[0], scores[2])
    assert not torch.equal(scores[0], scores[3])


def test_large_batches_touch_all_samples():
    edges = torchcent.generate.ba(2000, 3, seed=1)
    graph = DynamicGraph(edges, directed=False)
    follows = following(graph, 0.03)
    assert follows.scores[0] > 0
    graph.update(delete=edges[:, ::2], strict=False)
    assert follows.statistics.sources >= 0.9 * follows._samples.size
    exact = torchcent.betweenness(graph.snapshot(), run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.03


def test_gaps_are_closed():
    graph = DynamicGraph(edge_index(path(30)), directed=False)
    follows = following(graph, 0.1)
    for _ in range(20):
        graph.update(delete=torch.tensor([[15], [16]]))
        graph.update(insert=torch.tensor([[15], [16]]))
    samples = follows._samples
    assert samples.path.numel() <= 4 * int(samples.length.sum()) + 64
    exact = torchcent.betweenness(graph.snapshot(), run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.1


def test_a_failure_leaves_the_graph_as_it_was(monkeypatch):
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    follows, edges = following(graph), graph.snapshot()
    exact = torchcent.betweenness(edges, run=Run(dtype=torch.float64))
    assert (follows.scores - exact).abs().max() < 0.05

    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(_approx.DynamicBetweennessApprox, "_enlarge", fails)
        with pytest.raises(KeyboardInterrupt):
            graph.update(insert=torch.tensor([[0], [4]]))
    assert graph.snapshot() == edges
    assert (follows.scores - exact).abs().max() < 0.05


PATH = DynamicGraph(edge_index(path(4)), directed=False)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"graph": PATH.snapshot()}, TypeError, "DynamicGraph, got Graph"),
        ({"epsilon": 0}, ValueError, "epsilon must be more than 0"),
        ({"epsilon": 1e-10}, ValueError, "epsilon must be at least 1e-9"),
        ({"delta": 1}, ValueError, "delta must be more than 0"),
        ({"times": 0}, ValueError, "times must be"),
        ({"times": 1.5}, TypeError, "times must be"),
        ({"generator": 1}, TypeError, "generator must be a torch.Generator"),
    ],
)  # fmt: skip
def test_malformed(options, kind, said):
    with pytest.raises(kind, match=said):
        DynamicBetweennessApprox(**{"graph": PATH} | options)


def test_too_little_memory():
    follows = following(PATH, 0.001, run=Run(memory=100_000))
    with pytest.raises(MemoryError, match="samples needs"):
        follows.scores  # noqa: B018


def test_samples_of_another_graph_are_told():
    """What a file holds is checked before kernels read it."""
    follows = following(PATH)
    assert follows._fault() == ""  # nothing is kept yet
    assert follows.scores.numel() == 4 and follows._fault() == ""
    samples = follows._samples
    for name, value in {
        "pairs": samples.pairs + 3, "path": samples.path - 5, "counts": samples.counts[:3],
        "place": samples.place + samples.used, "distance": samples.distance.long(),
    }.items():  # fmt: skip
        good = getattr(samples, name)
        setattr(samples, name, value)
        assert follows._fault() == "samples of another graph"
        setattr(samples, name, good)
    assert follows._fault() == ""


def test_files_keep_samples(tmp_path):
    graph = DynamicGraph(torchcent.generate.ba(300, 3, seed=1), directed=False)
    follows = following(graph)
    assert follows.scores.numel() == 300
    graph.save(tmp_path / "graph.pt", follows)
    other, [restored] = DynamicGraph.load(tmp_path / "graph.pt")
    for each in (graph, other):
        each.update(insert=torch.tensor([[5, 7], [250, 301]]), grow=True, strict=False)
    assert torch.equal(restored.scores, follows.scores)
    assert restored.approximation.samples == follows.approximation.samples
