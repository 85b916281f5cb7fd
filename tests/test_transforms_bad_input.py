"""torchcent.transforms: names and data that are refused."""

import numpy as np
import pytest
import torch

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import ToSparseTensor

from torchcent import Run
from torchcent.transforms import AddCentrality, AddClusters, AddEdgeCentrality


@pytest.mark.parametrize(
    ("name", "error", "part"),
    [
        ("node_index", ValueError, "'index'"),
        ("batch", ValueError, "'batch'"),
        ("minibatch_score", ValueError, "'batch'"),
        ("edge_score", ValueError, "'edge'"),
        ("_score", ValueError, "_score"),
        ("", ValueError, "must be a name"),
        ("two words", ValueError, "two words"),
        ("num_nodes", ValueError, "num_nodes"),
        ("ptr", ValueError, "ptr"),
        ("face", ValueError, "face"),
        (3, TypeError, "3"),
    ],
)
def test_names_that_are_refused(name: object, error: type[Exception], part: str) -> None:
    for make in (lambda: AddCentrality(attr_name=name), lambda: AddClusters(attr_name=name)):
        with pytest.raises(error, match=f"attr_name.*{part}"):
            make()


def test_why_names_are_refused() -> None:
    """What torch_geometric would do to scores of such names."""
    data = [Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2) for _ in range(2)]
    for name in ("score_index", "batch_score", "cluster_index"):
        for one in data:
            one[name] = torch.ones(2)
        assert Batch.from_data_list(data)[name].flatten().tolist() != [1.0] * 4
        with pytest.raises(ValueError, match="attr_name"):
            AddCentrality(attr_name=name)


def test_names_of_edges() -> None:
    for name in ("score", "centrality"):
        with pytest.raises(ValueError, match="put 'edge_' before it"):
            AddEdgeCentrality(name)
    with pytest.raises(ValueError, match="'index'"):
        AddEdgeCentrality("edge_index")
    with pytest.raises(TypeError, match="one_hot"):
        AddClusters(None)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: AddCentrality(["prestige"]), ValueError, "measures.*prestige"),
        (lambda: AddCentrality("betweennes"), ValueError, "measures.*'betweennes'"),
        (lambda: AddCentrality([]), TypeError, "measures"),
        (lambda: AddCentrality(normalized=1), TypeError, "normalized"),
        (lambda: AddCentrality(log="yes"), TypeError, "log"),
        (lambda: AddCentrality(edge_weight=torch.ones(3)), TypeError, "weight must be the name"),
        (lambda: AddCentrality(directed="no"), TypeError, "directed"),
        (lambda: AddCentrality(run=Run(progress=1)), TypeError, "progress"),
        (lambda: AddCentrality(edge_types=("a", "to", "b")), TypeError, "edge_types"),
        (lambda: AddCentrality(edge_types=[]), TypeError, "edge_types"),
        (lambda: AddCentrality(edge_types=[("a", "b")]), TypeError, "edge_types"),
        (lambda: AddClusters(inflation=1.0), ValueError, "inflation"),
    ],
)
def test_bad_arguments_when_it_is_made(make, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def two() -> Data:
    return Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)


def links() -> HeteroData:
    data = HeteroData()
    data["page"].num_nodes = 2
    data["page", "links", "page"].edge_index = torch.tensor([[0], [1]])
    return data


@pytest.mark.parametrize(
    ("transform", "data", "error", "message"),
    [
        (AddCentrality(), Data(num_nodes=3), ValueError, "no edge_index"),
        (AddCentrality(), [two()], TypeError, "Data, Batch or HeteroData, got list"),
        (AddCentrality(), HeteroData(), ValueError, "no edge types"),
        (
            AddCentrality(edge_weight="length"),
            two(),
            ValueError,
            "edge_weight='length'.*index",
        ),
        (AddCentrality(run=Run(engine="bits")), two(), ValueError, "engine"),
        (AddCentrality(edge_types=[("a", "to", "b")]), two(), ValueError, "HeteroData, got a Data"),
        (AddCentrality(edge_types=[("a", "to", "b")]), links(), ValueError, "but data"),
    ],
)
def test_data_that_do_not_fit(transform, data, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        transform(data)


def test_sparse_adjacency_comes_later() -> None:
    with pytest.raises(ValueError, match="before ToSparseTensor"):
        AddCentrality()(ToSparseTensor()(two()))


def test_whole_numbers_are_no_place_for_scores() -> None:
    data = two()
    data.x = torch.ones(2, 1, dtype=torch.int64)
    with pytest.raises(TypeError, match=r"data.x is torch.int64.*data.x.float\(\)"):
        AddCentrality(attr_name=None)(data)
    data.edge_attr = torch.ones(2, 1, 1)
    with pytest.raises(ValueError, match="data.edge_attr must be"):
        AddEdgeCentrality(attr_name=None)(data)


@pytest.mark.parametrize("arc", [[2, 0], [0, 3], [-1, 0]])
def test_ids_of_another_type_of_vertices(arc: list[int]) -> None:
    """Vertex 2 of two of type a would be the first one of type b."""
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 2, 3
    data["a", "to", "b"].edge_index = torch.tensor(arc)[:, None]
    wrong = [x for x, size in zip(arc, (2, 3), strict=True) if not 0 <= x < size]
    with pytest.raises(ValueError, match=rf"data\[.*contains vertex {wrong[0]}, but ids must be"):
        AddCentrality()(data)


@pytest.mark.parametrize("x", [torch.tensor(2.0), np.array("a")])
def test_features_that_count_nothing(x) -> None:
    data = HeteroData()
    data["a"].x, data["b"].num_nodes = x, 3
    data["a", "to", "b"].edge_index = torch.tensor([[0], [0]])
    with pytest.raises(ValueError, match="set num_nodes"):
        AddCentrality()(data)


def test_uncounted_vertices() -> None:
    data = HeteroData()
    data["a", "to", "b"].edge_index = torch.tensor([[0], [1]])
    with pytest.raises(ValueError, match="set num_nodes"):
        AddCentrality()(data)
    data["a"].y, data["b"].num_nodes = "no tensor", 2
    with pytest.raises(ValueError, match=r"data\['a'\].*set num_nodes"), pytest.warns(UserWarning):
        AddCentrality()(data)
