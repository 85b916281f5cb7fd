"""The request: the validated arguments of a call, in one record that is passed down."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import Engine
from torchcent.distribute._arguments import Scale
from torchcent.engines.measures._kernels import KERNELS
from torchcent.graph import Graph


class Request(NamedTuple):
    """The validated arguments. Vertex ids are those of the graph, or of the union of a batch.

    Attributes:
        measure: name of the kernel (`_kernels.py`).
        engine: as requested, or as implied by a strategy.
        strategy: a code (`_codes.Strategy`).
        sources, targets: where paths that count begin and end: vertices, or float64 [n] with the
            weight of every vertex; None for all.
        memory: bytes that are allowed; None for half of the free memory.
        dtype: of the result.
        cutoffs: pairs farther apart do not count; with scores for each, distinct and ascending.
            None: all count.
        reduce: the reductions to apply (`check.REDUCTIONS`); None for all that pay.
        scale: where units of work are kept; None for nowhere (distribute/).
        blocked: whether this is the search of blocks of a larger graph (_blocks.py), to which no
            further reductions but twins and chains apply.
        through: whether paths count by weights of the vertices that they pass, too
            (_block_paths.py), which a hierarchy does not know.
    """

    measure: str
    engine: str = "auto"
    strategy: int = 0
    sources: Tensor | None = None
    targets: Tensor | None = None
    endpoints: bool = False
    normalized: bool = False
    memory: int | None = None
    progress: bool | None = None
    dtype: torch.dtype = torch.float64
    cutoffs: tuple[float, ...] | None = None
    reduce: frozenset[str] | None = None
    blocked: bool = False
    through: bool = False
    scale: Scale | None = None

    def begin(self, graph: Graph) -> None:
        """Opens the ledger of this request, if one was asked for.

        Raises:
            ValueError: it is that of another run; the message names what differs.
        """
        if self.scale is not None:
            self.scale.begin(graph, self._key)

    @property
    def _key(self) -> dict[str, object]:
        """What the sums depend on, by the names of the arguments."""
        starts = KERNELS[self.measure].weighted_by or "sources"
        ends = {starts: self.sources, "targets": self.targets}
        fields = ("measure", "engine", "strategy", "endpoints")
        reduce = "auto" if self.reduce is None else sorted(self.reduce)
        cutoff = list(self.cutoffs or (None,))
        own = {name: getattr(self, name) for name in fields}
        return own | ends | {"cutoff": cutoff if len(cutoff) > 1 else cutoff[0], "reduce": reduce}

    def may(self, reduction: str) -> bool:
        """Returns whether a reduction is allowed.

        Those of path counts count some pairs in closed form, whatever their distance. The engine
        "reference" searches graphs as they are.
        """
        if self.cutoffs is not None or self.engine == "reference":
            return False
        if self.blocked and reduction not in ("twins", "chains"):
            return False
        return self.reduce is None or reduction in self.reduce

    @property
    def tiny(self) -> str:
        """The engine, as far as the tiny engine is concerned, which knows no cutoffs."""
        column = self.cutoffs is None and KERNELS[self.measure].tiny
        return self.engine if column else "tensor"

    @property
    def num_sources(self) -> int | None:
        """The number of vertices to search from; None for all."""
        if self.sources is None:
            return None
        weighted = self.sources.is_floating_point()
        return int(torch.count_nonzero(self.sources)) if weighted else self.sources.numel()


def weights(graph: Graph, chosen: Tensor | None) -> Tensor:
    """float64 [n]: the given weights, or 1 for chosen vertices and 0 for all others.

    If all are chosen, it is `graph._ones`, for which sums are kept (_fold.py).
    """
    if chosen is None:
        return graph._ones
    if chosen.is_floating_point():
        return chosen
    counts = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    return counts.index_fill_(0, chosen, 1)


def engine_and_strategy(graph: Graph, engine: Engine) -> tuple[str, int]:
    """The name of the engine, which a strategy may determine, and the code of the strategy."""
    name = check_weights.engine(engine.name, graph, check.ENGINES)
    code = check.strategy(engine.strategy, engine.warp_size, name, graph)
    if code:
        name = "dijkstra" if graph.is_weighted else "queue"
    return name, code
