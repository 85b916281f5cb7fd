"""What a stream such as standard input holds: its compression and its format."""

from __future__ import annotations

import io
import re
import zipfile
from typing import IO

from torchcent.io import _packed
from torchcent.io._budget import Budget
from torchcent.io._files import joined

_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_BINARY = {b"\x93NUMPY": "npy", b"PAR1": "parquet"}
#: formats of text, by what they begin with; all else is an edge list
_TEXT = {
    "mtx": rb"%%MatrixMarket",
    "mci": rb"(#[^\n]*\n|\s)*\(mcl",
    "graphml": rb"\s*(<\?xml|<graphml)",
    "gml": rb"(\s*#[^\n]*\n|\s*(Creator|Version|comment)\s[^\n]*\n)*\s*graph\s*\[",
    "gr": rb"(c[^\n]*\n|\s)*p sp\s",
}


def load_stream(file: IO[bytes], limits: Budget) -> bytes:
    """All that the stream holds, decompressed.

    Raises:
        MemoryError: it exceeds ``limits``.
        ValueError: it is empty, damaged or truncated.
    """
    data = joined(iter(lambda: file.read(_packed.CHUNK), b""), limits)
    compression = next((name for magic, name in _PACKED.items() if data.startswith(magic)), "")
    try:
        if compression:
            data = joined(_packed.chunks(io.BytesIO(data), compression, limits), limits)
    except _packed.DAMAGED as error:
        raise ValueError(f"{limits.path}: truncated or damaged {compression} ({error})") from None
    if not data:
        raise ValueError(f"{limits.path}: it is empty")
    return data


def format_of_data(data: bytes) -> str:
    """The format of a graph file, found in its contents."""
    for magic, name in _BINARY.items():
        if data.startswith(magic):
            return name
    if data.startswith(b"PK\x03\x04"):
        try:
            names = zipfile.ZipFile(io.BytesIO(data)).namelist()
        except zipfile.BadZipFile:  # the reader says so
            names = []
        return "pt" if any(name.endswith("/data.pkl") for name in names) else "npz"
    text = data.removeprefix(b"\xef\xbb\xbf")
    return next((name for name, begin in _TEXT.items() if re.match(begin, text)), "edges")
