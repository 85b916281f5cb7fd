"""Transitive closure of an acyclic graph with NumPy: the fallback for closure.cpp."""

import numpy as np
from torch import Tensor


def closure(
    rowptr: Tensor, col: Tensor, size: Tensor, sinks: int, columns: int, words: Tensor,
    reached: Tensor,
) -> None:  # fmt: skip
    """Fills words [rows, ceil(columns / 64)] with bits for the vertices that each vertex reaches.

    Every arc leads to a smaller number, so a row is the OR of rows above it. The first `sinks`
    vertices have no arcs and no row. `reached` receives the sum of `size` over the vertices that a
    vertex reaches.
    """
    pointers, heads, sizes = rowptr.numpy(), col.numpy(), size.numpy()[:columns]
    vertices = rowptr.numel() - 1
    rows = words.numpy().view(np.uint64).reshape(vertices - sinks, -(-columns // 64))
    for vertex in range(sinks, vertices):
        row = rows[vertex - sinks]
        head = heads[pointers[vertex] : pointers[vertex + 1]]
        np.bitwise_or.reduce(rows[head[head >= sinks] - sinks], axis=0, out=row)
        column = head[head < columns]
        np.bitwise_or.at(row, column // 64, np.uint64(1) << (column % 64).astype(np.uint64))
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[:columns]
        reached.numpy()[vertex] = sizes[bits.view(bool)].sum()
