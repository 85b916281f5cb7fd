"""Markov clustering on CUDA: the values of the oracle and of the CPU, in every kind of kernel."""

from collections.abc import Iterable

import mcl_oracle as oracle
import numpy as np
import pytest
import torch
from internals import COMPILED_FOR_CUDA, dense_product
from surface import call
from test_mcl_ops import EXACT, RULES, planted, similarity, to_flow
from test_mcl_ties import FAMILIES
from torch import Tensor

import torchcent

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)

Flow = tuple[Tensor, ...]
Result = tuple[Flow, list[float]]
# `strategy` of mcl.cu: the kernel that columns start in, + 8: as if there were too many
# rows for shared memory, + 16: lengths are counted before the new flow is written.
pytestmark = pytest.mark.filterwarnings("ignore:mcl has not converged")
KERNELS = {
    "auto": 0,
    "small tables": 1,
    "large tables": 2,
    "dense": 3,
    "auto, too many rows": 8,
    "dense in device memory": 11,
    "auto, counted first": 16,
    "dense in device memory, counted first": 27,
}
MCL = oracle.Rules()


def iterate(
    flow: Flow,
    inflation: float = 2,
    expansion: int = 2,
    rules: oracle.Rules = EXACT,
    kernel: str = "auto",
    memory: int = 0,
) -> Result:
    """One iteration on the device; the new flow stays there."""
    control = torch.tensor([0, 0, memory, 0])
    on_device = [part.cuda() for part in flow]
    *new, summary = torch.ops.torchcent.mcl_iterate(
        *on_device,
        control,
        expansion,
        inflation,
        *(rules.threshold, rules.select, rules.recover, rules.mass),
        1,
        KERNELS[kernel],
    )
    assert control.tolist() == [0, flow[0].numel(), memory, 0]
    assert [part.device.type for part in new] == ["cuda"] * 4 and summary.device.type == "cpu"
    return tuple(new), summary.tolist()


def packed(flow: Flow) -> Flow:
    """On the host and without gaps: columns in ELLPACK-R have some."""
    begin, length, row, value = (part.cpu() for part in flow)
    column = torch.repeat_interleave(torch.arange(begin.numel()), length.long())
    first = length.long().cumsum(0) - length
    place = torch.arange(column.numel()) + (begin - first)[column]
    row, value = row[place], value[place]
    descents = (row.diff() <= 0).nonzero().flatten() + 1
    assert set(descents.tolist()) <= set(first.tolist()), "rows do not ascend"
    return first, length, row, value


def to_dense(flow: Flow) -> oracle.Matrix:
    _, length, row, value = packed(flow)
    dense = np.zeros((length.numel(), length.numel()))
    column = np.repeat(np.arange(length.numel()), length.numpy())
    dense[row.numpy(), column] = value.numpy()
    return dense


def same_bits(first: Result, second: Result) -> bool:
    pairs = zip(packed(first[0]), packed(second[0]), strict=True)
    return all(torch.equal(a, b) for a, b in pairs) and first[1] == second[1]


def on_cpu(flow: Flow, inflation: float, rules: oracle.Rules) -> Result:
    control = torch.zeros(4, dtype=torch.int64)
    *new, summary = torch.ops.torchcent.mcl_iterate(
        *(part.cpu() for part in flow),
        control,
        2,
        inflation,
        *(rules.threshold, rules.select, rules.recover, rules.mass),
        2,
    )
    return tuple(new), summary.tolist()


def entries(flow: Flow) -> tuple[Tensor, Tensor, Tensor]:
    """Column, place in the matrix and value of every entry."""
    _, length, row, value = packed(flow)
    column = torch.repeat_interleave(torch.arange(length.numel()), length.long())
    return column, column * length.numel() + row, value


def assert_like_the_cpu(
    flow: Flow, inflation: float, rules: oracle.Rules, kernels: Iterable[str] = KERNELS
) -> Flow:
    """The same entries and nearly the same values, the same bits in every kernel and run.

    Sums of as many float32 products as a column has entries are rounded in another order on the
    CPU, which may put one entry in a million on the other side of a bar: such columns are left out.
    """
    rounding = 2 * (int(flow[1].max()) + 64) * 2.0**-24
    expected, first = on_cpu(flow, inflation, rules), None
    for kernel in kernels:
        actual = iterate(flow, inflation, 2, rules, kernel)
        if first is not None:
            assert same_bits(actual, first), kernel
            continue
        first = actual
        column, key, value = entries(actual[0])
        column_there, key_there, value_there = entries(expected[0])
        apart = torch.empty(0)
        if not torch.equal(key, key_there):
            here, there = torch.isin(key, key_there), torch.isin(key_there, key)
            apart = torch.cat([column[~here], column_there[~there]]).unique()
            assert apart.numel() <= (0 if rules is EXACT else key.numel() // 500_000 + 1)
            value = value[here & ~torch.isin(column, apart)]
            value_there = value_there[there & ~torch.isin(column_there, apart)]
        torch.testing.assert_close(value, value_there, rtol=rounding * inflation, atol=1e-37)
        assert actual[1][1] == expected[1][1]
        assert actual[1][2:6] == pytest.approx(expected[1][2:6], rel=0, abs=apart.numel())
        assert actual[1] == pytest.approx(expected[1], rel=1e-5, abs=1e-5 + apart.numel())
    assert first is not None
    return first[0]


def check(dense: oracle.Matrix, inflation: float, expansion: int, rules: oracle.Rules) -> None:
    """One iteration of every kernel against the oracle, from a flow that float32 holds."""
    dense = dense.astype(np.float32).astype(np.float64)
    want = oracle.step(dense, inflation, expansion, rules)
    flow, first = to_flow(dense), None
    for kernel in KERNELS:
        got, summary = result = iterate(flow, inflation, expansion, rules, kernel)
        got_dense = to_dense(got)
        assert ((got_dense > 0) == (want.flow > 1e-37)).all(), kernel
        np.testing.assert_allclose(
            got_dense, want.flow, rtol=2e-5 * inflation, atol=1e-37, err_msg=kernel
        )
        assert summary[0] == pytest.approx(want.chaos, rel=1e-5, abs=1e-5)
        assert summary[1:6] == [
            *(want.multiplications, want.kept, want.poor, want.recovered, want.selected)
        ]
        assert summary[6:] == pytest.approx([want.least_mass, want.sum_of_masses], rel=1e-5)
        first = first or result
        assert same_bits(result, first), kernel


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("inflation", [1, 1.4, 2, 2.5, 6])
def test_iteration(rules, inflation):
    for seed, (n, share) in enumerate([(1, 0), (2, 1), (5, 0.5), (23, 0.2), (40, 0.5), (61, 0.9)]):
        check(oracle.start(similarity(n, share, seed)), inflation, 2, rules)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("expansion", [1, 3, 4])
def test_expansion(rules, expansion):
    for seed, (n, share) in enumerate([(2, 1), (23, 0.2), (40, 0.5)]):
        check(oracle.start(similarity(n, share, seed)), 2, expansion, rules)


@pytest.mark.parametrize("rules", [MCL, oracle.Rules(1e-3, 10, 12, 0.9)])
@pytest.mark.parametrize("inflation", [1.4, 2, 4])
def test_until_nothing_changes(rules, inflation):
    graph = planted(12, 15, 5)
    want, history = oracle.run(graph, inflation, rules=rules)
    for kernel in ("auto", "dense in device memory"):
        flow, chaos = to_flow(oracle.start(graph)), []
        while len(chaos) < 100 and (not chaos or chaos[-1] >= 1e-4):
            flow, summary = iterate(flow, inflation, 2, rules, kernel)
            chaos.append(summary[0])
        np.testing.assert_allclose(to_dense(flow), want, atol=1e-4)
        np.testing.assert_allclose(chaos, history, rtol=2e-3, atol=1e-4)


def test_columns_too_long_for_tables():
    """Columns of 1 to all 3,000 rows, which go from one kind of kernel to the next."""
    rng = np.random.default_rng(1)
    n = 3000
    degree = np.minimum(rng.zipf(1.7, n), 900)
    tail = np.repeat(np.arange(n), degree)
    head = rng.integers(0, n, tail.size)
    dense = np.zeros((n, n))
    dense[tail, head] = dense[head, tail] = rng.random(tail.size)
    start = to_flow(oracle.start(dense))
    assert_like_the_cpu(start, 2, EXACT)
    for rules in (MCL, oracle.Rules(1e-4, 300, 400, 0.95)):
        flow: Flow = start
        for _ in range(3):
            flow = assert_like_the_cpu(packed(flow), 1.7, rules, [*KERNELS, "auto"])


def test_more_entries_than_tables_hold():
    """Thousands stay in every column: they are expanded a range of rows at a time."""
    n, size = 7000, 150
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randperm(n, generator=generator)[:size].sort().values for _ in range(n)]
    value = torch.rand(n, size, generator=generator) + 0.1
    value /= value.sum(1, keepdim=True)
    begin = torch.arange(0, n * size, size)
    flow = begin, torch.full((n,), size, dtype=torch.int32), torch.cat(rows).int(), value.flatten()
    assert_like_the_cpu(flow, 2, EXACT, ["auto", "dense in device memory"])


def test_more_ties_than_are_selected():
    """A star: leaves are equal in the hub's column and in those of each other, and stay."""
    n = 2500
    leaf = torch.arange(1, n, dtype=torch.int32)
    leaf_rows = torch.stack([torch.zeros_like(leaf), leaf], 1).flatten()
    length = torch.tensor([n] + [2] * (n - 1), dtype=torch.int32)
    begin = length.long().cumsum(0) - length
    value = torch.cat([torch.full((n,), 1 / n), torch.full((2 * (n - 1),), 0.5)])
    row = torch.cat([torch.arange(n, dtype=torch.int32), leaf_rows])
    for rules in (MCL, oracle.Rules(0, 50, 0, 0)):
        assert_like_the_cpu((begin, length, row, value), 2, rules)


@pytest.mark.parametrize("rules", [EXACT, MCL, oracle.Rules(1e-3, 10, 12, 0.9)])
def test_little_memory(rules):
    """Columns are counted first, blocks are fewer; below that nothing is done."""
    flow = to_flow(oracle.start(planted(40, 20, 3)))
    want = iterate(flow, 1.7, 2, rules)
    entries = want[0][1].sum().item()
    for kernel in ("auto", "dense in device memory"):
        memory = 8 * entries + 100_000
        assert same_bits(iterate(flow, 1.7, 2, rules, kernel, memory), want)
    control = torch.tensor([0, 0, 8 * entries, 0])
    new = torch.ops.torchcent.mcl_iterate(
        *(part.cuda() for part in flow),
        control,
        *(2, 1.7, rules.threshold, rules.select, rules.recover, rules.mass, 0),
    )
    assert new[1].sum() == 0 and new[2].numel() == 0
    assert control.tolist() == [0, 0, -1, 0]


def test_a_cancelled_run_stops():
    flow = to_flow(oracle.start(similarity(50, 0.5, 1)))
    control = torch.tensor([1, 0, 0, 0])
    new = torch.ops.torchcent.mcl_iterate(
        *(part.cuda() for part in flow), control, 2, 2.0, 0.0, 0, 0, 0.0, 0
    )
    assert new[2].numel() == 0 and control.tolist() == [1, 0, 0, 0]


def test_nothing_to_do():
    flow, summary = iterate(to_flow(np.zeros((0, 0))))
    assert [part.numel() for part in flow] == [0, 0, 0, 0]
    assert summary == [0, 0, 0, 0, 0, 0, 1, 0]
    for kernel in KERNELS:
        flow, summary = iterate(to_flow(np.eye(5)), kernel=kernel)
        assert (to_dense(flow) == np.eye(5)).all()
        assert summary == [0, 5, 5, 0, 0, 0, 1, 5]
        flow, summary = iterate(to_flow(np.zeros((3, 3))), kernel=kernel)
        assert (to_dense(flow) == 0).all()
        assert summary == [0, 0, 0, 0, 0, 0, 1, 0]


def test_threads_of_a_cpu_change_nothing():
    """The front hands on the number of threads that PyTorch has."""
    flow = [part.cuda() for part in to_flow(oracle.start(similarity(50, 0.5, 1)))]
    for threads in (1, 16, 4096):
        *new, _ = torch.ops.torchcent.mcl_iterate(
            *flow, torch.zeros(4, dtype=torch.int64), 2, 2.0, 0.0, 0, 0, 0.0, threads
        )
        want, _ = iterate(tuple(flow))
        assert all(torch.equal(a, b) for a, b in zip(packed(tuple(new)), packed(want), strict=True))


def test_strategies_that_there_are_not():
    flow = [part.cuda() for part in to_flow(np.eye(5))]
    for strategy, expansion, inflation in ((5, 2, 2.0), (32, 2, 2.0), (0, 0, 2.0), (0, 2, 0.0)):
        with pytest.raises((RuntimeError, ValueError)):
            torch.ops.torchcent.mcl_iterate(
                *flow,
                torch.zeros(4, dtype=torch.int64),
                expansion,
                inflation,
                0.0,
                0,
                0,
                0.0,
                1,
                strategy,
            )


@pytest.mark.parametrize("inflation", [1.4, 2, 4])
@pytest.mark.parametrize("name", FAMILIES)
def test_graphs_that_look_alike_from_many_sides(name: str, inflation: float) -> None:
    """The flow of the CPU, and its clusters by the engine that `auto` takes."""
    edges, n = FAMILIES[name]
    rest = {"num_nodes": n, "directed": False, "inflation": inflation, "max_iter": 70}
    want = call(torchcent.mcl, edges, return_flow=True, engine="fused", **rest)
    got = call(torchcent.mcl, edges.cuda(), return_flow=True, engine="fused", **rest)
    assert torch.equal(got.flow.to_dense().cpu(), want.flow.to_dense())
    assert torch.equal(got.labels.cpu(), want.labels)
    assert torch.equal(call(torchcent.mcl, edges.cuda(), **rest).labels.cpu(), want.labels)


@pytest.mark.parametrize("kernel", ["auto", "dense in device memory"])
def test_bits_of_the_cpu(kernel: str) -> None:
    """Short columns are summed in float64, long ones by fused multiply-adds, on both."""
    flow = to_flow(oracle.start(planted(60, 15, 3)))
    for rules in (EXACT, MCL):
        for inflation in (1.7, 2):
            here, chaos = iterate(flow, inflation, 2, rules, kernel)
            there, chaos_there = on_cpu(flow, inflation, rules)
            pairs = zip(packed(here), packed(there), strict=True)
            assert all(torch.equal(a, b) for a, b in pairs) and chaos[0] == chaos_there[0]


@pytest.mark.parametrize("n", [1025, 2500])
def test_large_products_are_as_precise_as_float32(n: int) -> None:
    """Above a size they are sums of products of bfloat16 parts."""
    chance = torch.Generator(device="cuda").manual_seed(n)
    x = torch.rand(n, n, generator=chance, device="cuda") ** 8  # entries of 1e-30 to 1
    y = torch.rand(n, n, generator=chance, device="cuda") / n
    for left, right in ((x, x), (x, y)):
        product = dense_product(left, right)
        exact = left.double() @ right.double()
        assert product.dtype == torch.float32
        assert float(((product - exact) / exact).abs().max()) < 1e-5
        assert torch.equal(product, dense_product(left, right))
