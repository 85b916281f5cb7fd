"""Files of the reachability relation."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator

import numpy as np
import torch

from torchcent.io._files import check_target, known_suffix, replacing
from torchcent.io._scores import fixed_width
from torchcent.pairs._closure import Closure
from torchcent.pairs._npy import npy_header

_SUFFIXES = (".npy", ".npz")
_ENTRIES = 2**24  # held in memory at a time


def check_closure_path(path: str | os.PathLike[str]) -> str:
    """The suffix, if a closure can be written to this path."""
    suffix = known_suffix(path, _SUFFIXES)
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
            file.write(npy_header((n, n), np.dtype(bool)))
            for part in vertex.split(_step(n)):
                file.write(np.ascontiguousarray(closure._rows(part).cpu().numpy()).data)
            return
        component = closure.component
        count = int(component.max()) + 1 if n else 0
        member = torch.zeros(count, dtype=torch.int64, device=closure.device)
        member[component] = vertex  # any vertex of the component
        with zipfile.ZipFile(file, "w") as archive:
            with archive.open("bits.npy", "w", force_zip64=True) as entry:
                entry.write(npy_header((count, -(-count // 8)), np.dtype(np.uint8)))
                for bits in _packed(closure, member):
                    entry.write(bits.data)
            arrays = {
                "component": component.int().cpu().numpy(),
                "loop": torch.as_tensor(closure.reaches(vertex, vertex)).cpu().numpy(),
            }
            if labels is not None:
                arrays["label"] = fixed_width(labels)
            for name, values in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, values)


def _packed(closure: Closure, member: torch.Tensor) -> Iterator[np.ndarray]:
    """Yields rows of bits between components; `member` holds one vertex of each component."""
    for part in torch.arange(member.numel(), device="cpu").split(_step(closure.num_nodes)):
        rows = closure._rows(member[part])[:, member]
        rows[torch.arange(part.numel(), device="cpu"), part] = True
        yield np.packbits(rows.cpu().numpy(), axis=1)


def _step(width: int) -> int:
    return max(1, _ENTRIES // max(width, 1))
