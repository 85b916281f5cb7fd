"""The subcommands of measures: each has the options and the values of the Python function."""

import json
import re
from pathlib import Path

import pytest
import torch
from commands import refused, run, table
from internals import MEASURES, has_command

import torchcent
from _torchcent_command._parser import parser, subparsers

ROOT = Path(__file__).resolve().parents[1]
EVERY = json.loads((ROOT / "_torchcent_command" / "measures.json").read_text())
DECLARED = [each for each in EVERY if each["of"] != "graph"]  # for those, test_cli_whole.py
OF = {each["name"]: each for each in DECLARED}
OPTIONS = [
    (each["name"], option) for each in DECLARED for option in each["options"]
    if option["kind"] != "group"
]  # fmt: skip
NAMES = [f"v{number}" for number in range(7)]
ENDS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 1), (4, 5), (5, 6), (6, 0)]
WEIGHTS = [1.5, 2.0, 1.0, 4.0, 2.5, 1.0, 3.0, 2.0, 1.0]
PLACES = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 2.0], [4.0, 4.0], [6.0, 5.0], [7.0, 1.0]]
NUMBERS = [0.5, 1.0, 0.25, 0.0, 2.0, 0.0, 1.0]
RUN = torchcent.Run(dtype=torch.float64)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = zip(ENDS, WEIGHTS, strict=True)
    Path("g.txt").write_text("".join(f"v{u} v{v} {weight}\n" for (u, v), weight in rows))
    Path("names.txt").write_text("v4\nv1\nv2\n")
    pairs = zip(NAMES, NUMBERS, strict=True)
    rows = zip(NAMES, PLACES, strict=True)
    Path("places.csv").write_text("id,x,y\n" + "".join(f"{v},{x},{y}\n" for v, (x, y) in rows))
    Path("values.txt").write_text("".join(f"{name}\t{x}\n" for name, x in pairs if x))


def made_up(option):
    """Words for the command line, the value in Python and what is recorded, by the kind."""
    flag, kind = f"--{option['flag'].replace('_', '-')}", option["kind"]
    numbers = torch.tensor(NUMBERS, dtype=torch.float64)
    if kind == "flag":
        no = "--no-" + flag.removeprefix("--")
        return [no if option["default"] else flag], not option["default"], not option["default"]
    few = option["name"] == "iterations"
    text, value = {
        "number": ("0.05", 0.05),
        "count": ("5", 5) if option["required"] or few else ("20000", 20000),
        "decay": ("power,2", ["power", 2.0]),
        "word": (option["choices"][-1:] or [""]) * 2,
        "lengths": ("2,4", [2.0, 4.0]),
        "vertices": ("names.txt", torch.tensor([4, 1, 2])),
        "values": ("values.txt", numbers),
        "value": ("values.txt", numbers),
        "columns": ("degree,closeness", ["degree", "closeness"]),
        "group": ("v0,v2", [torch.tensor([0, 2])]),
    }[kind]
    return [flag, text], value, text if isinstance(value, torch.Tensor) else value


def needed(each, but=""):
    """All that a measure requires, apart from one option."""
    words, values = [], {}
    if "places" in MEASURES[each["name"]].needs.values():
        words, values = ["--coordinates", "places.csv"], {"positions": torch.tensor(PLACES)}
    for option in each["options"]:
        if option["required"] and option["name"] != but:
            more, values[option["name"]], _ = made_up(option)
            words += more
    return words, values


def columns(result):
    """The columns of scores of a result."""
    if isinstance(result, torchcent.Approximation):
        return [result.scores]
    if isinstance(result, tuple):
        return [column for part in result for column in columns(part)]
    return [result] if result.dim() < 2 else list(result.unbind(1))


def graph_of(each, directed=False, weighted=True):
    edges = torchcent.read("g.txt", directed=directed)
    return edges.graph(edge_weight=weighted and bool(each["weights"]))


def compared(capsys, each, words, values, *, directed=False, turned=False):
    """What --json says, after the file has the scores of the function; or the function refuses."""
    measure, command = MEASURES[each["name"]], each["name"].replace("_", "-")
    line = [command, "g.txt", *words, *["--directed"] * directed, *["--reversed"] * turned]
    line += ["--weights"] if each["weights"] else []
    graph = graph_of(each, directed)
    if "generator" in measure.options:
        values = values | {"generator": torch.Generator().manual_seed(0)}
    try:
        run_of = RUN if "dtype" in each["uses"] else torchcent.Run()
        result = measure.function(graph.reversed() if turned else graph, **values, run=run_of)
    except ValueError as error:
        assert " ".join(str(error).split()) in refused(capsys, *line)
        return None
    code, out, err = run(capsys, *line, "-o", "out.json", "--json")
    assert code == 0, err
    written = json.loads(Path("out.json").read_text())
    expected = columns(result)
    scores = [column for name, column in written.items() if name != "metadata"][-len(expected) :]
    for column, of in zip(scores, expected, strict=True):
        assert column == pytest.approx(of.double().tolist(), rel=1e-12, nan_ok=True)
    found = json.loads(out)
    about = written["metadata"]
    assert {name: found[name] for name in about} == about
    return found


def test_there_is_one_for_each_measure():
    commands = subparsers(parser())
    expected = [name for name, each in MEASURES.items() if has_command(each)]
    assert sorted(each["name"] for each in EVERY) == sorted(expected)
    for each in EVERY:
        name = each["name"]
        text = commands[name.replace("_", "-")].format_help()
        assert " ".join(each["help"].split()) in " ".join(text.split())


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", OF)
def test_scores_and_keys(capsys, name, directed):
    words, values = needed(OF[name])
    found = compared(capsys, OF[name], words, values, directed=directed)
    if found is None:
        assert directed and MEASURES[name].undirected
        return
    page = (ROOT / "docs" / "command_line.md").read_text().partition("## JSON")[2]
    page = page.partition("\n## ")[0]
    assert set(found) - set(values) <= set(re.findall(r"`(\w+)`", page))
    assert found["command"] == name.replace("_", "-") and found["directed"] is directed
    assert {"graph", "vertices", "edges", "weighted", "seconds", "measure", "out", "top"} < {*found}
    if MEASURES[name].parts_of:
        assert all("rank" not in row for row in found["top"])
        return
    assert all({"rank", "score"} < {*row} for row in found["top"])
    scores = [row["score"] for row in found["top"]]
    assert scores == sorted(scores, reverse=not MEASURES[name].lowest)
    assert ("share" in found["top"][0]) is MEASURES[name].share


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "option"), OPTIONS, ids=[f"{name}-{each['name']}" for name, each in OPTIONS]
)
def test_options(capsys, name, option):
    """Each changes what the function gets, and is recorded; those that it refuses are errors."""
    words, values = needed(OF[name], but=option["name"])
    if option["name"] == "pivots":
        words, values = [*words, "--method", "pivots"], values | {"method": "pivots"}
    if option["name"] == "states" and not option["required"]:
        words, values = [*words, "--measures", "percolation"], values | {"measures": "percolation"}
    if option["name"] == "alpha" and not option["required"] and name == "node_features":
        words, values = [*words, "--measures", "katz"], values | {"measures": "katz"}
    if option["name"] == "dangling":
        words, values = [*words, "--alpha", "0.5"], values | {"alpha": 0.5}
    more, value, recorded = made_up(option)
    # Only the plain Forman curvature takes weights.
    each = OF[name] | {"weights": ""} if option["name"] == "kind" else OF[name]
    found = compared(capsys, each, [*words, *more], values | {option["name"]: value})
    assert found is not None and found[option["name"]] == recorded
    usual = compared(capsys, OF[name], *needed(OF[name]))
    assert option["required"] or option["name"] not in usual


def test_components_are_counted(capsys):
    Path("parts.csv").write_text("a,b\nd,e\nf,g\ng,h\n")
    code, out, _ = run(capsys, "connected-components", "parts.csv", "--top", "2", "-o", "all.csv")
    first, *rows = out.splitlines()
    assert code == 0 and first == "connected components: 3; the largest has 3 vertices (42.9%)"
    assert rows[1].split() == ["number", "size", "share"] and rows[-1] == "... and 1 more"
    assert [row.split() for row in rows[3:5]] == [["2", "3", "42.86%"], ["0", "2", "28.57%"]]
    written = [line.split(",") for line in Path("all.csv").read_text().splitlines()]
    assert [row[-1] for row in written[1:]] == list("0011222")
    found = json.loads(run(capsys, "connected-components", "parts.csv", "--json")[1])
    assert found["components"] == 3
    assert [(row["number"], row["size"]) for row in found["top"]] == [(2, 3), (0, 2), (1, 2)]
    assert run(capsys, "connected-components", "parts.csv", "--top", "0")[1] == ""


def test_parts_are_lines_of_names(capsys):
    """As groups, and what `modularity` reads; tables that are written are read, too."""
    pytest.importorskip("igraph")
    graph = graph_of(OF["leiden"])
    parts = torchcent.leiden(graph, generator=torch.Generator().manual_seed(7))
    line = ["leiden", "g.txt", "--weights", "--seed", 7, "--quiet"]
    assert run(capsys, *line, "-o", "parts.txt")[0] == 0
    lines = [text.split("\t") for text in Path("parts.txt").read_text().splitlines()]
    wanted = [[f"v{v}" for v in torch.nonzero(parts == x).flatten()] for x in parts.unique()]
    assert sorted(lines) == sorted(wanted)
    found = json.loads(run(capsys, *line, "--json")[1])
    assert found["communities"] == len(lines) and found["seed"] == 7
    assert [row["size"] for row in found["top"]] == sorted(map(len, lines), reverse=True)
    quality = float(torchcent.modularity(graph, parts, run=RUN))
    for name in ("parts.txt", "parts.csv", "parts.tsv"):
        assert run(capsys, *line, "-o", name)[0] == 0
        words = ["modularity", "g.txt", "--weights", "--communities", name, "--quiet"]
        assert float(run(capsys, *words)[1]) == pytest.approx(quality, rel=1e-11)


def test_demand(capsys):
    """Numbers of all vertices at the ends of paths, as the function takes them."""
    numbers = torch.tensor(NUMBERS, dtype=torch.float64)
    for each in OF.values():
        named = {option["name"]: option["demand"] for option in each["options"]}
        if not MEASURES[each["name"]].demand:
            assert not any(named.values())
            continue
        assert (named["sources"], named["targets"]) == ("origins", "destinations")
        both = ["--origins", "values.txt", "--destinations", "values.txt"]
        found = compared(capsys, each, both, {"sources": numbers, "targets": numbers})
        assert found["origins"] == found["destinations"] == "values.txt"
        found = compared(capsys, each, both[2:], {"targets": numbers})
        assert "origins" not in found
        mixed = [*both[2:], "--sources", "names.txt"]
        compared(capsys, each, mixed, {"sources": torch.tensor([4, 1, 2]), "targets": numbers})
    said = refused(capsys, "betweenness", "g.txt", "--sources", "names.txt", *both)
    assert "not allowed with argument --sources" in said
    Path("less.txt").write_text("v1 -2\n")
    said = refused(capsys, "betweenness", "g.txt", "--origins", "less.txt", "--quiet")
    assert "sources" in said and "-2" in said


def test_alpha_of_katz_that_suits_the_graph(capsys):
    found = compared(capsys, OF["katz"], ["--alpha", "auto"], {"alpha": None})
    assert found["alpha"] is None
    said = refused(capsys, "katz", "g.txt", "--alpha", "9", "--quiet")
    assert "--alpha auto" in said and "with its weights" not in said
    assert "'x'; accepted: a number or auto" in refused(capsys, "katz", "g.txt", "--alpha", "x")
    text = " ".join(subparsers(parser())["katz"].format_help().split())
    assert "or auto: one that suits the graph (default: 0.1)" in text


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name, each in OF.items() if each["of"] != "edges"])
def test_reversed(capsys, name):
    found = compared(capsys, OF[name], *needed(OF[name]), directed=True, turned=True)
    assert found is None or found["reversed"] is True


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name",
    [x for x, each in OF.items() if any(option["random"] for option in each["options"])],
)
def test_random_sources(capsys, name):
    """K drawn vertices, the same ones with the same seed; K of K are all."""
    command, (words, values) = name.replace("_", "-"), needed(OF[name])
    line = [command, "g.txt", *words, "--json", "--sources", 3, "--seed"]
    drawn = [json.loads(run(capsys, *line, seed)[1]) for seed in (1, 1, 2, 3, 4, 5)]
    assert (drawn[0]["sources"], drawn[0]["seed"], drawn[2]["seed"]) == (3, 1, 2)
    assert drawn[0]["top"] == drawn[1]["top"] != drawn[2]["top"] or drawn[3]["top"] != drawn[4]
    found = compared(capsys, OF[name], [*words, "--sources", "7"], values)
    assert found["sources"] == 7


@pytest.mark.sweep
@pytest.mark.parametrize("name", [x for x, each in OF.items() if "engine" in each["uses"]])
def test_engines(capsys, name):
    """All engines that the option offers compute, by hops or by weights, or name one that does."""
    (words, _), command = needed(OF[name]), name.replace("_", "-")
    engines = subparsers(parser())[command]._option_string_actions["--engine"].choices
    assert [*engines] == [engine for engine in OF[name]["engines"] if engine != "tiny"]
    usual = {}
    for engine in engines:
        how = "--weights" if engine in ("relax", "dijkstra") else "--no-weights"
        line = [command, "g.txt", *words, how, "--json", "--quiet", "--engine", engine]
        code, out, err = run(capsys, *line)
        if engine == "queue" and "bits" in engines:  # distances by a search per block of CUDA
            assert code == 2
            assert "on CUDA only; use Run(engine='bits')" in err
            continue
        assert code == 0, (engine, err)
        scores = sorted(row["score"] for row in json.loads(out)["top"])
        assert scores == pytest.approx(usual.setdefault(how, scores), rel=1e-4), engine


def test_numbers_for_all_vertices_and_files_of_groups(capsys):
    found = compared(capsys, OF["katz"], ["--beta", "0.5"], {"beta": 0.5})
    assert found["beta"] == 0.5
    Path("groups.txt").write_text("v0\tv2\nv1\tv3\tv4\n")
    groups = [torch.tensor([5]), torch.tensor([0, 2]), torch.tensor([1, 3, 4])]
    words = ["--group", "v5", "--groups", "groups.txt"]
    found = compared(capsys, OF["group_degree"], words, {"group": groups})
    assert {tuple(row["members"]) for row in found["top"]} == {
        ("v5",), ("v0", "v2"), ("v1", "v3", "v4")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("betweenness g.txt --cutoff 2,3", ["betweenness within 2", "betweenness within 3"]),
        ("edge-betweenness g.txt --cutoff 2,3", ["edge betweenness within 2"]),
        ("random-walk-encoding g.txt --walk-length 3", ["walk 1", "walk 2", "walk 3"]),
        ("node-features g.txt --measures core_number,degree", ["core_number normalized degree"]),
        ("hits g.txt", ["hubs authorities"]),
        ("distance-profile g.txt", ["closeness harmonic eccentricity reach farness"]),
        ("current-flow-closeness g.txt", ["degree current flow closeness"]),
    ],
)
def test_columns(capsys, command, names):
    _, out, _ = run(capsys, *command.split())
    head = " ".join(table(out)[0])
    assert all(name in head for name in names), head
    if command != "current-flow-closeness g.txt" and "edge" not in command:
        assert "--plot: not for several columns" in refused(
            capsys, *command.split(), "--plot", "p.png"
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("core-number g.txt --weights", "unrecognized arguments: --weights"),
        ("pagerank g.txt --engine auto", "unrecognized arguments: --engine"),
        ("betweenness g.txt --engine tiny", "invalid choice: 'tiny'"),
        ("betweenness g.txt --targets none.txt", "none.txt: no such file"),
        ("betweenness g.txt --targets odd.txt", "odd.txt:2: 'Zoe' is no vertex of g.txt"),
        ("percolation g.txt", "required: --states"),
        ("katz g.txt --beta none.txt", "none.txt: no such file"),
        ("katz g.txt --beta odd.txt", "odd.txt:2"),
        ("random-walk-encoding g.txt --walk-length x", "invalid int value: 'x'"),
        ("node-features g.txt --measures closenes", "closenes"),
        ("betweenness g.txt --cutoff x", "'x' is no number or list"),
        ("group-betweenness g.txt", "--group NAME,... or --groups FILE is required"),
        ("betweenness g.txt --plot p.png --cutoff 2,3", "--plot: not for several columns"),
        ("straightness g.txt --weights", "g.txt has no coordinates; --coordinates FILE"),
        ("accessibility g.txt --decay power", "'power'; accepted: a name and a number"),
        ("accessibility g.txt --decay far,2", "one of 'power', 'exponential'"),
    ],
)
def test_errors_take_one_line(capsys, arguments, message):
    Path("odd.txt").write_text("v1\nZoe\n")
    assert message in refused(capsys, *arguments.split(), "--quiet")
