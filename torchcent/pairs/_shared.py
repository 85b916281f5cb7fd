"""All-pairs distances in units: kept by a ledger, computed by several devices or ranks.

Rows of a tensor come to rank 0 like other results. Rows of a file are written by those who compute
them; the ledger has the checksum of each, so that what a run finds is compared with it.
"""

from __future__ import annotations

import secrets
import threading
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._digest import plain
from torchcent.distribute._group import publish
from torchcent.distribute._units import Compute, Kind, Search, sizes_of_rows
from torchcent.graph import Graph
from torchcent.pairs import _streams
from torchcent.pairs._blocks import Blocks
from torchcent.pairs._files import Npy, Rows, Store, Zarr
from torchcent.runtime._codes import CANCEL, DONE

_LOST = -1  # instead of the checksum of a row that the dtype does not hold
_SPAN = 64  # rows compared with their checksums at a time


def tensor(run: Blocks, out: Tensor | None, scale: Scale, progress: bool | None) -> Tensor:
    """The result as a tensor: `out`, or a new one on the device of the graph."""
    while True:
        result = run.empty(run.shape[0], run.graph.device) if out is None else out
        narrow = torch.zeros(run.shape[0], dtype=torch.int8, device=result.device)
        search = _search(run, (result, narrow), "tensor", _into_outputs(run))
        first = np.cumsum([0, *search.sizes]).tolist()
        places = tuple(map(run.rows, first[:-1], search.sizes))
        _compute(search._replace(exact=True, places=places), run, scale, progress)
        if not bool(narrow.any()):
            return result
        run.widen()


def sizes(engine: str, graph: Graph, sources: int) -> list[int]:
    """The number of sources of each unit."""
    return sizes_of_rows(engine, graph.device.type, sources, graph.num_nodes, graph.num_slots)


def _search(run: Blocks, totals: tuple[Tensor, ...], where: str, compute: Compute) -> Search:
    key = {
        "search": "shortest_path_lengths", "engine": run.engine, "sources": run.shape[0],
        "from": run.sources, "dtype": str(run.dtype), "out": where,
    }  # fmt: skip
    kinds: tuple[Kind, ...] = tuple("rows" for _ in totals)
    parts = sizes(run.engine, run.graph, run.shape[0])
    return Search(key, parts, (*run.arcs, run.sources), totals, kinds, compute)


def _compute(search: Search, run: Blocks, scale: Scale, progress: bool | None) -> None:
    _run.execute(
        search, run.graph.device, scale, title="shortest_path_lengths", progress=progress,
        quick=run.quick, workspace=run.workspace, inline=run.engine == "tensor",
    )  # fmt: skip


def _into_outputs(run: Blocks) -> Compute:
    def compute(
        inputs: Any, unit: slice, out: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        rows, narrow = out
        for part in _parts(run, unit):
            within = slice(part.start - unit.start, part.stop - unit.start)
            if not _fill(run, inputs, part, rows[within], control):
                narrow.fill_(1)
                break
            if control[CANCEL]:
                break
        return rung

    return compute


def _parts(run: Blocks, unit: slice) -> list[slice]:
    begins = range(unit.start, unit.stop, run.block)
    return [slice(begin, min(begin + run.block, unit.stop)) for begin in begins]


def _fill(run: Blocks, inputs: Any, part: slice, out: Tensor, control: Tensor) -> bool:
    """Computes the rows of these sources; False if the run needs a wider dtype.

    Once it does, nothing more is computed, so that all units end soon.
    """
    *arcs, sources = inputs
    if not run.lost:
        run.lost = run.fill(tuple(arcs), sources[part], out, control)
        if run.lost:
            run.refuse_if_fixed(sources[part])
        elif run.engine == "tensor":
            control[DONE] += out.shape[0]
    return not run.lost


# ---- files


def file(run: Blocks, target: Path, scale: Scale, progress: bool | None) -> Any:
    """The result as a file, opened for reading: numpy.memmap or zarr.Array."""
    target = target.resolve()
    kind = Zarr if target.suffix == ".zarr" else Npy
    while True:
        with _File(run, kind, target, scale) as out:
            _compute(out.search, run, scale, progress)
            run.lost = narrow = bool((out.sums == _LOST).any())
            if not narrow:
                out.finish()
        if not narrow:
            return kind.open(target)
        run.widen()


class _File:
    """The rows of a search in a file under a temporary name.

    A run with a ledger gives it a name of its own, by which the next run finds it. Of a complete
    run there is only `target` itself, which is compared with the checksums and not written.
    """

    def __init__(
        self, run: Blocks, kind: type[Npy] | type[Zarr], target: Path, scale: Scale
    ) -> None:
        self._run, self._kind, self._target, self._scale = run, kind, target, scale
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._whole = False  # whether `target` is the result
        self.sums = torch.zeros(run.shape[0], dtype=torch.int64, device="cpu")
        self.search = _search(run, (self.sums,), "file", self.compute)._replace(holds=self.holds)
        group, number = scale.group, scale.searches
        path = target
        if scale.leads:
            with publish(group):
                path = self._begin()
        self._path = path if group is None else Path(group.of_leader(f"path {number}", str(path)))

    def _begin(self) -> Path:
        """Makes the file, if it is not there."""
        ledger, run, search = self._scale.ledger, self._run, self.search
        tag = secrets.token_hex(4)
        if ledger is not None:
            tag = f"{zlib.crc32(f'{ledger.run} {run.dtype}'.encode()):08x}"
        path = self._target.with_name(f".{self._target.name}.{tag}.tmp")
        if self._kind.fits(path, run.shape, run.dtype):
            return path
        if ledger is not None and self._kind.fits(self._target, run.shape, run.dtype):
            sums = ledger.restore(self._scale.searches, search._replace(key=plain(search.key)))
            if sums is not None and sums.units == sums.of:
                every = slice(0, run.shape[0])
                self._whole = self._differs(every, self.sums, self._target) is None
        if not self._whole:
            self._kind.make(path, run.shape, run.dtype)
        return path

    def holds(self, part: slice, results: tuple[Tensor, ...]) -> bool:
        """Whether the rows of these sources have these checksums; called by rank 0 only."""
        if bool((self.sums == _LOST).any()):  # a search with a wider dtype follows
            self._run.lost = True
            return True
        wrong = None if self._whole else self._differs(part, results[0], self._path)
        if wrong is not None:
            warnings.warn(
                f"{self._path} does not hold the distances from vertex {wrong} that were recorded; "
                "they, and those recorded after them, are computed again",
                RuntimeWarning, stacklevel=2,
            )  # fmt: skip
        return wrong is None

    def _differs(self, part: slice, sums: Tensor, path: Path) -> int | None:
        """The first source whose row differs from its checksum."""
        checksums = sums.tolist()
        if _LOST in checksums:
            return None
        store = self._kind(path, self._run.shape, self._run.dtype)
        try:
            for first in range(part.start, part.stop, _SPAN):
                count = min(_SPAN, part.stop - first)
                rows = store.read(self._run.rows(first, count))
                for at, row in enumerate(rows, first):
                    if zlib.crc32(row.tobytes()) != checksums[at - part.start]:
                        return int(self._run.sources[at])
            return None
        finally:
            store.close()

    def __enter__(self) -> _File:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Removes what no later run will use."""
        if self._store is not None:
            self._store.close()
        useless = self._run.lost and kind is None
        if self._scale.leads and (self._scale.ledger is None or useless):
            self._kind.remove(self._path)

    def finish(self) -> None:
        """Gives the file its name, before any rank goes on."""
        group = self._scale.group
        if self._scale.leads and not self._whole:
            with publish(group):
                self._open().sync()
                self._kind.replace(self._path, self._target)
        if group is not None:
            group.of_leader(f"finished {self._scale.searches}")
            group.all_gather(None)  # rank 0 may hold the store that the others read

    def compute(
        self, inputs: Any, unit: slice, out: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        """Computes and writes the rows of a unit; a block is written while the next is computed."""
        run, store = self._run, self._open()
        sums = torch.zeros(unit.stop - unit.start, dtype=torch.int64, device="cpu")
        device = inputs[-1].device
        with ThreadPoolExecutor(1) as writer:
            target = _Rows(run, store, sums if self._scale.keeps else None, unit.start)
            stages = [_streams.Stage(run, target, device) for _ in "ab"]
            for part in _parts(run, unit):
                stage = stages[0]
                stage.wait()
                count = part.stop - part.start
                if not _fill(run, inputs, part, stage.computed[:count], control):
                    sums.fill_(_LOST)
                    break
                if control[CANCEL]:
                    break
                stage.hand_over(writer, part, count)
                stages.reverse()
            for stage in stages:
                stage.wait()
        if run.lost:
            sums.fill_(_LOST)
        elif self._scale.keeps:
            store.sync()
        out[0].copy_(sums)
        return rung

    def _open(self) -> Store:
        with self._opening:
            if self._store is None:
                try:
                    self._store = self._kind(self._path, self._run.shape, self._run.dtype)
                except FileNotFoundError:
                    raise FileNotFoundError(
                        f"{self._path}: rank 0 has made this file, but it is not here; out must "
                        "be in a folder that all ranks share"
                    ) from None
            return self._store


class _Rows:
    """The rows of a unit: positions are those of sources; checksums are taken on the way."""

    pinned: Tensor | None = None

    def __init__(self, run: Blocks, store: Store, sums: Tensor | None, first: int) -> None:
        self._run, self._store, self._sums, self._first = run, store, sums, first

    def write(self, rows: Rows, block: Tensor) -> None:
        assert isinstance(rows, slice)
        self._store.write(self._run.rows(rows.start, rows.stop - rows.start), block)
        if self._sums is not None:
            for at, row in enumerate(block, rows.start - self._first):
                self._sums[at] = zlib.crc32(row.numpy().data)

    def widen(self, dtype: torch.dtype, done: int) -> None:
        raise AssertionError("a search has one dtype")
