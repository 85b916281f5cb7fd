"""multi_search.cuh on CUDA: visitors of multi_search.cu beside torchcent's functions.

Called by gpu.py, whose results it joins; by itself it prints the same rows. nvcc compiles the
visitors. Times are the least of three calls on a prepared graph, from all its vertices; hops
are counted from every sixteenth. Counts and distances must be equal.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent import Graph, Run, generate

BLOCKS = 8  # per multiprocessor
HOPS = 3


class Searches:
    """The visitors of multi_search.cu on a graph on CUDA."""

    def __init__(self, folder: Path) -> None:
        library = folder / "multi_search.so"
        major, minor = torch.cuda.get_device_capability()
        command = ["nvcc", "-std=c++20", "-O3", f"-arch=sm_{major}{minor}", "-Xcompiler", "-fPIC"]
        command += ["-shared", f"-I{torchcent.include_path()}", "-o", str(library)]
        subprocess.run([*command, str(Path(__file__).with_name("multi_search.cu"))], check=True)
        self.library = ctypes.CDLL(str(library))
        self.blocks = BLOCKS * torch.cuda.get_device_properties(0).multi_processor_count

    def hop_count(self, graph: Graph, sources: Tensor, k: int) -> Tensor:
        """How many vertices are within k hops of each source, int64 [sources]."""
        count = torch.empty_like(sources)
        self._run("hop_count", graph, sources, ctypes.c_int64(k), count)
        return count

    def distances(self, graph: Graph, sources: Tensor) -> Tensor:
        """Hops, int32 [sources, n], -1 where there is no path."""
        hops = graph.col.new_full((sources.numel(), graph.num_nodes), -1)
        self._run("distances", graph, sources, hops)
        return hops

    def betweenness(self, graph: Graph, sources: Tensor) -> Tensor:
        """Sums of dependencies, float64 [n]."""
        n, options = graph.num_nodes, {"dtype": torch.float64, "device": graph.device}
        scores = torch.zeros(n, **options)
        paths, share = torch.zeros(2, self.blocks, n, **options)
        first = graph.col.new_empty(self.blocks, n + 1)
        self._run("betweenness", graph, sources, scores, paths, share, first)
        return scores

    def _run(self, name: str, graph: Graph, sources: Tensor, *more: Any) -> None:
        workspace = graph.col.new_empty(2 * graph.num_nodes * self.blocks)
        given = [
            ctypes.c_int64(graph.num_nodes), graph.rowptr, graph.col, sources,
            ctypes.c_int64(sources.numel()), workspace, ctypes.c_int(self.blocks),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), *more,
        ]  # fmt: skip
        plain = [ctypes.c_void_p(x.data_ptr()) if isinstance(x, Tensor) else x for x in given]
        if error := getattr(self.library, name)(*plain):
            raise RuntimeError(f"{name}: CUDA error {error}")


class HopCount(torchcent.Visitor):
    """The same in Python."""

    def prior(self, lane: Tensor, vertex: Tensor, depth: int) -> bool:
        return depth < HOPS

    def finalize(self) -> Tensor:
        return (self.depth >= 0).sum(1)


def taken(call: Callable[[], Tensor]) -> tuple[float, Tensor]:
    least = float("inf")
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        result = call()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - begin)
    return least, result


def row(name: str, edges: Tensor, searches: Searches) -> dict[str, Any]:
    graph = Graph.from_edge_index(edges.cuda(), directed=False)
    every = torch.arange(graph.num_nodes, device="cuda")
    some = every[::16].contiguous()
    hops, few = taken(lambda: searches.hop_count(graph, some, HOPS))
    python, theirs = taken(lambda: torchcent.multi_search(graph, some, HopCount()))
    assert few.equal(theirs)
    pairs, matrix = taken(lambda: searches.distances(graph, every))
    own, other = taken(lambda: torchcent.shortest_path_lengths(graph))
    assert matrix.equal(other.int())
    del matrix, other
    sums, scores = taken(lambda: searches.betweenness(graph, every) / 2)
    exact = Run(dtype=torch.float64)
    engine, expected = taken(lambda: torchcent.betweenness(graph, normalized=False, run=exact))
    result = {
        "graph": name, "nodes": graph.num_nodes, "slots": graph.num_slots, "hops": HOPS,
        "vertices within some hops": {"header": hops, "torchcent": python},
        "distances of all pairs": {"header": pairs, "torchcent": own},
        "betweenness": {"header": sums, "torchcent": engine},
        "error": float((scores - expected).abs().max() / expected.max()),
    }  # fmt: skip
    print(result, flush=True)
    return result


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        searches = Searches(Path(folder))
        return [
            row("R-MAT scale 14 ef 16", generate.rmat(14, 16, seed=1), searches),
            row("Delaunay 2^14", generate.delaunay(1 << 14, seed=1), searches),
            row("BA n=20000 b=10", generate.ba(20_000, 10, seed=1), searches),
        ]


if __name__ == "__main__":
    rows()
