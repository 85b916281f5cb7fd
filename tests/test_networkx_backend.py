"""The NetworkX backend: every function against NetworkX itself, in value, order, type and error."""

import math
import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

from torchcent import nx as backend

pytestmark = pytest.mark.sweep

NAMES = ["b", "a", ("x", 1), 0, 7, 2.5, frozenset({1}), "zz", -1]
FEW = settings(max_examples=40)
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@pytest.fixture(autouse=True, scope="module")
def _backend():
    nx.config.warnings_to_ignore.add("cache")
    assert "torchcent" in nx.utils.backends.backends, (
        "NetworkX does not know of torchcent: install it (make test does), or run "
        "`python setup.py egg_info` in a checkout that is imported from where it is"
    )


@st.composite
def graphs(draw, kinds=KINDS, connected=False):
    """Any kind, any labels, loops and parallel edges; a length that some edges may lack."""
    kind = draw(st.sampled_from(kinds))
    nodes = draw(st.permutations(NAMES))[: draw(st.integers(1, len(NAMES)))]
    end = st.sampled_from(nodes)
    pairs = draw(st.lists(st.tuples(end, end), max_size=24))
    if connected:
        ring = list(zip(nodes, nodes[1:] + nodes[:1], strict=True))
        pairs += ring if kind().is_directed() else ring[:-1]
    # Where ints and floats meet, sums of ints are floats here and ints there: not in these graphs.
    whole = draw(st.booleans())
    length = st.integers(1, 5) if whole else st.sampled_from([0.5, 1.0, 2.25, 0.1])
    graph = kind()
    graph.add_nodes_from(nodes)
    for u, v in pairs:
        if not whole or draw(st.booleans()):
            graph.add_edge(u, v, length=draw(length))
        else:
            graph.add_edge(u, v)
    return graph


def same(name, graph, *args, **kwargs):
    """The backend's result or error is NetworkX's, with the same types and order of keys."""
    function = getattr(nx, name, None) or getattr(nx.community, name)
    try:
        expected = collected(call(function, graph, *args, backend="networkx", **kwargs))
    except (nx.NetworkXException, KeyError, ValueError) as error:
        with pytest.raises(type(error)) as raised:
            collected(call(function, graph, *args, backend="torchcent", **kwargs))
        assert str(raised.value) == str(error)
        return
    compare(collected(call(function, graph, *args, backend="torchcent", **kwargs)), expected)


def collected(result):
    return list(result) if hasattr(result, "__next__") else result


def compare(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            compare(found[key], value)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert np.allclose(found, expected, rtol=1e-12, atol=0)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)
    else:
        assert found == expected


WEIGHT = st.sampled_from([None, "length"])


@FEW
@given(graphs(), WEIGHT, st.booleans(), st.booleans())
def test_betweenness(graph, weight, normalized, endpoints):
    same("betweenness_centrality", graph, None, normalized, weight, endpoints)
    same("edge_betweenness_centrality", graph, normalized=normalized, weight=weight)


@FEW
@given(graphs(), WEIGHT, st.booleans(), st.booleans(), st.data(), st.integers(0, 99))
def test_betweenness_from_pivots_of_a_seed(graph, weight, normalized, endpoints, data, seed):
    k = data.draw(st.integers(1, len(graph)))
    same("betweenness_centrality", graph, k, normalized, weight, endpoints, seed)
    same("edge_betweenness_centrality", graph, k, normalized, weight, seed)


def test_a_random_state_is_left_as_networkx_leaves_it():
    graph = nx.path_graph(9)
    for k in (3, 9):
        states = []
        for name in ("networkx", "torchcent"):
            rng = random.Random(5)
            nx.betweenness_centrality(graph, k=k, seed=rng, backend=name)
            nx.edge_betweenness_centrality(graph, k=k, seed=rng, backend=name)
            states.append(rng.random())
        assert states[0] == states[1]


@FEW
@given(graphs(), WEIGHT, st.booleans(), st.data())
def test_betweenness_of_subsets(graph, weight, normalized, data):
    some = st.lists(st.sampled_from(list(graph)), unique=True)
    sources, targets = data.draw(some), data.draw(some)
    same("betweenness_centrality_subset", graph, sources, [*targets, "?"], normalized, weight)
    same("edge_betweenness_centrality_subset", graph, sources, list(graph), normalized, weight)


def test_subset_of_an_unknown_source_is_a_key_error():
    same("betweenness_centrality_subset", nx.path_graph(3), [9], [0])


@FEW
@given(graphs(), WEIGHT, st.booleans(), st.data())
def test_closeness(graph, distance, wf_improved, data):
    same("closeness_centrality", graph, None, distance, wf_improved)
    node = data.draw(st.sampled_from([*graph, "?"]))
    same("closeness_centrality", graph, node, distance, wf_improved)


@FEW
@given(graphs(), WEIGHT, st.data())
def test_harmonic(graph, distance, data):
    nodes = st.sampled_from([*graph, "?"])
    bunch = st.one_of(st.none(), nodes.filter(lambda x: not isinstance(x, tuple)), st.lists(nodes))
    same("harmonic_centrality", graph, data.draw(bunch), distance, data.draw(bunch))


@FEW
@given(st.one_of(graphs(), graphs(connected=True)), WEIGHT, st.data())
def test_eccentricity(graph, weight, data):
    same("eccentricity", graph, weight=weight)
    nodes = st.sampled_from(list(graph))
    same("eccentricity", graph, data.draw(st.one_of(nodes, st.lists(nodes))), weight=weight)


@pytest.mark.parametrize("name", ["diameter", "radius", "center", "periphery"])
@FEW
@given(st.one_of(graphs(), graphs(connected=True)), st.booleans(), WEIGHT)
def test_extremes(name, graph, usebounds, weight):
    if weight is not None:
        usebounds = False  # NetworkX's bounds hold for whole numbers only
    same(name, graph, usebounds=usebounds, weight=weight)


@pytest.mark.parametrize("method", [None, "unweighted", "dijkstra", "bellman-ford"])
@FEW
@given(st.one_of(graphs(), graphs(connected=True)), WEIGHT)
def test_average_shortest_path_length(method, graph, weight):
    same("average_shortest_path_length", graph, weight, method)


CUTOFF = st.sampled_from([None, -1, 0, 1, 1.5, 2, math.inf])


@FEW
@given(graphs(), CUTOFF, st.data())
def test_hops(graph, cutoff, data):
    node = data.draw(st.sampled_from([*graph, "?"]))
    same("single_source_shortest_path_length", graph, node, cutoff)
    same("single_target_shortest_path_length", graph, node, cutoff)
    same("all_pairs_shortest_path_length", graph, cutoff)


@FEW
@given(graphs(), CUTOFF, st.sampled_from(["length", "weight", None]), st.data())
def test_dijkstra_lengths(graph, cutoff, weight, data):
    node, target = (data.draw(st.sampled_from([*graph, "?"])) for _ in range(2))
    same("single_source_dijkstra_path_length", graph, node, cutoff, weight)
    same("all_pairs_dijkstra_path_length", graph, cutoff, weight)
    same("dijkstra_path_length", graph, node, target, weight)


@FEW
@given(graphs(), st.sampled_from([True, False, None]))
def test_transitive_closure(graph, reflexive):
    found = nx.transitive_closure(graph, reflexive, backend="torchcent")
    expected = nx.transitive_closure(graph, reflexive)
    assert type(found) is type(expected)
    assert found.nodes(data=True) == expected.nodes(data=True)
    assert found._adj == expected._adj


@FEW
@given(graphs(), WEIGHT)
def test_there_and_back(graph, weight):
    attributes = None if weight is None else {weight: 1}
    made = backend.convert_from_nx(graph, edge_attrs=attributes)
    back = backend.convert_to_nx(made)
    assert type(back) is type(graph)
    assert list(back) == list(graph) == list(made)
    assert list(back.edges) == list(graph.edges) == list(made.edges())
    if weight is not None:
        lengths = [value for *_, value in graph.edges(data=weight, default=1)]
        assert [value for *_, value in back.edges(data=weight)] == lengths
    everything = backend.convert_to_nx(backend.convert_from_nx(graph, preserve_all_attrs=True))
    assert list(everything.edges(data=True)) == list(graph.edges(data=True))


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_larger_graphs_keep_float64(seed):
    """Hundreds of paths between two vertices: float32 counts would show in the eighth digit."""
    graph = nx.gnm_random_graph(60, 400, seed=seed)
    same("betweenness_centrality", graph)
    same("edge_betweenness_centrality", graph)


def test_subgraph_views():
    graph = nx.les_miserables_graph()
    view = graph.subgraph(list(graph)[3:40])
    same("betweenness_centrality", view, weight="weight")
    same("closeness_centrality", nx.reverse_view(nx.DiGraph(graph)), distance="weight")


@pytest.mark.parametrize("cutoff", [2**31, 2**63, 10**400, 1e300, math.inf, -math.inf, -1, 0, 1.5])
def test_cutoffs_of_any_size(cutoff):
    """Rows of hops are int32, which a cutoff may exceed."""
    graph = nx.path_graph(4)
    same("single_source_shortest_path_length", graph, 0, cutoff)
    same("all_pairs_dijkstra_path_length", graph, cutoff, None)
    same("single_source_dijkstra_path_length", graph, 1, cutoff, None)
