"""load_centrality: against the definition and NetworkX in every engine, with reductions, with
cutoffs, in batches, as a feature, and through NetworkX."""

import random
from typing import Any

import networkx as nx
import oracles
import path_oracles
import pytest
import torch
from engines import ENGINES, WEIGHTED, assert_scores, scored
from graphs import (
    ASSORTED,
    DEVICE,
    arc_lists,
    diamonds,
    edge_index,
    leafy_graphs,
    networkx_graph,
    questions,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from oracles import Arcs
from pieces import pieces
from surface import call

import torchcent
from torchcent import Graph, Run
from torchcent import nx as backend

F64 = torch.float64
EXACT = Run(dtype=F64)
HOPS = ("auto", "reference", *(x for x in ENGINES if x != "tiny"))
LENGTHS = ("reference", *(x for x in WEIGHTED if x != "tiny"))
#: vertex 6 is reached by two paths through 4 and one through 5, which have a half of it each
BRANCHES = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 6), (5, 6)]


def skip_without_kernels(engine: str) -> None:
    name = {"reference": "reference_dependency", "auto": "", "tensor": ""}.get(engine, "depths")
    if name and not has_kernel(name, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")


def load(arcs: Arcs, n: int, engine: str, **options: Any) -> torch.Tensor:
    skip_without_kernels(engine)
    return scored(torchcent.load_centrality, arcs, n, engine, **options)


@pytest.mark.parametrize("engine", HOPS)
def test_known_values(engine: str) -> None:
    found = load(BRANCHES, 7, engine, normalized=False, sources=[0], targets=[6])
    assert_scores(found, [0, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 2, 0], engine)
    path = [(0, 1), (1, 2), (2, 3)]
    for directed, both in ((False, [0, 4, 4, 0]), (True, [0, 2, 2, 0])):
        assert_scores(load(path, 4, engine, directed=directed, normalized=False), both, engine)
        found = load(path, 4, engine, directed=directed)
        assert_scores(found, torch.tensor(both, dtype=F64) / 6, engine)


@pytest.mark.parametrize("engine", HOPS)
@settings(max_examples=80)
@given(question=questions())
def test_hops_are_those_of_the_definition(engine: str, question: Any) -> None:
    n, arcs, options = question
    found = load(arcs, n, engine, **options)
    assert_scores(found, oracles.load_centrality(n, arcs, **options), engine)


@pytest.mark.parametrize("engine", LENGTHS)
@settings(max_examples=60)
@given(graph=arc_lists(7), data=st.data())
def test_weights_are_those_of_the_definition(engine: str, graph: Any, data: Any) -> None:
    n, arcs = graph
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(arcs), max_size=len(arcs)))
    options = {"directed": data.draw(st.booleans()), "normalized": data.draw(st.booleans())}
    options["tie_tolerance"] = data.draw(st.sampled_from([0.0, 0.3]))
    found = load(arcs, n, engine, edge_weight=weights, **options)
    known = path_oracles.scores("load_centrality", n, arcs, weights, **options)
    assert_scores(found, known, engine)


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", HOPS)
@pytest.mark.parametrize("shape", ASSORTED)
def test_against_networkx(shape: str, engine: str, directed: bool) -> None:
    n, arcs = ASSORTED[shape]
    graph = networkx_graph(n, arcs, directed)
    for normalized in (False, True):
        known = nx.load_centrality(graph, normalized=normalized)
        found = load(arcs, n, engine, directed=directed, normalized=normalized)
        assert_scores(found, [known[v] for v in range(n)], engine)


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_cutoffs_are_those_of_networkx(cutoff: int) -> None:
    n, arcs = ASSORTED["sparse"]
    known = nx.load_centrality(networkx_graph(n, arcs, False), cutoff=cutoff)
    for engine in HOPS:
        found = load(arcs, n, engine, directed=False, cutoff=[cutoff, 9])
        assert_scores(found[:, 0], [known[v] for v in range(n)], engine)
        assert_scores(found[:, 1], load(arcs, n, engine, directed=False, cutoff=9), engine)


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
@pytest.mark.parametrize("reduce", ["fold", "blocks", "twins", "chains", "auto"])
@settings(max_examples=60)
@given(data=st.data())
def test_reductions_change_nothing(reduce: str, weighted: bool, data: Any) -> None:
    """Also of what a reduction finds elsewhere; those that do not hold for load are not applied."""
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    directed = data.draw(st.booleans())
    n, arcs, weights = pieces(chance, directed, most=12)
    if data.draw(st.booleans()):
        directed, (n, arcs) = False, data.draw(leafy_graphs())
        weights = [chance.randint(1, 4) for _ in arcs]
    length = torch.tensor(weights, dtype=F64, device=DEVICE) if weighted else None
    graph = Graph.from_edge_index(edge_index(arcs), n, directed, edge_weight=length)
    options: dict[str, Any] = {}
    if n and data.draw(st.booleans()):
        options["sources"] = torch.rand(n, dtype=F64)
    if n and data.draw(st.booleans()):
        options["targets"] = torch.rand(n, dtype=F64)
    plain = torchcent.load_centrality(graph, run=EXACT | Run(reduce="none"), **options)
    found = torchcent.load_centrality(graph, run=EXACT | Run(reduce=reduce), **options)
    assert_scores(found, plain, "auto")


@pytest.mark.parametrize("engine", [x for x in HOPS if x != "reference"])
def test_paths_beyond_float64_do_not_matter(engine: str) -> None:
    """Along a chain of 1100 diamonds, the load of the two sides is a half each."""
    arcs = diamonds(1100)
    n = max(max(arc) for arc in arcs) + 1
    found = load(arcs, n, engine, directed=False, normalized=False, sources=[0], targets=[n - 1])
    assert set(found.tolist()) == {0.0, 0.5, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_graph(threads: int) -> None:
    """For teams of threads, and the same bits for any number of them."""
    graph = Graph.from_edge_index(torchcent.generate.ba(20_000, 8, seed=1), directed=False)
    chosen = torch.tensor([5])
    tensor = torchcent.load_centrality(graph, sources=chosen, run=EXACT | Run(engine="tensor"))
    queue = EXACT | Run(engine="queue", threads=threads)
    found = torchcent.load_centrality(graph, sources=chosen, run=queue)
    again = torchcent.load_centrality(graph, sources=chosen, run=queue | Run(threads=1))
    assert torch.equal(found.nan_to_num(), again.nan_to_num())
    torch.testing.assert_close(found, tensor, rtol=1e-9, atol=1e-15, equal_nan=True)


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_batch(weighted: bool) -> None:
    index, ptr, expected = [], [0], []
    for n, arcs in [*ASSORTED.values(), (0, []), (2, [(0, 1)])]:
        index += [(u + ptr[-1], v + ptr[-1]) for u, v in arcs]
        weight = torch.full((len(arcs),), 2.0, device=DEVICE) if weighted else None
        expected.append(
            torchcent.load_centrality(
                edge_index(arcs), weight, num_nodes=n, directed=False, run=EXACT
            )
        )
        ptr.append(ptr[-1] + n)
    weight = torch.full((len(index),), 2.0, device=DEVICE) if weighted else None
    whole = call(
        torchcent.load_centrality, edge_index(index), weight, directed=False, dtype=F64,
        ptr=torch.tensor(ptr, device=DEVICE),
    )  # fmt: skip
    torch.testing.assert_close(whole, torch.cat(expected), rtol=1e-5, atol=1e-12)


@pytest.mark.slow
def test_features_of_small_and_large_graphs() -> None:
    for n in (50, 3000):
        arcs = torchcent.generate.er(n, p=4 / n, seed=1)
        names = ["closeness", "load_centrality", "betweenness"]
        found = torchcent.node_features(arcs, measures=names, num_nodes=n, directed=False)
        own = torchcent.load_centrality(arcs, num_nodes=n, directed=False)
        torch.testing.assert_close(found[:, 1], own, rtol=1e-5, atol=1e-7)
    star = torch.tensor([[0, 0, 0], [1, 2, 3]])
    assert torchcent.centralization(star, "load_centrality", directed=False) == 1


@given(graph=arc_lists(), directed=st.booleans(), data=st.data())
@settings(max_examples=60)
def test_networkx_backend(graph: Any, directed: bool, data: Any) -> None:
    ours = networkx_graph(*graph, directed)
    options: dict[str, Any] = {"normalized": data.draw(st.sampled_from([True, False, 0, 1]))}
    options["cutoff"] = data.draw(st.sampled_from([None, 1, 2]))
    if len(ours) == 0:
        return
    known = nx.load_centrality(ours, **options, backend="networkx")
    found = nx.load_centrality(ours, **options, backend="torchcent")
    assert list(found) == list(known)
    assert list(found.values()) == pytest.approx(list(known.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "why"),
    [({"v": 1}, "one node"), ({"weight": "weight"}, "no load"), ({"cutoff": 0}, "no cutoff"),
     ({"cutoff": 1.5}, "than ints")],
)  # fmt: skip
def test_what_networkx_does_otherwise_is_left_to_it(options: dict[str, Any], why: str) -> None:
    graph = nx.path_graph(4)
    assert why in backend.can_run("newman_betweenness_centrality", (graph,), options)
    assert backend.can_run("newman_betweenness_centrality", (graph,), {"normalized": False}) is True
    mixed = nx.star_graph([0, "a", 1.5])
    assert "types differ" in backend.can_run("newman_betweenness_centrality", (mixed,), {})


def test_networkx_loses_load_with_weights() -> None:
    """Where a predecessor is the source itself, the ones after it get nothing."""
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 2), (0, 2, 1), (2, 1, 1)])
    ours = Graph.from_networkx(graph, edge_weight="weight")
    found = torchcent.load_centrality(ours, normalized=False, run=EXACT)
    assert found.tolist() == [0, 0, 1]
    lost = nx.load_centrality(graph, normalized=False, weight="weight", backend="networkx")
    assert lost[2] < 1


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_small(n: int) -> None:
    empty = torch.empty(2, 0, dtype=torch.int64)
    assert torchcent.load_centrality(empty, num_nodes=n).tolist() == [0.0] * n


def test_what_does_not_compute_it() -> None:
    for engine in ("tiny", "hierarchy"):
        with pytest.raises(ValueError, match=engine):
            torchcent.load_centrality(torchcent.generate.grid(3, 3), run=Run(engine=engine))
