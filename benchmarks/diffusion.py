"""Personalised PageRank and the heat kernel of an R-MAT, beside pushes written in Numba.

    python benchmarks/diffusion.py                       # 2^17 vertices -> a table
    python benchmarks/diffusion.py --scale 21 --sources 2000 --without-peers

All calls compute rows of the same sources, on the same threads and in turns; medians by the clock,
and seconds of the processor in all threads. The peers are get_ppr of PyTorch Geometric, with a
stack and dictionaries, and a queue with dense arrays for each thread. Both begin with a CSR and
return lists or nothing. Needs numba.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from report import markdown
from sources import drawn

import torchcent
from torchcent import Graph

RESTART = 0.15


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    before = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - before[0], time.process_time() - before[1]


def queue_push() -> Callable[..., Any]:
    """A push with a queue and dense arrays, of the sources of a thread one after the other."""
    import numba

    @numba.njit(parallel=True)
    def push(rowptr, col, sources, restart, eps, threads):  # type: ignore[no-untyped-def]
        n = rowptr.size - 1
        sums = np.zeros(sources.size)
        for thread in numba.prange(threads):
            rest, mass = np.zeros(n), np.zeros(n)
            queued = np.zeros(n, np.bool_)
            queue, touched = np.empty(n, np.int64), np.empty(n, np.int64)
            for i in range(thread, sources.size, threads):
                count = 1
                rest[sources[i]], touched[0], queue[0] = 1.0, sources[i], sources[i]
                first, waiting = 0, 1
                while waiting:
                    u = queue[first % n]
                    first += 1
                    waiting -= 1
                    queued[u] = False
                    moved = rest[u]
                    rest[u] = 0.0
                    mass[u] += restart * moved
                    begin, end = rowptr[u], rowptr[u + 1]
                    if begin == end:
                        continue
                    share = (1 - restart) * moved / (end - begin)
                    for slot in range(begin, end):
                        v = col[slot]
                        if rest[v] == 0.0 and mass[v] == 0.0 and count < n:
                            touched[count] = v
                            count += 1
                        rest[v] += share
                        if not queued[v] and rest[v] > eps * (rowptr[v + 1] - rowptr[v]):
                            queued[v] = True
                            queue[(first + waiting) % n] = v
                            waiting += 1
                for k in range(count):
                    sums[i] += mass[touched[k]]
                    rest[touched[k]] = mass[touched[k]] = 0.0
        return sums

    return push


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=17)
    parser.add_argument("--degree", type=int, default=8)
    parser.add_argument("--sources", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--eps", type=float, default=1e-4)
    parser.add_argument("--top", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--without-peers", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    index = torchcent.generate.rmat(args.scale, args.degree, seed=1)
    graph = Graph.from_edge_index(index, directed=False).to(args.device)
    n = graph.num_nodes
    sources = drawn(graph, args.sources)
    count = sources.numel()
    options = {"eps": args.eps, "sources": sources}
    on_cuda = graph.device.type == "cuda"

    def ours(name: str, **own: Any) -> Callable[[], Any]:
        def run() -> None:
            getattr(torchcent, name)(graph, **options, **own)
            if on_cuda:
                torch.cuda.synchronize()

        return run

    calls: dict[str, Callable[[], Any]] = {
        f"personalized_pagerank, top {args.top}": ours("personalized_pagerank", top_k=args.top),
        "personalized_pagerank, all": ours("personalized_pagerank"),
        f"heat_kernel, top {args.top}": ours("heat_kernel", top_k=args.top),
    }
    if not args.without_peers:
        import numba
        from torch_geometric.utils import ppr

        numba.set_num_threads(args.threads)
        push, stack = queue_push(), numba.jit(nopython=True, parallel=True)(ppr._get_ppr)
        rowptr, col, some = graph.rowptr.numpy(), graph.col.long().numpy(), sources.numpy()
        calls["numba, a queue"] = lambda: push(rowptr, col, some, RESTART, args.eps, args.threads)
        few = some[: max(1, some.size // 20)]  # the other sources as many times as long
        calls["numba, get_ppr of a twentieth"] = lambda: stack(rowptr, col, RESTART, args.eps, few)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for turn in range(args.repeat + 1):
        for name, call in calls.items():
            each = timed(call)
            if turn:
                times[name].append(each)
    first = next(iter(calls))
    base = statistics.median(each[0] for each in times[first])
    rows = [["call", "seconds", "of the processor", "ms a source", "ratio"]]
    for name, each in times.items():
        scale = count / max(1, count // 20) if "twentieth" in name else 1
        clock, processor = (scale * statistics.median(x) for x in zip(*each, strict=True))
        rows.append(
            [name, f"{clock:.3g}", f"{processor:.3g}", f"{1e3 * clock / count:.3g}",
             f"{clock / base:.2f}"]
        )  # fmt: skip
    print(f"{n} vertices, {graph.num_slots} slots, {count} sources, {args.threads} threads")
    print(markdown(rows))


if __name__ == "__main__":
    main()
