"""Betweenness beside hybrid_BC (McLaughlin and Bader 2014), the nearest peer of Table IV, on a GPU.

    python benchmarks/gpu_hybrid_bc.py PROGRAM        # half a minute -> results/hybrid_bc.json

PROGRAM is the peer, compiled outside of this repository (Adam27X/hybrid_BC on GitHub, with Boost:
g++ -c parse.cpp sequential.cpp; nvcc -gencode=arch=compute_90,code=sm_90 *.cu *.o -o bc). Both
search from as many random vertices of a graph whose vertices all have neighbours. The peer's time
is the one that it prints: memory, copies and searches, after reading. Ours is the public call, on
arcs that are on the device (`first`) and on a Graph that was searched before, the median of
--repeat. Scores from all vertices of a small graph are compared.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import generated, simplified
from machine import conditions, seconds_on_device
from numpy.typing import NDArray
from report import markdown

import torchcent
from torchcent import EdgeList, Graph

RESULT = Path(__file__).parent / "results" / "hybrid_bc.json"
#: of the paper's kinds: the mesh, ecology1, a road network and a Kronecker graph
GRAPHS: dict[str, tuple[str, dict[str, int]]] = {
    "Delaunay 2^19": ("delaunay", {"n": 2**19, "seed": 1}),
    "ecology1 (grid 1000x1000)": ("grid", {"rows": 1000, "cols": 1000}),
    "road-like 1000x1000": ("road", {"rows": 1000, "cols": 1000, "seed": 1}),
    "R-MAT scale 16 ef 48": ("rmat", {"scale": 16, "edge_factor": 48, "seed": 1}),
}
SMALL = ("rmat", {"scale": 12, "edge_factor": 8, "seed": 1})
Edges = NDArray[np.int64]


def written(edges: Edges, num_nodes: int, folder: Path) -> Path:
    path = folder / "g.graph"
    torchcent.write(path, EdgeList(torch.from_numpy(edges), None, None, num_nodes, False))
    return path


def peer(program: Path, graph: Path, *options: str) -> float:
    """Seconds, as it prints them."""
    command = [str(program), "-i", str(graph), *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"Time for GPU Algorithm: ([\d.e+-]+) s", said)
    assert found is not None, said
    return float(found[1])


def difference(program: Path, folder: Path) -> float:
    """The largest relative difference of scores from all vertices; zeros must agree."""
    edges, n = simplified(*generated(SMALL[0], **SMALL[1]))
    output = folder / "scores.txt"
    peer(program, written(edges, n, folder), f"--printscores={output}")
    numbers = [float(line.split()[-1]) for line in output.read_text().splitlines() if line.split()]
    theirs = torch.tensor(numbers[-n:], dtype=torch.float64)
    arcs = torch.from_numpy(edges).cuda()
    ours = torchcent.betweenness(arcs, num_nodes=n, directed=False, normalized=False).cpu().double()
    assert torch.equal(ours > 0, theirs > 0)
    return float(((ours - theirs).abs() / ours.clamp(min=1e-300)).max())


def row(name: str, program: Path, count: int, repeat: int, folder: Path) -> dict[str, Any]:
    kind, options = GRAPHS[name]
    edges, n = simplified(*generated(kind, **options))
    theirs = peer(program, written(edges, n, folder), "-k", str(count))
    arcs = torch.from_numpy(edges).cuda()
    sources = torch.randperm(n, generator=torch.Generator().manual_seed(1))[:count].cuda()
    first = seconds_on_device(
        lambda: torchcent.betweenness(arcs, num_nodes=n, directed=False, sources=sources)
    )
    graph = Graph.from_edge_index(arcs, n, directed=False)
    times = [
        seconds_on_device(lambda: torchcent.betweenness(graph, sources=sources))
        for _ in range(repeat)
    ]
    return {
        "name": name, "num_nodes": n, "num_slots": graph.num_slots, "sources": count,
        "hybrid_bc": theirs, "first": first, "prepared": statistics.median(times),
    }  # fmt: skip


def table(result: dict[str, Any]) -> str:
    head = ["graph", "vertices", "slots", "sources", "hybrid_BC, s", "first call, s", "x"]
    lines = [[*head, "prepared, s", "x"]]
    for row in result["rows"]:
        theirs, ours = row["hybrid_bc"], (row["first"], row["prepared"])
        cells = [row["name"], *(f"{row[k]:,}" for k in ("num_nodes", "num_slots", "sources"))]
        lines.append([*cells, f"{theirs:.3g}"])
        for seconds in ours:
            lines[-1] += [f"{seconds:.3g}", f"{theirs / seconds:.1f}"]
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path, help="hybrid_BC, compiled")
    parser.add_argument("--sources", type=int, default=2112, help="16 for each of 132 processors")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    result = {**conditions(), "device": torch.cuda.get_device_name(), "rows": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result["difference"] = difference(given.program, folder)
        for graph in GRAPHS:
            result["rows"].append(row(graph, given.program, given.sources, given.repeat, folder))
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            print(table({"rows": result["rows"][-1:]}).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
