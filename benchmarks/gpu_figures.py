"""Curves of the papers' figures on CUDA: what each varies, varied here.

Called by gpu.py, whose results it joins as `figures`. `gpu-fan 2` has the 25 networks of Shi and
Zhang's Figure 2, by the strategy of the algorithm that they compare with and by torchcent's choice.
`sriram 3` runs blocks on 1 to 132 multiprocessors, as Figure 3 of Sriram et al. does. So many
searches run at once, each a block on a multiprocessor of its own. `fan 3` has Figure 3 of Fan, Xu
and Zhao, `multi-search 2` and `3` those of McLaughlin and Bader.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from gpu_weighted import AS_IS, ROOMY, per_source, rounds, weighted
from graphs import MissingGraph, find
from machine import seconds_on_device
from sources import drawn

import torchcent
from torchcent import Graph, generate
from torchcent.check import _common as check

Seconds = Callable[..., tuple[float, Any]]
Rmat = Callable[[int, int], torch.Tensor]
Row = dict[str, Any]
BLOCKS = 264  # of the queue engine, two on each of the 132 multiprocessors of an H200
GROWN = [(n, b) for n in range(10_000, 50_001, 10_000) for b in range(10, 51, 10)]
AT_ONCE = (1, 2, 4, 8, 16, 32, 66, 132)
FOUR = ("NP", "WE", "NP+warp32", "WE+warp32")
QUIET = torchcent.Run(progress=False)


def undirected(edges: torch.Tensor) -> Graph:
    return Graph.from_edge_index(edges.cuda(), directed=False)


def grown(seconds: Seconds) -> list[Row]:
    """Microseconds per source: a thread per edge and a block per source, and what `auto` takes."""
    rows = []
    for n, b in GROWN:
        graph = undirected(generate.ba(n, b, seed=1))
        every = torch.arange(graph.num_nodes, device=graph.device)
        rows.append({"n": n, "b": b, "slots": graph.num_slots})
        for name in ("edge_parallel", "cooperative"):
            some = drawn(graph, BLOCKS)
            code = check.STRATEGIES[name]
            spent, _ = seconds(graph, "betweenness", "queue", some, code, reduce=AS_IS)
            rows[-1][name] = 1e6 * spent / some.numel()
        spent, plan = seconds(graph, "betweenness", "auto", every)
        rows[-1] |= {"auto": 1e6 * spent / n, "engine": plan.engine}
        print(f"gpu-fan 2: {rows[-1]}", flush=True)
    return rows


def multiprocessors() -> list[Row]:
    """Seconds of 132 searches of ND-Web, so many at once. Without reductions, each is a block."""
    try:
        graph = undirected(torch.from_numpy(find(["web-NotreDame"])[0].edges()[0]))
    except MissingGraph as missing:
        print(f"sriram 3: left out: {missing}", flush=True)
        return []
    sources, rows = drawn(graph, AT_ONCE[-1]), []
    for name in ("node_parallel", "cooperative"):
        run = QUIET | torchcent.Run(engine=torchcent.Engine("queue", strategy=name), reduce="none")
        for count in AT_ONCE:
            times = []
            for part in [sources[:count], *sources.split(count)]:  # the first is not counted
                call = partial(torchcent.betweenness, graph, sources=part, run=run)
                times.append(seconds_on_device(call))
            rows.append({"strategy": name, "at_once": count, "seconds": sum(times[1:])})
            print(f"sriram 3: {rows[-1]}", flush=True)
    return rows


def by_size_and_degree(rmat: Rmat, seconds: Seconds) -> list[Row]:
    """Microseconds per source of four strategies with locks, and levels; weights from 1 to 10."""
    degrees = (2, 4, 8, 16, 32, 64)
    panels = {
        "A": [(s, 32, lambda s=s: generate.er(1 << s, m=16 << s)) for s in range(14, 19)],
        "B": [(s, 32, lambda s=s: rmat(s, 16)) for s in range(14, 19)],
        "C": [(0, d, lambda d=d: generate.er(20_000, m=10_000 * d)) for d in degrees],
        "D": [(15, d, lambda d=d: rmat(15, d // 2)) for d in degrees],
    }
    rows = []
    for panel, curve in panels.items():
        for scale, degree, make in curve:
            graph = weighted(make(), "whole")
            sources = drawn(graph, ROOMY)
            row = {"panel": panel, "scale": scale, "degree": degree, "slots": graph.num_slots}
            row["rounds"] = statistics.mean(rounds(graph, int(s)) for s in sources[:4])
            row |= {s: 1e6 * per_source(seconds, graph, sources, s, True) for s in FOUR}
            rows.append(row)
            print(f"fan 3: {row}", flush=True)
    return rows


def all_pairs(graph: Graph) -> None:
    for _ in torchcent.shortest_path_lengths(graph, blocks=True, run=QUIET):
        pass


def random_graphs() -> list[Row]:
    """Seconds of the distances of all pairs of random graphs, by vertices and mean degree."""
    rows = []
    for degree in (28, 56, 112):
        for scale in range(13, 17):
            graph = undirected(generate.er(1 << scale, m=degree << scale >> 1))
            times = [seconds_on_device(partial(all_pairs, graph)) for _ in range(4)]
            rows.append({"scale": scale, "degree": degree, "seconds": statistics.median(times[1:])})
            print(f"multi-search 2: {rows[-1]}", flush=True)
    return rows


def traversals(rmat: Rmat, seconds: Seconds) -> list[Row]:
    """Microseconds of betweenness per source, by three strategies of one kernel."""
    kinds: dict[str, Callable[[int], torch.Tensor]] = {
        "Delaunay": lambda scale: generate.delaunay(1 << scale, seed=1),
        "Kronecker": lambda scale: rmat(scale, 48),
    }
    rows: list[Row] = []
    for kind, make in kinds.items():
        for scale in range(12, 19):
            graph = undirected(make(scale))
            some = drawn(graph, BLOCKS)
            row = {"kind": kind, "scale": scale, "slots": graph.num_slots}
            for name in ("cooperative", "work_efficient", "edge_parallel"):
                code = check.STRATEGIES[name]
                how = {"repeat": 3, "reduce": AS_IS}
                spent, _ = seconds(graph, "betweenness", "queue", some, code, **how)
                row[name] = 1e6 * spent / some.numel()
            rows.append(row)
            print(f"multi-search 3: {row}", flush=True)
    return rows


def figures(rmat: Rmat, seconds: Seconds) -> dict[str, list[Row]]:
    return {
        "gpu-fan 2": grown(seconds),
        "sriram 3": multiprocessors(),
        "fan 3": by_size_and_degree(rmat, seconds),
        "multi-search 2": random_graphs(),
        "multi-search 3": traversals(rmat, seconds),
    }
