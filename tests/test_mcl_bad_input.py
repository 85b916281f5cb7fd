"""Markov clustering refuses what it cannot take, and names it."""

import math

import pytest
import torch
from surface import call

import torchcent
from torchcent import Prune

ARCS = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            -math.inf,
            r"edge_weight\[2\] is -inf; for mcl weights are similarities and must be finite",
        ),
        (float("nan"), r"edge_weight\[2\] is nan"),
        (float("inf"), r"edge_weight\[2\] is inf"),
    ],
)
@pytest.mark.parametrize("function", [torchcent.mcl, torchcent.mcl_sweep, torchcent.explain_mcl])
def test_weights(function, value: float, message: str) -> None:
    weight = torch.tensor([1.0, 1.0, value, 1.0])
    with pytest.raises(ValueError, match=message):
        function(ARCS, weight)


@pytest.mark.parametrize("directed", [None, False])
def test_negative_similarities_are_no_arcs(directed: bool | None) -> None:
    index = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3, 3, 4], [1, 0, 2, 1, 0, 2, 3, 2, 4, 3]])
    weight = torch.tensor([1.0, 1, 2, 2, 1, 1, -3, -3, 1, 1])
    left = weight > 0
    expected = torchcent.mcl(index[:, left], weight[left], num_nodes=5, directed=directed)
    with pytest.warns(UserWarning, match="2 edges whose similarity is negative are left out"):
        found = torchcent.mcl(index, weight, directed=directed)
    assert found.labels.tolist() == expected.labels.tolist() == [0, 0, 0, 1, 1]
    with pytest.warns(UserWarning, match="2 edges whose"):
        quality = torchcent.clustering_quality(found, index, weight, directed=directed)
    assert quality == torchcent.clustering_quality(
        expected, index[:, left], weight[left], num_nodes=5, directed=directed
    )
    with pytest.warns(UserWarning, match="1 edge whose similarity is negative is left out"):
        torchcent.mcl_sweep(index[:, :2], torch.tensor([1, -1]), num_nodes=3)
    assert weight.min() == -3  # the caller's


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"inflation": 1.0}, ValueError, "inflation must be > 1 and finite, got 1.0: 1 leaves"),
        ({"inflation": 0.5}, ValueError, "inflation must be > 1"),
        ({"inflation": float("inf")}, ValueError, "inflation must be > 1 and finite"),
        ({"inflation": float("nan")}, ValueError, "inflation must not be NaN"),
        ({"inflation": "2"}, TypeError, "inflation must be a number, got '2'"),
        ({"inflation": True}, TypeError, "inflation must be a number"),
        ({"expansion": 1}, ValueError, "expansion must be at least 2, got 1"),
        ({"expansion": 2.5}, TypeError, "expansion must be an int, got 2.5"),
        ({"loops": "none"}, ValueError, "loops must be 'max', 'one', a number > 0 or None"),
        ({"loops": 0.0}, ValueError, "loops must be a finite number > 0"),
        ({"loops": -1}, ValueError, "loops must be a finite number > 0"),
        ({"prune": 1e-4}, TypeError, "prune must be a torchcent.Prune or None"),
        ({"chaos": 0}, ValueError, "chaos must be a finite number > 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an int"),
        ({"overlap": "merge"}, ValueError, "overlap must be one of cut, keep, split"),
        ({"engine": "lanes"}, ValueError, "engine must be one of auto, fused, dense, tensor"),
        ({"memory": 0}, ValueError, "memory must be a positive number of bytes"),
        ({"memory": 100}, MemoryError, r"needs .* but memory=100 \(100 B\) is allowed"),
        ({"progress": 1}, TypeError, "progress must be True or False"),
        ({"return_flow": 1}, TypeError, "return_flow must be True or False"),
        ({"num_nodes": 2}, ValueError, "num_nodes=2 is too small"),
        ({"directed": "no"}, TypeError, "directed must be True or False"),
    ],
)
def test_options(options: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(torchcent.mcl, ARCS, **options)


@pytest.mark.parametrize(
    ("edge_index", "weight", "error", "message"),
    [
        ({0: [1]}, None, TypeError, "edge_index must be .*torch.Tensor.*got dict"),
        (ARCS.double(), None, TypeError, "edge_index must be int64"),
        (ARCS, torch.ones(3), ValueError, r"edge_weight must have shape \[4\]"),
        (ARCS, torch.ones(4, 1), ValueError, r"edge_weight.flatten\(\) has the right shape"),
        (ARCS, torch.ones(4, dtype=torch.bool), TypeError, "edge_weight must be floating-point"),
        (ARCS, [1, 1, 1, 1], TypeError, "edge_weight must be a torch.Tensor"),
        (-ARCS, None, ValueError, "negative vertex ids"),
    ],
)
def test_graph(edge_index, weight, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torchcent.mcl(edge_index, weight)


def test_a_graphs_distances_are_no_similarities() -> None:
    graph = torchcent.Graph.from_edge_index(ARCS, edge_weight=torch.ones(4))
    with pytest.raises(ValueError, match=r"weights are distances.*graph\.unweighted\(\)"):
        torchcent.mcl(graph)
    with pytest.raises(ValueError, match=r"edge_weight is for an edge_index"):
        torchcent.mcl(graph.unweighted(), torch.ones(4))
    assert torchcent.mcl(graph.unweighted()).num_clusters == 1
    turned = torchcent.mcl(graph.to_edge_index(), 1 / graph.weight, num_nodes=graph.num_nodes)
    assert turned.num_clusters == 1


@pytest.mark.parametrize(
    ("inflations", "error", "message"),
    [
        ([], ValueError, "inflations must not be empty"),
        ([2, 1], ValueError, r"inflations\[1\] must be > 1"),
        (2.0, TypeError, "inflations must be a list of numbers"),
        ("2,4", TypeError, "inflations must be a list of numbers"),
        ([2, None], TypeError, r"inflations\[1\] must be a number"),
    ],
)
def test_sweep(inflations, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torchcent.mcl_sweep(ARCS, inflations=inflations)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threshold": -0.1}, ValueError, r"Prune: threshold must be in \[0, 1\]"),
        ({"threshold": "a"}, TypeError, "Prune: threshold must be a number"),
        ({"mass": 90}, ValueError, r"Prune: mass must be in \[0, 1\], got 90"),
        ({"select": -1}, ValueError, r"Prune: select must be in"),
        ({"select": 10.0}, TypeError, "Prune: select must be an int"),
        ({"recover": True}, TypeError, "Prune: recover must be an int"),
    ],
)
def test_prune(options: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Prune(**options)


def test_prune_by_the_names_of_mcl() -> None:
    assert (
        Prune.scheme(4) == Prune.from_mcl(P=6000, S=700, R=800) == Prune(0.99999 / 6000, 700, 800)
    )
    assert Prune.from_mcl(P=0).threshold == 0 and Prune.from_mcl(pct=50).mass == 0.5
    assert Prune(0, 0).most is None and Prune(0, 5, 9).most == 9 and Prune().most == 1400
    with pytest.raises(ValueError, match="scheme must be 1 to 7, got 8"):
        Prune.scheme(8)
    with pytest.raises(ValueError, match="P must be a number >= 0"):
        Prune.from_mcl(P=-1)


def test_distance_and_agreement() -> None:
    with pytest.raises(ValueError, match="the clusterings are of 2 and of 3 vertices"):
        torchcent.clustering_distance(torch.zeros(2).long(), torch.zeros(3).long())
    with pytest.raises(TypeError, match="a clustering must be a torchcent.Clustering"):
        torchcent.clustering_distance([0, 1], [0, 1])  # type: ignore[arg-type]
    found = torchcent.mcl(ARCS)
    with pytest.raises(ValueError, match="the clusterings are of 3 and of 2 vertices"):
        pytest.importorskip("sklearn")
        found.agreement(torch.zeros(2).long())
