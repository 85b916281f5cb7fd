"""torchcent.transforms on Data, Batch and HeteroData: values and places."""

import copy
import pickle
import subprocess
import sys
from typing import Any

import networkx as nx
import pytest
import torch
from graphs import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from tuning import Tuning

import torchcent

pytest.importorskip("torch_geometric")
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.transforms import Compose
from torch_geometric.utils import from_networkx

from torchcent.transforms import AddCentrality, AddClusters, AddEdgeCentrality

pytestmark = pytest.mark.sweep

MEASURES = ["betweenness", "closeness", "harmonic", "degree"]
DECIMALS = {"rtol": 1e-5, "atol": 1e-7}


def data_of(graph: nx.Graph, **attributes: Tensor) -> Data:
    """With both directions of every edge."""
    data = from_networkx(nx.DiGraph(graph))
    for name, value in attributes.items():
        data[name] = value
    return data.to(DEVICE)


def expected(graph: nx.Graph, normalized: bool = True, weight: str | None = None) -> Tensor:
    """What NetworkX says of MEASURES; raw scores of directed pairs, as PyG has both directions."""
    n = graph.number_of_nodes()
    arcs = nx.DiGraph(graph)
    most = max(n - 1, 1) if normalized else 1
    harmonic = nx.harmonic_centrality(graph, distance=weight)
    columns = [
        nx.betweenness_centrality(arcs, normalized=normalized, weight=weight),
        nx.closeness_centrality(graph, distance=weight),
        {v: x / most for v, x in harmonic.items()},
        {v: d / most for v, d in graph.degree},
    ]
    rows = [[float(column[v]) for column in columns] for v in graph]
    return torch.tensor(rows, dtype=torch.float64, device=DEVICE).float()


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    """Also without edges, and with a single vertex."""
    n = draw(st.integers(1, 8))
    graph = nx.empty_graph(n)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    graph.add_edges_from(draw(st.lists(pairs, max_size=14)) if n > 1 else [])
    return graph


@settings(max_examples=25)
@given(graph=graphs(), normalized=st.booleans())
def test_values_are_those_of_networkx(graph: nx.Graph, normalized: bool) -> None:
    made = AddCentrality(MEASURES, normalized=normalized)(data_of(graph))
    assert made.centrality.dtype == torch.float32
    torch.testing.assert_close(made.centrality, expected(graph, normalized), **DECIMALS)


@settings(max_examples=25)
@given(members=st.lists(graphs(), min_size=1, max_size=5), log=st.booleans())
def test_a_batch_is_each_graph_alone(members: list[nx.Graph], log: bool) -> None:
    transform = AddCentrality(MEASURES, log=log)
    alone = [transform(data_of(graph)) for graph in members]
    joined = transform(Batch.from_data_list([data_of(graph) for graph in members]))
    torch.testing.assert_close(joined.centrality, Batch.from_data_list(alone).centrality)
    for part, one in zip(joined.to_data_list(), alone, strict=True):
        torch.testing.assert_close(part.centrality, one.centrality)
        assert torch.equal(part.edge_index, one.edge_index)


def test_log() -> None:
    graph = nx.barbell_graph(4, 2)
    made = AddCentrality(MEASURES, normalized=False, log=True)(data_of(graph))
    torch.testing.assert_close(made.centrality, expected(graph, False).log1p(), **DECIMALS)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_weights_are_lengths(shape: tuple[int, ...]) -> None:
    graph = nx.cycle_graph(6)
    for number, (u, v) in enumerate(graph.edges):
        graph.edges[u, v]["length"] = float(number + 1)
    data = from_networkx(nx.DiGraph(graph)).to(DEVICE)
    data.length = data.length.reshape(shape)
    made = AddCentrality(MEASURES, edge_weight="length")(data)
    torch.testing.assert_close(made.centrality, expected(graph, weight="length"), **DECIMALS)
    plain = AddCentrality(MEASURES)(data)  # never taken without being asked for
    torch.testing.assert_close(plain.centrality, expected(graph), **DECIMALS)


def test_one_way_arcs_are_followed_unless_told_otherwise() -> None:
    arcs = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3).to(DEVICE)
    found = AddCentrality(["closeness"])(arcs).centrality[:, 0]
    by_networkx = nx.closeness_centrality(nx.DiGraph([(0, 1), (1, 2)]))
    assert found.tolist() == pytest.approx([by_networkx[v] for v in range(3)])
    found = AddCentrality(["closeness"], directed=False)(arcs).centrality[:, 0]
    by_networkx = nx.closeness_centrality(nx.path_graph(3))
    assert found.tolist() == pytest.approx([by_networkx[v] for v in range(3)])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_beside_x_in_its_dtype(dtype: torch.dtype) -> None:
    graph = nx.lollipop_graph(4, 3)
    x = torch.rand(7, 2).to(DEVICE, dtype)
    made = AddCentrality(MEASURES, attr_name=None)(data_of(graph, x=x))
    assert made.x.dtype == dtype and made.x.device == x.device and made.x.shape == (7, 6)
    assert torch.equal(made.x[:, :2], x)
    exact = {torch.float16: 1e-3, torch.float32: 1e-6, torch.float64: 1e-5}[dtype]
    wanted = expected(graph).to(dtype)
    torch.testing.assert_close(made.x[:, 2:], wanted, rtol=exact, atol=exact)


def test_beside_x_of_one_dimension_and_in_place_of_none() -> None:
    graph = nx.path_graph(3)
    flat = AddCentrality(["closeness"], None)(data_of(graph, x=torch.ones(3)))
    assert flat.x.shape == (3, 2)
    made = AddCentrality(["closeness"], None)(data_of(graph))
    assert made.x.shape == (3, 1)


def test_double_precision_by_default_dtype() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        found = AddCentrality(["closeness"])(data_of(nx.path_graph(3))).centrality
    finally:
        torch.set_default_dtype(torch.float32)
    assert found.dtype == torch.float64 and float(found[0]) == 2 / 3


def test_the_data_given_stay_as_they_are() -> None:
    data = data_of(nx.path_graph(3), x=torch.ones(3, 1))
    batch = Batch.from_data_list([data, data])
    for given_data in (data, batch):
        before = copy.deepcopy(given_data.to_dict())
        AddCentrality(attr_name=None)(given_data)
        AddCentrality()(given_data)
        AddEdgeCentrality()(given_data)
        AddClusters()(given_data)
        after = given_data.to_dict()
        assert after.keys() == before.keys()
        assert all(torch.equal(after[k], v) for k, v in before.items() if isinstance(v, Tensor))
    assert set(batch.get_example(1).keys()) == set(data.keys())


def test_gradients_of_x_go_on() -> None:
    x = torch.ones(3, 1, device=DEVICE, requires_grad=True)
    AddCentrality(attr_name=None)(data_of(nx.path_graph(3), x=x)).x.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_vertices_of_a_batch_in_any_order() -> None:
    """As disjoint samples of neighbours have them."""
    graphs = [nx.lollipop_graph(3, 2), nx.star_graph(4), nx.path_graph(2)]
    joined = Batch.from_data_list([data_of(graph) for graph in graphs])
    shuffle = torch.randperm(joined.num_nodes, generator=torch.Generator().manual_seed(1))
    place = torch.empty_like(shuffle)
    place[shuffle] = torch.arange(len(shuffle))
    shuffle, place = shuffle.to(DEVICE), place.to(DEVICE)
    mixed = Data(edge_index=place[joined.edge_index], batch=joined.batch[shuffle])
    mixed.num_nodes = joined.num_nodes
    for transform in (AddCentrality(MEASURES), AddClusters(attr_name="centrality")):
        found = transform(mixed).centrality
        torch.testing.assert_close(found, transform(joined).centrality[shuffle])
    edges = AddEdgeCentrality()(mixed).edge_centrality
    torch.testing.assert_close(edges, AddEdgeCentrality()(joined).edge_centrality)


def test_edge_index_objects() -> None:
    graph = nx.lollipop_graph(4, 3)
    data = data_of(graph)
    data.edge_index = EdgeIndex(data.edge_index, sparse_size=(7, 7)).sort_by("row").values
    torch.testing.assert_close(
        AddCentrality(MEASURES)(data).centrality, expected(graph), **DECIMALS
    )


@pytest.mark.parametrize("normalized", [True, False])
def test_edges(normalized: bool) -> None:
    graph = nx.lollipop_graph(4, 3)
    data = data_of(graph, edge_attr=torch.zeros(18, 2, dtype=torch.float64))
    by_networkx = nx.edge_betweenness_centrality(nx.DiGraph(graph), normalized=normalized)
    wanted = torch.tensor([by_networkx[u, v] for u, v in data.edge_index.T.tolist()]).to(DEVICE)
    made = AddEdgeCentrality(normalized=normalized)(data)
    torch.testing.assert_close(made.edge_centrality, wanted, **DECIMALS)
    logarithm = AddEdgeCentrality(normalized=normalized, log=True)(data)
    torch.testing.assert_close(logarithm.edge_centrality, wanted.log1p(), **DECIMALS)
    beside = AddEdgeCentrality(None, normalized)(data)
    assert beside.edge_attr.dtype == torch.float64 and beside.edge_attr.shape == (18, 3)
    torch.testing.assert_close(beside.edge_attr[:, 2].float(), wanted, **DECIMALS)
    assert made.is_edge_attr("edge_centrality") and not made.is_node_attr("edge_centrality")


def test_edges_of_a_batch() -> None:
    graphs = [nx.lollipop_graph(4, 3), nx.star_graph(4), nx.empty_graph(2)]
    alone = [AddEdgeCentrality()(data_of(graph)) for graph in graphs]
    joined = AddEdgeCentrality()(Batch.from_data_list([data_of(graph) for graph in graphs]))
    for part, one in zip(joined.to_data_list(), alone, strict=True):
        torch.testing.assert_close(part.edge_centrality, one.edge_centrality)


def test_empty_graphs() -> None:
    """Alone, and between others in a batch."""
    none = Data(edge_index=torch.empty(2, 0, dtype=torch.int64), x=torch.ones(0, 1)).to(DEVICE)
    path = data_of(nx.path_graph(3), x=torch.ones(3, 1))
    add = Compose([AddCentrality(MEASURES), AddEdgeCentrality(), AddClusters()])
    made = add(none)
    assert made.centrality.shape == (0, 4) and made.cluster.shape == made.edge_centrality.shape
    parts = add(Batch.from_data_list([none, path, none, path, none])).to_data_list()
    for part, one in zip(parts, [none, path, none, path, none], strict=True):
        torch.testing.assert_close(part.centrality, add(one).centrality)
        assert torch.equal(part.cluster, add(one).cluster)
    assert add(Batch.from_data_list([none, none])).centrality.shape == (0, 4)


def test_clusters() -> None:
    graphs = [nx.barbell_graph(5, 0), nx.path_graph(1), nx.connected_caveman_graph(3, 4)]
    alone = [AddClusters()(data_of(graph)) for graph in graphs]
    halves = alone[0].cluster
    assert halves.dtype == torch.int64 and halves.tolist() == [0] * 5 + [1] * 5
    assert alone[2].cluster.unique().numel() == 3
    joined = AddClusters()(Batch.from_data_list([data_of(graph) for graph in graphs]))
    assert torch.equal(joined.cluster, torch.cat([one.cluster for one in alone]))
    assert [int(part.cluster.min()) for part in joined.to_data_list()] == [0, 0, 0]
    assert Batch.from_data_list(alone).cluster.tolist() == joined.cluster.tolist()  # no offsets


def test_clusters_by_similarity() -> None:
    """Two pairs of a square hold together, by the weights alone."""
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]], device=DEVICE)
    data = Data(edge_index=square, num_nodes=4, near=torch.tensor([9.0, 0.1, 9.0, 0.1]).to(DEVICE))
    found = AddClusters(edge_weight="near", directed=False)(data).cluster
    assert found.tolist() == [0, 0, 1, 1]
    coarse = AddClusters(inflation=1.1, directed=False)(data).cluster
    assert coarse.unique().numel() == 1


def library() -> tuple[HeteroData, nx.DiGraph]:
    """Authors write papers, papers cite papers; and the same as one directed graph."""
    data = HeteroData()
    data["author"].num_nodes = 3
    data["paper"].x = torch.ones(4, 1)
    data["shelf"].num_nodes = 2
    writes = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 3]])
    cites = torch.tensor([[1, 2, 3], [0, 1, 2]])
    data["author", "writes", "paper"].edge_index = writes
    data["paper", "cites", "paper"].edge_index = cites
    graph = nx.DiGraph()
    graph.add_nodes_from([("author", v) for v in range(3)] + [("paper", v) for v in range(4)])
    graph.add_nodes_from([("shelf", v) for v in range(2)])
    graph.add_edges_from((("author", a), ("paper", b)) for a, b in writes.T.tolist())
    graph.add_edges_from((("paper", a), ("paper", b)) for a, b in cites.T.tolist())
    return data.to(DEVICE), graph


def check_hetero(data: HeteroData, graph: nx.DiGraph, name: str = "centrality") -> None:
    columns = nx.betweenness_centrality(graph), nx.closeness_centrality(graph)
    for kind in {kind for kind, _ in graph}:
        rows = [[c[kind, v] for c in columns] for v in range(data[kind].num_nodes)]
        torch.testing.assert_close(data[kind][name], torch.tensor(rows, device=DEVICE), **DECIMALS)


def test_heterogeneous_graphs_are_one_graph() -> None:
    data, graph = library()
    check_hetero(AddCentrality()(data), graph)
    beside = AddCentrality(attr_name=None)(data)
    assert beside["paper"].x.shape == (4, 3) and beside["author"].x.shape == (3, 2)


def test_edge_types_are_a_graph_of_their_own() -> None:
    data, graph = library()
    cites = [("paper", "cites", "paper")]
    made = AddCentrality(edge_types=cites, attr_name="cited")(data)
    check_hetero(made, graph.subgraph([v for v in graph if v[0] == "paper"]), "cited")
    assert "cited" not in made["author"]
    made = AddCentrality(edge_types=[*cites, ("author", "writes", "paper")])(data)
    check_hetero(made, graph.subgraph([v for v in graph if v[0] != "shelf"]))
    assert "centrality" not in made["shelf"]


def test_batches_of_heterogeneous_graphs() -> None:
    data, graph = library()
    small = HeteroData()
    small["author"].num_nodes, small["shelf"].num_nodes = 1, 0
    small["paper"].x = torch.ones(2, 1)
    small["author", "writes", "paper"].edge_index = torch.tensor([[0], [1]])
    small["paper", "cites", "paper"].edge_index = torch.tensor([[1], [0]])
    members = [data, small.to(DEVICE), data]
    transforms = [AddCentrality(MEASURES), AddEdgeCentrality(), AddClusters(directed=False)]
    alone = [Compose(transforms)(one) for one in members]
    joined = Compose(transforms)(Batch.from_data_list(members))
    for one, part in zip(alone, joined.to_data_list(), strict=True):
        for kind in one.node_types:
            torch.testing.assert_close(part[kind].centrality, one[kind].centrality)
            assert torch.equal(part[kind].cluster, one[kind].cluster)
        for kind in one.edge_types:
            torch.testing.assert_close(part[kind].edge_centrality, one[kind].edge_centrality)


def test_edges_of_heterogeneous_graphs() -> None:
    data, graph = library()
    made = AddEdgeCentrality()(data)
    by_networkx = nx.edge_betweenness_centrality(graph)
    for kind in data.edge_types:
        arcs = made[kind].edge_index.T.tolist()
        wanted = [by_networkx[(kind[0], a), (kind[2], b)] for a, b in arcs]
        assert made[kind].edge_centrality.tolist() == pytest.approx(wanted)


def test_weights_of_heterogeneous_graphs() -> None:
    data, graph = library()
    for kind in data.edge_types:
        arcs = data[kind].edge_index.T.tolist()
        data[kind].length = torch.arange(1.0, len(arcs) + 1, device=DEVICE)
        for number, (a, b) in enumerate(arcs):
            graph.edges[(kind[0], a), (kind[2], b)]["length"] = number + 1
    made = AddCentrality(["closeness"], edge_weight="length")(data)
    wanted = nx.closeness_centrality(graph, distance="length")
    assert made["paper"].centrality[:, 0].tolist() == pytest.approx(
        [wanted["paper", v] for v in range(4)]
    )


TRANSFORMS = [
    AddCentrality(["betweenness", "closeness"], log=True, edge_weight="length"),
    AddCentrality(["degree"], None, edge_types=[("a", "to", "b")]),
    AddEdgeCentrality(normalized=False, directed=False),
    AddClusters("group", inflation=1.4),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_pickle_and_repr(transform: object) -> None:
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform) and vars(again) == vars(transform)
    rebuilt = eval(repr(transform), {type(transform).__name__: type(transform)})
    assert vars(rebuilt) == vars(transform)


def test_repr_tells_what_decides_the_result() -> None:
    assert repr(AddCentrality()) == (
        "AddCentrality(measures=['betweenness', 'closeness'], attr_name='centrality', "
        "normalized=True, log=False, edge_weight=None, directed=None)"
    )
    assert len({repr(transform) for transform in TRANSFORMS}) == len(TRANSFORMS)


def test_functional_name() -> None:
    from torch.utils.data.datapipes.iter import IterableWrapper

    data = data_of(nx.path_graph(3))
    for name in ("add_centrality", "add_edge_centrality", "add_clusters"):
        pipe = getattr(IterableWrapper([data]), name)()
        assert len(next(iter(pipe)).keys()) == len(data.keys()) + 1


class Molecules(InMemoryDataset):
    def __init__(self, root: str, **options: object) -> None:
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    @property
    def raw_file_names(self) -> list[str]:
        return []

    @property
    def processed_file_names(self) -> list[str]:
        return ["data.pt"]

    def process(self) -> None:
        kept = [from_networkx(nx.DiGraph(nx.path_graph(n))) for n in (2, 3, 4)]
        self.save([self.pre_transform(data) for data in kept], self.processed_paths[0])


def test_transform_and_pre_transform_of_a_data_set(tmp_path) -> None:
    before, after = AddCentrality(["closeness"], "near"), AddCentrality(["betweenness"])
    made = Molecules(str(tmp_path), pre_transform=before, transform=after)
    for number, n in enumerate((2, 3, 4)):
        path = nx.path_graph(n)
        wanted = nx.closeness_centrality(path), nx.betweenness_centrality(path)
        assert made[number].near[:, 0].tolist() == pytest.approx(list(wanted[0].values()))
        assert made[number].centrality[:, 0].tolist() == pytest.approx(list(wanted[1].values()))
    with pytest.warns(UserWarning, match="pre_transform"):  # told apart by its repr
        Molecules(str(tmp_path), pre_transform=AddCentrality(["harmonic"], "near"))


def test_quiet_in_workers(monkeypatch: pytest.MonkeyPatch, tuning: Tuning) -> None:
    asked = []

    def features(*arguments: Any, **options: Any) -> Tensor:
        asked.append(options["run"].progress)
        return torchcent.node_features(*arguments, **options)

    tuning(node_features_of_transforms=features)
    data = data_of(nx.path_graph(3))
    AddCentrality()(data)
    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: object())
    AddCentrality()(data)
    AddCentrality(run=torchcent.Run(progress=True))(data)
    assert asked == [None, False, True]


@pytest.mark.slow
def test_without_torch_geometric() -> None:
    code = """
import sys
sys.modules["torch_geometric"] = None
import torchcent
try:
    torchcent.transforms
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == (
        "torchcent.transforms needs torch_geometric, of the extra torchcent[pyg]: "
        "pip install torch_geometric"
    ), run.stderr


@pytest.mark.slow
def test_it_is_imported_when_it_is_asked_for() -> None:
    code = "import torchcent; torchcent.transforms.AddCentrality; print(torchcent.transforms)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "torchcent.transforms" in run.stdout, run.stderr
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        torchcent.nothing  # noqa: B018
