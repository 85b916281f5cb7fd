"""Whether a hierarchy takes less time than searches, which is contracted to find out."""

from __future__ import annotations

import math

import torch

from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.reduce import _hierarchy
from torchcent.engines.reduce import _hierarchy_costs as _costs
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.runtime import _ops
from torchcent.runtime._codes import ENGINE, Launch, Rung, control


def seconds_of_searches(core: Core, sources: int, engine: str) -> float:
    """Predicted for path counts by hops on one thread; 0 for others."""
    if core.weight is not None:
        return 0.0
    return _costs.seconds_of_searches(core.num_nodes + core.num_slots, sources, engine)


def most_fill(core: Core, searches: float) -> float:
    """Arcs per edge up to which a hierarchy may take less time; see `pays`."""
    if core.weight is not None:
        return _costs.MOST_FILL[True]
    return _costs.fill_by_hops(core.num_nodes, searches)


def pays(
    core: Core, sources: int, searches: float, room: int, stress: bool,
    progress: bool | None = False,
) -> bool:  # fmt: skip
    """Whether sweeps over a hierarchy take less time than other searches.

    The core is contracted to find out, unless that would need more than `room`, the bytes besides
    graph and core. `searches` are seconds, predicted for path counts by hops, and 0 for others.
    Stress takes them in float64 in any case.
    """
    fill = min(most_fill(core, searches), _hierarchy.most_fill_within(core, room))
    # Every edge is a part of an arc.
    hierarchy = Hierarchy.of(core, fill, progress) if fill >= 1 else None
    if hierarchy is None or searches == 0:
        return hierarchy is not None and hierarchy.most_paths < _costs.MOST_PATHS
    sweeps = _seconds_by_hops(core, hierarchy, sources, stress)
    if _has_few_arcs(core, hierarchy):
        return sweeps < math.inf
    return sweeps + _costs.seconds_to_unpack(core.num_nodes) < searches


def seconds(core: Core, sources: int, threads: int) -> float:
    """Predicted for sweeps over the hierarchy of a core that count paths."""
    hierarchy = Hierarchy.of(core)
    if hierarchy is None or core.weight is not None or _has_few_arcs(core, hierarchy):
        by_hops = core.weight is None
        return _costs.seconds(core.num_nodes, sources, threads, by_hops)
    return _seconds_by_hops(core, hierarchy, sources) / max(threads, 1)


def seconds_on_road(core: Core, sources: int) -> float:
    """Predicted for sweeps on one thread over a hierarchy that may have to be made."""
    contraction = 0.0 if Hierarchy.kept(core) else _costs.seconds_to_contract(core.num_nodes)
    return contraction + _costs.seconds(core.num_nodes, sources, 1)


def _has_few_arcs(core: Core, hierarchy: Hierarchy) -> bool:
    """Whether sweeps by hops are faster in any case, unless counts exceed float64."""
    directions = 2 if hierarchy.is_directed else 1
    most = _hierarchy.most_arcs(core, _costs.MOST_FILL[False])
    return directions * hierarchy.possible <= most


def _seconds_by_hops(
    core: Core, hierarchy: Hierarchy, sources: int, in_float64: bool = False
) -> float:
    """Predicted for sweeps on one thread."""
    arcs = hierarchy.num_arcs / (2 if hierarchy.is_directed else 1)
    removed = 1 - arcs / max(hierarchy.possible, 1)
    paths = most_paths_of_pairs(core)
    return _costs.seconds_by_hops(arcs, removed, paths, sources, in_float64)


def most_paths_of_pairs(core: Core) -> float:
    """Binary logarithm of the most shortest paths by hops from two vertices far apart.

    It is told from their stress, which two searches find.
    """
    hops = core.rim[1].cpu()
    ends = torch.stack([(hops == 0).int().argmax(), hops.argmax()])
    arcs = [each.cpu() for each in (core.rowptr, core.col, core.colptr, core.row)]
    of_sources = torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64, device="cpu")
    of_targets = torch.zeros(3, core.num_nodes, dtype=torch.float64, device="cpu")
    of_targets[0] = 1
    _ops.ops.path_dependency(
        arcs, ends, *of_sources, *of_targets, control(), measure=Visitor.STRESS,
        engine=ENGINE["queue"], rung=Rung.FLOAT64, launch=Launch(1),
    )  # fmt: skip
    return float(of_targets[2].max().log2())
