"""The engines, as the loop over iterations sees them: a flow, and a step to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchcent.clustering import _dense, _pieces, _plan, _ranks, _tensor
from torchcent.clustering._cycles import digest
from torchcent.clustering._flow import Flow, columns_as_rows, from_dense
from torchcent.clustering._rules import WHOLE, Share, Summary, step_memory
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import BYTES, CANCEL, DONE
from torchcent.scale._group import agreed

if TYPE_CHECKING:
    from torchcent.clustering._run import Loop

# Predicted speed-up at which another engine takes over.
_HYSTERESIS = 1.5


class Sparse:
    """An engine on the sparse flow itself.

    Attributes:
        name: that of the engine.
        consecutive: whether its shares are consecutive columns.
    """

    name: str

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self.loop, self._flow = loop, flow
        self.consecutive = True

    def compute(self, flow: Flow, share: Share, room: int) -> tuple[Flow, Tensor] | None:
        """A share of the next flow, in so many bytes, and its summary; None if they are too few."""
        raise NotImplementedError

    def step(self) -> Summary:
        self._flow, told = self.alone() if self.loop.group is None else self.with_others()
        return Summary.of(told)

    def alone(self) -> tuple[Flow, Tensor]:
        found = self.compute(self._flow, WHOLE, self.room())
        if found is None:
            raise self.refuse()
        return found

    def with_others(self) -> tuple[Flow, Tensor]:
        group, room = self.loop.group, self.room()
        assert group is not None
        with agreed(group):
            found = self.compute(
                self._flow, _ranks.share_of(group, self._flow, self.consecutive), room
            )
            if self.loop.control[CANCEL]:
                raise KeyboardInterrupt
            if found is None:
                raise self.refuse()
            own, told = found[0].compact(), found[1]
        return _ranks.exchange(group, own, told, room, self.refuse)

    def flow(self) -> Flow:
        return self._flow

    def digest(self) -> bytes:
        """Of the flow: equal if and only if all bits of the flow are."""
        held = self._flow.compact()
        return digest(held.length, held.row, held.value)

    def better(self) -> Dense | None:
        """The dense engine, if the flow is dense enough for it to be faster."""
        plan = self.loop.plan
        if not plan.may_switch or self.loop.rules.expansion != 2:
            return None
        # An upper bound, as if all columns had maximum length; computed exactly only if it is large
        # enough.
        most = self.loop.result.summaries[-1].kept * float(self._flow.length.max())
        if not _plan.dense_pays(plan.device, plan.num_nodes, most / _HYSTERESIS):
            return None
        work = _plan.products(self._flow)
        if not _plan.dense_pays(plan.device, plan.num_nodes, work / _HYSTERESIS):
            return None
        return Dense(self.loop, self._flow)

    def room(self) -> int:
        """Bytes that the next flow may use."""
        plan = self.loop.plan
        return max(plan.memory_limit - self._flow.nbytes - plan.overhead, 1)

    def refuse(self) -> MemoryError:
        limit, at = self.loop.plan.memory_limit, len(self.loop.result.summaries) + 1
        return MemoryError(
            f"mcl, iteration {at}, needs more than memory={limit} ({_memory.readable(limit)}), "
            f"with {self._flow.entries:,} entries of the flow before it; raise memory, or keep "
            "fewer entries: a smaller select and recover of Prune, or a larger threshold"
        )


class Fused(Sparse):
    name = "fused"

    def __init__(self, loop: Loop, flow: Flow) -> None:
        super().__init__(loop, flow)
        self.consecutive = flow.device.type != "cpu"
        self.in_pieces = loop.plan.pieces > 1
        self.stored = False  # whether the flow is kept elsewhere

    def compute(self, flow: Flow, share: Share, room: int) -> tuple[Flow, Tensor] | None:
        control = self.loop.control
        control[BYTES] = room
        *new, summary = _ops.ops.mcl_iterate(
            flow.begin, flow.length, flow.row, flow.value, control, *self.loop.arguments(),
            torch.get_num_threads(), 0, *share,
        )  # fmt: skip
        return None if control[BYTES] < 0 else (Flow(*new), summary)

    def alone(self) -> tuple[Flow, Tensor]:
        """Computes the next flow whole, or else in pieces."""
        if not self.in_pieces or self._fits():
            found = self.compute(self._flow, WHOLE, self.room())
            if found is not None:
                self.in_pieces = False
                return found
        self.loop.control[DONE] = 0
        plan = self.loop.plan
        held = 0 if self.stored else self._flow.nbytes
        room = plan.memory_limit - _plan.beside_pieces(plan.device, plan.num_nodes) - held
        found = _pieces.iterate(
            self._flow, self.loop.rules, self._piece, room, plan.device, self.consecutive
        )
        if found is None:
            raise self.refuse()
        self.in_pieces = self.stored = True
        return found

    def _piece(self, flow: Flow, share: Share, room: int) -> tuple[Flow, Tensor] | None:
        found = self.compute(flow, share, max(room, 1))
        if self.loop.control[CANCEL]:
            raise KeyboardInterrupt
        return found

    def _fits(self) -> bool:
        """Brings a flow back that fits with the next one."""
        if not self.stored:
            return False
        most = _pieces.ENTRY * int(step_memory(self._flow, self.loop.rules).sum())
        fits = _pieces.COPIES * most <= self.room()
        if fits:
            self._flow, self.stored = self.flow(), False
        return fits

    def flow(self) -> Flow:
        if not self.stored:
            return self._flow
        where = self.loop.plan.device
        row, value = (x.to(where, copy=True) for x in (self._flow.row, self._flow.value))
        return Flow(self._flow.begin.to(where), self._flow.length.to(where), row, value)

    def better(self) -> Dense | None:
        return None if self.stored else super().better()


class Tensors(Sparse):
    name = "tensor"

    def compute(self, flow: Flow, share: Share, room: int) -> tuple[Flow, Tensor] | None:
        self.loop.control[BYTES] = room
        found = _tensor.iterate(flow, self.loop.control, *self.loop.arguments(), share)
        return found if found[0].nbytes <= room else None


class Dense:
    name = "dense"

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self.loop, self.rows = loop, columns_as_rows(flow)
        self.kept = flow.entries

    def step(self) -> Summary:
        group, told = self.loop.group, torch.empty(8, dtype=torch.float64, device=self.rows.device)
        with agreed(group):
            if group is None or group.rank == 0:
                self.rows, told = _dense.iterate(self.rows, *self.loop.arguments())
        if group is not None:  # a matrix product may have other bits on another machine
            group.broadcast(self.rows)
            group.broadcast(told)
        summary = Summary.of(told.cpu())
        self.kept = summary.kept
        return summary

    def flow(self) -> Flow:
        return from_dense(self.rows)

    def digest(self) -> bytes:
        return digest(self.rows)

    def better(self) -> Sparse | None:
        """The engine for sparse columns, if the flow is sparse enough for it to be faster."""
        plan = self.loop.plan
        if not plan.may_switch or self.loop.rules.expansion != 2:
            return None
        # As if all columns had equal lengths; computed exactly only if that suffices.
        n, work = plan.num_nodes, float(self.kept) ** 2 / plan.num_nodes
        if _plan.dense_pays(plan.device, n, work * _HYSTERESIS):
            return None
        entry = self.rows != 0
        work = float((entry.sum(0).double() * entry.sum(1).double()).sum())
        if _plan.dense_pays(plan.device, n, work * _HYSTERESIS):
            return None
        return SPARSE[_plan.sparse_engine(plan.device)](self.loop, self.flow())


SPARSE: dict[str, Callable[[Loop, Flow], Sparse]] = {"fused": Fused, "tensor": Tensors}
ENGINES: dict[str, Callable[[Loop, Flow], Sparse | Dense]] = {**SPARSE, "dense": Dense}
