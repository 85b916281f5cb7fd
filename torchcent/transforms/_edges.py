"""Transforms that add features of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check._run import DEFAULT, Run
from torchcent.gnn import _stores
from torchcent.pairs._features import MEASURES, pair_features
from torchcent.paths._betweenness import edge_betweenness
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform

#: the distance of the ends of an edge is 1
NEIGHBORS = tuple(name for name in MEASURES if name != "distance")


@functional_transform("add_edge_centrality")
class AddEdgeCentrality(_OfGraphs):
    """Adds edge betweenness as an edge feature (functional name: ``add_edge_centrality``).

    Args:
        attr_name: attribute for the scores, [E], one per column of edge_index. None appends them to
            ``data.edge_attr`` as another column, in its dtype and on its device (or creates
            ``data.edge_attr``, [E, 1]).
        normalized: as in :func:`torchcent.edge_betweenness`.

    All other arguments, batches and HeteroData are as for :class:`AddCentrality`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddEdgeCentrality
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddEdgeCentrality(directed=False, normalized=False)(path).edge_centrality
        tensor([2., 2., 2., 2.])
    """

    _functions: ClassVar = {edge_betweenness.__name__: {}}

    def __init__(
        self,
        attr_name: str | None = "edge_centrality",
        normalized: bool = True,
        log: bool = False,
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            attr_name=check_data.attribute(attr_name, "edges"),
            normalized=check.flag(normalized, "normalized"), log=check.flag(log, "log"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        scores = self._scores(graph, edge_betweenness)
        _stores.give_edges(data, graph, scores, self.attr_name, self._dtype())


@functional_transform("add_pair_features")
class AddPairFeatures(_OfGraphs):
    """Adds structural features of the ends of each edge (functional name: ``add_pair_features``).

    Args:
        measures: names of columns of :func:`torchcent.pair_features`.
        attr_name: attribute for the features, [E, measures], a row per column of edge_index. None
            appends them to ``data.edge_attr``, in its dtype and on its device (or creates it).
        edge_weight: edge attribute that holds the *lengths* of edges, for "distance"; None counts
            hops.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddPairFeatures
        >>> triangle = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
        >>> data = Data(edge_index=triangle, num_nodes=3)
        >>> AddPairFeatures(["common_neighbors", "jaccard"])(data).edge_features[:2]
        tensor([[1.0000, 0.3333],
                [1.0000, 0.3333]])
    """

    def __init__(
        self,
        measures: str | Sequence[str] = NEIGHBORS,
        attr_name: str | None = "edge_features",
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            measures=check_batch.measures(measures, MEASURES),
            attr_name=check_data.attribute(attr_name, "edges"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        features = pair_features(
            **self._options(graph, torch.float64), pairs=graph.edge_index, measures=self.measures
        )
        _stores.give_edges(data, graph, features, self.attr_name, self._dtype())
