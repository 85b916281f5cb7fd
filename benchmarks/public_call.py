"""Exact betweenness of whole graphs, from arrays of edges to scores: what a user waits for.

    python benchmarks/public_call.py       # about ten minutes

Every run builds the library's graph and computes all scores. torchcent and its peers run in turns:
torchcent five times, a peer once if that takes longer than a minute, else three times. The medians
are written to results/public_call.json and, by tables.py, into the README. Scores are compared.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import find
from machine import conditions
from peers import PEERS, Edges
from report import markdown

import torchcent

RESULT = Path(__file__).parent / "results" / "public_call.json"
#: peers that take a graph; NetworkX and rustworkx are for the small ones
LINE_UP = {
    "facebook_combined": ("networkit", "igraph", "rustworkx", "networkx"),
    "yeast-biogrid": ("networkit", "igraph", "rustworkx", "networkx"),
    "4elt": ("networkit", "igraph"),
    "email-Enron": ("networkit", "igraph"),
}
WORDS = {
    "facebook_combined": "friendships (facebook_combined)",
    "yeast-biogrid": "protein interactions (yeast, BioGRID)",
    "4elt": "mesh (4elt)",
    "email-Enron": "e-mails (email-Enron)",
}
NAMES = {"networkit": "NetworKit", "igraph": "igraph", "rustworkx": "rustworkx",
         "networkx": "NetworkX"}  # fmt: skip
THREADS = 2


def ours(edges: Edges, num_nodes: int) -> Callable[[], Any]:
    index = torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1))
    quiet = torchcent.Run(progress=False)

    def call() -> Any:
        return torchcent.betweenness(
            index,
            num_nodes=num_nodes,
            normalized=False,
            run=quiet | torchcent.Run(dtype=torch.float64),
        ).numpy()

    return call


def peer(name: str, edges: Edges, num_nodes: int) -> Callable[[], Any]:
    kind = PEERS[name]
    made = kind("betweenness", THREADS if kind.threaded else 1)

    def call() -> Any:
        made.prepare(edges, num_nodes)
        return made.scores(made.run(None), None)

    return call


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def measure(name: str) -> dict[str, Any]:
    edges, n = find([name])[0].edges()
    calls = {"torchcent": ours(edges, n)}
    calls |= {peer_: peer(peer_, edges, n) for peer_ in LINE_UP[name] if PEERS[peer_].version()}
    calls["torchcent"]()  # loads code and starts threads
    seconds: dict[str, list[float]] = {one: [] for one in calls}
    expected = None
    for turn in range(5):
        for one, call in calls.items():
            if one != "torchcent" and (turn > 2 or seconds[one][:1] > [60.0]):
                continue
            taken, scores = timed(call)
            seconds[one].append(taken)
            if expected is None:
                expected = scores
            elif scores is not None:
                np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4 * expected.max())
    print(name, {one: round(statistics.median(x), 3) for one, x in seconds.items()}, flush=True)
    return {"name": name, "num_nodes": n, "num_edges": edges.shape[1], "seconds": seconds}


def table(result: dict[str, Any]) -> str:
    """Medians, and how many times longer the peers take; narrow enough for a phone."""
    lines = [["graph", "torchcent", *NAMES.values()]]
    for row in result["graphs"]:
        median = {name: statistics.median(x) for name, x in row["seconds"].items()}
        cells = [f"{WORDS[row['name']]}, {row['num_edges']:,} edges"]
        cells.append(f"{median['torchcent']:.2f} s")
        for name in NAMES:
            times = "" if name not in median else f"{median[name] / median['torchcent']:,.0f}x"
            cells.append(times)
        lines.append(cells)
    return markdown(lines)


def main() -> None:
    torch.set_num_threads(THREADS)
    result = {**conditions(), "threads": THREADS, "graphs": []}
    for name in LINE_UP:
        result["graphs"].append(measure(name))
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
