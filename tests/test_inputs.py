"""What goes in: every kind of graph gives the scores that NetworkX gives for it."""

import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from standins import Dgl, DglOfTypes, GraphTool, SparseTensor
from surface import spread
from tuning import Tuning

import torchcent
from torchcent import Graph

# Edges in an order of their own, with lengths; vertex 6 has none.
PAIRS = [(3, 1), (0, 1), (1, 2), (2, 0), (4, 3), (5, 4), (5, 3), (2, 4)]
LENGTHS = [2.0, 1.0, 1.5, 4.0, 1.0, 0.5, 3.0, 2.5]
N = 7


def known(directed: bool, kind: str = "") -> nx.Graph:
    made = {"": (nx.Graph, nx.DiGraph), "Multi": (nx.MultiGraph, nx.MultiDiGraph)}[kind][directed]()
    made.add_nodes_from(range(N))
    made.add_weighted_edges_from((u, v, w) for (u, v), w in zip(PAIRS, LENGTHS, strict=True))
    return made


def igraph(directed: bool) -> Any:
    library = pytest.importorskip("igraph")
    return library.Graph(N, PAIRS, directed=directed, edge_attrs={"weight": LENGTHS})


def networkit(directed: bool) -> Any:
    library = pytest.importorskip("networkit")
    made = library.Graph(N, weighted=True, directed=directed)
    for (u, v), w in zip(PAIRS, LENGTHS, strict=True):
        made.addEdge(u, v, w)
    return made


#: name -> how it is made, what asks for its weights
LIBRARIES: dict[str, tuple[Callable[[bool], Any], object]] = {
    "networkx": (known, "weight"),
    "networkx multi": (lambda directed: known(directed, "Multi"), "weight"),
    "igraph": (igraph, "weight"),
    "networkit": (networkit, True),
    "graph-tool": (lambda directed: GraphTool(PAIRS, N, directed, weight=LENGTHS), "weight"),
}


def edges_of(given: Any) -> list[tuple[int, int]]:
    """The edges in the order of the library, by the library."""
    if isinstance(given, GraphTool):
        return list(map(tuple, given.get_edges().tolist()))
    if isinstance(given, nx.Graph):
        return list(given.edges())
    return given.get_edgelist() if hasattr(given, "es") else list(given.iterEdges())


def per_edge(scores: dict[tuple[int, int], float], edges: list[tuple[int, int]]) -> torch.Tensor:
    return torch.tensor([scores.get(e[:2], scores.get(e[1::-1])) for e in edges])


def close(found: torch.Tensor, wanted: Any) -> None:
    if isinstance(wanted, dict):
        wanted = torch.tensor([wanted[v] for v in sorted(wanted)])
    torch.testing.assert_close(found, wanted.to(found.dtype), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries(name: str, directed: bool) -> None:
    """Direction, order of edges and numbering are the library's; weights only if asked for."""
    make, asked = LIBRARIES[name]
    graph, given = known(directed), make(directed)
    close(torchcent.betweenness(given), nx.betweenness_centrality(graph))
    edges = edges_of(given)
    close(torchcent.edge_betweenness(given),
          per_edge(nx.edge_betweenness_centrality(graph), edges))  # fmt: skip
    close(torchcent.betweenness(given, asked), nx.betweenness_centrality(graph, weight="weight"))
    close(torchcent.closeness(given, asked), nx.closeness_centrality(graph, distance="weight"))
    length = [graph.edges[e]["weight"] for e in edges]
    for weights in (length, np.array(length), torch.tensor(length)):
        close(torchcent.betweenness(given, weights),
              nx.betweenness_centrality(graph, weight="weight"))  # fmt: skip
    undirected = graph.to_undirected()
    close(torchcent.harmonic(given, directed=False), nx.harmonic_centrality(undirected))
    if not directed:
        with pytest.raises(ValueError, match="directed=True contradicts the .* given"):
            torchcent.betweenness(given, directed=True)
    with pytest.raises(ValueError, match=r"num_nodes=9 contradicts the .* which has 7 vertices"):
        torchcent.betweenness(given, num_nodes=9)
    assert len(torchcent.betweenness(given, num_nodes=7)) == 7


@pytest.mark.parametrize("name", [name for name in LIBRARIES if name not in ("networkit",)])
def test_named_weights(name: str) -> None:
    given = LIBRARIES[name][0](False)
    with pytest.raises(ValueError, match="edge_weight='no'.*no such edge attribute; accepted: w"):
        torchcent.betweenness(given, "no")
    with pytest.raises(TypeError, match="edge_weight must be the name.*True"):
        torchcent.betweenness(given, True)


def matrix(directed: bool) -> scipy.sparse.csr_array:
    (row, col), n = np.array(PAIRS).T, N
    made = scipy.sparse.coo_array((LENGTHS, (row, col)), shape=(n, n)).tocsr()
    return made if directed else made + made.T


MATRICES: dict[str, Callable[[scipy.sparse.csr_array], Any]] = {
    **{name: lambda m, name=name: m.asformat(name) for name in ("csr", "csc", "coo", "lil")},
    "spmatrix": scipy.sparse.csr_matrix,
    "torch coo": lambda m: torch.tensor(m.toarray()).to_sparse(),
    "torch csr": lambda m: torch.tensor(m.toarray()).to_sparse_csr(),
    "torch csc": lambda m: torch.tensor(m.toarray()).to_sparse_csc(),
    "SparseTensor": lambda m: SparseTensor(
        *(torch.from_numpy(x).long() for x in m.tocoo().coords), N, torch.tensor(m.tocoo().data)
    ),
}  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str, directed: bool) -> None:
    """An entry (i, j) is an arc i -> j; a symmetric matrix is undirected."""
    graph, given = known(directed), MATRICES[name](matrix(directed))
    raw = nx.betweenness_centrality(graph, normalized=False)
    close(torchcent.betweenness(given, normalized=False), raw)
    close(torchcent.betweenness(given, True, normalized=False),
          nx.betweenness_centrality(graph, normalized=False, weight="weight"))  # fmt: skip
    close(torchcent.closeness(given, directed=False),
          nx.closeness_centrality(graph.to_undirected()))  # fmt: skip
    with pytest.raises(TypeError, match="edge_weight=True takes its values"):
        torchcent.betweenness(given, "weight")


@pytest.mark.parametrize("directed", [False, True])
def test_a_torch_matrix_back(directed: bool) -> None:
    graph = Graph.from_scipy(matrix(directed), edge_weight=True)
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        made = graph.to_torch_sparse(layout, dtype=torch.float64)
        assert made.layout == layout
        assert torch.equal(made.to_dense(), torch.tensor(matrix(directed).toarray()))
        assert Graph.from_torch_sparse(made, edge_weight=True) == graph
        ones = graph.unweighted().to_torch_sparse(layout)
        assert ones.dtype == torch.get_default_dtype()
        assert torch.equal(ones.to_dense() != 0, made.to_dense() != 0)
    with pytest.raises(TypeError, match="layout must be torch.sparse_csr.*torch.strided"):
        graph.to_torch_sparse(torch.strided)


def test_unchecked_sparse_tensors_are_checked() -> None:
    """PyTorch makes them without looking at their numbers."""
    ones = torch.ones(2)
    with torch.sparse.check_sparse_tensor_invariants(False):
        for pointers in ([0, 5, 1, 2], [1, 1, 1, 2], [0, 1, 1, 9], [0, -1, 1, 2]):
            bad = torch.sparse_csr_tensor(
                torch.tensor(pointers), torch.tensor([0, 1]), ones, (3, 3)
            )
            with pytest.raises(ValueError, match="edge_index has pointers that do not ascend"):
                torchcent.betweenness(bad)
        far = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 2**40]]), ones, (3, 3))
        with pytest.raises(ValueError, match="ids must be in"):
            torchcent.betweenness(far)
        low = torch.sparse_csc_tensor(
            torch.tensor([0, 1, 1, 2]), torch.tensor([0, -5]), ones, (3, 3)
        )
        with pytest.raises(ValueError, match="negative"):
            torchcent.betweenness(low)
    for shape in ((2, 3), (3, 3, 3)):
        with pytest.raises(ValueError, match="must be a square sparse matrix"):
            torchcent.betweenness(torch.ones(shape).to_sparse())


ARRAYS: dict[str, Callable[[list[tuple[int, int]]], Any]] = {
    "pairs": lambda pairs: pairs,
    "tuple of pairs": tuple,
    "lists": lambda pairs: [list(pair) for pair in pairs],
    "two lists": lambda pairs: [list(row) for row in zip(*pairs, strict=True)],
    "two arrays": lambda pairs: tuple(np.array(pairs).T),
    "two tensors": lambda pairs: list(torch.tensor(pairs).T),
    "[2, E]": lambda pairs: np.array(pairs).T,
    "[E, 2]": np.array,
    "uint64": lambda pairs: np.array(pairs, np.uint64),
    "big endian": lambda pairs: np.array(pairs, ">i4"),
    "NumPy's integers": lambda pairs: [(np.int32(u), np.int64(v)) for u, v in pairs],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_and_lists(name: str) -> None:
    """They are arcs, as in an edge_index; n is the largest id + 1 or num_nodes."""
    found = torchcent.betweenness(ARRAYS[name](PAIRS), num_nodes=N)
    close(found, nx.betweenness_centrality(known(True)))
    found = torchcent.edge_betweenness(ARRAYS[name](PAIRS), LENGTHS, num_nodes=N, directed=False)
    wanted = nx.edge_betweenness_centrality(known(False), weight="weight")
    close(found, per_edge(wanted, PAIRS))
    assert len(torchcent.closeness(ARRAYS[name](PAIRS))) == N - 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6))
@settings(deadline=None, max_examples=40)
def test_no_layout_is_guessed(pairs: list[tuple[int, int]]) -> None:
    """A list of tuples is never taken for two rows, whatever its length, nor an array of 2 x 2."""
    index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    expected = Graph.from_edge_index(index, 10)
    assert Graph.from_edges(pairs, 10) == expected
    for other in (np.array(pairs, int).reshape(-1, 2), index.numpy()):
        if len(pairs) == 2:
            with pytest.raises(ValueError, match=r"edges of shape \[2, 2\] may be two pairs or"):
                Graph.from_edges(other, 10)
        else:
            assert Graph.from_edges(other, 10) == expected
    assert Graph.from_edges((index[0], index[1]), 10) == expected


@pytest.mark.parametrize(
    ("bad", "error", "said"),
    [
        ([(0, 1, 2.5)], ValueError, r"edge_index\[0\] has 3 entries; weights go into edge_weight"),
        ([(0, 1), (1, 2, 3)], ValueError, r"edge_index\[1\] has 3 entries"),
        ([[0, 1, 2], [1, 2]], ValueError, "3 sources and 2 targets"),
        ([("Bern", "Thun")], TypeError, "integer vertex ids, got 'Bern'"),
        ([(0, True)], TypeError, "integer vertex ids, got True"),
        ([(0, 2**70)], ValueError, "beyond int64"),
        ([(0, -1)], ValueError, "negative"),
        ([0, 1], TypeError, r"edge_index\[0\] is 0"),
        (np.zeros((4, 2)), TypeError, "integer vertex ids, got float64"),
        (np.zeros((3, 4), int), ValueError, r"\[2, E\], or \[E, 2\].*\[3, 4\]"),
        (np.full((4, 2), 2**63, np.uint64), ValueError, "beyond int64"),
        ((np.zeros(2, int), np.zeros((2, 2), int)), ValueError, "two one-dimensional arrays"),
        ({0: [1]}, TypeError, "NetworkX, igraph, NetworKit, graph-tool or DGL.*got dict"),
        (nx.Graph, TypeError, "got the class networkx.Graph"),
        (scipy.sparse.csr_array, TypeError, "got the class scipy.sparse.csr_array"),
        (torch.nn.Linear(1, 1), TypeError, "got torch.nn.Linear"),
        (DglOfTypes(PAIRS, [N]), ValueError, r"several types.*dgl.to_homogeneous"),
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, type) else value.__name__,
)
def test_what_is_refused(bad: object, error: type[Exception], said: str) -> None:
    for measure in (torchcent.betweenness, torchcent.mcl):
        with pytest.raises(error, match=said):
            measure(bad)


def table(kind: str, **columns: list[Any]) -> Any:
    library = pytest.importorskip(kind.split()[0])
    if kind == "pyarrow":
        return library.table(columns)
    if kind == "pyarrow batch":
        return library.RecordBatch.from_pydict(columns)
    return library.DataFrame(columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "pyarrow batch"])
def test_tables(kind: str) -> None:
    tail, head = (list(end) for end in zip(*PAIRS, strict=True))
    named = table(kind, weight=LENGTHS, target=head, source=tail)
    wanted = nx.betweenness_centrality(known(True), weight="weight")
    close(torchcent.betweenness(named, num_nodes=N), nx.betweenness_centrality(known(True)))
    close(torchcent.betweenness(named, "weight", num_nodes=N), wanted)
    first = table(kind, a=tail, b=head, km=LENGTHS)
    close(torchcent.betweenness(first, "km", num_nodes=N), wanted)
    close(torchcent.betweenness(first, "km", num_nodes=N, directed=False),
          nx.betweenness_centrality(known(False), weight="weight"))  # fmt: skip
    turned = Graph.from_table(first, columns=("b", "a"), edge_weight="km", num_nodes=N)
    assert turned == Graph.from_table(named, edge_weight="weight", num_nodes=N).reversed()
    for bad, said in (
        ({"columns": ("a", "c")}, "columns='c'.*no such column.*'km'"),
        ({"columns": "ab"}, "columns must be a pair"),
        ({"edge_weight": "length"}, "edge_weight='length'.*no such column"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            Graph.from_table(first, **spread(bad))
    with pytest.raises(ValueError, match="must have two columns"):
        Graph.from_table(table(kind, a=[1]))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_of_names(kind: str) -> None:
    """Ids that are no vertex numbers are numbered on request, in the order of NetworkX."""
    names = ["Bern", "Thun", "Spiez", "Brig", "Visp", "Sion", "Chur"]
    tail, head = ([names[v] for v in end] for end in zip(*PAIRS, strict=True))
    given = table(kind, source=tail, target=head)
    with pytest.raises(TypeError, match=r"column 'source'.*from_table\(table\).*graph.labels"):
        torchcent.betweenness(given)
    graph = Graph.from_table(given)
    assert list(Graph.from_table(given, labels=True).labels) == list(graph.labels)
    other = nx.DiGraph(zip(tail, head, strict=True))
    assert list(graph.labels) == list(other)
    scores = nx.betweenness_centrality(other)
    close(torchcent.betweenness(graph), torch.tensor([scores[x] for x in graph.labels]))
    huge = Graph.from_table(
        table(kind, source=[10**12, 7], target=[7, 10**15]), labels=True, directed=False
    )
    assert huge.labels.tolist() == [10**12, 7, 10**15]
    assert huge.num_edges == 2 and not huge.directed
    with pytest.raises(ValueError, match="num_nodes is for numbers of vertices"):
        Graph.from_table(given, num_nodes=9)
    with pytest.raises(TypeError, match="column 'source' of table must hold integer"):
        Graph.from_table(given, labels=False)


def test_pytorch_geometric() -> None:
    data = pytest.importorskip("torch_geometric.data")
    index, length = torch.tensor(PAIRS).T, torch.tensor(LENGTHS)
    one = data.Data(edge_index=index, edge_weight=length, km=length[:, None], num_nodes=N)
    wanted = nx.betweenness_centrality(known(True), weight="weight")
    close(torchcent.betweenness(one), nx.betweenness_centrality(known(True)))
    for asked in (True, "edge_weight", "km"):
        close(torchcent.betweenness(one, asked), wanted)
    with pytest.raises(ValueError, match="edge_weight='miles'.*only edge_weight, km"):
        torchcent.betweenness(one, "miles")
    two = data.Batch.from_data_list([one, one])
    close(torchcent.betweenness(two, True), torch.tensor([*wanted.values()] * 2))
    assert torchcent.diameter(two).shape == (2,)
    with pytest.raises(ValueError, match="batch is for a graph without its own"):
        torchcent.betweenness(two, batch=torch.zeros(2 * N, dtype=torch.int64))
    sparse = data.Data(adj_t=SparseTensor(index[1], index[0], N, length), num_nodes=N)
    close(torchcent.betweenness(sparse, True), wanted)
    assert torchcent.Graph.from_data(one, edge_weight=True) == torchcent.Graph.from_data(
        torchcent.Graph.from_data(one, edge_weight=True).to_data(), edge_weight=True
    )
    batch = Graph.from_data(two)
    assert Graph.from_data(batch.to_data()) == batch
    hetero = data.HeteroData()
    with pytest.raises(ValueError, match=r"to_homogeneous"):
        torchcent.betweenness(hetero)
    edge_index = pytest.importorskip("torch_geometric").EdgeIndex(
        index.contiguous(), sparse_size=(N, N)
    )
    close(torchcent.betweenness(edge_index), nx.betweenness_centrality(known(True)))


def test_dgl() -> None:
    length = torch.tensor(LENGTHS)
    wanted = nx.betweenness_centrality(known(True), weight="weight")
    close(torchcent.betweenness(Dgl(PAIRS, [N], km=length), "km"), wanted)
    assert Graph.from_dgl(Dgl(PAIRS, [N], km=length), edge_weight="km").is_weighted
    twice = Dgl(PAIRS + [(u + N, v + N) for u, v in PAIRS], [N, N], km=length.repeat(2))
    close(torchcent.betweenness(twice, "km"), torch.tensor([*wanted.values()] * 2))
    assert Graph.from_dgl(twice, directed=False).num_graphs == 2


def test_filtered_graphs() -> None:
    """Of graph-tool: vertices are numbered as the view lists them. Of NetworKit: refused."""
    kept = [0, 1, 3, 4, 5]
    view = GraphTool(PAIRS, N, False, kept, weight=LENGTHS)
    wanted = nx.betweenness_centrality(known(False).subgraph(kept), weight="weight")
    close(torchcent.betweenness(view, "weight"), torch.tensor([wanted[v] for v in kept]))
    assert Graph.from_graph_tool(view, "weight").num_nodes == len(kept)
    holes = networkit(False)
    holes.removeNode(2)
    with pytest.raises(
        ValueError, match="graph has 6 vertices with ids up to 6.*getCompactedGraph"
    ):
        Graph.from_networkit(holes)


def test_files_and_names_of_methods() -> None:
    """What torchcent.read returns goes in, too, undirected as files are."""
    edges = torchcent.EdgeList(torch.tensor(PAIRS).T, torch.tensor(LENGTHS), num_nodes=N)
    close(
        torchcent.closeness(edges, True), nx.closeness_centrality(known(False), distance="weight")
    )
    weighted = Graph.from_networkx(known(True), "weight")
    assert Graph.from_igraph(igraph(True), "weight") == weighted
    assert Graph.from_networkit(networkit(True), edge_weight=True) == weighted
    assert Graph.from_graph_tool(GraphTool(PAIRS, N, True, km=LENGTHS), "km") == weighted
    assert Graph.from_edges(PAIRS, N, edge_weight=LENGTHS) == weighted


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_back_to_libraries(directed: bool, weighted: bool) -> None:
    graph = Graph.from_networkx(known(directed), "weight" if weighted else None)
    name = "weight" if weighted else None
    there = graph.to_networkx()
    assert there.number_of_edges() == len(PAIRS) and Graph.from_networkx(there, name) == graph
    pytest.importorskip("igraph")
    there = graph.to_igraph()
    assert (there.ecount(), there.vcount()) == (len(PAIRS), N)
    assert ("weight" in there.es.attributes()) == weighted
    assert Graph.from_igraph(there, name) == graph
    pytest.importorskip("networkit")
    there = graph.to_networkit()
    assert there.numberOfEdges() == len(PAIRS) and there.isWeighted() == weighted
    assert Graph.from_networkit(there, edge_weight=weighted) == graph


#: those that take a row beside each column of edge_index: positions, lengths, times
WITH_COLUMNS = ("dual_graph", "straightness", "windows")
SIBLINGS = {
    name: call
    for name, call in ((name, getattr(torchcent, name)) for name in torchcent.__all__)
    if name not in WITH_COLUMNS
    if inspect.isfunction(call) and "edge_index" in inspect.signature(call).parameters
}
NEEDED: dict[str, dict[str, Any]] = {
    "betweenness_adaptive": {"vertices": torch.tensor([3]), "epsilon": 0.2},
    "betweenness_approx": {"epsilon": 0.2},
    "current_flow_betweenness_approx": {"epsilon": 0.2},
    "betweenness_variant": {"variant": "linear"},
    "local_betweenness": {"radius": 1},
    "modularity": {"labels": torch.tensor([0, 0, 0, 1, 1, 1, 2])},
    "clustering_quality": {"clustering": torch.tensor([0, 0, 0, 1, 1, 1, 2])},
    "effective_resistance": {"pairs": torch.tensor([[0, 1], [3, 2]])},
    "explain": {"run": torchcent.Run(memory=10**9)},  # else that which is free, which changes
    "explain_mcl": {"run": torchcent.Run(memory=10**9)},
    "group_betweenness": {"group": [1, 3]},
    "group_closeness": {"group": [1, 3]},
    "group_degree": {"group": [1, 3]},
    "multi_search": {"visitor": torchcent.Visitor()},
    "pair_features": {"pairs": torch.tensor([[0, 1], [3, 2]])},
    "percolation": {"states": torch.linspace(0, 1, N)},
    "prominent_group": {"k": 2},
    "eigenspace_projections": {"k": 2},
    "heat_kernel_encoding": {"times": 1.0},
    "heat_kernel_pairs": {"times": 1.0},
    "landmark_distances": {"landmarks": 2, "selection": "random"},
    "laplacian_encoding": {"k": 2},
    "magnetic_encoding": {"k": 2},
    "random_walk_encoding": {"walk_length": 3},
    "random_walk_pairs": {"powers": 3},
    "reachable": {"sources": 0},
    "shortest_path": {"source": 0, "target": 3},
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_every_function_takes_them(name: str) -> None:
    """And gives what it gives for the Graph, or for the edge_index."""

    def call(given: Any, **options: Any) -> str:
        torch.manual_seed(0)
        if "generator" in inspect.signature(SIBLINGS[name]).parameters:
            options["generator"] = torch.Generator().manual_seed(1)
        return repr(SIBLINGS[name](edge_index=given, **NEEDED.get(name, {}), **options))

    assert len(SIBLINGS) > 25
    graph = known(False)
    expected = call(Graph.from_networkx(graph))
    assert call(graph) == expected
    assert call(matrix(False)) == call(Graph.from_scipy(matrix(False)))
    assert call(PAIRS, num_nodes=N, directed=False) == call(
        torch.tensor(PAIRS).T, num_nodes=N, directed=False
    )


def test_similarities_of_libraries() -> None:
    """mcl takes weights by name, as similarities: the larger of two, and 0 is no arc."""
    graph = known(False)
    graph.edges[5, 4]["weight"] = 0.0
    length = [d["weight"] for *_, d in graph.edges(data=True)]
    index = torch.tensor(list(graph.edges)).T
    expected = torchcent.mcl(index, torch.tensor(length), num_nodes=N, directed=False)
    plain = torchcent.mcl(index, num_nodes=N, directed=False)
    assert torch.equal(torchcent.mcl(graph).labels, plain.labels)
    for source, asked in ((graph, "weight"), (nx.to_scipy_sparse_array(graph), True)):
        assert torch.equal(torchcent.mcl(source, asked).labels, expected.labels)
        found = torchcent.clustering_quality(expected, source, asked)
        wanted = torchcent.clustering_quality(
            expected, index, torch.tensor(length), num_nodes=N, directed=False
        )
        assert found == pytest.approx(wanted)
    with pytest.raises(ValueError, match="similarities and must be finite and >= 0"):
        torchcent.mcl(PAIRS, [-float("inf")] * len(PAIRS))


@pytest.mark.parametrize("name", ["betweenness", "mcl"])
def test_the_oldest_ways_in_are_not_slower(name: str, tuning: Tuning) -> None:
    """A tensor and a Graph never reach the table of families."""
    tuning(arcs_of_objects=None)
    index = torch.tensor(PAIRS).T
    getattr(torchcent, name)(index)
    getattr(torchcent, name)(Graph.from_edge_index(index))
