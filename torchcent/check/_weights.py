"""Errors about weights; _common.py has those of all other arguments."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from torchcent.check._graph import Checked
from torchcent.check._values import choice, dense, shortened, within, wrong_type

ENGINES = ("auto", "relax", "dijkstra", "hierarchy", "tensor", "tiny", "reference")
ROW_ENGINES = ("auto", "relax", "dijkstra", "hierarchy", "tensor")
HOP_ENGINES = ("lanes", "queue", "bits")
_NUMBERS = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32,
)  # fmt: skip
_EXACT = 2**53  # integers up to this are exact in float64
_LARGEST_SUM = 2.0**1023  # of distances between all pairs: at most n^3 weights


def edge_weight(
    value: object, index: Tensor, num_nodes: int, for_all: bool = False
) -> Tensor | None:
    """float64 [E], or None: a distance per column of the edge_index.

    `for_all`: of a Graph, which is for measures of distances and of strengths.
    """
    if value is None:
        return None
    weight, largest = distances(_per_column(value, index), for_all=for_all)
    summable(largest, num_nodes)
    return weight


def summable(largest: float, num_nodes: int) -> None:
    """Checks that sums of distances between all pairs stay within float64."""
    if largest >= _LARGEST_SUM / max(num_nodes, 1) ** 3:
        raise ValueError(
            f"edge_weight goes up to {largest:g}, and sums of distances between {num_nodes} "
            "vertices may be beyond float64; divide all weights by a constant"
        )


def similarities(value: object, index: Tensor) -> Tensor | None:
    """float64 [E], or None: a similarity per column of the edge_index; 0 means no arc.

    Negative ones become 0, with a warning.
    """
    if value is None:
        return None
    weight = _finite(value, index, "for mcl weights are similarities")
    if _ends(weight)[0] < 0:
        warn_of_negative(int((weight < 0).sum()), stacklevel=7)
        weight.clamp_(min=0)
    return weight


def strengths(
    value: object, index: Tensor, what: str = "strengths",
    edge_name: Callable[[int], str] | None = None,
) -> Tensor:  # fmt: skip
    """float64 [E]: a strength, or conductance, per column of the edge_index; 0 means no arc.

    `edge_name` is that of :func:`distances`.
    """
    weight = _finite(value, index, f"weights are {what} here", 0.0, edge_name)
    if not math.isfinite(float(weight.sum())):
        raise ValueError(
            f"the sum of edge_weight is beyond float64, and {what} add up; divide all by a constant"
        )
    return weight


def normal(least: float, what: str) -> None:
    """Checks that reciprocals of strengths are within float64."""
    if least < torch.finfo(torch.float64).tiny:
        raise ValueError(
            f"the least edge_weight above 0 is {least:g}; weights are {what} here, and accepted "
            "are 0 and numbers from 2.3e-308 on; multiply all by a constant"
        )


def _finite(
    value: object, index: Tensor, start: str, least: float = -math.inf,
    edge_name: Callable[[int], str] | None = None,
) -> Tensor:  # fmt: skip
    """A copy in float64, of finite weights that are at least `least`."""
    weight = _per_column(value, index).to(torch.float64, copy=True)
    low, high = _ends(weight)
    if not (low > -math.inf and low >= least and high < math.inf):
        column = int((~(torch.isfinite(weight) & (weight >= least))).int().argmax())
        name = "" if edge_name is None else f", of {edge_name(column)},"
        raise ValueError(
            f"edge_weight[{column}]{name} is {float(weight[column]):g}; {start} and must be finite "
            "and >= 0 (0 is no arc)"
        )
    return weight


def warn_of_negative(count: int, stacklevel: int) -> None:
    """Warns that similarities are no arcs."""
    edges = f"{count:,} edge{'s' * (count != 1)}"
    warnings.warn(
        f"{edges} whose similarity is negative {'is' if count == 1 else 'are'} left out",
        stacklevel=stacklevel,
    )


def _ends(weight: Tensor) -> tuple[float, float]:
    """The smallest and the largest weight, NaN if there is one; 1 and 1 if there are none."""
    if weight.numel() == 0:
        return 1.0, 1.0
    low, high = torch.stack(torch.aminmax(weight)).tolist()
    return low, high


def _per_column(value: object, index: Tensor) -> Tensor:
    """One number per column of the edge_index, in the given dtype."""
    if not isinstance(value, Tensor):
        raise wrong_type("edge_weight", "a torch.Tensor [E]", type(value))
    dense(value, "edge_weight")
    columns = index.shape[1]
    if value.shape != (columns,):
        hint = ""
        if value.numel() == columns and value.dim() > 1:
            hint = "; edge_weight.flatten() has the right shape"
        raise ValueError(
            f"edge_weight must have shape [{columns}], one for each column of edge_index, got "
            f"{list(value.shape)}{hint}"
        )
    if value.dtype not in _NUMBERS:
        raise TypeError(f"edge_weight must be floating-point or integer, got {value.dtype}")
    if value.device != index.device:
        raise ValueError(f"edge_weight is on {value.device}, but edge_index is on {index.device}")
    no_gradient(value)
    return value.detach()


def distances(
    value: Tensor, edge_name: Callable[[int], str] | None = None, *, for_all: bool = False
) -> tuple[Tensor, float]:
    """A private copy in float64, and its largest value (0 if empty).

    Raises a ValueError about the first column that is not a distance. `edge_name`, if given, names
    the edge of a column. `for_all`: see :func:`edge_weight`.
    """
    inexact = None
    if value.itemsize == 8 and not value.is_floating_point():
        value = value.clone()
        inexact = value > _EXACT
    weight = value.to(torch.float64, copy=True)
    low, high = _ends(weight)
    if low > 0 and high < math.inf and (inexact is None or high < _EXACT or not inexact.any()):
        return weight, high if weight.numel() else 0.0
    wrong = ~(torch.isfinite(weight) & (weight > 0))
    if inexact is None:
        value = weight
    else:
        wrong |= inexact
    column = int(wrong.int().argmax())
    length = value[column].item()
    text = f"{length:g}" if isinstance(length, float) else str(length)
    name = "" if edge_name is None else f", of {edge_name(column)},"
    start = f"edge_weight[{column}]{name} is {text}"
    if length == 0:
        raise ValueError(
            f"{start}; weights are distances and must be > 0: contract vertices at the same place, "
            "or give such edges a small distance instead, such as "
            "edge_weight.clamp(min=1e-6)"
            + ("; if weights are strengths, 0 is no arc: leave these out" if for_all else "")
        )
    if length > _EXACT and isinstance(length, int):
        raise ValueError(f"{start}; integers beyond 2^53 are not exact: divide, or pass float64")
    raise ValueError(f"{start}; weights are distances and must be finite and > 0")


def networkx_weights(values: list[Any], edges: Iterable[tuple[Any, ...]], name: str) -> Tensor:
    """float64 [E] from the weights of all edges."""
    if all(type(weight) is float for weight in values):
        return torch.tensor(values, dtype=torch.float64, device="cpu")
    numbers = []
    for weight, (u, v) in zip(values, edges, strict=True):
        if isinstance(weight, int) and abs(weight) > _EXACT:
            raise ValueError(
                f"edge_weight={name!r}: edge ({u!r}, {v!r}) has {weight}; integers beyond 2^53 are "
                "not exact: divide, or use float"
            )
        try:
            numbers.append(float(weight))
        except (TypeError, ValueError):
            raise TypeError(
                f"edge_weight={name!r}: edge ({u!r}, {v!r}) has {weight!r}, which is not a number"
            ) from None
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


def data_weight(data: Any, index: Any, known: str = "") -> Tensor:
    """``edge_weight`` of a PyG Data, or the value of an EdgeIndex; `known` are its attributes."""
    weight = getattr(data, "edge_weight", None)
    if weight is None:  # an EdgeIndex may carry values
        weight = getattr(index, "_value", None)
    if weight is None:
        hint = f"; attributes of its edges: {known}" if known else ""
        raise ValueError(
            f"edge_weight=True, but data has no edge_weight and its edge_index no value{hint}"
        )
    weights: Tensor = weight
    return weights


def no_weight(graph: Checked, what: str) -> None:
    if graph.is_weighted:
        raise ValueError(f"{what} counts hops, but the Graph has weights; pass graph.unweighted()")


def engine(
    value: object, graph: Checked, for_hops: tuple[str, ...], for_weights: tuple[str, ...] = ENGINES
) -> str:
    """Checks for an engine that suits this graph, with or without weights."""
    engines = for_weights if graph.is_weighted else for_hops
    if not isinstance(value, str):
        raise ValueError(f"engine must be one of {', '.join(engines)}; got {shortened(value)}")
    if value in engines:
        return value
    if graph.is_weighted and value in HOP_ENGINES:
        raise ValueError(
            f"engine={value!r} counts hops, but there are weights; accepted: {', '.join(engines)}, "
            "or a graph without weights (Graph.unweighted())"
        )
    if value in ENGINES and value not in ("tiny", "hierarchy", "reference"):
        raise ValueError(
            f"engine={value!r} is for weighted graphs, and there are no weights; accepted: "
            f"{', '.join(engines)}, or pass edge_weight"
        )
    raise ValueError(f"engine must be one of {', '.join(engines)}; got {shortened(value)}")


def ties(value: object, tolerance: object) -> tuple[str, float]:
    """The rule of which paths are equally short."""
    return (
        choice(value, "ties", ("decimal", "float")), within(tolerance, "tie_tolerance", "[0, 1)"),
    )  # fmt: skip


def resolvable(smallest: float, longest: float) -> None:
    """Checks that every arc lengthens every path.

    An arc that is lost to rounding has no direction, and shortest paths could contain cycles.
    """
    if smallest <= math.ulp(longest) / 2:
        raise ValueError(
            f"edge_weight goes down to {smallest:g}, which vanishes beside distances of up to "
            f"{longest:g} in float64, so that shortest paths cannot be counted; raise the smallest "
            "weights or contract their edges"
        )


def whole_weights(graph: Checked, measure: str) -> None:
    if graph.is_weighted and not graph.scale.whole:
        raise ValueError(
            f"{measure} counts pairs at whole distances, and the weights are not whole numbers, or "
            "paths may be 2^53 or longer, where sums are rounded; "
            "round them to multiples of a unit, (edge_weight / unit).round().clamp(min=1), use "
            "shortest_path_lengths(..., blocks=True), or graph.unweighted()"
        )


NO_GRADIENT = (
    "no gradient flows through centralities, which are not a differentiable function of the "
    "weights; pass edge_weight.detach()"
)


def no_gradient(value: Tensor | None) -> None:
    """Refuses weights that require grad: in a model, a missing gradient would go unnoticed."""
    if value is not None and value.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"edge_weight requires grad, but {NO_GRADIENT}")
