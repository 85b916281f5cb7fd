"""Real files against their published sizes and an independent reader."""

import json
from pathlib import Path

import numpy as np
import pytest
from surface import call

from torchcent.io import read

pytestmark = pytest.mark.sweep

# ---- real files

_GRAPHS = Path(__file__).resolve().parents[2] / "shared" / "data" / "graphs"
_OTHER = {  # formats of other programs, and files that are not graphs
    "actor-imdb", "blogcatalog", "ca-CondMat-cc1", "cit-HepPh", "cit-HepTh", "cnr-2000",
    "cora-cites", "ego-twitter", "hprd-release9", "openflights-routes", "us-airports-gephi",
    "tn-berlin-center", "tn-chicago-regional", "tn-sydney", "web-NotreDame", "mcl-graphs",
    "planetoid-citeseer", "planetoid-cora", "planetoid-pubmed", "tu-ENZYMES", "tu-IMDB-BINARY",
    "tu-IMDB-MULTI", "tu-MUTAG", "tu-NCI1", "tu-PROTEINS", "tu-PTC",
}  # fmt: skip
_OPTIONS: dict[str, dict] = {
    "CA-HepTh.txt.xz": {"skip": 1},  # both begin with the numbers of vertices and edges
    "ca-CondMat.lcc.net.xz": {"skip": 1, "format": "edges"},
    "ca-GrQc.lcc.net.gz": {"skip": 1, "format": "edges"},
    "ca-HepTh.lcc.net.gz": {"skip": 1, "format": "edges"},
    "commanche_dual.mtx.gz": {"format": "edges"},  # both lack their first line
    "luxembourg_osm.mtx.xz": {"format": "edges"},
}
_NOT_GRAPHS = ("labels-", "README", "TAP_ground", "LFR-ground", ".properties", ".tab")


def _real_files():
    if not _GRAPHS.is_dir():
        return [pytest.param(None, marks=pytest.mark.skip(reason="shared/data is not here"))]
    files = sorted(p for p in _GRAPHS.glob("*/*") if p.parent.name not in _OTHER)
    return [
        pytest.param(p, id=f"{p.parent.name}/{p.name}")
        for p in files
        if not any(x in p.name for x in _NOT_GRAPHS)
    ]


@pytest.mark.parametrize("path", _real_files())
def test_real_graph_has_its_size(path):
    sizes = json.loads((_GRAPHS / "SIZES.json").read_text())
    folder = path.parent.name
    names = [folder, *(f"{folder}/{path.name.removesuffix(x)}" for x in ("", ".gz", ".xz"))]
    size = next(sizes[name] for name in names if name in sizes)
    edges = call(read, path, **_OPTIONS.get(path.name, {}))
    row, col = edges.edge_index.numpy()
    row, col = row[row != col], col[row != col]
    if not size["directed"]:
        row, col = np.minimum(row, col), np.maximum(row, col)
    found = len(np.unique(row * edges.num_nodes + col))
    assert (edges.num_nodes, found) == (size["n"], size["m"])


@pytest.mark.parametrize(
    "name", ["jazz", "lesmis", "rome99", "karate", "as20000102", "yeast-collins2007", "power"]
)
def test_real_graph_is_that_graph(load, name):
    """Edge by edge against an independent reader, by label where the file has labels."""
    if not _GRAPHS.is_dir():
        pytest.skip("shared/data is not here")
    matrix, info = load.load(name)
    path = next(p for p in sorted((_GRAPHS / name).iterdir()) if p.name[0] != ".")
    edges = read(path)
    labels = info["labels"]
    if labels is None:
        own, label = edges.edge_index.numpy(), np.arange(info["n"])
    else:
        own, label = edges.vertex_labels()[edges.edge_index.numpy()], np.array(labels, object)
    coo = matrix.tocoo()
    expected = set(zip(label[coo.row].tolist(), label[coo.col].tolist(), strict=True))
    found = set(zip(own[0].tolist(), own[1].tolist(), strict=True))
    if not info["directed"]:
        found |= {(v, u) for u, v in found}
    assert {(u, v) for u, v in found if u != v} == expected
