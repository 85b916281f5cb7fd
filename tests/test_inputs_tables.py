"""Data frames as graphs: which columns are edges, and what is a matrix."""

import math
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch

import torchcent
from torchcent import Graph

pandas = pytest.importorskip("pandas")
DIRECTED = nx.DiGraph([("b", "a"), ("a", "c"), ("c", "d"), ("d", "a")])


@pytest.fixture(autouse=True)
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def frame(kind, **columns):
    library = pytest.importorskip(kind)
    return library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    "names",
    [("from", "to"), ("src", "dst"), ("gene1", "gene2"), ("u", "v"), ("sender_id", "receiver_id")],
)
def test_columns_by_their_names(kind, names):
    """In any order, beside any others."""
    source, target = names
    table = frame(kind, id=[9, 8, 7], **{target: [1, 2, 0], "weight": [1, 2, 3], source: [0, 1, 3]})
    wanted = Graph.from_edge_index(
        torch.tensor([[0, 1, 3], [1, 2, 0]]), edge_weight=torch.tensor([1.0, 2.0, 3.0])
    )
    assert Graph.from_table(table, edge_weight="weight") == wanted
    chosen = Graph.from_table(table, columns=(target, source), edge_weight="weight")
    assert chosen == wanted.reversed()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_only_two_columns(kind):
    wanted = Graph.from_edges([(0, 1), (1, 2)])
    ends = {"a": [0, 1], "b": [1, 2]}
    assert Graph.from_table(frame(kind, **ends)) == wanted
    assert Graph.from_table(frame(kind, weight=[5, 6], **ends)) == wanted
    assert Graph.from_table(frame(kind, score=[5, 6], **ends), edge_weight="score").is_weighted
    assert Graph.from_table(frame(kind, km=[5, 6], **ends), edge_weight="km").is_weighted


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_that_are_not_known_are_refused(kind):
    table = frame(kind, age=[0, 1], height=[1, 2], shoe=[2, 3])
    with pytest.raises(ValueError, match=r"\['age', 'height', 'shoe'\].*\[\['age', 'height'\]\]"):
        torchcent.betweenness(table)
    with pytest.raises(
        ValueError, match=r"table\[\['age', 'height'\]\].*columns=\('age', 'height'"
    ):
        Graph.from_table(table, labels=True)
    assert Graph.from_table(table, columns=("age", "height")).num_edges == 2
    matrix = frame(kind, a=[0, 1, 0, 0], b=[1, 0, 1, 0], c=[0, 1, 0, 1], d=[0, 0, 1, 0])
    with pytest.raises(ValueError, match=r"of an adjacency matrix pass scipy.sparse.csr_array"):
        torchcent.betweenness(matrix)


@pytest.mark.parametrize("dtype", [int, float, bool, "uint8", object])
@pytest.mark.parametrize("nodes", ["abcd", range(4), [(1, 2), (2, 3), (3, 4), (4, 5)]])
def test_adjacency_matrices(dtype, nodes):
    graph = nx.path_graph(4)
    table = nx.to_pandas_adjacency(nx.relabel_nodes(graph, dict(enumerate(nodes))), dtype=float)
    if any(isinstance(x, tuple) for x in nodes):  # a MultiIndex is not what it makes
        table.index = table.columns = pandas.Index(list(nodes), tupleize_cols=False)
    table = table.astype(dtype)
    assert torchcent.betweenness(table, normalized=False).tolist() == [0, 2, 2, 0]
    assert not Graph.from_table(table, directed=False).directed
    made = Graph.from_table(table)
    assert (made.labels is None) == (nodes == range(4))
    assert list(made.to_networkx()) == list(nodes)
    assert made.num_nodes == 4 and made.num_edges == 6


@pytest.mark.parametrize("missing", [0.0, math.nan])
def test_values_of_matrices(missing):
    graph = DIRECTED.copy()
    nx.set_edge_attributes(graph, {e: k + 0.5 for k, e in enumerate(graph.edges)}, "weight")
    graph.add_node("alone")
    table = nx.to_pandas_adjacency(graph, nonedge=missing)
    for given in (table, table[list(reversed(table.columns))]):
        scores = torchcent.betweenness(given, True)
        wanted = nx.betweenness_centrality(graph, weight="weight")
        np.testing.assert_allclose(scores.numpy(), [wanted[v] for v in table.index])
    made = Graph.from_table(table, edge_weight=True)
    assert list(made.labels) == list(graph)
    dense = made.to_scipy().toarray()
    np.testing.assert_array_equal(dense, nx.to_numpy_array(graph))
    with pytest.raises(TypeError, match="an adjacency matrix, has no named weights"):
        torchcent.betweenness(table, "a")
    with pytest.raises(ValueError, match="num_nodes=9 contradicts"):
        Graph.from_table(table, num_nodes=9, labels=False)
    with pytest.raises(TypeError, match="must hold real numbers"):
        torchcent.betweenness(table.astype(str).replace("0.5", "x"))


@pytest.mark.parametrize("n", [2, 3])
def test_small_tables_without_names_may_be_either(n):
    with pytest.raises(ValueError, match="may be a list of edges or an adjacency matrix"):
        torchcent.betweenness(nx.to_pandas_adjacency(nx.path_graph(n), dtype=int))
    named = pandas.DataFrame({"source": [0, 1], "target": [1, 2]})
    assert Graph.from_table(named).num_edges == 2


@pytest.mark.parametrize("n", [3, 4])
def test_square_arrays_are_no_edges(n):
    """An adjacency matrix is taken if it says that it is one."""
    matrix = nx.to_numpy_array(nx.path_graph(n), dtype=int)
    wanted = scipy.sparse.csr_array(matrix)
    for given in (matrix, matrix.tolist(), torch.from_numpy(matrix)):
        with pytest.raises(ValueError, match="of an adjacency matrix pass") as error:
            torchcent.betweenness(given)
        names = {"edge_index": given, "scipy": scipy, "numpy": np}
        passed = eval(str(error.value).partition("matrix pass ")[2], names)
        assert torchcent.betweenness(passed).equal(torchcent.betweenness(wanted))


def test_tables_without_names():
    """As pandas.read_csv(header=None) makes them."""
    table = pandas.DataFrame([[0, 1], [1, 2], [2, 3], [3, 4]])
    assert Graph.from_table(table).num_edges == 4
    weighted = pandas.DataFrame([[0, 1, 5], [1, 2, 6], [2, 3, 7], [3, 4, 8]])
    assert Graph.from_table(weighted, edge_weight=2).is_weighted
    with pytest.raises(ValueError, match=r"table\[\[0, 1\]\]"):
        Graph.from_table(pandas.DataFrame(np.zeros((5, 4), int)))


def test_cross_tabulations():
    calls = pandas.DataFrame({"caller": [0, 0, 1, 2, 3], "hour": [7, 8, 8, 8, 7]})
    with pytest.raises(ValueError, match=r"cross-tabulation.*'hour'.*\[\['caller', 'hour'\]\]"):
        torchcent.betweenness(pandas.crosstab(calls.caller, calls.hour))
    pairs = pandas.DataFrame({"a": list("xyzx"), "b": list("yzxy")})
    counts = pandas.crosstab(pairs.a, pairs.b)
    graph = Graph.from_table(counts, edge_weight=True)
    assert list(graph.labels) == ["x", "y", "z"] and graph.is_weighted
    assert graph.to_scipy().toarray().tolist() == [[0, 2, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("ids", [["Ann", None], [7, None]], ids=["names", "numbers"])
def test_missing_names(kind, ids):
    """They would all be one vertex."""
    table = frame(kind, source=ids, target=["Bob", "Cleo"])
    with pytest.raises(ValueError, match="column 'source' of table has 1 missing entries.* row 1"):
        Graph.from_table(table, labels=True)


@pytest.mark.parametrize("missing", [pandas.NA, pandas.NaT, math.nan])
def test_missing_names_of_pandas(missing):
    table = pandas.DataFrame({"from": ["Ann", "Bob"], "to": [missing, "Cleo"]})
    with pytest.raises(ValueError, match="column 'to' of table has 1 missing entries.* row 0"):
        Graph.from_table(table, labels=True)


@pytest.mark.parametrize("labels", [False, True])
def test_names_of_columns_that_repeat(labels):
    table = pandas.DataFrame([[0, 1, 9], [1, 2, 9]], columns=["source", "target", "source"])
    with pytest.raises(ValueError, match="table has 2 columns called 'source'"):
        Graph.from_table(table, labels=labels)
    graph = Graph.from_table(table.iloc[:, :2], labels=labels)
    assert graph.num_slots == 2


@pytest.mark.parametrize("read", [torchcent.betweenness, Graph.from_table])
@pytest.mark.parametrize("columns", [["name", "length"], ["name"], ["lanes", "name", "kind"], []])
def test_tables_of_lines(read, columns):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    lines = [shapely.LineString([(0, 0), (0, 1)]), shapely.LineString([(0, 1), (1, 1)])]
    streets = geopandas.GeoDataFrame({name: [1, 2] for name in columns}, geometry=lines, crs=32633)
    said = r"is a GeoDataFrame without columns of the ends.*torchcent\.read_streets\(table\)"
    with pytest.raises(ValueError, match=said):
        read(streets)
    assert torchcent.betweenness(torchcent.read_streets(streets).graph()).tolist() == [0, 1, 0]
    read(streets.assign(u=[0, 1], v=[1, 2]))
