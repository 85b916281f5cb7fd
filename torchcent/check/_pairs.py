"""Argument errors about results for pairs of vertices: all-pairs distances, reachability."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import Tensor

from torchcent.check._common import DISTANCE_DTYPES, ids_within, vertex_ids, vertices
from torchcent.check._graph import Checked
from torchcent.check._values import beside, dense, shortened, wrong_type, wrong_value

#: of distances with weights
DTYPES = (*DISTANCE_DTYPES, torch.float32, torch.float64)


def vertex_pairs(
    u: object, v: object, size: int, device: torch.device, names: tuple[str, str] = ("u", "v")
) -> tuple[Tensor, Tensor]:
    """Vertices u and v as int64 tensors of broadcastable shapes; repetitions are allowed."""
    pair = []
    for name, value in zip(names, (u, v), strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, Tensor)):
            kind = type(value).__name__
            raise TypeError(f"{name} must be a vertex or a tensor of vertices, got {kind}")
        if isinstance(value, int) and not 0 <= value < size:
            text = shortened(value)
            raise ValueError(f"{name} is vertex {text}, but ids must be in [0, {size})")
        given = value if isinstance(value, Tensor) else torch.tensor(value, device="cpu")
        dense(given, name)
        ids = vertex_ids(given, name, device)
        if ids.numel():
            low, high = (int(x) for x in torch.aminmax(ids))
            ids_within(low, high, size, name)
        pair.append(ids)
    try:
        torch.broadcast_shapes(pair[0].shape, pair[1].shape)
    except RuntimeError:
        raise ValueError(
            f"u and v must have shapes that broadcast, got {list(pair[0].shape)} "
            f"and {list(pair[1].shape)}"
        ) from None
    return pair[0], pair[1]


def named_sources(value: object, graph: Checked) -> Tensor | None:
    """None for all vertices, or a tensor of distinct ones."""
    if isinstance(value, int):
        raise TypeError(
            f"sources must be None or a tensor of vertex ids, got {shortened(value)}; "
            "for one vertex pass a tensor of one"
        )
    return None if value is None else vertices(value, "sources", graph)


def distance_dtype(value: object, out: object, graph: Checked) -> torch.dtype | None:
    """The dtype of distances, which may be given by the tensor to fill; None for the narrowest."""
    known = DTYPES if graph.is_weighted else DISTANCE_DTYPES
    if isinstance(value, str) and value == "auto":
        if not graph.is_weighted:
            return None
        whole = graph.scale.whole and graph.scale.dtype == torch.int32
        value = torch.int32 if whole else torch.float64
        if isinstance(out, Tensor) and out.dtype in known:
            value = out.dtype
    if not isinstance(value, torch.dtype) or value not in known:
        *first, last = map(str, known)
        what = "dtype of weighted distances" if graph.is_weighted else "dtype"
        raise wrong_type(what, f"'auto', {', '.join(first)} or {last}", value)
    if graph.is_weighted and not value.is_floating_point and not graph.scale.whole:
        raise ValueError(
            f"dtype={value} holds whole numbers, and the weights are not whole; use 'auto', "
            "torch.float64 or torch.float32"
        )
    return value


def distance_out(
    value: object, shape: tuple[int, int], dtype: torch.dtype | None, graph: Checked
) -> Tensor | Path | None:
    """Where distances are written: .npy or .zarr in an existing folder, or a tensor."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        known = DTYPES if graph.is_weighted else DISTANCE_DTYPES
        if value.dtype not in known:
            *first, last = map(str, known)
            raise TypeError(f"out must be {', '.join(first)} or {last}, got {value.dtype}")
        if dtype is not None and dtype != value.dtype:
            raise ValueError(f"dtype={dtype} contradicts out, which has {value.dtype}")
        if value.shape != shape:
            raise ValueError(f"out must have shape {list(shape)}, got {list(value.shape)}")
        if value.layout != torch.strided or not value.is_contiguous():
            raise ValueError("out must be dense and contiguous")
        beside(value, "out", graph.device)
        return value
    if not isinstance(value, (str, os.PathLike)):
        raise wrong_type("out", "None, a tensor or the name of a .npy or .zarr file", type(value))
    path = Path(value)
    if path.suffix not in (".npy", ".zarr"):
        raise wrong_value("out", "the name of a .npy or .zarr file", str(path))
    if path.suffix == ".npy" and path.exists() and not path.is_file():
        raise ValueError(f"out={str(path)!r} is not a file")
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"out={str(path)!r}: no such directory: {path.resolve().parent}")
    return path
