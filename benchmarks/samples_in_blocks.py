"""Would samples of paths inside blocks save anything (docs/approximation.md)?

    python benchmarks/samples_in_blocks.py

A path between two random vertices has `parts` stretches inside blocks of three and more vertices,
on average, `largest` of them in the largest block. To know scores within epsilon, fractions of the
samples of a block are needed within epsilon / `largest`. Compared are the samples and the seconds
of that for the largest block alone with those for the whole graph.
"""

from __future__ import annotations

import time

import torch
from graphs import find
from report import markdown

import torchcent
from torchcent import Approximation, Graph
from torchcent.engines.blocks import _blocks
from torchcent.engines.measures._request import Request
from torchcent.graph import _batch

GRAPHS = ("rec-amazon", "PGPgiantcompo", "web-NotreDame", "astro-ph", "luxembourg_osm", "tn-sydney")
EPSILON, DELTA = 0.005, 0.1


def sampled(graph: Graph, epsilon: float) -> tuple[Approximation, float]:
    generator = torch.Generator().manual_seed(1)
    torchcent.betweenness_approx(graph, 0.1, DELTA, method="kadabra", generator=generator)
    quiet = torchcent.Run(progress=False)
    begin = time.perf_counter()
    found = torchcent.betweenness_approx(
        graph, epsilon, DELTA, method="kadabra", generator=generator, run=quiet
    )
    return found, time.perf_counter() - begin


def row(name: str) -> list[str]:
    edges, n = find([name])[0].edges()
    graph = Graph.from_edge_index(torch.from_numpy(edges), n, directed=False)
    blocks = _blocks.of(graph)
    sources = blocks.reduce(graph, Request("betweenness"))[0].sources
    assert sources is not None and blocks.union.ptr is not None
    of_block = torch.segment_reduce(sources, "sum", offsets=blocks.union.ptr)
    squares = torch.segment_reduce(sources.square(), "sum", offsets=blocks.union.ptr)
    share = (of_block.square() - squares) / (n * (n - 1))
    largest = int(blocks.union.ptr.diff().argmax())
    whole, seconds = sampled(graph, EPSILON)
    inside, less = sampled(_batch.part(blocks.union, largest), EPSILON / float(share[largest]))
    return [
        name, f"{n:,}", f"{int(blocks.union.ptr.diff()[largest]):,}", f"{float(share.sum()):.2f}",
        f"{float(share[largest]):.2f}", f"{whole.samples:,}", f"{inside.samples:,}",
        f"{seconds:.2f}", f"{less:.2f}",
    ]  # fmt: skip


def main() -> None:
    head = ["graph", "vertices", "in the largest block", "parts", "largest", "samples"]
    head += ["samples inside", "s", "s inside"]
    print(markdown([head, *map(row, GRAPHS)]))


if __name__ == "__main__":
    main()
