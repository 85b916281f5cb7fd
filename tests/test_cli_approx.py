"""torchcent betweenness-approx: table, file, figure, errors."""

import json

import pytest
import torch

import torchcent
from torchcent import generate
from torchcent.cli import main


@pytest.fixture
def graph(tmp_path):
    """Large enough for `auto` to draw samples."""
    file = tmp_path / "graph.npz"
    arcs = generate.rmat(9, 4, seed=1)
    torchcent.write(file, torchcent.Graph.from_edge_index(arcs, directed=False))
    return file


@pytest.fixture
def sampled(tuning):
    tuning(exact_seconds=lambda *_: 1e9)


@pytest.mark.slow
def test_table_file_and_figure(graph, sampled, tmp_path, capsys):
    out, figure = tmp_path / "scores.json", tmp_path / "scores.png"
    command = ["betweenness-approx", str(graph), "--epsilon", "0.05", "--delta", "0.2"]
    command += ["--seed", "3", "--top", "4"]
    assert main([*command, "-o", str(out), "--plot", str(figure)]) == 0
    said = capsys.readouterr()
    head, _, first, *_ = said.out.splitlines()
    assert head.split() == ["rank", "label", "degree", "lower", "upper", "betweenness", "share"]
    assert "within 0.0" in said.err and "with probability 0.8" in said.err
    low, high, score = (float(x) for x in first.split()[3:6])
    exact = torchcent.betweenness(
        torchcent.read(graph).graph(), run=torchcent.Run(dtype=torch.float64)
    )
    assert low <= score <= high and abs(score - float(exact.max())) <= 0.05
    held = json.loads(out.read_text())
    assert 0 < held["metadata"]["epsilon"] <= 0.05 and held["metadata"]["delta"] == 0.2
    assert figure.stat().st_size > 10_000


def test_edges(graph, sampled, tmp_path, capsys):
    out = tmp_path / "edges.json"
    command = ["edge-betweenness-approx", str(graph), "--epsilon", "0.05", "--top", "2"]
    assert main([*command, "-o", str(out)]) == 0
    said = capsys.readouterr()
    head, _, first, *_ = said.out.splitlines()
    assert head.split()[:5] == ["rank", "source", "target", "lower", "upper"]
    held = json.loads(out.read_text())
    assert held["metadata"]["measure"] == "edge betweenness"
    assert held["metadata"]["epsilon"] <= 0.05
    read = torchcent.read(graph).graph()
    exact = torchcent.edge_betweenness(read, run=torchcent.Run(dtype=torch.float64))
    one = read.to_edge_index()
    score = {(u, v): x for (u, v), x in zip(one.T.tolist(), exact.tolist(), strict=True)}
    _, u, v, low, high, *_ = first.split()
    assert float(low) <= score[int(u), int(v)] <= float(high)


def test_small_graphs_are_exact(capsys):
    assert main(["betweenness-approx", "networkx:karate_club", "--top", "1"]) == 0
    said = capsys.readouterr()
    assert "lower" not in said.out and "exact (exact scores would take" in said.err
    assert main(["betweenness", "networkx:karate_club", "--top", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == said.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--endpoints"], "unrecognized arguments: --endpoints"),
        (["--sources", "9"], "unrecognized arguments: --sources"),
        (["--epsilon", "2"], "epsilon must be more than 0 and less than 1"),
        (["--epsilon", "x"], "invalid float value: 'x'"),
        (["--time-limit", "-1"], "time_limit must be a positive number"),
        (["--method", "rk", "--pivots", "degree"], "pivots"),
    ],
)
def test_errors(options, words, capsys):
    assert main(["betweenness-approx", "networkx:karate_club", *options]) == 2
    assert words in capsys.readouterr().err
