"""Interactive figures: one file that holds everything, as parsed and as a browser shows it."""

import json
import os
import re
import shutil
import time
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

import torchcent
from torchcent.__main__ import main
from torchcent.plot import NetworkPage, plot_network

# A path 0-1-2-3, a vertex aside, a loop.
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 3]])
PLACES = torch.tensor([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0], [3.0, 1.0], [9.0, 9.0]])
SCORES = torch.tensor([0.1, 0.4, 0.4, 0.2, 0.0])
TRIANGLES = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
NAMES = ["Ada", "Bob", "</script><b>", "Dié", "Eve"]


class _Elements(HTMLParser):
    """The elements of a page, and the text of those with an id."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.inside = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("id")

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


def content(page):
    return json.loads(_Elements(page).texts["data"])


def test_a_file_holds_the_network_and_asks_for_nothing(tmp_path):
    path = tmp_path / "n.HTML"
    path.write_text("old")
    clusters = {"a": torch.tensor([5, 7, 7, 7, 5]), "b": np.arange(5)}
    shown = plot_network(
        EDGES, PLACES, SCORES, NAMES, path=path, title="A & B", measure="load", communities=clusters
    )
    text = path.read_text(encoding="utf-8")
    assert shown is None and "<title>A &amp; B</title>" in text
    elements = _Elements(text)
    for _, attributes in elements.tags:
        assert not {"src", "href"} & set(attributes)
    policy = next(each["content"] for tag, each in elements.tags if "http-equiv" in each)
    assert not re.search(r"https?:|self|\*", policy) and policy.startswith("default-src 'none';")
    assert text.count("Permission is hereby granted") == 4
    data = content(text)
    assert data["names"] == NAMES and data["measure"] == "load" and data["of"] == "vertices"
    assert (data["x"], data["y"]) == ([0, 1, 2, 3, 9], [0, 0.5, 0, 1, 9])
    assert data["score"] == pytest.approx([0.1, 0.4, 0.4, 0.2, 0])
    assert data["rank"] == [4, 1, 1, 3, 5]
    assert (data["source"], data["target"]) == ([0, 1, 2], [1, 2, 3])  # without the loop
    assert [one["name"] for one in data["communities"]] == ["a", "b"]
    assert data["communities"][0] == {
        "name": "a", "at": 0,
        "levels": [{"name": "level 0", "label": [1, 0, 0, 0, 1], "sizes": [3, 2], "color": [0, 1]}],
    }  # fmt: skip


def levels_of(page):
    (kind,) = content(page.html)["communities"]
    return kind["name"], kind["at"], kind["levels"]


def test_parts_keep_their_colours_from_level_to_level():
    two, three = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 1, 1, 2, 2])
    page = plot_network(EDGES, PLACES, communities={"part": [two, three, two]}, interactive=True)
    name, at, levels = levels_of(page)
    assert (name, at, [one["name"] for one in levels]) == (
        "part", 0, ["level 0", "level 1", "level 2"]
    )  # fmt: skip
    # Of {1, 2}, {3, 4} and {0}, the first keeps the colour of {0, 1, 2}.
    assert [one["sizes"] for one in levels] == [[3, 2], [2, 2, 1], [3, 2]]
    assert [one["color"] for one in levels] == [[0, 1], [0, 1, 2], [0, 1]]
    swapped = [torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 0, 1, 1, 1])]
    *_, levels = levels_of(plot_network(EDGES, PLACES, communities=swapped, interactive=True))
    assert levels[1]["label"] == [1, 1, 0, 0, 0] and levels[1]["color"] == [1, 0]


@pytest.mark.parametrize("several", [[], [torch.zeros(5).long()] * 51])
def test_number_of_levels_is_limited(several):
    with pytest.raises(ValueError, match=f"1 to 50 levels, got {len(several)}"):
        plot_network(EDGES, PLACES, communities=several, interactive=True)


def test_a_sweep_draws_itself(tmp_path):
    sweep = torchcent.mcl_sweep(TRIANGLES, inflations=[1.2, 2, 6], directed=False)
    graph = torchcent.Graph.from_edge_index(TRIANGLES, directed=False)
    name, at, levels = levels_of(sweep.plot(graph, interactive=True))
    assert (name, at) == ("cluster", 0)
    assert [one["name"] for one in levels] == ["inflation 1.2", "inflation 2", "inflation 6"]
    assert [one["sizes"] for one in levels] == [x.sizes.tolist() for x in sweep.clusterings]
    assert sweep.plot(TRIANGLES, tmp_path / "s.html") is None
    assert content((tmp_path / "s.html").read_text())["communities"][0]["levels"] == levels
    (one,) = levels_of(sweep.clusterings[1].plot(graph, interactive=True))[2]
    assert one["sizes"] == [3, 3]
    # A sweep as communities= begins with the clustering of the largest modularity.
    best = max(range(3), key=lambda i: sweep.table[i]["modularity"])
    assert levels_of(plot_network(graph, communities=sweep, interactive=True))[1] == best
    with pytest.raises(TypeError, match="path must be"):
        sweep.plot(graph)


def test_a_division_draws_itself(tmp_path):
    division = torchcent.communities_by_betweenness(TRIANGLES, directed=False)
    name, at, levels = levels_of(division.plot(interactive=True))
    assert (name, at) == ("community", division.level)
    assert [len(one["sizes"]) for one in levels] == division.counts.tolist()
    assert levels[at]["name"] == f"modularity {float(division.modularity.max()):.3f}"
    assert division.plot(tmp_path / "d.html", level=0) is None
    assert content((tmp_path / "d.html").read_text())["communities"][0]["at"] == 0
    line = torch.stack([torch.arange(80), torch.arange(1, 81)])
    long = torchcent.communities_by_betweenness(line, directed=False)
    *_, levels = levels_of(long.plot(level=-1, interactive=True))
    counts = [len(one["sizes"]) for one in levels]
    assert 20 <= len(counts) <= 50 and (counts[0], counts[-1]) == (1, 81)
    assert counts == sorted(set(counts))
    with pytest.raises(TypeError, match="path must be"):
        division.plot()


def test_what_has_no_score_or_position_is_left_out():
    scores, places = SCORES.clone(), PLACES.clone()
    scores[0], places[3, 1] = float("nan"), float("nan")
    data = content(plot_network(EDGES, places, scores, interactive=True).html)
    assert data["ids"] == [1, 2, 4] and data["names"] is None
    assert (data["source"], data["target"]) == ([0], [1])


def test_edges_and_lowest():
    of_edges = torch.tensor([3.0, 1.0, 2.0, 9.0])
    data = content(
        plot_network(EDGES, PLACES, of_edges, edges=True, lowest=True, interactive=True).html
    )
    assert data["of"] == "edges" and data["score"] == [3, 1, 2] and data["rank"] == [3, 1, 2]


def test_degrees_layout_and_names_of_a_graph():
    networkx = pytest.importorskip("networkx")
    people = networkx.les_miserables_graph()
    page = plot_network(people, interactive=True)
    assert isinstance(page, NetworkPage) and "Degree of 77 vertices" in repr(page)
    data = content(page.html)
    assert data["score"] == [people.degree(name) for name in people]
    assert data["names"] == list(people) and len(data["source"]) == people.number_of_edges()
    assert np.isfinite(data["x"] + data["y"]).all()
    assert page._repr_html_().startswith("<iframe srcdoc=")
    numbered = networkx.relabel_nodes(people, {name: 100 + i for i, name in enumerate(people)})
    assert content(plot_network(numbered, interactive=True).html)["names"][0] == "100"


def test_a_page_needs_no_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    plot_network(EDGES, PLACES, path=tmp_path / "n.html")
    assert content((tmp_path / "n.html").read_text())["score"] == [1, 2, 2, 3, 0]


def test_an_approximation_draws_itself(tmp_path):
    found = torchcent.betweenness_approx(EDGES, directed=False)
    page = found.plot(interactive=True)
    assert content(page.html)["score"] == pytest.approx(found.scores.tolist())
    assert found.plot(tmp_path / "n.html") is None and (tmp_path / "n.html").exists()
    with pytest.raises(TypeError, match="path must be"):
        found.plot()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": "n.png", "interactive": True}, ValueError, "interactive=True writes .html"),
        ({"communities": torch.zeros(5), "interactive": True}, TypeError, "labels"),
        (
            {"communities": torch.zeros(4).long(), "interactive": True},
            ValueError,
            "4 entries for 5",
        ),
        ({"interactive": 1}, TypeError, "interactive"),
        ({"path": "n.htm"}, ValueError, "accepted: .png .svg .pdf .html"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        plot_network(EDGES, PLACES, **arguments)


def test_size_is_limited():
    with pytest.raises(ValueError, match="up to 100,000 vertices, got 100,001"):
        plot_network(EDGES, torch.zeros(100_001, 2), interactive=True)


#: of a triangle with a vertex at its side: whole, without it, without another one, all single;
#: there are four edges, and the degrees are 2, 2, 3 and 1
LEVELS = [
    f"modularity {sum(inside) / 4 - sum((x / 8) ** 2 for x in degrees):.3f}"
    for inside, degrees in (
        ([4], [8]),
        ([3, 0], [7, 1]),
        ([1, 0, 0], [5, 2, 1]),
        ([0], [2, 2, 3, 1]),
    )
]


@pytest.mark.parametrize(
    ("command", "measure", "communities"),
    [
        ("betweenness g.csv", "betweenness", []),
        ("edge-betweenness g.csv", "edge betweenness", []),
        ("mcl g.csv --sweep 1.4,4 -o c.txt", "degree", ["inflation 1.4", "inflation 4"]),
        ("communities g.csv --level 0 -o c.txt", "degree", LEVELS),
    ],
)
def test_command_line(tmp_path, monkeypatch, capsys, command, measure, communities):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.csv").write_text("ann,bob\nbob,cid\ncid,ann\ncid,dan\n")
    assert main([*command.split(), "--plot", "n.html"]) == 0
    data = content((tmp_path / "n.html").read_text())
    assert sorted(data["names"]) == ["ann", "bob", "cid", "dan"] and len(data["source"]) == 4
    assert data["measure"] == measure
    names = [level["name"] for kind in data["communities"] for level in kind["levels"]]
    assert names == communities
    assert "n.html" in capsys.readouterr().err


@pytest.fixture
def browser():
    """Chromium without a window: playwright's own, or the one of the system."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    software = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_api.sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        path = own if os.path.exists(own) else shutil.which("chromium")
        if path is None:
            pytest.skip("Chromium is not installed")
        shown = playwright.chromium.launch(executable_path=path, args=software)
        yield shown
        shown.close()


def until(page, condition):
    """Waits for it; playwright's own function needs eval, which the page forbids."""
    end = time.monotonic() + 30
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


@pytest.mark.slow
def test_a_browser_shows_names_finds_and_colours(tmp_path, browser):
    path = tmp_path / "n.html"
    clusters = torch.tensor([0, 0, 1, 1, 1])
    plot_network(EDGES, PLACES, SCORES, NAMES, path=path, communities=clusters, title="T")
    page, seen = browser.new_page(viewport={"width": 800, "height": 600}), []
    page.on("request", lambda request: seen.append(request.url))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    page.goto(path.as_uri())
    until(page, "Boolean(window.network)")
    page.wait_for_timeout(500)
    at = page.evaluate("network.renderer.graphToViewport(network.graph.getNodeAttributes('1'))")
    box = page.locator("#network").bounding_box()
    page.mouse.move(box["x"] + at["x"], box["y"] + at["y"])
    page.wait_for_selector("#hover:not([hidden])")
    lines = page.locator("#hover").inner_text().split("\n")
    assert lines == [
        "Bob",
        "betweenness 0.4",
        "rank 1 of 5",
        "degree 2",
        "community 2 (2 vertices)",
    ]
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.wait_for_selector("#hover", state="hidden")
    before = page.evaluate("network.camera.ratio")
    page.mouse.wheel(0, -300)
    until(page, f"network.camera.ratio < {before}")
    page.fill("#search", "dI")  # neither case nor place matters
    assert page.locator("#matches").inner_text().split() == ["Dié"]
    page.keyboard.press("Enter")
    until(page, "document.getElementById('hover').textContent.startsWith('Dié')")
    colour = "network.graph.getNodeAttribute('0', 'color')"
    by_community = page.evaluate(colour)
    page.select_option("#colour", "")
    assert page.evaluate(colour) != by_community
    assert "betweenness" in page.locator("#legend").inner_text()
    assert not page.locator("#levels").is_visible()  # of one level
    assert page.locator("#above").inner_text() == "all"
    page.locator("#least").press("End")  # the two best of equal scores are left
    until(page, "document.getElementById('above').textContent === '0.4: 2 of 5'")
    labels = "[0, 1, 2].map((v) => network.graph.getNodeAttribute(v, 'label'))"
    until(page, f"{labels}.join() === ',Bob,</script><b>'")
    assert seen == [path.as_uri()]


@pytest.mark.slow
def test_a_slider_chooses_the_level(tmp_path, browser):
    path = tmp_path / "n.html"
    levels = [torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 1, 1, 2, 2])]
    plot_network(EDGES, PLACES, path=path, communities={"part": levels})
    page, errors = browser.new_page(viewport={"width": 375, "height": 700}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    until(page, "Boolean(window.network)")
    assert page.locator("#chosen").inner_text() == "level 0: 2 parts"
    colours = "[0, 1, 3].map((v) => network.graph.getNodeAttribute(v, 'color'))"
    first = page.evaluate(colours)
    assert first[0] == first[1] != first[2]
    page.locator("#level").press("ArrowRight")
    until(page, f"{colours}.join() !== '{','.join(first)}'")
    after = page.evaluate(colours)
    assert page.locator("#chosen").inner_text() == "level 1: 3 parts"
    assert after[1:] == first[1:] and after[0] not in first
    assert "part 3: 1" in page.locator("#legend").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert errors == []


# What a text takes beside what a select has for it, less the arrow.
TEXTS = """[...document.querySelectorAll("select")].map((select) => {
  const context = document.createElement("canvas").getContext("2d");
  const { font, paddingLeft, paddingRight } = getComputedStyle(select);
  context.font = font;
  const arrow = 16, room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return room - arrow - context.measureText(select.selectedOptions[0].textContent).width;
})"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 375])
def test_a_dark_phone_shows_all(tmp_path, browser, width):
    path = tmp_path / "n.html"
    levels = torch.stack([torch.arange(5) // size for size in (3, 2)])
    plot_network(EDGES, PLACES, SCORES, path=path, communities={"community": list(levels)})
    page = browser.new_page(viewport={"width": width, "height": 600}, color_scheme="dark")
    page.goto(path.as_uri())
    until(page, "Boolean(window.network)")
    assert min(page.evaluate(TEXTS)) >= 0  # "by community" is not cut
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    network, legend = (page.locator(name).bounding_box() for name in ("#network", "#legend"))
    assert network["y"] + network["height"] <= legend["y"]
    assert legend["y"] + legend["height"] <= 600
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 24, 30)"
