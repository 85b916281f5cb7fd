"""The operators of distances by hops against an oracle."""

import math
import os
from collections import Counter
from functools import lru_cache

import oracles
import pytest
import torch
from graphs import DEVICE, arc_lists, cycle, edge_index, grid, path, random_graph, star, union
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Arcs
from torch import Tensor

import torchcent

pytestmark = pytest.mark.sweep

if os.environ.get("TORCHCENT_NO_EXTENSION"):
    pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators", allow_module_level=True)

ops = torch.ops.torchcent
F64, I32, I64 = torch.float64, torch.int32, torch.int64

GRAPHS: dict[str, tuple[int, Arcs]] = {
    "one vertex": (1, []),
    "no arcs": (5, []),
    "path": (140, path(140)),
    "deeper than int8": (300, path(300)),
    "grid": (143, grid(11, 13)),
    "hub": (700, star(699) + [(v, v + 1) for v in range(1, 600, 3)]),
    "dense": (60, random_graph(60, 900, seed=1)),
    "sparse": (300, random_graph(300, 500, seed=2)),
    "two batches": (640, random_graph(640, 1500, seed=3)),
    "parts": union((20, cycle(20)), (3, []), (30, random_graph(30, 60, seed=4))),
}


@lru_cache(maxsize=2)
def distances(n: int, arcs: tuple[tuple[int, int], ...]) -> list[list[int | None]]:
    """Of the oracle, for several tests in turn."""
    return oracles.shortest_paths(n, list(arcs))[0]


class Case:
    """A graph, sources, and the distances from each by the oracle."""

    def __init__(self, n: int, arcs: Arcs, directed: bool, sources: list[int]) -> None:
        self.graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, directed)
        self.sources = torch.tensor(sources, dtype=I64, device=DEVICE)
        rows = distances(n, tuple(arcs if directed else oracles.both_ways(arcs)))
        self.rows = [[-1 if d is None else d for d in rows[s]] for s in sources]

    def control(self) -> Tensor:
        return torch.tensor([0, 0, 1 << 30, 0])

    def arrays(self) -> tuple[Tensor, ...]:
        return (self.graph.rowptr, self.graph.col, *self.graph.transpose, self.sources)

    def new(self, *size: int, dtype: torch.dtype = F64) -> Tensor:
        return torch.zeros(size, dtype=dtype, device=DEVICE)


def four_sums(pairs: list[tuple[int, int]]) -> list[float]:
    """Of (distance, how often): d, 1/d, 1/(d + 1), pairs."""
    far = [(d, k) for d, k in pairs if d > 0]
    return [
        math.fsum(k * d for d, k in far),
        math.fsum(k / d for d, k in far),
        math.fsum(k / (d + 1) for d, k in far),
        sum(k for _, k in far),
    ]


def check(case: Case, leaves: list[int], threads: int, one_by_one: bool = False) -> None:
    n, k = case.graph.num_nodes, case.sources.numel()
    sums, farthest = case.new(n, 4), case.new(n, dtype=I32)
    levels, control = case.new(n + 1, dtype=I64), case.control()
    hanging = torch.tensor(leaves, dtype=I32, device=DEVICE)
    way = {"one_by_one": one_by_one}
    ops.distance_sums(*case.arrays(), hanging, sums, farthest, levels, control, threads, **way)
    pairs = [
        [(row[v], 1) for row in case.rows if row[v] >= 0]
        + [(row[v] + 1, more) for row, more in zip(case.rows, leaves, strict=True) if row[v] >= 0]
        for v in range(n)
    ]
    expected = torch.tensor([four_sums(of) for of in pairs], dtype=F64).reshape(n, 4)
    torch.testing.assert_close(sums.cpu(), expected, rtol=1e-12, atol=0)
    assert farthest.tolist() == [max((d for d, more in of if more), default=0) for of in pairs]
    found = Counter(d for row in case.rows for d in row)
    assert levels.tolist() == [found[d] for d in range(n + 1)]
    assert control.tolist()[:2] == [0, k]

    sums, farthest = case.new(k, 4), case.new(k, dtype=I32)
    ops.source_sums(*case.arrays(), sums, farthest, case.control(), threads, **way)
    expected = torch.tensor([four_sums([(d, 1) for d in row]) for row in case.rows], dtype=F64)
    torch.testing.assert_close(sums.cpu(), expected.reshape(k, 4), rtol=1e-12, atol=0)
    assert farthest.tolist() == [max(row) for row in case.rows]

    for dtype in (torch.int8, torch.int16, I32):
        out = torch.full((k, n), 77, dtype=dtype, device=DEVICE)
        failed = ops.distances(*case.arrays(), out, case.control(), threads, **way)
        assert failed == (max(found, default=0) > torch.iinfo(dtype).max)
        if not failed:
            assert out.tolist() == case.rows


#: searches one by one are on CUDA only
WAYS = [False, True] if DEVICE.type == "cuda" else [False]


@pytest.mark.parametrize("one_by_one", WAYS)
@pytest.mark.parametrize("limits", [[0], [2], [0, 1, 1, 3], [2, 4, 99], [99]])
@pytest.mark.parametrize("name", GRAPHS)
def test_limits(name, limits, one_by_one):
    """Only pairs within each limit count; all of them have the bits of a search of their own."""
    n, arcs = GRAPHS[name]
    case = Case(n, arcs, False, list(range(n))[:: 2 if name == "hub" else 1])
    k = len(case.sources)

    def found(limits):
        within, none = torch.tensor(limits), case.new(k, dtype=I32)
        sums, of_sources = case.new(n, len(limits), 4), case.new(k, len(limits), 4)
        rest = (case.control(), 2, within, one_by_one)
        farthest, levels = case.new(n, dtype=I32), case.new(0, dtype=I64)
        ops.distance_sums(*case.arrays(), none, sums, farthest, levels, *rest)
        ops.source_sums(*case.arrays(), of_sources, case.new(k, dtype=I32), *rest)
        return sums, of_sources

    sums, of_sources = found(limits)
    for at, limit in enumerate(limits):
        alone = found([limit])
        assert torch.equal(sums[:, at], alone[0][:, 0])
        assert torch.equal(of_sources[:, at], alone[1][:, 0])
        near = [[d if d <= limit else -1 for d in row] for row in case.rows]
        expected = [four_sums([(row[v], 1) for row in near if row[v] >= 0]) for v in range(n)]
        expected = torch.tensor(expected, dtype=F64).reshape(n, 4)
        torch.testing.assert_close(sums[:, at].cpu(), expected, rtol=1e-12, atol=0)
        expected = [four_sums([(d, 1) for d in row if d >= 0]) for row in near]
        expected = torch.tensor(expected, dtype=F64).reshape(k, 4)
        torch.testing.assert_close(of_sources[:, at].cpu(), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("one_by_one", WAYS)
def test_leaves_have_no_limits(one_by_one):
    n, arcs = GRAPHS["grid"]
    case = Case(n, arcs, False, [0, 7])
    leaves = torch.tensor([0, 1], dtype=I32, device=DEVICE)
    rest = (case.new(n, dtype=I32), case.new(0, dtype=I64), case.control(), 2)
    with pytest.raises(ValueError, match="leaves have no limits"):
        ops.distance_sums(
            *case.arrays(), leaves, case.new(n, 1, 4), *rest, torch.tensor([3]), one_by_one
        )


@pytest.mark.skipif(DEVICE.type == "cuda", reason="CUDA has them")
def test_searches_one_by_one_are_for_cuda():
    case = Case(*GRAPHS["grid"], False, [0, 7])
    rest = (case.new(2, dtype=I32), case.control(), 2)
    with pytest.raises(ValueError, match="one by one on CUDA only"):
        ops.source_sums(*case.arrays(), case.new(2, 4), *rest, one_by_one=True)


@pytest.mark.parametrize("one_by_one", WAYS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_named_graphs(name, directed, threads, one_by_one):
    n, arcs = GRAPHS[name]
    sources = list(range(n))[:: 2 if name == "hub" else 1]
    leaves = [v % 5 * (v % 3 == 0) for v in sources]
    check(Case(n, arcs, directed, sources), leaves, threads, one_by_one)


@given(
    graph=arc_lists().filter(lambda graph: graph[0] > 0), directed=st.booleans(), data=st.data(),
    one_by_one=st.sampled_from(WAYS),
)  # fmt: skip
@settings(max_examples=100)
def test_random_graphs(graph, directed, data, one_by_one):
    n, arcs = graph
    # more sources than the narrow rows have lanes
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=200))
    leaves = data.draw(
        st.lists(st.integers(0, 9), min_size=len(sources), max_size=len(sources)), label="leaves"
    )
    check(Case(n, arcs, directed, sources), leaves, 2, one_by_one)


def test_vertices_of_many_slots():
    """Those of more than 2,048 slots, of which a block takes 64 of a level together."""
    hubs, each = 70, 2100
    arcs = [(0, 1 + hub) for hub in range(hubs)]
    arcs += [(1 + hub, 1 + hubs + leaf) for hub in range(hubs) for leaf in range(each)]
    n = 1 + hubs + each
    case = Case.__new__(Case)
    case.graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, True)
    case.sources = torch.tensor([0, 5, n - 1, 0], dtype=I64, device=DEVICE)
    of_all = [0] + hubs * [1] + each * [2]
    of_hub = [-1] * 5 + [0] + [-1] * (hubs - 5) + each * [1]
    case.rows = [of_all, of_hub, [-1] * (n - 1) + [0], of_all]
    for one_by_one in WAYS:
        check(case, [0, 3, 0, 1], 2, one_by_one)


@pytest.mark.parametrize("one_by_one", WAYS)
def test_the_bits_do_not_depend_on_the_threads(one_by_one):
    n, arcs = GRAPHS["two batches"]
    case = Case(n, arcs, False, [])
    case.sources = torch.arange(n).repeat(3).to(DEVICE)
    results = []
    for threads in (1, 2, 3, 3):
        sums = case.new(n, 4)
        rest = (case.new(n, dtype=I32), case.new(0, dtype=I64), case.control(), threads)
        none = case.new(3 * n, dtype=I32)
        ops.distance_sums(*case.arrays(), none, sums, *rest, one_by_one=one_by_one)
        results.append(sums)
    assert all(torch.equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("one_by_one", WAYS)
def test_a_cancelled_run_stops(one_by_one):
    case = Case(*GRAPHS["grid"], False, [0, 7])
    control = torch.tensor([1, 0, 1 << 30, 0])
    sums = case.new(2, 4)
    rest = (case.new(2, dtype=I32), control, 2)
    ops.source_sums(*case.arrays(), sums, *rest, one_by_one=one_by_one)
    assert control[1] == 0


@given(graph=arc_lists(max_nodes=30), size=st.integers(1, 9))
def test_clusters_are_an_order(graph, size):
    n, arcs = graph
    made = torchcent.Graph.from_edge_index(edge_index(arcs).cpu(), n, False)
    assert sorted(ops.clusters(made.rowptr, made.col, size).tolist()) == list(range(n))


def test_clusters_are_balls():
    """On a path every run of vertices is connected, and on a grid the runs are compact."""
    made = torchcent.Graph.from_edge_index(edge_index(path(64)).cpu(), 64, False)
    for ball in ops.clusters(made.rowptr, made.col, 8).split(8):
        assert int(ball.max() - ball.min()) == 7
    side = 32
    made = torchcent.Graph.from_edge_index(edge_index(grid(side, side)).cpu(), None, False)
    balls = ops.clusters(made.rowptr, made.col, 64).split(64)
    extents = [
        max(int((x := ball // side).max() - x.min()), int((y := ball % side).max() - y.min()))
        for ball in balls
    ]
    assert sorted(extents)[len(extents) // 2] < side / 2
