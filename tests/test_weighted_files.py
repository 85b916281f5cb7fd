"""Weights in files of every format, and on the command line."""

import json
import math

import networkx as nx
import numpy as np
import pytest
import torch
from commands import refused, run, table
from files import save

import torchcent
from torchcent import EdgeList, Graph

F64 = torch.float64
# Five towns; the shortest way from 1 to 5 is 1-2-3-4-5, 8 long, by hops it is 1-5.
ROADS = [(1, 2, 2.0), (2, 3, 1.5), (3, 4, 2.5), (4, 5, 2.0), (1, 5, 9.0), (2, 5, 7.0)]
TEXT = {
    "roads.txt": "\n".join(f"{u} {v} {w}" for u, v, w in ROADS),
    "roads.tsv": "from\tto\tkm\tlength\n" + "\n".join(f"{u}\t{v}\t0\t{w}" for u, v, w in ROADS),
    "roads.csv": "weight,target,source\n" + "\n".join(f"{w},{v},{u}" for u, v, w in ROADS),
    "out.roads": "% sym positive\n% 6 5 5\n" + "\n".join(f"{u} {v} {w}" for u, v, w in ROADS),
    "roads.mtx": "%%MatrixMarket matrix coordinate real symmetric\n5 5 6\n"
    + "\n".join(f"{v} {u} {w}" for u, v, w in ROADS),
    "roads.graph": "5 6 001\n"
    + "\n".join(
        " ".join(f"{b if a == x else a} {w}" for a, b, w in ROADS if x in (a, b))
        for x in range(1, 6)
    ),
    "roads.gr": "c towns\np sp 5 12\n"
    + "\n".join(f"a {u} {v} {w}\na {v} {u} {w}" for u, v, w in ROADS),
    "roads.gml": "graph [\n"
    + "\n".join(f'node [ id {x} label "{x}" ]' for x in range(1, 6))
    + "\n".join(f"edge [ source {u} target {v} weight {w} ]" for u, v, w in ROADS)
    + "\n]",
}


def towns():
    graph = nx.Graph()
    graph.add_nodes_from(range(1, 6))
    graph.add_weighted_edges_from(ROADS)
    return graph


def binary(name, folder):
    """The roads in a format that is not text."""
    index = torch.tensor([(u - 1, v - 1) for u, v, _ in ROADS]).t().contiguous()
    weight = torch.tensor([w for *_, w in ROADS], dtype=F64)
    labels = np.arange(1, 6) if name in ("roads.pt", "roads.parquet") else None
    path = folder / name
    if name == "roads.graphml":
        nx.write_graphml(towns(), path)
    else:
        torchcent.write(path, EdgeList(index, weight, labels, 5))
    return path


BINARY = ["roads.npz", "roads.pt", "roads.parquet", "roads.graphml"]


@pytest.fixture(params=[*TEXT, *BINARY])
def roads(request, tmp_path):
    name = request.param
    if name == "roads.parquet":
        pytest.importorskip("pyarrow")
    return save(tmp_path, name, TEXT[name]) if name in TEXT else binary(name, tmp_path)


# --- every format


def test_a_graph_of_every_format(roads):
    edges = torchcent.read(roads)
    assert edges.edge_weight is not None and not edges.graph().is_weighted
    graph = edges.graph(edge_weight=True)
    expected = nx.betweenness_centrality(towns(), weight="weight")
    assert torchcent.betweenness(graph, run=torchcent.Run(dtype=F64)).tolist() == pytest.approx(
        list(expected.values())
    )
    assert sorted(graph.weight.tolist()) == sorted(2 * [w for *_, w in ROADS])


def test_every_format_on_the_command_line(roads, capsys):
    _, out, err = run(capsys, "closeness", roads, "--weights")
    expected = nx.closeness_centrality(towns(), distance="weight")
    order = sorted(expected, key=lambda town: -expected[town])
    rows = table(out)[1]
    first = 0 if "roads.npz" in str(roads) else 1
    assert [int(row[1]) + 1 - first for row in rows] == order
    assert [float(row[-1]) for row in rows] == pytest.approx([expected[x] for x in order], rel=1e-5)
    assert "weighted" in err and "not used" not in err


@pytest.mark.parametrize(
    "name", ["t.txt", "t.csv.gz", "t.mtx", "t.graph", "t.gr", "t.npz", "t.pt", "t.parquet"]
)
def test_graphs_are_written_with_their_weights(name, tmp_path):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    arcs = torch.tensor([[0, 1, 2], [1, 2, 0]])
    weight = torch.tensor([0.1, math.pi, 1e-3], dtype=F64)
    graph = Graph.from_edge_index(arcs, 3, False, weight)
    torchcent.write(tmp_path / name, graph)
    again = torchcent.read(tmp_path / name, directed=False).graph(edge_weight=True)
    assert torch.equal(again.col, graph.col) and torch.equal(again.weight, graph.weight)


def test_parallel_edges_of_a_file(tmp_path):
    path = save(tmp_path, "g.txt", "a b 3\nb a 2\na b 5\n")
    assert torchcent.read(path).graph(edge_weight=True).weight.tolist() == [2, 2]
    assert torchcent.read(path).graph(True, edge_weight=True).weight.tolist() == [3, 2]


@pytest.mark.parametrize("text, said", [
    ("a b 3\nb c 0\nc a 0\n", r"edge_weight\[1\], of edge b c \(row 2\), is 0.*contract"),
    ("a b 3\nb c -2\n", r"edge_weight\[1\], of edge b c \(row 2\), is -2"),
])  # fmt: skip
def test_weights_that_are_no_distances(text, said, tmp_path, capsys):
    path = save(tmp_path, "g.txt", text)
    with pytest.raises(ValueError, match=said):
        torchcent.read(path).graph(edge_weight=True)
    err = refused(capsys, "betweenness", path, "--weights")
    assert "of edge b c (row 2)" in err
    assert run(capsys, "betweenness", path)[0] == 0


def test_files_without_weights(tmp_path, capsys):
    path = save(tmp_path, "g.txt", "a b\nb c\n")
    with pytest.raises(ValueError, match="no weights"):
        torchcent.read(path).graph(edge_weight=True)
    assert "--weights, but" in refused(capsys, "betweenness", path, "--weights")
    assert "--similarity, but" in refused(capsys, "info", path, "--similarity", "log")
    assert run(capsys, "betweenness", path, "--no-weights")[0] == 0


# --- options


@pytest.fixture
def towns_file(tmp_path):
    return save(tmp_path, "roads.txt", TEXT["roads.txt"])


def test_weights_are_asked_for(capsys, towns_file):
    _, hops, err = run(capsys, "betweenness", towns_file, "--no-normalized")
    assert "weights are not used (--weights" in err
    assert run(capsys, "betweenness", towns_file, "--no-normalized", "--no-weights")[1] == hops
    assert "not used" not in run(capsys, "betweenness", towns_file, "--no-weights")[2]
    by_length = run(capsys, "betweenness", towns_file, "--no-normalized", "--weights")[1]
    expected = nx.betweenness_centrality(towns(), weight="weight", normalized=False)
    assert {row[1]: float(row[3]) for row in table(by_length)[1]} == {
        str(town): score for town, score in expected.items()
    }


def test_both_at_once(capsys, towns_file):
    err = refused(capsys, "betweenness", towns_file, "--no-weights", "--similarity", "inverse")
    assert "--no-weights and --similarity exclude each other" in err
    assert run(capsys, "betweenness", towns_file, "--similarity", "cosine")[0] == 2


@pytest.mark.parametrize("formula", ["inverse", "log"])
def test_similarity(capsys, tmp_path, formula):
    likely = [("a", "b", 0.9), ("b", "c", 0.8), ("a", "c", 0.5), ("c", "d", 0.25)]
    path = save(tmp_path, "ppi.tsv", "\n".join(f"{u}\t{v}\t{w}" for u, v, w in likely))
    distance = {"inverse": lambda s: 1 / s, "log": lambda s: -math.log(s)}[formula]
    graph = nx.Graph()
    graph.add_weighted_edges_from([(u, v, distance(s)) for u, v, s in likely])
    _, out, _ = run(capsys, "closeness", path, "--similarity", formula)
    expected = nx.closeness_centrality(graph, distance="weight")
    scores = {row[1]: float(row[-1]) for row in table(out)[1]}
    assert scores == pytest.approx(expected, rel=1e-5)
    code, _, _ = run(capsys, "convert", path, tmp_path / "d.csv", "--similarity", formula)
    assert code == 0
    assert torchcent.read(tmp_path / "d.csv").edge_weight.tolist() == [
        pytest.approx(distance(s), rel=1e-15) for *_, s in likely
    ]


@pytest.mark.parametrize(
    "formula, text, said",
    [
        ("inverse", "a b 1\nb c 0\n", "edge b c (row 2) has similarity 0; --similarity inverse"),
        ("inverse", "a b -1\n", "edge a b (row 1) has similarity -1"),
        ("log", "a b 0.5\nb c 1\n", "edge b c (row 2) has similarity 1; --similarity log"),
        ("log", "a b 0\n", "takes 0 < s < 1, probabilities"),
    ],
)
def test_similarities_that_give_no_distance(capsys, tmp_path, formula, text, said):
    path = save(tmp_path, "g.txt", text)
    assert said in refused(capsys, "betweenness", path, "--similarity", formula)


def test_convert_keeps_or_drops_weights(capsys, towns_file, tmp_path):
    run(capsys, "convert", towns_file, tmp_path / "kept.csv")
    run(capsys, "convert", towns_file, tmp_path / "dropped.csv", "--no-weights")
    assert torchcent.read(tmp_path / "kept.csv").edge_weight.tolist() == [w for *_, w in ROADS]
    assert torchcent.read(tmp_path / "dropped.csv").edge_weight is None


def test_info(capsys, towns_file):
    out = run(capsys, "info", towns_file)[1]
    assert "1.5 to 9, not used without --weights or --similarity" in out
    out = run(capsys, "info", towns_file, "--weights")[1]
    assert "1.5 to 9, taken for distances" in out
    assert "int32, in units of 1/2" in out


def test_tie_tolerance(capsys, tmp_path):
    path = save(tmp_path, "g.txt", "0 1 0.1\n1 3 0.2\n0 2 0.15\n2 3 0.15\n")
    options = ("betweenness", path, "--directed", "--no-normalized", "--weights")
    scores = [
        {row[1]: float(row[3]) for row in table(run(capsys, *options, *more)[1])[1]}
        for more in (("--ties", "float"), ("--ties", "float", "--tie-tolerance", "1e-9"), ())
    ]
    assert scores[0] == {"0": 0, "1": 0, "2": 1, "3": 0}
    assert scores[1] == scores[2] == {"0": 0, "1": 0.5, "2": 0.5, "3": 0}
    assert "tie_tolerance" in refused(capsys, *options, "--tie-tolerance", "2")


def test_scores_say_how_they_came_about(capsys, towns_file, tmp_path):
    out = tmp_path / "scores.json"
    run(capsys, "betweenness", towns_file, "--weights", "--tie-tolerance", "1e-9", "-o", out)
    about = json.loads(out.read_text())["metadata"]
    assert about["weights"] == "distances" and about["tie_tolerance"] == 1e-9
    run(capsys, "harmonic", towns_file, "--similarity", "inverse", "-o", out)
    assert json.loads(out.read_text())["metadata"]["weights"] == "inverse"
    run(capsys, "harmonic", towns_file, "--no-weights", "-o", out)
    assert "weights" not in json.loads(out.read_text())["metadata"]


@pytest.mark.parametrize("command", ["edge-betweenness", "stress"])
def test_edges_and_stress(capsys, towns_file, command):
    _, out, _ = run(capsys, command, towns_file, "--no-normalized", "--weights")
    rows = {tuple(row[1:-2]): float(row[-2]) for row in table(out)[1]}
    if command == "edge-betweenness":
        expected = nx.edge_betweenness_centrality(towns(), weight="weight", normalized=False)
        assert rows == {(str(u), str(v)): expected[u, v] for u, v, _ in ROADS}
    else:
        expected = nx.betweenness_centrality(towns(), weight="weight", normalized=False)
        assert [score for *_, score in sorted((k, v) for k, v in rows.items())] == list(
            expected.values()  # all shortest paths are the only ones
        )


def test_eccentricity_and_engines(capsys, towns_file):
    expected = nx.eccentricity(towns(), weight="weight")
    for engine in ("auto", "tensor"):
        _, out, _ = run(capsys, "eccentricity", towns_file, "--weights", "--engine", engine)
        scores = {int(row[1]): float(row[-1]) for row in table(out)[1]}
        assert scores == expected
    assert "counts hops" in refused(
        capsys, "closeness", towns_file, "--weights", "--engine", "bits"
    )


def test_diameter(capsys, towns_file, tmp_path):
    _, out, _ = run(capsys, "diameter", towns_file, "--weights", "--average")
    rows = dict(line.split(None, 1) for line in out.splitlines())
    graph = towns()
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph))
    far = {v: max(row.values()) for v, row in lengths.items()}
    assert float(rows["diameter"]) == max(far.values())
    assert float(rows["radius"]) == min(far.values())
    assert rows["centre"].endswith(f": {min(far, key=far.get)}")
    mean = nx.average_shortest_path_length(graph, weight="weight")
    assert float(rows["mean"]) == pytest.approx(mean, rel=1e-5)
    assert "--effective counts pairs at whole distances" in refused(
        capsys, "diameter", towns_file, "--weights", "--effective", "0.5"
    )
    whole = save(tmp_path, "whole.txt", "0 1 2000000\n1 2 3000001\n")
    _, out, _ = run(capsys, "diameter", whole, "--weights", "--effective", "1")
    rows = dict(line.split(None, 1) for line in out.splitlines())
    assert rows["diameter"] == "5000001" and rows["effective"].startswith("5000001.0,")


@pytest.mark.parametrize("dtype", ["auto", "float32", "float64"])
def test_apsp(capsys, towns_file, tmp_path, dtype):
    out = tmp_path / "d.npy"
    code, _, err = run(
        capsys, "apsp", towns_file, "--weights", "--dtype", dtype, "-o", out, "--sources", "5"
    )
    found = np.load(out)
    assert code == 0 and found.dtype == (np.float32 if dtype == "float32" else np.float64)
    lengths = dict(nx.all_pairs_dijkstra_path_length(towns()))
    assert found.tolist() == [[lengths[u][v] for v in range(1, 6)] for u in range(1, 6)]
    assert "not whole" in refused(
        capsys, "apsp", towns_file, "--weights", "--dtype", "int32", "-o", out
    )
    hops = ("apsp", towns_file, "--dtype", "float32", "-o", out)
    assert "--dtype float32 is for --weights" in refused(capsys, *hops)


def test_closure_does_not_mind(capsys, towns_file):
    first = run(capsys, "closure", towns_file, "--quiet")
    assert run(capsys, "closure", towns_file, "--quiet", "--weights") == first
