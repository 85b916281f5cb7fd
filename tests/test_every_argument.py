"""What every public function does with weights that require grad, and with batches of any integers.

Functions, and arguments that they accept, are those of the fuzzer (fuzz/arguments.py).
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import networkx as nx
import pyarrow
import pytest
import scipy.sparse
import torch
from surface import seeded

import torchcent
from torchcent import Graph

WEIGHTS = ("edge_weight", "insert_weight")
#: two graphs, and the arcs of each in both directions
ARCS = torch.tensor([[0, 1, 2, 3, 4, 3, 4, 2], [1, 0, 3, 2, 3, 4, 2, 4]])
BATCH, PTR = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([0, 2, 5])
INTEGERS = (torch.int32, torch.int16, torch.int8, torch.uint8)
REFUSED = r"requires grad, but no gradient .*weight\.detach\(\)"


def changing() -> Callable[..., object]:
    return torchcent.DynamicGraph(ARCS, edge_weight=torch.ones(8)).update


#: where the fuzzer's graph has no weights or another number of edges: the same function on one
OTHERS: dict[str, tuple[Callable[..., Any], dict[str, Any], int]] = {
    "from_scipy": (Graph.from_scipy, {"matrix": scipy.sparse.eye_array(4, k=1).tocsr()}, 3),
    "from_networkx": (Graph.from_networkx, {"graph": nx.path_graph(4)}, 3),
    "from_table": (Graph.from_table, {"table": pyarrow.table({"a": [0, 1], "b": [1, 2]})}, 2),
    "DynamicGraph.update": (
        lambda **given: changing()(**given), {"insert": torch.tensor([[0], [3]])}, 1
    ),
}  # fmt: skip
#: function -> why its weights may require grad
WITHOUT_WEIGHTS = {
    "transitive_closure": "refuses all weights",
    "EdgeList": "keeps them as they are; EdgeList.graph refuses",
    "set_attributes": "the name of an attribute",
}


def of_targets(fuzzer: ModuleType, names: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
    for name, target in fuzzer.targets().items():
        for argument in inspect.signature(target.call).parameters:
            if argument in names and not hasattr(torchcent.transforms, name):
                yield name, argument, target


def test_weights_that_require_grad_are_refused(fuzzer):
    """And accepted detached, or where no gradients are recorded."""
    swept = set()
    for name, argument, target in of_targets(fuzzer, WEIGHTS):
        if name in WITHOUT_WEIGHTS:
            continue
        call, good, edges = OTHERS.get(name, (target.call, target.good, 5))
        weight = torch.arange(1.0, edges + 1, requires_grad=True)
        with pytest.raises(ValueError, match=f"{argument} {REFUSED}") as error:
            call(**good | {argument: weight})
            pytest.fail(f"{name} accepts weights that require grad")
        assert error.value.__cause__ is None
        call(**good | {argument: weight.detach()})
        with torch.no_grad():
            call(**good | {argument: weight})
        swept.add(name.removeprefix("functional."))
    wanted = {
        name
        for name in torchcent.__all__
        if inspect.isfunction(function := getattr(torchcent, name))
        and "edge_weight" in inspect.signature(function).parameters
    }
    assert wanted - WITHOUT_WEIGHTS.keys() <= swept
    assert wanted & WITHOUT_WEIGHTS.keys() == {"transitive_closure", "set_attributes"}


def test_stored_weights_that_require_grad_are_refused(fuzzer):
    """By all transforms that take weights."""
    pytest.importorskip("torch_geometric")
    weight = torch.arange(1.0, 6, requires_grad=True)
    targets, swept = fuzzer.targets(), 0
    for name in torchcent.transforms.__all__:
        if "edge_weight" not in inspect.signature(targets[name].call).parameters:
            continue
        given = targets[name].good | {"stored_weight": weight, "edge_weight": "edge_weight"}
        if name == "AddCurvature":
            given["kind"] = "forman"  # others are defined without weights
        with pytest.raises(ValueError, match=REFUSED):
            targets[name].call(**given)
        targets[name].call(**given | {"stored_weight": weight.detach()})
        swept += 1
    assert swept >= 12


def test_weights_of_other_objects_that_require_grad_are_refused():
    weight = torch.ones(8, requires_grad=True)
    edges = torchcent.EdgeList(ARCS, weight, num_nodes=5)
    with pytest.raises(ValueError, match=REFUSED):
        edges.graph(edge_weight=True)
    with pytest.raises(ValueError, match=REFUSED):
        Graph.from_edge_index(ARCS).with_weights(weight)
    with pytest.raises(ValueError, match=REFUSED):
        torchcent.DynamicGraph(ARCS, edge_weight=weight)


def parts(value: Any) -> Iterator[Any]:
    """The tensors and the other values of a result."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key in value:
            yield key
            yield from parts(value[key])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from parts(one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, Graph):
        yield from (value.rowptr, value.col, value.ptr, value.batch)
    else:
        yield str(value)


def same(some: Any, others: Any) -> bool:
    if isinstance(some, torch.Tensor):
        equal = some.layout == torch.strided or some.is_sparse
        assert equal and some.dtype == others.dtype and some.shape == others.shape
        return torch.equal(some.nan_to_num(7), others.nan_to_num(7))
    return some == others


#: arguments of functions whose vertices must lie in one graph
PAIRS = torch.tensor([[0, 2], [1, 4]])
WITHIN = {
    "pair_features": {"pairs": PAIRS}, "effective_resistance": {"pairs": PAIRS},
    "functional.effective_resistance": {"pairs": PAIRS},
    "straightness": {"edge_weight": torch.ones(8), "positions": torch.arange(10.0).view(5, 2)},
    **{
        f"functional.{name}": {"shape": (2, 5)}
        for name in (
            "shortest_path_encoding", "random_walk_pairs", "heat_kernel_pairs", "resistance_pairs"
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("argument", ["batch", "ptr"])
def test_batches_of_all_integers_give_the_same(fuzzer, argument):
    swept = set()
    for name, argument_, target in of_targets(fuzzer, (argument,)):
        if argument_ != argument or "edge_index" not in target.good:
            continue
        given = target.good | WITHIN.get(name, {}) | {"edge_index": ARCS}
        value, results = {"batch": BATCH, "ptr": PTR}[argument], []
        for dtype in (torch.int64, *INTEGERS):
            with seeded(1):
                results.append(list(parts(target.call(**given | {argument: value.to(dtype)}))))
        first = results[0]
        assert first
        for dtype, others in zip(INTEGERS, results[1:], strict=True):
            assert len(first) == len(others) and all(map(same, first, others)), (name, dtype)
        swept.add(name.removeprefix("functional."))
    of_batches = {
        name
        for name in torchcent.__all__
        if inspect.isfunction(function := getattr(torchcent, name))
        and argument in inspect.signature(function).parameters
    }
    assert of_batches <= swept and swept


@pytest.mark.parametrize("dtype", INTEGERS)
def test_stored_batches_of_all_integers_give_the_same(dtype):
    data = pytest.importorskip("torch_geometric.data")
    scores = []
    for batch in (BATCH, BATCH.to(dtype)):
        graphs = data.HeteroData()
        graphs["a"].num_nodes, graphs["a"].batch = 5, batch
        graphs["a", "to", "a"].edge_index = ARCS
        scores.append(torchcent.transforms.AddCentrality(["closeness"])(graphs)["a"].centrality)
        plain = data.Data(edge_index=ARCS, num_nodes=5, batch=batch)
        assert torch.equal(torchcent.closeness(plain), scores[-1][:, 0])
    assert torch.equal(*scores)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64])
@pytest.mark.parametrize("argument", ["batch", "ptr"])
def test_batches_of_other_numbers_are_refused(argument, dtype):
    value = {"batch": BATCH, "ptr": PTR}[argument].to(dtype)
    with pytest.raises(TypeError, match=rf"{argument} must be int64 \(or .*\), got {dtype}"):
        Graph.from_edge_index(ARCS, **{argument: value})
