"""Connected components: compiled, or by SciPy."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops


def components(rowptr: Tensor, col: Tensor, symmetric: bool) -> Tensor:
    """int64 [n]: label of the (weakly) connected component of each vertex.

    Labels count from 0, in the order of the smallest vertices. `symmetric` says that each arc has
    its reverse.
    """
    if _ops.has_kernel("components", rowptr.device):
        labels: Tensor = _ops.ops.components(rowptr, col, symmetric, torch.get_num_threads())
        return labels
    import scipy.sparse.csgraph

    ones, size = np.ones(col.numel(), np.int8), rowptr.numel() - 1
    matrix = scipy.sparse.csr_array((ones, col.cpu().numpy(), rowptr.cpu().numpy()), (size, size))
    _, label = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    return torch.from_numpy(label.astype(np.int64)).to(rowptr.device)
