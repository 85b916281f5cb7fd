"""Current flow and resistances through NetworkX's backend, against NetworkX itself."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

from torchcent import nx as backend

pytestmark = pytest.mark.sweep

FLOWS = (
    "approximate_current_flow_betweenness_centrality", "current_flow_betweenness_centrality",
    "current_flow_closeness_centrality", "edge_current_flow_betweenness_centrality",
)  # fmt: skip
SUBSETS = (
    "current_flow_betweenness_centrality_subset", "edge_current_flow_betweenness_centrality_subset",
)  # fmt: skip
NAMES = ["b", "a", ("x", 1), 0, 7, 2.5, frozenset({1}), "zz", -1]
FEW = settings(max_examples=40)
WEIGHT = st.sampled_from([None, "length"])


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    nx.config.warnings_to_ignore.add("cache")


@st.composite
def networks(draw, least=3, loops=False):
    """A connected graph with any labels, in any order; some edges lack a length."""
    nodes = draw(st.permutations(NAMES))[: draw(st.integers(least, len(NAMES)))]
    graph = nx.Graph()
    graph.add_nodes_from(draw(st.permutations(nodes)))
    pairs = [(v, draw(st.sampled_from(nodes[:i]))) for i, v in enumerate(nodes) if i]
    pairs += draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=20))
    for u, v in pairs:
        if u != v or loops:
            graph.add_edge(u, v, **draw(st.sampled_from([{}, {"length": 0.5}, {"length": 3}])))
    return graph


def same(name, graph, *args, **kwargs):
    function = getattr(nx, name)
    expected = call(function, graph, *args, backend="networkx", **kwargs)
    compare(call(function, graph, *args, backend="torchcent", **kwargs), expected)


def compare(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            compare(found[key], value)
    else:
        assert type(found) is float
        assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


@FEW
@given(networks(), WEIGHT, st.booleans(), st.sampled_from(["full", "lu"]))
def test_betweenness(graph, weight, normalized, solver):
    given_as = {"normalized": normalized, "weight": weight, "solver": solver}
    same("current_flow_betweenness_centrality", graph, **given_as)
    same("edge_current_flow_betweenness_centrality", graph, **given_as)


@FEW
@given(networks(), WEIGHT, st.booleans(), st.data())
def test_subsets(graph, weight, normalized, data):
    some = st.lists(st.sampled_from(list(graph)), unique=True, min_size=1)
    sources, targets = data.draw(some), data.draw(some)
    for name in SUBSETS:
        same(name, graph, sources, set(targets), normalized=normalized, weight=weight)


@FEW
@given(networks(), WEIGHT, st.booleans(), st.integers(0, 99), st.sampled_from([0.4, 2]))
def test_pairs_of_a_seed(graph, weight, normalized, seed, epsilon):
    same(
        "approximate_current_flow_betweenness_centrality", graph, normalized, weight,
        epsilon=epsilon, seed=seed,
    )  # fmt: skip


@FEW
@given(networks(2, loops=True), WEIGHT)
def test_closeness(graph, weight):
    same("current_flow_closeness_centrality", graph, weight)
    same("information_centrality", graph, weight)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("name", ["resistance_distance", "effective_graph_resistance"])
def test_reciprocals_of_weights_that_are_missing(name, kind):
    """NetworkX raises KeyError where it inverts weights, and else takes 1."""
    graph, options = kind([(0, 1, {"w": 2.0}), (1, 2)]), {"weight": "w"}
    for given_graph in (graph, backend.convert_from_nx(graph, {"w": 1}),
                        backend.convert_from_nx(graph, preserve_edge_attrs=True)):  # fmt: skip
        reason = backend.can_run(name, (given_graph,), options)
        assert "an edge has no attribute 'w', of which NetworkX takes reciprocals" in reason
        assert backend.can_run(name, (given_graph,), options | {"invert_weight": False}) is True
        assert backend.can_run(name, (given_graph,), {}) is True
    with nx.config(backend_priority=["torchcent"]), pytest.raises(KeyError, match="w"):
        call(getattr(nx, name), graph, **options)
    same(name, graph, **options, invert_weight=False)
    nx.set_edge_attributes(graph, 4, "w")
    assert backend.can_run(name, (backend.convert_from_nx(graph, {"w": 1}),), options) is True
    same(name, graph, **options)


@FEW
@given(networks(1, loops=True), WEIGHT, st.booleans(), st.data())
def test_resistances(graph, weight, invert, data):
    # NetworkX inverts only weights that all edges have.
    nx.set_edge_attributes(
        graph, {e: 1 for e in graph.edges if "length" not in graph.edges[e]}, "length"
    )
    one, other = (data.draw(st.sampled_from(list(graph))) for _ in range(2))
    given_as = {"weight": weight, "invert_weight": invert}
    same("resistance_distance", graph, one, other, **given_as)
    same("resistance_distance", graph, one, **given_as)
    same("resistance_distance", graph, nodeB=other, **given_as)
    same("resistance_distance", graph, **given_as)
    same("effective_graph_resistance", graph, **given_as)


def test_a_graph_whose_inverse_is_expanded():
    graph = nx.relabel_nodes(nx.barbell_graph(9, 40), lambda v: f"v{v}")
    for name in FLOWS[1:]:
        same(name, graph)
    same(FLOWS[0], graph, seed=3)


@pytest.mark.parametrize("name", [*FLOWS, "resistance_distance", "effective_graph_resistance"])
def test_what_networkx_runs(name):
    def refused(graph, **kwargs):
        return backend.can_run(name, (graph,), kwargs)

    apart, double = nx.Graph([(0, 1), (2, 3), (3, 4)]), nx.MultiGraph([(0, 1), (1, 2)])
    assert refused(apart) == "the graph is not connected"
    assert refused(backend.convert_from_nx(apart)) == "the graph is not connected"
    if "betweenness" in name:
        assert "parallel edges" in refused(double, weight="w")
    if name.startswith(("approximate", "edge")):
        assert "parallel edges" in refused(double)
    else:
        assert refused(double) is True
    assert "undirected" in refused(nx.DiGraph([(0, 1), (1, 0)]))
    assert "nodes" in refused(nx.Graph())
    negative = nx.Graph([(0, 1, {"w": -1}), (1, 2, {"w": 1})])
    assert "must be finite and > 0" in refused(negative, weight="w")
    if name in FLOWS:
        assert "solver must be" in refused(nx.path_graph(4), solver="none")
        assert refused(nx.path_graph(4), dtype=complex) == "dtype must be float"
        with pytest.raises(nx.NetworkXError, match="not connected"):
            getattr(nx, name)(apart)


@pytest.mark.parametrize("name", SUBSETS)
def test_what_networkx_runs_of_subsets(name):
    def refused(graph, *ends, **kwargs):
        return backend.can_run(name, (graph, *ends), kwargs)

    path = nx.path_graph(4)
    assert refused(path, [0], {3, 1}) is True
    assert "sources must not be empty" in refused(path, [], [1])
    assert "targets names what is no node" in refused(path, [0], [9])
    assert "sources names a node more than once" in refused(path, [0, 0], [1])
    assert "targets names a node more than once" in refused(path, [0], [1, 1])
    assert "must be a collection" in refused(path, iter([0]), [1])
    assert "self-loops" in refused(nx.Graph([(0, 1), (1, 1), (1, 2)]), [0], [1])
    assert refused(nx.Graph([(0, 1), (2, 3)]), [0], [1]) == "the graph is not connected"
    assert "nodes" in refused(nx.path_graph(2), [0], [1])
    assert refused(path, [0], [1], dtype=complex) == "dtype must be float"
    # NetworkX counts repetitions, and so does a call that falls back to it.
    function = getattr(nx, name)
    once = function(path, [0], [3], backend="networkx")
    assert function(path, [0], [3, 3]) != once == pytest.approx(function(path, [0], [3]))


def test_refusals_of_one_function():
    path = nx.path_graph(4)
    loop = nx.Graph([(0, 1), (1, 1), (1, 2)])
    for name in (FLOWS[0], FLOWS[1], FLOWS[3]):
        assert "self-loops" in backend.can_run(name, (loop,), {})
    assert "kmax" in backend.can_run(FLOWS[0], (path,), {"kmax": 1, "epsilon": 0.1})
    assert "epsilon" in backend.can_run(FLOWS[0], (path,), {"epsilon": 0})
    assert backend.can_run("resistance_distance", (path, 0, 9), {}) == "nodeB is no node"
    assert backend.can_run("resistance_distance", (path, 0, 3), {}) is True
