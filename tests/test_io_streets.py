"""Streets: lines of files and GeoDataFrames as edges, with lengths, directions and scores."""

import json
import math
import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from commands import refused, run

import torchcent
from torchcent import read, read_streets, street_table

geopandas = pytest.importorskip("geopandas")
pytest.importorskip("pyogrio")
shapely = pytest.importorskip("shapely")

UTM = 32633
SQUARE = [
    [(0, 0), (30, 40)],
    [(30, 40), (30, 50), (0, 50)],
    [(0, 50), (0, 0)],
    [(0, 0), (-30, 0), (0, 0.5), (0, 0)],  # a loop
    [(0, 0), (10, 40), (30, 40)],  # longer than the first, between the same places
]


def frame(lines=SQUARE, crs=UTM, **columns):
    shapes = [x if x is None or hasattr(x, "geom_type") else shapely.LineString(x) for x in lines]
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs=crs)


def told(*arguments, **options):
    """What is read, and the warnings."""
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        edges = read_streets(*arguments, **options)
    return edges, [str(each.message) for each in remarks]


def silent(*arguments, **options):
    edges, remarks = told(*arguments, **options)
    assert not remarks, remarks
    return edges


def arcs(edges):
    return [tuple(x) for x in edges.edge_index.T.tolist()]


@pytest.mark.parametrize("source", ["frame", "file"])
@pytest.mark.parametrize("reader", [read, read_streets])
def test_warnings_are_of_the_line_that_reads(tmp_path, source, reader):
    """Those of lengths, of rows that are left out and of directions."""
    table = frame([*SQUARE, None], crs=3857, oneway=["yes", *["no"] * 5])
    if source == "file":
        table.to_file(tmp_path / "s.gpkg")
        table = tmp_path / "s.gpkg"
    with pytest.warns(UserWarning) as found:
        reader(table)
    assert [each.filename for each in found] == [__file__] * 3


def test_warnings_of_words_are_of_the_line_that_reads():
    with pytest.warns(UserWarning, match="streets with 'way' of 'x'") as found:
        read_streets(frame(way=["x", "yes", "yes", "yes", "yes"]), oneway="way")
    assert [each.filename for each in found] == [__file__]


# ---- vertices and lengths


def test_ends_are_vertices_and_lengths_weights():
    edges = silent(frame())
    assert arcs(edges) == [(0, 1), (1, 2), (2, 0), (0, 0), (0, 1)]
    assert edges.positions.tolist() == [[0, 0], [30, 40], [0, 50]]
    assert (edges.crs, edges.directed, edges.labels) == ("EPSG:32633", False, None)
    loop = 30 + math.hypot(30, 0.5) + 0.5
    long = math.hypot(10, 40) + 20
    assert edges.edge_weight.tolist() == pytest.approx([50, 40, 50, loop, long])
    assert edges.streets.rows.tolist() == list(range(5))
    assert "streets" not in repr(read_streets(frame()).graph())


@pytest.mark.parametrize("suffix", [".gpkg", ".shp", ".geojson", ".gpkg.gz", ".geojson.xz"])
def test_files(tmp_path, suffix):
    """All kinds of files give the same edges; GeoJSON in degrees."""
    path = tmp_path / f"streets{suffix}"
    kind, _, packed = suffix[1:].partition(".")
    plain = tmp_path / f"streets.{kind}"
    table = frame(width=[1.5, 2, 3, 4, 5])
    if kind == "geojson":
        table = table.to_crs(4326)
    table.to_file(plain)
    if packed:
        import gzip
        import lzma

        pack = {"gz": gzip.compress, "xz": lzma.compress}[packed]
        path.write_bytes(pack(plain.read_bytes()))
    edges = read(path)
    assert arcs(edges) == arcs(silent(frame())) and edges.edge_weight is not None
    # The middle of the zone, where its scale is 0.9996, is far from x = 0.
    assert edges.edge_weight[0] == pytest.approx(50, rel=1e-6 if kind != "geojson" else 0.01)
    assert edges.streets.lines["width"].tolist() == [1.5, 2, 3, 4, 5]
    assert read(path, weight_column="width").edge_weight.tolist() == [1.5, 2, 3, 4, 5]
    assert read(path, directed=True).directed


def test_geojson_without_a_name(tmp_path):
    path = tmp_path / "s.geojson"
    line = '{"type": "LineString", "coordinates": [[0, 0], [0, 1]]}'
    feature = f'{{"type": "Feature", "properties": {{}}, "geometry": {line}}}'
    path.write_text(f'{{"type": "FeatureCollection", "features": [{feature}]}}')
    assert arcs(silent(path)) == arcs(silent(path, layer=None)) == [(0, 1)]
    path.write_text('{"type": "FeatureCollection", "features": []}')
    assert (silent(path).num_nodes, silent(path).num_edges) == (0, 0)
    with pytest.raises(ValueError, match="layer='x' is not there"):
        read_streets(path, layer="x")


def test_the_frame_itself():
    edges = read(frame(length=[1, 2, 3, 4, 5]), weight_column="length")
    assert edges.edge_weight.tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="skip=1 is for edge lists"):
        read(frame(), skip=1)


def test_degrees_are_lengths_on_the_ellipsoid():
    """A degree of the meridian at the equator is 110,574.4 m, one of the equator 111,319.5 m."""
    edges = silent(frame([[(0, 0), (0, 1)], [(0, 1), (0, 0)], [(0, 0), (0.5, 0), (1, 0)]], 4326))
    assert edges.edge_weight.tolist() == pytest.approx([110574.389, 110574.389, 111319.491])


def test_remarks_about_lengths():
    _, (said,) = told(frame(crs=None))
    assert "no coordinate system" in said
    edges, (said,) = told(frame(crs=3857))
    assert "Web Mercator" in said and edges.edge_weight[0] == 50
    assert silent(frame(crs=None), crs="EPSG:32633").crs == "EPSG:32633"
    with pytest.raises(ValueError, match="crs='EPSG:3035'"):
        read_streets(frame(), crs="EPSG:3035")
    with pytest.raises(ValueError, match="crs='nonsense'"):
        read_streets(frame(crs=None), crs="nonsense")


def test_the_third_coordinate_does_not_count():
    flat = silent(frame())
    high = [[(*point, 7.0 * at) for at, point in enumerate(line)] for line in SQUARE]
    edges = silent(frame(high))
    assert arcs(edges) == arcs(flat) and torch.equal(edges.edge_weight, flat.edge_weight)
    assert edges.streets.lines.geometry.has_z.all()


def test_minus_zero_is_zero():
    assert arcs(silent(frame([[(0.0, 0.0), (1, 1)], [(-0.0, -0.0), (2, 2)]]))) == [(0, 1), (0, 2)]


def test_several_parts():
    joined = shapely.MultiLineString([[(0, 0), (1, 0)], [(1, 0), (2, 0)]])
    apart = shapely.MultiLineString([[(0, 0), (1, 0)], [(2, 0), (1, 0)]])
    alone = shapely.MultiLineString([[(5, 0), (2, 0)]])
    edges = silent(frame([joined, apart, alone], name=["a", "b", "c"]))
    assert arcs(edges) == [(0, 1), (0, 2), (1, 2), (3, 1)]
    assert list(edges.streets.lines["name"]) == ["a", "b", "b", "c"]


def test_what_has_no_length_is_left_out():
    lines = [
        None,
        shapely.LineString(),
        [(1, 1), (1, 1)],
        [(0, 0), (3, 4)],
        shapely.MultiLineString(),
    ]
    edges, (said,) = told(frame(lines, name=list("abcde")))
    assert "3 rows without a geometry and 1 lines without length" in said
    assert arcs(edges) == [(0, 1)] and edges.streets.rows.tolist() == [3]
    table = street_table(edges, {"score": [7.0]})
    assert list(table["name"]) == list("abcde")
    assert table["score"].isna().tolist() == [True, True, True, False, True]
    edges, _ = told(frame([None]))
    assert (edges.num_nodes, edges.num_edges) == (0, 0)


def test_tolerance():
    lines = [[(0, 0), (10, 0)], [(10.5, 0), (20, 0)], [(20, 0.9), (30, 0)], [(0, 0.1), (0, 9)]]
    assert silent(frame(lines)).num_nodes == 8
    edges = silent(frame(lines), tolerance=0.6)
    assert arcs(edges) == [(0, 1), (1, 2), (3, 4), (0, 5)]
    assert edges.positions[1].tolist() == [10, 0]  # that of the first
    assert arcs(silent(frame(lines), tolerance=0.9)) == [(0, 1), (1, 2), (2, 3), (0, 4)]
    for wrong in (-1, math.inf, math.nan):
        with pytest.raises(ValueError, match="tolerance="):
            read_streets(frame(), tolerance=wrong)
    with pytest.raises(TypeError, match="tolerance"):
        read_streets(frame(), tolerance="1")


# ---- directions


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["yes", "no", "-1"], [(0, 1), (1, 2), (2, 1), (0, 2)]),
        ([True, False, None], [(0, 1), (1, 2), (2, 1), (2, 0), (0, 2)]),
        ([1, 0, -1], [(0, 1), (1, 2), (2, 1), (0, 2)]),
        ([1.0, math.nan, -1.0], [(0, 1), (1, 2), (2, 1), (0, 2)]),
        (["F", "B", "T"], [(0, 1), (1, 2), (2, 1), (0, 2)]),
        (["FT", " ", "TF"], [(0, 1), (1, 2), (2, 1), (0, 2)]),
        (["True", "FALSE", "reverse"], [(0, 1), (1, 2), (2, 1), (0, 2)]),
    ],
)
def test_oneway(words, expected):
    edges = silent(frame(SQUARE[:3], sense=words), oneway="sense")
    assert edges.directed and arcs(edges) == expected
    of_line = {(0, 1): 0, (1, 2): 1, (2, 1): 1, (0, 2): 2, (2, 0): 2}
    assert edges.streets.rows.tolist() == [of_line[arc] for arc in expected]
    assert edges.edge_weight.tolist() == [[50.0, 40.0, 50.0][of_line[arc]] for arc in expected]


def test_remarks_about_directions():
    edges, (said,) = told(frame(SQUARE[:3], oneway=["yes", "no", "reversible"]), oneway="oneway")
    assert "1 streets with 'oneway' of 'reversible'" in said and edges.num_edges == 5
    _, (said,) = told(frame(SQUARE[:3], oneway=["F", "T", ""]), oneway="oneway")
    assert "Geofabrik" in said
    table = frame(SQUARE[:3], oneway=["yes", "no", "no"])
    edges, (said,) = told(table)
    assert "by which 1 streets lead one way, is not used" in said and not edges.directed
    assert not silent(table, directed=False).directed
    assert arcs(silent(table, directed=True)) == [(0, 1), (1, 2), (2, 0)]
    with pytest.raises(ValueError, match="oneway='oneway' and directed=False exclude"):
        read_streets(table, oneway="oneway", directed=False)
    with pytest.raises(ValueError, match="oneway='one' is no column; accepted: 'oneway'"):
        read_streets(table, oneway="one")


def of_osmnx():
    graph = nx.MultiDiGraph(crs="EPSG:32633", simplified=True)
    for node, place in {101: (0, 0), 7: (30, 40), 55: (0, 50)}.items():
        graph.add_node(node, x=float(place[0]), y=float(place[1]))
    for u, v, oneway in ((101, 7, False), (7, 101, False), (7, 55, True), (55, 101, True)):
        ends = [(graph.nodes[w]["x"], graph.nodes[w]["y"]) for w in (u, v)]
        line = shapely.LineString(ends)
        facts = {"oneway": oneway, "osmid": u, "reversed": False, "length": line.length}
        graph.add_edge(u, v, 0, geometry=line, **facts)
    return graph


@pytest.mark.slow
def test_osmnx(tmp_path):
    """The files and the tables of osmnx give its graph."""
    osmnx = pytest.importorskip("osmnx")
    graph = of_osmnx()
    expected = [(101, 7), (7, 101), (7, 55), (55, 101)]
    path = tmp_path / "streets.gpkg"
    osmnx.io.save_graph_geopackage(graph, path, directed=True)
    for source in (path, osmnx.convert.graph_to_gdfs(graph, nodes=False)):
        edges = silent(source, length="length")
        named = map(tuple, edges.labels[edges.edge_index.T.numpy()].tolist())
        assert edges.directed and sorted(named) == sorted(expected)
        found = torchcent.betweenness(edges.graph(edge_weight=True)).tolist()
        scores = dict(zip(edges.labels, found, strict=True))
        wanted = nx.betweenness_centrality(nx.DiGraph(graph), weight="length")
        assert scores == pytest.approx(wanted)
    osmnx.io.save_graph_geopackage(graph, path)  # each street once
    edges = silent(path, oneway="oneway")
    assert sorted(map(tuple, edges.labels[edges.edge_index.T.numpy()].tolist())) == sorted(expected)


# ---- scores


def oracle(edges, weight):
    """Scores of NetworkX on the multigraph, by line; it divides those of parallel edges alike."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(edges.num_nodes))
    for key, (u, v) in enumerate(arcs(edges)):
        graph.add_edge(u, v, key, length=float(edges.edge_weight[key]))
    scores = nx.edge_betweenness_centrality(graph, weight=weight)
    either = scores | {(v, u, key): score for (u, v, key), score in scores.items()}
    return [either[u, v, key] for key, (u, v) in enumerate(arcs(edges))]


@pytest.mark.parametrize("weight", ["length", None])
def test_scores_of_parallel_streets(weight):
    edges = silent(frame([*SQUARE, [(30, 40), (0, 0)]]))  # the last as long as the first
    graph = edges.graph(edge_weight=weight is not None)
    scores = torchcent.edge_betweenness(graph)
    table = street_table(edges, {"score": scores}, weights=weight and "lengths")
    assert table["score"].tolist() == pytest.approx(oracle(edges, weight))
    assert table["score"][4] == (0 if weight else pytest.approx(scores[0] / 3))


def test_scores_of_both_directions():
    """Without one-way streets, the sum of both arcs is the score of the undirected street."""
    flat, both = silent(frame()), silent(frame(oneway=["no"] * 5), oneway="oneway")
    assert both.num_edges == 2 * flat.num_edges and both.directed
    columns = [
        street_table(
            each,
            {"score": torchcent.edge_betweenness(each.graph(edge_weight=True))},
            weights="lengths",
        )["score"].tolist()
        for each in (flat, both)
    ]
    assert columns[0] == pytest.approx(columns[1])


def test_street_table_refuses():
    edges = silent(frame())
    with pytest.raises(ValueError, match="has no streets"):
        street_table(torchcent.EdgeList(edges.edge_index), {})
    with pytest.raises(ValueError, match="columns\\['s'\\] has 2 values; accepted: 5"):
        street_table(edges, {"s": [1.0, 2.0]})
    with pytest.raises(ValueError, match="weights"):
        street_table(edges, {}, weights="hops")
    with pytest.raises(ValueError, match="streets has 5 rows for 1 edges"):
        torchcent.EdgeList(edges.edge_index[:, :1], num_nodes=3, streets=edges.streets)


@pytest.mark.slow
def test_bubenec_of_momepy(tmp_path, capsys):
    momepy = pytest.importorskip("momepy")
    path = momepy.datasets.get_path("bubenec")
    graph = momepy.gdf_to_nx(geopandas.read_file(path, layer="streets"), approach="primal")
    edges, _ = told(path)
    assert [tuple(place) for place in edges.positions.tolist()] == list(graph)
    ours = torchcent.betweenness(edges.graph(edge_weight=True)).tolist()
    theirs = nx.betweenness_centrality(graph, weight="mm_len")
    assert ours == pytest.approx([theirs[place] for place in graph])
    nx.set_edge_attributes(graph, nx.edge_betweenness_centrality(graph, weight="mm_len"), "score")
    wanted = momepy.nx_to_gdf(graph, points=False).set_index("geometry")["score"]
    out = tmp_path / "scores.gpkg"
    run(capsys, *f"betweenness {path} --edges --weights -o {out} --quiet".split())
    written = geopandas.read_file(out)
    assert written.crs == 3857 and len(written) == len(wanted)
    for shape, score in zip(written.geometry, written["edge_betweenness"], strict=True):
        assert score == pytest.approx(wanted[shape])


@pytest.mark.parametrize("suffix", [".gpkg", ".geojson"])
def test_the_command_line_writes_lines_and_points(tmp_path, capsys, suffix):
    path, out = tmp_path / "s.gpkg", tmp_path / f"out{suffix}"
    frame(name=list("abcde"), sense=["yes", "no", "no", "no", "no"]).to_file(path)
    run(capsys, *f"edge-betweenness {path} --weights --oneway sense -o {out}".split())
    lines = geopandas.read_file(out)
    edges = silent(path, oneway="sense")
    scores = torchcent.edge_betweenness(edges.graph(edge_weight=True))
    wanted = street_table(edges, {"s": scores}, weights="lengths")["s"]
    assert list(lines["name"]) == list("abcde")
    assert lines["edge_betweenness"].tolist() == pytest.approx(wanted.tolist())
    back = lines.to_crs(UTM).geometry
    assert back.distance(edges.streets.lines.geometry).max() < 1e-3
    run(capsys, *f"closeness {path} --weights -o {out}".split())
    points = geopandas.read_file(out)
    assert set(points.geom_type) == {"Point"} and len(points) == 3
    wanted = torchcent.closeness(silent(path).graph(edge_weight=True)).tolist()
    assert points["closeness"].tolist() == pytest.approx(wanted)
    run(capsys, *f"edge-betweenness {path} --weights -o {tmp_path / 'out.csv'}".split())
    rows = (tmp_path / "out.csv").read_text().splitlines()
    assert rows[0] == "source,target,edge_betweenness" and len(rows) == 6


# ---- bad input


def test_layers(tmp_path, capsys):
    path = tmp_path / "city.gpkg"
    frame().to_file(path, layer="roads")
    geopandas.GeoDataFrame(geometry=[shapely.Point(0, 0)], crs=UTM).to_file(path, layer="stops")
    assert silent(path).num_edges == 5
    frame(SQUARE[:2]).to_file(path, layer="paths")
    with pytest.raises(ValueError, match=r"2 layers of lines; layer= .*'roads' \(LineString\)"):
        read(path)
    assert silent(path, layer="paths").num_edges == 2
    with pytest.raises(ValueError, match="layer='rails' is not there; accepted: 'roads'"):
        read_streets(path, layer="rails")
    with pytest.raises(ValueError, match="row 0 is a Point"):
        read_streets(path, layer="stops")
    assert "2 layers of lines" in refused(capsys, "info", str(path))
    run(capsys, *f"info {path} --layer paths --tolerance 0.5".split())
    (tmp_path / "g.csv").write_text("a,b\n")
    err = refused(capsys, "info", str(tmp_path / "g.csv"), "--layer", "paths")
    assert "--layer is for streets" in err
    for words in ("- --oneway b", "networkx:karate_club --tolerance 1"):
        assert "is for streets" in refused(capsys, "info", *words.split())
    more = f"info {path} --layer paths --source-column a"
    assert "--source-column is not for streets" in refused(capsys, *more.split())
    assert "--skip is not for" in refused(capsys, *f"info {path} --layer paths --skip 1".split())


def test_other_names_and_standard_input(tmp_path, capsys, monkeypatch):
    """--format reads any name; standard input has the same options."""
    path = tmp_path / "s.json"
    frame(sense=["yes"] * 5).to_crs(4326).to_file(path, driver="GeoJSON")
    out = run(capsys, *f"info {path} --format geojson --oneway sense --json".split())[1]
    expected = json.loads(out)
    assert (expected["directed"], expected["edges"]) == (True, 3)
    with open(path, encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        words = "info - --format geojson --oneway sense --json"
        out = run(capsys, *words.split())[1]
    for name in ("edges", "rows", "weights", "positions"):
        assert json.loads(out)[name] == expected[name]


def test_columns_of_lengths():
    for values in ([1, 2, -3, 4, 5], [1, 2, 0, 4, 5], [1, 2, math.nan, 4, 5]):
        with pytest.raises(ValueError, match="'metres' of row 2 is .*finite and > 0"):
            read_streets(frame(metres=values), length="metres")
    with pytest.raises(ValueError, match="length='name' .*accepted: numbers"):
        read_streets(frame(name=list("abcde")), length="name")
    with pytest.raises(ValueError, match="length='metres' is no column; accepted: none"):
        read_streets(frame(), length="metres")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.gpkg", b"<OGRVRTDataSource></OGRVRTDataSource>", "not a .gpkg file; it begins"),
        ("x.shp", b"{}", "not a .shp file"),
        ("x.geojson", b"SQLite format 3\0", "not a .geojson file"),
        ("x.gpkg", b"SQLite format 3\0" + bytes(200), "x.gpkg"),
        ("x.shp", b"\0\0\x27\x0a" + bytes(200), "x.shp"),
        ("x.geojson", b'{"type": "FeatureCollection", "features": [', "x.geojson"),
        ("x.geojson", b"", "empty file"),
    ],
)
def test_files_that_are_none(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read(tmp_path / name)


def test_other_arguments(tmp_path):
    with pytest.raises(ValueError, match="unknown suffix '.csv'; accepted: .gpkg .shp .geojson"):
        read_streets("streets.csv")
    with pytest.raises(TypeError, match="source must be a str"):
        read_streets([1, 2])
    with pytest.raises(FileNotFoundError, match="no such file"):
        read("streets.gpkg")
    with pytest.raises(MemoryError, match="memory="):
        frame().to_file(tmp_path / "s.gpkg")
        read_streets(tmp_path / "s.gpkg", run=torchcent.Run(memory=1000))
    for options in ({}, {"format": "geojson"}):
        with pytest.raises(
            ValueError, match="graphs are not written as .*(gpkg|geojson)"
        ) as refusal:
            torchcent.write(tmp_path / "t.gpkg", silent(frame()), **options)
        assert "torchcent.io.write_scores(" in str(refusal.value)
        assert "torchcent.street_table(" in str(refusal.value)
    with pytest.raises(ValueError, match=r"accepted: [^;]*$"):
        torchcent.write(tmp_path / "t.m8", silent(frame()))


def test_without_geopandas(tmp_path, monkeypatch):
    (tmp_path / "s.gpkg").write_bytes(b"SQLite format 3\0")
    monkeypatch.setitem(__import__("sys").modules, "pyogrio", None)
    with pytest.raises(
        ImportError, match=r"reading .gpkg needs pyogrio, of the extra torchcent\[geo\]"
    ):
        read(tmp_path / "s.gpkg")


def test_edge_lists_that_lose_streets(tmp_path):
    """What keeps other edges than those that were read has no streets."""
    edges = silent(frame(SQUARE[:2] + [SQUARE[0][::-1], SQUARE[1][::-1]]))
    torchcent.write(tmp_path / "g.graphml", edges, edge_columns={"s": [1.0, 2.0, 3.0, 4.0]})
    again = nx.read_graphml(tmp_path / "g.graphml")
    assert sorted(np.array([x for *_, x in again.edges(data="s")])) == [1.0, 2.0]
