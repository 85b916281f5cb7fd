"""Graph: CSR, its transpose, batches, weights; graphs of other libraries."""

from torchcent.graph._graph import Graph

__all__ = ["Graph"]
