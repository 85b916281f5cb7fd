"""Path counting of graphs on CUDA that takes less time on the host, by a hierarchy.

The sweeps that count paths have no kernels on CUDA. A thread takes a small part of the time of a
search there for each source, so that a few threads overtake the device on road networks.
"""

from __future__ import annotations

import torch

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _choice, _plan
from torchcent.engines.plan._plan import Plan
from torchcent.engines.plan._preparation import Preparation
from torchcent.engines.reduce import _hierarchy_costs, _reduce
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.graph import Graph

_HOST = torch.device("cpu")
#: threads that the choice assumes, so that bits do not depend on those of this machine
THREADS = 8


def chosen(graph: Graph, request: Request) -> tuple[Graph, Request] | None:
    """The copy of a graph on CUDA on the host and the request for it, if paths are to be counted
    there.

    `auto` does so whatever the number of devices, which it leaves idle, so that the bits of a
    result do not depend on them. It stays on the device where a ledger keeps units or several ranks
    compute them.
    """
    if not is_on_cuda(graph) or KERNELS[request.measure].family != "paths":
        return None
    scale = request.scale
    if request.engine == "hierarchy" and (scale is None or not scale.is_spread):
        return _copied(graph, request)
    in_units = scale is not None and (scale.keeps or scale.group is not None)
    if request.engine != "auto" or in_units or not _is_faster(graph, request):
        return None
    there, host_request = _copied(graph, request)
    try:
        plan, _ = _plan.plan(there, host_request)
    except MemoryError:
        return None
    return (there, host_request) if plan.engine == "hierarchy" else None


def in_words(plan: Plan) -> str:
    """The reason of a plan for the host."""
    return f"{plan.reason}; on the host, where it takes less time than searches on the device"


def is_on_cuda(graph: Graph) -> bool:
    return graph.device.type == "cuda"


def _is_faster(graph: Graph, request: Request) -> bool:
    """Whether the host is likely to take less time, if it finds a hierarchy that pays."""
    measure, num_sources = KERNELS[request.measure], request.num_sources
    if _choice.without_hierarchy(graph, measure, request, _HOST):
        return False
    by_hops = not graph.is_weighted
    sources = graph.num_nodes if num_sources is None else num_sources
    if sources < _choice.FEW_SOURCES:
        return False

    def saves(nodes: int, slots: int, sources: int, contracted: bool) -> bool:
        there = _hierarchy_costs.seconds(nodes, sources, THREADS, by_hops)
        if not contracted:
            there += _hierarchy_costs.seconds_to_contract(nodes)
        return there < _hierarchy_costs.seconds_of_searches_on_cuda(slots, sources, by_hops)

    if not saves(graph.num_nodes, graph.num_slots, sources, contracted=True):
        return False
    cores = Preparation(graph, measure, request.memory, num_sources)
    fold = _choice.folding(graph, measure, request, num_sources)
    core = cores.core("degree", fold, searched=False)
    if core.num_slots > _hierarchy_costs.MOST_SLOTS_FOR_HOST * core.num_nodes:
        return False
    if not _choice.too_deep_for_lanes(core):
        return False
    there = Graph._on_host.get(graph)
    core_there = None if there is None else _reduce.cores(there).get(("degree", fold, 0))
    has_hierarchy = core_there is not None and Hierarchy.kept(core_there) is not None
    return saves(core.num_nodes, core.num_slots, min(sources, core.searched), has_hierarchy)


def _copied(graph: Graph, request: Request) -> tuple[Graph, Request]:
    """Both on the host, where no other devices compute."""
    sources, targets = (None if x is None else x.cpu() for x in (request.sources, request.targets))
    scale = request.scale
    if scale is not None and not scale.keeps and scale.group is None:
        scale = None
    return graph._on_host, request._replace(sources=sources, targets=targets, scale=scale)
