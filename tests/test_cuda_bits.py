"""The bits engine on CUDA where its rows exceed the cache: small frontiers are pushed, rows without
lanes are not read, and searches that have ended are not waited for."""

import pytest
import torch
from internals import COMPILED_FOR_CUDA

import torchcent
from torchcent import Graph, Run

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

N = 2_200_001  # rows of a batch take 141 MB (csrc/distances/workspace.h, looks_at_frontiers)
HALF = N // 2 - 10_000
BITS = Run(engine="bits")
SEARCH = BITS | Run(dtype=torch.float64)


def edges(count: int) -> torch.Tensor:
    """Two random graphs that a path joins, hubs whose neighbours are too many for a push, or not,
    and some vertices without edges. A search pushes, pulls, pushes along the path, and pulls."""
    chance = torch.Generator().manual_seed(1)
    line = torch.tensor([5, *range(2 * HALF, 2 * HALF + 20), HALF + 5])
    spokes = torch.arange(2 * HALF, 2 * HALF + 6000)
    parts = [torch.stack([line[:-1], line[1:]])]
    for first in (0, HALF):
        parts.append(first + torch.randint(HALF, (2, count // 2), generator=chance))
        parts.append(torch.stack([torch.full_like(spokes, first), spokes + first // 200]))
        many = torch.arange(HALF // 2)
        parts.append(torch.stack([torch.full_like(many, first + 1), many + first]))
    return torch.cat(parts, 1)


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def graph(request: pytest.FixtureRequest) -> Graph:
    count = 14 * N if request.param else 7 * N
    return Graph.from_edge_index(edges(count), num_nodes=N, directed=request.param)


def test_large_rows(graph: Graph) -> None:
    """Sums of vertices and of sources, and rows, as on the CPU."""
    there = graph.to("cuda")
    # Two waves of batches, the last of which is not full; most sources are on one side of the path.
    some = torch.randperm(HALF, generator=torch.Generator().manual_seed(2))[:1090]
    several = torch.cat([some[some != 1], torch.tensor([1, HALF + 3, 2 * HALF + 7, N - 1])])
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
