"""Ranks: processes that share a call, in a process group of torch.distributed.

Every rank calls the same function with the same arguments, and gets the same result. Collectives
wait for all ranks, so a rank that fails before one must tell the others: see `Group.agree`.
"""

from __future__ import annotations

import atexit
import pickle
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor

from torchcent.check._values import shortened

#: the argument `group` of public functions; None is this process alone
GroupLike: TypeAlias = "dist.ProcessGroup | Literal['world'] | None"


@dataclass(frozen=True)
class Group:
    """A process group, as one of its ranks sees it.

    Attributes:
        pg: the process group.
        rank: of this process in the group, from 0.
        size: the number of ranks.
    """

    pg: dist.ProcessGroup
    rank: int
    size: int

    @property
    def device(self) -> torch.device:
        """The device of numbers that are exchanged: the host, unless the backend is NCCL alone."""
        if "cpu:" in dist.get_backend_config(self.pg):
            return torch.device("cpu")
        return torch.device("cuda", torch.cuda.current_device())

    def agree(self, error: BaseException | None) -> None:
        """Raises on all ranks the error of the lowest rank that has one, if any has one.

        It returns on all ranks or on none, so that none waits for one that has failed.
        """
        failed = torch.tensor([error is not None], dtype=torch.int32, device=self.device)
        dist.all_reduce(failed, dist.ReduceOp.MAX, group=self.pg)
        if not int(failed):
            return
        errors: list[BaseException | None] = [None] * self.size
        dist.all_gather_object(errors, _portable(error), group=self.pg)
        rank, first = next((r, e) for r, e in enumerate(errors) if e is not None)
        if rank == self.rank:
            assert error is not None
            raise error
        first.add_note(f"raised on rank {rank} of {self.size}")
        raise first from error

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Runs a block that has no collectives; an error in it is raised on all ranks."""
        failed: BaseException | None = None
        try:
            yield
        except BaseException as error:  # raised again by `agree`
            failed = error
        self.agree(failed)

    def all_gather(self, value: Any) -> list[Any]:
        """The objects of all ranks, small ones, in the order of the ranks."""
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self.pg)
        return values

    def broadcast_object(self, value: Any, source: int = 0) -> Any:
        """The object of one rank, a small one."""
        held = [value]
        dist.broadcast_object_list(held, group=self.pg, group_src=source)
        return held[0]

    def sum(self, tensor: Tensor) -> Tensor:
        """Overwrites a tensor with the sum of those of all ranks, and returns it."""
        dist.all_reduce(tensor, group=self.pg)
        return tensor

    def broadcast(self, tensor: Tensor, source: int = 0) -> Tensor:
        """Overwrites a contiguous tensor with that of one rank, and returns it."""
        dist.broadcast(_bytes(tensor), group=self.pg, group_src=source)
        return tensor

    def all_gather_varied(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all ranks, which may differ in their first size.

        They are consecutive parts of one tensor, so that `together` joins them without a copy.

        Raises:
            MemoryError, RuntimeError: a rank has no memory for them; raised on all ranks.
        """
        counts: list[int] = self.all_gather(tensor.shape[0])
        with self.agreed():
            whole = tensor.new_empty(sum(counts), *tensor.shape[1:])
        return self.fill(whole, counts, tensor)

    def fill(self, whole: Tensor, counts: list[int], own: Tensor) -> list[Tensor]:
        """Fills a tensor of all ranks with their parts, of so many rows each; returns the parts."""
        parts = list(whole.split(counts))
        parts[self.rank].copy_(own)
        # Not all_gather: gloo wants equal sizes, and padding would be one more copy.
        moves = [
            dist.broadcast(_bytes(part), group=self.pg, group_src=source, async_op=True)
            for source, part in enumerate(parts)
            if part.numel()
        ]
        for move in moves:
            assert move is not None
            move.wait()
        return parts


def group_of(group: object) -> Group | None:
    """The group that an argument `group` means; None is this process alone.

    "world" is the default process group; where torchrun has started this process and there is none
    yet, it is made: gloo, and NCCL for tensors on CUDA.

    Raises:
        TypeError, ValueError: it is no process group that holds this process.
    """
    if group is None:
        return None
    if not dist.is_available():
        raise ValueError("group= needs torch.distributed, which this PyTorch does not have")
    if isinstance(group, str):
        if group != "world":
            raise ValueError(
                f"group must be 'world', a ProcessGroup or None, got {shortened(group)}"
            )
        if not dist.is_initialized():
            if not launched():
                raise ValueError(
                    "group='world' needs a process group: start the program by torchrun, or call "
                    "torch.distributed.init_process_group first"
                )
            cuda = torch.cuda.is_available() and dist.is_nccl_available()
            dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo")
            atexit.register(dist.destroy_process_group)  # gloo's threads would abort the process
        group = dist.group.WORLD
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        raise ValueError("group must be a process group that this process belongs to")
    if not isinstance(group, dist.ProcessGroup):
        raise TypeError(f"group must be 'world', a ProcessGroup or None, got {shortened(group)}")
    return Group(group, dist.get_rank(group), dist.get_world_size(group))


def agreed(group: Group | None) -> AbstractContextManager[None]:
    """`Group.agreed`; of a single process, the block as it is."""
    return nullcontext() if group is None else group.agreed()


def launched() -> bool:
    """Whether torchrun has started this process."""
    return dist.is_available() and dist.is_torchelastic_launched()


def together(parts: list[Tensor]) -> Tensor:
    """The tensor whose consecutive parts `Group.all_gather_varied` has returned."""
    first, count = parts[0], sum(part.shape[0] for part in parts)
    return first.as_strided((count, *first.shape[1:]), first.stride(), first.storage_offset())


def _bytes(tensor: Tensor) -> Tensor:
    """The same memory as uint8, which every backend moves."""
    return tensor.view(-1).view(torch.uint8)


def _portable(error: BaseException | None) -> BaseException | None:
    """The error, or one of the same text if it does not survive being sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
