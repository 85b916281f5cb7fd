"""How much memory a run may take, and the refusal of one that cannot fit."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def budget(memory: int | None, device: torch.device) -> int:
    """Bytes that may be used: as asked for, else half of what is free on the device."""
    return memory if memory is not None else _free(device) // 2


def refuse(what: str, needed: int, limit: int, memory: int | None) -> MemoryError:
    """The error, with both figures, for a run that needs more than is allowed."""
    return MemoryError(
        f"{what} needs {readable(needed)} ({needed} bytes), but memory={limit} ({readable(limit)}) "
        "is allowed; "
        + ("raise it" if memory is not None else "half of what is free; pass memory= for more")
    )


def _free(device: torch.device) -> int:
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + unused
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    # A container may be allowed less than the machine has (control groups, version 2).
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and (text := limit.read_text().strip()).isdigit():
        free = min(free, max(int(text) - int(used.read_text()), 0))
    return free


def readable(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
