"""The state of the CUDA engines: tests, values, speeds, in one table and results/<device>.json.

    python benchmarks/gpu.py               # on a machine with a CUDA device, about 10 minutes
    python benchmarks/gpu.py --part tests  # or times, sanitizer, tables: if a call must be shorter
    python benchmarks/gpu.py --part "tests of kernels"  # or of memory, of measures: their parts
    python benchmarks/gpu_status.py FILE   # exits 1 if these results are of other sources
    python benchmarks/gpu.py --lanes       # only compares 32, 64 and 128 lanes; nothing is kept

slot-GTEPS = sources x slots / seconds / 1e9, kernels and the driver's loop, the graph already on
the device, median of 5. Errors are the largest relative ones of betweenness for 16 sources against
the CPU's queue engine in float64. `auto` is right where it takes the faster engine.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gpu_approx
import gpu_batches
import gpu_deep
import gpu_distances
import gpu_dynamic
import gpu_encodings
import gpu_figures
import gpu_flow
import gpu_mcl
import gpu_multi_search
import gpu_roads
import gpu_walks
import gpu_weighted
import torch
from gpu_small import Sanitizer
from gpu_status import ROOT, digest
from gpu_weighted import AS_IS
from machine import description

import torchcent
from torchcent import Graph, Run, generate
from torchcent.check import _common as check
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _flight, _plan
from torchcent.engines.reduce import _reduce
from torchcent.engines.search import _driver

KERNELS = [
    "test_cuda",
    "test_cuda_bits",
    "test_cuda_weighted",
    "test_cuda_hierarchy",
    "test_cuda_dynamic",
    "test_cuda_mcl",
    "test_cuda_approx",
    "test_cuda_features",
    "test_cuda_diffusion",
    "test_cuda_multi_search",
]
MEMORY = ["test_cuda_memory"]  # by itself: it takes nearly all memory of the device
SUITES = [
    "test_betweenness",
    "test_betweenness_relations",
    "test_edge_betweenness",
    "test_stress",
    "test_percolation",
    "test_demand",
    "test_load",
    "test_weighted_ends",
    "test_reductions",
    "test_search_weights",
    "test_blocks",
    "test_chains",
    "test_twins",
    "test_cutoff",
    "test_path_cutoff",
    "test_variants",
    "test_overflow",
    "test_bits",
    "test_distances",
    "test_distance_distribution",
    "test_extremes",
    "test_apsp",
    "test_closure",
    "test_multi_search",
    "test_multi_search_examples",
    "test_weighted",
    "test_weighted_ties",
    "test_weighted_distances",
    "test_mcl",
    "test_mcl_ties",
    "test_batch",
    "test_tiny",
    "test_sampling",
    "test_approximation",
    "test_mcl_batch",
    "test_linear_pivots",
    "test_approx_room",
    "test_functional",
    "test_transforms",
    "test_default_device",
    "test_walks",
    "test_current_flow",
    "test_current_flow_subset",
    "test_current_flow_approx",
    "test_groups",
    "test_edge_approximation",
    "test_encodings",
    "test_encoding_transforms",
    "test_spectra",
    "test_spectra_transforms",
    "test_diffusion",
    "test_patterns",
    "test_curvature",
    "test_landmarks",
    "test_pair_features",
]
COUNTS = ("passed", "failed", "skipped", "deselected")
MOST_WORKERS = 14  # more of them are slower on one GPU
REPEAT = 5
OF_STRATEGIES = (
    "R-MAT scale 16 ef 8",
    "Watts-Strogatz n=100000",
    "Delaunay 2^18",
    "grid 1000x1000",
    "road-like 1400x1400",
)
FLIGHTS = (1, 2, 4, 8, 16, 32)
SLOW_SECONDS = 1  # an engine that takes longer for the few sources of the table is not repeated


def rmat(scale: int, factor: int) -> torch.Tensor:
    """R-MAT (0.57, 0.19, 0.19, 0.05), drawn on the device."""
    chance = torch.Generator(device="cuda").manual_seed(1)
    tail = torch.zeros(factor << scale, dtype=torch.int64, device="cuda")
    head = torch.zeros_like(tail)
    for _ in range(scale):
        r = torch.rand(tail.shape, generator=chance, device="cuda", dtype=torch.float64)
        tail = 2 * tail + (r >= 0.76)
        head = 2 * head + (((r >= 0.57) & (r < 0.76)) | (r >= 0.95))
    return torch.stack([tail, head])


# name: edges, sources, and the slot-GTEPS to reach
GRAPHS: dict[str, tuple[Callable[[], torch.Tensor], int, float]] = {
    "R-MAT scale 16 ef 8": (lambda: rmat(16, 8), 4096, 130),
    "BA n=30000 b=50": (lambda: generate.ba(30000, 50), 4096, 250),
    "BA n=30000 b=50, all": (lambda: generate.ba(30000, 50), 30000, 250),
    "R-MAT scale 19 ef 24": (lambda: rmat(19, 24), 1024, 400),
    "R-MAT scale 19 ef 48": (lambda: rmat(19, 48), 8192, 500),
    "Watts-Strogatz n=100000": (lambda: generate.ws(100_000, 10, 0.1), 1024, 0),
    "Erdos-Renyi n=100000": (lambda: generate.er(100_000, m=800_000), 1024, 0),
    "BA n=200000 b=4": (lambda: generate.ba(200_000, 4), 1024, 0),
    "Delaunay 2^18": (lambda: generate.delaunay(1 << 18), 512, 40),
    "grid 1000x1000": (lambda: generate.grid(1000, 1000), 256, 25),
    "road-like 1400x1400": (lambda: generate.road(1400, 1400), 256, 18),
}


SUITES_OF = {"tests of memory": MEMORY, "tests of kernels": KERNELS, "tests of measures": SUITES}


def tests(which: str, part: float) -> dict[str, Any]:
    """Counts of tests that need a device, or of the measures' own with their graphs on it, of
    whose sweeps a part is run, by a seed (tests/parts.py). Of what is skipped and left out there
    are the reasons, too."""
    suites = SUITES_OF[which]
    cards = torch.cuda.device_count()
    cores = max(1, (os.cpu_count() or 2) - 2)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--durations", "8", "-o", "faulthandler_timeout=120"]  # shows what hangs
    if importlib.util.find_spec("xdist") and suites is not MEMORY:
        most = MOST_WORKERS * (cards if suites is SUITES else 1)
        command += ["-n", str(min(cores, most))]
    command += ["--part", str(part)] if suites is SUITES else []
    command += [str(ROOT / "tests" / f"{suite}.py") for suite in suites]
    device = "cuda" if suites is SUITES else "cpu"
    environment = {**os.environ, "TORCHCENT_TEST_DEVICE": device, "OMP_NUM_THREADS": "1"}
    if suites is SUITES:  # the tests of kernels have some that take all devices
        environment["TORCHCENT_TEST_CARDS"] = " ".join(map(str, range(cards)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.json"
        run = subprocess.run(
            [*command, "--counts", str(file)],
            stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment, check=False,
        )  # fmt: skip
        counts = json.loads(file.read_text()) if file.exists() else {}
    lines = run.stdout.splitlines()
    slow = [line for line in lines if re.match(r"[0-9.]+s (call|setup) ", line)]
    print(*(slow if run.returncode == 0 else lines[-200:-1]), sep="\n")
    print(lines[-1], flush=True)
    if run.returncode not in (0, 1):  # pytest did not reach its end
        counts["failed"] = counts.get("failed", 0) + 1
    return counts | {"part": part if suites is SUITES else 1}


def all_tests(result: dict[str, Any]) -> None:
    """Adds up the parts of the tests. Their sum is of the sources that all parts are of, if any."""
    parts = [result["tests by part"].get(name, {}) for name in SUITES_OF]
    reasons: dict[str, Counter[str]] = {"skipped": Counter(), "deselected": Counter()}
    for known in parts:
        for name, by in reasons.items():
            by.update(known.get("reasons", {}).get(name, {}))
    last = parts[-1]
    result["tests"] = {name: sum(known.get(name, 0) for known in parts) for name in COUNTS} | {
        "seed": last.get("seed"),
        "reasons": {name: dict(by.most_common()) for name, by in reasons.items()},
        "part": last.get("part"),
    }
    found = {result["digests"].get(name) for name in SUITES_OF}
    result["digests"]["tests"] = found.pop() if len(found) == 1 else None


def seconds(
    graph: Graph,
    measure: str,
    engine: str,
    sources: torch.Tensor,
    strategy: int = 0,
    lanes: int = 0,
    flight: int = 0,
    repeat: int = REPEAT,
    reduce: frozenset[str] | None = None,
) -> tuple[float, _plan.Plan]:
    """Seconds of the search. Strategies are compared with `reduce=AS_IS`, on the graph as it is."""
    request = Request(measure, engine, strategy, sources, reduce=reduce)
    plan, core = _plan.plan(graph, request)
    if lanes:
        plan = dataclasses.replace(plan, lanes=lanes, flight=flight)
    problem = _reduce.problem(graph, core, measure, sources, None, False)
    times = []
    for _ in range(repeat + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        _driver.run(problem, plan, False)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
        if times[-1] > SLOW_SECONDS:
            break
    return statistics.median(times[1:] or times), plan


def strategies(graph: Graph, sources: torch.Tensor) -> dict[str, float]:
    """slot-GTEPS of each strategy of the queue engine."""
    speeds = {}
    for name, code in check.STRATEGIES.items():
        for width in check.WARP_SIZES if name == "warp_centric" else (0,):
            at = code + (check.WARP_SIZES.index(width) if width else 0)
            taken, _ = seconds(graph, "betweenness", "queue", sources, at, reduce=AS_IS)
            speeds[f"{name} {width}".removesuffix(" 0")] = (
                graph.num_slots * sources.numel() / taken / 1e9
            )
    return speeds


def widths(name: str) -> None:
    """Prints slot-GTEPS for each number of lanes; graphs for which auto takes queue are skipped.

    * is what auto takes. Then for the batches in flight, which leave the bits as they are.
    """
    _, graph, sources = drawn(name)
    auto = torchcent.explain(graph, sources=sources)
    if auto.engine != "lanes":
        return
    for count in sorted({min(count, sources.numel()) for count in (32, 64, 256, 1024, 10**9)}):
        for measure in ("betweenness", "edge_betweenness"):
            chosen = torchcent.explain(graph, measure=measure, sources=sources[:count]).lanes
            speeds = []
            for lanes in _flight.WIDTHS:
                taken, _ = seconds(graph, measure, "lanes", sources[:count], lanes=lanes)
                mark = "*" if lanes == chosen else ""
                speeds.append(f"{lanes}{mark} {graph.num_slots * count / taken / 1e9:7.1f}")
            print(f"{name:24} {measure:16} k {count:6}", *speeds, sep="  ", flush=True)
    for flight in FLIGHTS:
        speeds = []
        for lanes in _flight.WIDTHS:
            taken, _ = seconds(graph, "betweenness", "lanes", sources, lanes=lanes, flight=flight)
            speeds.append(f"{lanes} {graph.num_slots * sources.numel() / taken / 1e9:7.1f}")
        print(f"{name:24} {flight:2} batches at a time", *speeds, sep="  ", flush=True)


def error(graph: Graph, sources: torch.Tensor) -> float:
    actual = torchcent.betweenness(
        graph, sources=sources, run=torchcent.Run(dtype=torch.float64)
    ).cpu()
    expected = torchcent.betweenness(
        graph.to("cpu"), sources=sources.cpu(), run=Run(engine="queue", dtype=torch.float64)
    )
    real = expected > 1e-9 * expected.max()
    return float(((actual - expected).abs() / expected)[real].max())


def drawn(name: str) -> tuple[torch.Tensor, Graph, torch.Tensor]:
    """The edges on the device, their graph and its sources."""
    make, count, _ = GRAPHS[name]
    edges = make().cuda()
    graph = Graph.from_edge_index(edges, int(edges.max()) + 1, directed=False)
    joined = torch.nonzero(graph.degree > 0).flatten().cpu()
    order = torch.randperm(joined.numel(), generator=torch.Generator().manual_seed(3))
    return edges, graph, joined[order][:count].cuda()


def public_call(given: torch.Tensor | Graph, sources: torch.Tensor) -> float:
    """Seconds of betweenness of an edge_index or of a Graph that has been searched before."""
    undirected = None if isinstance(given, Graph) else False
    times = []
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        torchcent.betweenness(given, directed=undirected, sources=sources)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def row(name: str) -> dict[str, Any]:
    target = GRAPHS[name][2]
    edges, graph, sources = drawn(name)
    one_shot = public_call(edges, sources)
    del edges
    torch.cuda.reset_peak_memory_stats()
    taken, plan = seconds(graph, "betweenness", "auto", sources)
    peak = torch.cuda.max_memory_allocated()
    later = public_call(graph, sources)
    few = sources[:128]
    engines = {e: seconds(graph, "betweenness", e, few)[0] for e in ("lanes", "queue")}
    edge, _ = seconds(graph, "edge_betweenness", plan.engine, sources)
    return {
        "graph": name,
        "nodes": graph.num_nodes,
        "slots": graph.num_slots,
        "sources": sources.numel(),
        "engine": plan.engine,
        "lanes": plan.lanes,
        "auto_is_right": engines[plan.engine] == min(engines.values()),
        "seconds": taken,
        "one_shot": one_shot,
        "later": later,
        "gteps": graph.num_slots * sources.numel() / taken / 1e9,
        "target": target,
        "edge_ratio": edge / taken,
        "error": error(graph, sources[:16]),
        "memory": peak,
        "memory_predicted": plan.memory,
        "few_sources_seconds": engines,
        "strategies": strategies(graph, sources[:264]) if name in OF_STRATEGIES else {},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--output", type=Path, help="default: results/<device>.json")
    parser.add_argument(
        "--part", nargs="+", help="only these: times, or single tables; the output keeps its others"
    )
    parser.add_argument("--tests-part", type=float, default=1.0, help="how much of large sweeps")
    parser.add_argument("--lanes", action="store_true", help="compare the lanes engine's widths")
    given = parser.parse_args()
    if given.lanes:
        for name in given.graphs:
            widths(name)
        return 0
    device = torch.cuda.get_device_name()
    model = next(filter(re.compile(r"\d").search, device.split()), device.split()[-1])
    output = given.output or ROOT / "benchmarks/results" / f"{model.lower()}.json"
    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": device,
        "machine": description(),
        "versions": {"torch": torch.__version__, "cuda": torch.version.cuda},
    }
    tables: dict[str, Callable[[], Any]] = {
        "weighted": lambda: gpu_weighted.rows(rmat, seconds),
        "weighted_strategies": lambda: gpu_weighted.strategies(rmat, seconds),
        "figures": lambda: gpu_figures.figures(rmat, seconds),
        "mcl": gpu_mcl.rows,
        "batches": gpu_batches.rows,
        "approximation": lambda: gpu_approx.rows(rmat),
        "rows": lambda: rows(given.graphs),
        "distances": lambda: gpu_distances.rows(rmat),
        "deep": gpu_deep.rows,
        "flow": gpu_flow.rows,
        "walks": gpu_walks.rows,
        "dynamic": gpu_dynamic.rows,
        "multi_search": gpu_multi_search.rows,
        "encodings": gpu_encodings.rows,
        "large_encodings": lambda: gpu_encodings.large(rmat),
        "roads": gpu_roads.rows,
        "sanitizer": lambda: Sanitizer().found(),
    } | {name: partial(tests, name, given.tests_part) for name in SUITES_OF}
    apart = ["sanitizer", *SUITES_OF]
    groups = {"times": [name for name in tables if name not in apart], "tests": list(SUITES_OF)}
    wanted = [n for part in given.part or tables for n in groups.get(part, [part])]
    if unknown := set(wanted) - set(tables):
        parser.error(f"--part takes times, tests, {', '.join(tables)}; not {', '.join(unknown)}")
    output.parent.mkdir(exist_ok=True)
    result: dict[str, Any] = {}
    for name in wanted:
        found = tables[name]()
        # Read again: another process may have measured other parts on another device meanwhile.
        result = json.loads(output.read_text()) if output.exists() else {}
        result |= about
        result.setdefault("digests", {})[name] = digest()  # of the sources that this part is of
        if name in SUITES_OF:
            result.setdefault("tests by part", {})[name] = found
            all_tests(result)
        else:
            result[name] = found
        output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{device}, tests {result.get('tests')}", flush=True)
    return int(result.get("tests", {}).get("failed", 0) > 0)


def rows(names: list[str]) -> list[dict[str, Any]]:
    """The engines on the graphs of the table."""
    table = []
    for name in names:
        found = row(name)
        table.append(found)
        print(
            f"{name:24} k {found['sources']:6} {found['engine']:6}"
            f"{'' if found['auto_is_right'] else ' (slower)'} {found['seconds'] * 1e3:9.1f} ms "
            f"{found['gteps']:7.1f} GTEPS (at least {found['target']:.0f}), edges "
            f"x{found['edge_ratio']:.2f}, error {found['error']:.1e}, memory "
            f"{found['memory'] / 2**20:.0f} MiB, predicted {found['memory_predicted'] / 2**20:.0f}",
            flush=True,
        )
        if found["strategies"]:
            print(*(f"{key} {speed:.1f}" for key, speed in found["strategies"].items()), sep=", ")
    return table


if __name__ == "__main__":
    sys.exit(main())
