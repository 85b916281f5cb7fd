"""Diameter, radius, center, periphery: against the definition, NetworkX and closed forms."""

import math

import networkx as nx
import oracles
import pytest
import scipy.sparse.csgraph
import torch
from engines import skip_if_too_large
from graphs import (
    ASSORTED,
    DEVICE,
    LEAFY,
    arc_lists,
    caterpillar,
    complete,
    cycle,
    edge_index,
    grid,
    leafy_graphs,
    lollipop,
    networkx_graph,
    path,
    random_graph,
    random_tree,
    star,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from surface import call
from tuning import original

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

NAMES = ("diameter", "radius", "center", "periphery")


def found(arcs: oracles.Arcs, n: int, engine: str, **options) -> dict[str, object]:
    graph = Graph.from_edge_index(edge_index(arcs), n, options.pop("directed"))
    return {
        name: call(getattr(torchcent, name), graph, engine=engine, **options).tolist()
        for name in NAMES
    }


def expected(n: int, arcs: oracles.Arcs, **options) -> dict[str, object]:
    values = [float(e) for e in call(oracles.eccentricity, n, arcs, **options)]
    high, low = max(values, default=0.0), min(values, default=0.0)
    return {
        "diameter": high,
        "radius": low,
        "center": [v for v in range(n) if values[v] == low],
        "periphery": [v for v in range(n) if values[v] == high],
    }


@pytest.fixture(params=["as it is", "batches", "singly"])
def eager(request, tuning):
    """Small thresholds bring small graphs to what is meant for large ones: batches, bounds."""
    if request.param != "as it is":
        tuning(
            longest_roots=2,
            longest_batch=1,
            longest_trial=1,
            longest_few=0 if request.param == "batches" else 1000,
            extremes_single=1,
            extremes_batch=2,
            bounds_single=1,
            eccentricity_fewest=2,
            eccentricity_trial=1,
        )


# --- the definition


@given(data=st.data())
@settings(max_examples=60)
def test_definition(distance_engine, eager, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    options = {
        "directed": data.draw(st.booleans(), label="directed"),
        "disconnected": data.draw(st.sampled_from(["inf", "component"]), label="disconnected"),
    }
    assert found(arcs, n, distance_engine, **options) == expected(n, arcs, **options)


@given(data=st.data())
@settings(max_examples=50)
def test_strongly_connected_graphs(distance_engine, eager, data):
    n, arcs = data.draw(arc_lists(max_nodes=12).filter(lambda graph: graph[0] > 0))
    arcs = arcs + cycle(n)
    options = {"directed": True}
    assert found(arcs, n, distance_engine, **options) == expected(n, arcs, **options)


@pytest.mark.parametrize("name", LEAFY)
@pytest.mark.parametrize("disconnected", ["inf", "component"])
def test_leafy_graphs(distance_engine, eager, name, disconnected):
    n, arcs = LEAFY[name]
    options = {"directed": False, "disconnected": disconnected}
    assert found(arcs, n, distance_engine, **options) == expected(n, arcs, **options)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(distance_engine, n, directed):
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        for disconnected in ("inf", "component"):
            options = {"directed": directed, "disconnected": disconnected}
            assert found(arcs, n, distance_engine, **options) == expected(n, arcs, **options)


# --- NetworkX and SciPy


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(distance_engine, eager, name, directed):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    actual = found(arcs, n, distance_engine, directed=directed)
    if not (nx.is_strongly_connected(graph) if directed else nx.is_connected(graph)):
        assert actual["diameter"] == math.inf
        return
    for measure in NAMES:
        reference = getattr(nx, measure)(graph)
        assert actual[measure] == (sorted(reference) if isinstance(reference, list) else reference)


GRAPHS = {
    "sparse": (1500, random_graph(1500, 4000, seed=1)),
    "dense": (1100, random_graph(1100, 30000, seed=2)),
    "grid": (1550, grid(31, 50)),
    "ladder of cycles": (1200, cycle(1200) + [(v, v + 7) for v in range(0, 1190, 11)]),
    "tree": (1300, random_tree(1300, seed=3)),
    "caterpillar": (1200, caterpillar(300, 3)),
    "lollipop": (1100, lollipop(40, 1060)),
    "two grids": union((1200, grid(30, 40)), (900, grid(3, 300)), (2, path(2)), (1, [])),
}


@pytest.mark.each
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("directed", [False, True])
def test_scipy(compiled_engine, name, directed):
    n, arcs = GRAPHS[name]
    if directed and name != "dense":  # strongly connected, with one way in and out of most places
        arcs = arcs + [(v, u) for u, v in arcs[::2]] + cycle(n)
    graph = Graph.from_edge_index(edge_index(arcs), n, directed)
    distance = scipy.sparse.csgraph.shortest_path(graph.to_scipy(), unweighted=True)
    for disconnected in ("inf", "component"):
        if disconnected == "component":
            distance[distance == math.inf] = 0
        values = distance.max(1)
        options = {"engine": compiled_engine, "disconnected": disconnected}
        assert call(torchcent.diameter, graph, **options).item() == values.max()
        assert call(torchcent.radius, graph, **options).item() == values.min()
        center = call(torchcent.center, graph, **options)
        assert center.dtype == torch.int64
        assert center.tolist() == (values == values.min()).nonzero()[0].tolist()
        periphery = call(torchcent.periphery, graph, **options)
        assert periphery.tolist() == (values == values.max()).nonzero()[0].tolist()
        actual = call(torchcent.eccentricity, graph, **options)
        assert actual.tolist() == values.tolist()


# --- closed forms


@pytest.mark.parametrize("rows, columns", [(2, 2), (3, 40), (50, 50), (51, 50)])
def test_grid(distance_engine, rows, columns):
    skip_if_too_large(distance_engine, rows * columns)
    actual = found(grid(rows, columns), rows * columns, distance_engine, directed=False)
    assert actual["diameter"] == rows + columns - 2
    assert actual["radius"] == rows // 2 + columns // 2
    corners = [0, columns - 1, (rows - 1) * columns, rows * columns - 1]
    assert actual["periphery"] == corners
    middle = len({(rows - 1) // 2, rows // 2}) * len({(columns - 1) // 2, columns // 2})
    assert len(actual["center"]) == middle


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 64, 501])
def test_vertex_transitive_graphs(distance_engine, n):
    if distance_engine == "tensor" or not has_kernel("distance_sums", DEVICE):
        n = min(n, 40)  # searches as deep as n take their time
    everything = list(range(n))
    for arcs, directed, value in (
        (cycle(n), False, n // 2),
        (cycle(n), True, n - 1),
        (complete(n), False, 1),
    ):
        actual = found(arcs, n, distance_engine, directed=directed)
        assert actual == dict(zip(NAMES, (value, value, everything, everything), strict=True))


def test_stars(distance_engine):
    actual = found(star(1000), 1001, distance_engine, directed=False)
    assert actual["diameter"] == 2 and actual["radius"] == 1
    assert actual["center"] == [0] and actual["periphery"] == list(range(1, 1001))


# --- searches


@pytest.mark.parametrize("name", ["grid", "tree", "sparse", "two grids"])
def test_few_searches(compiled_engine, tuning, name):
    """A diameter takes far fewer searches than there are vertices."""
    n, arcs = GRAPHS[name]
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    searches, search = [], original("distances_from")

    def counted(*arguments, **named):
        searches.append(arguments[2])
        return search(*arguments, **named)

    tuning(distances_from=counted)
    torchcent.diameter(graph, disconnected="component", run=torchcent.Run(engine=compiled_engine))
    assert 0 < len(searches) < 100
