"""Graphs that change on CUDA, beside the same ones on the CPU, which test_dynamic.py compares."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from graphs import edge_index, path
from histories import EXACT, History
from internals import COMPILED_FOR_CUDA

import torchcent
from torchcent import (
    DynamicBetweenness,
    DynamicBetweennessApprox,
    DynamicCloseness,
    DynamicCounts,
    DynamicEdgeBetweenness,
    DynamicGraph,
    DynamicKatz,
    DynamicPageRank,
    Run,
)

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

F64 = torch.float64


class Both:
    """A graph on the CPU, and the same on CUDA."""

    def __init__(self, host: DynamicGraph) -> None:
        self.host = host
        self.cuda = DynamicGraph(host.snapshot().to("cuda"))

    def update(self, *batches: torch.Tensor, **options: Any) -> torchcent.dynamic.Update:
        there = self.cuda.update(*(each.cuda() for each in batches), **options)
        here = self.host.update(*batches, **options)
        counts = ("inserted", "deleted", "ignored", "vertices")
        assert all(getattr(here, name) == getattr(there, name) for name in counts)
        assert self.cuda.snapshot() == self.host.snapshot().to("cuda")
        return here

    def __getattr__(self, name: str) -> Any:
        return getattr(self.host, name)


def history_of(n: int, directed: bool, seed: int) -> History:
    history = History(n, directed, random.Random(seed))
    history.graph = Both(history.graph)
    edges = torch.randint(n, (2, 3 * n), generator=torch.Generator().manual_seed(seed))
    history.graph.update(edges, strict=False)
    stored = history.graph.host.snapshot().to_edge_index().T.tolist()
    history.edges = {history.one(*arc) for arc in stored}
    return history


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_rows_have_the_bits_of_the_cpu(directed: bool, seed: int) -> None:
    history = history_of(40 + 30 * seed, directed, seed)
    both, pivots = history.graph, torch.arange(0, 30, 3)
    options = [{"state": "rows"}, {"state": "none"}, {"state": "rows", "sources": pivots}]
    here = [DynamicBetweenness(both.host, **each) for each in options]
    there = [DynamicBetweenness(both.cuda, **on_cuda(each)) for each in options]
    narrow = DynamicBetweenness(both.cuda, state="rows")
    narrow._narrow = True
    anew = repaired = 0
    for _ in range(40):
        history.step()
        for host, cuda in zip(here, there, strict=True):
            assert cuda.scores.is_cuda and torch.equal(host.scores, cuda.scores.cpu())
            assert torch.equal(host.changed, cuda.changed.cpu())
        assert there[0].statistics.sources == here[0].statistics.sources
        anew += there[0].statistics.recomputed
        repaired += there[0].statistics.sources - there[0].statistics.recomputed
        torch.testing.assert_close(narrow.scores.cpu(), here[0].scores, rtol=1e-6, atol=1e-9)
    assert anew > 0 and repaired > 0
    fresh = DynamicBetweenness(both.cuda, state="rows")
    fresh._narrow = True
    assert torch.equal(narrow.scores, fresh.scores)


def on_cuda(options: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.cuda() if isinstance(value, torch.Tensor) else value
        for name, value in options.items()
    }


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_other_measures_follow(directed: bool) -> None:
    history = history_of(80, directed, 7)
    both = history.graph
    makers = [
        *((DynamicCloseness, {"measure": m}) for m in ("closeness", "harmonic", "eccentricity")),
        *((DynamicCounts, {"measure": m}) for m in ("degree", "core_number")),
        (DynamicCounts, {"measure": "clustering_coefficient"}),
        (DynamicEdgeBetweenness, {}), (DynamicBetweenness, {}),
        (DynamicPageRank, {}), (DynamicKatz, {"alpha": None}),
    ]  # fmt: skip
    if not directed:
        makers.append((DynamicCounts, {"measure": "triangles"}))
    graphs = both.host, both.cuda
    pairs = [[make(graph, **more) for graph in graphs] for make, more in makers]
    for _ in range(12):
        history.step()
        for host, cuda in pairs:
            assert cuda.scores.is_cuda and cuda.changed.is_cuda
            torch.testing.assert_close(cuda.scores.cpu(), host.scores, rtol=1e-6, atol=1e-9)


def test_long_distances() -> None:
    graph = DynamicGraph(edge_index(path(600)).cuda(), directed=False)
    between = DynamicBetweenness(graph, state="rows")
    shortcut = torch.tensor([[3], [590]])
    for change in ({"insert": shortcut}, {"delete": shortcut}):
        graph.update(**change)
        known = torchcent.betweenness(graph.snapshot().to("cpu"), run=EXACT)
        torch.testing.assert_close(between.scores.cpu(), known, rtol=1e-12, atol=1e-15)


def test_rows_that_nearly_fill_shared_memory() -> None:
    """With what a block has of its own, they are beyond what a launch has without asking."""
    n = 46_000
    star = torch.stack([torch.zeros(n - 1, dtype=torch.int64), torch.arange(1, n)])
    graph = DynamicGraph(star.cuda(), n, directed=False)
    between = DynamicBetweenness(graph, sources=torch.arange(4).cuda(), state="rows")
    graph.update(insert=torch.tensor([[1], [2]]))
    known = torchcent.betweenness(graph.snapshot(), sources=torch.arange(4).cuda())
    torch.testing.assert_close(between.scores, known, rtol=1e-6, atol=1e-12, check_dtype=False)


def test_hubs_and_many_rows() -> None:
    """More rows than blocks, hubs that blocks share, and a batch of which all is part."""
    edges = torchcent.generate.ba(9000, 4, seed=2)
    here, there = (DynamicGraph(each, directed=False) for each in (edges, edges.cuda()))
    pivots = torch.arange(8500)
    host = DynamicBetweenness(here, state="rows", sources=pivots)
    cuda = DynamicBetweenness(there, state="rows", sources=pivots.cuda())
    assert torch.equal(host.scores, cuda.scores.cpu())
    for change in (
        {"insert": torch.tensor([[17, 8000], [8999, 4500]]), "strict": False},
        {"delete": edges[:, 1000:1004]}, {"delete": edges[:, :3000], "strict": False},
    ):  # fmt: skip
        here.update(**change)
        there.update(**change)
        assert torch.equal(host.scores, cuda.scores.cpu())
        assert host.statistics.sources == cuda.statistics.sources


def test_too_many_paths() -> None:
    diamonds = [
        (3 * i + a, 3 * i + b) for i in range(60) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))
    ]
    graph = DynamicGraph(edge_index(diamonds).cuda(), directed=False)
    with pytest.raises(OverflowError, match="too many shortest paths"):
        assert DynamicBetweenness(graph, state="rows").scores.numel()
    known = torchcent.betweenness(graph.snapshot(), run=Run(dtype=F64))
    assert torch.equal(DynamicBetweenness(graph).scores, known)


def test_what_is_on_the_cpu_alone() -> None:
    graph = DynamicGraph(edge_index(path(9)).cuda(), directed=False)
    assert graph.device.type == "cuda"
    with pytest.raises(ValueError, match=r"DynamicBetweennessApprox is for graphs on the CPU"):
        DynamicBetweennessApprox(graph, 0.1)
    with pytest.raises(ValueError, match=r"state='rows' is for graphs on the CPU"):
        DynamicCloseness(graph, state="rows")


def test_memory_is_stated() -> None:
    graph = DynamicGraph(torchcent.generate.ba(3000, 3, seed=1).cuda(), directed=False)
    with pytest.raises(MemoryError, match="state='rows' needs"):
        DynamicBetweenness(graph, state="rows", run=Run(memory=10**6))


def test_files(tmp_path: Any) -> None:
    """Rows go on, on the CPU."""
    graph = DynamicGraph(torchcent.generate.ba(200, 3, seed=1).cuda(), directed=False)
    between = DynamicBetweenness(graph, state="rows")
    graph.update(insert=torch.tensor([[0], [199]]), strict=False)
    scores = between.scores
    graph.save(tmp_path / "graph.pt", between)
    other, [read] = DynamicGraph.load(tmp_path / "graph.pt")
    assert torch.equal(read.scores, scores.cpu())
    other.update(delete=torch.tensor([[0], [199]]), strict=False)
    graph.update(delete=torch.tensor([[0], [199]]), strict=False)
    assert torch.equal(read.scores, between.scores.cpu())
