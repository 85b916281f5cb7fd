"""Round trips between all pairs of formats: what a format does not hold, it says."""

import itertools
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from commands import run
from internals import HOLDS, WRITERS

from torchcent.io import EdgeList, read, write

#: a suffix of every format that is written, and what of it differs
SUFFIXES = [
    ".txt", ".tsv", ".csv", ".edges", ".abc", ".mci", ".mtx", ".graph", ".gr", ".npz", ".npy",
    ".pt", ".parquet", ".txt.gz", ".graphml",
]  # fmt: skip

F64 = torch.float64


def _edges(pairs, weight=None, **more):
    index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    weight = None if weight is None else torch.tensor(weight, dtype=F64)
    return EdgeList(index, weight, **more)


PATH = [(0, 1), (1, 2), (2, 3)]
GRAPHS = {
    "plain": _edges(PATH),
    "directed": _edges(PATH, directed=True),
    "directed both ways": _edges([*PATH, *((v, u) for u, v in PATH)], directed=True),
    "weights": _edges(PATH, [0.1, 1e-300, 2.0**53], directed=True),
    "decimals": _edges(PATH, [1 / 3, 1e300, 123456789.123456789]),
    "isolated": _edges([(1, 2), (2, 4)], num_nodes=7),
    "loops": _edges([*PATH, (1, 1)], [1.5, 2, 3, 4]),
    "parallel": _edges([(0, 1), (0, 1), (1, 2)], [3, 1, 2], directed=True),
    "parallel edges": _edges([(0, 1), (0, 1), (1, 2)], [3, 1, 2]),
    "names": _edges(PATH, labels=["Ann", "Bob", "Cleo", "Zoë"]),
    "blanks": _edges(PATH, [1, 2, 3.5], labels=["Ann Lee", "Bob, Jr.", 'C "X" D', "Z"]),
    "odd": _edges(PATH, labels=["#tag", "%", "a\tb", "é\u3000ü"]),
    "lines": _edges(PATH, labels=["a\nb", "", " x", "y"]),
    "mixed": _edges(PATH, labels=["12", "b", "c", "7"]),
    "isolated names": _edges([(0, 2)], labels=["a", "b b", "c", "d"], directed=True),
    "ids": _edges(PATH, labels=[5, 70, 800, 10**12]),
    "ids from 1": _edges(PATH, labels=[1, 2, 3, 4]),
    "empty": _edges([], num_nodes=0),
    "one": _edges([], num_nodes=1),
    "one named": _edges([], labels=["only one"]),
    "no edges": _edges([], num_nodes=3, directed=True),
    "positions": _edges(PATH, positions=torch.rand(4, 2, dtype=F64), crs="EPSG:4326"),
    "cycle": _edges([(0, 1), (1, 2), (2, 0)], [1, 2, 3], directed=True),
}


def _named(edges, by_place):
    """Edges by name, with weights; undirected ones with their ends in order."""
    names = list(map(str, range(edges.num_nodes) if by_place else edges.vertex_labels()))
    weight = [1.0] * edges.num_edges if edges.edge_weight is None else edges.edge_weight.tolist()
    rows = []
    for (u, v), w in zip(edges.edge_index.T.tolist(), weight, strict=True):
        ends = (names[u], names[v])
        rows.append((*(ends if edges.directed else sorted(ends)), w))
    return Counter(rows), sorted(names)


def _once(rows, directed):
    """Without the second listing of an undirected graph that lists both directions."""
    if directed or not rows or any(k % 2 for (u, v, *_), k in rows.items() if u != v):
        return rows
    return Counter({row: k if row[0] == row[1] else k // 2 for row, k in rows.items()})


def _counted(labels):
    return labels is None or (
        labels.dtype == np.int64 and (labels == np.arange(1, len(labels) + 1)).all()
    )


def check(edges, back, told):
    """Whatever differs is named in what was told."""
    by_place = _counted(edges.labels) and _counted(back.labels)
    (rows, names), (found, found_names) = (_named(x, by_place) for x in (edges, back))
    if edges.directed != back.directed:
        assert "that the graph is directed" in told
    if names != found_names:
        assert "of the vertices" in told or "vertices without edges" in told
    if "of the vertices" in told or edges.directed != back.directed:
        return
    if "the weights" in told:
        rows = Counter((u, v) for u, v, _ in rows.elements())
        found = Counter((u, v) for u, v, _ in found.elements())
    if rows != found:
        rows, found = (_once(x, edges.directed) for x in (rows, found))
    if rows != found:
        assert "repeated edges" in told or "loops" in told
        pairs, found_pairs = ({r[:2] for r in x} for x in (rows, found))
        assert pairs - found_pairs == {p for p in pairs if p[0] == p[1] and "loops" in told}
        assert set(found) <= set(rows)


def converted(edges, path):
    """The graph that is read from the file, and what was said; None if it was refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            write(path, edges)
        except ValueError as error:
            assert any(x in str(error) for x in ("cannot stand", "undirected graphs only"))
            return None, ""
    told = "; ".join(str(x.message) for x in caught)
    try:
        back = read(path, text_labels=True) if "--text-labels" in told else read(path)
    except ValueError as error:
        assert "empty file" in str(error) and edges.num_edges == 0
        assert "vertices without edges" in told or edges.num_nodes == 0
        return None, told
    return back, told


@pytest.mark.sweep(by="graph")
@pytest.mark.parametrize("first", SUFFIXES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_all_pairs(tmp_path, graph, first):
    if first == ".parquet":
        pytest.importorskip("pyarrow")
    edges = GRAPHS[graph]
    back, told = converted(edges, tmp_path / f"a{first}")
    if back is None:
        return
    check(edges, back, told)
    if edges.positions is not None:
        assert (back.positions is None) == ("the positions of the vertices" in told)
    for second in SUFFIXES:
        if second == ".parquet":
            pytest.importorskip("pyarrow")
        again, told = converted(back, tmp_path / f"b{second}")
        if again is not None:
            check(back, again, told)


def test_what_is_held_is_not_told(tmp_path):
    """A warning is about this graph, not about its format."""
    for suffix, graph in itertools.product(SUFFIXES, ("plain", "ids from 1")):
        told = converted(GRAPHS[graph], tmp_path / f"g{suffix}")[1]
        assert told == "" or (suffix == ".npy" and "ids" in told), (suffix, told)
    for suffix in (".pt", ".parquet"):
        for graph, edges in GRAPHS.items():
            told = converted(edges, tmp_path / f"g{suffix}")[1]
            assert told == "" or graph == "positions"


def test_messages(tmp_path):
    named = _edges(PATH, [1, 2, 2], labels=list("abcd"), directed=True)
    with pytest.warns(UserWarning) as caught:
        write(tmp_path / "g.npy", named)
    assert str(caught[0].message) == (
        ".npy does not hold the names of the vertices (convert --write-tab FILE keeps them), the "
        "weights, that the graph is directed (read with directed=True (--directed)); .txt .pt "
        ".parquet .graphml would"
    )
    integers = EdgeList(torch.tensor([[0], [1]]), torch.tensor([2**53 + 1]))
    with pytest.warns(UserWarning, match="1 weights beyond 2.53 exactly"):
        write(tmp_path / "g.txt", integers)
    write(tmp_path / "g.pt", integers)
    with pytest.warns(UserWarning, match="beyond 2.53 are rounded"):
        read(tmp_path / "g.pt")


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".npy", ".graph", ".gr", ".mci"])
def test_convert_says_so_and_the_table_keeps_them(capsys, tmp_path, suffix):
    (tmp_path / "g.csv").write_text('from,to\nAnn Lee,Bob\nBob,"Cleo, Jr."\n')
    out, tab = tmp_path / f"g{suffix}", tmp_path / "g.tab"
    code, _, err = run(capsys, "convert", tmp_path / "g.csv", out, "--quiet")
    assert code == 0 and "does not hold the names of the vertices (convert --write-tab" in err
    code, _, err = run(capsys, "convert", tmp_path / "g.csv", out, "--write-tab", tab, "--quiet")
    assert (code, err) == (0, "")
    code, _, err = run(capsys, "convert", out, tmp_path / "b.csv", "--use-tab", tab, "--quiet")
    assert (code, err) == (0, "")
    found, expected = (read(tmp_path / name) for name in ("b.csv", "g.csv"))
    assert found.labels.tolist() == expected.labels.tolist() == ["Ann Lee", "Bob", "Cleo, Jr."]
    check(expected, found, "")


def test_convert_says_where_it_counts_from(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    for one, other, said in [
        ("g.txt", "g.mtx", "; its vertices are counted from 1, those of the input from 0\n"),
        ("g.mtx", "g.npz", "; its vertices are counted from 0, those of the input from 1\n"),
        ("g.mtx", "g.gr", " edges\n"),
        ("g.txt", "h.npz", " edges\n"),
    ]:
        err = run(capsys, "convert", tmp_path / one, tmp_path / other)[2]
        assert err.endswith(said)


def table():
    """The lines of the table in docs/files.md."""
    heads = ("labels", "weights", "direction", "isolated vertices", "loops", "repeated edges")
    lines = ["| | " + " | ".join((*heads, "positions")) + " |", "|---" * 8 + "|"]
    directions = {
        "stated": "yes", "symmetric": "directed unless symmetric",
        "undirected": "undirected only", "asked": "no (`directed=`)",
    }  # fmt: skip
    labels = {"names": "any", "ids": "integers >= 0"}
    yes_or_no = {True: "yes", False: "no"}
    rows = {}
    for name, form in HOLDS.items():
        if name in ("blast", "gpkg", "shp", "geojson"):  # the page has sections about them
            continue
        only = "" if form.written and form.read else " (written only)" * form.written
        cells = [
            only or " (read only)" * form.read * (not form.written),
            labels.get(form.labels, f"counted from {form.first}"),
            yes_or_no[form.weights],
            directions[form.directions],
            yes_or_no[form.isolated],
            yes_or_no[form.loops],
            "yes" if form.repeated == "all" else f"the {form.repeated} weight",
            yes_or_no[form.positions],
        ]
        rows.setdefault(tuple(cells), []).extend(form.suffix.split())
    for (only, *cells), suffixes in rows.items():
        lines.append(f"| `{'` `'.join(suffixes)}`{only} | {' | '.join(cells)} |")
    return lines


def test_the_page_has_the_table():
    page = (Path(__file__).parents[1] / "docs" / "files.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in page, "\n".join(table())


def test_every_format_is_declared():
    from torchcent.io import FORMATS

    assert {name for name, form in HOLDS.items() if form.read} == {*FORMATS.values(), "csv"}
    assert {name for name, form in HOLDS.items() if form.written} == {*WRITERS, "csv"}
