"""Shared by the subcommands: options for the graph and the run, reading, status messages."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from torchcent import Graph
from torchcent.io import EdgeList, from_networkx, read
from torchcent.io._similarity import SIMILARITIES, to_distances
from torchcent.runtime._optional import need
from torchcent.scale._group import launched

#: creates the parser of a subcommand from its name, its help, and text to show after the examples
Add = Callable[..., argparse.ArgumentParser]

DISTANCE_ENGINES = "auto, bits or tensor; with weights auto, relax, dijkstra or tensor"

_NETWORKS = {
    "les_miserables": "les_miserables_graph",
    "lesmis": "les_miserables_graph",
    "karate_club": "karate_club_graph",
    "karate": "karate_club_graph",
    "davis_southern_women": "davis_southern_women_graph",
    "florentine_families": "florentine_families_graph",
}


def graph_options(parser: argparse.ArgumentParser, weights: bool = True) -> argparse._ArgumentGroup:
    """Adds options for the graph and its format; with `weight_options` if weights are distances."""
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or networkx:NAME")
    group = parser.add_argument_group("reading")
    side = group.add_mutually_exclusive_group()
    side.add_argument(
        "--directed", action="store_true", default=None,
        help="a line 'a b' leads from a to b only (default: as the file says, else undirected)",
    )  # fmt: skip
    side.add_argument("--undirected", dest="directed", action="store_false", help="both ways")
    group.add_argument("--format", help="overrides the suffix: edges, mtx, metis, gr, ...")
    group.add_argument("--num-nodes", type=int, metavar="N", help="including isolated vertices")
    group.add_argument("--skip", type=int, default=0, metavar="L", help="skip L lines at the top")
    group.add_argument(
        "--text-labels", action="store_true", help="ids are names, even if they look like numbers"
    )
    for column, what in (
        ("source", "the first end of an edge"),
        ("target", "the second end"),
        ("weight", "weights"),
    ):
        group.add_argument(
            f"--{column}-column", type=_column, metavar="C",
            help=f"the column of an edge list with {what}: its name in the header, or its number "
            "from 1",
        )  # fmt: skip
    group.add_argument(
        "--coordinates", metavar="FILE",
        help="positions of the vertices: DIMACS .co, or a table with columns for the id and x, y "
        "or lon, lat (default: NAME.co beside NAME.gr, attributes in .graphml and .gml)",
    )  # fmt: skip
    group.add_argument(
        "--crs", metavar="SYSTEM",
        help="their coordinate system, such as EPSG:4326 (degrees; the default for lon, lat)",
    )  # fmt: skip
    if weights:
        weight_options(parser)
    return group


def weight_options(parser: argparse.ArgumentParser) -> None:
    """Adds options for the interpretation of the third column."""
    group = parser.add_argument_group("weights")
    group.add_argument(
        "--weights", action=argparse.BooleanOptionalAction, default=None,
        help="use them as distances, finite and > 0 (default: count hops, with a message)",
    )  # fmt: skip
    group.add_argument(
        "--similarity", choices=SIMILARITIES,
        help="use them as similarities: the distance is 1/s (inverse) or -ln s (log, for "
        "probabilities)",
    )  # fmt: skip


def run_options(parser: argparse.ArgumentParser, engines: str = "") -> argparse._ArgumentGroup:
    """Adds options for the run; with `--engine` if there are several engines."""
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no messages")
    group = parser.add_argument_group("running")
    if engines:
        group.add_argument("--engine", default="auto", help=engines)
    group.add_argument(
        "--device", default="cpu", metavar="DEVICE",
        help="cpu (the default, even where there is a GPU), cuda, cuda:N, or all: every GPU",
    )  # fmt: skip
    group.add_argument("--threads", type=int, metavar="T", help="of the CPU (default: all cores)")
    memory_option(group)
    return group


def checkpoint_option(group: argparse._ArgumentGroup) -> None:
    """Adds the option for runs that can be continued."""
    group.add_argument(
        "--checkpoint", metavar="FOLDER",
        help="keep what is finished there: after an interruption, the same command or "
        "'torchcent resume FOLDER' continues",
    )  # fmt: skip


def memory_option(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--memory", type=_size, metavar="SIZE",
        help="memory limit for reading and for the run, such as 4G (default: half of free)",
    )  # fmt: skip


def escape_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option for files of scores."""
    parser.add_argument(
        "--escape-formulas", action="store_true",
        help="in .csv and .tsv, put an apostrophe before names that a spreadsheet would read as "
        "formulas (=, +, -, @, ...); by default, names are written unchanged",
    )  # fmt: skip


def seed_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="for --sources K (0)")


def run_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments set by `run_options` and `checkpoint_option`."""
    shared = {"memory": args.memory, "progress": False if args.quiet else None}
    shared |= {name: getattr(args, name) for name in ("engine", "checkpoint") if name in args}
    if args.device == "all":
        shared |= {"devices": "all"}
    return shared | ({"group": "world"} if ranks() > 1 else {})


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
        if args.threads < 1:
            raise ValueError(f"--threads {args.threads}; accepted: 1 or more")
        torch.set_num_threads(args.threads)


def place(args: argparse.Namespace) -> torch.device:
    """The device of the graph, as given by `--device`."""
    count = torch.cuda.device_count()
    several = ["cuda", "all"] if count else []
    known = ["cpu", *several, *(f"cuda:{at}" for at in range(count))]
    if args.device not in known:
        lacks = "" if count else "; this PyTorch finds no CUDA device"
        raise ValueError(f"--device {args.device}; accepted: {', '.join(known)}{lacks}")
    if args.device == "all":
        return torch.device("cuda", 0)
    if args.device == "cuda" and ranks() > 1:
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return torch.device(args.device)


def _column(text: str) -> int | str:
    """A column by its number or name; names of a header are never numbers."""
    return int(text) if text.isdecimal() else text


def _size(text: str) -> int:
    """Parses ``500M``, ``4G``, ... as bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        return int(float(number) * (units[unit] if unit else 1))
    except (ValueError, KeyError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 4G") from None


def load(args: argparse.Namespace) -> EdgeList:
    """Reads the graph given by the arguments, with weights according to `weight_options`."""
    edges = read_graph(args)
    if args.similarity and args.weights is False:
        raise ValueError("--no-weights and --similarity exclude each other")
    if (args.weights or args.similarity) and edges.edge_weight is None:
        asked = "--similarity" if args.similarity else "--weights"
        raise ValueError(f"{asked}, but {args.graph} has no weights")
    if args.similarity:
        return to_distances(edges, args.similarity)
    return replace(edges, edge_weight=None) if args.weights is False else edges


def weighted(args: argparse.Namespace) -> bool:
    """Whether weights are used."""
    return bool(args.weights or args.similarity)


def read_graph(args: argparse.Namespace) -> EdgeList:
    """Reads the graph given by the arguments, without changes."""
    library, _, name = args.graph.partition(":")
    if library != "networkx" or os.path.exists(args.graph):
        return read(
            args.graph,
            directed=args.directed,
            format=args.format,
            num_nodes=args.num_nodes,
            skip=args.skip,
            text_labels=args.text_labels,
            source_column=args.source_column,
            target_column=args.target_column,
            weight_column=args.weight_column,
            coordinates=args.coordinates,
            crs=args.crs,
            memory=args.memory,
        )
    if name not in _NETWORKS:
        raise ValueError(f"networkx:{name} is unknown; accepted: {', '.join(_NETWORKS)}")
    networkx = need("networkx", "networkx", args.graph)
    return from_networkx(getattr(networkx, _NETWORKS[name])(), args.directed)


def load_graph(args: argparse.Namespace) -> tuple[EdgeList, Graph, float]:
    """Prepares the graph for a run; also returns the start time. Reports unused weights."""
    edges = load(args)
    if edges.edge_weight is not None and not weighted(args):
        how = "--weights uses them as distances, --similarity as similarities"
        remark(args, f"{args.graph}: its weights are not used ({how})")
    started = time.perf_counter()
    return edges, edges.graph(weighted=weighted(args)).to(place(args)), started


def remark(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        print(text, file=sys.stderr)


def remark_run(args: argparse.Namespace, graph: Graph, started: float) -> None:
    seconds = time.perf_counter() - started
    kind = "directed" if graph.directed else "undirected"
    kind += ", weighted" if graph.is_weighted else ""
    count = graph.num_slots if graph.directed else graph.num_slots // 2
    remark(args, f"{graph.num_nodes:,} vertices, {count:,} edges, {kind}; {seconds:.2f} s")
