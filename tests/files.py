"""What the tests of reading and writing share."""

import bz2
import gzip
import lzma
import warnings

import pytest
from hypothesis import strategies as st
from internals import IrregularText
from surface import call

from torchcent.io import read


def pack_zst(data):
    pa = pytest.importorskip("pyarrow")
    file = pa.BufferOutputStream()
    with pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(data)
    return file.getvalue().to_pybytes()


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": pack_zst}

#: the readers of edge lists before the one that goes line by line (tuning.py)
FAST = ("streamed", "read_compiled")
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def save(folder, name, text):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(PACK.get(path.suffix, bytes)(data))
    return path


def rows(edges):
    """The edges by what the file calls their ends, with the weight if there is one."""
    label = edges.vertex_labels().tolist()
    source, target = edges.edge_index.tolist()
    ends = [(label[u], label[v]) for u, v in zip(source, target, strict=True)]
    if edges.edge_weight is None:
        return ends
    return [(*e, w) for e, w in zip(ends, edges.edge_weight.tolist(), strict=True)]


def silent(path, **options):
    """What is read, and that nothing is said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(read, path, **options)


def told(path, **options):
    """What is read, and what is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        edges = call(read, path, **options)
    return edges, [str(each.message) for each in caught]


def irregular(*_):
    raise IrregularText
