"""Transforms that add features and labels of vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check import _encodings as check_encodings
from torchcent.check import _landmarks as check_landmarks
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run, resolved
from torchcent.check._values import choice, number, whole
from torchcent.clustering import _check as check_mcl
from torchcent.clustering._mcl import mcl
from torchcent.engines.measures._measures import plain_columns
from torchcent.gnn import _stores
from torchcent.gnn._features import node_features
from torchcent.graph._arguments import as_graph
from torchcent.pairs._landmarks import landmark_distances
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform
from torchcent.walks._returns import USES, as_in_pyg, random_walk_encoding

_LABELS = (
    "(cluster labels are names, not numbers to be appended to data.x; torch.nn.functional.one_hot "
    "converts them to features)"
)


@functional_transform("add_centrality")
class AddCentrality(_OfGraphs):
    """Adds centralities of the vertices as features (functional name: ``add_centrality``).

    A single call of :func:`torchcent.node_features` computes all measures, sharing traversals where
    possible. All graphs of a batch are processed at once, each as if it were alone.

    Args:
        measures: a name or several accepted by :func:`torchcent.node_features`, one column each.
        attr_name: attribute for the scores, [n, measures]; None appends them to ``data.x``, in its
            dtype and on its device (or creates ``data.x``).
        normalized: as in :func:`torchcent.node_features`.
        log: compute log(1 + score) in float64, before rounding to the result's dtype. It compresses
            raw scores (normalized=False), which span orders of magnitude.
        edge_weight: edge attribute that holds the *lengths* of edges, such as "edge_weight"; None
            counts hops. (In graph neural networks, edge_weight is often a similarity: see
            docs/weights.md.)
        alpha: for "katz", as in :func:`torchcent.node_features`: None suits each graph.
        directed: None uses the arcs of edge_index, which in PyTorch Geometric holds both directions
            of an undirected edge; False adds missing reverse arcs.
        edge_types: the edge types of a HeteroData that form the graph; None for all.
        run: how it is computed, see :class:`torchcent.Run`. In a DataLoader worker there is no
            progress bar by default. Its dtype is that of a new attribute.

    A HeteroData is one graph whose vertices are those of all node types (with `edge_types`, of the
    node types that these join). Paths may use any of its edge types. Each node type receives its
    rows. To treat edge types separately, use one transform per edge type, each with its own
    `attr_name`.

    For a batch made by ``Batch.from_data_list``, ``to_data_list`` splits the new attribute, too.

    Raises:
        TypeError, ValueError: for invalid arguments on construction, for unsuitable data when
            applied.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddCentrality
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=torch.ones(3, 1))
        >>> AddCentrality(["betweenness", "closeness"])(path).centrality
        tensor([[0.0000, 0.6667],
                [1.0000, 1.0000],
                [0.0000, 0.6667]])
        >>> AddCentrality("betweenness", attr_name=None)(path).x
        tensor([[1., 0.],
                [1., 1.],
                [1., 0.]])
    """

    def __init__(
        self,
        measures: str | Sequence[str] = ("betweenness", "closeness"),
        attr_name: str | None = "centrality",
        normalized: bool = True,
        log: bool = False,
        edge_weight: str | None = None,
        *,
        alpha: float | None = None,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        own: dict[str, Any] = {}
        if alpha is not None:
            own["alpha"] = check.within(alpha, "alpha", "(0, inf)", "finite and > 0")
        super().__init__(
            edge_weight, directed, edge_types, run,
            measures=check_batch.measures(measures, plain_columns()),
            attr_name=check_data.attribute(attr_name, "nodes"),
            normalized=check.flag(normalized, "normalized"), log=check.flag(log, "log"),
            **own,
        )  # fmt: skip
        if alpha is not None and "katz" not in self.measures:
            raise ValueError("alpha is for katz, which measures does not name")

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        alpha = getattr(self, "alpha", None)
        scores = self._scores(graph, node_features, measures=self.measures, alpha=alpha)
        _stores.give_nodes(data, graph, scores, self.attr_name, self._dtype())


@functional_transform("add_clusters")
class AddClusters(_OfGraphs):
    """Adds Markov clusters as vertex labels (functional name: ``add_clusters``).

    Args:
        attr_name: attribute for the labels, int64 [n]: 0 is the largest cluster *of each graph*.
        inflation: larger values give more and smaller clusters; as in :func:`torchcent.mcl`.
        edge_weight: edge attribute that holds the *similarities* of edges, such as "edge_weight";
            None uses 1 for all edges.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddClusters
        >>> triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> AddClusters(directed=False)(Data(edge_index=triangles, num_nodes=6)).cluster
        tensor([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        attr_name: str = "cluster",
        inflation: float = 2.0,
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            attr_name=check_data.required_attribute(attr_name, "nodes", _LABELS),
            inflation=check_mcl.inflation(inflation),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        clusters = mcl(**self._options(graph), inflation=self.inflation)
        labels = clusters.labels
        if clusters.cluster_ptr is not None:  # a batch: labels continue from one graph to the next
            labels = labels - clusters.cluster_ptr[graph.batch]
        _stores.give_nodes(data, graph, labels, self.attr_name)


@functional_transform("add_random_walk_encoding")
class AddRandomWalkEncoding(_OfGraphs):
    """Adds the return probabilities of random walks (functional name:
    ``add_random_walk_encoding``).

    Args:
        walk_length: number of steps, and of columns.
        attr_name: attribute for the encoding, [n, walk_length]; None appends it to ``data.x``, in
            its dtype and on its device (or creates ``data.x``).
        edge_weight: edge attribute that holds the *strengths* of edges, such as "edge_weight"; None
            uses 1 for all edges.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Values are those of :func:`torchcent.random_walk_encoding`, and without weights those of
    PyTorch Geometric's ``AddRandomWalkPE`` of each graph. These differ where arcs are repeated, in
    graphs of up to 2000 vertices: ``AddRandomWalkPE`` counts each in the divisor of its row and
    only one in the step. All graphs of a Batch are computed at once.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddRandomWalkEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddRandomWalkEncoding(4)(path).random_walk_pe
        tensor([[0.0000, 0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000, 1.0000],
                [0.0000, 0.5000, 0.0000, 0.5000]])
    """

    def __init__(
        self,
        walk_length: int,
        attr_name: str | None = "random_walk_pe",
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run, walk_length=check_encodings.steps(walk_length),
            attr_name=check_data.attribute(attr_name, "nodes"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        if self.edge_weight is None:
            options = self._options(graph)
            run = resolved(options["run"], USES, "random_walk_encoding")
            pyg_graph = as_graph(**options | {"run": run})
            encoding = as_in_pyg(pyg_graph, self.walk_length, run)
        else:
            options = self._options(graph, torch.float64)
            encoding = random_walk_encoding(**options, walk_length=self.walk_length)
        _stores.give_nodes(data, graph, encoding, self.attr_name, self._dtype())


@functional_transform("add_landmark_distances")
class AddLandmarkDistances(_OfGraphs):
    """Adds the distances to landmarks of each graph (functional name: ``add_landmark_distances``).

    Args:
        landmarks: how many of each graph, and columns.
        attr_name: attribute for the distances, [n, landmarks]; None appends them to ``data.x``, in
            its dtype and on its device (or creates ``data.x``).
        selection: "degree", "random" or "farthest", as in :func:`torchcent.landmark_distances`.
        seed: for "random". The landmarks of a graph depend on it and on the arcs of the graph.
        unreachable: the value where there is no path, and of columns without a landmark.
        edge_weight: edge attribute that holds the *lengths* of edges; None counts hops.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs. Distances are
            those from the landmarks.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddLandmarkDistances
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddLandmarkDistances(2)(path).landmark_distance
        tensor([[1., 0.],
                [0., 1.],
                [1., 2.]])
    """

    def __init__(
        self,
        landmarks: int,
        attr_name: str | None = "landmark_distance",
        selection: str = "degree",
        edge_weight: str | None = None,
        *,
        seed: int = 0,
        unreachable: float = -1,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            landmarks=whole(landmarks, "landmarks", 2**31 - 1),
            attr_name=check_data.attribute(attr_name, "nodes"),
            selection=choice(selection, "selection", check_landmarks.SELECTIONS),
            seed=check_values.seed(seed), unreachable=number(unreachable, "unreachable"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        generator = None
        if self.selection == "random":
            generator = torch.Generator(device="cpu").manual_seed(self.seed)
        distance = landmark_distances(
            **self._options(graph), landmarks=self.landmarks, selection=self.selection,
            unreachable=self.unreachable, generator=generator, dtype=torch.float64,
        ).distance  # fmt: skip
        _stores.give_nodes(data, graph, distance, self.attr_name, self._dtype())
