"""Writing a file so that others see the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def check_target(path: str) -> None:
    """Raises an error if a file cannot be written to ``path``, as far as that is known before.

    Raises:
        FileNotFoundError: its directory does not exist.
        PermissionError: its directory cannot be written to.
        ValueError: it is a directory.
    """
    mode = _mode(path)
    folder = os.path.dirname(os.path.realpath(path))
    if mode is not None and stat.S_ISDIR(mode):
        raise ValueError(f"{path}: is a directory, cannot be written as a file")
    special = mode is not None and not stat.S_ISREG(mode)
    if not special and not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: no such directory: {folder}")
    if not os.access(path if special else folder, os.W_OK):
        raise PermissionError(f"{path}: no permission to write to {path if special else folder}")


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def replacing(path: str, durable: bool = False) -> Iterator[tuple[IO[bytes], bool]]:
    """Opens a binary file that replaces ``path`` if the block ends without an error.

    The data are written to a temporary file in the same directory, `.NAME.xxxxxxxx.tmp`, which is
    then renamed, and which a killed process leaves behind. Readers of ``path`` see either the old
    file or the new one, never a part of it, and an interrupted run leaves the old file intact.
    Anything that is not a regular file (``/dev/stdout``, a pipe) is written directly; the second
    value tells whether the file is a regular one. With `durable`, the data are on the disk before
    the file is renamed, so that it is whole even after a power failure.
    """
    check_target(path)
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file, False
        return
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file, True
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:  # after a success there is nothing left to remove
        temporary.unlink(missing_ok=True)
