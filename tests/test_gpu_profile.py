"""benchmarks/gpu_profile.py without a GPU: the counters that ncu prints, and levels of searches."""

import importlib
import json
import os
import sys
from pathlib import Path

import pytest
import torch

from torchcent import Graph, generate

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("needs a checkout", allow_module_level=True)
pytest.importorskip("scipy")
# What stands for ncu: it writes what the script that it runs would write, and a table.
NCU = f"""#!{sys.executable}
import csv, json, sys
after = dict(zip(sys.argv, sys.argv[1:]))
metrics = after["--metrics"].split(",")
if "lts__t_sectors_op_atom.sum" in metrics:
    sys.exit("no such metric")
json.dump({{"sources": 4, "rounds": [3, 5]}}, open(after["--labels"], "w"))
with open(after["--log-file"], "w") as file:
    file.write("==PROF== Connected\\n")
    out = csv.writer(file, quoting=csv.QUOTE_ALL)
    out.writerow(["ID", "Kernel Name", *metrics])
    out.writerow(["", "", *["ns"] * len(metrics)])
    for launch in range(7):
        out.writerow([launch, "dijkstra_paths", *[f"{{4000 + launch:,}}"] * len(metrics)])
"""


@pytest.fixture
def script(monkeypatch):
    """Imports one of benchmarks/, where `graphs` is another module than here."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "graphs", raising=False)
    return importlib.import_module


def test_launches_become_rows(monkeypatch, tmp_path, script):
    program = tmp_path / "ncu"
    program.write_text(NCU)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    profile = script("gpu_profile")
    rows = profile.profiled("mt-higgs", tmp_path)
    assert [(row["strategy"], row["locks"]) for row in rows] == profile.RUNS
    last = rows[-1]
    assert last["seconds"] == pytest.approx(4006e-9) and last["L2 hits"] == 4006
    assert last["stall: memory"] == 4006 and "L2, atomics" not in last
    assert json.loads(json.dumps(rows)) == rows
    table = profile.table({"rows": rows})
    lines = table.splitlines()
    assert len(lines) == 2 + len(rows) and lines[2].startswith(
        "| mt-higgs | 4 | NP with locks | 1 |"
    )


@pytest.mark.parametrize("kind", ["whole", "uniform"])
def test_rounds_of_a_search_are_its_levels(script, kind):
    """Counted here vertex by vertex."""
    edges = generate.ba(60, 2, seed=2)
    weight = torch.from_numpy(script("graphs").lengths(edges.numpy(), kind))
    graph = Graph.from_edge_index(edges, edge_weight=weight, directed=False)
    arcs = {v: [] for v in range(60)}
    for (u, v), w in zip(edges.T.tolist(), weight.tolist(), strict=True):
        arcs[u].append((v, w))
        arcs[v].append((u, w))
    distance, settled, levels = {5: 0.0}, set(), 0
    while bound := [
        d + min(w for _, w in arcs[v]) for v, d in distance.items() if v not in settled
    ]:
        level = [v for v, d in distance.items() if v not in settled and d < min(bound)]
        levels += 1
        for v in level:
            settled.add(v)
            for other, w in arcs[v]:
                distance[other] = min(distance.get(other, float("inf")), distance[v] + w)
    assert script("gpu_weighted").rounds(graph, 5) == levels


def test_the_stand_in_of_retweets_has_hubs_and_no_isolated_vertices(script):
    edges = script("gpu_weighted").hubs(4_000, 7_000, 0.95)
    degree = Graph.from_edge_index(edges, 4_000, directed=False).degree
    assert degree.min() > 0 and degree.max() > 400 and 3 < degree.double().mean() < 3.5
