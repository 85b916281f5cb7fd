"""local_betweenness, accessibility, straightness and dual_graph: oracles, NetworkX and momepy."""

import math
import random
from fractions import Fraction

import networkx as nx
import pytest
import torch
import weighted_oracles as oracles
from graphs import DEVICE, edge_index, grid, path, random_graph, star
from test_batch import together
from test_distance_cutoff import graph_of, weights_of

import torchcent
from torchcent import Graph, Run

F64 = Run(dtype=torch.float64)
SHAPES = {
    "path": (9, path(9)),
    "grid": (20, grid(4, 5)),
    "star": (7, star(6)),
    "two parts": (40, random_graph(40, 45, seed=2)),
    "50": (50, random_graph(50, 110, seed=3)),
}


def in_networkx(n: int, weights: oracles.Weights, directed: bool) -> nx.Graph:
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((u, v, weight) for (u, v), weight in weights.items())
    return graph


@pytest.mark.sweep(by="shape kind directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kind", ["whole", "decimal", "hops"])
@pytest.mark.parametrize("shape", SHAPES)
def test_local_betweenness_is_that_of_ego_graphs(shape, kind, directed):
    """NetworkX's ego_graph and betweenness, with exact fractions as lengths."""
    n, arcs = SHAPES[shape]
    weights = weights_of(n, arcs, "whole" if kind == "hops" else kind, directed)
    other, graph = in_networkx(n, weights, directed), graph_of(n, weights, directed)
    distance = weight = "weight"
    radii = {"whole": (0, 6, 11), "decimal": (0.3, 0.8, math.inf), "hops": (0, 1, 2, 30)}[kind]
    if kind == "hops":
        graph = Graph.from_edge_index(edge_index(sorted(weights)), n, directed)
        distance = weight = None
    for radius in radii:
        for normalized in (True, False):
            wanted = []
            for v in range(n):
                limit = radius if radius == math.inf else Fraction(str(radius))
                ball = nx.ego_graph(other, v, radius=limit, distance=distance)
                scores = nx.betweenness_centrality(ball, weight=weight, normalized=normalized)
                wanted.append(float(scores[v]))
            found = torchcent.local_betweenness(
                graph, radius=radius, normalized=normalized, run=F64
            )
            torch.testing.assert_close(found.cpu(), torch.tensor(wanted, dtype=torch.float64))


def test_a_radius_by_hops_of_a_graph_with_lengths():
    n, arcs = SHAPES["50"]
    weights = weights_of(n, arcs, "whole", False)
    other, graph = in_networkx(n, weights, False), graph_of(n, weights, False)
    some = torch.tensor([30, 2, 7], device=DEVICE)
    found = torchcent.local_betweenness(graph, radius=2, by_hops=True, vertices=some, run=F64)
    for v, score in zip(some.tolist(), found.tolist(), strict=True):
        ball = nx.ego_graph(other, v, radius=2)
        assert score == pytest.approx(nx.betweenness_centrality(ball, weight="weight")[v])


def test_it_is_not_betweenness_within_a_cutoff():
    """Paths of length 3 through the middle of a path have ends within 2 of it."""
    graph = Graph.from_edge_index(edge_index(path(7)), 7, False)
    local = torchcent.local_betweenness(graph, radius=2, normalized=False)
    near = torchcent.betweenness(graph, cutoff=2, normalized=False)
    assert float(local[3]) == 4 and float(near[3]) == 1


@pytest.mark.parametrize("most", [1, 7, 10**6])
def test_pieces_and_a_batch_have_the_same_sums(most, tuning):
    """However many pairs are taken at a time, with one thread or several."""
    parts = [SHAPES[name] for name in ("path", "grid", "star", "two parts")]
    index, ptr = together(parts)
    rng = random.Random(4)
    length = torch.tensor([rng.randint(1, 9) for _ in range(index.shape[1])], dtype=F64.dtype)
    n = int(ptr[-1])
    place = torch.rand(n, 2, generator=torch.Generator().manual_seed(1), device=DEVICE)
    graph = Graph.from_edge_index(index, n, False, length.to(index.device), ptr=ptr)
    few = Run(dtype=F64.dtype, memory=None if most > 7 else 2**26)
    plain = [
        torchcent.local_betweenness(graph, radius=8, run=F64),
        torchcent.accessibility(graph, cutoff=[8, 3], run=F64),
        torchcent.straightness(graph, positions=place, cutoff=8, run=F64),
    ]
    tuning(pairs_together=most)
    pieces = [
        torchcent.local_betweenness(graph, radius=8, run=few),
        torchcent.accessibility(graph, cutoff=[8, 3], run=few),
        torchcent.straightness(graph, positions=place, cutoff=8, run=few | Run(threads=3)),
    ]
    for one, other in zip(plain, pieces, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-14, atol=0)
    begin, slots = 0, 0
    for size, arcs in parts:
        own = slice(slots, slots + len(arcs))
        alone = torchcent.local_betweenness(
            edge_index(arcs), length[own].to(DEVICE), num_nodes=size, directed=False, radius=8,
            run=F64,
        )  # fmt: skip
        torch.testing.assert_close(plain[0][begin : begin + size], alone)
        begin, slots = begin + size, slots + len(arcs)


DECAYS = {
    "none": (None, lambda d: 1.0),
    "power": (("power", 1.5), lambda d: d**-1.5),
    "exponential": (("exponential", 0.3), lambda d: math.exp(-0.3 * d)),
    "gaussian": (("gaussian", 4.0), lambda d: math.exp(-((d / 4) ** 2) / 2)),
    "linear": (("linear", 7.0), lambda d: max(1 - d / 7, 0.0)),
    "function": (torch.log1p, math.log1p),
}


@pytest.mark.sweep(by="shape decay directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_accessibility(shape, decay, directed):
    n, arcs = SHAPES[shape]
    weights = weights_of(n, arcs, "decimal", directed)
    graph = graph_of(n, weights, directed)
    given, function = DECAYS[decay]
    people = torch.arange(n, device=DEVICE) % 4
    rows = [oracles.distances(n, weights, v) for v in range(n)]
    cutoffs = [0.3, 1.1, math.inf]
    for destinations in (None, people):
        wanted = []
        for v, row in enumerate(rows):
            near = [(u, d) for u, d in enumerate(row) if u != v and d is not None]
            wanted.append([
                sum(
                    (1 if destinations is None else u % 4) * function(float(d))
                    for u, d in near
                    if limit == math.inf or d <= Fraction(str(limit))
                )
                for limit in cutoffs
            ])  # fmt: skip
        scores = torch.tensor(wanted, dtype=torch.float64)
        options = {"decay": given, "destinations": destinations, "run": F64}
        found = torchcent.accessibility(graph, cutoff=cutoffs, **options)
        torch.testing.assert_close(found.cpu(), scores)
        every = torchcent.accessibility(graph, **options)
        torch.testing.assert_close(every.cpu(), scores[:, -1])
        some = torch.tensor([n - 1, 0], device=DEVICE)
        chosen = torchcent.accessibility(graph, cutoff=1.1, vertices=some, **options)
        torch.testing.assert_close(chosen.cpu(), scores[some.cpu(), 1])


def test_accessibility_counts_and_adds_up_as_other_measures():
    n, arcs = SHAPES["50"]
    graph = graph_of(n, weights_of(n, arcs, "whole", False), False)
    profile = torchcent.distance_profile(graph, cutoff=9, run=F64)
    found = torchcent.accessibility(graph, cutoff=9, run=F64)
    torch.testing.assert_close(found, profile.reach)
    found = torchcent.accessibility(graph, cutoff=9, decay=("power", 1), run=F64)
    torch.testing.assert_close(found, profile.harmonic)
    hops = Graph.from_edge_index(edge_index(arcs), n, False)
    found = torchcent.accessibility(hops, cutoff=2, run=F64)
    torch.testing.assert_close(found, torchcent.distance_profile(hops, cutoff=2, run=F64).reach)


@pytest.mark.parametrize("shape", SHAPES)
def test_straightness(shape):
    n, arcs = SHAPES[shape]
    weights = weights_of(n, arcs, "binary", True)
    graph = graph_of(n, weights, True)
    rng = random.Random(n)
    place = [(rng.random(), rng.random()) for _ in range(n)]
    positions = torch.tensor(place, dtype=torch.float64, device=DEVICE)
    for cutoff in (None, 4.0):
        wanted, divided = [], []
        for v in range(n):
            row = oracles.distances(n, weights, v)
            near = [
                math.dist(place[v], place[u]) / float(d)
                for u, d in enumerate(row)
                if u != v and d is not None and (cutoff is None or d <= cutoff)
            ]
            wanted.append(sum(near) / len(near) if near else 0.0)
            divided.append(sum(near) / (n - 1))
        options = {"positions": positions, "cutoff": cutoff, "run": F64}
        found = torchcent.straightness(graph, **options)
        torch.testing.assert_close(found.cpu(), torch.tensor(wanted, dtype=torch.float64))
        found = torchcent.straightness(graph, normalized=False, **options)
        torch.testing.assert_close(found.cpu(), torch.tensor(divided, dtype=torch.float64))


def test_dual_of_a_grid():
    """Straight on costs next to nothing, each corner 90 degrees."""
    n, arcs = SHAPES["grid"]
    positions = torch.tensor([(v % 5, v // 5) for v in range(n)], device=DEVICE)
    both = edge_index([*arcs, *((v, u) for u, v in arcs), (3, 3)])
    dual = torchcent.dual_graph(both, positions)
    ends = {tuple(sorted(street)) for street in arcs}
    assert {tuple(street) for street in dual.streets.T.tolist()} == ends
    there, back = dual.column[:-1].chunk(2)
    assert dual.column[-1] == -1 and torch.equal(there, back)
    street = {tuple(sorted(pair)): int(v) for pair, v in zip(arcs, dual.column, strict=False)}
    rows = torchcent.shortest_path_lengths(dual.graph)
    assert float(rows[street[0, 1], street[2, 3]]) == pytest.approx(0.002)  # over 1-2
    assert float(rows[street[0, 1], street[1, 6]]) == pytest.approx(90)
    assert float(rows[street[0, 1], street[6, 7]]) == pytest.approx(180)


def test_angles_of_a_fork():
    positions = torch.tensor([[0.0, 0], [1, 0], [2, 1], [2, 0], [1, 1]], device=DEVICE)
    dual = torchcent.dual_graph(edge_index([(0, 1), (1, 2), (1, 3), (4, 1)]), positions, least=0.5)
    rows = torchcent.shortest_path_lengths(dual.graph)
    at = dual.column.tolist()
    turns = {(0, 1): 45, (0, 2): 0.5, (0, 3): 90, (1, 2): 45.5, (1, 3): 135, (2, 3): 90}
    # From the second street to the third it is 135 degrees, but over the first 45.5.
    for (one, other), degrees in turns.items():
        assert float(rows[at[one], at[other]]) == pytest.approx(degrees, rel=1e-6)


@pytest.fixture(scope="module")
def bubenec():
    """The streets of momepy's example as its graph, with numbers, and as ours."""
    momepy = pytest.importorskip("momepy")
    geopandas = pytest.importorskip("geopandas")
    streets = geopandas.read_file(momepy.datasets.get_path("bubenec"), layer="streets")
    theirs = momepy.gdf_to_nx(streets)
    number = {node: i for i, node in enumerate(theirs)}
    edges = [(number[u], number[v], length) for u, v, length in theirs.edges(data="mm_len")]
    index = edge_index([(u, v) for u, v, _ in edges])
    length = torch.tensor([each for *_, each in edges], dtype=torch.float64, device=DEVICE)
    graph = Graph.from_edge_index(index, len(number), False, length)
    positions = torch.tensor(list(number), dtype=torch.float64, device=DEVICE)
    return momepy, streets, theirs, graph, positions


def of_nodes(graph: nx.Graph, name: str) -> torch.Tensor:
    return torch.tensor([float(value) for _, value in graph.nodes(data=name)], dtype=torch.float64)


@pytest.mark.parametrize("radius", [200, 400])
def test_local_measures_of_momepy(bubenec, radius):
    momepy, _, theirs, graph, positions = bubenec
    options = {"radius": radius, "distance": "mm_len", "weight": "mm_len", "verbose": False}
    their = of_nodes(momepy.betweenness_centrality(theirs, **options), "betweenness")
    found = torchcent.local_betweenness(graph, radius=radius, normalized=False, run=F64)
    torch.testing.assert_close(found.cpu(), their)
    their = of_nodes(momepy.closeness_centrality(theirs, **options), "closeness")
    found = torchcent.closeness(graph, cutoff=radius, run=F64)
    torch.testing.assert_close(found.cpu(), their)
    their = of_nodes(momepy.straightness_centrality(theirs, **options), "straightness")
    found = torchcent.straightness(graph, positions=positions, cutoff=radius, run=F64)
    torch.testing.assert_close(found.cpu(), their)


def test_straightness_of_momepy(bubenec):
    momepy, _, theirs, graph, positions = bubenec
    their = of_nodes(momepy.straightness_centrality(theirs, verbose=False), "straightness")
    found = torchcent.straightness(graph, positions=positions, run=F64)
    torch.testing.assert_close(found.cpu(), their)


def test_dual_of_momepy(bubenec):
    """The same streets meet, at the same angles."""
    momepy, streets, *_ = bubenec
    how = {"approach": "dual", "multigraph": False, "preserve_index": True}
    theirs = momepy.gdf_to_nx(streets, **how)
    lines = [(line.coords[0], line.coords[-1]) for line in streets.geometry]
    number = {point: i for i, point in enumerate(dict.fromkeys(p for ends in lines for p in ends))}
    index = edge_index([(number[a], number[b]) for a, b in lines])
    positions = torch.tensor(list(number), dtype=torch.float64, device=DEVICE)
    dual = torchcent.dual_graph(index, positions, least=1e-9)
    street = {node: int(dual.column[i]) for node, i in theirs.nodes(data="index_position")}
    assert len(set(street.values())) == len(street)  # no two streets have the same ends
    angles = {
        tuple(sorted((street[a], street[b]))): angle for a, b, angle in theirs.edges(data="angle")
    }
    tail = torch.repeat_interleave(dual.graph.rowptr.diff()).tolist()
    found = {
        tuple(sorted(pair)): angle
        for *pair, angle in zip(
            tail, dual.graph.col.tolist(), dual.graph.weight.tolist(), strict=True
        )
    }
    assert found == {pair: pytest.approx(max(angle, 1e-9)) for pair, angle in angles.items()}


def crooked_blocks(side: int = 6) -> tuple[list, list, list[float]]:
    """Positions, streets and their straight lengths, on which no paths tie."""
    rng = random.Random(1)
    place = [
        (100 * (v % side) + rng.uniform(-30, 30), 100 * (v // side) + rng.uniform(-30, 30))
        for v in range(side**2)
    ]
    arcs = [arc for arc in grid(side, side) if arc[0] < arc[1] and rng.random() < 0.9]
    return place, arcs, [math.dist(place[u], place[v]) for u, v in arcs]


@pytest.mark.parametrize(
    ("dtype", "offset", "digits"), [(torch.float64, 5e6, 6), (torch.float32, 0, 3)]
)
def test_rounding_of_angles_decides_ties_unless_told(dtype, offset, digits):
    """A grid that is turned has the betweenness of one that is not, as docs/streets.md says."""
    side, turn = 5, 0.7
    arcs = edge_index([arc for arc in grid(side, side) if arc[0] < arc[1]])
    v = torch.arange(side**2, dtype=torch.float64, device=DEVICE)
    straight = 100 * torch.stack([v % side, v // side], 1)
    cos, sin = math.cos(turn), math.sin(turn)
    matrix = torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64, device=DEVICE)
    turned = (straight @ matrix + offset).to(dtype)

    def scores(graph):
        return torchcent.betweenness(graph, normalized=False, run=F64)

    expected = scores(torchcent.dual_graph(arcs, straight).graph)
    graph = torchcent.dual_graph(arcs, turned).graph
    assert (scores(graph) - expected).abs().max() > 1
    tied = graph.with_ties(tie_tolerance=10.0 ** (-9 if digits == 6 else -6))
    whole = graph.with_weights((graph.weight[graph.slot] * 10**digits).round())
    for other in (tied, whole):
        torch.testing.assert_close(scores(other), expected)


def of_cityseer(place: list, arcs: list, cutoff: int, closeness: dict[str, str]):
    """Its table of the measures and of betweenness, a row per vertex."""
    networks = pytest.importorskip("cityseer.metrics.networks")
    io = pytest.importorskip("cityseer.tools.io")
    shapely = pytest.importorskip("shapely")
    theirs = nx.MultiGraph(crs="EPSG:32633")
    for v, (x, y) in enumerate(place):
        theirs.add_node(str(v), x=x, y=y)
    for u, v in arcs:
        theirs.add_edge(str(u), str(v), geom=shapely.LineString([place[u], place[v]]))
    nodes, _, structure = io.network_structure_from_nx(theirs)
    table = networks.centrality_shortest(
        structure, nodes, distances=[cutoff], closeness=closeness, betweenness={"paths": "1"}
    )
    return table.set_index(table.index.astype(int)).sort_index()


@pytest.mark.parametrize(("longer", "ties"), [(0, True), (5e-5, True), (9e-5, True), (2e-4, False)])
def test_ties_of_cityseer(longer, ties):
    """Of two ways around a block, those within 1e-4 of each other share what passes."""
    bend = math.sqrt((100 * math.sqrt(2) * (1 + longer)) ** 2 - 100**2)
    place, arcs = [(0, 0), (100, 100), (100, -bend), (200, 0)], [(0, 1), (1, 3), (0, 2), (2, 3)]
    length = [math.dist(place[u], place[v]) for u, v in arcs]
    weight = torch.tensor(length, dtype=torch.float64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(arcs), 4, False, weight).with_ties(tie_tolerance=1e-4)
    found = torchcent.betweenness(graph, cutoff=1000, normalized=False, run=F64).cpu()
    assert found[1:3].tolist() == ([0.5, 0.5] if ties else [1.0, 0.0])
    their = of_cityseer(place, arcs, 1000, {})["cc_paths_1000"].to_numpy()
    torch.testing.assert_close(found, torch.tensor(their, dtype=torch.float64))


@pytest.mark.parametrize("cutoff", [150, 300])
def test_measures_of_cityseer(cutoff):
    """Its density, farness, harmonic, gravity and betweenness within a distance; in float32."""
    place, arcs, length = crooked_blocks()
    closeness = {"density": "1", "farness": "c", "harmonic": "1/c", "beta": f"exp(-4*c/{cutoff})"}
    table = of_cityseer(place, arcs, cutoff, closeness)
    weight = torch.tensor(length, dtype=torch.float64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(arcs), len(place), False, weight)
    profile = torchcent.distance_profile(graph, cutoff=cutoff, run=F64)
    gravity = ("exponential", 4 / cutoff)
    found = {
        "density": profile.reach,
        "farness": profile.farness,
        "harmonic": profile.harmonic,
        "beta": torchcent.accessibility(graph, cutoff=cutoff, decay=gravity, run=F64),
        "paths": torchcent.betweenness(graph, cutoff=cutoff, normalized=False, run=F64),
    }
    for name, scores in found.items():
        their = torch.tensor(table[f"cc_{name}_{cutoff}"].to_numpy(), dtype=torch.float64)
        torch.testing.assert_close(scores.cpu(), their, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decay", ["flat", "linear", "exp"])
def test_sums_of_pandana(decay):
    """It counts what is at a vertex itself, too."""
    pandana = pytest.importorskip("pandana")
    pandas = pytest.importorskip("pandas")
    place, arcs, length = crooked_blocks()
    x, y, u, v = (pandas.Series(column) for column in (*zip(*place), *zip(*arcs)))  # noqa: B905
    theirs = pandana.Network(x, y, u, v, pandas.DataFrame({"length": length}))
    people = torch.arange(len(place), dtype=torch.float64, device=DEVICE) % 4
    theirs.set(pandas.Series(range(len(place))), pandas.Series(people.tolist()), name="people")
    weight = torch.tensor(length, dtype=torch.float64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(arcs), len(place), False, weight)
    ours = {"flat": None, "linear": ("linear", 250.0), "exp": ("exponential", 1 / 250)}[decay]
    found = torchcent.accessibility(graph, cutoff=250, decay=ours, destinations=people, run=F64)
    their = theirs.aggregate(250, type="sum", decay=decay, name="people").to_numpy()
    their = torch.tensor(their, dtype=torch.float64)
    torch.testing.assert_close((found + people).cpu(), their, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"radius": -1}, ValueError, "radius must be >= 0, got -1"),
        ({"radius": "800"}, TypeError, "radius must be"),
        ({"radius": 2, "by_hops": 1}, TypeError, "by_hops must be"),
        ({"radius": 2, "vertices": torch.tensor([9])}, ValueError, "vertices"),
    ],
)
def test_malformed_radius(options, kind, said):
    with pytest.raises(kind, match=said):
        torchcent.local_betweenness(edge_index(path(4)), **options)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"decay": "exponential"}, TypeError, "decay must be a pair of a name and a number"),
        ({"decay": ("fast", 2)}, ValueError, "must be one of 'power', 'exponential'"),
        ({"decay": ("power", 0)}, ValueError, "the parameter of decay must be finite and > 0"),
        ({"decay": ("power", "2")}, TypeError, "the parameter of decay"),
        ({"decay": lambda d: 1.0}, ValueError, "decay must return a number for each"),
        ({"decay": lambda d: d[:1]}, ValueError, "decay must return a number for each"),
        ({"cutoff": -2}, ValueError, "cutoff must be >= 0, got -2"),
        ({"destinations": torch.ones(3)}, ValueError, "destinations must have shape"),
        ({"destinations": torch.tensor([1, -1, 0, 0])}, ValueError, "destinations"),
    ],
)
def test_malformed_accessibility(options, kind, said):
    with pytest.raises(kind, match=said):
        torchcent.accessibility(edge_index(path(4)), **options)


@pytest.mark.parametrize("convert", [torch.Tensor.numpy, torch.Tensor.tolist])
def test_positions_of_arrays_and_lists(convert):
    arcs, length = edge_index(path(4)), torch.ones(len(path(4)), device=DEVICE)
    place = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    given = convert(place)
    found = torchcent.straightness(arcs, length, positions=given, run=F64)
    assert found.equal(torchcent.straightness(arcs, length, positions=place, run=F64))
    turns = torchcent.shortest_path_lengths(torchcent.dual_graph(arcs, given).graph)
    assert turns[0].tolist() == pytest.approx([0, 90, 180])


@pytest.mark.parametrize(
    ("positions", "kind", "said"),
    [
        ("here", TypeError, "positions must be real numbers, got 'here'"),
        ([[0, 0], [1]], TypeError, "positions must be real numbers"),
        (torch.zeros(4, 2).numpy() > 0, TypeError, r"real numbers, got dtype\('bool'\)"),
        (torch.zeros(3, 2), ValueError, r"positions must have shape \[4, 2\], got \[3, 2\]"),
        (torch.full((4, 2), math.nan), ValueError, r"positions\[0\] must be finite"),
        (torch.zeros(4, 2, dtype=torch.bool), TypeError, "positions must be real numbers"),
    ],
)
def test_malformed_positions(positions, kind, said):
    arcs, length = edge_index(path(4)), torch.ones(6)[: len(path(4))]
    with pytest.raises(kind, match=said):
        torchcent.straightness(arcs, length.to(DEVICE), positions=positions)
    with pytest.raises(kind, match=said):
        torchcent.dual_graph(arcs, positions)


def test_straightness_needs_lengths():
    with pytest.raises(ValueError, match="pass edge_weight"):
        torchcent.straightness(edge_index(path(4)), positions=torch.zeros(4, 2))
    with pytest.raises(ValueError, match="least must be in"):
        torchcent.dual_graph(edge_index(path(4)), torch.zeros(4, 2), least=0)
