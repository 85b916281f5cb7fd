"""The engines for weights on CUDA: the values of the definition, by every strategy."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
import weighted_oracles as oracles
from graphs import diamonds, grid, path, random_graph, star, union
from internals import COMPILED_FOR_CUDA, WARP_SIZES, Launch
from internals import STRATEGIES as NAMED
from surface import call
from test_cuda import with_hubs
from test_weighted_ops import LATTICES, MEASURES, Weighted, both_ways, drawn, float_weight
from torch import Tensor

import torchcent

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

F64 = torch.float64
MEMORY = 1 << 30
LOCKED = 16
STRATEGIES = {
    "auto": 0,
    "NP": 1,
    "WE": 3,
    **{f"WE+warp{4 << i}": 4 + i for i in range(4)},
    **{f"NP+warp{4 << i}": 10 + i for i in range(4)},
}
RELAX, DIJKSTRA = 0, 1
# engine, and how it is launched
EXACT = {
    "relax": (RELAX, Launch()),
    "relax, one batch at a time": (RELAX, Launch(flight=1)),
    **{f"dijkstra {name}": (DIJKSTRA, Launch(strategy=x)) for name, x in STRATEGIES.items()},
    "dijkstra, one block per multiprocessor": (DIJKSTRA, Launch(blocks=1)),
    "dijkstra, four blocks per multiprocessor": (DIJKSTRA, Launch(blocks=4)),
}
KERNELS = EXACT | {
    f"dijkstra locked {name}": (DIJKSTRA, Launch(strategy=x + LOCKED))
    for name, x in STRATEGIES.items()
}
# Pairs have float32 mantissas.
PRECISION = {1: 1e-9, 2: 1e-5}
GRAPHS = {
    "path": (9, path(9)),
    "star": (12, star(11)),
    "grid": (20, grid(4, 5)),
    "random": (24, random_graph(24, 70, seed=1)),
    "sparse": (30, random_graph(30, 34, seed=2)),
    "parts": union((6, path(6)), (3, []), (14, random_graph(14, 40, seed=3))),
}
HUBS = 700  # more arcs than a chunk of the relax engine (csrc/paths/cuda/tasks.cuh)


def on_cuda(graph: Weighted) -> tuple[Tensor, ...]:
    """Arguments of the operators; a symmetric graph is its own transpose there."""
    rowptr, col, weight, *transpose = (tensor.cuda() for tensor in graph.graph)
    if all(graph.weights.get((v, u)) == w for (u, v), w in graph.weights.items()):
        transpose = [rowptr, col, weight]
    return rowptr, col, weight, *transpose


def weighted(n: int, arcs: list, weight: Callable, dtype: torch.dtype, directed: bool) -> Weighted:
    """Undirected graphs have the same weight both ways."""
    if not directed:
        arcs = sorted({(min(arc), max(arc)) for arc in arcs})
    return Weighted(n, drawn(n, arcs, weight, symmetric=not directed), dtype)


def control() -> Tensor:
    return torch.tensor([0, 0, MEMORY, 0])


def scores(
    graph: Weighted,
    measure: str,
    kernel: tuple[int, Launch],
    *,
    rung: int = 0,
    sources: list[int] | None = None,
    abch: tuple[list[int], ...] | None = None,
    tolerance: float = 0.0,
) -> tuple[Tensor, int]:
    """Scores and the rung that was needed."""
    chosen = list(range(graph.n)) if sources is None else sources
    one, zero = [1] * graph.n, [0] * graph.n
    a, b, c, h = abch or (one, one, zero, zero)
    size = len(graph.slots) if measure == "edge_betweenness" else graph.n
    result = torch.zeros(size, dtype=F64, device="cuda")
    state = control()
    used = torch.ops.torchcent.weighted_dependency(
        on_cuda(graph),
        torch.tensor(chosen, dtype=torch.int64, device="cuda"),
        *(torch.tensor([w[s] for s in chosen], dtype=F64, device="cuda") for w in (a, c)),
        *(torch.tensor(w, dtype=F64, device="cuda") for w in (b, h)),
        result,
        state,
        *(MEASURES.index(measure), kernel[0], rung, kernel[1], tolerance),
    )
    assert state.tolist() == [0, len(chosen), MEMORY, 0]
    return result.cpu(), int(used)


def assert_scores(actual: Tensor, expected: list, rtol: float = PRECISION[1]) -> None:
    values = torch.tensor([float(score) for score in expected], dtype=F64)
    floor = 1e-13 * float(values.abs().max()) if values.numel() else 0
    torch.testing.assert_close(actual, values, rtol=rtol, atol=floor)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_definition(name, directed, kernel):
    n, arcs = GRAPHS[name]
    abch = ([1, 2, 0] * n, [0, 1] * n, [2, 1] * n, [0, 0, 1] * n)
    a, b, c, h = (w[:n] for w in abch)
    sources = list(range(0, n, 2))
    for dtype, weight in ((torch.int32, lambda rng: rng.randint(1, 3)), (F64, float_weight)):
        graph = weighted(n, arcs, weight, dtype, directed)
        for measure in MEASURES:
            actual, rung = scores(
                graph, measure, KERNELS[kernel], sources=sources, abch=(a, b, c, h)
            )
            assert rung == 1
            expected = oracles.sums(measure, n, graph.weights, graph.slots, sources, a, c, b, h)
            assert_scores(actual, expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_frontier_trap(kernel):
    """Fan, Xu and Zhao 2017, figure 1B: see test_weighted_ops.py."""
    for dtype in (torch.int32, F64):
        weights = both_ways({(0, 1): 1, (0, 2): 2, (1, 2): 1, (2, 3): 1})
        graph = Weighted(4, weights, dtype)
        actual, _ = scores(graph, "stress", KERNELS[kernel], sources=[0])
        assert actual.tolist() == [0, 2, 2, 0]
        actual, _ = scores(graph, "betweenness", KERNELS[kernel], sources=[0])
        assert actual.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", LATTICES)
def test_ties(kernel, name):
    n, arcs, weight = LATTICES[name]
    weights = drawn(n, arcs, weight)
    whole = all(isinstance(w, int) for w in weights.values())
    few = list(range(0, n, 7))
    vectors = ([1] * n, [0] * n, [1] * n, [0] * n)  # a, c, b, h
    for dtype in [F64, torch.int32][: 2 if whole else 1]:
        graph = Weighted(n, weights, dtype)
        for measure in MEASURES:
            actual, _ = scores(graph, measure, KERNELS[kernel], sources=few)
            assert_scores(actual, oracles.sums(measure, n, weights, graph.slots, few, *vectors))


@pytest.mark.parametrize("kernel", EXACT)
def test_tolerance(kernel):
    """0.1 + 0.2 and 0.15 + 0.15; ways to vertices as near as the tail are none."""
    graph = Weighted(4, {(0, 1): 0.1, (1, 3): 0.2, (0, 2): 0.15, (2, 3): 0.15}, F64)
    assert scores(graph, "betweenness", EXACT[kernel])[0].tolist() == [0, 0, 1, 0]
    actual, _ = scores(graph, "betweenness", EXACT[kernel], tolerance=1e-9)
    assert actual.tolist() == [0, 0.5, 0.5, 0]
    n, arcs = 40, random_graph(40, 300, seed=8)
    vectors = ([1] * n, [0] * n, [1] * n, [0] * n)  # a, c, b, h
    for dtype, weight in (
        (F64, lambda rng: rng.uniform(1, 2)),
        (torch.int32, lambda rng: rng.randint(1, 2)),
    ):
        weights = drawn(n, arcs, weight)
        graph = Weighted(n, weights, dtype)
        for tolerance in (1e-6, 0.1, 0.99):
            for measure in MEASURES:
                expected = oracles.sums(
                    measure, n, weights, graph.slots, range(n), *vectors, tolerance=tolerance
                )
                actual, _ = scores(graph, measure, EXACT[kernel], tolerance=tolerance)
                assert_scores(actual, expected)


def test_strategies_that_there_are_not():
    graph = Weighted(2, {(0, 1): 1}, torch.int32)
    for code, tolerance in ((2, 0.0), (9, 0.0), (LOCKED, 1e-9)):
        with pytest.raises(ValueError, match="strateg"):
            scores(graph, "betweenness", (DIJKSTRA, Launch(strategy=code)), tolerance=tolerance)


@pytest.mark.parametrize("kernel", EXACT)
def test_weights_lost_in_rounding(kernel):
    weights = both_ways({(0, 1): 1e20, (1, 2): 1.0, (2, 3): 1.0, (3, 4): 1.0, (4, 0): 1e20})
    graph = Weighted(5, weights, F64)
    actual, _ = scores(graph, "betweenness", EXACT[kernel])
    assert actual.isfinite().all() and (actual >= 0).all()
    rows = distances(graph, EXACT[kernel], [0])
    assert rows.tolist() == [[0, 1e20, 1e20, 1e20, 1e20]]


@pytest.mark.parametrize("kernel", ["relax", "dijkstra auto", "dijkstra WE+warp4"])
@pytest.mark.parametrize("count", [30, 400, 1100])
@pytest.mark.parametrize("dtype", [torch.int32, F64])
def test_path_counts_never_overflow(kernel, dtype, count):
    graph = Weighted(3 * count + 1, both_ways({arc: 3 for arc in diamonds(count)}), dtype)
    few = [0, 1, graph.n // 2, graph.n - 1]
    for measure in MEASURES[:2]:
        actual, rung = scores(graph, measure, EXACT[kernel], sources=few)
        assert rung == (2 if count > 1000 else 1)
        expected, _ = graph.scores(measure, 1, 2, sources=few)
        assert_scores(actual, expected.tolist(), PRECISION[rung])
    stress, rung = scores(graph, "stress", EXACT[kernel], sources=[0])
    if count > 1000:
        assert rung == 2 and stress[3] == math.inf


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("directed", [True, False])
def test_hubs(kernel, directed):
    """Rows in chunks, several batches and waves; the same bits in every run."""
    arcs = with_hubs(HUBS)
    for dtype, weight in ((torch.int32, lambda rng: rng.randint(1, 10)), (F64, float_weight)):
        graph = weighted(HUBS, arcs, weight, dtype, directed)
        for measure in MEASURES:
            expected, _ = graph.scores(measure, 1, 1)
            first, second = (scores(graph, measure, KERNELS[kernel])[0] for _ in range(2))
            assert_scores(first, expected.tolist())
            if "locked" not in kernel:
                assert torch.equal(first, second)


def distances(graph: Weighted, kernel: tuple[int, Launch], sources: list[int]) -> Tensor:
    out = torch.full((len(sources), graph.n), 7, dtype=graph.weight.dtype, device="cuda")
    state = control()
    torch.ops.torchcent.weighted_distances(
        on_cuda(graph), torch.tensor(sources, device="cuda"), out, state, *kernel
    )
    assert state.tolist() == [0, len(sources), MEMORY, 0]
    return out.cpu()


@pytest.mark.parametrize("kernel", EXACT)
@pytest.mark.parametrize("directed", [True, False])
def test_distances(kernel, directed):
    """Bit by bit those of the CPU."""
    for n, arcs in (*GRAPHS.values(), (HUBS, with_hubs(HUBS))):
        for dtype, weight in ((torch.int32, lambda rng: rng.randint(1, 10)), (F64, float_weight)):
            graph = weighted(n, arcs, weight, dtype, directed)
            sources = list(range(0, n, 1 + n // 100))
            rows = distances(graph, EXACT[kernel], sources)
            assert torch.equal(rows, graph.distances(1, sources))
            sums = torch.full((len(sources), 3), 7.0, dtype=F64, device="cuda")
            farthest = torch.full((len(sources),), 7.0, dtype=F64, device="cuda")
            state = control()
            torch.ops.torchcent.weighted_source_sums(
                on_cuda(graph),
                *(torch.tensor(sources, device="cuda"), sums, farthest, state, *EXACT[kernel]),
            )
            assert state.tolist() == [0, len(sources), MEMORY, 0]
            expected, most = graph.sums(1, sources)
            torch.testing.assert_close(sums.cpu(), expected, rtol=1e-12, atol=0)
            assert torch.equal(farthest.cpu(), most)


@pytest.mark.parametrize("kernel", EXACT)
def test_distances_within_limits(kernel):
    """Searches end at the last limit, and each limit has sums of its own, as on the CPU."""
    ops, how = torch.ops.torchcent, EXACT[kernel]
    for n, arcs in (*GRAPHS.values(), (HUBS, with_hubs(HUBS))):
        for dtype, weight in ((torch.int32, lambda rng: rng.randint(1, 10)), (F64, float_weight)):
            graph = weighted(n, arcs, weight, dtype, True)
            sources = torch.arange(0, n, 1 + n // 100)
            limits = torch.tensor([0, 4, 15], dtype=dtype)
            results = []
            for arrays, place, launch in (
                (graph.graph, "cpu", (1, Launch(2))), (on_cuda(graph), "cuda", how),
            ):  # fmt: skip
                rows = torch.full((sources.numel(), n), 7, dtype=dtype, device=place)
                sums = torch.full((sources.numel(), 3, 3), 7.0, dtype=F64, device=place)
                farthest = torch.full((sources.numel(), 3), 7.0, dtype=F64, device=place)
                begin, room = sources.to(place), (control(), *launch, limits)
                ops.weighted_distances(arrays, begin, rows, *room)
                ops.weighted_source_sums(arrays, begin, sums, farthest, *room)
                results.append([each.cpu() for each in (rows, sums, farthest)])
            (rows, sums, farthest), (own_rows, own_sums, own_farthest) = results
            assert torch.equal(rows, own_rows) and torch.equal(farthest, own_farthest)
            torch.testing.assert_close(own_sums, sums, rtol=1e-12, atol=0)


@pytest.mark.parametrize("engine", [0, 1])
def test_a_cancelled_run_stops(engine):
    n, arcs = 400, random_graph(400, 3000, seed=10)
    graph = Weighted(n, drawn(n, arcs, lambda rng: rng.randint(1, 9)), torch.int32)
    state = torch.tensor([1, 0, MEMORY, 0])
    total, one = (torch.full((n,), x, dtype=F64, device="cuda") for x in (0.0, 1.0))
    torch.ops.torchcent.weighted_dependency(
        on_cuda(graph),
        *(torch.arange(n, device="cuda"), one, total.clone(), one, total.clone(), total, state),
        *(0, engine, 0, Launch(1), 0.0),
    )
    assert state.tolist() == [1, 0, MEMORY, 0] and not total.any()


@pytest.mark.parametrize("engine", [0, 1])
def test_little_memory(engine):
    """What does not fit is done a few sources at a time, or by the engine that needs less."""
    n, arcs = 300, random_graph(300, 2000, seed=11)
    graph = Weighted(n, drawn(n, arcs, lambda rng: rng.randint(1, 9)), torch.int32)
    expected, _ = graph.scores("betweenness", 1, 1)
    total, one = (torch.full((n,), x, dtype=F64, device="cuda") for x in (0.0, 1.0))
    state = torch.tensor([0, 0, 1 << 16, 0])
    torch.ops.torchcent.weighted_dependency(
        on_cuda(graph),
        *(torch.arange(n, device="cuda"), one, total.clone(), one, total.clone(), total, state),
        *(0, engine, 0, Launch(1), 0.0),
    )
    assert_scores(total.cpu(), expected.tolist())


def test_nothing_to_search():
    for dtype in (torch.int32, F64):
        for n in (1, 5):
            graph = Weighted(n, {}, dtype)
            for kernel in EXACT.values():
                for measure in MEASURES:
                    actual, rung = scores(graph, measure, kernel)
                    assert not actual.any() and rung == 1
                rows = distances(graph, kernel, [n - 1])
                absent = -1 if dtype == torch.int32 else math.inf
                assert rows.tolist() == [[absent] * (n - 1) + [0]]


# --- the way there from Python

ROADS = torchcent.generate.grid(60, 70)
LENGTHS = 1.0 + (ROADS[0] * 31 + ROADS[1] * 31) % 10
BY_NAME = [
    (name, width)
    for name in NAMED[True]
    for width in (WARP_SIZES if "warp_centric" in name else (32,))
]


def weighted_graph(edges: Tensor, lengths: Tensor, directed: bool = False) -> torchcent.Graph:
    return torchcent.Graph.from_edge_index(
        edges.cuda(), edge_weight=lengths.cuda(), directed=directed
    )


@pytest.mark.parametrize("name, width", BY_NAME)
@pytest.mark.parametrize("directed", [False, True])
def test_strategies_by_name(name, width, directed):
    graph = weighted_graph(ROADS, LENGTHS, directed)
    score = partial(
        call, torchcent.betweenness, graph, sources=torch.arange(0, 4200, 40), dtype=F64
    )
    actual = score(strategy=name, warp_size=width)
    torch.testing.assert_close(actual, score(engine="tensor"), rtol=1e-9, atol=1e-12)


def test_locks_have_no_tolerance():
    graph = weighted_graph(ROADS, LENGTHS)
    with pytest.raises(ValueError, match="'locked'.*tie_tolerance=1e-09"):
        torchcent.betweenness(
            graph.with_ties(tie_tolerance=1e-9),
            run=torchcent.Run(engine=torchcent.Engine(strategy="locked")),
        )
    with pytest.raises(ValueError, match="is for engine='dijkstra' on CUDA, but engine='relax'"):
        torchcent.betweenness(
            graph, run=torchcent.Run(engine=torchcent.Engine("relax", strategy="locked"))
        )


@pytest.mark.parametrize("weights", ["whole", "fractions"])
@pytest.mark.parametrize("engine", ["relax", "dijkstra"])
def test_memory_is_predicted_and_obeyed(engine, weights):
    index = torchcent.generate.rmat(13, 16)
    lengths = 1.0 + (index[0] ^ index[1]) % 10
    graph = weighted_graph(index, lengths if weights == "whole" else lengths / 3)
    torchcent.explain(graph, run=torchcent.Run(engine=engine))
    before = torch.cuda.memory_allocated() - graph._nbytes
    torch.cuda.reset_peak_memory_stats()
    torchcent.betweenness(graph, run=torchcent.Run(engine=engine), sources=64)  # prepares and keeps
    peak = torch.cuda.max_memory_allocated() - before
    assert (
        peak
        <= 1.2
        * torchcent.explain(weighted_graph(index, lengths), run=torchcent.Run(engine=engine)).memory
    )
    cutoffs = [5, 10, 20]
    runs = ("betweenness", None), ("edge_betweenness", None), ("betweenness", cutoffs)
    for measure, cutoff in runs:
        for share in (1.0, 0.5):
            plan = torchcent.explain(
                graph, measure=measure, run=torchcent.Run(engine=engine), cutoff=cutoff
            )
            memory = int(plan.memory * share)
            torch.cuda.reset_peak_memory_stats()
            getattr(torchcent, measure)(
                graph, run=torchcent.Run(engine=engine, memory=memory), cutoff=cutoff
            )
            peak = torch.cuda.max_memory_allocated()
            assert peak <= 1.2 * memory
            if share == 1:
                assert peak >= 0.8 * memory
        with pytest.raises(MemoryError, match="memory=1000 "):
            getattr(torchcent, measure)(graph, run=torchcent.Run(engine=engine, memory=1000))
