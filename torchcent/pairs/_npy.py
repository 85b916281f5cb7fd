"""A .npy file that is written row by row."""

from __future__ import annotations

import errno
import math
import os
import shutil
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime._memory import readable

_CHUNK = 2**26  # bytes widened at a time


def check_space(path: Path, shape: tuple[int, int], dtype: torch.dtype, on_disk: int = 0) -> None:
    """Raises OSError, stating both amounts, if the disk has no room for the array.

    `on_disk` bytes of the array are already on the disk.
    """
    need = math.prod(shape) * dtype.itemsize - on_disk
    free = shutil.disk_usage(path.resolve().parent).free
    if need > free:
        raise OSError(
            errno.ENOSPC,
            f"{list(shape)} entries of {dtype} need {readable(need)} ({need} bytes), but the "
            f"disk has {readable(free)} ({free} bytes) left",
            str(path),
        )


def bytes_on_disk(path: str) -> int:
    """Of a file, which may have parts that take no room yet."""
    status = os.stat(path)
    # Windows has no blocks, and there a file that is made longer takes room at once.
    return status.st_blocks * 512 if hasattr(status, "st_blocks") else status.st_size


class RowWriter:
    """Writes contiguous rows (a slice) at once, or scattered rows one by one."""

    def write(self, rows: slice | Tensor, block: Tensor) -> None:
        if isinstance(rows, slice):
            self._write(rows.start, block)
            return
        for row, values in zip(rows.tolist(), block, strict=True):
            self._write(row, values)

    def _write(self, first: int, rows: Tensor) -> None:
        raise NotImplementedError


class NpyRows(RowWriter):
    """The rows of an array [k, n] in a file that is open for writing.

    Rows are written, not mapped: a full disk raises an error instead of killing the process, and
    written data do not count as memory of the process.
    """

    pinned: Tensor | None = None

    def __init__(self, file: IO[bytes], path: Path, shape: tuple[int, int], dtype: torch.dtype):
        self._file, self._path, self._shape = file, path, shape
        self._begin(dtype)

    def widen(self, dtype: torch.dtype, done: int) -> None:
        """Converts the first `done` rows to a wider dtype, which all later rows have, too."""
        width, narrow = self._shape[1], numpy_dtype(self._dtype)
        self._file.flush()
        check_space(self._path, self._shape, dtype, bytes_on_disk(self._file.name))
        old = np.memmap(self._file.name, narrow, "r", self._header, (done, width))
        # In place, from the last row up: the new place of a row is at or behind its old place.
        step = max(1, _CHUNK // max(1, width * dtype.itemsize))
        for end in range(done, 0, -step):
            first = max(0, end - step)
            self._write(first, torch.from_numpy(old[first:end].astype(numpy_dtype(dtype))))
        del old  # Windows changes the length of no file that is mapped
        self._begin(dtype)

    def _write(self, first: int, rows: Tensor) -> None:
        self._file.seek(self._header + first * self._shape[1] * rows.itemsize)
        self._file.write(rows.numpy().data)

    def _begin(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._file.seek(0)
        # The header has the same size for all dtypes.
        self._file.write(npy_header(self._shape, numpy_dtype(dtype)))
        self._header = self._file.tell()
        self._file.truncate(self._header + math.prod(self._shape) * dtype.itemsize)


def npy_header(shape: tuple[int, int], dtype: np.dtype) -> bytes:
    file, descr = BytesIO(), np.lib.format.dtype_to_descr(dtype)
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    return torch.empty(0, dtype=dtype, device="cpu").numpy().dtype
