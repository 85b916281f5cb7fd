"""The compiled operators for graphs with weights: values, ties, overflow, cancellation."""

import math
import os
import random
from fractions import Fraction

import networkx as nx
import pytest
import torch
import weighted_oracles as oracles
from graphs import ASSORTED, arc_lists, diamonds, edge_index, grid, random_graph, tower
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Launch
from torch import Tensor

pytestmark = pytest.mark.sweep

if os.environ.get("TORCHCENT_NO_EXTENSION"):
    pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators", allow_module_level=True)

ops = torch.ops.torchcent
F64 = torch.float64
MEASURES = ["betweenness", "edge_betweenness", "stress"]
ENGINES = {"relax": 0, "dijkstra": 1}
# engine and rung of the ladder that it starts on
KERNELS = {"relax": (0, 0), "relax float64": (0, 1), "dijkstra": (1, 1), "wide": (1, 2)}
PRECISION = {"relax": 1e-5}  # path counts in float32
DTYPES = {"int32": torch.int32, "float64": F64}


class Weighted:
    """A graph and its weights as the operators take them."""

    def __init__(self, n: int, weights: oracles.Weights, dtype: torch.dtype) -> None:
        self.n, self.weights = n, {arc: w for arc, w in weights.items() if arc[0] != arc[1]}
        self.slots = sorted(self.weights)
        columns = edge_index(self.slots)
        self.rowptr, self.col, _ = ops.csr(columns.int(), n, False)
        slot = ops.slots(columns.int(), self.rowptr, self.col)
        assert slot.tolist() == list(range(len(self.slots)))
        self.colptr, self.row, order = ops.transpose(self.rowptr, self.col)
        self.weight = torch.tensor([self.weights[arc] for arc in self.slots], dtype=dtype)
        self.back_weight = self.weight[order]

    @property
    def graph(self) -> tuple[Tensor, ...]:
        return (self.rowptr, self.col, self.weight, self.colptr, self.row, self.back_weight)

    def scores(
        self,
        measure: str,
        engine: int,
        rung: int,
        *,
        sources: list[int] | None = None,
        abch: tuple[list[int], ...] | None = None,
        tolerance: float = 0.0,
        threads: int = 2,
    ) -> tuple[Tensor, int]:
        """Scores and the rung that was needed."""
        chosen = list(range(self.n)) if sources is None else sources
        one, zero = [1] * self.n, [0] * self.n
        a, b, c, h = abch or (one, one, zero, zero)
        scores = torch.zeros(len(self.slots) if measure == MEASURES[1] else self.n, dtype=F64)
        control = torch.zeros(4, dtype=torch.int64)
        used = ops.weighted_dependency(
            self.graph,
            torch.tensor(chosen, dtype=torch.int64),
            *(torch.tensor([w[s] for s in chosen], dtype=F64) for w in (a, c)),
            *(torch.tensor(w, dtype=F64) for w in (b, h)),
            scores,
            control,
            *(MEASURES.index(measure), engine, rung, Launch(threads), tolerance),
        )
        assert control.tolist() == [0, len(chosen), 0, 0]
        return scores, int(used)

    def distances(self, engine: int, sources: list[int], threads: int = 2) -> Tensor:
        out = torch.full((len(sources), self.n), 7, dtype=self.weight.dtype)
        control = torch.zeros(4, dtype=torch.int64)
        launch = Launch(threads)
        ops.weighted_distances(self.graph, torch.tensor(sources), out, control, engine, launch)
        assert control.tolist() == [0, len(sources), 0, 0]
        return out

    def sums(self, engine: int, sources: list[int], threads: int = 2) -> tuple[Tensor, Tensor]:
        sums = torch.full((len(sources), 3), 7.0, dtype=F64)
        farthest = torch.full((len(sources),), 7.0, dtype=F64)
        control = torch.zeros(4, dtype=torch.int64)
        arguments = (torch.tensor(sources), sums, farthest, control, engine, Launch(threads))
        ops.weighted_source_sums(self.graph, *arguments)
        assert control.tolist() == [0, len(sources), 0, 0]
        return sums, farthest


def both_ways(weights: oracles.Weights) -> oracles.Weights:
    return {(v, u): w for (u, v), w in weights.items()} | weights


def drawn(n: int, arcs: list, weight, seed: int = 1, symmetric: bool = True) -> oracles.Weights:
    """Weights from weight(generator), one per edge or arc."""
    rng = random.Random(seed)
    weights = {(u, v): weight(rng) for u, v in arcs if u != v}
    return both_ways(weights) if symmetric else weights


def assert_scores(actual: Tensor, expected: list, kernel: str) -> None:
    values = torch.tensor([float(score) for score in expected], dtype=F64)
    torch.testing.assert_close(actual, values, rtol=PRECISION.get(kernel, 1e-9), atol=1e-12)


# --- against the definition


WEIGHT = {
    "int32": [st.just(1), st.integers(1, 3), st.integers(1, 100), st.integers(1, 10**6)],
    # Multiples of 1/8 are added without rounding.
    "float64": [
        st.just(0.5),
        st.integers(1, 24).map(lambda k: k / 8),
        st.floats(1e-3, 1e3),
        st.sampled_from([0.1, 0.2, 0.15, 0.05, 0.3]),
    ],
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_definition(kernel, dtype, measure, data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    kind = data.draw(st.sampled_from(WEIGHT[dtype]))
    weights = {arc: data.draw(kind) for arc in arcs}
    if data.draw(st.booleans(), label="symmetric"):
        weights = both_ways(weights)
    graph = Weighted(n, weights, DTYPES[dtype])
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    vector = st.one_of(
        st.just([1] * n), st.just([0] * n), st.lists(st.integers(0, 5), min_size=n, max_size=n)
    )
    a, b, c, h = (data.draw(vector, label=name) for name in "abch")
    tolerance = data.draw(st.sampled_from([0.0, 0.0, 1e-9, 0.3]), label="tolerance")
    actual, rung = graph.scores(
        measure, *KERNELS[kernel], sources=sources, abch=(a, b, c, h), tolerance=tolerance
    )
    assert rung == KERNELS[kernel][1]
    expected = oracles.sums(
        measure, n, graph.weights, graph.slots, sources, a, c, b, h, tolerance=tolerance
    )
    assert_scores(actual, expected, kernel)


def float_weight(rng: random.Random) -> float:
    return rng.choice([0.1, 0.2, 0.3, rng.random() + 1e-3])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", [*ASSORTED, "long ladder"])
def test_networkx(kernel, directed, name):
    """Floating ties as NetworkX finds them, and integers; distances as well."""
    n, arcs = ASSORTED.get(name, (300, grid(2, 150)))
    for dtype, weight in ((F64, float_weight), (torch.int32, lambda rng: rng.randint(1, 10))):
        weights = drawn(n, arcs, weight, symmetric=not directed)
        graph = Weighted(n, weights, dtype)
        theirs = nx.DiGraph()
        theirs.add_nodes_from(range(n))
        theirs.add_weighted_edges_from((u, v, w) for (u, v), w in weights.items())
        options = {"normalized": False, "weight": "weight"}
        scores, _ = graph.scores("betweenness", *KERNELS[kernel])
        assert_scores(scores, list(nx.betweenness_centrality(theirs, **options).values()), kernel)
        scores, _ = graph.scores("edge_betweenness", *KERNELS[kernel])
        edges = nx.edge_betweenness_centrality(theirs, **options)
        assert_scores(scores, [edges[arc] for arc in graph.slots], kernel)
        rows = torch.full((n, n), math.inf, dtype=F64)
        for u, row in nx.all_pairs_dijkstra_path_length(theirs):
            rows[u, list(row)] = torch.tensor(list(row.values()), dtype=F64)
        ours = graph.distances(KERNELS[kernel][0], list(range(n))).to(F64)
        assert torch.equal(ours.where(ours >= 0, math.inf), rows)  # bit by bit


# --- ties


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("measure", MEASURES)
def test_equal_weights_are_hops(kernel, dtype, measure):
    for n, arcs in ASSORTED.values():
        graph = Weighted(n, both_ways({(u, v): 1 for u, v in arcs}), DTYPES[dtype])
        scores, _ = graph.scores(measure, *KERNELS[kernel])
        one, zero = torch.ones(n, dtype=F64), torch.zeros(n, dtype=F64)
        hops = torch.zeros_like(scores)
        ops.path_dependency(
            *((graph.rowptr, graph.col, graph.colptr, graph.row), torch.arange(n)),
            *(one, zero, one, zero, hops, torch.zeros(4, dtype=torch.int64)),
            *(MEASURES.index(measure), 1, 1, Launch(1)),
        )
        torch.testing.assert_close(scores, hops, rtol=PRECISION.get(kernel, 1e-9), atol=1e-9)


LATTICES = {
    "grid of ones": (63, grid(7, 9), lambda rng: 1),
    "grid of ones and twos": (63, grid(7, 9), lambda rng: rng.randint(1, 2)),
    "dense ones and twos": (40, random_graph(40, 500, seed=2), lambda rng: rng.randint(1, 2)),
    "grid of halves": (63, grid(7, 9), lambda rng: rng.choice([0.5, 1.0])),
    "grid of tenths": (63, grid(7, 9), lambda rng: rng.choice([0.1, 0.2])),
    "last bit": (40, random_graph(40, 500, seed=3), lambda rng: rng.choice(LAST_BIT)),
    "wide": (60, random_graph(60, 200, seed=4), lambda rng: 10.0 ** rng.uniform(-6, 6)),
    "wide integers": (60, random_graph(60, 200, seed=5), lambda rng: int(10 ** rng.uniform(0, 7))),
}
LAST_BIT = [1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0), 2.0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", LATTICES)
def test_ties(kernel, name):
    n, arcs, weight = LATTICES[name]
    weights = drawn(n, arcs, weight)
    whole = all(isinstance(w, int) for w in weights.values())
    for dtype in [F64, torch.int32][: 2 if whole else 1]:
        graph = Weighted(n, weights, dtype)
        few = list(range(0, n, 7))
        vectors = ([1] * n, [0] * n, [1] * n, [0] * n)  # a, c, b, h
        for measure in MEASURES:
            scores, _ = graph.scores(measure, *KERNELS[kernel], sources=few)
            expected = oracles.sums(measure, n, weights, graph.slots, few, *vectors)
            assert_scores(scores, expected, kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_frontier_trap(kernel):
    """A rule that settles vertices too early miscounts paths though all distances are right.

    0 - 1 and 0 - 2 are short, 1 - 2 is as short a way to 2, and 3 hangs on 2: there are two
    shortest paths to 2, so two to 3 (Fan, Xu and Zhao 2017, figure 1B).
    """
    for dtype in DTYPES.values():
        weights = both_ways({(0, 1): 1, (0, 2): 2, (1, 2): 1, (2, 3): 1})
        graph = Weighted(4, weights, dtype)
        scores, _ = graph.scores("stress", *KERNELS[kernel], sources=[0])
        assert scores.tolist() == [0, 2, 2, 0]  # both paths to 3 pass through 2, one through 1
        scores, _ = graph.scores("betweenness", *KERNELS[kernel], sources=[0])
        assert scores.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_tolerance(kernel):
    """0.1 + 0.2 and 0.15 + 0.15 are the same way for people, not for floating point."""
    weights = {(0, 1): 0.1, (1, 3): 0.2, (0, 2): 0.15, (2, 3): 0.15}
    graph = Weighted(4, weights, F64)
    scores, _ = graph.scores("betweenness", *KERNELS[kernel])
    assert scores.tolist() == [0, 0, 1, 0]
    scores, _ = graph.scores("betweenness", *KERNELS[kernel], tolerance=1e-9)
    assert scores.tolist() == [0, 0.5, 0.5, 0]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_tolerance_never_counts_backwards(kernel):
    """Ways to vertices as near as the tail are none, however generous the tolerance."""
    n, arcs = 40, random_graph(40, 300, seed=8)
    for dtype, weight in (
        (F64, lambda rng: rng.uniform(1, 2)),
        (torch.int32, LATTICES["grid of ones and twos"][2]),
    ):
        weights = drawn(n, arcs, weight)
        graph = Weighted(n, weights, dtype)
        for tolerance in (1e-6, 0.1, 0.99):
            vectors = ([1] * n, [0] * n, [1] * n, [0] * n)  # a, c, b, h
            expected = oracles.sums(
                "betweenness", n, weights, graph.slots, range(n), *vectors, tolerance=tolerance
            )
            scores, _ = graph.scores("betweenness", *KERNELS[kernel], tolerance=tolerance)
            assert_scores(scores, expected, kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_lost_in_rounding(kernel):
    """1e20 + 1 is 1e20, both ways: there is no order to count in, but an end."""
    weights = both_ways({(0, 1): 1e20, (1, 2): 1.0, (2, 3): 1.0, (3, 4): 1.0, (4, 0): 1e20})
    graph = Weighted(5, weights, F64)
    scores, _ = graph.scores("betweenness", *KERNELS[kernel])
    assert scores.isfinite().all() and (scores >= 0).all()
    assert graph.distances(KERNELS[kernel][0], [0]).tolist() == [[0, 1e20, 1e20, 1e20, 1e20]]


# --- numbers beyond their type


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [30, 400, 1100])
def test_path_counts_never_overflow(engine, dtype, count):
    """A chain of diamonds has 2^count paths; with equal weights its scores are those of hops."""
    n, arcs = 3 * count + 1, diamonds(count)
    graph = Weighted(n, both_ways({arc: 3 for arc in arcs}), DTYPES[dtype])
    few = [0, 1, n // 2, n - 1]
    for measure in MEASURES[:2]:
        scores, rung = graph.scores(measure, ENGINES[engine], 0, sources=few)
        assert rung == (2 if count > 1000 else 1 if count > 100 or engine == "dijkstra" else 0)
        hops = torch.zeros_like(scores)
        one, zero = torch.ones(n, dtype=F64), torch.zeros(n, dtype=F64)
        ops.path_dependency(
            *((graph.rowptr, graph.col, graph.colptr, graph.row), torch.tensor(few)),
            *(one[:4].contiguous(), zero[:4].contiguous(), one, zero, hops),
            *(torch.zeros(4, dtype=torch.int64), MEASURES.index(measure), 1, 2, Launch(1)),
        )
        torch.testing.assert_close(scores, hops, rtol=1e-5 if rung == 0 else 1e-9, atol=1e-9)
    stress, rung = graph.scores("stress", ENGINES[engine], 0, sources=[0])
    if count < 1000:
        assert stress[3].item() == pytest.approx(
            2 * sum(2.0**i for i in range(2, count + 1)), rel=1e-5
        )
    else:
        assert rung == 2 and stress[3] == math.inf


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("heaviest", [1, 60, 70, 16_000, 17_000, 10**6, 21_000_000])
def test_distances_outgrow_their_type(engine, heaviest):
    """Rows of one, two and four bytes; a long path takes each of them to its end."""
    n = 101
    weights = both_ways({(v, v + 1): max(1, heaviest - v % 3) for v in range(n - 1)})
    graph = Weighted(n, weights, torch.int32)
    rows = graph.distances(ENGINES[engine], list(range(n)))
    place = torch.tensor([0] + [weights[v, v + 1] for v in range(n - 1)]).cumsum(0)
    assert torch.equal(rows.long(), (place[:, None] - place[None, :]).abs())
    scores, _ = graph.scores("betweenness", ENGINES[engine], 0)
    assert scores.tolist() == [2.0 * v * (n - 1 - v) for v in range(n)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", [5e-324, 2.0**-1060, 2.0**-30, 2.0**1000, 2.0**1021])
def test_units_do_not_matter(engine, unit):
    """As long as sums are exact: scores in the smallest and the largest numbers there are."""
    n, arcs = 40, random_graph(40, 200, seed=11)
    weights = drawn(n, arcs, lambda rng: rng.choice([1, 2]))
    whole, _ = Weighted(n, weights, torch.int32).scores("betweenness", ENGINES[engine], 1)
    scaled = {arc: w * unit for arc, w in weights.items()}
    scores, _ = Weighted(n, scaled, F64).scores("betweenness", ENGINES[engine], 1)
    torch.testing.assert_close(scores, whole, rtol=1e-12, atol=1e-12)


def test_arcs_that_are_tight_in_all_lanes():
    n, arcs = 1000, tower(20, 50)
    graph = Weighted(n, both_ways({arc: 1 for arc in arcs}), torch.int32)
    few = list(range(128))
    for measure in MEASURES:
        relax, _ = graph.scores(measure, 0, 0, sources=few)
        dijkstra, _ = graph.scores(measure, 1, 1, sources=few)
        torch.testing.assert_close(relax, dijkstra, rtol=1e-5, atol=0)


# --- distances


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_distances(engine, dtype, data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    weights = {arc: data.draw(data.draw(st.sampled_from(WEIGHT[dtype]))) for arc in arcs}
    graph = Weighted(n, weights, DTYPES[dtype])
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=100))
    expected = [oracles.distances(n, graph.weights, s) for s in sources]
    absent = -1 if dtype == "int32" else math.inf
    rows = graph.distances(ENGINES[engine], sources)
    assert rows.tolist() == [[absent if d is None else d for d in row] for row in expected]
    sums, farthest = graph.sums(ENGINES[engine], sources)
    for row, found, most in zip(expected, sums.tolist(), farthest.tolist(), strict=True):
        reached = [Fraction(d) for d in row if d]
        exact = [sum(reached), sum(1 / d for d in reached), len(reached)]
        assert found == pytest.approx([float(x) for x in exact], rel=1e-12)
        assert most == max(reached, default=0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_nothing_to_search(engine, dtype):
    for n in (0, 1, 5):
        graph = Weighted(n, {}, dtype)
        for measure in MEASURES:
            scores, rung = graph.scores(measure, ENGINES[engine], 0)
            assert scores.tolist() == [0.0] * (0 if measure == "edge_betweenness" else n)
            assert rung == ENGINES[engine]
        none, _ = graph.scores("stress", ENGINES[engine], 0, sources=[])
        assert none.tolist() == [0.0] * n
        assert graph.distances(ENGINES[engine], []).shape == (0, n)
        if n:
            sums, farthest = graph.sums(ENGINES[engine], [n - 1])
            assert sums.tolist() == [[0, 0, 0]] and farthest.tolist() == [0]


# --- how it runs


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_bits_do_not_depend_on_threads(engine, dtype):
    n, arcs = 400, random_graph(400, 3000, seed=9)
    weights = drawn(n, arcs, lambda rng: rng.randint(1, 9) if dtype != F64 else rng.random() + 0.1)
    graph = Weighted(n, weights, dtype)
    for measure in MEASURES:
        first, *others = (
            graph.scores(measure, ENGINES[engine], 0, threads=threads)[0] for threads in (1, 2, 5)
        )
        assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_a_cancelled_run_stops(engine, dtype):
    n, arcs = 400, random_graph(400, 3000, seed=10)
    graph = Weighted(n, drawn(n, arcs, lambda rng: rng.randint(1, 9)), dtype)
    control, scores = torch.tensor([1, 0, 0, 0]), torch.zeros(n, dtype=F64)
    one, zero = torch.ones(n, dtype=F64), torch.zeros(n, dtype=F64)
    arguments = (graph.graph, torch.arange(n), one, zero, one, zero, scores, control)
    ops.weighted_dependency(*arguments, 0, ENGINES[engine], 0, Launch(2), 0.0)
    assert control.tolist() == [1, 0, 0, 0] and not scores.any()
    out, sums = torch.zeros(n, n, dtype=dtype), torch.zeros(n, 3, dtype=F64)
    how = control, ENGINES[engine], Launch(2)
    ops.weighted_distances(graph.graph, torch.arange(n), out, *how)
    ops.weighted_source_sums(graph.graph, torch.arange(n), sums, one.clone(), *how)
    assert control.tolist() == [1, 0, 0, 0]
