"""The figure: written whole, for every kind of scores."""

import math

import numpy as np
import pytest
import torch

import torchcent
from torchcent.plot import plot_network, plot_scores

pytest.importorskip("matplotlib")


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved."""
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig

    def keep(self, *args, **kwargs):
        figures.append(self)
        return save(self, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", keep)
    return figures


def texts(axes):
    return [t.get_text() for t in axes.texts]


@pytest.mark.slow
def test_three_panels_tell_the_scores(tmp_path, drawn):
    scores = torch.tensor([0.0, 0.1, 0.4, 0.2, 0.3])
    names = ["Ada", "Bob", "Cleo", "Di", "$x^"]
    plot_scores(torch.tensor([1, 2, 5, 3, 4]), scores, names, path=tmp_path / "s.png", title="T")
    spread, against, top = drawn[0].axes
    x, y = spread.lines[0].get_data()
    assert x.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert y.tolist() == pytest.approx([0.8, 0.6, 0.4, 0.2])
    assert "20% score 0" in texts(spread)
    points = sorted(against.collections[0].get_offsets().tolist())
    assert points == [pytest.approx(p) for p in ((2, 0.1), (3, 0.2), (4, 0.3), (5, 0.4))]
    assert "1 vertices score 0" in texts(against)
    assert [t.get_text() for t in top.get_yticklabels()] == ["Cleo", "$x^", "Di", "Bob"]
    widths = [bar.get_width() for bar in top.patches]
    assert widths == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert texts(top)[0] == "  0.4  (40.0%)"
    assert drawn[0].get_suptitle() == "T"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_formats(tmp_path, suffix, start):
    path = tmp_path / f"s{suffix}"
    path.write_text("old")
    index = torchcent.generate.grid(4, 5)
    graph = torchcent.Graph.from_edge_index(index, directed=False)
    plot_scores(graph, torch.arange(20.0), path=path)
    assert path.read_bytes().startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
def test_many_vertices_become_a_density(tmp_path, drawn):
    rng = np.random.default_rng(0)
    degree = rng.integers(0, 50, 5000)
    plot_scores(degree, degree * rng.random(5000), path=tmp_path / "s.png", measure="stress")
    against = drawn[0].axes[1]
    assert against.collections[0].get_array().sum() == (degree > 0).sum()
    assert against.get_ylabel() == "stress"
    assert drawn[0].get_suptitle() == "Stress of 5,000 vertices"


@pytest.mark.sweep(by="scores degree")
@pytest.mark.parametrize(
    "scores",
    [
        [],
        [0.0],
        [0.0, 0.0, 0.0],
        [2.0],
        [1.0, 1.0, 1.0],
        [1e-300, 1e300, 0.0],
        [math.inf, 1.0, 0.0],
        [math.nan, 1.0, 2.0],
        [math.inf, math.inf],
    ],
)
@pytest.mark.parametrize("degree", [0, 1, 3])
@pytest.mark.filterwarnings("error")
def test_odd_scores(tmp_path, scores, degree):
    path = tmp_path / "s.png"
    plot_scores(torch.full((len(scores),), degree), torch.tensor(scores), path=path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_errors(tmp_path, monkeypatch):
    one = torch.ones(1)
    with pytest.raises(ValueError, match=r"unknown suffix '.bmp'; accepted: .png .svg .pdf"):
        plot_scores(one, one, path=tmp_path / "s.bmp")
    with pytest.raises(ValueError, match="labels has 2 entries, but scores has 1"):
        plot_scores(one, one, ["a", "b"], path=tmp_path / "s.png")
    with pytest.raises(FileNotFoundError, match="no such directory"):
        plot_scores(one, one, path=tmp_path / "nowhere" / "s.png")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"of the extra torchcent\[plot\]"):
        plot_scores(one, one, path=tmp_path / "s.png")
    assert list(tmp_path.iterdir()) == []


# --- maps


SQUARE = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
CORNERS = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def drawn_lines(axes):
    """Each line of a map with its colour and width."""
    found = {}
    for collection in axes.collections:
        for path, color, width in zip(
            collection.get_paths(), collection.get_edgecolors(), collection.get_linewidths(),
            strict=False,
        ):  # fmt: skip
            if path.codes is not None and set(path.codes) == {1, 2}:
                for start, end in path.vertices.reshape(-1, 2, 2).tolist():
                    found[*start, *end] = color[:3].sum(), width
    return found


@pytest.mark.parametrize("lowest", [False, True])
@pytest.mark.parametrize("scores", [[0.1, 0.4, 0.2, 0.3], [1e-3, 0.4, 1e-2, 0.1]])
def test_edges_of_a_map(tmp_path, drawn, scores, lowest):
    """Every edge is at its place; the more central, the darker and wider."""
    plot_network(
        SQUARE, CORNERS, torch.tensor(scores), edges=True, lowest=lowest, path=tmp_path / "m.png"
    )
    axes, bar = drawn[0].axes
    lines = drawn_lines(axes)
    ends = [(*CORNERS[u].tolist(), *CORNERS[v].tolist()) for u, v in SQUARE.T.tolist()]
    assert set(lines) == set(ends)
    order = np.argsort(scores)[:: -1 if lowest else 1]
    light, wide = zip(*(lines[ends[e]] for e in order), strict=True)
    assert list(light) == sorted(light, reverse=True) and len(set(light)) == 4
    assert list(wide) == sorted(wide)
    assert axes.get_aspect() == 1 and bar.get_ylabel() == "betweenness"
    assert drawn[0].get_suptitle() == "Betweenness of 4 edges"


def test_vertices_of_a_map(tmp_path, drawn):
    """An edge has the colour of its less central end; what is unknown is left out."""
    places = torch.cat([CORNERS, torch.full((1, 2), math.nan)])
    index = torch.cat([SQUARE, torch.tensor([[0], [4]])], 1)
    scores = torch.tensor([0.1, 0.4, math.nan, 0.3, 0.9])
    names = ["Ada", "$x^", "Cleo", "Di", "Eve"]
    plot_network(index, places, scores, names, path=tmp_path / "m.pdf")
    axes = drawn[0].axes[0]
    assert set(drawn_lines(axes)) == {(0, 0, 1, 0), (0, 1, 0, 0)}
    points = axes.collections[-1].get_offsets().tolist()
    assert points == [[0, 0], [0, 1], [1, 0]]  # the highest score is drawn last
    assert {t.get_text() for t in axes.texts} == {"Ada", "$x^", "Di"}


def test_names_of_a_graph_are_shown(tmp_path, drawn):
    """Those of a Graph or an EdgeList; the numbers of vertices in a file are no names."""
    arcs = [("Ada", "Bob"), ("Bob", "Cleo"), ("Cleo", "Di")]
    named = torchcent.Graph.from_edges(arcs, directed=False)
    edges = torchcent.EdgeList(SQUARE[:, :3], labels=named.labels)
    numbered = torchcent.EdgeList(SQUARE[:, :3], labels=torch.arange(4).numpy() + 7)
    scores = torch.tensor([0.0, 0.4, 0.3, 0.0])
    for each, places in ((named, CORNERS), (named, None), (edges, None), (edges, CORNERS)):
        plot_network(each, places, scores, path=tmp_path / "m.png")
        assert {text.get_text() for text in drawn[-1].axes[0].texts} == {"Bob", "Cleo"}
    plot_network(named, CORNERS, scores, list("abcd"), path=tmp_path / "m.png")
    assert {text.get_text() for text in drawn[-1].axes[0].texts} == {"b", "c"}
    for each in (numbered, named.to_edge_index()):
        plot_network(each, CORNERS, scores, path=tmp_path / "m.png")
        assert not drawn[-1].axes[0].texts


def test_degrees_keep_their_proportions(tmp_path, drawn):
    places = CORNERS * torch.tensor([0.1, 0.1]) + torch.tensor([11.0, 59.95])
    plot_network(SQUARE, places, torch.ones(4), path=tmp_path / "m.png", crs="EPSG:4326")
    axes = drawn[0].axes[0]
    assert axes.get_aspect() == pytest.approx(2)  # 1 / cos(60 degrees)
    # A tenth of a degree of longitude is 5.6 km there.
    (text,) = texts(axes)
    (x, y), *_ = [line.get_xydata() for line in axes.lines]
    assert text == "1 km" and (y - x)[0] == pytest.approx(0.1 / 5.56, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("scores", [[0.0] * 4, [math.nan] * 4, [2.0] * 4, [math.inf, 0, 1, 2]])
@pytest.mark.parametrize("edges", [False, True])
def test_maps_of_any_scores(tmp_path, scores, edges):
    plot_network(SQUARE, CORNERS, torch.tensor(scores), edges=edges, path=tmp_path / "m.png")
    nowhere = torch.full((4, 2), math.nan)
    plot_network(SQUARE, nowhere, torch.tensor(scores), edges=edges, path=tmp_path / "m.png")
    plot_network(SQUARE[:, :0], CORNERS[:1], torch.zeros(1), path=tmp_path / "m.png")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"positions": torch.zeros(4)}, ValueError, r"positions must have shape \[n, 2\]"),
        ({"positions": [["a", "b"]]}, TypeError, "positions must be real numbers"),
        ({"positions": CORNERS[:3]}, ValueError, "edge_index holds 3, but positions has 3"),
        ({"edge_index": SQUARE[0]}, ValueError, r"edge_index must have shape \[2, E\]"),
        ({"edge_index": SQUARE.float()}, TypeError, "edge_index must hold integers"),
        ({"edge_index": -SQUARE}, ValueError, "edge_index holds -3"),
        ({"scores": torch.zeros(3)}, ValueError, "scores has 3 entries for 4 vertices"),
        (
            {"edge_index": SQUARE[:, :3], "scores": torch.zeros(3)},
            ValueError,
            "3 entries for 4 vertices; scores of edges need edges=True",
        ),
        ({"scores": torch.zeros(3)}, ValueError, "for 4 vertices$"),
        ({"scores": torch.zeros(3), "edges": True}, ValueError, "scores has 3 entries for 4 edges"),
        ({"labels": ["a"]}, ValueError, "labels has 1 entries, but positions has 4"),
        ({"crs": 4326}, TypeError, "crs must be a str or None"),
        ({"edges": 1}, TypeError, "edges must be"),
        ({"path": "m.gif"}, ValueError, "unknown suffix '.gif'"),
    ],
)
def test_bad_maps(tmp_path, given, error, said):
    whole = {
        "edge_index": SQUARE, "positions": CORNERS, "scores": torch.zeros(4),
        "path": tmp_path / "m.png",
    }  # fmt: skip
    with pytest.raises(error, match=said):
        plot_network(**whole | given)
    assert not list(tmp_path.iterdir())


# --- streets: the lines as they were read


def streets():
    """Two streets between the same places, of which the first is shorter, and others."""
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    lines = [
        shapely.LineString([(0, 0), (3, 4), (6, 0)]),
        shapely.LineString([(6, 0), (6, -9), (0, 0)]),
        shapely.LineString([(6, 0, 1), (9, 0, 2), (9, 2, 3), (12, 2, 4)]),
        shapely.LineString([(12, 2), (14, 2)]),
        shapely.LineString([(-4, 0), (0, 0)]),
    ]
    return lines, geopandas.GeoDataFrame(geometry=lines, crs=32633)


def bends(axes):
    """The lines of a map, as points without directions, with their colours."""
    found = {}
    for collection in axes.collections:
        colors = collection.get_edgecolors()
        for path, color in zip(collection.get_paths(), colors, strict=False):
            if path.codes is not None and set(path.codes) == {1, 2}:
                for part in np.split(path.vertices, np.flatnonzero(path.codes == 1)[1:]):
                    found[tuple(map(tuple, part.tolist()))] = color[:3].sum()
    return found


def test_streets_are_drawn_with_their_bends():
    lines, frame = streets()
    edges = torchcent.read_streets(frame)
    figure = plot_network(edges, scores=torch.tensor([3.0, 1, 2, 1, 1]), edges=True)
    axes = figure.axes[0]
    found = bends(axes)
    points = [tuple(point[:2] for point in line.coords) for line in lines]
    assert set(found) == set(points)
    assert found[points[0]] < found[points[2]] < found[points[1]]  # the higher, the darker
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert left < -4 and right > 14 and low < -9 and high > 4  # bends are on the map
    scored = plot_network(edges, scores=torch.arange(5.0))  # of vertices
    assert set(bends(scored.axes[0])) == set(points)
    straight = plot_network(edges.edge_index, edges.positions, torch.ones(5), edges=True)
    assert all(len(line) == 2 for line in bends(straight.axes[0]))


@pytest.mark.slow
def test_the_command_draws_the_streets(tmp_path, drawn):
    """Of parallel streets the shorter has the score; of both arcs of a street it is one line."""
    from torchcent.cli import main

    lines, frame = streets()
    frame["oneway"] = ["no", "no", "yes", "no", "no"]
    frame.to_file(tmp_path / "s.gpkg")
    for more in ([], ["--oneway", "oneway"]):
        command = ["edge-betweenness", str(tmp_path / "s.gpkg"), "--weights", "--quiet", *more]
        assert main([*command, "--plot", str(tmp_path / "s.png"), "--top", "0"]) == 0
        found = bends(drawn[-1].axes[0])
        points = [tuple(point[:2] for point in line.coords) for line in lines]
        assert set(found) == set(points)
        assert found[points[0]] < found[points[1]]


# --- transparent figures


def luminance(color):
    from matplotlib.colors import to_rgb

    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(color)]
    return sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.slow
def test_transparent_figures_are_read_on_white_and_on_black(tmp_path):
    """The background is not there, and text has a contrast of at least 4 with both (WCAG)."""
    import matplotlib

    with matplotlib.rc_context({"savefig.transparent": True}):
        plot_network(SQUARE, CORNERS, torch.arange(4.0), list("abcd"), path=tmp_path / "m.png")
        figure = plot_network(SQUARE, CORNERS, torch.arange(4.0), list("abcd"))
        plot_scores(torch.tensor([1, 2, 1]), torch.tensor([0, 1.0, 0]), path=tmp_path / "s.png")
    for name in ("m.png", "s.png"):
        pixels = matplotlib.image.imread(tmp_path / name)
        assert pixels[0, 0, 3] == 0 and pixels[:, :, 3].max() == 1
    written = [figure.axes[0].texts[0], figure.axes[1].yaxis.label, figure._suptitle]
    for color in [text.get_color() for text in written]:
        light = luminance(color)
        assert 1.05 / (light + 0.05) >= 4 and (light + 0.05) / 0.05 >= 4
    plot_network(SQUARE, CORNERS, torch.arange(4.0), path=tmp_path / "w.png")
    assert (matplotlib.image.imread(tmp_path / "w.png")[0, 0] == 1).all()
