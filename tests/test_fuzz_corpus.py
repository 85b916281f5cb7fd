"""The kept inputs of the fuzz targets: each gives a valid graph or a documented error."""

import warnings
from pathlib import Path

import pytest
from internals import read_tab

import torchcent
from torchcent.io import read_clusters

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
INPUTS = sorted(CORPUS.glob("*/*")) if CORPUS.is_dir() else []


@pytest.mark.parametrize("source", INPUTS, ids=lambda x: f"{x.parent.name}-{x.name}")
def test_input(tmp_path, source):
    kind = source.parent.name
    if kind in ("graphml", "gml"):
        pytest.importorskip("networkx")
    if kind == "geojson":
        pytest.importorskip("geopandas")
        pytest.importorskip("pyogrio")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    data = source.read_bytes()
    path = tmp_path / "file"
    if kind == "packed":
        path = tmp_path / f"file{['.gz', '.bz2', '.xz'][data[0] % 3]}"
        kind, data = "edges", data[1:]
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == "tab":
                read_tab(path)
            elif kind == "clusters":
                read_clusters(path)
            elif kind == "graph":
                assert torchcent.Graph.load(path).num_nodes == 4
            else:
                edges = torchcent.read(path, format=kind, run=torchcent.Run(memory=1 << 24))
                assert edges.graph().num_nodes == edges.num_nodes
    except (ValueError, MemoryError) as error:
        assert str(path) in str(error)


def test_seeds_are_there():
    if not CORPUS.is_dir():
        pytest.skip("an installed package has no corpus")
    assert len({x.parent.name for x in INPUTS}) == 18
    assert all(x.stat().st_size < 4096 for x in INPUTS)
