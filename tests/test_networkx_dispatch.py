"""How NetworkX finds the backend, what it asks of it, and what it keeps of it."""

import subprocess
import sys

import networkx as nx
import pytest
import torch
from graphs import networkx_function
from tuning import original

import _torchcent_networkx
import torchcent
from torchcent import nx as backend

BARYCENTER = _torchcent_networkx.present_name("barycenter")
REFUSED = {
    "finite and > 0, and one is 0": ("betweenness_centrality", {"weight": "zero"}),
    "finite and > 0, and one is -1": ("closeness_centrality", {"distance": "negative"}),
    "finite and > 0, and one is nan": ("diameter", {"weight": "nan"}),
    "must be ints or floats": ("eccentricity", {"weight": "text"}),
    "beyond 2^53": ("average_shortest_path_length", {"weight": "huge"}),
    "not a function": ("betweenness_centrality", {"weight": lambda u, v, data: 1}),
    "sp is given": ("eccentricity", {"sp": {}}),
    "e is given": ("radius", {"e": {}}),
    "got 0": ("betweenness_centrality", {"k": 0}),
    "got 9": ("edge_betweenness_centrality", {"k": 9}),
    "NetworkX's own": ("average_shortest_path_length", {"method": "floyd-warshall"}),
    "evenly over its predecessors": (
        "edge_betweenness_centrality_subset", {"sources": [0], "targets": [2]}
    ),
    "more than once": ("betweenness_centrality_subset", {"sources": [0, 0], "targets": [2]}),
    "must be a collection": (
        "betweenness_centrality_subset", {"sources": iter([0]), "targets": [2]}
    ),
    "holds what is no node": (
        "betweenness_centrality_subset", {"sources": [0], "targets": torch.tensor(2)}
    ),
    "order of the nodes": ("shortest_path_length", {"weight": "w", "method": "bellman-ford"}),
    "may be a tree": (BARYCENTER, {}),
    "writes it to the nodes": (BARYCENTER, {"weight": "w", "attr": "farness"}),
    "paths is given": ("local_reaching_centrality", {"v": 0, "paths": {}}),
    "which of several equal paths": ("global_reaching_centrality", {"weight": "w"}),
    "with a NetworkX graph": ("girvan_newman", {"most_valuable_edge": max}),
    "rounding of NetworkX's sums": (
        "edge_betweenness_partition", {"number_of_sets": 2, "weight": "w"}
    ),
    "leaves the graph changed": ("incremental_closeness_centrality", {"edge": (0, 2)}),
    "every node once": ("floyd_warshall_numpy", {"nodelist": [0, 1, 1]}),
    "reflexive must be": ("transitive_closure", {"reflexive": 1}),
    "cutoff must be": ("all_pairs_shortest_path_length", {"cutoff": "far"}),
    "unexpected keyword": ("diameter", {"speed": 1}),
}  # fmt: skip


@pytest.fixture
def path():
    graph = nx.path_graph(3)
    for name, value in {
        "zero": 0, "negative": -1, "nan": float("nan"), "text": "long", "huge": 2**53 + 1
    }.items():  # fmt: skip
        nx.set_edge_attributes(graph, {(0, 1): value}, name)
    return graph


@pytest.mark.parametrize(
    ("name", "graph", "arguments", "why"),
    [
        ("girvan_newman", nx.MultiGraph([(0, 1), (0, 1)]), {}, "one by one"),
        ("girvan_newman", nx.empty_graph(3, nx.DiGraph), {}, "is directed"),
        ("edge_betweenness_partition", nx.DiGraph([(0, 1)]), {"number_of_sets": 2}, "is directed"),
        ("schultz_index", nx.path_graph(["weight", "a"]), {}, "takes for an argument"),
    ],
)
def test_can_run_says_why_not_of_some_graphs(name, graph, arguments, why):
    assert why in backend.can_run(name, (graph,), arguments)


@pytest.fixture
def preferred():
    """Programs that do not name the backend, on graphs of any size."""
    before = nx.config.backend_priority.algos
    nx.config.warnings_to_ignore.add("cache")
    nx.config.backend_priority.algos = ["torchcent"]
    yield
    nx.config.backend_priority.algos = before


@pytest.fixture
def converted(monkeypatch):
    """Counts conversions."""
    made = []
    convert = backend.convert_from_nx

    def counted(*args, **kwargs):
        made.append(convert(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(backend, "convert_from_nx", counted)
    return made


def test_networkx_does_not_import_torch():
    code = (
        "import sys, networkx\n"
        "assert 'torchcent' in networkx.config.backends\n"
        "assert networkx.betweenness_centrality.backends == {'networkx', 'torchcent'}\n"
        "print([name for name in ('torch', 'torchcent', 'numpy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_what_is_announced_is_there():
    functions = _torchcent_networkx.get_info()["functions"]
    known = {"BackendGraph", "can_run", "should_run", "convert_from_nx", "convert_to_nx"}
    assert set(functions) == set(backend.__all__) - known == set(backend.FUNCTIONS)
    for name in functions:
        assert "torchcent" in networkx_function(name).__doc__


@pytest.mark.parametrize("why", REFUSED)
def test_can_run_says_why_not(path, why):
    name, arguments = REFUSED[why]
    assert why in backend.can_run(name, (path,), arguments)
    if why != "unexpected keyword":
        with pytest.raises(NotImplementedError, match=name):
            networkx_function(name)(path, **arguments, backend="torchcent")


def test_can_run_of_positional_arguments(path):
    assert backend.can_run("betweenness_centrality", (path, 2, False, None, True, 5), {}) is True
    assert "k must be" in backend.can_run("betweenness_centrality", (path, 4), {})


def test_a_graph_without_nodes():
    empty = nx.Graph()
    assert nx.betweenness_centrality(empty, backend="torchcent") == {}
    assert nx.closeness_centrality(empty, backend="torchcent") == {}
    assert list(nx.all_pairs_shortest_path_length(empty, backend="torchcent")) == []
    assert backend.can_run("diameter", (empty,), {}) == "the graph has no nodes"


def test_should_run(preferred):
    small, large = nx.path_graph(9), nx.path_graph(300)
    assert "small" in backend.should_run("betweenness_centrality", (small,), {})
    assert backend.should_run("betweenness_centrality", (large,), {}) is True
    single = ("single_source_shortest_path_length", (large, 0), {})
    assert "one search" in backend.should_run(*single)
    assert "one search" in backend.should_run("closeness_centrality", (large, 3), {})
    nx.closeness_centrality(large)
    assert backend.should_run(*single) is True
    assert backend.should_run("shortest_path_length", (large, 0), {}) is True
    assert "both ends" in backend.should_run("shortest_path_length", (large, 0, 5), {})
    assert backend.should_run("girvan_newman", (small,), {}) is True
    assert "small" in backend.should_run("floyd_warshall_numpy", (large,), {})


def test_weights_that_networkx_takes_are_left_to_it(preferred):
    graph = nx.path_graph(200)
    nx.set_edge_attributes(graph, 0, "zero")
    assert nx.eccentricity(graph, weight="zero") == dict.fromkeys(graph, 0)


def test_weights_that_vanish_beside_others_are_left_to_networkx(preferred):
    graph = nx.path_graph(200)
    nx.set_edge_attributes(graph, 1.0, "weight")
    graph[0][1]["weight"] = 1e-30
    expected = nx.betweenness_centrality(graph, weight="weight", backend="networkx")
    assert nx.betweenness_centrality(graph, weight="weight") == pytest.approx(expected)


def test_a_graph_is_converted_once(preferred, converted):
    graph = nx.gnm_random_graph(200, 600, seed=1)
    for _ in range(2):
        nx.betweenness_centrality(graph)
        nx.closeness_centrality(graph)
        nx.single_source_shortest_path_length(graph, 0)
    assert len(converted) == 1
    nx.closeness_centrality(graph, distance="weight")
    nx.betweenness_centrality(graph)  # served by the one with weights
    assert len(converted) == 2


@pytest.mark.sweep
@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.add_edge(0, 199),
        lambda graph: graph.remove_edge(0, 1),
        lambda graph: graph.add_node("new"),
        lambda graph: graph.remove_node(5),
        lambda graph: graph.add_edge(3, 4, weight=7),
        lambda graph: nx.set_edge_attributes(graph, 7, "weight"),
        lambda graph: graph.clear_edges(),
    ],
)
def test_a_changed_graph_is_converted_again(preferred, converted, change):
    graph = nx.path_graph(200)
    for number in (1, 2):
        found = nx.edge_betweenness_centrality(graph, weight="weight")
        expected = nx.edge_betweenness_centrality(graph, weight="weight", backend="networkx")
        assert list(found) == list(expected)
        assert found == pytest.approx(expected)
        assert len(converted) == number
        if number == 1:
            change(graph)
            graph.add_edges_from((i, i + 2) for i in range(150))  # large enough in any case


@pytest.mark.slow
def test_girvan_newman(preferred, converted):
    graph = nx.planted_partition_graph(4, 25, 0.4, 0.02, seed=2)
    found = next(nx.community.girvan_newman(graph))
    assert len(converted) == 1
    nx.config.backend_priority.algos = []
    assert next(nx.community.girvan_newman(graph)) == found
    assert len(converted) == 1


def test_girvan_newman_by_another_measure(preferred, converted):
    """NetworkX's loop: a graph that changes is converted in each step."""
    graph = nx.planted_partition_graph(4, 25, 0.4, 0.02, seed=2)

    def heaviest(graph):
        score = nx.edge_betweenness_centrality(graph, weight="weight")
        return max(score, key=score.get)

    assert len(next(nx.community.girvan_newman(graph, most_valuable_edge=heaviest))) == 2
    assert len(converted) > 1


@pytest.mark.slow
def test_the_warning_of_the_cache_appears_once_at_most():
    code = (
        "import sys, warnings, networkx as nx\n"
        "for ignored in ({'cache'}, set()):\n"
        "    nx.config.warnings_to_ignore = ignored\n"
        "    print('ignored' if ignored else 'shown', file=sys.stderr)\n"
        "    for graph in nx.path_graph(300), nx.cycle_graph(300):\n"
        "        for name in ('diameter', 'radius', 'center', 'wiener_index'):\n"
        "            getattr(nx, name)(graph, backend='torchcent')\n"
        "warnings.warn('another warning')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    ignored, shown = run.stderr.split("shown\n")
    assert ignored == "ignored\n"
    assert shown.count("saved to cache") == 1
    assert "another warning" in shown


def test_converted_by_hand(preferred):
    graph = nx.les_miserables_graph()
    made = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    found = nx.betweenness_centrality(made, weight="weight")
    assert found == pytest.approx(
        nx.betweenness_centrality(graph, weight="weight", backend="networkx")
    )
    with nx.config(fallback_to_nx=True):
        assert nx.degree_centrality(made) == nx.degree_centrality(graph)  # torchcent has none
    with pytest.raises(NotImplementedError):
        backend.closeness_centrality(made, distance="time")


def test_configuration(tuning):
    config = nx.config.backends.torchcent
    threads, engines = [], []
    measure = original("networkx_betweenness")

    def seen(graph, **options):
        threads.append(torch.get_num_threads())
        engines.append(torchcent.explain(graph).engine)
        return measure(graph, **options)

    tuning(networkx_betweenness=seen)
    graph, before = nx.path_graph(9), torch.get_num_threads()
    with config(threads=before + 1, engine="tensor"):
        nx.betweenness_centrality(graph, backend="torchcent")
    with config(engine="tiny"):  # has no rows of distances
        lengths = dict(nx.all_pairs_dijkstra_path_length(graph, backend="torchcent"))
    assert lengths == dict(nx.all_pairs_dijkstra_path_length(graph))
    with config(engine="bits"):  # counts no paths
        nx.betweenness_centrality(graph, backend="torchcent")
    automatic = torchcent.explain(torchcent.Graph.from_networkx(graph)).engine
    assert (threads, engines) == ([before + 1, before], ["tensor", automatic])
    assert torch.get_num_threads() == before
    for name, value in {"engine": "fast", "threads": 0}.items():
        with pytest.raises(ValueError, match=name):
            setattr(config, name, value)
    for name, value in {"device": 0, "threads": 1.5}.items():
        with pytest.raises(TypeError, match=name):
            setattr(config, name, value)


def test_counts_are_float64_only_inside():
    """Half of 3^17 paths: float32 would keep 24 bits of them."""
    graph = nx.Graph()
    for i in range(17):
        for middle in ("a", "b", "c"):
            nx.add_path(graph, [i, (i, middle), i + 1])
    nx.add_path(graph, [0, *[("way", i) for i in range(33)], 17])
    found = nx.betweenness_centrality(graph, backend="torchcent")
    assert found == pytest.approx(nx.betweenness_centrality(graph), rel=1e-13)
