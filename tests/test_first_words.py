"""What a newcomer types first: the message says what to type instead. And what notebooks show."""

import functools
import importlib
import inspect
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest
import torch

import torchcent
from torchcent import Graph

PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Graph(PATH), "not how a graph is made.*Graph.from_edge_index"),
        (lambda: Graph(edge_index=PATH), "Graph.from_edge_index"),
        (lambda: torchcent.betweenness(PATH, weight="w"), "no argument 'weight'; edge_weight="),
        (lambda: torchcent.betweenness(PATH, weighted=True), "edge_weight=True"),
        (lambda: torchcent.closeness(PATH, distance="km"), "edge_weight="),
        (lambda: torchcent.betweenness(PATH, k=2), "no argument 'k'; sources=k draws k"),
        (lambda: torchcent.betweenness(PATH, seed=2), "'seed'; accepted: edge_index"),
        (lambda: torchcent.betweenness_approx(PATH, seed=2), "generator=torch.Generator"),
        (lambda: torchcent.closeness(PATH, nodes=[1]), "vertices="),
        (lambda: torchcent.betweenness(PATH, threads=1), r"run=torchcent.Run\(threads=...\)"),
        (lambda: torchcent.betweenness(PATH, normalised=True), "normalized="),
        (lambda: torchcent.betweenness(PATH, endpoint=True), "'endpoint'; endpoints="),
        (lambda: torchcent.betweenness(G=PATH), "the graph is the first argument, edge_index="),
        (lambda: Graph.from_networkx(nx.path_graph(3), weight="w"),
         r"Graph.from_networkx\(\) has no argument 'weight'; edge_weight"),
        (lambda: Graph.from_scipy(None, weighted=True), "edge_weight=True"),
        (lambda: torchcent.betweenness("friends.csv"), r"torchcent.read\('friends.csv'\).graph"),
        (lambda: torchcent.betweenness(Path("a", "b.csv")), r"torchcent.read\('a.b.csv'\)"),
        (lambda: torchcent.betweenness(nx.to_numpy_array(nx.path_graph(4))), "scipy.sparse"),
    ],
)  # fmt: skip
def test_calls_of_other_libraries(call: Callable[[], object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        call()


def test_an_unknown_argument_is_both_errors() -> None:
    """Python's TypeError, and the ValueError of a name that is not known."""
    for kind in (TypeError, ValueError):
        with pytest.raises(kind):
            torchcent.pagerank(PATH, weight="w")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("betweenness_centrality", r"torchcent.betweenness\(graph\)"),
        ("closeness_centrality", r"torchcent.closeness\(graph\)"),
        ("girvan_newman", "torchcent.communities_by_betweenness"),
        ("from_networkx", "torchcent.Graph.from_networkx"),
        ("read_edgelist", r"torchcent.read\(path\)"),
        ("betweennes", "there is torchcent.betweenness"),
        ("nothing_like_it_at_all", "no attribute 'nothing_like_it_at_all'$"),
    ],
)
def test_names_of_other_libraries(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        getattr(torchcent, name)
    assert not hasattr(torchcent, name)


def test_hints_name_what_there_is() -> None:
    """Of every name that is hinted at."""
    for name in ("betweenness_centrality_subset", "edge_betweenness_centrality",
                 "degree_centrality", "markov_clustering", "subgraph", "load", "to_networkx",
                 "dijkstra_path"):  # fmt: skip
        with pytest.raises(AttributeError) as error:
            getattr(torchcent, name)
        hint = str(error.value).partition("; torchcent.")[2]
        value: object = torchcent
        for part in hint.partition("(")[0].split("."):
            value = getattr(value, part)
        assert callable(value)


def test_figures_after_import_torchcent() -> None:
    assert torchcent.plot.plot_scores is not None
    assert torchcent.cluster_plot is not None


THEMES = {
    "approx": torchcent.betweenness_approx,
    "cluster_plot": torchcent.cluster_plot.plot_clusterings,
    "clustering": torchcent.mcl,
    "communities": torchcent.leiden,
    "curvature": torchcent.forman_curvature,
    "distances": torchcent.shortest_path_lengths,
    "diffusion": torchcent.personalized_pagerank,
    "encodings": torchcent.laplacian_encoding,
    "flow": torchcent.current_flow_betweenness,
    "generate": torchcent.generate.er,
    "graph": Graph.from_edge_index,
    "groups": torchcent.group_betweenness,
    "patterns": torchcent.substructure_counts,
    "pairs": torchcent.shortest_path_pairs,
    "paths": torchcent.shortest_path,
    "plot": torchcent.plot.plot_network,
    "streets": torchcent.read_streets,
    "walks": torchcent.pagerank,
}


@pytest.mark.parametrize("name", THEMES)
def test_modules_say_what_to_call(name: str) -> None:
    """All functions that they name are there, the expected one first."""
    theme = getattr(torchcent, name)
    with pytest.raises(
        TypeError, match=rf"torchcent\.{name} is a module, not a function; "
    ) as error:
        theme(nx.path_graph(3), edge_weight="km")
    names = re.findall(r"torchcent\.([\w.]+)\(", str(error.value))
    functions = [functools.reduce(getattr, each.split("."), torchcent) for each in names]
    assert functions[0] == THEMES[name] and all(map(callable, functions))
    assert inspect.ismodule(theme) and importlib.import_module(f"torchcent.{name}") is theme


ONLY = nx.Graph()
ONLY.add_edge("a", "b", length=5.0, name="x")
ONLY.add_edge("b", "c", length=5.0)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_weights_that_no_edge_has(kind: type[nx.Graph]) -> None:
    graph = kind(ONLY)
    said = "edge_weight='lenght': the networkx graph has no such edge attribute; accepted: length"
    for call in (
        lambda: torchcent.betweenness(graph, "lenght"),
        lambda: torchcent.pagerank(graph, "lenght"),
        lambda: Graph.from_networkx(graph, edge_weight="lenght"),
        lambda: torchcent.shortest_path(graph, 0, 1, edge_weight="lenght"),
    ):
        with pytest.raises(ValueError, match=f"{said}, name"):
            call()
    assert Graph.from_networkx(graph, "length").weight.tolist().count(5) == (
        graph.number_of_edges() if graph.is_directed() else 4
    )
    graph.edges[next(iter(graph.edges))]["lenght"] = 2.0
    assert set(Graph.from_networkx(graph, "lenght").weight.tolist()) == {1, 2}  # as in networkx
    empty = kind()
    empty.add_nodes_from("abc")
    assert torchcent.betweenness(empty, "lenght").tolist() == [0, 0, 0]


def test_the_backend_takes_ones_as_networkx_does() -> None:
    ours = nx.betweenness_centrality(ONLY, weight="lenght", backend="torchcent")
    assert ours == pytest.approx(nx.betweenness_centrality(ONLY, weight="lenght"))


def test_parallel_edges_without_the_attribute() -> None:
    roads = nx.MultiGraph([("a", "b"), ("a", "b")])
    with pytest.raises(ValueError, match="edge_weight='km': .* none, because it has none"):
        torchcent.set_attributes(
            roads, "flow", torch.ones(2), edges=True, edge_weight="km"
        )  # fmt: skip


def test_data_without_the_attribute() -> None:
    data = pytest.importorskip("torch_geometric.data")
    graph = data.Data(edge_index=PATH, km=torch.ones(3), x=torch.ones(4), num_nodes=4)
    for name in ("miles", "edge_weight"):
        with pytest.raises(ValueError, match=f"edge_weight='?{name}|data has no edge_weight.* km"):
            torchcent.betweenness(graph, name)
    with pytest.raises(ValueError, match="data has no edge_weight.*: km"):
        Graph.from_data(graph, edge_weight=True)


def test_numbers_for_the_edges_of_any_graph() -> None:
    lengths = [3.0, 4.0]
    wanted = [3, 3, 4, 4]
    graph = nx.path_graph(3)
    assert Graph.from_networkx(graph, lengths).weight.tolist() == wanted
    assert Graph.from_networkx(graph, torch.tensor(lengths)).weight.tolist() == wanted
    matrix = nx.to_scipy_sparse_array(graph, format="coo")
    assert Graph.from_scipy(matrix, edge_weight=[3.0, 4.0, 3.0, 4.0]).is_weighted
    with pytest.raises(ValueError, match=r"edge_weight must have shape \[2\]"):
        Graph.from_networkx(graph, [1.0])
    with pytest.raises(TypeError, match="edge_weight"):
        Graph.from_networkx(graph, object())


# Notebooks


class Cells(HTMLParser):
    """The text of each cell, and that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag in ("td", "th", "caption"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th", "caption"):
            self.cells[-1] += data


EVIL = "<img src=x onerror=alert(1)>&\"'"


def test_a_graph_in_a_notebook() -> None:
    names = [EVIL, "b", "c", "d", "e", "f", "g"]
    graph = Graph.from_edges(list(zip(names, names[1:], strict=False)), directed=False)
    text = graph._repr_html_()
    cells = Cells(text).cells
    assert cells[0] == "Undirected graph" and "<img" not in text
    rows = dict(zip(cells[1::2], cells[2::2], strict=True))
    assert rows["vertices"] == "7" and rows["edges"] == "6" and rows["device"] == "cpu"
    assert rows["labels"] == f"{EVIL}, b, c, d, e, ..."
    arcs = torch.tensor([[0, 2], [1, 3]])
    batch = Graph.from_edge_index(
        arcs, ptr=torch.tensor([0, 2, 4]), edge_weight=torch.tensor([0.5, 2.0])
    )
    rows = Cells(batch._repr_html_()).cells
    assert rows[0] == "Directed graph" and "0.5 to 2" in rows and "graphs" in rows
    assert "weights" not in Cells(batch.to("meta")._repr_html_()).cells
    assert "labels" not in rows


def test_results_in_a_notebook() -> None:
    graph = Graph.from_edges([(EVIL, "b"), ("b", "c"), ("c", "d")], directed=False)
    found = torchcent.betweenness_approx(graph)
    cells = Cells(found._repr_html_()).cells
    assert cells[1:5] == ["vertex", "score", "lower", "upper"] and len(cells) == 5 + 4 * 4
    assert EVIL in cells and cells[5:7] == ["b", "0.6667"]
    edges = torchcent.edge_betweenness_approx(graph)
    assert "reason" in Cells(edges._repr_html_()).cells
    clusters = torchcent.mcl(graph)
    cells = Cells(clusters._repr_html_()).cells
    assert cells[1:4] == ["cluster", "size", "vertices"]
    assert any(EVIL in cell for cell in cells)
    numbers = Cells(torchcent.mcl(torch.empty(2, 0).long(), num_nodes=12)._repr_html_()).cells
    assert len(numbers) == 1 + 3 * 11 and numbers[4:7] == ["0", "1", "0"]
    for plan in (torchcent.explain(graph), torchcent.explain_mcl(graph)):
        cells = Cells(plan._repr_html_()).cells
        assert cells[0] == "Plan" and "engine" in cells and "memory" in cells
        assert str(plan).startswith("measure")
