"""Roads by length on CUDA: hierarchies, searches on the device, and the host beside it.

Called by gpu.py, whose results it joins; by itself it prints the same rows. Whole lengths of 10 to
1,000 at random; the graphs are held on the device, and contracted, beforehand. Sweeps and searches
that would take long run from some sources, and are extrapolated to all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from machine import seconds_on_device
from sources import drawn

import torchcent
from torchcent import Graph, generate

SIDES = (500, 1000)
SEARCHED = 512  # sources of searches
F64 = torch.float64


def road(side: int) -> Graph:
    edges = generate.road(side, side, seed=1)
    edges = edges[:, edges[0] < edges[1]]
    chance = torch.Generator().manual_seed(7)
    weight = torch.randint(10, 1001, (edges.shape[1],), generator=chance)
    return Graph.from_edge_index(edges, directed=False, edge_weight=weight)


def calls(graph: Graph, engine: str) -> dict[str, Callable[[torch.Tensor | None], Any]]:
    """By measure, from some sources or all."""

    def of_sources(sources: torch.Tensor | None) -> Any:
        return None if sources is None else sources.to(graph.device)

    return {
        "closeness": lambda sources: torchcent.closeness(
            graph,
            vertices=of_sources(sources),
            run=torchcent.Run(engine=engine, dtype=F64),
        ),
        "harmonic": lambda sources: torchcent.harmonic(
            graph,
            vertices=of_sources(sources),
            run=torchcent.Run(engine=engine, dtype=F64),
        ),
        "betweenness": lambda sources: torchcent.betweenness(
            graph,
            sources=of_sources(sources),
            run=torchcent.Run(engine=engine, dtype=F64),
        ),
    }


def row(side: int) -> dict[str, Any]:
    host = road(side)
    there, n = host.to("cuda"), host.num_nodes
    some = drawn(host, SEARCHED).sort().values
    found: dict[str, Any] = {
        "graph": f"road {side}x{side}", "vertices": n, "slots": host.num_slots,
        "threads": torch.get_num_threads(), "seconds": {}, "searched": {},
    }  # fmt: skip
    contraction = seconds_on_device(lambda: torchcent.explain(there, measure="closeness"))
    found["contraction"] = contraction
    for place, graph in (("device", there), ("host", host)):
        for measure, call in calls(graph, "auto").items():
            call(some[:8])
            torchcent.explain(graph, measure=measure)
            taken = found["seconds"].setdefault(measure, {})
            taken[place] = seconds_on_device(lambda call=call: call(None))
            taken[f"engine on the {place}"] = torchcent.explain(graph, measure=measure).engine
            print(found["graph"], measure, place, taken, flush=True)
        rows = some.to(graph.device)
        torchcent.shortest_path_lengths(graph, sources=rows[:64])
        each = seconds_on_device(
            lambda g=graph, r=rows: torchcent.shortest_path_lengths(g, sources=r)
        )
        found["seconds"].setdefault("row", {})[place] = each / SEARCHED
    for engine in ("dijkstra", "relax"):
        for measure, call in calls(there, engine).items():
            part = some[:: 1 if engine == "dijkstra" else 8]
            call(part[:8])
            each = seconds_on_device(lambda call=call, part=part: call(part)) / part.numel()
            found["searched"].setdefault(measure, {})[engine] = each * n
    print(found, flush=True)
    return found


def rows() -> list[dict[str, Any]]:
    torchcent.betweenness(generate.road(60, 60, seed=1).cuda())  # loads the code
    return [row(side) for side in SIDES]


if __name__ == "__main__":
    rows()
