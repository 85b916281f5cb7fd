"""The contestants: torchcent and its peers, each behind the same four methods.

`prepare` builds the library's own graph and is timed apart; `run` is the timed call. Scores are
raw sums over ordered pairs (s, t), s among the sources: [n], or [E] in the order of the edges for
edge betweenness. They are None where a peer cannot give them for these sources.

    python benchmarks/peers.py [--threads 2]

checks that a peer's time per source over some sources is that of its exact run over all sources
(see NetworKit below), on graphs small enough for both.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

SEED = 1
Edges = NDArray[np.int64]
Scores = NDArray[np.float64] | None
Weights = NDArray[np.float64] | None


class Peer:
    """One contestant. `sources` of `run` are distinct vertices, or None for all of them."""

    name: ClassVar[str]
    distribution: ClassVar[str]
    measures: ClassVar[tuple[str, ...]] = ("betweenness", "edge_betweenness")
    threaded: ClassVar[bool] = True
    whole_only: ClassVar[bool] = False
    max_slots: ClassVar[int | None] = None  # beyond this the graph takes the peer too long to build
    weighted: ClassVar[bool] = True
    max_work: ClassVar[int | None] = None  # sources x slots of the smallest run it can do

    def __init__(self, measure: str, threads: int) -> None:
        self.measure = measure
        self.threads = threads
        self.library: Any = import_module(self.distribution)

    @classmethod
    def version(cls) -> str | None:
        """The installed version, None where the peer is not installed."""
        try:
            return version(cls.distribution)
        except PackageNotFoundError:
            return None

    @classmethod
    def refusal(
        cls, num_nodes: int, num_edges: int, measure: str, weighted: bool = False
    ) -> str | None:
        """Why this peer sits out on such a graph, or None."""
        if weighted and not cls.weighted:
            return "takes no weights"
        if measure not in cls.measures:
            return f"has no {measure}"
        if cls.whole_only_for(measure) and num_nodes * 2 * num_edges > (cls.max_work or 0):
            return "runs from all sources only: too slow here"
        if cls.max_slots is not None and 2 * num_edges > cls.max_slots:
            return "graph too large for it"
        return None

    @classmethod
    def whole_only_for(cls, measure: str) -> bool:
        return cls.whole_only

    def settle(self) -> None:
        """Prepares what runs from all sources do not need, outside of the time of `prepare`."""

    def facts(self, sources: NDArray[np.int64] | None) -> dict[str, Any]:
        """What the record is to tell of a run from these sources."""
        return {}

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        """Build the graph; may return facts for the record."""
        raise NotImplementedError

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        """The timed call; returns whatever the library returns."""
        raise NotImplementedError

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        """Raw ordered-pair sums from what `run` returned (not timed)."""
        raise NotImplementedError


class Torchcent(Peer):
    name = "torchcent"
    distribution = "torchcent"
    measures = ("betweenness", "edge_betweenness", "stress")

    def __init__(self, measure: str, threads: int, engine: str = "auto") -> None:
        super().__init__(measure, threads)
        self.how = self.library.Run(engine=engine)
        self.torch: Any = import_module("torch")
        self.torch.set_num_threads(threads)
        # a first call loads code and starts threads, which is not memory of the graph's
        weights = np.ones(2) if engine in ("relax", "dijkstra") else None
        self.prepare(np.array([[0, 1], [1, 2]]), 3, weights)
        self.run(None)

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        weight = None if weights is None else self.torch.from_numpy(weights)
        self.graph = self.library.Graph.from_edge_index(
            self.torch.from_numpy(edges), num_nodes, edge_weight=weight, directed=False
        )
        self.num_edges = edges.shape[1]
        self.library.explain(self.graph, measure=self.measure, run=self.how)
        return {"graph_bytes": self.graph.nbytes}

    def settle(self) -> None:
        self.library.explain(self.graph, measure=self.measure, sources=1, run=self.how)

    def facts(self, sources: NDArray[np.int64] | None) -> dict[str, Any]:
        asked = None if sources is None else self.torch.from_numpy(sources)
        plan = self.library.explain(self.graph, measure=self.measure, sources=asked, run=self.how)
        told = ("engine", "reason", "lanes", "core_nodes", "core_slots", "memory")
        return {"plan": {name: getattr(plan, name) for name in told}}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        return getattr(self.library, self.measure)(
            self.graph,
            sources=None if sources is None else self.torch.from_numpy(sources),
            normalized=False,
            run=self.how | self.library.Run(progress=False, dtype=self.torch.float64),
        )

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        values = result.numpy()
        n = self.graph.num_nodes
        if self.measure == "edge_betweenness":
            return unscaled_edges(values[: self.num_edges], sources, n)
        return unscaled_nodes(values, sources, n)


class NetworKit(Peer):
    """NetworKit's `Betweenness` where all sources fit the time, else `EstimateBetweenness`.

    `Betweenness` has no choice of sources, and takes hours on the larger graphs. Both classes run,
    per source, the same `BFS(G, s, storePaths=True, storeNodesSortedByDistance=True)` and the same
    loop over predecessors with one bigfloat division per DAG edge, over `omp parallel for`
    (networkit/cpp/centrality/Betweenness.cpp, EstimateBetweenness.cpp). The estimate also weighs by
    distance, so its scores are not comparable, and allocates its arrays per source. It runs
    nSamples + 1 searches (`i <= nSamples`), which is why one is subtracted. `python
    benchmarks/peers.py` measures both classes side by side.
    """

    name = "networkit"
    distribution = "networkit"
    max_work = 2 * 10**9

    @classmethod
    def whole_only_for(cls, measure: str) -> bool:
        return measure == "edge_betweenness"  # the estimate has no edge scores

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        self.library.setNumberOfThreads(self.threads)
        self.edges = edges
        ends = (edges[0], edges[1])
        self.graph = (
            self.library.GraphFromCoo(ends, num_nodes)
            if weights is None
            else self.library.GraphFromCoo((weights, ends), num_nodes, weighted=True)
        )
        if self.measure == "edge_betweenness":
            self.graph.indexEdges()
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        centrality = self.library.centrality
        if sources is None:
            by_edge = self.measure == "edge_betweenness"
            algorithm = centrality.Betweenness(self.graph, False, by_edge)
        else:  # as many sources, drawn by NetworKit itself, always the same ones
            self.library.setSeed(SEED, False)
            algorithm = centrality.EstimateBetweenness(self.graph, len(sources) - 1, False, True)
        algorithm.run()
        return algorithm

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        if sources is not None:
            return None
        if self.measure == "betweenness":
            return np.asarray(result.scores())  # ordered pairs already: both directions are counted
        values = np.asarray(result.edgeScores())
        return values[[self.graph.edgeId(u, v) for u, v in self.edges.T.tolist()]]


class IGraph(Peer):
    name = "igraph"
    distribution = "igraph"
    threaded = False

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        self.graph = self.library.Graph(n=num_nodes, edges=edges.T.tolist())
        self.weights = None if weights is None else weights.tolist()
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        chosen = None if sources is None else sources.tolist()
        return getattr(self.graph, self.measure)(
            directed=False, sources=chosen, weights=self.weights
        )

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        return 2.0 * np.asarray(result)  # undirected scores come halved


class ChosenPivots(random.Random):
    """A random state whose `sample` is given: NetworkX draws its k pivots with `seed.sample`."""

    def __init__(self, pivots: list[int]) -> None:
        super().__init__(SEED)
        self.pivots = pivots

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        return self.pivots


class NetworkX(Peer):
    name = "networkx"
    distribution = "networkx"
    threaded = False
    max_slots = 250_000

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        self.edges = edges
        self.graph = self.library.Graph()
        self.graph.add_nodes_from(range(num_nodes))
        self.weight = None if weights is None else "weight"
        if weights is None:
            self.graph.add_edges_from(edges.T.tolist())
        else:
            self.graph.add_weighted_edges_from(zip(*edges.tolist(), weights.tolist(), strict=True))
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        function = getattr(self.library, f"{self.measure}_centrality")
        if sources is None:
            return function(self.graph, normalized=False, weight=self.weight)
        pivots = ChosenPivots(sources.tolist())
        return function(
            self.graph, k=len(sources), normalized=False, seed=pivots, weight=self.weight
        )

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        n = self.graph.number_of_nodes()
        if self.measure == "betweenness":
            return unscaled_nodes(np.array([result[v] for v in range(n)]), sources, n)
        pairs = map(tuple, self.edges.T.tolist())
        values = np.array([result[e] if e in result else result[e[::-1]] for e in pairs])
        return unscaled_edges(values, sources, n)


class Rustworkx(Peer):
    """Threads are those of rayon: the worker's RAYON_NUM_THREADS (see cpu.py)."""

    name = "rustworkx"
    weighted = False
    distribution = "rustworkx"
    whole_only = True
    max_work = 10**9

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        self.graph = self.library.PyGraph()
        self.graph.add_nodes_from(range(num_nodes))
        self.graph.add_edges_from_no_data(list(map(tuple, edges.T.tolist())))
        return {}

    def run(self, sources: NDArray[np.int64] | None) -> Any:
        assert sources is None
        function = getattr(self.library, f"graph_{self.measure}_centrality")
        return function(self.graph, normalized=False)

    def scores(self, result: Any, sources: NDArray[np.int64] | None) -> Scores:
        values = np.array([result[i] for i in range(len(result))])
        return 2.0 * values


PEERS: dict[str, type[Peer]] = {p.name: p for p in (NetworKit, IGraph, NetworkX, Rustworkx)}


def unscaled_nodes(values: Any, sources: NDArray[np.int64] | None, n: int) -> Scores:
    """Undo NetworkX's scaling of raw, undirected node scores from k pivots."""
    factor = np.full(n, 2.0)
    if sources is not None and len(sources) < n:
        k = len(sources)
        factor[:] = 2.0 * k / (n - 1)
        factor[sources] = 2.0 * (k - 1) / (n - 1)  # a pivot is no source of its own paths
    return np.asarray(values) * factor


def unscaled_edges(values: Any, sources: NDArray[np.int64] | None, n: int) -> Scores:
    """Undo NetworkX's scaling of raw, undirected edge scores from k pivots."""
    return np.asarray(values) * (2.0 * (n if sources is None else len(sources)) / n)


def cpu_seconds(peer: Peer, sources: NDArray[np.int64] | None) -> float:
    start = time.process_time()  # of all threads: other programs on the machine change it little
    peer.run(sources)
    return time.process_time() - start


def main() -> None:
    from graphs import find

    parser = argparse.ArgumentParser(description="time per source: all sources against some")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--graphs", nargs="+", default=["facebook_combined", "delaunay_n12"])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'graph':20} {'peer':10} {'all':>8} {'some':>8}  CPU ms per source; some / all")
    for graph in find(arguments.graphs):
        edges, n = graph.edges()
        some = np.random.default_rng(SEED).permutation(n)[: n // 2]
        for kind in (NetworKit, IGraph):
            peer = kind("betweenness", arguments.threads)
            peer.prepare(edges, n)
            repeats = range(arguments.repeat)
            turns = [(cpu_seconds(peer, None), cpu_seconds(peer, some)) for _ in repeats]
            whole = 1e3 * statistics.median(a for a, _ in turns) / n
            part = 1e3 * statistics.median(b for _, b in turns) / len(some)
            cells = f"{whole:8.4f} {part:8.4f}  {part / whole:.2f}"
            print(f"{graph.name:20} {kind.name:10} {cells}", flush=True)


if __name__ == "__main__":
    main()
