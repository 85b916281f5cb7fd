"""Units: the runs of sources into which a search is cut.

The cut depends on the graph, the measure and the engine alone, never on threads, devices or memory.
Each unit is computed from zero, and the results are added in the order of the units, so that a
search has the same bits whoever computed which unit.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from torchcent.runtime._codes import BATCH, CANCEL, WIDE_BITS
from torchcent.runtime._tuned import TUNED

# Least work of a unit on CUDA, as a multiple of that on the CPU, which takes 0.05 to 0.2 s: even a
# run of a second has units for several devices.
ON_CUDA = 8.0
# A search has about so many units, unless they would have less work than that, or more than so many
# times as much: ten seconds, on CUDA a few.
UNITS, _LARGER = {"cpu": 128, "cuda": 32}, {"cpu": 10.0, "cuda": 32.0}
# On the CPU: batches of the first unit, which determines the rung of the others, and the least of a
# unit, which keep threads busy.
FIRST, LEAST_BATCHES = 8, 32
_LANES_ON_CUDA = 128
# On CUDA the number of units is a multiple of one of these, so that as many devices end together.
_TOGETHER = (8, 4, 2)

#: how results are added: sums, the larger of two, or rows of a table, one per source
Kind: TypeAlias = Literal["sum", "max", "rows"]
#: computes the sources of a slice into zero-filled outputs: (inputs, slice, outputs, rung, control)
#: -> rung; inputs and outputs are on one device
Compute: TypeAlias = Callable[[Any, slice, tuple[Tensor, ...], int, Tensor], int]


def sizes(engine: str, device: str, sources: int, slots: int) -> list[int]:
    """The number of sources of each unit."""
    unit = _work(engine, device, float(sources) * slots)
    if unit is None:
        return [sources]
    batch = TUNED[engine].batch
    if device == "cuda":
        batch = _LANES_ON_CUDA if engine == "lanes" else batch
        first, fewest = 0, TUNED[engine].sources_on_cuda
        fewest = max(fewest // 4, min(fewest, sources // 8))
    else:
        first, fewest = FIRST * batch if engine in BATCH else 0, LEAST_BATCHES * batch
    if sources <= first + fewest:
        return [sources]
    count = max(1, round((sources - first) / max(unit / slots, fewest)))
    if device == "cuda":
        together = next((each for each in _TOGETHER if count >= 0.75 * each), 1)
        count = round(count / together) * together
    if count == 1 and not first:
        return [sources]
    # Equal parts, each of whole batches.
    batches = -(-(sources - first) // batch)
    ends = [*(first + batches * part // count * batch for part in range(count)), sources]
    return _lengths([0, *ends])


# All-pairs distances: the sources of a unit are whole chunks of a Zarr array, and an entry of the
# result takes as long as so many slots.
ROWS = 64
_ENTRY = 64


def sizes_of_rows(engine: str, device: str, sources: int, nodes: int, slots: int) -> list[int]:
    """The same for searches whose distances are kept, a row for each source."""
    unit = _work(engine, device, float(sources) * (slots + _ENTRY * nodes))
    if unit is None:
        return [sources]
    count = max(1, round(sources * (slots + _ENTRY * nodes) / unit))
    align = WIDE_BITS if sources >= 8 * WIDE_BITS * count else ROWS
    blocks = -(-sources // align)
    count = min(count, blocks)
    ends = [*(blocks * part // count * align for part in range(count)), sources]
    return _lengths(ends)


def sizes_of_columns(arcs: int, blocks: int, block: int) -> list[int]:
    """The number of blocks of columns of each unit of a transitive closure."""
    unit = _work("closure", "cpu", float(arcs) * blocks * block)
    if unit is None:
        return [blocks]
    count = min(blocks, max(1, round(float(arcs) * blocks * block / unit)))
    return _lengths([blocks * part // count for part in range(count + 1)])


def sizes_of_graphs(device: str, nodes: NDArray[np.int64], slots: NDArray[np.int64]) -> list[int]:
    """The same for small graphs, each of which is searched whole: the sources of whole graphs."""
    unit = _work("tiny", device, float(nodes @ slots))
    if unit is None:
        return [int(nodes.sum())]
    work = np.cumsum(nodes.astype(np.float64) * slots)
    first = np.flatnonzero(np.diff(work // unit, prepend=-1))
    return [int(size) for size in np.add.reduceat(nodes, first)]


def sizes_of_walks(nodes: NDArray[np.int64], work: NDArray[np.int64], together: int) -> list[int]:
    """The same for walks from the vertices of graphs, each with so much work, `together` at a
    time."""
    unit = _work("walks", "cpu", float(nodes @ work.astype(np.float64)))
    if unit is None:
        return [int(nodes.sum())]
    total, done, ends = 0, 0.0, []
    for count, each in zip(nodes.tolist(), work.tolist(), strict=True):
        size = max(together, round(unit / each / together) * together) if each else count
        if count > size:  # a graph with units of its own
            ends += [total, *range(total + size, total + count, size), total + count]
            done = 0.0
        elif done + float(count) * each > unit:
            ends.append(total)
            done = float(count) * each
        else:
            done += float(count) * each
        total += count
    return _lengths(sorted({0, *ends, total}))


# Least samples of a unit: a thousandth of a second to minutes, by the graph.
_SAMPLES = {"cpu": 256, "cuda": 4096}


def sizes_of_samples(device: str, first: int, count: int) -> list[int]:
    """The same for samples first, ..., first + count - 1, in units that are aligned."""
    kind = "cuda" if device == "cuda" else "cpu"
    least = _SAMPLES[kind]
    size = least * max(1, count // (least * UNITS[kind]))
    end = first + count
    return _lengths([first, *range(first - first % size + size, end, size), end])


def _lengths(bounds: list[int]) -> list[int]:
    return [end - begin for begin, end in pairwise(bounds) if end > begin]


def _work(engine: str, device: str, work: float) -> float | None:
    """That of a unit of a search with so much work; None if it is one unit."""
    kind = "cuda" if device == "cuda" else "cpu"
    least = TUNED[engine].unit * (ON_CUDA if kind == "cuda" else 1.0)
    if work < 1.5 * least:
        return None
    return min(max(work / UNITS[kind], least), _LARGER[kind] * least)


class Result(NamedTuple):
    """What a worker has computed: outputs, the highest rung that was needed, seconds."""

    unit: int
    parts: tuple[Tensor, ...]
    rung: int
    seconds: float


class Search(NamedTuple):
    """A search that is cut into units."""

    key: dict[str, object]  # what its bits depend on besides graph and request, by name
    sizes: list[int]  # the number of sources of each unit
    inputs: Any  # what `compute` reads: tuples of tensors, on the device of the totals
    totals: tuple[Tensor, ...]  # the results, zero-filled at first
    kinds: tuple[Kind, ...]  # how the results of units are added to each of them
    # The rung is that on which path counts begin, and the highest that was needed; other searches
    # ignore it. All units but the first begin on the one that the first returned.
    compute: Compute
    rung: int = 0
    # Whether the results are rows and sums of integers, which may be added in any order. They are
    # so large that a ledger keeps those of each unit in a file of their own.
    exact: bool = False
    places: tuple[slice | Tensor, ...] | None = None  # rows of units, if not those of the sources
    # Whether what a unit has written elsewhere is still there, by its sources and results.
    holds: Callable[[slice, tuple[Tensor, ...]], bool] | None = None
    # How many of so many sources `compute` takes at a time; all of a unit, if there is none.
    calls: Callable[[int], list[int]] | None = None

    def run(
        self, inputs: Any, unit: slice, outputs: tuple[Tensor, ...], rung: int, control: Tensor,
        show: Callable[[], None] | None = None,
    ) -> int:  # fmt: skip
        """Computes the sources of a unit, some at a time, and shows how many are done."""
        total, begin = unit.stop - unit.start, unit.start
        if self.calls is None:
            rung = self.compute(inputs, unit, outputs, rung, control)
            if show is not None:
                show()
            return rung
        for size in self.calls(total):
            if begin > unit.start and control[CANCEL]:
                break
            rows = slice(begin - unit.start, begin - unit.start + size)
            own = tuple(
                output[rows] if kind == "rows" and size < total else output
                for output, kind in zip(outputs, self.kinds, strict=True)
            )
            part = slice(begin, begin + size)
            rung = self.compute(inputs, part, own, rung, control)
            begin = part.stop
            if show is not None:
                show()
        return rung

    def part(self, unit: int) -> slice:
        """The sources of a unit."""
        begin = sum(self.sizes[:unit])
        return slice(begin, begin + self.sizes[unit])

    def outputs(self, unit: int) -> tuple[Tensor, ...]:
        """Where the results of a unit belong: some rows of a total, or all of it.

        Rows that are not contiguous are copies.
        """
        place = self.place(unit)
        return tuple(
            total[place] if kind == "rows" else total
            for total, kind in zip(self.totals, self.kinds, strict=True)
        )

    def place(self, unit: int) -> slice | Tensor:
        """The rows of a unit."""
        return self.part(unit) if self.places is None else self.places[unit]
