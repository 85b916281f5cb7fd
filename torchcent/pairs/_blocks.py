"""Rows of distances in blocks of sources: engine, memory, and the loops that compute them."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.check import _common as check
from torchcent.engines import _choice, _hierarchy, _hops, _reduce, _room, _weighted_rows
from torchcent.engines._costs import ENGINES, Job
from torchcent.engines._kernels import Kernel
from torchcent.engines._preparation import Preparation
from torchcent.engines._request import Request
from torchcent.engines._tensor import _rows
from torchcent.graph import Graph
from torchcent.pairs import _npy
from torchcent.runtime import _codes, _memory, _ops
from torchcent.runtime._codes import NARROW_BITS as FEW_LANES
from torchcent.runtime._codes import WIDE_BITS as LANES
from torchcent.runtime._codes import WIDE_BITS_FROM as LANES_FROM
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

# Lanes of the bits engine: on the CPU many only if there are enough sources and the distances of a
# batch fit in the cache (fixed in csrc/distances/cpu/distances.cpp).
LANES_WITHIN = 2**28
# Largest block in bytes; longer ones gain nothing. An accelerator needs this much to stay busy, but
# host memory is slow to pin.
LARGEST_BLOCK, LARGEST_BLOCK_ON_ACCELERATOR = 2**28, 2**31
# Workspace of the tensor engine; in larger blocks Ctrl-C waits long between two operators.
LARGEST_BATCH, LARGEST_BATCH_ON_ACCELERATOR = 2**29, 2**34
CPU = torch.device("cpu")
KERNEL = Kernel("distances", public=False, name="shortest_path_lengths")


def engine_for(asked: str, graph: Graph, sources: int, memory: int | None) -> str:
    """bits if it is compiled for the device, else tensor; with weights, the one that suits them."""
    if graph.is_weighted:
        cores = Preparation(graph, KERNEL, memory, sources)
        request = Request(KERNEL.name, asked, progress=False)
        return _choice.choose(cores, KERNEL, "no", request, sources)[0]
    if asked not in ("auto", "tensor"):
        check.kernel(asked, "distances", graph.device)
    compiled = _ops.has_kernel("distances", graph.device)
    return ("bits" if compiled else "tensor") if asked == "auto" else asked


def narrowest(depth: int) -> torch.dtype:
    """The narrowest dtype that holds this distance."""
    return next(t for t in check.DISTANCE_DTYPES if depth <= torch.iinfo(t).max)


def depth_at_least(graph: Graph, sources: Tensor | None) -> int:
    """A depth estimate from one or two searches: a distance that occurs in the result."""
    if sources is None:
        return _hops.depth(graph.rowptr, graph.col)
    return int(_hops.hops(graph.rowptr, graph.col, int(sources[0])).max())


class Blocks:
    """A run: its sources in blocks as large as memory allows and useful, and its current dtype.

    Args:
        in_order: whether blocks must follow the order of the sources. Otherwise the bits engine
            groups sources that are close to each other, because they share more work.
        dtype: initial dtype.
        fixed: whether the dtype must not change.
        kept: whether the run holds its whole result.
        copies: number of additional blocks that it holds at a time.
        aside: number of rows that it holds besides.

    Raises:
        MemoryError: a single source, or a block of the requested size, needs too much; also raised
            later if the dtype has to be widened.
    """

    def __init__(
        self, graph: Graph, sources: Tensor, engine: str, in_order: bool, dtype: torch.dtype,
        fixed: bool, kept: bool, copies: int, block_size: int | None, memory: int | None,
        aside: int = 0,
    ) -> None:  # fmt: skip
        self.graph, self.sources, self.engine, self.dtype = graph, sources, engine, dtype
        # The transpose counts as memory of the graph from now on.
        hops = graph.rowptr, graph.col, *graph.transpose
        self.arcs: tuple[Tensor, ...] = hops
        if graph.is_weighted:
            self.arcs = _weighted_rows.arcs(graph, engine=engine)
        self._place: Tensor | None = None  # the row of each source; None: in the given order
        self.lost = False  # whether a distance has been found that the dtype does not hold
        self._fixed, self._kept, self._copies, self._aside = fixed, kept, copies, aside
        self._block_size, self._memory = block_size, memory
        self._limit = _room.limit(graph, memory)
        self.block = self._fit(dtype.itemsize)
        nearby = engine == "bits" and graph.device.type == "cpu" and not in_order
        if nearby and sources.numel() > FEW_LANES:
            order = _ops.ops.clusters(graph.rowptr, graph.col, self._lanes(sources.numel()))
            rank = torch.empty_like(order)
            rank[order] = torch.arange(order.numel(), device="cpu")
            self._place = torch.argsort(rank[sources])
            self.sources = sources[self._place]

    def _fit(self, kept: int) -> int:
        """Rows per block, if the run keeps `kept` bytes for every distance."""
        graph, total = self.graph, max(1, self.sources.numel())
        n, m = graph.num_nodes, graph.num_slots
        row = max(1, n * self.dtype.itemsize)
        host = graph.device.type == "cpu"
        result = self.sources.numel() * n * kept if self._kept else 0

        def besides(rows: int) -> int:
            return graph._nbytes + result + (self._copies * rows + self._aside) * row

        # Distances in the format of the engine, or as float64.
        own = n * 2 * 8 if graph.is_weighted else 0

        def need(rows: int) -> int:
            work = _rows.memory_needed(n, m, rows, graph.device)
            if graph.is_weighted:
                if self.engine == "tensor":
                    return besides(rows) + 2 * work + rows * own
                cost = ENGINES[self.engine]
                order = "degree" if self.engine == "hierarchy" else "given"
                job = Job(graph, _reduce.core(graph, order, "no"), KERNEL, rows, graph._nbytes)
                if not host:
                    return besides(rows) + cost.on_cuda(job, 0)[0] + rows * own
                work = self._threads(rows) * cost.per_thread(job)
                return besides(rows) + _room.weighted_bytes(m, job.width) + work + rows * own
            if self.engine == "bits":  # three rows of bits, lists, and on the CPU the distances
                lanes = self._lanes(rows)
                work = n * 3 * lanes // 8
                work += n * (12 + lanes * self.dtype.itemsize) if host else 32 * n + m
            return besides(rows) + self._threads(rows) * work

        least = most = min(self._block_size or 1, total)
        if self._block_size is None and self.engine == "bits":
            full = self._lanes(total) * self._threads(total)
            large = LARGEST_BLOCK if host or self._copies else LARGEST_BLOCK_ON_ACCELERATOR
            most = min(total, max(1, large // row // full) * full)
        elif self._block_size is None and self.engine != "tensor":
            full = _hierarchy.ROWS[self.engine] * self._threads(total) if host else LANES
            large = LARGEST_BLOCK if host or self._copies else LARGEST_BLOCK_ON_ACCELERATOR
            most = min(total, max(1, large // (n * 8 or 1) // full) * full)
        elif self._block_size is None:
            batch = LARGEST_BATCH if host else LARGEST_BATCH_ON_ACCELERATOR
            each = max(1, _rows.memory_needed(n, 0, 1, graph.device))
            most = min(total, max(1, batch // each))
        if need(least) > self._limit:
            what = f"shortest_path_lengths with engine={self.engine!r}, {least} at a time"
            if self._kept:
                size = _memory.readable(result)
                what += f" with a result of {size} (out='dist.npy' or blocks=True hold none of it),"
            raise _memory.refuse(what, need(least), self._limit, self._memory)
        block = bisect.bisect_right(range(1, most + 1), self._limit, key=need)
        if self.engine == "bits" and self._block_size is None and block < total:
            lanes = self._lanes(block)
            block -= block % lanes if block > lanes else 0
        self.workspace = self._limit - besides(block) - block * own
        return block

    def _lanes(self, rows: int) -> int:
        if self.graph.device.type != "cpu":
            return LANES
        table = self.graph.num_nodes * LANES * self.dtype.itemsize
        return LANES if rows >= LANES_FROM and table <= LANES_WITHIN else FEW_LANES

    def _threads(self, rows: int) -> int:
        if self.engine == "tensor" or self.graph.device.type != "cpu":
            return 1
        if self.graph.is_weighted:
            batches = -(-rows // _hierarchy.ROWS[self.engine])
            return max(1, min(torch.get_num_threads(), batches))
        return max(1, min(torch.get_num_threads(), -(-rows // self._lanes(rows))))

    @property
    def shape(self) -> tuple[int, int]:
        return self.sources.numel(), self.graph.num_nodes

    @property
    def quick(self) -> bool:
        return self.sources.numel() * self.graph.num_slots < TUNED[self.engine].inline

    def bar(self, progress: bool | None) -> tqdm:
        return progress_bar(self.sources.numel(), "shortest_path_lengths", progress, self.quick)

    def empty(self, rows: int, device: torch.device, pinned: bool = False) -> Tensor:
        shape = rows, self.graph.num_nodes
        if device.type == "cpu" and not pinned:  # NumPy asks the system for huge pages
            return torch.from_numpy(np.empty(shape, _npy.numpy_dtype(self.dtype)))
        return torch.empty(shape, dtype=self.dtype, device=device, pin_memory=pinned)

    def rows(self, first: int, count: int) -> slice | Tensor:
        """The positions of the rows of some sources in the result."""
        part = slice(first, first + count)
        return part if self._place is None else self._place[part]

    def kept(self, done: int) -> int:
        """The number of leading rows that include those of the first `done` sources."""
        return done if self._place is None or done == 0 else self.shape[0]

    def compute(self, first: int, count: int, out: Tensor, bar: tqdm, placed: bool = False) -> bool:
        """Computes the rows of `count` sources into all of `out`, or in place there if `placed`.

        Returns False if they need a larger dtype; the run has been changed to it.
        """
        sources = self.sources[first : first + count]
        place = None
        if placed and self._place is None:
            out = out[first : first + count]
        elif placed:
            place = self.rows(first, count)
        control = _codes.control(self.workspace, first)
        overflow = False

        def work() -> None:
            nonlocal overflow
            overflow = self.fill(self.arcs, sources, out, control, place)

        at_work(work, control, bar, self.graph.device, self.quick or self.engine == "tensor")
        if overflow:
            self.refuse_if_fixed(sources)
            self.widen()
            return False
        bar.update(first + count - bar.n)
        return True

    def fill(
        self, arcs: tuple[Tensor, ...], sources: Tensor, out: Tensor, control: Tensor,
        place: slice | Tensor | None = None,
    ) -> bool:  # fmt: skip
        """Computes rows from `arcs`, those of the run or a copy of them on another device.

        Returns whether a distance does not fit the dtype; the rows are then incomplete.
        """
        if self.graph.is_weighted:
            self._weighted(arcs, sources, out, control)
            return False
        if self.engine == "tensor":
            return _rows.distances(arcs[0], arcs[1], sources, out)
        threads = self._threads(sources.numel())
        return bool(_ops.ops.distances(*arcs, sources, out, control, threads, place))

    def _weighted(
        self, arcs: tuple[Tensor, ...], sources: Tensor, out: Tensor, control: Tensor
    ) -> None:
        """Computes the rows of these sources by weights, in the dtype of the run."""
        graph = self.graph
        launch = _codes.Launch(self._threads(sources.numel()))
        scale, floating = graph.scale, self.dtype.is_floating_point
        plain = self.dtype == scale.dtype and (scale.whole or (floating and scale.per_one == 1))
        found = out if plain else _weighted_rows.empty(graph, sources.numel(), sources.device)
        _weighted_rows.fill(arcs, self.engine, sources, found, control, launch)
        if plain:
            return
        found = _weighted_rows.lengths(graph, found)
        reached = torch.isfinite(found)
        if self.dtype != torch.float64 and found.numel():
            longest = torch.where(reached, found, 0).amax(1)
            limit = (torch.finfo if floating else torch.iinfo)(self.dtype).max
            if float(longest.max()) > limit:
                raise OverflowError(
                    f"a distance of {float(longest.max()):g} from vertex "
                    f"{int(sources[longest.argmax()])} does not fit {self.dtype}, which holds "
                    f"{limit:g} at most; use dtype='auto' or torch.float64"
                )
        if not floating:
            found = torch.where(reached, found, -1)
        out.copy_(found)

    def refuse_if_fixed(self, sources: Tensor) -> None:
        """Raises OverflowError for rows that do not fit the dtype, if that must not change."""
        limit = torch.iinfo(self.dtype).max
        if self._fixed:
            reach = ((s, self._depth(s)) for s in sources.tolist())
            source, depth = next((s, depth) for s, depth in reach if depth > limit)
            raise OverflowError(
                f"a distance of {depth} from vertex {source} does not fit {self.dtype}, which "
                f"holds {limit} at most; use dtype='auto' or {narrowest(depth)}"
            )

    def widen(self) -> None:
        """Changes to the next wider dtype."""
        self.lost = False
        narrow, self.dtype = self.dtype, narrowest(torch.iinfo(self.dtype).max + 1)
        self.block = self._fit(narrow.itemsize + self.dtype.itemsize)

    def _depth(self, source: int) -> int:
        return int(_hops.hops(self.graph.rowptr, self.graph.col, source).max())


def in_place(run: Blocks, result: Tensor, bar: tqdm) -> Tensor:
    """Computes all rows in place; returns `result` itself, unless it had to be widened."""
    total, done = run.shape[0], 0
    while done < total:
        count = min(total - done, run.block)
        if run.compute(done, count, result, bar, placed=True):
            done += count
        else:
            narrow, result = result, run.empty(total, result.device)
            result[: run.kept(done)] = narrow[: run.kept(done)]
            del narrow
    return result


def one_by_one(run: Blocks, progress: bool | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields (sources [b], distances [b, n]) for one block after the other."""
    done = 0
    with run.bar(progress) as bar:
        while done < run.shape[0]:
            sources = run.sources[done : done + run.block]
            block = run.empty(sources.numel(), run.graph.device)
            if run.compute(done, sources.numel(), block, bar):
                done += sources.numel()
                yield sources, block
