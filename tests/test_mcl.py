"""Markov clustering: engines against each other and against an oracle, options, results."""

import math
import re
import warnings

import mcl_oracle as oracle
import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, arc_lists, edge_index
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import torchcent
from torchcent import Clustering, Prune, clustering_distance
from torchcent.clustering import _dense, _flow, _plan, _run, _tensor
from torchcent.clustering._rules import Rules

pytestmark = pytest.mark.sweep

ENGINES = ("fused", "tensor", "dense", "auto")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "fused" and not _plan.compiled(DEVICE):
        pytest.skip("there is no compiled operator")
    return request.param


def planted(clusters: int, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Dense groups with few links between them, both directions, no two weights alike."""
    rng = np.random.default_rng(seed)
    n = clusters * size
    same = np.arange(n)[:, None] // size == np.arange(n)[None, :] // size
    there = np.triu(rng.random((n, n)) < np.where(same, 0.7, 0.03), 1)
    weight = np.where(there, rng.random((n, n)) + 0.2, 0)
    weight += weight.T
    row, col = np.nonzero(weight)
    index = torch.from_numpy(np.stack([row, col])).to(DEVICE)
    return index, torch.from_numpy(weight[row, col]).to(DEVICE)


def similarity_matrix(index: Tensor, weight: Tensor | None, n: int) -> np.ndarray:
    """As the oracle takes it: column j has the arcs that leave j, the largest of copies."""
    matrix = np.zeros((n, n))
    values = np.ones(index.shape[1]) if weight is None else weight.cpu().numpy()
    for (tail, head), value in zip(index.T.tolist(), values, strict=True):
        matrix[head, tail] = max(matrix[head, tail], value)
    return matrix


def groups(found: Clustering) -> list[list[int]]:
    return [cluster.tolist() for cluster in found.clusters()]


def test_karate_club(engine: str) -> None:
    """The clusters of mcl 22-282 at its default inflation (shared/golden)."""
    index = torch.tensor(list(nx.karate_club_graph().edges())).T.to(DEVICE)
    found = torchcent.mcl(index, directed=False, run=torchcent.Run(engine=engine))
    first = [2, 8, 9, 14, 15, 18, 20, *range(22, 34)]
    assert groups(found) == [first, [v for v in range(34) if v not in first]]
    assert found.converged and found.iterations == len(found.chaos_history) == 11
    assert found.chaos_history[-1] < 1e-4 <= min(found.chaos_history[:-1])
    assert found.labels.device == DEVICE and found.labels.dtype == torch.int64
    assert found.sizes.tolist() == [19, 15] and found.num_clusters == len(found) == 2
    for label, cluster in enumerate(found.clusters()):
        assert (found.labels[cluster] == label).all()


@pytest.mark.parametrize("prune", ["mcl", "none", "tight", "cut", "select"])
@pytest.mark.parametrize("inflation", [1.4, 2.0, 4.0])
@pytest.mark.parametrize("expansion", [2, 3])
def test_oracle(engine: str, prune: str, inflation: float, expansion: int) -> None:
    """Every iteration from the flow that the one before it left."""
    rules = {
        "mcl": Prune(), "none": None, "tight": Prune(0.02, 8, 10, 0.8),
        "cut": Prune(0.03, 0, 0, 0.0), "select": Prune(0.0, 9, 0, 0.5),
    }[prune]  # fmt: skip
    off = rules or Prune(0.0, 0, 0, 0.0)
    known = oracle.Rules(off.threshold, off.select, off.recover, off.mass)
    index, weight = planted(4, 11, 7)
    flow = oracle.start(similarity_matrix(index, weight, 44))
    for last in range(1, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = torchcent.mcl(
                index, weight, inflation=inflation, expansion=expansion, prune=rules,
                run=torchcent.Run(engine=engine), return_flow=True, max_iter=last,
            )  # fmt: skip
        if found.iterations < last:
            break
        step = oracle.step(flow, inflation, expansion, known)
        assert found.flow is not None
        flow = found.flow.to_dense().cpu().double().numpy()
        np.testing.assert_allclose(flow, step.flow, rtol=1e-4, atol=1e-7)
        # Chaos counts entries, and float64 holds some that float32 does not.
        if off.threshold or last < 3:
            assert found.chaos_history[-1] == pytest.approx(step.chaos, rel=1e-4, abs=1e-5)
    assert last > 4


def test_limit(engine: str) -> None:
    """A whole run against the oracle's."""
    index, weight = planted(4, 11, 7)
    flow, chaos = oracle.run(similarity_matrix(index, weight, 44))
    found = torchcent.mcl(index, weight, run=torchcent.Run(engine=engine), return_flow=True)
    assert found.flow is not None and found.iterations == len(chaos)
    np.testing.assert_allclose(found.flow.to_dense().cpu().numpy(), flow, atol=1e-4)
    np.testing.assert_allclose(found.chaos_history, chaos, rtol=1e-3, atol=1e-5)


@settings(max_examples=60)
@given(arc_lists(max_nodes=12), st.sampled_from([1.5, 2.0, 3.0]), st.booleans(), st.data())
def test_engines_agree(
    drawn: tuple[int, list[tuple[int, int]]], inflation: float, directed: bool, data: st.DataObject
) -> None:
    """Flow after five iterations on graphs with loops, copies and isolated vertices."""
    n, arcs = drawn
    weights = st.floats(0.125, 8, width=32)
    weight = torch.tensor(
        data.draw(st.lists(weights, min_size=len(arcs), max_size=len(arcs))), dtype=torch.float64
    )
    loops = data.draw(st.sampled_from(["max", "one", 0.5, None]))
    flows = []
    for engine in ("tensor", "dense", *(["fused"] if _plan.compiled(DEVICE) else [])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = torchcent.mcl(
                edge_index(arcs), weight.to(DEVICE), num_nodes=n, inflation=inflation, loops=loops,
                max_iter=5, directed=directed, run=torchcent.Run(engine=engine), return_flow=True,
            )  # fmt: skip
        assert found.flow is not None
        flows.append(found.flow.to_dense().cpu())
        torch.testing.assert_close(flows[-1].sum(0), torch.ones(n), rtol=0, atol=1e-5)
        assert sorted(torch.cat(found.clusters()).tolist() if n else []) == list(range(n))
    for other in flows[1:]:
        torch.testing.assert_close(other, flows[0], rtol=0, atol=1e-3)


def test_first_flow() -> None:
    """Columns are outgoing arcs; copies merge by max; 0 is no arc; loops as asked."""
    arcs = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 1, 0, 2, 2, 0]], device=DEVICE)
    weight = torch.tensor([3.0, 5.0, 2.0, 0.0, 9.0, 1.0], device=DEVICE)
    graph = torchcent.Graph.from_edge_index(arcs, 4)
    value = _flow.similarities(graph, weight)

    def columns(loops: object) -> list[list[float]]:
        own = _flow.input_loops(arcs, weight, 4) if loops is None else None
        dense = _flow.build(graph, value, loops, own).to_dense().T
        return [[round(x, 4) for x in column] for column in dense.tolist()]

    alone = [0, 0, 0, 1]
    assert columns("max") == [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0], alone]
    assert columns("one") == [
        [0.1667, 0.8333, 0, 0],
        [0.6667, 0.3333, 0, 0],
        [0.5, 0, 0.5, 0],
        alone,
    ]
    assert columns(3.0) == [[0.75, 0.25, 0, 0], [0.25, 0.75, 0, 0], [0.25, 0, 0.75, 0], alone]
    assert columns(None) == [[0, 1, 0, 0], [1, 0, 0, 0], [0.1, 0, 0.9, 0], alone]


def test_directed_false_takes_the_larger_of_both_directions(engine: str) -> None:
    index, weight = planted(3, 8, 3)
    both = torch.cat([index, index.flip(0)], 1)
    halves = torch.cat([weight * (index[0] < index[1]), weight * 0.5])
    one = torchcent.mcl(index, weight, run=torchcent.Run(engine=engine))
    other = torchcent.mcl(both, halves, directed=False, run=torchcent.Run(engine=engine))
    assert torch.equal(one.labels, other.labels)


def test_weights_of_any_size() -> None:
    """Only ratios matter; sums that overflow and shares that vanish do no harm."""
    index, weight = planted(3, 6, 5)
    plain = torchcent.mcl(index, weight)
    for factor in (1e300, 1e-300):
        assert torch.equal(torchcent.mcl(index, weight * factor).labels, plain.labels)
    pairs = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    weights = torch.tensor([1.0, 1e-60, 1.0], dtype=torch.float64, device=DEVICE)
    found = torchcent.mcl(pairs, weights, directed=False, return_flow=True)
    assert groups(found) == [[0, 1], [2, 3]]
    assert found.flow is not None and found.flow.to_dense()[1, 2] == 0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_arcs(engine: str, n: int) -> None:
    nothing = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    found = torchcent.mcl(nothing, num_nodes=n, run=torchcent.Run(engine=engine))
    assert groups(found) == [[v] for v in range(n)]
    assert found.converged and found.labels.tolist() == list(range(n))
    assert (
        len(torchcent.mcl_sweep(nothing, num_nodes=n, run=torchcent.Run(engine=engine)).clusterings)
        == 4
    )


def test_all_weights_zero_is_no_arc(engine: str) -> None:
    pair = torch.tensor([[0, 1], [1, 0]], device=DEVICE)
    found = torchcent.mcl(pair, torch.zeros(2, device=DEVICE), run=torchcent.Run(engine=engine))
    assert groups(found) == [[0], [1]]


def test_isolated_vertices_are_singletons(engine: str) -> None:
    triangle = torch.tensor([[0, 1, 4], [1, 4, 0]], device=DEVICE)
    found = torchcent.mcl(triangle, num_nodes=6, directed=False, run=torchcent.Run(engine=engine))
    assert groups(found) == [[0, 1, 4], [2], [3], [5]]
    assert "4 clusters of 6 vertices: 3, 1, 1, 1; 3 singletons" in repr(found)


@pytest.mark.parametrize("overlap", ["cut", "keep", "split"])
def test_overlap(engine: str, overlap: str) -> None:
    """The middle of a path of five flows to both ends alike."""
    path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]], device=DEVICE)
    found = torchcent.mcl(
        path, directed=False, overlap=overlap, run=torchcent.Run(engine=engine), inflation=2
    )
    expected = {
        "cut": [[0, 1, 2], [3, 4]],
        "keep": [[0, 1, 2], [2, 3, 4]],
        "split": [[0, 1], [3, 4], [2]],
    }
    assert groups(found) == expected[overlap]
    assert found.attractors.tolist() == [1, 3] and found.overlaps.tolist() == [2]
    assert found.labels.tolist() == ([0, 0, 2, 1, 1] if overlap == "split" else [0, 0, 0, 1, 1])
    assert "1 vertices in overlap" in repr(found)


def test_flip_flop_stops_with_a_warning(engine: str) -> None:
    """Two vertices without loops, whose flow goes to and fro: M^3 = M."""
    pair = torch.tensor([[0, 1], [1, 0]], device=DEVICE)
    star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]], device=DEVICE)
    with pytest.warns(UserWarning, match="not converged in 2 iterations"):
        found = torchcent.mcl(
            star, loops=0.01, max_iter=2, run=torchcent.Run(engine=engine), chaos=1e-9
        )
    assert not found.converged and found.iterations == 2 and "NOT converged" in repr(found)
    assert torchcent.mcl(pair, loops=None, run=torchcent.Run(engine=engine)).num_clusters == 2


@pytest.mark.filterwarnings("ignore:mcl has not converged")
def test_deterministic_whatever_the_threads(engine: str, threads: None) -> None:
    index, weight = planted(12, 20, 11)
    flows = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found = torchcent.mcl(
            index, weight, run=torchcent.Run(engine=engine), return_flow=True, max_iter=6
        )
        assert found.flow is not None
        flows.append(found.flow)
    if engine == "dense" or engine == "auto":  # sums of a matrix product may be split by threads
        torch.testing.assert_close(flows[0].to_dense(), flows[1].to_dense(), rtol=0, atol=1e-5)
        return
    for other in flows[1:]:
        assert torch.equal(other.values(), flows[0].values())
        assert torch.equal(other.row_indices(), flows[0].row_indices())


def test_engines_take_over(tuning) -> None:
    """auto goes from dense to sparse columns, and back, as the flow gets sparse or dense."""
    index, weight = planted(12, 12, 2)
    tuning(mcl_small=0)
    plain = torchcent.mcl(index, weight, run=torchcent.Run(engine="tensor"))
    sparse = "fused" if _plan.compiled(DEVICE) else "tensor"
    for gain in (1.5, 12, 1000):
        tuning(mcl_dense_gain=gain)
        found = torchcent.mcl(index, weight)
        assert torch.equal(found.labels, plain.labels)
        assert found.iterations == plain.iterations
        np.testing.assert_allclose(found.chaos_history, plain.chaos_history, rtol=1e-3, atol=1e-6)
        first = {1.5: sparse, 12: f"{sparse}, dense from iteration 2, {sparse} from", 1000: "dense"}
        assert found.engine.startswith(first[gain])


def test_sweep_is_mcl_at_each_inflation(engine: str) -> None:
    index, weight = planted(6, 10, 9)
    rates = [1.3, 2.0, 4.0]
    sweep = torchcent.mcl_sweep(index, weight, rates, run=torchcent.Run(engine=engine))
    assert len(sweep) == 3 and sweep[1] is sweep.clusterings[1]
    for rate, found, row in zip(rates, sweep.clusterings, sweep.table, strict=True):
        alone = torchcent.mcl(index, weight, inflation=rate, run=torchcent.Run(engine=engine))
        assert torch.equal(found.labels, alone.labels)
        assert found.iterations == alone.iterations and found.inflation == rate
        np.testing.assert_allclose(found.chaos_history, alone.chaos_history, rtol=1e-3, atol=1e-6)
        quality = torchcent.clustering_quality(alone, index, weight)
        assert {k: row[k] for k in quality} == quality
        assert (row["inflation"], row["clusters"]) == (rate, alone.num_clusters)
        assert row["largest"] == int(alone.sizes[0])
    first, second = sweep.clusterings[:2]
    assert sweep.table[1]["distance"] == clustering_distance(first, second).distance
    text = str(sweep).splitlines()
    assert len(text) == 4 and text[0].split()[:3] == ["inflation", "clusters", "largest"]


def test_graph_in_place_of_an_edge_index(engine: str) -> None:
    index, _ = planted(4, 8, 1)
    graph = torchcent.Graph.from_edge_index(index, directed=False)
    found = torchcent.mcl(graph, run=torchcent.Run(engine=engine))
    assert torch.equal(found.labels, torchcent.mcl(index, run=torchcent.Run(engine=engine)).labels)


def test_explain() -> None:
    index, weight = planted(4, 8, 1)
    plan = torchcent.explain_mcl(index, weight, prune=None)
    flow = _flow.build(torchcent.Graph.from_edge_index(index), weight, "max", None)
    assert plan.entries == flow.entries == index.shape[1] + 32
    length = flow.length.long()
    assert plan.products == int(length[flow.row.long()].sum())
    assert plan.expanded >= int((flow.to_dense() @ flow.to_dense() > 0).sum())
    assert plan.memory < plan.memory_limit and f"{plan.products:,} products" in str(plan)
    full = torch.ones(50, 50, device=DEVICE).nonzero().T
    assert torchcent.explain_mcl(full).engine == "dense"
    assert (
        torchcent.explain_mcl(index, weight, run=torchcent.Run(engine="tensor")).reason
        == "asked for"
    )


@pytest.mark.parametrize("how", ["fused", "tensor", "dense"])
def test_memory_is_refused_before_and_during_a_run(how: str) -> None:
    if how == "fused" and not _plan.compiled(DEVICE):
        pytest.skip("there is no compiled operator")
    index, weight = planted(10, 30, 4)
    need = torchcent.explain_mcl(index, weight, run=torchcent.Run(engine=how)).memory
    assert (
        torchcent.mcl(index, weight, run=torchcent.Run(engine=how, memory=need)).num_clusters == 10
    )
    refused = rf"mcl with engine='{how}'.*needs .*memory=\d+"
    if how == "fused":  # in pieces
        graph = torchcent.Graph.from_edge_index(index)
        weight = None
        with pytest.raises(MemoryError, match=refused) as error:
            torchcent.mcl(graph, run=torchcent.Run(engine=how, memory=1000))
        need = int(re.search(r"\((\d+) bytes\)", str(error.value))[1])
        assert (
            torchcent.explain_mcl(graph, run=torchcent.Run(engine=how, memory=need)).memory == need
        )
        index = graph
    with pytest.raises(MemoryError, match=refused):
        torchcent.mcl(index, weight, run=torchcent.Run(engine=how, memory=need - 1))


def test_memory_is_obeyed_during_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    index, weight = planted(10, 30, 4)
    for how in ("tensor", *(["fused"] if _plan.compiled(DEVICE) else [])):
        plan = torchcent.explain_mcl(index, weight, run=torchcent.Run(engine=how))
        flow = _flow.build(torchcent.Graph.from_edge_index(index), weight, "max", None)
        small = _plan.MclPlan(**{**vars(plan), "memory_limit": plan.overhead + flow.nbytes + 1000})
        rules = Rules(2, Prune(), max_iter=100)
        with pytest.raises(MemoryError, match="mcl, iteration 1, needs more than memory="):
            _run.run(flow, rules, small, False)


def test_interrupt_leaves_nothing_running(tuning) -> None:
    import signal
    import threading

    index, weight = planted(30, 40, 4)
    tuning(mcl_inline=0)
    before = set(threading.enumerate())
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    # A shell's background job starts with SIGINT ignored.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(500):
                torchcent.mcl(index, weight, run=torchcent.Run(engine="tensor"), inflation=1.2)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert set(threading.enumerate()) <= before  # those of earlier tests may end meanwhile


@pytest.mark.slow
def test_progress(capsys: pytest.CaptureFixture[str], tuning) -> None:
    index, weight = planted(10, 30, 4)
    tuning(mcl_inline=0)
    torchcent.mcl(index, weight, run=torchcent.Run(engine="tensor", progress=True), inflation=1.3)
    shown = capsys.readouterr().err
    assert "mcl -I 1.3" in shown and "iteration" in shown
    assert "chaos" in shown and "entries" in shown
    torchcent.mcl(index, weight, run=torchcent.Run(progress=False))
    assert capsys.readouterr().err == ""


def test_time_left() -> None:
    assert _run.seconds_left([3.0, 2.0], 1e-4, 1.0) is None
    assert _run.seconds_left([1.0, 2.0, 3.0], 1e-4, 1.0) is None
    assert _run.seconds_left([1.0, 1e-1, 1e-2], 1e-4, 3.0) == pytest.approx(6.0)
    assert _run.seconds_left([1.0, 1e-2, 1e-5], 1e-4, 3.0) == 0


def test_dense_takes_a_batch() -> None:
    """[g, n, n] gives what each graph gives alone."""
    flows = [
        _flow.columns_as_rows(
            _flow.build(torchcent.Graph.from_edge_index(index), weight, "max", None)
        )
        for index, weight in (planted(3, 8, seed) for seed in (1, 2, 3))
    ]
    rules = (2, 2.0, 0.01, 7, 9, 0.8)
    together, summary = _dense.iterate(torch.stack(flows), *rules)
    alone = [_dense.iterate(flow, *rules) for flow in flows]
    for one, (flow, _) in zip(together, alone, strict=True):
        torch.testing.assert_close(one, flow)
    torch.testing.assert_close(summary, torch.stack([told for _, told in alone]))


def test_tensor_engine_in_blocks(tuning) -> None:
    index, weight = planted(6, 10, 9)
    whole = torchcent.mcl(index, weight, run=torchcent.Run(engine="tensor"), return_flow=True)
    tuning(
        mcl_products=500,
        mcl_products_on_accelerator=500,
    )
    parts = torchcent.mcl(index, weight, run=torchcent.Run(engine="tensor"), return_flow=True)
    assert whole.flow is not None and parts.flow is not None
    torch.testing.assert_close(parts.flow.to_dense(), whole.flow.to_dense())
    assert parts.chaos_history == pytest.approx(whole.chaos_history)


def test_flow_with_gaps() -> None:
    """ELLPACK-R, as CUDA hands it on, is packed and multiplied alike."""
    index, weight = planted(3, 8, 1)
    flow = _flow.build(torchcent.Graph.from_edge_index(index), weight, "max", None)
    width = int(flow.length.max()) + 3
    row = torch.full((24 * width,), -1, dtype=torch.int32, device=DEVICE)
    value = torch.full((24 * width,), math.nan, device=DEVICE)
    begin = torch.arange(24, device=DEVICE) * width
    for j in range(24):
        old = slice(int(flow.begin[j]), int(flow.begin[j]) + int(flow.length[j]))
        new = slice(int(begin[j]), int(begin[j]) + int(flow.length[j]))
        row[new], value[new] = flow.row[old], flow.value[old]
    padded = _flow.Flow(begin, flow.length, row, value)
    assert torch.equal(padded.to_dense(), flow.to_dense())
    assert all(map(torch.equal, padded.packed(), flow.packed()))
    control = torch.zeros(4, dtype=torch.int64)
    assert torch.equal(
        _tensor.iterate(padded, control, 2, 2.0, 0, 0, 0, 0)[0].to_dense(),
        _tensor.iterate(flow, control, 2, 2.0, 0, 0, 0, 0)[0].to_dense(),
    )


def test_paper_variant() -> None:
    """No pruning, chaos below 1e-3: fewer iterations, the same planted groups."""
    index, weight = planted(5, 12, 7)
    usual = torchcent.mcl(index, weight)
    paper = torchcent.mcl(index, weight, prune=None, chaos=1e-3)
    assert paper.iterations < usual.iterations
    assert groups(paper) == groups(usual) == [list(range(12 * k, 12 * k + 12)) for k in range(5)]
