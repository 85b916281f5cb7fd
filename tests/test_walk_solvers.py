"""Katz, eigenvectors, HITS, subgraph centrality and return probabilities where products converge
slowly, oscillate or fill up: against dense linear algebra; sums of rows against SciPy."""

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

import torchcent
from torchcent.graph import _segments
from torchcent.runtime import _ops, _small
from torchcent.walks import _closed, _lanczos, _perron, _returns, _subgraph

F64 = torch.float64


def ring(n, first=0):
    return [(first + i, first + (i + 1) % n) for i in range(n)]


def arcs_of(matrix):
    tail, head = np.nonzero(matrix)
    weight = torch.from_numpy(matrix[tail, head]).to(DEVICE)
    return torch.from_numpy(np.stack([tail, head])).to(DEVICE), weight


def directed(*edges):
    graph = nx.DiGraph()
    graph.add_edges_from(sum(edges, []))
    return nx.to_numpy_array(graph, nodelist=range(len(graph)))


def undirected(graph):
    return nx.to_numpy_array(nx.convert_node_labels_to_integers(graph))


UNDIRECTED = {
    "star": nx.star_graph(100),
    "two hubs": nx.complete_bipartite_graph(2, 150),
    "hubs": nx.bipartite.random_graph(5, 200, 0.3, seed=1),
    "legs": nx.compose_all([nx.path_graph([0, *range(3 * i + 1, 3 * i + 4)]) for i in range(40)]),
    "balanced tree": nx.balanced_tree(10, 2),
    "tree": nx.random_labeled_tree(200, seed=1),
    "path": nx.path_graph(300),
    "ring": nx.cycle_graph(151),
    "unequal paths": nx.disjoint_union(nx.path_graph(120), nx.path_graph(121)),
    "equal paths": nx.disjoint_union(nx.path_graph(120), nx.path_graph(120)),
    "cliques": nx.disjoint_union(nx.complete_graph(40), nx.complete_graph(40)),
    "grid": nx.grid_2d_graph(14, 15),
    "small world": nx.watts_strogatz_graph(400, 4, 0.01, seed=1),
    "isolated": nx.disjoint_union(nx.empty_graph(40), nx.star_graph(8)),
}
DIRECTED = {
    "cycle": directed(ring(120)),
    "chord": directed(ring(200), [(0, 50)]),
    "tail": directed(ring(100), [(0, 100), (100, 101), (101, 102)]),
    "apart": directed(
        [*ring(60), (0, 30)], [*ring(60, 60), (60, 90)], [(5, 120), (65, 120), (121, 8), (121, 70)]
    ),
    "periodic": directed([(i, 40 + j) for i in range(40) for j in range(3)],
                         [(40 + j, i) for i in range(40) for j in range(3)]),
    "random": nx.to_numpy_array(nx.gnm_random_graph(120, 300, seed=3, directed=True)),
}  # fmt: skip


def close(found, expected, tolerance):
    np.testing.assert_allclose(found.cpu().numpy(), expected, tolerance, tolerance)


def check_katz(matrix, whole):
    """Scores below the limit, and the limit where alpha is above it."""
    index, weight = arcs_of(matrix)
    top = np.abs(np.linalg.eigvals(matrix)).max()
    options = {"num_nodes": len(matrix), "directed": whole}
    for share in (0.3, 0.7, 0.97):
        exact = np.linalg.solve(np.eye(len(matrix)) - share / top * matrix.T, np.ones(len(matrix)))
        found = call(
            torchcent.katz,
            index,
            weight,
            alpha=share / top,
            normalized=False,
            dtype=F64,
            max_iter=10**5,
            **options,
        )
        close(found, exact, 1e-7)
    for share in (1.02, 3.0, 1e4):
        with pytest.raises(ValueError, match="must be below the reciprocal") as error:
            call(torchcent.katz, index, weight, alpha=share / top, **options)
        limit = float(str(error.value).partition("about ")[2].partition(";")[0])
        assert limit == pytest.approx(1 / top, rel=2e-2)


@pytest.mark.sweep(by="weighted")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", UNDIRECTED)
def test_katz(name, weighted):
    matrix = undirected(UNDIRECTED[name])
    if weighted:
        draw = np.random.default_rng(1).random(matrix.shape) + 0.5
        matrix = matrix * (draw + draw.T)
    check_katz(matrix, False)


@pytest.mark.parametrize("name", DIRECTED)
def test_katz_of_directed_graphs(name):
    check_katz(DIRECTED[name], True)


@pytest.mark.parametrize("alpha", [0.01, 1, 7.5])
def test_katz_without_cycles_takes_any_alpha(alpha):
    draw = np.random.default_rng(1)
    matrix = np.triu(draw.random((60, 60)) < 0.1, 1) * 1.0
    index, _ = arcs_of(matrix)
    found = torchcent.katz(
        index, num_nodes=60, alpha=alpha, normalized=False, run=torchcent.Run(dtype=F64)
    )
    exact = np.ones(60)
    for v in range(60):
        exact[v] = 1 + alpha * (matrix[:, v] @ exact)  # arcs lead to larger numbers
    np.testing.assert_allclose(found.cpu().numpy(), exact, 1e-9)
    path = torch.tensor([range(399), range(1, 400)], device=DEVICE)
    with pytest.raises(ValueError, match="max_iter=9 iterations: the graph has no cycle, but long"):
        torchcent.katz(path, alpha=1 + alpha, max_iter=9)
    with pytest.raises(ValueError, match="beyond the largest number of float64"):
        torchcent.katz(path, alpha=1e3)


def test_katz_of_a_batch_and_of_few_origins():
    """The limit is that of the worst graph; each graph has the bits that it has alone."""
    star = torch.tensor([[0] * 30, range(1, 31)], device=DEVICE)
    path = torch.tensor([range(9), range(1, 10)], device=DEVICE)
    both, ptr = torch.cat([star, path + 31], 1), torch.tensor([0, 31, 41], device=DEVICE)
    options = {"alpha": 0.15, "directed": False, "dtype": F64}
    found = call(torchcent.katz, both, ptr=ptr, **options)
    assert torch.equal(found[:31], call(torchcent.katz, star, **options))
    assert torch.equal(found[31:], call(torchcent.katz, path, **options))
    with pytest.raises(ValueError, match="about 0.1825"):
        call(torchcent.katz, both, ptr=ptr, alpha=0.3, directed=False)
    beta = torch.zeros(31)
    beta[[2, 5]] = torch.tensor([3.0, 1.0])
    matrix = undirected(nx.star_graph(30))
    exact = np.linalg.solve(np.eye(31) - 0.17 * matrix, beta.numpy().astype(float))
    found = torchcent.katz(
        star, alpha=0.17, beta=beta, directed=False, normalized=False, run=torchcent.Run(dtype=F64)
    )
    close(found, exact, 1e-8)
    star = torch.tensor([[0] * 80, range(1, 81)], device=DEVICE)  # more than are solved directly
    with pytest.raises(ValueError, match="no convergence .* about 0.1118"):
        torchcent.katz(star, alpha=0.1117, directed=False, max_iter=50)


def projection(matrix):
    values, states = np.linalg.eigh(matrix)
    leading = states[:, values >= values[-1] * (1 - 1e-10)]
    found = leading @ leading.sum(0)
    return found / np.linalg.norm(found)


@pytest.mark.sweep
@pytest.mark.parametrize("name", UNDIRECTED)
def test_eigenvector_and_hits(name):
    matrix = undirected(UNDIRECTED[name])
    index, _ = arcs_of(matrix)
    options = {"num_nodes": len(matrix), "directed": False, "dtype": F64}
    close(call(torchcent.eigenvector, index, **options), projection(matrix), 1e-8)
    hubs = projection(matrix @ matrix)
    close(call(torchcent.hits, index, **options).hubs, hubs / hubs.sum(), 1e-8)


@pytest.mark.parametrize("name", DIRECTED)
def test_eigenvector_of_directed_graphs(name):
    """Where repeated squares of A + 1 lead from the vector of ones."""
    matrix = DIRECTED[name]
    power = matrix.T + np.eye(len(matrix))
    for _ in range(34):
        power = power @ power
        power /= power.max()
    exact = power.sum(1)
    index, _ = arcs_of(matrix)
    found = torchcent.eigenvector(index, num_nodes=len(matrix), run=torchcent.Run(dtype=F64))
    close(found, exact / np.linalg.norm(exact), 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1_000, 20_000])
def test_long_paths(n):
    """The two largest eigenvalues of 20,000 vertices differ by 7e-8."""
    path = torch.tensor([range(n - 1), range(1, n)], device=DEVICE)
    exact = np.sin(np.arange(1, n + 1) * np.pi / (n + 1))
    exact /= np.linalg.norm(exact)
    found = torchcent.eigenvector(path, directed=False, run=torchcent.Run(dtype=F64)).cpu().numpy()
    assert np.linalg.norm(found - exact) < 1e-9
    found = torchcent.hits(path, directed=False, run=torchcent.Run(dtype=F64)).hubs.cpu().numpy()
    # Of A A^T, even and odd vertices are apart, and have the same largest eigenvalue or nearly.
    assert np.isfinite(found).all()


def test_defective_and_unattainable():
    chained = directed(ring(50), ring(50, 50), [(0, 55)])
    with pytest.raises(ValueError, match="strong components with the same largest eigenvalue"):
        torchcent.eigenvector(arcs_of(chained)[0])
    with pytest.raises(ValueError, match="no convergence to tol=1e-10 in max_iter=40"):
        path = torch.tensor([range(499), range(1, 500)], device=DEVICE)
        torchcent.eigenvector(path, directed=False, max_iter=40)


def test_what_rounding_leaves(monkeypatch):
    """Where solving again changes more than tol allows, the error says how much."""
    monkeypatch.setattr(_perron, "_SOLVES", 1)
    path = torch.tensor([range(4_999), range(1, 5_000)], device=DEVICE)
    with pytest.raises(ValueError, match="tol=1e-12 is below the error that rounding leaves"):
        torchcent.eigenvector(path, directed=False, tol=1e-12)


def test_lanczos_restarts_until_it_converges(monkeypatch):
    """Where a factorization is not affordable."""
    monkeypatch.setattr(_perron, "_FACTORED", ())
    matrix = undirected(nx.path_graph(150))
    index, _ = arcs_of(matrix)
    found = torchcent.eigenvector(index, directed=False, run=torchcent.Run(dtype=F64))
    close(found, projection(matrix), 1e-8)
    with pytest.raises(_lanczos.Slow) as error:
        there = torch.from_numpy(matrix)
        _lanczos.leading(lambda x: there @ x, torch.ones(150, dtype=F64), 1e-12, 40)
    assert error.value.args[0] == pytest.approx(2 * np.cos(np.pi / 151), rel=1e-3)


@given(st.integers(0, 10**6), st.integers(2, 12), st.booleans())
@settings(max_examples=25, deadline=None)
def test_bounds_hold(seed, n, whole):
    """Those of the largest eigenvalue, whatever the components."""
    draw = np.random.default_rng(seed)
    matrix = (draw.random((n, n)) < 1.5 / n) * draw.choice([0.5, 1, 3], (n, n))
    matrix = matrix if whole else np.maximum(matrix, matrix.T)
    top = np.abs(np.linalg.eigvals(matrix)).max()
    alpha = draw.choice([0.1, 0.9, 1.1, 5])
    low, high = _perron.bounds(scipy.sparse.csr_array(matrix), alpha / max(top, 1e-3))
    assert low <= top * (1 + 1e-4) + 1e-2  # of eigenvalues of defective matrices rounding leaves
    assert high >= top * (1 - 1e-4) - 1e-2


@pytest.mark.parametrize("name", ["eigenvector", "hits"])
def test_small_graphs_have_the_bits_that_they_have_alone(name):
    draw = np.random.default_rng(1)
    graphs = [nx.gnm_random_graph(n, 2 * n, seed=n) for n in [*range(2, 34, 3), 40, 17, 17]]
    first = np.cumsum([0, *map(len, graphs)])
    parts = [torch.from_numpy(np.array(graph.edges).reshape(-1, 2).T.copy()) for graph in graphs]
    weights = [torch.from_numpy(draw.random(part.shape[1]) + 0.1) for part in parts]
    index = torch.cat([part + int(at) for part, at in zip(parts, first, strict=False)], 1)
    measure = getattr(torchcent, name)
    options = {"directed": False, "dtype": F64}
    found = call(
        measure,
        index.to(DEVICE),
        torch.cat(weights).to(DEVICE),
        ptr=torch.from_numpy(first).to(DEVICE),
        **options,
    )
    found = found.hubs if name == "hits" else found
    for graph, part, weight, at in zip(graphs, parts, weights, first, strict=False):
        alone = call(measure, part.to(DEVICE), weight.to(DEVICE), num_nodes=len(graph), **options)
        alone = alone.hubs if name == "hits" else alone
        own = found[int(at) : int(at) + len(graph)]
        assert torch.equal(alone, own)
        matrix = np.zeros((len(graph), len(graph)))
        matrix[tuple(part.numpy())] = weight.numpy()
        matrix += matrix.T
        exact = projection(matrix @ matrix if name == "hits" else matrix)
        close(own, exact / exact.sum() if name == "hits" else exact, 1e-7)


def test_hubs_of_small_graphs_with_eigenvalues_of_both_signs():
    """A symmetric matrix is not squared: -a is leading if a is, and what pads it must not be."""
    parts = [
        undirected(nx.path_graph(2)),  # 1 and -1
        np.zeros((3, 3)),
        undirected(nx.cycle_graph(4)),
        undirected(nx.star_graph(8)),
        undirected(nx.disjoint_union(nx.path_graph(2), nx.empty_graph(2))),
        directed([(0, 1), (1, 2), (0, 2)]),  # squared
    ]
    index, weight = arcs_of(scipy.linalg.block_diag(*parts))
    size = torch.tensor([len(part) for part in parts], device=DEVICE)
    batch = torch.repeat_interleave(size)
    found = torchcent.hits(index, weight, batch=batch, run=torchcent.Run(dtype=F64)).hubs.cpu()
    for part, own in zip(parts, found.split(size.tolist()), strict=True):
        exact = projection(part @ part.T)
        close(own, exact / exact.sum(), 1e-12)


CLOSED = {
    "grid": undirected(nx.grid_2d_graph(12, 13)),
    "tree": undirected(nx.random_labeled_tree(180, seed=2)),
    "star": undirected(nx.star_graph(90)),
    "parts": undirected(nx.gnm_random_graph(150, 120, seed=1)),
}


@pytest.mark.skipif(DEVICE.type != "cpu", reason="a GPU multiplies with many columns")
def test_all_eigenvalues_of_large_dense_graphs(monkeypatch):
    """A quadrature of a dense graph takes n^2 time a step, of all vertices more than O(n^3)."""
    monkeypatch.setattr(_subgraph, "_DENSE", 4)
    taken = []
    quadratures = _subgraph._quadratures
    monkeypatch.setattr(
        _subgraph, "_quadratures", lambda *given: taken.append(given[1]) or quadratures(*given)
    )
    matrix = undirected(nx.gnm_random_graph(60, 900, seed=1))
    index, _ = arcs_of(matrix)
    exact = np.diag(scipy.linalg.expm(matrix))
    options = {"num_nodes": 60, "directed": False, "dtype": F64}
    close(call(torchcent.subgraph_centrality, index, **options), exact, 1e-9)
    assert not taken
    two = torch.tensor([3, 50])
    close(call(torchcent.subgraph_centrality, index, vertices=two, **options), exact[two], 1e-9)
    assert len(taken) == 1


@pytest.mark.sweep(by="name tol weighted")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tol", [1e-9, 1e-3])
@pytest.mark.parametrize("name", CLOSED)
def test_series_of_the_exponential(name, tol, weighted, monkeypatch):
    matrix = CLOSED[name]
    if weighted:
        draw = np.random.default_rng(3).random(matrix.shape)
        matrix = matrix * (draw + draw.T)
    values, states = np.linalg.eigh(matrix)
    exact = (states * states) @ np.exp(values)
    monkeypatch.setattr(_subgraph, "_DENSE", 4)
    monkeypatch.setattr(_subgraph, "_MOST_DENSE", 4)
    monkeypatch.setattr(_closed, "work", lambda *_: 0.0)
    monkeypatch.setattr(_subgraph, "_quadratures", None)
    monkeypatch.setattr(_closed, "_ENTRIES", 2000)  # several blocks
    index, weight = arcs_of(matrix)
    options = {"num_nodes": len(matrix), "directed": False, "tol": tol, "dtype": F64}
    found = call(torchcent.subgraph_centrality, index, weight, **options).cpu().numpy()
    assert (np.abs(found - exact) <= (tol + 1e-12) * exact).all()
    some = torch.tensor([80, 2])
    found = (
        call(torchcent.subgraph_centrality, index, weight, vertices=some, **options).cpu().numpy()
    )
    assert (np.abs(found - exact[some]) <= (tol + 1e-12) * exact[some]).all()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CLOSED)
def test_walks_within_reach(name, weighted, whole, monkeypatch):
    matrix = CLOSED[name]
    draw = np.random.default_rng(4).random(matrix.shape)
    if weighted:
        matrix = matrix * (draw if whole else draw + draw.T)
    if whole:
        matrix = matrix * (draw < 0.8)
    total = matrix.sum(1, keepdims=True)
    step = np.divide(matrix, total, out=np.zeros_like(matrix), where=total > 0)
    power, exact = np.eye(len(matrix)), []
    for _ in range(7):
        power = power @ step
        exact.append(np.diag(power))
    monkeypatch.setattr(_returns, "_DENSE", 4)
    monkeypatch.setattr(_returns, "_OF_DEGREE", 0)
    monkeypatch.setattr(_returns, "_WORTH_ROWS", 0)
    monkeypatch.setattr(_closed, "work", lambda *_: 0.0)
    monkeypatch.setattr(_returns._Walks, "_sparse", None)
    monkeypatch.setattr(_returns._Walks, "_in_kernel", None)
    monkeypatch.setattr(_closed, "_ENTRIES", 500)
    index, weight = arcs_of(matrix)
    found = torchcent.random_walk_encoding(
        index, weight, num_nodes=len(matrix), walk_length=7, run=torchcent.Run(dtype=F64)
    )
    close(found, np.stack(exact, 1), 1e-12)


def test_work_is_counted():
    """On a grid a row has few entries; behind a hub each has all of them."""
    grid = scipy.sparse.csr_array(undirected(nx.grid_2d_graph(40, 40)))
    star = scipy.sparse.csr_array(undirected(nx.star_graph(1599)))
    rows = np.arange(1600)
    assert _closed.work(grid, rows, 8, np.inf) < 300 * 1600
    assert _closed.work(star, rows, 8, np.inf) > 1600 * 1600
    assert _closed.work(star, rows, 8, 1600.0 * 1600) == np.inf


compiled = pytest.mark.skipif(
    not _segments.is_compiled(DEVICE), reason="the operator is not compiled for this device"
)


@compiled
@pytest.mark.parametrize("columns", [None, 1, 3, 8, 16, 33])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_rows(columns, weighted):
    """Rows of few slots, of none and of many pieces, against SciPy; bits of a row alone."""
    draw = np.random.default_rng(1)
    degree = np.concatenate(
        [draw.integers(0, 90, 2_000), [0, 9_000, 2_048, 2_049, 4_096, 4_097, 0, 0, 20_001, 1]]
    )
    ends = torch.from_numpy(np.concatenate([[0], degree.cumsum()]))
    m, n = int(ends[-1]), degree.size
    col = torch.from_numpy(draw.integers(0, n, m).astype(np.int32))
    weight = torch.from_numpy(draw.random(m))
    x = torch.from_numpy(draw.random(n if columns is None else (n, columns)))
    entries = weight.numpy() if weighted else np.ones(m)
    matrix = scipy.sparse.csr_array((entries, col.numpy(), ends.numpy()), shape=(n, n))
    there = [t.to(DEVICE) for t in (ends, col, weight, x)]
    used = there[2] if weighted else None
    found = [
        torch.ops.torchcent.row_sums(there[0], there[1], used, there[3], False, threads)
        for threads in (1, 2, 7)
    ]
    assert all(torch.equal(found[0], other) for other in found)
    np.testing.assert_allclose(found[0].cpu().numpy(), matrix @ x.numpy(), 1e-12)
    for row in (2_001, 2_008, 5):
        begin, end = int(ends[row]), int(ends[row + 1])
        alone = torch.ops.torchcent.row_sums(
            torch.tensor([0, end - begin], device=DEVICE), there[1][begin:end].contiguous(),
            None if used is None else used[begin:end].contiguous(), there[3], False, 2,
        )  # fmt: skip
        assert torch.equal(alone[0], found[0][row])


@pytest.mark.parametrize("piece", [3, 2048])
@pytest.mark.parametrize("columns", [None, 5])
def test_sums_and_largest_of_segments(columns, piece, monkeypatch):
    """Compiled, and by PyTorch in pieces."""
    monkeypatch.setattr(_segments, "_PIECE", piece)
    draw = np.random.default_rng(2)
    count = np.concatenate([[0], draw.integers(0, 12, 50), [5_000, 0, 1]])
    ends = np.concatenate([[0], count.cumsum()])
    values = draw.standard_normal((ends[-1],) if columns is None else (ends[-1], columns))
    parts = [values[a:b] for a, b in zip(ends, ends[1:], strict=False)]
    total = np.stack([part.sum(0) for part in parts])
    largest = np.stack([part.max(0) if len(part) else 0 * values[0] for part in parts])
    there, given_values = torch.from_numpy(ends).to(DEVICE), torch.from_numpy(values).to(DEVICE)
    for found in (
        _segments.of_segments(there, given_values),
        _segments._in_pieces(there, given_values, "sum"),
    ):
        np.testing.assert_allclose(found.cpu().numpy(), total, 1e-9, 1e-12)
    found = _segments.largest_of_segments(there, given_values)
    assert (found.cpu().numpy() == largest).all()
    monkeypatch.setattr(_segments, "is_compiled", lambda device: False)
    found = _segments.largest_of_segments(there, given_values)
    assert (found.cpu().numpy() == largest).all()


@pytest.mark.parametrize("count", [5, 50_000])
def test_repeat_interleave(count, monkeypatch):
    """PyTorch's operator wakes all of its threads for any size; below a bound it is not called."""
    draw = torch.Generator().manual_seed(count)
    counts = torch.randint(0, 4, (count,), generator=draw)
    values = torch.rand(count, 2, generator=draw)
    expected = torch.repeat_interleave(counts), torch.repeat_interleave(values, counts, 0)
    calls = []
    real = torch.repeat_interleave
    monkeypatch.setattr(
        torch, "repeat_interleave", lambda *a, **b: calls.append(1) or real(*a, **b)
    )
    found = _small.repeat_interleave(counts), _small.repeat_interleave(values, counts)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert len(calls) == (0 if count < _small.ALONE else 2)


@pytest.mark.skipif(
    not _ops.has_kernel("symmetric_eigen", torch.device(DEVICE)), reason="kernels of the CPU"
)
@pytest.mark.parametrize("measure", ["eigenvector", "hits", "katz", "subgraph_centrality"])
def test_eigenvalues_of_small_graphs_wake_no_threads(measure, monkeypatch):
    """PyTorch's operators wake all of its threads for more than 32 rows; they are not called."""
    for name in ("eigh", "eigvalsh"):
        monkeypatch.setattr(torch.linalg, name, None)
    index = torch.tensor(list(nx.random_labeled_tree(60, seed=1).edges)).T
    options = {"alpha": None} if measure == "katz" else {}
    getattr(torchcent, measure)(index, directed=False, **options)


@pytest.mark.parametrize("factor", [1e-200, 1e-13, 1e-5, 1e5, 1e150])
@pytest.mark.parametrize("size", [9, 40])
@pytest.mark.parametrize("both_ways", [False, True], ids=["directed", "undirected"])
def test_vectors_do_not_depend_on_the_unit_of_weights(factor, size, both_ways):
    chance = np.random.default_rng(size)
    matrix = np.where(chance.random((size, size)) < 0.3, chance.random((size, size)), 0)
    matrix += np.roll(np.eye(size), 1, 0)
    matrix = np.maximum(matrix, matrix.T) if both_ways else matrix
    values, vectors = np.linalg.eig(matrix.T)
    leading = np.abs(vectors[:, values.real.argmax()])
    hubs = np.abs(np.linalg.eigh(matrix @ matrix.T)[1][:, -1])
    index, weight = arcs_of(matrix)
    found = torchcent.eigenvector(index, weight * factor, run=torchcent.Run(dtype=F64))
    close(found, leading, 1e-9)
    close(
        torchcent.hits(index, weight * factor, run=torchcent.Run(dtype=F64)).hubs,
        hubs / hubs.sum(),
        1e-9,
    )
    twice = torch.cat([index, index + size], 1)  # each graph of a batch has its own unit
    batch = torch.arange(2 * size, device=DEVICE) // size
    both = torch.cat([weight * factor, weight])
    found = torchcent.eigenvector(twice, both, batch=batch, run=torchcent.Run(dtype=F64))
    close(found, np.concatenate([leading, leading]), 1e-9)


@pytest.mark.parametrize("strength", [1.0, 1e17, 1e150])
def test_a_strong_arc_outside_of_cycles(strength):
    index = torch.tensor([[0, 1, 2, 0, 3], [1, 2, 0, 3, 4]], device=DEVICE)
    weight = torch.tensor([1, 1, 1, strength, 1], dtype=F64, device=DEVICE)
    wanted = np.array([1 / strength, 1 / strength, 1 / strength, 1, 1])
    found = torchcent.eigenvector(index, weight, run=torchcent.Run(dtype=F64))
    close(found, wanted / np.linalg.norm(wanted), 1e-9)
