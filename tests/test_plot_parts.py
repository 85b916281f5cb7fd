"""Communities as colours of maps."""

import itertools

import numpy as np
import pytest
import torch
from commands import run

import torchcent
from torchcent import Graph, generate
from torchcent.cluster_plot import plot_communities
from torchcent.plot import plot_network

matplotlib = pytest.importorskip("matplotlib")

# Severe lack of red, green and blue cones on linear RGB (Machado, Oliveira and Fernandes 2009).
LACKS = [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
     [0.004733, 0.691367, 0.303900]],
]  # fmt: skip
XYZ = [
    [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]  # fmt: skip


def linear(color):
    rgb = np.array(matplotlib.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array(XYZ) @ rgb / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved."""
    figures = []
    save = matplotlib.figure.Figure.savefig

    def keep(self, *args, **kwargs):
        figures.append(self)
        return save(self, *args, **kwargs)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", keep)
    return figures


def dots(axes):
    """The vertices that are drawn, with the colour of each, or None of a hollow one."""
    found = {}
    for each in axes.collections:
        if not isinstance(each, matplotlib.collections.PathCollection):
            continue
        fill = [matplotlib.colors.to_hex(color) for color in each.get_facecolors()]
        for place in each.get_offsets().tolist():
            found[tuple(place)] = fill[0] if fill else None
    return found


def lines(axes):
    """The colour of each line by its ends."""
    found = {}
    for each in axes.collections:
        if isinstance(each, matplotlib.collections.LineCollection):
            for line in each.get_segments():
                ends = frozenset(map(tuple, line.tolist()))
                found[ends] = matplotlib.colors.to_hex(each.get_colors()[0])
    return found


def keys(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def ring(n):
    """A ring at whole places."""
    at = torch.arange(n)
    return torch.stack([at, (at + 1) % n]), torch.stack([at, at * at % 7], 1).double()


def test_colours_are_told_apart_by_all_on_white_and_on_black():
    """And the largest communities have those of the picture, one each."""
    index, place = ring(16)
    figure = plot_network(index, place, communities=torch.arange(16) // 2)
    colors = {dots(figure.axes[0])[tuple(at)] for at in place.tolist()}
    assert len(colors) == 8 and None not in colors
    for color in colors:
        bright = linear(color) @ [0.2126, 0.7152, 0.0722]
        assert 1.05 / (bright + 0.05) >= 3 and (bright + 0.05) / 0.05 >= 3
    for lack in LACKS:
        seen = [lab(np.clip(np.array(lack) @ linear(color), 0, 1)) for color in colors]
        for one, other in itertools.combinations(seen, 2):
            assert np.linalg.norm(one - other) > 27


def test_vertices_edges_and_legend():
    index, place = ring(24)
    label = torch.tensor([7] * 4 + [3] * 6 + [*range(100, 107)] * 2)
    figure = plot_network(index, place, communities=label, labels=[f"n{v}" for v in range(24)])
    axes = figure.axes[0]
    assert figure.get_suptitle() == "9 communities of 24 vertices" and len(figure.axes) == 1
    assert keys(axes) == ["6 vertices", "4 vertices", *["2 vertices"] * 6, "2 in 1 other"]
    colors, places = dots(axes), [tuple(at) for at in place.tolist()]
    assert len({colors[at] for at in places[:4]}) == 1 and colors[places[0]] != colors[places[4]]
    assert len({colors[at] for at in places[4:10]}) == 1
    assert [colors[at] for at in places].count(None) == 2
    assert colors[places[16]] is colors[places[23]] is None
    between = lines(axes)
    assert between[frozenset(places[:2])] == colors[places[0]]
    assert between[frozenset(places[4:6])] == colors[places[4]]
    outside = between[frozenset(places[3:5])]
    assert outside == between[frozenset(places[16:18])] and outside not in colors.values()
    assert len(between) == 24 and any(text.get_text() == "n0" for text in axes.texts)


def test_what_has_labels():
    """A clustering, a division, or an array."""
    two = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
    graph = Graph.from_edge_index(two, directed=False)
    division = torchcent.communities_by_betweenness(graph)
    for parts in (division, torchcent.mcl(graph), np.array([0, 0, 0, 1, 1, 1])):
        figure = plot_network(graph, communities=parts)
        assert keys(figure.axes[0]) == ["3 vertices", "3 vertices"]
    empty = plot_network(
        torch.empty(2, 0).long(), torch.empty(0, 2), communities=torch.empty(0).int()
    )
    assert empty.axes[0].get_legend() is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"communities": torch.arange(3)}, "communities has 3 entries for 4 vertices"),
        ({"communities": torch.rand(4)}, "integer labels"),
        ({"communities": torch.arange(4), "scores": torch.rand(4)}, "exclude each other"),
        ({"communities": torch.arange(4), "edges": True}, "exclude each other"),
    ],
)
def test_communities_that_are_refused(given, said):
    index, place = ring(4)
    with pytest.raises((TypeError, ValueError), match=said):
        plot_network(index, place, **given)


@pytest.mark.slow
def test_a_division_is_a_map_with_its_matrix(tmp_path, drawn):
    two = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
    division = torchcent.communities_by_betweenness(two, directed=False)
    place = torch.tensor([[0.0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [4, 1]], dtype=torch.float64)
    edges = torchcent.EdgeList(two, positions=place)
    plot_communities(division, edges, path=tmp_path / "d.png")
    network, matrix, levels = drawn[0].axes
    colors = [dots(network)[tuple(at)] for at in place.tolist()]
    assert len(set(colors[:3])) == len(set(colors[3:])) == 1 and colors[0] != colors[3]
    assert keys(network) == ["3 vertices", "3 vertices"] and levels.get_title("left") == "Levels"
    squares = [matplotlib.colors.to_hex(each.get_edgecolor()) for each in matrix.patches]
    assert squares == [colors[0], colors[3]]
    plot_communities(division, two, level=0, path=tmp_path / "d.svg")
    assert set(dots(drawn[1].axes[0]).values()) == {colors[0]}
    plot_communities(division, two.numpy(), level=-1, path=tmp_path / "d.pdf")
    assert len(set(dots(drawn[2].axes[0]).values())) == 6


@pytest.mark.slow
def test_a_division_of_many_vertices_has_sizes(tmp_path, drawn):
    n = 20_001
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    graph = Graph.from_edge_index(path, directed=False)
    division = torchcent.communities_by_betweenness(graph, max_rounds=1)
    plot_communities(division, graph, path=tmp_path / "d.png")
    assert drawn[0].axes[0].get_title("left") == "Sizes of the communities"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["communities", "leiden", "connected-components"])
def test_the_command_draws_communities(capsys, tmp_path, monkeypatch, drawn, command):
    if command == "leiden":
        pytest.importorskip("igraph")
    monkeypatch.chdir(tmp_path)
    arcs = generate.road(6, 7, lengths=True)
    with open("g.csv", "w") as file:
        file.writelines(f"{u},{v}\n" for u, v in arcs.edge_index.T.tolist())
        file.write("900,901\n")
    code, _, err = run(capsys, command, "g.csv", "--quiet", "--plot", "p.png")
    assert code == 0, err
    figure = drawn[0]
    text = keys(figure.axes[0])
    assert text and all("vert" in line or "other" in line for line in text)
    assert len(dots(figure.axes[0])) == arcs.num_nodes + 2
    if command == "connected-components":
        assert figure.get_suptitle() == "g.csv: 2 components"
    elif command == "leiden":
        assert figure.get_suptitle().startswith("g.csv: ")
        assert figure.get_suptitle().endswith(" communities")
