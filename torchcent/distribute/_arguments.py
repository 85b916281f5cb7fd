"""Who computes the units of a call, and where they are kept: its arguments, and their checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _devices as check_devices
from torchcent.check._run import Run
from torchcent.distribute import _digest
from torchcent.distribute._group import Group, check_same, group_of, publish, share_cores
from torchcent.distribute._ledger import Ledger

if TYPE_CHECKING:
    from torchcent.graph import Graph


@dataclass(eq=False)
class Scale:
    """Who computes the units of a call, and where they are kept; one for each call."""

    checkpoint: str | None = None  # the folder of the ledger
    devices: tuple[torch.device, ...] = ()  # that of the graph first; empty for that alone
    group: Group | None = None  # of ranks; None for this process alone
    key: dict[str, object] | None = None  # what the run depends on, once it has begun
    ledger: Ledger | None = None  # only rank 0 has one
    searches: int = 0  # that have begun

    @property
    def keeps(self) -> bool:
        """Whether there is a ledger, perhaps of another rank."""
        return self.checkpoint is not None

    @property
    def is_spread(self) -> bool:
        """Whether several devices or ranks compute."""
        return len(self.devices) > 1 or self.group is not None

    @property
    def leads(self) -> bool:
        """Whether this process has the sums."""
        return self.group is None or self.group.rank == 0

    def begin(self, graph: Graph, request: _digest.Key) -> None:
        """Opens the ledger for a graph and a request; ValueError if it is that of another run."""
        if self.key is not None or (self.checkpoint is None and self.group is None):
            return
        ties: dict[str, object] = {"tie_tolerance": graph.tie_tolerance}
        if graph._ties.sums != "decimal":
            ties["ties"] = str(graph._ties.sums)
        about = {**_digest.of_machine(graph.device), "graph": _digest.of_graph(graph), **ties}
        self.key = _digest.plain({**about, **request})
        if self.group is not None:
            self.group.begin()
            with publish(self.group):
                leading = self.group.of_leader("run", self.key)
                check_same(self.group, leading, self.key, "run is ")
        if self.checkpoint is not None and self.leads:
            with publish(self.group):
                self.ledger = Ledger(self.checkpoint, self.key)

    def decided(self, name: str, value: Any) -> Any:
        """A value that chance or the clock decides: that of the first run, on all ranks."""
        if self.ledger is not None:
            value = self.ledger.decision(name, value)
        return value if self.group is None else self.group.broadcast_object(value)

    def chance(self, generator: torch.Generator | None) -> torch.Generator:
        """The generator of random choices, which are those of all ranks and of all runs."""
        if generator is not None:
            return generator
        if self.checkpoint is not None:
            raise ValueError(
                "checkpoint needs a generator, so that a run that continues draws the same; "
                "pass generator=torch.Generator().manual_seed(...)"
            )
        return self._chance_of_all()

    def _chance_of_all(self) -> torch.Generator:
        seed = self.decided("seed", int(torch.randint(2**62, (1,), device="cpu")))
        return torch.Generator().manual_seed(seed)


def pivots_of(
    sources: object, graph: Graph, scale: Scale | None, weighted: bool = False
) -> Tensor | None:
    """None for all vertices, or pivots (`check.sources`), the same on all ranks and in all runs."""
    chance = None
    if scale is not None and isinstance(sources, int):
        if scale.checkpoint is not None:
            raise ValueError(
                "checkpoint needs sources that are known, so that a run that continues has the "
                "same; pass some that were drawn once, such as sources="
                "torch.randperm(num_nodes, generator=torch.Generator().manual_seed(1))[:k]"
            )
        chance = scale._chance_of_all()
    return check.sources(sources, graph, chance, weighted)


def scale_of(graph: Graph, run: Run) -> Scale | None:
    """That of a call with this Run; None if it is that of one device without a ledger."""
    devices = () if run.devices is None else check_devices.devices(run.devices, graph.device)
    ranks = group_of(run.group)
    if run.checkpoint is None and ranks is None and len(devices) < 2:
        return None
    if ranks is not None and run.threads is None and graph.device.type == "cuda":
        share_cores()
    return Scale(run.checkpoint, devices, ranks)


def shown(scale: Scale | None, progress: bool | None) -> bool | None:
    """Whether this process shows progress: of several ranks, only the first does."""
    return progress if scale is None or scale.leads else False
