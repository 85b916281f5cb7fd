"""Fuzz targets for everything in torchcent that reads a file: `make fuzz`.

A target is a format of torchcent.read, `tab` or `clusters`, `packed` (.gz, .bz2, .xz, .zst), or
`graph` (Graph.load). Atheris (libFuzzer) mutates the files of fuzz/corpus/<target> guided by the
coverage of torchcent.io. An input fails its target if reading it

- raises anything but ValueError (also UnicodeError), OSError or the MemoryError of the limit,
- raises one whose message does not name the file,
- takes more than 10 seconds, or more memory than MEMORY and what Python itself needs,
- crashes the process, or
- gives edges of which no graph can be made, or other edges than the reader that goes line by line.

    python fuzz/readers.py TARGET [options of libFuzzer]      such as -max_total_time=30
    python fuzz/readers.py TARGET FILE                        one input again
"""

from __future__ import annotations

import bz2
import ctypes
import faulthandler
import gzip
import io
import itertools
import lzma
import os
import random
import resource
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import atheris
import geopandas  # noqa: F401  (everything native before the limit on the address space)
import networkx  # noqa: F401
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import scipy.io  # noqa: F401
import scipy.sparse  # noqa: F401
import torch

faulthandler.dump_traceback_later(100)  # where it hangs, should it hang before the fuzzing
sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(
    include=["torchcent.io", "torchcent.check._sparse", "torchcent.graph._file"]
):
    import torchcent
    from torchcent.io import _files, _mcl, _text, read_clusters
    from torchcent.io._tokens import IrregularText

HERE = Path(__file__).parent
SUFFIX = {
    "edges": ".txt",
    "abc": ".abc",
    "mci": ".mci",
    "mtx": ".mtx",
    "metis": ".graph",
    "gr": ".gr",
    "graphml": ".graphml",
    "gml": ".gml",
    "npz": ".npz",
    "npy": ".npy",
    "pt": ".pt",
    "parquet": ".parquet",
    "blast": ".m8",
    "geojson": ".geojson",
    "tab": ".tab",
    "clusters": ".txt",
    "packed": "",
    "graph": ".pt",
}
MEMORY = 1 << 24  # bytes that torchcent.read is told it may take
ROOM = 1 << 29  # bytes of address space beyond what the libraries take when they are loaded


def unpack_zst(data: bytes) -> bytes:
    stream: Any = pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd")
    return io.BufferedReader(stream).read(1 << 16)  # its read() keeps what an error leaves


def pack_zst(data: bytes) -> bytes:
    file = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(file, "zstd") as packed:
        packed.write(data)
    return bytes(file.getvalue())


UNPACK = {
    ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": unpack_zst,
}  # fmt: skip
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": pack_zst}


def compression(first: int) -> str:
    return ".zst" if first == 255 else (".gz", ".bz2", ".xz")[first % 3]


def outcome(read: Any, path: str) -> Any:
    """What ``read`` gives, or the text of the error that it may raise."""
    try:
        return read(path)
    except (ValueError, MemoryError) as error:
        if path not in str(error):
            raise AssertionError(f"an error that does not name the file: {error!r}") from error
        return str(error)


def rows(edges: Any) -> tuple[Any, ...]:
    weight = None if edges.edge_weight is None else edges.edge_weight.tolist()
    return edges.edge_index.tolist(), weight, edges.vertex_labels().tolist(), edges.directed


def check_graph(edges: Any) -> None:
    """What is read is a graph, of a size that the data account for."""
    graph = edges.graph()
    assert graph.num_nodes == edges.num_nodes == len(edges.vertex_labels())
    assert 8 * edges.num_nodes <= MEMORY


def irregular(*_: object) -> Any:
    raise IrregularText


def check_edges(kind: str, path: str) -> None:
    def read() -> Any:
        return outcome(
            lambda name: torchcent.read(name, format=kind, run=torchcent.Run(memory=MEMORY)), path
        )

    edges = read()
    if not isinstance(edges, str):
        check_graph(edges)
    if kind not in ("edges", "abc"):
        return
    # one reader after the other leaves everything to the next; the last one goes line by line
    module, fast = (_text, ("_streamed", "_compiled")) if kind == "edges" else (_mcl, ("_regular",))
    kept = [getattr(module, name) for name in fast]
    chunk = _files.CHUNK
    try:
        _files.CHUNK = 16
        check_same(edges, read())
        for name in fast:
            setattr(module, name, irregular)
            check_same(edges, read())
    finally:
        _files.CHUNK = chunk
        for name, function in zip(fast, kept, strict=True):
            setattr(module, name, function)


def check_same(edges: Any, others: Any) -> None:
    if isinstance(edges, str) or isinstance(others, str):
        # the one that keeps every field may run into the limit where the other does not
        assert edges == others or "is allowed" in f"{edges}{others}", (edges, others)
    else:
        assert rows(edges) == rows(others), (rows(edges), rows(others))


def check_tab(path: str) -> None:
    known = outcome(_mcl.read_tab, path)
    assert isinstance(known, str) or all(type(k) is int for k in known)


def check_clusters(path: str) -> None:
    found = outcome(read_clusters, path)
    assert isinstance(found, str) or all(found)


def check_graph_file(path: str) -> None:
    """What is loaded is a graph by the definition; nothing is computed of it that is not."""
    graph = outcome(torchcent.Graph.load, path)
    if isinstance(graph, str):
        return
    rowptr, col = graph.rowptr.tolist(), graph.col.tolist()
    length = [1.0] * len(col) if graph.weight is None else graph.weight.tolist()
    arcs = {}
    for v, (begin, end) in enumerate(itertools.pairwise(rowptr)):
        row = col[begin:end]
        assert (
            row == sorted(set(row)) and v not in row and all(0 <= w < len(rowptr) - 1 for w in row)
        )
        arcs.update(((v, w), x) for w, x in zip(row, length[begin:end], strict=True))
    assert len(arcs) == len(col) and all(0 < x < float("inf") for x in arcs.values())
    assert graph.directed or all(arcs.get((w, v)) == x for (v, w), x in arcs.items())
    if graph.ptr is not None:
        part = graph.batch.tolist()
        assert all(part[v] == part[w] for v, w in arcs)


def check_packed(path: str) -> None:
    """The first byte chooses the compression, the rest is the compressed file."""
    data = Path(path).read_bytes()
    suffix = compression(data[0]) if data else ".gz"
    name = f"{path}.txt{suffix}"
    Path(name).write_bytes(data[1:])
    edges = outcome(
        lambda name: torchcent.read(name, format="edges", run=torchcent.Run(memory=MEMORY)), name
    )
    if not isinstance(edges, str):
        check_graph(edges)


# --- mutations that keep what is around the data whole: the members of a zip, a compressed stream


def mutated(data: bytes, size: int) -> bytes:
    return bytes(atheris.Mutate(data, size))


def mutate_zip(data: bytes, max_size: int, seed: int) -> bytes:
    """One member of an archive is changed, and the archive packed anew."""
    draw = random.Random(seed)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = [(x.filename, archive.read(x)[: 1 << 16]) for x in archive.infolist()]
    except Exception:
        return mutated(data, max_size)
    if not members or draw.random() < 0.1:
        return mutated(data, max_size)
    name, content = members.pop(at := draw.randrange(len(members)))
    members.insert(at, (name, mutated(content, max(len(content), 64))))
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as out:
        warnings.simplefilter("ignore")
        for name, content in members:
            out.writestr(name, content)
    return packed.getvalue()[: max(max_size, 4096)]


def mutate_graph(data: bytes, max_size: int, seed: int) -> bytes:
    """One array or value of a graph is changed, and the file saved anew, its arrays aligned."""
    draw = random.Random(seed)
    try:
        content = torch.load(io.BytesIO(data), weights_only=True)
        name = draw.choice(sorted(dict(content)))
    except Exception:
        return mutated(data, max_size)
    if draw.random() < 0.2:
        return mutated(data, max_size)
    part = content[name]
    if isinstance(part, torch.Tensor) and part.numel():
        changed = mutated(part.contiguous().numpy().tobytes(), 8 * part.nbytes)
        changed = changed[: len(changed) // part.itemsize * part.itemsize]
        content[name] = torch.frombuffer(bytearray(changed or bytes(8)), dtype=part.dtype)
    else:
        content[name] = draw.choice([True, False, 1, None, "", part])
    packed = io.BytesIO()
    torch.save(content, packed)
    return packed.getvalue() if packed.tell() <= max(max_size, 4096) else data


def mutate_packed(data: bytes, max_size: int, seed: int) -> bytes:
    draw = random.Random(seed)
    if not data or draw.random() < 0.5:
        return mutated(data or b"\0", max_size)
    suffix = compression(data[0])
    try:
        text = mutated(UNPACK[suffix](data[1:])[:4096], 4096)
    except Exception:
        return mutated(data, max_size)
    return data[:1] + PACK[suffix](text)


def limit_memory() -> None:
    """A claim that is believed ends in an error of malloc instead of in the machine's memory."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))


def warm_up(folder: str) -> None:
    """Threads and lazily loaded modules of libraries, before the limit."""
    pyarrow.set_cpu_count(1)  # a pool that cannot start a thread waits for ever
    pyarrow.set_io_thread_count(1)
    Path(f"{folder}/names.txt").write_text("a b 1\nb c 2\n")
    torchcent.read(f"{folder}/names.txt").graph()
    edges = torchcent.EdgeList(torch.tensor([[0], [1]]))
    for suffix in (".txt", ".mtx", ".npz", ".npy", ".pt", ".parquet", ".gr", ".graph"):
        torchcent.write(f"{folder}/warm{suffix}", edges)
        torchcent.read(f"{folder}/warm{suffix}").graph()
    seed = (HERE / "corpus/geojson/seed0").read_bytes()
    Path(f"{folder}/warm.geojson").write_bytes(seed)
    torchcent.read(f"{folder}/warm.geojson").graph()
    edges.graph().save(f"{folder}/warm.graph.pt")
    torchcent.Graph.load(f"{folder}/warm.graph.pt")


def main() -> None:
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    if kind not in SUFFIX:
        sys.exit(f"usage: readers.py TARGET [options of libFuzzer]; targets: {' '.join(SUFFIX)}")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    folder = tempfile.mkdtemp(
        prefix=f"fuzz-{kind}-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    )
    path = f"{folder}/g{SUFFIX[kind]}"
    special = {
        "tab": check_tab, "clusters": check_clusters, "packed": check_packed,
        "graph": check_graph_file,
    }  # fmt: skip
    warm_up(folder)

    def one(data: bytes) -> None:
        limit_memory()  # anew: what libFuzzer itself keeps grows
        Path(path).write_bytes(data)
        if kind in special:
            special[kind](path)
        else:
            check_edges(kind, path)

    if len(sys.argv) == 3 and os.path.isfile(sys.argv[2]):
        one(Path(sys.argv[2]).read_bytes())
        return
    mutators = {"npz": mutate_zip, "pt": mutate_zip, "packed": mutate_packed, "graph": mutate_graph}
    mutator = mutators.get(kind)
    options = SimpleNamespace(custom_mutator=mutator) if mutator else SimpleNamespace()
    given = sys.argv[2:]
    corpus = HERE / "corpus" / kind
    if not any(os.path.isdir(x) for x in given):
        # what this run finds goes to a folder of its own; the kept corpus is only read
        os.makedirs(f"{folder}/found")
        given = [*given, f"{folder}/found"]
    standard = ["-timeout=10", "-max_len=4096", "-rss_limit_mb=3000", "-print_final_stats=1"]
    given = [*standard, *given, str(corpus)]
    faulthandler.cancel_dump_traceback_later()
    atheris.Setup([sys.argv[0], *given], one, **vars(options))
    # libFuzzer calls exit(), which waits for threads of libraries, once in a while for ever.
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
