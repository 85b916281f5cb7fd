"""The subcommands about groups and communities, and betweenness-variant."""

import csv
import itertools
import json
import re
from pathlib import Path

import networkx
import pytest
import torch
from commands import refused, run, table

from torchcent.io import read_clusters

FRIENDS = "Ada,Bob\nBob,Cleo\nCleo,Di\nDi,Bob\nCleo,Eve\n"


@pytest.fixture
def friends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("friends.csv").write_text(f"source,target\n{FRIENDS}")
    return networkx.Graph(line.split(",") for line in FRIENDS.split())


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def told(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


# ---- groups that are given


@pytest.mark.parametrize("command", ["betweenness", "closeness", "degree"])
@pytest.mark.parametrize("directed", [False, True])
def test_groups(capsys, friends, command, directed):
    if directed:
        friends = networkx.DiGraph(line.split(",") for line in FRIENDS.split())
    Path("groups.txt").write_text("Di\tAda\nBob\n")
    asked = ["--group", "Ada,Cleo", "--groups", "groups.txt", *["--directed"] * directed]
    code, out, _ = run(capsys, f"group-{command}", "friends.csv", *asked, "-o", "out.csv")
    assert code == 0
    groups = [["Ada", "Cleo"], ["Di", "Ada"], ["Bob"]]
    if command == "betweenness":  # NetworkX 3.6 errs where a pair has no path
        truth = [share_of_paths(friends, group) for group in groups]
    else:
        way = "out_" if directed and command == "degree" else ""
        of = getattr(networkx, f"group_{way}{command}_centrality")
        truth = [of(friends, group) for group in groups]
    found = rows_of("out.csv")
    assert [row["group"].split(",") for row in found] == groups
    assert [int(row["size"]) for row in found] == [2, 2, 1]
    assert [float(row[f"group_{command}"]) for row in found] == pytest.approx(truth)
    head, body = table(out)
    assert head == ["rank", "group", "size", "group", command]
    best = sorted(range(3), key=lambda at: -truth[at])
    assert [row[1] for row in body] == [",".join(groups[at]) for at in best]
    top = told(capsys, f"group-{command}", "friends.csv", *asked, "--top", 1)["top"]
    assert [row["members"] for row in top] == [groups[best[0]]]
    assert top[0]["score"] == pytest.approx(truth[best[0]])


def share_of_paths(graph, group, ends=False):
    """By listing all shortest paths."""
    total = 0.0
    others = [v for v in graph if ends or v not in group]
    for s, t in itertools.permutations(others, 2):
        if networkx.has_path(graph, s, t):
            paths = [set(path) for path in networkx.all_shortest_paths(graph, s, t)]
            total += sum(bool(path & set(group)) for path in paths) / len(paths)
    return total / (len(others) * (len(others) - 1))


def test_options_of_groups(capsys, friends):
    def score(command, *options):
        found = told(capsys, command, "arcs.csv", "--directed", "--group", "Bob,Di", *options)
        return found["top"][0]["score"]

    Path("arcs.csv").write_text(FRIENDS.replace("Cleo,Eve", "Cleo,Eve\nEve,Ada"))
    graph = networkx.DiGraph(x.split(",") for x in Path("arcs.csv").read_text().split())
    truth = share_of_paths(graph, ["Bob", "Di"])
    assert score("group-betweenness", "--no-normalized") == pytest.approx(truth * 6)
    both = share_of_paths(graph, ["Bob", "Di"], ends=True)
    assert score("group-betweenness", "--endpoints") == pytest.approx(both)
    to_group = networkx.group_closeness_centrality(graph, ["Bob", "Di"])
    from_group = networkx.group_closeness_centrality(graph.reverse(), ["Bob", "Di"])
    assert to_group != from_group
    assert score("group-closeness") == pytest.approx(to_group)
    assert score("group-closeness", "--reversed") == pytest.approx(from_group)
    assert score("group-degree", "--direction", "in", "--no-normalized") == 2  # Ada and Cleo
    assert score("group-degree", "--no-normalized") == 1  # Cleo


def test_weights_of_groups(capsys, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1 2\n1 2 3\n2 3 1\n")
    graph = networkx.read_weighted_edgelist(path)
    for options, weight in ((["--weights"], "weight"), ([], None)):
        found = told(capsys, "group-closeness", path, "--group", "0,3", *options)
        truth = networkx.group_closeness_centrality(graph, ["0", "3"], weight=weight)
        assert found["top"][0]["score"] == pytest.approx(truth)
    _, _, err = run(capsys, "group-degree", path, "--group", "0")
    assert "weights are not used" not in err


def test_prominent_group(capsys, friends):
    code, out, err = run(capsys, "prominent-group", "friends.csv", "-k", 2, "-o", "out.csv")
    assert code == 0 and "exact gains" in err
    head, body = table(out)
    assert head == ["rank", "label", "degree", "covered"]
    assert [row[1] for row in body] == ["Bob", "Cleo"]  # between them all others
    pairs = [{"Ada", "Cleo"}, {"Ada", "Di"}, {"Ada", "Eve"}]
    assert float(body[0][3]) == pytest.approx(len(pairs) / 10)
    assert [row["label"] for row in rows_of("out.csv")] == ["Bob", "Cleo"]
    options = ["--method", "samples", "--max-samples", 300, "--seed", 3]
    found = told(capsys, "prominent-group", "friends.csv", "-k", 2, *options)
    assert found["method"] == "samples" and found["samples"] <= 300
    assert found["lower"] <= 0.5 <= found["optimum"]  # three pairs of Bob's, two of Cleo's
    assert [row["rank"] for row in found["top"]] == [1, 2]


# ---- communities


def karate(capsys, *options):
    return told(capsys, "communities", "networkx:karate_club", *options)


def test_communities(capsys, tmp_path):
    graph = networkx.karate_club_graph()
    for _, _, edge in graph.edges(data=True):
        edge.clear()
    levels = [set(map(frozenset, x)) for x in networkx.community.girvan_newman(graph)]
    truth = [networkx.community.modularity(graph, level) for level in levels]
    code, out, err = run(capsys, "communities", "networkx:karate_club")
    assert code == 0
    found = [line.split("\t") for line in out.splitlines()]
    assert [len(part) for part in found] == sorted(map(len, found), reverse=True)
    assert float(re.search(r"modularity +(\S+)", err)[1]) == pytest.approx(max(truth), abs=1e-6)
    best = levels[truth.index(max(truth))]
    assert {frozenset(map(int, part)) for part in found} == best
    two = karate(capsys, "--count", 2)
    assert {frozenset(part) for part in two["members"]} == levels[0]
    assert two["modularity"] == pytest.approx(truth[0]) and two["level"] == 1
    assert two["complete"] is False
    for options in (["--level", 3], ["--count", 4, "--level", -1]):
        assert {frozenset(part) for part in karate(capsys, *options)["members"]} == levels[2]
    all_levels = karate(capsys, "-o", tmp_path / "out.csv")["levels"]
    assert [each["communities"] for each in all_levels] == list(range(1, 35))
    assert [each["modularity"] for each in all_levels[1:6]] == pytest.approx(truth[:5])
    column = {int(row["label"]): row["community"] for row in rows_of(tmp_path / "out.csv")}
    assert {frozenset(v for v in column if column[v] == c) for c in column.values()} == best


def test_table_of_levels_and_files(capsys, friends):
    code, out, _ = run(capsys, "communities", "friends.csv", "--levels", "-o", "lines.txt")
    head, body = table(out)
    assert code == 0 and head == ["level", "removed", "communities", "modularity"]
    chosen = [row for row in body if row[0] == "*"]
    assert len(chosen) == 1 and len(body) == 5
    parts = read_clusters("lines.txt")
    assert sorted(itertools.chain(*parts)) == sorted(friends)
    assert len(parts) == int(chosen[0][3])
    asked = ["--groups", "lines.txt"]  # what communities have written
    found = told(capsys, "group-degree", "friends.csv", *asked)
    assert {tuple(row["members"]) for row in found["top"]} == set(map(tuple, parts))


def test_communities_from_samples(capsys, tmp_path):
    index = torch.tensor([[u, v] for u, v in itertools.combinations(range(8), 2)])
    arcs = torch.cat([index, index + 8, torch.tensor([[7, 8]])])
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in arcs.tolist()))
    options = ["--approx", "0.05,0.2", "--count", 2, "--per-round", "0.01", "--seed", 4]
    found = told(capsys, "communities", path, *options)
    assert found["members"] == [list(range(8)), list(range(8, 16))]


# ---- variants of betweenness


@pytest.mark.parametrize(
    ("variant", "raw"),
    [
        ("distance", [0, 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 0]),
        ("linear", [0, 1, 1, 0]),  # both directions of a pair together
        ("proximal_source", [0, 1.5, 1.5, 0]),
        ("proximal_target", [0, 1.5, 1.5, 0]),
    ],
)
def test_variants(capsys, tmp_path, variant, raw):
    path = tmp_path / "path.txt"
    path.write_text("0 1\n1 2\n2 3\n")
    command = ["betweenness-variant", path, "--variant", variant, "--no-normalized"]
    found = told(capsys, *command, "-o", tmp_path / "out.json")
    assert (found["measure"], found["variant"]) == ("betweenness variant", variant)
    assert found["normalized"] is False
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["betweenness_variant"] == pytest.approx(raw)


# ---- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("betweenness-variant friends.csv --variant foo", "invalid choice: 'foo'"),
        ("betweenness-variant friends.csv", "required: --variant"),
        ("betweenness-variant friends.csv --variant linear --cutoff 2", "arguments: --cutoff"),
        ("group-degree friends.csv", "--group NAME,... or --groups FILE is required"),
        ("group-degree friends.csv --group Bob,Eva", "--group Bob,Eva: 'Eva' is no vertex of"),
        ("group-degree friends.csv --group Bob,Bob", "'Bob' stands there twice"),
        ("group-degree friends.csv --group Bob,", "'' is no vertex"),
        ("group-degree friends.csv --groups no.txt", "no.txt"),
        ("group-degree friends.csv --groups bad.txt", "bad.txt, group 2: 'Eva' is no vertex"),
        ("group-degree friends.csv --weights --group Bob", "unrecognized arguments: --weights"),
        ("group-betweenness friends.csv --group Bob --device all", "--device all: group-between"),
        ("group-betweenness friends.csv --group Bob -o out.xls", "unknown suffix '.xls'"),
        ("group-betweenness friends.csv --group Bob --top -1", "--top -1; accepted"),
        ("prominent-group friends.csv", "required: -k/--size"),
        ("prominent-group friends.csv -k 9", "k must be from 1 to 5"),
        ("prominent-group friends.csv -k 2 --epsilon 0.9", "epsilon must be more than 0"),
        ("communities friends.csv --directed", "undirected"),
        ("communities friends.csv --count 9", "at most 5"),
        ("communities friends.csv --level 7", "--level 7; accepted: -5 to 4"),
        ("communities friends.csv --per-round x", "'x' is not a number or a share"),
        ("communities friends.csv --per-round 1.5", "per_round must be"),
        ("communities friends.csv -o no/c.txt", "no such directory"),
    ],
)
def test_errors_take_one_line(capsys, friends, arguments, message):
    Path("bad.txt").write_text("Ada\nBob Eva\n")
    assert message in refused(capsys, *arguments.split())
