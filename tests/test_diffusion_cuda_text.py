"""The text of the CUDA kernel of diffusions, run on the CPU with a thread for a thread: the bits of
the CPU's kernel, which test_diffusion.py compares with dense matrices."""

import ctypes
from types import SimpleNamespace

import pytest
import torch
from graphs import DEVICE, cycle, edge_index, grid, path, random_graph, star, union
from internals import has_kernel
from kernel_text import NEEDS_SOURCES, compiled
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.diffusion import _rows

pytestmark = [
    NEEDS_SOURCES,
    pytest.mark.skipif(
        DEVICE.type != "cpu" or not has_kernel("diffusion_rows", DEVICE),
        reason="is compiled for the CPU",
    ),
]

GRAPHS = {
    "grid": (90, grid(9, 10)),
    "star": (400, star(399)),  # a vertex whose arcs all threads share, or more than a warp
    "sparse": (150, random_graph(150, 190, seed=1)),
    "dense": (90, random_graph(90, 2500, seed=2)),
    "parts": union((9, cycle(9)), (12, grid(3, 4)), (3, path(3))),
}
STARS = union(*[(260, star(259))] * 4, (70, path(70)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    result = compiled("diffusion_text", tmp_path_factory.mktemp("diffusion"))
    result.text_rows.restype = ctypes.c_bool
    return result


class Text:
    """The operator, by the text of the kernel."""

    def __init__(self, library: ctypes.CDLL, cap: int | None = None) -> None:
        self._library, self._cap, self.calls = library, cap, 0

    def diffusion_rows(
        self, rowptr: Tensor, col: Tensor, weight: Tensor | None, strength: Tensor,
        scale: Tensor | None, sources: Tensor, steps: Tensor, follow: float, lasts: bool, top: int,
        begin: Tensor, count: Tensor, target: Tensor, value: Tensor, control: Tensor, threads: int,
    ) -> None:  # fmt: skip
        tensors = (
            rowptr, col, weight, strength, scale, sources, steps, begin, count, target, value,
        )  # fmt: skip
        pointers = (ctypes.c_void_p * 11)(*(None if x is None else x.data_ptr() for x in tensors))
        n = strength.numel()
        cap = n if self._cap is None else self._cap
        sizes = (n, sources.numel(), steps.shape[1], top, target.numel(), cap, 3)
        flags = ctypes.c_bool(lasts), ctypes.c_bool(value.dtype == torch.float32)
        is_clean = self._library.text_rows(
            pointers, (ctypes.c_int64 * 7)(*sizes), ctypes.c_double(follow), *flags
        )
        assert is_clean
        if top:
            _rows._sort(count, target.view(-1, top), value.view(-1, top))
        self.calls += 1


def by_text(text: Text, name: str, graph: Graph, **options: object) -> torchcent.DiffusionRows:
    operators = SimpleNamespace(ops=text, has_kernel=lambda *_: True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rows, "_ops", operators)
        rows = getattr(torchcent, name)(graph, **options)
    assert text.calls > 0
    if options.get("top_k") is None:
        count = rows.ptr.diff()
        ordered = _rows._in_order(_rows.Rows(count, rows.target, rows.value))
        return torchcent.DiffusionRows(rows.ptr, ordered.target, ordered.value)
    return rows


def check(text: Text, name: str, graph: Graph, **options: object) -> None:
    known, rows = getattr(torchcent, name)(graph, **options), by_text(text, name, graph, **options)
    for one, other in zip(known, rows, strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
@pytest.mark.sweep(by="graph name")
@pytest.mark.parametrize("top_k", [None, 1, 5, 80])
@pytest.mark.parametrize("name", ["personalized_pagerank", "heat_kernel"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_bits(library: ctypes.CDLL, graph: str, name: str, top_k: int | None) -> None:
    n, arcs = GRAPHS[graph]
    index = edge_index(arcs)
    weight = 1 + (index.sum(0) % 3).double()
    sources = torch.arange(0, n, max(1, n // 12))
    undirected = Graph.from_edge_index(index, n, False)
    for each in (
        undirected, Graph.from_edge_index(index, n), Graph.from_edge_index(index, n, False, weight)
    ):  # fmt: skip
        for eps in (0.1, 1e-3):
            check(Text(library), name, each, sources=sources, top_k=top_k, eps=eps)
    run = torchcent.Run(dtype=torch.float64)
    options = {"sources": sources, "top_k": top_k, "normalization": "sym", "run": run}
    check(Text(library), name, undirected, **options)


@pytest.mark.parametrize("name", ["personalized_pagerank", "heat_kernel"])
def test_many_vertices_and_hubs(library: ctypes.CDLL, name: str) -> None:
    """Frontiers of every size, and hubs beside many vertices."""
    n, arcs = STARS
    joined = [*arcs, *((260 * i, 260 * (i + 1)) for i in range(4))]
    graph = Graph.from_edge_index(edge_index(joined), n, False)
    sources = torch.tensor([0, 1, 261, 1100])
    for top_k in (None, 64):
        check(Text(library), name, graph, sources=sources, top_k=top_k, eps=1e-6)


def test_lists_without_room(library: ctypes.CDLL) -> None:
    """Vertices that are not listed are cleared all the same: many without arcs, which move less
    than a unit of their mass, again and again."""
    weight = torch.tensor([1.0, 1e-17, 1.0])
    index = torch.tensor([[0, 0, 1], [1, 2, 0]])
    graph = Graph.from_edge_index(index, 4, edge_weight=weight.double())
    check(Text(library, cap=3), "personalized_pagerank", graph, eps=1e-9)
