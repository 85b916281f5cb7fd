"""Files of torch.save (.pt)."""

from __future__ import annotations

import io
import warnings
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from torchcent.io._arrays import archive_size, claimed_count, from_array, parsing
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.runtime import _pickled

#: Globals that the pickle of a .pt may name. PyTorch's own list for weights_only is longer: it
#: includes calls that allocate memory by a number in the file (bytearray, Tensor) and other
#: layouts.
_NAMED = (
    rb"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|tensor_v3|parameter)|"
    rb"torch (Size|device|\w+Storage|u?int\d+|float\d+|double|bool|bfloat16)|"
    rb"torch\.storage UntypedStorage"
)
_PLAIN = (
    "tensors and plain values only; save a tensor or a dictionary "
    "{'edge_index': ..., 'num_nodes': ...} (of a PyG Data: data.to_dict())"
)


def read_pt(
    path: str, data: bytes, directed: bool | None, num_nodes: int | None, limits: Budget
) -> EdgeList:
    """Reads a tensor ``[2, E]``, or a dictionary with ``edge_index`` and optionally
    ``edge_weight``, ``num_nodes``, ``directed``, ``labels``, ``positions`` and ``crs``. Only
    tensors and plain values are accepted; no code in the file is executed.
    """
    _check_pickle(path, data, limits)
    with parsing(path, f"a PyTorch file of {_PLAIN}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    if isinstance(content, torch.Tensor):
        content = {"edge_index": content}
    if not isinstance(content, dict) or not isinstance(content.get("edge_index"), torch.Tensor):
        raise ValueError(f"{path}: holds neither a tensor nor a dictionary with 'edge_index'")
    weight = content.get("edge_weight")
    known, own, labels = (content.get(key) for key in ("num_nodes", "directed", "labels"))
    if num_nodes is None and known is not None:
        num_nodes = claimed_count(path, known)
    if directed is None and own is not None and not isinstance(own, bool):
        raise ValueError(f"{path}: 'directed' is {own!r:.60}; accepted: True or False")
    if labels is not None and not isinstance(labels, (list, tuple)):
        raise ValueError(f"{path}: 'labels' is of type {type(labels).__name__}; accepted: a list")
    edges = from_array(
        limits,
        _dense(limits, "edge_index", content["edge_index"]),
        None if weight is None else _dense(limits, "edge_weight", weight),
        labels,
        num_nodes,
        bool(own) if directed is None else directed,
    )
    positions, crs = content.get("positions"), content.get("crs")
    if positions is None:
        return edges
    places = torch.from_numpy(_dense(limits, "positions", positions))
    with parsing(path, "a file with positions of its vertices"):
        return replace(edges, positions=places, crs=crs)


def _check_pickle(path: str, data: bytes, limits: Budget) -> None:
    """Checks the archive and the calls of its pickle before any of it is loaded."""
    with parsing(path, "a PyTorch file"):
        if not data.startswith(b"PK"):
            raise ValueError("no zip archive; files from before PyTorch 1.6 must be saved again")
        archive = zipfile.ZipFile(io.BytesIO(data))
        pickles = [x for x in archive.namelist() if x.rpartition("/")[2] == "data.pkl"]
    archive_size(path, archive, limits)
    with parsing(path, "a PyTorch file"):
        contents = [archive.read(name) for name in pickles]
    for content in contents:
        limits.allow(40 * len(content), "plain values such as labels")
        if found := _pickled.unexpected(content, _NAMED):
            raise ValueError(f"{path}: holds {found}; accepted: {_PLAIN}")


def _dense(limits: Budget, name: str, tensor: Any) -> np.ndarray:
    """Returns a tensor as an array; with strides of 0, few stored numbers can claim any size."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{limits.path}: {name!r} is of type {type(tensor).__name__}, no tensor")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise ValueError(f"{limits.path}: {name!r} is no dense tensor")
    limits.allow(8 * 8 * tensor.numel(), f"{name!r} of shape {list(tensor.shape)}")
    with parsing(limits.path, "a PyTorch file"):
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        found: np.ndarray = tensor.detach().resolve_conj().resolve_neg().numpy()
        return found
