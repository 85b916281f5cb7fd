"""Which paths tie belongs to a Graph, and goes with all that is made of it."""

import pickle

import pytest
import torch
from graphs import DEVICE

import torchcent
from torchcent import Graph

# Two ways from 0 to 3: 0.1 + 0.2 by 1, 0.15 + 0.15 by 2; the first sum rounds up.
ARCS = torch.tensor([[0, 1, 0, 2], [1, 3, 2, 3]], device=DEVICE)
LENGTHS = torch.tensor([0.1, 0.2, 0.15, 0.15], dtype=torch.float64, device=DEVICE)


def scores(graph):
    return torchcent.betweenness(graph, normalized=False).tolist()


def of(**ties):
    return Graph.from_edge_index(ARCS, edge_weight=LENGTHS, **ties)


def test_rules():
    assert (of().ties, of().tie_tolerance) == ("decimal", 0.0)
    assert scores(of()) == [0, 0.5, 0.5, 0]
    assert scores(of(ties="float")) == [0, 0, 1, 0]
    assert scores(of(ties="float", tie_tolerance=1e-9)) == [0, 0.5, 0.5, 0]
    graph = of().with_ties("float", 1e-9)
    assert (graph.ties, graph.tie_tolerance) == ("float", 1e-9)
    assert of().with_ties() == of() != of().with_ties("float")
    assert hash(of()) == hash(of().with_ties()) != hash(of().with_ties("float"))
    assert graph.with_ties(tie_tolerance=0.1).ties == "float"
    assert graph.with_ties("decimal").tie_tolerance == 1e-9
    assert "ties='float', tie_tolerance=1e-09" in repr(graph)


@pytest.mark.parametrize("ties, tolerance", [("float", 0.0), ("float", 1e-9), ("decimal", 0.01)])
def test_all_that_is_made_of_a_graph_has_its_rule(ties, tolerance, tmp_path):
    graph = of(ties=ties, tie_tolerance=tolerance)
    graph.save(tmp_path / "g.pt")
    others = {
        "file": Graph.load(tmp_path / "g.pt", device=DEVICE),
        "pickle": pickle.loads(pickle.dumps(graph)),
        "device": graph.to("cpu"),
        "weights": graph.with_weights(LENGTHS),
    }
    for name, other in others.items():
        assert (other.ties, other.tie_tolerance) == (ties, tolerance), name
        assert scores(other) == scores(graph), name
    back = graph.reversed()
    assert (back.ties, back.tie_tolerance) == (ties, tolerance)
    hops = graph.unweighted()
    assert scores(hops) == [0, 0.5, 0.5, 0]


def test_files_that_lie(tmp_path):
    of(ties="float").save(tmp_path / "g.pt")
    content = torch.load(tmp_path / "g.pt")
    assert (content["ties"], content["tie_tolerance"]) == ("float", 0.0)
    for wrong, said in (
        ({"ties": "whole"}, "ties are not"),
        ({"ties": 3}, "ties are not"),
        ({"tie_tolerance": 1.5}, "tie_tolerance is not"),
        ({"tie_tolerance": float("nan")}, "tie_tolerance is not"),
        ({"tie_tolerance": "0"}, "tie_tolerance is not"),
    ):
        torch.save(content | wrong, tmp_path / "wrong.pt")
        with pytest.raises(ValueError, match=said):
            Graph.load(tmp_path / "wrong.pt")


@pytest.mark.parametrize(
    "ties, error, message",
    [
        ({"ties": "whole"}, ValueError, "ties must be one of decimal, float; got 'whole'"),
        ({"tie_tolerance": 1}, ValueError, r"tie_tolerance must be in \[0, 1\)"),
        ({"tie_tolerance": "small"}, TypeError, "tie_tolerance must be a number"),
    ],
)
def test_wrong_rules(ties, error, message):
    with pytest.raises(error, match=message):
        of(**ties)
    with pytest.raises(error, match=message):
        of().with_ties(**ties)


def test_distances_are_sums_by_the_same_rule():
    rows = torchcent.shortest_path_lengths
    assert rows(of())[0].tolist() == [0, 0.1, 0.15, 0.3]
    one = Graph.from_edge_index(ARCS[:, :2], edge_weight=LENGTHS[:2])
    assert rows(one)[0].tolist()[3] == 0.3
    assert rows(one.with_ties("float"))[0].tolist()[3] == 0.1 + 0.2


def test_measures_that_take_no_tolerance():
    graph = of(tie_tolerance=0.1)
    with pytest.raises(ValueError, match="tie_tolerance of the graph must be 0"):
        torchcent.betweenness_variant(graph, variant="linear")
