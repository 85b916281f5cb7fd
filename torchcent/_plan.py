"""Which engine, how many threads and lanes, how much memory: decided before anything runs."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import torch

from torchcent import _ops, _reduce, _tensor
from torchcent.graph import Graph

LANES = 64  # sources side by side in one batch of the lanes engine
# Sources that share a private sum; fixed in csrc/cpu/path_dependency.cpp.
BATCH = {"lanes": LANES, "queue": 16}
ORDER = {"lanes": "degree", "queue": "bandwidth", "tensor": "given"}
FEW_SOURCES = 8
# Depth over log2(n) up to which lanes win: 1.5 to 2.1 for social, web and citation graphs, 2.8 and
# more for meshes and roads (docs/performance.md has the table).
DEPTH_PER_LOG = 2.4


@dataclass(frozen=True)
class Plan:
    """What a run will do; print it to read it."""

    measure: str
    engine: str
    reason: str
    device: torch.device
    num_nodes: int
    num_slots: int
    core_nodes: int
    core_slots: int
    sources: int
    lanes: int
    batches: int
    threads: int
    memory: int
    memory_limit: int

    def __str__(self) -> str:
        rows = {
            "measure": self.measure,
            "engine": f"{self.engine}: {self.reason}",
            "device": f"{self.device}" + (f", {self.threads} threads" if self.threads else ""),
            "graph": f"{self.num_nodes:,} vertices, {self.num_slots:,} slots",
            "searched": f"{self.core_nodes:,} vertices, {self.core_slots:,} slots after folding",
            "sources": f"{self.sources:,} in {self.batches:,} batches, {self.lanes} lanes each",
            "memory": f"{_readable(self.memory)} of {_readable(self.memory_limit)} allowed",
        }
        return "\n".join(f"{name:<9} {text}" for name, text in rows.items())


def plan(
    graph: Graph, measure: str, engine: str, num_sources: int | None, memory: int | None
) -> tuple[Plan, _reduce.Core]:
    """The plan and the reduced graph that it will search.

    Raises:
        MemoryError: with the need and the limit, if not even one batch at a time fits.
        ValueError: if the engine cannot run here.
    """
    limit = memory if memory is not None else _free_memory(graph.device) // 2
    engine, reason, core = _choose(graph, measure, engine, num_sources)
    scores = graph.num_slots if measure == "edge_betweenness" else graph.num_nodes
    sources = _count_sources(core, num_sources, graph.num_nodes)
    threads, lanes = 0, 1
    if engine == "tensor":
        fixed = graph.nbytes + 8 * scores
        lanes = min(
            max(sources, 1), _tensor.lanes_that_fit(core.num_nodes, core.num_slots, limit - fixed)
        )
        each = _tensor.memory_needed(core.num_nodes, core.num_slots, max(lanes, 1))
        needed = fixed + each
    else:
        lanes = LANES if engine == "lanes" else 1
        each = _bytes_per_thread(engine, core, measure)
        own = core.num_slots if measure == "edge_betweenness" else core.num_nodes
        fixed = graph.nbytes + 8 * scores + 8 * own + _core_bytes(core)
        batches = -(-sources // BATCH[engine])
        threads = max(1, min(torch.get_num_threads(), batches))
        per_thread = each + 2 * 8 * own  # its workspace and two private sums
        threads = max(1, min(threads, (limit - fixed) // max(per_thread, 1)))
        needed = fixed + threads * per_thread
    if needed > limit or lanes < 1:
        raise MemoryError(
            f"{measure} with engine={engine!r} needs {_readable(needed)} ({needed} bytes) for one "
            f"batch at a time, but memory={limit} ({_readable(limit)}) is allowed; "
            + ("raise it" if memory is not None else "half of what is free; pass memory= for more")
        )
    size = BATCH.get(engine, lanes)
    made = Plan(
        measure, engine, reason, graph.device, graph.num_nodes, graph.num_slots, core.num_nodes,
        core.num_slots, sources, lanes, -(-sources // size), threads, needed, limit,
    )  # fmt: skip
    return made, core


def _choose(
    graph: Graph, measure: str, engine: str, num_sources: int | None
) -> tuple[str, str, _reduce.Core]:
    fold = "one" if measure == "stress" else "all"
    if engine in ("lanes", "queue"):
        if not _ops.available:
            raise ValueError(f"engine={engine!r} needs the compiled extension; use engine='tensor'")
        if graph.device.type != "cpu":
            raise ValueError(
                f"engine={engine!r} runs on the CPU, but the graph is on {graph.device}; "
                "use engine='tensor' or move the graph"
            )
        return engine, "asked for", _reduce.core(graph, ORDER[engine], fold)
    if engine == "tensor" or not _ops.available or graph.device.type != "cpu":
        reason = "asked for" if engine == "tensor" else "the only one without compiled kernels"
        return "tensor", reason, _reduce.core(graph, "given", "no")
    core = _reduce.core(graph, "degree", fold)
    engine, reason = _faster(core, num_sources)
    return engine, reason, _reduce.core(graph, ORDER[engine], fold)


def _faster(core: _reduce.Core, num_sources: int | None) -> tuple[str, str]:
    """lanes or queue, from the depth of the graph."""
    if num_sources is not None and num_sources < FEW_SOURCES:
        return "queue", f"fewer than {FEW_SOURCES} sources do not fill lanes"
    depth, limit = core.depth, DEPTH_PER_LOG * math.log2(max(core.num_nodes, 2))
    if depth > limit:
        return "queue", f"depth about {depth} > {limit:.0f}: few lanes would share an arc"
    return "lanes", f"depth about {depth} <= {limit:.0f}: {LANES} lanes share each arc"


def _count_sources(core: _reduce.Core, num_sources: int | None, num_nodes: int) -> int:
    searched = int((core.rowptr.diff() > 0).sum())
    return searched if num_sources is None else min(num_sources, searched)


def _bytes_per_thread(engine: str, core: _reduce.Core, measure: str) -> int:
    """What a thread's workspace holds at most (csrc/cpu/lanes.h, queue.h)."""
    n, m = core.num_nodes, core.num_slots
    if engine == "lanes":
        return n * (256 + 3 * 8 + 4 + 14 * 12)
    # The pairs of the ladder's last rung included; an undirected edge is a DAG arc one way at most.
    arcs = m // 2 if core.colptr is core.rowptr else m
    return n * (2 * 4 + 12 + 2 * 16) + arcs * (16 if measure == "edge_betweenness" else 8)


def _core_bytes(core: _reduce.Core) -> int:
    held = {id(part): part for part in (core.rowptr, core.col, core.colptr, core.row, core.slot)}
    return sum(part.numel() * part.element_size() for part in held.values())


def _free_memory(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    # A container may be allowed less than the machine has (control groups, version 2).
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and (text := limit.read_text().strip()).isdigit():
        free = min(free, max(int(text) - int(used.read_text()), 0))
    return free


def _readable(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
