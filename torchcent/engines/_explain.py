"""explain: how a measure would run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _weights as check_weights
from torchcent.engines import _batch_plan, _measures
from torchcent.engines._plan import Plan
from torchcent.engines._request import Request, engine_and_strategy
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _host, _memory


@_memory.reported
@_host.searched
def explain(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    measure: str = "betweenness",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    tie_tolerance: float = 0.0,
    ties: str = "decimal",
    engine: str = "auto",
    strategy: str = "auto",
    warp_size: int = 32,
    reduce: str | Sequence[str] = "auto",
    cutoff: float | Sequence[float] | Tensor | None = None,
    memory: int | None = None,
) -> Plan:
    """Reports how a measure would run: engine and reason, lanes, threads, memory, device.

    `measure` is the name of any measure that searches from all vertices or from pivots. For a
    batch, the plan covers all its graphs, and `graphs` lists how many use which engine. `strategy`,
    `warp_size`, `reduce`, `tie_tolerance` and `ties` are for measures that count paths only. The
    function raises the errors that the measure itself would raise before it starts.

    Deprecated since 0.2: the measure as the second positional argument, which is now `edge_weight`,
    as in all other functions. The name of a measure is still accepted there, with a warning.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
        >>> torchcent.explain(star, measure="stress", directed=False).engine
        'tiny'
        >>> torchcent.explain(torchcent.generate.ba(2000, 5)).engine
        'lanes'
    """
    known = _measures.names("paths") + _measures.names("distances")
    if isinstance(edge_weight, str) and edge_weight in known:
        warnings.warn(
            f"explain(graph, {edge_weight!r}) is deprecated: pass measure={edge_weight!r}",
            DeprecationWarning,
            stacklevel=3,
        )
        edge_weight, measure = None, edge_weight
    check.choice(measure, "measure", known)
    distances = _measures.MEASURES[measure].family == "distances"
    graph = as_graph(
        edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory,
        ties=None if distances and ties == "decimal" else ties, tie_tolerance=tie_tolerance,
    )  # fmt: skip
    if distances:
        check_weights.engine(engine, graph, check.DISTANCE_ENGINES)
        if strategy != "auto":
            raise ValueError(f"strategy={strategy!r} is not for {measure}; leave strategy='auto'")
        code = 0
    else:
        engine, code = engine_and_strategy(graph, (engine, strategy, warp_size), tie_tolerance)
    limits = check_cutoff.cutoffs(cutoff, engine)
    pivots = check.sources(sources, graph, None)
    request = Request(
        measure, engine, code, pivots, tie_tolerance=check_weights.tie_tolerance(tie_tolerance),
        memory=check.byte_budget(memory),
        cutoffs=None if limits is None else limits.lengths, reduce=check.reductions(reduce),
    )  # fmt: skip

    return _batch_plan.explained(graph, request)
