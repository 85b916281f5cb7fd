"""The operator dense_solve against LAPACK, and what it serves against exact solutions."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torch
from torch.testing import assert_close

import torchcent

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.torchcent, "dense_solve"), reason="without compiled kernels"
)
F64 = torch.float64


def solve(matrices: torch.Tensor, right: torch.Tensor, threads: int = 1) -> torch.Tensor:
    return torch.ops.torchcent.dense_solve(matrices.contiguous(), right.contiguous(), threads)


@pytest.mark.parametrize("columns", [0, 1, 2, 7])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 128])
def test_lapack(n, columns):
    chance = torch.Generator().manual_seed(n)
    matrices = torch.randn(5, n, n, dtype=F64, generator=chance)
    matrices[0].diagonal().zero_()  # needs pivots
    matrices[1] = torch.eye(n, dtype=F64).roll(1, 0)
    if n == 1:
        matrices[:2] = 2.0
    right = torch.randn(5, n, columns, dtype=F64, generator=chance)
    solution = solve(matrices, right)
    assert_close(matrices @ solution, right, rtol=0, atol=1e-9)
    assert_close(solution, torch.linalg.solve(matrices, right), rtol=1e-7, atol=1e-9)
    assert torch.equal(solve(matrices, right, 2), solution)
    assert torch.equal(solve(matrices[3:4], right[3:4])[0], solution[3])


def test_whole_numbers_are_exact():
    """Of a unimodular matrix, whose elimination has no rounding."""
    lower = torch.tril(torch.randint(-3, 4, (9, 9)), -1).double() + torch.eye(9, dtype=F64)
    right = torch.randint(-9, 10, (9, 3)).double()
    matrix = lower[None]
    expected = [[Fraction(int(x)) for x in row] for row in right.tolist()]
    for i in range(9):
        for j in range(i):
            factor = int(lower[i, j])
            expected[i] = [a - factor * b for a, b in zip(expected[i], expected[j], strict=True)]
    solution = solve(matrix, right[None])[0].tolist()
    np.testing.assert_allclose(solution, np.array(expected, dtype=float), rtol=1e-12, atol=1e-9)


def test_singular_matrices_have_no_finite_solution():
    matrices = torch.zeros(2, 3, 3, dtype=F64)
    matrices[1] = torch.eye(3, dtype=F64)
    solution = solve(matrices, torch.ones(2, 3, 1, dtype=F64))
    assert not solution[0].isfinite().any() and torch.equal(solution[1], torch.ones(3, 1).double())


@pytest.mark.parametrize("n", [64, 65])  # solved directly, and approached
def test_pagerank_with_dangling_vertices(n):
    graph = nx.gnp_random_graph(n, 0.03, seed=n, directed=True)
    assert 0 in dict(graph.out_degree()).values()
    double = torchcent.Run(dtype=F64)
    arcs = torch.tensor(list(graph.edges)).T
    restart = torch.rand(n, 3, dtype=F64, generator=torch.Generator().manual_seed(1)) + 0.1
    scores = torchcent.pagerank(
        arcs, num_nodes=n, directed=True, personalization=restart, tol=1e-13, run=double
    )
    for k in range(3):
        theirs = nx.pagerank(
            graph, personalization=dict(enumerate(restart[:, k].tolist())), tol=1e-13, max_iter=999
        )
        np.testing.assert_allclose(scores[:, k].numpy(), [*theirs.values()], 1e-9)


def test_pagerank_of_a_batch_has_the_bits_of_each_graph_alone():
    sizes, double = [5, 64, 65, 1, 30], torchcent.Run(dtype=F64)
    parts = []
    for n in sizes:
        arcs = list(nx.gnp_random_graph(n, 0.1, seed=n, directed=True).edges)
        parts.append(torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2))
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    index = torch.cat([part + first for part, first in zip(parts, ptr.tolist(), strict=False)]).T
    graph = torchcent.Graph.from_edge_index(index, ptr=ptr, directed=True)
    scores = torchcent.pagerank(graph, run=double).split(sizes)
    for part, n, of_batch in zip(parts, sizes, scores, strict=True):
        alone = torchcent.pagerank(part.T, num_nodes=n, directed=True, run=double)
        assert torch.equal(alone, of_batch)
