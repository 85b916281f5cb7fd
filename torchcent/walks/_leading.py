"""Leading eigenvectors and singular vectors, each graph of a batch by the method that suits it.

Small symmetric matrices are solved densely, those of one size together. Others are multiplied with
vectors on the device of the graph, and if that converges slowly, solved by their components on the
host (_perron), where a factorization is affordable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _batch
from torchcent.runtime import _ops, _small
from torchcent.walks import _lanczos, _matrix
from torchcent.walks._matrix import Part, Product

_SMALL, _SMALL_IN_KERNEL = 32, 64  # vertices up to which symmetric matrices are dense
_STEP = 8  # of the widths of these matrices
_FIRST = 100  # products after which another method is considered
_EQUAL = 1e-13  # eigenvalues that are one to the dense method, relative
_TOGETHER = 2**25  # bytes of dense matrices
_OF_VALUE, _PRODUCTS = 1e-5, 64  # angle to the vector, and products, for the eigenvalue alone
_NEAR = 1e-3  # relative error of a leading eigenvalue and its vector that are only checked
_MOST_SEARCHED = 2**22  # arcs up to which directed cycles are looked for beforehand


def _most_dense(graph: Graph) -> int:
    in_kernel = _ops.has_kernel("symmetric_eigen", graph.device)
    return _SMALL_IN_KERNEL if in_kernel else _SMALL


def vectors(graph: Graph, tol: float, max_iter: int, square: bool = False) -> Tensor:
    """The projection of the vector of ones of each graph on its leading eigenvectors, normalised:
    float64 [n]; with `square` on those of A times its transpose, which are hubs."""
    graph = _scaled(graph)
    rows = _matrix.push(graph) if square else _matrix.pull(graph)
    vectors = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    weight = vectors.new_ones(rows.col.numel()) if rows.weight is None else rows.weight
    size, most = _batch.counts(graph)[0], _most_dense(graph)
    small = np.flatnonzero((size > 0) & (size <= most))
    others = [np.flatnonzero(size > most)]
    widths = -(-size[small] // _STEP) * _STEP
    for width, numbers in _matrix.alike(small, widths, _TOGETHER // 8):
        part = Part.of(graph, numbers)
        # Padded, so that the bits of a matrix do not depend on its place in memory.
        matrix = part.matrices(rows.rowptr, rows.col, weight, width)
        symmetric = (matrix == matrix.mT).flatten(1).all(1)
        there = torch.arange(width, device=graph.device) < part.size[:, None]
        if bool(symmetric.all()):
            projections = _projections(matrix, there, square)
        else:
            projections = vectors.new_zeros(there.shape)
            if square:
                squares = _square(matrix[~symmetric])
                projections[~symmetric] = _projections(squares, there[~symmetric], False)
            else:
                others.append(numbers[~symmetric.cpu().numpy()])
            if bool(symmetric.any()):
                own = matrix[symmetric], there[symmetric]
                projections[symmetric] = _projections(*own, square)
        vectors[part.vertex] = projections[there]
    alone = _hubs if square else _eigenvector
    for number in np.sort(np.concatenate(others)).tolist():
        own_vector = alone(_batch.part(graph, number), tol, max_iter)
        vectors[_batch.run(graph, number)[0]] = own_vector
    return vectors


def values(graph: Graph) -> Tensor:
    """The largest eigenvalue of each graph, float64 [num_graphs]; 0 if there is no cycle."""
    scale = torch.ones(graph.num_graphs, dtype=torch.float64, device=graph.device)
    if graph.weight is not None and graph.num_slots:
        scale = _matrix.largest_weights(graph, graph.weight)
        scale = torch.where(scale > 0, scale, 1)
    rows, size = _matrix.pull(_scaled(graph)), _batch.counts(graph)[0]
    most = _most_dense(graph)
    largest = torch.zeros_like(scale)
    weight = scale.new_ones(rows.col.numel()) if rows.weight is None else rows.weight
    small = np.flatnonzero((size > 0) & (size <= most))
    others = [np.flatnonzero(size > most)]
    for width, numbers in _matrix.alike(small, -(-size[small] // _STEP) * _STEP, _TOGETHER // 8):
        matrix = Part.of(graph, numbers).matrices(rows.rowptr, rows.col, weight, width)
        symmetric = (matrix == matrix.mT).flatten(1).all(1)
        others.append(numbers[~symmetric.cpu().numpy()])
        if bool(symmetric.any()):
            ids = torch.from_numpy(numbers).to(graph.device)[symmetric]
            largest[ids] = _small.eigenvalues(matrix[symmetric])[:, -1].clamp_(min=0)
    unit = torch.from_numpy(np.ldexp(1.0, np.frexp(scale.cpu().numpy())[1] - 1)).to(graph.device)
    largest = largest if graph.weight is None else largest * unit
    for number in np.sort(np.concatenate(others)).tolist():
        largest[number] = _value(_batch.part(graph, number))
    return largest


def _value(graph: Graph) -> float:
    """That of one graph. Products that do not suffice give an estimate."""
    pull = _matrix.pull(graph)
    if graph.num_slots and graph.is_symmetric:
        try:
            return _lanczos.leading(pull, _ones(graph), _OF_VALUE, _PRODUCTS)[0]
        except _lanczos.Slow as error:
            return float(error.args[0])
    from torchcent.walks import _perron

    return _perron.largest(pull.to_scipy()) if graph.num_slots else 0.0


def _scaled(graph: Graph) -> Graph:
    """The graph with weights whose largest, in each graph of a batch, is in [1, 2). Eigenvectors
    are the same. Without it, squares of weights would leave float64, and eigenvalues far below 1
    could not be told apart beside the numbers that are added here. The factors are powers of two;
    there are two of them, because one may be beyond float64."""
    if graph.weight is None or not graph.num_slots:
        return graph
    largest = _matrix.largest_weights(graph, graph.weight).cpu().numpy()
    exponent = 1 - np.frexp(largest)[1].astype(np.int64)
    if not exponent.any():
        return graph
    weight = graph.weight
    for part in (exponent // 2, exponent - exponent // 2):
        factor = torch.from_numpy(np.ldexp(1.0, part)).to(graph.device)
        if graph.ptr is not None:
            factor = _small.repeat_interleave(_batch.per_vertex(graph, factor), graph.degree)
        weight = weight * factor
    graph.transpose  # noqa: B018  (is kept with the graph that was given)
    return graph._with(weight=weight)


def _square(matrix: Tensor) -> Tensor:
    """A times its transpose, with the same bits in any batch."""
    square = torch.zeros_like(matrix)
    for k in range(matrix.shape[1]):
        square.addcmul_(matrix[:, :, k, None], matrix[:, None, :, k])
    return square


def _projections(matrix: Tensor, there: Tensor, either_sign: bool) -> Tensor:
    """Of the vector of ones on the leading eigenspace of each matrix, normalised. With
    `either_sign` the eigenvalues of the largest amount count, as those of the square. The
    eigenvalues of what is added to a matrix are 0 then, otherwise -1, and no largest one is below
    0. Where they are equal to the largest, the added vertices have no share in the projection."""
    count = len(matrix)
    if not either_sign:
        matrix.diagonal(dim1=1, dim2=2).sub_((~there).double())
    if matrix.is_cuda and count == 1:  # another solver is used for one matrix
        matrix, there = matrix.repeat(2, 1, 1), there.repeat(2, 1)
    values, states = _small.eigen(matrix)
    most = values.abs().amax(1, keepdim=True)
    leading = (values.abs() if either_sign else values) >= (
        (most if either_sign else values[:, -1:]) - _EQUAL * most
    )
    along = (states * there[:, :, None]).sum(1) * leading
    vectors = (states * along[:, None, :]).sum(2).clamp_(min=0) * there
    vectors /= (vectors * vectors).sum(1, keepdim=True).sqrt()
    first: Tensor = vectors[:count]
    return first


def _ones(graph: Graph) -> Tensor:
    return torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)


def _eigenvector(graph: Graph, tol: float, max_iter: int) -> Tensor:
    pull, ones = _matrix.pull(graph), _ones(graph)
    if not graph.num_slots:
        return ones / math.sqrt(graph.num_nodes)
    if not graph.is_symmetric:
        return _directed(pull, ones, tol, max_iter)
    return _symmetric(pull, ones, tol, max_iter, pull.to_scipy)


def _hubs(graph: Graph, tol: float, max_iter: int) -> Tensor:
    push, pull, ones = _matrix.push(graph), _matrix.pull(graph), _ones(graph)
    if not graph.num_slots:
        return ones / math.sqrt(graph.num_nodes)

    def both() -> Any:
        """The matrix of hubs, then authorities, of twice the vertices."""
        import scipy.sparse

        matrix = push.to_scipy()
        return scipy.sparse.block_array([[None, matrix], [matrix.T, None]], format="csr")

    return _symmetric(lambda x: push(pull(x)), ones, tol, max_iter, both)


def _symmetric(
    product: Product, start: Tensor, tol: float, max_iter: int, matrix: Callable[[], Any]
) -> Tensor:
    """`matrix`: for a factorization, if products converge slowly."""
    for most in sorted({min(max_iter, _FIRST), max_iter}):
        if most > _FIRST:
            vector = _resolved(matrix(), start, tol, True)
            if vector is not None:
                return vector
        try:
            return _lanczos.leading(product, start, tol, most)[1].clamp_(min=0)
        except _lanczos.Slow:
            pass
    raise ValueError(
        f"no convergence to tol={tol:g} in max_iter={max_iter} products: the two largest "
        "eigenvalues are too close; raise max_iter or tol"
    )


def _resolved(matrix: Any, ones: Tensor, tol: float, symmetric: bool) -> Tensor | None:
    """By factorizations, from ones: as many entries, the first ones; None if not affordable."""
    from torchcent.walks import _perron

    n = ones.numel()
    try:
        start = (np.arange(matrix.shape[0]) < n).astype(np.float64)
        vector = _perron.limit(matrix, start, tol, symmetric)
    except _perron.Unresolved as error:
        raise ValueError(
            f"tol={tol:g} is below the error that rounding leaves in this graph, whose largest "
            f"eigenvalues are too close, about {error.args[0]:.1g}; raise tol"
        ) from None
    except _perron.Defective:
        raise ValueError(
            "edge_index has no eigenvector centrality to tol that can be reached: strong "
            "components with the same largest eigenvalue lead to each other, so that the "
            "power method converges like 1 / k; accepted: other graphs, or directed=False"
        ) from None
    if vector is None:
        return None
    if vector.size > n:
        vector = vector[:n] / np.sqrt((vector[:n] ** 2).sum())
    return torch.from_numpy(vector).to(ones.device)


def _directed(pull: _matrix.Rows, start: Tensor, tol: float, max_iter: int) -> Tensor:
    """By power iteration of A + 1, with weights A + s for s near the largest eigenvalue, or by
    components if that is slow."""
    from torchcent.walks import _perron

    is_small = pull.col.numel() <= _MOST_SEARCHED
    if is_small:
        _need_cycle(pull.to_scipy())
    x: Tensor = start / _lanczos.norm(start)
    last, shift, low = torch.inf, 1.0, 0.0
    # x, added to much smaller numbers, would hardly change.
    if is_small and pull.weight is not None:
        low, high = _perron.bounds(pull.to_scipy(), 0.0)
        shift = 2.0 ** (math.frexp(high)[1] - 1)
    for step in range(max_iter):
        if step == _FIRST:
            matrix = pull.to_scipy()
            if not is_small:
                _need_cycle(matrix)
            vector = _resolved(matrix, start, tol, False)
            if vector is not None:
                return vector
        new = pull(x) + shift * x
        new = new / _lanczos.norm(new)
        change = float(_lanczos.norm(new - x))
        x, ratio, last = new, change / last if last else 0.0, change
        slows_down = 0 < ratio < 1 and change * ratio / (1 - ratio) <= tol
        if (change == 0 or slows_down) and _is_leading(pull, x, low):
            return x
    raise ValueError(
        f"no convergence to tol={tol:g} in max_iter={max_iter} iterations; raise max_iter or tol"
    )


def _is_leading(pull: _matrix.Rows, x: Tensor, low: float) -> bool:
    """Whether a normalised x is nearly an eigenvector, of an eigenvalue that is not below `low`.

    What heavy arcs bring from outside of the cycles may outweigh the leading eigenvector for many
    steps, in which x hardly changes.
    """
    image = pull(x)
    value = _lanczos.norm(image)
    return float(value) >= (1 - _NEAR) * low and float(_lanczos.norm(image / value - x)) <= _NEAR


def _need_cycle(matrix: Any) -> None:
    import scipy.sparse.csgraph

    count, _ = scipy.sparse.csgraph.connected_components(matrix, True, "strong")
    if count == matrix.shape[0] and not matrix.diagonal().any():
        raise ValueError(
            "edge_index has no directed cycle, so that the largest eigenvalue of the graph is 0; "
            "accepted: graphs with one, or directed=False"
        )
