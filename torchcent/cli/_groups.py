"""The subcommand ``prominent-group``."""

from __future__ import annotations

import argparse
from functools import partial

import torch

import torchcent
from torchcent.check._run import Run
from torchcent.cli import _common, _output
from torchcent.cli._report import score_rows, score_table
from torchcent.io import write_scores
from torchcent.io._scores import check_scores_path


def _prominent(args: argparse.Namespace) -> None:
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    group = torchcent.prominent_group(
        graph,
        args.size,
        args.epsilon,
        args.delta,
        method=args.method,
        endpoints=args.endpoints,
        max_samples=args.max_samples,
        generator=torch.Generator().manual_seed(args.seed),
        run=_common.run_of(args) | Run(dtype=torch.float64),
    )
    _common.remark_run(args, graph, started)
    at = group.vertices.cpu().numpy()
    columns = {
        "label": edges.vertex_labels()[at], "degree": graph.degree.cpu().numpy()[at],
        "covered": group.scores.cpu().numpy(),
    }  # fmt: skip
    about = {
        "measure": "prominent group", "graph": args.graph, "method": group.method,
        "samples": group.samples,
        "lower": group.lower, "optimum": group.optimum, "reached": group.reached,
        "epsilon": args.epsilon, "delta": args.delta, "seed": args.seed,
    } | ({"endpoints": True} if args.endpoints else {})  # fmt: skip
    _common.remark(args, _in_words(group, args))
    run = _common.about_run(args, graph, started)
    if out is not None:
        write = partial(
            write_scores, columns=columns, metadata=about, escape_formulas=args.escape_formulas
        )
        _output.deliver(args, "vertices", out, write)
    rows = {"lowest": True}  # in the order in which they were chosen
    if args.json:
        _output.show_json(
            run | about | {"out": args.out} | {"top": score_rows(columns, args.size, **rows)}
        )
    elif args.out != _output.STANDARD:
        print(score_table(columns, args.size, **rows))


def _in_words(group: torchcent.ProminentGroup, args: argparse.Namespace) -> str:
    best = f"no {args.size} vertices cover more than {group.optimum:.2%} of the paths"
    if group.method == "exact":
        return f"{best} (exact gains)"
    text = f"at least {group.lower:.2%} are covered, {best}, with probability "
    text += f"{1 - args.delta:g} ({group.samples:,} random paths)"
    return text if group.reached else f"{text}; too few for --epsilon {args.epsilon:g}"


COMMANDS = {"prominent-group": _prominent}
