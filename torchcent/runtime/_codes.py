"""What Python and the compiled libraries must agree on: codes of operators' arguments, and limits.

The compiled side is csrc/core/codes.h, which says what each means; a test compares the two.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import torch
from torch import Tensor


class Visitor(IntEnum):
    """What is made of path counts (Measure in C++)."""

    BETWEENNESS = 0
    EDGE_BETWEENNESS = 1
    STRESS = 2
    LINEAR = 3


class Rung(IntEnum):
    """Number types of path counts, each taken when the one before overflows."""

    FLOAT32 = 0
    FLOAT64 = 1
    WIDE = 2


class Strategy(IntEnum):
    """How the threads of a CUDA block are spread over a level.

    The widths of virtual warps, 4, 8, 16 and 32, have codes one after the other.
    """

    AUTO = 0
    NODE_PARALLEL = 1
    EDGE_PARALLEL = 2
    WORK_EFFICIENT = 3
    WARP_CENTRIC = 4
    COOPERATIVE = 8
    NODE_PARALLEL_WARP_CENTRIC = 10
    LOCKED = 16


#: of the engines that count paths, by hops and by weights
ENGINE = {"lanes": 0, "queue": 1, "relax": 0, "dijkstra": 1}

#: entries of the control record: see :func:`control`
CANCEL, DONE, BYTES, WORK = range(4)

#: path counts beyond it go on with an exponent of their own
LARGEST_COUNT = 1e290
#: sources that share a private sum on the CPU; of lanes and relax also those side by side
BATCH = {"lanes": 64, "queue": 16, "relax": 64, "dijkstra": 16}
#: sources side by side of the bits engine; wide from so many on, and always on CUDA
WIDE_BITS, NARROW_BITS, WIDE_BITS_FROM = 512, 64, 129
#: sources side by side of the relax engine on CUDA
RELAX_LANES_ON_CUDA = 32
#: vertices of one graph of the tiny engine, and sources side by side on the CPU
TINY_NODES, TINY_LANES = 2048, 64
#: on CUDA: slots of a hub that a warp takes, and that in graphs of many slots
CHUNK, LONG_CHUNK, MANY_SLOTS = 256, 512, 2**23
#: batches in flight of lanes and relax: slots of all together, batches; of bits: vertices, batches
BUSY_SLOTS, MOST_IN_FLIGHT = 2**26, 32
BUSY_ROWS, MOST_BITS_IN_FLIGHT = 2**22, 256

#: all of them, in the order of csrc/core/cpu/codes.cpp
ALL: dict[str, float] = {
    **{f"Visitor.{x.name}": x for x in Visitor},
    **{f"ENGINE[{name}]": code for name, code in ENGINE.items()},
    **{f"Rung.{x.name}": x for x in Rung},
    **{f"Strategy.{x.name}": x for x in Strategy},
    "entries of control": 4,
    "LARGEST_COUNT": LARGEST_COUNT,
    **{f"BATCH[{name}]": size for name, size in BATCH.items()},
    "WIDE_BITS": WIDE_BITS,
    "NARROW_BITS": NARROW_BITS,
    "WIDE_BITS_FROM": WIDE_BITS_FROM,
    "RELAX_LANES_ON_CUDA": RELAX_LANES_ON_CUDA,
    "TINY_NODES": TINY_NODES,
    "TINY_LANES": TINY_LANES,
    "CHUNK": CHUNK,
    "LONG_CHUNK": LONG_CHUNK,
    "MANY_SLOTS": MANY_SLOTS,
    "BUSY_SLOTS": BUSY_SLOTS,
    "MOST_IN_FLIGHT": MOST_IN_FLIGHT,
    "BUSY_ROWS": BUSY_ROWS,
    "MOST_BITS_IN_FLIGHT": MOST_BITS_IN_FLIGHT,
}


class Launch(NamedTuple):
    """How a run is spread over the device: `threads` of the CPU; on CUDA batches at a time
    (`flight`), sources of a batch (`lanes`), a :class:`Strategy` and blocks per multiprocessor,
    each where the engine has a choice. 0 leaves it to the engine."""

    threads: int = 0
    flight: int = 0
    lanes: int = 0
    strategy: int = 0
    blocks: int = 0


def control(room: int = 0, done: int = 0) -> Tensor:
    """The record that an operator shares with the other threads while it runs, on the host.

    Entries: CANCEL, which another thread sets to have it stop; DONE, the sources so far; BYTES, the
    memory that it may take (`room`; of one that takes part of a job -1 afterwards, if that was too
    little); WORK, the slots looked at by those that count them.
    """
    return torch.tensor([0, done, room, 0], dtype=torch.int64, device="cpu")
