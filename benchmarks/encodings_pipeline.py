"""Encodings of a data set of molecules in one pass, beside PyTorch Geometric's transforms.

    python benchmarks/encodings_pipeline.py
    python benchmarks/encodings_pipeline.py --graphs 2000 --repeat 1

The graphs have 10 to 40 vertices: random trees, and up to four edges more. `AddEncodings.encode`
adds return probabilities of walks, distances of all pairs and four centralities. It is timed
without files, with new files, and with those of the run before. PyTorch Geometric adds what it has,
return probabilities, by `AddRandomWalkPE` graph by graph, and NetworkX computes the rest. Both have
a sample, and their time is scaled to all graphs. Each line has medians of runs in turn, by the
clock and of the processor, and the ratio of the latter to the first line.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE
from torch_geometric.utils import to_networkx

from torchcent.transforms import (
    AddCentrality,
    AddEncodings,
    AddRandomWalkEncoding,
    AddShortestPathEncoding,
)

STEPS, SAMPLE = 16, 500
MEASURES = ["degree", "closeness", "betweenness", "harmonic"]


def molecules(count: int) -> list[Data]:
    made = []
    for number in range(count):
        draw = random.Random(number)
        n = draw.randint(10, 40)
        edges = {(draw.randrange(max(0, v - 4), v), v) for v in range(1, n)}
        for _ in range(draw.randint(0, 4)):
            u, v = sorted(draw.sample(range(n), 2))
            edges.add((u, v))
        arcs = torch.tensor(sorted(edges)).T
        made.append(Data(edge_index=torch.cat([arcs, arcs.flip(0)], 1), num_nodes=n))
    return made


def seconds(call: Callable[[], Any]) -> tuple[float, float]:
    """By the clock, and of the processor."""
    start = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def of_networkx(data: list[Data]) -> None:
    """Distances and the centralities, from graphs that are made in time."""
    for one in data:
        graph = to_networkx(one, to_undirected=True)
        dict(nx.all_pairs_shortest_path_length(graph))
        nx.closeness_centrality(graph)
        nx.betweenness_centrality(graph)
        nx.harmonic_centrality(graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graphs", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=2048)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)  # more slow PyTorch Geometric down
    data = molecules(asked.graphs)
    transforms = [AddRandomWalkEncoding(STEPS), AddShortestPathEncoding(), AddCentrality(MEASURES)]
    add, walks = AddEncodings(transforms), AddRandomWalkPE(STEPS)
    sample = data[:SAMPLE]
    for one, encoded in zip(sample, add.encode(sample), strict=True):
        known = walks(one).random_walk_pe
        torch.testing.assert_close(encoded.random_walk_pe, known, rtol=1e-4, atol=1e-6)
    times: dict[str, list[tuple[float, float]]] = {}

    def note(name: str, call: Callable[[], Any], factor: float = 1) -> None:
        clock, processor = seconds(call)
        times.setdefault(name, []).append((factor * clock, factor * processor))

    def encode(**options: Any) -> None:
        for _ in add.encode(data, batch_size=asked.batch_size, **options):
            pass

    scale = asked.graphs / len(sample)
    for _ in range(asked.repeat):
        note("encode", encode)
        note("encode, as tensors", partial(encode, as_tensors=True))
        with tempfile.TemporaryDirectory() as folder:
            note("encode, new files", partial(encode, cache=folder))
            note("encode, files of the run before", partial(encode, cache=folder))
        note("AddEncodings, one by one (sample)", lambda: [add(one) for one in sample], scale)
        note("PyG AddRandomWalkPE (sample)", lambda: [walks(one) for one in sample], scale)
        note("NetworkX, the rest (sample)", lambda: of_networkx(sample), scale)
    first = statistics.median(processor for _, processor in times["encode"])
    print(f"{asked.graphs} graphs, {torch.get_num_threads()} threads, {asked.repeat} runs")
    for name, each in times.items():
        clock, processor = (statistics.median(column) for column in zip(*each, strict=True))
        print(f"{name:36} {clock:8.2f} s {processor:8.2f} s {processor / first:7.2f}")


if __name__ == "__main__":
    main()
