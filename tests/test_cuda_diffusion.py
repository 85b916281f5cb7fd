"""Diffusion on CUDA: the bits of the CPU, by the kernel and on tensors."""

import pytest
import torch
from internals import has_kernel
from test_diffusion import NAMES, TENSORS, batch_of, drawn, same
from tuning import tuned

import torchcent
from torchcent import DiffusionRows, Graph, Run

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

CUDA = torch.device("cuda")


def on_host(rows: DiffusionRows) -> DiffusionRows:
    assert all(x.is_cuda for x in rows)
    return DiffusionRows(*(x.cpu() for x in rows))


def test_there_is_a_kernel() -> None:
    assert has_kernel("diffusion_rows", CUDA)


@pytest.mark.parametrize("top_k", [None, 1, 16, 3000])
@pytest.mark.parametrize("name", NAMES)
def test_a_social_network(name: str, top_k: int | None) -> None:
    graph = Graph.from_edge_index(torchcent.generate.rmat(13, 8, seed=1), directed=False)
    function, sources = getattr(torchcent, name), torch.arange(0, graph.num_nodes, 3)
    for options in ({}, {"normalization": "sym"}, {"run": Run(dtype=torch.float64)}, {"eps": 1e-2}):
        known = function(graph, top_k=top_k, sources=sources, **options)
        rows = function(graph.to(CUDA), top_k=top_k, sources=sources, **options)
        assert same(known, on_host(rows))


@pytest.mark.parametrize("weights", [None, (0.5, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_batches(name: str, weights: tuple[float, ...] | None) -> None:
    index, weight, ptr, matrix = drawn(7, [30, 0, 1, 17, 120, 2, 64, 200], weights)
    for top_k in (None, 4):
        options = {"num_nodes": len(matrix), "top_k": top_k}
        function, batch = getattr(torchcent, name), batch_of(ptr)
        known = function(
            index.cpu(), None if weight is None else weight.cpu(), batch=batch.cpu(), **options
        )  # fmt: skip
        arcs = index.to(CUDA), None if weight is None else weight.to(CUDA)
        for has_one in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                if not has_one:
                    tuned(patch)(diffusion_operators=TENSORS)
                rows = function(*arcs, batch=batch.to(CUDA), **options)
            assert same(known, on_host(rows))


def test_little_room() -> None:
    """Rows of unknown size that do not fit are computed once more; few blocks are in flight."""
    graph = Graph.from_edge_index(torchcent.generate.rmat(12, 8, seed=2), directed=False)
    known = torchcent.personalized_pagerank(graph, eps=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(diffusion_room=5000)
        rows = torchcent.personalized_pagerank(graph.to(CUDA), eps=1e-3)
    assert same(known, on_host(rows))
    few = torchcent.personalized_pagerank(
        graph.to(CUDA), eps=1e-3, top_k=9, run=Run(memory=64 * 10**6)
    )
    assert same(torchcent.personalized_pagerank(graph, eps=1e-3, top_k=9), on_host(few))
