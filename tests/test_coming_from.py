"""Rows of docs/coming_from.md: both calls run, and give the values that the other library gave.

    python tests/test_coming_from.py > tests/golden/coming_from.json

writes those values, with the libraries of the page.
"""

import importlib
import json
import re
from pathlib import Path

import pytest
import torch

import torchcent

networkx = pytest.importorskip("networkx")
HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "coming_from.md"
GOLDEN = HERE / "golden" / "coming_from.json"
#: rows without values to compare: what is random, or a picture, or no call
OTHERS = ("k=100", "layout", "gdf_to_nx", "louvain", "leiden", "rewire", "double_edge_swap")
ALPHA = 0.02


def rows(section, others=False):
    """The calls of the other library and ours, pair by pair; or those of OTHERS."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    for line in re.findall(r"^\| (`.*) \|$", text, re.M):
        theirs, ours = (re.findall(r"`([^`]*)`", cell) for cell in line.split(" | ")[:2])
        if any(word in theirs[0] for word in OTHERS) == others:
            yield from zip(theirs, ours, strict=True)


def graphs():
    """Les Miserables with lengths whose sums are exact, and with a direction for each edge."""
    people = networkx.convert_node_labels_to_integers(networkx.les_miserables_graph())
    for place, (_, _, data) in enumerate(people.edges(data=True)):
        data["length"] = data["w"] = float(1 + place % 7) / 4
    arcs = networkx.DiGraph()
    arcs.add_nodes_from(people)
    arcs.add_weighted_edges_from(people.edges(data="length"), "w")
    arcs.add_weighted_edges_from(((v, u, w) for u, v, w in [*arcs.edges(data="w")][::3]), "w")
    return people, arcs


def streets(golden):
    graph = networkx.MultiGraph(crs="EPSG:3857")
    graph.add_nodes_from(range(1 + max(max(ends[:2]) for ends in golden)))
    graph.add_weighted_edges_from(golden, "mm_len")
    return graph


def read_streets():
    """The streets of momepy's example, without their coordinates."""
    momepy, geopandas = importlib.import_module("momepy"), importlib.import_module("geopandas")
    lines = geopandas.read_file(momepy.datasets.get_path("bubenec"), layer="streets")
    graph = networkx.convert_node_labels_to_integers(momepy.gdf_to_nx(lines))
    return [[*ends] for ends in graph.edges(data="mm_len")]


def names(section, golden):
    people, arcs = graphs()
    if section == "momepy":
        return {"G": streets(golden["streets"])}
    if section == "igraph":
        return {"g": importlib.import_module("igraph").Graph.from_networkx(arcs)}
    return {"G": people, "D": arcs, "alpha": ALPHA}


def theirs(section, call, known):
    """The values of the other library, in the order of vertices or edges."""
    module = importlib.import_module(section.lower())
    if section == "igraph":
        return eval(call, known)
    result = eval(call, {**vars(module), **known})
    if section == "momepy":
        name = "closeness" if "closeness" in call else "betweenness"
        found = result.edges(data=name) if "edges" in call else result.nodes(data=name)
        return [row[-1] for row in found]
    if isinstance(result, dict):
        graph = known["D" if "(D" in call else "G"]
        return [result[key] for key in (graph.edges if "edge" in call else graph)]
    return result


def ours(call, known):
    public = {name: getattr(torchcent, name) for name in torchcent.__all__}
    return torch.as_tensor(eval(call, {**public, **known})).double().cpu()


def values(found):
    """Where a library has no value, or no path, as the page says it is here."""
    expected = torch.tensor(found, dtype=torch.float64)
    if expected.dim() == 2:  # distances
        return torch.where(expected.isinf(), -1.0, expected)
    return expected.nan_to_num(0.0)


SECTIONS = ("NetworkX", "igraph", "momepy")
PAIRS = [(section, *pair) for section in SECTIONS for pair in rows(section)]


def test_every_row_has_its_values():
    golden = json.loads(GOLDEN.read_text())
    assert {(section, call) for section in SECTIONS for call in golden[section]} == {
        (section, call) for section, call, _ in PAIRS
    }


@pytest.mark.parametrize(("section", "call", "our_call"), PAIRS)
def test_both_calls_agree(section, call, our_call):
    golden = json.loads(GOLDEN.read_text())
    if section == "igraph":
        pytest.importorskip("igraph")  # its graph is the argument
    known = names(section, golden)
    expected = values(golden[section][call])
    # NetworkX stops at a sum of errors of n tol = 7.7e-5.
    atol = 7.7e-5 if call == "pagerank(G)" else 1e-6
    torch.testing.assert_close(ours(our_call, known), expected, rtol=2e-5, atol=atol)


@pytest.mark.parametrize("section", ["NetworkX", "igraph"])
def test_what_is_random_keeps_the_vertices_and_degrees(section):
    pytest.importorskip("igraph")
    known = names(section, {})
    graph = known["G" if section == "NetworkX" else "g"]
    public = {name: getattr(torchcent, name) for name in torchcent.__all__}
    ours = [call for _, call in rows(section, others=True)]
    labels, other = (
        eval(call, {**public, **known})
        for word in ("leiden", "rewired") for call in ours if word in call
    )  # fmt: skip
    assert torchcent.modularity(graph, labels, directed=False) > 0.5
    for direction in ("out", "in"):
        degrees = [torchcent.degree(each, direction=direction) for each in (other, graph)]
        assert torch.equal(*degrees)


@pytest.mark.parametrize(("section", "call", "our_call"), PAIRS)
def test_the_library_still_says_so(section, call, our_call):
    pytest.importorskip(section.lower())
    golden = json.loads(GOLDEN.read_text())
    found = values(theirs(section, call, names(section, golden)))
    torch.testing.assert_close(found, values(golden[section][call]), rtol=1e-6, atol=1e-9)


if __name__ == "__main__":
    written = {"streets": read_streets()}
    for one in SECTIONS:
        known = names(one, written)
        written[one] = {call: theirs(one, call, known) for call, _ in rows(one)}
    print(json.dumps(written))
