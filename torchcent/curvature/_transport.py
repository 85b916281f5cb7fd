"""Least costs of transport problems: as linear programmes, or by Sinkhorn's iterations."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.curvature._problems import Problems
from torchcent.graph import _csr
from torchcent.runtime import _small

_SCALE = 1e6  # mass of a problem, so that 1e-7 is little
_ENTRIES = 2**22  # of the matrices of problems that are iterated together


def by_programmes(problems: Problems) -> Tensor:
    """float64 [edges]: the least cost of each, by SciPy on the host."""
    import scipy.optimize
    import scipy.sparse

    on_host = problems._replace(**{k: x.cpu() for k, x in problems._asdict().items()})
    counts = torch.stack([on_host.rows, on_host.columns])
    ends = np.stack([_csr.pointers(x).numpy() for x in (*counts, counts[0] * counts[1])])
    supply, demand, cost = (x.numpy() for x in (on_host.supply, on_host.demand, on_host.cost))
    least = np.zeros(on_host.slots.numel())
    for number in range(least.size):
        rows, columns, pairs = (slice(*each[number : number + 2]) for each in ends)
        p, q = rows.stop - rows.start, columns.stop - columns.start
        if not p:
            continue
        masses = np.concatenate([supply[rows], demand[columns]])
        sums = [
            scipy.sparse.kron(scipy.sparse.eye_array(p), np.ones((1, q))),
            scipy.sparse.kron(np.ones((1, p)), scipy.sparse.eye_array(q)),
        ]
        result = scipy.optimize.linprog(
            cost[pairs], A_eq=scipy.sparse.vstack(sums).tocsr(),
            b_eq=masses * (_SCALE / masses[:p].sum()), method="highs-ds",
        )  # fmt: skip
        if result.status != 0:
            raise ArithmeticError(f"no solution of a transport problem: {result.message}")
        # From the potentials, which are whole numbers by hops: sums of masses are right up to 1e-7.
        potentials = result.eqlin.marginals
        is_whole = not (cost[pairs] % 1).any()
        least[number] = masses @ (np.rint(potentials) if is_whole else potentials)
    return torch.from_numpy(least).to(problems.cost.device)


def by_sinkhorn(problems: Problems, regularization: float, tol: float, max_iter: int) -> Tensor:
    """float64 [edges]: the costs of plans with an entropy, of problems of about the same size at a
    time."""
    least = torch.zeros_like(problems.total)
    width = torch.stack([_rounded(problems.rows), _rounded(problems.columns)])
    first = torch.stack([
        _csr.pointers(x)[:-1]
        for x in (problems.rows, problems.columns, problems.rows * problems.columns)
    ])  # fmt: skip
    for p, q in torch.unique(width, dim=1).T.tolist():
        edges = torch.nonzero((width[0] == p) & (width[1] == q) & (problems.rows > 0)).flatten()
        for some in edges.split(max(1, _ENTRIES // max(1, p * q))):
            if some.numel():
                padded = _padded(problems, some, first, p, q)
                least[some] = _iterated(*padded, regularization, tol, max_iter)
    return least


def _rounded(count: Tensor) -> Tensor:
    """The next power of 2."""
    return (2.0 ** count.clamp(min=1).double().log2().ceil()).long()


def _padded(
    problems: Problems, edges: Tensor, first: Tensor, p: int, q: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Masses [edges, p] and [edges, q], 0 beyond those that there are, and costs [edges, p, q]."""
    masses = []
    for values, begin, count, width in (
        (problems.supply, first[0], problems.rows, p),
        (problems.demand, first[1], problems.columns, q),
    ):
        place = torch.arange(width, device=edges.device)
        inside = place < count[edges, None]
        some = torch.where(inside, begin[edges, None] + place, 0)
        masses.append(torch.where(inside, values[some], 0))
    rows, columns = problems.rows[edges], problems.columns[edges]
    count = rows * columns
    number = _small.repeat_interleave(count)
    within = _csr.ranges(torch.zeros_like(count), count)
    row, column = within // columns[number], within % columns[number]
    cost = problems.cost.new_zeros(edges.numel(), p, q)
    cost[number, row, column] = problems.cost[_csr.ranges(first[2][edges], count)]
    return masses[0], masses[1], cost


def _iterated(
    supply: Tensor, demand: Tensor, cost: Tensor, regularization: float, tol: float, max_iter: int
) -> Tensor:
    """float64 [problems]: each stops where what its rows give is right up to `tol` of the mass.

    Costs are divided by the largest, so that the regularisation means the same everywhere.
    """
    mass, largest = supply.sum(1), cost.amax((1, 2))
    least, todo = torch.zeros_like(mass), torch.arange(mass.numel(), device=mass.device)
    log_a, log_b = (supply / mass[:, None]).log(), (demand / mass[:, None]).log()
    scaled = cost / (largest[:, None, None] * regularization)
    f, g = torch.zeros_like(log_a), torch.zeros_like(log_b)
    for step in range(max_iter):
        new = -torch.logsumexp(g[:, None] - scaled + log_b[:, None], 2)
        error = (log_a.exp() * ((f - new).exp() - 1).abs()).sum(1)
        done = (error <= tol) & (step > 0)  # from then on, what columns take is right
        if bool(done.any()):
            plan = (f[:, :, None] + g[:, None] - scaled + log_a[:, :, None] + log_b[:, None]).exp()
            at = todo[done]
            least[at] = (plan[done] * scaled[done]).sum((1, 2)) * (
                mass[at] * largest[at] * regularization
            )
            if bool(done.all()):
                return least
            rest = ~done
            todo, log_a, log_b, scaled = todo[rest], log_a[rest], log_b[rest], scaled[rest]
            new, g = new[rest], g[rest]
        f = new
        g = -torch.logsumexp(f[:, :, None] - scaled + log_a[:, :, None], 1)
    raise ValueError(
        f"no convergence to tol={tol:g} in max_iter={max_iter} iterations; raise max_iter, tol or "
        "regularization"
    )
