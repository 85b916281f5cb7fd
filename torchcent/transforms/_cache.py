"""A folder of results, each in a file whose name says what it was computed from."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.runtime import _config
from torchcent.runtime._replacing import replacing

FORMAT = 1
_DIGITS = 32
_KEY = "results of torchcent.transforms"


class Folder:
    """Where the results of transforms are kept.

    Args:
        path: the folder, which is made if it does not exist.
        words: what determines results besides the graphs.
    """

    def __init__(self, path: object, words: str) -> None:
        self._path = Path(check_files.path(path))
        if self._path.exists() and not self._path.is_dir():
            raise NotADirectoryError(f"cache={str(self._path)!r} is not a folder")
        self._path.mkdir(parents=True, exist_ok=True)
        about = f"{FORMAT} {_config.__version__} {torch.get_default_dtype()} {words}"
        self._about = hashlib.sha256(about.encode())

    def file(self, graphs: Iterable[Any], names: Collection[str]) -> Path:
        """That of the results of these graphs, which depend on attributes of these names."""
        digest = self._about.copy()
        for data in graphs:
            for store in data.stores:
                _add(digest, store, names)
        return self._path / f"{digest.hexdigest()[:_DIGITS]}.pt"


def _add(digest: Any, store: Any, names: Collection[str]) -> None:
    key = getattr(store, "_key", None)
    size = store.num_nodes if not isinstance(key, tuple) and hasattr(store, "num_nodes") else None
    digest.update(f"{key} {size}".encode())
    for name in ("edge_index", *sorted(names)):
        value = store.get(name)
        if isinstance(value, Tensor):
            value = value.as_tensor() if hasattr(value, "as_tensor") else value  # of an EdgeIndex
            digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            plain = value.detach().cpu().contiguous().reshape(-1)
            digest.update(plain.view(torch.uint8).numpy().data)


def read(path: Path) -> Any:
    """The contents of a file; None if there is none that can be read."""
    try:
        contents = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        return None
    except (RuntimeError, EOFError, pickle.UnpicklingError):  # damaged: it is computed anew
        return None
    is_ours = isinstance(contents, dict) and contents.keys() == {_KEY}
    return contents[_KEY] if is_ours else None


def write(path: Path, contents: Any) -> None:
    with replacing(os.fspath(path)) as (file, _):
        torch.save({_KEY: contents}, file)
