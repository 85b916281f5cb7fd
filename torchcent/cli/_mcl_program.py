"""What the subcommand ``mcl`` has from van Dongen's program: its input, transforms and names."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent.check._weights import warn_of_negative
from torchcent.cli import _common, _output
from torchcent.io import EdgeList, read_clusters, write
from torchcent.io._files import FORMATS, check_target, refuse_other_format, split_suffix
from torchcent.io._mcl import integer_labels, with_tab
from torchcent.io._native import is_native
from torchcent.io._transform import Step, neg_log, parse, transform_graph, transform_stream

#: E-values of BLAST are this small, similarities are not
_LIKE_E_VALUES = 1e-20
_HEAD = 4096  # bytes of a file that show whether it is a native matrix


def prepare(args: argparse.Namespace) -> None:
    """Checks the options of mcl, and sets the format and the name of the file to write."""
    if args.abc and args.blast:
        raise ValueError("--abc and --blast exclude each other")
    if args.abc or args.blast:
        kind = "abc" if args.abc else "blast"
        if args.format is not None:
            raise ValueError(f"--{kind} and --format exclude each other")
        args.format = kind
    elif args.format is None and _holds_matrix(args.graph):
        args.format = "mci"
    if _is_table_of_hits(args):  # whose largest weight of a pair is what was asked for
        warnings.filterwarnings("ignore", r"[\d,]+ edges repeat an arc")
    matrix = FORMATS.get(f".{args.format}", args.format) == "mci"
    args.native = matrix and args.use_tab is None
    args.stream_steps = _steps(args.stream_tf, "-abc-tf")
    args.steps = _steps(args.tf, "-tf")
    if matrix and (args.stream_steps or args.neg_log is not None):
        raise ValueError("-abc-tf and --abc-neg-log10 are for lines of labels; -tf takes a matrix")
    if args.blast and args.neg_log is not None:
        raise ValueError("--blast takes logarithms; it excludes --abc-neg-log10 and --abc-neg-log")
    if args.pi is not None and not (args.pi > 0 and np.isfinite(args.pi)):
        raise ValueError(f"-pi {args.pi}; accepted: > 0")
    if args.p is not None and not 0 <= args.p < 1:
        raise ValueError(f"-p {args.p}; accepted: 0 or more, below 1")
    if args.resource is not None and args.resource < 1:
        raise ValueError(f"-resource {args.resource}; accepted: 1 or more")
    if args.discard_loops == "n" and args.loops == "one":
        raise ValueError("--loops one and -discard-loops n exclude each other")
    if args.write_graph is not None:
        refuse_other_format(args.write_graph, "graphs by -write-graph", (".mci",))
        check_target(args.write_graph)
        _output.keep_inputs(args, "-write-graph", args.write_graph)
    as_mcl = args.abc or matrix or args.icl is not None
    to_file = args.odir is not None or args.beside or args.ap is not None
    if args.out is None and args.sweep is None and not args.json and (as_mcl or to_file):
        args.out = output_name(args)
    if args.ignored:
        _common.remark(args, f"ignored: {', '.join(dict.fromkeys(args.ignored))}")


def _steps(text: str | None, option: str) -> list[Step]:
    return [] if text is None else parse(text, option)


def _holds_matrix(path: str) -> bool:
    """Whether the file, or what standard input begins with, is a native matrix."""
    if path == _output.STANDARD:
        return hasattr(sys.stdin.buffer, "peek") and is_native(sys.stdin.buffer.peek(_HEAD))
    suffix, compression = split_suffix(path)
    if suffix == ".mci" or compression or not os.path.isfile(path):
        return suffix == ".mci"
    with open(path, "rb") as file:
        return is_native(file.read(_HEAD))


def _is_table_of_hits(args: argparse.Namespace) -> bool:
    kind = args.format or split_suffix(args.graph)[0].removeprefix(".")
    return FORMATS.get(f".{kind}", kind) == "blast"


def output_name(args: argparse.Namespace, suffix_only: bool = False) -> str:
    """The name that mcl gives the file: ``out.GRAPH.I20``; the suffix has inflation, -pi and -c."""
    places = 2 if args.i3 else 1
    suffix = "I" + _digits(args.inflation, places)
    if args.pi is not None:
        suffix += "pi" + _digits(args.pi, 1)
    if isinstance(args.loops, float):
        suffix += "c" + _digits(args.loops, 1)
    suffix += str(args.aa)
    if suffix_only:
        return suffix
    graph = os.path.basename(args.graph)
    stem = f"out.{graph}"
    if args.icl is not None:
        stem = os.path.basename(args.icl)
    if args.ap is not None:
        stem = args.ap.replace("=", graph)
    folder = os.path.dirname(args.graph) if args.beside else args.odir or ""
    return os.path.join(folder, f"{stem}.{suffix}")


def _digits(value: float, places: int) -> str:
    return f"{np.float32(value):.{places}f}".replace(".", "")


def command_line(args: argparse.Namespace) -> str:
    """The first line of a matrix of clusters."""
    return f"cline: torchcent mcl {shlex.quote(args.graph)} -I {args.inflation:g}"


def load(args: argparse.Namespace) -> EdgeList:
    """Reads the graph and transforms it in the order of mcl."""
    edges = _common.read_graph(args)
    if args.unweighted:
        edges = replace(edges, edge_weight=None)
    if args.neg_log is not None:
        edges = _logarithms(edges, args.neg_log)
    if args.stream_steps:
        edges = transform_stream(edges, args.stream_steps, "-abc-tf")
    _warn_of_e_values(edges)
    if args.write_graph is not None and _common.leads():
        write(args.write_graph, edges, format="mci")
    if args.icl is not None:
        edges = _within(edges, args.icl)
    if args.steps:
        edges = transform_graph(edges, args.steps, "-tf")
    transformed = args.stream_steps or args.steps or args.neg_log is not None
    edges = _without_negative(edges, zeros=args.format == "mci" or transformed)
    if args.pi is not None:
        edges = _inflated(edges, args.pi)
    if args.use_tab is not None:
        edges = with_tab(edges, args.use_tab)
    if args.out is not None and (args.native or split_suffix(args.out)[0] == ".mci"):
        integer_labels(edges.labels)
    return edges


def _logarithms(edges: EdgeList, base: float) -> EdgeList:
    if edges.edge_weight is None:
        raise ValueError("--abc-neg-log10: the lines have no third column")
    value = edges.edge_weight.double().numpy()
    if (value < 0).any():
        raise ValueError(f"--abc-neg-log10: {value.min()} has no logarithm")
    return replace(edges, edge_weight=torch.from_numpy(neg_log(value, base or np.e)))


def _warn_of_e_values(edges: EdgeList) -> None:
    if edges.edge_weight is None:
        return
    small = (edges.edge_weight > 0) & (edges.edge_weight < _LIKE_E_VALUES)
    if small.any():
        warnings.warn(
            f"{int(small.sum()):,} of {edges.num_edges:,} weights are below {_LIKE_E_VALUES:g}, "
            "like E-values of BLAST, which are the smaller the closer a pair is; mcl takes "
            "similarities: --abc-neg-log10 -abc-tf 'ceil(200)' makes them of E-values, and "
            "-tf 'gq(5)' drops those above 1e-5",
            stacklevel=2,
        )


def _without_negative(edges: EdgeList, zeros: bool) -> EdgeList:
    """The same edges without those of negative similarity; with `zeros` also without those of 0."""
    if edges.edge_weight is None:
        return edges
    stays = edges.edge_weight > 0 if zeros else edges.edge_weight >= 0
    if lost := int((edges.edge_weight < 0).sum()):
        warn_of_negative(lost, stacklevel=2)
    return edges if bool(stays.all()) else edges._selected(stays)


def _within(edges: EdgeList, path: str) -> EdgeList:
    """The graph without edges between clusters; vertices of no cluster lose all edges."""
    cluster = {name: at for at, names in enumerate(read_clusters(path)) for name in names}
    of = [cluster.get(str(x), -1 - v) for v, x in enumerate(edges.vertex_labels().tolist())]
    row, col = torch.tensor(of, dtype=torch.int64)[edges.edge_index]
    return edges._selected(row == col)


def _inflated(edges: EdgeList, rate: float) -> EdgeList:
    """Similarities to the power `rate`; only ratios count, so that the largest is 1."""
    weight = edges.edge_weight
    if weight is None or not weight.numel():
        return edges
    return replace(edges, edge_weight=(weight.double() / weight.max()) ** rate)


def loops(args: argparse.Namespace, edges: EdgeList, kind: Any) -> tuple[EdgeList, Any]:
    """The graph and its rule for loops: with ``-discard-loops n`` its own, times -c."""
    factor = kind if isinstance(kind, float) else 1.0
    if args.pi is not None:
        factor **= args.pi
    if args.discard_loops == "y":
        return edges, factor if isinstance(kind, float) else kind
    weight = edges.edge_weight
    if weight is None:
        weight = torch.ones(edges.num_edges, dtype=torch.float64)
    loop = edges.edge_index[0] == edges.edge_index[1]
    return replace(edges, edge_weight=torch.where(loop, factor * weight, weight)), None


def connected(
    args: argparse.Namespace, edges: EdgeList, clustering: torchcent.Clustering
) -> torchcent.Clustering:
    """The clustering whose clusters are connected in the graph, for ``-force-connected y``."""
    if args.force_connected == "n":
        return clustering
    labels, n = clustering.labels.cpu(), edges.num_nodes
    within = labels[edges.edge_index[0]] == labels[edges.edge_index[1]]
    part = torchcent.Graph.from_edge_index(edges.edge_index[:, within], n, False).components
    count = torch.bincount(part)  # parts are numbered by their first vertices
    labels = count.argsort(descending=True, stable=True).argsort()[part]
    labels = labels.to(clustering.labels.device)
    if (split := count.numel() - clustering.num_clusters) > 0:
        _common.remark(args, f"{split:,} more clusters: some were not connected")
    offset = (0, *torch.bincount(labels).cumsum(0).tolist())
    return replace(clustering, labels=labels, _members=labels.argsort(stable=True), _offset=offset)


def arranged(
    args: argparse.Namespace, edges: EdgeList, clustering: torchcent.Clustering
) -> Sequence[Tensor]:
    """The clusters in the order of -sort."""
    clusters = clustering.clusters(False)
    if args.sort == "size":
        return clusters[::-1]
    if args.sort == "lex":
        return sorted(clusters, key=lambda members: members.tolist())
    return clusters
