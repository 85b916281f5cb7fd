"""betweenness_approx and betweenness_adaptive: their promises, their options, their errors."""

import math
import time
from functools import cache

import networkx as nx
import numpy as np
import oracles
import pytest
import scipy.stats
import torch
from graphs import DEVICE, edge_index, grid, path, random_graph, star, union
from internals import COMPILED, Request, Sampler, plan_of
from interrupt import assert_stops
from surface import call

import torchcent
from torchcent import Approximation, Graph, betweenness_adaptive, betweenness_approx, generate
from torchcent.approx import _cost, _pivots
from torchcent.approx._progressive import Outlook, Sampling

pytestmark = pytest.mark.sweep

F64 = torch.float64
LEAST_P = 1e-4  # seeds are fixed: a test either fails always or never
SAMPLED = ("kadabra", "rk")


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normalised(n: int, arcs: oracles.Arcs, directed: bool) -> torch.Tensor:
    scores = oracles.betweenness(n, arcs, directed=directed, normalized=True)
    return torch.tensor([float(score) for score in scores], dtype=F64)


def weighted_case() -> tuple[Graph, torch.Tensor]:
    arcs = random_graph(60, 150, seed=4)
    whole = torch.tensor([1 + i % 3 for i in range(150)], dtype=F64)
    tenths, known = (
        Graph.from_edge_index(edge_index(arcs), 60, directed=False, edge_weight=length)
        for length in ((whole / 10).to(DEVICE), whole.to(DEVICE))  # CUDA multiplies by 0.1
    )
    exact = nx.betweenness_centrality(known.to_networkx(), weight="weight")
    return tenths, torch.tensor([exact[v] for v in range(60)], dtype=F64)


PLAIN: dict[str, tuple[int, oracles.Arcs, bool]] = {
    "random": (60, random_graph(60, 120, seed=1), False),
    "directed": (60, random_graph(60, 200, seed=2), True),
    "grid": (48, grid(6, 8), False),
    "parts": (*union((40, random_graph(40, 90, seed=3)), (9, path(9)), (3, [])), False),
    "hub": (30, [*star(25), (1, 27), (27, 28)], False),
}
CASES = ("weighted", *PLAIN)


@cache
def case(name: str) -> tuple[Graph, torch.Tensor]:
    """A graph with its exact scores, by oracles or NetworkX."""
    if name == "weighted":
        return weighted_case()
    n, arcs, directed = PLAIN[name]
    graph = Graph.from_edge_index(edge_index(arcs), n, directed)
    return graph, normalised(n, arcs if directed else oracles.both_ways(arcs), directed)


# --- the promise


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize("name", CASES)
def test_coverage(name, method):
    """In at most a share delta of runs is any score off by more than epsilon, or outside of its
    interval. (benchmarks/coverage.py has more runs.)"""
    graph, exact = case(name)
    delta, runs = 0.25, 40
    far = outside = 0
    for seed in range(runs):
        found = betweenness_approx(
            graph, 0.08, delta, method=method, run=torchcent.Run(dtype=F64), generator=chance(seed)
        )
        assert found.reached and found.method == method and found.delta == delta
        assert 0 < found.epsilon <= 0.08 * (1 + 1e-12)
        scores, lower, upper = (x.cpu() for x in (found.scores, found.lower, found.upper))
        assert ((lower <= scores) & (scores <= upper)).all()
        assert (upper - scores).max() <= found.epsilon + 1e-12
        assert (scores - lower).max() <= found.epsilon + 1e-12
        far += bool((scores - exact).abs().max() > 0.08)
        outside += bool(((exact < lower - 1e-12) | (exact > upper + 1e-12)).any())
    for failures in (far, outside):
        assert scipy.stats.binomtest(failures, runs, delta, "greater").pvalue > LEAST_P


def test_intervals_are_not_wider_than_need_be():
    """At the samples taken, no smaller epsilon could be promised for the hub by a normal
    approximation of its score alone, less than a factor of 2.5 below."""
    graph, exact = case("grid")
    found = betweenness_approx(
        graph, 0.02, method="kadabra", run=torchcent.Run(dtype=F64), generator=chance()
    )
    b = float(exact.max())
    alone = scipy.stats.norm.isf(0.05) * math.sqrt(b * (1 - b) / found.samples)
    assert found.epsilon < 2.5 * alone


@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_vertices(n):
    """The share of pairs that a vertex can be between is small: (n - 2) / n."""
    arcs = oracles.both_ways(path(n))
    exact, far = normalised(n, arcs, False), 0
    for seed in range(30):
        found = betweenness_approx(
            edge_index(arcs),
            0.1,
            0.2,
            method="kadabra",
            run=torchcent.Run(dtype=F64),
            generator=chance(seed),
        )
        far += bool((found.scores.cpu() - exact).abs().max() > 0.1)
    assert scipy.stats.binomtest(far, 30, 0.2, "greater").pvalue > LEAST_P


# --- how a run ends


def test_auto_takes_exact_scores_of_small_graphs():
    graph, exact = case("random")
    found = betweenness_approx(graph, run=torchcent.Run(dtype=F64))
    assert found.method == "exact" and found.epsilon == found.delta == 0 and found.reached
    torch.testing.assert_close(found.scores.cpu(), exact)
    assert found.lower is found.scores and found.upper is found.scores


def test_auto_samples_large_graphs(monkeypatch):
    graph, _ = case("random")
    monkeypatch.setattr(_cost, "exact_seconds", lambda *_: 1e9)
    monkeypatch.setattr(_cost, "is_worth_timing", lambda *_: False)
    assert betweenness_approx(graph, 0.1, generator=chance()).method == "kadabra"


@pytest.mark.parametrize("limit", [None, 1000])
@pytest.mark.parametrize("method", ["exact", "pivots"])
@pytest.mark.parametrize("name", ["random", "weighted"])
def test_auto_takes_what_is_cheaper_per_error(name, method, limit, monkeypatch):
    """Where samples turn out to be dearer than another method, that takes over."""
    graph, exact = case(name)
    cost = {"exact": (1e-9, 1.0), "pivots": (1.0, 1e-9)}[method]
    monkeypatch.setattr(_cost, "exact_seconds", lambda *_: 1e9)
    monkeypatch.setattr(_cost, "is_worth_timing", lambda *_: True)
    monkeypatch.setattr(_cost, "measured", lambda *_: _cost.Measured(*cost))
    found = betweenness_approx(
        graph, 0.2, time_limit=limit, run=torchcent.Run(dtype=F64), generator=chance()
    )
    assert found.method == method and found.reached and "paths more" in found.reason
    assert found.epsilon <= 0.2 and (found.scores.cpu() - exact).abs().max() <= 0.2
    assert ((found.lower.cpu() <= exact + 1e-12) & (exact <= found.upper.cpu() + 1e-12)).all()
    # A number of samples, or the top alone, is asked of samples.
    sampled = betweenness_approx(graph, 0.2, top=2, generator=chance())
    assert sampled.method == ("exact" if method == "exact" else "kadabra")


@pytest.mark.parametrize("name", ["random", "directed", "weighted", "parts"])
def test_searches_are_timed_on_every_graph(name):
    graph, _ = case(name)
    cost = _cost.measured(graph, None)
    assert 0 < cost.exact < math.inf and 0 < cost.pivot < math.inf
    assert _cost.measured(graph, 1000) == _cost.Measured(math.inf, math.inf)  # does not fit


@pytest.mark.parametrize("start", [0.0, 0.15])
@pytest.mark.parametrize("cold", [0.0, 0.5, 0.97, 20.0])
@pytest.mark.parametrize("each", [1e-4, 1e-2, 1.0])
def test_starting_is_not_taken_for_searching(start, cold, each, monkeypatch):
    """A clock of its own: each run takes `start` seconds, the first `cold` batches more."""
    graph = Graph.from_edge_index(generate.ba(30_000, 3, seed=1).to(DEVICE), directed=False)
    plan, _ = plan_of(graph, Request("betweenness"))
    batch = max(plan.lanes, 1) * max(plan.threads, plan.flight, 1)
    now, searched = [0.0], []

    def run(problem, *_, **__):
        now[0] += start + each * problem.sources.numel()
        now[0] += 0 if searched else cold * each * batch
        searched.append(problem.sources.numel())

    monkeypatch.setattr(_cost._driver, "run", run)
    monkeypatch.setattr(_cost.time, "perf_counter", lambda: now[0])
    cost = _cost.measured(graph, None)
    monkeypatch.undo()
    assert cost.exact == pytest.approx(start + each * plan.sources, rel=0.02)
    assert cost.pivot == pytest.approx(each, rel=0.02)
    assert len(searched) > 1 and sorted(searched) == searched


@pytest.mark.slow
def test_timing_has_to_pay():
    """A second is at stake at least, and a hundred slow searches take a tenth of it at most."""
    graph, _ = case("random")
    for samples, left, worth in [
        (900, math.inf, False),
        (1100, math.inf, True),
        (1100, 0.9, False),
    ]:
        assert _cost.is_worth_timing(graph, Outlook(samples, 1e-3, 0.1, 9.0), left) == worth
    large = Graph.from_edge_index(generate.ba(100_000, 10, seed=1), directed=False)
    few, many = (Outlook(n, 1e-3, 0.1, 9.0) for n in (1100, 10**6))
    assert not _cost.is_worth_timing(large, few, math.inf)
    assert _cost.is_worth_timing(large, many, math.inf)


def test_chains_are_timed():
    """The engine of chains has a cost, too: of a grid whose edges are chains of 8 edges."""
    index = generate.grid(12, 12)
    once = index[:, index[0] < index[1]].tolist()
    arcs, n = [], 144
    for u, v in zip(*once, strict=True):
        stops = [u, *range(n, n + 7), v]
        arcs += list(zip(stops, stops[1:], strict=False))
        n += 7
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    if DEVICE.type == "cpu" and COMPILED:
        assert torchcent.explain(graph).engine == "chains"
    assert 0 < _cost.exact_seconds(graph, None) < math.inf
    assert 0 < _cost.measured(graph, None).exact < math.inf


def test_cost_is_in_proportion():
    small, large = (Graph.from_edge_index(generate.ba(n, 5, seed=1)) for n in (2000, 8000))
    assert 8 < _cost.exact_seconds(large, None) / _cost.exact_seconds(small, None) < 32
    assert _cost.exact_seconds(large, 1000) == math.inf  # it would not fit


def test_trees_are_exact_at_any_size(monkeypatch):
    """Folding leaves nothing to search, however many vertices there are."""
    monkeypatch.setattr(_cost, "_HOPELESS", 1e-6)
    n = 20_000
    vertex = torch.arange(1, n)
    for parent in (vertex - 1, vertex // 2):
        graph = Graph.from_edge_index(torch.stack([parent, vertex]), n, False)
        assert _cost.least_seconds(graph) > _cost._HOPELESS * _cost.EXACT_SECONDS
        assert torchcent.betweenness_approx(graph).method == "exact"


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize("most", [1, 30, 200, 700])
def test_max_samples(method, most):
    graph, exact = case("random")
    found = betweenness_approx(
        graph,
        0.001,
        method=method,
        max_samples=most,
        run=torchcent.Run(dtype=F64),
        generator=chance(),
    )
    assert 0 < found.samples <= most and not found.reached and "cut short" in found.reason
    assert 0.001 < found.epsilon <= 1
    assert ((found.lower.cpu() <= exact) & (exact <= found.upper.cpu())).all()


@pytest.mark.parametrize("method", [*SAMPLED, "pivots"])
def test_a_tiny_epsilon_ends(method):
    """Where rounding leaves nothing of the distance of two probabilities from each other."""
    graph = Graph.from_edge_index(edge_index(random_graph(60, 150, seed=2)), directed=False)
    found = betweenness_approx(graph, 1e-9, method=method, max_samples=300, generator=chance())
    if method == "pivots":
        assert found.reached and found.epsilon == 0 and found.samples == 60
    else:
        assert not found.reached and found.epsilon > 1e-9 and 200 <= found.samples <= 300


@pytest.mark.slow
@pytest.mark.parametrize("method", [*SAMPLED, "pivots"])
def test_time_limit(method):
    graph = Graph.from_edge_index(generate.rmat(13, 8, seed=1).to(DEVICE), directed=False)
    betweenness_approx(graph, 0.1, method=method, generator=chance())  # what is prepared once
    limit = 0.02 if method == "pivots" else 0.3  # all pivots take 0.2 s on two cores
    begin = time.perf_counter()
    found = betweenness_approx(
        graph,
        2e-5,
        method=method,
        time_limit=limit,
        run=torchcent.Run(dtype=F64),
        generator=chance(),
    )
    assert time.perf_counter() - begin < 20  # a limit, not a benchmark
    if method == "pivots" and found.samples == graph.num_nodes:
        pytest.skip("too fast to be cut short")
    assert 2e-5 < found.epsilon <= 1 and found.samples > 0 and not found.reached
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    assert ((found.lower <= exact + 1e-9) & (exact - 1e-9 <= found.upper)).all()


@pytest.mark.parametrize("method", SAMPLED)
def test_a_longer_limit_buys_more_samples(method, monkeypatch):
    """By a clock that the samples themselves drive: each takes 10 ms. Nearly all that are drawn in
    time count, so that three times the time gives nearly three times the samples."""
    graph, exact = case("random")
    now = [0.0]
    draw = Sampler.draw

    def timed(sampler, count, bar=None, alone=False):
        if now[0] + 0.01 * count > limit:
            now[0] = limit
            return None  # cut short: the batch is lost
        now[0] += 0.01 * count
        return draw(sampler, count, bar)

    monkeypatch.setattr(Sampler, "draw", timed)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    found = {}
    for limit in (5, 15, 60):
        now[0] = 0.0
        found[limit] = betweenness_approx(
            graph,
            0.001,
            method=method,
            time_limit=limit,
            run=torchcent.Run(dtype=F64),
            generator=chance(),
        )
        made = found[limit]
        assert 0.75 * limit / 0.01 < made.samples <= limit / 0.01 and not made.reached
        assert f"by the limit of {limit} s at epsilon={made.epsilon:.3g}" in made.reason
        assert ((made.lower.cpu() <= exact) & (exact <= made.upper.cpu())).all()
        # No interval that knew the number beforehand could be much narrower.
        b = float(exact.max())
        alone = scipy.stats.norm.isf(0.05) * math.sqrt(b * (1 - b) / (limit / 0.01))
        assert made.epsilon < (4 if method == "kadabra" else 15) * alone
    assert found[60].epsilon < found[15].epsilon < found[5].epsilon


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "directed", "weighted"])
def test_coverage_of_limited_runs(name, monkeypatch):
    """As above, where the clock ends the run: samples take more time on some seeds than on
    others."""
    graph, exact = case(name)
    draw, outside, runs, delta = Sampler.draw, 0, 40, 0.25
    for seed in range(runs):
        now, pace = [0.0], 0.002 + 0.0005 * (seed % 7)

        def timed(sampler, count, bar=None, alone=False, now=now, pace=pace):
            now[0] += pace * count
            return draw(sampler, count, bar) if now[0] < 1 else None

        with monkeypatch.context() as patch:
            patch.setattr(Sampler, "draw", timed)
            patch.setattr(time, "perf_counter", lambda now=now: now[0])
            found = betweenness_approx(
                graph, 1e-3, delta, method="kadabra", time_limit=1, run=torchcent.Run(dtype=F64),
                generator=chance(seed),
            )  # fmt: skip
        assert found.samples > 100 and not found.reached
        lower, upper = found.lower.cpu(), found.upper.cpu()
        outside += bool(((exact < lower - 1e-12) | (exact > upper + 1e-12)).any())
    assert scipy.stats.binomtest(outside, runs, delta, "greater").pvalue > LEAST_P


def test_samples_of_a_limited_run_depend_on_their_number_only(monkeypatch):
    """However long the first phase was: on machines of different speed, equal numbers of samples
    are equal samples."""
    graph, _ = case("random")
    counts = {}
    for speed in (0.01, 0.004):
        now = [0.0]
        draw = Sampler.draw

        def timed(sampler, count, bar=None, alone=False, draw=draw, speed=speed, now=now):
            now[0] += speed * count
            return draw(sampler, count, bar) if now[0] < 20 else None

        with monkeypatch.context() as patch:
            patch.setattr(Sampler, "draw", timed)
            patch.setattr(time, "perf_counter", lambda now=now: now[0])
            looks = []
            look = Sampling._look

            def kept(run, total, check, *rest, looks=looks, look=look):
                looks.append((check[0], total.tolist()))
                return look(run, total, check, *rest)

            patch.setattr(Sampling, "_look", kept)
            betweenness_approx(graph, 1e-4, method="kadabra", time_limit=20, generator=chance(3))
        counts[speed] = looks
    # The second phases: one is a part of the other, sample by sample.
    sampler = Sampler(graph, chance(3))
    sampler.jump(2**40)
    totals, drawn = None, 0
    second = {speed: [x for x in looks if x[0] & (x[0] - 1)] for speed, looks in counts.items()}
    assert all(second.values())
    for number, total in sorted(second[0.01] + second[0.004]):
        if number > drawn:
            more = sampler.draw(number - drawn)
            totals, drawn = more if totals is None else totals + more, number
        assert totals.tolist() == total


def test_top_ends_early():
    """The two hubs of a double star are told from each other and the rest long before epsilon."""
    n, left = 60, 40
    arcs = [(0, 1)] + [(0, v) for v in range(2, left)] + [(1, v) for v in range(left, n)]
    graph = Graph.from_edge_index(edge_index(arcs), directed=False)
    found = betweenness_approx(graph, 0.002, top=2, method="kadabra", generator=chance())
    whole = betweenness_approx(graph, 0.002, method="kadabra", max_samples=50_000)
    assert found.reached and found.epsilon > 0.002 and found.samples < whole.samples / 5
    best = found.top(2)
    assert best.vertices.tolist() == [0, 1] and best.certain.tolist() == [True, True]
    assert best.scores.tolist() == found.scores[:2].tolist()
    assert not found.top(3).certain[2]  # all leaves score 0
    assert found.top(60).certain[-1]  # nothing comes after the last


# --- the generator, dtypes, what is handed in


@pytest.mark.parametrize("method", [*SAMPLED, "pivots"])
def test_the_generator_decides(method, threads):
    graph, _ = case("directed")
    found = []
    for number in (1, 2):
        torch.set_num_threads(number)
        options = {"max_samples": 40} if method == "pivots" else {}
        found.append(
            call(betweenness_approx, graph, 0.1, method=method, generator=chance(3), **options)
        )
    assert found[0].scores.tolist() == found[1].scores.tolist()
    assert found[0].samples == found[1].samples
    other = call(betweenness_approx, graph, 0.1, method=method, generator=chance(4), **options)
    assert other.scores.tolist() != found[0].scores.tolist()
    torch.manual_seed(5)
    first = call(betweenness_approx, graph, 0.1, method=method, **options)
    torch.manual_seed(5)
    again = call(betweenness_approx, graph, 0.1, method=method, **options)
    assert first.scores.tolist() == again.scores.tolist()


def test_dtypes_and_inputs():
    arcs, n = edge_index(path(6)), 6
    found = betweenness_approx(arcs, 0.2, num_nodes=n, directed=False, method="kadabra")
    assert found.scores.dtype == found.lower.dtype == torch.float32
    assert found.scores.device == arcs.device
    assert (
        betweenness_approx(arcs, run=torchcent.Run(dtype=torch.float16)).scores.dtype
        == torch.float16
    )
    length = torch.ones(5, device=DEVICE)
    weighted = betweenness_approx(
        arcs, edge_weight=length, directed=False, run=torchcent.Run(dtype=F64)
    )
    torch.testing.assert_close(
        weighted.scores.cpu(), normalised(6, oracles.both_ways(path(6)), False)
    )


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("method", ["auto", "kadabra", "rk", "pivots", "exact"])
def test_no_vertex_between_others(n, method):
    arcs = edge_index([(0, 1)] if n == 2 else [])
    found = betweenness_approx(arcs, method=method, num_nodes=n)
    assert found.scores.tolist() == [0.0] * n and found.epsilon == 0 and found.method == "exact"


@pytest.mark.parametrize("method", ["kadabra", "rk", "pivots"])
def test_no_arcs(method):
    found = betweenness_approx(
        edge_index([]), 0.1, method=method, num_nodes=20, run=torchcent.Run(dtype=F64)
    )
    assert found.scores.tolist() == [0.0] * 20 and found.reached and found.epsilon <= 0.1


@pytest.mark.slow
def test_words(tmp_path):
    graph, _ = case("random")
    found = betweenness_approx(graph, 0.1, method="kadabra", generator=chance())
    assert isinstance(found, Approximation)
    assert repr(found).startswith("Approximation(n=60, method='kadabra', epsilon=0.0")
    assert found.in_words.startswith(f"estimated from {found.samples:,} paths, within 0.0")
    assert betweenness_approx(graph).in_words == "exact"
    for result in (found, betweenness_approx(graph, method="pivots", pivots="degree")):
        result.plot(tmp_path / "scores.png", labels=[f"v{v}" for v in range(60)])
        assert (tmp_path / "scores.png").stat().st_size > 10_000


# --- pivots


@pytest.mark.parametrize("name", CASES)
def test_all_pivots_are_exact(name):
    graph, exact = case(name)
    found = betweenness_approx(
        graph, method="pivots", max_samples=10**6, run=torchcent.Run(dtype=F64)
    )
    assert found.samples == graph.num_nodes and found.epsilon == 0 and found.delta == 0
    torch.testing.assert_close(found.scores.cpu(), exact, rtol=1e-5, atol=1e-12)


def test_uniform_pivots_are_networkx_scaled():
    """As the library's own pivots, which are tested against NetworkX; and within the bounds."""
    graph, exact = case("directed")
    found = betweenness_approx(
        graph, method="pivots", max_samples=20, run=torchcent.Run(dtype=F64), generator=chance(1)
    )
    pivots = torch.randperm(60, generator=chance(1))[:20]
    torch.testing.assert_close(
        found.scores,
        torchcent.betweenness(graph, sources=pivots.to(DEVICE), run=torchcent.Run(dtype=F64)),
    )
    assert found.samples == 20 and found.reached and 0 < found.epsilon < 1
    assert ((found.lower.cpu() <= exact) & (exact <= found.upper.cpu())).all()


def test_serfling_says_how_many_pivots():
    graph, exact = case("random")
    found = betweenness_approx(
        graph, 0.25, 0.5, method="pivots", run=torchcent.Run(dtype=F64), generator=chance()
    )
    # Serfling's exponent, 2 k epsilon^2 / (1 - (k - 1) / 59), reaches ln(2 n / delta) = 5.48 at 26:
    # 3.25 / (1 - 25/59) = 5.64, and 3.125 / (1 - 24/59) = 5.27.
    assert found.samples == 1 + 26
    assert found.reached and found.epsilon <= 0.25
    assert (found.scores.cpu() - exact).abs().max() <= 0.25


@pytest.mark.parametrize("name", ["random", "directed", "weighted", "parts"])
@pytest.mark.parametrize("pivots", ["uniform", "degree"])
def test_pivots_are_free_of_bias(name, pivots):
    """The mean of many estimates, in standard errors of it."""
    graph, exact = case(name)
    runs = [
        betweenness_approx(
            graph,
            method="pivots",
            pivots=pivots,
            max_samples=8,
            run=torchcent.Run(dtype=F64),
            generator=chance(seed),
        ).scores.cpu()
        for seed in range(150)
    ]
    # A vertex that is always a pivot itself, or never, has no error to compare with.
    mean, error = torch.stack(runs).mean(0), torch.stack(runs).std(0) / math.sqrt(150)
    z = ((mean - exact) / error)[error > 1e-12]
    assert float(z.abs().max()) < scipy.stats.norm.isf(LEAST_P / z.numel())
    assert (mean - exact)[error <= 1e-12].abs().max(dim=0, keepdim=True).values.sum() < 1e-9


@pytest.mark.parametrize("limit", [None, 1000])
@pytest.mark.parametrize("n", [300, 1000])
@pytest.mark.parametrize("method", ["rk", "pivots"])
def test_what_is_asked_for_is_reached(method, n, limit):
    """Of a star, whose hub has the widest interval there is; with a limit of time as well, of
    which looks at it by the way take a part of the probability of failure."""
    graph = Graph.from_edge_index(edge_index(star(n)), directed=False)
    for seed in range(5):
        found = betweenness_approx(
            graph, 0.13, 0.1, method=method, time_limit=limit, generator=chance(seed)
        )
        assert found.reached and found.epsilon <= 0.13 * (1 + 1e-12)
        assert method == "rk" or found.samples < n


def test_pivots_of_a_run_that_ends_early(monkeypatch):
    """Those that are never searched from are not looked for, either."""
    graph = Graph.from_edge_index(edge_index(grid(40, 40)), directed=False)
    searches = []
    single = _pivots._distances
    monkeypatch.setattr(_pivots, "_distances", lambda *a: searches.append(a) or single(*a))
    found = betweenness_approx(
        graph, method="pivots", pivots="max_min", max_samples=1600, time_limit=1e-3
    )
    assert found.samples == len(searches) == _pivots.BATCH and not found.reached


@pytest.mark.parametrize("count", [1, 64, 65, 1000, 10**6])
def test_blocks_of_pivots(count):
    assert list(_pivots.blocks(count, early=False)) == [count]
    ends = list(_pivots.blocks(count, early=True))
    steps = [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    assert ends[-1] == count and all(step % _pivots.BATCH == 0 for step in steps[:-1])
    assert all(
        4 * step <= max(end - step, 4 * _pivots.BATCH)
        for step, end in zip(steps, ends, strict=True)
    )


def test_max_min_pivots_are_far_apart():
    graph = Graph.from_edge_index(edge_index(path(9)), directed=False)
    chosen = _pivots.Order(graph, "max_min", 4, chance(0)).between(0, 4).tolist()
    # From anywhere on a path: an end, the other end, then the middle of the longer gap.
    assert {0, 8} <= set(chosen) and len(set(chosen)) == 4
    for at in range(1, 4):
        reach = [min(abs(v - u) for u in chosen[:at]) for v in range(9)]
        assert reach[chosen[at]] == max(reach)
    found = betweenness_approx(graph, method="pivots", pivots="max_min", max_samples=3)
    assert math.isnan(found.epsilon) and found.lower.isnan().all() and "max_min" in found.reason


# --- adaptive sampling


def test_adaptive_stops_at_the_sum():
    graph = Graph.from_edge_index(edge_index(star(500)), directed=False)
    found = betweenness_adaptive(
        graph,
        torch.tensor([0, 7]),
        max_samples=200,
        run=torchcent.Run(dtype=F64),
        generator=chance(),
    )
    # Each source but the hub adds 499: c n = 2505 is passed by six, so by the first batch.
    assert found.samples.tolist() == [64, 200] and found.stopped.tolist() == [True, False]
    assert found.scores.tolist() == pytest.approx([1, 0])
    assert found.lower[0] == 0.25 and found.upper[0] == 1 and found.lower[1].isnan()
    assert found.vertices.tolist() == [0, 7]


@pytest.mark.parametrize("name", ["random", "directed", "weighted", "parts"])
def test_adaptive_is_exact_from_all_sources(name):
    graph, exact = case(name)
    some = torch.tensor([3, 0, 11], device=DEVICE)
    found = betweenness_adaptive(graph, some, c=1e9, max_samples=1000, run=torchcent.Run(dtype=F64))
    assert found.samples.tolist() == [graph.num_nodes] * 3 and not found.stopped.any()
    torch.testing.assert_close(found.scores.cpu(), exact[some.cpu()], rtol=1e-5, atol=1e-12)


def test_adaptive_keeps_its_promise():
    """Theorem 1: within a factor of 1 / epsilon with probability at least 1 - 2 epsilon."""
    graph = Graph.from_edge_index(generate.rmat(11, 8, seed=1).to(DEVICE), directed=False)
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    high = exact.topk(10).indices
    runs, epsilon, bad = 25, 0.25, np.zeros(10, int)
    for seed in range(runs):
        found = betweenness_adaptive(
            graph,
            high,
            epsilon=epsilon,
            max_samples=1500,
            run=torchcent.Run(dtype=F64),
            generator=chance(seed),
        )
        assert found.stopped.all()
        ratio = found.scores / exact[high]
        bad += ((ratio < epsilon) | (ratio > 1 / epsilon)).cpu().numpy()
        inside = (found.lower <= exact[high]) & (exact[high] <= found.upper)
        assert torch.equal(inside, (ratio >= epsilon) & (ratio <= 1 / epsilon))
    for failures in bad:
        assert scipy.stats.binomtest(int(failures), runs, 2 * epsilon, "greater").pvalue > LEAST_P


# --- errors, Ctrl-C


@pytest.mark.each
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"epsilon": 0}, ValueError, "epsilon must be more than 0 and less than 1, got 0"),
        ({"epsilon": 1.0}, ValueError, "epsilon must be more than 0"),
        ({"epsilon": math.nan}, ValueError, "epsilon"),
        (
            {"epsilon": 1e-10},
            ValueError,
            "epsilon must be at least 1e-9, got 1e-10; method='exact'",
        ),
        ({"epsilon": "small"}, TypeError, "epsilon must be a number, got 'small'"),
        ({"delta": -0.1}, ValueError, "delta must be more than 0"),
        ({"delta": True}, TypeError, "delta must be a number"),
        ({"method": "magic"}, ValueError, "method must be one of auto, kadabra, rk"),
        ({"pivots": "few", "method": "pivots"}, ValueError, "pivots must be one of uniform"),
        ({"pivots": "degree"}, ValueError, "pivots='degree' is for method='pivots'"),
        ({"top": 3, "method": "rk"}, ValueError, "top=3 is for method='kadabra', not 'rk'"),
        ({"top": 0}, ValueError, "top=0 is out of range"),
        ({"top": 1.5}, TypeError, "top must be an int"),
        ({"max_samples": 0}, ValueError, "max_samples must be at least 1"),
        ({"max_samples": 3.0}, TypeError, "max_samples must be an int"),
        ({"time_limit": 0}, ValueError, "time_limit must be a positive number of seconds"),
        ({"time_limit": math.inf}, ValueError, "time_limit"),
        ({"time_limit": "1s"}, TypeError, "time_limit must be a number"),
        ({"generator": 5}, TypeError, "generator must be a torch.Generator"),
        ({"dtype": torch.int64}, TypeError, "dtype must be a floating-point"),
        ({"progress": 1}, TypeError, "progress must be True or False"),
        ({"memory": -1}, ValueError, "memory must be a positive number"),
    ],
)
def test_errors(options, error, words):
    with pytest.raises(error, match=words):
        call(betweenness_approx, edge_index(path(5)), **options)


@pytest.mark.each
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"c": 1.9}, ValueError, "c must be at least 2 and finite, got 1.9"),
        ({"c": "5"}, TypeError, "c must be a number"),
        ({"epsilon": 0.5}, ValueError, "epsilon must be more than 0 and less than 0.5"),
        ({"vertices": torch.tensor([9])}, ValueError, "vertices contains vertex 9"),
        ({"vertices": torch.tensor([1, 1])}, ValueError, "more than once"),
        ({"vertices": torch.tensor([0.5])}, TypeError, "vertices must hold integer"),
        ({"max_samples": -1}, ValueError, "max_samples must be at least 1"),
    ],
)
def test_errors_of_adaptive(options, error, words):
    vertices = options.pop("vertices", torch.tensor([0]))
    with pytest.raises(error, match=words):
        call(betweenness_adaptive, edge_index(path(5)), vertices, **options)


def test_ties_of_exact_scores_have_no_certain_order():
    """6 and 8 are alike, whatever the last digits of their scores."""
    found = betweenness_approx(
        edge_index(grid(3, 5)), method="exact", directed=False, run=torchcent.Run(dtype=F64)
    )
    best = found.top(6)
    assert best.vertices[0] == 7 and set(best.vertices[1:3].tolist()) == {6, 8}
    assert best.certain[:3].tolist() == [True, False, True] and not best.certain[3]


def test_adaptive_of_one_vertex():
    found = betweenness_adaptive(edge_index([]), torch.tensor([0]), num_nodes=1)
    assert found.scores.tolist() == [0]


def test_a_batch_is_refused():
    """Samples are of pairs of one graph."""
    graph = Graph.from_edge_index(edge_index(path(5)), ptr=torch.tensor([0, 5, 5], device=DEVICE))
    with pytest.raises(ValueError, match="betweenness_approx is for one graph"):
        betweenness_approx(graph)
    with pytest.raises(ValueError, match="betweenness_adaptive is for one graph"):
        betweenness_adaptive(graph, torch.tensor([1], device=DEVICE))


def test_top_of_a_result_checks_k():
    found = betweenness_approx(edge_index(path(5)))
    with pytest.raises(ValueError, match="top=6 is out of range"):
        found.top(6)


GRAPH = """
graph = torchcent.Graph.from_edge_index(torchcent.generate.rmat(14, 8, seed=1), directed=False)
torchcent.betweenness_approx(graph, 0.1, method="kadabra")
"""


@pytest.mark.slow
def test_interrupt():
    """The timer's thread ends, too."""
    options = 'method="kadabra", run=torchcent.Run(progress=False), time_limit=600'
    assert_stops(GRAPH, f"torchcent.betweenness_approx(graph, 1e-6, {options})", within=2)
