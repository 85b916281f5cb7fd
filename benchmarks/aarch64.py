"""Calls whose instructions are counted on aarch64: `python benchmarks/aarch64.py lanes 8`, under
qemu-aarch64 with a plugin that counts. The number is of further calls after the first, so that the
difference of two runs is that of calls alone (docs/notes/instructions.md)."""

import sys
from collections.abc import Callable

import torch

import torchcent
from torchcent import Graph, Run, generate

NUM_GRAPHS, SIZE = 100, 24


def call(engine: str) -> Callable[[], torch.Tensor]:
    run = Run(engine=engine)
    if engine == "tiny":
        parts = [generate.ba(SIZE, 2, seed=seed) for seed in range(NUM_GRAPHS)]
        index = torch.cat([part + SIZE * k for k, part in enumerate(parts)], 1)
        batch = torch.arange(NUM_GRAPHS).repeat_interleave(SIZE)
        graph = Graph.from_edge_index(index, directed=False, batch=batch)
        return lambda: torchcent.betweenness(graph, run=run)
    index = generate.ba(2000, 4, seed=1)
    weight = (torch.arange(index.shape[1]) % 7 + 1).float() if engine == "relax" else None
    graph = Graph.from_edge_index(index, edge_weight=weight, directed=False)
    if engine == "bits":
        return lambda: torchcent.closeness(graph, run=run)
    sources = torch.arange(64 if engine == "relax" else 256)
    return lambda: torchcent.betweenness(graph, sources=sources, run=run)


if __name__ == "__main__":
    torch.set_num_threads(1)
    engine, further = sys.argv[1], int(sys.argv[2])
    compute = call(engine)
    for _ in range(1 + further):
        scores = compute()
    print(engine, further, float(scores.double().sum()))
