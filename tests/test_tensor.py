"""The tensor engine from inside: its contract, its sums, its scaled numbers, its memory."""

import math
import subprocess
import sys
from fractions import Fraction

import oracles
import pytest
import torch
from engines import assert_scores
from graphs import LEAFY, arc_lists, diamonds, edge_index, grid, random_graph, tower
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import KERNELS
from resident import GIVING_BACK
from surface import call

import torchcent
from torchcent.engines import _tensor
from torchcent.engines._tensor import _scatter
from torchcent.engines._tensor._scaled import Scaled, as_float, sum_by

pytestmark = pytest.mark.sweep

F64 = torch.float64
MEASURES = ["betweenness", "edge_betweenness", "stress"]


def tensor_scores(measure: str, arcs: oracles.Arcs, n: int, **options) -> torch.Tensor:
    return call(
        getattr(torchcent, measure),
        edge_index(arcs),
        num_nodes=n,
        dtype=F64,
        engine="tensor",
        **options,
    )


# --- the contract of accumulate()


@given(data=st.data(), measure=st.sampled_from(MEASURES), lanes=st.integers(1, 4))
@settings(max_examples=150)
def test_weights(data, measure, lanes):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n)
    slots = list(zip(*graph.to_edge_index().tolist(), strict=True))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weight = st.integers(0, 5)
    a, c = (data.draw(st.lists(weight, min_size=n, max_size=n)) for _ in range(2))
    b, h = (data.draw(st.lists(weight, min_size=n, max_size=n)) for _ in range(2))

    expected = oracles.weighted_sums(measure, n, arcs, slots, sources, a, c, b, h)
    scores = torch.full((len(expected),), 7.0, dtype=F64)
    for begin in range(0, len(sources), lanes):
        part = sources[begin : begin + lanes]
        _tensor.accumulate(
            KERNELS[measure].visitor,
            graph.rowptr,
            graph.col,
            torch.tensor(part),
            torch.tensor([a[s] for s in part], dtype=F64),
            torch.tensor([c[s] for s in part], dtype=F64),
            torch.tensor(b, dtype=F64),
            torch.tensor(h, dtype=F64),
            scores,
        )
    assert_scores(scores, [7 + score for score in expected], "tensor")


def test_no_sources():
    graph = torchcent.Graph.from_edge_index(edge_index([(0, 1)]))
    none, scores = torch.empty(0, dtype=F64), torch.ones(2, dtype=F64)
    weights = (none, none, scores, scores)
    _tensor.accumulate(
        KERNELS["stress"].visitor, graph.rowptr, graph.col, none.long(), *weights, scores
    )
    assert scores.tolist() == [1, 1]


# --- scaled numbers


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", LEAFY)
def test_scaled_counts_where_none_are_needed(measure, name, tuning):
    n, arcs = LEAFY[name]
    plain = tensor_scores(measure, arcs, n, directed=False)
    tuning(tensor_counts=0.0)
    assert_scores(tensor_scores(measure, arcs, n, directed=False), plain, "tensor")


@pytest.mark.parametrize("measure", MEASURES)
def test_scaled_counts_against_the_definition(measure, tuning):
    tuning(tensor_counts=0.0)
    for n, arcs in (
        (12, tower(4, 3)),
        (16, diamonds(5)),
        (20, grid(4, 5)),
        (30, random_graph(30, 50, 1)),
    ):
        expected = getattr(oracles, measure)(n, arcs, directed=True, normalized=False)
        actual = tensor_scores(measure, arcs, n, normalized=False)
        assert_scores(actual, expected, "tensor")


def fraction(number: Scaled) -> Fraction:
    mantissa, exponent = float(number.mantissa), int(number.exponent)
    return Fraction(mantissa) * Fraction(2) ** exponent if mantissa else Fraction(0)


@st.composite
def scaled(draw: st.DrawFn) -> tuple[Scaled, Fraction]:
    exponent = draw(st.integers(-3000, 3000))
    mantissa = draw(st.one_of(st.just(0.0), st.floats(0.5, 1, exclude_max=True)))
    number = Scaled(torch.tensor([mantissa], dtype=F64), torch.tensor([exponent], dtype=F64))
    return number, Fraction(mantissa) * Fraction(2) ** exponent


def near(actual: Fraction, expected: Fraction) -> bool:
    return abs(actual - expected) <= abs(expected) / 10**14


@given(scaled(), scaled(), st.integers(0, 1000))
def test_scaled_arithmetic(first, second, factor):
    (x, exact_x), (y, exact_y) = first, second
    weight = torch.tensor([float(factor)], dtype=F64)
    assert fraction(x) == exact_x
    assert near(fraction(x + y), exact_x + exact_y)
    assert near(fraction(x * y), exact_x * exact_y)
    assert near(fraction(weight * x), factor * exact_x)
    assert near(fraction(weight + x), factor + exact_x)
    if exact_x:
        assert near(fraction(weight / x), factor / exact_x)
    try:
        plain = float(exact_x)
    except OverflowError:
        plain = math.inf
    assert float(as_float(x)) == plain


@given(st.lists(st.tuples(scaled(), st.integers(0, 3)), max_size=12))
def test_scaled_sums(terms):
    exact = [Fraction(0)] * 4
    for (_, value), index in terms:
        exact[index] += value
    numbers = Scaled(
        torch.tensor([float(x.mantissa) for (x, _), _ in terms], dtype=F64),
        torch.tensor([float(x.exponent) for (x, _), _ in terms], dtype=F64),
    )
    sums = sum_by(numbers, torch.tensor([index for _, index in terms], dtype=torch.int64), 4)
    for i in range(4):
        assert near(fraction(sums[i : i + 1]), exact[i])


# --- sums by index


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-100, 100)), max_size=20))
def test_scatter_sum(terms):
    expected = [0] * 6
    for index, value in terms:
        expected[index] += value
    index = torch.tensor([index for index, _ in terms], dtype=torch.int64)
    values = torch.tensor([value for _, value in terms], dtype=F64)
    assert _scatter.scatter_sum(values, index, 6).tolist() == expected


# --- memory


def test_lanes_that_fit():
    for n, m in ((1, 0), (100, 400), (10**6, 10**7)):
        one = _tensor.memory_needed(n, m, 1)
        assert one > 0
        assert _tensor.lanes_that_fit(n, m, -one) == 0
        assert _tensor.lanes_that_fit(n, m, one - 1) == 0
        assert _tensor.lanes_that_fit(n, m, one) == 1
        for memory in (one, 7 * one + 1, 10**12):
            assert _tensor.memory_needed(n, m, _tensor.lanes_that_fit(n, m, memory)) <= memory
    assert _tensor.lanes_that_fit(100, 400, 7 * _tensor.memory_needed(100, 400, 1) + 1) == 7


def test_batches_do_not_depend_on_abundant_memory():
    for n, m in ((100, 400), (10**6, 10**7)):
        assert _tensor.lanes_that_fit(n, m, 2**40) == _tensor.lanes_that_fit(n, m, 2**35)


PEAK = """
import sys, torch, torchcent
from torchcent.engines import _tensor
from torchcent.engines.measures._kernels import KERNELS

def status(field):
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024

kind, lanes = sys.argv[1], 4
side = 1500
if kind == "star":  # out of the hub
    n, row, col = 400_001, torch.zeros(400_000, dtype=torch.int64), torch.arange(1, 400_001)
else:  # one source, all arcs between two sides
    n = 1 + 2 * side
    left = torch.arange(1, side + 1)
    row = torch.cat([torch.zeros_like(left), left.repeat_interleave(side)])
    col = torch.cat([left, torch.arange(side + 1, n).repeat(side)])
rowptr = torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(row, minlength=n).cumsum(0)])
col = col.int()
del row
one, scores = torch.ones(n, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)
sources = torch.zeros(lanes, dtype=torch.int64)

def run(rowptr, col, n):
    visitor, given = KERNELS["betweenness"].visitor, (one[:lanes], one[:lanes], one[:n], one[:n])
    _tensor.accumulate(visitor, rowptr, col, sources, *given, scores[:n])

run(torch.tensor([0, 1, 1]), torch.tensor([1], dtype=torch.int32), 2)
before = status("VmRSS")
run(rowptr, col, n)
print(status("VmHWM") - before, _tensor.memory_needed(n, col.numel(), lanes))
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("kind", ["star", "bipartite"])
def test_memory_stays_within_the_forecast(kind):
    run = subprocess.run(
        [sys.executable, "-c", PEAK, kind],
        capture_output=True,
        text=True,
        check=True,
        env=GIVING_BACK,
    )
    taken, forecast = map(int, run.stdout.split())
    assert forecast / 8 < taken < forecast


# --- CUDA


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("measure", MEASURES)
def test_cuda(measure):
    for n, arcs in (
        (400, random_graph(400, 3000, seed=3)),
        (301, diamonds(100)),
        (3301, diamonds(1100)),
    ):
        columns = edge_index(arcs)
        options = {"directed": False, "engine": "tensor", "dtype": F64, "normalized": False}
        options |= {"sources": torch.arange(0, n, 7), "targets": torch.arange(n)}
        on_cpu = call(getattr(torchcent, measure), columns, **options)
        first = call(getattr(torchcent, measure), columns.cuda(), **options)
        assert first.device.type == "cuda"
        assert_scores(first.cpu(), on_cpu, "tensor")
        for _ in range(2):  # the same bits in every run
            assert torch.equal(call(getattr(torchcent, measure), columns.cuda(), **options), first)
