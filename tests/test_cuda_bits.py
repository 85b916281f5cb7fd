"""The bits engine on CUDA where its rows exceed the cache: small frontiers are pushed, rows without
lanes are not read, and searches that have ended are not waited for."""

import pytest
import torch
from internals import COMPILED_FOR_CUDA

import torchcent
from torchcent import Graph, Run, generate

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

N = 270_000  # rows of a batch take 17 MB (csrc/distances/cuda/bits.cuh, kCachedRows)
BITS = Run(engine="bits")
SEARCH = BITS | Run(dtype=torch.float64)


def random_edges(count: int, seed: int = 1) -> torch.Tensor:
    return torch.randint(N, (2, count), generator=torch.Generator().manual_seed(seed))


def wheel(spokes: int) -> torch.Tensor:
    """A hub with so many neighbours, in a random graph."""
    rim = torch.arange(1, spokes + 1)
    return torch.cat([torch.stack([torch.zeros_like(rim), rim]), random_edges(N)], 1)


def parts() -> torch.Tensor:
    """A random graph, a path, and single vertices."""
    line = torch.arange(N // 2, N // 2 + 40)
    return torch.cat([random_edges(3 * N) // 3, torch.stack([line, line + 1])], 1)


GRAPHS = {
    "random": lambda: random_edges(4 * N),
    "sparse": lambda: random_edges(N * 6 // 10),
    "dense": lambda: random_edges(30 * N),
    "long hub": lambda: wheel(N // 2),
    "short hub": lambda: wheel(6000),
    "parts": parts,
    "R-MAT": lambda: generate.rmat(18, 8),
    "small world": lambda: generate.ws(N, 6, 0.02),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_large_rows(name: str, directed: bool) -> None:
    """Sums of vertices and of sources, and rows, as on the CPU."""
    graph = Graph.from_edge_index(GRAPHS[name](), num_nodes=N, directed=directed)
    there = graph.to("cuda")
    some = torch.randperm(N, generator=torch.Generator().manual_seed(2))
    several = some[:520]  # two batches, the last of which is not full
    expected = torchcent.distance_profile(graph, sources=several, run=SEARCH)
    found = torchcent.distance_profile(there, sources=several.cuda(), run=SEARCH)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, torch.Tensor):
            torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-12, atol=0, equal_nan=True)
    own = torchcent.closeness(there, vertices=several.cuda(), run=SEARCH)
    theirs = torchcent.closeness(graph, vertices=several, run=SEARCH)
    torch.testing.assert_close(own.cpu(), theirs, rtol=1e-12, atol=0)
    few = some[:40]
    rows = torchcent.shortest_path_lengths(there, sources=few.cuda(), dtype=torch.int16, run=BITS)
    expected = torchcent.shortest_path_lengths(graph, sources=few, dtype=torch.int16, run=BITS)
    assert torch.equal(rows.cpu(), expected)


@pytest.mark.parametrize("cutoff", [0, 1, 2, 5, [1, 3, 4]])
def test_limits(cutoff: int | list[int]) -> None:
    graph = Graph.from_edge_index(random_edges(2 * N), num_nodes=N, directed=False)
    sources = torch.arange(0, N, 400)
    expected = torchcent.harmonic(graph, sources=sources, cutoff=cutoff, run=SEARCH)
    found = torchcent.harmonic(graph.to("cuda"), sources=sources.cuda(), cutoff=cutoff, run=SEARCH)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-12, atol=0)
