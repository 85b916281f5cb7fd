"""What was measured about each engine, in one table; benchmarks/tuned.py measures it again."""

from __future__ import annotations

from dataclasses import dataclass

from torchcent.runtime._codes import BATCH, WIDE_BITS


@dataclass(frozen=True)
class Tuned:
    """Numbers of one engine, for work that is counted in sources x slots.

    Attributes:
        rate: work per second, of a thread of the CPU on the slowest graphs.
        rate_on_cuda: the same of a device.
        unit: the least work of a unit on the CPU, about a second on two threads (docs/scale.md).
        sources_on_cuda: the least sources of a unit on CUDA, which keep a large device busy; down
            to a quarter of them where there would be fewer than eight units.
        batch: sources per batch. (On CUDA lanes may be 128.)
        inline: work below which a thread and a progress bar do not pay off on the CPU: about a
            tenth of a second.
        inline_on_cuda: the same on CUDA, where the first call of a thread costs 0.7 ms.
    """

    rate: float
    rate_on_cuda: float
    unit: float
    sources_on_cuda: int = 1024
    batch: int = 1
    inline: float = 2e7
    inline_on_cuda: float = 1e9


TUNED: dict[str, Tuned] = {
    "lanes": Tuned(1.5e9, 8e10, 5e9, 256, BATCH["lanes"], inline_on_cuda=2e10),
    "queue": Tuned(1e8, 2.5e10, 5e8, 1024, BATCH["queue"]),
    "relax": Tuned(1.5e8, 6e10, 2e9, 256, BATCH["relax"]),
    "dijkstra": Tuned(4e7, 2.5e9, 2e8, 2048, BATCH["dijkstra"]),
    "chains": Tuned(4e7, 2.5e9, 5e8, 2048, 64),
    "hierarchy": Tuned(1.5e10, 1.5e10, 5e10, 1024, 1024, inline=5e8),
    "bits": Tuned(1e10, 1e11, 2e10, 512, WIDE_BITS, inline=1e8),
    "tensor": Tuned(5e6, 1e8, 1e8, 64),
    "tiny": Tuned(5e8, 1e10, 1e9),
    "closure": Tuned(1e10, 1e10, 2e10, inline=2e8),
    "diffusion": Tuned(1e8, 5e9, 4e8),
    "walks": Tuned(2e9, 2e9, 4e9, inline=2e8),
    "reference": Tuned(4e7, 4e7, 5e7),
}
