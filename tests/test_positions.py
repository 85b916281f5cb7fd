"""Positions of vertices: read from files and attributes, written as maps."""

import gzip
import json
import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

import torchcent
from torchcent import EdgeList, read
from torchcent.io import write_scores

GR = "p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\n"
CO = """c New York
p aux sp co 3
v 1 -73530767 41085396
v 3 -73530538 41086098
v 2 -73519366 41048796
"""
PLACES = [[-73.530767, 41.085396], [-73.519366, 41.048796], [-73.530538, 41.086098]]


def saved(folder, name, text):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("names", [("r.gr", "r.co"), ("r.gr.gz", "r.co"), ("r.gr", "r.co.gz")])
def test_co_is_found_beside_gr(tmp_path, names):
    saved(tmp_path, names[1], CO)
    edges = read(saved(tmp_path, names[0], GR))
    assert not edges.directed and edges.crs == "EPSG:4326"
    assert edges.positions.tolist() == PLACES
    for system in ("EPSG:4326", "epsg:4326"):  # millionths of its degrees
        edges = read(tmp_path / names[0], crs=system)
        assert edges.positions.tolist() == PLACES and edges.crs == system
    # A given file comes first, and another system takes the numbers as they are.
    other = saved(tmp_path, "other.co", CO.replace("41085396", "0"))
    edges = read(tmp_path / names[0], coordinates=other, crs="EPSG:32618")
    assert edges.positions[0].tolist() == [-73530767, 0] and edges.crs == "EPSG:32618"


def test_co_that_does_not_fit_is_left_out(tmp_path):
    saved(tmp_path, "r.co", "p aux sp co 1\nv 9 1 2\n")
    with pytest.warns(UserWarning, match="positions are not taken: .*none of its 1 ids"):
        assert read(saved(tmp_path, "r.gr", GR)).positions is None


@pytest.mark.parametrize(
    ("text", "crs"),
    [
        ("id,x,y\n{a},1,2\n{b},3.5,-4\n{c},5,6\n", None),
        ("{a} 1 2\n{b} 3.5 -4\n{c} 5 6\n", None),
        ("# comment\nY;name;X\n-4;{b};3.5\n2;{a};1\n6;{c};5\n", None),
        ("node\tlon\tlat\textra\n{c}\t5\t6\tz\n{a}\t1\t2\t\n{b}\t3.5\t-4\t7\n", "EPSG:4326"),
        ('latitude,longitude,id\n2,1,"{a}"\n-4,3.5,{b}\n6,5,{c}\n', "EPSG:4326"),
        ("Node \tX \tY \t;\n{a}\t 1 \t \t2 \t;\n{b}  \t3.5\t-4\t ;\n{c}\t5\t6\t;\n", None),
    ],
)
@pytest.mark.parametrize("names", [("7", "8", "10"), ("Ada", "Bob", "Cleo")])
@pytest.mark.parametrize("more", ["", "99,9,9"])
def test_tables(tmp_path, text, crs, names, more):
    """In any order of rows and columns, also with ids that the graph has not."""
    if more and (names[0] == "Ada" or "id,x" not in text):
        more = ""
    if ";\n" in text and names[0] == "Ada":
        names = ("7", "8", "10")  # runs of blanks separate numbers only
    graph = saved(tmp_path, "g.csv", "source,target\n{},{}\n{},{}\n".format(*names[:2], *names[1:]))
    table = saved(tmp_path, "v.csv", text.format(**dict(zip("abc", names, strict=True))) + more)
    edges = read(graph, coordinates=table)
    assert edges.positions.dtype == torch.float64 and edges.crs == crs
    assert edges.positions.tolist() == [[1, 2], [3.5, -4], [5, 6]]
    assert read(graph, coordinates=table, crs="EPSG:3857").crs == "EPSG:3857"


@pytest.mark.parametrize("ids", [[7, 8, 10], ["7", "8", "10"]])
def test_parquet_table(tmp_path, ids):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"osmid": ids, "x": [1.0, 3.5, 5.0], "y": [2, -4, 6]})
    parquet.write_table(table, tmp_path / "v.parquet")
    graph = saved(tmp_path, "g.txt", "10 8\n8 7\n")
    edges = read(graph, coordinates=tmp_path / "v.parquet")
    assert edges.positions.tolist() == [[1, 2], [3.5, -4], [5, 6]]


def test_some_are_missing(tmp_path):
    graph = saved(tmp_path, "g.txt", "0 1\n1 2\n")
    with pytest.warns(UserWarning, match="1 of 3 vertices have no position there, such as 1"):
        edges = read(graph, coordinates=saved(tmp_path, "v.csv", "id,x,y\n0,1,2\n2,3,4\n"))
    assert edges.positions[1].isnan().all() and edges.positions[2].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("v.csv", "id,x,z\n0,1,2\n", "the columns are 'id', 'x', 'z'; accepted: an id, and x and"),
        ("v.csv", "x,y\n1,2\n", "accepted: an id"),
        ("v.csv", "id,x,y\n0,1,2\n1,1\n", "v.csv:3: '1,1' has no id, x and y in columns 1, 2, 3"),
        ("v.csv", "id,x,y\n0,1,north\n", "v.csv:2: '0,1,north' has no"),
        ("v.csv", "id,x,y\n0,1,2\n0,1,2\n", "id 0 has more than one position"),
        ("v.csv", "id,x,y\n0,1,inf\n", "position (1, inf) of 0 is not finite"),
        ("v.csv", "id,lon,lat\n0,1,91\n", "are no degrees of longitude and latitude"),
        ("v.csv", "id,x,y\n5,1,2\n", "none of its 1 ids, such as [5], is one of the graph"),
        ("v.csv", "# nothing\n", "no rows"),
        ("v.co", "p aux sp co 2\nv 0 1 2\n", "'p' says 2 vertices, the body has 1"),
        ("v.co", "p aux sp co 1\nv 0 1\n", "'v 0 1' where 'v id x y' is expected"),
        ("v.co", "v 0.5 1 2\n", "id 0.5 is not a whole number"),
        ("v.co", "w 0 1 2\n", "'w 0 1 2' where 'v id x y' is expected"),
    ],
)
def test_bad_tables(tmp_path, name, text, said):
    graph = saved(tmp_path, "g.txt", "0 1\n1 2\n")
    with pytest.raises(ValueError) as error:
        read(graph, coordinates=saved(tmp_path, name, text))
    assert said in str(error.value) and name in str(error.value)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"coordinates": 3}, TypeError, "coordinates must be a str or os.PathLike"),
        ({"coordinates": "absent.csv"}, FileNotFoundError, "absent.csv: no such file"),
        ({"crs": 4326}, TypeError, "crs must be a str or None"),
        ({"crs": "EPSG:4326"}, ValueError, "there are no coordinates"),
    ],
)
def test_bad_arguments(tmp_path, given, error, said):
    with pytest.raises(error, match=said):
        call(read, saved(tmp_path, "g.txt", "0 1\n"), **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"positions": torch.zeros(2, 2)}, "positions must be float64"),
        ({"positions": torch.zeros(2, 3).double()}, r"positions must have shape \[2, 2\]"),
        ({"positions": [[0, 0], [1, 1]]}, "positions must be a tensor or None"),
    ],
)
def test_bad_edge_list(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        EdgeList(torch.tensor([[0], [1]]), **given)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=30, unique=True), st.randoms())
@settings(max_examples=40, deadline=None)
def test_ids_find_their_positions(tmp_path_factory, ids, chance):
    folder = tmp_path_factory.mktemp("ids")
    rows = [(v, chance.uniform(-1e6, 1e6), chance.uniform(-1e6, 1e6)) for v in ids]
    known = {v: [x, y] for v, x, y in rows}
    chance.shuffle(rows)
    pairs = "".join(f"{a} {b}\n" for a, b in zip(ids, ids[1:], strict=False))
    table = "id,x,y\n" + "".join(f"{v},{x!r},{y!r}\n" for v, x, y in rows)
    edges = read(saved(folder, "g.txt", pairs), coordinates=saved(folder, "v.csv", table))
    labels = edges.vertex_labels().tolist()
    assert [known[v] for v in labels] == edges.positions.tolist()


def test_pt_keeps_them(tmp_path):
    places = torch.tensor([[1.0, 2], [3, 4], [math.nan, math.nan]], dtype=torch.float64)
    edges = EdgeList(torch.tensor([[0, 1], [1, 2]]), positions=places, crs="EPSG:4326")
    torchcent.write(tmp_path / "g.pt", edges)
    again = read(tmp_path / "g.pt")
    assert torch.equal(again.positions.nan_to_num(-1), places.nan_to_num(-1))
    assert again.crs == "EPSG:4326"
    with pytest.raises(ValueError, match="positions"):
        torch.save({"edge_index": edges.edge_index, "positions": places[:1]}, tmp_path / "b.pt")
        read(tmp_path / "b.pt")


# --- graphs of networkx and osmnx


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_attributes_of_nodes(tmp_path, suffix):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("a", "b"), ("b", "c")])
    for k, v in enumerate("abc"):
        graph.nodes[v].update({"lon": k + 0.5, "lat": 2.0 * k})
    getattr(nx, f"write_{suffix}")(graph, tmp_path / f"g.{suffix}")
    edges = read(tmp_path / f"g.{suffix}")
    assert edges.positions.tolist() == [[0.5, 0], [1.5, 2], [2.5, 4]] and edges.crs == "EPSG:4326"
    del graph.nodes["b"]["lat"]
    getattr(nx, f"write_{suffix}")(graph, tmp_path / f"g.{suffix}")
    assert read(tmp_path / f"g.{suffix}").positions.isnan().any(1).tolist() == [False, True, False]


def test_graphics_of_gml(tmp_path):
    pytest.importorskip("networkx")
    node = 'node [ id {0} label "{0}" graphics [ x {0}.5 y 2 ] ]'
    text = f"graph [ {node.format(0)} {node.format(1)} edge [ source 0 target 1 ] ]"
    assert read(saved(tmp_path, "g.gml", text)).positions.tolist() == [[0.5, 2], [1.5, 2]]


def osmnx_graph():
    """As osmnx makes them: parallel edges, a loop, ids of OpenStreetMap, lengths in metres."""
    nx = pytest.importorskip("networkx")
    graph = nx.MultiDiGraph(crs="epsg:4326", simplified=True)
    places = {53: (11.57, 48.13), 7: (11.58, 48.13), 91: (11.58, 48.14), 20: (11.57, 48.14)}
    for v, (x, y) in places.items():
        graph.add_node(v, x=x, y=y, street_count=3)
    arcs = [
        (53, 7, 740.5),
        (53, 7, 990.0),
        (7, 53, 740.5),
        (7, 91, 1112.0),
        (91, 7, 1112.0),
        (91, 20, 740.0),
        (20, 91, 740.0),
        (20, 20, 80.0),
        (91, 20, 740.0),
        (53, 20, 5000.0),
    ]
    for u, v, length in arcs:  # fmt: skip
        graph.add_edge(u, v, osmid=1, oneway=False, length=length)
    return graph


@pytest.mark.parametrize("undirected", [False, True])
def test_scores_return_to_the_graph(undirected):
    """As NetworkX's own scores of a multigraph, key by key."""
    nx = pytest.importorskip("networkx")
    roads = osmnx_graph()
    roads = roads.to_undirected() if undirected else roads
    graph = torchcent.Graph.from_networkx(roads, edge_weight="length")
    scores = torchcent.betweenness(graph, run=torchcent.Run(dtype=torch.float64))
    flow = torchcent.edge_betweenness(graph, run=torchcent.Run(dtype=torch.float64))
    torchcent.set_attributes(roads, "between", scores)
    torchcent.set_attributes(roads, "flow", flow, edges=True, edge_weight="length")
    nodes = nx.betweenness_centrality(roads, weight="length")
    edges = nx.edge_betweenness_centrality(roads, weight="length")
    assert dict(roads.nodes(data="between")) == pytest.approx(nodes)
    found = {(u, v, k): flow for u, v, k, flow in roads.edges(keys=True, data="flow")}
    assert found == pytest.approx(edges)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a", torch.zeros(3)), r"scores has shape \[3\], but the graph has 4 nodes"),
        (("a", torch.zeros(4), True), r"scores has shape \[4\], but the graph has 10 edges"),
        (("a", [0.0] * 4), "scores must be a tensor"),
        ((3, torch.zeros(4)), "name must be a str"),
    ],
)
def test_bad_attributes(given, said):
    name, scores, *edges = given
    with pytest.raises((TypeError, ValueError), match=said):
        torchcent.set_attributes(osmnx_graph(), name, scores, edges=bool(edges))
    with pytest.raises(TypeError, match="graph must be a networkx graph"):
        torchcent.set_attributes([], "a", torch.zeros(4))


def test_osmnx_files(tmp_path):
    """A file of osmnx, whose numbers are text; and its tables have the scores."""
    ox = pytest.importorskip("osmnx")
    roads = osmnx_graph()
    ox.save_graphml(roads, tmp_path / "roads.graphml")
    with pytest.warns(UserWarning, match="'length', but it is not taken; weight_column='length'"):
        assert read(tmp_path / "roads.graphml").edge_weight is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges = read(tmp_path / "roads.graphml", weight_column="length")
    assert edges.directed and edges.labels.tolist() == list(roads) and edges.crs == "epsg:4326"
    assert edges.edge_weight.tolist() == [x for *_, x in roads.edges(data="length")]
    assert edges.positions.tolist() == [[d["x"], d["y"]] for _, d in roads.nodes(data=True)]
    torchcent.set_attributes(roads, "between", torchcent.betweenness(edges.graph(edge_weight=True)))
    again = ox.load_graphml(tmp_path / "roads.graphml")
    torchcent.set_attributes(again, "between", torchcent.betweenness(edges.graph(edge_weight=True)))
    nodes, _ = ox.graph_to_gdfs(again)
    assert nodes["between"].tolist() == [x for _, x in roads.nodes(data="between")]
    with pytest.raises(
        ValueError, match="weight_column='speed'.* no such edge attribute; accepted: length"
    ):
        read(tmp_path / "roads.graphml", weight_column="speed")


# --- scores with geometry

POINTS = torch.tensor([[11.5, 48.0], [11.75, 48.25], [math.nan, math.nan]], dtype=torch.float64)
COLUMNS = {"label": ["Ada", "Bob", "Cleo"], "score": torch.tensor([0.1, math.inf, 0.25])}


def test_geojson(tmp_path):
    write_scores(tmp_path / "s.geojson", COLUMNS, {"seed": 1}, geometry=POINTS, crs="EPSG:4326")
    found = json.loads((tmp_path / "s.geojson").read_text())
    assert found["type"] == "FeatureCollection" and found["metadata"] == {"seed": 1}
    assert found["features"] == [
        {
            "type": "Feature",
            "properties": {"label": name, "score": score},
            "geometry": place and {"type": "Point", "coordinates": place},
        }
        for name, score, place in [
            ("Ada", 0.1, [11.5, 48.0]), ("Bob", None, [11.75, 48.25]), ("Cleo", 0.25, None),
        ]
    ]  # fmt: skip
    lines = torch.stack([POINTS, POINTS + 1], 1)
    write_scores(tmp_path / "s.geojson.gz", COLUMNS, geometry=lines)
    found = json.loads(gzip.decompress((tmp_path / "s.geojson.gz").read_bytes()))
    assert found["features"][0]["geometry"] == {
        "type": "LineString", "coordinates": [[11.5, 48.0], [12.5, 49.0]],
    }  # fmt: skip
    write_scores(tmp_path / "e.geojson", {"score": torch.zeros(0)}, geometry=torch.zeros(0, 2))
    assert json.loads((tmp_path / "e.geojson").read_text())["features"] == []


def test_geopandas_reads_them(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    lines = torch.stack([POINTS, POINTS + 1], 1)
    for suffix in ("geojson", "gpkg"):
        for shape, kind in ((POINTS, "Point"), (lines, "LineString")):
            path = tmp_path / f"s.{suffix}"
            write_scores(path, COLUMNS, geometry=shape, crs="EPSG:4326")
            frame = geopandas.read_file(path)
            assert frame.crs == "EPSG:4326" and frame["label"].tolist() == COLUMNS["label"]
            assert frame["score"][0] == pytest.approx(0.1) and frame.geometry[2] is None
            assert frame.geometry[0].geom_type == kind
            assert list(frame.geometry[1].coords)[0] == (11.75, 48.25)
    # Of another system, GeoPackage keeps the numbers and GeoJSON converts them.
    degrees = geopandas.GeoSeries.from_xy(*POINTS[:2].T.numpy(), crs="EPSG:4326")
    metres = degrees.to_crs("EPSG:32632")
    shape = np.array([[p.x, p.y] for p in metres])
    columns = {"score": [1.0, 2.0]}
    write_scores(tmp_path / "m.gpkg", columns, geometry=shape, crs="EPSG:32632")
    assert geopandas.read_file(tmp_path / "m.gpkg").crs == "EPSG:32632"
    write_scores(tmp_path / "m.geojson", columns, geometry=shape, crs="EPSG:32632")
    found = geopandas.read_file(tmp_path / "m.geojson").geometry[1]
    assert (found.x, found.y) == pytest.approx((11.75, 48.25), abs=1e-8)
    for suffix in ("geojson", "gpkg"):
        with pytest.raises(ValueError, match="crs='EPSG:no'"):
            write_scores(tmp_path / f"x.{suffix}", columns, geometry=shape, crs="EPSG:no")
        assert not (tmp_path / f"x.{suffix}").exists()


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (None, "needs geometry, the coordinates of each entry"),
        (torch.zeros(3, 3), r"geometry must have shape \[3, 2\] or \[3, 2, 2\], got \[3, 3\]"),
        ([["a", "b"]] * 3, "geometry must be real numbers"),
    ],
)
def test_bad_geometry(tmp_path, shape, said):
    with pytest.raises((TypeError, ValueError), match=said):
        write_scores(tmp_path / "s.geojson", COLUMNS, geometry=shape)
    assert not list(tmp_path.iterdir())


# --- the command line


@pytest.mark.slow
def test_command(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    from torchcent.cli import main

    monkeypatch.chdir(tmp_path)
    saved(tmp_path, "r.gr", GR)
    saved(tmp_path, "r.co", CO)
    assert main(["info", "r.gr"]) == 0
    shown = capsys.readouterr().out
    assert "every edge in both directions" in shown and "2, undirected" in shown
    assert "positions    x -73.530767 to -73.519366, y 41.048796 to 41.086098, EPSG:4326" in shown
    assert main(["betweenness", "r.gr", "-o", "n.geojson", "--plot", "n.png"]) == 0
    nodes = json.loads((tmp_path / "n.geojson").read_text())["features"]
    assert [x["geometry"]["coordinates"] for x in nodes] == PLACES
    assert [x["properties"]["betweenness"] for x in nodes] == [0, 1, 0]
    edges = ["edge-betweenness", "r.gr", "--weights"]
    assert main([*edges, "-o", "e.geojson", "--plot", "e.svg"]) == 0
    lines = json.loads((tmp_path / "e.geojson").read_text())["features"]
    assert [x["geometry"]["coordinates"] for x in lines] == [PLACES[:2], PLACES[1:]]
    assert (tmp_path / "n.png").stat().st_size > 5000 and (tmp_path / "e.svg").exists()
    (tmp_path / "r.co").unlink()
    capsys.readouterr()
    for output in (["--plot", "x.png"], ["-o", "x.geojson"]):
        assert main([*edges, *output]) == 2
        assert "r.gr has no coordinates; --coordinates FILE gives" in capsys.readouterr().err
    table = saved(tmp_path, "v.csv", "id,x,y\n1,0,0\n2,1,0\n3,1,1\n")
    assert main([*edges, "--plot", "x.png", "--coordinates", str(table)]) == 0
    saved(tmp_path, "r.gr", GR.replace("a 3 2 7", "a 3 2 8"))
    assert main(["info", "r.gr"]) == 0
    assert "both directions, some of them with different weights" in capsys.readouterr().out
