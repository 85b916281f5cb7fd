"""The other doors for malformed arguments: files, figures, transforms, and NetworkX's dispatcher.

A call that NetworkX sends to torchcent must end as NetworkX's own would: with equal values, or with
an error where NetworkX has one; or be refused (NotImplementedError) before anything is computed.
"""

from __future__ import annotations

import inspect
import math
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import torch

import torchcent
from torchcent.cluster_plot import plot_clusterings
from torchcent.io import read_clusters, write_clusters, write_scores
from torchcent.plot import plot_scores

ARCS = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]])
#: NetworkX's names, with arguments that it accepts
OF_NETWORKX: dict[str, dict[str, Any]] = {
    "betweenness_centrality": {"weight": "length"},
    "betweenness_centrality_subset": {"sources": [0, 2], "targets": [1, 3]},
    "edge_betweenness_centrality": {"weight": "length"},
    "closeness_centrality": {"distance": "length"},
    "harmonic_centrality": {"sources": [0, 3]},
    "eccentricity": {"weight": "length"},
    "diameter": {},
    "center": {"weight": "length"},
    "average_shortest_path_length": {"weight": "length"},
    "single_source_shortest_path_length": {"source": 0},
    "all_pairs_dijkstra_path_length": {"cutoff": 3, "weight": "length"},
    "dijkstra_path_length": {"source": 0, "target": 2, "weight": "length"},
}


def files() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Readers, writers and figures, in a folder of their own."""
    folder = tempfile.TemporaryDirectory()
    at = Path(folder.name)
    edges = torchcent.EdgeList(ARCS, None, None, 5, False)
    torchcent.write(at / "in.txt", edges)
    found = torchcent.mcl(ARCS, directed=False)
    write_clusters(at / "in.clusters", found.clusters())

    def labelled(
        edge_index: Any, edge_weight: Any, labels: Any, num_nodes: Any, directed: Any
    ) -> object:
        """Made, written, and as a Graph."""
        made = torchcent.EdgeList(edge_index, edge_weight, labels, num_nodes, directed)
        torchcent.write(at / "out.txt", made)
        return made.graph(), folder  # which is removed with the last target

    return {
        "read": (torchcent.read, {"path": at / "in.txt"}),
        "read_clusters": (read_clusters, {"path": at / "in.clusters"}),
        "write": (torchcent.write, {"path": at / "out.csv", "graph": edges}),
        "write_clusters": (
            write_clusters, {"path": at / "out.clusters", "clusters": found.clusters()},
        ),
        "EdgeList": (
            labelled,
            {"edge_index": ARCS, "edge_weight": None, "labels": None, "num_nodes": 5,
             "directed": True},
        ),
        "write_scores": (
            write_scores, {"path": at / "out.tsv", "columns": {"score": torch.arange(5.0)}},
        ),
        "set_attributes": (
            torchcent.set_attributes,
            {"graph": nx.path_graph(5), "name": "score", "scores": torch.arange(5.0)},
        ),
        "plot_scores": (
            plot_scores,
            {"graph": torch.arange(1, 6), "scores": torch.arange(5.0), "path": at / "out.png"},
        ),
        "plot_clusterings": (
            plot_clusterings, {"clusterings": found, "edge_index": ARCS, "path": at / "out.svg"},
        ),
    }  # fmt: skip


def streets() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Streets of geopandas, and scores with them."""
    try:
        import geopandas
        from shapely import LineString
    except ImportError:
        return {}
    places = [(0, 0), (100, 0), (100, 100), (0, 100)]
    lines = geopandas.GeoDataFrame(
        {"km": [0.1, 0.1, 0.1, 0.2], "way": ["yes", "no", "-1", None]},
        geometry=[LineString([places[i], places[(i + 1) % 4]]) for i in range(4)],
        crs=32633,
    )
    edges = torchcent.read_streets(lines)
    columns = {"score": torch.ones(edges.num_edges)}
    return {
        "read_streets": (torchcent.read_streets, {"source": lines}),
        "street_table": (torchcent.street_table, {"edges": edges, "columns": columns}),
    }


def tables() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Tables of scores, whose columns are arguments."""
    graph = torchcent.Graph.from_edge_index(ARCS)

    def table(graph: Any, ranks: Any, top: Any, format: Any, degree: Any) -> object:
        return torchcent.table(graph, ranks=ranks, top=top, format=format, degree=degree)

    good = {"graph": graph, "ranks": True, "top": 2, "format": "arrow", "degree": graph.degree}
    return {"table": (table, good)}


def transforms() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Transforms, and the stores of the data that they are given."""
    try:
        from torch_geometric.data import Data, HeteroData
    except ImportError:
        return {}
    of = torchcent.transforms
    undirected = {"directed": False}
    needs: dict[str, dict[str, Any]] = {
        "AddCurvature": undirected,
        "AddDiffusion": {"attr_name": "diffusion", **undirected},
        "AddEncodings": {"transforms": ["centrality", "shortest_path_encoding"]},
        "AddLandmarkDistances": {"landmarks": 2},
        "AddLaplacianEncoding": {"k": 2, **undirected},
        "AddPairEncoding": {"kind": "hitting", **undirected},
        "AddPairFeatures": undirected,
        "AddRandomWalkEncoding": {"walk_length": 4},
        "AddSpectralEncoding": {"kind": "electrostatic", **undirected},
        "AddSubstructureCounts": undirected,
        "SDRF": undirected,
    }

    def applied(name: str) -> Callable[..., object]:
        made = getattr(of, name)

        def call(**given: Any) -> object:
            for key, value in needs.get(name, {}).items():
                given.setdefault(key, value)
            own = {key: given.pop(key) for key in ("edge_index", "x", "batch")}
            own["edge_weight"] = given.pop("stored_weight")
            return made(**given)(Data(num_nodes=given.pop("num_nodes", 5), **own))

        stores = ["edge_index", "stored_weight", "x", "batch"]
        options = [name for name in inspect.signature(made).parameters if name != "self"]
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(x, inspect.Parameter.KEYWORD_ONLY) for x in stores + options]
        )
        return call

    def hetero(edge_index: Any, back: Any, x: Any, edge_types: Any) -> object:
        data = HeteroData()
        data["a"].x, data["b"].num_nodes = x, 5
        data["a", "to", "b"].edge_index, data["b", "back", "a"].edge_index = edge_index, back
        return of.AddCentrality(edge_types=edge_types)(data)

    good = {"edge_index": ARCS, "stored_weight": None, "x": torch.ones(5, 2), "batch": None}
    made = {name: (applied(name), dict(good)) for name in of.__all__}
    types = {"edge_index": ARCS, "back": ARCS, "x": torch.ones(5, 2), "edge_types": None}
    return made | {"AddCentrality, HeteroData": (hetero, types)}


def as_networkx(function: str, **options: Any) -> object:
    """A call by the dispatcher, held against NetworkX's own."""
    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, {edge: i + 1 for i, edge in enumerate(graph.edges)}, "length")
    if options.get("seed") is None:
        options.pop("seed", None)
        if "k" in options:
            options["seed"] = 1
    call = getattr(nx, function)
    try:
        own = _plain(call(graph, **options))
    except Exception as error:
        own = error
    try:
        ours = _plain(call(graph, **options, backend="torchcent"))
    except NotImplementedError:
        return None
    except Exception as error:
        if isinstance(own, Exception) or not _hashable(options):
            return None
        raise AssertionError(f"NetworkX gives {own!r:.80}, torchcent {error!r:.200}") from error
    if isinstance(own, Exception) and not isinstance(own, nx.NetworkXException):
        return ours  # such as of a tensor that is neither true nor false: not looked at here
    if isinstance(own, Exception) or not _close(own, ours):
        raise AssertionError(f"NetworkX gives {own!r:.200}, torchcent {ours!r:.200}")
    return ours


def _hashable(options: dict[str, Any]) -> bool:
    """Names of attributes that cannot be: NetworkX gives nothing before it looks at them."""
    names = (options.get(name) for name in ("weight", "distance"))
    return all(x is None or type(x).__hash__ is not None for x in names)


def _plain(value: Any) -> Any:
    """Iterators of pairs as a dict."""
    return dict(value) if hasattr(value, "__next__") else value


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (a != a and b != b)
    return bool(a == b)


def networkx() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    made = {}
    for name, good in OF_NETWORKX.items():
        call = partial(as_networkx, name)
        known = list(inspect.signature(getattr(nx, name)).parameters.values())
        options = [x for x in known if x.name not in ("G", "backend", "backend_kwargs", "sp", "e")]
        options = [x.replace(kind=inspect.Parameter.KEYWORD_ONLY) for x in options]
        call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        made[f"networkx.{name}"] = (call, good)
    return made
