"""The figure: written whole, for every kind of scores."""

import math

import numpy as np
import pytest
import torch

import torchcent
from torchcent.plot import plot_scores

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


def test_many_vertices_become_a_density(tmp_path, drawn):
    rng = np.random.default_rng(0)
    degree = rng.integers(0, 50, 5000)
    plot_scores(degree, degree * rng.random(5000), path=tmp_path / "s.png", measure="stress")
    against = drawn[0].axes[1]
    assert against.collections[0].get_array().sum() == (degree > 0).sum()
    assert against.get_ylabel() == "stress"
    assert drawn[0].get_suptitle() == "Stress of 5,000 vertices"


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
    with pytest.raises(ImportError, match=r"pip install torchcent\[plot\]"):
        plot_scores(one, one, path=tmp_path / "s.png")
    assert list(tmp_path.iterdir()) == []
