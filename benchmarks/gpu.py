"""What is known of the CUDA kernels: tests on a GPU and timings, in one run, into one file.

    python benchmarks/gpu.py            # on a machine with a GPU; writes results/<device>.json
    python benchmarks/gpu.py --status   # anywhere: does the newest file belong to these sources?

A file carries a digest of the sources it was made from. Speed is slot-GTEPS: sources x slots /
seconds / 1e9, kernels and the loop over batches, with the graph prepared on the device; median of
the runs. Values are compared with the float64 `queue` engine of the CPU on a few sources.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SUITES = ("test_betweenness", "test_betweenness_relations", "test_edge_betweenness", "test_stress",
          "test_overflow", "test_golden", "test_tensor")  # fmt: skip


def digest() -> str:
    """Of all that decides what runs on the GPU: kernels, and the Python that drives them."""
    files = [ROOT / "setup.py", *ROOT.glob("csrc/**/*"), *ROOT.glob("torchcent/**/*.py")]
    total = hashlib.sha256()
    for file in sorted(path for path in files if path.is_file()):
        total.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


# Generator, its arguments, and the number of sources.
GRAPHS: dict[str, tuple[str, dict[str, int], int]] = {
    "rmat16_ef8": ("rmat", {"scale": 16, "edge_factor": 8, "seed": 1}, 4096),
    "ba_30k_b50": ("ba", {"n": 30_000, "m": 50, "seed": 1}, 4096),
    "rmat19_ef24": ("rmat", {"scale": 19, "edge_factor": 24, "seed": 1}, 1024),
    "rmat19_ef48": ("rmat", {"scale": 19, "edge_factor": 48, "seed": 1}, 8192),
    "delaunay_2e18": ("delaunay", {"n": 2**18, "seed": 1}, 512),
    "grid_1000": ("grid", {"rows": 1000, "cols": 1000}, 256),
    "road_1400": ("road", {"rows": 1400, "cols": 1400, "seed": 1}, 256),
}


def run_tests(suites: tuple[str, ...]) -> dict[str, int]:
    """The measures' own tests, every engine, with the graphs on the GPU."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", *(f"tests/{suite}.py" for suite in suites)]
        environment = {**os.environ, "TORCHCENT_TEST_DEVICE": "cuda", "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        suite = ElementTree.parse(report).getroot().find("testsuite")
        assert suite is not None
        count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - failed - count["skipped"]
    return {"passed": passed, "failed": failed, "skipped": count["skipped"]}


def measure(name: str, engines: list[str], repeat: int) -> list[dict[str, Any]]:
    """A row for each engine on one graph."""
    import torch

    import torchcent

    make, options, k = GRAPHS[name]
    edge_index = getattr(torchcent.generate, make)(**options).cuda()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    graph = torchcent.Graph.from_edge_index(edge_index, directed=False)
    torch.cuda.synchronize()
    built = time.perf_counter() - begin
    reached = torch.nonzero(graph.degree.cpu() > 0).flatten()
    generator = torch.Generator().manual_seed(1)
    sources = reached[torch.randperm(reached.numel(), generator=generator)[:k]]
    few = sources[:8]
    raw = {"normalized": False, "progress": False, "dtype": torch.float64}
    right = torchcent.betweenness(graph.to("cpu"), sources=few, engine="queue", **raw)
    rows = []
    for engine in engines:
        row: dict[str, Any] = {"graph": name, "n": graph.num_nodes, "slots": graph.num_slots}
        row |= {"sources": k, "engine": engine, "build_seconds": built}
        try:
            begin = time.perf_counter()
            plan = torchcent.explain(graph, sources=sources, engine=engine)
            row |= {"chosen": plan.engine, "planned_bytes": plan.memory}
            row["prepare_seconds"] = time.perf_counter() - begin
            found = torchcent.betweenness(graph, sources=few, engine=engine, **raw).cpu()
            there = right > 0
            row["error"] = float(((found - right).abs()[there] / right[there]).max())
            torch.cuda.reset_peak_memory_stats()
            seconds = []
            for _ in range(repeat + 1):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                result = torchcent.betweenness(graph, sources=sources, engine=engine, **raw)
                torch.cuda.synchronize()
                seconds.append(time.perf_counter() - begin)
            row["finite"] = bool(result.isfinite().all())
            row["peak_bytes"] = torch.cuda.max_memory_allocated()
            row["seconds"] = statistics.median(seconds[1:])  # the first warms up
            row["gteps"] = k * graph.num_slots / row["seconds"] / 1e9
        except (RuntimeError, ValueError, MemoryError) as error:
            row["failure"] = f"{type(error).__name__}: {error}"[:300]
        rows.append(row)
        print(describe(row), flush=True)
    return rows


def describe(row: dict[str, Any]) -> str:
    head = f"{row['graph']:<14} {row['engine']:<6} k={row['sources']:<5}"
    if "failure" in row:
        return f"{head} {row['failure']}"
    return (
        f"{head} {row['seconds']:8.4f} s {row['gteps']:7.1f} slot-GTEPS  error {row['error']:.1e}"
        f"  prepared in {row['prepare_seconds']:.2f} s  memory {row['peak_bytes'] / 2**20:.0f} MiB"
        f" (planned {row['planned_bytes'] / 2**20:.0f})"
    )


def status() -> int:
    now = digest()
    for file in sorted(RESULTS.glob("*.json")):
        found = json.loads(file.read_text())
        if found.get("kind") != "gpu":
            continue
        tests = found["tests"]
        print(f"{file.name}: {found['device']}, {tests}")
        if found["digest"] == now and tests["failed"] == 0:
            print("it belongs to these sources")
            return 0
    print("no GPU result belongs to these sources: the CUDA kernels are unverified")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--status", action="store_true", help="only compare digests")
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(GRAPHS))
    parser.add_argument("--engines", nargs="+", default=["lanes", "queue", "auto"])
    parser.add_argument("--suites", nargs="*", default=list(SUITES))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/<device>.json")
    arguments = parser.parse_args()
    if arguments.status:
        return status()
    import torch

    if not torch.cuda.is_available():
        print("no CUDA device")
        return 1
    device = torch.cuda.get_device_name()
    found: dict[str, Any] = {"kind": "gpu", "device": device, "digest": digest()}
    found["versions"] = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
    }
    found["rows"] = []
    for name in arguments.graphs:
        found["rows"] += measure(name, arguments.engines, arguments.repeat)
    found["tests"] = run_tests(tuple(arguments.suites))
    default = RESULTS / f"{device.split()[-1].lower()}.json"
    output = arguments.output or default
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(found, indent=1) + "\n")
    for row in found["rows"]:
        print(describe(row))
    print(f"tests {found['tests']}; written to {output.name}")
    return int(found["tests"]["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
