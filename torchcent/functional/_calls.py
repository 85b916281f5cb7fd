"""Calls of the operators, and the checks before them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch._subclasses import FakeTensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _walks as check_walks
from torchcent.check import _weights as check_weights
from torchcent.check._run import Run, around, of_operator
from torchcent.check._values import choice, dense, number
from torchcent.functional import _operators  # noqa: F401  (registers what torch.ops has)
from torchcent.paths._variants import VARIANTS
from torchcent.walks._local import DIRECTIONS


def vertex_scores(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int,
    batch: Tensor | None, directed: bool | None, run: Run, *,
    states: Tensor | None = None, sources: Tensor | None = None, targets: Tensor | None = None,
    normalized: bool | None = None, endpoints: bool | None = None,
    wf_improved: bool | None = None, cutoff: float | None = None, disconnected: str | None = None,
    variant: str | None = None,
) -> Tensor:  # fmt: skip
    """Calls the operator for measures of shortest paths and distances."""
    engine, dtype = of_operator(run, measure, "engine", "dtype")
    if not torch.compiler.is_compiling():
        cutoff = check_cutoff.single(cutoff)
        if disconnected is not None:
            choice(disconnected, "disconnected", check.DISCONNECTED)
        if variant is not None:
            choice(variant, "variant", VARIANTS)
    flags = {"normalized": normalized, "endpoints": endpoints, "wf_improved": wf_improved}
    vertices = {"states": states, "sources": sources, "targets": targets}
    if measure == "percolation" and states is None:
        raise TypeError("states must be a number for every vertex, got None")
    check_call(edge_index, edge_weight, batch, num_nodes, directed, flags, vertices)
    with around(run):
        found: Tensor = torch.ops.torchcent.vertex_scores(
            measure, edge_index, edge_weight, batch, num_nodes, states, sources, targets, directed,
            normalized, endpoints, wf_improved, cutoff, disconnected, variant,
            dtype, engine,
        )  # fmt: skip
    return found


def arc_scores(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int,
    batch: Tensor | None, directed: bool | None, run: Run, *,
    sources: Tensor | None = None, targets: Tensor | None = None,
    personalization: Tensor | None = None, dangling: Tensor | None = None,
    beta: float | Tensor | None = None, direction: str | None = None,
    normalized: bool | None = None, alpha: float | None = None, tol: float | None = None,
    max_iter: int | None = None, whole: bool = False,
) -> Tensor:  # fmt: skip
    """Calls the operator for functions of the arcs: walks, currents, degrees and triangles.

    whole: the results are int64.
    """
    _, dtype = of_operator(run, measure, *(() if whole else ("dtype",)))
    numbers, start = (None, beta) if isinstance(beta, Tensor) else (beta, None)
    if not torch.compiler.is_compiling():
        alpha, tol = _float(alpha, "alpha"), _float(tol, "tol")
        numbers = _float(numbers, "beta")
        if max_iter is not None:
            max_iter = check_walks.iterations(max_iter)
        if direction is not None:
            choice(direction, "direction", DIRECTIONS)
    vertices = {
        "sources": sources, "targets": targets, "personalization": personalization,
        "dangling": dangling, "beta": start,
    }  # fmt: skip
    flags = {"normalized": normalized}
    check_call(edge_index, edge_weight, batch, num_nodes, directed, flags, vertices)
    with around(run):
        found: Tensor = torch.ops.torchcent.arc_scores(
            measure, edge_index, edge_weight, batch, num_nodes, sources, targets, personalization,
            dangling, start, numbers, direction, directed, normalized, alpha, tol, max_iter,
            None if whole else dtype,
        )  # fmt: skip
    return found


def _float(value: object, name: str) -> float | None:
    return None if value is None else number(value, name)


def check_call(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    directed: bool | None, flags: Mapping[str, bool | None],
    vertices: Mapping[str, Tensor | None] | None = None,
) -> None:  # fmt: skip
    """Checks what the operators' schemas would report in PyTorch's words.

    Tensors without data are accepted if all tensors are such, as when a model is traced.
    """
    if not torch.compiler.is_compiling():
        given = {"edge_index": edge_index, "edge_weight": edge_weight, "batch": batch}
        given.update(vertices or {})
        tensors: dict[str, Tensor] = {}
        for name, value in given.items():
            if isinstance(value, Tensor):
                tensors[name] = value
            elif value is not None or name == "edge_index":
                raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
        traced = all(isinstance(value, FakeTensor) or value.is_meta for value in tensors.values())
        for name, tensor in tensors.items():
            if not traced:
                dense(tensor, name)
        if edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must have shape [2, E], got {list(edge_index.shape)}")
        if not isinstance(num_nodes, torch.SymInt) and check.num_nodes(num_nodes) is None:
            raise TypeError("num_nodes must be an int, got None")
        if directed is not None:
            check.flag(directed, "directed")
        for name, flag in flags.items():
            if flag is not None:
                check.flag(flag, name)
    check_weights.no_gradient(edge_weight)
