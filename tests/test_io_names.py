"""Names of vertices in GraphML and GML, as the programs themselves write them."""

import warnings

import networkx as nx
import pytest
from commands import refused, run
from files import rows, save

from torchcent.io import read

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:y="http://www.yworks.com/xml/graphml">'
)
NAMES = ["Ann Lee", "Bob", 'Zoë <&> "Q"', "007", " x, y\u3000z"]


def graphml(keys, nodes, edges="", directed="undirected"):
    """A file of nodes (id, content)."""
    body = "".join(f'<node id="{id}">{content}</node>' for id, content in nodes)
    return f'{HEAD}{keys}<graph edgedefault="{directed}">{body}{edges}</graph></graphml>'


def key(name, what="node", kind="string", default=None):
    inside = "" if default is None else f"<default>{default}</default>"
    return f'<key id="k{name}" for="{what}" attr.name="{name}" attr.type="{kind}">{inside}</key>'


def data(name, value):
    return f'<data key="k{name}">{value}</data>'


EDGE = '<edge source="n0" target="n1"/>'


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_igraph(tmp_path, suffix, directed):
    igraph = pytest.importorskip("igraph")
    ends, weights = [(0, 1), (1, 2), (3, 2), (4, 4), (0, 1)], [0.1, 1e-300, 3.0, 2.0**40, 1e300]
    graph = igraph.Graph(6, ends, directed=directed)
    graph.vs["name"] = [*NAMES, "alone"]
    graph.es["weight"] = weights
    path = tmp_path / f"g.{suffix}"
    getattr(graph, f"write_{suffix}")(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges = read(path)
    assert edges.labels.tolist() == graph.vs["name"]
    assert edges.directed == directed

    def named(edges):
        ends = [(u, v) if directed else tuple(sorted((u, v))) for u, v, _ in edges]
        return sorted(zip(ends, (w for *_, w in edges), strict=True))

    expected = [
        (graph.vs[u]["name"], graph.vs[v]["name"], w)
        for (u, v), w in zip(ends, weights, strict=True)
    ]
    assert named(rows(edges)) == named(expected)
    ids = read(path, labels="id").labels
    assert ids is None or ids.tolist() == [f"n{k}" for k in range(6)]


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx(tmp_path, suffix, kind):
    graph = kind()
    graph.add_nodes_from(NAMES)
    graph.add_weighted_edges_from([(NAMES[0], NAMES[1], 0.1), (NAMES[1], NAMES[3], 1e-300)])
    graph.add_edge(NAMES[3], NAMES[1], weight=2.5)
    getattr(nx, f"write_{suffix}")(graph, tmp_path / f"g.{suffix}")
    edges = read(tmp_path / f"g.{suffix}")
    assert edges.labels.tolist() == NAMES and edges.directed == graph.is_directed()
    expected = [tuple(row) for row in graph.edges(data="weight")]
    assert sorted(rows(edges)) == sorted(expected)


@pytest.mark.parametrize(
    ("program", "keys", "content"),
    [
        ("igraph", key("name"), lambda name: data("name", name)),
        ("Cytoscape", key("name") + key("shared name"),
         lambda name: data("shared name", f"s{name}") + data("name", name)),
        ("Gephi", key("label") + key("size", kind="float"),
         lambda name: data("label", name) + data("size", 10)),
        ("capitals", key("Label"), lambda name: data("Label", name)),
        ("numbers", key("name", kind="double"), lambda name: data("name", name)),
        *((f"yEd {shape}", '<key id="d6" for="node" yfiles.type="nodegraphics"/>',
           lambda name, shape=shape: f'<data key="d6"><y:{shape}><y:Geometry x="1" y="2"/>'
           f"<y:NodeLabel>{name}<y:LabelModel/></y:NodeLabel><y:NodeLabel>more</y:NodeLabel>"
           f"</y:{shape}></data>")
          for shape in ("ShapeNode", "GenericNode", "ImageNode", "UMLClassNode", "TableNode")),
    ],
)  # fmt: skip
def test_programs(tmp_path, program, keys, content):
    names = ["3", "10", "7"] if program == "numbers" else ["Ann", "Bob", "Cleo"]
    nodes = [(f"n{k}", content(name)) for k, name in enumerate(names)]
    path = save(tmp_path, "g.graphml", graphml(keys, nodes, EDGE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges = read(path)
    assert list(map(str, edges.labels)) == names
    assert rows(edges) == [tuple(edges.labels[:2].tolist())]
    assert read(path, labels="id").labels.tolist() == ["n0", "n1", "n2"]


def test_names_that_are_no_names(tmp_path):
    for names, why in {
        ("Ann", "Ann"): "two nodes have 'Ann'",
        ("Ann", ""): "1 of 2 nodes have none",
        ("Ann", None): "1 of 2 nodes have none",
    }.items():
        nodes = [
            (f"n{k}", "" if name is None else data("name", name)) for k, name in enumerate(names)
        ]
        path = save(tmp_path, "g.graphml", graphml(key("name"), nodes, EDGE))
        with pytest.warns(UserWarning, match=why):
            assert read(path).labels.tolist() == ["n0", "n1"]
        with pytest.raises(ValueError, match=why):
            read(path, labels="name")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read(path, labels="id").labels.tolist() == ["n0", "n1"]


def test_the_option(tmp_path):
    nodes = [(f"n{k}", data("name", f"a{k}") + data("town", f"b{k}")) for k in range(2)]
    path = save(tmp_path, "g.graphml", graphml(key("name") + key("town"), nodes, EDGE))
    assert read(path).labels.tolist() == ["a0", "a1"]
    assert read(path, labels="town").labels.tolist() == ["b0", "b1"]
    with pytest.raises(ValueError, match="'street' is no attribute of the nodes; accepted: id, na"):
        read(path, labels="street")
    with pytest.raises(ValueError, match="labels='name' is for GraphML and GML, not for edges"):
        read(save(tmp_path, "g.txt", "a b\n"), labels="name")
    with pytest.raises(TypeError, match="labels must be a sequence, got"):
        read(path, labels=3)  # type: ignore[arg-type]


def test_both_attributes(tmp_path):
    nodes = [(f"n{k}", data("label", f"l{k}") + data("name", f"n{k}")) for k in range(2)]
    text = graphml(key("name") + key("label"), nodes, EDGE)
    assert read(save(tmp_path, "g.graphml", text)).labels.tolist() == ["n0", "n1"]
    text = "".join(f'node [ id {k} name "n{k}" label "l{k}" ] ' for k in (5, 6))
    path = save(tmp_path, "g.gml", f"graph [ {text} edge [ source 5 target 6 ] ]")
    assert read(path).labels.tolist() == ["l5", "l6"]
    assert read(path, labels="name").labels.tolist() == ["n5", "n6"]
    assert read(path, labels="id").labels.tolist() == [5, 6]


def test_defaults_of_keys(tmp_path):
    keys = key("weight", "edge", "double", 2.5) + key("name", default="Ann") + key("x", "all")
    keys += key("kind", "edge", "string", "road") + key("empty", default="")
    nodes = [("n0", ""), ("n1", data("name", "Bob"))]
    edges = EDGE + f'<edge source="n0" target="n0">{data("weight", 7)}</edge>'
    found = read(save(tmp_path, "g.graphml", graphml(keys, nodes, edges)))
    assert rows(found) == [("Ann", "Bob", 2.5), ("Ann", "Ann", 7.0)] or rows(found) == [
        ("Ann", "Ann", 7.0), ("Ann", "Bob", 2.5)
    ]  # fmt: skip
    keys = key("weight", "all", "int", 3)
    found = read(save(tmp_path, "g.graphml", graphml(keys, nodes[:1] + [("n1", "")], EDGE)))
    assert found.edge_weight.tolist() == [3.0]


def test_gml_numbers_without_a_point(tmp_path):
    """networkx reads 1e-300 as 1."""
    nodes = 'node [ id 0 name "1e5 x" ] node [ id 1 name "b" ]'
    edges = "edge [ source 0 target 1 weight 1e-300 ] edge [ source 1 target 0 weight -2E+3 ]"
    path = save(tmp_path, "g.gml", f"graph [ {nodes} {edges} ]")
    edges = read(path)
    assert edges.edge_weight.tolist() == [1e-300, -2000.0]
    assert edges.labels.tolist() == ["1e5 x", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_gml_in_other_letters(tmp_path, encoding):
    text = 'graph [ node [ id 0 label "Zoë" ] node [ id 1 label "b &amp; c" ] ]'
    path = tmp_path / "g.gml"
    path.write_bytes(text.encode(encoding))
    assert read(path).labels.tolist() == ["Zoë", "b & c"]


def test_what_is_nested(tmp_path):
    inner = '<graph edgedefault="undirected"><node id="i0"/><node id="i1"/>' + (
        '<edge source="i0" target="i1"/></graph>'
    )
    path = save(tmp_path, "g.graphml", graphml("", [("n0", ""), ("n1", inner)], EDGE))
    with pytest.warns(UserWarning, match="2 nodes and 1 edges of nested graphs"):
        assert read(path).num_nodes == 2
    group = path.read_text().replace('<node id="n1">', '<node id="n1" yfiles.foldertype="group">')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(save(tmp_path, "h.graphml", group)).num_nodes == 4
    other = (
        path.read_text()
        .replace(inner, "")
        .replace("</graphml>", '<graph edgedefault="directed"><node id="z"/></graph></graphml>')
    )
    with pytest.warns(UserWarning, match="1 nodes and 0 edges of nested graphs, of further graphs"):
        read(save(tmp_path, "i.graphml", other))
    hyper = path.read_text().replace(inner, "").replace(EDGE, "<hyperedge/>")
    with pytest.raises(ValueError, match="hyperedge"):
        read(save(tmp_path, "j.graphml", hyper))
    ports = path.read_text().replace(inner, '<port name="a"/>')
    with pytest.warns(UserWarning, match="port"):
        assert read(save(tmp_path, "k.graphml", ports)).num_edges == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_in_any_encoding(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY a "b">]>'
    path = tmp_path / "g.graphml"
    path.write_bytes(
        (text + graphml("", [("n0", "")])[len(HEAD) - len(HEAD.split("?>")[1]) :]).encode(encoding)
    )
    with pytest.raises(ValueError, match="entities"):
        read(path)


def test_other_weights_are_told(tmp_path):
    text = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 value 3 ] ]"
    path = save(tmp_path, "g.gml", text)
    with pytest.warns(UserWarning, match="attribute 'value', but it is not taken; weight_column="):
        assert read(path).edge_weight is None
    assert read(path, weight_column="value").edge_weight.tolist() == [3.0]
    path = save(tmp_path, "h.gml", text.replace("value", "Weight"))
    assert read(path).edge_weight.tolist() == [3.0]
    path = save(tmp_path, "i.gml", text.replace("value 3", f"weight {2**53 + 1}"))
    with pytest.warns(UserWarning, match="beyond 2.53 and rounded"):
        read(path)


def test_the_command_line(tmp_path, capsys):
    nodes = [(f"n{k}", data("name", f"a {k}") + data("town", f"b{k}")) for k in range(2)]
    path = save(tmp_path, "g.graphml", graphml(key("name") + key("town"), nodes, EDGE))
    for options, names in {
        (): "a 0\ta 1", ("--labels", "id"): "n0\tn1", ("--labels", "town"): "b0\tb1"
    }.items():  # fmt: skip
        code, out, _ = run(capsys, "mcl", path, *options, "--quiet")
        assert (code, out) == (0, f"{names}\n")
    assert "is no attribute of the nodes" in refused(capsys, "info", path, "--labels", "x")
