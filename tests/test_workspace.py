"""The memory that kernels report, beside what they take."""

import subprocess
import sys

import pytest
from internals import COMPILED
from resident import GIVING_BACK

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")

PEAK = """
import sys, torch, torchcent

def status(field):
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024

measure, engine, cutoff = sys.argv[1], sys.argv[2], int(sys.argv[3])
n, weighted = 100_000, engine in ("relax", "dijkstra")
torch.set_num_threads(2)
run = torchcent.Run(engine=engine)
arcs = torch.randint(0, n, (2, 3 * n), generator=torch.Generator().manual_seed(0))
weight = torch.arange(3 * n) % 9 + 1 if weighted else None
options = {"measure": measure, "run": run, "sources": torch.arange(128)}
if cutoff:
    options["cutoff"] = [cutoff - 1, cutoff]
graph = torchcent.Graph.from_edge_index(arcs, directed=False, edge_weight=weight)
compute = getattr(torchcent, options.pop("measure"))
compute(torchcent.Graph.from_edge_index(arcs[:, :9] % 8, directed=False), sources=2)
nbytes = graph.nbytes  # the plan has those of the core besides
plan = torchcent.explain(graph, measure=measure, **options)
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = status("VmRSS")
compute(graph, **options)
print(status("VmHWM") - before, plan.memory - nbytes)
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=2)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize(("measure", "cutoff"), [("betweenness", 0), ("edge_betweenness", 7)])
@pytest.mark.parametrize("engine", ["lanes", "queue", "relax", "dijkstra"])
def test_searches_take_what_is_reported(engine: str, measure: str, cutoff: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PEAK, measure, engine, str(cutoff)],
        capture_output=True,
        text=True,
        env=GIVING_BACK,
    )
    if "Permission" in run.stderr:
        pytest.skip("the high-water mark of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    taken, forecast = map(int, run.stdout.split())
    assert forecast / 5 < taken < forecast
