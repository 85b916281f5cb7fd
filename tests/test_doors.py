"""Malformed arguments of what reads, writes and draws."""

import networkx as nx
import numpy as np
import pytest
import torch

import torchcent
from torchcent import EdgeList
from torchcent.cluster_plot import plot_clusterings
from torchcent.io import write_clusters
from torchcent.plot import plot_scores

ARCS = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"num_nodes": 2**31}, "num_nodes=2147483648; accepted: below 2^31"),
        ({"num_nodes": 10**400}, "an int of 1329 bits"),
        ({"edge_weight": torch.ones(2, device="meta")}, "edge_weight must be a dense tensor"),
        ({"labels": torch.ones(3).to_sparse()}, "labels must be a dense tensor"),
    ],
)
def test_edge_list(given, said):
    with pytest.raises(ValueError) as error:
        EdgeList(ARCS, **given)
    assert said in str(error.value)


def test_isolated_vertices_take_no_memory(tmp_path):
    """Written without labels, they are a number in a comment."""
    path = tmp_path / "sparse.txt"
    torchcent.write(path, EdgeList(ARCS, num_nodes=2**31 - 1))
    assert "Nodes: 2147483647 Edges: 2" in path.read_text()
    assert len(path.read_bytes()) < 100


@pytest.mark.parametrize(
    ("clusters", "labels", "said"),
    [
        (torch.ones(2).to_sparse(), None, "clusters must be a dense tensor"),
        ([torch.ones(2, device="meta")], None, "clusters[0] must be a dense tensor"),
        ([[0]], ["\ud800"], "labels holds"),
        ([[0, 1]], ["a"], "clusters[0] holds 1; accepted: below the 1 of labels"),
    ],
)
def test_clusters(tmp_path, clusters, labels, said):
    path = tmp_path / "clusters"
    with pytest.raises(ValueError) as error:
        write_clusters(path, clusters, labels)
    assert said in str(error.value)
    assert not path.exists()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"scores": torch.ones(3, 1)}, ValueError, "scores must be one-dimensional"),
        ({"scores": ["a", "b", "c"]}, TypeError, "scores must be real numbers"),
        ({"graph": np.array([1, np.inf, 1])}, ValueError, "graph must be finite"),
        ({"graph": torch.ones(2)}, ValueError, "graph has 2 entries, but scores has 3"),
        ({"labels": torch.tensor(1)}, TypeError, "labels must be a sequence"),
        ({"interval": [torch.ones(3)]}, TypeError, "interval must be a pair"),
        ({"interval": (torch.ones(3), torch.ones(2))}, ValueError, "interval has 2 entries"),
        ({"measure": 1}, TypeError, "measure must be a str"),
        ({"title": "\ud800"}, ValueError, "title="),
        ({"share": "x"}, TypeError, "share must be True or False"),
        ({"path": 1}, TypeError, "path must be a str"),
    ],
)
def test_figure_of_scores(tmp_path, given, error, said):
    pytest.importorskip("matplotlib")
    good = {"graph": torch.ones(3), "scores": torch.arange(3.0), "path": tmp_path / "a.png"}
    with pytest.raises(error) as found:
        plot_scores(**(good | given))
    assert said in str(found.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_figure_of_clusterings(tmp_path):
    pytest.importorskip("matplotlib")
    one = torchcent.mcl(ARCS, directed=False)
    other = torchcent.mcl(torch.from_numpy(np.array(nx.path_graph(5).edges).T), directed=False)
    path = tmp_path / "a.png"
    for wrong, error, said in (
        ([], ValueError, "clusterings is empty"),
        ([one, 1], TypeError, "clusterings must be of type Clustering"),
        ([one, other], ValueError, "clusterings must be of one graph"),
    ):
        with pytest.raises(error, match=said):
            plot_clusterings(wrong, ARCS, path=path)
    with pytest.raises(ValueError, match="edge_index"):
        plot_clusterings(one, torch.tensor([[0], [9]]), path=path)
    assert not path.exists()
    plot_clusterings(one, torchcent.Graph.from_edge_index(ARCS), path=path)
    assert path.stat().st_size > 10_000
