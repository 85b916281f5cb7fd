"""Decompositions by dense matrices of PyTorch: on devices without kernels, and of larger graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _batch
from torchcent.runtime import _ops, _small
from torchcent.runtime._codes import control
from torchcent.walks import _matrix
from torchcent.walks._matrix import Numbers, Part

BYTES = 2**27  # of the matrices that are decomposed together
LARGEST = 512  # vertices of graphs that compiled code decomposes
PLAIN, SYMMETRIC, WALK = 0, 1, 2  # kinds of Laplacians (csrc/dense/laplacian.h)
SAME_VALUE, SAME_SHARE = 1e-10, 1e-6  # as in csrc/dense/canonical.h


class Solved(NamedTuple):
    """Graphs of one size that are decomposed together.

    Attributes:
        number: their numbers in the batch.
        rows: int64 [count, size], their vertices.
        strength: float64 [count, size].
        values: float64 [count, size], ascending.
        vectors: float64 [count, size, size], in columns; of the symmetric form for WALK.
    """

    number: Tensor
    rows: Tensor
    strength: Tensor
    values: Tensor
    vectors: Tensor


def decomposed(graph: Graph, numbers: Numbers, kind: int, isolated: int) -> Iterator[Solved]:
    """All eigenvalues and eigenvectors of these graphs."""
    strength = _matrix.strength(graph.weight, graph.rowptr)
    sizes = _batch.counts(graph)[0][numbers]
    for size, some in _matrix.alike(numbers, sizes, BYTES // (4 * 8)):
        number = torch.from_numpy(some).to(graph.device)
        rows = _batch.ends(graph)[number][:, None] + torch.arange(size, device=graph.device)
        if size <= LARGEST and _has_kernel(graph):
            values, vectors = _in_kernel(graph, number, size, min(kind, SYMMETRIC), isolated)
        else:
            values, vectors = torch.linalg.eigh(_laplacians(graph, some, size, kind, isolated))
        yield Solved(number, rows, strength[rows], values, vectors.contiguous())


def classes(sizes: Numbers) -> list[int]:
    """Runs of graphs of about one size, for CUDA: the end of each, and its largest size.

    The memory of a multiprocessor holds as many matrices at a time as fit at this size.
    """
    ends = np.flatnonzero(np.diff((sizes + 3) // 4, append=-1)) + 1
    return np.stack([ends, sizes[ends - 1]], 1).flatten().tolist()


def _has_kernel(graph: Graph) -> bool:
    return graph.device.type == "cuda" and _ops.has_kernel("laplacian_eigen", graph.device)


def _in_kernel(
    graph: Graph, number: Tensor, size: int, kind: int, isolated: int
) -> tuple[Tensor, Tensor]:
    """All eigenvalues and eigenvectors of graphs of one size."""
    values = graph.rowptr.new_empty(number.numel(), size, dtype=torch.float64)
    multiplicity, vectors = number.new_empty(values.shape), values.new_empty(values.numel(), size)
    arcs = (graph.rowptr, graph.col, graph.weight, _batch.ends(graph), number)
    _ops.ops.laplacian_eigen(
        *arcs, [kind, isolated, 0, 1], [number.numel(), size], values, multiplicity, vectors,
        control(), 1,
    )  # fmt: skip
    return values, vectors.view(-1, size, size)


def _laplacians(graph: Graph, numbers: Numbers, size: int, kind: int, isolated: int) -> Tensor:
    """float64 [count, size, size]: the matrices of graphs of one size."""
    strength = _matrix.strength(graph.weight, graph.rowptr)
    row = _small.repeat_interleave(graph.degree)
    weight = strength.new_ones(()) if graph.weight is None else graph.weight
    off = -weight.expand(graph.num_slots)
    if kind != PLAIN:
        # Two roots: the product of the strengths may overflow.
        off = off / (strength[row].sqrt() * strength[graph.col.long()].sqrt())
    diagonal = strength if kind == PLAIN else torch.where(strength > 0, 1.0, float(isolated))
    part = Part.of(graph, numbers)
    matrices = part.matrices(graph.rowptr, graph.col, off, size)
    matrices.diagonal(dim1=1, dim2=2).copy_(diagonal[part.vertex].view(-1, size))
    return matrices


def zeros(graph: Graph) -> Tensor:
    """int64 [num_graphs]: the components of each graph, the multiplicity of its eigenvalue 0."""
    label = graph.components  # in the order of the lowest vertices
    before = torch.cat([label.new_full((1,), -1), label.cummax(0).values[:-1]])
    return _batch.total(graph, (label > before).double()).long()


def spaces(values: Tensor) -> Tensor:
    """int64 [count, size]: the number of the eigenspace of each rank, from 0."""
    most = values[:, [0, -1]].abs().amax(1, keepdim=True)
    return torch.nn.functional.pad(
        (values.diff(dim=1) > SAME_VALUE * most).long().cumsum(1), (1, 0)
    )


def multiplicities(space: Tensor) -> Tensor:
    """That of the eigenvalue of each rank."""
    return torch.zeros_like(space).scatter_add_(1, space, torch.ones_like(space)).gather(1, space)


def canonical(vectors: Tensor, space: Tensor, last: int) -> Tensor:
    """The first vectors of bases of the eigenspaces that do not depend on the solver: see
    csrc/dense/canonical.h."""
    # In this order, a sum does not depend on how many matrices there are.
    vectors = vectors.clone(memory_format=torch.contiguous_format)
    rank = torch.arange(vectors.shape[2], device=vectors.device)
    each = torch.arange(vectors.shape[0], device=vectors.device)
    for j in range(last):
        left = (space == space[:, j : j + 1]) & (rank >= j)
        part = torch.where(left[:, None, :], vectors, 0)
        share = (part * part.conj()).real.sum(2)
        pivot = (share * (1 + SAME_SHARE) >= share.amax(1, keepdim=True)).int().argmax(1)
        along = part[each, pivot].conj()  # the unit vector of the pivot, in terms of the basis
        length = share[each, pivot].sqrt()
        image = (part * along[:, None, :]).sum(2) / length[:, None]  # its projection, normalised
        # Householder's reflection of the basis, by which the projection becomes its first vector.
        phase = torch.where(along[:, j].abs() > 0, along[:, j].sgn(), 1)
        along[:, j] += phase * length
        half = length * along[:, j].abs()  # of its squared length
        product = (part * along[:, None, :]).sum(2) / half[:, None]
        vectors -= product[:, :, None] * along.conj()[:, None, :]
        vectors[:, :, j] = image
    return vectors[:, :, :last]


def per_walk(solved: Solved, vectors: Tensor) -> Tensor:
    """The eigenvectors of I - P of those of the symmetric form."""
    root = torch.where(solved.strength > 0, solved.strength, 1).sqrt()
    divided = vectors / root[:, :, None]
    return divided / (divided * divided).sum(1, keepdim=True).sqrt()


def leading(
    graph: Graph, numbers: Numbers, kind: int, isolated: int, skip: int, out: tuple[Tensor, ...],
    in_canonical_bases: bool,
) -> None:  # fmt: skip
    """Fills the values, multiplicities and vectors of these graphs from rank `skip` on."""
    values, multiplicity, vectors = out
    for solved in decomposed(graph, numbers, kind, isolated):
        space = spaces(solved.values)
        columns = slice(skip, min(skip + values.shape[1], space.shape[1]))
        width = max(0, columns.stop - skip)
        first, last = solved.values[:, 0], solved.values[:, -1]
        is_zero = (space == 0) & (first.abs() <= SAME_VALUE * last.abs())[:, None]
        values[solved.number, :width] = torch.where(is_zero, 0, solved.values)[:, columns]
        multiplicity[solved.number, :width] = multiplicities(space)[:, columns]
        if vectors.shape[0]:
            basis = solved.vectors[:, :, : columns.stop]
            if in_canonical_bases:
                basis = canonical(solved.vectors, space, columns.stop)
            basis = per_walk(solved, basis) if kind == WALK else basis
            rows = basis[:, :, columns].flatten(0, 1).to(vectors.dtype)
            vectors[solved.rows.flatten(), :width] = rows


def sums(
    graph: Graph, numbers: Numbers, kind: int, function: str, times: Tensor, nontrivial: bool,
    out: Tensor,
) -> None:  # fmt: skip
    """Fills `out` with a function of the spectra of these graphs, as the operator does."""
    count = zeros(graph)
    label = graph.components
    for solved in decomposed(graph, numbers, kind, 0):
        size = solved.values.shape[1]
        rank = torch.arange(size, device=graph.device)
        is_zero = rank < count[solved.number][:, None]
        values = torch.where(is_zero, 0, solved.values)
        part = out if out.dim() == 2 else out[:, :size, :size]
        if function == "density":
            squares = torch.where(is_zero & nontrivial, 0, 1)[:, None, :] * solved.vectors**2
            place = torch.bucketize(values, times[:-1])
            shares = squares.new_zeros(*squares.shape[:2], times.numel())
            for j in range(size):  # one after the other, so that sums have an order
                at = place[:, None, j : j + 1].expand(-1, size, 1)
                shares.scatter_add_(2, at, squares[:, :, j : j + 1])
            part[solved.rows.flatten()] = shares.flatten(0, 1)
        elif function == "heat":
            for c, t in enumerate(times.tolist()):
                factor = torch.where(is_zero & nontrivial, 0, (-t * values).exp())
                if out.dim() == 2:
                    diagonal = _added(solved.vectors**2 * factor[:, None, :])
                    part[solved.rows.flatten(), c] = diagonal.flatten()
                else:
                    part[solved.number, :, :, c] = _matrix_of(solved.vectors, factor)
        else:
            inverse = _matrix_of(solved.vectors, torch.where(is_zero, 0, 1 / values))
            if function == "electrostatic":
                part[solved.rows.flatten()] = _electrostatic(graph, solved, inverse).flatten(0, 1)
            else:
                part[solved.number, :, :, 0] = _derived(function, solved, inverse, label)


def _added(terms: Tensor) -> Tensor:
    """Sums over the last dimension, of bits that do not depend on how many there are of them."""
    total = torch.zeros_like(terms[..., 0])
    for j in range(terms.shape[-1]):
        total = total + terms[..., j]
    return total


def _matrix_of(vectors: Tensor, factor: Tensor) -> Tensor:
    """sum f v v^T of each graph."""
    if vectors.shape[2] > LARGEST:  # one after the other, so that bits do not depend on others
        return torch.stack([(own * f) @ own.T for own, f in zip(vectors, factor, strict=True)])
    total = torch.zeros_like(vectors)
    for j in range(vectors.shape[2]):
        column = vectors[:, :, j]
        total.addcmul_((factor[:, j, None] * column)[:, :, None], column[:, None, :])
    return total


def _derived(function: str, solved: Solved, inverse: Tensor, label: Tensor) -> Tensor:
    """What a function says of the pairs of each graph."""
    if function == "inverse":
        return inverse
    label = label[solved.rows]
    together = label[:, :, None] == label[:, None, :]
    strength = torch.where(together, solved.strength[:, None, :], 0)
    volume = _added(strength)[:, :, None]
    own = inverse.diagonal(dim1=1, dim2=2)
    if function == "hitting":
        total = _added(strength * inverse)
        pairs = total[:, :, None] - total[:, None, :] + volume * (own[:, None, :] - inverse)
    else:
        pairs = own[:, :, None] + own[:, None, :] - 2 * inverse
        pairs = volume * pairs if function == "commute" else pairs
    pairs.diagonal(dim1=1, dim2=2).zero_()
    return torch.where(together, pairs, torch.inf)


def _electrostatic(graph: Graph, solved: Solved, inverse: Tensor) -> Tensor:
    """float64 [count, size, 7]: see csrc/dense/laplacian.h."""
    count, size = solved.rows.shape
    potential = inverse - inverse.diagonal(dim1=1, dim2=2)[:, None, :]
    weight = (
        torch.ones_like(graph.col, dtype=torch.float64) if graph.weight is None else graph.weight
    )
    part = Part.of(graph, solved.number.cpu().numpy())
    arcs = part.matrices(graph.rowptr, graph.col, weight, size)
    share = arcs / torch.where(solved.strength > 0, solved.strength, 1)[:, :, None]
    to, back = potential.mT, potential  # of a vertex, and at it
    columns = [to.amin(2), _added(to) / size, _deviation(to), back.amin(2), _deviation(back)]
    columns += [_added((share * potential).mT), _added(share * potential)]
    result = torch.stack(columns, 2)
    has_arcs = solved.strength.amax(1) > 0 if size else solved.strength.new_zeros(count)
    return torch.where(has_arcs[:, None, None] > 0, result, 0)


def _deviation(terms: Tensor) -> Tensor:
    size = terms.shape[2]
    difference = terms - (_added(terms) / size)[:, :, None]
    return (_added(difference * difference) / max(1, size - 1)).sqrt()


def magnetic(graph: Graph, q: float, symmetric: bool, out: tuple[Tensor, ...]) -> None:
    """Fills the values, multiplicities and vectors of the magnetic Laplacians of all graphs."""
    values, multiplicity, vectors = out
    sizes = _batch.counts(graph)[0]
    numbers = np.flatnonzero(sizes > 0)
    weight = (
        torch.ones_like(graph.col, dtype=torch.float64) if graph.weight is None else graph.weight
    )
    for size, some in _matrix.alike(numbers, sizes[numbers], BYTES // (8 * 8)):
        part = Part.of(graph, some)
        arcs = part.matrices(graph.rowptr, graph.col, weight, size)
        both = (arcs + arcs.mT) / 2
        strength = _added(both)
        turn = 2 * math.pi * q * ((arcs > 0).double() - (arcs.mT > 0).double())
        matrices = -both * torch.polar(torch.ones_like(turn), turn)
        if symmetric:
            root = torch.where(strength > 0, 1 / strength.sqrt(), 0)
            matrices = matrices * (root[:, :, None] * root[:, None, :])
        diagonal = (strength > 0).double() if symmetric else strength
        matrices.diagonal(dim1=1, dim2=2).copy_(diagonal)
        spectrum, basis = torch.linalg.eigh(matrices)
        space, place = spaces(spectrum), torch.from_numpy(some).to(graph.device)
        width = min(values.shape[1], size)
        values[place, :width] = spectrum[:, :width]
        multiplicity[place, :width] = multiplicities(space)[:, :width]
        basis = canonical(basis, space, width)
        vectors[part.vertex, :width] = basis.flatten(0, 1)
