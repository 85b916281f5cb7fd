"""What explain says of memory on CUDA, beside what the allocator counts."""

import gc

import pytest
import torch
from internals import COMPILED_FOR_CUDA, bytes_to_scale, bytes_to_transpose, held_bytes

import torchcent
from torchcent import Graph, generate

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

# And the least share of the estimate that is taken: where searches end a level before the deepest
# of all, the memory for more levels may not be asked for.
GRAPHS = {
    "R-MAT": (lambda: generate.rmat(17, 16), 0.98),
    "preferential attachment": (lambda: generate.ba(100_000, 4), 0.85),
    "small world": (lambda: generate.ws(100_000, 10, 0.1), 0.98),
    "triangulation": (lambda: generate.delaunay(2**17), 0.98),
}


@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_memory_at_scale(name: str, weighted: bool, measure: str) -> None:
    """Never more than what explain says, and hardly less."""
    make, least = GRAPHS[name]
    edges = make().cuda()
    weight = torch.randint(1, 50, edges.shape[1:], device="cuda") if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    joined = torch.nonzero(graph.degree > 0).flatten()
    sources = joined[torch.randperm(joined.numel(), device="cuda")[:1024]]
    del edges, weight, joined
    assert_memory(graph, measure, sources, torchcent.Run(), least)


@pytest.mark.parametrize(
    "strategy", ["node_parallel", "edge_parallel", "warp_centric", "cooperative"]
)
@pytest.mark.parametrize("directed", [False, True])
def test_memory_of_strategies(directed: bool, strategy: str) -> None:
    graph = Graph.from_edge_index(generate.ba(20_000, 64).cuda(), directed=directed)
    engine = torchcent.Engine("queue", strategy=strategy)
    sources = torch.arange(20_000 - 256, 20_000, device="cuda")
    assert_memory(graph, "betweenness", sources, torchcent.Run(engine=engine), 0.9)


def test_memory_of_distances() -> None:
    """Of searches one by one, with rows of distances."""
    graph = Graph.from_edge_index(generate.delaunay(2**17).cuda(), directed=False)
    sources = torch.arange(1024, device="cuda")
    assert torchcent.explain(graph, measure="closeness", sources=1024).engine == "queue"
    assert_memory(graph, "closeness", sources, torchcent.Run(), 0.8)


def assert_memory(
    graph: Graph, measure: str, sources: torch.Tensor, how: torchcent.Run, least: float
) -> None:
    run = getattr(torchcent, measure)
    run(graph, sources=sources[:64], run=how)  # prepares, and what the process takes once
    torch.cuda.empty_cache()
    others = torch.cuda.memory_allocated()
    plan = torchcent.explain(graph, measure=measure, sources=sources.numel(), run=how)
    held = held_bytes(graph)
    torch.cuda.reset_peak_memory_stats()
    run(graph, sources=sources, run=how)
    peak = torch.cuda.max_memory_allocated() - others + held
    assert least * plan.memory <= peak <= plan.memory


@pytest.mark.parametrize(("n", "count"), [(1000, 10**6), (10**6, 10**7), (10**6, 10**6)])
def test_transposes_and_scales(n: int, count: int) -> None:
    edges = torch.randint(n, (2, count), device="cuda")
    weight = torch.randint(1, 100, (count,), device="cuda")
    graph = Graph.from_edge_index(edges, n, edge_weight=weight)
    m = graph.num_slots

    def peak(name: str) -> int:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        getattr(graph, name)
        return torch.cuda.max_memory_allocated() - before

    some = 2**22  # rounding, and what sorts and sums take besides
    assert peak("_transposed") <= bytes_to_transpose(n, m) + some
    assert peak("scaled_weights") <= bytes_to_scale(m, False) + some


def test_little_memory() -> None:
    """With half a GiB left: both figures, whatever asks for more."""
    edges = torch.randint(10**6, (2, 10**8), device="cuda")
    graph = Graph.from_edge_index(edges[:, : 10**6], 10**6)
    gc.collect()  # of earlier tests: it must not come back later
    torch.cuda.empty_cache()
    free = torch.cuda.mem_get_info()[0]
    ballast = torch.empty(free - 2**29, dtype=torch.uint8, device="cuda")
    with pytest.raises(MemoryError, match=r"building a Graph .* needs 2\.\d GiB .*memory="):
        Graph.from_edge_index(edges, 10**6)
    for call in (torchcent.betweenness, torchcent.mcl, torchcent.closeness):
        with pytest.raises(MemoryError, match="needs .* GiB"):
            call(edges, num_nodes=10**6)
    with pytest.raises(MemoryError, match="did not grant .* free on cuda:0"):
        Graph.from_edge_index(edges, 10**6, run=torchcent.Run(memory=2**40))
    with pytest.raises(MemoryError, match="free on cuda:0"):
        torchcent.betweenness(graph, sources=4096, run=torchcent.Run(engine="lanes", memory=2**40))
    del ballast
    torch.cuda.empty_cache()


def test_more_slots_than_32_bits_count() -> None:
    n = 46_342
    free = torch.cuda.mem_get_info()[0]
    if free < 115 * 2**30:
        pytest.skip("needs 115 GiB of the device's memory")
    graph = multigraph(n, free * 9 // 10)
    assert graph.num_slots == n * (n - 1) > 2**31
    assert torchcent.degree(graph).eq(n).all()


def multigraph(n: int, memory: int) -> Graph:
    """Arcs from each vertex to all others, and to the next one twice."""
    edges = torch.empty(2, n, n, dtype=torch.int32, device="cuda")
    vertex = torch.arange(n, dtype=torch.int32, device="cuda")
    edges[0] = vertex[:, None]
    edges[1] = vertex
    edges[1].diagonal().copy_(vertex.roll(-1))
    with torchcent.Run(memory=memory):
        return Graph.from_edge_index(edges.flatten(1), n, directed=True)
