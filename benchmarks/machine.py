"""What a result was measured on: processor, caches, software; no name of machine or user."""

from __future__ import annotations

import datetime
import os
import platform
import resource
import subprocess
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gpu_status import digest
from peers import PEERS


def conditions() -> dict[str, Any]:
    """What stands at the head of a result; says so if the machine has other work."""
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"The machine is busy (load {load:.1f}): these times will not be worth keeping.")
    today = datetime.date.today().isoformat()
    known = {"date": today, "machine": description(), "digest": digest()}
    return known | {"load_at_start": load}


def timed(command: list[str]) -> tuple[dict[str, float], str]:
    """Seconds of a command by the clock and of the processor, and its standard error.

    Earlier runs have left bytecode, as an installation has it.
    """
    bytecode = {k: x for k, x in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=bytecode)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(getattr(after, x) - getattr(before, x) for x in ("ru_utime", "ru_stime"))
    return {"seconds": seconds, "cpu_seconds": used}, done.stderr


def seconds_on_device(call: Callable[[], object]) -> float:
    """Seconds of a call by the clock, until the CUDA device has done all of it."""
    synchronize = import_module("torch").cuda.synchronize
    synchronize()
    began = time.perf_counter()
    call()
    synchronize()
    return time.perf_counter() - began


def description() -> dict[str, Any]:
    packages = ["torchcent", "torch", "numpy", "scipy", *(p.distribution for p in PEERS.values())]
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "caches": _caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torchcent": import_module("torchcent").show_config().splitlines(),
        "packages": {name: found for name in packages if (found := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")


def _caches() -> dict[str, str]:
    """Sizes as Linux tells them for the first core, e.g. {"L2 Unified": "1024K"}."""
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / x).read_text().strip() for x in ("level", "type", "size"))
        caches[f"L{level} {kind}"] = size
    return caches
