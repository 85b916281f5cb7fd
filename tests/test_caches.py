"""What is kept with a graph: all of it is counted, and what is forgotten is found again."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import threading
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from graphs import DEVICE
from runs import CASES, PAIRS, arcs, calls, lengths, molecules, network, whole_lengths
from torch import Tensor
from tuning import Tuning

import torchcent
from torchcent import Graph, Run, generate
from torchcent.graph._cache import Slot

PACKAGE = Path(torchcent.__file__).parent
pytestmark = pytest.mark.skipif(DEVICE.type != "cpu", reason="bytes of all devices are one sum")


def reachable(graph: Graph) -> int:
    """Bytes of all arrays that live because the graph does, found without asking it."""
    waiting: list[Any] = [graph]
    seen: set[int] = set()
    memory: dict[int, int] = {}
    for part in waiting:
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            part = torch.from_numpy(part)
        if isinstance(part, Tensor):
            storage = part.untyped_storage()
            memory[storage.data_ptr()] = storage.nbytes()
        elif not isinstance(part, type | types.ModuleType | types.FunctionType | Slot):
            waiting.extend(gc.get_referents(part))
    return sum(memory.values())


def weighted_road(scale: float = 1.0, directed: bool = False) -> Graph:
    edges = generate.road(24, 24, seed=1)
    weight = torch.rand(edges.shape[1], generator=torch.Generator().manual_seed(1)) + 0.1
    edges = torch.cat([edges, edges.flip(0)[:, ::2]], 1) if directed else edges
    weight = torch.cat([weight, weight[::2]]) if directed else weight
    weight = (1000 * weight).round() if scale == 1.0 else scale * weight
    return Graph.from_edge_index(edges, edge_weight=weight, directed=directed)


def twins() -> Graph:
    """Leaves, and vertices with the same two neighbours."""
    of_both = torch.stack([torch.arange(9).repeat_interleave(2) + 12, torch.arange(2).repeat(9)])
    arcs = torch.cat([of_both, torch.tensor([[0, 2, 3, 4], [2, 3, 4, 5]])], 1)
    return Graph.from_edge_index(arcs, directed=False)


def repeated() -> Graph:
    arcs = generate.ba(60, 3, seed=1)
    loops = torch.tensor([[3, 3, 5], [3, 3, 5]])
    return Graph.from_edge_index(torch.cat([arcs, arcs[:, ::3], loops], 1), directed=False)


def chance() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def to_itself(graph: Graph) -> Tensor:
    pairs = torch.tensor([[0, 3], [2, 1]])
    return torchcent.effective_resistance(graph, pairs=pairs)


OTHERS: dict[str, tuple[Callable[[], Graph], Callable[[Graph], Any]]] = {
    "batches": (molecules, torchcent.degree),
    "communities": (twins, lambda x: torchcent.communities_by_betweenness(x, 3)),
    "components": (calls, torchcent.closeness),
    "conductances": (repeated, torchcent.current_flow_betweenness),
    "cores": (repeated, torchcent.core_number),
    "currents of edges": (repeated, torchcent.edge_current_flow_betweenness),
    "degree": (repeated, torchcent.degree),
    "demand": (network, lambda x: torchcent.betweenness(x, sources=x.degree.double())),
    "diameter": (calls, lambda x: torchcent.diameter(x, disconnected="component")),
    "eigenvector": (whole_lengths, torchcent.eigenvector),
    "encoding": (molecules, lambda x: torchcent.random_walk_encoding(x, walk_length=4)),
    "exports": (repeated, lambda x: (x.reversed().slot, x.slot, x.batch, x.degree_order)),
    "far": (weighted_road, torchcent.eccentricity),
    "fixed point": (lambda: weighted_road(1.37), torchcent.closeness),
    "groups": (twins, lambda x: torchcent.group_betweenness(x, torch.tensor([0, 3]))),
    "groups by lengths": (whole_lengths, lambda x: torchcent.group_closeness(x, [0, 3])),
    "hierarchy": (weighted_road, lambda x: torchcent.betweenness(x, run=Run(engine="hierarchy"))),
    "hierarchy of one-way streets": (
        lambda: weighted_road(directed=True),
        lambda x: torchcent.edge_betweenness(x, run=Run(engine="hierarchy")),
    ),
    "hierarchy of distances": (
        lambda: weighted_road(directed=True),
        lambda x: torchcent.closeness(x, run=Run(engine="hierarchy")),
    ),
    "hits": (arcs, torchcent.hits),
    "katz": (twins, torchcent.katz),
    "mcl": (twins, lambda x: torchcent.mcl(x).labels),
    "of both ways": (arcs, lambda x: torchcent.betweenness(x.reversed())),
    "pagerank": (arcs, torchcent.pagerank),
    "paths": (molecules, lambda x: torchcent.shortest_path_encoding(x.unweighted())),
    "pivots": (
        network,
        lambda x: torchcent.betweenness_approx(x, 0.2, method="pivots", generator=chance()),
    ),
    "prominent": (network, lambda x: torchcent.prominent_group(x, 2, generator=chance())),
    "resistance": (repeated, to_itself),
    "samples": (network, lambda x: torchcent.betweenness_approx(x, 0.2, generator=chance())),
    "samples in a hierarchy": (
        weighted_road,
        lambda x: (
            torchcent.betweenness(x, run=Run(engine="hierarchy")),
            torchcent.shortest_path(x, torch.arange(300), 300 + torch.arange(200).repeat(2)[:300]),
        ),
    ),
    "stress of blocks": (arcs, lambda x: torchcent.stress(x, run=Run(reduce=["blocks"]))),
    "subgraphs": (twins, torchcent.subgraph_centrality),
    "tensor": (twins, lambda x: torchcent.betweenness(x, run=Run(engine="tensor"))),
    "tolerance": (lengths, lambda x: torchcent.betweenness(x.with_ties("float"))),
    "triangles": (network, torchcent.triangles),
    "twins": (twins, lambda x: torchcent.betweenness(x, run=Run(reduce=["fold", "twins"]))),
    "twins of edges": (twins, lambda x: torchcent.edge_betweenness(x, run=Run(reduce=["twins"]))),
    "variants": (network, lambda x: torchcent.betweenness_variant(x, variant="linear")),
    "weights": (
        whole_lengths,
        lambda x: torchcent.betweenness(x.with_weights(torch.ones_like(x.slot))),
    ),
}  # fmt: skip


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return torch.equal(one, other)
    if isinstance(one, tuple | list):
        return all(map(equal, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(equal(getattr(one, name), getattr(other, name)) for name in vars(one))
    return bool(one == other)


def assert_counted(graph: Graph, measure: Callable[[Graph], Any]) -> None:
    own = graph.nbytes
    assert own == reachable(graph)
    first = measure(graph)
    assert graph.nbytes == reachable(graph)
    again = measure(graph)
    assert graph.nbytes == reachable(graph)
    assert equal(first, again)
    graph.slot  # noqa: B018  (replaces the ids of the columns)
    size = graph.nbytes
    graph.drop_caches()
    assert not graph.cache and graph.nbytes == reachable(graph) <= size
    assert set(vars(graph)) <= {*vars(rebuilt(graph)), "slot", "_multiplicity", "_ids"}
    assert equal(first, measure(graph))
    assert graph.nbytes == reachable(graph)


def rebuilt(graph: Graph) -> Graph:
    """An equal one, with which nothing is kept."""
    made: Graph = pickle.loads(pickle.dumps(graph))
    assert made == graph
    return made


@pytest.mark.sweep
@pytest.mark.parametrize("name", OTHERS)
def test_nothing_escapes(name: str) -> None:
    make, measure = OTHERS[name]
    assert_counted(make(), measure)


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in CASES | PAIRS if "tensor" not in name])
def test_nothing_escapes_in_units(name: str, tuning: Tuning) -> None:
    case = (CASES | PAIRS)[name]
    tuning(**case.sizes)
    graph = case.graph()
    bound = case._replace(graph=lambda: graph)
    assert_counted(graph, lambda _: bound())


def test_what_escapes_is_told() -> None:
    graph = twins()
    vars(graph)["_rogue"] = torch.ones(9)
    assert reachable(graph) == graph.nbytes + 36


def test_plans_are_kept_and_forgotten() -> None:
    graph, run = network(), torchcent.Run(memory=2**28)  # free memory is not the same twice
    plan = torchcent.explain(graph, measure="betweenness", run=run)
    assert graph.nbytes == reachable(graph)
    graph.drop_caches()
    assert torchcent.explain(graph, measure="betweenness", run=run) == plan
    assert "bytes)" in repr(graph) and f"{graph.nbytes} bytes" in repr(graph)


@pytest.mark.parametrize("make", [twins, repeated, lengths, weighted_road, molecules, calls])
def test_a_graph_stays_what_it_is(make: Callable[[], Graph]) -> None:
    graph, other = make(), make()
    scores, columns = torchcent.betweenness(graph), other.slot.clone()
    shown = hash(graph)
    graph.drop_caches()
    assert graph == other and hash(graph) == hash(other) == shown
    assert torch.equal(graph.slot, columns) and graph.num_graphs == other.num_graphs
    for made in (rebuilt(graph), copy.copy(graph), copy.deepcopy(graph)):
        assert made == graph and made.nbytes == reachable(made) and made.cache is not graph.cache
        assert torch.equal(torchcent.betweenness(made), scores)
    assert torch.equal(graph.with_weights(torch.ones(graph.slot.numel())).slot, columns)
    assert graph.to("meta").num_slots == graph.num_slots
    graph.drop_caches()
    graph.drop_caches()
    assert torch.equal(torchcent.betweenness(graph), scores)


def test_an_order_from_a_file_is_not_forgotten(tmp_path: Path) -> None:
    graph, run = weighted_road(), Run(engine="hierarchy")
    scores = torchcent.betweenness(graph, run=run)
    graph.save(str(tmp_path / "road.pt"))
    loaded = Graph.load(str(tmp_path / "road.pt"))
    order = loaded._order
    assert order is not None
    size = loaded.nbytes
    assert torch.equal(torchcent.betweenness(loaded, run=run), scores)
    loaded.drop_caches()
    graph.drop_caches()
    assert loaded._order is order and loaded.nbytes == size and graph._order is None
    assert torch.equal(torchcent.betweenness(graph, run=run), scores)
    assert torch.equal(torchcent.betweenness(loaded, run=run), scores)


def test_graphs_that_share_an_order_forget_it_alone() -> None:
    graph, run = weighted_road(), Run(engine="hierarchy")
    other = graph.with_weights(graph.weight[graph.slot])
    scores = torchcent.betweenness(graph, run=run)
    order = other._order
    assert order is graph._order is not None
    graph.drop_caches()
    assert graph._order is None and other._order is order
    assert torch.equal(torchcent.betweenness(graph, run=run), scores)


@pytest.mark.slow
def test_threads_may_forget_while_others_search() -> None:
    graph, run = twins(), Run(engine="lanes", reduce=["fold", "twins"], threads=1)
    scores = torchcent.betweenness(graph, run=run)
    done = threading.Event()

    def forget() -> None:
        while not done.is_set():
            graph.drop_caches()

    with ThreadPoolExecutor(3) as pool:
        forgetting = pool.submit(forget)
        every = [pool.submit(torchcent.betweenness, graph, run=run) for _ in range(200)]
        assert all(torch.equal(each.result(), scores) for each in every)
        done.set()
        forgetting.result()
    graph.drop_caches()
    assert graph.nbytes == reachable(graph)


def test_slots_have_owners_and_one_value() -> None:
    graph, calls = twins(), []

    @Slot
    def numbers(graph: Graph, more: int) -> Tensor | None:
        calls.append(more)
        return None

    assert numbers(graph, 1) is numbers(graph, 2) is None and calls == [1]
    assert numbers in graph.cache and numbers.owner == __name__
    assert numbers.put(graph, graph.rowptr) is numbers(graph, 3) is numbers.get(graph)
    numbers.forget(graph)
    numbers.forget(graph)
    assert numbers.get(graph) is None and numbers not in graph.cache
    assert Graph.degree.owner == "torchcent.graph._arrays" and Graph.degree not in graph.cache
    assert graph.degree is graph.degree is graph.cache[Graph.degree] is vars(graph)["degree"]
    assert {slot.owner.split(".")[0] for slot in graph.cache} == {"torchcent"}


def test_nothing_else_writes_into_a_graph() -> None:
    """Outside of graph/, attributes are no caches, and plans count what a graph is without them."""
    written = re.compile(
        r"(graph|core|made|self|hierarchy)\.__dict__|vars\((graph|core|made|self)\)"
    )
    elsewhere = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "graph"]
    assert len(elsewhere) > 200
    for path in elsewhere:
        text = path.read_text()
        assert path.name == "_run.py" or not written.search(text), path  # a Run is no cache
        assert not re.search(r"\b(graph|union)\.nbytes", text), f"{path}: see Arrays._nbytes"
