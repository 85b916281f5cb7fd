"""Transforms that add numbers of substructures, and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check import _patterns as check_patterns
from torchcent.check._run import DEFAULT, Run
from torchcent.gnn import _stores
from torchcent.patterns._colors import wl_colors
from torchcent.patterns._counts import CYCLES, edge_substructure_counts, substructure_counts
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform
from torchcent.transforms._vertices import _LABELS

_COUNTS = "substructure_counts"


@functional_transform("add_substructure_counts")
class AddSubstructureCounts(_OfGraphs):
    """Adds numbers of cycles and other patterns (functional name: ``add_substructure_counts``).

    Args:
        patterns: a name or several, as in :func:`torchcent.substructure_counts`.
        of: "vertices" or "edges".
        attr_name: attribute for the counts, int64: of vertices [n, columns], of edges [E, columns],
            where ``edge_`` is put before the default. None appends them to ``data.x`` or
            ``data.edge_attr``, in their dtype and on their device (or creates these).
        induced: True counts only subgraphs of which the graph has no further edge.
        log: compute log(1 + count), in float64, before rounding to the result's dtype. Numbers of
            large cycles span orders of magnitude.
        directed: None uses the arcs of edge_index, each of which needs its reverse; False adds
            missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddSubstructureCounts
        >>> triangle_with_tail = Data(edge_index=torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]]))
        >>> add = AddSubstructureCounts(["cycle3", "star3"], directed=False)
        >>> add(triangle_with_tail).substructure_counts
        tensor([[1, 0, 1],
                [1, 0, 1],
                [1, 1, 0],
                [0, 0, 1]])
        >>> add = AddSubstructureCounts("cycle3", of="edges", directed=False)
        >>> add(triangle_with_tail).edge_substructure_counts.T
        tensor([[1, 1, 1, 0]])
    """

    _functions: ClassVar = {edge_substructure_counts.__name__: {"of": "edges"}}

    def __init__(
        self,
        patterns: str | Sequence[str] = CYCLES,
        of: str = "vertices",
        attr_name: str | None = _COUNTS,
        induced: bool = False,
        log: bool = False,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        check_patterns.patterns(patterns)
        check.choice(of, "of", ("vertices", "edges"))
        name = f"edge_{_COUNTS}" if of == "edges" and attr_name == _COUNTS else attr_name
        super().__init__(
            None, directed, edge_types, run,
            patterns=patterns if isinstance(patterns, str) else tuple(patterns), of=of,
            attr_name=check_data.attribute(name, "nodes" if of == "vertices" else "edges"),
            induced=check.flag(induced, "induced"), log=check.flag(log, "log"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        of_edges = self.of == "edges"
        function = edge_substructure_counts if of_edges else substructure_counts
        options = self._unweighted(graph)
        counts = function(**options, patterns=self.patterns, induced=self.induced)
        if self.log or self.attr_name is None:
            counts = counts.double().log1p() if self.log else counts.double()
        give = _stores.give_edges if of_edges else _stores.give_nodes
        give(data, graph, counts, self.attr_name, self._dtype())


@functional_transform("add_wl_colors")
class AddWLColors(_OfGraphs):
    """Adds colours of the Weisfeiler-Leman test as labels (functional name: ``add_wl_colors``).

    Args:
        iterations: as in :func:`torchcent.wl_colors`.
        attr_name: attribute for the colours, int64 [n].
        node_labels: attribute of the vertices with the colours to begin with, integers [n]; None
            for one colour.
        edge_labels: attribute of the edges with their labels, integers [E]; None for none.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`.

    Colours mean the same in all graphs of a Batch, but not in data objects that are transformed one
    by one.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddWLColors
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddWLColors()(path).wl_color
        tensor([0, 1, 0])
    """

    def __init__(
        self,
        iterations: int = -1,
        attr_name: str = "wl_color",
        node_labels: str | None = None,
        edge_labels: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        check_patterns.rounds(iterations)
        super().__init__(
            None, directed, edge_types, run, iterations=iterations,
            attr_name=check_data.required_attribute(attr_name, "nodes", _LABELS),
            node_labels=node_labels, edge_labels=edge_labels,
        )  # fmt: skip

    def _attributes(self) -> set[str]:
        labels = {self.node_labels, self.edge_labels}
        return super()._attributes() | {name for name in labels if name is not None}

    def _check_many(self) -> None:
        raise ValueError(
            "AddWLColors is not for a data set that is computed in parts: colours mean the same in "
            "one call alone"
        )

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        labels = check_data.labels(graph.nodes, self.node_labels, "node_labels")
        if labels is not None and graph.place is not None:
            labels = labels[torch.argsort(graph.place)]
        colors = wl_colors(
            **self._unweighted(graph), iterations=self.iterations, node_labels=labels,
            edge_labels=check_data.labels(graph.edges, self.edge_labels, "edge_labels"),
        )  # fmt: skip
        _stores.give_nodes(data, graph, colors, self.attr_name)
