"""Sums of distances within cutoffs by lengths: searches end there, and the sums are exact."""

import math
import os
import random
from fractions import Fraction

import pytest
import torch
import weighted_oracles as oracles
from graphs import DEVICE, edge_index, grid, path, random_graph, star
from internals import Launch, has_kernel
from surface import call
from test_batch import together
from test_weighted_ops import DTYPES, ENGINES, Weighted, drawn
from tuning import original

import torchcent
from torchcent import Graph, Run, cli

F64 = torch.float64
ops = torch.ops.torchcent
compiled = pytest.mark.skipif(
    bool(os.environ.get("TORCHCENT_NO_EXTENSION")), reason="no operators without the extension"
)
SHAPES = {
    "path": (9, path(9)),
    "grid": (20, grid(4, 5)),
    "star": (7, star(6)),
    "two parts": (40, random_graph(40, 45, seed=2)),
    "70": (70, random_graph(70, 150, seed=3)),
}
WEIGHTS = {
    "whole": lambda rng: Fraction(rng.randint(1, 9)),
    "decimal": lambda rng: Fraction(rng.choice((1, 2, 3, 7)), 10),
    "large": lambda rng: Fraction(rng.randint(1, 10**8)),
    "binary": lambda rng: Fraction(rng.randint(1, 64), 8),
}
COLUMNS = ("closeness", "harmonic", "eccentricity", "reach", "farness")


def weights_of(n: int, arcs: list, kind: str, directed: bool) -> oracles.Weights:
    """An exact weight for each arc."""
    rng = random.Random(n)
    weights = {}
    for u, v in arcs:
        if u != v and (u, v) not in weights:
            weights[u, v] = WEIGHTS[kind](rng)
            if not directed:
                weights[v, u] = weights[u, v]
    return weights


def graph_of(n: int, weights: oracles.Weights, directed: bool) -> Graph:
    arcs = sorted(weights)
    length = torch.tensor([float(weights[arc]) for arc in arcs], dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs), n, directed, length)


def incoming(n: int, weights: oracles.Weights) -> list[list[Fraction | None]]:
    """The distance to each vertex from every other."""
    backward = {(v, u): weight for (u, v), weight in weights.items()}
    return [oracles.distances(n, backward, v) for v in range(n)]


def profile(rows: list, cutoff: float, wf_improved: bool = True) -> dict[str, list[float]]:
    """What distance_profile has for each vertex."""
    columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
    limit = Fraction(str(cutoff)) if cutoff < math.inf else cutoff  # the decimal that it stands for
    for v, row in enumerate(rows):
        near = [d for u, d in enumerate(row) if u != v and d is not None and d <= limit]
        factor = Fraction(len(near), len(rows) - 1) if wf_improved else 1
        columns["closeness"].append(float(len(near) / sum(near) * factor) if near else 0.0)
        columns["harmonic"].append(float(sum(1 / d for d in near)))
        columns["eccentricity"].append(float(max(near, default=0)))
        columns["reach"].append(len(near))
        columns["farness"].append(float(sum(near)))
    return columns


def cutoffs_of(rows: list) -> list[float]:
    """None reached, exactly the first, a third, the farthest; just below, and beyond."""
    lengths = sorted({d for row in rows for d in row if d})
    picked = (lengths[0], lengths[len(lengths) // 3], lengths[-1])
    exact = [float(length) for length in picked]
    return [0, float(lengths[0]) / 2, *exact, exact[1] * (1 - 1e-12), 1e12, math.inf]


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    "engine", ["auto", "relax", "dijkstra", "hierarchy", "tensor", "reference"]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_exact_distances(shape, engine, kind, directed):
    """Which pairs are within a cutoff is decided exactly, as it is for betweenness."""
    if engine == "reference" and not has_kernel("reference_sums", DEVICE):
        pytest.skip(f"no reference for {DEVICE}")
    if engine == "hierarchy" and not has_kernel("hierarchy_sums", DEVICE):
        pytest.skip(f"no hierarchy for {DEVICE}")
    if engine in ("relax", "dijkstra") and not has_kernel("weighted_source_sums", DEVICE):
        pytest.skip(f"no kernels for {DEVICE}")
    n, arcs = SHAPES[shape]
    weights = weights_of(n, arcs, kind, directed)
    graph, rows = graph_of(n, weights, directed), incoming(n, weights)
    cutoffs, run = cutoffs_of(rows), Run(engine=engine, dtype=F64)
    wanted = [profile(rows, cutoff) for cutoff in cutoffs]
    several = torchcent.distance_profile(graph, cutoff=cutoffs, run=run)
    every, some = torch.arange(n, device=DEVICE), torch.tensor([0, n // 2, n - 1], device=DEVICE)
    pivots = torchcent.distance_profile(graph, cutoff=cutoffs, sources=every, run=run)
    for name in COLUMNS:
        scores = torch.tensor([each[name] for each in wanted], dtype=F64).T
        torch.testing.assert_close(getattr(several, name).cpu(), scores, rtol=1e-12, atol=0)
        torch.testing.assert_close(getattr(pivots, name).cpu(), scores, rtol=1e-12, atol=0)
    for measure in (torchcent.closeness, torchcent.harmonic):
        scores = torch.tensor([each[measure.__name__] for each in wanted], dtype=F64).T
        chosen = measure(graph, cutoff=cutoffs, vertices=some, run=run).cpu()
        torch.testing.assert_close(chosen, scores[some.cpu()], rtol=1e-12, atol=0)
    plain = torch.tensor([profile(rows, each, False)["closeness"] for each in cutoffs], dtype=F64).T
    found = torchcent.closeness(graph, cutoff=cutoffs, wf_improved=False, run=run).cpu()
    torch.testing.assert_close(found, plain, rtol=1e-12, atol=0)


@pytest.mark.parametrize("engine", ["auto", "relax", "dijkstra", "hierarchy", "tensor"])
def test_the_same_pairs_as_betweenness(engine):
    """With endpoints, raw betweenness of the pairs within a cutoff counts each at both its ends."""
    n, arcs = SHAPES["70"]
    graph = graph_of(n, weights_of(n, arcs, "decimal", False), False)
    run = Run(engine=engine, dtype=F64)
    if engine == "hierarchy" and not has_kernel("hierarchy_sums", DEVICE):
        pytest.skip(f"no hierarchy for {DEVICE}")
    for cutoff in (0.3, 0.7, 1.1):
        options = {"cutoff": cutoff, "normalized": False}
        paths = Run(engine="auto" if engine == "hierarchy" else engine, dtype=F64)
        more = torchcent.betweenness(graph, endpoints=True, run=paths, **options)
        less = torchcent.betweenness(graph, run=paths, **options)
        reach = torchcent.distance_profile(graph, cutoff=cutoff, run=run).reach
        torch.testing.assert_close(more - less, reach, rtol=1e-5, atol=0)  # in float32


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["auto", "relax", "dijkstra", "hierarchy"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_bits_of_any_threads_and_of_each_cutoff(engine, kind, threads):
    if engine == "hierarchy" and not has_kernel("hierarchy_sums", DEVICE):
        pytest.skip(f"no hierarchy for {DEVICE}")
    n, arcs = 300, random_graph(300, 700, seed=8)
    graph = graph_of(n, weights_of(n, arcs, kind, False), False)
    unit = float(WEIGHTS[kind](random.Random(1)))
    cutoffs, some = [3 * unit, unit, 2 * unit], torch.arange(0, n, 2, device=DEVICE)
    run = Run(engine=engine, dtype=F64)
    for chosen in ({}, {"sources": some}):
        one, *others = (
            torchcent.distance_profile(graph, cutoff=cutoffs, run=run | Run(threads=k), **chosen)
            for k in (1, 2, 3)
        )
        for other in others:
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        for column, cutoff in enumerate(cutoffs):
            single = torchcent.distance_profile(graph, cutoff=cutoff, run=run, **chosen)
            for several, alone in zip(one, single, strict=True):
                if engine == "auto":  # the engine is chosen by the largest of them
                    torch.testing.assert_close(several[:, column], alone, rtol=1e-14, atol=0)
                else:
                    assert torch.equal(several[:, column], alone)


@compiled
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_end_at_the_limit(engine, dtype):
    """Rows have no distance beyond it, and sums are those of the rows."""
    kind, n = DTYPES[dtype], 90
    for number, most in enumerate((9, 90, 10**6)):
        scale = 1 if kind != F64 else 0.1
        weights = drawn(
            n, random_graph(n, 200, seed=number), lambda rng, m=most, s=scale: rng.randint(1, m) * s
        )
        graph = Weighted(n, weights, kind)
        whole = graph.distances(ENGINES[engine], list(range(n))).double()
        whole = torch.where(whole < 0, torch.inf, whole)
        limits = torch.tensor([0, most * scale, 3 * most * scale], dtype=kind)
        rows = torch.full((n, n), 7, dtype=kind)
        how = torch.zeros(4, dtype=torch.int64), ENGINES[engine], Launch(2)
        every, several = torch.arange(n), limits.numel()
        ops.weighted_distances(graph.graph, every, rows, *how, limits)
        none = -1 if kind != F64 else math.inf
        near = torch.where(whole <= limits[-1].item(), whole, none)
        assert torch.equal(rows.double(), near)
        sums = torch.full((n, several, 3), 7.0, dtype=F64)
        farthest = torch.full((n, several), 7.0, dtype=F64)
        ops.weighted_source_sums(graph.graph, every, sums, farthest, *how, limits)
        added, most_of = torch.ones(n, several, 3, dtype=F64), torch.ones(n, several, dtype=F64)
        ops.weighted_vertex_sums(graph.graph, every, added, most_of, *how, limits)
        for column, limit in enumerate(limits.tolist()):
            counts = (whole > 0) & (whole <= limit)
            length = torch.where(counts, whole, 0)
            inverse = torch.where(counts, 1 / whole, 0)
            for found, far, dim, more in ((sums, farthest, 1, 0), (added, most_of, 0, 1)):
                wanted = torch.stack([each.sum(dim) for each in (length, inverse, counts)], 1)
                torch.testing.assert_close(found[:, column], wanted + more, rtol=1e-12, atol=0)
                assert torch.equal(far[:, column], length.amax(dim).clamp(min=more))


def test_auto_goes_by_the_reach_of_the_cutoff():
    """A small cutoff in a large graph takes single searches, whatever a whole search would take."""
    if not has_kernel("hierarchy_sums", DEVICE) or DEVICE != "cpu":
        pytest.skip("no choice between searches and sweeps here")
    arcs = torchcent.generate.road(60, 60, seed=1)
    weight = torch.ones(arcs.shape[1], dtype=F64)
    graph = Graph.from_edge_index(arcs, directed=False, edge_weight=weight)
    engines = {
        cutoff: torchcent.explain(graph, measure="harmonic", cutoff=cutoff).engine
        for cutoff in (2, 200)
    }
    assert engines == {2: "dijkstra", 200: "hierarchy"}
    assert torchcent.explain(graph, measure="harmonic").engine == "hierarchy"


@pytest.mark.parametrize("weighted", [False, True])
def test_profiles_of_several_cutoffs_are_one_search(weighted, tuning):
    n, arcs = SHAPES["70"]
    graph = graph_of(n, weights_of(n, arcs, "whole", False), False)
    if not weighted:
        graph = Graph.from_edge_index(edge_index(arcs), n, False)
    begun = []
    for name in ("run_sums", "run_weighted_sums"):
        real = original(name)
        tuning(**{name: lambda *a, real=real, **k: begun.append(a) or real(*a, **k)})
    torchcent.distance_profile(graph, cutoff=[1, 2, 9])
    assert len(begun) == 1
    begun.clear()
    torchcent.distance_profile(graph, cutoff=[1, 2, 9], sources=torch.arange(9))
    assert len(begun) == (1 if weighted else 3)  # by hops, the farthest pivot within each


@pytest.mark.parametrize("sources", [None, [0, 8, 3]], ids=["all", "pivots"])
def test_profile_by_hops(sources):
    """The eccentricity within each of several cutoffs, which may have no pivot at a distance."""
    n, arcs = SHAPES["path"]
    graph = Graph.from_edge_index(edge_index(arcs), n, False)
    chosen = None if sources is None else torch.tensor(sources, device=DEVICE)
    found = torchcent.distance_profile(graph, cutoff=[6, 2], sources=chosen, run=Run(dtype=F64))
    for column, cutoff in enumerate((6, 2)):
        for v in range(n):
            starts = range(n) if sources is None else sources
            near = [abs(u - v) for u in starts if u != v and abs(u - v) <= cutoff]
            assert found.eccentricity[v, column] == max(near, default=0)
            if sources is None:
                assert found.reach[v, column] == len(near)


def test_batch():
    parts = [SHAPES[name] for name in ("path", "grid", "star", "two parts")]
    index, ptr = together(parts)
    rng = random.Random(4)
    length = torch.tensor([rng.randint(1, 9) for _ in range(index.shape[1])], dtype=F64)
    length = length.to(index.device)
    options = {"directed": False, "cutoff": [4, 9], "dtype": F64}
    found = call(torchcent.distance_profile, index, length, ptr=ptr, **options)
    begin, slots = 0, 0
    for n, arcs in parts:
        own = slice(slots, slots + len(arcs))
        one = torchcent.distance_profile(
            edge_index(arcs), length[own], num_nodes=n, directed=False, cutoff=[4, 9],
            run=Run(dtype=F64),
        )  # fmt: skip
        for whole, part in zip(found, one, strict=True):
            torch.testing.assert_close(whole[begin : begin + n], part)
        begin, slots = begin + n, slots + len(arcs)


def test_against_igraph():
    igraph = pytest.importorskip("igraph")
    n, arcs = SHAPES["70"]
    weights = weights_of(n, arcs, "whole", False)
    edges = [(u, v) for u, v in weights if u < v]
    other = igraph.Graph(n, edges)
    graph = graph_of(n, weights, False)
    length = [float(weights[edge]) for edge in edges]
    for cutoff in (3, 8):
        reach = torchcent.distance_profile(graph, cutoff=cutoff).reach.tolist()
        rows = other.distances(weights=length)
        assert reach == [sum(0 < d <= cutoff for d in row) for row in rows]


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"cutoff": -1}, ValueError, "cutoff must be >= 0, got -1"),
        ({"cutoff": "800"}, TypeError, "cutoff must be a number or a list of numbers"),
        ({"cutoff": []}, ValueError, "cutoff must not be empty"),
        ({"cutoff": 2, "engine": "tiny"}, ValueError, "cutoff is not for engine='tiny'"),
    ],
)
def test_malformed(options, kind, said):
    with pytest.raises(kind, match=said):
        call(torchcent.distance_profile, edge_index(path(4)), **options)


def test_command_line(tmp_path, capsys):
    (tmp_path / "net.txt").write_text("0 1\n1 2\n2 3\n")
    out = tmp_path / "out.csv"
    options = ["--cutoff", "1,2", "-o", str(out)]
    assert cli.main(["distance-profile", str(tmp_path / "net.txt"), *options]) == 0
    header, *lines = (line.split(",") for line in out.read_text().splitlines())
    assert "reach_within_1" in header and "farness_within_2" in header
    reach = {line[0]: float(line[header.index("reach_within_2")]) for line in lines}
    assert reach == {"0": 2, "1": 3, "2": 3, "3": 2}
    capsys.readouterr()
