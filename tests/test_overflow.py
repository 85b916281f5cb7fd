"""Graphs with more shortest paths than floating point can count, against closed forms.

The closed forms are checked against the definition on small members of each family first, then
used where float32 (2^128), float64 (2^1024) or both overflow.
"""

import math

import numpy as np
import oracles
import pytest
import torch
from engines import ENGINES, assert_scores, skip_if_too_large
from graphs import diamonds, edge_index, grid, tower, union
from scipy.special import gammaln
from surface import call

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64
ALWAYS = pytest.mark.slow(always=True)  # what counts paths beyond float64
MEASURES = {
    "betweenness": torchcent.betweenness,
    "edge_betweenness": torchcent.edge_betweenness,
    "stress": torchcent.stress,
}


def undirected(measure: str, arcs: oracles.Arcs, n: int, engine: str, **options) -> torch.Tensor:
    """Raw scores, every unordered pair once."""
    skip_if_too_large(engine, n)
    return call(
        MEASURES[measure],
        edge_index(arcs),
        num_nodes=n,
        directed=False,
        normalized=False,
        dtype=F64,
        engine=engine,
        **options,
    )


# --- a chain of diamonds: hub i is vertex 3i, ways 3i + 1 and 3i + 2 lead on to hub i + 1


def diamond_betweenness(count: int) -> list[float]:
    result = []
    for i in range(count + 1):
        # All pairs across a hub pass through it, and half of what joins the two ways of the
        # diamonds beside it.
        result.append(3 * i * 3 * (count - i) + 0.5 * (i > 0) + 0.5 * (i < count))
        if i < count:
            result += [(3 * i + 1) * (3 * (count - 1 - i) + 1) / 2] * 2
    return result


def diamond_edges(count: int) -> list[float]:
    result = []
    for i in range(count):
        left, right = 3 * i + 1, 3 * (count - 1 - i) + 1
        # Pairs across the diamond go half this way; then come all pairs of the way's own vertex
        # with that side, and half of its pair with the other way.
        result += [left * right / 2 + left + 0.5, left * right / 2 + right + 0.5] * 2
    return result


def diamond_stress(count: int) -> list[int]:
    def paths_from_one_side(hubs: int) -> int:
        # To a hub from the hub and the two ways of each of so many diamonds: 2^d + 2 * 2^(d - 1)
        # for d from 1.
        return 4 * (2**hubs - 1)

    result = []
    for i in range(count + 1):
        left, right = paths_from_one_side(i), paths_from_one_side(count - i)
        result.append(left * right + (i > 0) + (i < count))
        if i < count:
            # From the hub before and all beyond it, to the hub after and all beyond it.
            result += [(1 + left) * (1 + paths_from_one_side(count - 1 - i))] * 2
    return result


DIAMONDS = {
    "betweenness": diamond_betweenness,
    "edge_betweenness": diamond_edges,
    "stress": diamond_stress,
}


@pytest.mark.parametrize("measure", DIAMONDS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_closed_forms_of_diamonds(measure, count):
    n, arcs = 3 * count + 1, diamonds(count)
    options = {"directed": False, "normalized": False}
    expected = call(getattr(oracles, measure), n, arcs, **options)
    assert DIAMONDS[measure](count) == expected


@pytest.mark.parametrize("measure", DIAMONDS)
@pytest.mark.parametrize("count", [20, 140, pytest.param(1100, marks=ALWAYS)])
def test_chain_of_diamonds(engine, measure, count):
    # 2^140 paths exceed float32, 2^1100 float64. Stress is then beyond float64 itself (inf) except
    # where few paths pass.
    actual = undirected(measure, diamonds(count), 3 * count + 1, engine)
    assert_scores(actual, DIAMONDS[measure](count), engine)


def test_stress_near_the_end_of_float64(engine):
    # 2^1000 paths are too many to count safely in float64, but no score is beyond it.
    options, expected = {}, diamond_stress(1000)
    if engine == "tensor":  # to which a search of 2,000 levels takes long: of the paths from hub 0
        options = {"sources": torch.tensor([0]), "targets": torch.arange(3001)}
        expected = [0.0]
        for i in range(1000):
            onward = 2 ** (1001 - i) - 3  # of the ways of diamond i, to the hub behind and beyond
            expected += [2**i * onward / 2] * 2 + [2 ** (i + 1) * (onward - 1) / 2]
    actual = undirected("stress", diamonds(1000), 3001, engine, **options)
    assert actual.isfinite().all()
    assert_scores(actual, expected, engine)


@ALWAYS
def test_only_some_lanes_overflow(engine):
    # Sources in a small part share batches with sources that see 2^1100 paths.
    small = (5, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])
    n, arcs = union(small, (3 * 1100 + 1, diamonds(1100)), small)
    sources = torch.tensor([0, 1, 2, 3, 4, 5, 6, n - 6, n - 5, n - 4, n - 3, n - 2, n - 1])
    actual = undirected("betweenness", arcs, n, engine, sources=sources, targets=torch.arange(n))
    alone = oracles.betweenness(*small, directed=False, normalized=False)
    assert_scores(actual[:5], alone, engine)
    assert_scores(actual[-5:], alone, engine)
    # Hub 0, a way beside it and the last hub are the sources in the chain. Hub i of the inner ones
    # lies between the first two and all after it, and between the last and all before it.
    inner = [(2 * 3 * (1100 - i) + 3 * i) / 2 for i in range(2, 1100)]
    assert_scores(actual[5 + 6 : -5 - 1 : 3], inner, engine)


# --- a tower of layers, each joined completely to the next


def tower_betweenness(layers: int, width: int) -> list[float]:
    def neighbours(layer: int) -> int:
        return (layer > 0) + (layer < layers - 1)

    result = []
    for layer in range(layers):
        # Paths from a layer below to one above cross this one in one vertex of `width`, any.
        score = width * layer * (layers - 1 - layer)
        # Two vertices of one layer are joined through each vertex of the layers beside it.
        for beside in (layer - 1, layer + 1):
            if 0 <= beside < layers:
                score += width * (width - 1) / 2 / (width * neighbours(beside))
        result += [score] * width
    return result


@pytest.mark.parametrize("layers, width", [(2, 3), (3, 2), (5, 3)])
def test_closed_form_of_towers(layers, width):
    options = {"directed": False, "normalized": False}
    expected = call(oracles.betweenness, layers * width, tower(layers, width), **options)
    assert tower_betweenness(layers, width) == pytest.approx([float(x) for x in expected])


@pytest.mark.parametrize("layers, width", [(50, 8), (45, 30), pytest.param(550, 4, marks=ALWAYS)])
def test_tower(engine, layers, width):
    # Path counts of width^(layers - 2): 2^144, 2^211, 2^1096.
    actual = undirected("betweenness", tower(layers, width), layers * width, engine)
    assert_scores(actual, tower_betweenness(layers, width), engine)


# --- grids: the paths over a x b steps number (a + b)! / (a! b!)


def grid_dependency(side: int, source: tuple[int, int], vertex: tuple[int, int]) -> float:
    """Sum over all targets of the share of the source's paths to them that pass the vertex."""
    log_factorial = gammaln(np.arange(2 * side) + 1.0)

    def log_paths(a, b):
        return log_factorial[a + b] - log_factorial[a] - log_factorial[b]

    row, column = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    to_vertex = [abs(source[0] - vertex[0]), abs(source[1] - vertex[1])]
    onward = [abs(row - vertex[0]), abs(column - vertex[1])]
    whole = [abs(row - source[0]), abs(column - source[1])]
    passed = (to_vertex[0] + onward[0] == whole[0]) & (to_vertex[1] + onward[1] == whole[1])
    passed[vertex] = False  # a path's end does not count
    log_share = log_paths(*to_vertex) + log_paths(*onward) - log_paths(*whole)
    return float(np.exp(log_share[passed]).sum())


def test_closed_form_of_grids():
    side = 6
    for source in ((0, 0), (0, 3), (2, 3)):
        start = source[0] * side + source[1]
        # The first half of the pairs: from the source to all.
        expected = oracles.betweenness(
            side * side,
            oracles.both_ways(grid(side, side)),
            directed=True,
            normalized=False,
            sources=[start],
            targets=range(side * side),
        )
        for vertex in ((0, 1), (1, 1), (2, 2), (5, 5), (3, 3)):
            at = vertex[0] * side + vertex[1]
            assert grid_dependency(side, source, vertex) == pytest.approx(float(expected[at]))


@pytest.mark.parametrize("side", [100, pytest.param(600, marks=ALWAYS)])
def test_grid(engine, side):
    # Up to 2^194 and 2^1192 paths, and down to one along the border, on the same level.
    sources = [(0, 0), (side // 2, side // 3)]
    at = [row * side + column for row, column in sources]
    n = side * side
    skip_if_too_large(engine, n)
    scores = torchcent.betweenness(
        edge_index(oracles.both_ways(grid(side, side))),
        normalized=False,
        sources=torch.tensor(at),
        targets=torch.arange(n),
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    assert bool(scores.isfinite().all())
    last, middle = side - 1, side // 2
    sample = [(0, 1), (0, last), (last, 0), (1, 1), (middle, middle), (middle, 0), (7, last - 5)]
    sample += [(last, last), (last - 1, last), (last - 1, last - 1), (side // 4, 3 * side // 4)]
    expected = [
        sum(grid_dependency(side, source, vertex) for source in sources if source != vertex)
        for vertex in sample
    ]
    actual = scores[[row * side + column for row, column in sample]]
    assert_scores(actual, expected, engine)
    # Together: each target at distance d is reached through d - 1 vertices.
    row, column = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    total = sum(float((abs(row - a) + abs(column - b) - 1).sum()) + 1 for a, b in sources)
    assert math.isclose(float(scores.sum()), total, rel_tol=ENGINES[engine])


def test_grid_stress(engine):
    # Exact integers: 40 x 40, up to 2^74 paths from corner to corner.
    side = 24
    n, arcs = side * side, grid(side, side)
    source, target = 0, n - 1
    actual = undirected(
        "stress", arcs, n, engine, sources=torch.tensor([source]), targets=torch.tensor([target])
    )
    expected = [
        math.comb(row + column, row)
        * math.comb(2 * (side - 1) - row - column, side - 1 - row)
        * (0 < row * side + column < n - 1)
        / 2
        for row in range(side)
        for column in range(side)
    ]
    assert_scores(actual, expected, engine)
