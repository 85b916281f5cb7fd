"""The first eigenvalues and eigenvectors of the Laplacian of one large graph.

The eigenspace of 0 is known: a vector per component. Within its complement, a Lanczos iteration
with thick restarts (Wu and Simon 2000) takes products with the matrix. An iteration from one vector
finds one vector of each eigenspace, until rounding brings others. So its vectors are put aside, and
it begins anew, until nothing smaller is left. Where a factor is sparse, it takes products with the
inverse (_inverse.py). So it does in smaller graphs if it is slow with the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.encodings import _dense, _inverse
from torchcent.graph import Graph
from torchcent.runtime import _small
from torchcent.walks import _matrix

TOLERANCE = 1e-9  # of the length of the residual L u - a u of a vector of length 1, by that of L
_STEPS, _STEPS_OF_INVERSE = 60, 12  # of the basis beyond twice the eigenvectors
_MORE = 4
_MOST_PRODUCTS = 200_000
_FEW_PRODUCTS = 1000  # after which a factor is computed, if it takes seconds:
_MOST_DENSE, _WIDEST = 8192, 1024  # of so many vertices, or with a front of so many
_FLAT = 32  # squares of the front per vertex: a factor is then nearly as sparse as that of a grid


class Laplacian(NamedTuple):
    """The matrix: its entries, a bound of its largest eigenvalue, and its kernel."""

    graph: Graph
    diagonal: Tensor  # [n]
    off: _matrix.Rows  # what is subtracted from it
    bound: float
    null: Tensor  # [n]: the entries of the vectors of the eigenvalue 0; 0 where there is none
    component: Tensor  # [n]
    zeros: int  # the multiplicity of the eigenvalue 0
    unit: float  # a power of two, by which the matrix is divided: squares of its entries are finite

    @classmethod
    def of(cls, graph: Graph, kind: int, isolated: int) -> Laplacian:
        strength = _matrix.strength(graph.weight, graph.rowptr)
        row = _small.repeat_interleave(graph.degree)
        weight = strength.new_ones(graph.num_slots) if graph.weight is None else graph.weight
        unit = 1.0
        if kind == _dense.PLAIN:
            unit = 2.0 ** (math.frexp(float(strength.max()))[1] - 1)
            diagonal, weight = strength / unit, weight / unit
            bound = 2 * float(diagonal.max())
            null = torch.ones_like(strength)
        else:
            entries = strength.sqrt()
            weight = weight / (entries[row] * entries[graph.col.long()])
            diagonal, bound = torch.where(strength > 0, 1.0, isolated).to(strength.dtype), 2.0
            null = torch.where(strength > 0, entries, 1.0 - isolated)
        off = _matrix.Rows(graph.rowptr, graph.col, weight)
        component = graph.components
        size = torch.zeros_like(null).index_add_(0, component, null * null)
        null = null / torch.where(size > 0, size, 1).sqrt()[component]
        zeros = int(torch.unique(component[null > 0]).numel())
        return cls(graph, diagonal, off, bound, null, component, zeros, unit)

    def product(self, x: Tensor) -> Tensor:
        return self.diagonal * x - self.off(x)

    def ground(self) -> Tensor:
        """The first vertex of the largest entry of each vector of the eigenvalue 0."""
        largest = torch.zeros_like(self.null).scatter_reduce_(0, self.component, self.null, "amax")
        vertex = ((self.null > 0) & (self.null == largest[self.component])).nonzero()[:, 0]
        first = torch.full_like(self.component, self.null.numel())
        first.scatter_reduce_(0, self.component[vertex], vertex, "amin")
        return first[first < self.null.numel()]

    def without_null(self, x: Tensor) -> Tensor:
        """The part of x that is orthogonal to the vectors of the eigenvalue 0."""
        if self.zeros == 1:
            return x - _dot(self.null, x) * self.null
        share = torch.zeros_like(x).index_add_(0, self.component, self.null * x)
        return x - share[self.component] * self.null

    def null_vectors(self, most: int) -> Tensor:
        """[vectors, n]: the canonical basis of the eigenvalue 0, at most so many of its vectors."""
        share = self.null * self.null
        largest = torch.zeros_like(share).scatter_reduce_(0, self.component, share, "amax")
        vectors = list[Tensor]()
        while len(vectors) < most and float(largest.max()) > 0:
            is_first = share * (1 + _dense.SAME_SHARE) >= largest.max()
            is_first &= largest[self.component] > 0
            chosen = self.component[int(is_first.int().argmax())]
            vectors.append(torch.where(self.component == chosen, self.null, 0))
            largest[chosen] = 0
        return torch.stack(vectors) if vectors else self.null.new_zeros(0, self.null.numel())


def room(n: int, last: int) -> int:
    """Bytes of the basis of an iteration, and of what is found."""
    return 8 * n * (3 * (last + _MORE) + _STEPS + 8)


def leading(
    graph: Graph, kind: int, isolated: int, last: int, title: str, memory: int | None, whole: bool
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Eigenvalues [last], multiplicities among them, and eigenvectors [n, last], canonical.

    None if `whole` and the last column may cut an eigenspace, or if there are none in reach.
    """
    matrix = Laplacian.of(graph, kind, isolated)
    null = matrix.null_vectors(last)
    values = null.new_zeros(null.shape[0])
    vectors = null
    if null.shape[0] < last:
        # A few more, so that an eigenspace that the last column cuts is complete if it is small.
        wanted = min(last - null.shape[0] + _MORE, graph.num_nodes - matrix.zeros)
        more, states = _smallest(matrix, wanted, title, memory)
        values, vectors = torch.cat([values, more]), torch.cat([null, states])
    space = _dense.spaces(torch.cat([values, values.new_full((1,), matrix.bound)])[None])[:, :-1]
    is_cut = null.shape[0] < last <= values.numel() < graph.num_nodes
    if whole and is_cut and space[0, last - 1] == space[0, -1]:
        return None
    basis = _canonical(vectors.T, space[0])[:, :last]
    multiplicity = _dense.multiplicities(space)[0]
    multiplicity[: null.shape[0]] = matrix.zeros
    values, multiplicity = matrix.unit * values[:last], multiplicity[:last]
    if kind == _dense.WALK:
        strength = _matrix.strength(graph.weight, graph.rowptr)
        basis = basis / torch.where(strength > 0, strength, 1).sqrt()[:, None]
        basis = basis / basis.norm(dim=0)
    return values, multiplicity, basis


def _canonical(vectors: Tensor, space: Tensor) -> Tensor:
    """[n, vectors]: the bases of csrc/dense/canonical.h, of each eigenspace by itself.

    They are the columns of a Cholesky decomposition with pivots of the projection onto it.
    """
    result = torch.empty_like(vectors)
    own, share = vectors, vectors[:, 0]
    for j, first in enumerate(torch.searchsorted(space, space).tolist()):
        if j == first:
            own = vectors[:, space == space[j]]
            share = (own * own).sum(1)
        basis = result[:, first:j]
        pivot = int((share * (1 + _dense.SAME_SHARE) >= share.max()).int().argmax())
        image = own @ own[pivot] - basis @ basis[pivot]
        image = image - basis @ (basis.T @ image)
        result[:, j] = image / image.norm()
        share = share - result[:, j] ** 2
    return result


def _smallest(
    matrix: Laplacian, count: int, title: str, memory: int | None
) -> tuple[Tensor, Tensor]:
    """The smallest eigenvalues but 0, ascending, and their eigenvectors in rows."""
    n = matrix.null.numel()
    front = math.inf  # on other devices there is no sparse factor
    if matrix.null.device.type == "cpu":
        front = _inverse.front(matrix.graph)
    arcs = matrix.off, matrix.diagonal, matrix.ground()
    if front * front <= _FLAT * n:
        pairs = _by_inverse(matrix, count, _inverse.by_sparse_factor(*arcs, front, memory))
        if pairs is not None:
            return pairs
    can_factor = n <= _MOST_DENSE or front <= _WIDEST
    most = min(_FEW_PRODUCTS, _MOST_PRODUCTS) if can_factor else _MOST_PRODUCTS
    pairs = _pairs(matrix, matrix.product, count, most)
    if pairs is None and can_factor:
        if front <= _WIDEST:
            solve = _inverse.by_sparse_factor(*arcs, front, memory)
        else:
            solve = _inverse.by_dense_factor(*arcs, memory)
        pairs = _by_inverse(matrix, count, solve)
        pairs = pairs or _pairs(matrix, matrix.product, count, _MOST_PRODUCTS)
    if pairs is None:
        raise ValueError(
            f"{title} has not found {count} eigenvalues in {_MOST_PRODUCTS} products with "
            f"the matrix of {n} vertices; pass a smaller k, or parts of the graph"
        )
    return pairs


def _by_inverse(
    matrix: Laplacian, count: int, solve: _inverse.Solve | None
) -> tuple[Tensor, Tensor] | None:
    """As _smallest, with the inverse; None if there is none, or it is not precise."""
    if solve is None:
        return None
    pairs = _pairs(matrix, lambda x: -solve(x), count, _FEW_PRODUCTS, is_inverse=True)
    if pairs is None:
        return None
    values, vectors = -1 / pairs[0], pairs[1]
    for value, vector in zip(values, vectors, strict=True):
        residual = (matrix.product(vector) - value * vector).norm()
        if not float(residual) <= TOLERANCE * matrix.bound:
            return None
    return values, vectors


def _pairs(
    matrix: Laplacian, product: Callable[[Tensor], Tensor], count: int, most: int,
    is_inverse: bool = False,
) -> tuple[Tensor, Tensor] | None:  # fmt: skip
    """The smallest eigenvalues of a product in the complement of the kernel of the matrix.

    None if one iteration takes more than `most` products. `is_inverse` says that eigenvalues differ
    in their magnitude, and that each is to be precise by its own.
    """
    n = matrix.null.numel()
    generator = torch.Generator(device="cpu").manual_seed(0)
    values = matrix.null.new_zeros(0)
    vectors = matrix.null.new_zeros(0, n)
    worst, wanted = math.inf, count
    while wanted:
        pairs = _Run(matrix, product, vectors, wanted, worst, most, is_inverse, generator).iterate()
        if pairs is None:
            return None
        more, states = pairs
        values, vectors = torch.cat([values, more]), torch.cat([vectors, states])
        order = values.argsort()[:count]
        values, vectors = values[order], vectors[order]
        # Once there are enough, a further one is looked for, which would have to be smaller.
        wanted = more.numel() if values.numel() < count else min(1, more.numel())
        worst = float(values[-1]) if values.numel() == count else math.inf
    return values, vectors


def _dot(x: Tensor, y: Tensor) -> Tensor:
    """On the CPU MKL's product of two vectors wakes all threads for a few numbers."""
    return (x * y).sum()


class _Run(NamedTuple):
    """An iteration for some eigenvalues below a bound, in the complement of what is put aside."""

    matrix: Laplacian
    product: Callable[[Tensor], Tensor]
    aside: Tensor  # [vectors, n]
    wanted: int
    below: float
    most: int  # products
    is_inverse: bool
    generator: torch.Generator

    def start(self, basis: Tensor) -> Tensor | None:
        """A random vector of length 1 outside of the basis; None if that spans the complement."""
        n = basis.shape[1]
        new = torch.randn(n, generator=self.generator, dtype=torch.float64, device="cpu")
        new = self.orthogonal(new.to(basis.device), basis)
        length = float(new.norm())
        new = self.orthogonal(new, basis)
        return new / new.norm() if float(new.norm()) > 0.5 * length > 1e-10 * n**0.5 else None

    def orthogonal(self, x: Tensor, basis: Tensor) -> Tensor:
        x = self.matrix.without_null(x)
        if self.aside.shape[0]:
            x = x - self.aside.T @ (self.aside @ x)
        return x - basis.T @ (basis @ x)

    def tolerance(self, values: Tensor) -> Tensor:
        """Of the residual of each eigenvalue."""
        return TOLERANCE * (
            values.abs() if self.is_inverse else values.new_tensor(self.matrix.bound)
        )

    def iterate(self) -> tuple[Tensor, Tensor] | None:
        """The eigenvalues, ascending, and their vectors in rows; none if the first is not below."""
        count, n = self.wanted, self.matrix.null.numel()
        steps = _STEPS_OF_INVERSE if self.is_inverse else _STEPS
        steps = min(2 * count + steps, n - self.aside.shape[0])
        basis = self.matrix.null.new_empty(steps + 1, n)
        small = basis.new_zeros(steps, steps)  # the matrix in terms of the basis
        start = self.start(basis[:0])
        if start is None:
            return basis[0, :0], basis[:0]
        basis[0] = start
        known = products = 0
        rest, bound = 0.0, self.matrix.bound
        while True:
            for j in range(known, steps):
                image = self.product(basis[j])
                products += 1
                along = _dot(basis[j], image)
                small[j, j] = along
                image -= along * basis[j]
                if j > known:
                    image -= rest * basis[j - 1]
                image = self.orthogonal(image, basis[: j + 1])
                rest = float(image.norm())
                if not math.isfinite(rest):  # a factor that is nearly singular
                    return None
                scale = float(small.diagonal().abs().max()) if self.is_inverse else bound
                if rest <= 1e-3 * scale:  # what is left has lost digits
                    image = self.orthogonal(image, basis[: j + 1])
                    rest = float(image.norm())
                if rest > 1e-14 * scale:
                    basis[j + 1] = image / rest
                else:  # the basis spans an invariant space, to which another is added
                    rest = 0.0
                    new = self.start(basis[: j + 1])
                    if new is None:
                        steps = j + 1
                        break
                    basis[j + 1] = new
                if j + 1 < steps:
                    small[j, j + 1] = small[j + 1, j] = rest
            values, states = _small.eigen(small[:steps, :steps].cpu())
            residual = rest * states[-1].abs()
            enough = min(count, steps)
            if float(values[0] - residual[0]) > self.below:
                return basis[0, :0], basis[:0]
            margin = self.tolerance(values[:enough])
            if rest == 0 or bool((residual[:enough] <= margin).all()):
                values, states = values.to(basis.device), states.to(basis.device)
                is_new = values[:enough] < self.below - margin.to(basis.device)
                return values[:enough][is_new], (states[:, :enough].T @ basis[:steps])[is_new]
            if products >= self.most:
                return None
            known = min(count + (steps - count) // 2, steps - 1)
            states = states.to(basis.device)
            basis[:known] = states[:, :known].T @ basis[:steps]
            basis[known] = basis[steps]
            small.zero_()
            small.diagonal()[:known] = values[:known].to(basis.device)
            small[known, :known] = small[:known, known] = rest * states[-1, :known]
