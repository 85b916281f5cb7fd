"""layout: positions in the plane, and figures of graphs without coordinates."""

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE

import torchcent
from torchcent import layout

GRAPHS = {
    "people": nx.les_miserables_graph(),
    "grid": nx.grid_2d_graph(9, 14),
    "tree": nx.balanced_tree(2, 6),
    "ring": nx.cycle_graph(50),
}


def arcs_of(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return torch.tensor(list(graph.edges())).T.to(DEVICE), graph


def spread(places):
    """Distances in the plane between all vertices."""
    places = np.asarray(places.cpu(), float)
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(2))


def stress(graph, places):
    """The mean squared relative error of all distances, at the scale that suits best."""
    wanted = np.array(nx.floyd_warshall_numpy(graph, weight=None))
    pairs = np.triu_indices(len(wanted), 1)
    share = spread(places)[pairs] / wanted[pairs]
    return float(((share * share.sum() / (share**2).sum() - 1) ** 2).mean())


@pytest.mark.sweep
@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_stress_is_that_of_kamada_kawai(name, every, tuning):
    """Which minimises the same sum, by another method; some pairs do with a little more."""
    if not every:
        tuning(layout_all=10)
    arcs, graph = arcs_of(GRAPHS[name])
    known = nx.kamada_kawai_layout(graph, weight=None)
    best = stress(graph, torch.tensor(np.array([known[v] for v in range(len(known))])))
    assert stress(graph, layout(arcs)) <= best * (1.1 if every else 1.6) + 0.003


def test_lengths_of_a_path():
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    places = layout(arcs, torch.tensor([1.0, 5.0, 0.5], device=DEVICE))
    torch.testing.assert_close(
        (places[1:] - places[:-1]).norm(dim=1).cpu(), torch.tensor([1.0, 5.0, 0.5]), rtol=0.02,
        atol=0,
    )  # fmt: skip
    assert places.device.type == torch.device(DEVICE).type
    assert places[:, 1].abs().max() < 0.3  # the longer axis lies from left to right
    assert layout(arcs, run=torchcent.Run(dtype=torch.float64)).dtype == torch.float64


@pytest.mark.slow
@pytest.mark.parametrize("every", [True, False])
def test_seeds_and_directions(every, tuning):
    if not every:
        tuning(layout_all=10)
    arcs = torchcent.generate.ba(200, 2, seed=1).to(DEVICE)
    places = layout(arcs)
    assert torch.equal(places, layout(arcs))
    assert torch.equal(places, layout(arcs, directed=False))
    assert torch.equal(places, layout(torch.cat([arcs, arcs.flip(0)], 1)))
    assert not torch.equal(places, layout(arcs, seed=1))


@pytest.mark.parametrize("every", [True, False])
def test_leaves_of_a_star_spread(every, tuning):
    """All of them have the same distances to every other vertex."""
    if not every:
        tuning(layout_all=10)
    leaves = torch.arange(1, 30)
    apart = spread(layout(torch.stack([torch.zeros_like(leaves), leaves]).to(DEVICE)))
    assert apart[~np.eye(30, dtype=bool)].min() > 0.05


def test_components_side_by_side():
    parts = [nx.grid_2d_graph(4, 5), nx.cycle_graph(9), nx.path_graph(3), nx.empty_graph(7)]
    graph = nx.disjoint_union_all([nx.convert_node_labels_to_integers(part) for part in parts])
    arcs, _ = arcs_of(graph)
    places = layout(arcs, num_nodes=39).cpu().numpy()
    boxes = []
    for begin, end in ((0, 20), (20, 29), (29, 32), (32, 39)):
        boxes.append((places[begin:end].min(0), places[begin:end].max(0)))
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (low > other_high).any() or (high < other_low).any()
    assert spread(torch.from_numpy(places))[~np.eye(39, dtype=bool)].min() > 0.2


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_graphs_without_edges(n):
    places = layout(torch.empty(2, 0, dtype=torch.int64, device=DEVICE), num_nodes=n)
    assert places.shape == (n, 2)
    assert len(set(map(tuple, places.tolist()))) == n


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed must be >= 0, got -1"),
        ({"seed": 0.5}, TypeError, "seed"),
        ({"pivots": 0}, ValueError, "pivots"),
        ({"iterations": 0}, ValueError, "iter"),
        ({"run": torchcent.Run(memory=900)}, MemoryError, "layout of 3 vertices with pivots=3"),
        ({"run": torchcent.Run(engine="queue")}, ValueError, "layout does not use engine='queue'"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        layout(torch.tensor([[0, 1], [1, 2]]), **options)


def test_a_batch_is_refused():
    batch = torchcent.Graph.from_edge_index(
        torch.tensor([[0, 2], [1, 3]]), batch=torch.tensor([0, 0, 1, 1])
    )
    with pytest.raises(ValueError, match="layout is of one graph, but edge_index is a batch of 2"):
        layout(batch)


@pytest.mark.slow
def test_figure_without_positions(tmp_path):
    pytest.importorskip("matplotlib")
    from torchcent.plot import plot_network

    people = torchcent.Graph.from_networkx(nx.les_miserables_graph()).unweighted()
    figure = plot_network(people, scores=torchcent.betweenness(people))
    drawn = figure.axes[0].collections[-1].get_offsets()
    wanted = layout(people).double()
    assert sorted(map(tuple, np.asarray(drawn))) == sorted(map(tuple, wanted.numpy()))
    assert plot_network(people, path=tmp_path / "people.png") is None
    assert (tmp_path / "people.png").stat().st_size > 10_000
    assert plot_network(nx.path_graph(4)).get_suptitle() == "Degree of 4 vertices"
    with pytest.raises(ValueError, match="positions has 3 rows for 77 vertices"):
        plot_network(people, torch.zeros(3, 2))
    with pytest.raises(ValueError, match="scores must be given for edges=True"):
        plot_network(people, edges=True)
