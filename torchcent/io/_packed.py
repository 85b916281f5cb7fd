"""Compression: ``.gz``, ``.bz2``, ``.xz``, and ``.zst``, which is read only."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import IO, Any

from torchcent.io._budget import Budget
from torchcent.runtime._optional import need

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
CHUNK = 1 << 20
#: What decompressors raise: of truncated input bz2 ValueError, lzma LZMAError and gzip EOFError.
DAMAGED = (EOFError, ValueError, OSError, zlib.error, lzma.LZMAError)


def chunks(raw: IO[bytes], compression: str, limits: Budget) -> Iterator[bytes]:
    """The decompressed contents of a file, up to CHUNK bytes at a time."""
    if compression == ".xz":
        yield from _unpack_xz(raw, limits)
        return
    file: Any = raw
    if compression == ".gz":
        file = gzip.GzipFile(fileobj=raw)
    elif compression == ".bz2":
        file = bz2.BZ2File(raw)
    elif compression == ".zst":  # pyarrow's own read() keeps its buffer after an error
        pyarrow = need("pyarrow", "io", "reading .zst")
        file = io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))
    while chunk := file.read(CHUNK):
        yield chunk


def _unpack_xz(raw: IO[bytes], limits: Budget) -> Iterator[bytes]:
    """Like LZMAFile, but also limits the dictionary size that a file claims (up to 4 GiB)."""
    packed = raw.read(CHUNK)
    while packed:
        unpack = lzma.LZMADecompressor(memlimit=limits.limit)
        while not unpack.eof:
            if unpack.needs_input and not packed and not (packed := raw.read(CHUNK)):
                raise EOFError("it ends before the end-of-stream marker")
            try:
                yield unpack.decompress(packed, CHUNK)
            except lzma.LZMAError as error:
                if "limit" not in str(error):
                    raise
                raise MemoryError(
                    f"{limits.path}: the dictionary of this .xz file does not fit into "
                    f"memory={limits.limit}"
                ) from None
            packed = b""
        rest = unpack.unused_data
        while not (packed := rest.lstrip(b"\0")) and (rest := raw.read(CHUNK)):  # padding
            pass
        if len(packed) < 6:
            packed += raw.read(CHUNK)
        if not packed.startswith(b"\xfd7zXZ"):  # ignore trailing data, as LZMAFile does
            return


@contextlib.contextmanager
def compressing(raw: IO[bytes], compression: str) -> Iterator[IO[bytes]]:
    """A file that compresses what is written to it into ``raw``."""
    if not compression:
        yield raw
        return
    packed: Any
    if compression == ".gz":  # no time stamp and no file name: equal contents give equal files
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
            yield packed
    elif compression == ".bz2":
        with bz2.BZ2File(raw, "wb") as packed:
            yield packed
    else:
        with lzma.LZMAFile(raw, "wb", preset=3) as packed:
            yield packed
