"""Closed walks by sparse rows of powers: work in proportion to what is within reach of a vertex.

(M^(i + j))[v, v] is the product of row v of M^i and column v of M^j, so that rows of half of the
steps are enough. This runs on the host, in one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.float64]
_Vertices = NDArray[np.int64]
_Matrix = Any  # scipy.sparse.csr_array

_SAMPLE = 32  # rows from which the work of all is estimated
_ENTRIES = 2**20  # of the rows of a block; one row may have more
BYTES = 6 * 12 * _ENTRIES  # at most, of several blocks at once


def work(matrix: _Matrix, rows: _Vertices, steps: int, most: float) -> float:
    """The multiplications for `steps` steps from these vertices, estimated from some of them;
    infinite if they are more than `most`."""
    at = np.linspace(0, rows.size - 1, min(rows.size, _SAMPLE)).astype(np.int64)
    sample = rows[np.unique(at)]
    degree, state = np.diff(matrix.indptr), matrix[sample]
    count = float(state.nnz)
    for _ in range(1, (steps + 1) // 2):
        count += float(degree[state.indices].sum())
        if not count * rows.size <= most * sample.size:
            return np.inf
        state = state @ matrix
    return count * rows.size / sample.size


def closed_walks(matrix: _Matrix, back: _Matrix | None, rows: _Vertices, steps: int) -> _Numbers:
    """[rows, steps]: entries of the diagonals of the powers 1, 2, ...; `back` is the transpose of a
    matrix that is not symmetric."""
    walks = np.zeros((rows.size, steps))
    size, begin = max(1, rows.size // 8), 0
    while begin < rows.size:
        block = slice(begin, min(begin + size, rows.size))
        if _of_rows(matrix, back, rows[block], walks[block]):
            begin = block.stop
            size *= 2
        else:
            size = max(1, (block.stop - begin) // 4)
    return walks


def _of_rows(matrix: _Matrix, back: _Matrix | None, rows: _Vertices, walks: _Numbers) -> bool:
    """False if the rows have too many entries."""
    import scipy.sparse

    ends = np.arange(rows.size + 1)
    ahead = scipy.sparse.csr_array(
        (np.ones(rows.size), rows, ends), shape=(rows.size, matrix.shape[0])
    )
    behind = ahead  # rows of powers of the transpose
    for step in range(1, walks.shape[1] + 1):
        if step % 2:
            new = _onward(ahead, matrix)
            before, ahead = ahead, new
            behind = before if back is None else behind
        else:
            behind = ahead if back is None else _onward(behind, back)
        if ahead is None or behind is None:
            return False
        walks[:, step - 1] = ahead.multiply(behind).sum(1)
    return True


def _onward(rows: _Matrix, matrix: _Matrix) -> _Matrix | None:
    """The product; None if it may have too many entries."""
    most = int(np.diff(matrix.indptr)[rows.indices].sum(dtype=np.int64))
    return None if most > _ENTRIES and rows.shape[0] > 1 else rows @ matrix
