"""Random histories of graphs that change, beside a set of edges that knows nothing of torchcent."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import networkx
import torch
from hypothesis import strategies as st

import torchcent
from torchcent import DynamicGraph, Graph, Run

NONE = torch.empty(2, 0, dtype=torch.int64)
EXACT = Run(engine="reference", dtype=torch.float64)
DOUBLE = Run(dtype=torch.float64)


class Follower(NamedTuple):
    """A measure that follows, and what it must be: of a function, within a tolerance."""

    make: Callable[[DynamicGraph], Any]
    fresh: Callable[[Graph], torch.Tensor]
    tolerance: float = 0.0


def columns(edges):
    return torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2).T


class History:
    """A graph and the set of its edges, and random batches of changes to both.

    Attributes:
        insertions: their share of the changes.
        most: the vertices up to which the graph grows.
    """

    insertions, most = 0.5, 10**6

    def __init__(self, n, directed, chance):
        self.n, self.directed, self.chance, self.edges = n, directed, chance, set()
        self.graph = DynamicGraph(NONE, n, directed)

    def one(self, u, v):
        return (u, v) if self.directed else (min(u, v), max(u, v))

    def step(self):
        most = self.n + (self.chance.randint(1, 3) if self.chance.random() < 0.1 else 0)
        most = max(self.n, min(most, self.most))
        insert, delete = [], []
        for _ in range(self.chance.choice([0, 1, 1, 1, 2, 5, 20])):
            if self.chance.random() < self.insertions or not self.edges:
                insert.append((self.chance.randrange(most), self.chance.randrange(most)))
            else:
                delete.append(self.chance.choice(sorted(self.edges)))
        delete += [arc for arc in insert if max(arc) < self.n and self.chance.random() < 0.1]
        gone, new = {self.one(*arc) for arc in delete}, {self.one(*arc) for arc in insert}
        edges = (self.edges - gone) | {arc for arc in new if arc[0] != arc[1]}
        update = self.graph.update(
            *(torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T for arcs in (insert, delete)),
            grow=True, strict=False,
        )  # fmt: skip
        assert update.inserted == len(edges - self.edges)
        assert update.deleted == len(self.edges - edges)
        assert update.ignored == len(insert) + len(delete) - update.inserted - update.deleted
        self.edges = edges
        self.n = max([self.n, *(1 + max(arc) for arc in insert)])

    def frozen(self):
        return Graph.from_edge_index(columns(self.edges), self.n, self.directed)

    def of_networkx(self):
        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        graph.add_nodes_from(range(self.n))
        graph.add_edges_from(self.edges)
        return graph


histories = st.builds(
    History, st.integers(2, 12), st.booleans(), st.integers(0, 2**32).map(random.Random)
)


def followers(directed):
    """All measures of graphs that change, by name."""
    tc = torchcent
    every = {
        f"betweenness, {state}": Follower(
            lambda graph, state=state: tc.DynamicBetweenness(graph, state=state),
            lambda graph: tc.betweenness(graph, run=EXACT),
            1e-12,
        )
        for state in ("rows", "none")
    }
    for name in ("closeness", "harmonic", "eccentricity"):
        more = {"disconnected": "component"} if name == "eccentricity" else {}
        every[name] = Follower(
            lambda graph, name=name: tc.DynamicCloseness(graph, measure=name),
            lambda graph, name=name, more=more: getattr(tc, name)(graph, run=EXACT, **more),
            1e-12,
        )
    for name in ("degree", "core_number", "triangles", "clustering_coefficient"):
        if name != "triangles" or not directed:
            run = {} if name in ("core_number", "triangles") else {"run": DOUBLE}
            every[name] = Follower(
                lambda graph, name=name: tc.DynamicCounts(graph, measure=name),
                lambda graph, name=name, run=run: getattr(tc, name)(graph, **run),
            )
    every["pagerank"] = Follower(
        tc.DynamicPageRank, lambda graph: tc.pagerank(graph, tol=1e-14, run=DOUBLE), 1e-10
    )
    every["katz"] = Follower(
        lambda graph: tc.DynamicKatz(graph, alpha=0.01),
        lambda graph: tc.katz(graph, alpha=0.01, tol=1e-14, run=DOUBLE),
        1e-10,
    )
    return every


def run_long(history, names, updates, every):
    """Many updates, by turns more insertions and more deletions, which cut the graph into parts.

    Returns:
        The number of comparisons with scores of a new graph, of all measures.
    """
    known = followers(history.directed)
    following = {name: known[name].make(history.graph) for name in names}
    compared = 0
    for step in range(1, updates + 1):
        history.insertions = 0.75 if step // every % 2 else 0.25
        history.step()
        if step % every and step < updates:
            continue
        graph = history.frozen()
        assert history.graph.snapshot() == graph
        for name, measure in following.items():
            expected, tolerance = known[name].fresh(graph), known[name].tolerance
            torch.testing.assert_close(measure.scores, expected, rtol=tolerance, atol=tolerance)
            if name.startswith("betweenness"):  # has the bits of a new one
                assert torch.equal(measure.scores, known[name].make(DynamicGraph(graph)).scores)
            compared += 1
    return compared
