"""Degrees, triangles, cores and measures of walks: against dense linear algebra, brute force and
NetworkX; batches, malformed arguments, columns, NetworkX and the command line."""

import itertools
import math
import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

import torchcent
from torchcent import Graph, cli
from torchcent.walks import _local, _matrix, _pagerank, _subgraph

F64 = torch.float64
SEEDS = range(3)


def drawn(seed, n=24, m=70, directed=True, weighted=True):
    """A matrix without loops, and its Graph."""
    draw = np.random.default_rng(seed)
    matrix = np.zeros((n, n))
    for u, v in draw.integers(0, n - 2, (m, 2)):  # two isolated vertices
        if u != v:
            matrix[u, v] = draw.choice([0.5, 1, 2, 3]) if weighted else 1
            if not directed:
                matrix[v, u] = matrix[u, v]
    return matrix, graph_of(matrix, directed, weighted)


def graph_of(matrix, directed=True, weighted=True):
    tail, head = np.nonzero(matrix)
    index = torch.from_numpy(np.stack([tail, head])).to(DEVICE)
    weight = torch.from_numpy(matrix[tail, head]).to(DEVICE) if weighted else None
    return Graph.from_edge_index(index, len(matrix), directed, weight)


def networkx_of(matrix, directed):
    kind = nx.DiGraph if directed else nx.Graph
    return nx.from_numpy_array(matrix, create_using=kind)


def close(found, expected, tolerance=1e-9):
    if isinstance(expected, dict):
        expected = [expected[v] for v in range(len(expected))]
    wanted = torch.as_tensor(np.array(expected, dtype=float))
    torch.testing.assert_close(found.cpu().double(), wanted, rtol=tolerance, atol=tolerance)


def stationary(matrix, alpha, restart, jump):
    """PageRank by a dense solve of its equation."""
    n = len(matrix)
    out = matrix.sum(1)
    step = np.where(out[:, None] > 0, matrix / np.where(out > 0, out, 1)[:, None], jump[None, :])
    return np.linalg.solve(np.eye(n) - alpha * step.T, (1 - alpha) * restart)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_pagerank(seed, directed):
    matrix, graph = drawn(seed, directed=directed)
    even = np.full(len(matrix), 1 / len(matrix))
    found = torchcent.pagerank(graph, run=torchcent.Run(dtype=F64))
    close(found, stationary(matrix, 0.85, even, even))
    close(found, nx.pagerank(networkx_of(matrix, directed), tol=1e-14, max_iter=1000))
    draw = np.random.default_rng(seed)
    restart, jump = draw.random((len(matrix), 20)), draw.random(len(matrix))
    found = torchcent.pagerank(
        graph, alpha=0.5, personalization=torch.from_numpy(restart),
        dangling=torch.from_numpy(jump), run=torchcent.Run(dtype=F64),
    )  # fmt: skip
    assert found.shape == restart.shape
    for column in (0, 17):
        p = restart[:, column] / restart[:, column].sum()
        close(found[:, column], stationary(matrix, 0.5, p, jump / jump.sum()))
    close(torchcent.pagerank(graph, alpha=0, run=torchcent.Run(dtype=F64)), even)


@given(st.integers(0, 10**6), st.floats(0.1, 0.97), st.sampled_from([1e-3, 1e-6, 1e-11]))
@settings(max_examples=20, deadline=None)
def test_the_error_of_pagerank_is_bounded(seed, alpha, tol):
    matrix, graph = drawn(seed, 12, 20)
    even = np.full(12, 1 / 12)
    found = (
        torchcent.pagerank(graph, alpha=alpha, tol=tol, run=torchcent.Run(dtype=F64)).cpu().numpy()
    )
    assert np.abs(found - stationary(matrix, alpha, even, even)).sum() <= 2 * tol + 1e-14


def test_pagerank_of_igraph():
    igraph = pytest.importorskip("igraph")
    matrix, graph = drawn(5, 60, 300)
    tail, head = np.nonzero(matrix)
    there = igraph.Graph(n=60, edges=list(zip(tail.tolist(), head.tolist(), strict=True)),
                         directed=True)  # fmt: skip
    close(
        torchcent.pagerank(graph, run=torchcent.Run(dtype=F64)),
        there.pagerank(weights=matrix[tail, head].tolist()),
        1e-8,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_katz(seed):
    matrix, graph = drawn(seed)
    beta = np.random.default_rng(seed).random(len(matrix))
    exact = np.linalg.solve(np.eye(len(matrix)) - 0.05 * matrix.T, beta)
    found = torchcent.katz(
        graph,
        alpha=0.05,
        beta=torch.from_numpy(beta),
        normalized=False,
        run=torchcent.Run(dtype=F64),
    )
    close(found, exact)
    known = nx.katz_centrality(networkx_of(matrix, True), 0.05, weight="weight", tol=1e-12)
    close(torchcent.katz(graph, alpha=0.05, run=torchcent.Run(dtype=F64)), known)


def test_katz_diverges():
    matrix, graph = drawn(1, directed=False)
    limit = 1 / np.linalg.eigvalsh(matrix)[-1]
    torchcent.katz(graph, alpha=0.9 * limit)
    said = r"alpha=.* must be below .* with its weights, about (\S+); lower it, or .*--alpha auto"
    with pytest.raises(ValueError, match=said) as error:
        torchcent.katz(graph, alpha=1.5 * limit)
    assert float(re.search(said, str(error.value))[1]) == pytest.approx(limit, rel=1e-3)
    with pytest.raises(ValueError, match="eigenvalue of the graph, about"):
        torchcent.katz(drawn(1, directed=False, weighted=False)[1], alpha=1.5)
    with pytest.raises(ValueError, match="no convergence to tol=1e-10 in max_iter=5"):
        torchcent.katz(torchcent.generate.grid(9, 9), alpha=0.2, max_iter=5)  # more than are solved


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n", [20, 60])
def test_katz_suits_each_graph(n, directed):
    """alpha=None is 0.85 divided by the largest eigenvalue, in a batch, too."""
    matrix, graph = drawn(3, n, 4 * n, directed=directed)
    top = np.abs(np.linalg.eigvals(matrix)).max()
    exact = np.linalg.solve(np.eye(n) - 0.85 / top * matrix.T, np.ones(n))
    double = torchcent.Run(dtype=F64)
    close(torchcent.katz(graph, alpha=None, normalized=False, run=double), exact, 1e-7)
    index = torchcent.generate.ba(70, 9, seed=1)
    index = torch.cat([index, torchcent.generate.ba(40, 3, seed=2) + 70], 1)
    batch = torch.arange(110) // 70
    two = {"batch": batch.to(DEVICE), "directed": directed, "run": double}
    index = index.to(DEVICE)
    both = torchcent.katz(index, alpha=None, **two)
    one = torchcent.katz(index[:, index[0] < 70], num_nodes=70, alpha=None, directed=directed,
                         run=double)  # fmt: skip
    close(both[:70], one.cpu().numpy(), 1e-12)
    column = torchcent.node_features(index, measures=["degree", "katz"], **two)[:, 1]
    close(column, both.cpu().numpy(), 1e-12)


def test_katz_of_a_path_without_a_cycle():
    """The largest in-degree takes the place of the eigenvalue 0."""
    fork = torch.tensor([[0, 1, 2], [2, 2, 3]], device=DEVICE)
    scores = torchcent.katz(fork, alpha=None, normalized=False, run=torchcent.Run(dtype=F64))
    close(scores, np.array([1, 1, 1 + 0.85, 1 + 0.425 * 1.85]), 1e-12)


def test_alpha_of_each_graph():
    arcs, batch = torch.tensor([[0, 1, 3], [1, 2, 4]]), torch.tensor([0, 0, 0, 1, 1])
    options = {"batch": batch.to(DEVICE), "normalized": False}
    arcs = arcs.to(DEVICE)
    scores = torchcent.katz(arcs, alpha=torch.tensor([0.5, 0.25]), **options)
    assert scores.tolist() == [1, 1.5, 1.75, 1, 1.25]
    features = torchcent.node_features(arcs, measures="katz", alpha=0.5, batch=options["batch"])
    close(features[:, 0], torchcent.katz(arcs, alpha=0.5, batch=options["batch"]).cpu().numpy())
    with pytest.raises(ValueError, match=r"alpha must be .* shape \[2\], one for each graph"):
        torchcent.katz(arcs, alpha=torch.tensor([0.5]), **options)
    with pytest.raises(ValueError, match=r"alpha\[1\] is -1; accepted: finite and > 0"):
        torchcent.katz(arcs, alpha=torch.tensor([0.5, -1]), **options)
    with pytest.raises(ValueError, match="product of both is about 2"):
        torchcent.katz(arcs, alpha=torch.tensor([0.5, 2]), batch=options["batch"], directed=False)
    with pytest.raises(ValueError, match="alpha is for katz, which measures does not name"):
        torchcent.node_features(arcs, measures="degree", alpha=0.5)


@pytest.mark.parametrize("seed", SEEDS)
def test_eigenvector_and_hits(seed):
    matrix, graph = drawn(seed, 60, 300, directed=False)
    values, states = np.linalg.eigh(matrix)
    close(torchcent.eigenvector(graph, run=torchcent.Run(dtype=F64)), np.abs(states[:, -1]), 1e-8)
    matrix, graph = drawn(seed, 60, 300)
    values, states = np.linalg.eig(matrix.T)
    vector = np.abs(states[:, values.real.argmax()].real)
    close(
        torchcent.eigenvector(graph, run=torchcent.Run(dtype=F64)),
        vector / np.linalg.norm(vector),
        1e-8,
    )
    left, _, right = np.linalg.svd(matrix)
    hubs, authorities = torchcent.hits(graph, run=torchcent.Run(dtype=F64))
    close(hubs, np.abs(left[:, 0]) / np.abs(left[:, 0]).sum(), 1e-8)
    close(authorities, np.abs(right[0]) / np.abs(right[0]).sum(), 1e-8)
    known = nx.hits(networkx_of(matrix, True), tol=1e-13)
    close(hubs, known[0], 1e-8)
    close(authorities, known[1], 1e-8)


def test_eigenvector_of_slow_and_of_several_parts():
    """A long path has a small gap; of two equal parts the projection of ones has both."""
    n = 120
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)]).to(DEVICE)
    exact = np.sin(np.arange(1, n + 1) * math.pi / (n + 1))
    found = torchcent.eigenvector(path, directed=False, run=torchcent.Run(dtype=F64))
    close(found, exact / np.linalg.norm(exact), 1e-7)
    twice = torch.cat([path, path + n], 1)
    found = torchcent.eigenvector(twice, directed=False, run=torchcent.Run(dtype=F64))
    close(found[:n], exact / np.linalg.norm(exact) / math.sqrt(2), 1e-7)
    close(found[n:], exact / np.linalg.norm(exact) / math.sqrt(2), 1e-7)
    with pytest.raises(ValueError, match="edge_index has no directed cycle"):
        torchcent.eigenvector(path[:, :3])
    ring = torch.cat([path[:, :3], torch.tensor([[3], [0]], device=DEVICE)], 1)
    assert torchcent.eigenvector(ring, run=torchcent.Run(dtype=F64)).tolist() == [0.5] * 4
    with pytest.raises(ValueError, match="max_iter=2"):
        torchcent.eigenvector(torch.cat([ring, path[:, 1:9:2]], 1), max_iter=2)
    with pytest.raises(ValueError, match="max_iter must be at most 1,000,000"):
        torchcent.eigenvector(path, max_iter=2**63)


@pytest.mark.sweep
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_subgraph_centrality(seed, dense, monkeypatch):
    matrix, graph = drawn(seed, 40, 90, directed=False)
    values, states = np.linalg.eigh(matrix)
    exact = states * np.exp(values) @ states.T
    if not dense:
        monkeypatch.setattr(_subgraph, "_DENSE", 4)
        monkeypatch.setattr(_subgraph, "_MOST_DENSE", 4)
        monkeypatch.setattr(_subgraph, "_TOGETHER", 7)
    close(torchcent.subgraph_centrality(graph, run=torchcent.Run(dtype=F64)), np.diag(exact))
    some = torch.tensor([38, 3, 11])
    found = torchcent.subgraph_centrality(graph, vertices=some, run=torchcent.Run(dtype=F64))
    close(found, np.diag(exact)[some])
    close(torchcent.communicability(graph, run=torchcent.Run(dtype=F64)), exact)
    plain = graph.unweighted()
    known = networkx_of((matrix > 0) * 1.0, False)
    close(
        torchcent.subgraph_centrality(plain, run=torchcent.Run(dtype=F64)),
        nx.subgraph_centrality(known),
    )
    there = nx.communicability(known)
    wanted = [[there[u][v] for v in range(40)] for u in range(40)]
    close(torchcent.communicability(plain, run=torchcent.Run(dtype=F64)), wanted)


@pytest.mark.parametrize("most", [1024, 2])
def test_exponentials_beyond_float64(most, monkeypatch):
    """Of one component; the others are as they are alone."""
    monkeypatch.setattr(_subgraph, "_DENSE", most)
    monkeypatch.setattr(_subgraph, "_MOST_DENSE", most)
    arcs, run = torch.tensor([[0, 1, 3, 5], [1, 2, 4, 6]]), torchcent.Run(dtype=F64)
    weight = torch.tensor([800.0, 800.0, 1.0, 705.0], dtype=F64)
    graph = Graph.from_edge_index(arcs.to(DEVICE), directed=False, edge_weight=weight.to(DEVICE))
    diagonal = [math.inf] * 3 + [math.cosh(1)] * 2 + [math.cosh(705)] * 2
    close(torchcent.subgraph_centrality(graph, run=run), diagonal)
    if most > 2:
        known = np.diag(diagonal)
        known[:3, :3] = math.inf
        known[3, 4] = known[4, 3] = math.sinh(1)
        known[5, 6] = known[6, 5] = math.sinh(705)
        close(torchcent.communicability(graph, run=run), known)


def test_communicability_of_no_vertices():
    none = torch.zeros(2, 0, dtype=torch.int64, device=DEVICE)
    assert torchcent.communicability(none, num_nodes=0, directed=False).shape == (0, 0)


@pytest.mark.parametrize("heavy", [1e3, 1e6, 1e12])
def test_eigenvector_beside_a_heavy_arc(heavy):
    """An arc outside of the cycles outweighs them for many steps of a power iteration."""
    arcs = torch.tensor([[0, 1, 0, 3], [1, 0, 2, 2]]).to(DEVICE)
    weight = torch.tensor([1, 1, 1, heavy], dtype=F64, device=DEVICE)
    found = torchcent.eigenvector(arcs, weight, directed=True, run=torchcent.Run(dtype=F64))
    close(found, np.array([1, 1, 1, 0]) / math.sqrt(3), 1e-8)


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_the_error_of_quadratures_is_bounded(tol, monkeypatch):
    monkeypatch.setattr(_subgraph, "_DENSE", 4)
    monkeypatch.setattr(_subgraph, "_MOST_DENSE", 4)
    matrix, graph = drawn(7, 60, 240, directed=False, weighted=False)
    values, states = np.linalg.eigh(matrix)
    exact = (states * states) @ np.exp(values)
    found = (
        torchcent.subgraph_centrality(graph, tol=tol, run=torchcent.Run(dtype=F64)).cpu().numpy()
    )
    assert (np.abs(found - exact) <= tol * exact * 1.1).all()


def triangle_sums(matrix):
    """Of every vertex the products of directed triangles, by trying all pairs; Fagiolo 2007."""
    n = len(matrix)
    root = np.cbrt(matrix / matrix.max())
    both = root + root.T
    return [
        sum(both[u, v] * both[v, w] * both[w, u] for v, w in itertools.permutations(range(n), 2))
        for u in range(n)
    ]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_triangles_and_clustering(seed, directed, weighted, monkeypatch):
    if seed:
        monkeypatch.setattr(_local, "_PAIRS", 5)
    matrix, graph = drawn(seed, 20, 90, directed, weighted)
    there = networkx_of(matrix, directed)
    found = torchcent.clustering_coefficient(graph, run=torchcent.Run(dtype=F64))
    close(found, nx.clustering(there, weight="weight" if weighted else None), 1e-12)
    arcs = matrix > 0
    every = (arcs + 0.0 + arcs.T).sum(1)
    pairs = every * (every - 1) - 2 * (arcs & arcs.T).sum(1)
    close(found, np.array(triangle_sums(matrix)) / np.maximum(2 * pairs, 1), 1e-12)
    if directed:
        with pytest.raises(ValueError, match="triangles is for undirected graphs"):
            torchcent.triangles(graph)
    else:
        number = torchcent.triangles(graph)
        assert number.dtype == torch.int64
        close(number, nx.triangles(there))
        tensors = _local._sums(_local._oriented(graph.unweighted()))  # as on devices without kernel
        close(number, tensors.tolist())
        close(number, np.diag(np.linalg.matrix_power(arcs.astype(int), 3)) / 2)


@given(st.integers(0, 10**6), st.integers(0, 300))
@settings(max_examples=30, deadline=None)
def test_triangles_of_hubs(seed, m):
    """Ends drawn by squares, so that degrees differ."""
    draw = np.random.default_rng(seed)
    ends = (draw.random((2, m)) ** 2 * 40).astype(np.int64)
    matrix = np.zeros((40, 40), int)
    matrix[ends[0], ends[1]] = 1
    matrix = (matrix | matrix.T) & ~np.eye(40, dtype=int)
    found = torchcent.triangles(torch.from_numpy(ends).to(DEVICE), num_nodes=40, directed=False)
    close(found, np.diag(np.linalg.matrix_power(matrix, 3)) // 2)


def test_clustering_of_a_hub_of_many_neighbours():
    """A wheel, whose pairs of spokes are no float32 number."""
    n = 19999
    rim = torch.arange(n, device=DEVICE)
    wheel = torch.cat(
        [torch.stack([rim, (rim + 1) % n]), torch.stack([rim, torch.full_like(rim, n)])], 1
    )
    found = torchcent.clustering_coefficient(wheel, directed=False, run=torchcent.Run(dtype=F64))
    assert float(found[n]) == pytest.approx(2 / (n - 1), rel=1e-14)


def peeled(matrix):
    """Core numbers: for every k, vertices of too small a degree are removed until there is none."""
    degree = (matrix > 0).sum(0) + (matrix > 0).sum(1)
    found = np.zeros(len(matrix), int)
    left = matrix.copy()
    for k in range(1, int(degree.max(initial=0)) + 1):
        inside = np.ones(len(matrix), bool)
        while True:
            degree = (left > 0).sum(0) + (left > 0).sum(1)
            few = inside & (degree < k)
            if not few.any():
                break
            inside[few] = False
            left[few], left[:, few] = 0, 0
        found[inside] = k
    return found


@given(st.integers(0, 10**6), st.integers(0, 120), st.booleans())
@settings(max_examples=30, deadline=None)
def test_core_number(seed, m, directed):
    matrix, graph = drawn(seed, 16, m, directed)
    found = torchcent.core_number(graph)
    assert found.dtype == torch.int64
    assert found.tolist() == (peeled(matrix) // (1 if directed else 2)).tolist()
    assert _local._peeled(graph).tolist() == found.tolist()
    known = nx.core_number(networkx_of(matrix, directed))
    assert found.tolist() == [known[v] for v in range(16)]


@pytest.mark.parametrize("directed", [True, False])
def test_degree(directed):
    matrix, graph = drawn(2, directed=directed)
    out, back = matrix.sum(1), matrix.sum(0)
    close(torchcent.degree(graph, run=torchcent.Run(dtype=F64)), out)
    close(torchcent.degree(graph, direction="in", run=torchcent.Run(dtype=F64)), back)
    close(
        torchcent.degree(graph, direction="both", run=torchcent.Run(dtype=F64)),
        out + back if directed else out,
    )
    there, plain = networkx_of(matrix, directed), graph.unweighted()
    found = torchcent.degree(plain, direction="both", normalized=True, run=torchcent.Run(dtype=F64))
    close(found, nx.degree_centrality(there))
    if directed:
        found = torchcent.degree(
            plain, direction="in", normalized=True, run=torchcent.Run(dtype=F64)
        )
        close(found, nx.in_degree_centrality(there))
        found = torchcent.degree(plain, normalized=True, run=torchcent.Run(dtype=F64))
        close(found, nx.out_degree_centrality(there))


OF_VERTICES = {
    "pagerank": {}, "katz": {"alpha": 0.01}, "eigenvector": {}, "subgraph_centrality": {},
    "core_number": {}, "triangles": {}, "clustering_coefficient": {}, "degree": {}, "hits": {},
}  # fmt: skip


@pytest.mark.parametrize("name", OF_VERTICES)
def test_batches(name):
    """The graphs of a batch, of whatever sizes, have the scores that they have alone."""
    measure, options = getattr(torchcent, name), {**OF_VERTICES[name]}
    parts = [drawn(seed, n, 4 * n, False)[0] for seed, n in enumerate((9, 30, 3, 16))]
    graphs = [graph_of(part, False) for part in parts]
    first = np.cumsum([0, *map(len, parts), 0])
    whole = np.zeros((first[-1], first[-1]))
    for part, at in zip(parts, first, strict=False):
        whole[at : at + len(part), at : at + len(part)] = part
    tail, head = np.nonzero(whole)
    index = torch.from_numpy(np.stack([tail, head])).to(DEVICE)
    weight = torch.from_numpy(whole[tail, head]).to(DEVICE)
    batch = Graph.from_edge_index(
        index, None, False, weight, ptr=torch.from_numpy(first).to(DEVICE)
    )
    if name not in ("core_number", "triangles"):
        options["dtype"] = F64
    found, alone = (
        call(measure, batch, **options),
        [call(measure, graph, **options) for graph in graphs],
    )
    if name == "hits":
        found, alone = found.hubs, [x.hubs for x in alone]
    torch.testing.assert_close(found, torch.cat(alone), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OF_VERTICES)
def test_graphs_without_arcs(name):
    none = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    for n in (0, 1, 3):
        found = call(getattr(torchcent, name), none, num_nodes=n, **OF_VERTICES[name])
        found = found.hubs if name == "hits" else found
        value = {
            "pagerank": 1 / max(n, 1), "hits": 1 / max(n, 1), "subgraph_centrality": 1,
            "katz": 1 / math.sqrt(max(n, 1)), "eigenvector": 1 / math.sqrt(max(n, 1)),
        }.get(name, 0)  # fmt: skip
        close(found, [value] * n, 1e-6)


@pytest.mark.skipif(DEVICE.type != "cpu", reason="threads of the host")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_hub", [False, True])
def test_products_do_not_depend_on_threads(weighted, with_hub):
    """Rows of few entries and of many, wherever the part of a thread begins."""
    index = torchcent.generate.er(40_000, m=100_000, seed=1)
    hub = torch.stack([torch.zeros(40_001, dtype=torch.int64), torch.arange(40_001)])
    index = torch.cat([hub, index], 1) if with_hub else index
    graph = Graph.from_edge_index(index, directed=False)
    chance = torch.Generator().manual_seed(1)
    weight = torch.rand(graph.num_slots, dtype=F64, generator=chance) if weighted else None
    product = _matrix.Rows(graph.rowptr, graph.col, weight)
    x = torch.rand(graph.num_nodes, dtype=F64, generator=chance)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 7):
            torch.set_num_threads(threads)
            found.append(product(x))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found)
    ends = graph.rowptr.numpy(), graph.col.numpy()
    matrix = scipy.sparse.csr_array((np.ones(graph.num_slots) if weight is None else weight.numpy(),
                                     ends[1], ends[0]))  # fmt: skip
    torch.testing.assert_close(found[0], torch.from_numpy(matrix @ x.numpy()))


@pytest.mark.sweep
@pytest.mark.parametrize("name", OF_VERTICES)
def test_threads_do_not_change_bits(name):
    index = torchcent.generate.er(40000, m=100000, seed=1).to(DEVICE)
    graph = Graph.from_edge_index(index, directed=False)
    measure, options = getattr(torchcent, name), OF_VERTICES[name]
    if name == "subgraph_centrality":
        options = {"vertices": torch.arange(20)}
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(call(measure, graph, **options))
    finally:
        torch.set_num_threads(before)
    pairs = zip(*found, strict=True) if name == "hits" else [found]
    assert all(torch.equal(one, other) for one, other in pairs)


ARCS = torch.tensor([[0, 1], [1, 2]], device=DEVICE)
BAD = [
    ("pagerank", {"alpha": 1}, ValueError, r"alpha must be in \[0, 1\), got 1"),
    ("pagerank", {"alpha": "x"}, TypeError, "alpha must be a number"),
    ("pagerank", {"tol": 0}, ValueError, r"tol must be in \(0, 1\), got 0"),
    ("pagerank", {"personalization": torch.zeros(3)}, ValueError, "personalization sums to 0"),
    ("pagerank", {"personalization": torch.zeros(3, 2)}, ValueError, "personalization sums to 0"),
    ("pagerank", {"personalization": torch.ones(2, 2)}, ValueError, r"\[3\] or \[3, k\]"),
    ("pagerank", {"personalization": -torch.ones(3, 1)}, ValueError, r"personalization\[0, 0\]"),
    ("pagerank", {"personalization": torch.ones(3, 1, dtype=torch.cfloat)}, TypeError, "real"),
    ("pagerank", {"personalization": torch.full((3, 1), 1e308, dtype=F64)}, ValueError, "beyond"),
    ("pagerank", {"dangling": torch.ones(4)}, ValueError, r"dangling must have shape \[3\]"),
    ("pagerank", {"dangling": torch.ones(3, 2), "personalization": torch.ones(3, 3)}, ValueError,
     "dangling has 2 columns and personalization 3"),
    ("katz", {"alpha": 0}, ValueError, "alpha must be finite and > 0"),
    ("katz", {"beta": -1}, ValueError, r"beta\[0\] is -1"),
    ("katz", {"beta": None}, TypeError, "beta must be a number"),
    ("katz", {"max_iter": None}, TypeError, "max_iter must be an int"),
    ("katz", {"normalized": 1}, TypeError, "normalized must be True or False"),
    ("eigenvector", {"max_iter": 0}, ValueError, "max_iter must be at least 1"),
    ("hits", {"tol": 2}, ValueError, "tol must be in"),
    ("degree", {"direction": "up"}, ValueError, "direction must be one of out, in, both"),
    ("subgraph_centrality", {}, ValueError, "for undirected graphs.*directed=False adds those"),
    ("communicability", {}, ValueError, "for undirected graphs"),
    ("communicability", {"directed": False, "memory": 10}, MemoryError, "memory=10"),
    ("centralization", {"measure": "size"}, ValueError, "measure must be one of"),
    ("centralization", {"scores": torch.ones(2)}, ValueError, r"scores must have shape \[3\]"),
    ("clustering_coefficient", {"dtype": torch.int64}, TypeError, "dtype must be a floating"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "error", "said"), BAD)
def test_malformed_arguments(name, options, error, said):
    with pytest.raises(error, match=said):
        call(getattr(torchcent, name), ARCS, **options)


def test_malformed_graphs():
    graph = Graph.from_edge_index(ARCS, directed=False, edge_weight=torch.ones(2, device=DEVICE))
    with pytest.raises(ValueError, match=r"pass graph.unweighted\(\)"):
        torchcent.centralization(graph)
    batch = Graph.from_edge_index(ARCS, ptr=torch.tensor([0, 3], device=DEVICE))
    with pytest.raises(ValueError, match="communicability is for one graph"):
        torchcent.communicability(batch)


def test_columns():
    """Weights are lengths to node_features, and do not matter to these."""
    _, graph = drawn(3, directed=False)
    names = [x for x in OF_VERTICES if x not in ("degree", "hits", "katz")]
    found = torchcent.node_features(
        graph, measures=[*names, "betweenness", "hubs"], run=torchcent.Run(dtype=F64)
    )
    plain = graph.unweighted()
    for name, column in zip(names, found.T, strict=False):
        assert torch.equal(column, getattr(torchcent, name)(plain).double()) or torch.equal(
            column, getattr(torchcent, name)(plain, run=torchcent.Run(dtype=F64))
        )
    assert torch.equal(found[:, -2], torchcent.betweenness(graph, run=torchcent.Run(dtype=F64)))
    assert torch.equal(found[:, -1], torchcent.hits(plain, run=torchcent.Run(dtype=F64)).hubs)


def freeman(scores):
    return sum(max(scores) - x for x in scores)


@pytest.mark.parametrize("directed", [True, False])
def test_centralization(directed):
    """igraph's scores, and the maxima that Freeman derived."""
    igraph = pytest.importorskip("igraph")
    matrix, graph = drawn(4, 20, 60, directed, False)
    n, (tail, head) = 20, np.nonzero(matrix if directed else np.triu(matrix))
    pairs = list(zip(tail.tolist(), head.tolist(), strict=True))
    there = igraph.Graph(n=n, edges=pairs, directed=directed)
    most = (n - 1) ** 2 if directed else (n - 1) * (n - 2)
    degree = there.degree(mode="out")
    close(
        torchcent.centralization(graph, "degree", run=torchcent.Run(dtype=F64)),
        freeman(degree) / most,
    )
    most = (n - 1) ** 2 * (n - 2) / (1 if directed else 2)
    found = torchcent.centralization(graph, run=torchcent.Run(dtype=F64))
    close(found, freeman(there.betweenness()) / most)
    known = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    assert torch.equal(
        torchcent.centralization(graph, scores=known, run=torchcent.Run(dtype=F64)), found
    )
    if not directed:
        whole = igraph.Graph.Barabasi(n, 2)
        most = (n - 1) * (n - 2) / (2 * n - 3)
        index = torch.tensor(whole.get_edgelist()).T.to(DEVICE)
        found = torchcent.centralization(
            index, "closeness", directed=False, run=torchcent.Run(dtype=F64)
        )
        close(found, freeman(whole.closeness()) / most)


@pytest.mark.parametrize("measure", ["degree", "closeness", "betweenness", "harmonic", "pagerank"])
def test_stars_are_the_most_central(measure):
    star = torch.stack([torch.zeros(6, dtype=torch.int64), torch.arange(1, 7)]).to(DEVICE)
    ring = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5]).to(DEVICE) + 7
    found = call(
        torchcent.centralization,
        torch.cat([star, ring], 1),
        measure,
        ptr=torch.tensor([0, 7, 12, 13], device=DEVICE),
        directed=False,
        dtype=F64,
    )
    assert found[:2].tolist() == pytest.approx([1, 0], abs=1e-9)
    assert found[2].isnan()


CALLS = [
    ("pagerank", {"tol": 1e-14}),
    ("pagerank", {"tol": 1e-14, "personalization": {"v3": 2, "v4": 1}, "alpha": 0.5}),
    ("pagerank", {"tol": 1e-14, "weight": None, "dangling": {"v0": 1}}),
    ("katz_centrality", {"alpha": 0.02, "tol": 1e-13, "weight": "weight"}),
    ("eigenvector_centrality", {"tol": 1e-12, "weight": "weight"}),
    ("hits", {"tol": 1e-13}),
    ("core_number", {}),
    ("clustering", {}),
    ("clustering", {"weight": "weight"}),
    ("triangles", {}),
    ("subgraph_centrality", {}),
]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("name", "options"), CALLS)
@pytest.mark.filterwarnings("ignore:Note")
def test_networkx(name, options, directed):
    if directed and name in ("triangles", "subgraph_centrality"):
        pytest.skip("NetworkX has it for undirected graphs")
    graph = networkx_of(drawn(6, 30, 200, directed)[0], directed)
    graph = nx.relabel_nodes(graph, {v: f"v{v}" for v in graph})
    found = call(getattr(nx, name), graph, backend="torchcent", **options)
    wanted = call(getattr(nx, name), graph, backend="networkx", **options)
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)),
                          strict=True):  # fmt: skip
        assert list(one) == list(other)
        assert list(map(type, one.values())) == list(map(type, other.values()))
        assert one == pytest.approx(other, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("pagerank", {"nstart": {0: 1}}, "nstart is given"),
        ("pagerank", {"max_iter": 3}, "max_iter is given"),
        ("pagerank", {"personalization": {9: 1}}, "personalization must be a dictionary of nodes"),
        ("pagerank", {"dangling": {0: 0}}, "dangling must be finite"),
        ("katz_centrality", {"beta": {0: 1}}, "beta lacks nodes"),
        ("katz_centrality", {"beta": "x"}, "beta holds what is no number"),
        ("hits", {"normalized": False}, "normalized must be True"),
        ("clustering", {"nodes": 0}, "nodes is given"),
    ],
)
def test_calls_that_networkx_runs(name, options, said):
    from torchcent.nx import can_run

    graph = nx.path_graph(4)
    assert said in can_run(name, (graph,), options)
    assert can_run(name, (graph,), {}) is True
    graph.add_edge(1, 1)
    assert can_run(name, (graph,), {}) is True
    assert "self-loops" in can_run("core_number", (graph,), {})
    multigraph = can_run(name, (nx.MultiGraph([(0, 1), (0, 1)]),), {})
    assert multigraph is True if name in ("pagerank", "hits") else "multigraphs" in multigraph


@pytest.mark.parametrize(
    ("name", "options", "column"),
    [
        ("pagerank", ["--alpha", "0.5"], nx.pagerank(nx.karate_club_graph(), 0.5, weight=None)),
        ("core-number", [], nx.core_number(nx.karate_club_graph())),
        ("clustering-coefficient", [], nx.clustering(nx.karate_club_graph())),
    ],
)
def test_command(name, options, column, tmp_path, capsys):
    path, out = tmp_path / "karate.txt", tmp_path / "out.csv"
    nx.write_edgelist(nx.karate_club_graph(), path, data=False)
    assert cli.main([name, str(path), *options, "-o", str(out), "--quiet"]) in (0, None)
    rows = [line.split(",") for line in out.read_text().splitlines()[1:] if line[0] != "#"]
    found = {int(row[0]): float(row[-1]) for row in rows}
    assert found == pytest.approx(column, abs=1e-5)


def test_parts_of_distributions(monkeypatch):
    matrix, graph = drawn(0)
    restart = torch.rand(len(matrix), 5, generator=torch.Generator().manual_seed(1))
    found = torchcent.pagerank(graph, personalization=restart, run=torchcent.Run(dtype=F64))
    monkeypatch.setattr(_pagerank, "_TOGETHER", 2)
    again = torchcent.pagerank(graph, personalization=restart, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(found, again, rtol=0, atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_steps_of_a_small_graph(monkeypatch: pytest.MonkeyPatch, directed: bool) -> None:
    """Compiled loops have the scores of loops over operators."""
    index = torchcent.generate.ba(200, 3, seed=1)
    weight = torch.rand(index.shape[1], generator=torch.Generator().manual_seed(1))
    shares = torch.rand(210, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    run = torchcent.Run(dtype=torch.float64)

    def scores() -> list[torch.Tensor]:
        both = {"num_nodes": 210, "directed": directed, "run": run}
        return [
            torchcent.pagerank(index, **both),
            torchcent.pagerank(index, weight, personalization=shares, dangling=1 - shares, **both),
            torchcent.katz(index, alpha=0.01, **both),
            torchcent.katz(index, weight, alpha=None, beta=shares, **both),
        ]

    compiled = scores()
    monkeypatch.setattr("torchcent.walks._matrix.Rows.is_small", lambda *_: False)
    for one, other in zip(compiled, scores(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=0)
