"""Cutoffs in the units of the engines: hops, or multiples of the unit of the weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.engines.reduce import _hops
from torchcent.engines.reduce._core import Core
from torchcent.graph import Graph
from torchcent.graph._weights import Scale
from torchcent.runtime import _ops
from torchcent.runtime._codes import ENGINE, Launch, control

_SAMPLE = 8  # sources from which vertices within a cutoff are counted
_LARGEST = 2**31 - 2  # of int32 distances; one more stands for unreached vertices
# Beyond the rounding of any sum of 2^12 floats. Without it, a path as long as the cutoff would be
# within or beyond by the order in which an engine adds its arcs, and in one direction only.
_ROUNDED = 1 + 2.0**-40


def limits(graph: Graph, cutoffs: tuple[float, ...]) -> Tensor:
    """The largest distance within each cutoff: int64 [k] in hops, or in the type of the weights.

    They are on the CPU, where those who search compare them with distances.
    """
    if not graph.is_weighted:
        most = graph.num_nodes
        hops = [math.floor(min(each, most)) for each in cutoffs]
        return torch.tensor(hops, dtype=torch.int64, device="cpu")
    units = [_units(each, graph.scale) for each in cutoffs]
    if graph.scale.dtype == torch.int32:
        whole = [math.floor(min(each, _LARGEST)) for each in units]
        return torch.tensor(whole, dtype=torch.int32, device="cpu")
    return torch.tensor(units, dtype=torch.float64, device="cpu")


def _units(cutoff: float, scale: Scale) -> float:
    """A length in units. Of decimal weights, a cutoff with as many digits is that decimal, and in
    fixed point it is rounded as weights are. Where sums are rounded, it is a little larger."""
    units = cutoff * scale.per_one
    if not math.isfinite(units):
        return units
    if not scale.rounds:
        return units if scale.exact else units * _ROUNDED
    whole = float(round(units))
    close = scale.multiples and math.isclose(units, whole, rel_tol=2.0**-50)
    return whole if close or scale.bits is not None or whole / scale.per_one == cutoff else units


def share(core: Core, limit: Tensor) -> float:
    """The share of the vertices from which a search continues, by those of some sources."""
    if not core.num_nodes:
        return 1.0
    starts = torch.linspace(0, core.num_nodes - 1, _SAMPLE, device="cpu").long()
    if core.weight is None:
        lengths = torch.stack([_hops.hops(core.rowptr, core.col, each) for each in starts.tolist()])
    else:
        starts = starts.to(core.weight.device)
        lengths = core.weight.new_empty((_SAMPLE, core.num_nodes))
        arcs = core.rowptr, core.col, core.weight, core.colptr, core.row, core.back_weight
        launch = Launch(torch.get_num_threads())
        engine, most = ENGINE["dijkstra"], limit.reshape(1)
        _ops.ops.weighted_distances(arcs, starts, lengths, control(), engine, launch, most)
    return float(((lengths >= 0) & (lengths < limit.item())).double().mean())
