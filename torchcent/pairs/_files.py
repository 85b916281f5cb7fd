"""Files of distances that several processes fill: each writes rows of its own to the same one."""

from __future__ import annotations

import math
import os
import shutil
import threading
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.check._values import shortened
from torchcent.distribute._units import ROWS
from torchcent.pairs._npy import RowWriter, check_space, npy_header, numpy_dtype
from torchcent.runtime._optional import need

Rows = slice | Tensor
_AT_ONCE = 2**26  # bytes read or written by one call of the system
_CHUNK = 2**26  # largest bytes of a chunk of a Zarr array


class Store(Protocol):
    """An array [k, n] on the disk, opened for reading and writing."""

    def write(self, rows: Rows, block: Tensor) -> None:
        """Writes these rows, which no other process writes."""

    def read(self, rows: Rows) -> NDArray[Any]: ...

    def sync(self) -> None:
        """Returns when what was written is on the disk."""

    def close(self) -> None: ...


class Npy(RowWriter):
    """A .npy file. It is written, not mapped: a full disk raises an error instead of SIGBUS."""

    def __init__(self, path: Path, shape: tuple[int, int], dtype: torch.dtype) -> None:
        self._path, self._width, self._dtype = path, shape[1], numpy_dtype(dtype)
        self._begin = len(npy_header(shape, self._dtype))
        # Without a buffer: other processes write to the same file. Threads share its position, so
        # that one at a time moves it; Windows has neither pwrite nor preadv.
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()

    @staticmethod
    def make(path: Path, shape: tuple[int, int], dtype: torch.dtype) -> None:
        """Makes a file of zeros, which takes its room on the disk as it is written."""
        check_space(path, shape, dtype)
        header = npy_header(shape, numpy_dtype(dtype))
        with open(path, "wb") as file:
            file.write(header)
            file.truncate(len(header) + math.prod(shape) * dtype.itemsize)

    @staticmethod
    def fits(path: Path, shape: tuple[int, int], dtype: torch.dtype) -> bool:
        """Whether there is a file of this shape and dtype."""
        header = npy_header(shape, numpy_dtype(dtype))
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            same = file.read(len(header)) == header
        return same and path.stat().st_size == len(header) + math.prod(shape) * dtype.itemsize

    @staticmethod
    def remove(path: Path) -> None:
        path.unlink(missing_ok=True)

    @staticmethod
    def replace(path: Path, target: Path) -> None:
        if target.exists():
            shutil.copymode(target, path)
        os.replace(path, target)

    @staticmethod
    def open(path: Path) -> np.memmap:
        array: np.memmap = np.load(path, mmap_mode="r")
        return array

    def _write(self, first: int, rows: Tensor) -> None:
        data = rows.contiguous().view(-1).numpy().data.cast("B")
        with self._lock:
            self._file.seek(self._place(first))
            while data:  # the system may write less
                try:
                    count = self._file.write(data[:_AT_ONCE])
                except OSError as error:
                    raise OSError(error.errno, error.strerror, str(self._path)) from None
                data = data[count:]

    def read(self, rows: Rows) -> NDArray[Any]:
        if not isinstance(rows, slice):
            return np.concatenate([self.read(slice(row, row + 1)) for row in rows.tolist()])
        size = (rows.stop - rows.start) * self._width
        values = np.empty(size, self._dtype)
        data = values.data.cast("B")
        with self._lock:
            self._file.seek(self._place(rows.start))
            while data:
                count = self._file.readinto(data[:_AT_ONCE])
                if count == 0:
                    raise OSError(f"{self._path} is truncated")
                data = data[count:]
        return values.reshape(-1, self._width)

    def _place(self, row: int) -> int:
        return self._begin + row * self._width * self._dtype.itemsize

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


class Zarr:
    """A Zarr array (format 3, in a folder), by the zarr package.

    Chunks have ROWS rows, so that no chunk has rows of two units.
    """

    def __init__(self, path: Path, shape: tuple[int, int], dtype: torch.dtype) -> None:
        self._array = _zarr().open_array(str(path), mode="r+")

    @staticmethod
    def make(path: Path, shape: tuple[int, int], dtype: torch.dtype) -> None:
        Zarr.remove(path)
        columns = max(1, min(shape[1], _CHUNK // (ROWS * dtype.itemsize)))
        _zarr().create_array(
            str(path), shape=shape, chunks=(max(1, min(ROWS, shape[0])), columns),
            dtype=numpy_dtype(dtype), fill_value=0,
        )  # fmt: skip

    @staticmethod
    def fits(path: Path, shape: tuple[int, int], dtype: torch.dtype) -> bool:
        if not path.is_dir():
            return False
        try:
            array = _zarr().open_array(str(path), mode="r")
        except Exception:  # of many kinds: it is no array, or damaged
            return False
        return bool(array.shape == shape and array.dtype == numpy_dtype(dtype))

    @staticmethod
    def remove(path: Path) -> None:
        if path.exists():
            shutil.rmtree(path)

    @staticmethod
    def replace(path: Path, target: Path) -> None:
        before = path.with_name(f"{path.name}.before")
        if target.exists():  # the system replaces no folder that holds something
            os.rename(target, before)
        os.rename(path, target)
        Zarr.remove(before)

    @staticmethod
    def open(path: Path) -> Any:
        return _zarr().open_array(str(path), mode="r")

    def write(self, rows: Rows, block: Tensor) -> None:
        assert isinstance(rows, slice)
        self._array[rows] = block.numpy()

    def read(self, rows: Rows) -> NDArray[Any]:
        assert isinstance(rows, slice)
        return np.asarray(self._array[rows])

    def sync(self) -> None:
        """Nothing: damage by a power failure is found by the sums of the ledger."""

    def close(self) -> None: ...


def _zarr() -> Any:
    return need("zarr", "zarr", "out='...zarr'")


def check_zarr(path: Path) -> None:
    """Raises an error before any work if this folder cannot be written."""
    _zarr()
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: no such directory: {folder}")
    if path.exists() and not (path / "zarr.json").is_file() and not (path / ".zarray").is_file():
        raise ValueError(
            f"out={shortened(str(path))} holds something else than a Zarr array; accepted: a new "
            "name, or an array to replace"
        )
