"""Curvature of edges: formulas on NetworkX graphs, linear programmes, flows of whole numbers, and
the pseudo-inverse, for compiled code and on tensors."""

from fractions import Fraction
from types import SimpleNamespace

import curvature_oracles as oracles
import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, complete, cycle, edge_index, star
from internals import has_kernel
from surface import call

import torchcent
from torchcent import Graph, Run, forman_curvature, node_resistance_curvature, resistance_curvature
from torchcent import ollivier_ricci_curvature as ollivier

F64 = torch.float64
DOUBLE = Run(dtype=F64)
NONE = SimpleNamespace(has_kernel=lambda *_: False)
WEIGHTS = [0.25, 0.5, 1.0, 3.0, 7.5]
FUNCTIONS = {
    "plain": lambda *a, **k: forman_curvature(*a, **k),
    "augmented": lambda *a, **k: forman_curvature(*a, kind="augmented", **k),
    "balanced": lambda *a, **k: forman_curvature(*a, kind="balanced", **k),
    "ollivier": ollivier,
    "sinkhorn": lambda *a, **k: ollivier(*a, method="sinkhorn", **k),
    "resistance": resistance_curvature,
    "vertices": node_resistance_curvature,
}
EXACT = [name for name in FUNCTIONS if name != "sinkhorn"]
WEIGHTED = ("plain", "ollivier", "sinkhorn", "resistance", "vertices")


@pytest.fixture(params=["compiled", "tensor"])
def engine(request, tuning):
    if request.param == "tensor":
        tuning(cycle_operators=NONE, transport_operators=NONE)
        tuning(cycles_together=200, problems_together=300, resistance_small=3)
    elif not has_kernel("edge_cycles", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    return request.param


def drawn(seed, n, weights=None, density=None):
    """A random graph of n vertices, with the weights of its edges."""
    draw = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, density or draw.uniform(0.1, 0.9), seed=int(seed))
    for _, _, data in graph.edges(data=True):
        data["weight"] = 1 if weights is None else float(draw.choice(weights))
    return graph


def given(graph):
    """edge_index and edge_weight, each edge once, and the other arguments."""
    weight = torch.tensor([w for *_, w in graph.edges(data="weight")], dtype=F64, device=DEVICE)
    weight = weight if any(w != 1 for w in weight.tolist()) else None
    options = {"num_nodes": graph.number_of_nodes(), "directed": False, "run": DOUBLE}
    return edge_index(list(graph.edges)), weight, options


def values(function, graph, **more):
    index, weight, options = given(graph)
    return function(index, weight, **options, **more).tolist()


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["plain", "augmented", "balanced"])
def test_forman_is_its_formula(engine, kind):
    for seed in range(100 if engine == "compiled" else 40):
        weights = WEIGHTS if kind == "plain" and seed % 2 else None
        graph = drawn(seed, 2 + seed % 13, weights)
        if kind == "balanced":
            expected = [oracles.balanced(graph, *edge) for edge in graph.edges]
        else:
            expected = list(oracles.forman(graph, kind).values())
        assert values(FUNCTIONS[kind], graph) == pytest.approx(expected, abs=1e-12)


def test_balanced_on_graphs_that_are_known():
    def balanced(arcs):
        options = {"kind": "balanced", "directed": False, "run": DOUBLE}
        return forman_curvature(edge_index(arcs), **options).unique().tolist()

    assert balanced(cycle(4)) == [1.0]
    assert balanced(cycle(5)) == [0.0]
    assert balanced(star(5)) == [0.0]
    assert balanced(complete(6)) == pytest.approx([6 / 5])  # n / (n - 1)
    cube = nx.hypercube_graph(3)
    assert balanced(list(nx.convert_node_labels_to_integers(cube).edges)) == pytest.approx([2 / 3])


@pytest.mark.sweep(by="alpha weights")
@pytest.mark.parametrize("alpha", [0.0, 0.03, 0.15, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_ollivier_is_that_of_linear_programmes(engine, alpha, weights):
    for seed in range(8 if engine == "compiled" else 3):
        graph = drawn(seed, 4 + seed, weights, 0.25 + 0.06 * seed)
        expected = list(oracles.ollivier(graph, alpha).values())
        found = values(ollivier, graph, alpha=alpha)
        assert found == pytest.approx(expected, abs=1e-8)  # a programme is right up to 1e-7


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 4), Fraction(1, 2)])
def test_ollivier_is_exact(alpha):
    """Up to the last operations, beside flows of whole numbers."""
    if not has_kernel("ollivier", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    for seed in range(6):
        graph = drawn(seed, 12, density=0.3)
        expected = [float(x) for x in oracles.exact_ollivier(graph, alpha).values()]
        found = values(ollivier, graph, alpha=float(alpha))
        assert found == pytest.approx(expected, abs=4e-16, rel=4e-16)


def test_ollivier_with_more_than_a_word_of_columns():
    """Two hubs, of whose neighbours some are common, adjacent or two hops apart."""
    if not has_kernel("ollivier", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    draw = np.random.default_rng(5)
    graph = nx.Graph([(0, 1)])
    graph.add_edges_from((0, v) for v in range(2, 90))
    graph.add_edges_from((1, v) for v in range(80, 190))
    graph.add_edges_from((int(a), int(b)) for a, b in draw.integers(2, 190, (150, 2)) if a != b)
    index = edge_index(list(graph.edges))
    found = ollivier(index, directed=False, run=DOUBLE)[0]
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    supply = {v: oracles._masses(graph, 0, Fraction(1, 2)).get(v, 0) for v in graph}
    whole = 2 * graph.degree(0) * graph.degree(1)
    flow, other = nx.DiGraph(), oracles._masses(graph, 1, Fraction(1, 2))
    net = {v: int(whole * (supply[v] - other.get(v, 0))) for v in graph}
    flow.add_nodes_from((v, {"demand": -mass}) for v, mass in net.items() if mass)
    flow.add_weighted_edges_from(
        (x, y, hops[x][y]) for x in net for y in net if net[x] > 0 > net[y]
    )
    assert sum(mass < 0 for mass in net.values()) > 64 < sum(mass > 0 for mass in net.values())
    expected = 1 - Fraction(nx.network_simplex(flow)[0], whole)
    assert float(found) == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.slow
def test_sinkhorn_is_near_and_above():
    """A plan with an entropy costs a little more than the best one."""
    for seed, weights in ((1, None), (2, None), (3, WEIGHTS)):
        graph = drawn(seed, 14, weights, 0.3)
        index, weight, options = given(graph)
        exact = ollivier(index, weight, **options)
        errors = []
        for regularization in (0.2, 0.03):
            found = ollivier(
                index, weight, **options, method="sinkhorn", regularization=regularization,
                tol=1e-4, max_iter=100_000,
            )  # fmt: skip
            assert (found <= exact + 1e-2).all()
            errors.append(float((exact - found).max()))
        assert errors[1] < errors[0] / 2
        assert weights is not None or errors[1] < 0.03
    with pytest.raises(ValueError, match="no convergence to tol=1e-09 in max_iter=3 iterations"):
        ollivier(index, weight, **options, method="sinkhorn", tol=1e-9, max_iter=3)


@pytest.mark.slow
def test_resistance_is_that_of_the_pseudo_inverse(engine, tuning):
    for seed in range(120):
        graph = drawn(seed, 2 + seed % 11, WEIGHTS if seed % 2 else None)
        resistance, n = oracles.resistances(graph), graph.number_of_nodes()
        vertex = [
            1 - sum(w * resistance[v, u] for _, u, w in graph.edges(v, data="weight")) / 2
            for v in range(n)
        ]
        assert values(node_resistance_curvature, graph) == pytest.approx(vertex, abs=1e-9)
        edges = [2 * (vertex[u] + vertex[v]) / resistance[u, v] for u, v in graph.edges]
        assert values(resistance_curvature, graph) == pytest.approx(edges, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.5])
def test_hub_of_leaves(alpha):
    """It takes time in proportion to its edges, and values have a closed form."""
    leaves = 200_000 if has_kernel("ollivier", DEVICE) else 500
    index = torch.stack([torch.zeros(leaves, dtype=torch.int64), torch.arange(leaves) + 1])
    index = index.to(DEVICE)
    # From alpha = 1 / (d + 1) on it is linear in 1 - alpha, below linear in alpha.
    expected = 2 * (1 - alpha) / leaves if alpha * (leaves + 1) >= 1 else 2 * alpha
    found = ollivier(index, alpha=alpha, directed=False, run=DOUBLE)
    torch.testing.assert_close(found, torch.full_like(found, expected), rtol=1e-9, atol=1e-12)
    assert not bool(forman_curvature(index, kind="balanced", directed=False).any())


def test_resistance_of_a_tree():
    """Every edge is a bridge, whatever its conductance."""
    child = torch.arange(1, 20_000)
    index = torch.stack([(torch.rand(child.numel()) * child).long(), child]).to(DEVICE)
    weight = 10 ** (18 * torch.rand(child.numel(), dtype=F64) - 9)
    options = {"edge_weight": weight.to(DEVICE), "directed": False, "run": DOUBLE}
    vertex = 1 - torch.bincount(index.flatten()).double() / 2
    torch.testing.assert_close(
        node_resistance_curvature(index, **options), vertex, rtol=1e-14, atol=1e-14
    )
    edge = 2 * vertex[index].sum(0) * options["edge_weight"]
    torch.testing.assert_close(
        resistance_curvature(index, **options), edge, rtol=1e-13, atol=1e-13 * 1e9
    )


def test_columns_of_conductance_0_are_no_edges():
    """Also beside a column with the same ends. On a path p is 1/2, 0, 1/2, and R the inverse."""
    index = torch.tensor([[0, 1, 0, 1, 2, 1, 2], [1, 0, 1, 2, 1, 2, 0]], device=DEVICE)
    weight = torch.tensor([1, 1, 0, 2, 4, 2, 0], dtype=F64, device=DEVICE)
    found = resistance_curvature(index, weight, directed=False, run=DOUBLE)
    assert found.tolist() == pytest.approx([1, 1, 0, 4, 4, 4, 0], abs=1e-12)
    both = index[:, [0, 1, 2, 3, 4]], weight[[0, 1, 2, 3, 3]]
    found = resistance_curvature(*both, run=DOUBLE)
    assert found.tolist() == pytest.approx([1, 1, 0, 2, 2], abs=1e-12)
    of_vertices = node_resistance_curvature(index, weight, directed=False, run=DOUBLE)
    assert of_vertices.tolist() == pytest.approx([0.5, 0, 0.5], abs=1e-12)


def test_resistance_without_a_dense_inverse(tuning):
    """Columns are solved for in blocks where the memory is too small for all of them."""
    index = edge_index(list(nx.connected_watts_strogatz_graph(400, 6, 0.2, seed=1).edges))
    options = {"directed": False, "run": DOUBLE}
    expected = node_resistance_curvature(index, **options)
    assert float(expected.sum()) == pytest.approx(1)
    small = Run(dtype=F64, memory=1_000_000)
    found = node_resistance_curvature(index, directed=False, run=small)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    graph = Graph.from_edge_index(index, directed=False)
    with pytest.raises(MemoryError, match="a block of potentials needs"):
        node_resistance_curvature(graph, run=Run(memory=5000))


@pytest.mark.sweep
@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_are_their_graphs(engine, name):
    """To the bit, except for Sinkhorn's iterations; with empty graphs among them."""
    graphs = [drawn(seed, n, WEIGHTS if name in WEIGHTED else None)
              for seed, n in enumerate((7, 1, 12, 0, 5, 9, 2, 9))]  # fmt: skip
    parts, columns, lengths, first = [], [], [], 0
    for graph in graphs:
        index, weight, options = given(graph)
        weight = index.new_ones(index.shape[1], dtype=F64) if weight is None else weight
        own = weight if name in WEIGHTED else None
        parts.append(FUNCTIONS[name](index, own, **options))
        columns.append(index + first)
        lengths.append(weight)
        first += graph.number_of_nodes()
    ptr = torch.tensor([0, *np.cumsum([len(graph) for graph in graphs])], device=DEVICE)
    weight = torch.cat(lengths) if name in WEIGHTED else None
    found = call(
        FUNCTIONS[name],
        Graph.from_edge_index(torch.cat(columns, 1), directed=False, edge_weight=weight, ptr=ptr),
        run=DOUBLE,
    )
    expected = torch.cat(parts)
    if name == "sinkhorn":
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    else:
        assert torch.equal(found, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_of_vertices_do_not_matter(engine, name):
    graph = drawn(11, 13, WEIGHTS if name in WEIGHTED else None, 0.35)
    index, weight, options = given(graph)
    order = torch.randperm(13, generator=torch.Generator().manual_seed(2)).to(DEVICE)
    if name == "sinkhorn":  # whose iterations begin at one of both ends
        options |= {"tol": 1e-10, "max_iter": 100_000}
    found = FUNCTIONS[name](order[index], weight, **options)
    expected = FUNCTIONS[name](index, weight, **options)
    if name == "vertices":
        found = found[order]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_threads_do_not_change_bits(name):
    # Larger components are inverted by LAPACK, whose last digits depend on its threads.
    size = 60 if name in ("resistance", "vertices") else 300
    index = edge_index(list(nx.barabasi_albert_graph(size, 4, seed=1).edges))
    one, three = (
        FUNCTIONS[name](index, directed=False, run=Run(dtype=F64, threads=k)) for k in (1, 3)
    )
    assert torch.equal(one, three)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loops_repeated_arcs_and_both_directions(engine, name):
    plain = edge_index([(0, 1), (1, 2), (2, 0), (2, 3)])
    expected = FUNCTIONS[name](plain, num_nodes=5, directed=False, run=DOUBLE)
    both = torch.cat([plain, plain.flip(0)], 1)
    loops = torch.cat([both, edge_index([(0, 0), (4, 4)])], 1)
    for directed in (None, True, False):
        found = FUNCTIONS[name](loops, num_nodes=5, directed=directed, run=DOUBLE)
        if name == "vertices":
            assert torch.equal(found, expected) and found[4] == 1
        else:
            assert torch.equal(found[:4], expected) and torch.equal(found[4:8], expected)
            assert found[8:].tolist() == [0, 0]
    if name not in ("resistance", "vertices"):  # where parallel arcs are conductances
        repeated = FUNCTIONS[name](torch.cat([both, both], 1), num_nodes=5, run=DOUBLE)
        assert torch.equal(repeated, expected.repeat(4))


def test_parallel_arcs_and_zeros_are_conductances():
    once, weight = edge_index([(0, 1), (1, 2), (2, 0)]), torch.tensor([3.0, 1.0, 2.0])
    expected = resistance_curvature(once, weight.to(DEVICE), directed=False)
    index = edge_index([(0, 1), (1, 2), (2, 0), (0, 1), (1, 3)])
    parts = torch.tensor([1.0, 1.0, 2.0, 2.0, 0.0], device=DEVICE)
    found = resistance_curvature(index, parts, directed=False)
    torch.testing.assert_close(found[:3], expected)
    assert found[3] == found[0] and found[4] == 0


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_without_edges(engine, name, n):
    found = FUNCTIONS[name](edge_index([]), num_nodes=n)
    assert found.shape == ((n,) if name == "vertices" else (0,))
    assert name != "vertices" or found.tolist() == [1] * n


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_have_the_dtype_and_the_device(name):
    index = edge_index([(0, 1), (1, 2)])
    for dtype in (torch.float32, F64):
        found = FUNCTIONS[name](index, directed=False, run=Run(dtype=dtype))
        assert found.dtype == dtype and found.device == index.device


TRIANGLE = [(0, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alpha": 1.5}, "alpha must be in .0, 1., got 1.5"),
        ({"alpha": float("nan")}, "alpha must be in"),
        ({"method": "flow"}, "method must be one of exact, sinkhorn; got 'flow'"),
        ({"regularization": 0}, "regularization must be finite and > 0, got 0"),
        ({"tol": 0}, "tol must be in"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
    ],
)
def test_arguments_of_ollivier_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ollivier(edge_index(TRIANGLE), directed=False, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_graphs_and_weights_that_are_refused(name):
    function, index = FUNCTIONS[name], edge_index(TRIANGLE)
    with pytest.raises(ValueError, match="is for undirected graphs"):
        function(index)
    with pytest.raises(ValueError, match="nan"):
        function(index, torch.tensor([1.0, float("nan"), 1.0], device=DEVICE), directed=False)
    slope = torch.ones(3, requires_grad=True, device=DEVICE)
    with pytest.raises((ValueError, NotImplementedError), match="grad"):
        function(index, slope, directed=False)


@pytest.mark.parametrize("kind", ["augmented", "balanced"])
def test_kinds_without_weights(kind):
    with pytest.raises(ValueError, match=f"edge_weight is for kind='plain'; .* kind='{kind}'"):
        forman_curvature(edge_index(TRIANGLE), torch.ones(3).to(DEVICE), kind=kind, directed=False)
    with pytest.raises(ValueError, match="kind must be one of plain, augmented, balanced"):
        forman_curvature(edge_index(TRIANGLE), kind="ricci", directed=False)


def test_hubs_are_refused_before_they_are_computed(engine):
    """Two adjacent hubs would take as many entries as they have pairs of neighbours."""
    hubs = [(0, 1), *((0, v) for v in range(2, 10_000)), *((1, v) for v in range(10_000, 20_000))]
    with pytest.raises(MemoryError, match=r"ollivier_ricci_curvature of 39998 arcs needs"):
        ollivier(edge_index(hubs), directed=False, run=Run(memory=20_000_000))
    d = 400, 402
    hubs = [(0, 1), *((0, v) for v in range(2, 401)), *((1, v) for v in range(401, 802))]
    if engine == "compiled":  # neighbours of one hub are three hops from those of the other
        found = ollivier(edge_index(hubs), directed=False, run=DOUBLE)
        assert float(found[0]) == pytest.approx(curvature_of_hubs(*d), abs=1e-12)


def curvature_of_hubs(a, b):
    """Curvature of the edge of two stars whose centres, of degrees a and b, are adjacent."""
    graph = nx.Graph([("u", "v"), ("u", "x"), ("v", "y")])
    masses = {"u": 0.5 - 0.5 / b, "v": 0.5 / a - 0.5, "x": 0.5 * (a - 1) / a, "y": 0.5 / b - 0.5}
    # u and x give; v and y take: the distances are 1, 2 (u to y, x to v) and 3.
    to_v = min(masses["u"], -masses["v"])
    rest_u, rest_v = masses["u"] - to_v, -masses["v"] - to_v
    assert graph.number_of_edges() == 3
    return 1 - (to_v + 2 * rest_u + 2 * rest_v + 3 * (-masses["y"] - rest_u))


def test_a_control_record_stops_the_kernels():
    if not has_kernel("ollivier", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    graph = Graph.from_edge_index(edge_index(complete(30)).cpu(), directed=False)
    record = torch.tensor([1, 0, 0, 0])  # cancelled
    counts = torch.zeros(3, graph.num_slots, dtype=torch.int64)
    torch.ops.torchcent.edge_cycles(graph.rowptr, graph.col, counts, record, 1)
    assert int(counts.sum()) == 0 == int(record[1])
    found = torch.zeros(graph.num_slots, dtype=F64)
    torch.ops.torchcent.ollivier(graph.rowptr, graph.col, None, 0.5, found, record, 1)
    assert int(record[1]) == 0


def test_node_features_have_the_column():
    index = edge_index([*TRIANGLE, (2, 3)])
    column = torchcent.node_features(index, measures="node_resistance_curvature", directed=False)
    assert torch.equal(column[:, 0], node_resistance_curvature(index, directed=False))
