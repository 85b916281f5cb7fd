"""What "degree" says: in tables and figures the same as :func:`torchcent.degree`."""

import csv
import json
from pathlib import Path

import pytest
import torch
from commands import run

import torchcent
from torchcent import Graph

ROWS = [("a", "b", 2), ("a", "b", 3), ("b", "c", 1), ("c", "c", 5), ("c", "a", 4), ("d", "a", 2)]
ARCS = {"a": 2, "b": 1, "c": 2, "d": 1}  # out of each; a loop is one
ENDS = {"a": 4, "b": 3, "c": 4, "d": 1}  # of edges; a loop has two


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.csv").write_text("".join(f"{u},{v},{w}\n" for u, v, w in ROWS))


def column(capsys, command, name):
    """A column of the file that a command writes, by label."""
    code, _, err = run(capsys, *command.split(), "--quiet", "-o", "out.csv")
    assert code == 0, err
    with open("out.csv", newline="") as file:
        return {row["label"]: float(row[name]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("weights", ["--weights", "--no-weights"])
@pytest.mark.parametrize(
    "command", ["betweenness", "closeness", "eccentricity", "pagerank", "prominent-group -k 4"]
)
def test_tables_of_commands(capsys, command, weights):
    head, _, rest = command.partition(" ")
    line = f"{head} g.csv {weights} {rest}"
    assert column(capsys, line, "degree") == ENDS
    assert column(capsys, f"{line} --directed", "out_degree") == ARCS


def test_the_command_of_that_name(capsys):
    assert column(capsys, "degree g.csv --no-weights", "degree") == ENDS
    assert column(capsys, "degree g.csv --directed --no-weights", "degree") == ARCS
    strong = column(capsys, "degree g.csv --directed --weights", "degree")
    assert strong == {"a": 5, "b": 1, "c": 9, "d": 2}


def test_features_say_what_is_normalised(capsys):
    line = "node-features g.csv --measures degree,betweenness,stress"
    both = column(capsys, line, "degree"), column(capsys, line, "normalized_degree")
    assert both[0] == ENDS and both[1] == {v: pytest.approx(x / 3) for v, x in ENDS.items()}
    raw = f"{line} --no-normalized"
    assert column(capsys, raw, "degree") == ENDS
    scores = column(capsys, raw, "stress")
    assert scores == column(capsys, "stress g.csv", "stress")
    scaled = column(capsys, line, "normalized_stress")
    assert scaled == column(capsys, "stress g.csv --normalized", "stress") != scores
    assert column(capsys, line, "betweenness") == column(capsys, "betweenness g.csv", "betweenness")
    line = "node-features g.csv --measures degree,reach,farness,harmonic"
    found = json.loads(run(capsys, *line.split(), "--json")[1])
    assert {"reach", "score", "normalized degree"} < {*found["top"][0]}
    assert sorted(row["degree"] for row in found["top"]) == sorted(ENDS.values())


def test_info_counts_neighbours(capsys):
    out = run(capsys, "info", "g.csv")[1]
    assert "degree       2.00 neighbours on average, median 2, from 1 to 3" in out
    assert torchcent.read("g.csv").graph().degree.tolist() == [3, 2, 2, 1]


def test_figures():
    pytest.importorskip("matplotlib")
    from torchcent.plot import plot_network, plot_scores

    place = torch.tensor([[0.0, 0.0], [1, 0], [1, 1], [0, 1]])
    edges = torchcent.read("g.csv")

    def drawn(graph):
        figure = plot_network(graph, place)
        bar = figure.axes[1]
        return figure.get_suptitle(), bar.get_ylabel(), figure.axes[0].collections[-1]

    path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    for graph, word in (
        (edges, "degree"), (path, "degree"), (path[:, ::2], "arcs"),
        (torchcent.read("g.csv", directed=True), "arcs"),
    ):  # fmt: skip
        title, name, _ = drawn(graph)
        assert title == f"{word.capitalize()} of 4 vertices" and name == word
    both = drawn(path)[2].get_sizes()
    once = drawn(Graph.from_edge_index(path, directed=False))[2].get_sizes()
    assert both.tolist() == once.tolist()

    from matplotlib.figure import Figure

    figures: list[Figure] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
        scores = torch.tensor([1.0, 2.0, 3.0, 4.0])
        for directed in (None, True):
            graph = torchcent.read("g.csv", directed=directed).graph()
            plot_scores(graph, scores, path="p.png")
    for figure, word, numbers in zip(figures, ("degree", "out-degree"), (ENDS, ARCS), strict=True):
        axes = figure.axes[1]
        assert axes.get_xlabel() == word
        points = sorted(axes.collections[0].get_offsets()[:, 1].tolist())
        assert points == [1, 2, 3, 4]
        at = {y: x for x, y in axes.collections[0].get_offsets().tolist()}
        assert [at[y] for y in points] == [*numbers.values()]
