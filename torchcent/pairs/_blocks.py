"""Rows of distances in blocks of sources: the loops that compute them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.check import _common as check
from torchcent.engines._tensor import _rows
from torchcent.engines.plan import _room
from torchcent.engines.plan._row_plan import Rows
from torchcent.engines.reduce import _hops
from torchcent.engines.search import _weighted_rows
from torchcent.graph import Graph, _csr
from torchcent.pairs import _npy
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import NARROW_BITS as FEW_LANES
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

CPU = torch.device("cpu")


def narrowest(depth: int) -> torch.dtype:
    """The narrowest dtype that holds this distance."""
    return next(t for t in check.DISTANCE_DTYPES if depth <= torch.iinfo(t).max)


def depth_at_least(graph: Graph, sources: Tensor | None) -> int:
    """A depth estimate from one or two searches: a distance that occurs in the result."""
    if sources is None:
        return _hops.depth(graph.rowptr, graph.col)
    return _depth(graph, int(sources[0]))


def _depth(graph: Graph, source: int) -> int:
    return int(_hops.hops(graph.rowptr, graph.col, source).max())


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
        if graph.is_weighted or engine == "hierarchy":
            self.arcs = _weighted_rows.arcs(graph, engine=engine)
        self._place: Tensor | None = None  # the row of each source; None: in the given order
        self.lost = False  # whether a distance has been found that the dtype does not hold
        self._fixed, self._kept, self._copies, self._aside = fixed, kept, copies, aside
        self._block_size, self._memory = block_size, memory
        self._limit = _room.limit(graph, memory)
        self._rows = self._plan(dtype.itemsize)
        nearby = engine == "bits" and graph.device.type == "cpu" and not in_order
        if nearby and sources.numel() > FEW_LANES:
            order = _ops.ops.clusters(graph.rowptr, graph.col, self._rows.lanes(sources.numel()))
            self._place = torch.argsort(_csr.inverse(order)[sources])
            self.sources = sources[self._place]

    def _plan(self, kept: int) -> Rows:
        """Plans the blocks, if the run keeps `kept` bytes for every distance."""
        rows = Rows(
            self.graph, self.engine, self.sources.numel(), self.dtype.itemsize,
            kept if self._kept else 0, copies=self._copies, aside=self._aside,
        )  # fmt: skip
        self.block, self.workspace = rows.plan(self._block_size, self._memory, self._limit)
        return rows

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
        threads = self._rows.threads(sources.numel())
        if self.engine == "hierarchy":
            return self._swept(arcs, sources, out, control)
        single = self.engine == "queue"
        return bool(_ops.ops.distances(*arcs, sources, out, control, threads, place, single))

    def _swept(
        self, arcs: tuple[Tensor, ...], sources: Tensor, out: Tensor, control: Tensor
    ) -> bool:
        """Computes rows by hops by a hierarchy; returns whether a distance does not fit."""
        launch = _codes.Launch(self._rows.threads(sources.numel()))
        rows = out if out.dtype == torch.int32 else torch.empty_like(out, dtype=torch.int32)
        _weighted_rows.fill(arcs, self.engine, sources, rows, control, launch)
        if rows is out:
            return False
        out.copy_(rows)
        return bool(rows.numel()) and int(rows.max()) > torch.iinfo(out.dtype).max

    def _weighted(
        self, arcs: tuple[Tensor, ...], sources: Tensor, out: Tensor, control: Tensor
    ) -> None:
        """Computes the rows of these sources by weights, in the dtype of the run."""
        graph = self.graph
        launch = _codes.Launch(self._rows.threads(sources.numel()))
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
            reach = ((s, _depth(self.graph, s)) for s in sources.tolist())
            source, depth = next((s, depth) for s, depth in reach if depth > limit)
            raise OverflowError(
                f"a distance of {depth} from vertex {source} does not fit {self.dtype}, which "
                f"holds {limit} at most; use dtype='auto' or {narrowest(depth)}"
            )

    def widen(self) -> None:
        """Changes to the next wider dtype."""
        self.lost = False
        narrow, self.dtype = self.dtype, narrowest(torch.iinfo(self.dtype).max + 1)
        self._rows = self._plan(narrow.itemsize + self.dtype.itemsize)


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
