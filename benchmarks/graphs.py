"""The graphs of the benchmark: generated ones, and real ones from ../shared/data.

Every graph is undirected, without loops and copies, and without isolated vertices. (NetworKit draws
its sources itself, from all vertices; without isolated ones every contestant has the same work per
source.) An edge stands once, as a column u < v, in ascending order, for all contestants alike.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

SMALL_WORLD = "generated small-world"
REAL = "real social, web, PPI"
MESH = "mesh and road"
OTHER = "others"


class MissingGraph(RuntimeError):
    """A graph that this machine does not have, with the reason."""


@dataclass(frozen=True)
class NamedGraph:
    """A row of the table: `load` gives any list of arcs or edges and the number of vertices."""

    name: str
    group: str
    load: Callable[[], tuple[NDArray[np.int64], int]]

    def edges(self) -> tuple[NDArray[np.int64], int]:
        """Edges u < v as int64 [2, E], and the number of vertices, all of degree > 0."""
        return simplified(*self.load())


def simplified(arcs: NDArray[np.int64], num_nodes: int) -> tuple[NDArray[np.int64], int]:
    """Drop directions, loops, copies and isolated vertices; the order of the vertices stays."""
    low, high = arcs.min(axis=0), arcs.max(axis=0)
    keys = np.unique((low * num_nodes + high)[low != high])
    edges = np.stack([keys // num_nodes, keys % num_nodes])
    used = np.unique(edges)
    return np.searchsorted(used, edges), len(used)


def lengths(edges: NDArray[np.int64], kind: str) -> NDArray[np.float64]:
    """Weights from 1 to 10 (`whole`) or in (0.01, 1) (`uniform`), drawn by a hash of the two ends:
    the same in both directions."""
    mixed = (edges[0] + edges[1]) * 0x9E3779B1 + (edges[0] ^ edges[1]) * 0x85EBCA77 + 12345
    for factor in (0x2C1B3C6D, 0x297A2D39):
        mixed &= 0x7FFFFFFF
        mixed = (mixed ^ (mixed >> 15)) * factor
    mixed &= 0x7FFFFFFF
    mixed ^= mixed >> 12
    return 1.0 + mixed % 10 if kind == "whole" else 0.01 + 0.99 * mixed / 2**31


def largest_component(edges: NDArray[np.int64], num_nodes: int) -> tuple[NDArray[np.int64], int]:
    """Its edges, renumbered in the same order: there every library means the same by a distance."""
    sparse = import_module("scipy.sparse")
    matrix = sparse.coo_matrix((np.ones(edges.shape[1], np.int8), edges), shape=(num_nodes,) * 2)
    component = sparse.csgraph.connected_components(matrix, directed=False)[1]
    inside = component == np.bincount(component).argmax()
    number = np.cumsum(inside) - 1
    return np.ascontiguousarray(number[edges[:, inside[edges[0]]]]), int(inside.sum())


def generated(kind: str, **options: Any) -> tuple[NDArray[np.int64], int]:
    generate = import_module("torchcent.generate")
    edge_index = getattr(generate, kind)(**options)
    return edge_index.numpy(), int(edge_index.max()) + 1


def shared(name: str) -> tuple[NDArray[np.int64], int]:
    adjacency = shared_matrix(name)
    entries = adjacency.tocoo()
    return np.stack([entries.row, entries.col]).astype(np.int64), adjacency.shape[0]


def shared_matrix(name: str) -> Any:
    """A graph of ../shared/data with its weights, as a SciPy matrix."""
    path = SHARED_DATA / "load.py"
    if not path.exists():
        raise MissingGraph("../shared/data is not here")
    spec = importlib.util.spec_from_file_location("shared_data_load", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return module.load(name)[0]
    except (KeyError, FileNotFoundError) as error:
        raise MissingGraph(f"../shared/data has no {name}") from error


def _table() -> list[NamedGraph]:
    small_world: dict[str, Callable[[], tuple[NDArray[np.int64], int]]] = {
        "ba_30k_b50": partial(generated, "ba", n=30_000, m=50, seed=1),
        "rmat16_ef8": partial(generated, "rmat", scale=16, edge_factor=8, seed=1),
    }
    real = [
        "facebook_combined",
        "MIT8",
        "musae-facebook",
        "musae-git",
        "gemsec-new_sites",
        "deezer-HU",
        "email-Enron",
        "soc-Epinions1-und",
        "soc-Slashdot0902",
        "ego-twitter",
        "web-NotreDame",
        "cnr-2000",
        "yeast-biogrid",
        "hprd-release9",
        "breast-coexpress",
    ]
    mesh: dict[str, Callable[[], tuple[NDArray[np.int64], int]]] = {
        "grid300": partial(generated, "grid", rows=300, cols=300),
        "delaunay16": partial(generated, "delaunay", n=2**16, seed=1),
        "road250k": partial(generated, "road", rows=500, cols=500, seed=1),
    }
    shared_mesh = ["4elt", "wing", "delaunay_n16", "rgg_n_2_15_s0", "luxembourg_osm"]
    return [
        *(NamedGraph(name, SMALL_WORLD, load) for name, load in small_world.items()),
        *(NamedGraph(name, REAL, partial(shared, name)) for name in real),
        *(NamedGraph(name, MESH, load) for name, load in mesh.items()),
        *(NamedGraph(name, MESH, partial(shared, name)) for name in shared_mesh),
    ]


GRAPHS = {graph.name: graph for graph in _table()}

#: Of about 20,000 vertices: the distances of all pairs fit into memory.
ALL_PAIRS = {
    graph.name: graph
    for graph in (
        NamedGraph("ba_20k_b10", SMALL_WORLD, partial(generated, "ba", n=20_000, m=10, seed=1)),
        NamedGraph("musae-facebook", REAL, partial(shared, "musae-facebook")),
        NamedGraph("delaunay_20k", MESH, partial(generated, "delaunay", n=20_000, seed=1)),
        NamedGraph("grid_125x160", MESH, partial(generated, "grid", rows=125, cols=160)),
    )
}


def find(names: list[str] | None, table: dict[str, NamedGraph] = GRAPHS) -> list[NamedGraph]:
    """The named rows of a table (any other graph of ../shared/data by its name), or all."""
    if names is None:
        return list(table.values())
    return [table.get(name) or NamedGraph(name, OTHER, partial(shared, name)) for name in names]
