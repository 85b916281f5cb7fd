"""Calls of exponents.py that make graphs: forms, files, transforms, generators."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

import torch
from exponent_call import Prepared, add
from exponent_graphs import OWN, Case
from exponent_measures import (
    BETWEENNESS,
    CYCLES,
    MCL,
    NEAR,
    SEARCHES,
    SPECTRUM,
    SUBSTRUCTURES,
    WALKS,
)

import torchcent
from torchcent import generate, io, transforms

# Graphs.
COUNT = count()


def built(case: Case) -> Prepared:
    return partial(
        torchcent.Graph.from_edge_index, case.edges, None, False, case.weight, ptr=case.ptr
    )


def of_graph(name: str, directed: bool = False) -> Callable[[Case], Prepared]:
    """An attribute or a method of a graph."""

    def prepare(case: Case) -> Prepared:
        graph = case.graph(directed)

        def call() -> Any:
            value = getattr(graph, name)
            return value() if callable(value) else value

        return call

    return prepare


add("Graph.from_edge_index", built)
add(
    "Graph.from_edges",
    lambda case: partial(torchcent.Graph.from_edges, case.edges.T.tolist()),
    weights=("hops",),
    batch=False,
)
for name in (
    "components", "degree", "degree_order", "transpose", "is_symmetric", "scale",
    "reversed", "unweighted", "with_ties",
    "to_edge_index", "to_scipy", "to_torch_sparse", "to_data",
    "to_networkx", "to_igraph",
):  # fmt: skip
    many = name in ("to_edge_index", "scale", "to_data")
    add(
        f"Graph.{name}",
        of_graph(name, True),
        weights=("hops", "floats") if many else ("hops",),
        largest=300_000,
    )


def reweighted(case: Case) -> Prepared:
    graph = case.graph(True)
    return partial(graph.with_weights, 1 + torch.rand(graph.slot.numel()))


for name, part in (
    ("subgraph", lambda case: torch.arange(0, case.num_nodes, 2)),
    ("vertices", lambda case: list(range(0, case.num_nodes, 2))),
    ("with_labels", lambda case: [f"v{number}" for number in range(case.num_nodes)]),
):
    add(
        f"Graph.{name}",
        lambda case, name=name, part=part: partial(getattr(case.graph(), name), part(case)),
        weights=("hops",), batch=False, largest=300_000,
    )  # fmt: skip
for name in ("largest_component", "strong_components"):
    add(f"Graph.{name}", of_graph(name), weights=("hops",), batch=False, largest=300_000)
add("Graph.with_weights", reweighted, weights=("hops",), largest=300_000)
add("Graph.reverse_slot", of_graph("reverse_slot"), weights=("hops",))
add("Graph.slot", of_graph("slot"), weights=("hops",))


def from_form(make: str, take: str) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        form = getattr(case.graph(True), make)()
        return partial(getattr(torchcent.Graph, take), form)

    return prepare


for make, take in (
    ("to_scipy", "from_scipy"), ("to_torch_sparse", "from_torch_sparse"), ("to_data", "from_data"),
    ("to_networkx", "from_networkx"), ("to_igraph", "from_igraph"),
):  # fmt: skip
    add(f"Graph.{take}", from_form(make, take), weights=("hops",), batch=False, largest=300_000)


# Files.
def fresh(suffix: str) -> str:
    return os.path.join(tempfile.gettempdir(), f"{os.getpid()}-{next(COUNT)}{suffix}")


def writing(suffix: str) -> Callable[[Case], Prepared]:
    return lambda case: partial(torchcent.write, fresh(suffix), case.graph())


def reading(suffix: str) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        path = fresh(suffix)
        torchcent.write(path, case.graph())
        return partial(torchcent.read, path)

    return prepare


FILES = (".txt", ".csv", ".abc", ".mtx", ".npz", ".npy", ".graph", ".gr", ".pt", ".parquet")
for suffix in FILES:
    add(f"write({suffix})", writing(suffix), weights=("floats",), batch=False)
    add(f"read({suffix})", reading(suffix), weights=("floats",), batch=False)


def saved(case: Case) -> Prepared:
    return partial(case.graph().save, fresh(".torchcent"))


def loaded(case: Case) -> Prepared:
    path = fresh(".torchcent")
    case.graph().save(path)
    return partial(torchcent.Graph.load, path)


def scores_written(suffix: str) -> Callable[[Case], Prepared]:
    return lambda case: partial(
        io.write_scores, fresh(suffix), {"score": torch.rand(case.num_nodes)}
    )


def clusters_written(case: Case) -> Prepared:
    at = torch.arange(case.num_nodes)
    return partial(io.write_clusters, fresh(".txt"), list(at.split(3)))


def clusters_read(case: Case) -> Prepared:
    path = fresh(".txt")
    io.write_clusters(path, list(torch.arange(case.num_nodes).split(3)))
    return partial(io.read_clusters, path)


def from_networkx(case: Case) -> Prepared:
    return partial(io.from_networkx, case.graph().to_networkx())


def attributes(case: Case) -> Prepared:
    graph = case.graph()
    return partial(
        torchcent.set_attributes, graph.to_networkx(), "score", torch.rand(case.num_nodes)
    )


add("Graph.save", saved, weights=("hops", "floats"))
add("Graph.load", loaded, weights=("hops", "floats"))
for suffix in (".csv", ".json"):
    add(f"io.write_scores({suffix})", scores_written(suffix), weights=("hops",), kinds=("path",))
add("io.write_clusters", clusters_written, weights=("hops",), kinds=("path",))
add("io.read_clusters", clusters_read, weights=("hops",), kinds=("path",))
add("io.from_networkx", from_networkx, weights=("hops",), batch=False, largest=300_000)
add("set_attributes", attributes, weights=("hops",), batch=False, largest=300_000)


# Transforms.
def transformed(transform: Any) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        data = import_module("torch_geometric.data").Data(
            edge_index=torch.cat([case.edges, case.edges.flip(0)], 1), num_nodes=case.num_nodes
        )
        if case.kind == "batch":
            data.batch, data.ptr = torch.arange(case.num_nodes) // 3, case.ptr
        return partial(transform, data)

    return prepare


for name, transform, growth in (
    ("AddCentrality", transforms.AddCentrality(), SEARCHES),
    ("AddEdgeCentrality", transforms.AddEdgeCentrality(), BETWEENNESS),
    ("AddClusters", transforms.AddClusters(), MCL),
    ("AddRandomWalkEncoding", transforms.AddRandomWalkEncoding(4), WALKS),
    ("AddLandmarkDistances", transforms.AddLandmarkDistances(4), {}),
    ("AddPairFeatures", transforms.AddPairFeatures("common_neighbors", directed=False), {}),
    ("AddEncodings", transforms.AddEncodings([transforms.AddLandmarkDistances(4)]), {}),
    ("AddDiffusion", transforms.AddDiffusion(top_k=8, eps=1e-2), WALKS),
    ("AddCurvature", transforms.AddCurvature(), CYCLES),
    ("SDRF", transforms.SDRF(seed=0), {}),
    ("AddShortestPathEncoding", transforms.AddShortestPathEncoding(cutoff=2), NEAR),
    ("AddSubstructureCounts", transforms.AddSubstructureCounts(["cycle4"]), SUBSTRUCTURES),
    ("AddWLColors", transforms.AddWLColors(3), {}),
    ("AddLaplacianEncoding", transforms.AddLaplacianEncoding(4, directed=False), SPECTRUM),
    ("AddSpectralEncoding", transforms.AddSpectralEncoding("density", bins=4), SPECTRUM),
    ("AddPairEncoding", transforms.AddPairEncoding("hitting"), SPECTRUM),
):  # fmt: skip
    add(f"transforms.{name}", transformed(transform), weights=("hops",), expected=growth)

# Generators: the size is about that of the graph.
MAKERS: dict[str, Callable[[int], Any]] = {
    "ba": lambda size: generate.ba(size // 5, 4),
    "configuration_model": lambda size: generate.configuration_model(torch.full((size // 5,), 4)),
    "rewired": lambda size: generate.rewired(generate.ba(size // 5, 4)),
    "delaunay": lambda size: generate.delaunay(max(size // 4, 4)),
    "er": lambda size: generate.er(size // 5, m=4 * (size // 5)),
    "grid": lambda size: generate.grid(2, size // 5),
    "planted": lambda size: generate.planted(max(size // 11, 60), 20, smallest=5, largest=20),
    "rmat": lambda size: generate.rmat(max(size // 17, 2).bit_length(), 16),
    "road": lambda size: generate.road(2, size // 5),
    "ws": lambda size: generate.ws(max(size // 5, 8), 4, 0.1),
}
for name, maker in MAKERS.items():
    add(
        f"generate.{name}", lambda case, maker=maker: partial(maker, case.size), weights=("hops",),
        kinds=(OWN,), start=2000,
    )  # fmt: skip
