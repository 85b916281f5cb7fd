"""Every CUDA kernel on small graphs of every kind, to be run under compute-sanitizer.

    compute-sanitizer --tool memcheck python benchmarks/gpu_small.py
    compute-sanitizer --tool racecheck python benchmarks/gpu_small.py --part samples --graph "grid"

Values are compared with those of the CPU; exits 1 where they differ. `gpu.py --part sanitizer` runs
both tools on all parts, a process each, and keeps what they found.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

import torchcent
from torchcent import Graph, generate
from torchcent.approx._sampler import Sampler
from torchcent.check import _common as check
from torchcent.clustering import _flow
from torchcent.clustering._rules import Rules

Questions = Iterator[tuple[str, torch.Tensor]]

# racecheck follows every access to shared memory, a thousand times slower: a process per graph, and
# only our own kernels.
TOOLS: dict[str, tuple[list[str], list[list[str]]]] = {
    "memcheck": ([], [["wheel, whose hub is split", "small grid", "random, directed"]]),
    "racecheck": (["--kernel-name", "kns=torchcent"], [["small grid"], ["random, directed"]]),
}
VARIANTS = ("distance", "linear", "proximal_source", "proximal_target")
SECONDS = 540  # that a process may take


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


def different(question: str, actual: torch.Tensor, expected: torch.Tensor) -> bool:
    closeness = 1e-5
    if question.startswith("flow"):
        # Sums of up to n float32 values in another order, each off by n 2^-24 at most: those of an
        # expansion and of a column after inflation, in two iterations.
        closeness = 4 * actual.shape[-1] * 2**-24
    return not torch.allclose(
        actual.cpu().double(), expected.double(), rtol=closeness, equal_nan=True
    )


def some_of(graph: Graph) -> torch.Tensor:
    return torch.arange(0, graph.num_nodes, max(1, graph.num_nodes // 16), device=graph.device)


def of_strategy(engine: str, strategy: str, width: int, graph: Graph) -> torchcent.Run:
    """Strategies are those of CUDA: the CPU, which is the second opinion, has none."""
    strategy = strategy if graph.device.type == "cuda" else "auto"
    return torchcent.Run(engine=torchcent.Engine(engine, strategy=strategy, warp_size=width))


def by_hops(graph: Graph) -> Questions:
    some = some_of(graph)
    for measure in ("betweenness", "edge_betweenness", "stress"):
        ask = getattr(torchcent, measure)
        for engine in ("lanes", "queue"):
            how = torchcent.Run(engine=engine)
            yield f"{measure}, {engine}", ask(graph, sources=some, run=how)
            within = ask(graph, sources=some, cutoff=[1, 3], run=how)
            yield f"{measure} within cutoffs, {engine}", within
    for engine in ("lanes", "queue"):
        for variant in VARIANTS:
            scores = torchcent.betweenness_variant(
                graph, variant=variant, sources=some, run=torchcent.Run(engine=engine)
            )
            yield f"{variant}, {engine}", scores
    for strategy in check.STRATEGIES:
        for width in check.WARP_SIZES if strategy == "warp_centric" else (32,):
            how = of_strategy("queue", strategy, width, graph)
            scores = torchcent.betweenness(graph, sources=some[:4], run=how)
            yield f"betweenness, {strategy} {width}", scores


def distances(graph: Graph) -> Questions:
    some = some_of(graph)
    yield "closeness", torchcent.closeness(graph)
    yield "closeness of some", torchcent.closeness(graph, vertices=some)
    yield "closeness within cutoffs", torchcent.closeness(graph, cutoff=[0, 1, 3])
    of_some = torchcent.closeness(graph, vertices=some, cutoff=[0, 1, 3])
    yield "closeness of some within cutoffs", of_some
    yield "eccentricity", torchcent.eccentricity(graph)
    yield "distances", torchcent.shortest_path_lengths(graph, sources=some)
    yield "closure", torchcent.transitive_closure(graph).to_dense()


def by_weight(graph: Graph) -> Questions:
    """The same graph with weights, whole ones and fractions."""
    some, edges = some_of(graph), graph.to_edge_index()
    for kind, unit in (("whole", 1.0), ("fractions", 1 / 3)):
        lengths = unit * (1.0 + (edges[0] ^ edges[1]) % 10)
        weighted = Graph.from_edge_index(
            edges, graph.num_nodes, edge_weight=lengths, directed=graph.directed
        )
        for engine in ("relax", "dijkstra"):
            how = torchcent.Run(engine=engine)
            for measure in ("betweenness", "edge_betweenness"):
                scores = getattr(torchcent, measure)(weighted, sources=some, run=how)
                yield f"{measure}, {kind} weights, {engine}", scores
            within = torchcent.betweenness(
                weighted, sources=some, cutoff=[4 * unit, 15.5 * unit], run=how
            )
            yield f"betweenness within cutoffs, {kind} weights, {engine}", within
            closeness = torchcent.closeness(weighted, vertices=some, run=how)
            yield f"closeness of some, {kind} weights, {engine}", closeness
            rows = torchcent.shortest_path_lengths(weighted, sources=some[:3], run=how)
            yield f"distances, {kind} weights, {engine}", rows
        for variant in VARIANTS:
            scores = torchcent.betweenness_variant(weighted, variant=variant, sources=some)
            yield f"{variant}, {kind} weights", scores
        for strategy in check.WEIGHTED_STRATEGIES if graph.num_nodes in (20, 400) else ():
            how = of_strategy("dijkstra", strategy, 8, graph)
            scores = torchcent.betweenness(weighted, sources=some[:4], run=how)
            yield f"betweenness, {kind} weights, {strategy}", scores


def clustering(graph: Graph) -> Questions:
    """Two iterations of Markov clustering, in every kernel that columns can start in.

    Where the largest entries are selected, equal ones that rounding makes unequal may stay or go:
    there only the sums of the columns are compared.
    """
    first = _flow.build(graph, _flow.similarities(graph, None), "max", None)
    for kernel in (0, 1, 2, 3, 8, 11, 16):  # csrc/mcl/cuda/mcl.cu
        for rules in (torchcent.Prune(select=0, recover=0), torchcent.Prune(select=60, recover=70)):
            flow = first
            for _ in range(2):
                control = torch.zeros(4, dtype=torch.int64)
                *parts, _ = torch.ops.torchcent.mcl_iterate(
                    flow.begin, flow.length, flow.row, flow.value, control,
                    *Rules(2, rules).arguments(), 1, kernel,
                )  # fmt: skip
                flow = _flow.Flow(*parts)
            made = flow.to_dense()
            yield f"flow, kernel {kernel}", made.sum(0) if rules.select else made


def tiny(graph: Graph) -> Questions:
    lengths = 1.0 + (graph.to_edge_index().sum(0) % 7)
    for kind, one in (("hops", graph), ("weights", with_lengths(graph, lengths))):
        for measure in ("betweenness", "edge_betweenness", "stress", "closeness", "eccentricity"):
            scores = getattr(torchcent, measure)(one, run=torchcent.Run(engine="tiny"))
            yield f"{measure}, {kind}, tiny", scores


def samples(graph: Graph) -> Questions:
    """Random shortest paths; by weights without ties, of which each side may draw another one."""
    chance = torch.Generator().manual_seed(2)
    whole = torch.randint(1, 2**20, (graph.num_slots,), generator=chance).to(graph.device)
    kinds = {"hops": graph, "whole weights": with_lengths(graph, whole)}
    kinds["fractions"] = with_lengths(graph, whole / 2**20)
    kinds["rounded"] = with_lengths(graph, whole / 3)
    for kind, one in kinds.items():
        # By hops in several launches, whose blocks differ.
        count = 2000 if kind == "hops" else 200
        counts = Sampler(one, torch.Generator().manual_seed(1)).draw(count)
        assert counts is not None
        yield f"random shortest paths, {kind}", counts


def with_lengths(graph: Graph, lengths: torch.Tensor) -> Graph:
    return Graph.from_edge_index(
        graph.to_edge_index(), graph.num_nodes, graph.directed, edge_weight=lengths
    )


def preparation(graph: Graph) -> Questions:
    """Building and what is derived, of the graph and of one with a level for all blocks."""
    inner = torch.arange(1, 5001)
    there = torch.stack([torch.zeros_like(inner), inner])
    back = torch.stack([inner, torch.full_like(inner, 5001)])
    tail = torch.tensor([[5001, 5002], [5002, 5003]])  # which is folded
    both = torch.cat([there, back, tail], 1)
    fan = Graph.from_edge_index(both.to(graph.device), directed=False)
    for name, one in (("", graph), (" of a fan", fan)):
        yield f"rowptr{name}", one.rowptr
        yield f"col{name}", one.col
        yield f"slot{name}", one.slot
        yield f"components{name}", one.components
        yield f"symmetric{name}", torch.tensor([one.is_symmetric])
        colptr, row, slot = one._transposed
        for side, part in (("colptr", colptr), ("row", row), ("slot", slot)):
            yield f"{side} of the transpose{name}", part
        kept = torch.arange(0, one.num_nodes, 2, device=one.device)
        for part in torch.ops.torchcent.induced(one.rowptr, one.col, kept):
            yield f"subgraph{name}", part
        for source in (0, one.num_nodes - 1):
            found = torch.ops.torchcent.depths(one.rowptr, one.col, source)
            yield f"hops from {source}{name}", found
        order = torch.ops.torchcent.breadth_first(one.rowptr, one.col, colptr, row)
        if one.directed:  # the CPU follows arcs in both directions
            order = order.sort().values
        yield f"breadth-first order{name}", order
        if one.is_symmetric:
            order, parent = torch.ops.torchcent.fold(one.rowptr, one.col, True)
            ones = torch.ones(one.num_nodes, dtype=torch.float64, device=one.device)
            folded = torch.ops.torchcent.tree_sum(order, parent, ones)
            yield f"folded{name}", folded.sort().values  # which of two leaves stays is free


PARTS: dict[str, Callable[[Graph], Questions]] = {
    "preparation": preparation,
    "hops": by_hops,
    "weights": by_weight,
    "distances": distances,
    "clustering": clustering,
    "tiny": tiny,
    "samples": samples,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", nargs="+", default=[name for name, *_ in graphs()])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    given, wrong = parser.parse_args(), 0
    for name, edges, nodes, directed in graphs():
        if name not in given.graph:
            continue
        for part in given.part:
            print(f"{name}, {part}", flush=True)
            expected = PARTS[part](Graph.from_edge_index(edges, nodes, directed))
            actual = PARTS[part](Graph.from_edge_index(edges.cuda(), nodes, directed))
            for (question, there), (_, here) in zip(actual, expected, strict=True):
                if different(question, there, here):
                    print(f"{name}: {question} differs from the CPU's")
                    wrong += 1
    print(f"{wrong} wrong")
    return int(wrong > 0)


class Sanitizer:
    """compute-sanitizer at work on this script, a process for each of its tools and our parts."""

    def __init__(self) -> None:
        program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        self.end = time.monotonic() + SECONDS
        self.runs: dict[tuple[str, str, str], subprocess.Popen[str]] = {}
        # Without PyTorch's cache of memory every array is an allocation of its own, with bounds.
        bare = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        for tool, (options, sets) in TOOLS.items() if Path(program).exists() else ():
            for part in PARTS:
                for names in sets:
                    command = [program, "--tool", tool, "--error-exitcode", "9", *options]
                    command += [sys.executable, __file__, "--part", part, "--graph", *names]
                    self.runs[tool, part, "; ".join(names)] = subprocess.Popen(
                        command,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                        env=bare,
                        start_new_session=True,
                    )

    def found(self) -> dict[str, dict[str, str]]:
        """What each tool says of each part."""
        said: dict[str, dict[str, str]] = {tool: {} for tool in TOOLS}
        for (tool, part, names), run in self.runs.items():
            try:
                text = run.communicate(timeout=max(1, self.end - time.monotonic()))[0]
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                run.communicate()
                verdict = f"not done in {SECONDS} s"
            else:
                summary = re.findall(r"SUMMARY: (.*)", text) or ["no summary"]
                verdict = summary[-1]
                if run.returncode != 0:
                    verdict += f", exit status {run.returncode}"
                    print(*text.splitlines()[-40:], sep="\n")
            said[tool][f"{part}: {names}"] = verdict
            print(f"compute-sanitizer, {tool}, {part}: {names}: {verdict}", flush=True)
        return said


if __name__ == "__main__":
    sys.exit(main())
