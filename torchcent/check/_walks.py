"""Errors about the arguments of walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchcent.check._common import per_vertex, positive
from torchcent.check._values import dense, number, shortened

if TYPE_CHECKING:
    from torchcent.graph import Graph

MOST_ITERATIONS = 10**6


def damping(value: object) -> float:
    alpha = number(value, "alpha", " in [0, 1)")
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha must be in [0, 1), got {shortened(value)}")
    return alpha


def attenuation(value: object) -> float:
    alpha = number(value, "alpha")
    if not 0 < alpha < float("inf"):
        raise ValueError(f"alpha must be finite and > 0, got {shortened(value)}")
    return alpha


def tolerance(value: object) -> float:
    tol = number(value, "tol", " in (0, 1)")
    if not 0 < tol < 1:
        raise ValueError(f"tol must be in (0, 1), got {shortened(value)}")
    return tol


def iterations(value: object) -> int:
    count = positive(value, "max_iter")
    if count is None:
        raise TypeError("max_iter must be an int, got None")
    if count > MOST_ITERATIONS:
        raise ValueError(f"max_iter must be at most {MOST_ITERATIONS:,}, got {shortened(count)}")
    return count


def masses(value: object, name: str, graph: Graph) -> Tensor:
    """Finite numbers >= 0, one or k per vertex: float64 [n] or [n, k] on the graph's device."""
    if isinstance(value, Tensor):
        dense(value, name)
    if not isinstance(value, Tensor) or value.dim() != 2:
        return per_vertex(value, name, graph)
    if value.device != graph.device and value.device.type != "cpu":
        raise ValueError(f"{name} is on {value.device}, but the graph is on {graph.device}")
    if value.is_complex():
        raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
    if value.shape[0] != graph.num_nodes:
        raise ValueError(
            f"{name} must have shape [{graph.num_nodes}] or [{graph.num_nodes}, k], got "
            f"{list(value.shape)}"
        )
    numbers = value.detach().to(device=graph.device, dtype=torch.float64, copy=True)
    wrong = torch.nonzero(~(torch.isfinite(numbers) & (numbers >= 0)))[:1].tolist()
    if wrong:
        row, column = wrong[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {float(numbers[row, column]):g}; accepted: finite and >= 0"
        )
    if not torch.isfinite(numbers.sum(0)).all():
        raise ValueError(f"the sum of {name} is beyond float64; divide them by their largest")
    return numbers
