"""The tiny engine: many small graphs in one call, all measures in one traversal.

A thread (on CUDA a warp) processes one graph. This module selects the graphs, computes the memory,
and runs the engine with progress and Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.check import _common as check
from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._units import Kind, Search, sizes_of_graphs
from torchcent.engines.measures._request import weights
from torchcent.engines.plan import _room
from torchcent.engines.search import _resolution
from torchcent.graph import Graph, _batch, _segments
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import TINY_LANES as _LANES
from torchcent.runtime._codes import TINY_NODES as MOST_NODES
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._workspace import workspace

# Limits of graphs that `auto` assigns to this engine: vertices, and sources x slots. The limit is
# lower with weights, where a heap per thread competes with 64 lanes. On CUDA a single graph is one
# block and leaves the device idle, while a batch fills it (docs/notes/performance-batches.md).
AUTO_NODES, AUTO_WORK, AUTO_WEIGHTED_WORK = 512, 2**19, 2**17
AUTO_ALONE_ON_CUDA, AUTO_WORK_ON_CUDA = 128, 2**22
# Classes of graphs of similar size. On CUDA each class is one launch; on the CPU a thread processes
# the graphs of a class in memory order.
_SIZES = {
    "cuda": np.array([8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, MOST_NODES]),
    "cpu": np.array([64, 128, 256, 512, 1024, MOST_NODES]),
}
# Sources x slots that are worth a thread of the CPU: some 0.3 ms. Where the cores are busy, waking
# one takes several milliseconds.
_WORTH, _WORTH_WEIGHTED = 2**17, 2**14
# On CUDA: vertices up to which a graph always fits into shared memory.
_IN_SHARED = 64
# Columns of distances (csrc/tiny/cpu/tiny_search.h)
FARNESS, HARMONIC, REACH, FARTHEST, REACH_OUT, FARTHEST_OUT = range(6)
OUTPUTS = {
    **dict.fromkeys(("betweenness", "stress", "edge_betweenness", "distances"), torch.float64),
    "levels": torch.int64,
}

Numbers = NDArray[np.int64]


class Found(NamedTuple):
    """The requested outputs of the whole union, 0 for other graphs; other outputs are empty."""

    betweenness: Tensor  # float64 [n]
    stress: Tensor  # float64 [n]
    edge_betweenness: Tensor  # float64 [slots]
    distances: Tensor  # float64 [n, 6]
    levels: Tensor  # int64 [n]; pairs at distance d of graph g in entry ptr[g] + d, by hops
    overflowed: list[int]  # graphs whose path counts overflow float64, to be repeated


def split(graph: Graph, engine: str) -> tuple[Numbers, list[int]]:
    """The graphs for the tiny engine, and the others.

    Raises:
        ValueError: engine="tiny", and a graph is too large or there are no kernels.
    """
    everything = range(graph.num_graphs)
    too_large = graph.ptr is None and graph.num_nodes > AUTO_NODES  # whatever its slots
    if engine not in ("auto", "tiny"):
        return np.empty(0, np.int64), list(everything)
    if engine == "tiny":
        check.kernel(engine, "tiny", graph.device)
    elif too_large or not _ops.has_kernel("tiny", graph.device):
        return np.empty(0, np.int64), list(everything)
    size, slots = _batch.counts(graph)
    if engine == "tiny":
        if size.size and size.max() > MOST_NODES:
            raise ValueError(
                f"engine='tiny' is for graphs of up to {MOST_NODES} vertices, but "
                + (f"graph {int(size.argmax())} of the batch" if graph.ptr is not None else "this")
                + f" has {int(size.max())}; take Run(engine='auto')"
            )
        return np.arange(size.size), []
    most, work = AUTO_NODES, AUTO_WEIGHTED_WORK if graph.is_weighted else AUTO_WORK
    if graph.device.type == "cuda":
        most, work = min(most, AUTO_ALONE_ON_CUDA) if graph.ptr is None else most, AUTO_WORK_ON_CUDA
    small = (size <= most) & (size * slots <= work)
    if small.all():
        return np.arange(size.size), []
    return np.flatnonzero(small), np.flatnonzero(~small).tolist()


def run(
    graph: Graph,
    numbers: Numbers,
    wanted: Collection[str],
    title: str,
    *,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    endpoints: bool = False,
    memory: int | None = None,
    progress: bool | None = None,
    scale: Scale | None = None,
) -> Found:
    """Computes the wanted outputs of these graphs.

    `sources` and `targets` are those of a Request. Distances are counted from vertices whose weight
    is not 0, all with equal weight.
    """
    n, device = graph.num_nodes, graph.device
    size, slots = (each[numbers] for each in _batch.counts(graph))
    work = float(size @ slots)
    threads = _threads(work, size.size, graph.is_weighted)
    shape = {"edge_betweenness": (graph.num_slots,), "distances": (n, 6)}
    largest = int(size.max(initial=0))
    _memory_of(graph, largest, threads, wanted, title, memory)
    if graph.is_weighted and set(wanted) - {"distances"}:
        resolvable(graph, numbers)
    parts = sizes_of_graphs(device.type, size, slots)
    # The CPU kernels clear the outputs of their graphs.
    whole = numbers.size == graph.num_graphs and len(parts) == 1
    new = torch.empty if device.type == "cpu" and whole else torch.zeros
    none = torch.empty(0, dtype=torch.float64, device=device)
    columns = {
        name: new(shape.get(name, (n,)) if name in wanted else 0, dtype=kind, device=device)
        if name in wanted or kind != none.dtype
        else none
        for name, kind in OUTPUTS.items()
    }
    overflow = torch.zeros(graph.num_graphs, dtype=torch.int8, device=device)
    ptr = graph.ptr
    if ptr is None:
        ptr = torch.from_numpy(_batch.bounds(graph)[0]).to(device)
    begins, ends = (none if x is None else weights(graph, x) for x in (sources, targets))
    total = int(size.sum())

    def compute(
        arguments: Any, unit: slice, out: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        *arrays, begins, ends = arguments
        own = slice(0, numbers.size)
        if unit.stop - unit.start < total:
            last = np.cumsum(size)
            low = np.searchsorted(last, unit.start, side="right") if unit.start else 0
            own = slice(low, np.searchsorted(last, unit.stop, side="right"))
        place, classes = _classes(size[own], slots[own], device.type)
        order = torch.from_numpy(numbers[own][place]).to(out[0].device)
        _ops.ops.tiny(
            arrays, order, classes, begins, ends, *out, control, endpoints=endpoints,
            tie_tolerance=graph.tie_tolerance, threads=threads,
        )  # fmt: skip
        return rung

    key = {"search": title, "engine": "tiny", "graphs": len(numbers), "from": sources}
    outputs: tuple[Tensor, ...] = (*columns.values(), overflow)
    weight, per_one = (none, None) if graph.weight is None else graph._scaled_per_graph
    inputs = graph.rowptr, graph.col, weight, ptr, begins, ends
    kinds: tuple[Kind, ...] = tuple("sum" for _ in outputs)
    _run.execute(
        Search(key, parts, inputs, outputs, kinds, compute), device, scale, title=title,
        progress=progress, quick=work < TUNED["tiny"].inline,
        # The kernels of the CPU need what `_memory_of` counts.
        workspace=0 if device.type == "cpu" else _memory.budget(memory, device),
    )  # fmt: skip
    if per_one is not None and "distances" in wanted:
        _in_lengths(graph, columns["distances"], per_one)
    paths = set(wanted) - {"distances"}
    lost = overflow.cpu().numpy().nonzero()[0].tolist() if paths else []
    return Found(**columns, overflowed=lost)


def _in_lengths(graph: Graph, distances: Tensor, per_one: Tensor) -> None:
    """Converts sums of distances in the units of each graph to those of the weights."""
    of_vertex = per_one if graph.batch is None else per_one[graph.batch]
    for column in (FARNESS, FARTHEST, FARTHEST_OUT):
        distances[:, column] /= of_vertex
    distances[:, HARMONIC] *= of_vertex


def lanes(device: torch.device) -> int:
    """Sources searched simultaneously."""
    return _LANES if device.type == "cpu" else 32


def threads_for(size: Numbers, slots: Numbers, weighted: bool) -> int:
    """Threads of the CPU for these graphs: none is woken for little work."""
    return _threads(float(size @ slots), size.size, weighted)


def _threads(work: float, graphs: int, weighted: bool) -> int:
    worth = _WORTH_WEIGHTED if weighted else _WORTH
    return max(1, min(torch.get_num_threads(), graphs, int(work / worth)))


def room_for(
    graph: Graph, numbers: Numbers, wanted: Collection[str], title: str, memory: int | None
) -> int:
    """Bytes of a run; raises MemoryError if they exceed the limit."""
    size, slots = (each[numbers] for each in _batch.counts(graph))
    threads = threads_for(size, slots, graph.is_weighted)
    return _memory_of(graph, int(size.max(initial=0)), threads, wanted, title, memory)


def _memory_of(
    graph: Graph, largest: int, threads: int, wanted: Collection[str], title: str,
    memory: int | None,
) -> int:  # fmt: skip
    """The same for graphs of up to so many vertices."""
    per_vertex = 8 * len(wanted) + (48 if "distances" in wanted else 0)
    nbytes = graph._nbytes + per_vertex * graph.num_nodes
    on_cuda = graph.device.type == "cuda"
    if not on_cuda or largest > _IN_SHARED:
        space = workspace("tiny", on_cuda, largest, graph.is_weighted)
        nbytes += space.each * (1 if on_cuda else threads)
    nbytes += 8 * graph.num_slots if "edge_betweenness" in wanted else 0
    if memory is not None or nbytes >= _memory.SMALL_RUN.get(graph.device.type, 0):
        limit = _room.limit(graph, memory)
        _memory.require(f"{title} with engine='tiny'", nbytes, limit, memory)
    return nbytes


def _classes(size: Numbers, slots: Numbers, device: str) -> tuple[Numbers, Tensor]:
    """The order in which graphs are processed, the largest first, and their size classes.

    A row per class holds the number of graphs, the most vertices and the most slots.
    """
    if size.size == 1:
        return np.zeros(1, np.int64), torch.from_numpy(np.array([[1, size[0], slots[0]]]))
    kind = np.searchsorted(_SIZES[device], size)
    within = -size * slots if device == "cuda" else np.zeros_like(kind)
    place = np.lexsort((within, -kind))
    first = np.flatnonzero(np.diff(kind[place], prepend=-1))
    rows = [np.diff(first, append=size.size)]
    rows += [np.maximum.reduceat(x[place], first) if first.size else first for x in (size, slots)]
    return place, torch.from_numpy(np.stack(rows, axis=1).astype(np.int64))


def resolvable(graph: Graph, numbers: Numbers) -> None:
    """Applies _resolution.check to each of these graphs."""
    if graph.scale.exact or graph.num_slots == 0:
        return
    if graph.ptr is None:
        return _resolution.check(graph)
    assert graph.weight is not None
    slots = _batch.counts(graph)[1]
    first = graph.rowptr[graph.ptr]
    least = -_segments.largest_of_segments(first, -graph.weight)
    # No path is longer than the sum of all arcs.
    longest = 2 * _segments.of_segments(first, graph.weight)
    doubtful = (least <= longest * torch.finfo(torch.float64).eps).cpu().numpy()
    for number in numbers[doubtful[numbers] & (slots[numbers] > 0)]:
        _resolution.check(_batch.part(graph, int(number)))
