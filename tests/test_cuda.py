"""The engines on CUDA: the values of the definition, and what only a device can get wrong."""

import numpy as np
import oracles
import pytest
import torch
from arcs import LARGE
from engines import assert_scores, scored
from graphs import diamonds, edge_index, grid, path, random_graph, star, union
from internals import (
    COMPILED_FOR_CUDA,
    KERNELS,
    STRATEGIES,
    WARP_SIZES,
    WIDTHS,
    Launch,
    Preparation,
)
from interrupt import assert_stops
from surface import call
from test_overflow import diamond_betweenness

import torchcent
from torchcent import generate

ops = torch.ops.torchcent

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

ENGINES = ("lanes", "queue")
HUBS = 700  # more arcs than a chunk of the lanes engine (csrc/paths/cuda/tasks.cuh)


def with_hubs(n: int) -> oracles.Arcs:
    """Two vertices that all others hang on, besides random arcs."""
    spokes = [(hub, v) for hub in (0, 1) for v in range(2, n)]
    return spokes + [(v, u) for u, v in spokes] + random_graph(n, 2 * n, seed=5)


def band(n: int) -> oracles.Arcs:
    """Vertices of 24 arcs, then of 90, most of them far from every frontier."""
    reach = [12 if v < n // 2 else 45 for v in range(n)]
    return [(v, v + step) for v in range(n) for step in range(1, reach[v] + 1) if v + step < n]


GRAPHS = {
    "path": (9, path(9)),
    "star": (12, star(11)),
    "grid": (20, grid(4, 5)),
    "random": (24, random_graph(24, 70, seed=1)),
    "sparse": (30, random_graph(30, 34, seed=2)),
    "parts": union((6, path(6)), (3, []), (14, random_graph(14, 40, seed=3))),
}


@pytest.fixture(params=WIDTHS)
def width(request, tuning):
    """Lanes of a batch, whatever the graph."""
    tuning(width=lambda *_: request.param)
    return request.param


def on_cuda(measure, arcs, n, engine, **options):
    def moved(index, **rest):
        result = call(measure, index.cuda(), **rest)
        assert result.is_cuda
        return result

    return scored(moved, arcs, n, engine, **options)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("subset", ["all", "sources", "sources and targets"])
def test_definition(name, directed, subset, engine):
    n, arcs = GRAPHS[name]
    options = {"directed": directed, "normalized": False}
    if subset != "all":
        options["sources"] = list(range(0, n, 2))
    if subset == "sources and targets":
        options["targets"] = list(range(1, n, 3))
    for measure in ("betweenness", "edge_betweenness", "stress"):
        expected = call(getattr(oracles, measure), n, arcs, **options)
        actual = on_cuda(getattr(torchcent, measure), arcs, n, engine, **options)
        assert_scores(actual, expected, engine)
    expected = call(oracles.betweenness, n, arcs, endpoints=True, **options)
    assert_scores(
        on_cuda(torchcent.betweenness, arcs, n, engine, endpoints=True, **options),
        expected,
        engine,
    )


BY_NAME = [
    (name, width)
    for name in STRATEGIES[False]
    for width in (WARP_SIZES if name == "warp_centric" else (32,))
]


@pytest.mark.parametrize("name, width", BY_NAME)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_definition_with_every_strategy(measure, directed, name, width):
    options = {"directed": directed, "normalized": False}
    how = {"strategy": name, "warp_size": width}
    for n, arcs in GRAPHS.values():
        expected = call(getattr(oracles, measure), n, arcs, **options)
        actual = on_cuda(getattr(torchcent, measure), arcs, n, "queue", **options, **how)
        assert_scores(actual, expected, "queue")
    expected = scored(getattr(torchcent, measure), with_hubs(HUBS), HUBS, "tensor", **options)
    actual = on_cuda(getattr(torchcent, measure), with_hubs(HUBS), HUBS, "queue", **options, **how)
    assert_scores(actual, expected, "queue")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_hubs_agree_with_the_tensor_engine(measure, engine):
    """Rows in chunks, warps and half-warps, several batches in flight."""
    arcs = with_hubs(HUBS)
    function = getattr(torchcent, measure)
    for directed in (True, False):
        expected = scored(function, arcs, HUBS, "tensor", directed=directed)
        actual = on_cuda(function, arcs, HUBS, engine, directed=directed)
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-9 * float(expected.max()))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [40, 150, 1100])  # float32, float64 and pairs
def test_path_counts_that_overflow(count, engine):
    arcs = diamonds(count)
    actual = on_cuda(
        torchcent.betweenness, arcs, 3 * count + 1, engine, directed=False, normalized=False
    )
    assert_scores(actual, diamond_betweenness(count), "lanes")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_bits_do_not_change_from_run_to_run(measure, engine):
    arcs = with_hubs(HUBS)
    first, second = (
        on_cuda(getattr(torchcent, measure), arcs, HUBS, engine, directed=False) for _ in range(2)
    )
    assert torch.equal(first, second)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_definition_with_every_width(name, directed, width):
    n, arcs = GRAPHS[name]
    options = {"directed": directed, "normalized": False}
    for measure in ("betweenness", "edge_betweenness", "stress"):
        expected = call(getattr(oracles, measure), n, arcs, **options)
        actual = on_cuda(getattr(torchcent, measure), arcs, n, "lanes", **options)
        assert_scores(actual, expected, "lanes")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress", "endpoints"])
def test_widths_agree_with_the_tensor_engine(measure, directed, width):
    """Hubs in chunks, several batches, the last one not full; the same bits in every run."""
    arcs = with_hubs(HUBS)
    assert HUBS % width != 0
    options = {"directed": directed}
    if measure == "endpoints":
        measure, options["endpoints"] = "betweenness", True
    function = getattr(torchcent, measure)
    expected = scored(function, arcs, HUBS, "tensor", **options)
    first, second = (on_cuda(function, arcs, HUBS, "lanes", **options) for _ in range(2))
    torch.testing.assert_close(first, expected, rtol=1e-5, atol=1e-9 * float(expected.max()))
    assert torch.equal(first, second)


@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_sparse_frontiers(measure, width):
    function, options = getattr(torchcent, measure), {"directed": False, "sources": [0, 1, 399]}
    expected = scored(function, band(400), 400, "tensor", **options)
    actual = on_cuda(function, band(400), 400, "lanes", **options)
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-9 * float(expected.max()))


@pytest.mark.parametrize("count", [40, 150, 1100])  # float32, float64 and pairs
def test_path_counts_that_overflow_with_every_width(count, width):
    actual = on_cuda(
        torchcent.betweenness, diamonds(count), 3 * count + 1, "lanes",
        directed=False, normalized=False,
    )  # fmt: skip
    assert_scores(actual, diamond_betweenness(count), "lanes")


def test_the_plan_tells_the_width(width):
    graph = torchcent.Graph.from_edge_index(edge_index(with_hubs(HUBS)).cuda(), directed=False)
    plan = torchcent.explain(graph, run=torchcent.Run(engine="lanes"))
    assert plan.lanes == width
    assert plan.batches == -(-plan.sources // width)


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_on_the_current_stream(engine):
    """What the stream has not done yet must be seen: the arcs arrive late on it."""
    index = edge_index(random_graph(300, 1500, seed=4))
    expected = torchcent.betweenness(
        index,
        num_nodes=300,
        run=torchcent.Run(engine="queue", dtype=torch.float64),
    )
    stream = torch.cuda.Stream()
    target = torch.zeros_like(index, device="cuda")
    source = index.cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        target.copy_(source)
        actual = torchcent.betweenness(
            target,
            num_nodes=300,
            run=torchcent.Run(engine=engine, dtype=torch.float64),
        )
        actual = actual.cpu()
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-9)


def test_tensors_of_two_devices_are_refused():
    graph = torchcent.Graph.from_edge_index(edge_index(grid(3, 3)).cuda(), directed=False)
    weight = torch.ones(9, dtype=torch.float64, device="cuda")
    with pytest.raises((ValueError, RuntimeError), match="one device"):
        ops.path_dependency(
            (graph.rowptr, graph.col, graph.rowptr, graph.col), torch.arange(9), weight, weight,
            weight, weight, torch.zeros_like(weight), torch.zeros(4, dtype=torch.int64),
            0, 0, 0, Launch(),
        )  # fmt: skip


@pytest.mark.parametrize("cutoff", [None, [1, 2, 3]])
@pytest.mark.parametrize("engine", ENGINES)
def test_memory_is_predicted_and_obeyed(engine, cutoff):
    index = torchcent.generate.rmat(13, 16).cuda()
    graph = torchcent.Graph.from_edge_index(index, directed=False)
    options = {"engine": engine, "cutoff": cutoff}
    call(torchcent.betweenness, graph, sources=256, **options)  # prepares and caches
    del index
    for share in (1.0, 0.5):
        plan = call(torchcent.explain, graph, **options)
        memory = int(plan.memory * share)
        torch.cuda.reset_peak_memory_stats()
        call(torchcent.betweenness, graph, memory=memory, **options)
        peak = torch.cuda.max_memory_allocated()
        assert peak <= 1.2 * memory
        if share == 1:
            assert peak >= 0.8 * memory
    with pytest.raises(MemoryError, match="memory=1000 "):
        call(torchcent.betweenness, graph, memory=1000, **options)


@pytest.mark.parametrize("arcs", ["undirected", "both ways", "one way"])
@pytest.mark.parametrize("sources", [64, None])
def test_memory_of_a_first_call_is_predicted_and_obeyed(sources, arcs):
    """Of a run that prepares the graph first; what it needs most memory for depends on the two."""
    directed = arcs != "undirected"
    index = torchcent.generate.rmat(13, 150).cuda()
    if arcs == "one way":
        index = index[:, ::2]
    made = torchcent.Graph.from_edge_index(index, directed=directed)
    parts = (made.rowptr, made.col, made.slot, directed)
    del index, made

    def fresh():
        return torchcent.Graph(*parts, _trusted=True)

    torchcent.betweenness(fresh(), sources=64)  # what the process takes once
    plan = torchcent.explain(fresh(), sources=sources)
    graph = fresh()
    others = torch.cuda.memory_allocated() - graph.nbytes
    with pytest.raises(MemoryError, match="preparation"):
        torchcent.betweenness(graph, sources=sources, run=torchcent.Run(memory=graph.nbytes))
    torch.cuda.reset_peak_memory_stats()
    torchcent.betweenness(graph, sources=sources, run=torchcent.Run(memory=plan.memory))
    peak = torch.cuda.max_memory_allocated() - others
    assert 0.8 * plan.memory <= peak <= 1.2 * plan.memory
    if sources is not None:  # what was prepared is kept: nothing is left to prepare
        cores = Preparation(graph, KERNELS["betweenness"], None, sources)
        cores.core("degree", KERNELS["betweenness"].folds)
        assert cores.peak == 0
        assert torchcent.explain(graph, sources=sources).memory <= plan.memory


def test_fake_result_is_on_the_host():
    with torch._subclasses.FakeTensorMode():
        like = torch.empty(10, dtype=torch.int64, device="cuda")
        args = [[like] * 4, *[like] * 5, torch.empty(9, dtype=torch.float64, device="cuda")]
        control = torch.empty(4, dtype=torch.int64)
        rung = ops.path_dependency(*args, control, 0, 0, 0, Launch())
    assert rung.device.type == "cpu"


CSR = {
    "nothing": (0, []),
    "alone": (1, []),
    "isolated": (40, random_graph(10, 30, seed=6)),
    "hubs": (HUBS, with_hubs(HUBS)),
    "random": (300, random_graph(300, 2000, seed=7)),
}


@pytest.mark.parametrize("name", CSR)
@pytest.mark.parametrize("directed", [True, False])
def test_subgraphs_and_transposes_equal_those_of_the_cpu(name, directed):
    n, arcs = CSR[name]
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, directed)
    rowptr, col = graph.rowptr.cuda(), graph.col.cuda()
    mixed = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    calls = [("transpose", ())]
    calls += [("induced", (mixed[:size],)) for size in {0, min(n, 1), n // 3, n}]
    for op, rest in calls:
        function = getattr(ops, op)
        for ours, theirs in zip(
            function(rowptr, col, *(part.cuda() for part in rest)),
            function(graph.rowptr, graph.col, *rest),
            strict=True,
        ):
            assert ours.dtype == theirs.dtype
            assert torch.equal(ours.cpu(), theirs)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", LARGE)
def test_building_equals_that_of_the_cpu(name, both):
    """The CPU's preparation is tested beside SciPy (test_preparation.py)."""
    n, arcs = LARGE[name]
    columns = torch.from_numpy(np.ascontiguousarray(arcs))
    for given in (columns.cuda(), columns.int().cuda(), columns.T.contiguous().T.cuda()):
        ids, ends = ops.vertex_ids(given)
        assert torch.equal(ids.cpu(), columns.int())
        assert ends.tolist() == [int(columns.min()), int(columns.max())]
    rowptr, col, repeated = ops.csr(ids, n, both)
    *expected, known = ops.csr(columns.int(), n, both)
    assert torch.equal(repeated, known)
    assert torch.equal(rowptr.cpu(), expected[0]) and torch.equal(col.cpu(), expected[1])
    slot = ops.slots(ids, rowptr, col)
    assert torch.equal(slot.cpu(), ops.slots(columns.int(), *expected))
    assert ops.symmetric(rowptr, col) == ops.symmetric(*expected)
    components = ops.components(rowptr, col, both)
    assert torch.equal(components.cpu(), ops.components(*expected, both))
    if both and col.numel():
        weight = torch.ones(col.numel(), dtype=torch.float64, device="cuda")
        assert ops.symmetric(rowptr, col, weight)
        weight[-1] = 2
        assert not ops.symmetric(rowptr, col, weight)


def test_components_of_a_path_in_any_order():
    n = 300_000
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    arcs = torch.stack([order[:-1], order[1:]])[:, torch.arange(n - 1) != n // 2]
    for directed in (False, True):
        graph = torchcent.Graph.from_edge_index(arcs.cuda(), n, directed)
        on_host = torchcent.Graph.from_edge_index(arcs, n, directed)
        assert torch.equal(graph.components.cpu(), on_host.components)


def test_nothing_to_build():
    none = torch.empty(2, 0, dtype=torch.int64, device="cuda")
    loops = torch.zeros(2, 5, dtype=torch.int64, device="cuda")
    for edges, n in ((none, 0), (none, 3), (loops, 1), (loops, 4)):
        for directed in (False, True):
            graph = torchcent.Graph.from_edge_index(edges, n, directed)
            assert graph.num_slots == 0 and graph.rowptr.tolist() == [0] * (n + 1)
            assert graph.slot.tolist() == [-1] * edges.shape[1]
            assert graph.components.tolist() == list(range(n)) and graph.is_symmetric


@pytest.mark.parametrize("seed", range(3))
def test_preparation_equals_that_of_the_cpu(seed):
    n, arcs = 200, random_graph(200, 190, seed)
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n, directed=False)
    device = graph.to("cuda")
    labels = torch.stack([device.components.cpu(), graph.components])
    assert torch.unique(labels, dim=1).shape[1] == int(graph.components.max()) + 1
    assert torch.equal(
        ops.depths(device.rowptr, device.col, 0).cpu(),
        ops.depths(graph.rowptr, graph.col, 0),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_are_loaded_to_the_device(weighted, tmp_path):
    arcs = generate.rmat(10, 8, seed=1)
    length = torch.arange(arcs.shape[1]) % 5 + 1.0 if weighted else None
    graph = torchcent.Graph.from_edge_index(arcs, directed=False, edge_weight=length)
    path = tmp_path / "graph.pt"
    graph.to("cuda").save(path)
    found = torchcent.Graph.load(path, device="cuda")
    assert found.device.type == "cuda" and found.slot.is_cuda
    assert torch.equal(found.col.cpu(), graph.col)
    ours, theirs = (
        torchcent.betweenness(x, run=torchcent.Run(dtype=torch.float64)).cpu()
        for x in (found, graph)
    )
    assert_scores(ours, theirs, "relax" if weighted else "lanes")
    with pytest.raises(MemoryError, match="memory=1000 "):
        torchcent.Graph.load(path, device="cuda", run=torchcent.Run(memory=1000))


@pytest.mark.parametrize("sources", [1, 4, 7])
def test_few_sources(sources):
    """Half-empty lanes on shallow graphs, single searches on deep ones."""
    for arcs, engine in ((generate.rmat(12, 8, seed=1), "lanes"), (generate.grid(60, 60), "queue")):
        graph = torchcent.Graph.from_edge_index(arcs.cuda(), directed=False)
        chosen = torch.arange(sources) * 7 + 100
        assert torchcent.explain(graph, sources=chosen).engine == engine
        given = {"sources": chosen, "targets": torch.arange(900), "dtype": torch.float64}
        ours = call(torchcent.betweenness, graph, **given).cpu()
        assert_scores(ours, call(torchcent.betweenness, graph.to("cpu"), **given), engine)


def fan(middle: int) -> torch.Tensor:
    """A vertex, many in the middle, a vertex and as many again."""
    inner, end = torch.arange(1, middle + 1), middle + 1
    there = torch.stack([torch.zeros_like(inner), inner])
    back = torch.stack([inner, torch.full_like(inner, end)])
    return torch.cat([there, back, there + end], 1)


# Searches that pass between levels of one block and of all, and rows of a thread, a warp, a block.
SEARCHED = {
    "fan": lambda: fan(9000),
    "rows of a warp": lambda: generate.ba(5000, 40, seed=1),
    "path": lambda: torch.arange(3000).repeat(2, 1) + torch.tensor([[0], [1]]),
    "R-MAT": lambda: generate.rmat(15, 16, seed=2),
    "grid": lambda: generate.grid(300, 500),
    "Delaunay": lambda: generate.delaunay(20000, seed=1),
    "two": lambda: torch.tensor([[0, 1, 3], [1, 2, 4]]),
}  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", SEARCHED)
def test_searches_equal_those_of_the_cpu(name, directed):
    graph = torchcent.Graph.from_edge_index(SEARCHED[name](), directed=directed)
    device = graph.to("cuda")
    for source in (0, graph.num_nodes // 2, graph.num_nodes - 1):
        ours = ops.depths(device.rowptr, device.col, source).cpu()
        assert torch.equal(ours, ops.depths(graph.rowptr, graph.col, source))
    sides = (graph.rowptr, graph.col, *graph.transpose)
    order = ops.breadth_first(*(part.cuda() for part in sides)).cpu()
    if not directed:
        assert torch.equal(order, ops.breadth_first(*sides))
    # Level after level; within one by the place of the first neighbour, then by id.
    depth = ops.depths(graph.rowptr, graph.col, 0)
    place = torch.empty_like(order)
    place[order] = torch.arange(graph.num_nodes)
    tail, head = graph.to_edge_index()
    first = torch.full_like(order, graph.num_nodes)
    down = (depth[tail] >= 0) & (depth[head] == depth[tail] + 1)
    first.scatter_reduce_(0, head[down], place[tail[down]], "amin")
    level = torch.where(depth < 0, graph.num_nodes, depth)
    keys = list(zip(level[order].tolist(), first[order].tolist(), order.tolist(), strict=True))
    assert keys == sorted(keys)


def test_every_device_of_the_machine():
    """A graph on the last device gives the same bits, whichever device is current."""
    if torch.cuda.device_count() < 2:
        pytest.skip("one CUDA device")
    last = torch.device("cuda", torch.cuda.device_count() - 1)
    index = edge_index(random_graph(300, 1500, seed=4))
    for ask in (
        lambda edges: torchcent.betweenness(
            edges, num_nodes=300, run=torchcent.Run(engine="lanes")
        ),
        lambda edges: torchcent.edge_betweenness(
            edges, num_nodes=300, run=torchcent.Run(engine="queue")
        ),
        lambda edges: torchcent.closeness(edges, num_nodes=300),
        lambda edges: torchcent.shortest_path_lengths(edges, num_nodes=300),
        lambda edges: torchcent.transitive_closure(edges, num_nodes=300).to_dense(),
    ):
        expected, actual = ask(index.cuda()), ask(index.to(last))
        assert actual.device == last and torch.cuda.current_device() == 0
        assert torch.equal(actual.cpu(), expected.cpu())


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_inside_a_compiled_function(backend):
    """One graph around the operator, without a break."""
    n, arcs = GRAPHS["random"]
    graph = torchcent.Graph.from_edge_index(edge_index(arcs).cuda(), n, directed=False)

    def doubled(rowptr, col, sources):
        one = torch.ones(n, dtype=torch.float64, device=col.device)
        scores, zero = torch.zeros_like(one), torch.zeros_like(one)
        control = torch.tensor([0, 0, 1 << 30, 0])
        torch.ops.torchcent.path_dependency(
            *((rowptr, col, rowptr, col), sources, one, zero, one, zero, scores, control),
            *(0, 0, 0, [0] * 5),
        )
        return scores * 2

    arguments = graph.rowptr, graph.col, torch.arange(n, device="cuda")
    torch._dynamo.reset()
    compiled = torch.compile(doubled, backend=backend, fullgraph=True)(*arguments)
    assert torch.equal(compiled, doubled(*arguments))
    expected = torchcent.betweenness(
        graph, normalized=False, run=torchcent.Run(dtype=torch.float64)
    )
    torch.testing.assert_close(compiled / 4, expected, rtol=1e-5, atol=1e-9)


GRAPH = """
engine = sys.argv[1]
deep = engine in ("queue", "dijkstra")
edges = torchcent.generate.grid(700, 700) if deep else torchcent.generate.rmat(18, 16)
weighted = {"edge_weight": 1.0 + (edges[0] ^ edges[1]).cuda() % 10}
weighted = weighted if engine in ("relax", "dijkstra") else {}
graph = torchcent.Graph.from_edge_index(edges.cuda(), directed=False, **weighted)
ask = torchcent.closeness if engine == "bits" else torchcent.betweenness
ask(graph, **({"vertices": torch.arange(8)} if engine == "bits" else {"sources": 64}))
if engine == "bits":
    graph = torchcent.Graph.from_edge_index(torchcent.generate.rmat(21, 16).cuda(), directed=False)
"""
DEVICE_WORKS = """
torch.cuda.synchronize()
again = torchcent.betweenness(torchcent.generate.grid(5, 5).cuda(), directed=False)
print("well" if bool((again >= 0).all()) else "ill", flush=True)
"""


@pytest.mark.parametrize("engine", ["lanes", "queue", "bits", "relax", "dijkstra"])
def test_interrupt(engine):
    call = "ask(graph, run=torchcent.Run(engine=engine, progress=False))"
    assert_stops(GRAPH, call, engine, afterwards=DEVICE_WORKS, said_afterwards="well\n")
