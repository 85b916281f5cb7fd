"""Rows of distances on their way to where they go: a file, or memory of another device."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.pairs._blocks import CPU, Blocks


class Target(Protocol):
    """The destination of rows that are not computed in place."""

    pinned: Tensor | None  # its memory, if a device can copy to it directly

    def write(self, rows: slice | Tensor, block: Tensor) -> None: ...

    def widen(self, dtype: torch.dtype, done: int) -> None: ...


def streamed(run: Blocks, target: Target, bar: tqdm) -> None:
    """Sends all rows to the target; a block is copied and written while the next is computed."""
    total, done = run.shape[0], 0
    with ThreadPoolExecutor(1) as writer:
        stages = [Stage(run, target) for _ in range(2)]
        while done < total:
            stages[0].wait()
            count = min(total - done, run.block)
            if run.compute(done, count, stages[0].computed[:count], bar):
                stages[0].hand_over(writer, run.rows(done, count), count)
                stages.reverse()
                done += count
            else:
                stages[1].wait()
                stages.clear()  # before the larger ones are allocated
                target.widen(run.dtype, run.kept(done))
                stages = [Stage(run, target) for _ in range(2)]
        for stage in stages:
            stage.wait()


class Stage:
    """A block on its way to the target.

    It consists of the memory where it is computed and, for a graph on CUDA, pinned host memory.
    """

    def __init__(self, run: Blocks, target: Target, device: torch.device | None = None) -> None:
        device = device or run.graph.device
        cuda = device.type == "cuda"
        self.computed = run.empty(run.block, device)
        self._target = target
        self._host: Tensor | None = None
        if device.type != "cpu" and target.pinned is None:
            self._host = run.empty(run.block, CPU, pinned=cuda)
        self._stream = torch.cuda.Stream(device) if cuda else None
        self._written: Future[None] | None = None

    def wait(self) -> None:
        """Waits until the block is written and its memory is free."""
        if self._written is not None:
            self._written.result()

    def hand_over(self, writer: ThreadPoolExecutor, rows: slice | Tensor, count: int) -> None:
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(self.computed.device))
        self._written = writer.submit(self._write, rows, count)

    def _write(self, rows: slice | Tensor, count: int) -> None:
        block = self.computed[:count]
        if self._target.pinned is not None:
            self._copy(block, self._target.pinned[rows])
            return
        if self._host is not None:
            self._copy(block, self._host[:count])
            block = self._host[:count]
        self._target.write(rows, block)

    def _copy(self, block: Tensor, host: Tensor) -> None:
        with torch.cuda.stream(self._stream):
            host.copy_(block, non_blocking=True)
        if self._stream is not None:
            self._stream.synchronize()


class HostRows:
    """A tensor on the host that receives the rows of a graph on another device."""

    def __init__(self, out: Tensor) -> None:
        self._out = out
        self.pinned = out if out.is_pinned() else None

    def write(self, rows: slice | Tensor, block: Tensor) -> None:
        self._out[rows] = block

    def widen(self, dtype: torch.dtype, done: int) -> None:
        raise AssertionError("the dtype of a given tensor cannot change")
