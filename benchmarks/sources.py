"""Sources of a benchmark: vertices that have neighbours, in a random order.

A search from a vertex without neighbours ends at once. R-MAT graphs have many of them, so that
sources drawn from all vertices make every library look faster than it is.
"""

from __future__ import annotations

import torch

from torchcent import Graph


def drawn(graph: Graph, count: int, seed: int = 1) -> torch.Tensor:
    """At most `count` vertices of degree > 0 at random, on the device of the graph."""
    joined = torch.nonzero(graph.degree > 0).flatten().cpu()
    order = torch.randperm(joined.numel(), generator=torch.Generator().manual_seed(seed))
    return joined[order[:count]].to(graph.device)
