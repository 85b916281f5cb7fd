"""What each format of graph files holds, and what of a graph it would lose."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from torchcent.io._edge_list import EdgeList
from torchcent.io._files import split_suffix
from torchcent.io._layout import INTEGER


class Holds(NamedTuple):
    """What a format holds."""

    suffix: str  # of its files, for messages and tables
    labels: str = "names"  # or "ids", integers >= 0; or "counted", 0 to n - 1 or 1 to n
    weights: bool = True
    directions: str = "stated"  # or "symmetric" as entries are, "undirected", "asked" of readers
    isolated: bool = True  # vertices without edges
    loops: bool = True
    repeated: str = "all"  # or which weight repeated edges keep
    positions: bool = False
    first: int | None = None  # the number of vertex 0 where vertices are counted
    written: bool = True  # by torchcent.write
    read: bool = True  # by torchcent.read


_MATRIX = Holds("", labels="counted", directions="symmetric", repeated="smallest", first=1)
_LINES = Holds("", labels="counted", isolated=False, positions=True, first=0, written=False)
#: by the name of the format; "csv" is "edges" between commas, without comments
HOLDS = {
    "edges": Holds(".txt .tsv .edges .el"),
    "csv": Holds(".csv", directions="asked", isolated=False),
    "abc": Holds(".abc", directions="asked", isolated=False),
    "mci": Holds(".mci", labels="ids", directions="symmetric", repeated="largest"),
    "mtx": _MATRIX._replace(suffix=".mtx", directions="stated"),
    "metis": _MATRIX._replace(suffix=".graph", directions="undirected", loops=False),
    "gr": _MATRIX._replace(suffix=".gr"),
    "npz": _MATRIX._replace(suffix=".npz", first=0),
    "npy": Holds(
        ".npy", labels="counted", weights=False, directions="asked", isolated=False, first=0
    ),
    "pt": Holds(".pt", positions=True),
    "parquet": Holds(".parquet"),
    "graphml": Holds(".graphml", positions=True),
    "blast": Holds(".m8", directions="asked", isolated=False, written=False),
    "gpkg": _LINES._replace(suffix=".gpkg"),
    "shp": _LINES._replace(suffix=".shp"),
    "geojson": _LINES._replace(suffix=".geojson"),
    "gexf": Holds(".gexf", positions=True, read=False),
    "cx2": Holds(".cx2", positions=True, read=False),
    "sif": Holds(".sif", directions="asked", read=False),
    "gml": Holds(".gml", positions=True, written=False),
}


#: the formats that hold columns of values of the vertices and the edges
WITH_COLUMNS = ("graphml", "gexf", "cx2", "sif")


def holds(path: str | os.PathLike[str], kind: str) -> Holds:
    """The declaration for a file of this format."""
    return HOLDS["csv" if kind == "edges" and split_suffix(path)[0] == ".csv" else kind]


class Loss(NamedTuple):
    """What of a graph a format does not hold, and how it can be kept or read all the same."""

    what: str  # a field of Holds, or "kinds": whether names are numbers
    text: str
    advice: str = ""


def losses(edges: EdgeList, form: Holds, repeated: int, symmetric: bool) -> list[Loss]:
    """What a file of this format lacks of the graph, whose arcs may be symmetric."""
    lost = []
    labels = edges.labels
    if not _holds_labels(labels, form):
        text = f"the {'names' if labels.dtype == object else 'ids'} of the vertices"
        lost.append(Loss("labels", text, "convert --write-tab FILE keeps them"))
    elif labels is not None and labels.dtype == object and form.suffix[:4] in (".txt", ".csv"):
        numbers = sum(INTEGER.fullmatch(str(x)) is not None for x in labels)
        if 0 < numbers < len(labels):
            advice = "read with text_labels=True (--text-labels)"
            lost.append(Loss("kinds", f"that {numbers:,} names are not numbers", advice))
    if edges.edge_weight is not None and not form.weights:
        lost.append(Loss("weights", "the weights"))
    if edges.edge_weight is not None and not edges.edge_weight.is_floating_point():
        whole = edges.edge_weight.long()
        beyond = int(((whole > 2**53) | (whole < -(2**53))).sum())
        if beyond and form.weights:
            lost.append(Loss("weights", f"{beyond} weights beyond 2^53 exactly"))
    if edges.directed and (
        form.directions == "asked" or (form.directions == "symmetric" and symmetric)
    ):
        advice = "read with directed=True (--directed)"
        lost.append(Loss("directions", "that the graph is directed", advice))
    if not form.isolated and (count := len(isolated(edges))):
        lost.append(Loss("isolated", f"{count:,} vertices without edges"))
    loops = edges.edge_index[0] == edges.edge_index[1]
    if not form.loops and (count := int(loops.sum())):
        lost.append(Loss("loops", f"{count:,} loops"))
    if form.repeated != "all" and repeated:
        advice = "" if edges.edge_weight is None else f"the {form.repeated} weight of each is kept"
        lost.append(Loss("repeated", f"{repeated:,} repeated edges", advice))
    if edges.positions is not None and not form.positions:
        lost.append(Loss("positions", "the positions of the vertices"))
    return lost


def _holds_labels(labels: np.ndarray | None, form: Holds) -> bool:
    if labels is None or form.labels == "names":
        return True
    if labels.dtype == object:
        return False
    counted = bool((labels == np.arange(1, len(labels) + 1)).all())
    return form.labels == "ids" or (counted and form.isolated)


def isolated(edges: EdgeList) -> np.ndarray:
    """The vertices without edges."""
    seen = np.zeros(edges.num_nodes, bool)
    seen[edges.edge_index.numpy().ravel()] = True
    return np.flatnonzero(~seen)


def in_words(form: Holds, lost: Iterable[Loss]) -> str:
    """A sentence about what is lost, and the formats that keep it."""
    lost = list(lost)
    parts = [x.text + (f" ({x.advice})" if x.advice else "") for x in lost]
    better = [
        each.suffix.split()[0]
        for each in HOLDS.values()
        if each.written and each.read and all(_keeps(each, x.what) for x in lost)
    ]
    keeps = f"; {' '.join(better)} would" if better else ""
    return f"{form.suffix.split()[0]} does not hold {', '.join(parts)}{keeps}"


def _keeps(form: Holds, field: str) -> bool:
    if field == "kinds":
        return form.labels == "names" and form.suffix[:4] not in (".txt", ".csv")
    return getattr(form, field) in (True, "names", "stated", "all")
