"""The bits engine on CUDA where its rows exceed the cache: small frontiers are pushed, rows without
lanes are not read, and searches that have ended are not waited for."""

import pytest
import torch
from internals import COMPILED_FOR_CUDA

import torchcent
from torchcent import Graph, Run

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

N = 2_200_000  # rows of a batch take 141 MB (csrc/distances/cuda/bits.cuh, kCachedRows)
BITS = Run(engine="bits")
SEARCH = BITS | Run(dtype=torch.float64)


def edges(count: int, below: int) -> torch.Tensor:
    """So many random edges, some vertices in none, a path, and hubs whose neighbours are too many
    for a push, or not."""
    chance = torch.Generator().manual_seed(1)
    line = torch.arange(below, below + 40)
    spokes = torch.arange(below, below + 6000)
    return torch.cat(
        [
            torch.randint(below, (2, count), generator=chance),
            torch.stack([line, line + 1]),
            torch.stack([torch.zeros_like(spokes), spokes]),
            torch.stack([torch.ones(N // 2, dtype=torch.long), torch.arange(N // 2)]),
        ],
        1,
    )


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def graph(request: pytest.FixtureRequest) -> Graph:
    count = 14 * N if request.param else 7 * N
    return Graph.from_edge_index(edges(count, N - 10_000), num_nodes=N, directed=request.param)


def test_large_rows(graph: Graph) -> None:
    """Sums of vertices and of sources, and rows, as on the CPU."""
    there = graph.to("cuda")
    some = torch.randperm(N, generator=torch.Generator().manual_seed(2))
    several = torch.cat([some[:518], torch.tensor([1, N - 9980])])  # the second batch is not full
    expected = torchcent.distance_profile(graph, sources=several, run=SEARCH)
    found = torchcent.distance_profile(there, sources=several.cuda(), run=SEARCH)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, torch.Tensor):
            torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-12, atol=0, equal_nan=True)
    own = torchcent.closeness(there, vertices=several.cuda(), run=SEARCH)
    theirs = torchcent.closeness(graph, vertices=several, run=SEARCH)
    torch.testing.assert_close(own.cpu(), theirs, rtol=1e-12, atol=0)
    few = several[-40:]
    rows = torchcent.shortest_path_lengths(there, sources=few.cuda(), dtype=torch.int16, run=BITS)
    expected = torchcent.shortest_path_lengths(graph, sources=few, dtype=torch.int16, run=BITS)
    assert torch.equal(rows.cpu(), expected)


@pytest.mark.parametrize("cutoff", [0, 2, [1, 3, 4]])
def test_limits(graph: Graph, cutoff: int | list[int]) -> None:
    sources = torch.arange(0, N, 4000)
    expected = torchcent.harmonic(graph, sources=sources, cutoff=cutoff, run=SEARCH)
    found = torchcent.harmonic(graph.to("cuda"), sources=sources.cuda(), cutoff=cutoff, run=SEARCH)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-12, atol=0)
