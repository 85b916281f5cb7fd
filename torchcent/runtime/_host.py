"""Where graphs on CUDA are searched if the CUDA kernels are not installed: on the host.

PyTorch's operators alone need ten to a hundred times as long there as the compiled kernels on the
CPU.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from torchcent.runtime import _ops

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def without_kernels(device: torch.device | None = None) -> bool:
    """Whether this device, or any, is one of CUDA and only the host has compiled kernels."""
    on_cuda = torch.cuda.is_available() if device is None else device.type == "cuda"
    return on_cuda and _ops.available and not _ops.cuda


def how_to_install() -> str:
    """How to get the CUDA kernels for this PyTorch."""
    version = torch.version.cuda or "13.0"
    return (
        f"install the wheel torchcent-cu{version.split('.')[0]} of this version of torchcent, or "
        f"build torchcent where nvcc of CUDA {version} is installed: `TORCHCENT_CUDA=1 pip install "
        "--no-build-isolation --force-reinstall --no-deps .` in a checkout; no GPU is needed there"
    )


def is_elsewhere(
    arguments: tuple[Any, ...], options: dict[str, Any], engine: str, devices: object
) -> bool:
    """Whether a function runs on the host, for a graph on CUDA without CUDA kernels.

    A run that names an engine or devices stays where it is.
    """
    if _ops.cuda:
        return False
    device = _device_of(arguments[0] if arguments else options.get("edge_index"))
    if device is None or not without_kernels(device):
        return False
    return engine == "auto" and devices is None


def run(
    function: Callable[..., _Result], arguments: tuple[Any, ...], options: dict[str, Any]
) -> _Result:
    """Copies the graph and all other tensors to the host, and the results back."""
    device = _device_of(arguments[0] if arguments else options["edge_index"])
    assert device is not None
    _warn_once()
    originals: dict[int, Any] = {}
    copied = [_to_host(x, originals) for x in arguments]
    keywords = {name: _to_host(x, originals) for name, x in options.items()}
    result: Any = function(*copied, **keywords)
    out = options.get("out")
    if isinstance(out, Tensor):
        return out.copy_(result)  # type: ignore[return-value]
    return _back(result, device, originals)  # type: ignore[no-any-return]


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "torchcent's CUDA kernels are not installed: graphs on CUDA are copied to the host and "
        f"searched there. To have them searched on the device, {how_to_install()}. "
        "Run(engine='tensor') uses PyTorch's operators there instead, which are far slower.",
        RuntimeWarning,
        stacklevel=4,
    )


def _device_of(graph: Any) -> torch.device | None:
    """The device of a tensor, a Graph or an object of PyTorch Geometric; None if it has none."""
    device = getattr(graph, "device", None)
    if device is None:
        device = getattr(getattr(graph, "edge_index", None), "device", None)
    return device if isinstance(device, torch.device) else None


def _to_host(value: Any, originals: dict[int, Any]) -> Any:
    """The value with its tensors on the host. `originals` leads from copies to what was given."""
    if isinstance(value, Tensor):
        return value.cpu()
    if isinstance(value, tuple | list) and any(isinstance(x, Tensor) for x in value):
        return type(value)(_to_host(x, originals) for x in value)
    if _device_of(value) is None or not hasattr(value, "to"):
        return value
    if not hasattr(value, "rowptr"):  # no Graph: `to` of these may change the object itself
        return copy.copy(value).to("cpu")
    there = value._on_host
    originals[id(there)] = value
    return there


def _back(result: Any, device: torch.device, originals: dict[int, Any]) -> Any:
    """The result on the device of the graph."""
    if id(result) in originals:
        return originals[id(result)]
    if isinstance(result, Tensor):
        return result.to(device)
    if isinstance(result, tuple):
        parts = [_back(part, device, originals) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if isinstance(result, list):
        return [_back(part, device, originals) for part in result]
    if isinstance(result, Iterator):
        return (_back(part, device, originals) for part in result)
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        moved = copy.copy(result)
        for field in dataclasses.fields(result):
            part = getattr(result, field.name)
            if isinstance(part, Tensor | tuple) or hasattr(part, "rowptr"):
                object.__setattr__(moved, field.name, _back(part, device, originals))
        return moved
    if hasattr(result, "rowptr"):  # a Graph
        return result.to(device)
    return result
