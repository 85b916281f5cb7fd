"""Digests of graphs and arguments, by which runs are told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import torch
from torch import Tensor

from torchcent.graph import Graph
from torchcent.graph._cache import Slot
from torchcent.runtime import _config, _ops

Key = Mapping[str, object]
_PIECE = 2**24  # entries that are copied from a device at a time
_SHOWN = 12  # digits of a digest


def of_tensors(*tensors: Tensor | None) -> str:
    """The first digits of the SHA-256 of dtypes, shapes and contents."""
    digest = hashlib.sha256()
    for tensor in tensors:
        if tensor is None:
            digest.update(b"none")
            continue
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
        for piece in tensor.contiguous().flatten().split(_PIECE):
            digest.update(memoryview(piece.cpu().numpy()).cast("B"))
    return digest.hexdigest()[:_SHOWN]


@Slot
def of_graph(graph: Graph) -> str:
    """The size of a graph, and a digest of its arcs, weights and parts."""
    words = f"{graph.num_nodes} vertices, {graph.num_slots} slots"
    words += "" if graph.directed else ", undirected"
    return f"{words}, {of_tensors(graph.rowptr, graph.col, graph.weight, graph.ptr)}"


def of_machine(device: torch.device) -> dict[str, object]:
    """What the bits of a result depend on besides graph and arguments."""
    kernels = f"cpu, {_ops.simd or 'none'}"
    if device.type == "cuda":
        kernels = torch.cuda.get_device_name(device)
    elif device.type != "cpu":
        kernels = device.type
    return {
        "torchcent": _config.__version__,
        "torch": torch.__version__,
        "kernels": kernels,
    }


def plain(key: Key) -> dict[str, object]:
    """The key as it is read from a file: of tensors, digests."""
    text = json.dumps(key, default=lambda tensor: of_tensors(tensor))
    entries: dict[str, object] = json.loads(text)
    return entries


def difference(there: Key, here: Key) -> str:
    """The entries that differ, in words; "" if there are none. Both keys are plain."""
    names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
    return "; ".join(
        f"{name} is {there.get(name)!r} there and {here.get(name)!r} here" for name in names
    )
