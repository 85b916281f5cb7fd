"""Writes a transitive closure: .npy for all pairs, .npz for the pairs of components."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

import numpy as np
import torch

from torchcent.io._files import check_target, replacing
from torchcent.io._scores import fixed_width

if TYPE_CHECKING:
    from torchcent.pairs._closure import Closure

_SUFFIXES = (".npy", ".npz")
_CHUNK = 2**24  # entries held in memory at a time


def check_closure_path(path: str | os.PathLike[str]) -> str:
    """The suffix, if a closure can be written to this path."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: unknown suffix {suffix!r}; accepted: {' '.join(_SUFFIXES)}")
    check_target(path)
    return suffix


def write_closure(
    path: str | os.PathLike[str], closure: Closure, labels: np.ndarray | None = None
) -> None:
    """Writes the reachability relation; docs/all_pairs.md describes both formats."""
    suffix = check_closure_path(path)
    n, vertex = closure.num_nodes, torch.arange(closure.num_nodes, device=closure.device)
    with replacing(path) as file:
        if suffix == ".npy":
            rows = (closure._rows(part).cpu().numpy() for part in vertex.split(_step(n)))
            _write(file, (n, n), np.dtype(bool), rows)
            return
        component = closure.component
        count = int(component.max()) + 1 if n else 0
        member = torch.zeros(count, dtype=torch.int64, device=closure.device)
        member[component] = vertex  # any vertex of the component
        with zipfile.ZipFile(file, "w") as archive:
            with archive.open("bits.npy", "w", force_zip64=True) as entry:
                shape, bits = (count, -(-count // 8)), _packed(closure, member)
                _write(entry, shape, np.dtype(np.uint8), bits)
            arrays = {
                "component": component.int().cpu().numpy(),
                "loop": torch.as_tensor(closure.reaches(vertex, vertex)).cpu().numpy(),
            }
            if labels is not None:
                arrays["label"] = fixed_width(labels)
            for name, values in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, values)


def _packed(closure: Closure, member: torch.Tensor) -> Iterable[np.ndarray]:
    """Yields rows of bits between components; `member` holds one vertex of each component."""
    for part in torch.arange(member.numel(), device="cpu").split(_step(closure.num_nodes)):
        rows = closure._rows(member[part])[:, member]
        rows[torch.arange(part.numel(), device="cpu"), part] = True
        yield np.packbits(rows.cpu().numpy(), axis=1)


def _step(width: int) -> int:
    return max(1, _CHUNK // max(width, 1))


def _write(
    file: IO[bytes], shape: tuple[int, int], dtype: np.dtype, blocks: Iterable[np.ndarray]
) -> None:
    """Writes a .npy file, one block of rows at a time."""
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape,
    }  # fmt: skip
    np.lib.format.write_array_header_1_0(file, header)
    for block in blocks:
        file.write(np.ascontiguousarray(block).data)
