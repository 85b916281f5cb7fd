"""Markov clustering in pieces: flows that are larger than `memory`."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from internals import control_record
from surface import call
from torch import Tensor

import torchcent
from torchcent import Prune, generate
from torchcent.clustering import _flow, _pieces, _plan, _run, _tensor
from torchcent.clustering._rules import Rules, Share
from torchcent.runtime import _memory

HOST = torch.device("cpu")
needs_operator = pytest.mark.skipif(not _plan.compiled(HOST), reason="no compiled operator")


def network(n: int) -> tuple[Tensor, Tensor]:
    index = generate.planted(n, 20, seed=1)
    return index, torch.rand(index.shape[1], generator=torch.Generator().manual_seed(1))


def flow_of(n: int) -> _flow.Flow:
    index, weight = network(n)
    graph = torchcent.Graph.from_edge_index(index, num_nodes=n, directed=False)
    return _flow.build(graph, _flow.similarities(graph, weight), "max", None)


@pytest.mark.slow
@needs_operator
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("prune", [Prune(), Prune(1e-3, 500, 600), Prune(1e-2, 300, 300)])
def test_pieces_do_not_change_a_bit(prune: Prune) -> None:
    options = {"directed": False, "num_nodes": 1500, "engine": "fused", "prune": prune}
    want = call(torchcent.mcl, *network(1500), return_flow=True, **options)
    cuts = set()
    for memory in (3_300_000, 4_000_000, 8_000_000):
        plan = call(torchcent.explain_mcl, *network(1500), memory=memory, **options)
        assert plan.memory <= memory and plan.pieces > 0
        cuts.add(plan.pieces)
        assert ("pieces" in str(plan)) == (plan.pieces > 1)
        found = call(torchcent.mcl, *network(1500), return_flow=True, memory=memory, **options)
        assert found.chaos_history == want.chaos_history
        for part in ("ccol_indices", "row_indices", "values"):
            assert torch.equal(getattr(found.flow, part)(), getattr(want.flow, part)())
        assert all(map(torch.equal, found.clusters(), want.clusters()))
    assert len(cuts) > 1


@pytest.mark.slow
@needs_operator
def test_a_flow_that_grows_is_continued_in_pieces() -> None:
    """The plan knows the first expansion only: here the second is the larger one."""
    flow, rules = flow_of(1500), Rules(2, Prune(), max_iter=100)
    ample = _plan.plan(flow, rules, "fused", None)
    want = _run.run(flow, rules, ample, False)
    first, most = want.summaries[0].entries, max(each.entries for each in want.summaries)
    assert most > 2 * first
    short = _plan.MclPlan(**{**vars(ample), "memory_limit": _pieces.ENTRY * (most + first)})
    assert short.pieces == 1
    found = _run.run(flow, rules, short, False)
    assert found.summaries == want.summaries
    assert all(map(torch.equal, found.flow.packed(), want.flow.packed()))


LIMITED = """
import resource, sys, torch
sys.path.insert(0, {tests!r})
from test_mcl_pieces import flow_of
from torchcent.clustering import _plan, _run
from torchcent.clustering._rules import Prune, Rules

torch.set_num_threads(2)
flow, rules = flow_of({n}), Rules(2, Prune(), max_iter=100)
warm = flow_of(600)  # threads start, libraries are loaded
_run.run(warm, rules, _plan.plan(warm, rules, "fused", None), False)
plan = _plan.plan(flow, rules, "fused", {memory})
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
held = 1024 * int(status["VmData"].split()[0]) - flow.nbytes
resource.setrlimit(resource.RLIMIT_DATA, (held + {limit},) * 2)
found = _run.run(flow, rules, plan, False)
print(plan.pieces, max(each.entries for each in found.summaries), found.converged)
"""


@pytest.mark.slow
@needs_operator
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs the limits of Linux")
@pytest.mark.parametrize("memory", [14_000_000, 400_000_000])
def test_memory_is_that_of_the_plan(memory: int) -> None:
    """The system grants 14 MB: enough in pieces, which are planned with that, and not otherwise."""
    tests, limit = Path(__file__).parent, 14_000_000
    script = LIMITED.format(tests=str(tests), n=6000, memory=memory, limit=limit)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tests.parent, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tests.parent), "MALLOC_ARENA_MAX": "1"},
        # Stacks of threads count, and they are not the plan's.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (2**19, 2**19)),
    )  # fmt: skip
    if memory > limit:
        assert done.returncode != 0
        assert _memory.ran_out(done.stderr), done.stderr
        return
    assert done.returncode == 0, done.stderr
    pieces, most, converged = done.stdout.split()
    assert int(pieces) > 1 and converged == "True"
    assert _pieces.ENTRY * int(most) > 1.5 * limit


@pytest.mark.parametrize("expansion", [2, 3])
@pytest.mark.parametrize("room", [200_000, 1_000_000, 10**9])
def test_pieces_take_the_columns_that_they_refer_to(expansion: int, room: int) -> None:
    """As on an accelerator: each piece sees a part of the flow, and nothing else."""
    flow, rules = flow_of(400), Rules(expansion, Prune(1e-3, 60, 80))
    arguments = rules.arguments()
    want, summary = _tensor.iterate(flow, control_record(), *arguments)
    shares, rooms = [], []

    def compute(part: _flow.Flow, share: Share, left: int) -> tuple[_flow.Flow, Tensor]:
        shares.append(share)
        rooms.append(part.nbytes + _pieces.ENTRY * _pieces.COPIES * 80 * (share[1] - share[0]))
        assert left == room - part.nbytes
        return _tensor.iterate(part, control_record(), *arguments, share)

    found = _pieces.iterate(flow, rules, compute, room, HOST, True)
    assert found is not None
    assert all(map(torch.equal, found[0].packed(), want.packed()))
    assert torch.equal(found[1], summary)
    assert [first for first, _, _ in shares] == [0, *(last for _, last, _ in shares[:-1])]
    assert (len(shares) > 1) == (room < 10**9)
    if room == 1_000_000:
        assert max(rooms) <= room
    assert _pieces.iterate(flow, rules, lambda *_: None, room, HOST, True) is None
