"""How distance measures run: progress, Ctrl-C, memory within the forecast."""

import subprocess
import sys

import pytest
import torch
from internals import has_kernel
from interrupt import assert_stops
from resident import GIVING_BACK

import torchcent
from torchcent import Graph


@pytest.mark.parametrize("measure", ["closeness", "distance_distribution", "diameter"])
def test_progress(distance_engine, tuning, capsys, measure):
    tuning(inline=0)
    columns = torch.randint(0, 400, (2, 1200), generator=torch.Generator().manual_seed(0))
    plain = getattr(torchcent, measure)(
        columns, run=torchcent.Run(engine=distance_engine, progress=False)
    )
    assert capsys.readouterr().err == ""
    shown = getattr(torchcent, measure)(
        columns, run=torchcent.Run(engine=distance_engine, progress=True)
    )
    assert torch.equal(plain, shown)
    if measure != "diameter":  # which may need no batch
        said = capsys.readouterr().err
        assert measure in said and "100%" in said


GRAPH = """
measure, engine, n = sys.argv[1], sys.argv[2], 500_000
arcs = torch.randint(0, n, (2, 6 * n), generator=torch.Generator().manual_seed(0))
arcs[:, :n] = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])  # connected
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
torchcent.closeness(graph, vertices=torch.arange(3), run=torchcent.Run(engine="bits"))
torchcent.explain(graph, measure="closeness")  # all that is prepared once
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("measure, engine", [("closeness", "bits"), ("diameter", "auto")])
def test_interrupt(measure, engine):
    if not has_kernel("distance_sums", torch.device("cpu")):
        pytest.skip("the bits engine is not there")
    call = "getattr(torchcent, measure)(graph, run=torchcent.Run(engine=engine, progress=False))"
    assert_stops(GRAPH, call, measure, engine)


PEAK = """
import sys, torch, torchcent

def status(field):
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024

measure, engine, n = sys.argv[1], sys.argv[2], 100_000
torch.set_num_threads(2)
star = torch.tensor([[0, 0], [1, 2]])
getattr(torchcent, measure)(star, run=torchcent.Run(engine=engine))
arcs = torch.randint(0, n, (2, 3 * n), generator=torch.Generator().manual_seed(0))
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
sources = torch.arange(1100 if engine == "bits" else 3)
options = {"run": torchcent.Run(engine=engine), "sources": sources}
plan = torchcent.explain(graph, measure=measure, **options)
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = status("VmRSS")
getattr(torchcent, measure)(graph, **options)
print(status("VmHWM") - before, plan.memory - graph.nbytes)
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("measure, engine", [("closeness", "tensor"), ("harmonic", "bits")])
def test_memory_stays_within_the_forecast(measure, engine):
    if engine == "bits" and not has_kernel("distance_sums", torch.device("cpu")):
        pytest.skip("the bits engine is not there")
    run = subprocess.run(
        [sys.executable, "-c", PEAK, measure, engine],
        capture_output=True,
        text=True,
        env=GIVING_BACK,
    )
    if "Permission" in run.stderr:
        pytest.skip("the high-water mark of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    taken, forecast = map(int, run.stdout.split())
    assert forecast / 8 < taken < forecast
    small = Graph.from_edge_index(torch.tensor([[0], [1]]))
    assert (
        torchcent.explain(small, measure=measure, run=torchcent.Run(engine=engine)).memory < 2**20
    )
