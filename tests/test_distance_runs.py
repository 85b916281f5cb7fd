"""How distance measures run: progress, Ctrl-C, memory within the forecast."""

import signal
import subprocess
import sys
import time

import pytest
import torch

import torchcent
from torchcent import Graph, _distance_plan


@pytest.mark.parametrize("measure", ["closeness", "distance_distribution", "diameter"])
def test_progress(distance_engine, monkeypatch, capsys, measure):
    monkeypatch.setitem(_distance_plan.INLINE_WORK, "bits", 0)
    monkeypatch.setitem(_distance_plan.INLINE_WORK, "tensor", 0)
    columns = torch.randint(0, 400, (2, 1200), generator=torch.Generator().manual_seed(0))
    plain = getattr(torchcent, measure)(columns, progress=False, engine=distance_engine)
    assert capsys.readouterr().err == ""
    shown = getattr(torchcent, measure)(columns, progress=True, engine=distance_engine)
    assert torch.equal(plain, shown)
    if measure != "diameter":  # which may need no batch
        said = capsys.readouterr().err
        assert measure in said and "100%" in said


INTERRUPTED = """
import signal, sys, threading
import torch, torchcent

# A shell's background job starts with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
measure, engine, n = sys.argv[1], sys.argv[2], 500_000
arcs = torch.randint(0, n, (2, 6 * n), generator=torch.Generator().manual_seed(0))
arcs[:, :n] = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])  # connected
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
torchcent.closeness(graph, vertices=torch.arange(3), engine="bits")
torchcent.explain(graph, "closeness")  # all that is prepared once
print("ready", flush=True)
try:
    getattr(torchcent, measure)(graph, engine=engine, progress=False)
except KeyboardInterrupt:
    print("interrupted", *(thread.name for thread in threading.enumerate()), flush=True)
"""


@pytest.mark.parametrize("measure, engine", [("closeness", "bits"), ("diameter", "auto")])
def test_interrupt(measure, engine):
    """Ctrl-C ends a run of many minutes within a second, and its threads with it."""
    if not _distance_plan.has_bits(torch.device("cpu")):
        pytest.skip("the bits engine is not there")
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, measure, engine],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        sent = time.monotonic()
        said = run.stdout.readline()
        took = time.monotonic() - sent
        _, errors = run.communicate()
    assert said == "interrupted MainThread\n", errors
    assert run.returncode == 0, errors
    assert took < 1


PEAK = """
import sys, torch, torchcent

def status(field):
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024

measure, engine, n = sys.argv[1], sys.argv[2], 100_000
torch.set_num_threads(2)
star = torch.tensor([[0, 0], [1, 2]])
getattr(torchcent, measure)(star, engine=engine)
arcs = torch.randint(0, n, (2, 3 * n), generator=torch.Generator().manual_seed(0))
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
options = {"engine": engine, "sources": torch.arange(1100 if engine == "bits" else 3)}
plan = torchcent.explain(graph, measure, **options)
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = status("VmRSS")
getattr(torchcent, measure)(graph, **options)
print(status("VmHWM") - before, plan.memory - graph.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("measure, engine", [("closeness", "tensor"), ("harmonic", "bits")])
def test_memory_stays_within_the_forecast(measure, engine):
    if engine == "bits" and not _distance_plan.has_bits(torch.device("cpu")):
        pytest.skip("the bits engine is not there")
    run = subprocess.run(
        [sys.executable, "-c", PEAK, measure, engine], capture_output=True, text=True
    )
    if "Permission" in run.stderr:
        pytest.skip("the high-water mark of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    taken, forecast = map(int, run.stdout.split())
    assert forecast / 8 < taken < forecast
    small = Graph.from_edge_index(torch.tensor([[0], [1]]))
    assert torchcent.explain(small, measure, engine=engine).memory < 2**20
