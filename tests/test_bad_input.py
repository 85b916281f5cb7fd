"""Bad arguments raise TypeError or ValueError that name the argument, before anything runs."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from engines import skip_if_too_large
from surface import call, seeded

import torchcent
from torchcent import Graph

ARCS = torch.tensor([[0, 1, 2], [1, 2, 3]])
MEASURES = [torchcent.betweenness, torchcent.edge_betweenness, torchcent.stress]


@pytest.fixture(params=MEASURES, ids=lambda measure: measure.__name__)
def measure(request):
    return request.param


# --- edge_index


@pytest.mark.parametrize(
    "bad, error, said",
    [
        (torch.zeros(3, dtype=torch.int64), ValueError, r"shape \[2, E\], got \[3\]"),
        (torch.zeros(3, 2, dtype=torch.int64), ValueError, r"shape \[2, E\], got \[3, 2\]"),
        (torch.zeros(2, 2, 2, dtype=torch.int64), ValueError, r"got \[2, 2, 2\]"),
        (torch.zeros((), dtype=torch.int64), ValueError, r"got \[\]"),
        (torch.zeros(2, 3), TypeError, "int64.*float32"),
        (torch.full((2, 3), torch.nan, dtype=torch.float64), TypeError, "int64.*float64"),
        (torch.zeros(2, 3, dtype=torch.bool), TypeError, "int64.*bool"),
        (torch.zeros(2, 3, dtype=torch.complex64), TypeError, "int64.*complex64"),
        (torch.zeros(2, 3, dtype=torch.int64, device="meta"), ValueError, "meta"),
        ([[0, 1], [1, 2]], ValueError, "of shape .*two pairs"),
        (np.zeros((3, 3), dtype=np.int64), ValueError, r"\[2, E\].*\[3, 3\]"),
        (nx.Graph, TypeError, "torch.Tensor.*NetworkX.*got the class networkx.Graph"),
        (None, TypeError, "NoneType"),
        ("graph.txt", TypeError, "the name of a file, which torchcent.read"),
    ],
    ids=lambda value: None if isinstance(value, torch.Tensor) else str(value)[:30],
)
def test_edge_index(measure, bad, error, said):
    with pytest.raises(error, match=f"(?s)edge_index.*{said}"):
        measure(bad)


def test_sparse_edge_index(measure):
    with pytest.raises((TypeError, ValueError), match="edge_index.*square sparse matrix"):
        measure(torch.zeros(2, 3, dtype=torch.int64).to_sparse())


def test_negative_id(measure):
    with pytest.raises(ValueError, match="edge_index.*negative.*-7"):
        measure(torch.tensor([[0, 1], [1, -7]]))


def test_num_nodes_too_small(measure):
    with pytest.raises(ValueError, match=r"num_nodes=3.*too small.*3"):
        measure(ARCS, num_nodes=3)
    with pytest.raises(ValueError, match="num_nodes=0"):
        measure(ARCS, num_nodes=0)


@pytest.mark.parametrize("bad", [-1, -(10**12)])
def test_negative_num_nodes(measure, bad):
    with pytest.raises(ValueError, match=f"num_nodes.*{bad}"):
        measure(ARCS[:, :0], num_nodes=bad)


@pytest.mark.parametrize("bad", [4.0, "4", True, torch.tensor(4)])
def test_num_nodes_of_another_type(measure, bad):
    with pytest.raises(TypeError, match="num_nodes must be an int"):
        measure(ARCS, num_nodes=bad)


def test_more_vertices_than_int32_columns_can_name(measure):
    with pytest.raises(ValueError, match="2147483647.*2147483648"):
        measure(ARCS, num_nodes=2**31)
    with pytest.raises(ValueError, match="2147483647"):
        measure(torch.tensor([[0], [2**40]]))


# --- sources and targets


@pytest.mark.parametrize("name", ["sources", "targets"])
@pytest.mark.parametrize(
    "bad, error, said",
    [
        (torch.tensor([], dtype=torch.int64), ValueError, "empty"),
        (torch.tensor([]), ValueError, "empty"),
        (torch.tensor([1, 2, 1]), ValueError, r"vertex 1 more than once; weights.*\.double\(\)"),
        (torch.tensor([0, 4]), ValueError, r"vertex 4.*\[0, 4\); weights.*\.double\(\)"),
        (torch.tensor([0, -1]), ValueError, r"vertex -1.*\[0, 4\)"),
        (torch.tensor([[0, 1]]), ValueError, r"one-dimensional.*\[1, 2\]"),
        (torch.tensor(1), ValueError, r"one-dimensional.*\[\]"),
        (torch.tensor([0.0, 1.0]), ValueError, r"shape \[4\].*every vertex.*\[2\]"),
        (torch.tensor([torch.nan] * 4), ValueError, r"\[0\] is nan; accepted: finite"),
        (torch.tensor([True, False, True, True]), TypeError, "integer.*bool"),
        (torch.tensor([1j]), TypeError, "integer.*complex64"),
        (torch.zeros(1, dtype=torch.int64, device="meta"), ValueError, "meta.*cpu"),
        ("all", TypeError, "str"),
        ({0: 1}, TypeError, "dict"),
    ],
    ids=lambda value: None if isinstance(value, torch.Tensor) else str(value)[:30],
)
def test_subsets(measure, name, bad, error, said):
    with pytest.raises(error, match=f"(?s){name}.*{said}"):
        call(measure, ARCS, **{name: bad})


@pytest.mark.parametrize("ids, weights", [("targets", "sources"), ("sources", "targets")])
def test_counts_are_not_ids(measure, ids, weights):
    ends = {ids: torch.tensor([3, 1, 2, 0]), weights: torch.ones(4)}
    said = rf"{ids} holds the ids of all 4 vertices, and {weights} weights: .*{ids}\.double\(\)"
    with pytest.raises(ValueError, match=said):
        call(measure, ARCS, **ends)
    call(measure, ARCS, **(ends | {ids: torch.tensor([3, 1, 2])}))


@pytest.mark.parametrize("ids, weights", [("targets", "sources"), ("sources", "targets")])
def test_ids_of_a_mask_may_be_those_of_all_vertices(measure, ids, weights):
    ends = {weights: torch.tensor([1.0, 2.0, 0.5, 3.0])}
    expected = call(measure, ARCS, **ends, **{ids: torch.ones(4)})
    scores = call(measure, ARCS, **ends, **{ids: torch.ones(4, dtype=torch.bool).nonzero()[:, 0]})
    torch.testing.assert_close(scores, expected)
    one = torch.empty(2, 0, dtype=torch.int64)
    call(measure, one, num_nodes=1, **{ids: torch.tensor([0]), weights: torch.ones(1)})


@pytest.mark.parametrize("k", [5, 10**9, 0, -1])
def test_number_of_pivots(measure, k):
    with pytest.raises(ValueError, match=f"sources={k}.*1 to 4"):
        measure(ARCS, sources=k)


def test_pivots_of_an_empty_graph(measure):
    with pytest.raises(ValueError, match="sources=1"):
        measure(ARCS[:, :0], num_nodes=0, sources=1)


@pytest.mark.parametrize("bad", [True, False, 2.0])
def test_sources_of_another_type(measure, bad):
    with pytest.raises((TypeError, ValueError), match="sources"):
        measure(ARCS, sources=bad)


def test_targets_are_no_number(measure):
    with pytest.raises((TypeError, ValueError), match="targets"):
        measure(ARCS, targets=2)


# --- options


def test_unknown_engine(measure):
    with pytest.raises(ValueError, match="engine.*auto, lanes, queue, hierarchy, tensor.*'gpu'"):
        measure(ARCS, run=torchcent.Run(engine="gpu"))
    with pytest.raises(ValueError, match="engine.*None"):
        measure(ARCS, run=torchcent.Run(engine=None))


@pytest.mark.parametrize("bad", [torch.int64, torch.bool, torch.complex64, "float64", float])
def test_dtype(measure, bad):
    with pytest.raises(TypeError, match="dtype.*floating-point"):
        measure(ARCS, run=torchcent.Run(dtype=bad))


@pytest.mark.parametrize("name", ["directed", "normalized", "progress"])
@pytest.mark.parametrize("bad", [1, "yes", torch.tensor(True)])
def test_flags(measure, name, bad):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        call(measure, ARCS, **{name: bad})


def test_endpoints():
    with pytest.raises(TypeError, match="endpoints must be True or False"):
        torchcent.betweenness(ARCS, endpoints="both")
    with pytest.raises(TypeError, match="endpoints"):
        torchcent.stress(ARCS, endpoints=True)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_memory(measure, bad):
    with pytest.raises(ValueError, match="memory"):
        measure(ARCS, run=torchcent.Run(memory=bad))


@pytest.mark.parametrize("bad", ["1 GB", True, [1]])
def test_memory_of_another_type(measure, bad):
    with pytest.raises(TypeError, match="memory"):
        measure(ARCS, run=torchcent.Run(memory=bad))


def test_run_that_cannot_fit(measure, engine):
    skip_if_too_large(engine, 5000)
    arcs = torch.randint(0, 5000, (2, 20000), generator=torch.Generator().manual_seed(0))
    with pytest.raises(MemoryError, match=r"needs .*bytes.*memory=100000 "):
        measure(arcs, run=torchcent.Run(engine=engine, memory=100_000))


def test_explain_refuses_what_the_measures_refuse():
    with pytest.raises(ValueError, match="measure must be one of betweenness, .*closeness"):
        torchcent.explain(ARCS, measure="pagerank")
    with pytest.raises(ValueError, match="engine"):
        torchcent.explain(ARCS, run=torchcent.Run(engine="gpu"))
    with pytest.raises(ValueError, match="edge_index"):
        torchcent.explain(ARCS[0])
    with pytest.raises(ValueError, match="sources=9"):
        torchcent.explain(ARCS, sources=9)


# --- Graph


def test_contradictions_to_a_graph(measure):
    graph = Graph.from_edge_index(ARCS, directed=False)
    with pytest.raises(ValueError, match="directed=True contradicts.*directed=False"):
        measure(graph, directed=True)
    with pytest.raises(ValueError, match="num_nodes=9 contradicts.*4"):
        measure(graph, num_nodes=9)


def test_graph_cannot_be_made_or_changed_by_hand():
    with pytest.raises(TypeError, match="from_edge_index"):
        Graph(ARCS[0], ARCS[1], ARCS[0], True)
    graph = Graph.from_edge_index(ARCS)
    with pytest.raises(AttributeError, match="frozen.*num_nodes"):
        graph.num_nodes = 7
    with pytest.raises(AttributeError, match="frozen"):
        del graph.col


@pytest.mark.parametrize("bad", [1, None, "no"])
def test_from_edge_index_directed(bad):
    with pytest.raises(TypeError, match="directed must be True or False"):
        Graph.from_edge_index(ARCS, directed=bad)


@pytest.mark.parametrize("bad", [np.eye(3), [[0, 1]], None, ARCS])
def test_from_scipy_of_another_type(bad):
    with pytest.raises(TypeError, match="matrix must be a scipy.sparse"):
        Graph.from_scipy(bad)


def test_from_scipy_of_another_shape():
    with pytest.raises(ValueError, match=r"matrix must be square.*\(2, 3\)"):
        Graph.from_scipy(scipy.sparse.csr_array((2, 3)))


def test_from_networkx_of_another_type():
    with pytest.raises(TypeError, match="networkx.*list"):
        Graph.from_networkx([(0, 1)])


def test_numpy_integers_are_welcome(measure):
    two, many = np.int64(2), np.int64(6)
    assert torch.equal(measure(ARCS, num_nodes=many), measure(ARCS, num_nodes=6))
    drawn = []
    for some in (two, 2):
        with seeded(1):
            drawn.append(measure(ARCS, sources=some))
    assert torch.equal(*drawn)
    assert Graph.from_edge_index(ARCS, many, ptr=torch.tensor([0, 6])).num_nodes == 6
    assert torchcent.closeness(ARCS, top=two)[0].numel() == 2


def test_data_without_arcs():
    with pytest.raises(ValueError, match="data has no edge_index"):
        Graph.from_data(pytest.importorskip("torch_geometric.data").Data(x=torch.ones(2)))


def test_from_data_of_another_type():
    with pytest.raises(TypeError, match="data must be"):
        Graph.from_data({"edge_index": ARCS})


# --- not bad input


@pytest.mark.parametrize("arcs", [ARCS[:, :0], torch.empty(2, 0), torch.tensor([[0], [0]])])
def test_graphs_without_arcs_are_welcome(measure, engine, arcs):
    assert measure(arcs.long(), num_nodes=3, run=torchcent.Run(engine=engine)).tolist() == [0.0] * (
        arcs.shape[1] if measure is torchcent.edge_betweenness else 3
    )


def test_int32_and_strided_input_is_welcome(measure, engine):
    plain = measure(ARCS, run=torchcent.Run(engine=engine))
    assert torch.equal(measure(ARCS.int(), run=torchcent.Run(engine=engine)), plain)
    assert torch.equal(measure(ARCS.t().contiguous().t(), run=torchcent.Run(engine=engine)), plain)
    assert torch.equal(
        measure(ARCS.repeat(1, 2)[:, ::2][:, [0, 2, 1]], run=torchcent.Run(engine=engine)), plain
    )
    sources = torch.tensor([0, 9, 2, 9])[::2]
    assert torch.equal(
        measure(ARCS, sources=sources.int(), run=torchcent.Run(engine=engine)),
        measure(ARCS, sources=torch.tensor([0, 2]), run=torchcent.Run(engine=engine)),
    )
