"""How many random shortest paths a second? By hops, by whole weights and by others.

    python benchmarks/samples.py                             # on the CPU
    python benchmarks/samples.py --device cuda --scale 20

Nothing is kept; docs/notes/approximation.md and performance-weighted-cuda.md quote it. Weights are
whole numbers from 1 to 10, or these times 1 + 2^-25, which no int32 holds. Medians; one call of the
operator each, in which the device is as busy as it gets.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch

from torchcent import Graph, generate
from torchcent.approx._sampler import Sampler
from torchcent.runtime._codes import DONE, WORK

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
            arcs = int(sampler.control[WORK]) / int(sampler.control[DONE])
            print(
                f"{name:9} {graph.num_nodes:9,} vertices, {kind:13} {arcs:9,.0f} arcs a sample, "
                f"{count / statistics.median(seconds):11,.0f} samples a second",
                flush=True,
            )


if __name__ == "__main__":
    main()
