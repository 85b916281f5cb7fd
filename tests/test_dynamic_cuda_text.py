"""The text of the CUDA kernels for graphs that change, run on the CPU with a thread for a thread:
against the CPU's kernels, which test_dynamic.py compares with others."""

import ctypes
import random
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch
from graphs import DEVICE, edge_index, grid, path
from histories import EXACT, History, columns
from internals import has_kernel
from kernel_text import NEEDS_SOURCES, compiled
from torch import Tensor

from torchcent import DynamicBetweenness, DynamicGraph, betweenness

pytestmark = [
    NEEDS_SOURCES,
    pytest.mark.skipif(
        DEVICE.type != "cpu" or not has_kernel("dynamic_rows", DEVICE),
        reason="is compiled for the CPU",
    ),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled("dynamic_text", tmp_path_factory.mktemp("dynamic"))


class Text:
    """The operators, by the text of the kernels."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.outcomes = set[int]()

    def _call(self, name: str, arcs: list[Tensor], rows: list[Tensor], *rest: object) -> Tensor:
        sources, distance, paths, sums = rows
        outcome = torch.full((sources.numel(),), 9, dtype=torch.int8)
        graph = (ctypes.c_void_p * 4)(*(x.data_ptr() for x in arcs))
        flags = distance.dtype == torch.uint8, paths.dtype == torch.int64
        sizes = ctypes.c_int64(arcs[0].numel() - 1), ctypes.c_int64(sources.numel())
        at = (ctypes.c_void_p(x.data_ptr() if x.numel() else None) for x in (*rows, outcome))
        is_clean = getattr(self._library, name)(
            *map(ctypes.c_bool, flags), graph, *sizes, *at, *rest
        )
        assert is_clean  # the workspace, for the next call
        self.outcomes |= set(outcome.tolist())
        return outcome

    def dynamic_rows(
        self, arcs: list[Tensor], sources: Tensor, distance: Tensor, paths: Tensor, sums: Tensor,
        control: Tensor, room: Tensor, sign: int, threads: int,
    ) -> Tensor:  # fmt: skip
        rows = [sources, distance, paths, sums]
        return self._call("text_rows", arcs, rows, ctypes.c_int(sign))

    def dynamic_repair(
        self, arcs: list[Tensor], sources: Tensor, removed: Tensor, inserted: Tensor,
        distance: Tensor, paths: Tensor, sums: Tensor, control: Tensor, room: Tensor, threads: int,
    ) -> Tensor:  # fmt: skip
        changed = (
            each
            for arcs in (removed, inserted)
            for each in (ctypes.c_void_p(arcs.data_ptr()), ctypes.c_int64(arcs.shape[1]))
        )
        return self._call("text_repair", arcs, [sources, distance, paths, sums], *changed)


@contextmanager
def by_text(library: ctypes.CDLL) -> Iterator[Text]:
    """Within it, rows are computed and repaired by the text."""
    operators = Text(library)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchcent.dynamic._rows._ops", SimpleNamespace(ops=operators))
        yield operators


@pytest.mark.slow
@pytest.mark.sweep(by="state directed")
@pytest.mark.parametrize("state", ["rows", "none", "narrow"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_a_history(
    library: ctypes.CDLL, directed: bool, state: str, request: pytest.FixtureRequest
) -> None:
    """Batches of every size, of a graph that falls apart and joins again."""
    steps = 10 if request.config.option.part == 1 else 4
    history = History(20, directed, random.Random(5))
    history.edges = {history.one(*arc) for arc in grid(4, 5)}
    history.graph.update(insert=columns(history.edges))
    follows = DynamicBetweenness(history.graph, state="none" if state == "none" else "rows")
    follows._narrow = state == "narrow"
    for _ in range(steps):
        with by_text(library) as text:
            history.step()
            scores = follows.scores
        assert text.outcomes <= {0, 1, 2}
        if state == "narrow":
            known = betweenness(history.frozen(), run=EXACT)
            torch.testing.assert_close(scores, known, rtol=1e-6, atol=1e-9)
            fresh = DynamicBetweenness(history.graph, state="rows")
            fresh._narrow = True
            with by_text(library):
                assert torch.equal(scores, fresh.scores)
        else:
            fresh = DynamicBetweenness(history.graph, state="none")
            assert torch.equal(scores, fresh.scores)


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_long_distances(library: ctypes.CDLL, directed: bool) -> None:
    """More than 253 hops, after and before a change, of which most of the graph is part."""
    graph = DynamicGraph(edge_index(path(258)), directed=directed)
    between = DynamicBetweenness(graph, sources=torch.tensor([0, 1, 130, 257]), state="rows")
    shortcut, middle = torch.tensor([[3], [250]]), torch.tensor([[128], [129]])
    outcomes = set[int]()
    for change in (
        {"insert": shortcut}, {"delete": shortcut}, {"delete": middle},
        {"insert": middle, "delete": torch.tensor([[7], [8]])},
    ):  # fmt: skip
        with by_text(library) as text:
            graph.update(**change)
            scores = between.scores
        outcomes |= text.outcomes
        pivots = between._pivots
        fresh = DynamicBetweenness(graph, sources=pivots, state="none")
        assert torch.equal(scores, fresh.scores)
    assert outcomes >= {1, 2, 3}


@pytest.mark.slow
def test_a_hub(library: ctypes.CDLL) -> None:
    """With more neighbours than a warp takes on its own."""
    leaves = 1100
    edges = edge_index(
        [*((0, v) for v in range(1, leaves)), *((1, v) for v in range(2, leaves, 2))]
    )
    graph = DynamicGraph(edges, directed=False)
    between = DynamicBetweenness(graph, sources=torch.tensor([0, 1, 2, 3]), state="rows")
    for change in ({"insert": torch.tensor([[3], [5]])}, {"delete": edges[:, :2]}):
        with by_text(library):
            graph.update(**change)
            scores = between.scores
        fresh = DynamicBetweenness(graph, sources=between._pivots, state="none")
        assert torch.equal(scores, fresh.scores)


def test_too_many_paths(library: ctypes.CDLL) -> None:
    """2^60 paths are beyond what rows on CUDA count."""
    diamonds = [
        (3 * i + a, 3 * i + b) for i in range(60) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))
    ]
    graph = DynamicGraph(edge_index(diamonds[4:]), directed=False)
    between = DynamicBetweenness(graph, sources=torch.tensor([4]), state="rows")
    with by_text(library), pytest.raises(OverflowError, match="too many shortest paths"):
        assert between.scores.numel()
