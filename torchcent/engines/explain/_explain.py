"""explain: how a measure would run."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, PATHS, Run, computes
from torchcent.engines.explain import _batch_plan
from torchcent.engines.measures import _kernels
from torchcent.engines.measures._request import Request, engine_and_strategy
from torchcent.engines.plan._plan import Plan
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


@computes(*PATHS, searches=True)
def explain(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    measure: str = "betweenness",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    cutoff: float | Sequence[float] | Tensor | None = None,
    run: Run = DEFAULT,
) -> Plan:
    """Reports how a measure would run: engine and reason, lanes, threads, memory, device.

    `measure` is the name of any measure that searches from all vertices or from pivots. For a
    batch, the plan covers all its graphs, and `graphs` lists how many use which engine. Strategies
    and reductions are for measures that count paths only. The function raises the errors that the
    measure itself would raise before it starts.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
        >>> torchcent.explain(star, measure="stress", directed=False).engine
        'tiny'
        >>> torchcent.explain(torchcent.generate.ba(2000, 5)).engine
        'lanes'
    """
    measures = _kernels.names("paths") + _kernels.names("distances")
    check.choice(measure, "measure", measures)
    distances = _kernels.KERNELS[measure].family == "distances"
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=not distances)
    if distances:
        engine, code = check_weights.engine(run.engine.name, graph, check.DISTANCE_ENGINES), 0
        if run.engine.strategy != "auto":
            raise ValueError(
                f"strategy={run.engine.strategy!r} is not for {measure}; leave "
                "Engine(strategy='auto')"
            )
    else:
        engine, code = engine_and_strategy(graph, run.engine)
    limits = check_cutoff.cutoffs(cutoff, engine)
    pivots = check.sources(sources, graph, None)
    request = Request(
        measure,
        engine,
        code,
        pivots,
        memory=run.memory,
        cutoffs=None if limits is None else limits.lengths,
        reduce=run.reduce,
    )

    return _batch_plan.explained(graph, request)
