"""Files, whole and in pieces, streams, compression, suffixes, text; replacing files atomically."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, TypeVar

from torchcent.check import _files as check_files
from torchcent.check._values import shortened
from torchcent.io._budget import Budget
from torchcent.io._tokens import IrregularText
from torchcent.runtime import _replacing
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


class _Gzip(gzip.GzipFile):
    """Says that it cannot seek, as bz2 and xz files do: zip archives would go back in it."""

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise io.UnsupportedOperation("tell")


@contextlib.contextmanager
def compressing(raw: IO[bytes], compression: str) -> Iterator[IO[bytes]]:
    """A file that compresses what is written to it into ``raw``."""
    if not compression:
        yield raw
        return
    packed: Any
    if compression == ".gz":  # no time stamp and no file name: equal contents give equal files
        with _Gzip("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
            yield packed
    elif compression == ".bz2":
        with bz2.BZ2File(raw, "wb") as packed:
            yield packed
    else:
        with lzma.LZMAFile(raw, "wb", preset=3) as packed:
            yield packed


#: A piece of text that ends at a line end, and the share of the file up to there.
Piece = tuple[bytearray, float]
_Item = TypeVar("_Item")
_LONGEST = 4  # pieces of a line


def pieces_of_file(path: str, limits: Budget) -> Generator[Piece, None, None]:
    """The pieces of a regular file; IrregularText where only the whole tells what is wrong."""
    if not os.path.isfile(path):
        raise IrregularText
    try:
        yield from _ahead(_pieces(path, limits))
    except DAMAGED:
        raise IrregularText from None


def pieces_of(text: bytes) -> Iterator[Piece]:
    """The pieces of a text in memory."""
    view, start = memoryview(text), 0
    while start < len(text):
        end = text.find(b"\n", start + CHUNK) + 1 or len(text)
        yield bytearray(view[start:end]), end / len(text)
        start = end


def _pieces(path: str, limits: Budget) -> Iterator[Piece]:
    with open(path, "rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        parts = filter(None, chunks(raw, split_suffix(path)[1], limits))
        chunk, rest = next(parts, b""), b""
        while chunk:
            share = min(raw.tell() / size, 1.0)
            following = next(parts, b"")
            end = chunk.rfind(b"\n") + 1 if following else len(chunk)
            if end:
                yield bytearray().join((rest, memoryview(chunk)[:end])), share
                rest = b""
            rest += chunk[end:]
            if len(rest) > _LONGEST * CHUNK:
                raise IrregularText
            chunk = following


def _ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items. From the third on, a thread makes one while the one before is in use."""
    few = [item for _, item in zip(range(2), items, strict=False)]
    yield from few
    if len(few) < 2:
        return
    with ThreadPoolExecutor(1) as pool:
        try:
            coming = pool.submit(next, items, None)
        except RuntimeError:  # the system grants no thread
            yield from items
            return
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


#: Maps suffixes to formats. ``format=`` accepts a format name or any of its suffixes.
FORMATS = {
    ".txt": "edges", ".tsv": "edges", ".csv": "edges", ".edges": "edges", ".el": "edges",
    ".edgelist": "edges", ".konect": "edges", ".abc": "abc", ".mci": "mci", ".mtx": "mtx",
    ".graph": "metis", ".gr": "gr", ".graphml": "graphml", ".gml": "gml", ".npz": "npz",
    ".npy": "npy", ".pt": "pt", ".parquet": "parquet", ".gpkg": "gpkg", ".shp": "shp",
    ".geojson": "geojson", ".m8": "blast", ".b6": "blast", ".blast": "blast",
}  # fmt: skip

#: formats of streets, and all formats of graphs that are read, but not written
STREETS = ("gpkg", "shp", "geojson")
_READ_ONLY = ("gml", "blast", *STREETS)
#: what such files are written by
_SCORES = (
    "; torchcent.io.write_scores(..., geometry=) writes scores with places, and "
    "torchcent.street_table(...) adds them to streets"
)
#: suffixes of formats that are written, but not read
WRITTEN_ONLY = {".gexf": "gexf", ".cx2": "cx2", ".sif": "sif"}

_PASSED = "makes a graph of it that can be passed to every function"
_PAJEK = f"a network of Pajek, which is not read; networkx.read_pajek {_PASSED}"
#: What to do about files of other programs, by their suffixes.
OTHERS = {
    ".net": _PAJEK,
    ".paj": _PAJEK,
    ".gexf": f"GEXF is not read; networkx.read_gexf {_PASSED}",
    ".adjlist": f"adjacency lists are not read; networkx.read_adjlist {_PASSED}",
    ".json": f"JSON, which is not read; networkx.node_link_graph {_PASSED}",
    ".cx2": "CX2 is not read; ndex2.cx2.CX2NetworkXFactory makes a graph of networkx of it, which "
    "can be passed to every function",
    ".dl": "a UCINET DL file, which is not read; export the network as an edge list (CSV), GraphML "
    "or GML",
    ".sif": "SIF is read as an edge list of three columns: format='edges', columns=(1, 3) "
    "(--format edges --source-column 1 --target-column 3)",
    ".xlsx": "spreadsheets are not read; save the sheet as CSV, or pass the data frame that "
    "pandas.read_excel makes of it",
    ".feather": "Feather is not read; pass the data frame that pandas.read_feather makes of it",
}  # fmt: skip

_TABLES = (
    ".json", ".zarr", ".xls", ".ods", ".html", ".xml", ".yaml",
    ".xgmml", ".cx", ".cyjs", ".cys", ".gephi",
)  # fmt: skip
_FIGURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff")
_KNOWN = {*FORMATS, *WRITTEN_ONLY, *OTHERS, *_TABLES, *_FIGURES}


def split_suffix(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The suffix of the format and that of the compression, in lower case."""
    stem, last = os.path.splitext(os.path.basename(os.fspath(path)))
    last = last.lower()
    if last in COMPRESSIONS:
        return os.path.splitext(stem)[1].lower(), last
    return last, ""


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format of a file to be read: that which is named, otherwise that of its suffix.

    Raises:
        ValueError, FileNotFoundError: neither is known, or there is no such file.
    """
    path = check_files.path(path)
    named = check_files.text(format, "format")
    if named is not None:
        kind = _named(named, FORMATS)
        if kind is None:
            accepted = ", ".join(sorted(set(FORMATS.values())))
            raise ValueError(f"format={shortened(format)} is unknown; accepted: {accepted}")
        return kind
    suffix, _ = split_suffix(path)
    if suffix in FORMATS:
        return FORMATS[suffix]
    if os.path.basename(os.fspath(path)).startswith("out."):  # KONECT names its edge lists out.*
        return "edges"
    if suffix in OTHERS:
        raise ValueError(f"{path}: {OTHERS[suffix]}")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise ValueError(f"{path}: is a directory, not a file")
    raise ValueError(
        f"{path}: unknown suffix {suffix!r}; known: {' '.join(FORMATS)}, "
        f"each also with {' '.join(COMPRESSIONS)}; or name the format (edges, mtx, metis, ...)"
    )


def format_to_write(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format of a graph file to be written, that which is named or that of the suffix.

    Raises:
        ValueError: there is no such format, or it is only read; the message lists the others.
    """
    path = check_files.path(path)
    known = FORMATS | WRITTEN_ONLY
    known = {suffix: kind for suffix, kind in known.items() if kind not in _READ_ONLY}
    named = check_files.text(format, "format")
    if named is None:
        suffix = split_suffix(path)[0]
        kind = "edges" if os.path.basename(path).startswith("out.") else None
        kind = known.get(suffix, kind)
        what = f"{path}: graphs are not written as {suffix!r}"
    else:
        kind = _named(named, known)
        what = f"{path}: graphs are not written as format={shortened(format)}"
    if kind is None:
        lines = FORMATS.get(suffix if named is None else f".{named.lstrip('.')}") in STREETS
        raise ValueError(f"{what}; accepted: {' '.join(known)}{_SCORES if lines else ''}")
    return kind


def _named(format: str, known: dict[str, str]) -> str | None:
    """The format of this name, or of a suffix."""
    return format if format in known.values() else known.get("." + format.lower().lstrip("."))


def known_suffix(path: str | os.PathLike[str], known: Collection[str]) -> str:
    """The suffix, in lower case, if it is one of those known, none of a compression."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in known:
        raise ValueError(f"{path}: unknown suffix {suffix!r}; accepted: {' '.join(known)}")
    return suffix


def refuse_other_format(path: str, what: str, accepted: Collection[str]) -> None:
    """Raises an error where the suffix is that of a known format, but none of those `accepted`.

    Names that end in no suffix or an unknown one, such as ``out.ppi.I20``, are accepted.
    """
    suffix = split_suffix(path)[0]
    if suffix in _KNOWN - set(accepted):
        raise ValueError(
            f"{path}: {what} are not written as {suffix}; accepted: {' '.join(accepted)}, and "
            "suffixes of no format, such as .I20"
        )


def load_bytes(path: str | os.PathLike[str], limits: Budget | None = None) -> bytes:
    """The contents of the file, decompressed according to its suffix."""
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


def joined(parts: Iterable[bytes], limits: Budget) -> bytes:
    """All chunks; the decompressed size is checked against the limit as it grows."""
    whole = io.BytesIO()
    for chunk in parts:
        limits.allow(whole.tell() + len(chunk), "what the file holds, not all of it counted")
        whole.write(chunk)
    return whole.getvalue()


_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
#: formats by what they begin with; other text is an edge list
_BEGINS = {
    "npy": rb"\x93NUMPY",
    "parquet": rb"PAR1",
    "mtx": rb"%%MatrixMarket",
    "mci": rb"(#[^\n]*\n|\s)*\(mcl",
    "graphml": rb"\s*(<\?xml|<graphml)",
    "gml": rb"(\s*#[^\n]*\n|\s*(Creator|Version|comment)\s[^\n]*\n)*\s*graph\s*\[",
    "gr": rb"(c[^\n]*\n|\s)*p (sp|tw)\s",
}


def load_stream(file: IO[bytes], limits: Budget) -> bytes:
    """All that a stream such as standard input holds, decompressed."""
    data = joined(iter(lambda: file.read(CHUNK), b""), limits)
    compression = next((name for magic, name in _PACKED.items() if data.startswith(magic)), "")
    try:
        if compression:
            data = joined(chunks(io.BytesIO(data), compression, limits), limits)
    except DAMAGED as error:
        raise ValueError(f"{limits.path}: truncated or damaged {compression} ({error})") from None
    if not data:
        raise ValueError(f"{limits.path}: it is empty")
    return data


def format_of_data(data: bytes) -> str:
    """The format of a graph file, found in its contents."""
    if data.startswith(b"PK\x03\x04"):
        try:
            names = zipfile.ZipFile(io.BytesIO(data)).namelist()
        except zipfile.BadZipFile:  # the reader says so
            names = []
        return "pt" if any(name.endswith("/data.pkl") for name in names) else "npz"
    text = data.removeprefix(b"\xef\xbb\xbf")
    return next((name for name, begin in _BEGINS.items() if re.match(begin, text)), "edges")


def text_bytes(path: str | os.PathLike[str], data: bytes) -> bytes:
    """The data with newlines as line ends and without a byte-order mark, if they are text."""
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
    """The lines of a text in UTF-8; the error about any other names the line."""
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8 text; is this binary "
            "data, or another encoding (iconv -f LATIN1 -t UTF-8)?"
        ) from None


def is_text(data: bytes | bytearray) -> bool:
    """Whether the data are valid UTF-8."""
    try:
        data.decode()
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
    """Opens a file that replaces ``path`` if the block ends without an error; suffixes compress."""
    path = check_files.path(path)
    check_target(path)
    suffix = split_suffix(path)[1]
    with (
        _replacing.replacing(path) as (raw, regular),
        compressing(raw, suffix if regular else "") as file,
    ):
        yield file
