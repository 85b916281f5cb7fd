"""Operators for use inside models: torch.compile captures them without a graph break.

Each function is that of the same name in torchcent, for an edge_index, as a single operator. All
measures of vertices, edges and groups are here, node_features, and encodings of all pairs of a
graph as matrices. `num_nodes` must be given, since it determines the shape of the result before
anything is computed; usually it is ``x.shape[0]``.
`sources`, `targets` and other sets of vertices are tensors, and there is one cutoff at most.

The values are the same, also with ``fullgraph=True`` and dynamic shapes. On CUDA the operator runs
on the current stream. **No gradient flows**: scores are not a differentiable function of
edge_index, nor of the weights (they jump where two paths become equally short). They enter a model
as constants; everything computed from them is differentiated as usual. A weight that requires grad
is an error while gradients are enabled: pass ``edge_weight.detach()``.

Example:
    >>> import torch
    >>> import torchcent.functional as F
    >>> star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    >>> F.betweenness(star, num_nodes=4)  # within torch.compile(..., fullgraph=True), too
    tensor([1., 0., 0., 0.])
    >>> def with_scores(x, edge_index):
    ...     scores = F.node_features(edge_index, num_nodes=x.shape[0], measures=["betweenness"])
    ...     return torch.cat([x, scores], dim=1)
    >>> with_scores(torch.ones(4, 1), star)
    tensor([[1., 1.],
            [1., 0.],
            [1., 0.],
            [1., 0.]])
"""

from torchcent.engines.measures._measures import MEASURES
from torchcent.functional._calls import function_of, is_here
from torchcent.functional._encodings import shortest_path_encoding
from torchcent.functional._pairs import heat_kernel_pairs, random_walk_pairs, resistance_pairs

# torchcent/__init__.py has imported all modules that declare measures.
_HERE = {name: function_of(each) for name, each in MEASURES.items() if is_here(each)}
_OF_PAIRS = (heat_kernel_pairs, random_walk_pairs, resistance_pairs, shortest_path_encoding)
__all__ = sorted([*_HERE, *(each.__name__ for each in _OF_PAIRS)])

globals().update(_HERE)
