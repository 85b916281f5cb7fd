"""The engines, as the loop over iterations sees them: a flow, and a step to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.clustering import _dense, _pieces, _plan, _ranks, _tensor
from torchcent.clustering._cycles import digest
from torchcent.clustering._flow import Flow, columns_as_rows, from_dense
from torchcent.clustering._rules import WHOLE, Rules, Share, Summary, step_memory
from torchcent.distribute._group import Group, agreed
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import BYTES, CANCEL, DONE

# Predicted speed-up at which another engine takes over.
_HYSTERESIS = 1.5


@dataclass(eq=False)
class Loop:
    """What the engines of a run share."""

    rules: Rules
    plan: _plan.MclPlan
    control: Tensor
    group: Group | None
    summaries: list[Summary]  # of the iterations so far


class Sparse:
    """An engine on the sparse flow itself."""

    name: str
    consecutive = True  # whether its shares are consecutive columns

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self.loop, self._flow = loop, flow

    def compute(self, share: Share, space: int) -> tuple[Flow, Tensor] | None:
        """A share of the next flow, in so many bytes, and its summary; None if they are too few."""
        raise NotImplementedError

    def step(self) -> Summary:
        group, space = self.loop.group, self.space()
        with agreed(group):
            share = _ranks.share_of(group, self._flow, self.consecutive)
            result = self.compute(share, space)
            if group is not None and self.loop.control[CANCEL]:
                raise KeyboardInterrupt
            if result is None:
                raise self.refuse()
            if group is not None:
                result = result[0].compact(), result[1]
        if group is not None:
            result = _ranks.exchange(group, *result, space, self.refuse)
        self._flow, summary = result
        return Summary.of(summary)

    def flow(self) -> Flow:
        return self._flow

    def digest(self) -> bytes:
        """Of the flow: equal if and only if all bits of the flow are."""
        flow = self._flow.compact()
        return digest(flow.length, flow.row, flow.value)

    def better(self) -> Dense | None:
        """The dense engine, if the flow is dense enough for it to be faster."""
        plan = self.loop.plan
        # An upper bound, as if all columns had maximum length; computed exactly only if it is large
        # enough.
        most = self.loop.summaries[-1].entries * float(self._flow.length.max())
        if not _plan.dense_pays(plan.device, plan.num_nodes, most / _HYSTERESIS):
            return None
        work = _plan.products(self._flow) / _HYSTERESIS
        pays = _plan.dense_pays(plan.device, plan.num_nodes, work)
        return Dense(self.loop, self._flow) if pays else None

    def space(self) -> int:
        """Bytes that the next flow may use."""
        plan = self.loop.plan
        return max(plan.memory_limit - self._flow.nbytes - plan.overhead, 1)

    def refuse(self) -> MemoryError:
        limit, at = self.loop.plan.memory_limit, len(self.loop.summaries) + 1
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
        self.is_elsewhere = False  # whether the flow is

    def compute(self, share: Share, space: int) -> tuple[Flow, Tensor] | None:
        """Computes a share of a rank, or the next flow whole, or else in pieces."""
        if self.loop.group is not None:
            return self._iterate(self._flow, share, space)
        if not self.in_pieces or self._fits():
            result = self._iterate(self._flow, WHOLE, self.space())
            if result is not None:
                self.in_pieces = False
                return result
        self.loop.control[DONE] = 0
        plan = self.loop.plan
        space = plan.memory_limit - _plan.beside_pieces(plan.device, plan.num_nodes)
        space -= 0 if self.is_elsewhere else self._flow.nbytes
        result = _pieces.iterate(
            self._flow, self.loop.rules, self._piece, space, plan.device, self.consecutive
        )
        self.in_pieces = self.is_elsewhere = True
        return result

    def _iterate(self, flow: Flow, share: Share, space: int) -> tuple[Flow, Tensor] | None:
        control = self.loop.control
        control[BYTES] = space
        first, last, parts = share
        *new, summary = _ops.ops.mcl_iterate(
            flow.begin, flow.length, flow.row, flow.value, control, *self.loop.rules.arguments(),
            threads=torch.get_num_threads(), first=first, last=last, parts=parts,
        )  # fmt: skip
        return None if control[BYTES] < 0 else (Flow(*new), summary)

    def _piece(self, flow: Flow, share: Share, space: int) -> tuple[Flow, Tensor] | None:
        result = self._iterate(flow, share, max(space, 1))
        if self.loop.control[CANCEL]:
            raise KeyboardInterrupt
        return result

    def _fits(self) -> bool:
        """Brings a flow back that fits with the next one."""
        if not self.is_elsewhere:
            return False
        most = _pieces.ENTRY * int(step_memory(self._flow, self.loop.rules).sum())
        fits = _pieces.COPIES * most <= self.space()
        if fits:
            self._flow, self.is_elsewhere = self.flow(), False
        return fits

    def flow(self) -> Flow:
        if not self.is_elsewhere:
            return self._flow
        where = self.loop.plan.device
        row, value = (x.to(where, copy=True) for x in (self._flow.row, self._flow.value))
        return Flow(self._flow.begin.to(where), self._flow.length.to(where), row, value)

    def better(self) -> Dense | None:
        return None if self.is_elsewhere else super().better()


class Tensors(Sparse):
    name = "tensor"

    def compute(self, share: Share, space: int) -> tuple[Flow, Tensor] | None:
        self.loop.control[BYTES] = space
        result = _tensor.iterate(self._flow, self.loop.control, *self.loop.rules.arguments(), share)
        return result if result[0].nbytes <= space else None


class Dense:
    name = "dense"

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self.loop, self.rows = loop, columns_as_rows(flow)
        self.entries = flow.entries

    def step(self) -> Summary:
        group = self.loop.group
        values = torch.empty(8, dtype=torch.float64, device=self.rows.device)
        with agreed(group):
            if group is None or group.rank == 0:
                self.rows, values = _dense.iterate(self.rows, *self.loop.rules.arguments())
        if group is not None:  # a matrix product may have other bits on another machine
            group.broadcast(self.rows)
            group.broadcast(values)
        summary = Summary.of(values.cpu())
        self.entries = summary.entries
        return summary

    def flow(self) -> Flow:
        return from_dense(self.rows)

    def digest(self) -> bytes:
        return digest(self.rows)

    def better(self) -> Sparse | None:
        """The engine for sparse columns, if the flow is sparse enough for it to be faster."""
        plan = self.loop.plan
        # As if all columns had equal lengths; computed exactly only if that suffices.
        n, work = plan.num_nodes, float(self.entries) ** 2 / plan.num_nodes
        if _plan.dense_pays(plan.device, n, work * _HYSTERESIS):
            return None
        entry = self.rows != 0
        work = float((entry.sum(0).double() * entry.sum(1).double()).sum())
        if _plan.dense_pays(plan.device, n, work * _HYSTERESIS):
            return None
        return SPARSE[_plan.sparse_engine(plan.device)](self.loop, self.flow())


SPARSE: dict[str, Callable[[Loop, Flow], Sparse]] = {"fused": Fused, "tensor": Tensors}
ENGINES: dict[str, Callable[[Loop, Flow], Sparse | Dense]] = {**SPARSE, "dense": Dense}
