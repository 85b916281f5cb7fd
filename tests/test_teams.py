"""Searches that several threads share, where threads outnumber the sources: the bits of one."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from internals import COMPILED
from surface import call
from tuning import Tuning

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled kernels")
SOURCES = {
    "one": lambda n: torch.tensor([n // 3]),
    "two": lambda n: torch.tensor([0, n - 1]),
    "three": lambda n: torch.randperm(n, generator=torch.Generator().manual_seed(5))[:3],
}


def layers(count: int, width: int) -> torch.Tensor:
    """Complete bipartite layers, with width^(count - 2) shortest paths from end to end."""
    pairs = torch.cartesian_prod(torch.arange(width), torch.arange(width)).T
    down = torch.tensor([[0], [width]])
    return torch.cat([pairs + k * width + down for k in range(count - 1)], dim=1)


def behind_a_path(length: int) -> torch.Tensor:
    """A dense core at the end of a path: large levels below many small ones."""
    path = torch.stack([torch.arange(length), torch.arange(1, length + 1)])
    return torch.cat([path, generate.ba(2000, 20, seed=1) + length], dim=1)


GRAPHS = {
    "social": lambda: generate.ba(4000, 12, seed=3),
    "R-MAT": lambda: generate.rmat(12, 16, seed=2),
    "counts up to 2^53": lambda: layers(8, 180),
    "counts beyond 2^53": lambda: layers(10, 180),
    "core behind 40 levels": lambda: behind_a_path(40),
    "core behind 70 levels": lambda: behind_a_path(70),
    "road": lambda: generate.road(60, 60, seed=1),
    "two components": lambda: torch.cat(
        [generate.ba(2000, 20, seed=1), generate.ba(2000, 25, seed=2) + 2000], dim=1
    ),
}


@pytest.fixture
def at_once(tuning: Tuning) -> Iterator[None]:
    """Graphs of any size are shared."""
    tuning(shared_slots=0)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def scores(measure: str, graph: Graph, threads: int, **options: Any) -> torch.Tensor:
    torch.set_num_threads(threads)
    found: torch.Tensor = call(
        getattr(torchcent, measure),
        graph,
        normalized=False,
        dtype=torch.float64,
        engine="queue",
        progress=False,
        **options,
    )
    return found.nan_to_num(-1)  # a single source has no score of its own


@pytest.mark.sweep(by="measure name")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_bits_of_one_thread(measure: str, name: str, directed: bool, at_once: None) -> None:
    graph = Graph.from_edge_index(GRAPHS[name](), directed=directed)
    for of in SOURCES.values():
        sources = of(graph.num_nodes)
        known = scores(measure, graph, 1, sources=sources)
        for threads in (2, 3, 7):
            assert torch.equal(scores(measure, graph, threads, sources=sources), known)


@pytest.mark.parametrize("options", [{"endpoints": True}, {"targets": torch.arange(5, 900)}])
def test_endpoints_and_targets(options: dict[str, Any], at_once: None) -> None:
    graph = Graph.from_edge_index(GRAPHS["social"]())
    options["sources"] = torch.tensor([3, 77])
    known = scores("betweenness", graph, 1, **options)
    assert torch.equal(scores("betweenness", graph, 5, **options), known)
    other = call(
        torchcent.betweenness,
        graph,
        normalized=False,
        dtype=torch.float64,
        engine="tensor",
        **options,
    )
    torch.testing.assert_close(known, other, rtol=1e-9, atol=1e-9)


def test_linear_pivots(at_once: None) -> None:
    graph, found = Graph.from_edge_index(GRAPHS["social"]()), []
    for threads in (1, 4):
        torch.set_num_threads(threads)
        chance = torch.Generator().manual_seed(1)
        found.append(
            torchcent.betweenness_approx(
                graph, method="pivots", pivots="uniform+linear", max_samples=2, generator=chance
            ).scores
        )
    assert torch.equal(found[0], found[1])


def test_the_plan_gives_all_threads_to_few_searches(at_once: None, tuning: Tuning) -> None:
    torch.set_num_threads(6)
    graph = Graph.from_edge_index(GRAPHS["social"]())
    one, two = (
        torchcent.explain(graph, sources=count, run=torchcent.Run(engine="queue"))
        for count in (1, 2)
    )
    assert (one.threads, two.threads) == (6, 6)
    assert one.memory < two.memory  # of the searches, not of the threads
    assert torchcent.explain(graph, sources=9, run=torchcent.Run(engine="queue")).threads == 6
    tuning(shared_slots=graph.num_slots + 1)
    assert torchcent.explain(graph, sources=2, run=torchcent.Run(engine="queue")).threads == 2
