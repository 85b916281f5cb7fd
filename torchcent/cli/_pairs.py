"""Subcommands about pairs of vertices: ``diameter``, ``apsp``, ``closure``."""

from __future__ import annotations

import argparse
import math
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check import _weights as check_weights
from torchcent.check._run import Run
from torchcent.cli import _common, _output
from torchcent.cli._arguments import named_vertices
from torchcent.cli._report import aligned_rows, component_sizes, named
from torchcent.distribute._ledger import parts
from torchcent.io import EdgeList
from torchcent.io._files import check_target
from torchcent.pairs._closure_files import check_closure_path, write_closure
from torchcent.pairs._files import check_zarr
from torchcent.pairs._npy import check_space

_PARTS = ("center", "periphery", "mean", "effective")


def _diameter(args: argparse.Namespace) -> None:
    if args.effective is not None and not 0 < args.effective <= 1:
        raise ValueError(f"--effective {args.effective:g}; accepted: more than 0, at most 1")
    _common.prepare(args, devices=True, group=True)
    job = _common.load_graph(args)
    if args.effective is not None:
        check_weights.whole_weights(job.graph, "--effective")
    with parts(args.checkpoint, _PARTS, _common.leads()) as folder:
        rows, report = _extremes(args, job.edges, job.graph, folder)
    if not _common.leads():
        return
    run = job.finish()
    if rows["diameter"] == "inf":
        _common.remark(args, "some pairs have no path between them; --component leaves them out")
    if args.json:
        _output.show_json(run | report)
    else:
        print(aligned_rows(rows))


def _extremes(
    args: argparse.Namespace, edges: EdgeList, graph: torchcent.Graph,
    folder: dict[str, str | None],
) -> tuple[dict[str, str], dict[str, Any]]:  # fmt: skip
    """The rows to print, and the values for JSON; each call has a ledger of its own."""
    run, exact = _common.run_of(args), Run(dtype=torch.float64)
    runs = {name: run | Run(checkpoint=path) for name, path in folder.items()}
    missing = "component" if args.component else "inf"
    center = torchcent.center(graph, disconnected=missing, run=runs["center"])
    periphery = torchcent.periphery(graph, disconnected=missing, run=runs["periphery"])

    def distance(of: Tensor) -> float:
        """The eccentricity of these vertices, from a search from one of them."""
        if not of.numel():
            return 0.0
        alone = run | Run(checkpoint=None) | exact
        return float(
            torchcent.eccentricity(graph, vertices=of[:1], disconnected=missing, run=alone)
        )

    report: dict[str, Any] = {"diameter": distance(periphery), "radius": distance(center)}
    rows = {name: f"{value:.12g}" for name, value in report.items()}
    for name, of in (("center", center), ("periphery", periphery)):
        finite = report["radius" if name == "center" else "diameter"] < math.inf
        report[name] = edges.vertex_labels()[of.cpu().numpy()] if finite else None
        if finite:
            rows[{"center": "centre"}.get(name, name)] = named(edges, of)
    if args.average:
        mean = torchcent.average_shortest_path_length(
            graph, disconnected=missing, run=runs["mean"] | exact
        )
        report["mean"] = float(mean)
        rows["mean"] = _six_digits(float(mean))
    if args.effective is not None:
        within = torchcent.effective_diameter(
            graph, q=args.effective, run=runs["effective"] | exact
        )
        share = f"{100 * args.effective:.4g}% of the connected pairs"
        report["effective"] = {"share": args.effective, "distance": float(within)}
        rows["effective"] = f"{_six_digits(float(within))}, within which {share} lie"
    return rows, report


def _six_digits(value: float) -> str:
    return f"{value:.1f}" if 1e5 <= value < 1e15 else f"{value:.6g}"


def _apsp(args: argparse.Namespace) -> None:
    target = _output.target(args, "npy")
    assert target is not None  # required
    suffix = os.path.splitext(target)[1].lower()
    if suffix not in (".npy", ".zarr"):
        raise ValueError(f"{args.out}: unknown suffix {suffix!r}; accepted: .npy, .zarr")
    if args.dtype.startswith("float") and not _common.weighted(args):
        raise ValueError(f"--dtype {args.dtype} is for --weights; hops are whole numbers")
    if args.out == _output.STANDARD and (args.checkpoint is not None or _common.ranks() > 1):
        raise ValueError("-o -: ranks and --checkpoint need a file, to which rows are written")
    if suffix == ".npy":
        check_target(target)
    else:
        check_zarr(Path(target))
    _common.prepare(args, devices=True, group=True)
    job = _common.load_graph(args)
    sources, drawn = _sources(args, job.edges)
    dtype = args.dtype if args.dtype == "auto" else getattr(torch, args.dtype)
    about: dict[str, Any] = {}

    def write(path: str) -> None:
        distances = torchcent.shortest_path_lengths(
            job.graph, sources=sources, out=path, dtype=dtype, run=_common.run_of(args)
        )
        assert not isinstance(distances, Tensor)
        about.update(shape=distances.shape, dtype=str(distances.dtype), out=args.out)

    if args.out == _output.STANDARD:
        _output.deliver(args, "distances", target, write)
    else:
        write(target)
    if not _common.leads():
        return
    run, (rows, columns) = job.finish(), about["shape"]
    place = _output.place(args)
    _common.remark(args, f"{rows:,} x {columns:,} distances, {about['dtype']}, in {place}")
    names = job.edges.vertex_labels()[sources] if drawn else None
    if args.json:
        _output.show_json(run | about | {"sources": names})
    elif names is not None:
        where = sys.stderr if args.out == _output.STANDARD else sys.stdout
        print("\n".join(map(str, names)), file=where)


def _sources(args: argparse.Namespace, edges: EdgeList) -> tuple[Tensor | None, bool]:
    """The vertices given by --sources, named or drawn, and whether they were drawn."""
    sources, n = args.sources, edges.num_nodes
    if sources is None:
        return None, False
    if isinstance(sources, str):
        number = _common.numbers_of(edges.vertex_labels())
        return named_vertices(args, sources, number), False
    if not 1 <= sources <= n:
        raise ValueError(
            f"--sources {sources}; accepted: a file of names, or 1 to the number of vertices, {n}"
        )
    chance = torch.Generator().manual_seed(args.seed)
    return torch.randperm(n, generator=chance, device="cpu")[:sources].sort().values, True


def _closure(args: argparse.Namespace) -> None:
    target = _output.target(args, "npz")
    suffix = None if target is None else check_closure_path(target)
    _common.prepare(args, group=True)
    job = _common.load_graph(args)
    graph, n = job.graph, job.graph.num_nodes
    if target is not None and suffix == ".npy" and _common.leads():
        check_space(Path(target), (n, n), torch.bool)
    reflexive = {"cycles": False, "all": True, "none": None}[args.loops]
    closure = torchcent.transitive_closure(graph, reflexive=reflexive, run=_common.run_of(args))
    if not _common.leads():
        return
    everybody = torch.arange(n, device=graph.device)
    loops = int(torch.as_tensor(closure.reaches(everybody, everybody)).sum())
    pairs = closure.count() - loops
    share = f" ({pairs / (n * (n - 1)):.2%})" if n > 1 else ""
    sizes = torch.bincount(closure.component)
    rows = {
        "reachable": f"{pairs:,} of {n * (n - 1):,} pairs of different vertices{share}",
        "components": component_sizes(
            sizes.cpu().numpy(), " strongly connected" if graph.directed else ""
        ),
    }
    report: dict[str, Any] = {
        "reachable_pairs": pairs, "components": sizes.numel(),
        "largest_component": int(sizes.max()) if n else 0, "out": args.out,
    }  # fmt: skip
    if graph.directed and reflexive is False:
        rows["on cycles"] = f"{loops:,} of {n:,} vertices"
        report["vertices_on_cycles"] = loops
    write = partial(write_closure, closure=closure, labels=job.edges.labels)
    run = job.finish()
    _output.finish(
        args, "closure", {target: write}, lambda: run | report, lambda: aligned_rows(rows)
    )


COMMANDS = {"diameter": _diameter, "apsp": _apsp, "closure": _closure}
