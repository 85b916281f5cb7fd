"""Views and subclasses of NetworkX graphs: NetworkX's values, or declined."""

import inspect
import random
from collections import OrderedDict, UserDict

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import networkx_function
from surface import call
from test_networkx_backend import KINDS, collected, compare

import _torchcent_networkx
import torchcent
from torchcent import nx as backend

pytestmark = pytest.mark.sweep


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    nx.config.warnings_to_ignore.add("cache")


def base(kind, seed, n=13):
    """Connected, with lengths that differ by direction, and parallel edges."""
    rng = random.Random(seed)
    nodes = rng.sample([*range(6), "a", "b", ("x", 1), 2.5, "zz", -7, "q"], n)
    graph = kind()
    graph.add_nodes_from(nodes)
    pairs = [*zip(nodes, nodes[1:] + nodes[:1], strict=True)]
    pairs += [tuple(rng.sample(nodes, 2)) for _ in range(2 * n)]
    for u, v in pairs:
        graph.add_edge(u, v, length=rng.choice([1, 2, 3, 5]))
        if rng.random() < 0.4:
            graph.add_edge(v, u, length=rng.choice([1, 2, 3, 5]))
    nx.set_node_attributes(graph, {v: rng.random() for v in nodes}, "percolation")
    return graph


def _few(graph):
    return graph.subgraph(list(graph)[:4])


def _by_node(graph):
    dropped = list(graph)[2]
    return nx.subgraph_view(graph, filter_node=lambda v: v != dropped)


def _by_edge(graph):
    """A filter that does not depend on the direction."""
    return nx.subgraph_view(
        graph, filter_edge=lambda u, v, *key: hash(str(sorted(map(str, (u, v))))) % 7 != 0
    )


def _one_way(graph):
    """A filter of directions, which an undirected graph has not."""
    place = {v: k for k, v in enumerate(graph)}
    return nx.subgraph_view(
        graph, filter_edge=lambda u, v, *key: (3 * place[u] + place[v]) % 5 != 0
    )


def _of_edges(graph):
    edges = graph.edges(keys=True) if graph.is_multigraph() else graph.edges()
    return graph.edge_subgraph(list(edges)[3:])


def _restricted(graph):
    edges = graph.edges(keys=True) if graph.is_multigraph() else graph.edges()
    return nx.restricted_view(graph, [list(graph)[1]], list(edges)[-3:])


VIEWS = {
    "all": lambda graph: graph.subgraph(list(graph)),
    "most": lambda graph: graph.subgraph(list(graph)[:-2]),
    "few": _few,
    "nodes": _by_node,
    "edges": _by_edge,
    "one way": _one_way,
    "of edges": _of_edges,
    "restricted": _restricted,
    "same": lambda graph: graph.copy(as_view=True),
    "reversed": lambda graph: graph.reverse(copy=False) if graph.is_directed() else None,
    "undirected": lambda graph: graph.to_undirected(as_view=True),
    "directed": lambda graph: graph.to_directed(as_view=True),
    "part of undirected": lambda graph: _by_node(graph.to_undirected(as_view=True)),
    "undirected part": lambda graph: _of_edges(graph).to_undirected(as_view=True),
    "part of part": lambda graph: _by_edge(_by_node(graph)),
    "part of reversed": lambda graph: (
        _by_node(graph.reverse(copy=False)) if graph.is_directed() else None
    ),
    "frozen": nx.freeze,
}


class Doubled(dict):
    """Attributes whose numbers are doubled by one way to read them."""

    def get(self, key, default=None):
        return 2 * super().get(key, default)


class OfDoubled(nx.Graph):
    edge_attr_dict_factory = Doubled


class OfUserDicts(nx.DiGraph):
    adjlist_inner_dict_factory = UserDict


class OfOrdered(nx.MultiGraph):
    adjlist_outer_dict_factory = OrderedDict
    edge_attr_dict_factory = OrderedDict


class Thin(nx.Graph):
    """From NetworkX's documentation: all edges share their attributes."""

    shared = {"length": 3}  # noqa: RUF012

    def single(self):
        return self.shared

    edge_attr_dict_factory = single  # type: ignore[assignment]


class Fewer(nx.Graph):
    """Without the last neighbour of each node."""

    @property
    def adj(self):
        return {u: dict(list(row.items())[:-1]) for u, row in self._adj.items()}

    def __getitem__(self, node):
        return self.adj[node]


class Named(nx.DiGraph):
    """Another class with nothing of its own that matters."""

    def __init__(self, data=None, *, title="none", **attributes):
        super().__init__(data, **attributes)
        self.title = title

    def heavy(self):
        return [edge for edge in self.edges(data="length") if edge[2] > 2]


class Silent(nx.Graph):
    """Changes that NetworkX's cache does not see."""

    def add_edge(self, u, v, **data):
        self._adj.setdefault(u, {})[v] = self._adj.setdefault(v, {})[u] = data
        self._node.setdefault(u, {})
        self._node.setdefault(v, {})


SUBCLASSES = [OfDoubled, OfUserDicts, OfOrdered, Thin, Fewer, Named, Silent]


def calls(graph, weight):
    """Every function of the backend with arguments for this graph."""
    nodes = list(graph)
    u, v, w = nodes[0], nodes[-1], nodes[len(nodes) // 2]
    other = {
        "all_pairs_dijkstra_path_length": {"weight": weight or "nothing"},
        "all_pairs_shortest_path_length": {},
        "ancestors": {"source": u},
        "approximate_current_flow_betweenness_centrality": {"weight": weight, "seed": 1},
        "betweenness_centrality_subset": {"sources": [u, w], "targets": [v], "weight": weight},
        "current_flow_betweenness_centrality_subset": {
            "sources": [u, w], "targets": [v], "weight": weight
        },
        "descendants": {"source": u},
        "dijkstra_path_length": {"source": u, "target": v, "weight": weight or "nothing"},
        "edge_betweenness_centrality_subset": {
            "sources": [u, w], "targets": nodes, "weight": weight
        },
        "edge_betweenness_partition": {"number_of_sets": 2, "weight": weight},
        "edge_current_flow_betweenness_centrality_subset": {
            "sources": [u, w], "targets": [v], "weight": weight
        },
        "girvan_newman": {},
        "group_betweenness_centrality": {"C": [u, v], "weight": weight},
        "group_closeness_centrality": {"S": [u, v], "weight": weight},
        "incremental_closeness_centrality": None,  # NetworkX modifies the graph
        "local_reaching_centrality": {"v": u, "weight": weight},
        "resistance_distance": {"weight": weight},
        "shortest_path_length": {"weight": weight},
        "single_source_dijkstra_path_length": {"source": u, "weight": weight or "nothing"},
        "single_source_shortest_path_length": {"source": u},
        "single_target_shortest_path_length": {"target": u},
    }  # fmt: skip
    for name in _torchcent_networkx.functions():
        function = networkx_function(name)
        arguments = other.get(name, {})
        if arguments is None:
            continue
        names = () if name in other else inspect.signature(function).parameters
        arguments |= {x: weight for x in ("weight", "distance") if x in names}
        yield name, function, arguments


ROUGH = {  # those that solve systems, or are iterated
    "approximate_current_flow_betweenness_centrality", "current_flow_betweenness_centrality",
    "current_flow_betweenness_centrality_subset", "current_flow_closeness_centrality",
    "edge_current_flow_betweenness_centrality", "edge_current_flow_betweenness_centrality_subset",
    "effective_graph_resistance", "eigenvector_centrality", "hits", "katz_centrality", "pagerank",
    "resistance_distance", "subgraph_centrality",
}  # fmt: skip


def run(function, graph, arguments, name):
    try:
        found = collected(call(function, graph, backend=name, **arguments))
        return {v: set(found[v]) for v in found} if isinstance(found, nx.Graph) else found
    except (nx.NetworkXException, KeyError, ValueError, ZeroDivisionError) as error:
        return [type(error), str(error)]


def agree(name, found, expected):
    if name in ROUGH and not isinstance(expected, list):
        found, expected = (_flat(x) for x in (found, expected))
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert found[key] == pytest.approx(value, rel=2e-4, abs=2e-4)
    else:
        compare(found, expected)


def _flat(result, before=()):
    if isinstance(result, dict):
        return {
            k: x for key, value in result.items() for k, x in _flat(value, (*before, key)).items()
        }
    if isinstance(result, tuple):
        return _flat(dict(enumerate(result)), before)
    return {before: result}


def check_all(view, weight):
    """Compares every function; returns the names of those that ran."""
    ran = []
    for name, function, arguments in calls(view, weight):
        if backend.can_run(name, (view,), arguments) is not True:
            continue
        if name == "hits" and len(view) < 9:  # several leading vectors, of which NetworkX draws one
            continue
        expected = run(function, view, arguments, "networkx")
        try:
            found = run(function, view, arguments, "torchcent")
        except NotImplementedError:  # declined by the conversion
            continue
        ran.append(name)
        agree(name, found, expected)
    return ran


@pytest.mark.parametrize("weight", [None, "length"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", VIEWS)
def test_every_function_of_every_view(view, kind, weight):
    shown = VIEWS[view](base(kind, 1))
    if shown is None:
        return
    ran = check_all(shown, weight)
    one_way = view == "one way" and not shown.is_directed()
    asymmetric = weight and "undirected" in view and kind().is_directed()
    if one_way:
        assert not ran
    elif not asymmetric:
        assert "closeness_centrality" in ran and "betweenness_centrality" in ran


@pytest.mark.parametrize("weight", [None, "length"])
@pytest.mark.parametrize("kind", SUBCLASSES)
def test_every_function_of_subclasses(kind, weight):
    ran = []
    for seed in range(2):
        plain = base(nx.MultiGraph if issubclass(kind, nx.MultiGraph) else nx.DiGraph, seed)
        graph = kind()
        graph.add_nodes_from(plain.nodes(data=True))
        for u, v, data in plain.edges(data=True):
            graph.add_edge(u, v, **data)
        ran += check_all(graph, weight)
    assert bool(ran) == (kind in (OfOrdered, Thin, Named, Silent))


@pytest.mark.parametrize("view", ["same", "nodes", "all", "reversed", "directed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_view_follows_its_graph(view, kind):
    graph = base(kind, 5)
    shown = VIEWS[view](graph)
    if shown is None:
        return
    first, last = list(shown)[0], list(shown)[-1]
    for length in (1, 4, 2):
        for name in ("betweenness_centrality", "pagerank"):
            if backend.can_run(name, (shown,), {"weight": "length"}) is True:
                function = getattr(nx, name)
                found = function(shown, weight="length", backend="torchcent")
                expected = function(shown, weight="length", backend="networkx")
                agree(name, found, expected)
        if graph.has_edge(first, last):
            graph.remove_edge(first, last)
        graph.add_edge(first, last, length=length)


def test_a_filter_may_change():
    graph, hidden = base(nx.Graph, 3), set()
    shown = nx.subgraph_view(graph, filter_node=lambda v: v not in hidden)
    for node in list(graph)[:3]:
        found = nx.closeness_centrality(shown, backend="torchcent")
        compare(found, nx.closeness_centrality(shown, backend="networkx"))
        hidden.add(node)


def test_changes_that_the_cache_does_not_see():
    graph = Silent([(0, 1), (1, 2), (2, 3)])
    for edge in ((0, 3), (0, 2)):
        found = nx.closeness_centrality(graph, backend="torchcent")
        compare(found, nx.closeness_centrality(graph, backend="networkx"))
        graph.add_edge(*edge)


def test_ordinary_graphs_stay_in_the_cache():
    for graph in (nx.path_graph(4), Named([(0, 1), (1, 2)])):
        nx.betweenness_centrality(graph, backend="torchcent")
        assert graph.__networkx_cache__["backends"]["torchcent"]


def test_reasons():
    graph = nx.DiGraph([(0, 1, {"w": 1}), (1, 0, {"w": 2})])
    shown = graph.to_undirected(as_view=True)
    can_run = backend.can_run
    assert "depends on the direction" in can_run(
        "closeness_centrality", (shown,), {"distance": "w"}
    )
    assert can_run("closeness_centrality", (shown,), {}) is True
    assert "UserDict" in can_run("diameter", (OfUserDicts([(0, 1), (1, 0)]),), {})
    assert "'__getitem__' of its own" in can_run("diameter", (Fewer([(0, 1)]),), {})
    owned = nx.path_graph(3)
    owned.neighbors = lambda v: iter([])
    assert "'neighbors' of its own" in can_run("diameter", (owned,), {})
    for view in (shown, OfUserDicts([(0, 1)])):
        with pytest.raises(NotImplementedError):
            backend.convert_from_nx(view, edge_attrs={"w": 1})


def test_weights_of_states_belong_to_their_edges():
    """The order of neighbours in a copy of a graph is another one than in the graph."""
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    graph.add_weighted_edges_from([(2, 1, 5.0), (0, 1, 1.0), (0, 2, 1.5), (2, 3, 1), (1, 3, 1)])
    nx.set_node_attributes(graph, {v: v / 4 for v in graph}, "percolation")
    found, expected = (
        nx.percolation_centrality(graph, weight="weight", backend=name)
        for name in ("torchcent", "networkx")
    )
    compare(found, expected)
    converted = backend.convert_from_nx(graph, preserve_all_attrs=True)
    back = backend.convert_to_nx(converted)
    assert dict(back.nodes(data=True)) == dict(graph.nodes(data=True))
    assert nx.utils.edges_equal(back.edges(data=True), graph.edges(data=True))


# ---- Graph.from_networkx, and measures that are called with a view


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", VIEWS)
def test_measures_of_views(view, kind):
    shown = VIEWS[view](base(kind, 1))
    if shown is None:
        return
    for weight in (None, "length"):
        one_way = view == "one way" and not shown.is_directed()
        if one_way or (weight and "undirected" in view and kind().is_directed()):
            with pytest.raises(ValueError, match="pass a copy of it, networkx"):
                torchcent.Graph.from_networkx(shown, edge_weight=weight)
            continue
        graph = torchcent.Graph.from_networkx(shown, edge_weight=weight)
        expected = nx.betweenness_centrality(shown, weight=weight, backend="networkx")
        found = torchcent.betweenness(graph, run=torchcent.Run(dtype=torch.float64))
        assert np.allclose(found, list(expected.values()), rtol=1e-9)
        assert np.allclose(
            torchcent.betweenness(
                shown, edge_weight=weight, run=torchcent.Run(dtype=torch.float64)
            ),
            found,
        )


def test_measures_of_subclasses():
    with pytest.raises(ValueError, match="'__getitem__' of its own; pass a copy"):
        torchcent.Graph.from_networkx(Fewer([(0, 1)]))
    for kind in (OfUserDicts, Named, OfOrdered):
        assert torchcent.Graph.from_networkx(kind([(0, 1), (1, 2)])).num_nodes == 3
    plane = nx.PlanarEmbedding()
    plane.add_half_edge(0, 1)
    plane.add_half_edge(1, 0)
    assert torchcent.Graph.from_networkx(plane).num_slots == 2
