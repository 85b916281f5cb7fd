"""What is decided before anything runs: engine, order of sources, lanes."""

import pytest
import torch
from graphs import DEVICE, edge_index, grid, path
from internals import COMPILED, held_bytes
from surface import call

import torchcent
from torchcent import Graph, generate
from torchcent.engines.plan import _flight, _plan

pytestmark = pytest.mark.sweep

on_cpu = pytest.mark.skipif(
    not COMPILED or DEVICE.type != "cpu", reason="about the compiled engines of the CPU"
)


def undirected(edges: torch.Tensor) -> Graph:
    return Graph.from_edge_index(edges, directed=False)


MESH = undirected(generate.delaunay(4000, seed=1))
GRID = undirected(edge_index(grid(40, 40)))


@on_cpu
@pytest.mark.parametrize(
    "graph, options, engine",
    [
        (undirected(generate.ba(1500, 4)), {}, "lanes"),
        (undirected(generate.ba(1500, 4)), {"sources": 3}, "queue"),
        (undirected(generate.ba(100, 4)), {}, "tiny"),
        (GRID, {}, "queue"),
        (undirected(edge_index(path(1500) + [(1499, 0)])), {}, "chains"),
        (undirected(edge_index(path(100) + [(99, 0)])), {}, "tiny"),
        (MESH, {}, "lanes"),
        (MESH, {"sources": 3500}, "lanes"),
        (MESH, {"sources": 300}, "queue"),
    ],
)
def test_choice(graph, options, engine):
    plan = call(torchcent.explain, graph, **options)
    assert plan.engine == engine
    assert plan.reason in str(plan)


def test_what_the_measure_would_refuse():
    for options, said in (
        ({"strategy": "nonsense"}, "strategy must be one of auto, node_parallel"),
        ({"warp_size": 5}, "warp_size must be one of"),
        ({"engine": "lanes", "strategy": "edge_parallel"}, "strategy='edge_parallel' is for"),
    ):
        with pytest.raises(ValueError, match=said):
            call(torchcent.explain, GRID, **options)
        with pytest.raises(ValueError, match=said):
            call(torchcent.betweenness, GRID, **options)


@pytest.mark.slow
@on_cpu
@pytest.mark.parametrize("graph", [MESH, GRID])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
def test_lanes_in_balls(graph, measure):
    ask = getattr(torchcent, measure)
    expected = ask(graph, run=torchcent.Run(engine="queue", dtype=torch.float64))
    actual = ask(graph, run=torchcent.Run(engine="lanes", dtype=torch.float64))
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=0)
    some = torch.arange(0, graph.num_nodes, 3)
    expected = ask(graph, sources=some, run=torchcent.Run(engine="queue", dtype=torch.float64))
    actual = ask(graph, sources=some, run=torchcent.Run(engine="lanes", dtype=torch.float64))
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=0)


# --- lanes of a batch on CUDA


MANY = 2**24


@pytest.mark.parametrize(
    ("slots", "sources", "width"),
    [
        (MANY, 1, 8),
        (1000, 5, 8),
        (MANY, 8, 8),
        (MANY, 9, 32),
        (MANY, 32, 32),
        (MANY, 33, 64),
        (1000, 5000, 32),  # batches of 64 would leave the device nearly idle
        (2**16, 5000, 64),
        (2**20, 5000, 128),
        (MANY, 255, 64),
        (MANY, 256, 128),
    ],
)
def test_lanes_follow_slots_and_sources(slots, sources, width):
    assert _flight.width(slots, sources, lambda _: True) == width


def test_lanes_follow_memory_only_where_one_batch_does_not_fit():
    for most in _flight.WIDTHS:
        assert _flight.width(MANY, 5000, lambda width, most=most: width <= most) == most
    assert _flight.width(MANY, 5000, lambda _: False) == 8  # refused by the plan


@pytest.mark.parametrize("sources", [0, 1, 4095, 4096, 4097, 36863, 36864, 36865, 10**6])
def test_calls_take_each_source_once(sources):
    sizes = _flight.calls_on_cuda("lanes", sources)
    assert sum(sizes) == sources
    assert all(0 < size <= 32768 for size in sizes[1:]) and sizes[0] <= 4096


@pytest.mark.parametrize(
    ("batches", "most", "wave"), [(0, 5, 0), (1, 5, 1), (32, 23, 16), (203, 23, 23), (7, 7, 7)]
)
def test_waves_are_of_one_size(batches, most, wave):
    assert _flight.wave(batches, most) == wave


@pytest.mark.slow
@on_cpu
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "closeness"])
@pytest.mark.parametrize("weighted", [False, True])
def test_explain_and_run_agree_about_memory(measure, weighted, tuning):
    """What explain prepares is neither held against the run nor for it: at every limit both are
    refused, with the same figures, or none."""
    edges = generate.delaunay(1200, seed=2)
    weight = 1 + torch.arange(edges.shape[1]) % 3 if weighted else None

    def fresh() -> Graph:
        return Graph.from_edge_index(edges, None, False, weight)

    def refusal(call) -> str:
        try:
            call()
        except MemoryError as error:
            return str(error)
        return ""

    run = getattr(torchcent, measure)
    free: dict[str, int] = {}
    # As a system tells: less by what the graph at hand holds.
    tuning(free_memory=lambda device: free["all"] - held_bytes(graph))
    seen = set()
    for size in range(17, 28):
        for free["all"] in (2**size, 3 * 2 ** (size - 1)):
            graph = fresh()
            alone = refusal(lambda graph=graph: run(graph, run=torchcent.Run(engine="auto")))
            graph = fresh()
            told = refusal(lambda graph=graph: torchcent.explain(graph, measure=measure))
            again = refusal(lambda graph=graph: torchcent.explain(graph, measure=measure))
            after = refusal(lambda graph=graph: run(graph))
            assert told == again == after == alone
            seen.add(bool(told))
    assert seen == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "tensor"])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress", "closeness"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_plan_that_is_kept_is_what_a_new_one_would_be(
    engine, measure, weighted, monkeypatch, tuning
):
    """Whatever memory is free now, was free then, and whatever else was asked in between."""
    edges = generate.delaunay(1200, seed=2).to(DEVICE)
    weight = 1.0 + torch.arange(edges.shape[1], device=DEVICE) % 3 if weighted else None
    graph = Graph.from_edge_index(edges, None, False, weight)
    free: dict[str, int] = {}
    tuning(free_memory=lambda device: free["all"])

    def told(sources) -> str:
        try:
            plan = torchcent.explain(
                graph, measure=measure, run=torchcent.Run(engine=engine), sources=sources
            )
        except MemoryError as error:
            return str(error)
        return repr(plan)

    wanted, threads = {}, torch.get_num_threads()
    cases = [
        (size, sources, count)
        for size in (*(2**power for power in range(16, 40)), 10**7, 10**8)
        for sources in (None, 1, 300)
        for count in (1, threads)
    ]
    try:
        with monkeypatch.context() as anew:
            anew.setattr(_plan, "MOST_KEPT", 0)
            free["all"] = 2**34
            for sources in (None, 1, 300):
                getattr(torchcent, measure)(
                    graph, run=torchcent.Run(engine=engine), sources=sources
                )
            for case in 2 * cases:  # the first round prepares what the limits depend on
                free["all"], sources, count = case
                torch.set_num_threads(count)
                wanted[case] = told(sources)
        order = torch.randperm(len(cases), generator=torch.Generator().manual_seed(1)).tolist()
        for case in (cases[place] for place in order):
            free["all"], sources, count = case
            torch.set_num_threads(count)
            assert told(sources) == wanted[case]
            assert told(sources) == wanted[case]
    finally:
        torch.set_num_threads(threads)
    assert len(set(wanted.values())) > 3


def test_a_plan_that_is_kept_is_not_that_of_other_twins():
    """Twins have the same weights, so that for edges they depend on sources and targets."""
    graph = undirected(generate.ba(600, 1, seed=1).to(DEVICE))
    for sources in (torch.arange(300, device=DEVICE), torch.arange(300, 600, device=DEVICE)):
        for _ in range(2):
            scores = [
                torchcent.edge_betweenness(
                    graph,
                    sources=sources,
                    targets=sources,
                    run=torchcent.Run(engine="queue", reduce=how, dtype=torch.float64),
                )
                for how in ("twins", "none")
            ]
            torch.testing.assert_close(*scores, rtol=1e-12, atol=0)


def test_weights_come_second():
    arcs = torchcent.generate.grid(60, 60)
    plan = torchcent.explain(arcs, torch.rand(arcs.shape[1]) + 1)
    assert plan.weights and plan.engine in ("relax", "dijkstra", "hierarchy")
