"""What reading takes is what its budget was asked for, at most."""

import ctypes
import gc
import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
from files import pack_zst
from internals import COMPILED

import torchcent
from torchcent.io import _budget

EDGES = 100_000
SLACK = 16 << 20  # arenas of allocators, buffers of decompressors and libraries
RESET = Path("/proc/self/clear_refs")


def resident(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def peak_of(call):
    """Bytes that the process takes beyond what it had, at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # else what earlier calls have freed is not counted
    before = resident("VmRSS:")
    RESET.write_text("5")  # the peak begins anew
    call()
    return resident("VmHWM:") - before


def lines(pattern, n):
    ends = np.random.default_rng(0).integers(1, n, (EDGES, 2)).tolist()
    return "".join(pattern.format(u, v, max(u, v), min(u, v)) for u, v in ends)


def make(kind, path, n):
    if kind == "names":
        path.write_text(lines("x{0} y{1}\n", n))
    elif kind == "irregular":
        path.write_text(lines("{0} , {1}\n", n))
    elif kind in ("edges", "abc"):
        path.write_text(lines("{0} {1}\n", n))
    elif kind == "gr":
        path.write_text(f"p sp {n} {EDGES}\n" + lines("a {0} {1} 1\n", n))
    elif kind == "mtx":
        head = f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} {EDGES}\n"
        path.write_text(head + lines("{2} {3}\n", n))
    elif kind == "mci":
        head = f"(mclheader\ndimensions {n}x{n}\n)\n(mclmatrix\nbegin\n"
        path.write_text(head + lines("{0} {1} $\n", n) + ")\n")
    elif kind in ("graphml", "gml"):
        networkx = pytest.importorskip("networkx")
        graph = networkx.gnm_random_graph(n // 10, EDGES // 10, seed=1)
        getattr(networkx, f"write_{kind}")(graph, path)
    elif kind == "pt":
        index = torch.randint(n, (2, EDGES))
        torch.save({"edge_index": index, "labels": [f"v{k}" for k in range(n)]}, path)
    elif kind == "npz":
        index = np.random.default_rng(0).integers(0, n, (2, EDGES))
        matrix = scipy.sparse.coo_array((np.full(EDGES, 2, np.int8), tuple(index)), shape=(n, n))
        scipy.sparse.save_npz(path, matrix)
    else:
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        torchcent.write(path, torchcent.EdgeList(torch.randint(n, (2, EDGES))))


SUFFIX = {"edges": ".txt", "names": ".txt", "irregular": ".txt", "metis": ".graph"}


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.skipif(not RESET.exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("n", [9, EDGES])
@pytest.mark.parametrize(
    "kind",
    [
        "edges", "names", "irregular", "abc", "mtx", "metis", "gr", "mci", "graphml", "gml",
        "npz", "npy", "pt", "parquet",
    ],
)  # fmt: skip
def test_no_more_than_asked_for(tmp_path, monkeypatch, kind, n):
    if n == 9 and kind in ("graphml", "gml", "metis"):
        pytest.skip("has no more edges than pairs of vertices")
    path = tmp_path / f"g{SUFFIX.get(kind, '.' + kind)}"
    make(kind, path, n)
    asked = []
    allow = _budget.Budget.allow

    def spy(self, needed, what):
        asked.append(needed)
        allow(self, needed, what)

    monkeypatch.setattr(_budget.Budget, "allow", spy)
    torchcent.read(path)  # modules and pools that stay
    peak = peak_of(lambda: torchcent.read(path))
    print(kind, n, path.stat().st_size, peak, max(asked))
    assert peak <= max(asked) + SLACK
    with pytest.raises(MemoryError, match=f"memory={max(asked) - 1} "):
        torchcent.read(path, run=torchcent.Run(memory=max(asked) - 1))


def digits(ids, end):
    """Lines of ids of 12 characters each, with blanks before their digits."""
    text = np.empty((len(ids), 13), np.uint8)
    for k in range(12):
        digit = 48 + ids // 10**k % 10
        text[:, 11 - k] = np.where((ids >= 10**k) | (k == 0), digit, 32)
    text[:, 12] = ord(end)
    return text


@pytest.mark.slow
@pytest.mark.skipif(not RESET.exists(), reason="needs Linux's /proc")
@pytest.mark.skipif(not COMPILED, reason="compiled code only")
@pytest.mark.sweep(cases=2)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("n", [10**5, 4 * 10**6, 10**12])
def test_rows_take_little_more_than_the_arrays(tmp_path, monkeypatch, n, weights, suffix):
    """At most 2.5 times what comes out: the text is never in memory as a whole."""
    edges, draw = 3_000_000, np.random.default_rng(0)
    columns = [digits(draw.integers(0, n, edges), "\t") for _ in range(2 + weights)]
    columns[-1][:, -1] = ord("\n")
    data = np.concatenate(columns, axis=1).tobytes()
    path = tmp_path / f"g.txt{suffix}"
    path.write_bytes(
        {"": bytes, ".gz": lambda x: gzip.compress(x, 1), ".zst": pack_zst}[suffix](data)
    )
    asked = []
    allow = _budget.Budget.allow

    def spy(self, needed, what):
        asked.append(needed)
        allow(self, needed, what)

    monkeypatch.setattr(_budget.Budget, "allow", spy)
    torchcent.read(path)  # modules and pools that stay
    kept = []
    peak = peak_of(lambda: kept.append(torchcent.read(path)))
    (edges,) = kept
    arrays = edges.edge_index.nbytes + (0 if edges.labels is None else edges.labels.nbytes)
    arrays += edges.edge_weight.nbytes if weights else 0
    print(n, weights, suffix, peak / arrays, max(asked) / arrays)
    assert peak <= 2.5 * arrays + SLACK
    assert peak <= max(asked) + SLACK
    with pytest.raises(MemoryError, match=f"memory={max(asked) - 1} "):
        torchcent.read(path, run=torchcent.Run(memory=max(asked) - 1))
