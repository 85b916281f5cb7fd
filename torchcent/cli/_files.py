"""Subcommands about graph files: ``info``, ``convert``, ``rewired``, ``generate``; ``config``."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torchcent
from torchcent import generate
from torchcent.cli import _clusters, _common, _ledgers, _output
from torchcent.cli._report import describe, summary
from torchcent.io import EdgeList, replacing
from torchcent.io._files import check_target, format_to_write, refuse_other_format
from torchcent.io._formats import holds
from torchcent.io._mcl import with_tab
from torchcent.io._native import write_tab
from torchcent.io._write import check_graph_path, write_graph


def _info(args: argparse.Namespace) -> None:
    if _ledgers.is_ledger(Path(args.graph)):
        if args.json:
            _output.show_json({"command": args.command} | _ledgers.summary(args.graph))
        else:
            print(_ledgers.describe(args.graph))
        return
    _common.prepare(args)
    edges, device = _common.load(args), str(_common.place(args))
    report = summary(args.graph, edges, _common.weighted(args), device)
    if args.json:
        _output.show_json({"command": args.command} | report | {"plan": _plan(report["plan"])})
    else:
        print(describe(report))


def _plan(plan: torchcent.Plan) -> dict[str, Any]:
    names = ("measure", "engine", "reason", "sources", "threads", "memory", "memory_limit")
    return {name: getattr(plan, name) for name in names} | {"device": str(plan.device)}


def _convert(args: argparse.Namespace) -> None:
    if _clusters.holds_clusters(args):
        _clusters.convert(args)
        return
    if args.write_tab is not None:
        refuse_other_format(args.write_tab, "dictionaries of labels", (".txt", ".tsv"))
        check_target(args.write_tab)
    _write(args, lambda: _with_names(args, _common.load(args)))


def _with_names(args: argparse.Namespace, edges: EdgeList) -> EdgeList:
    """The edges with the labels of --use-tab, which also go to the file of --write-tab."""
    if args.use_tab is not None:
        edges = with_tab(edges, args.use_tab)
    if args.write_tab is not None:
        path = _output.target(args, "txt")
        assert path is not None  # required
        with replacing(args.write_tab) as file:
            write_tab(file, edges, holds(path, format_to_write(path)).first)
    return edges


def _write(args: argparse.Namespace, make: Callable[[], EdgeList]) -> None:
    """Writes a graph that is made once the output is known to be possible."""
    path = _output.target(args, "txt")
    assert path is not None  # required
    kind = check_graph_path(path)
    if kind == "sif" and args.out == _output.STANDARD:
        raise ValueError("-o -: .sif has tables beside it; name a file")
    edges = make()
    fields = ("labels", "kinds") if getattr(args, "write_tab", None) is not None else ()
    remarks: list[str] = []
    count = 0

    def write(place: str) -> None:
        nonlocal count
        remarks[:], count = write_graph(place, edges, kept=fields)

    if args.out == _output.STANDARD:
        _output.deliver(args, "edges", path, write)
    else:
        write(path)
    for text in remarks:
        warnings.warn(f"{_output.place(args)}: {text}", stacklevel=2)
    sizes = f"{edges.num_nodes:,} vertices, {count:,} edges"
    first = holds(path, format_to_write(path)).first
    shifted = first == (1 if edges.labels is None else 0)
    if first is not None and shifted and edges.num_nodes and not (fields or remarks):
        sizes += f"; its vertices are counted from {first}, those of the input from {1 - first}"
    _common.remark(args, f"{_output.place(args)}: {sizes}")


def _rewired(args: argparse.Namespace) -> EdgeList:
    edges = _common.load(args)
    graph = generate.rewired(edges.graph(), swaps=args.swaps, seed=args.seed)
    index = graph.to_edge_index()
    once = slice(None) if graph.directed else index[0] < index[1]
    arcs = index[:, once]
    return replace(
        edges, edge_index=arcs, edge_weight=None, streets=None, directed=graph.directed
    )  # fmt: skip


def _generated(args: argparse.Namespace) -> EdgeList:
    index = getattr(generate, args.model)(**{name: getattr(args, name) for name in args.options})
    makers: dict[str, Callable[[], int]] = {
        "rmat": lambda: 1 << args.scale,
        "grid": lambda: args.rows * args.cols,
        "road": lambda: int(index.max()) + 1 if index.numel() else 1,
    }
    n = makers[args.model]() if args.model in makers else args.n
    return EdgeList(index[:, index[0] < index[1]], None, None, n, False)


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "info": _info,
    "convert": _convert,
    "generate": lambda args: _write(args, lambda: _generated(args)),
    "rewired": lambda args: _write(args, lambda: _rewired(args)),
    "config": lambda args: print(torchcent.show_config()),
}
