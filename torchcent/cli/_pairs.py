"""Subcommands about pairs of vertices: ``diameter``, ``apsp``, ``closure``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import torch
from torch import Tensor

import torchcent
from torchcent.check import _weights as check_weights
from torchcent.cli import _common
from torchcent.cli._report import aligned_rows, component_sizes, named
from torchcent.io import EdgeList
from torchcent.io._closure import check_closure_path, write_closure
from torchcent.io._files import check_folder, load_bytes, text_bytes, text_lines
from torchcent.pairs._npy import check_space
from torchcent.scale._ledger import parts

_PARTS = ("center", "periphery", "mean", "effective")
_DTYPES = ("auto", "int8", "int16", "int32", "float32", "float64")

_MATRIX = """\
dist.npy is a matrix for numpy.load(..., mmap_mode="r"): row i has the distances from the i-th
source to every vertex, -1 where there is no path (inf for floating-point types). Vertices are
in the order of the tables that other commands write with -o. With --sources K, the names of the
rows are printed."""

_CLOSURE = """\
A .npy is a bool matrix, true at [u, v] where u reaches v. A .npz is packed: component (int32 [n],
of every vertex), loop (bool [n], whether a vertex reaches itself) and bits, with one row and one
column per component:
  file = numpy.load("calls.npz")
  part, count = file["component"], len(file["bits"])
  dense = numpy.unpackbits(file["bits"], axis=1, count=count).view(bool)[part][:, part]
  numpy.fill_diagonal(dense, file["loop"])"""


def add_parsers(add: _common.Add) -> None:
    parser = add("diameter", "diameter, radius, centre and periphery of a graph")
    _common.graph_options(parser)
    parser.add_argument(
        "--component", action="store_true",
        help="ignore pairs without a path (otherwise one such pair makes the diameter inf)",
    )  # fmt: skip
    parser.add_argument("--average", action="store_true", help="also print the mean distance")
    parser.add_argument(
        "--effective", type=float, metavar="Q",
        help="the distance within which a share Q of the connected pairs lies, such as 0.9",
    )  # fmt: skip
    _common.checkpoint_option(_common.run_options(parser, _common.DISTANCE_ENGINES))
    parser.set_defaults(call=_diameter)

    parser = add("apsp", "distances from all vertices, or some, to all others, in a file", _MATRIX)
    _common.graph_options(parser)
    parser.add_argument(
        "-o", "--out", required=True, metavar="OUT", help="matrix to write: .npy or .zarr"
    )
    parser.add_argument(
        "--sources", metavar="FILE|K",
        help="only rows of these vertices, one name per line, or of K random vertices",
    )  # fmt: skip
    _common.seed_option(parser)
    parser.add_argument(
        "--dtype",
        choices=_DTYPES,
        default="auto",
        help="type of the distances (the narrowest that fits; floats with weights only)",
    )
    _common.checkpoint_option(_common.run_options(parser, _common.DISTANCE_ENGINES))
    parser.set_defaults(call=_apsp)

    parser = add("closure", "transitive closure: who reaches whom", _CLOSURE)
    _common.graph_options(parser)
    parser.add_argument(
        "-o", "--out", metavar="OUT", help="file to write: .npy (n^2 bytes) or .npz (packed)"
    )
    parser.add_argument(
        "--loops", choices=("cycles", "all", "none"), default="cycles",
        help="which vertices reach themselves: those on a cycle of a directed graph (the default)",
    )  # fmt: skip
    _common.checkpoint_option(_common.run_options(parser))
    parser.set_defaults(call=_closure)


def _diameter(args: argparse.Namespace) -> None:
    if args.effective is not None and not 0 < args.effective <= 1:
        raise ValueError(f"--effective {args.effective:g}; accepted: more than 0, at most 1")
    _common.prepare(args, devices=True, group=True)
    edges, graph, started = _common.load_graph(args)
    if args.effective is not None:
        check_weights.whole_weights(graph, "--effective")
    with parts(args.checkpoint, _PARTS, _common.leads()) as folder:
        rows = _extremes(args, edges, graph, folder)
    if not _common.leads():
        return
    _common.remark_run(args, graph, started)
    if rows["diameter"] == "inf":
        _common.remark(args, "some pairs have no path between them; --component leaves them out")
    print(aligned_rows(rows))


def _extremes(
    args: argparse.Namespace, edges: EdgeList, graph: torchcent.Graph,
    folder: dict[str, str | None],
) -> dict[str, str]:  # fmt: skip
    """The rows to print; each call has a ledger of its own."""
    run = _common.run_arguments(args)
    del run["checkpoint"]
    exact = {"dtype": torch.float64, **run}
    missing = "component" if args.component else "inf"
    center = torchcent.center(graph, disconnected=missing, checkpoint=folder["center"], **run)
    periphery = torchcent.periphery(
        graph, disconnected=missing, checkpoint=folder["periphery"], **run
    )

    def distance(of: Tensor) -> str:
        """The eccentricity of these vertices, from a search from one of them."""
        if not of.numel():
            return "0"
        one = torchcent.eccentricity(graph, vertices=of[:1], disconnected=missing, **exact)
        return f"{float(one):.12g}"

    rows = {"diameter": distance(periphery), "radius": distance(center)}
    if rows["radius"] != "inf":
        rows["centre"] = named(edges, center)
    if rows["diameter"] != "inf":
        rows["periphery"] = named(edges, periphery)
    if args.average:
        mean = torchcent.average_shortest_path_length(
            graph, disconnected=missing, checkpoint=folder["mean"], **exact
        )
        rows["mean"] = _six_digits(float(mean))
    if args.effective is not None:
        within = torchcent.effective_diameter(
            graph, q=args.effective, checkpoint=folder["effective"], **exact
        )
        share = f"{100 * args.effective:.4g}% of the connected pairs"
        rows["effective"] = f"{_six_digits(float(within))}, within which {share} lie"
    return rows


def _six_digits(value: float) -> str:
    return f"{value:.1f}" if 1e5 <= value < 1e15 else f"{value:.6g}"


def _apsp(args: argparse.Namespace) -> None:
    suffix = os.path.splitext(args.out)[1].lower()
    if suffix not in (".npy", ".zarr"):
        raise ValueError(f"{args.out}: unknown suffix {suffix!r}; accepted: .npy, .zarr")
    if args.dtype.startswith("float") and not _common.weighted(args):
        raise ValueError(f"--dtype {args.dtype} is for --weights; hops are whole numbers")
    check_folder(args.out)
    _common.prepare(args, devices=True, group=True)
    edges, graph, started = _common.load_graph(args)
    sources, drawn = _sources(args, edges)
    dtype = args.dtype if args.dtype == "auto" else getattr(torch, args.dtype)
    distances = torchcent.shortest_path_lengths(
        graph, sources=sources, out=args.out, dtype=dtype, **_common.run_arguments(args)
    )
    if not _common.leads():
        return
    _common.remark_run(args, graph, started)
    rows, columns = distances.shape
    _common.remark(args, f"{rows:,} x {columns:,} distances, {distances.dtype}, in {args.out}")
    if drawn:
        print("\n".join(str(name) for name in edges.vertex_labels()[sources]))


def _sources(args: argparse.Namespace, edges: EdgeList) -> tuple[Tensor | None, bool]:
    """The vertices given by --sources, named or drawn, and whether they were named."""
    text, n = args.sources, edges.num_nodes
    if text is None:
        return None, False
    if text.isdecimal() and not os.path.exists(text):
        if not 1 <= int(text) <= n:
            raise ValueError(
                f"--sources {text}; accepted: a file of names, or 1 to the number of vertices, {n}"
            )
        chance = torch.Generator().manual_seed(args.seed)
        return torch.randperm(n, generator=chance, device="cpu")[: int(text)].sort().values, True
    vertex = {str(label): v for v, label in enumerate(edges.vertex_labels().tolist())}
    chosen: dict[int, None] = {}
    lines = text_lines(text, text_bytes(text, load_bytes(text)))
    for number, line in enumerate(lines, 1):
        name = line.strip()
        if not name:
            continue
        if name not in vertex:
            raise ValueError(f"{text}:{number}: {name!r} is no vertex of {args.graph}")
        if vertex[name] in chosen:
            raise ValueError(f"{text}:{number}: {name!r} stands there twice")
        chosen[vertex[name]] = None
    return torch.tensor(list(chosen), device="cpu"), False


def _closure(args: argparse.Namespace) -> None:
    suffix = None if args.out is None else check_closure_path(args.out)
    _common.prepare(args, group=True)
    edges, graph, started = _common.load_graph(args)
    if suffix == ".npy" and _common.leads():
        check_space(Path(args.out), (graph.num_nodes, graph.num_nodes), torch.bool)
    reflexive = {"cycles": False, "all": True, "none": None}[args.loops]
    closure = torchcent.transitive_closure(
        graph, reflexive=reflexive, **_common.run_arguments(args)
    )
    if not _common.leads():
        return
    n, everybody = graph.num_nodes, torch.arange(graph.num_nodes, device=graph.device)
    loops = int(torch.as_tensor(closure.reaches(everybody, everybody)).sum())
    pairs = closure.count() - loops
    share = f" ({pairs / (n * (n - 1)):.2%})" if n > 1 else ""
    rows = {"reachable": f"{pairs:,} of {n * (n - 1):,} pairs of different vertices{share}"}
    kind = " strongly connected" if graph.directed else ""
    rows["components"] = component_sizes(torch.bincount(closure.component).cpu().numpy(), kind)
    if graph.directed and reflexive is False:
        rows["on cycles"] = f"{loops:,} of {n:,} vertices"
    _common.remark_run(args, graph, started)
    print(aligned_rows(rows))
    if args.out is not None:
        write_closure(args.out, closure, edges.labels)
        _common.remark(args, f"closure in {args.out}")
