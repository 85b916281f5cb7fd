"""The contestants of distances.py: closeness, diameter, and distances between all pairs.

As in peers.py, `prepare` builds the library's own graph and `run` is the timed call. Graphs are
connected, where all libraries mean the same. `sources` are the vertices whose scores, or rows of
distances, are asked for; None for all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Edges, IGraph, NetworKit, Peer, Scores, Torchcent, Weights

MEASURES = ("closeness", "diameter", "apsp")
ROWS_COMPARED = 64  # of the distances between all pairs


class DistanceTorchcent(Torchcent):
    measures = MEASURES

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        edge_index = self.torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1))
        self.graph = self.library.Graph.from_edge_index(edge_index, num_nodes, directed=False)
        return {"graph_bytes": self.graph.nbytes}

    def settle(self) -> None:
        """Nothing: each run derives what it needs."""

    def facts(self, sources: NDArray[np.int64] | None) -> dict[str, Any]:
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        ids = None if sources is None else self.torch.from_numpy(sources)
        # A Graph keeps what is derived from it: here each run has to derive it for itself.
        graph = self.library.Graph(
            self.graph.rowptr, self.graph.col, self.graph.slot, False, _trusted=True
        )
        quiet = self.library.Run(progress=False)
        if self.measure == "apsp":
            return self.library.shortest_path_lengths(graph, sources=ids, run=quiet)
        options: dict[str, Any] = {"run": quiet | self.library.Run(dtype=self.torch.float64)}
        if self.measure == "closeness" and ids is not None:
            options["vertices"] = ids
        return getattr(self.library, self.measure)(graph, **options)

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        return compared(result.numpy())


class DistanceNetworKit(NetworKit):
    """`Closeness` (all vertices only), `Diameter` with its exact algorithm, `SPSP`."""

    measures = MEASURES

    @classmethod
    def whole_only_for(cls, measure: str) -> bool:
        return measure != "apsp"

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        if self.measure == "closeness":
            centrality = self.library.centrality
            algorithm = centrality.Closeness(self.graph, True, centrality.ClosenessVariant.STANDARD)
        elif self.measure == "diameter":
            exact = self.library.distance.DiameterAlgo.EXACT
            algorithm = self.library.distance.Diameter(self.graph, algo=exact)
        else:
            ids = range(self.graph.numberOfNodes()) if sources is None else sources.tolist()
            algorithm = self.library.distance.SPSP(self.graph, list(ids))
        return algorithm.run()

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        if self.measure == "closeness":
            return np.asarray(result.scores())
        if self.measure == "diameter":
            return compared(np.asarray(result.getDiameter()[0]))
        return compared(np.asarray(result.getDistances()))


class DistanceIGraph(IGraph):
    measures = MEASURES

    @classmethod
    def whole_only_for(cls, measure: str) -> bool:
        return measure == "diameter"

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        ids = None if sources is None else sources.tolist()
        if self.measure == "closeness":
            return self.graph.closeness(vertices=ids, mode="all", normalized=True)
        if self.measure == "diameter":
            return self.graph.diameter(directed=False)
        return self.graph.distances(source=ids, mode="all")

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        rows = result[:ROWS_COMPARED] if self.measure == "apsp" else result
        return compared(np.asarray(rows))


class SciPy(Peer):
    """`csgraph.shortest_path` with Dijkstra's algorithm, the fastest that it has here."""

    name = "scipy"
    distribution = "scipy"
    measures = ("apsp",)
    threaded = False

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        self.csgraph = import_module("scipy.sparse.csgraph")
        self.matrix = import_module("scipy.sparse").csr_matrix(
            (np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(num_nodes, num_nodes)
        )
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        return self.csgraph.shortest_path(
            self.matrix, method="D", directed=False, unweighted=True, indices=sources
        )

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        return compared(result)


PEERS: dict[str, type[Peer]] = {p.name: p for p in (SciPy, DistanceNetworKit, DistanceIGraph)}


def compared(values: NDArray[Any]) -> NDArray[np.float64]:
    """What is compared of a result: of a matrix of distances the first rows."""
    return np.asarray(values[:ROWS_COMPARED] if values.ndim == 2 else values, np.float64)
