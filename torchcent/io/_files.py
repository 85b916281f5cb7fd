"""File suffixes, whole files and their text, and writing that replaces a file atomically."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
from collections.abc import Iterator
from typing import IO

from torchcent.check import _files as check_files
from torchcent.check._values import shortened
from torchcent.io._budget import Budget
from torchcent.io._packed import CHUNK, COMPRESSIONS, DAMAGED, chunks, compressing
from torchcent.runtime import _replacing

#: Maps suffixes to formats. ``format=`` accepts a format name or any of its suffixes.
FORMATS = {
    ".txt": "edges",
    ".tsv": "edges",
    ".csv": "edges",
    ".edges": "edges",
    ".el": "edges",
    ".edgelist": "edges",
    ".konect": "edges",
    ".abc": "abc",
    ".mci": "mci",
    ".mtx": "mtx",
    ".graph": "metis",
    ".gr": "gr",
    ".graphml": "graphml",
    ".gml": "gml",
    ".npz": "npz",
    ".npy": "npy",
    ".pt": "pt",
    ".parquet": "parquet",
}

_PASSED = "makes a graph of it that can be passed to every function"
#: What to do about suffixes of other programs.
_OTHERS = {
    ".net": f"Pajek is not read; networkx.read_pajek {_PASSED}",
    ".paj": f"Pajek is not read; networkx.read_pajek {_PASSED}",
    ".gexf": f"GEXF is not read; networkx.read_gexf {_PASSED}",
    ".adjlist": f"adjacency lists are not read; networkx.read_adjlist {_PASSED}",
    ".json": f"JSON is not read; networkx.node_link_graph {_PASSED}",
    ".dl": "UCINET DL is not read; export the network as an edge list (CSV), GraphML or GML",
    ".sif": "SIF is read as an edge list of three columns: format='edges', columns=(1, 3) "
    "(--format edges --source-column 1 --target-column 3)",
    ".xlsx": "spreadsheets are not read; save the sheet as CSV, or pass the data frame that "
    "pandas.read_excel makes of it",
    ".feather": "Feather is not read; pass the data frame that pandas.read_feather makes of it",
}  # fmt: skip


def split_suffix(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Returns the suffix of the format and that of the compression, in lower case."""
    stem, last = os.path.splitext(os.path.basename(os.fspath(path)))
    last = last.lower()
    if last in COMPRESSIONS:
        return os.path.splitext(stem)[1].lower(), last
    return last, ""


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Returns the format of ``path``: ``format`` if given, otherwise determined by the suffix.

    Raises:
        ValueError: the suffix or format is unknown; the message lists the known ones.
    """
    path = check_files.path(path)
    if check_files.text(format, "format") is not None:
        assert format is not None
        if format in FORMATS.values():
            return format
        known = FORMATS.get("." + format.lower().lstrip("."))
        if known is None:
            accepted = ", ".join(sorted(set(FORMATS.values())))
            raise ValueError(f"format={shortened(format)} is unknown; accepted: {accepted}")
        return known
    suffix, _ = split_suffix(path)
    if suffix in FORMATS:
        return FORMATS[suffix]
    if os.path.basename(os.fspath(path)).startswith("out."):  # KONECT names its edge lists out.*
        return "edges"
    if suffix in _OTHERS:
        raise ValueError(f"{path}: {_OTHERS[suffix]}")
    raise ValueError(
        f"{path}: unknown suffix {suffix!r}; known: {' '.join(FORMATS)}, "
        f"each also with {' '.join(COMPRESSIONS)}; or name the format (edges, mtx, metis, ...)"
    )


def load_bytes(path: str | os.PathLike[str], limits: Budget | None = None) -> bytes:
    """Returns the contents of the file, decompressed according to its suffix.

    Raises:
        FileNotFoundError: the file does not exist.
        MemoryError: the file, or its decompressed contents, exceed ``limits``.
        ValueError: a directory, an empty file, or a damaged or truncated compressed file.
    """
    path = check_files.path(path)
    limits = limits or Budget.of(path)
    compression = split_suffix(path)[1]
    try:
        with open(path, "rb") as raw:
            limits.allow(os.fstat(raw.fileno()).st_size, "the size of the file")
            data = joined(chunks(raw, compression, limits), limits) if raw.peek(1) else b""
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: is a directory, not a file") from None
    except DAMAGED as error:
        if getattr(error, "errno", None) is not None:  # from the OS, not the decompressor
            raise
        raise ValueError(f"{path}: truncated or damaged {compression} file ({error})") from None
    if not data:
        raise ValueError(f"{path}: empty file")
    return data


def joined(parts: Iterator[bytes], limits: Budget) -> bytes:
    """Joins all chunks; the decompressed size is checked against the limit as it grows."""
    whole = io.BytesIO()
    for chunk in parts:
        limits.allow(whole.tell() + len(chunk), "what the file holds, not all of it counted")
        whole.write(chunk)
    return whole.getvalue()


def text_bytes(path: str | os.PathLike[str], data: bytes) -> bytes:
    """Returns ``data`` as text with newline line ends and without a byte-order mark.

    Raises:
        ValueError: the data are not text.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{path}: text in UTF-16; accepted: UTF-8, which iconv -f UTF-16 -t UTF-8 makes of it"
        )
    if b"\0" in data:
        raise ValueError(f"{path}: binary data, not a text file in UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data or data.isspace():
        raise ValueError(f"{path}: empty file")
    return data


def text_lines(path: str | os.PathLike[str], data: bytes) -> list[str]:
    """Returns the lines of ``data``; invalid UTF-8 raises ValueError that names the line."""
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8 text; is this binary "
            "data, or another encoding (iconv -f LATIN1 -t UTF-8)?"
        ) from None


def is_text(data: bytes) -> bool:
    """Whether the data are valid UTF-8. Only non-ASCII parts are decoded, one at a time."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), CHUNK):
            decoder.decode(view[start : start + CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def encodes(text: str) -> bool:
    """Whether the text can be encoded as UTF-8; lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_target(path: str | os.PathLike[str]) -> None:
    """Raises an error if :func:`replacing` would refuse the path."""
    path = check_files.path(path)
    if split_suffix(path)[1] == ".zst":
        raise ValueError(f"{path}: .zst is read only; accepted: .gz, .bz2, .xz")
    _replacing.check_target(path)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a binary file that replaces ``path`` if the block ends without an error.

    See ``runtime._replacing``. ``.gz``, ``.bz2`` and ``.xz`` compress regular files.
    """
    path = check_files.path(path)
    check_target(path)
    suffix = split_suffix(path)[1]
    with (
        _replacing.replacing(path) as (raw, regular),
        compressing(raw, suffix if regular else "") as file,
    ):
        yield file
