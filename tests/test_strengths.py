"""Loops, parallel arcs and strengths of 0 in the measures that are functions of the adjacency
matrix: against NumPy with the dense matrix, NetworkX's multigraphs and PyTorch Geometric."""

import copy
import io
import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Building, part_of_batch
from surface import call
from tuning import tuned

import torchcent
from torchcent import Graph, cli

F64 = torch.float64
KINDS = ("plain", "loops", "parallels", "both")
KINDS_AND_WEIGHTS = [(kind, weighted) for kind in KINDS for weighted in (False, True)]
KINDS_AND_WEIGHTS.append(("zeros", True))
WEIGHTS = (0.5, 1.0, 2.0, 3.25)


def drawn(kind, seed, n=9, weighted=True):
    """Columns and weights of a strongly connected graph; "zeros" has all that the others have."""
    draw = np.random.default_rng(seed)
    columns = [(v, (v + 1) % n) for v in range(n)] + [(0, 2), (2, 0), (3, 1), (1, 0)]
    if kind in ("parallels", "both", "zeros"):
        columns += [columns[i] for i in draw.integers(0, len(columns), 6)]
    if kind in ("loops", "both", "zeros"):
        columns += [(4, 4), (0, 0)] + ([(4, 4)] if kind != "loops" else [])
    weight = draw.choice(WEIGHTS, len(columns)) if weighted else np.ones(len(columns))
    if kind == "zeros":
        columns += [(5, 0), (1, 2), (7, 7)]
        weight = np.concatenate([weight, [0, 0, 0]])
    order = draw.permutation(len(columns))
    return np.array(columns)[order].T, weight[order], n


def dense(columns, weight, n, directed=True):
    """The adjacency matrix: sums, of undirected graphs the larger one of both directions."""
    matrix = np.zeros((n, n))
    np.add.at(matrix, tuple(columns), weight)
    return matrix if directed else np.maximum(matrix, matrix.T)


def pagerank(a):
    out = a.sum(1)
    step = np.divide(a, out[:, None], out=np.full_like(a, 1 / len(a)), where=out[:, None] > 0)
    return np.linalg.solve(np.eye(len(a)) - 0.85 * step.T, np.full(len(a), 0.15 / len(a)))


def eigenvector(a):
    values, vectors = np.linalg.eig(a.T)
    found = np.abs(np.real(vectors[:, np.argmax(values.real)]))
    return found / np.linalg.norm(found)


def hubs(a):
    found = np.abs(np.linalg.svd(a)[0][:, 0])
    return found / found.sum()


def walks(a, steps=6):
    out = a.sum(1)
    step = np.divide(a, out[:, None], out=np.zeros_like(a), where=out[:, None] > 0)
    powers = [np.linalg.matrix_power(step, k) for k in range(1, steps + 1)]
    return np.stack([power.diagonal() for power in powers], 1)


def resistances(a):
    laplacian = np.diag(a.sum(1)) - a
    inverse = np.linalg.pinv(laplacian)
    own = inverse.diagonal()
    return own[:, None] + own[None] - 2 * inverse


def flow_betweenness(a):
    n, laplacian = len(a), np.diag(a.sum(1)) - a
    inverse, score = np.linalg.pinv(laplacian), np.zeros(len(a))
    for s in range(n):
        for t in range(s):
            x = inverse[:, s] - inverse[:, t]
            through = (np.abs(x[:, None] - x[None]) * a).sum(1) / 2
            through[[s, t]] = 0
            score += through
    return 2 * score / ((n - 1) * (n - 2))


def katz(a, alpha=0.02):
    return np.linalg.solve(np.eye(len(a)) - alpha * a.T, np.ones(len(a)))


#: name -> the dense definition and the call, for directed graphs and others
DIRECTED = {
    "out": (lambda a: a.sum(1), lambda *g, **o: call(torchcent.degree, *g, **o)),
    "in": (lambda a: a.sum(0), lambda *g, **o: call(torchcent.degree, *g, direction="in", **o)),
    "both": (
        lambda a: a.sum(0) + a.sum(1),
        lambda *g, **o: call(torchcent.degree, *g, direction="both", **o),
    ),
    "pagerank": (pagerank, lambda *g, **o: call(torchcent.pagerank, *g, **o)),
    "katz": (katz, lambda *g, **o: call(torchcent.katz, *g, alpha=0.02, normalized=False, **o)),
    "eigenvector": (eigenvector, lambda *g, **o: call(torchcent.eigenvector, *g, **o)),
    "hubs": (hubs, lambda *g, **o: call(torchcent.hits, *g, **o).hubs),
    "authorities": (
        lambda a: hubs(a.T),
        lambda *g, **o: call(torchcent.hits, *g, **o).authorities,
    ),
    "walks": (
        walks,
        lambda *g, **o: call(torchcent.random_walk_encoding, *g, walk_length=6, **o),
    ),
}
UNDIRECTED = {
    **{name: DIRECTED[name] for name in DIRECTED if name not in ("out", "in", "both")},
    # A loop has two ends.
    "degree": (lambda a: a.sum(1) + a.diagonal(), lambda *g, **o: torchcent.degree(*g, **o)),
    "closed walks": (
        lambda a: scipy.linalg.expm(a).diagonal(),
        lambda *g, **o: call(torchcent.subgraph_centrality, *g, **o),
    ),
    "current flow": (
        flow_betweenness,
        lambda *g, **o: call(torchcent.current_flow_betweenness, *g, **o),
    ),
    "closeness": (
        lambda a: 1 / resistances(a).sum(1),
        lambda *g, **o: call(torchcent.current_flow_closeness, *g, **o),
    ),
    "approximation": (
        flow_betweenness,
        lambda *g, **o: (
            call(
                torchcent.current_flow_betweenness_approx,
                g[0],
                edge_weight=g[1] if len(g) > 1 else None,
                method="exact",
                **o,
            ).scores
        ),
    ),
}
CASES = [(True, name) for name in DIRECTED] + [(False, name) for name in UNDIRECTED]


@pytest.mark.sweep(by="kind name")
@pytest.mark.parametrize(("directed", "name"), CASES)
@pytest.mark.parametrize(("kind", "weighted"), KINDS_AND_WEIGHTS)
def test_values_are_those_of_the_adjacency_matrix(kind, weighted, directed, name):
    """Of an edge_index, of a Graph that was built before, and of a batch."""
    definition, measure = (DIRECTED if directed else UNDIRECTED)[name]
    columns, weight, n = drawn(kind, 3, weighted=weighted)
    expected = definition(dense(columns, weight, n, directed))
    index = torch.from_numpy(columns).to(DEVICE)
    values = (torch.from_numpy(weight).to(DEVICE),) if weighted else ()
    options = {"directed": directed, "dtype": F64}
    found = call(measure, index, *values, **options)
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-6, atol=1e-9)
    if kind != "zeros":
        graph = Graph.from_edge_index(index, n, directed, *values)
        assert torch.equal(measure(graph, run=torchcent.Run(dtype=F64)), found)
    if name == "approximation":
        return
    other, more, size = drawn("both", 8, n=6, weighted=weighted)
    together = torch.cat([index, torch.from_numpy(other).to(DEVICE) + n], 1)
    if weighted:
        values = (torch.cat([values[0], torch.from_numpy(more).to(DEVICE)]),)
    batch = torch.tensor([0] * n + [1] * size, device=DEVICE)
    found = call(measure, together, *values, batch=batch, **options).cpu().numpy()
    np.testing.assert_allclose(found[:n], expected, rtol=1e-6, atol=1e-9)
    expected = definition(dense(other, more, size, directed))
    np.testing.assert_allclose(found[n:], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("kind", "weighted"), KINDS_AND_WEIGHTS)
def test_resistances_and_currents_of_edges(kind, weighted):
    columns, weight, n = drawn(kind, 5, weighted=weighted)
    matrix, index = dense(columns, weight, n, False), torch.from_numpy(columns).to(DEVICE)
    values = torch.from_numpy(weight).to(DEVICE) if weighted else None
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T.to(DEVICE)
    found = torchcent.effective_resistance(
        index, values, pairs=pairs, directed=False, run=torchcent.Run(dtype=F64)
    )
    np.testing.assert_allclose(found.cpu().numpy(), resistances(matrix).ravel(), atol=1e-9)
    # Foster 1949, for currents: the sum over all pairs of both sides, of each edge.
    found = torchcent.edge_current_flow_betweenness(
        index, values, directed=False, normalized=False, run=torchcent.Run(dtype=F64)
    ).cpu()
    inverse = np.linalg.pinv(np.diag(matrix.sum(1)) - matrix)
    for e, (u, v) in enumerate(columns.T):
        x = inverse[:, u] - inverse[:, v]
        own = matrix[u, v] * np.abs(x[:, None] - x[None]).sum() / 4
        expected = 0 if u == v or weight[e] == 0 else own
        assert float(found[e]) == pytest.approx(expected, abs=1e-9)


def test_parallel_resistors():
    pair = nx.MultiGraph([(0, 1), (0, 1), (0, 0)])
    ends = torch.tensor([[0], [1]])
    assert float(torchcent.effective_resistance(pair, pairs=ends)) == 0.5
    assert float(torchcent.effective_resistance(Graph.from_networkx(pair), pairs=ends)) == 0.5


MULTI = [nx.MultiGraph, nx.MultiDiGraph, nx.Graph, nx.DiGraph]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("kind", MULTI)
def test_networkx_agrees(kind, weight):
    graph = kind()
    columns, values, _ = drawn("zeros" if weight else "both", 11)
    for (u, v), value in zip(columns.T.tolist(), values.tolist(), strict=True):
        graph.add_edge(u, v, weight=value)
    nodes = list(graph)
    matrix = nx.to_numpy_array(graph, nodes, weight=weight)
    ranks = nx.pagerank(graph, tol=1e-13, max_iter=1000, weight=weight, backend="networkx")
    found = torchcent.pagerank(graph, weight, run=torchcent.Run(dtype=F64))
    np.testing.assert_allclose(found, [ranks[v] for v in nodes], rtol=1e-6)
    degree = dict(graph.degree(nodes, weight=weight))
    found = torchcent.degree(graph, weight, direction="both", run=torchcent.Run(dtype=F64))
    np.testing.assert_allclose(found, [degree[v] for v in nodes])
    if weight is None:
        built = Graph.from_networkx(graph)
        assert torch.equal(
            torchcent.degree(built, direction="both", run=torchcent.Run(dtype=F64)), found
        )
    encoding = torchcent.random_walk_encoding(
        graph, weight, walk_length=6, run=torchcent.Run(dtype=F64)
    )
    np.testing.assert_allclose(encoding, walks(matrix), atol=1e-12)
    if not graph.is_directed():
        found = torchcent.current_flow_closeness(graph, weight, run=torchcent.Run(dtype=F64))
        scores = nx.current_flow_closeness_centrality(graph, weight=weight, backend="networkx")
        np.testing.assert_allclose(found, [scores[v] for v in nodes], rtol=1e-8)


# Functions of NetworkX, the kinds of graphs that they are for, and what its values allow.
CONNECTED = {"sources": [0, 1], "targets": [3, 4]}
CALLS = [
    ("pagerank", {}, "multi zeros"), ("katz_centrality", {"alpha": 0.02}, "zeros"),
    ("eigenvector_centrality", {}, "zeros"), ("subgraph_centrality", {}, "undirected"),
    ("clustering", {}, ""), ("triangles", {}, "undirected"),
    ("current_flow_closeness_centrality", {}, "undirected multi"),
    ("resistance_distance", {}, "undirected multi"),
    ("effective_graph_resistance", {}, "undirected multi"),
    ("current_flow_betweenness_centrality", {}, "undirected multi no loops unweighted"),
    ("current_flow_betweenness_centrality_subset", CONNECTED,
     "undirected multi no loops unweighted"),
]  # fmt: skip
UNWEIGHTED = ("subgraph_centrality", "triangles")
ITERATED = ("pagerank", "katz_centrality", "eigenvector_centrality")


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("what", KINDS[1:] + ("zeros",))
@pytest.mark.parametrize("kind", MULTI)
@pytest.mark.parametrize(("name", "options", "suits"), CALLS)
@pytest.mark.filterwarnings("ignore:Note")
@pytest.mark.sweep
def test_the_backend_has_the_values_of_networkx(name, options, suits, kind, what, weight):
    from torchcent.nx import can_run

    graph, (columns, values, _) = kind(), drawn(what, 11)
    graph.add_nodes_from(range(9))
    for (u, v), value in zip(columns.T.tolist(), values.tolist(), strict=True):
        graph.add_edge(u, v, weight=value)
    signature = {**options, "weight": weight} if weight and name not in UNWEIGHTED else options
    loops = what in ("loops", "both", "zeros")
    runs = "multi" in suits or not graph.is_multigraph()
    runs &= "undirected" not in suits or not graph.is_directed()
    runs &= "no loops" not in suits or not loops
    runs &= "unweighted" not in suits or not (graph.is_multigraph() and "weight" in signature)
    if what == "zeros":
        runs &= "zeros" in suits or "weight" not in signature
        runs &= name != "subgraph_centrality"
    said = can_run(name, (graph,), signature)
    assert (said is True) == bool(runs), said
    if not runs:
        return
    precise = {"tol": 1e-13, "max_iter": 10**5} if name in ITERATED else {}
    expected = call(getattr(nx, name), graph, backend="networkx", **{**signature, **precise})
    found = call(getattr(nx, name), graph, backend="torchcent", **signature)
    close = 1e-6
    if name == "resistance_distance":
        for node, row in expected.items():
            assert found[node] == pytest.approx(row, rel=close, abs=1e-9)
    else:
        assert found == pytest.approx(expected, rel=close, abs=1e-9)


def test_the_backend_leaves_to_networkx_what_differs():
    from torchcent.nx import can_run

    double = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    for name in ("edge_current_flow_betweenness_centrality",
                 "approximate_current_flow_betweenness_centrality"):  # fmt: skip
        assert "parallel edges" in can_run(name, (double,), {})
    zero = nx.Graph([(0, 1, {"weight": 0}), (1, 2, {"weight": 1}), (0, 2)])
    assert can_run("pagerank", (zero,), {}) is True
    nx.pagerank(zero, backend="torchcent")  # is cached, with a weight of 0
    for name in ("clustering", "betweenness_centrality", "current_flow_closeness_centrality"):
        assert "must be finite and > 0" in can_run(name, (zero,), {"weight": "weight"})
        assert can_run(name, (zero,), {}) is True


@pytest.mark.parametrize("directed", [False, True])
def test_clustering_with_loops_and_parallels(directed):
    """NetworkX's weighted coefficients; parallel arcs are added up beforehand there."""
    columns, weight, n = drawn("both", 2)
    matrix = dense(columns, weight, n, directed)
    graph = nx.from_numpy_array(matrix, create_using=nx.DiGraph if directed else nx.Graph)
    expected = list(nx.clustering(graph, weight="weight", backend="networkx").values())
    index, values = torch.from_numpy(columns).to(DEVICE), torch.from_numpy(weight).to(DEVICE)
    found = torchcent.clustering_coefficient(
        index, values, directed=directed, run=torchcent.Run(dtype=F64)
    )
    np.testing.assert_allclose(found.cpu(), expected, atol=1e-12)
    batch = torch.cat([index, index + n], 1)
    ptr = torch.tensor([0, n, 2 * n], device=DEVICE)
    found = call(
        torchcent.clustering_coefficient,
        batch,
        torch.cat([values, 9 * values]),
        ptr=ptr,
        directed=directed,
        dtype=F64,
    )
    np.testing.assert_allclose(found.cpu(), 2 * expected, atol=1e-12)
    plain = list(nx.clustering(graph, backend="networkx").values())
    found = torchcent.clustering_coefficient(index, directed=directed, run=torchcent.Run(dtype=F64))
    np.testing.assert_allclose(found.cpu(), plain, atol=1e-12)


MEASURES = (
    "degree", "pagerank", "katz", "eigenvector", "hits", "subgraph_centrality", "communicability",
    "clustering_coefficient", "current_flow_closeness", "current_flow_betweenness",
)  # fmt: skip


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_no_strength(name):
    index = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 2]])
    measure = getattr(torchcent, name)
    with pytest.raises(ValueError, match=r"edge_weight\[1\] is -1; weights are (str|cond)") as said:
        measure(index, torch.tensor([1.0, -1, 2, 1]), directed=False)
    assert "distance" not in str(said.value)
    with pytest.raises(ValueError, match=r"edge_weight\[3\] is nan; weights are (str|cond)"):
        measure(index, torch.tensor([1.0, 0, 2, torch.nan]), directed=False)
    with pytest.raises(ValueError, match="sum of edge_weight is beyond float64"):
        measure(index, torch.full((4,), 1.7e308, dtype=F64), directed=False)
    zero = measure(index, torch.tensor([1.0, 0, 2, 0]), directed=False)
    left = measure(index[:, [0, 2]], torch.tensor([1.0, 2]), directed=False, num_nodes=3)
    both = [(x,) if isinstance(x, torch.Tensor) else x for x in (zero, left)]
    for one, other in zip(*both, strict=True):
        assert torch.allclose(one, other)


def test_distances_go_on_refusing_zero():
    index, weight = torch.tensor([[0, 1], [1, 2]]), torch.tensor([1.0, 0])
    said = "edge_weight\\[1\\] is 0; weights are distances and must be > 0: contract vertices"
    with pytest.raises(ValueError, match=said) as of_measure:
        torchcent.closeness(index, weight)
    assert "strengths" not in str(of_measure.value)
    with pytest.raises(ValueError, match=f"{said}.*if weights are strengths, 0 is no arc"):
        Graph.from_edge_index(index, edge_weight=weight)


def graphs_with_all():
    columns, weight, n = drawn("both", 7)
    index, values = torch.from_numpy(columns).to(DEVICE), torch.from_numpy(weight).to(DEVICE)
    for directed in (False, True):
        for own in (None, values):
            yield Graph.from_edge_index(index, n, directed, own)
            ptr = torch.tensor([0, 0, n, n + 2], device=DEVICE)
            yield Graph.from_edge_index(index, n + 2, directed, own, ptr=ptr)


def scores(graph):
    found = (
        torchcent.pagerank(graph, run=torchcent.Run(dtype=F64)),
        torchcent.degree(graph, run=torchcent.Run(dtype=F64)),
    )
    return torch.stack([*found, torchcent.degree(graph.unweighted(), run=torchcent.Run(dtype=F64))])


def same(one, other):
    first, second = scores(one), scores(other).to(one.device)
    if one.device == other.device:
        equal = torch.equal(first, second)
    else:  # sums in another order
        equal = torch.allclose(first, second, rtol=1e-12, atol=1e-14)
    return equal and one == other.to(one.device)


@pytest.mark.parametrize("known", [False, True])
def test_they_survive(known, tmp_path):
    """`known`: what the columns hold has been found before."""
    for graph in graphs_with_all():
        if known:
            scores(graph)
        assert same(graph, graph.to("cpu"))
        assert same(graph, pickle.loads(pickle.dumps(graph)))
        assert same(graph, copy.deepcopy(graph))
        graph.save(tmp_path / "graph.pt")
        assert same(graph, Graph.load(tmp_path / "graph.pt"))
        file = io.BytesIO()
        torch.save(graph, file)
        file.seek(0)
        assert same(graph, torch.load(file))
        assert same(graph, graph.reversed().reversed())
        turned = torchcent.degree(graph.reversed(), run=torchcent.Run(dtype=F64))
        assert torch.equal(
            turned, torchcent.degree(graph, direction="in", run=torchcent.Run(dtype=F64))
        )
        assert hash(graph) == hash(pickle.loads(pickle.dumps(graph)))


def test_a_slot_that_was_asked_for_loses_nothing():
    for early, late in zip(graphs_with_all(), graphs_with_all(), strict=True):
        assert early.slot.numel() and torch.equal(scores(early), scores(late))
        assert early == late


@pytest.mark.parametrize("change", ["counts", "loops", "strengths", "loop_strengths"])
def test_files_with_other_strengths_are_refused(change, tmp_path):
    columns, weight, n = drawn("both", 7)
    graph = Graph.from_edge_index(
        torch.from_numpy(columns), n, False, torch.from_numpy(weight)
    )  # fmt: skip
    graph.save(tmp_path / "graph.pt")
    content = torch.load(tmp_path / "graph.pt")
    assert content["version"] == 2
    wrong = [content[change][:-1], content[change].float(), -content[change] - 1]
    if change in ("counts", "strengths"):
        wrong.append(torch.arange(1, content[change].numel() + 1, dtype=F64))  # not symmetric
    for values in wrong:
        torch.save({**content, change: values}, tmp_path / "other.pt")
        with pytest.raises(ValueError, match="not a file of Graph.save"):
            Graph.load(tmp_path / "other.pt")
        with pytest.raises(ValueError, match="not a pickled"):
            graph.__class__.__new__(Graph).__setstate__({**content, change: values})


def test_parts_of_a_batch():
    columns, weight, n = drawn("both", 7)
    other, more, size = drawn("both", 9, n=5)
    index = torch.from_numpy(np.hstack([columns, other + n])).to(DEVICE)
    values = torch.from_numpy(np.concatenate([weight, more])).to(DEVICE)
    batch = torch.tensor([0] * n + [1] * size, device=DEVICE)
    for both in (values, None):
        union = Graph.from_edge_index(index, edge_weight=both, batch=batch)
        own = None if both is None else torch.from_numpy(more).to(DEVICE)
        alone = Graph.from_edge_index(torch.from_numpy(other).to(DEVICE), size, edge_weight=own)
        part = part_of_batch(union, 1)
        assert alone == part and torch.equal(scores(alone), scores(part))
        matrix = part_of_batch(union._adjacency, 1)
        assert alone._adjacency == matrix
        assert torch.equal(alone._adjacency._diagonal, matrix._diagonal)


def test_ordinary_graphs_keep_nothing_beside():
    arcs = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 2]], device=DEVICE)
    symmetric = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]], device=DEVICE)
    for index, directed in ((arcs, True), (symmetric, True), (symmetric, False)):
        for weight in (None, torch.tensor([2.0, 2, 3, 3], device=DEVICE)):
            graph = Graph.from_edge_index(index, 3, directed, weight)
            assert graph._adjacency is graph and graph._conductances is graph
            assert graph._multiplicity == (None, None) == graph._sums and not graph._repeated
            assert graph.unweighted()._adjacency is graph.unweighted()


def test_the_larger_direction_counts():
    """Of an undirected edge whose directions differ; distances take the smaller one."""
    index = torch.tensor([[0, 1, 1, 2, 1], [1, 0, 2, 1, 2]], device=DEVICE)
    weight = torch.tensor([2.0, 3, 1, 1, 4], device=DEVICE)
    for graph in (Graph.from_edge_index(index, 3, False, weight),):
        assert graph.weight.tolist() == [2, 2, 1, 1]
        assert torchcent.degree(graph).tolist() == [3, 8, 5]
        assert torchcent.degree(graph.unweighted()).tolist() == [1, 3, 2]


@pytest.mark.parametrize("compiled", [True, False])
@given(
    columns=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=25),
    seed=st.integers(0, 99),
    directed=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_adjacency_matrix(compiled, columns, seed, directed):
    weight = np.random.default_rng(seed).choice([0, *WEIGHTS], len(columns))
    arcs, n = np.array(columns).T, 6
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            tuned(patch)(compiled=False)
        index = torch.from_numpy(arcs).to(DEVICE)
        kept = weight > 0
        graph = Graph.from_edge_index(
            index[:, torch.from_numpy(kept).to(DEVICE)], n, directed,
            torch.from_numpy(weight[kept]).to(DEVICE),
        )  # fmt: skip
        for made, values in ((graph, weight * kept), (graph.unweighted(), 1.0 * kept)):
            found = made._adjacency.to_scipy().toarray()
            np.testing.assert_array_equal(found, dense(arcs, values, n, directed))
            found = made._conductances.to_scipy().toarray()
            off = dense(arcs, values, n, directed) * (1 - np.eye(n))
            np.testing.assert_array_equal(found, off)
        degree = torchcent.degree(
            index,
            torch.from_numpy(weight).to(DEVICE),
            directed=directed,
            num_nodes=n,
            run=torchcent.Run(dtype=F64),
        )
        assert torch.equal(degree, torchcent.degree(graph, run=torchcent.Run(dtype=F64)))


LAYOUTS = ("coo", "csr", "csc", "torch coo", "torch csr")


@pytest.mark.parametrize("directed", [None, False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_entries_of_a_matrix_are_added_up(layout, directed):
    row, col = np.array([0, 0, 1, 2, 0, 1]), np.array([1, 1, 2, 0, 1, 1])
    values = np.array([1.0, 2, 2.5, 1, -0.5, 4])
    matrix = scipy.sparse.coo_array((values, (row, col)), shape=(3, 3))
    expected = matrix.toarray()
    if layout == "csr":
        matrix = scipy.sparse.csr_array(
            (values[[0, 1, 4, 2, 5, 3]], [1, 1, 1, 2, 1, 0], [0, 3, 5, 6]), (3, 3)
        )
    elif layout == "csc":
        matrix = scipy.sparse.csc_array(
            (values[[3, 0, 1, 4, 5, 2]], [2, 0, 0, 0, 1, 1], [0, 1, 5, 6]), (3, 3)
        )
    elif layout == "torch coo":
        matrix = torch.sparse_coo_tensor(
            np.stack([row, col]), values, (3, 3), check_invariants=False
        )
    elif layout == "torch csr":
        matrix = torch.sparse_csr_tensor(
            torch.tensor([0, 3, 5, 6]), torch.tensor([1, 1, 1, 2, 1, 0]),
            torch.from_numpy(values[[0, 1, 4, 2, 5, 3]]), (3, 3), check_invariants=False,
        )  # fmt: skip
    read = Graph.from_torch_sparse if "torch" in layout else Graph.from_scipy
    graph = read(matrix, directed, edge_weight=True)
    off = expected * (1 - np.eye(3))
    if directed is False:
        expected = np.maximum(expected, expected.T)
        off = np.minimum(*(np.where(x > 0, x, np.inf) for x in (off, off.T)))
    np.testing.assert_array_equal(graph.to_scipy().toarray(), np.where(np.isfinite(off), off, 0))
    np.testing.assert_array_equal(graph._adjacency.to_scipy().toarray(), expected)
    counts = (expected > 0).astype(float)
    np.testing.assert_array_equal(graph.unweighted()._adjacency.to_scipy().toarray(), counts)
    plain = read(matrix, directed)
    np.testing.assert_array_equal(plain._adjacency.to_scipy().toarray(), counts)
    assert graph.slot.numel() == plain.slot.numel() == 6  # of each entry, as it is stored
    if directed is not False:
        lengths = torchcent.shortest_path_lengths(matrix, True).cpu().numpy()
        np.testing.assert_array_equal(
            lengths, scipy.sparse.csgraph.shortest_path(scipy.sparse.csr_array(off))
        )
        found = torchcent.pagerank(matrix, True, run=torchcent.Run(dtype=F64)).cpu()
        np.testing.assert_allclose(found, pagerank(expected), rtol=1e-6)


def test_integers_in_a_matrix_are_added_up_exactly():
    matrix = scipy.sparse.coo_array(
        (np.array([100, 100, 3], np.int8), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)
    )
    assert Graph.from_scipy(matrix, edge_weight=True).weight.tolist() == [200, 3]


@pytest.mark.parametrize("directed", [False, None])
def test_mcl_takes_the_largest_and_says_so(directed):
    index = torch.tensor([[0, 1, 1, 2, 0], [1, 0, 2, 1, 1]])
    weight = torch.tensor([1.0, 1, 2, 2, 5])
    with pytest.warns(UserWarning, match="1 edges repeat an arc with a smaller weight"):
        repeated = torchcent.mcl(index, weight, directed=directed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = torchcent.mcl(index[:, 1:], torch.tensor([1.0, 2, 2, 5]), directed=directed)
        torchcent.mcl(index, torch.tensor([1.0, 1, 2, 2, 1]), directed=directed)
        torchcent.mcl(index, torch.tensor([0.0, 1, 2, 2, 5]), directed=directed)
    assert torch.equal(repeated.labels, single.labels)


def test_mcl_adds_up_the_entries_of_a_matrix():
    draw = np.random.default_rng(1)
    row, col = draw.integers(0, 30, (2, 200))
    row, col = np.concatenate([row, col]), np.concatenate([col, row])
    matrix = scipy.sparse.coo_array((np.ones(400), (row, col)), shape=(30, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torchcent.mcl(matrix, True, return_flow=True)
    again = torchcent.mcl(scipy.sparse.coo_array(matrix.toarray()), True, return_flow=True)
    assert torch.equal(found.labels, again.labels)


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("kind", ["loops", "parallels", "both"])
def test_pytorch_geometric_agrees(kind, size):
    geometric = pytest.importorskip("torch_geometric")
    from torch_geometric.transforms import AddRandomWalkPE

    from torchcent.transforms import AddCentrality, AddRandomWalkEncoding

    draw = np.random.default_rng(size)
    index = torch.from_numpy(draw.integers(0, size, (2, 4 * size)))
    index = torch.unique(index[:, index[0] != index[1]], dim=1)
    if kind != "loops":
        index = torch.cat([index, index[:, ::2], index[:, :2]], 1)
    if kind != "parallels":
        loops = torch.arange(0, size, 2)
        index = torch.cat([index, torch.stack([loops, loops])], 1)
    if kind == "both":
        index = torch.cat([index, torch.stack([loops, loops])], 1)
    data = geometric.data.Data(edge_index=index, num_nodes=size)
    expected = AddRandomWalkPE(7)(data.clone()).random_walk_pe
    found = AddRandomWalkEncoding(7)(data.clone()).random_walk_pe
    assert torch.allclose(found, expected, atol=1e-6)
    both = geometric.data.Batch.from_data_list([data, data.clone()])
    found = AddRandomWalkEncoding(7)(both).random_walk_pe
    assert torch.allclose(found, torch.cat([expected, expected]), atol=1e-6)
    if kind == "loops":  # without repeated arcs the function has the same values
        found = torchcent.random_walk_encoding(index, walk_length=7, num_nodes=size)
        assert torch.allclose(found, expected, atol=1e-6)
    ranks = AddCentrality(["pagerank", "degree"], normalized=False)(data.clone()).centrality
    assert torch.allclose(ranks[:, 0], torchcent.pagerank(index, num_nodes=size))
    degree = geometric.utils.degree(index[0], size)
    assert torch.equal(ranks[:, 1], degree)


def test_pytorch_geometric_adds_up_in_large_graphs():
    geometric = pytest.importorskip("torch_geometric")
    from torch_geometric.transforms import AddRandomWalkPE

    from torchcent.transforms import AddRandomWalkEncoding

    ring = torch.arange(2100)
    index = torch.stack([torch.cat([ring, ring[:9]]), (torch.cat([ring, ring[:9]]) + 1) % 2100])
    index = torch.cat([index, index.flip(0)[:, ::3], torch.tensor([[5], [5]])], 1)
    data = geometric.data.Data(edge_index=index, num_nodes=2100)
    expected = AddRandomWalkPE(4)(data.clone()).random_walk_pe
    found = AddRandomWalkEncoding(4)(data.clone()).random_walk_pe
    assert torch.allclose(found, expected, atol=1e-6)


def test_functional_is_the_same():
    columns, weight, n = drawn("zeros", 4)
    index, values = torch.from_numpy(columns), torch.from_numpy(weight)
    for name in ("pagerank", "degree", "katz", "current_flow_closeness", "subgraph_centrality"):
        found = getattr(torchcent.functional, name)(index, values, num_nodes=n, directed=False)
        assert torch.equal(found, getattr(torchcent, name)(index, values, directed=False)), name


def test_centralization_is_of_the_arcs_alone():
    columns, _, n = drawn("both", 4)
    index = torch.from_numpy(columns)
    once = torch.unique(index[:, index[0] != index[1]], dim=1)
    for measure in ("degree", "pagerank"):
        found = torchcent.centralization(index, measure, directed=False)
        assert found == torchcent.centralization(once, measure, directed=False, num_nodes=n)


def test_command_line(tmp_path, capsys):
    file, out = tmp_path / "graph.csv", tmp_path / "scores.csv"
    file.write_text("source,target,weight\na,b,1\na,b,2\nb,c,0\nc,a,1\nb,b,4\n")
    for command, expected in (("degree", [4, 11, 1]), ("current-flow-closeness", None)):
        assert cli.main([command, str(file), "--weights", "--out", str(out)]) == 0
        rows = [line.split(",") for line in out.read_text().splitlines() if line[:1] in "abc"]
        found = {row[0]: float(row[-1]) for row in rows}
        if expected is not None:
            assert [found[name] for name in "abc"] == expected
        else:  # resistances 1/3 (a, b), 1 (a, c)
            assert found["a"] == pytest.approx(1 / (1 / 3 + 1), rel=1e-5)
    file.write_text("source,target,weight\na,b,1\nb,c,-2\n")
    assert cli.main(["pagerank", str(file), "--weights"]) != 0
    assert "edge b c (row 2), is -2; weights are strengths" in capsys.readouterr().err
    file.write_text("source,target,weight\na,b,1\nb,c,0\n")
    assert cli.main(["closeness", str(file), "--weights"]) != 0
    assert "weights are distances" in capsys.readouterr().err


def test_room_for_sums_is_part_of_the_estimate():
    """A limit between both amounts is enough without repeated columns, and refused with them."""
    arcs = torch.randint(0, 3000, (2, 60_000), generator=torch.Generator().manual_seed(0))
    arcs = torch.unique(arcs[:, arcs[0] < arcs[1]], dim=1)
    weight = torch.ones(arcs.shape[1])
    room = Building(arcs.shape[1], True, True, arcs.device, None)
    needed = room.needed(3000)
    Graph.from_edge_index(arcs, 3000, False, weight, run=torchcent.Run(memory=needed))
    again = torch.cat([arcs[:, :1], arcs[:, :-1]], 1)
    with pytest.raises(MemoryError, match="building a Graph"):
        Graph.from_edge_index(again, 3000, False, weight, run=torchcent.Run(memory=needed))


@pytest.mark.parametrize("name", ["pagerank", "katz", "degree", "current_flow_closeness"])
def test_subnormal_strengths_are_refused(name):
    """Their reciprocals are beyond float64: scores would be NaN."""
    index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    weight = torch.tensor([1.0, 5e-324, 1.0], dtype=torch.float64)
    graph = torchcent.Graph.from_edge_index(index, directed=False, edge_weight=weight)
    for arguments in ((graph,), (index, weight)):
        directed = {} if arguments[0] is graph else {"directed": False}
        with pytest.raises(ValueError, match="from 2.3e-308 on"):
            call(getattr(torchcent, name), *arguments, **directed)


@pytest.mark.parametrize("name", ["pagerank", "eigenvector", "hits", "degree"])
def test_loops_of_subnormal_strength_are_refused(name):
    index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 2]])
    weight = torch.tensor([1.0, 1.0, 1.0, 1e-313], dtype=torch.float64)
    with pytest.raises(ValueError, match="from 2.3e-308 on"):
        call(getattr(torchcent, name), index, weight, directed=False)
