"""Weighted scores and distances of real graphs against results by other programs (tests/golden and
shared/golden).

igraph: raw, undirected pairs once; distances from a vertex, of those that it reaches; paths within
a relative 1e-10 of the shortest count as shortest.
"""

from typing import Any

import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from engines import assert_scores, skip_if_too_large
from graphs import DEVICE
from internals import has_kernel
from references import Golden, Graphs
from surface import call

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep
needs_hierarchies = pytest.mark.skipif(
    not has_kernel("hierarchy_dependency", DEVICE), reason="no compiled kernels"
)

F64 = torch.float64
SMALL = ["foodweb-baydry", "lesmis", "yeast-collins2007", "netscience"]
LARGE = ["rome99", "openflights-routes"]


def known(load: Graphs, name: str) -> Graph:
    matrix, info = load.load(name)
    return Graph.from_scipy(matrix, info["directed"], edge_weight=True).to(DEVICE)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_igraph(weighted_engine: str, name: str, load: Graphs, golden: Golden) -> None:
    if weighted_engine == "tensor" and name in LARGE:
        pytest.skip("minutes on the tensor engine")
    graph = known(load, name)
    skip_if_too_large(weighted_engine, graph.num_nodes)
    reference = np.load(golden / f"igraph-1.0.0/{name}.weighted.npz")
    run = {"engine": weighted_engine, "dtype": F64}
    actual = call(
        torchcent.betweenness, graph.with_ties(tie_tolerance=1e-10), normalized=False, **run
    )
    assert_scores(actual, torch.from_numpy(reference["betweenness"]), weighted_engine)

    profile = call(torchcent.distance_profile, graph.reversed(), **run)
    farness, harmonic = profile.farness.cpu(), profile.harmonic.cpu()
    closeness = torch.from_numpy(reference["closeness"]).nan_to_num(0)
    expected = torch.where(farness > 0, 1 / farness, 0)
    torch.testing.assert_close(expected, closeness, rtol=1e-9, atol=0)
    mean = harmonic / (graph.num_nodes - 1)
    # igraph keeps distances plus 1, which takes digits from small ones; SciPy does not.
    lost = max(1e-9, 2.0**-52 / float(graph.weight.min()))
    torch.testing.assert_close(mean, torch.from_numpy(reference["harmonic"]), rtol=lost, atol=0)
    rows = scipy.sparse.csgraph.dijkstra(graph.to_scipy())
    np.fill_diagonal(rows, np.inf)
    exact = torch.from_numpy((1 / rows).sum(1))
    torch.testing.assert_close(harmonic, exact, rtol=1e-12, atol=0)

    if "edge_betweenness" in reference:
        actual = call(
            torchcent.edge_betweenness,
            graph.with_ties(tie_tolerance=1e-10),
            normalized=False,
            **run,
        )
        place = {arc: e for e, arc in enumerate(zip(*graph.to_edge_index().tolist(), strict=True))}
        ends = zip(reference["edge_row"].tolist(), reference["edge_col"].tolist(), strict=True)
        at = [place[arc] for arc in ends]
        assert_scores(
            actual.cpu()[at], torch.from_numpy(reference["edge_betweenness"]), weighted_engine
        )


@needs_hierarchies
def test_hierarchy_of_rome(load: Graphs, golden: Golden) -> None:
    """Its lengths are whole numbers, so that ties need no tolerance."""
    graph, run = known(load, "rome99"), {"engine": "hierarchy", "dtype": F64}
    reference = np.load(golden / "igraph-1.0.0/rome99.weighted.npz")
    actual = call(torchcent.betweenness, graph, normalized=False, **run)
    assert_scores(actual, torch.from_numpy(reference["betweenness"]), "relax")
    farness = call(torchcent.distance_profile, graph.reversed(), **run).farness
    closeness = torch.from_numpy(reference["closeness"]).nan_to_num(0)
    torch.testing.assert_close(1 / farness, closeness, rtol=1e-9, atol=0)


@pytest.mark.parametrize("kind", ["dir", "undir"])
def test_graphalytics(row_engine: str, kind: str, golden: Golden) -> None:
    folder = golden / "graphalytics"
    vertices = [int(x) for x in (folder / f"sssp_{kind}-input.v").read_text().split()]
    number = {name: v for v, name in enumerate(vertices)}
    rows = [line.split() for line in (folder / f"sssp_{kind}-input.e").read_text().splitlines()]
    arcs = torch.tensor([[number[int(u)], number[int(v)]] for u, v, _ in rows], device=DEVICE).T
    lengths = torch.tensor([float(w) for *_, w in rows], dtype=F64, device=DEVICE)
    # A few edges there have length 0: their ends are one place, as the error advises.
    if (lengths == 0).any():
        with pytest.raises(ValueError, match="contract"):
            Graph.from_edge_index(arcs, edge_weight=lengths)
        pytest.skip("the file has edges of length 0")
    graph = Graph.from_edge_index(arcs, len(vertices), kind == "dir", lengths)
    source = torch.tensor([number[1]])
    found = torchcent.shortest_path_lengths(
        graph, sources=source, dtype=F64, run=torchcent.Run(engine=row_engine)
    )
    lines = (folder / f"sssp_{kind}-output").read_text().split("\n")
    expected = {int(v): float(d) for v, d in (line.split() for line in lines if line)}
    reached = {vertices[v]: d for v, d in enumerate(found[0].tolist())}
    assert {v: reached[v] for v in expected} == pytest.approx(expected)


def test_streets_of_no_length(load: Graphs) -> None:
    """8,808 arcs of the streets of Berlin have length 0: they are named, not searched."""
    matrix, info = load.load("tn-berlin-center")
    with pytest.raises(ValueError, match=r"edge_weight\[\d+\] is 0.*contract"):
        Graph.from_scipy(matrix, info["directed"], edge_weight=True)
    matrix.data = np.maximum(matrix.data, 1e-3)
    graph = Graph.from_scipy(matrix, info["directed"], edge_weight=True)
    assert torch.isfinite(torchcent.betweenness(graph, sources=20)).all()


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("name", ["tn-sydney", "tn-chicago-regional"])
def test_streets(name: str, load: Graphs) -> None:
    """Both kinds of search, on directed streets with lengths that are no whole numbers."""
    matrix, info = load.load(name)
    matrix.data = np.maximum(matrix.data, 1e-3)
    graph = Graph.from_scipy(matrix, info["directed"], edge_weight=True).to(DEVICE)
    pivots = torch.arange(0, graph.num_nodes, graph.num_nodes // 70)
    auto = torchcent.betweenness(graph, sources=pivots, run=torchcent.Run(dtype=F64))
    if torchcent.explain(graph).engine == "tensor":
        pytest.skip("there are no compiled kernels to compare")
    for engine in ("relax", "dijkstra"):
        other = torchcent.betweenness(
            graph, sources=pivots, run=torchcent.Run(engine=engine, dtype=F64)
        )
        assert_scores(other, auto, engine)


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@needs_hierarchies
@pytest.mark.parametrize("name", ["tn-berlin-center", "tn-chicago-regional", "tn-sydney"])
def test_hierarchies_of_streets(name: str, load: Graphs) -> None:
    """One-way streets, and those of another length back."""
    matrix, info = load.load(name)
    matrix.data = np.maximum(matrix.data, 1e-3)
    graph = Graph.from_scipy(matrix, info["directed"], edge_weight=True)
    assert not graph.is_symmetric and graph.scale.exact
    pivots = torch.arange(0, graph.num_nodes, graph.num_nodes // 40)

    def compare(measure: str, rtol: float, **options: Any) -> None:
        compute = getattr(torchcent, measure)
        found, expected = (
            call(compute, graph, dtype=F64, engine=engine, **options)
            for engine in ("hierarchy", "dijkstra")
        )
        torch.testing.assert_close(found, expected, rtol=rtol, atol=0)

    for endpoints in (False, True):
        compare("betweenness", 1e-5, sources=pivots, endpoints=endpoints)
    compare("edge_betweenness", 1e-5, sources=pivots)
    for measure in ("closeness", "harmonic", "eccentricity"):
        compare(measure, 1e-12, vertices=pivots)
    compare("closeness", 1e-12, sources=pivots)
    rows = torchcent.shortest_path_lengths(
        graph, sources=pivots, run=torchcent.Run(engine="hierarchy"), dtype=F64
    )
    other = torchcent.shortest_path_lengths(
        graph, sources=pivots, run=torchcent.Run(engine="dijkstra"), dtype=F64
    )
    assert torch.equal(rows, other)
    for each, length in zip(
        torchcent.shortest_path(graph, int(pivots[0]), pivots),
        other[0].index_select(0, pivots).tolist(),
        strict=True,
    ):
        assert each.length == pytest.approx(length, rel=1e-12)


def test_decimals_of_streets(load: Graphs) -> None:
    """Lengths of few digits tie as whole numbers of the last digit do, and not as their float64
    sums, which is how NetworkX compares them."""
    matrix, info = load.load("tn-chicago-regional")
    matrix.data = np.maximum(matrix.data, 1e-2)
    graph = Graph.from_scipy(matrix, info["directed"], edge_weight=True).to(DEVICE)
    digits = graph.scale.digits
    assert graph.scale.exact and 2 <= digits <= 6
    matrix.data = (matrix.data * 10**digits).round()
    whole = Graph.from_scipy(matrix, info["directed"], edge_weight=True).to(DEVICE)
    pivots = torch.arange(0, graph.num_nodes, graph.num_nodes // 50)
    found = torchcent.betweenness(graph, sources=pivots, run=torchcent.Run(dtype=F64))
    assert (
        found.tolist()
        == torchcent.betweenness(whole, sources=pivots, run=torchcent.Run(dtype=F64)).tolist()
    )
    rounded = torchcent.betweenness(
        graph.with_ties("float"),
        sources=pivots,
        run=torchcent.Run(dtype=F64),
    )
    assert ((rounded - found).abs() > 1e-6 * found).sum() > graph.num_nodes // 4
