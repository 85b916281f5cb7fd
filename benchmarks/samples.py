"""How many random shortest paths a second? By hops, by whole weights and by others.

    python benchmarks/samples.py                             # on the CPU
    python benchmarks/samples.py --device cuda --scale 20

Of the road by weights there are also samples by climbs in a hierarchy, and the seconds of its
contraction, on the CPU. Nothing is kept; docs/notes quote it (approximation.md, hierarchy.md and
performance-weighted-cuda.md). Weights are whole numbers from 1 to 10, or these times 1 + 2^-25,
which no int32 holds. Medians; one call of the operator each, in which the device is as busy as it
gets.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time

import torch

from torchcent import Graph, generate
from torchcent.approx._sampler import Sampler
from torchcent.runtime._codes import DONE, WORK

CLIMBS = 10_000, 70_000
SAMPLES = {"cpu": {"R-MAT": 3000, "road-like": 150}, "cuda": {"R-MAT": 60_000, "road-like": 8000}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=SAMPLES, default="cpu")
    parser.add_argument("--scale", type=int, default=16, help="of R-MAT, edge factor 16")
    parser.add_argument("--side", type=int, default=500, help="of the road-like graph")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    graphs = {
        "R-MAT": generate.rmat(given.scale, 16, seed=1),
        "road-like": generate.road(given.side, given.side, seed=1),
    }
    for name, edges in graphs.items():
        whole = 1.0 + torch.arange(edges.shape[1], dtype=torch.float64) % 10
        weights = {"hops": None, "whole weights": whole, "others": whole * (1 + 2.0**-25)}
        for kind, weight in weights.items():
            graph = Graph.from_edge_index(edges, directed=False, edge_weight=weight)
            sampler = Sampler(graph.to(given.device), torch.Generator().manual_seed(0))
            sampler.draw(16)
            sampler.control.zero_()
            count, seconds = SAMPLES[given.device][name], []
            for _ in range(given.repeat):
                begin = time.perf_counter()
                sampler.draw(count)  # waits for the device
                seconds.append(time.perf_counter() - begin)
            rate = count / statistics.median(seconds)
            arcs = int(sampler.control[WORK]) / int(sampler.control[DONE])
            print(
                f"{name:9} {graph.num_nodes:9,} vertices, {kind:13} {arcs:9,.0f} arcs a sample, "
                f"{rate:11,.0f} samples a second",
                flush=True,
            )
            if name == "road-like" and weight is not None and given.device == "cpu":
                climbs(graph, given.repeat)


def climbs(graph: Graph, repeat: int) -> None:
    begin = time.perf_counter()
    sampler = Sampler(graph, torch.Generator().manual_seed(0), expected=math.inf)
    print(f"  by a hierarchy, {time.perf_counter() - begin:.1f} s before the first")
    for count in CLIMBS:
        seconds = []
        for _ in range(repeat):
            begin = time.perf_counter()
            sampler.draw(count)
            seconds.append(time.perf_counter() - begin)
        each = statistics.median(seconds) / count
        print(f"  {count:,} samples, {1e6 * each:.1f} us each", flush=True)


if __name__ == "__main__":
    main()
