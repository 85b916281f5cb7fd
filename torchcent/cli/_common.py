"""Shared by the subcommands: values of options, reading, status messages."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from torchcent import Graph
from torchcent.check import _weights as check_weights
from torchcent.check._run import MOST_THREADS, Run
from torchcent.distribute._group import launched
from torchcent.graph._arguments import graph_of
from torchcent.io import EdgeList, from_networkx, read, read_stream
from torchcent.io._budget import Budget
from torchcent.io._files import STREETS, format_of, load_bytes, load_stream
from torchcent.io._streets import How, read_lines
from torchcent.io._transform import to_distances
from torchcent.runtime._optional import need

_NETWORKS = {
    "les_miserables": "les_miserables_graph",
    "lesmis": "les_miserables_graph",
    "karate_club": "karate_club_graph",
    "karate": "karate_club_graph",
    "davis_southern_women": "davis_southern_women_graph",
    "florentine_families": "florentine_families_graph",
}


#: options of `torchcent.read` that have the same names
_READING = (
    "directed", "format", "num_nodes", "skip", "text_labels", "header", "comments",
    "weight_column", "coordinates", "crs", "labels",
)  # fmt: skip

#: options for files of streets only
_OF_STREETS = ("layer", "oneway", "tolerance")
_NOT_OF_STREETS = (
    "num_nodes", "skip", "text_labels", "header", "labels", "coordinates", "source_column",
    "target_column",
)  # fmt: skip


def run_of(args: argparse.Namespace) -> Run:
    """The Run set by `run_options` and `checkpoint_option`, and by the ranks."""
    run = Run(memory=args.memory, progress=False if args.quiet else None)
    for name in ("engine", "reduce", "checkpoint"):
        if getattr(args, name, None) is not None:
            run |= Run(**{name: getattr(args, name)})
    if args.device == "all":
        run |= Run(devices="all")
    return run | Run(group="world") if ranks() > 1 else run


def ranks() -> int:
    """The number of processes that torchrun has started for this command."""
    return int(os.environ["WORLD_SIZE"]) if launched() else 1


def leads() -> bool:
    """Whether this process writes the results: one of the ranks does."""
    return ranks() == 1 or os.environ["RANK"] == "0"


def prepare(args: argparse.Namespace, devices: bool = False, group: bool = False) -> None:
    """Checks the values of `run_options`, and sets the number of threads.

    Args:
        devices, group: whether the command shares its work among devices, and among ranks.
    """
    if args.device == "all" and not devices:
        raise ValueError(f"--device all: {args.command} uses one device; accepted: cuda, cuda:N")
    if ranks() > 1:
        if not group:
            raise ValueError(
                f"{args.command} does not share its work among ranks; start it without torchrun"
            )
        if args.device == "all":
            raise ValueError("--device all is for one process; ranks take --device cuda")
        args.quiet = args.quiet or not leads()
    place(args)
    if args.memory is not None and args.memory < 1:
        raise ValueError(f"--memory {args.memory}; accepted: 1 or more bytes")
    if args.threads is not None:
        if not 1 <= args.threads <= MOST_THREADS:
            raise ValueError(f"--threads {args.threads}; accepted: 1 to {MOST_THREADS}")
        torch.set_num_threads(args.threads)


def place(args: argparse.Namespace) -> torch.device:
    """The device of the graph, as given by `--device`."""
    count = torch.cuda.device_count()
    several = ["cuda", "all"] if count else []
    names = ["cpu", *several, *(f"cuda:{at}" for at in range(count))]
    if args.device not in names:
        lacks = "" if count else "; this PyTorch finds no CUDA device"
        raise ValueError(f"--device {args.device}; accepted: {', '.join(names)}{lacks}")
    if args.device == "all":
        return torch.device("cuda", 0)
    if args.device == "cuda" and ranks() > 1:
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return torch.device(args.device)


def load(args: argparse.Namespace) -> EdgeList:
    """Reads the graph given by the arguments, with weights according to `weight_options`."""
    edges = read_graph(args)
    if args.similarity and args.weights is False:
        raise ValueError("--no-weights and --similarity exclude each other")
    if (args.weights or args.similarity) and edges.edge_weight is None:
        option = "--similarity" if args.similarity else "--weights"
        raise ValueError(f"{option}, but {args.graph} has no weights")
    if args.similarity:
        return to_distances(edges, args.similarity)
    return replace(edges, edge_weight=None) if args.weights is False else edges


def weighted(args: argparse.Namespace) -> bool:
    return bool(args.weights or args.similarity)


def _reading(args: argparse.Namespace) -> dict[str, Any]:
    options = {name: getattr(args, name) for name in _READING}
    options["columns"] = args.source_column, args.target_column
    return options | {"run": Run(memory=args.memory)}


def read_graph(args: argparse.Namespace) -> EdgeList:
    """Reads the graph given by the arguments, without changes."""
    if any(getattr(args, name) is not None for name in _OF_STREETS):
        return _read_streets(args)
    if args.graph == "-":
        if ranks() > 1:
            raise ValueError("GRAPH -: ranks cannot share standard input; give a file")
        if sys.stdin.isatty():
            remark(args, "reading the graph from standard input; Ctrl-D ends it")
        return read_stream(sys.stdin.buffer, "standard input", **_reading(args))
    library, _, name = args.graph.partition(":")
    if library != "networkx" or os.path.exists(args.graph):
        return read(args.graph, **_reading(args))
    if name not in _NETWORKS:
        raise ValueError(f"networkx:{name} is unknown; accepted: {', '.join(_NETWORKS)}")
    networkx = need("networkx", "networkx", args.graph)
    return from_networkx(getattr(networkx, _NETWORKS[name])(), args.directed)


def _read_streets(args: argparse.Namespace) -> EdgeList:
    """Reads a file of streets, or standard input, with the options for them."""
    is_file = args.graph != "-" and not args.graph.startswith("networkx:")
    kind = format_of(args.graph, args.format) if is_file or args.format else None
    if kind not in STREETS:
        name = min(x for x in _OF_STREETS if getattr(args, x) is not None)
        raise ValueError(f"--{name} is for streets: .gpkg, .shp and .geojson")
    for name in _NOT_OF_STREETS:
        if getattr(args, name):
            raise ValueError(f"--{name.replace('_', '-')} is not for streets")
    limits = Budget.of(args.graph if is_file else "standard input", args.memory)
    data = load_bytes(args.graph, limits) if is_file else load_stream(sys.stdin.buffer, limits)
    how = How.checked(
        args.layer, args.weight_column, args.oneway, args.tolerance or 0.0, args.directed, args.crs
    )
    with limits.granted():
        return read_lines(data, limits, how, kind)


@dataclass(frozen=True)
class Job:
    """A graph that has been read for a run, and when the run began."""

    args: argparse.Namespace
    edges: EdgeList
    graph: Graph
    started: float

    def finish(self) -> dict[str, Any]:
        """Reports sizes and time; returns what ``--json`` says about every run."""
        graph = self.graph
        size = graph.num_slots if graph.directed else graph.num_slots // 2
        return about_run(
            self.args, self.started, graph.num_nodes, size, graph.directed, graph.is_weighted
        )


def load_graph(args: argparse.Namespace, weights: str = "distances") -> Job:
    """Prepares the graph for a run. Reports unused weights.

    `weights` is what they are to the measure: of strengths and conductances, 0 is no edge.
    """
    edges = load(args)
    if edges.edge_weight is not None and not weighted(args):
        how = f"--weights uses them as {weights}"
        how += ", --similarity as similarities" if weights == "distances" else ""
        remark(args, f"{args.graph}: its weights are not used ({how})")
    started = time.perf_counter()
    if weights == "distances" or not weighted(args):
        graph = edges.graph(edge_weight=weighted(args))
        if "ties" in args:
            graph = graph.with_ties(args.ties, args.tie_tolerance)
    else:
        check_weights.strengths(edges.edge_weight, edges.edge_index, weights, edges.edge_name)
        graph = graph_of(edges, True, weights=weights)
    return Job(args, edges, graph.to(place(args)), started)


def numbers_of(labels: np.ndarray) -> dict[str, int]:
    """The number of each vertex, by its label as text."""
    return {str(label): v for v, label in enumerate(labels.tolist())}


def remark(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        with contextlib.suppress(BrokenPipeError):  # such as `2>&1 | head`: files are still written
            print(text, file=sys.stderr)


def about_run(
    args: argparse.Namespace, started: float, vertices: int, edges: int, directed: bool,
    weighted: bool,
) -> dict[str, Any]:  # fmt: skip
    seconds = time.perf_counter() - started
    kind = ("directed" if directed else "undirected") + (", weighted" if weighted else "")
    remark(args, f"{vertices:,} vertices, {edges:,} edges, {kind}; {seconds:.2f} s")
    return {
        "command": args.command, "graph": args.graph, "vertices": vertices, "edges": edges,
        "directed": directed, "weighted": weighted, "seconds": round(seconds, 6),
    }  # fmt: skip


def title(args: argparse.Namespace) -> str:
    """The name of the graph in titles of figures."""
    if args.graph == "-":
        return "standard input"
    return os.path.basename(str(args.graph)).removeprefix("networkx:")
