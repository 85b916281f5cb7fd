"""The operator symmetric_eigen against LAPACK and the definition."""

import itertools

import pytest
import torch

import torchcent  # noqa: F401  (loads the operators)

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.torchcent, "symmetric_eigen"), reason="without compiled kernels"
)
F64 = torch.float64


def eigen(matrices: torch.Tensor, vectors: bool = True, threads: int = 1):
    return torch.ops.torchcent.symmetric_eigen(matrices.contiguous(), vectors, threads)


def kinds(n: int) -> dict[str, torch.Tensor]:
    random = torch.randn(4, n, n, dtype=F64)
    arcs = torch.triu(torch.randint(0, 2, (4, n, n)).double(), 1)
    path = torch.diag_embed(torch.ones(1, n - 1, dtype=F64), 1)
    star = torch.zeros(1, n, n, dtype=F64)
    star[:, 0, 1:] = 1
    thin = torch.randn(2, n, 2, dtype=F64)
    return {
        "random": random + random.mT,
        "graphs": arcs + arcs.mT,
        "path": path + path.mT,
        "star": star + star.mT,
        "rank two": thin @ thin.mT,
        "zeros": torch.zeros(1, n, n, dtype=F64),
        "ones": torch.ones(1, n, n, dtype=F64),
        "of many sizes": torch.diag_embed(torch.logspace(-300, 0, n, dtype=F64))[None],
    }


@pytest.mark.parametrize("scale", [1.0, 1e250, 1e-250])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 33, 64, 128])
def test_definition_and_lapack(n, scale):
    for name, plain in kinds(n).items():
        matrices = plain * scale
        values, states = eigen(matrices)
        bound = 1e-14 * n * matrices.abs().max()
        assert (values - torch.linalg.eigvalsh(matrices)).abs().max() <= bound, name
        assert (matrices @ states - states * values[:, None, :]).abs().max() <= bound, name
        assert (states.mT @ states - torch.eye(n, dtype=F64)).abs().max() <= 1e-14 * n, name
        alone, none = eigen(matrices, vectors=False)
        assert torch.equal(alone, values), name
        assert none.shape == (0, n, n)


@pytest.mark.parametrize("n", [2, 9, 40, 127, 128, 129])
def test_bits_do_not_depend_on_threads_or_neighbours(n):
    """Also not on whether matrices are solved side by side, as many are, or one by one."""
    matrices = torch.cat([kinds(n)[name] for name in ("random", "graphs", "path", "star")] * 2)
    one, three = eigen(matrices), eigen(matrices, threads=3)
    assert all(map(torch.equal, one, three))
    for number, matrix in enumerate(matrices):
        values, states = eigen(matrix[None])
        among = eigen(matrices[number : number + 7])
        assert torch.equal(values[0], one[0][number]) and torch.equal(states[0], one[1][number])
        assert torch.equal(values[0], among[0][0]) and torch.equal(states[0], among[1][0])


def test_empty_and_not_finite():
    assert [each.shape for each in eigen(torch.zeros(0, 3, 3, dtype=F64))] == [(0, 3), (0, 3, 3)]
    assert [each.shape for each in eigen(torch.zeros(2, 0, 0, dtype=F64))] == [(2, 0), (2, 0, 0)]
    for wrong, count in itertools.product((float("nan"), float("inf")), (2, 20)):
        matrices = torch.eye(3, dtype=F64).repeat(count, 1, 1)
        matrices[0, 1, 2] = matrices[0, 2, 1] = wrong
        values, states = eigen(matrices)
        assert bool(values[0].isnan().all()) and bool(states[0].isnan().all())
        assert values[1:].tolist() == [[1, 1, 1]] * (count - 1)
