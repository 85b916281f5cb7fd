"""torchcent.functional: values, torch.compile without graph breaks, and no gradient."""

import inspect
import shutil
import threading
import warnings

import networkx as nx
import pytest
import torch
import torch._dynamo.testing
from graphs import DEVICE, edge_index
from surface import call, needed, spread
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import torchcent
from torchcent import functional

COLUMNS = ["betweenness", "closeness", "harmonic", "eccentricity"]
PATH = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
STAR = [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0), (0, 4), (4, 0)]


class Model(nn.Module):
    """Puts centralities beside what it is given, and edge scores into the sum of a neighbour."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        n = x.shape[0]
        scores = functional.node_features(edge_index, edge_weight, num_nodes=n)
        strength = functional.edge_betweenness(edge_index, edge_weight, num_nodes=n)
        hidden = self.layer(torch.cat([x, scores], dim=1))
        messages = hidden[edge_index[0]] * strength[:, None]
        return torch.zeros_like(hidden).index_add(0, edge_index[1], messages).relu() + hidden


@pytest.fixture
def model() -> Model:
    return Model().to(DEVICE)


def ones(n: int) -> Tensor:
    return torch.ones(n, 1, device=DEVICE)


def compiled(model: nn.Module, backend: str, **options: object) -> nn.Module:
    torch._dynamo.reset()
    return torch.compile(model, fullgraph=True, backend=backend, **options)


def test_values_are_those_of_networkx() -> None:
    graph = nx.lollipop_graph(4, 3)
    index = edge_index([pair for u, v in graph.edges for pair in ((u, v), (v, u))])
    found = functional.node_features(index, num_nodes=7, measures=COLUMNS, normalized=False)
    expected = [
        {v: 2 * x for v, x in nx.betweenness_centrality(graph, normalized=False).items()},
        nx.closeness_centrality(graph),
        nx.harmonic_centrality(graph),
        nx.eccentricity(graph),
    ]
    for column, scores in enumerate(expected):
        wanted = torch.tensor([float(scores[v]) for v in range(7)], device=DEVICE)
        torch.testing.assert_close(found[:, column], wanted)


def test_edge_values_are_those_of_networkx() -> None:
    graph = nx.lollipop_graph(4, 3)
    arcs = [pair for u, v in graph.edges for pair in ((u, v), (v, u))]
    found = functional.edge_betweenness(edge_index(arcs), num_nodes=7)
    expected = nx.edge_betweenness_centrality(graph)
    wanted = [expected.get(arc, expected.get(arc[::-1])) for arc in arcs]
    # NetworkX counts an undirected edge in both directions and halves; an arc has one of them.
    torch.testing.assert_close(found, torch.tensor(wanted, device=DEVICE) / 2)


def test_weights_and_batches() -> None:
    index = edge_index(PATH + [(4 + u, 4 + v) for u, v in STAR])
    weight = torch.arange(1.0, index.shape[1] + 1, device=DEVICE)
    batch = torch.tensor([0] * 4 + [1] * 5, device=DEVICE)
    found = functional.node_features(index, weight, num_nodes=9, batch=batch, measures=COLUMNS)
    parts = [
        torchcent.node_features(
            index[:, mine] - first, weight[mine], num_nodes=size, measures=COLUMNS
        )
        for mine, first, size in ((slice(0, 6), 0, 4), (slice(6, 14), 4, 5))
    ]
    torch.testing.assert_close(found, torch.cat(parts))
    edges = functional.edge_betweenness(index, weight, num_nodes=9, batch=batch)
    alone = torchcent.edge_betweenness(index[:, :6], weight[:6], num_nodes=4)
    torch.testing.assert_close(edges[:6], alone)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_dtype(dtype: torch.dtype) -> None:
    found = functional.node_features(edge_index(PATH), num_nodes=4, run=torchcent.Run(dtype=dtype))
    assert found.dtype == dtype and found.device == DEVICE
    assert (
        functional.edge_betweenness(
            edge_index(PATH), num_nodes=4, run=torchcent.Run(dtype=dtype)
        ).dtype
        == dtype
    )


STATES = torch.linspace(0, 1, 5, device=DEVICE)
#: measure -> options besides those that it needs, of tensors too
OPTIONS: dict[str, dict[str, object]] = {
    "betweenness": {"endpoints": True, "sources": torch.tensor([0, 2], device=DEVICE)},
    "stress": {"targets": torch.tensor([1], device=DEVICE), "cutoff": 2.0},
    "load_centrality": {"normalized": False, "cutoff": 2.0},
    "closeness": {"cutoff": 2.0, "wf_improved": False},
    "harmonic": {"normalized": True},
    "eccentricity": {"disconnected": "component"},
    "distance_profile": {"sources": torch.tensor([0, 1], device=DEVICE)},
    "edge_betweenness": {"normalized": False},
    "node_features": {"measures": "harmonic"},
    "betweenness_variant": {"variant": "linear", "targets": torch.tensor([1, 2], device=DEVICE)},
    "degree": {"direction": "in", "normalized": True, "dtype": torch.float64},
    "core_number": {"directed": False},
    "clustering_coefficient": {"dtype": torch.float64},
    "pagerank": {"alpha": 0.5, "personalization": torch.eye(5, device=DEVICE)[:, :3] + 1},
    "katz": {"beta": STATES, "normalized": False},
    "eigenvector": {"directed": False},
    "hits": {"tol": 1e-6, "max_iter": 500},
    "current_flow_betweenness": {"sources": torch.tensor([0, 1], device=DEVICE)},
    "edge_current_flow_betweenness": {"normalized": False},
    "group_closeness": {"group": torch.tensor([[0, 2], [1, 3]], device=DEVICE)},
    "connected_components": {"strong": True},
    "local_betweenness": {"normalized": False},
    "group_degree": {"group": torch.tensor([1], device=DEVICE), "direction": "in"},
}


def options_of(name: str) -> dict[str, object]:
    """What the measure needs, and what OPTIONS has for it."""
    own = {
        key: value.to(DEVICE) if isinstance(value, Tensor) else value
        for key, value in needed(name, 5).items()
    }
    return own | OPTIONS.get(name, {})


#: matrices of pairs, which need their shape (test_functional_pairs.py, and below)
PAIRS = {"heat_kernel_pairs", "random_walk_pairs", "resistance_pairs", "shortest_path_encoding"}
MEASURES = [name for name in functional.__all__ if name not in PAIRS]


@pytest.mark.sweep(cases=8)
@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_one_operator(name: str) -> None:
    """The values of torchcent's function of that name, in one graph, for every size."""
    function, options = getattr(functional, name), options_of(name)
    counter = torch._dynamo.testing.CompileCounter()

    def model(x: Tensor, index: Tensor) -> Tensor:
        found = call(function, index, num_nodes=x.shape[0], **options)
        return x.sum() + (torch.stack(found, 1) if isinstance(found, tuple) else found)

    torch._dynamo.reset()
    run = torch.compile(model, fullgraph=True, backend=counter, dynamic=True)
    for arcs in (STAR, [(0, 1), (1, 2), (3, 4)]):
        index = edge_index(arcs)
        wanted = call(getattr(torchcent, name), index, num_nodes=5, **options)
        wanted = torch.stack(wanted, 1) if isinstance(wanted, tuple) else wanted
        x = ones(5)[:, 0]
        torch.testing.assert_close(run(x, index), x.sum() + wanted, equal_nan=True)
    assert counter.frame_count == 1


@pytest.mark.sweep
@pytest.mark.parametrize("name", MEASURES)
def test_opcheck(name: str) -> None:
    """Schema, fake, autograd and ATen dispatch of the operator, with what a call hands to it."""
    calls: list[tuple[object, ...]] = []
    index, batch = edge_index(PATH), torch.tensor([0, 0, 0, 0, 1], device=DEVICE)
    weights = {"edge_weight": torch.ones(6, device=DEVICE), "batch": batch}
    known = inspect.signature(getattr(functional, name)).parameters
    more = {key: value for key, value in weights.items() if key in known}
    with Recorded(calls):
        for own in ({}, more):
            call(getattr(functional, name), index, num_nodes=5, **options_of(name), **own)
    assert len(calls) == 2
    for arguments in calls:
        torch.library.opcheck(torch.ops.torchcent.scores.default, arguments)


class Recorded(TorchDispatchMode):
    """The arguments of each call of our operator."""

    def __init__(self, calls: list[tuple[object, ...]]) -> None:
        super().__init__()
        self.calls = calls

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        if function is torch.ops.torchcent.scores.default:
            self.calls.append(arguments)
        return function(*arguments, **(options or {}))


def test_weights_and_batches_of_arcs() -> None:
    index = edge_index(PATH + [(4 + u, 4 + v) for u, v in STAR])
    weight = torch.linspace(1, 2, index.shape[1], device=DEVICE)
    batch = torch.tensor([0] * 4 + [1] * 5, device=DEVICE)
    found = functional.pagerank(index, weight, num_nodes=9, batch=batch)
    alone = [
        torchcent.pagerank(index[:, :6], weight[:6], num_nodes=4),
        torchcent.pagerank(index[:, 6:] - 4, weight[6:], num_nodes=5),
    ]
    torch.testing.assert_close(found, torch.cat(alone))


#: functions of a batch that give no number for each vertex, or several for which there are classes,
#: or that take a function of distances, or positions
OTHERS = {
    "accessibility", "articulation_points", "assortativity", "average_shortest_path_length",
    "biconnected_components", "bridges", "center", "centralization", "diameter", "leiden",
    "modularity", "reciprocity", "transitivity",
    "distance_distribution", "effective_diameter", "effective_resistance", "explain",
    "eigenspace_projections", "gpse_encodings",
    "heat_kernel_pairs", "laplacian_encoding", "magnetic_encoding",
    "random_walk_pairs", "resistance_pairs",
    "heat_kernel", "mcl", "mcl_sweep", "periphery", "personalized_pagerank", "radius", "reachable",
    "shortest_path_encoding", "shortest_path_lengths", "shortest_path_pairs", "straightness",
    "anchor_distances", "landmark_distances", "pair_features", "sdrf",
    "edge_substructure_counts", "substructure_counts", "wl_colors",
}  # fmt: skip


def test_every_measure_is_there() -> None:
    """Public functions that take a batch are here with the same arguments, or among the others."""
    found = set()
    for name in torchcent.__all__:
        function = getattr(torchcent, name)
        if inspect.isfunction(function) and "batch" in inspect.signature(function).parameters:
            found.add(name)
    groups = {"group_betweenness", "group_closeness", "group_degree"}
    assert found - OTHERS | groups == set(MEASURES)
    for name in MEASURES:
        own = inspect.signature(getattr(functional, name)).parameters
        public = inspect.signature(getattr(torchcent, name)).parameters
        assert set(own) <= set(public), name
        for each, parameter in own.items():
            if each != "num_nodes":
                assert parameter.default == public[each].default, (name, each)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("pagerank", {"alpha": 1.5}, ValueError, "alpha must be in"),
        ("pagerank", {"alpha": "much"}, TypeError, "alpha"),
        ("pagerank", {"personalization": [1, 2]}, TypeError, "personalization"),
        ("pagerank", {"dangling": torch.ones(3)}, ValueError, "dangling"),
        ("katz", {"beta": "one"}, TypeError, "beta"),
        ("katz", {"max_iter": 0}, ValueError, "max_iter"),
        ("hits", {"max_iter": 2.5}, TypeError, "max_iter"),
        ("degree", {"direction": "up"}, ValueError, "direction"),
        ("degree", {"normalized": 1}, TypeError, "normalized"),
        ("degree", {"dtype": torch.int64}, TypeError, "dtype"),
        ("triangles", {"num_nodes": 3}, ValueError, "num_nodes=3 is too small"),
        ("betweenness_variant", {"variant": "long"}, ValueError, "variant"),
        ("current_flow_closeness", {"edge_weight": -torch.ones(6)}, ValueError, "edge_weight"),
    ],
)
def test_bad_input_of_measures(
    name: str, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    moved = {k: v.to(DEVICE) if isinstance(v, Tensor) else v for k, v in arguments.items()}
    with pytest.raises(error, match=message):
        getattr(functional, name)(edge_index(PATH), **spread({"num_nodes": 4, **moved}))


def test_other_functions_break_the_graph_once_and_quietly() -> None:
    """The call is left to Python, with all that it calls: no frame of ours is compiled."""
    counter = torch._dynamo.testing.CompileCounter()
    graph = torchcent.Graph.from_edge_index(edge_index(STAR))

    def model(x: Tensor, index: Tensor) -> Tensor:
        y = 2 * x
        return y[:, 0] + torchcent.betweenness(index, num_nodes=x.shape[0]) + len(graph)

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    run = torch.compile(model, backend=counter)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (5, 5, 6, 7, 9):
            torch.testing.assert_close(run(ones(n), edge_index(STAR)),
                                       model(ones(n), edge_index(STAR)))  # fmt: skip
    counters = torch._dynamo.utils.counters
    assert sum(counters["graph_break"].values()) <= 2  # for one size and for all sizes
    assert counter.frame_count <= 4 and counters["frames"]["total"] <= 4
    with pytest.raises(Exception, match="torchcent.functional"):
        compiled(model, "eager")(ones(5), edge_index(STAR))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_without_graph_breaks(model: Model, backend: str) -> None:
    run = compiled(model, backend)
    for arcs, n in ((PATH, 4), (STAR, 5)):
        eager, traced = model(ones(n), edge_index(arcs)), run(ones(n), edge_index(arcs))
        torch.testing.assert_close(traced, eager)
    with torch.no_grad():
        torch.testing.assert_close(run(ones(5), edge_index(STAR)), eager.detach())


@pytest.mark.slow
def test_compiled_by_inductor(model: Model) -> None:
    if shutil.which("g++") is None:
        pytest.skip("inductor needs g++")
    run = compiled(model, "inductor", dynamic=True)
    for arcs, n in ((PATH, 4), (STAR, 5)):
        torch.testing.assert_close(run(ones(n), edge_index(arcs)), model(ones(n), edge_index(arcs)))


def test_dynamic_shapes_are_compiled_once(model: Model) -> None:
    counter = torch._dynamo.testing.CompileCounter()
    run = compiled(model, counter, dynamic=True)
    for arcs, n in ((PATH, 4), (STAR, 5), ([(0, 1), (1, 0), (1, 2)], 9)):
        torch.testing.assert_close(run(ones(n), edge_index(arcs)), model(ones(n), edge_index(arcs)))
    assert counter.frame_count == 1


def test_exported_programme(model: Model) -> None:
    """The size that the fake tells is the one that a programme is made with."""
    size = torch.export.Dim("n", min=3), torch.export.Dim("e", min=3)
    programme = torch.export.export(
        model, (ones(4), edge_index(PATH)), dynamic_shapes=({0: size[0]}, {1: size[1]})
    )
    arguments = ones(5), edge_index(STAR)
    torch.testing.assert_close(programme.module()(*arguments), model(*arguments))


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_gradients_of_everything_else(model: Model, backend: str | None) -> None:
    """Scores are constants: the layer learns, and what is put beside them too."""
    run = model if backend is None else compiled(model, backend)
    x = ones(5).requires_grad_()
    run(x, edge_index(STAR)).sum().backward()
    assert x.grad is not None and model.layer.weight.grad is not None
    step, shifted = 1e-2, ones(5)
    shifted[0] += step
    with torch.no_grad():
        change = model(shifted, edge_index(STAR)).sum() - model(ones(5), edge_index(STAR)).sum()
    assert float(x.grad[0]) == pytest.approx(float(change) / step, rel=1e-2)


def test_scores_require_no_gradient() -> None:
    scores = functional.node_features(edge_index(PATH), num_nodes=4)
    assert not scores.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        scores.sum().backward()


@pytest.mark.parametrize(
    "function", [functional.node_features, functional.edge_betweenness, functional.pagerank]
)
def test_a_gradient_for_the_weights_is_refused(function) -> None:
    weight = torch.ones(6, device=DEVICE, requires_grad=True)
    with pytest.raises(ValueError, match=r"edge_weight requires grad.*no gradient.*detach\(\)"):
        function(edge_index(PATH), weight, num_nodes=4)
    expected = function(edge_index(PATH), weight.detach(), num_nodes=4)
    with torch.no_grad():
        assert torch.equal(function(edge_index(PATH), weight, num_nodes=4), expected)
    with torch.inference_mode():
        assert torch.equal(function(edge_index(PATH), weight, num_nodes=4), expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_gradient_for_the_weights_is_refused_when_compiled(model: Model, backend: str) -> None:
    weight = torch.ones(6, device=DEVICE, requires_grad=True)
    with pytest.raises(Exception, match=r"edge_weight requires grad.*no gradient.*detach\(\)"):
        compiled(model, backend)(ones(4), edge_index(PATH), weight)


def test_backward_through_the_operator_is_refused() -> None:
    weight = torch.ones(6, device=DEVICE, requires_grad=True)
    scores = torch.ops.torchcent.scores(
        "katz", edge_index(PATH), weight, None, 4, None, [torch.ones(4, device=DEVICE)],
        [0.1, 1e-9], [100], "True", torch.float32, "auto",
    )  # fmt: skip
    with pytest.raises(NotImplementedError, match=r"no gradient flows.*detach\(\)"):
        scores.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_nodes": 3}, ValueError, "num_nodes=3 is too small"),
        ({"num_nodes": -1}, ValueError, "num_nodes must be >= 0"),
        ({"measures": ["prestige"]}, ValueError, "prestige"),
        ({"measures": []}, TypeError, "measures"),
        ({"engine": "fast"}, ValueError, "engine"),
        ({"dtype": torch.int64}, TypeError, "dtype"),
        ({"batch": torch.zeros(3, dtype=torch.int64)}, ValueError, "batch"),
        ({"edge_weight": torch.zeros(6)}, ValueError, "edge_weight"),
    ],
)
def test_bad_input(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    moved = {k: v.to(DEVICE) if isinstance(v, Tensor) else v for k, v in arguments.items()}
    with pytest.raises(error, match=message):
        functional.node_features(edge_index(PATH), **spread({"num_nodes": 4, **moved}))


def test_the_same_bits_from_many_threads() -> None:
    """A model served by several threads of Python."""
    expected = functional.node_features(edge_index(STAR), num_nodes=5)
    found: list[Tensor] = []

    def serve() -> None:
        found.append(functional.node_features(edge_index(STAR), num_nodes=5))

    threads = [threading.Thread(target=serve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(torch.equal(x, expected) for x in found)


def test_matrices_of_distances() -> None:
    """The values of torchcent's function, in one graph, of a shape that is known before."""
    index, batch = edge_index([*PATH, (4, 5), (5, 4)]), torch.tensor([0, 0, 0, 0, 1, 1])
    batch = batch.to(DEVICE)

    def model(index: Tensor) -> Tensor:
        return functional.shortest_path_encoding(
            index, num_nodes=6, batch=batch, shape=(3, 5), cutoff=2.5
        )

    found = torch.compile(model, fullgraph=True, backend="eager")(index)
    assert torch.equal(found, model(index))
    assert found[0].tolist()[:2] == [[0, 1, 2, -1, -1], [1, 0, 1, 2, -1]]
    assert found[1].tolist()[:3] == [[0, 1, -1, -1, -1], [1, 0, -1, -1, -1], [-1] * 5]
    assert bool((found[2] == -1).all()) and found.dtype == torch.int64
    arguments = (index, batch, 6, 3, 5, None, 2.5)
    torch.library.opcheck(torch.ops.torchcent.shortest_path_matrices.default, arguments)


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        ((1, 5), ValueError, "shape has 1 graphs, but batch has 2"),
        ((2, 3), ValueError, "max_nodes=3 is less than .* the largest graph, 4"),
        (5, TypeError, r"shape must be \(num_graphs, max_nodes\), got 5"),
        ((2, -1), ValueError, "shape must be from 0 to 2"),
        ((2, 2**30), MemoryError, "shape=.2, 1073741824. needs"),
    ],
)
def test_shapes_of_matrices(shape: object, error: type[Exception], message: str) -> None:
    index, batch = edge_index([*PATH, (4, 5), (5, 4)]), torch.tensor([0, 0, 0, 0, 1, 1])
    with pytest.raises(error, match=message):
        functional.shortest_path_encoding(index, num_nodes=6, batch=batch.to(DEVICE), shape=shape)  # type: ignore[arg-type]
