"""The pinned calls of benchmarks/history.py, and their run in valgrind.

`python benchmarks/history_cases.py` runs in valgrind's callgrind, which history.py starts. Graphs
are small and drawn from seeds. A call takes an edge_index, so that the preparation of its graph
counts. Whatever would depend on the machine or the clock is an argument: threads, memory, the
method of an approximation, no progress bar.
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Instrumentation stays on from start() to the end. Where it is switched off and on between dumps,
# the line `summary` of a dump is its count less that of the dump before, often below zero. The line
# `totals` is right in either case.
CLIENT = """#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }
"""


def cases(folder: Path) -> dict[str, Callable[[], Any]]:
    """What is counted, by name; arguments are made beforehand."""
    import torch

    import torchcent as tc
    from torchcent import generate

    def run(engine: str = "auto") -> tc.Run:
        return tc.Run(engine=engine, threads=1, memory=2**30, progress=False)

    def plain(engine: str = "auto") -> dict[str, Any]:
        return {"directed": False, "run": run(engine)}

    def lengths(edge_index: torch.Tensor) -> torch.Tensor:
        """A whole length of 1 to 10 for each edge, the same in both directions."""
        low, high = edge_index.min(0).values, edge_index.max(0).values
        return ((low * 7919 + high * 104729) % 10 + 1).double()

    social, mesh = generate.ba(2000, 5, seed=1), generate.grid(32, 32)
    strip = generate.grid(120, 10)
    directed = generate.rmat(11, 8, seed=1)[:, ::2].contiguous()
    pages = generate.rmat(13, 8, seed=1)[:, ::2].contiguous()
    molecule = generate.ws(24, 4, 0.2, seed=1)
    many = torch.cat([molecule + 24 * i for i in range(200)], 1)
    batch = torch.arange(200).repeat_interleave(24)
    planted = generate.planted(1000, 10, seed=1)
    states = torch.linspace(0, 1, 32 * 32, dtype=torch.float64)
    path = folder / "edges.txt"
    path.write_text("".join(f"{u}\t{v}\n" for u, v in generate.ba(20_000, 3, seed=1).T.tolist()))
    return {
        "betweenness-lanes": lambda: tc.betweenness(social, **plain("lanes")),
        "betweenness-queue": lambda: tc.betweenness(mesh, **plain("queue")),
        "betweenness-hierarchy": lambda: tc.betweenness(strip, **plain("hierarchy")),
        "betweenness-batch": lambda: tc.betweenness(many, batch=batch, **plain("tiny")),
        "betweenness-relax": lambda: tc.betweenness(social, lengths(social), **plain("relax")),
        "betweenness-dijkstra": lambda: tc.betweenness(mesh, lengths(mesh), **plain("dijkstra")),
        "edge-betweenness": lambda: tc.edge_betweenness(directed, directed=True, run=run()),
        "percolation": lambda: tc.percolation(mesh, states=states, **plain()),
        "local-betweenness": lambda: tc.local_betweenness(mesh, lengths(mesh), radius=8, **plain()),
        "betweenness-approx": lambda: tc.betweenness_approx(
            social, 0.01, method="kadabra", generator=torch.Generator().manual_seed(1), **plain()
        ),
        "group-betweenness": lambda: tc.group_betweenness(social, list(range(5)), **plain()),
        "closeness": lambda: tc.closeness(social, **plain()),
        "closeness-weights": lambda: tc.closeness(mesh, lengths(mesh), **plain()),
        "harmonic": lambda: tc.harmonic(directed, directed=True, run=run()),
        "shortest-path-lengths": lambda: tc.shortest_path_lengths(mesh, **plain()),
        "mcl": lambda: tc.mcl(planted, **plain()),
        "pagerank": lambda: tc.pagerank(pages, directed=True, run=run()),
        "current-flow": lambda: tc.current_flow_betweenness(mesh, **plain()),
        "triangles-cores": lambda: (
            tc.triangles(social, **plain()),
            tc.core_number(social, **plain()),
        ),
        "read": lambda: tc.read(str(path), run=run()),
    }


def runnable(calls: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """The calls that succeed, each made once: modules are imported, and memory is allocated."""
    successes = {}
    for case, call in calls.items():
        try:
            call()
        except (AttributeError, TypeError, ValueError) as error:  # an older version lacks it
            print(f"{case} is left out: {error}", file=sys.stderr)
        else:
            successes[case] = call
    return successes


def main(package: str) -> None:
    import torch

    import torchcent

    if Path(torchcent.__file__).parent != Path(package):
        raise SystemExit(f"torchcent is imported from {torchcent.__file__}, not {package}")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name, "client.c"), Path(name, "client.so")
        source.write_text(CLIENT)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        client = ctypes.CDLL(str(library))
        calls = runnable(cases(Path(name)))
        gc.disable()
        client.start()
        for case, call in calls.items():
            gc.collect()
            client.zero()
            call()
            client.dump(case.encode())


if __name__ == "__main__":
    main(sys.argv[1])
