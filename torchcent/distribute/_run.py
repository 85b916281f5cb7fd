"""Runs a search: by one device, by several of this process, or by the ranks of a group."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.distribute import _digest
from torchcent.distribute._arguments import Scale
from torchcent.distribute._group import publish
from torchcent.distribute._ledger import locked
from torchcent.distribute._queue import LocalQueue, WorkQueue, work
from torchcent.distribute._ranks import RemoteQueue, Service
from torchcent.distribute._totals import Totals
from torchcent.distribute._units import Search
from torchcent.runtime import _codes
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._watch import at_work, on_device, progress_bar, show_done, start_at


@dataclass(frozen=True)
class Setting:
    """How a search is run on this device."""

    device: torch.device
    workspace: int  # bytes that kernels may use
    bar: tqdm
    inline: bool  # whether this thread runs it, because it is short, or stops at any line
    control: Tensor | None = None  # the record to use, if there is only one unit and no scale
    before: int = 0  # sources that the bar has counted before the search
    # Whether the device of the search computes it, also where there are others: a search that is
    # timed. Every rank computes it, and no ledger keeps it.
    alone: bool = False


def execute(
    search: Search, device: torch.device, scale: Scale | None, *, title: str,
    progress: bool | None, quick: bool, workspace: int = 0, inline: bool = False,
    unit: str = "sources",
) -> None:  # fmt: skip
    """Computes all sources of a search with a progress bar; quick work, and what stops at any line
    for Ctrl-C (`inline`), in this thread."""
    total = sum(search.sizes)
    with progress_bar(total, title, progress, quick, unit) as bar:
        run(search, Setting(device, workspace, bar, quick or inline), scale)
        bar.update(total - bar.n)


def run(search: Search, setting: Setting, scale: Scale | None) -> None:
    """Computes all units of a search that the ledger does not hold; the totals are the result."""
    if setting.alone and scale is not None:
        scale.searches += 1
        scale = None
    if scale is None and len(search.sizes) == 1:
        control = setting.control
        if control is None:
            control = _codes.control(setting.workspace, setting.before)

        def single() -> None:
            unit, show = slice(0, search.sizes[0]), _shown(setting, control)
            search.run(search.inputs, unit, search.totals, search.rung, control, show)

        return at_work(single, control, setting.bar, setting.device, setting.inline)
    scale = scale or Scale()
    scale.searches += 1
    devices = scale.devices or (setting.device,)
    controls = torch.stack([_codes.control(setting.workspace) for _ in (*devices, "others")])
    group = scale.group
    if group is None:
        with locked(scale.ledger):
            queue = LocalQueue(Totals(search, scale.ledger, scale.searches - 1), len(devices))
            return _lead(queue, devices, controls, setting, alone=len(devices) == 1)
    channel = group.channel(scale.searches)
    key = _digest.plain({"run": scale.key, "units": search.sizes, **search.key})
    if scale.leads:
        with publish(group), locked(scale.ledger):
            totals = Totals(search, scale.ledger, scale.searches - 1)
            queue = LocalQueue(totals, len(devices) * group.size)
            with Service(channel, queue, key, controls[-1]):
                _lead(queue, devices, controls, setting, alone=False)
    else:
        with RemoteQueue(channel, search, key) as remote:

            def units() -> None:
                _work(remote, search, devices, controls)
                remote.end(controls)

            at_work(units, controls, setting.bar, setting.device, inline=False)
    for total in search.totals:
        group.broadcast(total)
    return None


def _lead(
    queue: LocalQueue, devices: tuple[torch.device, ...], controls: Tensor, setting: Setting,
    alone: bool,
) -> None:  # fmt: skip
    """Runs the workers of the process that has the sums."""
    totals = queue.totals
    controls[-1, DONE] = setting.before + totals.done + totals.ahead
    start_at(setting.bar, int(controls[-1, DONE]))

    inline = setting.inline and alone

    def all_workers() -> None:
        try:
            _work(queue, totals.search, devices, controls, _shown(setting, controls, inline))
        except BaseException as error:
            queue.fail(error)
            controls[:, CANCEL] = 1
            raise

    if not totals.complete:
        at_work(all_workers, controls, setting.bar, setting.device, inline)
    queue.check()


def _shown(
    setting: Setting, control: Tensor, inline: bool | None = None
) -> Callable[[], None] | None:
    """Lets the bar show what is done, where no other thread does."""
    inline = setting.inline if inline is None else inline
    return partial(show_done, setting.bar, control) if inline else None


def _work(
    queue: WorkQueue, search: Search, devices: tuple[torch.device, ...], controls: Tensor,
    show: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """One worker per device."""
    if len(devices) == 1:
        return work(queue, search, search.inputs, devices[0], controls[0], show)
    aside = None  # a stream for copies, which do not wait for what is computed from now on
    if devices[0].type == "cuda":
        aside = torch.cuda.Stream(devices[0])
        aside.wait_stream(torch.cuda.current_stream(devices[0]))

    def worker(at: int) -> None:
        device, inputs = devices[at], search.inputs
        try:
            if at:
                with torch.cuda.stream(aside):
                    inputs = _copied(inputs, device, {})
            work(queue, search, inputs, device, controls[at])
        except BaseException:
            controls[:, CANCEL] = 1
            raise

    works = [on_device(partial(worker, at), device) for at, device in enumerate(devices)]
    with ThreadPoolExecutor(len(devices)) as pool:
        for future in [pool.submit(each) for each in works]:
            future.result()
    return None


def _copied(tree: Any, device: torch.device, copies: dict[int, Tensor]) -> Any:
    """The tensors of nested tuples on another device; equal objects remain equal."""
    if isinstance(tree, Tensor):
        if id(tree) not in copies:
            copies[id(tree)] = tree.to(device, copy=True)
        return copies[id(tree)]
    if isinstance(tree, tuple):
        parts = [_copied(part, device, copies) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree
