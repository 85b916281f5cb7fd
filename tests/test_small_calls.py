"""What a call on one small graph does besides the search: few operators, no thread, no query."""

from __future__ import annotations

import pytest
import torch
from internals import COMPILED
from surface import call
from torch.utils._python_dispatch import TorchDispatchMode

import torchcent

PATH = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
LENGTH = torch.tensor([0.5, 0.3, 0.2, 0.7])
STATES = torch.tensor([0.1, 0.0, 0.5, 0.2, 0.9])
# The most operators of a call by hops on an edge_index, ours and views included, with room for two.
MOST = {
    "betweenness": 16,
    "stress": 16,
    "edge_betweenness": 24,
    "closeness": 25,
    "harmonic": 19,
    "eccentricity": 24,
    "diameter": 26,
    "radius": 28,
    "distance_profile": 33,
    "node_features": 33,
}
pytestmark = pytest.mark.skipif(not COMPILED, reason="the tiny engine is compiled")


class Operators(TorchDispatchMode):
    """Names of the operators that run within it."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.names.append(function.__name__)
        return function(*arguments, **options or {})


@pytest.mark.parametrize("name", MOST)
def test_few_operators(name):
    with Operators() as seen:
        getattr(torchcent, name)(PATH, directed=False)
    assert "tiny.default" in seen.names
    assert len(seen.names) <= MOST[name], seen.names


@pytest.mark.parametrize("weight", [None, LENGTH])
@pytest.mark.parametrize("name", [*MOST, "percolation"])
def test_no_thread_and_no_query(name, weight, tuning):
    def refused(*_):
        raise AssertionError("not for a small graph")

    tuning(start_thread=refused, free_memory=refused)
    options = {"states": STATES} if name == "percolation" else {}
    call(getattr(torchcent, name), PATH, weight, directed=False, **options)


@pytest.mark.parametrize("memory", [1, 5000])
def test_a_limit_that_is_given_counts(memory):
    with pytest.raises(MemoryError, match=f"memory={memory}"):
        torchcent.betweenness(PATH, directed=False, run=torchcent.Run(memory=memory))


@pytest.mark.parametrize(
    "call",
    [
        torchcent.closeness,
        torchcent.harmonic,
        lambda graph: torchcent.closeness(graph, vertices=torch.arange(9)),
        lambda graph: torchcent.closeness(graph, sources=torch.arange(600)),
        torchcent.betweenness,
        torchcent.edge_betweenness,
    ],
)
def test_no_brackets_wake_threads(call):
    """Indexing by brackets wakes PyTorch's threads for a few thousand entries, which then compete
    with ours; index_select and index_copy_ do not."""
    graph = torchcent.Graph.from_edge_index(torchcent.generate.rmat(10, 4, seed=1), directed=False)
    call(graph)  # prepares it
    with Operators() as seen:
        call(graph)
    assert not {"index.Tensor", "index_put_.default"} & set(seen.names)


# Operators of PyTorch that wake all of its threads, or those of MKL, for any number of elements.
WAKING = ("repeat_interleave", "segment_reduce", "_sparse_", "sparse_csr", "addmm.dtype")
OF_WALKS = {
    "degree": {},
    "core_number": {},
    "triangles": {},
    "clustering_coefficient": {},
    "pagerank": {},
    "katz": {"alpha": 0.01},
    "eigenvector": {},
    "hits": {},
    "random_walk_encoding": {"walk_length": 4},
    "percolation": {"states": torch.rand(20 * 20)},
}


@pytest.mark.parametrize("name", [*MOST, *OF_WALKS, "subgraph_centrality", "shortest_path_pairs"])
@pytest.mark.parametrize("graphs", [1, 20])
def test_no_operator_that_wakes_threads(name, graphs):
    draw = torch.Generator().manual_seed(1)
    arcs = torch.randint(0, 20, (2, graphs, 40), generator=draw)
    arcs = arcs + torch.arange(graphs)[:, None] * 20
    options = dict(OF_WALKS.get(name, {}))
    if graphs > 1:
        options["ptr"] = torch.arange(graphs + 1) * 20
    else:
        options["num_nodes"] = 20
    if "states" in options:
        options["states"] = options["states"][: 20 * graphs]
    with Operators() as seen:
        call(getattr(torchcent, name), arcs.flatten(1), directed=False, **options)
    assert not [x for x in seen.names if x.startswith(WAKING)]


def test_threads_for_little_work():
    """A batch of 20 molecules is searched by one thread, a thousand by several."""
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        for count, threads in ((20, 1), (200, 1), (2_000, 4)):
            vertex, ptr = torch.arange(20 * count), 20 * torch.arange(count + 1)
            rings = torch.stack([vertex, vertex // 20 * 20 + (vertex + 1) % 20])
            batch = torchcent.Graph.from_edge_index(rings, directed=False, ptr=ptr)
            assert torchcent.explain(batch).threads == threads
        edge = torch.tensor([[0], [1]])
        assert torchcent.explain(edge, torch.ones(1), directed=False).threads == 1
    finally:
        torch.set_num_threads(before)
