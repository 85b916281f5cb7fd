"""Runs a search: by one device, by several of this process, or by the ranks of a group."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.runtime import _codes
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._watch import on_device, show_done, start_at, watched
from torchcent.scale import _digest, _hand
from torchcent.scale._arguments import Scale
from torchcent.scale._group import Group, publish
from torchcent.scale._hand import Hand, Shared
from torchcent.scale._ledger import locked
from torchcent.scale._ranks import Member, Service
from torchcent.scale._tally import Tally
from torchcent.scale._units import Search


@dataclass(frozen=True)
class Setting:
    """How a search is run on this device.

    Attributes:
        device: of the search.
        workspace: bytes that kernels may use.
        bar: the progress bar.
        inline: whether this thread runs it, because it is short, or stops at any line.
        control: the record to use, if there is only one unit and no scale.
        before: sources that the bar has counted before the search.
        alone: whether the device of the search computes it, also where there are others: a search
            that is timed. Every rank computes it, and no ledger keeps it.
    """

    device: torch.device
    workspace: int
    bar: tqdm
    inline: bool
    control: Tensor | None = None
    before: int = 0
    alone: bool = False


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
            unit = slice(0, search.sizes[0])
            search.compute(search.inputs, unit, search.totals, search.rung, control)

        return _watched(single, control, setting, setting.inline)
    scale = scale or Scale()
    scale.searches += 1
    devices = scale.devices or (setting.device,)
    controls = torch.stack([_codes.control(setting.workspace) for _ in (*devices, "others")])
    if scale.group is None:
        with locked(scale.ledger):
            hand = Shared(Tally(search, scale.ledger, scale.searches - 1), len(devices))
            _led(hand, devices, controls, setting, alone=len(devices) == 1)
    else:
        _by_group(search, setting, scale, scale.group, devices, controls)


def _by_group(
    search: Search, setting: Setting, scale: Scale, group: Group,
    devices: tuple[torch.device, ...], controls: Tensor,
) -> None:  # fmt: skip
    """The part of this rank."""
    channel = group.channel(scale.searches)
    key = _digest.plain({"run": scale.key, "units": search.sizes, **search.key})
    if scale.leads:
        with publish(group), locked(scale.ledger):
            tally = Tally(search, scale.ledger, scale.searches - 1)
            hand = Shared(tally, len(devices) * group.size)
            with Service(channel, hand, key, controls[-1]):
                _led(hand, devices, controls, setting, alone=False)
    else:
        with Member(channel, search, key) as member:

            def units() -> None:
                _crew(member, search, devices, controls)
                member.end(controls)

            _watched(units, controls, setting, False)
    for total in search.totals:
        group.broadcast(total)


def _led(
    hand: Shared, devices: tuple[torch.device, ...], controls: Tensor, setting: Setting,
    alone: bool,
) -> None:  # fmt: skip
    """Runs the workers of the process that has the sums."""
    tally = hand.tally
    controls[-1, DONE] = setting.before + tally.done + tally.ahead
    start_at(setting.bar, int(controls[-1, DONE]))

    def all_workers() -> None:
        try:
            _crew(hand, tally.search, devices, controls)
        except BaseException as error:
            hand.fail(error)
            controls[:, CANCEL] = 1
            raise

    if not tally.finished:
        _watched(all_workers, controls, setting, setting.inline and alone)
    hand.check()


def _crew(hand: Hand, search: Search, devices: tuple[torch.device, ...], controls: Tensor) -> None:
    """One worker per device."""
    if len(devices) == 1:
        return _hand.work(hand, search, search.inputs, devices[0], controls[0])
    aside = _stream_aside(devices[0])

    def worker(at: int) -> None:
        device, inputs = devices[at], search.inputs
        try:
            if at:
                with torch.cuda.stream(aside):
                    inputs = _copied(inputs, device, {})
            _hand.work(hand, search, inputs, device, controls[at])
        except BaseException:
            controls[:, CANCEL] = 1
            raise

    works: list[Callable[[], None]] = [
        on_device(lambda at=at: worker(at), device)  # type: ignore[misc]
        for at, device in enumerate(devices)
    ]
    with ThreadPoolExecutor(len(devices)) as pool:
        for done in [pool.submit(each) for each in works]:
            done.result()
    return None


def _stream_aside(device: torch.device) -> torch.cuda.Stream | None:
    """A stream for copies to other devices, which do not wait for what is computed from now on."""
    if device.type != "cuda":
        return None
    aside = torch.cuda.Stream(device)
    aside.wait_stream(torch.cuda.current_stream(device))
    return aside


def _copied(tree: Any, device: torch.device, known: dict[int, Tensor]) -> Any:
    """The tensors of nested tuples on another device; equal objects remain equal."""
    if isinstance(tree, Tensor):
        if id(tree) not in known:
            known[id(tree)] = tree.to(device, copy=True)
        return known[id(tree)]
    if isinstance(tree, tuple):
        parts = [_copied(part, device, known) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree


def _watched(work: Callable[[], None], control: Tensor, setting: Setting, inline: bool) -> None:
    if inline:
        work()
        show_done(setting.bar, control)
    else:
        watched(on_device(work, setting.device), control, setting.bar)
