"""torchcent's iteration of Markov clustering beside `mcl` and the package markov_clustering.

    python benchmarks/mcl.py                                  # all graphs -> results/mcl.json
    python benchmarks/mcl.py --graphs planted30 --repeat 5    # its row anew, the others stay
    python benchmarks/tables.py                               # results -> docs

The same start (loops of the column's largest weight, columns rescaled), the same inflation and
pruning, until chaos is below 1e-4. Contestants take turns. What is compared are the iterations
alone: of torchcent the calls of the operator, of mcl the whole run less one of no iteration. Then
whole runs, of the random matrices also as Bustamam, Burrage and Hamilton run them: no pruning,
chaos below 1e-3. Last the commands `torchcent mcl` and `mcl` (its "whole_seconds") on the same
file, with starting, reading and writing.

RFULL and RSPARS are the paper's own input: not symmetric, and each vertex has a loop whose weight
is a number of a random permutation. `mcl` runs on them as by default and, beside the runs as the
paper's, without pruning. full1600 and its like are symmetric, with loops of the largest weight.
Seconds of the processor, all threads together, stand beside those of the clock: on a busy machine
they are the better measure. The package markov_clustering has one thread, loops of 1, and keeps
what is >= 0.001, as torchcent does beside it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from graphs import MissingGraph, find
from machine import conditions, timed

import torchcent
from torchcent import generate

RESULTS = Path(__file__).parent / "results" / "mcl.json"
PPI3 = 23_175, 17.05  # vertices, degree: nearly as many edges as in Table 4


def permuted(n: int, share: float) -> sp.csc_matrix:
    """RFULL and RSPARS as section 5.1 of the paper has them: rand or sprand, loops of randperm."""
    rng = np.random.default_rng(2)
    matrix = rng.uniform(0, 1, (n, n)) * (rng.random((n, n)) < share)
    np.fill_diagonal(matrix, 1 + rng.permutation(n))
    return sp.csc_matrix(matrix)


GENERATED: dict[str, Callable[[], sp.csc_matrix]] = {
    "planted14": lambda: weighted(generate.planted(20_000, 14), 20_000),
    "planted30": lambda: weighted(generate.planted(20_000, 30), 20_000),
    "planted, of PPI3's size": lambda: weighted(generate.planted(*PPI3), PPI3[0]),
    "full1600": lambda: full(1600, 1.0),
    "full3200": lambda: full(3200, 1.0),
    "sparse1600": lambda: full(1600, 0.3),
    "sparse3200": lambda: full(3200, 0.3),
    "full4800": lambda: full(4800, 1.0),
    "sparse4800": lambda: full(4800, 0.3),
    **{
        f"{name}{i}": partial(permuted, n, share)
        for name, share in (("RFULL", 1.0), ("RSPARS", 0.3))
        for i, n in enumerate((1600, 3200, 4800), 1)
    },
}
WITH_LOOPS = ("RFULL", "RSPARS")  # whose own loops count
FROM_DATA = ["hprd-release9", "yeast-biogrid", "breast-coexpress", "astro-ph"]
RULES = (0.99999 / 10000, 1100, 1400, 0.9)
KEPT = ("--discard-loops=n",)
NOT_PRUNED = ("-P", "0", "-S", "0", "-R", "0")
SLOW = 15  # seconds of mcl, from which once is enough


def weighted(edge_index: torch.Tensor, n: int) -> sp.csc_matrix:
    u, v = edge_index.numpy()
    u, v = u[u < v], v[u < v]
    weight = np.random.default_rng(1).uniform(0.15, 1, len(u)).round(4)
    upper = sp.coo_matrix((weight, (u, v)), shape=(n, n))
    return (upper + upper.T).tocsc()


def full(n: int, share: float) -> sp.csc_matrix:
    """Of the sizes of Bustamam, Burrage and Hamilton 2010, tables 2 and 3."""
    rng = np.random.default_rng(2)
    upper = np.triu(rng.uniform(0.01, 1, (n, n)).round(4) * (rng.random((n, n)) < share), 1)
    return sp.csc_matrix(upper + upper.T)


def similarity(name: str) -> sp.csc_matrix:
    if name in GENERATED:
        return GENERATED[name]()
    edges, n = find([name])[0].edges()
    u, v = np.asarray(edges)
    upper = sp.coo_matrix((np.ones(len(u)), (np.minimum(u, v), np.maximum(u, v))), shape=(n, n))
    upper.sum_duplicates()
    upper.data[:] = 1
    upper.setdiag(0)
    upper.eliminate_zeros()
    return (upper + upper.T).tocsc()


def start(matrix: sp.csc_matrix) -> tuple[torch.Tensor, ...]:
    flow = matrix
    if not matrix.diagonal().any():
        loops = np.asarray(matrix.max(axis=0).todense()).ravel()
        flow = (matrix + sp.diags(np.where(loops > 0, loops, 1))).tocsc()
    flow = (flow @ sp.diags(1 / np.asarray(flow.sum(axis=0)).ravel())).tocsc()
    flow.sort_indices()
    arrays = (
        flow.indptr[:-1].astype(np.int64),
        np.diff(flow.indptr).astype(np.int32),
        flow.indices.astype(np.int32),
        flow.data.astype(np.float32),
    )
    return tuple(torch.from_numpy(x) for x in arrays)


def run_torchcent(matrix: sp.csc_matrix, inflation: float, threads: int) -> dict[str, Any]:
    flow, iterations = start(matrix), []
    used, began = time.process_time(), time.perf_counter()
    colptr = torch.from_numpy(matrix.indptr.astype(np.int64))
    row = torch.from_numpy(matrix.indices.astype(np.int32))
    near = torch.ops.torchcent.bandwidth_order(colptr, row, colptr, row)  # as torchcent.mcl does
    chaos = 1.0
    while chaos >= 1e-4 and len(iterations) < 1000:
        before = time.perf_counter()
        control = torch.cat([torch.zeros(4, dtype=torch.int64), near])
        out = torch.ops.torchcent.mcl_iterate(*flow, control, 2, inflation, *RULES, threads)
        flow, chaos = out[:4], out[4][0].item()
        iterations.append(
            {
                "seconds": time.perf_counter() - before,
                "chaos": chaos,
                "products": out[4][1].item(),
                "kept": out[4][2].item(),
            }
        )
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
        "iterations": iterations,
    }


def run_whole(matrix: sp.csc_matrix, **options: Any) -> dict[str, Any]:
    """torchcent.mcl, from edges to labels; with loops=None of a matrix as it is, by columns."""
    whole = options.get("loops", "max") is None
    entries = (matrix if whole else sp.triu(matrix)).tocoo()
    edges = torch.from_numpy(np.stack([entries.col, entries.row]).astype(np.int64))
    weight = torch.from_numpy(entries.data)
    quiet = torchcent.Run(progress=False)
    used, began = time.process_time(), time.perf_counter()
    found = torchcent.mcl(
        edges, weight, num_nodes=matrix.shape[0], directed=whole, run=quiet, **options
    )
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
        "engine": found.engine,
        "iterations": found.iterations,
        "clusters": found.num_clusters,
    }


def run_mcl(path: str, inflation: float, threads: int, *options: str) -> dict[str, Any]:
    whole, iterations, clusters = call_mcl(path, inflation, threads, 10_000, *options)
    idle, *_ = call_mcl(path, inflation, threads, 0, *options)
    times = {key: whole[key] - idle[key] for key in whole}
    more = {"whole_seconds": whole["seconds"], "iterations": iterations, "clusters": clusters}
    return times | more


def call_mcl(
    path: str, inflation: float, threads: int, limit: int, *options: str
) -> tuple[dict[str, float], list[dict[str, float]], int | None]:
    """Seconds, those of each iteration with its chaos, and the number of clusters."""
    command = ["mcl", path, "-I", str(inflation), "-te", str(threads), "-L", str(limit)]
    times, output = timed([*command, *options, "-o", "/dev/null"])
    printed = re.findall(r"^ +\d+ +(?:\.+ +)?(-?[\d.]+) +([\d.]+) \d", output, re.M)
    clusters = re.search(r"(\d+) clusters found", output)
    iterations = [{"seconds": float(s), "chaos": float(c)} for c, s in printed]
    return times, iterations, int(clusters[1]) if clusters else None


def run_command(path: str, inflation: float, threads: int, *options: str) -> dict[str, float]:
    command = [str(Path(sys.executable).with_name("torchcent")), "mcl", path, *options]
    command += ["-I", str(inflation), "-te", str(threads), "-o", f"{path}.clusters"]
    return timed(command)[0]


def run_markov_clustering(matrix: sp.csc_matrix, inflation: float) -> dict[str, Any] | None:
    try:
        import markov_clustering
    except ImportError:
        return None
    used, began = time.process_time(), time.perf_counter()
    markov_clustering.run_mcl(matrix, inflation=inflation)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
    }


def write_native(matrix: sp.csc_matrix, path: Path) -> None:
    """mcl's own format, which it reads fastest."""
    n = matrix.shape[0]
    with path.open("w") as file:
        file.write(f"(mclheader\nmcltype matrix\ndimensions {n}x{n}\n)\n(mclmatrix\nbegin\n")
        for j in range(n):
            s = slice(matrix.indptr[j], matrix.indptr[j + 1])
            entries = zip(matrix.indices[s], matrix.data[s], strict=True)
            file.write(f"{j} {' '.join(f'{i}:{x:.6g}' for i, x in entries)} $\n")
        file.write(")\n")


def measure(name: str, arguments: argparse.Namespace) -> dict[str, Any] | None:
    try:
        matrix = similarity(name)
    except MissingGraph as missing:
        print(f"{name}: {missing}: left out")
        return None
    matrix.sort_indices()
    inflation, threads = arguments.inflation, arguments.threads
    own: dict[str, Any] = {}  # options for the loops of the input
    kept: tuple[str, ...] = ()
    if name.startswith(WITH_LOOPS):
        own, kept = {"loops": None}, KEPT
    contestants: dict[str, Callable[[], dict[str, Any] | None]] = {
        "torchcent": lambda: run_torchcent(matrix, inflation, threads),
        "torchcent, whole": lambda: run_whole(matrix, inflation=inflation, **own),
    }
    if name.startswith(("full", "sparse", *WITH_LOOPS)):
        contestants["torchcent, whole, as the paper"] = lambda: run_whole(
            matrix, inflation=inflation, prune=None, chaos=1e-3, **own
        )
    if shutil.which("mcl"):
        contestants["mcl"] = lambda: run_mcl(str(path), inflation, threads, *kept)
        contestants["torchcent mcl"] = lambda: run_command(str(path), inflation, threads, *kept)
    if shutil.which("mcl") and kept:
        contestants["mcl, not pruned"] = lambda: run_mcl(
            str(path), inflation, threads, *kept, *NOT_PRUNED
        )
    if name in arguments.python:
        contestants["torchcent, whole, prune 0.001"] = lambda: run_whole(
            matrix, inflation=inflation, prune=torchcent.Prune(0.001, 0, 0, 0), loops="one"
        )
        contestants["markov_clustering"] = lambda: run_markov_clustering(matrix, inflation)
    runs: dict[str, list[dict[str, Any]]] = {contestant: [] for contestant in contestants}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.mci")
        write_native(matrix, path)
        for turn in range(arguments.repeat):
            for contestant, work in contestants.items():
                if turn > 0 and contestant == "markov_clustering":
                    continue
                found = work()
                runs[contestant] += [found] if found else []
            if runs.get("mcl") and runs["mcl"][-1]["seconds"] > SLOW:
                break
    edges = matrix.nnz if kept else matrix.nnz // 2  # entries of one that is not symmetric
    result = {
        "graph": name,
        "num_nodes": matrix.shape[0],
        "edges": edges,
        "inflation": arguments.inflation,
        "threads": arguments.threads,
        "runs": {contestant: all_runs for contestant, all_runs in runs.items() if all_runs},
    }
    print(f"{name}: n = {matrix.shape[0]:,}, edges = {edges:,}")
    for contestant, all_runs in result["runs"].items():
        ours = runs["torchcent"]
        ratio = {
            key: statistics.median(x[key] / o[key] for x, o in zip(all_runs, ours, strict=False))
            for key in ("seconds", "cpu_seconds")
        }
        print(
            f"  {contestant:31} {statistics.median(x['seconds'] for x in all_runs):8.3f} s"
            f" {statistics.median(x['cpu_seconds'] for x in all_runs):8.3f} s of processor"
            f"   x {ratio['seconds']:.1f}, processor x {ratio['cpu_seconds']:.1f}",
            flush=True,
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", default=[*GENERATED, *FROM_DATA])
    parser.add_argument("--inflation", type=float, default=2.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--python", nargs="*", default=["hprd-release9", "planted14"],
        help="graphs for markov_clustering as well: slow",
    )  # fmt: skip
    parser.add_argument("--note", default="", help="kept beside the conditions of these graphs")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    rows = {}
    if arguments.output.exists():
        known = json.loads(arguments.output.read_text())["graphs"]
        rows = {row["graph"]: row for row in known if "conditions" in row}
    for name in arguments.graphs:
        measured_on = conditions() | {"mcl": mcl_version()}
        if row := measure(name, arguments):
            rows[name] = row | {"conditions": measured_on | {"note": arguments.note}}
            arguments.output.write_text(json.dumps({"graphs": [*rows.values()]}, indent=1) + "\n")


def mcl_version() -> str | None:
    if not shutil.which("mcl"):
        return None
    return subprocess.run(["mcl", "--version"], capture_output=True, text=True).stdout.split("\n")[
        0
    ]


if __name__ == "__main__":
    main()
