"""The text of the CUDA kernel for spectra, run on the CPU with a thread for a thread: against the
kernel of the CPU, which test_spectra.py compares with others."""

import ctypes
from pathlib import Path

import pytest
import torch
from graphs import DEVICE
from kernel_text import NEEDS_SOURCES, compiled
from test_spectra import F64, FORMS, assorted, graph_of, has_kernels

import torchcent

pytestmark = [
    NEEDS_SOURCES,
    pytest.mark.skipif(DEVICE.type != "cpu" or not has_kernels(), reason="is compiled for the CPU"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("eigen")
    return compiled("eigen_text", folder)


@pytest.mark.slow
@pytest.mark.sweep(by="form team weighted")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("team", ["warps", "blocks"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_as_on_the_cpu(library, team, weighted, form):
    graph, width = graph_of(assorted(21, 25, weighted=weighted)), 9
    for trivial in (False, True):
        known = torchcent.laplacian_encoding(
            graph, k=width, normalization=form, trivial=trivial, run=torchcent.Run(dtype=F64)
        )
        weight = graph.weight if weighted else None
        sizes = graph.ptr.diff()
        number = sizes.nonzero().flatten()
        values = torch.zeros(graph.num_graphs, width, dtype=F64)
        multiplicity = torch.zeros(graph.num_graphs, width, dtype=torch.int64)
        vectors = torch.zeros(graph.num_nodes, width, dtype=F64)
        tensors = (graph.rowptr, graph.col, weight, graph.ptr, number)
        library.text_eigen(
            ctypes.c_bool(team == "warps"),
            *(ctypes.c_void_p(None if x is None else x.data_ptr()) for x in tensors),
            ctypes.c_int64(number.numel()), ctypes.c_int64(int(sizes.max())),
            ctypes.c_int(FORMS.index(form)), ctypes.c_int64(0), ctypes.c_int64(int(not trivial)),
            ctypes.c_int64(width), ctypes.c_void_p(values.data_ptr()),
            ctypes.c_void_p(multiplicity.data_ptr()), ctypes.c_void_p(vectors.data_ptr()),
        )  # fmt: skip
        size = max(1.0, float(known.values.max()))
        torch.testing.assert_close(values, known.values, rtol=0, atol=1e-12 * size)
        assert torch.equal(multiplicity, known.multiplicity)
        torch.testing.assert_close(vectors, known.vectors, rtol=0, atol=1e-8)
