"""Subcommands of measures of a whole graph: a number, or the vertices or edges that it returns."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import torch

from torchcent.check._run import Run
from torchcent.cli import _arguments, _columns, _common, _output
from torchcent.engines.measures._measures import Measure
from torchcent.io import write_scores
from torchcent.io._mcl import cluster_lines
from torchcent.io._scores import check_scores_path


def describe(args: argparse.Namespace, measure: Measure) -> None:
    """Prints the number, or the names of the vertices or edges, one or two per line."""
    out = _output.target(args, "csv") if measure.members else None
    if out is not None:
        check_scores_path(out)
    _common.prepare(args)
    job = _common.load_graph(args, measure.weights or "distances")
    values = _arguments.arguments(measure, args, job.edges, job.graph, [])
    exact = Run(dtype=torch.float64) if "dtype" in measure.uses else Run()
    result = measure.function(job.graph, **values, run=_common.run_of(args) | exact)
    run = job.finish() | {"measure": _columns.name_of(measure)}
    run |= _arguments.about(measure, args)
    if not measure.members:
        value = float(result)
        if args.json:
            _output.show_json(run | {"value": value})
        else:
            print(f"{value:.12g}")
        return
    names = job.edges.vertex_labels()[result.cpu().numpy()]
    count = result.shape[-1]
    _common.remark(args, f"{_columns.name_of(measure)}: {count:,}")
    columns = {"label": names} if names.ndim == 1 else {"source": names[0], "target": names[1]}
    write = partial(
        write_scores, columns=columns, metadata={"measure": _columns.name_of(measure)},
        escape_formulas=args.escape_formulas,
    )  # fmt: skip

    def report() -> dict[str, Any]:
        return run | {"out": args.out, "count": count, "members": names.T}

    _output.finish(args, measure.members, {out: write}, report, partial(_lines, args, names))


def _lines(args: argparse.Namespace, names: np.ndarray) -> str:
    """The names, as files of vertices and edge lists have them; none if a file has them."""
    if args.out is not None:
        return ""
    if names.ndim == 1:
        return "\n".join(map(str, names))
    rows = torch.arange(names.size, device="cpu").view(2, -1).T.tolist()
    return "".join(cluster_lines(rows, names.ravel())).removesuffix("\n")
