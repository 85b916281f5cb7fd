"""Mixed calls from several threads for as long as asked: equal results, flat memory.

    python tools/soak.py --seconds 3600

Every call was made once before, alone; each later result must equal that one in every bit, whatever
the other threads do meanwhile. Memory is the resident size of the process, sampled every few
seconds, when the threads have ended and the allocator gave back what it held free (malloc_trim).
Its slope is that of a straight line through the samples of the second half.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import io
import itertools
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

# Idle threads sleep: those of eight callers would spin all the time. Read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch

import torchcent
from torchcent import EdgeList, Graph, generate, read, write
from torchcent.cli import main as command

Call = Callable[[], Any]
SUFFIXES = (
    "txt", "csv.gz", "abc", "mtx", "graph", "gr.bz2", "npz", "npy", "pt", "parquet", "el.xz",
)  # fmt: skip
#: formats that are read only
TEXTS = {
    "small.mci": "(mclheader\nmcltype matrix\ndimensions 3x3\n)\n(mclmatrix\nbegin\n"
    "0 1:2 $\n1 0:2 2:1 $\n2 1:1 $\n)\n",
    "small.gml": "graph [\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n",
    "small.graphml": '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b"/></graph></graphml>',
}
M_ARENA_MAX = -8  # of malloc.h
SAMPLES = 240  # of the memory, at most


def graphs() -> dict[str, Graph]:
    chance = torch.Generator().manual_seed(1)

    def weights(index: torch.Tensor, real: bool) -> torch.Tensor:
        """Symmetric ones, whole or real."""
        low, high = index.min(0).values, index.max(0).values
        size = int(index.max()) + 1
        value = torch.randint(1, 9, (size * size,), generator=chance).double()
        return value[low * size + high] * (0.1 if real else 1)

    rmat, grid, path = generate.rmat(8, 8, seed=1), generate.grid(14, 14), generate.grid(1, 150)
    arcs = rmat[:, torch.randperm(rmat.size(1), generator=chance)[: rmat.size(1) // 2]]
    few = [generate.er(n, m=2 * n, seed=n) + 60 * i for i, n in enumerate(range(5, 45, 2))]
    return {
        "rmat": Graph.from_edge_index(rmat, 256),
        "grid": Graph.from_edge_index(grid, 196),
        "path": Graph.from_edge_index(path, 150),
        "directed": Graph.from_edge_index(arcs, 256, True),
        "whole weights": Graph.from_edge_index(grid, 196, edge_weight=weights(grid, False)),
        "real weights": Graph.from_edge_index(rmat, 256, edge_weight=weights(rmat, True)),
        "batch": Graph.from_edge_index(
            torch.cat(few, 1), 1200, batch=torch.arange(1200) // 60
        ),
    }  # fmt: skip


def calls(folder: Path) -> dict[str, Call]:
    """All measures on all engines, batches, clustering, samples, files, the command line."""
    known: dict[str, Call] = {}
    tc = torchcent
    contracted = graphs()  # others: of a graph that has been contracted, auto uses that
    for name, graph in graphs().items():
        counting = ("relax", "dijkstra") if graph.is_weighted else ("lanes", "queue")
        measuring = counting if graph.is_weighted else ("bits",)
        more = ("tensor", "auto", "reference", "hierarchy", *(("tiny",) if name == "batch" else ()))
        for engines, measures in (
            (counting + more, (tc.betweenness, tc.edge_betweenness, tc.stress)),
            (measuring + more, (tc.closeness, tc.harmonic, tc.eccentricity)),
        ):
            for engine, measure in itertools.product(engines, measures):
                on = contracted[name] if engine == "hierarchy" else graph
                known[f"{measure.__name__} {name} {engine}"] = partial(
                    measure, on, run=tc.Run(engine=engine)
                )
        states = torch.arange(graph.num_nodes) % 3
        known[f"percolation {name}"] = lambda g=graph, x=states: tc.percolation(g, states=x)
        known[f"features {name}"] = lambda g=graph: tc.node_features(g)
        if name == "batch":
            continue
        for engine in (*measuring, "tensor", "auto"):
            known[f"lengths {name} {engine}"] = lambda g=graph, e=engine: tc.shortest_path_lengths(
                g, run=tc.Run(engine=e)
            )
        for measure in (tc.diameter, tc.radius, tc.center, tc.periphery):
            known[f"{measure.__name__} {name}"] = lambda m=measure, g=graph: m(g)
        known[f"approx {name}"] = lambda g=graph: (
            tc.betweenness_approx(g, 0.05, 0.1, generator=torch.Generator().manual_seed(2)).scores
        )
        known[f"adaptive {name}"] = lambda g=graph: tc.betweenness_adaptive(
            g, [0, 3], generator=torch.Generator().manual_seed(2)
        )
        if not graph.is_weighted:
            known[f"closure {name}"] = lambda g=graph: tc.transitive_closure(g).count()
            known[f"distribution {name}"] = lambda g=graph: tc.distance_distribution(g)
        index, weight = graph.to_edge_index(), graph.weight
        for engine in ("fused", "dense", "tensor"):
            known[f"mcl {name} {engine}"] = lambda i=index, w=weight, e=engine, g=graph: (
                tc.mcl(i, w, num_nodes=g.num_nodes, directed=True, run=tc.Run(engine=e)).labels
            )
        # Prepared anew: sorting, transposing, folding, components.
        known[f"graph {name}"] = lambda i=index, w=weight, g=graph: tc.betweenness(
            Graph.from_edge_index(i, g.num_nodes, g.directed, edge_weight=w)
        )
    edges = EdgeList(generate.grid(15, 15)[:, ::2], None, None, 225, False)
    for suffix in SUFFIXES:
        path = folder / f"grid.{suffix}"
        write(path, edges)
        known[f"read {suffix}"] = lambda p=path: read(p).edge_index
        known[f"write {suffix}"] = lambda s=suffix: _written(folder, s, edges)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
        known[f"read {name}"] = lambda p=folder / name: read(p).edge_index
    known["refused"] = lambda: _refused(folder / "grid.txt")
    known["command"] = lambda: _command(folder / "grid.txt")
    return known


def _written(folder: Path, suffix: str, edges: EdgeList) -> torch.Tensor:
    path = folder / f"{threading.get_ident()}.{suffix}"
    write(path, edges)
    index = read(path).edge_index
    path.unlink()
    return index


def _refused(path: Path) -> str:
    """Errors free what was taken before them."""
    try:
        torchcent.closeness(read(path, num_nodes=3).edge_index)
    except ValueError as error:
        return str(error)
    raise AssertionError("3 vertices were accepted")


def _command(path: Path) -> str:
    if threading.current_thread() is not threading.main_thread():
        # Standard output belongs to the process: from threads, only what prints nothing.
        return str(command(["betweenness", str(path), "--top", "0", "--quiet"]))
    with contextlib.redirect_stdout(io.StringIO()):
        return str(command(["betweenness", str(path), "--top", "0", "--quiet"]))


def plain(value: Any) -> Any:
    """A result as bytes, to be compared bit by bit."""
    if isinstance(value, torch.Tensor):
        if value.is_nested:
            return [plain(part) for part in value.unbind()]
        return str(value.dtype), tuple(value.shape), value.numpy().tobytes()
    if isinstance(value, np.ndarray):
        return plain(torch.from_numpy(np.array(value)))
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return [plain(getattr(value, name)) for name in value.__dataclass_fields__]
    return repr(value)


def resident() -> float:
    """MiB of the process, free memory given back."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # glibc's
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Soak:
    def __init__(self, known: dict[str, Call], threads: int, seed: int):
        self.known, self.threads, self.seed = known, threads, seed
        self.names = sorted(known)
        self.first = {name: plain(known[name]()) for name in self.names}
        self.made: Counter[str] = Counter()
        self.differ: list[str] = []
        self.memory: list[tuple[float, float]] = []
        self._end = 0.0
        self._lock = threading.Lock()

    def run(self, seconds: float) -> None:
        """Rounds of new threads; between them, nothing runs and the memory is looked at."""
        started = time.monotonic()
        length = max(seconds / SAMPLES, 4.0)
        chance = random.Random(self.seed)
        while (now := time.monotonic() - started) < seconds:
            self._end = started + min(now + length, seconds)
            workers = [
                threading.Thread(target=self._work, args=(chance.random(),))
                for _ in range(self.threads)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.memory.append((time.monotonic() - started, resident()))

    def _work(self, seed: float) -> None:
        chance = random.Random(seed)
        while time.monotonic() < self._end:
            name = chance.choice(self.names)
            try:
                equal = plain(self.known[name]()) == self.first[name]
                said = "" if equal else f"{name}: another result"
            except Exception as error:  # to be told, whatever it is
                said = f"{name}: {type(error).__name__}: {error}"
            with self._lock:
                self.made[name] += 1
                if said:
                    self.differ.append(said)

    def slope(self) -> float:
        """MiB an hour, over the second half of the samples; NaN for less than three."""
        half = np.array(self.memory[len(self.memory) // 2 :])
        if len(half) < 3:
            return float("nan")
        return float(np.polyfit(half[:, 0], half[:, 1], 1)[0] * 3600)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600.0, help="(3600)")
    parser.add_argument("--threads", type=int, default=8, help="that call (8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--without", nargs="*", default=[], metavar="WORD", help="calls to leave out, by name"
    )
    parser.add_argument("--out", help="a .json for the samples of the memory")
    args = parser.parse_args()
    with contextlib.suppress(OSError, AttributeError):  # glibc's: a heap, not one a thread, which
        ctypes.CDLL(None).mallopt(
            M_ARENA_MAX, 1
        )  # keep what others cannot use: 150 MiB more or less
    with tempfile.TemporaryDirectory() as folder:
        known = calls(Path(folder))
        for name in [name for name in known if set(name.split()) & set(args.without)]:
            del known[name]
        soak = Soak(known, args.threads, args.seed)
        soak.run(args.seconds)
    total, each = sum(soak.made.values()), soak.made.most_common()
    print(
        f"{total} calls of {len(soak.names)} kinds by {args.threads} threads in {args.seconds:g} s"
    )
    print(f"  fewest: {each[-1][1]} of {each[-1][0]}; never: {len(soak.names) - len(each)}")
    print(f"  other results or errors: {len(soak.differ)}", *soak.differ[:20], sep="\n    ")
    step = max(1, len(soak.memory) // 20)
    curve = [f"{mib:.0f} at {second:.0f} s" for second, mib in soak.memory[::step]]
    print("  MiB:", ", ".join([*curve, f"{soak.memory[-1][1]:.0f} at the end"]))
    print(f"  slope of the second half: {soak.slope():+.1f} MiB an hour")
    if args.out:
        Path(args.out).write_text(json.dumps(soak.memory))
    return int(bool(soak.differ))


if __name__ == "__main__":
    sys.exit(main())
