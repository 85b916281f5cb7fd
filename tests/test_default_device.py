"""PyTorch's default device is for the caller's tensors: a graph's device decides, and what engines
are told is on the host. Under the device "meta", which holds no data, anything else fails."""

import ast
from pathlib import Path

import networkx as nx
import pytest
import torch
from graphs import DEVICE, edge_index, grid, path, random_graph
from internals import COMPILED
from surface import call

import torchcent
from torchcent import Graph, betweenness_adaptive, betweenness_approx

ARCS = edge_index(random_graph(80, 240, seed=1))
WEIGHT = 1 + torch.arange(ARCS.shape[1], device=DEVICE) % 5
PLACES = torch.rand(80, 2, generator=torch.Generator().manual_seed(2)).to(DEVICE)


def graph(weighted=False):
    return Graph.from_edge_index(ARCS, 80, False, WEIGHT if weighted else None)


def chance():
    return torch.Generator("cpu").manual_seed(1)


def assert_alike(actual, expected):
    if isinstance(expected, torch.Tensor):
        assert actual.device == expected.device
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-9)
    elif isinstance(expected, tuple):
        for one, other in zip(actual, expected, strict=True):
            assert_alike(one, other)
    else:
        assert actual == expected


def asked(names, engines, weighted=False):
    """A call of each of the measures by each of the engines."""
    return {
        f"{name} {engine}": lambda name=name, engine=engine: getattr(torchcent, name)(
            graph(weighted), run=torchcent.Run(engine=engine)
        )
        for name in names
        for engine in engines
    }


CALLS = {
    **asked(("betweenness", "edge_betweenness", "stress"), ("lanes", "queue", "tensor", "tiny")),
    **asked(
        ("closeness", "harmonic", "eccentricity", "diameter", "center"), ("bits", "tensor", "tiny")
    ),
    **{
        f"weighted {call}": run
        for call, run in asked(
            ("betweenness", "closeness"), ("relax", "dijkstra", "tensor", "tiny"), weighted=True
        ).items()
    },
    "sources": lambda: torchcent.betweenness(
        ARCS, sources=list(range(9)), run=torchcent.Run(engine="lanes")
    ),
    "list of sources": lambda: torchcent.closeness(ARCS, sources=[1, 2, 3]),
    "top": lambda: torchcent.closeness(graph(), top=3),
    "group betweenness": lambda: torchcent.group_betweenness(graph(), [[1, 2], [3, 4, 5]]),
    "group betweenness, rounded": lambda: torchcent.group_betweenness(
        ARCS, [1, 2], WEIGHT / 3, endpoints=True
    ),
    "group closeness": lambda: torchcent.group_closeness(graph(True), [1, 2]),
    "group degree": lambda: torchcent.group_degree(graph(), [1, 2]),
    "prominent group": lambda: torchcent.prominent_group(graph(), 3, method="exact").vertices,
    "prominent group, samples": lambda: (
        torchcent.prominent_group(graph(), 3, method="samples", generator=chance()).scores
    ),
    "edges, samples": lambda: (
        torchcent.edge_betweenness_approx(graph(), 0.1, method="kadabra", generator=chance()).scores
    ),
    "edges, pivots": lambda: (
        torchcent.edge_betweenness_approx(graph(), 0.2, method="pivots", generator=chance()).scores
    ),
    "communities": lambda: torchcent.communities_by_betweenness(graph(), per_round=20).labels,
    "distribution": lambda: torchcent.distance_distribution(
        graph(), run=torchcent.Run(engine="bits")
    ),
    "effective": lambda: torchcent.effective_diameter(graph(), run=torchcent.Run(engine="bits")),
    "features": lambda: torchcent.node_features(ARCS),
    "rows": lambda: torchcent.shortest_path_lengths(graph()),
    "weighted rows": lambda: torchcent.shortest_path_lengths(graph(True)),
    "closure": lambda: torchcent.transitive_closure(graph()).to_dense(),
    "reachable": lambda: torchcent.reachable(graph(), torch.tensor([0, 5], device=DEVICE)),
    "mcl": lambda: torchcent.mcl(graph(), return_flow=True).labels,
    "mcl tensor": lambda: torchcent.mcl(graph(), run=torchcent.Run(engine="tensor")).labels,
    "mcl of a batch": lambda: (
        call(
            torchcent.mcl, ARCS, directed=False, ptr=torch.tensor([0, 80, 81], device=DEVICE)
        ).labels
    ),
    "kadabra": lambda: (
        betweenness_approx(graph(), 0.05, method="kadabra", generator=chance()).scores
    ),
    "weighted rk": lambda: (
        betweenness_approx(graph(True), 0.1, method="rk", generator=chance()).scores
    ),
    "tied": lambda: (
        betweenness_approx(
            graph(True).with_ties(tie_tolerance=1e-9),
            method="rk",
            max_samples=100,
            generator=chance(),
        ).scores
    ),
    "pivots": lambda: (
        betweenness_approx(graph(), method="pivots", max_samples=9, generator=chance()).upper
    ),
    "max_min": lambda: (
        betweenness_approx(
            graph(), method="pivots", pivots="max_min", max_samples=9, generator=chance()
        ).scores
    ),
    "adaptive": lambda: (
        betweenness_adaptive(
            graph(), torch.tensor([3, 4], device=DEVICE), generator=chance()
        ).scores
    ),
    "networkx": lambda: list(
        nx.betweenness_centrality(nx.karate_club_graph(), backend="torchcent").values()
    ),
    "networkx, one source": lambda: nx.single_source_shortest_path_length(
        nx.karate_club_graph(), 3, backend="torchcent"
    ),
    "networkx, all pairs": lambda: dict(
        nx.all_pairs_shortest_path_length(nx.karate_club_graph(), backend="torchcent")
    ),
    "generated": lambda: torchcent.generate.ba(200, 3, seed=1),
    "configuration model": lambda: torchcent.generate.configuration_model([3, 2, 2, 2, 1]),
    "rewired": lambda: torchcent.generate.rewired(graph(), number=3).col,
    **{
        name: lambda name=name: getattr(torchcent, name)(graph())
        for name in (
            "connected_components",
            "bridges",
            "articulation_points",
            "reciprocity",
            "transitivity",
            "assortativity",
            "layout",
        )
    },
    "strong components": lambda: torchcent.connected_components(ARCS, strong=True),
    "blocks of vertices": lambda: tuple(torchcent.biconnected_components(graph())),
    "modularity": lambda: torchcent.modularity(graph(), torch.arange(80, device=DEVICE) // 9),
    "largest component": lambda: graph(True).largest_component().weight,
    "subgraph": lambda: graph(True).subgraph([3, 1, 2, 40]).weight,
    "names": lambda: graph().with_labels([f"v{x}" for x in range(80)]).vertices(["v3", "v1"]),
    "hops within": lambda: torchcent.betweenness(graph(), cutoff=[1, 2]),
    "within": lambda: torchcent.betweenness(graph(True), cutoff=[3, 5]),
    "profile within": lambda: tuple(torchcent.distance_profile(graph(True), cutoff=[3, 5])),
    "pivots within": lambda: torchcent.closeness(graph(True), sources=[1, 2, 3], cutoff=4),
    "local": lambda: torchcent.local_betweenness(graph(True), radius=4),
    "accessible": lambda: torchcent.accessibility(
        graph(True), cutoff=[3, 5], destinations=torch.ones(80, device=DEVICE)
    ),
    "straight": lambda: torchcent.straightness(graph(True), positions=PLACES, cutoff=6),
    "dual": lambda: torchcent.dual_graph(ARCS, PLACES).graph.col,
    "eigenvector": lambda: torchcent.eigenvector(graph()),
    "hits": lambda: tuple(torchcent.hits(graph())),
    "katz": lambda: torchcent.katz(graph(), alpha=None),
    "walks": lambda: torchcent.random_walk_encoding(graph(), walk_length=5),
    "diffusion": lambda: torchcent.personalized_pagerank(graph()),
    "diffusion, largest": lambda: torchcent.heat_kernel(graph(), top_k=4),
    "walks of a small graph": lambda: torchcent.random_walk_encoding(ARCS[:, :30], walk_length=5),
    "table": lambda: torchcent.table(graph(), degree=graph().degree, format="arrow").to_pydict(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("default", ["meta", "cuda"])
def test_another_default_device(call, default):
    if default == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    try:
        expected = CALLS[call]()
    except (ValueError, NotImplementedError) as error:
        if COMPILED:
            raise
        pytest.skip(f"without compiled kernels: {error}")
    with torch.device(default):
        actual = CALLS[call]()
    assert_alike(actual, expected)


FACTORIES = {
    "arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm",
    "tensor", "zeros",
}  # fmt: skip


def test_every_new_tensor_names_its_device():
    """But on the command line, where nobody sets another one."""
    package = Path(torchcent.__file__).parent
    silent = [
        f"{path.relative_to(package)}:{call.lineno}"
        for path in package.rglob("*.py")
        if "cli" not in path.parts
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).removeprefix("torch.") in FACTORIES
        if ast.unparse(call.func).startswith("torch.")
        and not {"device", "out", None} & {each.arg for each in call.keywords}
    ]
    assert not silent, silent


def test_blocks_and_files(tmp_path):
    one = Graph.from_edge_index(edge_index(grid(12, 12)), directed=False)
    expected = torchcent.shortest_path_lengths(one).tolist()
    with torch.device("meta"):
        file = torchcent.shortest_path_lengths(one, out=tmp_path / "d.npy", block_size=50)
        blocks = list(torchcent.shortest_path_lengths(one, blocks=True, block_size=64))
    assert file.tolist() == expected
    assert sum((block.tolist() for _, block in blocks), []) == expected


def test_the_graph_stays_where_it_is():
    arcs = edge_index(path(4))
    with torch.device("meta"):
        made = Graph.from_edge_index(arcs, directed=False)
    assert made.device == arcs.device and torchcent.closeness(made).device == arcs.device
