"""Encodings by the spectrum of the Laplacian, against NumPy, SciPy and the definitions."""

import random

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import torch
from graphs import DEVICE, complete, cycle, edge_index, path, star
from surface import call

import torchcent
from torchcent import Graph, Run

F64 = torch.float64
RUN = torchcent.Run(dtype=F64)
FORMS = [None, "sym", "rw"]


@pytest.fixture(params=["compiled", "tensor"])
def engine(request, tuning):
    if request.param == "tensor":
        tuning(spectra_in_kernel=lambda *_: False, walk_pairs_in_kernel=lambda *_: False)
    return request.param


def assorted(seed, count, most=14, weighted=False):
    """Matrices of random graphs: disconnected, with isolated vertices, loops, symmetries."""
    rng = random.Random(seed)
    shapes = [path, cycle, star, complete]
    matrices = []
    for _ in range(count):
        n = rng.randint(0, most)
        if n > 2 and rng.random() < 0.3:
            size = n - rng.randint(0, 1)  # with an isolated vertex
            arcs = rng.choice(shapes)(size if rng.random() < 0.5 else max(3, size // 2))
        else:
            arcs = [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(0, 2 * n))]
        matrix = np.zeros((n, n))
        for u, v in arcs:
            if max(u, v) < n:
                matrix[u, v] = matrix[v, u] = rng.choice([0.5, 1, 2.25, 40]) if weighted else 1
        matrices.append(matrix)
    return matrices


def batch_of(matrices):
    """edge_index, edge_weight, batch of their union; loops are arcs that do not count."""
    columns, weights, batch, first = [], [], [], 0
    for number, matrix in enumerate(matrices):
        for u, v in np.argwhere(matrix):
            columns.append((first + u, first + v))
            weights.append(matrix[u, v])
        batch += [number] * len(matrix)
        first += len(matrix)
    index = torch.tensor(columns, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    ptr = torch.tensor([0, *np.cumsum([len(x) for x in matrices])])
    weight = torch.tensor(weights, dtype=F64)
    return index.to(DEVICE), weight.to(DEVICE), ptr.to(DEVICE)


def graph_of(matrices):
    index, weight, ptr = batch_of(matrices)
    return Graph.from_edge_index(index, int(ptr[-1]), edge_weight=weight, ptr=ptr)


def laplacian(matrix, form):
    adjacency = matrix - np.diag(np.diag(matrix))
    strength = adjacency.sum(1)
    plain = np.diag(strength) - adjacency
    if form is None:
        return plain
    inverse = np.where(strength > 0, 1 / np.where(strength > 0, strength, 1), 0)
    if form == "rw":
        return inverse[:, None] * plain
    return np.sqrt(inverse)[:, None] * plain * np.sqrt(inverse)


def parts(values, matrices):
    return torch.split(values.cpu(), [len(x) for x in matrices])


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_eigenvectors_of_any_graph(engine, weighted, form):
    matrices = assorted(1, 150, weighted=weighted)
    encoding = torchcent.laplacian_encoding(
        graph_of(matrices), k=16, normalization=form, trivial=True, run=RUN
    )
    for matrix, vectors, values, multiplicity in zip(
        matrices, parts(encoding.vectors, matrices), encoding.values.cpu(),
        encoding.multiplicity.cpu(), strict=True,
    ):  # fmt: skip
        n, own = len(matrix), laplacian(matrix, form)
        symmetric = laplacian(matrix, "sym" if form == "rw" else form)
        known = np.linalg.eigvalsh(symmetric) if n else np.zeros(0)
        size = max(1.0, np.abs(known).max(initial=0))
        np.testing.assert_allclose(values[:n], known, atol=1e-12 * size)
        assert not values[n:].any() and not vectors[:, n:].any()
        vectors = vectors[:, :n].numpy()
        np.testing.assert_allclose(own @ vectors, vectors * known, atol=1e-11 * size)
        np.testing.assert_allclose((vectors**2).sum(0), 1, rtol=1e-12)
        near = np.abs(known[:, None] - known) <= 1e-9 * size
        assert multiplicity[:n].tolist() == near.sum(0).tolist()
        if form != "rw":
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)
            canonical(vectors, near)


def canonical(vectors, near):
    """Each is the projection of the unit vector of a vertex onto what is left of its eigenspace."""
    for j in range(vectors.shape[1]):
        left = np.flatnonzero(near[j] & (np.arange(len(near)) >= j))
        projection = vectors[:, left] @ vectors[:, left].T
        share = np.diag(projection)
        pivot = int((share * (1 + 1e-6) >= share.max()).argmax())
        np.testing.assert_allclose(
            vectors[:, j], projection[pivot] / share[pivot] ** 0.5, atol=1e-9
        )


def test_both_ways_have_the_same_bases(tuning):
    graph = graph_of(assorted(2, 200))
    ours = [torchcent.laplacian_encoding(graph, k=12, normalization=x, run=RUN) for x in FORMS]
    tuning(spectra_in_kernel=lambda *_: False)
    for form, compiled in zip(FORMS, ours, strict=True):
        by_tensors = torchcent.laplacian_encoding(graph, k=12, normalization=form, run=RUN)
        torch.testing.assert_close(compiled.vectors, by_tensors.vectors, rtol=0, atol=1e-8)
        torch.testing.assert_close(compiled.values, by_tensors.values, rtol=0, atol=1e-12)
        assert torch.equal(compiled.multiplicity, by_tensors.multiplicity)


def has_kernels():
    return hasattr(torch.ops.torchcent, "laplacian_eigen") and DEVICE.type == "cpu"


FUNCTIONS = {
    "laplacian_encoding": {"k": 5},
    "heat_kernel_encoding": {"times": [0.5, 3]},
    "spectral_density": {"bins": 6},
    "electrostatic_encoding": {},
    "heat_kernel_pairs": {"times": 2.0},
    "resistance_pairs": {"kind": "hitting"},
    "random_walk_pairs": {"powers": 4},
    "eigenspace_projections": {"k": 3},
    "magnetic_encoding": {"k": 3},
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_has_the_bits_of_each_graph(engine, name):
    matrices = [x for x in assorted(3, 40) if len(x)]
    matrices.append(assorted(4, 1, most=0)[0])
    matrices += [nx.to_numpy_array(nx.gnp_random_graph(60, 0.1, seed=1))]
    function, options = getattr(torchcent, name), FUNCTIONS[name] | {"run": RUN}
    together = function(graph_of(matrices), **options)
    together = together if isinstance(together, tuple) else (together,)
    begin = 0
    for number, matrix in enumerate(matrices):
        n, own = len(matrix), function(graph_of([matrix]), **options)
        for one, several in zip(own if isinstance(own, tuple) else (own,), together, strict=True):
            if several.shape[0] == len(matrices):
                cut = several[number : number + 1]
                cut = cut[tuple(slice(size) for size in one.shape)]
            else:
                cut = several[begin : begin + n]
            ours = engine == "compiled" and name != "magnetic_encoding"
            if ours or "walk" in name:
                assert torch.equal(one, cut), (number, n)
            else:  # LAPACK's bits depend on where a matrix begins in memory
                torch.testing.assert_close(one, cut, rtol=0, atol=1e-8)
        begin += n


@pytest.mark.parametrize("threads", [1, 3])
def test_bits_of_any_threads(threads):
    graph = graph_of(assorted(5, 300))
    for name, options in FUNCTIONS.items():
        known = getattr(torchcent, name)(graph, **options, run=RUN)
        other = getattr(torchcent, name)(graph, **options, run=RUN | torchcent.Run(threads=threads))
        for one, two in zip(
            known if isinstance(known, tuple) else (known,),
            other if isinstance(other, tuple) else (other,), strict=True,
        ):  # fmt: skip
            assert torch.equal(one, two), name


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMS)
def test_heat(engine, form):
    matrices = assorted(6, 60, weighted=True)
    graph, times = graph_of(matrices), [0.0, 0.3, 2.0]
    diagonal = torchcent.heat_kernel_encoding(graph, times=times, normalization=form, run=RUN)
    pairs = torchcent.heat_kernel_pairs(graph, times=times, normalization=form, run=RUN).cpu()
    for number, (matrix, own) in enumerate(zip(matrices, parts(diagonal, matrices), strict=True)):
        for c, t in enumerate(times):
            n = len(matrix)
            known = scipy.linalg.expm(-t * laplacian(matrix, form)) if n else matrix
            np.testing.assert_allclose(pairs[number, :n, :n, c], known, atol=1e-11)
            np.testing.assert_allclose(own[:, c], np.diag(known), atol=1e-11)
        assert not pairs[number, n:].any() and not pairs[number, :, n:].any()


def test_heat_without_the_eigenvalue_0(engine):
    matrices = assorted(7, 60)
    found = torchcent.heat_kernel_encoding(graph_of(matrices), times=[1.0], trivial=False, run=RUN)
    for matrix, own in zip(matrices, parts(found, matrices), strict=True):
        if len(matrix):
            values, vectors = np.linalg.eigh(laplacian(matrix, "sym"))
            factor = np.where(values > 1e-9, np.exp(-values), 0)
            np.testing.assert_allclose(own[:, 0], (vectors**2 * factor).sum(1), atol=1e-12)


def test_densities(engine):
    matrices = assorted(8, 60)
    found = torchcent.spectral_density(graph_of(matrices), bins=7, run=RUN)
    for matrix, own in zip(matrices, parts(found, matrices), strict=True):
        if len(matrix):
            values, vectors = np.linalg.eigh(laplacian(matrix, "sym"))
            place = np.clip(np.ceil(values / (2 / 7) - 1e-8).astype(int) - 1, 0, 6)
            known = np.zeros_like(own)
            np.add.at(known.T, place, (vectors**2).T)
            np.testing.assert_allclose(own, known, atol=1e-11)
            np.testing.assert_allclose(own.sum(1), 1, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_resistances_and_times_of_walks(engine, weighted):
    matrices = assorted(9, 60, weighted=weighted)
    graph = graph_of(matrices)
    found = {
        kind: torchcent.resistance_pairs(graph, kind=kind, run=RUN).cpu().numpy()
        for kind in ("resistance", "commute", "hitting", "inverse")
    }
    for number, matrix in enumerate(matrices):
        n = len(matrix)
        own = {kind: values[number, :n, :n] for kind, values in found.items()}
        adjacency = matrix - np.diag(np.diag(matrix))
        if n:
            inverse = np.linalg.pinv(laplacian(matrix, None), rcond=1e-10, hermitian=True)
            np.testing.assert_allclose(own["inverse"], inverse, atol=1e-9)
        together = np.zeros((n, n), bool)
        for vertices in nx.connected_components(nx.from_numpy_array(adjacency)):
            some = np.array(sorted(vertices))
            together[np.ix_(some, some)] = True
            own_matrix, volume = adjacency[np.ix_(some, some)], adjacency[some].sum()
            hitting = times_of_walks(own_matrix)
            np.testing.assert_allclose(
                own["hitting"][np.ix_(some, some)], hitting, rtol=1e-8, atol=1e-8
            )
            commute = hitting + hitting.T
            np.testing.assert_allclose(
                own["commute"][np.ix_(some, some)], commute, rtol=1e-8, atol=1e-8
            )
            np.testing.assert_allclose(
                own["resistance"][np.ix_(some, some)] * volume, commute, rtol=1e-8, atol=1e-8
            )
        assert np.isinf(own["hitting"][~together]).all()


def times_of_walks(adjacency):
    """The expected steps to each vertex, by a system of equations."""
    n = len(adjacency)
    times = np.zeros((n, n))
    if n > 1:
        step = adjacency / adjacency.sum(1, keepdims=True)
        for v in range(n):
            others = np.arange(n) != v
            rest = np.eye(n - 1) - step[np.ix_(others, others)]
            times[others, v] = np.linalg.solve(rest, np.ones(n - 1))
    return times


def test_potentials(engine):
    """The columns of GPSE, in its order, by the definition."""
    matrices = assorted(10, 60, weighted=True)
    found = torchcent.electrostatic_encoding(graph_of(matrices), run=RUN)
    for matrix, own in zip(matrices, parts(found, matrices), strict=True):
        adjacency = matrix - np.diag(np.diag(matrix))
        n, strength = len(matrix), adjacency.sum(1)
        if not strength.any():
            assert not own.any()
            continue
        potential = np.linalg.pinv(laplacian(matrix, None), rcond=1e-10, hermitian=True)
        potential = potential - np.diag(potential)
        step = adjacency / np.where(strength > 0, strength, 1)[:, None]
        columns = [
            potential.min(0), potential.mean(0), potential.std(0, ddof=1), potential.min(1),
            potential.std(1, ddof=1), (step * potential).sum(0), (step * potential).sum(1),
        ]  # fmt: skip
        np.testing.assert_allclose(own, np.stack(columns, 1), atol=1e-8)
        assert own.shape == (n, 7)


def test_powers_of_walks(engine):
    rng = np.random.default_rng(11)
    matrices = [(rng.random((n, n)) < 0.3) * rng.integers(1, 4, (n, n)) for n in (0, 1, 5, 9, 20)]
    found = torchcent.random_walk_pairs(
        graph_of(matrices), powers=5, padding=-1, max_nodes=21, run=RUN
    ).cpu()
    for matrix, own in zip(matrices, found, strict=True):
        n, strength = len(matrix), matrix.sum(1, keepdims=True)
        step = matrix / np.where(strength > 0, strength, 1)
        for k in range(5):
            known = np.linalg.matrix_power(step, k)
            np.testing.assert_allclose(own[:n, :n, k], known, atol=1e-13)
        assert (own[n:] == -1).all() and (own[:, n:] == -1).all()


def test_projections(engine):
    matrices = assorted(12, 60)
    found = torchcent.eigenspace_projections(graph_of(matrices), k=4, run=RUN)
    for number, matrix in enumerate(matrices):
        n = len(matrix)
        values, vectors = np.linalg.eigh(laplacian(matrix, "sym")) if n else (np.zeros(0),) * 2
        spaces = np.split(np.arange(n), np.flatnonzero(np.diff(values) > 1e-9) + 1) if n else []
        for place in range(4):
            own = found.projections[number, place].cpu().numpy()
            if place >= len(spaces):
                assert not own.any() and not found.values[number, place]
                continue
            some = vectors[:, spaces[place]]
            np.testing.assert_allclose(own[:n, :n], some @ some.T, atol=1e-10)
            assert int(found.multiplicity[number, place]) == len(spaces[place])


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 600])
def test_projections_of_large_eigenspaces(n):
    """More ranks are computed where the first ones end within an eigenspace."""
    both = torch.cat([edge_index(star(n - 1)), edge_index(path(9)) + n], 1).to(DEVICE)
    graph = Graph.from_edge_index(both, ptr=torch.tensor([0, n, n + 9]).to(DEVICE), directed=False)
    whole = torchcent.eigenspace_projections(graph, k=3, run=RUN)
    assert whole.multiplicity.tolist() == [[1, n - 2, 1], [1, 1, 1]]
    torch.testing.assert_close(
        whole.projections[0].sum(0), torch.eye(n, dtype=F64).to(DEVICE), rtol=0, atol=1e-11
    )
    first = torchcent.eigenspace_projections(graph, k=1, run=RUN)
    torch.testing.assert_close(first.projections[:, 0], whole.projections[:, 0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("n", [9, 600])
def test_vectors_in_single_precision(n):
    index = Graph.from_edge_index(edge_index(path(n)).to(DEVICE), directed=False)
    single = torchcent.laplacian_encoding(index, k=3, run=Run(dtype=torch.float32))
    double = torchcent.laplacian_encoding(index, k=3, run=RUN)
    assert single.vectors.dtype == single.values.dtype == torch.float32
    torch.testing.assert_close(single.vectors.double(), double.vectors, rtol=1e-6, atol=1e-6)
    half = torchcent.laplacian_encoding(index, k=3, run=Run(dtype=torch.float16)).vectors
    torch.testing.assert_close(half.double(), double.vectors, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", [None, "sym"])
def test_magnetic(form):
    rng = np.random.default_rng(13)
    matrices = [(rng.random((n, n)) < 0.25) * 1.0 for n in (0, 1, 2, 6, 6, 11, 11)]
    found = torchcent.magnetic_encoding(
        graph_of(matrices), k=11, q=0.15, normalization=form, run=RUN
    )
    for number, (matrix, own) in enumerate(
        zip(matrices, parts(found.vectors, matrices), strict=True)
    ):
        n = len(matrix)
        arcs = matrix - np.diag(np.diag(matrix))
        both = (arcs + arcs.T) / 2
        turned = both * np.exp(2j * np.pi * 0.15 * (arcs - arcs.T))
        scale = 1 / np.sqrt(np.where(both.sum(1) > 0, both.sum(1), 1)) if form else np.ones(n)
        known = scale[:, None] * (np.diag(both.sum(1)) - turned) * scale
        values, vectors = found.values[number, :n].cpu().numpy(), own[:, :n].numpy()
        np.testing.assert_allclose(values, np.linalg.eigvalsh(known) if n else [], atol=1e-12)
        np.testing.assert_allclose(known @ vectors, vectors * values, atol=1e-11)
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(n), atol=1e-11)
        for column in vectors.T:
            largest = column[np.abs(column).argmax()]
            assert largest.real > 0 or np.isclose(np.abs(column), np.abs(largest)).sum() > 1


def test_magnetic_without_directions_is_the_laplacian():
    graph = graph_of([nx.to_numpy_array(nx.karate_club_graph(), weight=None)])
    plain = torchcent.laplacian_encoding(graph, k=6, trivial=True, run=RUN)
    magnetic = torchcent.magnetic_encoding(graph, k=6, run=RUN)
    torch.testing.assert_close(plain.values, magnetic.values, rtol=0, atol=1e-12)
    torch.testing.assert_close(plain.vectors, magnetic.vectors.real, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("parts", [1, 3], ids=["connected", "three components"])
def test_large_graphs_by_iteration(form, parts, tuning):
    """Those of a torus have multiple eigenvalues; an isolated vertex is a component."""
    graphs = [nx.grid_2d_graph(12, 12, periodic=True), nx.gnp_random_graph(150, 0.05, seed=1)]
    union = nx.disjoint_union_all([graphs[0]] if parts == 1 else [*graphs, nx.empty_graph(1)])
    graph = graph_of([nx.to_numpy_array(union)])
    known = torchcent.laplacian_encoding(graph, k=9, normalization=form, trivial=True, run=RUN)
    tuning(spectra_dense=100, spectra_kernel=100)
    found = torchcent.laplacian_encoding(graph, k=9, normalization=form, trivial=True, run=RUN)
    torch.testing.assert_close(found.values, known.values, rtol=0, atol=1e-9)
    matrix = torch.from_numpy(laplacian(nx.to_numpy_array(union), form)).to(DEVICE)
    residual = matrix @ found.vectors - found.vectors * found.values
    assert residual.norm(dim=0).max() <= 1e-8
    whole = known.multiplicity[0] == found.multiplicity[0]  # not of an eigenspace that is cut
    assert whole[:4].all()
    torch.testing.assert_close(found.vectors[:, whole], known.vectors[:, whole], rtol=0, atol=1e-5)


def test_signs_of_flip():
    graph = graph_of([x for x in assorted(14, 30) if len(x) > 3])
    plain = torchcent.laplacian_encoding(graph, k=3, run=RUN)
    flipped = [
        torchcent.laplacian_encoding(
            graph, k=3, flip=True, generator=torch.Generator().manual_seed(seed), run=RUN
        ).vectors
        for seed in (0, 0, 1)
    ]
    assert torch.equal(flipped[0], flipped[1]) and not torch.equal(flipped[0], flipped[2])
    assert torch.equal(flipped[2].abs(), plain.vectors.abs())
    sign = torch.where(plain.vectors != 0, flipped[2] / plain.vectors, 0)
    for own in torch.split(sign, graph.ptr.diff().tolist()):
        for column in own.T:
            assert len(set(column[column != 0].tolist())) <= 1


def test_scale_of_weights(engine):
    """Strengths near the ends of float64."""
    matrix = nx.to_numpy_array(nx.path_graph(5))
    for factor in (1e-300, 1e300):
        for form in FORMS:
            one, scaled = (
                torchcent.laplacian_encoding(graph_of([x]), k=4, normalization=form, run=RUN)
                for x in (matrix, matrix * factor)
            )
            values = scaled.values if form else scaled.values / factor
            torch.testing.assert_close(values, one.values, rtol=1e-12, atol=0)
            torch.testing.assert_close(scaled.vectors, one.vectors, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name, options, kind, said",
    [
        ("laplacian_encoding", {"k": 0}, ValueError, "k must be at least 1"),
        ("laplacian_encoding", {"k": 1.5}, TypeError, "k must be an int"),
        ("laplacian_encoding", {"k": 2, "normalization": "l2"}, ValueError, '"sym", "rw" or None'),
        ("heat_kernel_encoding", {"times": -1}, ValueError, "times must be >= 0"),
        ("heat_kernel_encoding", {"times": []}, ValueError, "times"),
        ("heat_kernel_pairs", {"times": 1, "max_nodes": 2}, ValueError, "max_nodes=2 is less"),
        ("spectral_density", {"bins": 0}, ValueError, "bins must be at least 1"),
        ("resistance_pairs", {"kind": "flow"}, ValueError, "kind must be one of resistance"),
        ("random_walk_pairs", {"powers": 0}, ValueError, "powers must be at least 1"),
        ("magnetic_encoding", {"k": 2, "q": 0.5}, ValueError, "q must be in"),
        ("magnetic_encoding", {"k": 2, "normalization": "rw"}, ValueError, "no magnetic form"),
    ],
)
def test_malformed(name, options, kind, said):
    graph = graph_of([nx.to_numpy_array(nx.path_graph(4))])
    with pytest.raises(kind, match=said):
        getattr(torchcent, name)(graph, **options)


@pytest.mark.parametrize(
    "name", [x for x in FUNCTIONS if x not in ("random_walk_pairs", "magnetic_encoding")]
)
def test_directed_graphs_are_refused(name):
    arc = torch.tensor([[0], [1]], device=DEVICE)
    with pytest.raises(ValueError, match=f"{name} is for undirected graphs"):
        getattr(torchcent, name)(arc, **FUNCTIONS[name])


def test_memory_is_checked_before():
    graph = Graph.from_edge_index(torch.zeros(2, 0, dtype=torch.int64), 200_000)
    for name in ("heat_kernel_encoding", "spectral_density", "electrostatic_encoding"):
        with pytest.raises(MemoryError, match=f"{name} of 1 graphs with .* 200000 vertices needs"):
            getattr(torchcent, name)(graph, **FUNCTIONS[name])
    with pytest.raises(MemoryError, match="needs"):
        call(torchcent.laplacian_encoding, graph, k=8, memory=10**6)


@pytest.mark.parametrize("times", [1e6, 1e15, 1e300])
def test_heat_after_long_times(engine, times):
    """It is spread over each component, whatever rounding made of the eigenvalue 0."""
    graph = graph_of([nx.to_numpy_array(nx.cycle_graph(4)), nx.to_numpy_array(nx.star_graph(3))])
    pairs = torchcent.heat_kernel_pairs(graph, times=times, normalization=None, run=RUN)
    torch.testing.assert_close(pairs, torch.full_like(pairs, 0.25), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_weights_that_require_grad_are_refused(name):
    arcs = torch.tensor([[0, 1], [1, 0]], device=DEVICE)
    weight = torch.ones(2, requires_grad=True, device=DEVICE)
    with pytest.raises(ValueError, match="edge_weight requires grad"):
        getattr(torchcent, name)(arcs, weight, **FUNCTIONS[name])


def test_multiplicities_of_large_graphs(tuning):
    """Of 0 that of the components, and of others where the columns nearly reach them."""
    tuning(spectra_dense=50, spectra_kernel=50)
    cases = [
        (nx.disjoint_union_all([nx.path_graph(2)] * 60), 4, [60, 60, 60, 60]),
        (nx.empty_graph(100), 2, [100, 100]),
        (nx.cycle_graph(101), 4, [2, 2, 2, 2]),
        (nx.cycle_graph(101), 3, [2, 2, 2]),
    ]
    for graph, k, known in cases:
        found = torchcent.laplacian_encoding(graph_of([nx.to_numpy_array(graph)]), k=k, run=RUN)
        assert found.multiplicity[0].tolist() == known


def test_no_vertices_in_wide_matrices():
    empty = torch.zeros(2, 0, dtype=torch.int64, device=DEVICE)
    for name in ("random_walk_pairs", "heat_kernel_pairs", "resistance_pairs"):
        options = FUNCTIONS[name] | {"num_nodes": 0, "max_nodes": 3}
        assert not getattr(torchcent, name)(empty, **options).any()
