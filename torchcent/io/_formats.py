"""What each format of graph files can hold, and what of a graph it would lose.

:data:`HOLDS` is the only declaration of this: :func:`torchcent.write` warns by it, and
``torchcent convert`` and the table of docs/files.md are made of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from torchcent.io._edge_list import EdgeList
from torchcent.io._files import split_suffix
from torchcent.io._layout import INTEGER


class Holds(NamedTuple):
    """What a format holds.

    Attributes:
        suffix: of its files, for messages and tables.
        labels: "names"; "ids", integers >= 0; or "counted", 0 to n - 1 or 1 to n.
        weights: whether edges may have weights.
        directions: "stated" whether the graph is directed; "symmetric": found in the entries;
            "undirected" only; or "asked" of the reader.
        isolated: whether vertices without edges are there.
        loops: whether loops are there.
        repeated: which weight repeated edges keep, or "all": each has its own row.
        positions: whether positions of the vertices are there.
        first: the number of vertex 0 where vertices are counted.
        written: whether :func:`torchcent.write` writes it.
    """

    suffix: str
    labels: str
    weights: bool
    directions: str
    isolated: bool
    loops: bool
    repeated: str
    positions: bool
    first: int | None = None
    written: bool = True


#: by the name of the format; "csv" is "edges" between commas, without comments
HOLDS = {
    "edges": Holds(".txt .tsv .edges .el", "names", True, "stated", True, True, "all", False),
    "csv": Holds(".csv", "names", True, "asked", False, True, "all", False),
    "abc": Holds(".abc", "names", True, "asked", False, True, "all", False),
    "mci": Holds(".mci", "ids", True, "symmetric", True, True, "largest", False),
    "mtx": Holds(".mtx", "counted", True, "stated", True, True, "smallest", False, 1),
    "metis": Holds(".graph", "counted", True, "undirected", True, False, "smallest", False, 1),
    "gr": Holds(".gr", "counted", True, "symmetric", True, True, "smallest", False, 1),
    "npz": Holds(".npz", "counted", True, "symmetric", True, True, "smallest", False, 0),
    "npy": Holds(".npy", "counted", False, "asked", False, True, "all", False, 0),
    "pt": Holds(".pt", "names", True, "stated", True, True, "all", True),
    "parquet": Holds(".parquet", "names", True, "stated", True, True, "all", False),
    "graphml": Holds(
        ".graphml", "names", True, "stated", True, True, "all", True, None, False
    ),
    "gml": Holds(".gml", "names", True, "stated", True, True, "all", True, None, False),
}  # fmt: skip


def holds(path: str | os.PathLike[str], kind: str) -> Holds:
    """The declaration for a file of this format."""
    return HOLDS["csv" if kind == "edges" and split_suffix(path)[0] == ".csv" else kind]


class Loss(NamedTuple):
    """What of a graph a format does not hold, and how it can be kept or read all the same."""

    what: str  # a field of Holds, or "kinds": whether names are numbers
    text: str
    advice: str = ""


def losses(edges: EdgeList, form: Holds, repeated: int, symmetric: bool) -> list[Loss]:
    """What a file of this format lacks of the graph.

    Args:
        edges: the graph.
        form: the format.
        repeated: number of edges that stand there more than once.
        symmetric: whether a directed graph has every arc in both directions.
    """
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
        kept = "" if edges.edge_weight is None else f"the {form.repeated} weight of each is kept"
        lost.append(Loss("repeated", f"{repeated:,} repeated edges", kept))
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
    fields = {x.what for x in lost}
    better = [
        each.suffix.split()[0] for each in HOLDS.values() if each.written and _keeps(each, fields)
    ]
    keeps = f"; {' '.join(better)} would" if better else ""
    return f"{form.suffix.split()[0]} does not hold {', '.join(parts)}{keeps}"


def _keeps(form: Holds, fields: set[str]) -> bool:
    kept = {
        "labels": form.labels == "names",
        "kinds": form.labels == "names" and form.suffix[:4] not in (".txt", ".csv"),
        "weights": form.weights,
        "directions": form.directions == "stated",
        "isolated": form.isolated,
        "loops": form.loops,
        "repeated": form.repeated == "all",
        "positions": form.positions,
    }
    return all(kept[field] for field in fields)


_LABELS = {"names": "any", "ids": "integers >= 0"}
_DIRECTIONS = {
    "stated": "yes", "symmetric": "directed unless symmetric", "undirected": "undirected only",
    "asked": "no (`directed=`)",
}  # fmt: skip


def table() -> list[str]:
    """The lines of the table in docs/files.md."""
    heads = (
        "labels", "weights", "direction", "isolated vertices", "loops", "repeated edges",
        "positions",
    )  # fmt: skip
    lines = ["| | " + " | ".join(heads) + " |", "|---" * 8 + "|"]
    for form in HOLDS.values():
        yes_or_no = {True: "yes", False: "no"}
        cells = [
            "`" + "` `".join(form.suffix.split()) + "`" + ("" if form.written else " (read only)"),
            _LABELS.get(form.labels, f"counted from {form.first}"),
            yes_or_no[form.weights],
            _DIRECTIONS[form.directions],
            yes_or_no[form.isolated],
            yes_or_no[form.loops],
            "yes" if form.repeated == "all" else f"the {form.repeated} weight",
            yes_or_no[form.positions],
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
