"""Graphs with weights: every way to make one, what it tells, and every input that is none."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from engines import assert_scores
from graphs import DEVICE, arc_lists, edge_index, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from path_oracles import lengths
from surface import call

import torchcent
from torchcent import Graph
from torchcent.graph import _weights

pytestmark = pytest.mark.sweep

F64 = torch.float64
ARCS = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
WEIGHTS = torch.tensor([1.0, 2.5, 0.5], device=DEVICE)


def weights_of(graph):
    row, col = graph.to_edge_index().tolist()
    return dict(zip(zip(row, col, strict=True), graph.weight.tolist(), strict=True))


@st.composite
def weighted_arcs(draw):
    n, arcs = draw(arc_lists())
    return n, arcs, draw(st.lists(st.floats(0.1, 9), min_size=len(arcs), max_size=len(arcs)))


def made(n, arcs, weights, directed=True):
    weight = torch.tensor(weights, dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs), n, directed, weight)


# --- making


@given(graph=weighted_arcs(), directed=st.booleans())
def test_the_smallest_weight_counts(graph, directed):
    n, arcs, weights = graph
    known = made(n, arcs, weights, directed)
    assert known.weight.dtype == F64 and known.weight.shape == known.col.shape
    assert weights_of(known) == lengths(n, arcs, weights, directed)
    assert known.is_weighted and not known.unweighted().is_weighted


@given(graph=weighted_arcs())
def test_back_weight_belongs_to_the_transpose(graph):
    known = made(*graph)
    colptr, row = known.transpose
    head = torch.repeat_interleave(torch.arange(known.num_nodes), colptr.diff().cpu()).tolist()
    arcs = list(zip(row.tolist(), head, strict=True))
    assert dict(zip(arcs, known.back_weight.tolist(), strict=True)) == weights_of(known)
    turned = known.reversed()
    assert weights_of(turned) == {(v, u): w for (u, v), w in weights_of(known).items()}
    assert weights_of(turned.reversed()) == weights_of(known)


def test_symmetric_only_with_equal_weights():
    both = [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert made(3, both, [1, 1, 2, 2]).is_symmetric
    assert not made(3, both, [1, 3, 2, 2]).is_symmetric
    assert made(3, both, [1, 3, 2, 2]).unweighted().is_symmetric
    assert made(3, both, [1, 3, 2, 2], directed=False).is_symmetric


def test_weights_that_differ_by_direction():
    """The pattern is symmetric, and the graph still directed: no folding, no sharing."""
    draw = random.Random(3)
    arcs = [(u, v) for u, v in random_graph(40, 120, seed=1) if u != v]
    arcs += [(v, u) for u, v in arcs]
    weights = [draw.randint(1, 9) for _ in arcs]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(40))
    for (u, v), weight in lengths(40, arcs, weights, True).items():
        graph.add_edge(u, v, weight=weight)
    known = made(40, arcs, weights)
    expected = nx.betweenness_centrality(graph, weight="weight")
    assert_scores(
        torchcent.betweenness(known, run=torchcent.Run(dtype=F64)).cpu(), expected.values(), "auto"
    )
    expected = nx.closeness_centrality(graph, distance="weight")
    assert torchcent.closeness(known, run=torchcent.Run(dtype=F64)).tolist() == pytest.approx(
        list(expected.values()), rel=1e-12
    )


@given(graph=weighted_arcs(), directed=st.booleans())
@settings(max_examples=50)
def test_from_scipy_and_back(graph, directed):
    n, arcs, weights = graph
    known = made(max(n, 1), arcs, weights, directed)
    matrix = known.to_scipy()
    again = Graph.from_scipy(matrix, edge_weight=True)
    assert weights_of(again) == weights_of(known) and (again.directed or known.is_symmetric)
    assert not Graph.from_scipy(matrix).is_weighted
    assert Graph.from_scipy(matrix, directed, edge_weight=True).directed is directed


def test_from_scipy_is_directed_by_values():
    matrix = scipy.sparse.csr_array([[0, 2.0], [1.0, 0]])
    assert Graph.from_scipy(matrix, edge_weight=True).directed
    assert not Graph.from_scipy(matrix).directed
    assert weights_of(Graph.from_scipy(matrix, False, edge_weight=True)) == {(0, 1): 1, (1, 0): 1}
    assert Graph.from_scipy(scipy.sparse.coo_array([[0, 3], [3, 0]]), edge_weight=True).scale.whole


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_from_networkx_and_back(kind):
    graph = kind()
    graph.add_nodes_from("dcba")
    graph.add_edge("a", "b", weight=2, length=0.5)
    graph.add_edge("b", "c", length=3)  # no weight: 1, as in networkx
    graph.add_edge("a", "b", weight=7, length=9)
    graph.add_edge("c", "c", weight=4)
    directed = graph.is_directed()
    known = Graph.from_networkx(graph, edge_weight="weight")
    number = {"d": 0, "c": 1, "b": 2, "a": 3}
    first = 2 if graph.is_multigraph() else 7
    expected = {(number["a"], number["b"]): first, (number["b"], number["c"]): 1}
    if not directed:
        expected |= {(v, u): w for (u, v), w in expected.items()}
    assert weights_of(known) == expected and known.directed is directed
    assert Graph.from_networkx(graph, edge_weight="length").weight.min() == (
        0.5 if graph.is_multigraph() else 3
    )
    assert not Graph.from_networkx(graph).is_weighted
    back = known.to_networkx()
    assert back.is_directed() is directed and list(back) == list("dcba")
    assert {(u, v): w for u, v, w in numbered(back)}.items() <= expected.items()
    plain = known.unweighted().to_networkx()
    assert set(map(frozenset, plain.edges)) == set(map(frozenset, back.edges))
    expected = nx.betweenness_centrality(graph, weight="weight")
    actual = torchcent.betweenness(known, run=torchcent.Run(dtype=F64))
    assert actual.tolist() == pytest.approx([expected[v] for v in graph])


def numbered(graph):
    names = list(graph)
    return [(names.index(u), names.index(v), w) for u, v, w in graph.edges(data="weight")]


def test_from_networkx_refuses_other_weights():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight="far")
    with pytest.raises(TypeError, match=r"edge_weight='weight'.*\('a', 'b'\).*'far'.*not a number"):
        Graph.from_networkx(graph, edge_weight="weight")
    with pytest.raises(TypeError, match="weight must be the name.*True"):
        Graph.from_networkx(graph, edge_weight=True)
    graph.add_edge("a", "b", weight=0)
    with pytest.raises(ValueError, match="contract"):
        Graph.from_networkx(graph, edge_weight="weight")
    for many in (2**53 + 1, 10**400):
        graph.add_edge("a", "b", weight=many)
        with pytest.raises(ValueError, match=rf"\('a', 'b'\) has {many}; integers beyond 2\^53"):
            Graph.from_networkx(graph, edge_weight="weight")


def test_from_data():
    data = pytest.importorskip("torch_geometric.data")
    arcs = torch.tensor([[0, 1, 1], [1, 2, 2]])
    graph = data.Data(edge_index=arcs, edge_weight=torch.tensor([1.0, 3.0, 2.0]), num_nodes=5)
    assert weights_of(Graph.from_data(graph, edge_weight=True)) == {(0, 1): 1, (1, 2): 2}
    assert weights_of(Graph.from_data(graph, False, edge_weight=True))[2, 1] == 2
    assert not Graph.from_data(graph).is_weighted
    with pytest.raises(ValueError, match="no edge_weight"):
        Graph.from_data(data.Data(edge_index=arcs, num_nodes=3), edge_weight=True)
    with pytest.raises(ValueError, match="edge_weight='yes': .* only edge_weight"):
        Graph.from_data(graph, edge_weight="yes")
    given = Graph.from_data(graph, edge_weight=[5.0, 7.0, 9.0])
    assert weights_of(given) == {(0, 1): 5, (1, 2): 7}


@pytest.mark.parametrize("order", [None, "row", "col"])
def test_edge_index_with_a_value(order):
    geometric = pytest.importorskip("torch_geometric")
    arcs = torch.tensor([[0, 1, 2], [2, 0, 1]] if order != "col" else [[1, 2, 0], [0, 1, 2]])
    index = geometric.EdgeIndex(arcs, sparse_size=(4, 4), sort_order=order)
    index._value = torch.tensor([1.0, 2.0, 4.0])
    known = Graph.from_data(index, edge_weight=True)
    assert weights_of(known) == dict(zip(map(tuple, arcs.t().tolist()), [1, 2, 4], strict=True))
    index._value = None
    with pytest.raises(ValueError, match="no value"):
        Graph.from_data(index, edge_weight=True)


def test_on_its_way_to_another_device():
    graph = Graph.from_edge_index(ARCS, edge_weight=WEIGHTS)
    assert graph.to(DEVICE) is graph
    away = graph.to("meta")
    assert away.weight.device.type == "meta" and away.is_weighted


def test_what_a_graph_says():
    graph = Graph.from_edge_index(ARCS, edge_weight=WEIGHTS)
    assert "weighted=True" in repr(graph)
    assert graph.nbytes == graph.unweighted().nbytes + 3 * 8
    assert "weighted" not in repr(graph.unweighted())
    assert graph.unweighted() is graph.unweighted() and graph.unweighted().unweighted() is (
        graph.unweighted()
    )
    with pytest.raises(AttributeError, match="frozen.*weight"):
        graph.weight = None


# --- the arithmetic


@pytest.mark.parametrize(
    "weights, n, per_one, exact, whole, dtype, digits",
    [
        ([1.0, 3.0], 10, 1, True, True, torch.int32, 0),
        ([0.5, 3.0], 10, 2, True, False, torch.int32, 0),
        ([2.0**-30], 2, 2.0**30, True, False, torch.int32, 0),
        ([1.0, 1.0 + 2**-20], 1000, 2.0**20, True, False, torch.int32, 0),
        ([1.0, 1.0 + 2**-20], 10**7, 1, True, False, F64, 0),
        ([2.0**30 - 1], 2, 1, True, True, torch.int32, 0),
        ([2.0**30], 2, 1, True, True, F64, 0),
        ([2.0**29], 3, 1, True, True, F64, 0),
        ([2.0**52, 1.0], 2, 1, True, True, F64, 0),
        ([2.0**52, 1.0], 3, 1, False, False, F64, 0),
        ([math.pi, 1.0], 100, 1, False, False, F64, 0),
        ([2.0**-999], 3, 2.0**999, True, False, torch.int32, 0),
        ([2.0**-1060], 3, 1, False, False, F64, 0),
        ([2.0**1000], 3, 1, False, False, F64, 0),
        ([0.1], 10, 10, True, False, torch.int32, 1),
        ([0.5, 0.13, 9.99], 10, 100, True, False, torch.int32, 2),
        ([0.000001, 1.0], 10, 1e6, True, False, torch.int32, 6),
        ([0.000001, 1.0], 10**9, 1e6, True, False, F64, 6),
        ([0.000001, 1.0], 10**10, 1, False, False, F64, 0),  # a path may have 2^53 of these units
        ([0.0000001, 0.0000003], 10**6, 1, False, False, F64, 0),  # seven digits
        ([0.1, math.pi], 10, 1, False, False, F64, 0),
        ([0.1, 1 / 3], 10, 1, False, False, F64, 0),
        ([0.1 + 0.2], 10, 1, False, False, F64, 0),  # 0.30000000000000004
        ([2.0**40 + 0.1], 2, 10, True, False, F64, 1),
        ([2.0**43 + 0.001], 2, 1, True, False, F64, 0),  # 16 digits: more than float64 tells apart
        (torch.tensor([0.1, 0.35, 12.5]).tolist(), 10, 100, True, False, torch.int32, 2),
        (torch.tensor([0.1]).tolist() + [0.35], 10, 1, False, False, F64, 0),  # of both kinds
    ],
)
def test_scale(weights, n, per_one, exact, whole, dtype, digits):
    found = _weights.scale(torch.tensor(weights, dtype=F64), n)
    assert found == _weights.Scale(per_one, exact, whole, dtype, digits)
    scaled = found.apply(torch.tensor(weights, dtype=F64))
    assert scaled.dtype == dtype
    if digits:
        assert scaled.double().frac().count_nonzero() == 0
        written = [Fraction(f"{w:.{digits}f}") for w in weights]
        assert [Fraction(int(x), 10**digits) for x in scaled.tolist()] == written
    else:
        assert (scaled.double() / found.per_one).tolist() == weights


DECIMALS = st.lists(st.integers(1, 99_999), min_size=1, max_size=9)


@given(DECIMALS, st.integers(1, 4), st.booleans())
def test_decimals_are_found(whole, digits, single):
    """Numbers as written, parsed by Python: float64 and float32 weights give the same multiples."""
    written = [Fraction(x, 10**digits) for x in whole]
    weight = torch.tensor([float(x) for x in written], dtype=F64)
    weight = weight.float().double() if single else weight
    found = _weights.scale(weight, 10)
    assert found.exact
    if found.digits:
        units = found.apply(weight).tolist()
        assert [Fraction(int(x), 10**found.digits) for x in units] == written
    else:  # multiples of a power of two
        assert [Fraction(float(w)) for w in weight] == written


@given(st.lists(st.tuples(DECIMALS, st.sampled_from([1.0, 0.1, 0.001, math.pi])), max_size=6))
def test_graphs_of_a_batch_have_their_own_units(parts):
    weights = [[x * unit for x in part] for part, unit in parts]
    weights = [[float(f"{w:.9g}") for w in part] for part in weights]
    flat = torch.tensor([w for part in weights for w in part], dtype=F64)
    slots, nodes = torch.tensor([len(x) for x in weights], dtype=torch.int64), None
    nodes = torch.full_like(slots, 10)
    found, per_one = _weights.decimals_of_graphs(flat, slots, nodes)
    start = 0
    for number, part in enumerate(weights):
        alone = torch.tensor(part, dtype=F64)
        scale = _weights.scale(alone, 10)
        expected = scale.apply(alone).double() if scale.digits else alone
        assert found[start : start + len(part)].tolist() == expected.tolist()
        assert float(per_one[number]) == (scale.per_one if scale.digits else 1)
        start += len(part)


@given(
    st.lists(
        st.floats(0, allow_nan=False, allow_infinity=False, exclude_min=True)
        | st.integers(1, 2**40).map(lambda digits: digits / 64),
        min_size=1,
        max_size=9,
    )
)
def test_the_last_digit(weights):
    last, largest, _ = _weights._digits(torch.tensor(weights, dtype=F64, device=DEVICE), 0)
    units = [Fraction(weight) / Fraction(2) ** last for weight in weights]
    assert all(unit.denominator == 1 for unit in units)  # multiples of 2^last
    assert any(unit.numerator % 2 for unit in units)  # and not of any larger power
    assert largest == max(weights)


@given(data=st.data(), kind=st.sampled_from([np.float64, np.float32]))
def test_digits_of_decimals(data, kind):
    """Those of the shortest text of each number, which is that of its decimal, if all numbers have
    so few digits in front of the point that it is the only one."""
    most = 10**6 - 1 if kind == np.float32 else 10**11
    pairs = st.tuples(st.integers(1, most), st.integers(0, 7))
    texts = [f"{units}e-{digits}" for units, digits in data.draw(st.lists(pairs, min_size=1))]
    weights = [kind(text) for text in texts]
    weight = torch.tensor([float(each) for each in weights], dtype=F64, device=DEVICE)
    last, _, found = _weights._digits(weight, 6)
    if last >= -6:
        assert found == 0
        return
    assert found == _weights._decimal_digits(weight, 6)
    if kind == np.float32 or not bool((weight.float() == weight).all()):
        written = [Decimal(str(each)) for each in weights]
        digits = max(-each.normalize().as_tuple().exponent for each in written)
        told_apart = 10 ** (6 if kind == np.float32 else 15)
        unique = all(each * 10**digits < told_apart for each in written)
        assert found == (digits if digits <= 6 and unique else 0)


def test_leaves_are_folded_where_sums_are_exact():
    arcs = [(0, 1), (0, 2), (0, 3), (3, 4), (3, 5), (4, 5)]
    exact, rounded = made(6, arcs, [0.5] * 6, False), made(6, arcs, [0.1] * 6, False)
    if torchcent.explain(exact).engine == "tensor":
        pytest.skip("nothing is folded without compiled kernels")
    how = {"engine": "dijkstra"}  # the tiny engine, which auto takes here, folds nothing
    assert call(torchcent.explain, exact, **how).core_nodes == 3
    assert call(torchcent.explain, rounded, **how).core_nodes == 3
    assert call(torchcent.explain, rounded.with_ties("float"), **how).core_nodes == 6
    assert call(torchcent.explain, exact.with_ties(tie_tolerance=1e-9), **how).core_nodes == 6


# --- what is no weight

MEASURES = [
    torchcent.betweenness, torchcent.edge_betweenness, torchcent.stress, torchcent.closeness,
    torchcent.harmonic, torchcent.eccentricity, torchcent.distance_profile, torchcent.diameter,
    torchcent.radius, torchcent.center, torchcent.periphery, torchcent.distance_distribution,
    torchcent.effective_diameter, torchcent.average_shortest_path_length,
    torchcent.shortest_path_lengths,
]  # fmt: skip
BAD = {
    "nan": ([1, math.nan, 2], ValueError, r"edge_weight\[1\] is nan.*finite and > 0"),
    "inf": ([1, 2, math.inf], ValueError, r"edge_weight\[2\] is inf.*finite"),
    "negative": ([1, -3, -2], ValueError, r"edge_weight\[1\] is -3.*> 0"),
    "zero": ([1, 2, 0], ValueError, r"edge_weight\[2\] is 0.*> 0.*contract.*clamp\(min=1e-6\)"),
    "first": ([0, math.nan, -1], ValueError, r"edge_weight\[0\] is 0"),
    "short": ([1, 2], ValueError, r"edge_weight must have shape \[3\].*\[2\]"),
    "long": ([1, 2, 3, 4], ValueError, r"shape \[3\].*\[4\]"),
    "column": ([[1.0], [2], [3]], ValueError, r"shape \[3\].*\[3, 1\].*flatten"),
    "scalar": (1.0, ValueError, r"shape \[3\].*\[\]"),
    "bool": ([True, True, True], TypeError, "edge_weight must be floating-point or integer.*bool"),
    "complex": ([1j, 1, 1], TypeError, "edge_weight must be.*complex"),
    "uint64": (np.ones(3, np.uint64), TypeError, "edge_weight must be floating-point.*uint64"),
    "large": ([2**53 + 1, 1, 1], ValueError, r"edge_weight\[0\] is 9007199254740993.*2\^53"),
    "sum": ([1e308, 1e308, 1], ValueError, r"edge_weight goes up to 1e\+308.*beyond float64"),
    "sum of pairs": ([2.0**1017, 1, 1], ValueError, r"edge_weight goes up to 1.4.*beyond float64"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_no_weights(measure, name):
    value, error, said = BAD[name]
    floats = any(isinstance(x, float) for x in np.ravel(value).tolist())
    weight = torch.as_tensor(value, dtype=F64 if floats else None, device=DEVICE)
    with pytest.raises(error, match=said):
        measure(ARCS, weight)
    with pytest.raises(error, match=said):
        Graph.from_edge_index(ARCS, edge_weight=weight)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
@pytest.mark.parametrize("bad", [[1.0, 1.0, 1.0], np.ones(3), 2.0, "weight"], ids=repr)
def test_weights_of_another_type(measure, bad):
    with pytest.raises(TypeError, match="edge_weight must be a torch.Tensor"):
        measure(ARCS, bad)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_weights_elsewhere(measure):
    with pytest.raises(ValueError, match="edge_weight must be a dense tensor with data.*meta"):
        measure(ARCS, torch.ones(3, device="meta"))
    with pytest.raises(ValueError, match="edge_weight must be a dense tensor"):
        measure(ARCS, torch.ones(3, device=DEVICE).to_sparse())
    if DEVICE.type != "cpu":
        with pytest.raises(ValueError, match="edge_weight is on cpu, but edge_index is on"):
            measure(ARCS, torch.ones(3))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_weights_beside_a_graph(measure):
    for graph in (Graph.from_edge_index(ARCS), Graph.from_edge_index(ARCS, edge_weight=WEIGHTS)):
        with pytest.raises(ValueError, match="edge_weight is for an edge_index.*own weights"):
            measure(graph, WEIGHTS)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_engines_for_the_other_kind(measure):
    graph = Graph.from_edge_index(ARCS, edge_weight=torch.tensor([1, 2, 3], device=DEVICE))
    for name in ("lanes", "queue", "bits"):
        with pytest.raises(ValueError, match=f"engine='{name}' counts hops.*relax.*unweighted"):
            measure(graph, run=torchcent.Run(engine=name))
    with pytest.raises(ValueError, match="engine must be one of auto, relax, dijkstra, hierarchy"):
        measure(graph, run=torchcent.Run(engine="dense"))
    for name in ("relax", "dijkstra"):
        with pytest.raises(ValueError, match=f"engine='{name}' is for weighted.*edge_weight"):
            measure(graph.unweighted(), run=torchcent.Run(engine=name))


def test_strategies_are_for_cuda():
    graph = Graph.from_edge_index(ARCS.cpu(), edge_weight=WEIGHTS.cpu())
    with pytest.raises(ValueError, match="strategy='locked' is for engine='dijkstra' on CUDA"):
        torchcent.betweenness(graph, run=torchcent.Run(engine=torchcent.Engine(strategy="locked")))
    with pytest.raises(ValueError, match="strategy must be one of auto, node_parallel, work.*loc"):
        torchcent.betweenness(
            graph, run=torchcent.Run(engine=torchcent.Engine(strategy="edge_parallel"))
        )


def test_hooks_are_for_hops():
    graph = Graph.from_edge_index(ARCS, edge_weight=WEIGHTS)
    with pytest.raises(ValueError, match="multi_search counts hops.*unweighted"):
        torchcent.multi_search(graph, visitor=torchcent.Visitor())
    assert torchcent.multi_search(graph.unweighted(), visitor=torchcent.Visitor()) is None


def test_closure_does_not_mind_weights():
    graph = Graph.from_edge_index(ARCS, edge_weight=WEIGHTS)
    assert torchcent.transitive_closure(graph).count() == 6
    assert torchcent.reachable(graph, 1).tolist() == [False, True, True, True]
    with pytest.raises(NotImplementedError, match="does not matter"):
        torchcent.transitive_closure(ARCS, WEIGHTS)


# --- welcome all the same


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_graphs_without_arcs(measure):
    for n in (0, 1, 3):
        plain = measure(ARCS[:, :0], num_nodes=n)
        found = measure(ARCS[:, :0], WEIGHTS[:0], num_nodes=n)
        assert str(found).replace("int8", "int32") == str(plain).replace("int8", "int32")


def test_strided_weights():
    weight = torch.tensor([[1.0, 9], [2, 9], [4, 9]], device=DEVICE)[:, 0]
    assert Graph.from_edge_index(ARCS, edge_weight=weight).weight.tolist() == [1, 2, 4]
