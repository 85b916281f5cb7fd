"""Names of vertices: where they come from, what keeps them, and what gives them back."""

import copy
import io
import pickle
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE
from hypothesis import given
from hypothesis import strategies as st

import torchcent
from torchcent import EdgeList, Graph, read

FRIENDS = [("Ada", "Bob"), ("Bob", "Cleo"), ("Dan", "Ada")]
NAMES = ["Ada", "Bob", "Cleo", "Dan"]


def named(**options: object) -> Graph:
    return Graph.from_edges(FRIENDS, **options)


def list_of(graph: Graph) -> list[object]:
    assert graph.labels is not None
    names: list[object] = graph.labels.tolist()
    return names


@pytest.mark.parametrize("labels", [None, True])
def test_pairs_of_names(labels: bool | None) -> None:
    graph = named(labels=labels)
    assert list_of(graph) == NAMES
    assert graph.to_edge_index().tolist() == [[0, 1, 3], [1, 2, 0]]
    rows = [list(end) for end in zip(*FRIENDS, strict=True)]
    array = np.array(FRIENDS)
    for same in (rows, array, array.T, array.astype(object), list(map(list, FRIENDS))):
        other = Graph.from_edges(same, labels=labels)
        assert other == graph and list_of(other) == NAMES
    weighted = named(edge_weight=[1, 2, 3], directed=False)
    assert weighted.weight.tolist() == [1, 3, 1, 2, 2, 3] and list_of(weighted) == NAMES


def test_numbers_may_be_names() -> None:
    graph = Graph.from_edges([(7, 10**12), (7, 3)], labels=True)
    assert graph.labels.dtype == np.int64 and list_of(graph) == [7, 10**12, 3]
    mixed = Graph.from_edges([("a", 1), ((2, 3), "a")], labels=True)
    assert list_of(mixed) == ["a", 1, (2, 3)]
    assert Graph.from_edges([(0, 1), (1, 2)], labels=True).labels is None
    assert Graph.from_edges([(0, 1), (1, 2)]).labels is None


@pytest.mark.parametrize(
    ("edges", "options", "said"),
    [
        ([("a", 1)], {}, "text and 1; labels=True"),
        ([("a", "")], {}, "a missing name"),
        ([("a", None)], {"labels": True}, "a missing name"),
        ([("a", float("nan"))], {"labels": True}, "a missing name"),
        ([("a", ["b"])], {"labels": True}, "a list, which cannot be the name"),
        ([("a", "b", "c")], {}, r"edges\[0\] has 3 entries"),
        ([("a", "b"), 5], {}, r"edges\[1\] is 5"),
        ([["a", "b"], ["c", "d"]], {}, "two pairs or a row of sources"),
        (FRIENDS, {"labels": False}, "must hold integer vertex ids, got 'Ada'"),
        (FRIENDS, {"labels": 1}, "labels must be"),
        (FRIENDS, {"num_nodes": 9}, "num_nodes is for numbers of vertices"),
    ],
)
def test_what_are_no_names(edges: object, options: dict[str, object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        Graph.from_edges(edges, **options)


def of_frame(library: str, rows: list[list[str]], **types: object) -> Graph:
    """The graph of a table of names."""
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    table = make(dict(zip(("source", "target"), rows, strict=True)))
    return Graph.from_table(table.astype(**types) if types else table)


def of_codes(rows: list[list[str]], pieces: int) -> Graph:
    """The graph of columns of Arrow in pieces, each with a dictionary of its own."""
    pyarrow = pytest.importorskip("pyarrow")
    step = len(rows[0]) // pieces + 1
    columns = [
        pyarrow.chunked_array(
            pyarrow.array(row[at : at + step]).dictionary_encode()
            for at in range(0, len(row), step)
        )
        for row in rows
    ]
    return Graph.from_table(pyarrow.table(columns, names=["source", "target"]))


def of_polars_codes(rows: list[list[str]], *ends: str) -> Graph:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(dict(zip(("source", "target"), rows, strict=True)))
    return Graph.from_table(table.with_columns(polars.col(*ends).cast(polars.Categorical)))


HOLDERS = {
    "pairs": lambda rows: Graph.from_edges(list(zip(*rows, strict=True))),
    "two rows": Graph.from_edges,
    "objects": lambda rows: Graph.from_edges(np.array(rows, object)),
    "U": lambda rows: Graph.from_edges(np.array(rows).T),
    "T": lambda rows: Graph.from_edges(np.array(rows, np.dtypes.StringDType())),
    "any names": lambda rows: Graph.from_edges(rows, labels=True),
    "pyarrow": lambda rows: of_frame("pyarrow", rows),
    "codes": lambda rows: of_codes(rows, 1),
    "codes in pieces": lambda rows: of_codes(rows, 3),
    "polars": lambda rows: of_frame("polars", rows),
    "polars codes": lambda rows: of_polars_codes(rows, "source", "target"),
    "polars codes and names": lambda rows: of_polars_codes(rows, "target"),
    **{
        f"pandas {kind}": lambda rows, kind=kind: of_frame("pandas", rows, dtype=kind)
        for kind in ("object", "str", "string[python]", "string[pyarrow]", "category")
    },
}


@cache
def many_names() -> tuple[list[list[str]], list[str], Graph]:
    """Rows of names, the names in order, and the graph."""
    ids = torch.randint(50_000, (70_000, 2), generator=torch.Generator().manual_seed(3)).tolist()
    rows = [[f"v{pair[k]:x}" + "ö" * (pair[k] % 3) for pair in ids] for k in (0, 1)]
    number: dict[int, int] = {}
    wanted = [[number.setdefault(x, len(number)) for x in pair] for pair in ids]
    names = [f"v{x:x}" + "ö" * (x % 3) for x in number]
    return rows, names, Graph.from_edges(list(map(tuple, wanted)))


@pytest.mark.sweep(by="kind")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("kind", HOLDERS)
def test_many_names(kind: str, count: int, threads: None) -> None:
    """Whatever holds them, they are numbered as they first appear, row by row."""
    rows, names, wanted = many_names()
    torch.set_num_threads(count)
    graph = HOLDERS[kind](rows)
    same = list_of(graph) == names and graph == wanted
    assert same  # pytest would compare long lists


@pytest.mark.parametrize(
    ("kind", "odd"),
    [(kind, odd) for kind in HOLDERS for odd in ("", "a\0b")]
    + [(kind, odd) for kind in list(HOLDERS)[:3] for odd in ("a\0", "\udcff")],
)
def test_odd_names_among_many(kind: str, odd: str) -> None:
    rows = [[f"v{(k * step) % 5000}" for k in range(5000)] for step in (1, 7)]
    rows[1][4000] = odd
    if not odd:
        with pytest.raises(ValueError, match="missing"):
            HOLDERS[kind](rows)
        return
    names = list_of(HOLDERS[kind](rows))
    assert len(names) == 5001 and names[1] == "v1" and odd in names


def test_what_many_names_may_not_be() -> None:
    rows: list[list[object]] = [[f"v{k}" for k in range(5000)], ["a"] * 5000]
    rows[0][4000] = 7
    with pytest.raises(TypeError, match="edges holds text and 7; labels=True takes both"):
        Graph.from_edges(rows)
    assert list_of(Graph.from_edges(rows, labels=True))[4001] == 7
    pandas = pytest.importorskip("pandas")
    for kind in ("object", "str"):
        table = pandas.DataFrame({"source": ["a"] * 5000, "target": ["b"] * 5000}, dtype=kind)
        table.loc[4000, "target"] = None
        with pytest.raises(ValueError, match="'target' .* 1 missing .*, the first in row 4000"):
            Graph.from_table(table)
    pyarrow = pytest.importorskip("pyarrow")
    for count in (10, 5000):
        column = pyarrow.array(["a"] * (count - 1) + [None]).dictionary_encode()
        with pytest.raises(ValueError, match=f"'u' .* 1 missing .*, the first in row {count - 1}"):
            Graph.from_table(pyarrow.table({"u": column, "v": ["b"] * count}))


def test_what_keeps_names(tmp_path: Path) -> None:
    graph = named(edge_weight=[1.0, 2.0, 3.0])
    for same in (
        graph.with_weights(torch.tensor([3.0, 2.0, 1.0])), graph.reversed(), graph.unweighted(),
        graph.with_ties("float"), graph.to("meta"), graph.to(DEVICE), copy.deepcopy(graph),
        copy.copy(graph), pickle.loads(pickle.dumps(graph)),
    ):  # fmt: skip
        assert list_of(same) == NAMES
    graph.save(tmp_path / "g.pt")
    assert list_of(Graph.load(tmp_path / "g.pt")) == NAMES
    file = io.BytesIO()
    torch.save(graph, file)
    file.seek(0)
    assert list_of(torch.load(file)) == NAMES
    torchcent.betweenness(graph)
    graph.drop_caches()
    assert list_of(graph) == NAMES
    with pytest.raises(ValueError, match="read-only"):
        graph.labels[0] = "Eva"
    with pytest.raises(AttributeError, match="frozen"):
        graph.labels = None


def test_names_cost_what_they_take_and_nothing_else() -> None:
    graph, plain = named(), Graph.from_edges([(0, 1), (1, 2), (3, 0)])
    assert graph.nbytes > plain.nbytes + 4 * 8
    assert graph.with_labels(None).nbytes == plain.nbytes
    assert graph == plain and hash(graph) == hash(plain)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=4), st.integers(), st.tuples(st.integers(-9, 9), st.text(max_size=2)),
            st.floats(allow_nan=False, allow_infinity=False), st.none(), st.binary(max_size=2),
        ),
        unique_by=lambda x: x, max_size=9,
    )
)  # fmt: skip
def test_names_of_all_kinds_in_files(tmp_path_factory: pytest.TempPathFactory, names: list) -> None:
    """Text, numbers and tuples come back as they were; others are refused when they are written."""
    path = tmp_path_factory.mktemp("names") / "g.pt"
    graph = Graph.from_edge_index(torch.empty(2, 0, dtype=torch.int64), len(names))
    graph = graph.with_labels(names)
    if any(isinstance(x, bytes) for x in names):
        with pytest.raises(ValueError, match=r"the label b.* cannot be stored"):
            graph.save(path)
        return
    graph.save(path)
    for back in (Graph.load(path), pickle.loads(pickle.dumps(graph))):
        kept = list(range(len(names))) if back.labels is None else list_of(back)
        assert kept == names
        wanted = list(range(len(names))) if graph.labels is None else list_of(graph)
        assert list(map(type, kept)) == list(map(type, wanted))


def forged(tmp_path: Path, graph: Graph, **changes: object) -> Path:
    path = tmp_path / "forged.pt"
    graph.save(path)
    torch.save(torch.load(path) | changes, path)
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label_ends": torch.tensor([3, 6, 10, 12])}, "do not end where they should"),
        ({"label_ends": torch.tensor([6, 3, 10, 13])}, "do not end where they should"),
        ({"label_ends": torch.tensor([-1, 6, 10, 13])}, "do not end where they should"),
        ({"label_ends": torch.tensor([3, 6, 13])}, "3 labels of 4 vertices"),
        ({"label_ends": torch.tensor([3.0])}, "."),
        ({"label_text": None}, "not arrays of numbers"),
        ({"label_text": torch.full((13,), 255, dtype=torch.uint8)}, "a label is no text"),
        ({"label_text": torch.full((13,), 65, dtype=torch.uint8)}, "have the same label"),
        ({"label_kind": "json"}, "not what was written"),
        ({"label_kind": "pickle"}, "label_kind"),
        ({"label_ids": torch.tensor([1, 1, 2, 3])}, "have the same label"),
        ({"label_ids": torch.tensor([1, 2])}, "2 labels of 4 vertices"),
    ],
)
def test_files_with_other_names_are_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Graph.load(forged(tmp_path, named(), **changes))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_networkx_and_back(kind: type[nx.Graph]) -> None:
    graph = kind([("a", (1, 2)), ((1, 2), 3), (3, "b")])
    graph.add_node("alone")
    back = Graph.from_networkx(graph).to_networkx()
    assert list(back) == list(graph)
    assert nx.utils.graphs_equal(back, graph)
    assert list(Graph.from_networkx(nx.path_graph(3)).to_networkx()) == [0, 1, 2]
    assert Graph.from_networkx(nx.path_graph(3)).labels is None


def test_igraph_and_back() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList(FRIENDS, directed=True)
    here = Graph.from_igraph(graph)
    assert list_of(here) == graph.vs["name"] == here.to_igraph().vs["name"]
    graph.vs["name"] = ["Ada", "Ada", "Bob", "Cleo"]
    with pytest.warns(UserWarning, match="'name' of the vertices is not taken.*some are the same"):
        assert Graph.from_igraph(graph).labels is None
    graph.vs["name"] = ["Ada", None, "Bob", "Cleo"]
    with pytest.warns(UserWarning, match="some are missing"):
        torchcent.betweenness(graph)


def test_files_give_their_names(tmp_path: Path) -> None:
    path = tmp_path / "friends.csv"
    path.write_text("source,target\nAda,Bob\nBob,Cleo\n")
    edges = read(path)
    assert list_of(edges.graph()) == ["Ada", "Bob", "Cleo"]
    assert set(edges.graph().to_networkx()) == {"Ada", "Bob", "Cleo"}
    assert torchcent.mcl(edges).clusters() == [["Ada", "Bob", "Cleo"]]
    twice = EdgeList(edges.edge_index, labels=["Ada", "Ada", "Bob"])
    with pytest.warns(UserWarning, match="the graph has no labels: some are the same"):
        assert twice.graph().labels is None


def test_vertices_by_name() -> None:
    graph = named()
    assert graph.vertices(["Dan", "Ada"]).tolist() == [3, 0]
    assert graph.vertices("Bob").tolist() == [1] and graph.vertices([]).tolist() == []
    assert Graph.from_edges([(0, 1)]).vertices([1, 0]).tolist() == [1, 0]
    tuples = graph.with_labels([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert tuples.vertices((1, 0)).tolist() == [2]
    for wrong in ("Eva", ["Ada", "Eva"], [["Ada"]], 7):
        with pytest.raises(ValueError, match="labels: no vertex is called.*such as 'Ada'"):
            graph.vertices(wrong)
    with pytest.raises(ValueError, match="no vertex is called 2"):
        Graph.from_edges([(0, 1)]).vertices([2])


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a"], "1 labels; accepted: 4"),
        (["a", "b", "a", "c"], "vertices 0 and 2 are both called 'a'"),
        (["a", [], "b", "c"], "keys of a dict"),
        ("abcd", "labels must be 4 names"),
        (5, "labels must be a sequence"),
    ],
)
def test_labels_that_are_refused(labels: object, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        named().with_labels(labels)


def test_clusters_and_top() -> None:
    graph = named(directed=False)
    clustering = torchcent.mcl(graph)
    numbers = [part.tolist() for part in clustering.clusters(False)]
    assert clustering.clusters() == [[NAMES[v] for v in part] for part in numbers]
    assert clustering.clusters(list("wxyz")) == [["wxyz"[v] for v in part] for part in numbers]
    with pytest.raises(ValueError, match="3 labels; accepted: 4"):
        clustering.clusters(list("abc"))
    sweep = torchcent.mcl_sweep(graph, inflations=[2.0])
    assert sweep[0].clusters() == clustering.clusters()
    plain = torchcent.mcl(graph.with_labels(None))
    assert all(isinstance(part, torch.Tensor) for part in plain.clusters())
    top = torchcent.betweenness_approx(graph).top(2)
    assert top.labels == [NAMES[v] for v in top.vertices.tolist()]
    assert torchcent.betweenness_approx(graph.with_labels(None)).top(2).labels is None


# Files of several months


def month(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_months_have_the_same_numbers(tmp_path: Path) -> None:
    first = read(month(tmp_path, "a.csv", "source,target\nBob,Ada\nBob,Cleo\n"))
    path = month(tmp_path, "b.csv", "source,target\nZoe,Bob\nAbe,7\n")
    for before in (first, first.graph(), first.labels, list(first.labels)):
        second = read(path, labels=before)
        assert list(second.labels) == ["Ada", "Bob", "Cleo", "7", "Abe", "Zoe"]
        assert second.edge_index.tolist() == [[5, 4], [1, 3]] and second.num_nodes == 6
    again = read(path, labels=read(path, labels=first))
    assert list(again.labels)[:3] == ["Ada", "Bob", "Cleo"] and again.num_nodes == 6


def test_months_of_numbers(tmp_path: Path) -> None:
    plain = read(month(tmp_path, "a.txt", "0 1\n1 2\n"))
    assert plain.labels is None
    path = month(tmp_path, "b.txt", "0 9\n2 7\n")
    second = read(path, labels=plain)
    assert second.labels.tolist() == [0, 1, 2, 7, 9]
    assert second.edge_index.tolist() == [[0, 2], [4, 3]]
    inside = read(month(tmp_path, "c.txt", "2 0\n"), labels=plain)
    assert inside.labels is None and inside.num_nodes == 3
    assert inside.edge_index.tolist() == [[2], [0]]
    text = read(month(tmp_path, "d.txt", "007 7\n"), labels=["7", "x"])
    assert list(text.labels) == ["7", "x", "007"] and text.edge_index.tolist() == [[2], [0]]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([1, 2], "its labels are names, such as 'Ada'"),
        (["a", 1], "labels must be the name of an attribute"),
        (["a", "a"], "both called 'a'"),
        (7, "labels must be a sequence"),
        ("name", "labels='name' is for GraphML and GML"),
    ],
)
def test_other_labels_of_months(tmp_path: Path, labels: object, said: str) -> None:
    path = month(tmp_path, "a.csv", "source,target\nAda,Bob\n")
    with pytest.raises((TypeError, ValueError), match=said):
        read(path, labels=labels)


def test_positions_move_with_their_vertices(tmp_path: Path) -> None:
    month(tmp_path, "g.co", "v 1 10 20\nv 2 30 40\n")
    path = month(tmp_path, "g.gr", "p sp 2 1\na 1 2 5\n")
    moved = read(path, labels=[9, 2])
    assert moved.labels.tolist() == [9, 2, 1]
    assert moved.positions.tolist()[1:] == [[30, 40], [10, 20]]
    assert moved.positions[0].isnan().all()


# Tables


def test_tables_of_scores() -> None:
    pandas = pytest.importorskip("pandas")
    graph = Graph.from_networkx(nx.florentine_families_graph())
    scores = torchcent.betweenness(graph)
    known = pandas.Series(nx.betweenness_centrality(nx.florentine_families_graph()))
    frame = torchcent.table(graph, betweenness=scores, degree=torchcent.degree(graph))
    assert list(frame.columns) == [
        "vertex", "betweenness", "betweenness_rank", "degree", "degree_rank"
    ]  # fmt: skip
    by_name = frame.set_index("vertex")
    np.testing.assert_allclose(by_name.betweenness, known[by_name.index], rtol=1e-6)
    wanted = by_name.degree.rank(method="min", ascending=False)
    assert by_name.degree_rank.tolist() == wanted.tolist()
    top = torchcent.table(graph, betweenness=scores, top=3, ranks=False)
    assert top.vertex.tolist() == known.sort_values(ascending=False).index[:3].tolist()
    assert list(torchcent.table(graph).columns) == ["vertex"]


@given(st.lists(st.one_of(st.integers(-3, 3), st.just(float("nan"))), max_size=12))
def test_ranks(values: list[float]) -> None:
    pandas = pytest.importorskip("pandas")
    graph = Graph.from_edge_index(torch.empty(2, 0, dtype=torch.int64), len(values))
    scores = torch.tensor(values, dtype=torch.float64)
    frame = torchcent.table(graph, x=scores, eccentricity=scores)
    for name, ascending in (("x", False), ("eccentricity", True)):
        wanted = pandas.Series(values, dtype=float).rank(
            method="min", ascending=ascending, na_option="bottom"
        )
        assert frame[f"{name}_rank"].tolist() == wanted.tolist()


def test_columns_of_many_kinds() -> None:
    pytest.importorskip("pandas")
    graph = named(directed=False)
    found = torchcent.betweenness_approx(graph)
    frame = torchcent.table(
        graph, hits=torchcent.hits(graph), cluster=torchcent.mcl(graph), estimate=found,
        features=torchcent.node_features(graph), kind=["a", "b", "a", "b"], ranks=False,
    )  # fmt: skip
    assert list(frame.columns) == [
        "vertex", "hits_hubs", "hits_authorities", "cluster", "estimate", "estimate_lower",
        "estimate_upper", "features_0", "features_1", "kind",
    ]  # fmt: skip
    assert frame.vertex.tolist() == NAMES
    ranked = torchcent.table(graph, cluster=torchcent.mcl(graph), estimate=found)
    assert "cluster_rank" not in ranked and "estimate_lower_rank" not in ranked
    half = torchcent.table(graph, x=torch.ones(4, dtype=torch.bfloat16))
    assert half.x_rank.tolist() == [1, 1, 1, 1]


def test_labels_have_no_ranks() -> None:
    pytest.importorskip("pandas")
    graph = named(directed=False)
    columns = {
        "community": torchcent.leiden(graph), "component": torchcent.connected_components(graph),
        "core": torchcent.core_number(graph), "degree": torchcent.degree(graph),
        "kind": ["a", "b", "a", "b"],
    }  # fmt: skip
    frame = torchcent.table(graph, **columns)
    assert [name for name in frame if name.endswith("_rank")] == ["degree_rank"]
    frame = torchcent.table(graph, **columns, ranks=["core"])
    assert [name for name in frame if name.endswith("_rank")] == ["core_rank"]
    assert frame.core_rank.tolist() == frame.core.rank(method="min", ascending=False).tolist()


def test_tables_of_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    graph = named()
    scores = torchcent.betweenness(graph)
    table = torchcent.table(graph, b=scores, format="arrow")
    assert table.column("vertex").to_pylist() == NAMES
    assert table.column("b_rank").to_pylist() == [1, 1, 3, 3]
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert torchcent.table(graph, b=scores).column_names == ["vertex", "b", "b_rank"]
    with pytest.raises(ImportError, match=r"torchcent\[table\]"):
        torchcent.table(graph, b=scores, format="pandas")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"b": torch.ones(3)}, r"b has shape \[3\]; accepted: \[4\]"),
        ({"vertex": torch.ones(4)}, "two columns are called 'vertex'"),
        ({"b": torch.ones(4), "b_rank": torch.ones(4)}, "two columns are called 'b_rank'"),
        ({"b": torch.ones(4), "top": -1}, "top=-1"),
        ({"top": 2}, "top is for tables with scores"),
        ({"b": torch.ones(4), "format": "csv"}, "format must be one of pandas, arrow"),
        ({"b": ["a", "b", "c", "d"], "ranks": ["b"]}, "ranks and top are of numbers"),
        ({"b": ["a", "b", "c", "d"], "top": 2}, "ranks and top are of numbers"),
        ({"b": torch.ones(4), "ranks": 1}, "ranks must be True, False or a list"),
        ({"b": torch.ones(4), "ranks": [["b"]]}, "ranks must be True, False or a list"),
        ({"b": torch.ones(4), "ranks": "b"}, "ranks must be True, False or a list"),
        ({"b": torch.ones(4), "ranks": ["c"]}, "ranks names 'c', which is no column"),
    ],
)
def test_tables_that_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        torchcent.table(named(), **options)
    with pytest.raises(TypeError, match="graph must be a torchcent.Graph"):
        torchcent.table(nx.path_graph(3))
