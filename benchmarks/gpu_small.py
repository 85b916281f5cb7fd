"""Every CUDA kernel on small graphs of every kind, to be run under compute-sanitizer.

    compute-sanitizer --tool memcheck  python benchmarks/gpu_small.py
    compute-sanitizer --tool racecheck python benchmarks/gpu_small.py --few

Values are compared with those of the CPU; exits 1 where they differ. gpu.py runs both and keeps
what they found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

import torchcent
from torchcent import Graph, _check, generate
from torchcent._approx._sampler import Sampler
from torchcent._mcl import _flow
from torchcent._mcl._rules import Rules

# racecheck follows every access to shared memory, a thousand times slower: on few graphs, and only
# our own kernels.
TOOLS = {"memcheck": ([], []), "racecheck": (["--kernel-name", "kns=torchcent"], ["--few"])}
FEW = ("wheel, whose hub is split", "small grid", "random, directed")


def graphs() -> Iterator[tuple[str, torch.Tensor, int, bool]]:
    """Name, edges, number of vertices, directed."""
    rim = torch.arange(1, 1300)
    spokes = torch.stack([torch.zeros_like(rim), rim])
    yield "star", spokes, 1400, False
    yield (
        "wheel, whose hub is split",
        torch.cat([spokes, torch.stack([rim, rim.roll(1)])], 1),
        1300,
        False,
    )
    yield "grid", generate.grid(12, 13), 156, False
    yield "small grid", generate.grid(4, 5), 20, False
    middle = 3 * torch.arange(140)
    hops = [(0, 1), (0, 2), (1, 3), (2, 3)]
    diamonds = torch.cat([torch.stack([middle + a, middle + b]) for a, b in hops], dim=1)
    yield "2^140 paths", diamonds, 3 * 140 + 1, False
    chance = torch.Generator().manual_seed(1)
    drawn = torch.randint(0, 300, (2, 900), generator=chance)
    yield "random, disconnected, loops and copies", torch.cat([drawn, drawn[:, :50]], 1), 400, False
    yield "random, directed", drawn, 400, True
    yield "Barabasi-Albert", generate.ba(700, 6), 700, False
    yield "two vertices", torch.tensor([[0], [1]]), 2, False
    yield "no edges", torch.zeros(2, 0, dtype=torch.int64), 3, True


def different(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    return not torch.allclose(actual.cpu().double(), expected.double(), rtol=1e-5, equal_nan=True)


def questions(graph: Graph) -> Iterator[tuple[str, torch.Tensor]]:
    """What is asked, and the answer."""
    some = torch.arange(0, graph.num_nodes, max(1, graph.num_nodes // 16), device=graph.device)
    for measure in ("betweenness", "edge_betweenness", "stress"):
        ask = getattr(torchcent, measure)
        for engine in ("lanes", "queue"):
            yield f"{measure}, {engine}", ask(graph, sources=some, engine=engine)
    for strategy in _check.STRATEGIES:
        options = {"strategy": strategy} if graph.device.type == "cuda" else {}
        for width in _check.WARP_SIZES if strategy == "warp_centric" else (32,):
            scores = torchcent.betweenness(
                graph, sources=some[:4], engine="queue", warp_size=width, **options
            )
            yield f"betweenness, {strategy} {width}", scores
    yield from by_weight(graph, some)
    yield "closeness", torchcent.closeness(graph)
    yield "closeness of some", torchcent.closeness(graph, vertices=some)
    yield "eccentricity", torchcent.eccentricity(graph)
    yield "distances", torchcent.shortest_path_lengths(graph, sources=some)
    yield "closure", torchcent.transitive_closure(graph).to_dense()
    yield from clustering(graph)
    yield from by_one_block(graph)


def by_weight(graph: Graph, some: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """The same graph with weights, whole ones and fractions."""
    edges = graph.to_edge_index()
    for kind, unit in (("whole", 1.0), ("fractions", 1 / 3)):
        lengths = unit * (1.0 + (edges[0] ^ edges[1]) % 10)
        weighted = Graph.from_edge_index(
            edges, graph.num_nodes, edge_weight=lengths, directed=graph.directed
        )
        for engine in ("relax", "dijkstra"):
            for measure in ("betweenness", "edge_betweenness"):
                scores = getattr(torchcent, measure)(weighted, sources=some, engine=engine)
                yield f"{measure}, {kind} weights, {engine}", scores
            closeness = torchcent.closeness(weighted, vertices=some, engine=engine)
            yield f"closeness of some, {kind} weights, {engine}", closeness
            rows = torchcent.shortest_path_lengths(weighted, sources=some[:3], engine=engine)
            yield f"distances, {kind} weights, {engine}", rows
        for strategy in _check.WEIGHTED_STRATEGIES if graph.num_nodes in (20, 400) else ():
            options = {"strategy": strategy} if graph.device.type == "cuda" else {}
            scores = torchcent.betweenness(
                weighted, sources=some[:4], engine="dijkstra", warp_size=8, **options
            )
            yield f"betweenness, {kind} weights, {strategy}", scores


def clustering(graph: Graph) -> Iterator[tuple[str, torch.Tensor]]:
    """Two iterations of Markov clustering, in every kernel that columns can start in.

    Where the largest entries are selected, equal ones that rounding makes unequal may stay or go:
    there only the sums of the columns are compared.
    """
    first = _flow.build(graph, _flow.similarities(graph, None), "max", None)
    for kernel in (0, -1, -2, -3, -8, -11, -16):  # csrc/cuda/mcl.cu
        for rules in (torchcent.Prune(select=0, recover=0), torchcent.Prune(select=60, recover=70)):
            flow = first
            for _ in range(2):
                control = torch.zeros(3, dtype=torch.int64)
                how = kernel if graph.device.type == "cuda" else 1
                *parts, _ = torch.ops.torchcent.mcl_iterate(
                    flow.begin, flow.length, flow.row, flow.value, control,
                    *Rules(2, rules).arguments(2.0), how,
                )  # fmt: skip
                flow = _flow.Flow(*parts)
            made = flow.to_dense()
            yield f"flow, kernel {kernel}", made.sum(0) if rules.select else made


def by_one_block(graph: Graph) -> Iterator[tuple[str, torch.Tensor]]:
    """Small graphs by the tiny engine, and random shortest paths."""
    lengths = 1.0 + (graph.to_edge_index().sum(0) % 7)
    weighted = Graph.from_edge_index(
        graph.to_edge_index(), graph.num_nodes, edge_weight=lengths, directed=graph.directed
    )
    for kind, one in (("hops", graph), ("weights", weighted)):
        for measure in ("betweenness", "edge_betweenness", "stress", "closeness", "eccentricity"):
            yield f"{measure}, {kind}, tiny", getattr(torchcent, measure)(one, engine="tiny")
    counts = Sampler(graph, torch.Generator().manual_seed(1)).draw(200)
    assert counts is not None
    yield "random shortest paths", counts


def main() -> int:
    few, wrong = "--few" in sys.argv, 0
    for name, edges, nodes, directed in graphs():
        if few and name not in FEW:
            continue
        print(name, flush=True)
        expected = questions(Graph.from_edge_index(edges, nodes, directed))
        actual = questions(Graph.from_edge_index(edges.cuda(), nodes, directed))
        for (question, there), (_, here) in zip(actual, expected, strict=True):
            if different(there, here):
                print(f"{name}: {question} differs from the CPU's")
                wrong += 1
    print(f"{wrong} wrong")
    return int(wrong > 0)


class Sanitizer:
    """compute-sanitizer at work on this script, a process for each of its tools."""

    def __init__(self) -> None:
        program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        self.runs: dict[str, subprocess.Popen[str]] = {}
        # Without PyTorch's cache of memory every array is an allocation of its own, with bounds.
        bare = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        for tool in TOOLS if Path(program).exists() else ():
            options, arguments = TOOLS[tool]
            command = [program, "--tool", tool, "--error-exitcode", "9", *options]
            command += [sys.executable, __file__, *arguments]
            self.runs[tool] = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=bare,
            )

    def found(self) -> dict[str, str]:
        """What each tool says at its end."""
        said = {tool: "not run: there is no compute-sanitizer" for tool in TOOLS}
        for tool, run in self.runs.items():
            text = run.communicate()[0]
            summary = re.findall(r"SUMMARY: (.*)", text) or ["no summary"]
            said[tool] = f"{summary[-1]}, exit status {run.returncode}"
            if run.returncode != 0:
                print(*text.splitlines()[-40:], sep="\n")
            print(f"compute-sanitizer, {tool}: {said[tool]}", flush=True)
        return said


if __name__ == "__main__":
    sys.exit(main())
