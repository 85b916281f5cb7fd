"""Encodings for graph transformers of 10,000 molecules, beside loops of NetworkX and PyG.

    python benchmarks/graph_encodings.py              # -> results/encodings.json
    python benchmarks/graph_encodings.py --repeat 9 --threads 2

Every call begins with an edge_index and ptr. Medians by the clock, and seconds of the processor in
all threads: on a busy machine the latter are the better measure. The peers compute the same of a
sample, from objects that are made already, and their time is scaled to the whole set; theirs and
ours run in turns. Values of the sample are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from machine import conditions
from report import markdown
from small_graphs import parts, union

import torchcent

RESULTS = Path(__file__).parent / "results" / "encodings.json"
SAMPLE, STEPS = 300, 16


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    before = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - before[0], time.process_time() - before[1]


def table(result: dict[str, Any]) -> str:
    """Milliseconds of a call, and times a loop of a peer by the clock and by the processor."""
    lines = [["result", "ms", "peer", "x, clock", "x, processor"]]
    for row in result["rows"]:
        cells, peer = [row["call"], f"{1e3 * row['seconds']:.3g}"], row.get("peer")
        cells += ["", "", ""] if peer is None else [peer["name"], f"{peer['ratio']:.0f}"]
        lines.append(cells if peer is None else [*cells, f"{peer['ratio_processor']:.0f}"])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    graphs = parts("molecules")
    arcs, ptr = union(graphs)
    weight = (1 + (arcs - ptr[torch.repeat_interleave(ptr.diff())[arcs[0]]]).sum(0) % 4).double()
    size, slots = int(ptr[SAMPLE]), int((arcs[0] < ptr[SAMPLE]).sum())
    made = []
    for n, edges in graphs[:SAMPLE]:
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_weighted_edges_from((u, v, 1 + (u + v) % 4) for u, v in edges)
        made.append(graph)

    def distances() -> list[Any]:
        return [dict(nx.all_pairs_shortest_path_length(graph)) for graph in made]

    def lengths() -> list[Any]:
        return [dict(nx.all_pairs_dijkstra_path_length(graph)) for graph in made]

    batch = torch.repeat_interleave(ptr.diff())
    dense, pairs = torchcent.shortest_path_encoding, torchcent.shortest_path_pairs
    walks = torchcent.random_walk_encoding
    ours: dict[str, Callable[[], Any]] = {
        "matrices": lambda: dense(arcs, batch=batch),
        "matrices, int64": lambda: dense(arcs, batch=batch, dtype=torch.int64),
        "matrices by weights": lambda: dense(arcs, weight, batch=batch),
        "matrices and paths of 5 edges": lambda: dense(arcs, batch=batch, paths=5),
        "pairs up to 3 hops": lambda: pairs(arcs, batch=batch, cutoff=3),
        "random walks of 16 steps": lambda: walks(arcs, batch=batch, walk_length=STEPS),
    }
    peers: dict[str, Callable[[], Any]] = {
        "matrices": distances, "matrices, int64": distances, "matrices by weights": lengths,
    }  # fmt: skip
    differences: dict[str, float] = {}
    for name, known in (("matrices", distances()), ("matrices by weights", lengths())):
        found = ours[name]().distance
        differences[name] = max(
            abs(found[g, u, v].item() - d)
            for g, rows in enumerate(known) for u, row in rows.items() for v, d in row.items()
        )  # fmt: skip
    try:
        from torch_geometric.data import Data
        from torch_geometric.transforms import AddRandomWalkPE
    except ImportError:
        print("torch_geometric is not installed")
    else:
        of, add = torch.repeat_interleave(ptr.diff())[arcs[0, :slots]], AddRandomWalkPE(STEPS)
        data = [
            Data(edge_index=arcs[:, :slots][:, of == g] - ptr[g], num_nodes=graphs[g][0])
            for g in range(SAMPLE)
        ]
        peers["random walks of 16 steps"] = lambda: [add(one) for one in data]
        known = torch.cat([add(one).random_walk_pe for one in data])
        found = walks(arcs, batch=batch, walk_length=STEPS)[:size]
        differences["random walks of 16 steps"] = float((found - known).abs().max())
    result: dict[str, Any] = {
        **conditions(), "threads": given.threads, "repeat": given.repeat, "set": "molecules",
        "graphs": len(graphs), "vertices": int(ptr[-1]), "slots": arcs.shape[1], "rows": [],
    }  # fmt: skip
    for name, call in ours.items():
        call()
        own, others = [], []
        for _ in range(given.repeat):
            own.append(timed(call))
            if name in peers:
                others.append(timed(peers[name]))
        row: dict[str, Any] = {
            "call": name,
            "seconds": statistics.median(t for t, _ in own),
            "processor": statistics.median(t for _, t in own),
        }
        shown = f"{name:30} {row['seconds'] * 1e3:8.1f} ms"
        if others:
            scale = len(graphs) / SAMPLE
            turns = list(zip(own, others, strict=True))
            row["peer"] = {
                "name": "torch_geometric" if "walks" in name else "networkx", "sample": SAMPLE,
                "seconds": scale * statistics.median(t for t, _ in others),
                "processor": scale * statistics.median(t for _, t in others),
                "ratio": scale * statistics.median(b[0] / a[0] for a, b in turns),
                "ratio_processor": scale * statistics.median(b[1] / a[1] for a, b in turns),
                "difference": differences.get(name),
            }  # fmt: skip
            shown += f", x{row['peer']['ratio']:.0f} by the clock, "
            shown += f"x{row['peer']['ratio_processor']:.0f} by the processor"
        print(shown, flush=True)
        result["rows"].append(row)
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
