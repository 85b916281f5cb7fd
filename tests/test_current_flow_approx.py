"""Current flow from random pairs: against the exact currents, and the stated guarantee."""

import itertools
import math

import numpy as np
import pytest
import torch
from graphs import DEVICE, cycle, edge_index, grid, path
from surface import call
from test_current_flow import SHAPES, SOLVERS, definition, select

import torchcent
from torchcent.approx import _current_flow

F64 = torch.float64
approx = torchcent.current_flow_betweenness_approx


def drawn(arcs, n, seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    given_as = {"num_nodes": n, "directed": False, "generator": generator, "dtype": F64}
    return call(approx, edge_index(arcs), **given_as | options)


def normalised(n, arcs, conductance):
    return definition(n, arcs, conductance)[0] * 2 / ((n - 1) * (n - 2))


@pytest.mark.sweep
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "edge"])
def test_every_pair_once_gives_the_exact_scores(shape, solver, monkeypatch):
    n, arcs = SHAPES[shape]
    select(solver, monkeypatch)
    pairs = torch.tensor(list(itertools.combinations(range(n), 2)), device=DEVICE).T
    conductance = [0.1 * (1 + e % 7) for e in range(len(arcs))]
    graph = torchcent.Graph.from_edge_index(
        edge_index(arcs), n, False, torch.tensor(conductance, dtype=F64, device=DEVICE)
    )
    found = _current_flow.of_pairs(graph, pairs, None) * n / (n - 2)
    np.testing.assert_allclose(found.cpu(), normalised(n, arcs, conductance), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", ["cycle", "grid", "two parts and a vertex"])
def test_the_error_is_at_most_epsilon(shape):
    """Of 20 runs with a probability of failure of 1e-6 each, none fails."""
    n, arcs = SHAPES[shape]
    exact = torch.from_numpy(normalised(n, arcs, [1.0] * len(arcs)))
    for seed in range(20):
        found = drawn(arcs, n, seed, epsilon=0.1, delta=1e-6, method="pairs")
        assert found.method == "pairs" and found.reached
        assert found.epsilon <= 0.1 + 1e-12
        least = math.log(2 * n / 1e-6) / 2 * (n / (n - 2) / 0.1) ** 2
        assert least <= found.samples < least + 1
        scores = found.scores.cpu()
        assert (scores - exact).abs().max() <= 0.1
        assert (found.lower.cpu() <= exact).all() and (exact <= found.upper.cpu()).all()
        assert not torch.equal(scores, exact)


def test_pairs_are_uniform_and_of_two_vertices():
    graph = torchcent.Graph.from_edge_index(edge_index(path(4)), directed=False)
    pairs = _current_flow._random_pairs(graph, 12_000, torch.Generator().manual_seed(5))
    counts = torch.zeros(4, 4, dtype=torch.int64)
    counts.index_put_(tuple(pairs.cpu()), torch.ones(12_000, dtype=torch.int64), accumulate=True)
    assert counts.diagonal().eq(0).all()
    off = counts[~torch.eye(4, dtype=torch.bool)]
    assert (off - 1000).abs().max() < 200  # six standard deviations


def test_methods():
    arcs, n = grid(3, 4), 12
    exact = torch.from_numpy(normalised(n, arcs, [1.0] * len(arcs)))
    found = drawn(arcs, n)  # more pairs than vertices
    assert found.method == "exact" and found.epsilon == found.delta == 0
    torch.testing.assert_close(found.scores.cpu(), exact)
    few = drawn(arcs, n, max_samples=10)
    assert (few.method, few.samples, few.reached) == ("pairs", 10, False)
    assert few.epsilon > 0.5 and "cut short" in few.reason and "pairs" in repr(few)
    again = drawn(arcs, n, max_samples=10)
    assert torch.equal(few.scores, again.scores)
    assert "10 pairs" in few.in_words
    narrow = drawn(arcs, n, max_samples=500, method="pairs", dtype=torch.float16)
    assert narrow.lower.dtype == torch.float16
    assert (narrow.lower.double().cpu() <= exact).all()
    assert drawn(arcs, n, method="exact").top(1).vertices.item() in exact.topk(2).indices
    for size in (0, 2):
        small = drawn(path(size) if size else [], size, method="pairs")
        assert small.method == "exact" and small.scores.tolist() == [0] * size


def test_bad_arguments():
    arcs = cycle(5)
    for options, error, match in (
        ({"epsilon": 0}, ValueError, "epsilon"), ({"epsilon": 1}, ValueError, "epsilon"),
        ({"delta": 1.0}, ValueError, "delta"), ({"delta": "x"}, TypeError, "delta"),
        ({"method": "rk"}, ValueError, "method"), ({"max_samples": 0}, ValueError, "max_samples"),
        ({"generator": 3}, TypeError, "generator"), ({"dtype": torch.int64}, TypeError, "dtype"),
    ):  # fmt: skip
        with pytest.raises(error, match=match):
            drawn(arcs, 5, **options)
    with pytest.raises(ValueError, match="no reverse arc"):
        approx(edge_index(arcs))
    batch = torchcent.Graph.from_edge_index(
        edge_index(arcs), directed=False, ptr=torch.tensor([0, 5], device=DEVICE)
    )
    with pytest.raises(ValueError, match="current_flow_betweenness has exact scores"):
        approx(batch)
