"""closeness(top=k): the k largest of all, whatever way it takes."""

import inspect
import typing
from collections.abc import Iterable

import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from graphs import (
    arc_lists,
    edge_index,
    grid,
    leafy_graphs,
    path,
    random_graph,
    random_tree,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from tuning import original

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

F64 = torch.float64


def assert_top(graph: Graph, ks: Iterable[int], engine: str, wf_improved: bool = True) -> None:
    distance = scipy.sparse.csgraph.shortest_path(graph.to_scipy(), unweighted=True)
    distance[~np.isfinite(distance)] = 0
    reach, farness = (distance > 0).sum(0), distance.sum(0)
    score = np.divide(reach, farness, where=farness > 0, out=np.zeros(graph.num_nodes))
    if wf_improved:
        score *= reach / max(graph.num_nodes - 1, 1)
    for k in ks:
        expected = np.argsort(-score, kind="stable")[:k]
        values, indices = torchcent.closeness(
            graph,
            top=k,
            run=torchcent.Run(engine=engine, dtype=F64),
            wf_improved=wf_improved,
        )
        assert indices.tolist() == expected.tolist()
        assert values.tolist() == score[expected].tolist()


@pytest.fixture(params=["small world", "deep"])
def eager(request, tuning):
    """Brings small graphs to what is meant for large ones."""
    tuning(
        top_fewest=0,
        top_few=1000 if request.param == "deep" else 0,
        top_batch=3,
        top_trial=2,
    )


@given(data=st.data())
@settings(max_examples=100)
def test_small_graphs(eager, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()).filter(lambda graph: graph[0] > 0))
    graph = Graph.from_edge_index(edge_index(arcs), n, data.draw(st.booleans(), label="directed"))
    k, wf_improved = data.draw(st.integers(1, n), label="k"), data.draw(st.booleans())
    assert_top(graph, [k], "auto", wf_improved)


GRAPHS = {
    "grid": (1505, grid(35, 43)),
    "tree": (1300, random_tree(1300, seed=1)),
    "small world": (1500, random_graph(1500, 6000, seed=2)),
    "components": union((1000, grid(25, 40)), (400, grid(20, 20)), (2, [(0, 1)]), (1, [])),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("wf_improved", [False, True])
def test_larger_graphs(compiled_engine, name, wf_improved):
    n, arcs = GRAPHS[name]
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    assert_top(graph, (1, 10, 300), compiled_engine, wf_improved)


def test_directed_graphs(distance_engine):
    graph = Graph.from_edge_index(edge_index(random_graph(1200, 3600, seed=3)), 1200)
    assert_top(graph, (20, 1200), distance_engine)


def test_dtype():
    values, indices = torchcent.closeness(edge_index([(0, 1), (1, 2)]), directed=False, top=1)
    assert values.dtype == torch.get_default_dtype() and indices.dtype == torch.int64
    assert values.tolist() == [1] and indices.tolist() == [1]


def test_the_type_depends_on_top():
    """For type checkers: a tensor, or with top a pair."""
    plain, top = (
        inspect.signature(one) for one in typing.get_overloads(torchcent.closeness.__wrapped__)
    )
    assert (plain.return_annotation, top.return_annotation) == ("Tensor", "tuple[Tensor, Tensor]")
    assert (plain.parameters["top"].annotation, top.parameters["top"].annotation) == ("None", "int")
    whole = inspect.signature(torchcent.closeness)
    assert list(whole.parameters) == list(plain.parameters) == list(top.parameters)


@pytest.fixture
def batches(tuning):
    """The number of searches of each batch."""
    found = []
    sums = original("top_sums_from")

    def counted(graph, request, batch):
        found.append(batch.numel())
        return sums(graph, request, batch)

    tuning(top_fewest=0, top_few=0, top_batch=8, top_sums_from=counted)
    return found


def test_equal_scores_of_later_vertices_are_not_searched(batches):
    """In components of one shape the bounds of many vertices equal the k-th score."""
    n, arcs = union(*[(3, path(3))] * 500)
    assert_top(Graph.from_edge_index(edge_index(arcs), n, False), [5], "auto")
    assert batches == [8]


def test_batches_grow(batches):
    """A batch takes time for the whole graph, so that their number must not grow with it."""
    n, arcs = union(*[(9, path(9))] * 200)
    assert_top(Graph.from_edge_index(edge_index(arcs), n + 1000, False), [5], "auto")
    assert sum(batches) > 800
    assert len(batches) < 40
