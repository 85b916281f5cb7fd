"""What the tensor engine of the distance measures adds, as the operators do (test_bits.py)."""

import oracles
import pytest
import torch
from graphs import arc_lists, edge_index, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.engines import _tensor
from torchcent.engines._tensor import _distances

pytestmark = pytest.mark.sweep

F64 = torch.float64


def csr(arcs: oracles.Arcs, n: int) -> tuple[Tensor, Tensor]:
    columns = torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    graph = Graph.from_edge_index(columns, n)
    return graph.rowptr, graph.col


@given(data=st.data())
@settings(max_examples=60)
def test_vertex_sums(data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    leaves = data.draw(st.lists(st.integers(0, 9), min_size=len(sources), max_size=len(sources)))
    wanted = data.draw(st.booleans(), label="levels wanted")
    distance = oracles.distances(n, arcs, directed=True)
    sums = torch.full((n, 4), 7.0, dtype=F64)
    eccentricity = torch.full((n,), 2, dtype=torch.int32)
    levels = torch.full((n + 1 if wanted else 0,), 3)
    _distances.distance_sums(
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
@settings(max_examples=60)
def test_source_sums(data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    distance = oracles.distances(n, arcs, directed=True)
    sums = torch.full((len(sources), 4), 7.0, dtype=F64)
    eccentricity = torch.zeros(len(sources), dtype=torch.int32)
    _distances.source_sums(*csr(arcs, n), torch.tensor(sources), sums, eccentricity)
    for i, s in enumerate(sources):
        hops = [d for d in distance[s] if d]
        expected = [sum(hops), sum(1 / d for d in hops), sum(1 / (d + 1) for d in hops), len(hops)]
        assert sums[i].tolist() == pytest.approx([7 + x for x in expected], rel=1e-12)
        assert eccentricity[i] == max(hops, default=0)


@pytest.mark.parametrize("lanes", [1, 65, 300])
def test_batches(lanes):
    """However many sources there are."""
    n, arcs = 700, random_graph(700, 2500, seed=1)
    arrays = csr(arcs, n)
    sources = torch.randperm(n, generator=torch.Generator().manual_seed(lanes))[:lanes]
    distance = oracles.distances(n, arcs, directed=True)
    alone = torch.tensor([[-1 if d is None else d for d in distance[s]] for s in sources])
    sums, eccentricity = torch.zeros(n, 4, dtype=F64), torch.zeros(n, dtype=torch.int32)
    levels = torch.zeros(n + 1, dtype=torch.int64)
    _distances.distance_sums(
        *arrays, sources, torch.zeros(lanes, dtype=torch.int32), sums, eccentricity, levels
    )
    finite = alone.clamp(min=0)
    assert sums[:, 0].tolist() == finite.sum(0).tolist()
    assert sums[:, 3].tolist() == (alone > 0).sum(0).tolist()
    assert eccentricity.tolist() == finite.max(0).values.tolist()
    assert torch.equal(levels, torch.bincount(alone[alone >= 0], minlength=n + 1))
    sums, eccentricity = torch.zeros(lanes, 4, dtype=F64), torch.zeros(lanes, dtype=torch.int32)
    _distances.source_sums(*arrays, sources, sums, eccentricity)
    assert sums[:, 0].tolist() == finite.sum(1).tolist()
    assert eccentricity.tolist() == finite.max(1).values.tolist()


def test_lanes_follow_the_memory():
    n = 2000
    graph = Graph.from_edge_index(edge_index(random_graph(n, 6000, seed=2)), n, directed=False)
    memory = graph.nbytes * 2 + 100 * n + 3 * _tensor.memory_needed(n, graph.num_slots, 1)
    plan = torchcent.explain(
        graph, measure="distance_profile", run=torchcent.Run(engine="tensor", memory=memory)
    )
    assert 1 <= plan.lanes <= 4 and plan.memory <= memory
    options = {"engine": "tensor", "dtype": F64, "sources": torch.arange(20)}
    few = call(torchcent.distance_profile, graph, memory=memory, **options)
    many = call(torchcent.distance_profile, graph, **options)
    assert torch.equal(few.farness, many.farness)
