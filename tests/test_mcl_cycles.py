"""Markov clustering of flows that repeat for ever: a run notices it and ends."""

import dataclasses
import math
import warnings

import mcl_oracle as oracle
import numpy as np
import pytest
import torch
from graphs import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from surface import call
from torch import Tensor

import torchcent
from torchcent import Prune
from torchcent.clustering import _flow, _plan, _run
from torchcent.clustering._cycles import Cycles, digest
from torchcent.clustering._rules import Rules

# Each edge once. The flow is a symmetric distribution, shifted by one vertex, then by two.
TRIANGLE = torch.tensor([[0, 1, 2], [1, 2, 0]], device=DEVICE)


@given(st.integers(0, 20), st.integers(1, 20), st.integers(1, 50))
def test_period(before: int, period: int, told: int) -> None:
    """Of states before, ..., before + period - 1, after some others, told apart modulo `told`."""
    cycles = Cycles()
    reads = 0
    for at in range(before + 3 * period + 1):
        state = at if at < before else before + (at - before) % period

        def read(state: int = state) -> bytes:
            nonlocal reads
            reads += 1
            return bytes([state])

        found = cycles.period(state % told, read)
        if found:
            assert found == period and at >= before + period
            return
        assert told < before + period or reads <= max(at - before - period + 1, 0)
    raise AssertionError("not noticed in the third round")


def test_digest() -> None:
    one = torch.tensor([1.0, 2.0])
    assert digest(one) == digest(one.clone())
    others = [one.double(), one[None], one.flip(0), torch.tensor([1.0, 2.0 + 2**-22])]
    assert len({digest(one), *map(digest, others)}) == 5
    assert digest(one[:1], one) != digest(one, one[:1])


def assert_alternates(flow: Tensor) -> None:
    """By the oracle: two iterations lead back to the flow, one does not."""
    before = flow.to_dense().cpu().double().numpy()
    once = oracle.step(before).flow
    assert np.abs(once - before).max() > 0.1
    np.testing.assert_allclose(oracle.step(once).flow, before, atol=1e-5)


@pytest.mark.parametrize("engine", ["auto", "dense", "fused", "tensor"])
def test_alternating_flow(engine: str) -> None:
    if engine == "fused" and not _plan.compiled(DEVICE):
        pytest.skip("there is no compiled operator")
    with pytest.warns(UserWarning, match="every 2 iterations.*some arcs have no reverse"):
        found = torchcent.mcl(TRIANGLE, run=torchcent.Run(engine=engine), return_flow=True)
    assert not found.converged and found.iterations < 50 and "NOT converged" in repr(found)
    assert found.flow is not None
    assert_alternates(found.flow)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torchcent.mcl(TRIANGLE, directed=False, run=torchcent.Run(engine=engine)).converged


@pytest.mark.parametrize("one_way", [False, True])
def test_advice_only_for_one_way_arcs(one_way: bool) -> None:
    graph = torchcent.Graph.from_edge_index(TRIANGLE)
    flow = _flow.build(graph, _flow.similarities(graph, None), "max", None)
    with pytest.warns(UserWarning, match="every 7 iterations") as told:
        _run.warn_if_stuck(_run.Outcome(flow, period=7), Rules(2, None, max_iter=200), one_way)
    assert ("directed=False" in str(told[0].message)) == one_way


def test_sweep() -> None:
    with pytest.warns(UserWarning, match="every 2 iterations"):
        found = torchcent.mcl_sweep(TRIANGLE, inflations=[1.4, 2.0])
    assert found.clusterings[1].iterations < 50


@pytest.mark.skipif(not _plan.compiled(torch.device("cpu")), reason="no compiled operator")
def test_in_pieces() -> None:
    graph = torchcent.Graph.from_edge_index(TRIANGLE.cpu())
    flow = _flow.build(graph, _flow.similarities(graph, None), "max", None)
    rules = Rules(2, Prune(), max_iter=200)
    plan = dataclasses.replace(_plan.plan(flow, rules, "fused", None), pieces=2, may_switch=False)
    found = _run.run(flow, rules, plan, False)
    assert found.period == 2 and not found.converged and len(found.summaries) < 50


@pytest.mark.parametrize("engine", ["auto", "tensor"])
def test_batch(engine: str) -> None:
    """The other graphs of a batch get what they get alone."""
    path = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]], device=DEVICE)
    edges = torch.cat([TRIANGLE, path + 3, TRIANGLE + 8], 1)
    with pytest.warns(UserWarning, match="every 2 iterations"):
        found = call(
            torchcent.mcl,
            edges,
            ptr=torch.tensor([0, 3, 8, 11], device=DEVICE),
            run=torchcent.Run(engine=engine),
        )
    alone = torchcent.mcl(path, num_nodes=5)
    assert not found.converged and found.iterations < 100 and math.isfinite(found.chaos_history[-1])
    assert found.cluster_ptr is not None
    first = int(found.cluster_ptr[1])
    assert (found.labels[3:8] - first).tolist() == alone.labels.tolist()
