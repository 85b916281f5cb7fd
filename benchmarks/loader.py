"""AddCentrality in the workers of a DataLoader: cores kept busy, graphs per second, memory.

    python benchmarks/loader.py          # three minutes -> results/loader.json

Each row is a process of its own. It makes the graphs, starts the loader, and goes through all
graphs once to warm up. Then it does so `--repeat` times with the clock, and once more with a look
at the memory every 20 ms. Cores are the processor time of the process and its workers over the time
of the clock. Memory is their proportional set size (PSS: shared pages count once), at most, and
what the process had before the loader began. Linux only, for it reads /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from machine import conditions

MEASURES = ["betweenness", "closeness", "harmonic", "eccentricity"]
# Name: graphs, vertices of the smallest and the largest, neighbours each joins, graphs of a batch.
SETS = {
    "molecule-sized": (4000, 15, 30, 1, 64),
    "social circles": (300, 200, 600, 4, 16),
    "small networks": (40, 2000, 3000, 4, 4),
}
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_MEMORY_STEP = 0.02


def graphs(name: str) -> list[Any]:
    """Random graphs of preferential attachment, from the smallest size to the largest in turn."""
    import torch
    from torch_geometric.data import Data

    import torchcent

    count, smallest, largest, joins, _ = SETS[name]
    made = []
    for number in range(count):
        n = smallest + number % (largest - smallest + 1)
        index = torchcent.generate.ba(n, joins, seed=number)
        made.append(Data(edge_index=index, x=torch.ones(n, 1), num_nodes=n))
    return made


def processes() -> list[int]:
    """This one and its workers."""
    found = [os.getpid()]
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(OSError):  # a thread that has just ended
            found += map(int, (task / "children").read_text().split())
    return found


def processor_seconds() -> float:
    total = 0
    for process in processes():
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])  # in user mode and in the system
    return total / TICK


def memory() -> int:
    """Bytes, proportional set size."""
    total = 0
    for process in processes():
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += 1024 * int(line.split()[1])
    return total


def measure(name: str, workers: int, repeat: int) -> dict[str, Any]:
    """One row, in this process."""
    import torch
    from torch_geometric.loader import DataLoader

    from torchcent.transforms import AddCentrality

    torch.set_num_threads(1)  # without workers too: rows differ by the workers alone
    data = graphs(name)
    transform = AddCentrality(MEASURES)

    class Transformed(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(data)

        def __getitem__(self, number: int) -> Any:
            return transform(data[number])

    before = memory()
    loader = DataLoader(
        Transformed(), batch_size=SETS[name][-1], num_workers=workers,
        persistent_workers=workers > 0,
    )  # fmt: skip

    def go_through() -> None:
        seen = sum(batch.num_graphs for batch in loader)
        assert seen == len(data)

    go_through()
    seconds, cores = [], []
    for _ in range(repeat):
        start, begun = time.perf_counter(), processor_seconds()
        go_through()
        seconds.append(time.perf_counter() - start)
        cores.append((processor_seconds() - begun) / seconds[-1])
    peak, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(_MEMORY_STEP):
            peak.append(memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    go_through()
    done.set()
    watcher.join()
    return {
        "set": name,
        "graphs": len(data),
        "vertices": sum(one.num_nodes for one in data),
        "workers": workers,
        "seconds": seconds,
        "cores": cores,
        "bytes_before": before,
        "peak_bytes": max(peak),
    }


def table(result: dict[str, Any]) -> list[list[str]]:
    lines = [["graphs", "vertices each", "workers", "graphs per second", "cores busy", "peak MB"]]
    for row in result["rows"]:
        smallest, largest = SETS[row["set"]][1:3]
        rate = row["graphs"] / statistics.median(row["seconds"])
        peak, more = row["peak_bytes"], row["peak_bytes"] - row["bytes_before"]
        lines.append([
            f"{row['graphs']:,} {row['set']}",
            f"{smallest:,}-{largest:,}",
            str(row["workers"]) if row["workers"] else "none",
            f"{rate:,.0f}",
            f"{statistics.median(row['cores']):.2f}",
            f"{peak / 1e6:,.0f} (+{more / 1e6:,.0f})",
        ])  # fmt: skip
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = Path(__file__).parent / "results" / "loader.json"
    parser.add_argument("--output", type=Path, default=default)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--row", nargs=2, metavar=("SET", "WORKERS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.row:
        print(json.dumps(measure(asked.row[0], int(asked.row[1]), asked.repeat)))
        return
    result = {**conditions(), "measures": MEASURES, "rows": []}
    for name in SETS:
        for workers in asked.workers:
            row = [sys.executable, __file__, "--row", name, str(workers)]
            run = subprocess.run(
                [*row, "--repeat", str(asked.repeat)], check=True, stdout=subprocess.PIPE, text=True
            )
            result["rows"].append(json.loads(run.stdout))
            print(*table({"rows": result["rows"][-1:]})[1], sep="  ")
    asked.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
