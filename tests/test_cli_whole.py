"""Subcommands of measures of a whole graph, and of graphs that are made of a graph."""

import json
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from commands import refused, run
from internals import MEASURES, has_command

import torchcent

ENDS = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d e"), ("d e", "f"), ("f", "g"), ("g", "d e")]
OF_GRAPHS = [name for name, each in MEASURES.items() if each.of == "graph" and has_command(each)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.tsv").write_text("".join(f"{u}\t{v}\n" for u, v in ENDS))


def test_numbers_are_those_of_networkx(capsys):
    graph, arcs = nx.Graph(ENDS), nx.DiGraph([*ENDS, ("b", "a")])
    Path("arcs.tsv").write_text("".join(f"{u}\t{v}\n" for u, v in arcs.edges))
    Path("parts.txt").write_text("a\tb\tc\nd e\tf\tg\n")
    parts = [{"a", "b", "c"}, {"d e", "f", "g"}]
    wanted = {
        "transitivity g.tsv": nx.transitivity(graph),
        "assortativity g.tsv": nx.degree_assortativity_coefficient(graph),
        "reciprocity arcs.tsv --directed": nx.overall_reciprocity(arcs),
        "modularity g.tsv --communities parts.txt": nx.community.modularity(graph, parts),
        "modularity arcs.tsv --directed --communities parts.txt --resolution 2":
            nx.community.modularity(arcs, parts, resolution=2),
    }  # fmt: skip
    assert {words.partition(" ")[0] for words in wanted} == {
        name for name in OF_GRAPHS if not MEASURES[name].members
    }
    for words, value in wanted.items():
        code, out, err = run(capsys, *words.split())
        assert code == 0 and float(out) == pytest.approx(value, rel=1e-11), err
        found = json.loads(run(capsys, *words.split(), "--json")[1])
        assert found["value"] == pytest.approx(value, rel=1e-12)
        assert found["measure"] == words.split()[0] and found["edges"] in (7, 8)
    found = json.loads(run(capsys, *[*wanted][-1].split(), "--json")[1])
    assert (found["labels"], found["resolution"], found["directed"]) == ("parts.txt", 2.0, True)


def test_a_number_that_is_undefined(capsys):
    Path("pair.tsv").write_text("a\tb\n")
    assert run(capsys, "assortativity", "pair.tsv")[1] == "nan\n"
    assert json.loads(run(capsys, "assortativity", "pair.tsv", "--json")[1])["value"] is None


def test_weights_are_strengths(capsys):
    numbers = [1.0, 2.0, 0.0, 4.0, 1.0, 3.0, 2.0]
    rows = zip(ENDS, numbers, strict=True)
    Path("w.tsv").write_text("".join(f"{u}\t{v}\t{x}\n" for (u, v), x in rows))
    Path("parts.csv").write_text("label,community\na,1\nb,1\nc,1\nd e,x\nf,x\ng,x\n")
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, x) for (u, v), x in zip(ENDS, numbers, strict=True))
    value = nx.community.modularity(graph, [{"a", "b", "c"}, {"d e", "f", "g"}])
    words = ["modularity", "w.tsv", "--communities", "parts.csv"]
    assert float(run(capsys, *words, "--weights")[1]) == pytest.approx(value, rel=1e-11)
    _, out, err = run(capsys, *words)
    assert float(out) != pytest.approx(value) and "--weights uses them as strengths" in err


def test_members(capsys):
    """Their names, one vertex or two ends per line, as other options and commands read them."""
    graph = nx.Graph(ENDS)
    _, out, err = run(capsys, "bridges", "g.tsv")
    assert {frozenset(line.split("\t")) for line in out.splitlines()} == {
        frozenset(ends) for ends in nx.bridges(graph)
    }
    assert "bridges: 1\n" in err
    _, out, err = run(capsys, "articulation-points", "g.tsv")
    assert set(out.splitlines()) == set(nx.articulation_points(graph)) == {"c", "d e"}
    Path("cut.txt").write_text(out)
    assert run(capsys, "betweenness", "g.tsv", "--sources", "cut.txt", "--quiet")[0] == 0
    found = json.loads(run(capsys, "articulation-points", "g.tsv", "--json")[1])
    assert (found["count"], sorted(found["members"])) == (2, ["c", "d e"])
    found = json.loads(run(capsys, "bridges", "g.tsv", "--json")[1])
    assert found["count"] == 1 and sorted(found["members"][0]) == ["c", "d e"]
    assert found["out"] is None


def test_files_of_members(capsys):
    code, out, _ = run(capsys, "bridges", "g.tsv", "-o", "cut.csv")
    assert (code, out) == (0, "")
    head, *rows = Path("cut.csv").read_text().splitlines()
    assert head == "source,target" and len(rows) == 1
    assert sorted(rows[0].split(",")) == ["c", "d e"]
    assert run(capsys, "articulation-points", "g.tsv", "-o", "cut.json")[0] == 0
    assert sorted(json.loads(Path("cut.json").read_text())["label"]) == ["c", "d e"]
    out = run(capsys, "articulation-points", "g.tsv", "-o", "-", "--to", "tsv")[1]
    assert out.splitlines()[0] == "label" and len(out.splitlines()) == 3
    Path("ring.tsv").write_text("a\tb\nb\tc\nc\ta\n")
    assert run(capsys, "bridges", "ring.tsv")[1] == ""
    assert json.loads(run(capsys, "bridges", "ring.tsv", "--json")[1])["members"] == []


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("a\tb\tc\nf\tg\n", "p.txt", "p.txt: 'd e' is in none; every vertex of g.tsv"),
        ("a\tb\tc\nd e\tf\tg\ta\n", "p.txt", "p.txt, community 2: 'a' stands there twice"),
        ("a\tb\tZoe\n", "p.txt", "p.txt, community 1: 'Zoe' is no vertex of g.tsv"),
        ("name,part\na,1\n", "p.csv", "p.csv: has no columns 'label' and 'community'"),
        ("label,part\na,1,2\n", "p.csv", "p.csv:2: has 3 values; its header has 2"),
    ],
)
def test_files_of_communities_that_are_refused(capsys, text, name, said):
    Path(name).write_text(text)
    assert said in refused(capsys, "modularity", "g.tsv", "--communities", name, "--quiet")


def rows_of(text):
    """Without comments and the header."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def test_rewired(capsys):
    code, _, err = run(capsys, "rewired", "networkx:karate_club", "--seed", 5, "-o", "r.csv")
    assert code == 0 and "r.csv: 34 vertices, 78 edges" in err
    club = nx.karate_club_graph()
    again = torchcent.read("r.csv").graph()
    assert again.degree.tolist() == [d for _, d in club.degree]
    expected = torchcent.generate.rewired(torchcent.Graph.from_networkx(club), seed=5)
    assert again == expected
    line = ["rewired", "g.tsv", "-o", "-", "--to", "tsv", "--quiet"]
    assert run(capsys, *line)[1] == run(capsys, *line)[1]
    rows = rows_of(run(capsys, *line)[1])
    assert Counter(name for row in rows for name in row) == Counter(sum(ENDS, ()))
    rows = rows_of(run(capsys, *line, "--swaps", 0)[1])
    assert {frozenset(row) for row in rows} == {frozenset(ends) for ends in ENDS}
    assert "swaps=-1.0; accepted" in refused(capsys, *line, "--swaps", -1)
    assert "required: -o/--out" in refused(capsys, "rewired", "g.tsv")


def test_rewired_arcs_keep_both_degrees(capsys):
    line = ["rewired", "g.tsv", "--directed", "-o", "-", "--to", "tsv", "--quiet", "--seed", 3]
    arcs = rows_of(run(capsys, *line)[1])
    assert {tuple(row) for row in arcs} != set(ENDS)
    for end in (0, 1):
        assert Counter(row[end] for row in arcs) == Counter(row[end] for row in ENDS)
    Path("both.tsv").write_text("a\tb\nb\ta\nb\tc\nc\tb\n")
    code, _, err = run(capsys, "rewired", "both.tsv", "--directed", "-o", "r.csv")
    assert code == 0 and "3 vertices, 2 edges" in err and not torchcent.read("r.csv").directed
