"""Optional packages: without one, what needs it says which extra to install, and the rest works."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

# What needs a package, the package and its extra.
USES = {
    "graph.to_networkx()": ("networkx", "networkx"),
    "graph.to_igraph()": ("igraph", "igraph"),
    "graph.to_networkit()": ("networkit", "networkit"),
    "graph.to_data()": ("torch_geometric", "pyg"),
    "import torchcent.nx": ("networkx", "networkx"),
    "torchcent.read('a.graphml')": ("networkx", "networkx"),
    "command('degree', 'networkx:les_miserables')": ("networkx", "networkx"),
    "torchcent.read('a.parquet')": ("pyarrow", "io"),
    "torchcent.write('b.parquet', edges)": ("pyarrow", "io"),
    "plot.check_plot_path('b.png')": ("matplotlib", "plot"),
    "plot.plot_scores(graph, scores, path='b.png')": ("matplotlib", "plot"),
    "plot.plot_network(arcs, scores.new_zeros(3, 2), scores, path='b.png')": ("matplotlib", "plot"),
    "write_scores('b.gpkg', {'s': scores}, geometry=scores.new_zeros(3, 2))": ("geopandas", "geo"),
    "cluster_plot.plot_clusterings(found, arcs, path='b.png')": ("matplotlib", "plot"),
    "torchcent.shortest_path_lengths(graph, out='d.zarr')": ("zarr", "zarr"),
    "found.agreement(found.labels)": ("sklearn", "cluster"),
    "script('bash')": ("shtab", "completion"),
    "torchcent.read('a.geojson')": ("pyogrio", "geo"),
    "torchcent.write('b.gexf', edges)": ("networkx", "networkx"),
}
WITHOUT = """
import contextlib, io, json, sys
for name in {packages}:
    sys.modules[name] = None  # what an import of a package that is not there comes to
import torch, torchcent
from _torchcent_command._completion import script
from torchcent import cluster_plot, plot
from torchcent.cli import main
from torchcent.io import write_scores
arcs = torch.tensor([[0, 1, 2], [1, 2, 0]])
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
scores = torchcent.betweenness(graph)
edges, found = torchcent.EdgeList(arcs), torchcent.mcl(arcs)
for name in ("a.graphml", "a.parquet", "a.geojson"):
    open(name, "w").write("no such format")


def command(*words):
    with contextlib.redirect_stderr(io.StringIO()) as error:
        assert main(words) == 2
    raise ImportError(error.getvalue().strip())


said = dict()
for use in {uses}:
    try:
        exec(use)
        said[use] = "it worked"
    except Exception as error:
        said[use] = type(error).__name__ + ": " + str(error)
print(json.dumps(said))
"""


@pytest.mark.slow
def test_what_is_missing_names_its_extra(tmp_path):
    packages = sorted({package for package, _ in USES.values()})
    code = WITHOUT.format(packages=packages, uses=list(USES))
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    for use, (package, extra) in USES.items():
        named = f"needs {package}, of the extra torchcent\\[{extra}\\]: pip install .+"
        expected = f"ImportError: .*{named}"
        assert re.fullmatch(expected, said[use]), f"{use}: {said[use]}"
    assert not (tmp_path / "b.parquet").exists() and not (tmp_path / "b.png").exists()


@pytest.mark.parametrize("extra", ["pyg", "networkx", "io", "plot", "bench", "docs"])
def test_extra_names_packages(extra):
    assert EXTRAS[extra]


def test_all_is_all_that_users_need():
    (everything,) = EXTRAS["all"]
    named = set(everything.removeprefix("torchcent[").removesuffix("]").split(","))
    assert named == set(EXTRAS) - {"bench", "test", "docs", "fuzz", "all"}
