"""Executors: who computes the units of a search."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.check import _files as check_files
from torchcent.runtime import _codes
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._watch import on_device, start_at, watched
from torchcent.scale import _digest
from torchcent.scale._ledger import Ledger
from torchcent.scale._tally import Tally
from torchcent.scale._units import Search

if TYPE_CHECKING:
    from torchcent.graph import Graph


@dataclass(eq=False)
class Scale:
    """Where the units of a call are kept; one for each call.

    Attributes:
        checkpoint: the folder of the ledger; None for no ledger.
        ledger: that folder, once the call has begun.
        searches: the number of searches that have begun.
    """

    checkpoint: str | None = None
    ledger: Ledger | None = None
    searches: int = 0

    def begin(self, graph: Graph, request: _digest.Key) -> None:
        """Opens the ledger for a graph and a request.

        Raises:
            ValueError: it is that of another run; the message names what differs.
        """
        if self.checkpoint is not None and self.ledger is None:
            key = {
                **_digest.of_machine(graph.device), "graph": _digest.of_graph(graph), **request,
            }  # fmt: skip
            self.ledger = Ledger(self.checkpoint, key)


def scale_of(checkpoint: object) -> Scale | None:
    """That of a call with these arguments; None if units are kept nowhere."""
    if checkpoint is None:
        return None
    return Scale(check_files.path(checkpoint, "checkpoint"))


@dataclass(frozen=True)
class Setting:
    """How a search is run on this device.

    Attributes:
        device: of the search.
        workspace: bytes that kernels may use.
        bar: the progress bar.
        inline: whether this thread runs it, because it is short, or stops at any line.
    """

    device: torch.device
    workspace: int
    bar: tqdm
    inline: bool


def run(search: Search, setting: Setting, scale: Scale | None) -> None:
    """Computes all units of a search that the ledger does not hold; the totals are the result."""
    if scale is None and len(search.sizes) == 1:
        control = _codes.control(setting.workspace)

        def single() -> None:
            search.compute(slice(0, search.sizes[0]), search.totals, search.rung, control)

        return _watched(single, control, setting)
    tally = Tally(search, None if scale is None else scale.ledger, _number(scale))
    control = _codes.control(setting.workspace, tally.done)
    start_at(setting.bar, tally.done)
    if not tally.finished:
        _watched(lambda: _one_by_one(tally, control), control, setting)


def _number(scale: Scale | None) -> int:
    if scale is None:
        return 0
    scale.searches += 1
    return scale.searches - 1


def _watched(work: object, control: Tensor, setting: Setting) -> None:
    assert callable(work)
    if setting.inline:
        work()
        setting.bar.update(int(control[DONE]) - setting.bar.n)
    else:
        watched(on_device(work, setting.device), control, setting.bar)


def _one_by_one(tally: Tally, control: Tensor) -> None:
    """Computes the units in their order."""
    search, spare = tally.search, None
    while not tally.finished:
        unit, begun = tally.next, time.perf_counter()
        if unit and spare is None:
            spare = tuple(
                total if kind == "rows" else torch.empty_like(total)
                for total, kind in zip(search.totals, search.kinds, strict=True)
            )
        rung = search.rung if tally.rung is None else tally.rung
        results = tally.outputs(unit, spare)
        rung = search.compute(search.part(unit), results, rung, control)
        if control[CANCEL]:
            break
        tally.add(unit, results, rung, time.perf_counter() - begun)
