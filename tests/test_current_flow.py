"""Current flow: against the pseudo-inverse of the Laplacian and NetworkX; malformed arguments."""

import itertools
import math
import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, complete, cycle, edge_index, grid, path, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import COMPILED, has_kernel
from surface import call
from test_io_memory import RESET, SLACK, peak_of
from tuning import tuned

import torchcent
from torchcent import Graph
from torchcent.cli import main
from torchcent.flow import _solver
from torchcent.flow._solver import Potentials, components

ops = torch.ops.torchcent

F64 = torch.float64
SHAPES = {
    "edge": (2, path(2)),
    "path": (6, path(6)),
    "cycle": (7, cycle(7)),
    "star": (8, star(7)),
    "complete": (6, complete(6)),
    "grid": (12, grid(3, 4)),
    "two parts and a vertex": (14, [*cycle(5), *((5 + u, 5 + v) for u, v in grid(2, 4))]),
    "random": (
        30,
        sorted({(min(a), max(a)) for a in random_graph(30, 70, seed=3) if a[0] != a[1]}),
    ),
}


def definition(n, arcs, conductance):
    """Betweenness of vertices and edges, and resistances: every pair, by the pseudo-inverse."""
    laplacian = np.zeros((n, n))
    for (u, v), c in zip(arcs, conductance, strict=True):
        laplacian[[u, v], [u, v]] += c
        laplacian[[u, v], [v, u]] -= c
    reach = np.linalg.matrix_power((laplacian != 0).astype(float) + np.eye(n), n) > 0
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    vertex, edge, resistance = np.zeros(n), np.zeros(len(arcs)), np.full((n, n), np.inf)
    for s, t in itertools.combinations_with_replacement(range(n), 2):
        if not reach[s, t]:
            continue
        potential = inverse[:, s] - inverse[:, t]
        resistance[s, t] = resistance[t, s] = potential[s] - potential[t]
        for e, ((u, v), c) in enumerate(zip(arcs, conductance, strict=True)):
            current = abs(potential[u] - potential[v]) * c
            edge[e] += current
            for w in {u, v} - {s, t}:
                vertex[w] += current / 2
    return vertex, edge, resistance


def compare(n, arcs, conductance, memory=None):
    vertex, edge, resistance = definition(n, arcs, conductance)
    index = edge_index(arcs)
    weight = torch.tensor(conductance, dtype=F64, device=DEVICE)
    given_as = {"num_nodes": n, "directed": False, "dtype": F64, "memory": memory}
    near = {"rtol": 1e-9, "atol": 1e-9}

    def same(found, expected):
        torch.testing.assert_close(found.cpu(), torch.from_numpy(expected), **near)

    raw = call(torchcent.current_flow_betweenness, index, weight, normalized=False, **given_as)
    same(raw, vertex)
    scale = max((n - 1) * (n - 2), 1) / 2
    value = call(torchcent.current_flow_betweenness, index, weight, **given_as)
    same(value, vertex / scale)
    value = call(
        torchcent.edge_current_flow_betweenness, index, weight, normalized=False, **given_as
    )
    same(value, edge / 2)
    value = call(torchcent.edge_current_flow_betweenness, index, weight, **given_as)
    same(value, edge / 2 / scale if n > 2 else 0 * edge)
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T
    value = call(torchcent.effective_resistance, index, weight, pairs=pairs, **given_as)
    same(value.view(n, n), resistance)
    total = np.where(np.isinf(resistance), 0, resistance).sum(1)
    value = call(torchcent.current_flow_closeness, index, weight, **given_as)
    same(value, np.divide(1, total, out=np.zeros(n), where=total > 1e-9))
    assert torch.equal(value, call(torchcent.information_centrality, index, weight, **given_as))


SOLVERS = {
    "default": {},
    "all eliminated": {"_RATIO": 0, "_SORTED": 60},
    "some eliminated": {"_RATIO": 3},
    "inverted whole": {"_RATIO": 2**40},
    "sparse": {"_DENSE": 2**60, "_ELIMINATED": 2**60, "_BLOCK": 800},
    "sparse, as much is left": {"_RATIO": 1, "_DENSE": 2**60, "_BLOCK": 800},
    "tensors": {},
}


def select(solver, monkeypatch):
    for name, value in SOLVERS[solver].items():
        monkeypatch.setattr(_solver, name, value)
    if solver == "tensors":
        tuned(monkeypatch)(has_kernel=lambda *_: False)


@pytest.mark.sweep(by="shape solver")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_definition(shape, solver, monkeypatch):
    n, arcs = SHAPES[shape]
    select(solver, monkeypatch)
    compare(n, arcs, [1.0] * len(arcs))
    compare(n, arcs, [0.1 * (1 + e % 7) for e in range(len(arcs))])


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="no operators")
@pytest.mark.skipif(not RESET.exists(), reason="needs Linux's /proc")
@pytest.mark.skipif(DEVICE.type != "cpu", reason="memory of the host")
@pytest.mark.parametrize("shape", ["complete", "scale-free"])
def test_memory_of_a_dense_inverse(shape):
    """At most what has to be allowed for it."""
    n = 1500
    arcs = {
        "complete": lambda: torch.combinations(torch.arange(n)).T.contiguous(),
        "scale-free": lambda: torchcent.generate.ba(n, 5),
    }[shape]()
    (part,) = components(torchcent.Graph.from_edge_index(arcs, n, False))
    most = _solver._ELIMINATED if shape == "scale-free" else _solver._DENSE
    Potentials(part, None)  # what a process takes once
    assert peak_of(lambda: Potentials(part, None)) <= most * 8 * n * n + SLACK
    assert Potentials(part, most * 8 * n * n).inverse is not None
    assert Potentials(part, most * 8 * n * n - 1).inverse is None


@pytest.mark.parametrize("ratio", [0, 2, 16])
def test_inverse_of_more_rows_than_a_block(ratio, monkeypatch):
    """A grid, a tree and a random graph of 300 vertices: against NumPy's inverse."""
    monkeypatch.setattr(_solver, "_RATIO", ratio)
    tree = [(v, (v * 7919) % v) for v in range(1, 300)]
    for n, arcs in ((300, grid(15, 20)), (300, tree), (300, tree + random_graph(300, 500, seed=1))):
        arcs = sorted({(min(a), max(a)) for a in arcs if a[0] != a[1]})
        graph = torchcent.Graph.from_edge_index(
            edge_index(arcs).cpu(), n, False, 1 + torch.arange(len(arcs), dtype=F64) % 5
        )
        (part,) = components(graph)
        laplacian = np.zeros((n, n))
        (u, v), c = part.ends.numpy(), part.conductance.numpy()
        laplacian[u, v] = laplacian[v, u] = -c
        np.fill_diagonal(laplacian, -laplacian.sum(1))
        found = Potentials(part, None)
        kept = np.delete(np.arange(n), found.ground)
        expected = np.zeros((n, n))
        expected[np.ix_(kept, kept)] = np.linalg.inv(laplacian[np.ix_(kept, kept)])
        rows = found.inverse[found.number][:, found.number].numpy()
        np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-9 * expected.max())


#: so many numbers of any distribution, drawn by numpy.random.Generator
NUMBERS = {
    "normal": lambda chance, k: chance.normal(size=k),
    "ties": lambda chance, k: chance.integers(-3, 3, size=k).astype(float),
    "clusters": lambda chance, k: 1 + 1e-12 * chance.normal(size=k) + (np.arange(k) == 0),
    "huge": lambda chance, k: 1e300 * chance.random(size=k),
    "tiny": lambda chance, k: 1e-300 * chance.random(size=k),
    "equal": lambda chance, k: np.full(k, 0.1),
    "two": lambda chance, k: (np.arange(k) % 2).astype(float),
}


@pytest.mark.skipif(not COMPILED, reason="no operators")
@pytest.mark.parametrize("kind", NUMBERS)
def test_spreads(kind):
    """Numbers of any distribution: against sums in order of Python's integers and fractions."""
    chance = np.random.default_rng(3)
    for count in (1, 2, 63, 65, 700):
        x = NUMBERS[kind](chance, count)
        rows = torch.from_numpy(np.stack([x, np.zeros(count)]))
        found = ops.row_spreads(rows, torch.tensor([0, 1, 0]), torch.tensor([1, 0, 0]), 2)
        exact = [Fraction(value) for value in sorted(x.tolist())]
        total = float(sum(value * (2 * i - count + 1) for i, value in enumerate(exact)))
        assert found.tolist() == pytest.approx([total, total, 0], rel=1e-9, abs=0)
    for fault in (math.nan, math.inf):
        rows = torch.tensor([[1.0, fault, 2.0], [0, 0, 0]], dtype=F64)
        assert ops.row_spreads(rows, torch.tensor([0]), torch.tensor([1])).isnan().all()


@settings(max_examples=25)
@given(st.data())
def test_random_graphs(data):
    n = data.draw(st.integers(2, 9))
    every = list(itertools.combinations(range(n), 2))
    arcs = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    one = st.floats(0.01, 100)
    compare(n, arcs, data.draw(st.lists(one, min_size=len(arcs), max_size=len(arcs))))


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_networkx(weight, normalized):
    graph = nx.les_miserables_graph()
    given_as = {"weight": weight, "normalized": normalized}
    ours = torchcent.Graph.from_networkx(graph, weight)
    found = torchcent.current_flow_betweenness(
        ours, normalized=normalized, run=torchcent.Run(dtype=F64)
    )
    other = nx.current_flow_betweenness_centrality(graph, **given_as)
    assert found.tolist() == pytest.approx([other[v] for v in graph], rel=1e-9, abs=1e-9)
    found = torchcent.edge_current_flow_betweenness(
        ours, normalized=normalized, run=torchcent.Run(dtype=F64)
    )
    other = nx.edge_current_flow_betweenness_centrality(graph, **given_as)
    expected = [other.get((u, v), other.get((v, u))) for u, v in graph.edges]
    assert found[: len(expected)].tolist() == pytest.approx(expected, rel=1e-9)
    other = nx.current_flow_closeness_centrality(graph, weight=weight)
    found = torchcent.current_flow_closeness(ours, run=torchcent.Run(dtype=F64))
    assert found.tolist() == pytest.approx([other[v] for v in graph], rel=1e-9)


def test_batches_are_graphs_alone():
    shapes = [SHAPES[name] for name in ("path", "grid", "two parts and a vertex", "edge")]
    ptr = torch.tensor([0, *itertools.accumulate(n for n, _ in shapes)], device=DEVICE)
    union = torch.cat(
        [edge_index(arcs) + int(start) for (_, arcs), start in zip(shapes, ptr, strict=False)], 1
    )
    for measure in (
        torchcent.current_flow_betweenness,
        torchcent.edge_current_flow_betweenness,
        torchcent.current_flow_closeness,
    ):
        alone = [measure(edge_index(a), num_nodes=n, directed=False) for n, a in shapes]
        assert torch.equal(call(measure, union, ptr=ptr, directed=False), torch.cat(alone))


def test_loops_duplicates_and_empty_graphs():
    index = torch.tensor([[0, 1, 1, 0, 2], [1, 0, 1, 1, 1]], device=DEVICE)
    found = torchcent.edge_current_flow_betweenness(index, directed=False, normalized=False)
    assert found.tolist() == pytest.approx([1, 1, 0, 1, 1])
    none = torch.zeros(2, 0, dtype=torch.int64, device=DEVICE)
    for n in (0, 3):
        assert torchcent.current_flow_betweenness(none, num_nodes=n).tolist() == [0] * n
        assert torchcent.current_flow_closeness(none, num_nodes=n).tolist() == [0] * n
        assert torchcent.edge_current_flow_betweenness(none, num_nodes=n).numel() == 0


def test_bad_arguments():
    index = edge_index(path(3))
    both = torch.cat([index, index.flip(0)], 1)
    with pytest.raises(
        ValueError, match="current_flow_betweenness.*no reverse arc of the same weight"
    ):
        torchcent.current_flow_betweenness(index)
    with pytest.raises(
        ValueError, match="current_flow_closeness.*no reverse arc of the same weight"
    ):
        torchcent.current_flow_closeness(both, torch.tensor([1.0, 2, 3, 4], device=DEVICE))
    with pytest.raises(TypeError, match="normalized"):
        torchcent.current_flow_betweenness(both, normalized=1)
    with pytest.raises(TypeError, match="dtype"):
        torchcent.current_flow_closeness(both, run=torchcent.Run(dtype=torch.int64))
    with pytest.raises(ValueError, match=r"pairs must have shape \[2, P\], got \[3\]"):
        torchcent.effective_resistance(both, pairs=torch.tensor([0, 1, 2]))
    with pytest.raises(TypeError, match="pairs must be a tensor"):
        torchcent.effective_resistance(both, pairs=[(0, 1)])
    with pytest.raises(ValueError, match="vertex 3"):
        torchcent.effective_resistance(both, pairs=torch.tensor([[0], [3]]))
    with pytest.raises(MemoryError, match="memory="):
        torchcent.current_flow_betweenness(both, run=torchcent.Run(memory=1))


def test_command_line(tmp_path, capsys):
    """Weights are conductances; scores of vertices and edges are those of NetworkX."""
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 1), ("c", "a", 0.5), ("c", "d", 4)])
    table = tmp_path / "network.csv"
    table.write_text("".join(f"{u},{v},{w}\n" for u, v, w in graph.edges.data("weight")))

    def rows(*options):
        name = tmp_path / "scores.csv"
        main([*options, str(table), "-o", str(name), "--weights", "--quiet"])
        capsys.readouterr()
        lines = [x.split(",") for x in name.read_text().splitlines() if not x.startswith("#")]
        return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]

    expected = nx.current_flow_betweenness_centrality(graph, weight="weight")
    found = rows("current-flow-betweenness")
    assert {x["label"]: float(x["current_flow_betweenness"]) for x in found} == pytest.approx(
        expected
    )
    expected = nx.current_flow_closeness_centrality(graph, weight="weight")
    found = rows("current-flow-closeness")
    assert {x["label"]: float(x["current_flow_closeness"]) for x in found} == pytest.approx(
        expected
    )
    expected = nx.edge_current_flow_betweenness_centrality(graph, False, "weight")
    found = rows("edge-current-flow-betweenness", "--no-normalized")
    column = "edge_current_flow_betweenness"
    assert {frozenset((x["source"], x["target"])): float(x[column]) for x in found} == (
        pytest.approx({frozenset(key): value for key, value in expected.items()})
    )


@pytest.mark.parametrize("seed", range(6))
def test_leaves_have_no_current(seed):
    """Exactly 0, and whole numbers on trees, where all current takes the only way there is."""
    n, draw = 60, random.Random(seed)
    tree = [(draw.randrange(v), v) for v in range(1, n)]
    arcs = tree + [(draw.randrange(n), draw.randrange(n)) for _ in range(3 * seed)]
    weight = torch.rand(len(arcs), dtype=F64, generator=torch.Generator().manual_seed(seed)) + 0.01
    graph = Graph.from_edge_index(edge_index(arcs), n, False, weight.to(DEVICE))
    sources = torch.arange(0, n, 3, device=DEVICE)
    scores = torchcent.current_flow_betweenness(
        graph, normalized=False, run=torchcent.Run(dtype=F64)
    )
    drawn = torchcent.current_flow_betweenness_approx(
        graph,
        0.1,
        method="pairs",
        run=torchcent.Run(dtype=F64),
        generator=torch.Generator().manual_seed(1),
    ).scores
    leaf = graph.degree == 1
    assert leaf.any()
    assert not scores[leaf].any() and not drawn[leaf].any()
    assert not (scores < 0).any()
    if not seed:
        hops = torchcent.betweenness(
            graph.unweighted(), normalized=False, run=torchcent.Run(dtype=F64)
        )
        assert torch.equal(scores, hops)
        edges = torchcent.edge_current_flow_betweenness(
            graph, normalized=False, sources=sources, run=torchcent.Run(dtype=F64)
        )
        crossing = torchcent.edge_betweenness(
            graph.unweighted(), normalized=False, sources=sources, run=torchcent.Run(dtype=F64)
        )
        share = len(sources) / n  # betweenness stands for all sources
        assert torch.equal(edges, crossing / 2 * share)


@pytest.mark.skipif(not has_kernel("eliminated", DEVICE), reason="elimination is on the CPU")
@pytest.mark.parametrize("shape", [grid(30, 31), grid(5, 200)])
def test_few_columns_are_solved_for_without_the_others(shape):
    """A grid has few vertices left, and rows of all its vertices would take O(k^2)."""
    weight = torch.rand(len(shape), generator=torch.Generator().manual_seed(2), dtype=F64) + 0.1
    graph = Graph.from_edge_index(edge_index(shape), None, False, weight.to(DEVICE))
    part = max(components(graph), key=lambda part: part.size)
    pairs = torch.stack([part.vertices[:9], part.vertices[5:14]])
    known = Potentials(part, None).resistance(*pairs_within(part, pairs))
    few = Potentials(part, None, columns=9)
    assert few.inverse is None
    left = few._factor._left
    assert left < part.size / 2
    torch.testing.assert_close(few.resistance(*pairs_within(part, pairs)), known)
    found = torchcent.effective_resistance(graph, pairs=pairs, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(found, known)
    every, some = Potentials(part, None), few.columns(part.vertices.new_tensor([3, 8]))
    expected = every.inverse[every.number][:, every.number[[3, 8]]]
    torch.testing.assert_close(some[few.number], expected)


def pairs_within(part, pairs):
    return torch.searchsorted(part.vertices, pairs)
