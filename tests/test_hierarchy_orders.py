"""The order of contraction: shared by graphs of the same arcs, saved, and not believed."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from graphs import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from internals import KERNELS, Hierarchy, Preparation, core_of, has_kernel
from resident import GIVING_BACK
from surface import call
from test_hierarchy import DIRECTED, known, network, road
from torch import Tensor
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph
from torchcent.engines.reduce import _hierarchy

pytestmark = pytest.mark.skipif(
    not has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
)
F64 = torch.float64
SWEEPS: dict[str, Any] = {"engine": "hierarchy", "dtype": F64}


@pytest.fixture
def found(tuning: Tuning) -> list[int]:
    """The sizes of graphs whose orders were searched for."""
    sizes: list[int] = []
    search = torch.ops.torchcent.hierarchy_order

    class Spy:
        def __getattr__(self, name: str) -> Any:
            return self.noted if name == "hierarchy_order" else getattr(torch.ops.torchcent, name)

        def noted(self, rowptr: Tensor, *rest: Any) -> Tensor:
            sizes.append(rowptr.numel() - 1)
            return search(rowptr, *rest)

    tuning(operators=Spy())
    return sizes


def lengths(graph: Graph, seed: int = 1) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.randint(1, 50, (graph.slot.numel(),), generator=chance)


def columns_of(graph: Graph) -> Tensor:
    row, col = graph.to_edge_index()
    return torch.stack([row[graph.slot], col[graph.slot]])


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["none", "fold", "blocks"]))
def test_new_lengths(seed: int, weighted: bool, reduce: str) -> None:
    net = network(random.Random(seed))
    graph = net.graph(1.0 if weighted else None)
    call(torchcent.betweenness, graph, reduce=reduce, **SWEEPS)
    weight = lengths(graph, seed)
    other = graph.with_weights(weight)
    new = Graph.from_edge_index(columns_of(graph), net.n, net.directed, weight)
    assert other == new and torch.equal(other.slot, new.slot)
    expected = known("betweenness", new)
    for measured in (other, new):
        scores = call(torchcent.betweenness, measured, reduce=reduce, **SWEEPS)
        torch.testing.assert_close(scores, expected, rtol=1e-5, atol=1e-12)


@DIRECTED
def test_one_order_for_all_lengths(directed: bool, found: list[int]) -> None:
    graph = road(30, directed=directed)
    later = graph.with_weights(lengths(graph, 2))  # before the order is known
    for seed, each in enumerate((graph, later, later.with_weights(lengths(graph, 3)))):
        scores = call(torchcent.betweenness, each, **SWEEPS)
        torch.testing.assert_close(scores, known("betweenness", each), rtol=1e-5, atol=1e-12)
        assert found == [graph.num_nodes], seed
    call(torchcent.betweenness, graph.unweighted(), **SWEEPS)
    call(torchcent.edge_betweenness, graph, **SWEEPS)
    call(torchcent.betweenness, graph, reduce="none", **SWEEPS)  # another core
    call(torchcent.betweenness, graph.reversed(), **SWEEPS)
    fractions = graph.with_weights(lengths(graph) * torch.rand(graph.slot.numel()))
    call(torchcent.betweenness, fractions, **SWEEPS)  # in fixed point
    assert found == [graph.num_nodes]


def test_lengths_that_are_those_back_and_others(found: list[int]) -> None:
    """A directed graph whose lengths make it symmetric has one kind of arcs, else two."""
    graph = road(20)
    arcs = graph.to_edge_index()
    graph = Graph.from_edge_index(arcs, None, True, graph.weight)
    other = graph.with_weights(1 + torch.arange(arcs.shape[1]) % 50)
    assert graph.is_symmetric and not other.is_symmetric
    call(torchcent.betweenness, graph, **SWEEPS)
    for each in (graph, other, other.with_weights(graph.weight), other.reversed()):
        for measure in ("betweenness", "edge_betweenness"):
            scores = call(getattr(torchcent, measure), each, **SWEEPS)
            torch.testing.assert_close(scores, known(measure, each), rtol=1e-5, atol=1e-12)
    assert found == [graph.num_nodes]


@pytest.mark.slow
@DIRECTED
def test_blocks_have_the_order_of_their_graph(directed: bool, found: list[int]) -> None:
    """Which is saved with it."""
    streets = columns_of(road(30, directed=directed))
    n = int(streets.max()) + 1
    lanes = torch.arange(n, 2 * n)  # triangles that hang on it
    hanging = [torch.stack([torch.arange(n), lanes]), torch.stack([lanes, lanes + n])]
    arcs = torch.cat([streets, *hanging, torch.stack([lanes + n, torch.arange(n)])], 1)
    graph = Graph.from_edge_index(arcs, None, directed, 1 + torch.arange(arcs.shape[1]))
    plan = torchcent.explain(graph, run=torchcent.Run(reduce="blocks"))
    assert "by hierarchy" in plan.reason
    scores = torchcent.betweenness(
        graph,
        run=torchcent.Run(reduce="blocks", dtype=F64),
    )
    torch.testing.assert_close(scores, known("betweenness", graph), rtol=1e-5, atol=1e-12)
    assert found == [graph.num_nodes] and graph._order is not None
    other = pickle.loads(pickle.dumps(graph)).with_weights(lengths(graph))
    torchcent.betweenness(other, run=torchcent.Run(reduce="blocks"))
    assert found == [graph.num_nodes]


@pytest.mark.slow
@DIRECTED
def test_components_have_the_order_of_their_graph(directed: bool, found: list[int]) -> None:
    streets = columns_of(road(32, directed=directed))
    n = int(streets.max()) + 1
    arcs = torch.cat([streets + n * town for town in range(6)], 1)
    weight = 1 + torch.arange(arcs.shape[1]) % 97
    graph = Graph.from_edge_index(arcs, None, directed, weight)
    assert "by hierarchy" in torchcent.explain(graph).reason
    scores = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    torch.testing.assert_close(scores, known("betweenness", graph), rtol=1e-5, atol=1e-12)
    assert found == [graph.num_nodes] and graph._order is not None


@DIRECTED
def test_files_and_copies(directed: bool, found: list[int], tmp_path: Path) -> None:
    graph, path = road(20, directed=directed), tmp_path / "roads.pt"
    graph.save(path)
    assert Graph.load(path)._order is None
    known("betweenness", graph)  # by the transpose, which is kept
    size, shown = graph._nbytes, hash(graph)
    scores = call(torchcent.betweenness, graph, **SWEEPS)
    assert graph._nbytes == size + 4 * graph.num_nodes
    graph.save(path)
    copies = [Graph.load(path), pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)]
    assert torch.load(path)["version"] == 1  # readers that know no order read it
    for each in copies:
        assert torch.equal(each._order, graph._order)
        assert each == graph == road(20, directed=directed)
        assert hash(each) == shown == hash(road(20, directed=directed))
        torch.testing.assert_close(call(torchcent.betweenness, each, **SWEEPS), scores)
        call(torchcent.betweenness, each.with_weights(torch.ones(each.slot.numel())), **SWEEPS)
    assert found == [graph.num_nodes]


@pytest.mark.parametrize("fault", ["twice", "beyond", "negative", "short", "int64"])
def test_a_damaged_order_is_refused(fault: str, tmp_path: Path) -> None:
    graph, path = road(10), str(tmp_path / "roads.pt")
    call(torchcent.betweenness, graph, **SWEEPS)
    graph.save(path)
    content = torch.load(path)
    order = content["order"].clone()
    if fault in ("twice", "beyond", "negative"):
        order[3] = {"twice": int(order[4]), "beyond": graph.num_nodes, "negative": -1}[fault]
    content["order"] = {"short": order[1:], "int64": order.long()}.get(fault, order)
    torch.save(content, path)
    with pytest.raises(ValueError, match="order|sizes") as caught:
        Graph.load(path)
    assert path in str(caught.value)
    state = graph.__getstate__() | {"order": content["order"]}
    with pytest.raises(ValueError, match="not a pickled torchcent.Graph"):
        Graph.__new__(Graph).__setstate__(state)


@pytest.mark.parametrize("engine", ["auto", "hierarchy"])
def test_a_bad_order_is_replaced(engine: str, found: list[int], tmp_path: Path) -> None:
    """One that makes a clique of the neighbours of a hub, which would take all memory."""
    n = 3000
    star = torch.stack([torch.zeros(n - 1, dtype=torch.int64), torch.arange(1, n)])
    ring = torch.stack([torch.arange(1, n), torch.arange(1, n).roll(1)])
    graph = Graph.from_edge_index(torch.cat([star, ring], 1), directed=False)
    graph = graph.with_weights(torch.cat([torch.full((n - 1,), 99), torch.ones(n - 1).int()]))
    call(torchcent.betweenness, graph, **SWEEPS)
    path = tmp_path / "wheel.pt"
    graph.save(path)
    content = torch.load(path) | {"order": torch.arange(n, dtype=torch.int32)}
    torch.save(content, path)
    bad = Graph.load(path)
    core = core_of(bad, "degree", "all")
    hierarchy = Hierarchy.of(core)
    assert hierarchy is not None and hierarchy.num_arcs < 12 * n
    assert found == [n, n]
    torch.testing.assert_close(
        torchcent.betweenness(bad, run=torchcent.Run(engine=engine)), torchcent.betweenness(graph)
    )


@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_weights_of_repeated_columns(directed: bool, pickled: bool) -> None:
    chance = torch.Generator().manual_seed(3)
    arcs = torch.randint(0, 30, (2, 200), generator=chance)
    if pickled:
        arcs = arcs[:, arcs[0] != arcs[1]]
    first, second = (torch.rand(arcs.shape[1], generator=chance) + 0.1 for _ in range(2))
    for sought in (False, True):  # whether the graph still has its columns, or only their slots
        graph = Graph.from_edge_index(arcs, 33, directed, first)
        if sought:
            graph.slot  # noqa: B018
        if pickled:
            graph = pickle.loads(pickle.dumps(graph))
        new = Graph.from_edge_index(arcs, 33, directed, second)
        for other in (graph.with_weights(second), graph.unweighted().with_weights(second)):
            assert other == new and torch.equal(other.slot, new.slot)
            torch.testing.assert_close(torchcent.pagerank(other), torchcent.pagerank(new))
            assert other.unweighted() == new.unweighted()
            assert other.with_weights(first) == graph
        back = Graph.from_edge_index(arcs.flip(0), 33, directed, second)
        assert graph.reversed().with_weights(second) == back


def test_weights_of_the_graphs_of_a_batch() -> None:
    arcs, ptr = torch.tensor([[0, 1, 3], [1, 2, 4]]), torch.tensor([0, 0, 3, 5, 6])
    graph = Graph.from_edge_index(arcs, ptr=ptr, directed=False)
    new = Graph.from_edge_index(arcs, ptr=ptr, edge_weight=torch.arange(1, 4), directed=False)
    assert graph.with_weights(torch.arange(1, 4)) == new


def test_what_are_no_weights() -> None:
    graph = Graph.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    with pytest.raises(ValueError, match=r"shape \[3\]"):
        graph.with_weights(torch.ones(2))
    with pytest.raises(ValueError, match=r"edge_weight\[1\] is -1"):
        graph.with_weights(torch.tensor([1, -1, 1]))
    with pytest.raises(TypeError, match="unweighted"):
        graph.with_weights(None)  # type: ignore[arg-type]
    graph = pickle.loads(pickle.dumps(graph))
    with pytest.raises(ValueError, match="loops"):
        graph.with_weights(torch.ones(3))


@DIRECTED
def test_memory_of_the_contraction(directed: bool) -> None:
    graph = road(80, directed=directed)
    whole: dict[str, Any] = {"reduce": "fold"}  # without blocks
    one = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        needed = call(torchcent.explain, graph, **whole).memory
    finally:
        torch.set_num_threads(one)
    assert call(torchcent.explain, graph, memory=needed, **whole).engine == "hierarchy"
    least = call(torchcent.explain, graph, engine="dijkstra", **whole).memory
    for memory in (least, least + needed // 50, least + needed // 20, needed // 2, needed - 1):
        fresh = road(80, directed=directed)
        assert call(torchcent.explain, fresh, memory=memory, **whole).engine == "dijkstra"
        with pytest.raises(MemoryError, match="needs"):
            call(torchcent.betweenness, fresh, engine="hierarchy", memory=memory, **whole)
    core = core_of(road(80, directed=directed), "degree", "all")
    for fill in (0.5, 3.0, 12.0):
        room = _hierarchy.bytes_to_contract(core, fill)
        assert _hierarchy.most_fill_within(core, room) == pytest.approx(fill, abs=1e-3)
    fresh = road(80, directed=directed)
    cores = Preparation(fresh, KERNELS["betweenness"], 10**6, None)
    with pytest.raises(MemoryError, match="contraction"):
        cores.hierarchy(core_of(fresh, "degree", "all"))
    assert fresh._order is None


def test_memory_that_gets_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of a moment with little memory is not that of the next run."""
    graph = road(80)
    for fraction in (10, 3):  # too little for the contraction, and for sweeps
        with monkeypatch.context() as patch:
            needed = torchcent.explain(road(80)).memory
            tuned(patch)(free_memory=lambda device, free=2 * needed // fraction: free)
            for _ in range(2):
                assert torchcent.explain(graph).engine == "dijkstra"
    assert torchcent.explain(graph).engine == "hierarchy"


PEAK = """
import sys, torch
from torchcent import generate, Graph
from torchcent.engines.reduce import _hierarchy, _reduce

def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return 1024 * int(line.split()[1])

torch.set_num_threads(1)
edges = generate.road(10, 10)
_hierarchy.Hierarchy.of(_reduce.core(Graph.from_edge_index(edges, directed=False), "degree", "no"))
side, fill, directed = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "True"
edges = generate.road(side, side)
graph = Graph.from_edge_index(edges, None, directed, 1 + torch.arange(edges.shape[1]))
core = _reduce.core(graph, "degree", "all")
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
hierarchy = _hierarchy.Hierarchy.of(core, fill)
assert hierarchy is not None
print(status("VmHWM") - before, _hierarchy.bytes_to_contract(core, fill))
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@DIRECTED
def test_a_contraction_takes_what_is_said(directed: bool) -> None:
    arguments = ["-W", "ignore", "-c", PEAK, "250", "3.5", str(directed)]
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=GIVING_BACK
    )
    assert done.returncode == 0, done.stderr
    taken, said = map(int, done.stdout.split())
    assert 0.4 * said < taken <= said
