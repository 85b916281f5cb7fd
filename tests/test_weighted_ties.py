"""Which weighted paths count as equally short, and that all engines agree about it."""

import math
import random
from fractions import Fraction
from functools import partial

import networkx as nx
import path_oracles as oracles
import pytest
import torch
from engines import assert_scores, scored
from graphs import DEVICE, arc_lists, edge_index, grid, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call
from test_weighted import MEASURES, listed, networkx_graph

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

F64 = torch.float64
# Two ways from 0 to 3: 0.1 + 0.2 by 1, 0.15 + 0.15 by 2; the first sum rounds up.
TWO_WAYS = [(0, 1), (1, 3), (0, 2), (2, 3)]
TENTHS = [0.1, 0.2, 0.15, 0.15]


def betweenness(arcs, n, engine, weights, **options):
    options = {"normalized": False} | options
    return scored(torchcent.betweenness, arcs, n, engine, edge_weight=weights, **options)


def test_sums_are_compared_as_they_round(weighted_engine):
    assert 0.1 + 0.2 > 0.15 + 0.15
    found = betweenness(TWO_WAYS, 4, weighted_engine, TENTHS, ties="float")
    assert found.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=40)
def test_decimals_tie_as_they_are_written(weighted_engine, measure, data):
    n, arcs = data.draw(arc_lists(7))
    digits = data.draw(st.integers(1, 4), label="digits")
    written = [Fraction(data.draw(st.integers(1, 9)), 10**digits) for _ in arcs]
    options = {"directed": data.draw(st.booleans(), label="directed"), "normalized": False}
    expected = oracles.scores(measure, n, arcs, written, **options)
    run = partial(scored, getattr(torchcent, measure))
    weights = [float(w) for w in written]
    assert_scores(run(arcs, n, weighted_engine, edge_weight=weights, **options), expected,
                  weighted_engine)  # fmt: skip


def test_decimals_of_a_batch_tie_as_those_of_each_graph():
    """One graph of tenths, one of other numbers, each with two ways that are equally long."""
    other = [w * math.pi for w in (1.0, 2.0, 1.5, 1.5)]
    arcs = torch.tensor(TWO_WAYS + [(u + 4, v + 4) for u, v in TWO_WAYS], device=DEVICE).T
    weights = torch.tensor(TENTHS + other, dtype=F64, device=DEVICE)
    ptr = torch.tensor([0, 4, 8], device=DEVICE)
    for ties in ("decimal", "float"):
        options = {"normalized": False, "ties": ties}
        found = call(torchcent.betweenness, arcs, weights, ptr=ptr, **options)
        alone = [
            call(torchcent.betweenness, arcs[:, :4], weights[part], **options)
            for part in (slice(0, 4), slice(4, 8))
        ]
        assert found.tolist() == torch.cat(alone).tolist()
        assert found[:4].tolist() == ([0, 0.5, 0.5, 0] if ties == "decimal" else [0, 0, 1, 0])
    profile = call(torchcent.distance_profile, arcs, weights, ptr=ptr, dtype=F64)
    assert profile.farness.tolist()[:4] == [0, 0.1, 0.15, 0.65]
    assert (
        torchcent.closeness(arcs[:, :4], weights[:4], run=torchcent.Run(dtype=F64))[3] == 3 / 0.65
    )


def test_bad_ties():
    with pytest.raises(ValueError, match="ties must be one of decimal, float; got 'whole'"):
        call(torchcent.betweenness, edge_index(TWO_WAYS), ties="whole")


@pytest.mark.parametrize("tolerance", [1e-12, 1e-9, 0.01])
def test_a_tolerance_makes_up_for_rounding(weighted_engine, tolerance):
    found = betweenness(TWO_WAYS, 4, weighted_engine, TENTHS, tie_tolerance=tolerance)
    assert found.tolist() == [0, 0.5, 0.5, 0]


def test_a_tolerance_is_relative(weighted_engine):
    weights = [1e6, 1e6 + 1, 1e6, 1e6]
    for tolerance, first in ((1e-7, 0.0), (6e-7, 0.5)):
        found = betweenness(TWO_WAYS, 4, weighted_engine, weights, tie_tolerance=tolerance)
        assert found.tolist() == [0, first, 1 - first, 0]


def test_distances_stay_the_smallest(row_engine):
    lengths = torch.tensor(TENTHS, dtype=F64, device=edge_index(TWO_WAYS).device)
    graph = Graph.from_edge_index(edge_index(TWO_WAYS), edge_weight=lengths)
    rows = torchcent.shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine))
    assert rows[0].tolist() == [0, 0.1, 0.15, 0.15 + 0.15]


def test_a_tolerance_does_not_turn_round(weighted_engine):
    """An arc back to a nearer vertex is on no shortest path, however large the tolerance."""
    arcs, weights = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)], [1, 1, 1, 1, 1.5, 1.5]
    found = betweenness(arcs, 3, weighted_engine, weights, tie_tolerance=0.9)
    expected = oracles.scores(
        "betweenness", 3, arcs, weights, directed=True, normalized=False, tie_tolerance=0.9
    )
    assert_scores(found, expected, weighted_engine)


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=60)
def test_definition(weighted_engine, measure, data):
    n, arcs = data.draw(arc_lists(7))
    kinds = [
        st.sampled_from([0.1, 0.2, 0.3, 0.15, 0.45, 0.05]),
        st.integers(1, 4),
        st.sampled_from([1.0, 1.0 + 2**-52, 2.0, 2.0 - 2**-52, 3.0]),
        st.floats(0.5, 2),
    ]
    weights = listed(data.draw, arcs, data.draw(st.sampled_from(kinds)))
    options = {
        "directed": data.draw(st.booleans(), label="directed"),
        "normalized": False,
        "tie_tolerance": data.draw(st.sampled_from([0.0, 1e-12, 1e-3, 0.2, 0.6])),
    }
    if n and data.draw(st.booleans()):
        options["sources"] = data.draw(subset(n), label="sources")
        options["targets"] = data.draw(subset(n), label="targets")
    expected = oracles.scores(measure, n, arcs, [float(w) for w in weights], **options)
    run = partial(scored, getattr(torchcent, measure))
    actual = run(arcs, n, weighted_engine, edge_weight=weights, ties="float", **options)
    assert_scores(actual, expected, weighted_engine)


def subset(n):
    return st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)


@pytest.mark.parametrize("tolerance", [1e-9, 0.05, 0.5])
@pytest.mark.parametrize("whole", [True, False])
def test_engines_agree_about_a_tolerance(weighted_engine, tolerance, whole):
    """Leaves included: a folded leaf would compare shorter sums than its own search does."""
    draw = random.Random(2)
    arcs = random_graph(150, 260, seed=6)
    weights = [draw.randint(1, 6) if whole else draw.uniform(0.2, 2) for _ in arcs]
    run = partial(scored, torchcent.betweenness, arcs, 150)
    options = {"edge_weight": weights, "directed": False, "tie_tolerance": tolerance}
    assert_scores(run(weighted_engine, **options), run("tensor", **options), weighted_engine)
    if tolerance == 0.05:
        expected = oracles.scores(
            "betweenness", 150, arcs, weights, directed=False, normalized=True,
            tie_tolerance=tolerance, sources=range(150),
        )  # fmt: skip
        assert_scores(run("tensor", **options), expected, "tensor")


def test_a_tolerance_means_nothing_to_hops():
    arcs = edge_index(random_graph(50, 200, seed=1))
    hops = torchcent.betweenness(arcs, run=torchcent.Run(dtype=F64))
    assert torch.equal(call(torchcent.betweenness, arcs, dtype=F64, tie_tolerance=0.3), hops)


# --- weights that differ little, or much


def test_weights_that_differ_in_the_last_bit(weighted_engine):
    draw = random.Random(5)
    arcs = grid(6, 7)
    weights = [1.0 + draw.randrange(3) * 2**-52 for _ in arcs]
    reference = nx.betweenness_centrality(
        networkx_graph(42, arcs, weights, directed=False), weight="weight", normalized=False
    )
    actual = betweenness(arcs, 42, weighted_engine, weights, directed=False, ties="float")
    assert_scores(actual, [reference[v] for v in range(42)], weighted_engine)


@pytest.mark.parametrize("decades", [3, 6, 9, 12])
def test_wide_weights(weighted_engine, decades):
    draw = random.Random(decades)
    arcs = random_graph(60, 240, seed=decades)
    weights = [10 ** draw.uniform(0, decades) for _ in arcs]
    for directed in (False, True):
        reference = nx.betweenness_centrality(
            networkx_graph(60, arcs, weights, directed), weight="weight"
        )
        actual = scored(torchcent.betweenness, arcs, 60, weighted_engine, edge_weight=weights,
                        directed=directed)  # fmt: skip
        assert_scores(actual, [reference[v] for v in range(60)], weighted_engine)


@pytest.mark.parametrize("exponent", [-900, -300, 300, 900])
def test_weights_far_from_one(weighted_engine, exponent):
    draw = random.Random(1)
    arcs = random_graph(30, 90, seed=2)
    weights = [draw.randint(1, 3) for _ in arcs]
    run = partial(scored, torchcent.betweenness, arcs, 30, weighted_engine)
    scale = 2.0**exponent
    assert torch.equal(run(edge_weight=[w * scale for w in weights]), run(edge_weight=weights))


def test_arcs_that_vanish_beside_others(weighted_engine):
    """1e-20 does not lengthen 1: 0-2 and 0-1-2 would count, and 1-2 lead both ways."""
    arcs, weights = [(0, 1), (1, 2), (0, 2)], [1.0, 1e-20, 1.0]
    with pytest.raises(ValueError, match="edge_weight.*1e-20.*vanishes beside.*raise.*contract"):
        betweenness(arcs, 3, weighted_engine, weights, directed=False)
    with pytest.raises(ValueError, match="vanishes"):
        betweenness(arcs, 3, weighted_engine, weights, directed=True, tie_tolerance=1e-9)
    rows = torchcent.shortest_path_lengths(
        edge_index(arcs),
        torch.tensor(weights, dtype=F64, device=DEVICE),
        directed=False,
        run=torchcent.Run(engine="dijkstra" if weighted_engine == "tiny" else weighted_engine),
    )  # distances are right all the same
    assert rows[2].tolist() == [1.0, 1e-20, 0.0]


def test_small_arcs_that_do_not_vanish(weighted_engine):
    """The sum of all weights is 2^53 times the smallest, but no path comes near it."""
    arcs = [(0, v) for v in range(1, 40)] + [(v, v + 1) for v in range(1, 39)]
    weights = [1e13 + 0.3 * v for v in range(39)] + [0.01 + 1e-4 * v for v in range(38)]
    reference = nx.betweenness_centrality(
        networkx_graph(40, arcs, weights, directed=False), weight="weight"
    )
    actual = scored(
        torchcent.betweenness, arcs, 40, weighted_engine, edge_weight=weights, directed=False
    )
    assert_scores(actual, [reference[v] for v in range(40)], weighted_engine)


# --- the trap of the weighted paper


def test_figure_1b(weighted_engine):
    """Fan, Xu and Zhao 2017, figure 1B: a frontier rule that is too greedy miscounts.

    v2 is as near directly as by v1, and v3 hangs on v2. Once v0 is settled, the smallest distance
    plus lightest arc is 1 + 1 = 2, by v1. To settle all that is *at most* 2 away (their equation
    3) takes v2 with one of its two paths, and v3 gets 1 instead of 2; all *below* 2 (equation 4)
    is right.
    """
    arcs, weights = [(0, 1), (0, 2), (1, 2), (2, 3)], [1, 2, 1, 1]
    for directed in (True, False):
        options = {"directed": directed, "normalized": False}
        paths = scored(torchcent.stress, arcs, 4, weighted_engine, edge_weight=weights,
                       sources=[0], targets=[3], directed=directed)  # fmt: skip
        assert (paths if directed else 2 * paths).tolist() == [0, 1, 2, 0]
        shares = betweenness(arcs, 4, weighted_engine, weights, **options)
        expected = oracles.scores("betweenness", 4, arcs, weights, **options)
        assert_scores(shares, expected, weighted_engine)
        edges = scored(torchcent.edge_betweenness, arcs, 4, weighted_engine, edge_weight=weights,
                       sources=[0], targets=[3], **options)  # fmt: skip
        assert (edges if directed else 2 * edges).tolist() == [0.5, 0.5, 0.5, 1]


@pytest.mark.parametrize("seed", range(6))
def test_frontiers_of_many_ties(weighted_engine, seed):
    """Weights 1 and 2 on graphs with many ways: a vertex is complete only when all below it are."""
    draw = random.Random(seed)
    n = 40
    arcs = random_graph(n, 160, seed=seed) if seed % 2 else grid(5, 8)
    weights = [draw.choice([1, 2]) for _ in arcs]
    for directed in (False, True):
        reference = nx.betweenness_centrality(
            networkx_graph(n, arcs, weights, directed), weight="weight"
        )
        actual = scored(torchcent.betweenness, arcs, n, weighted_engine, edge_weight=weights,
                        directed=directed)  # fmt: skip
        assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)


@pytest.mark.parametrize("bad", [-1e-9, 1, 1.5, math.nan, math.inf])
def test_tolerances_that_are_none(bad):
    for measure in MEASURES:
        with pytest.raises(ValueError, match=r"tie_tolerance must be in \[0, 1\)"):
            call(getattr(torchcent, measure), edge_index(TWO_WAYS), tie_tolerance=bad)
    with pytest.raises(ValueError, match="tie_tolerance"):
        call(torchcent.explain, edge_index(TWO_WAYS), tie_tolerance=bad)


@pytest.mark.parametrize("bad", ["1e-9", None, True, torch.tensor(0.1)])
def test_tolerances_of_another_type(bad):
    with pytest.raises(TypeError, match="tie_tolerance must be a number"):
        call(torchcent.betweenness, edge_index(TWO_WAYS), tie_tolerance=bad)
