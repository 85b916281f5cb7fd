"""When rows pay: after many small updates."""

from __future__ import annotations

from dataclasses import dataclass

from torchcent.dynamic._arcs import Change
from torchcent.dynamic._graph import DynamicGraph

_DENSE = 4  # edges per vertex from which rows of paths pay: reductions leave little of others
_FEW = 8  # changed edges up to which repairing rows is quicker than the whole
_PATIENCE = 40  # such updates before rows, which take as long as the whole some 40 times


def is_dense(graph: DynamicGraph) -> bool:
    return graph.num_edges >= _DENSE * graph.num_nodes


@dataclass
class Choice:
    """Whether to keep rows, from one update to the next.

    Attributes:
        is_open: False if rows are never to be taken.
        small: small updates since the last large one.
    """

    is_open: bool
    small: int = 0

    def takes_rows(self, change: Change) -> bool:
        edges = change.removed.shape[1] + change.inserted.shape[1]
        edges //= 1 if change.after.directed else 2
        self.small = self.small + 1 if edges <= _FEW else 0
        return self.is_open and self.small > _PATIENCE
