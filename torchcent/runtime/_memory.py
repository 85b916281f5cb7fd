"""The memory that a run may use, and the error for a run that cannot fit."""

from __future__ import annotations

import bisect
import functools
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import torch

from torchcent.runtime import _compiling

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# Messages of PyTorch, C++, NumPy and the dynamic linker when an allocation fails. These patterns
# are compiled when a call fails, not at import.
_RAN_OUT = (
    r"DefaultCPUAllocator|bad_alloc|out of memory|[Uu]nable to allocate"
    r"|aten::(new_)?empty.*API call failed"  # tensors allocated by our compiled code
    r"|failed to map segment|[Cc]annot allocate memory"  # libraries that are loaded when needed
)
_TOO_MANY = "counts paths in float64"  # csrc/reference
_TRIED = r"[Tt]ried to allocate ([0-9.]+ (?:bytes|[KMG]iB))|allocate (\S+ \wiB) for"
_GPU = r"\bGPU (\d+)"
_OF_HOST = r"DefaultCPUAllocator|bad_alloc|[Uu]nable to allocate"

# Smaller builds are not checked against the free memory, because the query takes longer: up to a
# millisecond on CUDA. The same holds for runs on small graphs on the CPU.
_SMALL = {"cpu": 2**24, "cuda": 2**28}
SMALL_RUN = {"cpu": 2**24}


def budget(memory: int | None, device: torch.device, held: int = 0) -> int:
    """Bytes that may be used: `memory`, or half of the free memory of the device if it is None.

    `held` bytes that are already allocated count as free.
    """
    return memory if memory is not None else (_free(device) + held) // 2


def refuse(what: str, needed: int, limit: int, memory: int | None) -> MemoryError:
    """The error for a run that needs more than is allowed; it states both amounts."""
    return MemoryError(
        f"{what} needs {readable(needed)} ({needed} bytes), but memory={limit} ({readable(limit)}) "
        "is allowed; "
        + (
            "raise it"
            if memory is not None
            else "half of the free memory; pass Run(memory=...) for more"
        )
    )


def require(what: str, needed: int, limit: int, memory: int | None) -> None:
    """Raises the error of :func:`refuse` if more is needed than is allowed."""
    if needed > limit:
        raise refuse(what, needed, limit, memory)


def allow(what: str, needed: int, memory: int | None, device: torch.device) -> None:
    """The same for what a call may use of a device, see :func:`budget`."""
    require(what, needed, budget(memory, device), memory)


def most_that_fit(
    what: str, needed: Callable[[int], int], most: int, limit: int, memory: int | None,
    least: int = 1,
) -> int:  # fmt: skip
    """How many, from `least` to `most`, can be processed at a time; `needed` gives their bytes.

    Raises:
        MemoryError: not even `least` fit.
    """
    require(what, needed(least), limit, memory)
    return bisect.bisect_right(range(1, most + 1), limit, key=needed)


def ran_out(text: str) -> bool:
    """Whether the text is that of a failed allocation."""
    return re.search(_RAN_OUT, text) is not None


#: what is raised where an allocation fails, and elsewhere
FAILURES = (MemoryError, RuntimeError, ImportError)


def allocation_failure(error: BaseException, function: str) -> Exception | None:
    """The error of our wording, which names the function; None if no allocation failed.

    A library with a C++ run-time library of its own (tools/wheels.py) reports counts that are too
    large without the type of the error.

    Allocations fail if the system has less memory than it reported, or if memory= allows more than
    exists.
    """
    text = str(error)
    if _TOO_MANY in text:
        return OverflowError(text)
    if "memory=" in text or not (text == "" or ran_out(text)):
        return None
    if text == "" and not isinstance(error, MemoryError):
        return None
    tried = re.search(_TRIED, text)
    size = next(filter(None, tried.groups())) if tried else "memory"
    device = _device_that_ran_out(text)
    where = "the host" if device.type == "cpu" else device
    return MemoryError(
        f"{function}: the system did not grant {size}, with {readable(_free(device))} free on "
        f"{where}; pass a smaller Run(memory=...) to process less at a time"
    )


def reported(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorates public functions: reports allocation failures.

    torch.compile breaks its graph at these functions.
    """

    @functools.wraps(function)
    def call(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            return function(*arguments, **options)
        except FAILURES as error:
            failure = allocation_failure(error, function.__qualname__)
            if failure is None:
                raise
            raise failure from None

    _compiling.outside(call)
    return call


def _device_that_ran_out(text: str) -> torch.device:
    """The device that ran out: PyTorch names the GPU, errors of CUDA mean the current one."""
    if match := re.search(_GPU, text):
        return torch.device("cuda", int(match[1]))
    on_host = not torch.cuda.is_initialized() or not text or re.search(_OF_HOST, text)
    return torch.device("cpu") if on_host else torch.device("cuda", torch.cuda.current_device())


@dataclass(frozen=True)
class Building:
    """Peak memory for building a Graph, including the result but not the input.

    Attributes:
        columns: number of columns of the edge_index.
        symmetric: whether missing reverse arcs are added.
        weighted: whether the columns have weights.
        device: device of the edge_index.
        memory: bytes that are allowed; None for half of the free memory.
        slots: number of slots, if columns are repeated or loops and their weights are added up;
            None if not, or not yet known.
    """

    columns: int
    symmetric: bool
    weighted: bool
    device: torch.device
    memory: int | None
    slots: int | None = None

    def needed(self, num_nodes: int, graphs: int = 0) -> int:
        """Bytes for these numbers of vertices and, for a batch, of graphs.

        On the CPU (build.cpp) the peak is the larger of two. One is sorted arcs beside the result,
        with copies of the ids and weights. The other brings weights into the order of the slots, by
        sorted arcs with their columns. On CUDA (build.cu, graph.cu) it is the same two, with two
        words for each arc that is sorted, and for symmetric graphs a transpose.
        """
        columns = self.columns
        arcs = columns * (2 if self.symmetric else 1)
        batch = 8 * num_nodes + 24 * graphs if graphs else 0
        on_host = self.device.type == "cpu"
        sorting = 8 * columns + (12 if on_host else 16) * arcs + 8 * num_nodes
        if not on_host:  # workspace
            sorting, batch = sorting + arcs // 6, batch + 2**16
        if not self.weighted:
            return batch + sorting
        if on_host:
            placing = 16 * columns + 28 * arcs + 8 * num_nodes
        else:
            placing = 25 * columns + 12 * arcs + 8 * num_nodes
            if self.symmetric:
                placing = max(placing, 24 * (columns + arcs) + 16 * num_nodes)
        if self.slots is not None:  # sums beside the weights, of both directions
            beside = (16 if self.symmetric else 8) * self.slots + 16 * num_nodes
            if on_host:
                placing = 16 * columns + 16 * arcs + 12 * self.slots + 8 * num_nodes + beside
            else:  # in order, by a sort of the slots
                placing = max(placing, 72 * columns + 12 * self.slots + 8 * num_nodes + beside)
        return batch + max(sorting + 8 * columns, placing)

    def allow(self, num_nodes: int, graphs: int = 0) -> None:
        """Raises MemoryError if more than the allowed memory is needed."""
        nbytes = self.needed(num_nodes, graphs)
        if self.memory is None and nbytes < _SMALL.get(self.device.type, 0):
            return
        limit = budget(self.memory, self.device)
        of_batch = f", {graphs} graphs" if graphs else ""
        what = f"building a Graph ({num_nodes} vertices{of_batch}, {self.columns} columns)"
        require(what, nbytes, limit, self.memory)


def _free(device: torch.device) -> int:
    if device.type == "cuda":
        # Not memory_reserved and memory_allocated, which flatten all statistics: 0.5 ms.
        stats = torch.cuda.memory_stats_as_nested_dict(device)
        unused = (
            stats["reserved_bytes"]["all"]["current"] - stats["allocated_bytes"]["all"]["current"]
        )
        return int(torch.cuda.mem_get_info(device)[0] + unused)
    if sys.platform == "win32" or not hasattr(os, "sysconf"):
        return _free_elsewhere()
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    _, label, rest = _text("/proc/meminfo").partition("MemAvailable:")
    if label:
        free = int(rest.split(None, 1)[0]) * 1024
    # A container may have a lower limit than the machine (control groups, version 2).
    limit = _text("/sys/fs/cgroup/memory.max").strip()
    if limit.isdigit() and (usage := _text("/sys/fs/cgroup/memory.current").strip()):
        free = min(free, max(int(limit) - int(usage), 0))
    allowed = _address_space()
    if allowed is not None and (sizes := _text("/proc/self/statm")):
        free = min(free, max(allowed - int(sizes.split()[0]) * os.sysconf("SC_PAGE_SIZE"), 0))
    return free


def _address_space() -> int | None:
    """The limit of `ulimit -v` in bytes, or None."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


_UNKNOWN = 1 << 32  # bytes that are taken for free where the system does not say it


def _free_elsewhere() -> int:
    """Free bytes on Windows, whose kernel has a call for them, and on systems without sysconf."""
    import ctypes

    kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
    if kernel is None:
        return _UNKNOWN
    # MEMORYSTATUSEX: two numbers of 32 bits, its size and the load; seven of 64, the second of
    # which is the physical memory that is free
    status = (ctypes.c_uint64 * 8)()
    ctypes.cast(status, ctypes.POINTER(ctypes.c_uint32))[0] = ctypes.sizeof(status)
    return int(status[2]) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else _UNKNOWN


def _text(path: str) -> str:
    """The text of a file of the system, "" where there is none; every run asks, so it is quick."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(4096).decode()
    except OSError:
        return ""


def readable(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
