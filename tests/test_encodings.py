"""Encodings for graph transformers: distances of pairs and the edges between them, against
Floyd-Warshall and NetworkX; return probabilities, against powers of matrices and PyTorch Geometric.
"""

import itertools
import math
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call
from tuning import tuned

import torchcent
from torchcent import Graph

F64 = torch.float64
INF = math.inf
NONE = SimpleNamespace(has_kernel=lambda *_: False)


@pytest.fixture(params=["compiled", "tensor"])
def engine(request, tuning):
    if request.param == "tensor":
        tuning(encoding_operators=NONE, encoding_block=2**15)  # several blocks
    return request.param


def drawn(seed, sizes, weights=None, directed=True, density=1.5):
    """Columns, their weights, ptr and the matrices of arc lengths of a batch."""
    draw = np.random.default_rng(seed)
    columns, lengths, ptr, matrices = [], [], np.cumsum([0, *sizes]), []
    for n, first in zip(sizes, ptr, strict=False):
        matrix = np.full((n, n), INF)
        for u, v in draw.integers(0, n, (int(density * n), 2)) if n else ():
            w = 1 if weights is None else draw.choice(weights)
            columns.append((first + u, first + v))
            lengths.append(w)
            if u != v:
                matrix[u, v] = min(matrix[u, v], w)
                if not directed:
                    matrix[v, u] = min(matrix[v, u], w)
        matrices.append(matrix)
    index = torch.tensor(columns, dtype=torch.int64).reshape(-1, 2).T.contiguous().to(DEVICE)
    weight = None if weights is None else torch.tensor(lengths, dtype=F64, device=DEVICE)
    return index, weight, torch.from_numpy(ptr).to(DEVICE), matrices


def strengths(index, weight, ptr, directed):
    """The adjacency matrix of each graph: parallel arcs add up, and loops count."""
    u, v = index.cpu().numpy()
    values = np.ones(u.size) if weight is None else weight.cpu().numpy()
    whole = np.zeros((int(ptr[-1]),) * 2)
    np.add.at(whole, (u, v), values)
    if not directed:
        whole = np.maximum(whole, whole.T)
    whole[whole == 0] = INF
    return [whole[a:b, a:b] for a, b in itertools.pairwise(ptr.tolist())]


def floyd_warshall(matrix):
    found = matrix.copy()
    np.fill_diagonal(found, 0)
    for via in range(len(found)):
        found = np.minimum(found, found[:, via, None] + found[via])
    return found


def padded(matrices, width, cutoff, unreachable, padding):
    found = np.full((len(matrices), width, width), padding, dtype=float)
    for own, matrix in zip(found, map(floyd_warshall, matrices), strict=True):
        matrix[matrix > cutoff] = INF
        own[: len(matrix), : len(matrix)] = np.where(matrix < INF, matrix, unreachable)
    return found


def tree_path(matrix, distance, source, v):
    """The vertices of the path that is kept: before each vertex the lowest one that is possible."""
    found = [v]
    while v != source:
        v = next(
            u for u in range(len(matrix))
            if distance[source, u] + matrix[u, v] == distance[source, v]
            and distance[source, u] < distance[source, v]
        )  # fmt: skip
        found.append(v)
    return found[::-1]


def check_edges(edges, index, weight, matrices, ptr, directed, cutoff, room):
    columns, base = index.T.tolist(), ptr.tolist()
    for g, matrix in enumerate(matrices):
        distance = floyd_warshall(matrix)
        for u in range(len(matrix)):
            for v in range(len(matrix)):
                path = []
                if distance[u, v] < INF and distance[u, v] <= cutoff:
                    path = tree_path(matrix, distance, u, v)
                expected = []
                for a, b in zip(path, path[1:], strict=False):
                    ends = [base[g] + a, base[g] + b]
                    one = [i for i, c in enumerate(columns) if c == ends]
                    if not one and not directed:
                        one = [i for i, c in enumerate(columns) if c == ends[::-1]]
                    expected.append(one[0])
                expected = (expected + [-1] * room)[:room]
                assert edges(g, u, v) == expected


SIZES = (7, 0, 1, 12, 4)
WEIGHTS = [0.25, 0.5, 1, 3]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS, [0.1, 0.2, 0.3, 0.7]])
@pytest.mark.parametrize("cutoff", [None, 2, 0])
def test_matrices(engine, weights, directed, cutoff):
    index, weight, ptr, matrices = drawn(3, SIZES, weights, directed)
    limit = INF if cutoff is None else cutoff
    if weights == [0.1, 0.2, 0.3, 0.7]:  # sums of decimals are those of tenths
        tenths = [np.where(x < INF, np.round(x * 10), x) for x in matrices]
        expected = padded(tenths, 14, 10 * limit, -20, -30) / 10
    else:
        expected = padded(matrices, 14, limit, -2, -3)
    given = {"ptr": ptr, "directed": directed, "cutoff": cutoff, "max_nodes": 14}
    found = call(
        torchcent.shortest_path_encoding,
        index,
        weight,
        unreachable=-2,
        padding=-3,
        dtype=F64,
        **given,
    )
    assert found.edges is None
    assert found.distance.cpu().tolist() == expected.tolist()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("room", [None, 2])
def test_edges_of_paths(engine, weights, directed, room):
    index, weight, ptr, matrices = drawn(5, (9, 0, 1, 14), weights, directed, 1.7)
    options = {"ptr": ptr, "directed": directed, "paths": room or True}
    distance, edges = call(torchcent.shortest_path_encoding, index, weight, **options)
    plain = call(torchcent.shortest_path_encoding, index, weight, ptr=ptr, directed=directed)
    assert torch.equal(distance, plain.distance)
    if room is None:  # the longest path, and no more
        assert (edges[..., -1] >= 0).any()
    room, table = edges.shape[3], edges.tolist()
    check_edges(lambda g, u, v: table[g][u][v], index, weight, matrices, ptr, directed, INF, room)
    assert (edges[0, :, 9:] == -1).all()
    assert (edges[1] == -1).all()
    found = call(torchcent.shortest_path_pairs, index, weight, cutoff=3, **options)
    first = ptr.tolist()
    of = dict(zip(map(tuple, found.pairs.T.tolist()), found.edges.tolist(), strict=True))
    none = [-1] * found.edges.shape[1]
    check_edges(
        lambda g, u, v: of.get((first[g] + u, first[g] + v), none),
        index, weight, matrices, ptr, directed, 3, found.edges.shape[1],
    )  # fmt: skip


@given(
    st.integers(0, 10**6), st.lists(st.integers(0, 11), max_size=5), st.booleans(),
    st.booleans(), st.sampled_from([None, 0, 1, 2.5, 4]), st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_pairs_and_matrices(seed, sizes, directed, weighted, cutoff, compiled):
    index, weight, ptr, matrices = drawn(seed, sizes, WEIGHTS if weighted else None, directed)
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            tuned(patch)(encoding_operators=NONE)
        options = {"ptr": ptr, "directed": directed, "cutoff": cutoff}
        dense = call(torchcent.shortest_path_encoding, index, weight, **options)
        pairs = call(torchcent.shortest_path_pairs, index, weight, **options)
    limit = INF if cutoff is None else cutoff
    expected = padded(matrices, max(sizes, default=0), limit, -1, -1)
    assert dense.distance.tolist() == expected.tolist()
    wanted = [
        (int(first) + u, int(first) + v, expected[g, u, v])
        for g, (first, n) in enumerate(zip(ptr.tolist(), sizes, strict=False))
        for u in range(n) for v in range(n) if expected[g, u, v] >= 0
    ]  # fmt: skip
    assert [*zip(*pairs.pairs.tolist(), pairs.distance.tolist(), strict=True)] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("directed", [True, False])
def test_of_networkx(engine, directed):
    """More than 64 vertices, which have no masks."""
    for weighted in (False, True):
        weights = WEIGHTS if weighted else None
        index, weight, _, (matrix,) = drawn(8, (90,), weights, directed)
        there = nx.DiGraph() if directed else nx.Graph()
        there.add_nodes_from(range(90))
        there.add_weighted_edges_from(
            (int(u), int(v), matrix[u, v]) for u, v in np.argwhere(matrix < INF)
        )
        options = {"num_nodes": 90, "directed": directed}
        found = call(torchcent.shortest_path_encoding, index, weight, **options).distance[0]
        known = dict(nx.all_pairs_dijkstra_path_length(there))
        wanted = [[known[u].get(v, -1) for v in range(90)] for u in range(90)]
        assert found.tolist() == wanted
        rows = call(torchcent.shortest_path_lengths, index, weight, **options).double()
        assert torch.equal(found.double(), torch.where(rows < INF, rows, -1))
        pairs = call(torchcent.shortest_path_pairs, index, weight, cutoff=2, **options)
        near = torch.nonzero((found >= 0) & (found <= 2))
        assert torch.equal(pairs.pairs.T, near)
        assert torch.equal(pairs.distance, found[near[:, 0], near[:, 1]].to(pairs.distance.dtype))


def test_dtypes():
    path = torch.stack([torch.arange(299), torch.arange(1, 300)]).to(DEVICE)
    encode = torchcent.shortest_path_encoding
    assert encode(path).distance.dtype == torch.int16
    assert encode(path[:, :100]).distance.dtype == torch.int8
    assert encode(path[:, :100], unreachable=510).distance.dtype == torch.int16
    assert encode(path, cutoff=100).distance.dtype == torch.int8
    assert torchcent.shortest_path_pairs(path, cutoff=100).distance.dtype == torch.int8
    assert encode(path, torch.ones(299, device=DEVICE)).distance.dtype == torch.float32
    assert encode(path, dtype=torch.float32, unreachable=INF).distance[0, 9, 3] == INF
    for kind in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, F64):
        some = encode(path[:, :20], dtype=kind).distance
        assert some.dtype == kind
        assert some[0, 2].tolist() == [-1, -1, *range(19)]
    for function in (encode, torchcent.shortest_path_pairs):
        with pytest.raises(OverflowError, match="the distance 299 does not fit torch.int8"):
            function(path, dtype=torch.int8)


def test_of_a_graph_and_threads():
    index, weight, ptr, _ = drawn(2, (30, 4, 70, 20) * 8, WEIGHTS)
    graph = Graph.from_edge_index(index, edge_weight=weight, ptr=ptr)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(torchcent.shortest_path_encoding(graph, paths=3))
            found[-1] += torchcent.shortest_path_pairs(graph, cutoff=1.5, paths=True)
    finally:
        torch.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)
    batch = graph.batch
    assert torch.equal(
        torchcent.shortest_path_encoding(index, weight, batch=batch).distance, found[0][0]
    )


def test_bad_arguments():
    path = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    encode, pairs = torchcent.shortest_path_encoding, torchcent.shortest_path_pairs
    for options, message in [
        ({"cutoff": -1}, "cutoff must be >= 0, got -1"),
        ({"cutoff": float("nan")}, "cutoff must be >= 0"),
        ({"max_nodes": 3}, "max_nodes=3 is less than .* the largest graph, 4"),
        ({"max_nodes": 0}, "max_nodes must be at least 1"),
        ({"paths": 0}, "paths must be at least 1"),
        ({"dtype": torch.float16}, "dtype must be one of .*, or None, got torch.float16"),
        ({"unreachable": 0.5}, "unreachable must be a whole number with torch.int8"),
        ({"padding": INF, "dtype": torch.int8}, "padding must be a whole number"),
        ({"padding": 200, "dtype": torch.int8}, "padding=200 does not fit torch.int8"),
        ({"memory": -1}, "memory must be a positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            call(encode, path, **options)
    for name, value in [("cutoff", "2"), ("paths", "2"), ("unreachable", None), ("progress", 3)]:
        with pytest.raises(TypeError, match=name):
            call(encode, path, **{name: value})
    with pytest.raises(ValueError, match="dtype must be one of .* with weights"):
        pairs(path, torch.ones(3, device=DEVICE), dtype=torch.int32)
    with pytest.raises(ValueError, match="walk_length must be at least 1"):
        torchcent.random_walk_encoding(path, walk_length=0)
    with pytest.raises(TypeError, match="walk_length must be an int"):
        torchcent.random_walk_encoding(path, walk_length=None)


def test_memory():
    """A batch with one large graph: matrices are refused before they are made, pairs are not."""
    ends = torch.arange(5000, device=DEVICE)
    index = torch.stack([ends, ends + 1])[:, :-1]
    ptr = torch.cat([torch.tensor([0, 3000], device=DEVICE), torch.arange(3001, 5001).to(DEVICE)])
    index = index[:, index[0] < 2999]
    with pytest.raises(MemoryError, match=r"\[2001, max_nodes=3000, 3000\] needs .* memory="):
        call(torchcent.shortest_path_encoding, index, ptr=ptr, run=torchcent.Run(memory=10**8))
    found = call(
        torchcent.shortest_path_pairs, index, ptr=ptr, cutoff=2, run=torchcent.Run(memory=10**8)
    )
    assert found.distance.numel() == 5000 + 2999 + 2998
    with pytest.raises(MemoryError, match="4503500 pairs needs .* memory="):
        call(torchcent.shortest_path_pairs, index, ptr=ptr, run=torchcent.Run(memory=5 * 10**7))
    with pytest.raises(MemoryError, match="paths of up to 2999 edges needs"):
        torchcent.shortest_path_encoding(
            index[:, :2999],
            num_nodes=3000,
            paths=True,
            run=torchcent.Run(memory=10**9),
            cutoff=None,
        )
    with pytest.raises(MemoryError, match="5000 vertices with walk_length=4000 needs"):
        call(
            torchcent.random_walk_encoding,
            index,
            ptr=ptr,
            walk_length=4000,
            run=torchcent.Run(memory=10**8),
        )


def powers(matrix, steps):
    """The diagonals of P, P^2, ..."""
    step = np.where(matrix < INF, matrix, 0)
    out = step.sum(1, keepdims=True)
    step = np.divide(step, out, out=np.zeros_like(step), where=out > 0)
    power, found = np.eye(len(step)), []
    for _ in range(steps):
        power = power @ step
        found.append(np.diag(power))
    return np.array(found).T


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("method", ["kernel", "dense", "sparse"])
def test_random_walk(weights, directed, method, tuning):
    if method != "kernel":
        tuning(returns_in_kernel=lambda graph: False)
    if method == "sparse":
        tuning(returns_dense=1, returns_of_degree=0, returns_columns=5)
    sizes = (9, 0, 1, 17, 70, 4, 66)
    index, weight, ptr, _ = drawn(4, sizes, weights, directed, 2.5)
    matrices = strengths(index, weight, ptr, directed)
    for steps in (1, 2, 7):
        found = call(
            torchcent.random_walk_encoding,
            index,
            weight,
            ptr=ptr,
            directed=directed,
            walk_length=steps,
            dtype=F64,
        )
        expected = np.concatenate([powers(x, steps) if len(x) else np.zeros((0, steps))
                                   for x in matrices])  # fmt: skip
        torch.testing.assert_close(found.cpu(), torch.from_numpy(expected), rtol=1e-12, atol=1e-13)


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12), st.booleans())
@settings(max_examples=20, deadline=None)
def test_random_walks_are_probabilities(seed, n, steps, dense):
    index, _, ptr, _ = drawn(seed, (n,), None, False)
    (matrix,) = strengths(index, None, ptr, False)
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            tuned(patch)(returns_dense=0, returns_of_degree=0)
        found = torchcent.random_walk_encoding(
            index, num_nodes=n, walk_length=steps, directed=False, run=torchcent.Run(dtype=F64)
        )
    assert (found >= 0).all()
    assert (found <= 1 + 1e-12).all()
    torch.testing.assert_close(
        found.cpu(), torch.from_numpy(powers(matrix, steps)), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_arcs(engine, n):
    none = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    dense = torchcent.shortest_path_encoding(none, num_nodes=n, paths=True)
    assert dense.distance[0].tolist() == [[0 if u == v else -1 for v in range(n)] for u in range(n)]
    assert dense.edges.shape == (1, n, n, 0)
    pairs = torchcent.shortest_path_pairs(none, num_nodes=n, paths=True)
    assert pairs.pairs.tolist() == [[*range(n)]] * 2
    assert pairs.edges.shape == (n, 0)
    found = torchcent.random_walk_encoding(none, num_nodes=n, walk_length=3)
    assert found.tolist() == [[0.0] * 3] * n
    empty = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    assert call(torchcent.shortest_path_encoding, none, ptr=empty).distance.shape == (0, 0, 0)
