"""``torchcent convert`` of clusterings: lines of labels, mcl's matrices and tables."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial

import numpy as np

from torchcent.cli import _output
from torchcent.cli._graphs import TABLES, check_clusters
from torchcent.io import read_clusters, write_clusters, write_scores
from torchcent.io._budget import Budget
from torchcent.io._files import load_bytes, split_suffix
from torchcent.io._mcl import read_tab
from torchcent.io._native import Matrix, clusters_of, is_native, read_matrix


def holds_clusters(args: argparse.Namespace) -> bool:
    """Whether the file is a clustering: a matrix of mcl that is not square, or as --clusters says.

    Sets the format of a file that is a native matrix.
    """
    if args.clusters or args.format is not None or not os.path.isfile(args.graph):
        return bool(args.clusters)
    data = load_bytes(args.graph)
    if not is_native(data):
        return False
    args.format = "mci"
    rows, columns = _matrix(args.graph, data)[:2]
    return len(rows) != len(columns)


def convert(args: argparse.Namespace) -> None:
    """Writes clusters in the format of the output."""
    path = _output.target(args, "txt")
    assert path is not None  # required
    check_clusters(path, graphs=False)
    if args.graph == _output.STANDARD:
        raise ValueError("--clusters reads files, not standard input")
    data = load_bytes(args.graph)
    if is_native(data):
        matrix = _matrix(args.graph, data)
        label = {} if args.use_tab is None else read_tab(args.use_tab)
        clusters = [[label.get(int(x), x) for x in names] for names in clusters_of(matrix)]
        labels = [label.get(x, str(x)) for x in matrix.rows.tolist()]
    else:
        clusters = read_clusters(args.graph)
        labels = sorted({x for names in clusters for x in names}, key=_by_number)
        if args.use_tab is not None:
            clusters, labels = _by_dictionary(clusters, args.use_tab)
    number = {name: at for at, name in enumerate(labels)}
    if len(number) < len(labels):
        raise ValueError(f"{args.use_tab}: two vertices have the same label")
    members = [[number[x] for x in names] for names in clusters]
    _output.deliver(args, "clusters", path, partial(write, labels=labels, members=members))


def _matrix(path: str, data: bytes) -> Matrix:
    return read_matrix(data, Budget.of(path))


def _by_number(label: str) -> tuple[bool, int, str]:
    """Numbers by value, before names."""
    number = label.isdecimal()
    return not number, int(label) if number else 0, label


def _by_dictionary(clusters: list[list[str]], path: str) -> tuple[list[list[str]], list[str]]:
    """The indices of labels, for a matrix; vertices of no cluster are rows without entries."""
    index = {label: str(at) for at, label in read_tab(path).items()}
    wrong = next((x for names in clusters for x in names if x not in index), None)
    if wrong is not None:
        raise ValueError(f"{path}: has no label {wrong!r}")
    return [[index[x] for x in names] for names in clusters], sorted(index.values(), key=int)


def write(
    path: str, labels: Sequence[str] | np.ndarray, members: list[list[int]],
    column: str = "cluster", *, escape_formulas: bool = False,
) -> None:  # fmt: skip
    """Writes lines of labels, or a table with a row per vertex, by the suffix."""
    if split_suffix(path)[0] not in TABLES:
        write_clusters(path, members, labels)
        return
    vertex = np.array([v for part in members for v in part], np.int64)
    cluster = np.repeat(np.arange(len(members)), [len(part) for part in members])
    order = np.argsort(vertex, kind="stable")
    names = np.asarray(labels, object)[vertex[order]]
    write_scores(path, {"label": names, column: cluster[order]}, escape_formulas=escape_formulas)
