"""Communities by edge betweenness, and edge betweenness from samples.

    python benchmarks/communities.py             # -> results/communities.json

A planted partition of 150 vertices is divided to the end, one edge per round, by torchcent, igraph
and NetworkX (which stops at five communities). One with 10^5 edges is divided until its communities
are found, with several edges per round, from exact and from sampled scores; and its edge scores are
approximated. Clock and seconds of the processor in all threads, of single runs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import torch
from machine import conditions

import torchcent

RESULTS = Path(__file__).parent / "results" / "communities.json"


def planted(groups: int, size: int, inside: float, outside: float, seed: int) -> torch.Tensor:
    """Arcs of a planted partition with these mean degrees inside and outside of the groups."""
    chance, n = torch.Generator().manual_seed(seed), groups * size
    count = int(n * inside / 2)
    one = torch.randint(n, (count,), generator=chance)
    other = one // size * size + torch.randint(size, (count,), generator=chance)
    far = torch.randint(n, (2, int(n * outside / 2)), generator=chance)
    arcs = torch.cat([torch.stack([one, other]), far], 1).sort(0).values
    return torch.unique(arcs[:, arcs[0] < arcs[1]], dim=1)


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    before = time.perf_counter(), time.process_time()
    found = call()
    took = time.perf_counter() - before[0], time.process_time() - before[1]
    return found, {"seconds": took[0], "processor": took[1]}


def small() -> dict[str, Any]:
    arcs = planted(5, 30, 8, 1, 1)
    graph, peer = nx.Graph(arcs.T.tolist()), igraph.Graph(n=150, edges=arcs.T.tolist())
    ours, row = timed(lambda: torchcent.communities_by_betweenness(arcs, directed=False))
    theirs, of_igraph = timed(lambda: peer.community_edge_betweenness(directed=False))
    quality = peer.modularity(theirs.as_clustering())
    some, of_networkx = timed(
        lambda: next(
            x for x in itertools.islice(nx.community.girvan_newman(graph), 99) if len(x) >= 5
        )
    )
    until, to_five = timed(
        lambda: torchcent.communities_by_betweenness(arcs, len(some), directed=False)
    )
    return {
        "edges": arcs.shape[1],
        "torchcent": {**row, "modularity": float(ours.modularity.max())},
        "igraph": {**of_igraph, "modularity": quality},
        "torchcent to five": {**to_five, "communities": int(until.counts[-1])},
        "networkx to five": {**of_networkx, "communities": len(some)},
    }


def large() -> dict[str, Any]:
    arcs = planted(100, 200, 8, 2, 2)
    graph = torchcent.Graph.from_edge_index(arcs, directed=False)
    rows: dict[str, Any] = {"vertices": graph.num_nodes, "edges": graph.num_edges}
    for name, options in {
        "samples": {"method": "samples", "epsilon": 0.0005, "per_round": 0.02, "max_rounds": 20},
        "exact": {"per_round": 0.04, "max_rounds": 10},
    }.items():
        chance = torch.Generator().manual_seed(3)
        found, row = timed(
            lambda options=options, chance=chance: torchcent.communities_by_betweenness(
                graph, generator=chance, **options
            )
        )
        best = float(found.modularity.max())
        rows[name] = {**row, **options, "modularity": best, "level": int(found.counts[found.level])}
        print(name, rows[name], flush=True)
    for epsilon in (0.001, 0.0005):
        found, row = timed(
            lambda epsilon=epsilon: torchcent.edge_betweenness_approx(
                graph, epsilon, method="kadabra", generator=torch.Generator().manual_seed(3)
            )
        )
        rows[f"edge scores within {epsilon}"] = {**row, "samples": found.samples}
    _, rows["exact edge scores"] = timed(lambda: torchcent.edge_betweenness(graph))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    found = {
        "conditions": conditions(), "threads": asked.threads, "small": small(), "large": large(),
    }  # fmt: skip
    print(json.dumps(found, indent=1))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
