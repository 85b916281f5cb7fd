"""Results as columns of graph files, for Cytoscape and Gephi; and which suffix means what."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from typing import Any

from torchcent.cli import _output
from torchcent.io import EdgeList
from torchcent.io._cells import column_arrays
from torchcent.io._files import check_target, refuse_other_format, split_suffix
from torchcent.io._formats import HOLDS, WITH_COLUMNS
from torchcent.io._networks import Columns
from torchcent.io._scores import check_scores_path
from torchcent.io._write import check_graph_path, write_graph

#: suffixes of graph files that hold columns of vertices and edges
GRAPHS = tuple(HOLDS[name].suffix for name in WITH_COLUMNS)
#: suffixes of tables with a row per vertex
TABLES = (".csv", ".tsv", ".npz", ".parquet", ".json")
_LINES = (".txt", ".mci")


def is_graph(path: str) -> bool:
    """Whether results go into a graph file."""
    return split_suffix(path)[0] in GRAPHS


def holds_lines(path: str) -> bool:
    """Whether clusters go into lines of names, or into a matrix of mcl."""
    return split_suffix(path)[0] in _LINES


def check_scores(path: str, crs: str | None = None) -> None:
    """Raises an error if scores of vertices or edges cannot be written to this path."""
    if is_graph(path):
        check_graph_path(path)
    else:
        check_scores_path(path, crs, also=GRAPHS)


def check_clusters(path: str, graphs: bool = True) -> None:
    """Raises an error if clusters cannot be written to this path, of which some are `graphs`."""
    suffix = split_suffix(path)[0]
    if suffix in TABLES:
        check_scores_path(path)
    elif graphs and suffix in GRAPHS:
        check_graph_path(path)
    else:
        accepted = (*_LINES, *TABLES, *(GRAPHS if graphs else ()))
        refuse_other_format(path, "clusters", accepted)
        check_target(path)


def write(
    args: argparse.Namespace, path: str, edges: EdgeList, vertices: Mapping[str, Any],
    of_edges: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Writes the graph with these columns; warns of what the format does not hold."""
    columns = Columns(column_arrays(vertices), column_arrays(of_edges or {}))
    for text in write_graph(path, edges, columns=columns)[0]:
        warnings.warn(f"{_output.place(args)}: {text}", stacklevel=2)
