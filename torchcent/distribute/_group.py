"""Process groups of torch.distributed: the ranks of a call, and what they tell each other."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import pickle
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from torchcent.check._values import shortened
from torchcent.distribute._digest import difference

_LOOK_SECONDS = 0.1  # between two looks for errors of other ranks
POLL_SECONDS = 0.001  # between two looks for an entry
# Bytes up to which a tensor on a device is broadcast by way of the hosts. NCCL takes seconds to
# begin, and most runs then need none.
_BY_HOSTS = 1 << 29
_groups: weakref.WeakKeyDictionary[dist.ProcessGroup, Group] = weakref.WeakKeyDictionary()


def group_of(group: object) -> Group | None:
    """The group of an argument; None for this process alone.

    "world" initialises the default group with the variables that torchrun sets, if nobody has.
    """
    if group is None:
        return None
    if isinstance(group, str) and group == "world":
        if not dist.is_available():
            raise ValueError("group='world' needs a PyTorch with torch.distributed")
        if not dist.is_initialized():
            if not launched():
                raise ValueError(
                    "group='world', but there are no ranks: start the program by torchrun, or "
                    "call torch.distributed.init_process_group before"
                )
            _initialise()
        group = dist.group.WORLD
    if dist.is_available() and group is dist.GroupMember.NON_GROUP_MEMBER:
        raise ValueError("group must be a process group that this process belongs to")
    if not dist.is_available() or not isinstance(group, dist.ProcessGroup):
        raise TypeError(
            f"group must be a torch.distributed.ProcessGroup, 'world' or None, got "
            f"{shortened(group)}"
        )
    if group not in _groups:
        _groups[group] = Group(group)
    ranks = _groups[group]
    return ranks if ranks.size > 1 else None


def launched() -> bool:
    """Whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def share_cores() -> None:
    """Lets a rank on a GPU prepare its search with its share of the cores, in this call.

    torchrun leaves one thread to each rank, by OMP_NUM_THREADS, where nobody has set that.
    """
    if launched() and os.environ.get("OMP_NUM_THREADS") == "1" and torch.get_num_threads() == 1:
        ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // ranks))


def _initialise() -> None:
    """Initialises the default group of processes that torchrun has started.

    The store outlives a restart of the ranks, so that each attempt needs names of its own: else the
    ranks would wait for addresses of processes that have ended.
    """
    from torch.distributed.rendezvous import rendezvous  # not in every build of PyTorch

    store, rank, size = next(rendezvous("env://"))
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    store = dist.PrefixStore(f"attempt-{attempt}", store)  # type: ignore[attr-defined]
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    atexit.register(_finalise)


def _finalise() -> None:
    """Ends the threads of the default group, which can abort a process that ends."""
    if dist.is_initialized():
        dist.destroy_process_group()


class Group:
    """The ranks of a process group."""

    def __init__(self, pg: dist.ProcessGroup) -> None:
        self.rank, self.size = dist.get_rank(pg), dist.get_world_size(pg)
        self._pg = weakref.ref(pg)
        from torch.distributed import distributed_c10d  # not in every build of PyTorch

        self._store = distributed_c10d._get_default_store()
        self._calls = itertools.count()
        self._call, self._look = "", 0.0
        self._host: dist.ProcessGroup | None = None
        if "cpu:gloo" not in dist.get_backend_config(pg):
            # If ranks are in different numbers of groups, local synchronisation never ends.
            self._host = dist.new_group(
                dist.get_process_group_ranks(pg), backend="gloo",
                use_local_synchronization=self.size < dist.get_world_size(),
            )  # fmt: skip

    @property
    def pg(self) -> dist.ProcessGroup:
        pg = self._pg()
        assert pg is not None
        return pg

    @property
    def host(self) -> dist.ProcessGroup:
        """The group for tensors on the host."""
        return self._host or self.pg

    def begin(self) -> None:
        """Begins the next call of this group, on all ranks."""
        self._call = f"torchcent/{self.pg.group_name}/{next(self._calls)}"

    def of_leader(self, name: str, value: Any = None) -> Any:
        """The value of rank 0, on all ranks; ends, too, when a rank has reported an error.

        Unlike a collective, it lets rank 0 go on at once.
        """
        channel = self.channel(name)
        if self.rank == 0:
            channel.set("value", value)
            return value
        return channel.wait("value")

    def report(self, error: BaseException) -> None:
        """Tells the other ranks that this one has failed."""
        if not isinstance(error, Stopped):
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            self._store.set(f"{self._call}/failed", f"rank {self.rank} failed: {text}")

    def failure(self, now: bool = False) -> Stopped | None:
        """The error that a rank has reported, looked for now, or not too often."""
        if not now and time.monotonic() < self._look + _LOOK_SECONDS:
            return None
        self._look = time.monotonic()
        if not self._store.check([f"{self._call}/failed"]):
            return None
        return Stopped(self._store.get(f"{self._call}/failed").decode())

    def channel(self, name: object) -> Channel:
        """The messages of a part of the call."""
        return Channel(self, f"{self._call}/{name}", self._store)

    def broadcast(self, tensor: Tensor) -> None:
        """Overwrites a tensor with that of rank 0, on all ranks."""
        if tensor.nbytes > _BY_HOSTS and tensor.device.type != "cpu":
            dist.broadcast(_as_bytes(tensor), group=self.pg, group_src=0)
        elif tensor.numel():
            on_host = tensor.cpu()
            dist.broadcast(_as_bytes(on_host), group=self.host, group_src=0)
            if on_host is not tensor and self.rank:
                tensor.copy_(on_host)

    def broadcast_object(self, value: Any) -> Any:
        """The object of rank 0, on all ranks."""
        values = [value]
        dist.broadcast_object_list(values, group=self.host, group_src=0)
        return values[0]

    def all_gather(self, value: Any) -> list[Any]:
        """The objects of all ranks, small ones."""
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self.host)
        return values

    def rows(self, own: Tensor) -> Tensor:
        """[size, ...]: the tensors of all ranks, of one shape and on the host."""
        rows = own.new_empty(self.size, *own.shape)
        dist.all_gather(list(rows), own, group=self.host)
        return rows

    def sum(self, tensor: Tensor) -> Tensor:
        """Overwrites a tensor with the sum of those of all ranks, and returns it."""
        dist.all_reduce(tensor, group=self.pg)
        return tensor

    def fill(self, whole: Tensor, lengths: list[int], own: Tensor) -> None:
        """Fills a tensor with those of all ranks, one after the other."""
        parts = whole.split(lengths)
        parts[self.rank].copy_(own)
        # Not all_gather: gloo wants equal lengths, and padding would be a copy of everything. As
        # bytes, because no backend takes every dtype.
        moves = [
            dist.broadcast(_as_bytes(part), group=self.pg, group_src=rank, async_op=True)
            for rank, part in enumerate(parts)
            if part.numel()
        ]
        for move in moves:
            assert move is not None
            move.wait()

    def agree(self, error: BaseException | None) -> None:
        """Raises on all ranks the error of the first rank that has one, if any has one.

        Collectives wait for all ranks: a rank that may have failed before one calls this.
        """
        failure = torch.tensor([error is not None], dtype=torch.int32, device="cpu")
        dist.all_reduce(failure, dist.ReduceOp.MAX, group=self.host)
        if not int(failure):
            return
        errors: list[BaseException | None] = self.all_gather(_portable(error))
        rank, first = next((r, e) for r, e in enumerate(errors) if e is not None)
        if rank == self.rank:
            assert error is not None
            raise error
        first.add_note(f"raised on rank {rank} of {self.size}")
        raise first from error

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """A block without collectives: an error in it is raised on all ranks."""
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:  # raised again by `agree`
            failure = error
        self.agree(failure)


def _as_bytes(tensor: Tensor) -> Tensor:
    """The memory of a contiguous tensor: no backend takes every dtype."""
    return tensor.view(-1).view(torch.uint8)


def agreed(group: Group | None) -> AbstractContextManager[None]:
    """`Group.agreed`; of this process alone, the block as it is."""
    return nullcontext() if group is None else group.agreed()


def _portable(error: BaseException | None) -> BaseException | None:
    """The error, or one of the same text if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def check_same(
    group: Group, leading: dict[str, object], key: dict[str, object], name: str = ""
) -> None:
    """Raises ValueError, with what differs, where this rank has another key than rank 0."""
    differs = difference(leading, key)
    if differs:
        raise ValueError(
            f"rank {group.rank} would run another search than rank 0: {name}{differs}; all "
            "ranks must call with the same graph and arguments"
        )


class Stopped(RuntimeError):
    """Another rank has failed."""


class Channel:
    """Entries of the store and tensors that the ranks exchange in a part of a call."""

    def __init__(self, group: Group, prefix: str, store: Any) -> None:
        self.group, self.lock = group, threading.Lock()  # for entries with numbers
        self._prefix, self._store = prefix, store

    def has(self, name: str) -> bool:
        return bool(self._store.check([self._key(name)]))

    def set(self, name: str, value: Any) -> None:
        self._store.set(self._key(name), json.dumps(value))

    def get(self, name: str) -> Any:
        return json.loads(self._store.get(self._key(name)))

    def wait(self, name: str, cancel: Callable[[], bool] = lambda: False) -> Any:
        """The value of an entry, once there is one; None after `cancel`."""
        while not self.has(name):
            if (error := self.group.failure()) is not None:
                raise error
            if cancel():
                return None
            time.sleep(POLL_SECONDS)
        return self.get(name)

    def take(self, name: str) -> Any:
        """Reads an entry that nobody else reads, and removes it."""
        value = self.get(name)
        self._store.delete_key(self._key(name))
        return value

    def next(self) -> int:
        """0, 1, 2, ... over all ranks."""
        return int(self._store.add(self._key("count"), 1)) - 1

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    def send(self, tensor: Tensor) -> None:
        """Sends a tensor of the host to rank 0."""
        if tensor.numel():
            dist.send(_as_bytes(tensor), group=self.group.host, group_dst=0)

    def receive(self, like: Tensor, rank: int) -> Tensor:
        """A tensor of this shape and dtype from another rank, on the host."""
        part = torch.empty_like(like, device="cpu", memory_format=torch.contiguous_format)
        if part.numel():
            dist.recv(_as_bytes(part), group=self.group.host, group_src=rank)
        return part


@contextmanager
def publish(group: Group | None) -> Iterator[None]:
    """Reports an error of this block to the other ranks, which wait for this one."""
    try:
        yield
    except BaseException as error:
        if group is not None:
            group.report(error)
        raise
