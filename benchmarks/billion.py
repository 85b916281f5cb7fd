"""Exact scores of graphs with up to 3.6 billion slots: a part of the run, through its ledger.

    python benchmarks/billion.py                                   # -> results/billion.json
    python benchmarks/billion.py --graphs orkut --measures betweenness --seconds 600
    python benchmarks/billion.py --devices 4
    python benchmarks/billion.py --device cpu --small --output FILE    # tests the script

The graphs have the vertices, edges, and largest degree of com-Orkut, twitter-2010 (undirected) and
com-Friendster. Both ends of an edge are drawn in proportion to a power of the rank (Chung and Lu
2002), so that communities are missing. Repeated edges merge, so there are somewhat fewer of them.

A row is the public call on a prepared Graph with Run(checkpoint=), ended as by Ctrl-C after so many
seconds. The ledger then says how many sources were finished, and the seconds that their units took.
`whole` extrapolates to all sources; `spread` is twice the standard error of that, from the rates of
the parts that were seen in turn. A run that ends before has no spread: `whole` is measured.
Preparation is apart. `watts` is the mean of what nvidia-smi says once a second, over all devices.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from machine import conditions
from report import markdown
from torch import Tensor

import torchcent
from torchcent import Graph, Run
from torchcent.distribute._look import look

RESULT = Path(__file__).parent / "results" / "billion.json"
MEASURES = {"betweenness": torchcent.betweenness, "closeness": torchcent.closeness}
CHUNK = 1 << 26


class Like(NamedTuple):
    """A network: vertices, edges, the largest degree, and the exponent of the rank."""

    network: str
    nodes: int
    edges: int
    largest: int
    power: float


GRAPHS = {
    "orkut": Like("com-Orkut", 3_072_441, 117_185_083, 33_313, 0.6),
    "twitter": Like("twitter-2010", 41_652_230, 1_202_513_046, 2_997_487, 0.75),
    "friendster": Like("com-Friendster", 65_608_366, 1_806_067_135, 5_214, 0.5),
}
SMALL = Like("a trial", 3_000, 30_000, 300, 0.6)


def edges_of(like: Like, device: str) -> Tensor:
    """Edges whose ends are drawn in proportion to (rank + shift)^-power, as int32 [2, E]."""
    n, rest = like.nodes, 1 - like.power

    def mass(shift: float) -> float:
        return ((n + shift) ** rest - shift**rest) / rest

    low, high = 1e-9, float(n)
    for _ in range(200):  # the shift that gives the first vertex its expected degree
        shift = math.sqrt(low * high)
        first = 2 * like.edges * shift**-like.power / mass(shift)
        low, high = (shift, high) if first > like.largest else (low, shift)
    chance = torch.Generator(device).manual_seed(1)
    vertex = torch.randperm(n, generator=chance, device=device, dtype=torch.int32)
    begin, end = shift**rest, (n + shift) ** rest
    edges = torch.empty(2, like.edges, dtype=torch.int32, device=device)
    for side in edges:
        for part in side.split(CHUNK):
            draw = torch.rand(part.shape, generator=chance, device=device, dtype=torch.float64)
            rank = (begin + draw * (end - begin)) ** (1 / rest) - shift
            part.copy_(vertex[rank.long().clamp_(0, n - 1)])
    return edges


class Power(threading.Thread):
    """Asks nvidia-smi for the watts of all devices."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._over, self._watts = threading.Event(), list[float]()

    def run(self) -> None:
        command = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits"]
        while not self._over.wait(1):
            try:
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                self._watts.append(sum(map(float, said.split())))
            except (OSError, subprocess.CalledProcessError, ValueError):
                return

    def mean(self) -> float | None:
        self._over.set()
        return statistics.mean(self._watts) if self._watts else None


class Watch(threading.Thread):
    """Reads the ledger twice a second: finished sources and the seconds of their units."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder, self._over = folder, threading.Event()
        self.seen: list[tuple[int, float]] = []
        self.total = 0

    def run(self) -> None:
        while not self._over.wait(0.5):
            self.read()

    def read(self) -> None:
        try:
            search = max(look(self._folder).searches, key=lambda search: search.total)
        except (OSError, ValueError):  # there is none yet
            return
        self.total = search.total
        if not self.seen or search.done > self.seen[-1][0]:
            self.seen.append((search.done, search.seconds))

    def end(self) -> None:
        self._over.set()
        self.join()
        self.read()

    def spread(self) -> float | None:
        """Twice the standard error of the seconds per source, relative to their mean."""
        rates = [
            (seconds - before) / (done - had)
            for (had, before), (done, seconds) in zip(self.seen, self.seen[1:], strict=False)
        ]
        if len(rates) < 3:
            return None
        return 2 * statistics.stdev(rates) / math.sqrt(len(rates)) / statistics.mean(rates)


def measured(graph: Graph, measure: str, run: Run, seconds: float) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp())
    run = Run(devices=run.devices, memory=run.memory, progress=False, checkpoint=str(folder))
    watch, power = Watch(folder), Power()
    watch.start()
    if graph.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        power.start()
    complete = True
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        MEASURES[measure](graph, run=run)
    except KeyboardInterrupt:
        complete = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    clock, watts = time.perf_counter() - began, power.mean()
    watch.end()
    shutil.rmtree(folder)
    if not watch.seen:
        return {"measure": measure, "clock": clock, "sources": 0}
    done, worked = watch.seen[-1]
    spread = None if complete else watch.spread()
    row: dict[str, Any] = {"measure": measure, "sources": done, "of": watch.total}
    row |= {"seconds": worked, "clock": clock}
    row["gteps"] = done * graph.num_slots / worked / 1e9
    # Units of several devices are worked on at the same time.
    extrapolated = worked / done * watch.total / max(len(run.devices or ()), 1)
    row |= {"whole": clock if complete else extrapolated, "spread": spread, "watts": watts}
    if graph.device.type == "cuda":
        row["memory"] = torch.cuda.max_memory_allocated()
    print(f"{measure}: {json.dumps(row)}", flush=True)
    return row


def room(device: str) -> int | None:
    """More than the half of the free memory that a call takes by default."""
    return torch.cuda.mem_get_info()[0] * 97 // 100 if device == "cuda" else None


def rows(like: Like, options: argparse.Namespace) -> list[dict[str, Any]]:
    began = time.perf_counter()
    edges = edges_of(like, options.device)
    drawn = time.perf_counter()
    with Run(memory=room(options.device)):
        graph = Graph.from_edge_index(edges, directed=False, num_nodes=like.nodes)
    largest = int(graph.rowptr.diff().max())  # also waits for the device
    prepared = time.perf_counter() - drawn
    del edges
    if options.device == "cuda":
        torch.cuda.empty_cache()
    about = {"like": like.network, "nodes": graph.num_nodes, "slots": graph.num_slots}
    about |= {"largest": largest, "devices": options.devices, "prepared": prepared}
    print(f"{about}, drawn in {drawn - began:.1f} s", flush=True)
    several = [f"cuda:{at}" for at in range(options.devices)] if options.devices > 1 else None
    run = Run(devices=several, memory=room(options.device))
    return [about | measured(graph, name, run, options.seconds) for name in options.measures]


def table(found: list[dict[str, Any]]) -> str:
    cells = [
        [
            row["like"], row["measure"], f"{row['nodes']:,}", f"{row['slots']:,}",
            str(row["devices"]), f"{row['prepared']:.1f}", f"{row['sources']:,}",
            f"{row['seconds']:.1f}", f"{row['gteps']:,.0f}", f"{row['whole'] / 3600:.2f}",
            "" if row["spread"] is None else f"{100 * row['spread']:.1f}",
            f"{row.get('memory', 0) / 2**30:.0f}",
            "" if not row["watts"] else f"{row['watts']:.0f}",
        ]
        for row in found if row["sources"]
    ]  # fmt: skip
    head = ["like", "measure", "vertices", "slots", "GPUs", "prepared s", "sources", "s", "GTEPS"]
    return markdown([[*head, "whole, h", "± %", "GiB", "W"], *cells])


def main() -> None:
    first, _, rest = (__doc__ or "").partition("\n")
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=first, epilog=rest, formatter_class=style)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--seconds", type=float, default=75, help="of a row (75)")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="a few thousand vertices: a trial")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()

    def interrupt(_: int, __: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    known = json.loads(options.output.read_text())["rows"] if options.output.exists() else []
    for name in options.graphs:
        new = rows(SMALL if options.small else GRAPHS[name], options)
        new = [{"device": device} | row for row in new]
        key = ("device", "like", "devices", "measure")
        again = {tuple(row[part] for part in key) for row in new}
        known = [row for row in known if tuple(row[part] for part in key) not in again] + new
        options.output.write_text(json.dumps(conditions() | {"rows": known}, indent=1) + "\n")
    print(table(known))


if __name__ == "__main__":
    main()
