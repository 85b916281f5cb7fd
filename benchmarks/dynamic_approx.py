"""Single changes of graphs that change, for approximate betweenness, beside a new approximation.

    python benchmarks/dynamic_approx.py               # the table of docs/notes/dynamic.md
    python benchmarks/dynamic_approx.py ba rmat       # of some graphs
    python benchmarks/dynamic_approx.py --epsilon 0.003 ba

Inserted edges are between random vertices, deleted ones random edges; each is an update of its own,
and the medians of 60 are shown. Times are those of the processor, with one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from graphs import SHARED_DATA, shared, simplified

import torchcent
from torchcent import DynamicBetweennessApprox, DynamicGraph

GRAPHS = (
    "ba", "rmat", "email-Enron", "soc-Epinions1-und", "soc-Slashdot0902", "web-NotreDame",
    "delaunay_n16",
)  # fmt: skip
GENERATED = {
    "ba": partial(torchcent.generate.ba, 100_000, 5, seed=1),
    "rmat": partial(torchcent.generate.rmat, 16, 8, seed=1),
}
CHANGES, REPEATS = 60, 5
HEAD = "| graph | vertices | edges | new | first | samples | arcs alone | insert | delete |"


def seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def shown(value: float) -> str:
    return f"{1000 * value:.3g} ms"


def median(graph: DynamicGraph, name: str, changes: list[torch.Tensor]) -> str:
    updates = (partial(graph.update, **{name: edge}, strict=False) for edge in changes)
    return shown(statistics.median(map(seconds, updates)))


def row(name: str, epsilon: float) -> str:
    if name in GENERATED:
        edges, n = simplified(GENERATED[name]().numpy(), 10**6)
    else:
        edges, n = simplified(*shared(name))
    index = torch.from_numpy(edges)
    generator = torch.Generator().manual_seed(1)
    inserts = [torch.randint(n, (2, 1), generator=generator) for _ in range(CHANGES)]
    inserts = [edge for edge in inserts if edge[0] != edge[1]]
    places = torch.randint(index.shape[1], (CHANGES,), generator=generator)
    deletes = [index[:, place : place + 1] for place in places]
    graph = DynamicGraph(index, n, directed=False)
    frozen = graph.snapshot()
    new = partial(torchcent.betweenness_approx, frozen, epsilon, method="kadabra")
    cells = [shown(statistics.median(seconds(new) for _ in range(REPEATS)))]
    alone = median(DynamicGraph(index, n, directed=False), "insert", inserts)
    follows = DynamicBetweennessApprox(graph, epsilon, generator=generator)
    cells += [shown(seconds(partial(getattr, follows, "scores")))]
    cells += [f"{follows.approximation.samples:,}", alone]
    cells += [median(graph, "insert", inserts), median(graph, "delete", deletes)]
    return f"| {name} | {n:,} | {index.shape[1]:,} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--epsilon", type=float, default=0.01)
    options = parser.parse_args()
    names = options.graphs
    if not SHARED_DATA.exists() and set(names) - set(GENERATED):
        parser.error(f"{SHARED_DATA} is not here")
    torch.set_num_threads(1)
    print(HEAD)
    print("|---|" + "---:|" * (HEAD.count("|") - 2))
    for name in names:
        print(row(name, options.epsilon), flush=True)


if __name__ == "__main__":
    main()
