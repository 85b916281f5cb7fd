"""The scripts of the five papers on tiny graphs, and the columns of their page."""

import copy
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from internals import COMPILED

import torchcent

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("needs a checkout", allow_module_level=True)
pytest.importorskip("scipy")
pytest.importorskip("networkx")


@pytest.fixture
def script(monkeypatch):
    """Imports one of benchmarks/, where `graphs` is another module than here."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "graphs", raising=False)
    return importlib.import_module


@pytest.fixture
def results():
    folder = BENCHMARKS / "results"
    return {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
def test_all_generated_rows_run_on_tiny_graphs(tmp_path, script):
    output = tmp_path / "papers.json"
    command = [sys.executable, "papers.py", "--small", "--repeat", "1", "--output", str(output)]
    subprocess.run(command, cwd=BENCHMARKS, capture_output=True, timeout=300, check=True)
    found = json.loads(output.read_text())["cpu"]["rows"]
    papers = script("papers")
    wanted = [papers.key(row) for row in papers.rows(small=True)]
    first = dict.fromkeys(map(str, wanted))  # a graph of Figure 3a is that of Table 2
    assert {str({name: row[name] for name in wanted[0]}) for row in found} == set(first)
    for row in found:
        one_thread = row.get("one_thread", {})
        assert set(one_thread) == ({*papers.ONE_THREAD} if row["paper"] in SEQUENTIAL else set())
        assert row["seconds"] > 0 and all(x > 0 for x in one_thread.values())
    of_table = {
        table: {x["workload"] for x in found if x["table"] == table} for table in ("II", "III")
    }
    assert of_table["II"] == of_table["III"] and len(of_table["II"]) == 12
    assert all(x["searched"] == x["nodes"] - x["isolated"] for x in found if x["table"] == "II")


SEQUENTIAL = ("gpu-fan", "sriram")


def test_one_thread_is_scaled_from_a_part_of_the_sources(monkeypatch, script):
    """By the number of vertices that have neighbours."""
    papers, calls = script("papers"), []

    def seconds(row, graph, run):
        calls.append((row.sources, run.engine.name, run.threads, graph.device.type))
        return float(row.sources or 290)

    monkeypatch.setattr(papers, "seconds", seconds)
    edges = torch.stack([torch.arange(289), torch.arange(1, 290)])
    graph = torchcent.Graph.from_edge_index(edges, 300, directed=False)
    row = papers.Row("sriram", "1", "", lambda: edges, "betweenness")
    assert papers.one_thread(row, graph) == {"plain": 290.0, "torchcent": 290.0}
    assert calls == [
        (1, "reference", 1, "cpu"), (32, "reference", 1, "cpu"),
        (1, "auto", 1, "cpu"), (256, "auto", 1, "cpu"),
    ]  # fmt: skip
    calls.clear()
    closeness = papers.Row("gpu-fan", "2", "", lambda: edges, "closeness")
    assert papers.one_thread(closeness, graph) == {"plain": 290.0, "torchcent": 290.0}
    assert calls[-1] == (None, "auto", 1, "cpu")


def test_points_are_joined_as_often_as_those_of_the_paper(script):
    """rgg_n_2_21_s0 has 28.98 million slots; without the rim it would have 0.55^2 pi ln(n) n."""
    n = 1 << 13
    edges = script("papers").geometric(n)
    expected = np.pi * 0.55**2 * np.log(n) * n / 2
    assert 0.93 * expected < edges.shape[1] < expected
    assert np.pi * 0.55**2 * np.log(2**21) * 2**21 == pytest.approx(28.98e6, rel=0.01)


def test_speedups_are_columns_once_they_are_measured(script, results):
    table = script("counterparts").table
    workload = "R-MAT scale 16 ef 8"
    for row in results["papers.json"]["cuda"]["rows"]:
        row.pop("one_thread", None)
    for paper in SEQUENTIAL:
        assert "over one thread" not in table(results, paper)
    measured = copy.deepcopy(results)
    for row in measured["papers.json"]["cuda"]["rows"]:
        if row["workload"] in (workload, "breast-coexpress", "BA n=30000 b=10"):
            row["one_thread"] = {"plain": 50 * row["seconds"], "torchcent": 4 * row["seconds"]}
    (row,) = (x for x in table(measured, "sriram").splitlines() if workload in x)
    assert row.split("|")[6].strip() == "50 (4)"
    text = table(measured, "gpu-fan")
    assert "| 50 to 50 (4 to 4) |" in text
    (row,) = (x for x in text.splitlines() if "| breast-coexpress" in x)
    assert "| 50 (4) |" in row and row.endswith("| yes |")
    (row,) = (x for x in table(measured, "gpu-fan graphs").splitlines() if "coexpress" in x)
    assert row.count(", 50") == 4
    widths = {x.count("|") for x in text.splitlines() if x.startswith("|")}
    assert len(widths) == 1


def test_all_pairs_are_scaled_from_some_sources(script, results):
    name = "delaunay_n21"
    rows = [x for x in results["papers.json"]["cuda"]["rows"] if x["paper"] != "multi-search"]
    known = {"nodes": 1000, "isolated": 200, "searched": 400, "sources": 400, "seconds": 3.0}
    known |= {"workload": name, "first": 4.0, "drawn": script("papers").BEFORE}
    known["paper"] = "multi-search"
    results["papers.json"]["cuda"]["rows"] = [*rows, known | {"measure": "betweenness"}]
    of = script("counterpart_figures").all_pairs(name)
    assert of(results)["H200"] == "3 (4); all pairs not run yet"
    results["papers.json"]["cuda"]["rows"].append(known | {"measure": "shortest_path_lengths"})
    assert of(results)["H200"] == "3 (4); all pairs 6, by 400 sources"


def test_rows_say_how_their_sources_were_drawn(script, results):
    """As long as some of them are of another drawing, or it is in their time."""
    measure = ("R-MAT scale 16 ef 8", "betweenness")
    of, key = script("counterpart_figures").call(*measure), ("workload", "measure")
    rows = results["papers.json"]["cuda"]["rows"]
    (row,) = (x for x in rows if tuple(x[name] for name in key) == measure)
    row |= {"seconds": 3.0, "first": 4.0, "drawn": script("papers").BEFORE}
    assert of(results)["H200"] == "3 (4)"
    row["drawn"] = "degree > 0"
    assert of(results)["H200"] == "3 (4), with the drawing"
    del row["drawn"]
    assert "old drawing" in of(results)["H200"]


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("device", [False, True], ids=["mcl", "gpu_mcl"])
def test_random_matrices_have_loops_of_a_permutation(script, share, device):
    """Nearly all vertices are then clusters of their own, pruned or not."""
    n = 300
    if device:
        _, (tail, head), weight = script("gpu_mcl").permuted(n, share, "cpu")
    else:
        matrix = script("mcl").permuted(n, share).tocoo()
        tail, head, weight = (torch.from_numpy(x) for x in (matrix.col, matrix.row, matrix.data))
    loop = tail == head
    assert weight[loop].sort().values.tolist() == list(range(1, n + 1))
    assert loop.sum() == n and (~loop).sum() == pytest.approx(share * n * (n - 1), rel=0.03)
    dense = torch.zeros(n, n, dtype=torch.float64).index_put((tail, head), weight)
    assert not torch.equal(dense, dense.T) and float(weight[~loop].max()) < 1
    edges = torch.stack([tail, head]).long()
    pruned = torchcent.mcl(edges, weight, num_nodes=n, loops=None)
    whole = torchcent.mcl(edges, weight, num_nodes=n, loops=None, prune=None, chaos=1e-3)
    assert torch.equal(pruned.labels, whole.labels)
    assert 0.85 * n < whole.num_clusters < n


def test_matrices_with_own_loops_are_clustered_as_they_are(monkeypatch, script):
    """What gpu_mcl.py runs on a GPU, here on the CPU."""
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    gpu_mcl = script("gpu_mcl")
    options = gpu_mcl.TABLE["RFULL1"][1]
    assert options == {"prune": None, "chaos": 1e-3, "loops": None}
    n, edges, weight = gpu_mcl.permuted(100, 0.3, "cpu")
    run = gpu_mcl.Run(n, edges, weight, options)
    assert run.seconds() > 0 and run.entries == edges.shape[1]
    expected = torchcent.mcl(edges, weight, num_nodes=n, directed=True, **options)
    assert torch.equal(run.result.labels, expected.labels)


def test_runs_of_the_papers_matrices_are_on_the_page(script, results):
    of = script("counterpart_figures").as_the_paper("RFULL3")
    on_device = results["h200.json"]["mcl"]
    results["h200.json"]["mcl"] = [row for row in on_device if row["name"] != "RFULL3"]
    assert of(results) == {}
    runs = {
        name: [{"seconds": at, "cpu_seconds": 2 * at, "clusters": 7}]
        for at, name in enumerate(NAMES, 1)
    }
    row = {"graph": "RFULL3", "runs": runs, "conditions": {"note": "others ran"}}
    results["mcl.json"]["graphs"].append(row)
    results["h200.json"]["mcl"].append({"name": "RFULL3", "seconds": 0.25, "clusters": 4500})
    assert of(results) == {
        "H200": "0.25; 4,500 clusters",
        "CPU": "seconds of the processor: not pruned 2, `mcl` not pruned 4, pruned 6, "
        "`mcl` pruned 8; 7 clusters",
    }
    row["conditions"]["note"] = ""
    assert of(results)["CPU"].startswith("not pruned 1, `mcl` not pruned 2")


NAMES = ("torchcent, whole, as the paper", "mcl, not pruned", "torchcent, whole", "mcl")


CURVES = {
    "gpu-fan 2": [
        {"edge_parallel": 12.0, "cooperative": 6.0, "auto": 0.5},
        {"edge_parallel": 12.0, "cooperative": 4.0, "auto": 0.25},
    ],
    "sriram 3": [
        {"strategy": "node_parallel", "at_once": 1, "seconds": 6.0},
        {"strategy": "node_parallel", "at_once": 16, "seconds": 0.5},
        {"strategy": "cooperative", "at_once": 16, "seconds": 0.1},
    ],
    "fan 3": [{"NP": 8.0, "WE": 4.0, "NP+warp32": 16.0, "WE+warp32": 2.0}],
    "multi-search 2": [
        {"scale": s, "degree": d, "seconds": 4.0**s * d} for s in (3, 4) for d in (28, 56)
    ],
    "multi-search 3": [
        {"kind": "Delaunay", "scale": s, "cooperative": s, "work_efficient": 2, "edge_parallel": 3}
        for s in (9, 18)
    ],
}


def test_curves_of_figures_become_a_line_each(script, results):
    figures = script("counterpart_figures")
    of_curves = (
        figures.over_edges, figures.at_once, figures.panels, figures.doubled,
    )  # fmt: skip
    results["h200.json"].pop("figures", None)
    assert [of(results) for of in of_curves] == [{}] * 4
    results["h200.json"]["figures"] = CURVES
    assert [of(results)["H200"] for of in of_curves] == [
        "cooperative 2 to 3, `auto` 24 to 48 times as fast as edge-parallel on 2 networks",
        "times as fast as on one, node-parallel: 12 on 16",
        "times as fast as NP: WE 2 to 2, NP+warp32 0.5 to 0.5, WE+warp32 4 to 4 on 1 graphs, "
        "with locks",
        "twice the edges 2, twice the vertices 4 times the seconds",
    ]
    of = figures.traversals("Delaunay", "Delaunay 2^18")
    assert of(results)["H200"] == (
        "betweenness, scale 18: cooperative 18, work-efficient 2, edge-parallel 3 us per source"
    )
    assert figures.traversals("Kronecker", "R-MAT scale 16 ef 8")(results)["H200"].startswith(
        "betweenness of R-MAT scale 16 ef 8, slot-GTEPS: "
    )
