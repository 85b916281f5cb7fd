"""The engine "reference": against fractions and NetworkX, and all other engines against it."""

import math
import random
from typing import Any

import networkx as nx
import oracles
import path_oracles
import pytest
import torch
from engines import assert_scores, scored
from graphs import ASSORTED, DEVICE, arc_lists, diamonds, edge_index, networkx_graph, questions
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from oracles import Arcs
from pieces import pieces
from surface import call
from tuning import Tuning

import torchcent
from torchcent import Graph, Run

pytestmark = pytest.mark.skipif(
    not has_kernel("reference_dependency", DEVICE), reason="needs the compiled kernels"
)

F64 = torch.float64
REFERENCE = Run(engine="reference", dtype=F64)
PATHS = ("betweenness", "edge_betweenness", "stress", "load_centrality")
SUMS = ("closeness", "harmonic")
#: of paths and of distances, by hops and by weights
ENGINES = {
    ("paths", False): ("auto", "lanes", "queue", "hierarchy", "tensor", "tiny"),
    ("paths", True): ("auto", "relax", "dijkstra", "hierarchy", "tensor", "tiny"),
    ("distances", False): ("auto", "bits", "hierarchy", "tensor", "tiny"),
    ("distances", True): ("auto", "relax", "dijkstra", "hierarchy", "tensor", "tiny"),
}
#: which do not have load either
WITHOUT_CUTOFF = ("tiny", "hierarchy")


@pytest.mark.parametrize("measure", PATHS)
@settings(max_examples=80)
@given(question=questions())
def test_paths_by_hops_are_those_of_the_definition(measure: str, question: Any) -> None:
    n, arcs, options = question
    if measure == "edge_betweenness":
        options.pop("targets", None)
    found = scored(getattr(torchcent, measure), arcs, n, "reference", **options)
    assert_scores(found, getattr(oracles, measure)(n, arcs, **options), "reference")


@pytest.mark.parametrize("measure", PATHS)
@settings(max_examples=60)
@given(graph=arc_lists(7), data=st.data())
def test_paths_by_weights_are_those_of_the_definition(measure: str, graph: Any, data: Any) -> None:
    n, arcs = graph
    size = {"min_size": len(arcs), "max_size": len(arcs)}
    weights = data.draw(st.lists(st.integers(1, 4), **size))
    options = {"directed": data.draw(st.booleans()), "normalized": data.draw(st.booleans())}
    if measure != "edge_betweenness":
        options["endpoints"] = measure == "betweenness" and data.draw(st.booleans())
    given = {key: x for key, x in options.items() if key != "endpoints" or x}
    tolerance = data.draw(st.sampled_from([0.0, 0.3]))
    found = scored(
        getattr(torchcent, measure), arcs, n, "reference", edge_weight=weights,
        tie_tolerance=tolerance, **given,
    )  # fmt: skip
    known = path_oracles.scores(measure, n, arcs, weights, tie_tolerance=tolerance, **options)
    assert_scores(found, known, "reference")


@settings(max_examples=80)
@given(graph=arc_lists(), directed=st.booleans(), data=st.data())
def test_distances_are_those_of_the_definition(graph: Any, directed: bool, data: Any) -> None:
    n, arcs = graph
    size = {"min_size": len(arcs), "max_size": len(arcs)}
    weights = data.draw(st.lists(st.integers(1, 5), **size))
    rows = path_oracles.distances(n, arcs, weights, directed)
    for measure in SUMS:
        of = getattr(torchcent, measure)
        found = scored(of, arcs, n, "reference", directed=directed)
        assert_scores(found, getattr(oracles, measure)(n, arcs, directed=directed), "reference")
        found = scored(of, arcs, n, "reference", directed=directed, edge_weight=weights)
        assert_scores(found, getattr(path_oracles, measure)(rows), "reference")


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weight", [None, "weight"], ids=["hops", "weights"])
@pytest.mark.parametrize("shape", ASSORTED)
def test_against_networkx(shape: str, weight: str | None, directed: bool) -> None:
    n, arcs = ASSORTED[shape]
    graph = networkx_graph(n, arcs, directed)
    chance = random.Random(n)
    for u, v in graph.edges:
        graph[u][v]["weight"] = chance.randint(1, 5)
    edges = list(graph.edges)
    lengths = torch.tensor([graph[u][v]["weight"] for u, v in edges], dtype=F64) if weight else None
    ours = Graph.from_edge_index(edge_index(edges), n, directed, edge_weight=lengths)
    known = nx.betweenness_centrality(graph, weight=weight)
    assert_scores(torchcent.betweenness(ours, run=REFERENCE), known.values(), "reference")
    of_edges = nx.edge_betweenness_centrality(graph, weight=weight)
    found = torchcent.edge_betweenness(
        edge_index(edges), lengths, num_nodes=n, directed=directed, run=REFERENCE
    )
    assert_scores(found, of_edges.values(), "reference")
    states = {v: chance.random() for v in range(n)}
    of_each = torch.tensor([*states.values()], dtype=F64)
    found = torchcent.percolation(ours, states=of_each, run=REFERENCE)
    known = nx.percolation_centrality(graph, states=states, weight=weight)
    assert_scores(found, known.values(), "reference")
    known = nx.closeness_centrality(graph, distance=weight)
    assert_scores(torchcent.closeness(ours, run=REFERENCE), known.values(), "reference")
    known = nx.harmonic_centrality(graph, distance=weight)
    assert_scores(torchcent.harmonic(ours, run=REFERENCE), known.values(), "reference")


def drawn(data: Any, weighted: bool, directed: bool) -> tuple[int, Arcs, Graph]:
    """A graph full of what reductions look for, or any other; with ties by weights, too."""
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    n, arcs, weights = pieces(chance, directed, most=12)
    if chance.random() < 0.5:
        n, arcs = data.draw(arc_lists(30))
        scale = data.draw(st.sampled_from([1.0, 0.1, math.pi]))
        weights = [chance.randint(1, 6) * scale for _ in arcs]
    given = torch.tensor(weights, dtype=F64, device=DEVICE) if weighted else None
    return n, arcs, Graph.from_edge_index(edge_index(arcs), n, directed, edge_weight=given)


@pytest.mark.parametrize("cut", [False, True], ids=["all pairs", "cutoffs"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
@pytest.mark.parametrize("family", ["paths", "distances"])
@settings(max_examples=60)
@given(data=st.data())
def test_all_engines_have_its_scores(
    family: str, weighted: bool, directed: bool, cut: bool, data: Any
) -> None:
    n, arcs, graph = drawn(data, weighted, directed)
    options: dict[str, Any] = {}
    if cut:
        options["cutoff"] = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    if n and data.draw(st.booleans()):
        chosen = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
        options["sources"] = torch.tensor(data.draw(chosen))
    if family == "paths":
        options["normalized"] = data.draw(st.booleans())
    for measure in PATHS if family == "paths" else SUMS:
        of = getattr(torchcent, measure)
        known = of(graph, run=REFERENCE, **options)
        for engine in ENGINES[family, weighted]:
            if engine in WITHOUT_CUTOFF and (cut or measure == "load_centrality"):
                continue
            if engine == "hierarchy" and not has_hierarchy(graph, measure, options):
                continue
            found = of(graph, run=Run(engine=engine, dtype=F64), **options)
            assert_scores(found, known, "tensor" if family == "distances" else engine)


def has_hierarchy(graph: Graph, measure: str, options: dict[str, Any]) -> bool:
    """Sums that are rounded have none; float weights of distances come close, in fixed point."""
    return not graph.is_weighted or graph.scale.exact


def test_it_is_taken_as_asked_for(tuning: Tuning) -> None:
    tuning(tiny_nodes=-1)
    graph = torchcent.generate.ba(300, 3, seed=1)
    plan = torchcent.explain(graph, run=Run(engine="reference", reduce=["fold", "blocks"]))
    assert (plan.engine, plan.threads, plan.lanes) == ("reference", 1, 1)
    assert (plan.core_nodes, plan.merged, plan.contracted, plan.blocks) == (300, 0, 0, "")
    assert "asked for" in str(plan)
    harmonic = torchcent.explain(graph, measure="harmonic", run=Run(engine="reference"))
    assert harmonic.engine == "reference"


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_a_batch_is_searched_graph_by_graph(weighted: bool) -> None:
    one, other = torchcent.generate.ba(30, 2, seed=1), torchcent.generate.grid(5, 6)
    index, batch = torch.cat([one, other + 30], 1), torch.arange(60) // 30
    weight = 1.0 + index.sum(0) % 3 if weighted else None
    split = one.shape[1]
    plan = torchcent.explain(index, weight, batch=batch, run=Run(engine="reference"))
    assert plan.engine == "reference" and "2 by reference" in plan.graphs
    for measure in (torchcent.betweenness, torchcent.closeness, torchcent.eccentricity):
        parts = [
            measure(index[:, :split], None if weight is None else weight[:split], run=REFERENCE),
            measure(other, None if weight is None else weight[split:], run=REFERENCE),
        ]
        found = measure(index, weight, batch=batch, run=REFERENCE)
        torch.testing.assert_close(found, torch.cat(parts), rtol=0, atol=0)


@pytest.mark.parametrize("measure", ["closeness", "harmonic", "eccentricity"])
@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_some_vertices_alone(measure: str, weighted: bool) -> None:
    n, arcs = ASSORTED["sparse"]
    weight = torch.arange(len(arcs)) % 4 + 1 if weighted else None
    graph = Graph.from_edge_index(edge_index(arcs), n, edge_weight=weight)
    of, chosen = getattr(torchcent, measure), torch.tensor([5, 0, 17])
    torch.testing.assert_close(of(graph, vertices=chosen, run=REFERENCE),
                               of(graph, run=REFERENCE)[chosen], rtol=1e-14, atol=0)  # fmt: skip


def test_what_it_does_not_compute_is_refused() -> None:
    grid = torchcent.generate.grid(3, 3)
    for function in (
        torchcent.diameter, torchcent.center, torchcent.distance_distribution,
        torchcent.effective_diameter,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="does not compute|got 'reference'"):
            call(function, grid, engine="reference")
    with pytest.raises(ValueError, match="auto, bits, queue, hierarchy, tensor; got 'reference'"):
        torchcent.shortest_path_lengths(grid, run=Run(engine="reference"))
    with pytest.raises(ValueError, match="does not compute variant"):
        torchcent.betweenness_variant(grid, variant="linear", run=Run(engine="reference"))


def test_other_devices_are_refused(tuning: Tuning) -> None:
    tuning(has_kernel=lambda name, _: not name.startswith("reference"))
    for measure in (torchcent.stress, torchcent.closeness):
        with pytest.raises(ValueError, match=f"'reference' has no compiled kernels for {DEVICE}"):
            measure(torchcent.generate.grid(3, 3), run=REFERENCE)


@pytest.mark.parametrize("inline", [0, 2e7], ids=["watched", "inline"])
def test_too_many_paths_are_an_error(inline: float, tuning: Tuning) -> None:
    tuning(inline=inline)
    arcs = edge_index(diamonds(1100))
    with pytest.raises(OverflowError, match="too many"):
        torchcent.betweenness(arcs, directed=True, sources=torch.tensor([0]), run=REFERENCE)
    known = torchcent.closeness(arcs, directed=True, run=REFERENCE)
    assert_scores(torchcent.closeness(arcs, directed=True, run=Run(dtype=F64)), known, "reference")


def test_units_have_the_same_scores(tuning: Tuning) -> None:
    graph = Graph.from_edge_index(torchcent.generate.ba(400, 3, seed=2), 400)
    measures = torchcent.betweenness, torchcent.closeness
    known = [measure(graph, run=REFERENCE) for measure in measures]
    tuning(units_work={"reference": 1e4}, units_batches=1, inline=0)
    for measure, scores in zip(measures, known, strict=True):
        torch.testing.assert_close(measure(graph, run=REFERENCE), scores, rtol=1e-13, atol=0)
