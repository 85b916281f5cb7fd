"""Graphs on a GPU without CUDA kernels: copied to the host and back, with one warning.

Here the CPU stands for the GPU; tests/test_cuda_features.py has the same on a GPU.
"""

import warnings

import pytest
import torch
from internals import COMPILED, warn_without_kernels
from tuning import original

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")


@pytest.fixture
def copies(tuning):
    """What has been copied to the host and back."""
    copied = []

    def note(value, *rest):
        copied.append(type(value).__name__)
        return real(value, *rest)

    real = original("to_host")
    tuning(to_host=note, without_kernels=lambda device=None: True, compiled_for_cuda=False)
    warn_without_kernels.cache_clear()
    yield copied
    warn_without_kernels.cache_clear()


def test_one_warning_says_how_to_get_the_kernels(copies):
    index = generate.ba(50, 2, seed=1)
    with pytest.warns(RuntimeWarning, match="TORCHCENT_CUDA=1 pip install") as told:
        torchcent.betweenness(index, directed=False)
        torchcent.closeness(index, directed=False)
    assert len([each for each in told if "CUDA kernels" in str(each.message)]) == 1
    assert copies


def test_a_named_engine_or_devices_stay(copies):
    index = generate.ba(50, 2, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torchcent.betweenness(index, directed=False, run=torchcent.Run(engine="tensor"))
        torchcent.betweenness(index, directed=False, run=torchcent.Run(devices=["cpu"]))
        torchcent.pagerank(index, directed=False)  # plain PyTorch on every device
    assert not copies


def test_results_refer_to_the_graph_that_was_given(copies):
    graph = Graph.from_edge_index(generate.ba(50, 2, seed=1), directed=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = torchcent.betweenness_approx(graph)
        parts = torchcent.distance_profile(graph)
        out = torch.empty(50, 50, dtype=torch.int32)
        same = torchcent.shortest_path_lengths(graph, out=out)
        pairs = torchcent.shortest_path_lengths(graph, blocks=True, block_size=20)
    assert drawn._graph is graph and drawn.top(3).vertices.numel() == 3
    assert isinstance(parts, tuple) and hasattr(parts, "_fields")
    assert same is out
    assert torch.equal(torch.cat([rows for _, rows in pairs]).int(), out)


def test_show_config_says_so(copies):
    assert "copied to the host" in torchcent.show_config()
