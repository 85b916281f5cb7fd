"""Intervals and the sharing out of a probability of failure: against sums of binomial terms."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from graphs import DEVICE, edge_index, path, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from tuning import Tuning, original

import torchcent
from torchcent import generate
from torchcent.approx import _bounds, _cost
from torchcent.approx._approximation import vertex_diameter
from torchcent.approx._estimate import certain_ranks
from torchcent.approx._progressive import Checks, Choice, Outlook
from torchcent.approx._result import outward

F64 = torch.float64


def at_least(count: int, samples: int, chance: Fraction) -> Fraction:
    """P(a binomial variable is at least count), term by term."""
    terms = (
        math.comb(samples, k) * chance**k * (1 - chance) ** (samples - k)
        for k in range(count, samples + 1)
    )
    return sum(terms, Fraction(0))


@given(
    st.integers(1, 40).flatmap(lambda t: st.tuples(st.integers(0, t), st.just(t))),
    st.sampled_from([0.3, 0.05, 1e-4, 1e-12]),
    st.sampled_from([0.2, 0.01, 1e-9]),
)
def test_binomial_interval(seen, below, above):
    """At its ends the count seen, or one more extreme, has exactly the probabilities given."""
    count, samples = seen
    low, high = _bounds.binomial_interval(
        np.array([count]), samples, np.array([below]), np.array([above])
    )
    end = float(high[0])
    low, high = Fraction(float(low[0])), Fraction(end)
    assert 0 <= low <= Fraction(count, samples) <= high <= 1
    if count:
        assert float(at_least(count, samples, low)) == pytest.approx(below, rel=1e-6)
    else:
        assert low == 0
    if count < samples:
        # Next to 1 a step of float64 is more than a millionth of what is left: between its
        # neighbours, then.
        before, behind = (
            float(1 - at_least(count + 1, samples, Fraction(math.nextafter(end, to))))
            for to in (0.0, 1.0)
        )
        assert behind * (1 - 1e-6) <= above <= before * (1 + 1e-6)
    else:
        assert high == 1


@pytest.mark.parametrize("samples", [5, 40, 300])
@pytest.mark.parametrize("chance", [0.0, 0.003, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("failure", [0.3, 0.01, 1e-5])
def test_mean_interval_covers(samples, chance, failure):
    """Of 0s and 1s, the numbers of the largest variance: by the distribution of their mean."""
    count = np.arange(samples + 1)
    low, high = _bounds.mean_interval(
        count / samples, np.full(samples + 1, float(samples)), math.log(1 / failure)
    )
    weight = np.array(
        [math.comb(samples, k) * chance**k * (1 - chance) ** (samples - k) for k in count]
    )
    assert weight[low > chance + 1e-15].sum() <= failure
    assert weight[high < chance - 1e-15].sum() <= failure
    assert ((low >= 0) & (high <= 1)).all()


def test_numbers_of_samples():
    # By hand: ln(2 * 1000 / 0.1) / (2 * 0.01) = 9.9035 / 0.02
    assert _bounds.hoeffding_samples(0.1, 0.1, 1000) == 496
    # 0.5 / 0.0001 * (floor(log2(10 - 2)) + 1 + ln(10)) = 5000 * 6.302585
    assert _bounds.vc_samples(0.01, 0.1, 10) == 31513
    assert _bounds.vc_epsilon(31513, 0.1, 10) == pytest.approx(0.01, rel=1e-4)
    assert [_bounds.vc_dimension(size) for size in (2, 3, 4, 6, 10)] == [1, 1, 2, 3, 4]


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=8, unique=True),
    st.sampled_from([0.3, 0.02, 0.001]),
    st.sampled_from([0.4, 0.01]),
)
def test_shares_sum_to_one(counts, close, delta):
    values = np.array(sorted(counts))
    times = np.arange(1, values.size + 1)
    found = _bounds.shares(values, times, 200, np.full(values.size, close), delta)
    total = (times * (found.below + found.above)).sum()
    assert 0 < total <= 1 + 1e-9
    assert (found.below > 0).all() and (found.above > 0).all() and found.samples >= 1


@pytest.mark.parametrize("limit", [None, 1, 50, 5000])
def test_checks_share_out_delta(limit):
    checks, seen = Checks(400, 0.1, limit), []
    while (check := checks.next()) is not None and len(seen) < 60:
        seen.append(check)
    sizes, parts = zip(*seen, strict=True)
    assert list(sizes) == sorted(set(sizes)) and sizes[0] >= 1
    assert min(parts) > 0 and sum(parts) <= 0.1 * (1 + 1e-12)
    if limit is not None:
        assert sizes[-1] == limit
        assert sum(parts) == pytest.approx(0.1)


@settings(max_examples=40)
@given(
    st.sampled_from(["up to", "around"]),
    st.integers(1, 10**6),
    st.none() | st.integers(1, 10**6),
    st.lists(st.floats(0, 2), min_size=1, max_size=20),
)
def test_all_possible_checks_share_out_delta(kind, expected, limit, steps):
    """Whichever of them a run takes, and it takes only those beyond what it has drawn."""

    def made():
        most = expected if limit is None else min(expected, limit)
        return Choice.up_to(most, 0.1) if kind == "up to" else Choice.around(expected, 0.1, limit)

    every, drawn, choice = [], 0, made()
    while (check := choice.next(drawn, 0)) is not None:
        every.append(check)
        drawn = check[0]
    sizes, parts = zip(*every, strict=True)
    assert list(sizes) == sorted(set(sizes)) and sizes[0] >= 1
    assert min(parts) > 0 and sum(parts) <= 0.1 * (1 + 1e-12)
    assert sizes[-1] <= (limit or 2**62)
    # No step to the next one takes more than a twentieth of the samples, rounded up.
    assert all(b <= 1.05 * a + 2 + a * 1e-12 for a, b in itertools.pairwise(sizes))
    taken, drawn, choice = [], 0, made()
    for step in steps:
        reach = step * max(drawn, 1)
        if (check := choice.next(drawn, reach)) is None:
            break
        beyond = [size for size in sizes if size > drawn]
        within = [size for size in beyond if size <= drawn + reach]
        assert check == dict(zip(sizes, every, strict=True))[within[-1] if within else beyond[0]]
        taken.append(check)
        drawn = check[0]
    assert set(taken) <= set(every)


@pytest.mark.parametrize("population", [12, 60])
@pytest.mark.parametrize("samples", [4, 11])
@pytest.mark.parametrize("failure", [0.3, 0.01])
def test_mean_interval_covers_without_replacement(population, samples, failure):
    """Of 0s and 1s in a finite population: by the hypergeometric distribution."""
    from scipy.stats import hypergeom

    count = np.arange(samples + 1)
    low, high = _bounds.mean_interval(
        count / samples, np.full(samples + 1, float(samples)), math.log(1 / failure), population
    )
    for ones in range(population + 1):
        weight = hypergeom.pmf(count, population, ones, samples)
        assert weight[low > ones / population + 1e-15].sum() <= failure
        assert weight[high < ones / population - 1e-15].sum() <= failure


@given(st.floats(0.001, 0.5), st.sampled_from([0.3, 0.01]), st.integers(2, 10**6))
def test_serfling_is_the_least_number(epsilon, delta, n):
    """By the radius that the inequality gives, for the mean of the largest variance."""
    found = _bounds.serfling_samples(epsilon, delta, n)
    assert 1 <= found <= n - 1

    def radius(k):
        return math.sqrt(math.log(2 * n / delta) / (2 * k) * (1 - (k - 1) / (n - 1)))

    assert found == n - 1 or radius(found) <= epsilon * (1 + 1e-9)
    assert found == 1 or radius(found - 1) > epsilon * (1 - 1e-9)
    assert found <= _bounds.hoeffding_samples(epsilon, delta, n) + 1


def test_the_cheapest_method_by_hand():
    """10,000 samples of 1 ms reach epsilon in 10 s."""
    outlook = Outlook(10_000, 0.001, 0.1, 10.0)

    def method(exact, pivot, left=math.inf, with_pivots=True, epsilon=0.05):
        cost = _cost.Measured(exact, pivot)
        return _cost.cheaper(outlook, cost, 10_000, epsilon, 0.1, left, with_pivots)

    assert method(exact=20.0, pivot=0.1) == ""
    assert method(exact=5.0, pivot=0.1) == "exact"
    # ln(2e5) / (2 * 0.05^2) = 2441 with replacement, fewer of 10,000 vertices: below 4.9 s
    assert method(exact=20.0, pivot=0.002) == "pivots"
    assert method(exact=20.0, pivot=0.002, with_pivots=False) == ""
    # Exact scores have no error, so that they are worth twice the time, if there is.
    assert method(exact=5.0, pivot=0.002) == "exact"
    assert method(exact=5.0, pivot=0.002, left=4.95) == "pivots"
    # Too little time for any of them: those whose intervals are narrower by then.
    assert method(exact=20.0, pivot=0.002, left=1) == ""
    assert method(exact=20.0, pivot=0.0005, left=1) == "pivots"
    assert method(exact=math.inf, pivot=math.inf, left=1) == ""


def test_certain_ranks():
    scores = np.array([0.3, 0.9, 0.5, 0.5, 0.1])
    lower, upper = scores - 0.05, scores + 0.05
    best, certain = certain_ranks(scores, lower, upper, 5)
    assert best.tolist() == [1, 2, 3, 0, 4]
    assert certain.tolist() == [True, False, True, True, True]
    assert certain_ranks(scores, scores - 0.3, scores + 0.3, 2)[1].tolist() == [False, False]
    # A vertex further down with a wide interval spoils all ranks that it may belong to.
    upper[4] = 0.7
    assert certain_ranks(scores, lower, upper, 4)[1].tolist() == [True, False, False, False]


@given(st.integers(2, 25), st.integers(0, 60), st.integers(0, 99), st.booleans(), st.booleans())
def test_vertex_diameter_is_a_bound(n, arcs, seed, directed, weighted):
    """No shortest path has more vertices: all of them, by NetworkX."""
    import networkx as nx

    pairs = random_graph(n, arcs, seed)
    weight = None
    if weighted:
        weight = torch.tensor([1 + (7 * i) % 5 for i in range(arcs)], dtype=torch.float64)
    graph = torchcent.Graph.from_edge_index(edge_index(pairs), n, directed, weight)
    by = graph.to_networkx()
    longest = 1
    for s in by:
        distance = nx.single_source_dijkstra_path_length(by, s, weight="weight")
        hops = {s: 1}
        for v in sorted(distance, key=distance.get):  # the most vertices of a shortest path to v
            for u in by.predecessors(v) if directed else by[v]:
                step = by[u][v].get("weight", 1)
                if u in distance and distance[u] + step == distance[v]:
                    hops[v] = max(hops.get(v, 0), hops[u] + 1)
        longest = max(longest, max(hops.values()))
    assert longest <= vertex_diameter(graph) <= max(2 * longest * 5, n)


def test_vertex_diameter_is_the_same_each_time(threads):
    """By several threads, too, so that "rk" takes as many samples again."""
    torch.set_num_threads(4)
    parts = [generate.rmat(13, 8, seed=1), 9000 + generate.road(60, 60, seed=1)]
    graph = torchcent.Graph.from_edge_index(torch.cat(parts, 1).to(DEVICE), directed=False)
    assert len({vertex_diameter(graph) for _ in range(20)}) == 1


def test_vertex_diameter_of_known_graphs():
    def of(arcs):
        return vertex_diameter(torchcent.Graph.from_edge_index(edge_index(arcs), directed=False))

    assert of(path(10)) <= 19 and of(path(10)) >= 10
    assert of(star(50)) == 3  # from the hub: 1 + 1 + 1


def test_pivots_of_edges_are_enough_of_them():
    """Serfling's inequality, with edges in the union bound and all vertices as sources."""
    for n, edges, epsilon in ((50, 400, 0.1), (1000, 9000, 0.05)):
        k = _bounds.serfling_samples(epsilon, 0.1, n, edges)

        def radius(k, n=n, edges=edges):
            return (np.log(20 * edges) * (1 - (k - 1) / n) / (2 * k)) ** 0.5

        assert radius(k) <= epsilon and (k == 1 or radius(k - 1) > epsilon)


@pytest.mark.parametrize("weights", ["hops", "whole"])
def test_vertex_diameter_searches_each_component_in_its_own_graph(
    weights: str, tuning: Tuning
) -> None:
    """Stars, of which none is so deep that smaller ones need no search."""
    sizes = []
    hops, single = original("hops"), original("lengths")

    def by_hops(rowptr: Tensor, *rest: Any) -> Tensor:
        sizes.append(rowptr.numel() - 1)
        return hops(rowptr, *rest)

    def by_weight(graph: Any, *rest: Any) -> Tensor:
        sizes.append(graph.num_nodes)
        return single(graph, *rest)

    tuning(hops=by_hops, lengths=by_weight)
    stars = [
        torch.stack([torch.full((20,), 21 * k), 21 * k + torch.arange(1, 21)]) for k in range(50)
    ]
    edges = torch.cat(stars, 1)
    weight = None if weights == "hops" else torch.full((edges.shape[1],), 2.0)
    graph = torchcent.Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    # The two longest distances from a hub, in arcs, and the hub.
    assert vertex_diameter(graph) in (3, 4)
    assert len(sizes) == 50 and sum(sizes) == graph.num_nodes


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_intervals_are_rounded_outward(dtype):
    value = torch.rand(2000, generator=torch.Generator().manual_seed(0), dtype=F64)
    value = torch.cat([value, torch.zeros(1).double()])
    value = torch.cat([value, value * 1e-6, value * 1e-42, 1 - value * 1e-9])
    lower, upper = outward(value, value, dtype)
    assert lower.dtype == upper.dtype == dtype
    assert (lower.double() <= value).all() and (value <= upper.double()).all()
    assert (lower >= 0).all() and (upper <= 1).all()
    unit = torch.finfo(dtype)
    assert (upper.double() - lower.double() <= 4 * unit.eps * value + 4 * unit.tiny).all()
    same = value.to(dtype).double()  # what needs no rounding stays
    lower, upper = outward(same, same, dtype)
    assert lower.double().equal(same) and upper.double().equal(same)
