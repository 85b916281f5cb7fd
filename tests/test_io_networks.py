"""Graphs with columns of vertices and edges: GraphML and GEXF by networkx, CX2, SIF and tables."""

import csv
import json
import math

import networkx as nx
import numpy as np
import pytest
import torch
from commands import refused, run

import torchcent
from torchcent import EdgeList, read, write
from torchcent.io import write_clusters

NAMES = ["Ada", "Bob & <Co>", "Cleo", 'Di "x"']
INDEX = torch.tensor([[0, 1, 2], [1, 2, 0]])
WEIGHT = torch.tensor([1.5, 2.0, 0.1], dtype=torch.float64)
SCORES = {"betweenness": torch.tensor([0.5, 1 / 3, math.nan, 2e-300], dtype=torch.float64)}
CLUSTERS = {"cluster": torch.tensor([3, 1, 2, 0]), "kind": ["a", "b", "c", "é"]}
OF_EDGES = {"score": [1.0, math.inf, 3.0], "count": np.array([7, 8, 9])}


def edges(directed=False, **options):
    return EdgeList(INDEX, WEIGHT, NAMES, directed=directed, **options)


def expected(at):
    """The columns of a vertex; what is not finite is left out."""
    row = {"cluster": [3, 1, 2, 0][at], "kind": "abcé"[at]}
    score = SCORES["betweenness"][at].item()
    return row | ({} if math.isnan(score) else {"betweenness": score})


def written(path, graph, **more):
    write(path, graph, vertex_columns=SCORES | CLUSTERS, edge_columns=OF_EDGES, **more)
    return path


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_networkx_reads_what_is_written(tmp_path, kind, directed):
    path = written(tmp_path / f"g.{kind}", edges(directed))
    graph = getattr(nx, f"read_{kind}")(path)
    assert list(graph) == NAMES and graph.is_directed() == directed
    name = {"graphml": "name", "gexf": "label"}[kind]
    for at, node in enumerate(NAMES):
        assert graph.nodes[node] == {name: node} | expected(at)
    facts = [{"score": 1.0, "count": 7}, {"count": 8}, {"score": 3.0, "count": 9}]
    for (u, v), weight, fact in zip(INDEX.T.tolist(), WEIGHT.tolist(), facts, strict=True):
        data = dict(graph.edges[NAMES[u], NAMES[v]])
        data.pop("id", None)
        assert data == {"weight": weight} | fact


@pytest.mark.parametrize("suffix", [".graphml", ".graphml.gz"])
def test_our_reader_reads_it_back(tmp_path, suffix):
    place = torch.tensor([[14.5, 50.25], [14.0, 50.0], [math.nan, math.nan], [0.1, -7.0]])
    graph = edges(positions=place.double(), crs="EPSG:4326")
    back = read(written(tmp_path / f"g{suffix}", graph))
    assert list(back.labels) == NAMES and back.crs == "EPSG:4326"
    assert torch.equal(back.positions.nan_to_num(9.0), place.double().nan_to_num(9.0))
    pairs = sorted(zip(*back.edge_index.sort(0).values.tolist(), back.edge_weight.tolist()))  # noqa: B905
    assert pairs == [(0, 1, 1.5), (0, 2, 0.1), (1, 2, 2.0)]


@pytest.mark.parametrize("labels", [None, [10, 20, 30, 40], ["x", "x", "y", "z"]])
def test_other_labels(tmp_path, labels):
    """Numbers are names; where two are the same, the ids are the numbers of the vertices."""
    write(tmp_path / "g.graphml", EdgeList(INDEX, None, labels, 4))
    graph = nx.read_graphml(tmp_path / "g.graphml")
    ids = ["0", "1", "2", "3"] if labels != [10, 20, 30, 40] else ["10", "20", "30", "40"]
    assert list(graph) == ids
    names = nx.get_node_attributes(graph, "name")
    assert names == ({} if labels is None else dict(zip(ids, map(str, labels), strict=True)))


def test_repeated_edges_have_ids_of_their_own(tmp_path):
    index = torch.tensor([[0, 0, 1, 2], [1, 1, 0, 2]])
    write(
        tmp_path / "g.graphml",
        EdgeList(index, None, None, 3, True),
        edge_columns={"s": [1, 2, 3, 4]},
    )
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert graph.is_multigraph() and graph.is_directed()
    assert sorted(x for *_, x in graph.edges(data="s")) == [1, 2, 3, 4]
    assert len({key for *_, key in graph.edges(keys=True)}) == 4


def test_both_directions_are_one_edge(tmp_path):
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    write(tmp_path / "g.gexf", EdgeList(index, num_nodes=3), edge_columns={"s": [1, 2, 3, 4]})
    assert sorted(x for *_, x in nx.read_gexf(tmp_path / "g.gexf").edges(data="s")) == [1, 3]


#: the specification of CX2, as far as it is used: of each aspect the keys of its elements, and
#: which of them they must have
ASPECTS = {
    "metaData": ({"name", "elementCount"}, {"name"}),
    "attributeDeclarations": ({"networkAttributes", "nodes", "edges"}, set()),
    "networkAttributes": (None, set()),
    "nodes": ({"id", "x", "y", "z", "v"}, {"id"}),
    "edges": ({"id", "s", "t", "v"}, {"id", "s", "t"}),
    "status": ({"success", "error"}, {"success"}),
}
TYPES = {"string": str, "long": int, "integer": int, "double": float, "boolean": bool}


def check_cx2(document):
    """Checks a document against the specification; returns its aspects."""
    assert document[0] == {"CXVersion": "2.0", "hasFragments": False}
    aspects = {name: items for fragment in document[1:] for name, items in fragment.items()}
    assert len(aspects) == len(document) - 1 and list(aspects)[0] == "metaData"
    assert list(aspects)[-1] == "status" and aspects["status"] == [{"success": True}]
    for name, items in aspects.items():
        keys, required = ASPECTS[name]
        for item in items:
            assert required <= set(item) and (keys is None or set(item) <= keys)
    counts = {each["name"]: each["elementCount"] for each in aspects["metaData"]}
    assert counts == {x: len(aspects[x]) for x in aspects if x not in ("metaData", "status")}
    (declared,) = aspects["attributeDeclarations"]
    for name in ("nodes", "edges", "networkAttributes"):
        for item in aspects[name]:
            for key, value in (item if name == "networkAttributes" else item["v"]).items():
                assert type(value) is TYPES[declared[name][key]["d"]]
    nodes = [node["id"] for node in aspects["nodes"]]
    assert len(set(nodes)) == len(nodes)
    assert {x for edge in aspects["edges"] for x in (edge["s"], edge["t"])} <= set(nodes)
    return aspects


@pytest.mark.parametrize("directed", [False, True])
def test_cx2(tmp_path, directed):
    place = torch.tensor([[1.0, 2.0], [3.0, -4.0], [math.nan, 0.0], [0.0, 0.0]]).double()
    path = written(tmp_path / "net.cx2", edges(directed, positions=place))
    aspects = check_cx2(json.loads(path.read_text(encoding="utf-8")))
    assert aspects["networkAttributes"] == [{"name": "net", "directed": directed}]
    assert [node["v"] for node in aspects["nodes"]] == [
        {"name": name} | expected(at) for at, name in enumerate(NAMES)
    ]
    assert [(node.get("x"), node.get("y")) for node in aspects["nodes"]] == [
        (1, -2), (3, 4), (None, None), (0, 0)
    ]  # fmt: skip
    assert [(x["s"], x["t"], x["v"]["weight"]) for x in aspects["edges"]] == [
        (0, 1, 1.5), (1, 2, 2.0), (2, 0, 0.1)
    ]  # fmt: skip
    assert [x["v"].get("score") for x in aspects["edges"]] == [1.0, None, 3.0]


@pytest.mark.parametrize("directed", [False, True])
def test_the_library_of_cx2_reads_it(tmp_path, directed):
    """The reader of NDEx finds every value, with the type that is declared for it."""
    reason = "ndex2, which reads CX2, is not installed"
    ndex2 = pytest.importorskip("ndex2.cx2", reason=reason)
    place = torch.tensor([[1.0, 2.0], [3.0, -4.0], [math.nan, 0.0], [0.0, 0.0]]).double()
    path = written(tmp_path / "net.cx2", edges(directed, positions=place))
    network = ndex2.RawCX2NetworkFactory().get_cx2network(json.loads(path.read_text()))
    assert network.get_network_attributes() == {"name": "net", "directed": directed}
    nodes, links = network.get_nodes(), network.get_edges()
    assert [node["v"] for node in nodes.values()] == [
        {"name": name} | expected(at) for at, name in enumerate(NAMES)
    ]
    places = [(node["x"], node["y"]) for node in nodes.values()]
    assert places == [(1, -2), (3, 4), (None, None), (0, 0)]
    assert [[edge["s"], edge["t"]] for edge in links.values()] == INDEX.T.tolist()
    of_edges = [edge["v"] for edge in links.values()]
    assert [x["weight"] for x in of_edges] == WEIGHT.tolist()
    assert [x.get("score") for x in of_edges] == [1.0, None, 3.0]
    declared = network.get_attribute_declarations()
    kinds = {name: each["d"] for name, each in declared["nodes"].items()}
    assert kinds == {
        "name": "string", "cluster": "long", "kind": "string", "betweenness": "double"
    }  # fmt: skip
    graph = ndex2.CX2NetworkXFactory().get_graph(network)
    assert [data["name"] for _, data in graph.nodes(data=True)] == NAMES
    again = tmp_path / "again.cx2"
    network.write_as_raw_cx2(str(again))
    check_cx2(json.loads(again.read_text()))


def test_igraph_reads_the_graphml(tmp_path):
    igraph = pytest.importorskip("igraph", reason="igraph, a second reader, is not installed")
    graph = igraph.Graph.Read_GraphML(str(written(tmp_path / "g.graphml", edges(True))))
    assert graph.is_directed() and graph.get_edgelist() == [tuple(x) for x in INDEX.T.tolist()]
    assert graph.vs["name"] == NAMES and graph.es["weight"] == WEIGHT.tolist()
    assert graph.vs["cluster"] == [3, 1, 2, 0] and graph.es["count"] == [7, 8, 9]
    scores = graph.vs["betweenness"]
    assert scores[:2] == [0.5, 1 / 3] and math.isnan(scores[2])


@pytest.mark.parametrize(
    "graph", [EdgeList(INDEX[:, :0], None, None, 0), EdgeList(INDEX[:, :0], num_nodes=2)]
)
def test_cx2_of_nothing(tmp_path, graph):
    write(tmp_path / "g.cx2", graph)
    assert len(check_cx2(json.loads((tmp_path / "g.cx2").read_text()))["nodes"]) == graph.num_nodes


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_sif_and_its_tables(tmp_path):
    path = written(tmp_path / "g.sif", edges())
    relation = "interacts with"
    pairs = [(NAMES[u], NAMES[v]) for u, v in INDEX.T.tolist()]
    lines = [f"{u}\t{relation}\t{v}" for u, v in pairs] + [NAMES[3]]
    assert path.read_text(encoding="utf-8").splitlines() == lines
    vertices = table(tmp_path / "g.nodes.csv")
    assert [row["name"] for row in vertices] == NAMES
    assert [row["betweenness"] for row in vertices] == ["0.5", str(1 / 3), "", "2e-300"]
    assert [row["kind"] for row in vertices] == ["a", "b", "c", "é"]
    of_edges = table(tmp_path / "g.edges.csv")
    assert [row["shared name"] for row in of_edges] == [f"{u} ({relation}) {v}" for u, v in pairs]
    assert [row["weight"] for row in of_edges] == ["1.5", "2.0", "0.1"]
    write(tmp_path / "plain.sif", EdgeList(INDEX))
    assert sorted(x.name for x in tmp_path.glob("plain*")) == ["plain.sif"]


# ---- the command line


def run_line(capsys, line):
    return run(capsys, *line.split())


@pytest.fixture
def friends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "source,target,score\nAda,Bob,3\nBob,Cleo,4\nCleo,Ada,1\nDi,Ed,2\n"
    (tmp_path / "g.csv").write_text(lines)
    return tmp_path


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_scores_and_clusters_as_columns(friends, capsys, kind):
    reader = getattr(nx, f"read_{kind}")
    parts = dict(zip(["Ada", "Bob", "Cleo", "Di", "Ed"], [0, 0, 0, 1, 1], strict=True))
    for command, column, wanted in (
        ("pagerank", "pagerank", nx.pagerank(GRAPH)),
        ("mcl", "cluster", parts),
        ("communities", "community", parts),
    ):
        assert run(capsys, command, "g.csv", "-o", f"out.{kind}")[0] == 0
        values = nx.get_node_attributes(reader(friends / f"out.{kind}"), column)
        assert values == pytest.approx(wanted, abs=1e-5)
    assert run(capsys, "edge-betweenness", "g.csv", "-o", f"e.{kind}")[0] == 0
    values = nx.get_edge_attributes(reader(friends / f"e.{kind}"), "edge_betweenness")
    theirs = {frozenset(x): y for x, y in nx.edge_betweenness_centrality(GRAPH).items()}
    assert {frozenset(x): y for x, y in values.items()} == pytest.approx(theirs)


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_one_file_for_gephi_and_cytoscape(friends, capsys, kind):
    """Names, weights, directions, clusters and scores together, from the command line."""
    line = f"mcl g.csv --directed --with betweenness,pagerank -o all.{kind}"
    assert run_line(capsys, line)[0] == 0
    graph = getattr(nx, f"read_{kind}")(friends / f"all.{kind}")
    theirs = nx.DiGraph()
    theirs.add_weighted_edges_from(
        [("Ada", "Bob", 3.0), ("Bob", "Cleo", 4.0), ("Cleo", "Ada", 1.0), ("Di", "Ed", 2.0)]
    )
    assert graph.is_directed()
    assert sorted(graph.edges(data="weight")) == sorted(theirs.edges(data="weight"))
    ranks = nx.pagerank(theirs, weight=None)
    assert nx.get_node_attributes(graph, "pagerank") == pytest.approx(ranks, abs=1e-5)
    assert set(nx.get_node_attributes(graph, "cluster")) == set(theirs)
    assert nx.get_node_attributes(graph, "betweenness") == pytest.approx(
        nx.betweenness_centrality(theirs)
    )


GRAPH = nx.Graph([("Ada", "Bob"), ("Bob", "Cleo"), ("Cleo", "Ada"), ("Di", "Ed")])


def test_clusters_beside_scores(friends, capsys):
    assert run_line(capsys, "mcl g.csv -o c.csv --with betweenness,degree")[0] == 0
    rows = table(friends / "c.csv")
    assert list(rows[0]) == ["label", "cluster", "betweenness", "degree"]
    wanted = nx.degree_centrality(GRAPH)
    assert {row["label"]: float(row["degree"]) for row in rows} == pytest.approx(wanted)
    assert run_line(capsys, "mcl g.csv -o c.graphml --with degree --sweep 1.4,2")[0] == 0
    node = nx.read_graphml(friends / "c.I14.graphml").nodes["Ada"]
    assert node == {"name": "Ada", "cluster": 0, "degree": pytest.approx(wanted["Ada"])}
    for wrong, said in (
        ("mcl g.csv --with degree", "--with needs -o with a table or a graph file"),
        ("mcl g.csv -o c.txt --with degree", "--with needs -o"),
        ("mcl g.csv -o c.csv --with degre", "got 'degre'"),
    ):
        assert said in refused(capsys, *wrong.split())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("mcl g.csv -o c.png", "clusters are not written as .png; accepted: .txt .mci .csv"),
        ("mcl g.csv -o c.mtx", "clusters are not written as .mtx"),
        ("mcl g.csv -o c.xgmml", "clusters are not written as .xgmml"),
        ("mcl g.csv -o c.geojson.gz", "clusters are not written as .geojson"),
        ("mcl g.csv -write-graph g.graphml", "are not written as .graphml; accepted: .mci"),
        ("communities g.csv -o c.npy", "clusters are not written as .npy"),
        ("communities g.csv --plot c.csv", "'.csv'"),
        ("convert g.csv g.gml", "graphs are not written as '.gml'; accepted: .txt"),
        ("convert g.csv g.shp", "graphs are not written as '.shp'"),
        ("convert g.csv g.foo", "graphs are not written as '.foo'"),
        ("convert g.csv g.mtx --write-tab g.csv", "not written as .csv; accepted: .txt .tsv"),
        ("convert --clusters c.txt c.graphml", "clusters are not written as .graphml"),
        ("betweenness g.csv -o s.foo", "'.foo'; accepted: .csv .tsv"),
        ("betweenness g.csv -o s.mtx", "'.mtx'; accepted: .csv .tsv"),
        ("group-degree g.csv --group Ada -o s.graphml", "'.graphml'; accepted: .csv"),
        ("prominent-group g.csv -k 1 -o s.gexf", "'.gexf'; accepted: .csv"),
        ("apsp g.csv -o d.csv", "accepted: .npy, .zarr"),
        ("closure g.csv -o d.csv", "'.csv'"),
        ("convert g.csv - --to sif", "tables beside it"),
    ],
)
def test_formats_are_what_their_suffix_says(friends, capsys, command, said):
    (friends / "c.txt").write_text("Ada\tBob\n")
    before = sorted(friends.iterdir())
    assert said in refused(capsys, *command.split())
    assert sorted(friends.iterdir()) == before


@pytest.mark.parametrize("name", ["c.txt", "c", "c.I20", "out.g.csv.I20", "c.clusters", "c.txt.gz"])
def test_lines_of_clusters(friends, capsys, name):
    assert run(capsys, "mcl", "g.csv", "-o", name)[0] == 0
    assert torchcent.io.read_clusters(name) == [["Ada", "Bob", "Cleo"], ["Di", "Ed"]]


@pytest.mark.slow
def test_a_figure_of_communities(friends, capsys):
    pytest.importorskip("matplotlib")
    code, _, err = run_line(capsys, "communities g.csv --plot c.png --json")
    assert code == 0 and "figure in c.png" in err
    assert (friends / "c.png").read_bytes().startswith(b"\x89PNG")
    assert run_line(capsys, "communities g.csv --plot c.svg --level -1")[0] == 0
    assert "5 communities" in (friends / "c.svg").read_text()


# ---- bad input


def test_columns_that_are_refused(tmp_path):
    graph = edges()
    for name, columns, said in (
        ("g.mtx", {"vertex_columns": CLUSTERS}, "mtx holds no columns .* accepted: .graphml .gexf"),
        ("g.csv", {"edge_columns": OF_EDGES}, "holds no columns"),
        (
            "g.graphml",
            {"vertex_columns": {"s": [1.0]}},
            r"vertex_columns\['s'\] has 1 values; accepted: 4",
        ),
        ("g.cx2", {"edge_columns": {"s": [1.0]}}, r"edge_columns\['s'\] has 1 values; accepted: 3"),
        ("g.graphml", {"vertex_columns": {"name": range(4)}}, "means something else in graphml"),
        ("g.gexf", {"vertex_columns": {"start": range(4)}}, "means something else in gexf"),
        ("g.cx2", {"edge_columns": {"weight": range(3)}}, "means something else in cx2"),
        ("g.graphml", {"vertex_columns": {"": range(4)}}, "means something else"),
        ("g.graphml", {"vertex_columns": {"s": ["a", "b", "c", "\x01"]}}, "cannot stand in XML"),
        ("g.gexf", {"vertex_columns": {"\x01": range(4)}}, "cannot stand in XML"),
    ):
        with pytest.raises(ValueError, match=said):
            write(tmp_path / name, graph, **columns)
    for wrong in ([1, 2], {1: [1, 2, 3, 4]}):
        with pytest.raises(TypeError, match="vertex_columns must be a mapping"):
            write(tmp_path / "g.graphml", graph, vertex_columns=wrong)
    with pytest.raises(TypeError, match="rows of an EdgeList, got a Graph"):
        write(tmp_path / "g.cx2", graph.graph(), edge_columns={"s": [1, 2, 3]})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("suffix", "label", "said"),
    [
        (".graphml", "a\0", "cannot stand in XML"),
        (".gexf", "a\rb", "cannot stand in XML"),
        (".gexf", "\ud800", "cannot stand in XML"),
        (".graphml", "", "label ''"),
        (".cx2", "\ud800", "not valid UTF-8"),
        (".sif", "a\tb", "cannot stand in this format"),
        (".sif", " ", "cannot stand in this format"),
    ],
)
def test_names_that_a_format_does_not_hold(tmp_path, suffix, label, said):
    with pytest.raises(ValueError, match=said):
        write(tmp_path / f"g{suffix}", EdgeList(INDEX, None, ["a", "b", label]))
    assert not list(tmp_path.iterdir())


def test_write_clusters_refuses_other_formats(tmp_path):
    for name in ("c.graphml", "c.csv", "c.gexf", "c.pdf"):
        with pytest.raises(ValueError, match="clusters are not written as"):
            write_clusters(tmp_path / name, [[0, 1]])
    write_clusters(tmp_path / "c.csv", [[0, 1]], format="lines")


def test_without_networkx(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(ImportError, match=r"writing .gexf needs networkx, of the extra"):
        write(tmp_path / "g.gexf", edges())
