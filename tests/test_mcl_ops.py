"""The operator for Markov clustering: values, pruning, determinism, limits, cancellation."""

import itertools
import os
import re
import shutil
import subprocess
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import mcl_oracle as oracle
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

pytestmark = pytest.mark.sweep

if os.environ.get("TORCHCENT_NO_EXTENSION"):
    pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators", allow_module_level=True)

ops = torch.ops.torchcent
Flow = tuple[Tensor, Tensor, Tensor, Tensor]
EXACT = oracle.NO_RULES
RULES = {
    "off": EXACT,
    "mcl": oracle.Rules(),
    "cut": oracle.Rules(0.02, 0, 0, 0),
    "select": oracle.Rules(0, 7, 0, 0),
    "cut, recover": oracle.Rules(0.05, 0, 9, 0.9),
    "select, recover": oracle.Rules(0, 5, 8, 0.7),
    "all": oracle.Rules(0.02, 6, 9, 0.8),
    "everything cut": oracle.Rules(0.99, 0, 0, 0),
    "one": oracle.Rules(0, 1, 1, 0.5),
}


def similarity(n: int, share: float, seed: int) -> oracle.Matrix:
    """Symmetric, no two entries alike."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return upper + upper.T


def planted(clusters: int, size: int, seed: int) -> oracle.Matrix:
    """Dense blocks, few links between them."""
    near, far = similarity(clusters * size, 0.6, seed), similarity(clusters * size, 0.02, seed + 1)
    block = np.arange(clusters * size) // size
    return np.where(block[:, None] == block, near, far)


def to_flow(dense: oracle.Matrix, gap: int = 0) -> Flow:
    """As the operator takes it; `gap` unused entries lie between the columns."""
    columns = [np.flatnonzero(dense[:, j]) for j in range(len(dense))]
    length = np.array([len(rows) for rows in columns], dtype=np.int32)
    begin = np.cumsum(np.concatenate([[0], length[:-1] + gap]))[: len(length)].astype(np.int64)
    row = np.full(length.sum() + gap * len(length), -1, dtype=np.int32)
    value = np.full(len(row), np.nan, dtype=np.float32)
    for j, rows in enumerate(columns):
        row[begin[j] : begin[j] + length[j]] = rows
        value[begin[j] : begin[j] + length[j]] = dense[rows, j]
    return tuple(torch.from_numpy(x) for x in (begin, length, row, value))


def to_dense(flow: Flow) -> oracle.Matrix:
    begin, length, row, value = (x.numpy() for x in flow)
    assert (begin == np.cumsum(length, dtype=np.int64) - length).all(), "not packed"
    assert length.sum() == len(row) == len(value)
    dense = np.zeros((len(begin), len(begin)))
    for j in range(len(begin)):
        rows = row[begin[j] : begin[j] + length[j]]
        assert (np.diff(rows) > 0).all(), "rows do not ascend"
        dense[rows, j] = value[begin[j] : begin[j] + length[j]]
    return dense


def iterate(
    flow: Flow,
    inflation: float = 2,
    expansion: int = 2,
    rules: oracle.Rules = EXACT,
    threads: int = 1,
    control: Tensor | None = None,
    share: tuple[int, int, int] = (0, 1, 1),
) -> tuple[Flow, list[float]]:
    if control is None:
        control = torch.zeros(4, dtype=torch.int64)
    out = ops.mcl_iterate(
        *flow,
        control,
        expansion,
        inflation,
        rules.threshold,
        rules.select,
        rules.recover,
        rules.mass,
        threads,
        0,
        *share,
    )
    return out[:4], out[4].tolist()


def check(dense: oracle.Matrix, inflation: float, expansion: int, rules: oracle.Rules) -> None:
    """One iteration against the oracle, from a flow that float32 holds exactly."""
    dense = dense.astype(np.float32).astype(np.float64)
    want = oracle.step(dense, inflation, expansion, rules)
    got, summary = iterate(to_flow(dense), inflation, expansion, rules)
    got_dense = to_dense(got)
    assert ((got_dense > 0) == (want.flow > 1e-37)).all()
    np.testing.assert_allclose(got_dense, want.flow, rtol=2e-5 * inflation, atol=1e-37)
    assert summary[0] == pytest.approx(want.chaos, rel=1e-5, abs=1e-5)
    assert summary[1:6] == [
        want.multiplications,
        want.kept,
        want.poor,
        want.recovered,
        want.selected,
    ]
    assert summary[6:] == pytest.approx([want.least_mass, want.sum_of_masses], rel=1e-5)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("inflation", [1, 1.4, 2, 2.5, 6])
def test_iteration(rules: oracle.Rules, inflation: float) -> None:
    for seed, (n, share) in enumerate([(1, 0), (2, 1), (5, 0.5), (23, 0.2), (40, 0.5), (61, 0.9)]):
        check(oracle.start(similarity(n, share, seed)), inflation, 2, rules)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("expansion", [1, 3, 4])
def test_expansion(rules: oracle.Rules, expansion: int) -> None:
    for seed, (n, share) in enumerate([(2, 1), (23, 0.2), (40, 0.5)]):
        check(oracle.start(similarity(n, share, seed)), 2, expansion, rules)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 300),
    share=st.floats(0, 0.3),
    seed=st.integers(0, 1000),
    inflation=st.floats(1.1, 8),
    select=st.integers(0, 30),
    recover=st.integers(0, 40),
)
def test_any_graph(
    n: int, share: float, seed: int, inflation: float, select: int, recover: int
) -> None:
    rules = oracle.Rules(0.99999 / 500, select, recover, 0.85)
    dense = oracle.start(similarity(n, share, seed))
    assume(is_decided(dense, rules))
    check(dense, inflation, 2, rules)


def is_decided(dense: oracle.Matrix, rules: oracle.Rules) -> bool:
    """Whether float32 keeps the same entries: none is so near to the first that is left out, nor to
    the threshold, that they may be equal there."""
    dense = dense.astype(np.float32).astype(np.float64)
    entries = -np.sort(-(dense @ dense), axis=0)
    near = np.abs(entries - rules.threshold) <= 1e-6 * rules.threshold
    for count in (rules.select, rules.recover):
        if 0 < count < len(entries):
            last, after = entries[count - 1], entries[count]
            near[0] |= (last > 0) & (last - after <= 1e-6 * last)
    return not near.any()


@pytest.mark.parametrize("rules", [EXACT, oracle.Rules(), oracle.Rules(1e-3, 10, 12, 0.9)])
@pytest.mark.parametrize("inflation", [1.4, 2, 4])
def test_until_nothing_changes(rules: oracle.Rules, inflation: float) -> None:
    graph = planted(12, 15, 5)
    want, history = oracle.run(graph, inflation, rules=rules)
    flow, chaos = to_flow(oracle.start(graph)), []
    while len(chaos) < 100 and (not chaos or chaos[-1] >= 1e-4):
        flow, summary = iterate(flow, inflation, rules=rules)
        chaos.append(summary[0])
    np.testing.assert_allclose(to_dense(flow), want, atol=1e-4)
    # without a threshold float64 has entries that float32 has not, and chaos counts them
    both = slice(None) if rules.threshold > 0 else slice(3)
    assert rules.threshold == 0 or len(chaos) == len(history)
    np.testing.assert_allclose(chaos[both], history[both], rtol=2e-3, atol=1e-4)


def hubs(n: int, seed: int) -> oracle.Matrix:
    """Small dense groups, random links, a few vertices that most others are linked to."""
    rng = np.random.default_rng(seed)
    near = np.arange(n)[:, None] // 12 == np.arange(n) // 12
    share = np.where(near, 0.7, 0.01)
    share[:, :8] = 0.3
    upper = np.triu((0.2 + rng.random((n, n))) * (rng.random((n, n)) < share), 1)
    return upper + upper.T


@pytest.mark.slow
@pytest.mark.parametrize("inflation", [1.6, 2, 3])
@pytest.mark.parametrize(
    "rules",
    [
        oracle.Rules(),
        oracle.Rules(1e-3),
        oracle.Rules(5e-4, 40, 60, 0.9),
        oracle.Rules(2e-3, 0, 200, 0.97),
    ],
)
def test_products_left_out_are_not_missed(rules: oracle.Rules, inflation: float) -> None:
    """Long columns of which little is kept: the kernel skips most products, no entry changes."""
    flow, used = oracle.start(hubs(700, 4)), 0
    for _ in range(4):
        flow = flow.astype(np.float32).astype(np.float64)
        want = oracle.step(flow, inflation, rules=rules)
        counts = [want.multiplications, want.kept, want.poor, want.recovered, want.selected]
        for threads in (1, 3):
            got, summary = iterate(to_flow(flow), inflation, rules=rules, threads=threads)
            got_dense = to_dense(got)
            assert ((got_dense > 0) == (want.flow > 0)).all()
            np.testing.assert_allclose(got_dense, want.flow, rtol=5e-5)
            assert summary[0] == pytest.approx(want.chaos, rel=1e-5, abs=1e-5)
            assert summary[1:6] == counts
        used += want.multiplications > 48 * (flow > 0).sum()
        flow = want.flow
    assert used >= 1


def test_ties_all_stay() -> None:
    """A complete graph: all entries of a column are equal, and none of them is preferred."""
    start = oracle.start(1 - np.eye(16))
    for rules in (
        oracle.Rules(0, 3, 0, 0),
        oracle.Rules(0.5, 0, 3, 0.9),
        oracle.Rules(0.5, 0, 0, 0),
    ):
        flow, summary = iterate(to_flow(start), rules=rules)
        assert (to_dense(flow) == 1 / 16).all()
        assert summary[2] == 256


def test_recovery_after_selection_takes_what_was_not_cut() -> None:
    """Of 8 entries 5 pass the cut, 2 are selected, 7 may be recovered: 5 are."""
    column = np.array([0.3, 0.2, 0.15, 0.1, 0.09, 0.06, 0.06, 0.04])
    rules = oracle.Rules(0.08, 2, 7, 0.8)
    flow, summary = iterate(to_flow(np.tile(column[:, None], 8)), 1, rules=rules)
    left = np.where(column >= 0.08, column, 0)
    np.testing.assert_allclose(to_dense(flow), np.tile((left / left.sum())[:, None], 8), rtol=1e-6)
    assert summary[3:6] == [0, 8, 8]


def test_columns_may_lie_anywhere() -> None:
    start = oracle.start(similarity(30, 0.3, 1))
    packed, gaps = iterate(to_flow(start)), iterate(to_flow(start, gap=5))
    assert all((a == b).all() for a, b in zip(packed[0], gaps[0], strict=True))
    assert packed[1] == gaps[1]


def test_nothing_to_do() -> None:
    flow, summary = iterate(to_flow(np.zeros((0, 0))))
    assert [x.numel() for x in flow] == [0, 0, 0, 0]
    assert summary == [0, 0, 0, 0, 0, 0, 1, 0]
    flow, summary = iterate(to_flow(np.eye(5)))
    assert (to_dense(flow) == np.eye(5)).all()
    assert summary == [0, 5, 5, 0, 0, 0, 1, 5]
    flow, summary = iterate(to_flow(np.zeros((3, 3))))  # columns without entries
    assert (to_dense(flow) == 0).all()


def test_weak_entries_vanish() -> None:
    """What inflation makes too small for float32 is no entry; the largest entry always is one."""
    column = np.array([0.999, 1e-3, 1e-20])
    flow, _ = iterate(to_flow(np.tile(column[:, None], 3)), 12)
    assert ((to_dense(flow) > 0) == [[True], [True], [False]]).all()
    np.testing.assert_allclose(to_dense(flow)[1], (1e-3 / 0.999) ** 12, rtol=1e-4)


@pytest.mark.parametrize("rules", [EXACT, oracle.Rules(), oracle.Rules(1e-3, 10, 12, 0.9)])
def test_threads_do_not_change_a_bit(rules: oracle.Rules) -> None:
    start = to_flow(oracle.start(planted(20, 20, 3)))
    one = iterate(start, 1.7, rules=rules)
    for threads in (2, 3, 8):
        several = iterate(start, 1.7, rules=rules, threads=threads)
        assert all((a == b).all() for a, b in zip(one[0], several[0], strict=True))
        assert one[1] == several[1]


FILTERED = oracle.Rules(1e-2, 300, 300, 0.9)


@cache
def filtered() -> Flow:
    """A flow of which most products are omitted, by batches of columns."""
    return iterate(to_flow(oracle.start(planted(40, 50, 3))), 2.5, rules=FILTERED)[0]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("parts", [2, 3, 1000])
def test_shares_have_the_columns_of_the_whole(large: bool, parts: int) -> None:
    flow = filtered() if large else to_flow(oracle.start(planted(5, 9, 3)))
    rules = FILTERED if large else oracle.Rules()
    want, summary = iterate(flow, 1.7, rules=rules, threads=2)
    cuts = sorted({0, parts // 3, parts // 2, parts})
    count = torch.zeros_like(want[1])
    told, products = [], []
    for first, last in itertools.pairwise(cuts):
        got, said = iterate(flow, 1.7, rules=rules, share=(first, last, parts))
        mine = got[1] > 0
        count += mine
        assert (got[1][mine] == want[1][mine]).all()
        own = torch.repeat_interleave(mine, want[1].long())
        assert (got[2] == want[2][own]).all()
        assert (got[3] == want[3][own]).all()
        told.append(said)
        products.append(said[1])
    assert (count == 1).all()
    sums = np.array(told).sum(0)
    sums[0], sums[6] = np.max(told, 0)[0], np.min(told, 0)[6]
    assert sums.tolist() == summary
    if large and parts == 2:  # equal but for a batch of 16 columns
        batch = 16 * max(flow[1].tolist()) ** 2
        assert abs(products[0] - products[1]) <= batch < products[0] / 4


def test_orders_beyond_the_limit_are_in_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flow = filtered()
    want, _ = iterate(flow, 1.7, rules=FILTERED)
    least = 8 * int(want[1].sum()) * 5 // 4
    for size, in_file in ((least, True), (64 * least, False)):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        control = torch.tensor([0, 0, size, 0])
        got, _ = iterate(flow, 1.7, rules=FILTERED, control=control, threads=2)
        assert all((a == b).all() for a, b in zip(want, got, strict=True))
        assert not list(tmp_path.iterdir())
        monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
        control = torch.tensor([0, 0, size, 0])
        failure = pytest.raises((MemoryError, RuntimeError), match="bad_alloc")  # core/caught.h
        with failure if in_file else nullcontext():
            iterate(flow, 1.7, rules=FILTERED, control=control)


@pytest.mark.parametrize("kind", ["omitting", "hubs", "clusters", "gaps", "small"])
def test_places_do_not_change_a_bit(kind: str) -> None:
    """The order of rows behind the control record says where sums are kept, not what they are."""
    rules = FILTERED if kind == "omitting" else oracle.Rules()
    if kind == "omitting":
        flow = filtered()
    elif kind == "hubs":
        flow = iterate(to_flow(oracle.start(hubs(700, 4))), rules=rules)[0]
    elif kind == "small":
        flow = to_flow(oracle.start(planted(5, 9, 3)))
    else:
        flow = to_flow(oracle.start(planted(15, 60, 3)), gap=5 * (kind == "gaps"))
    want = iterate(flow, 1.7, rules=rules)
    rng = np.random.default_rng(1)
    for threads in (1, 3):
        order = torch.from_numpy(rng.permutation(len(flow[0])))
        control = torch.cat([torch.zeros(4, dtype=torch.int64), order])
        got = iterate(flow, 1.7, rules=rules, threads=threads, control=control)
        assert all((a == b).all() for a, b in zip(want[0], got[0], strict=True))
        assert want[1] == got[1]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 5], [0, 1, 2, 3, 3], [-1, 1, 2, 3, 4]])
def test_an_impossible_order(order: list[int]) -> None:
    control = torch.tensor([0, 0, 0, 0, *order])
    with pytest.raises((RuntimeError, ValueError), match="no order of rows"):
        iterate(to_flow(np.eye(5)), control=control)


def test_an_impossible_share() -> None:
    start = to_flow(np.eye(5))
    for share in ((-1, 1, 2), (1, 0, 2), (0, 3, 2), (0, 0, 0)):
        with pytest.raises((RuntimeError, ValueError), match="first <= last <= parts"):
            iterate(start, share=share)


def test_progress_and_cancellation() -> None:
    start = to_flow(oracle.start(similarity(50, 0.5, 1)))
    control = torch.zeros(4, dtype=torch.int64)
    iterate(start, control=control)
    assert control.tolist() == [0, 50, 0, 0]
    control = torch.tensor([1, 0, 0, 0])
    flow, _ = iterate(start, control=control)
    assert flow[2].numel() == 0
    assert control[1] == 0


def test_memory_limit() -> None:
    start = to_flow(oracle.start(similarity(600, 0.9, 1)))
    control = torch.tensor([0, 0, 600 * 600 * 4, 0])
    flow, _ = iterate(start, control=control, threads=2)
    assert flow[2].numel() == 0
    assert control[2] == -1
    control = torch.tensor([0, 0, 600 * 600 * 32, 0])
    flow, _ = iterate(start, control=control, threads=2)
    assert flow[2].numel() == 600 * 600
    assert control[2] == 600 * 600 * 32


def read_matrix(text: str, n: int) -> oracle.Matrix:
    """mcl's native format."""
    dense = np.zeros((n, n))
    for column in text[text.index("begin") + 5 :].split("$")[:-1]:
        words = column.split()
        for entry in words[1:]:
            row, value = entry.split(":")
            dense[int(row), int(words[0])] = float(value)
    return dense


@pytest.mark.skipif(shutil.which("mcl") is None, reason="needs the program mcl")
@pytest.mark.parametrize(
    "arguments", ["", "-P 300 -S 20 -R 30 -pct 90", "-P 100 -S 15 -R 60 -pct 70", "-P 50 -R 9"]
)
def test_flow_is_that_of_mcl(tmp_path: Path, arguments: str) -> None:
    """Flow and chaos after each of the first iterations."""
    graph, n = similarity(150, 0.3, 2) ** 3, 150
    matrix = f"(mclheader\nmcltype matrix\ndimensions {n}x{n}\n)\n(mclmatrix\nbegin\n"
    for j in range(n):
        matrix += (
            f"{j} "
            + " ".join(f"{i}:{graph[i, j]:.9g}" for i in np.flatnonzero(graph[:, j]))
            + " $\n"
        )
    (tmp_path / "graph.mci").write_text(matrix + ")\n")
    done = subprocess.run(
        f"mcl graph.mci -I 1.7 -L 3 -dump ite -digits 8 -o out {arguments}".split(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    chaos = [float(x) for x in re.findall(r"^ +\d+ +\.* +(-?[\d.]+) ", done.stderr, re.M)]
    given_rules = dict(
        zip(arguments.split()[::2], map(float, arguments.split()[1::2]), strict=True)
    )
    rules = oracle.Rules(
        0.99999 / given_rules.get("-P", 10000),
        int(given_rules.get("-S", 1100)),
        int(given_rules.get("-R", 1400)),
        given_rules.get("-pct", 90) / 100,
    )
    flow = to_flow(oracle.start(graph))
    for i in range(3):
        flow, summary = iterate(flow, 1.7, rules=rules)
        if not arguments:  # mcl also counts the squares of what was pruned: some below 1e-4
            assert summary[0] == pytest.approx(chaos[i], abs=0.0051 + rules.threshold * n)
        want = read_matrix((tmp_path / f"ite-{i + 1}.out").read_text(), n)
        assert ((to_dense(flow) > 0) == (want > 0)).all()
        np.testing.assert_allclose(to_dense(flow), want, rtol=2e-5, atol=1e-8)
