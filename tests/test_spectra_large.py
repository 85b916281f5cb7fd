"""First eigenvectors of single graphs that are too large for a dense decomposition, against
formulas and NumPy, by each way of finding them."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE

import torchcent
from torchcent import Run

F64 = torch.float64
RUN = Run(dtype=F64)
WAYS = {
    "as large ones": {},
    "sparse factor": {"spectra_flat": 10**9},
    "sparse factor after products": {"spectra_flat": -1, "spectra_products": 3},
    "dense factor after products": {
        "spectra_flat": -1, "spectra_products": 3, "spectra_widest": -1,
    },
    "products": {"spectra_flat": -1, "spectra_widest": -1, "spectra_factor": 0},
}  # fmt: skip


@pytest.fixture(params=WAYS)
def way(request, tuning):
    tuning(spectra_dense=50, spectra_kernel=50, **WAYS[request.param])


def laplacian(graph, form, weight=None):
    matrix = nx.to_numpy_array(graph, weight=weight)
    strength = matrix.sum(1)
    if form is None:
        return np.diag(strength) - matrix
    strength[strength == 0] = np.inf  # rows of zeros
    one = np.diag(np.isfinite(strength) * 1.0)
    if form == "rw":
        return one - matrix / strength[:, None]
    return one - matrix / np.sqrt(strength) / np.sqrt(strength)[:, None]


def arcs_of(graph):
    edges = torch.tensor(list(graph.edges()), dtype=torch.int64, device=DEVICE).T
    weights = [w for *_, w in graph.edges(data="weight", default=1)]
    return edges.reshape(2, -1), torch.tensor(weights, dtype=F64, device=DEVICE)


def cosines(n, turn, form):
    """The eigenvalues of a path (turn = pi) or cycle (2 pi), of a path with loops at its ends."""
    return sorted((2 if form is None else 1) * (1 - np.cos(turn * j / n)) for j in range(n))


def star(n, form):
    return [0, *[1] * (n - 2), n if form is None else 2]


def grid(rows, columns):
    pairs = itertools.product(cosines(rows, math.pi, None), cosines(columns, math.pi, None))
    return sorted(a + b for a, b in pairs)


KNOWN = [
    (nx.path_graph(300), None, cosines(300, math.pi, None)),
    (nx.path_graph(300), "sym", cosines(299, math.pi, "sym")),
    (nx.cycle_graph(301), "sym", cosines(301, 2 * math.pi, "sym")),
    (nx.cycle_graph(300), None, cosines(300, 2 * math.pi, None)),
    (nx.convert_node_labels_to_integers(nx.grid_2d_graph(13, 17)), None, grid(13, 17)),
    (nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 14)), None, grid(14, 14)),
    (nx.star_graph(199), "sym", star(200, "sym")),
    (nx.star_graph(199), None, star(200, None)),
]


@pytest.mark.sweep
@pytest.mark.parametrize("graph, form, known", KNOWN)
def test_formulas(way, graph, form, known):
    edges, _ = arcs_of(graph)
    n = len(graph)
    found = torchcent.laplacian_encoding(
        edges, k=13, num_nodes=n, directed=False, normalization=form, run=RUN
    )
    known = np.array(known)
    np.testing.assert_allclose(found.values[0].tolist(), known[1:14], rtol=0, atol=1e-9)
    times = [(abs(known - value) < 1e-8).sum() for value in known[1:14]]
    cut = [abs(known[14] - value) < 1e-8 for value in known[1:14]]  # goes on behind the columns
    for multiplicity, most, more in zip(found.multiplicity[0].tolist(), times, cut, strict=True):
        assert multiplicity == most or (more and most > multiplicity >= 4)
    vectors = found.vectors.cpu().numpy()
    residual = laplacian(graph, form) @ vectors - vectors * known[1:14]
    assert np.linalg.norm(residual, axis=0).max() < 1e-8
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(13), rtol=0, atol=1e-8)


def lumpy(seed):
    """Trees, cliques and a cycle, some of which hang together, and an isolated vertex."""
    draw = np.random.default_rng(seed)
    parts = [nx.random_labeled_tree(60, seed=seed), nx.complete_graph(9), nx.cycle_graph(31)]
    graph = nx.disjoint_union_all([*parts, nx.barabasi_albert_graph(80, 3, seed=seed)])
    graph.add_edges_from([(3, 62), (65, 75)])
    graph.add_node(len(graph))
    for *_, data in graph.edges(data=True):
        data["weight"] = float(draw.choice([0.01, 0.5, 1, 20]))
    return graph


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["sym", "rw", None])
@pytest.mark.parametrize("seed", [0, 1])
def test_against_numpy(way, form, seed):
    graph = lumpy(seed)
    edges, weight = arcs_of(graph)
    found = torchcent.laplacian_encoding(
        edges, weight, k=11, num_nodes=len(graph), directed=False, normalization=form, trivial=True,
        run=RUN,
    )  # fmt: skip
    values = np.linalg.eigvalsh(laplacian(graph, form and "sym", "weight"))
    np.testing.assert_allclose(
        found.values[0].tolist(), values[:11], rtol=0, atol=1e-9 * values[-1]
    )
    assert found.multiplicity[0, :3].tolist() == [3, 3, 3]
    matrix, vectors = laplacian(graph, form, "weight"), found.vectors.cpu().numpy()
    residual = matrix @ vectors - vectors * values[:11]
    assert np.linalg.norm(residual, axis=0).max() < 1e-8 * values[-1]
    np.testing.assert_allclose(found.vectors.norm(dim=0).tolist(), [1] * 11, rtol=1e-12)


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["sym", "rw", None])
def test_scale_of_weights(way, form):
    """Strengths near the ends of float64."""
    edges, _ = arcs_of(nx.circular_ladder_graph(70))
    options = {"k": 5, "directed": False, "normalization": form, "run": RUN}
    one = torchcent.laplacian_encoding(edges, **options)
    for factor in (1e-300, 1e300):
        weight = torch.full((edges.shape[1],), factor, dtype=F64, device=DEVICE)
        scaled = torchcent.laplacian_encoding(edges, weight, **options)
        values = scaled.values if form else scaled.values / factor
        torch.testing.assert_close(values, one.values, rtol=1e-7, atol=0)
        torch.testing.assert_close(scaled.vectors, one.vectors, rtol=0, atol=1e-6)


@pytest.mark.sweep(by="way light form")
@pytest.mark.parametrize("light", [1e-3, 1e-17, 1e-30, 1e-200])
@pytest.mark.parametrize("form", ["sym", None])
def test_edges_that_hardly_join(way, form, light):
    """Without them, L of the rest has another eigenvalue 0, to the precision of float64."""
    graph = nx.disjoint_union(nx.cycle_graph(70), nx.circular_ladder_graph(45))
    graph.add_edge(3, 80, weight=light)
    edges, weight = arcs_of(graph)
    found = torchcent.laplacian_encoding(
        edges, weight, k=4, num_nodes=len(graph), directed=False, normalization=form, run=RUN
    )
    matrix = laplacian(graph, form, "weight")
    values = np.linalg.eigvalsh(matrix)
    np.testing.assert_allclose(found.values[0].tolist(), values[1:5], rtol=0, atol=1e-9)
    vectors = found.vectors.cpu().numpy()
    residual = matrix @ vectors - vectors * values[1:5]
    assert np.linalg.norm(residual, axis=0).max() < 2e-8
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), rtol=0, atol=1e-7)


def test_a_factor_that_does_not_fit(tuning):
    """The iteration goes on; the graph is a hypercube, whose eigenvalues are 0, 2, 4, ..."""
    tuning(**WAYS["dense factor after products"])
    vertex, bit = torch.arange(2**12, device=DEVICE), 2 ** torch.arange(12, device=DEVICE)[:, None]
    arcs = torch.stack([vertex.expand(12, -1).flatten(), (vertex ^ bit).flatten()])
    run = Run(dtype=F64, memory=2 * 10**8)  # a factor takes twice as much
    found = torchcent.laplacian_encoding(arcs, k=3, normalization=None, run=run)
    np.testing.assert_allclose(found.values[0].tolist(), [2] * 3, rtol=0, atol=1e-7)
    residual = 12 * found.vectors - 2 * found.vectors
    residual.index_add_(0, arcs[1], -found.vectors[arcs[0]])
    assert residual.norm(dim=0).max() <= 24e-9


def test_eigenspaces_are_whole_where_all_eigenvalues_are_affordable(tuning):
    """A dense decomposition follows where the last column cuts an eigenspace."""
    tuning(spectra_kernel=50)
    for n in (150, 151):
        edges, _ = arcs_of(nx.star_graph(n - 1))
        found = torchcent.laplacian_encoding(edges, k=4, directed=False, run=RUN)
        assert found.multiplicity.tolist() == [[n - 2] * 4]
        found = torchcent.laplacian_encoding(edges, k=4, directed=False, run=RUN, num_nodes=n + 1)
        assert found.multiplicity.tolist() == [[2, *[n - 2] * 3]]
    two = torch.cat([arcs_of(nx.star_graph(149))[0], arcs_of(nx.path_graph(120))[0] + 150], 1)
    batch = torch.tensor([0] * 150 + [1] * 120, device=DEVICE)
    found = torchcent.laplacian_encoding(two, k=3, directed=False, batch=batch, run=RUN)
    np.testing.assert_allclose(found.values[0].tolist(), [1] * 3, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        found.values[1].tolist(), cosines(119, math.pi, "sym")[1:4], rtol=0, atol=1e-9
    )
    assert found.multiplicity.tolist() == [[148] * 3, [1] * 3]
