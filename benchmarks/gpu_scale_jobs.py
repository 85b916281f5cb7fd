"""What gpu_scale.py measures, each job in a process of its own (or in several ranks), so that a
limit of time or a kill ends nothing else. The last line that a job prints is its result, as JSON.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from sources import drawn
from torch import Tensor

import torchcent
from torchcent import Graph, Run, generate
from torchcent.check import _devices
from torchcent.distribute import _digest, _units
from torchcent.runtime._tuned import TUNED

LONG = 10.0  # seconds of a run that is not repeated
REPEAT = 3
_DRAWN: dict[tuple[Any, ...], Tensor] = {}


class Place(NamedTuple):
    """Where a job runs: the kind of device, and whether its sizes are small, to test the script."""

    device: str
    small: bool

    def size(self, full: Any, small: Any) -> Any:
        return small if self.small else full


def rmat(scale: int, factor: int, device: str) -> Tensor:
    """R-MAT (0.57, 0.19, 0.19, 0.05), drawn on the device."""
    chance = torch.Generator(device=device).manual_seed(1)
    tail = torch.zeros(factor << scale, dtype=torch.int32, device=device)
    head = torch.zeros_like(tail)
    for _ in range(scale):
        r = torch.rand(tail.shape, generator=chance, device=device)
        tail = 2 * tail + (r >= 0.76)
        head = 2 * head + (((r >= 0.57) & (r < 0.76)) | (r >= 0.95))
    return torch.stack([tail, head])


def clusters(n: int, size: int, inside: float, outside: float, device: str) -> Tensor:
    """Clusters of consecutive vertices, with so many edges per vertex in them and to anywhere."""
    chance = torch.Generator(device=device).manual_seed(1)

    def draw(count: int) -> Tensor:
        return torch.randint(n, (count,), generator=chance, device=device)

    tail = draw(int(n * inside / 2))
    other = torch.randint(size, tail.shape, generator=chance, device=device)
    near = torch.stack([tail, (tail // size * size + other).clamp(max=n - 1)])
    return torch.cat([near, torch.stack([draw(int(n * outside / 2)) for _ in "ab"])], 1)


def some(graph: Graph, count: int) -> Tensor:
    """Sources in ascending order, drawn once: the choice, on the CPU, is not what is measured."""
    key = graph.num_nodes, graph.num_slots, count, graph.device
    if key not in _DRAWN:
        _DRAWN[key] = drawn(graph, count, seed=2).sort().values
    return _DRAWN[key]


def graph_of(arcs: Tensor, place: Place) -> Graph:
    return Graph.from_edge_index(arcs.to(place.device), directed=False)


# ---- one device against several


class Task(NamedTuple):
    """A call: its graph, the call with further arguments, and a short one that warms up."""

    make: Callable[[Place], Tensor]
    call: Callable[[Graph, Place, dict[str, Any]], Any]
    warm: Callable[[Graph, Place, dict[str, Any]], Any]


def _betweenness(full: int | None, small: int | None = None) -> dict[str, Any]:
    def call(graph: Graph, place: Place, more: dict[str, Any]) -> Tensor:
        count = place.size(full, small)
        sources = None if count is None else some(graph, count)
        return torchcent.betweenness(graph, sources=sources, **more)

    def warm(graph: Graph, place: Place, more: dict[str, Any]) -> Tensor:
        # As many sources that every device has a unit.
        count = place.size(8192 if full is None else 1024, 64)
        sources = some(graph, min(count, graph.num_nodes))
        return torchcent.betweenness(graph, sources=sources, **more)

    return {"call": call, "warm": warm}


def _approximation(graph: Graph, epsilon: float, more: dict[str, Any]) -> Tensor:
    chance = torch.Generator().manual_seed(3)
    return torchcent.betweenness_approx(graph, epsilon, 0.1, generator=chance, **more).scores


TASKS: dict[str, Task] = {
    "R-MAT scale 19 ef 48, all sources": Task(
        lambda p: rmat(*p.size((19, 48), (11, 4)), p.device), **_betweenness(None)
    ),
    "BA n=100000 b=50, all sources": Task(
        lambda p: generate.ba(*p.size((100_000, 50), (600, 5))), **_betweenness(None)
    ),
    "road-like 1400x1400, 8,192 sources": Task(
        lambda p: generate.road(*p.size((1400, 1400), (25, 25))), **_betweenness(8192, 200)
    ),
    "grid 1000x1000, 16,384 sources": Task(
        lambda p: generate.grid(*p.size((1000, 1000), (25, 25))), **_betweenness(16384, 300)
    ),
    "closeness, R-MAT scale 22 ef 8": Task(
        lambda p: rmat(*p.size((22, 8), (10, 8)), p.device),
        lambda g, p, more: torchcent.closeness(g, **more),
        lambda g, p, more: torchcent.closeness(
            g, sources=some(g, p.size(65536, 64)), **more
        ),
    ),
    "approximation within 0.0005, road-like 500x500": Task(
        lambda p: generate.road(*p.size((500, 500), (40, 40))),
        lambda g, p, more: _approximation(g, p.size(0.0005, 0.02), more),
        lambda g, p, more: _approximation(g, p.size(0.02, 0.1), more),
    ),
}  # fmt: skip


def compare(name: str, place: Place, counts: list[int]) -> dict[str, Any]:
    """The seconds of a call on 1, 2, ... devices, and whether all give the bits of one."""
    task = TASKS[name]
    graph = graph_of(task.make(place), place)
    found: dict[str, Any] = {"nodes": graph.num_nodes, "slots": graph.num_slots, "seconds": {}}
    bits = {}
    for count in counts:
        more = {"run": Run(devices=devices(place, count), progress=False, dtype=torch.float64)}
        task.warm(graph, place, more)
        times: list[float] = []
        while len(times) < REPEAT and sum(times) < LONG:
            synchronize(place)
            begun = time.perf_counter()
            result = task.call(graph, place, more)
            synchronize(place)
            times.append(time.perf_counter() - begun)
        found["seconds"][str(count)] = statistics.median(times)
        bits[count] = _digest.of_tensors(result)
        print(f"{name}: {count} devices {times}", flush=True)
    one = found["seconds"]["1"]
    found["efficiency"] = {n: one / (int(n) * t) for n, t in found["seconds"].items()}
    found["same_bits"] = len(set(bits.values())) == 1
    return found


def devices(place: Place, count: int) -> list[str] | None:
    """The first devices; of the CPU, the same one several times over."""
    if place.device == "cuda":
        return [f"cuda:{at}" for at in range(count)] if count > 1 else None
    cpu = torch.device("cpu")
    _devices.devices = lambda value, home: (cpu,) * count  # type: ignore[assignment]
    return ["cpu"] if count > 1 else None


def synchronize(place: Place) -> None:
    if place.device == "cuda":
        for at in range(torch.cuda.device_count()):
            torch.cuda.synchronize(at)


# ---- large graphs


def large(place: Place, count: int) -> dict[str, Any]:
    """R-MAT scale 25 ef 16, 4,096 sources, on so many devices."""
    arcs = rmat(*place.size((25, 16), (10, 8)), place.device)
    graph = graph_of(arcs, place)
    del arcs
    sources = some(graph, place.size(4096, 300))
    run = Run(devices=devices(place, count), progress=False, dtype=torch.float64)
    begun = time.perf_counter()
    result = torchcent.betweenness(graph, sources=sources, run=run)
    synchronize(place)
    seconds = time.perf_counter() - begun
    gteps = sources.numel() * graph.num_slots / seconds / 1e9
    peak = torch.cuda.max_memory_allocated() if place.device == "cuda" else None
    return {
        "nodes": graph.num_nodes, "slots": graph.num_slots, "sources": sources.numel(),
        "devices": count, "seconds": seconds, "gteps": gteps, "memory": peak,
        "bits": _digest.of_tensors(result),
    }  # fmt: skip


def similarities(arcs: Tensor, inside: int) -> Tensor:
    """Weights of edges, the first of which are inside of clusters: 0.5 to 1, others 0.05 to 0.3.

    Without them the products of two edges between clusters are as large as the threshold, and the
    second iteration has 1.7 million products per column.
    """
    chance = torch.Generator(device=arcs.device).manual_seed(2)
    weight = torch.rand(arcs.shape[1], generator=chance, device=arcs.device)
    weight[:inside] = 0.5 + weight[:inside] / 2
    weight[inside:] = 0.05 + weight[inside:] / 4
    return weight


def clustering(place: Place, ranked: bool) -> dict[str, Any]:
    """Markov clustering of 2 million vertices with 200 million entries."""
    n, size = place.size((2_000_000, 100), (3000, 20))
    inside, outside = place.size((80.0, 19.0), (12.0, 2.0))
    arcs = clusters(n, size, inside, outside, place.device)
    weight = similarities(arcs, int(n * inside / 2))
    run = Run(engine="fused", progress=False)
    if not ranked and place.small:  # as if the device were too small
        run |= Run(memory=4_800_000)
    plan = torchcent.explain_mcl(arcs, weight, num_nodes=n, directed=False, run=run)
    run |= Run(group="world" if ranked else None)
    begun = time.perf_counter()
    found = torchcent.mcl(arcs, weight, num_nodes=n, directed=False, run=run)
    synchronize(place)
    return {
        "nodes": n, "entries": 2 * arcs.shape[1] + n, "seconds": time.perf_counter() - begun,
        "iterations": found.iterations, "clusters": found.num_clusters,
        "pieces": None if ranked else plan.pieces, "ranks": int(os.environ.get("WORLD_SIZE", 1)),
        "bits": _digest.of_tensors(found.labels),
    }  # fmt: skip


# ---- a run that is killed, and ranks


def whole(place: Place, checkpoint: str | None, ranked: bool) -> dict[str, Any]:
    """All sources of a graph that takes a device more than a minute; of ranks another."""
    scale = place.size((19, 48) if ranked else (21, 12), (11, 4))
    graph = graph_of(rmat(*scale, place.device), place)
    run = Run(checkpoint=checkpoint, group="world" if ranked else None, progress=False)
    run |= Run(dtype=torch.float64)

    def seconds() -> tuple[float, Tensor]:
        begun = time.perf_counter()
        result = torchcent.betweenness(graph, run=run)
        synchronize(place)
        return time.perf_counter() - begun, result

    first, result = seconds()  # with the beginning of the group, and the preparation
    found = {
        "nodes": graph.num_nodes, "slots": graph.num_slots, "seconds": first,
        "bits": _digest.of_tensors(result), "ranks": int(os.environ.get("WORLD_SIZE", 1)),
    }  # fmt: skip
    return found | ({"again": seconds()[0]} if ranked else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=("compare", "large", "clustering", "whole"))
    parser.add_argument("--name")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--counts", type=int, nargs="+", default=[1])
    parser.add_argument("--checkpoint")
    parser.add_argument("--ranked", action="store_true")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    place = Place(args.device, args.small)
    if place.device == "cpu":
        torch.set_num_threads(1)
    if place.small:  # many units, even of small graphs
        TUNED.update({name: dataclasses.replace(each, unit=2e4) for name, each in TUNED.items()})
        _units.LEAST_BATCHES = _units.FIRST = 1
    if args.ranked and place.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    found = {
        "compare": lambda: compare(args.name, place, args.counts),
        "large": lambda: large(place, max(args.counts)),
        "clustering": lambda: clustering(place, args.ranked),
        "whole": lambda: whole(place, args.checkpoint, args.ranked),
    }[args.job]()
    if os.environ.get("RANK", "0") == "0":
        print(json.dumps(found), flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
