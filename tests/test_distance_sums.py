"""What the engines of the distance measures add: the tensor engine and the compiled operators."""

import os

import oracles
import pytest
import torch
from graphs import arc_lists, edge_index, path, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import torchcent
from torchcent import Graph, _ops, _tensor
from torchcent._tensor import _distances

F64 = torch.float64


class TensorEngine:
    """The operators' calls, on the tensor engine."""

    @staticmethod
    def distance_sums(rowptr, col, colptr, row, *arguments: Tensor) -> None:
        _distances.distance_sums(rowptr, col, *arguments)

    @staticmethod
    def source_sums(rowptr, col, colptr, row, *arguments: Tensor) -> None:
        _distances.source_sums(rowptr, col, *arguments)

    @staticmethod
    def distances(rowptr, col, colptr, row, *arguments: Tensor) -> int:
        return _distances.distances(rowptr, col, *arguments)


class Operators:
    @staticmethod
    def distance_sums(*arguments: Tensor) -> None:
        _ops.ops.distance_sums(*arguments, torch.zeros(3, dtype=torch.int64), 2)

    @staticmethod
    def source_sums(*arguments: Tensor) -> None:
        _ops.ops.source_sums(*arguments, torch.zeros(3, dtype=torch.int64), 2)

    @staticmethod
    def distances(*arguments: Tensor) -> int:
        return _ops.ops.distances(*arguments, torch.zeros(3, dtype=torch.int64), 2)


@pytest.fixture(params=[TensorEngine, Operators], ids=["tensor", "bits"])
def calls(request):
    if request.param is Operators and os.environ.get("TORCHCENT_NO_EXTENSION"):
        pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators")
    return request.param


def csr(arcs: oracles.Arcs, n: int) -> tuple[Tensor, ...]:
    columns = torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    graph = Graph.from_edge_index(columns, n)
    return graph.rowptr, graph.col, *graph.transpose


@given(data=st.data())
@settings(max_examples=100)
def test_vertex_sums(calls, data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    leaves = data.draw(st.lists(st.integers(0, 9), min_size=len(sources), max_size=len(sources)))
    wanted = data.draw(st.booleans(), label="levels wanted")
    distance = oracles.distances(n, arcs, directed=True)
    sums = torch.full((n, 4), 7.0, dtype=F64)
    eccentricity = torch.full((n,), 2, dtype=torch.int32)
    levels = torch.full((n + 1 if wanted else 0,), 3)
    calls.distance_sums(
        *csr(arcs, n), torch.tensor(sources), torch.tensor(leaves, dtype=torch.int32), sums,
        eccentricity, levels,
    )  # fmt: skip
    for v in range(n):
        hops = [distance[s][v] for s in sources if distance[s][v]]
        for s, count in zip(sources, leaves, strict=True):
            if distance[s][v] is not None:
                hops += [distance[s][v] + 1] * count
        expected = [sum(hops), sum(1 / d for d in hops), sum(1 / (d + 1) for d in hops), len(hops)]
        assert sums[v].tolist() == pytest.approx([7 + x for x in expected], rel=1e-12)
        assert eccentricity[v] == max([2, *hops])
    if wanted:
        found = [distance[s][v] for s in sources for v in range(n)]
        assert levels.tolist() == [3 + found.count(d) for d in range(n + 1)]


@given(data=st.data())
@settings(max_examples=100)
def test_source_sums(calls, data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    distance = oracles.distances(n, arcs, directed=True)
    sums = torch.full((len(sources), 4), 7.0, dtype=F64)
    eccentricity = torch.zeros(len(sources), dtype=torch.int32)
    calls.source_sums(*csr(arcs, n), torch.tensor(sources), sums, eccentricity)
    for i, s in enumerate(sources):
        hops = [d for d in distance[s] if d]
        expected = [sum(hops), sum(1 / d for d in hops), sum(1 / (d + 1) for d in hops), len(hops)]
        assert sums[i].tolist() == pytest.approx([7 + x for x in expected], rel=1e-12)
        assert eccentricity[i] == max(hops, default=0)


@given(data=st.data(), dtype=st.sampled_from([torch.int8, torch.int16, torch.int32]))
@settings(max_examples=60)
def test_rows(calls, data, dtype):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    distance = oracles.distances(n, arcs, directed=True)
    out = torch.full((len(sources), n), 99, dtype=dtype)
    assert calls.distances(*csr(arcs, n), torch.tensor(sources), out) == 0
    assert out.tolist() == [[-1 if d is None else d for d in distance[s]] for s in sources]


def test_rows_too_deep_for_their_dtype(calls):
    for n, result in ((128, 0), (129, 1)):
        out = torch.empty(1, n, dtype=torch.int8)
        assert calls.distances(*csr(path(n), n), torch.tensor([0]), out) == result


@pytest.mark.parametrize("lanes", [1, 64, 65, 130, 700])
def test_batches(calls, lanes):
    """However many sources there are, the sums are those of each on its own."""
    n = 700
    arrays = csr(random_graph(n, 2500, seed=1), n)
    sources = torch.randperm(n, generator=torch.Generator().manual_seed(lanes))[:lanes]
    rows = torch.empty(lanes, n, dtype=torch.int32)
    calls.distances(*arrays, sources, rows)
    alone = torch.stack([_row(arrays, int(s)) for s in sources])
    assert torch.equal(rows, alone)
    sums, eccentricity = torch.zeros(n, 4, dtype=F64), torch.zeros(n, dtype=torch.int32)
    levels = torch.zeros(n + 1, dtype=torch.int64)
    calls.distance_sums(
        *arrays, sources, torch.zeros(lanes, dtype=torch.int32), sums, eccentricity, levels
    )
    finite = alone.clamp(min=0)
    assert sums[:, 0].tolist() == finite.sum(0).tolist()
    assert sums[:, 3].tolist() == (alone > 0).sum(0).tolist()
    assert eccentricity.tolist() == finite.max(0).values.tolist()
    assert torch.equal(levels, torch.bincount(alone[alone >= 0], minlength=n + 1))
    sums, eccentricity = torch.zeros(lanes, 4, dtype=F64), torch.zeros(lanes, dtype=torch.int32)
    calls.source_sums(*arrays, sources, sums, eccentricity)
    assert sums[:, 0].tolist() == finite.sum(1).tolist()
    assert eccentricity.tolist() == finite.max(1).values.tolist()


def _row(arrays: tuple[Tensor, ...], source: int) -> Tensor:
    row = torch.empty(1, arrays[0].numel() - 1, dtype=torch.int32)
    _distances.distances(*arrays[:2], torch.tensor([source]), row)
    return row[0]


def test_lanes_follow_the_memory():
    columns = edge_index(random_graph(3000, 9000, seed=2))
    graph = Graph.from_edge_index(columns, 3000, directed=False)
    profile = torchcent.distance_profile(graph, engine="tensor", dtype=F64)
    memory = graph.nbytes * 2 + 100 * 3000 + 3 * _tensor.memory_needed(3000, graph.num_slots, 1)
    plan = torchcent.explain(graph, "distance_profile", engine="tensor", memory=memory)
    assert 1 <= plan.lanes <= 4 and plan.memory <= memory
    some = torchcent.distance_profile(
        graph, engine="tensor", dtype=F64, memory=memory, sources=torch.arange(20)
    )
    everything = torchcent.distance_profile(
        graph, engine="tensor", dtype=F64, sources=torch.arange(20)
    )
    assert torch.equal(some.farness, everything.farness)
    assert profile.farness.shape == some.farness.shape
