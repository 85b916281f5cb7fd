"""Walks, degrees and triangles on CUDA: seconds, the seconds to reach, and errors against SciPy.

Called by gpu.py, whose results it joins; by itself it prints the same rows. The graph is held on
the device beforehand; median of 5 calls after a first one. Beside PageRank, Katz, eigenvector, HITS
and triangles stand cuGraph's where it can be imported, on the same arcs and to the same `tol`. (Its
PageRank stops at a change of the scores, and ours at an error.) Values are compared on R-MAT of
scale 12, with products of SciPy in float64.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import torch
from machine import seconds_on_device

import torchcent

REPEAT = 5
EXACT = torchcent.Run(dtype=torch.float64)
GRAPHS_OF_BATCH, OF_EACH = 100_000, 20
TARGETS = {"R-MAT of scale 22": {"pagerank": 0.05, "triangles": 0.5}}
Calls = dict[str, Callable[[], Any]]


def rmat(scale: int) -> torch.Tensor:
    return torchcent.generate.rmat(scale, 16, seed=1)


def star() -> torch.Tensor:
    leaves = torch.arange(1, 1_000_001)
    return torch.stack([torch.zeros_like(leaves), leaves])


def many() -> tuple[torch.Tensor, torch.Tensor]:
    """Random trees with some more edges, each of OF_EACH vertices."""
    draw = torch.Generator().manual_seed(1)
    child = torch.arange(1, OF_EACH).repeat(GRAPHS_OF_BATCH, 1)
    parent = (torch.rand(child.shape, generator=draw) * child).long()
    first = torch.arange(GRAPHS_OF_BATCH)[:, None] * OF_EACH
    more = torch.randint(0, OF_EACH, (2, GRAPHS_OF_BATCH, 5), generator=draw) + first
    more = more.flatten(1)
    more = more[:, more[0] != more[1]]
    tree = torch.stack([(child + first).flatten(), (parent + first).flatten()])
    return torch.cat([tree, more], 1), torch.arange(GRAPHS_OF_BATCH + 1) * OF_EACH


def calls(graph: torchcent.Graph) -> Calls:
    alpha = 0.5 / max(1, int(graph.degree.max())) if graph.num_graphs == 1 else 0.02
    return {
        "pagerank": partial(torchcent.pagerank, graph, tol=1e-6, run=EXACT),
        "katz": partial(torchcent.katz, graph, alpha=alpha, tol=1e-6, run=EXACT),
        "eigenvector": partial(torchcent.eigenvector, graph, tol=1e-6, run=EXACT),
        "hits": partial(torchcent.hits, graph, tol=1e-6, run=EXACT),
        "triangles": partial(torchcent.triangles, graph),
        "degree": partial(torchcent.degree, graph, run=EXACT),
        "clustering_coefficient": partial(torchcent.clustering_coefficient, graph, run=EXACT),
    }


def of_cugraph(edges: torch.Tensor) -> Calls:
    """Of both directions of each edge, in cuDF columns."""
    cudf, cugraph = import_module("cudf"), import_module("cugraph")
    u, v = edges.numpy()
    table = cudf.DataFrame({"u": u.astype(np.int32), "v": v.astype(np.int32)})
    graph = cugraph.Graph(directed=False)
    graph.from_cudf_edgelist(table, source="u", destination="v", renumber=False)
    alpha = 0.5 / int(np.bincount(u).max())
    return {
        "pagerank": partial(cugraph.pagerank, graph, tol=1e-6),
        "katz": partial(cugraph.katz_centrality, graph, alpha=alpha, tol=1e-6),
        "eigenvector": partial(cugraph.eigenvector_centrality, graph, tol=1e-6),
        "hits": partial(cugraph.hits, graph, tol=1e-6),
        "triangles": partial(cugraph.triangle_count, graph),
    }


def seconds(call: Callable[[], Any]) -> float:
    call()
    return statistics.median(seconds_on_device(call) for _ in range(REPEAT))


def errors() -> dict[str, float]:
    """The largest error relative to the largest score, on R-MAT of scale 12."""
    graph = torchcent.Graph.from_edge_index(rmat(12).cuda(), directed=False)
    rowptr, col = graph.rowptr.cpu().numpy(), graph.col.cpu().numpy()
    n = graph.num_nodes
    matrix = scipy.sparse.csr_array((np.ones(col.size), col, rowptr), shape=(n, n))
    degree = np.diff(rowptr)
    share = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)
    rank = np.full(n, 1 / n)
    for _ in range(300):
        rank = 0.85 * (matrix @ (rank * share) + rank[degree == 0].sum() / n) + 0.15 / n
    _, vector = scipy.sparse.linalg.eigsh(matrix, 1, which="LA", v0=np.ones(n), tol=1e-13)
    leading = np.abs(vector[:, 0])
    alpha = 0.5 / degree.max()
    paths = scipy.sparse.linalg.spsolve(
        scipy.sparse.csc_matrix(scipy.sparse.identity(n) - alpha * matrix), np.ones(n)
    )
    triangles = (matrix @ matrix).multiply(matrix).sum(1) / 2
    pairs = degree * (degree - 1) / 2
    expected = {
        "pagerank": rank, "katz": paths / np.linalg.norm(paths), "eigenvector": leading,
        "hits": leading / leading.sum(), "triangles": triangles, "degree": degree,
        "clustering_coefficient": np.divide(triangles, pairs, out=np.zeros(n), where=pairs > 0),
    }  # fmt: skip
    found = {}
    for name, call in calls(graph).items():
        scores = call()
        scores = scores.hubs if name == "hits" else scores
        difference = np.abs(scores.double().cpu().numpy() - expected[name]).max()
        found[name] = float(difference / expected[name].max())
    return found


def row(name: str, graph: torchcent.Graph) -> dict[str, Any]:
    found: dict[str, Any] = {
        "graph": name, "vertices": graph.num_nodes, "slots": graph.num_slots,
        "target": TARGETS.get(name, {}), "seconds": {},
    }  # fmt: skip
    for measure, call in calls(graph).items():
        found["seconds"][measure] = seconds(call)
        print(name, measure, found["seconds"][measure], flush=True)
    return found


def rows() -> list[dict[str, Any]]:
    table = []
    for name, edges in (("R-MAT of scale 22", rmat(22)), ("star of 10^6 leaves", star())):
        graph = torchcent.Graph.from_edge_index(edges.cuda(), directed=False)
        table.append(row(name, graph))
        peers: Calls = {}
        try:
            tail = torch.repeat_interleave(graph.degree).cpu()
            both = torch.stack([tail, graph.col.cpu().long()])
            peers = of_cugraph(both)
        except ImportError as error:
            table[-1]["cugraph"] = f"not importable: {error}"
        else:
            del graph
            table[-1]["cugraph"] = {peer: seconds(call) for peer, call in peers.items()}
        torch.cuda.empty_cache()
    edges, ptr = many()
    graph = torchcent.Graph.from_edge_index(edges.cuda(), directed=False, ptr=ptr.cuda())
    table.append(row(f"{GRAPHS_OF_BATCH:,} graphs of {OF_EACH} vertices", graph))
    table.append({"graph": "R-MAT of scale 12", "errors": errors()})
    print(table[-1], flush=True)
    return table


if __name__ == "__main__":
    rows()
