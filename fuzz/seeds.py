"""Writes the seeds of fuzz/corpus: a small file of each kind that a reader knows."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import networkx
import numpy as np
import pyarrow as pa
import scipy.io
import scipy.sparse
import torch
from pyarrow import parquet

import torchcent

CORPUS = Path(__file__).parent / "corpus"
MTX = "%%MatrixMarket matrix "
MCI = "(mclheader\nmcltype matrix\ndimensions 3x3\n)\n"
BODY = "(mclmatrix\nbegin\n0  1:2.5 2 $\n1  0:2.5 2:0.5 $\n2  0 1:0.5 $\n)\n"
TEXTS = {
    "edges": [
        "0 1\n1 2\n",
        "# Undirected graph\n# Nodes: 5 Edges: 2\n0\t3\n1\t3\n",
        "source,target,weight\na,b,2.5\nb,c,1e-3\n",
        '"Doe, J.",Bob\nBob,"say ""x"""\n',
        "% asym posweighted\n% 2 4 4\n1 2 3\n1 3 4\n",
        "# vertex lonely\nJean Valjean\tCosette\n",
        "1 2 7 1217567877\n2 1 8 1217567878\n",
        "a;b\n\n# c\nb;c\r\n-3;4\n",
        "# c\r\n  9223372036854775807\t-9223372036854775808 \r\n\r\n% x\r\n007\t-0\r\n",
        "5,6,.5,x\n6 , 7,1e-400,\n7,5,+2.E3,é\n",
    ],
    "abc": ["cat hat  0.2\nhat bat  0.16\n", "a\tb c\nb c\ta\n", "# x\n1 2\n 2  10 3\n"],
    "mci": [
        MCI + BODY,
        MCI + "(mclcols\nbegin\n3 7 90 $\n)\n(mclmatrix\nbegin\n3 7:1 $\n7 $\n90 3:2 $\n)\n",
        "# comment\n" + MCI + BODY.replace("2:0.5", "2:0.25"),
    ],
    "mtx": [
        MTX + "coordinate real general\n% c\n3 3 2\n1 2 0.5\n3 1 -2e3\n",
        MTX + "coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
        MTX + "coordinate integer skew-symmetric\n3 3 1\n2 1 5\n",
        MTX + "array real general\n2 2\n0\n1.5\n1.5\n0\n",
        MTX + "array integer symmetric\n2 2\n0\n1\n0\n",
        MTX + "coordinate complex hermitian\n2 2 1\n2 1 1 1\n",
    ],
    "metis": [
        "3 2\n2\n1 3\n2\n",
        "% c\n2 1 011 2\n9 8 2 5\n9 8 1 5\n",
        "2 1 001\n2 0.5\n1 0.5\n",
        "4 1\n\n3\n2\n\n",
    ],
    "gr": [
        "c a\np sp 4 3\nc b\na 1 2 10\na 2 1 10\n\na 1 3 2.5\n",
        "p aux 2 1\n1 2 3\n",
        "p tw 3 2\n1 2\n2 3\n",
    ],
    "tab": ["0\ta\n1\tb c\n# x\n", "7\tä\n"],
    "clusters": [
        "a\tb\nc\n",
        "1 2 3\n4\n",
        '# names in double quotes, as in CSV\n"Dora Fox"\na\t"b ""c""\n"\t""\n# x\nd\n',
    ],
}


def save(target: str, name: str, data: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main() -> None:
    for target, texts in TEXTS.items():
        for k, text in enumerate(texts):
            save(target, f"seed{k}", text.encode())
    for k, pack in enumerate([gzip.compress, bz2.compress, lzma.compress]):
        save("packed", f"seed{k}", bytes([k]) + pack(b"0 1\n1 2\n"))
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as file:
        file.write(b"0 1\n1 2\n")
    save("packed", "seed3", b"\xff" + packed.getvalue().to_pybytes())
    save("packed", "two_streams", b"\2" + lzma.compress(b"0 1\n") + lzma.compress(b"1 2\n"))
    dense = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 3]])
    for layout in ("csr", "csc", "coo", "bsr", "dia"):
        for kind in (bool, np.int8, float, complex):
            file = io.BytesIO()
            matrix = scipy.sparse.csr_array(dense.astype(kind)).asformat(layout)
            scipy.sparse.save_npz(file, matrix, compressed=kind is float)
            if kind in (float, complex) or layout in ("csr", "coo"):
                save("npz", f"{layout}_{np.dtype(kind).name}", file.getvalue())
    for name, array in {
        "int64": np.array([[0, 1], [1, 2], [2, 0]]),
        "fortran": np.asfortranarray(np.array([[0, 1, 5], [1, 2, 7]], np.uint16)),
        "float": np.zeros((2, 3)),
        "uint64": np.array([[2**64 - 1], [0]], np.uint64),
    }.items():
        file = io.BytesIO()
        np.save(file, array)
        save("npy", name, file.getvalue())
    index = torch.tensor([[0, 1], [1, 2]])
    for name, content in {
        "tensor": index,
        "weights": {"edge_index": index, "edge_weight": torch.tensor([1.5, 2.0]), "num_nodes": 5},
        "labels": {"edge_index": index, "labels": ["a", "b", "c"], "directed": True},
        "expanded": {"edge_index": torch.tensor([0]).expand(2, 9), "num_nodes": torch.tensor(1)},
        "complex": {"edge_index": index, "edge_weight": torch.tensor([1j, 2])},
    }.items():
        file = io.BytesIO()
        torch.save(content, file)
        save("pt", name, file.getvalue())
    for name, options in {
        "directed": {},
        "undirected": {"directed": False},
        "weights": {"directed": False, "edge_weight": torch.tensor([0.5, 2.0, 3.0])},
        "batch": {"ptr": torch.tensor([0, 0, 4])},
    }.items():
        graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1, 3], [1, 2, 0]]), **options)
        (CORPUS / "graph").mkdir(parents=True, exist_ok=True)
        graph.save(CORPUS / "graph" / name)
    for name, table in {
        "integers": {"source": [0, 1], "target": [1, 2], "weight": [0.5, 2.0]},
        "names": {"u": ["a", "b"], "v": ["b", "c"]},
        "floats": {"u": [0.5], "v": [1.5]},
    }.items():
        file = io.BytesIO()
        own = {"torchcent": '{"num_nodes": 4, "directed": true, "isolated": []}'}
        made = pa.table(table)
        made = made.replace_schema_metadata(own) if name == "integers" else made
        parquet.write_table(made, file, store_schema=name != "names", write_statistics=False)
        save("parquet", name, file.getvalue())
    graph = networkx.DiGraph()
    graph.add_edge("Ada", "Bob", weight=2.5)
    graph.add_node("alone")
    for kind, write in (("graphml", networkx.write_graphml), ("gml", networkx.write_gml)):
        for name, one in (("directed", graph), ("undirected", graph.to_undirected())):
            file = io.BytesIO()
            write(one, file)
            save(kind, name, file.getvalue())
    save("gml", "repeated", b"graph [ node [ id 4 ] node [ id 2 ] edge [ source 4 target 2 ] "
         b"edge [ source 4 target 2 ] ]")  # fmt: skip
    nodes = 'node [ id 0 name "Zoë &amp; x" ] node [ id 1 name "1e5" ]'
    edges = "edge [ source 0 target 1 weight 1e-300 ]"
    text = f'Creator "igraph"\nVersion 1\ngraph [ directed 1 {nodes} {edges} ]\n'
    save("gml", "igraph", text.encode())
    head = (
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>'
    )
    edge = '<edge source="n0" target="n1"/></graph></graphml>'
    named = (
        '<key id="v" for="node" attr.name="name" attr.type="string"/><graph edgedefault="directed">'
        '<node id="n0"><data key="v">Ann</data></node><node id="n1"><data key="v">Bob</data></node>'
    )
    drawn = (
        '<key id="d" for="node" yfiles.type="nodegraphics"/><graph edgedefault="undirected">'
        '<node id="n0"><data key="d"><y:UMLClassNode><y:NodeLabel>Ann<y:Model/></y:NodeLabel>'
        '</y:UMLClassNode></data></node><node id="n1"><graph edgedefault="undirected">'
        '<node id="i"/></graph></node>'
    )
    for name, text in (("igraph", named), ("yed", drawn)):
        save("graphml", name, f"{head}{text}{edge}".encode())
    assert torchcent.io.FORMATS


if __name__ == "__main__":
    main()
