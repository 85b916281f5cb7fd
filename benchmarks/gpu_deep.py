"""Distances by hops in deep graphs on CUDA: 512 searches side by side, and one by one.

Called by gpu.py, whose results it joins. A row is a public call on a prepared Graph on the device.
Closeness is from sums of each source, and harmonic centrality from pivots, whose sums are of every
vertex; the third are rows of distances. Those of more than 10 s by "bits" are from a part of the
sources, and are extrapolated to all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from machine import seconds_on_device
from sources import drawn

import torchcent
from torchcent import Graph, generate

#: graph, sources (None: all vertices), and the share of them that "bits" searches from
GRAPHS: dict[str, tuple[Any, int | None, float]] = {
    "grid 256x256": (lambda: generate.grid(256, 256), None, 1),
    "grid 1000x1000": (lambda: generate.grid(1000, 1000), 4096, 0.25),
    "grid 2611x2611": (lambda: generate.grid(2611, 2611), 4096, 1 / 8),
    "road 1400x1400": (lambda: generate.road(1400, 1400, seed=1), 4096, 0.25),
    "Delaunay 2^16": (lambda: generate.delaunay(2**16, seed=1), None, 1),
    "Delaunay 2^21": (lambda: generate.delaunay(2**21, seed=1), 4096, 0.25),
    "Watts-Strogatz 10^5, k = 10, p = 0.01": (lambda: generate.ws(10**5, 10, 0.01), 8192, 1),
}


def timed(call: Callable[[Any], torch.Tensor], some: Any) -> tuple[float, torch.Tensor]:
    """Seconds of a call, and a copy of what it returns."""
    values = list[torch.Tensor]()
    seconds = seconds_on_device(lambda: values.append(call(some)))
    return seconds, values[0].clone()


def row(name: str) -> dict[str, Any]:
    make, count, share = GRAPHS[name]
    graph = Graph.from_edge_index(make().cuda(), directed=False)
    n = graph.num_nodes
    sources = None if count is None else drawn(graph.to("cpu"), count).cuda()
    of_rows = sources if sources is not None else torch.arange(n, device="cuda")
    of_rows = of_rows[: max(1, 2**33 // n // 2)]
    out = torch.empty(of_rows.numel(), n, dtype=torch.int16, device="cuda")
    result: dict[str, Any] = {
        "graph": name, "vertices": n, "slots": graph.num_slots,
        "sources": n if sources is None else count, "rows": of_rows.numel(), "seconds": {},
        "auto": torchcent.explain(graph, measure="closeness", sources=count).engine,
    }  # fmt: skip
    values: dict[str, list[torch.Tensor]] = {}
    for engine in ("queue", "bits"):
        whole = engine == "queue" or share == 1
        part = None if sources is None else sources[: int(len(sources) * (1 if whole else share))]
        first = of_rows if whole else of_rows[: int(len(of_rows) * share)]
        run = torchcent.Run(engine=engine, dtype=torch.float64)

        def closeness(some: torch.Tensor | None, run: torchcent.Run = run) -> torch.Tensor:
            return torchcent.closeness(graph, vertices=some, run=run)

        def harmonic(some: torch.Tensor | None, run: torchcent.Run = run) -> torch.Tensor:
            return torchcent.harmonic(graph, sources=some, run=run)

        def lengths(some: torch.Tensor, engine: str = engine) -> torch.Tensor:
            rows, run = out[: some.numel()], torchcent.Run(engine=engine)
            return torchcent.shortest_path_lengths(graph, sources=some, out=rows, run=run)

        seconds, of_engine = result["seconds"].setdefault(engine, {}), values.setdefault(engine, [])
        for what, call, some in (
            ("closeness", closeness, part), ("harmonic", harmonic, part), ("rows", lengths, first),
        ):  # fmt: skip
            call(of_rows[:8] if some is None or whole else some[:8])
            taken, value = timed(call, some)
            of_engine.append(value)
            seconds[what] = taken if whole else taken / share
            print(name, engine, what, f"{seconds[what]:.3f}", flush=True)
    if share == 1:
        result["difference"] = max(
            float((a.double() - b.double()).abs().max() / b.double().abs().max())
            for a, b in zip(*values.values(), strict=True)
        )
    else:  # the first of the sources; pivots are others
        a, b = (values[engine][0][: int(len(sources) * share)] for engine in ("queue", "bits"))
        result["difference"] = float((a - b).abs().max() / b.abs().max())
    return result


def rows() -> list[dict[str, Any]]:
    return [row(name) for name in GRAPHS]
