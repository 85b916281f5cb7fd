"""PyTorch Geometric transforms: centralities, clusters and encodings of vertices and pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _curvature as check_curvature
from torchcent.check import _data as check_data
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, checked, quiet, resolved, surrounding
from torchcent.check._values import integer, number
from torchcent.clustering import _check as check_mcl
from torchcent.clustering._mcl import mcl
from torchcent.curvature._forman import forman_curvature
from torchcent.curvature._ollivier import ollivier_ricci_curvature
from torchcent.curvature._resistance import resistance_curvature
from torchcent.curvature._sdrf import sdrf
from torchcent.engines.measures._measures import plain_columns
from torchcent.gnn import _stores
from torchcent.gnn._features import node_features
from torchcent.graph import Graph
from torchcent.graph._arguments import as_graph
from torchcent.pairs._encoding import shortest_path_encoding, shortest_path_pairs
from torchcent.paths._betweenness import edge_betweenness
from torchcent.walks._returns import USES, as_in_pyg, random_walk_encoding

try:
    from torch_geometric.data.datapipes import functional_transform
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    raise ImportError(
        "torchcent.transforms needs torch_geometric, of the extra torchcent[pyg]: "
        "pip install torch_geometric"
    ) from error

__all__ = [
    "AddCentrality",
    "AddClusters",
    "AddCurvature",
    "AddEdgeCentrality",
    "AddRandomWalkEncoding",
    "AddShortestPathEncoding",
    "SDRF",
]

_LABELS = (
    "(cluster labels are names, not numbers to be appended to data.x; torch.nn.functional.one_hot "
    "converts them to features)"
)
_PAIRS = "(pairs of vertices are no rows of data.x)"
EdgeTypes = Sequence[tuple[str, str, str]]


class _OfGraphs(BaseTransform):
    """Base class of all transforms: the arcs and their lengths or similarities."""

    def __init__(
        self, edge_weight: str | None, directed: bool | None, edge_types: EdgeTypes | None,
        run: Run, **own: Any,
    ) -> None:  # fmt: skip
        """`own`: the other arguments that determine the result."""
        self._names = (*own, "edge_weight", "directed")
        for name, value in own.items():
            setattr(self, name, value)
        self.edge_weight = check_data.weight_attribute(edge_weight)
        self.directed = directed if directed is None else check.flag(directed, "directed")
        self.edge_types = check_data.edge_types(edge_types)
        self.run = DEFAULT if run is None else checked(run)

    def _options(self, graph: _stores.Graph, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """Arguments common to all functions. DataLoader workers show no bar unless asked to."""
        in_worker = torch.utils.data.get_worker_info() is not None
        run = quiet() | self.run if in_worker else self.run
        if dtype is not None:
            run |= Run(dtype=dtype)
        return {**graph.arguments(), "directed": self.directed, "run": run}

    def _scores(self, graph: _stores.Graph, measure: Callable[..., Tensor], **own: Any) -> Tensor:
        scores = measure(**self._options(graph, torch.float64), **own, normalized=self.normalized)
        return scores.log1p() if self.log else scores

    def _dtype(self) -> torch.dtype:
        """That of the Run, in which scores are stored."""
        return (surrounding() | self.run).dtype

    def forward(self, data: Any) -> Any:
        self._add(data, _stores.graph_of(data, self.edge_types, self.edge_weight))
        return data

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        """What determines the result; PyTorch Geometric compares it with data sets."""
        names = self._names + (() if self.edge_types is None else ("edge_types",))
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({values})"


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


@functional_transform("add_shortest_path_encoding")
class AddShortestPathEncoding(_OfGraphs):
    """Adds the distances of pairs of vertices (functional name: ``add_shortest_path_encoding``).

    Args:
        attr_name: attribute for the distances: [P], one per pair, beside the pairs as
            ``{attr_name}_index``, int64 [2, P]; with dense=True [G, N, N].
        cutoff: pairs farther apart are left out, or count as unreachable.
        dense: add padded matrices instead, as :func:`torchcent.shortest_path_encoding`. Those of
            several graphs can be put into one Batch if `max_nodes` gives all the same shape.
        max_nodes, unreachable, padding: with dense=True, as in
            :func:`torchcent.shortest_path_encoding`.
        edge_weight: edge attribute that holds the *lengths* of edges; None counts hops.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types: the edge types of a HeteroData that form the graph; None for all.
        dtype: of the distances: torch.int8, int16, int32, int64, float32 or float64. None uses
            int64, with weights torch.get_default_dtype(), so that all graphs have the same.
        run: as for :class:`AddCentrality`.

    Pairs are those of :func:`torchcent.shortest_path_pairs`, each vertex with itself among them.
    When data objects are put into a Batch, PyTorch Geometric adds offsets to the pairs as it does
    to ``edge_index``. For a Batch, rows of matrices are the graphs, their vertices in ascending
    order; ``to_data_list`` splits both forms. The edges along the paths are not stored, because
    numbers of edges get no offsets: :func:`torchcent.shortest_path_encoding` returns them for a
    batch.

    A HeteroData is one graph, as for :class:`AddCentrality`. The pairs of two node types are a new
    edge type ``(source, attr_name, target)``, with ``edge_index`` [2, P] and the distances [P] as
    `attr_name`. There is one for each two types, also without pairs. Edges of this name are no
    edges of the graph; name the `edge_types` of later transforms. Matrices are an attribute of the
    HeteroData. Their rows are the vertices of all types, as ``to_homogeneous`` orders them.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddShortestPathEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> found = AddShortestPathEncoding(cutoff=1)(path)
        >>> found.spd_index
        tensor([[0, 0, 1, 1, 1, 2, 2],
                [0, 1, 0, 1, 2, 1, 2]])
        >>> found.spd
        tensor([0, 1, 1, 0, 1, 1, 0])
        >>> AddShortestPathEncoding(dense=True, max_nodes=4)(path).spd
        tensor([[[ 0,  1,  2, -1],
                 [ 1,  0,  1, -1],
                 [ 2,  1,  0, -1],
                 [-1, -1, -1, -1]]])
    """

    def __init__(
        self,
        attr_name: str = "spd",
        cutoff: float | None = None,
        dense: bool = False,
        max_nodes: int | None = None,
        edge_weight: str | None = None,
        *,
        unreachable: float = -1,
        padding: float = -1,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        dtype: torch.dtype | None = None,
        run: Run = DEFAULT,
    ) -> None:
        check_encodings.cutoff(cutoff)
        super().__init__(
            edge_weight, directed, edge_types, run,
            attr_name=check_data.required_attribute(attr_name, "nodes", _PAIRS),
            cutoff=cutoff, dense=check.flag(dense, "dense"),
            max_nodes=check.positive(max_nodes, "max_nodes"),
            unreachable=number(unreachable, "unreachable"), padding=number(padding, "padding"),
            dtype=dtype,
        )  # fmt: skip
        if not dense:
            self._names = ("attr_name", "cutoff", "dense", "dtype", "edge_weight", "directed")
            if (self.max_nodes, self.unreachable, self.padding) != (None, -1, -1):
                raise ValueError("max_nodes, unreachable and padding are for dense=True")

    def forward(self, data: Any) -> Any:
        chosen = self.edge_types
        if chosen is None and hasattr(data, "edge_types"):  # without pairs of an earlier call
            own = [kind for kind in data.edge_types if kind[1] != self.attr_name]
            chosen = tuple(own) if len(own) < len(data.edge_types) else None
        self._add(data, _stores.graph_of(data, chosen, self.edge_weight))
        return data

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        dtype = torch.int64 if self.dtype is None and self.edge_weight is None else self.dtype
        options = self._options(graph)
        bounds = [store.get("ptr") for store, _ in graph.nodes]
        is_sorted = graph.place is None or len(bounds) > 1
        if is_sorted and all(isinstance(each, torch.Tensor) for each in bounds):
            # Unlike batch, it counts empty graphs at the end.
            ptr = torch.stack(bounds).sum(0).to(graph.edge_index.device)
            arcs = graph.edge_index, graph.num_nodes, self.directed is not False, graph.weight
            options = {"edge_index": Graph.from_edge_index(*arcs, ptr=ptr), "run": options["run"]}
        options |= {"cutoff": self.cutoff, "dtype": dtype}
        if self.dense:
            dense = shortest_path_encoding(
                **options, max_nodes=self.max_nodes, unreachable=self.unreachable,
                padding=self.padding,
            )  # fmt: skip
            _stores.give_graphs(data, dense.distance, self.attr_name)
        else:
            pairs = shortest_path_pairs(**options)
            _stores.give_pairs(data, graph, pairs.pairs, pairs.distance, self.attr_name)


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
        >>> AddRandomWalkEncoding(4)(path).random_walk
        tensor([[0.0000, 0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000, 1.0000],
                [0.0000, 0.5000, 0.0000, 0.5000]])
    """

    def __init__(
        self,
        walk_length: int,
        attr_name: str | None = "random_walk",
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
            run = resolved(self._options(graph)["run"], USES, "random_walk_encoding")
            pyg_graph = as_graph(**graph.arguments(), directed=self.directed, run=run)
            encoding = as_in_pyg(pyg_graph, self.walk_length, run)
        else:
            options = self._options(graph, torch.float64)
            encoding = random_walk_encoding(**options, walk_length=self.walk_length)
        _stores.give_nodes(data, graph, encoding, self.attr_name, self._dtype())


#: kind -> the function, and its own arguments
_CURVATURES: dict[str, tuple[Callable[..., Tensor], dict[str, Any]]] = {
    "forman": (forman_curvature, {}),
    "augmented": (forman_curvature, {"kind": "augmented"}),
    "balanced": (forman_curvature, {"kind": "balanced"}),
    "ollivier": (ollivier_ricci_curvature, {}),
    "resistance": (resistance_curvature, {}),
}


@functional_transform("add_curvature")
class AddCurvature(_OfGraphs):
    """Adds the curvature of edges as an edge feature (functional name: ``add_curvature``).

    Args:
        kind: "forman", "augmented" or "balanced" for those of :func:`torchcent.forman_curvature`,
            "ollivier" for :func:`torchcent.ollivier_ricci_curvature`, "resistance" for
            :func:`torchcent.resistance_curvature`.
        attr_name: attribute for the curvature, [E], one per column of edge_index. None appends it
            to ``data.edge_attr`` as another column, in its dtype and on its device (or creates
            ``data.edge_attr``, [E, 1]).
        edge_weight: edge attribute that holds the weights that the function of the kind takes; None
            uses 1 for all edges.
        directed: None uses the arcs of edge_index, each of which needs its reverse, False adds
            missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddCurvature
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddCurvature("forman")(path).edge_curvature
        tensor([1., 1., 1., 1.])
    """

    def __init__(
        self,
        kind: str = "balanced",
        attr_name: str | None = "edge_curvature",
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            kind=check.choice(kind, "kind", tuple(_CURVATURES)),
            attr_name=check_data.attribute(attr_name, "edges"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        function, own = _CURVATURES[self.kind]
        curvature = function(**self._options(graph, torch.float64), **own)
        _stores.give_edges(data, graph, curvature, self.attr_name, self._dtype())


@functional_transform("sdrf")
class SDRF(_OfGraphs):
    """Rewires the graph by stochastic discrete Ricci flow (functional name: ``sdrf``).

    Args:
        iterations, tau, removal_bound: as in :func:`torchcent.sdrf`.
        seed: of the draws, the same for every call; None draws from torch's global generator.
        directed: None uses the arcs of edge_index, each of which needs its reverse, False adds
            missing reverse arcs.
        run: as for :class:`AddCentrality`.

    The new ``edge_index`` is that of :func:`torchcent.sdrf`: sorted, without loops and repeated
    arcs. Other attributes of edges keep the values of edges that stay, and are 0 for new ones. Each
    graph of a Batch is rewired alone. A HeteroData is refused.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import SDRF
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> rewire = SDRF(iterations=2, seed=0, directed=False)
        >>> rewire(Data(edge_index=two_triangles, num_nodes=6)).num_edges
        18
    """

    def __init__(
        self,
        iterations: int = 10,
        tau: float = 1.0,
        removal_bound: float | None = None,
        seed: int | None = None,
        *,
        directed: bool | None = None,
        run: Run = DEFAULT,
    ) -> None:
        steps, temperature, bound = check_curvature.rewiring(iterations, tau, removal_bound)
        super().__init__(
            None, directed, None, run, iterations=steps, tau=temperature, removal_bound=bound,
            seed=None if seed is None else integer(seed, "seed"),
        )  # fmt: skip
        self._names = ("iterations", "tau", "removal_bound", "seed", "directed")

    def forward(self, data: Any) -> Any:
        if hasattr(data, "edge_types"):
            raise TypeError("SDRF is for a torch_geometric Data or Batch, got a HeteroData")
        return super().forward(data)

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        options = self._options(graph)
        del options["edge_weight"]
        generator = None
        if self.seed is not None:
            generator = torch.Generator().manual_seed(self.seed)
        index = sdrf(
            **options, iterations=self.iterations, tau=self.tau,
            removal_bound=self.removal_bound, generator=generator,
        )  # fmt: skip
        _stores.replace_edges(data, graph, index)
