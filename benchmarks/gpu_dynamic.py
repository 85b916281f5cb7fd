"""Single changes of graphs on CUDA, with rows, beside scores of the whole graph.

Called by gpu.py, whose results it joins; by itself it prints the same rows. Inserted edges are
between random vertices, deleted ones random edges. Each is an update of its own. Seconds are those
of the whole call, and the medians of 20 are shown; batches of 10 and 100 are inserted once.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from functools import partial
from typing import Any

import torch
from sources import drawn

import torchcent
from torchcent import DynamicBetweenness, DynamicGraph, Run

CHANGES, BATCHES = 20, (10, 100)
MEMORY = 146 * 10**9  # of rows: most of what there is
#: graphs, pivots (None: all vertices), and the seconds to reach
GRAPHS: dict[str, tuple[Any, int | None, float | None]] = {
    "BA n=16,000 b=8": (lambda: torchcent.generate.ba(16_000, 8, seed=1), None, None),
    "BA n=100,000 b=50": (lambda: torchcent.generate.ba(100_000, 50, seed=1), None, 0.002),
    "R-MAT of scale 22, 1,024 pivots": (
        lambda: torchcent.generate.rmat(22, 16, seed=1), 1024, 0.005,
    ),
}  # fmt: skip


def taken(call: Any) -> float:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def row(name: str) -> dict[str, Any]:
    generate, pivots, target = GRAPHS[name]
    index = generate().cuda()
    graph = DynamicGraph(index, directed=False)
    draw = torch.Generator().manual_seed(1)
    frozen = graph.snapshot()
    sources = None if pivots is None else drawn(frozen, pivots)
    double = Run(dtype=torch.float64)

    def whole() -> torch.Tensor:
        return torchcent.betweenness(frozen, sources=sources, run=double)

    whole()
    static = statistics.median(taken(whole) for _ in range(3))
    between = DynamicBetweenness(graph, state="rows", sources=sources, run=Run(memory=MEMORY))
    result: dict[str, Any] = {
        "graph": name, "vertices": graph.num_nodes, "edges": graph.num_edges, "target": target,
        "whole": static, "first": taken(lambda: between.scores), "drawn": "degree > 0",
    }  # fmt: skip
    scores, known = between.scores, whole()
    result["error"] = float((scores - known).abs().max() / known.max())
    result["bytes"] = between._rows.paths.element_size() * 3 + between._rows.distance.element_size()
    result["room"] = between._rows._room.numel()
    inserts = [torch.randint(graph.num_nodes, (2, 1), generator=draw) for _ in range(CHANGES)]
    places = torch.randint(index.shape[1], (CHANGES,), generator=draw)
    deletes = [index[:, place : place + 1] for place in places.tolist()]
    for kind, changes in (("insert", inserts), ("delete", deletes)):
        times, sources_touched, own = [], [], []
        for change in changes:
            times.append(taken(partial(graph.update, **{kind: change}, strict=False)))
            sources_touched.append(between.statistics.sources)
            own.append(between.statistics.seconds)
        result[kind] = statistics.median(times)
        result[f"{kind} of measure"] = statistics.median(own)
        result[f"{kind} slowest"] = max(times)
        result[f"{kind} touched"] = statistics.median(sources_touched)
    result["batches"] = {}
    for size in BATCHES:
        edges = torch.randint(graph.num_nodes, (2, size), generator=draw)
        result["batches"][str(size)] = taken(partial(graph.update, edges, strict=False))
    frozen = graph.snapshot()
    result["error at the end"] = float((between.scores - whole()).abs().max() / known.max())
    print(result, flush=True)
    return result


def rows(names: list[str] | None = None) -> list[dict[str, Any]]:
    table = []
    for name in names or GRAPHS:
        gc.collect()
        torch.cuda.empty_cache()
        table.append(row(name))
    return table


if __name__ == "__main__":
    rows([name for name in GRAPHS if any(part in name for part in sys.argv[1:])])
