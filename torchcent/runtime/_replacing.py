"""Writing a file so that others see the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def check_folder(path: str) -> None:
    """Raises FileNotFoundError if the parent directory of ``path`` does not exist."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: no such directory: {folder}")


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
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise ValueError(f"{path}: is a directory, cannot be written as a file")
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as file:
            yield file, False
        return
    check_folder(path)
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
