"""Rewiring by curvature, beside a computation of all curvature in each step; curvature and
rewiring as transforms."""

from types import SimpleNamespace

import curvature_oracles as oracles
import networkx as nx
import pytest
import torch
from graphs import DEVICE, edge_index
from internals import has_kernel

from torchcent import Graph, Run, sdrf

NONE = SimpleNamespace(has_kernel=lambda *_: False)
TWO = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]  # triangles that an edge joins


@pytest.fixture(params=["compiled", "python"])
def engine(request, tuning):
    if request.param == "python":
        tuning(rewiring_operators=NONE)
    elif not has_kernel("rewired", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    return request.param


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def arcs_of(graph):
    return sorted([*graph.edges, *((v, u) for u, v in graph.edges)])


@pytest.mark.sweep
@pytest.mark.parametrize("bound", [None, 0.5, -10.0])
@pytest.mark.parametrize("tau", [0.0, 1.0, 50.0])
def test_the_algorithm(engine, tau, bound):
    for seed in range(12):
        graph = nx.gnp_random_graph(5 + seed % 6, 0.25 + 0.05 * (seed % 5), seed=seed)
        draws = torch.rand(6, generator=seeded(seed), dtype=torch.float64).tolist()
        found = sdrf(
            edge_index(list(graph.edges)), num_nodes=len(graph), directed=False, iterations=6,
            tau=tau, removal_bound=bound, generator=seeded(seed),
        )  # fmt: skip
        assert found.dtype == torch.int64 and found.device == DEVICE
        expected = oracles.rewired(graph, draws, tau, bound)
        assert list(map(tuple, found.T.tolist())) == arcs_of(expected)


def test_larger_graphs_by_both(tuning):
    if not has_kernel("rewired", torch.device("cpu")):
        pytest.skip("there is no compiled extension")
    index = edge_index(list(nx.barabasi_albert_graph(60, 3, seed=4).edges))
    options = {"directed": False, "iterations": 25, "tau": 20.0, "removal_bound": 0.4}
    compiled = sdrf(index, **options, generator=seeded(3))
    tuning(rewiring_operators=NONE)
    assert torch.equal(compiled, sdrf(index, **options, generator=seeded(3)))
    assert compiled.shape[1] != 2 * index.shape[1]


def test_batches_draw_one_graph_after_the_other(engine):
    graphs = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (6, 1, 9, 0, 5)]
    generator, alone, columns, first = seeded(8), [], [], 0
    for graph in graphs:
        index = edge_index(list(graph.edges))
        options = {"directed": False, "iterations": 4, "generator": generator}
        alone.append(sdrf(index, num_nodes=len(graph), **options) + first)
        columns.append(index + first)
        first += len(graph)
    ptr = torch.tensor([0, 6, 7, 16, 16, 21], device=DEVICE)
    union = Graph.from_edge_index(torch.cat(columns, 1), directed=False, ptr=ptr)
    for threads in (1, 3):
        run = Run(threads=threads)
        found = sdrf(union, iterations=4, generator=seeded(8), run=run)
        assert torch.equal(found, torch.cat(alone, 1))


def test_where_nothing_changes(engine):
    for index, n in ((edge_index([]), 0), (edge_index([]), 3), (edge_index([(0, 1)]), 2)):
        found = sdrf(index, num_nodes=n, directed=False)
        assert found.tolist() == torch.cat([index, index.flip(0)], 1).tolist()
    every = edge_index([(u, v) for u in range(5) for v in range(5)])
    assert sdrf(every).shape == (2, 20)  # without loops
    assert sdrf(every, removal_bound=2.0, iterations=50).shape == (2, 20)
    emptied = sdrf(every, removal_bound=-10.0, iterations=50, generator=seeded(0))
    assert emptied.shape[1] < 20


def test_weights_do_not_matter(engine):
    index, weight = edge_index(TWO), torch.arange(1.0, 8.0, device=DEVICE)
    graph = Graph.from_edge_index(index, directed=False, edge_weight=weight)
    plain = sdrf(index, directed=False, generator=seeded(1))
    assert torch.equal(sdrf(graph, generator=seeded(1)), plain)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"iterations": 0}, ValueError, "iterations must be at least 1, got 0"),
        ({"tau": -1}, ValueError, "tau must be finite and >= 0, got -1"),
        ({"tau": float("inf")}, ValueError, "tau must be finite and >= 0, got inf"),
        ({"removal_bound": float("nan")}, ValueError, "removal_bound must be finite, got nan"),
        ({"generator": 3}, TypeError, "generator must be a torch.Generator or None, got 3"),
        ({"directed": True}, ValueError, "sdrf is for undirected graphs"),
    ],
)
def test_arguments_that_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        sdrf(edge_index(TWO), **{"directed": False, **options})


def test_memory_is_checked_before():
    graph = Graph.from_edge_index(edge_index(TWO), directed=False)
    with pytest.raises(MemoryError, match="sdrf of 14 arcs needs"):
        sdrf(graph, run=Run(memory=1000))


# --- transforms

pyg = pytest.importorskip("torch_geometric.data")


def data_of(arcs, **attributes):
    both = [pair for u, v in arcs for pair in ((u, v), (v, u))]
    return pyg.Data(edge_index=edge_index(both), num_nodes=6, **attributes)


@pytest.mark.parametrize("kind", ["forman", "augmented", "balanced", "ollivier", "resistance"])
def test_curvature_as_an_attribute(kind):
    import torchcent
    from torchcent.transforms import AddCurvature

    function = {
        "ollivier": torchcent.ollivier_ricci_curvature,
        "resistance": torchcent.resistance_curvature,
    }.get(kind, torchcent.forman_curvature)
    own = {"kind": kind} if kind in ("augmented", "balanced") else {}
    data = data_of(TWO)
    expected = function(data.edge_index, **own)
    assert torch.equal(AddCurvature(kind)(data).edge_curvature, expected)
    assert torch.equal(AddCurvature(kind, None)(data).edge_attr[:, 0], expected)
    batch = AddCurvature(kind, "edge_kappa")(pyg.Batch.from_data_list([data, data_of(TWO[:3])]))
    parts = batch.to_data_list()
    assert torch.equal(parts[0].edge_kappa, expected)
    assert torch.equal(parts[1].edge_kappa, function(data_of(TWO[:3]).edge_index, **own))


def test_weights_of_curvature_are_an_attribute():
    from torchcent import forman_curvature
    from torchcent.transforms import AddCurvature

    data = data_of(TWO, strength=torch.arange(1.0, 8.0, device=DEVICE).repeat_interleave(2))
    found = AddCurvature("forman", edge_weight="strength")(data).edge_curvature
    assert torch.equal(found, forman_curvature(data.edge_index, data.strength))
    with pytest.raises(ValueError, match="edge_weight is for kind='plain'"):
        AddCurvature("balanced", edge_weight="strength")(data)
    with pytest.raises(ValueError, match="kind must be one of forman, augmented, balanced"):
        AddCurvature("ricci")


def test_rewiring_as_a_transform():
    from torchcent.transforms import SDRF

    number = torch.arange(1, 15, device=DEVICE)
    data = data_of(TWO, edge_attr=number[:, None].float(), edge_kind=number)
    rewire = SDRF(iterations=3, seed=5, removal_bound=1.0)
    made = rewire(data)
    expected = sdrf(data.edge_index, iterations=3, removal_bound=1.0, generator=seeded(5))
    assert torch.equal(made.edge_index, expected) and made.num_nodes == 6
    old = dict(zip(map(tuple, data.edge_index.T.tolist()), number.tolist(), strict=True))
    wanted = [old.get(tuple(arc), 0) for arc in expected.T.tolist()]
    assert made.edge_kind.tolist() == wanted and made.edge_attr[:, 0].tolist() == wanted
    assert 0 in wanted and data.num_edges == 14  # the data that was given is as it was
    assert eval(repr(rewire), {"SDRF": SDRF})(data).edge_index.tolist() == expected.tolist()


def test_rewiring_a_batch():
    from torchcent.transforms import SDRF

    members = [
        data_of(arcs, edge_kind=torch.arange(1, 2 * len(arcs) + 1, device=DEVICE))
        for arcs in (TWO, TWO[:3], TWO[3:])
    ]
    batch = SDRF(iterations=2, seed=1, directed=False)(pyg.Batch.from_data_list(members))
    generator = seeded(1)
    for own, data in zip(batch.to_data_list(), members, strict=True):
        options = {"num_nodes": 6, "iterations": 2, "generator": generator}
        expected = sdrf(data.edge_index, **options)
        assert torch.equal(own.edge_index, expected) and own.num_nodes == 6
        old = dict(
            zip(map(tuple, data.edge_index.T.tolist()), data.edge_kind.tolist(), strict=True)
        )
        assert own.edge_kind.tolist() == [old.get(tuple(x), 0) for x in expected.T.tolist()]


def test_what_the_transform_refuses():
    from torchcent.transforms import SDRF

    with pytest.raises(TypeError, match="SDRF is for a torch_geometric Data or Batch"):
        SDRF()(pyg.HeteroData())
    with pytest.raises(ValueError, match="iterations must be at least 1"):
        SDRF(iterations=0)
