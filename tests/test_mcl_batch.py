"""Markov clustering of many graphs at once: what each gives alone."""

import pytest
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from surface import call
from torch import Tensor

import torchcent
from torchcent import Prune

pytestmark = pytest.mark.sweep

Part = tuple[Tensor, Tensor, int]


def drawn(n: int, seed: int) -> Part:
    """Vertices in two loose groups, edges with similarities, some of them 0."""
    chance = torch.Generator().manual_seed(seed)
    edges = torch.randint(max(n, 1), (2, 3 * n), generator=chance)
    near = edges % 2
    edges = edges[:, (near[0] == near[1]) | (torch.rand(3 * n, generator=chance) < 0.2)]
    weight = torch.rand(edges.shape[1], generator=chance).double()
    weight[::7] = 0
    return edges.to(DEVICE), weight.to(DEVICE), n


def union(parts: list[Part]) -> tuple[Tensor, Tensor, Tensor]:
    """Edges, similarities and the first vertex of each graph."""
    size = torch.tensor([0, *(n for _, _, n in parts)])
    ptr = size.cumsum(0)
    none = torch.zeros(2, 0, dtype=torch.int64, device=DEVICE)
    edges = [part[0] + int(first) for part, first in zip(parts, ptr, strict=False)]
    return (
        torch.cat([none, *edges], 1),
        torch.cat([none[0].double(), *(part[1] for part in parts)]),
        ptr.to(DEVICE),
    )


def graphs(ptr: Tensor) -> Tensor:
    """The graph of each vertex."""
    return torch.repeat_interleave(torch.arange(ptr.numel() - 1, device=ptr.device), ptr.diff())


def assert_as_alone(parts: list[Part], **options: object) -> torchcent.Clustering:
    while parts and parts[-1][2] == 0:  # a batch says nothing of empty graphs at its end
        parts = parts[:-1]
    edges, weight, ptr = union(parts)
    found = call(torchcent.mcl, edges, weight, batch=graphs(ptr), directed=False, **options)
    assert found.cluster_ptr is not None
    first = found.cluster_ptr.tolist()
    clusters = found.clusters()
    overlaps = found.overlaps.tolist()
    for number, (own, similarity, n) in enumerate(parts):
        alone = call(torchcent.mcl, own, similarity, num_nodes=n, directed=False, **options)  # type: ignore[arg-type]
        begin = int(ptr[number])
        labels = found.labels[begin : begin + n] - first[number]
        assert labels.tolist() == alone.labels.tolist()
        theirs = [cluster + begin for cluster in alone.clusters()]
        for one, other in zip(clusters[first[number] : first[number + 1]], theirs, strict=True):
            assert torch.equal(one, other)
        assert [v - begin for v in overlaps if begin <= v < begin + n] == alone.overlaps.tolist()
        assert alone.converged and (n == 0 or found.iterations >= alone.iterations)
    assert found.converged and first[-1] == found.num_clusters == len(clusters)
    return found


@pytest.mark.parametrize("engine", ["auto", "dense", "fused", "tensor"])
def test_as_alone(engine: str) -> None:
    if engine == "fused" and not has_kernel("mcl_iterate", DEVICE):
        pytest.skip("there is no compiled operator")
    parts = [drawn(n, n) for n in (12, 0, 1, 40, 2, 64, 65, 97)]
    found = assert_as_alone(parts, engine=engine)
    assert found.engine.startswith("dense" if engine == "auto" else engine)


def test_large_graphs_are_alone(tuning) -> None:
    tuning(mcl_largest=20)
    parts = [drawn(n, n) for n in (15, 70, 20, 21, 3)]
    found = assert_as_alone(parts, engine="dense")
    assert found.engine == "dense"
    if has_kernel("mcl_iterate", DEVICE):
        assert assert_as_alone(parts).engine.split(", ")[0] == "dense"


@pytest.mark.parametrize(
    "options",
    [
        {"inflation": 1.4},
        {"inflation": 3.3, "overlap": "split"},
        {"overlap": "keep", "prune": Prune(0.02, 4, 6, 0.8)},
        {"prune": None, "loops": "one", "chaos": 1e-3},
        {"expansion": 3, "loops": None},
    ],
)  # fmt: skip
def test_options(options: dict) -> None:
    assert_as_alone([drawn(n, 50 + n) for n in (30, 9, 31, 33, 5)], **options)


def test_empty_graphs_at_the_end() -> None:
    """Which `ptr` of a Graph has, and a batch has not."""
    edges, _, ptr = union([drawn(12, 1), drawn(0, 2), drawn(7, 3), drawn(0, 4), drawn(0, 5)])
    graph = torchcent.Graph.from_edge_index(edges, 19, directed=False, ptr=ptr)
    found = torchcent.mcl(graph)
    assert found.cluster_ptr is not None and found.cluster_ptr.numel() == 6
    first = found.cluster_ptr.tolist()
    assert first[1] == first[2] and first[3] == first[4] == first[5] == found.num_clusters
    for begin, end, place in ((0, 12, 0), (12, 19, 2)):
        own = edges[:, (edges[0] >= begin) & (edges[0] < end)] - begin
        alone = torchcent.mcl(own, num_nodes=end - begin, directed=False)
        assert (found.labels[begin:end] - first[place]).tolist() == alone.labels.tolist()


@settings(max_examples=15)
@given(st.lists(st.integers(0, 20), max_size=6), st.integers(0, 1000))
def test_any_batch(sizes: list[int], seed: int) -> None:
    assert_as_alone([drawn(n, seed + i) for i, n in enumerate(sizes)])


def test_blocks_do_not_matter(tuning) -> None:
    """How many graphs are side by side leaves labels and flow as they are."""
    edges, weight, ptr = union([drawn(14 + i % 3, i) for i in range(30)])
    whole = call(torchcent.mcl, edges, weight, batch=graphs(ptr), directed=False, return_flow=True)
    tuning(
        mcl_block=600,
        mcl_block_on_accelerator=600,
    )
    parts = call(torchcent.mcl, edges, weight, batch=graphs(ptr), directed=False, return_flow=True)
    assert torch.equal(parts.labels, whole.labels)
    assert parts.chaos_history == pytest.approx(whole.chaos_history, rel=1e-4, abs=1e-9)
    assert whole.flow is not None and parts.flow is not None
    torch.testing.assert_close(parts.flow.to_dense(), whole.flow.to_dense())
    sums = whole.flow.to_dense().sum(0)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_batch_and_ptr() -> None:
    edges, weight, ptr = union([drawn(6, 1), drawn(7, 2)])
    batch = torch.repeat_interleave(ptr.diff())
    by_ptr = call(torchcent.mcl, edges, weight, batch=graphs(ptr), directed=False)
    by_batch = torchcent.mcl(edges, weight, batch=batch, directed=False)
    assert torch.equal(by_ptr.labels, by_batch.labels)
    graph = torchcent.Graph.from_edge_index(
        edges[:, weight > 0], 13, directed=False, batch=graphs(ptr)
    )
    assert torchcent.mcl(graph).cluster_ptr is not None
    with pytest.raises(ValueError, match="12"):
        torchcent.mcl(edges, weight, batch=batch[:-1], directed=False)


def test_too_few_iterations() -> None:
    edges, weight, ptr = union([drawn(30, 1), drawn(2, 2), drawn(31, 3)])
    with pytest.warns(UserWarning, match="not converged"):
        found = call(torchcent.mcl, edges, weight, batch=graphs(ptr), directed=False, max_iter=2)
    assert not found.converged and found.iterations == 2


def test_nothing() -> None:
    found = call(torchcent.mcl, torch.zeros(2, 0, dtype=torch.int64), ptr=torch.tensor([0, 0, 0]))
    assert found.num_clusters == 0 and found.cluster_ptr is not None
    assert found.cluster_ptr.tolist() == [0, 0, 0]
